/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuning.h: sizes of work-groups and choices between algorithms. What suits one device may not suit another.
 * Results do not depend on them. Device, tests and `tvlm devices --tune` share the one table below.
 *
 * A "run" is how many texels or points of a row one work-item makes. Groups of 16 x 16 work-items suit the
 * block-linear memory of GPUs (doc/drivers.md has the times). On CPUs rows vectorise, and launches are cheap.
 */
#ifndef TVLM_OPENCL_TUNING_H
#define TVLM_OPENCL_TUNING_H

#include "core/tuner.h"
#include "platform/compiler.h"

/*
 * X(name, a GPU's value, a CPU's):
 *
 *   - group_*: the work-groups of kernels over pixels.
 *   - tile_*: the work-groups and the tiles of kernels over tiles (cl/tile.clh).
 *   - linear_group: the work-groups of kernels over lists.
 *   - run, score_group: the run of most kernels over rows, and the work-groups of score_parts.
 *   - topk_*: the work-groups of cl/topk.cl, and how many keys one of them sorts.
 *   - rank_below: up to this n the top k are found by ranking; 0: never.
 *   - select_*: from this n on the top k are found by radix select; its work-groups, and the span of each.
 *   - best_alone: 1: the top k, if they are few, are found by topk_best.cl, in spans of select_span.
 *   - mips_run, tiled_mips: the run of mips_level; 1: several mip levels are made in one launch.
 *   - tail_lanes: the work-items of mips_tail's work-groups, but not more than the device can have.
 *   - cell*: the work-groups of entropy.
 *   - cosine_*: the cells of a work-group of cl/similarity.cl, and how many work-items share a cell.
 *   - gemm_run: how many rows a work-item of cl/gemm.cl makes; 0: CLBlast makes products.
 *   - scan_rows: 1: passes along rows and columns are serial, with few work-items that do much each.
 *   - losses_kib: how much memory there is between the kernels of cl/losses.cl, in KiB. Larger images are
 *     measured in strips, which cost a GPU launches, while a CPU finds what it has just written in its cache.
 *   - stream_kib: what a CPU packs goes past its caches if it is more than so many KiB.
 */
#define OPENCL_TUNING(X)                                                                                     \
    X(group_width, 16, 64)                                                                                   \
    X(group_height, 16, 4)                                                                                   \
    X(tile_group_width, 16, 1)                                                                               \
    X(tile_group_height, 16, 1)                                                                              \
    X(tile_width, 16, 64)                                                                                    \
    X(tile_height, 16, 16)                                                                                   \
    X(linear_group, 64, 64)                                                                                  \
    X(run, 1, 16)                                                                                            \
    X(score_group, 64, 4)                                                                                    \
    X(topk_group, 256, 256)                                                                                  \
    X(topk_chunk, 2048, 2048)                                                                                \
    X(rank_below, 8192, 0)                                                                                   \
    X(select_from, 32768, 32768)                                                                             \
    X(select_group, 256, 1)                                                                                  \
    X(select_span, 8192, 65536)                                                                              \
    X(best_alone, 0, 1)                                                                                      \
    X(mips_run, 1, 1024)                                                                                     \
    X(tiled_mips, 1, 0)                                                                                      \
    X(tail_lanes, 1024, 256)                                                                                 \
    X(cell_lanes, 16, 1)                                                                                     \
    X(cells, 4, 1)                                                                                           \
    X(cosine_width, 8, 64)                                                                                   \
    X(cosine_height, 4, 4)                                                                                   \
    X(cosine_lanes, 8, 1)                                                                                    \
    X(gemm_run, 0, 32)                                                                                       \
    X(scan_rows, 0, 1)                                                                                       \
    X(losses_kib, 131072, 8192)                                                                              \
    X(stream_kib, 0, 32768)

/* The values of the table. They are decided when a device is opened. Tests change them to run every path on
 * every device. */
typedef struct opencl_tuning {
#define OPENCL_MEMBER(name, gpu, cpu) int32_t name;
    OPENCL_TUNING(OPENCL_MEMBER)
#undef OPENCL_MEMBER
} opencl_tuning;

/* The values of a GPU that was not tuned, or of a CPU. */
opencl_tuning tvlm_opencl_tuning_default(bool gpu);

/* The values of each stage at each size of core/tuner.h, where something was tuned. */
typedef struct opencl_tuned {
    opencl_tuning at[TVLM_TUNED_COUNT][TVLM_TUNED_SIZES];
} opencl_tuned;

/*
 * To the end of the block, `device->tuning` holds what was tuned for this stage at this size. Where nothing
 * was tuned, it stays as it is.
 */
#define OPENCL_TUNED(base, stage, pixels)                                                                    \
    TVLM_AT_END(tvlm_opencl_tuned_end) opencl_tuned_scope tuned_scope;                                       \
    tvlm_opencl_tuned_begin((base), (stage), (double)(pixels), &tuned_scope)
typedef struct opencl_tuned_scope {
    tvlm_device *device; /* NULL: nothing was changed */
    opencl_tuning before;
} opencl_tuned_scope;
void tvlm_opencl_tuned_begin(tvlm_device *device, int32_t stage, double pixels, opencl_tuned_scope *scope);
void tvlm_opencl_tuned_end(opencl_tuned_scope *scope);

extern const tvlm_tuner tvlm_opencl_tuner;

/*
 * tuning_file.c: the file of what was tuned. It lies beside the program cache (cache.c), and is named by a
 * key in the same way. It has a line for each choice of a stage at a size that is not the default. A file is
 * not used, with one warning, if it is damaged, if it is of another device, or if it names what this version
 * does not have. Loading fails with MEMORY only.
 */
tvlm_status tvlm_opencl_tuning_load(tvlm_device *device);
tvlm_status tvlm_opencl_tuning_keep(tvlm_device *device, char *path, size_t size);
tvlm_status tvlm_opencl_tuning_keep_storage(tvlm_device *device, tvlm_storage storage);
/* Returns AUTO where no file names a storage. */
tvlm_storage tvlm_opencl_tuning_storage(const tvlm_device *device);

/* These are for tuning_file.c. The first returns the name of a choice. The second finds the values of the
 * members in a setting, and returns how many there are. The third returns which setting is the device's
 * default. */
enum { OPENCL_CHOICE_VALUES = 4 };
const char *tvlm_opencl_choice_name(int32_t choice);
int32_t tvlm_opencl_choice_values(const tvlm_device *device, int32_t choice, int32_t setting,
                                  int32_t values[OPENCL_CHOICE_VALUES]);
int32_t tvlm_opencl_choice_default(const tvlm_device *device, int32_t choice);

#endif
