/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_delta.c: frames of which parts are made again, against the same frames made in full: bit for bit, on
 * every device, storage and format, every channel that follows from the source, at every level. And that what
 * need not be made is not: texels far from what changed are poisoned, and stay so.
 */
#include "delta_helper.h"

#include <math.h>

#include "texturevlm/io.h"
#include "texturevlm/stream.h"

/* A still camera: an object moves. Every other frame with the one before as the previous one. */
static void check_object(const test_target *target, test_size size, int32_t tile) {
    const struct tvlm_update_params params = {.tile = tile};
    movie m = movie_of(size, 3, 11);
    tvlm_stack *parts = create(target, size, 1), *full = create(target, size, 1);
    tvlm_delta_report report = push("first frame", parts, full, 0, &m, &params);
    assert_true(report.whole);
    for (int i = 0; i < (test_small() || test_quick() ? 3 : 6); ++i) {
        for (int k = 0; k < 2 && i % 2 == 1; ++k) check(tvlm_stack_advance(k == 0 ? parts : full, 0, NULL));
        put_object(&m, i * 9 - 4, i * 5, 11);
        (void)push("object", parts, full, 0, &m, &params);
    }
    report = push("the same frame", parts, full, 0, &m, &params);
    assert_int_equal(report.changed, 0);
    assert_int_equal(report.bytes_uploaded, 0);
    assert_int_equal(report.family_count, 0);
    release(&m, parts, full);
}

/* One pixel at a time: at corners, edges, and where tiles meet. */
static void check_pixels(const test_target *target, test_size size, int32_t tile) {
    const struct tvlm_update_params params = {.tile = tile};
    const int32_t w = size.width, h = size.height;
    const int32_t places[][2] = {{0, 0},           {w - 1, 0},           {0, h - 1},
                                 {w - 1, h - 1},   {tile - 1, tile - 1}, {tile, tile},
                                 {tile, tile - 1}, {w / 2, h / 2}};
    movie m = movie_of(size, 1, 12);
    tvlm_stack *parts = create(target, size, 1), *full = create(target, size, 1);
    (void)push("first frame", parts, full, 0, &m, &params);
    const size_t count = test_small() || test_quick() ? 3 : sizeof places / sizeof places[0];
    for (size_t i = 0; i < count; ++i) {
        const bool inside = places[i][0] < w && places[i][1] < h;
        invert(&m, places[i][0], places[i][1]);
        const tvlm_delta_report report = push("a pixel", parts, full, 0, &m, &params);
        assert_int_equal(report.changed, inside ? 1 : 0);
    }
    release(&m, parts, full);
}

/* Cuts and noise: all changes, all at once, and back to a few. */
static void check_cut(const test_target *target, test_size size) {
    movie m = movie_of(size, 4, 13), other = movie_of(size, 4, 14);
    tvlm_stack *parts = create(target, size, 1), *full = create(target, size, 1);
    (void)push("first frame", parts, full, 0, &m, NULL);
    put_object(&m, 3, 3, 5);
    (void)push("before the cut", parts, full, 0, &m, NULL);
    const tvlm_delta_report cut = push("a cut", parts, full, 0, &other, NULL);
    assert_true(cut.whole && cut.changed == cut.tiles);
    put_object(&other, 3, 3, 5);
    (void)push("after the cut", parts, full, 0, &other, NULL);
    for (size_t i = 0; i < 4 * (size_t)size.width * (size_t)size.height; ++i)
        other.pixels[i] = (uint8_t)(other.pixels[i] + test_random(&other.random) % 5);
    (void)push("noise", parts, full, 0, &other, NULL);
    const tvlm_delta_report forced =
        push("in full", parts, full, 0, &other, tvlm_update_params(.full = true));
    assert_true(forced.whole);
    free(m.pixels);
    free(other.pixels);
    tvlm_stack_destroy(&parts);
    tvlm_stack_destroy(&full);
}

/* Of a batch one image, then another. */
static void check_batch(const test_target *target, test_size size) {
    const struct tvlm_update_params params = {.tile = 16};
    movie m[3];
    tvlm_stack *parts = create(target, size, 3), *full = create(target, size, 3);
    for (int32_t i = 0; i < 3; ++i) {
        m[i] = movie_of(size, 3, 20 + (uint64_t)i);
        (void)push("first frames", parts, full, i, &m[i], &params);
    }
    for (int i = 0; i < (test_small() || test_quick() ? 2 : 5); ++i) {
        const int32_t index = (2 * i + 1) % 3;
        put_object(&m[index], 7 * i, 4 * i, 9);
        const tvlm_delta_report report = push("of a batch", parts, full, index, &m[index], &params);
        assert_false(report.whole);
    }
    for (int32_t i = 0; i < 3; ++i) free(m[i].pixels);
    tvlm_stack_destroy(&parts);
    tvlm_stack_destroy(&full);
}

/* Two stacks of other sizes on one device, in turn: what is remembered of one's tiles is not used for the
 * other's. */
static void check_two_sizes(const test_target *target) {
    static const test_size sizes[2] = {{333, 60}, {48, 210}};
    movie m[2];
    tvlm_stack *parts[2], *full[2];
    for (int i = 0; i < 2; ++i) {
        m[i] = movie_of(sizes[i], 3, 90 + (uint64_t)i);
        parts[i] = create(target, sizes[i], 1);
        full[i] = create(target, sizes[i], 1);
        (void)push("two sizes", parts[i], full[i], 0, &m[i], tvlm_update_params(.tile = 16));
    }
    for (int k = 0; k < 4; ++k) {
        const int i = k % 2;
        put_object(&m[i], sizes[i].width - 13, sizes[i].height - 12 - k, 10);
        (void)push("two sizes, in turn", parts[i], full[i], 0, &m[i], tvlm_update_params(.tile = 16));
    }
    for (int i = 0; i < 2; ++i) {
        free(m[i].pixels);
        tvlm_stack_destroy(&parts[i]);
        tvlm_stack_destroy(&full[i]);
    }
}

/* ---- What is not made again ---- */

#define POISON 0.625f /* a half; no frame has it where we look */

/* Fills a slice, makes no levels. */
static void fill(tvlm_device *device, tvlm_texture *texture, float value) {
    float *rgba = malloc(4 * test_texels(texture, 0) * sizeof *rgba);
    assert_non_null(rgba);
    for (size_t i = 0; i < 4 * test_texels(texture, 0); ++i) rgba[i] = value;
    check(device->backend->texture_write(device, texture, 0, rgba));
    free(rgba);
}

/* How many texels of level 0 are not poison; and whether those in the far corner are. */
static size_t count_made(tvlm_device *device, tvlm_texture *texture) {
    float *rgba = test_read(device, texture, 0, 0);
    size_t made = 0;
    for (size_t i = 0; i < test_texels(texture, 0); ++i) made += rgba[4 * i] != POISON;
    free(rgba);
    return made;
}

/*
 * All of each grid is poisoned, and one corner changes: what is not poison any more was made. The last texel
 * must be untouched; the report must say what was found (texels may be poison by chance: at most 1 in 50).
 */
static void check_sentinels(const test_target *target) {
    tvlm_grid grids[TVLM_GRID_COUNT];
    size_t count = 0;
    if (!test_is_opencl(target->device)) return; /* the reference makes all again */
    const test_size size = {test_small() || test_quick() ? 470 : 900, 430};
    movie m = movie_of(size, 3, 31);
    tvlm_stack *stack = create(target, size, 1);
    tvlm_delta_report report;
    tvlm_image image = frame_of(&m);
    check(tvlm_stack_update_image(stack, 0, &image, NULL, &report));
    check(tvlm_stack_advance(stack, 0, NULL));
    check(tvlm_stack_make_all(stack));
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, 0);
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if (chunk->grids[grid] != NULL && tvlm_grid_is_local((tvlm_grid)grid))
            grids[count++] = (tvlm_grid)grid;
    assert_true(count >= 7);
    for (size_t i = 0; i < count; ++i) fill(target->device, chunk->grids[grids[i]], POISON);
    put_object(&m, 2, 2, 20);
    check(tvlm_stack_update_image(stack, 0, &image, NULL, &report));
    assert_int_equal(report.changed, 1);
    assert_int_equal(report.bytes_uploaded, 64 * 64 * 3);
    for (size_t i = 0; i < count; ++i) {
        const tvlm_texture *texture = chunk->grids[grids[i]];
        const tvlm_delta_family *family = family_of(&report, tvlm_grid_get_info(grids[i])->name);
        const size_t made = count_made(target->device, chunk->grids[grids[i]]);
        /* It looks so far that in a small picture nearly all is made again, and that as a whole. */
        const bool is_wide = tvlm_grid_get_info(grids[i])->reach > 256;
        if (family->update != TVLM_UPDATE_PARTS && !is_wide)
            fail_msg("%s was not made in parts", family->name);
        if (family->update != TVLM_UPDATE_PARTS) continue;
        if (made > (size_t)family->texels || (double)made < 0.98 * (double)family->texels)
            fail_msg("%s: %zu texels were made, %lld reported", family->name, made,
                     (long long)family->texels);
        if (!is_wide && family->texels >= family->all)
            fail_msg("%s: all %lld texels were made", family->name, (long long)family->all);
        assert_true(family->all == (int64_t)texture->width * texture->height);
    }
    assert_true(family_of(&report, "laplacian")->texels <= 3 * 128 * 128);
    assert_family(&report, "saliency", TVLM_UPDATE_LATER);
    free(m.pixels);
    tvlm_stack_destroy(&stack);
}

/* ---- Text, frames on the device ---- */

/* A line of strokes from (x, y) to `end`, of letters `scale` times 10 pixels high, on the ground; or only the
 * ground. */
static void write_line(movie *m, int32_t x, int32_t y, int32_t end, int32_t scale, bool ink) {
    for (int32_t j = 0; j < 10 * scale; ++j)
        for (int32_t i = x; i < end; ++i) {
            const int32_t place = i / scale, wide = 1 + place / 6 % 2;
            const bool stroke = ink && place % 6 < 2 * wide && j / scale != place / 6 * 7 % 10;
            m->pixels[(size_t)(y + j) * (size_t)m->size.width + (size_t)i] = stroke ? 50 : 190;
        }
}

static double sum_of(tvlm_stack *stack, int32_t channel) {
    size_t count;
    float *values = read_level(stack, 0, channel, 0, &count);
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) sum += values[i];
    free(values);
    return sum;
}

/*
 * Letters of all sizes come and go: what is text changes, far from the pixels where letters are large. Stacks of
 * text only: no other family looks that far.
 */
static void check_text(const test_target *target) {
    static const char *const channels = "r,g,b,text";
    for (int32_t scale = 1; scale <= (test_small() || test_quick() ? 1 : 8); scale *= 2) {
        const bool large = scale > 2;
        const test_size size = {large ? 760 : 380, large ? 560 : 280};
        movie m = {size, 1, malloc((size_t)size.width * (size_t)size.height), 81};
        assert_non_null(m.pixels);
        memset(m.pixels, 190, (size_t)size.width * (size_t)size.height);
        const int32_t top = large ? 240 : 120, left = 40, right = size.width - left,
                      middle = left + 20 * scale;
        tvlm_stack *parts = create_of(target, channels, size, 1),
                   *full = create_of(target, channels, size, 1);
        (void)push("an empty page", parts, full, 0, &m, NULL);
        assert_true(sum_of(parts, TVLM_CHANNEL_TEXT) == 0.0);
        write_line(&m, left, top, right, scale, true);
        (void)push("a line", parts, full, 0, &m, NULL);
        const double line = sum_of(parts, TVLM_CHANNEL_TEXT);
        assert_true(line > 0.0);
        write_line(&m, left, top, middle, scale, false);
        (void)push("less of it", parts, full, 0, &m, tvlm_update_params(.tile = 16));
        assert_true(sum_of(parts, TVLM_CHANNEL_TEXT) < line);
        write_line(&m, left, top - 13 * scale, right, scale, true); /* no quiet above the line now */
        (void)push("another line", parts, full, 0, &m, NULL);
        write_line(&m, left, top - 13 * scale, right, scale, false);
        write_line(&m, left, top, right, scale, false);
        (void)push("an empty page again", parts, full, 0, &m, NULL);
        assert_true(sum_of(parts, TVLM_CHANNEL_TEXT) == 0.0);
        release(&m, parts, full);
    }
}

static void update_there(tvlm_stack *stack, tvlm_buffer *buffer, const tvlm_pixels *pixels,
                         tvlm_delta_report *report) {
    tvlm_delta *delta;
    check(tvlm_delta_prepare(stack, &delta));
    check(tvlm_delta_plan_there(stack, 0, buffer, pixels, pixels->width, pixels->height,
                                tvlm_update_params(.tile = 16), &delta->plan));
    check(tvlm_delta_apply(stack, &delta->plan, buffer, report));
}

/* Frames that are on the device, compared there. */
static void check_device_frames(const test_target *target, test_size size) {
    if (!test_is_opencl(target->device)) return;
    movie m = movie_of(size, 4, 71);
    const size_t bytes = (size_t)size.width * (size_t)size.height * 4;
    tvlm_stack *parts = create(target, size, 1), *full = create(target, size, 1);
    const tvlm_pixels pixels = {size.width, size.height, 4, TVLM_PIXEL_U8, 0, (size_t)size.width * 4};
    for (int i = 0; i < 4; ++i) {
        tvlm_buffer *buffer = test_buffer(target->device, bytes, m.pixels);
        const tvlm_image image = frame_of(&m);
        tvlm_delta_report report;
        update_there(parts, buffer, &pixels, &report);
        check(tvlm_stack_set_image(full, 0, &image));
        compare("on the device", parts, full);
        assert_int_equal(report.whole, i == 0 || (i < 3 && report.tiles == 1));
        assert_int_equal(report.changed, i == 0 ? report.tiles : i == 3 ? 0 : 1);
        assert_int_equal(report.bytes_uploaded, 0);
        target->device->backend->buffer_destroy(target->device, &buffer);
        if (i == 0) invert(&m, size.width - 1, size.height - 1);
        if (i == 1) invert(&m, 0, 0);
    }
    release(&m, parts, full);
}

/* ---- All of it ---- */

static void in_parts(const test_target *target, tvlm_device *reference) {
    static const test_size sizes[] = {{1, 1}, {5, 70}, {97, 61}, {131, 130}, {64, 64}, {333, 190}};
    (void)reference;
    const size_t count = test_small() || test_quick() ? 3 : sizeof sizes / sizeof sizes[0];
    for (size_t i = 0; i < count; ++i) {
        check_object(target, sizes[i], i % 2 == 0 ? 16 : 0);
        check_pixels(target, sizes[i], i % 2 == 0 ? 32 : 16);
        check_device_frames(target, sizes[i]);
    }
    check_cut(target, (test_size){97, 61});
    check_batch(target, (test_size){97, 61});
    check_two_sizes(target);
    check_text(target);
    check_sentinels(target);
}

static void delta(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, in_parts);
}

static void test_delta(void **state) {
    (void)state;
    test_on_targets(delta);
}

/* The reference makes all again; frames and tiles are its own. */
static void test_reference(void **state) {
    (void)state;
    tvlm_device *device = open_reference();
    const test_target target = {device, TVLM_FORMAT_F32};
    check_object(&target, (test_size){97, 61}, 16);
    check_pixels(&target, (test_size){40, 33}, 16);
    check_cut(&target, (test_size){33, 40});
    check_batch(&target, (test_size){33, 40});
    tvlm_device_destroy(&device);
}

/* The next frame, of which the upper two thirds are those of the last one. */
static void still_half(tvlm_stack *parts, tvlm_stack *full) {
    char path[4096];
    tvlm_image *frames[2];
    tvlm_delta_report report;
    for (int i = 0; i < 2; ++i) {
        if (!test_shared_path(i == 0 ? "video/bedroom/00002.jpg" : "video/bedroom/00003.jpg", path,
                              sizeof path))
            skip();
        check(tvlm_image_load(path, &test_log, &frames[i]));
    }
    const size_t row = (size_t)frames[0]->width * (size_t)frames[0]->channels;
    const size_t rows = (size_t)frames[0]->height * 2 / 3;
    uint8_t *mixed = malloc(row * (size_t)frames[0]->height);
    assert_non_null(mixed);
    memcpy(mixed, frames[1]->pixels, row * (size_t)frames[0]->height);
    memcpy(mixed, frames[0]->pixels, row * rows);
    const tvlm_image image = u8_image(mixed, frames[0]->width, frames[0]->height, frames[0]->channels);
    check(tvlm_stack_update_image(parts, 0, &image, tvlm_update_params(.tile = 32), &report));
    check(tvlm_stack_set_image(full, 0, &image));
    compare("the lower third of bedroom", parts, full);
    assert_true(!report.whole && report.changed > 0);
    free(mixed);
    for (int i = 0; i < 2; ++i) tvlm_image_destroy(&frames[i]);
}

/* A moving camera and people: nearly all tiles change, and then the lower half of a frame alone. */
static void bedroom(const test_target *target, tvlm_device *reference) {
    (void)reference;
    tvlm_stack *parts = NULL, *full = NULL;
    for (int i = 0; i < 3; ++i) {
        char name[64], path[4096];
        tvlm_image *frame = NULL;
        tvlm_delta_report report;
        snprintf(name, sizeof name, "video/bedroom/%05d.jpg", i);
        if (!test_shared_path(name, path, sizeof path)) skip();
        check(tvlm_image_load(path, &test_log, &frame));
        if (i == 0)
            parts = create(target, (test_size){480, 270}, 1), full = create(target, (test_size){480, 270}, 1);
        check(tvlm_stack_update_image(parts, 0, frame, tvlm_update_params(.tile = 32), &report));
        check(tvlm_stack_set_image(full, 0, frame));
        compare("bedroom", parts, full);
        if (i == 1) assert_true(report.whole && report.changed > report.tiles / 2);
        tvlm_image_destroy(&frame);
    }
    still_half(parts, full);
    tvlm_stack_destroy(&parts);
    tvlm_stack_destroy(&full);
}

static void test_bedroom(void **state) {
    (void)state;
    test_on_targets(bedroom);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_delta),
                                       cmocka_unit_test(test_bedroom)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
