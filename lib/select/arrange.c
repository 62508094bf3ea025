/*
 * Where positions start: on a sunflower's spiral, or on rings. Both put M(e)^2 of them on a unit of area, M =
 * M0 / (e + e0), so that within a radius r of a fixation there are 2 pi M0^2 g(r / e0), g(u) = ln(1 + u) - u
 * / (1 + u).
 */
#include <math.h>

#include "core/memory.h"
#include "select/foveated.h"

#define PI           3.14159265358979323846
#define GOLDEN_ANGLE 2.39996322972865332223 /* pi (3 - sqrt 5): Vogel 1979 */
#define TURNED       0.7 /* fixations do not begin in the same direction: nothing is met twice at once */

static double grown(double u) {
    return log1p(u) - u / (1.0 + u);
}

/* u with grown(u) = q, for w = ln(1 + u): w - 1 + e^-w = q. Newton from above, where the function is convex.
 */
static double grown_inverse(double q) {
    double w = q + sqrt(2.0 * q);
    if (w < 1e-8) return w;
    for (int i = 0; i < 5; ++i) {
        const double e = exp(-w);
        w -= (w - 1.0 + e - q) / (1.0 - e);
    }
    return expm1(w);
}

/* Along a side: how far to its end. */
static double to_side(double from, double direction, double side) {
    if (direction > 0.0) return (side - from) / direction;
    return direction < 0.0 ? from / -direction : INFINITY;
}

double tvlm_fovea_reach(const tvlm_fovea *fovea, int32_t f, double dx, double dy) {
    const double x = fovea->x[f], y = fovea->y[f];
    double reach = fmin(to_side(x, dx, fovea->width), to_side(y, dy, fovea->height));
    for (int32_t i = 0; i < fovea->fixations; ++i) {
        const double ox = fovea->x[i] - x, oy = fovea->y[i] - y, along = ox * dx + oy * dy;
        if (i != f && along > 0.0) reach = fmin(reach, (ox * ox + oy * oy) / (2.0 * along));
    }
    return fmax(reach, 0.0);
}

/* ---- The sunflower ---- */

/*
 * Seed n of fixation f lies at a fixed angle, and moves inwards as M0 grows: from some M0^2 on, its
 * `threshold`, it is inside. The k seeds of the lowest thresholds are the answer, the k-th is M0^2.
 */
typedef struct seed {
    double threshold;
    int32_t f, n;
} seed;

static bool before(const seed *a, const seed *b) {
    if (a->threshold != b->threshold) return a->threshold < b->threshold;
    return a->f != b->f ? a->f < b->f : a->n < b->n;
}

/* Brings the k lowest to the front (Hoare's selection). */
static void lowest_first(seed *seeds, int32_t count, int32_t k) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        const seed pivot = seeds[low + (high - low) / 2];
        int32_t i = low, j = high;
        while (i <= j) {
            while (before(&seeds[i], &pivot)) ++i;
            while (before(&pivot, &seeds[j])) --j;
            if (i > j) break;
            const seed swapped = seeds[i];
            seeds[i++] = seeds[j];
            seeds[j--] = swapped;
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            return;
    }
}

/* Seeds 0 .. turns - 1 of every fixation that can ever be inside; how many. */
static int32_t list_seeds(const tvlm_fovea *fovea, int32_t turns, seed *seeds) {
    const double step_x = cos(GOLDEN_ANGLE), step_y = sin(GOLDEN_ANGLE);
    int32_t count = 0;
    for (int32_t f = 0; f < fovea->fixations; ++f) {
        double dx = cos(TURNED * f), dy = sin(TURNED * f);
        for (int32_t n = 0; n < turns; ++n) {
            const double reach = tvlm_fovea_reach(fovea, f, dx, dy), turned = dx * step_x - dy * step_y;
            if (reach > 0.0) seeds[count++] = (seed){(n + 0.5) / grown(reach / fovea->e0), f, n};
            dy = dx * step_y + dy * step_x;
            dx = turned;
        }
    }
    return count;
}

/* The lowest threshold that any seed from number `turns` on can have. */
static double next_threshold(const tvlm_fovea *fovea, int32_t turns) {
    return (turns + 0.5) / grown(hypot(fovea->width, fovea->height) / fovea->e0);
}

static void place_seeds(const tvlm_fovea *fovea, const seed *seeds, int32_t k, double threshold,
                        tvlm_placed *placed) {
    for (int32_t i = 0; i < k; ++i) {
        const double angle = seeds[i].n * GOLDEN_ANGLE + TURNED * seeds[i].f;
        const double r = fovea->e0 * grown_inverse((seeds[i].n + 0.5) / threshold);
        placed[i].x = fovea->x[seeds[i].f] + r * cos(angle);
        placed[i].y = fovea->y[seeds[i].f] + r * sin(angle);
    }
}

/* Outwards: selection leaves them in any order. */
static int compare_seeds(const void *a, const void *b) {
    const seed *p = a, *q = b;
    return p->n != q->n ? (p->n > q->n) - (p->n < q->n) : (p->f > q->f) - (p->f < q->f);
}

bool tvlm_fovea_sunflower(const tvlm_fovea *fovea, int32_t k, tvlm_placed *placed, double *spacing) {
    for (int32_t turns = k / fovea->fixations * 2 + 16;; turns *= 2) {
        seed *seeds = tvlm_allocate((size_t)turns * (size_t)fovea->fixations, sizeof *seeds);
        if (seeds == NULL) return false;
        const int32_t count = list_seeds(fovea, turns, seeds);
        if (count >= k) {
            lowest_first(seeds, count, k);
            const double threshold = seeds[k - 1].threshold;
            if (threshold <= next_threshold(fovea, turns) || turns > INT32_MAX / 4 / TVLM_FIXATIONS_MAX) {
                qsort(seeds, (size_t)k, sizeof *seeds, compare_seeds);
                place_seeds(fovea, seeds, k, threshold, placed);
                *spacing = sqrt(2.0 * PI / threshold); /* threshold = 2 pi M0^2 */
                free(seeds);
                return true;
            }
        }
        free(seeds);
    }
}

/* ---- Rings ---- */

/*
 * Rings at r_j = e0 (e^(j / M0) - 1), a neighbour's distance apart, each of as many sectors as have that
 * width, every other turned by half of one. Those inside are counted, and placed where there is room.
 */
static int32_t list_rings(const tvlm_fovea *fovea, double m0, int32_t room, tvlm_placed *placed) {
    const double farthest = hypot(fovea->width, fovea->height);
    int32_t count = 0;
    for (int32_t j = 0;; ++j) {
        const double r = fovea->e0 * expm1(j / m0);
        const double sectors = fmax(1.0, floor(2.0 * PI * r * m0 / (r + fovea->e0) + 0.5));
        if (r > farthest) return count;
        for (int32_t f = 0; f < fovea->fixations; ++f)
            for (int32_t s = 0; s < (int32_t)sectors; ++s) {
                const double angle = (s + 0.5 * (j % 2)) * 2.0 * PI / sectors + TURNED * f;
                const double dx = cos(angle), dy = sin(angle);
                if (j > 0 && r > tvlm_fovea_reach(fovea, f, dx, dy)) continue;
                if (count < room)
                    placed[count] = (tvlm_placed){fovea->x[f] + r * dx, fovea->y[f] + r * dy, 0.0};
                ++count;
            }
    }
}

/* The number inside jumps by several at once, so the outermost of the last ring are left out: spreading fills
 * the gaps. */
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
