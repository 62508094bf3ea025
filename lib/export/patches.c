/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.c: makes the encoder's numbers from the processed bytes.
 */
#include "core/try.h"
#include "export/inside.h"

/* Fills lookup[channel * 256 + byte], rounding to float after each step as the processors do with NumPy: the
 * byte times 1/255 is computed in double. */
static void fill_lookup(const tvlm_export_processor *p, float lookup[3 * 256]) {
    for (int c = 0; c < 3; ++c)
        for (int byte = 0; byte < 256; ++byte) {
            const float unit = (float)(byte * (1.0 / 255.0));
            const float centred = unit - p->mean[c];
            lookup[c * 256 + byte] = centred / p->std[c];
        }
}

static tvlm_status ensure_lookup(tvlm_export *export) {
    float lookup[3 * 256];
    if (export->lookup != NULL) return TVLM_OK;
    fill_lookup(&export->processor, lookup);
    TVLM_TRY(tvlm_export_reserve(export->device, sizeof lookup, &export->lookup));
    const tvlm_status status =
        export->device->backend->buffer_write(export->device, export->lookup, 0, sizeof lookup, lookup);
    if (status != TVLM_OK) export->device->backend->buffer_destroy(export->device, &export->lookup);
    return status;
}

static tvlm_status run(tvlm_export *export, const export_picture *picture, const tvlm_patchify *layout,
                       tvlm_buffer *tokens, tvlm_buffer **out) {
    const size_t rows = (size_t)layout->count * (size_t)(layout->merge * layout->merge);
    const size_t columns = 3 * (size_t)layout->temporal * (size_t)layout->patch * (size_t)layout->patch;
    TVLM_TRY(tvlm_export_reserve(export->device, rows * columns * sizeof(float), out));
    return export->device->backend->patchify(export->device, picture->bytes, layout, export->lookup, tokens,
                                             *out);
}

/* Makes the values of the chosen tokens, if any are. */
static tvlm_status run_chosen(tvlm_export *export, export_picture *picture, const tvlm_patchify *layout) {
    const size_t bytes = (size_t)layout->count * sizeof *picture->chosen;
    if (layout->count == 0) return TVLM_OK;
    TVLM_TRY(tvlm_export_reserve(export->device, bytes, &export->tokens));
    TVLM_TRY(
        export->device->backend->buffer_write(export->device, export->tokens, 0, bytes, picture->chosen));
    return run(export, picture, layout, export->tokens, &picture->selected);
}

tvlm_status tvlm_export_patches(tvlm_export *export, export_picture *picture) {
    const tvlm_export_processor *p = &export->processor;
    const tvlm_export_picture *info = &picture->info;
    const int32_t merge = export->merge;
    tvlm_patchify layout = {info->width,          info->height,         picture->frames,
                            export->patch,        p->temporal,          merge,
                            info->grid_w / merge, info->grid_h / merge, info->selected};
    TVLM_TRY(ensure_lookup(export));
    TVLM_TRY(run_chosen(export, picture, &layout));
    layout.count = info->tokens;
    /* Planes are one patch as large as the picture. */
    if (tvlm_export_family(p) == EXPORT_SQUARE) {
        layout.patch = p->side;
        layout.blocks_x = layout.blocks_y = layout.count = 1;
    }
    return run(export, picture, &layout, NULL, &picture->values);
}
