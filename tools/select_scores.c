/* SPDX-License-Identifier: Apache-2.0 */
#include "select_scores.h"

int own_scores_read(struct tool *tool, const char *path, const tvlm_stack *stack,
                    const struct tvlm_select_params *params, own_scores *own) {
    struct tvlm_score_params score = params->score;
    int32_t columns = 0, rows = 0;
    if (params->strategy == TVLM_STRATEGY_BUDGET) score.stride = params->patch; /* its tiles of level 0 */
    int code = tool_status(tool, tvlm_score_size(stack, &score, &columns, &rows));
    if (code == TOOL_DONE) code = vectors_read(tool, "--scores", path, &own->file);
    if (code != TOOL_DONE) return code;
    const vector_file *const file = &own->file;
    const bool whole = file->count == rows && file->dimension == columns;
    const bool listed = file->count == 1 && (int64_t)file->dimension == (int64_t)columns * rows;
    own->scores = (struct tvlm_scores){.values = file->values, .columns = columns, .rows = rows};
    if (whole || listed) return TOOL_DONE;
    tool->subject = path; /* the error is about the file */
    return tool_fail(tool,
                     "--scores takes %d x %d numbers, a row for each row of cells; this array has %d x %d",
                     rows, columns, file->count, file->dimension);
}

void own_scores_release(own_scores *own) {
    vectors_release(&own->file);
}
