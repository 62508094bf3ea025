#include <math.h>
#include <string.h>

#include "reference/reference.h"
#include "reference/texture.h"

static const size_t component_bytes[] = {
    [TVLM_PIXEL_U8] = sizeof(uint8_t), [TVLM_PIXEL_U16] = sizeof(uint16_t), [TVLM_PIXEL_F32] = sizeof(float)};

static double clamp_unit(double value) {
    return fmin(fmax(value, 0), 1); /* fmax makes 0 of NaN */
}

/* One component in [0, 1]. Rows may begin at any byte, so it is copied out rather than pointed at. */
static double component(const unsigned char *at, tvlm_pixel_type type) {
    uint16_t u16;
    float f32;
    switch (type) {
    case TVLM_PIXEL_U16: memcpy(&u16, at, sizeof u16); return u16 / 65535.0;
    case TVLM_PIXEL_F32: memcpy(&f32, at, sizeof f32); return clamp_unit(f32);
    default: return *at / 255.0;
    }
}

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

tvlm_status tvlm_reference_source(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                  int32_t image, tvlm_texture *out) {
    (void)device;
    const size_t pixel_bytes = component_bytes[layout->type] * (size_t)layout->channels;
    const size_t row_bytes =
        layout->row_stride > 0 ? layout->row_stride : pixel_bytes * (size_t)layout->width;
    const unsigned char *data = (const unsigned char *)reference_data(pixels) + layout->offset;
    for (int32_t y = 0; y < layout->height; ++y) {
        for (int32_t x = 0; x < layout->width; ++x) {
            double rgby[4];
            convert(data + row_bytes * (size_t)y + pixel_bytes * (size_t)x, layout, rgby);
            reference_store(out, 0, reference_slice(out, image, 0), x, y, rgby);
        }
    }
    return TVLM_OK;
}
