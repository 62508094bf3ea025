/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: what is found again and what is not, what goes first, the bound, and that a stack's bytes are
 * what the device gave.
 */
#include "stack_helper.h"

enum { WIDTH = 70, HEIGHT = 50, BYTES = WIDTH * HEIGHT * 3 };

static uint8_t *picture(uint64_t seed) {
    return test_random_pixels(&seed, WIDTH, HEIGHT, 3);
}

static tvlm_session *session_of(tvlm_device *device, size_t cache_bytes) {
    tvlm_session *session = NULL;
    assert_int_equal(tvlm_session_create(device, tvlm_session_params(.cache_bytes = cache_bytes), &session),
                     TVLM_OK);
    return session;
}

static tvlm_session_info info_of(const tvlm_session *session) {
    tvlm_session_info info;
    assert_int_equal(tvlm_session_get_info(session, &info), TVLM_OK);
    return info;
}

/* The stack of the image of that seed, asked once so that it holds something; whether it was there. */
static bool ask(tvlm_session *session, tvlm_format format, uint64_t seed, tvlm_stack **stack) {
    uint8_t *const pixels = picture(seed);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_selection *selection = NULL;
    bool hit;
    assert_int_equal(tvlm_session_stack(session, &image,
                                        tvlm_stack_params(.layout = "visual12", .format = format), NULL, 0,
                                        stack, &hit),
                     TVLM_OK);
    free(pixels);
    assert_int_equal(
        tvlm_select(*stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 3), &selection),
        TVLM_OK);
    tvlm_selection_destroy(&selection);
    return hit;
}

/* ---- What is the same ---- */

/* Each of these is another stack; asked again, each is found. */
static void check_keys(tvlm_device *device, tvlm_format format) {
    static const float fixation[2] = {3.0f, 4.0f}, centre[2] = {0.5f * WIDTH, 0.5f * HEIGHT};
    enum { CASES = 13 };
    tvlm_session *session = session_of(device, 0);
    uint8_t *const pixels = picture(1), *const changed = picture(1), padded[HEIGHT * (WIDTH * 3 + 5)];
    tvlm_stack *stacks[CASES], *stack;
    bool hit;
    changed[BYTES - 1] ^= 1;
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < CASES; ++i) {
            struct tvlm_stack_params params = {.format = format};
            tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
            const char *key = NULL;
            switch (i) {
            case 0: break;
            case 1: image.pixels = changed; break;
            case 2: image.width = 35, image.height = 100; break;
            case 3: image.height = HEIGHT - 1; break;
            case 4: params.layout = "visual12"; break;
            case 5: params.clusters = 20; break;
            case 6: params.compactness = 5.0f; break;
            case 7: params.fixation = fixation; break;
            case 8: params.fixation = centre; break;
            case 9: params.width = 32, params.height = 32; break;
            case 10: key = "features"; break;
            case 11: key = "other features"; break;
            case 12: image.channels = 1, image.width = 3 * WIDTH; break;
            }
            assert_int_equal(tvlm_session_stack(session, &image, &params, key, key != NULL ? strlen(key) : 0,
                                                round == 0 ? &stacks[i] : &stack, &hit),
                             TVLM_OK);
            assert_int_equal(hit, round == 1);
            assert_true(round == 0 || stack == stacks[i]);
        }
    for (int i = 0; i < CASES; ++i)
        for (int j = 0; j < i; ++j) assert_ptr_not_equal(stacks[i], stacks[j]);
    const tvlm_session_info info = info_of(session);
    assert_true(info.hits == CASES && info.misses == CASES && info.stacks == CASES && info.evictions == 0);
    /* Gaps between rows, whatever is in them, are not the image. */
    for (int fill = 0; fill < 2; ++fill) {
        memset(padded, 77 * fill, sizeof padded);
        for (int y = 0; y < HEIGHT; ++y)
            memcpy(padded + y * (WIDTH * 3 + 5), pixels + y * WIDTH * 3, WIDTH * 3);
        const tvlm_image image = {.pixels = padded,
                                  .width = WIDTH,
                                  .height = HEIGHT,
                                  .channels = 3,
                                  .type = TVLM_PIXEL_U8,
                                  .row_stride = WIDTH * 3 + 5};
        assert_int_equal(
            tvlm_session_stack(session, &image, tvlm_stack_params(.format = format), NULL, 0, &stack, NULL),
            TVLM_OK);
        assert_ptr_equal(stack, stacks[0]);
    }
    free(pixels);
    free(changed);
    tvlm_session_destroy(&session);
    assert_null(session);
}

/* ---- What goes ---- */

static void check_order(tvlm_device *device, tvlm_format format) {
    tvlm_session *session = session_of(device, 0);
    tvlm_stack *stack;
    assert_false(ask(session, format, 1, &stack));
    const size_t one = tvlm_stack_bytes(stack);
    assert_true(one > BYTES);
    tvlm_session_destroy(&session);

    session = session_of(device, 3 * one); /* room for three */
    for (uint64_t seed = 1; seed <= 3; ++seed) assert_false(ask(session, format, seed, &stack));
    assert_true(ask(session, format, 1, &stack)); /* 2 is the oldest now */
    assert_false(ask(session, format, 4, &stack));
    tvlm_session_trim(session);
    tvlm_session_info info = info_of(session);
    assert_true(info.stacks == 3 && info.evictions == 1 && info.hits == 1 && info.misses == 4);
    assert_true(info.bytes <= 3 * one && info.cache_bytes == 3 * one);
    assert_true(ask(session, format, 1, &stack));
    assert_true(ask(session, format, 4, &stack));
    assert_true(ask(session, format, 3, &stack));
    assert_false(ask(session, format, 2, &stack)); /* and 1 goes for it, */
    tvlm_session_trim(session);
    assert_true(ask(session, format, 4, &stack));
    assert_true(ask(session, format, 3, &stack));
    assert_false(ask(session, format, 1, &stack)); /* and 2 for that */
    tvlm_session_trim(session);
    info = info_of(session);
    assert_true(info.hits == 6 && info.misses == 6 && info.evictions == 3 && info.stacks == 3);
    tvlm_session_destroy(&session);
}

/* Stacks grow with their questions: the bound holds all the same. What was handed out last stays until it is
 * given up. */
static void check_growth(tvlm_device *device, tvlm_format format) {
    tvlm_session *session = session_of(device, 0);
    tvlm_stack *first, *second;
    tvlm_session_info info;
    ask(session, format, 1, &first);
    const size_t one = tvlm_stack_bytes(first);
    tvlm_session_destroy(&session);

    session = session_of(device, one + one / 2);
    ask(session, format, 1, &first);
    assert_int_equal(tvlm_stack_make_all(first), TVLM_OK); /* larger than the bound is not an error */
    float value;
    const int32_t all[] = {TVLM_CHANNEL_CLUSTER_ID, TVLM_CHANNEL_DISTANCE};
    assert_int_equal(tvlm_stack_sample(first, &(tvlm_sample_point){1, 1, 0, 0}, 1, all, 1, &value), TVLM_OK);
    ask(session, format, 1, &second); /* the only one is never let go while it is asked for */
    assert_ptr_equal(first, second);
    ask(session, format, 2, &second);
    info = info_of(session);
    assert_true(info.stacks == 1 && info.evictions == 1);
    tvlm_session_trim(session);
    assert_true(info_of(session).stacks == 1 && info_of(session).bytes <= one + one / 2);
    tvlm_session_destroy(&session);

    session = session_of(device, 1); /* nothing is kept, everything works */
    for (int i = 0; i < 2; ++i) {
        assert_false(ask(session, format, 1, &first));
        tvlm_session_trim(session);
    }
    info = info_of(session);
    assert_true(info.stacks == 0 && info.bytes == 0 && info.evictions == 2 && info.misses == 2);
    tvlm_session_destroy(&session);
}

/* Everything that the device gave since the stack began, but for what the device keeps for itself: which is
 * there after another stack did the same. */
static void check_bytes(tvlm_device *device, tvlm_format format) {
    tvlm_stack *before, *stack;
    tvlm_session *session = session_of(device, 0), *other = session_of(device, 0);
    ask(other, format, 1, &before);
    assert_int_equal(tvlm_stack_make_all(before), TVLM_OK);
    const size_t held = device->held;
    ask(session, format, 2, &stack);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    assert_int_equal(tvlm_stack_bytes(stack), device->held - held);
    assert_int_equal(info_of(session).bytes, device->held - held);
    tvlm_session_destroy(&session);
    assert_int_equal(device->held, held);
    tvlm_session_destroy(&other);
}

static void check_refused(tvlm_device *device, tvlm_format format) {
    tvlm_session *session = session_of(device, 0);
    uint8_t pixel[3] = {1, 2, 3};
    tvlm_image image = u8_image(pixel, 1, 1, 3);
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_session_create(NULL, NULL, &session), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_session_stack(session, NULL, NULL, NULL, 0, &stack, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_session_stack(session, &image, NULL, NULL, 0, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_session_stack(session, &image, NULL, NULL, 3, &stack, NULL), TVLM_ERROR_ARGUMENT);
    image.channels = 5;
    refused(tvlm_session_stack(session, &image, NULL, NULL, 0, &stack, NULL), TVLM_ERROR_ARGUMENT,
            "5 channels");
    image.channels = 3;
    refused(tvlm_session_stack(session, &image, tvlm_stack_params(.layout = "nonsense", .format = format),
                               NULL, 0, &stack, NULL),
            TVLM_ERROR_ARGUMENT, "nonsense");
    const tvlm_session_info info = info_of(session);
    assert_true(info.stacks == 0 && info.misses == 0 && stack == NULL);
    assert_int_equal(
        tvlm_session_stack(session, &image, tvlm_stack_params(.format = format), NULL, 0, &stack, NULL),
        TVLM_OK);
    tvlm_session_destroy(&session);
    tvlm_session_destroy(&session);
    tvlm_session_trim(NULL);
}

/* What no stack that goes makes room for is refused, and all stacks stay. */
static void check_hopeless(tvlm_device *device, tvlm_format format) {
    tvlm_session *session = session_of(device, 0);
    uint8_t *const pixels = picture(1);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = NULL, *none = NULL;
    for (uint64_t seed = 1; seed < 4; ++seed) (void)ask(session, format, seed, &stack);
    static const struct tvlm_stack_params params[] = {{.width = 70000, .height = 70000},
                                                      {.width = 640, .height = 640, .memory_max = 1000}};
    for (int i = 0; i < 2; ++i) {
        struct tvlm_stack_params wrong = params[i];
        wrong.format = format;
        assert_int_equal(tvlm_session_stack(session, &image, &wrong, NULL, 0, &none, NULL),
                         TVLM_ERROR_DEVICE_MEMORY);
        assert_true(none == NULL && info_of(session).stacks == 3 && info_of(session).evictions == 0);
    }
    assert_true(ask(session, format, 3, &stack));
    free(pixels);
    tvlm_session_destroy(&session);
}

DEVICE_CHECKS_MAIN(check_hopeless, check_keys, check_order, check_growth, check_bytes, check_refused)
