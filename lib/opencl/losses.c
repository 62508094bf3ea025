/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.c: launches cl/losses.cl: six launches for all pictures of a plan. With frames that are seen later, each of these
 * is one launch more, and every IMAGES of them two.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* On CPUs a work-item makes RUN_VALUES values beside each other for each of GROUP_OUTPUTS outputs (GROUP of
 * cl/losses.cl). */
enum { RUN_VALUES = 32, GROUP_OUTPUTS = 16 };

/* How many floats are known of a tile (KNOWN of cl/losses.cl). */
enum { KNOWN = 3 * TVLM_BUDGET_BLOCKS * TVLM_BUDGET_BLOCKS + 3 };

/* Kernels read up to so many floats behind the last texel, and do not use them. They read whole runs, and the
 * columns of a tile in whole vectors. */
enum { BEYOND = RUN_VALUES };

/* With so many images at most the pictures are compared at once, if their luma takes no more than so many bytes. */
enum { IMAGES = 16 };
#define LUMA_BYTES 67108864.0

/* One set of launches: what the kernels share, and the largest sizes that they run over. */
typedef struct work {
    opencl_device *device;
    const tvlm_texture *source;
    const tvlm_budget_plan *plan;
    cl_mem pictures, table, luma, between, texels;
    /* In floats, how much luma level 0 of an image has, and where what is known of tiles begins in the memory `luma`. */
    uint64_t image, known;
    /* How many images are compared at once. */
    int32_t images;
    /* The largest width and height of a picture, and the largest width of a level that a picture is reduced
     * from. */
    int32_t width, height, from;
    int32_t run;
} work;

static int32_t most(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static void find_sizes(work *w) {
    w->run = w->device->tuning.scan_rows ? RUN_VALUES : 1;
    for (int32_t p = 0; p < w->plan->count; ++p) {
        const tvlm_budget_picture *const picture = &w->plan->pictures[p];
        w->width = most(w->width, picture->width);
        w->height = most(w->height, picture->height);
        w->from = most(w->from, tvlm_level_side(w->source->width, picture->from));
    }
}

/* Returns how many floats the luma of all levels that are read takes, and finds the sum of their heights. */
static size_t level_texels(const work *w, int32_t *rows) {
    size_t texels = 0;
    *rows = 0;
    for (int32_t n = 0; n < w->plan->levels; ++n) {
        const int32_t height = tvlm_level_side(w->source->height, n);
        texels += TVLM_BUDGET_LINE((size_t)tvlm_level_side(w->source->width, n)) * (size_t)height;
        *rows += height;
    }
    return texels;
}

/* Finds how many images that are seen have room at once. */
static int32_t find_images(const work *w) {
    const int32_t count = w->plan->seen != NULL ? w->plan->seen_count : 1;
    const double fit = LUMA_BYTES / (sizeof(cl_float) * (double)w->image);
    const int32_t images = count < IMAGES ? count : IMAGES;
    return fit >= images ? images : fit < 1.0 ? 1 : (int32_t)fit;
}

/* Sends the pictures and the table, and finds memory for what one launch leaves for the next. What is known
 * of tiles lies at the end of the memory `luma`. Kernels are told where it begins: sub-buffers would be one
 * more thing that drivers may get wrong. */
static tvlm_status prepare(work *w) {
    const tvlm_budget_plan *const plan = w->plan;
    const size_t pictures = (size_t)plan->count * sizeof *plan->pictures;
    const size_t table = plan->table_floats * sizeof *plan->table;
    int32_t rows;
    w->image = TVLM_BUDGET_LINE((size_t)w->source->width) * (size_t)w->source->height;
    w->images = find_images(w);
    const size_t levels = level_texels(w, &rows), images = (size_t)w->images * (size_t)w->image;
    const size_t luma = levels > images ? levels : images;
    const size_t known = (size_t)w->images * (size_t)plan->columns * (size_t)plan->rows * KNOWN;
    w->known = luma;
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_A, pictures, &w->pictures));
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_B, table, &w->table));
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_C, (luma + known + BEYOND) * sizeof(cl_float), &w->luma));
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_D, (plan->between_texels + BEYOND) * sizeof(cl_float),
                                 &w->between));
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_E, (plan->picture_texels + BEYOND) * sizeof(cl_float),
                                 &w->texels));
    TVLM_TRY(tvlm_opencl_write(w->device, w->pictures, 0, pictures, plan->pictures));
    return tvlm_opencl_write(w->device, w->table, 0, table, plan->table);
}

static tvlm_status begin(const work *w, const char *name, tvlm_format format, opencl_call *call) {
    char options[48];
    snprintf(options, sizeof options, "-DSIDE=%d -DRUN=%d", (int)w->plan->patch, (int)w->run);
    return tvlm_opencl_call_begin(w->device, "losses.cl", name, format, options, call);
}

static tvlm_status begin_pictures(const work *w, const char *name, opencl_call *call) {
    TVLM_TRY(begin(w, name, w->source->format, call));
    tvlm_opencl_call_memory(call, w->pictures);
    tvlm_opencl_call_memory(call, w->table);
    return TVLM_OK;
}

static int32_t runs(const work *w, int32_t values) {
    return (values + w->run - 1) / w->run;
}

static int32_t groups(const work *w, int32_t outputs) {
    const int32_t group = w->run > 1 ? GROUP_OUTPUTS : 1;
    return (outputs + group - 1) / group;
}

/* Copies the luma of the first `levels` levels of an image, to float `to` and on. */
static tvlm_status copy_luma(const work *w, const tvlm_texture *texture, int32_t image, int32_t levels,
                             uint64_t to) {
    opencl_call call;
    int32_t rows = w->source->height;
    if (levels > 1) (void)level_texels(w, &rows);
    TVLM_TRY(begin(w, "losses_luma", w->source->format, &call));
    tvlm_opencl_call_input(&call, texture);
    tvlm_opencl_call_int(&call, image * texture->layers);
    tvlm_opencl_call_int(&call, levels);
    tvlm_opencl_call_ulong(&call, to);
    tvlm_opencl_call_memory(&call, w->luma);
    return tvlm_opencl_call_run_pixels(&call, runs(w, w->source->width), rows, 1);
}

static tvlm_status look_at_tiles(const work *w, int32_t images) {
    opencl_call call;
    TVLM_TRY(begin(w, "losses_tiles", w->source->format, &call));
    tvlm_opencl_call_memory(&call, w->luma);
    tvlm_opencl_call_int(&call, w->source->width);
    tvlm_opencl_call_int(&call, w->source->height);
    tvlm_opencl_call_int(&call, w->plan->columns);
    tvlm_opencl_call_int(&call, w->plan->rows);
    tvlm_opencl_call_ulong(&call, w->known);
    return tvlm_opencl_call_run_pixels(&call, w->plan->columns, w->plan->rows, images);
}

/* Runs one pass of losses_filter, for the values and outputs that the largest picture has. */
static tvlm_status filter(const work *w, int32_t pass, cl_mem from, cl_mem to, int32_t values,
                          int32_t outputs) {
    opencl_call call;
    TVLM_TRY(begin_pictures(w, "losses_filter", &call));
    tvlm_opencl_call_memory(&call, from);
    tvlm_opencl_call_int(&call, w->source->width);
    tvlm_opencl_call_int(&call, w->source->height);
    tvlm_opencl_call_int(&call, pass);
    tvlm_opencl_call_memory(&call, to);
    return tvlm_opencl_call_run_pixels(&call, runs(w, values), groups(w, outputs), w->plan->count);
}

static tvlm_status make_pictures(const work *w) {
    TVLM_TRY(filter(w, 0, w->luma, w->between, w->from, w->height));
    TVLM_TRY(filter(w, 1, w->between, w->texels, w->height, w->width));
    return filter(w, 2, w->texels, w->between, w->height, w->source->width);
}

static tvlm_status compare(const work *w, int32_t images, cl_mem losses, size_t offset) {
    opencl_call call;
    TVLM_TRY(begin_pictures(w, "losses_compare", &call));
    tvlm_opencl_call_memory(&call, w->luma);
    tvlm_opencl_call_int(&call, w->source->width);
    tvlm_opencl_call_int(&call, w->source->height);
    tvlm_opencl_call_memory(&call, w->between);
    tvlm_opencl_call_ulong(&call, w->known);
    tvlm_opencl_call_int(&call, w->plan->columns);
    tvlm_opencl_call_int(&call, w->plan->rows);
    tvlm_opencl_call_int(&call, w->plan->count);
    tvlm_opencl_call_int(&call, images);
    tvlm_opencl_call_float(&call, w->plan->legible);
    tvlm_opencl_call_float(&call, tvlm_budget_not_read(1.0f, w->plan->legible));
    tvlm_opencl_call_ulong(&call, offset);
    tvlm_opencl_call_memory(&call, losses);
    const int32_t count = w->plan->count, rows = w->plan->rows;
    if (w->run > 1) return tvlm_opencl_call_run_pixels(&call, w->plan->columns, count, rows);
    return tvlm_opencl_call_run_pixels(&call, w->plan->columns, rows, count * images);
}

/* Compares the pictures with all images that are seen. They are enlarged but for one pass, and what that reads is not in the
 * memory `luma`, so that other images' luma may take its place there. */
static tvlm_status compare_seen(const work *w, tvlm_buffer *losses, size_t offset) {
    const tvlm_budget_plan *const plan = w->plan;
    for (int32_t first = 0; first < plan->seen_count; first += w->images) {
        const int32_t left = plan->seen_count - first, images = left < w->images ? left : w->images;
        for (int32_t i = 0; i < images; ++i)
            TVLM_TRY(copy_luma(w, plan->seen[first + i].texture, plan->seen[first + i].image, 1,
                               (uint64_t)i * w->image));
        TVLM_TRY(look_at_tiles(w, images));
        TVLM_TRY(compare(w, images, ((opencl_buffer *)losses)->memory, offset));
        offset += 2 * (size_t)images * (size_t)plan->count * (size_t)plan->columns * (size_t)plan->rows;
    }
    return TVLM_OK;
}

tvlm_status tvlm_opencl_losses(tvlm_device *base, const tvlm_texture *source, const tvlm_budget_plan *plan,
                               tvlm_buffer *losses, size_t offset) {
    OPENCL_TUNED(base, TVLM_TUNED_LOSSES, (double)source->width * source->height);
    work w = {.device = (opencl_device *)base, .source = source, .plan = plan};
    find_sizes(&w);
    TVLM_TRY(prepare(&w));
    TVLM_TRY(copy_luma(&w, source, plan->image, plan->levels, 0));
    TVLM_TRY(make_pictures(&w));
    if (plan->seen != NULL) return compare_seen(&w, losses, offset);
    TVLM_TRY(look_at_tiles(&w, 1));
    return compare(&w, 1, ((opencl_buffer *)losses)->memory, offset);
}
