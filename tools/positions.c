/* SPDX-License-Identifier: Apache-2.0 */
#include "positions.h"

#include <math.h>

static int refuse(struct tool *tool) {
    return tool_fail(tool, "scores overflow: the weights are too large");
}

int positions_check(struct tool *tool, const tvlm_position *positions, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
        if (!isfinite(positions[i].score)) return refuse(tool);
    return TOOL_DONE;
}

int scores_check(struct tool *tool, const float *scores, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(scores[i])) return refuse(tool);
    return TOOL_DONE;
}

static void write_axes(json_writer *json, const tvlm_footprint *axes) {
    json_open_array(json, "axes", true);
    for (int i = 0; i < 2; ++i) {
        const float *const axis = i == 0 ? axes->u : axes->v;
        json_open_array(json, NULL, true);
        json_float(json, NULL, axis[0]);
        json_float(json, NULL, axis[1]);
        json_close(json);
    }
    json_close(json);
}

void positions_write(json_writer *json, const tvlm_position *positions, int32_t count,
                     const tvlm_footprint *axes, bool flat) {
    json_open_array(json, "positions", flat);
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_position *const position = &positions[i];
        json_open_object(json, NULL, true);
        json_float(json, "x", position->x);
        json_float(json, "y", position->y);
        json_float(json, "level", position->level);
        json_float(json, "score", position->score);
        json_float(json, "size", position->size);
        if (position->height > 0.0f) json_float(json, "height", position->height);
        if (position->column >= 0) {
            json_integers(json, "cell", 2, (const int64_t[]){position->column, position->row});
        }
        if (axes != NULL) write_axes(json, &axes[i]);
        json_close(json);
    }
    json_close(json);
}

void stages_write(json_writer *json, const tvlm_selection *selection) {
    tvlm_selection_report report;
    (void)tvlm_selection_get_report(selection, &report);
    if (report.stage_count == 0) return;
    json_open_array(json, "stages", false);
    for (int32_t i = 0; i < report.stage_count; ++i) {
        json_open_object(json, NULL, true);
        json_string(json, "name", report.stages[i].name);
        json_integer(json, "candidates", report.stages[i].candidates);
        json_integer(json, "kept", report.stages[i].kept);
        json_integer(json, "bytes", (int64_t)report.stages[i].bytes);
        json_close(json);
    }
    json_close(json);
}
