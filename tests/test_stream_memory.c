/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_memory.c: a stream of 10,000 small frames (TVLM_TEST_FRAMES: another number) takes no more
 * memory at the end than after the first thousands: not of the device, and not of the process.
 */
#include "texturevlm/stream.h"

#include <unistd.h>

#include "stack/delta.h"
#include "stack_helper.h"
#include "texturevlm/stack.h"

enum { WIDTH = 40, HEIGHT = 32, TILE = 16, BYTES = WIDTH * HEIGHT * 3 };
enum { DIMENSION = 8, COLUMNS = 5, ROWS = 4, SETTLED = 1000 };

typedef struct show {
    tvlm_stream *stream;
    uint8_t pixels[2][BYTES]; /* of this frame and of the next */
    uint64_t random;
    /* How often, so that what is meant to happen does: */
    int parts, carried, masked, cuts, dropped;
} show;

/* Bytes of the process that are in memory. */
static size_t resident(void) {
    unsigned long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%lu %lu", &size, &pages) != 2) pages = 0;
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- Frames ---- */

/* A tile changes; each seventh time a bit everywhere, and rarely all. */
static void next_frame(show *s, int frame) {
    uint8_t *next = s->pixels[(frame + 1) % 2];
    memcpy(next, s->pixels[frame % 2], BYTES);
    if (frame % 100 == 50) {
        memset(next, frame % 200 == 50 ? 255 : 0, BYTES); /* a cut */
    } else if (frame % 7 == 0) {
        for (int i = 0; i < 200; ++i)
            next[test_random(&s->random) % BYTES] = (uint8_t)test_random(&s->random);
    } else {
        const size_t x = TILE * (test_random(&s->random) % 2), y = TILE * (test_random(&s->random) % 2);
        for (int i = 0; i < 60; ++i)
            next[((y + test_random(&s->random) % TILE) * WIDTH + x + test_random(&s->random) % TILE) * 3] =
                (uint8_t)test_random(&s->random);
    }
}

/* Every second frame was sent ahead; of the others some come instead of one that was. */
static tvlm_stream_report push(show *s, int frame) {
    const tvlm_image image = u8_image(s->pixels[frame % 2], WIDTH, HEIGHT, 3);
    tvlm_stream_report report;
    if (frame % 16 == 1) {
        const tvlm_image other = u8_image(s->pixels[(frame + 1) % 2], WIDTH, HEIGHT, 3);
        assert_int_equal(tvlm_stream_send(s->stream, 0, &other), TVLM_OK);
        ++s->dropped;
    }
    if (tvlm_stream_push(s->stream, 0, frame % 2 == 0 ? NULL : &image, NULL, &report) != TVLM_OK)
        fail_msg("push: %s", test_last_log());
    s->parts += report.changed > 0;
    s->cuts += report.cut;
    return report;
}

static void send(show *s, int frame) {
    const tvlm_image image = u8_image(s->pixels[frame % 2], WIDTH, HEIGHT, 3);
    if (frame % 2 == 0) assert_int_equal(tvlm_stream_send(s->stream, 0, &image), TVLM_OK);
}

/* All of them where they are asked for; every third time those of some cells. */
static void give_features(show *s, int frame, const tvlm_stream_report *report) {
    float features[COLUMNS * ROWS * DIMENSION];
    uint8_t mask[COLUMNS * ROWS];
    const bool all = report->needs_all || report->needs > 0.2f || (frame < SETTLED && frame % 7 == 0);
    if (!all && frame % 3 != 0) return;
    for (int i = 0; i < COLUMNS * ROWS * DIMENSION; ++i) features[i] = test_random_unit(&s->random);
    for (int i = 0; i < COLUMNS * ROWS; ++i) mask[i] = test_random(&s->random) % 3 == 0;
    if (tvlm_stream_set_features(
            s->stream, 0, TVLM_CHANNEL_FEATURE_0,
            tvlm_grid_input(.data = features, .columns = COLUMNS, .rows = ROWS, .channels = DIMENSION),
            all ? NULL : mask) != TVLM_OK)
        fail_msg("features: %s", test_last_log());
    s->masked += !all;
}

/* Regions and saliency are read in each frame, so that there is something to carry over. */
static void read_families(show *s, int frame) {
    tvlm_stack *stack = tvlm_stream_stack(s->stream, 0);
    const bool carried = tvlm_delta_is_carried(stack, 0, TVLM_GRID_SALIENCY);
    int32_t regions;
    s->carried += carried;
    if (frame % 10 == 0 || !carried)
        assert_int_equal(tvlm_stack_regions(stack, 0, 0, NULL, &regions), TVLM_OK);
}

/* Everything that a stream does: deltas, cuts, features, a volume, regions, sending ahead. */
static void one_frame(show *s, int frame) {
    const float question[DIMENSION] = {1.0f, 0.5f};
    tvlm_selection *selection = NULL;
    const tvlm_stream_report report = push(s, frame);
    next_frame(s, frame);
    send(s, frame + 1);
    read_families(s, frame);
    give_features(s, frame, &report);
    assert_int_equal(tvlm_stream_select(s->stream, 0, tvlm_query(.vectors = question, .dimension = DIMENSION),
                                        tvlm_select_params(.k = 3), &selection),
                     TVLM_OK);
    tvlm_selection_destroy(&selection);
}

static tvlm_stream *open_stream(tvlm_device *device) {
    tvlm_stream *stream = NULL;
    if (tvlm_stream_create(device, WIDTH, HEIGHT,
                           tvlm_stream_params(.layout = "cluster15", .clusters = 6, .volume = "r,motion",
                                              .volume_frames = 4, .look_back = true,
                                              .update = {.tile = TILE,
                                                         .saliency_share = 0.5f,
                                                         .cluster_share = 0.5f,
                                                         .carried_frames = 5}),
                           &stream) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return stream;
}

static void test_memory(void **state) {
    (void)state;
    const char *wanted = getenv("TVLM_TEST_FRAMES");
    const int frames = wanted != NULL ? atoi(wanted) : 10000;
    static show s = {.random = 5};
    tvlm_device *device = test_default_device();
    size_t held = 0, memory = 0;
    s.stream = open_stream(device);
    send(&s, 0);
    for (int frame = 0; frame < frames; ++frame) {
        one_frame(&s, frame);
        if (frame == SETTLED) held = device->held_most, memory = resident();
    }
    printf("%d frames: %d in parts, %d with saliency of before, %d with some features, %d cuts, %d dropped\n",
           frames, s.parts, s.carried, s.masked, s.cuts, s.dropped);
    const size_t most = device->held_most, now = resident();
    tvlm_stream_destroy(&s.stream);
    tvlm_device_destroy(&device);
    assert_true(s.parts > frames / 3 && s.carried > frames / 10 && s.masked > frames / 20 && s.cuts > 0);
    if (frames <= SETTLED) skip();
    const double grown = ((double)now - (double)memory) / (1 << 20);
    printf("%d frames: device memory %zu bytes at most, %zu after %d; the process grew by %.2f MiB\n", frames,
           most, held, SETTLED, grown);
    assert_true(most == held);
    assert_true(grown < 4.0); /* 500 bytes a frame; allocators breathe */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
