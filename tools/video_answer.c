/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_answer.c: writes what is said about a frame: a line of JSON, and a title.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "positions.h"
#include "select_budget.h"
#include "video.h"

static void write_state(json_writer *json, const video_answer *answer, bool with_features) {
    const tvlm_stream_report *const report = &answer->report;
    json_boolean(json, "keyframe", report->keyframe);
    json_boolean(json, "cut", report->cut);
    json_float(json, "difference", report->difference);
    if (report->tiles > 0) {
        json_integer(json, "tiles", report->tiles);
        json_integer(json, "changed", report->changed);
    }
    if (report->flow) json_string(json, "flow", answer->has_flow ? "given" : "estimated");
    if (answer->jumps >= 0) json_integer(json, "jumps", answer->jumps);
    if (with_features) {
        json_open_object(json, "features", true);
        json_boolean(json, "given", answer->has_features);
        json_float(json, "needs", report->needs);
        json_boolean(json, "needs_all", report->needs_all);
        if (report->columns > 0) {
            json_integers(json, "cells", 2, (const int64_t[]){report->columns, report->rows});
        }
        json_close(json);
    }
}

int video_answer_print(const video_session *session, const video_answer *answer) {
    const video_frame *const frame = answer->frame;
    json_writer json = {0};
    json_open_object(&json, NULL, true);
    json_integer(&json, "frame", frame->number);
    json_seconds(&json, "time", frame->time);
    write_state(&json, answer, session->options->features != NULL);
    json_image(&json, frame->path, frame->image.width, frame->image.height);
    json_string(&json, "layout", session->params.layout != NULL ? session->params.layout : "temporal34");
    json_string(&json, "strategy", tvlm_strategy_name(video_strategy(session->options)));
    json_device(&json, session->device);
    json_integer(&json, "k", answer->k);
    budget_write(&json, answer->selection);
    positions_write(&json, answer->positions, answer->count, NULL, true);
    int code = tool_print_json(session->tool, &json);
    if (code == TOOL_DONE && fflush(stdout) != 0) code = tool_fail(session->tool, "cannot write to stdout");
    return code;
}

void video_answer_title(const video_answer *answer, char *title, size_t size) {
    int length =
        snprintf(title, size, "frame %lld, %.2f s: ", (long long)answer->frame->number, answer->frame->time);
    if (answer->thumbnail_cells > 0)
        length += budget_title(answer->thumbnail_columns, answer->thumbnail_rows, answer->thumbnail_cells,
                               answer->count, title + length, size - (size_t)length);
    else
        length += snprintf(title + length, size - (size_t)length, "%d of %d cells", (int)answer->count,
                           (int)answer->candidates);
    if (answer->jumps >= 0 && length < (int)size)
        length += snprintf(title + length, size - (size_t)length, ", %d jump", (int)answer->jumps);
    if (answer->report.keyframe && length < (int)size)
        snprintf(title + length, size - (size_t)length, "%s", answer->report.cut ? ", cut" : ", keyframe");
}
