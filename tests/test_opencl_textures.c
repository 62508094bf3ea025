/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_textures.c: the memory of textures of the OpenCL backend, and the launches that make their levels, counted
 * by hand. The driver is made up; what kernels make is tested on real ones.
 */
#include "driver_helper.h"

/* ---- Memory ---- */

static const tvlm_texture small = {.width = 13,
                                   .height = 7,
                                   .layers = 3,
                                   .images = 5,
                                   .levels = 4,
                                   .format = TVLM_FORMAT_F16,
                                   .extent_x = 13.0f,
                                   .extent_y = 7.0f};

static opencl_device images_of(tvlm_storage storage) {
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    device.base.info.storage = storage;
    device.base.info.image_width_max = 13;
    device.base.info.image_height_max = 7;
    device.base.info.image_slices_max = 15;
    return device;
}

static void expect_image(cl_mem mem, size_t width, size_t height, size_t slices, cl_uint levels,
                         cl_channel_order order, cl_channel_type type) {
    const memory *const image = of(mem);
    assert_true(image->shape.image_width == width && image->shape.image_height == height);
    assert_true(image->shape.image_array_size == slices && image->shape.num_mip_levels == levels);
    assert_int_equal(image->shape.image_type, CL_MEM_OBJECT_IMAGE2D_ARRAY);
    assert_true(image->format.image_channel_order == order && image->format.image_channel_data_type == type);
}

/* 13 x 7, 6 x 3, 3 x 1 and 1 x 1 texels of 15 slices: 113 texels a slice. */
static void test_buffers(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    tvlm_texture *texture = NULL, shape = small;
    (void)state;
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    assert_true(texture->bytes == 113 * 15 * 8 && device.base.held == texture->bytes);
    assert_int_equal(of(((opencl_texture *)texture)->level0)->bytes, 113 * 15 * 8);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    assert_true(texture == NULL && device.base.held == 0 && driver.released == 1);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    shape.scalar = true;
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    assert_int_equal(texture->bytes, 113 * 15 * 2);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    /* Texels have numbers that fit an int. */
    shape = (tvlm_texture){
        .width = 1 << 30, .height = 1, .layers = 2, .images = 1, .levels = 1, .format = TVLM_FORMAT_F32};
    refused(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_ERROR_DEVICE_MEMORY,
            "a texture of 2147483648 texels is more than 2147483647");
    assert_null(texture);
    assert_int_equal(device.base.held, 0);
}

/* Level 0 is one array. The others are a second one: 6 x 3, and 3 x 1 and 1 x 1 in a column beside it, 9 x 3. */
static void test_images(void **state) {
    opencl_device device = images_of(TVLM_STORAGE_IMAGE);
    tvlm_texture *texture = NULL, shape = small;
    (void)state;
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    const opencl_texture *made = (const opencl_texture *)texture;
    expect_image(made->level0, 13, 7, 15, 0, CL_RGBA, CL_HALF_FLOAT);
    expect_image(made->rest, 9, 3, 15, 0, CL_RGBA, CL_HALF_FLOAT);
    assert_true(made->rest_width == 9 && made->rest_height == 3);
    assert_int_equal(texture->bytes, (13 * 7 + 9 * 3) * 15 * 8);
    assert_int_equal(device.base.held, texture->bytes);
    assert_true(driver.parted == 1 && driver.parts[0].image == made->rest); /* which is cleared */
    assert_true(driver.parts[0].region[0] == 9 && driver.parts[0].region[1] == 3);
    assert_true(driver.parts[0].region[2] == 15 && driver.parts[0].origin[0] == 0);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    assert_true(device.base.held == 0 && driver.released == 2);
    /* Of a flat one the column is higher than level 1: 6 x 1, and 3 x 1 and 1 x 1 beside it. */
    shape.height = 1;
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    made = (const opencl_texture *)texture;
    expect_image(made->rest, 9, 2, 15, 0, CL_RGBA, CL_HALF_FLOAT);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    shape.width = 4, shape.height = 7, shape.levels = 2; /* no column */
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    expect_image(((opencl_texture *)texture)->rest, 2, 3, 15, 0, CL_RGBA, CL_HALF_FLOAT);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    shape.levels = 1; /* no levels, no second array */
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    assert_null(((opencl_texture *)texture)->rest);
    assert_int_equal(texture->bytes, 4 * 7 * 15 * 8);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    /* One component, where images have it. */
    device.scalar_images[TVLM_FORMAT_F16] = true;
    shape.scalar = true;
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    expect_image(((opencl_texture *)texture)->level0, 4, 7, 15, 0, CL_R, CL_HALF_FLOAT);
    assert_int_equal(texture->bytes, 4 * 7 * 15 * 2);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    assert_int_equal(driver.created, driver.released);
}

static void test_images_with_levels(void **state) {
    opencl_device device = images_of(TVLM_STORAGE_MIPMAPPED);
    tvlm_texture *texture = NULL, shape = small;
    (void)state;
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    expect_image(((opencl_texture *)texture)->level0, 13, 7, 15, 4, CL_RGBA, CL_HALF_FLOAT);
    assert_null(((opencl_texture *)texture)->rest);
    assert_int_equal(texture->bytes, 113 * 15 * 8);
    tvlm_opencl_texture_destroy(&device.base, &texture);
    shape.levels = 1;
    assert_int_equal(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_OK);
    expect_image(((opencl_texture *)texture)->level0, 13, 7, 15, 0, CL_RGBA, CL_HALF_FLOAT);
    tvlm_opencl_texture_destroy(&device.base, &texture);
}

/* What is larger than the device's images in any way is refused, and what fails half-way leaves nothing. */
static void test_images_that_are_none(void **state) {
    opencl_device device = images_of(TVLM_STORAGE_IMAGE);
    tvlm_texture *texture = NULL, shape = small;
    (void)state;
    shape.width = 14;
    refused(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_ERROR_DEVICE_MEMORY,
            "an image of 14x7 with 15 slices; made up has at most 13x7 with 15");
    shape = small, shape.height = 8;
    refused(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_ERROR_DEVICE_MEMORY, "13x8");
    shape = small, shape.images = 6;
    refused(tvlm_opencl_texture_create(&device.base, &shape, &texture), TVLM_ERROR_DEVICE_MEMORY,
            "18 slices");
    for (int made = 0; made < 2; ++made) {
        driver.images_left = made;
        refused(tvlm_opencl_texture_create(&device.base, &small, &texture), TVLM_ERROR_DEVICE_MEMORY,
                "clCreateImage: CL_MEM_OBJECT_ALLOCATION_FAILURE");
        assert_null(texture);
        assert_int_equal(driver.created, driver.released);
    }
    assert_int_equal(device.base.held, 0);
}

/* Images of bytes are those of either sign; of one component each format alone. */
static void test_formats(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    (void)state;
    driver.formats[0] = (cl_image_format){CL_RGBA, CL_UNORM_INT8};
    driver.formats[1] = (cl_image_format){CL_R, CL_HALF_FLOAT};
    driver.formats[2] = (cl_image_format){CL_R, CL_SNORM_INT8};
    driver.formats[3] = (cl_image_format){CL_RG, CL_FLOAT};
    driver.formats[4] = (cl_image_format){CL_RGBA, CL_SNORM_INT8};
    driver.format_count = 4;
    assert_int_equal(tvlm_opencl_image_formats(&device), TVLM_OK);
    assert_false(device.byte_images);
    assert_true(device.scalar_images[TVLM_FORMAT_F16] && device.scalar_images[TVLM_FORMAT_S8]);
    assert_false(device.scalar_images[TVLM_FORMAT_F32] || device.scalar_images[TVLM_FORMAT_U8]);
    driver.format_count = 5;
    assert_int_equal(tvlm_opencl_image_formats(&device), TVLM_OK);
    assert_true(device.byte_images);
}

/* ---- Levels ---- */

static opencl_device tiled(tvlm_storage storage) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    device.base.info.storage = storage;
    device.group_max = 256;
    return device;
}

static opencl_texture levelled(int32_t width, int32_t height, int32_t layers) {
    opencl_texture texture = texture_of(width, height, layers, 1, tvlm_level_count(width, height));
    return texture;
}

/* Three levels at once in tiles of 16 texels of the first of them, until both sides of the next level are at most 64;
 * then all that are left, by one group for each slice. */
static void test_tiles_and_tails(void **state) {
    opencl_device device = tiled(TVLM_STORAGE_BUFFER);
    opencl_texture large = levelled(1000, 700, 2), wide = levelled(300, 20, 1), fits = levelled(129, 129, 1),
                   beyond = levelled(130, 2, 1), dot = levelled(1, 1, 1);
    tvlm_texture *textures[10] = {&large.base, &dot.base, &wide.base, &fits.base};
    (void)state;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 0), TVLM_OK);
    assert_int_equal(driver.launched, 0);
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK);
    assert_int_equal(driver.launched, 2);
    expect_size(0, 32 * 22 * 2 * 16, 16, 0); /* 500 x 350 texels of two slices */
    expect_size(1, 2 * 256, 0, 0);
    assert_non_null(strstr(driver.options, "-DTEXTURES=1  -DTAIL_LANES=256"));
    device.group_max = 4096, device.tuning.tail_lanes = 512;
    textures[0] = &fits.base;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK);
    assert_int_equal(driver.launched, 3);
    expect_size(2, 512, 0, 0);
    textures[0] = &beyond.base;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK);
    assert_int_equal(driver.launched, 5);
    expect_size(3, 5 * 16, 16, 0); /* 65 x 1 */
    expect_size(4, 512, 0, 0);
    /* Of several textures those that need tiles get them together, and all get their tails together. */
    textures[0] = &large.base;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 4), TVLM_OK);
    assert_int_equal(driver.launched, 7);
    expect_size(5, (32 * 22 * 2 + 10) * 16, 16, 0); /* 150 x 10 */
    expect_size(6, (2 + 1 + 1) * 512, 0, 0);
    assert_non_null(strstr(driver.options, "-DTEXTURES=4 "));
    /* Eight at most, and none of another format. */
    for (int i = 0; i < 10; ++i) textures[i] = &fits.base;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 10), TVLM_OK);
    assert_int_equal(driver.launched, 9);
    expect_size(7, 8 * 512, 0, 0);
    expect_size(8, 2 * 512, 0, 0);
    wide.base.format = TVLM_FORMAT_F16, beyond.base.range = TVLM_RANGE_UNIT;
    textures[1] = &wide.base, textures[2] = &beyond.base;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 3), TVLM_OK);
    assert_int_equal(driver.launched, 9 + 1 + 2 + 2);
    close_device(&device);
}

static void expect_rule(opencl_device *device, opencl_texture *first, opencl_texture *second,
                        const char *option) {
    tvlm_texture *textures[2] = {&first->base, &second->base};
    driver.options[0] = '\0';
    tvlm_opencl_program_forget(device, "mips.cl");
    assert_int_equal(tvlm_opencl_mips(&device->base, textures, second != first ? 2 : 1), TVLM_OK);
    if (strstr(driver.options, option) == NULL) fail_msg("'%s' has no %s", driver.options, option);
}

/* A launch knows the rule of its levels where all components of its textures have the same. A scalar texture has one
 * component. Each texture's own rules are passed with it, a byte for each component. */
static void test_rules(void **state) {
    enum { MEAN = TVLM_REDUCE_MEAN, MAX = TVLM_REDUCE_MAX };
    opencl_device device = tiled(TVLM_STORAGE_BUFFER);
    opencl_texture one = levelled(64, 32, 3), other = levelled(64, 32, 1);
    (void)state;
    for (int c = 0; c < 4; ++c) {
        expect_rule(&device, &one, &one, "-DMIPS_RULE=0 ");
        expect_rule(&device, &one, &other, "-DMIPS_RULE=0 ");
        other.base.reduce[c] = MAX;
        expect_rule(&device, &one, &other, "-DMIPS_RULE=5 ");
        expect_rule(&device, &other, &other, "-DMIPS_RULE=5 ");
        assert_true(int_at(2, 0) == 1 && int_at(2, 1) == 0 && int_at(2, 2) == MAX << 8 * c);
        other.base.scalar = true;
        expect_rule(&device, &other, &other, c == 0 ? "-DMIPS_RULE=1 " : "-DMIPS_RULE=0 ");
        assert_int_equal(int_at(2, 2), MAX << 8 * c | 0x80);
        expect_rule(&device, &one, &other, c == 0 ? "-DMIPS_RULE=5 " : "-DMIPS_RULE=0 ");
        assert_int_equal(int_at(2, 0), 3); /* slices of the first, then of the other */
        assert_int_equal(int_at(5, 0), 1);
        other.base.scalar = false, other.base.reduce[c] = MEAN;
    }
    for (int c = 0; c < 4; ++c) other.base.reduce[c] = MAX;
    expect_rule(&device, &other, &other, "-DMIPS_RULE=1 ");
    close_device(&device);
}

/* In bytes a texel is what its range says. */
static void test_ranges(void **state) {
    static const char *const options[3] = {" -DLEVELS_BYTES=0 ", " -DLEVELS_BYTES=1 ", " -DLEVELS_BYTES=2 "};
    opencl_device device = tiled(TVLM_STORAGE_BUFFER);
    opencl_texture texture = levelled(64, 32, 1);
    (void)state;
    expect_rule(&device, &texture, &texture, "-DTEXTURES=1  -DTAIL_LANES=256");
    texture.base.format = TVLM_FORMAT_U8;
    texture.base.range = TVLM_RANGE_ANY;
    expect_rule(&device, &texture, &texture, options[0]);
    texture.base.range = TVLM_RANGE_UNIT;
    expect_rule(&device, &texture, &texture, options[1]);
    texture.base.range = TVLM_RANGE_SIGNED;
    expect_rule(&device, &texture, &texture, options[2]);
    close_device(&device);
}

/* Where a device makes no tiles: one level in a launch, or as many as follow even sides. Level by level where
 * work-items are short, and where levels are smoothed. */
static void test_single_levels(void **state) {
    opencl_device device = tiled(TVLM_STORAGE_BUFFER);
    opencl_texture texture = levelled(1000, 700, 2), even = levelled(1024, 1024, 1);
    tvlm_texture *textures[1] = {&texture.base}, *of_even[1] = {&even.base};
    (void)state;
    device.tuning.tiled_mips = 0, device.tuning.mips_run = 256;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK);
    assert_int_equal(driver.launched, 8);
    expect_size(0, 2, 176, 2); /* 500 x 350 in runs of 256, with a row of the level after, and groups of 8 */
    expect_size(1, 1, 96, 2);
    expect_size(7, 1, 16, 2);
    assert_non_null(strstr(driver.options, "-DRUN=256 -DTEXTURES=1  -DSCALAR=0"));
    device.tuning.mips_run = 1;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK);
    assert_int_equal(driver.launched, 17);
    expect_size(8, 500, 350, 2);
    device.tuning.tiled_mips = 1;
    texture.base.reduce[3] = TVLM_REDUCE_GAUSSIAN;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK);
    assert_int_equal(driver.launched, 26);
    expect_size(25, 1, 1, 2);
    device.tuning.tiled_mips = 0, device.tuning.mips_run = 1024;
    assert_int_equal(tvlm_opencl_mips(&device.base, of_even, 1), TVLM_OK);
    assert_int_equal(driver.launched, 29); /* four levels, four, and two */
    expect_size(26, 1, 64, 1);
    expect_size(27, 1, 4, 1);
    expect_size(28, 1, 8, 1);
    close_device(&device);
}

/* Around a tile of 16 x 16 pixels, a part of each layer; whole where that is more parts than a region has. */
static void test_levels_around_tiles(void **state) {
    static uint8_t changed[7 * 5];
    opencl_device device = tiled(TVLM_STORAGE_BUFFER);
    opencl_texture texture = levelled(100, 70, 4), many = levelled(100, 70, 5), dot = levelled(1, 1, 1);
    tvlm_tiles tiles = {.width = 100,
                        .height = 70,
                        .side = 16,
                        .columns = 7,
                        .rows = 5,
                        .count = 1,
                        .changed = changed,
                        .serial = 1};
    (void)state;
    changed[1 * 7 + 2] = 1;
    assert_int_equal(tvlm_opencl_mips_tiles(&device.base, &dot.base, &tiles), TVLM_OK);
    assert_int_equal(driver.launched, 0);
    assert_int_equal(tvlm_opencl_mips_tiles(&device.base, &texture.base, &tiles), TVLM_OK);
    assert_int_equal(driver.launched, 1);
    expect_size(0, 4 * 256, 1, 1); /* a tail of each layer */
    assert_int_equal(tvlm_opencl_mips_tiles(&device.base, &many.base, &tiles), TVLM_OK);
    assert_int_equal(driver.launched, 2);
    expect_size(1, 5 * 256, 0, 0);
    device.tuning.tiled_mips = 0, device.tuning.mips_run = 256; /* in tiles 16 */
    assert_int_equal(tvlm_opencl_mips_tiles(&device.base, &texture.base, &tiles), TVLM_OK);
    assert_int_equal(driver.launched, 2 + 6);
    for (int i = 2; i < 8; ++i) expect_size(i, 4 * 1, 16, 1); /* one block of 16 x 16 texels of each layer */
    device.tuning.mips_run = 4;
    assert_int_equal(tvlm_opencl_mips_tiles(&device.base, &texture.base, &tiles), TVLM_OK);
    for (int i = 8; i < 14; ++i) expect_size(i, 4 * 4, 16, 1);
    close_device(&device);
}

/* In images levels are read in a scratch buffer: all from level 1 on, or only those that tiles leave. */
static void test_scratch_of_images(void **state) {
    opencl_device device = tiled(TVLM_STORAGE_IMAGE);
    opencl_texture fits = levelled(128, 128, 2), large = levelled(256, 256, 1);
    tvlm_texture *textures[2] = {&fits.base, &large.base};
    (void)state;
    fits.base.format = large.base.format = TVLM_FORMAT_F16;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK);
    assert_int_equal(of(device.scratch[SCRATCH_LEVELS])->bytes,
                     5461 * 2 * 8); /* 64 x 64, 32 x 32 ... 1 x 1 */
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 2), TVLM_OK);
    assert_int_equal(of(device.scratch[SCRATCH_LEVELS])->bytes, (5461 * 2 + 1365) * 8); /* from 32 x 32 on */
    close_device(&device);
    /* Images with levels of their own get all of them copied. */
    device = tiled(TVLM_STORAGE_MIPMAPPED);
    fits.base.levels = 8;
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK);
    assert_int_equal(driver.parted, 7);
    assert_true(driver.parts[0].offset == 0 && driver.parts[1].offset == 64 * 64 * 2 * 8);
    assert_true(driver.parts[1].region[0] == 32 && driver.parts[1].region[2] == 2);
    assert_true(driver.parts[0].origin[3] == 1 && driver.parts[6].origin[3] == 7);
    assert_int_equal(driver.parts[6].region[0], 1);
    close_device(&device);
}

/* A source of one image that a tail cannot make comes together with its first levels. */
static void test_levels_from_pixels(void **state) {
    opencl_device device = tiled(TVLM_STORAGE_BUFFER);
    opencl_texture texture = levelled(1000, 700, 1);
    opencl_buffer pixels = {.memory = NULL};
    const tvlm_pixels layout = {.width = 1000, .height = 700, .channels = 3};
    (void)state;
#define FITS() tvlm_opencl_mips_from_pixels_fits(&device, &texture.base)
    assert_true(FITS());
    texture.base.images = 2;
    assert_false(FITS());
    texture.base.images = 1, texture.base.layers = 2;
    assert_false(FITS());
    texture.base.layers = 1, texture.base.reduce[0] = TVLM_REDUCE_GAUSSIAN;
    assert_false(FITS());
    texture.base.reduce[0] = TVLM_REDUCE_MEAN, texture.base.width = texture.base.height = 129;
    assert_false(FITS());
    texture.base.height = 130;
    assert_true(FITS());
    device.base.info.storage = TVLM_STORAGE_MIPMAPPED;
    assert_false(FITS());
    device.base.info.storage = TVLM_STORAGE_BUFFER, device.tuning.tiled_mips = 0;
    assert_false(FITS());
#undef FITS
    device.tuning.tiled_mips = 1, texture = levelled(1000, 700, 1);
    assert_int_equal(tvlm_opencl_source(&device.base, &pixels.base, &layout, 0, &texture.base), TVLM_OK);
    assert_int_equal(driver.launched, 1);
    expect_size(0, 32 * 16, 22 * 16, 0); /* tiles of 32 pixels */
    assert_int_equal(texture.levels_there, 3);
    assert_non_null(strstr(driver.options, "-DSCALAR=0 -DFROM_PIXELS=1 -DPIXEL_TYPE=0 -DPIXEL_CHANNELS=3"));
    tvlm_texture *textures[1] = {&texture.base};
    assert_int_equal(tvlm_opencl_mips(&device.base, textures, 1), TVLM_OK); /* the tail alone is left */
    assert_int_equal(driver.launched, 2);
    expect_size(1, 256, 0, 0);
    close_device(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_images_with_levels),
        cmocka_unit_test(test_images_that_are_none),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_tiles_and_tails),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_single_levels),
        cmocka_unit_test(test_levels_around_tiles),
        cmocka_unit_test(test_scratch_of_images),
        cmocka_unit_test(test_levels_from_pixels),
    };
    install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
