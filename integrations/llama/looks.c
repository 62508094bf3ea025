/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looks.c: two looks, by the rule of texturevlm.hf. The first is a small picture and the question. The second
 * is the same prompt, in which those tokens of the full picture follow the small one that the first look's
 * attention rested on. The keys and values up to the end of the small picture are not computed again.
 */
#include <math.h>
#include <string.h>

#include "inside.h"

#define FIRST 0.65 /* the share of the tokens that the first look takes */
#define SHOWS 8.0  /* so many pixels of the first look, at least, show what must be found */
#define MOST  0.8  /* above this share a first look leaves too few tokens for the second */
/* The side in pixels of what must be found on the full picture, where tokens are not larger. */
#define OBJECT 28.0

/* ---- How the tokens are divided ---- */

/* `rest` tokens are for the second look, with those around its picture. 0: one look is better. */
typedef struct division {
    tvlm_picture small, full;
    int32_t rest;
} division;

static tvlm_status divide(const tvlm_mtmd *chooser, const tvlm_image *image,
                          const struct tvlm_mtmd_params *params, division *d) {
    *d = (division){.rest = 0};
    TVLM_TRY(tvlm_mtmd_size(chooser, image->width, image->height, &d->full.columns, &d->full.rows));
    const int32_t all = tvlm_mtmd_tokens(d->full), wanted = tvlm_mtmd_budget(chooser, all, params);
    const double shows = SHOWS / fmax(chooser->info.side, OBJECT);
    const double first = fmax(FIRST * wanted, shows * shows * all);
    if (wanted >= all || first > MOST * wanted) return TVLM_OK;
    TVLM_TRY(tvlm_mtmd_size_within(chooser, image->width, image->height, (int32_t)lrint(first), &d->small));
    const int32_t rest = wanted - tvlm_mtmd_tokens(d->small);
    d->rest = rest > chooser->info.around ? rest : 0;
    return TVLM_OK;
}

/* ---- Where the second look looks ---- */

/* A place between two tokens of the small picture: the first of them, the second, and how near that is. */
typedef struct between {
    int32_t low, high;
    float share;
} between;

static between place_of(int32_t at, int32_t count, int32_t small) {
    const float place = fmaxf(((float)at + 0.5f) * (float)small / (float)count - 0.5f, 0.0f);
    const int32_t low = (int32_t)place;
    return (between){low, low + 1 < small ? low + 1 : low, place - (float)low};
}

/* The attention at a token of the full picture, between those of the small one. */
static float attention_at(const float *attention, const division *d, int32_t column, int32_t row) {
    const between x = place_of(column, d->full.columns, d->small.columns),
                  y = place_of(row, d->full.rows, d->small.rows);
    const float *const above = attention + y.low * d->small.columns, *const below = attention +
                                                                                    y.high * d->small.columns;
    const float upper = above[x.low] + (above[x.high] - above[x.low]) * x.share,
                lower = below[x.low] + (below[x.high] - below[x.low]) * x.share;
    return upper + (lower - upper) * y.share;
}

typedef struct place {
    float attention;
    int32_t token;
} place;

static int by_attention(const void *a, const void *b) {
    const place *const p = a, *const q = b;
    if (p->attention != q->attention) return p->attention < q->attention ? 1 : -1;
    return (p->token > q->token) - (p->token < q->token);
}

/* Which tokens of the full picture are seen; NULL: no memory. */
static uint8_t *places(const float *attention, const division *d, int32_t count) {
    const int32_t all = tvlm_mtmd_tokens(d->full);
    place *const sorted = tvlm_allocate((size_t)all, sizeof *sorted);
    uint8_t *kept = tvlm_allocate((size_t)all, 1);
    for (int32_t i = 0; sorted != NULL && i < all; ++i)
        sorted[i] = (place){attention_at(attention, d, i % d->full.columns, i / d->full.columns), i};
    if (sorted != NULL) qsort(sorted, (size_t)all, sizeof *sorted, by_attention);
    if (sorted == NULL) {
        free(kept);
        kept = NULL;
    }
    for (int32_t i = 0; kept != NULL && i < count && i < all; ++i) kept[sorted[i].token] = 1;
    free(sorted);
    return kept;
}

/* ---- The looks ---- */

/* One call. */
typedef struct looking {
    tvlm_mtmd_prompt prompt; /* its chunks are those of the present look */
    tvlm_mtmd_watch *watch;
    const char *text;
    bool add_special;
    tvlm_mtmd_rgb image;
    division d;
    tvlm_mtmd_plan *plan;
    mtmd_input_chunks *chunks, *first_chunks;
    size_t behind;   /* the number of the chunk behind the small picture */
    bool decoded;    /* something may be in the KV cache */
    double deciding; /* milliseconds */
    struct tvlm_mtmd_used used;
} looking;

/* Makes the chunks of the plan's pictures, behind which `more` tokens are to come. */
static tvlm_status chunks_of(looking *l, int32_t more) {
    TVLM_TRY(tvlm_mtmd_tokenize(l->prompt.chooser, l->text, l->add_special, &l->plan, 1, &l->chunks));
    l->prompt.chunks = l->chunks;
    l->prompt.plans = &l->plan;
    l->prompt.count = 1;
    return tvlm_mtmd_check_prompt(&l->prompt, more);
}

/* Reads the attention on the small picture, whose tokens are the last ones of `shown`, while `asked` has
 * those of the whole prompt. */
static tvlm_status read_attention(looking *l, const struct tvlm_mtmd_used *shown,
                                  const struct tvlm_mtmd_used *asked) {
    const int32_t small = tvlm_mtmd_tokens(l->d.small);
    l->plan->attention = tvlm_allocate((size_t)small, sizeof(float));
    if (l->plan->attention == NULL)
        return tvlm_fail(&l->prompt.chooser->log, TVLM_ERROR_MEMORY, "no memory for a first look");
    l->plan->info.attention = l->plan->attention;
    return tvlm_mtmd_watch_attention(l->watch, asked->cells, shown->cells - small, small, l->plan->attention);
}

/* The number of the chunk behind the first picture; there is one. */
static size_t behind_picture(const mtmd_input_chunks *chunks) {
    size_t i = 0;
    while (mtmd_input_chunk_get_type(mtmd_input_chunks_get(chunks, i)) != MTMD_INPUT_CHUNK_TYPE_IMAGE) ++i;
    return i + 1;
}

static tvlm_status first_look(looking *l) {
    const struct llama_model *const model = llama_get_model(l->prompt.context);
    const size_t count = mtmd_input_chunks_size(l->chunks);
    l->behind = behind_picture(l->chunks);
    tvlm_mtmd_prompt prompt = l->prompt;
    struct tvlm_mtmd_eval_params params = *l->prompt.params;
    params.no_logits = true;
    prompt.params = &params;
    l->decoded = true;
    tvlm_mtmd_watch_begin(l->watch, llama_model_n_layer(model) / 2);
    tvlm_status status = tvlm_mtmd_eval_range(&prompt, 0, l->behind, &l->used);
    struct tvlm_mtmd_used asked = l->used;
    if (status == TVLM_OK) status = tvlm_mtmd_eval_range(&prompt, l->behind, count, &asked);
    tvlm_mtmd_watch_end(l->watch);
    TVLM_TRY(status);
    const double began = tvlm_mtmd_milliseconds();
    TVLM_TRY(read_attention(l, &l->used, &asked));
    l->deciding += tvlm_mtmd_milliseconds() - began;
    if (!llama_memory_seq_rm(llama_get_memory(l->prompt.context), params.seq_id, l->used.n_past, -1))
        return tvlm_fail(&l->prompt.chooser->log, TVLM_ERROR_UNSUPPORTED,
                         "the model's memory cannot forget the question of a first look");
    l->used.again = asked.cells - l->used.cells;
    l->used.decode_ms = asked.decode_ms;
    return TVLM_OK;
}

/* Whether two chunks of text have the same tokens. */
static bool is_same_text(const mtmd_input_chunk *a, const mtmd_input_chunk *b) {
    size_t count, other;
    const llama_token *const p = mtmd_input_chunk_get_tokens_text(a, &count),
                             *const q = mtmd_input_chunk_get_tokens_text(b, &other);
    return p != NULL && q != NULL && count == other && memcmp(p, q, count * sizeof *p) == 0;
}

/* Whether the prompts of both looks are the same up to the end of the small picture, which was looked at when
 * the chunks were made. */
static bool begin_the_same(const looking *l) {
    if (mtmd_input_chunks_size(l->chunks) <= l->behind) return false;
    for (size_t i = 0; i + 1 < l->behind; ++i)
        if (!is_same_text(mtmd_input_chunks_get(l->chunks, i), mtmd_input_chunks_get(l->first_chunks, i)))
            return false;
    return mtmd_input_chunk_get_type(mtmd_input_chunks_get(l->chunks, l->behind - 1)) ==
           MTMD_INPUT_CHUNK_TYPE_IMAGE;
}

/* Shows the tokens of the full picture that the first look rested on. */
static tvlm_status show_places(looking *l) {
    const tvlm_mtmd *const chooser = l->prompt.chooser;
    const double began = tvlm_mtmd_milliseconds();
    uint8_t *const kept = places(l->plan->attention, &l->d, l->d.rest - chooser->info.around);
    l->deciding += tvlm_mtmd_milliseconds() - began;
    if (kept == NULL) return tvlm_fail(&chooser->log, TVLM_ERROR_MEMORY, "no memory for a second look");
    const int32_t all[4] = {0, 0, l->image.width, l->image.height};
    return tvlm_mtmd_show_part(chooser, l->plan, &l->image, all, l->d.full, kept, all);
}

static tvlm_status second_look(looking *l) {
    TVLM_TRY(show_places(l));
    l->first_chunks = l->chunks;
    l->chunks = NULL;
    TVLM_TRY(chunks_of(l, 0));
    if (!begin_the_same(l))
        return tvlm_fail(&l->prompt.chooser->log, TVLM_ERROR_UNSUPPORTED,
                         "the prompts of two looks differ before the end of the small picture");
    return tvlm_mtmd_eval_range(&l->prompt, l->behind, mtmd_input_chunks_size(l->chunks), &l->used);
}

/* Writes what was chosen into the plan. */
static void describe(looking *l) {
    const int32_t around = l->prompt.chooser->info.around;
    struct tvlm_mtmd_plan_info *const info = &l->plan->info;
    info->chosen =
        (tvlm_mtmd_candidate){TVLM_MTMD_LOOKS, l->d.small.columns, l->d.small.rows,
                              l->plan->shown[0].tokens + l->plan->shown[1].tokens + 2 * around, NAN};
    info->smaller = (tvlm_mtmd_candidate){.way = TVLM_MTMD_SMALLER, .loss = 1.0f};
    info->full = tvlm_mtmd_tokens(l->d.full) + around;
    info->candidates = 1;
    info->milliseconds = (float)l->deciding;
    l->plan->candidates[0] = info->chosen;
}

static tvlm_status look_both(looking *l) {
    const tvlm_mtmd *const chooser = l->prompt.chooser;
    l->plan = tvlm_allocate(1, sizeof *l->plan);
    if (l->plan != NULL) l->plan->shown = tvlm_allocate(2, sizeof *l->plan->shown);
    if (l->plan == NULL || l->plan->shown == NULL)
        return tvlm_fail(&chooser->log, TVLM_ERROR_MEMORY, "no memory for a plan");
    l->plan->log = chooser->log;
    const int32_t all[4] = {0, 0, l->image.width, l->image.height};
    TVLM_TRY(tvlm_mtmd_show_part(chooser, l->plan, &l->image, all, l->d.small, NULL, all));
    TVLM_TRY(chunks_of(l, l->d.rest)); /* of both looks, before anything is encoded */
    TVLM_TRY(first_look(l));
    TVLM_TRY(second_look(l));
    describe(l);
    return TVLM_OK;
}

/* One look in auto's way. */
static tvlm_status look_once(looking *l, const tvlm_image *image, const struct tvlm_mtmd_params *params) {
    TVLM_TRY(tvlm_mtmd_prepare(l->prompt.chooser, image, params, &l->plan));
    TVLM_TRY(chunks_of(l, 0));
    l->decoded = true;
    return tvlm_mtmd_eval_range(&l->prompt, 0, mtmd_input_chunks_size(l->chunks), &l->used);
}

static tvlm_status look(looking *l, const tvlm_image *image, const struct tvlm_mtmd_params *params) {
    const tvlm_mtmd *const chooser = l->prompt.chooser;
    TVLM_TRY(tvlm_mtmd_rgb_of(&chooser->log, image, &l->image));
    const double began = tvlm_mtmd_milliseconds();
    TVLM_TRY(divide(chooser, image, params, &l->d));
    l->deciding = tvlm_mtmd_milliseconds() - began;
    return l->d.rest > 0 ? look_both(l) : look_once(l, image, params);
}

/* ---- mtmd.h ---- */

static tvlm_status check(const tvlm_mtmd *chooser, const struct llama_context *context,
                         const struct tvlm_mtmd_look_params *params) {
    const tvlm_log *const log = &chooser->log;
    const struct llama_model *const model = llama_get_model(context);
    TVLM_CHECK_RESERVED(log, tvlm_mtmd_look_params, params);
    TVLM_TRY(tvlm_mtmd_check_params(chooser, &params->spending));
    TVLM_TRY(tvlm_mtmd_check_eval(chooser, context, &params->eval));
    if (params->spending.budget == 0 && params->spending.share == 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "two looks spend a budget or a share: give one of them");
    if (params->spending.way != TVLM_MTMD_AUTO || params->spending.query != NULL)
        return tvlm_fail(
            log, TVLM_ERROR_ARGUMENT,
            "two looks choose the pictures by the question in the prompt: the way is auto, and there is no query");
    if (!chooser->info.mrope)
        return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED,
                         "two looks are for models whose pictures have sizes of their own, with M-RoPE");
    if (llama_model_is_recurrent(model) || llama_model_is_hybrid(model))
        return tvlm_fail(
            log, TVLM_ERROR_UNSUPPORTED,
            "two looks are for models with attention in each layer: others cannot forget a question");
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_look_twice(tvlm_mtmd *chooser, struct llama_context *context, tvlm_mtmd_watch *watch,
                                 const char *prompt, const tvlm_image *image,
                                 const struct tvlm_mtmd_look_params *params, tvlm_mtmd_plan **plan,
                                 struct tvlm_mtmd_used *used) {
    TVLM_NEED(NULL, chooser);
    const tvlm_log *const log = &chooser->log;
    TVLM_NEED(log, context);
    TVLM_NEED(log, watch);
    TVLM_NEED(log, prompt);
    TVLM_NEED(log, image);
    TVLM_NEED(log, params);
    TVLM_NEED(log, plan);
    TVLM_NEED(log, used);
    TVLM_TRY(check(chooser, context, params));
    looking l = {.prompt = {.chooser = chooser, .context = context, .params = &params->eval},
                 .watch = watch,
                 .text = prompt,
                 .add_special = params->add_special,
                 .used = {.n_past = params->eval.n_past}};
    const tvlm_status status = look(&l, image, &params->spending);
    mtmd_input_chunks_free(l.chunks);
    mtmd_input_chunks_free(l.first_chunks);
    tvlm_mtmd_rgb_free(&l.image);
    if (status != TVLM_OK) {
        if (l.decoded)
            llama_memory_seq_rm(llama_get_memory(context), params->eval.seq_id, params->eval.n_past, -1);
        tvlm_mtmd_plan_destroy(&l.plan);
        return status;
    }
    *plan = l.plan;
    *used = l.used;
    return TVLM_OK;
}
