/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h: what the files of this folder share: the device with its queue and programs, textures as OpenCL
 * sees them, and how a kernel is called.
 */
#ifndef TVLM_OPENCL_BACKEND_H
#define TVLM_OPENCL_BACKEND_H

#include <CL/cl.h>

#include "core/backend.h"
#include "core/memory.h"
#include "core/try.h"

typedef struct opencl_program opencl_program; /* program.c */

/* What differs between a CPU and a GPU, decided at open; tests change it to run every path on every device.
 */
typedef struct opencl_tuning {
    int32_t group_width, group_height; /* of kernels over pixels */
    int32_t tile_group_width, tile_group_height, tile_width,
        tile_height;          /* of kernels over tiles: cl/tile.clh */
    int32_t linear_group;     /* of kernels over lists */
    int32_t run, score_group; /* points of a row that one work-item reads: cl/bundle.clh, cl/score.cl */
    int32_t topk_group, topk_chunk;
    int32_t rank_below;                             /* top-K by counting for n up to this; 0: never */
    int32_t select_from, select_group, select_span; /* radix select for n from this on; its work-groups */
    int32_t mips_run;                               /* texels of a row that a work-item of mips_level makes */
    int32_t cell_lanes, cells;                      /* of entropy's work-groups */
    int32_t cosine_width, cosine_height;            /* cells of a work-group of cl/similarity.cl, */
    int32_t cosine_lanes;                           /* between which it divides their layers */
    int32_t gemm_run;                               /* rows that a work-item of gemm.cl makes; 0: CLBlast */
    bool scan_rows;  /* serial passes along rows and columns: few work-items that do much */
    bool tiled_mips; /* several levels a launch */
} opencl_tuning;

typedef struct opencl_buffer {
    tvlm_buffer base;
    cl_mem memory;
    bool wrapped;     /* the application's */
    cl_event arrival; /* of what is being sent to it, else NULL */
} opencl_buffer;

typedef struct opencl_texture {
    tvlm_texture base;
    cl_mem level0; /* or everything, in buffer and mip-mapped storage */
    cl_mem rest;   /* image storage: levels 1.. ; NULL otherwise */
    cl_mem carry;  /* image storage: levels carry_first.. again, as mips.cl reads them; NULL until parts are
                      made */
    int32_t carry_first;
    size_t carry_bytes;
    int32_t rest_width, rest_height;
} opencl_texture;

enum {
    SCRATCH_LEVELS = 0,
    SCRATCH_A = 0,
    SCRATCH_B,
    SCRATCH_C,
    SCRATCH_D,
    SCRATCH_E,
    SCRATCH_PROGRAM, /* score.c's alone: what is in them is kept from question to question */
    SCRATCH_RANGES,
    SCRATCH_COUNT
};

enum { STAGES = 8, STAGE_BYTES = 64 << 10 };

/* Host memory that small writes are copied to, so that they need not wait: each is used again when it is
 * sent. */
typedef struct opencl_staging {
    char *host[STAGES]; /* STAGE_BYTES, or NULL */
    cl_event sent[STAGES];
    int next;
} opencl_staging;

/* What score.c left on the device. */
typedef struct opencl_score_state {
    char *program; /* as it is in SCRATCH_PROGRAM; NULL: nothing is */
    size_t program_bytes;
    int32_t ranges;    /* which of the two in SCRATCH_RANGES is next, */
    bool ranges_empty; /* and whether it is ready for it */
} opencl_score_state;

typedef struct opencl_device {
    tvlm_device base;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_command_queue uploads; /* NULL until something is sent: buffer.c */
    cl_sampler mip_sampler;   /* mip-mapped storage only */
    opencl_program *programs;
    const char *cl_std;  /* for kernels: CL1.2, or what mip-mapped reads need */
    char *kernel_dir;    /* NULL: embedded */
    char *cache_dir;     /* NULL: none */
    size_t group_max;    /* work-items */
    bool round_stores;   /* images do not round to the nearest half: kernels do it before they write */
    bool releases_early; /* the driver lets go of images that enqueued work still reads: texture.c waits */
    bool short_loops;    /* the driver ends long loops early: no work-item may do much */
    opencl_tuning tuning;
    void (*clblast_sgemm)(void); /* gemm.c; NULL: not loaded, or not there */
    bool clblast_asked;
    cl_mem scratch[SCRATCH_COUNT]; /* grown when needed; the queue is in order, so one user follows another */
    size_t scratch_bytes[SCRATCH_COUNT];
    opencl_staging staging;
    struct tvlm_opencl_regions *regions; /* region.c; NULL until parts of something are made */
    opencl_score_state score;
    tvlm_texture *empty; /* one texel, for arguments that are not looked at */
} opencl_device;

/* error.c: "CL_INVALID_VALUE"; and a failed call as one line and a status (memory errors as DEVICE_MEMORY).
 */
const char *tvlm_opencl_error_name(cl_int error);
tvlm_status tvlm_opencl_fail(const tvlm_log *log, cl_int error, const char *what);

/* platform.c */
tvlm_status tvlm_opencl_find(const char *choice, const tvlm_log *log, cl_device_id *id, int32_t *index);
void tvlm_opencl_describe(cl_device_id id, int32_t index, tvlm_device_info *info);
bool tvlm_opencl_device_has(cl_device_id id, const char *extension);

/* device.c: takes over `context` and `queue` (retained by the caller for it). */
tvlm_status tvlm_opencl_device_create(cl_device_id id, int32_t index, cl_context context,
                                      cl_command_queue queue, const struct tvlm_device_params *params,
                                      tvlm_device **device);

/* The OpenCL C that the kernels of a storage need, as -cl-std takes it. */
const char *tvlm_opencl_language(const opencl_device *device, tvlm_storage storage);

/* device->empty, in the storage that the device has now */
tvlm_status tvlm_opencl_empty_create(opencl_device *device);

/* self_test.c: fills info->self_tests, decides which storages work. */
typedef struct opencl_abilities {
    bool image, buffer, mipmapped;
    bool image_rounds; /* images round to the nearest half by themselves */
} opencl_abilities;
tvlm_status tvlm_opencl_self_test(opencl_device *device, bool images_matter, opencl_abilities *abilities);

/* program.c */
tvlm_status tvlm_opencl_kernel(opencl_device *device, const char *file, const char *options, const char *name,
                               cl_kernel *kernel);
void tvlm_opencl_programs_destroy(opencl_device *device);
/* kernel_text.c: a kernel file with its includes in it, and #line where files begin. free() it. */
tvlm_status tvlm_opencl_kernel_source(const opencl_device *device, const char *file, char **text);
/* cache.c */
tvlm_status tvlm_opencl_cache_load(const opencl_device *device, const char *key, unsigned char **binary,
                                   size_t *size);
void tvlm_opencl_cache_store(const opencl_device *device, const char *key, const unsigned char *binary,
                             size_t size);
tvlm_status tvlm_opencl_cache_key(const opencl_device *device, const char *source, const char *options,
                                  char key[65]);

/* texture.c */
size_t tvlm_opencl_texel_bytes(const tvlm_texture *texture);
/* Texels of one slice before `level`. */
size_t tvlm_opencl_level_offset(const tvlm_texture *texture, int32_t level);
/* buffer.c. As tvlm_opencl_buffer_write: `host` may be reused when it returns. What is small waits for
 * nothing. */
tvlm_status tvlm_opencl_write(opencl_device *device, cl_mem memory, size_t offset, size_t bytes,
                              const void *host);
void tvlm_opencl_staging_release(opencl_device *device);
/* scratch[which] with at least so many bytes */
tvlm_status tvlm_opencl_scratch(opencl_device *device, int which, size_t bytes, cl_mem *memory);
/* What lies between a family's stages: the product with args->keep, else scratch[which] */
tvlm_status tvlm_opencl_between(opencl_device *device, const tvlm_generate_args *args, tvlm_product product,
                                int which, size_t bytes, cl_mem *memory);

/*
 * call.c: a kernel call. Arguments are set in order; the first error is kept and reported by the run.
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
    const char *name;
    cl_uint next;
    cl_int error;
    const tvlm_tiles *tiles; /* NULL: all of `out` is made */
    const tvlm_texture *out; /* the last one of tvlm_opencl_call_output */
} opencl_call;
tvlm_status tvlm_opencl_call_begin(opencl_device *device, const char *file, const char *name,
                                   tvlm_format format, const char *options, opencl_call *call);
/* The same of a kernel that has REGION_IN (cl/region.clh): with tiles not NULL it makes what they touch. */
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
void tvlm_opencl_call_size(opencl_call *call,
                           const tvlm_texture *texture); /* int4: width, height, layers, levels */
void tvlm_opencl_call_input(opencl_call *call, const tvlm_texture *texture);
void tvlm_opencl_call_output(opencl_call *call, const tvlm_texture *texture);
void tvlm_opencl_call_bundle(opencl_call *call, const tvlm_bundle *bundle);
/* sample.c: the references into a bundle go to the device with each call, a few hundred bytes. */
tvlm_status tvlm_opencl_upload_refs(opencl_device *device, const int32_t *refs, int32_t count4,
                                    cl_mem *memory);
/* What bundle.clh is compiled with: for the bundle's size, and `run` points a work-item. */
void tvlm_opencl_bundle_options(const tvlm_bundle *bundle, int32_t run, char options[48]);
/* `group` NULL: the driver's choice. Sizes are rounded up to whole groups. */
tvlm_status tvlm_opencl_call_run(opencl_call *call, cl_uint dimensions, const size_t *size,
                                 const size_t *group);
tvlm_status tvlm_opencl_call_run_pixels(opencl_call *call, int32_t width, int32_t height, int32_t slices);
/* Work-items that make `run` texels of a row of call->out each; or only those that call->tiles touch. */
tvlm_status tvlm_opencl_call_run_rows(opencl_call *call, int32_t run);
/* Kernels over tiles (cl/tile.clh). */
tvlm_status tvlm_opencl_call_begin_tiles(opencl_device *device, const tvlm_tiles *tiles, const char *file,
                                         const char *name, tvlm_format format, opencl_call *call);
tvlm_status tvlm_opencl_call_run_tiles(opencl_call *call, int32_t width, int32_t height, int32_t slices);
tvlm_status tvlm_opencl_call_run_list(opencl_call *call, size_t count, size_t rows);

/*
 * region.c: the work-groups that changed tiles touch. A region is up to four parts: a level of a grid each,
 * on which a work-group makes block_width x block_height texels (or what stands for them).
 */
typedef struct opencl_region_part {
    int32_t width, height, extent_x, extent_y; /* of the grid */
    int32_t level, made;                       /* and so many levels after it, which the group makes too */
    int32_t reach, down;                       /* pixels of the image: along x, along y */
    int32_t grow_x, grow_y;                    /* and texels of the level */
    int32_t block_width, block_height;
    int32_t z_step, z; /* listed under z_step * image + z */
} opencl_region_part;
enum { REGION_PARTS = 4 };
typedef struct opencl_region {
    opencl_region_part parts[REGION_PARTS]; /* unused ones: 0 wide */
} opencl_region;
/* Level 0 of a texture, as far as call->tiles reach. */
opencl_region tvlm_opencl_region_of(const tvlm_tiles *tiles, const tvlm_texture *out, int32_t block_width,
                                    int32_t block_height);
/* Runs the work-groups of the region, and sets the kernel's last arguments. texels: how many texels they
 * make, added to call->tiles->texels where the region is level 0 of call->out. */
tvlm_status tvlm_opencl_call_run_region(opencl_call *call, const opencl_region *region, size_t group_width,
                                        size_t group_height);
void tvlm_opencl_regions_destroy(opencl_device *device);

/* Every operation (core/operations.h) and the generator of every family: one file a family or stage. */
#define OPENCL_OPERATION(name)     tvlm_##name##_operation tvlm_opencl_##name;
#define OPENCL_GENERATOR(ID, name) tvlm_generate_operation tvlm_opencl_##name;
TVLM_OPERATIONS(OPENCL_OPERATION)
TVLM_GENERATED_GRIDS(OPENCL_GENERATOR)
#undef OPENCL_OPERATION
#undef OPENCL_GENERATOR

#endif
