/* SPDX-License-Identifier: Apache-2.0 */
/*
 * similarity.c: words, which are channels of cosines, and similarities that are read to the host.
 */
#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "texturevlm/features.h"

#include "stack/features.h"
#include "stack/given.h"
#include "stack/stack.h"

static tvlm_status check_vectors(const tvlm_stack *stack, const float *vectors, int32_t count,
                                 int32_t dimension) {
    if (vectors != NULL && count >= 1 && dimension >= 1) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "%s of %d vectors of %d dimensions",
                     vectors != NULL ? "an array" : "no array", (int)count, (int)dimension);
}

/* Sets the words of an image. It computes the cosines before it touches the texture, so that after most
 * errors the old words are still there. */
static tvlm_status set_words(tvlm_stack *stack, int32_t index, const float *vectors, int32_t count,
                             int32_t dimension) {
    const tvlm_vectors asked = {.vectors = vectors, .count = count, .dimension = dimension};
    tvlm_features features;
    tvlm_buffer *cosines;
    tvlm_texture *texture;
    TVLM_TRY(tvlm_stack_features(stack, index, &features));
    TVLM_TRY(tvlm_stack_cosines(stack, &features, &asked, &cosines));
    const tvlm_given size = {.columns = features.texture->width,
                             .rows = features.texture->height,
                             .layers = (count + 3) / 4,
                             .extent_x = features.texture->extent_x,
                             .extent_y = features.texture->extent_y};
    TVLM_TRY(tvlm_stack_given_begin(stack, index, TVLM_GRID_WORDS, &size, "words", &texture));
    tvlm_device *device = tvlm_stack_device(stack);
    const tvlm_status status =
        device->backend->maps(device, cosines, count, TVLM_MAPS_EACH, features.image, texture);
    tvlm_stack_given_end(stack, index, TVLM_GRID_WORDS);
    if (status != TVLM_OK) tvlm_stack_given_clear(stack, index, TVLM_GRID_WORDS);
    return status;
}

tvlm_status tvlm_stack_set_words(tvlm_stack *stack, int32_t index, const float *vectors, int32_t count,
                                 int32_t dimension) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    if (count == 0) {
        tvlm_stack_given_clear(stack, index, TVLM_GRID_WORDS);
        return TVLM_OK;
    }
    TVLM_TRY(check_vectors(stack, vectors, count, dimension));
    if (count > TVLM_WORDS_MAX)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "%d words; at most %d fit", (int)count,
                         TVLM_WORDS_MAX);
    return set_words(stack, index, vectors, count, dimension);
}

tvlm_status tvlm_stack_get_features(tvlm_stack *stack, int32_t index, int32_t *columns, int32_t *rows,
                                    int32_t *dimension) {
    tvlm_features features;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), columns);
    TVLM_NEED(tvlm_stack_log(stack), rows);
    TVLM_NEED(tvlm_stack_log(stack), dimension);
    TVLM_TRY(tvlm_stack_features(stack, index, &features));
    *columns = features.texture->width;
    *rows = features.texture->height;
    *dimension = features.dimension;
    return TVLM_OK;
}

tvlm_status tvlm_similarity(tvlm_stack *stack, int32_t index, const float *vectors, int32_t count,
                            int32_t dimension, size_t capacity, float *out) {
    const tvlm_vectors asked = {.vectors = vectors, .count = count, .dimension = dimension};
    tvlm_features features;
    tvlm_buffer *cosines;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), out);
    TVLM_TRY(check_vectors(stack, vectors, count, dimension));
    TVLM_TRY(tvlm_stack_features(stack, index, &features));
    const size_t cells = (size_t)features.texture->width * (size_t)features.texture->height;
    if (capacity / cells < (size_t)count)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                         "room for %zu similarities; there are %d x %zu", capacity, (int)count, cells);
    TVLM_TRY(tvlm_stack_cosines(stack, &features, &asked, &cosines));
    tvlm_device *device = tvlm_stack_device(stack);
    return device->backend->buffer_read(device, cosines, 0, (size_t)count * cells * sizeof *out, out);
}
