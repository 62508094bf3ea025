/*
 * test_stream_memory.c: a stream of 10,000 small frames (TVLM_TEST_FRAMES: another number) takes no more
 * memory at the end than after the first thousands: not of the device, and not of the process.
 */
#include "texturevlm/stream.h"

#include <unistd.h>

#include "stack_helper.h"
#include "texturevlm/regions.h"

enum { WIDTH = 40, HEIGHT = 32, DIMENSION = 8, COLUMNS = 5, ROWS = 4, SETTLED = 1000 };

/* Bytes of the process that are in memory. */
static size_t resident(void) {
    unsigned long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%lu %lu", &size, &pages) != 2) pages = 0;
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Everything that a stream does: cuts, features, a volume, regions, sending ahead. */
static void one_frame(tvlm_stream *stream, int frame, uint8_t pixels[2][WIDTH * HEIGHT * 3],
                      uint64_t *random) {
    float features[COLUMNS * ROWS * DIMENSION];
    const float question[DIMENSION] = {1.0f, 0.5f};
    uint8_t *next = pixels[(frame + 1) % 2];
    const tvlm_image image = u8_image(next, WIDTH, HEIGHT, 3);
    tvlm_stream_report report;
    tvlm_selection *selection = NULL;
    int32_t regions;
    if (tvlm_stream_push(stream, 0, NULL, NULL, &report) != TVLM_OK) fail_msg("push: %s", test_last_log());
    memcpy(next, pixels[frame % 2], WIDTH * HEIGHT * 3);
    for (int i = 0; i < 200; ++i)
        next[test_random(random) % (WIDTH * HEIGHT * 3)] = (uint8_t)test_random(random);
    if (frame % 100 == 50) memset(next, frame % 200 == 50 ? 255 : 0, WIDTH * HEIGHT * 3); /* a cut */
    assert_int_equal(tvlm_stream_send(stream, 0, &image), TVLM_OK);
    if (report.needs_all || report.needs > 0.2f || (frame < SETTLED && frame % 7 == 0)) { /* blends, too */
        for (int i = 0; i < COLUMNS * ROWS * DIMENSION; ++i) features[i] = test_random_unit(random);
        assert_int_equal(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0,
                                                  tvlm_grid_input(.data = features, .columns = COLUMNS,
                                                                  .rows = ROWS, .channels = DIMENSION),
                                                  NULL),
                         TVLM_OK);
    }
    if (frame % 10 == 0)
        assert_int_equal(tvlm_stack_regions(tvlm_stream_stack(stream, 0), 0, 0, NULL, &regions), TVLM_OK);
    assert_int_equal(tvlm_stream_select(stream, 0, tvlm_query(.vectors = question, .dimension = DIMENSION),
                                        tvlm_select_params(.k = 3), &selection),
                     TVLM_OK);
    tvlm_selection_destroy(&selection);
}

static void test_memory(void **state) {
    (void)state;
    const char *wanted = getenv("TVLM_TEST_FRAMES");
    const int frames = wanted != NULL ? atoi(wanted) : 10000;
    static uint8_t pixels[2][WIDTH * HEIGHT * 3];
    tvlm_device *device = NULL;
    tvlm_stream *stream = NULL;
    uint64_t random = 5;
    size_t held = 0, memory = 0;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.log = &test_log), &device), TVLM_OK);
    assert_int_equal(
        tvlm_stream_create(device, WIDTH, HEIGHT,
                           tvlm_stream_params(.layout = "cluster15", .clusters = 6, .volume = "r,motion",
                                              .volume_frames = 4, .look_back = true),
                           &stream),
        TVLM_OK);
    const tvlm_image first = u8_image(pixels[0], WIDTH, HEIGHT, 3);
    assert_int_equal(tvlm_stream_send(stream, 0, &first), TVLM_OK);
    for (int frame = 0; frame < frames; ++frame) {
        one_frame(stream, frame, pixels, &random);
        if (frame == SETTLED) held = device->held_most, memory = resident();
    }
    if (frames <= SETTLED) skip();
    const double grown = ((double)resident() - (double)memory) / (1 << 20);
    printf("%d frames: device memory %zu bytes at most, %zu after %d; the process grew by %.2f MiB\n", frames,
           device->held_most, held, SETTLED, grown);
    assert_true(device->held_most == held);
    assert_true(grown < 4.0); /* 500 bytes a frame; allocators breathe */
    tvlm_stream_destroy(&stream);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
