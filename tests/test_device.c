/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device.c: opening devices: by index, by part of a device's, platform's or driver's name, storage; and
 * no OpenCL at all (in a child process).
 */
#include "device_helper.h"

#include <CL/cl.h>
#include <ctype.h>
#include <strings.h>
#include <sys/wait.h>

#define NO_PLATFORM_ARGUMENT "--without-any-platform"
#define NO_HOME_ARGUMENT     "--without-a-home"
#define REFERENCE_ARGUMENT   "--reference-alone"

/* ---- Names ---- */

static void test_reference_device(void **state) {
    (void)state;
    int32_t count = 0;
    char last[16];
    assert_int_equal(tvlm_device_list(0, NULL, &count), TVLM_OK);
    assert_true(count >= 1);
    snprintf(last, sizeof last, "%d", (int)count - 1);
    const char *const names[] = {"reference", "REFERENCE", last};
    for (int i = 0; i < 3; ++i) {
        tvlm_device *device = open_with(tvlm_device_params(.name = names[i]));
        const tvlm_device_info *info = test_device_info(device);
        assert_string_equal(info->name, "reference");
        assert_int_equal(info->type, TVLM_DEVICE_REFERENCE);
        assert_string_equal(info->driver, tvlm_version());
        /* By name it is not known which number it has: no driver is asked. */
        assert_int_equal(info->index, i == 2 ? count - 1 : -1);
        assert_int_equal(tvlm_device_finish(device), TVLM_OK);
        tvlm_device_destroy(&device);
        assert_null(device);
        tvlm_device_destroy(&device);
    }
    tvlm_device_destroy(NULL);
}

static void test_environment(void **state) {
    (void)state;
    const char *before = getenv("TVLM_DEVICE");
    char *kept = before != NULL ? strdup(before) : NULL;
    setenv("TVLM_DEVICE", "reference", 1);
    tvlm_device *device = open_with(tvlm_device_params(.name = NULL));
    assert_string_equal(test_device_info(device)->name, "reference");
    tvlm_device_destroy(&device);
    setenv("TVLM_DEVICE", "no such device", 1);
    device = open_with(tvlm_device_params(.name = "reference")); /* what is asked for comes first */
    tvlm_device_destroy(&device);
    if (kept != NULL)
        setenv("TVLM_DEVICE", kept, 1);
    else
        unsetenv("TVLM_DEVICE");
    free(kept);
}

static void test_list(void **state) {
    (void)state;
    int32_t count = 0, again = 0;
    assert_int_equal(tvlm_device_list(0, NULL, &count), TVLM_OK);
    tvlm_device_info *infos = calloc((size_t)count + 1, sizeof *infos);
    assert_non_null(infos);
    infos[count].index = 12345;
    infos[count - 1].index = 54321;
    assert_int_equal(tvlm_device_list(count - 1, infos, &again), TVLM_OK);
    assert_int_equal(again, count);
    assert_int_equal(infos[count - 1].index, 54321); /* no room: not written */
    assert_int_equal(tvlm_device_list(count + 1, infos, &again), TVLM_OK);
    assert_int_equal(infos[count].index, 12345);
    for (int32_t i = 0; i < count; ++i) {
        assert_int_equal(infos[i].index, i);
        assert_true(infos[i].name[0] != '\0');
        assert_int_equal(infos[i].storage, TVLM_STORAGE_AUTO);
        assert_int_equal(infos[i].self_test_count, 0);
        assert_true((infos[i].type == TVLM_DEVICE_REFERENCE) == (i == count - 1));
    }
    assert_int_equal(tvlm_device_list(-1, infos, &again), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_device_list(1, NULL, &again), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_device_list(0, NULL, NULL), TVLM_ERROR_ARGUMENT);
    free(infos);
}

static void test_wrong_arguments(void **state) {
    (void)state;
    static const char *const nothing[] = {NULL}, *const storage[] = {"77", NULL};
    static const char *const image[] = {"reference", "buffer", NULL}, *const format[] = {"format 4", NULL};
    assert_int_equal(tvlm_device_open(NULL, NULL), TVLM_ERROR_ARGUMENT);
    check_refused(tvlm_device_params(.name = "reference", .storage = (tvlm_storage)77), TVLM_ERROR_ARGUMENT,
                  storage);
    check_refused(tvlm_device_params(.name = "reference", .storage = TVLM_STORAGE_IMAGE),
                  TVLM_ERROR_UNSUPPORTED, image);
    check_refused(tvlm_device_params(.name = "reference", .format = TVLM_FORMAT_S8), TVLM_ERROR_ARGUMENT,
                  format);
    check_refused(tvlm_device_params(.name = "-1"), TVLM_ERROR_NO_DEVICE, nothing);
    check_refused(tvlm_device_params(.name = "999"), TVLM_ERROR_NO_DEVICE, nothing);
    assert_int_equal(tvlm_device_finish(NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_device_get_info(NULL, NULL), TVLM_ERROR_ARGUMENT);
}

/* ---- One OpenCL device ---- */

static void check_info(const tvlm_device_info *info) {
    assert_true(info->memory_bytes > 0 && info->allocation_max > 0 && info->local_bytes > 0);
    assert_true(info->compute_units > 0 && info->self_test_count > 0 &&
                info->self_test_count <= TVLM_SELF_TESTS_MAX);
    assert_true(info->platform[0] != '\0' && info->driver[0] != '\0' && info->version[0] != '\0');
    assert_true(info->storage_reason[0] != '\0');
    assert_true(info->storage != TVLM_STORAGE_AUTO);
    for (int32_t i = 0; i < info->self_test_count; ++i) {
        assert_true(info->self_tests[i].name[0] != '\0' && info->self_tests[i].detail[0] != '\0');
        const char *storage = tvlm_storage_name(info->storage);
        if (strncmp(info->self_tests[i].name, storage, strlen(storage)) == 0)
            assert_true(info->self_tests[i].passed);
    }
}

/* By index, by part of the name in the other case, and a name that nothing has: the line says what there is.
 */
static void names(const test_target *target) {
    const tvlm_device_info *info = &target->device->info;
    tvlm_device *device = open_with(tvlm_device_params(.name = name_of(target)));
    assert_string_equal(test_device_info(device)->name, info->name);
    check_info(test_device_info(device));
    tvlm_device_destroy(&device);
    char part[sizeof info->name];
    const size_t length = strlen(info->name);
    snprintf(part, sizeof part, "%s", info->name + (length > 4 ? 1 : 0));
    if (length > 4) part[length - 2] = '\0'; /* without the first and the last character */
    for (char *at = part; *at != '\0'; ++at)
        *at = (char)(islower((unsigned char)*at) ? toupper(*at) : tolower(*at));
    device = open_with(tvlm_device_params(.name = part));
    assert_string_equal(test_device_info(device)->name, info->name);
    tvlm_device_destroy(&device);
    const char *const parts[] = {"no-such-thing", info->name, "reference", NULL};
    check_refused(tvlm_device_params(.name = "no-such-thing"), TVLM_ERROR_NO_DEVICE, parts);
}

static bool has(const char *text, const char *part) {
    const size_t length = strlen(part);
    for (; *text != '\0'; ++text)
        if (strncasecmp(text, part, length) == 0) return true;
    return false;
}

/* Opens the device that the choice means, which must have it in its name, its platform's or its version. */
static void opens(const char *choice) {
    tvlm_device *device = open_with(tvlm_device_params(.name = choice));
    const tvlm_device_info *info = test_device_info(device);
    if (!has(info->name, choice) && !has(info->platform, choice) && !has(info->version, choice))
        fail_msg("'%s' opened '%s'", choice, info->name);
    tvlm_device_destroy(&device);
}

/* By the platform's name, and by a word of what the driver says in its version; but the words with which each
 * version begins mean no device. */
static void platforms_and_drivers(const test_target *target) {
    const tvlm_device_info *info = &target->device->info;
    char begin[32], word[64];
    opens(info->platform);
    const int found = sscanf(info->version, "%31[^ ] %*s %63s", begin, word);
    assert_true(found >= 1);
    if (found == 2) opens(word);
    if (strstr(info->version, "PoCL") != NULL || strstr(info->version, "pocl") != NULL) opens("pocl");
    const char *number = strchr(info->version, ' ');
    assert_non_null(number);
    snprintf(begin, sizeof begin, "OpenCL%.4s", number);
    check_refused(tvlm_device_params(.name = begin), TVLM_ERROR_NO_DEVICE,
                  (const char *const[]){begin, NULL});
}

static void storages(const test_target *target) {
    for (int storage = TVLM_STORAGE_IMAGE; storage <= TVLM_STORAGE_MIPMAPPED; ++storage) {
        const char *const parts[] = {tvlm_storage_name((tvlm_storage)storage), target->device->info.name,
                                     NULL};
        const struct tvlm_device_params params = {.name = name_of(target), .storage = (tvlm_storage)storage};
        tvlm_device *device = NULL;
        if (tvlm_device_open(&params, &device) != TVLM_OK) {
            check_refused(&params, TVLM_ERROR_UNSUPPORTED, parts);
            continue;
        }
        assert_int_equal(test_device_info(device)->storage, storage);
        check_luma(device, 1.0);
        tvlm_device_destroy(&device);
    }
}

ONCE_PER_DEVICE(names, platforms_and_drivers, storages)

/* ---- No OpenCL at all ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* every loader has it */
static bool loader_says_who_it_is(void) {
    return clGetExtensionFunctionAddress("clGetICDLoaderInfoOCLICD") != NULL;
}
#pragma GCC diagnostic pop

/* In the child: 0, or the line where it went wrong. */
static int without_any_platform(void) {
    lines l = {0};
    const tvlm_log log = {count_line, &l};
    tvlm_device *device = NULL;
    int32_t count = 0;
    if (tvlm_device_list(0, NULL, &count) != TVLM_OK) return 1;
    /* NVIDIA's own loader does not know $OCL_ICD_VENDORS. Others say who they are. */
    if (count > 1) return loader_says_who_it_is() ? 1 : 77;
    if (tvlm_device_open(tvlm_device_params(.log = &log), &device) != TVLM_ERROR_NO_DEVICE) return 2;
    if (device != NULL || l.errors != 1) return 3;
    if (strstr(l.last, "install") == NULL || strstr(l.last, "pocl-opencl-icd") == NULL) return 4;
    if (strstr(l.last, "reference") == NULL) return 5;
    if (tvlm_device_open(tvlm_device_params(.name = "reference", .log = &log), &device) != TVLM_OK) return 6;
    tvlm_device_destroy(&device);
    l = (lines){0};
    if (tvlm_device_open(tvlm_device_params(.fallback = true, .log = &log), &device) != TVLM_OK) return 7;
    if (test_device_info(device)->type != TVLM_DEVICE_REFERENCE) return 8;
    if (l.errors != 0 || l.warnings != 1 || strstr(l.last, "reference") == NULL) return 9;
    tvlm_device_destroy(&device);
    return 0;
}

/* In the child: PoCL cannot write its cache, and has no device then. 77 where it has one all the same. */
static int without_a_home(void) {
    lines l = {0};
    const tvlm_log log = {count_line, &l};
    tvlm_device *device = NULL;
    const tvlm_status status = tvlm_device_open(tvlm_device_params(.log = &log), &device);
    tvlm_device_destroy(&device);
    if (status == TVLM_OK) return 77;
    if (status != TVLM_ERROR_NO_DEVICE || l.errors != 1) return 1;
    return strstr(l.last, "/proc/no/such/home") != NULL && strstr(l.last, "POCL_CACHE_DIR") != NULL ? 0 : 2;
}

/* Whether a library whose name holds `part` is loaded. */
static bool is_loaded(const char *part) {
    char line[1024];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL)
        found = strstr(line, part) != NULL;
    if (maps != NULL) fclose(maps);
    return found;
}

/* In the child: the reference loads no driver; listing the devices does. */
static int reference_alone(void) {
    tvlm_device *device = NULL;
    int32_t count = 0;
    if (is_loaded("libpocl")) return 77; /* preloaded */
    if (tvlm_device_open(tvlm_device_params(.name = "reference"), &device) != TVLM_OK) return 1;
    tvlm_device_destroy(&device);
    if (is_loaded("libpocl")) return 2;
    if (tvlm_device_list(0, NULL, &count) != TVLM_OK || count < 2) return 77;
    return is_loaded("libpocl") ? 0 : 77;
}

/* Runs this program with that argument alone, among the drivers of a folder or file, or all. */
static int run_child(const char *argument, const char *drivers, const char *home) {
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (drivers != NULL) setenv("OCL_ICD_VENDORS", drivers, 1);
        if (home != NULL) setenv("HOME", home, 1);
        if (home != NULL) unsetenv("XDG_CACHE_HOME");
        if (home != NULL) unsetenv("POCL_CACHE_DIR");
        unsetenv("LD_PRELOAD"); /* simulators come that way */
        unsetenv("TVLM_DEVICE");
        execl("/proc/self/exe", "test_device", argument, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_no_platform(void **state) {
    (void)state;
    char folder[64];
    make_folder(folder);
    const int code = run_child(NO_PLATFORM_ARGUMENT, folder, NULL);
    rmdir(folder);
    if (code == 77) skip();
    assert_int_equal(code, 0);
}

static void test_no_home(void **state) {
    static const char pocl[] = "/etc/OpenCL/vendors/pocl.icd";
    (void)state;
    if (access(pocl, R_OK) != 0) skip();
    const int code = run_child(NO_HOME_ARGUMENT, pocl, "/proc/no/such/home");
    if (code == 77) skip();
    assert_int_equal(code, 0);
}

static void test_reference_alone(void **state) {
    (void)state;
    const int code = run_child(REFERENCE_ARGUMENT, NULL, NULL);
    if (code == 77) skip();
    assert_int_equal(code, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_device),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_no_platform),
        cmocka_unit_test(test_no_home),
        cmocka_unit_test(test_reference_alone),
        cmocka_unit_test(test_each_device),
    };
    if (argc == 2 && strcmp(argv[1], NO_PLATFORM_ARGUMENT) == 0) return without_any_platform();
    if (argc == 2 && strcmp(argv[1], NO_HOME_ARGUMENT) == 0) return without_a_home();
    if (argc == 2 && strcmp(argv[1], REFERENCE_ARGUMENT) == 0) return reference_alone();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
