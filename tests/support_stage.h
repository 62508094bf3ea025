/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_stage.h: one operation of the backend table on the device under test and on the reference, from
 * identical inputs, and what came out compared.
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

/* Odd sizes: single texels, rows and columns, around work-groups and tiles; fewer and smaller when
 * test_small(). */
const test_size *test_sizes(size_t *count);

/*
 * What may differ. Where the output is stored in half, values that agree but for `maximum` may fall to
 * different sides of a rounding boundary: one moves by a unit in the last place, `half`. That happens to the
 * fewer the closer they are, so that the average moves by what it was before; the tolerance has three times
 * that, and two texels' worth for averages of few. $TVLM_TEST_FIGURES=1 prints what every comparison found.
 */
typedef struct test_tolerance {
    float maximum, mean, half;
} test_tolerance;

/* A unit in the last place of a half below 1. */
#define TEST_HALF_ULP 4.8828125e-4f

/* `count` values, every `stride`-th; with `half` the tolerance is that of values stored in half. */
void test_compare_stage(const char *what, const float *got, const float *expected, size_t count,
                        size_t stride, test_tolerance tolerance, bool half);

/* ---- Devices ---- */

/* Runs `body` for every target, and skips where there is none. test_exit: the exit code of main, 77 if all
 * skipped. */
void test_on_targets(test_body *body);
int test_exit(int failed);

bool test_is_opencl(const tvlm_device *device);

/* False where the driver ends loops early (self-test): what suits a CPU is never run there. */
bool test_has_long_loops(const tvlm_device *device);

/*
 * Runs `body` twice, with what is tuned as on a CPU and as on a GPU (tiles, runs, work-groups), whatever the
 * device is; once where there is nothing to tune, or the device has no long loops.
 */
void test_with_tunings(const test_target *target, tvlm_device *reference, test_body *body);

/* ---- Textures ---- */

/* The same texture twice: on the device under test and on the reference. */
typedef struct test_pair {
    tvlm_device *device, *reference;
    tvlm_texture *got, *expected;
} test_pair;

/* All levels, means, an extent of its own size. */
tvlm_texture test_shape(test_size size, int32_t layers, int32_t images, tvlm_format format);
size_t test_texels(const tvlm_texture *texture, int32_t level); /* of one slice */
int32_t test_slices(const tvlm_texture *texture);

tvlm_texture *test_texture(tvlm_device *device, const tvlm_texture *shape);
test_pair test_pair_create(const test_target *target, tvlm_device *reference, const tvlm_texture *shape);
void test_pair_destroy(test_pair *pair);

/* The same values into level 0 of a slice of both. */
void test_pair_write(const test_pair *pair, int32_t slice, const float *rgba);

/* Every slice of level 0 of both: random values of [low, high), whole numbers where `whole`. */
void test_pair_fill(const test_pair *pair, uint64_t *random, float low, float high, bool whole);

/* NaN into level 0 of the texture; whatever levels there are, hold a value that no test writes. */
void test_poison(tvlm_device *device, tvlm_texture *texture);

/* Levels of both, each made by its own backend. */
void test_pair_mips(const test_pair *pair);

/* Copies every level of the device's texture into the reference's: identical inputs at all levels. */
void test_pair_equalise(const test_pair *pair);

/* One slice of a level, free() it; checks that nothing is written behind it. */
float *test_read(tvlm_device *device, tvlm_texture *texture, int32_t level, int32_t slice);

/* Compares level 0, one tolerance a component; `names` of the components, for messages. */
void test_pair_compare(const char *what, const test_pair *pair, const char *const names[4],
                       const test_tolerance tolerances[4]);

/* ---- Sources and families ---- */

typedef enum test_picture {
    TEST_PICTURE_RANDOM = 0, /* smooth, flat and noisy parts */
    TEST_PICTURE_NOISE,      /* black and white at random: the largest contrasts there are */
    TEST_PICTURE_FLAT,
    TEST_PICTURES
} test_picture;

/* The source of `images` pictures with all levels, identical on both. */
test_pair test_source(const test_target *target, tvlm_device *reference, test_size size, int32_t images,
                      test_picture picture, uint64_t *random);

/* Generates `grid` for all sizes, pictures, and batches of 1 and 3 on the device and on the reference;
 * compares. To be called under test_with_tunings where its kernels have tiles. */
void test_family(const test_target *target, tvlm_device *reference, tvlm_grid grid,
                 const char *const names[4], const test_tolerance tolerances[4]);

/* ---- Buffers ---- */

/* A device buffer of `bytes`, holding `data` (NULL: the guard's pattern), with a guard behind. */
tvlm_buffer *test_buffer(tvlm_device *device, size_t bytes, const void *data);

/* Its first `bytes` (what test_buffer was given) into `data`; fails if the guard was touched. Destroys the
 * buffer. */
void test_buffer_take(tvlm_device *device, tvlm_buffer **buffer, size_t bytes, void *data);

/* ---- Sampling ---- */

/*
 * A bundle of textures of different sizes over one image of 97 x 61 pixels, on the device and on the
 * reference, the same at all levels: grids as large as the image and coarser, some that reach beyond it; one
 * or two layers, 3 images. Components hold values of [low, high], or whole numbers below 2048 where they are
 * identifiers.
 */
typedef struct test_bundle {
    test_pair pairs[TVLM_BUNDLE_MAX];
    tvlm_bundle got, expected;
    int32_t side; /* of the largest grid */
} test_bundle;
test_bundle test_bundle_create(const test_target *target, tvlm_device *reference, int32_t count,
                               bool identifiers, float low, float high, uint64_t *random);
void test_bundle_destroy(test_bundle *bundle);
bool test_is_identifier(const tvlm_bundle *bundle, int32_t ref);

/* A reference into it: mostly textures, now and then the formula or 0; with `like` >= 0 perhaps of the same
 * layer. */
int32_t test_random_ref(const tvlm_bundle *bundle, int32_t like, uint64_t *random);

/*
 * How far a bilinear sample of values that span `range` may be off: the device's own filter weights, as its
 * self-test measured them (GPUs: 8 fractional bits), and coordinates in float of grids up to `side` texels.
 */
float test_sample_tolerance(const test_target *target, int32_t side, float range);

#endif
