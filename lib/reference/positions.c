/* SPDX-License-Identifier: Apache-2.0 */
/*
 * positions.c: from a ranking to positions, and from positions to places for patches.
 */
#include <math.h>
#include <string.h>

#include "reference/reference.h"

/* An entry of a ranking, as topk writes it. */
typedef struct ranked {
    int32_t index;
    float score;
} ranked;

static double cell_centre(int32_t cell, float step, int32_t side) {
    return 0.5 * (cell * (double)step + fmin((cell + 1) * (double)step, (double)side));
}

tvlm_status tvlm_reference_place(tvlm_device *device, const tvlm_placing *placing, tvlm_buffer *ranking,
                                 int32_t count) {
    const tvlm_candidates *const cells = &placing->candidates;
    const ranked *const list = reference_data(ranking);
    char *const out = (char *)reference_data(placing->out) + placing->out_offset;
    float *const looked = reference_data(placing->looked);
    (void)device;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t cell[2] = {list[i].index % cells->columns, list[i].index / cells->columns};
        const double x = cell_centre(cell[0], cells->step_x, placing->width),
                     y = cell_centre(cell[1], cells->step_y, placing->height);
        const float numbers[] = {(float)(x * (double)placing->scale_x), (float)(y * (double)placing->scale_y),
                                 placing->level, list[i].score, placing->size};
        unsigned char words[TVLM_POSITION_WORDS * sizeof(float)] = {0};
        memcpy(words, numbers, sizeof numbers);
        memcpy(words + sizeof numbers, cell, sizeof cell);
        memcpy(out + (size_t)i * sizeof words, words, sizeof words);
        looked[2 * i] = (float)x;
        looked[2 * i + 1] = (float)y;
    }
    return TVLM_OK;
}

/* Coordinates beyond it are no positions. */
#define FAR 1e6

static float between(double value, double low, double high) {
    return (float)fmin(fmax(value, low), high);
}

tvlm_status tvlm_reference_patch_places(tvlm_device *device, const tvlm_position_list *list,
                                        tvlm_buffer *places, int32_t *bad) {
    const char *const positions = (const char *)reference_data(list->positions) + list->offset;
    tvlm_patch_place *const out = reference_data(places);
    int32_t first = -1;
    (void)device;
    for (int32_t i = 0; i < list->count; ++i) {
        const double span = (double)list->scale_size * list->side;
        float p[TVLM_POSITION_WORDS];
        memcpy(p, positions + (size_t)i * sizeof p, sizeof p);
        double x = (double)p[TVLM_POSITION_X], y = (double)p[TVLM_POSITION_Y],
               size = (double)p[TVLM_POSITION_SIZE], height = (double)p[TVLM_POSITION_HEIGHT];
        if (!isfinite(x) || !isfinite(y) || !isfinite(size) || !(size > 0.0) || !isfinite(height) ||
            height < 0.0) {
            if (first < 0) first = i;
            x = y = height = 0.0;
            size = span;
        }
        double across = size / span, down = across;
        if (height > 0.0) {
            across = size / (double)list->scale_x / list->side;
            down = height / (double)list->scale_y / list->side;
        }
        across = fmin(across, FAR);
        down = fmin(down, FAR);
        out[i] = (tvlm_patch_place){
            .at = {between(x / (double)list->scale_x, -FAR, FAR),
                   between(y / (double)list->scale_y, -FAR, FAR),
                   between(log2(fmax(across, down)), 0.0, (double)list->highest_level), (float)list->image},
            .step_x = (float)across,
            .step_y = (float)down,
            .number = i};
    }
    if (bad != NULL) *bad = first;
    return TVLM_OK;
}
