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

struct handles {
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_export *exported;
    tvlm_trainer *trainer;
    tvlm_vocab_trainer *vocab_trainer;
    tvlm_codec_trainer *codec_trainer;
    tvlm_fit *fit;
    tvlm_projection *projection;
    tvlm_vocab *vocab;
};

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

static handles made;

static const handles *make_handles(tvlm_device *device) {
    static const float weights[2] = {1.0f, -1.0f}, centres[4] = {1.0f, 0.0f, 0.0f, 1.0f};
    static const int32_t channels[1] = {TVLM_CHANNEL_R};
    made = (handles){.device = device};
    if (device == NULL) return &made;
    made.stack = random_stack(made.device, TVLM_FORMAT_F32, 32, 24, 3);
    assert_int_equal(tvlm_export_create(made.device, NULL, &made.exported), TVLM_OK);
    assert_int_equal(
        tvlm_trainer_create(made.device, tvlm_trainer_params(.dimension = 4, .k = 2), &made.trainer),
        TVLM_OK);
    assert_int_equal(tvlm_vocab_trainer_create(made.device,
                                               tvlm_vocab_trainer_params(.dimension = 4, .count = 2),
                                               &made.vocab_trainer),
                     TVLM_OK);
    assert_int_equal(tvlm_codec_trainer_create(NULL, &test_log, &made.codec_trainer), TVLM_OK);
    assert_int_equal(tvlm_fit_create(NULL, &test_log, &made.fit), TVLM_OK);
    assert_int_equal(tvlm_projection_create(tvlm_projection_params(.channels = channels, .channel_count = 1,
                                                                   .outputs = 2, .weights = weights),
                                            &test_log, &made.projection),
                     TVLM_OK);
    assert_int_equal(tvlm_vocab_create(tvlm_vocab_params(.count = 2, .dimension = 2, .centres = centres),
                                       &test_log, &made.vocab),
                     TVLM_OK);
    return &made;
}

static void free_handles(void) {
    tvlm_vocab_destroy(&made.vocab);
    tvlm_projection_destroy(&made.projection);
    tvlm_fit_destroy(&made.fit);
    tvlm_codec_trainer_destroy(&made.codec_trainer);
    tvlm_vocab_trainer_destroy(&made.vocab_trainer);
    tvlm_trainer_destroy(&made.trainer);
    tvlm_export_destroy(&made.exported);
    tvlm_stack_destroy(&made.stack);
}
