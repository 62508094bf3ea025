/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diversity.c: positions that differ. The choice is that of a plain greedy choice written down here, by
 * features and by colour, with and without a least distance and an overview; more of it makes the chosen less
 * alike; and what is refused.
 */
#include "stack_helper.h"

enum { WIDTH = 200, HEIGHT = 144, COLUMNS = 13, ROWS = 9, CELLS = COLUMNS * ROWS, DIMENSION = 5, K = 24 };

static tvlm_selection *select_with(tvlm_stack *stack, const struct tvlm_select_params *params) {
    tvlm_selection *selection = NULL;
    assert_int_equal(tvlm_select(stack, NULL, params, &selection), TVLM_OK);
    return selection;
}

/* ---- The definition ---- */

static double lab_curve(double t) {
    return t > 216.0 / 24389.0 ? cbrt(t) : t * 24389.0 / 27.0 / 116.0 + 16.0 / 116.0;
}

/* sRGB to CIE L*a*b* (D65), as textbooks have it. */
static void lab_of(const float rgb[3], double lab[3]) {
    static const double m[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                   {0.2126729, 0.7151522, 0.0721750},
                                   {0.0193339, 0.1191920, 0.9503041}};
    static const double white[3] = {0.95047, 1.0, 1.08883};
    double v[3];
    for (int i = 0; i < 3; ++i)
        v[i] = rgb[i] <= 0.04045f ? rgb[i] / 12.92 : pow((rgb[i] + 0.055) / 1.055, 2.4);
    double f[3];
    for (int i = 0; i < 3; ++i)
        f[i] = lab_curve((m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2]) / white[i]);
    lab[0] = 116.0 * f[1] - 16.0;
    lab[1] = 500.0 * (f[0] - f[1]);
    lab[2] = 200.0 * (f[1] - f[2]);
}

/* The vectors of all cells, by their number. */
typedef struct vectors {
    double v[CELLS][DIMENSION];
} vectors;

static void normalise(double *v) {
    double squares = 0.0;
    for (int d = 0; d < DIMENSION; ++d) squares += v[d] * v[d];
    for (int d = 0; squares > 0.0 && d < DIMENSION; ++d) v[d] /= sqrt(squares);
}

static double centre(int cell, int side) {
    return 0.5 * (cell * 16 + fmin(cell * 16 + 16, side));
}

static void colours_of(tvlm_stack *stack, vectors *all) {
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};
    memset(all, 0, sizeof *all);
    for (int i = 0; i < CELLS; ++i) {
        const tvlm_sample_point point = {(float)centre(i % COLUMNS, WIDTH),
                                         (float)centre(i / COLUMNS, HEIGHT), 4.0f, 0};
        float rgb[3];
        double lab[3];
        assert_int_equal(tvlm_stack_sample(stack, &point, 1, channels, 3, rgb), TVLM_OK);
        lab_of(rgb, lab);
        all->v[i][0] = lab[0] - 50.0, all->v[i][1] = lab[1], all->v[i][2] = lab[2], all->v[i][3] = 25.0;
        normalise(all->v[i]);
    }
}

static double likeness(const vectors *all, int a, int b) {
    double sum = 0.0;
    for (int d = 0; d < DIMENSION; ++d) sum += all->v[a][d] * all->v[b][d];
    return fmin(fmax(sum, 0.0), 1.0);
}

/* Every candidate is looked at for every position. Returns how many are chosen. */
static int greedy(const vectors *all, const float *scores, double diversity, double distance, int k,
                  int32_t *chosen) {
    int count = 0;
    while (count < k) {
        int best = -1;
        double most = -INFINITY;
        for (int i = 0; i < CELLS; ++i) {
            double nearest = 0.0;
            bool free = true;
            for (int j = 0; j < count; ++j) {
                nearest = fmax(nearest, likeness(all, i, chosen[j]));
                const double x = centre(i % COLUMNS, WIDTH) - centre(chosen[j] % COLUMNS, WIDTH);
                const double y = centre(i / COLUMNS, HEIGHT) - centre(chosen[j] / COLUMNS, HEIGHT);
                free = free && i != chosen[j] && hypot(x, y) >= distance;
            }
            const double worth = scores[i] - diversity * nearest;
            if (free && worth > most) most = worth, best = i;
        }
        if (best < 0) break;
        chosen[count++] = best;
    }
    return count;
}

/* ---- The library against it ---- */

static void compare(tvlm_stack *stack, const vectors *all, double diversity, float distance, float overview) {
    int32_t chosen[CELLS], count, columns, rows;
    tvlm_selection *selection =
        select_with(stack, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = K, .keep_scores = true,
                                              .best.min_distance = distance, .best.overview = overview,
                                              .best.diversity = (float)diversity));
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    const float *const scores = tvlm_selection_scores(selection, &columns, &rows);
    tvlm_selection_info info;
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    const int squares = info.overview_columns * info.overview_rows;
    assert_int_equal(columns * rows, CELLS);
    assert_int_equal(squares > 0, overview > 0.0f);
    assert_int_equal(count - squares, greedy(all, scores, diversity, (double)distance, K - squares, chosen));
    for (int32_t i = squares; i < count; ++i) {
        const int32_t cell = p[i].row * COLUMNS + p[i].column;
        if (cell != chosen[i - squares])
            fail_msg("diversity %g: position %d is cell %d, not %d", diversity, i, cell, chosen[i - squares]);
        assert_true(p[i].score == scores[cell]);
    }
    tvlm_selection_destroy(&selection);
}

static void check_choices(tvlm_device *device, tvlm_format format) {
    static vectors all;
    static float features[CELLS][DIMENSION];
    uint64_t seed = 11;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 4);
    colours_of(stack, &all);
    compare(stack, &all, 0.0, 0.0f, 0.0f);
    compare(stack, &all, 0.3, 0.0f, 0.0f);
    compare(stack, &all, 1.0, 0.0f, 0.0f);
    compare(stack, &all, 0.3, 30.0f, 0.0f);
    compare(stack, &all, 0.0, 30.0f, 0.0f);
    compare(stack, &all, 0.5, 0.0f, 0.25f);
    /* A cell of features is a cell of the grid, at other lengths. */
    for (int i = 0; i < CELLS; ++i)
        for (int d = 0; d < DIMENSION; ++d) {
            features[i][d] = (float)(1 + i % 3) * (test_random_unit(&seed) - 0.3f);
            all.v[i][d] = (double)features[i][d];
        }
    for (int i = 0; i < CELLS; ++i) normalise(all.v[i]);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = features, .columns = COLUMNS, .rows = ROWS,
                                                         .channels = DIMENSION, .cell = 16.0f)),
                     TVLM_OK);
    if (format == TVLM_FORMAT_F32) { /* half rounds the vectors, and may turn what is nearly equal around */
        compare(stack, &all, 0.4, 0.0f, 0.0f);
        compare(stack, &all, 1.0, 25.0f, 0.0f);
    }
    tvlm_stack_destroy(&stack);
}

/* The mean largest likeness to those before, of what is chosen. */
static double alike(tvlm_stack *stack, const vectors *all, const struct tvlm_select_params *params) {
    int32_t count;
    double sum = 0.0;
    tvlm_selection *selection = select_with(stack, params);
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, K);
    for (int32_t i = 1; i < count; ++i) {
        double nearest = 0.0;
        for (int32_t j = 0; j < i; ++j)
            nearest = fmax(nearest,
                           likeness(all, p[i].row * COLUMNS + p[i].column, p[j].row * COLUMNS + p[j].column));
        sum += nearest / (count - 1);
    }
    tvlm_selection_destroy(&selection);
    return sum;
}

/* All three strategies read it, and it makes the chosen less alike. */
static void check_strategies(tvlm_device *device, tvlm_format format) {
    static vectors all;
    tvlm_stack *stack = random_stack(device, format, WIDTH, HEIGHT, 4);
    colours_of(stack, &all);
    static const tvlm_strategy cells[] = {TVLM_STRATEGY_GRID, TVLM_STRATEGY_CASCADE};
    for (int i = 0; i < 2; ++i) {
        const double plain = alike(stack, &all, tvlm_select_params(.k = K, .strategy = cells[i]));
        const double apart =
            alike(stack, &all, tvlm_select_params(.k = K, .strategy = cells[i], .best.diversity = 1.0f));
        if (!(apart < plain)) fail_msg("strategy %d: alike by %g, and by %g without", cells[i], apart, plain);
    }
    tvlm_selection *plain =
        select_with(stack, tvlm_select_params(.k = K, .strategy = TVLM_STRATEGY_EXHAUSTIVE));
    tvlm_selection *apart = select_with(
        stack, tvlm_select_params(.k = K, .strategy = TVLM_STRATEGY_EXHAUSTIVE, .best.diversity = 1.0f));
    int32_t count;
    const tvlm_position *const p = tvlm_selection_positions(plain, &count), *const q =
                                                                                tvlm_selection_positions(
                                                                                    apart, &count);
    assert_int_equal(count, K);
    assert_true(memcmp(p, q, sizeof *p) == 0 && memcmp(p, q, K * sizeof *p) != 0);
    tvlm_selection_destroy(&plain);
    tvlm_selection_destroy(&apart);
    tvlm_stack_destroy(&stack);
}

static void test_refused(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, WIDTH, HEIGHT, 4);
    tvlm_selection *selection = NULL;
    (void)state;
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .best.diversity = -0.1f),
                        &selection),
            TVLM_ERROR_ARGUMENT, "a diversity of -0.1");
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .best.diversity = 1.5f),
                        &selection),
            TVLM_ERROR_ARGUMENT, "a diversity of 1.5");
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .best.diversity = NAN),
                        &selection),
            TVLM_ERROR_ARGUMENT, "a diversity of nan");
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_FOVEATED, .best.diversity = 0.5f),
                        &selection),
            TVLM_ERROR_ARGUMENT,
            "diversity is for the strategy grid, exhaustive and cascade, not for foveated");
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_QUADTREE, .best.diversity = 0.5f),
                        &selection),
            TVLM_ERROR_ARGUMENT, "not for quadtree");
    refused(tvlm_select(stack, NULL,
                        tvlm_select_params(.strategy = TVLM_STRATEGY_CASCADE, .cascade.cover = true,
                                           .best.diversity = 0.5f),
                        &selection),
            TVLM_ERROR_ARGUMENT, "diversity with cover");
    assert_null(selection);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_choices, check_strategies)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
