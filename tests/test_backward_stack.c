/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_backward_stack.c: the gradients of sampling. In double they are held against impulses and differences; and, as the
 * transpose of what tvlm_stack_sample does, against that: <J v, w> = <v, J^T w>. What is clamped; what is refused.
 */
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/lab/backward.h"

#include <math.h>

/* ---- In double ---- */

typedef struct picture {
    int32_t width, height, channels, count;
    double *texels, *points, *gradients;
} picture;

static double *numbers(uint64_t *random, size_t count) {
    double *const made = malloc((count + 1) * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; ++i) made[i] = 2.0 * (double)test_random_unit(random) - 1.0;
    return made;
}

/* Points inside and outside, away from the centres of all levels and from whole levels, by at least `gap`. */
static void random_places(picture *p, uint64_t *random, double gap) {
    const double sides[2] = {p->width, p->height};
    const int32_t levels = tvlm_level_count(p->width, p->height);
    for (int32_t i = 0; i < 3 * p->count; ++i) {
        bool near = true;
        while (near) {
            const double span = i % 3 == 2 ? levels + 1.0 : 1.4 * sides[i % 3];
            const double at =
                span * (double)test_random_unit(random) - (i % 3 == 2 ? 1.0 : 0.2 * sides[i % 3]);
            near = i % 3 == 2 && fabs(at - round(at)) < gap;
            for (int32_t level = 0; i % 3 < 2 && level < levels; ++level) {
                const double side = sides[i % 3],
                             own = at * tvlm_level_side((int32_t)side, level) / side - 0.5;
                near = near || fabs(own - round(own)) < gap;
            }
            p->points[i] = at;
        }
    }
}

static picture make_picture(uint64_t *random, int32_t width, int32_t height, int32_t channels,
                            int32_t count) {
    picture p = {width, height, channels, count, NULL, NULL, NULL};
    p.texels = numbers(random, (size_t)(width * height * channels));
    p.gradients = numbers(random, (size_t)(count * channels));
    p.points = numbers(random, (size_t)(3 * count));
    random_places(&p, random, 1e-3);
    return p;
}

static void free_picture(picture *p) {
    free(p->texels);
    free(p->points);
    free(p->gradients);
}

static struct tvlm_sample_double_params params_of(const picture *p) {
    return (struct tvlm_sample_double_params){.texels = p->texels,
                                              .width = p->width,
                                              .height = p->height,
                                              .channels = p->channels,
                                              .count = p->count,
                                              .points = p->points,
                                              .log = &test_log};
}

/* The loss: the sum of all samples, each times its gradient. */
static double loss_of(const picture *p) {
    const struct tvlm_sample_double_params params = params_of(p);
    const int32_t count = p->count * p->channels;
    double *const out = malloc((size_t)(count + 1) * sizeof *out), sum = 0.0;
    assert_non_null(out);
    out[count] = 7.0;
    if (tvlm_sample_double(&params, out) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_true(out[count] == 7.0);
    for (int32_t i = 0; i < count; ++i) sum += out[i] * p->gradients[i];
    free(out);
    return sum;
}

static void check_number(const char *what, int32_t i, double got, double expected, double tolerance) {
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%s %d: %.12g, and not %.12g", what, (int)i, got, expected);
}

/* A loss is linear in each texel, and between centres a polynomial of low degree of each coordinate. */
static void check_double(int32_t width, int32_t height, int32_t channels, int32_t count) {
    uint64_t random = (uint64_t)(width * 100 + height);
    picture p = make_picture(&random, width, height, channels, count);
    const struct tvlm_sample_double_params params = params_of(&p);
    const int32_t texels = width * height * channels;
    double *const got = malloc((size_t)texels * sizeof *got), *const steps =
                                                                  malloc((size_t)count * 3 * sizeof *steps);
    assert_true(got != NULL && steps != NULL);
    if (tvlm_sample_double_backward(&params, p.gradients, got, steps) != TVLM_OK)
        fail_msg("%s", test_last_log());
    for (int32_t i = 0; i < texels; ++i) {
        const double before = p.texels[i];
        p.texels[i] = before + 1.0;
        const double more = loss_of(&p);
        p.texels[i] = before - 1.0;
        check_number("texel", i, got[i], 0.5 * (more - loss_of(&p)), 1e-12 * count);
        p.texels[i] = before;
    }
    for (int32_t i = 0; i < 3 * count; ++i) {
        const double before = p.points[i], h = 1e-5;
        p.points[i] = before + h;
        const double more = loss_of(&p);
        p.points[i] = before - h;
        check_number("coordinate", i, steps[i], (more - loss_of(&p)) / (2.0 * h), 1e-8);
        p.points[i] = before;
    }
    free(got);
    free(steps);
    free_picture(&p);
}

static void test_double(void **state) {
    (void)state;
    check_double(6, 4, 3, 40);
    check_double(1, 1, 2, 5);
    check_double(1, 7, 1, 20);
    check_double(9, 5, 2, 40);
    check_double(13, 11, 1, 60);
    check_double(16, 3, 1, 40);
}

static void test_double_refusals(void **state) {
    uint64_t random = 3;
    picture p = make_picture(&random, 4, 3, 2, 2);
    double out[4], nothing = 5.0;
    (void)state;
    struct tvlm_sample_double_params params = params_of(&p);
#define REFUSED(line, change)                                                                                \
    do {                                                                                                     \
        struct tvlm_sample_double_params bad = params;                                                       \
        change;                                                                                              \
        refused(tvlm_sample_double(&bad, out), TVLM_ERROR_ARGUMENT, line);                                   \
        refused(tvlm_sample_double_backward(&bad, p.gradients, NULL, NULL), TVLM_ERROR_ARGUMENT, line);      \
    } while (0)
    REFUSED("0 x 3 texels of 2 channels", bad.width = 0);
    REFUSED("4 x -1 texels", bad.height = -1);
    REFUSED("of 0 channels", bad.channels = 0);
    REFUSED("and -2 points", bad.count = -2);
    REFUSED("100000 x 100000 texels", bad.width = bad.height = 100000);
    REFUSED("texels is NULL", bad.texels = NULL);
    REFUSED("points is NULL", bad.points = NULL);
    REFUSED("reserved words", bad.reserved[1] = 1);
    p.points[5] = NAN;
    REFUSED("point 1 is not a number", (void)0);
    p.points[5] = INFINITY; /* is clamped */
    assert_int_equal(tvlm_sample_double(&params, out), TVLM_OK);
    p.texels[7] = INFINITY;
    REFUSED("texel value 7 is inf", (void)0);
    p.texels[7] = 0.0;
    p.gradients[2] = NAN;
    refused(tvlm_sample_double_backward(&params, p.gradients, NULL, &nothing), TVLM_ERROR_ARGUMENT,
            "gradient 2 is nan");
    assert_true(nothing == 5.0);
    refused(tvlm_sample_double_backward(&params, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "gradients is NULL");
    refused(tvlm_sample_double(&params, NULL), TVLM_ERROR_ARGUMENT, "out is NULL");
    assert_int_equal(tvlm_sample_double(NULL, out), TVLM_ERROR_ARGUMENT);
#undef REFUSED
    free_picture(&p);
}

/* ---- The function, as the transpose of sampling ---- */

static tvlm_sample_point *random_points(uint64_t *random, int32_t count, float width, float height,
                                        float levels, int32_t index) {
    tvlm_sample_point *const points = malloc((size_t)count * sizeof *points);
    assert_non_null(points);
    for (int32_t i = 0; i < count; ++i)
        points[i] = (tvlm_sample_point){width * (1.2f * test_random_unit(random) - 0.1f),
                                        height * (1.2f * test_random_unit(random) - 0.1f),
                                        (levels + 1.0f) * test_random_unit(random) - 0.5f, index};
    return points;
}

static float *random_floats(uint64_t *random, size_t count) {
    float *const made = malloc(count * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; ++i) made[i] = 2.0f * test_random_unit(random) - 1.0f;
    return made;
}

/* Weighs the samples of the channels, and holds it against their texels times the gradients of these. Where the
 * channels are half, their levels were rounded. */
static void check_transpose(tvlm_stack *stack, int32_t index, const char *const *names, int32_t channel_count,
                            int32_t count, double tolerance) {
    uint64_t random = 77;
    int32_t channels[16];
    size_t sizes[16], capacity = 0;
    float *values[16];
    tvlm_stack_info info;
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    for (int32_t c = 0; c < channel_count; ++c) {
        channels[c] = tvlm_stack_channel_find(stack, names[c]);
        values[c] = read_level(stack, index, channels[c], 0, &sizes[c]);
        capacity += sizes[c];
    }
    tvlm_sample_point *const points =
        random_points(&random, count, (float)info.width, (float)info.height, (float)info.levels, index);
    float *const weights = random_floats(&random, (size_t)(count * channel_count));
    float *const out = malloc((size_t)(count * channel_count) * sizeof *out), *const texels =
                                                                                  malloc((capacity + 1) *
                                                                                         sizeof *texels);
    assert_true(out != NULL && texels != NULL);
    texels[capacity] = 9.0f;
    assert_int_equal(tvlm_stack_sample(stack, points, count, channels, channel_count, out), TVLM_OK);
    const struct tvlm_sample_backward_params params = {.index = index,
                                                       .points = points,
                                                       .count = count,
                                                       .channels = channels,
                                                       .channel_count = channel_count,
                                                       .gradients = weights};
    if (tvlm_sample_backward(stack, &params, capacity, texels, NULL) != TVLM_OK)
        fail_msg("%s", test_last_log());
    assert_true(texels[capacity] == 9.0f);
    const float *at = texels;
    for (int32_t c = 0; c < channel_count; ++c) {
        double left = 0.0, right = 0.0, size = 0.0;
        for (int32_t i = 0; i < count; ++i) {
            const double term = (double)out[i * channel_count + c] * (double)weights[i * channel_count + c];
            left += term;
            size += fabs(term);
        }
        for (size_t i = 0; i < sizes[c]; ++i) right += (double)values[c][i] * (double)*at++;
        if (!(fabs(left - right) <= tolerance * (size + 1e-3)))
            fail_msg("%s: <Jv, w> is %.9g and <v, J^T w> %.9g, of terms of %.9g", names[c], left, right,
                     size);
        free(values[c]);
    }
    free(points);
    free(weights);
    free(out);
    free(texels);
}

/* Filters of images may have weights of 8 bits (doc/drivers.md). */
static double sampling_tolerance(tvlm_device *device, tvlm_format format) {
    const bool hardware = test_device_info(device)->storage != TVLM_STORAGE_BUFFER;
    return (format == TVLM_FORMAT_F16 ? 1e-3 : 3e-6) + (hardware ? 4e-3 : 0.0);
}

/* Grids of every kind of extent: pixels, half and quarter sides, cells that reach beyond the image, and a channel that
 * nobody handed in, whose gradient is 0. */
static void check_channels(tvlm_device *device, tvlm_format format) {
    static const char *const names[] = {"r",        "edges",  "high",    "entropy",
                                        "saliency", "edge_x", "rgb_var", "gaze"};
    tvlm_stack *const stack =
        random_stack(device, format, test_small() ? 45 : 150, test_small() ? 38 : 97, 5);
    check_transpose(stack, 0, names, 8, test_small() ? 30 : 500, sampling_tolerance(device, format));
    tvlm_stack *handle = stack;
    tvlm_stack_destroy(&handle);
}

/* Any image of a batch; and vectors with gaps between the layers that are asked for. */
static void check_batch(tvlm_device *device, tvlm_format format) {
    static const char *const names[] = {"feature_0", "feature_3", "feature_17", "b"};
    uint64_t random = 9;
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.layout = "r", .width = 40, .height = 24,
                                                         .images = 3, .format = format),
                                       &stack),
                     TVLM_OK);
    for (int32_t i = 0; i < 3; ++i) {
        uint8_t *const pixels = test_random_pixels(&random, 40, 24, 3);
        const tvlm_image image = u8_image(pixels, 40, 24, 3);
        float *const vectors = random_floats(&random, 7 * 5 * 18);
        assert_int_equal(tvlm_stack_set_image(stack, i, &image), TVLM_OK);
        assert_int_equal(
            tvlm_stack_set_grid(stack, i, TVLM_CHANNEL_FEATURE_0,
                                tvlm_grid_input(.data = vectors, .columns = 7, .rows = 5, .channels = 18)),
            TVLM_OK);
        free(vectors);
        free(pixels);
    }
    for (int32_t i = 0; i < 3; ++i)
        check_transpose(stack, i, names, 4, 60, sampling_tolerance(device, format));
    tvlm_stack_destroy(&stack);
}

/* Makes a stack as large as a texture of floats, which holds it and nothing else. */
static tvlm_stack *texture_stack(tvlm_device *device, const picture *p) {
    const size_t count = (size_t)(p->width * p->height * p->channels);
    tvlm_stack *stack = NULL;
    float *const vectors = malloc(count * sizeof *vectors);
    assert_non_null(vectors);
    for (size_t i = 0; i < count; ++i) p->texels[i] = (double)(vectors[i] = (float)p->texels[i]);
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.layout = "x", .width = p->width,
                                                         .height = p->height, .format = TVLM_FORMAT_F32),
                                       &stack),
                     TVLM_OK);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = vectors, .columns = p->width,
                                                         .rows = p->height, .channels = p->channels)),
                     TVLM_OK);
    free(vectors);
    return stack;
}

enum { FEW = 5 };

/* Makes points and gradients floats, and finds the gradients of all channels. */
static tvlm_status go_back(tvlm_stack *stack, const picture *p, float *texels, float *steps) {
    static const int32_t channels[FEW] = {TVLM_CHANNEL_FEATURE_0, TVLM_CHANNEL_FEATURE_0 + 1,
                                          TVLM_CHANNEL_FEATURE_0 + 2, TVLM_CHANNEL_FEATURE_0 + 3,
                                          TVLM_CHANNEL_FEATURE_0 + 4};
    const size_t count = (size_t)(p->count * p->channels);
    tvlm_sample_point *const points = malloc((size_t)p->count * sizeof *points);
    float *const gradients = malloc(count * sizeof *gradients);
    assert_true(points != NULL && gradients != NULL);
    for (int32_t i = 0; i < p->count; ++i)
        points[i] = (tvlm_sample_point){(float)p->points[3 * i], (float)p->points[3 * i + 1],
                                        (float)p->points[3 * i + 2], 0};
    for (size_t i = 0; i < count; ++i) gradients[i] = (float)p->gradients[i];
    const struct tvlm_sample_backward_params params = {.points = points,
                                                       .count = p->count,
                                                       .channels = channels,
                                                       .channel_count = p->channels,
                                                       .gradients = gradients};
    const tvlm_status status =
        tvlm_sample_backward(stack, &params, (size_t)(p->width * p->height * p->channels), texels, steps);
    free(points);
    free(gradients);
    return status;
}

/* What a device gives is what doubles give, but for their rounding; texels come channel by channel. */
static void check_against_double(tvlm_device *device, tvlm_format format) {
    uint64_t random = 21;
    picture p =
        make_picture(&random, test_small() ? 13 : 61, test_small() ? 9 : 34, FEW, test_small() ? 20 : 300);
    const int32_t area = p.width * p.height, texels = area * FEW;
    if (format == TVLM_FORMAT_F16) { /* the stack is always of floats */
        free_picture(&p);
        return;
    }
    tvlm_stack *stack = texture_stack(device, &p);
    for (int32_t i = 0; i < 3 * p.count; ++i) p.points[i] = (double)(float)p.points[i];
    for (int32_t i = 0; i < FEW * p.count; ++i) p.gradients[i] = (double)(float)p.gradients[i];
    const struct tvlm_sample_double_params params = params_of(&p);
    double *const exact = malloc((size_t)texels * sizeof *exact), *const slopes = malloc((size_t)p.count * 3 *
                                                                                         sizeof *slopes);
    float *const got = malloc((size_t)texels * sizeof *got), *const steps =
                                                                 malloc((size_t)p.count * 3 * sizeof *steps);
    assert_true(exact != NULL && slopes != NULL && got != NULL && steps != NULL);
    assert_int_equal(tvlm_sample_double_backward(&params, p.gradients, exact, slopes), TVLM_OK);
    if (go_back(stack, &p, got, steps) != TVLM_OK) fail_msg("%s", test_last_log());
    for (int32_t i = 0; i < texels; ++i)
        check_number("texel", i, (double)got[i], exact[i % area * FEW + i / area], 2e-5);
    for (int32_t i = 0; i < 3 * p.count; ++i) check_number("step", i, (double)steps[i], slopes[i], 1e-4);
    float *const alone = malloc((size_t)p.count * 3 * sizeof *alone);
    assert_non_null(alone);
    assert_int_equal(go_back(stack, &p, NULL, alone), TVLM_OK);
    assert_memory_equal(alone, steps, (size_t)p.count * 3 * sizeof *alone);
    tvlm_stack_destroy(&stack);
    free(alone);
    free(exact);
    free(slopes);
    free(got);
    free(steps);
    free_picture(&p);
}

/* Where a point or a level is clamped nothing changes; on a centre and on a whole level it is the slope behind. */
static void check_ends(tvlm_device *device, tvlm_format format) {
    double texels[16 * FEW] = {0}, points[] = {-3,  2.2, 0,  9,   2.2, 0, 1.5, 1.5, 0,
                                               1.5, 1.5, -2, 1.5, 1.5, 2, 1.5, 1.5, 5};
    double gradients[6 * FEW] = {0};
    const picture p = {4, 4, FEW, 6, texels, points, gradients};
    float out[16 * FEW], steps[18];
    for (int i = 0; i < 16; ++i) texels[FEW * i] = i * i;
    for (int i = 0; i < 6; ++i) gradients[FEW * i] = 1.0;
    if (format == TVLM_FORMAT_F16) return;
    tvlm_stack *stack = texture_stack(device, &p);
    assert_int_equal(go_back(stack, &p, out, steps), TVLM_OK);
    assert_true(steps[0] == 0.0f && steps[3] == 0.0f); /* left and right of all centres */
    assert_true(steps[1] != 0.0f && steps[4] != 0.0f);
    assert_true(steps[6] == 11.0f && steps[7] == 56.0f); /* from texel 5 to 6, and to 9 */
    check_number("level", 0, (double)steps[8],
                 (0 + 1 + 16 + 25) / 4.0 * 0.5625 + (4 + 9 + 36 + 49) / 4.0 * 0.1875 +
                     (64 + 81 + 144 + 169) / 4.0 * 0.1875 + (100 + 121 + 196 + 225) / 4.0 * 0.0625 - 25.0,
                 1e-4);
    assert_true(steps[11] == 0.0f && steps[14] == 0.0f && steps[17] == 0.0f);
    assert_true(steps[12] == 0.0f && steps[13] == 0.0f); /* one texel has no slope */
    tvlm_stack_destroy(&stack);
}

static void check_nothing(tvlm_device *device, tvlm_format format) {
    const int32_t channel = TVLM_CHANNEL_R;
    float texels[30 * 20], step = 3.0f;
    tvlm_stack *stack = random_stack(device, format, 30, 20, 1);
    for (int i = 0; i < 30 * 20; ++i) texels[i] = 5.0f;
    assert_int_equal(
        tvlm_sample_backward(stack, tvlm_sample_backward_params(.channels = &channel, .channel_count = 1),
                             600, texels, &step),
        TVLM_OK);
    for (int i = 0; i < 30 * 20; ++i) assert_true(texels[i] == 0.0f);
    assert_true(step == 3.0f);
    const tvlm_sample_point point = {1.0f, 1.0f, 0.0f, 0};
    assert_int_equal(tvlm_sample_backward(stack, tvlm_sample_backward_params(.points = &point, .count = 1), 0,
                                          NULL, texels),
                     TVLM_OK);
    tvlm_stack_destroy(&stack);
}

static void check_refusals(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = random_stack(device, format, 30, 20, 1);
    tvlm_sample_point points[2] = {{3.0f, 4.0f, 0.5f, 0}, {5.0f, 6.0f, 1.5f, 0}};
    int32_t channels[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_R + 1};
    float gradients[4] = {1.0f, 2.0f, 3.0f, 4.0f}, texels[1200], steps[6] = {9.0f};
    const struct tvlm_sample_backward_params fits = {
        .points = points, .count = 2, .channels = channels, .channel_count = 2, .gradients = gradients};
#define REFUSED(line, change)                                                                                \
    do {                                                                                                     \
        struct tvlm_sample_backward_params bad = fits;                                                       \
        change;                                                                                              \
        refused(tvlm_sample_backward(stack, &bad, 1200, texels, steps), TVLM_ERROR_ARGUMENT, line);          \
        assert_true(steps[0] == 9.0f);                                                                       \
    } while (0)
    REFUSED("-1 points and 2 channels", bad.count = -1);
    REFUSED("2 points and 9000 channels", bad.channel_count = 9000);
    REFUSED("image 1 of a stack of 1", bad.index = 1);
    REFUSED("points is NULL", bad.points = NULL);
    REFUSED("channels is NULL", bad.channels = NULL);
    REFUSED("gradients is NULL", bad.gradients = NULL);
    REFUSED("reserved words", bad.reserved[3] = 1);
    points[1].level = NAN;
    REFUSED("point 1 is not a number", (void)0);
    points[1].level = 1.5f;
    points[1].index = 1;
    REFUSED("point 1 is of image 1, and not of image 0", (void)0);
    points[1].index = 0;
    gradients[3] = INFINITY;
    REFUSED("the gradient of point 1, channel 1, is inf", (void)0);
    gradients[3] = 4.0f;
    channels[1] = TVLM_CHANNEL_R;
    REFUSED("r is listed twice", (void)0);
    channels[1] = tvlm_channel_find("x");
    REFUSED("there are no gradients of x, which has no texels", (void)0);
    channels[1] = tvlm_channel_find("distance");
    REFUSED("there are no gradients of distance, which has levels that are no means", (void)0);
    channels[1] = tvlm_channel_find("embedding_0");
    REFUSED("there are no gradients of embedding_0, which is brought to length 1", (void)0);
    channels[1] = 100000;
    REFUSED("channel 100000", (void)0);
    channels[1] = TVLM_CHANNEL_R + 1;
    refused(tvlm_sample_backward(stack, &fits, 1199, texels, steps), TVLM_ERROR_ARGUMENT,
            "room for 1199 texels; the channels have 1200");
    refused(tvlm_sample_backward(stack, NULL, 1200, texels, steps), TVLM_ERROR_ARGUMENT, "params is NULL");
    assert_int_equal(tvlm_sample_backward(NULL, &fits, 1200, texels, steps), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_sample_backward(stack, &fits, 1200, texels, steps), TVLM_OK);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_channels, check_batch, check_against_double, check_ends, check_nothing, check_refusals)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_double), cmocka_unit_test(test_double_refusals),
                                       cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
