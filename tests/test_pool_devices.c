/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pool_devices.c: a pool of two PoCL devices, as $POCL_DEVICES makes them of one CPU, and of two parts of one
 * device: selections, streams and exports, to the bit those of one device; one that vanishes in the middle of
 * its work (layer/layer.h); and the times of uploads beside those of kernels.
 */
#include "layer_helper.h"
#include "pool_helper.h"
#include "texturevlm/opencl.h"

static const layer_control *layer;

static tvlm_pool *pool_of(const char *devices, bool fallback) {
    tvlm_pool *pool = NULL;
    if (tvlm_pool_create(tvlm_pool_params(.devices = devices,
                                          .open = tvlm_device_params(.log = &noting, .fallback = fallback)),
                         &pool) != TVLM_OK)
        fail_msg("%s", said.last);
    return pool;
}

/* How many of the pool's devices are lost, and how many jobs all have run. */
static int32_t count_lost(tvlm_pool *pool, int64_t *jobs) {
    int32_t lost = 0;
    *jobs = 0;
    for (int32_t i = 0; i < tvlm_pool_device_count(pool); ++i) {
        tvlm_pool_device_info info;
        assert_int_equal(tvlm_pool_get_device_info(pool, i, &info), TVLM_OK);
        lost += info.lost;
        *jobs += info.jobs;
    }
    return lost;
}

static void select_with(tvlm_pool *pool, tvlm_selection *got[PICTURES]) {
    if (tvlm_pool_select(pool, pictures, PICTURES, &small_stack, &few_places, got, NULL) != TVLM_OK)
        fail_msg("%s", said.last);
}

/* ---- Two devices ---- */

static void test_all(void **state) {
    (void)state;
    tvlm_selection *expected[PICTURES] = {NULL}, *got[PICTURES] = {NULL};
    int64_t jobs;
    tvlm_pool *pool = pool_of("all", false);
    assert_int_equal(tvlm_pool_device_count(pool), 2);
    select_alone("0", &few_places, expected);
    select_with(pool, got);
    check_same_places(got, expected);
    assert_int_equal(count_lost(pool, &jobs), 0);
    assert_int_equal(jobs, PICTURES);
    tvlm_pool_destroy(&pool);
    destroy_selections(got);
    destroy_selections(expected);
}

/* ---- A device that vanishes ---- */

/* From its first use to its last: whenever a device goes, the other one answers for it, once. */
static void test_lost(void **state) {
    (void)state;
    tvlm_selection *expected[PICTURES] = {NULL}, *got[PICTURES] = {NULL};
    int64_t jobs;
    tvlm_pool *pool = pool_of("all", false);
    (void)layer->let_fail(0, 0);
    select_with(pool, expected);
    const long calls = layer->let_fail(0, 0);
    tvlm_pool_destroy(&pool);
    const long held = layer->held();
    for (long n = 1; n < calls; n += calls / (test_quick() || test_small() ? 4 : 12)) {
        pool = pool_of("all", false);
        nothing_said();
        (void)layer->let_fail(n, 1);
        select_with(pool, got);
        check_same_places(got, expected);
        const int32_t lost = count_lost(pool, &jobs);
        if (said.errors != 0 || said.warnings != lost || lost > 1)
            fail_msg("call %ld: %d errors, %d warnings, %d lost: %s", n, said.errors, said.warnings,
                     (int)lost, said.last);
        if (lost == 1) assert_non_null(strstr(said.last, "go to the 1 other device"));
        assert_int_equal(jobs, PICTURES);
        tvlm_pool_destroy(&pool);
        (void)layer->let_fail(0, 0);
        destroy_selections(got);
        if (layer->held() != held) fail_msg("call %ld: %ld handles are left", n, layer->held() - held);
    }
    destroy_selections(expected);
}

/* The only device of the pool: its work ends; or another one of the machine takes its place. */
static void test_only_one(void **state) {
    (void)state;
    tvlm_selection *expected[PICTURES] = {NULL}, *got[PICTURES] = {NULL}, *others[PICTURES] = {NULL};
    tvlm_status statuses[PICTURES];
    tvlm_pool_device_info info;
    select_alone("0", &few_places, expected);
    tvlm_pool *pool = pool_of("0", false);
    (void)layer->let_fail(900, 1);
    assert_int_equal(tvlm_pool_select(pool, pictures, PICTURES, &small_stack, &few_places, got, statuses),
                     TVLM_OK);
    int done = 0;
    for (int i = 0; i < PICTURES; ++i) {
        assert_int_equal(statuses[i], i <= done && got[i] != NULL ? TVLM_OK : TVLM_ERROR_LOST);
        done += got[i] != NULL;
    }
    assert_in_range(done, 1, PICTURES - 1);
    assert_int_equal(tvlm_pool_select(pool, pictures, PICTURES, &small_stack, &few_places, others, NULL),
                     TVLM_ERROR_LOST);
    for (int i = 0; i < PICTURES; ++i) assert_null(others[i]);
    tvlm_pool_destroy(&pool);
    (void)layer->let_fail(0, 0);
    destroy_selections(got);

    pool = pool_of("0", true);
    nothing_said();
    (void)layer->let_fail(900, 1);
    select_with(pool, got);
    check_same_places(got, expected);
    assert_int_equal(tvlm_pool_get_device_info(pool, 0, &info), TVLM_OK);
    assert_true(!info.lost && info.device.index == 1);
    assert_true(said.errors == 0 && said.warnings == 1); /* that of the device that takes the place */
    tvlm_pool_destroy(&pool);
    (void)layer->let_fail(0, 0);
    destroy_selections(got);
    destroy_selections(expected);
}

/* An image for which there is no memory once has all of the device then. */
static void test_memory(void **state) {
    (void)state;
    tvlm_selection *expected[PICTURES] = {NULL}, *got[PICTURES] = {NULL};
    tvlm_pool *pool = pool_of("0", false);
    select_with(pool, expected);
    for (long n = 1; n < 40; n += 6) {
        nothing_said();
        layer->let_fail_only(n, 0, "clCreateBuffer,clCreateImage", CL_MEM_OBJECT_ALLOCATION_FAILURE);
        select_with(pool, got);
        assert_int_equal(layer->failed(), 1);
        (void)layer->let_fail(0, 0);
        assert_int_equal(said.errors, 0);
        check_same_places(got, expected);
        destroy_selections(got);
    }
    tvlm_pool_destroy(&pool);
    destroy_selections(expected);
}

/* One of "all" that does not open is left out, with a warning. */
static void test_one_does_not_open(void **state) {
    (void)state;
    tvlm_pool *pool = NULL;
    nothing_said();
    (void)layer->let_fail_only(1, 0, "clCreateContext", CL_OUT_OF_RESOURCES);
    pool = pool_of("all", false);
    (void)layer->let_fail(0, 0);
    assert_int_equal(tvlm_pool_device_count(pool), 1);
    assert_true(said.errors == 0 && said.warnings == 1);
    assert_non_null(strstr(said.last, "the pool goes without"));
    tvlm_pool_destroy(&pool);
    /* One that is named has to. */
    (void)layer->let_fail_only(1, 0, "clCreateContext", CL_OUT_OF_RESOURCES);
    const tvlm_status status = tvlm_pool_create(
        tvlm_pool_params(.devices = "0,1", .open = tvlm_device_params(.log = &noting)), &pool);
    (void)layer->let_fail(0, 0);
    assert_true(status != TVLM_OK && pool == NULL && said.errors == 1);
}

/* ---- Streams and exports ---- */

typedef struct piece {
    int number;
    tvlm_position seen[4];
    float values[2 * 4 * 1176];
} piece;

static tvlm_status watch(tvlm_device *device, piece *p) {
    tvlm_stream *stream = NULL;
    int32_t count = 0;
    tvlm_status status =
        tvlm_stream_create(device, 96, 64, tvlm_stream_params(.layout = "edges,motion"), &stream);
    for (int frame = 0; status == TVLM_OK && frame < 3; ++frame) {
        tvlm_selection *selection = NULL;
        status = tvlm_stream_push(stream, 0, &pictures[(p->number + frame) % 6], NULL, NULL);
        if (status == TVLM_OK)
            status = tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.k = 4), &selection);
        if (status == TVLM_OK) memcpy(p->seen, tvlm_selection_positions(selection, &count), sizeof p->seen);
        tvlm_selection_destroy(&selection);
    }
    tvlm_stream_destroy(&stream);
    return status;
}

static tvlm_status process(tvlm_device *device, piece *p) {
    tvlm_export *export = NULL;
    tvlm_status status =
        tvlm_export_create(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = 2), &export);
    if (status == TVLM_OK) status = tvlm_export_run(export, &pictures[p->number % 6], 1, NULL, NULL);
    if (status == TVLM_OK) status = tvlm_export_read(export, 3, sizeof p->values, p->values);
    tvlm_export_destroy(&export);
    return status;
}

static tvlm_status run(void *user, const tvlm_pool_place *place) {
    piece *const p = user;
    return p->number % 2 == 0 ? watch(place->device, p) : process(place->device, p);
}

static void test_pieces(void **state) {
    (void)state;
    enum { PIECES = 8 };
    static piece expected[PIECES], got[PIECES];
    int64_t jobs;
    memset(expected, 0, sizeof expected);
    memset(got, 0, sizeof got);
    tvlm_device *device = NULL;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "0", .log = &noting), &device), TVLM_OK);
    for (int i = 0; i < PIECES; ++i) {
        expected[i].number = got[i].number = i;
        if (run(&expected[i], &(tvlm_pool_place){.device = device}) != TVLM_OK) fail_msg("%s", said.last);
    }
    tvlm_device_destroy(&device);
    for (int lose = 0; lose < 2; ++lose) {
        tvlm_pool *pool = pool_of("0,1", false);
        (void)layer->let_fail(lose ? 2000 : 0, lose);
        for (int i = 0; i < PIECES; ++i) {
            memset(got[i].seen, 0, sizeof got[i].seen);
            assert_int_equal(tvlm_pool_submit(pool, tvlm_job(.run = run, .user = &got[i])), TVLM_OK);
        }
        if (tvlm_pool_finish(pool) != TVLM_OK) fail_msg("%s", said.last);
        for (int i = 0; i < PIECES; ++i)
            if (memcmp(&got[i], &expected[i], sizeof got[i]) != 0) fail_msg("piece %d differs", i);
        assert_int_equal(count_lost(pool, &jobs), lose);
        assert_int_equal(jobs, PIECES);
        tvlm_pool_destroy(&pool);
        (void)layer->let_fail(0, 0);
    }
}

/* ---- Parts of one device ---- */

typedef struct part {
    cl_context context;
    cl_command_queue queue;
    tvlm_device *device;
} part;

/* With buffers also where PoCL poses as a GPU: it aborts where an image of a part is filled (doc/drivers.md). */
static void open_part(cl_device_id id, part *p) {
    const struct tvlm_device_params *params =
        tvlm_device_params(.storage = TVLM_STORAGE_BUFFER, .log = &noting);
    cl_int error;
    p->context = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    p->queue = clCreateCommandQueueWithProperties(p->context, id, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    if (tvlm_device_open_opencl(p->context, id, p->queue, params, &p->device) != TVLM_OK)
        fail_msg("%s", said.last);
}

static void close_part(part *p) {
    tvlm_device_destroy(&p->device);
    clReleaseCommandQueue(p->queue);
    clReleaseContext(p->context);
}

/* The application's own devices, which are its own again afterwards. */
static void test_parts(void **state) {
    (void)state;
    const cl_device_partition_property one_each[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    tvlm_selection *expected[PICTURES] = {NULL}, *got[PICTURES] = {NULL};
    cl_platform_id platform;
    cl_device_id whole, ids[64];
    cl_uint count = 0;
    part parts[2];
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &whole, NULL), CL_SUCCESS);
    if (clCreateSubDevices(whole, one_each, 64, ids, &count) != CL_SUCCESS || count < 2) {
        printf("SKIPPED: a device that has no parts\n");
        skip();
    }
    for (int i = 0; i < 2; ++i) open_part(ids[i], &parts[i]);
    tvlm_device *const devices[] = {parts[0].device, parts[1].device};
    tvlm_pool *pool = NULL;
    assert_int_equal(tvlm_pool_create(tvlm_pool_params(.opened = devices, .opened_count = 2,
                                                       .open = tvlm_device_params(.log = &noting)),
                                      &pool),
                     TVLM_OK);
    for (int i = 0; i < PICTURES; ++i)
        assert_int_equal(select_one(devices[0], i, &few_places, &expected[i]), TVLM_OK);
    select_with(pool, got);
    check_same_places(got, expected);
    tvlm_pool_destroy(&pool);
    destroy_selections(got);
    nothing_said();
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(select_one(devices[i], 0, &few_places, &got[0]), TVLM_OK);
        tvlm_selection_destroy(&got[0]);
        assert_int_equal(tvlm_select(NULL, NULL, NULL, &got[0]), TVLM_ERROR_ARGUMENT);
        close_part(&parts[i]);
    }
    for (cl_uint i = 0; i < count; ++i) clReleaseDevice(ids[i]);
    destroy_selections(expected);
}

/* ---- Uploads beside kernels ---- */

enum { LARGE = 1024, LARGE_COUNT = 8, RUNS = 12, TIMES_MAX = 2048 };

static double overlap(const layer_command_time *a, const layer_command_time *b) {
    const unsigned long long began = a->began > b->began ? a->began : b->began;
    const unsigned long long ended = a->ended < b->ended ? a->ended : b->ended;
    return ended > began ? (double)(ended - began) : 0.0;
}

/* Of the uploads of pixels, which share of their time kernels of another queue ran. */
static double share_beside_kernels(const layer_command_time *times, int count, int *uploads) {
    double beside = 0.0, all = 0.0;
    *uploads = 0;
    for (int i = 0; i < count; ++i) {
        if (times[i].kernel) continue;
        double mine = 0.0;
        bool sent = true; /* through a queue that has no kernels */
        for (int k = 0; k < count; ++k) {
            if (!times[k].kernel) continue;
            sent = sent && times[k].queue != times[i].queue;
            mine += overlap(&times[i], &times[k]);
        }
        if (!sent) continue;
        ++*uploads;
        beside += mine;
        all += (double)(times[i].ended - times[i].began);
    }
    return all > 0.0 ? beside / all : 0.0;
}

static void test_uploads_overlap(void **state) {
    (void)state;
    static layer_command_time times[TIMES_MAX];
    tvlm_selection *got[LARGE_COUNT] = {NULL};
    tvlm_image images[LARGE_COUNT];
    float *pixels = malloc((size_t)LARGE * LARGE * 4 * sizeof *pixels);
    uint64_t seed = 3;
    int uploads = 0;
    assert_non_null(pixels);
    for (int i = 0; i < LARGE * LARGE * 4; ++i) pixels[i] = test_random_unit(&seed);
    /* Large pixels: on a CPU an upload is a copy, which is soon done. */
    for (int i = 0; i < LARGE_COUNT; ++i)
        images[i] = (tvlm_image){
            .pixels = pixels, .width = LARGE, .height = LARGE, .channels = 4, .type = TVLM_PIXEL_F32};
    layer->time(1);
    tvlm_pool *pool = pool_of("0", false);
    /* The first run compiles. A machine with other work may run uploads and kernels one after the other in any
     * of them, but not in all. */
    double share = 0.0;
    for (int run = 0; run < RUNS && !(share > 0.0); ++run) {
        (void)layer->times(times, 0);
        assert_int_equal(tvlm_pool_select(pool, images, LARGE_COUNT, &small_stack, &few_places, got, NULL),
                         TVLM_OK);
        for (int i = 0; i < LARGE_COUNT; ++i) tvlm_selection_destroy(&got[i]);
        const int count = layer->times(times, TIMES_MAX);
        if (run > 0) share = share_beside_kernels(times, count, &uploads);
    }
    layer->time(0);
    tvlm_pool_destroy(&pool);
    free(pixels);
    printf("    %d of %d images were sent ahead; kernels ran in %.0f %% of that time\n", uploads, LARGE_COUNT,
           100.0 * share);
    assert_true(uploads >= LARGE_COUNT / 2);
    assert_true(share > 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),      cmocka_unit_test(test_lost),
        cmocka_unit_test(test_only_one), cmocka_unit_test(test_one_does_not_open),
        cmocka_unit_test(test_pieces),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_uploads_overlap),
    };
    int32_t count = 0;
    tvlm_device_info infos[8];
    setenv("POCL_DEVICES", "pthread pthread", 1);
    make_pictures();
    layer = use_layer();
    if (layer == NULL || tvlm_device_list(8, infos, &count) != TVLM_OK) return 77;
    if (count != 3 || strstr(infos[0].version, "PoCL") == NULL) {
        printf("SKIPPED: no two devices of PoCL alone\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
