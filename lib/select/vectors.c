/* SPDX-License-Identifier: Apache-2.0 */
#include "select/vectors.h"

#include "core/try.h"

tvlm_status tvlm_vectors_read(tvlm_stack *stack, const tvlm_features *features, float *vectors,
                              float *lengths) {
    const tvlm_backend *const backend = tvlm_stack_device(stack)->backend;
    const size_t cells = (size_t)features->texture->width * (size_t)features->texture->height;
    const size_t dimension = (size_t)features->dimension, bytes = cells * dimension * sizeof *vectors;
    tvlm_buffer *buffer = NULL;
    TVLM_TRY(backend->buffer_create(tvlm_stack_device(stack), bytes, &buffer));
    tvlm_status status = backend->feature_matrix(tvlm_stack_device(stack), features, 0, buffer, 0);
    if (status == TVLM_OK) status = backend->buffer_read(tvlm_stack_device(stack), buffer, 0, bytes, vectors);
    if (status == TVLM_OK)
        status = backend->buffer_read(tvlm_stack_device(stack), features->inverse,
                                      (size_t)features->image * cells * sizeof *lengths,
                                      cells * sizeof *lengths, lengths);
    backend->buffer_destroy(tvlm_stack_device(stack), &buffer);
    for (size_t i = 0; status == TVLM_OK && i < cells * dimension; ++i) vectors[i] *= lengths[i / dimension];
    return status;
}

int32_t tvlm_vectors_cell(const tvlm_texture *texture, float x, float y) {
    const float across = x * (float)texture->width / texture->extent_x;
    const float down = y * (float)texture->height / texture->extent_y;
    const int32_t column = across < (float)texture->width ? (int32_t)across : texture->width - 1;
    const int32_t row = down < (float)texture->height ? (int32_t)down : texture->height - 1;
    return row * texture->width + column;
}
