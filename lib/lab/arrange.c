/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where positions start: on a sunflower's spiral, or on rings. Both put M(e)^2 of them on a unit of area,
 * with M(e) = M0 / (e + e0). So there are 2 pi M0^2 g(r / e0) of them within a radius r of a fixation, where
 *
 *     g(u) = ln(1 + u) - u / (1 + u).
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "lab/foveated.h"

#define PI           3.14159265358979323846
#define GOLDEN_ANGLE 2.39996322972865332223 /* pi (3 - sqrt 5): Vogel 1979 */
/* Below this the logarithm would leave too few digits, and a series takes its place. */
#define SERIES 1e-4
/* The relative error at which Newton's steps end. Spreading follows, and moves positions by more than
 * that. */
#define CLOSE 1e-3
/* Each fixation begins at an angle that is larger by this than the last one's, so that their positions do not
 * meet. */
#define TURNED 0.7

static inline double lower(double a, double b) { /* fmin would be a call */
    return a < b ? a : b;
}

static double grown(double u) {
    if (u < SERIES) return u * u * (0.5 - u * (2.0 / 3.0 - 0.75 * u));
    return log(1.0 + u) - u / (1.0 + u);
}

/* An answer of grown_inverse, from which the next one begins. */
typedef struct inverse {
    double q, w, decay; /* decay = e^-w */
} inverse;

/*
 * Returns u with grown(u) = q, for a q that is not below the last one. With w = ln(1 + u) this is the
 * equation w - 1 + e^-w = q, which is solved by Newton's steps. The first step needs no exponential. It goes
 * beyond the answer, because the function is convex, and the others, one or two as a rule, come down to it.
 */
static double grown_inverse(double q, inverse *last) {
    double w = last->q > 0.0 ? last->w + (q - last->q) / (1.0 - last->decay) : q + sqrt(2.0 * q);
    if (w < SERIES) {
        const double root = sqrt(2.0 * q);
        return root * (1.0 + root * 2.0 / 3.0);
    }
    for (int i = 0;; ++i) {
        const double e = exp(-w), step = (w - 1.0 + e - q) / (1.0 - e);
        w -= step;
        if (i < 8 && fabs(step) > CLOSE * w) continue;
        *last = (inverse){q, w, e * (1.0 + step)};
        return 1.0 / last->decay - 1.0;
    }
}

/* Returns how far it is to that end of the side to which the direction points. */
static double to_side(double from, double direction, double side) {
    if (direction > 0.0) return (side - from) / direction;
    return direction < 0.0 ? from / -direction : INFINITY;
}

double tvlm_fovea_reach(const tvlm_fovea *fovea, int32_t f, double dx, double dy) {
    const double x = fovea->x[f], y = fovea->y[f];
    double reach = lower(to_side(x, dx, fovea->width), to_side(y, dy, fovea->height));
    for (int32_t i = 0; i < fovea->fixations; ++i) {
        const double ox = fovea->x[i] - x, oy = fovea->y[i] - y, along = ox * dx + oy * dy;
        if (i != f && along > 0.0) reach = lower(reach, (ox * ox + oy * oy) / (2.0 * along));
    }
    return reach > 0.0 ? reach : 0.0;
}

/* ---- The sunflower ---- */

/*
 * Seed n of fixation f lies at a fixed angle, and moves inwards as M0 grows. Its threshold is the 2 pi M0^2
 * from which on it is inside the image. The k seeds of the lowest thresholds are the answer, and the k-th of
 * these thresholds is 2 pi M0^2.
 */
typedef struct seed {
    double dx, dy; /* the direction */
    int32_t f, n;
} seed;

/* Seeds from the fixations outwards: number 0 of every fixation, then number 1, and so on. */
typedef struct seeds {
    const tvlm_fovea *fovea;
    seed *list;
    double *thresholds; /* [count]: the threshold of each seed */
    int32_t count, capacity, turns;
    double dx[TVLM_FIXATIONS_MAX], dy[TVLM_FIXATIONS_MAX]; /* the direction of the next turn */
    double farthest; /* the value of `grown` at the corner that is farthest from any fixation */
} seeds;

static void begin_seeds(seeds *s, const tvlm_fovea *fovea) {
    double farthest = 0.0;
    for (int32_t f = 0; f < fovea->fixations; ++f) {
        const double x = fovea->x[f], y = fovea->y[f];
        farthest = fmax(farthest, hypot(fmax(x, fovea->width - x), fmax(y, fovea->height - y)));
        s->dx[f] = cos(TURNED * f + fovea->turn);
        s->dy[f] = sin(TURNED * f + fovea->turn);
    }
    s->fovea = fovea;
    s->farthest = grown(farthest / fovea->e0);
}

/* Lists the seeds of `turns` more turns. Leaves out those that can never be inside the image. */
static void list_seeds(seeds *s, int32_t turns) {
    const tvlm_fovea *fovea = s->fovea;
    const double step_x = cos(GOLDEN_ANGLE), step_y = sin(GOLDEN_ANGLE);
    for (const int32_t end = s->turns + turns; s->turns < end; ++s->turns)
        for (int32_t f = 0; f < fovea->fixations; ++f) {
            const double dx = s->dx[f], dy = s->dy[f], reach = tvlm_fovea_reach(fovea, f, dx, dy);
            s->dx[f] = dx * step_x - dy * step_y;
            s->dy[f] = dx * step_y + dy * step_x;
            if (!(reach > 0.0)) continue;
            s->thresholds[s->count] = (s->turns + 0.5) / grown(reach / fovea->e0);
            s->list[s->count++] = (seed){dx, dy, f, s->turns};
        }
}

static bool grow_seeds(seeds *s, int32_t turns) {
    const size_t room = (size_t)s->count + (size_t)turns * (size_t)s->fovea->fixations;
    seed *list = realloc(s->list, room * sizeof *list);
    if (list != NULL) s->list = list;
    double *thresholds = list != NULL ? realloc(s->thresholds, room * sizeof *thresholds) : NULL;
    if (thresholds == NULL) return false;
    s->thresholds = thresholds;
    list_seeds(s, turns);
    return true;
}

/* Returns whether the k lowest thresholds are among those listed, so that no seed of a later turn can have a
 * lower one. */
static bool are_enough(const seeds *s, int32_t k) {
    const double next = (s->turns + 0.5) / s->farthest;
    int32_t below = 0;
    for (int32_t i = 0; i < s->count; ++i) below += s->thresholds[i] <= next;
    return below >= k;
}

/* Returns the k-th lowest value (Hoare's selection). The values lose their order. */
static double lowest(double *values, int32_t count, int32_t k) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        const double pivot = values[low + (high - low) / 2];
        int32_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) ++i;
            while (pivot < values[j]) --j;
            if (i > j) break;
            const double swapped = values[i];
            values[i++] = values[j];
            values[j--] = swapped;
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            break;
    }
    return values[k - 1];
}

/* Places the seeds below the threshold, and the first of those on it, until there are k. */
static void place_seeds(const seeds *s, int32_t k, double threshold, tvlm_placed *placed) {
    const tvlm_fovea *fovea = s->fovea;
    int32_t below = 0, count = 0;
    inverse last = {0};
    double r = 0.0;
    for (int32_t i = 0; i < s->count; ++i) below += s->thresholds[i] < threshold;
    for (int32_t i = 0, on = k - below, turn = -1; i < s->count && count < k; ++i) {
        const seed *at = &s->list[i];
        if (!(s->thresholds[i] < threshold) && !(s->thresholds[i] == threshold && on-- > 0)) continue;
        if (at->n != turn) {
            r = fovea->e0 * grown_inverse((at->n + 0.5) / threshold, &last);
            turn = at->n;
        }
        placed[count].x = fovea->x[at->f] + r * at->dx;
        placed[count++].y = fovea->y[at->f] + r * at->dy;
    }
}

static bool choose_seeds(seeds *s, int32_t k, tvlm_placed *placed, double *spacing) {
    int32_t turns = k / s->fovea->fixations + k / 8 + 16;
    do {
        if (!grow_seeds(s, turns)) return false;
        turns = s->turns / 4;
    } while (!are_enough(s, k) && s->turns < INT32_MAX / 4 / TVLM_FIXATIONS_MAX);
    if (s->count < k) return false;
    double *sorted = tvlm_allocate((size_t)s->count, sizeof *sorted);
    if (sorted == NULL) return false;
    memcpy(sorted, s->thresholds, (size_t)s->count * sizeof *sorted);
    const double threshold = lowest(sorted, s->count, k); /* 2 pi M0^2 */
    place_seeds(s, k, threshold, placed);
    *spacing = sqrt(2.0 * PI / threshold);
    free(sorted);
    return true;
}

bool tvlm_fovea_sunflower(const tvlm_fovea *fovea, int32_t k, tvlm_placed *placed, double *spacing) {
    seeds s = {0};
    begin_seeds(&s, fovea);
    const bool made = choose_seeds(&s, k, placed, spacing);
    free(s.list);       /* NOLINT(clang-analyzer-*): room is never 0, so that realloc frees nothing */
    free(s.thresholds); /* NOLINT(clang-analyzer-*): for the same reason */
    return made;
}

/* ---- Rings ---- */

/*
 * Lists positions on rings of radius r_j = e0 (e^(j / M0) - 1). Rings lie as far apart as neighbours on a
 * ring do: a ring is cut into as many sectors as have that width. Every other ring is turned by half a
 * sector. Returns how many positions are inside the image, and places as many of them as there is room for.
 */
static int32_t list_rings(const tvlm_fovea *fovea, double m0, int32_t room, tvlm_placed *placed) {
    const double farthest = hypot(fovea->width, fovea->height);
    int32_t count = 0;
    for (int32_t j = 0;; ++j) {
        const double r = fovea->e0 * expm1(j / m0);
        const double sectors = fmax(1.0, floor(2.0 * PI * r * m0 / (r + fovea->e0) + 0.5));
        if (r > farthest) return count;
        const double sector = 2.0 * PI / sectors, step_x = cos(sector), step_y = sin(sector);
        for (int32_t f = 0; f < fovea->fixations; ++f) {
            const double angle = 0.5 * (j % 2) * sector + TURNED * f + fovea->turn;
            double next_x = cos(angle), next_y = sin(angle);
            for (int32_t s = 0; s < (int32_t)sectors; ++s) {
                const double dx = next_x, dy = next_y;
                next_x = dx * step_x - dy * step_y;
                next_y = dx * step_y + dy * step_x;
                if (j > 0 && r > tvlm_fovea_reach(fovea, f, dx, dy)) continue;
                if (count < room)
                    placed[count] = (tvlm_placed){fovea->x[f] + r * dx, fovea->y[f] + r * dy, 0.0};
                ++count;
            }
        }
    }
}

/* As M0 grows, the number of positions inside the image jumps by several at once. So there may be more than
 * k. Then the last ones of the outermost ring are left out, and spreading fills the gaps. */
bool tvlm_fovea_log_polar(const tvlm_fovea *fovea, int32_t k, tvlm_placed *placed, double *spacing) {
    double low = 1e-3, high = 1.0;
    while (list_rings(fovea, high, 0, placed) < k) high *= 2.0;
    for (int i = 0; i < 16; ++i) {
        const double middle = 0.5 * (low + high);
        *(list_rings(fovea, middle, 0, placed) < k ? &low : &high) = middle;
    }
    (void)list_rings(fovea, high, k, placed);
    *spacing = 1.0 / high;
    return true;
}
