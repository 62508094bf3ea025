/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchify.c: frames of RGB bytes as rows of numbers, in the order in which the encoder of a vision-language
 * model takes them. cl/patchify.cl draws the layout.
 */
#include "reference/reference.h"

/* A token (t, by, bx) and a patch in it (my, mx). */
typedef struct patch_place {
    int32_t t, by, bx, my, mx;
} patch_place;

static patch_place place_of(const tvlm_patchify *layout, int32_t token, int32_t inner) {
    const int32_t frame_tokens = layout->blocks_x * layout->blocks_y;
    return (patch_place){token / frame_tokens, token % frame_tokens / layout->blocks_x,
                         token % layout->blocks_x, inner / layout->merge, inner % layout->merge};
}

/* Writes one row and returns the place of the next: for each c, tt, py and px, in that order, the value of
 * frame[t * T + tt][c][(by * m + my) * P + py][(bx * m + mx) * P + px]. */
static float *write_row(const uint8_t *pixels, const tvlm_patchify *layout, patch_place at,
                        const float *values, float *out) {
    for (int32_t c = 0; c < 3; ++c)
        for (int32_t tt = 0; tt < layout->temporal; ++tt)
            for (int32_t py = 0; py < layout->patch; ++py)
                for (int32_t px = 0; px < layout->patch; ++px) {
                    int32_t frame = at.t * layout->temporal + tt;
                    if (frame > layout->frames - 1) frame = layout->frames - 1;
                    const int32_t y = (at.by * layout->merge + at.my) * layout->patch + py;
                    const int32_t x = (at.bx * layout->merge + at.mx) * layout->patch + px;
                    const size_t pixel =
                        ((size_t)frame * (size_t)layout->height + (size_t)y) * (size_t)layout->width +
                        (size_t)x;
                    *out++ = values[c * 256 + pixels[pixel * 3 + (size_t)c]];
                }
    return out;
}

tvlm_status tvlm_reference_patchify(tvlm_device *device, tvlm_buffer *pixels, const tvlm_patchify *layout,
                                    tvlm_buffer *values, tvlm_buffer *tokens, tvlm_buffer *out) {
    float *to = reference_data(out);
    (void)device;
    for (int32_t i = 0; i < layout->count; ++i) {
        const int32_t token = tokens != NULL ? ((const int32_t *)reference_data(tokens))[i] : i;
        for (int32_t inner = 0; inner < layout->merge * layout->merge; ++inner)
            to = write_row(reference_data(pixels), layout, place_of(layout, token, inner),
                           reference_data(values), to);
    }
    return TVLM_OK;
}
