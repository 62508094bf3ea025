/*
 * The processors, and the size that each gives a picture.
 */
#include <math.h>
#include <string.h>

#include "export/export.h"

#define ASPECT_MAX 200

#define CLIP_MEAN                                                                                            \
    { 0.48145466f, 0.4578275f, 0.40821073f }
#define CLIP_STD                                                                                             \
    { 0.26862954f, 0.26130258f, 0.27577711f }
#define HALVES                                                                                               \
    { 0.5f, 0.5f, 0.5f }

static const struct {
    const char *name;
    tvlm_export_processor processor;
} models[TVLM_EXPORT_MODELS] = {
    [TVLM_EXPORT_QWEN3_VL] = {"qwen3-vl", {16, 2, 2, 0, false, 65536, 16777216, HALVES, HALVES}},
    [TVLM_EXPORT_QWEN2_5_VL] = {"qwen2.5-vl", {14, 2, 2, 0, false, 3136, 12845056, CLIP_MEAN, CLIP_STD}},
    [TVLM_EXPORT_QWEN2_VL] = {"qwen2-vl", {14, 2, 2, 0, false, 3136, 12845056, CLIP_MEAN, CLIP_STD}},
    [TVLM_EXPORT_LLAVA] = {"llava", {14, 1, 1, 336, true, 0, 0, CLIP_MEAN, CLIP_STD}},
    [TVLM_EXPORT_SIGLIP] = {"siglip", {16, 1, 1, 224, false, 0, 0, HALVES, HALVES}},
    [TVLM_EXPORT_CLIP] = {"clip", {14, 1, 1, 224, true, 0, 0, CLIP_MEAN, CLIP_STD}},
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
    if ((int)model < 0 || (int)model >= TVLM_EXPORT_MODELS || processor == NULL) return TVLM_ERROR_ARGUMENT;
    *processor = models[model].processor;
    return TVLM_OK;
}

static tvlm_status check_resize(const tvlm_export_processor *p, int32_t width, int32_t height,
                                const tvlm_log *log) {
    const int64_t factor = (int64_t)p->patch * p->merge;
    const double longer = width > height ? width : height, shorter = width > height ? height : width;
    if (p->patch < 1 || p->merge < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a patch of %d pixels, merged %d by %d", (int)p->patch,
                         (int)p->merge, (int)p->merge);
    if (p->min_pixels < 0 || p->max_pixels < p->min_pixels)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "from %lld to %lld pixels is no range",
                         (long long)p->min_pixels, (long long)p->max_pixels);
    if (p->max_pixels < factor * factor)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "at most %lld pixels; one token has %lld",
                         (long long)p->max_pixels, (long long)(factor * factor));
    if (shorter < p->patch)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a picture of %dx%d pixels has a side under one patch (%d)", (int)width, (int)height,
                         (int)p->patch);
    if (longer / shorter > ASPECT_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a picture of %dx%d pixels has an aspect ratio of %.4g; the model takes up to %d",
                         (int)width, (int)height, longer / shorter, ASPECT_MAX);
    return TVLM_OK;
}

/* In double, operation by operation as Python has it: the last bit decides ties. */
tvlm_status tvlm_smart_resize(const tvlm_export_processor *processor, int32_t width, int32_t height,
                              const tvlm_log *log, int32_t *resized_width, int32_t *resized_height) {
    if (processor == NULL || resized_width == NULL || resized_height == NULL) return TVLM_ERROR_ARGUMENT;
    TVLM_TRY(check_resize(processor, width, height, log));
    const double factor = (double)processor->patch * processor->merge;
    const double area = (double)height * width, most = (double)processor->max_pixels;
    double h = nearbyint(height / factor) * factor, w = nearbyint(width / factor) * factor;
    if (h * w > most) {
        const double beta = sqrt(area / most);
        h = fmax(factor, floor(height / beta / factor) * factor);
        w = fmax(factor, floor(width / beta / factor) * factor);
    } else if (h * w < (double)processor->min_pixels) {
        const double beta = sqrt((double)processor->min_pixels / area);
        h = ceil(height * beta / factor) * factor;
        w = ceil(width * beta / factor) * factor;
    }
    h = fmax(h, factor); /* half a token rounds to none where min_pixels is small */
    w = fmax(w, factor);
    if (h > INT32_MAX || w > INT32_MAX || h * w > INT32_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a processed picture of %.0fx%.0f pixels is too large", w,
                         h);
    *resized_width = (int32_t)w;
    *resized_height = (int32_t)h;
    return TVLM_OK;
}

tvlm_status tvlm_export_measure(const tvlm_export *export, const tvlm_image *image, int32_t frames,
                                tvlm_export_picture *info) {
    const tvlm_export_processor *p = &export->processor;
    info->width = info->height = p->side;
    if (p->side == 0)
        TVLM_TRY(tvlm_smart_resize(p, image->width, image->height, &export->device->log, &info->width,
                                   &info->height));
    info->grid_t = (frames - 1) / p->temporal + 1;
    info->grid_h = info->height / p->patch;
    info->grid_w = info->width / p->patch;
    const int64_t tokens = (int64_t)info->grid_t * (info->grid_h / p->merge) * (info->grid_w / p->merge);
    if (tokens * p->merge * p->merge > INT32_MAX)
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT, "%lld tokens are too many",
                         (long long)tokens);
    info->tokens = (int32_t)tokens;
    return TVLM_OK;
}
