/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_batch_names.c: the names of many inputs, one after the other: lists of any length, names as long as they may be, folders,
 * and the stems of the files that are made of them. The tool's own parts are linked to this program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch_names.h"
#include "log_helper.h"

enum { LONGEST = 65535 }; /* with the character that ends it, as much as is read at once */

static char folder[] = "/tmp/tvlm-batch-names-XXXXXX";
static struct tool tool;

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void put(const char *path, const char *bytes, size_t size) {
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static batch_names *opened(const batch_sources *sources, int count, char *const *operands, bool stems) {
    batch_names *names = NULL;
    const struct batch_names_params params = {
        .sources = sources, .memory = 1 << 20, .count = count, .operands = operands, .stems = stems};
    tool = (struct tool){.log = noting};
    if (batch_names_open(&tool, &params, &names) != TOOL_DONE) fail_msg("%s", tool.error);
    return names;
}

/* The next input has this name, and this error. */
static void check_next(batch_names *names, int number, const char *name, const char *error) {
    batch_input input;
    assert_true(batch_names_next(names, &input));
    assert_non_null(input.name);
    if (strcmp(input.name, name) != 0) fail_msg("input %d is %.200s, not %.200s", number, input.name, name);
    assert_string_equal(input.error, error);
    assert_int_equal(input.number, number);
    assert_true(input.archive == NULL && !input.damaged);
    batch_input_release(&input);
    assert_null(input.name);
}

static void check_end(batch_names **names) {
    batch_input input;
    assert_false(batch_names_next(*names, &input));
    assert_false(batch_names_next(*names, &input));
    batch_names_close(names);
    assert_null(*names);
    batch_names_close(names);
}

/* More names than are read at once, some of them empty, with and without an end of the last one. */
static void a_list_may_be_long(void **state) {
    enum { NAMES = 3000, SIZE = 64 };
    char *const text = malloc((size_t)NAMES * SIZE);
    char name[SIZE];
    (void)state;
    assert_non_null(text);
    for (int null = 0; null < 2; ++null)
        for (int ended = 0; ended < 2; ++ended) {
            size_t size = 0;
            for (int i = 0; i < NAMES; ++i) {
                size += (size_t)snprintf(text + size, SIZE, "%0*d.png", 1 + i % 50, i);
                text[size++] = null ? '\0' : '\n';
                if (i % 7 == 0) text[size++] = null ? '\0' : '\n';
            }
            put("list", text, ended ? size : size - (NAMES % 7 == 1) - 1);
            const batch_sources sources = {.list = "list", .null = null};
            batch_names *names = opened(&sources, 0, NULL, false);
            for (int i = 0; i < NAMES; ++i) {
                snprintf(name, sizeof name, "%0*d.png", 1 + i % 50, i);
                check_next(names, i, name, "");
            }
            check_end(&names);
        }
    free(text);
    assert_int_equal(unlink("list"), 0);
}

/* As Windows ends them. With --null the byte is one of the name. */
static void lines_may_end_with_two_bytes(void **state) {
    batch_sources sources = {.list = "list"};
    (void)state;
    put("list", "a.png\r\n\r\nb\r.png\r\nc.png", 22);
    batch_names *names = opened(&sources, 0, NULL, false);
    check_next(names, 0, "a.png", "");
    check_next(names, 1, "b\r.png", "");
    check_next(names, 2, "c.png", "");
    check_end(&names);
    put("list", "a.png\r\0b.png", 12);
    sources.null = 1;
    names = opened(&sources, 0, NULL, false);
    check_next(names, 0, "a.png\r", "");
    check_next(names, 1, "b.png", "");
    check_end(&names);
    assert_int_equal(unlink("list"), 0);
}

static void a_name_has_a_longest_length(void **state) {
    static char text[LONGEST + 100];
    const batch_sources sources = {.list = "list"};
    (void)state;
    for (int before = 0; before < 2; ++before)
        for (int beyond = 0; beyond < 2; ++beyond) {
            const size_t first = before ? 6 : 0, length = LONGEST + (size_t)beyond;
            memcpy(text, "a.png\n", 6);
            memset(text + first, 'x', length);
            memcpy(text + first + length, "\nb.png", 6);
            put("list", text, first + length + 6);
            batch_names *names = opened(&sources, 0, NULL, false);
            if (before) check_next(names, 0, "a.png", "");
            text[first + length] = '\0';
            if (beyond) {
                check_next(names, before, "list",
                           "a name of more than 65536 bytes: this is no list of names");
            } else {
                check_next(names, before, text + first, "");
                check_next(names, before + 1, "b.png", "");
            }
            check_end(&names);
        }
    put("list", "a.png\0b.png\n", 12);
    batch_names *names = opened(&sources, 0, NULL, false);
    check_next(names, 0, "list", "a name has a zero byte: names that end so need --null");
    check_end(&names);
    assert_int_equal(unlink("list"), 0);
}

/* A program that writes names now and then, in parts. */
static void a_list_may_come_in_parts(void **state) {
    static const char *const parts[] = {"a", ".png\nb.p", "ng", "\n", "\n\nc.png\nd", ".png"};
    int ends[2];
    char path[64];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const batch_sources sources = {.list = path};
    batch_names *names = opened(&sources, 0, NULL, false);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        assert_int_equal(write(ends[1], parts[i], strlen(parts[i])), strlen(parts[i]));
        if (i == 1) check_next(names, 0, "a.png", "");
        if (i == 3) check_next(names, 1, "b.png", "");
        if (i == 4) check_next(names, 2, "c.png", "");
    }
    assert_int_equal(close(ends[1]), 0);
    check_next(names, 3, "d.png", "");
    check_end(&names);
    assert_int_equal(close(ends[0]), 0);
}

/* Whoever stops is not kept waiting by a list that says nothing. */
static void a_list_can_be_stopped(void **state) {
    int ends[2];
    char path[64];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const batch_sources sources = {.list = path};
    batch_names *names = opened(&sources, 0, NULL, false);
    assert_int_equal(write(ends[1], "a.png\nb", 7), 7);
    check_next(names, 0, "a.png", "");
    batch_names_stop(names);
    check_end(&names);
    assert_true(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void stems_are_made_unique(void **state) {
    static const char *const rows[][2] = {{"x/a.png", "a"},     {"a.jpg", "a-2"},   {"y/a-2.png", "a-2-2"},
                                          {"a.b.c", "a.b"},     {"z/a.ppm", "a-3"}, {"a-3", "a-3-2"},
                                          {"a", "a-4"},         {".png", ".png"},   {"y/.png", ".png-2"},
                                          {"a.b.png", "a.b-2"}, {"A.png", "A"}};
    enum { ROWS = sizeof rows / sizeof *rows };
    const batch_sources sources = {.list = NULL};
    char *operands[ROWS];
    batch_input input;
    (void)state;
    for (size_t i = 0; i < ROWS; ++i) operands[i] = strdup(rows[i][0]);
    for (int stems = 0; stems < 2; ++stems) {
        batch_names *names = opened(&sources, ROWS, operands, stems);
        for (size_t i = 0; i < ROWS; ++i) {
            assert_true(batch_names_next(names, &input));
            assert_string_equal(input.name, rows[i][0]);
            if (stems)
                assert_string_equal(input.stem, rows[i][1]);
            else
                assert_null(input.stem);
            batch_input_release(&input);
        }
        check_end(&names);
    }
    for (size_t i = 0; i < ROWS; ++i) free(operands[i]);
}

static void folders_are_walked_where_they_are_to_be(void **state) {
    static const char *const files[] = {"f/a.PNG",      "f/b.txt",         "f/.c.png",   "f/png",
                                        "f/sub/d.jpeg", "f/.hidden/e.png", "f/sub/.heif"};
    char *operands[] = {(char[]){"f"}, (char[]){"f/sub/d.jpeg"}, (char[]){"f/empty"}};
    batch_sources sources = {.recursive = 1};
    (void)state;
    assert_true(mkdir("f", 0700) == 0 && mkdir("f/sub", 0700) == 0 && mkdir("f/.hidden", 0700) == 0 &&
                mkdir("f/empty", 0700) == 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) put(files[i], "x", 1);
    batch_names *names = opened(&sources, 3, operands, false);
    check_next(names, 0, "f/a.PNG", "");
    check_next(names, 1, "f/sub/d.jpeg", "");
    check_next(names, 2, "f/sub/d.jpeg", "");
    check_next(names, 3, "f/empty", "there is no picture in this folder");
    check_end(&names);
    sources.recursive = 0;
    names = opened(&sources, 1, operands, false);
    check_next(names, 0, "f", "is a folder (--recursive walks it)");
    check_end(&names);
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) assert_int_equal(unlink(files[i]), 0);
    assert_true(rmdir("f/sub") == 0 && rmdir("f/.hidden") == 0 && rmdir("f/empty") == 0 && rmdir("f") == 0);
}

static void archives_are_known_by_their_ends(void **state) {
    static const char *const archives[] = {"a.tar",     "a.TAR",    "b.tar.gz",  "c.tgz",
                                           "d.tar.bz2", "e.tar.xz", "f.tar.zst", "x/.a.tar"};
    static const char *const others[] = {".tar", "tar", "a.tar.png", "a.gz", "a.tarx", "", ".tgz"};
    (void)state;
    for (size_t i = 0; i < sizeof archives / sizeof *archives; ++i)
        assert_true(batch_is_archive(archives[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) assert_false(batch_is_archive(others[i]));
}

static void a_list_must_be_there(void **state) {
    const batch_sources sources = {.list = "none"};
    const struct batch_names_params params = {.sources = &sources};
    batch_names *names = NULL;
    (void)state;
    tool = (struct tool){.log = noting};
    assert_int_equal(batch_names_open(&tool, &params, &names), TOOL_FAILED);
    assert_string_equal(tool.error, "cannot read none: No such file or directory");
    assert_null(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_may_be_long),
        cmocka_unit_test(lines_may_end_with_two_bytes),
        cmocka_unit_test(a_name_has_a_longest_length),
        cmocka_unit_test(a_list_may_come_in_parts),
        cmocka_unit_test(a_list_can_be_stopped),
        cmocka_unit_test(stems_are_made_unique),
        cmocka_unit_test(folders_are_walked_where_they_are_to_be),
        cmocka_unit_test(archives_are_known_by_their_ends),
        cmocka_unit_test(a_list_must_be_there),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
