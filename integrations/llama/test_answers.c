/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_answers.c FOLDER BUDGET WAY: what a model (models.py) answers to questions about photos, for
 * check_answers.py. Each line of stdin is PHOTO, a tab, QUESTION. For each of them there is a line on stdout:
 * how many tokens the photo added to the prompt, a tab, and the answer, of which each token is the likeliest.
 * It ends before the token that ends a turn, and has at most 24 tokens.
 */
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texturevlm/io.h>

#define ANSWER_MOST 24
#define LINE_SIZE   1024

/* The photo that was asked about last: its plan serves each question. */
typedef struct planned {
    char path[LINE_SIZE];
    tvlm_mtmd_plan *plan;
} planned;

static int usage(void) {
    fprintf(stderr, "usage: test_answers FOLDER BUDGET WAY <QUESTIONS\n");
    return 2;
}

static void write_answer(opened *o, llama_pos at) {
    const struct llama_vocab *const vocab = llama_model_get_vocab(o->model);
    for (int i = 0; i < ANSWER_MOST; ++i) {
        char piece[32];
        const llama_token token = test_likeliest(o);
        if (llama_vocab_is_eog(vocab, token)) break;
        const int32_t length = llama_token_to_piece(vocab, token, piece, sizeof piece, 0, false);
        if (length > 0) printf("%.*s", (int)length, piece);
        test_decode(o, token, at + i);
    }
    putchar('\n');
}

static void plan_photo(opened *o, planned *last, const char *path, const struct tvlm_mtmd_params *params) {
    tvlm_image *image = NULL;
    if (strcmp(last->path, path) == 0) return;
    tvlm_mtmd_plan_destroy(&last->plan);
    assert_int_equal(tvlm_image_load(path, tvlm_log_stderr(), &image), TVLM_OK);
    assert_int_equal(tvlm_mtmd_prepare(o->chooser, image, params, &last->plan), TVLM_OK);
    tvlm_image_destroy(&image);
    snprintf(last->path, sizeof last->path, "%s", path);
}

static void ask(opened *o, tvlm_mtmd_plan *plan, const char *question) {
    char prompt[LINE_SIZE + 32];
    mtmd_input_chunks *chunks = NULL;
    struct tvlm_mtmd_used used;
    snprintf(prompt, sizeof prompt, "%s%s\n", mtmd_default_marker(), question);
    llama_memory_clear(llama_get_memory(o->context), true);
    assert_int_equal(tvlm_mtmd_tokenize(o->chooser, prompt, false, &plan, 1, &chunks), TVLM_OK);
    assert_int_equal(tvlm_mtmd_eval_chunks(o->chooser, o->context, chunks, &plan, 1, NULL, &used), TVLM_OK);
    mtmd_input_chunks_free(chunks);
    printf("%d\t", used.image_tokens);
    write_answer(o, used.n_past);
}

int main(int argc, char **argv) {
    if (argc != 4 || tvlm_mtmd_way_find(argv[3]) < 0) return usage();
    const struct tvlm_mtmd_params params = {.budget = atoi(argv[2]),
                                            .way = (tvlm_mtmd_way)tvlm_mtmd_way_find(argv[3])};
    char line[LINE_SIZE];
    planned last = {.path = ""};
    opened o;
    test_open(&o, argv[1], TEST_CONTEXT);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *const question = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (question == NULL) return usage();
        *question = '\0';
        plan_photo(&o, &last, line, &params);
        ask(&o, last.plan, question + 1);
    }
    tvlm_mtmd_plan_destroy(&last.plan);
    test_close(&o);
    return 0;
}
