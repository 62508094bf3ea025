/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_export_budget.c: exports by the strategy `budget`: the pictures of Qwen-VL, and the crops of LLaVA-OneVision
 * and InternVL. The numbers are compared with the processors themselves in tests/python/check_export.py.
 */
#include "export_helper.h"
#include "texturevlm/opencl.h"

enum { SIDE = 28 }; /* of a token of Qwen2-VL */

/* Fills a rectangle with noise whose pixels are squares of `step`, `strength` away from gray. */
static void texture(uint8_t *pixels, int32_t width, int32_t left, int32_t top, int32_t right, int32_t below,
                    int32_t step, int32_t strength) {
    for (int32_t y = top; y < below; ++y)
        for (int32_t x = left; x < right; ++x)
            for (int32_t c = 0; c < 3; ++c) {
                const uint32_t place = (uint32_t)(y / step * 977 + x / step * 3 + c);
                const uint32_t hash = (place * 2654435761u) >> 24;
                pixels[((size_t)y * (size_t)width + (size_t)x) * 3 + (size_t)c] =
                    (uint8_t)(128 + ((int32_t)hash - 128) * strength / 128);
            }
}

static tvlm_image gray(int32_t width, int32_t height) {
    uint8_t *const pixels = malloc((size_t)width * (size_t)height * 3);
    assert_non_null(pixels);
    memset(pixels, 128, (size_t)width * (size_t)height * 3);
    return u8_image(pixels, width, height, 3);
}

static uint8_t *pixels_of(const tvlm_image *image) {
    return (uint8_t *)(uintptr_t)image->pixels;
}

/* A slope, with texture in the lower right corner: tiles of all levels pay. 21 x 15 tokens end within a tile of
 * level 1 and of level 2. */
static tvlm_image corner(void) {
    const int32_t columns = test_small() ? 3 : 21, rows = test_small() ? 3 : 15;
    const tvlm_image image = gray(columns * SIDE, rows * SIDE);
    for (int32_t i = 0; i < image.width * image.height; ++i)
        memset(pixels_of(&image) + 3 * (size_t)i,
               60 + 130 * (i % image.width) / image.width + 50 * (i / image.width) / image.height, 3);
    texture(pixels_of(&image), image.width, image.width * 2 / 3, image.height / 2, image.width, image.height,
            5, 128);
    return image;
}

static tvlm_export *spender(tvlm_device *device, tvlm_format format, int32_t budget) {
    return made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .strategy = TVLM_STRATEGY_BUDGET,
                                           .min_pixels = 1, .budget = budget, .format = format));
}

/* ---- Pictures ---- */

/* What goes together in the tensors: numbers, rows, places, pictures and scores. */
static void check_together(tvlm_export *export) {
    tvlm_export_tensor all, some, t;
    const int32_t pictures = tvlm_export_picture_count(export);
    int64_t *const chosen = take(export, "selected_indices", &t), *const of =
                                                                      take(export, "selected_images", &t);
    int64_t *const places = take(export, "selected_positions", &t);
    int64_t *const sources = take(export, "picture_source", &t);
    const int64_t count = t.shape[0];
    float *const values = take(export, "pixel_values", &all), *const rows = take(
                                                                  export, "selected_pixel_values", &some);
    float *const scores = take(export, "scores", &t), *const own = take(export, "selected_scores", &t);
    float *const scales = take(export, "picture_scale", &t);
    int64_t first = 0, next = 0;
    assert_int_equal(count, pictures);
    for (int32_t i = 0; i < pictures; ++i) {
        tvlm_export_picture p;
        assert_int_equal(tvlm_export_get_picture(export, i, &p), TVLM_OK);
        assert_int_equal(p.first_token, first);
        assert_int_equal(p.source, sources[i]);
        assert_true(i == 0 || sources[i] >= sources[i - 1]);
        assert_true(p.scale_h == scales[2 * i] && p.scale_w == scales[2 * i + 1]);
        const int32_t columns = p.width / (all.rank == 4 ? (int32_t)all.shape[3] : SIDE);
        const size_t token =
            all.bytes / sizeof(float) / (size_t)(all.rank == 4 ? all.shape[0] : all.shape[0] / 4);
        for (int32_t s = 0; s < p.selected; ++s, ++next) {
            const int64_t number = chosen[next] - first;
            assert_true(number >= 0 && number < p.tokens && (s == 0 || chosen[next] > chosen[next - 1]));
            assert_int_equal(of[next], i);
            assert_int_equal(places[3 * next], 0);
            assert_int_equal(places[3 * next + 1] * columns + places[3 * next + 2], number);
            assert_true(own[next] == scores[chosen[next]]);
            assert_memory_equal(rows + (size_t)next * token, values + (size_t)chosen[next] * token,
                                token * sizeof(float));
        }
        first += p.tokens;
    }
    free(chosen);
    free(of);
    free(places);
    free(sources);
    free(values);
    free(rows);
    free(scores);
    free(own);
    free(scales);
}

/* The tokens are what tvlm_select chooses of the same picture, which needs no resize here. `chosen` has the
 * parameters but for the strategy and the patch. */
static void check_as_selected(tvlm_device *device, tvlm_format format, tvlm_export *export,
                              const tvlm_image *image, const struct tvlm_select_params *chosen) {
    tvlm_export_tensor t;
    tvlm_selection *selection = NULL;
    tvlm_selection_info info;
    int32_t count = 0;
    tvlm_stack *stack = stack_of(device, format, image);
    struct tvlm_select_params params = *chosen;
    params.strategy = TVLM_STRATEGY_BUDGET;
    params.patch = (float)SIDE;
    assert_int_equal(tvlm_select(stack, NULL, &params, &selection), TVLM_OK);
    assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    const int32_t cells = info.thumbnail_cells;
    int64_t *const of = take(export, "selected_images", &t), *const places =
                                                                 take(export, "selected_positions", &t);
    const int64_t tokens = t.shape[0];
    float *const scales = take(export, "picture_scale", &t), *const scores =
                                                                 take(export, "selected_scores", &t);
    int64_t *const grids = take(export, "image_grid_thw", &t);
    assert_int_equal(count, tokens);
    if (cells > 0) assert_true(grids[1] == 2 * info.thumbnail_rows && grids[2] == 2 * info.thumbnail_columns);
    for (int32_t i = 0; i < count; ++i) {
        bool found = i < cells && of[i] == 0 &&
                     places[3 * i + 1] == (int64_t)(positions[i].y / positions[i].height) &&
                     places[3 * i + 2] == (int64_t)(positions[i].x / positions[i].size);
        for (int32_t n = cells; i >= cells && n < count; ++n) {
            const float side = SIDE / scales[2 * of[n]]; /* in pixels of the full picture */
            found = found || (fabsf(side - positions[i].size) < 1e-3f && scores[n] == positions[i].score &&
                              places[3 * n + 1] == (int64_t)(positions[i].y / side) &&
                              places[3 * n + 2] == (int64_t)(positions[i].x / side));
        }
        if (!found)
            fail_msg("position %d of %d, level %g, has no token", (int)i, (int)count,
                     (double)positions[i].level);
    }
    free(of);
    free(places);
    free(scales);
    free(scores);
    free(grids);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

static void pictures(tvlm_device *device, tvlm_format format) {
    const tvlm_image image = corner();
    const int32_t budgets[] = {test_small() ? 4 : 20, test_small() ? 9 : 60, 1};
    for (size_t b = 0; b < (test_small() ? 1 : 3); ++b) {
        tvlm_export *export = spender(device, format, budgets[b]);
        tvlm_export_picture p;
        run(export, &image, 1, NULL);
        check_together(export);
        check_as_selected(device, format, export, &image, tvlm_select_params(.k = budgets[b]));
        if (b == 0 &&
            !test_small()) { /* the thumbnail, then pictures of 1, 3/4, 1/2, 1/3 or 1/4 of the full size */
            const int32_t count = tvlm_export_picture_count(export);
            assert_true(count >= 3);
            for (int32_t i = 1; i < count; ++i) {
                tvlm_export_picture before;
                assert_int_equal(tvlm_export_get_picture(export, i - 1, &before), TVLM_OK);
                assert_int_equal(tvlm_export_get_picture(export, i, &p), TVLM_OK);
                assert_true(p.selected > 0 && (i == 1 || p.scale_w < before.scale_w));
                assert_int_equal(p.width, SIDE * (int)ceilf(21.0f * p.scale_w - 1e-4f));
                assert_int_equal(p.height, SIDE * (int)ceilf(15.0f * p.scale_h - 1e-4f));
            }
        }
        tvlm_export_destroy(&export);
    }
    drop(&image);
}

/* Waves that are lost at half of the size, and not at three quarters: a picture of that scale has tokens of nines. */
static void nines(tvlm_device *device, tvlm_format format) {
    const int32_t columns = 12, rows = 8, budget = 45;
    const tvlm_image image = gray(columns * SIDE, rows * SIDE);
    for (int32_t i = 0; i < image.width * image.height; ++i) {
        const int32_t x = i % image.width, y = i / image.width;
        const double wave = sin(1.6 * x) * sin(1.6 * y),
                     slope = 200.0 * x / image.width + 50.0 * y / image.height;
        memset(pixels_of(&image) + 3 * (size_t)i,
               (int)(x < image.width * 2 / 3 ? 128.0 + 100.0 * wave : slope), 3);
    }
    tvlm_export *export = spender(device, format, budget);
    tvlm_export_picture p;
    int32_t selected = 0;
    run(export, &image, 1, NULL);
    check_together(export);
    check_as_selected(device, format, export, &image, tvlm_select_params(.k = budget));
    for (int32_t i = 0; i < tvlm_export_picture_count(export); ++i) {
        assert_int_equal(tvlm_export_get_picture(export, i, &p), TVLM_OK);
        if (p.scale_w == 0.75f && p.scale_h == 0.75f) selected += p.selected;
    }
    assert_true(selected >= 9 && selected % 9 == 0);
    tvlm_export_destroy(&export);
    drop(&image);
}

/* What is said to the strategy reaches it: the tokens are those of tvlm_select. */
static void spending(tvlm_device *device, tvlm_format format) {
    const tvlm_image image = corner();
    const struct {
        struct tvlm_export_params export;
        struct tvlm_select_params select;
    } cases[] = {
        {{.spending.share = 0.5f}, {.budget.share = 0.5f}},
        {{.spending.tolerance = 0.3f}, {.budget.tolerance = 0.3f}},
        {{.spending.tolerance = TVLM_EXPLICIT_ZERO}, {.budget.tolerance = TVLM_EXPLICIT_ZERO}},
        {{.spending.share = 0.4f, .spending.emphasis = 60.0f},
         {.budget.share = 0.4f, .budget.emphasis = 60.0f}},
        {{.spending.share = 0.4f, .spending.emphasis = 60.0f, .spending.emphasis_channel = TVLM_CHANNEL_Y},
         {.budget.share = 0.4f, .budget.emphasis = 60.0f, .budget.emphasis_channel = TVLM_CHANNEL_Y}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct tvlm_export_params params = cases[i].export;
        params.model = TVLM_EXPORT_QWEN2_VL;
        /* A parameter of the budget asks for it, too. */
        params.strategy = i % 2 == 0 ? TVLM_STRATEGY_BUDGET : TVLM_STRATEGY_DEFAULT;
        params.min_pixels = 1;
        params.format = format;
        tvlm_export *export = made(device, &params);
        run(export, &image, 1, NULL);
        check_together(export);
        check_as_selected(device, format, export, &image, &cases[i].select);
        tvlm_export_destroy(&export);
    }
    drop(&image);
}

/* The tiles are where the question is about, and at most one beyond, where it fades; texture is everywhere. */
static void asked(tvlm_device *device, tvlm_format format) {
    static const float there[16] = {[0] = 1, [1] = 1, [4] = 1, [5] = 1};
    const struct tvlm_query query = {.similarity = there, .columns = 4, .rows = 4};
    const int32_t tokens = test_small() ? 4 : 8;
    const tvlm_image image = gray(SIDE * tokens, SIDE * tokens);
    texture(pixels_of(&image), image.width, 0, 0, image.width, image.height, 1, 128);
    tvlm_export *export = spender(device, format, tokens * tokens / 4);
    tvlm_export_tensor t;
    int32_t tiles = 0;
    run(export, &image, 1, &query);
    int64_t *const of = take(export, "selected_images", &t), *const places =
                                                                 take(export, "selected_positions", &t);
    for (int64_t i = 0; i < t.shape[0]; ++i) {
        if (of[i] != 1) continue; /* of the full picture */
        ++tiles;
        assert_true(places[3 * i + 1] <= tokens / 2 && places[3 * i + 2] <= tokens / 2);
    }
    assert_true(tiles > 0);
    free(of);
    free(places);
    tvlm_export_destroy(&export);
    drop(&image);
}

/* All images together spend the budget, and never more. */
static void shared(tvlm_device *device, tvlm_format format) {
    const bool small = test_small();
    const tvlm_image images[3] = {small ? noise(1, 56, 28, 3) : noise(1, 252, 196, 3), noise(2, 28, 28, 3),
                                  small ? noise(3, 28, 56, 1) : noise(3, 84, 112, 1)};
    const int64_t tokens = small ? 5 : 9 * 7 + 1 + 12;
    const int32_t budgets[] = {4, 3, 5, 40, 75, 76, 1000};
    for (size_t b = 0; b < (small ? 1 : sizeof budgets / sizeof *budgets); ++b) {
        tvlm_export *export = made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .min_pixels = 1,
                                                              .strategy = TVLM_STRATEGY_BUDGET,
                                                              .budget = budgets[b], .format = format));
        tvlm_export_tensor t;
        run(export, images, 3, NULL);
        assert_int_equal(tvlm_export_get_tensor(export, find(export, "selected_indices", &t), &t), TVLM_OK);
        assert_int_equal(t.shape[0], budgets[b] < tokens ? budgets[b] : tokens);
        check_together(export);
        tvlm_export_destroy(&export);
    }
    tvlm_export *export = spender(device, format, 2);
    refused(tvlm_export_run(export, images, 3, NULL, NULL), TVLM_ERROR_ARGUMENT, "2 tokens for 3 pictures");
    tvlm_export_destroy(&export);
    for (int i = 0; i < 3; ++i) drop(&images[i]);
}

/* ---- Crops ---- */

enum { CROP = 32, CROP_TOKENS = 4 }; /* crops of 2 x 2 tokens, for both models */

static tvlm_export *cropper(tvlm_device *device, tvlm_format format, tvlm_export_model model,
                            int32_t budget) {
    const bool merged = model == TVLM_EXPORT_INTERNVL;
    return made(device, tvlm_export_params(.model = model, .side = CROP, .patch = merged ? 8 : 16,
                                           .format = format, .budget = budget, .all = budget == 0));
}

/* Two textures, the stronger one in the crop at row 1, column 2 of 3 x 3. */
static tvlm_image patchwork(void) {
    const tvlm_image image = gray(3 * CROP, 3 * CROP);
    texture(pixels_of(&image), image.width, 2 * CROP, CROP, 3 * CROP, 2 * CROP, 1, 120);
    texture(pixels_of(&image), image.width, 0, 2 * CROP, CROP, 3 * CROP, 1, 60);
    return image;
}

/* The crop that is chosen beside the thumbnail; which comes first, or last. */
static void check_crop(tvlm_export *export, bool last, int64_t row, int64_t column) {
    tvlm_export_tensor t;
    const int at = last ? 0 : 1;
    int64_t *const chosen = take(export, "selected_indices", &t);
    assert_int_equal(t.shape[0], 2);
    int64_t *const places = take(export, "selected_positions", &t), *const of =
                                                                        take(export, "selected_images", &t);
    int64_t *const grids = take(export, "crop_grids", &t);
    float *const scores = take(export, "scores", &t);
    assert_int_equal(t.shape[0], 10);
    assert_int_equal(chosen[1 - at], last ? 9 : 0);
    assert_true(places[3 * at + 1] == row && places[3 * at + 2] == column);
    assert_int_equal(of[at], at);
    assert_true(grids[3 * at] == 1 && grids[3 * at + 1] == 3 && grids[3 * at + 2] == 3);
    assert_true(scores[last ? 9 : 0] == 1.0f && scores[chosen[at]] > 0.4f);
    free(chosen);
    free(places);
    free(of);
    free(grids);
    free(scores);
}

static void crops_of(tvlm_device *device, tvlm_format format, tvlm_export_model model) {
    static const float there[9] = {[6] = 1};
    const struct tvlm_query query = {.similarity = there, .columns = 3, .rows = 3};
    const bool last = model == TVLM_EXPORT_INTERNVL;
    const tvlm_image image = patchwork();
    tvlm_export_tensor t;
    tvlm_export *export = cropper(device, format, model, 3 * CROP_TOKENS - 1); /* two crops */
    run(export, &image, 1, NULL);
    check_together(export);
    check_crop(export, last, 1, 2);
    run(export, &image, 1, &query);
    check_crop(export, last, 2, 0);
    tvlm_export_destroy(&export);
    export = cropper(device, format, model, CROP_TOKENS); /* the thumbnail alone */
    run(export, &image, 1, NULL);
    int64_t *const chosen = take(export, "selected_indices", &t);
    assert_true(t.shape[0] == 1 && chosen[0] == (last ? 9 : 0));
    free(chosen);
    tvlm_export_destroy(&export);
    drop(&image);
}

static void crops(tvlm_device *device, tvlm_format format) {
    crops_of(device, format, TVLM_EXPORT_LLAVA_ONEVISION);
    crops_of(device, format, TVLM_EXPORT_INTERNVL);
    refused(tvlm_export_create(
                device, tvlm_export_params(.model = TVLM_EXPORT_INTERNVL, .budget = 255, .format = format),
                (tvlm_export *[1]){NULL}),
            TVLM_ERROR_ARGUMENT, "each crop of internvl has 256");
}

/* How many crops of the patchwork are chosen, the thumbnail among them. */
static int64_t crops_with(tvlm_device *device, const struct tvlm_export_params *with,
                          const tvlm_image *image) {
    struct tvlm_export_params params = *with;
    tvlm_export_tensor t;
    params.model = TVLM_EXPORT_LLAVA_ONEVISION;
    params.side = CROP;
    params.patch = 16;
    tvlm_export *export = made(device, &params);
    run(export, image, 1, NULL);
    check_together(export);
    assert_int_equal(tvlm_export_get_tensor(export, find(export, "selected_indices", &t), &t), TVLM_OK);
    tvlm_export_destroy(&export);
    return t.shape[0];
}

/* A share counts crops; a tolerance leaves out those that lose least. The thumbnail loses nothing of two of nine, which
 * touch neither texture. */
static void crops_spent(tvlm_device *device, tvlm_format format) {
    const tvlm_image image = patchwork();
    assert_int_equal(crops_with(device, tvlm_export_params(.format = format, .spending.share = 0.3f), &image),
                     3);
    assert_int_equal(
        crops_with(device, tvlm_export_params(.format = format, .spending.tolerance = TVLM_EXPLICIT_ZERO),
                   &image),
        8);
    assert_int_equal(
        crops_with(device, tvlm_export_params(.format = format, .spending.tolerance = 1.0f), &image), 1);
    assert_int_equal(
        crops_with(device, tvlm_export_params(.format = format, .spending.tolerance = 0.45f), &image), 2);
    tvlm_export *export = made(
        device, tvlm_export_params(.model = TVLM_EXPORT_INTERNVL, .format = format, .spending.share = 0.5f));
    const tvlm_image single = noise(3, 40, 40, 3);
    refused(tvlm_export_run(export, &single, 1, NULL, NULL), TVLM_ERROR_ARGUMENT,
            "a share of 0.5 of 1 crops is less than one");
    assert_int_equal(tvlm_export_failed_image(export), 0);
    tvlm_export_destroy(&export);
    drop(&single);
    drop(&image);
}

/* A picture of one crop is its own thumbnail in InternVL; a picture on padded crops is black around. */
static void single(tvlm_device *device, tvlm_format format) {
    const tvlm_image image = noise(5, 30, 31, 3), wide = noise(6, 64, 33, 3);
    tvlm_export_tensor t;
    tvlm_export *export = cropper(device, format, TVLM_EXPORT_INTERNVL, 0);
    run(export, &image, 1, NULL);
    assert_int_equal(tvlm_export_picture_count(export), 1);
    float *score = take(export, "selected_scores", &t);
    assert_true(t.shape[0] == 1 && score[0] == 1.0f);
    free(score);
    tvlm_export_destroy(&export);
    export = cropper(device, format, TVLM_EXPORT_LLAVA_ONEVISION, 0);
    run(export, &wide, 1, NULL); /* 64 x 33 on 2 x 2 crops: from row 15 to row 47 */
    float *values = take(export, "pixel_values", &t);
    int64_t *sizes = take(export, "image_sizes", &t);
    assert_true(sizes[0] == 33 && sizes[1] == 64);
    for (int y = 0; y < 2 * CROP; ++y) {
        const float *const row =
            values + (size_t)(1 + y / CROP * 2) * 3 * CROP * CROP + (size_t)(y % CROP) * CROP;
        bool black = true;
        for (int x = 0; x < CROP; ++x) black = black && row[x] == -1.0f;
        assert_int_equal(black, y < 15 || y >= 48);
    }
    free(values);
    free(sizes);
    tvlm_export_destroy(&export);
    drop(&image);
    drop(&wide);
}

/* ---- Again ---- */

/* Other images in between leave no trace. */
static void repeated(tvlm_device *device, tvlm_format format) {
    const bool small = test_small();
    const tvlm_image images[3] = {corner(), small ? noise(6, 56, 28, 3) : noise(6, 300, 310, 3),
                                  noise(7, 57, 80, 4)};
    tvlm_export *export = spender(device, format, small ? 5 : 20);
    void *first[10];
    tvlm_export_tensor t;
    run(export, &images[0], 1, NULL);
    assert_int_equal(tvlm_export_tensor_count(export), 10);
    for (int32_t i = 0; i < 10; ++i) {
        assert_int_equal(tvlm_export_get_tensor(export, i, &t), TVLM_OK);
        first[i] = take(export, t.name, &t);
    }
    run(export, images, 3, NULL);
    run(export, &images[0], 1, NULL);
    for (int32_t i = 0; i < 10; ++i) {
        assert_int_equal(tvlm_export_get_tensor(export, i, &t), TVLM_OK);
        void *const again = take(export, t.name, &t);
        assert_memory_equal(again, first[i], t.bytes);
        free(again);
        free(first[i]);
    }
    tvlm_export_destroy(&export);
    for (int i = 0; i < 3; ++i) drop(&images[i]);
}

/* A picture without chosen tokens has no buffer of them, though an earlier run had one. */
static void native(tvlm_device *device, tvlm_format format) {
    const tvlm_image image = corner(), token = gray(SIDE, SIDE);
    tvlm_export *export = spender(device, format, 1);
    cl_mem values = NULL, selected = NULL;
    run(export, &token, 1, NULL);
    run(export, &image, 1, NULL);
    if (test_is_opencl(device)) {
        assert_int_equal(tvlm_export_get_opencl(export, 0, &values, &selected), TVLM_OK);
        assert_true(values != NULL && selected != NULL);
        assert_int_equal(tvlm_export_get_opencl(export, 1, &values, &selected), TVLM_OK);
        assert_true(values != NULL && selected == NULL);
    }
    tvlm_export_destroy(&export);
    drop(&image);
    drop(&token);
}

/* ---- Refusals ---- */

static void bad_params(tvlm_device *device, tvlm_format format) {
    static const float weights[3] = {1.0f, 0.0f, 0.0f};
    const struct {
        struct tvlm_export_params params;
        const char *line;
    } cases[] = {
        {{.model = TVLM_EXPORT_CLIP, .strategy = TVLM_STRATEGY_BUDGET}, "clip takes one picture of 224x224"},
        {{.model = TVLM_EXPORT_SIGLIP, .strategy = TVLM_STRATEGY_BUDGET}, "siglip takes one picture"},
        {{.model = TVLM_EXPORT_LLAVA, .strategy = TVLM_STRATEGY_BUDGET},
         "llava takes one picture of 336x336"},
        {{.model = TVLM_EXPORT_INTERNVL, .strategy = TVLM_STRATEGY_GRID}, "internvl takes crops"},
        {{.strategy = TVLM_STRATEGY_FOVEATED}, "grid or budget, not by foveated"},
        {{.strategy = (tvlm_strategy)77}, "not by unknown (77)"},
        {{.strategy = TVLM_STRATEGY_BUDGET, .video = true}, "not for a video"},
        {{.spending.emphasis = 2.0f, .video = true}, "not for a video"},
        {{.spending.tolerance = 0.5f, .video = true},
         "tokens of a video are chosen by their score here: give a budget or a share"},
        {{.model = TVLM_EXPORT_CLIP, .spending.tolerance = 0.5f},
         "tokens of clip are chosen by their score here: give a budget or a share"},
        {{.model = TVLM_EXPORT_CLIP, .spending.emphasis = 2.0f}, "clip takes one picture of 224x224"},
        {{.strategy = TVLM_STRATEGY_BUDGET, .score.weights = weights}, "weights would change nothing"},
        {{.model = TVLM_EXPORT_INTERNVL, .score.weights = weights}, "weights would change nothing"},
        {{.strategy = TVLM_STRATEGY_GRID, .spending.share = 1.5f},
         "a share of 1.5; it is above 0 and at most 1"},
        {{.model = TVLM_EXPORT_CLIP, .spending.share = -0.5f},
         "a share of -0.5; it is above 0 and at most 1"},
        {{.model = TVLM_EXPORT_CLIP, .budget = 3, .spending.share = 0.5f}, "exclude each other"},
        {{.strategy = TVLM_STRATEGY_GRID, .spending.tolerance = 0.5f},
         "tokens of qwen3-vl are chosen by their score here: give a budget or a share"},
        {{.strategy = TVLM_STRATEGY_GRID, .spending.emphasis = 2.0f},
         "the parameter emphasis is for the strategy budget"},
        {{.strategy = TVLM_STRATEGY_GRID, .spending.emphasis_channel = TVLM_CHANNEL_Y},
         "the parameter emphasis_channel is for the strategy budget"},
        {{.strategy = TVLM_STRATEGY_BUDGET, .budget = 4, .spending.share = 0.5f}, "exclude each other"},
        {{.strategy = TVLM_STRATEGY_BUDGET, .all = true, .spending.tolerance = 0.5f}, "exclude each other"},
        {{.strategy = TVLM_STRATEGY_BUDGET, .spending.share = 1.5f},
         "a share of 1.5; it is above 0 and at most 1"},
        {{.strategy = TVLM_STRATEGY_BUDGET, .spending.tolerance = -2.0f}, "a tolerance of -2"},
        {{.strategy = TVLM_STRATEGY_BUDGET, .spending.emphasis = -2.0f}, "an emphasis of -2"},
        {{.model = TVLM_EXPORT_LLAVA_ONEVISION, .max_pixels = 9000}, "llava-onevision has one size"},
        {{.model = TVLM_EXPORT_LLAVA_ONEVISION, .video = true}, "takes no video"},
        {{.model = TVLM_EXPORT_INTERNVL, .side = 27}, "a side of 27 is under one token (28)"},
        {{.model = TVLM_EXPORT_LLAVA_ONEVISION, .budget = 728}, "each crop of llava-onevision has 729"},
    };
    tvlm_export *export = NULL;
    (void)format;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        refused(tvlm_export_create(device, &cases[i].params, &export), TVLM_ERROR_ARGUMENT, cases[i].line);
    assert_null(export);
    export = made(device, tvlm_export_params(.model = TVLM_EXPORT_INTERNVL, .budget = 600));
    const tvlm_image images[3] = {noise(1, 8, 8, 3), noise(2, 8, 8, 3), noise(3, 8, 8, 3)};
    refused(tvlm_export_run(export, images, 3, NULL, NULL), TVLM_ERROR_ARGUMENT, "2 crops for 3 pictures");
    tvlm_export_destroy(&export);
    for (int i = 0; i < 3; ++i) drop(&images[i]);
}

/* Crops by hand; check_export.py has thousands of sizes. */
static void test_crop_grid(void **state) {
    const struct {
        tvlm_export_model model;
        int32_t width, height, columns, rows;
    } cases[] = {
        {TVLM_EXPORT_LLAVA_ONEVISION, 768, 384, 2, 1}, {TVLM_EXPORT_LLAVA_ONEVISION, 10000, 10000, 6, 6},
        {TVLM_EXPORT_LLAVA_ONEVISION, 1, 1, 1, 1},     {TVLM_EXPORT_INTERNVL, 448, 448, 1, 1},
        {TVLM_EXPORT_INTERNVL, 897, 448, 2, 1},        {TVLM_EXPORT_INTERNVL, 4000, 4000, 3, 3},
        {TVLM_EXPORT_INTERNVL, 10000, 10, 12, 1},      {TVLM_EXPORT_INTERNVL, 800, 600, 4, 3}};
    tvlm_export_processor p;
    int32_t columns = 0, rows = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(tvlm_export_processor_get(cases[i].model, &p), TVLM_OK);
        assert_int_equal(tvlm_crop_grid(&p, cases[i].width, cases[i].height, NULL, &columns, &rows), TVLM_OK);
        if (columns != cases[i].columns || rows != cases[i].rows)
            fail_msg("%dx%d: %d x %d crops", (int)cases[i].width, (int)cases[i].height, (int)columns,
                     (int)rows);
    }
    assert_int_equal(tvlm_crop_grid(&p, 0, 5, NULL, &columns, &rows), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_crop_grid(&p, 5, -1, NULL, &columns, &rows), TVLM_ERROR_ARGUMENT);
    p.crops = 65;
    assert_int_equal(tvlm_crop_grid(&p, 5, 5, NULL, &columns, &rows), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_export_processor_get(TVLM_EXPORT_CLIP, &p), TVLM_OK);
    assert_int_equal(tvlm_crop_grid(&p, 5, 5, NULL, &columns, &rows), TVLM_ERROR_ARGUMENT);
}

/* ---- An overview ---- */

/* A share of the tokens is a picture of the whole, and the rest are the grid's best. */
static void overview(tvlm_device *device, tvlm_format format) {
    const tvlm_image image = corner();
    const int32_t tokens = image.width / SIDE * (image.height / SIDE), granted = test_small() ? 6 : 60;
    tvlm_export_picture whole, full;
    tvlm_export_tensor t;
    tvlm_export *export = made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .min_pixels = 1,
                                                          .budget = granted, .format = format));
    run(export, &image, 1, NULL);
    assert_int_equal(tvlm_export_picture_count(export), 1);
    float *const scores = take(export, "scores", &t);
    assert_int_equal(tvlm_export_set_overview(export, 0.5f), TVLM_OK);
    assert_int_equal(tvlm_export_tensor_count(export), 0); /* those were of another choice */
    run(export, &image, 1, NULL);
    assert_int_equal(tvlm_export_picture_count(export), 2);
    assert_int_equal(tvlm_export_get_picture(export, 0, &whole), TVLM_OK);
    assert_int_equal(tvlm_export_get_picture(export, 1, &full), TVLM_OK);
    assert_true(whole.tokens == whole.selected && whole.tokens <= granted / 2 && whole.tokens >= granted / 4);
    assert_true(full.tokens == tokens && full.selected == granted - whole.selected);
    assert_true(full.width == image.width && full.height == image.height);
    check_together(export);
    float *const both = take(export, "scores", &t);
    assert_memory_equal(both + whole.tokens, scores, (size_t)tokens * sizeof *scores);
    double mean = 0.0, expected = 0.0;
    for (int32_t i = 0; i < whole.tokens; ++i) mean += (double)both[i] / whole.tokens;
    for (int32_t i = 0; i < tokens; ++i) expected += (double)scores[i] / tokens;
    assert_true(fabs(mean - expected) < 0.1);
    /* What is chosen of the full picture are its best. */
    int64_t *const chosen = take(export, "selected_indices", &t);
    float least = INFINITY;
    int32_t above = 0;
    for (int64_t i = whole.tokens; i < t.shape[0]; ++i) least = fminf(least, both[chosen[i]]);
    for (int32_t i = 0; i < tokens; ++i) above += scores[i] > least;
    assert_true(above < full.selected);
    refused(tvlm_export_set_overview(export, 1.5f), TVLM_ERROR_ARGUMENT, "an overview of 1.5");
    refused(tvlm_export_set_overview(export, NAN), TVLM_ERROR_ARGUMENT, "an overview of");
    assert_int_equal(tvlm_export_set_overview(export, 0.001f), TVLM_OK);
    refused(tvlm_export_run(export, &image, 1, NULL, NULL), TVLM_ERROR_ARGUMENT, "is no position");
    assert_int_equal(tvlm_export_set_overview(export, 0.0f), TVLM_OK);
    run(export, &image, 1, NULL);
    assert_int_equal(tvlm_export_picture_count(export), 1);
    tvlm_export_destroy(&export);
    assert_int_equal(tvlm_export_set_overview(NULL, 0.5f), TVLM_ERROR_ARGUMENT);
    export = made(device, tvlm_export_params(.model = TVLM_EXPORT_CLIP, .format = format));
    refused(tvlm_export_set_overview(export, 0.5f), TVLM_ERROR_ARGUMENT, "clip takes no overview");
    tvlm_export_destroy(&export);
    export = spender(device, format, 9);
    refused(tvlm_export_set_overview(export, 0.5f), TVLM_ERROR_ARGUMENT, "an overview is for the grid");
    tvlm_export_destroy(&export);
    free(chosen);
    free(both);
    free(scores);
    drop(&image);
}

DEVICE_CHECKS(pictures, nines, overview, spending, asked, shared, crops, crops_spent, single, repeated,
              native, bad_params)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crop_grid), cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
