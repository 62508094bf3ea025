#include "select_patches.h"

#include <stdlib.h>

void select_array_release(select_array *array) {
    free(array->data);
    *array = (select_array){0};
}

int select_make_patches(struct tool *tool, tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                        int32_t side, select_array *patches) {
    const struct tvlm_patches_params params = {.side = side};
    size_t bytes;
    if (tvlm_patches_size(&params, count, &bytes) != TVLM_OK)
        return tool_fail(tool, "%d patches of side %d are too many", (int)count, (int)side);
    *patches = (select_array){malloc(bytes > 0 ? bytes : 1), 4, {count, 3, side, side}};
    if (patches->data == NULL) return tool_fail(tool, "no memory for %d patches", (int)count);
    return tool_status(tool, tvlm_patches_extract(stack, positions, count, &params, bytes, patches->data));
}

int select_make_scores(struct tool *tool, tvlm_stack *stack, const struct tvlm_query *query,
                       const struct tvlm_score_params *params, select_array *scores) {
    int32_t columns, rows;
    const int code = tool_status(tool, tvlm_score_size(stack, params, &columns, &rows));
    if (code != TOOL_DONE) return code;
    const size_t count = (size_t)columns * (size_t)rows;
    *scores = (select_array){malloc(count * sizeof *scores->data), 1, {(int64_t)count}};
    if (scores->data == NULL) return tool_fail(tool, "no memory for %zu scores", count);
    return tool_status(tool, tvlm_score(stack, query, params, count, scores->data));
}

int select_make_axes(struct tool *tool, tvlm_stack *stack, const tvlm_selection *selection,
                     tvlm_footprint **axes) {
    tvlm_selection_info info;
    tvlm_stack_info working;
    int32_t count;
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    tvlm_selection_get_info(selection, &info);
    int code = tool_status(tool, tvlm_stack_get_info(stack, &working));
    if (code != TOOL_DONE) return code;
    const float scale_x = (float)info.width / (float)working.width;
    const float scale_y = (float)info.height / (float)working.height;
    const size_t room = count > 0 ? (size_t)count : 1;
    tvlm_sample_point *const points = malloc(room * sizeof *points);
    float *const sizes = malloc(room * sizeof *sizes);
    *axes = malloc(room * sizeof **axes);
    if (points == NULL || sizes == NULL || *axes == NULL) {
        code = tool_fail(tool, "no memory for the axes of %d positions", (int)count);
    } else {
        for (int32_t i = 0; i < count; ++i) {
            points[i] = (tvlm_sample_point){positions[i].x / scale_x, positions[i].y / scale_y, 0.0f, 0};
            sizes[i] = positions[i].size / scale_x;
        }
        code = tool_status(tool, tvlm_stack_structure(stack, points, sizes, count, *axes));
    }
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i) {
        tvlm_footprint *const f = &(*axes)[i];
        f->u[0] *= scale_x, f->v[0] *= scale_x;
        f->u[1] *= scale_y, f->v[1] *= scale_y;
    }
    free(points);
    free(sizes);
    return code;
}
