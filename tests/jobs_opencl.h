/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_opencl.h: the jobs of an application that has an OpenCL context of its own: frames that are on the
 * device in every form, and the whole way from there to patches and tensors without the host.
 */
#ifndef TVLM_TESTS_JOBS_OPENCL_H
#define TVLM_TESTS_JOBS_OPENCL_H

#include "core/half.h"
#include "interop_helper.h"
#include "jobs_common.h"

/* ---- What the application has ---- */

enum { MEMORIES = 24, CELL = 4 };

static application own;
static bool shares; /* the driver has what shares memory with other interfaces (layer/sharing.c) */
static cl_mem memories[MEMORIES];
static int memory_count;
static tvlm_opencl_frame frames[FRAME_KINDS]; /* without memory where the device has no such images */
static cl_mem features, asked, scores, positions, patches, ranking, values;

static cl_mem keep(cl_mem memory) {
    if (memory != NULL) memories[memory_count++] = memory;
    assert_true(memory_count < MEMORIES);
    return memory;
}

static cl_mem keep_buffer(const void *bytes, size_t size) {
    return keep(make_buffer(&own, bytes, size));
}

static cl_mem keep_room(size_t size) {
    return keep(clCreateBuffer(own.context, CL_MEM_READ_WRITE, size, NULL, NULL));
}

/* Every component of an image of four is one of the pixels. */
static tvlm_opencl_frame image_frame(cl_channel_order order, cl_channel_type type) {
    static float floats[WIDTH * HEIGHT * 4];
    static uint16_t halves[WIDTH * HEIGHT * 4];
    static uint8_t bytes[WIDTH * HEIGHT * 4];
    for (int i = 0; i < WIDTH * HEIGHT * 4; ++i) {
        bytes[i] = pixels[i % (WIDTH * HEIGHT * 3)];
        floats[i] = (float)bytes[i] / 255.0f;
        halves[i] = tvlm_half_from_float(floats[i]);
    }
    const void *texels = type == CL_FLOAT ? (void *)floats : type == CL_HALF_FLOAT ? (void *)halves : bytes;
    return (tvlm_opencl_frame){.memory = keep(make_image(&own, order, type, WIDTH, HEIGHT, texels))};
}

/* Two planes of a byte and of two, or of four where the device has no such images. */
static tvlm_opencl_frame nv12_images(void) {
    tvlm_opencl_frame frame = {.nv12 = true};
    frame.memory = keep(make_image(&own, CL_R, CL_UNORM_INT8, 24, 16, pixels));
    frame.chroma = keep(make_image(&own, CL_RG, CL_UNORM_INT8, 12, 8, pixels));
    if (frame.memory == NULL) frame.memory = keep(make_image(&own, CL_RGBA, CL_UNORM_INT8, 24, 16, pixels));
    if (frame.chroma == NULL) frame.chroma = keep(make_image(&own, CL_RGBA, CL_UNORM_INT8, 12, 8, pixels));
    return frame;
}

static void make_frames(bool images) {
    const tvlm_image exact = {.width = STACK_WIDTH, .height = STACK_HEIGHT, .channels = 3};
    const tvlm_image large = {.width = WIDTH, .height = HEIGHT, .channels = 3};
    const tvlm_image nv12 = {.width = 32, .height = 20};
    const cl_mem bytes = keep_buffer(pixels, sizeof pixels), pairs = keep_buffer(pixels, sizeof pixels);
    int n = 0;
    memset(frames, 0, sizeof frames);
    frames[n++] = (tvlm_opencl_frame){.memory = bytes, .image = exact};
    frames[n++] = (tvlm_opencl_frame){
        .memory = bytes, .image = large, .sharing = shares ? TVLM_OPENCL_GL : TVLM_OPENCL_NOT_SHARED};
    frames[n++] = (tvlm_opencl_frame){.memory = bytes, .image = nv12, .nv12 = true};
    frames[n++] = (tvlm_opencl_frame){.memory = bytes,
                                      .chroma = pairs,
                                      .image = nv12,
                                      .nv12 = true,
                                      .full_range = true,
                                      .matrix = TVLM_OPENCL_BT709,
                                      .sharing = shares ? TVLM_OPENCL_GL : TVLM_OPENCL_NOT_SHARED};
    if (!images) return;
    frames[n++] = image_frame(CL_RGBA, CL_UNORM_INT8);
    frames[n++] = image_frame(CL_RGBA, CL_HALF_FLOAT);
    frames[n++] = image_frame(CL_RGBA, CL_FLOAT);
    frames[n++] = image_frame(CL_BGRA, CL_UNORM_INT8);
    frames[n++] = nv12_images();
    frames[n] = frames[4];
    frames[n].sharing = shares ? TVLM_OPENCL_EXTERNAL : TVLM_OPENCL_NOT_SHARED;
}

/* Makes the application on the device on which `device` is open. No call fails meanwhile. */
static void start_own(const tvlm_device *device) {
    float vectors[CELLS * DIMENSION], numbers[SCORES_THERE];
    own = application_on(device);
    make_frames(device->info.images);
    for (int i = 0; i < CELLS * DIMENSION; ++i) vectors[i] = (float)(i * 7919 % 101) / 101.0f - 0.4f;
    for (int i = 0; i < SCORES_THERE; ++i) numbers[i] = (float)(i * 7 % SCORES_THERE);
    features = keep_buffer(vectors, sizeof vectors);
    asked = keep_buffer(vectors, DIMENSION * sizeof *vectors);
    scores = keep_buffer(numbers, sizeof numbers);
    positions = keep_room(K * sizeof(tvlm_position));
    patches = keep_room(sizeof((results *)NULL)->patches_there);
    ranking = keep_room(SCORES_THERE * sizeof(float) + sizeof((results *)NULL)->ranking);
    values = keep_room(TOKENS * sizeof((results *)NULL)->values_there);
}

static void stop_own(void) {
    while (memory_count > 0) clReleaseMemObject(memories[--memory_count]);
    stop(&own);
}

/* Reads what the library wrote, as the application would: its own call may fail, too. */
static tvlm_status fetch(const objects *o, cl_mem memory, size_t offset, size_t bytes, void *host) {
    if (clEnqueueReadBuffer(own.queue, memory, CL_TRUE, offset, bytes, host, 0, NULL, NULL) == CL_SUCCESS)
        return TVLM_OK;
    count_errors(NULL, TVLM_LOG_ERROR, "the application cannot read");
    const tvlm_status status = tvlm_device_finish(o->device);
    return status != TVLM_OK ? status : TVLM_ERROR_DEVICE;
}

/* ---- Frames in every form ---- */

/* A frame that is pushed, one that is sent ahead, and one that is shared, with features from the device. */
static tvlm_status push_there(tvlm_stream *stream, int frame, results *r) {
    const struct tvlm_grid_input grid = {.columns = COLUMNS, .rows = ROWS, .channels = DIMENSION};
    tvlm_opencl_frame pushed = frame == 0 ? frames[2] : frames[1]; /* NV12; shared */
    tvlm_selection *selection = NULL;
    pushed.image.width = STREAM_WIDTH;
    pushed.image.height = STREAM_HEIGHT;
    if (frame == 1) {
        TVLM_TRY(tvlm_stream_send_opencl(stream, 0, &frames[3]));
        TVLM_TRY(tvlm_stream_push(stream, 0, NULL, NULL, NULL));
    } else {
        TVLM_TRY(tvlm_stream_push_opencl(stream, 0, &pushed, NULL, NULL));
        TVLM_TRY(
            tvlm_stream_set_features_opencl(stream, 0, TVLM_CHANNEL_FEATURE_0, &grid, features, 0, NULL));
    }
    TVLM_TRY(tvlm_stream_select(stream, 0, NULL,
                                tvlm_select_params(.k = K, .score.stride = CELL, .patch = CELL), &selection));
    keep_positions(selection, r->seen[frame]);
    tvlm_selection_destroy(&selection);
    return TVLM_OK;
}

static tvlm_status film(objects *o, results *r) {
    tvlm_stream *stream = NULL;
    if (o->stack == NULL)
        TVLM_TRY(tvlm_stack_create(
            o->device, tvlm_stack_params(.layout = "edges", .width = STACK_WIDTH, .height = STACK_HEIGHT),
            &o->stack));
    for (int i = 0; i < FRAME_KINDS; ++i) {
        if (frames[i].memory == NULL) continue;
        TVLM_TRY(i % 2 == 0 ? tvlm_stack_set_frame_opencl(o->stack, 0, &frames[i])
                            : tvlm_stack_update_frame_opencl(o->stack, 0, &frames[i],
                                                             tvlm_update_params(.tile = 16), NULL));
        TVLM_TRY(tvlm_stack_read(o->stack, 0, TVLM_CHANNEL_R, 0, STACK_WIDTH * STACK_HEIGHT, r->frames[i]));
    }
    TVLM_TRY(tvlm_stream_create(o->device, STREAM_WIDTH, STREAM_HEIGHT,
                                tvlm_stream_params(.layout = "edges,motion"), &stream));
    tvlm_status status = TVLM_OK;
    for (int frame = 0; status == TVLM_OK && frame < FRAMES; ++frame) status = push_there(stream, frame, r);
    tvlm_stream_destroy(&stream);
    return status;
}

/* ---- The whole way on the device ---- */

static tvlm_status choose_there(const objects *o, results *r) {
    static const int32_t channel[1] = {TVLM_CHANNEL_R};
    const struct tvlm_patches_params cut_out = {.side = 4, .channels = channel, .channel_count = 1};
    const struct tvlm_memory vectors = {.memory = asked}, at = {.memory = positions},
                             given = {.memory = scores};
    const struct tvlm_query query = {.vectors_in = &vectors, .dimension = DIMENSION};
    const struct tvlm_scores theirs = {.values_in = &given, .columns = 9, .rows = 6};
    struct tvlm_select_params params = {.k = K, .strategy = TVLM_STRATEGY_GRID, .score.stride = CELL};
    int32_t count = 0;
    TVLM_TRY(tvlm_select_opencl(o->stack, &query, &params, positions, 0, &count));
    assert_int_equal(count, K);
    TVLM_TRY(tvlm_patches_extract_at_opencl(o->stack, &at, K, &cut_out, patches, 0));
    TVLM_TRY(fetch(o, positions, 0, sizeof r->chosen_there, r->chosen_there));
    TVLM_TRY(tvlm_patches_extract_opencl(o->stack, r->chosen_there, K, &cut_out, patches, 0));
    TVLM_TRY(fetch(o, patches, 0, sizeof r->patches_there, r->patches_there));
    params.scores = &theirs;
    TVLM_TRY(tvlm_select_opencl(o->stack, NULL, &params, positions, 0, &count));
    return fetch(o, positions, 0, sizeof r->positions, r->positions);
}

static tvlm_status rank_there(const objects *o, results *r) {
    const size_t bytes = sizeof r->scores_there;
    TVLM_TRY(tvlm_score_opencl(o->stack, NULL, tvlm_score_params(.stride = CELL), ranking, 0));
    TVLM_TRY(tvlm_topk_opencl(o->device, ranking, 0, SCORES_THERE, K, patches, 0));
    TVLM_TRY(fetch(o, ranking, 0, bytes, r->scores_there));
    return fetch(o, patches, 0, sizeof r->ranking, r->ranking);
}

/* The library's own memory as handles, and a plane of the application's. */
static tvlm_status hand_out(objects *o, results *r) {
    tvlm_opencl_texture texture;
    int32_t mine = 0;
    TVLM_TRY(tvlm_stack_get_opencl(o->stack, 0, tvlm_channel_find("edges"), &texture));
    tvlm_packed_destroy(&o->packed);
    TVLM_TRY(tvlm_stack_pack(o->stack, tvlm_pack_params(.width = 9, .height = 7), &o->packed));
    TVLM_TRY(tvlm_packed_get_opencl(o->packed, 0, &texture));
    TVLM_TRY(tvlm_stack_set_user_opencl(o->stack, 0, "mine", 0.0f, 60.0f, TVLM_MEAN,
                                        tvlm_grid_input(.columns = 2, .rows = 2), scores, 0, &mine));
    return tvlm_stack_read(o->stack, 0, mine, 0, 4, r->user);
}

static tvlm_status export_there(objects *o, results *r) {
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    cl_mem made = NULL;
    if (o->export == NULL)
        TVLM_TRY(tvlm_export_create(o->device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = 2),
                                    &o->export));
    TVLM_TRY(tvlm_export_run(o->export, &image, 1, NULL, NULL));
    TVLM_TRY(tvlm_export_get_opencl(o->export, 0, &made, NULL));
    TVLM_TRY(tvlm_export_read_opencl(o->export, 0, values, 0));
    return fetch(o, values, 0, sizeof r->values_there, r->values_there);
}

static tvlm_status stay(objects *o, results *r) {
    const tvlm_image size = {.width = STACK_WIDTH, .height = STACK_HEIGHT, .channels = 3};
    const struct tvlm_grid_input grid = {.columns = COLUMNS, .rows = ROWS, .channels = DIMENSION};
    if (o->stack == NULL)
        TVLM_TRY(tvlm_stack_create(
            o->device, tvlm_stack_params(.layout = "edges,low", .width = STACK_WIDTH, .height = STACK_HEIGHT),
            &o->stack));
    TVLM_TRY(tvlm_stack_set_image_opencl(o->stack, 0, &size, frames[0].memory, 0));
    TVLM_TRY(tvlm_stack_set_grid_opencl(o->stack, 0, TVLM_CHANNEL_FEATURE_0, &grid, features, 0));
    TVLM_TRY(choose_there(o, r));
    TVLM_TRY(rank_there(o, r));
    TVLM_TRY(hand_out(o, r));
    return export_there(o, r);
}

#endif
