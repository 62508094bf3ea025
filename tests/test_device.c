/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device.c: opening devices: by index, part of a name, storage, an application's context; kernels from a
 * folder, programs from the cache; and no OpenCL at all (in a child process).
 */
#include "support_stage.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "opencl/backend.h"
#include "texturevlm/opencl.h"

#define NO_PLATFORM_ARGUMENT "--without-any-platform"

/* ---- Log: how many lines of which importance ---- */

typedef struct lines {
    int errors, warnings;
    char last[1024]; /* error or warning */
} lines;

static void count_line(void *user, tvlm_log_level level, const char *message) {
    lines *l = user;
    if (level == TVLM_LOG_ERROR) ++l->errors;
    if (level == TVLM_LOG_WARNING) ++l->warnings;
    if (level <= TVLM_LOG_WARNING) snprintf(l->last, sizeof l->last, "%s", message);
}

/* ---- Folders ---- */

static void make_folder(char path[64]) {
    snprintf(path, 64, "/tmp/tvlm-test-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static void join(char path[512], const char *folder, const char *name) {
    assert_true(snprintf(path, 512, "%s/%s", folder, name) < 512);
}

static void remove_folder(const char *path) {
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

/* The whole of a file, with a 0 behind it; free() it. */
static char *read_file(const char *path, size_t *size) {
    struct stat about;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fstat(fileno(stream), &about) != 0) fail_msg("cannot read %s", path);
    char *text = calloc((size_t)about.st_size + 1, 1);
    assert_non_null(text);
    *size = fread(text, 1, (size_t)about.st_size, stream);
    fclose(stream);
    return text;
}

static void write_file(const char *path, const char *bytes, size_t size) {
    FILE *stream = fopen(path, "wb");
    if (stream == NULL) fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static void copy_file(const char *from, const char *to) {
    size_t size;
    char *bytes = read_file(from, &size);
    write_file(to, bytes, size);
    free(bytes);
}

/* ---- Opening ---- */

/* The index of the device under test, as tvlm_device_params takes it. */
static const char *name_of(const test_target *target) {
    static char name[16];
    snprintf(name, sizeof name, "%d", (int)target->device->info.index);
    return name;
}

static tvlm_device *open_with(const struct tvlm_device_params *params) {
    struct tvlm_device_params with_log = *params;
    tvlm_device *device = NULL;
    with_log.log = &test_log;
    const tvlm_status status = tvlm_device_open(&with_log, &device);
    if (status != TVLM_OK)
        fail_msg("device %s: status %d: %s", params->name != NULL ? params->name : "by default", (int)status,
                 test_last_log());
    return device;
}

/* Fails with that status and exactly one error line, which holds all of `parts`. */
static void check_refused(const struct tvlm_device_params *params, tvlm_status expected,
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

/* A white pixel's luma: what shows which kernels are at work. */
static tvlm_status white_luma(tvlm_device *device, float *luma) {
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

static void check_luma(tvlm_device *device, double expected) {
    float luma;
    if (white_luma(device, &luma) != TVLM_OK) fail_msg("source: %s", test_last_log());
    if (!((double)luma > expected - 1e-5 && (double)luma < expected + 1e-5))
        fail_msg("white has a luma of %g instead of %g", (double)luma, expected);
}

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
        const tvlm_device_info *info = tvlm_device_get_info(device);
        assert_string_equal(info->name, "reference");
        assert_int_equal(info->type, TVLM_DEVICE_REFERENCE);
        assert_int_equal(info->index, count - 1);
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
    assert_string_equal(tvlm_device_get_info(device)->name, "reference");
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
    static const char *const image[] = {"reference", "buffer", NULL};
    assert_int_equal(tvlm_device_open(NULL, NULL), TVLM_ERROR_ARGUMENT);
    check_refused(tvlm_device_params(.name = "reference", .storage = (tvlm_storage)77), TVLM_ERROR_ARGUMENT,
                  storage);
    check_refused(tvlm_device_params(.name = "reference", .storage = TVLM_STORAGE_IMAGE),
                  TVLM_ERROR_UNSUPPORTED, image);
    check_refused(tvlm_device_params(.name = "-1"), TVLM_ERROR_NO_DEVICE, nothing);
    check_refused(tvlm_device_params(.name = "999"), TVLM_ERROR_NO_DEVICE, nothing);
    assert_int_equal(tvlm_device_finish(NULL), TVLM_ERROR_ARGUMENT);
    assert_null(tvlm_device_get_info(NULL));
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
    assert_string_equal(tvlm_device_get_info(device)->name, info->name);
    check_info(tvlm_device_get_info(device));
    tvlm_device_destroy(&device);
    char part[sizeof info->name];
    const size_t length = strlen(info->name);
    snprintf(part, sizeof part, "%s", info->name + (length > 4 ? 1 : 0));
    if (length > 4) part[length - 2] = '\0'; /* without the first and the last character */
    for (char *at = part; *at != '\0'; ++at)
        *at = (char)(islower((unsigned char)*at) ? toupper(*at) : tolower(*at));
    device = open_with(tvlm_device_params(.name = part));
    assert_string_equal(tvlm_device_get_info(device)->name, info->name);
    tvlm_device_destroy(&device);
    const char *const parts[] = {"no-such-thing", info->name, "reference", NULL};
    check_refused(tvlm_device_params(.name = "no-such-thing"), TVLM_ERROR_NO_DEVICE, parts);
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
        assert_int_equal(tvlm_device_get_info(device)->storage, storage);
        check_luma(device, 1.0);
        tvlm_device_destroy(&device);
    }
}

/* ---- Kernels from a folder ---- */

/* A copy of cl/ in which `file` begins with `before` and ends with `after`; returns the number of its last
 * line. */
static int copy_kernels(const char *folder, const char *file, const char *before, const char *after) {
    DIR *from = opendir(TVLM_SOURCE_DIR "/cl");
    assert_non_null(from);
    int count = 0;
    for (struct dirent *entry = readdir(from); entry != NULL; entry = readdir(from)) {
        char path[512];
        size_t size;
        if (entry->d_name[0] == '.') continue;
        join(path, TVLM_SOURCE_DIR "/cl", entry->d_name);
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

/* Luma without red: 0.701 for white. */
static const char without_red[] = "#include \"constants.h\"\n#undef TVLM_LUMA_R\n#define TVLM_LUMA_R 0.0f\n";

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

/* ---- Cache ---- */

enum { FILES_MAX = 256 };

typedef struct listing {
    int count;
    char names[FILES_MAX][80];
    ino_t inodes[FILES_MAX];
} listing;

/* The compiled programs in a folder; nothing else may be there. */
static listing list_programs(const char *path) {
    listing all = {0};
    DIR *folder = opendir(path);
    if (folder == NULL) return all;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.') continue;
        if (length != 64 + 4 || strcmp(entry->d_name + 64, ".bin") != 0)
            fail_msg("left behind: %s", entry->d_name);
        assert_true(all.count < FILES_MAX);
        memcpy(all.names[all.count], entry->d_name, length + 1);
        char inner[512];
        struct stat about;
        join(inner, path, entry->d_name);
        assert_int_equal(stat(inner, &about), 0);
        all.inodes[all.count++] = about.st_ino;
    }
    closedir(folder);
    return all;
}

static bool has_program(const listing *all, const char *name, ino_t *inode) {
    for (int i = 0; i < all->count; ++i)
        if (strcmp(all->names[i], name) == 0) {
            *inode = all->inodes[i];
            return true;
        }
    return false;
}

/* Opens with a cache and converts a pixel, without a word about the cache; the luma must come out. */
static void work_with_cache(const test_target *target, const char *cache, const char *kernels,
                            double expected) {
    lines l = {0};
    const tvlm_log log = {count_line, &l};
    tvlm_device *device = NULL;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = name_of(target), .cache_dir = cache,
                                                         .kernel_dir = kernels, .log = &log),
                                      &device),
                     TVLM_OK);
    check_luma(device, expected);
    tvlm_device_destroy(&device);
    if (l.errors != 0 || l.warnings != 0) fail_msg("cache %s: %s", cache, l.last);
}

/* Every file of the cache becomes what `spoil` makes of it. */
static void spoil_all(const char *cache, int how) {
    const listing all = list_programs(cache);
    for (int i = 0; i < all.count; ++i) {
        char path[512];
        size_t size;
        join(path, cache, all.names[i]);
        char *bytes = read_file(path, &size);
        if (how == 0) bytes[size / 2] = (char)(bytes[size / 2] ^ 0x40);
        write_file(path, bytes, how == 0 ? size : how == 1 ? size / 3 : how == 2 ? 5 : 0);
        free(bytes);
    }
}

static void cache_is_used(const test_target *target, const char *cache) {
    work_with_cache(target, cache, NULL, 1.0);
    const listing first = list_programs(cache);
    assert_true(first.count > 0);
    work_with_cache(target, cache, NULL, 1.0);
    const listing second = list_programs(cache);
    assert_int_equal(second.count, first.count);
    for (int i = 0; i < first.count; ++i) {
        ino_t inode = 0;
        assert_true(has_program(&second, first.names[i], &inode));
        assert_true(inode == first.inodes[i]); /* a new one would have been renamed into its place */
    }
    for (int how = 0; how < 4; ++how) {
        spoil_all(cache, how);
        work_with_cache(target, cache, NULL, 1.0);
        const listing mended = list_programs(cache);
        assert_int_equal(mended.count, first.count);
        for (int i = 0; i < mended.count; ++i) {
            char path[512];
            struct stat about;
            join(path, cache, mended.names[i]);
            assert_int_equal(stat(path, &about), 0);
            assert_true(about.st_size > 100); /* written anew */
        }
    }
}

/* The one file that `later` has and `earlier` has not. */
static const char *added(const listing *later, const listing *earlier) {
    const char *name = NULL;
    ino_t inode;
    for (int i = 0; i < later->count; ++i) {
        if (has_program(earlier, later->names[i], &inode)) continue;
        assert_null(name);
        name = later->names[i];
    }
    assert_non_null(name);
    return name;
}

/* A program compiled from other kernels, put in the place of source.cl's: the cache is what is run. */
static void cache_is_run(const test_target *target, const char *cache, const char *other,
                         const char *kernels) {
    listing before[2], after[2];
    for (int i = 0; i < 2; ++i) {
        const char *folder = i == 0 ? cache : other;
        tvlm_device *device = open_with(tvlm_device_params(.name = name_of(target), .cache_dir = folder,
                                                           .kernel_dir = i == 0 ? NULL : kernels));
        before[i] = list_programs(folder);
        check_luma(device, i == 0 ? 1.0 : 0.701);
        after[i] = list_programs(folder);
        tvlm_device_destroy(&device);
    }
    char from[512], to[512];
    join(from, other, added(&after[1], &before[1]));
    join(to, cache, added(&after[0], &before[0]));
    copy_file(from, to);
    work_with_cache(target, cache, NULL, 0.701);
}

static void cache(const test_target *target) {
    char folder[64], path[512], other[512], kernels[512];
    make_folder(folder);
    join(path, folder, "made/when/needed");
    cache_is_used(target, path);
    join(path, folder, "one");
    join(other, folder, "two");
    join(kernels, folder, "kernels");
    assert_int_equal(mkdir(kernels, 0777), 0);
    copy_kernels(kernels, "source.cl", without_red, "");
    cache_is_run(target, path, other, kernels);

    /* Where nothing can be written: silently none. Below a file not even root can. */
    join(path, folder, "file");
    write_file(path, "x", 1);
    join(path, folder, "file/below");
    work_with_cache(target, path, NULL, 1.0);
    work_with_cache(target, "/proc/no/such/place", NULL, 1.0);
    join(path, folder, "read-only");
    assert_int_equal(mkdir(path, 0500), 0);
    work_with_cache(target, path, NULL, 1.0);

    /* By default below $XDG_CACHE_HOME; "" none; and none with PoCL, which keeps what it compiled itself. */
    const bool pocl = strcmp(target->device->info.platform, "Portable Computing Language") == 0;
    const char *before = getenv("XDG_CACHE_HOME");
    char *kept = before != NULL ? strdup(before) : NULL;
    join(path, folder, "home");
    setenv("XDG_CACHE_HOME", path, 1);
    join(path, folder, "home/texturevlm");
    work_with_cache(target, "", NULL, 1.0);
    assert_int_equal(list_programs(path).count, 0);
    work_with_cache(target, NULL, NULL, 1.0);
    assert_int_equal(list_programs(path).count > 0, !pocl);
    if (kept != NULL)
        setenv("XDG_CACHE_HOME", kept, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(kept);
    remove_folder(folder);
}

/* ---- An application's context ---- */

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
    assert_int_equal(tvlm_device_get_info(device)->index, -1);
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

/* ---- Each OpenCL device, once ---- */

static void device_once(const test_target *target, tvlm_device *reference) {
    static int32_t last = -1;
    (void)reference;
    if (!test_is_opencl(target->device) || target->device->info.index == last) return;
    last = target->device->info.index;
    names(target);
    storages(target);
    kernel_folder(target);
    kernel_errors(target);
    cache(target);
    application_context(target);
}

static void test_each_device(void **state) {
    (void)state;
    test_on_targets(device_once);
}

/* ---- No OpenCL at all ---- */

/* In the child: 0, or the line where it went wrong. */
static int without_any_platform(void) {
    lines l = {0};
    const tvlm_log log = {count_line, &l};
    tvlm_device *device = NULL;
    int32_t count = 0;
    if (tvlm_device_list(0, NULL, &count) != TVLM_OK || count != 1) return 1;
    if (tvlm_device_open(tvlm_device_params(.log = &log), &device) != TVLM_ERROR_NO_DEVICE) return 2;
    if (device != NULL || l.errors != 1) return 3;
    if (strstr(l.last, "install") == NULL || strstr(l.last, "pocl-opencl-icd") == NULL) return 4;
    if (strstr(l.last, "reference") == NULL) return 5;
    if (tvlm_device_open(tvlm_device_params(.name = "reference", .log = &log), &device) != TVLM_OK) return 6;
    tvlm_device_destroy(&device);
    return 0;
}

static void test_no_platform(void **state) {
    (void)state;
    char folder[64];
    int status = 0;
    make_folder(folder);
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("OCL_ICD_VENDORS", folder, 1);
        unsetenv("LD_PRELOAD"); /* simulators come that way */
        unsetenv("TVLM_DEVICE");
        execl("/proc/self/exe", "test_device", NO_PLATFORM_ARGUMENT, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    rmdir(folder);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_device),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_no_platform),
        cmocka_unit_test(test_each_device),
    };
    if (argc == 2 && strcmp(argv[1], NO_PLATFORM_ARGUMENT) == 0) return without_any_platform();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
