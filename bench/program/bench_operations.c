/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_operations.c: rows for operations that are a small part of all other rows, or that no other row has.
 * Some of them make, move and hand out memory. Others carry maps, vectors and points from frame to frame.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_stages.h"
#include "core/try.h"
#include "lab/operations.h"
#include "select/budget_plan.h"
#include "texturevlm/stack.h"

enum { SIDE = 64, CELLS = SIDE * SIDE, PROBES = 8, UNITS = 16, SOME_BYTES = 1 << 20, THUMBNAILS = 12 };

struct bench_operations {
    tvlm_texture *like_source; /* like the source, but with one level */
    tvlm_texture *plane;       /* one slice of the source's size */
    tvlm_texture *cells[3];    /* SIDE x SIDE texels each */
    tvlm_buffer *floats;       /* a 1 for each cell, used as scores, cosines, weights and known shares */
    tvlm_buffer *paths[2];     /* the paths of tvlm_warp, which begin in the middles of cells */
    tvlm_buffer *places;       /* BENCH_K footprints */
    tvlm_buffer *halved;       /* the picture at half its size, as RGB floats */
    tvlm_buffer *zeros;        /* a ranking of BENCH_K candidates: always the first one */
    tvlm_buffer *some, *native, *losses;
    tvlm_buffer *ink; /* the colours of the source */
    tvlm_texture *thumbnail;
    tvlm_budget_plan plan, thumbnail_plan; /* the plans for pictures of the source */
    float *rgba;
    int32_t *changed; /* one for each tile */
};

/* ---- What is there ---- */

static int32_t half_of(int32_t side) {
    return (side + 1) / 2;
}

static size_t ink_bytes(const struct bench *bench) {
    return (size_t)tvlm_level_side(bench->stack->width, TVLM_INK_LEVEL) *
           (size_t)tvlm_level_side(bench->stack->height, TVLM_INK_LEVEL) * TVLM_INK_BYTES;
}

static size_t halved_bytes(const struct bench *bench) {
    return (size_t)half_of(bench->pixels.width) * (size_t)half_of(bench->pixels.height) * 3 * sizeof(float);
}

static tvlm_status upload(struct bench *bench, size_t bytes, const void *from, tvlm_buffer **buffer) {
    const tvlm_backend *const backend = bench->device->backend;
    TVLM_TRY(backend->buffer_create(bench->device, bytes, buffer));
    return backend->buffer_write(bench->device, *buffer, 0, bytes, from);
}

static tvlm_status make_textures(struct bench *bench, struct bench_operations *o) {
    const tvlm_backend *const backend = bench->device->backend;
    tvlm_texture like = *bench->chunk->grids[TVLM_GRID_SOURCE];
    tvlm_texture cells = {.width = SIDE, .height = SIDE, .layers = 4, .images = 1, .levels = 1};
    cells.format = like.format;
    cells.extent_x = like.extent_x;
    cells.extent_y = like.extent_y;
    TVLM_TRY(backend->texture_create(bench->device, &like, &o->like_source));
    like.levels = 1;
    TVLM_TRY(backend->texture_create(bench->device, &like, &o->plane));
    for (int i = 0; i < 3; ++i) TVLM_TRY(backend->texture_create(bench->device, &cells, &o->cells[i]));
    const size_t texels = (size_t)like.width * (size_t)like.height;
    o->rgba = calloc(texels > CELLS ? texels : CELLS, 4 * sizeof *o->rgba);
    o->changed = calloc(texels, sizeof *o->changed);
    if (o->rgba == NULL || o->changed == NULL)
        return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for a texture");
    for (int slice = 0; slice < cells.layers; ++slice)
        for (int i = 0; i < 2; ++i)
            TVLM_TRY(backend->texture_write(bench->device, o->cells[i], slice,
                                            (const float[CELLS * 4]){0.5f, 0.25f}));
    return backend->texture_write(bench->device, o->like_source, 0, o->rgba);
}

static tvlm_status make_buffers(struct bench *bench, struct bench_operations *o) {
    static float ones[CELLS], paths[CELLS][4];
    static const int32_t zeros[BENCH_K][2];
    tvlm_footprint_place places[BENCH_K];
    const float width = (float)bench->stack->width, height = (float)bench->stack->height;
    for (int i = 0; i < CELLS; ++i) {
        const float x = ((float)(i % SIDE) + 0.5f) / SIDE, y = ((float)(i / SIDE) + 0.5f) / SIDE;
        ones[i] = paths[i][2] = 1.0f;
        paths[i][0] = x * width;
        paths[i][1] = y * height;
    }
    for (int i = 0; i < BENCH_K; ++i) {
        const float *at = paths[i * (CELLS / BENCH_K)];
        places[i] = (tvlm_footprint_place){{at[0], at[1], 1.0f, 0.0f}, 2.0f, 1.0f, PROBES, 0.0f};
    }
    TVLM_TRY(upload(bench, sizeof ones, ones, &o->floats));
    for (int i = 0; i < 2; ++i) TVLM_TRY(upload(bench, sizeof paths, paths, &o->paths[i]));
    TVLM_TRY(upload(bench, sizeof places, places, &o->places));
    TVLM_TRY(bench->device->backend->buffer_create(bench->device, halved_bytes(bench), &o->halved));
    TVLM_TRY(upload(bench, sizeof zeros, zeros, &o->zeros));
    TVLM_TRY(bench->device->backend->buffer_create(bench->device, ink_bytes(bench), &o->ink));
    TVLM_TRY(bench->device->backend->buffer_create(bench->device, SOME_BYTES, &o->some));
    return bench->device->backend->buffer_create(bench->device, SOME_BYTES, &o->native);
}

/* Plans a dozen thumbnails, each with a sixteenth of the image's patches. */
static tvlm_status make_plan(struct bench *bench, struct bench_operations *o) {
    const tvlm_texture *const source = bench->chunk->grids[TVLM_GRID_SOURCE];
    tvlm_budget_size sizes[THUMBNAILS];
    for (int i = 0; i < THUMBNAILS; ++i)
        sizes[i] = (tvlm_budget_size){(source->width + 3) / 4, (source->height + 3) / 4, 0.0};
    if (!tvlm_budget_plan_make(source, 0, 16, sizes, THUMBNAILS, NULL, &o->plan))
        return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for a plan");
    return bench->device->backend->buffer_create(bench->device,
                                                 2 * sizeof(float) * (size_t)o->plan.count *
                                                     (size_t)o->plan.columns * (size_t)o->plan.rows,
                                                 &o->losses);
}

/* Prepares a thumbnail whose sides are a fifth of the image's, and which is made from the image itself. */
static tvlm_status make_thumbnail(struct bench *bench, struct bench_operations *o) {
    tvlm_texture shape = *bench->chunk->grids[TVLM_GRID_SOURCE];
    const tvlm_budget_size size = {(shape.width + 4) / 5, (shape.height + 4) / 5, 0.0};
    if (!tvlm_budget_plan_make(bench->chunk->grids[TVLM_GRID_SOURCE], 0, 16, &size, 1, NULL,
                               &o->thumbnail_plan))
        return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for a plan");
    shape.width = size.width;
    shape.height = size.height;
    shape.levels = 1;
    return bench->device->backend->texture_create(bench->device, &shape, &o->thumbnail);
}

tvlm_status bench_operations_prepare(struct bench *bench) {
    bench->operations = calloc(1, sizeof *bench->operations);
    if (bench->operations == NULL)
        return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for operations");
    TVLM_TRY(make_textures(bench, bench->operations));
    TVLM_TRY(make_plan(bench, bench->operations));
    TVLM_TRY(make_thumbnail(bench, bench->operations));
    return make_buffers(bench, bench->operations);
}

void bench_operations_release(struct bench *bench) {
    struct bench_operations *const o = bench->operations;
    if (o == NULL) return;
    tvlm_buffer **const buffers[] = {&o->floats, &o->paths[0], &o->paths[1], &o->places, &o->zeros,
                                     &o->halved, &o->some,     &o->native,   &o->losses, &o->ink};
    tvlm_texture **const textures[] = {&o->like_source, &o->plane,    &o->cells[0],
                                       &o->cells[1],    &o->cells[2], &o->thumbnail};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i)
        bench->device->backend->buffer_destroy(bench->device, buffers[i]);
    for (size_t i = 0; i < sizeof textures / sizeof *textures; ++i)
        bench->device->backend->texture_destroy(bench->device, textures[i]);
    tvlm_budget_plan_free(&o->plan);
    tvlm_budget_plan_free(&o->thumbnail_plan);
    free(o->rgba);
    free(o->changed);
    free(o);
    bench->operations = NULL;
}

/* ---- Memory ---- */

static tvlm_status run_wait(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->finish(bench->device);
}

static tvlm_status run_buffer(struct bench *bench, int32_t unused) {
    tvlm_buffer *made = NULL;
    (void)unused;
    TVLM_TRY(bench->device->backend->buffer_create(bench->device, SOME_BYTES, &made));
    bench->device->backend->buffer_destroy(bench->device, &made);
    return TVLM_OK;
}

static tvlm_status run_download(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->buffer_read(bench->device, bench->operations->floats, 0,
                                               CELLS * sizeof(float), bench->operations->rgba);
}

static tvlm_status run_send(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    const size_t bytes = (size_t)o->plane->width * (size_t)o->plane->height * sizeof(float);
    TVLM_TRY(bench->device->backend->buffer_send(bench->device, o->some,
                                                 bytes < SOME_BYTES ? bytes : SOME_BYTES, o->rgba));
    return bench->device->backend->buffer_arrive(bench->device, o->some);
}

static tvlm_status run_texture(struct bench *bench, int32_t unused) {
    tvlm_texture *made = NULL;
    (void)unused;
    TVLM_TRY(bench->device->backend->ask_bytes(bench->device)); /* as before a texture of bytes is made */
    TVLM_TRY(
        bench->device->backend->texture_create(bench->device, bench->chunk->grids[TVLM_GRID_SOURCE], &made));
    bench->device->backend->texture_destroy(bench->device, &made);
    return TVLM_OK;
}

static tvlm_status run_texture_read(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->texture_read(bench->device, bench->chunk->grids[TVLM_GRID_SOURCE], 0, 0,
                                                bench->operations->rgba);
}

static tvlm_status run_texture_write(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    return bench->device->backend->texture_write(bench->device, o->plane, 0, o->rgba);
}

static tvlm_status run_texture_copy(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->texture_copy(bench->device, bench->chunk->grids[TVLM_GRID_SOURCE],
                                                bench->operations->like_source);
}

/* Takes handles of the library's own objects, and makes objects of the library from an application's handles.
 * */
static tvlm_status run_handles(struct bench *bench, int32_t unused) {
    const tvlm_backend *const backend = bench->device->backend;
    struct bench_operations *const o = bench->operations;
    tvlm_buffer *wrapped = NULL;
    tvlm_plane plane;
    void *handles[2];
    (void)unused;
    TVLM_TRY(backend->texture_native(bench->device, o->plane, handles));
    TVLM_TRY(backend->buffer_native(bench->device, o->native, &handles[0]));
    TVLM_TRY(backend->buffer_wrap(bench->device, handles[0], false, &wrapped));
    backend->buffer_destroy(bench->device, &wrapped);
    TVLM_TRY(backend->plane_wrap(bench->device, handles[0], NULL, &plane));
    backend->buffer_destroy(bench->device, &plane.memory);
    return TVLM_OK;
}

/* ---- Channels and maps ---- */

static tvlm_status run_footprint(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->lab->footprint(bench->device, &bench->bundle, bench->refs,
                                                  bench->group_count, bench->operations->places, BENCH_K,
                                                  bench->samples);
}

static tvlm_status run_pack_slot(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->pack_slot(bench->device, &bench->bundle, bench->refs, 0.0f, 0, 0,
                                             bench->packed);
}

static tvlm_status run_network(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->lab->network(bench->device, bench->stack->network,
                                                bench->operations->cells[0], bench->operations->some);
}

static tvlm_status run_pick(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->pick(bench->device, bench->chunk->grids[TVLM_GRID_SOURCE], 0, 3,
                                        bench->operations->plane);
}

static tvlm_status run_check(struct bench *bench, int32_t unused) {
    const tvlm_input input = {
        .columns = SIDE, .rows = SIDE, .channels = 1, .row_stride = SIDE * sizeof(float)};
    const tvlm_backend *const backend = bench->device->backend;
    int64_t first;
    bool any;
    (void)unused;
    TVLM_TRY(backend->input_check(bench->device, bench->operations->floats, &input, &first));
    return backend->input_directions(bench->device, bench->operations->floats, &input, &any);
}

/* Scales sixteen vectors of ones. */
static tvlm_status run_unit_vectors(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    const tvlm_units units = {.vectors = o->floats,
                              .out = o->some,
                              .count = UNITS,
                              .dimension = CELLS / UNITS,
                              .stride = CELLS / UNITS};
    (void)unused;
    return bench->device->backend->unit_vectors(bench->device, &units, NULL);
}

/* Places a ranking of zeros: its entries are all the first cell. */
static tvlm_status run_place(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    const tvlm_placing placing = {.candidates = {.columns = SIDE, .rows = SIDE, .step_x = 1, .step_y = 1},
                                  .width = SIDE,
                                  .height = SIDE,
                                  .scale_x = 1.0f,
                                  .scale_y = 1.0f,
                                  .out = o->some,
                                  .looked = o->native};
    (void)unused;
    return bench->device->backend->place(bench->device, &placing, o->zeros, BENCH_K);
}

static tvlm_status run_patch_places(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    const tvlm_position_list list = {.positions = o->some,
                                     .count = BENCH_K,
                                     .side = 16,
                                     .scale_x = 1.0f,
                                     .scale_y = 1.0f,
                                     .scale_size = 1.0f};
    (void)unused;
    return bench->device->backend->patch_places(bench->device, &list, o->native, NULL);
}

/* Compares the source with itself, so that nothing differs. */
static tvlm_status run_changed(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->source_changed(bench->device, bench->pixel_buffer, &bench->pixels, 0,
                                                  bench->chunk->grids[TVLM_GRID_SOURCE], TVLM_TILE_DEFAULT,
                                                  0.0f, bench->operations->changed);
}

/* Makes planes of the picture at half its size. */
static tvlm_status run_planes(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    const tvlm_planes planes = {.first = {.memory = bench->pixel_buffer}, .pixels = bench->pixels};
    (void)unused;
    return bench->device->backend->planes(bench->device, &planes, half_of(bench->pixels.width),
                                          half_of(bench->pixels.height), o->halved);
}

static tvlm_status run_maps(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    return bench->device->backend->maps(bench->device, o->floats, 1, TVLM_MAPS_EACH, 0, o->cells[2]);
}

static tvlm_status run_keep_pass(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    return bench->device->backend->keep_pass(bench->device, o->floats, 0, o->cells[2]);
}

static tvlm_status run_score_add(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    return bench->device->backend->score_add(bench->device, o->some, o->floats, CELLS);
}

/* Launches a kernel that computes a single sum. */
tvlm_status bench_run_launch(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    return bench->device->backend->score_add(bench->device, o->some, o->floats, 1);
}

static tvlm_status run_losses(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    return bench->device->backend->losses(bench->device, bench->chunk->grids[TVLM_GRID_SOURCE], &o->plan,
                                          o->losses, 0);
}

static tvlm_status run_thumbnail(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    return bench->device->backend->thumbnail(bench->device, bench->chunk->grids[TVLM_GRID_SOURCE],
                                             &o->thumbnail_plan, o->thumbnail);
}

static tvlm_status run_ink(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->ink(bench->device, bench->chunk->grids[TVLM_GRID_SOURCE], 0,
                                       bench->operations->ink, 0);
}

/* ---- From frame to frame ---- */

static tvlm_status run_warp(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    const tvlm_warp warp = {.from = o->cells[0],
                            .flow = bench->chunk->grids[TVLM_GRID_FLOW],
                            .width = (float)bench->stack->width,
                            .height = (float)bench->stack->height,
                            .longest = (float)bench->stack->width,
                            .known = o->floats,
                            .path = o->paths[0],
                            .next = o->paths[1]};
    (void)unused;
    return bench->device->backend->warp(bench->device, &warp, o->cells[2]);
}

static tvlm_status run_blend(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    (void)unused;
    return bench->device->backend->blend(bench->device, o->cells[0], o->cells[1], o->floats, o->cells[2]);
}

static tvlm_status run_follow(struct bench *bench, int32_t unused) {
    struct bench_operations *const o = bench->operations;
    const tvlm_follow follow = {.flow = bench->chunk->grids[TVLM_GRID_FLOW],
                                .confidence = 0.5f,
                                .steps = 3,
                                .from = bench->points,
                                .to = o->some,
                                .from_stride = 4,
                                .count = BENCH_K};
    (void)unused;
    return bench->device->backend->follow(bench->device, &follow);
}

/* ---- The list ---- */

void bench_operations_list(const struct bench *bench, bench_stage *stages, int32_t *count) {
    const tvlm_texture *const source = bench->chunk->grids[TVLM_GRID_SOURCE];
    const double texel = 4.0 * (double)tvlm_component_bytes(tvlm_texture_format(source));
    const double texels = (double)source->width * source->height, cells = 4.0 * CELLS * texel;
    bench_add(stages, count, "wait", "", run_wait, 0, 0.0);
    bench_add(stages, count, "buffer", "", run_buffer, 0, 0.0);
    bench_add(stages, count, "texture", "", run_texture, 0, 0.0);
    bench_add(stages, count, "texture read", "", run_texture_read, 0, texels * (texel + 16.0));
    bench_add(stages, count, "texture write", "", run_texture_write, 0, texels * (texel + 16.0));
    bench_add(stages, count, "texture copy", "", run_texture_copy, 0, 2.0 * (double)source->bytes);
    bench_add(stages, count, "download", "", run_download, 0, 8.0 * CELLS);
    bench_add(stages, count, "send", "", run_send, 0, 2.0 * fmin(4.0 * texels, SOME_BYTES));
    if (strcmp(bench->device->backend->name, "reference") != 0) /* the reference has no handles */
        bench_add(stages, count, "handles", "", run_handles, 0, 0.0);
    bench_add(stages, count, "footprint 273", "", run_footprint, 0,
              (double)BENCH_K * bench->group_count * (PROBES * texel + 16.0));
    bench_add(stages, count, "pack", ", one image", run_pack_slot, 0, bench_pack_bytes(bench));
    bench_add(stages, count, "pick", "", run_pick, 0, 2.0 * texels * texel);
    bench_add(stages, count, "check", "", run_check, 0, 8.0 * CELLS);
    bench_add(stages, count, "unit vectors", "", run_unit_vectors, 0, 16.0 * CELLS);
    bench_add(stages, count, "place 273", "", run_place, 0, BENCH_K * 64.0);
    bench_add(stages, count, "patch places 273", "", run_patch_places, 0, BENCH_K * 80.0);
    bench_add(stages, count, "changed tiles", "", run_changed, 0, bench_source_bytes(bench));
    bench_add(stages, count, "planes", "", run_planes, 0,
              (double)halved_bytes(bench) + (double)bench->pixels.row_stride * bench->pixels.height);
    bench_add(stages, count, "maps", "", run_maps, 0, 4.0 * CELLS + cells);
    bench_add(stages, count, "keep pass", "", run_keep_pass, 0, 4.0 * CELLS + cells / 4.0);
    bench_add(stages, count, "score by a network", "", run_network, 0,
              cells / 4.0 + 4.0 * CELLS * bench->stack->network->output_count);
    bench_add(stages, count, "score add", "", run_score_add, 0, 12.0 * CELLS);
    bench_add(stages, count, "losses of pictures", "", run_losses, 0,
              texels * (texel + 4.0 * (THUMBNAILS + 1)));
    /* Between the two passes there is a fifth of the image, with four floats for each texel. */
    bench_add(stages, count, "a thumbnail", "", run_thumbnail, 0, texels * (texel + 2.0 * 16.0 / 5.0));
    bench_add(stages, count, "ink", "", run_ink, 0, texels * texel / 16.0 + (double)ink_bytes(bench));
    bench_add(stages, count, "warp", "", run_warp, 0, 2.0 * cells + 36.0 * CELLS);
    bench_add(stages, count, "blend", "", run_blend, 0, 3.0 * cells + 4.0 * CELLS);
    bench_add(stages, count, "follow 273", "", run_follow, 0, BENCH_K * (24.0 + 3.0 * 4.0 * texel));
}
