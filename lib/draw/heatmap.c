/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heatmap.c: scores over their image.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "draw/stage.h"

static uint8_t blend_byte(float gray, float over, float alpha) {
    return (uint8_t)fminf(255.0f, (1.0f - alpha) * gray + alpha * over + 0.5f);
}

/* Colours a pixel by its score, from 0 to 1. A low score shows the image, gray and darkened. A high score
 * shows the score's colour, which is as light as the image. */
static void blend_pixel(uint8_t *rgb, float score) {
    const tvlm_colour ink = tvlm_colours_inferno(score);
    const float gray = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
    const float t = fminf(fmaxf(score, 0.0f), 1.0f);
    const float alpha = 0.55f + 0.3f * t, light = 0.68f + 0.32f * gray / 255.0f;
    rgb[0] = blend_byte(0.55f * gray, (float)ink.r * light, alpha);
    rgb[1] = blend_byte(0.55f * gray, (float)ink.g * light, alpha);
    rgb[2] = blend_byte(0.55f * gray, (float)ink.b * light, alpha);
}

static void draw_scores(tvlm_stage *stage, const float *scores, const struct tvlm_draw_params *grid,
                        float low, float high) {
    const float scale = high > low ? 1.0f / (high - low) : 0.0f;
    const float to_x = 1.0f / (grid->cell_width * stage->scale_x),
                to_y = 1.0f / (grid->cell_height * stage->scale_y);
    const tvlm_rect photo = stage->photo;
    for (int32_t y = photo.y0; y < photo.y1; ++y) {
        for (int32_t x = photo.x0; x < photo.x1; ++x) {
            const float score =
                tvlm_canvas_cubic(scores, grid->columns, grid->rows, ((float)(x - photo.x0) + 0.5f) * to_x,
                                  ((float)(y - photo.y0) + 0.5f) * to_y);
            blend_pixel(stage->canvas.rgb + 3 * ((size_t)y * (size_t)stage->canvas.width + (size_t)x),
                        (score - low) * scale);
        }
    }
}

/* Returns the scores, with `low` in place of those that are not finite. Interpolation would carry these to
 * their neighbours. Returns NULL if there is no memory. */
static float *finite_scores(const float *scores, size_t count, float low) {
    float *const finite = tvlm_allocate(count, sizeof *finite);
    for (size_t i = 0; finite != NULL && i < count; ++i) finite[i] = isfinite(scores[i]) ? scores[i] : low;
    return finite;
}

tvlm_status tvlm_draw_heatmap(const tvlm_image *image, const float *scores,
                              const struct tvlm_draw_params *params, const tvlm_log *log,
                              tvlm_image **picture) {
    char low_text[48], high_text[48];
    float low, high;
    tvlm_stage stage;
    TVLM_NEED(log, image);
    TVLM_NEED(log, scores);
    TVLM_NEED(log, params);
    TVLM_NEED(log, picture);
    TVLM_TRY(tvlm_stage_check_image(image, log));
    TVLM_TRY(tvlm_stage_check_grid(params, true, log));
    struct tvlm_draw_params grid = *params;
    const size_t count = (size_t)grid.columns * (size_t)grid.rows;
    if (grid.cell_width == 0.0f) grid.cell_width = (float)image->width / (float)grid.columns;
    if (grid.cell_height == 0.0f) grid.cell_height = (float)image->height / (float)grid.rows;
    tvlm_canvas_range(scores, count, &low, &high);
    float *const finite = finite_scores(scores, count, low);
    if (finite == NULL) return tvlm_stage_no_memory(log);
    const tvlm_status status = tvlm_stage_make(image, log, &stage);
    if (status == TVLM_OK) draw_scores(&stage, finite, &grid, low, high);
    free(finite);
    if (status != TVLM_OK) return status;
    snprintf(low_text, sizeof low_text, "score %.3g", (double)low);
    snprintf(high_text, sizeof high_text, "%.3g", (double)high);
    tvlm_stage_legend(&stage, params->title, tvlm_colours_inferno, low_text, high_text);
    return tvlm_stage_finish(&stage.canvas, log, picture);
}
