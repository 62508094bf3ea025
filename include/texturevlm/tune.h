/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h: makes the library as fast as it can be on the device that is there.
 *
 *     tvlm_tuning *tuning = NULL;
 *     tvlm_device_tune(device, NULL, &tuning); // about a minute, once for a device and a driver
 *     tvlm_tuning_destroy(&tuning);
 *
 * Some settings have a default for GPUs and one for all other devices: how large work-groups are, how many pixels
 * a work-item makes, how many levels a launch makes, and which method finds the largest scores. Tuning measures
 * which of several settings is the fastest on this device, for each stage, at three sizes of pictures. A setting
 * that is faster by more than the noise is kept.
 *
 * The settings are kept in a file beside the compiled programs (tvlm_device_params.cache_dir; with PoCL, too). A
 * device that is opened later uses this file if it has the same name, driver and version, and if the version of
 * the library is the same. A file that is damaged or belongs to another device is not used, and the log gets a
 * warning.
 *
 * Results do not depend on the settings, with one exception: another storage gives the results of that storage,
 * which differ by the rounding of hardware filters.
 */
#ifndef TEXTUREVLM_TUNE_H
#define TEXTUREVLM_TUNE_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_TUNE_SECONDS_DEFAULT 60.0f

typedef struct tvlm_tuning tvlm_tuning;

/* All zero means a minute, all storages that the device can do, and no calls of `progress`. */
struct tvlm_tune_params {
    /* After this many seconds no further settings are tried; 0.1 to 3600; 0 means 60. The call takes somewhat
     * longer than that: what is being compiled or compared then is finished. */
    float seconds;
    /* If set, the device's storage is not compared with other storages. For a device of an application's own
     * context (opencl.h), no other storage is ever tried. */
    bool keep_storage;
    /*
     * Is called between two settings, on the thread of the call, with the share of the work that is done, from 0
     * to 1, and the stage that is next. It must not use the device. If it returns false, tuning ends: nothing is
     * kept, and the device is as it was opened. May be NULL.
     */
    bool (*progress)(void *user, float share, const char *stage);
    void *user;
    uint64_t reserved[4];
};
#define tvlm_tune_params(...) TVLM_PARAMS(tvlm_tune_params, __VA_ARGS__)

/*
 * Tunes a device, which from then on uses the settings that were found. If another storage is faster, that
 * storage is tuned instead, for devices that are opened later; this device then has its defaults. Earlier tuning
 * is forgotten: all settings are compared with the defaults.
 *
 * A setting is kept if it is the faster one in at least eight of nine pairs of samples, measured in turn, and if
 * it is faster by 3 % or more in their median.
 *
 * The call takes as much device memory as full40 of a picture of 2560 x 2560 with its families made one after the
 * other, or less where there is less. Nothing else should keep the device or the machine busy meanwhile.
 *
 * *tuning becomes what was found, also if it could not be written to a file (a warning says why). After an error
 * it is NULL, and the device has its defaults. Errors: ARGUMENT, UNSUPPORTED (the reference: there is nothing to
 * tune), MEMORY, DEVICE_MEMORY, DEVICE, LOST.
 */
TVLM_API tvlm_status tvlm_device_tune(tvlm_device *device, const struct tvlm_tune_params *params,
                                      tvlm_tuning **tuning);

/* One stage at one size. */
typedef struct tvlm_tuned_stage {
    /* Such as "saliency", "levels" or "topk". "storage" stands for a whole selection in another storage. */
    char name[32];
    /* The picture's side in pixels. Stages that work on cells or scores have one cell or score for each 256
     * pixels. */
    int32_t side;
    /* The seconds that the stage takes, with the defaults and with what is kept. Both are the same if nothing is
     * faster. */
    double before, after;
    /* The settings that are kept in place of the defaults, such as "run 8, group 64 1"; "" if there are none. */
    char settings[192];
    uint64_t reserved[4];
} tvlm_tuned_stage;

/* Returns the stages that were measured, in their order. They are valid while the tuning lives. */
TVLM_API const tvlm_tuned_stage *tvlm_tuning_stages(const tvlm_tuning *tuning, int32_t *count);

typedef struct tvlm_tuning_info {
    double seconds;  /* how long it took */
    int32_t tried;   /* settings that were measured beside the defaults */
    bool complete;   /* false: time was up before all were tried */
    bool cancelled;  /* by `progress` */
    char path[1024]; /* the file; "": none was written */
    uint64_t reserved[4];
} tvlm_tuning_info;
/* Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_tuning_get_info(const tvlm_tuning *tuning, tvlm_tuning_info *info);

/* Frees it and sets *tuning to NULL. NULL and *NULL are fine. */
TVLM_API void tvlm_tuning_destroy(tvlm_tuning **tuning);

#ifdef __cplusplus
}
#endif
#endif
