/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_events.h"
#include "core/try.h"
#include "select/patches.h"
#include "select/score.h"
#include "stack/bundle.h"
#include "stack/frame.h"
#include "stack/make.h"
#include "stack/upload.h"
#include "texturevlm/lab/foveated.h"
#include "texturevlm/lab/network.h"
#include "texturevlm/stream.h"

#define RANDOM_COUNT    (1 << 20)
#define CELLS_COUNT     4096
#define PATCH_FLOATS    (3 * 16 * 16)
#define COPY_BYTES_GPU  ((size_t)256 << 20) /* more than any cache holds */
#define COPY_BYTES_HOST ((size_t)64 << 20)

/* ---- What is there ---- */

static uint64_t random_bits(uint64_t *state) { /* splitmix64 */
    uint64_t bits = *state += 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

static float random_unit(uint64_t *state) {
    return (float)(random_bits(state) >> 40) / 16777216.0f;
}

/* A network like those that learn what is salient, with small random weights: Conv2d(3, 32, 3) - ReLU -
 * Conv2d(32, 4, 1) - Sigmoid. */
enum { HIDDEN = 32, OUTPUTS = 4 };

typedef struct bench_network {
    float weights[HIDDEN * 3 * 9 + OUTPUTS * HIDDEN];
    tvlm_network_layer layers[2];
    tvlm_network network;
} bench_network;

static void fill_network(bench_network *made) {
    static const int32_t inputs[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};
    static const char *const outputs[OUTPUTS] = {"bench_0", "bench_1", "bench_2", "bench_3"};
    uint64_t state = 4;
    for (size_t i = 0; i < sizeof made->weights / sizeof *made->weights; ++i)
        made->weights[i] = random_unit(&state) - 0.5f;
    made->layers[0] = (tvlm_network_layer){.inputs = 3,
                                           .outputs = HIDDEN,
                                           .side = 3,
                                           .stride = 1,
                                           .activation = TVLM_ACTIVATION_RELU,
                                           .weights = made->weights};
    made->layers[1] = (tvlm_network_layer){.inputs = HIDDEN,
                                           .outputs = OUTPUTS,
                                           .side = 1,
                                           .stride = 1,
                                           .activation = TVLM_ACTIVATION_SIGMOID,
                                           .weights = made->weights + HIDDEN * 3 * 9};
    made->network = (tvlm_network){.inputs = inputs,
                                   .input_count = 3,
                                   .outputs = outputs,
                                   .output_count = OUTPUTS,
                                   .layers = made->layers,
                                   .layer_count = 2};
}

/* Lists all channels that this version makes from a still image. */
static size_t list_channels(char *names, size_t size) {
    size_t length = 0;
    for (int32_t channel = 0; channel < TVLM_CHANNEL_USER_0; ++channel) {
        tvlm_channel_info info;
        /* Words, features and a larger embedding have their rows in bench_features.c. */
        if (channel >= TVLM_CHANNEL_WORD_0 && tvlm_grid_is_given(tvlm_channel_get_place(channel).grid))
            continue;
        if (channel == TVLM_CHANNEL_QUERY_SIMILARITY || channel == TVLM_CHANNEL_PREVIOUS_PASS ||
            channel >= TVLM_CHANNEL_LEARNED_0 + OUTPUTS || tvlm_channel_get_info(channel, &info) != TVLM_OK ||
            !info.available)
            continue;
        length += (size_t)snprintf(names + length, size - length, "%s%s", length > 0 ? "," : "", info.name);
    }
    return length;
}

static tvlm_status fill_random(struct bench *bench) {
    uint64_t state = 1;
    const size_t bytes = (size_t)RANDOM_COUNT * sizeof(float);
    float *const values = malloc(bytes);
    if (values == NULL)
        return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for a million numbers");
    for (int32_t i = 0; i < RANDOM_COUNT; ++i) values[i] = random_unit(&state);
    tvlm_status status = bench->device->backend->buffer_create(bench->device, bytes, &bench->random);
    if (status == TVLM_OK)
        status = bench->device->backend->buffer_write(bench->device, bench->random, 0, bytes, values);
    free(values);
    return status;
}

static tvlm_status fill_points(struct bench *bench) {
    uint64_t state = 2;
    tvlm_point points[BENCH_K];
    const tvlm_backend *const backend = bench->device->backend;
    for (int32_t i = 0; i < BENCH_K; ++i)
        points[i] =
            (tvlm_point){random_unit(&state) * bench->bundle.width,
                         random_unit(&state) * bench->bundle.height, 4.0f * random_unit(&state), 0.0f};
    TVLM_TRY(backend->buffer_create(bench->device, sizeof points, &bench->points));
    TVLM_TRY(backend->buffer_create(
        bench->device, (size_t)BENCH_K * 4 * (size_t)bench->group_count * sizeof(float), &bench->samples));
    return backend->buffer_write(bench->device, bench->points, 0, sizeof points, points);
}

static size_t pixel_bytes(const struct bench *bench) {
    return bench->pixels.row_stride * (size_t)bench->pixels.height;
}

static tvlm_status fill_pixels(struct bench *bench, const tvlm_image *image) {
    const tvlm_backend *const backend = bench->device->backend;
    const size_t size = image->type == TVLM_PIXEL_U8 ? 1 : image->type == TVLM_PIXEL_U16 ? 2 : 4;
    const size_t row = size * (size_t)image->channels * (size_t)image->width;
    bench->pixels = (tvlm_pixels){image->width,
                                  image->height,
                                  image->channels,
                                  image->type,
                                  0,
                                  image->row_stride != 0 ? image->row_stride : row};
    TVLM_TRY(backend->buffer_create(bench->device, pixel_bytes(bench), &bench->pixel_buffer));
    return backend->buffer_write(bench->device, bench->pixel_buffer, 0, pixel_bytes(bench), image->pixels);
}

static tvlm_status make_copies(struct bench *bench) {
    const tvlm_backend *const backend = bench->device->backend;
    size_t bytes = bench->device->info.type == TVLM_DEVICE_GPU ? COPY_BYTES_GPU : COPY_BYTES_HOST;
    const uint64_t most = bench->device->info.allocation_max;
    const double cache = bench_clocks_of(bench->device).cache_bytes;
    if ((double)bytes < 4.0 * cache) bytes = (size_t)(4.0 * cache);
    if (most > 0 && bytes > most) bytes = (size_t)most;
    TVLM_TRY(backend->buffer_create(bench->device, bytes, &bench->copy_from));
    return backend->buffer_create(bench->device, bytes, &bench->copy_to);
}

static tvlm_status make_bundle(struct bench *bench) {
    tvlm_stack *const stack = bench->stack;
    /* Channels of families that other libraries make, too. bench/peers.py and bench/gpu.py compare with those
     * libraries. */
    static const int32_t channels[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 40, 41, 42, 43, 44, 45, 46, 47, 48};
    enum { COUNT = sizeof channels / sizeof channels[0] };
    int32_t taken;
    tvlm_stack_channels(stack, &bench->channel_count);
    bench->group_count = (COUNT + 3) / 4;
    bench->refs = malloc((size_t)bench->group_count * 4 * sizeof *bench->refs);
    if (bench->refs == NULL) return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory");
    for (int32_t i = 0; i < 4 * bench->group_count; ++i) bench->refs[i] = TVLM_REF_ZERO;
    tvlm_stack_bundle(stack, bench->chunk->first, channels, COUNT, &bench->bundle, bench->refs, &taken);
    return TVLM_OK;
}

static tvlm_status make_packed(struct bench *bench) {
    const tvlm_stack *const stack = bench->stack;
    const tvlm_texture shape = {.width = stack->width,
                                .height = stack->height,
                                .layers = bench->group_count,
                                .images = 1,
                                .levels = 1,
                                .format = stack->format,
                                .extent_x = (float)stack->width,
                                .extent_y = (float)stack->height};
    return bench->device->backend->texture_create(bench->device, &shape, &bench->packed);
}

/* Makes a previous frame, which is the same picture with positions, and a flow from the present frame to
 * it. */
static tvlm_status make_previous(struct bench *bench) {
    static const float flow[] = {3.0f, -2.0f, 1.0f};
    tvlm_selection *selection = NULL;
    TVLM_TRY(tvlm_select(bench->stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID), &selection));
    tvlm_selection_destroy(&selection);
    TVLM_TRY(tvlm_stack_advance(bench->stack, 0, NULL));
    TVLM_TRY(tvlm_stack_set_image(bench->stack, 0, bench->image));
    return tvlm_stack_set_grid(bench->stack, 0, TVLM_CHANNEL_FLOW_U,
                               tvlm_grid_input(.data = flow, .columns = 1, .rows = 1, .channels = 3));
}

/*
 * Hands in a depth of the image's size, so that there are rows for the channels that are made from it. The
 * bundle was made before, and does not have these channels.
 */
static tvlm_status make_depth(struct bench *bench) {
    const size_t texels = (size_t)bench->stack->width * (size_t)bench->stack->height;
    uint64_t state = 3;
    float *const depth = malloc(texels * sizeof *depth);
    if (depth == NULL) return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for a depth");
    for (size_t i = 0; i < texels; ++i) depth[i] = 1.0f + random_unit(&state);
    const tvlm_status status = tvlm_stack_set_grid(
        bench->stack, 0, TVLM_CHANNEL_DEPTH,
        tvlm_grid_input(.data = depth, .columns = bench->stack->width, .rows = bench->stack->height));
    free(depth);
    TVLM_TRY(status);
    return tvlm_stack_make_all(bench->stack);
}

tvlm_status bench_memory(tvlm_device *device, const tvlm_image *image, size_t *peak, size_t *textures) {
    const struct tvlm_stack_params params = {
        .width = image->width, .height = image->height, .format = TVLM_FORMAT_F16};
    tvlm_stack *stack = NULL;
    tvlm_stack_info info = {0};
    tvlm_status status = tvlm_stack_create(device, &params, &stack);
    if (status == TVLM_OK) status = tvlm_stack_set_image(stack, 0, image);
    if (status == TVLM_OK) status = tvlm_stack_make_all(stack);
    if (status == TVLM_OK) status = device->backend->finish(device);
    if (status == TVLM_OK) status = tvlm_stack_get_info(stack, &info);
    *textures = info.device_bytes;
    *peak = device->held_most;
    tvlm_stack_destroy(&stack);
    return status;
}

static tvlm_status make_moved(struct bench *bench) {
    const tvlm_image *const image = bench->image;
    const int32_t cut = image->width > 16 && image->height > 16 ? 6 : 0;
    tvlm_image part = *image;
    part.row_stride = bench->pixels.row_stride;
    part.width -= cut;
    part.height -= cut;
    TVLM_TRY(tvlm_stack_create(bench->device,
                               tvlm_stack_params(.layout = "r", .width = image->width,
                                                 .height = image->height, .format = bench->stack->format),
                               &bench->moved));
    TVLM_TRY(tvlm_stack_set_image(bench->moved, 0, &part));
    return tvlm_flow_compute(bench->stack, 0, bench->moved, 0, NULL, &bench->flow);
}

tvlm_status bench_prepare(tvlm_device *device, const tvlm_image *image, tvlm_format format,
                          struct bench *bench) {
    char names[2048];
    *bench = (struct bench){.device = device, .image = image};
    bench_network learned;
    (void)list_channels(names, sizeof names);
    fill_network(&learned);
    const struct tvlm_stack_params params = {.layout = names,
                                             .width = image->width,
                                             .height = image->height,
                                             .format = format,
                                             .network = &learned.network};
    TVLM_TRY(tvlm_stack_create(device, &params, &bench->stack));
    TVLM_TRY(tvlm_stack_set_image(bench->stack, 0, image));
    bench->chunk = tvlm_stack_chunk(bench->stack, 0);
    TVLM_TRY(make_previous(bench));
    TVLM_TRY(tvlm_stack_make_all(bench->stack));
    TVLM_TRY(fill_pixels(bench, image));
    TVLM_TRY(make_bundle(bench));
    TVLM_TRY(make_depth(bench));
    TVLM_TRY(make_packed(bench));
    TVLM_TRY(make_moved(bench));
    TVLM_TRY(make_copies(bench));
    TVLM_TRY(fill_random(bench));
    TVLM_TRY(fill_points(bench));
    TVLM_TRY(device->backend->buffer_create(device, (size_t)BENCH_K * 2 * sizeof(int32_t), &bench->ranking));
    TVLM_TRY(device->backend->buffer_create(device, (size_t)BENCH_K * PATCH_FLOATS * sizeof(float),
                                            &bench->patches));
    TVLM_TRY(bench_features_prepare(bench));
    TVLM_TRY(bench_export_prepare(bench));
    TVLM_TRY(bench_operations_prepare(bench));
    TVLM_TRY(bench_ragged_prepare(bench));
    TVLM_TRY(bench_clip_prepare(bench));
    TVLM_TRY(bench_delta_prepare(bench));
    return device->backend->finish(device);
}

void bench_release(struct bench *bench) {
    tvlm_buffer **const buffers[] = {&bench->pixel_buffer, &bench->copy_from, &bench->copy_to,
                                     &bench->random,       &bench->ranking,   &bench->points,
                                     &bench->samples,      &bench->patches};
    if (bench->device == NULL) return;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i) {
        if (*buffers[i] != NULL) bench->device->backend->buffer_destroy(bench->device, buffers[i]);
    }
    if (bench->packed != NULL) bench->device->backend->texture_destroy(bench->device, &bench->packed);
    tvlm_export_destroy(&bench->export);
    tvlm_flow_destroy(&bench->flow);
    tvlm_stack_destroy(&bench->moved);
    bench_ragged_release(bench);
    bench_clip_release(bench);
    bench_features_release(bench);
    bench_delta_release(bench);
    bench_operations_release(bench);
    tvlm_stack_destroy(&bench->stack);
    free(bench->refs);
}

/* ---- What is run ---- */

static tvlm_status run_copy(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->buffer_copy(bench->device, bench->copy_from, 0, bench->copy_to, 0,
                                               bench->copy_from->bytes);
}

static tvlm_status run_upload(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->buffer_write(bench->device, bench->pixel_buffer, 0, pixel_bytes(bench),
                                                bench->image->pixels);
}

static tvlm_status run_source(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->source(bench->device, bench->pixel_buffer, &bench->pixels, 0,
                                          bench->chunk->grids[TVLM_GRID_SOURCE]);
}

static tvlm_status run_family(struct bench *bench, int32_t grid) {
    const tvlm_generate_args args =
        tvlm_stack_generate_args(bench->stack, bench->chunk, bench->chunk->grids[grid]);
    return bench->device->backend->generate[grid](bench->device, &args);
}

static tvlm_status run_levels(struct bench *bench, int32_t grid) {
    return bench->device->backend->mips(bench->device, &bench->chunk->grids[grid], 1);
}

static struct tvlm_score_params score_params(int32_t dense) {
    return (struct tvlm_score_params){.dense = dense != 0};
}

static tvlm_status run_score(struct bench *bench, int32_t dense) {
    const struct tvlm_score_params params = score_params(dense);
    tvlm_candidates candidates;
    tvlm_buffer *scores;
    TVLM_TRY(tvlm_score_candidates(bench->stack, &params, &candidates));
    tvlm_stack_scores_made_of(bench->stack, 0, NULL, 0); /* otherwise there would be nothing to do */
    return tvlm_score_enqueue(bench->stack, NULL, &params, &candidates, NULL, &scores);
}

static tvlm_status run_topk(struct bench *bench, int32_t count) {
    return bench->device->backend->topk(bench->device, bench->random, count, BENCH_K, bench->ranking);
}

static tvlm_status run_sample(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->sample(bench->device, &bench->bundle, bench->refs, bench->group_count,
                                          bench->points, BENCH_K, bench->samples);
}

static tvlm_status run_pack(struct bench *bench, int32_t unused) {
    (void)unused;
    return bench->device->backend->pack(bench->device, &bench->bundle, bench->refs, 0.0f, bench->packed);
}

static tvlm_status select_all(struct bench *bench, tvlm_strategy strategy) {
    const struct tvlm_select_params params = {.strategy = strategy};
    tvlm_selection *selection = NULL;
    const tvlm_status status = tvlm_select(bench->stack, NULL, &params, &selection);
    tvlm_selection_destroy(&selection);
    return status;
}

/* Selects, from pixels on the device to positions on the host. The families that are read are made anew; in
 * run_select_again they are not. */
static tvlm_status run_select(struct bench *bench, int32_t strategy) {
    TVLM_TRY(tvlm_stack_source_from_buffer(bench->stack, 0, bench->pixel_buffer, &bench->pixels));
    return select_all(bench, (tvlm_strategy)strategy);
}

static tvlm_status run_select_again(struct bench *bench, int32_t strategy) {
    return select_all(bench, (tvlm_strategy)strategy);
}

enum { MAP_SIDE = 48 };

/* Makes a frame the previous one. Its relevance (its scores, or a map that is handed in), the positions that
 * were looked at and its luma are remembered, and the flow is dropped. */
static tvlm_status run_advance(struct bench *bench, int32_t given) {
    static const float map[MAP_SIDE * MAP_SIDE] = {1.0f};
    tvlm_frame *const frame = &bench->stack->frames[0];
    frame->scored = frame->scores != NULL; /* as after a selection: advancing clears both */
    frame->position_count = frame->position_capacity;
    return tvlm_stack_advance(
        bench->stack, 0,
        given ? tvlm_advance_params(.relevance = map, .columns = MAP_SIDE, .rows = MAP_SIDE) : NULL);
}

static tvlm_status run_flow(struct bench *bench, int32_t full) {
    const struct tvlm_flow_params params = {.full = full != 0};
    return tvlm_flow_compute(bench->stack, 0, bench->moved, 0, &params, &bench->flow);
}

/* ---- What it must move ---- */

/* The bytes of levels first .. last of a texture, in all slices. */
static double level_bytes(const struct bench *bench, const tvlm_texture *texture, int32_t first,
                          int32_t last) {
    double texels = 0.0;
    for (int32_t level = first; level <= last && level < texture->levels; ++level)
        texels += (double)tvlm_level_side(texture->width, level) * tvlm_level_side(texture->height, level);
    return texels * texture->layers * texture->images * (double)tvlm_texel_bytes(bench->device, texture);
}

static double all_levels(const struct bench *bench, const tvlm_texture *texture) {
    return level_bytes(bench, texture, 0, texture->levels);
}

/* The bytes of the grids that a family needs and of the frame before, each read once, and those of the
 * family's own level 0. */
static double family_bytes(const struct bench *bench, tvlm_grid grid) {
    tvlm_texture *const *const grids = bench->chunk->grids;
    const tvlm_grid_mask needs = tvlm_grid_get_info(grid)->needs;
    double bytes = level_bytes(bench, grids[grid], 0, 0);
    if (grid == TVLM_GRID_MOTION) return 2.0 * bytes + level_bytes(bench, grids[TVLM_GRID_SOURCE], 1, 1);
    if (grid == TVLM_GRID_LEARNED) return bytes + level_bytes(bench, bench->chunk->network_inputs, 0, 0);
    if (grid == TVLM_GRID_TEMPORAL) return 2.0 * bytes + level_bytes(bench, grids[TVLM_GRID_FLOW], 0, 0);
    for (int32_t need = 0; need < TVLM_GRID_COUNT; ++need) {
        if ((needs >> need & 1u) == 0 || grids[need] == NULL) continue;
        if (grid == TVLM_GRID_SALIENCY)
            bytes += level_bytes(bench, grids[need], TVLM_SALIENCY_CENTRE_LEVEL,
                                 TVLM_SALIENCY_CENTRE_LEVEL + TVLM_SALIENCY_SCALES - 1 +
                                     TVLM_SALIENCY_SURROUND_STEP);
        else
            bytes += level_bytes(bench, grids[need], 0, 0);
    }
    return bytes;
}

/* The bytes of the scores, and of one slice of each of the three grids that the default score reads. At most
 * one texel of a slice is counted for each candidate. */
static double score_bytes(const struct bench *bench, int32_t dense) {
    static const tvlm_grid read[] = {TVLM_GRID_VISUAL, TVLM_GRID_SALIENCY, TVLM_GRID_ENTROPY};
    const struct tvlm_score_params params = score_params(dense);
    int32_t columns = 0, rows = 0;
    (void)tvlm_score_size(bench->stack, &params, &columns, &rows); /* it never fails with these */
    const double candidates = (double)columns * rows;
    double bytes = candidates * sizeof(float);
    for (size_t i = 0; i < sizeof read / sizeof *read; ++i) {
        const tvlm_texture *const texture = bench->chunk->grids[read[i]];
        const double texel = (double)tvlm_texel_bytes(bench->device, texture);
        bytes += texel * fmin(candidates, (double)texture->width * texture->height);
    }
    return bytes;
}

/* The bytes of the luma at half size, which is read and written, and those of the cells. The cells read
 * texels and their old values, and write their new values. */
static double advance_bytes(const struct bench *bench) {
    tvlm_texture *const *const grids = bench->chunk->grids;
    return level_bytes(bench, grids[TVLM_GRID_SOURCE], 1, 1) +
           level_bytes(bench, grids[TVLM_GRID_MOTION], 0, 0) +
           level_bytes(bench, grids[TVLM_GRID_SALIENCY], 2, 2) +
           5.0 * level_bytes(bench, grids[TVLM_GRID_TEMPORAL], 0, 0);
}

/* The bytes of both sources from the finest level on, and of u, v and confidence at that level. */
static double flow_bytes(const struct bench *bench, int32_t full) {
    const tvlm_texture *const source = bench->chunk->grids[TVLM_GRID_SOURCE];
    const int32_t finest = full != 0 ? 0 : 1;
    return 2.0 * level_bytes(bench, source, finest, source->levels) +
           12.0 * tvlm_level_side(source->width, finest) * tvlm_level_side(source->height, finest);
}

static double topk_bytes(int32_t count) {
    return (double)count * sizeof(float) + BENCH_K * 8.0;
}

static double sample_bytes(const struct bench *bench) {
    const tvlm_texture *const source = bench->chunk->grids[TVLM_GRID_SOURCE];
    const double texel = 4.0 * (double)tvlm_component_bytes(tvlm_texture_format(source));
    return BENCH_K * (sizeof(tvlm_point) + bench->group_count * (texel + 4.0 * sizeof(float)));
}

double bench_pack_bytes(const struct bench *bench) {
    double bytes = level_bytes(bench, bench->packed, 0, 0);
    for (int32_t i = 0; i < bench->bundle.count; ++i)
        bytes += level_bytes(bench, bench->bundle.textures[i], 0, 0);
    return bytes;
}

static tvlm_status run_foveated(struct bench *bench, int32_t unused) {
    tvlm_position positions[BENCH_K];
    int32_t count;
    (void)unused;
    return tvlm_foveated_place(bench->stack->width, bench->stack->height, 0, 0.0f, NULL, &bench->device->log,
                               BENCH_K, positions, &count);
}

/* Extracts patches as for an encoder, at foveated positions, which are sent to the device. The patches stay
 * on the device, as with tvlm_patches_extract_opencl. */
static tvlm_status run_patches(struct bench *bench, int32_t unused) {
    static tvlm_position positions[BENCH_K];
    static int32_t count;
    (void)unused;
    if (count == 0)
        TVLM_TRY(tvlm_foveated_place(bench->stack->width, bench->stack->height, 0, 0.0f, NULL,
                                     &bench->device->log, BENCH_K, positions, &count));
    return tvlm_patches_into(bench->stack, &(tvlm_patches_at){.positions = positions}, count, NULL,
                             bench->patches, 0);
}

double bench_source_bytes(const struct bench *bench) {
    return (double)pixel_bytes(bench) + level_bytes(bench, bench->chunk->grids[TVLM_GRID_SOURCE], 0, 0);
}

/* The bytes of the source and of the families that the default score reads, with their levels. */
static double select_bytes(const struct bench *bench) {
    static const tvlm_grid made[] = {TVLM_GRID_VISUAL, TVLM_GRID_SALIENCY, TVLM_GRID_ENTROPY};
    double bytes = bench_source_bytes(bench) + all_levels(bench, bench->chunk->grids[TVLM_GRID_SOURCE]);
    for (size_t i = 0; i < sizeof made / sizeof *made; ++i)
        bytes += family_bytes(bench, made[i]) + all_levels(bench, bench->chunk->grids[made[i]]);
    return bytes;
}

/* ---- The list ---- */

int32_t bench_list(const struct bench *bench, bench_stage stages[BENCH_STAGES_MAX]) {
    tvlm_texture *const *const grids = bench->chunk->grids;
    const tvlm_texture *const source = grids[TVLM_GRID_SOURCE];
    const int32_t cells = 0, dense = 1;
    int32_t count = 0;
    bench_add(stages, &count, "copy", "", run_copy, 0, 2.0 * (double)bench->copy_from->bytes);
    bench_add(stages, &count, "launch", "", bench_run_launch, 0, 0.0);
    bench_add(stages, &count, "upload", "", run_upload, 0, (double)pixel_bytes(bench));
    bench_add(stages, &count, "source", "", run_source, 0, bench_source_bytes(bench));
    bench_add(stages, &count, "source", " levels", run_levels, TVLM_GRID_SOURCE,
              all_levels(bench, grids[TVLM_GRID_SOURCE]));
    for (int32_t grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        if (bench->device->backend->generate[grid] == NULL || grids[grid] == NULL) continue;
        const char *const name = tvlm_grid_get_info((tvlm_grid)grid)->name;
        bench_add(stages, &count, name, "", run_family, grid, family_bytes(bench, (tvlm_grid)grid));
        bench_add(stages, &count, name, " levels", run_levels, grid, all_levels(bench, grids[grid]));
    }
    bench_add(stages, &count, "score of cells", "", run_score, cells, score_bytes(bench, cells));
    bench_add(stages, &count, "score of pixels", "", run_score, dense, score_bytes(bench, dense));
    bench_add(stages, &count, "top 273 of 4096", "", run_topk, CELLS_COUNT, topk_bytes(CELLS_COUNT));
    bench_add(stages, &count, "top 273 of 1048576", "", run_topk, RANDOM_COUNT, topk_bytes(RANDOM_COUNT));
    bench_add(stages, &count, "sample 273", "", run_sample, 0, sample_bytes(bench));
    bench_add(stages, &count, "foveated 273", "", run_foveated, 0, BENCH_K * (double)sizeof(tvlm_position));
    bench_add(stages, &count, "patches 273, device", "", run_patches, 0,
              2.0 * BENCH_K * PATCH_FLOATS * sizeof(float));
    bench_add(stages, &count, "pack", "", run_pack, 0, bench_pack_bytes(bench));
    bench_add(stages, &count, "select, uploaded", "", run_select, TVLM_STRATEGY_GRID, select_bytes(bench));
    bench_add(stages, &count, "select, again", "", run_select_again, TVLM_STRATEGY_GRID,
              score_bytes(bench, cells) + topk_bytes(CELLS_COUNT));
    bench_add(stages, &count, "budget, uploaded", "", run_select, TVLM_STRATEGY_BUDGET,
              bench_source_bytes(bench) + 2.0 * all_levels(bench, source));
    bench_add(stages, &count, "budget, again", "", run_select_again, TVLM_STRATEGY_BUDGET,
              all_levels(bench, source));
    bench_add(stages, &count, "flow", "", run_flow, 0, flow_bytes(bench, 0));
    bench_add(stages, &count, "flow", " full", run_flow, 1, flow_bytes(bench, 1));
    bench_add(stages, &count, "advance", "", run_advance, 0, advance_bytes(bench));
    bench_add(stages, &count, "advance", ", given", run_advance, 1,
              advance_bytes(bench) + (double)sizeof(float) * MAP_SIDE * MAP_SIDE);
    bench_delta_list(bench, stages, &count);
    bench_features_list(bench, stages, &count);
    bench_export_list(bench, stages, &count);
    bench_operations_list(bench, stages, &count);
    bench_ragged_list(bench, stages, &count);
    bench_clip_list(bench, stages, &count);
    return count;
}
