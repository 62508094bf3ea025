/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_plane.c PHOTO: hands in a channel of the application's own, chooses with a scorer that reads it, and
 * cuts out patches of what it chose. The plane says how much the application cares for each place: more on
 * the right than on the left.
 */
#include <stdio.h>
#include <stdlib.h>

#include <texturevlm/io.h>
#include <texturevlm/texturevlm.h>

enum { K = 8 };

int main(int argc, char **argv) {
    static const float care[2] = {0.0f, 1.0f}; /* a grid of 2 x 1 over the image; it is read bilinearly */
    const tvlm_log *log = tvlm_log_stderr();
    tvlm_image *image = NULL;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    int32_t channels[2] = {0, TVLM_CHANNEL_EDGES}, count = 0;
    float values[2 * K];
    size_t bytes = 0;
    if (argc < 2 || tvlm_image_load(argv[1], log, &image) != TVLM_OK ||
        tvlm_device_open(tvlm_device_params(.log = log), &device) != TVLM_OK ||
        tvlm_stack_create_for_image(device, image, NULL, &stack) != TVLM_OK ||
        tvlm_stack_set_user(stack, 0, "care", 0.0f, 1.0f, TVLM_MEAN,
                            tvlm_grid_input(.data = care, .columns = 2, .rows = 1), &channels[0]) != TVLM_OK)
        return 1;

    /* score = care + 0.5 edges, each read over the whole cell */
    const float weights[2] = {1.0f, 0.5f};
    const tvlm_scorer scorer = {.channel_count = 2, .channels = channels, .taps = 1, .weights = weights};
    if (tvlm_select(stack, NULL,
                    tvlm_select_params(.k = K, .strategy = TVLM_STRATEGY_GRID, .score = {.scorer = &scorer}),
                    &selection) != TVLM_OK)
        return 1;
    const tvlm_position *p = tvlm_selection_positions(selection, &count);

    /* The two channels at the positions. At level 4 a cell of 16 pixels is one texel. */
    tvlm_sample_point points[K] = {{0}};
    for (int32_t i = 0; i < count; ++i)
        points[i] = (tvlm_sample_point){.x = p[i].x, .y = p[i].y, .level = 4.0f};
    if (tvlm_stack_sample(stack, points, count, channels, 2, values) != TVLM_OK) return 1;
    for (int32_t i = 0; i < count; ++i)
        printf("%g %g  care %.3f  edges %.3f\n", p[i].x, p[i].y, values[2 * i], values[2 * i + 1]);

    /* Their patches: [count][r, g, b][16][16], ready for an encoder. */
    if (tvlm_patches_size(NULL, count, &bytes) != TVLM_OK) return 1;
    float *patches = malloc(bytes);
    if (patches == NULL || tvlm_patches_extract(stack, p, count, NULL, bytes, patches) != TVLM_OK) return 1;
    printf("%zu bytes of patches\n", bytes);
    free(patches);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    tvlm_image_destroy(&image);
    return 0;
}
