/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h: several devices that share the work.
 *
 * This finds the positions of many images, each on whichever device is free:
 *
 *     tvlm_pool *pool = NULL;
 *     if (tvlm_pool_create(NULL, &pool) == TVLM_OK &&
 *         tvlm_pool_select(pool, images, count, NULL, NULL, selections, NULL) == TVLM_OK)
 *         ...
 *
 * The devices work on *jobs*. A job is a function of the application. It is given a device, and may do there all
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
 * threads of the pool, and for several jobs at the same time.
 *
 * `done` is called exactly once for each job that tvlm_pool_submit took. The calls come one at a time, in the
 * order in which the jobs were submitted. They never come in a thread of the pool, but in a thread that is in
 * tvlm_pool_submit, tvlm_pool_deliver, tvlm_pool_finish or tvlm_pool_destroy. So a program of one thread needs no
 * lock for what `done` writes. Several threads may submit to one pool and finish it.
 *
 * `run`, `ahead` and `done` may not call functions of their own pool, which would wait for themselves: these give
 * ARGUMENT. Only tvlm_pool_cancel, tvlm_pool_device_count and tvlm_pool_get_device_info may be called there.
 *
 * *Memory.* A pool holds at most `capacity` jobs whose `done` was not called yet. When it holds so many,
 * tvlm_pool_submit waits for the oldest of them. This also holds back the code that reads the images.
 *
 * *Errors.* A job that fails concerns no other, unless tvlm_pool_params.stop says so. The first line of error
 * that it wrote to the log of its device is kept in its result, and is written to the log when `done` is
 * called, just before. Warnings and what is less go to the log at once.
 *
 * *A lost device.* If the device of a job is lost (its `run` gives TVLM_ERROR_LOST), the job is not over. It runs
 * again, from its beginning, on another device of the pool, before the jobs behind it. So `run` must not depend on
 * what an earlier run of the same job has left. `done` is called once all the same.
 *
 * The lost device is closed, and a warning says so. (If it was the only device of the pool, there is no warning,
 * since the results say it.) When all devices are lost, there are two cases:
 *   - with tvlm_device_params.fallback, the pool goes on with the device that tvlm_device_open_another finds, in
 *     the end the reference, and that function warns;
 *   - without it, the jobs that are left end with LOST, and tvlm_pool_submit gives LOST from then on.
 *
 * *The same as one device.* If the devices are of one kind, it makes no difference to the results which of them
 * works on a job. Devices of different makers round differently in the last places. GPUs keep texels as half and
 * CPUs as floats, unless tvlm_stack_params.format makes that the same.
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
     * A place for what jobs keep with the device for later jobs on it, such as a stack. *kept is NULL at first.
     * Before the device is closed, tvlm_pool_params.release is called with *kept. If another device then takes
     * the place of this one, *kept is NULL again.
     */
    void **kept;
    uint64_t reserved[4];
} tvlm_pool_place;

/* How a job ended. */
typedef struct tvlm_job_result {
    /* What `run` gave. CANCELLED, or LOST because no device is left, mean that it was not run to its end. */
    tvlm_status status;
    int32_t device;      /* the number in the pool of the device that answered; -1: none */
    int32_t lost;        /* how many devices were lost while they worked on it */
    int64_t number;      /* how many jobs were submitted before it */
    const char *message; /* the first line of error, valid during the call; "" if there is none */
    uint64_t reserved[4];
} tvlm_job_result;

struct tvlm_job {
    /* Does the job. It is called once for each device that is tried. */
    tvlm_status (*run)(void *user, const tvlm_pool_place *place);
    /*
     * Begins what can be done while the device still works on the job before this one: an upload through the
     * device's second queue (tvlm_stack_send_image, tvlm_stream_send). NULL: there is nothing of that kind.
     *
     * It is called before the `run` of the job before, in the thread and for the device that `run` will be called
     * for. It is called only if at that time as many jobs wait as there are devices, so `run` must work both with
     * and without it. Its result counts only if it is LOST: any other error is one that `run` finds again.
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
     * Which devices are opened:
     *   - "all": every device of the machine that has the type of the default device: all GPUs, or if there are
     *     none all CPUs. (A pool of both would answer differently from run to run.) A device that does not open
     *     is left out with a warning.
     *   - Names as tvlm_device_params.name takes them, separated by commas. A device that does not open is an
     *     error. A device that is named twice is opened twice.
     *   - NULL: what $TVLM_DEVICE says, or "all" if that is not set.
     */
    const char *devices;
    /* Devices that are open already, in place of `devices`. They stay the application's. It must leave them alone
     * while the pool lives, and destroy them after it. */
    tvlm_device *const *opened;
    int32_t opened_count;
    /* How many jobs the pool holds at most. 0: four for each device. */
    int32_t capacity;
    /*
     * If set, a job that fails stops the pool: the jobs behind it that have not begun end with CANCELLED, and
     * tvlm_pool_submit gives CANCELLED from then on. The jobs before it are done all the same, so that the first
     * error in the order of submission is the same from run to run.
     */
    bool stop;
    /* Frees what jobs kept with a device (tvlm_pool_place.kept), in that device's thread. It is not called if that
     * is NULL. */
    void (*release)(void *user, void *kept);
    void *user; /* handed to `release` as it is */
    /* How devices are opened, and what takes the place of lost ones (`fallback`). Its `name` is not looked at.
     * NULL: all defaults. Its log is called by one thread at a time, which may be a thread of the pool. */
    const struct tvlm_device_params *open;
    uint64_t reserved[4];
};
#define tvlm_pool_params(...) TVLM_PARAMS(tvlm_pool_params, __VA_ARGS__)

/*
 * Opens the devices and starts a thread for each. `params` NULL: all defaults.
 * Errors: those of tvlm_device_open; NO_DEVICE (none of "all" opens); ARGUMENT (an empty name in the list, a
 * capacity below 0); MEMORY (also if the system has no more threads).
 */
TVLM_API tvlm_status tvlm_pool_create(const struct tvlm_pool_params *params, tvlm_pool **pool);

/*
 * Hands a job to the pool. The pool copies it, but what `user` points to must live until `done` was called.
 *
 * It also calls `done` of the oldest jobs, in order, up to the first job that is not over yet. If the pool is
 * full, it waits until the oldest job is over.
 *
 * Errors: ARGUMENT (no `run`; called by a job), LOST (no device is left), CANCELLED (a job failed, and `stop` is
 * set). `done` is not called for a job that was not taken.
 */
TVLM_API tvlm_status tvlm_pool_submit(tvlm_pool *pool, const struct tvlm_job *job);

/*
 * Calls `done` of the oldest jobs, in order, up to the first job that is not over yet, and waits for none. It is
 * for a program that has nothing to submit at the moment, while somebody waits for its results. Errors: ARGUMENT
 * (called by a job).
 */
TVLM_API tvlm_status tvlm_pool_deliver(tvlm_pool *pool);

/*
 * Waits until all jobs are over, and calls their `done`. If another thread goes on submitting, it waits for those
 * jobs, too. If jobs have failed since the last tvlm_pool_finish, it returns the status of the first of them in
 * the order of submission, else OK. Its own errors: ARGUMENT (called by a job).
 */
TVLM_API tvlm_status tvlm_pool_finish(tvlm_pool *pool);

/*
 * Ends the jobs that have not begun, with CANCELLED. Jobs that run, and those whose `ahead` was called, go on to
 * their end. `done` of all of them is called as ever, by the next tvlm_pool_submit or tvlm_pool_finish. The pool
 * takes further jobs. The function may be called in any thread, and by jobs, but not in a signal handler. NULL is
 * fine.
 */
TVLM_API void tvlm_pool_cancel(tvlm_pool *pool);

/* Cancels the jobs that have not begun, waits for those that run, calls `done` of all that are left, closes the
 * devices, and sets *pool to NULL. NULL and *NULL are fine. Jobs must not call it. */
TVLM_API void tvlm_pool_destroy(tvlm_pool **pool);

/* What is known of a device of the pool. */
typedef struct tvlm_pool_device_info {
    tvlm_device_info device; /* if another device took its place, that of the other one */
    bool lost;               /* it is lost, and nothing took its place */
    int64_t jobs;            /* how many jobs were run to their end here */
    uint64_t reserved[4];
} tvlm_pool_device_info;

/* Return how many devices the pool was created with, and what is known of one of them. They may be called at any
 * time and in any thread. Errors: ARGUMENT (there is no such device). */
TVLM_API int32_t tvlm_pool_device_count(const tvlm_pool *pool);
TVLM_API tvlm_status tvlm_pool_get_device_info(tvlm_pool *pool, int32_t number, tvlm_pool_device_info *info);

/*
 * Selects on each of `count` images as tvlm_stack_create_for_image and tvlm_select do, with these parameters
 * (NULL: all defaults), and waits. selections[i] is the selection of images[i]; the caller destroys it. There are
 * no questions here: a question about an image needs features of that image, and so takes a job of the
 * application.
 *
 * The call is fastest if images that follow each other have the same size. A device can then use its stack again,
 * and while it works on one image, the next one is already being sent to it. All jobs of the pool are over when
 * the call returns; the errors of the application's own jobs are still those of tvlm_pool_finish.
 *
 * With `statuses` NULL, the first error is returned, and then all selections are NULL. Otherwise statuses[i] says
 * how it went with images[i], selections[i] is NULL if that failed, and the result is OK once all images were
 * tried. Errors: ARGUMENT, and those of tvlm_stack_create_for_image and tvlm_select; LOST.
 */
TVLM_API tvlm_status tvlm_pool_select(tvlm_pool *pool, const tvlm_image *images, int32_t count,
                                      const struct tvlm_stack_params *stack,
                                      const struct tvlm_select_params *params, tvlm_selection **selections,
                                      tvlm_status *statuses);

#ifdef __cplusplus
}
#endif
#endif
