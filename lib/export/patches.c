/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.c: makes the encoder's numbers from the processed bytes.
 */
#include "core/try.h"
#include "export/inside.h"

/* Fills lookup[channel * 256 + byte]. It rounds to float after each step, as the processors do with NumPy.
 * The first step, the byte times 1/255, is computed in double. */
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

/* Makes room for the values of that many tokens. */
static tvlm_status reserve(const tvlm_export *export, const tvlm_patchify *layout, int32_t tokens,
                           tvlm_buffer **out) {
    const size_t rows = (size_t)tokens * (size_t)(layout->merge * layout->merge);
    const size_t columns = 3 * (size_t)layout->temporal * (size_t)layout->patch * (size_t)layout->patch;
    return tokens > 0 ? tvlm_export_reserve(export->device, rows * columns * sizeof(float), out) : TVLM_OK;
}

/* Makes the values of the first layout->count tokens, and those of the layout->listed chosen tokens. */
static tvlm_status run(tvlm_export *export, export_picture *picture, const tvlm_patchify *layout) {
    const tvlm_backend *const backend = export->device->backend;
    const size_t bytes = (size_t)layout->listed * sizeof *picture->chosen;
    TVLM_TRY(reserve(export, layout, layout->listed, &picture->selected));
    TVLM_TRY(reserve(export, layout, layout->count, &picture->values));
    if (layout->listed > 0) {
        TVLM_TRY(tvlm_export_reserve(export->device, bytes, &export->tokens));
        TVLM_TRY(backend->buffer_write(export->device, export->tokens, 0, bytes, picture->chosen));
    }
    return backend->patchify(
        export->device, picture->bytes, layout, export->lookup, layout->listed > 0 ? export->tokens : NULL,
        layout->listed > 0 ? picture->selected : NULL, layout->count > 0 ? picture->values : NULL);
}

tvlm_status tvlm_export_patches(tvlm_export *export, export_picture *picture) {
    const tvlm_export_processor *p = &export->processor;
    const tvlm_export_picture *info = &picture->info;
    const int32_t merge = export->merge;
    tvlm_patchify layout = {info->width,  info->height,  picture->frames,      export->patch,
                            p->temporal,  merge,         info->grid_w / merge, info->grid_h / merge,
                            info->tokens, info->selected};
    TVLM_TRY(ensure_lookup(export));
    if (tvlm_export_family(p) != EXPORT_SQUARE) return run(export, picture, &layout);
    layout.count = 0;
    TVLM_TRY(run(export, picture, &layout));
    /* The model takes the square as planes, which are the same as one patch of the picture's size. */
    layout.patch = p->side;
    layout.blocks_x = layout.blocks_y = layout.count = 1;
    layout.listed = 0;
    return run(export, picture, &layout);
}
