/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spacing.h: positions that keep a distance from each other. Points are kept in square buckets whose side is
 * at least that distance. So only the nine buckets around a new point are searched.
 */
#ifndef TVLM_SELECT_SPACING_H
#define TVLM_SELECT_SPACING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tvlm_spacing {
    double distance;       /* the least between two points */
    double side;           /* of a bucket; both are in pixels */
    int32_t columns, rows; /* the grid of buckets */
    int32_t *head;         /* [columns * rows]: the last point in each bucket; -1: there is none */
    int32_t *next;         /* [capacity]: the point before each one in its bucket */
    double *x, *y;         /* [capacity] */
    int32_t count, capacity;
} tvlm_spacing;

/* Makes room for up to `capacity` points in an image of width x height pixels; side >= distance and >= 1.
 * Returns false if there is no memory. There is nothing to free then. */
bool tvlm_spacing_make(tvlm_spacing *spacing, float distance, float side, int32_t width, int32_t height,
                       int32_t capacity);
void tvlm_spacing_free(tvlm_spacing *spacing);

/* Adds a point unless another one is nearer than the distance, and returns whether it did. There must be room
 * for it. */
bool tvlm_spacing_add(tvlm_spacing *spacing, double x, double y);

#endif
