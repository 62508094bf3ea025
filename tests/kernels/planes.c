/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planes.c: frames of every kind in buffers are converted to another size, and compared with the reference.
 * The reference is tested against what is known: NV12 by the integers of the standards' tables, and
 * resampling as the host does it. test_interop_images.c has frames in images.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/family.h"
#include "stack/planes.h"
#include "stack/resample.h"

/* There are products and sums in float, against double: products of the shares of two axes, sums of four
 * terms of NV12 (coefficients up to 2.2), and sums of up to a thousand pixels. */
static const test_tolerance tolerance = {1e-6f, 1.5e-7f, 0.0f};

enum { OFFSET = 8, GAP = 12 };

typedef struct frame {
    unsigned char *bytes;
    size_t size;
    tvlm_planes planes; /* without memory */
    bool apart;         /* the chroma is in a buffer of its own: the same bytes once more */
} frame;

static void fill(frame *f, uint64_t *random) {
    f->bytes = malloc(f->size);
    assert_non_null(f->bytes);
    for (size_t i = 0; i < f->size; ++i) f->bytes[i] = (unsigned char)test_random(random);
    if (f->planes.nv12 || f->planes.pixels.type != TVLM_PIXEL_F32) return;
    for (size_t i = 0; i + 4 <= f->size; i += 4) {
        const float value = test_random(random) % 8 == 0 ? NAN : 1.4f * test_random_unit(random) - 0.2f;
        memcpy(f->bytes + i, &value, sizeof value);
    }
}

static frame pixels_of(test_size size, tvlm_pixel_type type, int32_t channels, uint64_t *random) {
    const size_t value = type == TVLM_PIXEL_U8 ? 1 : type == TVLM_PIXEL_U16 ? 2 : 4;
    const size_t stride = (size_t)size.width * (size_t)channels * value + GAP;
    frame f = {.size = OFFSET + stride * (size_t)size.height,
               .planes.pixels = {size.width, size.height, channels, type, OFFSET, stride}};
    fill(&f, random);
    return f;
}

static frame nv12_of(test_size size, bool bt709, bool full_range, uint64_t *random) {
    const size_t stride = (size_t)size.width + GAP, pairs = ((size_t)size.width + 1) / 2 * 2 + GAP / 2;
    const size_t luma = OFFSET + stride * (size_t)size.height, rows = ((size_t)size.height + 1) / 2;
    frame f = {.size = luma + pairs * rows,
               .planes = {.pixels = {size.width, size.height, 0, TVLM_PIXEL_U8, OFFSET, stride},
                          .nv12 = true,
                          .chroma_offset = luma,
                          .chroma_stride = pairs},
               .apart = test_random(random) % 2 == 0};
    tvlm_planes_colours(bt709 ? 0.2126 : 0.299, bt709 ? 0.0722 : 0.114, full_range, &f.planes);
    fill(&f, random);
    return f;
}

static float *convert(tvlm_device *device, const frame *f, int32_t width, int32_t height) {
    const size_t bytes = (size_t)width * (size_t)height * 3 * sizeof(float);
    float *result = malloc(bytes);
    assert_non_null(result);
    tvlm_buffer *in = test_buffer(device, f->size, f->bytes), *out = test_buffer(device, bytes, NULL);
    tvlm_buffer *chroma = f->apart ? test_buffer(device, f->size, f->bytes) : NULL;
    tvlm_planes planes = f->planes;
    planes.first.memory = in;
    planes.chroma.memory = chroma != NULL ? chroma : in;
    if (device->backend->planes(device, &planes, width, height, out) != TVLM_OK)
        fail_msg("%s", test_last_log());
    test_buffer_take(device, &out, bytes, result);
    device->backend->buffer_destroy(device, &in);
    device->backend->buffer_destroy(device, &chroma);
    return result;
}

static void compare(const test_target *target, tvlm_device *reference, const frame *f, test_size to) {
    const tvlm_pixels *pixels = &f->planes.pixels;
    float *got = convert(target->device, f, to.width, to.height);
    float *expected = convert(reference, f, to.width, to.height);
    char what[120];
    snprintf(what, sizeof what, "%s of %d channels, type %d, %dx%d to %dx%d",
             f->planes.nv12 ? "NV12" : "pixels", (int)pixels->channels, (int)pixels->type, (int)pixels->width,
             (int)pixels->height, (int)to.width, (int)to.height);
    test_compare_stage(what, got, expected, (size_t)to.width * (size_t)to.height * 3, 1, tolerance, false);
    free(got);
    free(expected);
}

static test_size random_size(uint64_t *random) {
    const uint64_t most = test_small() ? 12 : 90;
    return (test_size){1 + (int32_t)(test_random(random) % most), 1 + (int32_t)(test_random(random) % most)};
}

/* Every kind of frame as it is, and in other sizes: larger, smaller, one of each. */
static void all_kinds(const test_target *target, tvlm_device *reference) {
    static const test_size sizes[][2] = {
        {{1, 1}, {1, 1}}, {{1, 1}, {5, 3}}, {{7, 9}, {1, 1}}, {{33, 5}, {64, 2}}, {{20, 31}, {20, 31}}};
    uint64_t random = 91;
    for (int32_t kind = 0; kind < 16; ++kind)
        for (size_t i = 0; i < 8; ++i) {
            const bool known = i < sizeof sizes / sizeof sizes[0];
            const test_size from = known ? sizes[i][0] : random_size(&random);
            const test_size to = known ? sizes[i][1] : random_size(&random);
            if (test_small() && (i + (size_t)kind) % 4 != 0) continue;
            frame f = kind < 12 ? pixels_of(from, (tvlm_pixel_type)(kind / 4), 1 + kind % 4, &random)
                                : nv12_of(from, kind % 2 == 1, kind >= 14, &random);
            compare(target, reference, &f, to);
            free(f.bytes);
        }
}

/* ---- What is known ---- */

/* The host resamples pixels by the same definition, with other code. */
static void like_the_host(tvlm_device *device) {
    uint64_t random = 92;
    for (int i = 0; i < 20; ++i) {
        const test_size from = random_size(&random), to = random_size(&random);
        frame f = pixels_of(from, TVLM_PIXEL_U8, 3 + i % 2, &random);
        const tvlm_image image = {.pixels = f.bytes + OFFSET,
                                  .width = from.width,
                                  .height = from.height,
                                  .channels = 3 + i % 2,
                                  .row_stride = f.planes.pixels.row_stride};
        float *expected, *got = convert(device, &f, to.width, to.height);
        int32_t channels;
        assert_int_equal(tvlm_resample(&image, to.width, to.height, &expected, &channels), TVLM_OK);
        assert_int_equal(channels, 3);
        test_compare("like the host", got, expected, (size_t)to.width * (size_t)to.height * 3, 1e-6f, 2e-7f);
        free(expected);
        free(got);
        free(f.bytes);
    }
}

typedef struct known_colour {
    bool bt709, full_range;
    unsigned char y, cb, cr;
    double rgb[3]; /* 0 to 255 */
} known_colour;

/*
 * Black, white and the primaries:
 * - in BT.601, studio range: the bars of Rec. ITU-R BT.601-7, and of every table of 75/100 % bars (red 81 90
 *   240);
 * - in BT.709: those of Rec. ITU-R BT.709-6, rounded to bytes (red 63 102 240);
 * - in full range: those of JFIF 1.02 (red 76 85 255).
 *
 * Bytes are rounded, so that colours are within 1.6 steps. The last entry is beyond white, and is clamped.
 */
static const known_colour known[] = {
    {false, false, 16, 128, 128, {0, 0, 0}},       {false, false, 235, 128, 128, {255, 255, 255}},
    {false, false, 81, 90, 240, {255, 0, 0}},      {false, false, 145, 54, 34, {0, 255, 0}},
    {false, false, 41, 240, 110, {0, 0, 255}},     {true, false, 16, 128, 128, {0, 0, 0}},
    {true, false, 235, 128, 128, {255, 255, 255}}, {true, false, 63, 102, 240, {255, 0, 0}},
    {true, false, 173, 42, 26, {0, 255, 0}},       {true, false, 32, 240, 118, {0, 0, 255}},
    {false, true, 0, 128, 128, {0, 0, 0}},         {false, true, 255, 128, 128, {255, 255, 255}},
    {false, true, 76, 85, 255, {255, 0, 0}},       {false, true, 150, 44, 21, {0, 255, 0}},
    {false, true, 29, 255, 107, {0, 0, 255}},      {false, false, 255, 128, 128, {255, 255, 255}},
};

static void known_colours(tvlm_device *device) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        const known_colour *k = &known[i];
        unsigned char bytes[3] = {k->y, k->cb, k->cr};
        frame f = {
            bytes, 3, {.pixels = {1, 1, 0, TVLM_PIXEL_U8, 0, 1}, .nv12 = true, .chroma_offset = 1}, false};
        tvlm_planes_colours(k->bt709 ? 0.2126 : 0.299, k->bt709 ? 0.0722 : 0.114, k->full_range, &f.planes);
        float *rgb = convert(device, &f, 1, 1);
        for (int c = 0; c < 3; ++c)
            if (!(fabs(255.0 * (double)rgb[c] - k->rgb[c]) <= 1.6))
                fail_msg("colour %zu (%d %d %d): component %d is %g instead of %g", i, k->y, k->cb, k->cr, c,
                         255.0 * (double)rgb[c], k->rgb[c]);
        free(rgb);
    }
}

TEST_FAMILY(planes, {"like the host", .known = like_the_host}, {"known colours", .known = known_colours},
            {"planes", TEST_BUFFERS, .body = all_kinds})
