/*
 * visual.cl: edges, edges_inv, high, low from the source's luma.
 *
 * edges: Sobel 3x3, magnitude / 4, at most 1; edges_inv = 1 - edges; low: 5x5 binomial (1 4 6 4 1)/16;
 * high = 0.5 + 0.5 (Y - low). Borders clamp to the edge.
 */
#include "tile.clh"

#define BORDER 2

kernel __attribute__((reqd_work_group_size(GROUP_W, GROUP_H, 1)))
void visual(TEXTURE_IN(source), TEXTURE_OUT(result)) {
    local float tile[TILE_H(BORDER) * TILE_W(BORDER)];
    const int image = get_global_id(2);
    TILE_LOAD(tile, BORDER, source, image * source_size.z, w);

    const int x = get_global_id(0), y = get_global_id(1);
    local const float *row = tile + get_local_id(1) * TILE_W(BORDER) + get_local_id(0);
    float low = 0.0f;
    for (int dy = 0; dy < 5; ++dy) {
        const float weight = dy == 2 ? 6.0f : dy == 1 || dy == 3 ? 4.0f : 1.0f;
        local const float *r = row + dy * TILE_W(BORDER);
        low += weight * (r[0] + 4.0f * r[1] + 6.0f * r[2] + 4.0f * r[3] + r[4]);
    }
    low *= 1.0f / 256.0f;

    local const float *a = row + TILE_W(BORDER) + 1, *b = a + TILE_W(BORDER), *c = b + TILE_W(BORDER);
    const float gx = (a[2] - a[0]) + 2.0f * (b[2] - b[0]) + (c[2] - c[0]);
    const float gy = (c[0] - a[0]) + 2.0f * (c[1] - a[1]) + (c[2] - a[2]);
    const float edges = min(1.0f, 0.25f * sqrt(gx * gx + gy * gy));
    const float high = clamp(0.5f + 0.5f * (b[1] - low), 0.0f, 1.0f);
    if (x < result_size.x && y < result_size.y)
        texel_store(result, x, y, image, (float4)(edges, 1.0f - edges, high, clamp(low, 0.0f, 1.0f)));
}
