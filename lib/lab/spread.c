/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spreading: positions move along the gradient of the area that their squares share, until the squares cover
 * the image. Together the squares are a little larger than the image. Squares that stick out of the image are
 * pulled in.
 *
 * Most of the time of placing positions is spent in the inner loops. So these have no branches, no calls
 * (fmin is one), and one array for each coordinate.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "lab/foveated.h"

/*
 * The areas of all squares, as far as they are in the image, over the image's area. The values are measured
 * (bench/foveated.py). What exceeds 1 is covered twice, and so is as much area as the gaps leave bare.
 */
#define FINAL_AREA      1.19
#define MOVED_AREA      1.15 /* while squares move; without some pressure they stop where they just touch */
#define COVERED         0.95 /* the share of the image that squares must cover in the end (foveated.h) */
#define TWICE           0.25
#define STEPS           8
#define STEPS_FEW       72  /* for few squares, most of which touch the border; such steps take little time */
#define SLOW            140 /* fewer squares than this take more steps, up to STEPS_FEW */
#define NEIGHBOURS_KEPT 12  /* so many steps are taken before neighbours are found anew */
#define STEP            0.2 /* of the gradient of the shared area; at the end STEP_LAST of that */
#define STEP_LAST       0.1
/* Each step adds this part of the step before it. So positions are in place after a third fewer steps. */
#define KEPT     0.5
#define STEP_MAX 0.25 /* a step is at most this part of the side */
#define NEAR     1.5  /* neighbours are up to this many times as far apart as squares that touch */

/* Positions in the order of their strips. */
typedef struct spread {
    const tvlm_fovea *fovea;
    int32_t count;
    double *x, *y, *size, *move_x, *move_y; /* [count] */
    double *gone_x, *gone_y;                /* [count]: the step before */
    int32_t *from;                          /* [count]: the number of each position in what was handed in */
    /* [count + 1]: where each strip begins. There are as many strips as positions, all of the same width. */
    int32_t *strip;
    /* [count + 1]: where the neighbours of each position begin. They all come behind it in this order. */
    int32_t *first;
    int32_t *neighbours;
    int32_t capacity; /* how many neighbours there is room for */
    double *values;   /* the memory in which the arrays of doubles lie */
    int32_t *indices; /* the memory in which the arrays of integers lie */
} spread;

static inline double lower(double a, double b) {
    return a < b ? a : b;
}

static inline double higher(double a, double b) {
    return a > b ? a : b;
}

/* Both results are constants, so that compilers make a mask and not a branch. */
static inline double is_positive(double value) {
    return value > 0.0 ? 1.0 : 0.0;
}

double tvlm_fovea_eccentricity(const tvlm_fovea *fovea, double x, double y) {
    double nearest = INFINITY;
    for (int32_t f = 0; f < fovea->fixations; ++f) {
        const double dx = x - fovea->x[f], dy = y - fovea->y[f];
        nearest = lower(nearest, dx * dx + dy * dy);
    }
    return sqrt(nearest);
}

static void set_sizes(const spread *s, double scale) {
    const tvlm_fovea *fovea = s->fovea;
    const double *restrict x = s->x, *restrict y = s->y;
    const double longest = higher(fovea->width, fovea->height);
    double *restrict size = s->size;
    for (int32_t f = 0; f < fovea->fixations; ++f) {
        const double fx = fovea->x[f], fy = fovea->y[f];
        for (int32_t i = 0; i < s->count; ++i) {
            const double dx = x[i] - fx, dy = y[i] - fy, square = dx * dx + dy * dy;
            size[i] = f == 0 ? square : lower(size[i], square);
        }
    }
    for (int32_t i = 0; i < s->count; ++i) size[i] = lower(scale * (sqrt(size[i]) + fovea->e0), longest);
}

/* ---- Neighbours ---- */

static int32_t strip_of(const spread *s, double x) {
    const int32_t strip = (int32_t)(x / s->fovea->width * s->count);
    return strip < s->count ? strip : s->count - 1;
}

/* Sorts the positions that were handed in by strip. There are as many strips as positions. Within a strip the
 * order stays. */
static void take(spread *s, const tvlm_placed *placed) {
    memset(s->strip, 0, ((size_t)s->count + 1) * sizeof *s->strip);
    for (int32_t i = 0; i < s->count; ++i) ++s->strip[strip_of(s, placed[i].x) + 1];
    for (int32_t i = 0; i < s->count; ++i) s->strip[i + 1] += s->strip[i];
    memcpy(s->first, s->strip,
           (size_t)s->count * sizeof *s->first); /* where the next position of each strip goes */
    for (int32_t i = 0; i < s->count; ++i) {
        const int32_t at = s->first[strip_of(s, placed[i].x)]++;
        s->x[at] = placed[i].x;
        s->y[at] = placed[i].y;
        s->from[at] = i;
    }
}

static void give(const spread *s, tvlm_placed *placed) {
    for (int32_t i = 0; i < s->count; ++i) placed[s->from[i]] = (tvlm_placed){s->x[i], s->y[i], s->size[i]};
}

static bool make_room(spread *s, int32_t count) {
    if (count <= s->capacity) return true;
    const int32_t capacity = count + count / 2;
    int32_t *more = realloc(s->neighbours, (size_t)capacity * sizeof *more);
    if (more == NULL) return false;
    s->neighbours = more;
    s->capacity = capacity;
    return true;
}

/*
 * Finds every pair of positions that are near, once: the second is a neighbour of the first. A large square
 * may be near from far away. There is a bound:
 *
 *   - Over a distance, sizes grow by at most `scale` times that distance.
 *   - A distance is at most sqrt 2 times the larger of its parts along x and y.
 */
static bool find_neighbours(spread *s, double scale) {
    const double *x = s->x, *y = s->y, *size = s->size;
    const double grows = 1.0 - 0.5 * NEAR * 1.4143 * scale;
    double largest = 0.0;
    int32_t count = 0;
    for (int32_t i = 0; i < s->count; ++i) largest = higher(largest, size[i]);
    for (int32_t a = 0; a < s->count; ++a) {
        double reach = 0.5 * NEAR * (size[a] + largest);
        if (grows > 0.0) reach = lower(reach, NEAR * size[a] / grows);
        const double most = x[a] + reach;
        const int32_t end = s->strip[strip_of(s, lower(most, s->fovea->width)) + 1];
        s->first[a] = count;
        if (!make_room(s, count + end - a)) return false;
        for (int32_t b = a + 1; b < end; ++b) {
            const double near = 0.5 * NEAR * (size[a] + size[b]);
            s->neighbours[count] = b; /* overwritten by the next one unless it counts */
            count += (fabs(x[b] - x[a]) < near) & (fabs(y[b] - y[a]) < near);
        }
    }
    s->first[s->count] = count;
    return true;
}

/* ---- Moving ---- */

/* Adds the gradient of the shared area to the moves, so that squares push each other apart. If two positions
 * have the same x, the later one is pushed to the right. If they have the same y, it is pushed down. */
static void push_apart(const spread *s) {
    const double *x = s->x, *y = s->y, *size = s->size;
    double *move_x = s->move_x, *move_y = s->move_y;
    for (int32_t a = 0; a < s->count; ++a) {
        const double at_x = x[a], at_y = y[a], side = size[a];
        double sum_x = 0.0, sum_y = 0.0;
        for (int32_t n = s->first[a]; n < s->first[a + 1]; ++n) {
            const int32_t b = s->neighbours[n];
            const double dx = x[b] - at_x, dy = y[b] - at_y, touch = 0.5 * (side + size[b]);
            const double shared_x = higher(touch - fabs(dx), 0.0), shared_y = higher(touch - fabs(dy), 0.0);
            const double by_x = copysign(shared_y * is_positive(shared_x), dx);
            const double by_y = copysign(shared_x * is_positive(shared_y), dy);
            sum_x += by_x;
            sum_y += by_y;
            move_x[b] += by_x;
            move_y[b] += by_y;
        }
        move_x[a] -= sum_x;
        move_y[a] -= sum_y;
    }
}

/* Moves positions along one axis. A square that sticks out at either end of the side is pulled in. `move` is
 * 0 afterwards. */
static void move_along(int32_t count, double side, double step, const double *restrict size,
                       double *restrict move, double *restrict gone, double *restrict x) {
    for (int32_t i = 0; i < count; ++i) {
        const double half = 0.5 * size[i], most = STEP_MAX * size[i];
        const double in = size[i] * (is_positive(half - x[i]) - is_positive(x[i] - side + half));
        const double by = higher(lower(step * (move[i] + in) + KEPT * gone[i], most), -most);
        gone[i] = by;
        x[i] = higher(lower(x[i] + by, side), 0.0);
        move[i] = 0.0;
    }
}

/* ---- Sizes ---- */

static double clipped(double x, double size, double side) {
    return lower(x + 0.5 * size, side) - higher(x - 0.5 * size, 0.0);
}

/* The factor for sizes with which the area of all squares, as far as they are in the image, becomes `area`
 * times the image's. It is only nearly right, since squares that grow may reach over the image's border. */
static double scale_to(const spread *s, double area) {
    const double width = s->fovea->width, height = s->fovea->height;
    double sum = 0.0;
    for (int32_t i = 0; i < s->count; ++i)
        sum += clipped(s->x[i], s->size[i], width) * clipped(s->y[i], s->size[i], height);
    return sqrt(area * width * height / sum);
}

static void fit_sizes(const spread *s) {
    const double longest = higher(s->fovea->width, s->fovea->height);
    for (int turn = 0; turn < 6; ++turn) {
        const double scale = scale_to(s, FINAL_AREA);
        for (int32_t i = 0; i < s->count; ++i) s->size[i] = lower(s->size[i] * scale, longest);
        if (fabs(scale - 1.0) < 1e-3) return;
    }
}

static bool allocate(spread *s) {
    const size_t count = (size_t)s->count;
    s->capacity = 16 * s->count;
    s->values = tvlm_allocate(count, 7 * sizeof *s->values);
    s->indices = tvlm_allocate(count + 1, 3 * sizeof *s->indices);
    s->neighbours = tvlm_allocate((size_t)s->capacity, sizeof *s->neighbours);
    if (s->values == NULL || s->indices == NULL || s->neighbours == NULL) return false;
    s->x = s->values;
    s->y = s->x + count;
    s->size = s->y + count;
    s->move_x = s->size + count;
    s->move_y = s->move_x + count;
    s->gone_x = s->move_y + count;
    s->gone_y = s->gone_x + count;
    s->strip = s->indices;
    s->first = s->strip + count + 1;
    s->from = s->first + count + 1;
    return true;
}

/* Finds neighbours anew, and forgets all earlier moves. */
static bool begin_round(spread *s, double scale, const tvlm_placed *placed) {
    take(s, placed);
    memset(s->move_x, 0, (size_t)s->count * 4 * sizeof *s->move_x); /* and move_y, gone_x, gone_y */
    set_sizes(s, scale);
    return find_neighbours(s, scale);
}

bool tvlm_fovea_spread(const tvlm_fovea *fovea, double spacing, int32_t k, tvlm_placed *placed) {
    const bool few = k < TVLM_FOVEA_FEW;
    const int steps = k < SLOW ? STEPS + (STEPS_FEW - STEPS) * (SLOW - k) / SLOW : STEPS;
    const double most = higher(fovea->width, fovea->height) / fovea->e0;
    double scale = sqrt(MOVED_AREA) * spacing;
    spread s = {.fovea = fovea, .count = k};
    bool made = allocate(&s);
    for (int step = 0; made && step < steps; ++step) {
        const double length = STEP * (1.0 - (1.0 - STEP_LAST) * step / steps);
        if (step % NEIGHBOURS_KEPT == 0) made = begin_round(&s, scale, placed);
        if (!made) break;
        push_apart(&s);
        move_along(k, fovea->width, length, s.size, s.move_x, s.gone_x, s.x);
        move_along(k, fovea->height, length, s.size, s.move_y, s.gone_y, s.y);
        /* By `spacing` alone, the squares at the border would stick out by half. */
        if (few) scale = lower(scale * scale_to(&s, MOVED_AREA), most);
        set_sizes(&s, scale);
        if ((step + 1) % NEIGHBOURS_KEPT == 0) give(&s, placed);
    }
    if (made) fit_sizes(&s);
    if (made) give(&s, placed);
    free(s.values);
    free(s.indices);
    free(s.neighbours);
    return made;
}

/* ---- The fault of a result ---- */

enum { POINTS = 64 };

/* Returns the first of the points along a side that is not before `at`, or POINTS if there is none. */
static int32_t first_point(double at, double side) {
    const double point = ceil(at / side * POINTS - 0.5);
    return (int32_t)lower(higher(point, 0.0), POINTS);
}

double tvlm_fovea_fault(const tvlm_fovea *fovea, int32_t k, const tvlm_placed *placed) {
    uint8_t hits[POINTS * POINTS] = {0}; /* 0: bare, 1: covered once, more: covered several times */
    int32_t bare = 0, twice = 0;
    for (int32_t i = 0; i < k; ++i) {
        const double half = 0.5 * placed[i].size;
        const int32_t left = first_point(placed[i].x - half, fovea->width);
        const int32_t right = first_point(placed[i].x + half, fovea->width);
        const int32_t end = first_point(placed[i].y + half, fovea->height);
        for (int32_t y = first_point(placed[i].y - half, fovea->height); y < end; ++y)
            for (int32_t x = left; x < right; ++x)
                hits[y * POINTS + x] = (uint8_t)(1 | hits[y * POINTS + x] << 1);
    }
    for (int32_t i = 0; i < POINTS * POINTS; ++i) {
        bare += hits[i] == 0;
        twice += hits[i] > 1;
    }
    return higher(bare / ((1.0 - COVERED) * POINTS * POINTS), twice / (TWICE * POINTS * POINTS));
}
