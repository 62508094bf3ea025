/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ragged.c: batches of images of different sizes. Whatever is read of one of their images is, to the bit, what is read
 * of the image alone, which bleeding from a neighbour or from what lies beyond its border would change.
 */
#include "network_helper.h"
#include "opencl/backend.h"
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/logpolar.h"

/* Sides of 1, odd and even ones, larger and smaller than a cell, one whose cells have a level more than it has, and the largest width and height in different images. */
static const int32_t sizes[][2] = {{97, 61}, {1, 1}, {16, 16}, {33, 128}, {130, 7},
                                   {64, 64}, {5, 1}, {31, 30}, {97, 61}};
enum { IMAGES = sizeof sizes / sizeof sizes[0] };

static const int32_t channels[] = {TVLM_CHANNEL_R,
                                   TVLM_CHANNEL_G,
                                   TVLM_CHANNEL_B,
                                   TVLM_CHANNEL_EDGES,
                                   TVLM_CHANNEL_LOW,
                                   TVLM_CHANNEL_X,
                                   TVLM_CHANNEL_Y,
                                   TVLM_CHANNEL_ECCENTRICITY,
                                   TVLM_CHANNEL_LAPLACIAN,
                                   TVLM_CHANNEL_ENTROPY,
                                   TVLM_CHANNEL_SHARPNESS,
                                   TVLM_CHANNEL_EDGE_X,
                                   TVLM_CHANNEL_RGB_VAR,
                                   TVLM_CHANNEL_RGB_MEAN,
                                   TVLM_CHANNEL_ROPE_X_SIN_0 + 3};
enum { CHANNELS = sizeof channels / sizeof channels[0] };

static uint8_t *pixels_of(int32_t index) {
    uint64_t random = 40 + (uint64_t)index;
    return test_random_pixels(&random, sizes[index][0], sizes[index][1], 3);
}

static void set_image(tvlm_stack *stack, int32_t index, int32_t which) {
    uint8_t *const pixels = pixels_of(which);
    const tvlm_image image = u8_image(pixels, sizes[which][0], sizes[which][1], 3);
    assert_int_equal(tvlm_stack_set_image(stack, index, &image), TVLM_OK);
    free(pixels);
}

/* `chunk_images` 0: one chunk, also on CPUs, whose chunks are small for their caches' sake. */
static tvlm_stack *batch_of(tvlm_device *device, tvlm_format format, int32_t chunk_images) {
    const int32_t slices = device->info.image_slices_max, units = device->info.compute_units;
    tvlm_stack *stack = NULL;
    device->info.compute_units = 1024;
    if (chunk_images > 0) device->info.image_slices_max = 16 * chunk_images;
    const tvlm_status status = tvlm_stack_create(
        device, tvlm_stack_params(.images = IMAGES, .format = format, .sizes = sizes[0]), &stack);
    device->info.image_slices_max = slices;
    device->info.compute_units = units;
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
    assert_int_equal(stack->chunk_images, chunk_images > 0 ? chunk_images : IMAGES);
    for (int32_t i = 0; i < IMAGES; ++i) set_image(stack, i, i);
    return stack;
}

static tvlm_stack *alone(tvlm_device *device, tvlm_format format, int32_t index) {
    uint8_t *const pixels = pixels_of(index);
    const tvlm_image image = u8_image(pixels, sizes[index][0], sizes[index][1], 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    free(pixels);
    return stack;
}

/* free() it. */
static float *read_of(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level, size_t *count) {
    int32_t width, height;
    assert_int_equal(tvlm_stack_channel_size_of(stack, index, channel, level, &width, &height), TVLM_OK);
    *count = (size_t)width * (size_t)height;
    float *const texels = malloc(*count * sizeof *texels);
    assert_non_null(texels);
    assert_int_equal(tvlm_stack_read(stack, index, channel, level, *count, texels), TVLM_OK);
    return texels;
}

static void same(const char *what, int32_t index, int32_t channel, const float *got, const float *expected,
                 size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (!(got[i] == expected[i]))
            fail_msg("%s of image %d, %dx%d, channel %d: value %zu is %.9g, alone %.9g", what, (int)index,
                     (int)sizes[index][0], (int)sizes[index][1], (int)channel, i, (double)got[i],
                     (double)expected[i]);
}

/* Every level of a channel. */
static void same_levels_of(tvlm_stack *batch, int32_t index, tvlm_stack *one, int32_t channel) {
    int32_t width = 0, height = 0;
    for (int32_t level = 0; level == 0 || width > 1 || height > 1; ++level) {
        size_t count, expected_count;
        float *const got = read_of(batch, index, channel, level, &count);
        float *const expected = read_of(one, 0, channel, level, &expected_count);
        assert_int_equal(count, expected_count);
        same("a level", index, channel, got, expected, count);
        assert_int_equal(tvlm_stack_channel_size_of(one, 0, channel, level, &width, &height), TVLM_OK);
        free(got);
        free(expected);
    }
    refused(tvlm_stack_channel_size_of(batch, index, channel, 9, &width, &height), TVLM_ERROR_ARGUMENT,
            "level 9 of a channel of");
}

static void same_levels(tvlm_stack *batch, int32_t index, tvlm_stack *one) {
    for (int32_t c = 0; c < CHANNELS; ++c) same_levels_of(batch, index, one, channels[c]);
}

/* Inside, on the border, beyond it, and between levels, also beyond the image's last one. */
static void same_samples(tvlm_stack *batch, int32_t index, tvlm_stack *one) {
    enum { POINTS = 60 };
    tvlm_sample_point points[POINTS];
    float got[POINTS * CHANNELS], expected[POINTS * CHANNELS];
    uint64_t random = 9 + (uint64_t)index;
    const float width = (float)sizes[index][0], height = (float)sizes[index][1];
    for (int i = 0; i < POINTS; ++i) {
        points[i] = (tvlm_sample_point){.x = width * (1.4f * test_random_unit(&random) - 0.2f),
                                        .y = height * (1.4f * test_random_unit(&random) - 0.2f),
                                        .level = 9.0f * test_random_unit(&random)};
        if (i % 6 == 0) points[i].x = i % 12 == 0 ? width : width - 0.5f;
        if (i % 5 == 0) points[i].level = floorf(points[i].level);
    }
    assert_int_equal(tvlm_stack_sample(one, points, POINTS, channels, CHANNELS, expected), TVLM_OK);
    for (int i = 0; i < POINTS; ++i) points[i].index = index;
    assert_int_equal(tvlm_stack_sample(batch, points, POINTS, channels, CHANNELS, got), TVLM_OK);
    for (int i = 0; i < POINTS; ++i)
        for (int32_t c = 0; c < CHANNELS; ++c)
            same("a sample", index, channels[c], &got[i * CHANNELS + c], &expected[i * CHANNELS + c], 1);
}

static void same_packed(tvlm_packed *got, int32_t index, tvlm_stack *one,
                        const struct tvlm_pack_params *params) {
    tvlm_packed *packed = NULL;
    int32_t width, height, own_width, own_height;
    assert_int_equal(tvlm_stack_pack(one, params, &packed), TVLM_OK);
    assert_int_equal(tvlm_packed_size_of(packed, 0, &width, &height), TVLM_OK);
    assert_int_equal(tvlm_packed_size_of(got, index, &own_width, &own_height), TVLM_OK);
    assert_true(width == own_width && height == own_height);
    const size_t plane = (size_t)width * (size_t)height, count = plane * (size_t)params->channel_count;
    float *const expected = malloc(count * sizeof *expected);
    float *const planes = malloc(count * sizeof *planes);
    assert_true(expected != NULL && planes != NULL);
    assert_int_equal(tvlm_packed_read(packed, 0, count, expected), TVLM_OK);
    assert_int_equal(tvlm_packed_read(got, index, count, planes), TVLM_OK);
    for (int32_t c = 0; c < params->channel_count; ++c)
        same("packed", index, params->channels[c], planes + (size_t)c * plane, expected + (size_t)c * plane,
             plane);
    free(expected);
    free(planes);
    tvlm_packed_destroy(&packed);
}

static void check_equal(tvlm_device *device, tvlm_format format, int32_t chunk_images) {
    static const float levels[] = {0.0f, 1.0f, 2.5f, 6.0f, 40.0f};
    enum { PACKED = sizeof levels / sizeof levels[0] };
    tvlm_packed *packed[PACKED];
    tvlm_stack *const batch = batch_of(device, format, chunk_images);
    struct tvlm_pack_params params = {.channels = channels, .channel_count = CHANNELS};
    for (int i = 0; i < PACKED; ++i) {
        params.level = levels[i];
        assert_int_equal(tvlm_stack_pack(batch, &params, &packed[i]), TVLM_OK);
    }
    for (int32_t index = 0; index < IMAGES; index += test_quick() && index > 3 ? 3 : 1) {
        tvlm_stack *one = alone(device, format, index);
        same_levels(batch, index, one);
        same_samples(batch, index, one);
        for (int i = 0; i < PACKED; ++i) {
            params.level = levels[i];
            same_packed(packed[i], index, one, &params);
        }
        tvlm_stack_destroy(&one);
    }
    for (int i = 0; i < PACKED; ++i) tvlm_packed_destroy(&packed[i]);
    tvlm_stack *gone = batch;
    tvlm_stack_destroy(&gone);
}

static void check_one_chunk(tvlm_device *device, tvlm_format format) {
    check_equal(device, format, 0);
}

static void check_chunks(tvlm_device *device, tvlm_format format) {
    check_equal(device, format, 4);
}

/* Bytes, whose kernels are told of each texture what it is. They are a format of their own: each storage that holds them is
 * tried once, whatever the format of the target is. */
static bool has_bytes(tvlm_device *device, tvlm_format format) {
    const bool buffers = device->info.storage == TVLM_STORAGE_BUFFER;
    return test_stores_bytes(device) && format == (buffers ? TVLM_FORMAT_F32 : TVLM_FORMAT_F16);
}

static void check_bytes(tvlm_device *device, tvlm_format format) {
    if (has_bytes(device, format)) check_equal(device, TVLM_FORMAT_U8, 4);
}

/* Formulas alone, which lie in no texture that says how many images there are. */
static void check_formulas(tvlm_device *device, tvlm_format format) {
    static const int32_t formulas[] = {TVLM_CHANNEL_X, TVLM_CHANNEL_ECCENTRICITY};
    const struct tvlm_pack_params params = {.channels = formulas, .channel_count = 2};
    tvlm_stack *batch = batch_of(device, format, 0);
    tvlm_packed *packed = NULL;
    assert_int_equal(tvlm_stack_pack(batch, &params, &packed), TVLM_OK);
    for (int32_t index = 0; index < IMAGES; ++index) {
        tvlm_stack *one = alone(device, format, index);
        tvlm_sample_point point = {.x = 0.3f * (float)sizes[index][0], .y = 0.5f, .level = 0.5f};
        float expected[2], got[2];
        assert_int_equal(tvlm_stack_sample(one, &point, 1, formulas, 2, expected), TVLM_OK);
        point.index = index;
        assert_int_equal(tvlm_stack_sample(batch, &point, 1, formulas, 2, got), TVLM_OK);
        same("a sample of formulas", index, formulas[0], got, expected, 2);
        same_packed(packed, index, one, &params);
        tvlm_stack_destroy(&one);
    }
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&batch);
}

/* A new image in one place changes that image and no other; one that nobody set is black; one of another size is brought to
 * the size of its place. */
static void check_places(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = NULL;
    size_t count;
    int32_t width, height;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.layout = "r,edges", .images = 3, .format = format,
                                                         .sizes = (const int32_t[]){31, 30, 64, 64, 16, 16}),
                                       &stack),
                     TVLM_OK);
    set_image(stack, 0, 7);
    set_image(stack, 2, 2);
    float *const black = read_of(stack, 1, TVLM_CHANNEL_R, 2, &count);
    for (size_t i = 0; i < count; ++i) assert_true(black[i] == 0.0f);
    free(black);
    float *const before = read_of(stack, 0, TVLM_CHANNEL_EDGES, 1, &count);
    set_image(stack, 1, 5);
    float *const after = read_of(stack, 0, TVLM_CHANNEL_EDGES, 1, &count);
    assert_memory_equal(before, after, count * sizeof *after);
    free(before);
    free(after);
    set_image(stack, 2, 0); /* 97 x 61 */
    assert_int_equal(tvlm_stack_working_size(stack, 2, &width, &height), TVLM_OK);
    assert_true(width == 16 && height == 16);
    free(read_of(stack, 2, TVLM_CHANNEL_R, 0, &count));
    assert_int_equal(count, 256);
    tvlm_stack_destroy(&stack);
}

/* What a network makes of one image of a batch of these parameters, beside what it makes of that alone. */
static void same_outputs(tvlm_device *device, struct tvlm_stack_params params, tvlm_stack *batch,
                         int32_t index) {
    static const int32_t outputs[2] = {TVLM_CHANNEL_LEARNED_0, TVLM_CHANNEL_LEARNED_0 + 4};
    tvlm_sample_point point = {.x = 2.3f, .y = 0.7f, .level = 1.2f};
    float got[2], expected[2];
    tvlm_stack *one = NULL;
    params.images = 1;
    params.sizes = NULL;
    params.width = sizes[index][0];
    params.height = sizes[index][1];
    assert_int_equal(tvlm_stack_create(device, &params, &one), TVLM_OK);
    set_image(one, 0, index);
    for (int i = 0; i < 2; ++i) same_levels_of(batch, index, one, outputs[i]);
    assert_int_equal(tvlm_stack_sample(one, &point, 1, outputs, 2, expected), TVLM_OK);
    point.index = index;
    assert_int_equal(tvlm_stack_sample(batch, &point, 1, outputs, 2, got), TVLM_OK);
    same("a sample of a network", index, outputs[0], got, expected, 2);
    tvlm_stack_destroy(&one);
}

/* Inputs come from grids of two sizes and from a formula, at level 0 and at one that the smallest images have not. */
static void networks(tvlm_device *device, tvlm_format format) {
    static const test_layer layers[] = {{40, 3, 1, TVLM_ACTIVATION_RELU},   {9, 3, 2, TVLM_ACTIVATION_NONE},
                                        {64, 3, 1, TVLM_ACTIVATION_RELU},   {64, 3, 1, TVLM_ACTIVATION_RELU},
                                        {5, 1, 1, TVLM_ACTIVATION_SIGMOID}, {0, 0, 0, TVLM_ACTIVATION_NONE}};
    static const int32_t inputs[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY,
                                     TVLM_CHANNEL_ECCENTRICITY, TVLM_CHANNEL_G};
    uint64_t random = 77;
    test_network made;
    test_network_make(&made, 5, layers, true, &random);
    made.network.inputs = inputs;
    for (int32_t level = 0; level < 4; level += 3) {
        const struct tvlm_stack_params params = {.layout = "net0,net4,entropy",
                                                 .images = IMAGES,
                                                 .format = format,
                                                 .network = &made.network,
                                                 .sizes = sizes[0]};
        tvlm_stack *batch = NULL;
        made.network.level = level;
        if (tvlm_stack_create(device, &params, &batch) != TVLM_OK) fail_msg("%s", test_last_log());
        for (int32_t i = 0; i < IMAGES; ++i) set_image(batch, i, i);
        for (int32_t i = 0; i < IMAGES; i += test_quick() && i > 0 ? 2 : 1)
            same_outputs(device, params, batch, i);
        tvlm_stack_destroy(&batch);
    }
    test_network_release(&made);
}

/*
 * Images end at each layer of a network where they end alone, and what lies beyond is 0 there. So it is between launches: tuned
 * as for a GPU, local memory does not hold all layers.
 */
static void check_network(tvlm_device *device, tvlm_format format) {
    networks(device, format);
    if (has_bytes(device, format)) networks(device, TVLM_FORMAT_U8);
    if (device->info.type == TVLM_DEVICE_REFERENCE) return;
    opencl_tuning *const tuning = &((opencl_device *)device)->tuning;
    const opencl_tuning usual = *tuning;
    tuning->run = 1;
    networks(device, format);
    *tuning = usual;
}

/* Levels that are smoothed, whose edges are repeated at each image's own border. */
static void smoothed(tvlm_device *device, tvlm_format format) {
    tvlm_stack *batch = batch_of(device, format, 0);
    assert_int_equal(tvlm_stack_set_reduce(batch, TVLM_GAUSSIAN), TVLM_OK);
    for (int32_t index = 0; index < IMAGES; index += 3) {
        tvlm_stack *one = alone(device, format, index);
        assert_int_equal(tvlm_stack_set_reduce(one, TVLM_GAUSSIAN), TVLM_OK);
        same_levels(batch, index, one);
        tvlm_stack_destroy(&one);
    }
    tvlm_stack_destroy(&batch);
}

static void check_gaussian(tvlm_device *device, tvlm_format format) {
    smoothed(device, format);
    if (has_bytes(device, format)) smoothed(device, TVLM_FORMAT_U8);
}

/* What asks an image for more than its texels either is right or says that it cannot be done. */
static void check_other_calls(tvlm_device *device, tvlm_format format) {
    static const char *const line = "nothing else is done with it";
    static const int32_t channel = TVLM_CHANNEL_R;
    static const tvlm_position position = {.x = 1.0f, .y = 1.0f, .size = 2.0f};
    static const tvlm_sample_point point = {.x = 16.0f, .y = 60.0f, .index = 3};
    static const float size = 9.0f, share = 1.0f;
    tvlm_stack *batch = batch_of(device, format, 0), *one = alone(device, format, 3);
    const tvlm_image image = {
        .pixels = &share, .type = TVLM_PIXEL_U8, .width = 1, .height = 1, .channels = 1};
    tvlm_footprint footprint, expected;
    tvlm_sample_point same_point = point;
    tvlm_codec_trainer *trainer = NULL;
    tvlm_fit *fit = NULL;
    int32_t columns, rows;
    float values[64];
    same_point.index = 0;
    assert_int_equal(tvlm_stack_structure(one, &same_point, &size, 1, &expected), TVLM_OK);
    assert_int_equal(tvlm_stack_structure(batch, &point, &size, 1, &footprint), TVLM_OK);
    assert_memory_equal(footprint.u, expected.u, sizeof expected.u);
#define REFUSED(CALL) refused(CALL, TVLM_ERROR_ARGUMENT, line)
    REFUSED(tvlm_stack_sample_footprint(batch, &footprint, 1, &channel, 1, values));
    REFUSED(tvlm_score_size(batch, NULL, &columns, &rows));
    REFUSED(tvlm_patches_extract(batch, &position, 1, tvlm_patches_params(.side = 2), sizeof values, values));
    REFUSED(tvlm_logpolar(batch, NULL, 64, values));
    REFUSED(tvlm_stack_send_image(batch, 0, &image));
    REFUSED(tvlm_stack_update_image(batch, 0, &image, NULL, NULL));
    REFUSED(tvlm_stack_set_grid(batch, 0, TVLM_CHANNEL_SALIENCY,
                                tvlm_grid_input(.data = &share, .columns = 1, .rows = 1, .channels = 1)));
    assert_int_equal(
        tvlm_fit_create(tvlm_fit_params(.channels = &channel, .channel_count = 1), &test_log, &fit), TVLM_OK);
    REFUSED(tvlm_fit_add(fit, batch, 0, &share, 1, 1));
    tvlm_fit_destroy(&fit);
    const struct tvlm_codec_trainer_params codec = {
        .channels = (const int32_t[]){TVLM_CHANNEL_R, TVLM_CHANNEL_EDGES}, .channel_count = 2, .k = 1};
    assert_int_equal(tvlm_codec_trainer_create(&codec, &test_log, &trainer), TVLM_OK);
    REFUSED(tvlm_codec_trainer_add(trainer, batch, 0));
    tvlm_codec_trainer_destroy(&trainer);
#undef REFUSED
    tvlm_stack_destroy(&one);
    tvlm_stack_destroy(&batch);
}

static void check_refusals(tvlm_device *device, tvlm_format format) {
    static const int32_t two[] = {8, 9, 3, 0};
    static const float fixation[2] = {1.0f, 1.0f};
    static const int32_t from_saliency = TVLM_CHANNEL_SALIENCY;
    static const char *const output = "net";
    static const tvlm_network_layer layer = {
        .inputs = 1, .outputs = 1, .side = 1, .stride = 1, .weights = fixation};
    static const tvlm_network reader = {.inputs = &from_saliency,
                                        .input_count = 1,
                                        .outputs = &output,
                                        .output_count = 1,
                                        .layers = &layer,
                                        .layer_count = 1};
    tvlm_stack *stack = NULL;
    tvlm_packed *packed = NULL;
    tvlm_selection *selection = NULL;
    float values[64];
    bool has = true;
    const tvlm_sample_point at = {.x = 1.0f};
    const int32_t saliency = TVLM_CHANNEL_SALIENCY;
#define CREATE(LINE, ...)                                                                                    \
    refused(tvlm_stack_create(device, tvlm_stack_params(.format = format, __VA_ARGS__), &stack),             \
            TVLM_ERROR_ARGUMENT, LINE)
    CREATE("image 1 of a batch has 3x0 pixels", .images = 2, .sizes = two);
    CREATE("a size of 8x8 beside the sizes", .width = 8, .height = 8, .images = 1, .sizes = two);
    CREATE("a fixation of images of different sizes", .fixation = fixation, .images = 1, .sizes = two);
    CREATE("a batch of images of different sizes has no 'saliency'", .layout = "r,saliency", .sizes = two);
    CREATE("a batch of images of different sizes has no 'attention'", .layout = "attention", .sizes = two);
    CREATE("has no 'embedding'", .layout = "temporal34", .sizes = two);
    CREATE("has no 'saliency'", .network = &reader, .sizes = two);
    CREATE("-1 images of different sizes", .images = -1, .sizes = two);
#undef CREATE
    const uint8_t pixel[3] = {1, 2, 3};
    const tvlm_image image = u8_image(pixel, 1, 1, 3);
    refused(tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.sizes = two), &stack),
            TVLM_ERROR_ARGUMENT, "sizes of all images of a batch");
    assert_null(stack);
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.format = format, .sizes = two), &stack),
                     TVLM_OK);
    refused(tvlm_stack_sample(stack, &at, 1, &saliency, 1, values), TVLM_ERROR_ARGUMENT, "has no 'saliency'");
    assert_int_equal(tvlm_stack_has_channel(stack, 0, saliency, &has), TVLM_OK);
    assert_false(has);
    refused(tvlm_select(stack, NULL, NULL, &selection), TVLM_ERROR_ARGUMENT, "nothing else is done with it");
    refused(tvlm_score(stack, NULL, NULL, 64, values), TVLM_ERROR_ARGUMENT, "nothing else is done with it");
    refused(tvlm_stack_set_fixation(stack, 1.0f, 1.0f), TVLM_ERROR_ARGUMENT, "each has its own, the middle");
    refused(tvlm_stack_pack(stack, tvlm_pack_params(.width = 4, .height = 4), &packed), TVLM_ERROR_ARGUMENT,
            "which keep their own");
    refused(tvlm_stack_set_image(stack, 1, &image), TVLM_ERROR_ARGUMENT, "image 1 of a stack of 1");
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_one_chunk, check_chunks, check_bytes, check_formulas, check_network, check_gaussian,
                   check_places, check_other_calls, check_refusals)
