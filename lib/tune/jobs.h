/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h: what is measured to tune a stage: a job of the library in which that stage takes the time.
 */
#ifndef TVLM_TUNE_JOBS_H
#define TVLM_TUNE_JOBS_H

#include "core/backend.h"
#include "texturevlm/texturevlm.h"

typedef struct tune_job {
    tvlm_device *device;
    int32_t stage, side;
    tvlm_image image;
    uint8_t *pixels;
    float *values; /* scores, or vectors */
    float *out;
    tvlm_stack *stack;
    tvlm_packed *packed;
    tvlm_flow *flow;
    tvlm_export *exported;
    tvlm_position *positions;
    int32_t count;   /* of scores, positions or cells */
    int32_t channel; /* the first of the family */
} tune_job;

/* The stages in the order in which they are tuned: what others are made from comes first. TVLM_TUNED_COUNT is a
 * selection of a new image, which is what storages are compared by. Returns how many there are. */
int32_t tvlm_tune_job_count(void);
int32_t tvlm_tune_job_stage(int32_t number);

/* The side of the picture that stands for a size; 0: the stage has nothing to do at that size. */
int32_t tvlm_tune_job_side(int32_t stage, int32_t size);

/* Makes what the job works on. tvlm_tune_job_release frees it in any case. */
tvlm_status tvlm_tune_job_prepare(tvlm_device *device, int32_t stage, int32_t side, tune_job *job);
void tvlm_tune_job_release(tune_job *job);

/* Does the job once, or enqueues it. */
tvlm_status tvlm_tune_job_run(tune_job *job);

#endif
