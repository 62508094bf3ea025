/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c: launches the four stages of cl/text.cl, everywhere or around the tiles that changed.
 */
#include "opencl/text.h"

#include "core/try.h"

#include <stdio.h>

enum { LIST_GROUP = 16 };
_Static_assert((int)TVLM_TEXT_LEVELS <= (int)REGION_PARTS, "a region has a part for each level");

static int32_t blocks_along(int32_t side, int32_t level) {
    return (tvlm_level_side(side, level) + TVLM_TEXT_BLOCK - 1) / TVLM_TEXT_BLOCK;
}

opencl_text tvlm_opencl_text_of(opencl_device *device, const tvlm_texture *source) {
    opencl_text text = {.device = device, .source = source};
    text.levels = source->levels < TVLM_TEXT_LEVELS ? source->levels : TVLM_TEXT_LEVELS;
    for (int32_t level = 0; level < text.levels; ++level)
        text.blocks += blocks_along(source->width, level) * blocks_along(source->height, level);
    return text;
}

/* On CPUs runs of blocks are longer than those of other families, since their loops are plain integer code.
 * In lists they are as long as a tile is wide. */
static int32_t run_of(const opencl_text *text) {
    const int32_t run = text->device->tuning.run;
    return run > 1 && text->tiles == NULL ? 4 * run : run;
}

static tvlm_status begin(const opencl_text *text, const char *name, tvlm_format format, opencl_call *call) {
    const bool long_sides = text->source->width > 32767 || text->source->height > 32767;
    char options[48];
    snprintf(options, sizeof options, "-DRUN=%d%s", (int)run_of(text), long_sides ? " -DLONG_SIDES=1" : "");
    return tvlm_opencl_call_begin_over(text->device, text->tiles, "text.cl", name, format, options, call);
}

/* Runs work-items with a run along x. A work-item with a run of more than 1 is a group of its own. */
static tvlm_status run_rows(const opencl_text *text, opencl_call *call, int32_t width, int32_t height,
                            int32_t slices) {
    const int32_t run = run_of(text);
    const size_t size[3] = {(size_t)((width + run - 1) / run), (size_t)height, (size_t)slices},
                 one[3] = {1, 1, 1};
    if (run > 1) return tvlm_opencl_call_run(call, 3, size, one);
    return tvlm_opencl_call_run_pixels(call, width, height, slices);
}

/*
 * How far the stages look, in pixels of their level. STROKES: a stroke may end in another block. MARKS:
 * windows, and the bands above and below them. GROWN: marks grow, and depend on the blocks beside them.
 */
enum {
    STROKES_X = TVLM_TEXT_THIN + 2,
    MARKS_X = STROKES_X + TVLM_TEXT_RX * TVLM_TEXT_BLOCK,
    MARKS_Y = (TVLM_TEXT_APART + TVLM_TEXT_RY) * TVLM_TEXT_BLOCK,
    GROWN_X = MARKS_X + (TVLM_TEXT_GROW_X + 1) * TVLM_TEXT_BLOCK,
    GROWN_Y = MARKS_Y + TVLM_TEXT_GROW_Y * TVLM_TEXT_BLOCK
};

/* Runs those blocks of all levels that the tiles touch when they are grown by grow_x and grow_y pixels. One
 * more block is added, since whole blocks change. */
static tvlm_status run_some_blocks(const opencl_text *text, opencl_call *call, int32_t grow_x,
                                   int32_t grow_y) {
    const tvlm_texture *source = text->source;
    const int32_t run = run_of(text), group = run > 1 ? 1 : LIST_GROUP;
    opencl_region region = {.parts = {{0}}};
    for (int32_t level = 0; level < text->levels; ++level)
        region.parts[level] = (opencl_region_part){.width = source->width,
                                                   .height = source->height,
                                                   .extent_x = source->width,
                                                   .extent_y = source->height,
                                                   .level = level,
                                                   .grow_x = grow_x + TVLM_TEXT_BLOCK,
                                                   .grow_y = grow_y + TVLM_TEXT_BLOCK,
                                                   .block_width = group * run * TVLM_TEXT_BLOCK,
                                                   .block_height = group * TVLM_TEXT_BLOCK,
                                                   .z_step = text->levels,
                                                   .z = level};
    return tvlm_opencl_call_run_region(call, &region, (size_t)group, (size_t)group);
}

/* Runs the blocks of all levels and images. The launch has as many work-items for each level as for level 0;
 * those beyond the end of a level return at once. */
static tvlm_status run_blocks(const opencl_text *text, opencl_call *call, int32_t grow_x, int32_t grow_y) {
    const tvlm_texture *source = text->source;
    if (text->tiles != NULL) return run_some_blocks(text, call, grow_x, grow_y);
    return run_rows(text, call, blocks_along(source->width, 0), blocks_along(source->height, 0),
                    source->images * text->levels);
}

tvlm_status tvlm_opencl_text_strokes(const opencl_text *text, cl_mem strokes) {
    opencl_call call;
    TVLM_TRY(begin(text, "text_strokes", text->source->format, &call));
    tvlm_opencl_call_input(&call, text->source);
    tvlm_opencl_call_int(&call, text->blocks);
    tvlm_opencl_call_int(&call, text->levels);
    tvlm_opencl_call_memory(&call, strokes);
    return run_blocks(text, &call, STROKES_X, 0);
}

static tvlm_status blocks_to_blocks(const opencl_text *text, const char *name, cl_mem from, cl_mem to,
                                    int32_t grow_x, int32_t grow_y) {
    opencl_call call;
    TVLM_TRY(begin(text, name, text->source->format, &call));
    tvlm_opencl_call_memory(&call, from);
    tvlm_opencl_call_size(&call, text->source);
    tvlm_opencl_call_int(&call, text->blocks);
    tvlm_opencl_call_int(&call, text->levels);
    tvlm_opencl_call_memory(&call, to);
    return run_blocks(text, &call, grow_x, grow_y);
}

tvlm_status tvlm_opencl_text_mark(const opencl_text *text, cl_mem strokes, cl_mem marks) {
    return blocks_to_blocks(text, "text_mark", strokes, marks, MARKS_X, MARKS_Y);
}

tvlm_status tvlm_opencl_text_grow(const opencl_text *text, cl_mem marks, cl_mem grown) {
    return blocks_to_blocks(text, "text_grow", marks, grown, GROWN_X, GROWN_Y);
}

tvlm_status tvlm_opencl_text_combine(const opencl_text *text, cl_mem grown, const tvlm_texture *out) {
    opencl_call call;
    TVLM_TRY(begin(text, "text_combine", out->format, &call));
    tvlm_opencl_call_memory(&call, grown);
    tvlm_opencl_call_size(&call, text->source);
    tvlm_opencl_call_int(&call, text->blocks);
    tvlm_opencl_call_int(&call, text->levels);
    tvlm_opencl_call_scalar(&call, out);
    if (text->tiles != NULL) return tvlm_opencl_call_run_rows(&call, run_of(text));
    return run_rows(text, &call, out->width, out->height, out->images);
}

tvlm_status tvlm_opencl_text(tvlm_device *base, const tvlm_generate_args *args) {
    opencl_device *device = (opencl_device *)base;
    opencl_text text = tvlm_opencl_text_of(device, args->grids[TVLM_GRID_SOURCE]);
    const size_t blocks = (size_t)text.blocks * (size_t)args->out->images;
    cl_mem strokes, marks, grown;
    text.tiles = args->tiles;
    TVLM_TRY(tvlm_opencl_between(device, args, TVLM_PRODUCT_TEXT_STROKES, SCRATCH_A,
                                 blocks * TVLM_TEXT_SUMS * sizeof(cl_int), &strokes));
    TVLM_TRY(tvlm_opencl_between(device, args, TVLM_PRODUCT_TEXT_MARKS, SCRATCH_B, blocks, &marks));
    TVLM_TRY(tvlm_opencl_between(device, args, TVLM_PRODUCT_TEXT_GROWN, SCRATCH_C, blocks, &grown));
    TVLM_TRY(tvlm_opencl_text_strokes(&text, strokes));
    TVLM_TRY(tvlm_opencl_text_mark(&text, strokes, marks));
    TVLM_TRY(tvlm_opencl_text_grow(&text, marks, grown));
    return tvlm_opencl_text_combine(&text, grown, args->out);
}
