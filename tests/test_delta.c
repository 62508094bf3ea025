/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_delta.c: frames of which parts are made again, against the same frames made in full: bit for bit, on
 * every device, storage and format, every channel that follows from the source, at every level. And that what
 * need not be made is not: texels far from what changed are poisoned, and stay so.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stack/delta.h"
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/delta.h"
#include "texturevlm/io.h"
#include "texturevlm/temporal.h"

/* One of each grid that is made in parts, the source and what is not. */
static const char layout[] =
    "r,g,b,edges,high,low,motion,saliency,laplacian,entropy,edge_x,rgb_var,distance,text,"
    "cluster_id,boundary,prev_relevance";

static void check(tvlm_status status) {
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
}

static tvlm_stack *create(const test_target *target, test_size size, int32_t images) {
    tvlm_stack *stack = NULL;
    check(tvlm_stack_create(target->device,
                            tvlm_stack_params(.layout = layout, .width = size.width, .height = size.height,
                                              .images = images, .format = target->format, .clusters = 12),
                            &stack));
    return stack;
}

/* ---- Two stacks compared ---- */

static void compare_level(tvlm_device *device, const char *what, const char *name, tvlm_texture *got,
                          tvlm_texture *expected, int32_t level, int32_t slice) {
    float *a = test_read(device, got, level, slice), *b = test_read(device, expected, level, slice);
    const int32_t width = tvlm_level_side(got->width, level);
    for (size_t i = 0; i < 4 * test_texels(got, level); ++i)
        if (!(a[i] == b[i])) /* NaN in either is a failure too */
            fail_msg("%s, %s, level %d of %dx%d, slice %d, texel (%d, %d).%d: %.9g, in full %.9g", what, name,
                     (int)level, (int)got->width, (int)got->height, (int)slice, (int)(i / 4) % (int)width,
                     (int)(i / 4) / (int)width, (int)(i % 4), (double)a[i], (double)b[i]);
    free(a);
    free(b);
}

/* Every texel of every level of every grid. What is lazy is made by asking. */
static void compare(const char *what, tvlm_stack *got, tvlm_stack *expected) {
    check(tvlm_stack_generate(got));
    check(tvlm_stack_generate(expected));
    for (int32_t c = 0; c < got->chunk_count; ++c) {
        tvlm_chunk *a = &got->chunks[c], *b = &expected->chunks[c];
        assert_true(a->valid == b->valid);
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
            if ((a->valid & TVLM_GRID_BIT(grid)) == 0) continue;
            for (int32_t level = 0; level < a->grids[grid]->levels; ++level)
                for (int32_t slice = 0; slice < test_slices(a->grids[grid]); ++slice)
                    compare_level(got->device, what, tvlm_grid_get_info((tvlm_grid)grid)->name,
                                  a->grids[grid], b->grids[grid], level, slice);
        }
    }
}

/* ---- Frames ---- */

typedef struct movie {
    test_size size;
    int32_t channels;
    uint8_t *pixels;
    uint64_t random;
} movie;

static movie movie_of(test_size size, int32_t channels, uint64_t seed) {
    movie m = {size, channels, NULL, seed};
    m.pixels = test_random_pixels(&m.random, size.width, size.height, channels);
    return m;
}

static tvlm_image frame_of(const movie *m) {
    return u8_image(m->pixels, m->size.width, m->size.height, m->channels);
}

static void invert(const movie *m, int32_t x, int32_t y) {
    if (x < 0 || y < 0 || x >= m->size.width || y >= m->size.height) return;
    uint8_t *at = m->pixels + ((size_t)y * (size_t)m->size.width + (size_t)x) * (size_t)m->channels;
    for (int32_t c = 0; c < m->channels; ++c) at[c] = (uint8_t)(at[c] + 128);
}

/* A block of noise at (x, y). */
static void put_object(movie *m, int32_t x, int32_t y, int32_t side) {
    for (int32_t j = y; j < y + side; ++j)
        for (int32_t i = x; i < x + side; ++i)
            if (test_random(&m->random) & 1) invert(m, i, j);
}

static void release(movie *m, tvlm_stack *parts, tvlm_stack *full) {
    free(m->pixels);
    tvlm_stack_destroy(&parts);
    tvlm_stack_destroy(&full);
}

/* The frame into both, one in parts, one in full; and what the first said. */
static tvlm_delta_report push(const char *what, tvlm_stack *parts, tvlm_stack *full, int32_t index,
                              const movie *m, const struct tvlm_update_params *params) {
    const tvlm_image image = frame_of(m);
    tvlm_delta_report report;
    check(tvlm_stack_update_image(parts, index, &image, params, &report));
    check(tvlm_stack_set_image(full, index, &image));
    compare(what, parts, full);
    return report;
}

static const tvlm_delta_family *family_of(const tvlm_delta_report *report, const char *name) {
    for (int32_t i = 0; i < report->family_count; ++i)
        if (strcmp(report->families[i].name, name) == 0) return &report->families[i];
    fail_msg("nothing is said of '%s'", name);
    return NULL;
}

static void assert_family(const tvlm_delta_report *report, const char *name, tvlm_update update) {
    const tvlm_delta_family *family = family_of(report, name);
    if (family->update != update) fail_msg("%s: %d, not %d", name, (int)family->update, (int)update);
}

/* A still camera: an object moves. Every other frame with the one before as the previous one. */
static void check_object(const test_target *target, test_size size, int32_t tile) {
    const struct tvlm_update_params params = {.tile = tile};
    movie m = movie_of(size, 3, 11);
    tvlm_stack *parts = create(target, size, 1), *full = create(target, size, 1);
    tvlm_delta_report report = push("first frame", parts, full, 0, &m, &params);
    assert_true(report.whole);
    for (int i = 0; i < (test_small() ? 3 : 6); ++i) {
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
    const size_t count = test_small() ? 3 : sizeof places / sizeof places[0];
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
    for (int i = 0; i < (test_small() ? 2 : 5); ++i) {
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
    static const tvlm_grid grids[] = {TVLM_GRID_VISUAL,   TVLM_GRID_LAPLACIAN, TVLM_GRID_ENTROPY,
                                      TVLM_GRID_GRADIENT, TVLM_GRID_MOTION,    TVLM_GRID_DISTANCE,
                                      TVLM_GRID_TEXT};
    const test_size size = {test_small() ? 470 : 900, 430};
    movie m = movie_of(size, 3, 31);
    tvlm_stack *stack = create(target, size, 1);
    tvlm_delta_report report;
    tvlm_image image = frame_of(&m);
    check(tvlm_stack_update_image(stack, 0, &image, NULL, &report));
    check(tvlm_stack_advance(stack, 0, NULL));
    check(tvlm_stack_generate(stack));
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, 0);
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; ++i)
        fill(target->device, chunk->grids[grids[i]], POISON);
    put_object(&m, 2, 2, 20);
    check(tvlm_stack_update_image(stack, 0, &image, NULL, &report));
    assert_int_equal(report.changed, 1);
    assert_int_equal(report.bytes_uploaded, 64 * 64 * 3);
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; ++i) {
        const tvlm_texture *texture = chunk->grids[grids[i]];
        const tvlm_delta_family *family = family_of(&report, tvlm_grid_get_info(grids[i])->name);
        const size_t made = count_made(target->device, chunk->grids[grids[i]]);
        const bool is_wide = grids[i] == TVLM_GRID_TEXT; /* looks farther than a small picture */
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

/* ---- Thresholds, carrying over, bad input ---- */

static void check_threshold(const test_target *target) {
    const test_size size = {130, 70};
    uint8_t *pixels = calloc(130 * 70, 1);
    assert_non_null(pixels);
    const tvlm_image image = u8_image(pixels, size.width, size.height, 1);
    tvlm_stack *stack = create(target, size, 1);
    tvlm_delta_report report;
    const struct tvlm_update_params params = {.threshold = 3.0f / 255.0f};
    check(tvlm_stack_update_image(stack, 0, &image, &params, &report));
    for (int step = 1; step <= 4; ++step) { /* small differences add up */
        pixels[0] = (uint8_t)step;
        check(tvlm_stack_update_image(stack, 0, &image, &params, &report));
        assert_int_equal(report.changed, step == 4 ? 1 : 0);
    }
    pixels[0] = 3;
    check(tvlm_stack_update_image(stack, 0, &image, NULL, &report));
    assert_int_equal(report.changed, 1);
    free(pixels);
    tvlm_stack_destroy(&stack);
}

/* The same in 16 bits and floats, with rows apart and at odd bytes, and a NaN. */
static void check_types(const test_target *target) {
    enum { W = 70, H = 66, STRIDE = W * 12 + 8 };
    unsigned char *rows = calloc(H, STRIDE);
    assert_non_null(rows);
    for (int type = TVLM_PIXEL_U16; type <= TVLM_PIXEL_F32; ++type) {
        const bool is_float = type == TVLM_PIXEL_F32;
        const tvlm_image image = {.pixels = rows,
                                  .width = W,
                                  .height = H,
                                  .channels = 3,
                                  .type = (tvlm_pixel_type)type,
                                  .row_stride = STRIDE};
        tvlm_stack *stack = create(target, (test_size){W, H}, 1);
        tvlm_delta_report report;
        memset(rows, 0, (size_t)H * STRIDE);
        check(tvlm_stack_update_image(stack, 0, &image, NULL, &report));
        assert_true(report.whole);
        unsigned char *at = rows + 65 * STRIDE + 69 * (is_float ? 12 : 6); /* the last pixel */
        const float values[2] = {0.01f, NAN};
        const uint16_t words[2] = {655, 0};
        memcpy(at, is_float ? (const void *)&values[0] : (const void *)&words[0], is_float ? 4 : 2);
        check(tvlm_stack_update_image(stack, 0, &image, tvlm_update_params(.threshold = 0.011f), &report));
        assert_int_equal(report.changed, 0);
        check(tvlm_stack_update_image(stack, 0, &image, tvlm_update_params(.threshold = 0.009f), &report));
        assert_int_equal(report.changed, 1);
        float red[W * H];
        check(tvlm_stack_read(stack, 0, 0, 0, W * H, red));
        assert_true(fabsf(red[W * H - 1] - 0.01f) < 2e-5f && red[0] == 0.0f);
        memcpy(at, is_float ? (const void *)&values[1] : (const void *)&words[1], is_float ? 4 : 2);
        check(tvlm_stack_update_image(stack, 0, &image, tvlm_update_params(.threshold = 0.009f), &report));
        assert_int_equal(report.changed, 1);
        check(tvlm_stack_read(stack, 0, 0, 0, W * H, red));
        assert_true(red[W * H - 1] == 0.0f);
        tvlm_stack_destroy(&stack);
    }
    free(rows);
}

static void check_carrying(const test_target *target) {
    const test_size size = {256, 192}; /* 12 tiles */
    movie m = movie_of(size, 3, 41);
    const tvlm_image image = frame_of(&m);
    tvlm_stack *stack = create(target, size, 1);
    tvlm_delta_report report;
    size_t count;
    const struct tvlm_update_params params = {
        .saliency_share = 0.2f, .cluster_share = 1.0f, .carried_frames = 3};
    check(tvlm_stack_update_image(stack, 0, &image, &params, NULL));
    check(tvlm_stack_generate(stack));
    float *before = read_level(stack, 0, TVLM_CHANNEL_SALIENCY, 0, &count);
    for (int i = 1; i <= 4; ++i) { /* a tile each */
        put_object(&m, 8, 8, 30);
        check(tvlm_stack_update_image(stack, 0, &image, &params, &report));
        assert_family(&report, "saliency", i == 3 ? TVLM_UPDATE_LATER : TVLM_UPDATE_CARRIED);
        assert_family(&report, "cluster", i == 4 ? TVLM_UPDATE_LATER : TVLM_UPDATE_CARRIED);
        float *now = read_level(stack, 0, TVLM_CHANNEL_SALIENCY, 0, &count);
        if (i < 3) assert_memory_equal(now, before, count * sizeof *now);
        if (i == 3) assert_memory_not_equal(now, before, count * sizeof *now);
        free(now);
        check(tvlm_stack_generate(stack)); /* what is stale is made, and counts from 0 again */
    }
    free(before);
    free(m.pixels);
    tvlm_stack_destroy(&stack);
}

static void check_refusals(const test_target *target) {
    const test_size size = {20, 20};
    movie m = movie_of(size, 3, 51);
    const tvlm_image image = frame_of(&m), none = u8_image(NULL, 20, 20, 3);
    tvlm_stack *stack = create(target, size, 1);
#define REFUSED(LINE, ...)                                                                                   \
    refused(tvlm_stack_update_image(stack, 0, &image, tvlm_update_params(__VA_ARGS__), NULL),                \
            TVLM_ERROR_ARGUMENT, LINE)
    REFUSED("tiles of 40 pixels", .tile = 40);
    REFUSED("tiles of -16 pixels", .tile = -16);
    REFUSED("tiles of 8192 pixels", .tile = 8192);
    REFUSED("a threshold of -1", .threshold = -1.0f);
    REFUSED("a threshold of nan", .threshold = NAN);
    REFUSED("a share of -2", .cluster_share = -2.0f);
    REFUSED("for -1 frames", .carried_frames = -1);
    refused(tvlm_stack_update_image(stack, 1, &image, NULL, NULL), TVLM_ERROR_ARGUMENT, "image 1 of a stack");
    refused(tvlm_stack_update_image(stack, 0, &none, NULL, NULL), TVLM_ERROR_ARGUMENT, "no pixels");
    free(m.pixels);
    tvlm_stack_destroy(&stack);
}

/* Frames of another size are resampled and compared then. */
static void check_resampled(const test_target *target) {
    movie m = movie_of((test_size){301, 203}, 3, 61);
    tvlm_stack *parts = create(target, (test_size){150, 100}, 1),
               *full = create(target, (test_size){150, 100}, 1);
    (void)push("resampled", parts, full, 0, &m, tvlm_update_params(.tile = 16));
    put_object(&m, 60, 60, 12);
    const tvlm_delta_report report = push("resampled", parts, full, 0, &m, tvlm_update_params(.tile = 16));
    assert_true(!report.whole && report.changed > 0 && report.changed < 9);
    assert_int_equal(parts->originals[0].width, 301);
    release(&m, parts, full);
}

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

/* Letters of all sizes come and go: what is text changes, far from the pixels where letters are large. */
static void check_text(const test_target *target) {
    const test_size size = {760, 560};
    for (int32_t scale = 1; scale <= (test_small() ? 1 : 8); scale *= 2) {
        movie m = {size, 1, malloc((size_t)size.width * (size_t)size.height), 81};
        assert_non_null(m.pixels);
        memset(m.pixels, 190, (size_t)size.width * (size_t)size.height);
        const int32_t top = 240, left = 40, right = 720, middle = left + 20 * scale;
        tvlm_stack *parts = create(target, size, 1), *full = create(target, size, 1);
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
        check(tvlm_stack_update_from_buffer(parts, 0, buffer, &pixels, tvlm_update_params(.tile = 16),
                                            &report));
        check(tvlm_stack_set_image(full, 0, &image));
        compare("on the device", parts, full);
        assert_int_equal(report.whole, i == 0);
        assert_int_equal(report.changed, i == 0 ? report.tiles : i == 3 ? 0 : 1);
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
    const size_t count = test_small() ? 3 : sizeof sizes / sizeof sizes[0];
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

static void others(const test_target *target) {
    check_threshold(target);
    check_types(target);
    check_carrying(target);
    check_refusals(target);
    check_resampled(target);
}

static void delta(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, in_parts);
    others(target);
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
    check_threshold(&target);
    check_types(&target);
    check_resampled(&target);
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
