/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_stage.h: runs one operation of the backend's table on the device under test and on the reference,
 * from identical inputs, and compares what comes out.
 *
 * Every comparison is made for each slice, level and component by itself, so that a small error is not lost
 * among large ones. Outputs are poisoned before a kernel writes them: NaN in textures, a pattern behind the
 * end of buffers.
 */
#ifndef TVLM_TESTS_SUPPORT_STAGE_H
#define TVLM_TESTS_SUPPORT_STAGE_H

#include "support.h"

typedef struct test_size {
    int32_t width, height;
} test_size;

/* Returns odd sizes: single texels, rows and columns, and sizes around those of work-groups and tiles. They
 * are fewer and smaller when test_small(). */
const test_size *test_sizes(size_t *count);

/*
 * By how much values may differ. Where the output is stored in half, values that agree but for `maximum` may
 * fall to different sides of a rounding boundary: one then moves by a unit in the last place, `half`. The
 * closer values are, the fewer of them do, so that the average moves by about what it was before. The
 * tolerance allows three times the average, and two texels' worth for averages of few. $TVLM_TEST_FIGURES=1
 * prints what every comparison found.
 */
typedef struct test_tolerance {
    float maximum, mean, half;
} test_tolerance;

/* A unit in the last place of a half below 1. */
#define TEST_HALF_ULP 4.8828125e-4f

/* Compares `count` values, every `stride`-th. With `half` the tolerance is that of values stored in half. */
void test_compare_stage(const char *what, const float *got, const float *expected, size_t count,
                        size_t stride, test_tolerance tolerance, bool half);

/* ---- Devices ---- */

/* Runs `body` for every target, and skips where there is none. test_exit returns the exit code of main: 77 if
 * all were skipped. */
void test_on_targets(test_body *body);
int test_exit(int failed);

bool test_is_opencl(const tvlm_device *device);

/* Whether stacks of bytes can be made, which a device is asked first. */
bool test_stores_bytes(tvlm_device *device);

/* False where the self-test found that the driver ends loops early: what suits a CPU is never run there. */
bool test_has_long_loops(const tvlm_device *device);

/*
 * Runs `body` twice, whatever the device is: with tiles, runs and work-groups tuned as on a CPU, and as on a
 * GPU. It runs once where there is nothing to tune, or the device has no long loops.
 */
void test_with_tunings(const test_target *target, tvlm_device *reference, test_body *body);

/* ---- Textures ---- */

/* Two textures of one shape: on the device under test and on the reference. */
typedef struct test_pair {
    tvlm_device *device, *reference;
    tvlm_texture *got, *expected;
} test_pair;

/* Returns a shape with all levels, which are means, and an extent of its own size. */
tvlm_texture test_shape(test_size size, int32_t layers, int32_t images, tvlm_format format);
test_size test_level_size(test_size size, int32_t level);
size_t test_texels(const tvlm_texture *texture, int32_t level); /* how many one slice has */
int32_t test_slices(const tvlm_texture *texture);

tvlm_texture *test_texture(tvlm_device *device, const tvlm_texture *shape);
test_pair test_pair_create(const test_target *target, tvlm_device *reference, const tvlm_texture *shape);
void test_pair_destroy(test_pair *pair);

/* Writes the same values into level 0 of a slice of both. */
void test_pair_write(const test_pair *pair, int32_t slice, const float *rgba);

/* Fills every slice of level 0 of both with the same random values of [low, high), which are whole numbers
 * with `whole`. */
void test_pair_fill(const test_pair *pair, uint64_t *random, float low, float high, bool whole);

/* Fills level 0 of the texture with NaN, and its other levels with a value that no test writes. */
void test_poison(tvlm_device *device, tvlm_texture *texture);

/* Makes the levels of both, each by its own backend. */
void test_pair_mips(const test_pair *pair);

/* Copies every level of the device's texture into the reference's, so that inputs are identical at all
 * levels. */
void test_pair_equalise(const test_pair *pair);

/* Makes the levels of both, which are then the same: both of the above. */
void test_pair_levels(const test_pair *pair);

/* Reads one slice of a level, and checks that nothing is written behind it. The caller frees it. */
float *test_read(tvlm_device *device, tvlm_texture *texture, int32_t level, int32_t slice);

/* Fails unless a slice of level 0 is 0 everywhere. */
void test_is_zero(tvlm_device *device, tvlm_texture *texture, int32_t slice);

/* Compares level 0, with a tolerance for each component. `names` are those of the components, for messages.
 */
void test_pair_compare(const char *what, const test_pair *pair, const char *const names[4],
                       const test_tolerance tolerances[4]);

/* ---- Sources and families ---- */

typedef enum test_picture {
    TEST_PICTURE_RANDOM = 0, /* smooth, flat and noisy parts */
    TEST_PICTURE_NOISE,      /* black and white at random: the largest contrasts there are */
    TEST_PICTURE_FLAT,
    TEST_PICTURES
} test_picture;

/* Makes the source of `images` pictures with all levels, identical on both. */
test_pair test_source(const test_target *target, tvlm_device *reference, test_size size, int32_t images,
                      test_picture picture, uint64_t *random);

/* Returns the shape of a family's grid for images of `size`, as lib/stack/grids.c makes it. */
tvlm_texture test_grid_shape(tvlm_grid grid, test_size size, int32_t images, tvlm_format format);

/* Makes args.out of one other grid, `from`, which is `input`; args.grids is not looked at. */
void test_generate(tvlm_device *device, tvlm_grid grid, tvlm_grid from, tvlm_texture *input,
                   tvlm_generate_args args);

/* Makes both, which are poisoned before, from the one grid `from`. */
void test_pair_generate(const test_pair *out, tvlm_grid grid, tvlm_grid from, const test_pair *input);

/* Makes `grid` for all sizes, pictures, and batches of 1 and 3 on the device and on the reference, and compares.
 * Where its kernels have tiles, it is to be called under test_with_tunings. */
void test_generated(const test_target *target, tvlm_device *reference, tvlm_grid grid,
                    const char *const names[4], const test_tolerance tolerances[4]);

/* ---- Buffers ---- */

/* Makes a device buffer of `bytes` that holds `data` (NULL: the guard's pattern), with a guard behind. */
tvlm_buffer *test_buffer(tvlm_device *device, size_t bytes, const void *data);

/* Reads the first `bytes` (what test_buffer was given) into `data`, and destroys the buffer. Fails if the
 * guard was touched. */
void test_buffer_take(tvlm_device *device, tvlm_buffer **buffer, size_t bytes, void *data);

/* ---- Sampling ---- */

/*
 * A bundle of textures over one image of 97 x 61 pixels, the same at all levels on the device and on the
 * reference. They are grids as large as the image and coarser ones, with one or two layers and 3 images. Some
 * reach beyond the image. Components hold values of [low, high], or whole numbers below 2048 where they
 * are identifiers.
 */
typedef struct test_bundle {
    test_pair pairs[TVLM_BUNDLE_MAX];
    tvlm_bundle got, expected;
    int32_t side; /* the longest side of all grids */
} test_bundle;
test_bundle test_bundle_create(const test_target *target, tvlm_device *reference, int32_t count,
                               bool identifiers, float low, float high, uint64_t *random);
void test_bundle_destroy(test_bundle *bundle);
bool test_is_identifier(const tvlm_bundle *bundle, int32_t ref);

/* Returns a reference into it: mostly to a texture, now and then to the formula or to 0. With `like` >= 0 it
 * is perhaps one to the same layer. */
int32_t test_random_ref(const tvlm_bundle *bundle, int32_t like, uint64_t *random);

/*
 * Returns how far a bilinear sample of values that span `range` may be off. That comes from the device's own
 * filter weights, as its self-test measured them (GPUs have 8 fractional bits), and from coordinates in float
 * in grids of up to `side` texels.
 */
float test_sample_tolerance(const test_target *target, int32_t side, float range);

#endif
