/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_crops.c: the pictures that the tool writes of a thumbnail with empty cells and of tiles at a third.
 * tests/python/check_crops.py has all that a strategy chooses.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "holes_helper.h"
#include "stack_helper.h"
#include "support_stage.h"

/* The tool is a program, not a library: its files are part of this one, without what it says and notes. */
#include "../tools/budget_scales.c"
#include "../tools/json.c"
#include "../tools/select_crops.c"

enum { PATCH = 16, WIDE = 12 * PATCH, HIGH = 6 * PATCH, COLUMNS = 5, ROWS = 3, POSITIONS = 32 };

int tool_fail(struct tool *tool, const char *format, ...) {
    (void)tool;
    fail_msg("%s", format);
    return TOOL_FAILED;
}

int tool_status(struct tool *tool, tvlm_status status) {
    (void)tool;
    assert_int_equal(status, TVLM_OK);
    return TOOL_DONE;
}

int files_output(struct tool *tool, const char *option, const char *path) {
    (void)tool;
    (void)option;
    (void)path;
    return TOOL_DONE;
}

void tool_stem(const char *path, char *stem, size_t size) {
    snprintf(stem, size, "%s", path);
}

/* A folder that is gone after the test. */
static char folder[] = "/tmp/test_crops_XXXXXX";

static char *path_in(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static tvlm_image *read_and_remove(const char *name) {
    tvlm_image *image = NULL;
    if (tvlm_image_load(path_in(name), NULL, &image) != TVLM_OK) fail_msg("%s is not there", name);
    assert_int_equal(unlink(path_in(name)), 0);
    return image;
}

static int byte_at(const tvlm_image *image, int32_t x, int32_t y, int channel) {
    return ((const uint8_t *)image->pixels)[(y * image->width + x) * image->channels + channel];
}

/* What position i shows at a place of its patch: something of its own. */
static int shown(int32_t i, int32_t x, int32_t y, int channel) {
    return (37 * i + 3 * x + 5 * y + 70 * channel) % 256;
}

static void check_thumbnail(const tvlm_selection *selection) {
    tvlm_image *image = read_and_remove("page-thumbnail.png");
    tvlm_cell empty[COLUMNS * ROWS];
    float *const expected = calloc(3 * COLUMNS * ROWS * PATCH * PATCH, sizeof *expected);
    tvlm_thumbnail_grid grid = {COLUMNS, ROWS, PATCH, empty, 0};
    int32_t next = 0;
    assert_non_null(expected);
    assert_true(image->width == COLUMNS * PATCH && image->height == ROWS * PATCH);
    for (int32_t i = 0; i < COLUMNS * ROWS; ++i) {
        if (holes_at(i % COLUMNS, i / COLUMNS)) {
            empty[grid.empty_count++] = (tvlm_cell){i % COLUMNS, i / COLUMNS};
            continue;
        }
        for (int32_t n = 0; n < 3 * PATCH * PATCH; ++n) {
            const int32_t x = n / 3 % PATCH, y = n / 3 / PATCH;
            const size_t at =
                (size_t)(i / COLUMNS * PATCH + y) * COLUMNS * PATCH + (size_t)(i % COLUMNS * PATCH + x);
            expected[3 * at + (size_t)(n % 3)] = (float)shown(next, x, y, n % 3);
        }
        ++next;
    }
    assert_true(grid.empty_count == selection->empty_count && next == selection->info.thumbnail_cells);
    assert_int_equal(tvlm_thumbnail_fill(&grid, 3, expected, NULL), TVLM_OK);
    for (int32_t n = 0; n < 3 * COLUMNS * ROWS * PATCH * PATCH; ++n)
        assert_true(fabsf((float)byte_at(image, n / 3 % image->width, n / 3 / image->width, n % 3) -
                          expected[n]) < 0.6f);
    free(expected);
    tvlm_image_destroy(&image);
}

/* Two tiles beside each other are one picture of theirs: what the positions show, and not the image by area. */
static void check_third(const tvlm_selection *selection, const char *name) {
    tvlm_image *image = read_and_remove(name);
    const int32_t first = selection->info.thumbnail_cells;
    assert_true(image->width == 2 * PATCH && image->height == PATCH);
    for (int32_t n = 0; n < 3 * 2 * PATCH * PATCH; ++n) {
        const int32_t x = n / 3 % (2 * PATCH), y = n / 3 / (2 * PATCH);
        const int32_t position = first + (x < PATCH ? 3 : 1);
        assert_int_equal(byte_at(image, x, y, n % 3), shown(position, x % PATCH, y, n % 3));
    }
    tvlm_image_destroy(&image);
}

static void test_holes(void **state) {
    static float patches[POSITIONS * 3 * PATCH * PATCH];
    static uint8_t pixels[WIDE * HIGH * 3];
    static const char third[] =
        "{\"file\": \"page-2.png\", \"x\": 0, \"y\": 0, \"width\": 96, \"height\": 48, "
        "\"level\": 1.58";
    const tvlm_image image = u8_image(pixels, WIDE, HIGH, 3);
    tvlm_selection *selection = holes_selection(WIDE, HIGH, COLUMNS, ROWS, PATCH);
    static char text[4096];
    struct tool tool = {0};
    (void)state;
    assert_non_null(selection);
    selection->positions[selection->info.thumbnail_cells + 3].x =
        0.5f * 3 * PATCH; /* left of the other one */
    selection->positions[selection->info.thumbnail_cells + 3].y = 0.5f * 3 * PATCH;
    assert_in_range(selection->count, 1, POSITIONS);
    for (int32_t n = 0; n < selection->count * 3 * PATCH * PATCH; ++n) {
        const int32_t texel = n % (PATCH * PATCH), channel = n / (PATCH * PATCH) % 3;
        patches[n] = (float)shown(n / (3 * PATCH * PATCH), texel % PATCH, texel / PATCH, channel) / 255.0f;
    }
    assert_non_null(mkdtemp(folder));
    const tvlm_stack_info working = {.width = image.width, .height = image.height};
    assert_int_equal(budget_write_crops(&tool, folder, "page", &image, &working, selection, patches, PATCH),
                     TOOL_DONE);
    FILE *const file = fopen(path_in("page.json"), "r");
    assert_non_null(file);
    (void)fread(text, 1, sizeof text - 1, file);
    fclose(file);
    unlink(path_in("page.json"));
    if (strstr(text, third) == NULL) fail_msg("%s", text);
    check_thumbnail(selection);
    check_third(selection, "page-2.png");
    for (int i = 0; i < 4; ++i) {
        char name[16];
        snprintf(name, sizeof name, "page-%d.png", i);
        if (i != 2) assert_int_equal(unlink(path_in(name)), 0);
    }
    assert_int_equal(rmdir(folder), 0); /* there were no others */
    tvlm_selection_destroy(&selection);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_holes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
