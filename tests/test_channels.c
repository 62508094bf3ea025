/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels of a stack as they really are: what stands behind each (tvlm_stack_has_channel), and how the
 * levels of identifiers, masks and distances follow from one another, counted texel by texel.
 */
#include "stack/inside.h"
#include "stack_helper.h"
#include "texturevlm/input.h"
#include "texturevlm/stream.h"

enum { WIDTH = 203, HEIGHT = 150 };

/* A flat ground with lines of thin strokes on it, and random ones beside: edges, regions and text. */
static void draw(uint8_t *rgb, uint64_t seed) {
    uint8_t *noisy = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    for (int32_t y = 0; y < HEIGHT; ++y)
        for (int32_t x = 0; x < WIDTH; ++x)
            for (int32_t c = 0; c < 3; ++c) {
                const int32_t i = 3 * (y * WIDTH + x) + c;
                const bool stroke = y % 40 >= 12 && y % 40 < 22 && x % 7 < 2 && (x / 7 + y / 40) % 5 != 0;
                rgb[i] = x >= 150 ? noisy[i] : stroke ? 40 : 190;
            }
    free(noisy);
}

static tvlm_stack *channels_stack(tvlm_device *device, tvlm_format format, int32_t images) {
    static uint8_t rgb[3 * WIDTH * HEIGHT];
    const tvlm_image image = u8_image(rgb, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = images,
                                                         .format = format),
                                       &stack),
                     TVLM_OK);
    for (int32_t i = 0; i < images; ++i) {
        draw(rgb, 5 + (uint64_t)i);
        assert_int_equal(tvlm_stack_set_image(stack, i, &image), TVLM_OK);
    }
    return stack;
}

static void set_grid(tvlm_stack *stack, int32_t index, int32_t channel, int32_t channels, int32_t side) {
    float values[64 * 3];
    uint64_t seed = 60;
    for (int i = 0; i < 64 * 3; ++i) values[i] = 1.0f + (float)(test_random(&seed) % 5);
    assert_int_equal(tvlm_stack_set_grid(stack, index, channel,
                                         tvlm_grid_input(.data = values, .columns = side, .rows = side,
                                                         .channels = channels)),
                     TVLM_OK);
}

/* ---- What stands behind them ---- */

static bool has(tvlm_stack *stack, int32_t index, int32_t channel) {
    bool found = false;
    assert_int_equal(tvlm_stack_has_channel(stack, index, channel, &found), TVLM_OK);
    return found;
}

/* Of full40, in its order: what a still alone has. */
static bool of_a_still(int32_t channel) {
    return channel != TVLM_CHANNEL_MOTION &&
           !(channel >= TVLM_CHANNEL_PREV_RELEVANCE && channel <= TVLM_CHANNEL_EMBEDDING_0 + 15) &&
           !(channel >= TVLM_CHANNEL_ATTENTION_PREV && channel <= TVLM_CHANNEL_GAZE);
}

static void check_still(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = channels_stack(device, format, 1);
    for (int32_t c = 0; c < 40; ++c)
        if (has(stack, 0, c) != of_a_still(c)) fail_msg("channel %d: %d", (int)c, (int)has(stack, 0, c));
    assert_true(has(stack, 0, TVLM_CHANNEL_ENTROPY)); /* beyond the layout, and not made yet */
    static const int32_t absent[] = {TVLM_CHANNEL_DEPTH,    TVLM_CHANNEL_OCCLUSION,
                                     TVLM_CHANNEL_NORMAL_Y, TVLM_CHANNEL_OBJECT_ID,
                                     TVLM_CHANNEL_FLOW_U,   TVLM_CHANNEL_QUERY_SIMILARITY};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; ++i) assert_false(has(stack, 0, absent[i]));
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) /* asking made nothing */
        assert_true(grid == TVLM_GRID_SOURCE || stack->chunks[0].grids[grid] == NULL);
    bool found;
    refused(tvlm_stack_has_channel(stack, 1, 0, &found), TVLM_ERROR_ARGUMENT, "image 1 of a stack of 1");
    refused(tvlm_stack_has_channel(stack, 0, 9999999, &found), TVLM_ERROR_ARGUMENT, "no channel 9999999");
    assert_int_equal(tvlm_stack_has_channel(stack, 0, 0, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_has_channel(NULL, 0, 0, &found), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
}

/* Image 0 gets it, image 1 does not. */
static void check_handed_in(tvlm_device *device, tvlm_format format) {
    static const struct {
        int32_t channel, channels, also;
        bool made; /* where it is not handed in */
    } rows[] = {{TVLM_CHANNEL_ATTENTION, 1, TVLM_CHANNEL_ATTENTION, false},
                {TVLM_CHANNEL_EMBEDDING_0, 3, TVLM_CHANNEL_EMBEDDING_0 + 2, false},
                {TVLM_CHANNEL_DEPTH, 1, TVLM_CHANNEL_NORMAL_Z, false},
                {TVLM_CHANNEL_SALIENCY, 1, TVLM_CHANNEL_SALIENCY, true},
                {TVLM_CHANNEL_MOTION, 1, TVLM_CHANNEL_MOTION, false},
                {TVLM_CHANNEL_OBJECT_ID, 1, TVLM_CHANNEL_OBJECT_ID, false}};
    tvlm_stack *stack = channels_stack(device, format, 2);
    int32_t user = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_true(has(stack, 0, rows[i].also) == rows[i].made);
        set_grid(stack, 0, rows[i].channel, rows[i].channels, 4);
        assert_true(has(stack, 0, rows[i].channel) && has(stack, 0, rows[i].also));
        assert_true(has(stack, 1, rows[i].also) == rows[i].made);
        assert_int_equal(tvlm_stack_clear_grid(stack, 0, rows[i].channel), TVLM_OK);
        assert_true(has(stack, 0, rows[i].also) == rows[i].made);
    }
    set_grid(stack, 0, TVLM_CHANNEL_EMBEDDING_0, 3, 4);
    assert_false(has(stack, 0, TVLM_CHANNEL_EMBEDDING_0 + 4)); /* of vectors that are shorter */
    assert_int_equal(tvlm_stack_set_user(stack, 1, "heat", 0, 0, TVLM_MEAN,
                                         tvlm_grid_input(.data = (const float[]){3}, .columns = 1, .rows = 1),
                                         &user),
                     TVLM_OK);
    assert_true(!has(stack, 0, user) && has(stack, 1, user));
    tvlm_stack_destroy(&stack);
}

static void check_previous(tvlm_device *device, tvlm_format format) {
    static const int32_t carried[] = {TVLM_CHANNEL_MOTION, TVLM_CHANNEL_PREV_RELEVANCE,
                                      TVLM_CHANNEL_PREV_SALIENCY, TVLM_CHANNEL_FIXATION};
    tvlm_stack *stack = channels_stack(device, format, 2);
    assert_int_equal(tvlm_stack_advance(stack, 1, NULL), TVLM_OK);
    for (size_t i = 0; i < sizeof carried / sizeof *carried; ++i)
        assert_true(!has(stack, 0, carried[i]) && has(stack, 1, carried[i]));
    assert_int_equal(tvlm_stack_forget(stack, 1), TVLM_OK);
    for (size_t i = 0; i < sizeof carried / sizeof *carried; ++i) assert_false(has(stack, 1, carried[i]));
    tvlm_stack_destroy(&stack);
}

/* A map of the application's is what the next frame calls prev_saliency. */
static void check_prev_saliency(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = channels_stack(device, format, 2);
    size_t count, made_count;
    assert_int_equal(
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_SALIENCY,
                            tvlm_grid_input(.data = (const float[]){0.75f}, .columns = 1, .rows = 1)),
        TVLM_OK);
    const int32_t prev = TVLM_CHANNEL_PREV_SALIENCY;
    for (int32_t i = 0; i < 2; ++i) assert_int_equal(tvlm_stack_advance(stack, i, NULL), TVLM_OK);
    float *given = read_level(stack, 0, prev, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_float_equal(given[i], 0.75f, 1e-6f);
    free(given);
    float *made = read_level(stack, 1, prev, 0, &made_count), most = 0.0f;
    for (size_t i = 0; i < made_count; ++i) most = fmaxf(most, fabsf(made[i] - 0.75f));
    assert_true(most > 0.1f); /* what the library makes, brought to the map's size */
    free(made);
    tvlm_stack_destroy(&stack);
}

/* ---- Levels ---- */

/* How much of texel i of `from` lies in texel x of `to`, in units of 1 / (from * to) of the side. */
static int32_t overlap(int32_t i, int32_t x, int32_t from, int32_t to) {
    const int32_t begin = i * to > x * from ? i * to : x * from;
    const int32_t end = (i + 1) * to < (x + 1) * from ? (i + 1) * to : (x + 1) * from;
    return end > begin ? end - begin : 0;
}

/* What one texel of the next level must be. */
static float reduced(const float *texels, const int32_t from[2], const int32_t to[2], const int32_t at[2],
                     tvlm_reduce rule) {
    float values[9], best = 0.0f;
    int64_t areas[9], most = -1;
    int count = 0;
    for (int32_t j = 0; j < from[1]; ++j)
        for (int32_t i = 0; i < from[0]; ++i) {
            const int64_t area =
                (int64_t)overlap(i, at[0], from[0], to[0]) * overlap(j, at[1], from[1], to[1]);
            if (area == 0) continue;
            const float value = texels[j * from[0] + i];
            int place = 0;
            while (place < count && values[place] != value) ++place;
            if (place == count) {
                assert_true(count < 9);
                values[count] = value;
                areas[count++] = 0;
            }
            areas[place] += area;
        }
    for (int i = 0; i < count; ++i) {
        const bool better = rule == TVLM_MODE  ? areas[i] > most || (areas[i] == most && values[i] < best)
                            : rule == TVLM_MAX ? values[i] > best
                                               : values[i] < best;
        if (i > 0 && !better) continue;
        best = values[i];
        most = areas[i];
    }
    return best;
}

static void check_rule(tvlm_stack *stack, int32_t channel, tvlm_reduce rule) {
    size_t count;
    int32_t from[2], to[2];
    float *before = read_level(stack, 0, channel, 0, &count);
    assert_int_equal(tvlm_stack_channel_size(stack, channel, 0, &from[0], &from[1]), TVLM_OK);
    float low = before[0], high = before[0];
    for (size_t i = 0; i < count; ++i) low = fminf(low, before[i]), high = fmaxf(high, before[i]);
    if (!(high > low)) fail_msg("channel %d is %g everywhere: a test of nothing", (int)channel, (double)low);
    for (int32_t level = 1; from[0] > 1 || from[1] > 1; ++level) {
        float *next = read_level(stack, 0, channel, level, &count);
        assert_int_equal(tvlm_stack_channel_size(stack, channel, level, &to[0], &to[1]), TVLM_OK);
        for (int32_t i = 0; i < to[0] * to[1]; ++i) {
            const int32_t at[2] = {i % to[0], i / to[0]};
            const float expected = reduced(before, from, to, at, rule);
            if (next[i] != expected)
                fail_msg("channel %d, level %d, (%d, %d): %g, not %g", (int)channel, (int)level, (int)at[0],
                         (int)at[1], (double)next[i], (double)expected);
        }
        free(before);
        before = next;
        from[0] = to[0];
        from[1] = to[1];
    }
    free(before);
}

static void check_levels(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = channels_stack(device, format, 1);
    set_grid(stack, 0, TVLM_CHANNEL_DEPTH, 1, 7);
    set_grid(stack, 0, TVLM_CHANNEL_OBJECT_ID, 1, 7);
    check_rule(stack, TVLM_CHANNEL_CLUSTER_ID, TVLM_MODE);
    check_rule(stack, TVLM_CHANNEL_OBJECT_ID, TVLM_MODE);
    check_rule(stack, TVLM_CHANNEL_BOUNDARY, TVLM_MAX);
    check_rule(stack, TVLM_CHANNEL_TEXT, TVLM_MAX);
    check_rule(stack, TVLM_CHANNEL_OCCLUSION, TVLM_MAX);
    check_rule(stack, TVLM_CHANNEL_DISTANCE, TVLM_MIN);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS_MAIN(check_still, check_handed_in, check_previous, check_prev_saliency, check_levels)
