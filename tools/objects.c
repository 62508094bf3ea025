/* SPDX-License-Identifier: Apache-2.0 */
#include "objects.h"

#include <stdlib.h>

/* The part of a mask that the stack shows. */
typedef struct part {
    int32_t left, top, width, height;
} part;

static int set_mask(struct tool *tool, const uint8_t *mask, int32_t row, const part *of, tvlm_stack *stack,
                    int32_t index) {
    const size_t width = (size_t)of->width, height = (size_t)of->height;
    float *const values = malloc(width * height * sizeof *values);
    if (values == NULL) return tool_fail(tool, "no memory for a mask");
    for (size_t y = 0; y < height; ++y) {
        const uint8_t *const from = mask + ((size_t)of->top + y) * (size_t)row + (size_t)of->left;
        for (size_t x = 0; x < width; ++x) values[y * width + x] = from[x] == TRUTH_OBJECT ? 1.0f : 0.0f;
    }
    const struct tvlm_grid_input input = {.data = values, .columns = of->width, .rows = of->height};
    const int code = tool_status(tool, tvlm_stack_set_grid(stack, index, TVLM_CHANNEL_SALIENCY, &input));
    free(values);
    return code;
}

int objects_set(struct tool *tool, const truth *objects, const char *image, int32_t width, int32_t height,
                bool middle, tvlm_stack *stack, int32_t index) {
    const int32_t side = width < height ? width : height;
    const part all = {0, 0, width, height}, square = {(width - side) / 2, (height - side) / 2, side, side};
    uint8_t *const mask = malloc((size_t)width * (size_t)height);
    if (mask == NULL) return tool_fail(tool, "no memory for a mask");
    int code = truth_mask(tool, objects, image, width, height, mask);
    if (code == TOOL_DONE) code = set_mask(tool, mask, width, middle ? &square : &all, stack, index);
    free(mask);
    return code;
}
