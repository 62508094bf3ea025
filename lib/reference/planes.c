/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planes.c: red, green and blue of a frame in another size. Here planes are buffers.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/source.h"

static double byte_at(const tvlm_plane *plane, size_t at) {
    return ((const unsigned char *)reference_data(plane->memory))[at] / 255.0;
}

static void colour_of_nv12(const tvlm_planes *planes, int32_t x, int32_t y, double rgb[3]) {
    const size_t luma = planes->pixels.offset + (size_t)y * planes->pixels.row_stride + (size_t)x;
    const size_t pair = planes->chroma_offset + (size_t)(y / 2) * planes->chroma_stride + 2 * (size_t)(x / 2);
    const double known[3] = {byte_at(&planes->first, luma), byte_at(&planes->chroma, pair),
                             byte_at(&planes->chroma, pair + 1)};
    for (int c = 0; c < 3; ++c) {
        double colour = (double)planes->rgb[c][3];
        for (int i = 0; i < 3; ++i) colour += (double)planes->rgb[c][i] * known[i];
        rgb[c] = fmin(fmax(colour, 0), 1);
    }
}

static void colour_of(const tvlm_planes *planes, int32_t x, int32_t y, double rgb[3]) {
    if (planes->nv12)
        colour_of_nv12(planes, x, y, rgb);
    else
        tvlm_reference_rgb(planes->first.memory, &planes->pixels, x, y, rgb);
}

/*
 * How much of place i of an axis of `to` places comes from place s of the axis of `from` places. Where the
 * axis shrinks, i is an interval of from / to source places, and this is the share that lies in [s, s + 1).
 * Where it grows, i is a point, and the share falls from 1 to 0 over the distance of one source place.
 */
static double share_of(int32_t i, int32_t s, int32_t from, int32_t to) {
    const double step = (double)from / to;
    if (from >= to) return fmax(fmin(s + 1.0, (i + 1) * step) - fmax(s, i * step), 0) / step;
    const double place = fmin(fmax((i + 0.5) * step - 0.5, 0), from - 1);
    return fmax(1 - fabs(place - s), 0);
}

/* The first and the last source place of which place i may have a share. */
static void span_of(int32_t i, int32_t from, int32_t to, int32_t span[2]) {
    const double step = (double)from / to;
    span[0] = (int32_t)fmax(floor(i * step) - 2, 0);
    span[1] = (int32_t)fmin(ceil((i + 1) * step) + 2, from - 1);
}

tvlm_status tvlm_reference_planes(tvlm_device *device, const tvlm_planes *planes, int32_t width,
                                  int32_t height, tvlm_buffer *out) {
    const int32_t from_width = planes->pixels.width, from_height = planes->pixels.height;
    float *result = reference_data(out);
    (void)device;
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x) {
            double sum[3] = {0, 0, 0};
            int32_t rows[2], columns[2];
            span_of(y, from_height, height, rows);
            span_of(x, from_width, width, columns);
            for (int32_t t = rows[0]; t <= rows[1]; ++t)
                for (int32_t s = columns[0]; s <= columns[1]; ++s) {
                    const double share =
                        share_of(y, t, from_height, height) * share_of(x, s, from_width, width);
                    double rgb[3];
                    colour_of(planes, s, t, rgb);
                    for (int c = 0; c < 3; ++c) sum[c] += share * rgb[c];
                }
            for (int c = 0; c < 3; ++c) *result++ = (float)sum[c];
        }
    return TVLM_OK;
}
