/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.c: greedy choice. The *worth* of a candidate is its score, less the diversity times its largest
 * likeness to a candidate that was chosen. It never rises while more are chosen. So a heap orders the
 * candidates by their worth when they were last looked at. Only the one on top is looked at anew (lazy
 * greedy: Minoux 1978). The choice is the same as if all were looked at, but most candidates are never
 * compared.
 */
#include "select/pick.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/heap.h"
#include "select/likeness.h"
#include "select/spacing.h"

typedef struct picking {
    const tvlm_pick_from *from;
    int32_t k;
    float diversity;
    tvlm_likeness likeness;
    tvlm_spacing spacing; /* where there is a least distance */
    tvlm_heap left;       /* places in the ranking, the one of largest worth on top */
    float *worth;         /* [count] of each candidate when it was last looked at */
    int32_t *looked;      /* [count] how many of the chosen each candidate was compared to */
    float *nearest;       /* [count] the largest likeness among those */
    int32_t *chosen;      /* [k] places in the ranking */
    int32_t count;        /* of the chosen */
} picking;

static bool allocate(picking *p) {
    const size_t count = (size_t)p->from->count;
    p->left.items = tvlm_allocate(count, sizeof *p->left.items);
    p->worth = tvlm_allocate(count, sizeof *p->worth);
    p->looked = tvlm_allocate(count, sizeof *p->looked);
    p->nearest = tvlm_allocate(count, sizeof *p->nearest);
    p->chosen = tvlm_allocate((size_t)(p->k > 0 ? p->k : 1), sizeof *p->chosen);
    return p->left.items != NULL && p->worth != NULL && p->looked != NULL && p->nearest != NULL &&
           p->chosen != NULL;
}

static void release(picking *p) {
    free(p->left.items);
    free(p->worth);
    free(p->looked);
    free(p->nearest);
    free(p->chosen);
    tvlm_likeness_free(&p->likeness);
    tvlm_spacing_free(&p->spacing);
}

/* Of candidates of equal worth the better ranked one comes first. */
static bool comes_before(const void *user, int32_t a, int32_t b) {
    const picking *const p = user;
    return p->worth[a] > p->worth[b] || (p->worth[a] == p->worth[b] && a < b);
}

/* ---- Choosing ---- */

/* Compares a candidate to those that were chosen since it was last looked at. */
static tvlm_status look(picking *p, int32_t candidate) {
    const float score = p->from->ranked[candidate].score;
    for (; p->diversity > 0.0f && p->looked[candidate] < p->count; ++p->looked[candidate]) {
        float alike;
        TVLM_TRY(tvlm_likeness_of(&p->likeness, candidate, p->chosen[p->looked[candidate]], &alike));
        p->nearest[candidate] = fmaxf(p->nearest[candidate], alike);
    }
    p->looked[candidate] = p->count;
    p->worth[candidate] = isnan(score) ? -INFINITY : score - p->diversity * p->nearest[candidate];
    return TVLM_OK;
}

/* Whether a candidate is far enough from those that were chosen; then it is one of them. */
static bool far_enough(picking *p, int32_t candidate) {
    double x, y;
    if (p->spacing.capacity == 0) return true;
    tvlm_candidate_centre(p->from->stack, p->from->candidates, p->from->ranked[candidate].index, &x, &y);
    return tvlm_spacing_add(&p->spacing, x, y);
}

static tvlm_status choose(picking *p) {
    while (p->left.count > 0 && p->count < p->k) {
        const int32_t top = p->left.items[0];
        if (p->looked[top] < p->count) {
            TVLM_TRY(look(p, top));
            tvlm_heap_sink_top(&p->left);
            continue;
        }
        tvlm_heap_pop(&p->left);
        if (far_enough(p, top)) p->chosen[p->count++] = top;
    }
    return TVLM_OK;
}

/* Brings the chosen to the front of the ranking. */
static tvlm_status deliver(const picking *p) {
    tvlm_ranked *const ranked = p->from->ranked, *const kept =
                                                     tvlm_allocate((size_t)p->count + 1, sizeof *kept);
    if (kept == NULL)
        return tvlm_fail(tvlm_stack_log(p->from->stack), TVLM_ERROR_MEMORY, "no memory for a choice");
    for (int32_t i = 0; i < p->count; ++i) kept[i] = ranked[p->chosen[i]];
    memcpy(ranked, kept, (size_t)p->count * sizeof *kept);
    free(kept);
    return TVLM_OK;
}

static tvlm_status begin(picking *p, float distance) {
    const tvlm_pick_from *const from = p->from;
    const tvlm_stack *const stack = from->stack;
    bool made = allocate(p);
    if (made && distance > 0.0f)
        made = tvlm_spacing_make(&p->spacing, distance, fmaxf(distance, from->candidates->step_x),
                                 tvlm_stack_width(stack), tvlm_stack_height(stack), p->k > 0 ? p->k : 1);
    if (!made)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for %d positions", (int)p->k);
    for (int32_t i = 0; i < from->count; ++i) {
        p->left.items[i] = i;
        TVLM_TRY(look(p, i));
    }
    p->left.count = from->count; /* the ranking is sorted, so it is a heap already */
    return p->diversity > 0.0f ? tvlm_likeness_make(from, &p->likeness) : TVLM_OK;
}

tvlm_status tvlm_pick(const tvlm_pick_from *from, int32_t k, float distance, float diversity, int32_t *kept) {
    picking p = {.from = from, .k = k, .diversity = diversity, .left = {comes_before, &p, NULL, 0}};
    tvlm_status status = begin(&p, distance);
    if (status == TVLM_OK) status = choose(&p);
    if (status == TVLM_OK) status = deliver(&p);
    *kept = p.count;
    release(&p);
    return status;
}
