/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_ragged.c: 64 thumbnails of different sizes, made in one batch, and one after the other.
 */
#include "bench_stages.h"

#include <string.h>

#include "core/memory.h"
#include "core/try.h"

enum { THUMBNAILS = 64, SIDE_LEAST = 48, SIDE_STEP = 7 };

#define THUMBNAIL_LAYOUT "r,g,b,edges,low,laplacian,entropy,sharpness,edge_x,edge_y,rgb_var,rgb_mean"

struct bench_ragged {
    tvlm_stack *batch, *alone[THUMBNAILS];
};

/* The size of thumbnail i. Sides are from 48 to 160, and shapes are of many kinds. */
static void size_of(int32_t i, int32_t size[2]) {
    size[0] = SIDE_LEAST + SIDE_STEP * (i * 5 % 17);
    size[1] = SIDE_LEAST + SIDE_STEP * (i * 11 % 17);
}

/* A corner of the image of that size, or all of the image if the image is smaller. */
static tvlm_image corner_of(const struct bench *bench, const int32_t size[2]) {
    tvlm_image part = *bench->image;
    part.row_stride = bench->pixels.row_stride;
    if (part.width > size[0]) part.width = size[0];
    if (part.height > size[1]) part.height = size[1];
    return part;
}

tvlm_status bench_ragged_prepare(struct bench *bench) {
    int32_t sizes[THUMBNAILS][2];
    struct bench_ragged *const made = bench->ragged = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return TVLM_ERROR_MEMORY;
    for (int32_t i = 0; i < THUMBNAILS; ++i) size_of(i, sizes[i]);
    /* With native levels there are no batches of different sizes. */
    if (bench->device->info.storage != TVLM_STORAGE_MIPMAPPED)
        TVLM_TRY(tvlm_stack_create(bench->device,
                                   tvlm_stack_params(.layout = THUMBNAIL_LAYOUT, .images = THUMBNAILS,
                                                     .format = bench->stack->format, .sizes = sizes[0]),
                                   &made->batch));
    for (int32_t i = 0; i < THUMBNAILS; ++i) {
        TVLM_TRY(tvlm_stack_create(bench->device,
                                   tvlm_stack_params(.layout = THUMBNAIL_LAYOUT, .width = sizes[i][0],
                                                     .height = sizes[i][1], .format = bench->stack->format),
                                   &made->alone[i]));
        const tvlm_image part = corner_of(bench, sizes[i]);
        TVLM_TRY(tvlm_stack_set_image(made->alone[i], 0, &part));
        if (made->batch != NULL) TVLM_TRY(tvlm_stack_set_image(made->batch, i, &part));
    }
    return TVLM_OK;
}

void bench_ragged_release(struct bench *bench) {
    if (bench->ragged == NULL) return;
    tvlm_stack_destroy(&bench->ragged->batch);
    for (int32_t i = 0; i < THUMBNAILS; ++i) tvlm_stack_destroy(&bench->ragged->alone[i]);
    free(bench->ragged);
    bench->ragged = NULL;
}

/* Makes all families with their levels, as if the images had changed. */
static tvlm_status make(tvlm_stack *stack) {
    TVLM_TRY(tvlm_stack_invalidate(stack, TVLM_CHANNEL_R));
    return tvlm_stack_make_all(stack);
}

static tvlm_status run_batch(struct bench *bench, int32_t unused) {
    (void)unused;
    return make(bench->ragged->batch);
}

static tvlm_status run_alone(struct bench *bench, int32_t unused) {
    (void)unused;
    for (int32_t i = 0; i < THUMBNAILS; ++i) TVLM_TRY(make(bench->ragged->alone[i]));
    return TVLM_OK;
}

/* The bytes that are moved: five grids of four channels are written, four of them in the size of the image,
 * and the source is read. */
static double bytes_of(const struct bench *bench) {
    const tvlm_texture *const source = bench->chunk->grids[TVLM_GRID_SOURCE];
    const double texel = 4.0 * (double)tvlm_component_bytes(tvlm_texture_format(source));
    double pixels = 0.0;
    for (int32_t i = 0; i < THUMBNAILS; ++i) {
        int32_t size[2];
        size_of(i, size);
        pixels += (double)size[0] * (double)size[1];
    }
    return 5.0 * texel * pixels * 4.0 / 3.0;
}

void bench_ragged_list(const struct bench *bench, bench_stage *stages, int32_t *count) {
    if (bench->ragged->batch != NULL)
        bench_add(stages, count, "64 thumbnails", ", one batch", run_batch, 0, bytes_of(bench));
    bench_add(stages, count, "64 thumbnails", ", one by one", run_alone, 0, bytes_of(bench));
}
