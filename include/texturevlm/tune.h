/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h: makes the library as fast as it can be on the device that is there.
 *
 *     tvlm_tuning *tuning = NULL;
 *     tvlm_device_tune(device, NULL, &tuning); // about a minute, once for a device and a driver
 *     tvlm_tuning_destroy(&tuning);
 *
 * How large work-groups are, how many pixels a work-item makes, how many levels a launch makes and which method
 * finds the largest scores depends on what a device is: a GPU or not. Tuning measures which of several settings
 * is the fastest on this one, for each stage, at three sizes of pictures. What is faster by more than the noise
 * is kept in a file beside compiled programs (tvlm_device_params.cache_dir; with PoCL, too), of which
 * every device that is opened later knows if it is of the same name, driver and version, and this version of the
 * library. A file that is damaged or of another device is not used, and the log gets a warning.
 *
 * Results do not depend on the settings. With another storage they are what they are with that storage: the same
 * but for the rounding of hardware filters.
 */
#ifndef TEXTUREVLM_TUNE_H
#define TEXTUREVLM_TUNE_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_TUNE_SECONDS_DEFAULT 60.0f

typedef struct tvlm_tuning tvlm_tuning;

/* All zero: a minute, all storages that the device can do, and no word in between. */
struct tvlm_tune_params {
    /* After so many seconds no further settings are tried, 0.1 to 3600; 0 means 60. The call takes longer by the
     * programs that are being compiled then, and by the last comparison. */
    float seconds;
    /* The storage that the device has is not compared with the others. A device that an application handed in
     * (opencl.h) is never opened in another one. */
    bool keep_storage;
    /*
     * Called on the thread of the call between two settings, with the share of the work that is done, from 0 to 1,
     * and the stage that is next. It must not use the device. False ends tuning: nothing is kept, and the device is
     * as it was opened. NULL: nobody is told.
     */
    bool (*progress)(void *user, float share, const char *stage);
    void *user;
    uint64_t reserved[4];
};
#define tvlm_tune_params(...) TVLM_PARAMS(tvlm_tune_params, __VA_ARGS__)

/*
 * Tunes a device, which uses what was found from then on. Where another storage is faster, that one is tuned for
 * devices that are opened later, and this device has its defaults. What was tuned before is forgotten: all is compared
 * with the defaults. Device memory is taken as by full40 of a picture of 2560 x 2560, one family after the other,
 * as far as it is there. Nothing else should keep the device or the machine busy meanwhile.
 *
 * A setting is kept where it is the faster one in at least eight of nine pairs of samples, measured in turn, and
 * by 3 % or more in their median.
 *
 * *tuning is what was found, also where that could not be written to a file (a warning says why); NULL after an
 * error. Errors: ARGUMENT, UNSUPPORTED (the reference: there is nothing to tune), MEMORY, DEVICE_MEMORY, DEVICE,
 * LOST. After an error the device has its defaults.
 */
TVLM_API tvlm_status tvlm_device_tune(tvlm_device *device, const struct tvlm_tune_params *params,
                                      tvlm_tuning **tuning);

/* One stage at one size. */
typedef struct tvlm_tuned_stage {
    /* "saliency", "levels", "topk"; "storage" stands for all of a selection in another storage. */
    char name[32];
    /* The picture's side in pixels. What works on cells or scores has one for each 256 pixels. */
    int32_t side;
    /* Seconds that it takes: with the defaults, and as it is kept. The same two where nothing is faster. */
    double before, after;
    /* What is kept in place of the defaults ("run 8, group 64 1"); "": nothing. */
    char settings[192];
    uint64_t reserved[4];
} tvlm_tuned_stage;

/* The stages that were measured, in their order, as long as the tuning lives. */
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
