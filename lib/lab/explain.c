/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c: takes scores apart. The kernels that made the score run each channel of its program alone over
 * all candidates. The map that this makes says what the channel adds to a position.
 */
#include "texturevlm/lab/explain.h"

#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "select/score.h"
#include "select/strategy.h"
#include "stack/query.h"
#include "texturevlm/lab/network.h"

#define CENTRE (TVLM_SCORE_TAPS / 2)

/* What is to be explained. It has been checked. `reasons` has room for `capacity` entries. If that is 0,
 * nothing is filled in. */
typedef struct explanation {
    const tvlm_task *task;
    const tvlm_selection *selection;
    int32_t capacity;
    tvlm_reason *reasons;
} explanation;

/* One channel of a program: its place in a group. */
typedef struct term {
    int32_t channel, group, place;
} term;

typedef struct explaining {
    const explanation *asked;
    tvlm_candidates candidates;
    tvlm_score_program program;
    term *terms; /* [term_count] */
    int32_t term_count;
    tvlm_buffer *buffer;            /* the scores of a map, on the device */
    tvlm_scoremap values, shares;   /* the maps of the channel that is looked at */
    float *parts[TVLM_SCORE_PARTS]; /* sums of what channels add; NULL: no channel of that part */
} explaining;

static size_t candidate_count(const explaining *e) {
    return (size_t)tvlm_candidate_count(&e->candidates);
}

static const tvlm_log *log_of(const explaining *e) {
    return tvlm_stack_log(e->asked->task->stack);
}

/* ---- Which channels ---- */

static tvlm_status find_terms(explaining *e) {
    const tvlm_score_program *const p = &e->program;
    e->terms = tvlm_allocate((size_t)p->count + 1, 4 * sizeof *e->terms);
    if (e->terms == NULL) return tvlm_fail(log_of(e), TVLM_ERROR_MEMORY, "no memory for channels");
    for (int32_t g = 0; g < p->count; ++g)
        for (int32_t c = 0; c < 4; ++c)
            if (p->channels[4 * g + c] != TVLM_CHANNEL_NONE)
                e->terms[e->term_count++] = (term){p->channels[4 * g + c], g, c};
    return TVLM_OK;
}

static float weight_of(const explaining *e, const term *t) {
    const tvlm_score_group *const group = &e->program.groups[t->group];
    float sum = 0.0f;
    if (group->taps == 1) return group->weight[CENTRE][t->place];
    for (int tap = 0; tap < TVLM_SCORE_TAPS; ++tap) sum += group->weight[tap][t->place];
    return sum;
}

/* ---- Maps ---- */

/* Runs one channel over all candidates. The map is what it adds to its part, or with `plain` its value. */
static tvlm_status run_term(const explaining *e, const term *t, bool plain, tvlm_scoremap *map) {
    const tvlm_task *const task = e->asked->task;
    const tvlm_score_group *const group = &e->program.groups[t->group];
    tvlm_score_group alone = {.taps = plain ? 1 : group->taps,
                              .cap = {INFINITY, INFINITY, INFINITY, INFINITY}};
    int32_t channels[4] = {t->channel, TVLM_CHANNEL_NONE, TVLM_CHANNEL_NONE, TVLM_CHANNEL_NONE}, refs[4];
    tvlm_score_program p = {.groups = &alone, .channels = channels, .refs = refs, .count = 1, .capacity = 1};
    for (int tap = 0; tap < TVLM_SCORE_TAPS; ++tap)
        alone.weight[tap][0] = plain ? (float)(tap == CENTRE) : group->weight[tap][t->place];
    if (!plain) alone.cap[0] = group->cap[t->place];
    alone.has_level[0] = group->has_level[t->place];
    alone.level[0] = group->level[t->place];
    p.combination.weight[0] = 1.0f;
    tvlm_scoremap_free(map);
    TVLM_TRY(tvlm_score_map(task->stack, task->params.score.index, &e->candidates, &p, e->buffer));
    TVLM_TRY(tvlm_scoremap_read(task->stack, &e->candidates, e->buffer, map));
    return tvlm_scoremap_sum_up(task->stack, map);
}

static tvlm_status add_to_part(explaining *e, const term *t) {
    const int32_t part = e->program.groups[t->group].part;
    float **const sums = &e->parts[part];
    if (*sums == NULL) *sums = tvlm_allocate(candidate_count(e), sizeof **sums);
    if (*sums == NULL) return tvlm_fail(log_of(e), TVLM_ERROR_MEMORY, "no memory for the parts of scores");
    for (size_t i = 0; i < candidate_count(e); ++i) (*sums)[i] += e->shares.scores[i];
    return TVLM_OK;
}

/* ---- Reasons ---- */

/* Returns the mean over a leaf of a tree. A leaf begins at a multiple of its side, and the image's border
 * clips it. */
static float leaf_mean(const tvlm_scoremap *map, double x, double y, double size) {
    const double x0 = size * floor(x / size), y0 = size * floor(y / size);
    const double x1 = fmin(x0 + size, (double)map->width), y1 = fmin(y0 + size, (double)map->height);
    return (float)(tvlm_scoremap_sum(map, x0, y0, x1, y1) / ((x1 - x0) * (y1 - y0)));
}

/* What a map says of a position: the value of a cell, or the mean over a square. */
static float read_map(const explaining *e, const tvlm_scoremap *map, const tvlm_position *p,
                      const tvlm_scale *scale) {
    if (p->column >= 0)
        return map->scores[(size_t)p->row * (size_t)e->candidates.columns + (size_t)p->column];
    const double x = (double)p->x / scale->x, y = (double)p->y / scale->y,
                 size = (double)p->size / scale->size;
    const struct tvlm_select_params *const params = &e->asked->task->params;
    return params->strategy == TVLM_STRATEGY_QUADTREE || params->cascade.cover
               ? leaf_mean(map, x, y, size)
               : tvlm_scoremap_mean(map, x, y, size);
}

static void note_reasons(const explaining *e, int32_t number) {
    const tvlm_selection *const selection = e->asked->selection;
    const tvlm_task *const task = e->asked->task;
    const tvlm_scale scale = tvlm_scale_of(task->stack, task->params.score.index);
    for (int32_t i = 0; i < selection->count; ++i)
        e->asked->reasons[i * e->term_count + number] =
            (tvlm_reason){.channel = e->terms[number].channel,
                          .value = read_map(e, &e->values, &selection->positions[i], &scale),
                          .weight = weight_of(e, &e->terms[number]),
                          .share = read_map(e, &e->shares, &selection->positions[i], &scale)};
}

/* Returns the range by which a part was divided. This is the selection's range if it has one, else the range
 * over all candidates. */
static float span_of(const explaining *e, int32_t part) {
    const tvlm_selection *const selection = e->asked->selection;
    float low = INFINITY, high = -INFINITY;
    if (selection->spanned) return selection->spans[part];
    for (size_t i = 0; e->parts[part] != NULL && i < candidate_count(e); ++i) {
        low = fminf(low, e->parts[part][i]);
        high = fmaxf(high, e->parts[part][i]);
    }
    return high - low;
}

/* Turns what channels add to their parts into what they add to the score. */
static void scale_reasons(const explaining *e) {
    const tvlm_score_combination *const how = &e->program.combination;
    float factors[TVLM_SCORE_PARTS];
    for (int32_t part = 0; part < TVLM_SCORE_PARTS; ++part) {
        const float span = how->normalise[part] ? span_of(e, part) : 1.0f;
        factors[part] = span > TVLM_SCORE_FLOOR ? how->weight[part] / span : 0.0f;
    }
    for (int32_t i = 0; i < e->asked->selection->count * e->term_count; ++i) {
        tvlm_reason *const reason = &e->asked->reasons[i];
        const float factor = factors[e->program.groups[e->terms[i % e->term_count].group].part];
        reason->weight *= factor;
        reason->share *= factor;
    }
}

static tvlm_status explain(explaining *e) {
    const tvlm_task *const task = e->asked->task;
    tvlm_device *const device = tvlm_stack_device(task->stack);
    TVLM_TRY(tvlm_query_upload(task->stack, task->params.score.index, task->query));
    TVLM_TRY(device->backend->buffer_create(device, candidate_count(e) * sizeof(float), &e->buffer));
    for (int32_t t = 0; t < e->term_count; ++t) {
        TVLM_TRY(run_term(e, &e->terms[t], true, &e->values));
        TVLM_TRY(run_term(e, &e->terms[t], false, &e->shares));
        TVLM_TRY(add_to_part(e, &e->terms[t]));
        note_reasons(e, t);
    }
    scale_reasons(e);
    return TVLM_OK;
}

/* Refuses a selection whose cells are not those of these parameters. */
static tvlm_status check_cells(const explaining *e) {
    const tvlm_selection *const selection = e->asked->selection;
    for (int32_t i = 0; i < selection->count; ++i) {
        const tvlm_position *const p = &selection->positions[i];
        if (p->column >= e->candidates.columns ||
            (p->column >= 0 && (p->row < 0 || p->row >= e->candidates.rows)))
            return tvlm_fail(
                log_of(e), TVLM_ERROR_ARGUMENT,
                "position %d is cell %d, %d of a selection by other parameters; here there are %d x %d cells",
                (int)i, (int)p->column, (int)p->row, (int)e->candidates.columns, (int)e->candidates.rows);
    }
    return TVLM_OK;
}

static tvlm_status begin(explaining *e, int32_t *channel_count) {
    const tvlm_task *const task = e->asked->task;
    struct tvlm_score_params score = task->params.score;
    score.dense = score.dense || task->params.strategy == TVLM_STRATEGY_EXHAUSTIVE;
    TVLM_TRY(tvlm_score_candidates(task->stack, &score, &e->candidates));
    TVLM_TRY(check_cells(e));
    TVLM_TRY(tvlm_score_program_make(task->stack, task->query, &score, &e->program));
    TVLM_TRY(find_terms(e));
    *channel_count = e->term_count;
    const int64_t wanted = (int64_t)e->asked->selection->count * e->term_count;
    if (e->asked->capacity > 0 && e->asked->capacity < wanted)
        return tvlm_fail(log_of(e), TVLM_ERROR_ARGUMENT, "room for %d reasons; there are %lld",
                         (int)e->asked->capacity, (long long)wanted);
    return TVLM_OK;
}

/* Explains positions by the channels of their score. A budget's positions have no such channels: no channel
 * has a share in the amount by which a tile lowers the loss. The positions themselves say what that amount
 * is. */
static tvlm_status explain_scores(const explanation *asked, int32_t *channel_count) {
    tvlm_device *const device = tvlm_stack_device(asked->task->stack);
    explaining e = {.asked = asked};
    if (asked->task->params.strategy == TVLM_STRATEGY_BUDGET) {
        *channel_count = 0;
        return TVLM_OK;
    }
    if (asked->task->params.scores != NULL)
        return tvlm_fail(log_of(&e), TVLM_ERROR_ARGUMENT,
                         "scores of one's own cannot be explained: no channels made them");
    tvlm_status status = begin(&e, channel_count);
    if (status == TVLM_OK && asked->capacity > 0 && e.term_count > 0) status = explain(&e);
    if (e.buffer != NULL) device->backend->buffer_destroy(device, &e.buffer);
    tvlm_scoremap_free(&e.values);
    tvlm_scoremap_free(&e.shares);
    for (int part = 0; part < TVLM_SCORE_PARTS; ++part) free(e.parts[part]);
    tvlm_score_program_free(&e.program);
    free(e.terms);
    return status;
}

/* Refuses a query or a network that is wrong for any image, even if the strategy does not use it. */
static tvlm_status check_question(const tvlm_log *log, const struct tvlm_query *query,
                                  const tvlm_scorer *scorer) {
    if (query != NULL) TVLM_TRY(tvlm_query_check(log, query));
    return scorer != NULL && scorer->network != NULL ? tvlm_network_check(scorer->network, log) : TVLM_OK;
}

/* ---- lab/explain.h ---- */

tvlm_status tvlm_explain(tvlm_stack *stack, const struct tvlm_query *query,
                         const struct tvlm_select_params *params, const tvlm_selection *selection,
                         int32_t capacity, tvlm_reason *reasons, int32_t *channel_count) {
    tvlm_task task = {.stack = stack, .query = query};
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    const tvlm_log *const log = tvlm_stack_log(stack);
    TVLM_NEED(log, selection);
    TVLM_NEED(log, channel_count);
    TVLM_CHECK_RESERVED(log, tvlm_select_params, params);
    if (capacity < 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "room for %d reasons", (int)capacity);
    if (capacity > 0) TVLM_NEED(log, reasons);
    if (params != NULL) task.params = *params;
    if (task.params.strategy == TVLM_STRATEGY_DEFAULT) task.params.strategy = selection->info.strategy;
    TVLM_TRY(tvlm_strategy_check(log, &task.params));
    TVLM_TRY(check_question(log, query, task.params.score.scorer));
    if (task.params.strategy != selection->info.strategy)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "parameters of the strategy %s for a selection by %s",
                         tvlm_strategy_name(task.params.strategy),
                         tvlm_strategy_name(selection->info.strategy));
    return explain_scores(&(explanation){&task, selection, capacity, reasons}, channel_count);
}
