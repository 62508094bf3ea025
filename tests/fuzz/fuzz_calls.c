/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_calls.c: sequences of calls over stacks, what is handed in, selections, sessions, streams and pools, on tiny
 * images and the reference device. A byte says which call comes next, the bytes behind it what it is called with: valid
 * numbers, those at a border, and wrong ones; handles that are there and NULL. Arrays are always as long as what is said
 * of them, for no function could know better.
 *
 * Each answer is a status, OK without a line of error and all else with one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "calls_input.h"
#include "fuzz.h"
#include "texturevlm/lab/attend.h"
#include "texturevlm/lab/explain.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/foveated.h"
#include "texturevlm/lab/merge.h"

enum { CALLS_MAX = 24 };

typedef struct objects {
    tvlm_device *device;
    tvlm_stack *stacks[2];
    tvlm_selection *selection;
    tvlm_packed *packed;
    tvlm_flow *flow;
    tvlm_session *session;
    tvlm_stream *stream;
    tvlm_pool *pool;
} objects;

/* ---- Answers ---- */

/* A status that there is, and a line of error where it is not OK. */
#define answered(call) check_answer((call), #call)
static void check_answer(tvlm_status status, const char *call) {
    if (fuzz_errors != (status != TVLM_OK)) fprintf(stderr, "%s\n", call);
    fuzz_check((int)status >= TVLM_OK && status <= TVLM_ERROR_CANCELLED);
    fuzz_check(status != TVLM_ERROR_DEVICE && status != TVLM_ERROR_LOST); /* of OpenCL only */
    fuzz_check_status(status);
}

/* A handle that is made where the answer is OK, and not else. `*old` becomes it. */
#define MADE(DESTROY, OLD, MAKE)                                                                             \
    do {                                                                                                     \
        DESTROY(OLD);                                                                                        \
        const tvlm_status made = (MAKE);                                                                     \
        answered(made);                                                                                      \
        fuzz_check((made == TVLM_OK) == (*(OLD) != NULL));                                                   \
    } while (0)

static tvlm_stack *some_stack(input *from, const objects *o) {
    const uint8_t which = next_byte(from);
    if (which >= 200 && o->stream != NULL) return tvlm_stream_stack(o->stream, which % 2);
    return o->stacks[which % 2];
}

static void look_at(const tvlm_selection *selection) {
    tvlm_selection_info info;
    tvlm_selection_report report;
    int32_t count, columns, rows;
    const tvlm_position *const at = tvlm_selection_positions(selection, &count);
    answered(tvlm_selection_get_info(selection, &info));
    answered(tvlm_selection_get_report(selection, &report));
    fuzz_check(count >= 0);
    for (int32_t i = 0; i < count; ++i)
        fuzz_check(isfinite(at[i].x) && isfinite(at[i].y) && at[i].size > 0.0f && isfinite(at[i].size));
    const float *const scores = tvlm_selection_scores(selection, &columns, &rows);
    if (scores != NULL) fuzz_touch(scores, (size_t)columns * (size_t)rows * sizeof *scores);
    (void)tvlm_selection_duplicates(selection, &count);
    (void)tvlm_selection_empty(selection, &count);
}

/* ---- Stacks ---- */

static void create_stack(input *from, objects *o) {
    tvlm_stack **const stack = &o->stacks[next_byte(from) % 2];
    const struct tvlm_stack_params params = stack_of(from);
    MADE(tvlm_stack_destroy, stack, tvlm_stack_create(o->device, &params, stack));
}

static void create_for_image(input *from, objects *o) {
    tvlm_stack **const stack = &o->stacks[next_byte(from) % 2];
    const struct tvlm_stack_params params = stack_of(from);
    const tvlm_image image = image_of(from);
    MADE(tvlm_stack_destroy, stack, tvlm_stack_create_for_image(o->device, &image, &params, stack));
}

static void plan_stack(input *from, objects *o) {
    const struct tvlm_stack_params params = stack_of(from);
    int32_t width = any_int(from), height = any_int(from);
    uint64_t bytes = 0;
    answered(tvlm_stack_need(o->device, &params, &bytes));
    answered(tvlm_stack_largest_size(o->device, &params, &width, &height));
}

static void set_image(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    const tvlm_image image = image_of(from);
    const struct tvlm_update_params update = update_of(from);
    tvlm_delta_report report;
    const int32_t index = index_of(from);
    if (stack == NULL) return;
    switch (next_byte(from) % 4) {
    case 0: answered(tvlm_stack_set_image(stack, index, &image)); break;
    case 1: answered(tvlm_stack_send_image(stack, index, &image)); break;
    case 2: answered(tvlm_stack_set_image(stack, index, NULL)); break;
    default: answered(tvlm_stack_update_image(stack, index, &image, &update, &report)); break;
    }
}

static void ask_sizes(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    const int32_t index = index_of(from), level = any_int(from), channel = channel_of(from);
    tvlm_stack_info info;
    int32_t width, height, count;
    if (stack == NULL) return;
    answered(tvlm_stack_get_info(stack, &info));
    answered(tvlm_stack_working_size(stack, index, &width, &height));
    answered(tvlm_stack_level_size(stack, level, &width, &height));
    answered(tvlm_stack_channel_size(stack, channel, level, &width, &height));
    answered(tvlm_stack_channel_size_of(stack, index, channel, level, &width, &height));
    fuzz_touch(tvlm_stack_channels(stack, &count), sizeof(int32_t));
    if (yes(from)) answered(tvlm_stack_make_all(stack));
    if (yes(from)) answered(tvlm_stack_set_fixation(stack, next_float(from), next_float(from)));
    if (yes(from))
        answered(
            tvlm_stack_set_rope(stack, tvlm_rope_params(.theta = next_float(from), .dimension = any_int(from),
                                                        .patch = next_float(from))));
}

static void read_stack(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    const int32_t index = index_of(from), channel = channel_of(from), level = any_int(from);
    if (stack != NULL) answered(tvlm_stack_read(stack, index, channel, level, room(from), out));
}

static void sample_stack(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    tvlm_sample_point points[FEW];
    tvlm_footprint footprints[FEW];
    int32_t channels[FEW];
    const int32_t count = count_of(from, FEW), channel_count = channels_of(from, channels);
    for (int i = 0; i < FEW; ++i) {
        points[i] = (tvlm_sample_point){next_float(from), next_float(from), next_float(from), index_of(from)};
        footprints[i] = (tvlm_footprint){.x = points[i].x,
                                         .y = points[i].y,
                                         .u = {next_float(from), next_float(from)},
                                         .v = {next_float(from), next_float(from)},
                                         .index = points[i].index};
    }
    if (stack == NULL) return;
    answered(tvlm_stack_sample(stack, points, count, channels, channel_count, out));
    answered(tvlm_stack_sample_footprint(stack, footprints, count, channels, channel_count, out));
    answered(tvlm_stack_structure(stack, points, values, count, footprints));
}

static void pack_stack(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    int32_t channels[FEW], width, height, count;
    struct tvlm_pack_params params = {
        .level = next_float(from), .width = any_int(from), .height = any_int(from)};
    if (yes(from)) params.channels = channels, params.channel_count = channels_of(from, channels);
    if (stack == NULL) return;
    tvlm_packed_destroy(&o->packed); /* some stacks own their pixels */
    const tvlm_status status = tvlm_stack_pack(stack, &params, &o->packed);
    answered(status);
    if (status != TVLM_OK) return;
    const int32_t index = index_of(from);
    answered(tvlm_packed_size(o->packed, &width, &height, &count));
    answered(tvlm_packed_size_of(o->packed, index, &width, &height));
    answered(tvlm_packed_read(o->packed, index, room(from), out));
    tvlm_packed_destroy(&o->packed);
}

/* ---- What is handed in ---- */

static void set_grid(input *from, objects *o) {
    static const char *const names[] = {
        "plane", "other", "r", "full40", "", "a b", "a-name-that-is-much-too-long-to-be-one", NULL};
    tvlm_stack *const stack = some_stack(from, o);
    const struct tvlm_grid_input grid = grid_of(from);
    const int32_t index = index_of(from);
    int32_t channel = channel_of(from), count;
    bool has;
    tvlm_channel_info info;
    if (stack == NULL) return;
    switch (next_byte(from) % 8) {
    case 0:
    case 1:
    case 2: answered(tvlm_stack_set_grid(stack, index, channel, &grid)); break;
    case 3:
        answered(tvlm_stack_set_user(stack, index, names[next_byte(from) % 8], next_float(from),
                                     next_float(from), (tvlm_reduce)number_of(from, TVLM_GAUSSIAN), &grid,
                                     &channel));
        break;
    case 4: answered(tvlm_stack_clear_grid(stack, index, channel)); break;
    case 5: answered(tvlm_stack_set_reduce(stack, (tvlm_reduce)number_of(from, TVLM_GAUSSIAN))); break;
    case 6: answered(tvlm_stack_invalidate(stack, channel)); break;
    default:
        answered(tvlm_stack_set_words(stack, index, values, count_of(from, 8), count_of(from, 8)));
        break;
    }
    answered(tvlm_stack_has_channel(stack, index, channel, &has));
    answered(tvlm_stack_get_channel_info(stack, channel, &info));
    answered(tvlm_stack_parse(stack, layout_of(from), count_of(from, 8), (int32_t *)(void *)out, &count));
}

static void set_regions(input *from, objects *o) {
    static int32_t labels[SIDE_MAX * SIDE_MAX];
    static tvlm_region regions[TVLM_REGIONS_MAX];
    tvlm_stack *const stack = some_stack(from, o);
    const int32_t index = index_of(from);
    int32_t count;
    for (int i = 0; i < SIDE_MAX * SIDE_MAX; ++i) labels[i] = i % 37 % 5;
    labels[next_byte(from)] = any_int(from);
    if (stack == NULL) return;
    if (yes(from))
        answered(tvlm_stack_set_labels(stack, index, labels, count_of(from, SIDE_MAX),
                                       count_of(from, SIDE_MAX), 0));
    answered(tvlm_stack_regions(stack, index, count_of(from, 100), regions, &count));
    answered(tvlm_stack_region_neighbours(stack, index, any_int(from), count_of(from, 100), labels, &count));
    answered(tvlm_stack_labels(stack, index, yes(from) ? SIDE_MAX * SIDE_MAX : next_byte(from), labels));
}

static void advance(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    float positions[2 * FEW];
    struct tvlm_advance_params params = {
        .decay = next_float(from), .sigma = next_float(from), .confidence = next_float(from)};
    if (yes(from)) params.positions = floats_of(from, positions, &params.position_count);
    if (yes(from))
        params.relevance = values, params.columns = count_of(from, 8), params.rows = count_of(from, 8);
    if (stack == NULL) return;
    const int32_t index = index_of(from);
    answered(yes(from) ? tvlm_stack_advance(stack, index, &params) : tvlm_stack_forget(stack, index));
}

static void flow(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o), *const other = some_stack(from, o);
    tvlm_flow_info info;
    if (stack == NULL || other == NULL) return;
    tvlm_flow_destroy(&o->flow);
    const tvlm_status status = tvlm_flow_compute(stack, index_of(from), other, index_of(from),
                                                 tvlm_flow_params(.full = yes(from)), &o->flow);
    answered(status);
    if (status != TVLM_OK) return;
    answered(tvlm_flow_get_info(o->flow, &info));
    answered(tvlm_flow_read(o->flow, room(from), out));
    answered(tvlm_stack_set_flow(stack, index_of(from), o->flow));
}

/* ---- Questions ---- */

static void score(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    const struct tvlm_query query = query_of(from);
    const struct tvlm_score_params params = score_of(from);
    int32_t columns, rows, dimension, ranking[FEW];
    if (stack == NULL) return;
    answered(tvlm_score_size(stack, &params, &columns, &rows));
    answered(tvlm_score(stack, yes(from) ? &query : NULL, &params, room(from), out));
    answered(tvlm_stack_get_features(stack, index_of(from), &columns, &rows, &dimension));
    answered(tvlm_similarity(stack, index_of(from), values, count_of(from, 4), count_of(from, 8), room(from),
                             out));
    answered(tvlm_topk(o->device, values, count_of(from, 100), count_of(from, FEW), ranking, out));
}

static void choose(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    const struct tvlm_query query = query_of(from);
    const struct tvlm_select_params params = select_of(from);
    if (stack == NULL) return;
    MADE(tvlm_selection_destroy, &o->selection,
         tvlm_select(stack, yes(from) ? &query : NULL, &params, &o->selection));
    if (o->selection != NULL) look_at(o->selection);
}

static void explain(input *from, objects *o) {
    static tvlm_reason reasons[1024];
    static tvlm_merged_token merged[4096];
    tvlm_stack *const stack = some_stack(from, o), *const keys = some_stack(from, o);
    const struct tvlm_query query = query_of(from);
    const struct tvlm_select_params params = select_of(from);
    tvlm_attend_info info;
    int32_t count;
    if (stack == NULL) return;
    if (o->selection != NULL) {
        (void)tvlm_selection_positions(o->selection, &count);
        answered(tvlm_explain(stack, yes(from) ? &query : NULL, yes(from) ? &params : NULL, o->selection,
                              count_of(from, 200), reasons, &count));
        (void)tvlm_selection_positions(o->selection, &count);
        if (count <= 4096)
            answered(tvlm_merge_tokens(stack, o->selection,
                                       tvlm_merge_params(.index = index_of(from), .whole = yes(from)),
                                       room(from), out, merged));
    }
    if (keys == NULL) return;
    answered(
        tvlm_attend(keys, stack,
                    tvlm_attend_params(.index = index_of(from), .queries = values, .count = count_of(from, 4),
                                       .dimension = count_of(from, 8), .heads = any_int(from),
                                       .level = any_int(from), .fine = next_float(from), .steps = yes(from),
                                       .mix = next_float(from), .keep = yes(from), .scale = next_float(from)),
                    room(from), out, yes(from) ? values + FLOATS / 2 : NULL, &info));
}

/* A thumbnail of the size that the floats have room for. */
static void fill_empty(input *from) {
    tvlm_cell empty[FEW];
    tvlm_thumbnail_grid grid = {any_int(from), any_int(from), any_int(from), empty, count_of(from, FEW)};
    const int32_t channels = any_int(from);
    for (int i = 0; i < FEW; ++i) empty[i] = (tvlm_cell){any_int(from), any_int(from)};
    const double texels = (double)grid.columns * grid.rows * grid.side * grid.side * channels;
    if (grid.columns < 1 || grid.rows < 1 || grid.side < 1 || channels < 1 || texels <= FLOATS)
        answered(tvlm_thumbnail_fill(&grid, channels, values, &fuzz_log));
}

static void cut_out(input *from, objects *o) {
    tvlm_stack *const stack = some_stack(from, o);
    tvlm_position positions[FEW];
    int32_t channels[FEW], count = count_of(from, FEW);
    struct tvlm_patches_params params = {.index = index_of(from),
                                         .side = any_int(from),
                                         .format = (tvlm_format)number_of(from, TVLM_FORMAT_F32),
                                         .border = (tvlm_border)number_of(from, 1)};
    const uint8_t flags = next_byte(from);
    if (flags & 1) params.channels = channels, params.channel_count = channels_of(from, channels);
    if (flags & 2) params.mean = values;
    if (flags & 4) params.deviation = values + 1;
    if (flags & 8) params.thumbnail_columns = any_int(from), params.thumbnail_rows = any_int(from);
    if (flags & 16) params.thumbnail_cells = any_int(from);
    for (int i = 0; i < FEW; ++i)
        positions[i] = (tvlm_position){.x = next_float(from),
                                       .y = next_float(from),
                                       .size = next_float(from),
                                       .height = next_float(from)};
    size_t bytes;
    (void)tvlm_patches_size(&params, count, &bytes); /* it has no log */
    if (stack != NULL)
        answered(tvlm_patches_extract(stack, positions, count, &params,
                                      yes(from) ? sizeof out : next_byte(from), out));
    fill_empty(from);
    answered(tvlm_foveated_place(
        any_int(from), any_int(from), count_of(from, FEW), next_float(from),
        tvlm_foveated_params(.e0 = next_float(from), .arrangement = (tvlm_arrangement)number_of(from, 1)),
        &fuzz_log, FEW, positions, &count));
}

/* ---- Sessions, streams and pools ---- */

static void use_session(input *from, objects *o) {
    tvlm_session_info info;
    tvlm_stack *stack = NULL;
    bool hit;
    if (o->session == NULL || next_byte(from) > 250)
        MADE(tvlm_session_destroy, &o->session,
             tvlm_session_create(
                 o->device,
                 tvlm_session_params(.cache_bytes = (size_t)any_int(from), .reserved = {reserved(from)}),
                 &o->session));
    if (o->session == NULL) return;
    const tvlm_image image = image_of(from);
    const struct tvlm_stack_params params = stack_of(from);
    const struct tvlm_select_params select = select_of(from);
    const tvlm_status status = tvlm_session_stack(o->session, &image, &params, yes(from) ? values : NULL,
                                                  next_byte(from) % 8, &stack, &hit);
    answered(status);
    if (status == TVLM_OK)
        MADE(tvlm_selection_destroy, &o->selection, tvlm_select(stack, NULL, &select, &o->selection));
    if (yes(from)) tvlm_session_trim(o->session);
    answered(tvlm_session_get_info(o->session, &info));
}

static struct tvlm_stream_params stream_of(input *from) {
    struct tvlm_stream_params params = {.layout = layout_of(from), .cameras = count_of(from, 2)};
    const uint8_t flags = next_byte(from), more = next_byte(from);
    if (flags & 1) (void)tvlm_stream_preset((tvlm_stream_use)number_of(from, TVLM_STREAM_GAZE), &params);
    if (flags & 2) params.format = (tvlm_format)number_of(from, TVLM_FORMAT_S8);
    if (flags & 4) params.clusters = any_int(from), params.compactness = next_float(from);
    if (flags & 8) params.keyframe_interval = any_int(from), params.cut = next_float(from);
    if (flags & 16) params.update = update_of(from);
    if (flags & 32) params.confidence = next_float(from), params.longest = next_float(from);
    if (flags & 64) params.blend = next_float(from), params.needs_all = next_float(from);
    if (flags & 128)
        params.steadiness = next_float(from), params.decay = next_float(from),
        params.sigma = next_float(from);
    params.whole = (more & 1) != 0;
    params.no_flow = (more & 2) != 0;
    if (more & 4) params.network = network_of(from);
    if (more & 8)
        params.volume = layout_of(from), params.volume_frames = any_int(from),
        params.volume_level = any_int(from);
    params.look_back = (more & 16) != 0;
    params.reserved[0] = reserved(from);
    return params;
}

static void create_stream(input *from, objects *o) {
    const struct tvlm_stream_params params = stream_of(from);
    const int32_t width = count_of(from, SIDE_MAX), height = count_of(from, SIDE_MAX);
    MADE(tvlm_stream_destroy, &o->stream, tvlm_stream_create(o->device, width, height, &params, &o->stream));
}

static void push(input *from, objects *o) {
    float fixations[2 * FEW];
    const struct tvlm_grid_input grid = grid_of(from);
    struct tvlm_push_params params = {.keyframe = yes(from), .reserved = {reserved(from)}};
    tvlm_stream_report report;
    const int32_t camera = index_of(from);
    const tvlm_image image = image_of(from);
    if (yes(from)) params.flow = &grid;
    if (yes(from)) params.fixations = floats_of(from, fixations, &params.fixation_count);
    if (o->stream == NULL) return;
    switch (next_byte(from) % 4) {
    case 0: answered(tvlm_stream_send(o->stream, camera, &image)); break;
    case 1: answered(tvlm_stream_push(o->stream, camera, NULL, &params, &report)); break;
    default: answered(tvlm_stream_push(o->stream, camera, &image, &params, &report)); break;
    }
}

static void ask_stream(input *from, objects *o) {
    tvlm_volume_point points[FEW];
    tvlm_packed *volume = NULL;
    int32_t slot;
    const int32_t camera = index_of(from);
    const struct tvlm_query query = query_of(from);
    const struct tvlm_select_params select = select_of(from);
    const struct tvlm_grid_input grid = grid_of(from);
    static const uint8_t mask[64] = {1, 0, 1};
    for (int i = 0; i < FEW; ++i)
        points[i] = (tvlm_volume_point){next_float(from), next_float(from), next_float(from)};
    if (o->stream == NULL) return;
    switch (next_byte(from) % 5) {
    case 0:
    case 1:
        MADE(tvlm_selection_destroy, &o->selection,
             tvlm_stream_select(o->stream, camera, yes(from) ? &query : NULL, &select, &o->selection));
        if (o->selection != NULL) look_at(o->selection);
        break;
    case 2:
        answered(tvlm_stream_set_features(o->stream, camera,
                                          yes(from) ? TVLM_CHANNEL_FEATURE_0 : channel_of(from), &grid,
                                          yes(from) ? mask : NULL));
        break;
    case 3: answered(tvlm_stream_needs(o->stream, camera, room(from), (uint8_t *)(void *)out)); break;
    default:
        answered(tvlm_stream_volume(o->stream, camera, any_int(from), &volume, &slot));
        answered(tvlm_stream_volume_sample(o->stream, camera, points, count_of(from, FEW), out));
        break;
    }
}

static void see_clip(input *from, objects *o) {
    struct tvlm_clip_params params = {.format = (tvlm_format)number_of(from, TVLM_FORMAT_S8),
                                      .reserved = {reserved(from)}};
    tvlm_clip *clip = NULL;
    tvlm_clip_info info;
    int32_t count;
    const uint8_t flags = next_byte(from);
    if (flags & 1) params.patch = next_float(from);
    if (flags & 2) params.temporal = any_int(from);
    if (flags & 4) params.k = any_int(from), params.frames = any_int(from);
    if (flags & 8) params.share = next_float(from);
    if (flags & 16) params.tolerance = next_float(from);
    if (flags & 32) params.hold = any_int(from);
    if (flags & 64) params.memory = (uint64_t)any_int(from);
    if (flags & 128) params.causal = true, params.latency = any_int(from);
    const int32_t width = count_of(from, SIDE_MAX), height = count_of(from, SIDE_MAX);
    MADE(tvlm_clip_destroy, &clip, tvlm_clip_create(o->device, width, height, &params, &clip));
    for (int i = count_of(from, FEW); clip != NULL && i > 0; --i) {
        const tvlm_image image = image_of(from);
        answered(tvlm_clip_push(clip, &image));
    }
    if (clip == NULL) return;
    answered(tvlm_clip_end(clip));
    answered(tvlm_clip_get_info(clip, &info));
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    for (int32_t i = 0; i < count; ++i)
        fuzz_check(params.causal || (tokens[i].slot <= tokens[i].until && tokens[i].until <= info.slots));
    tvlm_clip_destroy(&clip);
}

/* Its log is called in its threads, a line at a time; each image that fails has one. */
static void use_pool(input *from, objects *o) {
    tvlm_image images[FEW];
    tvlm_selection *selections[FEW] = {NULL};
    tvlm_status statuses[FEW] = {TVLM_OK};
    tvlm_pool_device_info info;
    int32_t failed = 0;
    if (o->pool == NULL || next_byte(from) > 250)
        MADE(tvlm_pool_destroy, &o->pool,
             tvlm_pool_create(tvlm_pool_params(.devices = yes(from) ? "reference" : "reference,reference",
                                               .capacity = any_int(from), .stop = yes(from),
                                               .open = tvlm_device_params(.log = &fuzz_log),
                                               .reserved = {reserved(from)}),
                              &o->pool));
    if (o->pool == NULL) return;
    const struct tvlm_stack_params stack = stack_of(from);
    const struct tvlm_select_params select = select_of(from);
    const int32_t count = count_of(from, FEW);
    for (int i = 0; i < FEW; ++i) images[i] = image_of(from);
    const tvlm_status status =
        tvlm_pool_select(o->pool, images, count, &stack, &select, selections, statuses);
    if (status != TVLM_OK) answered(status);
    for (int i = 0; i < FEW; ++i) {
        failed += statuses[i] != TVLM_OK;
        fuzz_check(statuses[i] == TVLM_OK || selections[i] == NULL);
    }
    if (status == TVLM_OK) fuzz_check(fuzz_errors == failed);
    fuzz_errors = 0;
    for (int i = 0; i < FEW; ++i) {
        if (selections[i] != NULL) look_at(selections[i]);
        tvlm_selection_destroy(&selections[i]);
    }
    answered(tvlm_pool_get_device_info(o->pool, any_int(from), &info));
}

/* ---- Sequences ---- */

typedef void call(input *from, objects *o);
static call *const calls[] = {
    create_stack, create_for_image, create_for_image, plan_stack,  set_image,     ask_sizes, read_stack,
    sample_stack, pack_stack,       set_grid,         set_regions, advance,       flow,      score,
    choose,       explain,          cut_out,          use_session, create_stream, push,      push,
    ask_stream,   see_clip,         use_pool};
enum { CALLS = sizeof calls / sizeof calls[0] };

static tvlm_device *open_device(void) {
    static tvlm_device *device;
    if (device == NULL) {
        setenv("OCL_ICD_VENDORS", "/nonexistent", 0); /* no driver is needed, and each would take a second */
        answered(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &fuzz_log), &device));
    }
    return device;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input from = {data, size};
    objects o = {.device = open_device()};
    stir(&from);
    for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)(i * 37 % 251);
    for (int i = 0; i < CALLS_MAX && from.left > 0; ++i) calls[next_byte(&from) % CALLS](&from, &o);
    tvlm_pool_destroy(&o.pool);
    tvlm_stream_destroy(&o.stream);
    tvlm_session_destroy(&o.session);
    tvlm_selection_destroy(&o.selection);
    tvlm_packed_destroy(&o.packed);
    tvlm_flow_destroy(&o.flow);
    for (int i = 0; i < 2; ++i) tvlm_stack_destroy(&o.stacks[i]);
    return 0;
}
