/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.h: draws boxes, polygons and run lengths into masks. Nothing outside the mask is written, whatever
 * the numbers are.
 */
#ifndef TVLM_TOOLS_SHAPES_H
#define TVLM_TOOLS_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shape_mask {
    uint8_t *pixels; /* [height * width], each below 128 */
    int32_t width, height;
    uint8_t value; /* what pixels inside a shape become; below 128 */
} shape_mask;

/* Draws the pixels whose centre is in the box. The box may reach beyond the image. */
void shape_box(const shape_mask *mask, double x, double y, double width, double height);

/* Draws the pixels whose centre is inside the polygon, by the even-odd rule. The points xy[2 * points] may
 * lie anywhere. */
void shape_polygon(const shape_mask *mask, const double *xy, int32_t points);

/*
 * Draws run lengths of COCO. Runs go through the columns from left to right, and through each column from top
 * to bottom. The first run is outside the object, the next one inside, and so on. Returns false unless the
 * runs cover the mask exactly.
 */
bool shape_runs(const shape_mask *mask, const double *runs, int32_t count);

/*
 * Draws run lengths that are packed into text. Each character, counted from '0', holds 5 bits of a number.
 * From the third run on, the number is the difference from the run before the last.
 */
bool shape_packed_runs(const shape_mask *mask, const char *text);

#endif
