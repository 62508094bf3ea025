/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h: the tensors that a vision-language model's encoder takes as they are, in full and of the chosen
 * tokens.
 *
 * Pictures are resized, normalised and cut as the model's own processor (Hugging Face `transformers`, the
 * classes that run on Pillow) does it: Pillow's antialiased bicubic with its 22-bit weights, rounded to bytes
 * after each of its two passes; then bytes / 255, less mean, by std in float. The numbers are the processor's
 * own to the bit; what may differ is how a JPEG is decoded.
 *
 * A *token* is what the language model sees as one: a merge block of 2 x 2 patches of two frames in Qwen-VL,
 * a patch in LLaVA, CLIP and SigLIP (a class token is not counted). Tokens are numbered picture after
 * picture, row after row. Their score is the library's (score.h) on the picture as the encoder sees it: a
 * stack of the resized picture, whose candidates are the tokens' own squares (stride = merge * patch), so no
 * cell is shared by two tokens. A token of two frames has the better of their two scores.
 *
 * Pixels become RGB as Pillow's convert("RGB") makes them: alpha is dropped (not composited, unlike
 * everywhere else in this library), gray is repeated, palettes are looked up by the loader. Of 16 bits the
 * upper byte is kept; but of 16-bit gray pictures values above 255 become 255, as there: nearly always a
 * white picture, and a warning says so. Floats are rounded to bytes. tvlm_image_load turns pictures by their
 * EXIF orientation; transformers leaves that to its caller (PIL.ImageOps.exif_transpose).
 */
#ifndef TEXTUREVLM_EXPORT_H
#define TEXTUREVLM_EXPORT_H

#include "input.h"
#include "score.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tvlm_export_model {
    TVLM_EXPORT_QWEN3_VL = 0,
    TVLM_EXPORT_QWEN2_5_VL,
    TVLM_EXPORT_QWEN2_VL,
    TVLM_EXPORT_LLAVA,
    TVLM_EXPORT_SIGLIP,
    TVLM_EXPORT_CLIP
} tvlm_export_model;
#define TVLM_EXPORT_MODELS 6

/* "qwen3-vl", "qwen2.5-vl", "qwen2-vl", "llava", "siglip", "clip"; "unknown" for values outside the enum. The
 * model of that name, or -1. */
TVLM_API const char *tvlm_export_model_name(tvlm_export_model model);
TVLM_API int tvlm_export_model_find(const char *name);

/*
 * What a model's processor does.
 *
 *              patch  frames  merge  size                                     mean, std
 *   qwen3-vl     16     2       2    smart_resize, 65536 .. 16777216 pixels   0.5, 0.5
 *   qwen2.5-vl   14     2       2    smart_resize, 3136 .. 12845056           CLIP's
 *   qwen2-vl     14     2       2    smart_resize, 3136 .. 12845056           CLIP's
 *   llava        14     1       1    shortest side to 336, centre 336 x 336   CLIP's
 *   siglip       16     1       1    to 224 x 224, whatever its shape         0.5, 0.5
 *   clip         14     1       1    shortest side to 224, centre 224 x 224   CLIP's
 *
 * The limits are those of the released checkpoints' preprocessor_config.json. The class Qwen2VLImageProcessor
 * made without one has at most 1003520. For ViT-B/32 give clip a patch of 32, for so400m-patch14-384 siglip a
 * side of 384 and a patch of 14.
 *
 * Videos. Qwen2-VL's and 2.5's limits count each frame, and are those of pictures, as in transformers 4.47.1,
 * where Qwen2VLImageProcessor takes both. In 4.57.1 Qwen2VLVideoProcessor has the same rule, and takes the
 * same limits from a checkpoint that has no file for videos; the class made without one has 100352 .. 602112.
 * Qwen3-VL's count all frames together, 4096 .. 25165824, as Qwen3VLVideoProcessor of 4.57.1 with a released
 * checkpoint's video_preprocessor_config.json; the class without one has 131072 .. 786432. Frames are resized
 * as pictures are, by Pillow's rule; 4.57.1 has torchvision for that, whose bytes differ here and there.
 * Which frames of a film are taken is the caller's choice: all that are handed in are in the tensors.
 */
typedef struct tvlm_export_processor {
    int32_t patch, temporal, merge;
    int32_t side;                   /* of the processed square; 0: smart_resize */
    bool centre;                    /* the shortest side becomes `side`, and the middle is cut out */
    int64_t min_pixels, max_pixels; /* of smart_resize */
    int64_t video_min_pixels, video_max_pixels; /* of all frames of a video; 0: each is as a picture */
    float mean[3], std[3];
    uint64_t reserved[4];
} tvlm_export_processor;

/* The model's defaults. ARGUMENT for a model that is none. */
TVLM_API tvlm_status tvlm_export_processor_get(tvlm_export_model model, tvlm_export_processor *processor);

/*
 * The size that Qwen-VL's processor gives a picture: sides that are multiples of patch * merge, about the
 * picture's shape, between min_pixels and max_pixels in all (a side is never less than one multiple). Equal
 * to transformers' smart_resize (ties to even). Errors, each with its line: ARGUMENT for an aspect ratio
 * above 200, a side shorter than one patch, limits that are no range or below one token.
 */
TVLM_API tvlm_status tvlm_smart_resize(const tvlm_export_processor *processor, int32_t width, int32_t height,
                                       const tvlm_log *log, int32_t *resized_width, int32_t *resized_height);

/*
 * The size of each frame of a video. With video_max_pixels 0, a picture's; else that of Qwen3-VL's
 * smart_resize (transformers 4.57.1), which holds frames * width * height between the two limits, the frames
 * counted in whole tokens where they are compared with them. Errors then: ARGUMENT as above, for less than
 * one token of frames, and for a side shorter than a token.
 */
TVLM_API tvlm_status tvlm_smart_resize_video(const tvlm_export_processor *processor, int32_t frames,
                                             int32_t width, int32_t height, const tvlm_log *log,
                                             int32_t *resized_width, int32_t *resized_height);

struct tvlm_export_params {
    tvlm_export_model model;
    int64_t min_pixels, max_pixels; /* of Qwen-VL, and with `video` of its videos; 0: the model's */
    int32_t side, patch;            /* of the others; 0: the model's */
    int32_t budget; /* tokens selected at most, over all pictures, >= their number; 0: a quarter of each
                       picture's */
    bool all;       /* every token; not together with a budget */
    bool video;     /* Qwen-VL: the pictures are consecutive frames, of one size, of one video: two of them a
                       token */
    tvlm_format format; /* of the stack that is scored */
    /* How tokens are scored: `weights`, which are copied, and `scorer`, which must live as long as the export.
     * The candidates are the tokens of each picture: the other members are refused. */
    struct tvlm_score_params score;
    uint64_t reserved[4];
};
#define tvlm_export_params(...) TVLM_PARAMS(tvlm_export_params, __VA_ARGS__)

/* Makes such tensors again and again; device memory is kept and reused while sizes stay. */
typedef struct tvlm_export tvlm_export;

/* `params` NULL: all defaults. Errors: ARGUMENT. The device must outlive it. */
TVLM_API tvlm_status tvlm_export_create(tvlm_device *device, const struct tvlm_export_params *params,
                                        tvlm_export **exported);
TVLM_API void tvlm_export_destroy(tvlm_export **exported);

/*
 * Processes `count` pictures, scores and selects. `features` NULL, or one for each picture (data NULL: none):
 * the encoder's vectors of the picture as it is processed (of what LLaVA and CLIP cut out of the middle,
 * say), as for tvlm_stack_set_grid of TVLM_CHANNEL_FEATURE_0; read during the call only. `queries` NULL, or
 * one for each picture (score.h; all zero: none), in the same frame: of vectors, where there are features to
 * answer from, or a map of similarities. Waits for the scores; the tensors are enqueued. A budget that is
 * less than all tokens is shared among several pictures in proportion to their tokens, at least one each: 1
 * is an error for two. Of a video the best tokens of the whole clip are chosen. A stream's frames (Qwen2-VL
 * and 2.5) may come two at a time, each pair a run: the rows and scores are those of the pair's moment in the
 * whole clip, t is 0, the budget the pair's own, and nothing grows with the stream. Ties go to the lower
 * token. Errors: ARGUMENT (bad sizes, budget, no pictures, features or a query that the stack or the score
 * refuses), MEMORY, DEVICE_MEMORY (also before any work, where a picture's pixel_values are more than the
 * device's largest allocation, or than 8 GiB); the export holds nothing then.
 */
TVLM_API tvlm_status tvlm_export_run(tvlm_export *exported, const tvlm_image *images, int32_t count,
                                     const struct tvlm_grid_input *features,
                                     const struct tvlm_query *queries);

/* Which of its images the last run failed at; -1: it did not, or not at one of them. */
TVLM_API int32_t tvlm_export_failed_image(const tvlm_export *exported);

/* What one picture (or the video) has become. */
typedef struct tvlm_export_picture {
    int32_t width, height;          /* processed, pixels */
    int32_t grid_t, grid_h, grid_w; /* patches: the row of image_grid_thw */
    int32_t tokens, selected;
    int32_t first_token; /* before it are those of earlier pictures */
    uint64_t reserved[4];
} tvlm_export_picture;
TVLM_API int32_t tvlm_export_picture_count(const tvlm_export *exported);
TVLM_API tvlm_status tvlm_export_get_picture(const tvlm_export *exported, int32_t index,
                                             tvlm_export_picture *picture);

/*
 * The tensors of the last run, in this order. N: tokens, K: selected ones, F = 3 * temporal * patch^2.
 *
 *   pixel_values           float  Qwen-VL: [N * 4, F], permuted as below; else [pictures, 3, side, side]
 *   image_grid_thw         int64  [pictures, 3]: patches in t, h, w. Qwen-VL only
 *   selected_indices       int64  [K]: tokens, rising
 *   selected_pixel_values  float  Qwen-VL: [K * 4, F], rows of pixel_values; else [K, F], patches as planes
 *   selected_positions     int64  [K, 3]: t, h, w of each token in its picture's grid of tokens
 *   selected_images        int64  [K]: the picture that each is of
 *   selected_scores        float  [K]
 *   scores                 float  [N]
 *
 * Positions are places in the grid of tokens. Of a picture, and of Qwen2-VL's videos, M-RoPE adds them as
 * they are to the place in the text where it begins. For Qwen2.5's videos multiply t by second_per_grid_t *
 * tokens_per_second first (whole numbers); Qwen3 has t = 0 in each moment, and writes its time into the text
 * before it. With params.video the first two are called pixel_values_videos and video_grid_thw.
 *
 * Qwen-VL, with P the patch, T = 2 frames, gh x gw patches:
 *   row     ((t*(gh/2) + by)*(gw/2) + bx)*4 + my*2 + mx,
 *   column  ((c*T + tt)*P + py)*P + px
 * holds channel c of frame t*T + tt at pixel row (by*2 + my)*P + py, column (bx*2 + mx)*P + px. A still fills
 * both frames; where a video has an odd number of them, the last one does.
 */
typedef struct tvlm_export_tensor {
    const char *name; /* static */
    bool integer;     /* int64, else float */
    int32_t rank;
    int64_t shape[4];
    size_t bytes;
    uint64_t reserved[4];
} tvlm_export_tensor;
TVLM_API int32_t tvlm_export_tensor_count(const tvlm_export *exported); /* 0 before a run */
TVLM_API tvlm_status tvlm_export_get_tensor(const tvlm_export *exported, int32_t index,
                                            tvlm_export_tensor *tensor);

/* Copies one to the host, row-major; `capacity` bytes there. Waits. */
TVLM_API tvlm_status tvlm_export_read(tvlm_export *exported, int32_t index, size_t capacity, void *data);

#ifdef __cplusplus
}
#endif
#endif
