/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_handles_lab.c: the same as test_handles.c, of the functions of the lab.
 */
#include "handles_helper.h"
#include "texturevlm/export.h"
#include "texturevlm/lab/attend.h"
#include "texturevlm/lab/backward.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/explain.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/logpolar.h"
#include "texturevlm/lab/merge.h"
#include "texturevlm/lab/projection.h"
#include "texturevlm/lab/ridge.h"
#include "texturevlm/lab/trainer.h"
#include "texturevlm/lab/vocab.h"

typedef struct handles {
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_export *exported;
    tvlm_trainer *trainer;
    tvlm_vocab_trainer *vocab_trainer;
    tvlm_codec_trainer *codec_trainer;
    tvlm_fit *fit;
    tvlm_projection *projection;
    tvlm_vocab *vocab;
} handles;

static void call_all(const handles *h, check_function *check) {
    /* texturevlm/lab/attend.h */
    check(tvlm_attend(h->stack, h->stack, NULL, 0, NULL, NULL, NULL), "tvlm_attend");
    /* texturevlm/lab/backward.h */
    check(tvlm_sample_backward(h->stack, NULL, 0, NULL, NULL), "tvlm_sample_backward");
    /* texturevlm/lab/codec.h */
    check(tvlm_codec_trainer_add(h->codec_trainer, h->stack, 0), "tvlm_codec_trainer_add");
    /* texturevlm/lab/explain.h */
    check(tvlm_explain(h->stack, NULL, NULL, NULL, 0, NULL, NULL), "tvlm_explain");
    /* texturevlm/lab/fit.h */
    check(tvlm_fit_add(h->fit, h->stack, 0, NULL, 0, 0), "tvlm_fit_add");
    check(tvlm_fit_add_query(h->fit, h->stack, 0, NULL, NULL, 0, 0), "tvlm_fit_add_query");
    /* texturevlm/lab/footprint.h */
    check(tvlm_stack_sample_footprint(h->stack, NULL, 0, NULL, 0, NULL), "tvlm_stack_sample_footprint");
    check(tvlm_stack_structure(h->stack, NULL, NULL, 0, NULL), "tvlm_stack_structure");
    /* texturevlm/lab/logpolar.h */
    check(tvlm_logpolar(h->stack, NULL, 0, NULL), "tvlm_logpolar");
    /* texturevlm/lab/merge.h */
    check(tvlm_merge_tokens(h->stack, NULL, NULL, 0, NULL, NULL), "tvlm_merge_tokens");
    /* texturevlm/lab/projection.h */
    check(tvlm_export_set_projection(h->exported, h->projection), "tvlm_export_set_projection");
    check(tvlm_projection_apply(h->projection, h->stack, NULL, 0, 0, NULL), "tvlm_projection_apply");
    /* texturevlm/lab/ridge.h */
    check(tvlm_ridge(h->device, NULL, NULL, NULL), "tvlm_ridge");
    /* texturevlm/lab/trainer.h */
    check(tvlm_basis_of_image(h->stack, 0, NULL, NULL), "tvlm_basis_of_image");
    check(tvlm_trainer_add(h->trainer, NULL, 0), "tvlm_trainer_add");
    check(tvlm_trainer_create(h->device, NULL, NULL), "tvlm_trainer_create");
    check(tvlm_trainer_finish(h->trainer, NULL), "tvlm_trainer_finish");
    check(tvlm_trainer_next_pass(h->trainer), "tvlm_trainer_next_pass");
    /* texturevlm/lab/vocab.h */
    check(tvlm_stack_assign(h->stack, 0, h->vocab), "tvlm_stack_assign");
    check(tvlm_vocab_assign(h->device, h->vocab, NULL, 0, NULL, NULL), "tvlm_vocab_assign");
    check(tvlm_vocab_trainer_add(h->vocab_trainer, NULL, 0), "tvlm_vocab_trainer_add");
    check(tvlm_vocab_trainer_create(h->device, NULL, NULL), "tvlm_vocab_trainer_create");
    check(tvlm_vocab_trainer_finish(h->vocab_trainer, NULL), "tvlm_vocab_trainer_finish");
}

static handles make_handles(tvlm_device *device) {
    static const float weights[2] = {1.0f, -1.0f}, centres[4] = {1.0f, 0.0f, 0.0f, 1.0f};
    static const int32_t channels[1] = {TVLM_CHANNEL_R};
    handles h = {.device = device};
    h.stack = random_stack(h.device, TVLM_FORMAT_F32, 32, 24, 3);
    assert_int_equal(tvlm_export_create(h.device, NULL, &h.exported), TVLM_OK);
    assert_int_equal(tvlm_trainer_create(h.device, tvlm_trainer_params(.dimension = 4, .k = 2), &h.trainer),
                     TVLM_OK);
    assert_int_equal(tvlm_vocab_trainer_create(
                         h.device, tvlm_vocab_trainer_params(.dimension = 4, .count = 2), &h.vocab_trainer),
                     TVLM_OK);
    assert_int_equal(tvlm_codec_trainer_create(NULL, &test_log, &h.codec_trainer), TVLM_OK);
    assert_int_equal(tvlm_fit_create(NULL, &test_log, &h.fit), TVLM_OK);
    assert_int_equal(tvlm_projection_create(tvlm_projection_params(.channels = channels, .channel_count = 1,
                                                                   .outputs = 2, .weights = weights),
                                            &test_log, &h.projection),
                     TVLM_OK);
    assert_int_equal(tvlm_vocab_create(tvlm_vocab_params(.count = 2, .dimension = 2, .centres = centres),
                                       &test_log, &h.vocab),
                     TVLM_OK);
    return h;
}

static void free_handles(handles *h) {
    tvlm_vocab_destroy(&h->vocab);
    tvlm_projection_destroy(&h->projection);
    tvlm_fit_destroy(&h->fit);
    tvlm_codec_trainer_destroy(&h->codec_trainer);
    tvlm_vocab_trainer_destroy(&h->vocab_trainer);
    tvlm_trainer_destroy(&h->trainer);
    tvlm_export_destroy(&h->exported);
    tvlm_stack_destroy(&h->stack);
}

static void test_no_handle(void **state) {
    static const handles none;
    (void)state;
    call_all(&none, check_absent);
}

static void work_with(tvlm_device *device) {
    handles h = make_handles(device);
    begin_to_hold(device);
    call_all(&h, check_held);
    end_to_hold();
    assert_int_equal(tvlm_device_finish(device), TVLM_OK); /* and then it works again */
    call_all(&h, check_free);
    free_handles(&h);
}

static void test_reference(void **state) {
    tvlm_device *device = open_reference();
    (void)state;
    work_with(device);
    tvlm_device_destroy(&device);
}

static void on_each(const test_target *target, tvlm_device *reference) {
    (void)reference;
    work_with(target->device);
}

static void test_each_device(void **state) {
    (void)state;
    if (test_for_each_target(on_each) == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_handle), cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_each_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
