/* SPDX-License-Identifier: Apache-2.0 */
#include "select_budget.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "texturevlm/channels.h"

static const char *const tolerances[] = {"auto", NULL};

static const option_spec specs[] = {
    {0, OPTION_NUMBER, "share", offsetof(budget_options, share), "S",
     "in place of a number, that share of all patches, above 0 and at most 1; for budget", 1e-9, 1, NULL},
    {0, OPTION_NUMBER, "tolerance", offsetof(budget_options, tolerance), "T",
     "in place of a number, as few patches as lose that share at most; or auto: as few as keep readable "
     "what can be read; for budget: hardly more than the fewest that lose at most that share of what a "
     "thumbnail of one patch loses; 0: nothing is lost, only equal tiles are left out",
     0, 1, tolerances},
    {0, OPTION_TEXT, "emphasis", offsetof(budget_options, emphasis), "L[:CHANNEL]",
     "how much more the loss counts where CHANNEL, --query or --scorer say; for budget: losses count 1 + L "
     "m times, m being the channel (default: saliency), or what --query or --scorer say (default: 0; with "
     "these 300 and 32); only as much of it counts as leaves the whole image in view",
     0, 0, NULL},
};
const option_specs budget_specs = OPTION_SPECS("What to choose", specs);

/* ---- Options ---- */

static int read_emphasis(struct tool *tool, const char *text, budget_emphasis *emphasis) {
    const char *const colon = strchr(text, ':');
    const size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    char number[64] = "";
    double level = -1.0;
    if (length < sizeof number) memcpy(number, text, length);
    if (length >= sizeof number || !options_number(number, &level) || !(level >= 0.0 && level <= 1e9))
        return tool_usage(tool, "--emphasis %s: a number from 0 to 1e9, and perhaps a channel: L[:CHANNEL]",
                          text);
    emphasis->level = level == 0.0 ? TVLM_ZERO : (float)level;
    if (colon == NULL) return TOOL_DONE;
    emphasis->channel = tvlm_channel_find(colon + 1);
    if (emphasis->channel < 0)
        return tool_usage(tool, "--emphasis %s: there is no channel '%s'", text, colon + 1);
    if (emphasis->channel == 0)
        return tool_usage(tool, "--emphasis %s: r is no measure of what matters", text);
    return TOOL_DONE;
}

int budget_check_strategy(struct tool *tool, tvlm_strategy strategy, bool asked,
                          const budget_options *options) {
    const strategy_option given[] = {
        {"--share", "share", options->share.given},
        {"--tolerance", "tolerance", options->tolerance.given},
        {"--emphasis", "emphasis", options->emphasis != NULL},
    };
    return strategies_check(tool, strategy, asked, given, sizeof given / sizeof *given);
}

int budget_check(struct tool *tool, const budget_options *options, const budget_beside *beside,
                 budget_emphasis *emphasis) {
    const char *const matters = beside->matters;
    *emphasis = (budget_emphasis){0.0f, 0};
    if (beside->counted + options->share.given + options->tolerance.given > 1)
        return tool_usage(tool, "%s, --share and --tolerance exclude each other", beside->count);
    const int code = options->emphasis != NULL ? read_emphasis(tool, options->emphasis, emphasis) : TOOL_DONE;
    if (code != TOOL_DONE || emphasis->channel == 0 || matters == NULL) return code;
    if (emphasis->channel == TVLM_CHANNEL_QUERY_SIMILARITY && strcmp(matters, "query") == 0) return TOOL_DONE;
    return tool_usage(tool, "--emphasis %s and --%s exclude each other: both say what matters",
                      options->emphasis, matters);
}

void budget_params(const budget_options *options, const budget_emphasis *emphasis,
                   struct tvlm_select_params *params) {
    params->budget.share = options->share.value;
    if (options->tolerance.given)
        params->budget.tolerance = options->tolerance.word != 0       ? TVLM_TOLERANCE_READABLE
                                   : options->tolerance.value == 0.0f ? TVLM_ZERO
                                                                      : options->tolerance.value;
    params->budget.emphasis = emphasis->level;
    params->budget.emphasis_channel = emphasis->channel;
}

/* ---- JSON ---- */

static void write_duplicates(json_writer *json, const tvlm_selection *selection) {
    int32_t count;
    const tvlm_duplicate *const duplicates = tvlm_selection_duplicates(selection, &count);
    if (count == 0) return;
    json_open_array(json, "duplicates", false);
    for (int32_t i = 0; i < count; ++i) {
        json_open_array(json, NULL, true);
        json_integer(json, NULL, duplicates[i].column);
        json_integer(json, NULL, duplicates[i].row);
        json_integer(json, NULL, duplicates[i].of_column);
        json_integer(json, NULL, duplicates[i].of_row);
        json_close(json);
    }
    json_close(json);
}

static void write_thumbnail(json_writer *json, const tvlm_selection *selection,
                            const tvlm_selection_info *info) {
    int32_t count;
    const tvlm_cell *const empty = tvlm_selection_empty(selection, &count);
    if (info->thumbnail_columns == 0) return;
    json_open_array(json, "thumbnail", true);
    json_integer(json, NULL, info->thumbnail_columns);
    json_integer(json, NULL, info->thumbnail_rows);
    json_close(json);
    if (count == 0) return;
    json_open_array(json, "empty", false);
    for (int32_t i = 0; i < count; ++i) {
        json_open_array(json, NULL, true);
        json_integer(json, NULL, empty[i].column);
        json_integer(json, NULL, empty[i].row);
        json_close(json);
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
