/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/foveated.h: places squares around fixations, the places that are looked at. Many small squares lie near the
 * fixations and few large ones far from them, and together they cover the image once.
 *
 * tvlm_select (select.h) does it with the strategy `foveated`, and scores the squares. Here it is done
 * without an image, and without a device:
 *
 *     const float fixation[2] = {320, 200};
 *     tvlm_position positions[100];
 *     int32_t count;
 *     tvlm_foveated_place(640, 480, 100, 16, tvlm_foveated_params(.fixations = fixation, .fixation_count = 1), NULL,
 *                         100, positions, &count);
 *
 * The density of positions follows the eye's cortical magnification, M(e) = M0 / (e + e0) (Schwartz 1977). There e
 * is the distance from the nearest fixation. Positions per area are proportional to M^2. The side of the square
 * that a position stands for is proportional to e + e0. M0 is solved for, so that exactly K
 * positions come out.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_FOVEATED_H
#define TEXTUREVLM_LAB_FOVEATED_H

#include "texturevlm/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Places exactly K positions in an image of width x height pixels. K is `k`, at most
 * floor(width * height / patch^2); k 0 means 273, or as many patches as the image has room for. `patch` is the side
 * of the encoder's patch in pixels: no square is smaller. 0 means 16. The parameters are those of select.h, with these
 * differences:
 * - Fixations are in pixels, inside the image, at most 64 of them. Without any, the fixation is the centre of the
 *   image.
 * - Where e0 would make the squares at the fixation smaller than a patch, it is raised until they are not, since
 *   level 0 has the finest detail there is.
 *
 * `positions` has room for `capacity` of them, at least K, and *count becomes K. x, y, size and level are set, in the
 * pixels of width x height. The score is 0, and the cell is -1, -1. The order is that of the arrangement, outwards
 * from the fixations. A position may lie on the image's far border where squares are wider than the image. `params`
 * and `log` may be NULL.
 *
 * *Cover.* The squares cover at least 95 % of the image, and at most 25 % of it twice. At K = 273 it is 98 % and
 * 20 % on average (bench/foveated.py). That holds from K = 5 on, for sides up to 20 : 1; a few of a thousand
 * random cases miss it by less than 1 %. In other cases (the numbers are the share that is covered, and the share
 * that is covered twice):
 * - K = 1 is a square of the longer side around the image's centre, wherever the fixation is. It covers all.
 * - K = 2 cannot cover that much where the sides are nearer to each other than 1.3 : 1 (90 % and 30 %). K = 3 and
 *   4 do not always (91 % and 27 %).
 * - Beyond 20 : 1 some do not. The worst that was met is 90 % and 25 %, at 40 : 1 and K = 127.
 * - In an image lower than two patches, a K that is nearly the largest for which there is room may not, since no
 *   square is smaller than a patch (93 % and 26 %).
 *
 * *Method.* The arrangement only says where positions start. They are then spread by a few steps along the
 * gradient of the area that the squares share, and of the area that sticks out of the image. Where they leave
 * more bare than is said above, it all begins again with the arrangement turned, up to 32 times. That is done for
 * fewer than 200 squares, for log-polar ones, and in an image longer than 3 : 1. Fewer than 8 squares start as a
 * sunflower in any case.
 *
 * *Time.* It runs on the host, and is deterministic. On one core (bench/foveated.py) a sunflower of 273 positions
 * around few fixations takes 0.05 ms, one of 1000 takes 0.2 ms, and log-polar twice that. Many fixations with
 * log-polar take seconds, and so does an image a thousand times as long as wide.
 *
 * Errors: ARGUMENT (a K that is too large, fixations without an array, a fixation outside the image, a capacity
 * that is too small, ...), MEMORY.
 */
TVLM_API tvlm_status tvlm_foveated_place(int32_t width, int32_t height, int32_t k, float patch,
                                         const struct tvlm_foveated_params *params, const tvlm_log *log,
                                         int32_t capacity, tvlm_position *positions, int32_t *count);

#ifdef __cplusplus
}
#endif
#endif
