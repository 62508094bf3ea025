/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spare.c: memory of textures that is kept for the next ones (tvlm_device_params.keep_memory): it is asked for, no result
 * depends on it, it is never more than what was once in use, and it gives way where the driver has no more.
 */
#include <CL/cl.h>

#include "layer_helper.h"
#include "opencl/backend.h"
#include "stack/inside.h"
#include "stack_helper.h"

/* BUFFERS: at most so many memory objects of a stack are no textures, such as the pixels that are uploaded. */
enum { SIZES = 6, CELLS_MAX = 256, BUFFERS = 3 };
static const int32_t sizes[SIZES][2] = {{200, 120}, {96, 64}, {210, 130}, {33, 190}, {240, 240}, {200, 120}};

static const layer_control *layer;

static tvlm_device *opened(tvlm_storage storage, bool keep) {
    tvlm_device *device = NULL;
    if (tvlm_device_open(tvlm_device_params(.storage = storage, .keep_memory = keep, .log = &test_log),
                         &device) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return device;
}

static const opencl_spares *spares_of(const tvlm_device *device) {
    return &((const opencl_device *)device)->spares;
}

/* Makes a stack of a size, and its scores; returns how much memory was asked of the driver. */
static long scored(tvlm_device *device, const int32_t size[2], uint64_t seed, float *scores) {
    const layer_commands before = layer->commands();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, size[0], size[1], seed);
    const size_t cells = (size_t)((size[0] + 15) / 16) * (size_t)((size[1] + 15) / 16);
    if (tvlm_score(stack, NULL, NULL, cells, scores) != TVLM_OK) fail_msg("%s", test_last_log());
    tvlm_stack_destroy(&stack);
    return commands_after(layer, before).memory;
}

/* Stacks of several sizes after each other give the same scores, and all that is held stays below its peak. */
static void check_storage(tvlm_storage storage) {
    static float got[CELLS_MAX], expected[CELLS_MAX];
    tvlm_device *plain = opened(storage, false), *keeping = opened(storage, true);
    for (int i = 0; i < SIZES; ++i) {
        const int32_t cells = (sizes[i][0] + 15) / 16 * ((sizes[i][1] + 15) / 16);
        (void)scored(plain, sizes[i], (uint64_t)i, expected);
        (void)scored(keeping, sizes[i], (uint64_t)i, got);
        assert_memory_equal(got, expected, (size_t)cells * sizeof *got);
        assert_true(keeping->held + spares_of(keeping)->bytes <= keeping->held_most);
        assert_true(spares_of(keeping)->count > 0);
        assert_int_equal(spares_of(plain)->count, 0);
    }
    const long again = scored(plain, sizes[SIZES - 1], 9, expected),
               kept = scored(keeping, sizes[SIZES - 1], 9, got);
    printf("    %s: a stack asks the driver %ld times for memory, and %ld times where it is kept\n",
           tvlm_storage_name(storage), again, kept);
    assert_true(again > kept && kept <= BUFFERS);
    tvlm_device_destroy(&plain);
    tvlm_device_destroy(&keeping);
}

static void test_storages(void **state) {
    (void)state;
    check_storage(TVLM_STORAGE_BUFFER);
    tvlm_device *device = opened(TVLM_STORAGE_AUTO, false);
    const bool images = device->info.images;
    tvlm_device_destroy(&device);
    if (images) check_storage(TVLM_STORAGE_IMAGE);
}

/* Buffers serve smaller ones, too. */
static void test_smaller(void **state) {
    static float scores[CELLS_MAX];
    (void)state;
    tvlm_device *device = opened(TVLM_STORAGE_BUFFER, true);
    assert_true(scored(device, sizes[0], 1, scores) > BUFFERS);
    assert_true(scored(device, sizes[0], 2, scores) <= BUFFERS);
    assert_true(scored(device, sizes[1], 3, scores) <= BUFFERS);
    assert_true(scored(device, sizes[0], 4, scores) <= BUFFERS);
    tvlm_device_destroy(&device);
}

/* Where the driver has no more for a texture, spare memory goes, and the work is done. */
static void test_full(void **state) {
    static float scores[CELLS_MAX];
    int recovered = 0;
    (void)state;
    for (int n = 1; n <= 4; ++n) {
        tvlm_device *device = opened(TVLM_STORAGE_BUFFER, true);
        (void)scored(device, sizes[1], 1, scores);
        assert_true(spares_of(device)->count > 0);
        device->held_most = 64 << 20; /* room for both */
        tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, sizes[4][0], sizes[4][1], 1);
        layer->let_fail_only(n, 0, "clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
        const tvlm_status status = tvlm_score(stack, NULL, NULL, 15 * 15, scores);
        if (layer->failed() == 1 && status == TVLM_OK) ++recovered;
        if (layer->failed() == 1) assert_true(status == TVLM_OK || status == TVLM_ERROR_DEVICE_MEMORY);
        layer->let_fail(0, 0);
        tvlm_stack_destroy(&stack);
        tvlm_device_destroy(&device);
    }
    assert_true(recovered > 0);
}

/* Buffers that are no textures, which levels and regions need, leave no more kept than was once in use, either. */
static void test_scratch(void **state) {
    (void)state;
    tvlm_device *device = opened(TVLM_STORAGE_BUFFER, true);
    uint64_t seed = 1;
    uint8_t *pixels = test_random_pixels(&seed, 600, 600, 3);
    const tvlm_image image = u8_image(pixels, 600, 600, 3);
    static const char *const layouts[] = {"edge_x,laplacian,edges", "cluster_id", "distance,text"};
    for (int i = 0; i < 3; ++i) {
        tvlm_stack *stack = NULL;
        if (tvlm_stack_create(device, tvlm_stack_params(.layout = layouts[i], .width = 600, .height = 600),
                              &stack) != TVLM_OK)
            fail_msg("%s", test_last_log());
        assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
        assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
        assert_true(device->held + spares_of(device)->bytes <= device->held_most);
        tvlm_stack_destroy(&stack);
    }
    free(pixels);
    tvlm_device_destroy(&device);
}

/* The application may have a texture still: its memory is nobody else's. */
static void test_handed_out(void **state) {
    static float scores[CELLS_MAX];
    void *handles[2];
    (void)state;
    tvlm_device *device = opened(TVLM_STORAGE_BUFFER, true);
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, sizes[0][0], sizes[0][1], 1);
    assert_int_equal(tvlm_score(stack, NULL, NULL, 13 * 8, scores), TVLM_OK);
    tvlm_texture *const source = stack->chunks[0].grids[TVLM_GRID_SOURCE];
    assert_int_equal(device->backend->texture_native(device, source, handles), TVLM_OK);
    tvlm_stack_destroy(&stack);
    assert_true(spares_of(device)->count > 0);
    for (int i = 0; i < spares_of(device)->count; ++i)
        assert_ptr_not_equal(spares_of(device)->all[i].memory, handles[0]);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storages), cmocka_unit_test(test_smaller),    cmocka_unit_test(test_full),
        cmocka_unit_test(test_scratch),  cmocka_unit_test(test_handed_out),
    };
    tvlm_device_info infos[8];
    int32_t count = 0;
    layer = use_layer();
    if (layer == NULL || tvlm_device_list(8, infos, &count) != TVLM_OK) return 77;
    if (count < 2) {
        printf("SKIPPED: no OpenCL device\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
