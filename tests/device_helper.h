/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_helper.h: what the tests of devices share: opening one, folders, and one pixel that
 * shows which kernels are at work.
 */
#ifndef TVLM_TESTS_DEVICE_HELPER_H
#define TVLM_TESTS_DEVICE_HELPER_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_helper.h"
#include "support_stage.h"

/* ---- Folders ---- */

static inline void make_folder(char path[64]) {
    snprintf(path, 64, "/tmp/tvlm-test-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline void join(char path[512], const char *folder, const char *name) {
    assert_true(snprintf(path, 512, "%s/%s", folder, name) < 512);
}

static inline void remove_folder(const char *path) {
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char inner[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        join(inner, path, entry->d_name);
        if (unlink(inner) != 0) remove_folder(inner);
    }
    closedir(folder);
    rmdir(path);
}

/* Reads the whole of a file, and puts a 0 behind it. The caller frees it. */
static inline char *read_file(const char *path, size_t *size) {
    struct stat about = {0};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fstat(fileno(stream), &about) != 0) fail_msg("cannot read %s", path);
    char *text = calloc((size_t)about.st_size + 1, 1);
    assert_non_null(text);
    *size = fread(text, 1, (size_t)about.st_size, stream);
    fclose(stream);
    return text;
}

static inline void write_file(const char *path, const char *bytes, size_t size) {
    FILE *stream = fopen(path, "wb");
    if (stream == NULL) fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static inline void copy_file(const char *from, const char *to) {
    size_t size;
    char *bytes = read_file(from, &size);
    write_file(to, bytes, size);
    free(bytes);
}

/* ---- Opening ---- */

/* Returns the index of the device under test, as tvlm_device_params takes it. */
static inline const char *name_of(const test_target *target) {
    static char name[16];
    snprintf(name, sizeof name, "%d", (int)target->device->info.index);
    return name;
}

static inline tvlm_device *open_with(const struct tvlm_device_params *params) {
    struct tvlm_device_params with_log = *params;
    tvlm_device *device = NULL;
    with_log.log = &test_log;
    const tvlm_status status = tvlm_device_open(&with_log, &device);
    if (status != TVLM_OK)
        fail_msg("device %s: status %d: %s", params->name != NULL ? params->name : "by default", (int)status,
                 test_last_log());
    return device;
}

/* Checks that opening fails with that status and exactly one error line, which holds all of `parts`. */
static inline void check_refused(const struct tvlm_device_params *params, tvlm_status expected,
                                 const char *const *parts) {
    lines l = {0};
    const tvlm_log log = {count_line, &l};
    struct tvlm_device_params with_log = *params;
    tvlm_device *device = NULL;
    with_log.log = &log;
    const tvlm_status status = tvlm_device_open(&with_log, &device);
    if (status != expected || device != NULL || l.errors != 1)
        fail_msg("status %d instead of %d, %d error lines: %s", (int)status, (int)expected, l.errors, l.last);
    for (; *parts != NULL; ++parts)
        if (strstr(l.last, *parts) == NULL) fail_msg("'%s' is not in: %s", *parts, l.last);
}

/* Reads the luma of a white pixel, which shows which kernels are at work. */
static inline tvlm_status white_luma(tvlm_device *device, float *luma) {
    const tvlm_texture shape = test_shape((test_size){1, 1}, 1, 1, TVLM_FORMAT_F32);
    const tvlm_pixels layout = {1, 1, 1, TVLM_PIXEL_U8, 0, 1};
    const uint8_t white = 255;
    float rgba[4] = {0};
    tvlm_texture *texture = test_texture(device, &shape);
    tvlm_buffer *buffer = test_buffer(device, 1, &white);
    tvlm_status status = device->backend->source(device, buffer, &layout, 0, texture);
    if (status == TVLM_OK) status = device->backend->texture_read(device, texture, 0, 0, rgba);
    device->backend->buffer_destroy(device, &buffer);
    device->backend->texture_destroy(device, &texture);
    *luma = rgba[3];
    return status;
}

static inline void check_luma(tvlm_device *device, double expected) {
    float luma;
    if (white_luma(device, &luma) != TVLM_OK) fail_msg("source: %s", test_last_log());
    if (!((double)luma > expected - 1e-5 && (double)luma < expected + 1e-5))
        fail_msg("white has a luma of %g instead of %g", (double)luma, expected);
}

/* ---- Each OpenCL device, once ---- */

typedef void once_check(const test_target *target);

/* Returns whether no target of this OpenCL device was there before. */
static inline bool first_of_device(const test_target *target) {
    static int32_t last = -1;
    if (!test_is_opencl(target->device) || target->device->info.index == last) return false;
    last = target->device->info.index;
    return true;
}

/* Makes a test, test_each_device, of checks that open devices themselves, and therefore run once for each
 * OpenCL device instead of once for each storage and format. */
#define ONCE_PER_DEVICE(...)                                                                                 \
    static void device_once(const test_target *target, tvlm_device *reference) {                             \
        static once_check *const checks[] = {__VA_ARGS__};                                                   \
        (void)reference;                                                                                     \
        if (!first_of_device(target)) return;                                                                \
        for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) checks[i](target);                     \
    }                                                                                                        \
    static void test_each_device(void **state) {                                                             \
        (void)state;                                                                                         \
        test_on_targets(device_once);                                                                        \
    }

/* ---- Kernels that were changed ---- */

/* Makes a copy of cl/ in which `file` begins with `before` and ends with `after`. Returns the number of that
 * file's last line. */
static inline int copy_kernels(const char *folder, const char *file, const char *before, const char *after) {
    char kernels[512];
    join(kernels, test_source_dir, "cl");
    DIR *from = opendir(kernels);
    assert_non_null(from);
    int count = 0;
    for (struct dirent *entry = readdir(from); entry != NULL; entry = readdir(from)) {
        char path[512];
        size_t size;
        if (entry->d_name[0] == '.') continue;
        join(path, kernels, entry->d_name);
        char *text = read_file(path, &size);
        const bool changed = strcmp(entry->d_name, file) == 0;
        const size_t capacity = size + strlen(before) + strlen(after) + 1;
        char *all = malloc(capacity);
        assert_non_null(all);
        snprintf(all, capacity, "%s%s%s", changed ? before : "", text, changed ? after : "");
        for (const char *at = all; changed && *at != '\0'; ++at) count += *at == '\n';
        join(path, folder, entry->d_name);
        write_file(path, all, strlen(all));
        free(all);
        free(text);
    }
    closedir(from);
    return count;
}

/* Makes a luma without red, which is 0.701 for white. */
static const char without_red[] = "#include \"constants.h\"\n#undef TVLM_LUMA_R\n#define TVLM_LUMA_R 0.0f\n";

#endif
