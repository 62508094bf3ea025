/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mtmd.c FOLDER...: the library on models of random weights, one folder of models.py each (ci/llama).
 * check_llama.py compares the same with transformers.
 */
#define _GNU_SOURCE /* NOLINT: for RTLD_NEXT */
#include "test_support.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libmtmd and its helper make of bitmaps, by hand: the logits, to be freed. */
static float *by_hand(opened *o, const mtmd_bitmap **bitmaps, size_t count, const char *prompt,
                      llama_pos *n_past) {
    mtmd_input_chunks *chunks = mtmd_input_chunks_init();
    const mtmd_input_text text = {prompt, strlen(prompt), true, true};
    llama_memory_clear(llama_get_memory(o->context), true);
    assert_int_equal(mtmd_tokenize(o->mtmd, chunks, &text, bitmaps, count), 0);
    *n_past = 0;
    assert_int_equal(mtmd_helper_eval_chunks(o->mtmd, o->context, chunks, 0, 0, TEST_BATCH, true, n_past), 0);
    mtmd_input_chunks_free(chunks);
    return test_copy_logits(o);
}

/* All tokens kept: to the bit what libmtmd's own helper computes. */
static void test_full(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(301, 203, 1, false, &pixels);
        struct tvlm_mtmd_used used;
        llama_pos behind;
        tvlm_mtmd_plan *plan = test_run(&o, &image, tvlm_mtmd_params(.budget = 5000), NULL, &used);
        float *ours = test_copy_logits(&o);
        mtmd_bitmap *bitmap = mtmd_bitmap_init(301, 203, pixels);
        float *theirs = by_hand(&o, (const mtmd_bitmap *[]){bitmap}, 1, test_prompt(1), &behind);
        assert_int_equal(test_info_of(plan).chosen.way, TVLM_MTMD_FULL);
        assert_int_equal(test_info_of(plan).chosen.tokens, test_info_of(plan).full);
        assert_memory_equal(ours, theirs, (size_t)test_vocabulary(&o) * sizeof *ours);
        assert_int_equal(used.n_past, behind);
        free(ours);
        free(theirs);
        mtmd_bitmap_free(bitmap);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

/* A way that was asked for, or in place of pictures one of all tokens, where that loses no more. */
static void check_way(const struct tvlm_mtmd_plan_info *info, tvlm_mtmd_way way) {
    const tvlm_mtmd_way found = info->chosen.way;
    if (way == TVLM_MTMD_AUTO || found == way || found == TVLM_MTMD_FULL) return;
    assert_true(way == TVLM_MTMD_PICTURES && found == TVLM_MTMD_SMALLER);
}

/* Every way, at several budgets: exact counts, as many cells of the KV cache as tokens kept, and never
 * worse than a smaller picture. */
static void test_ways(void **state) {
    (void)state;
    static const int32_t budgets[] = {12, 30, 64, 100};
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 2, false, &pixels);
        for (int way = TVLM_MTMD_AUTO; way <= TVLM_MTMD_CELLS; ++way)
            for (size_t b = 0; b < sizeof budgets / sizeof *budgets; ++b) {
                if (!test_has_sizes(&o) && (way == TVLM_MTMD_SMALLER || way == TVLM_MTMD_PICTURES)) continue;
                struct tvlm_mtmd_used used;
                tvlm_mtmd_plan *plan =
                    test_run(&o, &image, tvlm_mtmd_params(.budget = budgets[b], .way = (tvlm_mtmd_way)way),
                             NULL, &used);
                const struct tvlm_mtmd_plan_info info = test_info_of(plan);
                test_check_plan(&o, plan, &used, budgets[b]);
                if (way != TVLM_MTMD_CELLS) assert_true(info.chosen.loss <= info.smaller.loss);
                check_way(&info, (tvlm_mtmd_way)way);
                tvlm_mtmd_plan_destroy(&plan);
            }
        free(pixels);
    }
}

/* Shares and tolerances: a larger share has more tokens, a larger tolerance fewer. */
static void test_spending(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 3, false, &pixels);
        int32_t before = 0;
        for (int tenth = 1; tenth <= 10; tenth += 3) {
            tvlm_mtmd_plan *plan = NULL;
            assert_int_equal(
                tvlm_mtmd_prepare(o.chooser, &image,
                                  tvlm_mtmd_params(.share = (float)tenth / 10.0f, .way = TVLM_MTMD_PRUNED),
                                  &plan),
                TVLM_OK);
            assert_true(test_info_of(plan).chosen.tokens > before);
            before = test_info_of(plan).chosen.tokens;
            tvlm_mtmd_plan_destroy(&plan);
        }
        before = 1 << 20;
        for (int i = 0; i < 4; ++i) {
            static const float tolerances[] = {0.01f, 0.04f, 0.16f, 0.64f};
            const float tolerance = tolerances[i];
            tvlm_mtmd_plan *plan = NULL;
            assert_int_equal(
                tvlm_mtmd_prepare(o.chooser, &image, tvlm_mtmd_params(.tolerance = tolerance), &plan),
                TVLM_OK);
            const struct tvlm_mtmd_plan_info info = test_info_of(plan);
            assert_true(info.chosen.tokens <= before && info.chosen.tokens <= info.smaller.tokens);
            assert_true(info.chosen.loss <= tolerance || info.chosen.way == TVLM_MTMD_FULL);
            before = info.chosen.tokens;
            tvlm_mtmd_plan_destroy(&plan);
        }
        free(pixels);
    }
}

/* An image that is blank in its right half but for a gradient: crops are worth their tokens, and no token is empty. */
static tvlm_image half_image(uint8_t **pixels) {
    const tvlm_image image = test_image(640, 420, 4, false, pixels);
    for (int32_t i = 0; i < 3 * 640 * 420; ++i)
        (*pixels)[i] = (uint8_t)((*pixels)[i] * (100 + i / 3 % 640 / 5 + i / 3 / 640 / 20) / 255);
    return image;
}

/* Several pictures: to the bit what the same bitmaps give by hand. */
static void test_pictures(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        if (!test_has_sizes(&o)) continue;
        uint8_t *pixels;
        const tvlm_image image = half_image(&pixels);
        struct tvlm_mtmd_used used;
        llama_pos behind;
        tvlm_mtmd_plan *plan =
            test_run(&o, &image, tvlm_mtmd_params(.budget = 150, .way = TVLM_MTMD_PICTURES), NULL, &used);
        const struct tvlm_mtmd_plan_info info = test_info_of(plan);
        assert_int_equal(info.chosen.way, TVLM_MTMD_PICTURES);
        assert_true(info.pictures > 1);
        float *ours = test_copy_logits(&o);
        const mtmd_bitmap **bitmaps = calloc((size_t)info.pictures, sizeof *bitmaps);
        char prompt[4096];
        size_t length = (size_t)snprintf(prompt, sizeof prompt, "<|im_start|>user\n");
        for (int32_t i = 0; i < info.pictures; ++i) {
            struct tvlm_mtmd_picture picture;
            assert_int_equal(tvlm_mtmd_plan_picture(plan, i, &picture), TVLM_OK);
            assert_int_equal(picture.tokens, picture.columns * picture.rows);
            bitmaps[i] =
                mtmd_bitmap_init(mtmd_bitmap_get_nx(picture.bitmap), mtmd_bitmap_get_ny(picture.bitmap),
                                 mtmd_bitmap_get_data(picture.bitmap));
            length += (size_t)snprintf(prompt + length, sizeof prompt - length, "<__media__>");
        }
        snprintf(prompt + length, sizeof prompt - length, "what is it?<|im_end|>\n<|im_start|>assistant\n");
        float *theirs = by_hand(&o, bitmaps, (size_t)info.pictures, prompt, &behind);
        assert_memory_equal(ours, theirs, (size_t)test_vocabulary(&o) * sizeof *ours);
        assert_int_equal(used.n_past, behind);
        for (int32_t i = 0; i < info.pictures; ++i) mtmd_bitmap_free((mtmd_bitmap *)(uintptr_t)bitmaps[i]);
        free(bitmaps);
        free(ours);
        free(theirs);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

/* What a plan of pictures tells of a budget. */
static struct tvlm_mtmd_plan_info pictures_of(opened *o, const tvlm_image *image, int32_t budget) {
    tvlm_mtmd_plan *plan = NULL;
    assert_int_equal(tvlm_mtmd_prepare(o->chooser, image,
                                       tvlm_mtmd_params(.budget = budget, .way = TVLM_MTMD_PICTURES), &plan),
                     TVLM_OK);
    const struct tvlm_mtmd_plan_info info = test_info_of(plan);
    assert_true(info.chosen.tokens <= budget && info.chosen.loss <= info.smaller.loss);
    check_way(&info, TVLM_MTMD_PICTURES);
    tvlm_mtmd_plan_destroy(&plan);
    return info;
}

/* Several pictures use their budget: each leaves little of it, or loses nothing. Below the least picture there are none. */
static void test_pictures_fill(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        if (!test_has_sizes(&o)) continue;
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 4, false, &pixels);
        for (int32_t budget = 12; budget <= 200; budget += 7) {
            const struct tvlm_mtmd_plan_info info = pictures_of(&o, &image, budget);
            if (getenv("TVLM_TEST_FIGURES") != NULL)
                fprintf(stderr, "%d: %s, %d tokens, loss %.3f; smaller %.3f\n", budget,
                        tvlm_mtmd_way_name(info.chosen.way), info.chosen.tokens, (double)info.chosen.loss,
                        (double)info.smaller.loss);
            if (info.chosen.way == TVLM_MTMD_PICTURES && info.chosen.loss > 0.001f)
                assert_true(3 * info.chosen.tokens >= 2 * budget);
        }
        free(pixels);
    }
}

/* Small batches compute what one large one does. */
static void test_batches(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 5, false, &pixels);
        struct tvlm_mtmd_used one, many;
        tvlm_mtmd_plan *plan =
            test_run(&o, &image, tvlm_mtmd_params(.budget = 60, .way = TVLM_MTMD_PRUNED), NULL, &one);
        float *whole = test_copy_logits(&o);
        tvlm_mtmd_plan *again = test_run(&o, &image, tvlm_mtmd_params(.budget = 60, .way = TVLM_MTMD_PRUNED),
                                         tvlm_mtmd_eval_params(.n_batch = 7), &many);
        const float apart = test_apart(whole, test_logits(&o), test_vocabulary(&o));
        if (getenv("TVLM_TEST_FIGURES") != NULL)
            fprintf(stderr, "%s: batches of 7 are %g apart\n", o.folder, (double)apart);
        assert_true(apart < 1e-3f); /* sums in another order, where logits are about 10 */
        assert_int_equal(one.n_past, many.n_past);
        assert_int_equal(one.cells, many.cells);
        free(whole);
        tvlm_mtmd_plan_destroy(&plan);
        tvlm_mtmd_plan_destroy(&again);
        free(pixels);
    }
}

/* ---- Threads ---- */

struct job {
    const char *folder;
    uint32_t seed;
    float *logits;
};

static void *run_job(void *user) {
    struct job *const job = user;
    uint8_t *pixels;
    opened o;
    test_open(&o, job->folder, 1024);
    const tvlm_image image = test_image(400, 300, job->seed, false, &pixels);
    struct tvlm_mtmd_used used;
    tvlm_mtmd_plan *plan = test_run(&o, &image, tvlm_mtmd_params(.budget = 40), NULL, &used);
    job->logits = test_copy_logits(&o);
    tvlm_mtmd_plan_destroy(&plan);
    test_close(&o);
    free(pixels);
    return NULL;
}

/* Two contexts in two threads at once: what each gives alone, and other than the other. */
static void test_threads(void **state) {
    (void)state;
    struct job jobs[4];
    pthread_t threads[2];
    for (int i = 0; i < 4; ++i) jobs[i] = (struct job){test_models[0], 6 + (uint32_t)i % 2, NULL};
    for (int i = 0; i < 2; ++i) run_job(&jobs[i]);
    for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_job, &jobs[2 + i]), 0);
    for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    opened o;
    test_open(&o, test_models[0], 256);
    const int32_t count = test_vocabulary(&o);
    test_close(&o);
    for (int i = 0; i < 2; ++i)
        assert_memory_equal(jobs[i].logits, jobs[2 + i].logits, (size_t)count * sizeof(float));
    assert_true(test_apart(jobs[0].logits, jobs[1].logits, count) > 1e-3f);
    for (int i = 0; i < 4; ++i) free(jobs[i].logits);
}

/* ---- What goes wrong ---- */

/* Cancelled before any batch: the KV cache is as before, and the same call then gives the same logits. */
static void test_cancel(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(400, 300, 8, false, &pixels);
        struct tvlm_mtmd_used used, untouched = {.cells = -1};
        tvlm_mtmd_plan *plan =
            test_run(&o, &image, tvlm_mtmd_params(.budget = 60), tvlm_mtmd_eval_params(.n_batch = 16), &used);
        float *whole = test_copy_logits(&o);
        mtmd_input_chunks *chunks = NULL;
        int calls = 1 << 20, most;
        assert_int_equal(tvlm_mtmd_tokenize(o.chooser, test_prompt(1), true, &plan, 1, &chunks), TVLM_OK);
        llama_memory_clear(llama_get_memory(o.context), true);
        const struct tvlm_mtmd_eval_params counted = {.n_batch = 16, .cancel = test_after, .user = &calls};
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1, &counted, &used),
                         TVLM_OK);
        most = (1 << 20) - calls;
        assert_true(most >= 4); /* text, the encoder, at least one batch of the picture, text */
        for (int at = 0; at < most; ++at) {
            llama_memory_clear(llama_get_memory(o.context), true);
            calls = at;
            o.lines = 0;
            assert_int_equal(
                tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1, &counted, &untouched),
                TVLM_ERROR_CANCELLED);
            assert_int_equal(o.lines, 1);
            assert_int_equal(untouched.cells, -1);
            assert_int_equal(llama_memory_seq_pos_max(llama_get_memory(o.context), 0), -1);
        }
        calls = 1 << 20;
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1, &counted, &used),
                         TVLM_OK);
        assert_memory_equal(whole, test_logits(&o), (size_t)test_vocabulary(&o) * sizeof *whole);
        free(whole);
        mtmd_input_chunks_free(chunks);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

/* Too many tokens for the context, and no room behind what is there: one line each, and the cache is as
 * before. */
static void test_room(void **state) {
    (void)state;
    for (const char *const *folder = test_models; *folder != NULL; ++folder) {
        opened o;
        uint8_t *pixels;
        test_open(&o, *folder, 256);
        const tvlm_image image = test_image(900, 900, 9, true, &pixels);
        struct tvlm_mtmd_used used;
        tvlm_mtmd_plan *plan = NULL;
        mtmd_input_chunks *chunks = NULL;
        if (test_has_sizes(&o)) {
            assert_int_equal(tvlm_mtmd_prepare(o.chooser, &image, tvlm_mtmd_params(.budget = 600), &plan),
                             TVLM_OK);
            assert_int_equal(tvlm_mtmd_tokenize(o.chooser, test_prompt(1), true, &plan, 1, &chunks), TVLM_OK);
            assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1, NULL, &used),
                             TVLM_ERROR_ARGUMENT);
            assert_int_equal(o.lines, 1);
            assert_non_null(strstr(o.line, "room for 256"));
            mtmd_input_chunks_free(chunks);
            tvlm_mtmd_plan_destroy(&plan);
        }
        plan = test_run(&o, &image, tvlm_mtmd_params(.budget = 60), NULL, &used);
        assert_int_equal(tvlm_mtmd_tokenize(o.chooser, test_prompt(1), true, &plan, 1, &chunks), TVLM_OK);
        tvlm_status status = TVLM_OK;
        llama_pos at = used.n_past;
        o.lines = 0;
        while (status == TVLM_OK) { /* the same again and again, until all cells are taken */
            status = tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1,
                                           tvlm_mtmd_eval_params(.n_past = at), &used);
            if (status == TVLM_OK) at = used.n_past;
        }
        assert_int_equal(status, TVLM_ERROR_MEMORY);
        assert_int_equal(o.lines, 1);
        assert_non_null(strstr(o.line, "has no room"));
        assert_int_equal(llama_memory_seq_pos_max(llama_get_memory(o.context), 0), at - 1);
        mtmd_input_chunks_free(chunks);
        tvlm_mtmd_plan_destroy(&plan);
        test_close(&o);
        free(pixels);
    }
}

/* Refuses parameters, with one line. */
static void refuse(opened *o, const tvlm_image *image, const struct tvlm_mtmd_params *params,
                   tvlm_status expected) {
    tvlm_mtmd_plan *plan = NULL;
    o->lines = 0;
    assert_int_equal(tvlm_mtmd_prepare(o->chooser, image, params, &plan), expected);
    assert_null(plan);
    assert_int_equal(o->lines, 1);
}

static void test_bad(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(300, 200, 10, false, &pixels);
        tvlm_image broken = image;
        refuse(&o, &image, tvlm_mtmd_params(.budget = -1), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.budget = 1),
               TVLM_ERROR_ARGUMENT); /* less than stands around a picture */
        refuse(&o, &image, tvlm_mtmd_params(.budget = 9, .share = 0.5f), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.share = 1.5f), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.share = NAN), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.tolerance = 2.0f), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.way = TVLM_MTMD_CELLS), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.way = TVLM_MTMD_FULL), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.budget = 9, .reserved = {1}), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.budget = 5, .way = TVLM_MTMD_SMALLER),
               TVLM_ERROR_ARGUMENT); /* below the least */
        refuse(&o, &image, tvlm_mtmd_params(.budget = 5, .way = TVLM_MTMD_PICTURES), TVLM_ERROR_ARGUMENT);
        broken.width = 0;
        refuse(&o, &broken, tvlm_mtmd_params(.budget = 20), TVLM_ERROR_ARGUMENT);
        broken = image;
        broken.pixels = NULL;
        refuse(&o, &broken, tvlm_mtmd_params(.budget = 20), TVLM_ERROR_ARGUMENT);
        free(pixels);
    }
}

/* The smallest image, and a very long one. */
static void test_shapes(void **state) {
    (void)state;
    static const int32_t sizes[][2] = {{1, 1}, {20000, 2}, {3, 2000}, {28, 28}, {57, 1000}};
    opened o;
    FOR_EACH_MODEL(&o) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
            uint8_t *pixels;
            const tvlm_image image = test_image(sizes[i][0], sizes[i][1], 11, true, &pixels);
            struct tvlm_mtmd_used used;
            tvlm_mtmd_plan *plan = test_run(&o, &image, tvlm_mtmd_params(.budget = 24), NULL, &used);
            test_check_plan(&o, plan, &used, 24);
            tvlm_mtmd_plan_destroy(&plan);
            free(pixels);
        }
    }
}

/* Chunks and plans that do not belong together, and prompts without enough markers. */
static void test_mismatch(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(500, 300, 12, false, &pixels);
        struct tvlm_mtmd_used used;
        tvlm_mtmd_plan *plans[2] = {NULL, NULL};
        mtmd_input_chunks *chunks = NULL;
        for (int i = 0; i < 2; ++i)
            assert_int_equal(
                tvlm_mtmd_prepare(o.chooser, &image, tvlm_mtmd_params(.budget = 40 + 20 * i), &plans[i]),
                TVLM_OK);
        o.lines = 0;
        assert_int_equal(tvlm_mtmd_tokenize(o.chooser, test_prompt(1), true, plans, 2, &chunks),
                         TVLM_ERROR_ARGUMENT);
        assert_null(chunks);
        assert_int_equal(tvlm_mtmd_tokenize(o.chooser, test_prompt(2), true, plans, 2, &chunks), TVLM_OK);
        llama_memory_clear(llama_get_memory(o.context), true);
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, plans, 1, NULL, &used),
                         TVLM_ERROR_ARGUMENT);
        tvlm_mtmd_plan *const one[2] = {plans[0], NULL};
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, one, 2, NULL, &used),
                         TVLM_ERROR_ARGUMENT);
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, plans, 2, NULL, &used), TVLM_OK);
        assert_int_equal(test_cells(&o), used.cells);
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, plans, 2,
                                               tvlm_mtmd_eval_params(.n_past = used.n_past, .seq_id = 7),
                                               &used),
                         TVLM_ERROR_ARGUMENT);
        assert_int_equal(o.lines, 4);
        mtmd_input_chunks_free(chunks);
        for (int i = 0; i < 2; ++i) tvlm_mtmd_plan_destroy(&plans[i]);
        free(pixels);
    }
}

/* A position where the sequence has tokens already is refused, and they stay. */
static void test_behind(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(300, 200, 15, false, &pixels);
        struct tvlm_mtmd_used used;
        tvlm_mtmd_plan *plan = test_run(&o, &image, tvlm_mtmd_params(.budget = 30), NULL, &used);
        const llama_pos positions[] = {0, used.n_past - 1};
        const int32_t cells = test_cells(&o);
        mtmd_input_chunks *chunks = NULL;
        assert_int_equal(tvlm_mtmd_tokenize(o.chooser, test_prompt(1), true, &plan, 1, &chunks), TVLM_OK);
        for (int i = 0; i < 2; ++i) {
            o.lines = 0;
            assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1,
                                                   tvlm_mtmd_eval_params(.n_past = positions[i]), &used),
                             TVLM_ERROR_ARGUMENT);
            assert_int_equal(o.lines, 1);
            assert_int_equal(test_cells(&o), cells);
        }
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1,
                                               tvlm_mtmd_eval_params(.n_past = used.n_past), &used),
                         TVLM_OK);
        assert_int_equal(test_cells(&o), 2 * cells);
        mtmd_input_chunks_free(chunks);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

/* libmtmd's own answer, or that there is no memory. The library asks this program first. */
static bool no_memory;
__attribute__((visibility("default"))) mtmd_input_chunks *mtmd_input_chunks_init(void) {
    mtmd_input_chunks *(*theirs)(void) = NULL;
    *(void **)&theirs = dlsym(RTLD_NEXT, "mtmd_input_chunks_init");
    return no_memory ? NULL : theirs();
}

/* No memory for chunks is told in one line. */
static void test_no_memory(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(300, 200, 16, false, &pixels);
        tvlm_mtmd_plan *plan = NULL;
        mtmd_input_chunks *chunks = NULL;
        if (test_has_sizes(&o)) { /* else libmtmd is not asked */
            no_memory = true;
            refuse(&o, &image, tvlm_mtmd_params(.budget = 30), TVLM_ERROR_MEMORY);
            no_memory = false;
        }
        assert_int_equal(tvlm_mtmd_prepare(o.chooser, &image, tvlm_mtmd_params(.budget = 30), &plan),
                         TVLM_OK);
        o.lines = 0;
        no_memory = true;
        const tvlm_status status = tvlm_mtmd_tokenize(o.chooser, test_prompt(1), true, &plan, 1, &chunks);
        no_memory = false;
        assert_int_equal(status, TVLM_ERROR_MEMORY);
        assert_null(chunks);
        assert_int_equal(o.lines, 1);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

/* How many tokens of the first picture lie in the right half of the image, less those in the left half. */
static int32_t leans_right(opened *o, const tvlm_image *image, const struct tvlm_query *query) {
    tvlm_mtmd_plan *plan = NULL;
    struct tvlm_mtmd_picture picture;
    int32_t leans = 0;
    assert_int_equal(
        tvlm_mtmd_prepare(o->chooser, image,
                          tvlm_mtmd_params(.budget = 60, .way = TVLM_MTMD_PRUNED, .query = query), &plan),
        TVLM_OK);
    assert_true(test_info_of(plan).chosen.tokens <= 60);
    assert_int_equal(tvlm_mtmd_plan_picture(plan, 0, &picture), TVLM_OK);
    for (int32_t i = 0; i < picture.columns * picture.rows; ++i)
        if (picture.kept[i]) leans += 2 * (i % picture.columns) < picture.columns - 1 ? -1 : 1;
    tvlm_mtmd_plan_destroy(&plan);
    return leans;
}

/* A question keeps more where its map is high. Models of one size, and vectors, are refused. */
static void test_question(void **state) {
    (void)state;
    static const float right[] = {-1.0f, -1.0f, 1.0f, 1.0f}, left[] = {1.0f, 1.0f, -1.0f, -1.0f};
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(640, 420, 13, true, &pixels);
        const struct tvlm_query at_right = {.similarity = right, .columns = 4, .rows = 1},
                                at_left = {.similarity = left, .columns = 4, .rows = 1},
                                vectors = {.vectors = right, .dimension = 4};
        if (test_has_sizes(&o)) {
            const int32_t blind = leans_right(&o, &image, NULL);
            assert_true(leans_right(&o, &image, &at_right) > blind + 10);
            assert_true(leans_right(&o, &image, &at_left) < blind - 10);
        } else
            refuse(&o, &image, tvlm_mtmd_params(.budget = 60, .query = &at_right), TVLM_ERROR_ARGUMENT);
        refuse(&o, &image, tvlm_mtmd_params(.budget = 60, .query = &vectors), TVLM_ERROR_ARGUMENT);
        free(pixels);
    }
}

/* libmtmd's own answer, or that a chunk is sound, of which these models know nothing. The library asks this program first. */
static bool all_is_sound;
__attribute__((visibility("default"))) enum mtmd_input_chunk_type
mtmd_input_chunk_get_type(const mtmd_input_chunk *chunk) {
    enum mtmd_input_chunk_type (*theirs)(const mtmd_input_chunk *) = NULL;
    *(void **)&theirs = dlsym(RTLD_NEXT, "mtmd_input_chunk_get_type");
    return all_is_sound ? MTMD_INPUT_CHUNK_TYPE_AUDIO : theirs(chunk);
}

/* Sound is refused in one line, and nothing is decoded. */
static void test_sound(void **state) {
    (void)state;
    opened o;
    FOR_EACH_MODEL(&o) {
        uint8_t *pixels;
        const tvlm_image image = test_image(300, 200, 14, false, &pixels);
        tvlm_mtmd_plan *plan = NULL;
        mtmd_input_chunks *chunks = NULL;
        struct tvlm_mtmd_used used;
        assert_int_equal(tvlm_mtmd_prepare(o.chooser, &image, tvlm_mtmd_params(.budget = 40), &plan),
                         TVLM_OK);
        assert_int_equal(tvlm_mtmd_tokenize(o.chooser, test_prompt(1), true, &plan, 1, &chunks), TVLM_OK);
        llama_memory_clear(llama_get_memory(o.context), true);
        o.lines = 0;
        all_is_sound = true;
        const tvlm_status status = tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1, NULL, &used);
        all_is_sound = false;
        assert_int_equal(status, TVLM_ERROR_ARGUMENT);
        assert_int_equal(o.lines, 1);
        assert_non_null(strstr(o.line, "sound"));
        assert_int_equal(llama_memory_seq_pos_max(llama_get_memory(o.context), 0), -1);
        assert_int_equal(tvlm_mtmd_eval_chunks(o.chooser, o.context, chunks, &plan, 1, NULL, &used), TVLM_OK);
        mtmd_input_chunks_free(chunks);
        tvlm_mtmd_plan_destroy(&plan);
        free(pixels);
    }
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),      cmocka_unit_test(test_ways),
        cmocka_unit_test(test_spending),  cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_batches),   cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_room),      cmocka_unit_test(test_bad),
        cmocka_unit_test(test_shapes),    cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_question),
        cmocka_unit_test(test_sound),     cmocka_unit_test(test_behind),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_pictures_fill),
    };
    if (argc < 2) {
        fprintf(stderr, "usage: test_mtmd FOLDER...\n");
        return 2;
    }
    test_models = (const char *const *)(argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
