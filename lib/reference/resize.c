/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.c: resizes images of bytes to RGB bytes as Pillow does, from the same tables of weights as the
 * kernels (core/resize.h).
 */
#include "core/memory.h"
#include "reference/reference.h"

/* One byte of the result: the weighted sum of source bytes `step` bytes apart, rounded to nearest and
 * clamped. */
static uint8_t output(const int32_t *entry, const uint8_t *pixels, size_t step) {
    int64_t sum = (int64_t)1 << (TVLM_RESIZE_BITS - 1);
    for (int32_t i = 0; i < entry[1]; ++i)
        sum += (int64_t)entry[TVLM_RESIZE_HEAD + i] * pixels[(size_t)(entry[0] + i) * step];
    const int64_t whole = sum < 0 ? 0 : sum >> TVLM_RESIZE_BITS;
    return (uint8_t)(whole > 255 ? 255 : whole);
}

/* The entry of the table for place `o` of the result: the first source place, how many source places there
 * are, and their weights. */
static const int32_t *entry_of(tvlm_buffer *table, const tvlm_resize_axis *axis, int32_t o) {
    return (const int32_t *)reference_data(table) + axis->offset +
           (ptrdiff_t)o * (axis->taps + TVLM_RESIZE_HEAD);
}

/* The pass along rows, over all rows. It writes to[layout->height][plan->x.size][3]. */
static void along_rows(const uint8_t *from, const tvlm_pixels *layout, tvlm_buffer *table,
                       const tvlm_resize *plan, uint8_t *to) {
    const size_t colours = layout->channels >= 3 ? 3 : 1;
    for (int32_t y = 0; y < layout->height; ++y) {
        const uint8_t *row = from + (size_t)y * layout->row_stride;
        for (int32_t x = 0; x < plan->x.size; ++x) {
            const int32_t *entry = entry_of(table, &plan->x, x);
            for (size_t c = 0; c < 3; ++c) *to++ = output(entry, row + c % colours, (size_t)layout->channels);
        }
    }
}

/* The pass along columns, over all columns. It writes to[plan->y.size][layout->width][3]. */
static void along_columns(const uint8_t *from, const tvlm_pixels *layout, tvlm_buffer *table,
                          const tvlm_resize *plan, uint8_t *to) {
    const size_t colours = layout->channels >= 3 ? 3 : 1;
    for (int32_t y = 0; y < plan->y.size; ++y)
        for (size_t x = 0; x < (size_t)layout->width; ++x)
            for (size_t c = 0; c < 3; ++c)
                *to++ = output(entry_of(table, &plan->y, y),
                               from + x * (size_t)layout->channels + c % colours, layout->row_stride);
}

tvlm_status tvlm_reference_resize(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                  tvlm_buffer *table, const tvlm_resize *plan, tvlm_buffer *out,
                                  size_t offset) {
    const uint8_t *const from = (const uint8_t *)reference_data(pixels) + layout->offset;
    uint8_t *const to = (uint8_t *)reference_data(out) + offset;
    /* The picture between the passes. */
    tvlm_pixels rgb = {plan->x.size, layout->height, 3, TVLM_PIXEL_U8, 0, (size_t)plan->x.size * 3};
    if (plan->columns_first)
        rgb = (tvlm_pixels){layout->width, plan->y.size, 3, TVLM_PIXEL_U8, 0, (size_t)layout->width * 3};
    uint8_t *between = tvlm_allocate((size_t)rgb.height, rgb.row_stride);
    if (between == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory to resize a picture");
    if (plan->columns_first) {
        along_columns(from, layout, table, plan, between);
        along_rows(between, &rgb, table, plan, to);
    } else {
        along_rows(from, layout, table, plan, between);
        along_columns(between, &rgb, table, plan, to);
    }
    free(between);
    return TVLM_OK;
}
