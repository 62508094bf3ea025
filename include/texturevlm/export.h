/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h: makes the tensors that the encoder of a vision-language model takes, as they are: of all tokens,
 * and of the tokens that matter most.
 *
 *     tvlm_export *exported = NULL;
 *     tvlm_export_create(device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_5_VL, .budget = 256),
 *                        &exported);
 *     tvlm_export_run(exported, &image, 1, NULL, NULL);
 *     for (int32_t i = 0; i < tvlm_export_tensor_count(exported); ++i) {
 *         tvlm_export_tensor tensor;
 *         tvlm_export_get_tensor(exported, i, &tensor); // its name, type and shape
 *         tvlm_export_read(exported, i, tensor.bytes, data);
 *     }
 *     tvlm_export_destroy(&exported);
 *
 * *Numbers.* Pictures are resized, normalised and cut as the model's own processor does it (the classes of
 * Hugging Face `transformers` that run on Pillow): by Pillow's antialiased bicubic filter with its 22-bit
 * weights, rounded to bytes after each of its two passes; then bytes / 255, less mean, over std, in float.
 * The numbers are the processor's own to the bit, with Pillow before 13 or, where params.pillow says so, 13.0.0.
 * Only the decoding of a JPEG may differ. (The default processors of transformers 5 are torchvision's, whose
 * bytes are up to two steps off; those that run on Pillow are named ...Pil there.)
 *
 * *Tokens.* A token is what the language model sees as one: a merge block of 2 x 2 patches of two frames in
 * Qwen-VL, and a patch in LLaVA, CLIP and SigLIP (class tokens are not counted). Tokens are numbered picture
 * after picture, row after row. They are scored (score.h) on the picture as the encoder sees it: in a stack
 * of the resized picture, whose candidates are the squares of the tokens (stride = merge * patch), so that no
 * cell is shared by two tokens. A token of two frames has the better of its two scores.
 *
 * *The strategy budget* (select.h) makes several pictures of each image, which a model takes as so many
 * images: one behind the other, each with positions of its own. Its patch is a token. The pictures of Qwen-VL
 * are, in this order:
 *   - the thumbnail, unless all tokens of the full picture are chosen: the image resized to the strategy's
 *     grid of tokens. Its tokens are chosen, but those of cells that are empty (tvlm_selection_empty), which
 *     pixel_values alone has.
 *   - the full picture, as the processor makes it. Its chosen tokens are the tiles of level 0; there may be
 *     none.
 *   - where nines are chosen, and tiles at half, at a third and at a quarter, the image at three quarters, at half, at a
 *     third (to the nearest pixel) and at a quarter of the full picture's size, of which they are tokens. Where these
 *     sizes are no whole tokens, the border is repeated.
 * So the language model sees N tokens for a budget of N. A vision tower that takes chosen tokens of one picture
 * (tests/python/check_pruned.py) takes these.
 *
 * *Crops.* LLaVA-OneVision and InternVL take a thumbnail of one size, and the image as crops of that size.
 * There what is chosen is not a token but a crop: the thumbnail always, and those crops of which it loses most
 * (select.h, budget: the loss, times what matters). Everything below that is said of tokens is true of crops,
 * but the budget: it counts tokens, `(side / (patch * merge))^2` for each crop. (LLaVA-OneVision adds a token at the end of each row, and leaves out what is black when it is
 * given all crops.) The crops of an image are one picture, and the thumbnail is another: before it in
 * LLaVA-OneVision, behind it in InternVL, where an image of a single crop has none.
 *
 * *Colours.* Pixels become RGB as Pillow's convert("RGB") makes them:
 *   - Alpha is dropped, and not composited as everywhere else in this library.
 *   - Gray is repeated, and palettes are looked up by the loader.
 *   - Of 16 bits the upper byte is kept. But in 16-bit gray pictures values above 255 become 255, as they do
 *     there, which nearly always gives a white picture; a warning says so.
 *   - Floats are rounded to bytes.
 * tvlm_image_load turns pictures by their EXIF orientation; transformers leaves that to its caller
 * (PIL.ImageOps.exif_transpose).
 */
#ifndef TEXTUREVLM_EXPORT_H
#define TEXTUREVLM_EXPORT_H

#include "input.h"
#include "projection.h"
#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tvlm_export_model {
    TVLM_EXPORT_QWEN3_VL = 0,
    TVLM_EXPORT_QWEN2_5_VL,
    TVLM_EXPORT_QWEN2_VL,
    TVLM_EXPORT_LLAVA,
    TVLM_EXPORT_SIGLIP,
    TVLM_EXPORT_CLIP,
    TVLM_EXPORT_LLAVA_ONEVISION,
    TVLM_EXPORT_INTERNVL
} tvlm_export_model;
#define TVLM_EXPORT_MODELS 8

/* Returns the name of a model: "qwen3-vl", "qwen2.5-vl", "qwen2-vl", "llava", "siglip", "clip",
 * "llava-onevision" or "internvl"; "unknown" for values outside the enum. The other function returns the
 * model of a name, or -1. */
TVLM_API const char *tvlm_export_model_name(tvlm_export_model model);
TVLM_API int tvlm_export_model_find(const char *name);

/*
 * What the processor of a model does. The defaults are
 *
 *              patch  frames  merge  size                                     mean, std
 *   qwen3-vl     16     2       2    smart_resize, 65536 .. 16777216 pixels   0.5, 0.5
 *   qwen2.5-vl   14     2       2    smart_resize, 3136 .. 12845056           CLIP's
 *   qwen2-vl     14     2       2    smart_resize, 3136 .. 12845056           CLIP's
 *   llava        14     1       1    shortest side to 336, centre 336 x 336   CLIP's
 *   siglip       16     1       1    to 224 x 224, whatever its shape         0.5, 0.5
 *   clip         14     1       1    shortest side to 224, centre 224 x 224   CLIP's
 *   llava-onevision 14  1       1    up to 6 x 6 crops of 384 x 384, padded   0.5, 0.5
 *   internvl     14     1       2    up to 12 crops of 448 x 448, stretched   ImageNet's
 *
 * *Pictures.* The limits are those of preprocessor_config.json in the released checkpoints. (The class
 * Qwen2VLImageProcessor made without one has at most 1003520 pixels.) For ViT-B/32, give clip a patch of 32;
 * for so400m-patch14-384, give siglip a side of 384 and a patch of 14.
 *
 * *Crops.* Those of LLaVA-OneVision are the processor's anyres scheme with the image_grid_pinpoints of the
 * released checkpoints. Where the black rest beside the image is odd, the larger half is at the right and
 * below, as in transformers 4.57.1; the class of 4.47.1 leaves out that row or column of pixels, and enlarges
 * the crops there by one. Those of InternVL are the dynamic preprocessing of GotOcr2ImageProcessor with
 * crop_to_patches, 1 to 12 crops.
 *
 * *Videos of Qwen2-VL and 2.5.* The limits count each frame, and are those of pictures. It is so in
 * transformers 4.47.1, where Qwen2VLImageProcessor takes both. In 4.57.1 Qwen2VLVideoProcessor has the same
 * rule, and takes the same limits from a checkpoint that has no file for videos; the class made without one
 * has 100352 .. 602112.
 *
 * *Videos of Qwen3-VL.* The limits count all frames together: 4096 .. 25165824, as Qwen3VLVideoProcessor of
 * 4.57.1 with video_preprocessor_config.json of a released checkpoint. (The class made without one has 131072
 * .. 786432.)
 *
 * Frames are resized by Pillow's rule, as pictures are. 4.57.1 uses torchvision for that, whose bytes differ
 * here and there. All frames that are handed in are in the tensors, so the caller chooses which frames of a
 * film to take.
 */
typedef struct tvlm_export_processor {
    int32_t patch, temporal, merge;
    /* The side of the processed square; 0 means smart_resize. */
    int32_t side;
    /* The shortest side becomes `side`, and the middle is cut out. */
    bool centre;
    /* The limits of smart_resize. */
    int64_t min_pixels, max_pixels;
    /* The limits for all frames of a video together; 0 means that each frame is resized as a picture. */
    int64_t video_min_pixels, video_max_pixels;
    float mean[3], std[3];
    /* The most crops that a picture is cut into; 0: it is not cut. */
    int32_t crops;
    /* The picture keeps its shape on the crops, and the rest of them is black; `crops` is then the most along
     * a side. Otherwise it is stretched to them. */
    bool padded;
    uint64_t reserved[3];
} tvlm_export_processor;

/* Tells the defaults of a model. Errors: ARGUMENT (there is no such model). */
TVLM_API tvlm_status tvlm_export_processor_get(tvlm_export_model model, tvlm_export_processor *processor);

/*
 * Finds the size that Qwen-VL's processor gives a picture, which is that of smart_resize in transformers
 * (ties to even): about the picture's shape, with sides that are multiples of patch * merge, at least one,
 * and with min_pixels to max_pixels in all. Errors: ARGUMENT (an aspect ratio above 200, sides below 1,
 * limits that are no range or below one token).
 */
TVLM_API tvlm_status tvlm_smart_resize(const tvlm_export_processor *processor, int32_t width, int32_t height,
                                       const tvlm_log *log, int32_t *resized_width, int32_t *resized_height);

/*
 * Finds the size of each frame of a video. With video_max_pixels 0 it is that of a picture. Otherwise it is
 * that of Qwen3-VL's smart_resize (transformers 4.57.1), which keeps frames * width * height between the two
 * limits; where it compares them with the limits, it counts frames in whole tokens. Frames with a side
 * shorter than a token count as enlarged until it is one, as in 5.23 (4.57.1 refuses them). Errors: ARGUMENT (as
 * above; fewer frames than one token has).
 */
TVLM_API tvlm_status tvlm_smart_resize_video(const tvlm_export_processor *processor, int32_t frames,
                                             int32_t width, int32_t height, const tvlm_log *log,
                                             int32_t *resized_width, int32_t *resized_height);

/*
 * Finds how many crops the processor cuts of a picture, across and down: of LLaVA-OneVision those that
 * select_best_resolution of transformers finds (4.47.1; all grids of up to `crops` along each side), of
 * InternVL those of get_optimal_tiled_canvas (GotOcr2ImageProcessor of 4.57.1; up to `crops` in all).
 * Errors: ARGUMENT (a processor without crops, or with more than 64; sizes below 1).
 */
TVLM_API tvlm_status tvlm_crop_grid(const tvlm_export_processor *processor, int32_t width, int32_t height,
                                    const tvlm_log *log, int32_t *columns, int32_t *rows);

struct tvlm_export_params {
    tvlm_export_model model;
    /* The limits of Qwen-VL, with `video` those of its videos; 0 means the model's. */
    int64_t min_pixels, max_pixels;
    /* The side and the patch of the other models; 0 means the model's. */
    int32_t side, patch;
    /* How many tokens are selected at most, over all pictures; at least as many as there are images, and of
     * crops as many as one crop has for each image. 0 means a quarter of each image's tokens, or crops. */
    int32_t budget;
    /* Every token is selected. Not together with a budget. */
    bool all;
    /* Qwen-VL: the pictures are consecutive frames of one video, of one size. Two frames make a token. */
    bool video;
    /* The format of the stack that is scored. */
    tvlm_format format;
    /* How tokens are scored: `weights`, which are copied, and `scorer`, which must live as long as the
     * export. The candidates are the tokens of each picture: the other members are refused. With the strategy
     * budget weights are refused, and a scorer says what matters, as a question does (select.h, emphasis). */
    struct tvlm_score_params score;
    /* How tokens are chosen: TVLM_STRATEGY_GRID, the best of each picture, or TVLM_STRATEGY_BUDGET: see above;
     * not of a video, nor of the models that take one square. 0 means the budget for models that take crops,
     * which take nothing else, and the grid for the others. */
    tvlm_strategy strategy;
    /* For the strategy budget, and in place of `budget`: the share of each image's tokens, or crops, above 0 and
     * at most 1; less than one is refused. */
    float share;
    /* The same: the fewest tokens whose predicted loss is at most that share of what a thumbnail of one token
     * loses (select.h), of each image; TVLM_ZERO: all but those that equal a token beside or above them. Of crops
     * those are left out that lose least, while what the thumbnail loses in all of them together is no more than that
     * share of what a thumbnail of one 16 x 16 patch loses of the image; TVLM_ZERO: those of which it loses
     * nothing. */
    float tolerance;
    /* For the strategy budget, as in select.h: what matters, and how much. */
    float emphasis;
    int32_t emphasis_channel;
    /* The version of Pillow whose resize is done: from 13 on the passes are in the other order where the
     * height shrinks by more than twice what the width does, which rounds other bytes. 0 means those before. */
    int32_t pillow;
    uint32_t reserved[2];
};
#define tvlm_export_params(...) TVLM_PARAMS(tvlm_export_params, __VA_ARGS__)

/* An export makes tensors again and again, and keeps its device memory from run to run. */
typedef struct tvlm_export tvlm_export;

/* Creates an export, which must be destroyed before its device. `params` NULL means all defaults. Errors:
 * ARGUMENT, MEMORY. */
TVLM_API tvlm_status tvlm_export_create(tvlm_device *device, const struct tvlm_export_params *params,
                                        tvlm_export **exported);
TVLM_API void tvlm_export_destroy(tvlm_export **exported);

/*
 * Gives a share of each image's tokens, 0 to 1, to an overview in later runs: a picture of the whole image before
 * the full one, of which all tokens are chosen, as of the thumbnail of the strategy budget; the rest are the
 * best of the full picture. Its grid is that of the smallest tokens of which the share covers the image
 * (select.h: overview). It has picture_source and picture_scale, too. 0: none. Errors: ARGUMENT (no share; crops,
 * one square, a video, all tokens or the strategy budget); a run fails with ARGUMENT where the share is less than
 * one token of an image.
 */
TVLM_API tvlm_status tvlm_export_set_overview(tvlm_export *exported, float share);

/*
 * Makes later runs write what the projection makes of each chosen token as a tensor, visual_tokens: it reads its
 * channels at the middle of the token, at the level whose texels are as large as it, from the picture as it is
 * processed. The projection must live as long as the export, or until another is set; NULL: there is none. A
 * projection with a basis needs features. Errors: ARGUMENT (crops, a video).
 */
TVLM_API tvlm_status tvlm_export_set_projection(tvlm_export *exported, const tvlm_projection *projection);

/*
 * What the application hands in beside pictures and features, where a scorer, an emphasis or the default score
 * reads it: attention, depth, a map of saliency, regions, planes of its own.
 *
 *     static tvlm_status hand_in(void *user, int32_t image, tvlm_stack *stack) {
 *         const struct tvlm_grid_input *maps = user;
 *         return tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_SALIENCY, &maps[image]);
 *     }
 *
 *     tvlm_export_set_inputs(exported, &(struct tvlm_export_inputs){.set = hand_in, .user = maps});
 */
struct tvlm_export_inputs {
    /*
     * Called within tvlm_export_run before the tokens of an image, or of a frame, are scored. `image` is its
     * number in the run. The stack holds the picture as it is processed (of LLaVA and CLIP the middle of the
     * image), without what is black around it, and goes with it. Any status but OK ends the run with it. NULL:
     * nothing is handed in.
     */
    tvlm_status (*set)(void *user, int32_t image, tvlm_stack *stack);
    void *user;
    /* The regions of each picture, as in tvlm_stack_params; 0 means the default. */
    int32_t clusters;
    /* The network of each picture's stack, as in tvlm_stack_params, for a scorer, an emphasis or a projection that reads its
     * outputs. It must live until other inputs are set, or the export is destroyed. NULL: there is none. */
    const tvlm_network *network;
    uint64_t reserved[3];
};
/* Sets what later runs are handed in; NULL: nothing. Errors: ARGUMENT; a run with clusters or a network that no stack takes
 * fails as tvlm_stack_create does. */
TVLM_API tvlm_status tvlm_export_set_inputs(tvlm_export *exported, const struct tvlm_export_inputs *inputs);

/*
 * Processes `count` pictures, scores their tokens, and selects the best. The call waits for the scores; the
 * tensors are enqueued.
 *
 *   - `features` is NULL, or has an entry for each picture (whose data may be NULL): the encoder's vectors,
 *     as for tvlm_stack_set_grid of TVLM_CHANNEL_FEATURE_0, of the picture as it is processed; for LLaVA and
 *     CLIP that is what they cut out of the middle. They are read only during the call.
 *   - `queries` is NULL, or has an entry for each picture (score.h; all zero means none), in the same frame:
 *     vectors, where there are features to answer from, or a map of similarities.
 *   - A budget that is less than all tokens is shared among several pictures in proportion to their tokens,
 *     with at least one for each. Ties go to the lower token.
 *   - Of a video, the best tokens of the whole clip are selected.
 *   - The frames of a stream (Qwen2-VL and 2.5) may come two at a time, each pair in a run of its own. Rows
 *     and scores are then those that the pair has in the whole clip; t is 0, the budget is the pair's own,
 *     and nothing grows with the stream.
 *
 * Errors: ARGUMENT (sizes, budget, no pictures, features or a query that the stack or the score refuses),
 * MEMORY, DEVICE_MEMORY (also before any work is done, if the pixel_values of a picture are more than the
 * device's largest allocation, or than 8 GiB). After an error the export holds no tensors.
 */
TVLM_API tvlm_status tvlm_export_run(tvlm_export *exported, const tvlm_image *images, int32_t count,
                                     const struct tvlm_grid_input *features,
                                     const struct tvlm_query *queries);

/* Returns which of its images the last run failed at; -1 if it did not fail, or not at one of them. */
TVLM_API int32_t tvlm_export_failed_image(const tvlm_export *exported);

/* What a picture, or the video, has become. */
typedef struct tvlm_export_picture {
    /* The processed size, in pixels. */
    int32_t width, height;
    /* Its patches in time, down and across: a row of image_grid_thw. Of crops, these. */
    int32_t grid_t, grid_h, grid_w;
    /* How many tokens it has, and how many of them are selected. */
    int32_t tokens, selected;
    /* The number of its first token, which follows those of earlier pictures. */
    int32_t first_token;
    /* The image that it is made of. */
    int32_t source;
    /* The size, h and w, at which it shows that image, as a share of the full picture's: 1, 3/4, 1/2, about 1/3 or
     * 1/4; of a thumbnail what its grid makes of it. What is black, or a repeated border, is not counted. */
    float scale_h, scale_w;
    uint32_t reserved[5];
} tvlm_export_picture;
TVLM_API int32_t tvlm_export_picture_count(const tvlm_export *exported);
TVLM_API tvlm_status tvlm_export_get_picture(const tvlm_export *exported, int32_t index,
                                             tvlm_export_picture *picture);

/*
 * The tensors of the last run are these, in this order. N is the number of tokens, K that of the selected
 * ones, and F = 3 * temporal * patch^2.
 *
 *   pixel_values           float  Qwen-VL: [N * 4, F], permuted as below; else [pictures, 3, side, side]
 *   image_grid_thw         int64  [pictures, 3]: patches in t, h, w. Qwen-VL only
 *   selected_indices       int64  [K]: tokens, rising
 *   selected_pixel_values  float  Qwen-VL: [K * 4, F], rows of pixel_values; else [K, F], patches as planes
 *   selected_positions     int64  [K, 3]: t, h, w of each token in its picture's grid of tokens
 *   selected_images        int64  [K]: the picture that each is of
 *   selected_scores        float  [K]
 *   visual_tokens          float  [K, outputs]: what a projection makes of each token. With a projection only
 *   scores                 float  [N]
 *   picture_source         int64  [pictures]: the image that each is of. With the strategy budget, or an overview
 *   picture_scale          float  [pictures, 2]: scale_h, scale_w of each. With these, too
 *   image_sizes            int64  [images, 2]: h, w as they were handed in. LLaVA-OneVision only
 *
 * With params.video the first two are called pixel_values_videos and video_grid_thw. With crops the values are
 * [N, 3, side, side] and [K, 3, side, side], and the second tensor is called crop_grids: t, h, w in crops.
 * (The processor of LLaVA-OneVision makes [images, most crops, 3, side, side] of them, filled up with 0; the
 * model takes either.)
 *
 * *Scores* of the strategy budget: 1 of each chosen token of a thumbnail; of a tile what it lowers the loss by, as a
 * share of what the thumbnail loses; 0 of tokens that are not chosen. Of crops, each has the share that the
 * thumbnail loses in it.
 *
 * *Positions* are places in the grid of tokens. M-RoPE adds those of a picture, and of Qwen2-VL's videos, as
 * they are to the place in the text where the picture begins. For Qwen2.5's videos, first multiply t by
 * second_per_grid_t * tokens_per_second (whole numbers). Qwen3 has t = 0 in each moment, and writes its time
 * into the text before it.
 *
 * *Qwen-VL's pixel_values*, with P the patch, T = 2 frames, and gh x gw patches:
 *
 *     row     ((t*(gh/2) + by)*(gw/2) + bx)*4 + my*2 + mx
 *     column  ((c*T + tt)*P + py)*P + px
 *     holds   channel c of frame t*T + tt at pixel row (by*2 + my)*P + py, pixel column (bx*2 + mx)*P + px
 *
 * A still fills both frames; if a video has an odd number of frames, its last one does.
 */
typedef struct tvlm_export_tensor {
    /* Static storage. */
    const char *name;
    /* The numbers are int64, else float. */
    bool integer;
    int32_t rank;
    int64_t shape[4];
    size_t bytes;
    uint64_t reserved[4];
} tvlm_export_tensor;
/* Returns how many tensors there are, which is 0 before a run; and describes one of them. */
TVLM_API int32_t tvlm_export_tensor_count(const tvlm_export *exported);
TVLM_API tvlm_status tvlm_export_get_tensor(const tvlm_export *exported, int32_t index,
                                            tvlm_export_tensor *tensor);

/* Reads a tensor to the host, row-major. `data` has room for `capacity` bytes. The call waits. */
TVLM_API tvlm_status tvlm_export_read(tvlm_export *exported, int32_t index, size_t capacity, void *data);

#ifdef __cplusplus
}
#endif
#endif
