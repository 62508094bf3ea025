/* SPDX-License-Identifier: Apache-2.0 */
#include "select/likeness.h"

#include <math.h>
#include <string.h>

#include "core/colour.h"
#include "core/memory.h"
#include "core/try.h"
#include "select/vectors.h"
#include "stack/embedding.h"
#include "stack/features.h"
#include "stack/grids.h"

/* Colours are read when they are needed, this many at a time, since most candidates are never compared. */
#define BLOCK 4096

/* A colour becomes the vector L* - 50, a*, b* and this constant. The constant makes colours near gray alike.
 * Without it the other components, which are small, would point anywhere. */
#define COLOUR_DIMENSION 4
#define COLOUR_MIDDLE    50.0
#define COLOUR_CONSTANT  25.0

/* ---- Colours ---- */

static void colour_vector(const float rgb[3], float vector[COLOUR_DIMENSION]) {
    double lab[COLOUR_DIMENSION] = {0};
    tvlm_lab(rgb, lab);
    lab[0] -= COLOUR_MIDDLE;
    lab[3] = COLOUR_CONSTANT;
    double squares = 0.0;
    for (int i = 0; i < COLOUR_DIMENSION; ++i) squares += lab[i] * lab[i];
    for (int i = 0; i < COLOUR_DIMENSION; ++i) vector[i] = (float)(lab[i] / sqrt(squares));
}

static tvlm_status read_block(tvlm_likeness *likeness, tvlm_sample_point *points, float *rgb, int32_t count) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};
    const tvlm_pick_from *const from = likeness->from;
    for (int32_t i = 0; i < count; ++i) {
        double x, y;
        tvlm_candidate_centre(from->stack, from->candidates, from->ranked[likeness->ready + i].index, &x, &y);
        points[i] = (tvlm_sample_point){(float)x, (float)y, from->candidates->level, from->index};
    }
    TVLM_TRY(tvlm_stack_sample(from->stack, points, count, channels, 3, rgb));
    for (int32_t i = 0; i < count; ++i, ++likeness->ready)
        colour_vector(rgb + 3 * (size_t)i, likeness->vectors + (size_t)likeness->ready * COLOUR_DIMENSION);
    return TVLM_OK;
}

static tvlm_status read_colours(tvlm_likeness *likeness, int32_t wanted) {
    const tvlm_log *const log = tvlm_stack_log(likeness->from->stack);
    tvlm_sample_point *const points = tvlm_allocate(BLOCK, sizeof *points);
    float *const rgb = tvlm_allocate(BLOCK, 3 * sizeof *rgb);
    tvlm_status status = TVLM_OK;
    if (points == NULL || rgb == NULL) status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for colours");
    while (status == TVLM_OK && likeness->ready < wanted) {
        const int32_t left = likeness->from->count - likeness->ready;
        status = read_block(likeness, points, rgb, left < BLOCK ? left : BLOCK);
    }
    free(points);
    free(rgb);
    return status;
}

/* ---- Vectors of the encoder ---- */

static tvlm_status find_features(tvlm_stack *stack, int32_t index, tvlm_features *features) {
    if (tvlm_stack_has_grid(stack, index, TVLM_GRID_FEATURES))
        return tvlm_stack_features(stack, index, features);
    if (tvlm_stack_has_grid(stack, index, TVLM_GRID_EMBEDDING))
        return tvlm_stack_embedded(stack, index, features);
    return TVLM_OK;
}

/* Brings vectors to length 1. Those of an embedding are shorter before: they are as long as their share
 * (stack/embedding.h). */
static void make_units(float *vectors, size_t cells, size_t dimension) {
    for (size_t cell = 0; cell < cells; ++cell) {
        float *const vector = vectors + cell * dimension;
        double squares = 0.0;
        for (size_t d = 0; d < dimension; ++d) squares += (double)vector[d] * (double)vector[d];
        for (size_t d = 0; squares > 0.0 && d < dimension; ++d)
            vector[d] = (float)((double)vector[d] / sqrt(squares));
    }
}

static tvlm_status read_features(tvlm_likeness *likeness, tvlm_stack *stack) {
    const tvlm_features *const features = &likeness->features;
    const size_t cells = (size_t)features->texture->width * (size_t)features->texture->height;
    float *const lengths = tvlm_allocate(cells, sizeof *lengths);
    likeness->dimension = features->dimension;
    likeness->vectors = tvlm_allocate(cells, (size_t)features->dimension * sizeof *likeness->vectors);
    tvlm_status status =
        lengths != NULL && likeness->vectors != NULL
            ? TVLM_OK
            : tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for %zu vectors", cells);
    if (status == TVLM_OK) status = tvlm_vectors_read(stack, features, likeness->vectors, lengths);
    if (status == TVLM_OK) make_units(likeness->vectors, cells, (size_t)features->dimension);
    free(lengths);
    return status;
}

/* ---- likeness.h ---- */

tvlm_status tvlm_likeness_make(const tvlm_pick_from *from, tvlm_likeness *likeness) {
    *likeness = (tvlm_likeness){.from = from};
    TVLM_TRY(find_features(from->stack, from->index, &likeness->features));
    if (likeness->features.texture != NULL) return read_features(likeness, from->stack);
    likeness->dimension = COLOUR_DIMENSION;
    likeness->vectors = tvlm_allocate((size_t)from->count, COLOUR_DIMENSION * sizeof *likeness->vectors);
    if (likeness->vectors != NULL) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(from->stack), TVLM_ERROR_MEMORY, "no memory for %d colours",
                     (int)from->count);
}

void tvlm_likeness_free(tvlm_likeness *likeness) {
    free(likeness->vectors);
    likeness->vectors = NULL;
}

static const float *vector_of(const tvlm_likeness *likeness, int32_t i) {
    size_t at = (size_t)i;
    if (likeness->features.texture != NULL) {
        double x, y;
        tvlm_candidate_centre(likeness->from->stack, likeness->from->candidates,
                              likeness->from->ranked[i].index, &x, &y);
        at = (size_t)tvlm_vectors_cell(likeness->features.texture, (float)x, (float)y);
    }
    return likeness->vectors + at * (size_t)likeness->dimension;
}

tvlm_status tvlm_likeness_of(tvlm_likeness *likeness, int32_t a, int32_t b, float *alike) {
    const int32_t last = a > b ? a : b;
    if (likeness->features.texture == NULL && last >= likeness->ready)
        TVLM_TRY(read_colours(likeness, last + 1));
    const float *const p = vector_of(likeness, a), *const q = vector_of(likeness, b);
    float sum = 0.0f;
    for (int32_t d = 0; d < likeness->dimension; ++d) sum += p[d] * q[d];
    *alike = fminf(fmaxf(sum, 0.0f), 1.0f);
    return TVLM_OK;
}
