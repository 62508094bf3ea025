/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h: makes the tensors that the encoder of a vision-language model takes as its input: those of all tokens,
 * and those of the tokens that matter most.
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
 * *Numbers.* Pictures are resized, normalised and cut into patches as the model's own processor does it (the
 * classes of Hugging Face `transformers` that run on Pillow):
 *   - They are resized by Pillow's antialiased bicubic filter with its 22-bit weights, rounded to bytes after each
 *     of its two passes.
 *   - They are normalised in float: bytes / 255, less mean, over std.
 * The numbers are the processor's own to the bit, with Pillow before 13, or with 13.0.0 where params.pillow says
 * so. Only the decoding of a JPEG may differ. (The default processors of transformers 5 are torchvision's, whose
 * bytes are up to two steps off; those that run on Pillow are named ...Pil there.)
 *
 * *Tokens.* A token is what the language model sees as one: in Qwen-VL a merge block of 2 x 2 patches of two
 * frames, and in LLaVA, CLIP and SigLIP a patch. Class tokens are not counted. Tokens are numbered picture after
 * picture, and in a picture row after row. They are scored (score.h) on the picture as the encoder sees it, in a
 * stack of the resized picture. The candidates are the squares of the tokens (stride = merge * patch), so that no
 * cell is shared by two tokens. A token of two frames is scored in both, and has the better of the two scores.
 *
 * *The strategy budget* (select.h) makes several pictures of each image. A model takes them as so many images, one
 * behind the other, each with positions of its own. A patch of the strategy is a token here. The pictures of
 * Qwen-VL are, in this order:
 *   - the thumbnail: the image resized to the strategy's grid of tokens. All its tokens are chosen, except those
 *     of empty cells (tvlm_selection_empty), which are in pixel_values alone. There is no thumbnail where all
 *     tokens of the full picture are chosen.
 *   - the full picture, as the processor makes it. Its chosen tokens are the tiles of level 0; there may be none.
 *   - where nines are chosen, the image at three quarters of the full picture's size;
 *   - where tiles at half, at a third or at a quarter are chosen, the image at half, at a third (to the nearest
 *     pixel) or at a quarter of that size.
 * The nines and tiles are the chosen tokens of these smaller pictures. Where such a size is not a whole number of
 * tokens, the picture's border is repeated.
 *
 * So the language model sees N tokens for a budget of N. A vision tower that can take the chosen tokens of one
 * picture (tests/python/check_pruned.py) can take those of several.
 *
 * *Crops.* LLaVA-OneVision and InternVL take a thumbnail of one size, and the image as crops of that size. For
 * them crops are chosen, and not tokens: the thumbnail always, and the crops in which it loses most (select.h,
 * budget: the loss, times what matters). What is said of tokens below is true of crops, with one exception: the
 * budget still counts tokens, and a crop has `(side / (patch * merge))^2` of them. (LLaVA-OneVision itself adds a
 * token at the end of each row, and leaves out what is black when it is given all crops.)
 *
 * The crops of an image are one picture, and the thumbnail is another. In LLaVA-OneVision the thumbnail comes
 * before the crops. In InternVL it comes behind them, and an image of a single crop has none.
 *
 * *Colours.* Pixels become RGB as Pillow's convert("RGB") makes them:
 *   - Alpha is dropped, and not composited as everywhere else in this library.
 *   - Gray is repeated, and palettes are looked up by the loader.
 *   - Of 16 bits the upper byte is kept. Gray pictures of 16 bits without alpha are an exception: as in Pillow,
 *     their values above 255 become 255. That nearly always gives a white picture, and a warning says so.
 *   - Floats are rounded to bytes.
 * tvlm_image_load turns pictures by their EXIF orientation; transformers leaves that to its caller
 * (PIL.ImageOps.exif_transpose).
 */
#ifndef TEXTUREVLM_EXPORT_H
#define TEXTUREVLM_EXPORT_H

#include "input.h"
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

/* tvlm_export_model_name returns the name of a model: "qwen3-vl", "qwen2.5-vl", "qwen2-vl", "llava", "siglip",
 * "clip", "llava-onevision" or "internvl"; "unknown" for values outside the enum. tvlm_export_model_find returns
 * the model of a name, or -1. */
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
 * *Crops.* The crops of LLaVA-OneVision are made by the processor's anyres scheme, with the image_grid_pinpoints
 * of the released checkpoints. The image lies in the middle of them, with black beside it. Where the number of
 * black rows or columns is odd, the larger half is at the right and below, as in transformers 4.57.1. (The class
 * of 4.47.1 leaves out that row or column of pixels, and enlarges the crops there by one.) The crops of InternVL
 * are made by the dynamic preprocessing of GotOcr2ImageProcessor with crop_to_patches, 1 to 12 crops.
 *
 * *Videos of Qwen2-VL and 2.5.* The limits hold for each frame, and are those of pictures. It is so in
 * transformers 4.47.1, where Qwen2VLImageProcessor takes pictures and videos. In 4.57.1 Qwen2VLVideoProcessor has
 * the same rule, and takes the same limits from a checkpoint that has no file for videos. (The class made without
 * a checkpoint has 100352 .. 602112.)
 *
 * *Videos of Qwen3-VL.* The limits hold for all frames together: 4096 .. 25165824. Those are the limits of
 * Qwen3VLVideoProcessor (4.57.1) with video_preprocessor_config.json of a released checkpoint. (The class made
 * without one has 131072 .. 786432.)
 *
 * *Frames* are resized by Pillow's rule, as pictures are. transformers 4.57.1 uses torchvision for that, whose
 * bytes differ here and there. All frames that are handed in are in the tensors: the caller chooses which frames
 * of a film to take.
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
    /* true: the picture keeps its shape, and the rest of the crops is black; `crops` is then the most crops along
     * a side. false: the picture is stretched to the crops. */
    bool padded;
    uint64_t reserved[3];
} tvlm_export_processor;

/* Tells the defaults of a model. Errors: ARGUMENT (there is no such model). */
TVLM_API tvlm_status tvlm_export_processor_get(tvlm_export_model model, tvlm_export_processor *processor);

/*
 * Finds the size that Qwen-VL's processor gives a picture, by the rule of smart_resize in transformers (ties to
 * even). The size has about the picture's shape, and min_pixels to max_pixels in all. Its sides are multiples of
 * patch * merge, and at least that. Errors: ARGUMENT (an aspect ratio above 200, sides below 1, limits that are no
 * range or below one token).
 */
TVLM_API tvlm_status tvlm_smart_resize(const tvlm_export_processor *processor, int32_t width, int32_t height,
                                       const tvlm_log *log, int32_t *resized_width, int32_t *resized_height);

/*
 * Finds the size of each frame of a video. With video_max_pixels 0 it is that of a picture. Otherwise the rule is
 * Qwen3-VL's smart_resize (transformers 4.57.1). It keeps frames * width * height between the two limits; for that
 * comparison the number of frames is rounded to whole tokens. Frames with a side shorter than a token are treated
 * as if they were enlarged until that side is a token, as in transformers 5.23 (4.57.1 refuses them). Errors:
 * ARGUMENT (as above; fewer frames than one token has).
 */
TVLM_API tvlm_status tvlm_smart_resize_video(const tvlm_export_processor *processor, int32_t frames,
                                             int32_t width, int32_t height, const tvlm_log *log,
                                             int32_t *resized_width, int32_t *resized_height);

/*
 * Finds into how many crops the processor cuts a picture, across and down.
 *   - LLaVA-OneVision has the rule of select_best_resolution of transformers (4.47.1), which chooses among all
 *     grids of up to `crops` crops along each side.
 *   - InternVL has the rule of get_optimal_tiled_canvas (GotOcr2ImageProcessor of 4.57.1), which chooses among
 *     those of up to `crops` crops in all.
 * Errors: ARGUMENT (a processor without crops, or with more than 64; sizes below 1).
 */
TVLM_API tvlm_status tvlm_crop_grid(const tvlm_export_processor *processor, int32_t width, int32_t height,
                                    const tvlm_log *log, int32_t *columns, int32_t *rows);

struct tvlm_export_params {
    tvlm_export_model model;
    /* The limits of pixels of Qwen-VL, or, with `video`, those of its videos. 0 means the model's. */
    int64_t min_pixels, max_pixels;
    /* The side and the patch of the other models; 0 means the model's. */
    int32_t side, patch;
    /* The most tokens that are selected, over all pictures. It is at least one token for each image; for models
     * that take crops, it is at least the tokens of one crop for each image. 0 means a quarter of each image's
     * tokens, or crops. */
    int32_t budget;
    /* Every token is selected. This is refused together with a budget, a share or a tolerance. */
    bool all;
    /* Qwen-VL: the pictures are consecutive frames of one video, of one size. Two frames make a token. */
    bool video;
    /* The format of the stack in which tokens are scored. */
    tvlm_format format;
    /* How tokens are scored. Two members may be given: `weights`, which are copied, and `scorer`, which must live
     * as long as the export. The others are refused, since the candidates are always the tokens of each picture.
     * With the strategy budget `weights` are refused, too, and a scorer says what matters, as a question does
     * (select.h, emphasis). */
    struct tvlm_score_params score;
    /* How tokens are chosen.
     *   - TVLM_STRATEGY_GRID takes the best of each picture. It is refused for models that take crops.
     *   - TVLM_STRATEGY_BUDGET is described above. It is refused for a video, and for models that take one square.
     *   - 0 means the budget for models that take crops, and where a tolerance or an emphasis is given, or a share of
     *     pictures of Qwen-VL; else the grid. */
    tvlm_strategy strategy;
    /*
     * Parameters of the strategy budget, as in select.h. A share and a tolerance take the place of `budget`, the number
     * of tokens:
     *   - A share is one of each image's tokens, or crops. The strategy grid takes it, too, for every model that has
     *     that strategy, and of a video it is one of all its tokens. A share that comes to less than one is refused.
     *   - A tolerance is refused where tokens are chosen by their score: with the strategy grid, for a video, and for
     *     models that take one square.
     *   - With a tolerance, each image of models that take tokens gets the fewest tokens whose predicted loss is at
     *     most this share of what a thumbnail of one token loses. TVLM_EXPLICIT_ZERO: all tokens are taken,
     *     except those that equal a token beside or above them.
     *   - Of models that take crops, a tolerance leaves out the crops in which the thumbnail loses least. What it loses
     *     in all of these together is at most this share of what a thumbnail of one 16 x 16 patch loses of the image.
     *     TVLM_EXPLICIT_ZERO: only crops in which the thumbnail loses nothing are left out.
     */
    struct tvlm_budget_params spending;
    /* The version of Pillow whose resize is computed. From 13 on the two passes are in the other order where the
     * height shrinks by more than twice what the width does, and bytes are rounded differently. 0 means a version
     * before 13. */
    int32_t pillow;
    uint32_t reserved[2];
};
#define tvlm_export_params(...) TVLM_PARAMS(tvlm_export_params, __VA_ARGS__)

/* An export makes tensors in any number of runs, and keeps its device memory from run to run. */
typedef struct tvlm_export tvlm_export;

/* Creates an export, which must be destroyed before its device. `params` NULL means all defaults. Errors:
 * ARGUMENT, MEMORY. */
TVLM_API tvlm_status tvlm_export_create(tvlm_device *device, const struct tvlm_export_params *params,
                                        tvlm_export **exported);
TVLM_API void tvlm_export_destroy(tvlm_export **exported);

/*
 * Gives a share of each image's tokens, 0 to 1, to an overview in later runs. 0 means that there is none.
 *
 * The overview is a picture of the whole image, like the thumbnail of the strategy budget. It comes before the
 * full picture, and all its tokens are chosen. The rest of the image's tokens are the best of the full picture.
 * The overview's grid has the smallest tokens with which that share covers the whole image (select.h: overview).
 * With an overview there are the tensors picture_source and picture_scale, too.
 *
 * Errors: ARGUMENT (a share that is not 0 to 1; a model that takes crops or one square; a video; all tokens; the
 * strategy budget). A run fails with ARGUMENT where the share comes to less than one token of an image.
 */
TVLM_API tvlm_status tvlm_export_set_overview(tvlm_export *exported, float share);

/*
 * What the application hands in beside pictures and features: attention, depth, a map of saliency, regions, or
 * planes of its own. That is of use where a scorer, an emphasis or the default score reads it.
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
     * tvlm_export_run calls it before the tokens of an image, or of a frame, are scored. `image` is the number of
     * the image or frame in the run. The stack holds the picture as it is processed (for LLaVA and CLIP the middle
     * of the image), without the black around it. Each image, or frame, has a stack of its own, which the export
     * destroys with all that was handed in. If the function returns another status than OK, the run ends with that
     * status. NULL: nothing is handed in.
     */
    tvlm_status (*set)(void *user, int32_t image, tvlm_stack *stack);
    void *user;
    /* The number of regions of each picture, as in tvlm_stack_params; 0 means the default. */
    int32_t clusters;
    /* The network of each picture's stack, as in tvlm_stack_params. It is for a scorer, an emphasis or a
     * projection that reads the network's outputs. It must live until other inputs are set, or the export is
     * destroyed. NULL: there is none. */
    const struct tvlm_network *network;
    uint64_t reserved[3];
};
/* Sets the inputs of later runs; NULL means none. Errors: ARGUMENT. A run fails as tvlm_stack_create does if no
 * stack takes the number of regions or the network. */
TVLM_API tvlm_status tvlm_export_set_inputs(tvlm_export *exported, const struct tvlm_export_inputs *inputs);

/*
 * Processes `count` pictures, scores their tokens, and selects the best. The call waits for the scores. The work
 * that makes the tensors is only enqueued.
 *
 *   - `features` is NULL, or has an entry for each picture, whose data may be NULL. An entry is the encoder's
 *     vectors, as for tvlm_stack_set_grid of TVLM_CHANNEL_FEATURE_0. They cover the picture as it is processed;
 *     for LLaVA and CLIP that is what is cut out of the middle. They are read only during the call.
 *   - `queries` is NULL, or has an entry for each picture (score.h; all zero means that nothing is asked). An
 *     entry has vectors, where there are features to answer from, or a map of similarities, which covers what the
 *     features would.
 *   - A budget of fewer than all tokens is shared among several images in proportion to their tokens, with at
 *     least one for each. Of tokens with equal scores the one with the lower number is selected.
 *   - Of a video, the best tokens of the whole clip are selected.
 *   - The frames of a stream (Qwen2-VL and 2.5) may come two at a time, each pair in a run of its own. Rows
 *     and scores are then those that the pair has in the whole clip. But t is 0, the budget is the pair's own, and
 *     memory and time do not grow with the stream.
 *
 * Errors: ARGUMENT (sizes, budget, no pictures, features or a query that the stack or the score refuses), MEMORY,
 * DEVICE_MEMORY. Where the pixel_values of a picture are more than the device's largest allocation, or than 8 GiB,
 * DEVICE_MEMORY is returned before any work is done. After an error the export holds no tensors.
 */
TVLM_API tvlm_status tvlm_export_run(tvlm_export *exported, const tvlm_image *images, int32_t count,
                                     const struct tvlm_grid_input *features,
                                     const struct tvlm_query *queries);

/* Returns the number of the image at which the last run failed. It is -1 if the run did not fail, or if the error
 * was not about one image. */
TVLM_API int32_t tvlm_export_failed_image(const tvlm_export *exported);

/* A picture, or the video, as a run has made it. */
typedef struct tvlm_export_picture {
    /* The processed size, in pixels. */
    int32_t width, height;
    /* Its patches in time, down and across: a row of image_grid_thw. For models that take crops, it is the number
     * of crops instead of patches. */
    int32_t grid_t, grid_h, grid_w;
    /* How many tokens it has, and how many of them are selected. */
    int32_t tokens, selected;
    /* The number of its first token. Numbers go on from those of the earlier pictures. */
    int32_t first_token;
    /* The image that it is made of. */
    int32_t source;
    /* The size, h and w, at which it shows that image, as a share of the size in the full picture: 1, 3/4, 1/2,
     * about 1/3 or 1/4; for a thumbnail, what its grid gives. Black and repeated borders are not counted. */
    float scale_h, scale_w;
    uint32_t reserved[5];
} tvlm_export_picture;
TVLM_API int32_t tvlm_export_picture_count(const tvlm_export *exported);
TVLM_API tvlm_status tvlm_export_get_picture(const tvlm_export *exported, int32_t index,
                                             tvlm_export_picture *picture);

/*
 * These are the tensors of the last run, in this order. N is the number of tokens, K the number of selected
 * tokens, and F = 3 * temporal * patch^2.
 *
 *   pixel_values           float  Qwen-VL: [N * 4, F], permuted as below; else [pictures, 3, side, side]
 *   image_grid_thw         int64  [pictures, 3]: patches in t, h, w. Qwen-VL only
 *   selected_indices       int64  [K]: tokens, rising
 *   selected_pixel_values  float  Qwen-VL: [K * 4, F], rows of pixel_values; else [K, F], patches as planes
 *   selected_positions     int64  [K, 3]: t, h, w of each token in its picture's grid of tokens
 *   selected_images        int64  [K]: the picture of each token
 *   selected_scores        float  [K]
 *   visual_tokens          float  [K, outputs]: what a projection (lab/projection.h) makes of each token. With one only
 *   scores                 float  [N]
 *   picture_source         int64  [pictures]: the image of each. With the strategy budget, or an overview, only
 *   picture_scale          float  [pictures, 2]: scale_h, scale_w of each. Where there is picture_source
 *   image_sizes            int64  [images, 2]: h, w as they were handed in. LLaVA-OneVision only
 *
 * With params.video the first two are called pixel_values_videos and video_grid_thw.
 *
 * With crops the values are [N, 3, side, side] and [K, 3, side, side], and the second tensor is called crop_grids:
 * t, h, w in crops. (The processor of LLaVA-OneVision makes one tensor [images, most crops, 3, side, side] of the
 * values, filled up with 0. The model takes either.)
 *
 * *Scores* of the strategy budget are
 *   - 1 for each chosen token of a thumbnail;
 *   - for a tile, what it lowers the loss by, as a share of what the thumbnail loses;
 *   - 0 for tokens that are not chosen;
 *   - for a crop, what the thumbnail loses in it, as a share of all that it loses.
 *
 * *Positions* are places in the grid of tokens. M-RoPE adds them to the place in the text where the picture
 * begins:
 *   - For pictures, and for videos of Qwen2-VL, they are added as they are.
 *   - For videos of Qwen2.5-VL, first multiply t by second_per_grid_t * tokens_per_second (whole numbers).
 *   - For videos of Qwen3-VL, t is 0 for each moment, whose time is written into the text before it.
 *
 * *Qwen-VL's pixel_values*, with P the patch, T = 2 frames, and gh x gw patches:
 *
 *     row     ((t*(gh/2) + by)*(gw/2) + bx)*4 + my*2 + mx
 *     column  ((c*T + tt)*P + py)*P + px
 *     holds   channel c of frame t*T + tt at pixel row (by*2 + my)*P + py, pixel column (bx*2 + mx)*P + px
 *
 * A still picture fills both frames, and so does the last frame of a video with an odd number of frames.
 */
typedef struct tvlm_export_tensor {
    /* The tensor's name, in static storage. */
    const char *name;
    /* true: the numbers are int64. false: they are float. */
    bool integer;
    int32_t rank;
    int64_t shape[4];
    size_t bytes;
    uint64_t reserved[4];
} tvlm_export_tensor;
/* tvlm_export_tensor_count returns how many tensors there are, which is 0 before a run. tvlm_export_get_tensor
 * describes one of them. */
TVLM_API int32_t tvlm_export_tensor_count(const tvlm_export *exported);
TVLM_API tvlm_status tvlm_export_get_tensor(const tvlm_export *exported, int32_t index,
                                            tvlm_export_tensor *tensor);

/* Reads a tensor to the host, row-major. `data` has room for `capacity` bytes. The call waits. */
TVLM_API tvlm_status tvlm_export_read(tvlm_export *exported, int32_t index, size_t capacity, void *data);

/*
 * Which picture a model should be given: predictions, before anything is made.
 *
 *     static const tvlm_picture pictures[] = {{20, 15}, {40, 30}};
 *     tvlm_prediction *prediction = NULL;
 *     float smaller, pruned;
 *     if (tvlm_predict(stack, NULL, tvlm_select_params(.patch = 28), pictures, 2, &prediction) == TVLM_OK) {
 *         tvlm_prediction_loss(prediction, 0, NULL, &smaller);     // all 300 tokens of a picture of 560 x 420 pixels
 *         tvlm_prediction_keep(prediction, 1, 300, NULL, &pruned); // 300 of the 1200 tokens of one of 1120 x 840
 *         tvlm_prediction_destroy(&prediction);
 *     }
 *
 * A picture is the whole image, resized to columns x rows tokens. A token is a square of `patch` pixels.
 *
 * Losses are those of the strategy budget (select.h), weighed as with a tolerance: 0 where nothing is lost, and 1
 * where a picture of one token would be shown. Where a token is left out, the image loses
 *   - hardly anything, if the token is blank: what is around it shows what is there;
 *   - as much as with the token, if it repeats the token to the left or the one above, as along a line or an
 *     edge, and that one is shown. It repeats that one if no pixel changes from there on. Where a line ends
 *     before a blank token, the last token of the line repeats none;
 *   - otherwise, what a picture of one token loses there.
 * Compare losses within one prediction: between two they may differ by a hundredth, since how much detail an image
 * has is measured by all pictures together. A prediction is about pixels. It knows nothing of what a model can do
 * with tokens that have holes between them.
 */
typedef struct tvlm_picture {
    int32_t columns, rows; /* tokens along each side, 1 .. 4096 */
} tvlm_picture;

/* The most pictures of one prediction. */
#define TVLM_PICTURES_MAX 32

/* What was found of some pictures of one image. It needs neither the stack nor its device any more. Two threads
 * must not use one prediction at the same time. */
typedef struct tvlm_prediction tvlm_prediction;

/*
 * Measures what `count` pictures, 1 .. TVLM_PICTURES_MAX, lose of one image of the stack. Of `params` it reads the
 * patch (here the side of a token), score.index, and what says which parts of the image matter (budget.emphasis
 * and what it counts, with the query); NULL means the defaults. *prediction is the caller's, to be destroyed; it
 * is set on success only. Waits. Errors: ARGUMENT (what tvlm_select refuses for budget, sizes, no pictures or too
 * many), MEMORY, DEVICE_MEMORY, DEVICE.
 */
TVLM_API tvlm_status tvlm_predict(tvlm_stack *stack, const struct tvlm_query *query,
                                  const struct tvlm_select_params *params, const tvlm_picture *pictures,
                                  int32_t count, tvlm_prediction **prediction);

/* Frees a prediction and sets *prediction to NULL. NULL and *NULL are fine. */
TVLM_API void tvlm_prediction_destroy(tvlm_prediction **prediction);

/*
 * Says what is seen where a token is not shown: picture number `index` of the same prediction, which the model gets
 * beside the others, whole, as an overview. -1: a picture of one token, as at first. What the functions below say
 * is then about a picture with that overview beside it, without the tokens that the overview takes. Takes as long
 * as sorting the tokens of all pictures. Errors: ARGUMENT.
 */
TVLM_API tvlm_status tvlm_prediction_set_overview(tvlm_prediction *prediction, int32_t index);

/* Says in *loss what picture number `index` loses. kept[columns * rows] is not 0 for the tokens that are kept, row
 * after row; NULL: all are. Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_prediction_loss(tvlm_prediction *prediction, int32_t index, const uint8_t *kept,
                                          float *loss);

/* How a token of a picture is shown. */
typedef enum tvlm_token_shown {
    TVLM_TOKEN_LOST = 0,  /* not at all */
    TVLM_TOKEN_KEPT = 1,  /* it is kept */
    TVLM_TOKEN_BLANK = 2, /* it is blank: what is around it shows its colour */
    TVLM_TOKEN_LEFT = 3,  /* it repeats the token to the left, which is kept or repeats another */
    TVLM_TOKEN_ABOVE = 4  /* the same, of the token above */
} tvlm_token_shown;

/* Says in shown[columns * rows] how each token of a picture is shown, as a tvlm_token_shown, where those of `kept`
 * are kept (as above). Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_prediction_shown(tvlm_prediction *prediction, int32_t index, const uint8_t *kept,
                                           uint8_t *shown);

/*
 * Keeps the n tokens of a picture, 0 .. columns * rows, whose absence would lose most; of equal ones the first.
 * Blank ones, and those that repeat another, come last. kept[columns * rows] becomes 1 for each of them, else 0.
 * *loss becomes what the picture then loses. Either may be NULL. Errors: ARGUMENT.
 */
TVLM_API tvlm_status tvlm_prediction_keep(tvlm_prediction *prediction, int32_t index, int32_t n,
                                          uint8_t *kept, float *loss);

/* Says in *n how few tokens of a picture lose no more than `tolerance`, 0 .. 1, when they are kept by
 * tvlm_prediction_keep; -1: the picture loses more even with all its tokens. Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_prediction_least(tvlm_prediction *prediction, int32_t index, float tolerance,
                                           int32_t *n);

#ifdef __cplusplus
}
#endif
#endif
