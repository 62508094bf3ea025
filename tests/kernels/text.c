/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c: text against the reference, stage by stage on identical inputs. Sums, growth and combination are
 * integers and equal. Marks come from a comparison of floats, and are equal except at the threshold. From end
 * to end the share of texels that differ is bounded.
 */
#include <math.h>
#include <string.h>

#include "kernels/family.h"
#include "opencl/text.h"
#include "reference/text.h"

/*
 * Marks compare floats that are made of integers below 2^31, with some ten roundings of 6e-8. A block that is
 * nearer to the threshold than this may fall to either side.
 */
#define TIE 2e-6

/* From end to end, the share of the texels of all pictures that may differ. A tie marks 15 blocks, and is
 * rare. */
#define SHARE 1e-4

/* ---- A picture with text in it ---- */

/* Draws lines of thin strokes on an even ground. Strokes are 10 pixels high, as the lines are, and broken at
 * random. Lines begin `apart` pixels apart. */
static void write_lines(float *rgba, test_size size, int32_t apart, uint64_t *random) {
    for (int32_t i = 0; i < size.width * size.height * 4; ++i)
        rgba[i] = 0.75f + 0.01f * test_random_unit(random);
    for (int32_t top = 12; top + 10 <= size.height; top += apart) {
        for (int32_t x = 8; x + 8 < size.width; x += 4 + (int32_t)(test_random(random) % 4)) {
            const int32_t gap = (int32_t)(test_random(random) % 10),
                          wide = 1 + (int32_t)(test_random(random) % 3);
            for (int32_t y = 0; y < 10; ++y)
                for (int32_t i = 0; i < 4 * wide && y != gap; ++i)
                    rgba[4 * ((top + y) * size.width + x) + i] = 0.2f;
        }
    }
}

static test_pair lines_source(const test_target *target, tvlm_device *reference, test_size size,
                              int32_t images, int32_t apart) {
    const tvlm_texture shape = test_shape(size, 1, images, target->format);
    const test_pair pair = test_pair_create(target, reference, &shape);
    uint64_t random = 5;
    float *rgba = malloc(sizeof *rgba * 4 * (size_t)size.width * (size_t)size.height);
    assert_non_null(rgba);
    for (int32_t image = 0; image < images; ++image) {
        write_lines(rgba, size, apart, &random);
        test_pair_write(&pair, image, rgba);
    }
    free(rgba);
    test_pair_levels(&pair);
    return pair;
}

/* ---- The stages of the device, on host memory ---- */

typedef struct stage {
    opencl_text text;
    size_t blocks; /* of all images */
    int32_t images;
} stage;

static stage stage_of(const test_target *target, const tvlm_texture *source) {
    const opencl_text text = tvlm_opencl_text_of((opencl_device *)target->device, source);
    return (stage){text, (size_t)text.blocks * (size_t)source->images, source->images};
}

static cl_mem memory_of(tvlm_buffer *buffer) {
    return ((opencl_buffer *)buffer)->memory;
}

static void check(tvlm_status status) {
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
}

static int32_t *run_strokes(const stage *s) {
    const size_t bytes = s->blocks * TVLM_TEXT_SUMS * sizeof(int32_t);
    tvlm_device *device = &s->text.device->base;
    tvlm_buffer *buffer = test_buffer(device, bytes, NULL);
    int32_t *strokes = malloc(bytes);
    assert_non_null(strokes);
    check(tvlm_opencl_text_strokes(&s->text, memory_of(buffer)));
    test_buffer_take(device, &buffer, bytes, strokes);
    return strokes;
}

typedef tvlm_status block_stage(const opencl_text *text, cl_mem from, cl_mem to);

static uint8_t *run_blocks(const stage *s, block_stage *run, const void *input, size_t bytes) {
    tvlm_device *device = &s->text.device->base;
    tvlm_buffer *from = test_buffer(device, bytes, input), *to = test_buffer(device, s->blocks, NULL);
    uint8_t *result = malloc(s->blocks);
    assert_non_null(result);
    check(run(&s->text, memory_of(from), memory_of(to)));
    test_buffer_take(device, &to, s->blocks, result);
    device->backend->buffer_destroy(device, &from);
    return result;
}

/* ---- The same stages on the reference, and the comparison ---- */

/* Is called for each level of each image. `blocks` are those of the reference. `start` says where the level's
 * blocks begin in a plane of the device. */
typedef void level_body(const stage *s, int32_t image, int32_t level, size_t start, reference_blocks *blocks,
                        void *data);

static void each_level(const stage *s, level_body *body, void *data) {
    for (int32_t image = 0; image < s->images; ++image) {
        size_t start = 0;
        for (int32_t level = 0; level < s->text.levels; ++level) {
            reference_blocks blocks = tvlm_reference_blocks_create(s->text.source, level);
            assert_true(blocks.strokes != NULL && blocks.marks != NULL && blocks.grown != NULL);
            body(s, image, level, start, &blocks, data);
            start += (size_t)blocks.columns * (size_t)blocks.rows;
            tvlm_reference_blocks_destroy(&blocks);
        }
        assert_int_equal(start, s->text.blocks);
    }
}

typedef struct stroke_data {
    const tvlm_texture *source; /* the reference's */
    int32_t *strokes;           /* the device's */
} stroke_data;

static size_t plane_at(const stage *s, int32_t image, int sum, size_t block) {
    return ((size_t)image * TVLM_TEXT_SUMS + (size_t)sum) * (size_t)s->text.blocks + block;
}

static void compare_strokes(const stage *s, int32_t image, int32_t level, size_t start,
                            reference_blocks *blocks, void *data) {
    const stroke_data *d = data;
    tvlm_reference_text_strokes(d->source, image, level, blocks);
    for (size_t i = 0; i < (size_t)blocks->columns * (size_t)blocks->rows; ++i)
        for (int sum = 0; sum < TVLM_TEXT_SUMS; ++sum)
            if (d->strokes[plane_at(s, image, sum, start + i)] != blocks->strokes[i].sums[sum])
                fail_msg("image %d, level %d, block %zu, sum %d: %d, not %lld", (int)image, (int)level, i,
                         sum, (int)d->strokes[plane_at(s, image, sum, start + i)],
                         (long long)blocks->strokes[i].sums[sum]);
}

typedef struct mark_data {
    const int32_t *strokes;
    const uint8_t *marks;
    size_t marked;
} mark_data;

static void compare_marks(const stage *s, int32_t image, int32_t level, size_t start,
                          reference_blocks *blocks, void *data) {
    mark_data *d = data;
    const size_t count = (size_t)blocks->columns * (size_t)blocks->rows;
    for (size_t i = 0; i < count; ++i)
        for (int sum = 0; sum < TVLM_TEXT_SUMS; ++sum)
            blocks->strokes[i].sums[sum] = d->strokes[plane_at(s, image, sum, start + i)];
    tvlm_reference_text_mark(blocks);
    for (size_t i = 0; i < count; ++i) {
        const double ratio =
            tvlm_reference_text_ratio(blocks, (int32_t)i % blocks->columns, (int32_t)i / blocks->columns);
        const uint8_t got = d->marks[(size_t)image * (size_t)s->text.blocks + start + i];
        if (got != blocks->marks[i] && fabs(ratio - 1) > TIE)
            fail_msg("image %d, level %d, block %zu: %d at %.9g of the threshold", (int)image, (int)level, i,
                     (int)got, ratio);
        d->marked += got;
    }
}

typedef struct grow_data {
    const uint8_t *marks, *grown;
} grow_data;

static void compare_grown(const stage *s, int32_t image, int32_t level, size_t start,
                          reference_blocks *blocks, void *data) {
    const grow_data *d = data;
    const size_t count = (size_t)blocks->columns * (size_t)blocks->rows;
    const size_t first = (size_t)image * (size_t)s->text.blocks + start;
    for (size_t i = 0; i < count; ++i) blocks->marks[i] = d->marks[first + i] != 0;
    tvlm_reference_text_grow(blocks);
    for (size_t i = 0; i < count; ++i)
        if (d->grown[first + i] != blocks->grown[i])
            fail_msg("image %d, level %d, block %zu grew to %d", (int)image, (int)level, i,
                     (int)d->grown[first + i]);
}

static void check_combine(const test_target *target, tvlm_device *reference, const stage *s, test_size size,
                          const uint8_t *grown) {
    const tvlm_texture shape = test_grid_shape(TVLM_GRID_TEXT, size, s->images, target->format);
    test_pair out = test_pair_create(target, reference, &shape);
    tvlm_buffer *buffer = test_buffer(target->device, s->blocks, grown);
    const size_t texels = test_texels(out.got, 0);
    test_poison(out.device, out.got);
    check(tvlm_opencl_text_combine(&s->text, memory_of(buffer), out.got));
    for (int32_t image = 0; image < s->images; ++image) {
        reference_blocks levels[TVLM_TEXT_LEVELS];
        const uint8_t *from = grown + (size_t)image * (size_t)s->text.blocks;
        for (int32_t level = 0; level < s->text.levels; ++level) {
            levels[level] = tvlm_reference_blocks_create(s->text.source, level);
            assert_non_null(levels[level].grown);
            for (int32_t i = 0; i < levels[level].columns * levels[level].rows; ++i)
                levels[level].grown[i] = *from++;
        }
        tvlm_reference_text_combine(levels, s->text.levels, s->text.source, image, out.expected);
        for (int32_t level = 0; level < s->text.levels; ++level)
            tvlm_reference_blocks_destroy(&levels[level]);
        float *got = test_read(out.device, out.got, 0, image),
              *expected = test_read(reference, out.expected, 0, image);
        for (size_t i = 0; i < 4 * texels; ++i)
            if (!(got[i] == expected[i])) /* NaN differs */
                fail_msg("image %d, [%zu]: %g, not %g", (int)image, i, (double)got[i], (double)expected[i]);
        free(got);
        free(expected);
    }
    target->device->backend->buffer_destroy(target->device, &buffer);
    test_pair_destroy(&out);
}

/* Returns sums with which about half of the blocks lie on either side of the threshold. free() them. */
static int32_t *random_strokes(const stage *s, uint64_t *random) {
    int32_t *strokes = malloc(s->blocks * TVLM_TEXT_SUMS * sizeof *strokes);
    assert_non_null(strokes);
    for (int32_t image = 0; image < s->images; ++image)
        for (size_t i = 0; i < (size_t)s->text.blocks; ++i) {
            const int32_t luma = 500 + (int32_t)(test_random(random) % 8);
            const int32_t values[TVLM_TEXT_SUMS] = {(int32_t)(test_random(random) % 500),
                                                    (int32_t)(test_random(random) % 500),
                                                    (int32_t)(test_random(random) % 1500),
                                                    (int32_t)(test_random(random) % 1500),
                                                    16 * luma,
                                                    16 * luma * luma + (int32_t)(test_random(random) % 9000)};
            for (int sum = 0; sum < TVLM_TEXT_SUMS; ++sum) strokes[plane_at(s, image, sum, i)] = values[sum];
        }
    return strokes;
}

/* ---- Tests ---- */

static void stages_of(const test_target *target, tvlm_device *reference, test_size size, int32_t images,
                      size_t *marked, size_t *blocks) {
    test_pair source = lines_source(target, reference, size, images, 40);
    const stage s = stage_of(target, source.got);
    uint64_t random = (uint64_t)size.width;
    int32_t *strokes = run_strokes(&s);
    each_level(&s, compare_strokes, &(stroke_data){source.expected, strokes});
    free(strokes);

    strokes = random_strokes(&s, &random);
    uint8_t *marks =
        run_blocks(&s, tvlm_opencl_text_mark, strokes, s.blocks * TVLM_TEXT_SUMS * sizeof *strokes);
    mark_data data = {strokes, marks, 0};
    each_level(&s, compare_marks, &data);
    *marked += data.marked;
    *blocks += s.blocks;
    free(strokes);

    /* Three of four are marked, so that there are many in a row, and gaps. */
    for (size_t i = 0; i < s.blocks; ++i) marks[i] = test_random(&random) % 4 != 0;
    uint8_t *grown = run_blocks(&s, tvlm_opencl_text_grow, marks, s.blocks);
    each_level(&s, compare_grown, &(grow_data){marks, grown});

    /* Few are set, so that each level has a say. */
    for (size_t i = 0; i < s.blocks; ++i) grown[i] = test_random(&random) % 16 == 0;
    check_combine(target, reference, &s, size, grown);
    free(marks);
    free(grown);
    test_pair_destroy(&source);
}

static void stages(const test_target *target, tvlm_device *reference) {
    size_t count, marked = 0, blocks = 0;
    const test_size *sizes = test_sizes(&count);
    for (size_t i = 0; i < count; ++i)
        stages_of(target, reference, sizes[i], i % 2 == 0 ? 3 : 1, &marked, &blocks);
    if (!test_small() && (marked < blocks / 20 || marked > blocks - blocks / 20))
        fail_msg("%zu of %zu blocks marked: the test compares nothing", marked, blocks);
}

/* Tries one block for each work-item, as on GPUs, and a run of blocks, as on CPUs. */
static bool runs(const test_target *target, opencl_tuning *tuning, int n) {
    (void)target;
    tuning->run = n == 0 ? 1 : 4;
    return n < 2;
}

typedef struct tally {
    size_t differ, texels, marked;
} tally;

static void compare_family(test_pair *source, test_size size, tvlm_format format, tally *counts) {
    const tvlm_texture shape = test_grid_shape(TVLM_GRID_TEXT, size, source->got->images, format);
    test_pair out = {source->device, source->reference, test_texture(source->device, &shape),
                     test_texture(source->reference, &shape)};
    test_pair_generate(&out, TVLM_GRID_TEXT, TVLM_GRID_SOURCE, source);
    for (int32_t image = 0; image < shape.images; ++image) {
        float *got = test_read(out.device, out.got, 0, image),
              *expected = test_read(out.reference, out.expected, 0, image);
        for (size_t i = 0; i < test_texels(out.got, 0); ++i) {
            const float *texel = got + 4 * i;
            if (!((texel[0] == 0.0f || texel[0] == 1.0f) && texel[1] == 0.0f && texel[2] == 0.0f &&
                  texel[3] == 0.0f))
                fail_msg("%dx%d, image %d, texel %zu: %g", (int)size.width, (int)size.height, (int)image, i,
                         (double)texel[0]);
            counts->differ += texel[0] != expected[4 * i];
            counts->marked += texel[0] != 0.0f;
            ++counts->texels;
        }
        free(got);
        free(expected);
    }
    test_pair_destroy(&out);
}

static void family(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *sizes = test_sizes(&count);
    uint64_t random = 31;
    tally counts = {0};
    for (size_t i = 0; i < count; ++i)
        for (int picture = 0; picture <= TEST_PICTURES; ++picture) {
            test_pair source = picture == TEST_PICTURES ? lines_source(target, reference, sizes[i], 2, 40)
                                                        : test_source(target, reference, sizes[i], 1,
                                                                      (test_picture)picture, &random);
            compare_family(&source, sizes[i], target->format, &counts);
            test_pair_destroy(&source);
        }
    if ((double)counts.differ > SHARE * (double)counts.texels)
        fail_msg("%zu of %zu texels differ", counts.differ, counts.texels);
}

/* The share of text among the pixels of rows from .. to - 1 and columns 16 .. width - 17. */
static double share_of(const float *rgba, const tvlm_texture *shape, int32_t width, int32_t from,
                       int32_t to) {
    int pixels = 0, text = 0;
    for (int32_t y = from; y < to; ++y)
        for (int32_t x = 16; x < width - 16; ++x, ++pixels)
            text += rgba[4 * (y / 4 * shape->width + x / 4)] > 0.0f;
    return (double)text / pixels;
}

/* A single line is found, and what lies far from it is not; a page of lines is text throughout. */
static void lines(const test_target *target, tvlm_device *reference) {
    const test_size size = {256, 320};
    const tvlm_texture shape = test_grid_shape(TVLM_GRID_TEXT, size, 1, target->format);
    for (int page = 0; page < 2; ++page) {
        test_pair source = lines_source(target, reference, size, 1, page ? 20 : 1000);
        tvlm_texture *out = test_texture(target->device, &shape);
        tally counts = {0};
        compare_family(&source, size, target->format, &counts);
        if (counts.differ != 0) fail_msg("%zu of %zu texels differ", counts.differ, counts.texels);
        test_generate(target->device, TVLM_GRID_TEXT, TVLM_GRID_SOURCE, source.got,
                      (tvlm_generate_args){.out = out});
        float *rgba = test_read(target->device, out, 0, 0);
        const double line = share_of(rgba, &shape, size.width, 12, 22);
        const double rest = share_of(rgba, &shape, size.width, 200, 300);
        free(rgba);
        target->device->backend->texture_destroy(target->device, &out);
        test_pair_destroy(&source);
        if (line < 0.9) fail_msg("page %d: %g of a line is text", page, line);
        if (page ? rest < 0.9 : rest > 0.0) fail_msg("page %d: %g of what follows is text", page, rest);
    }
}

/* The share of text in columns first .. last - 1 of all rows. */
static double text_between(const float *texels, int32_t width, int32_t height, int32_t first, int32_t last) {
    double sum = 0.0;
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = first; x < last; ++x) sum += (double)texels[(size_t)y * (size_t)width + (size_t)x];
    return sum / ((double)(last - first) * height);
}

/*
 * A line of strokes runs from one end of a wide image to the other, and is found at both ends alike. Products
 * of the image's width and its grid's width fit no int. It is tried in buffers alone, since images have no
 * such sides, and nor has the reference.
 */
static void long_sides(const test_target *target, tvlm_device *reference) {
    enum { WIDTH = 160000, HEIGHT = 48, TEXELS = WIDTH / 4 * (HEIGHT / 4), PART = 4000 };
    tvlm_stack *stack = NULL;
    (void)reference;
    if (target->device->info.storage != TVLM_STORAGE_BUFFER ||
        target->device->info.type == TVLM_DEVICE_REFERENCE)
        return;
    uint8_t *pixels = malloc((size_t)WIDTH * HEIGHT);
    float *texels = malloc(TEXELS * sizeof *texels);
    assert_true(pixels != NULL && texels != NULL);
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i)
        pixels[i] = i / WIDTH >= 16 && i / WIDTH < 28 && i % WIDTH % 6 < 3 ? 0 : 255;
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 1};
    if (tvlm_stack_create_for_image(target->device, &image,
                                    tvlm_stack_params(.layout = "text", .format = target->format),
                                    &stack) != TVLM_OK ||
        tvlm_stack_read(stack, 0, TVLM_CHANNEL_TEXT, 0, TEXELS, texels) != TVLM_OK)
        fail_msg("%s", test_last_log());
    const double left = text_between(texels, WIDTH / 4, HEIGHT / 4, PART, 2 * PART);
    const double right = text_between(texels, WIDTH / 4, HEIGHT / 4, WIDTH / 4 - 2 * PART, WIDTH / 4 - PART);
    if (left < 0.2 || !(fabs(left - right) < 0.02))
        fail_msg("text on the left %g, on the right %g", left, right);
    tvlm_stack_destroy(&stack);
    free(pixels);
    free(texels);
}

TEST_FAMILY(text, {"stages", TEST_OPENCL, .body = stages, .tune = runs}, {"family", .body = family},
            {"lines", TEST_LARGE, .body = lines}, {"long sides", TEST_LARGE, .body = long_sides})
