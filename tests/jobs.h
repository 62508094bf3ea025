/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h: what an application does, in a few jobs with small sizes: one call after the other, and any of them
 * may fail. test_allocations.c lets allocations fail, test_failures.c calls of OpenCL. A job can be done again with
 * what an earlier one, that failed, has left.
 */
#ifndef TVLM_TESTS_JOBS_H
#define TVLM_TESTS_JOBS_H

#include "jobs_host.h"
#include "jobs_opencl.h"

/* In the first job the calls that open a device fail too; the others are given one. */
static const struct job {
    const char *name;
    tvlm_status (*run)(objects *o, results *r);
    bool opens;
    bool opencl; /* in a context of the application's own (jobs_opencl.h), which the reference has not */
} jobs[] = {{"select", choose, true, false},       {"export", process, false, false},
            {"session", remember, false, false},   {"stream", watch, false, false},
            {"learn", learn, false, false},        {"generate", generate, false, false},
            {"ragged", make_ragged, false, false}, {"bytes", keep_bytes, false, false},
            {"pool", share, false, false},         {"predict", foresee, false, false},
            {"clip", hold, false, false},          {"frames", film, false, true},
            {"buffers", stay, false, true}};

static tvlm_status open_device(const struct job *job, const char *name, objects *o) {
    const tvlm_format format = job->run == keep_bytes ? TVLM_FORMAT_U8 : TVLM_FORMAT_AUTO;
    const struct tvlm_device_params params = {.name = name, .log = &job_log, .format = format};
    return job->opencl ? tvlm_device_open_opencl(own.context, own.id, own.queue, &params, &o->device)
                       : tvlm_device_open(&params, &o->device);
}

/* From what there is already: nothing, a device, or a device and what the job keeps. */
static tvlm_status work(const struct job *job, const char *name, objects *o, results *r) {
    memset(r, 0, sizeof *r);
    if (o->device == NULL) TVLM_TRY(open_device(job, name, o));
    return job->run(o, r);
}

static void destroy(objects *o) {
    tvlm_packed_destroy(&o->packed);
    tvlm_selection_destroy(&o->selection);
    tvlm_export_destroy(&o->export);
    tvlm_session_destroy(&o->session);
    tvlm_stack_destroy(&o->stack);
    tvlm_device_destroy(&o->device);
}

static int make_pixels(void **state) {
    uint64_t random = 11;
    uint8_t *made = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    (void)state;
    memcpy(pixels, made, sizeof pixels);
    free(made);
    return 0;
}

static int jobs_run; /* 0: there was no device for them, and nothing has been tested */

/* Runs `body` for each job, or the one of a name, on an OpenCL device or on the reference. */
static void each_job(const char *wanted, const tvlm_device *device,
                     void (*body)(const struct job *job, const char *name)) {
    const bool opencl = device != NULL;
    char name[16] = "reference";
    int count = 0;
    if (opencl) {
        snprintf(name, sizeof name, "%d", (int)device->info.index);
        start_own(device);
    }
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; ++i) {
        if (wanted != NULL && strcmp(jobs[i].name, wanted) != 0) continue;
        ++count;
        if (!opencl && jobs[i].opencl) continue;
        ++jobs_run;
        body(&jobs[i], name);
    }
    if (opencl) stop_own();
    if (count == 0) fail_msg("there is no job %s", wanted);
}

/* Whether a target is the first of an OpenCL device, whatever its storage and format: jobs run once on each. */
static bool is_another_device(const test_target *target) {
    static int32_t last = -1;
    if (!test_is_opencl(target->device) || target->device->info.index == last) return false;
    last = target->device->info.index;
    return true;
}

#endif
