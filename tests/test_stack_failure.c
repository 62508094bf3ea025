/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend that counts its calls and fails when told to: what a failing device leaves behind, and that
 * asking again takes no new device memory.
 */
#include "core/try.h"
#include "stack_helper.h"

static const tvlm_backend *real;
static int calls_left, creations; /* calls that still succeed; < 0: all */

static bool failing(void) {
    return calls_left >= 0 && calls_left-- == 0;
}

#define PASS(CALL) return failing() ? TVLM_ERROR_DEVICE : real->CALL

static tvlm_status fake_buffer_create(tvlm_device *d, size_t bytes, tvlm_buffer **b) {
    ++creations;
    PASS(buffer_create(d, bytes, b));
}
static tvlm_status fake_buffer_write(tvlm_device *d, tvlm_buffer *b, size_t offset, size_t bytes,
                                     const void *host) {
    PASS(buffer_write(d, b, offset, bytes, host));
}
static tvlm_status fake_buffer_read(tvlm_device *d, tvlm_buffer *b, size_t offset, size_t bytes, void *host) {
    PASS(buffer_read(d, b, offset, bytes, host));
}
static tvlm_status fake_texture_create(tvlm_device *d, const tvlm_texture *shape, tvlm_texture **t) {
    ++creations;
    PASS(texture_create(d, shape, t));
}
static tvlm_status fake_texture_read(tvlm_device *d, tvlm_texture *t, int32_t level, int32_t slice,
                                     float *rgba) {
    PASS(texture_read(d, t, level, slice, rgba));
}
static tvlm_status fake_texture_write(tvlm_device *d, tvlm_texture *t, int32_t slice, const float *rgba) {
    PASS(texture_write(d, t, slice, rgba));
}
static tvlm_status fake_source(tvlm_device *d, tvlm_buffer *b, const tvlm_pixels *p, int32_t image,
                               tvlm_texture *t) {
    PASS(source(d, b, p, image, t));
}
static tvlm_status fake_mips(tvlm_device *d, tvlm_texture *const *t, int32_t count) {
    PASS(mips(d, t, count));
}
static tvlm_status fake_sample(tvlm_device *d, const tvlm_bundle *bundle, const int32_t *refs, int32_t count4,
                               tvlm_buffer *points, int32_t count, tvlm_buffer *out) {
    PASS(sample(d, bundle, refs, count4, points, count, out));
}
static tvlm_status fake_pack(tvlm_device *d, const tvlm_bundle *bundle, const int32_t *refs, float level,
                             tvlm_texture *t) {
    PASS(pack(d, bundle, refs, level, t));
}
static tvlm_status fake_score(tvlm_device *d, const tvlm_bundle *bundle, const tvlm_score_group *groups,
                              int32_t count, const tvlm_score_combination *combination,
                              const tvlm_candidates *candidates, const tvlm_ranking *ranking,
                              tvlm_buffer *scores) {
    PASS(score(d, bundle, groups, count, combination, candidates, ranking, scores));
}
static tvlm_status fake_topk(tvlm_device *d, tvlm_buffer *scores, int32_t n, int32_t k, tvlm_buffer *result) {
    PASS(topk(d, scores, n, k, result));
}
static tvlm_status fake_remember(tvlm_device *d, const tvlm_remember_args *args) {
    PASS(remember(d, args));
}
static tvlm_status fake_relevance(tvlm_device *d, tvlm_buffer *scores, tvlm_texture *t) {
    PASS(relevance(d, scores, t));
}
#define FAKE_GENERATE(ID, NAME, ...)                                                                         \
    static tvlm_status fake_##NAME(tvlm_device *d, const tvlm_generate_args *args) {                         \
        PASS(generate[TVLM_GRID_##ID](d, args));                                                             \
    }
TVLM_GENERATED_GRIDS(FAKE_GENERATE)

static void fake_backend(tvlm_device *device, tvlm_backend *fake) {
    real = device->backend;
    *fake = *real;
    fake->buffer_create = fake_buffer_create;
    fake->buffer_write = fake_buffer_write;
    fake->buffer_read = fake_buffer_read;
    fake->texture_create = fake_texture_create;
    fake->texture_read = fake_texture_read;
    fake->texture_write = fake_texture_write;
    fake->source = fake_source;
    fake->mips = fake_mips;
    fake->sample = fake_sample;
    fake->pack = fake_pack;
    fake->score = fake_score;
    fake->topk = fake_topk;
    fake->remember = fake_remember;
    fake->relevance = fake_relevance;
#define SET_GENERATE(ID, NAME, ...) fake->generate[TVLM_GRID_##ID] = fake_##NAME;
    TVLM_GENERATED_GRIDS(SET_GENERATE)
    device->backend = fake;
    calls_left = -1;
}

/* Everything that reaches the device; the result in out[4]. */
static tvlm_status work(tvlm_stack *stack, const tvlm_image *image, float out[4]) {
    static const float similarity[] = {0.5f, -0.5f, 0.1f, 0.9f};
    static const int32_t channel = TVLM_CHANNEL_RGB_VAR;
    const tvlm_sample_point point = {9, 7, 0.5f, 1};
    tvlm_packed *packed = NULL;
    tvlm_selection *selection = NULL;
    float plane[20 * 15];
    TVLM_TRY(tvlm_stack_set_image(stack, 1, image));
    TVLM_TRY(tvlm_stack_make_all(stack));
    TVLM_TRY(tvlm_stack_sample(stack, &point, 1, &channel, 1, &out[0]));
    TVLM_TRY(tvlm_stack_read(stack, 1, TVLM_CHANNEL_EDGES, 4, 2, &out[1]));
    TVLM_TRY(tvlm_stack_pack(stack, tvlm_pack_params(.channels = &channel, .channel_count = 1, .level = 1),
                             &packed));
    const tvlm_status status = tvlm_packed_read(packed, 1, sizeof plane / sizeof plane[0], plane);
    out[2] = plane[77];
    tvlm_packed_destroy(&packed);
    TVLM_TRY(status);
    TVLM_TRY(tvlm_select(stack, tvlm_query(.similarity = similarity, .columns = 2, .rows = 2),
                         tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.index = 1, .k = 2),
                         &selection));
    out[3] = tvlm_selection_positions(selection, NULL)[0].score;
    tvlm_selection_destroy(&selection);
    TVLM_TRY(tvlm_stack_advance(stack, 1, NULL));
    TVLM_TRY(tvlm_stack_set_image(stack, 1, image));
    TVLM_TRY(tvlm_stack_make_all(stack));
    TVLM_TRY(tvlm_stack_advance(stack, 1, NULL));
    return tvlm_stack_forget(stack, 1);
}

/* Every call of the backend fails once: an error, no leak, and the stack works again as if nothing had been.
 */
static void test_failing_backend(void **state) {
    tvlm_device *device = open_reference();
    tvlm_backend fake;
    uint64_t seed = 89;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = {
        .pixels = pixels, .width = 40, .height = 30, .channels = 3, .type = TVLM_PIXEL_U8};
    float expected[4] = {0}, got[4];
    (void)state;
    fake_backend(device, &fake);
    for (int fail_at = -1;; ++fail_at) {
        tvlm_stack *stack = NULL;
        assert_int_equal(
            tvlm_stack_create(device, tvlm_stack_params(.width = 40, .height = 30, .images = 2), &stack),
            TVLM_OK);
        calls_left = fail_at;
        const tvlm_status status = work(stack, &image, fail_at < 0 ? expected : got);
        const bool reached = calls_left < 0 && fail_at >= 0;
        assert_int_equal(status, reached ? TVLM_ERROR_DEVICE : TVLM_OK);
        calls_left = -1;
        assert_int_equal(work(stack, &image, got), TVLM_OK);
        assert_memory_equal(got, expected, sizeof got);
        tvlm_stack_destroy(&stack);
        if (fail_at >= 0 && !reached) break;
        assert_true(fail_at < 1000);
    }
    device->backend = real;
    tvlm_device_destroy(&device);
    free(pixels);
}

/* Asking again, with new pixels and another query, takes no new device memory; each image has scores of its
 * own. */
static void test_repeated_select_allocates_nothing(void **state) {
    static const float similarity[] = {0.5f, -0.5f, 0.1f, 0.9f};
    tvlm_device *device = open_reference();
    tvlm_backend fake;
    uint64_t seed = 97;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = {
        .pixels = pixels, .width = 40, .height = 30, .channels = 3, .type = TVLM_PIXEL_U8};
    tvlm_stack *stack = NULL;
    (void)state;
    fake_backend(device, &fake);
    assert_int_equal(tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.images = 2), &stack),
                     TVLM_OK);
    for (int32_t round = 0; round < 6; ++round) {
        tvlm_selection *selection = NULL;
        assert_int_equal(tvlm_stack_set_image(stack, round % 2, &image), TVLM_OK);
        assert_int_equal(
            tvlm_select(stack, tvlm_query(.similarity = similarity, .columns = 2, .rows = 2),
                        tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.index = round % 2),
                        &selection),
            TVLM_OK);
        tvlm_selection_destroy(&selection);
        if (round == 1) creations = 0;
    }
    assert_int_equal(creations, 0);
    tvlm_stack_destroy(&stack);
    device->backend = real;
    tvlm_device_destroy(&device);
    free(pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_backend),
        cmocka_unit_test(test_repeated_select_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
