/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question.c PHOTO: asks a photo where it is red. The answer is the best cells of a grid. The budget, which
 * is the default, would spend some positions on a small picture of the whole photo. An encoder's vectors
 * would come from your model. Here the vector of a cell of 16 x 16 pixels is its mean colour, so that the
 * program needs nothing else.
 */
#include <stdio.h>
#include <stdlib.h>

#include <texturevlm/io.h>
#include <texturevlm/texturevlm.h>

/* Returns the mean colour of each cell, [rows][columns][3]. It is level 4 of the image's own channels, where
 * each cell is a texel. The caller frees it. */
static float *colours_of(tvlm_stack *stack, int32_t *columns, int32_t *rows) {
    if (tvlm_stack_channel_size(stack, TVLM_CHANNEL_R, 4, columns, rows) != TVLM_OK) return NULL;
    const size_t cells = (size_t)*columns * (size_t)*rows;
    float *plane = malloc(cells * sizeof *plane), *colours = malloc(3 * cells * sizeof *colours);
    for (int32_t c = 0; plane != NULL && colours != NULL && c < 3; ++c) {
        if (tvlm_stack_read(stack, 0, TVLM_CHANNEL_R + c, 4, cells, plane) != TVLM_OK) break;
        for (size_t i = 0; i < cells; ++i) colours[3 * i + (size_t)c] = plane[i];
    }
    free(plane);
    return colours;
}

int main(int argc, char **argv) {
    static const float red[3] = {1.0f, 0.0f, 0.0f};
    tvlm_image *image = NULL;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    int32_t columns = 0, rows = 0, count = 0;
    const tvlm_log *log = tvlm_log_stderr();
    if (argc < 2 || tvlm_image_load(argv[1], log, &image) != TVLM_OK ||
        tvlm_device_open(tvlm_device_params(.log = log), &device) != TVLM_OK ||
        tvlm_stack_create_for_image(device, image, NULL, &stack) != TVLM_OK)
        return 1;
    float *features = colours_of(stack, &columns, &rows);
    if (features == NULL ||
        tvlm_stack_set_grid(
            stack, 0, TVLM_CHANNEL_FEATURE_0,
            tvlm_grid_input(.data = features, .columns = columns, .rows = rows, .channels = 3)) != TVLM_OK ||
        tvlm_select(stack, tvlm_query(.vectors = red, .dimension = 3),
                    tvlm_select_params(.strategy = TVLM_STRATEGY_GRID), &selection) != TVLM_OK)
        return 1;
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    for (int32_t i = 0; i < count; ++i) printf("%g %g  score %.3f\n", p[i].x, p[i].y, p[i].score);
    free(features);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    tvlm_image_destroy(&image);
    return 0;
}
