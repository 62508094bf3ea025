/*
 * gradient.cl: edge_x, edge_y (signed Sobel / 4), rgb_var, rgb_mean (over the 3x3 neighbourhood and three colours).
 */
#include "texture.clh"

kernel void gradient(TEXTURE_IN(source), TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    float gx = 0.0f, gy = 0.0f;
    float4 sum = 0.0f, squares = 0.0f;
    const float4 centre = texel_fetch(source, x, y, image * source_size.z, 0);
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            const float4 texel = texel_fetch(source, x + dx, y + dy, image * source_size.z, 0);
            gx += dx * (2 - abs(dy)) * texel.w;
            gy += dy * (2 - abs(dx)) * texel.w;
            /* About the centre's gray, so that little is lost where the neighbourhood is nearly flat. */
            const float4 apart = texel - centre.w;
            sum += apart;
            squares += apart * apart;
        }
    const float mean = (sum.x + sum.y + sum.z) / 27.0f;
    const float variance = (squares.x + squares.y + squares.z) / 27.0f - mean * mean;
    texel_store(result, x, y, image,
                (float4)(0.25f * gx, 0.25f * gy, clamp(4.0f * variance, 0.0f, 1.0f), clamp(mean + centre.w, 0.0f, 1.0f)));
}
