/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interop_sharing.c: frames in memory that is shared with OpenGL or Vulkan (layer/sharing.c): acquired
 * before kernels read it and released after them, whatever happens; refused where the extension is missing.
 */
#include <threads.h>
#include <time.h>

#include "frames_helper.h"
#include "layer_helper.h"

static const layer_control *layer;

/* What the driver was asked to do, in order: 'a' and 'r' (acquire, release) of the first memory, 'A' and 'R' of
 * another one, 'k' a kernel. */
static struct {
    const char *acquire, *release;
    cl_mem first;
    char log[64];
    size_t used;
} heard;

static void note(char what) {
    if (heard.used < sizeof heard.log - 1) heard.log[heard.used++] = what;
    heard.log[heard.used] = '\0';
}

static void hear(const char *name, const void *handle) {
    const bool first = handle == (const void *)heard.first;
    if (strcmp(name, "clEnqueueNDRangeKernel") == 0) note('k');
    if (strcmp(name, heard.acquire) == 0) note(first ? 'a' : 'A');
    if (strcmp(name, heard.release) == 0) note(first ? 'r' : 'R');
}

static void begin_log(const tvlm_opencl_frame *frame, const char *acquire, const char *release) {
    heard.acquire = acquire;
    heard.release = release;
    heard.first = frame->memory;
    heard.used = 0;
    heard.log[0] = '\0';
    layer->listen(hear);
}

static cl_uint references(cl_mem memory) {
    cl_uint count = 0;
    clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL);
    return count;
}

/* A driver that fails to acquire, and one that has not its functions. */
static void check_refused_by_driver(tvlm_stack *stack, tvlm_opencl_frame frame, const char *acquire) {
    layer->let_fail_only(1, 1, acquire, CL_INVALID_OPERATION);
    refused(stack, frame, TVLM_ERROR_DEVICE, acquire);
    layer->let_fail_only(1, 1, "clGetExtensionFunctionAddressForPlatform", CL_INVALID_OPERATION);
    refused(stack, frame, TVLM_ERROR_UNSUPPORTED, "the driver has no clEnqueueAcquire");
    layer->let_fail(0, 0);
}

/* Acquired before the kernels that read it, and released after them, in all ways in which it can end. */
static void check_shared(const application *app, tvlm_stack *stack, tvlm_opencl_frame frame,
                         const char *acquire, const char *release) {
    const bool apart = frame.chroma != NULL;
    begin_log(&frame, acquire, release);
    check(tvlm_stack_set_frame_opencl(stack, 0, &frame));
    assert_string_equal(heard.log, apart ? "aAkkRr" : frame.nv12 ? "akkr" : "akr");
    begin_log(&frame, acquire, release);
    check(tvlm_stack_update_frame_opencl(stack, 0, &frame, tvlm_update_params(.tile = 16), NULL));
    assert_int_equal(heard.log[0], 'a');
    assert_int_equal(heard.log[heard.used - 1], 'r');
    assert_non_null(strchr(heard.log, 'k'));

    clFinish(app->queue);
    const cl_uint before = references(frame.memory); /* the application's, and some drivers' kernels' */

    /* What is refused after it was acquired is released; what cannot be acquired is not. */
    tvlm_opencl_frame wrong = frame;
    wrong.offset = SIZE_MAX / 2;
    begin_log(&frame, acquire, release);
    assert_int_equal(tvlm_stack_set_frame_opencl(stack, 0, &wrong), TVLM_ERROR_ARGUMENT);
    assert_string_equal(heard.log, apart ? "aARr" : "ar");
    begin_log(&frame, acquire, release);
    check_refused_by_driver(stack, frame, acquire);
    assert_null(strchr(heard.log, 'r'));
    clFinish(app->queue);
    /* Drivers may let go of what is released in a thread of their own. */
    for (int i = 0; i < 100 && references(frame.memory) > before; ++i)
        thrd_sleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_true(references(frame.memory) <= before);
}

static void sharing(const test_target *target) {
    static const unsigned char bytes[WIDTH * (HEIGHT + 1) * 3] = {1, 2, 3};
    application app = start_on(target);
    tvlm_stack *stack = open_stack(&app);
    cl_mem memory = make_buffer(&app, bytes, sizeof bytes), other = make_buffer(&app, bytes, sizeof bytes);
    tvlm_opencl_frame frame = {.memory = memory, .image = {.width = WIDTH, .height = HEIGHT, .channels = 3}};
    poison(stack);
    frame.sharing = TVLM_OPENCL_GL;
    if (!has_extension(&app, "cl_khr_gl_sharing"))
        refused(stack, frame, TVLM_ERROR_UNSUPPORTED, "has no cl_khr_gl_sharing, which shared memory needs");
    frame.sharing = TVLM_OPENCL_EXTERNAL;
    if (!has_extension(&app, "cl_khr_external_memory"))
        refused(stack, frame, TVLM_ERROR_UNSUPPORTED, "has no cl_khr_external_memory");
    layer->share(1);
    check_shared(&app, stack, frame, "clEnqueueAcquireExternalMemObjectsKHR",
                 "clEnqueueReleaseExternalMemObjectsKHR");
    frame.sharing = TVLM_OPENCL_GL;
    check_shared(&app, stack, frame, "clEnqueueAcquireGLObjects", "clEnqueueReleaseGLObjects");
    frame.nv12 = true;
    check_shared(&app, stack, frame, "clEnqueueAcquireGLObjects", "clEnqueueReleaseGLObjects");
    frame.chroma = other;
    check_shared(&app, stack, frame, "clEnqueueAcquireGLObjects", "clEnqueueReleaseGLObjects");
    layer->share(0);
    clReleaseMemObject(memory);
    clReleaseMemObject(other);
    tvlm_stack_destroy(&stack);
    stop(&app);
}
ON_EACH_DEVICE(sharing)

/* A device that is lost while memory is looked at and acquired says so, and not that it has no such memory. */
static void lost(const test_target *target) {
    enum { CALLS = 14 };
    static const unsigned char texels[WIDTH * HEIGHT * 4] = {1, 2, 3};
    layer->share(1);
    for (int n = 1; n <= CALLS; ++n) {
        application app = start_on(target);
        tvlm_stack *stack = open_stack(&app);
        tvlm_opencl_frame frame = {.sharing = TVLM_OPENCL_GL,
                                   .image = {.width = WIDTH, .height = HEIGHT, .channels = 4}};
        frame.memory = make_image(&app, CL_RGBA, CL_UNORM_INT8, WIDTH, HEIGHT, texels);
        if (frame.memory == NULL) frame.memory = make_buffer(&app, texels, sizeof texels);
        layer->let_fail(n, 1);
        const tvlm_status status = tvlm_stack_set_frame_opencl(stack, 0, &frame);
        layer->let_fail(0, 0);
        if (status != TVLM_ERROR_LOST)
            fail_msg("from call %d on: status %d: %s", n, (int)status, test_last_log());
        clReleaseMemObject(frame.memory);
        tvlm_stack_destroy(&stack);
        stop(&app);
    }
    layer->share(0);
}
ON_EACH_DEVICE(lost)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sharing), cmocka_unit_test(test_lost)};
    layer = use_layer();
    if (layer == NULL) return 77;
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
