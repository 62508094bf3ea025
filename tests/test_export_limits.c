/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_export_limits.c: the edges of what exports take: the last size, ratio, side, number and index that is taken,
 * and the first that is refused; and the numbers of each processor, as export.h has them. It needs no device.
 */
#include "export_helper.h"

/* ---- Processors ---- */

/* As in the table of export.h. */
static void test_processors(void **state) {
    static const float half[3] = {0.5f, 0.5f, 0.5f}, clip_mean[3] = {0.48145466f, 0.4578275f, 0.40821073f},
                       clip_std[3] = {0.26862954f, 0.26130258f, 0.27577711f},
                       imagenet_mean[3] = {0.485f, 0.456f, 0.406f},
                       imagenet_std[3] = {0.229f, 0.224f, 0.225f};
    static const struct {
        int32_t patch, temporal, merge, side;
        bool centre;
        int64_t least, most, video_least, video_most;
        const float *mean, *std;
        int32_t crops;
        bool padded;
    } expected[TVLM_EXPORT_MODELS] = {
        [TVLM_EXPORT_QWEN3_VL] = {16, 2, 2, 0, false, 65536, 16777216, 4096, 25165824, half, half, 0, false},
        [TVLM_EXPORT_QWEN2_5_VL] = {14, 2, 2, 0, false, 3136, 12845056, 0, 0, clip_mean, clip_std, 0, false},
        [TVLM_EXPORT_QWEN2_VL] = {14, 2, 2, 0, false, 3136, 12845056, 0, 0, clip_mean, clip_std, 0, false},
        [TVLM_EXPORT_LLAVA] = {14, 1, 1, 336, true, 0, 0, 0, 0, clip_mean, clip_std, 0, false},
        [TVLM_EXPORT_SIGLIP] = {16, 1, 1, 224, false, 0, 0, 0, 0, half, half, 0, false},
        [TVLM_EXPORT_CLIP] = {14, 1, 1, 224, true, 0, 0, 0, 0, clip_mean, clip_std, 0, false},
        [TVLM_EXPORT_LLAVA_ONEVISION] = {14, 1, 1, 384, false, 0, 0, 0, 0, half, half, 6, true},
        [TVLM_EXPORT_INTERNVL] = {14, 1, 2, 448, false, 0, 0, 0, 0, imagenet_mean, imagenet_std, 12, false}};
    (void)state;
    for (int i = 0; i < TVLM_EXPORT_MODELS; ++i) {
        tvlm_export_processor p;
        assert_int_equal(tvlm_export_processor_get((tvlm_export_model)i, &p), TVLM_OK);
        const bool same = p.patch == expected[i].patch && p.temporal == expected[i].temporal &&
                          p.merge == expected[i].merge && p.side == expected[i].side &&
                          p.centre == expected[i].centre && p.min_pixels == expected[i].least &&
                          p.max_pixels == expected[i].most && p.video_min_pixels == expected[i].video_least &&
                          p.video_max_pixels == expected[i].video_most && p.crops == expected[i].crops &&
                          p.padded == expected[i].padded;
        if (!same) fail_msg("%s has other numbers", tvlm_export_model_name((tvlm_export_model)i));
        for (size_t r = 0; r < sizeof p.reserved / sizeof *p.reserved; ++r) assert_true(p.reserved[r] == 0);
        assert_memory_equal(p.mean, expected[i].mean, sizeof p.mean);
        assert_memory_equal(p.std, expected[i].std, sizeof p.std);
    }
    tvlm_export_processor p;
    assert_int_equal(tvlm_export_processor_get((tvlm_export_model)-1, &p), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_export_processor_get((tvlm_export_model)TVLM_EXPORT_MODELS, &p),
                     TVLM_ERROR_ARGUMENT);
    assert_string_equal(tvlm_export_model_name((tvlm_export_model)-1), "unknown");
    assert_string_equal(tvlm_export_model_name((tvlm_export_model)TVLM_EXPORT_MODELS), "unknown");
}

/* ---- smart_resize ---- */

/* A processor with tokens of merge * patch pixels, and limits. */
typedef struct sizing {
    int32_t patch, merge;
    int64_t least, most;
    int32_t width, height;
    /* What comes of it; or, where it is refused, 0 and what the line says. */
    int32_t resized_width, resized_height;
    const char *words;
} sizing;

static void check_sizing(const sizing *s) {
    const tvlm_export_processor p = {
        .patch = s->patch, .merge = s->merge, .min_pixels = s->least, .max_pixels = s->most};
    int32_t width = 0, height = 0;
    const tvlm_status status = tvlm_smart_resize(&p, s->width, s->height, &test_log, &width, &height);
    if (s->words != NULL) {
        refused(status, TVLM_ERROR_ARGUMENT, s->words);
    } else if (status != TVLM_OK || width != s->resized_width || height != s->resized_height) {
        fail_msg("%dx%d: status %d, %dx%d: %s", (int)s->width, (int)s->height, (int)status, (int)width,
                 (int)height, test_last_log());
    }
}

static void test_smart_resize(void **state) {
    const int64_t many = INT64_C(1) << 40;
    const sizing rows[] = {
        /* The aspect ratio is 200 at most, and a side 1 at least. */
        {14, 2, 784, many, 5600, 28, 5600, 28, NULL},
        {14, 2, 784, many, 28, 5600, 28, 5600, NULL},
        {14, 2, 784, many, 5601, 28, 0, 0, "an aspect ratio of 200; the model takes up to 200"},
        {14, 2, 784, many, 28, 5601, 0, 0, "an aspect ratio of 200"},
        {14, 2, 784, many, 1, 1, 28, 28, NULL},
        {14, 2, 784, many, 1, 0, 0, 0, "a picture of 1x0 pixels"},
        {14, 2, 784, many, 0, 1, 0, 0, "a picture of 0x1 pixels"},
        {14, 2, 784, many, 0, 0, 0, 0, "a picture of 0x0 pixels"},
        /* The limits may be the same, and one token. */
        {14, 2, 784, 784, 100, 100, 28, 28, NULL},
        {14, 2, 785, 784, 100, 100, 0, 0, "from 785 to 784 pixels is no range"},
        {14, 2, 0, 784, 100, 100, 28, 28, NULL},
        {14, 2, -1, 784, 100, 100, 0, 0, "from -1 to 784 pixels"},
        {14, 2, 0, 783, 100, 100, 0, 0, "at most 783 pixels; one token has 784"},
        /* 44 x 70 pixels are rounded to 56 x 56, which a limit of as many leaves as they are. */
        {14, 2, 0, 56 * 56, 44, 70, 56, 56, NULL},
        {14, 2, 56 * 56, many, 44, 70, 56, 56, NULL},
        {14, 2, 0, 56 * 56 - 1, 44, 70, 28, 56, NULL},
        {14, 2, 56 * 56 + 1, many, 44, 70, 56, 84, NULL},
        /* As many pixels as a number of 32 bits can tell. */
        {14, 2, 0, many, 46340, 46340, 46340, 46340, NULL},
        {14, 2, 0, many, 46368, 46340, 0, 0, "a processed picture of 46368x46340 pixels is too large"},
        /* A patch and how many are merged are 1 to 4096. */
        {1, 1, 0, many, 7, 5, 7, 5, NULL},
        {4096, 1, 0, many, 100, 100, 4096, 4096, NULL},
        {1, 4096, 0, many, 100, 100, 4096, 4096, NULL},
        {4097, 1, 0, many, 100, 100, 0, 0, "a patch of 4097 pixels"},
        {1, 4097, 0, many, 100, 100, 0, 0, "merged 4097 by 4097"},
        {0, 1, 0, many, 100, 100, 0, 0, "a patch of 0 pixels"},
        {1, 0, 0, many, 100, 100, 0, 0, "merged 0 by 0"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) check_sizing(&rows[i]);
}

/* A token has 1 to 4096 frames, and a video as many at least. */
static void test_frames(void **state) {
    static const struct {
        int32_t temporal, frames;
        const char *words;
    } rows[] = {{1, 1, NULL},
                {2, 2, NULL},
                {2, 1, "frames: 1; one token of a video has 2"},
                {4096, 4096, NULL},
                {4096, 4095, "one token of a video has 4096"},
                {4097, 5000, "one token of a video has 4097"},
                {0, 5, "one token of a video has 0"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const tvlm_export_processor p = {
            .patch = 16, .merge = 2, .temporal = rows[i].temporal, .video_max_pixels = INT64_C(1) << 40};
        int32_t width = 0, height = 0;
        const tvlm_status status =
            tvlm_smart_resize_video(&p, rows[i].frames, 64, 96, &test_log, &width, &height);
        if (rows[i].words != NULL) {
            refused(status, TVLM_ERROR_ARGUMENT, rows[i].words);
            continue;
        }
        assert_int_equal(status, TVLM_OK);
        assert_true(width == 64 && height == 96);
    }
}

/* ---- Crops ---- */

static void test_crops(void **state) {
    static const struct {
        int32_t crops, side, width, height;
        const char *words; /* NULL: there is one crop */
    } rows[] = {{1, 1, 1, 1, NULL},
                {64, 448, 448, 448, NULL},
                {12, 16384, 100, 100, NULL},
                {0, 448, 448, 448, "0 crops of 448 pixels"},
                {65, 448, 448, 448, "65 crops"},
                {12, 0, 448, 448, "crops of 0 pixels"},
                {12, 16385, 448, 448, "crops of 16385 pixels"},
                {12, 448, 0, 1, "a picture of 0x1 pixels"},
                {12, 448, 1, 0, "a picture of 1x0 pixels"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        for (int padded = 0; padded < 2; ++padded) {
            const tvlm_export_processor p = {.crops = rows[i].crops, .side = rows[i].side, .padded = padded};
            int32_t columns = 0, lines = 0;
            const tvlm_status status =
                tvlm_crop_grid(&p, rows[i].width, rows[i].height, &test_log, &columns, &lines);
            if (rows[i].words != NULL) {
                refused(status, TVLM_ERROR_ARGUMENT, rows[i].words);
                continue;
            }
            assert_int_equal(status, TVLM_OK);
            if (columns != 1 || lines != 1) fail_msg("row %zu: %d x %d crops", i, (int)columns, (int)lines);
        }
}

/* ---- Exports ---- */

static void test_params(void **state) {
    static const float none[3] = {0.0f, 0.0f, 0.0f}, below[3] = {0.0f, 0.0f, -1e-30f}, first[3] = {-1.0f};
    static const struct {
        struct tvlm_export_params params;
        const char *words; /* NULL: it is taken */
    } rows[] = {
        {{.model = TVLM_EXPORT_SIGLIP, .side = 16384}, NULL},
        {{.model = TVLM_EXPORT_SIGLIP, .side = 16385}, "a side of 16385"},
        {{.model = TVLM_EXPORT_SIGLIP, .side = -1}, "a side of -1"},
        {{.model = TVLM_EXPORT_SIGLIP, .patch = -1}, "a patch of -1"},
        {{.model = TVLM_EXPORT_SIGLIP, .side = 16}, NULL},
        {{.model = TVLM_EXPORT_SIGLIP, .side = 1}, "a side of 1 is under one patch (16)"},
        {{.model = TVLM_EXPORT_SIGLIP, .side = 2, .patch = 1}, NULL},
        {{.model = TVLM_EXPORT_SIGLIP, .patch = 224}, NULL},
        {{.model = TVLM_EXPORT_SIGLIP, .patch = 225}, "a side of 224 is under one patch (225)"},
        {{.model = TVLM_EXPORT_INTERNVL, .side = 28}, NULL},
        {{.model = TVLM_EXPORT_SIGLIP, .min_pixels = 1}, "no limits of pixels"},
        {{.model = TVLM_EXPORT_SIGLIP, .max_pixels = 1}, "no limits of pixels"},
        {{.min_pixels = -1}, "limits of pixels below 0"},
        {{.max_pixels = -1}, "limits of pixels below 0"},
        {{.score.weights = none}, NULL},
        {{.score.weights = below}, "weight 2 is -1e-30"},
        {{.score.weights = first}, "weight 0 is -1"},
        {{.pillow = -1}, "there is no Pillow -1"},
        {{.budget = 1}, NULL},
        {{.all = true}, NULL},
        {{.budget = 1, .all = true}, "all tokens, and a budget of 1"},
        {{.strategy = TVLM_STRATEGY_BUDGET, .budget = 1, .spending.share = 0.5f}, "exclude each other"},
        {{.format = TVLM_FORMAT_U8}, NULL},
        {{.format = (tvlm_format)(TVLM_FORMAT_U8 + 1)}, "there are no stacks of format"},
        {{.format = (tvlm_format)(TVLM_FORMAT_AUTO - 1)}, "there are no stacks of format"},
    };
    tvlm_device *device = open_reference();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        tvlm_export *export = NULL;
        const tvlm_status status = tvlm_export_create(device, &rows[i].params, &export);
        if (rows[i].words != NULL)
            refused(status, TVLM_ERROR_ARGUMENT, rows[i].words);
        else if (status != TVLM_OK)
            fail_msg("row %zu: %s", i, test_last_log());
        assert_true((export != NULL) == (status == TVLM_OK));
        tvlm_export_destroy(&export);
    }
    tvlm_device_destroy(&device);
}

/* A limit of pixels that is given alone, and contradicts the other's default, holds for both. */
static void test_one_limit(void **state) {
    static const struct {
        int64_t least, most;
        int32_t side, expected;     /* of a square picture, and of what becomes of it */
    } rows[] = {{0, 1024, 320, 32}, /* under the least by default, 65536 */
                {0, 65536, 320, 256}, {0, 65535, 320, 224}, {0, 0, 32, 256},
                {1024, 0, 32, 32},    {1, 0, 32, 32}};
    tvlm_device *device = open_reference();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        tvlm_export_picture picture;
        const tvlm_image image = noise(1, rows[i].side, rows[i].side, 3);
        tvlm_export *export =
            made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN3_VL, .min_pixels = rows[i].least,
                                            .max_pixels = rows[i].most));
        run(export, &image, 1, NULL);
        assert_int_equal(tvlm_export_get_picture(export, 0, &picture), TVLM_OK);
        if (picture.width != rows[i].expected || picture.height != rows[i].expected)
            fail_msg("row %zu: %dx%d", i, (int)picture.width, (int)picture.height);
        tvlm_export_destroy(&export);
        drop(&image);
    }
    tvlm_device_destroy(&device);
}

/* The limits of a picture hold for each frame where a model has none for videos; and one pixel is a limit. */
static void test_limits_of_frames(void **state) {
    tvlm_device *device = open_reference();
    const tvlm_image frames[2] = {noise(1, 56, 56, 3), noise(2, 56, 56, 3)};
    const struct tvlm_export_params *params =
        tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .video = true, .max_pixels = 56 * 56);
    tvlm_export_picture picture;
    (void)state;
    tvlm_export *export = made(device, params);
    run(export, frames, 2, NULL);
    assert_int_equal(tvlm_export_get_picture(export, 0, &picture), TVLM_OK);
    assert_true(picture.width == 56 && picture.height == 56 && picture.grid_t == 1);
    tvlm_export_destroy(&export);
    export = made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .max_pixels = 1));
    refused(tvlm_export_run(export, frames, 1, NULL, NULL), TVLM_ERROR_ARGUMENT, "at most 1 pixels");
    tvlm_export_destroy(&export);
    for (int i = 0; i < 2; ++i) drop(&frames[i]);
    tvlm_device_destroy(&device);
}

/* The last tensor and picture are there, and none behind them. */
static void test_indices(void **state) {
    tvlm_device *device = open_reference();
    const tvlm_image image = noise(2, 64, 32, 3);
    tvlm_export *export = made(device, tvlm_export_params(.min_pixels = 1, .budget = 1));
    tvlm_export_tensor tensor;
    tvlm_export_picture picture;
    int64_t position[3];
    (void)state;
    run(export, &image, 1, NULL);
    const int32_t count = tvlm_export_tensor_count(export);
    assert_int_equal(count, 8);
    assert_int_equal(tvlm_export_get_tensor(export, count - 1, &tensor), TVLM_OK);
    refused(tvlm_export_get_tensor(export, count, &tensor), TVLM_ERROR_ARGUMENT, "there is no tensor 8");
    refused(tvlm_export_get_tensor(export, -1, &tensor), TVLM_ERROR_ARGUMENT, "there is no tensor -1");
    assert_int_equal(tvlm_export_get_picture(export, 0, &picture), TVLM_OK);
    refused(tvlm_export_get_picture(export, 1, &picture), TVLM_ERROR_ARGUMENT, "there is no picture 1");
    refused(tvlm_export_get_picture(export, -1, &picture), TVLM_ERROR_ARGUMENT, "there is no picture -1");
    const int32_t places = find(export, "selected_positions", &tensor);
    assert_int_equal(tensor.bytes, sizeof position);
    assert_int_equal(tvlm_export_read(export, places, sizeof position, position), TVLM_OK);
    refused(tvlm_export_read(export, places, sizeof position - 1, position), TVLM_ERROR_ARGUMENT,
            "room for 23 bytes; selected_positions has 24");
    for (int part = 0; part <= 1; ++part) /* 0 is no overview, 1 all of the tokens; both are shares */
        assert_int_equal(tvlm_export_set_overview(export, (float)part), TVLM_OK);
    refused(tvlm_export_set_overview(export, 1.0000002f), TVLM_ERROR_ARGUMENT, "an overview of 1");
    refused(tvlm_export_set_overview(export, -1e-30f), TVLM_ERROR_ARGUMENT, "an overview of -1e-30");
    tvlm_export_destroy(&export);
    export = made(device, tvlm_export_params(.model = TVLM_EXPORT_CLIP)); /* which takes none */
    assert_int_equal(tvlm_export_set_overview(export, 0.0f), TVLM_OK);
    tvlm_export_destroy(&export);
    drop(&image);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processors),       cmocka_unit_test(test_smart_resize),
        cmocka_unit_test(test_frames),           cmocka_unit_test(test_crops),
        cmocka_unit_test(test_params),           cmocka_unit_test(test_one_limit),
        cmocka_unit_test(test_limits_of_frames), cmocka_unit_test(test_indices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
