/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.c: launches cl/losses.cl: six launches for all pictures of a plan, or five where they are compared with images that are
 * kept. To keep one takes two, and so does to move one. What lies between the launches of a large image would take several times
 * the image's memory. So it is measured strip by strip, with six launches each (losses_strips.h); results are the same to the bit.
 */
#include <stdio.h>

#include "core/memory.h"
#include "core/try.h"
#include "opencl/backend.h"
#include "opencl/losses_strips.h"

/* On CPUs a work-item makes RUN_VALUES values beside each other for each of GROUP_OUTPUTS outputs (GROUP of
 * cl/losses.cl). */
enum { RUN_VALUES = 32, GROUP_OUTPUTS = 16 };

/* One set of launches: what the kernels share, and the largest sizes that they run over. */
typedef struct work {
    opencl_device *device;
    const tvlm_texture *source;
    const tvlm_budget_plan *plan;
    opencl_strips strips;
    opencl_strip strip;
    const tvlm_budget_picture *of_strip; /* its pictures */
    cl_mem pictures, table, luma, between, texels;
    /* The largest width and height of a picture, and the largest width of a level that a picture is reduced
     * from. */
    int32_t width, height, from;
    int32_t run;
} work;

static int32_t most(int32_t a, int32_t b) {
    return a > b ? a : b;
}

/* Begins a strip, of which these are the pictures. */
static void take_strip(work *w, const opencl_strip *strip, const tvlm_budget_picture *pictures) {
    w->strip = *strip;
    w->of_strip = pictures;
    w->width = w->height = w->from = 0;
    w->run = w->device->tuning.scan_rows ? RUN_VALUES : 1;
    for (int32_t p = 0; p < w->plan->count; ++p) {
        const tvlm_budget_picture *const picture = &pictures[p];
        w->width = most(w->width, picture->width);
        w->height = most(w->height, picture->height);
        w->from = most(w->from, tvlm_level_side(w->source->width, picture->from));
    }
}

static void take_whole(work *w) {
    const opencl_strip whole = tvlm_opencl_strip_whole(w->source, w->plan);
    take_strip(w, &whole, w->plan->pictures);
}

static int32_t strip_height(const work *w) {
    return w->strip.end - w->strip.first;
}

static void pass_strip(const work *w, opencl_call *call) {
    const cl_int4 strip = {{w->strip.first, w->strip.end, w->strip.margin, 0}};
    tvlm_opencl_call_bytes(call, sizeof strip, &strip);
}

/* Memory with luma of as many images as it has places, from float `begin` on, and what is known of their tiles from float `known`
 * on. */
typedef struct images {
    cl_mem memory;
    uint64_t begin, known;
    int32_t first, step, places;
} images;

/* The luma of level 0 of an image, in floats. */
static uint64_t image_floats(const tvlm_texture *source) {
    return (uint64_t)(TVLM_BUDGET_LINE((size_t)source->width) * (size_t)source->height);
}

static images kept_images(const tvlm_texture *source, const tvlm_budget_kept *kept) {
    return (images){.memory = ((opencl_buffer *)kept->memory)->memory,
                    .known = (uint64_t)kept->places * image_floats(source),
                    .places = kept->places};
}

static tvlm_status find_pictures(work *w) {
    const tvlm_budget_plan *const plan = w->plan;
    const size_t bytes = (size_t)plan->count * sizeof *plan->pictures;
    if (plan->sent_pictures != NULL && w->of_strip == plan->pictures) {
        w->pictures = ((opencl_buffer *)plan->sent_pictures)->memory;
        return TVLM_OK;
    }
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_A, bytes, &w->pictures));
    return tvlm_opencl_write(w->device, w->pictures, 0, bytes, w->of_strip);
}

/* Finds the pictures and the table on the device, or sends them. The table is the same for all strips. */
static tvlm_status send(work *w) {
    const tvlm_budget_plan *const plan = w->plan;
    const size_t bytes = plan->table_floats * sizeof *plan->table;
    TVLM_TRY(find_pictures(w));
    if (plan->sent_table != NULL) w->table = ((opencl_buffer *)plan->sent_table)->memory;
    if (w->table != NULL) return TVLM_OK;
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_B, bytes, &w->table));
    return tvlm_opencl_write(w->device, w->table, 0, bytes, plan->table);
}

/* Finds memory for what one launch leaves for the next. What is known of the source's own tiles lies at the end of the memory
 * `luma`. Kernels are told where it begins: sub-buffers would be one more thing that drivers may get wrong. */
static tvlm_status prepare(work *w, images *own) {
    const opencl_strips *const all = &w->strips;
    const size_t line = TVLM_BUDGET_LINE((size_t)w->source->width);
    const size_t known = (size_t)w->plan->columns * (size_t)all->tiles * TVLM_BUDGET_KNOWN;
    const int32_t above = w->strip.first - tvlm_opencl_strip_rows(w->source, &w->strip, 0).first;
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_C,
                                 (all->luma + known + TVLM_BUDGET_BEYOND) * sizeof(cl_float), &w->luma));
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_D, (all->between + TVLM_BUDGET_BEYOND) * sizeof(cl_float),
                                 &w->between));
    TVLM_TRY(tvlm_opencl_scratch(w->device, SCRATCH_E, (all->texels + TVLM_BUDGET_BEYOND) * sizeof(cl_float),
                                 &w->texels));
    *own = (images){.memory = w->luma, .begin = (uint64_t)above * line, .known = all->luma, .places = 1};
    return send(w);
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

/* Copies the luma of the first `levels` levels of an image, to float `begins` of `to` and on. */
static tvlm_status copy_luma(const work *w, int32_t image, int32_t levels, cl_mem to, uint64_t begins) {
    opencl_call call;
    int32_t rows = 0;
    for (int32_t n = 0; n < levels; ++n) {
        const tvlm_budget_rows of_level = tvlm_opencl_strip_rows(w->source, &w->strip, n);
        rows += of_level.end - of_level.first;
    }
    TVLM_TRY(begin(w, "losses_luma", w->source->format, &call));
    tvlm_opencl_call_input(&call, w->source);
    tvlm_opencl_call_int(&call, image * w->source->layers);
    tvlm_opencl_call_int(&call, levels);
    pass_strip(w, &call);
    tvlm_opencl_call_ulong(&call, begins);
    tvlm_opencl_call_memory(&call, to);
    return tvlm_opencl_call_run_pixels(&call, runs(w, w->source->width), rows, 1);
}

static tvlm_status look_at_tiles(const work *w, const images *at, int32_t place) {
    opencl_call call;
    TVLM_TRY(begin(w, "losses_tiles", w->source->format, &call));
    tvlm_opencl_call_memory(&call, at->memory);
    tvlm_opencl_call_ulong(&call, at->begin);
    tvlm_opencl_call_int(&call, w->source->width);
    tvlm_opencl_call_int(&call, strip_height(w));
    tvlm_opencl_call_int(&call, w->plan->columns);
    tvlm_opencl_call_int(&call, w->strip.tiles);
    tvlm_opencl_call_ulong(&call, at->known);
    tvlm_opencl_call_int(&call, place);
    return tvlm_opencl_call_run_pixels(&call, w->plan->columns, w->strip.tiles, 1);
}

/* Runs one pass of losses_filter, for the values and outputs that the largest picture has. */
static tvlm_status filter(const work *w, int32_t pass, cl_mem from, cl_mem to, int32_t values,
                          int32_t outputs) {
    opencl_call call;
    TVLM_TRY(begin_pictures(w, "losses_filter", &call));
    tvlm_opencl_call_memory(&call, from);
    tvlm_opencl_call_int(&call, w->source->width);
    tvlm_opencl_call_int(&call, w->source->height);
    pass_strip(w, &call);
    tvlm_opencl_call_int(&call, pass);
    tvlm_opencl_call_memory(&call, to);
    return tvlm_opencl_call_run_pixels(&call, runs(w, values), groups(w, outputs), w->plan->count);
}

static tvlm_status make_pictures(const work *w) {
    TVLM_TRY(filter(w, 0, w->luma, w->between, w->from, w->height));
    TVLM_TRY(filter(w, 1, w->between, w->texels, w->height, w->width));
    return filter(w, 2, w->texels, w->between, w->height, w->source->width);
}

static tvlm_status compare(const work *w, const images *at, int32_t seen, cl_mem losses, size_t offset) {
    opencl_call call;
    const int32_t columns = w->plan->columns, count = w->plan->count, rows = w->strip.tiles;
    TVLM_TRY(begin_pictures(w, "losses_compare", &call));
    tvlm_opencl_call_memory(&call, at->memory);
    tvlm_opencl_call_ulong(&call, at->begin);
    tvlm_opencl_call_int(&call, w->source->width);
    tvlm_opencl_call_int(&call, strip_height(w));
    tvlm_opencl_call_memory(&call, w->between);
    tvlm_opencl_call_ulong(&call, at->known);
    tvlm_opencl_call_int(&call, columns);
    tvlm_opencl_call_int(&call, rows);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_int(&call, seen);
    tvlm_opencl_call_int(&call, at->first);
    tvlm_opencl_call_int(&call, at->step);
    tvlm_opencl_call_int(&call, at->places);
    tvlm_opencl_call_float(&call, w->plan->legible);
    tvlm_opencl_call_float(&call, tvlm_budget_not_read(1.0f, w->plan->legible));
    tvlm_opencl_call_ulong(&call, 2 * (uint64_t)w->plan->rows * (uint64_t)columns);
    tvlm_opencl_call_ulong(&call, offset + 2 * (uint64_t)w->strip.tile * (uint64_t)columns);
    tvlm_opencl_call_memory(&call, losses);
    if (w->run > 1) return tvlm_opencl_call_run_pixels(&call, columns, count, rows);
    return tvlm_opencl_call_run_pixels(&call, columns, rows, count * seen);
}

/* Measures the strip that was taken. */
static tvlm_status measure(work *w, cl_mem losses, size_t offset) {
    const tvlm_budget_plan *const plan = w->plan;
    images at;
    TVLM_TRY(prepare(w, &at));
    TVLM_TRY(copy_luma(w, plan->image, plan->levels, w->luma, 0));
    TVLM_TRY(make_pictures(w));
    if (plan->kept == NULL) {
        TVLM_TRY(look_at_tiles(w, &at, 0));
        return compare(w, &at, 1, losses, offset);
    }
    at = kept_images(w->source, plan->kept);
    at.first = plan->first;
    at.step = plan->step;
    return compare(w, &at, plan->seen, losses, offset);
}

static tvlm_status measure_strips(work *w, cl_mem losses, size_t offset) {
    const tvlm_budget_plan *const plan = w->plan;
    tvlm_budget_picture *const pictures = tvlm_allocate((size_t)plan->count, sizeof *pictures);
    tvlm_status status = TVLM_OK;
    if (pictures == NULL) return tvlm_fail(&w->device->base.log, TVLM_ERROR_MEMORY, "no memory for pictures");
    for (int32_t tile = 0; tile < plan->rows && status == TVLM_OK; tile += w->strips.tiles) {
        const opencl_strip strip = tvlm_opencl_strip_at(w->source, plan, tile, w->strips.tiles, pictures);
        take_strip(w, &strip, pictures);
        status = measure(w, losses, offset);
    }
    free(pictures);
    return status;
}

tvlm_status tvlm_opencl_losses(tvlm_device *base, const tvlm_texture *source, const tvlm_budget_plan *plan,
                               tvlm_buffer *losses, size_t offset) {
    OPENCL_TUNED(base, TVLM_TUNED_LOSSES, (double)source->width * source->height);
    work w = {.device = (opencl_device *)base, .source = source, .plan = plan};
    const cl_mem to = ((opencl_buffer *)losses)->memory;
    const bool is_whole = plan->kept != NULL; /* images that are kept are there as a whole */
    const size_t floats = (size_t)w.device->tuning.losses_kib * 1024 / sizeof(cl_float);
    w.strips = tvlm_opencl_strips(source, plan, is_whole ? SIZE_MAX : floats);
    if (w.strips.tiles < plan->rows) return measure_strips(&w, to, offset);
    take_whole(&w);
    return measure(&w, to, offset);
}

/* A plan without pictures. */
static tvlm_budget_plan plan_of_tiles(const tvlm_texture *source, int32_t patch) {
    return (tvlm_budget_plan){.patch = patch,
                              .columns = (source->width + patch - 1) / patch,
                              .rows = (source->height + patch - 1) / patch};
}

tvlm_status tvlm_opencl_losses_keep(tvlm_device *base, const tvlm_texture *source, int32_t image,
                                    int32_t patch, const tvlm_budget_kept *kept, int32_t place) {
    OPENCL_TUNED(base, TVLM_TUNED_LOSSES, (double)source->width * source->height);
    const tvlm_budget_plan plan = plan_of_tiles(source, patch);
    work w = {.device = (opencl_device *)base, .source = source, .plan = &plan};
    const images at = kept_images(source, kept);
    take_whole(&w);
    TVLM_TRY(copy_luma(&w, image, 1, at.memory, (uint64_t)place * image_floats(source)));
    return look_at_tiles(&w, &at, place);
}

tvlm_status tvlm_opencl_losses_move(tvlm_device *base, const tvlm_texture *source, int32_t patch,
                                    const tvlm_budget_kept *kept, const tvlm_budget_move *move,
                                    const tvlm_budget_kept *moved) {
    OPENCL_TUNED(base, TVLM_TUNED_LOSSES, (double)source->width * source->height);
    const tvlm_budget_plan plan = plan_of_tiles(source, patch);
    work w = {.device = (opencl_device *)base, .source = source, .plan = &plan};
    const images from = kept_images(source, kept), to = kept_images(source, moved);
    const float *const map = move->map;
    opencl_call call;
    take_whole(&w);
    TVLM_TRY(begin(&w, "losses_move", source->format, &call));
    tvlm_opencl_call_memory(&call, from.memory);
    tvlm_opencl_call_int(&call, source->width);
    tvlm_opencl_call_int(&call, source->height);
    tvlm_opencl_call_int(&call, move->from);
    tvlm_opencl_call_float4(&call, map[0], map[1], map[2], 0.0f);
    tvlm_opencl_call_float4(&call, map[3], map[4], map[5], 0.0f);
    tvlm_opencl_call_ulong(&call, (uint64_t)move->to * image_floats(source));
    tvlm_opencl_call_memory(&call, to.memory);
    TVLM_TRY(tvlm_opencl_call_run_pixels(&call, runs(&w, source->width), source->height, 1));
    return look_at_tiles(&w, &to, move->to);
}
