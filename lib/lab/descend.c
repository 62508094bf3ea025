/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/descend.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"

#define PAIRS        10 /* steps that are remembered */
#define HALVINGS_MAX 30
#define ARMIJO       1e-4 /* the least share of the gain that the slope promises */
#define SETTLED      1e-9 /* a step that gains less, relative to the value, is the last one */
#define CURVED       1e-12

/* A step that was taken, and the change of the gradient along it. */
typedef struct pair {
    double *step, *change, curvature; /* curvature: their product */
} pair;

typedef struct descent {
    size_t size;
    double *gradient, *next_gradient, *next, *direction;
    pair pairs[PAIRS];
    int32_t count, newest;
    double *memory;
} descent;

static double product(const double *a, const double *b, size_t size) {
    double sum = 0.0;
    for (size_t i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
}

static void add(double *to, double factor, const double *from, size_t size) {
    for (size_t i = 0; i < size; ++i) to[i] += factor * from[i];
}

static tvlm_status allocate(const tvlm_log *log, descent *d) {
    d->memory = tvlm_allocate((4 + 2 * PAIRS) * d->size, sizeof *d->memory);
    if (d->memory == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to solve for %zu weights", d->size);
    double *next = d->memory;
    double **const parts[] = {&d->gradient, &d->next_gradient, &d->next, &d->direction};
    for (size_t i = 0; i < 4; ++i, next += d->size) *parts[i] = next;
    for (int i = 0; i < PAIRS; ++i) {
        d->pairs[i].step = next;
        d->pairs[i].change = next + d->size;
        next += 2 * d->size;
    }
    return TVLM_OK;
}

/* direction = -H gradient, where H is what the remembered steps say of the inverse of the Hessian. */
static void find_direction(descent *d) {
    double factors[PAIRS] = {0.0};
    const size_t size = d->size;
    for (size_t i = 0; i < size; ++i) d->direction[i] = -d->gradient[i];
    for (int32_t i = 0; i < d->count; ++i) {
        const int32_t n = (d->newest + PAIRS - i) % PAIRS;
        factors[n] = product(d->pairs[n].step, d->direction, size) / d->pairs[n].curvature;
        add(d->direction, -factors[n], d->pairs[n].change, size);
    }
    if (d->count > 0) {
        const pair *const last = &d->pairs[d->newest];
        const double scale = last->curvature / product(last->change, last->change, size);
        for (size_t i = 0; i < size; ++i) d->direction[i] *= scale;
    } else {
        /* Of the first step only the direction is known. Its length is limited to 1. */
        const double length = sqrt(product(d->gradient, d->gradient, size));
        for (size_t i = 0; length > 1.0 && i < size; ++i) d->direction[i] /= length;
    }
    for (int32_t i = d->count - 1; i >= 0; --i) {
        const int32_t n = (d->newest + PAIRS - i) % PAIRS;
        const double beta = product(d->pairs[n].change, d->direction, size) / d->pairs[n].curvature;
        add(d->direction, factors[n] - beta, d->pairs[n].step, size);
    }
}

/* Remembers the step from `at` to d->next, unless the function does not bend upwards along it. */
static void remember(descent *d, const double *at) {
    const int32_t place = (d->newest + 1) % PAIRS;
    pair *const p = &d->pairs[place];
    for (size_t i = 0; i < d->size; ++i) {
        p->step[i] = d->next[i] - at[i];
        p->change[i] = d->next_gradient[i] - d->gradient[i];
    }
    p->curvature = product(p->step, p->change, d->size);
    if (!(p->curvature > CURVED * product(p->change, p->change, d->size))) {
        /* The pair that was in this place is overwritten. */
        if (d->count == PAIRS) --d->count;
        return;
    }
    d->newest = place;
    if (d->count < PAIRS) ++d->count;
}

/* Takes the step, and halves it until the value falls enough. Returns whether it did. */
static bool step(descent *d, tvlm_slope *slope, void *user, const double *at, double *value) {
    const double promise = product(d->direction, d->gradient, d->size);
    double factor = 1.0;
    for (int i = 0; i < HALVINGS_MAX; ++i, factor *= 0.5) {
        for (size_t j = 0; j < d->size; ++j) d->next[j] = at[j] + factor * d->direction[j];
        const double found = slope(user, d->next, d->next_gradient);
        if (!(found <= *value + ARMIJO * factor * promise)) continue;
        *value = found;
        return true;
    }
    return false;
}

tvlm_status tvlm_descend(const tvlm_log *log, tvlm_slope *slope, void *user, int32_t size, int32_t steps,
                         double *at, double *least) {
    descent d = {.size = (size_t)size, .newest = PAIRS - 1};
    const tvlm_status status = allocate(log, &d);
    if (status != TVLM_OK) return status;
    double value = slope(user, at, d.gradient);
    for (int32_t i = 0; i < steps; ++i) {
        const double before = value;
        find_direction(&d);
        if (!step(&d, slope, user, at, &value)) {
            if (d.count == 0) break;
            /* Where the function has corners, the remembered steps mislead. They are forgotten. */
            d.count = 0;
            continue;
        }
        remember(&d, at);
        memcpy(at, d.next, d.size * sizeof *at);
        memcpy(d.gradient, d.next_gradient, d.size * sizeof *at);
        if (before - value <= SETTLED * fmax(fabs(value), 1e-3)) break;
    }
    free(d.memory);
    if (least != NULL) *least = value;
    return TVLM_OK;
}
