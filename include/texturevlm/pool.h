/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h: several devices that share the work.
 *
 * The positions of many images, each found by whichever device is free:
 *
 *     tvlm_pool *pool = NULL;
 *     if (tvlm_pool_create(NULL, &pool) == TVLM_OK &&
 *         tvlm_pool_select(pool, images, count, NULL, NULL, selections, NULL) == TVLM_OK)
 *         ...
 *
 * What the devices do is a *job*: a function of the application, which is given a device and may do there all
 * that the library can do: select, export, or take in the frames of a stream. Each device of a pool has a
 * thread of its own, in which its jobs run one after the other, so that a job is alone with its device:
 *
 *     static tvlm_status run(void *user, const tvlm_pool_place *place) {
 *         struct photo *photo = user;
 *         return look_at(place->device, photo->pixels, &photo->positions);
 *     }
 *     static void done(void *user, const tvlm_job_result *result) {
 *         print_photo(user, result->status); // in the order in which the jobs were submitted
 *     }
 *     ...
 *     for (each photo) tvlm_pool_submit(pool, tvlm_job(.run = run, .done = done, .user = photo));
 *     tvlm_pool_finish(pool);
 *
 * *Order and threads.* Jobs begin in the order in which they were submitted. `run` and `ahead` are called in
 * threads of the pool, those of different jobs at the same time. `done` is called exactly once for each job
 * that tvlm_pool_submit took, in the order in which they were submitted, one at a time, and never in a thread
 * of the pool: in the thread that is in tvlm_pool_submit, tvlm_pool_deliver, tvlm_pool_finish or
 * tvlm_pool_destroy. So a program of one thread needs no lock for what `done` writes. Several threads may submit
 * to one pool and finish it.
 * Neither `run`, `ahead` nor `done` may call the functions of their pool; those that do get ARGUMENT.
 *
 * *Memory.* A pool holds at most `capacity` jobs whose `done` was not called yet. tvlm_pool_submit waits for
 * the oldest one where there are so many, and so holds back who reads the images.
 *
 * *Errors.* A job that fails concerns no other, unless tvlm_pool_params.stop says so. The first line of error
 * that it wrote to the log of its device is kept in its result, and is written to the log when `done` is
 * called, just before. Warnings and what is less go to the log at once.
 *
 * *A lost device.* A job whose device is lost (its `run` gives TVLM_ERROR_LOST) is not over: it runs again,
 * from its beginning, on another device of the pool, before the jobs behind it. So `run` must not depend on
 * what an earlier run of the same job has left, and `done` is called once all the same. The lost device is
 * closed, and a warning says so, unless it was the only one, of which the results say it. When all devices are
 * lost and tvlm_device_params.fallback is set, the pool goes on with the one that tvlm_device_open_another finds,
 * and that warns, the reference in the end. Else the jobs that are left end with LOST, and tvlm_pool_submit gives
 * LOST from then on.
 *
 * *The same as one device.* Which device works on a job makes no difference to its results, where the devices
 * are of one kind. Devices of different makers round differently in the last places, and GPUs keep texels as
 * half where CPUs keep floats: tvlm_stack_params.format makes that the same.
 */
#ifndef TEXTUREVLM_POOL_H
#define TEXTUREVLM_POOL_H

#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_pool tvlm_pool;

/* Where a job runs. It is valid during the call of `run` or `ahead`. */
typedef struct tvlm_pool_place {
    tvlm_device *device;
    int32_t number; /* of the device in the pool, from 0 on */
    /*
     * What jobs keep with a device for those that follow on it, such as a stack: NULL at first. Before the
     * device is closed, tvlm_pool_params.release is called with what it points to, and it is NULL again where
     * another device takes the place.
     */
    void **kept;
    uint64_t reserved[4];
} tvlm_pool_place;

/* How a job ended. */
typedef struct tvlm_job_result {
    tvlm_status
        status; /* what `run` gave; CANCELLED, or LOST where no device is left: it was not run to its end */
    int32_t device;      /* the number in the pool of the device that answered; -1: none */
    int32_t lost;        /* how many devices were lost while they worked on it */
    int64_t number;      /* how many jobs were submitted before it */
    const char *message; /* the first line of error, valid during the call; "" where there is none */
    uint64_t reserved[4];
} tvlm_job_result;

struct tvlm_job {
    /* Does the job. It is called once for each device that is tried. */
    tvlm_status (*run)(void *user, const tvlm_pool_place *place);
    /*
     * May begin what can be done while the device works on the job before: an upload through the device's
     * second queue (tvlm_stack_send_image, tvlm_stream_send). It is called in the thread and for the device
     * that `run` is called for afterwards, and before the `run` of the job before, if by then as many jobs
     * wait as there are devices; so `run` must do with and without. What it gives is not looked at, but for
     * LOST: `run` finds the error again. NULL: there is nothing of that kind.
     */
    tvlm_status (*ahead)(void *user, const tvlm_pool_place *place);
    /* Takes the result. NULL: nobody does. */
    void (*done)(void *user, const tvlm_job_result *result);
    void *user; /* handed to these three as it is */
    uint64_t reserved[4];
};
#define tvlm_job(...) TVLM_PARAMS(tvlm_job, __VA_ARGS__)

struct tvlm_pool_params {
    /*
     * "all": every device of the machine that is of the type of the default one (all GPUs, else all CPUs; a
     * pool of both would answer differently from run to run) and that opens; one that does not is a warning.
     * Or names as tvlm_device_params.name takes them, which commas separate; one that does not open is an
     * error, and one that is named twice is opened twice. NULL: $TVLM_DEVICE, else "all".
     */
    const char *devices;
    /* Devices that are open already, in place of `devices`. They stay the application's, which leaves them
     * alone while the pool lives and destroys them after it. */
    tvlm_device *const *opened;
    int32_t opened_count;
    /* How many jobs the pool holds at most. 0: four for each device. */
    int32_t capacity;
    /*
     * As soon as a job fails, the jobs behind it that have not begun end with CANCELLED, and tvlm_pool_submit
     * gives CANCELLED from then on. Those before it are done all the same, so that the first error in the
     * order of submission is the same from run to run.
     */
    bool stop;
    /* Frees what jobs kept with a device (tvlm_pool_place.kept), in that device's thread; is not called where
     * that is NULL. */
    void (*release)(void *user, void *kept);
    void *user; /* handed to `release` as it is */
    /* How devices are opened, and what takes the place of lost ones (`fallback`); its name is not looked at.
     * NULL: all defaults. Calls of its log come one at a time, in threads of the pool, too. */
    const struct tvlm_device_params *open;
    uint64_t reserved[4];
};
#define tvlm_pool_params(...) TVLM_PARAMS(tvlm_pool_params, __VA_ARGS__)

/*
 * Opens the devices and starts a thread for each. `params` NULL: all defaults.
 * Errors: those of tvlm_device_open; NO_DEVICE (none of "all" opens); ARGUMENT (an empty name in the list, a
 * capacity below 0); MEMORY (also where the system has no more threads).
 */
TVLM_API tvlm_status tvlm_pool_create(const struct tvlm_pool_params *params, tvlm_pool **pool);

/*
 * Hands a job to the pool, which copies it; what `user` points to must live until `done` was called. Calls
 * `done` of the jobs that are over, in order, as far as they are, and waits for the oldest where the pool is
 * full. Errors: ARGUMENT (no `run`; called by a job), LOST (no device is left), CANCELLED (a job failed, and
 * `stop` was asked for). `done` is not called for a job that was not taken.
 */
TVLM_API tvlm_status tvlm_pool_submit(tvlm_pool *pool, const struct tvlm_job *job);

/*
 * Calls `done` of the jobs that are over, in order, as far as they are, and waits for none: for a program that has
 * nothing to submit at the moment, and that somebody waits for. Errors: ARGUMENT (called by a job).
 */
TVLM_API tvlm_status tvlm_pool_deliver(tvlm_pool *pool);

/*
 * Waits until all jobs are over, and calls their `done`. Its value is the status of the first one, in the order
 * in which they were submitted, that failed since the last tvlm_pool_finish, or OK. Where another thread goes on
 * submitting, it waits for these jobs, too. Errors besides: ARGUMENT (called by a job).
 */
TVLM_API tvlm_status tvlm_pool_finish(tvlm_pool *pool);

/*
 * Ends the jobs that have not begun with CANCELLED. Those that run, and those whose `ahead` was called, go on to
 * their end. `done` is called as ever, by the next tvlm_pool_submit or tvlm_pool_finish. The pool takes further
 * jobs. It may be called in any thread, by jobs, too, and not in a handler of signals. NULL is fine.
 */
TVLM_API void tvlm_pool_cancel(tvlm_pool *pool);

/* Cancels what has not begun, waits for what runs, calls `done` of all that is left, closes the devices, and
 * sets *pool to NULL. NULL and *NULL are fine. It is called by no job. */
TVLM_API void tvlm_pool_destroy(tvlm_pool **pool);

/* What is known of a device of the pool. */
typedef struct tvlm_pool_device_info {
    tvlm_device_info device; /* of the one that took its place, where it was lost and another did */
    bool lost;               /* it is lost, and nothing took its place */
    int64_t jobs;            /* how many it has run to their end */
    uint64_t reserved[4];
} tvlm_pool_device_info;

/* How many devices the pool was created with, and what is known of one of them, at any time and in any thread.
 * Errors: ARGUMENT (there is no such device). */
TVLM_API int32_t tvlm_pool_device_count(const tvlm_pool *pool);
TVLM_API tvlm_status tvlm_pool_get_device_info(tvlm_pool *pool, int32_t number, tvlm_pool_device_info *info);

/*
 * Selects on each of `count` images as tvlm_stack_create_for_image and tvlm_select do, with these parameters
 * (NULL: all defaults), and waits: selections[i] is that of images[i], to be destroyed by the caller. It is
 * fastest where images that follow each other have the same size: a device then works on with the stack that it
 * has; and while it works on one image the next one is on its way to it. All jobs of the pool are over when it
 * returns; tvlm_pool_finish is for those of the application. A question about an image needs features of its
 * own, and is a job of the application.
 *
 * `statuses` NULL: the first error is its value, and then there are no selections: all of them are NULL. Else
 * statuses[i] says how it went with images[i], selections[i] is NULL where it failed, and the value is OK where
 * all were tried. Errors: ARGUMENT, and those of tvlm_stack_create_for_image and tvlm_select; LOST.
 */
TVLM_API tvlm_status tvlm_pool_select(tvlm_pool *pool, const tvlm_image *images, int32_t count,
                                      const struct tvlm_stack_params *stack,
                                      const struct tvlm_select_params *params, tvlm_selection **selections,
                                      tvlm_status *statuses);

#ifdef __cplusplus
}
#endif
#endif
