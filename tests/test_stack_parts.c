/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stack_parts.c: parts of a stack alone, whose answers can be counted by hand: frames that lie in buffers and
 * images, the colours of NV12, what fits a device, frames that are compared and packed, and what is kept of questions.
 */
#include <math.h>
#include <string.h>

#include "stack/delta.h"
#include "stack/frame.h"
#include "stack/inside.h"
#include "stack/limits.h"
#include "stack/planes.h"
#include "stack_helper.h"

/* ---- Frames in buffers ---- */

static void takes(tvlm_planes *planes) {
    if (tvlm_planes_check(&test_log, planes) != TVLM_OK) fail_msg("'%s'", test_last_log());
}

static void refuses(tvlm_planes planes, const char *line) {
    refused(tvlm_planes_check(&test_log, &planes), TVLM_ERROR_ARGUMENT, line);
}

/* A frame of pixels of one plane, in a buffer of that many bytes. */
static tvlm_planes pixels_in(tvlm_buffer *buffer, size_t bytes, tvlm_pixels pixels) {
    buffer->bytes = bytes;
    return (tvlm_planes){.first = {.memory = buffer}, .pixels = pixels};
}
#define PIXELS(...) ((tvlm_pixels){.width = 4, .height = 3, __VA_ARGS__})

/* The last byte of the last row is the last one that is needed. */
static void test_pixels_within_a_buffer(void **state) {
    tvlm_buffer buffer = {0};
    tvlm_planes planes = pixels_in(&buffer, 36, PIXELS(.channels = 3));
    (void)state;
    takes(&planes);
    assert_int_equal(planes.pixels.row_stride, 12);
    refuses(pixels_in(&buffer, 35, PIXELS(.channels = 3)), "the pixels reach beyond the cl_mem's 35 bytes");
    planes = pixels_in(&buffer, 37, PIXELS(.channels = 3, .offset = 1));
    takes(&planes);
    refuses(pixels_in(&buffer, 36, PIXELS(.channels = 3, .offset = 1)), "beyond the cl_mem's 36 bytes");
    planes = pixels_in(&buffer, 44, PIXELS(.channels = 3, .row_stride = 16));
    takes(&planes);
    assert_int_equal(planes.pixels.row_stride, 16);
    refuses(pixels_in(&buffer, 43, PIXELS(.channels = 3, .row_stride = 16)), "beyond the cl_mem's 43 bytes");
    planes = pixels_in(&buffer, 12, PIXELS(.channels = 1));
    takes(&planes);
    planes = pixels_in(&buffer, 24, PIXELS(.channels = 1, .type = TVLM_PIXEL_U16));
    takes(&planes);
    planes = pixels_in(&buffer, 192, PIXELS(.channels = 4, .type = TVLM_PIXEL_F32));
    takes(&planes);
    refuses(pixels_in(&buffer, 191, PIXELS(.channels = 4, .type = TVLM_PIXEL_F32)), "191 bytes");
    /* Sums that do not fit a size_t. */
    refuses(pixels_in(&buffer, SIZE_MAX, PIXELS(.channels = 3, .row_stride = SIZE_MAX / 2 + 1)), "beyond");
    refuses(pixels_in(&buffer, SIZE_MAX, PIXELS(.channels = 3, .offset = SIZE_MAX - 3)), "beyond");
    refuses(pixels_in(&buffer, SIZE_MAX, PIXELS(.channels = 3, .row_stride = SIZE_MAX / 2 - 3)), "beyond");
}

static void test_pixels_that_are_none(void **state) {
    const int f32 = TVLM_PIXEL_F32;
    tvlm_buffer buffer = {0};
    tvlm_planes planes = pixels_in(&buffer, 1, (tvlm_pixels){.width = 1, .height = 1, .channels = 1});
    (void)state;
    takes(&planes);
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 0)), "pixels of 0 channels; 1 to 4 are known");
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 5)), "pixels of 5 channels; 1 to 4 are known");
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 1, .type = (tvlm_pixel_type)(f32 + 1))),
            "no pixel type");
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 1, .type = (tvlm_pixel_type)-1)), "no pixel type -1");
    refuses(pixels_in(&buffer, 99, (tvlm_pixels){.height = 3, .channels = 1}), "a frame of 0x3 pixels");
    refuses(pixels_in(&buffer, 99, (tvlm_pixels){.width = 4, .channels = 1}), "a frame of 4x0 pixels");
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 3, .row_stride = 11)),
            "a row stride of 11 bytes at offset 0: rows have 12 bytes, values 1");
    /* Rows and values of two bytes begin at even places, and of four at every fourth. */
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 1, .type = TVLM_PIXEL_U16, .row_stride = 9)),
            "a row stride of 9 bytes at offset 0: rows have 8 bytes, values 2");
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 1, .type = TVLM_PIXEL_U16, .offset = 1)),
            "a row stride of 8 bytes at offset 1: rows have 8 bytes, values 2");
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 1, .type = TVLM_PIXEL_F32, .row_stride = 18)),
            "values 4");
    refuses(pixels_in(&buffer, 99, PIXELS(.channels = 1, .type = TVLM_PIXEL_F32, .offset = 2)), "values 4");
    planes = pixels_in(&buffer, 4 + 2 * 20 + 16,
                       PIXELS(.channels = 1, .type = TVLM_PIXEL_F32, .offset = 4, .row_stride = 20));
    takes(&planes);
}

/* Luma of 5 x 3 has 3 x 2 pairs: 15 bytes and two rows of 6. */
static void test_nv12_within_buffers(void **state) {
    tvlm_buffer one = {.bytes = 27}, two = {.bytes = 12};
    const tvlm_planes odd = {.first = {.memory = &one},
                             .chroma = {.memory = &one},
                             .pixels = {.width = 5, .height = 3},
                             .nv12 = true};
    tvlm_planes planes = odd;
    (void)state;
    takes(&planes);
    assert_true(planes.pixels.row_stride == 5 && planes.chroma_stride == 6 && planes.chroma_offset == 15);
    planes = odd, planes.pixels.width = 4, planes.pixels.height = 4; /* 16 bytes and two rows of 4 */
    one.bytes = 24;
    takes(&planes);
    assert_true(planes.pixels.row_stride == 4 && planes.chroma_stride == 4 && planes.chroma_offset == 16);
    one.bytes = 26;
    refuses(odd, "beyond the cl_mem's 26 bytes");
    planes = odd, planes.pixels.row_stride = 10, one.bytes = 46;
    takes(&planes);
    assert_true(planes.chroma_stride == 10 && planes.chroma_offset == 30);
    planes = odd, planes.pixels.offset = 2, one.bytes = 29;
    takes(&planes);
    assert_int_equal(planes.chroma_offset, 17);
    planes = odd, planes.chroma_offset = 20, one.bytes = 32;
    takes(&planes);
    assert_int_equal(planes.chroma_offset, 20);
    planes = odd, planes.chroma.memory = &two, one.bytes = 15;
    takes(&planes);
    assert_int_equal(planes.chroma_offset, 0);
    two.bytes = 11;
    refuses(planes, "beyond the cl_mem's 11 bytes");
    two.bytes = 12, one.bytes = 14;
    refuses(planes, "beyond the cl_mem's 14 bytes");
    one.bytes = 99;
    planes = odd, planes.chroma_stride = 5;
    refuses(planes, "a row stride of 5 bytes at offset 15: rows have 6 bytes, values 1");
    planes = odd, planes.pixels.row_stride = 4;
    refuses(planes, "a row stride of 4 bytes at offset 0: rows have 5 bytes, values 1");
    planes = odd, planes.chroma.image = true;
    refuses(planes, "one plane of NV12 is an image, the other a buffer");
}

/* ---- Frames in images ---- */

static void test_images(void **state) {
    tvlm_buffer one = {0}, two = {0};
    const tvlm_planes image = {
        .first = {.memory = &one, .image = true, .width = 5, .height = 3, .channels = 4}};
    tvlm_planes planes = image;
    (void)state;
    takes(&planes);
    assert_true(planes.pixels.width == 5 && planes.pixels.height == 3);
    for (int32_t channels = 1; channels <= 4; ++channels) {
        planes = image, planes.first.channels = channels;
        if (channels == 2)
            refuses(planes, "an image of two channels, which only NV12 has");
        else
            takes(&planes);
    }
    planes = image, planes.pixels.width = 5;
    refuses(planes, "the pixels are 5 x 0, but the image is 5 x 3");
    planes = image, planes.pixels.height = 3;
    refuses(planes, "the pixels are 0 x 3, but the image is 5 x 3");
    planes = image, planes.pixels.offset = 1;
    refuses(planes, "an offset of 1 bytes into an image");
    planes = image, planes.chroma_offset = 2;
    refuses(planes, "an offset of 2 bytes into an image");
    const tvlm_planes nv12 = {
        .first = {.memory = &one, .image = true, .width = 5, .height = 3, .channels = 1},
        .chroma = {.memory = &two, .image = true, .width = 3, .height = 2, .channels = 2},
        .nv12 = true};
    planes = nv12;
    takes(&planes);
    planes = nv12, planes.first.width = 6, planes.first.height = 4;
    takes(&planes);
    planes = nv12, planes.chroma.memory = &one;
    refuses(planes, "an image of luma, and no image of chroma");
    planes = nv12, planes.chroma.channels = 1;
    refuses(planes, "chroma of one channel; NV12 has pairs");
    planes = nv12, planes.first.type = TVLM_PIXEL_U16;
    refuses(planes, "other than 8 bits");
    planes = nv12, planes.chroma.type = TVLM_PIXEL_U16;
    refuses(planes, "other than 8 bits");
    planes = nv12, planes.chroma.width = 2;
    refuses(planes, "chroma of 2x2 for luma of 5x3; it has 3x2");
    planes = nv12, planes.chroma.height = 1;
    refuses(planes, "chroma of 3x1 for luma of 5x3; it has 3x2");
}

/* ---- Colours ---- */

/* By the definition of luma and chroma from a colour, which is then found again. */
static void check_colour(double kr, double kb, bool full, const double rgb[3]) {
    const double y = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2];
    const double cb = (rgb[2] - y) / (2 * (1 - kb)), cr = (rgb[0] - y) / (2 * (1 - kr));
    const double stored[4] = {full ? y : (16 + 219 * y) / 255, (128 + (full ? 255 : 224) * cb) / 255,
                              (128 + (full ? 255 : 224) * cr) / 255, 1};
    tvlm_planes planes = {0};
    tvlm_planes_colours(kr, kb, full, &planes);
    for (int c = 0; c < 3; ++c) {
        double got = 0.0;
        for (int i = 0; i < 4; ++i) got += (double)planes.rgb[c][i] * stored[i];
        if (fabs(got - rgb[c]) > 1e-6) fail_msg("component %d: %g, not %g", c, got, rgb[c]);
    }
}

static void test_colours(void **state) {
    static const double colours[][3] = {{0, 0, 0}, {1, 1, 1}, {1, 0, 0},
                                        {0, 1, 0}, {0, 0, 1}, {0.2, 0.7, 0.4}};
    (void)state;
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; ++i)
        for (int full = 0; full < 2; ++full) {
            check_colour(0.299, 0.114, full != 0, colours[i]);
            check_colour(0.2126, 0.0722, full != 0, colours[i]);
        }
}

/* ---- Sizes of grids ---- */

/* Of 101 x 35 pixels: whole, halves, quarters, cells of 16, and the image's own where there is nothing yet. */
static void test_sizes_of_grids(void **state) {
    static const struct {
        int32_t channel, level, width, height, levels;
    } rows[] = {{TVLM_CHANNEL_R, 0, 101, 35, 7},
                {TVLM_CHANNEL_R, 2, 25, 8, 7},
                {TVLM_CHANNEL_MOTION, 0, 50, 17, 6},
                {TVLM_CHANNEL_MOTION, 1, 25, 8, 6},
                {TVLM_CHANNEL_SALIENCY, 0, 25, 8, 5},
                {TVLM_CHANNEL_SALIENCY, 4, 1, 1, 5},
                {TVLM_CHANNEL_ENTROPY, 0, 7, 3, 3},
                {TVLM_CHANNEL_ENTROPY, 1, 3, 1, 3},
                {TVLM_CHANNEL_DEPTH, 0, 101, 35, 7},
                {TVLM_CHANNEL_X, 1, 50, 17, 7},
                {TVLM_CHANNEL_QUERY_SIMILARITY, 0, 101, 35, 7}};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    (void)state;
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 101, .height = 35), &stack),
                     TVLM_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        int32_t width = -1, height = -1;
        char line[60];
        assert_int_equal(tvlm_stack_channel_size(stack, rows[i].channel, rows[i].level, &width, &height),
                         TVLM_OK);
        if (width != rows[i].width || height != rows[i].height)
            fail_msg("row %zu: %d x %d", i, (int)width, (int)height);
        snprintf(line, sizeof line, "level %d of a channel of %d levels", (int)rows[i].levels,
                 (int)rows[i].levels);
        refused(tvlm_stack_channel_size(stack, rows[i].channel, rows[i].levels, &width, &height),
                TVLM_ERROR_ARGUMENT, line);
    }
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- What fits a device ---- */

static void test_sizes_that_fit(void **state) {
    tvlm_device device = {.info = {.type = TVLM_DEVICE_CPU, .storage = TVLM_STORAGE_BUFFER}, .log = test_log};
    tvlm_device_info *const info = &device.info;
    (void)state;
    /* 4 x 3, 2 x 1 and 1 x 1 texels of four components: 240 bytes of floats, 120 of halves. */
    info->allocation_max = 240;
    assert_true(tvlm_stack_size_fits(&device, 4, 3, TVLM_FORMAT_F32));
    assert_true(tvlm_stack_size_fits(&device, 3, 4, TVLM_FORMAT_F32));
    info->allocation_max = 239;
    assert_false(tvlm_stack_size_fits(&device, 4, 3, TVLM_FORMAT_F32));
    assert_false(tvlm_stack_size_fits(&device, 3, 4, TVLM_FORMAT_F32));
    refused(tvlm_stack_check_size(&device, 4, 3, TVLM_FORMAT_F32), TVLM_ERROR_DEVICE_MEMORY,
            "a stack of 4x3 needs allocations of 240 bytes; at most 239");
    info->allocation_max = 120;
    assert_int_equal(tvlm_stack_check_size(&device, 4, 3, TVLM_FORMAT_F16), TVLM_OK);
    assert_true(tvlm_stack_size_fits(&device, 4, 3, TVLM_FORMAT_U8));
    info->allocation_max = 119;
    assert_false(tvlm_stack_size_fits(&device, 4, 3, TVLM_FORMAT_F16));
    assert_false(tvlm_stack_size_fits(&device, 4, 3, TVLM_FORMAT_U8));
    /* In images the levels are apart from level 0; and only images have sides. */
    info->storage = TVLM_STORAGE_IMAGE, info->allocation_max = 192;
    info->image_width_max = 4, info->image_height_max = 3;
    assert_true(tvlm_stack_size_fits(&device, 4, 3, TVLM_FORMAT_F32));
    info->allocation_max = 191;
    assert_false(tvlm_stack_size_fits(&device, 4, 3, TVLM_FORMAT_F32));
    info->allocation_max = 0;
    assert_false(tvlm_stack_size_fits(&device, 5, 3, TVLM_FORMAT_F32));
    assert_false(tvlm_stack_size_fits(&device, 4, 4, TVLM_FORMAT_F32));
    refused(tvlm_stack_check_size(&device, 5, 3, TVLM_FORMAT_F32), TVLM_ERROR_DEVICE_MEMORY,
            "a stack of 5x3 is larger than this device's images, 4x3 at most");
    info->storage = TVLM_STORAGE_BUFFER;
    assert_true(tvlm_stack_size_fits(&device, 5, 4, TVLM_FORMAT_F32));
    info->type = TVLM_DEVICE_REFERENCE;
    assert_false(tvlm_stack_size_fits(&device, 5, 3, TVLM_FORMAT_F32));
    /* A row of 2^28 texels has 2^29 - 1 with its levels, which are 2^31 - 4 components. */
    info->type = TVLM_DEVICE_CPU;
    assert_true(tvlm_stack_size_fits(&device, 1 << 28, 1, TVLM_FORMAT_F32));
    assert_false(tvlm_stack_size_fits(&device, (1 << 28) + 1, 1, TVLM_FORMAT_F32));
}

static void test_images_of_a_chunk(void **state) {
    tvlm_device device = {.info = {.type = TVLM_DEVICE_CPU, .storage = TVLM_STORAGE_BUFFER}, .log = test_log};
    tvlm_device_info *const info = &device.info;
    (void)state;
#define LIMIT(LAYERS) tvlm_stack_chunk_limit(&device, 4, 3, TVLM_FORMAT_F32, LAYERS)
    assert_int_equal(LIMIT(1), INT32_MAX / 60); /* components */
    assert_int_equal(LIMIT(0), INT32_MAX / 60);
    assert_int_equal(LIMIT(7), INT32_MAX / 60 / 7);
    info->allocation_max = 5 * 240;
    assert_int_equal(LIMIT(1), 5);
    assert_int_equal(LIMIT(2), 2);
    assert_int_equal(LIMIT(6), 1); /* one at least, whatever it takes */
    info->allocation_max = 5 * 240 - 1;
    assert_int_equal(LIMIT(1), 4);
    info->allocation_max = 0, info->image_slices_max = 51;
    assert_int_equal(LIMIT(1), 3); /* textures count as having 16 layers */
    assert_int_equal(LIMIT(16), 3);
    assert_int_equal(LIMIT(17), 3);
    assert_int_equal(LIMIT(18), 2);
    info->allocation_max = 2 * 240;
    assert_int_equal(LIMIT(1), 2);
    info->allocation_max = 9 * 240;
    assert_int_equal(LIMIT(1), 3);
#undef LIMIT
    assert_int_equal(tvlm_stack_format(&device, TVLM_FORMAT_AUTO), TVLM_FORMAT_F32);
    assert_int_equal(tvlm_stack_format(&device, TVLM_FORMAT_F16), TVLM_FORMAT_F16);
    info->type = TVLM_DEVICE_GPU;
    assert_int_equal(tvlm_stack_format(&device, TVLM_FORMAT_AUTO), TVLM_FORMAT_F16);
    assert_int_equal(tvlm_stack_format(&device, TVLM_FORMAT_F32), TVLM_FORMAT_F32);
}

static void test_images_of_the_caches(void **state) {
    tvlm_device device = {.info = {.type = TVLM_DEVICE_CPU, .compute_units = 2}, .log = test_log};
    tvlm_device_info *const info = &device.info;
    (void)state;
#define CACHED(WIDTH, HEIGHT, FORMAT) tvlm_stack_cached_images(&device, WIDTH, HEIGHT, TVLM_FORMAT_##FORMAT)
    assert_int_equal(CACHED(128, 128, F32), 8); /* of 2^18 bytes each: a mebibyte for each core */
    assert_int_equal(CACHED(128, 129, F32), 7);
    assert_int_equal(CACHED(128, 128, F16), 16);
    assert_int_equal(CACHED(512, 256, F32), 1);
    assert_int_equal(CACHED(40000, 40000, F32), 1); /* one at least, however large */
    info->compute_units = 0;                        /* a driver that does not say */
    assert_int_equal(CACHED(128, 128, F32), 4);
    info->type = TVLM_DEVICE_REFERENCE;
    assert_int_equal(CACHED(128, 128, F32), 4);
    info->type = TVLM_DEVICE_GPU;
    assert_int_equal(CACHED(128, 128, F32), INT32_MAX);
#undef CACHED
}

/* ---- Frames that are compared ---- */

enum { WIDTH = 20, HEIGHT = 18, STRIDE = 24, SIDE = 16, TILES = 4 };

static const tvlm_tiles tiles = {.width = WIDTH, .height = HEIGHT, .side = SIDE, .columns = 2, .rows = 2};

static tvlm_delta_pixels grey(const unsigned char *pixels) {
    return (tvlm_delta_pixels){.pixels = pixels,
                               .row = WIDTH,
                               .row_stride = STRIDE,
                               .pixel_bytes = 1,
                               .width = WIDTH,
                               .height = HEIGHT,
                               .channels = 1};
}

/* Compares, and checks which of the four tiles changed: a bit for each, the first one's the lowest. */
static void expect_changed(const tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels, float threshold,
                           int expected) {
    uint8_t changed[TILES] = {9, 9, 9, 9};
    int32_t count = -1, expected_count = 0;
    tvlm_delta_compare(frame, pixels, threshold, &tiles, changed, &count);
    for (int i = 0; i < TILES; ++i) {
        assert_int_equal(changed[i], expected >> i & 1);
        expected_count += expected >> i & 1;
    }
    assert_int_equal(count, expected_count);
}

static void test_changed_tiles(void **state) {
    static unsigned char bytes[STRIDE * HEIGHT];
    tvlm_delta_frame frame = {0};
    tvlm_delta_pixels pixels = grey(bytes), other;
    (void)state;
    memset(bytes, 100, sizeof bytes);
    assert_false(tvlm_delta_fits(&frame, 0, &pixels)); /* none was kept */
    assert_int_equal(tvlm_delta_keep(&test_log, &frame, 7, &pixels), TVLM_OK);
    assert_int_equal(frame.bytes, WIDTH * HEIGHT);
    assert_true(tvlm_delta_fits(&frame, 7, &pixels));
    assert_false(tvlm_delta_fits(&frame, 8, &pixels));
    other = pixels, other.channels = 3;
    assert_false(tvlm_delta_fits(&frame, 7, &other));
    other = pixels, other.type = TVLM_PIXEL_U16;
    assert_false(tvlm_delta_fits(&frame, 7, &other));
    expect_changed(&frame, &pixels, 0.0f, 0);
    expect_changed(&frame, &pixels, 0.5f / 255.0f, 0); /* less than a step: any step is more */
    bytes[0] = 101;
    expect_changed(&frame, &pixels, 0.5f / 255.0f, 1);
    bytes[0] = 100;
    for (int y = 0; y < HEIGHT; ++y) bytes[y * STRIDE + WIDTH] = 0; /* behind the rows' ends */
    expect_changed(&frame, &pixels, 0.0f, 0);
    /* The pixels beside the tiles' edges. */
    static const int places[][3] = {{0, 0, 1},   {15, 15, 1}, {16, 15, 2}, {19, 0, 2},
                                    {15, 16, 4}, {16, 16, 8}, {19, 17, 8}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
        unsigned char *const at = bytes + places[i][1] * STRIDE + places[i][0];
        *at = 111;
        expect_changed(&frame, &pixels, 0.0f, places[i][2]);
        expect_changed(&frame, &pixels, 10.0f / 255.0f, places[i][2]);
        expect_changed(&frame, &pixels, 11.0f / 255.0f, 0);
        *at = 89;
        expect_changed(&frame, &pixels, 10.0f / 255.0f, places[i][2]);
        expect_changed(&frame, &pixels, 11.0f / 255.0f, 0);
        *at = 100;
    }
    bytes[0] = bytes[1] = bytes[STRIDE] = bytes[17 * STRIDE + 19] = 0;
    expect_changed(&frame, &pixels, 0.0f, 1 + 8);
    free(frame.pixels);
}

/* Values of other types, of which one differs: the last one of the last tile. */
static void test_changed_values(void **state) {
    static uint16_t words[WIDTH * HEIGHT];
    static float floats[WIDTH * HEIGHT];
    enum { LAST = WIDTH * HEIGHT - 1 };
    tvlm_delta_frame frame = {0};
    tvlm_delta_pixels pixels = {.pixels = (const unsigned char *)words,
                                .row = 2 * WIDTH,
                                .row_stride = 2 * WIDTH,
                                .pixel_bytes = 2,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .channels = 1,
                                .type = TVLM_PIXEL_U16};
    (void)state;
    words[LAST] = 30000;
    assert_int_equal(tvlm_delta_keep(&test_log, &frame, 1, &pixels), TVLM_OK);
    expect_changed(&frame, &pixels, 0.5f / 65535.0f, 0);
    words[LAST] = 30001;
    expect_changed(&frame, &pixels, 0.5f / 65535.0f, 8);
    words[LAST] = 30100;
    expect_changed(&frame, &pixels, 100.0f / 65535.0f, 0);
    expect_changed(&frame, &pixels, 99.0f / 65535.0f, 8);
    words[LAST] = 29900;
    expect_changed(&frame, &pixels, 100.0f / 65535.0f, 0);
    expect_changed(&frame, &pixels, 99.0f / 65535.0f, 8);
    pixels.pixels = (const unsigned char *)floats, pixels.type = TVLM_PIXEL_F32;
    pixels.row = pixels.row_stride = 4 * WIDTH, pixels.pixel_bytes = 4;
    floats[0] = 7.0f, floats[1] = -7.0f, floats[2] = NAN, floats[LAST] = 0.5f;
    assert_int_equal(tvlm_delta_keep(&test_log, &frame, 1, &pixels), TVLM_OK);
    floats[0] = 1.0f, floats[1] = 0.0f, floats[2] = -1.0f; /* as the source takes them they are the same */
    expect_changed(&frame, &pixels, 1e-6f, 0);
    expect_changed(&frame, &pixels, 0.0f, 1); /* without a threshold bytes are compared */
    floats[LAST] = 0.75f;
    expect_changed(&frame, &pixels, 0.25f, 0);
    expect_changed(&frame, &pixels, nextafterf(0.25f, 0.0f), 8);
    floats[LAST] = 0.25f;
    expect_changed(&frame, &pixels, 0.25f, 0);
    expect_changed(&frame, &pixels, nextafterf(0.25f, 0.0f), 8);
    free(frame.pixels);
}

/* The tiles at the right and at the corner, 4 x 16 and 4 x 2 pixels, are packed into squares one after the other, and
 * change the kept frame there and nowhere else. */
static void test_packed_tiles(void **state) {
    static const uint8_t changed[TILES] = {0, 1, 0, 1};
    static unsigned char bytes[STRIDE * HEIGHT], packed[2 * SIDE * SIDE];
    tvlm_delta_frame frame = {0};
    const tvlm_delta_pixels pixels = grey(bytes);
    tvlm_tiles some = tiles;
    (void)state;
    assert_int_equal(tvlm_delta_keep(&test_log, &frame, 7, &pixels), TVLM_OK); /* of zeros */
    for (int i = 0; i < STRIDE * HEIGHT; ++i)
        bytes[i] = (unsigned char)(1 + i / STRIDE * 10 + i % STRIDE % 10);
    some.changed = changed, some.count = 2;
    memset(packed, 255, sizeof packed);
    tvlm_delta_pack(&pixels, &some, packed);
    for (int i = 0; i < 2 * SIDE * SIDE; ++i) {
        const int x = 16 + i % SIDE, y = i / SIDE;
        assert_int_equal(packed[i], x < WIDTH && y < HEIGHT ? bytes[y * STRIDE + x] : 255);
    }
    tvlm_delta_take(&frame, 8, &pixels, &some, packed);
    assert_int_equal(frame.of, 8);
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            assert_int_equal(frame.pixels[y * WIDTH + x], x < SIDE ? 0 : bytes[y * STRIDE + x]);
    free(frame.pixels);
}

/* ---- What is kept of questions ---- */

static void say_made_of(tvlm_stack *stack, const char *of, size_t bytes) {
    char *const made_of = malloc(bytes);
    assert_non_null(made_of);
    memcpy(made_of, of, bytes);
    tvlm_stack_scores_made_of(stack, 0, made_of, bytes);
}

static void test_kept_scores(void **state) {
    static const char of[] = "of these";
    const tvlm_candidates few = {.columns = 2, .rows = 3}, more = {.columns = 3, .rows = 3};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 8, 8, 1);
    tvlm_buffer *buffer = NULL, *again = NULL;
    const float bonus[6] = {0};
    (void)state;
    assert_int_equal(tvlm_stack_scores(stack, 0, &few, &buffer), TVLM_OK);
    assert_int_equal(buffer->bytes, 6 * sizeof(float));
    say_made_of(stack, of, sizeof of);
    assert_null(tvlm_stack_scores_of(stack, 0, of, sizeof of)); /* which are not made yet */
    tvlm_stack_mark_scored(stack, 0);
    assert_ptr_equal(tvlm_stack_scores_of(stack, 0, of, sizeof of), buffer);
    assert_null(tvlm_stack_scores_of(stack, 0, of, sizeof of - 1));
    assert_null(tvlm_stack_scores_of(stack, 0, "of thosE", sizeof of));
    assert_null(tvlm_stack_scores_of(stack, 0, NULL, sizeof of));
    assert_int_equal(tvlm_stack_scores(stack, 0, &few, &again), TVLM_OK);
    assert_ptr_equal(again, buffer);
    tvlm_stack_mark_scored(stack, 0);
    assert_null(tvlm_stack_scores_of(stack, 0, of, sizeof of)); /* nobody says of what */
    assert_int_equal(tvlm_stack_scores(stack, 0, &few, &again), TVLM_OK);
    say_made_of(stack, of, sizeof of);
    assert_null(
        tvlm_stack_scores_of(stack, 0, of, sizeof of)); /* those before were made, and these not yet */
    assert_int_equal(tvlm_stack_scores(stack, 0, &more, &buffer), TVLM_OK);
    assert_int_equal(buffer->bytes, 9 * sizeof(float));
    assert_int_equal(tvlm_stack_scores(stack, 0, &few, &again), TVLM_OK);
    assert_ptr_equal(again, buffer); /* which is large enough */
    tvlm_stack_set_bonus(stack, 0, bonus, 2, 3);
    assert_ptr_equal(tvlm_stack_bonus(stack, 0, &few), bonus);
    assert_null(tvlm_stack_bonus(stack, 0, &more));
    assert_null(tvlm_stack_bonus(stack, 0, &(tvlm_candidates){.columns = 2, .rows = 2}));
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* A question is over with the pixels that it was about: then nothing says that there is one. */
static void test_dropped_question(void **state) {
    static const float map[2] = {0.5f, 1.0f};
    static const uint8_t grey[8 * 8];
    const tvlm_image image = u8_image(grey, 8, 8, 1);
    const int32_t channel = TVLM_CHANNEL_QUERY_SIMILARITY;
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 8, 8, 1);
    tvlm_selection *selection = NULL;
    int32_t width = 0, height = 0;
    bool has = true;
    (void)state;
    assert_int_equal(tvlm_stack_has_channel(stack, 0, channel, &has), TVLM_OK);
    assert_false(has);
    assert_int_equal(tvlm_select(stack, tvlm_query(.similarity = map, .columns = 2, .rows = 1),
                                 tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 1), &selection),
                     TVLM_OK);
    tvlm_selection_destroy(&selection);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, channel, &has), TVLM_OK);
    assert_int_equal(tvlm_stack_channel_size(stack, channel, 0, &width, &height), TVLM_OK);
    assert_true(has && width == 2 && height == 1);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, channel, &has), TVLM_OK);
    assert_int_equal(tvlm_stack_channel_size(stack, channel, 0, &width, &height), TVLM_OK);
    assert_true(!has && width == 8 && height == 8);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* A texture of candidates is used again where its shape is the same in every respect. */
static void test_kept_candidates(void **state) {
    tvlm_texture shape = {.width = 3,
                          .height = 2,
                          .layers = 1,
                          .images = 1,
                          .levels = 1,
                          .format = TVLM_FORMAT_F32,
                          .extent_x = 30.0f,
                          .extent_y = 20.0f};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = random_stack(device, TVLM_FORMAT_F32, 8, 8, 1);
    tvlm_texture *got = NULL, *again = NULL;
    (void)state;
    for (int respect = 0; respect <= 5; ++respect) {
        if (respect == 1) shape.width = 2;
        if (respect == 2) shape.height = 5;
        if (respect == 3) shape.layers = 4;
        if (respect == 4) shape.extent_x = 31.0f;
        if (respect == 5) shape.extent_y = 23.0f;
        assert_int_equal(tvlm_stack_candidates(stack, &shape, &got), TVLM_OK);
        assert_true(got->width == shape.width && got->height == shape.height && got->layers == shape.layers);
        assert_true(got->extent_x == shape.extent_x && got->extent_y == shape.extent_y);
        const size_t held = device->held;
        device->held_most = held;
        assert_int_equal(tvlm_stack_candidates(stack, &shape, &again), TVLM_OK);
        assert_ptr_equal(again, got);
        assert_true(device->held == held && device->held_most == held);
    }
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels_within_a_buffer),
        cmocka_unit_test(test_pixels_that_are_none),
        cmocka_unit_test(test_nv12_within_buffers),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_sizes_of_grids),
        cmocka_unit_test(test_sizes_that_fit),
        cmocka_unit_test(test_images_of_a_chunk),
        cmocka_unit_test(test_images_of_the_caches),
        cmocka_unit_test(test_changed_tiles),
        cmocka_unit_test(test_changed_values),
        cmocka_unit_test(test_packed_tiles),
        cmocka_unit_test(test_kept_scores),
        cmocka_unit_test(test_dropped_question),
        cmocka_unit_test(test_kept_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
