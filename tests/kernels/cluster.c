/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c: regions on the device against the reference, stage by stage.
 *
 * L*a*b* is rounded to whole steps. All that follows is made of integers and correctly rounded floats, and
 * must be equal, bit for bit. Only the steps may differ, if L*a*b* in float falls to another side of a half
 * than in double. So there are two kinds of pictures:
 * - pictures of few colours, which are far from any half: all must be equal;
 * - pictures of all colours: few labels may differ.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/cluster.h"
#include "kernels/family.h"
#include "reference/cluster.h"
#include "reference/reference.h"

static const char *const names[4] = {"cluster_id", "cluster_distance", "cluster_size", "boundary"};

/* The distance has a root (3 ulp) and a division (2.5 ulp) of values up to 1; the size has a division
 * alone. */
static const test_tolerance exact[4] = {
    {0.0f, 0.0f, 0.0f}, {1e-6f, 1e-6f, TEST_HALF_ULP}, {2e-7f, 1e-7f, TEST_HALF_ULP}, {0.0f, 0.0f, 0.0f}};

/* ---- What a device made ---- */

typedef struct cluster_made {
    tvlm_device *device;
    tvlm_texture *source, *out;
    tvlm_buffer *products[TVLM_PRODUCT_COUNT];
    int32_t *labels;
    uint32_t *tables;
    tvlm_region_layout layout;
    size_t texels;
} cluster_made;

static void take(cluster_made *made, tvlm_product which, void *data, size_t bytes) {
    if (made->device->backend->buffer_read(made->device, made->products[which], 0, bytes, data) != TVLM_OK)
        fail_msg("reading a product: %s", test_last_log());
}

static void make(cluster_made *made, const tvlm_family_settings *settings, const int32_t *given,
                 const int32_t *counts) {
    const tvlm_cluster_plan plan =
        tvlm_cluster_plan_for(made->source->width, made->source->height, made->source->levels, settings);
    const size_t images = (size_t)made->source->images;
    made->texels = test_texels(made->source, 0);
    made->layout = tvlm_region_layout_for(&plan, counts, made->source->images);
    test_poison(made->device, made->out);
    if (given != NULL)
        made->products[TVLM_PRODUCT_LABELS_GIVEN] =
            test_buffer(made->device, images * made->texels * sizeof *given, given);
    test_generate(
        made->device, TVLM_GRID_CLUSTER, TVLM_GRID_SOURCE, made->source,
        (tvlm_generate_args){
            .out = made->out, .settings = settings, .products = made->products, .label_counts = counts});
    made->labels = malloc(images * made->texels * sizeof *made->labels);
    made->tables = malloc(images * (size_t)made->layout.words * sizeof *made->tables);
    assert_non_null(made->labels);
    assert_non_null(made->tables);
    take(made, TVLM_PRODUCT_LABELS, made->labels, images * made->texels * sizeof *made->labels);
    take(made, TVLM_PRODUCT_REGIONS, made->tables,
         images * (size_t)made->layout.words * sizeof *made->tables);
}

static void release(cluster_made *made) {
    for (int i = 0; i < TVLM_PRODUCT_COUNT; ++i)
        made->device->backend->buffer_destroy(made->device, &made->products[i]);
    free(made->labels);
    free(made->tables);
}

/* ---- Pictures ---- */

/* A colour whose L*a*b* are more than 0.02 steps away from a half, where rounding changes. */
static void safe_colour(uint64_t *random, tvlm_format format, float rgb[3]) {
    for (;;) {
        for (int c = 0; c < 3; ++c)
            rgb[c] = (float)(test_random(random) % 33) / 32.0f; /* exact in half, too */
        const reference_lab lab = tvlm_reference_lab(rgb);
        const double steps[3] = {lab.l * 8, lab.a * 8, lab.b * 8};
        bool safe = true;
        for (int c = 0; c < 3; ++c) safe = safe && fabs(steps[c] - floor(steps[c]) - 0.5) > 0.02;
        if (safe) return;
    }
    (void)format;
}

/* Draws patches and specks of few colours, in blocks of 2 x 2. So level 1 has the same colours if sides are
 * even. */
static void write_patches(const test_pair *source, int32_t image, uint64_t *random, bool specks) {
    enum { COLOURS = 12 };
    const int32_t width = source->got->width, height = source->got->height;
    float palette[COLOURS][3], *rgba = malloc(4 * test_texels(source->got, 0) * sizeof *rgba);
    assert_non_null(rgba);
    const uint64_t salt = test_random(random);
    for (int i = 0; i < COLOURS; ++i) safe_colour(random, source->got->format, palette[i]);
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x) {
            uint64_t patch = salt ^ ((uint64_t)(x / 14) << 20 | (uint64_t)(y / 18));
            uint64_t speck = salt ^ ((uint64_t)(x / 2) << 24 | (uint64_t)(y / 2) << 4 | 1u);
            uint64_t colour = test_random(&patch) % COLOURS;
            if (specks && test_random(&speck) % 3 == 0) colour = test_random(&speck) % COLOURS;
            float *texel = rgba + 4 * ((size_t)y * (size_t)width + (size_t)x);
            memcpy(texel, palette[colour], sizeof palette[colour]);
            texel[3] = 0.5f;
        }
    test_pair_write(source, image, rgba);
    free(rgba);
}

/* ---- What must hold of any labels of SLIC ---- */

static int32_t pieces_of(const int32_t *labels, int32_t width, int32_t height) {
    const int32_t count = width * height;
    int32_t pieces = 0, depth;
    int32_t *stack = malloc((size_t)count * sizeof *stack);
    bool *seen = calloc((size_t)count, sizeof *seen);
    assert_non_null(stack);
    assert_non_null(seen);
    for (int32_t start = 0; start < count; ++start) {
        if (seen[start]) continue;
        ++pieces;
        seen[start] = true;
        stack[0] = start;
        for (depth = 1; depth > 0;) {
            const int32_t p = stack[--depth], x = p % width, y = p / width;
            const int32_t near[4] = {x > 0 ? p - 1 : p, x + 1 < width ? p + 1 : p, y > 0 ? p - width : p,
                                     y + 1 < height ? p + width : p};
            for (int i = 0; i < 4; ++i)
                if (!seen[near[i]] && labels[near[i]] == labels[p])
                    seen[near[i]] = true, stack[depth++] = near[i];
        }
    }
    free(stack);
    free(seen);
    return pieces;
}

static void check_labels(const cluster_made *made, const tvlm_family_settings *settings) {
    for (int32_t image = 0; image < made->source->images; ++image) {
        const int32_t *labels = made->labels + (size_t)image * made->texels;
        const int32_t count = (int32_t)made->tables[(size_t)image * (size_t)made->layout.words];
        bool used[TVLM_CLUSTER_MAX] = {false};
        int32_t distinct = 0;
        assert_in_range(count, 1, settings->regions);
        for (size_t p = 0; p < made->texels; ++p) {
            assert_in_range(labels[p], 0, count - 1);
            distinct += !used[labels[p]];
            used[labels[p]] = true;
        }
        assert_int_equal(distinct, count);
        assert_int_equal(pieces_of(labels, made->source->width, made->source->height), count);
    }
}

/* ---- Comparing ---- */

static void compare_exactly(const char *what, const test_pair *out, const cluster_made *got,
                            const cluster_made *expected) {
    const size_t images = (size_t)got->source->images;
    for (size_t i = 0; i < images * got->texels; ++i)
        if (got->labels[i] != expected->labels[i])
            fail_msg("%s: label %zu is %d, not %d", what, i, (int)got->labels[i], (int)expected->labels[i]);
    assert_int_equal(got->layout.words, expected->layout.words);
    for (size_t i = 0; i < images * (size_t)got->layout.words; ++i)
        if (got->tables[i] != expected->tables[i])
            fail_msg("%s: word %zu of the tables (%d regions) is %08x, not %08x", what, i,
                     (int)got->layout.capacity, (unsigned)got->tables[i], (unsigned)expected->tables[i]);
    test_pair_compare(what, out, names, exact);
}

static const int32_t numbers[] = {1, 2, 7, 50, 333, 2048};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

typedef struct cluster_both {
    test_pair source, out;
    cluster_made got, expected;
} cluster_both;

static cluster_both both_of(const test_target *target, tvlm_device *reference, test_size size,
                            int32_t images) {
    const tvlm_texture shape = test_shape(size, 1, images, target->format);
    cluster_both both = {.source = test_pair_create(target, reference, &shape),
                         .out = test_pair_create(target, reference, &shape)};
    both.got = (cluster_made){.device = target->device, .source = both.source.got, .out = both.out.got};
    both.expected =
        (cluster_made){.device = reference, .source = both.source.expected, .out = both.out.expected};
    return both;
}

static void both_make(cluster_both *both, const tvlm_family_settings *settings, const int32_t *given,
                      const int32_t *counts) {
    test_pair_levels(&both->source);
    make(&both->got, settings, given, counts);
    make(&both->expected, settings, given, counts);
}

static void both_release(cluster_both *both) {
    release(&both->got);
    release(&both->expected);
    test_pair_destroy(&both->source);
    test_pair_destroy(&both->out);
}

/* ---- The tests ---- */

static const test_size even_sizes[] = {{64, 48}, {130, 66}, {258, 130}};

static void patches(const test_target *target, tvlm_device *reference, test_size size, int32_t number,
                    uint64_t *random) {
    const tvlm_family_settings settings = {.regions = number, .compactness = number == 7 ? 0.5f : 10.0f};
    const int32_t levels = tvlm_level_count(size.width, size.height);
    /* Level 1 of an odd side blends colours. Pictures with an odd side are left out if level 1 or a coarser
     * one is read. */
    if (((size.width | size.height) & 1) != 0 &&
        tvlm_cluster_plan_for(size.width, size.height, levels, &settings).coarse > 0)
        return;
    cluster_both both = both_of(target, reference, size, 2);
    char what[80];
    for (int32_t image = 0; image < 2; ++image) write_patches(&both.source, image, random, image > 0);
    both_make(&both, &settings, NULL, NULL);
    snprintf(what, sizeof what, "%d regions of %dx%d", (int)number, (int)size.width, (int)size.height);
    check_labels(&both.got, &settings);
    compare_exactly(what, &both.out, &both.got, &both.expected);
    both_release(&both);
}

static void of_few_colours(const test_target *target, tvlm_device *reference) {
    uint64_t random = 11;
    size_t count;
    const test_size *sizes = test_sizes(&count);
    if (test_small()) { /* an even size for the coarse level, and an odd one that is read at level 0 alone */
        patches(target, reference, (test_size){32, 24}, 2, &random);
        patches(target, reference, (test_size){9, 5}, 7, &random);
        return;
    }
    for (size_t n = 0; n < NUMBERS; ++n) {
        for (size_t i = 0; i < count; ++i) patches(target, reference, sizes[i], numbers[n], &random);
        for (size_t i = 0; i < 3; ++i) patches(target, reference, even_sizes[i], numbers[n], &random);
    }
}

/* A colour that is rounded to another step moves a region's mean by a sixteenth of a step. Pixels that are as
 * near to one region as to another, to within that, may change sides. Whole pieces may change with them. */
#define SHARE 0.01

static void of_all_colours(const test_target *target, tvlm_device *reference) {
    uint64_t random = 12;
    size_t count;
    const test_size *sizes = test_sizes(&count);
    const int pictures = test_small() ? 1 : TEST_PICTURES;
    for (size_t i = test_small() ? count - 1 : 0; i < count; ++i)
        for (int picture = 0; picture < pictures; ++picture) {
            const tvlm_family_settings settings = {.regions = picture == TEST_PICTURE_RANDOM ? 50 : 333,
                                                   .compactness = 10.0f};
            cluster_both both = both_of(target, reference, sizes[i], 3);
            test_pair_destroy(&both.source);
            both.source = test_source(target, reference, sizes[i], 3, (test_picture)picture, &random);
            both.got.source = both.source.got;
            both.expected.source = both.source.expected;
            both_make(&both, &settings, NULL, NULL);
            check_labels(&both.got, &settings);
            size_t other = 0;
            const size_t all = 3 * both.got.texels;
            for (size_t p = 0; p < all; ++p) other += both.got.labels[p] != both.expected.labels[p];
            if (getenv("TVLM_TEST_FIGURES") != NULL)
                printf("FIGURES\t%zu of %zu labels differ\n", other, all);
            if ((double)other > SHARE * (double)all + 2.0)
                fail_msg("%dx%d, picture %d: %zu of %zu labels differ", (int)sizes[i].width,
                         (int)sizes[i].height, picture, other, all);
            both_release(&both);
        }
}

/* Hands in labels for some images of a batch, or for all. The regions are in many pieces, and there are up to
 * as many regions as there can be. */
static void given(const test_target *target, tvlm_device *reference, test_size size, int32_t regions,
                  bool all, uint64_t *random) {
    const tvlm_family_settings settings = {.regions = 12, .compactness = 10.0f};
    const size_t texels = (size_t)size.width * (size_t)size.height;
    const int32_t counts[3] = {all ? regions : 0, regions, all ? 1 : 0};
    int32_t *labels = calloc(3 * texels, sizeof *labels);
    cluster_both both = both_of(target, reference, size, 3);
    char what[80];
    assert_non_null(labels);
    for (int32_t image = 0; image < 3; ++image) write_patches(&both.source, image, random, true);
    for (size_t p = 0; p < 2 * texels; ++p) labels[p] = (int32_t)(test_random(random) % (uint64_t)regions);
    both_make(&both, &settings, labels, counts);
    snprintf(what, sizeof what, "%d regions handed in, %dx%d", (int)regions, (int)size.width,
             (int)size.height);
    compare_exactly(what, &both.out, &both.got, &both.expected);
    for (size_t p = 0; p < texels; ++p) assert_int_equal(both.got.labels[texels + p], labels[texels + p]);
    both_release(&both);
    free(labels);
}

static void handed_in(const test_target *target, tvlm_device *reference) {
    uint64_t random = 13;
    const test_size sizes[] = {{1, 1}, {8, 30}, {64, 48}};
    if (test_small()) {
        given(target, reference, sizes[1], 5, false, &random);
        given(target, reference, sizes[0], 100, true, &random);
        return;
    }
    for (size_t i = 0; i < 3; ++i) {
        given(target, reference, sizes[i], 1, true, &random);
        given(target, reference, sizes[i], 5, false, &random);
        given(target, reference, sizes[i], 2048, true, &random);
    }
}

/* A region whose sum of x needs more than 32 bits. Every storage runs the same code, so that one is enough.
 * An interpreter would take too long. */
static void wide_sums(const test_target *target, tvlm_device *reference) {
    const tvlm_device_info *info = test_device_info(target->device);
    if (info->storage != TVLM_STORAGE_BUFFER || strstr(info->platform, "Oclgrind") != NULL) return;
    const tvlm_family_settings settings = {.regions = 1, .compactness = 10.0f};
    const test_size size = {50000, 4}; /* x sums up to 5e9 */
    const int32_t counts[1] = {1};
    uint64_t random = 15;
    int32_t *labels = calloc((size_t)size.width * (size_t)size.height, sizeof *labels);
    cluster_both both = both_of(target, reference, size, 1);
    assert_non_null(labels);
    write_patches(&both.source, 0, &random, true);
    both_make(&both, &settings, labels, counts);
    compare_exactly("one region of 50000x4", &both.out, &both.got, &both.expected);
    both_release(&both);
    free(labels);
}

/* Many work-items add and join at once. The result must be the same every time. */
static void again(const test_target *target, tvlm_device *reference) {
    const test_size size = test_small() ? (test_size){21, 16} : (test_size){333, 257};
    uint64_t random = 14;
    cluster_both both = both_of(target, reference, size, 1);
    test_pair_destroy(&both.source);
    both.source = test_source(target, reference, size, 1, TEST_PICTURE_RANDOM, &random);
    cluster_made first = both.got, second = both.got;
    first.source = second.source = both.source.got;
    for (size_t n = test_small() ? 3 : 0; n < NUMBERS; n += test_small() ? NUMBERS : 1) {
        const tvlm_family_settings settings = {.regions = numbers[n], .compactness = 10.0f};
        make(&first, &settings, NULL, NULL);
        float *texels = test_read(first.device, first.out, 0, 0);
        make(&second, &settings, NULL, NULL);
        float *others = test_read(second.device, second.out, 0, 0);
        assert_memory_equal(first.labels, second.labels, first.texels * sizeof *first.labels);
        assert_memory_equal(first.tables, second.tables, (size_t)first.layout.words * sizeof *first.tables);
        assert_memory_equal(texels, others, 4 * first.texels * sizeof *texels);
        release(&first);
        release(&second);
        first.labels = second.labels = NULL;
        first.tables = second.tables = NULL;
        free(texels);
        free(others);
    }
    both_release(&both);
}

TEST_FAMILY(cluster, {"few colours", TEST_TUNED, .body = of_few_colours},
            {"all colours", TEST_TUNED, .body = of_all_colours}, {"handed in", TEST_TUNED, .body = handed_in},
            {"wide sums", .body = wide_sums}, {"again", TEST_TUNED, .body = again})
