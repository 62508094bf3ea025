/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delta_helper.h: what the tests of updates in parts share: a stack that is updated and one that is made in
 * full, frames with parts that change, and what a report says of a family.
 */
#ifndef TVLM_TESTS_DELTA_HELPER_H
#define TVLM_TESTS_DELTA_HELPER_H

#include <stdio.h>
#include <string.h>

#include "stack/delta.h"
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/stack.h"

/* Returns channels of the source, of grids that are not made in parts, and, by the registry, the first one of
 * each grid that is. */
static inline const char *layout(void) {
    static char names[1024];
    size_t used = (size_t)snprintf(names, sizeof names, "r,g,b,saliency,cluster_id,boundary,prev_relevance");
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        if (!tvlm_grid_is_local((tvlm_grid)grid)) continue;
        tvlm_channel_info info;
        if (tvlm_channel_get_info(tvlm_grid_get_channel((tvlm_grid)grid, 0), &info) != TVLM_OK)
            fail_msg("grid %d has no channel", grid);
        used += (size_t)snprintf(names + used, sizeof names - used, ",%s", info.name);
        assert_true(used < sizeof names);
    }
    return names;
}

static inline void check(tvlm_status status) {
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
}

static inline tvlm_stack *create_of(const test_target *target, const char *channels, test_size size,
                                    int32_t images) {
    tvlm_stack *stack = NULL;
    check(tvlm_stack_create(target->device,
                            tvlm_stack_params(.layout = channels, .width = size.width, .height = size.height,
                                              .images = images, .format = target->format, .clusters = 12),
                            &stack));
    return stack;
}

static inline tvlm_stack *create(const test_target *target, test_size size, int32_t images) {
    return create_of(target, layout(), size, images);
}

/* ---- Two stacks compared ---- */

static inline void compare_level(tvlm_device *device, const char *what, const char *name, tvlm_texture *got,
                                 tvlm_texture *expected, int32_t level, int32_t slice) {
    float *a = test_read(device, got, level, slice), *b = test_read(device, expected, level, slice);
    const int32_t width = tvlm_level_side(got->width, level);
    for (size_t i = 0; i < 4 * test_texels(got, level); ++i)
        if (!(a[i] == b[i])) /* so that NaN in either is a failure too */
            fail_msg("%s, %s, level %d of %dx%d, slice %d, texel (%d, %d).%d: %.9g, in full %.9g", what, name,
                     (int)level, (int)got->width, (int)got->height, (int)slice, (int)(i / 4) % (int)width,
                     (int)(i / 4) / (int)width, (int)(i % 4), (double)a[i], (double)b[i]);
    free(a);
    free(b);
}

/* Compares every texel of every level of every grid. What is made when it is first read is made by that. */
static inline void compare(const char *what, tvlm_stack *got, tvlm_stack *expected) {
    check(tvlm_stack_make_all(got));
    check(tvlm_stack_make_all(expected));
    for (int32_t c = 0; c < got->chunk_count; ++c) {
        tvlm_chunk *a = &got->chunks[c], *b = &expected->chunks[c];
        assert_true(a->valid == b->valid);
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
            if ((a->valid & TVLM_GRID_BIT(grid)) == 0) continue;
            for (int32_t level = 0; level < a->grids[grid]->levels; ++level)
                for (int32_t slice = 0; slice < test_slices(a->grids[grid]); ++slice)
                    compare_level(got->device, what, tvlm_grid_get_info((tvlm_grid)grid)->name,
                                  a->grids[grid], b->grids[grid], level, slice);
        }
    }
}

/* ---- Frames ---- */

typedef struct movie {
    test_size size;
    int32_t channels;
    uint8_t *pixels;
    uint64_t random;
} movie;

static inline movie movie_of(test_size size, int32_t channels, uint64_t seed) {
    movie m = {size, channels, NULL, seed};
    m.pixels = test_random_pixels(&m.random, size.width, size.height, channels);
    return m;
}

static inline tvlm_image frame_of(const movie *m) {
    return u8_image(m->pixels, m->size.width, m->size.height, m->channels);
}

static inline void invert(const movie *m, int32_t x, int32_t y) {
    if (x < 0 || y < 0 || x >= m->size.width || y >= m->size.height) return;
    uint8_t *at = m->pixels + ((size_t)y * (size_t)m->size.width + (size_t)x) * (size_t)m->channels;
    for (int32_t c = 0; c < m->channels; ++c) at[c] = (uint8_t)(at[c] + 128);
}

/* Draws a block of noise at (x, y). */
static inline void put_object(movie *m, int32_t x, int32_t y, int32_t side) {
    for (int32_t j = y; j < y + side; ++j)
        for (int32_t i = x; i < x + side; ++i)
            if (test_random(&m->random) & 1) invert(m, i, j);
}

static inline void release(movie *m, tvlm_stack *parts, tvlm_stack *full) {
    free(m->pixels);
    tvlm_stack_destroy(&parts);
    tvlm_stack_destroy(&full);
}

/* Puts the frame into both, into one in parts, into the other in full. Returns what the first reported. */
static inline tvlm_delta_report push(const char *what, tvlm_stack *parts, tvlm_stack *full, int32_t index,
                                     const movie *m, const struct tvlm_update_params *params) {
    const tvlm_image image = frame_of(m);
    tvlm_delta_report report;
    check(tvlm_stack_update_image(parts, index, &image, params, &report));
    check(tvlm_stack_set_image(full, index, &image));
    compare(what, parts, full);
    return report;
}

static inline const tvlm_delta_family *family_of(const tvlm_delta_report *report, const char *name) {
    for (int32_t i = 0; i < report->family_count; ++i)
        if (strcmp(report->families[i].name, name) == 0) return &report->families[i];
    fail_msg("nothing is said of '%s'", name);
    return NULL;
}

static inline void assert_family(const tvlm_delta_report *report, const char *name, tvlm_update update) {
    const tvlm_delta_family *family = family_of(report, name);
    if (family->update != update) fail_msg("%s: %d, not %d", name, (int)family->update, (int)update);
}

#endif
