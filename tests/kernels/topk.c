/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.c: every method of finding the K largest, on every device, equals the reference (qsort) to the bit.
 */
#include "kernels/family.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"

/* ---- Methods ---- */

typedef struct method {
    const char *name;
    int32_t rank_below, select_from, topk_group, topk_chunk, select_group, select_span, best_alone, largest;
} method;

/*
 * Small chunks make many rounds and large sorts from few scores. Where a method does not apply, as k is too
 * large for chunks or for selecting, scores are sorted, as in use.
 */
static const method methods[] = {
    {"counting", INT_MAX, INT_MAX, 256, 2048, 1, 65536, 0, 10000},
    {"chunks of 2048", 0, INT_MAX, 256, 2048, 1, 65536, 0, 10000},
    {"chunks of 128", 0, INT_MAX, 64, 128, 1, 65536, 0, 10000},
    {"selecting, a work-item a span", 0, 1, 256, 2048, 1, 1000, 0, 10000},
    {"selecting, 256 work-items a span", 0, 1, 256, 2048, 256, 8192, 0, INT_MAX},
    {"selecting, chunks of 128", 0, 1, 64, 128, 32, 777, 0, 10000},
    {"the best of spans", 0, 1, 256, 2048, 1, 65536, 1, INT_MAX},
    {"the best of spans of 100", 0, 1, 64, 128, 1, 100, 1, 10000},
};

static void use(opencl_tuning *tuning, const method *m) {
    tuning->rank_below = m->rank_below;
    tuning->select_from = m->select_from;
    tuning->topk_group = m->topk_group;
    tuning->topk_chunk = m->topk_chunk;
    tuning->select_group = m->select_group;
    tuning->select_span = m->select_span;
    tuning->best_alone = m->best_alone;
}

/* ---- Scores ---- */

typedef enum kind {
    RANDOM,
    TIES,
    EQUAL,
    SPECIAL,
    NEGATIVE,
    RISING,
    FALLING,
    NOT_NUMBERS,
    KINDS,
    OUTLIER = KINDS,
    ZEROS,
    TIERS,
    UNLUCKY,
    ALL_KINDS
} kind;

static float score_of(kind what, int32_t i, uint64_t *random) {
    static const float special[] = {NAN,  INFINITY, -INFINITY, 0.0f,     -0.0f, 1.0f,
                                    1.0f, -1.0f,    3.4e38f,   -3.4e38f, -NAN,  1.17549435e-38f};
    switch (what) {
    case TIES: return (float)(test_random(random) % 8) - 3.0f;
    case EQUAL: return 0.5f;
    case SPECIAL: return special[test_random(random) % (sizeof special / sizeof special[0])];
    case NEGATIVE: return -1.0f - test_random_unit(random);
    case RISING: return (float)i;
    case FALLING: return -(float)i;
    case NOT_NUMBERS: return i % 2 == 0 ? NAN : -NAN;
    case OUTLIER: return i == 20 ? 1e30f : test_random_unit(random);
    /* What a vector of scores must not be skipped for: zeros that differ by their sign, and scores that equal a
     * bound, before the bound's place. Enough others are found without them. */
    case ZEROS: return i < 32 ? -0.0f : 0.0f;
    case TIERS: return i >= 32 && i < 112 && i % 16 == 0 ? 1.0f : 0.5f;
    default: return 2.0f * test_random_unit(random) - 1.0f;
    }
}

/* Infinities stand behind the end. A kernel that reads them as scores puts them first. */
enum { BEHIND = 64 };

static float *make_scores(kind what, int32_t n, uint64_t *random) {
    float *scores = malloc(((size_t)n + BEHIND) * sizeof *scores);
    assert_non_null(scores);
    for (int32_t i = 0; i < n + BEHIND; ++i) scores[i] = i < n ? score_of(what, i, random) : INFINITY;
    return scores;
}

/* ---- Running ---- */

/* Returns the k best as pairs (index, bits). free() them. */
static int32_t *run(tvlm_device *device, const float *scores, int32_t n, int32_t k) {
    const size_t bytes = (size_t)k * 2 * sizeof(int32_t);
    int32_t *pairs = malloc(bytes);
    assert_non_null(pairs);
    tvlm_buffer *in = test_buffer(device, ((size_t)n + BEHIND) * sizeof *scores, scores);
    tvlm_buffer *out = test_buffer(device, bytes, NULL);
    if (device->backend->topk(device, in, n, k, out) != TVLM_OK)
        fail_msg("top %d of %d: %s", (int)k, (int)n, test_last_log());
    test_buffer_take(device, &out, bytes, pairs);
    device->backend->buffer_destroy(device, &in);
    return pairs;
}

static void check(const char *name, const int32_t *got, const int32_t *expected, int32_t n, int32_t k,
                  kind what) {
    for (size_t i = 0; i < (size_t)k; ++i)
        if (got[2 * i] != expected[2 * i] || got[2 * i + 1] != expected[2 * i + 1])
            fail_msg("%s, top %d of %d, kind %d: place %zu is index %d (bits %08x) instead of %d (%08x)",
                     name, (int)k, (int)n, (int)what, i, (int)got[2 * i], (unsigned)got[2 * i + 1],
                     (int)expected[2 * i], (unsigned)expected[2 * i + 1]);
}

static void check_counts(tvlm_device *device, const method *m, const float *scores, const int32_t *expected,
                         int32_t n, kind what) {
    const int32_t all[] = {1, 2, 64, 65, 273, 1024, 1025, n / 2, n / 2 + 1, n - 1, n};
    int32_t last = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        const int32_t k = all[i];
        if (k < 1 || k > n || k == last || (n > 1000 && what != TIES && k != 273) ||
            (n > 20000 && k % 273 != 0))
            continue;
        int32_t *got = run(device, scores, n, k);
        check(m->name, got, expected, n, k, what);
        free(got);
        last = k;
    }
}

static void each_method(tvlm_device *device, const float *scores, const int32_t *expected, int32_t n,
                        kind what) {
    const method usual = {.name = "as tuned", .largest = INT_MAX};
    if (!test_small()) check_counts(device, &usual, scores, expected, n, what);
    if (!test_is_opencl(device)) return;
    opencl_tuning *tuning = &((opencl_device *)device)->tuning;
    const opencl_tuning kept = *tuning;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; ++m) {
        /* On a device that ends loops early, no work-item goes over a list alone. */
        if (n > methods[m].largest || (methods[m].best_alone && ((opencl_device *)device)->short_loops) ||
            (test_small() && methods[m].topk_chunk > 128 && methods[m].rank_below == 0))
            continue;
        use(tuning, &methods[m]);
        check_counts(device, &methods[m], scores, expected, n, what);
        *tuning = kept;
    }
}

static void topk(const test_target *target, tvlm_device *reference) {
    /* 300027 = 1099 * 273. With it only k = 273 and k = n are tried. */
    static const int32_t counts[] = {1, 2, 3, 273, 2048, 2049, 4096, 10000, 300027};
    static const int32_t small_counts[] = {1, 2, 129, 300};
    const int32_t *all = test_small() ? small_counts : counts;
    const size_t count = test_small() ? sizeof small_counts / sizeof *all : sizeof counts / sizeof *all;
    uint64_t random = 9;
    for (size_t i = 0; i < count; ++i)
        for (int what = RANDOM; what < (test_small() ? RISING : KINDS); ++what) {
            const int32_t n = all[i];
            if (n > 3000 && what != RANDOM && what != TIES && what != SPECIAL) continue;
            float *scores = make_scores((kind)what, n, &random);
            int32_t *expected = run(reference, scores, n, n);
            each_method(target->device, scores, expected, n, (kind)what);
            free(expected);
            free(scores);
        }
}

/* ---- Subnormal scores ---- */

static bool has_subnormals(const tvlm_device *device) {
    cl_device_fp_config config = 0;
    if (!test_is_opencl(device)) return true;
    clGetDeviceInfo(((const opencl_device *)device)->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config,
                    NULL);
    return (config & CL_FP_DENORM) != 0;
}

/* Subnormal scores are ordered as what they are, also by devices that do not report such numbers. */
static void subnormal(const test_target *target, tvlm_device *reference) {
    enum { N = 100 };
    float scores[N + BEHIND];
    uint64_t random = 10;
    for (int i = 0; i < N + BEHIND; ++i)
        scores[i] = i < N ? ldexpf(test_random_unit(&random) - 0.5f, -127 - i % 20) : INFINITY;
    if (!has_subnormals(target->device))
        printf("    no subnormal numbers here; ordered by their bits all the same\n");
    int32_t *expected = run(reference, scores, N, N);
    each_method(target->device, scores, expected, N, RANDOM);
    free(expected);
}

/* ---- Bounds by a sample ---- */

/* Lets the best scores stand where a sample of `count` looks (place_of_sample of cl/topk_best.cl), and nowhere else. The bound is then so
 * near to the best that fewer than k scores are before it. */
static void raise_sample(float *scores, int32_t n, int32_t count) {
    const uint32_t step = (uint32_t)(n / count);
    for (uint32_t i = 0; i < (uint32_t)count; ++i)
        scores[i * step + (uint32_t)((uint64_t)(uint32_t)(i * 2654435769u) * step >> 32)] += 2.0f;
}

/* Lists of many short spans, whose samples hold 128 scores, and as it is in use, where samples hold 2048. */
static void sampled(const test_target *target, tvlm_device *reference) {
    static const int32_t counts[] = {300, 2049, 10000, 140000};
    const method *const spans = &methods[sizeof methods / sizeof methods[0] - 1];
    opencl_tuning *const tuning = &((opencl_device *)target->device)->tuning;
    uint64_t random = 11;
    if (!test_is_opencl(target->device) || ((opencl_device *)target->device)->short_loops) return;
    for (int i = 0; i < (test_small() ? 1 : 4); ++i)
        for (int what = RANDOM; what < ALL_KINDS; ++what) {
            const int32_t n = counts[i], ks[] = {63, 64, n > 10000 ? 1000 : 65};
            const opencl_tuning kept = *tuning;
            float *scores = make_scores((kind)what, n, &random);
            if (what == UNLUCKY) raise_sample(scores, n, n > 10000 ? 2048 : 128);
            int32_t *expected = run(reference, scores, n, n);
            if (n <= 10000) use(tuning, spans);
            tuning->best_alone = 1;
            for (int j = 0; j < 3; ++j) {
                int32_t *got = run(target->device, scores, n, ks[j]);
                check("bounded", got, expected, n, ks[j], (kind)what);
                free(got);
            }
            *tuning = kept;
            free(expected);
            free(scores);
        }
}

TEST_FAMILY(topk, {"topk", TEST_BUFFERS, .body = topk}, {"subnormal", TEST_BUFFERS, .body = subnormal},
            {"bounds by a sample", TEST_BUFFERS, .body = sampled})
