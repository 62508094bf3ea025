/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reference_losses.c: what the reference says that pictures lose of each tile, against the definition (core/operations.h)
 * written down here from the image's pixels on: Lanczos' filter both ways, errors, and windows of two by two blocks.
 */
#include "reference_helper.h"

#include "reference/texture.h"
#include "select/budget_plan.h"

enum { MOST = 64 };

/* ---- Pictures ---- */

static double lanczos(double x) {
    const double t = acos(-1.0) * x;
    return fabs(x) < 1e-9 ? 1.0 : fabs(x) < 3.0 ? 3.0 * sin(t) * sin(t / 3.0) / (t * t) : 0.0;
}

/* The weight of each of `from` places in place o of the result, where a place of the result is `scale` of the source's. */
static void weigh(int32_t from, int32_t o, double scale, double weights[MOST]) {
    const double stretch = fmax(scale, 1.0);
    double sum = 0.0;
    for (int32_t i = 0; i < from; ++i) {
        weights[i] = scale == 1.0 ? (i == o ? 1.0 : 0.0) : lanczos((i + 0.5 - (o + 0.5) * scale) / stretch);
        sum += weights[i];
    }
    for (int32_t i = 0; i < from; ++i) weights[i] /= sum;
}

typedef struct plane {
    int32_t width, height;
    double at[MOST * MOST];
} plane;

/* Resizes along both sides, first along columns, and cuts off what lies beyond 0 and 1. */
static void resize(const plane *from, int32_t width, int32_t height, double scale_x, double scale_y,
                   plane *to) {
    static plane between;
    double weights[MOST];
    between = (plane){.width = from->width, .height = height};
    *to = (plane){.width = width, .height = height};
    for (int32_t y = 0; y < height; ++y) {
        weigh(from->height, y, scale_y, weights);
        for (int32_t x = 0; x < from->width; ++x)
            for (int32_t i = 0; i < from->height; ++i)
                between.at[y * from->width + x] += weights[i] * from->at[i * from->width + x];
    }
    for (int32_t x = 0; x < width; ++x) {
        weigh(from->width, x, scale_x, weights);
        for (int32_t y = 0; y < height; ++y) {
            double sum = 0.0;
            for (int32_t i = 0; i < from->width; ++i) sum += weights[i] * between.at[y * from->width + i];
            to->at[y * width + x] = fmin(fmax(sum, 0.0), 1.0);
        }
    }
}

/* ---- Losses ---- */

static const double FLOOR = (double)TVLM_BUDGET_FLOOR, SEEN = (double)TVLM_BUDGET_SEEN;

static double sigmoid(double x) {
    return 1.0 / (1.0 + exp(-x));
}

/* The variance of p where q is p, else the covariance, over a rectangle that lies in the image. */
static double covariance(const plane *p, const plane *q, const int32_t box[4]) {
    double count = 0.0, x = 0.0, y = 0.0, sum = 0.0;
    for (int32_t i = box[1]; i < box[3]; ++i)
        for (int32_t j = box[0]; j < box[2]; ++j, ++count) {
            x += p->at[i * p->width + j];
            y += q->at[i * p->width + j];
        }
    for (int32_t i = box[1]; i < box[3]; ++i)
        for (int32_t j = box[0]; j < box[2]; ++j)
            sum += (p->at[i * p->width + j] - x / count) * (q->at[i * p->width + j] - y / count);
    return sum / count;
}

/* The part of blocks [first, first + count) of a tile along one side that lies in the image. */
static void part_of(int32_t tile, int32_t patch, int32_t first, int32_t count, int32_t side, int32_t *begin,
                    int32_t *end) {
    *begin = tile * patch + first * patch / 4;
    *end = tile * patch + (first + count) * patch / 4;
    if (*begin > side) *begin = side;
    if (*end > side) *end = side;
}

/* Both losses of a tile. */
static void plain_losses(const plane *image, const plane *picture, int32_t column, int32_t row, int32_t patch,
                         double legible, double losses[2]) {
    double windows = 0.0, variances = 0.0, above = 0.0, below = 0.0;
    int32_t box[4];
    part_of(column, patch, 0, 4, image->width, &box[0], &box[2]);
    part_of(row, patch, 0, 4, image->height, &box[1], &box[3]);
    const double pixels = (double)(box[2] - box[0]) * (box[3] - box[1]);
    losses[0] = 0.0;
    for (int32_t y = box[1]; y < box[3]; ++y)
        for (int32_t x = box[0]; x < box[2]; ++x)
            losses[0] += pow(image->at[y * image->width + x] - picture->at[y * image->width + x], 2.0);
    for (int32_t j = 0; j < 3; ++j)
        for (int32_t i = 0; i < 3; ++i) {
            part_of(column, patch, i, 2, image->width, &box[0], &box[2]);
            part_of(row, patch, j, 2, image->height, &box[1], &box[3]);
            if (box[0] == box[2] || box[1] == box[3]) continue;
            const double v = covariance(image, image, box), w = covariance(picture, picture, box),
                         k = covariance(image, picture, box);
            ++windows;
            variances += v;
            above += (v + FLOOR) * (k + FLOOR) / sqrt((v + FLOOR) * (w + FLOOR));
            below += v + FLOOR;
        }
    const double soft = (double)TVLM_BUDGET_SOFT, m = variances / windows;
    const double unread = sigmoid((legible - above / below) / soft) - sigmoid((legible - 1.0) / soft);
    losses[1] = pixels * fmax(unread, 0.0) * m / (m + SEEN);
}

/* ---- The reference ---- */

/* A flat part, a slope, and noise of several strengths. */
static tvlm_texture *draw(int32_t width, int32_t height, int32_t levels, plane *image) {
    static float rgba[4 * MOST * MOST];
    tvlm_texture *source = create(&(tvlm_texture){.width = width,
                                                  .height = height,
                                                  .layers = 1,
                                                  .images = 2,
                                                  .levels = levels,
                                                  .format = TVLM_FORMAT_F32,
                                                  .extent_x = (float)width,
                                                  .extent_y = (float)height});
    *image = (plane){.width = width, .height = height};
    for (int32_t i = 0; i < width * height; ++i) {
        const float strength = i % width < width / 4 ? 0.0f : (float)(i % width) / (float)width;
        const float value =
            fminf(0.2f + 0.3f * (float)(i / width) / (float)height + strength * (random_unit() - 0.3f), 1.0f);
        for (int c = 0; c < 4; ++c) rgba[4 * i + c] = c == 3 ? fmaxf(value, 0.0f) : 0.5f;
        image->at[i] = (double)rgba[4 * i + 3];
    }
    assert_int_equal(backend->texture_write(device, source, 1, rgba), TVLM_OK);
    for (size_t i = 0; i < sizeof rgba / sizeof *rgba; ++i) rgba[i] = 0.5f;
    assert_int_equal(backend->texture_write(device, source, 0, rgba), TVLM_OK); /* which is not looked at */
    assert_int_equal(backend->mips(device, &source, 1), TVLM_OK);
    return source;
}

static void luma_of(const tvlm_texture *source, int32_t level, plane *to) {
    *to = (plane){.width = tvlm_level_side(source->width, level),
                  .height = tvlm_level_side(source->height, level)};
    for (int32_t i = 0; i < to->width * to->height; ++i)
        to->at[i] = (double)tvlm_reference_fetch(source, level, 1, i % to->width, i / to->width)[3];
}

static void compare(int32_t width, int32_t height, int32_t patch, const tvlm_budget_size *sizes,
                    int32_t count) {
    enum { BEFORE = 3 };
    static plane image, level, small, picture;
    static float got[BEFORE + 2 * 8 * 64];
    tvlm_texture *source = draw(width, height, 4, &image);
    tvlm_budget_plan plan;
    tvlm_buffer *buffer = NULL;
    assert_true(tvlm_budget_plan_make(source, 1, patch, sizes, count, NULL, &plan));
    const int32_t tiles = plan.columns * plan.rows;
    const size_t bytes = (size_t)(BEFORE + 2 * count * tiles) * sizeof *got;
    assert_true(plan.count == count && bytes <= sizeof got);
    assert_int_equal(backend->buffer_create(device, bytes, &buffer), TVLM_OK);
    assert_int_equal(backend->losses(device, source, &plan, buffer, BEFORE), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, buffer, 0, bytes, got), TVLM_OK);
    for (int i = 0; i < BEFORE; ++i) assert_true(got[i] == 0.0f);
    for (int32_t p = 0; p < count; ++p) {
        const double texel = sizes[p].texel, wide = sizes[p].width, high = sizes[p].height;
        luma_of(source, plan.pictures[p].from, &level);
        resize(&level, sizes[p].width, sizes[p].height,
               texel > 0.0 ? texel * level.width / width : level.width / wide,
               texel > 0.0 ? texel * level.height / height : level.height / high, &small);
        resize(&small, width, height, texel > 0.0 ? 1.0 / texel : wide / width,
               texel > 0.0 ? 1.0 / texel : high / height, &picture);
        for (int32_t n = 0; n < tiles; ++n) {
            const float *const of_tile = got + BEFORE + 2 * (p * tiles + n);
            double expected[2];
            plain_losses(&image, &picture, n % plan.columns, n / plan.columns, patch,
                         (double)tvlm_budget_legible(patch), expected);
            for (int part = 0; part < 2; ++part)
                if (!(fabs((double)of_tile[part] - expected[part]) < 1e-5 + 1e-4 * expected[part]))
                    fail_msg("%dx%d, picture %d, tile %d, part %d: %g, not %g", (int)width, (int)height,
                             (int)p, (int)n, part, (double)of_tile[part], expected[part]);
        }
    }
    tvlm_budget_plan_free(&plan);
    backend->buffer_destroy(device, &buffer);
    backend->texture_destroy(device, &source);
}

/* Whole tiles, tiles that the border cuts off, sides that blocks do not divide; smaller pictures, levels, and texels that lie
 * across the border. */
static void test_losses(void **state) {
    static const tvlm_budget_size sizes[] = {{16, 16, 0.0},       {20, 9, 0.0},  {24, 16, 0.0}, {48, 32, 0.0},
                                             {36, 24, 4.0 / 3.0}, {16, 11, 3.0}, {8, 8, 0.0}};
    static const tvlm_budget_size odd[] = {{10, 10, 0.0}, {23, 15, 0.0}, {36, 24, 4.0 / 3.0}, {16, 11, 3.0}};
    (void)state;
    compare(48, 32, 16, sizes, 7);
    compare(48, 32, 8, sizes, 7);
    compare(47, 31, 10, odd, 4);
    compare(47, 31, 14, odd, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_losses)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
