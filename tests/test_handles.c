/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_handles.c: every function that works with a device refuses where there is no handle, and while another
 * thread has the device; and with no more than a handle it does not crash. test_handles_lab.c has those of the
 * lab.
 */
#include "texturevlm/opencl.h"

#include "handles_helper.h"
#include "texturevlm/export.h"
#include "texturevlm/features.h"
#include "texturevlm/input.h"
#include "texturevlm/patches.h"
#include "texturevlm/session.h"
#include "texturevlm/stream.h"

struct handles {
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_packed *packed;
    tvlm_session *session;
    tvlm_export *exported;
    tvlm_stream *stream;
    tvlm_flow *flow;
    tvlm_basis *basis; /* none: it is what a function asks for beside its handle */
};

static void call_all(const handles *h, check_function *check) {
    /* texturevlm/device.h */
    check(tvlm_device_finish(h->device), "tvlm_device_finish");
    check(tvlm_device_tune(h->device, NULL, NULL), "tvlm_device_tune");
    /* texturevlm/export.h */
    check(tvlm_export_read(h->exported, 0, 0, NULL), "tvlm_export_read");
    check(tvlm_export_run(h->exported, NULL, 0, NULL, NULL), "tvlm_export_run");
    check(tvlm_export_set_inputs(h->exported, NULL), "tvlm_export_set_inputs");
    check(tvlm_export_set_overview(h->exported, 0.0f), "tvlm_export_set_overview");
    check(tvlm_predict(h->stack, NULL, NULL, NULL, 0, NULL), "tvlm_predict");
    /* texturevlm/features.h */
    check(tvlm_similarity(h->stack, 0, NULL, 0, 0, 0, NULL), "tvlm_similarity");
    check(tvlm_stack_embed(h->stack, 0, h->basis), "tvlm_stack_embed");
    check(tvlm_stack_get_features(h->stack, 0, NULL, NULL, NULL), "tvlm_stack_get_features");
    check(tvlm_stack_set_words(h->stack, 0, NULL, 0, 0), "tvlm_stack_set_words");
    /* texturevlm/input.h */
    check(tvlm_stack_clear_grid(h->stack, 0, 0), "tvlm_stack_clear_grid");
    check(tvlm_stack_invalidate(h->stack, 0), "tvlm_stack_invalidate");
    check(tvlm_stack_set_grid(h->stack, 0, 0, NULL), "tvlm_stack_set_grid");
    check(tvlm_stack_set_reduce(h->stack, 0), "tvlm_stack_set_reduce");
    check(tvlm_stack_set_user(h->stack, 0, NULL, 0.0f, 0.0f, 0, NULL, NULL), "tvlm_stack_set_user");
    /* texturevlm/opencl.h */
    check(tvlm_export_get_opencl(h->exported, 0, NULL, NULL), "tvlm_export_get_opencl");
    check(tvlm_export_read_opencl(h->exported, 0, NULL, 0), "tvlm_export_read_opencl");
    check(tvlm_packed_get_opencl(h->packed, 0, NULL), "tvlm_packed_get_opencl");
    check(tvlm_patches_extract_at_opencl(h->stack, NULL, 0, NULL, NULL, 0), "tvlm_patches_extract_at_opencl");
    check(tvlm_patches_extract_opencl(h->stack, NULL, 0, NULL, NULL, 0), "tvlm_patches_extract_opencl");
    check(tvlm_score_opencl(h->stack, NULL, NULL, NULL, 0), "tvlm_score_opencl");
    check(tvlm_select_opencl(h->stack, NULL, NULL, NULL, 0, NULL), "tvlm_select_opencl");
    check(tvlm_stack_get_opencl(h->stack, 0, 0, NULL), "tvlm_stack_get_opencl");
    check(tvlm_stack_set_frame_opencl(h->stack, 0, NULL), "tvlm_stack_set_frame_opencl");
    check(tvlm_stack_set_grid_opencl(h->stack, 0, 0, NULL, NULL, 0), "tvlm_stack_set_grid_opencl");
    check(tvlm_stack_set_image_opencl(h->stack, 0, NULL, NULL, 0), "tvlm_stack_set_image_opencl");
    check(tvlm_stack_set_user_opencl(h->stack, 0, NULL, 0.0f, 0.0f, 0, NULL, NULL, 0, NULL),
          "tvlm_stack_set_user_opencl");
    check(tvlm_stack_update_frame_opencl(h->stack, 0, NULL, NULL, NULL), "tvlm_stack_update_frame_opencl");
    check(tvlm_stack_update_image_opencl(h->stack, 0, NULL, NULL, 0, NULL, NULL),
          "tvlm_stack_update_image_opencl");
    check(tvlm_stream_push_opencl(h->stream, 0, NULL, NULL, NULL), "tvlm_stream_push_opencl");
    check(tvlm_stream_send_opencl(h->stream, 0, NULL), "tvlm_stream_send_opencl");
    check(tvlm_stream_set_features_opencl(h->stream, 0, 0, NULL, NULL, 0, NULL),
          "tvlm_stream_set_features_opencl");
    check(tvlm_topk_opencl(h->device, NULL, 0, 0, 0, NULL, 0), "tvlm_topk_opencl");
    /* texturevlm/patches.h */
    check(tvlm_patches_extract(h->stack, NULL, 0, NULL, 0, NULL), "tvlm_patches_extract");
    /* texturevlm/score.h */
    check(tvlm_score(h->stack, NULL, NULL, 0, NULL), "tvlm_score");
    check(tvlm_topk(h->device, NULL, 0, 0, NULL, NULL), "tvlm_topk");
    /* texturevlm/select.h */
    check(tvlm_select(h->stack, NULL, NULL, NULL), "tvlm_select");
    /* texturevlm/session.h */
    check(tvlm_session_stack(h->session, NULL, NULL, NULL, 0, NULL, NULL), "tvlm_session_stack");
    /* texturevlm/stack.h */
    check(tvlm_packed_read(h->packed, 0, 0, NULL), "tvlm_packed_read");
    check(tvlm_stack_channel_size(h->stack, 0, 0, NULL, NULL), "tvlm_stack_channel_size");
    check(tvlm_stack_channel_size_of(h->stack, 0, 0, 0, NULL, NULL), "tvlm_stack_channel_size_of");
    check(tvlm_stack_create(h->device, NULL, NULL), "tvlm_stack_create");
    check(tvlm_stack_create_for_image(h->device, NULL, NULL, NULL), "tvlm_stack_create_for_image");
    check(tvlm_stack_labels(h->stack, 0, 0, NULL), "tvlm_stack_labels");
    check(tvlm_stack_largest_size(h->device, NULL, NULL, NULL), "tvlm_stack_largest_size");
    check(tvlm_stack_make_all(h->stack), "tvlm_stack_make_all");
    check(tvlm_stack_need(h->device, NULL, NULL), "tvlm_stack_need");
    check(tvlm_stack_pack(h->stack, NULL, NULL), "tvlm_stack_pack");
    check(tvlm_stack_read(h->stack, 0, 0, 0, 0, NULL), "tvlm_stack_read");
    check(tvlm_stack_region_neighbours(h->stack, 0, 0, 0, NULL, NULL), "tvlm_stack_region_neighbours");
    check(tvlm_stack_regions(h->stack, 0, 0, NULL, NULL), "tvlm_stack_regions");
    check(tvlm_stack_sample(h->stack, NULL, 0, NULL, 0, NULL), "tvlm_stack_sample");
    check(tvlm_stack_send_image(h->stack, 0, NULL), "tvlm_stack_send_image");
    check(tvlm_stack_set_fixation(h->stack, 0.0f, 0.0f), "tvlm_stack_set_fixation");
    check(tvlm_stack_set_image(h->stack, 0, NULL), "tvlm_stack_set_image");
    check(tvlm_stack_set_labels(h->stack, 0, NULL, 0, 0, 0), "tvlm_stack_set_labels");
    check(tvlm_stack_set_rope(h->stack, NULL), "tvlm_stack_set_rope");
    check(tvlm_stack_update_image(h->stack, 0, NULL, NULL, NULL), "tvlm_stack_update_image");
    /* texturevlm/stream.h */
    check(tvlm_flow_compute(h->stack, 0, h->stack, 0, NULL, NULL), "tvlm_flow_compute");
    check(tvlm_flow_read(h->flow, 0, NULL), "tvlm_flow_read");
    check(tvlm_stack_advance(h->stack, 0, NULL), "tvlm_stack_advance");
    check(tvlm_stack_forget(h->stack, 0), "tvlm_stack_forget");
    check(tvlm_stack_set_flow(h->stack, 0, h->flow), "tvlm_stack_set_flow");
    check(tvlm_stream_create(h->device, 0, 0, NULL, NULL), "tvlm_stream_create");
    check(tvlm_stream_needs(h->stream, 0, 0, NULL), "tvlm_stream_needs");
    check(tvlm_stream_push(h->stream, 0, NULL, NULL, NULL), "tvlm_stream_push");
    check(tvlm_stream_select(h->stream, 0, NULL, NULL, NULL), "tvlm_stream_select");
    check(tvlm_stream_send(h->stream, 0, NULL), "tvlm_stream_send");
    check(tvlm_stream_set_features(h->stream, 0, 0, NULL, NULL), "tvlm_stream_set_features");
    check(tvlm_stream_volume(h->stream, 0, 0, NULL, NULL), "tvlm_stream_volume");
    check(tvlm_stream_volume_sample(h->stream, 0, NULL, 0, NULL), "tvlm_stream_volume_sample");
}

static handles made;

static const handles *make_handles(tvlm_device *device) {
    made = (handles){.device = device};
    if (device == NULL) return &made;
    made.stack = random_stack(made.device, TVLM_FORMAT_F32, 32, 24, 3);
    assert_int_equal(tvlm_stack_pack(made.stack, NULL, &made.packed), TVLM_OK);
    assert_int_equal(tvlm_session_create(made.device, NULL, &made.session), TVLM_OK);
    assert_int_equal(tvlm_export_create(made.device, NULL, &made.exported), TVLM_OK);
    assert_int_equal(tvlm_stream_create(made.device, 32, 24, NULL, &made.stream), TVLM_OK);
    assert_int_equal(tvlm_flow_compute(made.stack, 0, made.stack, 0, NULL, &made.flow), TVLM_OK);
    return &made;
}

static void free_handles(void) {
    tvlm_flow_destroy(&made.flow);
    tvlm_stream_destroy(&made.stream);
    tvlm_export_destroy(&made.exported);
    tvlm_session_destroy(&made.session);
    tvlm_packed_destroy(&made.packed);
    tvlm_stack_destroy(&made.stack);
}
