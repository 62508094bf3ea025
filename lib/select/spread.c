/*
 * Spreading: positions move along the gradient of the area that their squares share, until the squares, which
 * together are a little larger than the image, cover it. Squares that stick out of the image are pulled in.
 */
#include <math.h>

#include "core/memory.h"
#include "select/foveated.h"

/*
 * By measurement (bench/foveated.py): the area of all squares in the image, over the image's. Every share of
 * it beyond 1 is covered twice, or hides a gap of the same size.
 */
#define FINAL_AREA 1.19
#define MOVED_AREA 1.15 /* while they move: some pressure, or they stop where they just touch */
#define STEPS      12
#define STEPS_FEW                                                                                            \
    120 /* for few squares, most of which touch the image's border: more, they are soon done                 \
         */
#define FEW        128
#define PAIRS_KEPT 12   /* steps */
#define STEP       0.1  /* of the shared area over the side */
#define STEP_MAX   0.25 /* of the side */
#define NEAR       1.5  /* times the distance at which squares touch: neighbours that may come to touch */

typedef struct spread {
    const tvlm_fovea *fovea;
    int32_t count;
    tvlm_placed *placed;
    double *move; /* [2 * count] */
    int32_t (*pairs)[2];
    int32_t pair_count, pair_capacity;
} spread;

double tvlm_fovea_eccentricity(const tvlm_fovea *fovea, double x, double y) {
    double nearest = INFINITY;
    for (int32_t f = 0; f < fovea->fixations; ++f) {
        const double dx = x - fovea->x[f], dy = y - fovea->y[f];
        nearest = fmin(nearest, dx * dx + dy * dy);
    }
    return sqrt(nearest);
}

static void set_sizes(const spread *s, double scale) {
    for (int32_t i = 0; i < s->count; ++i) {
        tvlm_placed *p = &s->placed[i];
        p->size = scale * (tvlm_fovea_eccentricity(s->fovea, p->x, p->y) + s->fovea->e0);
    }
}

/* ---- Neighbours ---- */

typedef struct along {
    double x;
    int32_t index;
} along;

static int compare_along(const void *a, const void *b) {
    const along *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

static bool add_pair(spread *s, int32_t i, int32_t j) {
    if (s->pair_count == s->pair_capacity) {
        const int32_t capacity = 2 * s->pair_capacity;
        void *more = realloc(s->pairs, (size_t)capacity * sizeof *s->pairs);
        if (more == NULL) return false;
        s->pairs = more;
        s->pair_capacity = capacity;
    }
    s->pairs[s->pair_count][0] = i;
    s->pairs[s->pair_count++][1] = j;
    return true;
}

/* Every pair that is near, found by going along x. */
static bool find_pairs(spread *s, along *order) {
    double largest = 0.0;
    s->pair_count = 0;
    for (int32_t i = 0; i < s->count; ++i) {
        order[i] = (along){s->placed[i].x, i};
        largest = fmax(largest, s->placed[i].size);
    }
    qsort(order, (size_t)s->count, sizeof *order, compare_along);
    for (int32_t a = 0; a < s->count; ++a) {
        const tvlm_placed *p = &s->placed[order[a].index];
        const double most = 0.5 * NEAR * (p->size + largest);
        for (int32_t b = a + 1; b < s->count && order[b].x - p->x < most; ++b) {
            const tvlm_placed *q = &s->placed[order[b].index];
            const double near = 0.5 * NEAR * (p->size + q->size);
            if (q->x - p->x >= near || fabs(q->y - p->y) >= near) continue;
            if (!add_pair(s, order[a].index, order[b].index)) return false;
        }
    }
    return true;
}

/* ---- Moving ---- */

/* Positions exactly above each other are pushed by their order. */
static double sign_of(double value) {
    return value >= 0.0 ? 1.0 : -1.0;
}

static void push_apart(const spread *s) {
    for (int32_t n = 0; n < s->pair_count; ++n) {
        const int32_t i = s->pairs[n][0], j = s->pairs[n][1];
        const tvlm_placed *p = &s->placed[i], *q = &s->placed[j];
        const double dx = q->x - p->x, dy = q->y - p->y, touch = 0.5 * (p->size + q->size);
        const double shared_x = touch - fabs(dx), shared_y = touch - fabs(dy);
        if (shared_x <= 0.0 || shared_y <= 0.0) continue;
        const double move_x = shared_y * sign_of(dx), move_y = shared_x * sign_of(dy);
        s->move[2 * i] -= move_x;
        s->move[2 * i + 1] -= move_y;
        s->move[2 * j] += move_x;
        s->move[2 * j + 1] += move_y;
    }
}

/* What sticks out at either end of a side pulls the square in by its side. */
static double pull_in(double x, double size, double side) {
    return size * ((x < 0.5 * size) - (x > side - 0.5 * size));
}

static void move(const spread *s, double step) {
    for (int32_t i = 0; i < s->count; ++i) {
        tvlm_placed *p = &s->placed[i];
        const double most = STEP_MAX * p->size;
        const double x = step * (s->move[2 * i] + pull_in(p->x, p->size, s->fovea->width));
        const double y = step * (s->move[2 * i + 1] + pull_in(p->y, p->size, s->fovea->height));
        p->x = fmin(fmax(p->x + fmin(fmax(x, -most), most), 0.0), s->fovea->width);
        p->y = fmin(fmax(p->y + fmin(fmax(y, -most), most), 0.0), s->fovea->height);
    }
}

/* ---- Sizes ---- */

static double clipped(double x, double size, double side) {
    return fmin(x + 0.5 * size, side) - fmax(x - 0.5 * size, 0.0);
}

/* Brings the area of all squares, as far as they are in the image, to FINAL_AREA times the image's. */
static void fit_sizes(const spread *s) {
    const double width = s->fovea->width, height = s->fovea->height, longest = fmax(width, height);
    for (int turn = 0; turn < 6; ++turn) {
        double area = 0.0;
        for (int32_t i = 0; i < s->count; ++i) {
            const tvlm_placed *p = &s->placed[i];
            area += clipped(p->x, p->size, width) * clipped(p->y, p->size, height);
        }
        const double scale = sqrt(FINAL_AREA * width * height / area);
        for (int32_t i = 0; i < s->count; ++i) s->placed[i].size = fmin(s->placed[i].size * scale, longest);
        if (fabs(scale - 1.0) < 1e-3) return;
    }
}

bool tvlm_fovea_spread(const tvlm_fovea *fovea, double spacing, int32_t k, tvlm_placed *placed) {
    const int steps = k < FEW ? STEPS + (STEPS_FEW - STEPS) * (FEW - k) / FEW : STEPS;
    spread s = {.fovea = fovea, .count = k, .placed = placed, .pair_capacity = 8 * k};
    along *order = tvlm_allocate((size_t)k, sizeof *order);
    s.move = tvlm_allocate((size_t)k, 2 * sizeof *s.move);
    s.pairs = tvlm_allocate((size_t)s.pair_capacity, sizeof *s.pairs);
    bool made = order != NULL && s.move != NULL && s.pairs != NULL;
    const double scale = sqrt(MOVED_AREA) * spacing;
    set_sizes(&s, scale);
    for (int step = 0; made && step < steps; ++step) {
        if (step % PAIRS_KEPT == 0) made = find_pairs(&s, order);
        for (int32_t i = 0; i < 2 * k; ++i) s.move[i] = 0.0;
        push_apart(&s);
        move(&s, STEP * (1.0 - 0.5 * step / steps));
        set_sizes(&s, scale);
    }
    fit_sizes(&s);
    free(order);
    free(s.move);
    free(s.pairs);
    return made;
}
