/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bytes.c: stacks of bytes (TVLM_FORMAT_U8).
 *   - They are compared with the reference, which keeps the same bytes: what a texel keeps, levels, channels, samples,
 *     scores, parts of frames, and the last frames.
 *   - They take half of half's memory.
 *   - Identifiers stay what they are.
 *   - What bytes cannot hold is refused by name.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/texel.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/input.h"
#include "texturevlm/opencl.h"
#include "texturevlm/score.h"
#include "texturevlm/stack.h"
#include "texturevlm/stream.h"

/* Those made of the source, on every storage to be compared. Distances and text begin with thresholds. */
#define LAYOUT                                                                                               \
    "r,g,b,edges,edges_inv,high,low,laplacian,edge_x,edge_y,rgb_var,rgb_mean,entropy,sharpness,saliency"

enum { WIDTH = 97, HEIGHT = 61 };

static void check(tvlm_status status) {
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
}

/* Bytes are a format of their own: each storage is tried once, whatever the format of the target is. Images of them not every
 * driver has (doc/drivers.md). */
static bool is_left_out(const test_target *target) {
    const bool buffers = target->device->info.storage == TVLM_STORAGE_BUFFER,
               stores = test_stores_bytes(target->device);
    assert_true(stores || !buffers);
    if (!stores) printf("  %s: no images of bytes\n", target->device->info.name);
    return !stores || target->format != (buffers ? TVLM_FORMAT_F32 : TVLM_FORMAT_F16);
}

static double step_of(tvlm_range range) {
    return range == TVLM_RANGE_UNIT ? 1.0 / 255.0 : 1.0 / 127.0;
}

static tvlm_texture byte_shape(test_size size, int32_t layers, int32_t images, tvlm_range range) {
    tvlm_texture shape = test_shape(size, layers, images, TVLM_FORMAT_U8);
    shape.range = range;
    return shape;
}

/* ---- Texels ---- */

/* Every byte, what lies between, at and beyond them. */
static void fill_values(uint64_t *random, float *values, size_t count, double step) {
    for (size_t i = 0; i < count; ++i) {
        const uint64_t bits = test_random(random);
        const double whole = (double)(int)(bits % 600) - 300.0;
        values[i] = (float)(bits % 3 == 0 ? whole * step : (whole + (double)test_random_unit(random)) * step);
    }
}

static void round_trip(tvlm_device *device, tvlm_range range, bool scalar) {
    const tvlm_format expected = range == TVLM_RANGE_ANY    ? TVLM_FORMAT_F16
                                 : range == TVLM_RANGE_UNIT ? TVLM_FORMAT_U8
                                                            : TVLM_FORMAT_S8;
    tvlm_texture shape = byte_shape((test_size){13, 7}, 1, 3, range);
    uint64_t random = 5;
    shape.levels = 1;
    shape.scalar = scalar;
    tvlm_texture *texture = test_texture(device, &shape);
    const size_t count = 4 * test_texels(texture, 0);
    float *const values = malloc(count * sizeof *values);
    assert_non_null(values);
    assert_int_equal(tvlm_texture_format(texture), expected);
    for (int32_t slice = 0; slice < test_slices(texture); ++slice) {
        fill_values(&random, values, count, step_of(range));
        check(device->backend->texture_write(device, texture, slice, values));
        float *const got = test_read(device, texture, 0, slice);
        for (size_t i = 0; i < count; ++i) {
            const float wanted = scalar && i % 4 != 0 ? 0.0f : tvlm_component_round(expected, values[i]);
            if (got[i] != wanted) fail_msg("%g is kept as %.9g", (double)values[i], (double)got[i]);
        }
        free(got);
    }
    /* Half of half: a byte a component. */
    const size_t components = scalar && device->stores_scalar[expected] ? 1 : 4;
    const size_t byte = !test_is_opencl(device) ? 4 : range == TVLM_RANGE_ANY ? 2 : 1;
    assert_int_equal(texture->bytes, count / 4 * components * byte * (size_t)test_slices(texture));
    free(values);
    device->backend->texture_destroy(device, &texture);
}

static void texels(const test_target *target, tvlm_device *reference) {
    if (is_left_out(target)) return;
    for (int range = TVLM_RANGE_ANY; range <= TVLM_RANGE_SIGNED; ++range)
        for (int scalar = 0; scalar < 2; ++scalar) {
            round_trip(target->device, (tvlm_range)range, scalar);
            round_trip(reference, (tvlm_range)range, scalar);
        }
}

/* What a byte keeps, to the number: the nearest, ties to even, and what is out of range at its end. */
static void test_rounding(void **state) {
    static const struct {
        tvlm_format format;
        double value, kept;
    } cases[] = {
        {TVLM_FORMAT_U8, 0.0, 0},         {TVLM_FORMAT_U8, 1.0, 255},       {TVLM_FORMAT_U8, 2.0, 255},
        {TVLM_FORMAT_U8, -1.0, 0},        {TVLM_FORMAT_U8, 0.49, 125},      {TVLM_FORMAT_U8, 2.5 / 255, 2},
        {TVLM_FORMAT_U8, 3.5 / 255, 4},   {TVLM_FORMAT_U8, 2.501 / 255, 3}, {TVLM_FORMAT_U8, INFINITY, 255},
        {TVLM_FORMAT_S8, -1.0, -127},     {TVLM_FORMAT_S8, -7.0, -127},     {TVLM_FORMAT_S8, 1.0, 127},
        {TVLM_FORMAT_S8, -2.5 / 127, -2}, {TVLM_FORMAT_S8, -0.1, -13},      {TVLM_FORMAT_S8, 0.0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const double steps = cases[i].format == TVLM_FORMAT_U8 ? 255.0 : 127.0;
        const float kept = tvlm_component_round(cases[i].format, (float)cases[i].value);
        if (fabs((double)kept * steps - cases[i].kept) > 1e-4)
            fail_msg("%g is kept as %g steps", cases[i].value, (double)kept * steps);
    }
    assert_true(tvlm_component_round(TVLM_FORMAT_U8, 1.0f) == 1.0f &&
                tvlm_component_round(TVLM_FORMAT_S8, -1.0f) == -1.0f);
}

/* ---- Levels ---- */

/*
 * Levels are those of the reference's bytes. A mean is rounded once a level; one that lies within the last bits of a sum of
 * a boundary may be rounded to its other side, and what is made of it with it: a step, in a few of a thousand texels. Where
 * sides are even, means of four are whole fourths, and none is.
 */
static void compare_levels(const test_pair *pair, const char *what, bool even) {
    const double step = step_of(pair->got->range);
    size_t all = 0, off = 0;
    for (int32_t level = 0; level < pair->got->levels; ++level)
        for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
            const size_t count = 4 * test_texels(pair->got, level);
            float *const got = test_read(pair->device, pair->got, level, slice), *const wanted = test_read(
                                                                                     pair->reference,
                                                                                     pair->expected, level,
                                                                                     slice);
            for (size_t i = 0; i < count; ++i) {
                const double error = fabs((double)got[i] - (double)wanted[i]) / step;
                if (!(error <= 1.001))
                    fail_msg("%s, level %d: [%zu] is off by %g steps", what, (int)level, i, error);
                off += error > 0.5;
            }
            all += count;
            free(got);
            free(wanted);
        }
    if (getenv("TVLM_TEST_FIGURES") != NULL) printf("    %s: %zu of %zu a step off\n", what, off, all);
    assert_true((double)off <= (even ? 0.0 : 0.005 * (double)all + 2.0));
}

static void levels_of(const test_target *target, tvlm_device *reference) {
    static const test_size all[] = {{64, 32}, {97, 61}, {256, 128}, {1, 9}, {200, 1}};
    /* Each kind has programs of its own, which take longer to compile than to run. */
    static const struct {
        uint8_t reduce[4];
        tvlm_range range;
        bool scalar;
    } kinds[] = {
        {{TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN}, TVLM_RANGE_UNIT, false},
        {{TVLM_REDUCE_MEAN}, TVLM_RANGE_SIGNED, true},
        {{TVLM_REDUCE_MAX, TVLM_REDUCE_MIN, TVLM_REDUCE_MEAN, TVLM_REDUCE_GAUSSIAN},
         TVLM_RANGE_SIGNED,
         false}};
    uint64_t random = 7;
    const size_t count = test_small() ? 2 : sizeof all / sizeof all[0];
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
            char what[64];
            tvlm_texture shape = byte_shape(all[i], 1, 2, kinds[k].range);
            memcpy(shape.reduce, kinds[k].reduce, sizeof shape.reduce);
            shape.scalar = kinds[k].scalar;
            test_pair pair = test_pair_create(target, reference, &shape);
            test_pair_fill(&pair, &random, kinds[k].range == TVLM_RANGE_UNIT ? 0.0f : -1.0f, 1.0f, false);
            test_pair_mips(&pair);
            snprintf(what, sizeof what, "%dx%d, kind %zu", (int)all[i].width, (int)all[i].height, k);
            compare_levels(&pair, what, k < 2 && i % 2 == 0);
            test_pair_destroy(&pair);
        }
}

static void levels(const test_target *target, tvlm_device *reference) {
    if (!is_left_out(target)) test_with_tunings(target, reference, levels_of);
}

/* ---- Channels ---- */

static tvlm_stack *make_stack(tvlm_device *device, const char *layout, tvlm_format format,
                              const uint8_t *pixels) {
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = NULL;
    check(tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.layout = layout, .format = format),
                                      &stack));
    check(tvlm_stack_make_all(stack));
    return stack;
}

/* The same with what is handed in: numbers in [0, 1], a plane of the application's, and vectors. */
static void give(tvlm_stack *stack) {
    static float cells[12 * 8], vectors[12 * 8 * 16];
    uint64_t random = 3;
    const struct tvlm_grid_input input = {.data = cells, .columns = 12, .rows = 8, .channels = 1},
                                 many = {.data = vectors, .columns = 12, .rows = 8, .channels = 16};
    for (size_t i = 0; i < 12 * 8; ++i) cells[i] = test_random_unit(&random);
    for (size_t i = 0; i < 12 * 8 * 16; ++i) vectors[i] = test_random_unit(&random) - 0.5f;
    check(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_ATTENTION, &input));
    check(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_EMBEDDING_0, &many));
    check(tvlm_stack_set_user(stack, 0, "signed", -1.0f, 1.0f, TVLM_MEAN, &input, NULL));
}

static bool has_level(tvlm_stack *stack, int32_t channel, int32_t level) {
    int32_t width, height;
    return level < 6 && tvlm_stack_channel_size(stack, channel, level, &width, &height) == TVLM_OK;
}

/* A step of the bytes of a channel, or what half and other arithmetic are off by. */
static double tolerance_of(const tvlm_stack *stack, int32_t channel) {
    const tvlm_grid grid = tvlm_stack_place(stack, channel).grid;
    const tvlm_range range = grid < TVLM_GRID_COUNT ? stack->chunks[0].grids[grid]->range : TVLM_RANGE_ANY;
    return range != TVLM_RANGE_ANY ? 1.01 * step_of(range) : 2e-3;
}

/* Channels at every level are those of the reference but for a step, which few texels are off by: kernels and reference agree
 * within far less, and a value must lie that near to a boundary. */
static void compare_channels(tvlm_stack *got, tvlm_stack *wanted, const char *layout) {
    int32_t channels[32], count = 0;
    size_t all = 0, off = 0;
    check(tvlm_stack_parse(got, layout, 32, channels, &count));
    for (int32_t c = 0; c < count; ++c)
        for (int32_t level = 0; has_level(got, channels[c], level); ++level) {
            size_t texel_count, same_count;
            float *const a = read_level(got, 0, channels[c], level, &texel_count), *const b = read_level(
                                                                                       wanted, 0, channels[c],
                                                                                       level, &same_count);
            assert_int_equal(texel_count, same_count);
            const double most = tolerance_of(got, channels[c]);
            for (size_t i = 0; i < texel_count; ++i) {
                const double error = fabs((double)a[i] - (double)b[i]);
                if (!(error <= most))
                    fail_msg("channel %d, level %d: [%zu] is %g, not %g", (int)channels[c], (int)level, i,
                             (double)a[i], (double)b[i]);
                off += error > 0.5 * most;
            }
            all += texel_count;
            free(a);
            free(b);
        }
    if (getenv("TVLM_TEST_FIGURES") != NULL) printf("    channels: %zu of %zu a step off\n", off, all);
    assert_true((double)off <= 0.005 * (double)all);
}

static void compare_samples(tvlm_stack *got, tvlm_stack *wanted, const char *layout) {
    enum { POINTS = 200 };
    tvlm_sample_point points[POINTS];
    int32_t channels[32], count = 0;
    uint64_t random = 17;
    check(tvlm_stack_parse(got, layout, 32, channels, &count));
    for (int i = 0; i < POINTS; ++i)
        points[i] = (tvlm_sample_point){.x = test_random_unit(&random) * WIDTH,
                                        .y = test_random_unit(&random) * HEIGHT,
                                        .level = test_random_unit(&random) * 5.0f};
    float *const a = malloc(sizeof *a * POINTS * 32), *const b = malloc(sizeof *b * POINTS * 32);
    assert_true(a != NULL && b != NULL);
    check(tvlm_stack_sample(got, points, POINTS, channels, count, a));
    check(tvlm_stack_sample(wanted, points, POINTS, channels, count, b));
    for (int i = 0; i < POINTS * count; ++i) {
        /* A mean of texels that may each be a step off; and weights of 8 bits, of a difference of at most 2. */
        const double most = tolerance_of(got, channels[i % count]) + 2.0 / 250.0;
        if (!(fabs((double)a[i] - (double)b[i]) <= most))
            fail_msg("point %d, channel %d: %g, not %g", i / (int)count, (int)channels[i % count],
                     (double)a[i], (double)b[i]);
    }
    free(a);
    free(b);
}

static void compare_scores(tvlm_stack *got, tvlm_stack *wanted) {
    enum { MANY = 4096 };
    static float a[MANY], b[MANY];
    int32_t columns = 0, rows = 0;
    const struct tvlm_score_params params = {.stride = 4.0f};
    check(tvlm_score_size(got, &params, &columns, &rows));
    const int32_t count = columns * rows;
    assert_true(count > 100 && count <= MANY);
    check(tvlm_score(got, NULL, &params, MANY, a));
    check(tvlm_score(wanted, NULL, &params, MANY, b));
    double sum = 0.0;
    for (int32_t i = 0; i < count; ++i) sum += fabs((double)a[i] - (double)b[i]);
    if (getenv("TVLM_TEST_FIGURES") != NULL) printf("    scores: off by %.2g on average\n", sum / count);
    /* Of parts of three channels, each stretched to [0, 1] by the range that it has. */
    assert_true(sum / count <= 4e-3);
}

static void stacks(const test_target *target, tvlm_device *reference) {
    const char *const all = LAYOUT ",x,y,attention,embedding_3,signed";
    uint64_t random = 21;
    if (is_left_out(target)) return;
    uint8_t *const pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    tvlm_stack *got = make_stack(target->device, LAYOUT, TVLM_FORMAT_U8, pixels),
               *wanted = make_stack(reference, LAYOUT, TVLM_FORMAT_U8, pixels);
    give(got);
    give(wanted);
    compare_channels(got, wanted, all);
    compare_samples(got, wanted, all);
    compare_scores(got, wanted);
    /* 8-bit pixels are bytes already. */
    size_t count = 0;
    float *const red = read_level(got, 0, TVLM_CHANNEL_R, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(fabsf(red[i] * 255.0f - (float)pixels[3 * i]) <= 1e-3f);
    free(red);
    tvlm_stack_destroy(&got);
    tvlm_stack_destroy(&wanted);
    free(pixels);
}

/* ---- Frames ---- */

/* A frame of which parts are made again is the frame made anew, to the bit; and there is motion where it changed. */
static void frames(const test_target *target, tvlm_device *reference) {
    const char *const layout = LAYOUT ",motion,distance,text,prev_saliency";
    uint64_t random = 29;
    int32_t channels[32], count = 0;
    tvlm_delta_report report = {0};
    (void)reference;
    if (is_left_out(target)) return;
    uint8_t *const pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *parts = make_stack(target->device, layout, TVLM_FORMAT_U8, pixels),
               *whole = make_stack(target->device, layout, TVLM_FORMAT_U8, pixels);
    check(tvlm_stack_update_image(parts, 0, &image, NULL, &report));
    for (int frame = 0; frame < 3; ++frame) {
        check(tvlm_stack_advance(parts, 0, NULL));
        check(tvlm_stack_advance(whole, 0, NULL));
        for (int i = 0; i < 90; ++i) pixels[(11 + i / 9 + 7 * frame) * WIDTH * 3 + 60 + i % 9] ^= 0x80;
        check(tvlm_stack_update_image(parts, 0, &image, tvlm_update_params(.tile = 16), &report));
        check(tvlm_stack_set_image(whole, 0, &image));
        check(tvlm_stack_make_all(parts));
        check(tvlm_stack_make_all(whole));
        assert_true(!report.whole && report.changed > 0);
        check(tvlm_stack_parse(parts, layout, 32, channels, &count));
        float moved = 0.0f;
        for (int32_t c = 0; c < count; ++c)
            for (int32_t level = 0; has_level(parts, channels[c], level); ++level) {
                size_t texel_count;
                float *const a = read_level(parts, 0, channels[c], level, &texel_count),
                             *const b = read_level(whole, 0, channels[c], level, &texel_count);
                if (memcmp(a, b, texel_count * sizeof *a) != 0)
                    fail_msg("frame %d: channel %d differs at level %d", frame, (int)channels[c], (int)level);
                for (size_t i = 0; i < texel_count && channels[c] == TVLM_CHANNEL_MOTION; ++i)
                    moved = fmaxf(moved, a[i]);
                free(a);
                free(b);
            }
        assert_true(moved > 0.05f);
    }
    tvlm_stack_destroy(&parts);
    tvlm_stack_destroy(&whole);
    free(pixels);
}

/* ---- Memory, identifiers, and what an application sees ---- */

/* What the library reports to have taken, but for a grid. */
static size_t taken(const tvlm_stack *stack, tvlm_grid but) {
    tvlm_stack_info info;
    check(tvlm_stack_get_info(stack, &info));
    return info.device_bytes - stack->chunks[0].grids[but]->bytes;
}

static void memory(const test_target *target, tvlm_device *reference) {
    uint64_t random = 31, half_need = 0, byte_need = 0;
    struct tvlm_stack_params params = {
        .layout = LAYOUT, .width = 512, .height = 512, .format = TVLM_FORMAT_F16};
    (void)reference;
    if (is_left_out(target) || !test_is_opencl(target->device)) return;
    uint8_t *const pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    /* PoCL has no images of one half, which then have four components: those are not compared. */
    const bool comparable =
        target->device->stores_scalar[TVLM_FORMAT_F16] == target->device->stores_scalar[TVLM_FORMAT_U8];
    const char *const layout = comparable ? LAYOUT ",cluster_id" : "r,edges,edge_x,saliency,cluster_id";
    tvlm_stack *half = make_stack(target->device, layout, TVLM_FORMAT_F16, pixels),
               *byte = make_stack(target->device, layout, TVLM_FORMAT_U8, pixels);
    const tvlm_texture *const ids = byte->chunks[0].grids[TVLM_GRID_CLUSTER];
    assert_int_equal(2 * taken(byte, TVLM_GRID_CLUSTER), taken(half, TVLM_GRID_CLUSTER));
    assert_int_equal(tvlm_texture_format(ids), TVLM_FORMAT_F16);
    assert_int_equal(ids->bytes, half->chunks[0].grids[TVLM_GRID_CLUSTER]->bytes);
    check(tvlm_stack_need(target->device, &params, &half_need));
    params.format = TVLM_FORMAT_U8;
    check(tvlm_stack_need(target->device, &params, &byte_need));
    /* What is left is what families work with, and the pixels on their way in. */
    assert_true((double)byte_need < 0.65 * (double)half_need);
    printf("    %.1f bytes a pixel where half needs %.1f\n", (double)byte_need / (512.0 * 512.0),
           (double)half_need / (512.0 * 512.0));
    tvlm_stack_destroy(&half);
    tvlm_stack_destroy(&byte);
    free(pixels);
}

/* Regions and their identifiers are what they are in half of the same source, whole numbers all; those of bytes have one
 * source less precise, and are the reference's. */
static void identifiers(const test_target *target, tvlm_device *reference) {
    uint64_t random = 37;
    size_t count = 0, same = 0;
    if (is_left_out(target)) return;
    uint8_t *const pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    tvlm_stack *got = make_stack(target->device, "cluster_id,cluster_size,boundary", TVLM_FORMAT_U8, pixels),
               *wanted = make_stack(reference, "cluster_id,cluster_size,boundary", TVLM_FORMAT_U8, pixels);
    for (int32_t level = 0; level < 3; ++level) {
        float *const a = read_level(got, 0, TVLM_CHANNEL_CLUSTER_ID, level, &count),
                     *const b = read_level(wanted, 0, TVLM_CHANNEL_CLUSTER_ID, level, &count);
        same = 0;
        for (size_t i = 0; i < count; ++i) {
            assert_true(a[i] == floorf(a[i]) && a[i] >= 0.0f && a[i] < 2048.0f);
            same += a[i] == b[i];
        }
        assert_true((double)same >= 0.98 * (double)count);
        free(a);
        free(b);
    }
    tvlm_stack_destroy(&got);
    tvlm_stack_destroy(&wanted);
    free(pixels);
}

static void handed_out(const test_target *target, tvlm_device *reference) {
    static const struct {
        int32_t channel;
        tvlm_format format;
    } wanted[] = {{TVLM_CHANNEL_R, TVLM_FORMAT_U8},
                  {TVLM_CHANNEL_EDGE_X, TVLM_FORMAT_S8},
                  {TVLM_CHANNEL_CLUSTER_ID, TVLM_FORMAT_F16}};
    uint64_t random = 41;
    (void)reference;
    if (is_left_out(target) || !test_is_opencl(target->device)) return;
    uint8_t *const pixels = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = make_stack(target->device, "r,edge_x,cluster_id", TVLM_FORMAT_U8, pixels);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; ++i) {
        tvlm_opencl_texture texture;
        check(tvlm_stack_get_opencl(stack, 0, wanted[i].channel, &texture));
        assert_int_equal(texture.format, wanted[i].format);
    }
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* ---- What is refused ---- */

static void refuse(tvlm_device *device, const char *layout, const char *name) {
    tvlm_stack *stack = NULL;
    char begin[64];
    snprintf(begin, sizeof begin, "'%s' has the range ", name);
    const struct tvlm_stack_params params = {
        .layout = layout, .width = 40, .height = 30, .format = TVLM_FORMAT_U8};
    assert_int_equal(tvlm_stack_create(device, &params, &stack), TVLM_ERROR_ARGUMENT);
    assert_null(stack);
    if (strncmp(test_last_log(), begin, strlen(begin)) != 0) fail_msg("%s", test_last_log());
}

static void refusals(tvlm_device *device) {
    static const float cells[4] = {0.0f, 1.0f, 2.0f, 1.0f};
    const struct tvlm_grid_input input = {.data = cells, .columns = 2, .rows = 2, .channels = 1};
    const struct tvlm_stack_params signed_only = {.width = 8, .height = 8, .format = TVLM_FORMAT_S8};
    tvlm_stack *stack = NULL;
    refuse(device, "r,flow_u", "flow_u");
    refuse(device, "scene18", "depth");
    refuse(device, "feature_7", "feature_7");
    refuse(device, "x,learned_2", "learned_2");
    assert_int_equal(tvlm_stack_create(device, &signed_only, &stack), TVLM_ERROR_ARGUMENT);
    check(tvlm_stack_create(device,
                            tvlm_stack_params(.layout = "r,object_id,x,query_similarity", .width = 40,
                                              .height = 30, .format = TVLM_FORMAT_U8),
                            &stack));
    assert_int_equal(tvlm_stack_set_user(stack, 0, "heat", 0.0f, 2.0f, TVLM_MEAN, &input, NULL),
                     TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "'heat' has the range 0 .. 2"));
    assert_int_equal(tvlm_stack_set_user(stack, 0, "any", 0.0f, 0.0f, TVLM_MEAN, &input, NULL),
                     TVLM_ERROR_ARGUMENT);
    /* The stack is as it was, and takes what it can hold: identifiers are half, and depth is no channel of the layout. */
    check(tvlm_stack_set_user(stack, 0, "heat", 0.0f, 1.0f, TVLM_MEAN, &input, NULL));
    check(tvlm_stack_set_user(stack, 0, "kind", 0.0f, 9.0f, TVLM_MODE, &input, NULL));
    check(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_DEPTH, &input));
    check(tvlm_stack_make_all(stack));
    size_t count;
    float *const kinds = read_level(stack, 0, tvlm_stack_channel_find(stack, "kind"), 0, &count);
    assert_true(count == 4 && kinds[2] == 2.0f);
    free(kinds);
    tvlm_stack_destroy(&stack);
    const bool stores = device->stores_bytes;
    device->stores_bytes = false;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.layout = "r", .width = 8, .height = 8, .format = TVLM_FORMAT_U8),
                          &stack),
        TVLM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(test_last_log(), "storage buffer"));
    device->stores_bytes = stores;
}

static void test_refusals(void **state) {
    (void)state;
    tvlm_device *device = open_reference();
    refusals(device);
    tvlm_device_destroy(&device);
}

/* Which grids are bytes follows from the ranges of their channels: all of them, and of each kind. */
static void test_ranges(void **state) {
    (void)state;
    assert_int_equal(tvlm_grid_range(TVLM_GRID_SOURCE), TVLM_RANGE_UNIT);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_GRADIENT), TVLM_RANGE_SIGNED);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_NORMAL_MAP), TVLM_RANGE_SIGNED);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_SALIENCY_MAP), TVLM_RANGE_UNIT);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_CLUSTER), TVLM_RANGE_ANY);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_OBJECT), TVLM_RANGE_ANY);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_VOCAB), TVLM_RANGE_ANY);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_FLOW), TVLM_RANGE_ANY);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_FEATURES), TVLM_RANGE_ANY);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_QUERY), TVLM_RANGE_ANY);
    assert_int_equal(tvlm_grid_range(TVLM_GRID_LEARNED), TVLM_RANGE_ANY);
}

#define ON_TARGETS(NAME, BODY)                                                                               \
    static void NAME(void **state) {                                                                         \
        (void)state;                                                                                         \
        test_on_targets(BODY);                                                                               \
    }
ON_TARGETS(test_texels_kept, texels)
ON_TARGETS(test_levels, levels)
ON_TARGETS(test_stacks, stacks)
ON_TARGETS(test_frames, frames)
ON_TARGETS(test_memory, memory)
ON_TARGETS(test_identifiers, identifiers)
ON_TARGETS(test_handed_out, handed_out)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounding),    cmocka_unit_test(test_ranges),
                                       cmocka_unit_test(test_refusals),    cmocka_unit_test(test_texels_kept),
                                       cmocka_unit_test(test_levels),      cmocka_unit_test(test_stacks),
                                       cmocka_unit_test(test_frames),      cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_identifiers), cmocka_unit_test(test_handed_out)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
