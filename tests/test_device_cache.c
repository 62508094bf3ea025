/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_cache.c: compiled programs in a folder: written, used, spoiled, exchanged, made into what is no
 * program, and where nothing can be written.
 */
#include <fcntl.h>

#include "device_helper.h"

#include "opencl/backend.h"

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

/* A descriptor that is still open belongs to the driver, as one of NVIDIA's does, and is no file of the cache. */
static void expect_of_driver(const listing *programs, int descriptor) {
    struct stat about;
    assert_int_equal(fstat(descriptor, &about), 0);
    for (int i = 0; i < programs->count; ++i)
        assert_false(S_ISREG(about.st_mode) && about.st_ino == programs->inodes[i]);
}

/* Where standard input is closed, a file of the cache gets its descriptor, 0: it is a file as any other. */
static void cache_is_used_without_standard_input(const test_target *target, const char *cache) {
    const listing first = list_programs(cache);
    const int kept = dup(0);
    assert_true(kept > 0 && first.count > 0);
    close(0);
    work_with_cache(target, cache, NULL, 1.0);
    const listing second = list_programs(cache);
    if (fcntl(0, F_GETFD) == -1)
        assert_int_equal(dup2(kept, 0), 0);
    else
        expect_of_driver(&second, 0); /* which stays as it is */
    close(kept);
    for (int i = 0; i < first.count; ++i) {
        ino_t inode = 0;
        assert_true(has_program(&second, first.names[i], &inode) && inode == first.inodes[i]);
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

/* The programs that a folder got while a device was opened with these kernels, and while it made a luma. */
typedef struct opened {
    listing by_opening, by_luma;
} opened;

static opened open_and_list(const test_target *target, const char *folder, const char *kernels,
                            double expected) {
    opened o;
    tvlm_device *device =
        open_with(tvlm_device_params(.name = name_of(target), .cache_dir = folder, .kernel_dir = kernels));
    o.by_opening = list_programs(folder);
    check_luma(device, expected);
    o.by_luma = list_programs(folder);
    tvlm_device_destroy(&device);
    return o;
}

/* As the library does it, with the right hash: what `from` has under one name goes to `to` under another. */
static void forge(const test_target *target, const char *from, const char *name, const char *to,
                  const char *as) {
    char folders[2][512], keys[2][65];
    unsigned char *binary = NULL;
    size_t size = 0;
    opencl_device device = *(const opencl_device *)target->device;
    for (int i = 0; i < 2; ++i) {
        snprintf(folders[i], sizeof folders[i], "%s", i == 0 ? from : to);
        snprintf(keys[i], sizeof keys[i], "%.64s", i == 0 ? name : as);
    }
    device.cache_dir = folders[0];
    assert_int_equal(tvlm_opencl_cache_load(&device, keys[0], &binary, &size), TVLM_OK);
    device.cache_dir = folders[1];
    tvlm_opencl_cache_store(&device, keys[1], binary, size);
    free(binary);
}

/*
 * A program compiled from other kernels, in the place of source.cl's. Copied there it is not run, since it
 * has another name; made out to be that program, it is, which shows that the cache is what is run.
 */
static void cache_is_run(const test_target *target, const char *cache, const char *other,
                         const char *kernels) {
    const opened ours = open_and_list(target, cache, NULL, 1.0);
    const opened theirs = open_and_list(target, other, kernels, 0.701);
    const char *right = added(&ours.by_luma, &ours.by_opening);
    const char *wrong = added(&theirs.by_luma, &theirs.by_opening);
    char from[512], to[512];
    join(from, other, wrong);
    join(to, cache, right);
    copy_file(from, to);
    work_with_cache(target, cache, NULL, 1.0);
    forge(target, other, wrong, cache, right);
    work_with_cache(target, cache, NULL, 0.701);
}

/* The name of the file that the self-test's first program has in a folder, which gets it and nothing else. */
static void store_self_test(const test_target *target, char *folder, char *kernels, char name[80]) {
    opencl_device device = *(const opencl_device *)target->device;
    opencl_call call;
    device.programs = NULL;
    device.base.info.storage = TVLM_STORAGE_BUFFER;
    device.cl_std = tvlm_opencl_language(&device, TVLM_STORAGE_BUFFER);
    device.round_stores = false;
    device.cache_dir = folder;
    device.kernel_dir = kernels;
    const tvlm_device_info *info = &target->device->info;
    const bool images = info->type == TVLM_DEVICE_GPU && info->images;
    assert_int_equal(tvlm_opencl_call_begin(&device, "self_test.cl", "self_test_write_buffer",
                                            TVLM_FORMAT_F32,
                                            images ? "-DSELF_TEST_IMAGES=1" : "-DSELF_TEST_IMAGES=0", &call),
                     TVLM_OK);
    tvlm_opencl_programs_destroy(&device);
    const listing all = list_programs(folder);
    assert_int_equal(all.count, 1);
    snprintf(name, 80, "%s", all.names[0]);
}

/* The self-test's program, of kernels that are wrong, made out to be the right one: it is built anew, once. */
static void failing_cache_is_rebuilt(const test_target *target, const char *folder) {
    char cache[512], other[512], kernels[512], path[512], right[80], wrong[80];
    struct stat forged, rebuilt, kept;
    size_t size;
    join(cache, folder, "right");
    join(other, folder, "wrong");
    join(kernels, folder, "wrong-kernels");
    assert_int_equal(mkdir(kernels, 0777), 0);
    copy_kernels(kernels, "self_test.clh", "", "");
    join(path, kernels, "self_test.clh");
    char *text = read_file(path, &size), *pattern = strstr(text, "(float4)(x, y,");
    assert_non_null(pattern);
    memcpy(pattern, "(float4)(y, x,", 14);
    write_file(path, text, size);
    free(text);
    store_self_test(target, cache, NULL, right);
    store_self_test(target, other, kernels, wrong);
    forge(target, other, wrong, cache, right);
    join(path, cache, right);
    assert_int_equal(stat(path, &forged), 0);
    work_with_cache(target, cache, NULL, 1.0);
    assert_int_equal(stat(path, &rebuilt), 0);
    assert_true(rebuilt.st_ino != forged.st_ino);
    work_with_cache(target, cache, NULL, 1.0);
    assert_int_equal(stat(path, &kept), 0);
    assert_true(kept.st_ino == rebuilt.st_ino);
}

/* What stands where a program should, and is none: a pipe, 6 GB that take no room, a folder, a link to any of
 * them, and a program that others may write. Nobody waits for it or reads it. */
static void not_programs(const test_target *target, const char *folder) {
    char cache[512], path[512], elsewhere[512];
    join(cache, folder, "not-programs");
    join(elsewhere, folder, "elsewhere");
    work_with_cache(target, cache, NULL, 1.0);
    const listing all = list_programs(cache);
    assert_true(all.count > 0);
    for (int how = 0; how < 5; ++how) {
        for (int i = 0; i < all.count; ++i) {
            join(path, cache, all.names[i]);
            if (how >= 3) {
                assert_int_equal(chmod(path, how == 3 ? 0606 : 0660), 0);
                continue;
            }
            assert_int_equal(unlink(path), 0);
            if (how == 0) assert_int_equal(mkfifo(path, 0600), 0);
            if (how == 2) {
                unlink(elsewhere);
                assert_int_equal(mkfifo(elsewhere, 0600), 0);
                assert_int_equal(symlink(elsewhere, path), 0);
            }
            if (how != 1) continue;
            write_file(path, "", 0);
            assert_int_equal(truncate(path, (off_t)6 << 30), 0);
        }
        const listing before = list_programs(cache);
        work_with_cache(target, cache, NULL, 1.0);
        const listing after = list_programs(cache);
        assert_int_equal(after.count, all.count);
        for (int i = 0; i < after.count; ++i) {
            struct stat about;
            ino_t inode = 0;
            join(path, cache, after.names[i]);
            assert_int_equal(lstat(path, &about), 0);
            assert_true(S_ISREG(about.st_mode) && about.st_size < (off_t)1 << 26);
            assert_int_equal(about.st_mode & 0077, 0);
            assert_true(has_program(&before, after.names[i], &inode) && inode != about.st_ino);
        }
    }
}

static void cache(const test_target *target) {
    char folder[64], path[512], other[512], kernels[512];
    make_folder(folder);
    join(path, folder, "made/when/needed");
    cache_is_used(target, path);
    cache_is_used_without_standard_input(target, path);
    join(path, folder, "one");
    join(other, folder, "two");
    join(kernels, folder, "kernels");
    assert_int_equal(mkdir(kernels, 0777), 0);
    copy_kernels(kernels, "source.cl", without_red, "");
    cache_is_run(target, path, other, kernels);

    not_programs(target, folder);
    failing_cache_is_rebuilt(target, folder);

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

ONCE_PER_DEVICE(cache)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
