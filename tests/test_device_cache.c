/* SPDX-License-Identifier: Apache-2.0 */
/* test_device_cache.c: compiled programs in a folder: written, used, spoiled, and where nothing can be
 * written. */
#include "device_helper.h"

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

ONCE_PER_DEVICE(cache)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
