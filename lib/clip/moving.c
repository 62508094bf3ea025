/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moving.c: how much more what moves counts. Squared error starves what is small and moves: a walker in a still scene is a
 * thousandth of the pixels.
 *
 * A tile moves in a slot in so far as what the slot before ended with is off there, or what it ends with is off in the next
 * slot: m = e / (e + FLOOR), where e is the mean squared error of a pixel. Noise is far below FLOOR. Where most tiles move,
 * it is the camera that does, and nothing is told apart by it.
 */
#include "clip/inside.h"
#include "texturevlm/select.h"

/* (8 / 255)^2 */
#define FLOOR 9.84e-4

static double error_of(const float *parts, int32_t tile) {
    return parts != NULL ? (double)parts[TVLM_BUDGET_PARTS * tile + TVLM_BUDGET_ERROR] : 0.0;
}

void tvlm_clip_emphasise(const tvlm_clip *clip, const float *came, const float *goes, double *times) {
    const double emphasis = (double)tvlm_or_default(clip->params.emphasis, TVLM_CLIP_EMPHASIS_DEFAULT);
    const double floor = FLOOR * clip->patch * clip->patch * clip->temporal;
    double mean = 0.0;
    for (int32_t tile = 0; tile < clip->tiles; ++tile) {
        const double error = fmax(error_of(came, tile), error_of(goes, tile));
        times[tile] = error / (error + floor);
        mean += times[tile] / clip->tiles;
    }
    for (int32_t tile = 0; tile < clip->tiles; ++tile)
        times[tile] = 1.0 + emphasis * (1.0 - mean) * (1.0 - mean) * times[tile];
}
