/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.c: reads channels of a stack, some at a time, and draws them on a sheet.
 */
#include <stdlib.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "draw/sheet.h"
#include "draw/stage.h"
#include "texturevlm/input.h"

#define GROUP_BYTES ((size_t)64 << 20) /* the most bytes of planes in memory at a time */
#define GROUP_STEP  4                  /* how many channels a slice of a packed array has */

/* The channels that are read and drawn on the sheet. */
typedef struct reading {
    tvlm_stack *stack;
    const struct tvlm_draw_channels_params *params;
    const tvlm_log *log;
    const int32_t *channels;
    int32_t count, width, height;
    bool *has;      /* [count]: whether there is input */
    int32_t *shown; /* the channels that get a panel */
    int32_t shown_count;
    float *planes; /* [group][height][width] */
    int32_t group;
    tvlm_sheet sheet;
} reading;

static tvlm_status find_size(reading *r) {
    const struct tvlm_draw_channels_params *const params = r->params;
    if (params->width < 0 || params->height < 0 || (params->width > 0) != (params->height > 0))
        return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "channels of %d x %d", (int)params->width,
                         (int)params->height);
    TVLM_TRY(tvlm_stack_level_size(r->stack, params->level, &r->width, &r->height));
    if (params->width > 0) {
        r->width = params->width;
        r->height = params->height;
    }
    return TVLM_OK;
}

static tvlm_status find_channels(reading *r) {
    r->channels = r->params->channels;
    r->count = r->params->channel_count;
    if (r->channels == NULL) r->channels = tvlm_stack_channels(r->stack, &r->count);
    if (r->count < 1) return tvlm_fail(r->log, TVLM_ERROR_ARGUMENT, "a sheet of %d channels", (int)r->count);
    r->has = tvlm_allocate((size_t)r->count, sizeof *r->has);
    r->shown = tvlm_allocate((size_t)r->count, sizeof *r->shown);
    if (r->has == NULL || r->shown == NULL) return tvlm_stage_no_memory(r->log);
    for (int32_t i = 0; i < r->count; ++i) {
        TVLM_TRY(tvlm_stack_has_channel(r->stack, r->params->index, r->channels[i], &r->has[i]));
        if (r->has[i] && tvlm_sheet_shows(r->stack, r->channels[i]))
            r->shown[r->shown_count++] = r->channels[i];
    }
    return TVLM_OK;
}

static tvlm_status make_planes(reading *r) {
    size_t bytes, all;
    if (!tvlm_multiply((size_t)r->width, (size_t)r->height * sizeof(float), &bytes) || bytes == 0)
        return tvlm_stage_no_memory(r->log);
    const size_t fit = GROUP_BYTES / bytes / GROUP_STEP * GROUP_STEP;
    r->group = fit < GROUP_STEP ? GROUP_STEP : fit < (size_t)r->count ? (int32_t)fit : r->count;
    r->planes = tvlm_multiply(bytes, (size_t)r->group, &all) ? tvlm_allocate(all, 1) : NULL;
    return r->planes != NULL ? TVLM_OK : tvlm_stage_no_memory(r->log);
}

static tvlm_status draw_group(reading *r, int32_t first, int32_t count) {
    const size_t area = (size_t)r->width * (size_t)r->height;
    const struct tvlm_pack_params params = {.channels = r->shown + first,
                                            .channel_count = count,
                                            .width = r->width,
                                            .height = r->height,
                                            .level = (float)r->params->level};
    tvlm_packed *packed = NULL;
    TVLM_TRY(tvlm_stack_pack(r->stack, &params, &packed));
    const tvlm_status status = tvlm_packed_read(packed, r->params->index, area * (size_t)count, r->planes);
    tvlm_packed_destroy(&packed);
    if (status != TVLM_OK) return status;
    for (int32_t i = 0; i < count; ++i)
        if (!tvlm_sheet_add(&r->sheet, r->shown[first + i], r->planes + (size_t)i * area, r->width,
                            r->height))
            return tvlm_stage_no_memory(r->log);
    return TVLM_OK;
}

static tvlm_status draw_all(reading *r) {
    TVLM_TRY(find_size(r));
    TVLM_TRY(find_channels(r));
    TVLM_TRY(make_planes(r));
    if (!tvlm_sheet_start(r->stack, r->channels, r->has, r->count, r->width, r->height, r->params->title,
                          &r->sheet))
        return tvlm_stage_no_memory(r->log);
    for (int32_t first = 0; first < r->shown_count; first += r->group) {
        const int32_t rest = r->shown_count - first;
        TVLM_TRY(draw_group(r, first, rest < r->group ? rest : r->group));
    }
    return TVLM_OK;
}

tvlm_status tvlm_draw_channels(tvlm_stack *stack, const struct tvlm_draw_channels_params *params,
                               const tvlm_log *log, tvlm_image **picture) {
    static const struct tvlm_draw_channels_params defaults = {0};
    reading r = {.stack = stack, .params = params != NULL ? params : &defaults, .log = log};
    TVLM_NEED(log, stack);
    TVLM_NEED(log, picture);
    TVLM_CHECK_RESERVED(log, tvlm_draw_channels_params, params);
    tvlm_status status = draw_all(&r);
    if (status == TVLM_OK) status = tvlm_stage_finish(&r.sheet.canvas, log, picture);
    tvlm_canvas_release(&r.sheet.canvas);
    free(r.planes);
    free(r.shown);
    free(r.has);
    return status;
}
