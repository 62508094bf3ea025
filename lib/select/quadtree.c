/* SPDX-License-Identifier: Apache-2.0 */
#include "select/quadtree.h"

#include <math.h>

#include "core/memory.h"
#include "select/heap.h"

/* When a leaf is cut, the first of its quarters takes its place in `leaves`. */
typedef struct tree {
    double width, height, smallest;
    tvlm_mass_function *mass;
    const void *user;
    tvlm_leaf *leaves;
    int32_t count, k;
    tvlm_heap waiting; /* the indices of leaves that may still be cut, the heaviest first */
} tree;

/* Of leaves of equal mass the one with the lower index comes first. */
static bool heavier(const void *user, int32_t a, int32_t b) {
    const tree *const t = user;
    const double p = t->leaves[a].mass, q = t->leaves[b].mass;
    return p != q ? p > q : a < b;
}

static tvlm_leaf make_leaf(const tree *t, double x, double y, double side) {
    return (tvlm_leaf){x, y, side,
                       t->mass(t->user, x, y, fmin(x + side, t->width), fmin(y + side, t->height))};
}

/* Puts a leaf into a place. It waits to be cut if it may be. */
static void keep(tree *t, int32_t place, tvlm_leaf leaf) {
    t->leaves[place] = leaf;
    if (leaf.mass > 0.0 && leaf.side >= 2.0 * t->smallest) tvlm_heap_push(&t->waiting, place);
}

/* Only quarters that begin inside the image count: one, two or four. */
static int32_t quarters_of(const tree *t, const tvlm_leaf *leaf, tvlm_leaf quarters[4]) {
    const double half = 0.5 * leaf->side;
    int32_t count = 0;
    for (int i = 0; i < 4; ++i) {
        const double x = leaf->x + (i & 1 ? half : 0.0), y = leaf->y + (i & 2 ? half : 0.0);
        if (x < t->width && y < t->height) quarters[count++] = make_leaf(t, x, y, half);
    }
    return count;
}

static void grow(tree *t) {
    double side = t->smallest;
    while (side < fmax(t->width, t->height)) side *= 2.0;
    t->count = 1;
    keep(t, 0, make_leaf(t, 0.0, 0.0, side));
    while (t->waiting.count > 0) {
        tvlm_leaf quarters[4];
        const int32_t place = tvlm_heap_pop(&t->waiting);
        const int32_t count = quarters_of(t, &t->leaves[place], quarters);
        if (t->count + count - 1 > t->k) continue; /* a lighter one may have fewer quarters */
        keep(t, place, quarters[0]);
        for (int32_t i = 1; i < count; ++i) keep(t, t->count++, quarters[i]);
    }
}

bool tvlm_quadtree(double width, double height, double smallest, int32_t k, tvlm_mass_function *mass,
                   const void *user, tvlm_leaf *leaves, int32_t *count) {
    tree t = {width, height, smallest, mass, user, leaves, 0, k, {heavier, &t, NULL, 0}};
    t.waiting.items = tvlm_allocate((size_t)k, sizeof *t.waiting.items);
    if (t.waiting.items == NULL) return false;
    grow(&t);
    free(t.waiting.items);
    *count = t.count;
    return true;
}
