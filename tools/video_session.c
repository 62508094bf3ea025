/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_session.c: asks a stream about each frame.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "platform/stdio.h"
#include "positions.h"
#include "select_layout.h"
#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"
#include "video.h"

#define GAZE_MAX    64
#define LAYOUT_SIZE 2048

/* Whether the frame has a file in the folder. Other problems with that file are reported when it is read. */
static bool find_file(const video_session *session, const char *folder, const char *ending,
                      const video_frame *frame, char *path, size_t size) {
    return folder != NULL && video_file_name(folder, ending, frame, session->video, path, size) &&
           tvlm_path_exists(path);
}

/* ---- Beginning ---- */

/* Lists the channels of the scorer. `layout` gets all channels that it reads. session->volume gets those of
 * which it reads earlier frames ("motion@-2"), each once. */
static int find_volume(video_session *session, char *layout, size_t size) {
    const video_options *const options = session->options;
    tvlm_safetensors *file = NULL;
    char *const volume = session->volume;
    int code = tool_status(session->tool,
                           tvlm_safetensors_read(options->weighing.scorer, &session->tool->log, &file));
    if (code != TOOL_DONE) return code;
    const char *names = tvlm_safetensors_metadata(file, "channels");
    for (; names != NULL && *names != '\0'; names += strcspn(names, ","), names += *names == ',') {
        char name[TVLM_CHANNEL_NAME_SIZE + 2];
        const size_t length = strcspn(names, "@,"), used = strlen(volume);
        if (length >= TVLM_CHANNEL_NAME_SIZE) continue;
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        const int32_t channel = tvlm_channel_find(name);
        if (channel != TVLM_CHANNEL_NONE) /* the scorer itself will report names that are unknown */
            code = layout_add(session->tool, options->weighing.scorer, &channel, 1, layout, size);
        if (code != TOOL_DONE) break;
        if (names[length] != '@') continue;
        memcpy(name + length, ",", 2);
        const char *const found = strstr(volume, name);
        if (found != NULL && (found == volume || found[-1] == ',')) continue;
        if (used + length + 2 > sizeof session->volume)
            continue; /* the scorer itself will report that a name is missing */
        snprintf(volume + used, sizeof session->volume - used, "%s", name);
    }
    tvlm_safetensors_destroy(&file);
    if (code != TOOL_DONE) return code;
    if (volume[0] == '\0')
        return tool_fail(session->tool,
                         "%s: reads no earlier frames (as motion@-1 does): --frames is of no use",
                         options->weighing.scorer);
    volume[strlen(volume) - 1] = '\0';
    return TOOL_DONE;
}

const char *const video_presets[] = {"moving", "still", "screen", "gaze", "document", NULL};

/* Returns a value that was given. A 0 becomes TVLM_EXPLICIT_ZERO, since 0 stands for the default in the library. */
static float said(float value) {
    return value == 0.0f ? TVLM_EXPLICIT_ZERO : value;
}

tvlm_stream_use video_use(int preset) {
    static const tvlm_stream_use uses[] = {TVLM_STREAM_MOVING, TVLM_STREAM_STILL, TVLM_STREAM_SCREEN,
                                           TVLM_STREAM_GAZE, TVLM_STREAM_SCREEN};
    return uses[preset];
}

tvlm_strategy video_strategy(const video_options *options) {
    const char *const name = options->strategy;
    return name != NULL ? (tvlm_strategy)tvlm_strategy_find(name) : TVLM_STRATEGY_GRID;
}

/* Refuses a channel that no frame can have, since it would be 0 in all frames. */
static int check_brought(struct tool *tool, const video_options *options, const tvlm_channel_info *info) {
    const bool features = strcmp(info->family, "features") == 0,
               flow = strncmp(info->name, "flow_", 5) == 0; /* flow is computed from frame to frame */
    const struct {
        bool wanted, given;
        const char *option;
    } ways[] = {{features, options->features != NULL, "--features"},
                {strcmp(info->name, "query_similarity") == 0, options->questions.query != NULL, "--query"},
                {strcmp(info->name, "gaze") == 0, options->gaze != NULL, "--gaze"}};
    const char *const path = options->weighing.scorer;
    if (!info->handed_in || flow) return TOOL_DONE;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        if (!ways[i].wanted) continue;
        return ways[i].given ? TOOL_DONE
                             : tool_usage(tool, "%s weighs %s: hand in %s", path, info->name, ways[i].option);
    }
    return tool_usage(tool, "%s weighs %s, which no frame of a video brings", path, info->name);
}

static int check_scorer(const video_session *session) {
    int code = TOOL_DONE;
    for (int32_t c = 0; code == TOOL_DONE && c < scorer_channels(session->scorer); ++c) {
        tvlm_channel_info info;
        if (scorer_weighs(session->scorer, c) &&
            tvlm_channel_get_info(scorer_channel(session->scorer, c), &info) == TVLM_OK)
            code = check_brought(session->tool, session->options, &info);
    }
    return code;
}

/* Loads the scorer. A scorer that looks back can be loaded only with the stream; for such a scorer, this only
 * finds the channels that it will read. `layout` gets their names. */
static int read_scorer(video_session *session, char *layout, size_t size) {
    const video_options *const options = session->options;
    const char *const path = options->weighing.scorer;
    if (options->frames.given) return find_volume(session, layout, size);
    int code = tool_status(session->tool, tvlm_scorer_load(path, &session->tool->log, &session->scorer));
    if (code == TOOL_DONE) code = check_scorer(session);
    return code == TOOL_DONE ? scorer_layout(session->tool, path, session->scorer, layout, size) : code;
}

/* Reads the scorer, and the network whose outputs are read by the scorer, by the emphasis or by the parts of
 * the score. */
static int read_weighing(video_session *session) {
    const video_options *const options = session->options;
    const bool asked = options->questions.query != NULL;
    char layout[LAYOUT_SIZE] = "";
    int code = TOOL_DONE;
    if (options->weighing.scorer != NULL)
        code = read_scorer(session, layout, sizeof layout);
    else if (video_strategy(options) == TVLM_STRATEGY_BUDGET)
        code = emphasis_layout(session->tool, &session->asks.budget, asked, layout, sizeof layout);
    else
        parts_layout(&options->weighing.weights, asked, layout, sizeof layout);
    if (code != TOOL_DONE) return code;
    /* If all names of a scorer are unknown, it reads nothing so far. An error will name them when it is
     * loaded. */
    if (layout[0] == '\0') snprintf(layout, sizeof layout, "r");
    return network_read_for(session->tool, options->network, layout, &session->network);
}

int video_session_open(struct tool *tool, const video_options *options, video_session *session) {
    *session = (video_session){.tool = tool, .options = options, .asked = -1};
    session->asks.strategy = video_strategy(options);
    parameters_set(&options->parameters, &session->asks);
    TOOL_TRY(budget_check(tool, &options->parameters, "-k", &session->asks.budget));
    if (options->gaze != NULL) TOOL_TRY(video_gaze_read(tool, options->gaze, &session->gaze));
    TOOL_TRY(questions_read(tool, &options->questions, 1, &session->questions));
    if (session->questions.several)
        return tool_usage(tool, "--query holds %d vectors: --combine max or mean makes one question of them",
                          (int)session->questions.count);
    TOOL_TRY(read_weighing(session));
    return tool_open_device(tool, &options->common, &session->device);
}

/* Creates the stream. This needs the size of a frame. */
static int create(video_session *session, const tvlm_image *image) {
    const video_options *const options = session->options;
    struct tvlm_stream_params *const params = &session->params;
    const int32_t width = options->size.given ? options->size.width : image->width;
    const int32_t height = options->size.given ? options->size.height : image->height;
    int code = tool_status(session->tool, tvlm_stream_preset(video_use(options->preset.value), params));
    if (code != TOOL_DONE) return code;
    params->format = (tvlm_format)options->common.format.value;
    params->network = session->network;
    if (options->keyframe.given) params->keyframe_interval = options->keyframe.value;
    if (options->steadiness.given) params->steadiness = said(options->steadiness.value);
    if (options->cut.given) params->cut = said(options->cut.value);
    params->whole = options->no_delta > 0;
    params->update.tile = options->tile.value;
    params->update.threshold = options->threshold.value;
    if (options->carry.given)
        params->update.saliency_share = params->update.cluster_share = options->carry.value;
    if (session->volume[0] != '\0') {
        params->volume = session->volume;
        params->volume_frames = options->frames.value;
        params->look_back = true;
    }
    code = tool_status(session->tool,
                       tvlm_stream_create(session->device, width, height, params, &session->stream));
    if (code != TOOL_DONE || session->volume[0] == '\0') return code;
    code = tool_status(session->tool,
                       tvlm_scorer_load_for(options->weighing.scorer, tvlm_stream_stack(session->stream, 0),
                                            &session->tool->log, &session->scorer));
    return code == TOOL_DONE ? check_scorer(session) : code;
}

/* Releases the device, and all that it knew about earlier frames. */
static void forget(video_session *session) {
    tvlm_stream_destroy(&session->stream);
    tvlm_device_destroy(&session->device);
    if (session->volume[0] != '\0') tvlm_scorer_destroy(&session->scorer); /* it reads planes of the stream */
    free(session->former);
    session->former = NULL;
    session->former_count = 0;
}

void video_session_release(video_session *session) {
    forget(session);
    tvlm_scorer_destroy(&session->scorer);
    network_release(&session->network);
    questions_release(&session->questions);
    video_gaze_release(&session->gaze);
    video_flow_release(&session->flow);
}

int video_session_go_on(video_session *session, bool rewind) {
    forget(session);
    if (rewind) session->gaze.at = 0;
    return tool_open_device(session->tool, &session->options->common, &session->device);
}

/* ---- A frame ---- */

struct present {
    const video_session *session;
    const tvlm_stream_report *report;
};

static int set_some(const struct present *present, const video_partial *partial) {
    struct tool *const tool = present->session->tool;
    const struct tvlm_grid_input *const input = &partial->input;
    if (partial->mask != NULL && present->report->columns == 0)
        return tool_fail(tool, "cells are NaN, but there are no earlier features to keep in them: the first "
                               "ones, and those after a cut, are for all cells");
    if (partial->mask != NULL &&
        (present->report->columns != input->columns || present->report->rows != input->rows))
        return tool_fail(tool,
                         "cells are NaN, but the earlier features, to keep in them, have %d x %d cells "
                         "and these %d x %d (rows x columns)",
                         (int)present->report->rows, (int)present->report->columns, (int)input->rows,
                         (int)input->columns);
    return tool_status(tool, tvlm_stream_set_features(present->session->stream, 0, TVLM_CHANNEL_FEATURE_0,
                                                      input, partial->mask));
}

/* Hands in features to the stream. If it fails, the error has been reported already. */
static tvlm_status set_features(void *target, const struct tvlm_grid_input *input) {
    const struct present *const present = target;
    video_partial partial;
    int code = video_partial_take(present->session->tool, input, &partial);
    if (code == TOOL_DONE) code = set_some(present, &partial);
    video_partial_release(&partial);
    return code == TOOL_DONE ? TVLM_OK : TVLM_ERROR_ARGUMENT;
}

/* Reads the flow from the frame to the last one, if there is a file for it. */
static int read_flow(video_session *session, const video_frame *frame, video_answer *answer) {
    char path[4096];
    tvlm_stack_info info;
    if (!find_file(session, session->options->flow, "flo", frame, path, sizeof path)) return TOOL_DONE;
    const int code =
        tool_status(session->tool, tvlm_stack_get_info(tvlm_stream_stack(session->stream, 0), &info));
    if (code != TOOL_DONE) return code;
    answer->has_flow = true;
    ++session->flows_read;
    return video_flow_read(session->tool, path, &frame->image, info.width, info.height, &session->flow);
}

/* Writes the mask of the cells for which the frame asks, before its own features come. It writes none before
 * the first features, when there are no cells. It also writes none for frames that come again on another
 * device, since their masks were written before. */
static int write_needs(video_session *session, const video_answer *answer) {
    char path[4096];
    const int64_t number = answer->frame->number;
    if (session->options->needs == NULL || answer->report.columns == 0 || number <= session->asked)
        return TOOL_DONE;
    if (!video_file_name(session->options->needs, "npy", answer->frame, session->video, path, sizeof path))
        return tool_fail(session->tool, "%.64s...: the path is too long", path);
    int code =
        session->video ? files_output(session->tool, "--needs", path) : TOOL_DONE; /* files are noted */
    if (code == TOOL_DONE) code = video_mask_write(session->tool, path, session->stream, &answer->report);
    if (code == TOOL_DONE) session->asked = number;
    return code;
}

static int read_features(video_session *session, video_answer *answer) {
    char path[4096];
    struct present present = {session, &answer->report};
    if (!find_file(session, session->options->features, "npy", answer->frame, path, sizeof path))
        return TOOL_DONE;
    answer->has_features = true;
    ++session->features_read;
    return features_set_by(session->tool, path, session->options->questions.patch.value,
                           answer->frame->image.width, &session->questions.queries,
                           tvlm_stream_stack(session->stream, 0), set_features, &present);
}

int video_session_push(video_session *session, const video_frame *frame, bool sent, video_answer *answer) {
    float looked[2 * GAZE_MAX];
    struct tvlm_push_params params = {0};
    const bool first = session->stream == NULL;
    *answer = (video_answer){.frame = frame, .jumps = -1};
    TOOL_TRY(first ? create(session, &frame->image) : read_flow(session, frame, answer));
    if (answer->has_flow) params.flow = &session->flow.grid;
    if (session->options->gaze != NULL) {
        params.fixations = looked;
        params.fixation_count = video_gaze_take(&session->gaze, frame->time, GAZE_MAX, looked);
    }
    TOOL_TRY(tool_status(session->tool, tvlm_stream_push(session->stream, 0, sent ? NULL : &frame->image,
                                                         &params, &answer->report)));
    TOOL_TRY(write_needs(session, answer));
    return read_features(session, answer);
}

static void warn_unread(const video_session *session, const char *folder, const char *ending) {
    tvlm_log_message(&session->tool->log, TVLM_LOG_WARNING, "%s: holds no .%s of any of the frames", folder,
                     ending);
}

void video_session_end(const video_session *session) {
    if (session->options->features != NULL && session->features_read == 0)
        warn_unread(session, session->options->features, "npy");
    if (session->options->flow != NULL && session->flows_read == 0)
        warn_unread(session, session->options->flow, "flo");
}

int video_session_send(video_session *session, const video_frame *frame) {
    return tool_status(session->tool, tvlm_stream_send(session->stream, 0, &frame->image));
}

/* Computes the flow at the positions of a frame: u and v for each, in pixels of the frame. */
static int flow_at(video_session *session, const video_answer *answer, float *flow) {
    const int32_t channels[] = {TVLM_CHANNEL_FLOW_U, TVLM_CHANNEL_FLOW_V};
    tvlm_stack *const stack = tvlm_stream_stack(session->stream, 0);
    tvlm_stack_info info;
    tvlm_sample_point *const points = calloc((size_t)answer->count + 1, sizeof *points);
    if (points == NULL) return tool_fail(session->tool, "no memory");
    int code = tool_status(session->tool, tvlm_stack_get_info(stack, &info));
    const float scale_x = (float)info.width / (float)answer->frame->image.width,
                scale_y = (float)info.height / (float)answer->frame->image.height;
    for (int32_t i = 0; i < answer->count; ++i)
        points[i] =
            (tvlm_sample_point){.x = answer->positions[i].x * scale_x, .y = answer->positions[i].y * scale_y};
    if (code == TOOL_DONE && answer->report.flow && answer->count > 0)
        code = tool_status(session->tool, tvlm_stack_sample(stack, points, answer->count, channels, 2, flow));
    for (int32_t i = 0; i < answer->count; ++i) {
        flow[2 * i] /= scale_x;
        flow[2 * i + 1] /= scale_y;
    }
    free(points);
    return code;
}

/*
 * Counts the positions of the last frame that have jumped. A position has jumped if no present position,
 * moved back along the flow, lies within one cell of it. Then remembers the present positions. The cells of a
 * thumbnail, which are the only rectangles, never jump.
 */
static int count_jumps(video_session *session, video_answer *answer) {
    float *const flow = calloc(2 * (size_t)answer->count + 2, sizeof *flow);
    float *const here = calloc(2 * (size_t)answer->count + 2, sizeof *here);
    int code = flow != NULL && here != NULL ? TOOL_DONE : tool_fail(session->tool, "no memory");
    const bool from = session->former != NULL && !answer->report.cut;
    if (code == TOOL_DONE && from) code = flow_at(session, answer, flow);
    for (int32_t j = 0; code == TOOL_DONE && from && j < session->former_count; ++j) {
        const float *const former = session->former + 2 * j;
        bool stays = false;
        for (int32_t i = 0; !stays && i < answer->count; ++i) {
            const tvlm_position *const p = &answer->positions[i];
            stays = p->height == 0.0f && fabsf(p->x + flow[2 * i] - former[0]) <= p->size &&
                    fabsf(p->y + flow[2 * i + 1] - former[1]) <= p->size;
        }
        if (j == 0) answer->jumps = 0;
        answer->jumps += !stays;
    }
    int32_t count = 0;
    for (int32_t i = 0; code == TOOL_DONE && i < answer->count; ++i) {
        if (answer->positions[i].height > 0.0f) continue;
        here[2 * count] = answer->positions[i].x;
        here[2 * count++ + 1] = answer->positions[i].y;
    }
    free(flow);
    if (code != TOOL_DONE) {
        free(here);
        return code;
    }
    free(session->former);
    session->former = here;
    session->former_count = count;
    return TOOL_DONE;
}

int video_session_select(video_session *session, video_answer *answer) {
    const video_options *const options = session->options;
    struct tvlm_select_params params = session->asks;
    struct tvlm_query storage;
    tvlm_selection_info info;
    tvlm_stack_info stack;
    params.score.weights = options->weighing.weights.given ? options->weighing.weights.values : NULL;
    params.score.scorer = session->scorer;
    /* Before the first features, and after a cut, there are no features that could answer a query. */
    const bool can_ask = answer->has_features || answer->report.columns > 0;
    const struct tvlm_query *const query = can_ask ? questions_query(&session->questions, 0, &storage) : NULL;
    if (query == NULL && params.budget.emphasis_channel == TVLM_CHANNEL_QUERY_SIMILARITY)
        params.budget.emphasis_channel = 0, params.budget.emphasis = 0.0f;
    TOOL_TRY(tool_status(session->tool,
                         tvlm_stream_select(session->stream, 0, query, &params, &answer->selection)));
    answer->positions = tvlm_selection_positions(answer->selection, &answer->count);
    TOOL_TRY(positions_check(session->tool, answer->positions, answer->count));
    (void)tvlm_selection_get_info(answer->selection, &info);
    TOOL_TRY(tool_status(session->tool, tvlm_stack_get_info(tvlm_stream_stack(session->stream, 0), &stack)));
    const float stride = params.score.stride != 0.0f ? params.score.stride : TVLM_STRIDE_DEFAULT;
    answer->grid =
        (struct tvlm_draw_params){.columns = (int32_t)ceilf((float)stack.width / stride),
                                  .rows = (int32_t)ceilf((float)stack.height / stride),
                                  .cell_width = stride * (float)info.width / (float)stack.width,
                                  .cell_height = stride * (float)info.height / (float)stack.height};
    answer->candidates = answer->grid.columns * answer->grid.rows;
    answer->thumbnail_columns = info.thumbnail_columns;
    answer->thumbnail_rows = info.thumbnail_rows;
    answer->thumbnail_cells = info.thumbnail_cells;
    answer->k = params.strategy == TVLM_STRATEGY_BUDGET ? answer->count
                : params.k != 0                         ? params.k
                : answer->candidates < TVLM_K_DEFAULT   ? answer->candidates
                                                        : TVLM_K_DEFAULT;
    return count_jumps(session, answer);
}

void video_answer_release(video_answer *answer) {
    tvlm_selection_destroy(&answer->selection);
}
