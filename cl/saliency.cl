/*
 * saliency.cl: centre-surround contrast (Itti, Koch & Niebur 1998) in L*a*b*, read off the source's levels.
 *
 * 1. saliency_lab: levels 2 .. last used of the source, texel by texel in L*a*b*, into scratch.
 * 2. saliency_contrast: at each texel of the quarter-size grid, three centres against surrounds three levels coarser,
 *    into scratch; the largest of each in integers (non-negative floats order like their bits).
 * 3. saliency_scale: each over its image's largest.
 */
#include "colour.clh"
#include "texture.clh"

#define FIRST TVLM_SALIENCY_CENTRE_LEVEL

/* lab: level FIRST.. of image 0, then of image 1, ...; `texels` of them an image. One work-item a texel. */
kernel void saliency_lab(TEXTURE_IN(source), global float4 *restrict lab, const int texels, const int first,
                         const int last) {
    int i = get_global_id(0);
    const int image = get_global_id(1);
    if (i >= texels) return;
    const int index = image * texels + i;
    int level = first;
    while (level < last && i >= level_side(source_size.x, level) * level_side(source_size.y, level)) {
        i -= level_side(source_size.x, level) * level_side(source_size.y, level);
        ++level;
    }
    const int w = level_side(source_size.x, level);
    const float4 texel = texel_fetch(source, i % w, i / w, image * source_size.z, level);
    lab[index] = (float4)(srgb_to_lab(texel.xyz), 0.0f);
}

/* Bilinear in one level of `lab` at (u, v) in [0, 1] of the image. */
inline float4 lab_at(global const float4 *restrict lab, int4 size, int first, int level, float u, float v) {
    const int w = level_side(size.x, level), h = level_side(size.y, level);
    for (int n = first; n < level; ++n) lab += level_side(size.x, n) * level_side(size.y, n);
    const float x = clamp(u * w - 0.5f, 0.0f, w - 1.0f), y = clamp(v * h - 0.5f, 0.0f, h - 1.0f);
    const int x0 = (int)x, y0 = (int)y, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    const float4 top = mix(lab[y0 * w + x0], lab[y0 * w + x1], x - x0);
    const float4 bottom = mix(lab[y1 * w + x0], lab[y1 * w + x1], x - x0);
    return mix(top, bottom, y - y0);
}

kernel void saliency_contrast(global const float4 *restrict lab, const int4 source_size, const int texels,
                              const int first, const int last, const int2 size, global float4 *restrict contrast,
                              global int *restrict largest) {
    local int group_largest[4];
    const int x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    const int lane = get_local_id(1) * get_local_size(0) + get_local_id(0);
    if (lane < 4) group_largest[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < size.x && y < size.y) {
        const float u = (x + 0.5f) / size.x, v = (y + 0.5f) / size.y;
        float d[TVLM_SALIENCY_SCALES];
        for (int s = 0; s < TVLM_SALIENCY_SCALES; ++s) {
            const int centre = min(FIRST + s, last), surround = min(centre + TVLM_SALIENCY_SURROUND_STEP, last);
            const float4 apart = lab_at(lab + image * texels, source_size, first, centre, u, v) -
                                 lab_at(lab + image * texels, source_size, first, surround, u, v);
            d[s] = min(1.0f, sqrt(apart.x * apart.x + apart.y * apart.y + apart.z * apart.z) / TVLM_SALIENCY_RANGE);
        }
        const float4 value = (float4)((d[0] + d[1] + d[2]) / 3.0f, d[0], d[1], d[2]);
        contrast[(image * size.y + y) * size.x + x] = value;
        atomic_max(&group_largest[0], as_int(value.x));
        atomic_max(&group_largest[1], as_int(value.y));
        atomic_max(&group_largest[2], as_int(value.z));
        atomic_max(&group_largest[3], as_int(value.w));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 4) atomic_max(&largest[4 * image + lane], group_largest[lane]);
}

kernel void saliency_scale(global const float4 *restrict contrast, global const int *restrict largest,
                           TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    const float4 most = as_float4(vload4(image, largest));
    const float4 value = contrast[(image * result_size.y + y) * result_size.x + x];
    texel_store(result, x, y, image, most > TVLM_SALIENCY_FLOOR ? min(value / most, 1.0f) : (float4)(0.0f));
}
