/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_answers.c FOLDER BUDGET WAY [SEEN]: what a model (models.py) answers to questions about photos, for
 * check_answers.py. Each line of stdin is PHOTO, a tab, QUESTION. For each of them there is a line on stdout:
 * how many tokens the photo added to the prompt, a tab, and the answer, of which each token is the likeliest.
 * It ends before the token that ends a turn, and has at most 24 tokens. With SEEN, which is not for two looks, the
 * pictures that are shown of photo M become SEEN.M.N, PNG files, and SEEN.M says what is kept of them
 * (test_write_pictures).
 */
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texturevlm/io.h>

#define ANSWER_MOST 24
#define LINE_SIZE   1024

/* The photo that was asked about last: its plan serves each question, but for two looks. */
typedef struct planned {
    char path[LINE_SIZE];
    tvlm_image *image;
    tvlm_mtmd_plan *plan;
    const char *seen; /* NULL: the pictures are not written */
    int count;        /* of photos so far */
} planned;

static int usage(void) {
    fprintf(stderr, "usage: test_answers FOLDER BUDGET WAY [SEEN] <QUESTIONS\n");
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

static void write_seen(const planned *last) {
    char name[LINE_SIZE];
    snprintf(name, sizeof name, "%s.%d", last->seen, last->count);
    FILE *const to = fopen(name, "w");
    assert_non_null(to);
    test_write_pictures(last->plan, name, to);
    assert_int_equal(fclose(to), 0);
}

static void plan_photo(opened *o, planned *last, const char *path, const struct tvlm_mtmd_params *params) {
    if (strcmp(last->path, path) == 0) return;
    tvlm_mtmd_plan_destroy(&last->plan);
    tvlm_image_destroy(&last->image);
    assert_int_equal(tvlm_image_load(path, tvlm_log_stderr(), &last->image), TVLM_OK);
    if (params->way != TVLM_MTMD_LOOKS)
        assert_int_equal(tvlm_mtmd_prepare(o->chooser, last->image, params, &last->plan), TVLM_OK);
    if (last->seen != NULL && last->plan != NULL) write_seen(last);
    ++last->count;
    snprintf(last->path, sizeof last->path, "%s", path);
}

/* Prefills a prompt with the photo in two looks. */
static void look_twice(opened *o, const planned *last, const struct tvlm_mtmd_params *params,
                       const char *prompt, struct tvlm_mtmd_used *used) {
    struct tvlm_mtmd_look_params looks = {.spending = *params};
    tvlm_mtmd_plan *plan = NULL;
    looks.spending.way = TVLM_MTMD_AUTO;
    assert_int_equal(
        tvlm_mtmd_look_twice(o->chooser, o->context, o->watch, prompt, last->image, &looks, &plan, used),
        TVLM_OK);
    tvlm_mtmd_plan_destroy(&plan);
}

static void look_once(opened *o, tvlm_mtmd_plan *plan, const char *prompt, struct tvlm_mtmd_used *used) {
    mtmd_input_chunks *chunks = NULL;
    assert_int_equal(tvlm_mtmd_tokenize(o->chooser, prompt, false, &plan, 1, &chunks), TVLM_OK);
    assert_int_equal(tvlm_mtmd_eval_chunks(o->chooser, o->context, chunks, &plan, 1, NULL, used), TVLM_OK);
    mtmd_input_chunks_free(chunks);
}

static void ask(opened *o, const planned *last, const struct tvlm_mtmd_params *params, const char *question) {
    char prompt[LINE_SIZE + 32];
    struct tvlm_mtmd_used used;
    snprintf(prompt, sizeof prompt, "%s%s\n", mtmd_default_marker(), question);
    llama_memory_clear(llama_get_memory(o->context), true);
    if (params->way == TVLM_MTMD_LOOKS)
        look_twice(o, last, params, prompt, &used);
    else
        look_once(o, last->plan, prompt, &used);
    printf("%d\t", used.image_tokens);
    write_answer(o, used.n_past);
}

int main(int argc, char **argv) {
    if (argc < 4 || argc > 5 || tvlm_mtmd_way_find(argv[3]) < 0) return usage();
    const struct tvlm_mtmd_params params = {.budget = test_number(argv[2]),
                                            .way = (tvlm_mtmd_way)tvlm_mtmd_way_find(argv[3])};
    char line[LINE_SIZE];
    planned last = {.path = "", .seen = argc > 4 ? argv[4] : NULL};
    opened o;
    test_open(&o, argv[1], TEST_CONTEXT);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *const question = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (question == NULL) return usage();
        *question = '\0';
        plan_photo(&o, &last, line, &params);
        ask(&o, &last, &params, question + 1);
    }
    tvlm_mtmd_plan_destroy(&last.plan);
    tvlm_image_destroy(&last.image);
    test_close(&o);
    return 0;
}
