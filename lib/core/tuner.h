/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner.h: what can be tuned in a backend for a device (texturevlm/device.h). A stage has choices, and a choice
 * has settings. Pictures of different sizes may have different settings. Results do not depend on any of
 * them.
 */
#ifndef TVLM_CORE_TUNER_H
#define TVLM_CORE_TUNER_H

#include "core/operands.h"

/* The stages: each generated grid has its own number, and these follow. */
enum {
    TVLM_TUNED_SOURCE = TVLM_GRID_COUNT,
    TVLM_TUNED_LEVELS,
    TVLM_TUNED_PACK,
    TVLM_TUNED_SCORE,
    TVLM_TUNED_TOPK,
    TVLM_TUNED_PATCHES,
    TVLM_TUNED_FEATURES, /* cosines with one vector */
    TVLM_TUNED_PRODUCTS, /* cosines with many vectors */
    TVLM_TUNED_LOSSES,
    TVLM_TUNED_FLOW,
    TVLM_TUNED_EXPORT,
    TVLM_TUNED_COUNT
};

/* The sizes: up to 512 x 512 pixels, up to 2048 x 2048, and beyond. For stages that work on cells, or that
 * choose from scores, each cell or score counts as TVLM_TUNED_CELL pixels. */
enum { TVLM_TUNED_SIZES = 3, TVLM_TUNED_CELL = 256 };
static inline int32_t tvlm_tuned_size(double area) {
    return area <= 512.0 * 512.0 ? 0 : area <= 2048.0 * 2048.0 ? 1 : 2;
}

/* The name of a stage ("saliency", "levels"), or NULL if nothing is tuned under this number. */
const char *tvlm_tuned_name(int32_t stage);

/* The most bytes of a setting in words, such as "group 64 4". */
enum { TVLM_TUNED_TEXT = 64 };

struct tvlm_tuner {
    /* How many choices there are; not every stage has every one. */
    int32_t choices;
    /* How many settings of a choice this device may have in this stage. 0: the stage does not have the
     * choice. */
    int32_t (*settings)(const tvlm_device *device, int32_t stage, int32_t choice);
    /* Which of the settings is in use, counted from 0. */
    int32_t (*used)(const tvlm_device *device, int32_t stage, int32_t size, int32_t choice);
    tvlm_status (*use)(tvlm_device *device, int32_t stage, int32_t size, int32_t choice, int32_t setting);
    void (*describe)(const tvlm_device *device, int32_t choice, int32_t setting, char text[TVLM_TUNED_TEXT]);
    /* The device's folder in the form of tvlm_device_params.cache_dir, for opening the device once more. */
    const char *(*folder)(const tvlm_device *device);
    /* Go back to the defaults, or to what the device's file says, if it has one. */
    void (*defaults)(tvlm_device *device);
    tvlm_status (*load)(tvlm_device *device);
    /* Writes the file. `path` gets its name, or "" where the device has no folder for it. Fails with IO where
     * the file cannot be written. */
    tvlm_status (*keep)(tvlm_device *device, char *path, size_t size);
    /* Writes a file beside it that names a storage. The device is then opened in this storage, unless another
     * one is asked for. */
    tvlm_status (*keep_storage)(tvlm_device *device, tvlm_storage storage);
};

#endif
