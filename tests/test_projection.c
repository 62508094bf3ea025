/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_projection.c: ridge regression is where the derivative of what it minimises is 0, on every device; a projection
 * is its weights times what tvlm_stack_sample says; exports write what it makes of the chosen tokens; what is refused.
 */
#include "stack_helper.h"

#include "texturevlm/export.h"
#include "texturevlm/features.h"
#include "texturevlm/lab/projection.h"
#include "texturevlm/lab/ridge.h"

typedef struct rows {
    int32_t count, inputs, outputs;
    float *x, *y;
} rows;

static float *random_numbers(uint64_t *random, size_t count) {
    float *const made = malloc((count + 1) * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; ++i) made[i] = 2.0f * test_random_unit(random) - 1.0f;
    return made;
}

/* Columns of all sizes, of which each is nearly the mean of the one before and of chance: with `alike` so much that
 * floats alone would lose most digits. Targets are sums of them with noise, and all is far from 0. */
static rows make_rows(uint64_t seed, int32_t count, int32_t inputs, int32_t outputs, float alike) {
    rows r = {count, inputs, outputs, NULL, NULL};
    r.x = random_numbers(&seed, (size_t)count * (size_t)inputs);
    r.y = random_numbers(&seed, (size_t)count * (size_t)outputs);
    float *const weights = random_numbers(&seed, (size_t)inputs * (size_t)outputs);
    for (int32_t row = 0; row < count; ++row) {
        float *const x = r.x + row * inputs, *const y = r.y + row * outputs;
        for (int32_t i = 1; i < inputs; ++i) x[i] = alike * x[i - 1] + (1.0f - alike) * x[i];
        for (int32_t o = 0; o < outputs; ++o) {
            y[o] = 0.1f * y[o] + 3.0f;
            for (int32_t i = 0; i < inputs; ++i) y[o] += weights[o * inputs + i] * x[i];
        }
        for (int32_t i = 0; i < inputs; ++i) x[i] += 2.0f;
    }
    free(weights);
    return r;
}

static void free_rows(rows *r) {
    free(r->x);
    free(r->y);
}

static struct tvlm_ridge_params params_of(const rows *r, float l2) {
    return (struct tvlm_ridge_params){
        .count = r->count, .inputs = r->inputs, .outputs = r->outputs, .x = r->x, .y = r->y, .l2 = l2};
}

/* What y is off, in double. */
static double residual(const rows *r, const float *weights, const float *bias, int32_t row, int32_t o) {
    double sum = (double)r->y[row * r->outputs + o] - (double)bias[o];
    for (int32_t i = 0; i < r->inputs; ++i)
        sum -= (double)weights[o * r->inputs + i] * (double)r->x[row * r->inputs + i];
    return sum;
}

/* The loss grows by |derivative|^2 / (2 l2) at most above its least, so that a small one means a good solution. */
static void check_least(const rows *r, const float *weights, const float *bias, double l2, double tolerance) {
    for (int32_t o = 0; o < r->outputs; ++o) {
        double sum = 0.0;
        for (int32_t row = 0; row < r->count; ++row) sum += residual(r, weights, bias, row, o);
        if (!(fabs(sum) <= tolerance * r->count))
            fail_msg("output %d: residuals have the mean %g", (int)o, sum / r->count);
        for (int32_t i = 0; i < r->inputs; ++i) {
            double slope = -l2 * (double)weights[o * r->inputs + i];
            for (int32_t row = 0; row < r->count; ++row)
                slope += residual(r, weights, bias, row, o) * ((double)r->x[row * r->inputs + i] - 2.0);
            if (!(fabs(slope) <= tolerance * r->count))
                fail_msg("output %d, input %d: the derivative is %g of %d rows", (int)o, (int)i, slope,
                         (int)r->count);
        }
    }
}

static void solve_case(tvlm_device *device, rows r, float l2, double tolerance) {
    const size_t count = (size_t)r.inputs * (size_t)r.outputs;
    const struct tvlm_ridge_params params = params_of(&r, l2);
    float *const weights = malloc((count + 1) * sizeof *weights), *const bias = malloc(
                                                                      ((size_t)r.outputs + 1) * sizeof *bias);
    assert_true(weights != NULL && bias != NULL);
    weights[count] = bias[r.outputs] = 7.0f;
    if (tvlm_ridge(device, &params, weights, bias) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_true(weights[count] == 7.0f && bias[r.outputs] == 7.0f);
    check_least(&r, weights, bias, l2 == 0.0f ? 1.0 : l2 == TVLM_EXPLICIT_ZERO ? 0.0 : (double)l2, tolerance);
    free(weights);
    free(bias);
    free_rows(&r);
}

static void check_ridge(tvlm_device *device, tvlm_format format) {
    if (format == TVLM_FORMAT_F16) return; /* which it does not know */
    solve_case(device, make_rows(1, 1, 1, 1, 0.0f), 0.5f, 1e-6);
    solve_case(device, make_rows(2, 60, 5, 3, 0.0f), 0.0f, 1e-6);
    solve_case(device, make_rows(3, 90, 12, 7, 0.9f), TVLM_EXPLICIT_ZERO, 1e-6);
    if (test_small()) return;
    solve_case(device, make_rows(4, 3000, 40, 20, 0.99f), 1e-3f, 1e-6); /* several blocks */
    solve_case(device, make_rows(5, 40, 64, 5, 0.5f), 0.1f, 1e-6);      /* fewer rows than numbers */
}

static void check_ridge_refusals(tvlm_device *device, tvlm_format format) {
    rows r = make_rows(6, 20, 3, 2, 0.0f);
    float weights[6] = {9.0f}, bias[2];
    const struct tvlm_ridge_params fits = params_of(&r, 0.0f);
    (void)format;
#define REFUSED(line, change)                                                                                \
    do {                                                                                                     \
        struct tvlm_ridge_params bad = fits;                                                                 \
        change;                                                                                              \
        refused(tvlm_ridge(device, &bad, weights, bias), TVLM_ERROR_ARGUMENT, line);                         \
        assert_true(weights[0] == 9.0f);                                                                     \
    } while (0)
    REFUSED("0 rows of 3 numbers, to become 2", bad.count = 0);
    REFUSED("20 rows of 5000 numbers", bad.inputs = 5000);
    REFUSED("to become -1", bad.outputs = -1);
    REFUSED("an l2 of -2", bad.l2 = -2.0f);
    REFUSED("an l2 of inf", bad.l2 = INFINITY);
    REFUSED("x is NULL", bad.x = NULL);
    REFUSED("y is NULL", bad.y = NULL);
    REFUSED("reserved words", bad.reserved[0] = 1);
    r.x[7] = 3e30f;
    REFUSED("numbers of x and y are too large", (void)0);
    r.x[7] = NAN;
    REFUSED("x of row 2, number 1, is nan", (void)0);
    for (int i = 0; i < 20; ++i) r.x[3 * i + 1] = 4.0f;
    REFUSED("no one solution: number 1 of the rows depends", bad.l2 = TVLM_EXPLICIT_ZERO);
    refused(tvlm_ridge(device, &fits, NULL, bias), TVLM_ERROR_ARGUMENT, "weights is NULL");
    refused(tvlm_ridge(device, &fits, weights, NULL), TVLM_ERROR_ARGUMENT, "bias is NULL");
    refused(tvlm_ridge(device, NULL, weights, bias), TVLM_ERROR_ARGUMENT, "params is NULL");
    assert_int_equal(tvlm_ridge(NULL, &fits, weights, bias), TVLM_ERROR_ARGUMENT);
#undef REFUSED
    free_rows(&r);
}

/* ---- Projections ---- */

enum { SIDE = 6, DIMENSION = 5, OUTPUTS = 3 };

/* A stack with features. */
static tvlm_stack *featured(tvlm_device *device, tvlm_format format) {
    uint64_t random = 4;
    tvlm_stack *const stack = random_stack(device, format, 96, 96, 8);
    float *const vectors = random_numbers(&random, SIDE * SIDE * DIMENSION);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = vectors, .columns = SIDE, .rows = SIDE,
                                                         .channels = DIMENSION)),
                     TVLM_OK);
    free(vectors);
    return stack;
}

/* Two directions of the features. */
static tvlm_basis *two(void) {
    const float directions[2 * DIMENSION] = {0.6f, 0.8f, 0, 0, 0, 0, 0, 0, 1.0f, 0};
    tvlm_basis *basis = NULL;
    assert_int_equal(
        tvlm_basis_create(tvlm_basis_params(.dimension = DIMENSION, .k = 2, .components = directions),
                          &test_log, &basis),
        TVLM_OK);
    return basis;
}

static const int32_t read_channels[3] = {TVLM_CHANNEL_EMBEDDING_0 + 1, TVLM_CHANNEL_R,
                                         TVLM_CHANNEL_EMBEDDING_0};
static const float read_weights[OUTPUTS * 3] = {1, 2, 3, 0, -1, 0.5f, 4, 0, 0},
                                          read_bias[OUTPUTS] = {0.5f, 0, -2};

static tvlm_projection *projection_of(const tvlm_basis *basis) {
    tvlm_projection *projection = NULL;
    if (tvlm_projection_create(tvlm_projection_params(.channels = read_channels, .channel_count = 3,
                                                      .outputs = OUTPUTS, .weights = read_weights,
                                                      .bias = read_bias, .basis = basis),
                               &test_log, &projection) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return projection;
}

static void check_vectors(tvlm_stack *stack, const tvlm_sample_point *points, int32_t count,
                          const float *got) {
    float *const values = malloc((size_t)count * 3 * sizeof *values);
    assert_non_null(values);
    assert_int_equal(tvlm_stack_sample(stack, points, count, read_channels, 3, values), TVLM_OK);
    for (int32_t i = 0; i < count; ++i)
        for (int o = 0; o < OUTPUTS; ++o) {
            double sum = (double)read_bias[o];
            for (int c = 0; c < 3; ++c) sum += (double)read_weights[3 * o + c] * (double)values[3 * i + c];
            if (!(fabs(sum - (double)got[OUTPUTS * i + o]) < 1e-5))
                fail_msg("point %d, number %d: %g, and not %g", (int)i, o, (double)got[OUTPUTS * i + o], sum);
        }
    free(values);
}

static void check_apply(tvlm_device *device, tvlm_format format) {
    const tvlm_sample_point points[3] = {{10, 20, 1.5f, 0}, {50, 3, 0, 0}, {90, 90, 4, 0}};
    float out[3 * OUTPUTS + 1];
    tvlm_basis *basis = two();
    tvlm_projection *projection = projection_of(basis);
    tvlm_basis_destroy(&basis); /* it was copied */
    tvlm_stack *stack = featured(device, format);
    out[3 * OUTPUTS] = 7.0f;
    if (tvlm_projection_apply(projection, stack, points, 3, 3 * OUTPUTS, out) != TVLM_OK)
        fail_msg("%s", test_last_log());
    assert_true(out[3 * OUTPUTS] == 7.0f);
    check_vectors(stack, points, 3, out);
    refused(tvlm_projection_apply(projection, stack, points, 3, 3 * OUTPUTS - 1, out), TVLM_ERROR_ARGUMENT,
            "room for 8 numbers; there are 3 x 3");
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_FEATURE_0), TVLM_OK);
    refused(tvlm_projection_apply(projection, stack, points, 3, 3 * OUTPUTS, out), TVLM_ERROR_ARGUMENT,
            "image 0 has no features");
    const int32_t motion = TVLM_CHANNEL_MOTION;
    tvlm_projection *still = NULL;
    assert_int_equal(tvlm_projection_create(tvlm_projection_params(.channels = &motion, .channel_count = 1,
                                                                   .outputs = 1, .weights = read_weights),
                                            &test_log, &still),
                     TVLM_OK);
    refused(tvlm_projection_apply(still, stack, points, 3, 3, out), TVLM_ERROR_ARGUMENT,
            "the projection reads motion, for which image 0 has no input");
    tvlm_projection_destroy(&still);
    refused(tvlm_projection_apply(projection, stack, points, -1, 0, out), TVLM_ERROR_ARGUMENT, "-1 points");
    assert_int_equal(tvlm_projection_apply(projection, stack, NULL, 0, 0, NULL), TVLM_OK);
    tvlm_stack_destroy(&stack);
    tvlm_projection_destroy(&projection);
    tvlm_projection_destroy(&projection);
}

static void test_create(void **state) {
    tvlm_basis *basis = two();
    float weights[OUTPUTS * 3], bias[OUTPUTS];
    int32_t channels[3];
    tvlm_projection *none = NULL;
    (void)state;
    memcpy(weights, read_weights, sizeof weights);
    memcpy(bias, read_bias, sizeof bias);
    memcpy(channels, read_channels, sizeof channels);
    const struct tvlm_projection_params fits = {.channels = channels,
                                                .channel_count = 3,
                                                .outputs = OUTPUTS,
                                                .weights = weights,
                                                .bias = bias,
                                                .basis = basis};
#define REFUSED(line, change)                                                                                \
    do {                                                                                                     \
        struct tvlm_projection_params bad = fits;                                                            \
        change;                                                                                              \
        refused(tvlm_projection_create(&bad, &test_log, &none), TVLM_ERROR_ARGUMENT, line);                  \
        assert_null(none);                                                                                   \
    } while (0)
    REFUSED("a projection of 0 channels to 3 numbers", bad.channel_count = 0);
    REFUSED("a projection of 3 channels to 0 numbers", bad.outputs = 0);
    REFUSED("channels is NULL", bad.channels = NULL);
    REFUSED("weights is NULL", bad.weights = NULL);
    REFUSED("reserved words", bad.reserved[3] = 1);
    static float identity[70 * 70];
    tvlm_basis *wide = NULL;
    for (int i = 0; i < 70; ++i) identity[71 * i] = 1.0f;
    assert_int_equal(tvlm_basis_create(tvlm_basis_params(.dimension = 70, .k = 70, .components = identity),
                                       &test_log, &wide),
                     TVLM_OK);
    REFUSED("the basis of a projection has 70 components; at most 64", bad.basis = wide);
    tvlm_basis_destroy(&wide);
    channels[1] = 100000000;
    REFUSED("there is no channel 100000000", (void)0);
    channels[1] = channels[0];
    REFUSED("embedding_1 stands twice", (void)0);
    channels[1] = TVLM_CHANNEL_EMBEDDING_0 + 2;
    REFUSED("a projection reads embedding_2, and its basis has 2 components", (void)0);
    channels[1] = TVLM_CHANNEL_EMBEDDING_16;
    REFUSED("a projection reads embedding_16", (void)0);
    channels[1] = TVLM_CHANNEL_R;
    weights[4] = NAN;
    REFUSED("weight 4 of a projection is not finite", (void)0);
    weights[4] = 0.0f;
    bias[2] = INFINITY;
    REFUSED("bias 2 of a projection is not finite", (void)0);
    bias[2] = 1e16f;
    REFUSED("bias 2 of a projection is beyond 1e15", (void)0);
#undef REFUSED
    tvlm_basis_destroy(&basis);
}

/* ---- Exports ---- */

static int32_t find_tensor(const tvlm_export *export, const char *name, tvlm_export_tensor *tensor) {
    for (int32_t i = 0; i < tvlm_export_tensor_count(export); ++i) {
        assert_int_equal(tvlm_export_get_tensor(export, i, tensor), TVLM_OK);
        if (strcmp(tensor->name, name) == 0) return i;
    }
    return -1;
}

/* The vectors of tokens of a picture of 112 x 84 pixels, which Qwen2-VL takes as it is: 4 x 3 tokens of 28. */
static void check_export(tvlm_device *device, tvlm_format format) {
    uint64_t random = 12;
    uint8_t *const pixels = test_random_pixels(&random, 112, 84, 3);
    float *const vectors = random_numbers(&random, SIDE * SIDE * DIMENSION);
    const tvlm_image image = u8_image(pixels, 112, 84, 3);
    const struct tvlm_grid_input features = {
        .data = vectors, .columns = SIDE, .rows = SIDE, .channels = DIMENSION};
    tvlm_basis *basis = two();
    tvlm_projection *projection = projection_of(basis);
    tvlm_export *export = NULL;
    tvlm_export_tensor tensor;
    int64_t places[5 * 3];
    float got[5 * OUTPUTS];
    tvlm_sample_point points[5];
    assert_int_equal(
        tvlm_export_create(device,
                           tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = 5, .format = format),
                           &export),
        TVLM_OK);
    assert_int_equal(tvlm_export_set_projection(export, projection), TVLM_OK);
    if (tvlm_export_run(export, &image, 1, &features, NULL) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_int_equal(
        tvlm_export_read(export, find_tensor(export, "selected_positions", &tensor), sizeof places, places),
        TVLM_OK);
    const int32_t at = find_tensor(export, "visual_tokens", &tensor);
    assert_true(at >= 0 && tensor.rank == 2 && tensor.shape[0] == 5 && tensor.shape[1] == OUTPUTS);
    assert_int_equal(tvlm_export_read(export, at, sizeof got, got), TVLM_OK);
    tvlm_stack *stack = stack_of(device, format, &image);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &features), TVLM_OK);
    assert_int_equal(tvlm_stack_embed(stack, 0, basis), TVLM_OK);
    for (int i = 0; i < 5; ++i)
        points[i] = (tvlm_sample_point){28.0f * (float)places[3 * i + 2] + 14.0f,
                                        28.0f * (float)places[3 * i + 1] + 14.0f, log2f(28.0f), 0};
    check_vectors(stack, points, 5, got);
    refused(tvlm_export_run(export, &image, 1, NULL, NULL), TVLM_ERROR_ARGUMENT, "image 0 has no features");
    assert_int_equal(tvlm_export_set_projection(export, NULL), TVLM_OK);
    assert_int_equal(tvlm_export_run(export, &image, 1, NULL, NULL), TVLM_OK);
    assert_int_equal(find_tensor(export, "visual_tokens", &tensor), -1);
    tvlm_export_destroy(&export);
    assert_int_equal(tvlm_export_create(device, tvlm_export_params(.model = TVLM_EXPORT_INTERNVL), &export),
                     TVLM_OK);
    refused(tvlm_export_set_projection(export, projection), TVLM_ERROR_ARGUMENT,
            "internvl takes no projection: a crop is many tokens");
    tvlm_export_destroy(&export);
    tvlm_stack_destroy(&stack);
    tvlm_projection_destroy(&projection);
    tvlm_basis_destroy(&basis);
    free(vectors);
    free(pixels);
}

DEVICE_CHECKS(check_ridge, check_ridge_refusals, check_apply, check_export)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_create), cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
