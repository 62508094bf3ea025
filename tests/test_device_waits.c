/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_waits.c: a wait for what is being sent that fails (layer/layer.h).
 */
#include <string.h>

#include "device_helper.h"
#include "layer_helper.h"
#include "opencl/backend.h"

static const layer_control *layer;

/* Small writes are staged, and wait for the write that had their stage before: one of those does not arrive. */
static void failed_wait(const test_target *target, tvlm_device *reference) {
    const uint32_t value = 12345;
    uint32_t got = 0;
    (void)reference;
    if (!first_of_device(target)) return;
    tvlm_device *device = target->device;
    tvlm_buffer *buffer = test_buffer(device, sizeof value, NULL);
    for (int i = 0; i < STAGES; ++i)
        assert_int_equal(device->backend->buffer_write(device, buffer, 0, sizeof value, &value), TVLM_OK);
    layer->let_fail_only(1, 0, "clWaitForEvents", CL_OUT_OF_RESOURCES);
    const tvlm_status status = device->backend->buffer_write(device, buffer, 0, sizeof value, &value);
    assert_int_equal(layer->failed(), 1);
    layer->let_fail(0, 0);
    assert_int_equal(status, TVLM_ERROR_DEVICE_MEMORY);
    if (strstr(test_last_log(), "clWaitForEvents") == NULL) fail_msg("%s", test_last_log());
    /* Here the device is not really lost: it goes on. */
    assert_int_equal(device->backend->buffer_write(device, buffer, 0, sizeof value, &value), TVLM_OK);
    assert_int_equal(device->backend->buffer_read(device, buffer, 0, sizeof got, &got), TVLM_OK);
    assert_int_equal(got, value);
    device->backend->buffer_destroy(device, &buffer);
}

static void test_failed_wait(void **state) {
    (void)state;
    test_on_targets(failed_wait);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failed_wait)};
    layer = use_layer();
    if (layer == NULL) return 77;
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
