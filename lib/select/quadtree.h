/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quadtree.h: an image cut into squares, which are small where the mass is large.
 */
#ifndef TVLM_SELECT_QUADTREE_H
#define TVLM_SELECT_QUADTREE_H

#include <stdbool.h>
#include <stdint.h>

/* A square whose upper left corner is at x, y, which are multiples of its side. The part of it that lies
 * beyond the image does not count. */
typedef struct tvlm_leaf {
    double x, y, side;
    double mass;
} tvlm_leaf;

/* Returns the mass in a rectangle: how much of the thing that is sought lies in it. It is not negative. */
typedef double tvlm_mass_function(const void *user, double x0, double y0, double x1, double y1);

/*
 * Cuts width x height pixels into at most k leaves, k >= 1, which cover them exactly and without overlap. As
 * long as there is room for more, the leaf of the largest mass is cut into its four quarters; those that lie
 * beyond the image fall away. Of leaves of equal mass the one that was made first is cut. A leaf without mass
 * is never cut. A side is `smallest` times a power of two. `leaves` has room for k. Returns false if there is
 * no memory.
 */
bool tvlm_quadtree(double width, double height, double smallest, int32_t k, tvlm_mass_function *mass,
                   const void *user, tvlm_leaf *leaves, int32_t *count);

#endif
