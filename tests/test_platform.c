/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_platform.c: lib/platform, which must do the same on every system.
 */
#include <errno.h>

#include "io_helper.h"
#include "platform/environment.h"
#include "platform/file.h"
#include "platform/folder.h"
#include "platform/library.h"
#include "platform/program.h"
#include "platform/stdio.h"
#include "platform/temporary.h"
#include "platform/waiter.h"
#ifdef _WIN32
#include <libloaderapi.h>

#include "platform/windows/names.h"
#endif

static void write_text(const char *name, const char *text) {
    const int file = tvlm_file_empty(io_path(name));
    assert_true(file >= 0);
    assert_true(tvlm_file_put(file, text, strlen(text)) && tvlm_file_close(file));
}

static void expect_text(const char *name, const char *text) {
    char bytes[64] = "";
    const int file = tvlm_file_open(io_path(name), true);
    assert_true(file >= 0);
    const int64_t size = tvlm_file_get(file, bytes, sizeof bytes - 1);
    assert_true(tvlm_file_close(file));
    assert_int_equal(size, strlen(text));
    assert_string_equal(bytes, text);
}

static void test_facts(void **state) {
    tvlm_file_facts facts;
    (void)state;
    write_text("a", "four");
    assert_true(tvlm_path_facts(io_path("a"), &facts));
    assert_true(facts.ordinary && !facts.folder && facts.own && facts.size == 4);
    assert_true(tvlm_path_facts(io_folder, &facts) && facts.folder && !facts.ordinary);
    assert_false(tvlm_path_facts(io_path("none"), &facts));
    assert_int_equal(errno, ENOENT);
    assert_true(tvlm_path_exists(io_path("a")) && !tvlm_path_exists(io_path("none")));
    assert_true(tvlm_path_writable(io_path("a")) && tvlm_path_writable(io_folder));
}

static void test_identity(void **state) {
    tvlm_file_facts found[3] = {{0}};
    char path[600];
    (void)state;
    write_text("a", "");
    write_text("b", "");
    snprintf(path, sizeof path, "%s/./a", io_folder);
    assert_true(tvlm_path_facts(io_path("a"), &found[0]) && tvlm_path_facts(path, &found[1]));
    assert_true(tvlm_path_facts(io_path("b"), &found[2]));
    const tvlm_file_identity a = found[0].identity, again = found[1].identity, b = found[2].identity;
    assert_true(a.device == again.device && a.file == again.file);
    assert_true(a.device == b.device && a.file != b.file);
}

static void test_new_files(void **state) {
    (void)state;
    const int file = tvlm_file_make(io_path("new"), true);
    assert_true(file >= 0 && tvlm_file_close(file));
    assert_int_equal(tvlm_file_make(io_path("new"), true), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(tvlm_file_empty(io_path("none/new")), -1);
    assert_int_equal(errno, ENOENT);
}

/* What is not text to one system is none to the other. */
static void test_no_byte_is_changed(void **state) {
    (void)state;
    write_text("lines", "a\r\nb\n\x1a\n");
    expect_text("lines", "a\r\nb\n\x1a\n");
}

static void test_update(void **state) {
    char bytes[8] = "";
    (void)state;
    write_text("a", "0123456789");
    const int file = tvlm_file_update(io_path("a"), true);
    assert_true(file >= 0);
    assert_int_equal(tvlm_file_some(file, bytes, 2), 2);
    assert_string_equal(bytes, "01");
    assert_true(tvlm_file_cut(file, 4));
    assert_true(tvlm_file_put(file, "x", 1));
    assert_true(tvlm_file_seek(file, 3));
    assert_int_equal(tvlm_file_get(file, bytes, sizeof bytes), 2);
    assert_true(tvlm_file_close(file));
    expect_text("a", "0123x");
}

static void test_lock(void **state) {
    (void)state;
    const int first = tvlm_file_update(io_path("a"), false), second = tvlm_file_update(io_path("a"), false);
    assert_true(first >= 0 && second >= 0);
    assert_true(tvlm_file_lock(first));
    assert_false(tvlm_file_lock(second));
    write_text("b", "");
    assert_true(tvlm_file_put(first, "read", 4)); /* others may read meanwhile */
    expect_text("a", "read");
    assert_true(tvlm_file_close(first));
    assert_true(tvlm_file_lock(second));
    assert_true(tvlm_file_close(second));
}

/* Whoever has the old file open goes on reading it. Where Windows cannot do that (before version 10, in wine 8, and on other file systems than
 * NTFS), it is an error, and nothing is lost. */
static void test_rename_over_an_open_file(void **state) {
    char bytes[8] = "";
    (void)state;
    write_text("old", "old");
    write_text("new", "new");
    const int file = tvlm_file_open(io_path("old"), true);
    assert_true(file >= 0);
    const bool renamed = tvlm_path_rename(io_path("new"), io_path("old"));
    const int code = errno;
    assert_int_equal(tvlm_file_get(file, bytes, sizeof bytes), 3);
    assert_string_equal(bytes, "old");
    assert_true(tvlm_file_close(file));
#ifdef _WIN32
    if (!renamed) {
        assert_int_equal(code, EACCES);
        expect_text("old", "old");
        assert_true(tvlm_path_rename(io_path("new"), io_path("old"))); /* now that it is closed */
    }
#else
    assert_true(renamed);
    (void)code;
#endif
    expect_text("old", "new");
    assert_false(tvlm_path_exists(io_path("new")));
    assert_false(tvlm_path_rename(io_path("new"), io_path("old")));
    assert_int_equal(errno, ENOENT);
}

static void test_folder(void **state) {
    char **names;
    size_t count;
    (void)state;
    write_text("b", "");
    write_text("a", "");
    write_text("\xc3\xa4", ""); /* an a with two dots */
    write_text(".hidden", "");
    assert_true(tvlm_folder_make(io_path("c"), true));
    assert_false(tvlm_folder_make(io_path("c"), true));
    assert_int_equal(errno, EEXIST);
    assert_true(tvlm_folder_list(io_folder, &names, &count));
    assert_int_equal(count, 5);
    static const char *const expected[] = {".hidden", "a", "b", "c", "\xc3\xa4"};
    for (size_t i = 0; i < 5; ++i) assert_string_equal(names[i], expected[i]);
    tvlm_folder_release(names, count);
    assert_true(tvlm_folder_list(io_path("c"), &names, &count));
    assert_int_equal(count, 0);
    tvlm_folder_release(names, count);
    assert_false(tvlm_folder_list(io_path("none"), &names, &count));
    assert_int_equal(errno, ENOENT);
    assert_null(names);
}

static void test_lines(void **state) {
    char *line = NULL, long_line[1000];
    size_t room = 0;
    (void)state;
    memset(long_line, 'x', sizeof long_line - 2);
    memcpy(long_line + sizeof long_line - 2, "\n", 2);
    FILE *file = tvlm_stdio_open(io_path("lines"), "wb");
    assert_non_null(file);
    assert_true(fprintf(file, "one\r\n\n%send", long_line) > 0 && fclose(file) == 0);
    file = tvlm_stdio_of(tvlm_file_open(io_path("lines"), true), "rb");
    assert_non_null(file);
    const char *const expected[] = {"one\r\n", "\n", long_line, "end"};
    for (size_t i = 0; i < 4; ++i) {
        assert_int_equal(tvlm_stdio_line(file, &line, &room), strlen(expected[i]));
        assert_string_equal(line, expected[i]);
    }
    assert_int_equal(tvlm_stdio_line(file, &line, &room), 0);
    assert_false(ferror(file) != 0 || tvlm_stdio_is_terminal(file));
    free(line);
    assert_int_equal(fclose(file), 0);
}

static void test_temporary(void **state) {
    char *first, *second;
    (void)state;
    const int a = tvlm_temporary_make(io_path("target"), 0, &first);
    const int b = tvlm_temporary_make(io_path("target"), 0, &second);
    assert_true(a >= 0 && b >= 0 && strcmp(first, second) != 0);
    assert_int_equal(tvlm_path_folder(first), strlen(io_folder) + 1);
    assert_true(tvlm_file_close(a) && tvlm_file_close(b));
    tvlm_temporary_forget(second);
    tvlm_temporary_remove_all();
    assert_true(!tvlm_path_exists(first) && tvlm_path_exists(second));
    tvlm_temporary_forget(first);
    free(first);
    free(second);
    assert_int_equal(tvlm_temporary_make(io_path("none/target"), 0, &first), -1);
    assert_int_equal(errno, ENOENT);
    assert_null(first);
}

static void test_waiter(void **state) {
    (void)state;
    write_text("a", "");
    const int file = tvlm_file_open(io_path("a"), true);
    tvlm_waiter *waiter = tvlm_waiter_open(file);
    assert_non_null(waiter);
    assert_true(tvlm_waiter_wait(waiter)); /* a file never lets a reader wait */
    tvlm_waiter_stop(waiter);
    assert_false(tvlm_waiter_wait(waiter));
    tvlm_waiter_close(&waiter);
    assert_null(waiter);
    assert_true(tvlm_file_close(file));
}

/* 300 characters, which old programs for Windows cannot open. */
static void test_long_name(void **state) {
    enum { DEPTH = 6 };
    char path[700];
    size_t ends[DEPTH];
    (void)state;
    size_t length = (size_t)snprintf(path, sizeof path, "%s", io_folder);
    for (int i = 0; i < DEPTH; ++i) {
        length += (size_t)snprintf(path + length, sizeof path - length, "/%050d", i);
        ends[i] = length;
        assert_true(tvlm_folder_make(path, false));
    }
    snprintf(path + length, sizeof path - length, "/file");
    assert_true(length > 300);
    assert_int_equal(tvlm_file_write(path, "text", 4, &io_log), TVLM_OK);
    void *bytes;
    size_t size;
    assert_int_equal(tvlm_file_read(path, &io_log, &bytes, &size), TVLM_OK);
    assert_int_equal(size, 4);
    free(bytes);
    assert_true(tvlm_path_remove(path));
    for (int i = DEPTH; --i >= 0;) {
        path[ends[i]] = '\0';
#ifdef _WIN32 /* whose C library knows no long names */
        wchar_t *const name = tvlm_windows_name(path);
        assert_true(name != NULL && _wrmdir(name) == 0);
        free(name);
#else
        assert_int_equal(rmdir(path), 0);
#endif
    }
}

/* Names that Windows would take for others. Elsewhere they are names as all others. */
static void test_other_systems_names(void **state) {
    static const char *const names[] = {
        "COM1", "com1.txt", "NUL.json",        "aux", "LPT9.tar.gz", "COM\xc2\xb2", "conin$", "CONOUT$",
        "CON:", "COM1:",    "frame_12:30.png", "d:x", "a::$DATA",    "end.",        "end "};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const tvlm_status status = tvlm_file_write(io_path(names[i]), "text", 4, &io_log);
#ifdef _WIN32
        io_expect(status, TVLM_ERROR_IO, names[i]);
        assert_int_equal(tvlm_file_open(io_path(names[i]), true), -1);
        assert_int_equal(errno, EINVAL);
        assert_int_equal(tvlm_path_folder(io_path(names[i])), strlen(io_folder) + 1);
#else
        assert_int_equal(status, TVLM_OK);
        expect_text(names[i], "text");
#endif
    }
#ifdef _WIN32
    assert_int_equal(tvlm_path_folder("d:x"), 2);
    assert_int_equal(tvlm_file_write("NUL", "text", 4, &io_log), TVLM_OK);
    char prefixed[700] = "\\\\?\\"; /* as links' targets are told; its drive has a colon */
    assert_non_null(_fullpath(prefixed + 4, io_path("a"), sizeof prefixed - 4));
    assert_int_equal(tvlm_file_write(prefixed, "text", 4, &io_log), TVLM_OK);
    expect_text("a", "text");
    assert_true(tvlm_path_remove(prefixed + 4));
    assert_int_equal(io_files(false), 0);
#endif
}

/* Letters that no code page has together. */
static void test_variables(void **state) {
    static const char value[] = "\xc3\xa4\xd0\x96\xe2\x82\xac/\xe6\xbc\xa2";
    (void)state;
#ifdef _WIN32
    assert_int_equal(_wputenv_s(L"TVLM_TEST_VARIABLE", L"\u00e4\u0416\u20ac/\u6f22"), 0);
#else
    assert_int_equal(setenv("TVLM_TEST_VARIABLE", value, 1), 0);
#endif
    assert_string_equal(tvlm_variable("TVLM_TEST_VARIABLE"), value);
    assert_int_equal(setenv("TVLM_TEST_VARIABLE", "", 1), 0);
    assert_null(tvlm_variable("TVLM_TEST_VARIABLE"));
    assert_null(tvlm_variable("TVLM_TEST_NO_SUCH_VARIABLE"));
}

#ifdef _WIN32
static void copy_library(const char *name) {
    char from[400];
    void *bytes;
    size_t size;
    snprintf(from, sizeof from, "%s/System32/version.dll", getenv("SystemRoot"));
    assert_int_equal(tvlm_file_read(from, &io_log, &bytes, &size), TVLM_OK);
    assert_int_equal(tvlm_file_write(io_path(name), bytes, size, &io_log), TVLM_OK);
    free(bytes);
}

/* What came with a photo is not run, wherever the user is; by its path it is. */
static void test_current_folder(void **state) {
    char before[400], whole[400], path[4096], *const folders = strdup(getenv("PATH"));
    (void)state;
    copy_library("tvlm_own.dll");
    write_text("tvlm_own.exe", "");
    assert_true(_getcwd(before, sizeof before) != NULL && _chdir(io_folder) == 0);
    assert_non_null(_fullpath(whole, ".", sizeof whole));
    void *const library = tvlm_library_open("tvlm_own.dll");
    const bool found = tvlm_program_find("tvlm_own", path, sizeof path);
    (void)_putenv_s("PATH", ".");
    const bool found_here = tvlm_program_find("tvlm_own", path, sizeof path);
    (void)_putenv_s("PATH", whole);
    const bool found_there = tvlm_program_find("tvlm_own", path, sizeof path);
    void *const by_path = tvlm_library_open("./tvlm_own.dll");
    assert_true(_chdir(before) == 0 && _putenv_s("PATH", folders) == 0);
    free(folders);
    assert_null(library);
    assert_false(found || found_here);
    assert_true(found_there && tvlm_program_exists(path));
    assert_non_null(by_path);
    assert_true(FreeLibrary(by_path) != 0);
    assert_non_null(tvlm_library_open("version.dll")); /* the system's */
}
#endif

static void test_program(void **state) {
    char path[4096];
    (void)state;
    assert_true(tvlm_program_beside("other", path, sizeof path));
    assert_non_null(strstr(path, "other"));
    assert_false(tvlm_program_exists(path));
    assert_true(tvlm_program_beside("test_platform", path, sizeof path));
    assert_true(tvlm_program_exists(path));
    assert_false(tvlm_program_exists(io_folder));
    assert_false(tvlm_program_beside("other", path, 4));
    assert_false(tvlm_program_find("no such program", path, sizeof path));
    assert_true(tvlm_processors() >= 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, io_setup, io_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_facts),
        TEST(test_identity),
        TEST(test_new_files),
        TEST(test_no_byte_is_changed),
        TEST(test_update),
        TEST(test_lock),
        TEST(test_rename_over_an_open_file),
        TEST(test_folder),
        TEST(test_lines),
        TEST(test_temporary),
        TEST(test_waiter),
        TEST(test_long_name),
        TEST(test_other_systems_names),
        TEST(test_variables),
        TEST(test_program),
#ifdef _WIN32
        TEST(test_current_folder),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
