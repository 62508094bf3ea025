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
#include <stdio.h>

#include <cmocka.h>

#include <texturevlm/texturevlm.h>

#include <mtmd-helper.h>
#include <texturevlm/mtmd.h>

/* What a test has. `lines` counts the lines that the library has written, and `line` is the last one. */
typedef struct opened {
    struct llama_model *model;
    struct llama_context *context;
    mtmd_context *mtmd;
    tvlm_mtmd_watch *watch; /* of the context */
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

/* Runs a function for each model. */
#define FOR_EACH_MODEL(o)                                                                                    \
    for (const char *const *folder = test_models; *folder != NULL; ++folder)                                 \
        for (int once = (test_open((o), *folder, TEST_CONTEXT), 1); once; once = (test_close(o), 0))

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

/* Prepares, tokenizes and evaluates one image, from position 0 on an empty context. The way may be LOOKS. The
 * plan is the caller's. */
tvlm_mtmd_plan *test_run(opened *o, const tvlm_image *image, const struct tvlm_mtmd_params *params,
                         const struct tvlm_mtmd_eval_params *how, struct tvlm_mtmd_used *used);

/* Whether pictures have sizes of their own. */
bool test_has_sizes(const opened *o);
struct tvlm_mtmd_plan_info test_info_of(const tvlm_mtmd_plan *plan);
/* The logits, to be freed. */
float *test_copy_logits(opened *o);
/* Writes picture N of a plan, as libmtmd is given it, into the PNG NAME.N, and a line of each to a file:
 * picture COLUMNS ROWS KEPT. KEPT is a 0 or a 1 for each token. */
void test_write_pictures(const tvlm_mtmd_plan *plan, const char *name, FILE *to);
/* Checks what must hold of a plan, and of what was done with it. */
void test_check_plan(opened *o, const tvlm_mtmd_plan *plan, const struct tvlm_mtmd_used *used,
                     int32_t budget);
/* A `cancel` that says yes after as many calls as the int at `user`. */
bool test_after(void *user);

/* The whole number that an argument of a program is, above 0. */
int32_t test_number(const char *text);

#endif
