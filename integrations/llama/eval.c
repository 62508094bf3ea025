/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eval.c: encodes and decodes chunks, of pictures only the kept tokens, each at its position in the full
 * picture.
 */
#include <string.h>

#include <mtmd-helper.h>

#include "inside.h"

/* The sections of a position with M-RoPE: time, row, column, and one that is not in use. */
#define SECTIONS 4

/* One call. */
typedef struct evaluation {
    tvlm_mtmd *chooser;
    struct llama_context *context;
    const struct tvlm_mtmd_eval_params *params;
    int32_t n_batch;
    struct tvlm_mtmd_used used;
} evaluation;

static bool cancelled(const evaluation *e) {
    return e->params->cancel != NULL && e->params->cancel(e->params->user);
}

static tvlm_status say_cancelled(const evaluation *e) {
    return tvlm_fail(&e->chooser->log, TVLM_ERROR_CANCELLED, "cancelled; the KV cache is as it was before");
}

/* What an answer of llama_decode means. */
static tvlm_status status_of(const evaluation *e, int32_t answer, int32_t tokens) {
    const tvlm_log *log = &e->chooser->log;
    if (answer == 0) return TVLM_OK;
    if (answer == 1)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "the KV cache has no room for %d more tokens", tokens);
    if (answer == 2) return say_cancelled(e);
    return tvlm_fail(log, TVLM_ERROR_DEVICE, "llama.cpp failed to decode %d tokens (%d)", tokens, answer);
}

/* ---- Text ---- */

static tvlm_status eval_text(evaluation *e, const mtmd_input_chunk *chunk, bool logits) {
    if (cancelled(e)) return say_cancelled(e);
    const int32_t tokens = (int32_t)mtmd_input_chunk_get_n_tokens(chunk);
    const double began = tvlm_mtmd_milliseconds();
    llama_pos behind = e->used.n_past;
    const int32_t answer = mtmd_helper_eval_chunk_single(e->chooser->mtmd, e->context, chunk, e->used.n_past,
                                                         e->params->seq_id, e->n_batch, logits, &behind);
    TVLM_TRY(status_of(e, answer, tokens));
    e->used.decode_ms += (float)(tvlm_mtmd_milliseconds() - began);
    e->used.n_past += tokens;
    e->used.cells += tokens;
    return TVLM_OK;
}

/* ---- Pictures ---- */

/* A batch of kept tokens, with room for `room` of them. */
typedef struct batch {
    int32_t room;
    float *rows;
    llama_pos *positions; /* [SECTIONS][tokens] with M-RoPE, else [tokens] */
    int32_t *seq_counts;
    llama_seq_id **seqs, seq;
    int8_t *logits;
} batch;

static void batch_free(batch *b) {
    free(b->rows);
    free(b->positions);
    free(b->seq_counts);
    free(b->seqs);
    free(b->logits);
}

static bool batch_make(int32_t room, size_t width, llama_seq_id seq, batch *b) {
    const size_t count = (size_t)room;
    *b = (batch){.room = room, .seq = seq};
    b->rows = tvlm_allocate(count, width * sizeof *b->rows);
    b->positions = tvlm_allocate(count, SECTIONS * sizeof *b->positions);
    b->seq_counts = tvlm_allocate(count, sizeof *b->seq_counts);
    b->seqs = tvlm_allocate(count, sizeof *b->seqs);
    b->logits = tvlm_allocate(count, sizeof *b->logits);
    if (b->rows == NULL || b->positions == NULL || b->seq_counts == NULL || b->seqs == NULL ||
        b->logits == NULL)
        return false;
    for (size_t i = 0; i < count; ++i) b->seq_counts[i] = 1;
    return true;
}

/* What of a picture is decoded. */
typedef struct picture {
    const mtmd_image_tokens *tokens;
    const int32_t *kept; /* [count] the numbers of the kept tokens */
    int32_t count;
    const float *rows; /* [tokens * width] what the encoder made of all tokens, or of the kept ones */
    size_t width;
    bool only_kept; /* of the kept ones */
} picture;

/* Puts the kept tokens from `first` on into a batch. Positions of a model without M-RoPE have no gaps,
 * which llama.cpp refuses. */
static struct llama_batch fill(const evaluation *e, const picture *p, int32_t first, batch *b) {
    const int32_t count = p->count - first < b->room ? p->count - first : b->room;
    for (int32_t i = 0; i < count; ++i) {
        const size_t token = (size_t)p->kept[first + i];
        const size_t row = p->only_kept ? (size_t)(first + i) : token;
        memcpy(b->rows + (size_t)i * p->width, p->rows + row * p->width, p->width * sizeof *b->rows);
        b->positions[i] = e->used.n_past + first + i;
        b->seqs[i] = &b->seq;
        if (!e->chooser->info.mrope) continue;
        const struct mtmd_decoder_pos at =
            mtmd_image_tokens_get_decoder_pos(p->tokens, e->used.n_past, token);
        const uint32_t sections[SECTIONS] = {at.t, at.y, at.x, at.z};
        for (int32_t s = 0; s < SECTIONS; ++s) b->positions[s * count + i] = (llama_pos)sections[s];
    }
    return (struct llama_batch){.n_tokens = count,
                                .embd = b->rows,
                                .pos = b->positions,
                                .n_seq_id = b->seq_counts,
                                .seq_id = b->seqs,
                                .logits = b->logits};
}

static tvlm_status decode(const evaluation *e, const picture *p, batch *b) {
    tvlm_status status = TVLM_OK;
    for (int32_t first = 0; status == TVLM_OK && first < p->count; first += b->room) {
        if (cancelled(e)) return say_cancelled(e);
        const struct llama_batch filled = fill(e, p, first, b);
        status = status_of(e, llama_decode(e->context, filled), filled.n_tokens);
    }
    return status;
}

static tvlm_status decode_picture(evaluation *e, const mtmd_input_chunk *chunk, const int32_t *kept,
                                  int32_t count, bool only_kept) {
    const size_t width = (size_t)llama_model_n_embd_inp(llama_get_model(e->context));
    const bool non_causal = mtmd_decode_use_non_causal(e->chooser->mtmd, chunk);
    const picture p = {.tokens = mtmd_input_chunk_get_tokens_image(chunk),
                       .kept = kept,
                       .count = count,
                       .rows = mtmd_get_output_embd(e->chooser->mtmd),
                       .width = width,
                       .only_kept = only_kept};
    const double began = tvlm_mtmd_milliseconds();
    batch b;
    tvlm_status status = TVLM_OK;
    if (!batch_make(non_causal || count < e->n_batch ? count : e->n_batch, width, e->params->seq_id, &b))
        status = tvlm_fail(&e->chooser->log, TVLM_ERROR_MEMORY, "no memory for %d tokens", count);
    if (non_causal) llama_set_causal_attn(e->context, false);
    if (status == TVLM_OK) status = decode(e, &p, &b);
    if (non_causal) llama_set_causal_attn(e->context, true);
    /* The batch is read until the backend is done. */
    llama_synchronize(e->context);
    batch_free(&b);
    e->used.decode_ms += (float)(tvlm_mtmd_milliseconds() - began);
    return status;
}

/* The numbers of the kept tokens of a picture; `shown` NULL: all. NULL: no memory. */
static int32_t *numbers_of(const tvlm_mtmd_shown *shown, int32_t all, int32_t *count) {
    int32_t *numbers = tvlm_allocate((size_t)all, sizeof *numbers);
    *count = 0;
    for (int32_t i = 0; numbers != NULL && i < all; ++i)
        if (shown == NULL || shown->kept[i] != 0) numbers[(*count)++] = i;
    return numbers;
}

/* Encodes a picture. *only_kept says whether only the kept tokens went through the encoder, which takes a
 * patch of libmtmd (before-encoder.patch), and Qwen-VL. */
static tvlm_status encode(evaluation *e, const mtmd_input_chunk *chunk, int32_t all, const int32_t *kept,
                          int32_t count, bool *only_kept) {
    const double began = tvlm_mtmd_milliseconds();
    int32_t answer = 2;
#ifdef TVLM_MTMD_PATCHED
    if (count < all) answer = mtmd_encode_chunk_kept(e->chooser->mtmd, chunk, kept, (size_t)count);
#else
    (void)kept;
#endif
    *only_kept = answer != 2;
    if (answer == 2) answer = mtmd_encode_chunk(e->chooser->mtmd, chunk);
    e->used.encode_ms += (float)(tvlm_mtmd_milliseconds() - began);
    e->used.encoded += *only_kept ? count : all;
    if (answer == 0) return TVLM_OK;
    return tvlm_fail(&e->chooser->log, TVLM_ERROR_DEVICE, "libmtmd failed to encode a picture of %d tokens",
                     all);
}

static tvlm_status eval_picture(evaluation *e, const mtmd_input_chunk *chunk, const tvlm_mtmd_shown *shown) {
    const tvlm_log *log = &e->chooser->log;
    if (cancelled(e)) return say_cancelled(e);
    const int32_t all = (int32_t)mtmd_input_chunk_get_n_tokens(chunk);
    int32_t count;
    bool only_kept;
    int32_t *kept = numbers_of(shown, all, &count);
    if (kept == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %d tokens", all);
    tvlm_status status = encode(e, chunk, all, kept, count, &only_kept);
    if (status == TVLM_OK) status = decode_picture(e, chunk, kept, count, only_kept);
    free(kept);
    TVLM_TRY(status);
    e->used.n_past += e->chooser->info.mrope ? mtmd_input_chunk_get_n_pos(chunk) : count;
    e->used.cells += count;
    e->used.image_tokens += count;
    return TVLM_OK;
}

/* ---- The call ---- */

/* The pictures of all plans, in the order of the chunks. */
typedef struct walk {
    tvlm_mtmd_plan *const *plans;
    int32_t count, plan, picture;
} walk;

static const tvlm_mtmd_shown *next_of(walk *w) {
    while (w->plan < w->count && w->picture >= w->plans[w->plan]->info.pictures) {
        ++w->plan;
        w->picture = 0;
    }
    return w->plan < w->count ? &w->plans[w->plan]->shown[w->picture++] : NULL;
}

/* Checks a chunk, and adds up what it needs. */
static tvlm_status check_chunk(const evaluation *e, const mtmd_input_chunk *chunk,
                               const tvlm_mtmd_shown *shown, int64_t *tokens) {
    const tvlm_log *log = &e->chooser->log;
    const int32_t all = (int32_t)mtmd_input_chunk_get_n_tokens(chunk),
                  kept = shown != NULL ? shown->tokens : all;
    const int32_t most = (int32_t)llama_n_ubatch(e->context);
    if (mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_AUDIO)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the chunks have sound, of which no tokens are chosen");
    if (shown != NULL && !tvlm_mtmd_is_shown(e->chooser, chunk, shown))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a picture of the chunks has %d tokens, that of its plan %d x %d", all,
                         shown->columns, shown->rows);
    const bool image = mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_IMAGE;
    if (image && kept > most && mtmd_decode_use_non_causal(e->chooser->mtmd, chunk))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the %d tokens of a picture see each other, but n_ubatch is %d", kept, most);
    *tokens += kept;
    return TVLM_OK;
}

static walk walk_of(const tvlm_mtmd_prompt *prompt) {
    return (walk){prompt->plans, prompt->count, 0, 0};
}

static evaluation evaluation_of(const tvlm_mtmd_prompt *prompt) {
    const struct tvlm_mtmd_eval_params *const params = prompt->params;
    const int32_t most = (int32_t)llama_n_batch(prompt->context);
    return (evaluation){.chooser = prompt->chooser,
                        .context = prompt->context,
                        .params = params,
                        .n_batch = params->n_batch > 0 ? params->n_batch : most};
}

tvlm_status tvlm_mtmd_check_prompt(const tvlm_mtmd_prompt *prompt, int32_t more) {
    const tvlm_log *log = &prompt->chooser->log;
    const evaluation e = evaluation_of(prompt);
    const mtmd_input_chunks *const chunks = prompt->chunks;
    walk pictures = walk_of(prompt);
    const int64_t most = llama_n_ctx_seq(prompt->context);
    int64_t tokens = more;
    const bool all = pictures.count == 0;
    for (size_t i = 0; i < mtmd_input_chunks_size(chunks); ++i) {
        const mtmd_input_chunk *chunk = mtmd_input_chunks_get(chunks, i);
        const bool image = mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_IMAGE;
        const tvlm_mtmd_shown *shown = image ? next_of(&pictures) : NULL;
        if (image && !all && shown == NULL)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the chunks have more pictures than the plans");
        TVLM_TRY(check_chunk(&e, chunk, shown, &tokens));
    }
    if (next_of(&pictures) != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the plans have more pictures than the chunks");
    if (tokens > most)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the prompt has %lld tokens, the context room for %lld",
                         (long long)tokens, (long long)most);
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_eval_range(const tvlm_mtmd_prompt *prompt, size_t first, size_t end,
                                 struct tvlm_mtmd_used *used) {
    const size_t last = mtmd_input_chunks_size(prompt->chunks) - 1;
    evaluation e = evaluation_of(prompt);
    walk pictures = walk_of(prompt);
    e.used = *used;
    for (size_t i = 0; i < end; ++i) {
        const mtmd_input_chunk *chunk = mtmd_input_chunks_get(prompt->chunks, i);
        const bool image = mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_IMAGE;
        const tvlm_mtmd_shown *const shown = image ? next_of(&pictures) : NULL;
        if (i < first) continue;
        if (image)
            TVLM_TRY(eval_picture(&e, chunk, shown));
        else
            TVLM_TRY(eval_text(&e, chunk, i == last && !e.params->no_logits));
    }
    *used = e.used;
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_check_eval(const tvlm_mtmd *chooser, const struct llama_context *context,
                                 const struct tvlm_mtmd_eval_params *params) {
    const tvlm_log *log = &chooser->log;
    const int32_t most = (int32_t)llama_n_batch(context);
    TVLM_CHECK_RESERVED(log, tvlm_mtmd_eval_params, params);
    if (params->n_past < 0 || params->n_batch < 0 || params->n_batch > most || params->seq_id < 0 ||
        params->seq_id >= (llama_seq_id)llama_n_seq_max(context))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "position %d, sequence %d and batches of %d (the context's are %d)", params->n_past,
                         params->seq_id, params->n_batch, most);
    /* llama.cpp would refuse the tokens, and what is there from this position on would be removed with them. */
    const llama_pos last = llama_memory_seq_pos_max(llama_get_memory(context), params->seq_id);
    if (params->n_past <= last)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "position %d: sequence %d has tokens up to position %d",
                         params->n_past, params->seq_id, last);
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_eval_chunks(tvlm_mtmd *chooser, struct llama_context *context,
                                  const mtmd_input_chunks *chunks, tvlm_mtmd_plan *const *plans,
                                  int32_t count, const struct tvlm_mtmd_eval_params *params,
                                  struct tvlm_mtmd_used *used) {
    static const struct tvlm_mtmd_eval_params defaults;
    TVLM_NEED(NULL, chooser);
    const tvlm_log *log = &chooser->log;
    TVLM_NEED(log, context);
    TVLM_NEED(log, chunks);
    TVLM_NEED(log, used);
    if (params == NULL) params = &defaults;
    TVLM_TRY(tvlm_mtmd_check_eval(chooser, context, params));
    if (count < 0 || (count > 0 && plans == NULL))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d plans at %p", (int)count, (const void *)plans);
    for (int32_t i = 0; i < count; ++i) TVLM_NEED(log, plans[i]);
    const tvlm_mtmd_prompt prompt = {chooser, context, chunks, plans, count, params};
    struct tvlm_mtmd_used made = {.n_past = params->n_past};
    TVLM_TRY(tvlm_mtmd_check_prompt(&prompt, 0));
    const tvlm_status status = tvlm_mtmd_eval_range(&prompt, 0, mtmd_input_chunks_size(chunks), &made);
    if (status == TVLM_OK)
        *used = made;
    else
        llama_memory_seq_rm(llama_get_memory(context), params->seq_id, params->n_past, -1);
    return status;
}
