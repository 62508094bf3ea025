/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_threads_stress.c: many threads at once, on the reference: each with a device, a session and a stream of its own;
 * several that hand images and jobs to one pool, look at its devices and cancel; and several that share a log. Every answer
 * is that of one thread alone, to the bit, and `gcc -fsanitize=thread` finds nothing (ci/full, row threads).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "pool_helper.h"

enum { THREADS = 4, ROUNDS = 6, QUESTIONS = 3 };

/* ---- Answers of one thread ---- */

typedef struct answer {
    tvlm_position positions[16];
    int32_t count;
} answer;

static answer expected[PICTURES]; /* of a selection */
static answer streamed[PICTURES]; /* of a stream that is shown the pictures of one shape */
static const struct tvlm_select_params by_grid = {
    .k = 9, .strategy = TVLM_STRATEGY_GRID, .score = {.stride = 8}};

static bool take(tvlm_selection **selection, answer *to) {
    const tvlm_position *const at = tvlm_selection_positions(*selection, &to->count);
    const bool fits = to->count <= 16;
    if (fits) memcpy(to->positions, at, (size_t)to->count * sizeof *at);
    tvlm_selection_destroy(selection);
    return fits;
}

static bool same(const answer *a, const answer *b) {
    return a->count == b->count && a->count > 0 &&
           memcmp(a->positions, b->positions, (size_t)a->count * sizeof *a->positions) == 0;
}

/* Asks a session about each picture; those that it has kept are answered again. Counts answers that are wrong. */
static int ask_session(tvlm_device *device, int first, answer *answers) {
    /* Less than all stacks take: some go while others come. */
    const struct tvlm_session_params params = {.cache_bytes = (size_t)1 << 20};
    tvlm_session *session = NULL;
    int wrong = tvlm_session_create(device, &params, &session) != TVLM_OK;
    for (int i = 0; wrong == 0 && i < QUESTIONS * PICTURES; ++i) {
        const int number = (first + i * 5) % PICTURES;
        tvlm_selection *selection = NULL;
        tvlm_stack *stack = NULL;
        answer got = {.count = 0};
        if (tvlm_session_stack(session, &pictures[number], &small_stack, NULL, 0, &stack, NULL) != TVLM_OK ||
            tvlm_select(stack, NULL, &by_grid, &selection) != TVLM_OK || !take(&selection, &got))
            ++wrong;
        else if (answers != NULL)
            answers[number] = got;
        else
            wrong += !same(&got, &expected[number]);
        if (i % 4 == 3) tvlm_session_trim(session);
    }
    tvlm_session_destroy(&session);
    return wrong;
}

/* Shows a stream the pictures of the first shape, and selects in each. */
static int watch(tvlm_device *device, answer *answers) {
    tvlm_stream *stream = NULL;
    int wrong = tvlm_stream_create(device, 96, 64, NULL, &stream) != TVLM_OK;
    for (int i = 0; wrong == 0 && i < 6; ++i) {
        tvlm_selection *selection = NULL;
        answer got = {.count = 0};
        const bool sent = i % 2 == 1; /* ahead, or not */
        if ((sent && tvlm_stream_send(stream, 0, &pictures[i]) != TVLM_OK) ||
            tvlm_stream_push(stream, 0, sent ? NULL : &pictures[i], NULL, NULL) != TVLM_OK ||
            tvlm_stream_select(stream, 0, NULL, &by_grid, &selection) != TVLM_OK || !take(&selection, &got))
            ++wrong;
        else if (answers != NULL)
            answers[i] = got;
        else
            wrong += !same(&got, &streamed[i]);
    }
    tvlm_stream_destroy(&stream);
    return wrong;
}

/* ---- Threads ---- */

static pthread_barrier_t together;

static void run_all(void *(*body)(void *), void *shared) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, body, shared), 0);
    for (int i = 0; i < THREADS; ++i) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        if (wrong != NULL) fail_msg("thread %d: %d answers are wrong", i, (int)(intptr_t)wrong);
    }
    pthread_barrier_destroy(&together);
}

/* A device, a session and a stream of its own, several times. */
static void *own_all(void *argument) {
    static atomic_int number;
    const int mine = atomic_fetch_add(&number, 1);
    intptr_t wrong = 0;
    (void)argument;
    pthread_barrier_wait(&together);
    for (int round = 0; round < ROUNDS / 2; ++round) {
        tvlm_device *device = NULL;
        if (tvlm_device_open(tvlm_device_params(.name = "reference"), &device) != TVLM_OK) return (void *)1;
        wrong += ask_session(device, mine + round, NULL);
        wrong += watch(device, NULL);
        tvlm_device_destroy(&device);
    }
    return (void *)wrong;
}

static void test_own(void **state) {
    (void)state;
    run_all(own_all, NULL);
}

/* ---- One pool ---- */

typedef struct sharing {
    tvlm_pool *pool;
    atomic_int threads, runs, dones;
} sharing;

static tvlm_status count_run(void *user, const tvlm_pool_place *place) {
    sharing *const s = user;
    tvlm_device_info info;
    atomic_fetch_add(&s->runs, 1);
    return tvlm_device_get_info(place->device, &info);
}

static void count_done(void *user, const tvlm_job_result *result) {
    sharing *const s = user;
    (void)result;
    atomic_fetch_add(&s->dones, 1);
}

static int select_all(tvlm_pool *pool, int count, bool report) {
    tvlm_selection *got[PICTURES] = {NULL};
    tvlm_status statuses[PICTURES];
    int wrong = tvlm_pool_select(pool, pictures, count, &small_stack, &by_grid, got,
                                 report ? statuses : NULL) != TVLM_OK;
    for (int i = 0; i < count; ++i) {
        answer one = {.count = 0};
        if (got[i] == NULL || !take(&got[i], &one) || !same(&one, &expected[i])) ++wrong;
    }
    return wrong;
}

static int submit_ten(sharing *s) {
    int wrong = 0;
    for (int i = 0; i < 10; ++i)
        wrong +=
            tvlm_pool_submit(s->pool, tvlm_job(.run = count_run, .done = count_done, .user = s)) != TVLM_OK;
    return wrong;
}

static int ask_devices(const sharing *s, int number) {
    tvlm_pool_device_info info;
    return tvlm_pool_device_count(s->pool) != 2 ||
           tvlm_pool_get_device_info(s->pool, number % 2, &info) != TVLM_OK || info.lost;
}

enum { WAYS = 5 };

static int use_pool(sharing *s, int way, int round) {
    switch (way % WAYS) {
    case 0: return select_all(s->pool, 4 + round % 6, round % 2 == 0);
    case 1: return submit_ten(s);
    case 2: return ask_devices(s, round);
    case 3: return tvlm_pool_deliver(s->pool) != TVLM_OK;
    default: return tvlm_pool_finish(s->pool) != TVLM_OK;
    }
}

/*
 * Selections, jobs and questions about devices, all in one pool. Threads come out of a barrier straight into a call, first
 * all into the same one, then each into another: a lock that they took before would hide what the calls themselves lack.
 */
static void *share_pool(void *argument) {
    sharing *const s = argument;
    const int mine = atomic_fetch_add(&s->threads, 1);
    intptr_t wrong = 0;
    for (int round = 0; round < 2 * WAYS; ++round) {
        pthread_barrier_wait(&together);
        const int first = round < WAYS ? round : round + mine;
        wrong += use_pool(s, first, round);
        wrong += use_pool(s, round, round);
    }
    wrong += submit_ten(s);
    return (void *)wrong;
}

static tvlm_pool *pool_of(int32_t capacity) {
    tvlm_pool *pool = NULL;
    if (tvlm_pool_create(tvlm_pool_params(.devices = "reference,reference", .capacity = capacity,
                                          .open = tvlm_device_params(.log = &noting)),
                         &pool) != TVLM_OK)
        fail_msg("%s", said.last);
    return pool;
}

static void test_one_pool(void **state) {
    (void)state;
    for (int32_t capacity = 0; capacity < 6; capacity += 3) {
        sharing s = {.pool = pool_of(capacity)};
        run_all(share_pool, &s);
        assert_int_equal(tvlm_pool_finish(s.pool), TVLM_OK);
        assert_int_equal(atomic_load(&s.runs), THREADS * 50);
        assert_int_equal(atomic_load(&s.dones), THREADS * 50);
        tvlm_pool_destroy(&s.pool);
    }
}

/* Some submit while others cancel: each job is answered once, and it was run or was not. */
static void *submit_and_cancel(void *argument) {
    sharing *const s = argument;
    intptr_t wrong = 0;
    pthread_barrier_wait(&together);
    for (int i = 0; i < 60; ++i) {
        wrong +=
            tvlm_pool_submit(s->pool, tvlm_job(.run = count_run, .done = count_done, .user = s)) != TVLM_OK;
        if (i % 7 == 3) tvlm_pool_cancel(s->pool);
    }
    return (void *)wrong;
}

static void test_cancelled(void **state) {
    (void)state;
    sharing s = {.pool = pool_of(0)};
    run_all(submit_and_cancel, &s);
    const tvlm_status status = tvlm_pool_finish(s.pool);
    assert_true(status == TVLM_OK || status == TVLM_ERROR_CANCELLED);
    assert_int_equal(atomic_load(&s.dones), THREADS * 60);
    const int runs = atomic_load(&s.runs); /* of a busy machine it may be none */
    assert_in_range(runs, 0, THREADS * 60);
    assert_int_equal(tvlm_pool_submit(s.pool, tvlm_job(.run = count_run, .done = count_done, .user = &s)),
                     TVLM_OK);
    assert_int_equal(tvlm_pool_finish(s.pool), TVLM_OK);
    assert_int_equal(atomic_load(&s.runs), runs + 1);
    tvlm_pool_destroy(&s.pool);
}

/* Each its own pool, made and destroyed while it still has work. */
static void *own_pool(void *argument) {
    intptr_t wrong = 0;
    (void)argument;
    pthread_barrier_wait(&together);
    for (int round = 0; round < ROUNDS; ++round) {
        sharing s = {.pool = NULL};
        if (tvlm_pool_create(tvlm_pool_params(.devices = "reference,reference"), &s.pool) != TVLM_OK)
            return (void *)1;
        for (int i = 0; i < 6; ++i)
            wrong += tvlm_pool_submit(s.pool, tvlm_job(.run = count_run, .done = count_done, .user = &s)) !=
                     TVLM_OK;
        if (round % 2 == 0) wrong += select_all(s.pool, 3, true);
        tvlm_pool_destroy(&s.pool);
        wrong += atomic_load(&s.dones) != 6;
    }
    return (void *)wrong;
}

static void test_own_pools(void **state) {
    (void)state;
    run_all(own_pool, NULL);
}

static int answer_alone(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    make_pictures();
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference"), &device), TVLM_OK);
    assert_int_equal(ask_session(device, 0, expected), 0);
    assert_int_equal(watch(device, streamed), 0);
    tvlm_device_destroy(&device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own), cmocka_unit_test(test_one_pool),
                                       cmocka_unit_test(test_cancelled), cmocka_unit_test(test_own_pools)};
    return cmocka_run_group_tests(tests, answer_alone, NULL);
}
