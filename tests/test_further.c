/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_further.c: what a further question costs: commands to the device and waits for it; and that what is
 * left out (levels, a program that is there, ranges emptied beforehand) is not missed.
 */
#include "layer_helper.h"
#include "opencl/backend.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/features.h"
#include "texturevlm/lab/trainer.h"
#include "texturevlm/score.h"

enum { SIDE = 256, CELLS = 16, DIMENSION = 40, QUESTIONS = 20 };

static const layer_control *layer;

/* ---- Stacks and questions ---- */

static float *random_numbers(uint64_t seed, size_t count) {
    float *numbers = malloc(count * sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < count; ++i) numbers[i] = test_random_unit(&seed) - 0.4f;
    return numbers;
}

static tvlm_stack *ready_stack(tvlm_device *device, tvlm_format format) {
    uint64_t random = 5;
    uint8_t *pixels = test_random_pixels(&random, SIDE, SIDE, 3);
    float *vectors = random_numbers(6, (size_t)CELLS * CELLS * DIMENSION);
    const tvlm_image image = u8_image(pixels, SIDE, SIDE, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                         tvlm_grid_input(.data = vectors, .columns = CELLS, .rows = CELLS,
                                                         .channels = DIMENSION)),
                     TVLM_OK);
    free(pixels);
    free(vectors);
    return stack;
}

static void ask(tvlm_stack *stack, const float *question, const tvlm_basis *basis) {
    tvlm_selection *selection = NULL;
    if (tvlm_select(stack, tvlm_query(.vectors = question, .dimension = DIMENSION, .basis = basis),
                    tvlm_select_params(.strategy = TVLM_STRATEGY_GRID), &selection) != TVLM_OK)
        fail_msg("%s", test_last_log());
    tvlm_selection_destroy(&selection);
}

/* ---- What it costs ---- */

/* The last of several questions: the vector, its cosines, the parts of the score, their sum with the ranking,
 * and the ranking to the host. */
static void counted(tvlm_stack *stack, const float *questions, const tvlm_basis *basis) {
    layer_commands before = {0};
    for (int i = 0; i < QUESTIONS; ++i) {
        before = layer->commands();
        ask(stack, questions + (size_t)i * DIMENSION, basis);
    }
    const layer_commands commands = commands_after(layer, before);
    assert_int_equal(commands.kernels, 3);
    assert_int_equal(commands.writes, 1);
    assert_int_equal(commands.reads, 1);
    assert_int_equal(commands.others, 0);
    assert_int_equal(commands.waits, 1); /* for the ranking */
}

static void costs(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (!test_is_opencl(target->device)) return;
    opencl_tuning *tuning = &((opencl_device *)target->device)->tuning;
    const opencl_tuning usual = *tuning;
    float *questions = random_numbers(7, (size_t)QUESTIONS * DIMENSION);
    tvlm_stack *stack = ready_stack(target->device, target->format);
    tvlm_basis *basis = NULL;
    tuning->rank_below = 8192; /* as on a GPU */
    counted(stack, questions, NULL);
    assert_int_equal(tvlm_basis_of_image(stack, 0, NULL, &basis), TVLM_OK);
    assert_int_equal(tvlm_stack_embed(stack, 0, basis), TVLM_OK);
    counted(stack, questions, basis);
    tvlm_basis_destroy(&basis);
    tvlm_stack_destroy(&stack);
    free(questions);
    *tuning = usual;
}

static void test_costs(void **state) {
    (void)state;
    if (layer == NULL) skip();
    test_on_targets(costs);
}

/* ---- What is left out is not missed ---- */

/* Scores of cells of `stride` pixels, after the stack was asked other things. */
static float *scores_after(tvlm_stack *stack, const float *questions, int32_t asked, float stride,
                           size_t *count) {
    const struct tvlm_score_params params = {.stride = stride};
    int32_t columns, rows;
    for (int32_t i = 0; i < asked; ++i) ask(stack, questions + (size_t)i * DIMENSION, NULL);
    assert_int_equal(tvlm_score_size(stack, &params, &columns, &rows), TVLM_OK);
    *count = (size_t)columns * (size_t)rows;
    float *scores = malloc(*count * sizeof *scores);
    assert_non_null(scores);
    assert_int_equal(
        tvlm_score(stack,
                   tvlm_query(.vectors = questions + (size_t)asked * DIMENSION, .dimension = DIMENSION),
                   &params, *count, scores),
        TVLM_OK);
    return scores;
}

/* The levels of a question that only its level 0 was needed for, and scores that read them: as if nothing
 * else had ever been asked. */
static void check_levels(tvlm_device *device, tvlm_format format) {
    static const float strides[] = {8.0f, 16.0f, 23.0f, 64.0f, 16.0f};
    enum { ASKED = 3 };
    float *questions = random_numbers(8, (ASKED + 1) * DIMENSION);
    const float *last = questions + (size_t)ASKED * DIMENSION;
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; ++s) {
        tvlm_stack *old = ready_stack(device, format), *fresh = ready_stack(device, format);
        size_t count, expected_count;
        float *got = scores_after(old, questions, ASKED, strides[s], &count);
        float *expected = scores_after(fresh, last, 0, strides[s], &expected_count);
        assert_int_equal(count, expected_count);
        assert_memory_equal(got, expected, count * sizeof *got);
        free(got);
        free(expected);
        for (int32_t level = 0; level <= 4; ++level) {
            got = read_level(old, 0, TVLM_CHANNEL_QUERY_SIMILARITY, level, &count);
            expected = read_level(fresh, 0, TVLM_CHANNEL_QUERY_SIMILARITY, level, &expected_count);
            assert_int_equal(count, expected_count);
            assert_memory_equal(got, expected, count * sizeof *got);
            free(got);
            free(expected);
        }
        tvlm_stack_destroy(&old);
        tvlm_stack_destroy(&fresh);
    }
    free(questions);
}

/* Samples between levels, straight after a question that made none. */
static void check_samples(tvlm_device *device, tvlm_format format) {
    const int32_t channel = TVLM_CHANNEL_QUERY_SIMILARITY;
    float *questions = random_numbers(9, 2 * DIMENSION), values[2][64];
    tvlm_sample_point points[64];
    uint64_t random = 10;
    for (int i = 0; i < 64; ++i)
        points[i] = (tvlm_sample_point){.x = SIDE * test_random_unit(&random),
                                        .y = SIDE * test_random_unit(&random),
                                        .level = 8.0f * test_random_unit(&random)};
    for (int both = 0; both < 2; ++both) {
        tvlm_stack *stack = ready_stack(device, format);
        if (both == 0) ask(stack, questions, NULL);
        ask(stack, questions + DIMENSION, NULL);
        assert_int_equal(tvlm_stack_sample(stack, points, 64, &channel, 1, values[both]), TVLM_OK);
        tvlm_stack_destroy(&stack);
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    free(questions);
}

/* Scorers in turn: each finds its own program and ranges that nobody else left anything in. */
static void check_turns(tvlm_device *device, tvlm_format format) {
    static const float weights[3][3] = {{1.0f, 0.0f, 0.0f}, {0.2f, 0.8f, 0.0f}, {0.0f, 1.0f, 0.0f}};
    enum { COUNT = (SIDE / 16) * (SIDE / 16) };
    float first[3][COUNT], again[COUNT];
    tvlm_stack *stack = ready_stack(device, format);
    for (int turn = 0; turn < 12; ++turn) {
        const int which = turn < 3 ? turn : (turn / 2 + turn) % 3;
        assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.weights = weights[which]), COUNT,
                                    turn < 3 ? first[which] : again),
                         TVLM_OK);
        if (turn >= 3) assert_memory_equal(again, first[which], sizeof again);
    }
    assert_true(memcmp(first[0], first[1], sizeof again) != 0 &&
                memcmp(first[1], first[2], sizeof again) != 0);
    tvlm_stack_destroy(&stack);
}

/* The host's memory may change as soon as buffer_write returns, whether or not that waits. */
static void check_writes(tvlm_device *device, tvlm_format format) {
    static const size_t sizes[] = {4, 100, 65536, 65540, 200000};
    enum { WRITES = 40 };
    (void)format;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const size_t bytes = sizes[s];
        uint8_t *host = malloc(bytes), *all = malloc(WRITES * bytes);
        tvlm_buffer *buffer = NULL;
        assert_true(host != NULL && all != NULL);
        assert_int_equal(device->backend->buffer_create(device, WRITES * bytes, &buffer), TVLM_OK);
        for (int i = 0; i < WRITES; ++i) {
            memset(host, i + 1, bytes);
            assert_int_equal(device->backend->buffer_write(device, buffer, (size_t)i * bytes, bytes, host),
                             TVLM_OK);
            memset(host, 0, bytes);
        }
        assert_int_equal(device->backend->buffer_read(device, buffer, 0, WRITES * bytes, all), TVLM_OK);
        for (size_t i = 0; i < WRITES * bytes; ++i)
            if (all[i] != i / bytes + 1) fail_msg("byte %zu is %d", i, all[i]);
        device->backend->buffer_destroy(device, &buffer);
        free(host);
        free(all);
    }
}

DEVICE_CHECKS(check_levels, check_samples, check_turns, check_writes)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
    };
    layer = use_layer();
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
