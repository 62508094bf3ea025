/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h: lists the devices of this machine, and opens one.
 *
 *     tvlm_device *device = NULL;
 *     if (tvlm_device_open(NULL, &device) != TVLM_OK) return 1; // the first GPU, else the first CPU
 *     ...
 *     tvlm_device_destroy(&device);
 *
 * A device is an OpenCL device, or "reference": plain C on the CPU, slow and obviously right. The rest of the
 * library works the same on either. A device must outlive all that was made from it.
 *
 * *Errors.* Where a call of the driver fails, the function that made it fails, with a line in the log. The device
 * can still be used; the function's comment says what has become of its objects. Where the device itself is gone,
 * every function that needs it returns TVLM_ERROR_LOST from then on. Functions that free something still free it.
 * tvlm_device_open_another opens a device to go on with.
 *
 * *Threads.* Devices may be listed and opened in several threads, and each thread may use a device of its own. One
 * device, with all handles that were made from it, is for one thread at a time. A function that is called while
 * another thread is in a function of the same device refuses with ARGUMENT, and a line in the log. A function that
 * frees something writes the line, and then waits for the other thread.
 */
#ifndef TEXTUREVLM_DEVICE_H
#define TEXTUREVLM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_device tvlm_device;

/* How texels are stored on the device (doc/design.md, "Storage"). */
typedef enum tvlm_storage {
    TVLM_STORAGE_AUTO = 0,
    TVLM_STORAGE_IMAGE,    /* image arrays with hardware filtering: GPUs */
    TVLM_STORAGE_BUFFER,   /* a plain buffer, filtered in the kernel: CPUs, where images are emulated */
    TVLM_STORAGE_MIPMAPPED /* one image array with levels: where cl_khr_mipmap_image works */
} tvlm_storage;

/* The format of a stack's texels, and of tensors. */
typedef enum tvlm_format {
    TVLM_FORMAT_AUTO = 0, /* half on a GPU, float on a CPU and on the reference device */
    TVLM_FORMAT_F16,
    TVLM_FORMAT_F32,
    /*
     * Bytes, which take half the memory of half precision. Only stacks have this format.
     *   - Channels within 0 .. 1 are unsigned bytes, 0 .. 255 (CL_UNORM_INT8).
     *   - Channels within -1 .. 1 are signed bytes (CL_SNORM_INT8).
     *   - A layout with a channel of another range is refused, with that channel's name.
     *   - Half precision stays for grids of another range that are not in the layout (such as a flow or vectors
     *     that are handed in), and for families with identifiers.
     */
    TVLM_FORMAT_U8,
    /* Signed bytes. No stack is made with this format: tvlm_opencl_texture describes the textures of signed bytes
     * in a stack of TVLM_FORMAT_U8 by it. */
    TVLM_FORMAT_S8
} tvlm_format;

typedef enum tvlm_device_type {
    TVLM_DEVICE_GPU = 0,
    TVLM_DEVICE_CPU,
    TVLM_DEVICE_OTHER, /* accelerators and custom devices */
    TVLM_DEVICE_REFERENCE
} tvlm_device_type;

/* The result of one self-test, in which the device computes what the library knows the answer to. The tests run
 * when the device is opened. Those of bytes run when the first stack of bytes is made, or already when the device
 * is opened, if tvlm_device_params asks for all tests (test_all) or says that stacks will be bytes (format). */
typedef struct tvlm_self_test {
    char name[32];
    bool passed;
    char detail[128]; /* what was measured, or what went wrong */
    uint64_t reserved[4];
} tvlm_self_test;

#define TVLM_SELF_TESTS_MAX 24

typedef struct tvlm_device_info {
    /* The device's place in tvlm_device_list. It is -1 for a device that the application handed in (opencl.h). It
     * is also -1 for the reference that was opened by its name, since no driver is asked then. */
    int32_t index;
    tvlm_device_type type;
    char name[128];
    char platform[128];
    char driver[128];
    char version[128];       /* CL_DEVICE_VERSION */
    uint64_t memory_bytes;   /* global memory */
    uint64_t allocation_max; /* bytes of the largest single allocation */
    uint64_t local_bytes;    /* local memory of a work-group */
    int32_t compute_units;
    bool images; /* RGBA image arrays of half and float can be read and written */
    bool mipmap_extension;
    int32_t image_width_max, image_height_max, image_slices_max; /* 0 without images */
    tvlm_storage storage;     /* in use; AUTO in tvlm_device_list, which opens nothing */
    char storage_reason[160]; /* why that storage */
    int32_t self_test_count;  /* 0 in tvlm_device_list */
    tvlm_self_test self_tests[TVLM_SELF_TESTS_MAX];
    uint64_t reserved[4];
} tvlm_device_info;

/*
 * Which device is opened, and how. All zero means the first GPU, else the first CPU, else any OpenCL device.
 * OpenCL is the library that $TVLM_OPENCL names, else the one that the program is linked to, else the system's.
 * It is loaded once.
 */
struct tvlm_device_params {
    /*
     * The device. NULL means $TVLM_DEVICE, else the default above. Otherwise the name is one of
     *   - the device's index in tvlm_device_list ("0");
     *   - "reference";
     *   - a part of the device's name, else of its platform's name, else of the driver's own words in its version
     *     ("pocl" is in PoCL's version alone), in upper or lower case. Where it fits several devices, the first
     *     of them is taken.
     */
    const char *name;
    /* How texels are stored. A storage that is asked for and does not pass the self-test is an error. AUTO takes
     * one that passes:
     *   - the one that tvlm_device_tune found to be the fastest, where it was called;
     *   - else on a GPU mipmapped, else image;
     *   - else buffer, which is also the choice on other devices. */
    tvlm_storage storage;
    /* The folder from which kernels are loaded instead of the embedded ones. NULL means $TVLM_CL_DIR. */
    const char *kernel_dir;
    /* The folder of the cache of compiled programs. NULL means $XDG_CACHE_HOME/texturevlm, or
     * ~/.cache/texturevlm, but no cache with PoCL, which keeps its own. "" means no cache. A cache that cannot be
     * read or written is not used, without a message. */
    const char *cache_dir;
    /* Runs the self-tests of all storages, also of those that would not be chosen: `tvlm devices` shows them. */
    bool test_all;
    /*
     * Opens another device where the one that is asked for cannot be opened. One warning says why.
     *   - Where the machine has no OpenCL device at all, that is the reference.
     *   - Where the driver fails while the device is opened, or the device can do too little or passes no
     *     self-test, it is the next one, as tvlm_device_open_another finds it.
     * These are errors all the same: a name that no device has, and a `storage` that is asked for and that the
     * device cannot do.
     */
    bool fallback;
    /* The log of the device. It is copied. NULL: nothing is written. */
    const tvlm_log *log;
    /* Ignores what tvlm_device_tune kept for the device. That is for measurements and tests which must
     * not depend on what a machine's user did. The environment does the same: where `cache_dir` is NULL, and
     * $TVLM_UNTUNED is set and not empty. */
    bool untuned;
    /* Keeps the memory of textures that are destroyed for the next ones, until the device is destroyed. The kept
     * memory and the memory in use are together never more than the most that was in use at one time. This is for
     * programs that make stacks of ever new sizes: on PoCL, new memory is filled with zeros page by page as it is
     * written, which takes longer than many a kernel. */
    bool keep_memory;
    /* The format of the stacks that will be made, where it is known. With U8, a `storage` of AUTO takes no storage
     * whose bytes fail the self-test, so that stacks of bytes can be made on any device. Other formats change
     * nothing. */
    tvlm_format format;
    uint64_t reserved[3];
};
#define tvlm_device_params(...) TVLM_PARAMS(tvlm_device_params, __VA_ARGS__)

/*
 * Opens a device and runs its self-tests. `params` NULL means all defaults. Errors:
 *   - NO_DEVICE: there is no OpenCL device, and the line in the log names what to install; or none has that name,
 *     and the line names those that there are.
 *   - UNSUPPORTED: a storage that is asked for fails the self-test, or none passes it, or the device can do too
 *     little.
 *   - DEVICE: the driver fails, for example to build kernels.
 *   - MEMORY, ARGUMENT.
 */
TVLM_API tvlm_status tvlm_device_open(const struct tvlm_device_params *params, tvlm_device **device);

/*
 * Opens a device to go on with after another was lost (TVLM_ERROR_LOST). `index` is tvlm_device_info.index of
 * the lost device. The devices after it are tried in the order of tvlm_device_list, then those before it, and
 * never the lost one itself. The first that opens is taken, else the reference. With `index` -1 all are tried,
 * from the first one on. One warning says which device it is.
 *
 * params->name and params->fallback are ignored. A params->storage that is asked for is kept where a device can
 * do it; OpenCL devices that cannot are passed over.
 *
 * *What is lost.* All that was made from the lost device is lost with it, since only the device had it: stacks,
 * selections that were not read yet, and streams with all that they knew of earlier frames. It may be freed before
 * or after this call. The application hands its images, features and frames in again. The results are then those
 * of the other device, which are the same up to the rounding of the texels' format.
 *
 * `tvlm --fallback` is an example: tools/select.c goes on with the present image of a batch, and tools/video.c
 * with the frames since the last cut.
 *
 * Errors: MEMORY, ARGUMENT, UNSUPPORTED (only the reference is left, and another storage than buffer is asked
 * for).
 */
TVLM_API tvlm_status tvlm_device_open_another(int32_t index, const struct tvlm_device_params *params,
                                              tvlm_device **device);

/* Waits for the device's work, frees the device, and sets *device to NULL. NULL, and a NULL *device, are fine. */
TVLM_API void tvlm_device_destroy(tvlm_device **device);

/* Tells what is known of a device. Errors: ARGUMENT (NULL). */
TVLM_API tvlm_status tvlm_device_get_info(const tvlm_device *device, tvlm_device_info *info);

/*
 * Lists the devices of this machine, the reference device last. It fills in up to `capacity` entries, and opens no
 * device. *count becomes the number of devices, which is 1 without any OpenCL platform. `infos` may be NULL where
 * `capacity` is 0.
 */
TVLM_API tvlm_status tvlm_device_list(int32_t capacity, tvlm_device_info *infos, int32_t *count);

/*
 * Values in a buffer of the application's own OpenCL context (opencl.h). Some structs have a member of this type
 * that takes the place of an array on the host (such as tvlm_query.vectors_in). The values are read from
 * byte_offset on, which is a multiple of 4, without gaps between them.
 *
 * *Checks.* Where the library has to refuse some values, it checks them on the device, and waits for the result,
 * which is a few bytes. With `unchecked` nothing is checked, and nothing waits: the application has to see to it
 * that its values are right. The comment of the member says what becomes of values that are not.
 */
/* OpenCL's own: cl_mem is a pointer to it. */
struct _cl_mem; /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
struct tvlm_memory {
    struct _cl_mem *memory;
    size_t byte_offset;
    bool unchecked;
    uint64_t reserved[3];
};
#define tvlm_memory(...) TVLM_PARAMS(tvlm_memory, __VA_ARGS__)

/* Waits until all work of the device is done. */
TVLM_API tvlm_status tvlm_device_finish(tvlm_device *device);

/* Return the name of a storage ("image", "buffer", "mipmapped" or "auto"), and of a format ("f16", "f32", "u8",
 * "s8" or "auto"). For other values they return "unknown", and never NULL. */
TVLM_API const char *tvlm_storage_name(tvlm_storage storage);
TVLM_API const char *tvlm_format_name(tvlm_format format);

/* ---- Tuning ---- */

/*
 * Makes the library as fast as it can be on the device that is there.
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
