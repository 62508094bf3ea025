/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_delta.c: rows about a frame in which 1 % or 10 % of the tiles have changed:
 * - one row for each family that is made in parts, with its levels, from tiles that are already on the
 *   device;
 * - one row for the whole frame, which is compared, uploaded and made;
 * - for comparison, the same families and the frame made in full.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_stages.h"
#include "core/tiles.h"
#include "core/try.h"
#include "stack/make.h"
#include "texturevlm/stack.h"

enum { SIDE = TVLM_TILE_DEFAULT, ALL = 100 };

struct bench_delta {
    tvlm_tiles tiles;
    uint8_t *changed;
    unsigned char *pixels; /* the frame, whose values change back and forth */
    int32_t percent;       /* the share for which the tiles were chosen */
    unsigned char state;
};

/* Whether the stack has the grid, and the grid can be made in parts. */
static bool is_parted(const struct bench *bench, int32_t grid) {
    return bench->chunk->grids[grid] != NULL && tvlm_grid_is_local((tvlm_grid)grid);
}

/* Chooses tiles at random places, and returns how many there are. Scattered tiles are the worst case for
 * families that read pixels around a tile. */
static int32_t choose(struct bench_delta *delta, int32_t percent) {
    tvlm_tiles *const tiles = &delta->tiles;
    const uint32_t all = (uint32_t)tiles->columns * (uint32_t)tiles->rows;
    uint32_t wanted = (all * (uint32_t)percent + 50) / 100;
    if (wanted == 0) wanted = 1;
    if (delta->percent == percent) return tiles->count;
    memset(delta->changed, 0, all);
    for (uint32_t i = 0, bits = 1; i < wanted; bits = bits * 1664525u + 1013904223u) {
        uint8_t *const tile = &delta->changed[(bits >> 8) % all];
        if (!*tile) ++i;
        *tile = 1;
    }
    delta->percent = percent;
    tiles->count = (int32_t)wanted;
    return tiles->count;
}

tvlm_status bench_delta_prepare(struct bench *bench) {
    const tvlm_image *const image = bench->image;
    struct bench_delta *const delta = calloc(1, sizeof *delta);
    bench->delta = delta;
    if (delta == NULL) return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for tiles");
    delta->tiles = (tvlm_tiles){.width = image->width,
                                .height = image->height,
                                .side = SIDE,
                                .columns = (image->width - 1) / SIDE + 1,
                                .rows = (image->height - 1) / SIDE + 1};
    const size_t bytes = bench->pixels.row_stride * (size_t)image->height;
    delta->changed = malloc((size_t)delta->tiles.columns * (size_t)delta->tiles.rows);
    delta->pixels = malloc(bytes);
    if (delta->changed == NULL || delta->pixels == NULL)
        return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for tiles");
    delta->tiles.changed = delta->changed;
    memcpy(delta->pixels, image->pixels, bytes);
    /* From an update on, families keep their intermediate results, which are needed to make parts. */
    TVLM_TRY(tvlm_stack_update_image(bench->stack, 0, image, NULL, NULL));
    return tvlm_stack_make_all(bench->stack);
}

void bench_delta_release(struct bench *bench) {
    if (bench->delta == NULL) return;
    free(bench->delta->changed);
    free(bench->delta->pixels);
    free(bench->delta);
    bench->delta = NULL;
}

/* Makes one family in parts or in full. The argument is 1000 * grid + percent. */
static tvlm_status run_family(struct bench *bench, int32_t argument) {
    const tvlm_backend *const backend = bench->device->backend;
    const tvlm_grid grid = (tvlm_grid)(argument / 1000);
    tvlm_texture *const texture = bench->chunk->grids[grid];
    tvlm_tiles *const tiles = &bench->delta->tiles;
    tvlm_generate_args args = tvlm_stack_generate_args(bench->stack, bench->chunk, texture);
    if (argument % 1000 == ALL) {
        TVLM_TRY(backend->generate[grid](bench->device, &args));
        return backend->mips(bench->device, &texture, 1);
    }
    (void)choose(bench->delta, argument % 1000);
    tiles->serial = ++bench->device->tiles_made; /* as for a new frame */
    tiles->reach = tvlm_grid_reach(grid, tiles->width, tiles->height);
    args.tiles = tiles;
    TVLM_TRY(backend->generate[grid](bench->device, &args));
    return backend->mips_tiles(bench->device, texture, tiles);
}

/* Changes the first value of each of the tiles by a step. */
static void change(struct bench *bench, int32_t percent) {
    struct bench_delta *const delta = bench->delta;
    const tvlm_tiles *const tiles = &delta->tiles;
    const size_t row = bench->pixels.row_stride * SIDE;
    const size_t column = (size_t)bench->pixels.channels * SIDE;
    (void)choose(delta, percent);
    for (int32_t y = 0; y < tiles->rows; ++y)
        for (int32_t x = 0; x < tiles->columns; ++x)
            if (delta->changed[y * tiles->columns + x])
                delta->pixels[(size_t)y * row + (size_t)x * column] ^= 1;
}

/* Brings the frame and all families that are made in parts up to date. The time includes changing the pixels,
 * which takes little time, and is the same for the full frame. */
static tvlm_status run_frame(struct bench *bench, int32_t percent) {
    tvlm_image frame = *bench->image;
    tvlm_grid_mask mask = 0;
    for (int32_t grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if (is_parted(bench, grid)) mask |= TVLM_GRID_BIT(grid);
    frame.pixels = bench->delta->pixels;
    change(bench, percent == ALL ? 10 : percent);
    if (percent == ALL)
        TVLM_TRY(tvlm_stack_update_image(bench->stack, 0, &frame, tvlm_update_params(.full = true), NULL));
    else
        TVLM_TRY(tvlm_stack_update_image(bench->stack, 0, &frame, NULL, NULL));
    return tvlm_stack_ensure(bench->stack, bench->chunk, mask);
}

static void add(bench_stage *stages, int32_t *count, const char *name, const char *share,
                tvlm_status (*run)(struct bench *, int32_t), int32_t argument, double bytes) {
    char full[sizeof stages->name];
    snprintf(full, sizeof full, "delta %s, %s", name, share);
    bench_add(stages, count, full, "", run, argument, bytes);
}

/* The bytes of the texels that are written in all levels, and of as many texels that are read. */
static double bytes_of(const struct bench *bench, const tvlm_texture *texture, int32_t percent) {
    const double texel = (double)tvlm_texel_bytes(bench->device, texture);
    return 2.0 * 4.0 / 3.0 * texel * texture->width * texture->height * percent / 100.0;
}

void bench_delta_list(const struct bench *bench, bench_stage *stages, int32_t *count) {
    static const int32_t percents[] = {1, 10, ALL};
    static const char *const shares[] = {"1 %", "10 %", "in full"};
    for (int32_t grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        for (size_t p = 0; p < 3 && is_parted(bench, grid); ++p)
            add(stages, count, tvlm_grid_get_info((tvlm_grid)grid)->name, shares[p], run_family,
                1000 * grid + percents[p], bytes_of(bench, bench->chunk->grids[grid], percents[p]));
    for (size_t p = 0; p < 3 && bench->image->type == TVLM_PIXEL_U8; ++p) {
        double bytes = 0.0;
        for (int32_t grid = 0; grid < TVLM_GRID_COUNT; ++grid)
            if (is_parted(bench, grid)) bytes += bytes_of(bench, bench->chunk->grids[grid], percents[p]);
        add(stages, count, "frame", shares[p], run_frame, percents[p], bytes);
    }
}
