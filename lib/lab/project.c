/* SPDX-License-Identifier: Apache-2.0 */
/*
 * project.c: turns the chosen tokens of an image into vectors by a projection. The projection reads the
 * channels of the image's full picture, which is still on the stack since the tokens were chosen.
 */
#include <math.h>
#include <stdlib.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "export/inside.h"
#include "lab/project.h"
#include "texturevlm/lab/projection.h"

tvlm_status tvlm_export_set_projection(tvlm_export *export, const tvlm_projection *projection) {
    TVLM_NEED(NULL, export);
    TVLM_ENTER(export->device);
    if (projection != NULL && (tvlm_export_family(&export->processor) == EXPORT_CROPS || export->video))
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT, "%s takes no projection: %s",
                         tvlm_export_model_name(export->model),
                         export->video ? "a token of a video is of several frames" : "a crop is many tokens");
    struct tvlm_projection_params params = {.outputs = 0};
    if (projection != NULL) (void)tvlm_projection_get_params(projection, &params); /* it cannot fail */
    export->projection = projection;
    export->vector_size = params.outputs;
    export->count = 0;
    return TVLM_OK;
}

/* Returns the middle of a chosen token, in pixels of the full picture, with the level whose texels are as
 * large as the token. */
static tvlm_sample_point point_of(const tvlm_export *export, const export_picture *full,
                                  const export_picture *picture, int32_t token) {
    const int32_t columns = picture->info.grid_w / export->merge;
    const float side = (float)(export->patch * export->merge);
    const bool whole = picture == full;
    const float across = whole ? 1.0f : (float)full->info.width / (float)picture->place.width,
                down = whole ? 1.0f : (float)full->info.height / (float)picture->place.height;
    return (tvlm_sample_point){((float)(token % columns) + 0.5f) * side * across,
                               ((float)(token / columns) + 0.5f) * side * down,
                               log2f(side * fmaxf(across, down)), 0};
}

static tvlm_status project_picture(tvlm_export *export, const export_picture *full, export_picture *picture) {
    const size_t count = (size_t)picture->info.selected, numbers = count * (size_t) export->vector_size;
    tvlm_sample_point *const points = tvlm_allocate(count, sizeof *points);
    float *const vectors = realloc(picture->vectors, (numbers > 0 ? numbers : 1) * sizeof *vectors);
    if (vectors != NULL) picture->vectors = vectors;
    tvlm_status status = TVLM_OK;
    if (points == NULL || vectors == NULL)
        status = tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for %zu vectors", count);
    for (size_t i = 0; status == TVLM_OK && i < count; ++i)
        points[i] = point_of(export, full, picture, picture->chosen[i]);
    if (status == TVLM_OK)
        status = tvlm_projection_apply(export->projection, export->stack, points, (int32_t)count, numbers,
                                       vectors);
    free(points);
    return status;
}

tvlm_status tvlm_export_project(tvlm_export *export, export_picture *full) {
    const int roles = tvlm_export_has_roles(export) ? EXPORT_ROLES : 1;
    for (int role = 0; role < roles; ++role) {
        export_picture *const picture = tvlm_export_at(export, full->info.source, (export_role)role);
        if (picture->info.tokens > 0) TVLM_TRY(project_picture(export, full, picture));
    }
    return TVLM_OK;
}
