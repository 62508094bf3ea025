/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_seen.c: draws what a model sees of a video, where each token is shown until another one takes its place.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "texturevlm/draw.h"
#include "video_clip.h"

int video_seen_open(struct tool *tool, const tvlm_clip_info *info, int32_t width, int32_t height,
                    video_seen *seen) {
    const size_t pixels = (size_t)width * (size_t)height;
    *seen = (video_seen){.log = &tool->log, .width = width, .height = height, .patch = info->patch};
    seen->wide = (float)info->patch * (float)width / (float)info->width;
    seen->held = calloc(pixels, 3);
    seen->now = malloc(pixels * 3);
    seen->part = malloc(pixels * 3);
    seen->small = malloc(pixels * 3);
    seen->sheet = malloc(pixels * 6);
    if (seen->held != NULL && seen->now != NULL && seen->part != NULL && seen->small != NULL &&
        seen->sheet != NULL)
        return TOOL_DONE;
    return tool_fail(tool, "no memory for pictures of %dx%d", 2 * (int)width, (int)height);
}

void video_seen_release(video_seen *seen) {
    free(seen->held);
    free(seen->now);
    free(seen->part);
    free(seen->small);
    free(seen->sheet);
    *seen = (video_seen){0};
}

/* A square of a frame, in pixels. */
typedef struct square {
    int32_t left, top, width, height;
} square;

static int32_t clipped(float value, int32_t most) {
    const float rounded = floorf(value + 0.5f);
    return rounded < 0.0f ? 0 : rounded > (float)most ? most : (int32_t)rounded;
}

static square square_of(const video_seen *seen, const tvlm_clip_token *token) {
    const int32_t left = clipped(token->x - 0.5f * token->width, seen->width);
    const int32_t top = clipped(token->y - 0.5f * token->height, seen->height);
    return (square){left, top, clipped(token->x + 0.5f * token->width, seen->width) - left,
                    clipped(token->y + 0.5f * token->height, seen->height) - top};
}

/* How many texels a token has along a side of so many pixels, of which a part may lie beyond the frame. */
static int32_t texels(const video_seen *seen, int32_t pixels, float side) {
    const float count = ceilf((float)seen->patch * (float)pixels / side);
    return count < 1.0f ? 1 : count > (float)pixels ? pixels : (int32_t)count;
}

/* Copies rows of `width` pixels. The strides are in bytes. */
static void copy_rows(const uint8_t *from, size_t from_stride, uint8_t *to, size_t to_stride, int32_t width,
                      int32_t height) {
    for (int32_t y = 0; y < height; ++y)
        memcpy(to + (size_t)y * to_stride, from + (size_t)y * from_stride, (size_t)width * 3);
}

/* Shows a square of the frame, reduced to columns x rows texels and enlarged again. */
static tvlm_status show(video_seen *seen, const tvlm_image *frame, const square *s, int32_t columns,
                        int32_t rows) {
    const size_t stride = (size_t)seen->width * 3, offset = (size_t)s->top * stride + (size_t)s->left * 3;
    const tvlm_image part = {.pixels = seen->part, .width = s->width, .height = s->height, .channels = 3};
    const tvlm_image small = {.pixels = seen->small, .width = columns, .height = rows, .channels = 3};
    copy_rows((const uint8_t *)frame->pixels + offset, stride, seen->part, (size_t)s->width * 3, s->width,
              s->height);
    tvlm_status status = tvlm_draw_image(&part, seen->log, columns, rows, seen->small);
    if (status == TVLM_OK) status = tvlm_draw_image(&small, seen->log, s->width, s->height, seen->part);
    if (status == TVLM_OK)
        copy_rows(seen->part, (size_t)s->width * 3, seen->now + offset, stride, s->width, s->height);
    return status;
}

static tvlm_status show_token(video_seen *seen, const tvlm_image *frame, const tvlm_clip_token *tokens,
                              int32_t i) {
    const tvlm_clip_token *const token = &tokens[i];
    const square all = {0, 0, seen->width, seen->height}, own = square_of(seen, token);
    if (token->columns > 0 && !video_begins_thumbnail(tokens, i)) return TVLM_OK;
    const square *const s = token->columns > 0 ? &all : &own;
    if (s->width < 1 || s->height < 1) return TVLM_OK;
    return show(seen, frame, s, texels(seen, s->width, token->width), texels(seen, s->height, token->height));
}

/* ---- What is held moves ---- */

static int32_t within(int32_t value, int32_t count) {
    return value < 0 ? 0 : value < count ? value : count - 1;
}

/* The weights of four neighbours of a place that is `part` behind the second one (Keys 1981). Linear ones would blur what is moved
 * again and again. */
static void find_weights(float part, float weights[4]) {
    const float p = part, q = 1.0f - part;
    weights[0] = -0.5f * p * q * q;
    weights[1] = 1.0f - 2.5f * p * p + 1.5f * p * p * p;
    weights[2] = 1.0f - 2.5f * q * q + 1.5f * q * q * q;
    weights[3] = -0.5f * q * p * p;
}

/* Writes the pixel of what is held at a place. Beyond the border it is what is at the border. */
static void read_held(const video_seen *seen, float x, float y, uint8_t *rgb) {
    const float left = floorf(x - 0.5f), top = floorf(y - 0.5f);
    float across[4], down[4], sums[3] = {0.0f};
    find_weights(x - 0.5f - left, across);
    find_weights(y - 0.5f - top, down);
    for (int i = 0; i < 16; ++i) {
        const int32_t column = within((int32_t)left + i % 4 - 1, seen->width),
                      row = within((int32_t)top + i / 4 - 1, seen->height);
        const uint8_t *const from = seen->held + ((size_t)row * (size_t)seen->width + (size_t)column) * 3;
        for (int c = 0; c < 3; ++c) sums[c] += across[i % 4] * down[i / 4] * (float)from[c];
    }
    for (int c = 0; c < 3; ++c) rgb[c] = (uint8_t)clipped(sums[c], 255);
}

void video_seen_move(video_seen *seen, const float motion[6], float part) {
    for (int32_t y = 0; y < seen->height; ++y)
        for (int32_t x = 0; x < seen->width; ++x) {
            const float at_x = (float)x + 0.5f, at_y = (float)y + 0.5f;
            const float to_x = motion[0] * at_x + motion[1] * at_y + motion[2];
            const float to_y = motion[3] * at_x + motion[4] * at_y + motion[5];
            read_held(seen, at_x + part * (to_x - at_x), at_y + part * (to_y - at_y),
                      seen->now + ((size_t)y * (size_t)seen->width + (size_t)x) * 3);
        }
    seen->is_moved = true;
}

/* The colours of frames: of cells of thumbnails, and of squares from fine to coarse. */
static const uint8_t colours[][3] = {{90, 90, 90}, {255, 210, 0}, {255, 120, 0}, {0, 160, 255}};

static void draw_frame(uint8_t *rgb, size_t stride, const square *s, const uint8_t colour[3]) {
    for (int32_t y = 0; y < s->height; ++y)
        for (int32_t x = 0; x < s->width; ++x)
            if (x == 0 || y == 0 || x == s->width - 1 || y == s->height - 1)
                memcpy(rgb + (size_t)(s->top + y) * stride + (size_t)(s->left + x) * 3, colour, 3);
}

static const uint8_t *colour_of(const video_seen *seen, const tvlm_clip_token *token) {
    const float patches = token->width / seen->wide;
    return colours[token->columns > 0 ? 0 : patches < 1.2f ? 1 : patches < 2.2f ? 2 : 3];
}

tvlm_status video_seen_draw(video_seen *seen, const tvlm_image *frame, const tvlm_clip_token *tokens,
                            int32_t count, bool last, tvlm_image *picture) {
    const size_t row = (size_t)seen->width * 3;
    tvlm_status status = TVLM_OK;
    if (!seen->is_moved) memcpy(seen->now, seen->held, row * (size_t)seen->height);
    seen->is_moved = false;
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i) status = show_token(seen, frame, tokens, i);
    if (status != TVLM_OK) return status;
    if (last) memcpy(seen->held, seen->now, row * (size_t)seen->height);
    copy_rows(frame->pixels, row, seen->sheet, 2 * row, seen->width, seen->height);
    copy_rows(seen->now, row, seen->sheet + row, 2 * row, seen->width, seen->height);
    for (int32_t i = 0; i < count; ++i) {
        const square s = square_of(seen, &tokens[i]);
        draw_frame(seen->sheet + row, 2 * row, &s, colour_of(seen, &tokens[i]));
    }
    *picture =
        (tvlm_image){.pixels = seen->sheet, .width = 2 * seen->width, .height = seen->height, .channels = 3};
    return TVLM_OK;
}
