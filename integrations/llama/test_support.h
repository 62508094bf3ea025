/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_support.h: a model of random weights (models.py), opened by llama.cpp, and drawn images to ask it
 * about.
 */
#ifndef TVLM_TEST_SUPPORT_H
#define TVLM_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <texturevlm/texturevlm.h>

#include <mtmd-helper.h>
#include <texturevlm/mtmd.h>

/* What a test has. `lines` counts the lines that the library has written, and `line` is the last one. */
typedef struct opened {
    struct llama_model *model;
    struct llama_context *context;
    mtmd_context *mtmd;
    tvlm_device *device;
    tvlm_mtmd *chooser;
    tvlm_log log;
    int lines;
    char line[1024];
    char folder[512];
} opened;

#define TEST_CONTEXT 4096
#define TEST_BATCH   512

/* The folders of models, one for each test that runs over all of them; ended by NULL. */
extern const char *const *test_models;

/* Opens a model, on the first CPU device or the reference, with a context of so many cells. */
void test_open(opened *o, const char *folder, uint32_t cells);
void test_close(opened *o);

/* An image of random blocks of many sizes, in which much can be dropped. Its pixels are static until the
 * next call with another seed. With `full` there is something to see everywhere. */
tvlm_image test_image(int32_t width, int32_t height, uint32_t seed, bool full, uint8_t **pixels);

/* The prompt around one image, or around `images` of them. */
const char *test_prompt(int32_t images);

/* How many cells a sequence has in the KV cache, by the size of its saved state. */
int32_t test_cells(opened *o);

/* The logits of the last token; they are the context's. */
const float *test_logits(opened *o);
int32_t test_vocabulary(const opened *o);
llama_token test_likeliest(opened *o);

/* Decodes one token of sequence 0, and has its logits made. */
void test_decode(opened *o, llama_token token, llama_pos position);

/* The largest difference of two arrays. */
float test_apart(const float *a, const float *b, int32_t count);

/* Prepares, tokenizes and evaluates one image, from position 0 on an empty context. The plan is the
 * caller's. */
tvlm_mtmd_plan *test_run(opened *o, const tvlm_image *image, const struct tvlm_mtmd_params *params,
                         const struct tvlm_mtmd_eval_params *how, struct tvlm_mtmd_used *used);

#endif
