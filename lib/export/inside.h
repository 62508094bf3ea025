/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export/inside.h: what the files of this folder share. The public header is texturevlm/export.h.
 */
#ifndef TVLM_EXPORT_INSIDE_H
#define TVLM_EXPORT_INSIDE_H

#include "core/backend.h"
#include "texturevlm/export.h"

/* A picture of a run, or its video. Buffers are kept from run to run, and grow. */
typedef struct export_picture {
    tvlm_export_picture info;
    /* How many of the images that were handed in are its frames, and the first of them. */
    int32_t frames, first_image;
    /* The processed pixels: [frames][height][width][3]. */
    tvlm_buffer *bytes;
    /* The tensors pixel_values and selected_pixel_values. */
    tvlm_buffer *values;
    tvlm_buffer *selected;
    /* The score of each token. */
    float *scores;
    /* The tokens that were selected, rising, counted from 0 in this picture. */
    int32_t *chosen;
} export_picture;

struct tvlm_export {
    tvlm_device *device;
    tvlm_export_model model;
    tvlm_export_processor processor;
    int32_t budget;
    bool all, video;
    tvlm_format format;
    bool weighted;
    float weights[3];
    const tvlm_scorer *scorer;
    /* A stack of the last processed size. */
    tvlm_stack *stack;
    /* The plan and its table, and the size of pictures that they were made for. */
    int32_t source_width, source_height;
    tvlm_resize plan;
    tvlm_buffer *upload, *table, *lookup, *tokens;
    /* The pictures of the last run, how many they are, and how many there is room for. */
    export_picture *pictures;
    int32_t count, capacity;
    /* The image that is worked on; -1: none, or all of them. */
    int32_t current;
};

/* Makes sure that *buffer has at least `bytes`. Its content is lost when it grows. */
static inline tvlm_status tvlm_export_reserve(tvlm_device *device, size_t bytes, tvlm_buffer **buffer) {
    if (*buffer != NULL && (*buffer)->bytes >= bytes) return TVLM_OK;
    if (*buffer != NULL) device->backend->buffer_destroy(device, buffer);
    return device->backend->buffer_create(device, bytes, buffer);
}

/* models.c: finds the processed size of a picture and its patches. `frames` is at least 1. */
tvlm_status tvlm_export_measure(const tvlm_export *export, const tvlm_image *image, int32_t frames,
                                tvlm_export_picture *info);

/* plan.c: makes the weights that resize pictures of that size to the processed size, in export->plan and
 * ->table. */
tvlm_status tvlm_export_plan(tvlm_export *export, int32_t width, int32_t height,
                             const tvlm_export_picture *info);
/* The weights of one axis, from `source` pixels to places first .. first + size - 1 of `whole`: [size][taps +
 * TVLM_RESIZE_HEAD] ints, which the caller frees. NULL: there is no memory. */
int32_t *tvlm_resize_weights(int32_t source, int64_t whole, int64_t first, int32_t size, int32_t *taps);

/* pixels.c: sends an image to the device as bytes, and resizes it into frame `frame` of the picture. */
tvlm_status tvlm_export_frame(tvlm_export *export, const tvlm_image *image, int32_t frame,
                              export_picture *picture);

/* choose.c: scores the tokens of a picture, shares the budget among all pictures, and chooses the tokens of
 * one. */
tvlm_status tvlm_export_score(tvlm_export *export, const struct tvlm_grid_input *features,
                              const struct tvlm_query *queries, export_picture *picture);
tvlm_status tvlm_export_share(tvlm_export *export);
tvlm_status tvlm_export_choose(tvlm_export *export, export_picture *picture);

/* tensors.c: tvlm_export_read into memory of the device, by a copy there where the tensor is there. */
tvlm_status tvlm_export_read_there(tvlm_export *export, int32_t index, const struct tvlm_memory *memory);

/* patches.c: enqueues what makes pixel_values, and those of the chosen tokens. */
tvlm_status tvlm_export_patches(tvlm_export *export, export_picture *picture);

#endif
