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
    /* How many answers there are about a texture: the texels of the pattern, those of the slice behind it,
     * the points, and one more about numbers. */
    TEXELS = WIDTH * HEIGHT * SLICES,
    ALL_TEXELS = WIDTH * HEIGHT * (SLICES + 1),
    ANSWERS = ALL_TEXELS + POINTS + 1,
    /* The formats that one kernel asks about, and the most storages that are tested together. */
    FORMATS = 2,
    TOGETHER = 2
};

/* Formats that are tested together. Bytes are a pair of their own. They are tested only when somebody wants
 * them, since few stacks are of bytes, and each image costs a driver an allocation. In buffers they need no
 * test, because kernels read them by themselves. */
typedef struct tested_formats {
    tvlm_format formats[FORMATS];
    /* What the pattern is multiplied by, so that it becomes a whole number of bytes. For signed bytes it is
     * negative. */
    double scales[FORMATS];
    /* What the numbers in images of one component are divided by. */
    float wholes[FORMATS];
} tested_formats;

static const tested_formats floats = {{TVLM_FORMAT_F32, TVLM_FORMAT_F16}, {1.0, 1.0}, {1.0f, 1.0f}};
static const tested_formats bytes = {
    {TVLM_FORMAT_U8, TVLM_FORMAT_S8}, {16.0 / 255.0, -16.0 / 127.0}, {255.0f, -127.0f}};

/* A storage with two formats. Textures of both have the same kernels. */
typedef struct tested_storage {
    tvlm_storage storage;
    const tested_formats *of;
    const char *write, *read;
} tested_storage;

static const tested_storage buffers = {TVLM_STORAGE_BUFFER, &floats, "self_test_write_buffer",
                                       "self_test_read_buffer"};
static const tested_storage images = {TVLM_STORAGE_IMAGE, &floats, "self_test_write_image",
                                      "self_test_read_image"};
static const tested_storage mipmapped = {TVLM_STORAGE_MIPMAPPED, &floats, "self_test_write_mipmapped",
                                         "self_test_read_mipmapped"};
static const tested_storage image_bytes = {TVLM_STORAGE_IMAGE, &bytes, "self_test_write_image",
                                           "self_test_read_image"};
static const tested_storage mipmapped_bytes = {TVLM_STORAGE_MIPMAPPED, &bytes, "self_test_write_mipmapped",
                                               "self_test_read_mipmapped"};

/* Values that lie between two halves. The first five of them stand in a row of texels. */
static const cl_float8 between = {{0.1f, 1.00048828125f, 1.00146484375f, 0.7777f, 0.3333333f}};

/* How many turns the loop has; and numbers whose product plus a third number shows how the product is
 * rounded: (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24, and float drops the last term. */
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

/* The pattern, and a slice behind it. */
static tvlm_texture shape_of(tvlm_format format) {
    tvlm_texture shape = {.width = WIDTH,
                          .height = HEIGHT,
                          .layers = 1,
                          .images = SLICES + 1,
                          .levels = 1,
                          .format = format,
                          .extent_x = WIDTH,
                          .extent_y = HEIGHT};
    if (format == TVLM_FORMAT_U8) shape.range = TVLM_RANGE_UNIT;
    if (format == TVLM_FORMAT_S8) shape.format = TVLM_FORMAT_U8, shape.range = TVLM_RANGE_SIGNED;
    return shape;
}

/* Begins a kernel. All storages that are tested together share one program; the format is known to the
 * texture alone. */
static tvlm_status begin(opencl_device *device, const char *name, bool with_images, opencl_call *call) {
    return tvlm_opencl_call_begin(device, "self_test.cl", name, TVLM_FORMAT_F32,
                                  with_images ? "-DSELF_TEST_IMAGES=1" : "-DSELF_TEST_IMAGES=0", call);
}

/* What a storage is tested with: a texture of each format, and for images also scalar textures. */
typedef struct tested_textures {
    tvlm_texture *texels[FORMATS], *scalars[FORMATS];
    /* For buffers the textures have no memory of their own. They are pieces of the answers' memory, and begin
     * at the texels `places`. */
    opencl_texture pieces[FORMATS];
    cl_int2 places;
} tested_textures;

/* The bytes of the textures that buffers are tested with. */
static const size_t pieces_bytes = (size_t)ALL_TEXELS * (16 + 8);

/* Makes the textures of buffers as pieces of the memory behind `asked` answers. */
static void make_pieces(const tvlm_buffer *answers, int asked, tested_textures *made) {
    for (int i = 0; i < FORMATS; ++i) {
        made->pieces[i] = (opencl_texture){.base = shape_of(buffers.of->formats[i]),
                                           .components = 4,
                                           .level0 = ((const opencl_buffer *)answers)->memory};
        made->texels[i] = &made->pieces[i].base;
    }
    made->places = (cl_int2){{asked, 2 * (asked + ALL_TEXELS)}};
}

static tvlm_status make(opencl_device *device, const tested_storage *tested, const tvlm_buffer *answers,
                        int asked, tested_textures *made) {
    device->base.info.storage = tested->storage;
    device->cl_std = tvlm_opencl_language(device, tested->storage);
    if (tested == &buffers) {
        make_pieces(answers, asked, made);
        return TVLM_OK;
    }
    for (int i = 0; i < FORMATS; ++i) {
        tvlm_texture shape = shape_of(tested->of->formats[i]);
        TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, &made->texels[i]));
        shape.scalar = true;
        if (tested->storage == TVLM_STORAGE_IMAGE)
            TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, &made->scalars[i]));
    }
    return TVLM_OK;
}

static void destroy(opencl_device *device, tested_textures *made) {
    for (int i = 0; i < FORMATS; ++i) {
        if (made->pieces[i].level0 == NULL) tvlm_opencl_texture_destroy(&device->base, &made->texels[i]);
        tvlm_opencl_texture_destroy(&device->base, &made->scalars[i]);
    }
}

/* Passes what the pattern and the numbers are multiplied by; for buffers, where the textures begin. */
static void call_scales(opencl_call *call, const tested_storage *tested, const tested_textures *made) {
    const tested_formats *const of = tested->of;
    if (tested == &buffers)
        tvlm_opencl_call_bytes(call, sizeof made->places, &made->places);
    else
        tvlm_opencl_call_float4(call, (float)of->scales[0], (float)of->scales[1], of->wholes[0],
                                of->wholes[1]);
}

/* Enqueues the kernels of a storage. Its answers begin at the `first` one of `answers`. */
static tvlm_status ask(opencl_device *device, const tested_storage *tested, bool with_images,
                       const tested_textures *made, const tvlm_buffer *answers, int32_t first) {
    const size_t texels[3] = {WIDTH, HEIGHT, SLICES + 1}, questions = ANSWERS;
    opencl_call call;
    TVLM_TRY(begin(device, tested->write, with_images, &call));
    for (int i = 0; i < FORMATS; ++i) tvlm_opencl_call_output(&call, made->texels[i]);
    tvlm_opencl_call_bytes(&call, sizeof between, &between);
    call_scales(&call, tested, made);
    for (int i = 0; i < FORMATS && made->scalars[i] != NULL; ++i)
        tvlm_opencl_call_scalar(&call, made->scalars[i]);
    TVLM_TRY(tvlm_opencl_call_run(&call, 3, texels, NULL));
    TVLM_TRY(begin(device, tested->read, with_images, &call));
    for (int i = 0; i < FORMATS; ++i) tvlm_opencl_call_input(&call, made->texels[i]);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)answers)->memory);
    tvlm_opencl_call_int(&call, first);
    if (tested->storage != TVLM_STORAGE_MIPMAPPED) call_scales(&call, tested, made);
    for (int i = 0; i < FORMATS && made->scalars[i] != NULL; ++i)
        tvlm_opencl_call_input(&call, made->scalars[i]);
    if (tested == &buffers) {
        tvlm_opencl_call_int(&call, TURNS);
        tvlm_opencl_call_float4(&call, FACTOR, FACTOR, LESS_SQUARE, 0.0f);
    }
    return tvlm_opencl_call_run(&call, 1, &questions, NULL);
}

/* Asks about one storage, or about two: ANSWERS questions for each of its formats. It waits once for all
 * answers. */
static tvlm_status ask_all(opencl_device *device, const tested_storage *const all[], int count,
                           cl_float4 *results) {
    const int asked = count * FORMATS * ANSWERS;
    const size_t size = (size_t)asked * sizeof *results;
    const bool with_images = all[count - 1]->storage == TVLM_STORAGE_IMAGE;
    tested_textures made[TOGETHER] = {0};
    tvlm_buffer *answers = NULL;
    memset(results, 0xff, size);
    tvlm_status status =
        tvlm_opencl_buffer_create(&device->base, all[0] == &buffers ? size + pieces_bytes : size, &answers);
    for (int i = 0; i < count && status == TVLM_OK; ++i) {
        status = make(device, all[i], answers, asked, &made[i]);
        if (status == TVLM_OK)
            status = ask(device, all[i], with_images, &made[i], answers, i * FORMATS * ANSWERS);
    }
    if (status == TVLM_OK) status = tvlm_opencl_buffer_read(&device->base, answers, 0, size, results);
    for (int i = 0; i < count; ++i) destroy(device, &made[i]);
    tvlm_opencl_buffer_destroy(&device->base, &answers);
    return status;
}

/* What is looked at: textures of a format in a storage. The names of their tests say both. */
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

/* The largest error of bilinear reads. The pattern is linear in x and y, so that the answer of a read between
 * centres is known. NaN counts as the largest. */
static double bilinear_error(const cl_float4 *got, double scale) {
    double worst = 0.0;
    for (int i = 0; i < POINTS; ++i) {
        const double x = i % 13 * 0.3071, y = i % 7 * 0.2913;
        const double expected[4] = {x, y, i % SLICES, 0.5 * x + 0.25 * y};
        for (int c = 0; c < 4; ++c) {
            const double error = fabs((double)got[i].s[c] / scale - expected[c]);
            worst = tvlm_opencl_larger(worst, error);
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
            worst = tvlm_opencl_larger(worst, error);
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

static tvlm_status test_levels(opencl_device *device, bool *passed) {
    double worst = 0.0;
    TVLM_TRY(tvlm_opencl_levels_error(device, &worst));
    report(device, "levels", worst <= 0.02, "largest error %.2g", worst);
    *passed = *passed && worst <= 0.02;
    return TVLM_OK;
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
 * Tests that a product is rounded before something is added to it, as kernels ask for (FP_CONTRACT). If both
 * were rounded once, results would differ from device to device in their last bits. The device is opened all
 * the same.
 */
static void test_contraction(opencl_device *device, const cl_float4 *answer) {
    const float got = answer->s[2];
    report(device, "contraction", got == 0.0f,
           got == 0.0f ? "products are rounded before sums"
                       : "a * b + c is off by %.2g: last bits may differ",
           (double)got);
}

/* Tests images of one component. Where they fail they are not used, and images of four components take their
 * place. */
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

static void report_bytes(opencl_device *device, tvlm_storage storage, bool passed, const char *detail,
                         double value) {
    char name[32];
    snprintf(name, sizeof name, "bytes_%s", tvlm_storage_name(storage));
    report(device, name, passed, detail, value);
}

/* Looks at the answers about images of bytes, unsigned and signed. Where they fail stacks of bytes are
 * refused. */
static bool judge_bytes(opencl_device *device, const tested_storage *tested, const cl_float4 *answers) {
    double worst = 0.0;
    for (int f = 0; f < FORMATS; ++f) {
        const cl_float4 *const got = answers + (ptrdiff_t)f * ANSWERS;
        const double scale = bytes.scales[f], between_texels = bilinear_error(got + ALL_TEXELS, scale);
        worst = tvlm_opencl_larger(worst, between_texels);
        for (int i = 0; i < TEXELS; ++i) {
            float expected[4];
            pattern(i % WIDTH, i / WIDTH % HEIGHT, i / (WIDTH * HEIGHT), expected);
            for (int c = 0; c < 4; ++c) {
                const double error = fabs((double)got[i].s[c] / scale - (double)expected[c]);
                worst = tvlm_opencl_larger(worst, error);
            }
        }
    }
    report_bytes(device, tested->storage, worst <= BILINEAR_MOST, "largest error %.2g of a step", worst);
    return worst <= BILINEAR_MOST;
}

/* Looks at the answers about images of one component. */
static void judge_scalars(opencl_device *device, const tested_storage *tested, const cl_float4 *answers) {
    if (tested->storage != TVLM_STORAGE_IMAGE) return;
    for (int i = 0; i < FORMATS; ++i)
        test_scalar(device, tested->of->formats[i], answers + (ptrdiff_t)(i + 1) * ANSWERS - 1);
}

static void judge(opencl_device *device, const tested_storage *tested, const cl_float4 *answers,
                  opencl_ability *ability) {
    const cl_float4 *const numbers = answers + ANSWERS - 1;
    *ability = (opencl_ability){.works = true};
    for (int i = 0; i < FORMATS; ++i) {
        const tested_kind kind = {tested->storage, floats.formats[i]};
        const cl_float4 *const own = answers + (ptrdiff_t)i * ANSWERS;
        const bool slices = test_slices(device, &kind, own);
        const bool bilinear = test_bilinear(device, &kind, own + ALL_TEXELS);
        ability->works = ability->works && slices && bilinear;
        if (kind.format == TVLM_FORMAT_F16 && !test_half(device, &kind, own + TEXELS, &ability->rounds))
            ability->works = false;
    }
    judge_scalars(device, tested, answers);
    if (tested != &buffers) return;
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
 * A driver that refuses a step of a test fails that test, which is no reason not to open the device. But
 * every device has buffers. If kernels come from a folder, or if memory is short, what goes wrong with
 * buffers is not the driver's doing. Then the error is reported.
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
        /* A lack of memory says nothing about the driver, so it must not cost the storage without a word. */
        report(device, name, false, "out of device memory: not tested", 0.0);
        tvlm_log_message(&log, TVLM_LOG_WARNING,
                         "%s: no device memory to test storage '%s', which is not used therefore",
                         device->base.info.name, name);
    } else {
        report(device, name, false,
               "the driver refused (status %.0f), as some do where the disk or $TMPDIR is full",
               (double)status);
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
        judge(device, &images, answers + FORMATS * ANSWERS, &abilities[TVLM_STORAGE_IMAGE]);
        return TVLM_OK;
    }
    tvlm_opencl_programs_destroy(device);
    TVLM_TRY(probe_alone(device, &buffers, &abilities[TVLM_STORAGE_BUFFER]));
    tvlm_opencl_programs_destroy(device);
    return probe_alone(device, &images, &abilities[TVLM_STORAGE_IMAGE]);
}

/*
 * Tests images of bytes. A lack of memory says nothing about the driver: then the status says so, and nothing
 * is known. The floats of this storage have passed their tests, so what a driver refuses is the bytes.
 */
static tvlm_status probe_bytes(opencl_device *device, const tested_storage *tested, opencl_ability *ability) {
    const tvlm_log log = device->base.log;
    cl_float4 answers[FORMATS * ANSWERS];
    ability->asked_bytes = !device->byte_images;
    ability->bytes = false;
    if (!device->byte_images) {
        report_bytes(device, tested->storage, false, "not listed by the driver", 0.0);
        return TVLM_OK;
    }
    device->base.log = (tvlm_log){NULL, NULL};
    const tvlm_status status = ask_all(device, &tested, 1, answers);
    device->base.log = log;
    if (status == TVLM_ERROR_LOST) return fail_lost(device, &log);
    if (status == TVLM_ERROR_MEMORY || status == TVLM_ERROR_DEVICE_MEMORY)
        return tvlm_fail(&log, status, "%s: out of memory in the self-test of bytes", device->base.info.name);
    ability->asked_bytes = true;
    if (status == TVLM_OK) {
        ability->bytes = judge_bytes(device, tested, answers);
        judge_scalars(device, tested, answers);
    } else {
        report_bytes(device, tested->storage, false, "the driver refused (status %.0f)", (double)status);
    }
    return TVLM_OK;
}

/* Tests a storage. Where `with` is not NULL, buffers and images are tested together. */
static tvlm_status probe_once(opencl_device *device, const tested_storage *tested, const tested_storage *with,
                              opencl_ability abilities[], bool *works) {
    opencl_ability *const ability = &abilities[tested->storage];
    *works = false;
    if (tested->of == &bytes) {
        const tvlm_status status = probe_bytes(device, tested, ability);
        tvlm_opencl_program_forget(device, "self_test.cl"); /* the other programs are in use */
        *works = status == TVLM_OK && ability->bytes;
        return status;
    }
    if (tested == &images || with != NULL) TVLM_TRY(tvlm_opencl_image_formats(device));
    const tvlm_status status =
        with != NULL ? probe_both(device, abilities) : probe_alone(device, tested, ability);
    /* What comes next builds programs of its own. */
    tvlm_opencl_programs_destroy(device);
    *works = status == TVLM_OK && ability->works && (with == NULL || abilities[with->storage].works);
    return status;
}

/*
 * Tests as probe_once() does. A test may fail because of a program from the cache on disk. Then it is run
 * again with programs that are built anew and take the place of those. If that helps, all other programs of
 * the device are built anew, too.
 */
static tvlm_status probe(opencl_device *device, const tested_storage *tested, const tested_storage *with,
                         opencl_ability abilities[]) {
    const int32_t before = device->base.info.self_test_count;
    const bool distrusted = device->cache_distrusted;
    bool works;
    device->cache_used = false;
    const tvlm_status once = probe_once(device, tested, with, abilities, &works);
    if (works || once == TVLM_ERROR_LOST || !device->cache_used) return once;
    device->base.info.self_test_count = before;
    device->cache_distrusted = true;
    const tvlm_status again = probe_once(device, tested, with, abilities, &works);
    device->cache_distrusted = works || distrusted;
    return again;
}

/* Tests bytes when the device is opened. A lack of memory leaves the question open, and is no reason not to
 * open the device. */
static tvlm_status probe_bytes_too(opencl_device *device, const tested_storage *tested,
                                   opencl_ability abilities[]) {
    const tvlm_log log = device->base.log;
    device->base.log = (tvlm_log){NULL, NULL};
    const tvlm_status status = probe(device, tested, NULL, abilities);
    device->base.log = log;
    if (status == TVLM_ERROR_LOST) return fail_lost(device, &log);
    if (status != TVLM_OK)
        tvlm_log_message(&log, TVLM_LOG_WARNING, "%s: no memory to test images of bytes in storage '%s'",
                         device->base.info.name, tvlm_storage_name(tested->storage));
    return TVLM_OK;
}

tvlm_status tvlm_opencl_self_test(opencl_device *device, bool images_matter, bool with_bytes,
                                  opencl_ability abilities[]) {
    const tvlm_device_info *info = &device->base.info;
    const bool has_images = info->images && info->image_slices_max > SLICES;
    for (int i = 0; i <= TVLM_STORAGE_MIPMAPPED; ++i) abilities[i] = (opencl_ability){.works = false};
    TVLM_TRY(probe(device, &buffers, images_matter && has_images ? &images : NULL, abilities));
    if (!images_matter && has_images && !abilities[TVLM_STORAGE_BUFFER].works)
        TVLM_TRY(probe(device, &images, NULL, abilities));
    if (with_bytes && abilities[TVLM_STORAGE_IMAGE].works)
        TVLM_TRY(probe_bytes_too(device, &image_bytes, abilities));
    /* Mip levels are never tried without the extension, since PoCL 3.1 aborts the process on them. */
    if (abilities[TVLM_STORAGE_IMAGE].works && info->mipmap_extension && device->mip_sampler != NULL)
        TVLM_TRY(probe(device, &mipmapped, NULL, abilities));
    if (with_bytes && abilities[TVLM_STORAGE_MIPMAPPED].works)
        TVLM_TRY(probe_bytes_too(device, &mipmapped_bytes, abilities));
    abilities[TVLM_STORAGE_BUFFER].bytes = true; /* kernels read them by themselves */
    return TVLM_OK;
}

tvlm_status tvlm_opencl_ask_bytes(tvlm_device *base) {
    opencl_device *device = (opencl_device *)base;
    opencl_ability abilities[TVLM_STORAGE_MIPMAPPED + 1] = {0};
    const tvlm_storage storage = base->info.storage;
    if (device->asked_bytes) return TVLM_OK;
    if (storage == TVLM_STORAGE_BUFFER)
        abilities[storage].bytes = abilities[storage].asked_bytes = true;
    else
        TVLM_TRY(
            probe(device, storage == TVLM_STORAGE_IMAGE ? &image_bytes : &mipmapped_bytes, NULL, abilities));
    tvlm_opencl_take_bytes(device, &abilities[storage]);
    return TVLM_OK;
}
