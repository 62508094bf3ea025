/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_view.c: that what is asked leaves the image in view: pictures of selections are drawn, and their squared
 * error is compared with that of downsampling.
 */
#include "stack_helper.h"

enum { COLUMNS = 16, ROWS = 12, K = 40, PATCH_MOST = 21 };

/* An image of COLUMNS x ROWS patches. */
typedef struct view {
    int patch, width, height, asked;
    uint8_t pixels[COLUMNS * PATCH_MOST * ROWS * PATCH_MOST];
} view;

/* Faint noise on the left, which is asked for; waves that a thumbnail shows if it has most of the patches. */
static void draw_image(view *v, int patch) {
    const double step = 0.45 * 16.0 / patch;
    uint64_t random = 4711;
    v->patch = patch;
    v->width = COLUMNS * patch;
    v->height = ROWS * patch;
    v->asked = v->width / 4;
    for (int i = 0; i < v->width * v->height; ++i) {
        const int x = i % v->width, y = i / v->width;
        const double waves = sin(x * step) * sin(y * step), noise = (double)(test_random(&random) % 256);
        v->pixels[i] = (uint8_t)(128.0 + (x < v->asked ? 0.3 * (noise - 128.0) : 55.0 * waves));
    }
}

/* ---- Pictures ---- */

/* The mean of the image over an area, each side of which is cut by the border. */
static double mean_over(const view *v, double x0, double y0, double x1, double y1) {
    double sum = 0.0, area = 0.0;
    for (int y = (int)y0; y < y1 && y < v->height; ++y)
        for (int x = (int)x0; x < x1 && x < v->width; ++x) {
            const double part = (fmin(x + 1, x1) - fmax(x, x0)) * (fmin(y + 1, y1) - fmax(y, y0));
            sum += part * v->pixels[y * v->width + x];
            area += part;
        }
    return sum / area;
}

/* Lanczos' weight of three lobes. */
static double lanczos(double x) {
    const double t = 3.14159265358979323846 * x;
    return fabs(x) < 1e-9 ? 1.0 : fabs(x) < 3.0 ? 3.0 * sin(t) * sin(t / 3.0) / (t * t) : 0.0;
}

static int clamped(int at, int count) {
    return at < 0 ? 0 : at < count ? at : count - 1;
}

enum { TAPS = 6 };

/* The weights of the texels from *first on at a place between them; 0 is the middle of the first of all. */
static void weigh(double at, int *first, double weights[TAPS]) {
    double sum = 0.0;
    *first = (int)floor(at) - TAPS / 2 + 1;
    for (int i = 0; i < TAPS; ++i) sum += weights[i] = lanczos(at - (*first + i));
    for (int i = 0; i < TAPS; ++i) weights[i] /= sum;
}

static double enlarged(const double *texels, int columns, int rows, double u, double v) {
    double across[TAPS], down[TAPS], sum = 0.0;
    int left, top;
    weigh(u, &left, across);
    weigh(v, &top, down);
    for (int y = 0; y < TAPS; ++y)
        for (int x = 0; x < TAPS; ++x)
            sum +=
                down[y] * across[x] * texels[clamped(top + y, rows) * columns + clamped(left + x, columns)];
    return fmin(fmax(sum, 0.0), 255.0);
}

/* Draws an area of the image resampled by area to columns x rows texels, and enlarged. */
static void draw_area(const view *v, double left, double top, double wide, double high, int columns, int rows,
                      float *picture) {
    double *const texels = malloc((size_t)columns * (size_t)rows * sizeof *texels);
    const double dx = wide / columns, dy = high / rows;
    assert_non_null(texels);
    for (int i = 0; i < columns * rows; ++i) {
        const double x = left + i % columns * dx, y = top + i / columns * dy;
        texels[i] = x < v->width && y < v->height ? mean_over(v, x, y, x + dx, y + dy) : 0.0;
    }
    for (int y = (int)top; y < top + high && y < v->height; ++y)
        for (int x = (int)left; x < left + wide && x < v->width; ++x) {
            const double across = (x + 0.5 - left) / dx - 0.5, down = (y + 0.5 - top) / dy - 0.5;
            picture[y * v->width + x] = (float)enlarged(texels, columns, rows, across, down);
        }
    free(texels);
}

static double error_of(const view *v, const float *picture) {
    double sum = 0.0;
    for (int i = 0; i < v->width * v->height; ++i) sum += pow((double)picture[i] - v->pixels[i], 2.0);
    return sum / (v->width * v->height);
}

/* The least error of thumbnails of at most K patches. */
static double downsampled(const view *v, float *picture) {
    double least = INFINITY;
    for (int columns = 5; columns <= 8; ++columns) {
        draw_area(v, 0, 0, v->width, v->height, columns * v->patch, K / columns * v->patch, picture);
        least = fmin(least, error_of(v, picture));
    }
    return least;
}

/* ---- Selections ---- */

/* A selection's picture; tells how many tiles lie within what is asked. */
static void draw_selection(tvlm_stack *stack, const struct tvlm_query *query, float emphasis, const view *v,
                           float *picture, int32_t *within) {
    const struct tvlm_select_params params = {
        .k = K, .patch = (float)v->patch, .strategy = TVLM_STRATEGY_BUDGET, .emphasis = emphasis};
    tvlm_selection *selection = NULL;
    tvlm_selection_info info;
    int32_t count;
    if (tvlm_select(stack, query, &params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    const int32_t cells = info.thumbnail_columns * info.thumbnail_rows;
    *within = 0;
    draw_area(v, 0, 0, v->width, v->height, info.thumbnail_columns * v->patch, info.thumbnail_rows * v->patch,
              picture);
    for (int level = 2; level >= 0; --level)
        for (int32_t i = cells; i < count; ++i) {
            const double side = (double)p[i].size;
            if (lroundf(p[i].level) != level) continue;
            *within += p[i].x < v->asked;
            draw_area(v, side * floor((double)p[i].x / side), side * floor((double)p[i].y / side), side, side,
                      v->patch, v->patch, picture);
        }
    tvlm_selection_destroy(&selection);
}

/* Without a question the image is shown no worse than by downsampling. However strongly it counts, what is asked gets so
 * many tiles more, and the image is shown at most 1 dB worse. */
static void check_side(tvlm_device *device, tvlm_format format, int patch, int more) {
    static const float asked[4] = {1.0f, 0.0f, 0.0f, 0.0f}, emphases[] = {0.0f, 30.0f, 1e4f};
    const struct tvlm_query query = {.similarity = asked, .columns = 4, .rows = 1};
    static view drawn;
    static float picture[sizeof drawn.pixels];
    const view *const v = &drawn;
    draw_image(&drawn, patch);
    const tvlm_image image = u8_image(v->pixels, v->width, v->height, 1);
    tvlm_stack *stack = stack_of(device, format, &image);
    const double down = downsampled(v, picture);
    int32_t without, within;
    draw_selection(stack, &query, TVLM_ZERO, v, picture, &without);
    assert_true(error_of(v, picture) <= 1.02 * down);
    for (size_t i = 0; i < sizeof emphases / sizeof *emphases; ++i) {
        draw_selection(stack, &query, emphases[i], v, picture, &within);
        const double error = error_of(v, picture);
        if (getenv("TVLM_TEST_FIGURES") != NULL)
            printf("patch %d, emphasis %g: error %.1f of %.1f, %d tiles within, %d without\n", patch,
                   (double)emphases[i], error, down, (int)within, (int)without);
        if (error > 1.259 * down)
            fail_msg("patch %d, an emphasis of %g: the error is %.1f, downsampling's %.1f", patch,
                     (double)emphases[i], error, down);
        assert_true(within >= without + more);
    }
    tvlm_stack_destroy(&stack);
}

static void check_view(tvlm_device *device, tvlm_format format) {
    check_side(device, format, 16, 5);
    check_side(device, format, 14, 5);
    check_side(device, format, PATCH_MOST, 0); /* all of it has tiles without being asked for */
}

DEVICE_CHECKS_MAIN(check_view)
