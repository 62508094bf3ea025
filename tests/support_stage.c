/* SPDX-License-Identifier: Apache-2.0 */
#include "support_stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"
#include "reference/texture.h"

static const test_size sizes[] = {{1, 1},   {1, 7},   {9, 1},    {2, 3},    {17, 33},
                                  {64, 64}, {65, 17}, {100, 75}, {130, 35}, {257, 129}};
static const test_size small_sizes[] = {{1, 1}, {1, 7}, {9, 1}, {2, 3}, {17, 33}};

const test_size *test_sizes(size_t *count) {
    *count = test_small() ? sizeof small_sizes / sizeof small_sizes[0] : sizeof sizes / sizeof sizes[0];
    return test_small() ? small_sizes : sizes;
}

/* ---- Comparing ---- */

/* Prints what a comparison found, to choose tolerances by, where $TVLM_TEST_FIGURES=1. */
static void print_figures(const char *what, const float *a, const float *b, size_t count, float maximum,
                          float mean) {
    double sum = 0.0, worst = 0.0;
    if (getenv("TVLM_TEST_FIGURES") == NULL) return;
    for (size_t i = 0; i < count; ++i) {
        const double error = fabs((double)a[i] - (double)b[i]);
        sum += error;
        worst = fmax(worst, error);
    }
    printf("FIGURES\t%.3g of %.3g\t%.3g of %.3g\t%s\n", worst, (double)maximum, sum / (double)count,
           (double)mean, what);
}

void test_compare_stage(const char *what, const float *got, const float *expected, size_t count,
                        size_t stride, test_tolerance tolerance, bool half) {
    float *a = malloc((count + 1) * sizeof *a), *b = malloc((count + 1) * sizeof *b);
    assert_non_null(a);
    assert_non_null(b);
    for (size_t i = 0; i < count; ++i) a[i] = got[i * stride], b[i] = expected[i * stride];
    const float maximum = tolerance.maximum + (half ? tolerance.half : 0.0f);
    const float mean = half ? 3.0f * tolerance.mean + tolerance.half * fminf(1.0f, 2.0f / (float)(count + 1))
                            : tolerance.mean;
    print_figures(what, a, b, count, maximum, mean);
    test_compare(what, a, b, count, maximum, mean);
    free(a);
    free(b);
}

/* ---- Devices ---- */

void test_on_targets(test_body *body) {
    if (test_for_each_target(body) == 0) skip();
}

int test_exit(int failed) {
    return failed != 0 ? failed : test_targets_seen() == 0 ? 77 : 0;
}

bool test_stores_bytes(tvlm_device *device) {
    return device->backend->ask_bytes(device) == TVLM_OK && device->stores_bytes;
}

bool test_is_opencl(const tvlm_device *device) {
    return strcmp(device->backend->name, "opencl") == 0;
}

bool test_has_long_loops(const tvlm_device *device) {
    return !test_is_opencl(device) || !((const opencl_device *)device)->short_loops;
}

/* As a GPU's or a CPU's. What makes products stays: CLBlast compiles for many seconds. */
static opencl_tuning tuned(opencl_tuning usual, bool gpu) {
    opencl_tuning tuning = tvlm_opencl_tuning_default(gpu);
    tuning.gemm_run = usual.gemm_run;
    return tuning;
}

void test_with_tunings(const test_target *target, tvlm_device *reference, test_body *body) {
    if (!test_is_opencl(target->device)) {
        body(target, reference);
        return;
    }
    opencl_tuning *tuning = &((opencl_device *)target->device)->tuning;
    const opencl_tuning usual = *tuning;
    for (int gpu = test_has_long_loops(target->device) ? 0 : 1; gpu < 2; ++gpu) {
        *tuning = tuned(usual, gpu == 1);
        printf("    tuned as for a %s\n", gpu == 1 ? "GPU" : "CPU");
        body(target, reference);
    }
    *tuning = usual;
}

/* ---- Textures ---- */

tvlm_texture test_shape(test_size size, int32_t layers, int32_t images, tvlm_format format) {
    return (tvlm_texture){.width = size.width,
                          .height = size.height,
                          .layers = layers,
                          .images = images,
                          .levels = tvlm_level_count(size.width, size.height),
                          .format = format,
                          .extent_x = (float)size.width,
                          .extent_y = (float)size.height};
}

test_size test_level_size(test_size size, int32_t level) {
    return (test_size){tvlm_level_side(size.width, level), tvlm_level_side(size.height, level)};
}

size_t test_texels(const tvlm_texture *texture, int32_t level) {
    return (size_t)tvlm_level_side(texture->width, level) * (size_t)tvlm_level_side(texture->height, level);
}

int32_t test_slices(const tvlm_texture *texture) {
    return texture->layers * texture->images;
}

tvlm_texture *test_texture(tvlm_device *device, const tvlm_texture *shape) {
    tvlm_texture *texture = NULL;
    if (device->backend->texture_create(device, shape, &texture) != TVLM_OK)
        fail_msg("texture of %dx%d: %s", (int)shape->width, (int)shape->height, test_last_log());
    return texture;
}

test_pair test_pair_create(const test_target *target, tvlm_device *reference, const tvlm_texture *shape) {
    return (test_pair){target->device, reference, test_texture(target->device, shape),
                       test_texture(reference, shape)};
}

void test_pair_destroy(test_pair *pair) {
    pair->device->backend->texture_destroy(pair->device, &pair->got);
    pair->reference->backend->texture_destroy(pair->reference, &pair->expected);
    assert_null(pair->got);
    assert_null(pair->expected);
}

static void write_slice(tvlm_device *device, tvlm_texture *texture, int32_t slice, const float *rgba) {
    if (device->backend->texture_write(device, texture, slice, rgba) != TVLM_OK)
        fail_msg("writing slice %d: %s", (int)slice, test_last_log());
}

void test_pair_write(const test_pair *pair, int32_t slice, const float *rgba) {
    write_slice(pair->device, pair->got, slice, rgba);
    write_slice(pair->reference, pair->expected, slice, rgba);
}

void test_pair_fill(const test_pair *pair, uint64_t *random, float low, float high, bool whole) {
    const size_t count = 4 * test_texels(pair->got, 0);
    float *rgba = malloc(count * sizeof *rgba);
    assert_non_null(rgba);
    for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
        for (size_t i = 0; i < count; ++i) {
            const float value = low + (high - low) * test_random_unit(random);
            rgba[i] = whole ? floorf(value) : value;
        }
        test_pair_write(pair, slice, rgba);
    }
    free(rgba);
}

static void write_constant(tvlm_device *device, tvlm_texture *texture, float value) {
    const size_t count = 4 * test_texels(texture, 0);
    float *rgba = malloc(count * sizeof *rgba);
    assert_non_null(rgba);
    for (size_t i = 0; i < count; ++i) rgba[i] = value;
    for (int32_t slice = 0; slice < test_slices(texture); ++slice) write_slice(device, texture, slice, rgba);
    free(rgba);
}

void test_poison(tvlm_device *device, tvlm_texture *texture) {
    if (texture->levels > 1) {
        write_constant(device, texture, -7.75f);
        assert_int_equal(device->backend->mips(device, &texture, 1), TVLM_OK);
    }
    write_constant(device, texture, NAN);
}

void test_pair_mips(const test_pair *pair) {
    if (pair->device->backend->mips(pair->device, &pair->got, 1) != TVLM_OK)
        fail_msg("mips: %s", test_last_log());
    assert_int_equal(pair->reference->backend->mips(pair->reference, &pair->expected, 1), TVLM_OK);
}

void test_pair_equalise(const test_pair *pair) {
    reference_texture *reference = (reference_texture *)pair->expected;
    for (int32_t level = 0; level < pair->got->levels; ++level)
        for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
            const size_t count = 4 * test_texels(pair->got, level);
            float *rgba = test_read(pair->device, pair->got, level, slice);
            memcpy(reference->levels[level] + (size_t)slice * count, rgba, count * sizeof *rgba);
            free(rgba);
        }
}

void test_pair_levels(const test_pair *pair) {
    test_pair_mips(pair);
    test_pair_equalise(pair);
}

float *test_read(tvlm_device *device, tvlm_texture *texture, int32_t level, int32_t slice) {
    const size_t count = 4 * test_texels(texture, level), guard = 16;
    float *rgba = malloc((count + guard) * sizeof *rgba);
    assert_non_null(rgba);
    for (size_t i = 0; i < count + guard; ++i) rgba[i] = -3e33f;
    if (device->backend->texture_read(device, texture, level, slice, rgba) != TVLM_OK)
        fail_msg("reading level %d of slice %d: %s", (int)level, (int)slice, test_last_log());
    for (size_t i = count; i < count + guard; ++i)
        if (rgba[i] != -3e33f) fail_msg("reading a texture wrote %zu floats behind its end", i - count + 1);
    return rgba;
}

void test_is_zero(tvlm_device *device, tvlm_texture *texture, int32_t slice) {
    float *rgba = test_read(device, texture, 0, slice);
    for (size_t i = 0; i < 4 * test_texels(texture, 0); ++i)
        if (rgba[i] != 0.0f) fail_msg("slice %d, [%zu] is %g, not 0", (int)slice, i, (double)rgba[i]);
    free(rgba);
}

void test_pair_compare(const char *what, const test_pair *pair, const char *const names[4],
                       const test_tolerance tolerances[4]) {
    const size_t texels = test_texels(pair->got, 0);
    for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
        float *got = test_read(pair->device, pair->got, 0, slice);
        float *expected = test_read(pair->reference, pair->expected, 0, slice);
        for (size_t c = 0; c < 4; ++c) {
            char line[160];
            snprintf(line, sizeof line, "%s, slice %d, %s", what, (int)slice, names[c]);
            test_compare_stage(line, got + c, expected + c, texels, 4, tolerances[c],
                               pair->got->format == TVLM_FORMAT_F16);
        }
        free(got);
        free(expected);
    }
}

/* ---- Sources and families ---- */

static float picture_value(test_picture picture, uint8_t pixel, uint64_t *random) {
    switch (picture) {
    case TEST_PICTURE_NOISE: return (float)(test_random(random) & 1u);
    case TEST_PICTURE_FLAT: return 0.3f;
    default: return (float)pixel / 255.0f;
    }
}

/* Makes r, g, b and luma of one picture. The luma is what the source would make it. The caller frees it. */
static float *picture_rgba(test_size size, test_picture picture, uint64_t *random) {
    const size_t texels = (size_t)size.width * (size_t)size.height;
    uint8_t *pixels = test_random_pixels(random, size.width, size.height, 3);
    float *rgba = malloc(4 * texels * sizeof *rgba);
    assert_non_null(rgba);
    for (size_t i = 0; i < texels; ++i) {
        for (size_t c = 0; c < 3; ++c) rgba[4 * i + c] = picture_value(picture, pixels[3 * i + c], random);
        rgba[4 * i + 3] = fminf(
            TVLM_LUMA_R * rgba[4 * i] + TVLM_LUMA_G * rgba[4 * i + 1] + TVLM_LUMA_B * rgba[4 * i + 2], 1.0f);
    }
    free(pixels);
    return rgba;
}

test_pair test_source(const test_target *target, tvlm_device *reference, test_size size, int32_t images,
                      test_picture picture, uint64_t *random) {
    const tvlm_texture shape = test_shape(size, 1, images, target->format);
    const test_pair pair = test_pair_create(target, reference, &shape);
    for (int32_t image = 0; image < images; ++image) {
        float *rgba = picture_rgba(size, picture, random);
        test_pair_write(&pair, image, rgba);
        free(rgba);
    }
    test_pair_levels(&pair);
    return pair;
}

tvlm_texture test_grid_shape(tvlm_grid grid, test_size size, int32_t images, tvlm_format format) {
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    tvlm_texture shape = test_shape(size, info->layers, images, format);
    if (info->size == TVLM_SIZE_QUARTER) {
        shape.width = tvlm_level_side(size.width, 2);
        shape.height = tvlm_level_side(size.height, 2);
    } else if (info->size == TVLM_SIZE_CELLS) {
        shape.width = (size.width + TVLM_CELL - 1) / TVLM_CELL;
        shape.height = (size.height + TVLM_CELL - 1) / TVLM_CELL;
        shape.extent_x = (float)(shape.width * TVLM_CELL);
        shape.extent_y = (float)(shape.height * TVLM_CELL);
    }
    shape.levels = tvlm_level_count(shape.width, shape.height);
    shape.scalar = info->scalar_buffer;
    return shape;
}

void test_generate(tvlm_device *device, tvlm_grid grid, tvlm_grid from, tvlm_texture *input,
                   tvlm_generate_args args) {
    tvlm_texture *grids[TVLM_GRID_COUNT] = {NULL};
    args.grids = grids;
    grids[from] = input;
    if (device->backend->generate[grid](device, &args) != TVLM_OK)
        fail_msg("%s: %s", tvlm_grid_get_info(grid)->name, test_last_log());
}

void test_pair_generate(const test_pair *out, tvlm_grid grid, tvlm_grid from, const test_pair *input) {
    test_poison(out->device, out->got);
    test_poison(out->reference, out->expected);
    test_generate(out->device, grid, from, input->got, (tvlm_generate_args){.out = out->got});
    test_generate(out->reference, grid, from, input->expected, (tvlm_generate_args){.out = out->expected});
}

/* Checks that a generator did not write the levels above 0. */
static void check_levels_untouched(const test_pair *pair) {
    for (int32_t level = 1; level < pair->got->levels; ++level)
        for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
            float *rgba = test_read(pair->device, pair->got, level, slice);
            for (size_t i = 0; i < 4 * test_texels(pair->got, level); i += pair->got->scalar ? 4 : 1)
                if (fabsf(rgba[i] + 7.75f) > 1e-4f)
                    fail_msg("level %d, slice %d, [%zu]: a generator wrote %g", (int)level, (int)slice, i,
                             (double)rgba[i]);
            free(rgba);
        }
}

void test_generated(const test_target *target, tvlm_device *reference, tvlm_grid grid,
                    const char *const names[4], const test_tolerance tolerances[4]) {
    size_t count;
    const test_size *all = test_sizes(&count);
    uint64_t random = 2026 + (uint64_t)grid;
    for (size_t i = 0; i < count; ++i)
        for (int picture = 0; picture < TEST_PICTURES; ++picture) {
            const int32_t images = picture == TEST_PICTURE_RANDOM ? 3 : 1;
            test_pair source = test_source(target, reference, all[i], images, (test_picture)picture, &random);
            const tvlm_texture shape = test_grid_shape(grid, all[i], images, target->format);
            test_pair out = test_pair_create(target, reference, &shape);
            char what[80];
            test_pair_generate(&out, grid, TVLM_GRID_SOURCE, &source);
            snprintf(what, sizeof what, "%s of %dx%d, picture %d", tvlm_grid_get_info(grid)->name,
                     (int)all[i].width, (int)all[i].height, picture);
            test_pair_compare(what, &out, names, tolerances);
            check_levels_untouched(&out);
            test_pair_destroy(&out);
            test_pair_destroy(&source);
        }
}

/* ---- Buffers ---- */

enum { GUARD_BYTES = 256, GUARD_BYTE = 0xa5 };

tvlm_buffer *test_buffer(tvlm_device *device, size_t bytes, const void *data) {
    tvlm_buffer *buffer = NULL;
    unsigned char *guard = malloc(bytes + GUARD_BYTES);
    assert_non_null(guard);
    memset(guard, GUARD_BYTE, bytes + GUARD_BYTES);
    if (data != NULL) memcpy(guard, data, bytes);
    if (device->backend->buffer_create(device, bytes + GUARD_BYTES, &buffer) != TVLM_OK)
        fail_msg("buffer of %zu bytes: %s", bytes + GUARD_BYTES, test_last_log());
    assert_int_equal(device->backend->buffer_write(device, buffer, 0, bytes + GUARD_BYTES, guard), TVLM_OK);
    free(guard);
    return buffer;
}

void test_buffer_take(tvlm_device *device, tvlm_buffer **buffer, size_t bytes, void *data) {
    unsigned char guard[GUARD_BYTES];
    if (device->backend->buffer_read(device, *buffer, 0, bytes, data) != TVLM_OK)
        fail_msg("reading a buffer: %s", test_last_log());
    assert_int_equal(device->backend->buffer_read(device, *buffer, bytes, GUARD_BYTES, guard), TVLM_OK);
    for (size_t i = 0; i < GUARD_BYTES; ++i)
        if (guard[i] != GUARD_BYTE) fail_msg("written %zu bytes behind the end of a buffer", i + 1);
    device->backend->buffer_destroy(device, buffer);
    assert_null(*buffer);
}

/* ---- Sampling ---- */

/* Returns the largest error that the device's self-test found in bilinear reads of this storage and format; 0
 * where it has no such test. */
static float measured_weights(const test_target *target) {
    const tvlm_device_info *info = &target->device->info;
    char name[32];
    snprintf(name, sizeof name, "%s_bilinear_%s", tvlm_storage_name(info->storage),
             tvlm_format_name(target->format));
    for (int32_t i = 0; i < info->self_test_count; ++i) {
        double worst;
        if (strcmp(info->self_tests[i].name, name) == 0 &&
            sscanf(info->self_tests[i].detail, "largest error %lg", &worst) == 1)
            return (float)worst;
    }
    return 0.0f;
}

float test_sample_tolerance(const test_target *target, int32_t side, float range) {
    /*
     * Each axis adds the error of its weight, which is taken as twice what a few points found, and that of
     * its coordinate. A coordinate is position / extent * side in float: 2.5 ulp for the division and half an
     * ulp for each further step are 4 * 6e-8 of the side.
     */
    const float weights = 2.0f * measured_weights(target), coordinate = 4.0f * 6e-8f * (float)side;
    return range * 2.0f * (weights + coordinate) + 1e-6f;
}

enum { BUNDLE_WIDTH = 97, BUNDLE_HEIGHT = 61, BUNDLE_IMAGES = 3 };

static int32_t below(uint64_t *random, int32_t bound) {
    return (int32_t)(test_random(random) % (uint64_t)bound);
}

static tvlm_texture bundle_shape(int32_t index, bool identifiers, tvlm_format format, uint64_t *random) {
    tvlm_texture shape =
        test_shape((test_size){BUNDLE_WIDTH, BUNDLE_HEIGHT}, 1 + below(random, 2), BUNDLE_IMAGES, format);
    if (index > 0) {
        shape.width = 1 + below(random, 60);
        shape.height = 1 + below(random, 60);
        shape.levels = tvlm_level_count(shape.width, shape.height);
    }
    if (index % 3 == 2) { /* its cells reach beyond the image */
        shape.extent_x = (float)BUNDLE_WIDTH + 15.0f;
        shape.extent_y = (float)BUNDLE_HEIGHT + 3.0f;
    }
    for (int c = 0; c < 4; ++c)
        shape.reduce[c] = identifiers && test_random(random) % 3 == 0 ? TVLM_REDUCE_MODE : TVLM_REDUCE_MEAN;
    shape.scalar = shape.layers == 1 && index % 2 == 1;
    return shape;
}

static void fill_mixed(const test_pair *pair, float low, float high, uint64_t *random) {
    const size_t texels = test_texels(pair->got, 0);
    float *rgba = malloc(4 * texels * sizeof *rgba);
    assert_non_null(rgba);
    for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
        for (size_t i = 0; i < 4 * texels; ++i)
            rgba[i] = pair->got->reduce[i % 4] == TVLM_REDUCE_MODE
                          ? (float)(test_random(random) % 2048)
                          : low + (high - low) * test_random_unit(random);
        test_pair_write(pair, slice, rgba);
    }
    free(rgba);
}

test_bundle test_bundle_create(const test_target *target, tvlm_device *reference, int32_t count,
                               bool identifiers, float low, float high, uint64_t *random) {
    test_bundle bundle = {.side = BUNDLE_WIDTH + 15};
    tvlm_bundle common = {.count = count,
                          .width = BUNDLE_WIDTH,
                          .height = BUNDLE_HEIGHT,
                          .fixation_x = 31.5f,
                          .fixation_y = 40.25f,
                          .rope = {.theta = 1000.0f, .dimension = 12, .patch = 7.0f}};
    common.farthest = hypotf((float)BUNDLE_WIDTH - 31.5f, 40.25f);
    bundle.got = bundle.expected = common;
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_texture shape = bundle_shape(i, identifiers, target->format, random);
        bundle.pairs[i] = test_pair_create(target, reference, &shape);
        fill_mixed(&bundle.pairs[i], low, high, random);
        test_pair_levels(&bundle.pairs[i]);
        bundle.got.textures[i] = bundle.pairs[i].got;
        bundle.expected.textures[i] = bundle.pairs[i].expected;
    }
    return bundle;
}

void test_bundle_destroy(test_bundle *bundle) {
    for (int32_t i = 0; i < bundle->got.count; ++i) test_pair_destroy(&bundle->pairs[i]);
}

bool test_is_identifier(const tvlm_bundle *bundle, int32_t ref) {
    if (ref < 0 || TVLM_REF_TEXTURE(ref) == TVLM_BUNDLE_FORMULA) return false;
    return bundle->textures[TVLM_REF_TEXTURE(ref)]->reduce[TVLM_REF_COMPONENT(ref)] == TVLM_REDUCE_MODE;
}

/* Of a scalar texture it is always the one component. */
int32_t test_random_ref(const tvlm_bundle *bundle, int32_t like, uint64_t *random) {
    const int32_t component = below(random, 4), kind = below(random, 8);
    if (kind == 0) return TVLM_REF_ZERO;
    if (kind == 1 || bundle->count == 0)
        return TVLM_REF(TVLM_BUNDLE_FORMULA, below(random, 2) * (TVLM_FORMULA_ROPE + below(random, 9)),
                        component);
    const bool beside = like >= 0 && kind < 4;
    const int32_t texture = beside ? TVLM_REF_TEXTURE(like) : below(random, bundle->count);
    const bool scalar = texture < bundle->count && bundle->textures[texture]->scalar;
    if (beside) return (like & ~3) | (scalar ? 0 : component);
    return TVLM_REF(texture, below(random, bundle->textures[texture]->layers), scalar ? 0 : component);
}
