/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_threads.c: devices from several threads: opened at the same moment (in child processes, since a driver is
 * only set up once in each), and one device that two threads use at once.
 */
#include "device_helper.h"

#include <pthread.h>
#include <sys/wait.h>

#define OPENERS_ARGUMENT "--open-in-threads"

enum { OPENERS = 4 };

/* ---- Opened at the same moment ---- */

typedef struct opener {
    pthread_barrier_t *together;
    bool opened;
} opener;

static void *open_one(void *argument) {
    opener *o = argument;
    tvlm_device *device = NULL;
    int32_t count = 0;
    pthread_barrier_wait(o->together);
    o->opened = tvlm_device_open(NULL, &device) == TVLM_OK && tvlm_device_list(0, NULL, &count) == TVLM_OK;
    tvlm_device_destroy(&device);
    return NULL;
}

/* In the child: 0, or how many could not be opened. */
static int open_in_threads(void) {
    pthread_barrier_t together;
    pthread_t threads[OPENERS];
    opener openers[OPENERS];
    int failed = 0;
    pthread_barrier_init(&together, NULL, OPENERS);
    for (int i = 0; i < OPENERS; ++i) {
        openers[i] = (opener){&together, false};
        if (pthread_create(&threads[i], NULL, open_one, &openers[i]) != 0) return 99;
    }
    for (int i = 0; i < OPENERS; ++i) {
        pthread_join(threads[i], NULL);
        failed += !openers[i].opened;
    }
    pthread_barrier_destroy(&together);
    return failed;
}

/* PoCL alone: other drivers beside it take so long to be set up that its threads hardly ever meet. */
static void test_open_together(void **state) {
    (void)state;
    static const char pocl[] = "/etc/OpenCL/vendors/pocl.icd";
    int32_t count = 0;
    assert_int_equal(tvlm_device_list(0, NULL, &count), TVLM_OK);
    if (count < 2) skip();
    for (int run = 0; run < 6; ++run) {
        int status = 0;
        fflush(stdout);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            if (access(pocl, R_OK) == 0) setenv("OCL_ICD_VENDORS", pocl, 1);
            unsetenv("TVLM_DEVICE");
            execl("/proc/self/exe", "test_threads", OPENERS_ARGUMENT, (char *)NULL);
            _exit(98);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status)) fail_msg("run %d was ended by signal %d", run, WTERMSIG(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* ---- Two threads in one device ---- */

/*
 * One thread is held inside a call by the log, into which that call writes: meanwhile another thread tries to
 * work with the device.
 */
typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t holder;
    tvlm_stack *stack; /* the other thread's */
    tvlm_session *session;
    tvlm_clip *clip;
    bool armed, inside, tried, nested;
    tvlm_status status;
    char line[1024];
    int refusals;
    int told; /* how many told something while the device was another thread's */
} meeting;

static void write_line(void *user, tvlm_log_level level, const char *message) {
    meeting *m = user;
    if (level != TVLM_LOG_ERROR) return;
    pthread_mutex_lock(&m->mutex);
    if (m->armed && !m->inside && pthread_equal(pthread_self(), m->holder)) {
        /* The thread that has the device may call into it again. */
        m->inside = true;
        m->nested = tvlm_stack_set_fixation(m->stack, 0.5f, 0.5f) == TVLM_OK;
        pthread_cond_broadcast(&m->changed);
        while (!m->tried) pthread_cond_wait(&m->changed, &m->mutex);
    } else {
        ++m->refusals;
        snprintf(m->line, sizeof m->line, "%s", message);
    }
    pthread_mutex_unlock(&m->mutex);
}

static void *intrude(void *argument) {
    meeting *m = argument;
    pthread_mutex_lock(&m->mutex);
    while (!m->inside) pthread_cond_wait(&m->changed, &m->mutex);
    pthread_mutex_unlock(&m->mutex);
    tvlm_stack_info stack;
    tvlm_session_info session;
    tvlm_clip_info clip;
    const tvlm_status status = tvlm_stack_make_all(m->stack);
    m->told = (tvlm_stack_get_info(m->stack, &stack) == TVLM_OK) +
              (tvlm_session_get_info(m->session, &session) == TVLM_OK) +
              (tvlm_clip_get_info(m->clip, &clip) == TVLM_OK);
    pthread_mutex_lock(&m->mutex);
    m->status = status;
    m->tried = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->mutex);
    tvlm_stack_destroy(&m->stack); /* waits, if it must */
    return NULL;
}

static void two_in_one(const char *name) {
    meeting m = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                 .changed = PTHREAD_COND_INITIALIZER,
                 .holder = pthread_self(),
                 .status = TVLM_OK};
    const tvlm_log log = {write_line, &m};
    tvlm_device *device = NULL;
    tvlm_stack *mine = NULL;
    pthread_t other;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = name, .log = &log), &device), TVLM_OK);
    const struct tvlm_stack_params params = {.layout = "visual12", .width = 32, .height = 32};
    uint64_t seed = 12;
    uint8_t *pixels = test_random_pixels(&seed, 32, 32, 3);
    const tvlm_image image = {.pixels = pixels, .width = 32, .height = 32, .channels = 3};
    assert_int_equal(tvlm_stack_create_for_image(device, &image, &params, &mine), TVLM_OK);
    assert_int_equal(tvlm_stack_create_for_image(device, &image, &params, &m.stack), TVLM_OK);
    free(pixels);
    assert_int_equal(tvlm_session_create(device, NULL, &m.session), TVLM_OK);
    assert_int_equal(tvlm_clip_create(device, 64, 64, tvlm_clip_params(.share = 0.5f), &m.clip), TVLM_OK);
    assert_int_equal(pthread_create(&other, NULL, intrude, &m), 0);
    m.armed = true;
    assert_int_equal(tvlm_stack_sample(mine, NULL, -1, NULL, 0, NULL), TVLM_ERROR_ARGUMENT);
    pthread_join(other, NULL);
    assert_true(m.inside && m.nested);
    assert_int_equal(m.status, TVLM_ERROR_ARGUMENT);
    assert_int_equal(m.told, 0); /* what they tell of may be freed meanwhile */
    tvlm_session_destroy(&m.session);
    tvlm_clip_destroy(&m.clip);
    assert_true(m.refusals >= 1); /* a second one where the other thread had to wait to free its stack */
    if (strstr(m.line, "another thread is using the device") == NULL) fail_msg("%s", m.line);
    assert_null(m.stack);
    /* One thread after the other is fine, and so is the device. */
    assert_int_equal(tvlm_stack_make_all(mine), TVLM_OK);
    tvlm_stack_destroy(&mine);
    tvlm_device_destroy(&device);
}

static void test_two_in_reference(void **state) {
    (void)state;
    two_in_one("reference");
}

static void device_once(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (first_of_device(target)) two_in_one(name_of(target));
}

static void test_two_in_each_device(void **state) {
    (void)state;
    test_on_targets(device_once);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_in_reference),
        cmocka_unit_test(test_open_together),
        cmocka_unit_test(test_two_in_each_device),
    };
    if (argc == 2 && strcmp(argv[1], OPENERS_ARGUMENT) == 0) return open_in_threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
