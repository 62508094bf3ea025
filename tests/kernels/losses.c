/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.c: how much of an image's tiles its pictures lose. Weights are tested by their definition, known
 * losses on the reference, and every device against the reference.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/family.h"
#include "opencl/backend.h"
#include "select/budget_plan.h"
#include "sides_helper.h"

/* ---- Weights ---- */

/* The weights of each entry add up to 1, and no entry reaches beyond the source. */
static void check_axis(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, int32_t source,
                       int32_t size) {
    for (int32_t o = 0; o < size; ++o) {
        const float *const entry =
            plan->table + axis->offset + (ptrdiff_t)o * (axis->taps + TVLM_BUDGET_HEAD);
        double sum = 0.0;
        assert_true(entry[1] >= 1.0f && entry[1] <= (float)axis->taps);
        assert_true(entry[0] >= 0.0f && entry[0] + entry[1] <= (float)source);
        for (int i = 0; i < (int)entry[1]; ++i) sum += (double)entry[TVLM_BUDGET_HEAD + i];
        assert_true(fabs(sum - 1.0) < 1e-5);
    }
}

static void weights(tvlm_device *device) {
    static const test_size sizes[] = {{1, 1}, {5, 3}, {64, 64}, {97, 61}, {640, 28}};
    (void)device;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const tvlm_texture shape = test_shape(sizes[i], 1, 1, TVLM_FORMAT_F32);
        const tvlm_budget_size pictures[] = {
            {16, 16, 0.0},
            {1, 3, 0.0},
            {shape.width, shape.height, 0.0},
            {(3 * shape.width + 3) / 4, (3 * shape.height + 3) / 4, 4.0 / 3.0}};
        tvlm_budget_plan plan;
        assert_true(tvlm_budget_plan_make(&shape, 0, 16, pictures, 4, NULL, &plan));
        assert_int_equal(plan.count, 4);
        for (int p = 0; p < plan.count; ++p) {
            const tvlm_budget_picture *const picture = &plan.pictures[p];
            check_axis(&plan, &picture->reduce_x, tvlm_level_side(shape.width, picture->from),
                       picture->width);
            check_axis(&plan, &picture->reduce_y, tvlm_level_side(shape.height, picture->from),
                       picture->height);
            check_axis(&plan, &picture->enlarge_x, picture->width, shape.width);
            check_axis(&plan, &picture->enlarge_y, picture->height, shape.height);
        }
        tvlm_budget_plan_free(&plan);
    }
}

/* From 2 pixels to 4, by hand. The centre of output 1 is at 0.75. Its weights are lanczos(0.25) = 0.8910 and
 * lanczos(0.75) = 0.2702, normalised. */
static void known_weights(tvlm_device *device) {
    const tvlm_texture shape = test_shape((test_size){4, 4}, 1, 1, TVLM_FORMAT_F32);
    const tvlm_budget_size two = {2, 2, 0.0};
    const double pi = 3.14159265358979323846;
    const double near = 3.0 * sin(pi * 0.25) * sin(pi * 0.25 / 3.0) / (pi * pi * 0.0625);
    const double far = 3.0 * sin(pi * 0.75) * sin(pi * 0.75 / 3.0) / (pi * pi * 0.5625);
    tvlm_budget_plan plan;
    (void)device;
    assert_true(tvlm_budget_plan_make(&shape, 0, 16, &two, 1, NULL, &plan));
    assert_int_equal(plan.pictures[0].from, 1); /* the level of that size */
    const tvlm_budget_axis axis = plan.pictures[0].enlarge_x;
    const float *const entry = plan.table + axis.offset + axis.taps + TVLM_BUDGET_HEAD;
    assert_true(entry[0] == 0.0f && entry[1] == 2.0f);
    assert_true(fabs((double)entry[2] - near / (near + far)) < 1e-6);
    assert_true(fabs((double)entry[3] - far / (near + far)) < 1e-6);
    tvlm_budget_plan_free(&plan);
}

/* ---- Devices ---- */

static float *losses_of(tvlm_device *device, const tvlm_texture *source, const tvlm_budget_plan *plan,
                        size_t offset) {
    const size_t seen = plan->kept != NULL ? (size_t)plan->seen : 1;
    const size_t count = offset + seen * 2 * (size_t)plan->count * (size_t)plan->columns * (size_t)plan->rows;
    float *const losses = malloc(count * sizeof *losses);
    assert_non_null(losses);
    tvlm_buffer *buffer = test_buffer(device, count * sizeof *losses, NULL);
    if (device->backend->losses(device, source, plan, buffer, offset) != TVLM_OK)
        fail_msg("%s", test_last_log());
    test_buffer_take(device, &buffer, count * sizeof *losses, losses);
    return losses;
}

/* The tolerance of a tile's losses, divided by its pixels. Losses are sums of floats in [0, 1]. The squared
 * error is exact to a few ulp. The variances of detail are off by some 1e-7, which is compared with FLOOR,
 * and by more in tiles of more pixels. */
static test_tolerance tolerance_of(int32_t patch) {
    const float more = fmaxf((float)patch / 28.0f, 1.0f);
    return (test_tolerance){2e-4f * more, 2e-5f * more, 0.0f};
}

/* Compares `count` losses, of which there are two for each tile, from float `offset` on. */
static void compare_losses(const char *name, float *got, float *expected, size_t offset, size_t count,
                           test_size size, int32_t patch) {
    char what[96];
    for (size_t i = offset; i < offset + count; ++i) {
        got[i] /= (float)(patch * patch);
        expected[i] /= (float)(patch * patch);
    }
    for (size_t part = 0; part < 2; ++part) {
        snprintf(what, sizeof what, "%s%s of %dx%d, patch %d", name, part == 0 ? "squared error" : "detail",
                 (int)size.width, (int)size.height, (int)patch);
        test_compare_stage(what, got + offset + part, expected + offset + part, count / 2, 2,
                           tolerance_of(patch), false);
    }
}

/* The losses of a plan of image 1 in what is kept of image 0, of image 1, and of image 0 again. They lie at places 1, 3, and, as
 * there are four, 1. What is at places 0 and 2 is not looked at. */
static float *losses_of_kept(tvlm_device *device, const tvlm_texture *source, tvlm_budget_plan *plan) {
    enum { PLACES = 4 };
    tvlm_budget_kept kept = {.places = PLACES};
    const size_t bytes =
        sizeof(float) * tvlm_budget_kept_floats(source->width, source->height, plan->patch, kept.places);
    kept.memory = test_buffer(device, bytes, NULL);
    for (int32_t place = 0; place < PLACES; ++place)
        if (device->backend->losses_keep(device, source, place == 1 ? 0 : 1, plan->patch, &kept, place) !=
            TVLM_OK)
            fail_msg("%s", test_last_log());
    plan->kept = &kept;
    plan->seen = 3;
    plan->first = 1;
    plan->step = 2;
    float *const losses = losses_of(device, source, plan, 0);
    plan->kept = NULL;
    device->backend->buffer_destroy(device, &kept.memory);
    return losses;
}

/* The losses of a plan of image 1 in image 0 as it was kept, moved by each map. The last map moves nothing. */
enum { MOVES = 3 };
static float *losses_of_moved(tvlm_device *device, const tvlm_texture *source, tvlm_budget_plan *plan) {
    enum { PLACES = 2, FROM = 1 };
    static const float maps[MOVES][6] = {{1.01f, 0.02f, -3.7f, -0.015f, 0.97f, 2.25f},
                                         {1.0f, 0.0f, 5.0f, 0.0f, 1.0f, -40.0f},
                                         {1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f}};
    tvlm_budget_kept kept = {.places = PLACES}, moved = {.places = MOVES};
    const int32_t width = source->width, height = source->height;
    kept.memory = test_buffer(
        device, sizeof(float) * tvlm_budget_kept_floats(width, height, plan->patch, kept.places), NULL);
    moved.memory = test_buffer(
        device, sizeof(float) * tvlm_budget_kept_floats(width, height, plan->patch, moved.places), NULL);
    if (device->backend->losses_keep(device, source, 0, plan->patch, &kept, FROM) != TVLM_OK)
        fail_msg("%s", test_last_log());
    for (int32_t i = 0; i < MOVES; ++i) {
        tvlm_budget_move move = {.from = FROM, .to = i};
        memcpy(move.map, maps[i], sizeof move.map);
        if (device->backend->losses_move(device, source, plan->patch, &kept, &move, &moved) != TVLM_OK)
            fail_msg("%s", test_last_log());
    }
    plan->kept = &moved;
    plan->seen = MOVES;
    plan->first = 0;
    plan->step = 1;
    float *const losses = losses_of(device, source, plan, 0);
    plan->kept = NULL;
    device->backend->buffer_destroy(device, &kept.memory);
    device->backend->buffer_destroy(device, &moved.memory);
    return losses;
}

/* What does not move gives to the bit what it gives where it is, `still`. */
static void compare_moved(const test_pair *source, tvlm_budget_plan *plan, const float *still, test_size size,
                          int32_t patch) {
    const size_t count = 2 * (size_t)plan->count * (size_t)plan->columns * (size_t)plan->rows;
    float *const got = losses_of_moved(source->device, source->got, plan);
    float *const expected = losses_of_moved(source->reference, source->expected, plan);
    assert_memory_equal(got + (MOVES - 1) * count, still, count * sizeof *got);
    compare_losses("a moved image's ", got, expected, 0, MOVES * count, size, patch);
    free(got);
    free(expected);
}

/* The pictures of an image compared with another one, and with itself, which gives what it gives alone. */
static void compare_seen(const test_pair *source, tvlm_budget_plan *plan, const float *alone, test_size size,
                         int32_t patch) {
    const size_t count = 2 * (size_t)plan->count * (size_t)plan->columns * (size_t)plan->rows;
    float *const got = losses_of_kept(source->device, source->got, plan);
    float *const expected = losses_of_kept(source->reference, source->expected, plan);
    assert_memory_equal(got + count, alone, count * sizeof *got);
    assert_memory_equal(got, got + 2 * count, count * sizeof *got);
    compare_moved(source, plan, got, size, patch);
    compare_losses("another image's ", got, expected, 0, 3 * count, size, patch);
    free(got);
    free(expected);
}

/* In strips, of one row of tiles and of several, there is to the bit what there is of the whole image. */
static void compare_strips(const test_pair *source, tvlm_budget_plan *plan, const float *whole) {
    const size_t count = 2 * (size_t)plan->count * (size_t)plan->columns * (size_t)plan->rows;
    if (!test_is_opencl(source->device)) return;
    opencl_tuning *const tuning = &((opencl_device *)source->device)->tuning;
    const int32_t kept = tuning->losses_kib;
    const size_t all = sizeof(float) * (plan->between_texels + plan->picture_texels);
    const int32_t parts[] = {(int32_t)(all / 1024 / 3), 0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        tuning->losses_kib = parts[i];
        float *const got = losses_of(source->device, source->got, plan, 0);
        assert_memory_equal(got, whole, count * sizeof *got);
        free(got);
    }
    tuning->losses_kib = kept;
}

/* A plan that lies on the device already gives what one gives that is sent. */
static void compare_sent(const test_pair *source, tvlm_budget_plan *plan, const float *alone) {
    const size_t count = 2 * (size_t)plan->count * (size_t)plan->columns * (size_t)plan->rows;
    tvlm_device *const device = source->device;
    plan->sent_pictures = test_buffer(device, (size_t)plan->count * sizeof *plan->pictures, plan->pictures);
    plan->sent_table = test_buffer(device, plan->table_floats * sizeof *plan->table, plan->table);
    float *const got = losses_of(device, source->got, plan, 0);
    assert_memory_equal(got, alone, count * sizeof *got);
    device->backend->buffer_destroy(device, &plan->sent_pictures);
    device->backend->buffer_destroy(device, &plan->sent_table);
    free(got);
}

static void compare(const test_target *target, tvlm_device *reference, test_size size, int32_t patch,
                    test_picture picture, uint64_t *random) {
    enum { PICTURES = 5, OFFSET = 3 };
    const int32_t images = 2;
    test_pair source = test_source(target, reference, size, images, picture, random);
    const tvlm_budget_size sizes[PICTURES] = {
        {tvlm_level_side(size.width, 1), tvlm_level_side(size.height, 1), 0.0},
        {patch, patch, 0.0},
        {1 + (int32_t)(test_random(random) % (uint64_t)size.width),
         1 + (int32_t)(test_random(random) % (uint64_t)size.height), 0.0},
        {size.width, size.height, 0.0},
        {(3 * size.width + 3) / 4, (3 * size.height + 3) / 4, 4.0 / 3.0}};
    tvlm_budget_plan plan;
    assert_true(tvlm_budget_plan_make(source.got, images - 1, patch, sizes, PICTURES, NULL, &plan));
    assert_int_equal(plan.count, PICTURES);
    float *const got = losses_of(source.device, source.got, &plan, OFFSET);
    float *const expected = losses_of(source.reference, source.expected, &plan, OFFSET);
    const size_t count = 2 * (size_t)PICTURES * (size_t)plan.columns * (size_t)plan.rows;
    assert_memory_equal(got, expected, OFFSET * sizeof *got); /* the guard's pattern */
    compare_seen(&source, &plan, got + OFFSET, size, patch);
    compare_strips(&source, &plan, got + OFFSET);
    compare_sent(&source, &plan, got + OFFSET);
    compare_losses("", got, expected, OFFSET, count, size, patch);
    free(got);
    free(expected);
    tvlm_budget_plan_free(&plan);
    test_pair_destroy(&source);
}

static void losses(const test_target *target, tvlm_device *reference) {
    size_t count, side_count;
    const test_size *const sizes = test_sizes(&count);
    const int32_t *const sides = sides_for_devices(&side_count);
    uint64_t random = 13;
    for (size_t i = 0; i < count; ++i)
        compare(target, reference, sizes[i], i % 3 == 0 ? 28 : 16, (test_picture)(i % TEST_PICTURES),
                &random);
    /* There are tiles that lie in the image as a whole, and tiles that its border clips. */
    for (size_t i = 0; i < side_count; ++i)
        compare(target, reference, (test_size){2 * sides[i] + 3, 2 * sides[i] + sides[i] / 3}, sides[i],
                (test_picture)(i % TEST_PICTURES), &random);
}

/* ---- Known moves ---- */

/* A shift of whole pixels, and one by half a pixel. Beyond the border is what is at the border. */
static void known_moves(tvlm_device *device) {
    enum { WIDTH = 7, HEIGHT = 5, PATCH_SIDE = 4, ACROSS = 2, DOWN = -1 };
    tvlm_texture shape = test_shape((test_size){WIDTH, HEIGHT}, 1, 1, TVLM_FORMAT_F32);
    /* Rows of luma lie beside each other on the reference, and further apart elsewhere. */
    const int line = device->info.type == TVLM_DEVICE_REFERENCE ? WIDTH : TVLM_BUDGET_LINE(WIDTH);
    float rgba[WIDTH * HEIGHT * 4], got[TVLM_BUDGET_LINE(WIDTH) * HEIGHT];
    for (int i = 0; i < WIDTH * HEIGHT * 4; ++i) rgba[i] = (float)(i / 4) / 64.0f;
    tvlm_texture *source = test_texture(device, &shape);
    assert_int_equal(device->backend->texture_write(device, source, 0, rgba), TVLM_OK);
    const size_t bytes = sizeof(float) * tvlm_budget_kept_floats(WIDTH, HEIGHT, PATCH_SIDE, 1);
    const tvlm_budget_kept kept = {test_buffer(device, bytes, NULL), 1};
    assert_int_equal(device->backend->losses_keep(device, source, 0, PATCH_SIDE, &kept, 0), TVLM_OK);
    for (int half = 0; half < 2; ++half) {
        tvlm_budget_kept moved = {test_buffer(device, bytes, NULL), 1};
        const tvlm_budget_move move = {
            .map = {1.0f, 0.0f, (float)ACROSS + 0.5f * (float)half, 0.0f, 1.0f, DOWN}};
        assert_int_equal(device->backend->losses_move(device, source, PATCH_SIDE, &kept, &move, &moved),
                         TVLM_OK);
        test_buffer_take(device, &moved.memory, sizeof(float) * (size_t)line * HEIGHT, got);
        for (int y = 0; y < HEIGHT; ++y)
            for (int x = 0; x < WIDTH; ++x) {
                const int row = y + DOWN < 0 ? 0 : y + DOWN, left = x + ACROSS, last = WIDTH - 1;
                const int a = left < last ? left : last, b = left + half < last ? left + half : last;
                const float expected = 0.5f * (rgba[4 * (row * WIDTH + a)] + rgba[4 * (row * WIDTH + b)]);
                if (got[y * line + x] != expected)
                    fail_msg("(%d, %d): %g, not %g", x, y, (double)got[y * line + x], (double)expected);
            }
    }
    tvlm_buffer *memory = kept.memory;
    device->backend->buffer_destroy(device, &memory);
    device->backend->texture_destroy(device, &source);
}

/* ---- Known losses ---- */

enum { SIDE = 64 };

/* White but for a black square of 8 pixels at 32, 32. */
static bool is_black(int x, int y) {
    return x >= 32 && x < 40 && y >= 32 && y < 40;
}

/* Returns the losses of a picture of that size of this image. free() them. */
static float *known(tvlm_device *device, tvlm_budget_size size, int32_t patch) {
    tvlm_texture shape = test_shape((test_size){SIDE, SIDE}, 1, 1, TVLM_FORMAT_F32);
    static float rgba[SIDE * SIDE * 4];
    tvlm_budget_plan plan;
    for (int i = 0; i < SIDE * SIDE; ++i) {
        for (int c = 0; c < 4; ++c) rgba[4 * i + c] = is_black(i % SIDE, i / SIDE) ? 0.0f : 1.0f;
    }
    tvlm_texture *source = test_texture(device, &shape);
    assert_int_equal(device->backend->texture_write(device, source, 0, rgba), TVLM_OK);
    assert_int_equal(device->backend->mips(device, &source, 1), TVLM_OK);
    assert_true(tvlm_budget_plan_make(source, 0, patch, &size, 1, NULL, &plan));
    float *const losses = losses_of(device, source, &plan, 0);
    tvlm_budget_plan_free(&plan);
    device->backend->texture_destroy(device, &source);
    return losses;
}

/* How many pixels a window has, and how many of them are black. A window is the blocks i and i + 1 in the
 * rows j and j + 1 of a tile. Pixel p along the side of a tile lies in block floor((4 p + 3) / patch). */
typedef struct window {
    int32_t pixels, black;
} window;

static window window_of(int32_t patch, int32_t left, int32_t top, int32_t i, int32_t j) {
    window w = {0, 0};
    for (int32_t y = 0; y < patch && top + y < SIDE; ++y)
        for (int32_t x = 0; x < patch && left + x < SIDE; ++x) {
            const int32_t across = (4 * x + 3) / patch - i, down = (4 * y + 3) / patch - j;
            if (across < 0 || across > 1 || down < 0 || down > 1) continue;
            ++w.pixels;
            w.black += is_black(left + x, top + y);
        }
    return w;
}

/* SEEN is the variance of which half counts, and FLOOR the variance of noise. */
#define SEEN  7.689e-4
#define FLOOR 3.076e-5

static double variance_of(window w) {
    const double mean = 1.0 - (double)w.black / w.pixels;
    return mean * (1.0 - mean);
}

/* The share of detail that is not read, by the correlation in windows of half a tile. */
static double unread(double correlation, int32_t patch) {
    return 1.0 / (1.0 + exp((correlation - (0.60 + 0.05 * log2(patch / 16.0))) / 0.09));
}

/* Compares the losses of a tile in a picture of one texel, which is the image's mean everywhere. */
static void check_gray(const float *losses, int32_t patch, int32_t left, int32_t top) {
    const double gray = 1.0 - 1.0 / 64.0;
    double error = 0.0, pixels = 0.0, variance = 0.0, correlated = 0.0, windows = 0.0;
    for (int32_t y = top; y < top + patch && y < SIDE; ++y)
        for (int32_t x = left; x < left + patch && x < SIDE; ++x) {
            error += pow(gray - (is_black(x, y) ? 0.0 : 1.0), 2.0);
            pixels += 1.0;
        }
    for (int32_t i = 0; i < 9; ++i) {
        const window w = window_of(patch, left, top, i % 3, i / 3);
        if (w.pixels == 0) continue;
        /* The gray does not vary: the noise that both have is all that correlates. */
        variance += variance_of(w);
        correlated += sqrt(FLOOR * (variance_of(w) + FLOOR));
        windows += 1.0;
    }
    const double mean = variance / windows, correlation = correlated / (variance + windows * FLOOR);
    const double lost = pixels * mean / (mean + SEEN) * (unread(correlation, patch) - unread(1.0, patch));
    if (fabs((double)losses[0] - error) > 1e-4 || fabs((double)losses[1] - lost) > 1e-3)
        fail_msg("patch %d at %d, %d: %g and %g, by hand %g and %g", (int)patch, (int)left, (int)top,
                 (double)losses[0], (double)losses[1], error, lost);
}

/* The image itself loses nothing. A picture of one texel loses what is computed by hand. */
static void known_losses(tvlm_device *device) {
    for (size_t s = 0; s < sizeof all_sides / sizeof *all_sides; ++s) {
        const int32_t patch = all_sides[s], columns = (SIDE + patch - 1) / patch;
        float *losses = known(device, (tvlm_budget_size){SIDE, SIDE, 0.0}, patch);
        for (int i = 0; i < 2 * columns * columns; ++i) assert_true(fabsf(losses[i]) < 1e-9f);
        free(losses);
        losses = known(device, (tvlm_budget_size){1, 1, 0.0}, patch);
        for (int i = 0; i < columns * columns; ++i)
            check_gray(losses + 2 * i, patch, i % columns * patch, i / columns * patch);
        free(losses);
    }
}

TEST_FAMILY(losses, {"weights", .known = weights}, {"known weights", .known = known_weights},
            {"known moves", .known = known_moves}, {"known losses", .known = known_losses},
            {"losses", TEST_TUNED, .body = losses})
