/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resample.c: resamples images on the host, one axis after the other: by exact area average along an axis
 * that shrinks, and linearly along one that grows. Rows are made as they are needed, so that a huge photo
 * needs memory for a few rows only. Sums are in double precision, so that a constant image stays as it is,
 * and the mean of an image is kept.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "platform/compiler.h"
#include "stack/resample.h"

/* Output i is the average of the source positions first[i] .. first[i] + count[i] - 1, with weights[i *
 * stride + tap]. Further weights are 0, up to `taps`, the largest count. */
typedef struct axis {
    int32_t *first, *count;
    double *weights;
    size_t stride, taps;
} axis;

static void axis_free(axis *a) {
    free(a->first);
    free(a->count);
    free(a->weights);
}

static bool axis_allocate(axis *a, int32_t from, int32_t to) {
    a->stride = from > to ? (size_t)(from / to) + 2 : 2;
    a->first = tvlm_allocate((size_t)to, sizeof *a->first);
    a->count = tvlm_allocate((size_t)to, sizeof *a->count);
    a->weights = tvlm_allocate((size_t)to * a->stride, sizeof *a->weights);
    return a->first != NULL && a->count != NULL && a->weights != NULL;
}

/*
 * Computes the weights of an axis that shrinks. In units of 1/to source pixels, output i covers
 * [i from, (i+1) from), and source pixel s covers [s to, (s+1) to). So the overlaps are exact integers, and
 * the overlaps of one output add up to `from`.
 */
static void axis_area(axis *a, int32_t from, int32_t to) {
    for (int32_t i = 0; i < to; ++i) {
        const int64_t begin = (int64_t)i * from, end = begin + from;
        const int64_t first = begin / to, last = (end - 1) / to;
        a->first[i] = (int32_t)first;
        a->count[i] = (int32_t)(last - first + 1);
        for (int64_t s = first; s <= last; ++s) {
            const int64_t low = s * to > begin ? s * to : begin,
                          high = (s + 1) * to < end ? (s + 1) * to : end;
            a->weights[(size_t)i * a->stride + (size_t)(s - first)] = (double)(high - low) / (double)from;
        }
    }
}

static void axis_bilinear(axis *a, int32_t from, int32_t to) {
    for (int32_t i = 0; i < to; ++i) {
        const double centre = ((double)i + 0.5) * (double)from / (double)to - 0.5;
        /* Places are clamped to the edge. */
        const double place = fmin(fmax(centre, 0.0), (double)(from - 1));
        const int32_t first = (int32_t)place;
        double *weights = a->weights + (size_t)i * a->stride;
        a->first[i] = first;
        a->count[i] = first + 1 < from ? 2 : 1;
        weights[0] = a->count[i] == 2 ? 1.0 - (place - first) : 1.0;
        weights[1] = place - first;
    }
}

static bool axis_make(axis *a, int32_t from, int32_t to) {
    if (!axis_allocate(a, from, to)) return false;
    if (from >= to)
        axis_area(a, from, to);
    else
        axis_bilinear(a, from, to);
    for (int32_t i = 0; i < to; ++i)
        if (a->taps < (size_t)a->count[i]) a->taps = (size_t)a->count[i];
    return true;
}

/* The sums of a pixel that are computed at once: two of a processor's vectors of two doubles, or one of four. */
#define LANES 4

typedef struct resampler {
    const tvlm_image *image;
    int32_t width, channels; /* the result's */
    size_t stride;           /* bytes from one source row to the next */
    axis x, y;
    float *pixels;   /* one source row, composited, and zeros for the taps beyond its end */
    double *rows[2]; /* the last two source rows, resampled along x; row y in rows[y & 1] */
    int32_t held[2]; /* the numbers of the rows in `rows`; -1: none */
    double *sums;    /* one row of the result */
} resampler;

/* Clamps to [0, 1]. NaN becomes 0. */
static float clamped(float value) {
    return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}

static float element(const unsigned char *row, size_t i, tvlm_pixel_type type) {
    uint16_t u16;
    float f32;
    switch (type) {
    case TVLM_PIXEL_U8: return (float)row[i] / 255.0f;
    case TVLM_PIXEL_U16: memcpy(&u16, row + i * sizeof u16, sizeof u16); return (float)u16 / 65535.0f;
    case TVLM_PIXEL_F32: memcpy(&f32, row + i * sizeof f32, sizeof f32); return clamped(f32);
    }
    return 0.0f;
}

/* Converts the u8 values of a row. This case has a loop of its own since most images have such values, and
 * compilers can vectorise this loop. The sum is the float that division by 255 gives, for every byte: the
 * first product is exact, and the second has what its factor leaves of 1/255. */
TVLM_WIDE static void load_bytes(const unsigned char *restrict row, size_t count, float *restrict pixels) {
    for (size_t i = 0; i < count; ++i) {
        const float byte = row[i];
        pixels[i] = byte * 0x1.01p-8f + byte * 0x1.010102p-24f;
    }
}

/* Loads source row y as floats. Alpha is composited here, since the background must be mixed in before
 * averaging. */
static void load_row(resampler *r, int32_t y) {
    const tvlm_image *image = r->image;
    const unsigned char *row = (const unsigned char *)image->pixels + (size_t)y * r->stride;
    const size_t width = (size_t)image->width, channels = (size_t)image->channels,
                 colours = (size_t)r->channels;
    const bool opaque = channels == colours;
    if (opaque && image->type == TVLM_PIXEL_U8) {
        load_bytes(row, width * colours, r->pixels);
        return;
    }
    for (size_t x = 0; x < width; ++x) {
        const float alpha = opaque ? 1.0f : element(row, x * channels + colours, image->type);
        for (size_t c = 0; c < colours; ++c) {
            const float value = element(row, x * channels + c, image->type);
            r->pixels[x * colours + c] = opaque ? value : value * alpha + (1.0f - alpha);
        }
    }
}

/*
 * Averages a row of pixels of `channels` values along x. Where compilers know `taps` and `channels`, they
 * unroll and vectorise the inner loops, so each output has as many taps as the one that has most. Of colours,
 * four sums are made of which the last is of the next pixel: the next output writes over it.
 */
static inline void average_row(const axis *a, const float *pixels, size_t width, size_t taps, size_t channels,
                               double *out) {
    const size_t lanes = channels == 1 ? 1 : LANES;
    for (size_t i = 0; i < width; ++i) {
        const double *weights = a->weights + i * a->stride;
        const float *from = pixels + channels * (size_t)a->first[i];
        double sums[LANES] = {0.0};
        for (size_t tap = 0; tap < taps; ++tap)
            for (size_t c = 0; c < lanes; ++c) sums[c] += weights[tap] * (double)from[channels * tap + c];
        for (size_t c = 0; c < lanes; ++c) out[channels * i + c] = sums[c];
    }
}

TVLM_WIDE static void average_colours(const axis *a, const float *pixels, size_t width, double *out) {
    switch (a->taps) {
    case 1: average_row(a, pixels, width, 1, 3, out); break;
    case 2: average_row(a, pixels, width, 2, 3, out); break;
    case 3: average_row(a, pixels, width, 3, 3, out); break;
    default: average_row(a, pixels, width, a->taps, 3, out); break;
    }
}

static const double *row_along_x(resampler *r, int32_t y) {
    double *out = r->rows[y & 1];
    if (r->held[y & 1] == y) return out;
    load_row(r, y);
    if (r->channels == 1)
        average_row(&r->x, r->pixels, (size_t)r->width, r->x.taps, 1, out);
    else
        average_colours(&r->x, r->pixels, (size_t)r->width, out);
    r->held[y & 1] = y;
    return out;
}

TVLM_WIDE static void begin_sums(const double *restrict row, double weight, size_t count,
                                 double *restrict sums) {
    for (size_t i = 0; i < count; ++i) sums[i] = weight * row[i];
}

TVLM_WIDE static void add_row(const double *restrict row, double weight, size_t count,
                              double *restrict sums) {
    for (size_t i = 0; i < count; ++i) sums[i] += weight * row[i];
}

TVLM_WIDE static void end_sums(const double *restrict row, double weight, size_t count,
                               const double *restrict sums, float *restrict out) {
    for (size_t i = 0; i < count; ++i) out[i] = (float)(sums[i] + weight * row[i]);
}

static void make_row(resampler *r, int32_t j, float *out) {
    const size_t count = (size_t)r->width * (size_t)r->channels;
    const int32_t first = r->y.first[j], last = r->y.count[j] - 1;
    const double *weights = r->y.weights + (size_t)j * r->y.stride;
    if (last == 0) {
        const double *row = row_along_x(r, first);
        for (size_t i = 0; i < count; ++i) out[i] = (float)(weights[0] * row[i]);
        return;
    }
    begin_sums(row_along_x(r, first), weights[0], count, r->sums);
    for (int32_t tap = 1; tap < last; ++tap)
        add_row(row_along_x(r, first + tap), weights[tap], count, r->sums);
    end_sums(row_along_x(r, first + last), weights[last], count, r->sums, out);
}

static bool resampler_make(resampler *r, const tvlm_image *image, int32_t width, int32_t height) {
    static const size_t bytes[] = {1, 2, 4};
    r->image = image;
    r->width = width;
    r->channels = image->channels <= 2 ? 1 : 3;
    r->stride = image->row_stride != 0 ? image->row_stride
                                       : (size_t)image->width * (size_t)image->channels * bytes[image->type];
    r->held[0] = r->held[1] = -1;
    if (!axis_make(&r->x, image->width, width) || !axis_make(&r->y, image->height, height)) return false;
    const size_t row = (size_t)width * (size_t)r->channels + LANES,
                 pixels = ((size_t)image->width + r->x.taps) * (size_t)r->channels + LANES;
    r->pixels = tvlm_allocate(pixels, sizeof *r->pixels);
    r->rows[0] = tvlm_allocate(row, sizeof *r->rows[0]);
    r->rows[1] = tvlm_allocate(row, sizeof *r->rows[1]);
    r->sums = tvlm_allocate(row, sizeof *r->sums);
    return r->pixels != NULL && r->rows[0] != NULL && r->rows[1] != NULL && r->sums != NULL;
}

static void resampler_free(resampler *r) {
    axis_free(&r->x);
    axis_free(&r->y);
    free(r->pixels);
    free(r->rows[0]);
    free(r->rows[1]);
    free(r->sums);
}

tvlm_status tvlm_resample(const tvlm_image *image, int32_t width, int32_t height, float **pixels,
                          int32_t *channels) {
    resampler r = {0};
    float *out = NULL;
    size_t row;
    const bool made = resampler_make(&r, image, width, height);
    if (made && tvlm_multiply((size_t)width, (size_t)r.channels * sizeof *out, &row))
        out = tvlm_allocate((size_t)height, row);
    if (out != NULL) {
        const size_t count = (size_t)width * (size_t)r.channels;
        for (int32_t j = 0; j < height; ++j) make_row(&r, j, out + (size_t)j * count);
        *pixels = out;
        *channels = r.channels;
    }
    resampler_free(&r);
    return out != NULL ? TVLM_OK : TVLM_ERROR_MEMORY;
}
