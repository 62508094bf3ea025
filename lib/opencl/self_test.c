/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.c: runs kernels with known answers before any work starts, so that what a driver gets wrong is
 * switched off here and not met later. doc/drivers.md says what drivers were found to get wrong.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/half.h"
#include "core/try.h"
#include "opencl/backend.h"

enum {
    WIDTH = 5,
    HEIGHT = 3,
    /* As in cl/self_test.cl. */
    SLICES = 8,
    POINTS = 64,
    /* What is answered about a texture: the texels of the pattern and those of the slice behind it, the points, and
     * one more about numbers. */
    TEXELS = WIDTH * HEIGHT * SLICES,
    ALL_TEXELS = WIDTH * HEIGHT * (SLICES + 1),
    ANSWERS = ALL_TEXELS + POINTS + 1,
    /* The formats, in the order in which kernels take them: those of all storages, and bytes, which kernels read out of
     * buffers by themselves. And the most storages that are tested together. */
    FORMATS_OF_BUFFERS = 2,
    FORMATS = 4,
    TOGETHER = 2
};
static const tvlm_format formats[FORMATS] = {TVLM_FORMAT_F32, TVLM_FORMAT_F16, TVLM_FORMAT_U8,
                                             TVLM_FORMAT_S8};
/* What the pattern is multiplied by, so that it is a whole number of bytes; of signed ones it is negative. */
static const double scales[FORMATS] = {1.0, 1.0, 16.0 / 255.0, -16.0 / 127.0};

/* A storage, whose textures of all formats have the same kernels. */
typedef struct tested_storage {
    tvlm_storage storage;
    int formats;
    const char *write, *read;
} tested_storage;

static const tested_storage buffers = {TVLM_STORAGE_BUFFER, FORMATS_OF_BUFFERS, "self_test_write_buffer",
                                       "self_test_read_buffer"};
static const tested_storage images = {TVLM_STORAGE_IMAGE, FORMATS, "self_test_write_image",
                                      "self_test_read_image"};
static const tested_storage mipmapped = {TVLM_STORAGE_MIPMAPPED, FORMATS, "self_test_write_mipmapped",
                                         "self_test_read_mipmapped"};

/* Values that lie between two halves, of which a row of texels has the first five. */
static const cl_float8 between = {{0.1f, 1.00048828125f, 1.00146484375f, 0.7777f, 0.3333333f}};

/* How many turns the loop has, and the numbers of which a sum of a product shows how it is rounded: (1 + 2^-12)^2
 * is 1 + 2^-11 + 2^-24, of which float drops the last. */
#define TURNS       (1 << 17)
#define FACTOR      (1.0f + 1.0f / 4096.0f)
#define LESS_SQUARE (-(1.0f + 1.0f / 2048.0f))

/* Adds a result to the device's list of self-tests. `format` takes one double. */
static void report(opencl_device *device, const char *name, bool passed, const char *format, double value) {
    tvlm_device_info *info = &device->base.info;
    if (info->self_test_count == TVLM_SELF_TESTS_MAX) return;
    tvlm_self_test *test = &info->self_tests[info->self_test_count++];
    snprintf(test->name, sizeof test->name, "%s", name);
    test->passed = passed;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(test->detail, sizeof test->detail, format, value);
#pragma GCC diagnostic pop
}

static void pattern(int x, int y, int slice, float texel[4]) {
    texel[0] = (float)x;
    texel[1] = (float)y;
    texel[2] = (float)slice;
    texel[3] = 0.5f * (float)x + 0.25f * (float)y;
}

static tvlm_texture shape_of(tvlm_format format, int32_t slices, int32_t levels) {
    tvlm_texture shape = {.width = WIDTH,
                          .height = HEIGHT,
                          .layers = 1,
                          .images = slices,
                          .levels = levels,
                          .format = format,
                          .extent_x = WIDTH,
                          .extent_y = HEIGHT};
    if (format == TVLM_FORMAT_U8) shape.range = TVLM_RANGE_UNIT;
    if (format == TVLM_FORMAT_S8) shape.format = TVLM_FORMAT_U8, shape.range = TVLM_RANGE_SIGNED;
    return shape;
}

/* Begins a kernel of the program of all storages that are tested together. The format is the texture's alone. */
static tvlm_status begin(opencl_device *device, const char *name, bool with_images, opencl_call *call) {
    return tvlm_opencl_call_begin(device, "self_test.cl", name, TVLM_FORMAT_F32,
                                  with_images ? "-DSELF_TEST_IMAGES=1" : "-DSELF_TEST_IMAGES=0", call);
}

/* What a storage is tested with: a texture of each of its formats, and of images scalar ones, too. What the driver does not
 * list as bytes is half. */
typedef struct tested_textures {
    tvlm_texture *texels[FORMATS], *scalars[FORMATS];
} tested_textures;

static tvlm_status make(opencl_device *device, const tested_storage *tested, tested_textures *made) {
    device->base.info.storage = tested->storage;
    device->cl_std = tvlm_opencl_language(device, tested->storage);
    /* An image's kernels take a second one, which those of one level do not have. */
    if (tested->storage == TVLM_STORAGE_IMAGE && device->empty == NULL)
        TVLM_TRY(tvlm_opencl_empty_create(device));
    for (int i = 0; i < tested->formats; ++i) {
        tvlm_texture shape = shape_of(formats[i], SLICES + 1, 1);
        if (!device->byte_images) shape.range = TVLM_RANGE_ANY;
        TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, &made->texels[i]));
        shape.scalar = true;
        if (tested->storage == TVLM_STORAGE_IMAGE)
            TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, &made->scalars[i]));
    }
    return TVLM_OK;
}

static void destroy(opencl_device *device, tested_textures *made) {
    for (int i = 0; i < FORMATS; ++i) {
        tvlm_opencl_texture_destroy(&device->base, &made->texels[i]);
        tvlm_opencl_texture_destroy(&device->base, &made->scalars[i]);
    }
}

/* Enqueues the kernels of a storage. Its answers begin at the `first` one of `answers`. */
static tvlm_status ask(opencl_device *device, const tested_storage *tested, bool with_images,
                       const tested_textures *made, const tvlm_buffer *answers, int32_t first) {
    const size_t texels[3] = {WIDTH, HEIGHT, SLICES + 1}, questions = ANSWERS;
    opencl_call call;
    TVLM_TRY(begin(device, tested->write, with_images, &call));
    for (int i = 0; i < tested->formats; ++i) tvlm_opencl_call_output(&call, made->texels[i]);
    tvlm_opencl_call_bytes(&call, sizeof between, &between);
    for (int i = 0; i < tested->formats && made->scalars[i] != NULL; ++i)
        tvlm_opencl_call_scalar(&call, made->scalars[i]);
    TVLM_TRY(tvlm_opencl_call_run(&call, 3, texels, NULL));
    TVLM_TRY(begin(device, tested->read, with_images, &call));
    for (int i = 0; i < tested->formats; ++i) tvlm_opencl_call_input(&call, made->texels[i]);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)answers)->memory);
    tvlm_opencl_call_int(&call, first);
    for (int i = 0; i < tested->formats && made->scalars[i] != NULL; ++i)
        tvlm_opencl_call_input(&call, made->scalars[i]);
    if (tested == &buffers) {
        tvlm_opencl_call_int(&call, TURNS);
        tvlm_opencl_call_float4(&call, FACTOR, FACTOR, LESS_SQUARE, 0.0f);
    }
    return tvlm_opencl_call_run(&call, 1, &questions, NULL);
}

/* Asks about a storage, or about two, ANSWERS of each of its formats, and waits once for all of them. */
static tvlm_status ask_all(opencl_device *device, const tested_storage *const all[], int count,
                           cl_float4 *results) {
    int asked = 0;
    for (int i = 0; i < count; ++i) asked += all[i]->formats * ANSWERS;
    const size_t bytes = (size_t)asked * sizeof *results;
    const bool with_images = all[count - 1] == &images;
    tested_textures made[TOGETHER] = {0};
    tvlm_buffer *answers = NULL;
    memset(results, 0xff, bytes);
    tvlm_status status = tvlm_opencl_buffer_create(&device->base, bytes, &answers);
    for (int i = 0, first = 0; i < count && status == TVLM_OK; first += all[i++]->formats * ANSWERS) {
        status = make(device, all[i], &made[i]);
        if (status == TVLM_OK) status = ask(device, all[i], with_images, &made[i], answers, first);
    }
    if (status == TVLM_OK) status = tvlm_opencl_buffer_read(&device->base, answers, 0, bytes, results);
    for (int i = 0; i < count; ++i) destroy(device, &made[i]);
    tvlm_opencl_buffer_destroy(&device->base, &answers);
    return status;
}

/* What is looked at: a storage with textures of a format, whose tests have its name. */
typedef struct tested_kind {
    tvlm_storage storage;
    tvlm_format format;
} tested_kind;

static void report_of(opencl_device *device, const tested_kind *kind, const char *what, bool passed,
                      const char *detail, double value) {
    char name[32];
    snprintf(name, sizeof name, "%s_%s_%s", tvlm_storage_name(kind->storage), what,
             tvlm_format_name(kind->format));
    report(device, name, passed, detail, value);
}

/* Tests that every texel of every slice comes back as it was written. */
static bool test_slices(opencl_device *device, const tested_kind *kind, const cl_float4 *got) {
    int wrong = 0;
    for (int i = 0; i < TEXELS; ++i) {
        float expected[4];
        pattern(i % WIDTH, i / WIDTH % HEIGHT, i / (WIDTH * HEIGHT), expected);
        wrong += memcmp(&got[i], expected, sizeof expected) != 0; /* NOLINT(bugprone-*,cert-*): bits */
    }
    report_of(device, kind, "slices", wrong == 0, "%.0f of 120 texels wrong", wrong);
    return wrong == 0;
}

/* The largest error of bilinear reads. The pattern is linear in x and y, so that reads between centres have a known
 * answer. NaN counts as the largest. */
static double bilinear_error(const cl_float4 *got, double scale) {
    double worst = 0.0;
    for (int i = 0; i < POINTS; ++i) {
        const double x = i % 13 * 0.3071, y = i % 7 * 0.2913;
        const double expected[4] = {x, y, i % SLICES, 0.5 * x + 0.25 * y};
        for (int c = 0; c < 4; ++c) {
            const double error = fabs((double)got[i].s[c] / scale - expected[c]);
            worst = error <= worst ? worst : error;
        }
    }
    return worst;
}

/* Weights of 8 fractional bits, the fewest that hardware has, are off by at most 1/256 of a step of 1. */
#define BILINEAR_MOST (1.0 / 250.0)

static bool test_bilinear(opencl_device *device, const tested_kind *kind, const cl_float4 *got) {
    const double worst = bilinear_error(got, 1.0);
    const bool good = worst <= BILINEAR_MOST;
    report_of(device, kind, "bilinear", good, "largest error %.2g of a step", worst);
    return good;
}

/*
 * Tests whether values are stored as the nearest half, ties to even, as the reference stores them. OpenCL
 * lets images round otherwise; then kernels round before they write. More than a unit in the last place is a
 * failure.
 */
static bool test_half(opencl_device *device, const tested_kind *kind, const cl_float4 *rows, bool *nearest) {
    char name[32];
    double worst = 0.0;
    for (int i = 0; i < WIDTH; ++i) {
        const float stored = tvlm_half_to_float(tvlm_half_from_float(between.s[i]));
        const float expected[4] = {stored, -stored, stored, 0.0f};
        for (int c = 0; c < 4; ++c) {
            const double error = fabs((double)rows[i].s[c] - (double)expected[c]);
            worst = error <= worst ? worst : error;
        }
    }
    const bool good = worst <= 1.0 / 1024.0;
    *nearest = worst == 0.0;
    snprintf(name, sizeof name, "%s_half", tvlm_storage_name(kind->storage));
    report(device, name, good,
           *nearest ? "to the nearest, ties to even" : "off by up to %.2g: kernels round before they write",
           worst);
    return good;
}

/* Makes a texture with levels: at the left border of each slice one texel is IMPULSE in the last component. */
#define IMPULSE 12.0f
static tvlm_status with_levels(opencl_device *device, tvlm_texture **texture) {
    const tvlm_texture shape = shape_of(TVLM_FORMAT_F32, SLICES, 3);
    TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, texture));
    tvlm_status status = TVLM_OK;
    for (int slice = 0; slice < SLICES && status == TVLM_OK; ++slice) {
        float texels[WIDTH * HEIGHT][4];
        for (int i = 0; i < WIDTH * HEIGHT; ++i) {
            pattern(i % WIDTH, i / WIDTH, slice, texels[i]);
            texels[i][3] = i == WIDTH ? IMPULSE : 0.0f;
        }
        status = tvlm_opencl_texture_write(&device->base, *texture, slice, texels[0]);
    }
    return status == TVLM_OK ? tvlm_opencl_mips(&device->base, texture, 1) : status;
}

/* Samples a texture of the mipmapped storage at `count` points. */
static tvlm_status sample(opencl_device *device, const tvlm_texture *texture, size_t count,
                          const cl_float4 *points, cl_float4 *results) {
    const size_t bytes = count * sizeof *points;
    tvlm_buffer *in = NULL, *out = NULL;
    opencl_call call;
    tvlm_status status = tvlm_opencl_buffer_create(&device->base, bytes, &in);
    if (status == TVLM_OK) status = tvlm_opencl_buffer_create(&device->base, bytes, &out);
    if (status == TVLM_OK) status = tvlm_opencl_buffer_write(&device->base, in, 0, bytes, points);
    if (status == TVLM_OK) status = begin(device, "self_test_sample", false, &call);
    if (status == TVLM_OK) {
        tvlm_opencl_call_input(&call, texture);
        tvlm_opencl_call_memory(&call, ((opencl_buffer *)in)->memory);
        tvlm_opencl_call_memory(&call, ((opencl_buffer *)out)->memory);
        status = tvlm_opencl_call_run(&call, 1, &count, NULL);
    }
    if (status == TVLM_OK) status = tvlm_opencl_buffer_read(&device->base, out, 0, bytes, results);
    tvlm_opencl_buffer_destroy(&device->base, &in);
    tvlm_opencl_buffer_destroy(&device->base, &out);
    return status;
}

/*
 * Tests reads of mipmapped textures at the left border of the middle row, at whole levels, at a half, and beyond
 * the last. The levels have 5 x 3, 2 x 1 and 1 x 1 texels, so the first texel is the mean of one pixel, of two and
 * a half columns, and of all: x and the impulse's share differ at each, and a driver that ignores the level, or
 * takes another, does not pass. The slice is the same at all.
 */
static tvlm_status test_levels(opencl_device *device, bool *passed) {
    enum { COUNT = 4 };
    tvlm_texture *texture = NULL;
    cl_float4 got[COUNT];
    const cl_float4 points[COUNT] = {{{0.5f, 1.5f, 1.0f, 0.0f}},
                                     {{0.5f, 1.5f, 3.0f, 1.0f}},
                                     {{0.5f, 1.5f, 7.0f, 1.5f}},
                                     {{0.5f, 1.5f, 0.0f, 9.0f}}};
    static const double x[COUNT] = {0.0, 0.8, 1.4, 2.0}, share[COUNT] = {1.0, 2.0 / 15, 1.5 / 15, 1.0 / 15};
    tvlm_status status = with_levels(device, &texture);
    if (status == TVLM_OK) status = sample(device, texture, COUNT, points, got);
    if (status == TVLM_OK) {
        double worst = 0.0;
        for (int i = 0; i < COUNT; ++i) {
            const double errors[3] = {fabs(got[i].s[0] - x[i]), fabs(got[i].s[2] - (double)points[i].s[2]),
                                      fabs(got[i].s[3] / (double)IMPULSE - share[i])};
            for (int c = 0; c < 3; ++c) worst = errors[c] <= worst ? worst : errors[c];
        }
        const bool good = worst <= 0.02;
        report(device, "levels", good, "largest error %.2g", worst);
        *passed = *passed && good;
    }
    tvlm_opencl_texture_destroy(&device->base, &texture);
    return status;
}

/*
 * Tests a long loop. Mesa's llvmpipe (22.3) silently ends a kernel's loops after 65535 turns, all loops
 * counted together. Such a device gets many work-items that do little each, as a GPU does.
 */
static void test_loops(opencl_device *device, const cl_float4 *answer) {
    uint32_t expected = 1;
    for (int i = 0; i < TURNS; ++i) expected = expected * 1664525u + 1013904223u;
    const bool whole = answer->s[0] == (float)(expected >> 16) && answer->s[1] == (float)(expected & 0xffff);
    device->short_loops = !whole;
    report(device, "long_loops", whole,
           whole ? "%.0f turns" : "fewer than %.0f turns: many work-items do little each", TURNS);
}

/*
 * Tests that a product is rounded before something is added to it, as kernels ask for (FP_CONTRACT): with one
 * rounding for both results would differ from device to device in their last bits. The device is opened all the
 * same.
 */
static void test_contraction(opencl_device *device, const cl_float4 *answer) {
    const float got = answer->s[2];
    report(device, "contraction", got == 0.0f,
           got == 0.0f ? "products are rounded before sums"
                       : "a * b + c is off by %.2g: last bits may differ",
           (double)got);
}

/* Tests images of one component. They are not used where they fail, and images of four take their place. */
static void test_scalar(opencl_device *device, tvlm_format format, const cl_float4 *answer) {
    bool *const has = &device->scalar_images[format];
    const float wrong = answer->s[3];
    char name[32];
    if (!*has) return;
    *has = wrong == 0.0f;
    snprintf(name, sizeof name, "scalar_%s", tvlm_format_name(format));
    report(device, name, *has,
           *has ? "images of one component"
                : "%.0f reads of images of one component wrong: four take their place",
           (double)wrong);
}

/* Tests images of bytes, unsigned and signed, whose answers these are. Stacks of bytes are refused where they fail. */
static bool test_bytes(opencl_device *device, tvlm_storage storage, const cl_float4 *got) {
    double worst = device->byte_images ? 0.0 : INFINITY;
    char name[32];
    for (int f = FORMATS_OF_BUFFERS; f < FORMATS; ++f, got += ANSWERS) {
        const double between_texels = bilinear_error(got + ALL_TEXELS, scales[f]);
        worst = between_texels <= worst ? worst : between_texels;
        for (int i = 0; i < TEXELS; ++i) {
            float expected[4];
            pattern(i % WIDTH, i / WIDTH % HEIGHT, i / (WIDTH * HEIGHT), expected);
            for (int c = 0; c < 4; ++c) {
                const double error = fabs((double)got[i].s[c] / scales[f] - (double)expected[c]);
                worst = error <= worst ? worst : error;
            }
        }
    }
    const bool good = worst <= BILINEAR_MOST;
    snprintf(name, sizeof name, "bytes_%s", tvlm_storage_name(storage));
    report(device, name, good,
           device->byte_images ? "largest error %.2g of a step" : "not listed by the driver", worst);
    return good;
}

/* Looks at the answers about a storage. */
static void judge(opencl_device *device, const tested_storage *tested, const cl_float4 *answers,
                  opencl_ability *ability) {
    const cl_float4 *const numbers = answers + ANSWERS - 1;
    *ability = (opencl_ability){.works = true, .bytes = true};
    for (int i = 0; i < FORMATS_OF_BUFFERS; ++i) {
        const tested_kind kind = {tested->storage, formats[i]};
        const cl_float4 *const own = answers + i * ANSWERS;
        const bool slices = test_slices(device, &kind, own);
        const bool bilinear = test_bilinear(device, &kind, own + ALL_TEXELS);
        ability->works = ability->works && slices && bilinear;
        if (kind.format == TVLM_FORMAT_F16 && !test_half(device, &kind, own + TEXELS, &ability->rounds))
            ability->works = false;
    }
    if (tested == &images)
        for (int i = 0; i < FORMATS; ++i) test_scalar(device, formats[i], answers + (i + 1) * ANSWERS - 1);
    if (tested != &buffers) {
        ability->bytes = test_bytes(device, tested->storage, answers + FORMATS_OF_BUFFERS * ANSWERS);
        return;
    }
    test_loops(device, numbers);
    test_contraction(device, numbers);
}

static tvlm_status fail_lost(const opencl_device *device, const tvlm_log *log) {
    return tvlm_fail(log, TVLM_ERROR_LOST, "the device '%s' is lost: it went in the self-test",
                     device->base.info.name);
}

/*
 * Tests a storage alone.
 *
 * A driver that refuses a step of a test fails that test, which is no reason not to open the device. But every
 * device has buffers. If kernels come from a folder, or memory is short, what goes wrong with buffers is not the
 * driver's doing, and it is reported.
 */
static tvlm_status probe_alone(opencl_device *device, const tested_storage *tested, opencl_ability *ability) {
    const bool is_buffers = tested == &buffers;
    const char *const name = tvlm_storage_name(tested->storage);
    const tvlm_log log = device->base.log;
    cl_float4 answers[FORMATS * ANSWERS];
    *ability = (opencl_ability){.works = false};
    if (!is_buffers || device->kernel_dir == NULL) device->base.log = (tvlm_log){NULL, NULL};
    tvlm_status status = ask_all(device, &tested, 1, answers);
    if (status == TVLM_OK) judge(device, tested, answers, ability);
    if (status == TVLM_OK && tested == &mipmapped) status = test_levels(device, &ability->works);
    device->base.log = log;
    if (status == TVLM_OK || (is_buffers && device->kernel_dir != NULL)) return status;
    if (status == TVLM_ERROR_LOST) return fail_lost(device, &log);
    if (status == TVLM_ERROR_MEMORY || (is_buffers && status == TVLM_ERROR_DEVICE_MEMORY))
        return tvlm_fail(&log, status, "%s: out of memory in the self-test", device->base.info.name);
    ability->works = false;
    if (status == TVLM_ERROR_DEVICE_MEMORY) {
        /* What says nothing about the driver must not cost the storage without a word. */
        report(device, name, false, "out of device memory: not tested", 0.0);
        tvlm_log_message(&log, TVLM_LOG_WARNING,
                         "%s: no device memory to test storage '%s', which is not used therefore",
                         device->base.info.name, name);
    } else {
        report(device, name, false, "the driver refused (status %.0f)", (double)status);
    }
    return TVLM_OK;
}

/* Tests buffers and images by one program and with one wait. Where anything goes wrong, each is tested alone,
 * which shows whose fault it is. */
static tvlm_status probe_both(opencl_device *device, opencl_ability abilities[]) {
    const tvlm_log log = device->base.log;
    const tested_storage *const both[TOGETHER] = {&buffers, &images};
    cl_float4 answers[TOGETHER * FORMATS * ANSWERS];
    device->base.log = (tvlm_log){NULL, NULL};
    const tvlm_status status = ask_all(device, both, TOGETHER, answers);
    device->base.log = log;
    if (status == TVLM_ERROR_LOST) return fail_lost(device, &log);
    if (status == TVLM_OK) {
        judge(device, &buffers, answers, &abilities[TVLM_STORAGE_BUFFER]);
        judge(device, &images, answers + FORMATS_OF_BUFFERS * ANSWERS, &abilities[TVLM_STORAGE_IMAGE]);
        return TVLM_OK;
    }
    tvlm_opencl_programs_destroy(device);
    TVLM_TRY(probe_alone(device, &buffers, &abilities[TVLM_STORAGE_BUFFER]));
    tvlm_opencl_programs_destroy(device);
    return probe_alone(device, &images, &abilities[TVLM_STORAGE_IMAGE]);
}

/* Tests a storage, or buffers and the images with them where `with` is not NULL. */
static tvlm_status probe_once(opencl_device *device, const tested_storage *tested, const tested_storage *with,
                              opencl_ability abilities[], bool *works) {
    *works = false;
    if (tested != &buffers || with != NULL) TVLM_TRY(tvlm_opencl_image_formats(device));
    const tvlm_status status = with != NULL ? probe_both(device, abilities)
                                            : probe_alone(device, tested, &abilities[tested->storage]);
    /* What comes next builds programs of its own. */
    tvlm_opencl_programs_destroy(device);
    *works = status == TVLM_OK && abilities[tested->storage].works &&
             (with == NULL || abilities[with->storage].works);
    return status;
}

/*
 * Tests as probe_once() does. A program from the cache on disk may be why a test fails: then it is run again with
 * programs that are built anew, and take the place of those. If that helps, all other programs of the device are built
 * anew, too.
 */
static tvlm_status probe(opencl_device *device, const tested_storage *tested, const tested_storage *with,
                         opencl_ability abilities[]) {
    const int32_t before = device->base.info.self_test_count;
    bool works;
    device->cache_used = false;
    const tvlm_status once = probe_once(device, tested, with, abilities, &works);
    if (works || once == TVLM_ERROR_LOST || !device->cache_used) return once;
    device->base.info.self_test_count = before;
    device->cache_distrusted = true;
    const tvlm_status again = probe_once(device, tested, with, abilities, &works);
    device->cache_distrusted = works;
    return again;
}

tvlm_status tvlm_opencl_self_test(opencl_device *device, bool images_matter, opencl_ability abilities[]) {
    const tvlm_device_info *info = &device->base.info;
    const bool has_images = info->images && info->image_slices_max > SLICES;
    for (int i = 0; i <= TVLM_STORAGE_MIPMAPPED; ++i) abilities[i] = (opencl_ability){.works = false};
    TVLM_TRY(probe(device, &buffers, images_matter && has_images ? &images : NULL, abilities));
    if (!images_matter && has_images && !abilities[TVLM_STORAGE_BUFFER].works)
        TVLM_TRY(probe(device, &images, NULL, abilities));
    /* Mip levels are never tried without the extension, since PoCL 3.1 aborts the process on them. */
    if (abilities[TVLM_STORAGE_IMAGE].works && info->mipmap_extension && device->mip_sampler != NULL)
        TVLM_TRY(probe(device, &mipmapped, NULL, abilities));
    return TVLM_OK;
}
