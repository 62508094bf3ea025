/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c: an image as the encoder would see it, and what smaller pictures of it lose. All losses of one
 * image are of one prediction (export.h, tvlm_predict), and can be compared.
 */
#include <stdlib.h>

#include "inside.h"

/* The channels that the default score reads; others are not made. */
#define LAYOUT "edges,saliency,eccentricity,entropy"

static tvlm_status show_full(tvlm_mtmd_measured *m) {
    const struct tvlm_mtmd_info *info = &m->chooser->info;
    const int32_t width = m->whole.columns * info->side, height = m->whole.rows * info->side;
    if (info->columns > 0) return tvlm_mtmd_square(&m->chooser->log, &m->image, width, &m->full);
    const int32_t all[4] = {0, 0, m->image.width, m->image.height};
    return tvlm_mtmd_resize(&m->chooser->log, &m->image, all, width, height, &m->full);
}

static tvlm_status stack_of(tvlm_mtmd_measured *m) {
    const tvlm_image shown = {
        .pixels = m->full.data, .width = m->full.width, .height = m->full.height, .channels = 3};
    return tvlm_stack_create_for_image(
        m->chooser->device, &shown,
        tvlm_stack_params(.layout = LAYOUT, .width = shown.width, .height = shown.height), &m->stack);
}

tvlm_status tvlm_mtmd_measure(const tvlm_mtmd *chooser, const tvlm_image *image,
                              const struct tvlm_mtmd_params *params, tvlm_mtmd_measured *measured) {
    const struct tvlm_mtmd_info *info = &chooser->info;
    tvlm_mtmd_measured *const m = measured;
    m->chooser = chooser;
    m->query = params->query;
    m->emphasis = params->emphasis;
    TVLM_TRY(tvlm_mtmd_rgb_of(&chooser->log, image, &m->image));
    m->whole = (tvlm_picture){info->columns, info->rows};
    if (info->columns == 0)
        TVLM_TRY(tvlm_mtmd_size(chooser, image->width, image->height, &m->whole.columns, &m->whole.rows));
    TVLM_TRY(show_full(m));
    return stack_of(m);
}

void tvlm_mtmd_measured_free(tvlm_mtmd_measured *measured) {
    tvlm_prediction_destroy(&measured->prediction);
    tvlm_stack_destroy(&measured->stack);
    tvlm_mtmd_rgb_free(&measured->full);
    tvlm_mtmd_rgb_free(&measured->image);
}

/* ---- The sizes that are predicted ---- */

static int by_tokens(const void *a, const void *b) {
    const tvlm_picture *const p = a, *const q = b;
    const int32_t few = tvlm_mtmd_tokens(*p), many = tvlm_mtmd_tokens(*q);
    return few != many ? (few > many) - (few < many) : (p->columns > q->columns) - (p->columns < q->columns);
}

/* Lists a size, unless it is listed already, or not smaller than the whole. */
static void list(tvlm_mtmd_measured *m, tvlm_picture size) {
    if (tvlm_mtmd_tokens(size) >= tvlm_mtmd_tokens(m->whole)) return;
    for (int32_t i = 0; i < m->count; ++i)
        if (m->sizes[i].columns == size.columns && m->sizes[i].rows == size.rows) return;
    m->sizes[m->count++] = size;
}

tvlm_status tvlm_mtmd_predict(tvlm_mtmd_measured *measured, const int32_t *tokens, int32_t count) {
    tvlm_mtmd_measured *const m = measured;
    const struct tvlm_mtmd_info *info = &m->chooser->info;
    m->count = 0;
    for (int32_t i = 0; info->columns == 0 && i < count && m->count < TVLM_PICTURES_MAX - 1; ++i) {
        tvlm_picture size;
        TVLM_TRY(tvlm_mtmd_size_within(m->chooser, m->image.width, m->image.height, tokens[i], &size));
        list(m, size);
    }
    qsort(m->sizes, (size_t)m->count, sizeof *m->sizes, by_tokens);
    m->sizes[m->count++] = m->whole;
    tvlm_prediction_destroy(&m->prediction);
    return tvlm_predict(m->stack, m->query,
                        tvlm_select_params(.patch = (float)info->side, .budget = {.emphasis = m->emphasis}),
                        m->sizes, m->count, &m->prediction);
}
