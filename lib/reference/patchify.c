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

/* Writes one row and returns the place of the next one. The row has, for each c, tt, py and px, in that
 * order, the value of frame[t * T + tt][c][(by * m + my) * P + py][(bx * m + mx) * P + px]. */
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

/* Writes the rows of `count` tokens: those that are listed, or the first ones where `tokens` is NULL. */
static void write_tokens(const uint8_t *pixels, const tvlm_patchify *layout, const float *values,
                         const int32_t *tokens, int32_t count, float *to) {
    for (int32_t i = 0; i < count; ++i)
        for (int32_t inner = 0; inner < layout->merge * layout->merge; ++inner)
            to = write_row(pixels, layout, place_of(layout, tokens != NULL ? tokens[i] : i, inner), values,
                           to);
}

tvlm_status tvlm_reference_patchify(tvlm_device *device, tvlm_buffer *pixels, const tvlm_patchify *layout,
                                    tvlm_buffer *values, tvlm_buffer *tokens, tvlm_buffer *chosen,
                                    tvlm_buffer *out) {
    const uint8_t *bytes = reference_data(pixels);
    const float *lookup = reference_data(values);
    (void)device;
    if (layout->listed > 0)
        write_tokens(bytes, layout, lookup, reference_data(tokens), layout->listed, reference_data(chosen));
    if (layout->count > 0) write_tokens(bytes, layout, lookup, NULL, layout->count, reference_data(out));
    return TVLM_OK;
}
