/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_counts.c: how many commands a job gives a GPU, and how often the host waits for it. A launch takes a GPU
 * longer than most of these kernels, and a wait longer than several launches, so these numbers are its speed. A
 * change that needs one more has to change the number here.
 *
 * The first OpenCL device poses as a GPU (layer/pose.c): images, half, groups of 16 x 16. Each job is done three
 * times before it is counted, on 1024 x 1024 pixels. It begins when the device has nothing to do. So all that it
 * waits for is its own, such as the events of what it sent, and so are the bytes that it writes to the device and reads
 * from it. Device memory and programs are counted where they are made: a job has none of them once they are there.
 * TVLM_TEST_FIGURES=1 prints the commands of each job.
 */
#include <stdio.h>
#include <string.h>

#include <CL/cl.h>

#include "layer_helper.h"
#include "opencl/backend.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/export.h"
#include "texturevlm/stack.h"
#include "texturevlm/stream.h"

enum { SIDE = 1024, FEATURES = 64, DIMENSION = 768, CHANGED = 324 };

static const layer_control *layer;

/* What jobs work on. */
static struct {
    tvlm_device *device;
    tvlm_stack *stack, *before, *all, *asked; /* asked: with features */
    tvlm_stream *stream;
    tvlm_flow *flow;
    tvlm_export *exported;
    uint8_t *pixels, *moved;
    float query[DIMENSION];
} work;

static void must(tvlm_status status) {
    if (status != TVLM_OK) fail_msg("%s", test_last_log());
}

static tvlm_image image_of(const uint8_t *pixels) {
    return (tvlm_image){.pixels = pixels, .width = SIDE, .height = SIDE, .channels = 3};
}

static void select_from(tvlm_stack *stack, tvlm_strategy strategy, const struct tvlm_query *query) {
    tvlm_selection *selection = NULL;
    must(tvlm_select(stack, query, tvlm_select_params(.strategy = strategy), &selection));
    tvlm_selection_destroy(&selection);
}

/* ---- What comes before a job, and is not counted; `time` is 0, 1, 2, 3 ---- */

static void nothing(int time) {
    (void)time;
}

static void set_pixels(int time) {
    const tvlm_image image = image_of(time % 2 == 0 ? work.pixels : work.moved);
    must(tvlm_stack_set_image(work.stack, 0, &image));
}

static void set_same(int time) {
    (void)time;
    set_pixels(0);
}

static void set_all(int time) {
    const tvlm_image image = image_of(time % 2 == 0 ? work.pixels : work.moved);
    must(tvlm_stack_set_image(work.all, 0, &image));
}

/* A tenth of the pixels differ from the frame before. */
static void change_tenth(int time) {
    for (int32_t y = 0; y < CHANGED; ++y)
        memset(work.pixels + (size_t)y * SIDE * 3, 40 + 60 * time, (size_t)CHANGED * 3);
}

/* Another question: the answer to the last one is kept. */
static void turn_query(int time) {
    work.query[0] = 0.5f + (float)time;
}

/* ---- Jobs ---- */

static void upload(void) {
    const tvlm_image image = image_of(work.pixels);
    must(tvlm_stack_set_image(work.stack, 0, &image));
}

static void by_grid(void) {
    select_from(work.stack, TVLM_STRATEGY_GRID, NULL);
}

static void by_budget(void) {
    select_from(work.stack, TVLM_STRATEGY_BUDGET, NULL);
}

static void by_cascade(void) {
    select_from(work.asked, TVLM_STRATEGY_CASCADE, tvlm_query(.vectors = work.query, .dimension = DIMENSION));
}

static void further(void) {
    select_from(work.asked, TVLM_STRATEGY_GRID, tvlm_query(.vectors = work.query, .dimension = DIMENSION));
}

static void families(void) {
    must(tvlm_stack_make_all(work.all));
}

static void flow(void) {
    must(tvlm_flow_compute(work.before, 0, work.stack, 0, NULL, &work.flow));
}

static void moving_frame(void) {
    static int frame;
    tvlm_selection *selection = NULL;
    const tvlm_image image = image_of(frame++ % 2 == 0 ? work.pixels : work.moved);
    must(tvlm_stream_push(work.stream, 0, &image, NULL, NULL));
    must(tvlm_stream_select(work.stream, 0, NULL, NULL, &selection));
    tvlm_selection_destroy(&selection);
}

static void carried_frame(void) {
    const tvlm_image image = image_of(work.pixels);
    must(tvlm_stack_update_image(work.all, 0, &image,
                                 tvlm_update_params(.saliency_share = 1.0f, .cluster_share = 1.0f), NULL));
    select_from(work.all, TVLM_STRATEGY_GRID, NULL);
}

static void export_picture(void) {
    const tvlm_image image = image_of(work.pixels);
    must(tvlm_export_run(work.exported, &image, 1, NULL, NULL));
}

static void open_device(void) {
    tvlm_device *device = NULL;
    must(tvlm_device_open(tvlm_device_params(.log = &test_log), &device));
    tvlm_device_destroy(&device);
}

/*
 * The most that a job may take: commands, that is kernels and transfers; waits; allocations; programs built; bytes
 * written to the device, and read from it.
 *
 * What stands in the way of less:
 *   - A further query brings 3 KB of query, where OpenCL promises 1 KB of arguments (CL_DEVICE_MAX_PARAMETER_SIZE): a
 *     write. Parts of scores read cosines at four cells and at levels, out of a texture, which a kernel may not read
 *     where it writes it: they follow in a launch of their own. Parts are scaled by what they reach over all cells,
 *     and ranks need all scores: another launch.
 *   - Of full40, 18 launches are regions. SLIC is 6 passes, each of which reads the sums of the one before; pieces are
 *     linked, merged, counted, and their labels dealt out, each from what the one before found anywhere in the image; so
 *     are the table of regions, their reach, and the channels. The gradient is apart since its plane holds labels until
 *     pieces are settled: a plane more would take 4 bytes a pixel, and to make it where it is added up leaves 16 times
 *     fewer work-groups. Text and distance look at what lies around, as the launch before found it.
 *   - A budget waits twice. Which thumbnails are measured depends on which cells of the image are blank, and how many
 *     columns and rows they have on nothing else: the host looks for them in what `ink` made and the first wait brought,
 *     thumbnail after thumbnail, each cell filled from the cells before it. To measure first those that do not depend
 *     on it would take one wait where no cell is blank, but 6 commands more, and two waits, where some are. The other
 *     commands: a level that is lacking, ink, its read; luma, three passes of the filter, tiles, the comparison, the read
 *     of losses. Pictures are written (1280 bytes are 20) where they differ from those of the choice before, and
 *     weights that no choice has needed yet.
 *   - A frame of a stream waits when it is pushed, for what the push reports (whether there is a cut, which cells are
 *     to be encoded anew) and for what the host decides from: where regions begin, and which candidates have a bonus.
 *     A selection waits for its positions. One wait for both would have to guess that there is no cut, and have the
 *     host's part on the device.
 */
static const struct {
    const char *name;
    void (*prepare)(int time), (*run)(void);
    long commands, waits, memory, builds, written, read;
} jobs[] = {
    {"an image uploaded", nothing, upload, 2, 0, 0, 0, 3145728, 0},
    {"select by grid, new image", set_pixels, by_grid, 10, 1, 0, 0, 0, 2184},
    {"select by grid again", nothing, by_grid, 2, 1, 0, 0, 0, 2184},
    {"select by budget, new image", set_pixels, by_budget, 11, 2, 0, 0, 1280, 917504},
    {"the same, with the last thumbnails", set_same, by_budget, 10, 2, 0, 0, 0, 950272},
    {"a further query, 64x64x768", turn_query, further, 5, 1, 0, 0, 3072, 2184},
    {"the same by the cascade", turn_query, by_cascade, 15, 4, 0, 0, 45128, 45496},
    {"all families of full40, with levels", set_all, families, 32, 0, 0, 0, 0, 0},
    {"flow", nothing, flow, 15, 0, 0, 0, 0, 0},
    {"a moving frame, push and select", nothing, moving_frame, 34, 2, 0, 0, 3164296, 75632},
    {"a frame with a tenth changed, carried", change_tenth, carried_frame, 14, 1, 0, 0, 452200, 2184},
    {"export for qwen2-vl", nothing, export_picture, 16, 1, 0, 0, 3147096, 5476},
    {"a device opened", nothing, open_device, 5, 2, 5, 1, 0, 12800},
};

static long commands_of(layer_commands c) {
    return c.kernels + c.writes + c.reads + c.others;
}

/* Prints the commands that come: kernels by their names, which the last argument that was set tells. */
static void print_command(const char *name, const void *handle) {
    static cl_kernel kernel;
    char kernel_name[64] = "";
    if (strcmp(name, "clSetKernelArg") == 0) memcpy(&kernel, &handle, sizeof kernel);
    if (strncmp(name, "clEnqueue", 9) != 0 && strcmp(name, "clFinish") != 0) return;
    if (strcmp(name, "clEnqueueNDRangeKernel") == 0)
        (void)clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof kernel_name, kernel_name, NULL);
    print_message("    %s\n", kernel_name[0] != '\0' ? kernel_name : name);
}

static void test_jobs(void **state) {
    const bool figures = getenv("TVLM_TEST_FIGURES") != NULL;
    int more = 0;
    (void)state;
    print_message("%-40s %7s %9s %5s %6s %6s %8s %8s %8s  %s\n", "job", "kernels", "transfers", "waits",
                  "memory", "builds", "written", "read", "commands", "at most");
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; ++i) {
        layer_commands made = {0};
        for (int time = 0; time < 4; ++time) {
            jobs[i].prepare(time);
            must(work.device->backend->finish(work.device));
            const layer_commands before = layer->commands();
            if (figures && time == 3) layer->listen(print_command);
            jobs[i].run();
            layer->listen(NULL);
            made = commands_after(layer, before);
        }
        const long waits = made.waits + made.stalls;
        const bool too_many = commands_of(made) > jobs[i].commands || waits > jobs[i].waits ||
                              made.memory > jobs[i].memory || made.builds > jobs[i].builds ||
                              made.written > jobs[i].written || made.read > jobs[i].read;
        more += too_many;
        print_message("%-40s %7ld %9ld %5ld %6ld %6ld %8ld %8ld %8ld  %ld %ld %ld %ld, %ld %ld bytes%s\n",
                      jobs[i].name, made.kernels, commands_of(made) - made.kernels, waits, made.memory,
                      made.builds, made.written, made.read, commands_of(made), jobs[i].commands,
                      jobs[i].waits, jobs[i].memory, jobs[i].builds, jobs[i].written, jobs[i].read,
                      too_many ? "  MORE" : "");
    }
    assert_int_equal(more, 0);
}

/* ---- The best of a list ---- */

/* How many commands it takes to find the best 273 of n scores. */
static long commands_of_best(int32_t n, tvlm_buffer *scores, tvlm_buffer *best) {
    const layer_commands before = layer->commands();
    must(work.device->backend->topk(work.device, scores, n, 273, best));
    return commands_of(commands_after(layer, before));
}

/* Where chunks end and radix select begins on a GPU (tuning.h, topk.c): it takes more commands, and no more barriers for
 * longer lists. */
static void test_best(void **state) {
    enum { MOST = 32768, K = 273 };
    opencl_device *const device = (opencl_device *)work.device;
    const opencl_tuning usual = device->tuning;
    float *const values = calloc(MOST, sizeof *values);
    (void)state;
    assert_non_null(values);
    tvlm_buffer *scores = test_buffer(work.device, MOST * sizeof *values, values);
    tvlm_buffer *best = test_buffer(work.device, K * 2 * sizeof(cl_uint), NULL);
    assert_int_equal(commands_of_best(8192, scores, best), 1);
    assert_int_equal(commands_of_best(16384, scores, best), 3);
    device->tuning.select_from = 8192;
    assert_int_equal(commands_of_best(16384, scores, best), 14);
    device->tuning = usual;
    assert_int_equal(commands_of_best(MOST, scores, best), 14);
    work.device->backend->buffer_destroy(work.device, &scores);
    work.device->backend->buffer_destroy(work.device, &best);
    free(values);
}

/* ---- Images of different sizes ---- */

enum { THUMBNAILS = 64 };

/* How many kernels make all families, with their levels, of the first so many thumbnails in one batch. */
static long kernels_of(int32_t images) {
    int32_t sizes[THUMBNAILS][2];
    tvlm_stack *stack = NULL;
    for (int32_t i = 0; i < images; ++i) {
        sizes[i][0] = 160 - 7 * (i * 5 % 17); /* the first one is the largest */
        sizes[i][1] = 160 - 7 * (i * 11 % 17);
    }
    must(tvlm_stack_create(work.device,
                           tvlm_stack_params(.layout = "r,edges,laplacian,entropy,sharpness,edge_x",
                                             .images = images, .sizes = sizes[0]),
                           &stack));
    must(tvlm_stack_make_all(stack)); /* an upload for each image, and programs */
    must(tvlm_stack_invalidate(stack, TVLM_CHANNEL_R));
    const layer_commands before = layer->commands();
    must(tvlm_stack_make_all(stack));
    const layer_commands made = commands_after(layer, before);
    tvlm_stack_destroy(&stack);
    assert_int_equal(commands_of(made), made.kernels);
    return made.kernels;
}

/* A family is one launch, and so is each of its levels, however many images there are. */
static void test_thumbnails(void **state) {
    const long of_all = kernels_of(THUMBNAILS), of_two = kernels_of(2);
    (void)state;
    print_message("%d thumbnails in one batch: %ld kernels\n", THUMBNAILS, of_all);
    assert_int_equal(of_all, of_two);
    assert_in_range(of_all, 5, 4 + 6 * 7); /* visual with entropy; 8 levels */
}

/* What is counted is what a GPU would get. */
static void test_poses(void **state) {
    (void)state;
    assert_int_equal(work.device->info.type, TVLM_DEVICE_GPU);
    assert_int_equal(work.device->info.storage, TVLM_STORAGE_IMAGE);
}

/* Writes more than the pieces of pinned memory hold together, with so many waits, and what is written may change
 * at once. */
static void write_and_read(tvlm_device *device, long waits) {
    enum { BYTES = (PIECES + 1) * PIECE_BYTES + 12345 };
    unsigned char *bytes = malloc(BYTES);
    tvlm_buffer *buffer = test_buffer(device, BYTES, NULL);
    assert_non_null(bytes);
    for (size_t i = 0; i < BYTES; ++i) bytes[i] = (unsigned char)(i * 2654435761u >> 13);
    const layer_commands before = layer->commands();
    must(device->backend->buffer_write(device, buffer, 0, BYTES, bytes));
    assert_int_equal(commands_after(layer, before).waits, waits);
    memset(bytes, 0, BYTES);
    must(device->backend->buffer_read(device, buffer, 0, BYTES, bytes));
    for (size_t i = 0; i < BYTES; ++i)
        if (bytes[i] != (unsigned char)(i * 2654435761u >> 13)) fail_msg("byte %zu is wrong", i);
    device->backend->buffer_destroy(device, &buffer);
    free(bytes);
}

/* Where the driver gives no pinned memory, large writes wait. */
static void test_large_writes(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    write_and_read(work.device, 0);
    must(tvlm_device_open(tvlm_device_params(.log = &test_log), &device));
    layer->let_fail_only(1, 0, "clEnqueueMapBuffer", CL_OUT_OF_RESOURCES);
    write_and_read(device, 1);
    assert_int_equal(layer->failed(), 1);
    layer->let_fail(0, 0);
    tvlm_device_destroy(&device);
}

static int start(void **state) {
    uint64_t random = 7;
    (void)state;
    work.pixels = test_random_pixels(&random, SIDE, SIDE, 3);
    work.moved = malloc((size_t)SIDE * SIDE * 3);
    assert_non_null(work.moved);
    memcpy(work.moved, work.pixels + 6, (size_t)SIDE * SIDE * 3 - 6);
    memcpy(work.moved + (size_t)SIDE * SIDE * 3 - 6, work.pixels, 6);
    for (int i = 0; i < DIMENSION; ++i) work.query[i] = test_random_unit(&random) - 0.5f;
    const tvlm_image image = image_of(work.pixels), moved = image_of(work.moved);
    float *features = malloc((size_t)FEATURES * FEATURES * DIMENSION * sizeof *features);
    assert_non_null(features);
    for (size_t i = 0; i < (size_t)FEATURES * FEATURES * DIMENSION; ++i)
        features[i] = test_random_unit(&random) - 0.5f;
    must(tvlm_device_open(tvlm_device_params(.log = &test_log), &work.device));
    must(tvlm_stack_create_for_image(work.device, &image, NULL, &work.stack));
    must(tvlm_stack_create_for_image(work.device, &moved, NULL, &work.before));
    must(tvlm_stack_create_for_image(work.device, &image, NULL, &work.all));
    must(tvlm_stack_create_for_image(work.device, &image, NULL, &work.asked));
    must(tvlm_stack_set_grid(
        work.asked, 0, TVLM_CHANNEL_FEATURE_0,
        tvlm_grid_input(.data = features, .columns = FEATURES, .rows = FEATURES, .channels = DIMENSION)));
    free(features);
    must(tvlm_stream_create(work.device, SIDE, SIDE, NULL, &work.stream));
    must(tvlm_export_create(work.device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL), &work.exported));
    return 0;
}

static int stop(void **state) {
    (void)state;
    tvlm_export_destroy(&work.exported);
    tvlm_stream_destroy(&work.stream);
    tvlm_flow_destroy(&work.flow);
    tvlm_stack_destroy(&work.stack);
    tvlm_stack_destroy(&work.before);
    tvlm_stack_destroy(&work.all);
    tvlm_stack_destroy(&work.asked);
    tvlm_device_destroy(&work.device);
    free(work.pixels);
    free(work.moved);
    return 0;
}

/* Without an OpenCL device the reference is opened, which is given no commands. */
static bool has_device(void) {
    tvlm_device *device = NULL;
    const tvlm_status status = tvlm_device_open(NULL, &device);
    const bool has = status == TVLM_OK && test_is_opencl(device);
    tvlm_device_destroy(&device);
    return has;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_poses), cmocka_unit_test(test_jobs),
                                       cmocka_unit_test(test_best), cmocka_unit_test(test_thumbnails),
                                       cmocka_unit_test(test_large_writes)};
    setenv("TVLM_LAYER_GPU", "1", 1);
    setenv("TVLM_LAYER_EMPTY_ABORTS", "1", 1); /* no job launches a kernel over nothing */
    layer = use_layer();
    if (layer == NULL) return 77;
    if (!has_device()) {
        printf("SKIPPED: no OpenCL device\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, start, stop);
}
