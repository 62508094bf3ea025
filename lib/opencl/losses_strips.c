/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/losses_strips.h"

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static tvlm_budget_axis from_output(const tvlm_budget_axis *axis, int32_t first) {
    return (tvlm_budget_axis){axis->offset + first * (axis->taps + TVLM_BUDGET_HEAD), axis->taps};
}

tvlm_budget_rows tvlm_opencl_strip_rows(const tvlm_texture *source, const opencl_strip *strip,
                                        int32_t level) {
    return (tvlm_budget_rows){
        most((strip->first >> level) - strip->margin, 0),
        least(((strip->end - 1) >> level) + 1 + strip->margin, tvlm_level_side(source->height, level))};
}

/* Returns how many floats the luma of all levels that are read takes. */
static size_t luma_floats(const tvlm_texture *source, const tvlm_budget_plan *plan,
                          const opencl_strip *strip) {
    size_t floats = 0;
    for (int32_t n = 0; n < plan->levels; ++n) {
        const tvlm_budget_rows rows = tvlm_opencl_strip_rows(source, strip, n);
        floats +=
            TVLM_BUDGET_LINE((size_t)tvlm_level_side(source->width, n)) * (size_t)(rows.end - rows.first);
    }
    return floats;
}

opencl_strip tvlm_opencl_strip_whole(const tvlm_texture *source, const tvlm_budget_plan *plan) {
    opencl_strip whole = {.tiles = plan->rows,
                          .end = source->height,
                          .between = plan->between_texels,
                          .texels = plan->picture_texels};
    whole.luma = luma_floats(source, plan, &whole);
    return whole;
}

/* Adds a picture to a strip, and returns the picture as the strip has it: only the rows that its tiles are
 * made of. */
static tvlm_budget_picture add_picture(const tvlm_texture *source, const tvlm_budget_plan *plan,
                                       const tvlm_budget_picture *whole, opencl_strip *strip) {
    const int32_t from = whole->from, from_width = tvlm_level_side(source->width, from);
    const tvlm_budget_rows made =
        tvlm_budget_reach(plan, &whole->enlarge_y, (tvlm_budget_rows){strip->first, strip->end});
    const tvlm_budget_rows read = tvlm_budget_reach(plan, &whole->reduce_y, made);
    tvlm_budget_picture picture = *whole;
    picture.row = made.first;
    picture.height = made.end - made.first;
    picture.reduce_y = from_output(&whole->reduce_y, made.first);
    picture.enlarge_y = from_output(&whole->enlarge_y, strip->first);
    picture.between = (int32_t)strip->between;
    picture.texels = (int32_t)strip->texels;
    strip->margin = most(
        strip->margin, most((strip->first >> from) - read.first, read.end - ((strip->end - 1) >> from) - 1));
    strip->between += tvlm_budget_between_floats(from_width, source->width, picture.height);
    strip->texels += tvlm_budget_picture_floats(picture.width, picture.height);
    return picture;
}

opencl_strip tvlm_opencl_strip_at(const tvlm_texture *source, const tvlm_budget_plan *plan, int32_t tile,
                                  int32_t tiles, tvlm_budget_picture *pictures) {
    opencl_strip strip = {.tile = tile, .tiles = least(tiles, plan->rows - tile)};
    strip.first = tile * plan->patch;
    strip.end = least(strip.first + strip.tiles * plan->patch, source->height);
    for (int32_t p = 0; p < plan->count; ++p) {
        const tvlm_budget_picture picture = add_picture(source, plan, &plan->pictures[p], &strip);
        if (pictures != NULL) pictures[p] = picture;
    }
    strip.luma = luma_floats(source, plan, &strip);
    return strip;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* The most that strips with so many rows of tiles take. */
static opencl_strips divided(const tvlm_texture *source, const tvlm_budget_plan *plan, int32_t tiles) {
    opencl_strips all = {.tiles = tiles};
    for (int32_t tile = 0; tile < plan->rows; tile += tiles) {
        const opencl_strip strip = tvlm_opencl_strip_at(source, plan, tile, tiles, NULL);
        all.luma = larger(all.luma, strip.luma);
        all.between = larger(all.between, strip.between);
        all.texels = larger(all.texels, strip.texels);
    }
    return all;
}

static size_t floats_of(const tvlm_budget_plan *plan, const opencl_strips *all) {
    return all->luma + all->between + all->texels +
           (size_t)plan->columns * (size_t)all->tiles * TVLM_BUDGET_KNOWN;
}

opencl_strips tvlm_opencl_strips(const tvlm_texture *source, const tvlm_budget_plan *plan, size_t floats) {
    const opencl_strip whole = tvlm_opencl_strip_whole(source, plan);
    opencl_strips all = {plan->rows, whole.luma, whole.between, whole.texels};
    for (size_t taken; (taken = floats_of(plan, &all)) > floats && all.tiles > 1;) {
        /* Fewer rows by the share that is too much, since most of what a strip takes grows with its rows. */
        const int32_t fewer = (int32_t)((double)all.tiles * (double)floats / (double)taken);
        all = divided(source, plan, most(least(fewer, all.tiles - 1), 1));
    }
    return all;
}
