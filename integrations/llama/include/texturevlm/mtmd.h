/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mtmd.h: fewer image tokens for a model in llama.cpp. It stands between libtexturevlm and llama.cpp's
 * libmtmd, and is a library of its own, texturevlm-mtmd.
 *
 *     tvlm_mtmd *chooser = NULL;
 *     tvlm_mtmd_plan *plan = NULL;
 *     mtmd_input_chunks *chunks = NULL;
 *     struct tvlm_mtmd_used used;
 *     if (tvlm_mtmd_create(device, mtmd, NULL, &chooser) == TVLM_OK &&
 *         tvlm_mtmd_prepare(chooser, image, tvlm_mtmd_params(.budget = 200), &plan) == TVLM_OK &&
 *         tvlm_mtmd_tokenize(chooser, prompt, true, &plan, 1, &chunks) == TVLM_OK)
 *         tvlm_mtmd_eval_chunks(chooser, context, chunks, &plan, 1, NULL, &used); // now sample
 *     mtmd_input_chunks_free(chunks);
 *     tvlm_mtmd_plan_destroy(&plan);
 *     tvlm_mtmd_destroy(&chooser);
 *
 * *Tokens.* A token of a picture is a square of `side` pixels (tvlm_mtmd_info). What counts as a picture's
 * tokens is all that it adds to the prompt: its squares that are kept, and those around it, such as
 * <|vision_start|> and <|vision_end|>. So a budget of 200 fills at most 200 cells of the KV cache for an
 * image, in whichever way.
 *
 * *Ways.* An image is shown in one of these, and what each loses is predicted from its pixels (export.h,
 * tvlm_predict):
 *   - smaller: the whole image at a smaller size;
 *   - pruned: the whole image, from which the tokens that lose least are dropped, behind the encoder or, with
 *     before-encoder.patch, before it;
 *   - pictures: a small picture of the whole image, and crops where that loses most. Each is an image of the
 *     prompt;
 *   - cells: the tokens of the best score of the full picture, for small details. A smaller picture loses
 *     less;
 *   - auto: of the first three the one that loses least, or with a tolerance takes the fewest tokens. So it
 *     is never predicted to be worse than a smaller picture of as many tokens;
 *   - full: all tokens, as without this library. No one asks for it: it is what a plan says where the budget
 *     has room;
 *   - looks: a small picture of the whole, and those tokens of the full picture that the question makes the
 *     model look at. No one asks for it here: it is what tvlm_mtmd_look_twice does.
 *
 * Where pictures are asked for and a smaller picture loses no more, or with a tolerance takes no more tokens, or no
 * crop is worth its tokens, a plan has that smaller picture, and `chosen` says so. Pruned and cells are what they are
 * also where they are predicted to lose more than it.
 *
 * What a model makes of a picture with holes depends on how it was trained, which no prediction knows.
 *
 * *Models* are those that make one picture of an image: at a size of its own, where the model has M-RoPE
 * (Qwen2-VL, 2.5 and 3), or at one size for all (Gemma 3). Of the latter tokens can be dropped, and nothing
 * else. Models that cut an image into slices themselves (LLaVA-UHD, MiniCPM-V, InternVL, Idefics 3) are
 * refused with UNSUPPORTED and one line, as are those without M-RoPE whose pictures have sizes of their own
 * (Pixtral).
 *
 * *Positions.* With M-RoPE the kept tokens have the positions that they have in the full picture, and the
 * text behind it goes on as if all were there. Without M-RoPE, llama.cpp accepts no positions with gaps:
 * there, kept tokens stand one behind the other, and the text follows them.
 *
 * *Threads.* A chooser, its device and its mtmd_context are for one thread at a time, as a llama_context is.
 * Several threads may each have their own, and share the llama_model. Errors are told by the log of the
 * options or the device, a line each; what llama.cpp says goes to llama.cpp's own log.
 */
#ifndef TEXTUREVLM_MTMD_H
#define TEXTUREVLM_MTMD_H

#include <stdbool.h>
#include <stdint.h>

#include <texturevlm/device.h>
#include <texturevlm/image.h>
#include <texturevlm/score.h>

#include <llama.h>
#include <mtmd.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_mtmd tvlm_mtmd;
typedef struct tvlm_mtmd_plan tvlm_mtmd_plan;

typedef enum tvlm_mtmd_way {
    TVLM_MTMD_AUTO = 0,
    TVLM_MTMD_SMALLER,
    TVLM_MTMD_PRUNED,
    TVLM_MTMD_PICTURES,
    TVLM_MTMD_CELLS,
    TVLM_MTMD_FULL,
    TVLM_MTMD_LOOKS
} tvlm_mtmd_way;

/* tvlm_mtmd_way_name returns "auto", "smaller", "pruned", "pictures", "cells", "full" or "looks"; "unknown" for
 * other values. tvlm_mtmd_way_find returns the way of a name, or -1. */
TVLM_API const char *tvlm_mtmd_way_name(tvlm_mtmd_way way);
TVLM_API int tvlm_mtmd_way_find(const char *name);

/* What is known of a model. All zero means the defaults. */
struct tvlm_mtmd_options {
    /* The mmproj file that the mtmd context was made of. A model of one size for all pictures needs it:
     * the size stands in the file, and libmtmd does not tell it. NULL: such models are refused. */
    const char *mmproj;
    /* Where errors are told: of this library alone, since a device has its own log. It is copied. NULL:
     * nowhere. */
    const tvlm_log *log;
    uint64_t reserved[4];
};
#define tvlm_mtmd_options(...) TVLM_PARAMS(tvlm_mtmd_options, __VA_ARGS__)

/*
 * Creates a chooser, which must be destroyed before the device and the mtmd context, and asks libmtmd how it
 * resizes. Neither is owned. `options` NULL means the defaults. Errors: ARGUMENT (NULL), UNSUPPORTED (a model
 * without vision, or one that is refused above), IO and FORMAT (of the mmproj file), MEMORY.
 */
TVLM_API tvlm_status tvlm_mtmd_create(tvlm_device *device, mtmd_context *mtmd,
                                      const struct tvlm_mtmd_options *options, tvlm_mtmd **chooser);
/* Frees a chooser and sets *chooser to NULL. NULL and *NULL are fine. Plans that it made may live on. */
TVLM_API void tvlm_mtmd_destroy(tvlm_mtmd **chooser);

struct tvlm_mtmd_info {
    int32_t side;          /* the side of a token, in pixels of the picture */
    int32_t columns, rows; /* the tokens of a picture where all have one size, else 0 */
    int32_t around;        /* tokens that stand before and after each picture */
    bool mrope;            /* tokens have positions in two dimensions */
    bool non_causal;       /* tokens of a picture see those behind them: all of it must fit into n_ubatch */
    uint32_t reserved[6];
};
TVLM_API tvlm_status tvlm_mtmd_get_info(const tvlm_mtmd *chooser, struct tvlm_mtmd_info *info);

/* How much may be spent on an image, and how. At most one of budget, share and tolerance is given. */
struct tvlm_mtmd_params {
    /* The most tokens that the image may add to the prompt, at least 1 more than `around`. A budget above
     * all tokens gives all. */
    int32_t budget;
    /* This share of the tokens that libmtmd's own picture has, above 0 and at most 1, and at least 1
     * token; those around it are not shared out. */
    float share;
    /* As few tokens as lose at most this share of what a picture of one token loses, above 0 and at most 1;
     * TVLM_EXPLICIT_ZERO: 0. If nothing is given, it is TVLM_TOLERANCE_READABLE. */
    float tolerance;
    /* A tolerance goes with any way but cells. In place of pictures there may be a smaller one. */
    tvlm_mtmd_way way;
    /* What is asked, as a map of similarities over the whole image (score.h): where the map is high, more
     * is kept. NULL: nothing. It is refused for models of one size. Features are not there, so that
     * vectors are refused. Read during the call only. */
    const struct tvlm_query *query;
    /* How strongly the question counts, as in select.h; 0 means the default. */
    float emphasis;
    uint32_t reserved[7];
};
#define tvlm_mtmd_params(...) TVLM_PARAMS(tvlm_mtmd_params, __VA_ARGS__)

/*
 * Decides how an image is shown. `params` NULL means the defaults. *plan is the caller's, to be destroyed; it
 * is set on success only. Waits. Errors: ARGUMENT (sizes, parameters; a budget below the least; a way that
 * the model does not have), MEMORY, DEVICE_MEMORY, DEVICE.
 */
TVLM_API tvlm_status tvlm_mtmd_prepare(tvlm_mtmd *chooser, const tvlm_image *image,
                                       const struct tvlm_mtmd_params *params, tvlm_mtmd_plan **plan);
TVLM_API void tvlm_mtmd_plan_destroy(tvlm_mtmd_plan **plan);

/* A way that was looked at. */
typedef struct tvlm_mtmd_candidate {
    tvlm_mtmd_way way;
    /* The size of its picture in tokens, before any is dropped; of several pictures that of the first. */
    int32_t columns, rows;
    int32_t tokens; /* all that it adds to the prompt */
    /* What is predicted to be lost, as a share of what a picture of one token loses. NaN for two looks, of
     * which nothing is predicted. */
    float loss;
} tvlm_mtmd_candidate;

struct tvlm_mtmd_plan_info {
    tvlm_mtmd_candidate chosen;
    /* The best smaller picture among what was looked at. Its tokens are 0 and its loss is 1 where the
     * model makes none so small. */
    tvlm_mtmd_candidate smaller;
    int32_t full;       /* all tokens of libmtmd's own picture, with those around it */
    int32_t pictures;   /* how many there are */
    int32_t candidates; /* how many ways were looked at */
    /* How long it took to decide, without what makes the pictures. Of two looks also without what the model
     * computes of the first one, which stands in tvlm_mtmd_used. */
    float milliseconds;
    /* Of two looks: the share of the first look's attention on each token of picture 0, row after row. It is
     * valid while the plan lives. NULL: there were no two looks. */
    const float *attention;
    uint32_t reserved[4];
};
TVLM_API tvlm_status tvlm_mtmd_plan_get_info(const tvlm_mtmd_plan *plan, struct tvlm_mtmd_plan_info *info);
/* Tells candidate number `index`, 0 .. candidates - 1. Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_mtmd_plan_candidate(const tvlm_mtmd_plan *plan, int32_t index,
                                              tvlm_mtmd_candidate *candidate);

/* A picture of a plan. The pointers are valid while the plan lives. */
struct tvlm_mtmd_picture {
    const mtmd_bitmap *bitmap; /* what libmtmd is given */
    int32_t columns, rows;     /* its tokens */
    int32_t tokens;            /* how many of them are kept */
    const uint8_t *kept;       /* [rows * columns], not 0 for those that are kept, row after row */
    /* The part of the image that it shows, in the image's pixels. Right and bottom may lie beyond the image. */
    int32_t left, top, right, bottom;
    uint32_t reserved[6];
};
/* Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_mtmd_plan_picture(const tvlm_mtmd_plan *plan, int32_t index,
                                            struct tvlm_mtmd_picture *picture);

/*
 * Makes chunks of a prompt by mtmd_tokenize. `prompt` has the marker of the mtmd context once for each plan,
 * in their order; a plan of several pictures takes several images there. Special tokens in it are parsed.
 * *chunks is the caller's, to be released by mtmd_input_chunks_free. Errors: ARGUMENT (as many markers as
 * plans are wanted), MEMORY, UNSUPPORTED (libmtmd makes other pictures than planned).
 */
TVLM_API tvlm_status tvlm_mtmd_tokenize(tvlm_mtmd *chooser, const char *prompt, bool add_special,
                                        tvlm_mtmd_plan *const *plans, int32_t count,
                                        mtmd_input_chunks **chunks);

/* How chunks are decoded. */
struct tvlm_mtmd_eval_params {
    llama_pos n_past; /* the position of the first token: behind all that the sequence has */
    llama_seq_id seq_id;
    /* The most tokens of a batch; 0 means llama_n_batch. A picture of a model with `non_causal` is one batch. */
    int32_t n_batch;
    bool no_logits; /* no logits of the last token of text are wanted */
    /* Is asked before each batch, and before each picture is encoded; if it returns true, the call ends
     * with CANCELLED. NULL: no one is asked. What llama.cpp aborts by its own callback ends so, too. */
    bool (*cancel)(void *user);
    void *user;
    uint64_t reserved[4];
};
#define tvlm_mtmd_eval_params(...) TVLM_PARAMS(tvlm_mtmd_eval_params, __VA_ARGS__)

struct tvlm_mtmd_used {
    llama_pos n_past; /* the position behind the last token */
    int32_t cells; /* of the KV cache that were filled: all tokens of text, and the kept ones of pictures */
    int32_t image_tokens; /* those of pictures among them */
    /* How many tokens of pictures went through the encoder: all of each picture, or with
     * before-encoder.patch and Qwen-VL only those that are kept. */
    int32_t encoded;
    float encode_ms, decode_ms; /* the encoder's time, and the language model's */
    /* Of two looks: tokens of text that the first one decoded, and that were removed again. So cells + again
     * tokens went through the language model. */
    int32_t again;
    uint32_t reserved[4];
};

/*
 * Encodes and decodes chunks, as mtmd_helper_eval_chunks does, but only the kept tokens of pictures. `chunks`
 * are of tvlm_mtmd_tokenize or of mtmd_tokenize with the same pictures in the same order. With `count` 0 all
 * tokens are kept, and `plans` may be NULL. `params` NULL means the defaults.
 *
 * If it fails, *used is untouched, and what it had decoded is removed from the sequence again: the KV cache
 * is as before. Errors:
 *   - ARGUMENT: a position that is not behind all tokens of the sequence; chunks of sound; pictures that are
 *     not those of the plans; a picture of a model with `non_causal` that is more than n_ubatch tokens; more
 *     tokens than the context has cells. Nothing is encoded before;
 *   - MEMORY: llama.cpp found no room in the KV cache, where other sequences are;
 *   - CANCELLED; DEVICE: the encoder or the decoder failed.
 */
TVLM_API tvlm_status tvlm_mtmd_eval_chunks(tvlm_mtmd *chooser, struct llama_context *context,
                                           const mtmd_input_chunks *chunks, tvlm_mtmd_plan *const *plans,
                                           int32_t count, const struct tvlm_mtmd_eval_params *params,
                                           struct tvlm_mtmd_used *used);

/*
 * ---- Two looks: the question decides ----
 *
 *     tvlm_mtmd_watch *watch = NULL;
 *     struct llama_context_params params = llama_context_default_params();
 *     tvlm_mtmd_watch_create(log, &params, &watch);
 *     context = llama_init_from_model(model, params);
 *     tvlm_mtmd_look_twice(chooser, context, watch, prompt, image,
 *                          &(struct tvlm_mtmd_look_params){.spending = {.budget = 200}}, &plan, &used);
 *
 * A watch sees what a context computes, by the callback `cb_eval` of its parameters, and keeps what the
 * attention of a layer is made of during a first look. At other times it asks for nothing; but llama.cpp then
 * waits for the backend after each part of its graph, which on a GPU may cost some of each answered token. It
 * works with flash attention, too.
 */
typedef struct tvlm_mtmd_watch tvlm_mtmd_watch;

/*
 * Makes a watch and puts it into the parameters of a context to be created. It must live longer than that
 * context, and is for one context. `log` NULL: errors are told nowhere. Errors: ARGUMENT (NULL, or the
 * parameters have a callback already), MEMORY.
 */
TVLM_API tvlm_status tvlm_mtmd_watch_create(const tvlm_log *log, struct llama_context_params *params,
                                            tvlm_mtmd_watch **watch);
TVLM_API void tvlm_mtmd_watch_destroy(tvlm_mtmd_watch **watch);

struct tvlm_mtmd_look_params {
    /* A budget or a share, for both looks together; the way is auto, and there is no query. */
    struct tvlm_mtmd_params spending;
    struct tvlm_mtmd_eval_params eval;
    bool add_special; /* as for tvlm_mtmd_tokenize */
    uint64_t reserved[4];
};

/*
 * Shows an image in two looks, and leaves the context ready to answer, as tvlm_mtmd_eval_chunks does. `prompt`
 * has the marker of the mtmd context once.
 *   1. The model sees a small picture, which takes .65 of the tokens, and the question. The attention of the
 *      prompt's last token, in the layer in the middle, mean over heads, says which places the answer hangs
 *      on (arXiv 2502.17422). With n_past above 0 it is that on the tokens of this prompt.
 *   2. The question is removed from the KV cache again. Behind the small picture, the tokens of the full
 *      picture at these places follow, as a second picture, at their positions in the full one, and then the
 *      question. Nothing before the end of the small picture is computed twice.
 *
 * Where the small picture would show, by its area, things of 28 pixels (or of a token's side, if that is more)
 * with fewer than 8, or the budget has room for all tokens, it is one look in auto's way: `plan` says which. The
 * encoder sees all of the full picture, but with before-encoder.patch only the kept tokens.
 *
 * *plan and *used are set on success only; if it fails, the KV cache is as before. Errors: those of
 * tvlm_mtmd_prepare, tvlm_mtmd_tokenize and tvlm_mtmd_eval_chunks; ARGUMENT also where neither a budget nor a
 * share is given, or another way, or a query; UNSUPPORTED where pictures all have one size, where the model
 * cannot forget a question (recurrent layers), where its graph has other names than llama.cpp's usual ones
 * (Qcur and Kcur), or where the context was created without the watch.
 */
TVLM_API tvlm_status tvlm_mtmd_look_twice(tvlm_mtmd *chooser, struct llama_context *context,
                                          tvlm_mtmd_watch *watch, const char *prompt, const tvlm_image *image,
                                          const struct tvlm_mtmd_look_params *params, tvlm_mtmd_plan **plan,
                                          struct tvlm_mtmd_used *used);

#ifdef __cplusplus
}
#endif
#endif
