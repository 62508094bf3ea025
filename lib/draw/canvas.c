/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* the header defines static functions */
#endif
#include <stb_easy_font.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

bool tvlm_canvas_create(int32_t width, int32_t height, tvlm_colour fill, tvlm_canvas *out) {
    if (width < 1 || height < 1 || width > TVLM_CANVAS_SIDE_MAX || height > TVLM_CANVAS_SIDE_MAX)
        return false;
    uint8_t *const rgb = malloc((size_t)width * (size_t)height * 3);
    if (rgb == NULL) return false;
    *out = (tvlm_canvas){width, height, rgb};
    tvlm_canvas_fill(out, (tvlm_rect){0, 0, width, height}, fill, 1.0f);
    return true;
}

void tvlm_canvas_release(tvlm_canvas *canvas) {
    free(canvas->rgb);
    canvas->rgb = NULL;
}

static uint8_t *pixel(tvlm_canvas *canvas, int32_t x, int32_t y) {
    return canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
}

void tvlm_canvas_set(tvlm_canvas *canvas, int32_t x, int32_t y, tvlm_colour ink) {
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height) return;
    uint8_t *const rgb = pixel(canvas, x, y);
    rgb[0] = ink.r;
    rgb[1] = ink.g;
    rgb[2] = ink.b;
}

static uint8_t mix(uint8_t under, uint8_t over, float alpha) {
    return (uint8_t)((float)under + ((float)over - (float)under) * alpha + 0.5f);
}

static int32_t clamp_int(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

void tvlm_canvas_fill(tvlm_canvas *canvas, tvlm_rect area, tvlm_colour ink, float alpha) {
    const int32_t x0 = clamp_int(area.x0, 0, canvas->width), x1 = clamp_int(area.x1, 0, canvas->width);
    const int32_t y0 = clamp_int(area.y0, 0, canvas->height), y1 = clamp_int(area.y1, 0, canvas->height);
    for (int32_t y = y0; y < y1; ++y) {
        for (int32_t x = x0; x < x1; ++x) {
            uint8_t *const rgb = pixel(canvas, x, y);
            rgb[0] = mix(rgb[0], ink.r, alpha);
            rgb[1] = mix(rgb[1], ink.g, alpha);
            rgb[2] = mix(rgb[2], ink.b, alpha);
        }
    }
}

void tvlm_canvas_frame(tvlm_canvas *canvas, tvlm_rect area, int32_t thickness, tvlm_colour ink, float alpha) {
    const int32_t width = area.x1 - area.x0, height = area.y1 - area.y0;
    if (2 * thickness >= width || 2 * thickness >= height) {
        tvlm_canvas_fill(canvas, area, ink, alpha);
        return;
    }
    const int32_t inner_y0 = area.y0 + thickness, inner_y1 = area.y1 - thickness;
    tvlm_canvas_fill(canvas, (tvlm_rect){area.x0, area.y0, area.x1, inner_y0}, ink, alpha);
    tvlm_canvas_fill(canvas, (tvlm_rect){area.x0, inner_y1, area.x1, area.y1}, ink, alpha);
    tvlm_canvas_fill(canvas, (tvlm_rect){area.x0, inner_y0, area.x0 + thickness, inner_y1}, ink, alpha);
    tvlm_canvas_fill(canvas, (tvlm_rect){area.x1 - thickness, inner_y0, area.x1, inner_y1}, ink, alpha);
}

/* Text is drawn one character at a time, so that the buffer of quads has a fixed size. According to the
 * font's header, a character takes 270 bytes on average. */
#define GLYPH_BYTES 4096

static char printable(char letter) {
    return letter >= ' ' && letter <= '~' ? letter : '?';
}

static int32_t glyph_advance(char letter) {
    return stb_easy_font_charinfo[printable(letter) - ' '].advance & 15;
}

static void draw_glyph(tvlm_canvas *canvas, int32_t x, int32_t y, int32_t scale, tvlm_colour ink,
                       char letter) {
    float corners[GLYPH_BYTES / sizeof(float)]; /* [quads][4 corners][x, y, z, colour] */
    char text[2] = {printable(letter), '\0'};
    const int quads = stb_easy_font_print(0.0f, 0.0f, text, NULL, corners, sizeof corners);
    for (int i = 0; i < quads; ++i) {
        const float *const first = corners + (size_t)16 * (size_t)i, *const opposite = first + 8;
        const tvlm_rect area = {x + scale * (int32_t)first[0], y + scale * (int32_t)first[1],
                                x + scale * (int32_t)opposite[0], y + scale * (int32_t)opposite[1]};
        tvlm_canvas_fill(canvas, area, ink, 1.0f);
    }
}

void tvlm_canvas_text(tvlm_canvas *canvas, int32_t x, int32_t y, int32_t scale, tvlm_colour ink,
                      const char *text) {
    for (; *text != '\0' && x < canvas->width; ++text) {
        draw_glyph(canvas, x, y, scale, ink, *text);
        x += scale * glyph_advance(*text);
    }
}

int32_t tvlm_canvas_text_width(const char *text, int32_t scale) {
    int32_t width = 0;
    for (; *text != '\0'; ++text) width += scale * glyph_advance(*text);
    return width;
}

void tvlm_canvas_fit_text(const char *text, int32_t scale, int32_t width, char *out, size_t size) {
    const int32_t dots = tvlm_canvas_text_width("..", scale);
    const bool whole = tvlm_canvas_text_width(text, scale) <= width;
    int32_t used = 0;
    size_t count = 0;
    for (; text[count] != '\0' && count + 3 < size; ++count) {
        used += scale * glyph_advance(text[count]);
        if (!whole && used + dots > width) break;
    }
    snprintf(out, size, "%.*s%s", (int)count, text, text[count] == '\0' ? "" : "..");
}

/* ---- Scaling: each axis has a list of the inputs and weights that make each output ---- */

struct tap {
    int32_t first, count;
    const float *weights;
};

struct axis {
    struct tap *taps;
    float *weights;
};

static void release_axis(struct axis *axis) {
    free(axis->taps);
    free(axis->weights);
}

/* If the axis shrinks, output i covers [i, i + 1) * in / out, and each input counts by the part of it that
 * lies in that range. If the axis grows, outputs are interpolated linearly between the centres of inputs. */
static bool make_axis(int32_t in, int32_t out, struct axis *axis) {
    const double ratio = (double)in / out;
    const int32_t most = in > out ? in / out + 2 : 2;
    axis->taps = calloc((size_t)out, sizeof *axis->taps);
    axis->weights = calloc((size_t)out * (size_t)most, sizeof *axis->weights);
    if (axis->taps == NULL || axis->weights == NULL) return false;
    for (int32_t i = 0; i < out; ++i) {
        float *const weights = axis->weights + (size_t)i * (size_t)most;
        struct tap *const tap = &axis->taps[i];
        tap->weights = weights;
        if (in > out) {
            const double low = i * ratio, high = (i + 1) * ratio;
            tap->first = (int32_t)low;
            for (int32_t j = tap->first; j < in && j < high && tap->count < most; ++j) {
                const double overlap = fmin(high, j + 1.0) - fmax(low, j);
                weights[tap->count++] = (float)(overlap / ratio);
            }
        } else {
            const double centre = fmin(fmax((i + 0.5) * ratio - 0.5, 0.0), in - 1.0);
            tap->first = (int32_t)centre < in - 1 ? (int32_t)centre : in - 1;
            tap->count = tap->first + 1 < in ? 2 : 1;
            weights[0] = tap->count == 2 ? (float)(1.0 - (centre - tap->first)) : 1.0f;
            weights[1] = 1.0f - weights[0];
        }
    }
    return true;
}

/* Scales one row to `out_width` pixels. */
static void resize_row(const float *in, int32_t channels, const struct axis *axis, float *out,
                       int32_t out_width) {
    for (int32_t i = 0; i < out_width; ++i) {
        const struct tap *const tap = &axis->taps[i];
        for (int32_t c = 0; c < channels; ++c) {
            float sum = 0.0f;
            for (int32_t j = 0; j < tap->count; ++j)
                sum += tap->weights[j] * in[(tap->first + j) * channels + c];
            out[i * channels + c] = sum;
        }
    }
}

/* A function that writes row y of its source to `buffer`. */
typedef void row_source(const void *from, int32_t y, float *buffer);

/* Scales each input row once, and adds it to the output rows to which it belongs. These are neighbours. */
static void add_rows(row_source *source, const void *from, int32_t height, int32_t channels,
                     const struct axis *across, const struct axis *down, float *buffer, float *scaled,
                     float *out, int32_t out_width, int32_t out_height) {
    const size_t out_row = (size_t)out_width * (size_t)channels;
    int32_t first = 0;
    for (int32_t y = 0; y < height; ++y) {
        while (first < out_height && down->taps[first].first + down->taps[first].count <= y) ++first;
        if (first == out_height || down->taps[first].first > y) continue;
        source(from, y, buffer);
        resize_row(buffer, channels, across, scaled, out_width);
        for (int32_t i = first; i < out_height && down->taps[i].first <= y; ++i) {
            const float weight = down->taps[i].weights[y - down->taps[i].first];
            float *const row = out + (size_t)i * out_row;
            for (size_t x = 0; x < out_row; ++x) row[x] += weight * scaled[x];
        }
    }
}

static bool resize_rows(row_source *source, const void *from, int32_t width, int32_t height, int32_t channels,
                        float *out, int32_t out_width, int32_t out_height) {
    const size_t out_row = (size_t)out_width * (size_t)channels;
    struct axis across = {0}, down = {0};
    float *const buffer = calloc((size_t)width * (size_t)channels, sizeof *buffer);
    float *const scaled = calloc(out_row, sizeof *scaled);
    const bool ready = buffer != NULL && scaled != NULL && make_axis(width, out_width, &across) &&
                       make_axis(height, out_height, &down);
    memset(out, 0, out_row * (size_t)out_height * sizeof *out);
    if (ready)
        add_rows(source, from, height, channels, &across, &down, buffer, scaled, out, out_width, out_height);
    release_axis(&down);
    release_axis(&across);
    free(buffer);
    free(scaled);
    return ready;
}

typedef struct float_rows {
    const float *values;
    size_t row;
} float_rows;

static void row_of_floats(const void *from, int32_t y, float *buffer) {
    const float_rows *const rows = from;
    memcpy(buffer, rows->values + (size_t)y * rows->row, rows->row * sizeof *buffer);
}

bool tvlm_canvas_resize(const float *in, int32_t width, int32_t height, int32_t channels, float *out,
                        int32_t out_width, int32_t out_height) {
    const float_rows rows = {in, (size_t)width * (size_t)channels};
    return resize_rows(row_of_floats, &rows, width, height, channels, out, out_width, out_height);
}

static size_t type_bytes(tvlm_pixel_type type) {
    return type == TVLM_PIXEL_U8 ? 1 : type == TVLM_PIXEL_U16 ? 2 : sizeof(float);
}

static float read_value(const unsigned char *at, tvlm_pixel_type type) {
    uint16_t word;
    float value;
    if (type == TVLM_PIXEL_U8) return (float)*at / 255.0f;
    if (type == TVLM_PIXEL_U16) {
        memcpy(&word, at, sizeof word);
        return (float)word / 65535.0f;
    }
    memcpy(&value, at, sizeof value);
    return value >= 0.0f ? fminf(value, 1.0f) : 0.0f;
}

/* Writes a row of any image as RGB floats, composited on white. */
static void row_of_image(const void *from, int32_t y, float *buffer) {
    const tvlm_image *const image = from;
    const size_t bytes = type_bytes(image->type), step = bytes * (size_t)image->channels;
    const size_t stride = image->row_stride != 0 ? image->row_stride : step * (size_t)image->width;
    const unsigned char *at = (const unsigned char *)image->pixels + (size_t)y * stride;
    const bool gray = image->channels < 3, alpha = image->channels == 2 || image->channels == 4;
    for (int32_t x = 0; x < image->width; ++x, at += step) {
        const float opaque = alpha ? read_value(at + step - bytes, image->type) : 1.0f;
        for (size_t c = 0; c < 3; ++c) {
            const float value = read_value(at + (gray ? 0 : c * bytes), image->type);
            buffer[3 * x + (int32_t)c] = value * opaque + (1.0f - opaque);
        }
    }
}

bool tvlm_canvas_image(tvlm_canvas *canvas, tvlm_rect area, const tvlm_image *image) {
    const int32_t width = area.x1 - area.x0, height = area.y1 - area.y0;
    float *const scaled = malloc((size_t)width * (size_t)height * 3 * sizeof *scaled);
    const bool done = scaled != NULL &&
                      resize_rows(row_of_image, image, image->width, image->height, 3, scaled, width, height);
    for (int32_t y = 0; done && y < height; ++y) {
        const float *const row = scaled + (size_t)y * (size_t)width * 3;
        uint8_t *const rgb = pixel(canvas, area.x0, area.y0 + y);
        for (int32_t i = 0; i < 3 * width; ++i)
            rgb[i] = (uint8_t)(fminf(fmaxf(row[i], 0.0f), 1.0f) * 255.0f + 0.5f);
    }
    free(scaled);
    return done;
}

/* Along an axis, a place at least this many texels beyond an edge is interpolated from the edge's texels
 * alone. */
#define REPEATED 4.0f

static void catmull_rom(float t, float weights[4]) {
    weights[0] = 0.5f * (-t + t * t * (2.0f - t));
    weights[1] = 0.5f * (2.0f + t * t * (-5.0f + 3.0f * t));
    weights[2] = 0.5f * (t + t * t * (4.0f - 3.0f * t));
    weights[3] = 0.5f * (t * t * (t - 1.0f));
}

float tvlm_canvas_cubic(const float *grid, int32_t width, int32_t height, float x, float y) {
    x = fminf(fmaxf(x, -REPEATED), (float)width + REPEATED);
    y = fminf(fmaxf(y, -REPEATED), (float)height + REPEATED);
    const float left = floorf(x - 0.5f), top = floorf(y - 0.5f);
    float across[4], down[4], sum = 0.0f;
    catmull_rom(x - 0.5f - left, across);
    catmull_rom(y - 0.5f - top, down);
    for (int32_t j = 0; j < 4; ++j) {
        const float *const row =
            grid + (size_t)clamp_int((int32_t)top - 1 + j, 0, height - 1) * (size_t)width;
        for (int32_t i = 0; i < 4; ++i)
            sum += down[j] * across[i] * row[clamp_int((int32_t)left - 1 + i, 0, width - 1)];
    }
    return sum;
}

void tvlm_canvas_range(const float *values, size_t count, float *low, float *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(values[i])) continue;
        *low = fminf(*low, values[i]);
        *high = fmaxf(*high, values[i]);
    }
    if (*low > *high) *low = *high = 0.0f;
}
