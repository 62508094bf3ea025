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

/* Fine waves on the left, which is asked for; coarse ones that a thumbnail shows if it has most of the patches. */
static void draw_image(view *v, int patch) {
    const double step = 0.45 * 16.0 / patch, fine = 1.3 * 16.0 / patch;
    v->patch = patch;
    v->width = COLUMNS * patch;
    v->height = ROWS * patch;
    v->asked = v->width / 4;
    for (int i = 0; i < v->width * v->height; ++i) {
        const int x = i % v->width, y = i / v->width;
        const double waves =
            x < v->asked ? 30.0 * sin(x * fine) * sin(y * fine) : 55.0 * sin(x * step) * sin(y * step);
        v->pixels[i] = (uint8_t)(128.0 + waves);
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

static double lanczos(double x);

/* The same by Lanczos' filter, stretched over texels of that side, of the area's middle. */
static double filtered_at(const view *v, double x, double y, double side) {
    double sum = 0.0, weights = 0.0;
    for (int row = (int)fmax(ceil(y - 3 * side), 0.0); row < y + 3 * side && row < v->height; ++row)
        for (int column = (int)fmax(ceil(x - 3 * side), 0.0); column < x + 3 * side && column < v->width;
             ++column) {
            const double weight = lanczos((column + 0.5 - x) / side) * lanczos((row + 0.5 - y) / side);
            sum += weight * v->pixels[row * v->width + column];
            weights += weight;
        }
    return fmin(fmax(sum / weights, 0.0), 255.0);
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

/* Draws an area of the image resampled to columns x rows texels, levels by area and all else by Lanczos, and enlarged. */
static void draw_area(const view *v, double left, double top, double wide, double high, int columns, int rows,
                      bool by_area, float *picture) {
    double *const texels = malloc((size_t)columns * (size_t)rows * sizeof *texels);
    const double dx = wide / columns, dy = high / rows;
    assert_non_null(texels);
    for (int i = 0; i < columns * rows; ++i) {
        const double x = left + i % columns * dx, y = top + i / columns * dy;
        texels[i] = x >= v->width || y >= v->height ? 0.0
                    : by_area                       ? mean_over(v, x, y, x + dx, y + dy)
                                                    : filtered_at(v, x + dx / 2, y + dy / 2, dx);
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
        draw_area(v, 0, 0, v->width, v->height, columns * v->patch, K / columns * v->patch, true, picture);
        least = fmin(least, error_of(v, picture));
    }
    return least;
}

/* ---- Selections ---- */

static void copy_square(const view *v, const float *from, double left, double top, double side, float *to) {
    for (int y = (int)lround(top); y < (int)lround(top + side) && y < v->height; ++y)
        for (int x = (int)lround(left); x < (int)lround(left + side) && x < v->width; ++x)
            to[y * v->width + x] = from[y * v->width + x];
}

/* A selection's picture. */
static void draw_selection(tvlm_stack *stack, const struct tvlm_query *query, float emphasis, const view *v,
                           float *picture) {
    const struct tvlm_select_params params = {
        .k = K, .patch = (float)v->patch, .strategy = TVLM_STRATEGY_BUDGET, .budget.emphasis = emphasis};
    tvlm_selection *selection = NULL;
    tvlm_selection_info info;
    int32_t count;
    if (tvlm_select(stack, query, &params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    const tvlm_position *const p = tvlm_selection_positions(selection, &count);
    const int32_t cells = info.thumbnail_cells;
    static const double sides[] = {4.0, 3.0, 2.0, 4.0 / 3.0, 1.0}; /* coarse ones first */
    static float whole[sizeof v->pixels];
    draw_area(v, 0, 0, v->width, v->height, info.thumbnail_columns * v->patch, info.thumbnail_rows * v->patch,
              false, picture);
    assert_int_equal(cells, info.thumbnail_columns * info.thumbnail_rows); /* nothing is blank */
    for (int kind = 0; kind < 5; ++kind) {
        /* The whole image at that scale; a tile is enlarged together with what is around it. */
        const int columns = (int)ceil(v->width / sides[kind]), rows = (int)ceil(v->height / sides[kind]);
        draw_area(v, 0, 0, columns * sides[kind], rows * sides[kind], columns, rows, kind % 2 == 0, whole);
        for (int32_t i = cells; i < count; ++i) {
            const double side = (double)p[i].size;
            if (fabs(side - sides[kind] * v->patch) > 1e-3 * side) continue;
            copy_square(v, whole, side * floor((double)p[i].x / side), side * floor((double)p[i].y / side),
                        side, picture);
        }
    }
    tvlm_selection_destroy(&selection);
}

/* The same over what is asked. */
static double error_asked(const view *v, const float *picture) {
    double sum = 0.0;
    for (int i = 0; i < v->width * v->height; ++i)
        if (i % v->width < v->asked) sum += pow((double)picture[i] - v->pixels[i], 2.0);
    return sum / (v->asked * v->height);
}

/* Without a question the image is shown no worse than by downsampling. However strongly it counts, what is asked is shown
 * better: it keeps at most that share of its error; and the image is shown at most 1 dB worse. */
static void check_side(tvlm_device *device, tvlm_format format, int patch, double share) {
    static const float asked[4] = {1.0f, 0.0f, 0.0f, 0.0f}, emphases[] = {0.0f, 30.0f, 1e4f};
    const struct tvlm_query query = {.similarity = asked, .columns = 4, .rows = 1};
    static view drawn;
    static float picture[sizeof drawn.pixels];
    const view *const v = &drawn;
    draw_image(&drawn, patch);
    const tvlm_image image = u8_image(v->pixels, v->width, v->height, 1);
    tvlm_stack *stack = stack_of(device, format, &image);
    const double down = downsampled(v, picture);
    draw_selection(stack, &query, TVLM_EXPLICIT_ZERO, v, picture);
    const double unasked = error_of(v, picture), without = error_asked(v, picture);
    if (unasked > 1.02 * down)
        fail_msg("patch %d, without a question: the error is %.1f, downsampling's %.1f", patch, unasked,
                 down);
    for (size_t i = 0; i < sizeof emphases / sizeof *emphases; ++i) {
        draw_selection(stack, &query, emphases[i], v, picture);
        const double error = error_of(v, picture), within = error_asked(v, picture);
        if (getenv("TVLM_TEST_FIGURES") != NULL)
            printf("patch %d, emphasis %g: error %.1f of %.1f, %.1f within, %.1f without\n", patch,
                   (double)emphases[i], error, down, within, without);
        if (error > 1.259 * down)
            fail_msg("patch %d, an emphasis of %g: the error is %.1f, downsampling's %.1f", patch,
                     (double)emphases[i], error, down);
        assert_true(within <= share * without);
    }
    tvlm_stack_destroy(&stack);
}

static void check_view(tvlm_device *device, tvlm_format format) {
    check_side(device, format, 16, 0.8);
    check_side(device, format, 14, 0.8);
    check_side(device, format, PATCH_MOST, 0.8);
}

DEVICE_CHECKS_MAIN(check_view)
