/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_refusals.c: no refusal is silent. Each public function that has a log at hand gets NULL where it needs
 * an argument, a struct of a newer header, and counts without what they count, and says which it was.
 */
#include <stdio.h>
#include <string.h>

#include "support.h"
#include "texturevlm/lab/explain.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/foveated.h"
#include "texturevlm/lab/trainer.h"
#include "texturevlm/opencl.h"

static char said[1024];

static void keep(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    if (level == TVLM_LOG_ERROR) snprintf(said, sizeof said, "%s", message);
}
static const tvlm_log log_kept = {.write = keep};

static void check(tvlm_status status, const char *call, const char *words) {
    if (status != TVLM_ERROR_ARGUMENT || strstr(said, words) == NULL)
        fail_msg("%s: %s: '%s' instead of '%s'", call, tvlm_status_string(status), said, words);
    said[0] = '\0';
}
#define REFUSES(WORDS, CALL) check((CALL), #CALL, WORDS)

typedef struct objects {
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_stream *stream;
    tvlm_selection *selection;
    tvlm_packed *packed;
} objects;

static const uint8_t pixels[32 * 32 * 3];
static const tvlm_image image = {.pixels = pixels, .width = 32, .height = 32, .channels = 3};

static int open_all(void **state) {
    static objects o;
    *state = &o;
    return tvlm_device_open(tvlm_device_params(.name = "reference", .log = &log_kept), &o.device) ||
           tvlm_stack_create_for_image(o.device, &image, NULL, &o.stack) ||
           tvlm_stack_pack(o.stack, tvlm_pack_params(.channels = (int32_t[]){0}, .channel_count = 1),
                           &o.packed) ||
           tvlm_stream_create(o.device, 32, 32, NULL, &o.stream) ||
           tvlm_stream_push(o.stream, 0, &image, NULL, NULL);
}

static int close_all(void **state) {
    objects *o = *state;
    tvlm_packed_destroy(&o->packed);
    tvlm_stream_destroy(&o->stream);
    tvlm_stack_destroy(&o->stack);
    tvlm_device_destroy(&o->device);
    return 0;
}

static void test_null_of_devices_and_stacks(void **state) {
    objects *o = *state;
    int32_t n = 0;
    float number = 0;
    const tvlm_sample_point point = {0};
    REFUSES("device is NULL", tvlm_device_open(tvlm_device_params(.log = &log_kept), NULL));
    REFUSES("device is NULL", tvlm_device_open_another(0, tvlm_device_params(.log = &log_kept), NULL));
    REFUSES("info is NULL", tvlm_device_get_info(o->device, NULL));
    REFUSES("stack is NULL", tvlm_stack_create(o->device, NULL, NULL));
    REFUSES("stack is NULL", tvlm_stack_create_for_image(o->device, &image, NULL, NULL));
    REFUSES("no pixels", tvlm_stack_create_for_image(o->device, NULL, NULL, &o->stack));
    REFUSES("bytes is NULL", tvlm_stack_need(o->device, NULL, NULL));
    REFUSES("0x0 pixels", tvlm_stack_need(o->device, NULL, &(uint64_t){0}));
    REFUSES("width is NULL", tvlm_stack_largest_size(o->device, NULL, NULL, &n));
    REFUSES("height is NULL", tvlm_stack_largest_size(o->device, NULL, &n, NULL));
    REFUSES("0x0 pixels", tvlm_stack_largest_size(o->device, NULL, &n, &n));
    REFUSES("no pixels", tvlm_stack_set_image(o->stack, 0, NULL));
    REFUSES("no pixels", tvlm_stack_update_image(o->stack, 0, NULL, NULL, NULL));
    REFUSES("info is NULL", tvlm_stack_get_info(o->stack, NULL));
    REFUSES("width is NULL", tvlm_stack_level_size(o->stack, 0, NULL, &n));
    REFUSES("height is NULL", tvlm_stack_channel_size(o->stack, 0, 0, &n, NULL));
    REFUSES("texels is NULL", tvlm_stack_read(o->stack, 0, 0, 0, 1, NULL));
    REFUSES("points is NULL", tvlm_stack_sample(o->stack, NULL, 1, &n, 1, &number));
    REFUSES("channels is NULL", tvlm_stack_sample(o->stack, &point, 1, NULL, 1, &number));
    REFUSES("out is NULL", tvlm_stack_sample(o->stack, &point, 1, &n, 1, NULL));
    REFUSES("-1 points", tvlm_stack_sample(o->stack, &point, -1, &n, 1, &number));
    REFUSES("footprints is NULL", tvlm_stack_sample_footprint(o->stack, NULL, 1, &n, 1, &number));
    REFUSES("sizes is NULL", tvlm_stack_structure(o->stack, &point, NULL, 1, (tvlm_footprint[1]){{0}}));
    REFUSES("packed is NULL", tvlm_stack_pack(o->stack, NULL, NULL));
    REFUSES("out is NULL", tvlm_packed_read(o->packed, 0, 1, NULL));
    REFUSES("no data", tvlm_stack_set_grid(o->stack, 0, TVLM_CHANNEL_GAZE, NULL));
    REFUSES("info is NULL", tvlm_stack_get_channel_info(o->stack, 0, NULL));
    REFUSES("count is NULL", tvlm_stack_parse(o->stack, "r", 0, NULL, NULL));
    REFUSES("has is NULL", tvlm_stack_has_channel(o->stack, 0, 0, NULL));
    REFUSES("count is NULL", tvlm_stack_regions(o->stack, 0, 0, NULL, NULL));
    REFUSES("neighbours is NULL", tvlm_stack_region_neighbours(o->stack, 0, 0, 1, NULL, &n));
    REFUSES("labels is NULL", tvlm_stack_labels(o->stack, 0, 1, NULL));
    REFUSES("count is NULL", tvlm_layout_parse("r", &log_kept, 0, NULL, NULL));
}

static void test_null_of_questions(void **state) {
    objects *o = *state;
    int32_t n = 0;
    float number = 0;
    int32_t whole = 0;
    tvlm_flow *flow = NULL;
    const tvlm_position position = {.size = 16};
    REFUSES("selection is NULL", tvlm_select(o->stack, NULL, NULL, NULL));
    REFUSES("selection is NULL", tvlm_explain(o->stack, NULL, NULL, NULL, 0, NULL, &n));
    REFUSES("columns is NULL", tvlm_score_size(o->stack, NULL, NULL, &n));
    REFUSES("scores is NULL", tvlm_score(o->stack, NULL, NULL, 1, NULL));
    REFUSES("scores is NULL", tvlm_topk(o->device, NULL, 1, 1, &n, NULL));
    REFUSES("indices is NULL", tvlm_topk(o->device, &number, 1, 1, NULL, NULL));
    REFUSES("out is NULL", tvlm_score_opencl(o->stack, NULL, NULL, NULL, 0));
    REFUSES("scores is NULL", tvlm_topk_opencl(o->device, NULL, 0, 1, 1, NULL, 0));
    REFUSES("positions is NULL", tvlm_select_opencl(o->stack, NULL, NULL, NULL, 0, &n));
    REFUSES("positions is NULL", tvlm_patches_extract_at_opencl(o->stack, NULL, 1, NULL, NULL, 0));
    REFUSES("out is NULL", tvlm_patches_extract_at_opencl(o->stack, tvlm_memory(0), 1, NULL, NULL, 0));
    REFUSES("none given", tvlm_select(o->stack, NULL, tvlm_select_params(.scores = tvlm_scores(0)),
                                      (tvlm_selection *[1]){NULL}));
    REFUSES("positions is NULL", tvlm_patches_extract(o->stack, NULL, 1, NULL, 1, &number));
    REFUSES("out is NULL", tvlm_patches_extract(o->stack, &position, 1, NULL, 1, NULL));
    REFUSES("positions is NULL", tvlm_foveated_place(32, 32, 0, 0, NULL, &log_kept, 1, NULL, &n));
    REFUSES("stack_to is NULL", tvlm_flow_compute(o->stack, 0, NULL, 0, NULL, &flow));
    REFUSES("flow is NULL", tvlm_flow_compute(o->stack, 0, o->stack, 0, NULL, NULL));
    REFUSES("out is NULL", tvlm_similarity(o->stack, 0, &number, 1, 1, 1, NULL));
    REFUSES("fit is NULL", tvlm_fit_create(NULL, &log_kept, NULL));
    REFUSES("basis is NULL", tvlm_basis_create(NULL, &log_kept, NULL));
    REFUSES("basis is NULL", tvlm_basis_of_image(o->stack, 0, NULL, NULL));
    REFUSES("trainer is NULL", tvlm_trainer_create(o->device, NULL, NULL));
    REFUSES("session is NULL", tvlm_session_create(o->device, NULL, NULL));
    REFUSES("export is NULL", tvlm_export_create(o->device, NULL, NULL));
    REFUSES("processor is NULL", tvlm_smart_resize(NULL, 32, 32, &log_kept, &n, &whole));
    REFUSES("processor is NULL", tvlm_crop_grid(NULL, 32, 32, &log_kept, &n, &whole));
    REFUSES("columns is NULL",
            tvlm_crop_grid(&(tvlm_export_processor){.crops = 1}, 32, 32, &log_kept, NULL, &n));
    REFUSES("stream is NULL", tvlm_stream_create(o->device, 32, 32, NULL, NULL));
    REFUSES("selection is NULL", tvlm_stream_select(o->stream, 0, NULL, NULL, NULL));
    REFUSES("image is NULL", tvlm_stream_send(o->stream, 0, NULL));
    REFUSES("input is NULL", tvlm_stream_set_features(o->stream, 0, TVLM_CHANNEL_FEATURE_0, NULL, NULL));
    REFUSES("volume is NULL", tvlm_stream_volume(o->stream, 0, 0, NULL, &n));
    REFUSES("points is NULL", tvlm_stream_volume_sample(o->stream, 0, NULL, 1, &number));
}

static void test_null_of_frames(void **state) {
    objects *o = *state;
    const tvlm_opencl_frame none = {0};
    REFUSES("frame is NULL", tvlm_stack_set_frame_opencl(o->stack, 0, NULL));
    REFUSES("frame is NULL", tvlm_stack_update_frame_opencl(o->stack, 0, NULL, NULL, NULL));
    REFUSES("frame is NULL", tvlm_stream_push_opencl(o->stream, 0, NULL, NULL, NULL));
    REFUSES("frame is NULL", tvlm_stream_send_opencl(o->stream, 0, NULL));
    REFUSES("without a cl_mem", tvlm_stack_set_frame_opencl(o->stack, 0, &none));
    REFUSES("without a cl_mem", tvlm_stream_push_opencl(o->stream, 0, &none, NULL, NULL));
    REFUSES("image is NULL", tvlm_stack_set_image_opencl(o->stack, 0, NULL, NULL, 0));
    REFUSES("pixels is NULL", tvlm_stack_update_image_opencl(o->stack, 0, &image, NULL, 0, NULL, NULL));
}

/* Every struct that comes in. */
static void test_newer_structs(void **state) {
    objects *o = *state;
    tvlm_stack *stack = NULL;
    tvlm_stream *stream = NULL;
    tvlm_selection *selection = NULL;
    tvlm_packed *packed = NULL;
    tvlm_fit *fit = NULL;
    tvlm_session *session = NULL;
    tvlm_export *export = NULL;
    tvlm_trainer *trainer = NULL;
    tvlm_basis *basis = NULL;
    tvlm_flow *flow = NULL;
    tvlm_device *device = NULL;
    tvlm_image newer = image;
    tvlm_position position = {.size = 16, .reserved = {1}};
    float numbers[1024];
    int32_t n;
    newer.reserved[2] = 1;
    REFUSES("tvlm_device_params: its reserved",
            tvlm_device_open(tvlm_device_params(.name = "reference", .log = &log_kept, .reserved = {1}),
                             &device));
    REFUSES("tvlm_image: its reserved", tvlm_stack_set_image(o->stack, 0, &newer));
    REFUSES("tvlm_image: its reserved", tvlm_stream_push(o->stream, 0, &newer, NULL, NULL));
    REFUSES(
        "tvlm_stack_params: its reserved",
        tvlm_stack_create(o->device, tvlm_stack_params(.width = 8, .height = 8, .reserved = {1}), &stack));
    REFUSES("tvlm_stack_params: its",
            tvlm_stack_need(o->device, tvlm_stack_params(.width = 8, .height = 8, .reserved = {1}),
                            &(uint64_t){0}));
    n = 8;
    REFUSES("tvlm_stack_params: its",
            tvlm_stack_largest_size(o->device, tvlm_stack_params(.reserved = {1}), &n, &n));
    REFUSES("tvlm_pack_params: its", tvlm_stack_pack(o->stack, tvlm_pack_params(.reserved = {1}), &packed));
    REFUSES("tvlm_update_params: its",
            tvlm_stack_update_image(o->stack, 0, &image, tvlm_update_params(.reserved = {1}), NULL));
    REFUSES("tvlm_advance_params: its",
            tvlm_stack_advance(o->stack, 0, tvlm_advance_params(.reserved = {1})));
    REFUSES("tvlm_grid_input: its",
            tvlm_stack_set_grid(o->stack, 0, TVLM_CHANNEL_GAZE,
                                tvlm_grid_input(.data = numbers, .columns = 1, .rows = 1, .reserved = {1})));
    REFUSES("tvlm_score_params: its", tvlm_score_size(o->stack, tvlm_score_params(.reserved = {1}), &n, &n));
    REFUSES("tvlm_scorer: its",
            tvlm_score(o->stack, NULL, tvlm_score_params(.scorer = &(tvlm_scorer){.reserved = {1}}), 1024,
                       numbers));
    REFUSES("tvlm_query: its",
            tvlm_select(o->stack, tvlm_query(.similarity = numbers, .columns = 1, .rows = 1, .reserved = {1}),
                        NULL, &selection));
    REFUSES("tvlm_select_params: its",
            tvlm_select(o->stack, NULL, tvlm_select_params(.reserved = {1}), &selection));
    REFUSES("tvlm_best_params: its",
            tvlm_select(o->stack, NULL, tvlm_select_params(.best.reserved = {1}), &selection));
    REFUSES("tvlm_foveated_params: its",
            tvlm_select(o->stack, NULL, tvlm_select_params(.foveated.reserved = {1}), &selection));
    REFUSES("tvlm_cascade_params: its",
            tvlm_select(o->stack, NULL, tvlm_select_params(.cascade.reserved = {1}), &selection));
    REFUSES("tvlm_budget_params: its",
            tvlm_select(o->stack, NULL, tvlm_select_params(.budget.reserved = {1}), &selection));
    REFUSES("tvlm_position: its",
            tvlm_patches_extract(o->stack, &position, 1, NULL, sizeof numbers, numbers));
    REFUSES("tvlm_patches_params: its",
            tvlm_patches_extract(o->stack, &position, 1, tvlm_patches_params(.reserved = {1}), sizeof numbers,
                                 numbers));
    REFUSES("tvlm_foveated_params: its",
            tvlm_foveated_place(32, 32, 1, 0, tvlm_foveated_params(.reserved = {1}), &log_kept, 1, &position,
                                &n));
    REFUSES("tvlm_flow_params: its",
            tvlm_flow_compute(o->stack, 0, o->stack, 0, tvlm_flow_params(.reserved = {1}), &flow));
    REFUSES("tvlm_fit_params: its", tvlm_fit_create(tvlm_fit_params(.reserved = {1}), &log_kept, &fit));
    REFUSES("tvlm_basis_params: its",
            tvlm_basis_create(tvlm_basis_params(.components = numbers, .reserved = {1}), &log_kept, &basis));
    REFUSES("tvlm_trainer_params: its",
            tvlm_trainer_create(o->device, tvlm_trainer_params(.dimension = 4, .reserved = {1}), &trainer));
    REFUSES("tvlm_image_basis_params: its",
            tvlm_basis_of_image(o->stack, 0, tvlm_image_basis_params(.reserved = {1}), &basis));
    REFUSES("tvlm_session_params: its",
            tvlm_session_create(o->device, tvlm_session_params(.reserved = {1}), &session));
    REFUSES("tvlm_export_params: its",
            tvlm_export_create(o->device, tvlm_export_params(.reserved = {1}), &export));
    REFUSES("tvlm_export_processor: its",
            tvlm_smart_resize(&(tvlm_export_processor){.reserved = {1}}, 32, 32, &log_kept, &n, &n));
    REFUSES("tvlm_stream_params: its",
            tvlm_stream_create(o->device, 32, 32, tvlm_stream_params(.reserved = {1}), &stream));
    REFUSES("tvlm_push_params: its",
            tvlm_stream_push(o->stream, 0, &image, tvlm_push_params(.reserved = {1}), NULL));
}

/* What nobody would look at is not ignored. */
static void test_counts_of_nothing(void **state) {
    objects *o = *state;
    tvlm_packed *packed = NULL;
    tvlm_fit *fit = NULL;
    tvlm_selection *selection = NULL;
    const tvlm_position position = {.size = 16};
    float numbers[1024] = {0};
    REFUSES("none given", tvlm_stack_pack(o->stack, tvlm_pack_params(.channel_count = 2), &packed));
    REFUSES("none given", tvlm_fit_create(tvlm_fit_params(.channel_count = 2), &log_kept, &fit));
    REFUSES("none given",
            tvlm_patches_extract(o->stack, &position, 1, tvlm_patches_params(.channel_count = 2),
                                 sizeof numbers, numbers));
    REFUSES("none given", tvlm_stack_advance(o->stack, 0, tvlm_advance_params(.position_count = 2)));
    REFUSES("none given", tvlm_stack_advance(o->stack, 0, tvlm_advance_params(.columns = 2)));
    REFUSES("none given",
            tvlm_stream_push(o->stream, 0, &image, tvlm_push_params(.fixation_count = 1), NULL));
    REFUSES("none given",
            tvlm_select(o->stack, tvlm_query(.similarity = numbers, .columns = 1, .rows = 1, .count = 2),
                        NULL, &selection));
    REFUSES("without channels",
            tvlm_score(o->stack, NULL, tvlm_score_params(.scorer = &(tvlm_scorer){.channel_count = 2}), 1024,
                       numbers));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_of_devices_and_stacks), cmocka_unit_test(test_null_of_questions),
        cmocka_unit_test(test_null_of_frames), cmocka_unit_test(test_newer_structs),
        cmocka_unit_test(test_counts_of_nothing)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
