/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_allocations.c [JOB]: a job (or each of the four), with the n-th allocation failing, for every n there is:
 * each time an error that says memory and a line in the log (or, where it can do without, the same result),
 * nothing left behind, and what survived still works.
 *
 * A job is walked from its start again for every n, so that four short ones cost a quarter of one long one, and
 * ctest runs them beside each other. Linked with -Wl,--wrap for the functions below (CMakeLists.txt).
 */
#include "core/try.h"
#include "support_stage.h"

#include <stdio.h>
#include <string.h>

#include <CL/cl.h>

/* ---- The allocators ---- */

static int left = -1; /* allocations until the one that fails; < 0: none does */
static bool failed;
static long host_live, device_live;

static bool fails(void) {
    if (left < 0 || left-- > 0) return false;
    failed = true;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *old);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *old);

static void *counted(void *made) {
    host_live += made != NULL;
    return made;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size) {
    if (fails()) return NULL;
    return old == NULL ? counted(__real_realloc(NULL, size)) : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text) {
    return fails() ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *old) {
    host_live -= old != NULL;
    __real_free(old);
}

static cl_mem refused(cl_int *error) {
    if (error != NULL) *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static cl_mem counted_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                     cl_int *error) {
    if (fails()) return refused(error);
    const cl_mem made = clCreateBuffer(context, flags, size, host, error);
    device_live += made != NULL;
    return made;
}

static cl_mem counted_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                    const cl_image_desc *desc, void *host, cl_int *error) {
    if (fails()) return refused(error);
    const cl_mem made = clCreateImage(context, flags, format, desc, host, error);
    device_live += made != NULL;
    return made;
}

static cl_int counted_clReleaseMemObject(cl_mem memory) {
    --device_live;
    return clReleaseMemObject(memory);
}

typedef void any_function(void);

/* Where the library looks for OpenCL's functions, it finds the ones above. */
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name) {
    void *symbol = __real_dlsym(library, name);
    any_function *own = NULL;
    if (strcmp(name, "clCreateBuffer") == 0) own = (any_function *)counted_clCreateBuffer;
    if (strcmp(name, "clCreateImage") == 0) own = (any_function *)counted_clCreateImage;
    if (strcmp(name, "clReleaseMemObject") == 0) own = (any_function *)counted_clReleaseMemObject;
    if (own != NULL) memcpy(&symbol, &own, sizeof symbol);
    return symbol;
}

/* ---- The log ---- */

static int errors;
static char last_error[1024];

static void count_errors(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    if (level != TVLM_LOG_ERROR) return;
    ++errors;
    snprintf(last_error, sizeof last_error, "%s", message);
}

/* ---- The job ---- */

enum { WIDTH = 37, HEIGHT = 23, STACK_WIDTH = 33, STACK_HEIGHT = 21, K = 3, CHANNELS = 5 };
enum { FRAMES = 3, STREAM_WIDTH = 32, STREAM_HEIGHT = 20 };
enum { TOKENS = 6, ROW = 4 * 1176, SQUARES = 8 }; /* of the export: 84 x 56 pixels */

static uint8_t pixels[WIDTH * HEIGHT * 3];

typedef struct objects {
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_selection *selection;
    tvlm_packed *packed;
    tvlm_export *export;
    tvlm_session *session;
} objects;

typedef struct results {
    tvlm_position positions[K];
    float texels[STACK_WIDTH * STACK_HEIGHT], samples[2 * 2], packed[9 * 7 * CHANNELS], best[2];
    int32_t indices[2];
    float scores[TOKENS], values[TOKENS * ROW], chosen[2 * ROW];
    int64_t tokens[2];
    tvlm_position squares[SQUARES];
    float patches[SQUARES * 4 * 4];
    tvlm_position found[2][K];
    tvlm_position seen[FRAMES][K];
    float past;
} results;

/* An export of two of its tokens, asked of features. */
static tvlm_status process(objects *o, results *r) {
    static const float features[6] = {1, 0, 0, 1, 1, 1}, vector[2] = {1, 0};
    static const struct tvlm_grid_input grid = {.data = features, .columns = 3, .rows = 1, .channels = 2};
    static const struct tvlm_query query = {.vectors = vector, .dimension = 2};
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    if (o->export == NULL)
        TVLM_TRY(tvlm_export_create(o->device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = 2),
                                    &o->export));
    TVLM_TRY(tvlm_export_run(o->export, &image, 1, &grid, &query));
    TVLM_TRY(tvlm_export_read(o->export, 0, sizeof r->values, r->values));
    TVLM_TRY(tvlm_export_read(o->export, 2, sizeof r->tokens, r->tokens));
    TVLM_TRY(tvlm_export_read(o->export, 3, sizeof r->chosen, r->chosen));
    return tvlm_export_read(o->export, 7, sizeof r->scores, r->scores);
}

/* Squares that cover the image, and a patch of each. */
static tvlm_status cut(objects *o, results *r, tvlm_strategy strategy) {
    static const int32_t channel[1] = {TVLM_CHANNEL_R};
    const struct tvlm_patches_params patches = {.side = 4, .channels = channel, .channel_count = 1};
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    TVLM_TRY(tvlm_select(
        o->stack, NULL,
        tvlm_select_params(.k = SQUARES, .strategy = strategy, .score.stride = 4.0f, .patch = 4.0f),
        &selection));
    const tvlm_position *positions = tvlm_selection_positions(selection, &count);
    assert_in_range(count, 1, SQUARES);
    memset(r->squares, 0, sizeof r->squares);
    memcpy(r->squares, positions, (size_t)count * sizeof *positions);
    const tvlm_status status =
        tvlm_patches_extract(o->stack, positions, count, &patches, sizeof r->patches, r->patches);
    tvlm_selection_destroy(&selection);
    return status;
}

/* A cascade for two queries in a stack of a session: one it has or makes. */
static tvlm_status search(objects *o, int which, tvlm_position *found) {
    static const float features[12] = {1, 0, 0, 1, 1, 1, 0, 2, 3, 1, 0, 0}, vectors[4] = {1, 0, 0.5f, 1};
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT - which, .channels = 3};
    tvlm_stack *stack;
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    TVLM_TRY(tvlm_session_stack(o->session, &image, tvlm_stack_params(.layout = "edges", .clusters = 4), NULL,
                                0, &stack, NULL));
    TVLM_TRY(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                 tvlm_grid_input(.data = features, .columns = 3, .rows = 2, .channels = 2)));
    TVLM_TRY(tvlm_select(stack, tvlm_query(.vectors = vectors, .count = 2, .dimension = 2),
                         tvlm_select_params(.k = K, .score.stride = 4.0f, .strategy = TVLM_STRATEGY_CASCADE),
                         &selection));
    const tvlm_position *positions = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, K);
    memcpy(found, positions, K * sizeof *positions);
    tvlm_selection_destroy(&selection);
    return TVLM_OK;
}

/* Two images in turn; without a session, or with the one that a failure has left. */
static tvlm_status remember(objects *o, results *r) {
    if (o->session == NULL) TVLM_TRY(tvlm_session_create(o->device, NULL, &o->session));
    for (int i = 0; i < 2; ++i) TVLM_TRY(search(o, i, r->found[i]));
    return TVLM_OK;
}

/* Frames of a stream with features, regions and a volume: pushed, or sent ahead. */
static tvlm_status watch_frame(tvlm_stream *stream, int frame, results *r) {
    static const float features[12] = {1, 0, 0, 1, 1, 1, 0, 2, 3, 1, 0, 0};
    static const uint8_t mask[6] = {1, 0, 0, 0, 1, 1};
    const tvlm_image image = {.pixels = pixels + 3 * (FRAMES - frame),
                              .width = STREAM_WIDTH,
                              .height = STREAM_HEIGHT,
                              .channels = 3,
                              .type = TVLM_PIXEL_U8};
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    if (frame == 1) TVLM_TRY(tvlm_stream_send(stream, 0, &image));
    TVLM_TRY(tvlm_stream_push(stream, 0, frame == 1 ? NULL : &image, NULL, NULL));
    if (frame != 1)
        TVLM_TRY(tvlm_stream_set_features(
            stream, 0, TVLM_CHANNEL_FEATURE_0,
            tvlm_grid_input(.data = features, .columns = 3, .rows = 2, .channels = 2),
            frame > 0 ? mask : NULL));
    TVLM_TRY(tvlm_stream_select(
        stream, 0, NULL, tvlm_select_params(.k = K, .score.stride = 4.0f, .patch = 4.0f, .overview = 0.4f),
        &selection));
    const tvlm_position *positions = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, K);
    memcpy(r->seen[frame], positions, K * sizeof *positions);
    tvlm_selection_destroy(&selection);
    return TVLM_OK;
}

static tvlm_status watch(objects *o, results *r) {
    static const tvlm_volume_point point = {10.0f, 7.0f, 0.5f};
    const struct tvlm_stream_params params = {.layout = "edges,cluster_id,motion",
                                              .clusters = 4,
                                              .volume = "edges",
                                              .volume_frames = 2,
                                              .look_back = true};
    tvlm_stream *stream = NULL;
    TVLM_TRY(tvlm_stream_create(o->device, STREAM_WIDTH, STREAM_HEIGHT, &params, &stream));
    tvlm_status status = TVLM_OK;
    for (int frame = 0; status == TVLM_OK && frame < FRAMES; ++frame) status = watch_frame(stream, frame, r);
    if (status == TVLM_OK) status = tvlm_stream_volume_sample(stream, 0, &point, 1, &r->past);
    tvlm_stream_destroy(&stream);
    return status;
}

/* The strategies that ask a stack, and all that is read from one. */
static tvlm_status ask(objects *o, results *r) {
    static const float similarity[6] = {0.1f, -0.3f, 0.9f, 0.2f, 0.5f, -1.0f}, scores[5] = {1, 5, 2, 4, 3};
    static const tvlm_sample_point points[2] = {{3.5f, 4.5f, 0.5f, 0}, {20.0f, 11.0f, 2.0f, 0}};
    const int32_t channels[2] = {tvlm_channel_find("low"), tvlm_channel_find("entropy")};
    int32_t count = 0;
    tvlm_selection_destroy(&o->selection);
    tvlm_packed_destroy(&o->packed);
    TVLM_TRY(tvlm_select(o->stack, tvlm_query(.similarity = similarity, .columns = 3, .rows = 2),
                         tvlm_select_params(.k = K, .score.stride = 4.0f, .min_distance = 5.0f),
                         &o->selection));
    const tvlm_position *positions = tvlm_selection_positions(o->selection, &count);
    assert_int_equal(count, K);
    memcpy(r->positions, positions, sizeof r->positions);
    TVLM_TRY(
        tvlm_stack_read(o->stack, 0, tvlm_channel_find("edges"), 0, STACK_WIDTH * STACK_HEIGHT, r->texels));
    TVLM_TRY(tvlm_stack_sample(o->stack, points, 2, channels, 2, r->samples));
    TVLM_TRY(tvlm_stack_pack(o->stack, tvlm_pack_params(.width = 9, .height = 7), &o->packed));
    TVLM_TRY(tvlm_packed_read(o->packed, 0, 9 * 7 * CHANNELS, r->packed));
    TVLM_TRY(cut(o, r, TVLM_STRATEGY_QUADTREE));
    TVLM_TRY(cut(o, r, TVLM_STRATEGY_FOVEATED));
    return tvlm_topk(o->device, scores, 5, 2, r->indices, r->best);
}

static tvlm_status choose(objects *o, results *r) {
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    if (o->stack == NULL)
        TVLM_TRY(tvlm_stack_create_for_image(o->device, &image,
                                             tvlm_stack_params(.layout = "edges,low,saliency,entropy,x",
                                                               .width = STACK_WIDTH, .height = STACK_HEIGHT),
                                             &o->stack));
    return ask(o, r);
}

/* In the first job the allocations of opening a device fail too; the others are given one. */
static const struct job {
    const char *name;
    tvlm_status (*run)(objects *o, results *r);
    bool opens;
} jobs[] = {{"select", choose, true},
            {"export", process, false},
            {"session", remember, false},
            {"stream", watch, false}};

static const char *wanted_job; /* NULL: all */

static tvlm_status open_device(const char *name, objects *o) {
    static const tvlm_log log = {count_errors, NULL};
    return tvlm_device_open(tvlm_device_params(.name = name, .log = &log), &o->device);
}

/* From what there is already: nothing, a device, or a device and what the job keeps. */
static tvlm_status work(const struct job *job, const char *name, objects *o, results *r) {
    memset(r, 0, sizeof *r);
    if (o->device == NULL) TVLM_TRY(open_device(name, o));
    return job->run(o, r);
}

static void destroy(objects *o) {
    tvlm_packed_destroy(&o->packed);
    tvlm_selection_destroy(&o->selection);
    tvlm_export_destroy(&o->export);
    tvlm_session_destroy(&o->session);
    tvlm_stack_destroy(&o->stack);
    tvlm_device_destroy(&o->device);
}

/* ---- Failing ---- */

static void check_failure(int n, tvlm_status status) {
    if (status != TVLM_ERROR_MEMORY && status != TVLM_ERROR_DEVICE_MEMORY)
        fail_msg("allocation %d failed: status %d (%s)", n, (int)status, last_error);
    if (errors == 0) fail_msg("allocation %d failed: status %d and no line", n, (int)status);
}

static void check_results(int n, const char *when, const results *got, const results *expected) {
    if (memcmp(got, expected, sizeof *got) != 0) fail_msg("allocation %d failed: other results %s", n, when);
}

/* Returns false when there are fewer than n allocations. */
static bool fail_the(int n, const struct job *job, const char *name, const results *expected) {
    const long host_before = host_live, device_before = device_live;
    objects o = {0};
    results got;
    if (!job->opens && open_device(name, &o) != TVLM_OK) fail_msg("%s", last_error);
    errors = 0;
    failed = false;
    left = n - 1;
    const tvlm_status status = work(job, name, &o, &got);
    left = -1;
    if (status != TVLM_OK)
        check_failure(n, status);
    else
        check_results(n, "all the same", &got, expected);
    const tvlm_status again = work(job, name, &o, &got); /* with what is there */
    if (again != TVLM_OK) fail_msg("allocation %d failed, and then status %d: %s", n, (int)again, last_error);
    check_results(n, "when asked again", &got, expected);
    destroy(&o);
    if (host_live != host_before)
        fail_msg("allocation %d failed: %ld left behind", n, host_live - host_before);
    if (device_live != device_before)
        fail_msg("allocation %d failed: %ld of the device's left behind", n, device_live - device_before);
    return failed;
}

static void every_allocation(const struct job *job, const char *name) {
    objects o = {0};
    results expected;
    if (work(job, name, &o, &expected) != TVLM_OK) fail_msg("%s", last_error);
    destroy(&o);
    int n = 1;
    while (fail_the(n, job, name, &expected)) n += test_small() ? 29 : test_quick() ? 19 : 1;
    printf("    %s: %d allocations\n", job->name, n - 1);
    fflush(stdout);
    assert_true(n > 20);
}

static void every_job(const char *name) {
    int count = 0;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; ++i) {
        if (wanted_job != NULL && strcmp(jobs[i].name, wanted_job) != 0) continue;
        every_allocation(&jobs[i], name);
        ++count;
    }
    if (count == 0) fail_msg("there is no job %s", wanted_job);
}

static void device_once(const test_target *target, tvlm_device *reference) {
    static int32_t last = -1;
    char name[16];
    (void)reference;
    if (!test_is_opencl(target->device) || target->device->info.index == last) return;
    last = target->device->info.index;
    snprintf(name, sizeof name, "%d", (int)last);
    every_job(name);
}

static int make_pixels(void **state) {
    uint64_t random = 11;
    uint8_t *made = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    (void)state;
    memcpy(pixels, made, sizeof pixels);
    free(made);
    return 0;
}

static void test_reference(void **state) {
    (void)state;
    every_job("reference");
}

static void test_opencl(void **state) {
    (void)state;
    test_on_targets(device_once);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_opencl)};
    if (argc > 1) wanted_job = argv[1];
    return cmocka_run_group_tests(tests, make_pixels, NULL);
}
