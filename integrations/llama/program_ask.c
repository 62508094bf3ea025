/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texturevlm/io.h>

/* ---- Images ---- */

void program_forget_images(program *p) {
    for (int i = 0; i < p->plan_count; ++i) tvlm_mtmd_plan_destroy(&p->plans[i]);
    p->plan_count = 0;
    tvlm_image_destroy(&p->image);
    free(p->path);
    p->path = NULL;
}

/* Says what each of two looks shows. */
static void report_looks(const tvlm_mtmd_plan *plan) {
    static const char *const names[] = {"first", "second"};
    struct tvlm_mtmd_picture one;
    for (int32_t i = 0; i < 2 && tvlm_mtmd_plan_picture(plan, i, &one) == TVLM_OK; ++i)
        program_tell("    %s look: %d tokens of %d x %d", names[i], one.tokens, one.columns, one.rows);
}

static void report(const tvlm_mtmd_plan *plan, const struct tvlm_mtmd_plan_info *info) {
    for (int32_t i = 0; i < info->candidates; ++i) {
        tvlm_mtmd_candidate one;
        if (tvlm_mtmd_plan_candidate(plan, i, &one) != TVLM_OK) continue;
        program_tell("    %s: %d tokens of %d x %d, loss %.3f", tvlm_mtmd_way_name(one.way), one.tokens,
                     one.columns, one.rows, (double)one.loss);
    }
}

/* Takes over the plan of an image, and says what it is. */
static int take(program *p, const char *path, tvlm_mtmd_plan *plan) {
    struct tvlm_mtmd_plan_info info;
    p->plans[p->plan_count++] = plan;
    if (tvlm_mtmd_plan_get_info(plan, &info) != TVLM_OK) return 1;
    if (info.chosen.way == TVLM_MTMD_LOOKS)
        program_tell("%s: two looks, %d tokens of %d, chosen in %.0f ms", path, info.chosen.tokens, info.full,
                     (double)info.milliseconds);
    else
        program_tell("%s: %s, %d tokens of %d, loss %.3f, chosen in %.0f ms", path,
                     tvlm_mtmd_way_name(info.chosen.way), info.chosen.tokens, info.full,
                     (double)info.chosen.loss, (double)info.milliseconds);
    if (p->options.report && info.chosen.way == TVLM_MTMD_LOOKS)
        report_looks(plan);
    else if (p->options.report)
        report(plan, &info);
    return 0;
}

/* Keeps an image until there is a question. */
static int keep_image(program *p, const char *path) {
    if (p->image != NULL) return program_fail("%s: two looks are for one image of a message", path);
    if ((p->path = program_copy(path)) == NULL) return program_fail("%s: no memory for its name", path);
    if (tvlm_image_load(path, tvlm_log_stderr(), &p->image) == TVLM_OK) return 0;
    program_forget_images(p);
    return 1;
}

int program_look(program *p, const char *path) {
    tvlm_image *image = NULL;
    if (p->options.looks == 2) return keep_image(p, path);
    if (p->plan_count == PROGRAM_IMAGES)
        return program_fail("%s: a message has at most %d images", path, PROGRAM_IMAGES);
    if (tvlm_image_load(path, tvlm_log_stderr(), &image) != TVLM_OK) return 1;
    tvlm_mtmd_plan *plan = NULL;
    const tvlm_status status = tvlm_mtmd_prepare(p->chooser, image, &p->options.spending, &plan);
    tvlm_image_destroy(&image);
    if (status != TVLM_OK) return 1; /* its log has told why */
    return take(p, path, plan);
}

/* ---- The question ---- */

static bool interrupted(void *user) {
    (void)user;
    return program_interrupted != 0;
}

/* The text with a marker before it for each image that has none in it. To be freed. */
static char *with_markers(const program *p, const char *text) {
    const char *marker = mtmd_get_marker(p->mtmd);
    const size_t length = strlen(marker);
    const size_t images = p->image != NULL ? 1 : (size_t)p->plan_count;
    const size_t count = strstr(text, marker) == NULL ? images : 0;
    const size_t bytes = strlen(text) + 1;
    char *made = malloc(count * length + bytes);
    if (made == NULL) return NULL;
    for (size_t i = 0; i < count; ++i) memcpy(made + i * length, marker, length);
    memcpy(made + count * length, text, bytes);
    return made;
}

static int decode_token(program *p, llama_token token) {
    llama_seq_id seq = 0, *seqs = &seq;
    int32_t count = 1;
    int8_t logits = 1;
    const struct llama_batch batch = {.n_tokens = 1,
                                      .token = &token,
                                      .pos = &p->n_past,
                                      .n_seq_id = &count,
                                      .seq_id = &seqs,
                                      .logits = &logits};
    const int32_t answer = llama_decode(p->context, batch);
    if (answer != 0)
        return program_fail(answer == 1 ? "the KV cache is full" : "llama.cpp failed to decode a token");
    ++p->n_past;
    return 0;
}

/* Prefills with the images' plans. */
static int look_once(program *p, const char *words, struct tvlm_mtmd_used *used) {
    mtmd_input_chunks *chunks = NULL;
    if (tvlm_mtmd_tokenize(p->chooser, words, p->n_past == 0, p->plans, p->plan_count, &chunks) != TVLM_OK)
        return 1;
    const tvlm_status status =
        tvlm_mtmd_eval_chunks(p->chooser, p->context, chunks, p->plans, p->plan_count,
                              tvlm_mtmd_eval_params(.n_past = p->n_past, .cancel = interrupted), used);
    mtmd_input_chunks_free(chunks);
    return status != TVLM_OK;
}

static int look_twice(program *p, const char *words, struct tvlm_mtmd_used *used) {
    const struct tvlm_mtmd_look_params params = {.spending = p->options.spending,
                                                 .eval = {.n_past = p->n_past, .cancel = interrupted},
                                                 .add_special = p->n_past == 0};
    tvlm_mtmd_plan *plan = NULL;
    if (tvlm_mtmd_look_twice(p->chooser, p->context, p->watch, words, p->image, &params, &plan, used) !=
        TVLM_OK)
        return 1;
    return take(p, p->path, plan);
}

/* Says what went where. Tokens around pictures count as those of images, as they do in a budget. */
static void tell_used(const program *p, const struct tvlm_mtmd_used *used) {
    struct tvlm_mtmd_plan_info info;
    int32_t images = 0;
    char again[60] = "";
    for (int i = 0; i < p->plan_count; ++i)
        if (tvlm_mtmd_plan_get_info(p->plans[i], &info) == TVLM_OK) images += info.chosen.tokens;
    if (used->again > 0)
        snprintf(again, sizeof again, " (%d of them once more for the first look)", used->again);
    program_tell(
        "%d tokens of images (%d of them around pictures) and %d of text%s, %d encoded in %.0f ms, prefill in %.0f ms",
        images, images - used->image_tokens, used->cells - images, again, used->encoded,
        (double)used->encode_ms, (double)used->decode_ms);
}

static int prefill(program *p, const char *words) {
    struct tvlm_mtmd_used used;
    if (p->last != LLAMA_TOKEN_NULL && decode_token(p, p->last) != 0) return 1;
    p->last = LLAMA_TOKEN_NULL;
    if ((p->image != NULL ? look_twice : look_once)(p, words, &used) != 0) return 1;
    p->n_past = used.n_past;
    tell_used(p, &used);
    return 0;
}

/* ---- The answer ---- */

/* A text that grows. */
typedef struct text {
    char *data;
    size_t length, room;
} text;

static bool append(text *t, const char *piece, size_t length) {
    if (t->length + length + 1 > t->room) {
        const size_t room = 2 * (t->length + length) + 64;
        char *more = realloc(t->data, room);
        if (more == NULL) return false;
        t->data = more;
        t->room = room;
    }
    memcpy(t->data + t->length, piece, length);
    t->length += length;
    t->data[t->length] = '\0';
    return true;
}

static int answer(program *p, text *said) {
    const struct llama_vocab *vocabulary = llama_model_get_vocab(p->model);
    if (!append(said, "", 0)) return program_fail("no memory for an answer");
    for (int i = 0; i != p->options.tokens && !program_interrupted; ++i) {
        char piece[256];
        const llama_token token = llama_sampler_sample(p->sampler, p->context, -1);
        if (llama_vocab_is_eog(vocabulary, token)) {
            p->last = token;
            break;
        }
        const int32_t length = llama_token_to_piece(vocabulary, token, piece, sizeof piece, 0, true);
        if (length > 0 && !append(said, piece, (size_t)length))
            return program_fail("no memory for an answer");
        if (length > 0) fwrite(piece, 1, (size_t)length, stdout);
        fflush(stdout);
        if (decode_token(p, token) != 0) return 1;
    }
    /* An answer that was cut has no end of its own, but what is asked next begins behind one. */
    if (p->last == LLAMA_TOKEN_NULL) p->last = llama_vocab_eot(vocabulary);
    if (p->last == LLAMA_TOKEN_NULL) p->last = llama_vocab_eos(vocabulary);
    putchar('\n');
    return fflush(stdout) != 0 || ferror(stdout) ? program_fail("the answer cannot be written") : 0;
}

/* Draws what the model sees of the one image. */
static int draw(const program *p) {
    struct tvlm_mtmd_info info;
    if (p->options.overlay == NULL) return 0;
    if (tvlm_mtmd_get_info(p->chooser, &info) != TVLM_OK) return 1;
    return program_overlay(p->plans[0], info.columns > 0, p->options.overlay);
}

/* Prefills with the last message and its images, and draws them. */
static int show(program *p) {
    char *prompt = program_words(p);
    const bool twice = p->image != NULL; /* then there is no plan before the question was asked */
    int failed = prompt == NULL;
    if (!failed && twice && p->options.overlay != NULL) failed = program_may_write(p->options.overlay);
    if (!failed && !twice) failed = draw(p);
    if (!failed) failed = prefill(p, prompt);
    if (!failed && twice) failed = draw(p);
    free(prompt);
    return failed;
}

int program_ask(program *p, const char *words) {
    text said = {0};
    char *question = with_markers(p, words);
    int failed =
        question == NULL ? program_fail("no memory for a message") : program_say(&p->chat, "user", question);
    free(question);
    if (!failed && show(p) != 0) {
        program_unsay(&p->chat);
        failed = 1;
    }
    program_forget_images(p);
    if (failed) return 1;
    failed = answer(p, &said) != 0 || program_say(&p->chat, "assistant", said.data) != 0;
    p->broken = failed;
    free(said.data);
    return failed;
}
