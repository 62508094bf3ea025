/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_texture.c: textures hold what is written, slice by slice and level by level, in every storage; buffers
 * too.
 */
#include "support_stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/half.h"
#include "opencl/backend.h"

static float stored(float value, tvlm_format format) {
    return format == TVLM_FORMAT_F16 ? tvlm_half_to_float(tvlm_half_from_float(value)) : value;
}

/* Bit for bit, so that -0 and NaN count; NaN need only stay NaN. */
static void check_same(const char *what, const float *got, const float *expected, size_t count,
                       tvlm_format format) {
    for (size_t i = 0; i < count; ++i) {
        const float wanted = stored(expected[i], format);
        if (memcmp(&got[i], &wanted, sizeof wanted) == 0 || (isnan(got[i]) && isnan(wanted))) continue;
        fail_msg("%s: [%zu] is %.9g instead of %.9g", what, i, (double)got[i], (double)wanted);
    }
}

/* Values of all magnitudes that a half can tell apart, the special ones among them. */
static void fill_special(uint64_t *random, float *values, size_t count) {
    static const float special[] = {0.0f,     -0.0f,   NAN,     INFINITY, -INFINITY,      65504.0f, -65520.0f,
                                    65519.0f, 6.0e-8f, 2.9e-8f, 3.1e-8f,  1.00048828125f, 1.0f / 3, -2047.5f};
    for (size_t i = 0; i < count; ++i) {
        const uint64_t bits = test_random(random);
        if (bits % 8 == 0)
            values[i] = special[bits / 8 % (sizeof special / sizeof special[0])];
        else
            values[i] = ldexpf(test_random_unit(random) - 0.5f, (int)(bits / 8 % 40) - 24);
    }
}

static void check_slices(tvlm_device *device, tvlm_texture *texture, float *const *written) {
    for (int32_t slice = 0; slice < test_slices(texture); ++slice) {
        char what[64];
        float *got = test_read(device, texture, 0, slice);
        snprintf(what, sizeof what, "%dx%d, slice %d", (int)texture->width, (int)texture->height, (int)slice);
        if (texture->scalar)
            for (size_t i = 0; i < 4 * test_texels(texture, 0); ++i)
                if (i % 4 != 0) written[slice][i] = 0.0f;
        check_same(what, got, written[slice], 4 * test_texels(texture, 0), texture->format);
        free(got);
    }
}

/* Every slice, then one of them again: the others stay. Scalar textures drop what is not in the first component. */
static void round_trip_of(tvlm_device *device, const tvlm_texture *shape, uint64_t *random) {
    tvlm_texture *texture = test_texture(device, shape);
    const size_t count = 4 * test_texels(texture, 0);
    float *written[16];
    for (int32_t slice = 0; slice < test_slices(texture); ++slice) {
        written[slice] = malloc(count * sizeof(float));
        assert_non_null(written[slice]);
        fill_special(random, written[slice], count);
        assert_int_equal(device->backend->texture_write(device, texture, slice, written[slice]), TVLM_OK);
    }
    check_slices(device, texture, written);
    const int32_t again = test_slices(texture) / 2;
    fill_special(random, written[again], count);
    assert_int_equal(device->backend->texture_write(device, texture, again, written[again]), TVLM_OK);
    check_slices(device, texture, written);
    for (int32_t slice = 0; slice < test_slices(texture); ++slice) free(written[slice]);
    device->backend->texture_destroy(device, &texture);
}

static void round_trip(const test_target *target, tvlm_device *reference) {
    static const int32_t counts[][2] = {{1, 1}, {3, 1}, {1, 3}, {2, 5}}; /* layers, images */
    size_t count;
    const test_size *all = test_sizes(&count);
    uint64_t random = 1;
    (void)reference;
    for (size_t i = 0; i < count; ++i)
        for (size_t c = 0; c < 4; ++c) {
            tvlm_texture shape = test_shape(all[i], counts[c][0], counts[c][1], target->format);
            if (c % 2 == 1) shape.levels = 1;
            round_trip_of(target->device, &shape, &random);
            shape.scalar = shape.layers == 1;
            if (shape.scalar) round_trip_of(target->device, &shape, &random);
        }
}

/* Levels hold what mips wrote, whatever is written into level 0 later; every level of every slice is its own.
 */
static void levels(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *all = test_sizes(&count);
    uint64_t random = 2;
    for (size_t i = 0; i < count; ++i) {
        const tvlm_texture shape = test_shape(all[i], 2, 3, target->format);
        test_pair pair = test_pair_create(target, reference, &shape);
        const size_t floats = 4 * test_texels(pair.got, 0);
        float *constant = malloc(floats * sizeof *constant);
        assert_non_null(constant);
        for (int32_t slice = 0; slice < test_slices(pair.got); ++slice) {
            for (size_t t = 0; t < floats; ++t) constant[t] = (float)(slice + 1);
            test_pair_write(&pair, slice, constant);
        }
        test_pair_mips(&pair);
        test_pair_fill(&pair, &random, 50.0f, 60.0f, false);
        for (int32_t level = 1; level < pair.got->levels; ++level)
            for (int32_t slice = 0; slice < test_slices(pair.got); ++slice) {
                float *got = test_read(pair.device, pair.got, level, slice);
                for (size_t t = 0; t < 4 * test_texels(pair.got, level);
                     ++t) /* weights that sum to 1 but for rounding */
                    if (!(fabsf(got[t] - (float)(slice + 1)) <= 1e-5f))
                        fail_msg("%dx%d, level %d, slice %d: [%zu] is %g", (int)all[i].width,
                                 (int)all[i].height, (int)level, (int)slice, t, (double)got[t]);
                free(got);
            }
        free(constant);
        test_pair_destroy(&pair);
    }
}

/* A copy has every level and every slice. */
static void copies(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *all = test_sizes(&count);
    uint64_t random = 4;
    for (size_t i = 0; i < count; ++i) {
        const tvlm_texture shape = test_shape(all[i], 2, 2, target->format);
        test_pair pair = test_pair_create(target, reference, &shape);
        test_pair_fill(&pair, &random, -3.0f, 3.0f, false);
        test_pair_mips(&pair);
        tvlm_texture *copy = test_texture(target->device, &shape);
        test_poison(target->device, copy);
        assert_int_equal(target->device->backend->texture_copy(target->device, pair.got, copy), TVLM_OK);
        for (int32_t level = 0; level < shape.levels; ++level)
            for (int32_t slice = 0; slice < test_slices(copy); ++slice) {
                float *const got = test_read(target->device, copy, level, slice);
                float *const expected = test_read(target->device, pair.got, level, slice);
                check_same("a copy", got, expected, 4 * test_texels(copy, level), target->format);
                free(got);
                free(expected);
            }
        target->device->backend->texture_destroy(target->device, &copy);
        test_pair_destroy(&pair);
    }
}

/* `bytes` is what was taken: at least the texels, in buffers exactly; in images the second array has a
 * border. Where the device has scalar texels, such a texture takes a quarter. */
static void bytes(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *all = test_sizes(&count);
    (void)reference;
    for (size_t i = 0; i < count; ++i) {
        const tvlm_texture shape = test_shape(all[i], 2, 2, target->format);
        const size_t texel = target->format == TVLM_FORMAT_F16 && test_is_opencl(target->device) ? 8 : 16;
        tvlm_texture *texture = test_texture(target->device, &shape);
        size_t texels = 0;
        for (int32_t level = 0; level < texture->levels; ++level) texels += test_texels(texture, level) * 4;
        assert_true(texture->bytes >= texels * texel);
        if (target->device->info.storage == TVLM_STORAGE_BUFFER)
            assert_int_equal(texture->bytes, texels * texel);
        else
            assert_true(texture->bytes <= 4 * texels * texel + 1024);
        const size_t taken = texture->bytes;
        target->device->backend->texture_destroy(target->device, &texture);
        tvlm_texture scalar = test_shape(all[i], 1, 4, target->format);
        scalar.scalar = true;
        texture = test_texture(target->device, &scalar);
        assert_int_equal(texture->bytes, target->device->stores_scalar[target->format] ? taken / 4 : taken);
        target->device->backend->texture_destroy(target->device, &texture);
    }
}

/* What is sent is there once it has arrived, and then nothing is on its way any more. */
static void sends(const test_target *target, tvlm_device *reference) {
    const tvlm_backend *backend = target->device->backend;
    tvlm_buffer *buffer = NULL;
    float sent[1000], got[1000];
    uint64_t random = 3;
    (void)reference;
    assert_int_equal(backend->buffer_create(target->device, sizeof sent, &buffer), TVLM_OK);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 1000; ++i) sent[i] = test_random_unit(&random);
        assert_int_equal(backend->buffer_send(target->device, buffer, sizeof sent, sent), TVLM_OK);
        assert_int_equal(backend->buffer_arrive(target->device, buffer), TVLM_OK);
        if (test_is_opencl(target->device)) assert_null(((const opencl_buffer *)buffer)->arrival);
        assert_int_equal(backend->buffer_read(target->device, buffer, 0, sizeof got, got), TVLM_OK);
        assert_memory_equal(got, sent, sizeof got);
    }
    backend->buffer_destroy(target->device, &buffer);
}

static void check_refused(const test_target *target, const tvlm_texture *shape) {
    tvlm_texture *texture = NULL;
    const tvlm_status status = target->device->backend->texture_create(target->device, shape, &texture);
    if (status != TVLM_ERROR_DEVICE_MEMORY)
        fail_msg("a texture of %dx%d, %d slices: status %d", (int)shape->width, (int)shape->height,
                 (int)(shape->layers * shape->images), (int)status);
    assert_null(texture);
    assert_true(test_last_log()[0] != '\0');
}

/* Wider than images can be, more slices than they can have, more texels than kernels can index. */
static void too_large(const test_target *target, tvlm_device *reference) {
    const tvlm_device_info *info = &target->device->info;
    uint64_t random = 3;
    (void)reference;
    if (info->storage != TVLM_STORAGE_BUFFER || !test_is_opencl(target->device)) {
        tvlm_texture shape = test_shape((test_size){info->image_width_max + 1, 1}, 1, 1, target->format);
        shape.levels = 1;
        check_refused(target, &shape);
        shape = test_shape((test_size){1, 1}, 2, info->image_slices_max / 2 + 1, target->format);
        check_refused(target, &shape);
    }
    if (test_is_opencl(target->device)) {
        const tvlm_texture shape = test_shape((test_size){1 << 16, 1 << 16}, 1, 1, target->format);
        check_refused(target, &shape);
    }
    const tvlm_texture fine = test_shape((test_size){5, 3}, 1, 1, target->format);
    round_trip_of(target->device, &fine, &random); /* nothing is half made */
}

/* Offsets, lengths of 0, copies. */
static void buffers(const test_target *target, tvlm_device *reference) {
    const tvlm_backend *backend = target->device->backend;
    unsigned char data[64], got[64];
    (void)reference;
    for (size_t i = 0; i < sizeof data; ++i) data[i] = (unsigned char)i;
    tvlm_buffer *from = test_buffer(target->device, sizeof data, data);
    tvlm_buffer *to = test_buffer(target->device, sizeof data, NULL);
    assert_int_equal(from->bytes, to->bytes);
    assert_int_equal(backend->buffer_copy(target->device, from, 0, to, 0, 40), TVLM_OK);
    assert_int_equal(backend->buffer_copy(target->device, from, 3, to, 50, 7), TVLM_OK);
    assert_int_equal(backend->buffer_copy(target->device, from, 0, to, 0, 0), TVLM_OK);
    assert_int_equal(backend->buffer_write(target->device, from, 7, 0, data), TVLM_OK);
    assert_int_equal(backend->buffer_write(target->device, from, 7, 5, data + 20), TVLM_OK);
    assert_int_equal(backend->buffer_read(target->device, from, 9, 0, got), TVLM_OK);
    assert_int_equal(backend->buffer_read(target->device, from, 6, 7, got), TVLM_OK);
    assert_memory_equal(got, ((unsigned char[]){6, 20, 21, 22, 23, 24, 12}), 7);
    test_buffer_take(target->device, &to, sizeof data, got);
    assert_memory_equal(got, data, 40);
    for (size_t i = 40; i < sizeof data; ++i)
        assert_int_equal(got[i], i >= 50 && i < 57 ? data[i - 47] : 0xa5);
    test_buffer_take(target->device, &from, sizeof data, got);
    assert_int_equal(backend->buffer_create(target->device, 0, &from), TVLM_OK); /* an empty one is one too */
    backend->buffer_destroy(target->device, &from);
    backend->buffer_destroy(target->device, &from);
    assert_int_equal(backend->finish(target->device), TVLM_OK);
}

static void everything(const test_target *target, tvlm_device *reference) {
    round_trip(target, reference);
    levels(target, reference);
    copies(target, reference);
    bytes(target, reference);
    sends(target, reference);
    too_large(target, reference);
    buffers(target, reference);
}

static void test_textures(void **state) {
    (void)state;
    test_on_targets(everything);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_textures)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
