/* SPDX-License-Identifier: Apache-2.0 */
/* test_device_kernels.c: kernels from a folder, and the errors of those that do not build. */
#include "device_helper.h"
#include "opencl/backend.h"

static void kernel_folder(const test_target *target) {
    char folder[64];
    make_folder(folder);
    copy_kernels(folder, "source.cl", without_red, "");
    tvlm_device *device = open_with(tvlm_device_params(.name = name_of(target), .kernel_dir = folder));
    check_luma(device, 0.701);
    tvlm_device_destroy(&device);
    const char *before = getenv("TVLM_CL_DIR");
    char *kept = before != NULL ? strdup(before) : NULL;
    setenv("TVLM_CL_DIR", folder, 1);
    device = open_with(tvlm_device_params(.name = name_of(target)));
    check_luma(device, 0.701);
    tvlm_device_destroy(&device);
    if (kept != NULL)
        setenv("TVLM_CL_DIR", kept, 1);
    else
        unsetenv("TVLM_CL_DIR");
    free(kept);
    device = open_with(tvlm_device_params(.name = name_of(target)));
    check_luma(device, 1.0);
    tvlm_device_destroy(&device);
    const char *const parts[] = {"/no/such/folder", "No such file", NULL};
    check_refused(tvlm_device_params(.name = name_of(target), .kernel_dir = "/no/such/folder"), TVLM_ERROR_IO,
                  parts);
    remove_folder(folder);
}

/* The line of a kernel that does not build names the real file and line: in the file itself, and in what it
 * includes. */
static void kernel_errors(const test_target *target) {
    if (strcmp(target->device->info.platform, "Oclgrind") == 0) {
        printf("    Oclgrind does not look at #line: lines of errors not checked\n");
        return;
    }
    static const char wrong[] = "this is not OpenCL C;\n";
    char folder[64], place[64];
    float luma;
    make_folder(folder);
    int line = copy_kernels(folder, "source.cl", "", wrong);
    tvlm_device *device = open_with(tvlm_device_params(.name = name_of(target), .kernel_dir = folder));
    assert_int_equal(white_luma(device, &luma), TVLM_ERROR_DEVICE);
    snprintf(place, sizeof place, "cl/source.cl:%d:", line);
    if (strstr(test_last_log(), place) == NULL) fail_msg("'%s' is not in: %s", place, test_last_log());
    tvlm_device_destroy(&device);
    copy_kernels(folder, "source.cl", "", "");
    line = copy_kernels(folder, "texture.clh", "", wrong);
    snprintf(place, sizeof place, "cl/texture.clh:%d:", line);
    const char *const parts[] = {place, NULL};
    check_refused(tvlm_device_params(.name = name_of(target), .kernel_dir = folder), TVLM_ERROR_DEVICE,
                  parts);
    /* A log of more errors than anybody reads still names the first. */
    copy_kernels(folder, "texture.clh", "", "");
    char many[64 * sizeof wrong] = "";
    for (int i = 0; i < 60; ++i) strcat(many, wrong);
    line = copy_kernels(folder, "source.cl", "", many) - 59;
    device = open_with(tvlm_device_params(.name = name_of(target), .kernel_dir = folder));
    assert_int_equal(white_luma(device, &luma), TVLM_ERROR_DEVICE);
    snprintf(place, sizeof place, "cl/source.cl:%d:", line);
    if (strstr(test_last_log(), place) == NULL) fail_msg("'%s' is not in: %s", place, test_last_log());
    tvlm_device_destroy(&device);
    remove_folder(folder);
}

/* One answer that is no number, among others that are right, fails the self-test. */
static void no_number(const test_target *target) {
    static const char after[] =
        "\n#if STORED_AS == 1 && HALVES == 0\n"
        "#define answer_buffer_f32 get_global_id(0) == 150 ? (float4)(NAN) : answer_buffer_f32\n"
        "#endif\n";
    static const char *const parts[] = {"buffer storage does not pass the self-test", NULL};
    char folder[64];
    make_folder(folder);
    copy_kernels(folder, "self_test.clh", "", after);
    check_refused(
        tvlm_device_params(.name = name_of(target), .kernel_dir = folder, .storage = TVLM_STORAGE_BUFFER),
        TVLM_ERROR_UNSUPPORTED, parts);
    remove_folder(folder);
}

ONCE_PER_DEVICE(kernel_folder, kernel_errors, no_number)

/* NVIDIA's compiler names lines of the whole text. */
static void test_places(void **state) {
    static const char text[] =
        "#line 1 \"cl/a.cl\"\nint x;\n#line 1 \"cl/b.clh\"\n\nint y;\n#line 3 \"cl/a.cl\"\nint z;";
    static const char *const places[] = {":1",         "cl/a.cl:1",  "cl/a.cl:2", "cl/b.clh:1",
                                         "cl/b.clh:2", "cl/b.clh:3", "cl/a.cl:3", "cl/a.cl:4"};
    char place[32];
    (void)state;
    for (long line = 1; line <= 8; ++line) {
        tvlm_opencl_kernel_place(text, line, place, sizeof place);
        assert_string_equal(place, places[line - 1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_device), cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
