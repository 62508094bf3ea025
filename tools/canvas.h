/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canvas.h: a picture in memory, and functions that draw on it. Everything is clipped to the canvas.
 */
#ifndef TVLM_TOOLS_CANVAS_H
#define TVLM_TOOLS_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "colormap.h"
#include "texturevlm/image.h"

struct canvas {
    int32_t width, height;
    uint8_t *rgb; /* [height][width][3] */
};

/* The pixels x0 <= x < x1, y0 <= y < y1. */
typedef struct rect {
    int32_t x0, y0, x1, y1;
} rect;

/* Makes a canvas that is filled with one colour. False: no memory, or a side is not in 1 .. 32767. */
bool canvas_create(int32_t width, int32_t height, color fill, struct canvas *out);
void canvas_release(struct canvas *canvas);

void canvas_set(struct canvas *canvas, int32_t x, int32_t y, color ink);

/* Mixes `ink` into what is in the area. An alpha of 1 replaces it. */
void canvas_fill(struct canvas *canvas, rect area, color ink, float alpha);

/* Draws a frame of that thickness inside `area`. */
void canvas_frame(struct canvas *canvas, rect area, int32_t thickness, color ink, float alpha);

/* Writes text with its upper left corner at x, y. At scale 1 letters are 8 pixels high. What is not printable
 * ASCII shows as '?'. */
void canvas_text(struct canvas *canvas, int32_t x, int32_t y, int32_t scale, color ink, const char *text);
int32_t canvas_text_width(const char *text, int32_t scale);
#define CANVAS_TEXT_HEIGHT 9 /* the height of a line at scale 1, descenders included */

/* Copies as much of `text` as fits into `width` pixels. Text that is cut ends with "..". */
void canvas_fit_text(const char *text, int32_t scale, int32_t width, char *out, size_t size);

/* Scales the image into `area`, which lies inside the canvas, composited on white. False: no memory. */
bool canvas_image(struct canvas *canvas, rect area, const tvlm_image *image);

/*
 * Scales interleaved floats: along each axis by the area average where it shrinks, linearly where it grows.
 * `out` holds out_width * out_height * channels. False: no memory.
 */
bool resize_floats(const float *in, int32_t width, int32_t height, int32_t channels, float *out,
                   int32_t out_width, int32_t out_height);

/* Interpolates a grid at x, y by the cubic of Catmull & Rom. Centres of texels are at +0.5; beyond the edges
 * the outermost texels are repeated. */
float sample_cubic(const float *grid, int32_t width, int32_t height, float x, float y);

#endif
