/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_support.c: see test_support.h.
 */
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <texturevlm/io.h>

const char *const *test_models;

static void silent(enum ggml_log_level level, const char *text, void *user) {
    (void)user;
    if (level == GGML_LOG_LEVEL_ERROR && getenv("TVLM_TEST_FIGURES") != NULL) fputs(text, stderr);
}

static void count_line(void *user, tvlm_log_level level, const char *message) {
    opened *const o = user;
    if (level != TVLM_LOG_ERROR) return;
    ++o->lines;
    snprintf(o->line, sizeof o->line, "%s", message);
}

static void open_llama(opened *o, uint32_t cells) {
    char path[600];
    struct llama_context_params params = llama_context_default_params();
    struct mtmd_context_params own = mtmd_context_params_default();
    snprintf(path, sizeof path, "%s/model.gguf", o->folder);
    o->model = llama_model_load_from_file(path, llama_model_default_params());
    assert_non_null(o->model);
    params.n_ctx = cells;
    params.n_batch = params.n_ubatch = TEST_BATCH;
    params.n_seq_max = 2;
    params.kv_unified = true;
    params.n_threads = params.n_threads_batch = 1;
    /* What is compared with transformers is computed in float32 there. */
    params.type_k = params.type_v = GGML_TYPE_F32;
    params.flash_attn_type = own.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    assert_int_equal(tvlm_mtmd_watch_create(&o->log, &params, &o->watch), TVLM_OK);
    o->context = llama_init_from_model(o->model, params);
    assert_non_null(o->context);
    own.n_threads = 1;
    own.warmup = own.use_gpu = own.print_timings = false;
    snprintf(path, sizeof path, "%s/mmproj.gguf", o->folder);
    o->mtmd = mtmd_init_from_file(path, o->model, own);
    assert_non_null(o->mtmd);
}

void test_open(opened *o, const char *folder, uint32_t cells) {
    char path[600];
    memset(o, 0, sizeof *o);
    snprintf(o->folder, sizeof o->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/mmproj.gguf", folder);
    llama_log_set(silent, NULL);
    mtmd_helper_log_set(silent, NULL);
    o->log = (tvlm_log){count_line, o};
    open_llama(o, cells);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.fallback = true, .log = &o->log), &o->device),
                     TVLM_OK);
    assert_int_equal(
        tvlm_mtmd_create(o->device, o->mtmd, tvlm_mtmd_options(.mmproj = path, .log = &o->log), &o->chooser),
        TVLM_OK);
}

void test_close(opened *o) {
    tvlm_mtmd_destroy(&o->chooser);
    tvlm_device_destroy(&o->device);
    mtmd_free(o->mtmd);
    llama_free(o->context);
    tvlm_mtmd_watch_destroy(&o->watch);
    llama_model_free(o->model);
}

/* ---- Images ---- */

static uint32_t next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void block(uint8_t *pixels, int32_t width, int32_t height, uint32_t *state) {
    const int32_t size = 4 + (int32_t)(next(state) % 24), left = (int32_t)(next(state) % (uint32_t)width),
                  top = (int32_t)(next(state) % (uint32_t)height);
    const uint32_t colour = next(state);
    for (int32_t y = top; y < top + size && y < height; ++y)
        for (int32_t x = left; x < left + size && x < width; ++x)
            for (int32_t c = 0; c < 3; ++c) pixels[(y * width + x) * 3 + c] = (uint8_t)(colour >> (8 * c));
}

tvlm_image test_image(int32_t width, int32_t height, uint32_t seed, bool full, uint8_t **pixels) {
    const int32_t blocks = full ? width * height / 40 : width * height / 900;
    *pixels = malloc((size_t)width * (size_t)height * 3);
    assert_non_null(*pixels);
    memset(*pixels, 235, (size_t)width * (size_t)height * 3);
    /* Half of the image stays blank, unless it is to be full. */
    for (int32_t i = 0; i < blocks; ++i) block(*pixels, full ? width : (width + 1) / 2, height, &seed);
    if (!full) /* the blocks lie in lines of half the width: moved apart, they leave blank columns between */
        for (int32_t y = 0; y < height; ++y)
            memset(*pixels + (size_t)(y * width + (width + 1) / 2) * 3, 235, (size_t)(width / 2) * 3);
    return (tvlm_image){.pixels = *pixels, .width = width, .height = height, .channels = 3};
}

/* ---- The model ---- */

const char *test_prompt(int32_t images) {
    static const char *const prompts[] = {
        "<|im_start|>user\nwhat?<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>user\n<__media__>what is it?<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>user\n<__media__> and <__media__>what?<|im_end|>\n<|im_start|>assistant\n"};
    return prompts[images];
}

static size_t state_of(opened *o) {
    return llama_state_seq_get_size(o->context, 0);
}

void test_decode(opened *o, llama_token token, llama_pos position) {
    llama_seq_id seq = 0, *seqs = &seq;
    int32_t one = 1;
    int8_t wanted = 1;
    const struct llama_batch batch = {.n_tokens = 1,
                                      .token = &token,
                                      .pos = &position,
                                      .n_seq_id = &one,
                                      .seq_id = &seqs,
                                      .logits = &wanted};
    assert_int_equal(llama_decode(o->context, batch), 0);
}

int32_t test_cells(opened *o) {
    /* The saved state has as many bytes for each cell, and something for there being any: one and two
     * cells tell both. */
    const llama_memory_t memory = llama_get_memory(o->context);
    llama_memory_seq_cp(memory, 0, 1, -1, -1);
    llama_memory_seq_rm(memory, 0, -1, -1);
    test_decode(o, 1, 0);
    const size_t one = state_of(o);
    test_decode(o, 1, 1);
    const size_t two = state_of(o);
    llama_memory_seq_rm(memory, 0, -1, -1);
    llama_memory_seq_cp(memory, 1, 0, -1, -1);
    llama_memory_seq_rm(memory, 1, -1, -1);
    const size_t all = state_of(o), each = two - one;
    assert_int_equal((all - one) % each, 0);
    return (int32_t)((all - one) / each) + 1;
}

const float *test_logits(opened *o) {
    return llama_get_logits_ith(o->context, -1);
}

int32_t test_vocabulary(const opened *o) {
    return llama_vocab_n_tokens(llama_model_get_vocab(o->model));
}

llama_token test_likeliest(opened *o) {
    const float *const logits = test_logits(o);
    llama_token best = 0;
    for (llama_token t = 1; t < test_vocabulary(o); ++t)
        if (logits[t] > logits[best]) best = t;
    return best;
}

float test_apart(const float *a, const float *b, int32_t count) {
    float apart = 0.0f;
    for (int32_t i = 0; i < count; ++i) {
        assert_true(isfinite(a[i]) && isfinite(b[i]));
        apart = fmaxf(apart, fabsf(a[i] - b[i]));
    }
    return apart;
}

tvlm_mtmd_plan *test_run(opened *o, const tvlm_image *image, const struct tvlm_mtmd_params *params,
                         const struct tvlm_mtmd_eval_params *how, struct tvlm_mtmd_used *used) {
    tvlm_mtmd_plan *plan = NULL;
    mtmd_input_chunks *chunks = NULL;
    llama_memory_clear(llama_get_memory(o->context), true);
    if (params->way == TVLM_MTMD_LOOKS) {
        struct tvlm_mtmd_look_params looks = {.spending = *params, .add_special = true};
        looks.spending.way = TVLM_MTMD_AUTO;
        if (how != NULL) looks.eval = *how;
        assert_int_equal(tvlm_mtmd_look_twice(o->chooser, o->context, o->watch, test_prompt(1), image, &looks,
                                              &plan, used),
                         TVLM_OK);
        return plan;
    }
    assert_int_equal(tvlm_mtmd_prepare(o->chooser, image, params, &plan), TVLM_OK);
    assert_int_equal(tvlm_mtmd_tokenize(o->chooser, test_prompt(1), true, &plan, 1, &chunks), TVLM_OK);
    assert_int_equal(tvlm_mtmd_eval_chunks(o->chooser, o->context, chunks, &plan, 1, how, used), TVLM_OK);
    mtmd_input_chunks_free(chunks);
    return plan;
}

/* ---- What is checked ---- */

bool test_has_sizes(const opened *o) {
    struct tvlm_mtmd_info info;
    assert_int_equal(tvlm_mtmd_get_info(o->chooser, &info), TVLM_OK);
    return info.columns == 0;
}

struct tvlm_mtmd_plan_info test_info_of(const tvlm_mtmd_plan *plan) {
    struct tvlm_mtmd_plan_info info;
    assert_int_equal(tvlm_mtmd_plan_get_info(plan, &info), TVLM_OK);
    return info;
}

float *test_copy_logits(opened *o) {
    const size_t bytes = (size_t)test_vocabulary(o) * sizeof(float);
    float *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, test_logits(o), bytes);
    return copy;
}

void test_check_plan(opened *o, const tvlm_mtmd_plan *plan, const struct tvlm_mtmd_used *used,
                     int32_t budget) {
    const struct tvlm_mtmd_plan_info info = test_info_of(plan);
    struct tvlm_mtmd_info model;
    int32_t tokens = 0;
    assert_int_equal(tvlm_mtmd_get_info(o->chooser, &model), TVLM_OK);
    for (int32_t i = 0; i < info.pictures; ++i) {
        struct tvlm_mtmd_picture picture;
        assert_int_equal(tvlm_mtmd_plan_picture(plan, i, &picture), TVLM_OK);
        tokens += picture.tokens;
    }
    assert_int_equal(used->image_tokens, tokens);
    assert_true(used->encoded >= tokens);
#ifdef TVLM_MTMD_PATCHED
    if (model.mrope) assert_int_equal(used->encoded, tokens);
#endif
    assert_int_equal(info.chosen.tokens, tokens + info.pictures * model.around);
    assert_true(info.chosen.tokens <= budget);
    assert_true(info.chosen.tokens <= info.full);
    assert_true(info.smaller.tokens <= budget);
    assert_int_equal(test_cells(o), used->cells);
}

int32_t test_number(const char *text) {
    char *end;
    const long number = strtol(text, &end, 10);
    assert_true(end != text && *end == '\0' && number > 0 && number <= 1 << 20);
    return (int32_t)number;
}

bool test_after(void *user) {
    return --*(int *)user < 0;
}

void test_write_pictures(const tvlm_mtmd_plan *plan, const char *name, FILE *to) {
    const struct tvlm_mtmd_plan_info info = test_info_of(plan);
    for (int32_t i = 0; i < info.pictures; ++i) {
        struct tvlm_mtmd_picture picture;
        char path[600];
        assert_int_equal(tvlm_mtmd_plan_picture(plan, i, &picture), TVLM_OK);
        snprintf(path, sizeof path, "%s.%d", name, i);
        assert_int_equal(tvlm_png_write(path, (int32_t)mtmd_bitmap_get_nx(picture.bitmap),
                                        (int32_t)mtmd_bitmap_get_ny(picture.bitmap), 3,
                                        mtmd_bitmap_get_data(picture.bitmap), tvlm_log_stderr()),
                         TVLM_OK);
        fprintf(to, "picture %d %d ", picture.columns, picture.rows);
        for (int32_t t = 0; t < picture.columns * picture.rows; ++t)
            fputc(picture.kept[t] != 0 ? '1' : '0', to);
        fputc('\n', to);
    }
}
