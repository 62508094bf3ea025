/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_export_holes.c: what an export makes of a thumbnail with empty cells and of tiles at a third of the image's size.
 * The choice is made by hand: tvlm_select is this file's.
 */
#include "export_helper.h"
#include "holes_helper.h"

enum { SIDE = 28, COLUMNS = 13, ROWS = 8, WIDE = COLUMNS * SIDE, HIGH = ROWS * SIDE }; /* of Qwen2-VL */
enum { ACROSS = 5, DOWN = 3 }; /* the thumbnail's grid */

tvlm_status __wrap_tvlm_select(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_select_params *params, tvlm_selection **selection);
tvlm_status __wrap_tvlm_select(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_select_params *params, tvlm_selection **selection) {
    tvlm_stack_info info;
    (void)query;
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_true(info.width == WIDE && info.height == HIGH && params->patch == (float)SIDE);
    *selection = holes_selection(WIDE, HIGH, ACROSS, DOWN, (float)SIDE);
    return *selection != NULL ? TVLM_OK : TVLM_ERROR_MEMORY;
}

/* Every square of 3 x 3 tokens has its own gray: so far from 0 in tokens at a third. */
static int32_t gray_of(int32_t column, int32_t row) {
    return 20 + 30 * column + 60 * row;
}

static tvlm_image squares(void) {
    uint8_t *const pixels = malloc((size_t)WIDE * HIGH * 3);
    assert_non_null(pixels);
    for (int32_t i = 0; i < WIDE * HIGH; ++i)
        memset(pixels + 3 * (size_t)i, gray_of(i % WIDE / (3 * SIDE), i / WIDE / (3 * SIDE)), 3);
    return u8_image(pixels, WIDE, HIGH, 3);
}

/* Its pictures: their sizes, and how many of their tokens are selected. */
static void check_pictures(tvlm_export *export) {
    static const struct {
        int32_t columns, rows, selected;
        float scale_h, scale_w;
    } expected[] = {
        {ACROSS, DOWN, 9, (float)DOWN / ROWS, (float)ACROSS / COLUMNS},
        {COLUMNS, ROWS, 1, 1.0f, 1.0f},
        {7, 4, 1, 0.5f, 0.5f},
        {5, 3, 2, 75.0f / (float)HIGH, 121.0f / (float)WIDE}, /* 74.67 x 121.33 pixels */
        {4, 2, 1, 0.25f, 0.25f},
    };
    const int32_t count = (int32_t)(sizeof expected / sizeof *expected);
    assert_int_equal(tvlm_export_picture_count(export), count);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_export_picture p;
        assert_int_equal(tvlm_export_get_picture(export, i, &p), TVLM_OK);
        assert_true(p.width == expected[i].columns * SIDE && p.height == expected[i].rows * SIDE);
        assert_int_equal(p.tokens, expected[i].columns * expected[i].rows);
        assert_int_equal(p.selected, expected[i].selected);
        assert_float_equal(p.scale_h, expected[i].scale_h, 1e-6f);
        assert_float_equal(p.scale_w, expected[i].scale_w, 1e-6f);
    }
}

/* The cells that are kept are its thumbnail's tokens; those that are empty are in its pixel_values, without a score. */
static void check_thumbnail(tvlm_export *export) {
    tvlm_export_tensor all, t;
    int64_t *const chosen = take(export, "selected_indices", &t);
    int64_t *const places = take(export, "selected_positions", &t);
    float *const scores = take(export, "scores", &t), *const values = take(export, "pixel_values", &all),
                 *const some = take(export, "selected_pixel_values", &t);
    const size_t token = all.bytes / sizeof(float) / (size_t)(all.shape[0] / 4);
    int32_t next = 0;
    for (int32_t i = 0; i < ACROSS * DOWN; ++i) {
        const bool kept = !holes_at(i % ACROSS, i / ACROSS);
        assert_true(scores[i] == (kept ? 1.0f : 0.0f));
        if (!kept) continue;
        assert_int_equal(chosen[next], i);
        assert_true(places[3 * next + 1] == i / ACROSS && places[3 * next + 2] == i % ACROSS);
        assert_memory_equal(some + token * (size_t)next, values + token * (size_t)i, token * sizeof(float));
        ++next;
    }
    assert_true(chosen[next] >= ACROSS * DOWN);
    free(chosen);
    free(places);
    free(scores);
    free(values);
    free(some);
}

/* Tiles are the tokens where they lie; those at a third show their square, of one gray but for what is around it. */
static void check_tiles(tvlm_export *export, int32_t cells) {
    tvlm_export_tensor t, rows;
    int64_t *const of = take(export, "selected_images", &t), *const places =
                                                                 take(export, "selected_positions", &t);
    const int64_t count = t.shape[0];
    float *const scores = take(export, "selected_scores", &t), *const some = take(
                                                                   export, "selected_pixel_values", &rows);
    const size_t token = rows.bytes / sizeof(float) / (size_t)count;
    static const int32_t order[HOLES_TILES] = {0, 2, 1, 3, 4}; /* of pictures: 1, 1/2, 1/3, 1/3, 1/4 */
    assert_int_equal(count, cells + HOLES_TILES);
    for (int32_t i = 0; i < HOLES_TILES; ++i) {
        const int32_t n = order[i];
        assert_int_equal(of[cells + i], i < 3 ? i + 1 : i);
        assert_int_equal(places[3 * (cells + i) + 1], holes_tiles[n].row);
        assert_int_equal(places[3 * (cells + i) + 2], holes_tiles[n].column);
        assert_float_equal(scores[cells + i], 0.5f / (float)(n + 1), 1e-6f);
        if (holes_tiles[n].pixels != 3) continue;
        /* The last pixel of the upper left of its four patches is in its middle: red, mean 0.4815, deviation 0.2686. */
        const float middle = some[token * (size_t)(cells + i) + 14 * 14 - 1];
        const float expected = (float)gray_of(holes_tiles[n].column, holes_tiles[n].row) / 255.0f;
        assert_float_equal(middle * 0.26862954f + 0.48145466f, expected, 1e-2f);
    }
    free(of);
    free(places);
    free(scores);
    free(some);
}

static void holes(tvlm_device *device, tvlm_format format) {
    const tvlm_image image = squares();
    tvlm_export *export =
        made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .strategy = TVLM_STRATEGY_BUDGET,
                                        .min_pixels = 1, .budget = 14, .format = format));
    for (int again = 0; again < 2; ++again) {
        run(export, &image, 1, NULL);
        check_pictures(export);
        check_thumbnail(export);
        check_tiles(export, 9);
    }
    tvlm_export_destroy(&export);
    drop(&image);
}

DEVICE_CHECKS_MAIN(holes)
