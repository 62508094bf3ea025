/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.c: puts pixels into the source.
 */
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/frame.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/ragged.h"
#include "stack/resample.h"
#include "stack/send.h"
#include "stack/upload.h"

static size_t pixel_type_bytes(tvlm_pixel_type type) {
    return type == TVLM_PIXEL_U8 ? 1 : type == TVLM_PIXEL_U16 ? 2 : 4;
}

tvlm_status tvlm_stack_check_image(const tvlm_log *log, const tvlm_image *image, size_t *row) {
    size_t all;
    if (image == NULL || image->pixels == NULL) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "no pixels");
    TVLM_CHECK_RESERVED(log, tvlm_image, image);
    if (image->width < 1 || image->height < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image of %dx%d pixels", (int)image->width,
                         (int)image->height);
    if (image->of_width < 0 || image->of_height < 0 || (image->of_width > 0) != (image->of_height > 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image that is a smaller version of %dx%d pixels",
                         (int)image->of_width, (int)image->of_height);
    if (image->channels < 1 || image->channels > 4)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image of %d channels; 1 to 4 are possible",
                         (int)image->channels);
    if ((int)image->type < TVLM_PIXEL_U8 || image->type > TVLM_PIXEL_F32)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no pixel type %d", (int)image->type);
    if (!tvlm_multiply((size_t)image->width, (size_t)image->channels * pixel_type_bytes(image->type), row) ||
        !tvlm_multiply(image->row_stride > *row ? image->row_stride : *row, (size_t)image->height, &all))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "an image of %dx%d pixels is larger than the address space", (int)image->width,
                         (int)image->height);
    if (image->row_stride != 0 && image->row_stride < *row)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a row stride of %zu bytes; a row has %zu",
                         image->row_stride, *row);
    return TVLM_OK;
}

tvlm_status tvlm_stack_source_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels) {
    tvlm_texture *source;
    int32_t width, height;
    TVLM_TRY(tvlm_stack_check_image_number(stack, index));
    tvlm_stack_size_of(stack, index, &width, &height);
    if (pixels->width != width || pixels->height != height)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "pixels of %dx%d for a stack of %dx%d",
                         (int)pixels->width, (int)pixels->height, (int)width, (int)height);
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    TVLM_TRY(tvlm_stack_grid_texture(stack, chunk, TVLM_GRID_SOURCE, &source));
    /* The question was about the images as they were. */
    tvlm_stack_drop_query(stack);
    tvlm_stack_outdate(stack, chunk, TVLM_GRID_BIT(TVLM_GRID_SOURCE));
    ++stack->originals[index].changes[TVLM_GRID_SOURCE]; /* a failed write may have changed pixels */
    TVLM_TRY(stack->device->backend->source(stack->device, buffer, pixels, index - chunk->first, source));
    stack->originals[index].set = true;
    tvlm_stack_new_frame(stack, index);
    stack->originals[index].width = width;
    stack->originals[index].height = height;
    return TVLM_OK;
}

void tvlm_stack_exchange_source(tvlm_stack *stack, tvlm_texture **texture) {
    tvlm_texture **held = &stack->chunks[0].grids[TVLM_GRID_SOURCE], *own = *held;
    *held = *texture;
    *texture = own;
}

void tvlm_stack_drop_frame(tvlm_stack *stack, int32_t index) {
    ++stack->originals[index].changes[TVLM_GRID_SOURCE];
    stack->originals[index].set = false;
    stack->frames[index].copied = NULL;
    tvlm_stack_outdate(stack, tvlm_stack_chunk(stack, index), TVLM_GRID_BIT(TVLM_GRID_SOURCE));
}

/* ---- Rows ---- */

static tvlm_status count_bytes(const tvlm_stack *stack, tvlm_rows *rows) {
    if (tvlm_multiply(rows->pixels.row_stride, (size_t)rows->pixels.height, &rows->bytes)) return TVLM_OK;
    return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%d rows of %zu bytes are too many",
                     (int)rows->pixels.height, rows->pixels.row_stride);
}

static tvlm_status rows_as_they_are(const tvlm_stack *stack, const tvlm_image *image, size_t row,
                                    tvlm_rows *rows) {
    const unsigned char *from = image->pixels;
    rows->pixels = (tvlm_pixels){image->width, image->height, image->channels, image->type, 0, row};
    rows->rows = from;
    TVLM_TRY(count_bytes(stack, rows));
    if (image->row_stride == 0 || image->row_stride == row) return TVLM_OK;
    unsigned char *packed = tvlm_allocate((size_t)image->height, row);
    if (packed == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a copy of the pixels");
    for (size_t y = 0; y < (size_t)image->height; ++y)
        memcpy(packed + y * row, from + y * image->row_stride, row);
    rows->rows = rows->copy = packed;
    return TVLM_OK;
}

static tvlm_status rows_resampled(const tvlm_stack *stack, const tvlm_image *image, int32_t width,
                                  int32_t height, tvlm_rows *rows) {
    float *resampled;
    int32_t channels;
    if (tvlm_resample(image, width, height, &resampled, &channels) != TVLM_OK)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to resample %dx%d to %dx%d",
                         (int)image->width, (int)image->height, (int)width, (int)height);
    const size_t row = (size_t)width * (size_t)channels * sizeof(float);
    rows->pixels = (tvlm_pixels){width, height, channels, TVLM_PIXEL_F32, 0, row};
    rows->rows = rows->copy = resampled;
    rows->bytes = row * (size_t)height; /* does not overflow: this memory is allocated */
    return TVLM_OK;
}

tvlm_status tvlm_stack_image_rows(const tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                  tvlm_rows *rows) {
    int32_t width, height;
    size_t row;
    *rows = (tvlm_rows){0};
    TVLM_TRY(tvlm_stack_check_image(&stack->device->log, image, &row));
    tvlm_stack_size_of(stack, index, &width, &height);
    return image->width == width && image->height == height
               ? rows_as_they_are(stack, image, row, rows)
               : rows_resampled(stack, image, width, height, rows);
}

static tvlm_status upload(tvlm_stack *stack, int32_t index, const tvlm_rows *rows) {
    tvlm_buffer *buffer;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_PIXELS, rows->bytes, &buffer));
    TVLM_TRY(stack->device->backend->buffer_write(stack->device, buffer, 0, rows->bytes, rows->rows));
    const tvlm_status status = tvlm_stack_source_from_buffer(stack, index, buffer, &rows->pixels);
    tvlm_stack_scratch_done(stack, TVLM_SCRATCH_PIXELS);
    return status;
}

/* ---- Sizes ---- */

void tvlm_stack_image_size(const tvlm_image *image, int32_t *width, int32_t *height) {
    *width = image->of_width > 0 ? image->of_width : image->width;
    *height = image->of_height > 0 ? image->of_height : image->height;
}

void tvlm_stack_note_original(tvlm_stack *stack, int32_t index, const tvlm_image *image) {
    tvlm_stack_image_size(image, &stack->originals[index].width, &stack->originals[index].height);
}

tvlm_status tvlm_stack_set_image(tvlm_stack *stack, int32_t index, const tvlm_image *image) {
    tvlm_rows rows;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_TRY(tvlm_stack_check_image_number(stack, index));
    if (image == NULL) return tvlm_stack_take_sent(stack, index);
    TVLM_TRY(tvlm_stack_image_rows(stack, index, image, &rows));
    const tvlm_status status = upload(stack, index, &rows);
    free(rows.copy);
    if (status == TVLM_OK) tvlm_stack_note_original(stack, index, image);
    return status;
}
