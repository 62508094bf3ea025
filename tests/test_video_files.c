/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_video_files.c: what `tvlm video` reads and writes beside its frames: the gaze, sample by sample; flow, with vectors that are
 * not known; features of some cells; and the names of such files. The tool's own parts are linked to this program.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_helper.h"
#include "texturevlm/io_flow.h"
#include "video.h"

static char folder[] = "/tmp/tvlm-video-files-XXXXXX", path[100];
static struct tool tool;

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static void begin(const char *name) {
    tool = (struct tool){.log = noting};
    snprintf(path, sizeof path, "%s/%s", folder, name);
}

/* ---- Gaze ---- */

static void read_gaze(const char *text, video_gaze *gaze) {
    begin("gaze.csv");
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    *gaze = (video_gaze){0};
    if (video_gaze_read(&tool, path, gaze) != TOOL_DONE) fail_msg("%s", tool.error);
    assert_int_equal(unlink(path), 0);
}

static void check_gaze(video_gaze *gaze, double time, int32_t capacity, const char *wanted) {
    float points[128];
    char is[200] = "";
    const int32_t count = video_gaze_take(gaze, time, capacity, points);
    for (int32_t i = 0; i < count; ++i)
        snprintf(is + strlen(is), sizeof is - strlen(is), "%s%g,%g", i > 0 ? " " : "", (double)points[2 * i],
                 (double)points[2 * i + 1]);
    if (strcmp(is, wanted) != 0) fail_msg("at %g s: '%s', not '%s'", time, is, wanted);
}

static const char samples[] =
    "# time,x,y\n0,1,2\n0.1,3,4\n\n0.2 5 6\n0.2\tnan;7\n0.5, 8 ,nan\r\n0.6,9,10 # here\n0.7,11,-12.5\n2000000,1,1";

static void gaze_is_given_once(void **state) {
    video_gaze gaze;
    (void)state;
    read_gaze(samples, &gaze);
    assert_int_equal(gaze.count, 8);
    check_gaze(&gaze, -1.0, 64, "");
    check_gaze(&gaze, 0.0, 64, "1,2");
    check_gaze(&gaze, 0.05, 64, "1,2"); /* nothing was measured: it stays where it was */
    check_gaze(&gaze, 0.2, 64, "3,4 5,6");
    check_gaze(&gaze, 0.3, 64, ""); /* the eyes are shut */
    check_gaze(&gaze, 0.5, 64, "");
    check_gaze(&gaze, 0.55, 64, "");
    check_gaze(&gaze, 0.7, 64, "9,10 11,-12.5");
    check_gaze(&gaze, 9.0, 64, "11,-12.5");
    video_gaze_release(&gaze);
    assert_null(gaze.samples);
}

static void the_last_samples_count(void **state) {
    static const struct {
        double time;
        int32_t capacity;
        const char *points;
    } rows[] = {{0.1, 2, "1,2 3,4"}, {0.1, 1, "3,4"}, {0.2, 4, "1,2 3,4 5,6"},
                {0.2, 3, "3,4 5,6"}, {0.2, 1, ""},    {0.7, 2, "9,10 11,-12.5"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        video_gaze gaze;
        read_gaze(samples, &gaze);
        check_gaze(&gaze, rows[i].time, rows[i].capacity, rows[i].points);
        video_gaze_release(&gaze);
    }
}

/* ---- Names ---- */

static void a_frame_has_its_file(void **state) {
    char name[64];
    video_frame frame = {.path = "a/b.c.jpg", .number = 12};
    (void)state;
    assert_true(video_file_name("f", "npy", &frame, false, name, sizeof name));
    assert_string_equal(name, "f/b.c.npy");
    assert_true(video_file_name("f", "npy", &frame, false, name, 10));
    assert_false(video_file_name("f", "npy", &frame, false, name, 9));
    assert_true(video_file_name("f/g", "flo", &frame, true, name, sizeof name));
    assert_string_equal(name, "f/g/frame-000012.flo");
    frame.number = 1234567;
    assert_true(video_file_name("f", "flo", &frame, true, name, sizeof name));
    assert_string_equal(name, "f/frame-1234567.flo");
}

static void folders_are_there_or_made(void **state) {
    char wanted[200];
    (void)state;
    begin("none");
    assert_int_equal(video_folder_check(&tool, NULL), TOOL_DONE);
    assert_int_equal(video_folder_check(&tool, folder), TOOL_DONE);
    assert_int_equal(video_folder_check(&tool, path), TOOL_FAILED);
    snprintf(wanted, sizeof wanted, "%s: No such file or directory", path);
    assert_string_equal(tool.error, wanted);
    assert_int_equal(video_folder_make(&tool, path), TOOL_DONE);
    assert_int_equal(video_folder_make(&tool, path), TOOL_DONE); /* it is there */
    assert_int_equal(rmdir(path), 0);
    begin("none/below");
    assert_int_equal(video_folder_make(&tool, path), TOOL_FAILED);
    snprintf(wanted, sizeof wanted, "%s: cannot be made: No such file or directory", path);
    assert_string_equal(tool.error, wanted);
    begin("file");
    FILE *const file = fopen(path, "w");
    assert_true(file != NULL && fclose(file) == 0);
    assert_int_equal(video_folder_make(&tool, path), TOOL_FAILED);
    snprintf(wanted, sizeof wanted, "%s: is not a folder", path);
    assert_string_equal(tool.error, wanted);
    assert_int_equal(unlink(path), 0);
}

/* ---- Flow ---- */

static void flow_may_be_unknown(void **state) {
    static const float vectors[] = {1.0f, 2.0f,  -3.0f, 4.0f,   1.1e9f, 5.0f,  6.0f, -1.1e9f,
                                    1e9f, -1e9f, 7.0f,  1.1e9f, 0.0f,   -0.5f, 8.0f, 9.0f};
    static const bool known[] = {true, true, false, false, true, false, true, true};
    tvlm_image image = {.width = 4, .height = 2};
    video_flow flow = {0};
    char wanted[200];
    (void)state;
    begin("a.flo");
    assert_int_equal(tvlm_flo_write(path, 4, 2, vectors, NULL), TVLM_OK);
    if (video_flow_read(&tool, path, &image, 8, 6, &flow) != TOOL_DONE) fail_msg("%s", tool.error);
    assert_true(flow.grid.columns == 4 && flow.grid.rows == 2 && flow.grid.channels == 3);
    assert_ptr_equal(flow.grid.data, flow.values);
    assert_int_equal(flow.capacity, 24);
    for (size_t i = 0; i < 8; ++i) {
        assert_true(flow.values[3 * i] == (known[i] ? 2.0f * vectors[2 * i] : 0.0f));
        assert_true(flow.values[3 * i + 1] == (known[i] ? 3.0f * vectors[2 * i + 1] : 0.0f));
        assert_true(flow.values[3 * i + 2] == (known[i] ? 1.0f : 0.0f));
    }
    /* A smaller one takes the room that there is; a larger one gets more. */
    image = (tvlm_image){.width = 1, .height = 2};
    assert_int_equal(tvlm_flo_write(path, 1, 2, vectors, NULL), TVLM_OK);
    assert_int_equal(video_flow_read(&tool, path, &image, 1, 2, &flow), TOOL_DONE);
    assert_true(flow.capacity == 24 && flow.grid.columns == 1 && flow.values[0] == 1.0f &&
                flow.values[4] == 4.0f);
    image = (tvlm_image){.width = 2, .height = 4};
    assert_int_equal(tvlm_flo_write(path, 2, 4, vectors, NULL), TVLM_OK);
    assert_int_equal(video_flow_read(&tool, path, &image, 2, 4, &flow), TOOL_DONE);
    assert_int_equal(flow.capacity, 24);
    for (int wrong = 0; wrong < 2; ++wrong) {
        image = (tvlm_image){.width = 2 + wrong, .height = 5 - wrong};
        begin("a.flo");
        assert_int_equal(video_flow_read(&tool, path, &image, 2, 4, &flow), TOOL_FAILED);
        snprintf(wanted, sizeof wanted, "%s: 2 x 4 vectors for a frame of %d x %d pixels", path, 2 + wrong,
                 5 - wrong);
        assert_string_equal(tool.error, wanted);
    }
    assert_int_equal(unlink(path), 0);
    video_flow_release(&flow);
    assert_true(flow.values == NULL && flow.capacity == 0);
}

/* ---- Features of some cells ---- */

static void cells_of_nan_have_no_features(void **state) {
    const float numbers[] = {1.0f, 2.0f, NAN, NAN, NAN, 3.0f, INFINITY, NAN, NAN, NAN, 4.0f, NAN};
    const struct tvlm_grid_input input = {
        .data = numbers, .columns = 3, .rows = 2, .channels = 2, .cell = 16.0f};
    const struct tvlm_grid_input whole = {.data = numbers, .columns = 1, .rows = 1, .channels = 2};
    static const uint8_t mask[] = {1, 0, 1, 1, 0, 1};
    video_partial partial;
    (void)state;
    begin("none");
    assert_int_equal(video_partial_take(&tool, &input, &partial), TOOL_DONE);
    assert_memory_equal(partial.mask, mask, sizeof mask);
    assert_ptr_equal(partial.input.data, partial.values);
    assert_true(partial.input.columns == 3 && partial.input.rows == 2 && partial.input.cell == 16.0f);
    const float *const values = partial.values;
    for (size_t i = 0; i < 12; ++i) {
        const float wanted = mask[i / 2] != 0 ? numbers[i] : 0.0f;
        assert_true(values[i] == wanted || (isnan(values[i]) && isnan(wanted)));
    }
    video_partial_release(&partial);
    assert_null(partial.mask);
    assert_int_equal(video_partial_take(&tool, &whole, &partial), TOOL_DONE);
    assert_true(partial.mask == NULL && partial.values == NULL && partial.input.data == numbers);
    video_partial_release(&partial);
}

static void halves_may_be_nan(void **state) {
    /* NaN of both signs; infinity and the largest number are none. */
    const uint16_t numbers[] = {0x7e00, 0x7c01, 0xfc01, 0xffff, 0x7c00, 0x7e00,
                                0xfc00, 0x7e00, 0x7bff, 0x7e00, 0x3c00, 0x0001};
    const struct tvlm_grid_input input = {
        .data = numbers, .columns = 2, .rows = 3, .channels = 2, .type = TVLM_VALUE_F16};
    static const uint8_t mask[] = {0, 0, 1, 1, 1, 1};
    video_partial partial;
    (void)state;
    begin("none");
    assert_int_equal(video_partial_take(&tool, &input, &partial), TOOL_DONE);
    assert_memory_equal(partial.mask, mask, sizeof mask);
    const uint16_t *const values = partial.values;
    for (size_t i = 0; i < 12; ++i) assert_int_equal(values[i], mask[i / 2] != 0 ? numbers[i] : 0);
    video_partial_release(&partial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaze_is_given_once),   cmocka_unit_test(the_last_samples_count),
        cmocka_unit_test(a_frame_has_its_file), cmocka_unit_test(folders_are_there_or_made),
        cmocka_unit_test(flow_may_be_unknown),  cmocka_unit_test(cells_of_nan_have_no_features),
        cmocka_unit_test(halves_may_be_nan),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
