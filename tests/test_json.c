/* SPDX-License-Identifier: Apache-2.0 */
/* What the tool writes as JSON, and what it calls a budget. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

/* The tool is a program, not a library: its files are part of this one. */
#include "../tools/budget_scales.c"
#include "../tools/json.c"

static void json_is_exact(void **state) {
    static const float numbers[] = {0.1f, 1.0f / 3.0f, 16777216.0f, -1e-30f, 3.4028235e38f, 1e-45f, 5.5f};
    char text[32];
    json_writer json = {0};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        json_format_float(numbers[i], text, sizeof text);
        assert_true(strtof(text, NULL) == numbers[i]);
    }
    json_open_object(&json, NULL, true);
    json_string(&json, "a\"\\\n", "\xc3\xa4\xff\x01");
    json_float(&json, "f", 0.1f);
    json_float(&json, "n", NAN);
    json_open_array(&json, "e", false);
    json_close(&json);
    json_open_array(&json, "l", false); /* flat, as what it is in */
    json_integer(&json, NULL, -3);
    json_boolean(&json, NULL, true);
    json_string(&json, NULL, NULL);
    json_close(&json);
    json_close(&json);
    assert_string_equal(json_text_of(&json),
                        "{\"a\\\"\\\\\\u000a\": \"\xc3\xa4\xef\xbf\xbd\\u0001\", \"f\": 0.1, \"n\": null, "
                        "\"e\": [], \"l\": [-3, true, null]}\n");
    json_release(&json);
    for (int i = 0; i <= JSON_DEPTH_MAX; ++i) json_open_array(&json, NULL, false);
    assert_null(json_text_of(&json)); /* too deep */
    json_release(&json);
}

static void a_budget_is_named(void **state) {
    char text[64];
    (void)state;
    const int length = budget_title(4, 3, 12, 162, text, sizeof text);
    assert_string_equal(text, "4 x 3 thumbnail, 150 tiles");
    assert_int_equal(length, (int)strlen(text));
    budget_title(4, 3, 10, 160, text, sizeof text);
    assert_string_equal(text, "4 x 3 thumbnail, 2 empty, 150 tiles");
}

/* Levels of lines, and what closing too often does; and as many levels as there may be. */
static void json_is_indented(void **state) {
    json_writer json = {0};
    (void)state;
    json_open_object(&json, NULL, false);
    json_integer(&json, "a", 1);
    json_open_object(&json, "b", false);
    json_integers(&json, "c", 2, (const int64_t[]){INT64_MIN, INT64_MAX});
    json_open_array(&json, "d", false);
    json_double(&json, NULL, 1.0 / 3.0);
    json_double(&json, NULL, INFINITY);
    json_boolean(&json, NULL, false);
    json_close(&json);
    json_close(&json);
    json_image(&json, "e.png", 3, 4);
    json_close(&json);
    json_close(&json);
    assert_string_equal(json_text_of(&json),
                        "{\n  \"a\": 1,\n  \"b\": {\n"
                        "    \"c\": [-9223372036854775808, 9223372036854775807],\n"
                        "    \"d\": [\n      0.333333,\n      null,\n      false\n    ]\n  },\n"
                        "  \"image\": {\"path\": \"e.png\", \"width\": 3, \"height\": 4}\n}\n");
    json_release(&json);
    for (int i = 0; i < JSON_DEPTH_MAX; ++i) json_open_array(&json, NULL, true);
    for (int i = 0; i < JSON_DEPTH_MAX; ++i) json_close(&json);
    assert_string_equal(json_text_of(&json), "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]\n");
    json_release(&json);
}

/* The bytes of the character that begins at `text`, by the definition of UTF-8; 0: none does. */
static size_t character_at(const unsigned char *text) {
    static const struct {
        unsigned char first, last;
        uint32_t least;
    } kinds[] = {{0x01, 0x7f, 0x01}, {0xc0, 0xdf, 0x80}, {0xe0, 0xef, 0x800}, {0xf0, 0xf7, 0x10000}};
    for (size_t more = 0; more < 4; ++more) {
        if (text[0] < kinds[more].first || text[0] > kinds[more].last) continue;
        uint32_t code = more == 0 ? text[0] : text[0] & (0x3fU >> more);
        for (size_t i = 1; i <= more; ++i) {
            if (text[i] < 0x80 || text[i] > 0xbf) return 0;
            code = code << 6 | (text[i] & 0x3fU);
        }
        return code >= kinds[more].least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? more + 1
                                                                                                 : 0;
    }
    return 0;
}

static void check_quoted(const unsigned char *text) {
    char wanted[64] = "\"";
    json_writer json = {0};
    for (const unsigned char *at = text; *at != '\0';) {
        const size_t length = character_at(at);
        char *const end = wanted + strlen(wanted);
        if (length == 0)
            memcpy(end, "\xef\xbf\xbd", 4);
        else if (*at < 0x20)
            snprintf(end, 8, "\\u%04x", (unsigned)*at);
        else
            snprintf(end, 8, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", (int)length, (const char *)at);
        at += length > 0 ? length : 1;
    }
    json_string(&json, NULL, (const char *)text);
    if (json.text == NULL) {
        fail_msg("no memory");
        return;
    }
    if (strncmp(json.text, wanted, strlen(wanted)) != 0 || strcmp(json.text + strlen(wanted), "\"") != 0)
        fail_msg("%02x %02x %02x %02x", text[0], text[1], text[2], text[3]);
    json_release(&json);
}

/* All first bytes, each with what may and what may not follow. */
static void texts_are_utf8(void **state) {
    static const unsigned char next[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    enum { NEXT = sizeof next };
    unsigned char text[5] = {0};
    (void)state;
    for (unsigned first = 1; first < 256; ++first)
        for (unsigned rest = 0; rest < NEXT * NEXT * NEXT; ++rest) {
            text[0] = (unsigned char)first;
            text[1] = next[rest / NEXT / NEXT];
            text[2] = next[rest / NEXT % NEXT];
            text[3] = next[rest % NEXT];
            if (test_small() && rest % 7 != first % 7) continue;
            check_quoted(text);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_exact),
        cmocka_unit_test(json_is_indented),
        cmocka_unit_test(texts_are_utf8),
        cmocka_unit_test(a_budget_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
