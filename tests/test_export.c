/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_export.c: tensors for encoders: what is chosen, budgets, kinds of pixels, repeated runs, refusals. The
 * numbers are compared with the processors themselves in tests/python/check_export.py.
 */
#include "export_helper.h"
#include "texturevlm/opencl.h"

static const float query_only[3] = {0.0f, 0.0f, 1.0f};
static const float place_only[3] = {0.0f, 1.0f, 0.0f}; /* a formula: the quickest scores */

enum { MOMENTS = 2 }; /* of a clip, two frames each */

/* ---- What is chosen ---- */

/* The question is about the lower right quarter: so are the tokens. */
static void by_query(tvlm_device *device, tvlm_format format) {
    static const float corner[16] = {[10] = 1, [11] = 1, [14] = 1, [15] = 1};
    const struct tvlm_query query = {.similarity = corner, .columns = 4, .rows = 4};
    const int32_t tokens = test_small() ? 2 : 8; /* along a side */
    const tvlm_image image = noise(1, 28 * tokens, 28 * tokens, 3);
    const int32_t budgets[] = {tokens * tokens / 4, 7, 1};
    for (size_t b = 0; b < (test_small() ? 1 : 3); ++b) {
        tvlm_export *export =
            made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = budgets[b],
                                            .score.weights = query_only, .format = format));
        tvlm_export_tensor tensor;
        run(export, &image, 1, &query);
        int64_t *positions = take(export, "selected_positions", &tensor);
        assert_int_equal(tensor.shape[0], budgets[b]);
        for (int64_t i = 0; i < tensor.shape[0]; ++i) {
            assert_int_equal(positions[3 * i], 0);
            assert_true(positions[3 * i + 1] >= tokens / 2 && positions[3 * i + 1] < tokens);
            assert_true(positions[3 * i + 2] >= tokens / 2 && positions[3 * i + 2] < tokens);
        }
        free(positions);
        tvlm_export_destroy(&export);
        assert_null(export);
    }
    drop(&image);
}

/* The same question as vectors, and features to answer from: the same tokens; and none of it is left for the
 * next run. */
static void by_features(tvlm_device *device, tvlm_format format) {
    static const float vector[2] = {0, 2};
    float vectors[16][2];
    for (int i = 0; i < 16; ++i) { /* the lower right quarter */
        const bool asked = i == 10 || i == 11 || i == 14 || i == 15;
        vectors[i][0] = asked ? 0.0f : 1.0f;
        vectors[i][1] = asked ? 1.0f : 0.0f;
    }
    const struct tvlm_grid_input features = {.data = vectors, .columns = 4, .rows = 4, .channels = 2};
    const struct tvlm_query query = {.vectors = vector, .dimension = 2};
    const int32_t tokens = test_small() ? 4 : 8, quarter = tokens * tokens / 4;
    const tvlm_image image = noise(1, 28 * tokens, 28 * tokens, 3);
    tvlm_export *export = made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = quarter,
                                                          .score.weights = query_only, .format = format));
    tvlm_export_tensor tensor;
    if (tvlm_export_run(export, &image, 1, &features, &query) != TVLM_OK) fail_msg("%s", test_last_log());
    int64_t *positions = take(export, "selected_positions", &tensor);
    assert_int_equal(tensor.shape[0], quarter);
    for (int64_t i = 0; i < tensor.shape[0]; ++i)
        assert_true(positions[3 * i + 1] >= tokens / 2 && positions[3 * i + 2] >= tokens / 2);
    free(positions);
    assert_int_equal(tvlm_export_run(export, &image, 1, NULL, &query), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_export_tensor_count(export), 0);
    tvlm_export_destroy(&export);
    drop(&image);
}

/* What the application hands in to each picture: saliency in its lower right quarter, or, with a status, nothing. */
typedef struct handed {
    tvlm_status status;
    int calls;
    int32_t images[2];
} handed;

static tvlm_status hand_in(void *user, int32_t image, tvlm_stack *stack) {
    static const float corner[] = {0, 0, 0, 1};
    handed *const to = user;
    if (to->calls < 2) to->images[to->calls] = image;
    ++to->calls;
    if (to->status != TVLM_OK) return to->status;
    return image == 0
               ? TVLM_OK
               : tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_SALIENCY,
                                     &(struct tvlm_grid_input){.data = corner, .columns = 2, .rows = 2});
}

/* The second picture has a map of saliency, and the first one, which is the same, has not. */
static void by_inputs(tvlm_device *device, tvlm_format format) {
    static const int32_t saliency = TVLM_CHANNEL_SALIENCY;
    static const float one = 1.0f;
    const struct tvlm_scorer scorer = {.channel_count = 1, .channels = &saliency, .weights = &one};
    const int32_t tokens = 4, quarter = 4;
    const tvlm_image image = noise(1, 28 * tokens, 28 * tokens, 3), images[] = {image, image};
    handed to = {0};
    tvlm_export_tensor tensor;
    tvlm_export *export =
        made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = 2 * quarter,
                                        .score.scorer = &scorer, .format = format));
    run(export, images, 2, NULL);
    float *own = take(export, "scores", &tensor);
    assert_int_equal(
        tvlm_export_set_inputs(export, &(struct tvlm_export_inputs){.set = hand_in, .user = &to}), TVLM_OK);
    run(export, images, 2, NULL);
    assert_true(to.calls == 2 && to.images[0] == 0 && to.images[1] == 1);
    float *scores = take(export, "scores", &tensor);
    assert_memory_equal(scores, own, 16 * sizeof *own);
    for (int i = 0; i < 16; ++i) {
        const float score = scores[16 + i];
        assert_true(i % 4 == 3 && i / 4 == 3   ? score == 1.0f
                    : i % 4 == 0 || i / 4 == 0 ? score == 0.0f
                                               : true);
    }
    free(scores);
    to.status = TVLM_ERROR_IO;
    assert_int_equal(tvlm_export_run(export, images, 2, NULL, NULL), TVLM_ERROR_IO);
    assert_int_equal(tvlm_export_failed_image(export), 0);
    assert_int_equal(tvlm_export_set_inputs(export, NULL), TVLM_OK);
    run(export, images, 2, NULL);
    scores = take(export, "scores", &tensor);
    assert_memory_equal(scores, own, 32 * sizeof *own);
    free(scores);
    free(own);
    assert_int_equal(tvlm_export_set_inputs(export, &(struct tvlm_export_inputs){.reserved = {1}}),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_export_set_inputs(NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_export_set_inputs(export, &(struct tvlm_export_inputs){.clusters = -1}), TVLM_OK);
    refused(tvlm_export_run(export, images, 2, NULL, NULL), TVLM_ERROR_ARGUMENT, "cluster");
    tvlm_export_destroy(&export);
    drop(&image);
}

/* A token of two frames has the better score of both: each question is about its own frame. */
static void by_frames(tvlm_device *device, tvlm_format format) {
    static const float left[2] = {1, 0}, right[2] = {0, 1}, none[2] = {0, 0};
    const struct tvlm_query queries[3] = {{.similarity = none, .columns = 2, .rows = 1},
                                          {.similarity = left, .columns = 2, .rows = 1},
                                          {.similarity = right, .columns = 2, .rows = 1}};
    tvlm_image frames[3];
    tvlm_export_tensor tensor;
    const int32_t columns = test_small() ? 2 : 4; /* of tokens, in 2 rows */
    for (uint64_t i = 0; i < 3; ++i) frames[i] = noise(i, 28 * columns, 56, 3);
    tvlm_export *export =
        made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .video = true,
                                        .score.weights = query_only, .budget = 4, .format = format));
    run(export, frames, 3, queries);
    assert_int_equal(tvlm_export_picture_count(export), 1);
    int64_t *grid = take(export, "video_grid_thw", &tensor);
    assert_true(grid[0] == 2 && grid[1] == 4 && grid[2] == 2 * columns);
    /* Moment 0 (frames 0, 1): the first column of both rows; moment 1 (frame 2 twice): the last. */
    const int32_t expected[4] = {0, columns, 3 * columns - 1, 4 * columns - 1};
    int64_t *chosen = take(export, "selected_indices", &tensor);
    for (int i = 0; i < 4; ++i) assert_int_equal(chosen[i], expected[i]);
    free(chosen);
    free(grid);
    tvlm_export_destroy(&export);
    for (int i = 0; i < 3; ++i) drop(&frames[i]);
}

/* What a moment has in both: its rows, or its tokens' scores. */
static void same_moment(tvlm_export *clip, tvlm_export *pair, const char *name, int moment) {
    tvlm_export_tensor whole, part;
    unsigned char *all = take(clip, name, &whole), *some = take(pair, name, &part);
    assert_int_equal(whole.bytes, MOMENTS * part.bytes);
    assert_memory_equal(all + (size_t)moment * part.bytes, some, part.bytes);
    free(all);
    free(some);
}

/* A stream, two frames at a time as they come: the same as the moments of the whole clip. */
static void by_pairs(tvlm_device *device, tvlm_format format) {
    tvlm_image frames[2 * MOMENTS];
    const int32_t width = test_small() ? 56 : 117;
    for (uint64_t i = 0; i < 2 * MOMENTS; ++i) frames[i] = noise(20 + i, width, 59, 3);
    const struct tvlm_export_params params = {
        .model = TVLM_EXPORT_QWEN2_VL, .video = true, .min_pixels = 1, .format = format};
    tvlm_export *clip = made(device, &params), *pair = made(device, &params);
    run(clip, frames, 2 * MOMENTS, NULL);
    for (int moment = 0; moment < MOMENTS; ++moment) {
        run(pair, frames + 2 * moment, 2, NULL);
        same_moment(clip, pair, "pixel_values_videos", moment);
        same_moment(clip, pair, "scores", moment);
    }
    tvlm_export_destroy(&clip);
    tvlm_export_destroy(&pair);
    for (int i = 0; i < 2 * MOMENTS; ++i) drop(&frames[i]);
}

/* ---- Budgets ---- */

static void check_budget(tvlm_device *device, const tvlm_image *images, int32_t count, int32_t budget) {
    tvlm_export *export =
        made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN3_VL, .min_pixels = 1, .budget = budget));
    int64_t tokens = 0, selected = 0;
    run(export, images, count, NULL);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_export_picture picture;
        assert_int_equal(tvlm_export_get_picture(export, i, &picture), TVLM_OK);
        assert_true(picture.selected >= 1 && picture.selected <= picture.tokens);
        assert_int_equal(picture.first_token, tokens);
        if (budget == 0) assert_int_equal(picture.selected, picture.tokens >= 8 ? picture.tokens / 4 : 1);
        tokens += picture.tokens;
        selected += picture.selected;
    }
    if (budget > 0) assert_int_equal(selected, budget < tokens ? budget : tokens);
    tvlm_export_tensor tensor;
    free(take(export, "selected_scores", &tensor));
    assert_int_equal(tensor.shape[0], selected);
    tvlm_export_destroy(&export);
}

static void budgets(tvlm_device *device, tvlm_format format) {
    /* 64 + 1 + 12 tokens, or 2 + 1 + 1. */
    const int32_t asked[] = {3, 0, 4, 5, 11, 40, 75, 76, 77, 1000};
    const bool small = test_small();
    const tvlm_image images[3] = {small ? noise(1, 64, 32, 3) : noise(1, 256, 256, 3), noise(2, 32, 32, 3),
                                  small ? noise(3, 40, 32, 1) : noise(3, 100, 128, 1)};
    (void)format;
    /* An interpreter has kernels to check; how many of what they choose from is the host's affair. */
    const size_t count = small && test_is_opencl(device) ? 1 : sizeof asked / sizeof *asked;
    for (size_t i = 0; i < count; ++i) check_budget(device, images, 3, asked[i]);
    tvlm_export *export = made(device, tvlm_export_params(.budget = 2));
    refused(tvlm_export_run(export, images, 3, NULL, NULL), TVLM_ERROR_ARGUMENT, "2 tokens for 3 pictures");
    assert_int_equal(tvlm_export_tensor_count(export), 0);
    tvlm_export_destroy(&export);
    for (int i = 0; i < 3; ++i) drop(&images[i]);
}

/* Pictures of one row of tokens, and how many of each are selected, as the manual's rule has it: a share that is
 * rounded down and at least 1; what is too much is taken from whoever has most, the first of several; what is
 * left over goes to the first that has tokens left. */
static void shares(tvlm_device *device, tvlm_format format) {
    enum { PICTURES = 4, SIDE = 32 };
    static const struct {
        int32_t tokens[PICTURES], budget, selected[PICTURES];
    } rows[] = {{{12, 4}, 8, {6, 2}},
                {{1, 1, 30}, 8, {1, 1, 6}},
                {{1, 1, 8, 8}, 5, {1, 1, 1, 2}},
                {{1, 3, 4}, 7, {1, 3, 3}},
                {{4, 3, 1}, 7, {4, 2, 1}},
                {{7, 8, 11, 12}, 0, {1, 2, 2, 3}}}; /* a quarter */
    (void)format;
    if (test_small() && test_is_opencl(device)) return; /* it is the host's affair, as above */
    for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r) {
        tvlm_image images[PICTURES];
        int32_t count = 0;
        tvlm_export *export = made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN3_VL, .min_pixels = 1,
                                                              .budget = rows[r].budget));
        for (; count < PICTURES && rows[r].tokens[count] > 0; ++count)
            images[count] = noise((uint64_t)count + 1, rows[r].tokens[count] * SIDE, SIDE, 3);
        run(export, images, count, NULL);
        for (int32_t i = 0; i < count; ++i) {
            tvlm_export_picture picture;
            assert_int_equal(tvlm_export_get_picture(export, i, &picture), TVLM_OK);
            assert_int_equal(picture.tokens, rows[r].tokens[i]);
            if (picture.selected != rows[r].selected[i])
                fail_msg("row %zu: %d of picture %d", r, (int)picture.selected, (int)i);
            drop(&images[i]);
        }
        tvlm_export_destroy(&export);
    }
}

/* A share is one of each image's tokens, or of a video's, and the tokens are those of a budget of as many. */
static void share_of_each(tvlm_device *device, tvlm_format format) {
    static const struct {
        struct tvlm_export_params params;
        float share;
        int32_t tokens, selected; /* of each picture; of the video of all */
    } rows[] = {
        {{.model = TVLM_EXPORT_CLIP, .side = 56, .patch = 14}, 0.5f, 16, 8},
        {{.model = TVLM_EXPORT_SIGLIP, .side = 48}, 0.3f, 9, 2},
        {{.model = TVLM_EXPORT_LLAVA, .side = 42, .strategy = TVLM_STRATEGY_GRID}, 1.0f, 9, 9},
        {{.model = TVLM_EXPORT_QWEN2_VL, .min_pixels = 1, .strategy = TVLM_STRATEGY_GRID}, 0.7f, 6, 4},
        {{.model = TVLM_EXPORT_QWEN2_VL, .min_pixels = 1, .video = true}, 0.25f, 6, 1}};
    const tvlm_image images[2] = {noise(1, 84, 56, 3), noise(2, 84, 56, 3)};
    (void)format;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r) {
        struct tvlm_export_params params = rows[r].params;
        const int32_t count = params.video ? 1 : 2;
        tvlm_export_tensor t, counted;
        params.spending.share = rows[r].share;
        tvlm_export *export = made(device, &params);
        run(export, images, 2, NULL);
        for (int32_t i = 0; i < count; ++i) {
            tvlm_export_picture picture;
            assert_int_equal(tvlm_export_get_picture(export, i, &picture), TVLM_OK);
            assert_int_equal(picture.tokens, rows[r].tokens);
            assert_int_equal(picture.selected, rows[r].selected);
        }
        int64_t *const chosen = take(export, "selected_indices", &t);
        tvlm_export_destroy(&export);
        params.spending.share = 0.0f;
        params.budget = count * rows[r].selected;
        export = made(device, &params);
        run(export, images, 2, NULL);
        int64_t *const same = take(export, "selected_indices", &counted);
        assert_int_equal(t.bytes, counted.bytes);
        assert_memory_equal(chosen, same, t.bytes);
        free(chosen);
        free(same);
        tvlm_export_destroy(&export);
    }
    tvlm_export *export =
        made(device, tvlm_export_params(.model = TVLM_EXPORT_SIGLIP, .side = 48, .spending.share = 0.1f));
    refused(tvlm_export_run(export, images, 2, NULL, NULL), TVLM_ERROR_ARGUMENT,
            "a share of 0.1 of 9 tokens is less than one");
    tvlm_export_destroy(&export);
    for (int i = 0; i < 2; ++i) drop(&images[i]);
}

/* ---- Pixels ---- */

/* A square of the middle, in new memory. */
static float *square(tvlm_device *device, const tvlm_image *image, size_t *bytes) {
    const int32_t side = test_small() ? 28 : 56;
    tvlm_export *export = made(
        device, tvlm_export_params(.model = TVLM_EXPORT_CLIP, .side = side, .score.weights = place_only));
    tvlm_export_tensor tensor;
    run(export, image, 1, NULL);
    float *const values = take(export, "pixel_values", &tensor);
    *bytes = tensor.bytes;
    assert_int_equal(tensor.bytes, (size_t)(3 * side * side) * sizeof(float));
    tvlm_export_destroy(&export);
    return values;
}

/* The same numbers, to the bit. */
static void same_values(tvlm_device *device, const tvlm_image *image, const float *expected,
                        const char *what) {
    size_t bytes;
    float *const values = square(device, image, &bytes);
    if (memcmp(values, expected, bytes) != 0) fail_msg("%s differ", what);
    free(values);
}

static void pixels(tvlm_device *device, tvlm_format format) {
    enum { W = 41, H = 60, C = 4, N = W * H * C };
    const tvlm_image plain = noise(4, W, H, C);
    const uint8_t *bytes = plain.pixels;
    uint16_t *wide = malloc(N * sizeof *wide);
    float *floats = malloc(N * sizeof *floats);
    uint8_t *gaps = malloc((W * C + 7) * H), *opaque = malloc(W * H * 3), *gray = malloc(W * H * 3);
    assert_true(wide != NULL && floats != NULL && gaps != NULL && opaque != NULL && gray != NULL);
    for (int i = 0; i < N; ++i) {
        wide[i] = (uint16_t)(bytes[i] * 256 + 255 - i % 256);
        floats[i] = (float)bytes[i] / 255.0f;
        gaps[i / (W * C) * (W * C + 7) + i % (W * C)] = bytes[i];
        if (i % C < 3) opaque[i / C * 3 + i % C] = bytes[i];
    }
    const tvlm_image images[] = {
        {.pixels = wide, .width = W, .height = H, .channels = C, .type = TVLM_PIXEL_U16},
        {.pixels = floats, .width = W, .height = H, .channels = C, .type = TVLM_PIXEL_F32},
        {.pixels = gaps,
         .width = W,
         .height = H,
         .channels = C,
         .type = TVLM_PIXEL_U8,
         .row_stride = W * C + 7},
        {.pixels = opaque, .width = W, .height = H, .channels = 3, .type = TVLM_PIXEL_U8}};
    const char *const names[] = {"16 bits", "floats", "rows with gaps", "pixels without alpha"};
    (void)format;
    size_t size;
    float *expected = square(device, &plain, &size);
    for (int i = 0; i < 4; ++i) same_values(device, &images[i], expected, names[i]);
    free(expected);
    for (int i = 0; i < W * H * 3; ++i) gray[i] = bytes[i / 3];
    const tvlm_image one = {.pixels = bytes, .width = W, .height = H, .channels = 1, .type = TVLM_PIXEL_U8},
                     three = {.pixels = gray, .width = W, .height = H, .channels = 3, .type = TVLM_PIXEL_U8};
    expected = square(device, &three, &size);
    same_values(device, &one, expected, "gray and equal channels");
    free(expected);
    /* Gray of 16 bits is clipped, as Pillow does it. */
    for (int i = 0; i < W * H; ++i) {
        wide[i] = (uint16_t)(2 * bytes[i]);
        gray[i] = (uint8_t)(wide[i] > 255 ? 255 : wide[i]);
    }
    const tvlm_image deep = {.pixels = wide, .width = W, .height = H, .channels = 1, .type = TVLM_PIXEL_U16},
                     flat = {.pixels = gray, .width = W, .height = H, .channels = 1, .type = TVLM_PIXEL_U8};
    expected = square(device, &flat, &size);
    same_values(device, &deep, expected, "gray of 16 bits and what it is clipped to");
    free(expected);
    free(gray);
    free(opaque);
    free(gaps);
    free(floats);
    free(wide);
    drop(&plain);
}

/* ---- Again ---- */

/* Other sizes and numbers of pictures in between leave no trace; two runs are equal to the bit. */
static void repeated(tvlm_device *device, tvlm_format format) {
    const bool small = test_small();
    const tvlm_image images[3] = {small ? noise(5, 56, 28, 3) : noise(5, 150, 120, 3),
                                  small ? noise(6, 60, 56, 3) : noise(6, 300, 310, 3),
                                  small ? noise(7, 28, 57, 4) : noise(7, 57, 80, 4)};
    tvlm_export *export = made(
        device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_5_VL, .min_pixels = 784, .format = format));
    void *first[8];
    tvlm_export_tensor tensor;
    run(export, &images[0], 1, NULL);
    const int32_t count = tvlm_export_tensor_count(export);
    assert_int_equal(count, 8);
    for (int32_t i = 0; i < count; ++i) {
        assert_int_equal(tvlm_export_get_tensor(export, i, &tensor), TVLM_OK);
        first[i] = take(export, tensor.name, &tensor);
    }
    run(export, images, 3, NULL);
    if (!small) run(export, &images[1], 2, NULL);
    run(export, &images[0], 1, NULL);
    for (int32_t i = 0; i < count; ++i) {
        assert_int_equal(tvlm_export_get_tensor(export, i, &tensor), TVLM_OK);
        void *again = take(export, tensor.name, &tensor);
        assert_memory_equal(again, first[i], tensor.bytes);
        free(again);
        free(first[i]);
    }
    tvlm_export_destroy(&export);
    for (int i = 0; i < 3; ++i) drop(&images[i]);
}

/* ---- Where they are ---- */

static void check_memory(tvlm_device *device, cl_mem memory, const float *expected, size_t bytes) {
    tvlm_buffer *buffer = NULL;
    float *got = malloc(bytes);
    assert_non_null(got);
    assert_int_equal(device->backend->buffer_wrap(device, memory, false, &buffer), TVLM_OK);
    assert_int_equal(device->backend->buffer_read(device, buffer, 0, bytes, got), TVLM_OK);
    assert_memory_equal(got, expected, bytes);
    device->backend->buffer_destroy(device, &buffer);
    free(got);
}

/* The second picture's part of both tensors, in the device's own memory. */
static void native(tvlm_device *device, tvlm_format format) {
    const bool small = test_small();
    const tvlm_image images[2] = {small ? noise(8, 56, 28, 3) : noise(8, 90, 60, 3),
                                  small ? noise(9, 30, 60, 3) : noise(9, 64, 100, 3)};
    tvlm_export *export = made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .min_pixels = 784,
                                                          .score.weights = place_only, .format = format));
    cl_mem values = NULL, selected = NULL;
    tvlm_export_tensor all, some;
    tvlm_export_picture first;
    run(export, images, 2, NULL);
    assert_int_equal(tvlm_export_get_opencl(export, 2, &values, &selected), TVLM_ERROR_ARGUMENT);
    if (device->info.type == TVLM_DEVICE_REFERENCE) {
        refused(tvlm_export_get_opencl(export, 1, &values, NULL), TVLM_ERROR_UNSUPPORTED, "no OpenCL memory");
    } else {
        float *rows = take(export, "pixel_values", &all),
              *chosen = take(export, "selected_pixel_values", &some);
        assert_int_equal(tvlm_export_get_opencl(export, 1, &values, &selected), TVLM_OK);
        assert_int_equal(tvlm_export_get_opencl(export, 1, NULL, NULL), TVLM_OK);
        assert_int_equal(tvlm_export_get_picture(export, 0, &first), TVLM_OK);
        const size_t row = 4 * 1176, before = row * (size_t)first.tokens,
                     left_out = row * (size_t)first.selected;
        check_memory(device, values, rows + before, all.bytes - before * sizeof *rows);
        check_memory(device, selected, chosen + left_out, some.bytes - left_out * sizeof *chosen);
        free(chosen);
        free(rows);
    }
    tvlm_export_destroy(&export);
    for (int i = 0; i < 2; ++i) drop(&images[i]);
}

/* ---- Refusals ---- */

static void bad_params(tvlm_device *device, tvlm_format format) {
    static const float nan_weight[3] = {1.0f, NAN, 0.0f};
    const struct {
        struct tvlm_export_params params;
        const char *line;
    } cases[] = {
        {{.model = (tvlm_export_model)TVLM_EXPORT_MODELS}, "no model 8"},
        {{.model = (tvlm_export_model)-1}, "no model -1"},
        {{.budget = -1}, "budget of -1"},
        {{.budget = 5, .all = true}, "all tokens, and a budget"},
        {{.score.weights = nan_weight}, "weight 1"},
        {{.score.stride = 8.0f}, "takes weights and scorer"},
        {{.score.keep_pass = true}, "takes weights and scorer"},
        {{.model = TVLM_EXPORT_CLIP, .max_pixels = 1000}, "clip has one size"},
        {{.model = TVLM_EXPORT_LLAVA, .video = true}, "llava takes no video"},
        {{.model = TVLM_EXPORT_QWEN3_VL, .patch = 14}, "own size and patch"},
        {{.min_pixels = -5}, "below 0"},
        {{.model = TVLM_EXPORT_SIGLIP, .side = 15}, "under one patch"},
        {{.model = TVLM_EXPORT_SIGLIP, .side = 20000}, "side of 20000"},
    };
    tvlm_export *export = NULL;
    (void)format;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        refused(tvlm_export_create(device, &cases[i].params, &export), TVLM_ERROR_ARGUMENT, cases[i].line);
    assert_null(export);
    assert_int_equal(tvlm_export_create(device, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_export_create(NULL, NULL, &export), TVLM_ERROR_ARGUMENT);
    tvlm_export_destroy(NULL);
    tvlm_export_destroy(&export);
}

static void bad_images(tvlm_device *device, tvlm_format format) {
    const struct {
        int32_t width, height;
        const char *line;
    } cases[] = {{3201, 16, "aspect ratio of 200.1"}, {1, 201, "aspect ratio of 201"}, {0, 5, "0x5 pixels"}};
    uint8_t *black = calloc(3201 * 16, 3);
    tvlm_export *export = made(
        device, tvlm_export_params(.min_pixels = 1024, .score.weights = place_only)); /* one token of good */
    tvlm_export_tensor tensor;
    float value;
    (void)format;
    assert_non_null(black);
    const tvlm_image good = u8_image(black, 32, 32, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const tvlm_image images[2] = {good, u8_image(black, cases[i].width, cases[i].height, 3)};
        run(export, &good, 1, NULL);
        assert_int_equal(tvlm_export_tensor_count(export), 8);
        refused(tvlm_export_run(export, images, 2, NULL, NULL), TVLM_ERROR_ARGUMENT, cases[i].line);
        assert_int_equal(tvlm_export_tensor_count(export), 0);
        assert_int_equal(tvlm_export_failed_image(export), 1);
        assert_int_equal(tvlm_export_get_tensor(export, 0, &tensor), TVLM_ERROR_ARGUMENT);
    }
    refused(tvlm_export_run(export, &good, 0, NULL, NULL), TVLM_ERROR_ARGUMENT, "no pictures");
    assert_int_equal(tvlm_export_failed_image(export), -1);
    assert_int_equal(tvlm_export_run(export, NULL, 1, NULL, NULL), TVLM_ERROR_ARGUMENT);
    run(export, &good, 1, NULL);
    assert_int_equal(tvlm_export_failed_image(export), -1);
    refused(tvlm_export_read(export, 0, 4, &value), TVLM_ERROR_ARGUMENT, "room for 4 bytes");
    assert_int_equal(tvlm_export_read(export, 8, 4, &value), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_export_read(export, -1, 4, &value), TVLM_ERROR_ARGUMENT);
    tvlm_export_destroy(&export);
    export = made(device, tvlm_export_params(.video = true));
    const tvlm_image frames[2] = {good, u8_image(black, 32, 33, 3)};
    refused(tvlm_export_run(export, frames, 2, NULL, NULL), TVLM_ERROR_ARGUMENT, "frame 1 has 32x33");
    assert_int_equal(tvlm_export_failed_image(export), 1);
    refused(tvlm_export_run(export, frames, 1, NULL, NULL), TVLM_ERROR_ARGUMENT, "frames: 1;");
    tvlm_export_destroy(&export);
    export = made(device, tvlm_export_params(.max_pixels = 1023));
    refused(tvlm_export_run(export, &good, 1, NULL, NULL), TVLM_ERROR_ARGUMENT, "one token has 1024");
    tvlm_export_destroy(&export);
    free(black);
}

/* Sizes that no device here could hold: refused before anything is allocated. */
static void too_large(tvlm_device *device, tvlm_format format) {
    uint8_t *black = calloc(64 * 64, 3);
    const size_t held = device->held;
    tvlm_image images[768];
    (void)format;
    assert_non_null(black);
    for (int i = 0; i < 768; ++i) images[i] = u8_image(black, 64, 64, 3);
    tvlm_export *export =
        made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .min_pixels = 1000000000));
    refused(tvlm_export_run(export, images, 1, NULL, NULL), TVLM_ERROR_DEVICE_MEMORY, "of pixel_values");
    tvlm_export_destroy(&export);
    export =
        made(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .min_pixels = 1000000, .video = true));
    refused(tvlm_export_run(export, images, 768, NULL, NULL), TVLM_ERROR_DEVICE_MEMORY, "768 x");
    assert_int_equal(tvlm_export_failed_image(export), -1);
    tvlm_export_destroy(&export);
    assert_int_equal(device->held, held);
    free(black);
}

/* What the three processors make of 1920 x 1080. */
static void test_full_hd(void **state) {
    const struct {
        tvlm_export_model model;
        int64_t most;
        int32_t height, width;
    } cases[] = {{TVLM_EXPORT_QWEN2_VL, 1003520, 728, 1316},
                 {TVLM_EXPORT_QWEN2_VL, 12845056, 1092, 1932},
                 {TVLM_EXPORT_QWEN3_VL, 16777216, 1088, 1920}};
    (void)state;
    for (int i = 0; i < 3; ++i) {
        tvlm_export_processor processor;
        int32_t width = 0, height = 0;
        assert_int_equal(tvlm_export_processor_get(cases[i].model, &processor), TVLM_OK);
        processor.max_pixels = cases[i].most;
        assert_int_equal(tvlm_smart_resize(&processor, 1920, 1080, NULL, &width, &height), TVLM_OK);
        assert_int_equal(width, cases[i].width);
        assert_int_equal(height, cases[i].height);
    }
    for (int i = 0; i < TVLM_EXPORT_MODELS; ++i)
        assert_int_equal(tvlm_export_model_find(tvlm_export_model_name((tvlm_export_model)i)), i);
    assert_int_equal(tvlm_export_model_find("qwen"), -1);
    assert_int_equal(tvlm_export_model_find(NULL), -1);
    assert_string_equal(tvlm_export_model_name((tvlm_export_model)99), "unknown");
}

/* What smart_resize of transformers 4.57.1's video_processing_qwen3_vl.py returned, with these limits. */
static void test_video_sizes(void **state) {
    const struct {
        int32_t frames, height, width;
        int64_t least, most;
        int32_t resized_height, resized_width;
    } cases[] = {{12, 1080, 1920, 0, 0, 1088, 1920},
                 {768, 1080, 1920, 0, 0, 128, 224},
                 {768, 2160, 3840, 0, 0, 128, 224},
                 {6, 2048, 2048, 0, 0, 2048, 2048},
                 {7, 2048, 2048, 0, 0, 1888, 1888},
                 {2, 32, 32, 0, 0, 64, 64},
                 {7, 33, 47, 0, 0, 32, 32},
                 {2, 60, 40, 0, 0, 64, 32},
                 {5, 32, 6400, 0, 0, 32, 6400},
                 {2, 48, 48, 16384, 100000, 96, 96},
                 {3, 48, 48, 16384, 100000, 64, 64},
                 {4, 200, 300, 4096, 100000, 128, 192},
                 {5, 200, 300, 4096, 100000, 96, 160},
                 /* As in 5.23, sides under a token. */
                 {2, 31, 64, 0, 0, 32, 64},
                 {5, 10, 100, 0, 0, 32, 320},
                 {2, 1, 1, 0, 0, 64, 64},
                 {7, 5, 900, 0, 0, 32, 5760}};
    int32_t width = 0, height = 0;
    tvlm_export_processor processor;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(tvlm_export_processor_get(TVLM_EXPORT_QWEN3_VL, &processor), TVLM_OK);
        if (cases[i].least > 0) processor.video_min_pixels = cases[i].least;
        if (cases[i].most > 0) processor.video_max_pixels = cases[i].most;
        assert_int_equal(tvlm_smart_resize_video(&processor, cases[i].frames, cases[i].width, cases[i].height,
                                                 NULL, &width, &height),
                         TVLM_OK);
        if (width != cases[i].resized_width || height != cases[i].resized_height)
            fail_msg("%d frames of %dx%d become %dx%d", (int)cases[i].frames, (int)cases[i].width,
                     (int)cases[i].height, (int)width, (int)height);
    }
    const int32_t refused_sizes[][3] = {{1, 64, 64}, {2, 201, 1}, {2, 6432, 32}, {0, 64, 64}};
    for (size_t i = 0; i < 4; ++i)
        assert_int_equal(tvlm_smart_resize_video(&processor, refused_sizes[i][0], refused_sizes[i][1],
                                                 refused_sizes[i][2], NULL, &width, &height),
                         TVLM_ERROR_ARGUMENT);
    /* The others count each frame. */
    assert_int_equal(tvlm_export_processor_get(TVLM_EXPORT_QWEN2_VL, &processor), TVLM_OK);
    assert_int_equal(tvlm_smart_resize_video(&processor, 768, 1920, 1080, NULL, &width, &height), TVLM_OK);
    assert_true(width == 1932 && height == 1092);
}

DEVICE_CHECKS(by_query, by_features, by_inputs, by_frames, by_pairs, budgets, shares, share_of_each, pixels,
              repeated, native, bad_params, bad_images, too_large)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_hd), cmocka_unit_test(test_video_sizes),
                                       cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
