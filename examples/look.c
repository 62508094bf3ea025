/* look.c: the ten positions of a picture that matter most. */
#include <stdio.h>
#include <texturevlm/io.h>
#include <texturevlm/texturevlm.h>

int main(int argc, char **argv) {
    tvlm_image *image = NULL;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    tvlm_status status = tvlm_image_load(argc > 1 ? argv[1] : "photo.jpg", NULL, &image);
    if (status == TVLM_OK) status = tvlm_device_open(NULL, &device); /* the first GPU, else the CPU */
    if (status == TVLM_OK) status = tvlm_stack_create_for_image(device, image, NULL, &stack);
    if (status == TVLM_OK) status = tvlm_select(stack, NULL, tvlm_select_params(.k = 10), &selection);
    const tvlm_position *p = status == TVLM_OK ? tvlm_selection_positions(selection, &count) : NULL;
    for (int32_t i = 0; i < count; ++i) printf("%g %g  level %g  score %.3f\n", p[i].x, p[i].y, p[i].level, p[i].score);
    if (status != TVLM_OK) fprintf(stderr, "%s\n", tvlm_status_string(status));
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    tvlm_image_destroy(&image);
    return status == TVLM_OK ? 0 : 1;
}
