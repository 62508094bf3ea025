/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_devices.c PHOTO...: finds where to look in each of many photos, on all devices of the machine. Photos
 * are read here while devices work. The pool holds only a few, so that memory does not grow with the number
 * of photos. If a photo cannot be read, or its device fails, a line says so, and the others go on.
 */
#include <stdio.h>
#include <stdlib.h>

#include <texturevlm/io.h>
#include <texturevlm/texturevlm.h>

struct photo {
    const char *path;
    tvlm_image *image;
    tvlm_selection *selection;
};

/* Runs in a thread of the pool, with a device for itself. */
static tvlm_status look(void *user, const tvlm_pool_place *place) {
    struct photo *photo = user;
    tvlm_stack *stack = NULL;
    tvlm_status status = tvlm_stack_create_for_image(place->device, photo->image, NULL, &stack);
    if (status == TVLM_OK)
        status = tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 8),
                             &photo->selection);
    tvlm_stack_destroy(&stack);
    return status;
}

/* Runs in this program's own thread, for one photo after the other, in the order of the command line. */
static void print_best(void *user, const tvlm_job_result *result) {
    struct photo *photo = user;
    const tvlm_position *best = tvlm_selection_positions(photo->selection, NULL);
    if (result->status == TVLM_OK)
        printf("%s: %g %g\n", photo->path, best->x, best->y);
    else
        printf("%s: %s\n", photo->path, result->message);
    tvlm_selection_destroy(&photo->selection);
    tvlm_image_destroy(&photo->image);
    free(photo);
}

int main(int argc, char **argv) {
    const struct tvlm_device_params open = {.fallback = true, .log = tvlm_log_stderr()};
    tvlm_pool *pool = NULL;
    if (argc < 2 || tvlm_pool_create(tvlm_pool_params(.open = &open), &pool) != TVLM_OK) return 1;
    for (int i = 1; i < argc; ++i) {
        struct photo *photo = calloc(1, sizeof *photo);
        if (photo == NULL) return 1;
        photo->path = argv[i];
        if (tvlm_image_load(argv[i], open.log, &photo->image) != TVLM_OK) {
            free(photo);
            continue;
        }
        /* Waits while the pool has enough to do. */
        if (tvlm_pool_submit(pool, tvlm_job(.run = look, .done = print_best, .user = photo)) != TVLM_OK)
            return 1;
    }
    const tvlm_status status = tvlm_pool_finish(pool);
    tvlm_pool_destroy(&pool);
    return status == TVLM_OK ? 0 : 1;
}
