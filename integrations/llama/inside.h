/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.h: what a chooser and its plans are made of.
 */
#ifndef TVLM_MTMD_INSIDE_H
#define TVLM_MTMD_INSIDE_H

#include "texturevlm/mtmd.h"

#include <texturevlm/export.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"

struct tvlm_mtmd {
    tvlm_device *device;
    mtmd_context *mtmd;
    tvlm_log log;
    struct tvlm_mtmd_info info;
    /* The fewest tokens of a picture that libmtmd takes as it is; below, it makes it larger. */
    int32_t least;
};

/* A picture of a plan, which owns the bitmap and `kept`. */
typedef struct tvlm_mtmd_shown {
    mtmd_bitmap *bitmap;
    uint8_t *kept;
    int32_t columns, rows, tokens;
    int32_t left, top, right, bottom;
} tvlm_mtmd_shown;

/* Pixels as bytes, RGB without gaps. `data` is the owner's. */
typedef struct tvlm_mtmd_rgb {
    uint8_t *data;
    int32_t width, height;
} tvlm_mtmd_rgb;

#define TVLM_MTMD_CANDIDATES 8

struct tvlm_mtmd_plan {
    tvlm_log log;
    struct tvlm_mtmd_plan_info info;
    tvlm_mtmd_candidate candidates[TVLM_MTMD_CANDIDATES];
    tvlm_mtmd_shown *shown;
    float *attention; /* of a first look; NULL: there was none */
};

/* ---- plan.c ---- */

/* A clock that only goes on. */
double tvlm_mtmd_milliseconds(void);

tvlm_status tvlm_mtmd_check_params(const tvlm_mtmd *chooser, const struct tvlm_mtmd_params *params);
/* How many tokens of pictures there may be, of an image that has `all`; 0: a tolerance says. */
int32_t tvlm_mtmd_budget(const tvlm_mtmd *chooser, int32_t all, const struct tvlm_mtmd_params *params);
/* Adds a picture to a plan: a part of `from`, at a size in tokens. `kept` is taken over, and NULL means all of
 * them. `box` is what it shows, in pixels of the image. */
tvlm_status tvlm_mtmd_show_part(const tvlm_mtmd *chooser, tvlm_mtmd_plan *plan, const tvlm_mtmd_rgb *from,
                                const int32_t part[4], tvlm_picture size, uint8_t *kept,
                                const int32_t box[4]);

/* ---- eval.c ---- */

/* A prompt with the pictures of plans, and how it is decoded. */
typedef struct tvlm_mtmd_prompt {
    tvlm_mtmd *chooser;
    struct llama_context *context;
    const mtmd_input_chunks *chunks;
    tvlm_mtmd_plan *const *plans;
    int32_t count; /* of plans; 0: all tokens of all pictures are kept */
    const struct tvlm_mtmd_eval_params *params;
} tvlm_mtmd_prompt;

tvlm_status tvlm_mtmd_check_eval(const tvlm_mtmd *chooser, const struct llama_context *context,
                                 const struct tvlm_mtmd_eval_params *params);
/* Checks that the plans are those of the chunks, and that the context has room for all and for `more` tokens. */
tvlm_status tvlm_mtmd_check_prompt(const tvlm_mtmd_prompt *prompt, int32_t more);
/* Encodes and decodes chunks first .. end - 1, from position used->n_past on, and adds to *used. If it fails,
 * something may be left in the KV cache. */
tvlm_status tvlm_mtmd_eval_range(const tvlm_mtmd_prompt *prompt, size_t first, size_t end,
                                 struct tvlm_mtmd_used *used);

/* ---- watch.c ---- */

/* Keeps what a layer's attention is made of, from now on until `end`. */
void tvlm_mtmd_watch_begin(tvlm_mtmd_watch *watch, int32_t layer);
void tvlm_mtmd_watch_end(tvlm_mtmd_watch *watch);
/* Writes the attention of the last token that was decoded, mean over heads, to tokens first .. first + count - 1
 * of the `tokens` that were decoded in between. */
tvlm_status tvlm_mtmd_watch_attention(const tvlm_mtmd_watch *watch, int32_t tokens, int32_t first,
                                      int32_t count, float *attention);

/* ---- sizes.c ---- */

/* Asks libmtmd how many tokens its picture of an image of so many pixels has along each side. Where it has
 * no sides (without M-RoPE), *columns becomes their number and *rows 1. */
tvlm_status tvlm_mtmd_size(const tvlm_mtmd *chooser, int32_t width, int32_t height, int32_t *columns,
                           int32_t *rows);

/* The sides of a picture of chunks. Where it has none, *columns becomes its number of tokens and *rows 1. */
void tvlm_mtmd_sides_of(const tvlm_mtmd *chooser, const mtmd_image_tokens *picture, int32_t *columns,
                        int32_t *rows);

/* Whether a picture of chunks is the one that a plan shows. */
bool tvlm_mtmd_is_shown(const tvlm_mtmd *chooser, const mtmd_input_chunk *chunk,
                        const tvlm_mtmd_shown *shown);

/* Finds the largest size of about the image's shape with at most `tokens` tokens, or the least that
 * libmtmd makes. */
tvlm_status tvlm_mtmd_size_within(const tvlm_mtmd *chooser, int32_t width, int32_t height, int32_t tokens,
                                  tvlm_picture *size);

/* ---- pixels.c ---- */

/* An image as RGB on white. */
tvlm_status tvlm_mtmd_rgb_of(const tvlm_log *log, const tvlm_image *image, tvlm_mtmd_rgb *rgb);
/* A part of a picture, resized by an antialiased bicubic filter. What lies beyond the picture repeats its
 * border. */
tvlm_status tvlm_mtmd_resize(const tvlm_log *log, const tvlm_mtmd_rgb *from, const int32_t box[4],
                             int32_t width, int32_t height, tvlm_mtmd_rgb *to);
/* The whole picture in the middle of a gray square. */
tvlm_status tvlm_mtmd_square(const tvlm_log *log, const tvlm_mtmd_rgb *from, int32_t side, tvlm_mtmd_rgb *to);
void tvlm_mtmd_rgb_free(tvlm_mtmd_rgb *rgb);

/* ---- measure.c ---- */

/* An image, what libmtmd would make of it, and what other sizes of it lose. */
typedef struct tvlm_mtmd_measured {
    const tvlm_mtmd *chooser;
    tvlm_mtmd_rgb image, full; /* as it was handed in, and as the encoder would see it */
    tvlm_picture whole;
    tvlm_stack *stack;
    tvlm_picture sizes[TVLM_PICTURES_MAX]; /* from few tokens to many; the last is `whole` */
    int32_t count;
    tvlm_prediction *prediction;
    const struct tvlm_query *query;
    float emphasis;
} tvlm_mtmd_measured;

tvlm_status tvlm_mtmd_measure(const tvlm_mtmd *chooser, const tvlm_image *image,
                              const struct tvlm_mtmd_params *params, tvlm_mtmd_measured *measured);
/* Predicts what sizes of about so many tokens lose. */
tvlm_status tvlm_mtmd_predict(tvlm_mtmd_measured *measured, const int32_t *tokens, int32_t count);
void tvlm_mtmd_measured_free(tvlm_mtmd_measured *measured);

static inline int32_t tvlm_mtmd_tokens(tvlm_picture size) {
    return size.columns * size.rows;
}

/* ---- pictures.c ---- */

/* A part of the full picture, in its pixels, and the size in tokens at which it is shown. */
typedef struct tvlm_mtmd_crop {
    int32_t box[4];
    int32_t columns, rows;
} tvlm_mtmd_crop;

/* A small picture of the whole, of which `kept` says the tokens in which something is seen, and crops.
 * `tokens` are all that they take, with those around each but the first. */
typedef struct tvlm_mtmd_cut {
    int32_t columns, rows, tokens, count;
    float loss;
    uint8_t *kept;
    tvlm_mtmd_crop *crops;
} tvlm_mtmd_cut;

/* Cuts an image into a small picture and crops of at most `tokens` tokens, or, where that is 0, that lose
 * at most `tolerance`. cut->count is 0 where no crop is worth its tokens. */
tvlm_status tvlm_mtmd_cut_out(const tvlm_mtmd_measured *measured, int32_t tokens, float tolerance,
                              tvlm_mtmd_cut *cut);
void tvlm_mtmd_cut_free(tvlm_mtmd_cut *cut);

/* ---- choose.c ---- */

/* What was chosen: its candidate is plan->info.chosen, without the tokens around the first picture. `size`
 * is its place among measured->sizes. */
typedef struct tvlm_mtmd_choice {
    int32_t size;
    tvlm_mtmd_cut cut;
} tvlm_mtmd_choice;

/* Fills in the plan's candidates, and which of them was chosen. `budget` is the number of tokens of
 * pictures, or 0 for a tolerance. */
tvlm_status tvlm_mtmd_choose(tvlm_mtmd_measured *measured, const struct tvlm_mtmd_params *params,
                             int32_t budget, tvlm_mtmd_plan *plan, tvlm_mtmd_choice *choice);
/* Marks the best cells of the full picture. */
tvlm_status tvlm_mtmd_best(const tvlm_mtmd_measured *measured, int32_t tokens, uint8_t *kept);

#endif
