/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canvas.h: a picture in memory, and functions that draw on it. Everything is clipped to the canvas.
 */
#ifndef TVLM_DRAW_CANVAS_H
#define TVLM_DRAW_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "draw/colours.h"
#include "texturevlm/image.h"

#define TVLM_CANVAS_SIDE_MAX 32767

typedef struct tvlm_canvas {
    int32_t width, height;
    uint8_t *rgb; /* [height][width][3] */
} tvlm_canvas;

/* The pixels x0 <= x < x1, y0 <= y < y1. */
typedef struct tvlm_rect {
    int32_t x0, y0, x1, y1;
} tvlm_rect;

/* Makes a canvas that is filled with one colour. Returns false if there is no memory, or if a side is not in
 * 1 .. 32767. */
bool tvlm_canvas_create(int32_t width, int32_t height, tvlm_colour fill, tvlm_canvas *out);
void tvlm_canvas_release(tvlm_canvas *canvas);

void tvlm_canvas_set(tvlm_canvas *canvas, int32_t x, int32_t y, tvlm_colour ink);

/* Mixes `ink` into the pixels of an area. An alpha of 1 replaces them. */
void tvlm_canvas_fill(tvlm_canvas *canvas, tvlm_rect area, tvlm_colour ink, float alpha);

/* Draws a frame of `thickness` pixels along the inner side of the edges of `area`. */
void tvlm_canvas_frame(tvlm_canvas *canvas, tvlm_rect area, int32_t thickness, tvlm_colour ink, float alpha);

/* Writes text with its upper left corner at x, y. At scale 1 letters are 8 pixels high. A character that is
 * not printable ASCII is drawn as '?'. */
void tvlm_canvas_text(tvlm_canvas *canvas, int32_t x, int32_t y, int32_t scale, tvlm_colour ink,
                      const char *text);
int32_t tvlm_canvas_text_width(const char *text, int32_t scale);
#define TVLM_CANVAS_TEXT_HEIGHT 9 /* the height of a line at scale 1, descenders included */

/* Copies as much of `text` as fits into `width` pixels. Text that is cut ends with "..". */
void tvlm_canvas_fit_text(const char *text, int32_t scale, int32_t width, char *out, size_t size);

/* Scales the image into `area`, composited on white. The area must lie inside the canvas. Returns false if
 * there is no memory. */
bool tvlm_canvas_image(tvlm_canvas *canvas, tvlm_rect area, const tvlm_image *image);

/*
 * Scales interleaved floats, along each axis by the area average if it shrinks, and linearly if it grows.
 * `out` has room for out_width * out_height * channels floats. Returns false if there is no memory.
 */
bool tvlm_canvas_resize(const float *in, int32_t width, int32_t height, int32_t channels, float *out,
                        int32_t out_width, int32_t out_height);

/* Interpolates a grid at x, y by the cubic of Catmull & Rom. The centres of texels are at + 0.5. Beyond the
 * edges the outermost texels are repeated. */
float tvlm_canvas_cubic(const float *grid, int32_t width, int32_t height, float x, float y);

/* Finds the lowest and the highest of the values that are finite. Both are 0 if there are none. */
void tvlm_canvas_range(const float *values, size_t count, float *low, float *high);

#endif
