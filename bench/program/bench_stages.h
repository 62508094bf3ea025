/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_stages.h: the stages that `tvlm bench` measures. Each stage has an entry with a function that runs
 * it, and with the number of bytes that it must move.
 */
#ifndef TVLM_TOOLS_BENCH_STAGES_H
#define TVLM_TOOLS_BENCH_STAGES_H

#include <stddef.h>
#include <stdint.h>

#include "core/backend.h"
#include "stack/inside.h"
#include "texturevlm/export.h"
#include "texturevlm/select.h"
#include "texturevlm/stream.h"

#define BENCH_STAGES_MAX 136
#define BENCH_K          TVLM_K_DEFAULT

/* Everything on the device that stages work on. */
struct bench {
    tvlm_device *device;
    tvlm_stack *stack; /* has all channels that there are */
    tvlm_chunk *chunk; /* the stack's only one */
    const tvlm_image *image;
    tvlm_pixels pixels; /* the image's layout in pixel_buffer */
    tvlm_buffer *pixel_buffer, *copy_from, *copy_to, *random, *ranking, *points, *samples, *patches;
    tvlm_texture *packed;
    /* Holds the image as if it had moved by a few pixels: cut a little at two sides, and scaled up again. */
    tvlm_stack *moved;
    tvlm_flow *flow;
    struct bench_features *features;     /* in bench_features.c */
    struct bench_delta *delta;           /* in bench_delta.c */
    struct bench_operations *operations; /* in bench_operations.c */
    struct bench_ragged *ragged;         /* in bench_ragged.c */
    struct bench_clip *clip;             /* in bench_clip.c */
    /* The twenty channels that are packed and sampled. */
    tvlm_bundle bundle;
    int32_t *refs;
    int32_t channel_count, group_count; /* of the stack; `refs` has 4 for each group */
    tvlm_export *export;                /* NULL: the model refuses the picture */
};

typedef struct bench_stage {
    char name[40];
    tvlm_status (*run)(struct bench *bench, int32_t argument); /* runs the stage once, or enqueues it */
    int32_t argument;
    double bytes; /* how many bytes must at least be read and written */
} bench_stage;

/*
 * Measures the most device memory that a stack of full40 in half takes, from its creation until all families
 * are made. It counts everything that is allocated on the device, which must be freshly open. *textures is
 * the part that the stack's textures take.
 */
tvlm_status bench_memory(tvlm_device *device, const tvlm_image *image, size_t *peak, size_t *textures);

/* Makes everything in `bench`. The image has the stack's size. bench_release is due in any case, also after
 * an error. */
tvlm_status bench_prepare(tvlm_device *device, const tvlm_image *image, tvlm_format format,
                          struct bench *bench);
void bench_release(struct bench *bench);

/* Fills in the stages, and returns how many there are. The others are compared with the first BENCH_ROOF of
 * them: a copy of device memory, and the launch of a kernel that does nothing. */
#define BENCH_ROOF 2
int32_t bench_list(const struct bench *bench, bench_stage stages[BENCH_STAGES_MAX]);

/* Adds a stage whose name is `name` and `suffix`, unless there are BENCH_STAGES_MAX already. */
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
tvlm_status bench_run_launch(struct bench *bench, int32_t unused);
void bench_operations_list(const struct bench *bench, bench_stage *stages, int32_t *count);

/* Return how many bytes packing moves, and how many bytes making the source moves. */
double bench_pack_bytes(const struct bench *bench);
double bench_source_bytes(const struct bench *bench);

/* bench_ragged.c */
tvlm_status bench_ragged_prepare(struct bench *bench);
void bench_ragged_release(struct bench *bench);
void bench_ragged_list(const struct bench *bench, bench_stage *stages, int32_t *count);

/* bench_clip.c */
tvlm_status bench_clip_prepare(struct bench *bench);
void bench_clip_release(struct bench *bench);
void bench_clip_list(const struct bench *bench, bench_stage *stages, int32_t *count);

/* bench_export.c */
tvlm_status bench_export_prepare(struct bench *bench);
void bench_export_list(const struct bench *bench, bench_stage *stages, int32_t *count);

#endif
