/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_helper.h: what the tests of exports share.
 */
#ifndef TVLM_TESTS_EXPORT_HELPER_H
#define TVLM_TESTS_EXPORT_HELPER_H

#include "support_stage.h"

#include "stack_helper.h"

static inline tvlm_export *made(tvlm_device *device, const struct tvlm_export_params *params) {
    tvlm_export *export = NULL;
    if (tvlm_export_create(device, params, &export) != TVLM_OK) fail_msg("%s", test_last_log());
    return export;
}

static inline void run(tvlm_export *export, const tvlm_image *images, int32_t count,
                       const struct tvlm_query *queries) {
    if (tvlm_export_run(export, images, count, NULL, queries) != TVLM_OK) fail_msg("%s", test_last_log());
}

static inline int32_t find(const tvlm_export *export, const char *name, tvlm_export_tensor *tensor) {
    for (int32_t i = 0; i < tvlm_export_tensor_count(export); ++i) {
        assert_int_equal(tvlm_export_get_tensor(export, i, tensor), TVLM_OK);
        if (strcmp(tensor->name, name) == 0) return i;
    }
    fail_msg("there is no tensor %s", name);
    return -1;
}

/* A tensor's content in new memory. */
static inline void *take(tvlm_export *export, const char *name, tvlm_export_tensor *tensor) {
    const int32_t index = find(export, name, tensor);
    void *data = malloc(tensor->bytes);
    assert_non_null(data);
    assert_int_equal(tvlm_export_read(export, index, tensor->bytes, data), TVLM_OK);
    return data;
}

static inline tvlm_image noise(uint64_t seed, int32_t width, int32_t height, int32_t channels) {
    const uint8_t *pixels = test_random_pixels(&seed, width, height, channels);
    return u8_image(pixels, width, height, channels);
}

static inline void drop(const tvlm_image *image) {
    free((void *)(uintptr_t)image->pixels);
}

#endif
