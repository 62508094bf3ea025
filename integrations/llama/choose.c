/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.c: the rule by which a way is chosen. Of as many tokens the way of least loss is taken, and of a
 * tolerance the one of fewest tokens, as by texturevlm.hf. A smaller picture is always among them, where the
 * model makes one: also where pictures were asked for.
 */
#include <math.h>
#include <stdlib.h>

#include "inside.h"

/* By how much the loss of several pictures must be the least, where they were not asked for: it is predicted
 * by another measurement than that of the others. */
#define DOUBT 0.01f
/* How many sizes behind the first that loses little enough are looked at for fewer tokens. */
#define AHEAD 4

/* What is being chosen. */
typedef struct choosing {
    tvlm_mtmd_measured *m;
    tvlm_mtmd_plan *plan;
    tvlm_mtmd_choice *choice;
    int32_t sizes[TVLM_MTMD_CANDIDATES]; /* of each candidate, its place among the sizes */
    int32_t count;
} choosing;

static void add(choosing *c, tvlm_mtmd_way way, int32_t size, int32_t tokens, float loss) {
    const tvlm_picture picture = c->m->sizes[size];
    c->sizes[c->count] = size;
    c->plan->candidates[c->count++] = (tvlm_mtmd_candidate){way, picture.columns, picture.rows, tokens, loss};
}

static void take(choosing *c, int32_t index) {
    c->plan->info.chosen = c->plan->candidates[index];
    c->choice->size = c->sizes[index];
}

/* ---- Numbers of tokens ---- */

/* `count` numbers from low to high, each larger by the same factor. */
static void geometric(int32_t low, int32_t high, int32_t *numbers, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
        numbers[i] = (int32_t)rint(low * pow((double)high / low, (double)i / (count - 1)));
}

static tvlm_status predict_from(tvlm_mtmd_measured *m, int32_t least) {
    int32_t numbers[TVLM_PICTURES_MAX - 1];
    const int32_t most = tvlm_mtmd_tokens(m->whole);
    geometric(least < most ? least : most, most, numbers, TVLM_PICTURES_MAX - 1);
    return tvlm_mtmd_predict(m, numbers, TVLM_PICTURES_MAX - 1);
}

/* The first size that loses no more than a tolerance; the last one where none does. */
static tvlm_status first_within(const tvlm_mtmd_measured *m, float tolerance, int32_t *first) {
    for (*first = 0; *first < m->count - 1; ++*first) {
        float loss;
        TVLM_TRY(tvlm_prediction_loss(m->prediction, *first, NULL, &loss));
        if (loss <= tolerance) break;
    }
    return TVLM_OK;
}

/* Predicts anew, at sizes around the least that loses no more than the tolerance. */
static tvlm_status refine(tvlm_mtmd_measured *m, float tolerance) {
    int32_t numbers[TVLM_PICTURES_MAX - 1], first, count = 0;
    TVLM_TRY(first_within(m, tolerance, &first));
    const int32_t low = tvlm_mtmd_tokens(m->sizes[first > 0 ? first - 1 : 0]),
                  high = tvlm_mtmd_tokens(m->sizes[first]);
    int32_t coarse = m->count - first < AHEAD + 1 ? m->count - first : AHEAD + 1;
    const int32_t fine = TVLM_PICTURES_MAX - 1 - coarse;
    for (int32_t i = 0; i < fine; ++i)
        numbers[count++] = (int32_t)rint(low + (double)(high - low) * i / (fine - 1));
    for (int32_t i = 0; i < coarse; ++i) numbers[count++] = tvlm_mtmd_tokens(m->sizes[first + i]);
    return tvlm_mtmd_predict(m, numbers, count);
}

/* ---- Candidates ---- */

/* The largest picture of at most so many tokens, if the model makes one. */
static tvlm_status add_smaller(choosing *c, int32_t tokens) {
    int32_t fits = -1;
    for (int32_t i = 0; i < c->m->count; ++i)
        if (tvlm_mtmd_tokens(c->m->sizes[i]) <= tokens) fits = i;
    if (fits < 0) return TVLM_OK;
    float loss;
    TVLM_TRY(tvlm_prediction_loss(c->m->prediction, fits, NULL, &loss));
    add(c, TVLM_MTMD_SMALLER, fits, tvlm_mtmd_tokens(c->m->sizes[fits]), loss);
    c->plan->info.smaller = c->plan->candidates[c->count - 1];
    return TVLM_OK;
}

/* So many tokens of the size of which they lose least. */
static tvlm_status add_pruned(choosing *c, int32_t tokens) {
    float least = INFINITY;
    int32_t best = -1;
    for (int32_t i = 0; i < c->m->count; ++i) {
        float loss;
        if (tvlm_mtmd_tokens(c->m->sizes[i]) <= tokens) continue;
        TVLM_TRY(tvlm_prediction_keep(c->m->prediction, i, tokens, NULL, &loss));
        if (best >= 0 && !(loss < least)) continue;
        least = loss;
        best = i;
    }
    if (best >= 0) add(c, TVLM_MTMD_PRUNED, best, tokens, least);
    return TVLM_OK;
}

static tvlm_status add_pictures(choosing *c, int32_t tokens, float tolerance) {
    tvlm_mtmd_cut *cut = &c->choice->cut;
    if (c->m->chooser->info.columns > 0) return TVLM_OK; /* each picture would have all tokens */
    TVLM_TRY(tvlm_mtmd_cut_out(c->m, tokens, tolerance, cut));
    if (cut->count == 0) return TVLM_OK;
    c->sizes[c->count] = -1;
    c->plan->candidates[c->count++] =
        (tvlm_mtmd_candidate){TVLM_MTMD_PICTURES, cut->columns, cut->rows, cut->tokens, cut->loss};
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_best(const tvlm_mtmd_measured *measured, int32_t tokens, uint8_t *kept) {
    const tvlm_mtmd_measured *const m = measured;
    const size_t all = (size_t)tvlm_mtmd_tokens(m->whole);
    float *scores = tvlm_allocate(all, sizeof *scores);
    int32_t *best = tvlm_allocate((size_t)tokens, sizeof *best);
    tvlm_status status = TVLM_OK;
    if (scores == NULL || best == NULL)
        status = tvlm_fail(&m->chooser->log, TVLM_ERROR_MEMORY, "no memory for scores");
    else {
        status = tvlm_score(m->stack, m->query, tvlm_score_params(.stride = (float)m->chooser->info.side),
                            all, scores);
        if (status == TVLM_OK)
            status = tvlm_topk(m->chooser->device, scores, (int32_t)all, tokens, best, NULL);
        for (int32_t i = 0; status == TVLM_OK && i < tokens; ++i) kept[best[i]] = 1;
    }
    free(scores);
    free(best);
    return status;
}

static tvlm_status add_cells(choosing *c, int32_t tokens) {
    const int32_t last = c->m->count - 1;
    uint8_t *kept = tvlm_allocate((size_t)tvlm_mtmd_tokens(c->m->whole), 1);
    if (kept == NULL) return tvlm_fail(&c->m->chooser->log, TVLM_ERROR_MEMORY, "no memory for cells");
    float loss = 0.0f;
    tvlm_status status = tvlm_mtmd_best(c->m, tokens, kept);
    if (status == TVLM_OK) status = tvlm_prediction_loss(c->m->prediction, last, kept, &loss);
    free(kept);
    if (status == TVLM_OK) add(c, TVLM_MTMD_CELLS, last, tokens, loss);
    return status;
}

/* ---- The choice ---- */

static float preferred(const tvlm_mtmd_candidate *one, tvlm_mtmd_way way) {
    return one->loss + (one->way == TVLM_MTMD_PICTURES && way == TVLM_MTMD_AUTO ? DOUBT : 0.0f);
}

/* Whether a candidate may be taken where a way was asked for: its own, and in place of pictures one picture of all
 * tokens, which they must be better than. Not pruned for pictures: the encoder sees more then. Pruned stays what it
 * is: a trained model answered more by it than by smaller pictures that were predicted to lose less. */
static bool may_be(tvlm_mtmd_way way, tvlm_mtmd_way candidate) {
    if (way == TVLM_MTMD_AUTO || candidate == way) return true;
    const bool whole = candidate == TVLM_MTMD_SMALLER || candidate == TVLM_MTMD_FULL;
    return whole && (way == TVLM_MTMD_SMALLER || way == TVLM_MTMD_PICTURES);
}

/* Of the candidates that may be taken for a way the one of least loss, or of fewest tokens; -1: there is none. */
static int32_t best_of(const choosing *c, tvlm_mtmd_way way, bool fewest) {
    int32_t best = -1;
    for (int32_t i = 0; i < c->count; ++i) {
        const tvlm_mtmd_candidate *one = &c->plan->candidates[i],
                                  *other = &c->plan->candidates[best < 0 ? i : best];
        if (!may_be(way, one->way)) continue;
        const bool better =
            fewest ? one->tokens < other->tokens : preferred(one, way) < preferred(other, way);
        if (best < 0 || better) best = i;
    }
    return best;
}

static tvlm_status refuse_none(const choosing *c, tvlm_mtmd_way way, int32_t tokens) {
    const tvlm_mtmd *chooser = c->m->chooser;
    const int32_t least = tvlm_mtmd_tokens(c->m->sizes[0]);
    if (chooser->info.columns > 0)
        return tvlm_fail(
            &chooser->log, TVLM_ERROR_ARGUMENT,
            "the model's pictures all have %d tokens: it has the ways pruned and cells, but not %s", least,
            tvlm_mtmd_way_name(way));
    return tvlm_fail(
        &chooser->log, TVLM_ERROR_ARGUMENT,
        "the model makes no picture of at most %d tokens of an image of %d x %d pixels: its least one has %d, without those "
        "around it",
        tokens, c->m->image.width, c->m->image.height, least);
}

/* Chooses among ways of at most so many tokens. */
static tvlm_status choose_tokens(choosing *c, tvlm_mtmd_way way, int32_t tokens) {
    const int32_t all = tvlm_mtmd_tokens(c->m->whole);
    float loss;
    if (tokens >= all) {
        TVLM_TRY(predict_from(c->m, all));
        TVLM_TRY(tvlm_prediction_loss(c->m->prediction, c->m->count - 1, NULL, &loss));
        add(c, TVLM_MTMD_FULL, c->m->count - 1, all, loss);
        c->plan->info.smaller = c->plan->candidates[0];
        take(c, 0);
        return TVLM_OK;
    }
    TVLM_TRY(predict_from(c->m, tokens));
    TVLM_TRY(add_smaller(c, tokens));
    TVLM_TRY(add_pruned(c, tokens));
    if (way == TVLM_MTMD_AUTO || way == TVLM_MTMD_PICTURES) TVLM_TRY(add_pictures(c, tokens, 0.0f));
    if (way == TVLM_MTMD_CELLS) TVLM_TRY(add_cells(c, tokens));
    const int32_t best = best_of(c, way, false);
    if (best < 0) return refuse_none(c, way, tokens);
    take(c, best);
    return TVLM_OK;
}

/* Adds the fewest tokens of sizes from `first` on that lose no more than the tolerance: of all those
 * sizes, the best. */
static tvlm_status add_pruned_within(choosing *c, int32_t first, float tolerance) {
    int32_t best = -1, fewest = 0;
    for (int32_t i = first; i < c->m->count && i < first + AHEAD; ++i) {
        int32_t n;
        TVLM_TRY(tvlm_prediction_least(c->m->prediction, i, tolerance, &n));
        if (n < 0 || n >= tvlm_mtmd_tokens(c->m->sizes[i]) || (best >= 0 && n >= fewest)) continue;
        best = i;
        fewest = n > 0 ? n : 1;
    }
    if (best < 0) return TVLM_OK;
    float loss;
    TVLM_TRY(tvlm_prediction_keep(c->m->prediction, best, fewest, NULL, &loss));
    add(c, TVLM_MTMD_PRUNED, best, fewest, loss);
    return TVLM_OK;
}

/* Chooses the way of fewest tokens that loses no more than a tolerance. */
static tvlm_status choose_tolerance(choosing *c, tvlm_mtmd_way way, float tolerance) {
    const bool square = c->m->chooser->info.columns > 0;
    tvlm_picture least = c->m->whole;
    int32_t first;
    float loss;
    if (!square)
        TVLM_TRY(tvlm_mtmd_size_within(c->m->chooser, c->m->image.width, c->m->image.height, 1, &least));
    TVLM_TRY(predict_from(c->m, tvlm_mtmd_tokens(least)));
    if (!square) TVLM_TRY(refine(c->m, tolerance));
    TVLM_TRY(first_within(c->m, tolerance, &first));
    TVLM_TRY(tvlm_prediction_loss(c->m->prediction, first, NULL, &loss));
    add(c, first == c->m->count - 1 ? TVLM_MTMD_FULL : TVLM_MTMD_SMALLER, first,
        tvlm_mtmd_tokens(c->m->sizes[first]), loss);
    c->plan->info.smaller = c->plan->candidates[0];
    if (way == TVLM_MTMD_AUTO || way == TVLM_MTMD_PRUNED) TVLM_TRY(add_pruned_within(c, first, tolerance));
    if (way == TVLM_MTMD_AUTO || way == TVLM_MTMD_PICTURES)
        TVLM_TRY(add_pictures(c, 0, tolerance == 0.0f ? TVLM_EXPLICIT_ZERO : tolerance));
    const int32_t best = best_of(c, way, true);
    take(c, best < 0 ? 0 : best);
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_choose(tvlm_mtmd_measured *measured, const struct tvlm_mtmd_params *params,
                             int32_t budget, tvlm_mtmd_plan *plan, tvlm_mtmd_choice *choice) {
    choosing c = {.m = measured, .plan = plan, .choice = choice};
    plan->info.smaller = (tvlm_mtmd_candidate){.way = TVLM_MTMD_SMALLER, .loss = 1.0f};
    const float tolerance = tvlm_or_default(params->tolerance, TVLM_TOLERANCE_READABLE);
    TVLM_TRY(budget > 0 ? choose_tokens(&c, params->way, budget)
                        : choose_tolerance(&c, params->way, tolerance));
    plan->info.candidates = c.count;
    return TVLM_OK;
}
