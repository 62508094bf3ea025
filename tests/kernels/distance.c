/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.c: the distance to the nearest edge, against the reference. The edges are those of pictures, and
 * masks that no picture makes. The reference itself is tested against the least of all distances, which are
 * tried one by one.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/memory.h"
#include "kernels/family.h"
#include "opencl/distance.h"
#include "reference/distance.h"

static const char *const names[4] = {"distance", "component 1", "component 2", "component 3"};

/* The squares are integers and equal. A root (3 ulp) and a division (2.5 ulp) follow, of values up to 1. */
static const test_tolerance tolerances[4] = {{7e-7f, 2e-7f, TEST_HALF_ULP}};

/* ---- Masks ---- */

typedef enum mask_kind {
    MASK_NONE = 0,
    MASK_ALL,
    MASK_FIRST, /* one pixel: in a corner, in the opposite one, in the middle */
    MASK_LAST,
    MASK_CENTRE,
    MASK_CHECKER,
    MASK_RING,
    MASK_COLUMN, /* the last one */
    MASK_SPARSE, /* one pixel in 500, at random */
    MASK_DENSE,  /* every other one, at random */
    MASKS
} mask_kind;

static const char *const mask_names[MASKS] = {"none",    "all",  "first pixel", "last pixel", "centre",
                                              "checker", "ring", "last column", "sparse",     "dense"};

static bool in_mask(mask_kind kind, test_size size, int32_t x, int32_t y, uint64_t *random) {
    const int32_t w = size.width, h = size.height, side = w < h ? w : h;
    const double from_centre = hypot(x - w / 2.0, y - h / 2.0);
    switch (kind) {
    case MASK_NONE: return false;
    case MASK_ALL: return true;
    case MASK_FIRST: return x == 0 && y == 0;
    case MASK_LAST: return x == w - 1 && y == h - 1;
    case MASK_CENTRE: return x == w / 2 && y == h / 2;
    case MASK_CHECKER: return (x + y) % 2 == 0;
    case MASK_RING: return fabs(from_centre - 0.4 * side) < 0.71;
    case MASK_COLUMN: return x == w - 1;
    case MASK_SPARSE: return test_random(random) % 500 == 0;
    case MASK_DENSE: return test_random(random) % 2 == 0;
    case MASKS: break;
    }
    return false;
}

/* Makes mask[image][y][x]. Each image of a batch has a mask of another kind. free() it. */
static bool *make_mask(mask_kind kind, test_size size, int32_t images, uint64_t *random) {
    const size_t texels = (size_t)size.width * (size_t)size.height;
    bool *mask = tvlm_allocate(texels, (size_t)images * sizeof *mask);
    assert_non_null(mask);
    for (int32_t image = 0; image < images; ++image)
        for (int32_t y = 0; y < size.height; ++y)
            for (int32_t x = 0; x < size.width; ++x)
                mask[((size_t)(image * size.height + y)) * (size_t)size.width + (size_t)x] =
                    in_mask((mask_kind)(((int32_t)kind + image) % MASKS), size, x, y, random);
    return mask;
}

/* Puts 32 rows of a column into each word. */
static tvlm_buffer *mask_bits(tvlm_device *device, const bool *mask, test_size size, int32_t images) {
    const size_t width = (size_t)size.width, height = (size_t)size.height, words = (height + 31) / 32;
    uint32_t *bits = tvlm_allocate(width * words, (size_t)images * sizeof *bits);
    assert_non_null(bits);
    for (size_t image = 0; image < (size_t)images; ++image)
        for (size_t y = 0; y < height; ++y)
            for (size_t x = 0; x < width; ++x)
                if (mask[(image * height + y) * width + x])
                    bits[(image * words + y / 32) * width + x] |= (uint32_t)1 << (y % 32);
    tvlm_buffer *buffer = test_buffer(device, width * words * (size_t)images * sizeof *bits, bits);
    free(bits);
    return buffer;
}

static void reference_masks(const bool *mask, tvlm_texture *out) {
    for (int32_t image = 0; image < out->images; ++image)
        assert_true(tvlm_reference_distance_of_mask(mask + (size_t)image * test_texels(out, 0), image, out));
}

static void check_mask(const test_target *target, tvlm_device *reference, mask_kind kind, test_size size,
                       int32_t images, uint64_t *random) {
    tvlm_texture shape = test_shape(size, 1, images, target->format);
    shape.scalar = true;
    test_pair pair = test_pair_create(target, reference, &shape);
    bool *mask = make_mask(kind, size, images, random);
    tvlm_buffer *bits = mask_bits(target->device, mask, size, images);
    char what[96];
    snprintf(what, sizeof what, "%s, %dx%d", mask_names[kind], (int)size.width, (int)size.height);
    test_poison(pair.device, pair.got);
    test_poison(pair.reference, pair.expected);
    if (tvlm_opencl_distance_of_mask((opencl_device *)target->device, ((opencl_buffer *)bits)->memory,
                                     pair.got) != TVLM_OK)
        fail_msg("%s: %s", what, test_last_log());
    reference_masks(mask, pair.expected);
    test_pair_compare(what, &pair, names, tolerances);
    target->device->backend->buffer_destroy(target->device, &bits);
    free(mask);
    test_pair_destroy(&pair);
}

/* More than the usual sizes: whole words of 32 rows, runs of 64 columns and groups of 256 pixels, and one
 * more or less than whole. */
static const test_size more_sizes[] = {{63, 31}, {64, 32},  {65, 33},  {255, 64},
                                       {257, 3}, {31, 257}, {700, 97}, {97, 513}};

static void masks(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *sizes = test_sizes(&count);
    const size_t more = test_small() ? 1 : sizeof more_sizes / sizeof *more_sizes;
    uint64_t random = 34;
    for (int kind = 0; kind < MASKS; ++kind) {
        /* In an interpreter the point is which memory is read, not the values. So most masks get one size
         * each. */
        if (test_small() && kind != MASK_NONE && kind != MASK_SPARSE) {
            const size_t i = (size_t)kind / 2; /* ten masks, five sizes */
            check_mask(target, reference, (mask_kind)kind, sizes[i], i % 2 == 0 ? 1 : 3, &random);
            continue;
        }
        for (size_t i = 0; i < count; ++i)
            check_mask(target, reference, (mask_kind)kind, sizes[i], i % 2 == 0 ? 1 : 3, &random);
        for (size_t i = 0; i < more; ++i)
            check_mask(target, reference, (mask_kind)kind, more_sizes[i], 1, &random);
    }
}

/* If local memory does not suffice for a row, its envelope is in global memory, whatever the tuning. */
static void no_local_memory(const test_target *target, tvlm_device *reference) {
    uint64_t random = 35;
    const uint64_t usual = target->device->info.local_bytes;
    target->device->info.local_bytes = 256;
    check_mask(target, reference, MASK_SPARSE, (test_size){131, test_small() ? 9 : 70}, 2, &random);
    target->device->info.local_bytes = usual;
}

/*
 * Sides whose squares fit no int. They are tried in buffers alone, since images have no such sides.
 */
static void long_sides(const test_target *target, tvlm_device *reference) {
    static const test_size sizes[] = {{50000, 1}, {1, 33000}};
    uint64_t random = 36;
    if (target->device->info.storage != TVLM_STORAGE_BUFFER) return;
    for (int i = 0; i < 2; ++i) {
        check_mask(target, reference, MASK_LAST, sizes[i], 1, &random);
        check_mask(target, reference, MASK_SPARSE, sizes[i], 1, &random);
    }
}

/* ---- The family ---- */

/*
 * Makes the distance from `visual` textures that are the same on both sides. The rule for edge pixels
 * compares stored values, and sums of two of them. So no pixel is an edge on one side only.
 */
static void pictures(const test_trial *trial) {
    const int32_t images = trial->index % 2 == 0 ? 3 : 1;
    const tvlm_texture shape = test_shape(trial->size, 1, images, trial->target->format);
    tvlm_texture scalar = shape;
    scalar.scalar = true;
    if (test_small() && trial->picture != TEST_PICTURE_RANDOM) return;
    test_pair source = test_source(trial->target, trial->reference, trial->size, images, trial->picture,
                                   trial->random),
              visual = test_pair_create(trial->target, trial->reference, &shape),
              pair = test_pair_create(trial->target, trial->reference, &scalar);
    char what[96];
    snprintf(what, sizeof what, "picture %d, %dx%d", (int)trial->picture, (int)trial->size.width,
             (int)trial->size.height);
    test_generate(visual.device, TVLM_GRID_VISUAL, TVLM_GRID_SOURCE, source.got,
                  (tvlm_generate_args){.out = visual.got});
    test_pair_levels(&visual);
    test_pair_generate(&pair, TVLM_GRID_DISTANCE, TVLM_GRID_VISUAL, &visual);
    test_pair_compare(what, &pair, names, tolerances);
    test_pair_destroy(&source);
    test_pair_destroy(&visual);
    test_pair_destroy(&pair);
}

/* ---- The reference ---- */

/* The definition of doc/channels.md, word by word. */
static double by_definition(const bool *mask, test_size size, int32_t x, int32_t y) {
    const double range = (size.width > size.height ? size.width : size.height) / 8.0;
    double least = INFINITY;
    for (int32_t j = 0; j < size.height; ++j)
        for (int32_t i = 0; i < size.width; ++i)
            if (mask[j * size.width + i]) least = fmin(least, hypot(x - i, y - j));
    return fmin(1.0, least / range);
}

static void definition(tvlm_device *device) {
    static const test_size sizes[] = {{1, 1}, {1, 9}, {9, 1}, {8, 8}, {37, 29}, {29, 50}, {400, 3}, {3, 400}};
    uint64_t random = 37;
    for (int kind = 0; kind < MASKS; ++kind)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
            const tvlm_texture shape = test_shape(sizes[s], 1, 1, TVLM_FORMAT_F32);
            tvlm_texture *out = test_texture(device, &shape);
            bool *mask = make_mask((mask_kind)kind, sizes[s], 1, &random);
            reference_masks(mask, out);
            float *rgba = test_read(device, out, 0, 0);
            for (int32_t i = 0; i < sizes[s].width * sizes[s].height; ++i) {
                const double wanted = by_definition(mask, sizes[s], i % sizes[s].width, i / sizes[s].width);
                if (!(fabs((double)rgba[4 * i] - wanted) <= 1e-7))
                    fail_msg("%s, %dx%d, pixel %d: %.9g, by definition %.9g", mask_names[kind],
                             (int)sizes[s].width, (int)sizes[s].height, (int)i, (double)rgba[4 * i], wanted);
            }
            free(rgba);
            free(mask);
            device->backend->texture_destroy(device, &out);
        }
}

/* The processor's seconds for the distances of a mask on the reference. */
static double seconds_of(const bool *mask, tvlm_texture *out) {
    const clock_t began = clock();
    reference_masks(mask, out);
    return (double)(clock() - began) / CLOCKS_PER_SEC;
}

/* A strip takes about as long as a square of as many pixels: a search along an eighth of the longer side took a hundred
 * times as long. */
static void check_linear(tvlm_device *device, double strip, test_size size, test_size square) {
    const tvlm_texture shape = test_shape(square, 1, 1, TVLM_FORMAT_F32);
    if (size.width < square.width) return; /* small sizes take no time that can be measured */
    tvlm_texture *out = test_texture(device, &shape);
    bool *const mask = tvlm_allocate(test_texels(&shape, 0), sizeof *mask);
    assert_non_null(mask);
    mask[square.width * square.height / 3] = true;
    const double other = seconds_of(mask, out);
    if (strip > 10.0 * other + 0.1) fail_msg("a strip takes %.2f s, a square %.2f s", strip, other);
    free(mask);
    device->backend->texture_destroy(device, &out);
}

/* A strip whose squares fit no int has one edge pixel. Every distance is the distance from that pixel. */
static void long_strip(tvlm_device *device) {
    const test_size size = {test_small() ? 400 : 60000, 16}, square = {980, 980};
    const int32_t column = size.width / 3, row = 11;
    const double range = size.width / 8.0;
    const tvlm_texture shape = test_shape(size, 1, 1, TVLM_FORMAT_F32);
    tvlm_texture *out = test_texture(device, &shape);
    bool *const mask = tvlm_allocate(test_texels(&shape, 0), sizeof *mask);
    assert_non_null(mask);
    mask[row * size.width + column] = true;
    const double strip = seconds_of(mask, out);
    check_linear(device, strip, size, square);
    float *const rgba = test_read(device, out, 0, 0);
    for (int32_t i = 0; i < size.width * size.height; ++i) {
        const double wanted = fmin(1.0, hypot(i % size.width - column, i / size.width - row) / range);
        if (!(fabs((double)rgba[4 * i] - wanted) <= 1e-7))
            fail_msg("pixel %d: %.9g, by definition %.9g", (int)i, (double)rgba[4 * i], wanted);
    }
    free(rgba);
    free(mask);
    device->backend->texture_destroy(device, &out);
}

TEST_FAMILY(distance, {"definition", .known = definition}, {"long strip", .known = long_strip},
            {"masks", TEST_TUNED | TEST_OPENCL, .body = masks},
            {"pictures", TEST_TUNED, .trial = pictures, .pictures = true, .seed = 36},
            {"no local memory", TEST_OPENCL, .body = no_local_memory},
            {"long sides", TEST_TUNED | TEST_OPENCL | TEST_LARGE, .body = long_sides})
