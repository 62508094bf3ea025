/* SPDX-License-Identifier: Apache-2.0 */
/* test_device_context.c: a device in an application's own context. */
#include "device_helper.h"

#include <time.h>

#include "opencl/backend.h"
#include "texturevlm/opencl.h"

static cl_uint references(cl_context context, cl_command_queue queue) {
    cl_uint of_context = 0, of_queue = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof of_context, &of_context, NULL);
    clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof of_queue, &of_queue, NULL);
    return 1000 * of_queue + of_context;
}

/* Drivers may let go of what is released in a thread of their own: within a second. */
static void check_references(cl_context context, cl_command_queue queue, cl_uint expected) {
    const struct timespec pause = {0, 10000000};
    for (int i = 0; i < 100 && references(context, queue) != expected; ++i) nanosleep(&pause, NULL);
    assert_int_equal(references(context, queue), expected);
}

static void check_not_taken(cl_context context, cl_device_id id, cl_command_queue queue) {
    lines l = {0};
    const tvlm_log log = {count_line, &l};
    tvlm_device *device = NULL;
    assert_int_equal(tvlm_device_open_opencl(context, id, queue, tvlm_device_params(.log = &log), &device),
                     TVLM_ERROR_ARGUMENT);
    assert_null(device);
    assert_int_equal(l.errors, 1);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* clCreateCommandQueue: every driver has it */
static void application_context(const test_target *target) {
    const cl_device_id id = ((opencl_device *)target->device)->id;
    cl_int error = CL_SUCCESS;
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    cl_context other = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    const cl_uint before = references(context, queue);

    tvlm_device *device = NULL;
    if (tvlm_device_open_opencl(context, id, queue, tvlm_device_params(.log = &test_log, .name = "not read"),
                                &device) != TVLM_OK)
        fail_msg("in an application's context: %s", test_last_log());
    assert_int_equal(test_device_info(device)->index, -1);
    assert_true(references(context, queue) > before);
    check_luma(device, 1.0);
    tvlm_device_destroy(&device);
    check_references(context, queue, before);
    assert_int_equal(tvlm_device_open_opencl(context, id, queue, NULL, &device), TVLM_OK);
    tvlm_device_destroy(&device);

    check_not_taken(NULL, id, queue);
    check_not_taken(context, NULL, queue);
    check_not_taken(context, id, NULL);
    check_not_taken(other, id, queue);
    cl_command_queue disorderly =
        clCreateCommandQueue(context, id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    if (error == CL_SUCCESS) {
        check_not_taken(context, id, disorderly);
        clReleaseCommandQueue(disorderly);
    } else {
        printf("    has no queues that run out of order\n");
    }
    assert_int_equal(tvlm_device_open_opencl(context, id, queue, NULL, NULL), TVLM_ERROR_ARGUMENT);
    check_references(context, queue, before);
    clReleaseCommandQueue(queue);
    clReleaseContext(other);
    clReleaseContext(context);
}
#pragma GCC diagnostic pop

ONCE_PER_DEVICE(application_context)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
