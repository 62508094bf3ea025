/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_room.c: what limits of control groups leave of the host's memory: groups of both versions, nested, without
 * a limit, and with files that are broken or missing; and the limits of the process itself.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "device_helper.h"
#include "platform/memory.h"

#define NO_LIMIT UINT64_MAX

/* ---- A folder as /sys/fs/cgroup ---- */

typedef struct groups {
    char root[64], list[512];
} groups;

static groups make_groups(void) {
    groups g;
    make_folder(g.root);
    join(g.list, g.root, "list");
    return g;
}

/* Writes `text` to a file of a group, and makes the group. */
static void put(const groups *g, const char *group, const char *file, const char *text) {
    char path[512], part[512];
    join(path, g->root, "");
    for (const char *at = group; at != NULL && *at != '\0';) {
        const char *const end = strchr(at, '/');
        const int length = end != NULL ? (int)(end - at) : (int)strlen(at);
        assert_true(snprintf(part, sizeof part, "%s/%.*s", path, length, at) < (int)sizeof part);
        memcpy(path, part, sizeof path);
        (void)mkdir(path, 0700);
        at = end != NULL ? end + 1 : NULL;
    }
    join(part, path, file);
    write_file(part, text, strlen(text));
}

static void expect(const groups *g, const char *list, uint64_t room) {
    write_file(g->list, list, strlen(list));
    const uint64_t got = tvlm_groups_room(g->list, g->root);
    if (got != room)
        fail_msg("'%s': %llu bytes, not %llu", list, (unsigned long long)got, (unsigned long long)room);
}

/* ---- Version 2 ---- */

static void test_version_2(void **state) {
    groups g = make_groups();
    (void)state;
    expect(&g, "0::/a/b/c\n", NO_LIMIT); /* none of them is there */
    put(&g, "a/b/c", "memory.max", "1000000\n");
    expect(&g, "0::/a/b/c\n", 1000000);
    put(&g, "a/b/c", "memory.current", "300000\n");
    expect(&g, "0::/a/b/c\n", 700000);
    /* What is kept of files is given up. */
    put(&g, "a/b/c", "memory.stat", "anon 1\nfile 200000\ninactive_file 100000\nactive_file 7\n");
    expect(&g, "0::/a/b/c\n", 800000);
    put(&g, "a/b/c", "memory.stat", "inactive_file 400000\n"); /* more than is used: counted meanwhile */
    expect(&g, "0::/a/b/c\n", 1000000);
    /* The groups that it is in limit it, too, and the tightest counts. */
    put(&g, "a/b", "memory.max", "max\n");
    put(&g, "a", "memory.max", "500000\n");
    put(&g, "a", "memory.current", "450000\n");
    expect(&g, "0::/a/b/c\n", 50000);
    expect(&g, "0::/a/b\n", 50000);
    expect(&g, "0::/a\n", 50000);
    expect(&g, "0::/z\n", NO_LIMIT); /* another group */
    put(&g, "a", "memory.current", "500001\n");
    expect(&g, "0::/a/b/c\n", 0);
    /* In a container the path may be the host's, and the root is the container's own group. */
    put(&g, "", "memory.max", "2000\n");
    expect(&g, "0::/z\n", 2000);
    expect(&g, "0::/\n", 2000);
    remove_folder(g.root);
}

/* ---- Version 1 ---- */

static void test_version_1(void **state) {
    groups g = make_groups();
    static const char list[] = "12:cpu,cpuacct:/x\n5:memory:/docker/f00\n1:name=systemd:/memory\n";
    (void)state;
    put(&g, "memory/docker/f00", "memory.limit_in_bytes", "4096000\n");
    put(&g, "memory/docker/f00", "memory.usage_in_bytes", "96000\n");
    expect(&g, list, 4000000);
    put(&g, "memory/docker/f00", "memory.stat", "inactive_file 3\ntotal_inactive_file 6000\n");
    expect(&g, list, 4006000);
    put(&g, "memory/docker", "memory.limit_in_bytes", "1000\n");
    expect(&g, list, 1000);
    put(&g, "memory/docker", "memory.limit_in_bytes",
        "9223372036854771712\n"); /* as the kernel writes none */
    expect(&g, list, 4006000);
    expect(&g, "3:hugetlb,memory:/docker/f00\n", 4006000);
    expect(&g, "3:memory_other,xmemory:/docker/f00\n", NO_LIMIT);
    /* Both versions at once: the tighter one. */
    put(&g, "u", "memory.max", "77\n");
    expect(&g, "5:memory:/docker/f00\n0::/u\n", 77);
    remove_folder(g.root);
}

/* ---- What is broken ---- */

static void test_broken(void **state) {
    static const char *const broken[] = {"",       "\n",   "max", "max\n",
                                         "lots\n", "-1\n", "x99", "99999999999999999999999\n"};
    groups g = make_groups();
    char long_line[6000];
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; ++i) {
        put(&g, "a", "memory.max", broken[i]);
        expect(&g, "0::/a\n", NO_LIMIT);
    }
    put(&g, "a", "memory.max", "5000\n");
    put(&g, "a", "memory.stat", "inactive_file\ninactive_file x\n");
    for (size_t i = 0; i < sizeof broken / sizeof *broken; ++i) { /* what is used is not known */
        put(&g, "a", "memory.current", broken[i]);
        expect(&g, "0::/a\n", 5000);
    }
    put(&g, "a", "memory.max", "0\n");
    expect(&g, "0::/a\n", 0);
    static const char *const lists[] = {"", "\n", "0\n", "0:\n", ":", "0:memory\n", "no groups here\n"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) expect(&g, lists[i], NO_LIMIT);
    /* A path that is longer than any folder's; its parents are found all the same. */
    memset(long_line, 'b', sizeof long_line);
    memcpy(long_line, "0::/a/", 6);
    memcpy(long_line + sizeof long_line - 2, "\n", 2);
    expect(&g, long_line, 0);
    assert_true(tvlm_groups_room("/nonexistent/list", g.root) == NO_LIMIT);
    assert_true(tvlm_groups_room(g.root, g.root) == NO_LIMIT); /* a folder */
    remove_folder(g.root);
}

/* ---- The process ---- */

/* The limits of the process count: what is left shrinks with them. */
static void test_host_room(void **state) {
    struct rlimit before, limit;
    (void)state;
    const uint64_t room = tvlm_host_room();
    assert_true(room > 0);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)1 << 46; /* more than there is, and more than a sanitizer takes */
    if (before.rlim_cur == RLIM_INFINITY && setrlimit(RLIMIT_AS, &limit) == 0) {
        assert_true(tvlm_host_room() <= (uint64_t)1 << 46);
        assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    }
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    limit = before;
    limit.rlim_cur = 1; /* what the process has stays */
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    const uint64_t none = tvlm_host_room();
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
    assert_int_equal(none, 0);
}

/* A number of /proc/self/statm in bytes; 0 where there is none. */
static uint64_t statm(int which) {
    FILE *const file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    for (int i = 0; file != NULL && i <= which; ++i)
        if (fscanf(file, "%llu", &pages) != 1) pages = 0;
    if (file != NULL) fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What a limit leaves is that less what counts for it: all addresses for the one, data for the other. */
static void check_left(int resource, int which) {
    const uint64_t left = (uint64_t)64 << 20, has = statm(which);
    struct rlimit before, limit;
    assert_int_equal(getrlimit(resource, &before), 0);
    if (has == 0 || has + left > before.rlim_cur || tvlm_host_room() < 2 * left) skip();
    limit = before;
    limit.rlim_cur = (rlim_t)(has + left);
    assert_int_equal(setrlimit(resource, &limit), 0);
    const uint64_t room = tvlm_host_room();
    assert_int_equal(setrlimit(resource, &before), 0);
    assert_in_range(room, left / 2, left + left / 8); /* a little may have come or gone meanwhile */
}

/* Addresses count that are taken and hold nothing. */
static void test_addresses(void **state) {
    const size_t taken = (size_t)256 << 20;
    const int zeros = open("/dev/zero", O_RDONLY);
    void *const nothing = mmap(NULL, taken, PROT_NONE, MAP_PRIVATE, zeros, 0);
    (void)state;
    assert_true(nothing != MAP_FAILED);
    close(zeros);
    check_left(RLIMIT_AS, 0);
    munmap(nothing, taken);
}

static void test_data(void **state) {
    (void)state;
    check_left(RLIMIT_DATA, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_version_2), cmocka_unit_test(test_version_1),
                                       cmocka_unit_test(test_broken),    cmocka_unit_test(test_host_room),
                                       cmocka_unit_test(test_addresses), cmocka_unit_test(test_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
