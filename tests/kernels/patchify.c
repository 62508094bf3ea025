/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchify.c: frames of bytes are cut into rows of numbers. Every device must equal the reference, to the
 * bit. The reference is tested against the permutation of texturevlm/export.h, read backwards.
 */
#include <string.h>

#include "kernels/family.h"

static const tvlm_patchify layouts[] = {
    /* width, height, frames, patch, temporal, merge, blocks_x, blocks_y, count, listed */
    {28, 28, 1, 14, 2, 2, 1, 1, 1, 0},  {84, 56, 1, 14, 2, 2, 3, 2, 6, 0}, {64, 96, 5, 16, 2, 2, 2, 3, 18, 0},
    {70, 45, 1, 14, 1, 1, 5, 3, 15, 0}, {50, 50, 1, 50, 1, 1, 1, 1, 1, 0}, {30, 20, 3, 5, 3, 1, 6, 4, 24, 0},
    {20, 30, 4, 3, 1, 3, 2, 3, 24, 0},  {9, 7, 2, 1, 2, 2, 4, 3, 12, 0},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static size_t columns_of(const tvlm_patchify *l) {
    return 3 * (size_t)l->temporal * (size_t)(l->patch * l->patch);
}

static size_t rows_of(const tvlm_patchify *l, int32_t tokens) {
    return (size_t)tokens * (size_t)(l->merge * l->merge);
}

static uint8_t *random_frames(const tvlm_patchify *l, uint64_t *random, size_t *bytes) {
    *bytes = (size_t)l->frames * (size_t)(l->width * l->height) * 3;
    uint8_t *pixels = malloc(*bytes);
    assert_non_null(pixels);
    for (size_t i = 0; i < *bytes; ++i) pixels[i] = (uint8_t)test_random(random);
    return pixels;
}

/* Returns the rows of the listed tokens, and behind them those of the first l->count tokens. free() them. */
static float *cut(tvlm_device *device, const tvlm_patchify *l, const uint8_t *pixels, size_t bytes,
                  const float *values, const int32_t *tokens) {
    const size_t listed = rows_of(l, l->listed) * columns_of(l), first = rows_of(l, l->count) * columns_of(l);
    float *result = malloc((listed + first) * sizeof *result);
    assert_non_null(result);
    tvlm_buffer *in = test_buffer(device, bytes, pixels);
    tvlm_buffer *lookup = test_buffer(device, 3 * 256 * sizeof *values, values);
    tvlm_buffer *list = listed > 0 ? test_buffer(device, (size_t)l->listed * sizeof *tokens, tokens) : NULL;
    tvlm_buffer *chosen = listed > 0 ? test_buffer(device, listed * sizeof *result, NULL) : NULL;
    tvlm_buffer *out = first > 0 ? test_buffer(device, first * sizeof *result, NULL) : NULL;
    if (device->backend->patchify(device, in, l, lookup, list, chosen, out) != TVLM_OK)
        fail_msg("%s", test_last_log());
    if (chosen != NULL) test_buffer_take(device, &chosen, listed * sizeof *result, result);
    if (out != NULL) test_buffer_take(device, &out, first * sizeof *result, result + listed);
    device->backend->buffer_destroy(device, &in);
    device->backend->buffer_destroy(device, &lookup);
    if (list != NULL) device->backend->buffer_destroy(device, &list);
    return result;
}

static void fill_values(float values[3 * 256], uint64_t *random) {
    for (int i = 0; i < 3 * 256; ++i) values[i] = 4.0f * test_random_unit(random) - 2.0f;
}

static void same(const char *what, const tvlm_patchify *l, const float *got, const float *expected) {
    const size_t columns = columns_of(l), count = rows_of(l, l->listed + l->count) * columns;
    for (size_t i = 0; i < count; ++i)
        if (memcmp(&got[i], &expected[i], sizeof *got) != 0)
            fail_msg("%s, patches of %d: row %zu, column %zu is %g instead of %g", what, (int)l->patch,
                     i / columns, i % columns, (double)got[i], (double)expected[i]);
}

static void every_layout(const test_target *target, tvlm_device *reference) {
    float values[3 * 256];
    uint64_t random = 71;
    fill_values(values, &random);
    for (int i = 0; i < LAYOUTS; ++i) {
        tvlm_patchify l = layouts[i];
        size_t bytes;
        uint8_t *pixels = random_frames(&l, &random, &bytes);
        int32_t tokens[24]; /* any tokens, in any order, some twice */
        const int32_t all = l.count, half = (all + 1) / 2;
        for (int32_t t = 0; t < half; ++t) tokens[t] = (int32_t)(test_random(&random) % (uint64_t)all);
        for (int which = 0; which < 3; ++which) {
            static const char *const names[3] = {"all", "listed", "listed and all"};
            l.count = which == 1 ? 0 : all;
            l.listed = which == 0 ? 0 : half;
            float *got = cut(target->device, &l, pixels, bytes, values, tokens);
            float *expected = cut(reference, &l, pixels, bytes, values, tokens);
            same(names[which], &l, got, expected);
            free(got);
            free(expected);
        }
        free(pixels);
    }
}

/*
 * Goes from a pixel to the place where its number must be, which is the other way round than in the
 * reference. A frame beyond the last one has the pixels of the last. Rows and columns that do not fill a
 * token are left out.
 */
static void check_pixel(const tvlm_patchify *l, const float *rows, int32_t frame, int32_t y, int32_t x,
                        int32_t c, float expected) {
    const int32_t side = l->patch * l->merge, t = frame / l->temporal, tt = frame % l->temporal;
    if (x >= side * l->blocks_x || y >= side * l->blocks_y) return;
    const int32_t token = (t * l->blocks_y + y / side) * l->blocks_x + x / side;
    const int32_t my = y % side / l->patch, mx = x % side / l->patch;
    const int32_t row = token * l->merge * l->merge + my * l->merge + mx;
    const int32_t column = ((c * l->temporal + tt) * l->patch + y % l->patch) * l->patch + x % l->patch;
    const float got = rows[(size_t)row * columns_of(l) + (size_t)column];
    if (got != expected)
        fail_msg("frame %d, pixel (%d, %d), channel %d: %g instead of %g", (int)frame, (int)x, (int)y, (int)c,
                 (double)got, (double)expected);
}

static void permutation(tvlm_device *device) {
    float values[3 * 256];
    uint64_t random = 72;
    fill_values(values, &random);
    for (int i = 0; i < LAYOUTS; ++i) {
        const tvlm_patchify *l = &layouts[i];
        const int32_t moments = (l->frames - 1) / l->temporal + 1;
        size_t bytes;
        uint8_t *pixels = random_frames(l, &random, &bytes);
        float *rows = cut(device, l, pixels, bytes, values, NULL);
        for (int32_t frame = 0; frame < moments * l->temporal; ++frame)
            for (int32_t at = 0; at < l->width * l->height * 3; ++at) {
                const int32_t known = frame < l->frames ? frame : l->frames - 1, c = at % 3;
                const uint8_t byte = pixels[(size_t)known * (size_t)(l->width * l->height * 3) + (size_t)at];
                check_pixel(l, rows, frame, at / 3 / l->width, at / 3 % l->width, c, values[c * 256 + byte]);
            }
        free(rows);
        free(pixels);
    }
}

TEST_FAMILY(patchify, {"permutation", .known = permutation},
            {"every layout", TEST_TUNED | TEST_BUFFERS, .body = every_layout})
