/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_pool.c: everything about an image is computed in the thread of its device, with a select_run and a
 * struct tool of its own. It is written in the tool's thread.
 */
#include "select.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch_queue.h"
#include "progress.h"
#include "texturevlm/io.h"

/* What is the same for all images. */
typedef struct pooled {
    select_run *run;
    select_run begin; /* a copy from before the first image, when there was nothing to release */
    batch_queue *queue;
    tvlm_device *device; /* NULL: the pool opens its own devices */
    tvlm_pool *pool;
    int code;                            /* TOOL_DONE as long as all went well, in the order of the images */
    int64_t submitted, answered, failed; /* images: taken in; answered; answered by a line about an error */
    /* Is locked while inputs are handed in to a stack: they are read, and partly made, once for all stacks.
     * */
    pthread_mutex_t handing_in;
} pooled;

/* One image, from reading to writing. */
typedef struct pooled_image {
    pooled *all;
    struct tool tool;    /* keeps the error of this image */
    batch_image decoded; /* the owner of `path` and `image` */
    const char *path;
    int number;
    const tvlm_image *image;
    option_points middles;
    bool read;           /* the image was read without an error */
    select_job *answers; /* [questions.count] */
} pooled_image;

/* ---- Lines ---- */

/* Keeps an error about an image with that image. */
static void write_image_line(void *user, tvlm_log_level level, const char *message) {
    pooled_image *const one = user;
    if (level == TVLM_LOG_ERROR)
        (void)tool_fail(&one->tool, "%s", message);
    else
        tvlm_log_message(&one->all->run->tool->log, level, "%s", message);
}

/* Passes on lines of the pool. Once the pool is there, errors are left out, since the errors of jobs come
 * with their results. */
static void write_pool_line(void *user, tvlm_log_level level, const char *message) {
    pooled *const all = user;
    if (level == TVLM_LOG_ERROR && all->pool != NULL) return;
    tvlm_log_message(&all->run->tool->log, level, "%s", message);
}

/* Makes the error of an image the tool's error. It begins with the file that it is about. If the image's
 * error is only the text of a status, `result->message` takes its place: the line that the library wrote to
 * the log of the device. */
static int take_error(struct tool *tool, pooled_image *one, const tvlm_job_result *result) {
    const char *const phrase = tvlm_status_string(result->status);
    const size_t length = strlen(one->tool.error), tail = strlen(phrase);
    tool->status = result->status;
    if (length < tail || strcmp(one->tool.error + length - tail, phrase) != 0 || result->message[0] == '\0') {
        tool->subject = NULL;
        return tool_fail(tool, "%s", length > 0 ? one->tool.error : result->message);
    }
    one->tool.error[length > tail + 1 ? length - tail - 2 : 0] = '\0';
    tool->subject = one->tool.error[0] != '\0' ? one->tool.error : NULL;
    const int code = tool_fail(tool, "%s", result->message);
    tool->subject = NULL;
    return code;
}

/* ---- In the thread of a device ---- */

/* What a device keeps from image to image: its session and its basis. */
static select_run *run_of(const pooled_image *one, const tvlm_pool_place *place) {
    if (*place->kept == NULL) {
        select_run *const made = malloc(sizeof *made);
        if (made == NULL) return NULL;
        *made = one->all->begin;
        made->stacks.device = place->device;
        made->stacks.lent = true;
        *place->kept = made;
    }
    return *place->kept;
}

static void release_run(void *user, void *kept) {
    const pooled *const all = user;
    select_run *const run = kept;
    run->stacks.tool = all->run->tool; /* the struct tool of the last image is gone */
    stack_say_kept(&run->stacks);
    stack_source_release(&run->stacks);
    tvlm_basis_destroy(&run->basis);
    free(run);
}

static void release_answers(pooled_image *one) {
    const int32_t count = one->answers != NULL ? one->all->run->questions.count : 0;
    for (int32_t i = 0; i < count; ++i) select_answer_release(&one->answers[i]);
}

static int prepare(select_run *run, pooled *all, select_job *job) {
    if (run->handed.files == NULL && run->handed.objects == NULL) return select_prepare(run, job);
    pthread_mutex_lock(&all->handing_in);
    const int code = select_prepare(run, job);
    pthread_mutex_unlock(&all->handing_in);
    return code;
}

static int answer_questions(select_run *run, pooled_image *one, select_job *job) {
    int code = prepare(run, one->all, job);
    for (; code == TOOL_DONE && job->query_number < run->questions.count; ++job->query_number) {
        select_job *const answer = &one->answers[job->query_number];
        select_answer_release(answer);
        *answer = *job;
        code = select_compute(run, answer);
        if (code != TOOL_DONE) break;
    }
    return code;
}

/* The status of an image with an error. If the error is not the library's, it is TVLM_ERROR_ARGUMENT. */
static tvlm_status status_of(const pooled_image *one) {
    return one->tool.status != TVLM_OK ? one->tool.status : TVLM_ERROR_ARGUMENT;
}

/* Answers all questions to an image. If another device was lost while it worked on the image, this begins
 * anew. */
static tvlm_status answer_image(void *user, const tvlm_pool_place *place) {
    pooled_image *const one = user;
    select_job job = {.path = one->path, .number = one->number, .image = one->image, .middles = one->middles};
    if (!one->read) return status_of(one);
    select_run *const run = run_of(one, place);
    if (run == NULL) return TVLM_ERROR_MEMORY;
    one->tool.error[0] = '\0';
    one->tool.status = TVLM_OK;
    one->tool.subject = one->path;
    run->tool = run->stacks.tool = &one->tool;
    int code;
    do code = answer_questions(run, one, &job);
    while (code != TOOL_DONE && stack_try_smaller(&run->stacks, one->path, one->image, &job.used));
    stack_done(&run->stacks, &job.used, code != TOOL_DONE);
    return code == TOOL_DONE ? TVLM_OK : status_of(one);
}

/* Sends the pixels of an image, while the device works on the image before. */
static tvlm_status send_ahead(void *user, const tvlm_pool_place *place) {
    const pooled_image *const one = user;
    select_run *const run = one->read ? run_of(one, place) : NULL;
    return run != NULL ? stack_send(&run->stacks, one->image) : TVLM_OK;
}

static tvlm_status answer_and_wake(void *user, const tvlm_pool_place *place) {
    const pooled_image *const one = user;
    const tvlm_status status = answer_image(user, place);
    batch_queue_wake(one->all->queue);
    return status;
}

/* ---- In the tool's thread ---- */

/* Writes all selections of an image. A line is written after the files of the image. */
static int write_answers(select_run *run, pooled_image *one) {
    const bool list = run->lines != NULL && run->questions.several;
    int code = TOOL_DONE;
    if (list) json_open_object(&run->json, NULL, true);
    if (list) json_open_array(&run->json, "selections", true);
    for (int32_t i = 0; code == TOOL_DONE && i < run->questions.count; ++i) {
        code = select_write(run, &one->answers[i]);
        if (code == TOOL_DONE && (run->several || run->questions.several)) code = tool_keep_files(run->tool);
    }
    if (list) json_close(&run->json);
    if (list) json_close(&run->json);
    return code == TOOL_DONE && run->lines != NULL ? batch_lines_write(run->tool, run->lines, &run->json)
                                                   : code;
}

static void release_image(pooled_image *one) {
    release_answers(one);
    free(one->answers);
    batch_image_release(&one->decoded);
    free(one);
}

/* Whether the run goes on with other images after an error, which is then written as a line. */
static bool may_be_skipped(const select_run *run, tvlm_status status) {
    return run->options->batch.skip_errors > 0 && status != TVLM_ERROR_LOST &&
           status != TVLM_ERROR_NO_DEVICE && status != TVLM_ERROR_CANCELLED;
}

/* Takes the error of an image, or writes a line about it. If an archive is damaged after the images that were
 * answered, only a part of the run has failed. */
static int answer_error(pooled *all, pooled_image *one, const tvlm_job_result *result) {
    select_run *const run = all->run;
    struct tool *const tool = run->tool;
    const int code = take_error(tool, one, result);
    const bool answered =
        all->answered > all->failed || (run->lines != NULL && batch_lines_found(run->lines) > 0);
    if (!may_be_skipped(run, result->status))
        return one->decoded.input.damaged && answered ? TOOL_PARTLY : code;
    char error[sizeof tool->error];
    memcpy(error, tool->error, sizeof error);
    tool->error[0] = '\0';
    tool->status = TVLM_OK;
    ++all->failed;
    return batch_lines_write_error(tool, run->lines, one->path, error);
}

static void take_result(void *user, const tvlm_job_result *result) {
    pooled_image *const one = user;
    pooled *const all = one->all;
    if (all->code == TOOL_DONE) {
        all->code = result->status == TVLM_OK ? write_answers(all->run, one) : answer_error(all, one, result);
        if (all->code != TOOL_DONE) tvlm_pool_cancel(all->pool);
    }
    ++all->answered;
    if (all->run->lines == NULL) progress_step(all->answered);
    release_image(one);
}

static int find_middles(pooled_image *one) {
    select_run run = one->all->begin;
    select_job job = {.path = one->path, .image = one->image};
    run.tool = &one->tool;
    pthread_mutex_lock(&one->all->handing_in);
    const int code = select_find_middles(&run, &job);
    pthread_mutex_unlock(&one->all->handing_in);
    one->middles = job.middles;
    return code;
}

/* Notes why an image could not be read. If there is no line about it, only the status is known. */
static int note_failure(pooled_image *one) {
    const batch_image *const decoded = &one->decoded;
    if (decoded->status == TVLM_OK) return TOOL_DONE;
    one->tool.status = decoded->status;
    return tool_fail(&one->tool, "%s",
                     decoded->error[0] != '\0' ? decoded->error : tvlm_status_string(decoded->status));
}

/* Takes over an image from the queue. An image that could not be read is answered in its turn, too. Returns
 * NULL if there is no memory. */
static pooled_image *take_over(pooled *all, batch_image *decoded) {
    const select_run *const run = all->run;
    pooled_image *const one = calloc(1, sizeof *one);
    if (one == NULL) {
        batch_image_release(decoded);
        return NULL;
    }
    one->all = all;
    one->decoded = *decoded;
    one->tool = *run->tool;
    one->tool.log = (tvlm_log){write_image_line, one};
    one->path = one->decoded.input.name;
    one->tool.subject = one->path;
    one->number = (int)one->decoded.input.number;
    one->image = one->decoded.image;
    one->answers = calloc((size_t)run->questions.count, sizeof *one->answers);
    if (one->answers == NULL || one->path == NULL) {
        release_image(one);
        return NULL;
    }
    int code = note_failure(one);
    if (code == TOOL_DONE) code = find_middles(one);
    one->read = code == TOOL_DONE;
    return one;
}

/* Opens the pool. Several devices are opened by the pool. A single one is opened here, as any other command
 * does it. */
static int open_pool(pooled *all) {
    select_run *const run = all->run;
    const tool_common *const common = &run->options->common;
    const bool several = select_pool_wanted(common);
    const tvlm_log log = {write_pool_line, all};
    const struct tvlm_device_params open = {.storage = (tvlm_storage)common->storage.value,
                                            .fallback = common->fallback > 0,
                                            .log = &log,
                                            .format = (tvlm_format)common->format.value,
                                            .keep_memory = true};
    if (several && run->lines != NULL) batch_lines_any_device(run->lines);
    int code = several ? TOOL_DONE : tool_open_device(run->tool, common, &all->device);
    if (code != TOOL_DONE) return code;
    const struct tvlm_pool_params params = {.devices = several ? common->device : NULL,
                                            .opened = several ? NULL : &all->device,
                                            .opened_count = several ? 0 : 1,
                                            .stop = run->options->batch.skip_errors == 0,
                                            .release = release_run,
                                            .user = all,
                                            .open = &open};
    tvlm_pool *pool = NULL;
    code = tool_status(run->tool, tvlm_pool_create(&params, &pool));
    all->pool = pool;
    return code;
}

/* Gives an image to the pool. The devices are opened with the first image that can be read, so that a wrong
 * path is an error before that. */
static int add_image(pooled *all, batch_image *decoded) {
    struct tool *const tool = all->run->tool;
    pooled_image *const one = take_over(all, decoded);
    if (one == NULL) return tool_fail(tool, "no memory for an image");
    if (all->pool == NULL && !one->read) {
        const tvlm_job_result result = {.status = status_of(one), .message = ""};
        ++all->submitted;
        take_result(one, &result);
        return all->code;
    }
    int code = all->pool == NULL ? open_pool(all) : TOOL_DONE;
    if (code == TOOL_DONE) {
        const struct tvlm_job job = {
            .run = answer_and_wake, .ahead = send_ahead, .done = take_result, .user = one};
        ++all->submitted;
        if (tvlm_pool_submit(all->pool, &job) == TVLM_OK) return TOOL_DONE;
        --all->submitted;
        code = TOOL_FAILED; /* the reason is in the result of an earlier image */
    }
    release_image(one);
    return code;
}

/* Takes the images from the queue. While it waits for one, it writes the results of the devices. */
static int answer_images(pooled *all) {
    batch_image decoded;
    int code = TOOL_DONE;
    while (code == TOOL_DONE && all->code == TOOL_DONE) {
        const batch_turn turn = batch_queue_take(all->queue, all->answered < all->submitted, &decoded);
        if (turn == BATCH_END) break;
        if (turn == BATCH_IMAGE) code = add_image(all, &decoded);
        if (turn == BATCH_NOTHING) (void)tvlm_pool_deliver(all->pool);
    }
    if (all->pool != NULL) (void)tvlm_pool_finish(all->pool); /* take_result has seen its errors */
    return all->code != TOOL_DONE ? all->code : code;
}

bool select_pool_wanted(const tool_common *common) {
    const char *const names = common->device != NULL ? common->device : getenv("TVLM_DEVICE");
    return names != NULL && (strcmp(names, "all") == 0 || strchr(names, ',') != NULL);
}

int select_pool_run(select_run *run, int count, char *const *paths) {
    const batch_options *const options = &run->options->batch;
    const struct batch_names_params params = {.sources = &options->sources,
                                              .memory = batch_memory(&options->threads),
                                              .count = count,
                                              .operands = paths,
                                              .lines = run->lines};
    pooled all = {.run = run, .begin = *run, .handing_in = PTHREAD_MUTEX_INITIALIZER};
    const int32_t side = select_side(run->tool, run->options, batch_is_open(&options->sources, count, paths));
    int code = batch_queue_open(run->tool, &params, &options->threads, side, &all.queue);
    if (code == TOOL_DONE) code = answer_images(&all);
    tvlm_pool_destroy(&all.pool);
    tvlm_device_destroy(&all.device);
    batch_queue_close(&all.queue);
    if (code != TOOL_DONE || run->lines == NULL) return code;
    return batch_partly(run->tool, all.failed + batch_lines_failed(run->lines),
                        all.answered + batch_lines_found(run->lines));
}
