/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c: channels of bundles of textures, read at points and at every texel of an array, against the
 * reference.
 */
#include "kernels/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/half.h"
#include "opencl/backend.h"
#include "reference/sample.h"

/* Position is a division (2.5 ulp) and a root (3 ulp) of values below 1. */
static const test_tolerance formula_tolerance = {6e-7f, 1.5e-7f, TEST_HALF_ULP};
/* Rotary positions are made of angles of up to 14. A float has such an angle to 1e-6, and half of that is
 * left in its cosine. */
static const test_tolerance rope_tolerance = {1.5e-6f, 3e-7f, TEST_HALF_ULP};

/* The error grows with the coordinate and with the step between two texels, so most points are far better
 * than the worst. */
static test_tolerance linear_tolerance(const test_target *target, const test_bundle *bundle) {
    const float maximum = test_sample_tolerance(target, bundle->side, 2.0f);
    return (test_tolerance){maximum, maximum / 8.0f, TEST_HALF_ULP};
}

/* ---- Collecting what is compared together ---- */

typedef struct values {
    float *got, *expected;
    size_t count, capacity;
} values;

static values values_make(size_t capacity) {
    values made = {malloc((capacity + 1) * sizeof(float)), malloc((capacity + 1) * sizeof(float)), 0,
                   capacity};
    assert_non_null(made.got);
    assert_non_null(made.expected);
    return made;
}

static void values_add(values *v, float got, float expected) {
    assert_true(v->count < v->capacity);
    v->got[v->count] = got;
    v->expected[v->count++] = expected;
}

static void values_compare(values *v, const char *what, test_tolerance tolerance, bool half) {
    test_compare_stage(what, v->got, v->expected, v->count, 1, tolerance, half);
    free(v->got);
    free(v->expected);
}

/*
 * An identifier is exactly that of the texel. If the point lies on the border between two texels or two
 * levels, but for the rounding of coordinates, it may be that of the neighbour.
 */
static void check_identifier(const tvlm_bundle *bundle, int32_t ref, const reference_point *point,
                             float got) {
    for (int corner = 0; corner < 27; ++corner) {
        const reference_point near = {point->x + 1e-4 * (corner % 3 - 1),
                                      point->y + 1e-4 * (corner / 3 % 3 - 1),
                                      point->level + 1e-5 * (corner / 9 - 1), point->image};
        if ((double)got == tvlm_reference_sample_at(bundle, ref, &near)) return;
    }
    fail_msg("at (%g, %g), level %g: identifier %g instead of %g", point->x, point->y, point->level,
             (double)got, tvlm_reference_sample_at(bundle, ref, point));
}

typedef struct comparison {
    const tvlm_bundle *bundle;
    bool half; /* results are stored in half */
    values linear, formula, rope;
} comparison;

static comparison begin_comparison(const tvlm_bundle *bundle, bool half, size_t capacity) {
    return (comparison){bundle, half, values_make(capacity), values_make(capacity), values_make(capacity)};
}

static void compare_value(comparison *c, int32_t ref, const reference_point *point, float got) {
    if (ref < 0) {
        if (got != 0.0f) fail_msg("a channel that is not there is %g", (double)got);
    } else if (test_is_identifier(c->bundle, ref)) {
        check_identifier(c->bundle, ref, point, got);
    } else {
        const float expected = (float)tvlm_reference_sample_at(c->bundle, ref, point);
        values_add(TVLM_REF_TEXTURE(ref) != TVLM_BUNDLE_FORMULA ? &c->linear
                   : TVLM_REF_LAYER(ref) < TVLM_FORMULA_ROPE    ? &c->formula
                                                                : &c->rope,
                   got, c->half ? tvlm_half_to_float(tvlm_half_from_float(expected)) : expected);
    }
}

static void finish_comparison(comparison *c, const char *what, test_tolerance linear) {
    char line[120];
    snprintf(line, sizeof line, "%s, textures", what);
    values_compare(&c->linear, line, linear, c->half);
    snprintf(line, sizeof line, "%s, position", what);
    values_compare(&c->formula, line, formula_tolerance, c->half);
    snprintf(line, sizeof line, "%s, rotary positions", what);
    values_compare(&c->rope, line, rope_tolerance, c->half);
}

static void random_refs(const tvlm_bundle *bundle, int32_t *refs, int32_t count, uint64_t *random) {
    for (int32_t i = 0; i < count; ++i) refs[i] = test_random_ref(bundle, i > 0 ? refs[i - 1] : -1, random);
}

/* ---- At points ---- */

/* Returns a point inside or outside, on a corner or a border of texels, between levels or beyond the last. */
static tvlm_point random_point(const tvlm_bundle *bundle, uint64_t *random) {
    tvlm_point p = {bundle->width * (1.4f * test_random_unit(random) - 0.2f),
                    bundle->height * (1.4f * test_random_unit(random) - 0.2f),
                    8.0f * test_random_unit(random), (float)(test_random(random) % 3)};
    switch (test_random(random) % 8) {
    case 0: p.x = 0.0f, p.y = bundle->height; break;
    case 1: p.x = floorf(p.x), p.y = floorf(p.y) + 0.5f; break;
    case 2: p.x = 1e6f, p.y = -1e6f; break;
    case 3: p.level = floorf(p.level); break;
    case 4: p.level = 0.0f; break;
    case 5: p.level = -1.5f; break;
    case 6: p.level = 40.0f; break;
    default: break;
    }
    return p;
}

static void at_points(const test_target *target, const test_bundle *bundle, int32_t count4, int32_t count,
                      uint64_t *random) {
    const size_t floats = (size_t)count4 * 4 * (size_t)count,
                 points_bytes = (size_t)count * sizeof(tvlm_point);
    int32_t refs[64];
    tvlm_point *points = malloc(points_bytes);
    float *got = malloc(floats * sizeof *got);
    assert_non_null(points);
    assert_non_null(got);
    random_refs(&bundle->got, refs, 4 * count4, random);
    for (int32_t i = 0; i < count; ++i) points[i] = random_point(&bundle->got, random);
    tvlm_buffer *in = test_buffer(target->device, points_bytes, points);
    tvlm_buffer *out = test_buffer(target->device, floats * sizeof *got, NULL);
    if (target->device->backend->sample(target->device, &bundle->got, refs, count4, in, count, out) !=
        TVLM_OK)
        fail_msg("sampling %d textures: %s", (int)bundle->got.count, test_last_log());
    test_buffer_take(target->device, &out, floats * sizeof *got, got);
    target->device->backend->buffer_destroy(target->device, &in);

    comparison c = begin_comparison(&bundle->expected, false, floats);
    for (size_t i = 0; i < floats; ++i) {
        const tvlm_point *p = &points[i / (4 * (size_t)count4)];
        const reference_point at = {p->x, p->y, p->level, (int32_t)p->image};
        compare_value(&c, refs[i % (4 * (size_t)count4)], &at, got[i]);
    }
    char what[64];
    snprintf(what, sizeof what, "%d points of %d textures", (int)count, (int)bundle->got.count);
    finish_comparison(&c, what, linear_tolerance(target, bundle));
    free(points);
    free(got);
}

/* ---- At every texel ---- */

/* The middle of the part of a texel that lies in the image. */
static double centre(size_t i, int32_t side, float extent, float image) {
    const double step = (double)extent / side;
    return ((double)i * step + fmin(((double)i + 1.0) * step, (double)image)) / 2.0;
}

static void compare_packed(const test_target *target, const test_bundle *bundle, const int32_t *refs,
                           float level, tvlm_texture *out) {
    const size_t texels = test_texels(out, 0);
    comparison c = begin_comparison(&bundle->expected, out->format == TVLM_FORMAT_F16,
                                    4 * texels * (size_t)test_slices(out));
    for (int32_t slice = 0; slice < test_slices(out); ++slice) {
        float *got = test_read(target->device, out, 0, slice);
        for (size_t i = 0; i < 4 * texels; ++i) {
            const size_t texel = i / 4, row = texel / (size_t)out->width;
            const reference_point at = {
                centre(texel % (size_t)out->width, out->width, out->extent_x, bundle->got.width),
                centre(row, out->height, out->extent_y, bundle->got.height), level, slice / out->layers};
            compare_value(&c, refs[4 * (slice % out->layers) + (int32_t)(i % 4)], &at, got[i]);
        }
        free(got);
    }
    char what[80];
    snprintf(what, sizeof what, "packed to %dx%d at level %g of %d textures", (int)out->width,
             (int)out->height, (double)level, (int)bundle->got.count);
    finish_comparison(&c, what, linear_tolerance(target, bundle));
}

static void at_texels(const test_target *target, const test_bundle *bundle, test_size size, int32_t layers,
                      float level, uint64_t *random) {
    tvlm_texture shape = test_shape(size, layers, 3, target->format);
    int32_t refs[16];
    shape.levels = 1;
    /* For widths of 4 n + 1 a texel is a whole number of pixels, and the last ones may reach beyond the
     * image. Otherwise the texels cover just the image. */
    shape.extent_x = bundle->got.width;
    shape.extent_y = bundle->got.height;
    if (size.width % 4 == 1) {
        shape.extent_x = ceilf(shape.extent_x / (float)size.width) * (float)size.width;
        shape.extent_y = ceilf(shape.extent_y / (float)size.height) * (float)size.height;
    }
    tvlm_texture *out = test_texture(target->device, &shape);
    random_refs(&bundle->got, refs, 4 * layers, random);
    test_poison(target->device, out);
    if (target->device->backend->pack(target->device, &bundle->got, refs, level, out) != TVLM_OK)
        fail_msg("packing %d textures: %s", (int)bundle->got.count, test_last_log());
    compare_packed(target, bundle, refs, level, out);
    target->device->backend->texture_destroy(target->device, &out);
}

/* The same where so much is packed that CPUs write it past their caches. */
static void at_streamed_texels(const test_target *target, const test_bundle *bundle, test_size size,
                               uint64_t *random) {
    if (!test_is_opencl(target->device)) return;
    opencl_tuning *const tuning = &((opencl_device *)target->device)->tuning;
    const int32_t kept = tuning->stream_kib;
    tuning->stream_kib = 0;
    at_texels(target, bundle, size, 2, 0.0f, random);
    tuning->stream_kib = kept;
}

/* ---- Everything ---- */

static void bundles(const test_target *target, tvlm_device *reference) {
    static const int32_t counts[] = {0, 1, 2, 4, 9, 16};
    static const test_size sizes[] = {{1, 1}, {5, 3}, {97, 61}, {41, 77}, {150, 90}};
    uint64_t random = 7, lying = 29; /* apart: the mean of one point depends on the point */
    for (size_t i = 0; i < (test_small() ? 3 : sizeof counts / sizeof counts[0]); ++i) {
        test_bundle bundle = test_bundle_create(target, reference, counts[i], true, -1.0f, 1.0f, &random);
        at_points(target, &bundle, 1, 1, &random);
        at_points(target, &bundle, 5, test_small() ? 8 : 300, &random);
        for (size_t s = 0; s < (test_small() ? 2 : 5); ++s)
            at_texels(target, &bundle, sizes[s], 1 + (int32_t)(s % 3), s == 1 ? 3.25f : (float)(s % 3),
                      &random);
        /* If the texels of the result are those of a grid, kernels for CPUs read them without sampling. */
        if (i > 0) at_texels(target, &bundle, sizes[2], 1, 0.0f, &lying);
        if (i == 2) at_streamed_texels(target, &bundle, sizes[2], &lying);
        test_bundle_destroy(&bundle);
    }
}

TEST_FAMILY(sample, {"bundles", TEST_TUNED, .body = bundles})
