/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_batch_lines.c: a file of lines that is resumed: a rest is cut off wherever it ends, and anything else is refused and left as
 * it is; and which images have their line. The tool's own parts are linked to this program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch_lines.h"
#include "log_helper.h"

static char path[] = "/tmp/tvlm-batch-lines-XXXXXX";
static struct tool tool;

static int make_file(void **state) {
    const int file = mkstemp(path);
    (void)state;
    return file >= 0 ? close(file) : -1;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void put(const char *text) {
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    tool = (struct tool){.log = noting};
}

static const char *content(void) {
    static char text[4096];
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    return text;
}

static batch_lines *resumed(const char *text) {
    batch_lines *opened = NULL;
    put(text);
    if (batch_lines_open(&tool, path, true, &opened) != TOOL_DONE) fail_msg("'%s': %s", text, tool.error);
    assert_true(tool.printed);
    return opened;
}

static void check_refused(const char *text, int number) {
    batch_lines *opened = NULL;
    char wanted[200];
    put(text);
    snprintf(wanted, sizeof wanted, "%s: line %d is none of --jsonl", path, number);
    if (batch_lines_open(&tool, path, true, &opened) != TOOL_FAILED) fail_msg("'%s' is resumed", text);
    if (strcmp(tool.error, wanted) != 0) fail_msg("'%s': %s", text, tool.error);
    assert_null(opened);
    if (strcmp(content(), text) != 0) fail_msg("'%s' became '%s'", text, content());
}

#define ONE     "{\"image\": {\"path\": \"a.png\", \"width\": 4}, \"k\": 2}"
#define SEVERAL "{\"selections\": [{\"image\": {\"path\": \"b\\\"\\\\.png\"}}]}"
#define FAILED  "{\"image\": {\"path\": \"c.png\"}, \"error\": \"it\"}"

static void a_rest_is_cut_off(void **state) {
    static const char *const all[] = {ONE, SEVERAL, FAILED};
    static const size_t heads[] = {20, 36, 20}; /* how far a line is as all lines are */
    char text[300];
    (void)state;
    for (size_t i = 0; i < 3; ++i)
        for (size_t length = 0; length <= strlen(all[i]); ++length)
            for (int before = 0; before < 2; ++before) {
                snprintf(text, sizeof text, "%s%.*s", before ? ONE "\n" : "", (int)length, all[i]);
                batch_lines *opened = resumed(text);
                assert_int_equal(batch_lines_found(opened), before);
                assert_int_equal(batch_lines_failed(opened), 0);
                batch_lines_close(&opened);
                assert_null(opened);
                assert_string_equal(content(), before ? ONE "\n" : "");
                if (length == 0 || length > heads[i]) continue;
                text[strlen(text) - 1] ^= 1; /* it is not the beginning of such a line any more */
                check_refused(text, 1 + before);
            }
}

static void other_lines_are_refused(void **state) {
    (void)state;
    check_refused("\n", 1);
    check_refused("{\"x\": 1}\n", 1);
    check_refused(ONE "\n\n" ONE "\n", 2);
    check_refused(ONE "\n" SEVERAL "\n{\"image\": {\"path\": \"a\n", 3); /* the name has no end */
    check_refused("{\"image\": {\"path\": \"a\\\"\n", 1);
    check_refused("{\"selections\": [{\"image\": {\"path\": \n", 1);
}

static void each_line_stands_for_one_image(void **state) {
    batch_lines *opened = resumed(ONE "\n" FAILED "\n" SEVERAL "\n" ONE "\n");
    (void)state;
    assert_int_equal(batch_lines_found(opened), 4);
    assert_int_equal(batch_lines_failed(opened), 1);
    assert_false(batch_lines_passed(opened, "a.pn"));
    assert_false(batch_lines_passed(opened, "a.png2"));
    assert_true(batch_lines_passed(opened, "a.png"));
    assert_true(batch_lines_passed(opened, "a.png"));
    assert_false(batch_lines_passed(opened, "a.png")); /* there are two lines */
    assert_true(batch_lines_passed(opened, "b\"\\.png"));
    assert_false(batch_lines_passed(opened, "b\"\\.png"));
    assert_true(batch_lines_passed(opened, "c.png"));
    /* What is written follows what is there. */
    json_writer json = {0};
    json_open_object(&json, NULL, true);
    json_integer(&json, "x", 1);
    json_close(&json);
    assert_int_equal(batch_lines_write(&tool, opened, &json), TOOL_DONE);
    assert_int_equal(json.length, 0);
    json_release(&json);
    tool.subject = "d.png";
    assert_int_equal(batch_lines_write_error(&tool, opened, "d.png", "wrong"), TOOL_DONE);
    assert_string_equal(tool.subject, "d.png");
    assert_string_equal(content(), ONE "\n" FAILED "\n" SEVERAL "\n" ONE "\n{\"x\": 1}\n"
                                       "{\"image\": {\"path\": \"d.png\"}, \"error\": \"wrong\"}\n");
    /* While it is open nobody else writes to it, and it is not emptied. */
    batch_lines *other = NULL;
    for (int resume = 0; resume < 2; ++resume) {
        tool = (struct tool){.log = noting};
        assert_int_equal(batch_lines_open(&tool, path, resume, &other), TOOL_FAILED);
        assert_non_null(strstr(tool.error, ": another process writes to it"));
    }
    assert_non_null(strstr(content(), "d.png"));
    batch_lines_close(&opened);
}

static void a_file_is_emptied(void **state) {
    batch_lines *opened = NULL;
    (void)state;
    /* What is there must be such lines, or nothing: it may be an image that a list names later. */
    put("anything\n");
    assert_int_equal(batch_lines_open(&tool, path, false, &opened), TOOL_FAILED);
    assert_non_null(strstr(tool.error, "its first line is none of --jsonl; it is not overwritten"));
    assert_string_equal(content(), "anything\n");
    tool = (struct tool){.log = noting};
    put("");
    assert_int_equal(batch_lines_open(&tool, path, false, &opened), TOOL_DONE);
    batch_lines_close(&opened);
    put(ONE "\n");
    assert_int_equal(batch_lines_open(&tool, path, false, &opened), TOOL_DONE);
    assert_string_equal(content(), "");
    assert_false(batch_lines_passed(opened, "a.png"));
    batch_lines_close(&opened);
    batch_lines_close(&opened);
    tool = (struct tool){.log = noting};
    assert_int_equal(batch_lines_open(&tool, NULL, false, &opened), TOOL_DONE); /* stdout */
    assert_false(tool.printed);
    batch_lines_close(&opened);
    assert_int_equal(batch_lines_open(&tool, "/dev/null", true, &opened), TOOL_FAILED);
    assert_string_equal(tool.error, "/dev/null: is no file to resume");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rest_is_cut_off),
        cmocka_unit_test(other_lines_are_refused),
        cmocka_unit_test(each_line_stands_for_one_image),
        cmocka_unit_test(a_file_is_emptied),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
