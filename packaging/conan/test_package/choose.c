/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c: draws a picture with one busy corner, and chooses where to look in it. */
#include <stdio.h>

#include <texturevlm/io.h>
#include <texturevlm/texturevlm.h>

int main(void) {
    static const int side = 128;
    FILE *file = fopen("drawn.pgm", "wb");
    if (file == NULL) return 1;
    fprintf(file, "P5\n%d %d\n255\n", side, side);
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) fputc(x > 96 && y > 96 ? (x * 37 + y * 91) % 256 : 128, file);
    if (fclose(file) != 0) return 1;
    tvlm_image *image = NULL;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    if (tvlm_image_load("drawn.pgm", tvlm_log_stderr(), &image) != TVLM_OK ||
        tvlm_device_open(tvlm_device_params(.name = "reference", .log = tvlm_log_stderr()), &device) != TVLM_OK ||
        tvlm_stack_create_for_image(device, image, NULL, &stack) != TVLM_OK ||
        tvlm_select(stack, NULL, tvlm_select_params(.k = 8), &selection) != TVLM_OK)
        return 1;
    tvlm_selection_positions(selection, &count);
    printf("%d squares\n", (int)count);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    tvlm_image_destroy(&image);
    return count > 0 ? 0 : 1;
}
