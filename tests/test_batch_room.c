/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_batch_room.c: the memory that decoding threads share. Alone, each call does what its header says; and
 * with several threads there is never more taken than the limit, images get their room in their order, and no
 * thread waits for ever. tools/batch_room.c is compiled into this program. ci/full runs it under the thread
 * sanitizer, too.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "batch_room.h"
#include "support.h"

/* ---- One thread ---- */

static void test_takes_and_gives(void **state) {
    uint64_t a = 0, b = 0;
    (void)state;
    batch_room *room = batch_room_open(100);
    assert_non_null(room);
    assert_int_equal(batch_room_limit(room), 100);
    batch_room_turn(room, 0);
    assert_true(batch_room_take(room, &a, 60));
    assert_int_equal(a, 60);
    assert_false(batch_room_take(room, &a, 41)); /* more than there is, for one image */
    assert_int_equal(a, 60);
    assert_true(batch_room_take(room, &a, 40));
    batch_room_give(room, &a, 70);
    assert_int_equal(a, 70);
    batch_room_give(room, &a, 90); /* it holds less than that */
    assert_int_equal(a, 70);
    batch_room_pass(room);
    batch_room_turn(room, 1);
    assert_true(batch_room_take(room, &b, 30));
    batch_room_give(room, &a, 0);
    assert_true(batch_room_take(room, &b, 70));
    batch_room_give(room, &b, 0);
    assert_int_equal(a + b, 0);
    assert_true(batch_room_take(room, &a, UINT64_C(0)));
    assert_false(batch_room_take(room, &a, UINT64_MAX));
    batch_room_close(&room);
    assert_null(room);
    batch_room_close(&room);
}

/* What is held for unpacking an archive counts with every image. */
static void test_unpacks(void **state) {
    uint64_t held = 0;
    (void)state;
    batch_room *room = batch_room_open(100);
    assert_non_null(room);
    assert_true(batch_room_unpack(room, 40));
    assert_false(batch_room_take(room, &held, 61));
    assert_true(batch_room_take(room, &held, 50));
    assert_true(batch_room_unpack(room, 50));
    batch_room_give(room, &held, 0);
    assert_false(batch_room_unpack(room, 101));
    assert_true(batch_room_unpack(room, 100));
    assert_true(batch_room_unpack(room, 20));
    assert_false(batch_room_take(room, &held, 81));
    assert_true(batch_room_take(room, &held, 80));
    batch_room_give(room, &held, 0);
    assert_true(batch_room_unpack(room, 0));
    assert_true(batch_room_take(room, &held, 100));
    batch_room_close(&room);
}

/* ---- Several threads ---- */

enum { THREADS = 4, IMAGES = 1200, LIMIT = 1000 };

typedef struct sharing {
    batch_room *room;
    atomic_int next, passed; /* the number of the next image, and how many had their turn */
    atomic_llong taken;
    atomic_int wrong;
} sharing;

static void count_taken(sharing *s, long long bytes) {
    if (atomic_fetch_add(&s->taken, bytes) + bytes > LIMIT) atomic_fetch_add(&s->wrong, 1);
}

static void *decode(void *argument) {
    sharing *const s = argument;
    for (int number; (number = atomic_fetch_add(&s->next, 1)) < IMAGES;) {
        const uint64_t first = 50 + (uint64_t)(number * 37 % 300), second = (uint64_t)(number * 11 % 200);
        uint64_t held = 0;
        batch_room_turn(s->room, number);
        if (atomic_fetch_add(&s->passed, 1) != number) atomic_fetch_add(&s->wrong, 1);
        if (number % 3 == 0) /* the archive that this image is in */
            (void)batch_room_unpack(s->room, (uint64_t)(number % 7) * 20);
        if (batch_room_take(s->room, &held, first)) count_taken(s, (long long)first);
        if (batch_room_take(s->room, &held, second)) count_taken(s, (long long)second);
        batch_room_pass(s->room);
        if (held != first + second) atomic_fetch_add(&s->wrong, 1);
        if (number % 5 == 0) (void)sched_yield();
        /* A part is given back when the file is decoded, and the rest when the image was taken. */
        atomic_fetch_sub(&s->taken, (long long)(held - held / 2));
        batch_room_give(s->room, &held, held / 2);
        atomic_fetch_sub(&s->taken, (long long)held);
        batch_room_give(s->room, &held, 0);
    }
    return NULL;
}

static void test_threads_share(void **state) {
    sharing s = {.room = batch_room_open(LIMIT)};
    pthread_t threads[THREADS];
    uint64_t all = 0;
    (void)state;
    assert_non_null(s.room);
    for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, decode, &s), 0);
    for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&s.wrong), 0);
    assert_int_equal(atomic_load(&s.passed), IMAGES);
    assert_true(batch_room_unpack(s.room, 0));
    assert_true(batch_room_take(s.room, &all, LIMIT)); /* nothing was lost */
    batch_room_close(&s.room);
}

/* ---- The end ---- */

typedef struct waiting {
    batch_room *room;
    bool for_turn, taken;
} waiting;

static void *wait_for_room(void *argument) {
    waiting *const w = argument;
    uint64_t held = 0;
    if (w->for_turn)
        batch_room_turn(w->room, 99);
    else
        w->taken = batch_room_take(w->room, &held, 50);
    return NULL;
}

static void test_stop_ends_all_waiting(void **state) {
    uint64_t held = 0;
    (void)state;
    batch_room *room = batch_room_open(100);
    assert_non_null(room);
    assert_true(batch_room_take(room, &held, 80));
    waiting waits[2] = {{.room = room, .for_turn = true}, {.room = room, .taken = true}};
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_room, &waits[i]), 0);
    batch_room_stop(room);
    for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(waits[1].taken);
    assert_false(batch_room_take(room, &held, 1)); /* nor later */
    assert_false(batch_room_unpack(room, 1));
    batch_room_turn(room, 12345);
    batch_room_close(&room);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_takes_and_gives), cmocka_unit_test(test_unpacks),
                                       cmocka_unit_test(test_threads_share),
                                       cmocka_unit_test(test_stop_ends_all_waiting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
