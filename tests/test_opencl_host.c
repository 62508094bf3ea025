/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_host.c: what the OpenCL backend decides on the host, on devices that are made up here: no driver is
 * asked, so that choices of GPUs are tested where there is none.
 */
#include <math.h>

#include "device_helper.h"
#include "opencl/backend.h"

/* ---- Which storage ---- */

enum { IMAGES = 1, BUFFERS = 2, MIPMAPS = 4, BYTES = 8 }; /* what works; BYTES: all of it with bytes, too */

static opencl_device device_of(tvlm_device_type type) {
    opencl_device device;
    memset(&device, 0, sizeof device);
    device.base.info.type = type;
    device.base.info.images = true;
    device.base.log = test_log;
    snprintf(device.base.info.name, sizeof device.base.info.name, "made up");
    return device;
}

static void list_abilities(int working, opencl_ability able[TVLM_STORAGE_MIPMAPPED + 1]) {
    static const int bits[TVLM_STORAGE_MIPMAPPED + 1] = {0, IMAGES, BUFFERS, MIPMAPS};
    memset(able, 0, (TVLM_STORAGE_MIPMAPPED + 1) * sizeof *able);
    for (int s = TVLM_STORAGE_IMAGE; s <= TVLM_STORAGE_MIPMAPPED; ++s) {
        able[s].works = (working & bits[s]) != 0;
        able[s].bytes = s == TVLM_STORAGE_BUFFER || (working & BYTES) != 0;
    }
}

static void test_storage(void **state) {
    static const tvlm_device_type cpu = TVLM_DEVICE_CPU, gpu = TVLM_DEVICE_GPU;
    enum {
        NO = TVLM_STORAGE_AUTO,
        IMAGE = TVLM_STORAGE_IMAGE,
        BUFFER = TVLM_STORAGE_BUFFER,
        MIPMAPPED = TVLM_STORAGE_MIPMAPPED
    };
    enum { F16 = TVLM_FORMAT_F16, U8 = TVLM_FORMAT_U8, ALL = IMAGES | BUFFERS | MIPMAPS };
    const struct {
        tvlm_device_type type;
        int format, working, asked, tuned, expected; /* expected NO: it is refused */
        const char *words;
    } rows[] = {
        {gpu, F16, ALL, NO, NO, MIPMAPPED, "filters between levels"},
        {gpu, F16, IMAGES | BUFFERS, NO, NO, IMAGE, "a GPU filters images in hardware"},
        {gpu, F16, BUFFERS, NO, NO, BUFFER, "images fail the self-test"},
        {gpu, U8, ALL, NO, NO, BUFFER, "images of bytes fail the self-test"},
        {gpu, U8, ALL | BYTES, NO, NO, MIPMAPPED, "filters between levels"},
        {gpu, U8, IMAGES | BUFFERS | BYTES, NO, NO, IMAGE, "a GPU filters images in hardware"},
        {gpu, U8, BUFFERS, NO, NO, BUFFER, "images fail the self-test"},
        {cpu, F16, ALL, NO, NO, BUFFER, "emulated on a device that is no GPU"},
        {TVLM_DEVICE_OTHER, F16, ALL, NO, NO, BUFFER, "emulated on a device that is no GPU"},
        {gpu, F16, ALL, NO, BUFFER, BUFFER, "the fastest when the device was tuned"},
        {cpu, F16, ALL, NO, IMAGE, IMAGE, "the fastest when the device was tuned"},
        {cpu, F16, ALL, NO, MIPMAPPED, MIPMAPPED, "the fastest when the device was tuned"},
        {cpu, F16, BUFFERS, NO, IMAGE, BUFFER, "emulated on a device that is no GPU"},
        {cpu, U8, ALL, NO, IMAGE, BUFFER, "emulated on a device that is no GPU"},
        {gpu, F16, ALL, IMAGE, BUFFER, IMAGE, "asked for"},
        {cpu, F16, ALL, MIPMAPPED, NO, MIPMAPPED, "asked for"},
        {gpu, F16, BUFFERS, IMAGE, NO, NO, "made up: image storage does not pass the self-test"},
        {gpu, F16, IMAGES, BUFFER, NO, NO, "made up: buffer storage does not pass the self-test"},
        {cpu, F16, IMAGES | MIPMAPS, NO, NO, NO, "made up: no storage passes the self-test (wrong answers)"},
        {gpu, F16, 0, NO, NO, NO, "made up: no storage passes the self-test (wrong answers)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        opencl_device device = device_of(rows[i].type);
        opencl_ability able[TVLM_STORAGE_MIPMAPPED + 1];
        list_abilities(rows[i].working, able);
        const tvlm_status status = tvlm_opencl_choose_storage(
            &device,
            tvlm_device_params(.storage = (tvlm_storage)rows[i].asked, .format = (tvlm_format)rows[i].format),
            (tvlm_storage)rows[i].tuned, able);
        assert_int_equal(status, rows[i].expected == NO ? TVLM_ERROR_UNSUPPORTED : TVLM_OK);
        assert_int_equal(device.base.info.storage, rows[i].expected);
        const char *const told = status == TVLM_OK ? device.base.info.storage_reason : test_last_log();
        if (strstr(told, rows[i].words) == NULL)
            fail_msg("row %zu: '%s' is not in: %s", i, rows[i].words, told);
    }
}

/* Images that fail are none, but where they were not tested nothing is known against them. */
static void test_images(void **state) {
    (void)state;
    for (int works = 0; works < 2; ++works)
        for (int tested = 0; tested < 3; ++tested) {
            opencl_device device = device_of(TVLM_DEVICE_CPU);
            opencl_ability able[TVLM_STORAGE_MIPMAPPED + 1];
            list_abilities(works ? IMAGES | BUFFERS : BUFFERS, able);
            device.base.info.self_test_count = tested;
            snprintf(device.base.info.self_tests[0].name, sizeof device.base.info.self_tests[0].name,
                     "buffer f32");
            snprintf(device.base.info.self_tests[1].name, sizeof device.base.info.self_tests[1].name,
                     "image f32");
            assert_int_equal(
                tvlm_opencl_choose_storage(&device, tvlm_device_params(0), TVLM_STORAGE_AUTO, able), TVLM_OK);
            assert_int_equal(device.base.info.images, works || tested < 2);
            memcpy(&device.base.info.self_tests[0], &device.base.info.self_tests[1],
                   sizeof device.base.info.self_tests[0]);
            device.base.info.self_test_count = tested > 0; /* it is the first of them, too */
            device.base.info.images = true;
            assert_int_equal(
                tvlm_opencl_choose_storage(&device, tvlm_device_params(0), TVLM_STORAGE_AUTO, able), TVLM_OK);
            assert_int_equal(device.base.info.images, works || tested == 0);
            device.base.info.images = false;
            assert_int_equal(
                tvlm_opencl_choose_storage(&device, tvlm_device_params(0), TVLM_STORAGE_AUTO, able), TVLM_OK);
            assert_false(device.base.info.images);
        }
}

static void test_language(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    (void)state;
    snprintf(device.base.info.version, sizeof device.base.info.version, "OpenCL 3.0 CUDA");
    assert_string_equal(tvlm_opencl_language(&device, TVLM_STORAGE_IMAGE), "CL1.2");
    assert_string_equal(tvlm_opencl_language(&device, TVLM_STORAGE_BUFFER), "CL1.2");
    assert_string_equal(tvlm_opencl_language(&device, TVLM_STORAGE_MIPMAPPED), "CL3.0");
    snprintf(device.base.info.version, sizeof device.base.info.version, "OpenCL 2.1 NEO");
    assert_string_equal(tvlm_opencl_language(&device, TVLM_STORAGE_MIPMAPPED), "CL2.0");
}

/* ---- How textures lie ---- */

static void test_levels(void **state) {
    static const size_t offsets[5] = {0, 91, 109, 112, 113}, below[5] = {0, 0, 0, 1, 2};
    opencl_texture texture = {
        .base = {.width = 13, .height = 7, .layers = 3, .images = 5, .levels = 4, .format = TVLM_FORMAT_F16}};
    (void)state;
    for (int32_t level = 0; level < 5; ++level) {
        size_t corner[2];
        assert_int_equal(tvlm_opencl_level_offset(&texture.base, level), offsets[level]);
        tvlm_opencl_level_corner(&texture.base, level, corner);
        assert_int_equal(corner[0], level > 1 ? 6 : 0);
        assert_int_equal(corner[1], below[level]);
    }
    assert_int_equal(tvlm_opencl_slices(&texture.base), 15);
    texture.components = 1;
    assert_int_equal(tvlm_opencl_texel_bytes(&texture.base), 2);
    texture.components = 4;
    assert_int_equal(tvlm_opencl_texel_bytes(&texture.base), 8);
}

static void test_scalars(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    (void)state;
    device.scalar_images[TVLM_FORMAT_F16] = true;
    for (int s = TVLM_STORAGE_IMAGE; s <= TVLM_STORAGE_MIPMAPPED; ++s) {
        device.base.info.storage = (tvlm_storage)s;
        assert_int_equal(tvlm_opencl_stores_scalar(&device, TVLM_FORMAT_F16), s != TVLM_STORAGE_MIPMAPPED);
        assert_int_equal(tvlm_opencl_stores_scalar(&device, TVLM_FORMAT_F32), s == TVLM_STORAGE_BUFFER);
        for (int bytes = 0; bytes < 4; ++bytes) {
            tvlm_opencl_take_bytes(&device, &(opencl_ability){.bytes = bytes & 1, .asked_bytes = bytes & 2});
            assert_int_equal(device.base.stores_bytes, bytes == 3);
            assert_int_equal(device.asked_bytes, bytes >= 2);
            assert_int_equal(device.base.stores_scalar[TVLM_FORMAT_F16], s != TVLM_STORAGE_MIPMAPPED);
            assert_int_equal(device.base.stores_scalar[TVLM_FORMAT_S8], s == TVLM_STORAGE_BUFFER);
        }
    }
}

static void expect_extent(const opencl_device *device, const tvlm_texture *texture, float bias, int mask) {
    const cl_float4 got = tvlm_opencl_extent(device, texture);
    assert_true(got.s[0] == texture->extent_x && got.s[1] == texture->extent_y);
    assert_true(got.s[2] == bias && got.s[3] == (float)mask);
}

static void test_extents(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    tvlm_texture texture = {
        .width = 100,
        .height = 50,
        .layers = 2,
        .levels = 6,
        .extent_x = 400,
        .extent_y = 100,
        .format = TVLM_FORMAT_F16,
        .range = TVLM_RANGE_ANY,
        .reduce = {TVLM_REDUCE_MEAN, TVLM_REDUCE_MODE, TVLM_REDUCE_MIN, TVLM_REDUCE_MODE}};
    (void)state;
    device.base.info.storage = TVLM_STORAGE_BUFFER;
    expect_extent(&device, &texture, 2.0f, 2 + 8);
    texture.scalar = true;
    texture.extent_x = 100;
    expect_extent(&device, &texture, 1.0f, 2 + 8 + 16);
    texture.extent_y = 25; /* finer than the pixels of the image: there is no level before level 0 */
    expect_extent(&device, &texture, 0.0f, 2 + 8 + 16);
    device.base.info.storage = TVLM_STORAGE_IMAGE;
    texture.reduce[0] = TVLM_REDUCE_MODE;
    texture.reduce[1] = TVLM_REDUCE_GAUSSIAN;
    expect_extent(&device, &texture, 0.0f, 1 + 8);
    texture.range = (tvlm_range)2;
    assert_int_equal(tvlm_opencl_size(&texture).s[3], 6);
    texture.format = TVLM_FORMAT_U8;
    assert_int_equal(tvlm_opencl_size(&texture).s[3], 6 + 2 * 256);
}

static void expect_options(const opencl_device *device, const tvlm_bundle *bundle, int32_t run,
                           const char *expected) {
    char options[80];
    tvlm_opencl_bundle_options(device, bundle, run, options);
    assert_string_equal(options, expected);
}

static void test_bundles(void **state) {
    tvlm_texture texture = {.width = 1}, scalar = {.width = 1, .scalar = true};
    const tvlm_view view = {0};
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    tvlm_bundle bundle = {0};
    char expected[80];
    (void)state;
    device.base.info.storage = TVLM_STORAGE_BUFFER;
    for (int i = 0; i < TVLM_BUNDLE_MAX; ++i) bundle.textures[i] = &texture;
    for (bundle.count = 0; bundle.count <= TVLM_BUNDLE_MAX; ++bundle.count) {
        snprintf(expected, sizeof expected, "-DBUNDLE_SIZE=%d -DRUN=3",
                 bundle.count < 2   ? 1
                 : bundle.count < 5 ? 4
                                    : 16);
        expect_options(&device, &bundle, 3, expected);
    }
    bundle.count = 2;
    bundle.textures[1] = &scalar;
    bundle.unit = true;
    bundle.views = &view;
    expect_options(&device, &bundle, 1,
                   "-DBUNDLE_SIZE=4 -DRUN=1 -DBUNDLE_UNIT=1 -DSAMPLES_SCALAR=1 -DRAGGED=1");
    device.base.info.storage = TVLM_STORAGE_IMAGE;
    expect_options(&device, &bundle, 1, "-DBUNDLE_SIZE=4 -DRUN=1 -DBUNDLE_UNIT=1 -DRAGGED=1");
}

static void expect_block(const opencl_device *device, const tvlm_bundle *bundle, tvlm_format format,
                         int32_t columns, int32_t rows) {
    const opencl_block block = tvlm_opencl_block(device, bundle, format);
    assert_int_equal(block.columns, columns);
    assert_int_equal(block.rows, rows);
}

/* Long runs go block by block on CPUs alone, and nowhere that loops must be short. */
static void test_blocks(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    tvlm_bundle bundle = {.count = 1};
    (void)state;
    device.base.info.storage = TVLM_STORAGE_BUFFER;
    device.tuning.run = 7;
    expect_block(&device, &bundle, TVLM_FORMAT_F32, 7, 1);
    device.tuning.run = 8;
    expect_block(&device, &bundle, TVLM_FORMAT_F32, 32, 8);
    expect_block(&device, &bundle, TVLM_FORMAT_U8, 8, 1);
    bundle.unit = true;
    expect_block(&device, &bundle, TVLM_FORMAT_F32, 8, 1);
    bundle.unit = false;
    device.short_loops = true;
    expect_block(&device, &bundle, TVLM_FORMAT_F32, 8, 1);
    device.short_loops = false;
    device.base.info.storage = TVLM_STORAGE_IMAGE;
    expect_block(&device, &bundle, TVLM_FORMAT_F32, 8, 1);
}

/* ---- Spare memory ---- */

/* Memory that is only a number here: whoever released it would end the program. */
static cl_mem memory_of(uintptr_t number) {
    return (cl_mem)(number << 12); /* NOLINT(performance-no-int-to-ptr) */
}

static void expect_taken(opencl_device *device, opencl_memory_kind kind, uintptr_t number, size_t bytes) {
    assert_ptr_equal(tvlm_opencl_spare_take(device, &kind), memory_of(number));
    assert_int_equal(kind.bytes, bytes);
}

static void test_spare_buffers(void **state) {
    static const size_t sizes[4] = {4096, 1024, 2048, 1024};
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    (void)state;
    device.spares.kept = true;
    device.base.held = 100;
    device.base.held_most = 100 + 8192;
    for (uintptr_t i = 0; i < 4; ++i)
        tvlm_opencl_spare_give(&device, memory_of(i + 1), &(opencl_memory_kind){.bytes = sizes[i]});
    assert_int_equal(device.spares.count, 4); /* all that was ever in use, to the byte */
    assert_int_equal(device.spares.bytes, 8192);
    expect_taken(&device, (opencl_memory_kind){.bytes = 1024}, 2, 1024); /* the one that has waited longest */
    expect_taken(&device, (opencl_memory_kind){.bytes = 1025}, 3, 2048); /* the smallest that it fits into */
    assert_int_equal(device.spares.bytes, 4096 + 1024);
    assert_ptr_equal(device.spares.all[0].memory, memory_of(1));
    assert_ptr_equal(device.spares.all[1].memory, memory_of(4));
    expect_taken(&device, (opencl_memory_kind){.bytes = 1}, 4, 1024);
    expect_taken(&device, (opencl_memory_kind){.bytes = 4096}, 1, 4096);
    assert_int_equal(device.spares.count, 0);
    assert_int_equal(device.spares.bytes, 0);
    /* New ones are up to a quarter larger, by steps of an eighth or more of them. */
    static const size_t asked[][2] = {{1, 1},
                                      {8, 8},
                                      {9, 9},
                                      {16, 16},
                                      {17, 18},
                                      {1000, 1024},
                                      {1024, 1024},
                                      {1025, 1152},
                                      {1152, 1280},
                                      {1153, 1280},
                                      {SIZE_MAX, SIZE_MAX}};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i)
        expect_taken(&device, (opencl_memory_kind){.bytes = asked[i][0]}, 0, asked[i][1]);
    expect_taken(&device, (opencl_memory_kind){.bytes = 1025, .width = 4}, 0, 1025);
    device.spares.kept = false;
    expect_taken(&device, (opencl_memory_kind){.bytes = 1025}, 0, 1025);
}

/* Spare memory goes, the oldest first, where there would be more than was ever in use, or more pieces than are kept. What
 * goes is no memory here, which nobody has to release. */
static void test_spare_room(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    (void)state;
    device.spares.kept = true;
    device.base.held_most = 1000;
    expect_taken(&device, (opencl_memory_kind){.bytes = 1001, .width = 1}, 0,
                 1001); /* there is nothing that could go */
    assert_int_equal(device.spares.count, 0);
    for (int i = 0; i < 3; ++i) device.spares.all[i].kind = (opencl_memory_kind){.bytes = 300};
    device.spares.count = 3;
    device.spares.bytes = 900;
    tvlm_opencl_spare_give(&device, memory_of(1), &(opencl_memory_kind){.bytes = 100});
    assert_int_equal(device.spares.count, 4);
    tvlm_opencl_spare_give(&device, memory_of(2), &(opencl_memory_kind){.bytes = 301});
    assert_int_equal(device.spares.count, 3);
    assert_int_equal(device.spares.bytes, 300 + 100 + 301);
    expect_taken(&device, (opencl_memory_kind){.bytes = 300, .width = 1}, 0, 300);
    assert_int_equal(device.spares.count, 2); /* 1001 would have been too much by one */
    for (int i = 2; i < SPARES_MAX; ++i)
        tvlm_opencl_spare_give(&device, memory_of(3), &(opencl_memory_kind){.bytes = 1});
    assert_int_equal(device.spares.count, SPARES_MAX);
    device.spares.all[0].memory = NULL;
    tvlm_opencl_spare_give(&device, memory_of(4), &(opencl_memory_kind){.bytes = 1});
    assert_int_equal(device.spares.count, SPARES_MAX);
    assert_ptr_equal(device.spares.all[0].memory, memory_of(2));
    assert_ptr_equal(device.spares.all[SPARES_MAX - 1].memory, memory_of(4));
    assert_int_equal(device.spares.bytes, 301 + SPARES_MAX - 1);
    for (int i = 0; i < SPARES_MAX; ++i) device.spares.all[i].memory = NULL;
    device.spares.count = 1; /* the last one goes, too */
    expect_taken(&device, (opencl_memory_kind){.bytes = 1000, .width = 1}, 0, 1000);
    assert_int_equal(device.spares.count, 0);
    device.spares.count = 1;
    device.spares.bytes = device.spares.all[0].kind.bytes;
    assert_true(tvlm_opencl_spares_release(&device));
    assert_int_equal(device.spares.bytes, 0);
    assert_false(tvlm_opencl_spares_release(&device));
}

/* An image serves only an image that is the same in everything. */
static void test_spare_images(void **state) {
    const opencl_memory_kind kind = {
        .bytes = 640, .slices = 2, .width = 8, .height = 5, .levels = 3, .order = CL_RGBA, .type = CL_FLOAT};
    opencl_memory_kind others[7];
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    (void)state;
    for (int i = 0; i < 7; ++i) others[i] = kind;
    others[0].slices = 3, others[1].width = 9, others[2].height = 6, others[3].levels = 2,
    others[4].order = CL_R;
    others[5].type = CL_HALF_FLOAT, others[6].width = 0;
    device.spares.kept = true;
    device.base.held_most = 2000;
    tvlm_opencl_spare_give(&device, memory_of(7), &kind);
    tvlm_opencl_spare_give(&device, NULL, &kind);
    assert_int_equal(device.spares.count, 1);
    for (int i = 0; i < 7; ++i) expect_taken(&device, others[i], 0, 640);
    expect_taken(&device, kind, 7, 640);
    tvlm_opencl_spare_give(&device, memory_of(7),
                           &(opencl_memory_kind){.bytes = 2000}); /* as much as was ever in use */
    expect_taken(&device, (opencl_memory_kind){.bytes = 2000}, 7, 2000);
}

/* ---- Files ---- */

static char folder[64];

static void put_kernel(const char *name, const char *text, size_t size) {
    char path[512];
    join(path, folder, name);
    write_file(path, text, size);
}

/* The text of a kernel file in the folder, or the line that says what is wrong. */
static void expect_source(const char *file, const char *expected, const char *words) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    char *text = NULL;
    device.kernel_dir = folder;
    const tvlm_status status = tvlm_opencl_kernel_source(&device, file, &text);
    assert_int_equal(status == TVLM_OK, words == NULL);
    if (words == NULL && expected != NULL) assert_string_equal(text, expected);
    if (words != NULL && strstr(test_last_log(), words) == NULL)
        fail_msg("'%s' is not in: %s", words, test_last_log());
    free(text);
}

static void test_kernel_text(void **state) {
    static const char a[] = "x\n#include \"b.clh\"\ny", last[] = "#include \"b.clh\"";
    (void)state;
    make_folder(folder);
    put_kernel("b.clh", "z\n", 2);
    put_kernel("a.cl", a, sizeof a - 1);
    expect_source("a.cl", "#line 1 \"cl/a.cl\"\nx\n#line 1 \"cl/b.clh\"\nz\n\n#line 3 \"cl/a.cl\"\ny\n",
                  NULL);
    put_kernel("a.cl", last, sizeof last - 1);
    expect_source("a.cl", "#line 1 \"cl/a.cl\"\n#line 1 \"cl/b.clh\"\nz\n\n#line 2 \"cl/a.cl\"\n\n", NULL);
    put_kernel("a.cl", "\n#include <b.clh>\n", 18);
    expect_source("a.cl", NULL, "a.cl:2: an #include without");
    put_kernel("a.cl", "#include \"no.clh\"\n", 18);
    expect_source("a.cl", NULL, "cannot open");
    expect_source("constants.h", NULL, NULL); /* lies among the C files */
    /* Eight files below the first one, and a ninth. */
    for (int i = 0; i < 9; ++i) {
        char name[16], text[32];
        snprintf(name, sizeof name, "%d.cl", i);
        snprintf(text, sizeof text, i == 8 ? "end" : "#include \"%d.cl\"", i + 1);
        put_kernel(name, text, strlen(text));
    }
    expect_source("0.cl", NULL, NULL);
    put_kernel("a.cl", "#include \"0.cl\"", 15);
    expect_source("a.cl", NULL, "kernel files include each other: 8.cl");
    remove_folder(folder);
}

/* Texts that fill the memory that they are read into, to the last byte and beyond. */
static void test_long_kernels(void **state) {
    enum { FIRST = 1 << 14 };
    static const char head[] = "#line 1 \"cl/a.cl\"\n";
    static const size_t sizes[] = {FIRST - 2, FIRST - 1, FIRST, 2 * FIRST - 1, 2 * FIRST, 5 * FIRST};
    static char text[5 * FIRST + 1], expected[sizeof text + sizeof head + 1];
    (void)state;
    make_folder(folder);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        for (size_t c = 0; c < sizes[i]; ++c) text[c] = c % 61 == 60 ? '\n' : (char)('a' + c % 23);
        text[sizes[i]] = '\0';
        put_kernel("a.cl", text, sizes[i]);
        snprintf(expected, sizeof expected, "%s%s\n", head, text);
        expect_source("a.cl", expected, NULL);
    }
    remove_folder(folder);
}

static void expect_read(const char *key, tvlm_status expected, const char *content) {
    unsigned char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(tvlm_opencl_cache_read(folder, key, ".x", &bytes, &size), expected);
    if (expected != TVLM_OK) return;
    assert_int_equal(size, strlen(content));
    assert_memory_equal(bytes, content, size);
    free(bytes);
}

/* A file of the least size is read, and none that others may write, that is cut, or that has another name. */
static void test_cache(void **state) {
    char path[512], other[512];
    struct stat about;
    (void)state;
    make_folder(folder);
    join(path, folder, "key.x");
    join(other, folder, "another.x");
    expect_read("key", TVLM_ERROR_IO, NULL);
    tvlm_opencl_cache_write(folder, "key", ".x", (const unsigned char *)"1", 1);
    expect_read("key", TVLM_OK, "1");
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 32 + 1);
#ifndef _WIN32 /* where the folder decides who may */
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(chmod(path, 0644), 0); /* others may read it */
    expect_read("key", TVLM_OK, "1");
    assert_int_equal(chmod(path, 0620), 0);
    expect_read("key", TVLM_ERROR_FORMAT, NULL);
    assert_int_equal(chmod(path, 0602), 0);
    expect_read("key", TVLM_ERROR_FORMAT, NULL);
    assert_int_equal(chmod(path, 0600), 0);
#endif
    assert_int_equal(rename(path, other), 0);
    expect_read("another", TVLM_ERROR_FORMAT, NULL);
    tvlm_opencl_cache_write(folder, "key", ".x", (const unsigned char *)"", 0); /* nothing is no program */
    expect_read("key", TVLM_ERROR_FORMAT, NULL);
    tvlm_opencl_cache_write(folder, "key", ".x", (const unsigned char *)"some more", 9);
    expect_read("key", TVLM_OK, "some more");
    assert_int_equal(truncate(path, 32 + 8), 0);
    expect_read("key", TVLM_ERROR_FORMAT, NULL);
    remove_folder(folder);
    /* Folders are made, all that are missing, for nobody else. */
    const size_t length = strlen(folder);
    snprintf(folder + length, sizeof folder - length, "/a/b");
    tvlm_opencl_cache_write(folder, "key", ".x", (const unsigned char *)"1", 1);
    expect_read("key", TVLM_OK, "1");
    assert_int_equal(stat(folder, &about), 0);
#ifndef _WIN32
    assert_int_equal(about.st_mode & 0777, 0700);
#endif
    folder[length] = '\0';
    remove_folder(folder);
}

static void test_cache_path(void **state) {
    char path[11];
    (void)state;
    assert_true(tvlm_opencl_cache_path("/folder", "k", ".", path, 11));
    assert_string_equal(path, "/folder/k.");
    assert_false(tvlm_opencl_cache_path("/folder", "k", ".", path, 10));
    assert_false(tvlm_opencl_cache_path(NULL, "k", ".", path, 11));
}

/* ---- Tuning ---- */

/* Whatever a device may have can be used, by each stage at each size alone, and is said in words. */
static void check_tuning(opencl_device *device, int32_t stage, int32_t choice) {
    const tvlm_tuner *const tuner = &tvlm_opencl_tuner;
    const int32_t settings = tuner->settings(&device->base, stage, choice);
    for (int32_t setting = 0; setting < settings; ++setting) {
        int32_t values[OPENCL_CHOICE_VALUES];
        char words[TVLM_TUNED_TEXT], expected[TVLM_TUNED_TEXT];
        tuner->defaults(&device->base);
        const int32_t usual = tuner->used(&device->base, stage, 1, choice);
        assert_int_equal(usual, tvlm_opencl_choice_default(&device->base, choice));
        assert_int_equal(tuner->use(&device->base, stage, 1, choice, setting), TVLM_OK);
        assert_int_equal(tuner->used(&device->base, stage, 1, choice), setting);
        assert_int_equal(tuner->used(&device->base, stage, 0, choice), usual);
        assert_int_equal(tuner->used(&device->base, stage, 2, choice), usual);
        const int32_t count = tvlm_opencl_choice_values(&device->base, choice, setting, values);
        size_t used = (size_t)snprintf(expected, sizeof expected, "%s", tvlm_opencl_choice_name(choice));
        for (int32_t v = 0; v < count; ++v)
            used += (size_t)snprintf(expected + used, sizeof expected - used, " %d", (int)values[v]);
        tuner->describe(&device->base, choice, setting, words);
        assert_string_equal(words, expected);
    }
    tuner->defaults(&device->base);
}

static void test_tuning(void **state) {
    static const struct {
        tvlm_device_type type;
        bool short_loops;
        int32_t group, tile, runs; /* how many settings these have */
        const char *words;         /* of its usual tiles */
    } rows[] = {{TVLM_DEVICE_GPU, false, 7, 8, 6, "tile 16 16 16 16"},
                {TVLM_DEVICE_GPU, true, 7, 4, 3, "tile 16 16 16 16"},
                {TVLM_DEVICE_CPU, true, 7, 4, 3, "tile 16 16 16 16"},
                {TVLM_DEVICE_CPU, false, 4, 4, 4, "tile 1 1 64 16"}};
    enum { GROUP = 0, TILE = 1, RUN = 3 };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        opencl_device device = device_of(rows[i].type);
        char words[TVLM_TUNED_TEXT];
        device.short_loops = rows[i].short_loops;
        device.tuning = tvlm_opencl_tuning_default(rows[i].type == TVLM_DEVICE_GPU || rows[i].short_loops);
        assert_int_equal(tvlm_opencl_tuner.settings(&device.base, TVLM_GRID_SALIENCY, GROUP), rows[i].group);
        assert_int_equal(tvlm_opencl_tuner.settings(&device.base, TVLM_GRID_VISUAL, TILE), rows[i].tile);
        assert_int_equal(tvlm_opencl_tuner.settings(&device.base, TVLM_GRID_SALIENCY, RUN), rows[i].runs);
        assert_int_equal(tvlm_opencl_tuner.settings(&device.base, TVLM_GRID_SALIENCY, TILE), 0);
        tvlm_opencl_tuner.describe(&device.base, TILE, tvlm_opencl_choice_default(&device.base, TILE), words);
        assert_string_equal(words, rows[i].words);
        for (int32_t stage = 0; stage < TVLM_TUNED_COUNT; ++stage)
            for (int32_t choice = 0; choice < tvlm_opencl_tuner.choices; ++choice)
                check_tuning(&device, stage, choice);
    }
}

/* ---- Errors ---- */

static void test_errors(void **state) {
    static const struct {
        cl_int error;
        tvlm_status status;
    } rows[] = {{CL_MEM_OBJECT_ALLOCATION_FAILURE, TVLM_ERROR_DEVICE_MEMORY},
                {CL_OUT_OF_RESOURCES, TVLM_ERROR_DEVICE_MEMORY},
                {CL_INVALID_BUFFER_SIZE, TVLM_ERROR_DEVICE_MEMORY},
                {CL_INVALID_IMAGE_SIZE, TVLM_ERROR_DEVICE_MEMORY},
                {CL_OUT_OF_HOST_MEMORY, TVLM_ERROR_MEMORY},
                {CL_INVALID_VALUE, TVLM_ERROR_DEVICE},
                {-9999, TVLM_ERROR_DEVICE}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        assert_int_equal(tvlm_opencl_fail_early(&test_log, rows[i].error, "call"), rows[i].status);
    assert_string_equal(strstr(test_last_log(), "call"), "call: an unknown OpenCL error (-9999)");
    assert_true(tvlm_opencl_larger(1.0, 2.0) == 2.0 && tvlm_opencl_larger(2.0, 1.0) == 2.0);
    assert_true(isnan(tvlm_opencl_larger(1.0, (double)NAN)) && isnan(tvlm_opencl_larger((double)NAN, 1.0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storage),       cmocka_unit_test(test_images),
        cmocka_unit_test(test_language),      cmocka_unit_test(test_levels),
        cmocka_unit_test(test_scalars),       cmocka_unit_test(test_extents),
        cmocka_unit_test(test_bundles),       cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_spare_buffers), cmocka_unit_test(test_spare_images),
        cmocka_unit_test(test_spare_room),    cmocka_unit_test(test_kernel_text),
        cmocka_unit_test(test_long_kernels),  cmocka_unit_test(test_cache),
        cmocka_unit_test(test_cache_path),    cmocka_unit_test(test_tuning),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
