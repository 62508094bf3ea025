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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_exact),
        cmocka_unit_test(a_budget_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
