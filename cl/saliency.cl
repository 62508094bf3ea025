/*
 * saliency.cl: centre-surround contrast (Itti, Koch & Niebur 1998) in L*a*b*, read off the source's levels.
 *
 * 1. saliency_lab: levels 2 .. last used of the source, texel by texel in L*a*b*, into scratch.
 * 2. saliency_contrast: at each texel of the quarter-size grid, three centres against surrounds three levels coarser,
 *    into scratch; the largest of each by atomics on integers (non-negative floats order like their bits).
 * 3. saliency_scale: each over its image's largest.
 */
#include "colour.clh"
#include "texture.clh"

#define FIRST TVLM_SALIENCY_CENTRE_LEVEL

#ifndef RUN
#define RUN 1 /* texels of a work-item; more on CPUs, where the loop over them vectorises */
#endif

/*
 * lab: level FIRST.. of image 0, then of image 1, ...; `texels` of them an image. One level a launch: its texels go to
 * `start` and on. Work-item RUN texels; y is the image.
 */
kernel void saliency_lab(TEXTURE_IN(source), global float4 *restrict lab, const int texels, const int level,
                         const int start) {
    const int w = level_side(source_size.x, level), count = w * level_side(source_size.y, level);
    const int first = get_global_id(0) * RUN, image = get_global_id(1), n = min(RUN, count - first);
    float4 colours[RUN];
    for (int i = 0; i < n; ++i) {
        const int at = first + i;
        colours[i] = texel_fetch(source, at % w, at / w, image * source_size.z, level);
    }
    for (int i = 0; i < n; ++i)
        lab[image * texels + start + first + i] = srgb_to_lab(colours[i].x, colours[i].y, colours[i].z);
}

/* Bilinear in one level of `lab`, at row v of RUN points u, all in [0, 1] of the image. */
inline void lab_row(global const float4 *restrict lab, int4 size, int first, int level, const float *u, float v,
                    float4 *values) {
    const int w = level_side(size.x, level), h = level_side(size.y, level);
    for (int n = first; n < level; ++n) lab += level_side(size.x, n) * level_side(size.y, n);
    const float y = clamp(v * h - 0.5f, 0.0f, h - 1.0f);
    const int y0 = (int)y;
    const float ay = y - y0;
    global const float4 *restrict top = lab + y0 * w, *restrict bottom = lab + min(y0 + 1, h - 1) * w;
    for (int i = 0; i < RUN; ++i) {
        const float x = clamp(u[i] * w - 0.5f, 0.0f, w - 1.0f);
        const int x0 = (int)x, x1 = min(x0 + 1, w - 1);
        const float ax = x - x0;
        const float4 upper = top[x0] + (top[x1] - top[x0]) * ax, lower = bottom[x0] + (bottom[x1] - bottom[x0]) * ax;
        values[i] = upper + (lower - upper) * ay;
    }
}

/* RUN texels of a row: their contrasts, and the largest of each. */
inline float4 contrast_row(global const float4 *restrict lab, int4 source_size, int first, int last, int2 size, int x,
                           int y, global float4 *restrict contrast) {
    float u[RUN], d[TVLM_SALIENCY_SCALES][RUN];
    float4 centre[RUN], surround[RUN], most = 0.0f;
    for (int i = 0; i < RUN; ++i) u[i] = (min(x + i, size.x - 1) + 0.5f) / size.x;
    for (int s = 0; s < TVLM_SALIENCY_SCALES; ++s) {
        const int fine = min(FIRST + s, last), coarse = min(fine + TVLM_SALIENCY_SURROUND_STEP, last);
        const float v = (y + 0.5f) / size.y;
        lab_row(lab, source_size, first, fine, u, v, centre);
        lab_row(lab, source_size, first, coarse, u, v, surround);
        for (int i = 0; i < RUN; ++i) {
            const float4 apart = centre[i] - surround[i];
            const float square = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
            d[s][i] = min(1.0f, sqrt(square) / TVLM_SALIENCY_RANGE);
        }
    }
    for (int i = 0; i < min(RUN, size.x - x); ++i) {
        const float4 value = (float4)((d[0][i] + d[1][i] + d[2][i]) / 3.0f, d[0][i], d[1][i], d[2][i]);
        contrast[y * size.x + x + i] = value;
        most = max(most, value);
    }
    return most;
}

/* Work-item RUN texels of a row; z is the image. */
kernel void saliency_contrast(global const float4 *restrict lab, const int4 source_size, const int texels,
                              const int first, const int last, const int2 size, global float4 *restrict contrast,
                              global int *restrict largest) {
    local int group_largest[4];
    const int x = get_global_id(0) * RUN, y = get_global_id(1), image = get_global_id(2);
    const int lane = get_local_id(1) * get_local_size(0) + get_local_id(0);
    if (lane < 4) group_largest[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < size.x && y < size.y) {
        const float4 most = contrast_row(lab + image * texels, source_size, first, last, size, x, y,
                                         contrast + image * size.x * size.y);
        atomic_max(&group_largest[0], as_int(most.x));
        atomic_max(&group_largest[1], as_int(most.y));
        atomic_max(&group_largest[2], as_int(most.z));
        atomic_max(&group_largest[3], as_int(most.w));
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
