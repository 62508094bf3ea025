/* SPDX-License-Identifier: Apache-2.0 */
/*
 * positions.cl: positions that stay on the device. It makes positions from a ranking of candidates, and from
 * positions the places that patches.cl cuts patches out of. A position lies in memory as in
 * texturevlm/select.h: TVLM_POSITION_WORDS words of 32 bits. They are written as whole numbers, so that no
 * device flushes those that look like denormal floats. A work-item makes one position, or one place.
 */
#include "constants.h"
#include "helper.clh"

/* The centre of the part of cell c that lies in an image of `side` pixels. */
HELPER float cell_centre(int c, float step, int side) {
    return 0.5f * (c * step + min((c + 1) * step, (float)side));
}

/*
 * Work-item i makes the position of ranking[i] = (candidate, bits of its score). grid = (columns, rows of the
 * candidates, width, height of the working image); shape = (step_x, step_y of the candidates, scale_x,
 * scale_y of the image); alike = (level, size of all positions, unused, unused). `first` is the word of `out`
 * that they begin at. The centres in pixels of the working image go to `looked`.
 */
kernel void place(global const int2 *restrict ranking, const int count, const int4 grid, const float4 shape,
                  const float4 alike, global int *restrict out, const ulong first,
                  global float2 *restrict looked) {
    const int i = get_global_id(0);
    if (i >= count) return;
    const int2 ranked = ranking[i];
    const int column = ranked.x % grid.x, row = ranked.x / grid.x;
    const float2 centre = (float2)(cell_centre(column, shape.x, grid.z), cell_centre(row, shape.y, grid.w));
    global int *to = out + first + (size_t)i * TVLM_POSITION_WORDS;
    to[TVLM_POSITION_X] = as_int(centre.x * shape.z);
    to[TVLM_POSITION_Y] = as_int(centre.y * shape.w);
    to[TVLM_POSITION_LEVEL] = as_int(alike.x);
    to[TVLM_POSITION_SCORE] = ranked.y;
    to[TVLM_POSITION_SIZE] = as_int(alike.y);
    to[TVLM_POSITION_COLUMN] = column;
    to[TVLM_POSITION_ROW] = row;
    for (int word = TVLM_POSITION_ROW + 1; word < TVLM_POSITION_WORDS; ++word) to[word] = 0;
    looked[i] = centre;
}

/* Coordinates beyond it are no positions. */
#define FAR 1e6f

/* How far apart the texels of a patch are that covers `size` pixels of the image. A patch of step 1 covers
 * `span` pixels. Where both are equal the step is exactly 1, however a device divides. */
HELPER float step_of(float size, float span) {
    return size == span ? 1.0f : min(size / span, FAR);
}

/*
 * Work-item i makes the two entries of places (patches.cl) of position i. shape = (scale_x, scale_y of the
 * image, pixels of the image that a square patch of step 1 is wide, the highest level). A square's texels are
 * equally far apart along both sides. A rectangle has a height, and its texels have a distance of their own
 * along each side. For an invalid position, a patch is cut out where the image begins. *bad becomes the least
 * number of such a position.
 */
kernel void patch_places(global const int *restrict positions, const ulong first, const int count,
                         const float4 shape, const int side, const int image, global float4 *restrict places,
                         global int *restrict bad) {
    const int i = get_global_id(0);
    if (i >= count) return;
    global const int *from = positions + first + (size_t)i * TVLM_POSITION_WORDS;
    float x = as_float(from[TVLM_POSITION_X]), y = as_float(from[TVLM_POSITION_Y]);
    float size = as_float(from[TVLM_POSITION_SIZE]), height = as_float(from[TVLM_POSITION_HEIGHT]);
    if (!(isfinite(x) && isfinite(y) && isfinite(size) && size > 0.0f && isfinite(height) &&
          height >= 0.0f)) {
        atomic_min(bad, i);
        x = y = height = 0.0f;
        size = shape.z;
    }
    const bool square = height == 0.0f;
    const float across = step_of(size, square ? shape.z : shape.x * side);
    const float down = square ? across : step_of(height, shape.y * side);
    const float step = max(across, down), level = step > 1.0f ? min(log2(step), shape.w) : 0.0f;
    places[2 * i] = (float4)(clamp(x / shape.x, -FAR, FAR), clamp(y / shape.y, -FAR, FAR), level, image);
    places[2 * i + 1] = (float4)(across, down, as_float(i), 0.0f);
}
