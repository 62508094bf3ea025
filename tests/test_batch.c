/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches and staleness with all families present: an image of a batch is what it is alone, bit for bit, in
 * however many chunks and whatever the others have; a family that is made anew leaves the others as they are;
 * what is handed in stays when the image changes; and many images take no more than as many times the memory
 * of one.
 */
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"

enum { WIDTH = 49, HEIGHT = 34, IMAGES = 5, CHANNELS_MAX = 96 };

/* Of those that come by the hundred (words, features, a larger embedding, rotary positions) the tests take a few by
 * name. */
static bool is_one_of_many(int32_t channel) {
    const tvlm_grid grid = tvlm_channel_get_place(channel).grid;
    return (channel >= TVLM_CHANNEL_WORD_0 && tvlm_grid_is_given(grid)) ||
           (channel >= TVLM_CHANNEL_ROPE_X_COS_0 && grid == TVLM_GRID_FORMULA);
}

/* Every channel that is stored or a formula, one of a larger embedding, and one rotary position. */
static int32_t all_channels(int32_t *channels) {
    int32_t count = 0;
    for (int32_t channel = 0; channel < TVLM_CHANNEL_USER_0; ++channel) {
        tvlm_channel_info info;
        if (channel == TVLM_CHANNEL_QUERY_SIMILARITY || channel == TVLM_CHANNEL_PREVIOUS_PASS) continue;
        if (is_one_of_many(channel)) continue;
        if (tvlm_channel_get_info(channel, &info) == TVLM_OK && info.available) channels[count++] = channel;
    }
    channels[count++] = TVLM_CHANNEL_EMBEDDING_16 + 2;
    channels[count++] = TVLM_CHANNEL_ROPE_X_COS_0 + 3;
    assert_true(count <= CHANNELS_MAX);
    return count;
}

static void set_image(tvlm_stack *stack, int32_t index, uint64_t seed) {
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    assert_int_equal(tvlm_stack_set_image(stack, index, &image), TVLM_OK);
    free(pixels);
}

/* What picture number `which` has beside its pixels: everything, or every other thing, or nothing. */
static void set_grids(tvlm_stack *stack, int32_t index, int32_t which, bool replacing) {
    static const struct {
        int32_t channel, channels, columns, rows;
        bool replaces;
    } rows[] = {{TVLM_CHANNEL_ATTENTION, 1, 5, 4, false}, {TVLM_CHANNEL_ATTENTION_PREV, 1, 3, 3, false},
                {TVLM_CHANNEL_GAZE, 1, 9, 1, false},      {TVLM_CHANNEL_EMBEDDING_0, 19, 6, 5, false},
                {TVLM_CHANNEL_DEPTH, 1, 12, 9, false},    {TVLM_CHANNEL_OBJECT_ID, 1, 8, 8, false},
                {TVLM_CHANNEL_FLOW_U, 3, 7, 4, false},    {TVLM_CHANNEL_SALIENCY, 1, 6, 6, true},
                {TVLM_CHANNEL_NORMAL_X, 3, 12, 9, true},  {TVLM_CHANNEL_MOTION, 1, 4, 4, true},
                {TVLM_CHANNEL_VOCAB_ID, 2, 8, 4, false}};
    float values[12 * 9 * 19];
    uint64_t seed = 500 + (uint64_t)which;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i)
            values[i] = test_random_unit(&seed) + 0.25f;
        if (rows[r].channel == TVLM_CHANNEL_OBJECT_ID || rows[r].channel == TVLM_CHANNEL_VOCAB_ID)
            for (size_t i = 0; i < 64; ++i) values[i] = floorf(10.0f * values[i]);
        if ((rows[r].replaces && !replacing) || (size_t)which % 3 == 2 ||
            ((size_t)which % 3 == 1 && r % 2 == 0))
            continue;
        if (tvlm_stack_set_grid(stack, index, rows[r].channel,
                                tvlm_grid_input(.data = values, .columns = rows[r].columns,
                                                .rows = rows[r].rows, .channels = rows[r].channels)) !=
            TVLM_OK)
            fail_msg("%s", test_last_log());
    }
}

static tvlm_stack *batch_of(tvlm_device *device, tvlm_format format, int32_t images, int32_t chunk_images) {
    const int32_t slices = device->info.image_slices_max;
    tvlm_stack *stack = NULL;
    device->info.image_slices_max = chunk_images > 0 ? 16 * chunk_images : slices;
    const tvlm_status status = tvlm_stack_create(
        device, tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = images, .format = format),
        &stack);
    device->info.image_slices_max = slices;
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
    return stack;
}

/* ---- One of many is what it is alone ---- */

static void compare_image(tvlm_stack *batch, int32_t index, tvlm_stack *single) {
    int32_t channels[CHANNELS_MAX], width, height;
    const int32_t count = all_channels(channels);
    for (int32_t c = 0; c < count; ++c) {
        int32_t own = 0, others = 0;
        assert_int_equal(tvlm_stack_channel_size(single, channels[c], 0, &own, &height), TVLM_OK);
        assert_int_equal(tvlm_stack_channel_size(batch, channels[c], 0, &others, &height), TVLM_OK);
        for (int32_t level = 0; level < 3; ++level) {
            size_t batch_count, single_count;
            if (tvlm_stack_channel_size(single, channels[c], level, &width, &height) != TVLM_OK) break;
            float *expected = read_level(single, 0, channels[c], level, &single_count);
            if (own != others) { /* another image has a grid, this one has not: 0 at that size */
                for (size_t i = 0; i < single_count; ++i) assert_true(expected[i] == 0.0f);
                free(expected);
                expected = read_level(batch, index, channels[c], 0, &batch_count);
                for (size_t i = 0; i < batch_count; ++i) assert_true(expected[i] == 0.0f);
                free(expected);
                break;
            }
            float *got = read_level(batch, index, channels[c], level, &batch_count);
            assert_int_equal(batch_count, single_count);
            if (memcmp(got, expected, batch_count * sizeof *got) != 0)
                fail_msg("channel %d, level %d of image %d is another one than alone", (int)channels[c],
                         (int)level, (int)index);
            free(got);
            free(expected);
        }
    }
    enum { POINTS = 40 };
    tvlm_sample_point points[POINTS];
    static float got[POINTS * CHANNELS_MAX], expected[POINTS * CHANNELS_MAX];
    uint64_t seed = 19;
    for (int i = 0; i < POINTS; ++i) {
        const float x = WIDTH * test_random_unit(&seed), y = HEIGHT * test_random_unit(&seed);
        points[i] = (tvlm_sample_point){x, y, 5.0f * test_random_unit(&seed), index};
    }
    assert_int_equal(tvlm_stack_sample(batch, points, POINTS, channels, count, got), TVLM_OK);
    for (int i = 0; i < POINTS; ++i) points[i].index = 0;
    assert_int_equal(tvlm_stack_sample(single, points, POINTS, channels, count, expected), TVLM_OK);
    assert_memory_equal(got, expected, (size_t)POINTS * (size_t)count * sizeof *got);
}

/* `chunk_images` 0: one chunk. */
static void check_equal(tvlm_device *device, tvlm_format format, int32_t chunk_images) {
    tvlm_stack *batch = batch_of(device, format, IMAGES, chunk_images);
    tvlm_packed *packed = NULL;
    if (chunk_images > 0) assert_int_equal(batch->chunk_images, chunk_images);
    for (int32_t i = 0; i < IMAGES; ++i) {
        set_image(batch, i, 100 + (uint64_t)i);
        set_grids(batch, i, i, false);
    }
    assert_int_equal(tvlm_stack_make_all(batch), TVLM_OK);
    assert_int_equal(tvlm_stack_pack(batch, tvlm_pack_params(.width = 16, .height = 16), &packed), TVLM_OK);
    for (int32_t i = 0; i < IMAGES; ++i) {
        tvlm_stack *single = batch_of(device, format, 1, 0);
        tvlm_packed *alone = NULL;
        static float got[40 * 256], expected[40 * 256];
        set_image(single, 0, 100 + (uint64_t)i);
        set_grids(single, 0, i, false);
        compare_image(batch, i, single);
        assert_int_equal(tvlm_stack_pack(single, tvlm_pack_params(.width = 16, .height = 16), &alone),
                         TVLM_OK);
        assert_int_equal(tvlm_packed_read(packed, i, 40 * 256, got), TVLM_OK);
        assert_int_equal(tvlm_packed_read(alone, 0, 40 * 256, expected), TVLM_OK);
        assert_memory_equal(got, expected, sizeof got);
        tvlm_packed_destroy(&alone);
        tvlm_stack_destroy(&single);
    }
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&batch);
}

static void check_one_chunk(tvlm_device *device, tvlm_format format) {
    check_equal(device, format, 0);
}

static void check_chunks(tvlm_device *device, tvlm_format format) {
    check_equal(device, format, 2);
}

/* The same grids for all images, those in place of generated ones as well. */
static void check_replacing(tvlm_device *device, tvlm_format format) {
    tvlm_stack *batch = batch_of(device, format, 3, 2), *single = batch_of(device, format, 1, 0);
    for (int32_t i = 0; i < 3; ++i) {
        set_image(batch, i, 7 + (uint64_t)i);
        set_grids(batch, i, 3 * i, true);
    }
    for (int32_t i = 0; i < 3; ++i) {
        set_image(single, 0, 7 + (uint64_t)i);
        set_grids(single, 0, 3 * i, true);
        compare_image(batch, i, single);
    }
    tvlm_stack_destroy(&batch);
    tvlm_stack_destroy(&single);
}

/* ---- What is made anew, and what is not ---- */

/* A mark in level 0 of a texture, which stays there until the grid is made anew. */
static bool mark(tvlm_stack *stack, tvlm_grid grid, bool write) {
    tvlm_texture *texture = stack->chunks[0].grids[grid];
    const size_t count = 4 * (size_t)texture->width * (size_t)texture->height;
    float *rgba = malloc(count * sizeof *rgba);
    assert_non_null(rgba);
    for (size_t i = 0; i < count; ++i) rgba[i] = -123.5f;
    if (write)
        assert_int_equal(stack->device->backend->texture_write(stack->device, texture, 0, rgba), TVLM_OK);
    else
        assert_int_equal(stack->device->backend->texture_read(stack->device, texture, 0, 0, rgba), TVLM_OK);
    const bool marked =
        rgba[0] == -123.5f && rgba[count - 4] == -123.5f; /* scalar grids keep component 0 only */
    free(rgba);
    return marked;
}

/* Every channel of image 0, all levels in a row. free() it. */
static float *everything(tvlm_stack *stack, size_t *total) {
    int32_t channels[CHANNELS_MAX], width, height;
    const int32_t count = all_channels(channels);
    float *all = NULL;
    *total = 0;
    for (int32_t c = 0; c < count; ++c)
        for (int32_t level = 0;
             tvlm_stack_channel_size(stack, channels[c], level, &width, &height) == TVLM_OK; ++level) {
            size_t texels;
            float *one = read_level(stack, 0, channels[c], level, &texels);
            all = realloc(all, (*total + texels) * sizeof *all);
            assert_non_null(all);
            memcpy(all + *total, one, texels * sizeof *one);
            *total += texels;
            free(one);
        }
    return all;
}

/* One family anew: it and what depends on it are made, all others keep their marks; and then all is as it
 * was. */
static void check_one_family(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = batch_of(device, format, 1, 0);
    tvlm_chunk *chunk = &stack->chunks[0];
    size_t before_count, after_count;
    set_image(stack, 0, 3);
    set_grids(stack, 0, 0, false);
    float *before = everything(stack, &before_count);
    for (int32_t made = 0; made < TVLM_GRID_COUNT; ++made) {
        const int32_t channel = tvlm_grid_get_channel((tvlm_grid)made, 0);
        int32_t first;
        if (channel == TVLM_CHANNEL_NONE || tvlm_grid_get_replaced((tvlm_grid)made, &first) > 0 ||
            is_one_of_many(channel) || chunk->grids[made] == NULL || made == TVLM_GRID_SOURCE)
            continue;
        const tvlm_grid_mask valid = chunk->valid, stale = tvlm_grids_with_dependents(TVLM_GRID_BIT(made));
        tvlm_grid_mask marked = 0;
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
            if (chunk->grids[grid] != NULL && !tvlm_grid_is_given((tvlm_grid)grid) &&
                grid != TVLM_GRID_SOURCE &&
                (tvlm_grids_with_needs(stale) & TVLM_GRID_BIT(grid) & ~stale) == 0) {
                assert_true(mark(stack, (tvlm_grid)grid, true));
                marked |= TVLM_GRID_BIT(grid);
            }
        assert_int_equal(tvlm_stack_invalidate(stack, channel), TVLM_OK);
        assert_int_equal(chunk->valid, valid & ~stale); /* stale, and only they */
        int32_t channels[CHANNELS_MAX];
        const int32_t channel_count = all_channels(channels);
        for (int32_t c = 0; c < channel_count; ++c) {
            tvlm_sample_point point = {3, 3, 0, 0};
            float value;
            assert_int_equal(tvlm_stack_sample(stack, &point, 1, &channels[c], 1, &value), TVLM_OK);
        }
        assert_int_equal(chunk->valid, valid); /* made anew when they were read */
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
            if ((marked & TVLM_GRID_BIT(grid)) == 0) continue;
            const bool made_anew = !mark(stack, (tvlm_grid)grid, false);
            if (made_anew != ((stale & TVLM_GRID_BIT(grid)) != 0))
                fail_msg("%s anew: %s is%s", tvlm_grid_get_info((tvlm_grid)made)->name,
                         tvlm_grid_get_info((tvlm_grid)grid)->name, made_anew ? " made, too" : " not");
        }
        chunk->valid &= ~marked | TVLM_GRID_BIT(TVLM_GRID_SOURCE); /* the marks go */
        assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
        float *after = everything(stack, &after_count);
        assert_int_equal(before_count, after_count);
        assert_memory_equal(before, after, before_count * sizeof *before);
        free(after);
    }
    free(before);
    tvlm_stack_destroy(&stack);
}

/* A new image makes anew what is made from images, and nothing that was handed in or follows from that alone.
 */
static void check_new_image(tvlm_device *device, tvlm_format format) {
    static const tvlm_grid kept[] = {TVLM_GRID_ATTENTION, TVLM_GRID_GAZE,   TVLM_GRID_EMBEDDING,
                                     TVLM_GRID_DEPTH,     TVLM_GRID_OBJECT, TVLM_GRID_OCCLUSION,
                                     TVLM_GRID_NORMAL,    TVLM_GRID_FLOW};
    static const tvlm_grid anew[] = {TVLM_GRID_VISUAL, TVLM_GRID_SALIENCY, TVLM_GRID_DISTANCE,
                                     TVLM_GRID_GRADIENT};
    tvlm_stack *stack = batch_of(device, format, 1, 0);
    size_t count;
    set_image(stack, 0, 3);
    set_grids(stack, 0, 0, false);
    free(everything(stack, &count));
    set_image(stack, 0, 4);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; ++i)
        assert_true((stack->chunks[0].valid & TVLM_GRID_BIT(kept[i])) != 0);
    for (size_t i = 0; i < sizeof anew / sizeof anew[0]; ++i)
        assert_true((stack->chunks[0].valid & TVLM_GRID_BIT(anew[i])) == 0);
    /* A new depth: occlusion and normals, nothing of the image's. */
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    const tvlm_grid_mask valid = stack->chunks[0].valid;
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_DEPTH,
                            tvlm_grid_input(.data = (const float[]){2, 3}, .columns = 2, .rows = 1)),
        TVLM_OK);
    assert_int_equal(stack->chunks[0].valid,
                     valid & ~(TVLM_GRID_BIT(TVLM_GRID_DEPTH) | TVLM_GRID_BIT(TVLM_GRID_OCCLUSION) |
                               TVLM_GRID_BIT(TVLM_GRID_NORMAL)));
    float *occlusion = read_level(stack, 0, TVLM_CHANNEL_OCCLUSION, 0, &count);
    assert_true(count == 2 && occlusion[0] == 0.0f && occlusion[1] == 1.0f);
    free(occlusion);
    tvlm_stack_destroy(&stack);
}

/* ---- Memory ---- */

static size_t bytes_of(tvlm_device *device, tvlm_format format, int32_t images, uint64_t allocation_max) {
    const uint64_t limit = device->info.allocation_max;
    tvlm_stack *stack = NULL;
    tvlm_stack_info info;
    if (allocation_max > 0) device->info.allocation_max = allocation_max;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = 128, .height = 96, .images = images, .format = format),
                          &stack),
        TVLM_OK);
    device->info.allocation_max = limit;
    if (allocation_max > 0) assert_true(stack->chunk_count > 1);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    for (int32_t i = 0; allocation_max > 0 && i < stack->chunk_count; ++i)
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
            if (stack->chunks[i].grids[grid] != NULL)
                assert_true(stack->chunks[i].grids[grid]->bytes <=
                            2 * allocation_max); /* two arrays, in images */
    tvlm_stack_destroy(&stack);
    return info.device_bytes;
}

static void check_memory(tvlm_device *device, tvlm_format format) {
    const size_t one = bytes_of(device, format, 1, 0);
    assert_true(one > 0);
    assert_true(bytes_of(device, format, 32, 0) <= 32 * one);
    /* Where an allocation cannot hold all 32: chunks, and no more memory. Room for 10 layers of 3 images. */
    assert_true(bytes_of(device, format, 32, (uint64_t)128 * 96 * 4 * 4 * 2 * 10 * 3) <= 32 * one);
}

/* ---- Grids that need smaller chunks ---- */

enum { MANY = 11, DIMENSION = 768 };

static tvlm_status set_features(tvlm_stack *stack, int32_t index, int32_t which) {
    static float values[3 * 2 * DIMENSION];
    uint64_t seed = 900 + (uint64_t)which;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) values[i] = test_random_unit(&seed) - 0.5f;
    return tvlm_stack_set_grid(
        stack, index, TVLM_CHANNEL_FEATURE_0,
        tvlm_grid_input(.data = values, .columns = 3, .rows = 2, .channels = DIMENSION));
}

/* What the question for the encoder's vector of a cell finds in an image. */
static void ask(tvlm_stack *stack, int32_t index, float *scores) {
    static float vector[DIMENSION];
    uint64_t seed = 77;
    for (int i = 0; i < DIMENSION; ++i) vector[i] = test_random_unit(&seed) - 0.5f;
    const tvlm_status status =
        tvlm_score(stack, tvlm_query(.vectors = vector, .count = 1, .dimension = DIMENSION),
                   tvlm_score_params(.index = index), 64, scores);
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
}

/* Eleven images with features of 192 layers: more slices than the arrays of a device with 2048 have. */
static void check_many_layers(tvlm_device *device, tvlm_format format) {
    const int32_t slices = device->info.image_slices_max;
    if (slices == 0 || slices > 2048) device->info.image_slices_max = 2048;
    tvlm_stack *batch = batch_of(device, format, MANY, 0);
    assert_int_equal(batch->chunk_count, 1);
    for (int32_t i = 0; i < MANY; ++i) {
        set_image(batch, i, 30 + (uint64_t)i);
        set_grids(batch, i, i, false);
    }
    assert_int_equal(tvlm_stack_make_all(batch), TVLM_OK);
    for (int32_t i = 0; i < MANY; ++i)
        if (set_features(batch, i, i) != TVLM_OK) fail_msg("image %d: %s", (int)i, test_last_log());
    assert_true(batch->chunk_count > 1);
    assert_true(batch->chunk_images * DIMENSION / 4 <= device->info.image_slices_max);
    for (int32_t i = 0; i < MANY; i += 5) {
        float got[64] = {0}, expected[64] = {0};
        tvlm_stack *single = batch_of(device, format, 1, 0);
        set_image(single, 0, 30 + (uint64_t)i);
        set_grids(single, 0, i, false);
        assert_int_equal(set_features(single, 0, i), TVLM_OK);
        compare_image(batch, i, single);
        ask(batch, i, got);
        ask(single, 0, expected);
        assert_memory_equal(got, expected, sizeof got);
        tvlm_stack_destroy(&single);
    }
    tvlm_stack_destroy(&batch);
    device->info.image_slices_max = slices;
}

/* Labels do not move into smaller chunks: the features are refused, and all stays as it was. */
static void check_cannot_move(tvlm_device *device, tvlm_format format) {
    const int32_t slices = device->info.image_slices_max, labels[2] = {5, 9};
    tvlm_region regions[4];
    int32_t count = 0;
    if (slices == 0 || slices > 2048) device->info.image_slices_max = 2048;
    tvlm_stack *batch = batch_of(device, format, MANY, 0);
    assert_int_equal(tvlm_stack_set_labels(batch, 3, labels, 2, 1, 0), TVLM_OK);
    assert_int_equal(set_features(batch, 0, 0), TVLM_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(test_last_log(), "3x2 in 192 layers for 11 images"));
    assert_int_equal(batch->chunk_count, 1);
    assert_int_equal(tvlm_stack_regions(batch, 3, 4, regions, &count), TVLM_OK);
    assert_int_equal(count, 2);
    tvlm_stack_destroy(&batch);
    device->info.image_slices_max = slices;
}

DEVICE_CHECKS_MAIN(check_one_chunk, check_chunks, check_replacing, check_one_family, check_new_image,
                   check_memory, check_many_layers, check_cannot_move)
