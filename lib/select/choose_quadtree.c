/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `quadtree`: squares, large and small, that cover the image.
 */
#include "core/try.h"
#include "select/squares.h"

static tvlm_status choose(const tvlm_task *task, tvlm_scoremap *map, tvlm_selection *selection) {
    TVLM_TRY(tvlm_squares_score(task, false, map));
    TVLM_TRY(tvlm_squares_cut(task, map, selection));
    return tvlm_squares_deliver(task, map, selection);
}

tvlm_status tvlm_choose_quadtree(const tvlm_task *task, tvlm_selection *selection) {
    tvlm_scoremap map = {0};
    const tvlm_status status = choose(task, &map, selection);
    tvlm_scoremap_free(&map);
    return status;
}
