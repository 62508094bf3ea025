/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Log ---- */

static char last_line[1024];

static void keep_line(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    snprintf(last_line, sizeof last_line, "%s", message);
    if (level <= TVLM_LOG_WARNING && getenv("TVLM_TEST_VERBOSE") != NULL)
        fprintf(stderr, "  log: %s\n", message);
}

const tvlm_log test_log = {keep_line, NULL};

const tvlm_device_info *test_device_info(const tvlm_device *device) {
    static tvlm_device_info info;
    assert_int_equal(tvlm_device_get_info(device, &info), TVLM_OK);
    return &info;
}

const char *test_last_log(void) {
    return last_line;
}

/* ---- Targets ---- */

bool test_small(void) {
    const char *small = getenv("TVLM_TEST_SMALL");
    return small != NULL && small[0] != '\0' && strcmp(small, "0") != 0;
}

bool test_quick(void) {
    const char *quick = getenv("TVLM_TEST_QUICK");
    return quick != NULL && quick[0] != '\0' && strcmp(quick, "0") != 0;
}

static int number_in(const char *name) {
    const char *text = getenv(name);
    const int n = text != NULL ? atoi(text) : 0;
    return n > 0 ? n : 0;
}

int test_every(void) {
    const int n = number_in("TVLM_TEST_EVERY");
    return n > 0 ? n : 1;
}

long test_first(long step) {
    return 1 + number_in("TVLM_TEST_TURN") % step;
}

/*
 * Whether ci/test leaves a combination out. It runs float in buffers and half in images: these are each
 * storage and each format once, with half the kernels to compile. Programs that test more than one kernel have
 * one of the two ($TVLM_TEST_PAIR, of tests/CMakeLists.txt), unless the device says that it is a GPU. ci/full
 * runs all.
 */
static bool left_out(tvlm_storage storage, tvlm_format format) {
    const char *const one = getenv("TVLM_TEST_PAIR");
    const bool buffer = storage == TVLM_STORAGE_BUFFER;
    if (!test_quick()) return false;
    if (buffer != (format == TVLM_FORMAT_F32)) return true;
    if (one == NULL || getenv("TVLM_LAYER_GPU") != NULL) return false;
    return buffer != (strcmp(one, "buffer") == 0);
}

/* Whether tests run in this storage: $TVLM_TEST_STORAGE names the only one, and tests/mutants sets it. */
static bool wanted_storage(tvlm_storage storage) {
    const char *only = getenv("TVLM_TEST_STORAGE");
    return only == NULL || only[0] == '\0' || strcmp(only, tvlm_storage_name(storage)) == 0;
}

/* Whether the layer of tests/layer adds this storage, and does what OpenCL says: what its self-test finds wrong
 * then is the library's doing, and not a driver's, for which tests would be skipped. */
static bool of_the_layer(tvlm_storage storage) {
    const char *added = getenv("TVLM_LAYER_MIPMAPS");
    return storage == TVLM_STORAGE_MIPMAPPED && added != NULL && strcmp(added, "1") == 0 &&
           strstr(last_line, "self-test") != NULL;
}

/* Runs `body` in every storage that one device (by index or name) can do, in both formats. Returns how many
 * these were. */
static int run_device(const char *name, test_body *body, tvlm_device *reference) {
    static const tvlm_storage storages[] = {TVLM_STORAGE_IMAGE, TVLM_STORAGE_BUFFER, TVLM_STORAGE_MIPMAPPED};
    static const tvlm_format formats[] = {TVLM_FORMAT_F32, TVLM_FORMAT_F16};
    int count = 0;
    for (size_t s = 0; s < sizeof storages / sizeof storages[0]; ++s) {
        test_target target = {0};
        if (!wanted_storage(storages[s])) continue;
        const tvlm_status status = tvlm_device_open(
            tvlm_device_params(.name = name, .storage = storages[s], .log = &test_log, .untuned = true),
            &target.device);
        if (status == TVLM_ERROR_UNSUPPORTED) {
            if (of_the_layer(storages[s])) fail_msg("the layer's storage: %s", last_line);
            printf("  device %s cannot do storage %s: %s\n", name, tvlm_storage_name(storages[s]), last_line);
            continue;
        }
        if (status != TVLM_OK)
            fail_msg("device %s, storage %s: %s", name, tvlm_storage_name(storages[s]), last_line);
        for (size_t f = 0; f < sizeof formats / sizeof formats[0]; ++f) {
            if (left_out(storages[s], formats[f])) continue;
            ++count;
            target.format = formats[f];
            printf("  on %s, %s, %s\n", test_device_info(target.device)->name, tvlm_storage_name(storages[s]),
                   tvlm_format_name(formats[f]));
            fflush(stdout);
            body(&target, reference);
        }
        tvlm_device_destroy(&target.device);
    }
    return count;
}

/* Whether this device is taken where none is asked for. Simulators (Oclgrind) check every access, and are far
 * too slow for what is not meant for them. */
static bool first_choice(const tvlm_device_info *info) {
    return info->type == TVLM_DEVICE_CPU && strstr(info->name, "Oclgrind") == NULL &&
           strstr(info->platform, "Oclgrind") == NULL;
}

static int run_list(const tvlm_device_info *infos, int32_t count, bool all, test_body *body,
                    tvlm_device *reference) {
    int targets = 0;
    for (int32_t i = 0; i < count; ++i) {
        char name[16];
        if (infos[i].type == TVLM_DEVICE_REFERENCE || !(all || first_choice(&infos[i]))) continue;
        snprintf(name, sizeof name, "%d", (int)i);
        targets += run_device(name, body, reference);
        if (!all) break;
    }
    return targets;
}

static int targets_seen;

int test_targets_seen(void) {
    return targets_seen;
}

tvlm_device *test_default_device(void) {
    tvlm_device *device = NULL;
    const tvlm_status status = tvlm_device_open(tvlm_device_params(.log = &test_log), &device);
    if (status == TVLM_ERROR_NO_DEVICE) skip();
    assert_int_equal(status, TVLM_OK);
    return device;
}

int test_for_each_target(test_body *body) {
    const char *wanted = getenv("TVLM_TEST_DEVICES");
    tvlm_device *reference = NULL;
    int32_t count = 0;
    int targets = 0;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &reference),
                     TVLM_OK);
    assert_int_equal(tvlm_device_list(0, NULL, &count), TVLM_OK);
    if (wanted == NULL || wanted[0] == '\0' || strcmp(wanted, "all") == 0) {
        tvlm_device_info *infos = calloc((size_t)count, sizeof *infos);
        assert_non_null(infos);
        assert_int_equal(tvlm_device_list(count, infos, &count), TVLM_OK);
        targets = run_list(infos, count, wanted != NULL && wanted[0] != '\0', body, reference);
        free(infos);
    } else {
        targets = run_device(wanted, body, reference);
    }
    tvlm_device_destroy(&reference);
    targets_seen += targets;
    return targets;
}

/* ---- Random pictures ---- */

uint64_t test_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

float test_random_unit(uint64_t *state) {
    return (float)(test_random(state) >> 40) * 0x1p-24f;
}

static int32_t random_below(uint64_t *state, int32_t bound) {
    return (int32_t)(test_random(state) % (uint64_t)bound);
}

typedef struct picture {
    uint8_t *bytes;
    int32_t width, height, channels;
} picture;

static void fill_gradient(uint64_t *state, const picture *p) {
    for (int32_t c = 0; c < p->channels; ++c) {
        const float from = test_random_unit(state), across = test_random_unit(state) - 0.5f;
        const float down = test_random_unit(state) - 0.5f;
        for (int32_t y = 0; y < p->height; ++y)
            for (int32_t x = 0; x < p->width; ++x) {
                const float value =
                    from + across * (float)x / (float)p->width + down * (float)y / (float)p->height;
                p->bytes[((size_t)y * (size_t)p->width + (size_t)x) * (size_t)p->channels + (size_t)c] =
                    (uint8_t)(255.0f * fminf(fmaxf(value, 0.0f), 1.0f));
            }
    }
}

/* Draws a rectangle of one colour, or of noise. */
static void draw_rectangle(uint64_t *state, const picture *p, bool noise) {
    const int32_t left = random_below(state, p->width), top = random_below(state, p->height);
    const int32_t right = left + 1 + random_below(state, p->width - left);
    const int32_t bottom = top + 1 + random_below(state, p->height - top);
    uint8_t colour[4];
    for (int c = 0; c < 4; ++c) colour[c] = (uint8_t)test_random(state);
    for (int32_t y = top; y < bottom; ++y)
        for (int32_t x = left; x < right; ++x)
            for (int32_t c = 0; c < p->channels; ++c)
                p->bytes[((size_t)y * (size_t)p->width + (size_t)x) * (size_t)p->channels + (size_t)c] =
                    noise ? (uint8_t)test_random(state) : colour[c];
}

uint8_t *test_random_pixels(uint64_t *state, int32_t width, int32_t height, int32_t channels) {
    const picture p = {malloc((size_t)width * (size_t)height * (size_t)channels), width, height, channels};
    assert_non_null(p.bytes);
    fill_gradient(state, &p);
    for (int i = 0; i < 6; ++i) draw_rectangle(state, &p, i == 2);
    return p.bytes;
}

/* ---- Comparing ---- */

void test_compare(const char *what, const float *got, const float *expected, size_t count, float maximum,
                  float mean) {
    double sum = 0.0, worst = 0.0;
    size_t where = 0;
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(got[i])) fail_msg("%s: [%zu of %zu] is %g", what, i, count, (double)got[i]);
        if (!isfinite(expected[i]))
            fail_msg("%s: expected [%zu of %zu] is %g", what, i, count, (double)expected[i]);
        const double error = fabs((double)got[i] - (double)expected[i]);
        sum += error;
        if (error > worst) worst = error, where = i;
    }
    if (worst > (double)maximum)
        fail_msg("%s: [%zu of %zu] is %.9g, expected %.9g: differs by %g, allowed %g", what, where, count,
                 (double)got[where], (double)expected[where], worst, (double)maximum);
    if (count > 0 && sum / (double)count > (double)mean)
        fail_msg("%s: differs by %g on average, allowed %g", what, sum / (double)count, (double)mean);
}

/* ---- Shared data ---- */

bool test_shared_path(const char *name, char *path, size_t size) {
    const char *shared = getenv("TVLM_SHARED");
    struct stat found;
    const int length = shared != NULL ? snprintf(path, size, "%s/data/%s", shared, name)
                                      : snprintf(path, size, "%s/../shared/data/%s", test_source_dir, name);
    return length > 0 && (size_t)length < size && stat(path, &found) == 0;
}
