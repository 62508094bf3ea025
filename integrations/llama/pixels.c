/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pixels.c: pixels as bytes, and their resizing by the antialiased bicubic filter (a = -1/2) of Pillow, as
 * encoders' processors have it.
 */
#include <math.h>
#include <string.h>

#include "inside.h"

static tvlm_status rgb_make(const tvlm_log *log, int32_t width, int32_t height, tvlm_mtmd_rgb *rgb) {
    size_t bytes;
    rgb->data = tvlm_multiply((size_t)width * 3, (size_t)height, &bytes) ? malloc(bytes) : NULL;
    if (rgb->data == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a picture of %d x %d pixels", width, height);
    rgb->width = width;
    rgb->height = height;
    return TVLM_OK;
}

void tvlm_mtmd_rgb_free(tvlm_mtmd_rgb *rgb) {
    free(rgb->data);
    rgb->data = NULL;
}

/* ---- From any type ---- */

/* A value of an image, 0 .. 1. */
static float value_of(const tvlm_image *image, const unsigned char *row, int32_t index) {
    if (image->type == TVLM_PIXEL_U8) return (float)row[index] / 255.0f;
    if (image->type == TVLM_PIXEL_U16) {
        uint16_t value;
        memcpy(&value, row + (size_t)index * sizeof value, sizeof value);
        return (float)value / 65535.0f;
    }
    float value;
    memcpy(&value, row + (size_t)index * sizeof value, sizeof value);
    return value > 0.0f ? fminf(value, 1.0f) : 0.0f; /* NaN becomes 0 */
}

static void pixel_of(const tvlm_image *image, const unsigned char *row, int32_t x, uint8_t *rgb) {
    const int32_t channels = image->channels, first = x * channels;
    const float alpha = channels % 2 == 0 ? value_of(image, row, first + channels - 1) : 1.0f;
    for (int32_t c = 0; c < 3; ++c) {
        const float value = value_of(image, row, first + (channels < 3 ? 0 : c));
        rgb[c] = (uint8_t)lrintf(255.0f * (value * alpha + 1.0f - alpha));
    }
}

tvlm_status tvlm_mtmd_rgb_of(const tvlm_log *log, const tvlm_image *image, tvlm_mtmd_rgb *rgb) {
    static const size_t bytes[] = {[TVLM_PIXEL_U8] = 1, [TVLM_PIXEL_U16] = 2, [TVLM_PIXEL_F32] = 4};
    TVLM_NEED(log, image->pixels);
    if (image->width < 1 || image->height < 1 || image->channels < 1 || image->channels > 4 ||
        (unsigned)image->type > TVLM_PIXEL_F32)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image of %d x %d pixels, %d channels and type %d",
                         image->width, image->height, image->channels, (int)image->type);
    const size_t line = (size_t)image->width * (size_t)image->channels * bytes[image->type];
    const size_t stride = image->row_stride != 0 ? image->row_stride : line;
    if (stride < line)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the rows of the image are %zu bytes apart, but have %zu",
                         stride, line);
    TVLM_TRY(rgb_make(log, image->width, image->height, rgb));
    for (int32_t y = 0; y < image->height; ++y) {
        const unsigned char *row = (const unsigned char *)image->pixels + (size_t)y * stride;
        uint8_t *to = rgb->data + (size_t)y * (size_t)image->width * 3;
        if (image->type == TVLM_PIXEL_U8 && image->channels == 3)
            memcpy(to, row, line);
        else
            for (int32_t x = 0; x < image->width; ++x) pixel_of(image, row, x, to + (size_t)x * 3);
    }
    return TVLM_OK;
}

/* ---- Resizing ---- */

/* One axis: for each of `size` places, the first source place and `taps` weights. */
typedef struct axis {
    int32_t taps;
    int32_t *first;
    float *weights;
} axis;

static double bicubic(double x) {
    x = fabs(x);
    if (x < 1.0) return (1.5 * x - 2.5) * x * x + 1.0;
    return x < 2.0 ? ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0 : 0.0;
}

static void axis_free(axis *a) {
    free(a->first);
    free(a->weights);
}

/* Weights for `size` places over `from` source places. Those beyond the source's ends count nothing, as in
 * Pillow. */
static bool axis_make(int32_t from, int32_t size, axis *a) {
    const double scale = (double)from / size, wide = fmax(scale, 1.0), support = 2.0 * wide;
    a->taps = (int32_t)ceil(support) * 2 + 1;
    a->first = tvlm_allocate((size_t)size, sizeof *a->first);
    a->weights = tvlm_allocate((size_t)size * (size_t)a->taps, sizeof *a->weights);
    if (a->first == NULL || a->weights == NULL) return false;
    for (int32_t i = 0; i < size; ++i) {
        const double centre = (i + 0.5) * scale;
        const int32_t first = (int32_t)fmax(0.0, floor(centre - support + 0.5));
        const int32_t end = (int32_t)fmin(from, floor(centre + support + 0.5));
        float *weights = a->weights + (size_t)i * (size_t)a->taps;
        double sum = 0.0;
        for (int32_t s = first; s < end; ++s) sum += bicubic((s + 0.5 - centre) / wide);
        for (int32_t s = first; s < end; ++s)
            weights[s - first] = (float)(bicubic((s + 0.5 - centre) / wide) / sum);
        a->first[i] = first;
    }
    return true;
}

static uint8_t byte_of(float value) {
    return (uint8_t)lrintf(fminf(fmaxf(value, 0.0f), 255.0f));
}

/* Resizes `lines` lines, of which the values of a place lie `step` apart and lines `line` apart, and
 * writes them alike. */
typedef struct pass {
    const uint8_t *from;
    uint8_t *to;
    size_t from_step, from_line, to_step, to_line;
    int32_t lines, places, end; /* `end` source places there are */
} pass;

static void run(const pass *p, const axis *a) {
    for (int32_t line = 0; line < p->lines; ++line)
        for (int32_t i = 0; i < p->places; ++i) {
            const float *weights = a->weights + (size_t)i * (size_t)a->taps;
            float sum[3] = {0.0f, 0.0f, 0.0f};
            for (int32_t t = 0; t < a->taps && a->first[i] + t < p->end; ++t) {
                const uint8_t *from =
                    p->from + (size_t)line * p->from_line + (size_t)(a->first[i] + t) * p->from_step;
                for (int c = 0; c < 3; ++c) sum[c] += weights[t] * (float)from[c];
            }
            uint8_t *to = p->to + (size_t)line * p->to_line + (size_t)i * p->to_step;
            for (int c = 0; c < 3; ++c) to[c] = byte_of(sum[c]);
        }
}

/* The part of a picture in `box`, in its own pixels. */
static tvlm_status crop(const tvlm_log *log, const tvlm_mtmd_rgb *from, const int32_t box[4],
                        tvlm_mtmd_rgb *to) {
    TVLM_TRY(rgb_make(log, box[2] - box[0], box[3] - box[1], to));
    for (int32_t y = 0; y < to->height; ++y)
        for (int32_t x = 0; x < to->width; ++x) {
            const int32_t sx = box[0] + x < from->width ? box[0] + x : from->width - 1;
            const int32_t sy = box[1] + y < from->height ? box[1] + y : from->height - 1;
            memcpy(to->data + ((size_t)y * (size_t)to->width + (size_t)x) * 3,
                   from->data + ((size_t)sy * (size_t)from->width + (size_t)sx) * 3, 3);
        }
    return TVLM_OK;
}

static tvlm_status resize_whole(const tvlm_log *log, const tvlm_mtmd_rgb *from, tvlm_mtmd_rgb *to) {
    axis x = {0}, y = {0};
    tvlm_mtmd_rgb between = {0};
    tvlm_status status = rgb_make(log, to->width, from->height, &between);
    if (status == TVLM_OK &&
        (!axis_make(from->width, to->width, &x) || !axis_make(from->height, to->height, &y)))
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to resize a picture");
    if (status == TVLM_OK) {
        const size_t from_line = (size_t)from->width * 3, line = (size_t)to->width * 3;
        run(&(pass){from->data, between.data, 3, from_line, 3, line, from->height, to->width, from->width},
            &x);
        run(&(pass){between.data, to->data, line, 3, line, 3, to->width, to->height, from->height}, &y);
    }
    tvlm_mtmd_rgb_free(&between);
    axis_free(&x);
    axis_free(&y);
    return status;
}

tvlm_status tvlm_mtmd_resize(const tvlm_log *log, const tvlm_mtmd_rgb *from, const int32_t box[4],
                             int32_t width, int32_t height, tvlm_mtmd_rgb *to) {
    tvlm_mtmd_rgb part = {0}, made = {0};
    TVLM_TRY(crop(log, from, box, &part));
    if (part.width == width && part.height == height) {
        *to = part;
        return TVLM_OK;
    }
    tvlm_status status = rgb_make(log, width, height, &made);
    if (status == TVLM_OK) status = resize_whole(log, &part, &made);
    tvlm_mtmd_rgb_free(&part);
    if (status != TVLM_OK)
        tvlm_mtmd_rgb_free(&made);
    else
        *to = made;
    return status;
}

tvlm_status tvlm_mtmd_square(const tvlm_log *log, const tvlm_mtmd_rgb *from, int32_t side,
                             tvlm_mtmd_rgb *to) {
    const double by = (double)side / (from->width > from->height ? from->width : from->height);
    const int32_t width = (int32_t)fmin(fmax(1.0, ceil(from->width * by)), side);
    const int32_t height = (int32_t)fmin(fmax(1.0, ceil(from->height * by)), side);
    tvlm_mtmd_rgb inner = {0};
    TVLM_TRY(tvlm_mtmd_resize(log, from, (const int32_t[]){0, 0, from->width, from->height}, width, height,
                              &inner));
    const tvlm_status status = rgb_make(log, side, side, to);
    if (status == TVLM_OK) {
        const size_t left = (size_t)((side - width) / 2) * 3;
        memset(to->data, 127, (size_t)side * (size_t)side * 3);
        for (int32_t y = 0; y < height; ++y)
            memcpy(to->data + (size_t)(y + (side - height) / 2) * (size_t)side * 3 + left,
                   inner.data + (size_t)y * (size_t)width * 3, (size_t)width * 3);
    }
    tvlm_mtmd_rgb_free(&inner);
    return status;
}
