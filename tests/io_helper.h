/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_helper.h: a folder for each test of lib/io, a log that can be asked, and files of given bytes.
 */
#ifndef TEST_IO_HELPER_H
#define TEST_IO_HELPER_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"
#include "texturevlm/io.h"

static char io_folder[256];  /* the running test's, which is removed with all that is in it */
static char io_logged[1100]; /* the last line that was logged */
static int io_lines;         /* how many lines were logged since the last io_expect */

static void io_keep_line(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    (void)level;
    io_lines++;
    snprintf(io_logged, sizeof io_logged, "%s", message);
}

static const tvlm_log io_log = {io_keep_line, NULL};

static inline int io_setup(void **state) {
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(io_folder, sizeof io_folder, "%s/tvlm-io-XXXXXX", base != NULL ? base : "/tmp");
    io_lines = 0;
    return mkdtemp(io_folder) != NULL ? 0 : -1;
}

/* Returns the path of a file in the folder. It is valid until the fourth call after this one. */
static inline const char *io_path(const char *name) {
    static char paths[4][600];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", io_folder, name);
    return path;
}

/* Returns how many files are in the folder. With `remove` there are none afterwards. */
static inline int io_files(bool remove) {
    int count = 0;
    DIR *folder = opendir(io_folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        count++;
        if (remove && unlink(io_path(entry->d_name)) != 0) rmdir(io_path(entry->d_name));
    }
    closedir(folder);
    return count;
}

static inline int io_teardown(void **state) {
    (void)state;
    io_files(true);
    return rmdir(io_folder);
}

/* Checks that the status is `expected`, and that a failure logged exactly one line, in which `words` are. */
static inline void io_expect(tvlm_status status, tvlm_status expected, const char *words) {
    if (status != expected) fail_msg("status %d, not %d: %s", (int)status, (int)expected, io_logged);
    if (expected != TVLM_OK && io_lines != 1) fail_msg("%d lines, the last: %s", io_lines, io_logged);
    if (words != NULL && strstr(io_logged, words) == NULL) fail_msg("\"%s\" is not in: %s", words, io_logged);
    io_lines = 0;
}

static inline const char *io_put(const char *name, const void *bytes, size_t size) {
    const char *path = io_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline void io_assert_content(const char *path, const void *bytes, size_t size) {
    void *content;
    size_t got;
    io_expect(tvlm_file_read(path, &io_log, &content, &got), TVLM_OK, NULL);
    assert_int_equal(got, size);
    assert_memory_equal(content, bytes, size);
    free(content);
}

/* A random number by xorshift64, which is the same for the same state. */
static inline uint32_t io_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 11);
}

/* Changes one to four bytes, so that a reader sees what is nearly a good file. */
static inline void io_damage(uint64_t *state, uint8_t *bytes, size_t size) {
    for (uint32_t i = 0, count = 1 + io_random(state) % 4; i < count; i++) {
        uint8_t *byte = &bytes[io_random(state) % size];
        uint32_t flipped = *byte ^ 1u << io_random(state) % 8;
        *byte = (uint8_t)(io_random(state) % 2 ? flipped : io_random(state));
    }
}

/* Finds ../shared/data/NAME beside the checkout, or under $TVLM_SHARED. False when it is not there. */
static inline bool io_shared(const char *name, char path[600]) {
    const char *shared = getenv("TVLM_SHARED");
    if (shared != NULL)
        snprintf(path, 600, "%s/%s", shared, name);
    else
        snprintf(path, 600, "%s/../shared/data/%s", test_source_dir, name);
    return access(path, R_OK) == 0;
}

#define io_test(function) cmocka_unit_test_setup_teardown(function, io_setup, io_teardown)

#endif
