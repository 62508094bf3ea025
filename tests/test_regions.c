/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_regions.c: regions through the public functions: tables, neighbours, labels, and labels of the
 * application's own.
 */
#include "stack/regions.h"
#include "stack_helper.h"

/* Of every picture here; small ones for interpreters. */
static int32_t picture_width = 70, picture_height = 45, picture_texels = 70 * 45;

static tvlm_stack *noisy_stack(tvlm_device *device, tvlm_format format, int32_t images, int32_t clusters) {
    uint64_t random = 5;
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = picture_width, .height = picture_height,
                                            .images = images, .format = format, .clusters = clusters),
                          &stack),
        TVLM_OK);
    for (int32_t i = 0; i < images; ++i) {
        uint8_t *pixels = test_random_pixels(&random, picture_width, picture_height, 3);
        const tvlm_image image = u8_image(pixels, picture_width, picture_height, 3);
        assert_int_equal(tvlm_stack_set_image(stack, i, &image), TVLM_OK);
        free(pixels);
    }
    return stack;
}

static void read_labels(tvlm_stack *stack, int32_t index, int32_t *labels) {
    assert_int_equal(tvlm_stack_labels(stack, index, (size_t)picture_texels, labels), TVLM_OK);
}

/* The neighbours of a region, from the labels. */
static void check_neighbours(tvlm_stack *stack, int32_t index, const int32_t *labels, int32_t region,
                             int32_t count) {
    int32_t found[TVLM_REGIONS_MAX], found_count, asked;
    bool beside[TVLM_REGIONS_MAX] = {false};
    for (int32_t y = 0; y < picture_height; ++y)
        for (int32_t x = 0; x < picture_width; ++x) {
            const int32_t p = y * picture_width + x;
            if (labels[p] != region) continue;
            if (x > 0) beside[labels[p - 1]] = true;
            if (x + 1 < picture_width) beside[labels[p + 1]] = true;
            if (y > 0) beside[labels[p - picture_width]] = true;
            if (y + 1 < picture_height) beside[labels[p + picture_width]] = true;
        }
    beside[region] = false;
    assert_int_equal(tvlm_stack_region_neighbours(stack, index, region, 0, NULL, &asked), TVLM_OK);
    assert_int_equal(
        tvlm_stack_region_neighbours(stack, index, region, TVLM_REGIONS_MAX, found, &found_count), TVLM_OK);
    assert_int_equal(asked, found_count);
    int32_t next = 0;
    for (int32_t i = 0; i < count; ++i)
        if (beside[i]) assert_int_equal(found[next++], i);
    assert_int_equal(next, found_count);
}

/* The table must say what the labels say. */
static void check_table(tvlm_stack *stack, int32_t index, const int32_t *labels) {
    static tvlm_region regions[TVLM_REGIONS_MAX];
    int32_t count, asked;
    assert_int_equal(tvlm_stack_regions(stack, index, 0, NULL, &asked), TVLM_OK);
    assert_int_equal(tvlm_stack_regions(stack, index, TVLM_REGIONS_MAX, regions, &count), TVLM_OK);
    assert_int_equal(asked, count);
    for (int32_t i = 0; i < count; ++i) {
        int32_t pixels = 0, left = picture_width, top = picture_height, right = 0, bottom = 0;
        double x = 0, y = 0, radius = 0;
        for (int32_t p = 0; p < picture_texels; ++p) {
            const int32_t column = p % picture_width, row = p / picture_width;
            if (labels[p] != i) continue;
            ++pixels;
            x += column + 0.5;
            y += row + 0.5;
            left = column < left ? column : left;
            top = row < top ? row : top;
            right = column >= right ? column + 1 : right;
            bottom = row + 1;
            radius =
                fmax(radius, hypot(column + 0.5 - (double)regions[i].x, row + 0.5 - (double)regions[i].y));
        }
        assert_true(pixels > 0);
        assert_int_equal(regions[i].pixels, pixels);
        assert_true(fabs(x / pixels - (double)regions[i].x) <= 1.0 / 256);
        assert_true(fabs(y / pixels - (double)regions[i].y) <= 1.0 / 256);
        assert_int_equal(regions[i].left, left);
        assert_int_equal(regions[i].top, top);
        assert_int_equal(regions[i].right, right);
        assert_int_equal(regions[i].bottom, bottom);
        assert_true(fabs(radius - (double)regions[i].radius) < 1e-4);
        assert_true(regions[i].l >= 0.0f && regions[i].l <= 100.1f);
        assert_true(regions[i].texture >= 0.0f);
        check_neighbours(stack, index, labels, i, count);
    }
}

static void check_channels(tvlm_stack *stack, int32_t index, const int32_t *labels) {
    int32_t count;
    size_t texels;
    tvlm_region regions[TVLM_REGIONS_MAX];
    assert_int_equal(tvlm_stack_regions(stack, index, TVLM_REGIONS_MAX, regions, &count), TVLM_OK);
    float *ids = read_level(stack, index, tvlm_channel_find("cluster_id"), 0, &texels);
    float *sizes = read_level(stack, index, tvlm_channel_find("cluster_size"), 0, &texels);
    float *distances = read_level(stack, index, tvlm_channel_find("cluster_distance"), 0, &texels);
    for (size_t p = 0; p < texels; ++p) {
        assert_int_equal((int32_t)ids[p], labels[p]);
        assert_true(fabsf(sizes[p] - (float)regions[labels[p]].pixels / (float)picture_texels) < 1e-3f);
        assert_true(distances[p] >= 0.0f && distances[p] <= 1.0f);
    }
    free(ids);
    free(sizes);
    free(distances);
}

static void tables(tvlm_device *device, tvlm_format format) {
    int32_t *labels = malloc((size_t)picture_texels * sizeof *labels);
    const int32_t numbers[] = {20, 1, 2048};
    assert_non_null(labels);
    for (int n = 0; n < (test_small() ? 1 : 3); ++n) {
        tvlm_stack *stack = noisy_stack(device, format, 2, numbers[n]);
        for (int32_t i = 0; i < 2; ++i) {
            read_labels(stack, i, labels);
            check_table(stack, i, labels);
            check_channels(stack, i, labels);
        }
        tvlm_stack_destroy(&stack);
    }
    free(labels);
}

/* A batch of images gives each what it gets alone, and so it is after one of them had labels handed in. */
static void own_labels(tvlm_device *device, tvlm_format format) {
    enum { COLUMNS = 7, ROWS = 9, STRIDE = 10 };
    static const int32_t ids[] = {-5, 1 << 30, 3, 17};
    int32_t *before = malloc((size_t)picture_texels * sizeof *before),
            *labels = malloc((size_t)picture_texels * sizeof *labels);
    int32_t map[ROWS * STRIDE], count;
    uint64_t random = 9;
    size_t texels;
    tvlm_stack *stack = noisy_stack(device, format, 2, 20);
    assert_non_null(before);
    assert_non_null(labels);
    read_labels(stack, 0, before);
    for (int i = 0; i < ROWS * STRIDE; ++i)
        map[i] = i % STRIDE < COLUMNS ? ids[test_random(&random) % 4] : 999;
    assert_int_equal(tvlm_stack_set_labels(stack, 1, map, COLUMNS, ROWS, STRIDE), TVLM_OK);
    read_labels(stack, 1, labels);
    assert_int_equal(tvlm_stack_regions(stack, 1, 0, NULL, &count), TVLM_OK);
    assert_int_equal(count, 4);
    float *boundary = read_level(stack, 1, tvlm_channel_find("boundary"), 0, &texels);
    for (int32_t y = 0; y < picture_height; ++y)
        for (int32_t x = 0; x < picture_width; ++x) {
            const int32_t id = map[(int)((y + 0.5) * ROWS / picture_height) * STRIDE +
                                   (int)((x + 0.5) * COLUMNS / picture_width)];
            const int32_t p = y * picture_width + x, dense = id == -5 ? 0 : id == 3 ? 1 : id == 17 ? 2 : 3;
            const bool meet = (x + 1 < picture_width && labels[p + 1] != labels[p]) ||
                              (y + 1 < picture_height && labels[p + picture_width] != labels[p]);
            assert_int_equal(labels[p], dense);
            assert_true(boundary[p] == (meet ? 1.0f : 0.0f));
        }
    check_table(stack, 1, labels);
    check_channels(stack, 1, labels);
    read_labels(stack, 0, labels);
    assert_memory_equal(labels, before, (size_t)picture_texels * sizeof *labels);
    assert_int_equal(tvlm_stack_set_labels(stack, 1, NULL, 0, 0, 0), TVLM_OK);
    tvlm_stack *alone = noisy_stack(device, format, 2, 20);
    read_labels(alone, 1, before);
    read_labels(stack, 1, labels);
    assert_memory_equal(labels, before, (size_t)picture_texels * sizeof *labels);
    tvlm_stack_destroy(&alone);
    tvlm_stack_destroy(&stack);
    free(boundary);
    free(before);
    free(labels);
}

static void mistakes(tvlm_device *device, tvlm_format format) {
    int32_t labels[64 * 64], count, few[2];
    tvlm_region region;
    tvlm_stack *stack = noisy_stack(device, format, 1, 20), *none = NULL;
    for (int i = 0; i < 64 * 64; ++i) labels[i] = 7 * i;
    refused(tvlm_stack_set_labels(stack, 0, labels, 64, 64, 0), TVLM_ERROR_ARGUMENT,
            "more than 2048 distinct labels");
    tvlm_stack *tiny = NULL; /* of whose four pixels none would ever see the 2049th */
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 2, .height = 2, .format = format), &tiny),
        TVLM_OK);
    refused(tvlm_stack_set_labels(tiny, 0, labels, 2049, 1, 0), TVLM_ERROR_ARGUMENT,
            "more than 2048 distinct labels");
    assert_int_equal(tvlm_stack_set_labels(tiny, 0, labels, 2048, 1, 2049), TVLM_OK);
    tvlm_stack_destroy(&tiny);
    refused(tvlm_stack_set_labels(stack, 0, labels, 0, 64, 0), TVLM_ERROR_ARGUMENT, "labels of 0x64");
    refused(tvlm_stack_set_labels(stack, 0, labels, 64, 64, 63), TVLM_ERROR_ARGUMENT, "row stride of 63");
    refused(tvlm_stack_set_labels(stack, 1, labels, 4, 4, 0), TVLM_ERROR_ARGUMENT, "image 1 of a stack of 1");
    assert_int_equal(tvlm_stack_set_labels(stack, 0, labels, 32, 64, 0), TVLM_OK); /* 2048 */
    assert_int_equal(tvlm_stack_set_labels(stack, 0, NULL, 0, 0, 0), TVLM_OK);
    refused(tvlm_stack_regions(stack, 0, 1, &region, &count), TVLM_ERROR_ARGUMENT, "room for 1 regions");
    assert_true(count > 1);
    refused(tvlm_stack_region_neighbours(stack, 0, count, 2, few, &count), TVLM_ERROR_ARGUMENT,
            "of an image of");
    char line[40];
    snprintf(line, sizeof line, "room for %d labels", (int)picture_texels - 1);
    refused(tvlm_stack_labels(stack, 0, (size_t)picture_texels - 1, labels), TVLM_ERROR_ARGUMENT, line);
    tvlm_stack_destroy(&stack);
    refused(tvlm_stack_create(device, tvlm_stack_params(.width = 4, .height = 4, .clusters = 2049), &none),
            TVLM_ERROR_ARGUMENT, "2049 clusters");
    refused(tvlm_stack_create(device, tvlm_stack_params(.width = 4, .height = 4, .compactness = NAN), &none),
            TVLM_ERROR_ARGUMENT, "compactness");
    assert_null(none);
}

/* Just enough room is taken; with less nothing is written beyond it, and the number is told. */
static void rooms(tvlm_device *device, tvlm_format format) {
    static tvlm_region regions[TVLM_REGIONS_MAX];
    static const int32_t stripes[] = {30, 10,
                                      20}; /* the regions 2, 0 and 1, of which 0 lies between the others */
    int32_t neighbours[3] = {-7, -7, -7}, count = -1;
    tvlm_stack *stack = noisy_stack(device, format, 2, 20);
    assert_false(tvlm_stack_has_labels(stack, 1));
    assert_int_equal(tvlm_stack_set_labels(stack, 1, stripes, 3, 1, 0), TVLM_OK);
    assert_true(tvlm_stack_has_labels(stack, 1));
    assert_false(tvlm_stack_has_labels(stack, 0));
    assert_int_equal(tvlm_stack_regions(stack, 1, 3, regions, &count), TVLM_OK);
    assert_int_equal(count, 3);
    refused(tvlm_stack_regions(stack, 1, 2, regions, &count), TVLM_ERROR_ARGUMENT,
            "room for 2 regions; image 1 has 3");
    assert_int_equal(tvlm_stack_region_neighbours(stack, 1, 0, 2, neighbours, &count), TVLM_OK);
    assert_true(count == 2 && neighbours[0] == 1 && neighbours[1] == 2 && neighbours[2] == -7);
    neighbours[0] = neighbours[1] = -7;
    refused(tvlm_stack_region_neighbours(stack, 1, 0, 1, neighbours, &count), TVLM_ERROR_ARGUMENT,
            "room for 1 neighbours; region 0 has 2");
    assert_true(count == 2 && neighbours[0] == 1 && neighbours[1] == -7);
    refused(tvlm_stack_region_neighbours(stack, 1, -1, 2, neighbours, &count), TVLM_ERROR_ARGUMENT,
            "region -1 of an image of 3");
    /* A map of one column, and none of no rows. */
    assert_int_equal(tvlm_stack_set_labels(stack, 1, stripes, 1, 3, 1), TVLM_OK);
    assert_int_equal(tvlm_stack_regions(stack, 1, 3, regions, &count), TVLM_OK);
    assert_true(count == 3 && regions[2].top == 0 && regions[0].top > 0 && regions[1].top > regions[0].top);
    refused(tvlm_stack_set_labels(stack, 1, stripes, 3, 0, 0), TVLM_ERROR_ARGUMENT, "labels of 3x0");
    refused(tvlm_stack_set_labels(stack, 1, stripes, 1, 3, SIZE_MAX / 3 + 1), TVLM_ERROR_ARGUMENT,
            "are larger than memory");
    refused(tvlm_stack_set_labels(stack, 1, stripes, 1, 3, SIZE_MAX / 12 + 1), TVLM_ERROR_ARGUMENT,
            "3 rows of 1537228672809129302 labels are larger than memory");
    assert_int_equal(tvlm_stack_set_labels(stack, 1, NULL, 0, 0, 0), TVLM_OK);
    assert_false(tvlm_stack_has_labels(stack, 1));
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(tables, own_labels, mistakes, rooms)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets)};
    if (test_small()) picture_width = 10, picture_height = 9, picture_texels = 10 * 9;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
