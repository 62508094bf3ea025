/* SPDX-License-Identifier: Apache-2.0 */
/*
 * models.c: the processors of the models, and the size that each gives a picture.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/try.h"
#include "export/inside.h"

#define ASPECT_MAX 200
/* The most bytes of pixel_values, whatever the device says: 2^31 numbers. */
#define VALUES_BYTES_MAX (UINT64_C(1) << 33)

#define CLIP_MEAN                                                                                            \
    { 0.48145466f, 0.4578275f, 0.40821073f }
#define CLIP_STD                                                                                             \
    { 0.26862954f, 0.26130258f, 0.27577711f }
#define IMAGENET_MEAN                                                                                        \
    { 0.485f, 0.456f, 0.406f }
#define IMAGENET_STD                                                                                         \
    { 0.229f, 0.224f, 0.225f }
#define HALVES                                                                                               \
    { 0.5f, 0.5f, 0.5f }

static const struct {
    const char *name;
    tvlm_export_processor processor;
} models[TVLM_EXPORT_MODELS] = {
    [TVLM_EXPORT_QWEN3_VL] =
        {"qwen3-vl", {16, 2, 2, 0, false, 65536, 16777216, 4096, 25165824, HALVES, HALVES, 0, false, {0}}},
    [TVLM_EXPORT_QWEN2_5_VL] =
        {"qwen2.5-vl", {14, 2, 2, 0, false, 3136, 12845056, 0, 0, CLIP_MEAN, CLIP_STD, 0, false, {0}}},
    [TVLM_EXPORT_QWEN2_VL] = {"qwen2-vl",
                              {14, 2, 2, 0, false, 3136, 12845056, 0, 0, CLIP_MEAN, CLIP_STD, 0, false, {0}}},
    [TVLM_EXPORT_LLAVA] = {"llava", {14, 1, 1, 336, true, 0, 0, 0, 0, CLIP_MEAN, CLIP_STD, 0, false, {0}}},
    [TVLM_EXPORT_SIGLIP] = {"siglip", {16, 1, 1, 224, false, 0, 0, 0, 0, HALVES, HALVES, 0, false, {0}}},
    [TVLM_EXPORT_CLIP] = {"clip", {14, 1, 1, 224, true, 0, 0, 0, 0, CLIP_MEAN, CLIP_STD, 0, false, {0}}},
    [TVLM_EXPORT_LLAVA_ONEVISION] = {"llava-onevision",
                                     {14, 1, 1, 384, false, 0, 0, 0, 0, HALVES, HALVES, 6, true, {0}}},
    [TVLM_EXPORT_INTERNVL] =
        {"internvl", {14, 1, 2, 448, false, 0, 0, 0, 0, IMAGENET_MEAN, IMAGENET_STD, 12, false, {0}}},
};

const char *tvlm_export_model_name(tvlm_export_model model) {
    return (int)model >= 0 && (int)model < TVLM_EXPORT_MODELS ? models[model].name : "unknown";
}

int tvlm_export_model_find(const char *name) {
    for (int i = 0; name != NULL && i < TVLM_EXPORT_MODELS; ++i)
        if (strcmp(name, models[i].name) == 0) return i;
    return -1;
}

tvlm_status tvlm_export_processor_get(tvlm_export_model model, tvlm_export_processor *processor) {
    TVLM_NEED(NULL, processor);
    if ((int)model < 0 || (int)model >= TVLM_EXPORT_MODELS) return TVLM_ERROR_ARGUMENT; /* without a log */
    *processor = models[model].processor;
    return TVLM_OK;
}

/* The most that a patch's side, `merge` and `temporal` may be, since products of them are squared below. */
#define SIDE_MOST 4096

/* What the size of a picture is chosen by. */
typedef struct sizing {
    /* How many frames there are (1: a still), and that number rounded to a multiple of a token's frames. */
    int32_t frames;
    double whole;
    /* The limits for the pixels of all frames, and the pixels of one token in all its frames. */
    int64_t least, most;
    int64_t token;
} sizing;

static tvlm_status check_resize(const sizing *by, int32_t width, int32_t height, const tvlm_log *log) {
    const double longer = width > height ? width : height, shorter = width > height ? height : width;
    if (by->least < 0 || by->most < by->least)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "from %lld to %lld pixels is no range",
                         (long long)by->least, (long long)by->most);
    if (by->most < by->token)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "at most %lld pixels; one token has %lld",
                         (long long)by->most, (long long)by->token);
    if (shorter < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a picture of %dx%d pixels", (int)width, (int)height);
    if (longer / shorter > ASPECT_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a picture of %dx%d pixels has an aspect ratio of %.4g; the model takes up to %d",
                         (int)width, (int)height, longer / shorter, ASPECT_MAX);
    return TVLM_OK;
}

/*
 * The function smart_resize of transformers, in its class Qwen2VLImageProcessor (4.47.1), and in
 * Qwen3VLVideoProcessor (4.57.1), which differs only in the frames. It computes in double, operation by
 * operation as Python does, since the last bit decides ties.
 */
static tvlm_status resize(const tvlm_export_processor *p, const sizing *by, int32_t width, int32_t height,
                          const tvlm_log *log, int32_t *resized_width, int32_t *resized_height) {
    TVLM_TRY(check_resize(by, width, height, log));
    const double factor = (double)p->patch * p->merge;
    const double volume = (double)by->frames * height * width, most = (double)by->most;
    double h = nearbyint(height / factor) * factor, w = nearbyint(width / factor) * factor;
    if (by->whole * h * w > most) {
        const double beta = sqrt(volume / most);
        h = fmax(factor, floor(height / beta / factor) * factor);
        w = fmax(factor, floor(width / beta / factor) * factor);
    } else if (by->whole * h * w < (double)by->least) {
        const double beta = sqrt((double)by->least / volume);
        h = ceil(height * beta / factor) * factor;
        w = ceil(width * beta / factor) * factor;
    }
    /* If the lower limit is small, a side of half a token may have been rounded to 0. */
    h = fmax(h, factor);
    w = fmax(w, factor);
    if (h > INT32_MAX || w > INT32_MAX || h * w > INT32_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a processed picture of %.0fx%.0f pixels is too large", w,
                         h);
    *resized_width = (int32_t)w;
    *resized_height = (int32_t)h;
    return TVLM_OK;
}

/* Checks the patch and `merge` before anything is computed from them. Sets *factor to the side of a token in
 * pixels. */
static tvlm_status find_factor(const tvlm_export_processor *p, const tvlm_log *log, int64_t *factor) {
    if (p->patch < 1 || p->merge < 1 || p->patch > SIDE_MOST || p->merge > SIDE_MOST)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a patch of %d pixels, merged %d by %d", (int)p->patch,
                         (int)p->merge, (int)p->merge);
    *factor = (int64_t)p->patch * p->merge;
    return TVLM_OK;
}

tvlm_status tvlm_smart_resize(const tvlm_export_processor *processor, int32_t width, int32_t height,
                              const tvlm_log *log, int32_t *resized_width, int32_t *resized_height) {
    TVLM_NEED(log, processor);
    TVLM_CHECK_RESERVED(log, tvlm_export_processor, processor);
    TVLM_NEED(log, resized_width);
    TVLM_NEED(log, resized_height);
    int64_t factor;
    TVLM_TRY(find_factor(processor, log, &factor));
    const sizing by = {1, 1.0, processor->min_pixels, processor->max_pixels, factor * factor};
    return resize(processor, &by, width, height, log, resized_width, resized_height);
}

/* If a side of the frames is shorter than a token, enlarges both sides as smart_resize of
 * Qwen3VLVideoProcessor (5.23) does before it goes on. Sides that would become too long stay as they are,
 * since their aspect ratio will be refused. */
static void enlarge(double factor, int32_t *width, int32_t *height) {
    if (*width < 1 || *height < 1 || (*width >= factor && *height >= factor)) return;
    const double scale = fmax(factor / *height, factor / *width);
    if (fmax(*width, *height) * scale > INT32_MAX) return;
    *width = (int32_t)(*width * scale);
    *height = (int32_t)(*height * scale);
}

tvlm_status tvlm_smart_resize_video(const tvlm_export_processor *processor, int32_t frames, int32_t width,
                                    int32_t height, const tvlm_log *log, int32_t *resized_width,
                                    int32_t *resized_height) {
    TVLM_NEED(log, processor);
    TVLM_CHECK_RESERVED(log, tvlm_export_processor, processor);
    TVLM_NEED(log, resized_width);
    TVLM_NEED(log, resized_height);
    if (processor->video_max_pixels == 0)
        return tvlm_smart_resize(processor, width, height, log, resized_width, resized_height);
    const int32_t temporal = processor->temporal;
    int64_t factor;
    TVLM_TRY(find_factor(processor, log, &factor));
    if (temporal < 1 || temporal > SIDE_MOST || frames < temporal)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "frames: %d; one token of a video has %d", (int)frames,
                         (int)temporal);
    const sizing by = {frames, nearbyint((double)frames / temporal) * temporal, processor->video_min_pixels,
                       processor->video_max_pixels, factor * factor * temporal};
    enlarge((double)factor, &width, &height);
    return resize(processor, &by, width, height, log, resized_width, resized_height);
}

/* Checks the size of the largest buffer, which is that of pixel_values, before anything is allocated. */
static tvlm_status check_bytes(const tvlm_export *export, const tvlm_export_picture *info) {
    const tvlm_export_processor *p = &export->processor;
    const uint64_t told = export->device->info.allocation_max;
    const uint64_t most = told > 0 && told < VALUES_BYTES_MAX ? told : VALUES_BYTES_MAX;
    const double bytes = (double)info->width * info->height * info->grid_t * p->temporal * 3 * sizeof(float);
    if (bytes <= (double)most) return TVLM_OK;
    return tvlm_fail(&export->device->log, TVLM_ERROR_DEVICE_MEMORY,
                     "%d x %d x %d pixels when processed: %.0f bytes of pixel_values; one allocation has at "
                     "most %llu",
                     (int)fmin((double)info->grid_t * p->temporal, (double)INT32_MAX), (int)info->width,
                     (int)info->height, bytes, (unsigned long long)most);
}

/* Returns the place of the square that is cut out of the middle of an image. The image is resized first, so
 * that its shorter side is as long as the square's. */
static export_place middle_of(int32_t width, int32_t height, int64_t side) {
    const int32_t shorter = width < height ? width : height, longer = width < height ? height : width;
    /* This is int(size * long / short) in Python, which divides in double. */
    const int64_t grown = (int64_t)((double)(side * longer) / (double)shorter);
    export_place at = {.width = width <= height ? side : grown, .height = width <= height ? grown : side};
    at.left = (at.width - side) / 2;
    at.top = (at.height - side) / 2;
    return at;
}

/* Finds the size of a picture, and where it lies. */
static tvlm_status find_place(const tvlm_export *export, const tvlm_image *image, int32_t frames,
                              export_picture *picture) {
    const tvlm_export_processor *p = &export->processor;
    const tvlm_log *const log = &export->device->log;
    tvlm_export_picture *const info = &picture->info;
    if (tvlm_export_family(p) == EXPORT_CROPS) return tvlm_export_cut(export, image, picture);
    info->width = info->height = p->side;
    if (p->side == 0 && export->video)
        TVLM_TRY(tvlm_smart_resize_video(p, frames, image->width, image->height, log, &info->width,
                                         &info->height));
    else if (p->side == 0)
        TVLM_TRY(tvlm_smart_resize(p, image->width, image->height, log, &info->width, &info->height));
    picture->place = p->centre ? middle_of(image->width, image->height, p->side)
                               : (export_place){.width = info->width, .height = info->height};
    return TVLM_OK;
}

tvlm_status tvlm_export_measure(const tvlm_export *export, const tvlm_image *image, int32_t frames,
                                export_picture *picture) {
    tvlm_export_picture *const info = &picture->info;
    const int32_t merge = export->merge;
    TVLM_TRY(find_place(export, image, frames, picture));
    info->grid_t = (frames - 1) / export->processor.temporal + 1;
    info->grid_h = info->height / export->patch;
    info->grid_w = info->width / export->patch;
    TVLM_TRY(check_bytes(export, info));
    const int64_t tokens = (int64_t)info->grid_t * (info->grid_h / merge) * (info->grid_w / merge);
    if (tokens * merge * merge > INT32_MAX)
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT, "%lld tokens are too many",
                         (long long)tokens);
    info->tokens = (int32_t)tokens;
    return TVLM_OK;
}
