/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h: what the files of this folder share: the device with its queue and programs, textures as OpenCL
 * sees them, and how a kernel is called.
 */
#ifndef TVLM_OPENCL_BACKEND_H
#define TVLM_OPENCL_BACKEND_H

#include "core/backend.h"
#include "core/memory.h"
#include "core/try.h"
#include "opencl/loader.h"
#include "opencl/operations.h"
#include "opencl/spare.h"
#include "opencl/tuning.h"

typedef struct opencl_program opencl_program; /* program.c */

typedef struct opencl_buffer {
    tvlm_buffer base;
    cl_mem memory;
    /* Whether the memory is the application's. */
    bool wrapped;
    /* The event of what is being sent to the buffer; NULL while nothing is. */
    cl_event arrival;
    /* Not 0: the memory was acquired from another interface, and is given back to it. share.c knows which one
     * it is. */
    int32_t shared;
} opencl_buffer;

typedef struct opencl_texture {
    tvlm_texture base;
    /* Components of a texel: 1 in scalar textures where the storage allows that, else 4. */
    int32_t components;
    /* The memory of level 0; in buffer and mipmapped storage, that of all levels. */
    cl_mem level0;
    /* In image storage, the memory of levels 1 and up, in one array of rest_width x rest_height. Otherwise
     * NULL. */
    cl_mem rest;
    opencl_memory_kind level0_kind, rest_kind;
    /* Whether the application was given level0 and rest. Then they never become spare memory. */
    bool handed_out;
    /* In image storage, a copy of levels carry_first and up in the form that mips.cl reads. It is NULL until
     * parts of levels are made, or until the first levels are made from pixels. */
    cl_mem carry;
    int32_t carry_first;
    size_t carry_bytes;
    int32_t rest_width, rest_height;
    /* The last level that was made together with level 0 (mips.c). It is 0 once something else has written
     * level 0. */
    int32_t levels_there;
    /* What kernels are told of the images of a ragged texture (ragged.c); NULL for other textures. */
    cl_mem parts;
} opencl_texture;

/*
 * Memory that stages share for what lies between them.
 *
 *   - SCRATCH_A to SCRATCH_E are anybody's for the time of one operation.
 *   - SCRATCH_REFS, SCRATCH_PROGRAM, SCRATCH_NETWORK and SCRATCH_VIEWS belong to tvlm_opencl_keep.
 *   - SCRATCH_RANGES belongs to score.c, and keeps its content from question to question.
 */
enum {
    SCRATCH_LEVELS = 0,
    SCRATCH_A = 0,
    SCRATCH_B,
    SCRATCH_C,
    SCRATCH_D,
    SCRATCH_E,
    SCRATCH_REFS,
    SCRATCH_PROGRAM,
    SCRATCH_RANGES,
    SCRATCH_NETWORK,
    SCRATCH_VIEWS,
    SCRATCH_COUNT
};

enum { STAGES = 8, STAGE_BYTES = 64 << 10 };

/* Host memory that small writes are copied to, so that their callers need not wait. A stage is used again
 * once its content has been sent. */
typedef struct opencl_staging {
    /* STAGE_BYTES each, or NULL. */
    char *host[STAGES];
    cl_event sent[STAGES];
    int next;
} opencl_staging;

enum { PIECES = 4, PIECE_BYTES = 4 << 20 };

/* Pinned host memory: the driver keeps it where it is. A GPU takes larger writes from there while the host
 * goes on. It is made when it is first needed. Its pieces are used in turn, each again once its content has
 * been sent. */
typedef struct opencl_pinned {
    /* PIECES of PIECE_BYTES, mapped for as long as the device is open. */
    cl_mem memory;
    char *host;
    cl_event sent[PIECES];
    int next;
    /* Whether the driver refused pinned memory. Then writes wait, as on other devices. */
    bool refused;
} opencl_pinned;

/* A copy of what a scratch memory holds, so that the same content is not written twice. `host` is NULL where
 * the content is not known. */
typedef struct opencl_kept {
    char *host;
    size_t bytes;
} opencl_kept;

/* How many work-items count for one key, as in cl/rank.clh. */
enum { TOPK_RANK_LANES = 16 };

/* What score.c has left on the device. */
typedef struct opencl_score_state {
    /* The program in SCRATCH_PROGRAM. */
    opencl_kept program;
    /* Which of the two ranges in SCRATCH_RANGES is used next, and whether that range is empty. */
    int32_t ranges;
    bool ranges_empty;
} opencl_score_state;

/* The local memory, in bytes, that each device of the full profile has, and that kernels need. */
enum { LOCAL_BYTES_LEAST = 32768 };

/* What CLBlast chooses its kernels by. */
typedef struct opencl_product {
    int32_t m, n, k, transposed;
} opencl_product;
enum { PRODUCTS_KNOWN = 64 };

typedef struct opencl_device {
    tvlm_device base;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    /* A second queue, for buffer_send (buffer.c). It is NULL until something is sent that way. */
    cl_command_queue uploads;
    /* The sampler of mipmapped storage; NULL where there can be none. */
    cl_sampler mip_sampler;
    opencl_program *programs;
    /* The language of kernels, as -cl-std takes it: CL1.2, or the version that mipmapped reads need. */
    const char *cl_std;
    /* The folder that kernels are loaded from; NULL: the embedded kernels are used. */
    char *kernel_dir;
    /* The folder of compiled programs, and that of what was tuned. NULL: nothing of that kind is kept. */
    char *cache_dir, *tuning_dir;
    /* Whether a program came from cache_dir; and whether programs there are not trusted. These are not
     * loaded, but built and written anew. */
    bool cache_used, cache_distrusted;
    /* The largest work-group, in work-items. */
    size_t group_max;
    /* For each format, whether there are images of one component, and whether they pass the self-test. */
    bool scalar_images[TVLM_FORMAT_S8 + 1];
    /* Whether the driver lists images of bytes, unsigned and signed; and whether it is known if they work.
     * That is asked once somebody wants them (tvlm_opencl_ask_bytes). */
    bool byte_images, asked_bytes;
    /* Whether images do not round to the nearest half. Then kernels round before they write. */
    bool round_stores;
    /* Whether the driver frees memory that enqueued work still reads. Then tvlm_opencl_release waits for that
     * work. */
    bool releases_early;
    /* Whether clFinish does not wait for work that clFlush has sent already: see tvlm_opencl_wait. */
    bool finishes_early;
    /* Whether something was enqueued since the host last waited or flushed the queue: see
     * tvlm_opencl_flush. */
    bool unsent;
    /* Whether the driver ends long loops early. Then no work-item may do much. */
    bool short_loops;
    opencl_tuning tuning;
    /* What was tuned; NULL: nothing was. */
    opencl_tuned *tuned;
    /* CLBlast's functions (gemm.c); NULL while CLBlast is not loaded, or where it is not installed or was wrong. */
    void (*clblast_sgemm)(void), (*clblast_clear)(void);
    bool clblast_asked;
    /* The shapes of products that CLBlast was found to get right, one after the other in a circle. */
    opencl_product products[PRODUCTS_KNOWN];
    int32_t product_count;
    /* Scratch memory grows when it must. One user follows another, because the queue runs in order. */
    cl_mem scratch[SCRATCH_COUNT];
    size_t scratch_bytes[SCRATCH_COUNT];
    opencl_spares spares;
    opencl_staging staging;
    opencl_pinned pinned;
    /* Lists of work-groups (region.c). It is NULL until parts of something are made. */
    struct tvlm_opencl_regions *regions;
    opencl_score_state score;
    /* The references in SCRATCH_REFS (sample.c). */
    opencl_kept refs;
    /* The network in SCRATCH_NETWORK (lab/opencl/learned.c). */
    opencl_kept network;
    /* What the images of a bundle are seen with, in SCRATCH_VIEWS (ragged.c). */
    opencl_kept views;
    /* A texture of one texel, for arguments that no kernel looks at, where there is no other texture to pass.
     * It is NULL until one is needed. */
    tvlm_texture *empty;
} opencl_device;

/*
 * error.c: the name of an error ("CL_INVALID_VALUE"), and how a failed call becomes one line in the log and a
 * status.
 *
 * Drivers have no error of their own for a device that is lost (NVIDIA's says CL_OUT_OF_RESOURCES, for a lack
 * of memory too). Therefore the queue is asked to finish. The status is then
 *
 *   - LOST if that fails as well;
 *   - DEVICE_MEMORY or MEMORY if the error is about memory;
 *   - DEVICE otherwise.
 *
 * The last function is for calls before there is a device.
 */
const char *tvlm_opencl_error_name(cl_int error);
bool tvlm_opencl_is_lost(const tvlm_device *device, cl_int *error);
tvlm_status tvlm_opencl_fail(const tvlm_device *device, cl_int error, const char *what);
tvlm_status tvlm_opencl_fail_early(const tvlm_log *log, cl_int error, const char *what);

/*
 * platform.c: one lock for the whole process. It is held while devices are listed, opened (with their
 * self-test) and closed, since drivers are not safe there: PoCL 3.1 crashes when two threads list its devices
 * for the first time. Logs are written while it is held.
 */
void tvlm_opencl_lock(void);
void tvlm_opencl_unlock(void);

/* platform.c: finds the device that a choice means (an index, part of a text (device.h), or NULL for the
 * default); describes a device; and finds whether a device has an extension. The last two return the first
 * error, or CL_SUCCESS. */
tvlm_status tvlm_opencl_find(const char *choice, const tvlm_log *log, cl_device_id *id, int32_t *index);
cl_int tvlm_opencl_describe(cl_device_id id, int32_t index, tvlm_device_info *info);
/* What stands for a text that a driver does not tell. */
#define TVLM_OPENCL_UNKNOWN "unknown"
cl_int tvlm_opencl_device_has(cl_device_id id, const char *extension, bool *has);

/* device.c: makes a device of a context and a queue. It takes over the references to both, even when it
 * fails. It is called with the lock held. */
tvlm_status tvlm_opencl_device_create(cl_device_id id, int32_t index, cl_context context,
                                      cl_command_queue queue, const struct tvlm_device_params *params,
                                      tvlm_device **device);

/* close.c: frees a device that has no work left. It is called with the lock held. */
void tvlm_opencl_close(opencl_device *device);

/* gemm.c: lets CLBlast forget its programs, if the device has used it. */
void tvlm_opencl_gemm_close(opencl_device *device);

/* storage.c: the version of OpenCL that a device has, as 30 for 3.0; 0: it does not say. The platform may have a newer
 * version, and the device nothing of it. And the version of OpenCL C that the kernels of a storage need, as -cl-std
 * takes it. */
int32_t tvlm_opencl_version(const tvlm_device_info *info);
const char *tvlm_opencl_language(const opencl_device *device, tvlm_storage storage);

/*
 * self_test.c: finds which storages work, and whether values are rounded to the nearest half when they are
 * stored. abilities[storage] has room for every storage. It also fills info->self_tests. Whether a storage
 * can hold bytes is found here with `with_bytes`, else by tvlm_opencl_ask_bytes.
 */
typedef struct opencl_ability {
    bool works, rounds, bytes, asked_bytes;
} opencl_ability;
tvlm_status tvlm_opencl_self_test(opencl_device *device, bool images_matter, bool with_bytes,
                                  opencl_ability abilities[]);
/* self_test_levels.c: finds the largest error of reads between the levels of a mipmapped texture. NaN counts
 * as one. */
tvlm_status tvlm_opencl_levels_error(opencl_device *device, double *worst);
/* The larger of two errors. NaN is the largest, and stays that whatever comes after it. */
static inline double tvlm_opencl_larger(double worst, double error) {
    return error <= worst || worst != worst ? worst : error;
}
/* storage.c: keeps what was found out about bytes in the device's storage, and which textures have one
 * component. */
void tvlm_opencl_take_bytes(opencl_device *device, const opencl_ability *ability);
/* storage.c: gives a device the storage that is asked for, or the best of those that work. `tuned` is the
 * storage that was found to be the fastest, or AUTO. */
tvlm_status tvlm_opencl_choose_storage(opencl_device *device, const struct tvlm_device_params *params,
                                       tvlm_storage tuned, const opencl_ability able[]);

/* program.c: gives a kernel by its file, options and name, and how many work-items its groups may have at most. It is
 * built when it is first asked for. `name` must be a literal. */
tvlm_status tvlm_opencl_kernel(opencl_device *device, const char *file, const char *options, const char *name,
                               cl_kernel *kernel, size_t *most);
void tvlm_opencl_programs_destroy(opencl_device *device);
/* Releases the programs of one file. */
void tvlm_opencl_program_forget(opencl_device *device, const char *file);
/* kernel_text.c: the text of a kernel file with its includes in it, and with a #line where each file begins.
 * The caller frees it. */
tvlm_status tvlm_opencl_kernel_source(const opencl_device *device, const char *file, char **text);
/* Writes "file:line" of the file that a line of such a text comes from. Lines count from 1. */
void tvlm_opencl_kernel_place(const char *text, long line, char *place, size_t size);
/*
 * cache.c: files in a folder, which are named by a key and hold a hash of key and content.
 *
 *   - The first function makes the path of such a file.
 *   - Reading gives memory that the caller frees. It fails without a line in the log: with IO where there is
 *     no such file, FORMAT where there is one that must not be used, or MEMORY.
 *   - Writing fails without a line and without a status.
 *   - The last three do the same for compiled programs, and make their key.
 */
bool tvlm_opencl_cache_path(const char *folder, const char *key, const char *suffix, char *path, size_t size);
tvlm_status tvlm_opencl_cache_read(const char *folder, const char *key, const char *suffix,
                                   unsigned char **binary, size_t *size);
void tvlm_opencl_cache_write(const char *folder, const char *key, const char *suffix,
                             const unsigned char *binary, size_t size);
tvlm_status tvlm_opencl_cache_load(const opencl_device *device, const char *key, unsigned char **binary,
                                   size_t *size);
void tvlm_opencl_cache_store(const opencl_device *device, const char *key, const unsigned char *binary,
                             size_t size);
tvlm_status tvlm_opencl_cache_key(const opencl_device *device, const char *source, const char *options,
                                  char key[65]);

/* texture.c: finds which formats images may have, by asking the driver; and whether the texels of scalar
 * textures of a format have one component in the device's storage. */
tvlm_status tvlm_opencl_image_formats(opencl_device *device);
bool tvlm_opencl_stores_scalar(const opencl_device *device, tvlm_format format);

/* texture.c: the slices of a texture; the bytes of a texel; how many texels of one slice lie before a level;
 * and, in image storage, x and y of the first texel of a level from 1 on in the second array. */
static inline size_t tvlm_opencl_slices(const tvlm_texture *texture) {
    return (size_t)texture->layers * (size_t)texture->images;
}
size_t tvlm_opencl_texel_bytes(const tvlm_texture *texture);
size_t tvlm_opencl_level_offset(const tvlm_texture *texture, int32_t level);
void tvlm_opencl_level_corner(const tvlm_texture *texture, int32_t level, size_t corner[2]);
/* buffer.c: makes a buffer of an application's own memory and retains that, as buffer_wrap does. With `image`
 * NULL only a buffer will do. Otherwise *image becomes whether the memory is an image. */
tvlm_status tvlm_opencl_wrap(opencl_device *device, cl_mem memory, bool written, bool *image,
                             tvlm_buffer **buffer);
/* share.c: enqueue that memory is acquired from another interface, by one of the extensions that planes name,
 * and that it is given back. */
tvlm_status tvlm_opencl_share(opencl_device *device, const char *extension, opencl_buffer *buffer);
void tvlm_opencl_unshare(opencl_device *device, opencl_buffer *buffer);
/* buffer.c: writes to memory. `host` may be reused when it returns. Writes of up to STAGE_BYTES do not wait;
 * nor do larger ones on a GPU, as long as earlier writes are on their way. */
tvlm_status tvlm_opencl_write(opencl_device *device, cl_mem memory, size_t offset, size_t bytes,
                              const void *host);
/* buffer.c: reads from memory, after all that was enqueued before. */
tvlm_status tvlm_opencl_read(opencl_device *device, cl_mem memory, size_t offset, size_t bytes, void *host);
/*
 * buffer.c: the least number that a kernel finds, by atomic_min on an int in scratch[SCRATCH_C]. Begin puts
 * TVLM_INPUT_NONE there. End waits and gives the number that is there, or -1 where nothing was found. With
 * `least` NULL the number is not wanted. The kernel then still gets its int, but neither function writes or
 * reads it.
 */
tvlm_status tvlm_opencl_least_begin(opencl_device *device, const int32_t *least, cl_mem *memory);
tvlm_status tvlm_opencl_least_end(opencl_device *device, cl_mem memory, int32_t *least);
void tvlm_opencl_staging_release(opencl_device *device);
/* buffer.c: gives scratch[which], which then has at least this many bytes. */
tvlm_status tvlm_opencl_scratch(opencl_device *device, int which, size_t bytes, cl_mem *memory);
/* wait.c: waits for all that was enqueued in a queue of this device. */
cl_int tvlm_opencl_wait(const opencl_device *device, cl_command_queue queue);
/* buffer.c: releases memory that enqueued work may still use; OpenCL keeps it until that work is done. NULL
 * is fine. */
void tvlm_opencl_release(const opencl_device *device, cl_mem memory);
/* buffer.c: gives scratch[which] with these bytes in it. It writes them only where `kept` does not say that
 * they are there already. Therefore nobody else may write that scratch memory. */
tvlm_status tvlm_opencl_keep(opencl_device *device, int which, opencl_kept *kept, size_t bytes,
                             const void *host, cl_mem *memory);
/* buffer.c: gives memory for what lies between a family's stages: the product with args->keep, else
 * scratch[which]. */
tvlm_status tvlm_opencl_between(opencl_device *device, const tvlm_generate_args *args, tvlm_product product,
                                int which, size_t bytes, cl_mem *memory);

/*
 * call.c: a kernel call. Arguments are set in their order. The first error is kept, and reported by the run.
 *
 *     opencl_call call;
 *     TVLM_TRY(tvlm_opencl_call_begin(device, "visual.cl", "visual", format, "", &call));
 *     tvlm_opencl_call_input(&call, source);
 *     tvlm_opencl_call_output(&call, out);
 *     return tvlm_opencl_call_run_pixels(&call, width, height, slices);
 */
typedef struct opencl_call {
    opencl_device *device;
    cl_kernel kernel;
    /* How many work-items a group of it may have. */
    size_t most;
    const char *name;
    cl_uint next;
    cl_int error;
    /* The bytes of those arguments that are local memory. */
    size_t local_bytes;
    /* The tiles that the call is restricted to; NULL: all of `out` is made. */
    const tvlm_tiles *tiles;
    /* The texture that was last passed to tvlm_opencl_call_output or tvlm_opencl_call_scalar. */
    const tvlm_texture *out;
} opencl_call;
tvlm_status tvlm_opencl_call_begin(opencl_device *device, const char *file, const char *name,
                                   tvlm_format format, const char *options, opencl_call *call);
/* Begins a call of a kernel that has REGION_IN (cl/region.clh). If `tiles` is not NULL, it makes only what
 * they touch. */
tvlm_status tvlm_opencl_call_begin_over(opencl_device *device, const tvlm_tiles *tiles, const char *file,
                                        const char *name, tvlm_format format, const char *options,
                                        opencl_call *call);
void tvlm_opencl_call_bytes(opencl_call *call, size_t size, const void *value);
void tvlm_opencl_call_memory(opencl_call *call, cl_mem memory);
void tvlm_opencl_call_int(opencl_call *call, int32_t value);
void tvlm_opencl_call_float(opencl_call *call, float value);
void tvlm_opencl_call_ulong(opencl_call *call, uint64_t value);
void tvlm_opencl_call_int4(opencl_call *call, int32_t x, int32_t y, int32_t z, int32_t w);
void tvlm_opencl_call_float4(opencl_call *call, float x, float y, float z, float w);
/* Passes name_size of cl/texture.clh, an int4: width, height, layers, and the levels together with the range
 * of bytes. */
void tvlm_opencl_call_size(opencl_call *call, const tvlm_texture *texture);
/* Pass a texture as TEXTURE_IN or TEXTURE_OUT (cl/texture.clh), or a bundle as BUNDLE_IN (cl/bundle.clh). A
 * scalar texture that a kernel writes as such is passed by tvlm_opencl_call_scalar, any other output by
 * tvlm_opencl_call_output. In buffer storage each of the two refuses the textures of the other. */
void tvlm_opencl_call_input(opencl_call *call, const tvlm_texture *texture);
/* Passes an input that the kernel does not look at: a texture that is there anyhow, or device->empty where
 * `any` is NULL. */
void tvlm_opencl_call_unused(opencl_call *call, const tvlm_texture *any);
void tvlm_opencl_call_output(opencl_call *call, const tvlm_texture *texture);
void tvlm_opencl_call_scalar(opencl_call *call, const tvlm_texture *texture);
void tvlm_opencl_call_bundle(opencl_call *call, const tvlm_bundle *bundle);
/* source.c: the options that cl/pixels.clh is compiled with, and the arguments with which kernels over pixels
 * begin. */
void tvlm_opencl_pixel_options(const tvlm_pixels *layout, char options[48]);
void tvlm_opencl_call_pixels(opencl_call *call, tvlm_buffer *pixels, const tvlm_pixels *layout,
                             int32_t image);
/* mips.c: makes a source of one image together with its first levels in one launch. The first function says
 * whether that is to be done. */
bool tvlm_opencl_mips_from_pixels_fits(opencl_device *device, const tvlm_texture *out);
tvlm_status tvlm_opencl_mips_from_pixels(opencl_device *device, tvlm_buffer *pixels,
                                         const tvlm_pixels *layout, tvlm_texture *out);
/* ragged.c: an option for kernels that work on ragged textures: "-DRAGGED=1"; "" for other textures. */
const char *tvlm_opencl_ragged_option(const tvlm_texture *texture);
/* Gives a ragged texture its own copy of the parts, and gives the device what kernels are told of them; frees
 * both again. */
tvlm_status tvlm_opencl_ragged_create(opencl_device *device, opencl_texture *texture);
void tvlm_opencl_ragged_release(opencl_device *device, opencl_texture *texture);
/* The first passes what PARTS_IN of cl/texture.clh declares, if the texture is ragged. The second passes what
 * VIEW_IN of cl/bundle.clh declares after its numbers, if the bundle is ragged. Otherwise they pass
 * nothing. */
void tvlm_opencl_call_parts(opencl_call *call, const tvlm_texture *texture);
void tvlm_opencl_call_views(opencl_call *call, const tvlm_bundle *bundle);
/* call.c: name_size and name_extent of cl/texture.clh. The latter has the pixels that a texture covers, and
 * the level of the image at which its own level 0 stands. Its last component says which components are
 * identifiers, and whether texels in memory are scalar. */
cl_int4 tvlm_opencl_size(const tvlm_texture *texture);
cl_float4 tvlm_opencl_extent(const opencl_device *device, const tvlm_texture *texture);
/* sample.c: brings references into a bundle to the device, unless the last call left the same references
 * there. */
tvlm_status tvlm_opencl_upload_refs(opencl_device *device, const int32_t *refs, int32_t count4,
                                    cl_mem *memory);
/* call.c: the options that bundle.clh is compiled with, for the bundle's size and `run` points for each
 * work-item. */
void tvlm_opencl_bundle_options(const opencl_device *device, const tvlm_bundle *bundle, int32_t run,
                                char options[80]);
/*
 * call.c: the points beside and below each other that a work-item of score_parts or pack has: those of a run, or several
 * rows where it reads them as cl/block.clh does. That needs all of the following:
 *
 *   - the storage is `buffer`, and the format is not bytes;
 *   - the run is 8 or more, as on CPUs;
 *   - no vector of the bundle is scaled to unit length;
 *   - the driver does not end long loops early.
 *
 * A row is longer than a run, so that memory is read in longer pieces. There are eight rows, since a CPU's nearest cache
 * can hold hardly more lines at the same place of a page, and rows often lie whole pages apart.
 */
typedef struct opencl_block {
    int32_t columns, rows;
} opencl_block;
opencl_block tvlm_opencl_block(const opencl_device *device, const tvlm_bundle *bundle, tvlm_format format);
/*
 * Runs the kernel. Sizes are rounded up to whole groups. With `group` NULL the driver chooses groups. A launch of
 * nothing is not made.
 *
 * Where the kernel takes so many registers that its groups cannot be that large, they are made smaller. So a kernel
 * whose result depends on its groups asks for their size (reqd_work_group_size), which compilers then make it fit, or
 * its caller fits them before (source.c, region.c).
 */
tvlm_status tvlm_opencl_call_run(opencl_call *call, cl_uint dimensions, const size_t *size,
                                 const size_t *group);
/* Halves sides of a group until the kernel can have it. The second function refuses a group that it cannot have, for those who can
 * make theirs no smaller. */
void tvlm_opencl_call_fit(const opencl_call *call, cl_uint dimensions, size_t *group);
tvlm_status tvlm_opencl_call_check(const opencl_call *call, size_t items);
tvlm_status tvlm_opencl_call_run_pixels(opencl_call *call, int32_t width, int32_t height, int32_t slices);
/* Runs work-items that each make `run` texels of a row of call->out. With call->tiles only what they touch is
 * made. */
tvlm_status tvlm_opencl_call_run_rows(opencl_call *call, int32_t run);
/* Begins and runs a kernel over tiles (cl/tile.clh), which is compiled with the options `more` as well. The
 * last function runs a kernel over a list. */
tvlm_status tvlm_opencl_call_begin_tiles(opencl_device *device, const tvlm_tiles *tiles, const char *file,
                                         const char *name, tvlm_format format, const char *more,
                                         opencl_call *call);
tvlm_status tvlm_opencl_call_run_tiles(opencl_call *call, int32_t width, int32_t height, int32_t slices);
tvlm_status tvlm_opencl_call_run_list(opencl_call *call, size_t count, size_t rows);

/* region.c: the work-groups that changed tiles touch. A part of a region is a level of a grid. On it a
 * work-group makes a block of block_width x block_height texels (or of what stands for texels). */
typedef struct opencl_region_part {
    /* The size of the grid in texels, and the pixels that it covers. */
    int32_t width, height, extent_x, extent_y;
    /* The level, and how many levels after it the group makes as well. */
    int32_t level, made;
    /* Blocks are made around the tiles as well: as far as `reach` pixels of the image along x and `down`
     * pixels along y... */
    int32_t reach, down;
    /* ... and farther by grow_x and grow_y texels of the level. */
    int32_t grow_x, grow_y;
    int32_t block_width, block_height;
    /* The z of the part's entries is z_step * image + z. */
    int32_t z_step, z;
} opencl_region_part;
enum { REGION_PARTS = 4 };
/* Parts that are not used have a width of 0. */
typedef struct opencl_region {
    opencl_region_part parts[REGION_PARTS];
} opencl_region;
/* The region of one part that is level 0 of a texture, as far as the tiles reach. */
opencl_region tvlm_opencl_region_of(const tvlm_tiles *tiles, const tvlm_texture *out, int32_t block_width,
                                    int32_t block_height);
/* Runs the work-groups of a region, after setting the kernel's last arguments. If the region is level 0 of
 * call->out, the number of texels that they make is added to call->tiles->texels. */
tvlm_status tvlm_opencl_call_run_region(opencl_call *call, const opencl_region *region, size_t group_width,
                                        size_t group_height);
/* Begin and run a kernel that makes cells of the source, with LANES and CELLS, over call->out. A group is
 * LANES work-items wide and makes CELLS cells of a row. */
tvlm_status tvlm_opencl_call_begin_cells(opencl_device *device, const tvlm_tiles *tiles, const char *file,
                                         const char *name, const tvlm_texture *out, opencl_call *call);
tvlm_status tvlm_opencl_call_run_cells(opencl_call *call);
void tvlm_opencl_regions_destroy(opencl_device *device);

#endif
