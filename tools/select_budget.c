/* SPDX-License-Identifier: Apache-2.0 */
#include "select_budget.h"

#include <stdio.h>
#include <string.h>

#include "texturevlm/channels.h"

/* ---- Options ---- */

static int read_emphasis(struct tool *tool, const char *text, struct tvlm_budget_params *budget) {
    const char *const colon = strchr(text, ':');
    const size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    char number[64] = "";
    double level = -1.0;
    if (length < sizeof number) memcpy(number, text, length);
    if (length >= sizeof number || !options_number(number, &level) || !(level >= 0.0 && level <= 1e9))
        return tool_usage(tool, "--emphasis %s: a number from 0 to 1e9, and perhaps a channel: L[:CHANNEL]",
                          text);
    budget->emphasis = level == 0.0 ? TVLM_EXPLICIT_ZERO : (float)level;
    if (colon == NULL) return TOOL_DONE;
    budget->emphasis_channel = tvlm_channel_find(colon + 1);
    if (budget->emphasis_channel < 0)
        return tool_usage(tool, "--emphasis %s: there is no channel '%s'", text, colon + 1);
    if (budget->emphasis_channel == 0)
        return tool_usage(tool, "--emphasis %s: r is no measure of what matters", text);
    return TOOL_DONE;
}

int budget_check(struct tool *tool, const parameter_options *options, const char *count,
                 struct tvlm_budget_params *budget) {
    const char *const emphasis = parameter_text(options, "emphasis");
    const bool counted = tool_given(tool, count + strspn(count, "-")) != NULL;
    if (counted + (budget->share != 0.0f) + (budget->tolerance != 0.0f) > 1)
        return tool_usage(tool, "%s, --share and --tolerance exclude each other", count);
    const int code = emphasis != NULL ? read_emphasis(tool, emphasis, budget) : TOOL_DONE;
    const char *const matters = tool_given(tool, "scorer scores query");
    if (code != TOOL_DONE || budget->emphasis_channel == 0 || matters == NULL) return code;
    if (budget->emphasis_channel == TVLM_CHANNEL_QUERY_SIMILARITY && strcmp(matters, "--query") == 0)
        return TOOL_DONE;
    return tool_usage(tool, "--emphasis %s and %s exclude each other: both say what matters", emphasis,
                      matters);
}

/* ---- JSON ---- */

static void write_duplicates(json_writer *json, const tvlm_selection *selection) {
    int32_t count;
    const tvlm_duplicate *const duplicates = tvlm_selection_duplicates(selection, &count);
    if (count == 0) return;
    json_open_array(json, "duplicates", false);
    for (int32_t i = 0; i < count; ++i) {
        json_integers(json, NULL, 4,
                      (const int64_t[]){duplicates[i].column, duplicates[i].row, duplicates[i].of_column,
                                        duplicates[i].of_row});
    }
    json_close(json);
}

static void write_thumbnail(json_writer *json, const tvlm_selection *selection,
                            const tvlm_selection_info *info) {
    int32_t count;
    const tvlm_cell *const empty = tvlm_selection_empty(selection, &count);
    if (info->thumbnail_columns == 0) return;
    json_integers(json, "thumbnail", 2, (const int64_t[]){info->thumbnail_columns, info->thumbnail_rows});
    if (count == 0) return;
    json_open_array(json, "empty", false);
    for (int32_t i = 0; i < count; ++i) {
        json_integers(json, NULL, 2, (const int64_t[]){empty[i].column, empty[i].row});
    }
    json_close(json);
}

void budget_write(json_writer *json, const tvlm_selection *selection) {
    tvlm_selection_info info;
    if (tvlm_selection_get_info(selection, &info) != TVLM_OK || info.strategy != TVLM_STRATEGY_BUDGET) return;
    if (info.thumbnail_columns > 0) {
        json_float(json, "loss", info.loss);
        if (info.loss_downsampled > 0.0f) json_float(json, "downsampled", info.loss_downsampled);
    }
    write_thumbnail(json, selection, &info);
    write_duplicates(json, selection);
}
