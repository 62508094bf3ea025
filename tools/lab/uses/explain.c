/* SPDX-License-Identifier: Apache-2.0 */
#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select_budget.h"
#include "texturevlm/draw.h"
#include "texturevlm/io.h"
#include "texturevlm/lab/explain.h"

static bool ends_in(const char *file, const char *end) {
    const size_t length = strlen(file), last = strlen(end);
    return length >= last && strcmp(file + length - last, end) == 0;
}

int explain_check(struct tool *tool, const char *file) {
    if (file == NULL || ends_in(file, ".json") || ends_in(file, ".png")) return TOOL_DONE;
    return tool_usage(tool, "--explain %s: a name that ends in .json or .png says what is written", file);
}

void explained_release(explained *made) {
    json_release(&made->json);
    tvlm_image_destroy(&made->picture);
}

/* The reasons of all positions. Each position has one reason for each channel, in the order of the channels.
 * */
typedef struct reason_list {
    tvlm_reason *reasons;
    int32_t channels, positions;
} reason_list;

static int find_reasons(struct tool *tool, const explain_subject *s, reason_list *list) {
    (void)tvlm_selection_positions(s->selection, &list->positions);
    int code = tool_status(
        tool, tvlm_explain(s->stack, s->query, s->params, s->selection, 0, NULL, &list->channels));
    const int64_t count = (int64_t)list->positions * list->channels;
    if (code != TOOL_DONE || count == 0) return code;
    if (count > INT32_MAX) return tool_fail(tool, "%lld reasons are too many", (long long)count);
    list->reasons = malloc((size_t)count * sizeof *list->reasons);
    if (list->reasons == NULL) return tool_fail(tool, "no memory for reasons");
    return tool_status(tool, tvlm_explain(s->stack, s->query, s->params, s->selection, (int32_t)count,
                                          list->reasons, &list->channels));
}

static const char *name_of(const explain_subject *s, int32_t channel, tvlm_channel_info *info) {
    return tvlm_stack_get_channel_info(s->stack, channel, info) == TVLM_OK ? info->name : "";
}

/* ---- JSON ---- */

static void write_reasons(json_writer *json, const explain_subject *s, const reason_list *list,
                          const tvlm_position *position, int32_t number) {
    tvlm_channel_info info;
    double rest = (double)position->score;
    json_open_array(json, "channels", true);
    for (int32_t c = 0; c < list->channels; ++c) {
        const tvlm_reason *const reason = &list->reasons[(size_t)number * (size_t)list->channels + (size_t)c];
        json_open_object(json, NULL, true);
        json_string(json, "name", name_of(s, reason->channel, &info));
        json_float(json, "value", reason->value);
        json_float(json, "weight", reason->weight);
        json_float(json, "share", reason->share);
        json_close(json);
        rest -= (double)reason->share;
    }
    json_close(json);
    json_double(json, "constant", rest);
}

static void make_json(json_writer *json, const explain_subject *s, const reason_list *list) {
    const tvlm_position *const positions = tvlm_selection_positions(s->selection, NULL);
    tvlm_selection_info info;
    (void)tvlm_selection_get_info(s->selection, &info);
    json_open_object(json, NULL, false);
    json_image(json, s->path, s->image->width, s->image->height);
    json_string(json, "strategy", tvlm_strategy_name(info.strategy));
    json_open_array(json, "positions", false);
    for (int32_t i = 0; i < list->positions; ++i) {
        json_open_object(json, NULL, true);
        json_float(json, "x", positions[i].x);
        json_float(json, "y", positions[i].y);
        json_float(json, "size", positions[i].size);
        json_float(json, "score", positions[i].score);
        if (info.strategy == TVLM_STRATEGY_BUDGET) {
            json_float(json, "before", positions[i].lost_before);
            json_float(json, "after", positions[i].lost_after);
        } else {
            write_reasons(json, s, list, &positions[i], i);
        }
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

/* ---- The picture ---- */

/* Finds for each position the channel that adds most to it, beyond what that channel adds to all positions on
 * average. What is the same everywhere is no reason for any position. The picture shows this channel. */
static void find_strongest(const reason_list *list, double *means, int32_t *strongest) {
    for (int32_t i = 0; i < list->positions; ++i)
        for (int32_t c = 0; c < list->channels; ++c)
            means[c] += (double)list->reasons[i * list->channels + c].share / list->positions;
    for (int32_t i = 0; i < list->positions; ++i) {
        double most = -INFINITY;
        for (int32_t c = 0; c < list->channels; ++c) {
            const double more = (double)list->reasons[i * list->channels + c].share - means[c];
            if (more > most) most = more, strongest[i] = c;
        }
    }
}

enum { CLASS_NAME = 64 };

/* Draws positions in the colours of their classes, with the names of the classes below. */
static int draw_classes(struct tool *tool, const explain_subject *s, const tvlm_position *positions,
                        int32_t count, const int32_t *classes, char (*names)[CLASS_NAME], int32_t class_count,
                        tvlm_image **picture) {
    const char **const listed = calloc((size_t)class_count + 1, sizeof *listed);
    tvlm_selection_info info;
    if (listed == NULL) return tool_fail(tool, "no memory for the picture of --explain");
    for (int32_t i = 0; i < class_count; ++i) listed[i] = names[i];
    (void)tvlm_selection_get_info(s->selection, &info);
    const struct tvlm_draw_params params = {
        .classes = classes, .class_names = listed, .class_count = class_count};
    const int code = tool_status(
        tool, tvlm_draw_selection(s->image, &info, positions, count, &params, &tool->log, picture));
    free(listed);
    return code;
}

static int draw(struct tool *tool, const explain_subject *s, const reason_list *list, const double *means,
                const int32_t *strongest, tvlm_image **picture) {
    char(*const names)[CLASS_NAME] = calloc((size_t)list->channels + 1, sizeof *names);
    tvlm_channel_info info;
    if (names == NULL) return tool_fail(tool, "no memory for the picture of --explain");
    for (int32_t c = 0; c < list->channels; ++c)
        snprintf(names[c], sizeof *names, "%.48s %+.2f", name_of(s, list->reasons[c].channel, &info),
                 means[c]);
    const int code = draw_classes(tool, s, tvlm_selection_positions(s->selection, NULL), list->positions,
                                  strongest, names, list->channels, picture);
    free(names);
    return code;
}

/* Draws the tiles of a budget by their scales, with the amount by which all tiles of a scale lower the loss.
 * */
static int draw_tiles(struct tool *tool, const explain_subject *s, const tvlm_selection_info *info,
                      tvlm_image **picture) {
    int32_t count;
    const int32_t cells = info->thumbnail_cells;
    const tvlm_position *const tiles = tvlm_selection_positions(s->selection, &count) + cells;
    double gains[BUDGET_SCALES] = {0.0};
    char names[BUDGET_SCALES][CLASS_NAME];
    int32_t *const scales = calloc((size_t)count + 1, sizeof *scales);
    if (scales == NULL) return tool_fail(tool, "no memory for the picture of --explain");
    for (int32_t i = 0; i < count - cells; ++i) {
        scales[i] = budget_scale_of(&tiles[i]);
        gains[scales[i]] += (double)tiles[i].score;
    }
    for (int i = 0; i < BUDGET_SCALES; ++i)
        snprintf(names[i], sizeof names[i], "%s: %.3g %% less lost", budget_scales[i].name, 100.0 * gains[i]);
    const int code = draw_classes(tool, s, tiles, count - cells, scales, names, BUDGET_SCALES, picture);
    free(scales);
    return code;
}

static int make_picture(struct tool *tool, const explain_subject *s, const reason_list *list,
                        tvlm_image **picture) {
    tvlm_selection_info info;
    (void)tvlm_selection_get_info(s->selection, &info);
    if (info.strategy == TVLM_STRATEGY_BUDGET) return draw_tiles(tool, s, &info, picture);
    double *const means = calloc((size_t)list->channels + 1, sizeof *means);
    int32_t *const strongest = calloc((size_t)list->positions + 1, sizeof *strongest);
    int code = means != NULL && strongest != NULL ? TOOL_DONE
                                                  : tool_fail(tool, "no memory for the picture of --explain");
    if (code == TOOL_DONE) {
        find_strongest(list, means, strongest);
        code = draw(tool, s, list, means, strongest, picture);
    }
    free(means);
    free(strongest);
    return code;
}

int explain_make(struct tool *tool, const explain_subject *subject, const char *file, explained *made) {
    reason_list list = {0};
    int code = find_reasons(tool, subject, &list);
    if (code == TOOL_DONE && ends_in(file, ".png"))
        code = make_picture(tool, subject, &list, &made->picture);
    else if (code == TOOL_DONE)
        make_json(&made->json, subject, &list);
    free(list.reasons);
    return code;
}

int explain_write(struct tool *tool, const char *path, explained *made) {
    const tvlm_image *const picture = made->picture;
    if (picture != NULL)
        return tool_status(
            tool, tvlm_png_write(path, picture->width, picture->height, 3, picture->pixels, &tool->log));
    const char *const text = json_text_of(&made->json);
    if (text == NULL) return tool_fail(tool, "no memory for the JSON of --explain");
    return tool_status(tool, tvlm_file_write(path, text, strlen(text), &tool->log));
}
