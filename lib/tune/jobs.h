/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h: what is measured to tune a stage: a job of the library in which that stage takes most of the time.
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

/* The first function returns how many stages are tuned, and the second returns one of them. They are in the
 * order in which they are tuned: stages that make what others read come first. TVLM_TUNED_COUNT is not one of
 * them. As a stage of a job, it stands for a selection of a new image, by which storages are compared. */
int32_t tvlm_tune_job_count(void);
int32_t tvlm_tune_job_stage(int32_t number);

/* Returns the side of the picture that stands for a size, or 0 if the stage has nothing to do at that
 * size. */
int32_t tvlm_tune_job_side(int32_t stage, int32_t size);

/* Makes what the job works on. tvlm_tune_job_release must be called afterwards, also after an error. */
tvlm_status tvlm_tune_job_prepare(tvlm_device *device, int32_t stage, int32_t side, tune_job *job);
void tvlm_tune_job_release(tune_job *job);

/* Does the job once, or enqueues it. */
tvlm_status tvlm_tune_job_run(tune_job *job);

#endif
