/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are written whole, or not at all, on every system.
 */
#include "io_helper.h"

#include <errno.h>
#include <sys/stat.h>

#include "io/io_file.h"

static void says_why_it_cannot_write(void **state) {
    (void)state;
    io_expect(tvlm_file_write(io_path("none/a"), "x", 1, &io_log), TVLM_ERROR_IO, "No such file");
    assert_non_null(strstr(io_logged, "cannot write"));
    assert_non_null(strstr(io_logged, "none/a"));
    io_expect(tvlm_file_write(io_folder, "x", 1, &io_log), TVLM_ERROR_IO, "Is a directory");
    io_put("file", "x", 1);
    io_expect(tvlm_file_write(io_path("file/a"), "x", 1, &io_log), TVLM_ERROR_IO, " directory");
    io_expect(tvlm_file_write("", "x", 1, &io_log), TVLM_ERROR_ARGUMENT, "empty");
    io_expect(tvlm_file_write(io_path("a"), NULL, 1, &io_log), TVLM_ERROR_ARGUMENT, "NULL");
    assert_int_equal(io_files(false), 1);
}

static void keeps_the_old_file_until_commit(void **state) {
    tvlm_io_output *output;
    (void)state;
    io_put("a", "old", 3);
    io_expect(tvlm_io_output_open(io_path("a"), &io_log, &output), TVLM_OK, NULL);
    io_expect(tvlm_io_output_write(output, "new!", 4), TVLM_OK, NULL);
    io_assert_content(io_path("a"), "old", 3);
    tvlm_io_output_abort(&output);
    assert_null(output);
    tvlm_io_output_abort(&output);
    io_assert_content(io_path("a"), "old", 3);
    assert_int_equal(io_files(false), 1);
}

static void passes_over_a_leftover(void **state) {
    char name[64];
    (void)state;
    snprintf(name, sizeof name, ".tvlm-%ld-0.tmp", (long)getpid());
    io_put(name, "left by another", 15);
    io_expect(tvlm_file_write(io_path("a"), "x", 1, &io_log), TVLM_OK, NULL);
    io_assert_content(io_path("a"), "x", 1);
    io_assert_content(io_path(name), "left by another", 15);
}

static void respects_a_protected_file(void **state) {
    (void)state;
#ifndef _WIN32
    if (geteuid() == 0) skip(); /* root may write everything */
#endif
    io_put("a", "old", 3);
    assert_int_equal(chmod(io_path("a"), 0444), 0);
    io_expect(tvlm_file_write(io_path("a"), "new!", 4, &io_log), TVLM_ERROR_IO, "Permission denied");
    io_assert_content(io_path("a"), "old", 3);
    assert_int_equal(io_files(false), 1);
    assert_int_equal(chmod(io_path("a"), 0600), 0); /* or Windows does not remove it */
}

/* As a signal's handler does it, while two files are written. */
static void removes_what_is_being_written(void **state) {
    tvlm_io_output *first, *second;
    (void)state;
    io_put("a", "old", 3);
    io_expect(tvlm_io_output_open(io_path("a"), &io_log, &first), TVLM_OK, NULL);
    io_expect(tvlm_io_output_open(io_path("b"), &io_log, &second), TVLM_OK, NULL);
    io_expect(tvlm_io_output_write(first, "new", 3), TVLM_OK, NULL);
    assert_int_equal(io_files(false), 3);
    tvlm_file_remove_temporaries();
#ifndef _WIN32 /* where a file that is open keeps its name until it is closed */
    assert_int_equal(io_files(false), 1);
#endif
    io_expect(tvlm_io_output_commit(&first), TVLM_ERROR_IO, "cannot write");
    tvlm_io_output_abort(&second);
    assert_int_equal(io_files(false), 1);
    io_assert_content(io_path("a"), "old", 3);
    /* What is complete stays. */
    io_expect(tvlm_file_write(io_path("c"), "new", 3, &io_log), TVLM_OK, NULL);
    tvlm_file_remove_temporaries();
    io_assert_content(io_path("c"), "new", 3);
}

static void appear_together_or_not_at_all(void **state) {
    (void)state;
    io_put("a", "old", 3);
    tvlm_files_begin();
    for (int keep = 0; keep < 2; ++keep) {
        tvlm_files_begin();
        io_expect(tvlm_file_write(io_path("a"), "new", 3, &io_log), TVLM_OK, NULL);
        io_expect(tvlm_file_write(io_path("b"), "next", 4, &io_log), TVLM_OK, NULL);
        io_assert_content(io_path("a"), "old", 3);
        assert_int_equal(io_files(false), 3);
        if (keep)
            io_expect(tvlm_files_commit(&io_log), TVLM_OK, NULL);
        else
            tvlm_files_abort();
        assert_int_equal(io_files(false), keep ? 2 : 1);
    }
    io_assert_content(io_path("a"), "new", 3);
    io_assert_content(io_path("b"), "next", 4);
    io_expect(tvlm_file_write(io_path("c"), "alone", 5, &io_log), TVLM_OK, NULL);
    io_assert_content(io_path("c"), "alone", 5);
    /* A name that cannot be given: a folder has come in its place. */
    tvlm_files_begin();
    io_expect(tvlm_file_write(io_path("d"), "first", 5, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_file_write(io_path("e"), "folder", 6, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_file_write(io_path("f"), "last", 4, &io_log), TVLM_OK, NULL);
    assert_int_equal(mkdir(io_path("e"), 0777), 0);
    io_expect(tvlm_files_commit(&io_log), TVLM_ERROR_IO, "cannot write");
    assert_int_equal(io_files(false), 5); /* a, b, c, d, and the folder */
}

static void any_number_appears_together(void **state) {
    enum { files = 1100 };
    char name[16];
    (void)state;
    tvlm_files_begin();
    for (int i = 0; i < files; ++i) {
        snprintf(name, sizeof name, "%d", i);
        io_expect(tvlm_file_write(io_path(name), name, 1, &io_log), TVLM_OK, NULL);
    }
    io_expect(tvlm_files_commit(&io_log), TVLM_OK, NULL);
    assert_int_equal(io_files(false), files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(says_why_it_cannot_write),      io_test(keeps_the_old_file_until_commit),
        io_test(passes_over_a_leftover),        io_test(respects_a_protected_file),
        io_test(removes_what_is_being_written), io_test(appear_together_or_not_at_all),
        io_test(any_number_appears_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
