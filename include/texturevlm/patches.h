/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.h: what stands at positions, cut out and made ready for an encoder.
 */
#ifndef TEXTUREVLM_PATCHES_H
#define TEXTUREVLM_PATCHES_H

#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tvlm_border {
    TVLM_BORDER_CLAMP = 0, /* beyond the image: the edge's pixel */
    TVLM_BORDER_REFLECT    /* beyond the image: its mirror, the edge's pixel twice (NumPy's "symmetric") */
} tvlm_border;

struct tvlm_patches_params {
    int32_t index;           /* image of the batch */
    int32_t side;            /* texels, 1 .. 1024; 0: 16 */
    const int32_t *channels; /* any of the stack's; NULL: r, g, b */
    int32_t channel_count;
    const float *mean;      /* [channels], taken off; NULL: 0 */
    const float *deviation; /* [channels], divided by then, not 0; NULL: 1 */
    tvlm_format format;     /* of the result: F32 (AUTO too) or F16 */
    tvlm_border border;
    uint64_t reserved[4];
};
#define tvlm_patches_params(...) TVLM_PARAMS(tvlm_patches_params, __VA_ARGS__)

/* Bytes of `count` patches; ARGUMENT where that is nothing that can be held. */
TVLM_API tvlm_status tvlm_patches_size(const struct tvlm_patches_params *params, int32_t count,
                                       size_t *bytes);

/*
 * Cuts out a square of side x side texels around each position (x, y, size in pixels of the image as it was
 * handed in; nothing else is read): out[position][channel][side][side], row-major, float or half (uint16_t
 * bits), rows from the top. Texels are `size / side` apart, centred on the position, and read bilinearly from
 * the level of that distance, max(0, log2), trilinearly where it is fractional; identifiers nearest. Where
 * texels of a patch are pixels of the image (size = side, on the pixel grid), they are copied to the bit.
 *
 * capacity: bytes there. Waits. Errors: ARGUMENT (a position or a size that is not finite, size <= 0, a
 * deviation that is 0 or not finite, capacity too small), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_patches_extract(tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                                          const struct tvlm_patches_params *params, size_t capacity,
                                          void *out);

#ifdef __cplusplus
}
#endif
#endif
