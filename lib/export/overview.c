/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.c: an overview beside the best tokens. It is a thumbnail of the whole image, which takes a share
 * of the tokens that the image is granted. The rest of them go to the tokens of the full picture with the
 * best scores.
 */
#include <math.h>

#include "core/try.h"
#include "export/inside.h"
#include "select/overview.h"

/* Finds the grid of the thumbnail, in tokens. */
static tvlm_status fit(const tvlm_export *export, const export_picture *full, tvlm_overview *overview) {
    const struct tvlm_select_params params = {.best.overview = export->overview};
    int32_t count;
    TVLM_TRY(tvlm_overview_count(&export->device->log, &params, full->granted, &count));
    *overview = tvlm_overview_fit(full->info.width, full->info.height, export->patch * export->merge, count);
    return TVLM_OK;
}

/* Gives each token of the thumbnail the mean score of the full picture's tokens in its part of the image. The
 * borders of this part are rounded down to whole tokens. */
static void score_thumbnail(const tvlm_export *export, const tvlm_overview *overview,
                            const export_picture *full, export_picture *thumbnail) {
    const int32_t columns = full->info.grid_w / export->merge, rows = full->info.grid_h / export->merge;
    for (int32_t i = 0; i < tvlm_overview_size(overview); ++i) {
        const int32_t x = i % overview->columns, y = i / overview->columns;
        const int32_t left = x * columns / overview->columns, right = (x + 1) * columns / overview->columns;
        const int32_t top = y * rows / overview->rows, bottom = (y + 1) * rows / overview->rows;
        double sum = 0.0;
        for (int32_t row = top; row < bottom; ++row)
            for (int32_t column = left; column < right; ++column)
                sum += (double)full->scores[row * columns + column];
        thumbnail->scores[i] = (float)(sum / ((double)(right - left) * (double)(bottom - top)));
        thumbnail->chosen[i] = i;
    }
}

tvlm_status tvlm_export_oversee(tvlm_export *export, const tvlm_image *image,
                                const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                                export_picture *full) {
    tvlm_overview overview;
    TVLM_TRY(fit(export, full, &overview));
    export_picture *const thumbnail = tvlm_export_thumbnail(export, full, overview.columns, overview.rows);
    const int32_t rest = full->granted - thumbnail->info.selected;
    full->info.selected = rest < full->info.tokens ? rest : full->info.tokens;
    TVLM_TRY(tvlm_export_room(export, full));
    TVLM_TRY(tvlm_export_room(export, thumbnail));
    TVLM_TRY(tvlm_export_score(export, features, queries, full));
    TVLM_TRY(tvlm_export_choose(export, full));
    score_thumbnail(export, &overview, full, thumbnail);
    TVLM_TRY(tvlm_export_make(export, image, EXPORT_THUMBNAIL, thumbnail));
    return tvlm_export_make(export, image, EXPORT_FULL, full);
}
