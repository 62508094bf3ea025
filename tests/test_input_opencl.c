/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_input_opencl.c: grids that are handed in as cl_mem (opencl.h) against the same bytes on the host.
 */
#include <math.h>

#include "input_helper.h"
#include "opencl/backend.h"
#include "texturevlm/opencl.h"

/* What a stack of the device makes of a buffer is what it makes of the same bytes on the host. */
static void check_buffer(tvlm_device *device, tvlm_format format, int32_t channel, int32_t channels,
                         bool half) {
    uint64_t random = 41 + (uint64_t)channel;
    const test_size size = {7, 5};
    grid_bytes grid = random_grid(&random, size, channels, half, false);
    tvlm_stack *host = small_stack(device, format, 1), *own = small_stack(device, format, 1);
    if (channel == TVLM_CHANNEL_OBJECT_ID || channel == TVLM_CHANNEL_VOCAB_ID)
        for (size_t i = 0; !half && i < grid.size / 4; ++i)
            memcpy(grid.bytes + 4 * i, &(float){(float)(i * 7 % 50)}, 4);
    tvlm_buffer *buffer = NULL;
    assert_int_equal(device->backend->buffer_create(device, grid.size, &buffer), TVLM_OK);
    assert_int_equal(device->backend->buffer_write(device, buffer, 0, grid.size, grid.bytes), TVLM_OK);
    const struct tvlm_grid_input input = {.data = grid.bytes + grid.input.offset,
                                          .columns = size.width,
                                          .rows = size.height,
                                          .channels = channels,
                                          .type = half ? TVLM_VALUE_F16 : TVLM_VALUE_F32,
                                          .row_stride = grid.input.row_stride};
    cl_mem memory = ((opencl_buffer *)buffer)->memory;
    assert_int_equal(tvlm_stack_set_grid(host, 0, channel, &input), TVLM_OK);
    if (tvlm_stack_set_grid_opencl(own, 0, channel, &input, memory, grid.input.offset) != TVLM_OK)
        fail_msg("%s", test_last_log());
    for (int32_t level = 0; level < 2; ++level) {
        size_t count;
        float *expected = read_level(host, 0, channel, level, &count),
              *got = read_level(own, 0, channel, level, &count);
        test_compare("a cl_mem", got, expected, count, 2e-3f, 1e-3f);
        free(expected);
        free(got);
    }
    refused(tvlm_stack_set_grid_opencl(own, 0, channel, &input, memory, grid.size - 8), TVLM_ERROR_ARGUMENT,
            "reaches beyond the cl_mem");
    refused(tvlm_stack_set_grid_opencl(own, 0, channel, &input, memory, 1), TVLM_ERROR_ARGUMENT,
            "at offset 1");
    const float nan = NAN;
    if (!half) {
        assert_int_equal(
            device->backend->buffer_write(device, buffer, grid.input.offset + grid.input.row_stride, 4, &nan),
            TVLM_OK);
        char line[64];
        snprintf(line, sizeof line, "value %d (row 1, column 0, channel 0) is not finite",
                 (int)(size.width * channels));
        refused(tvlm_stack_set_grid_opencl(own, 0, channel, &input, memory, grid.input.offset),
                TVLM_ERROR_ARGUMENT, line);
    }
    device->backend->buffer_destroy(device, &buffer);
    tvlm_stack_destroy(&host);
    tvlm_stack_destroy(&own);
    free(grid.bytes);
}

static void buffers(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (!test_is_opencl(target->device)) return;
    check_buffer(target->device, target->format, TVLM_CHANNEL_ATTENTION, 1, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_DEPTH, 1, true);
    check_buffer(target->device, target->format, TVLM_CHANNEL_EMBEDDING_0, 23, true);
    check_buffer(target->device, target->format, TVLM_CHANNEL_FLOW_U, 2, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_NORMAL_Y, 3, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_OBJECT_ID, 1, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_VOCAB_ID, 2, false);
    check_buffer(target->device, target->format, TVLM_CHANNEL_TEXT, 1, false);
}

static void test_buffers(void **state) {
    (void)state;
    test_on_targets(buffers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buffers)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
