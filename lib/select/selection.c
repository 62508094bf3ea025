/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selections: how they are made, and the functions that read what they hold.
 */
#include "select/selection.h"

#include "core/check.h"
#include "core/memory.h"

tvlm_status tvlm_selection_make(const tvlm_stack *stack, const struct tvlm_select_params *params,
                                tvlm_selection **selection) {
    const tvlm_original original = tvlm_stack_original(stack, params->score.index);
    *selection = tvlm_allocate(1, sizeof **selection);
    if (*selection == NULL)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for a selection");
    (*selection)->info = (tvlm_selection_info){
        .width = original.width, .height = original.height, .strategy = params->strategy};
    return TVLM_OK;
}

tvlm_status tvlm_selection_reserve(const tvlm_stack *stack, int32_t count, tvlm_selection *selection) {
    selection->count = count;
    selection->positions = tvlm_allocate((size_t)count, sizeof *selection->positions);
    if (selection->positions != NULL) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for %d positions", (int)count);
}

tvlm_status tvlm_selection_fits(const tvlm_stack *stack, int32_t count, const tvlm_buffer *out,
                                size_t offset) {
    const size_t bytes = (size_t)count * sizeof(tvlm_position);
    if (offset <= out->bytes && bytes <= out->bytes - offset) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                     "%d positions are %zu bytes from byte %zu on, but the cl_mem has %zu", (int)count, bytes,
                     offset, out->bytes);
}

void tvlm_selection_take_scores(const struct tvlm_select_params *params, tvlm_scoremap *map,
                                tvlm_selection *selection) {
    if (!params->keep_scores) return;
    selection->scores = map->scores;
    selection->score_columns = map->cells.columns;
    selection->score_rows = map->cells.rows;
    map->scores = NULL;
}

/* ---- texturevlm/select.h ---- */

void tvlm_selection_destroy(tvlm_selection **selection) {
    if (selection == NULL || *selection == NULL) return;
    free((*selection)->positions);
    free((*selection)->scores);
    free((*selection)->duplicates);
    free((*selection)->empty);
    free(*selection);
    *selection = NULL;
}

const tvlm_position *tvlm_selection_positions(const tvlm_selection *selection, int32_t *count) {
    if (count != NULL) *count = selection != NULL ? selection->count : 0;
    return selection != NULL ? selection->positions : NULL;
}

const float *tvlm_selection_scores(const tvlm_selection *selection, int32_t *columns, int32_t *rows) {
    if (columns != NULL) *columns = selection != NULL ? selection->score_columns : 0;
    if (rows != NULL) *rows = selection != NULL ? selection->score_rows : 0;
    return selection != NULL ? selection->scores : NULL;
}

const tvlm_duplicate *tvlm_selection_duplicates(const tvlm_selection *selection, int32_t *count) {
    if (count != NULL) *count = selection != NULL ? selection->duplicate_count : 0;
    return selection != NULL ? selection->duplicates : NULL;
}

const tvlm_cell *tvlm_selection_empty(const tvlm_selection *selection, int32_t *count) {
    if (count != NULL) *count = selection != NULL ? selection->empty_count : 0;
    return selection != NULL ? selection->empty : NULL;
}

tvlm_status tvlm_selection_get_info(const tvlm_selection *selection, tvlm_selection_info *info) {
    TVLM_NEED(NULL, selection);
    TVLM_NEED(NULL, info);
    *info = selection->info;
    return TVLM_OK;
}

tvlm_status tvlm_selection_get_report(const tvlm_selection *selection, tvlm_selection_report *report) {
    TVLM_NEED(NULL, selection);
    TVLM_NEED(NULL, report);
    *report = selection->report;
    return TVLM_OK;
}
