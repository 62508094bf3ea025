/* SPDX-License-Identifier: Apache-2.0 */
#include "select_layout.h"

#include <stdio.h>
#include <string.h>

#include "texturevlm/lab/network.h"

static bool has_name(const char *layout, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = layout; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

int layout_add(struct tool *tool, const char *what, const int32_t *channels, int32_t count, char *layout,
               size_t size) {
    for (int32_t i = 0; i < count; ++i) {
        tvlm_channel_info channel;
        const size_t length = strlen(layout);
        const int code = tool_status(tool, tvlm_channel_get_info(channels[i], &channel));
        if (code != TOOL_DONE) return code;
        if (has_name(layout, channel.name)) continue;
        if (length + strlen(channel.name) + 2 > size)
            return tool_fail(tool, "%s: too many channels are read", what);
        snprintf(layout + length, size - length, "%s%s", length > 0 ? "," : "", channel.name);
    }
    return TOOL_DONE;
}

int32_t scorer_channels(const tvlm_scorer *scorer) {
    return scorer->network != NULL ? scorer->network->input_count : scorer->channel_count;
}

int32_t scorer_channel(const tvlm_scorer *scorer, int32_t i) {
    return scorer->network != NULL ? scorer->network->inputs[i] : scorer->channels[i];
}

/* Whether any output has a number other than 0 for channel i. `weights` has `depth` numbers for each weight.
 * */
static bool any_weight(const tvlm_scorer *scorer, int32_t i, const float *weights, int32_t depth) {
    const size_t taps = (size_t)scorer->taps * (size_t)depth, line = (size_t)scorer->channel_count * taps;
    for (int32_t o = 0; o < scorer->outputs; ++o)
        for (size_t n = 0; n < taps; ++n)
            if (weights[(size_t)o * line + (size_t)i * taps + n] != 0.0f) return true;
    return false;
}

bool scorer_weighs(const tvlm_scorer *scorer, int32_t i) {
    return scorer->network != NULL || any_weight(scorer, i, scorer->weights, 1);
}

static bool is_read(const tvlm_scorer *scorer, int32_t i) {
    if (scorer_weighs(scorer, i)) return true;
    if (scorer->query_weights == NULL) return false;
    if (scorer->query_taps != 0) return any_weight(scorer, i, scorer->query_weights, scorer->dimension);
    for (int32_t d = 0; d < scorer->dimension; ++d)
        if (scorer->query_weights[(size_t)d * (size_t)scorer->channel_count + (size_t)i] != 0.0f) return true;
    return false;
}

int scorer_layout(struct tool *tool, const char *path, const tvlm_scorer *scorer, char *layout, size_t size) {
    const int32_t count = scorer_channels(scorer);
    int32_t used = 0;
    size_t length = 0;
    for (int32_t i = 0; i < count; ++i) used += is_read(scorer, i);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_channel_info channel;
        if (used > 0 && !is_read(scorer, i)) continue;
        const int code = tool_status(tool, tvlm_channel_get_info(scorer_channel(scorer, i), &channel));
        if (code != TOOL_DONE) return code;
        if (length + strlen(channel.name) + 2 > size)
            return tool_fail(tool, "%s: reads too many channels", path);
        length +=
            (size_t)snprintf(layout + length, size - length, "%s%s", length > 0 ? "," : "", channel.name);
    }
    return TOOL_DONE;
}

void parts_layout(const option_triple *weights, bool asked, char *layout, size_t size) {
    const bool information = !weights->given || weights->values[0] != 0.0f;
    const bool perspective = !weights->given || weights->values[1] != 0.0f;
    const bool participation = asked && (!weights->given || weights->values[2] != 0.0f);
    const char *const rest = information && perspective ? "edges,saliency,eccentricity,entropy"
                             : information              ? "edges,entropy"
                             : perspective              ? "saliency,eccentricity"
                             : participation            ? ""
                                                        : "edges,saliency,eccentricity,entropy";
    snprintf(layout, size, "%s%s%s", rest, participation && *rest != '\0' ? "," : "",
             participation ? "query_similarity" : "");
}

int emphasis_layout(struct tool *tool, const struct tvlm_budget_params *budget, bool asked, char *layout,
                    size_t size) {
    const int32_t named = budget->emphasis_channel;
    tvlm_channel_info channel = {.name = "r,g,b"};
    int code = TOOL_DONE;
    if (named != 0 || (budget->emphasis > 0.0f && !asked))
        code = tool_status(tool, tvlm_channel_get_info(named != 0 ? named : TVLM_CHANNEL_SALIENCY, &channel));
    snprintf(layout, size, "%s", named == 0 && asked ? "query_similarity" : channel.name);
    return code;
}
