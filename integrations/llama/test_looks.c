/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_looks.c FOLDER...: two looks on models of random weights, one folder of models.py each (ci/llama).
 * check_llama.py compares the same with transformers.
 */
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static tvlm_status look_twice(opened *o, tvlm_mtmd_watch *watch, const tvlm_image *image,
                              const struct tvlm_mtmd_look_params *params, tvlm_mtmd_plan **plan,
                              struct tvlm_mtmd_used *used) {
    return tvlm_mtmd_look_twice(o->chooser, o->context, watch, test_prompt(1), image, params, plan, used);
}

/* The attention of a first look on the tokens of its picture. */
typedef struct attention {
    int32_t count;
    float sum, most, least;
} attention;

/* Its sum is a share of the whole, and it is not the same everywhere. */
static attention attention_of(const tvlm_mtmd_plan *plan) {
    const struct tvlm_mtmd_plan_info info = test_info_of(plan);
    struct tvlm_mtmd_picture small;
    attention a = {.least = 1.0f};
    assert_non_null(info.attention);
    assert_int_equal(tvlm_mtmd_plan_picture(plan, 0, &small), TVLM_OK);
    assert_int_equal(small.tokens, small.columns * small.rows);
    a.count = small.tokens;
    for (int32_t i = 0; i < a.count; ++i) {
        a.sum += info.attention[i];
        a.most = fmaxf(a.most, info.attention[i]);
        a.least = fminf(a.least, info.attention[i]);
    }
    assert_true(a.least > 0.0f && a.sum < 1.0f && a.most > a.least);
    return a;
}

/* Both looks are what the whole prompt gives at once, and nothing of its beginning is computed twice. */
static void test_looks(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        if (!test_has_sizes(&o)) continue;
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 15, true, &pixels);
        struct tvlm_mtmd_used used, whole;
        tvlm_mtmd_plan *plan =
            test_run(&o, &image, tvlm_mtmd_params(.budget = 120, .way = TVLM_MTMD_LOOKS), NULL, &used);
        const struct tvlm_mtmd_plan_info info = test_info_of(plan);
        float *ours = test_copy_logits(&o);
        assert_int_equal(info.chosen.way, TVLM_MTMD_LOOKS);
        assert_int_equal(info.pictures, 2);
        assert_true(isnan(info.chosen.loss));
        assert_int_equal(info.chosen.columns * info.chosen.rows, attention_of(plan).count);
        test_check_plan(&o, plan, &used, 120);
        assert_in_range(info.chosen.tokens, 118, 120);
        assert_in_range(attention_of(plan).count, 60, 78); /* about .65 of the budget */
        mtmd_input_chunks *chunks = NULL;
        llama_memory_clear(llama_get_memory(o.context), true);
        assert_int_equal(tvlm_mtmd_tokenize(o.chooser, test_prompt(1), true, &plan, 1, &chunks), TVLM_OK);
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1, NULL, &whole),
                         TVLM_OK);
        const mtmd_input_chunk *const asked =
            mtmd_input_chunks_get(chunks, mtmd_input_chunks_size(chunks) - 1);
        assert_true(test_apart(ours, test_logits(&o), test_vocabulary(&o)) < 1e-3f);
        assert_int_equal(used.n_past, whole.n_past);
        assert_int_equal(used.cells, whole.cells);
        assert_int_equal(used.encoded, whole.encoded); /* the small picture went through the encoder once */
        assert_int_equal(used.again, mtmd_input_chunk_get_n_tokens(asked));
        assert_int_equal(whole.again, 0);
        mtmd_input_chunks_free(chunks);
        free(ours);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

/* With flash attention and small batches, the first look has the same attention. */
static void test_looks_flash(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        if (!test_has_sizes(&o)) continue;
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 16, true, &pixels);
        const struct tvlm_mtmd_look_params params = {
            .spending = {.share = 0.4f}, .eval = {.n_batch = 17}, .add_special = true};
        struct tvlm_mtmd_used used;
        tvlm_mtmd_plan *plan =
            test_run(&o, &image, tvlm_mtmd_params(.share = 0.4f, .way = TVLM_MTMD_LOOKS), NULL, &used);
        const attention a = attention_of(plan);
        struct llama_context_params flash = llama_context_default_params();
        tvlm_mtmd_watch *watch = NULL;
        struct llama_context *const plain = o.context;
        flash.n_ctx = TEST_CONTEXT;
        flash.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
        flash.n_threads = flash.n_threads_batch = 1;
        assert_int_equal(tvlm_mtmd_watch_create(&o.log, &flash, &watch), TVLM_OK);
        o.context = llama_init_from_model(o.model, flash);
        assert_non_null(o.context);
        tvlm_mtmd_plan *other = NULL;
        assert_int_equal(look_twice(&o, watch, &image, &params, &other, &used), TVLM_OK);
        assert_int_equal(attention_of(other).count, a.count);
        const float apart =
            test_apart(test_info_of(plan).attention, test_info_of(other).attention, a.count) * (float)a.count;
        if (getenv("TVLM_TEST_FIGURES") != NULL)
            fprintf(stderr, "%s: flash attention is %g of the mean apart\n", o.folder, (double)apart);
        assert_true(apart < 0.1f); /* keys and values are halves there */
        /* Its spread is much more, in parts of the mean, too. */
        assert_true((a.most - a.least) * (float)a.count / a.sum > 5.0f * apart);
        tvlm_mtmd_plan_destroy(&other);
        llama_free(o.context);
        o.context = plain;
        tvlm_mtmd_watch_destroy(&watch);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

/* Too few tokens for a first look that shows anything, and room for all: one look. */
static void test_looks_once(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        if (!test_has_sizes(&o)) continue;
        uint8_t *pixels;
        const tvlm_image image = test_image(1200, 900, 17, true, &pixels);
        static const int32_t budgets[] = {30, 4000};
        for (int i = 0; i < 2; ++i) {
            struct tvlm_mtmd_used used;
            tvlm_mtmd_plan *plan = test_run(
                &o, &image, tvlm_mtmd_params(.budget = budgets[i], .way = TVLM_MTMD_LOOKS), NULL, &used);
            const struct tvlm_mtmd_plan_info info = test_info_of(plan);
            assert_int_not_equal(info.chosen.way, TVLM_MTMD_LOOKS);
            assert_int_equal(info.chosen.way == TVLM_MTMD_FULL, i == 1);
            assert_null(info.attention);
            assert_int_equal(used.again, 0);
            test_check_plan(&o, plan, &used, budgets[i]);
            tvlm_mtmd_plan_destroy(&plan);
        }
        free(pixels);
    }
}

/* In a conversation, two looks begin behind what was said; what is cancelled leaves that as it was. */
static void test_looks_cancel(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        if (!test_has_sizes(&o)) continue;
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 18, true, &pixels);
        struct tvlm_mtmd_used said, used = {.cells = -1};
        tvlm_mtmd_plan *plan = test_run(&o, &image, tvlm_mtmd_params(.budget = 40), NULL, &said);
        int calls = 1 << 20;
        struct tvlm_mtmd_look_params params = {
            .spending = {.budget = 120},
            .eval = {.n_past = said.n_past, .n_batch = 32, .cancel = test_after, .user = &calls}};
        tvlm_mtmd_plan_destroy(&plan);
        const int32_t before = test_cells(&o);
        for (int at = 0;; ++at) {
            calls = at;
            o.lines = 0;
            const tvlm_status status = look_twice(&o, o.watch, &image, &params, &plan, &used);
            if (status == TVLM_OK) {
                assert_true(at >= 8); /* two encoders, several batches, and texts */
                break;
            }
            assert_int_equal(status, TVLM_ERROR_CANCELLED);
            assert_int_equal(o.lines, 1);
            assert_null(plan);
            assert_int_equal(used.cells, -1);
            assert_int_equal(test_cells(&o), before);
        }
        assert_int_equal(test_cells(&o), before + used.cells);
        (void)attention_of(plan);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

/* Refuses two looks, with one line, and leaves the context as it is. */
static void refuse_looks(opened *o, tvlm_mtmd_watch *watch, const tvlm_image *image,
                         const struct tvlm_mtmd_look_params *params, tvlm_status expected) {
    tvlm_mtmd_plan *plan = NULL;
    struct tvlm_mtmd_used used;
    struct tvlm_mtmd_look_params behind = *params;
    /* What was said before stays, also where it does not lie before n_past: nothing was decoded. */
    const bool early = expected == TVLM_ERROR_ARGUMENT;
    llama_memory_clear(llama_get_memory(o->context), true);
    if (early) test_decode(o, 1, 0), test_decode(o, 1, 1);
    if (early && behind.eval.n_past == 0) behind.eval.n_past = 2;
    o->lines = 0;
    assert_int_equal(look_twice(o, watch, image, &behind, &plan, &used), expected);
    assert_null(plan);
    assert_int_equal(o->lines, 1);
    assert_int_equal(llama_memory_seq_pos_max(llama_get_memory(o->context), 0), early ? 1 : -1);
}

static void test_looks_bad(void **state) {
    (void)state;
    static const float map[] = {1.0f, 0.0f};
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 19, true, &pixels);
        const struct tvlm_query query = {.similarity = map, .columns = 2, .rows = 1};
        const struct tvlm_mtmd_look_params good = {.spending = {.budget = 120}};
        struct llama_context_params taken = llama_context_default_params(), other = taken;
        tvlm_mtmd_watch *watch = NULL, *second = NULL;
        if (!test_has_sizes(&o)) {
            refuse_looks(&o, o.watch, &image, &good, TVLM_ERROR_UNSUPPORTED);
            free(pixels);
            continue;
        }
        struct tvlm_mtmd_look_params bad = good;
        bad.spending = (struct tvlm_mtmd_params){0};
        refuse_looks(&o, o.watch, &image, &bad, TVLM_ERROR_ARGUMENT);
        bad.spending.tolerance = 0.1f;
        refuse_looks(&o, o.watch, &image, &bad, TVLM_ERROR_ARGUMENT);
        bad.spending = (struct tvlm_mtmd_params){.budget = 120, .way = TVLM_MTMD_PRUNED};
        refuse_looks(&o, o.watch, &image, &bad, TVLM_ERROR_ARGUMENT);
        bad.spending = (struct tvlm_mtmd_params){.budget = 120, .query = &query};
        refuse_looks(&o, o.watch, &image, &bad, TVLM_ERROR_ARGUMENT);
        bad = good;
        bad.eval.seq_id = 7;
        refuse_looks(&o, o.watch, &image, &bad, TVLM_ERROR_ARGUMENT);
        bad = good;
        bad.eval.n_past = 1; /* where there is a token */
        refuse_looks(&o, o.watch, &image, &bad, TVLM_ERROR_ARGUMENT);
        bad = good;
        bad.reserved[0] = 1;
        refuse_looks(&o, o.watch, &image, &bad, TVLM_ERROR_ARGUMENT);
        /* A watch of another context sees nothing. */
        assert_int_equal(tvlm_mtmd_watch_create(&o.log, &taken, &watch), TVLM_OK);
        refuse_looks(&o, watch, &image, &good, TVLM_ERROR_UNSUPPORTED);
        assert_int_equal(tvlm_mtmd_watch_create(&o.log, &taken, &second), TVLM_ERROR_ARGUMENT);
        assert_int_equal(tvlm_mtmd_watch_create(NULL, &other, NULL), TVLM_ERROR_ARGUMENT);
        assert_null(second);
        tvlm_mtmd_watch_destroy(&watch);
        free(pixels);
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looks),      cmocka_unit_test(test_looks_flash),
        cmocka_unit_test(test_looks_once), cmocka_unit_test(test_looks_cancel),
        cmocka_unit_test(test_looks_bad),
    };
    if (argc < 2) {
        fprintf(stderr, "usage: test_looks FOLDER...\n");
        return 2;
    }
    test_models = (const char *const *)(argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
