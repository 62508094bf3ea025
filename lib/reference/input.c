/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c: copies a grid that an application hands in into a texture (core/input.h has the conversion).
 */
#include "core/input.h"

#include "reference/reference.h"
#include "reference/texture.h"

tvlm_status tvlm_reference_input_check(tvlm_device *device, tvlm_buffer *data, const tvlm_input *input,
                                       int64_t *first) {
    (void)device;
    *first = tvlm_input_check(input, reference_data(data));
    return TVLM_OK;
}

tvlm_status tvlm_reference_input_directions(tvlm_device *device, tvlm_buffer *data, const tvlm_input *input,
                                            bool *any) {
    (void)device;
    *any = tvlm_input_directions(input, reference_data(data));
    return TVLM_OK;
}

tvlm_status tvlm_reference_input(tvlm_device *device, tvlm_buffer *data, const tvlm_input *input,
                                 int32_t image, tvlm_texture *out) {
    float rgba[TVLM_FEATURES_MAX];
    (void)device;
    for (int32_t y = 0; y < out->height; ++y)
        for (int32_t x = 0; x < out->width; ++x) {
            tvlm_input_convert(input, reference_data(data), x, y, out->layers, rgba);
            for (int32_t layer = 0; layer < out->layers; ++layer) {
                const float *texel = rgba + 4 * layer;
                const double value[4] = {texel[0], texel[1], texel[2], texel[3]};
                tvlm_reference_store(out, 0, reference_slice(out, image, layer), x, y, value);
            }
        }
    return TVLM_OK;
}
