/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export/inside.h: what the files of lib/export share. The public header is texturevlm/export.h.
 */
#ifndef TVLM_EXPORT_INSIDE_H
#define TVLM_EXPORT_INSIDE_H

#include "core/backend.h"
#include "texturevlm/export.h"

/* A run's picture, or its video. Buffers are kept from run to run and grow. */
typedef struct export_picture {
    tvlm_export_picture info;
    int32_t frames, first_image; /* of those that were handed in */
    tvlm_buffer *bytes;          /* [frames][height][width][3] */
    tvlm_buffer *values;         /* pixel_values */
    tvlm_buffer *selected;       /* selected_pixel_values */
    float *scores;               /* [tokens] */
    int32_t *chosen;             /* [selected], rising, from 0 in this picture */
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
    tvlm_stack *stack;                   /* of the last processed size */
    int32_t source_width, source_height; /* what the plan and its table were made for */
    tvlm_resize plan;
    tvlm_buffer *upload, *table, *lookup, *tokens;
    export_picture *pictures;
    int32_t count, capacity; /* pictures of the last run; entries made */
    int32_t current;         /* the image that is worked on; -1: none, or all */
};

/* At least `bytes` in *buffer; its content is lost when it grows. */
static inline tvlm_status tvlm_export_reserve(tvlm_device *device, size_t bytes, tvlm_buffer **buffer) {
    if (*buffer != NULL && (*buffer)->bytes >= bytes) return TVLM_OK;
    if (*buffer != NULL) device->backend->buffer_destroy(device, buffer);
    return device->backend->buffer_create(device, bytes, buffer);
}

/* models.c: processed size and patches of a picture. `frames` >= 1. */
tvlm_status tvlm_export_measure(const tvlm_export *export, const tvlm_image *image, int32_t frames,
                                tvlm_export_picture *info);

/* plan.c: weights from a source of that size to the processed one; into export->plan and ->table. */
tvlm_status tvlm_export_plan(tvlm_export *export, int32_t width, int32_t height,
                             const tvlm_export_picture *info);
/* One axis' weights for outputs first .. first + size - 1 of `whole`, from `source` pixels: [size][taps +
 * HEAD]. free() them; NULL: no memory. */
int32_t *tvlm_resize_weights(int32_t source, int64_t whole, int64_t first, int32_t size, int32_t *taps);

/* pixels.c: the image to bytes on the device as it is, and resized into frame `frame` of the picture. */
tvlm_status tvlm_export_frame(tvlm_export *export, const tvlm_image *image, int32_t frame,
                              export_picture *picture);

/* choose.c: scores[] of the picture; its share of the budget; and which tokens. */
tvlm_status tvlm_export_score(tvlm_export *export, const struct tvlm_grid_input *features,
                              const struct tvlm_query *queries, export_picture *picture);
tvlm_status tvlm_export_share(tvlm_export *export);
tvlm_status tvlm_export_choose(tvlm_export *export, export_picture *picture);

/* patches.c: pixel_values and those of the chosen tokens, enqueued. */
tvlm_status tvlm_export_patches(tvlm_export *export, export_picture *picture);

#endif
