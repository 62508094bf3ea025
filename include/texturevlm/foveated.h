/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foveated.h: where to look when the place to look at is known: many small squares around the fixations, few
 * large ones far from them, which together cover the image once.
 *
 * The density of positions follows the eye's cortical magnification, M(e) = M0 / (e + e0) (Schwartz 1977),
 * with e the distance from the nearest fixation: positions per area are proportional to M^2, and the side of
 * the square that a position stands for is proportional to e + e0. M0 is solved for: exactly K come out.
 */
#ifndef TEXTUREVLM_FOVEATED_H
#define TEXTUREVLM_FOVEATED_H

#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tvlm_foveated_params {
    int32_t k;              /* 0: 273, or as many patches as the image has room for */
    const float *fixations; /* x, y of each in pixels, inside the image; NULL: the centre */
    int32_t fixation_count; /* at most 64 */
    float e0;               /* in half diagonals of the image, > 0; 0: TVLM_E0_DEFAULT */
    tvlm_arrangement arrangement;
    float patch; /* side of the encoder's patch in pixels: no square is smaller; 0: 16 */
    uint64_t reserved[4];
};
#define tvlm_foveated_params(...) TVLM_PARAMS(tvlm_foveated_params, __VA_ARGS__)

/*
 * Places exactly K positions in an image of width x height pixels. Where e0 would make squares smaller than a
 * patch at the fixation, it is raised until they are not (level 0 has the finest detail there is).
 *
 * The arrangement only says where positions start: a few steps along the gradient of the area that the
 * squares share, and of what sticks out of the image, then spread them, so that they cover at least 95 % of
 * the image with at most 25 % of it covered twice (bench/foveated.py prints what it is: 98 % and 20 % on
 * average at K = 273). That holds from K = 5 on for sides up to 20 : 1 (a few of a thousand random cases miss
 * it by less than 1 %); where fewer than 200 squares, log-polar ones, or those of an image longer than 3 : 1
 * leave more bare, they begin again, turned, up to 32 times. Of the rest:
 * - K = 1: a square of the longer side around the image's centre, wherever the fixation is; it covers all.
 * - K = 2 cannot where the sides are nearer than 1.3 : 1 (90 % and 30 %), 3 and 4 do not always (91 %, 27 %).
 * - Beyond 20 : 1 some do not (90 % and 25 % was the worst met at 40 : 1, at K = 127).
 * - No square is smaller than a patch: K of nearly all patches for which an image lower than two of them has
 *   room may not (93 % and 26 %).
 * Fewer than 8 start as a sunflower in any case.
 *
 * positions: room for `capacity` >= K; *count is K. x, y, size and level are set, in the pixels of width x
 * height; score is 0 and the cell -1, -1. The order is that of the arrangement, outwards from the fixations.
 * A position may lie on the image's far border where squares are wider than the image. Runs on the host,
 * without a device: a sunflower of 273 around few fixations takes 0.05 ms, of 1000 0.2 (one core,
 * bench/foveated.py); log-polar twice that; many fixations with log-polar, or an image a thousand times as
 * long as wide, seconds. Deterministic. `log` may be NULL. Errors: ARGUMENT (K larger than
 * floor(width * height / patch^2), a fixation outside, ...), MEMORY.
 */
TVLM_API tvlm_status tvlm_foveated_place(int32_t width, int32_t height,
                                         const struct tvlm_foveated_params *params, const tvlm_log *log,
                                         int32_t capacity, tvlm_position *positions, int32_t *count);

#ifdef __cplusplus
}
#endif
#endif
