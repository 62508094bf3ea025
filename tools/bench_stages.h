/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_stages.h: what `tvlm bench` measures: one entry a stage, with what it does and the bytes that it must
 * move.
 */
#ifndef TVLM_TOOLS_BENCH_STAGES_H
#define TVLM_TOOLS_BENCH_STAGES_H

#include <stddef.h>
#include <stdint.h>

#include "core/backend.h"
#include "stack/inside.h"
#include "texturevlm/export.h"
#include "texturevlm/flow.h"
#include "texturevlm/select.h"

#define BENCH_STAGES_MAX 112
#define BENCH_K          TVLM_K_DEFAULT

/* Everything on the device that stages work on. */
struct bench {
    tvlm_device *device;
    tvlm_stack *stack; /* of all channels that there are */
    tvlm_chunk *chunk; /* its only one */
    const tvlm_image *image;
    tvlm_pixels pixels; /* the image's layout in pixel_buffer */
    tvlm_buffer *pixel_buffer, *copy_from, *copy_to, *random, *ranking, *points, *samples, *patches;
    tvlm_texture *packed;
    tvlm_stack *moved; /* the image cut a little at two sides and scaled up again: a motion of a few pixels */
    tvlm_flow *flow;
    struct bench_features *features;     /* bench_features.c */
    struct bench_delta *delta;           /* bench_delta.c */
    struct bench_operations *operations; /* bench_operations.c */
    tvlm_bundle bundle;                  /* of all channels */
    int32_t *refs;
    int32_t channel_count, group_count; /* refs: 4 a group */
    tvlm_export *export;                /* NULL: the model refuses the picture */
};

typedef struct bench_stage {
    char name[40];
    tvlm_status (*run)(struct bench *bench, int32_t argument); /* enqueues, or does, the stage once */
    int32_t argument;
    double bytes; /* that must be read and written, at least */
} bench_stage;

/*
 * The most device memory that a stack of full40 in half takes from creation to all families: everything that
 * is allocated on the device, which must be freshly open. *textures: what the stack's textures are of it.
 */
tvlm_status bench_memory(tvlm_device *device, const tvlm_image *image, size_t *peak, size_t *textures);

/* Makes everything; the image has the stack's size. bench_release frees it in any case. */
tvlm_status bench_prepare(tvlm_device *device, const tvlm_image *image, tvlm_format format,
                          struct bench *bench);
void bench_release(struct bench *bench);

/* Fills in the stages, the copy of device memory first. Returns how many there are. */
int32_t bench_list(const struct bench *bench, bench_stage stages[BENCH_STAGES_MAX]);

/* One more stage, of that name and suffix; not where there are BENCH_STAGES_MAX. */
void bench_add(bench_stage *stages, int32_t *count, const char *name, const char *suffix,
               tvlm_status (*run)(struct bench *, int32_t), int32_t argument, double bytes);

/* bench_features.c */
tvlm_status bench_features_prepare(struct bench *bench);
void bench_features_release(struct bench *bench);
void bench_features_list(const struct bench *bench, bench_stage *stages, int32_t *count);

/* bench_delta.c */
tvlm_status bench_delta_prepare(struct bench *bench);
void bench_delta_release(struct bench *bench);
void bench_delta_list(const struct bench *bench, bench_stage *stages, int32_t *count);

/* bench_operations.c */
tvlm_status bench_operations_prepare(struct bench *bench);
void bench_operations_release(struct bench *bench);
void bench_operations_list(const struct bench *bench, bench_stage *stages, int32_t *count);

/* The bytes that a stage moves: packing, and making the source. */
double bench_pack_bytes(const struct bench *bench);
double bench_source_bytes(const struct bench *bench);

/* bench_export.c */
tvlm_status bench_export_prepare(struct bench *bench);
void bench_export_list(const struct bench *bench, bench_stage *stages, int32_t *count);

#endif
