/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c: r, g, b and luma from the pixels that were handed in, and which tiles of new pixels differ.
 */
#include <math.h>
#include <string.h>

#include "core/texel.h"
#include "reference/reference.h"
#include "reference/source.h"
#include "reference/texture.h"

static const size_t component_bytes[] = {
    [TVLM_PIXEL_U8] = sizeof(uint8_t), [TVLM_PIXEL_U16] = sizeof(uint16_t), [TVLM_PIXEL_F32] = sizeof(float)};

/* Clamps to [0, 1]. fmax makes 0 of NaN. */
static double clamp_unit(double value) {
    return fmin(fmax(value, 0), 1);
}

/* One component in [0, 1]. Rows may begin at any byte, so it is copied and not pointed at. */
static double component(const unsigned char *at, tvlm_pixel_type type) {
    uint16_t u16;
    float f32;
    switch (type) {
    case TVLM_PIXEL_U16: memcpy(&u16, at, sizeof u16); return u16 / 65535.0;
    case TVLM_PIXEL_F32: memcpy(&f32, at, sizeof f32); return clamp_unit(f32);
    default: return *at / 255.0;
    }
}

/* (r, g, b, luma) of one pixel, composited on white. */
static void convert(const unsigned char *pixel, const tvlm_pixels *layout, double rgby[4]) {
    const size_t bytes = component_bytes[layout->type];
    const int32_t colours = layout->channels >= 3 ? 3 : 1;
    const bool has_alpha = layout->channels > colours;
    const double alpha = has_alpha ? component(pixel + bytes * (size_t)colours, layout->type) : 1;
    for (int c = 0; c < 3; ++c) {
        const double colour = component(pixel + bytes * (size_t)(colours == 3 ? c : 0), layout->type);
        rgby[c] = colour * alpha + (1 - alpha);
    }
    rgby[3] = clamp_unit((double)TVLM_LUMA_R * rgby[0] + (double)TVLM_LUMA_G * rgby[1] +
                         (double)TVLM_LUMA_B * rgby[2]);
}

void tvlm_reference_rgb(tvlm_buffer *pixels, const tvlm_pixels *layout, int32_t x, int32_t y, double rgb[3]) {
    const size_t pixel_bytes = component_bytes[layout->type] * (size_t)layout->channels;
    const unsigned char *data = (const unsigned char *)reference_data(pixels) + layout->offset;
    double rgby[4];
    convert(data + layout->row_stride * (size_t)y + pixel_bytes * (size_t)x, layout, rgby);
    memcpy(rgb, rgby, 3 * sizeof *rgb);
}

tvlm_status tvlm_reference_source(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                  int32_t image, tvlm_texture *out) {
    if (out->parts != NULL) {
        reference_texture alone = tvlm_reference_image(out, image);
        return tvlm_reference_source(device, pixels, layout, 0, &alone.base);
    }
    const size_t pixel_bytes = component_bytes[layout->type] * (size_t)layout->channels;
    const size_t row_bytes =
        layout->row_stride > 0 ? layout->row_stride : pixel_bytes * (size_t)layout->width;
    const unsigned char *data = (const unsigned char *)reference_data(pixels) + layout->offset;
    for (int32_t y = 0; y < layout->height; ++y) {
        for (int32_t x = 0; x < layout->width; ++x) {
            double rgby[4];
            convert(data + row_bytes * (size_t)y + pixel_bytes * (size_t)x, layout, rgby);
            tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, rgby);
        }
    }
    return TVLM_OK;
}

/* Only the source is made tile by tile. All other grids of the reference are made as a whole, which gives the
 * same values as before beside the tiles. */
tvlm_status tvlm_reference_source_tiles(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                        bool packed, const tvlm_tiles *tiles, tvlm_texture *out) {
    (void)device;
    const size_t pixel_bytes = component_bytes[layout->type] * (size_t)layout->channels;
    const size_t side = (size_t)tiles->side, columns = (size_t)tiles->columns;
    const unsigned char *data = (const unsigned char *)reference_data(pixels) + layout->offset;
    /* The number of the tile among those that changed. */
    size_t number = 0;
    for (size_t tile = 0; tile < columns * (size_t)tiles->rows; ++tile) {
        if (!tiles->changed[tile]) continue;
        const size_t left = tile % columns * side, top = tile / columns * side;
        for (size_t y = top; y < top + side && y < (size_t)out->height; ++y)
            for (size_t x = left; x < left + side && x < (size_t)out->width; ++x) {
                const size_t at = packed ? ((number * side + y - top) * side + x - left) * pixel_bytes
                                         : y * layout->row_stride + x * pixel_bytes;
                double rgby[4];
                convert(data + at, layout, rgby);
                tvlm_reference_store(out, 0, reference_slice(out, tiles->image, 0), (int32_t)x, (int32_t)y,
                                     rgby);
            }
        ++number;
    }
    return TVLM_OK;
}

tvlm_status tvlm_reference_source_changed(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                          int32_t image, const tvlm_texture *source, int32_t side,
                                          float threshold, int32_t *changed) {
    (void)device;
    const size_t pixel_bytes = component_bytes[layout->type] * (size_t)layout->channels;
    const unsigned char *data = (const unsigned char *)reference_data(pixels) + layout->offset;
    const int32_t columns = (source->width + side - 1) / side, rows = (source->height + side - 1) / side;
    memset(changed, 0, (size_t)columns * (size_t)rows * sizeof *changed);
    for (int32_t y = 0; y < source->height; ++y)
        for (int32_t x = 0; x < source->width; ++x) {
            const float *was = tvlm_reference_fetch(source, 0, reference_slice(source, image, 0), x, y);
            double rgby[4];
            convert(data + layout->row_stride * (size_t)y + pixel_bytes * (size_t)x, layout, rgby);
            for (int c = 0; c < 4; ++c) {
                const float now = tvlm_component_round(tvlm_texture_format(source), (float)rgby[c]);
                if (fabsf(now - was[c]) > threshold) changed[y / side * columns + x / side] = 1;
            }
        }
    return TVLM_OK;
}
