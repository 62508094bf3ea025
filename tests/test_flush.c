/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_flush.c: work that nobody waits for is sent to the device before the call that enqueued it returns. A
 * driver may keep it until it is asked, and then the device has nothing to do while the host computes. Waiting
 * for the device waits for that work too, which rusticl's clFinish does not (tvlm_opencl_wait).
 */
#include <string.h>

#include "layer_helper.h"
#include "opencl/backend.h"
#include "support_stage.h"

enum { WIDTH = 64, HEIGHT = 48, LARGE = 512 };

static const layer_control *layer;
static bool kept; /* whether something was enqueued since the driver last had to send it */
static int flushes;

static void hear(const char *name, const void *handle) {
    (void)handle;
    if (strncmp(name, "clEnqueue", 9) == 0) kept = true;
    if (strcmp(name, "clFlush") == 0) ++flushes;
    if (strcmp(name, "clFlush") == 0 || strcmp(name, "clFinish") == 0) kept = false;
}

/* Nothing waited, something was enqueued, and all of it was sent, at once. */
static void expect_sent(const char *what, layer_commands before) {
    const layer_commands made = commands_after(layer, before);
    if (made.kernels == 0 || made.waits != 0)
        fail_msg("%s: %ld kernels, %ld waits", what, made.kernels, made.waits);
    if (kept || flushes != 1)
        fail_msg("%s: flushed %d times, and %s", what, flushes, kept ? "not all" : "all");
    flushes = 0;
}

static void check(const test_target *target, tvlm_device *reference) {
    uint64_t random = 3;
    tvlm_stack *stack = NULL;
    tvlm_packed *packed = NULL;
    (void)reference;
    if (!test_is_opencl(target->device)) return;
    uint8_t *pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    assert_int_equal(
        tvlm_stack_create(target->device,
                          tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .format = target->format,
                                            .layout = "r,g,b,edges,entropy,text"),
                          &stack),
        TVLM_OK);
    for (int again = 0; again < 2; ++again) { /* the first one builds kernels, and finds device memory */
        assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
        assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
        tvlm_packed_destroy(&packed);
        assert_int_equal(tvlm_stack_pack(stack, NULL, &packed), TVLM_OK);
    }
    layer->listen(hear);
    flushes = 0;
    layer_commands before = layer->commands();
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    expect_sent("tvlm_stack_set_image", before);
    before = layer->commands();
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    expect_sent("tvlm_stack_make_all", before);
    tvlm_packed_destroy(&packed);
    flushes = 0;
    before = layer->commands();
    assert_int_equal(tvlm_stack_pack(stack, NULL, &packed), TVLM_OK);
    expect_sent("tvlm_stack_pack", before);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK); /* nothing to do, and so nothing to send */
    assert_int_equal(flushes, 0);
    layer->listen(NULL);
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* A marker behind the kernels of a stack is sent, and has been passed when the device is waited for. */
static void check_waits(const test_target *target, tvlm_device *reference) {
    const opencl_device *device = (const opencl_device *)target->device;
    uint64_t random = 4;
    tvlm_stack *stack = NULL;
    cl_event passed = NULL;
    cl_int state = CL_QUEUED;
    (void)reference;
    if (!test_is_opencl(target->device)) return;
    uint8_t *pixels = test_random_pixels(&random, LARGE, LARGE, 3);
    const tvlm_image image = {.pixels = pixels, .width = LARGE, .height = LARGE, .channels = 3};
    assert_int_equal(tvlm_stack_create_for_image(
                         target->device, &image,
                         tvlm_stack_params(.format = target->format, .layout = "saliency"), &stack),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    assert_int_equal(clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &passed), CL_SUCCESS);
    assert_int_equal(clFlush(device->queue), CL_SUCCESS);
    assert_int_equal(target->device->backend->finish(target->device), TVLM_OK);
    assert_int_equal(clGetEventInfo(passed, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL),
                     CL_SUCCESS);
    assert_int_equal(state, CL_COMPLETE);
    clReleaseEvent(passed);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

static void test_waits(void **state) {
    (void)state;
    test_on_targets(check_waits);
}

static void test_sent(void **state) {
    (void)state;
    test_on_targets(check);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sent), cmocka_unit_test(test_waits)};
    layer = use_layer();
    if (layer == NULL) return 77;
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
