/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.c: colours, an image and a line of text, drawn into pixels of the caller's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "draw/stage.h"

#define FAR         (1 << 24)
#define SCALE_MAX   1000
#define LETTERS_MAX 65535

static tvlm_colour colour_of_rank(float value) {
    return tvlm_colours_rank(fminf(fmaxf(value, 0.0f), 1.0f));
}

static tvlm_colour colour_of_identifier(float value) {
    return tvlm_colours_identifier((int32_t)fminf(fmaxf(value, 0.0f), 1e9f));
}

tvlm_status tvlm_draw_colours(tvlm_colours colours, const float *values, size_t count, const tvlm_log *log,
                              uint8_t *rgb) {
    static tvlm_colour (*const maps[])(float) = {
        [TVLM_COLOURS_GRAY] = tvlm_colours_gray,           [TVLM_COLOURS_VIRIDIS] = tvlm_colours_viridis,
        [TVLM_COLOURS_INFERNO] = tvlm_colours_inferno,     [TVLM_COLOURS_RANK] = colour_of_rank,
        [TVLM_COLOURS_DIVERGING] = tvlm_colours_diverging, [TVLM_COLOURS_IDENTIFIER] = colour_of_identifier};
    if ((int)colours < TVLM_COLOURS_GRAY || colours > TVLM_COLOURS_IDENTIFIER)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there are no colours %d", (int)colours);
    if (count == 0) return TVLM_OK;
    TVLM_NEED(log, values);
    TVLM_NEED(log, rgb);
    for (size_t i = 0; i < count; ++i) {
        const tvlm_colour colour = maps[colours](values[i]);
        rgb[3 * i] = colour.r;
        rgb[3 * i + 1] = colour.g;
        rgb[3 * i + 2] = colour.b;
    }
    return TVLM_OK;
}

static tvlm_status check_size(int32_t width, int32_t height, const tvlm_log *log) {
    if (width >= 1 && height >= 1 && width <= TVLM_CANVAS_SIDE_MAX && height <= TVLM_CANVAS_SIDE_MAX)
        return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a picture of %d x %d pixels; sides are 1 to %d", (int)width,
                     (int)height, TVLM_CANVAS_SIDE_MAX);
}

tvlm_status tvlm_draw_image(const tvlm_image *image, const tvlm_log *log, int32_t width, int32_t height,
                            uint8_t *rgb) {
    tvlm_canvas canvas = {width, height, rgb};
    TVLM_NEED(log, image);
    TVLM_NEED(log, rgb);
    TVLM_TRY(tvlm_stage_check_image(image, log));
    TVLM_TRY(check_size(width, height, log));
    if (tvlm_canvas_image(&canvas, (tvlm_rect){0, 0, width, height}, image)) return TVLM_OK;
    return tvlm_stage_no_memory(log);
}

static tvlm_status check_text(const char *text, const struct tvlm_draw_text_params *params,
                              const tvlm_log *log) {
    TVLM_CHECK_RESERVED(log, tvlm_draw_text_params, params);
    if (strlen(text) > LETTERS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a text of %zu letters", strlen(text));
    if (params->scale < 0 || params->scale > SCALE_MAX || params->room < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a text of scale %d with room for %d pixels",
                         (int)params->scale, (int)params->room);
    if (params->x < -FAR || params->x > FAR || params->y < -FAR || params->y > FAR)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a text at %d, %d", (int)params->x, (int)params->y);
    return TVLM_OK;
}

tvlm_status tvlm_draw_text(const char *text, const struct tvlm_draw_text_params *params, const tvlm_log *log,
                           int32_t width, int32_t height, uint8_t *rgb, int32_t *wide) {
    static const struct tvlm_draw_text_params defaults = {0};
    const struct tvlm_draw_text_params *const how = params != NULL ? params : &defaults;
    const int32_t scale = how->scale > 0 ? how->scale : 1;
    TVLM_NEED(log, text);
    TVLM_TRY(check_text(text, how, log));
    if (rgb != NULL) TVLM_TRY(check_size(width, height, log));
    const size_t size = strlen(text) + sizeof "..";
    char *const shown = tvlm_allocate(size, 1);
    if (shown == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a text");
    tvlm_canvas_fit_text(text, scale, how->room > 0 ? how->room : INT32_MAX, shown, size);
    if (rgb != NULL) {
        tvlm_canvas canvas = {width, height, rgb};
        tvlm_canvas_text(&canvas, how->x, how->y, scale, (tvlm_colour){how->red, how->green, how->blue},
                         shown);
    }
    if (wide != NULL) *wide = tvlm_canvas_text_width(shown, scale);
    free(shown);
    return TVLM_OK;
}
