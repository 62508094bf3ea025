/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h: the devices of this machine, and opening one.
 *
 * A device is an OpenCL device, or "reference": plain C on the CPU, slow and obviously right. Everything
 * above works the same on either. A device must outlive what was made from it.
 *
 * Where a call of the driver fails, the function fails, with a line; the device goes on, and what was there is
 * as the function's comment says. Where the device is gone, every function that needs it gives
 * TVLM_ERROR_LOST from then on, and those that free go on freeing: tvlm_device_open_another.
 *
 * Threads: devices are listed, opened and used freely in different threads, each its own. A device, and all
 * handles that were made from it, is for one thread at a time. A function that is called while another thread
 * is in one refuses with ARGUMENT and a line in the log; one that frees something writes the line, and waits.
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
     * Bytes, half of half's memory: 0 .. 255 for 0 .. 1 (CL_UNORM_INT8), and for channels of ranges within -1 .. 1 such
     * (CL_SNORM_INT8). A layout is refused that has a channel of another range, by its name. What has no channel of the
     * layout and another range (a flow or vectors that are handed in), and families with identifiers, are half. Only
     * stacks have this format.
     */
    TVLM_FORMAT_U8,
    /* Signed bytes: of the textures of such a stack that tvlm_opencl_texture describes, and of nothing else. */
    TVLM_FORMAT_S8
} tvlm_format;

typedef enum tvlm_device_type {
    TVLM_DEVICE_GPU = 0,
    TVLM_DEVICE_CPU,
    TVLM_DEVICE_OTHER, /* accelerators and custom devices */
    TVLM_DEVICE_REFERENCE
} tvlm_device_type;

/* One known-answer test run when the device was opened; those of bytes when the first stack of bytes is made, unless
 * all were asked for (test_all), or bytes (format). */
typedef struct tvlm_self_test {
    char name[32];
    bool passed;
    char detail[128]; /* what was measured, or what went wrong */
    uint64_t reserved[4];
} tvlm_self_test;

#define TVLM_SELF_TESTS_MAX 24

typedef struct tvlm_device_info {
    /* Of tvlm_device_list. -1 when the application handed the device in, and for the reference that was
     * opened by its name: that asks no driver. */
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
 * Which device, and how. All zero: the first GPU, else the first CPU, else any OpenCL device.
 */
struct tvlm_device_params {
    /*
     * Its index ("0"), "reference", or a part, in any case, of the device's name, else of its platform's name,
     * else of what the driver says in its version ("pocl" is in PoCL's version alone). A part that fits several
     * devices takes the first of them. NULL: $TVLM_DEVICE, else the default.
     */
    const char *name;
    tvlm_storage storage; /* AUTO: image on a GPU, buffer elsewhere, as far as the self-test allows; one that
                             is asked for and does not pass is an error */
    const char
        *kernel_dir; /* load kernels from this folder instead of the embedded ones; NULL: $TVLM_CL_DIR */
    const char *cache_dir; /* compiled programs; NULL: $XDG_CACHE_HOME/texturevlm or ~/.cache/texturevlm (none
                              with PoCL, which keeps its own); "": no cache. A cache that cannot be read or
                              written is silently not used */
    bool test_all; /* self-test also the storages that would not be chosen: what `tvlm devices` shows */
    /*
     * Where the machine has no OpenCL device at all, open the reference; and where the driver fails while the
     * device is opened, or the device can do too little or passes no self-test, the next one
     * (tvlm_device_open_another). Either with one warning, which says why. A name that no device has, and a
     * `storage` that is asked for and that the device cannot do, are errors all the same.
     */
    bool fallback;
    const tvlm_log *log; /* copied; NULL: silence */
    /* What tvlm_device_tune (tune.h) kept for the device is not looked at; so too where `cache_dir` is NULL and $TVLM_UNTUNED is
     * set and not empty, for measurements and tests that must not depend on what a machine's user did. */
    bool untuned;
    /* Memory of textures that are destroyed is kept for the next ones, for who makes stacks of ever new sizes: with what is in
     * use never more than was in use at one time, until the device is destroyed. On PoCL new memory is filled with zeros page
     * by page as it is written, which takes longer than many a kernel. */
    bool keep_memory;
    /* What its stacks will be, where that is known. With U8, AUTO takes no storage whose bytes do not pass the self-test, so
     * that such stacks can be made on any device; with all else it says nothing. */
    tvlm_format format;
    uint64_t reserved[3];
};
#define tvlm_device_params(...) TVLM_PARAMS(tvlm_device_params, __VA_ARGS__)

/*
 * Opens a device and runs its self-test. `params` NULL: all defaults.
 * Errors: NO_DEVICE (no OpenCL platform: the line names what to install; or nothing of that name, with what
 * there is), UNSUPPORTED (a forced storage fails the self-test), DEVICE (kernels do not build), MEMORY,
 * ARGUMENT.
 */
TVLM_API tvlm_status tvlm_device_open(const struct tvlm_device_params *params, tvlm_device **device);

/*
 * Opens a device to go on with where another is lost (TVLM_ERROR_LOST): the next one after `index`
 * (tvlm_device_info.index of the lost one; -1: the first) in the order of tvlm_device_list that opens, in a
 * circle and without that one; else the reference. One warning says which it is. params->name and
 * params->fallback are not looked at; a storage that is asked for is kept where the device can do it.
 *
 * What was made from the lost device is lost with it, for only the device had it: stacks, selections that were
 * not read yet, streams with all that they knew of earlier frames. Free it before or after this call; the
 * application hands its images, features and frames in again. What it computes then is what the other device
 * computes, which is the same up to the rounding of the texels' format.
 *
 * Errors: MEMORY, ARGUMENT. `tvlm --fallback` goes on so: tools/select.c with the present image of a batch,
 * tools/video.c with the frames since the last cut.
 */
TVLM_API tvlm_status tvlm_device_open_another(int32_t index, const struct tvlm_device_params *params,
                                              tvlm_device **device);

/* Waits for its work, frees it, sets *device to NULL. NULL and *NULL are fine. */
TVLM_API void tvlm_device_destroy(tvlm_device **device);

/* What is known of the device. Errors: ARGUMENT (NULL). */
TVLM_API tvlm_status tvlm_device_get_info(const tvlm_device *device, tvlm_device_info *info);

/*
 * The devices of this machine, the reference device last: fills up to `capacity` entries (opening none) and
 * sets *count to how many there are. `infos` may be NULL when capacity is 0. Without any OpenCL platform that
 * is 1.
 */
TVLM_API tvlm_status tvlm_device_list(int32_t capacity, tvlm_device_info *infos, int32_t *count);

/*
 * What an application of its own OpenCL context (opencl.h) has in a buffer of that context: structs take it in
 * place of an array of the host. Its values are read from byte_offset on, a multiple of 4, without gaps.
 *
 * Where the library has to refuse values, it looks at them on the device, and waits for what it finds: a few
 * bytes. With `unchecked` nobody looks and nothing waits: the application answers for its values, and what it
 * is said to be where they are not as they should be.
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

/* "image", "buffer", "mipmapped" or "auto"; "f16", "f32", "u8", "s8" or "auto"; "unknown" for other values. Never NULL. */
TVLM_API const char *tvlm_storage_name(tvlm_storage storage);
TVLM_API const char *tvlm_format_name(tvlm_format format);

#ifdef __cplusplus
}
#endif
#endif
