/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.h: boxes, polygons and run lengths as masks: mask[height * width], set to `value` inside.
 */
#ifndef TVLM_TOOLS_SHAPES_H
#define TVLM_TOOLS_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shape_mask {
    uint8_t *pixels;
    int32_t width, height;
    uint8_t value;
} shape_mask;

/* Pixels whose centre is in the box; it may reach beyond the image. */
void shape_box(const shape_mask *mask, double x, double y, double width, double height);

/* Pixels whose centre is inside by the even-odd rule; xy[2 * points]. False without memory. */
bool shape_polygon(const shape_mask *mask, const double *xy, int32_t points);

/*
 * COCO's run lengths: columns from left to right, each from top to bottom; first a run outside, then one
 * inside, and so on. False unless they cover the mask exactly.
 */
bool shape_runs(const shape_mask *mask, const double *runs, int32_t count);

/* The same, packed into text: 5 bits a character from '0' on, and from the third run on the difference from
 * the last but one. */
bool shape_packed_runs(const shape_mask *mask, const char *text);

#endif
