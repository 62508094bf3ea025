/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: a plan, from an image to the pictures that libmtmd is given.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "inside.h"

static const char *const names[] = {"auto", "smaller", "pruned", "pictures", "cells", "full", "looks"};
#define NAMES (int)(sizeof names / sizeof names[0])

const char *tvlm_mtmd_way_name(tvlm_mtmd_way way) {
    return (int)way >= 0 && (int)way < NAMES ? names[way] : "unknown";
}

int tvlm_mtmd_way_find(const char *name) {
    for (int i = 0; name != NULL && i < NAMES; ++i)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}

/* ---- Parameters ---- */

static tvlm_status check_spending(const tvlm_mtmd *chooser, const struct tvlm_mtmd_params *params) {
    const tvlm_log *log = &chooser->log;
    if ((params->budget != 0) + (params->share != 0.0f) + (params->tolerance != 0.0f) > 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "budget, share and tolerance exclude each other");
    if (params->budget != 0 && params->budget <= chooser->info.around)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a budget of %d tokens: the model puts %d around each picture, so that it needs %d",
                         params->budget, chooser->info.around, chooser->info.around + 1);
    if (params->share != 0.0f && !(params->share > 0.0f && params->share <= 1.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "share is %g; it must be above 0 and at most 1",
                         (double)params->share);
    if (params->tolerance != TVLM_EXPLICIT_ZERO && !(params->tolerance >= 0.0f && params->tolerance <= 1.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tolerance is %g; it must be 0 to 1",
                         (double)params->tolerance);
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_check_params(const tvlm_mtmd *chooser, const struct tvlm_mtmd_params *params) {
    const tvlm_log *log = &chooser->log;
    TVLM_CHECK_RESERVED(log, tvlm_mtmd_params, params);
    TVLM_TRY(check_spending(chooser, params));
    if ((int)params->way < 0 || params->way > TVLM_MTMD_CELLS)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no way %d to be asked for", (int)params->way);
    if (params->way == TVLM_MTMD_CELLS && params->budget == 0 && params->share == 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a tolerance is not for the way cells: give budget or share");
    if (chooser->info.columns > 0 && (params->way == TVLM_MTMD_SMALLER || params->way == TVLM_MTMD_PICTURES))
        return tvlm_fail(
            log, TVLM_ERROR_ARGUMENT,
            "the model's pictures all have %d tokens: it has the ways pruned and cells, but not %s",
            chooser->info.columns * chooser->info.rows, tvlm_mtmd_way_name(params->way));
    if (chooser->info.columns > 0 && params->query != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a question is refused for models whose pictures have one size");
    return TVLM_OK;
}

/* ---- The pictures ---- */

/* Shows a picture of `count` tokens; `kept` is taken over, and NULL means all. */
static tvlm_status show(tvlm_mtmd_plan *plan, const tvlm_mtmd_rgb *rgb, tvlm_picture size, uint8_t *kept,
                        const int32_t box[4]) {
    tvlm_mtmd_shown *one = &plan->shown[plan->info.pictures++];
    const size_t all = (size_t)tvlm_mtmd_tokens(size);
    *one = (tvlm_mtmd_shown){.columns = size.columns,
                             .rows = size.rows,
                             .kept = kept,
                             .left = box[0],
                             .top = box[1],
                             .right = box[2],
                             .bottom = box[3]};
    if (one->kept == NULL && (one->kept = tvlm_allocate(all, 1)) != NULL) memset(one->kept, 1, all);
    one->bitmap = mtmd_bitmap_init((uint32_t)rgb->width, (uint32_t)rgb->height, rgb->data);
    if (one->kept == NULL || one->bitmap == NULL)
        return tvlm_fail(&plan->log, TVLM_ERROR_MEMORY, "no memory for a picture");
    for (size_t i = 0; i < all; ++i) one->tokens += one->kept[i] != 0;
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_show_part(const tvlm_mtmd *chooser, tvlm_mtmd_plan *plan, const tvlm_mtmd_rgb *from,
                                const int32_t part[4], tvlm_picture size, uint8_t *kept,
                                const int32_t box[4]) {
    const int32_t side = chooser->info.side;
    tvlm_mtmd_rgb rgb = {0};
    tvlm_status status =
        tvlm_mtmd_resize(&plan->log, from, part, size.columns * side, size.rows * side, &rgb);
    if (status != TVLM_OK)
        free(kept);
    else
        status = show(plan, &rgb, size, kept, box);
    tvlm_mtmd_rgb_free(&rgb);
    return status;
}

static tvlm_status show_cut(const tvlm_mtmd_measured *m, tvlm_mtmd_cut *cut, tvlm_mtmd_plan *plan) {
    const int32_t all[4] = {0, 0, m->image.width, m->image.height};
    const double x = (double)m->image.width / m->full.width, y = (double)m->image.height / m->full.height;
    uint8_t *kept = cut->kept;
    cut->kept = NULL;
    TVLM_TRY(tvlm_mtmd_show_part(m->chooser, plan, &m->image, all, (tvlm_picture){cut->columns, cut->rows},
                                 kept, all));
    for (int32_t i = 0; i < cut->count; ++i) {
        const tvlm_mtmd_crop *crop = &cut->crops[i];
        const int32_t box[4] = {(int32_t)lrint(crop->box[0] * x), (int32_t)lrint(crop->box[1] * y),
                                (int32_t)lrint(crop->box[2] * x), (int32_t)lrint(crop->box[3] * y)};
        TVLM_TRY(tvlm_mtmd_show_part(m->chooser, plan, &m->full, crop->box,
                                     (tvlm_picture){crop->columns, crop->rows}, NULL, box));
    }
    return TVLM_OK;
}

/* The kept tokens of the chosen way; NULL: all are, or there is no memory. */
static tvlm_status kept_of(const tvlm_mtmd_measured *m, const tvlm_mtmd_choice *choice,
                           const tvlm_mtmd_candidate *chosen, uint8_t **kept) {
    if (chosen->way != TVLM_MTMD_PRUNED && chosen->way != TVLM_MTMD_CELLS) return TVLM_OK;
    *kept = tvlm_allocate((size_t)chosen->columns * (size_t)chosen->rows, 1);
    if (*kept == NULL) return tvlm_fail(&m->chooser->log, TVLM_ERROR_MEMORY, "no memory for a picture");
    const tvlm_status status =
        chosen->way == TVLM_MTMD_CELLS
            ? tvlm_mtmd_best(m, chosen->tokens, *kept)
            : tvlm_prediction_keep(m->prediction, choice->size, chosen->tokens, *kept, NULL);
    if (status != TVLM_OK) {
        free(*kept);
        *kept = NULL;
    }
    return status;
}

static tvlm_status show_choice(const tvlm_mtmd_measured *m, tvlm_mtmd_choice *choice, tvlm_mtmd_plan *plan) {
    const tvlm_mtmd_candidate *chosen = &plan->info.chosen;
    const int32_t all[4] = {0, 0, m->image.width, m->image.height};
    const bool several = chosen->way == TVLM_MTMD_PICTURES;
    plan->shown = tvlm_allocate(several ? (size_t)choice->cut.count + 1 : 1, sizeof *plan->shown);
    if (plan->shown == NULL) return tvlm_fail(&plan->log, TVLM_ERROR_MEMORY, "no memory for a plan");
    if (several) return show_cut(m, &choice->cut, plan);
    uint8_t *kept = NULL;
    TVLM_TRY(kept_of(m, choice, chosen, &kept));
    const tvlm_picture size = {chosen->columns, chosen->rows};
    /* The image itself, where libmtmd resizes it as it does without this library. */
    if (chosen->way == TVLM_MTMD_FULL || m->chooser->info.columns > 0)
        return show(plan, &m->image, size, kept, all);
    return tvlm_mtmd_show_part(m->chooser, plan, &m->image, all, size, kept, all);
}

/* ---- The plan ---- */

double tvlm_mtmd_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int32_t tvlm_mtmd_budget(const tvlm_mtmd *chooser, int32_t all, const struct tvlm_mtmd_params *params) {
    if (params->budget > 0) return params->budget - chooser->info.around;
    if (params->share == 0.0f) return 0;
    const int32_t count = (int32_t)lrintf(params->share * (float)all);
    return count > 1 ? count : 1;
}

static tvlm_status decide(const tvlm_mtmd *chooser, const tvlm_image *image,
                          const struct tvlm_mtmd_params *params, tvlm_mtmd_plan *plan) {
    tvlm_mtmd_measured m = {0};
    tvlm_mtmd_choice choice = {0};
    const double began = tvlm_mtmd_milliseconds();
    tvlm_status status = tvlm_mtmd_measure(chooser, image, params, &m);
    const int32_t budget = tvlm_mtmd_budget(chooser, tvlm_mtmd_tokens(m.whole), params);
    if (status == TVLM_OK) status = tvlm_mtmd_choose(&m, params, budget, plan, &choice);
    plan->info.milliseconds = (float)(tvlm_mtmd_milliseconds() - began);
    if (status == TVLM_OK) status = show_choice(&m, &choice, plan);
    plan->info.full = tvlm_mtmd_tokens(m.whole) + chooser->info.around;
    tvlm_mtmd_cut_free(&choice.cut);
    tvlm_mtmd_measured_free(&m);
    return status;
}

tvlm_status tvlm_mtmd_prepare(tvlm_mtmd *chooser, const tvlm_image *image,
                              const struct tvlm_mtmd_params *params, tvlm_mtmd_plan **plan) {
    static const struct tvlm_mtmd_params defaults;
    TVLM_NEED(NULL, chooser);
    TVLM_NEED(&chooser->log, image);
    TVLM_NEED(&chooser->log, plan);
    if (params == NULL) params = &defaults;
    TVLM_TRY(tvlm_mtmd_check_params(chooser, params));
    tvlm_mtmd_plan *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&chooser->log, TVLM_ERROR_MEMORY, "no memory for a plan");
    made->log = chooser->log;
    const tvlm_status status = decide(chooser, image, params, made);
    if (status != TVLM_OK) {
        tvlm_mtmd_plan_destroy(&made);
        return status;
    }
    for (int32_t i = 0; i < made->info.candidates; ++i) made->candidates[i].tokens += chooser->info.around;
    made->info.chosen.tokens += chooser->info.around;
    if (made->info.smaller.tokens > 0) made->info.smaller.tokens += chooser->info.around;
    *plan = made;
    return TVLM_OK;
}

void tvlm_mtmd_plan_destroy(tvlm_mtmd_plan **plan) {
    if (plan == NULL || *plan == NULL) return;
    for (int32_t i = 0; i < (*plan)->info.pictures; ++i) {
        mtmd_bitmap_free((*plan)->shown[i].bitmap);
        free((*plan)->shown[i].kept);
    }
    free((*plan)->shown);
    free((*plan)->attention);
    free(*plan);
    *plan = NULL;
}

tvlm_status tvlm_mtmd_plan_get_info(const tvlm_mtmd_plan *plan, struct tvlm_mtmd_plan_info *info) {
    TVLM_NEED(NULL, plan);
    TVLM_NEED(&plan->log, info);
    *info = plan->info;
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_plan_candidate(const tvlm_mtmd_plan *plan, int32_t index,
                                     tvlm_mtmd_candidate *candidate) {
    TVLM_NEED(NULL, plan);
    TVLM_NEED(&plan->log, candidate);
    if (index < 0 || index >= plan->info.candidates)
        return tvlm_fail(&plan->log, TVLM_ERROR_ARGUMENT, "there is no candidate %d, but %d", index,
                         plan->info.candidates);
    *candidate = plan->candidates[index];
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_plan_picture(const tvlm_mtmd_plan *plan, int32_t index,
                                   struct tvlm_mtmd_picture *picture) {
    TVLM_NEED(NULL, plan);
    TVLM_NEED(&plan->log, picture);
    if (index < 0 || index >= plan->info.pictures)
        return tvlm_fail(&plan->log, TVLM_ERROR_ARGUMENT, "there is no picture %d, but %d", index,
                         plan->info.pictures);
    const tvlm_mtmd_shown *one = &plan->shown[index];
    *picture = (struct tvlm_mtmd_picture){.bitmap = one->bitmap,
                                          .columns = one->columns,
                                          .rows = one->rows,
                                          .tokens = one->tokens,
                                          .kept = one->kept,
                                          .left = one->left,
                                          .top = one->top,
                                          .right = one->right,
                                          .bottom = one->bottom};
    return TVLM_OK;
}
