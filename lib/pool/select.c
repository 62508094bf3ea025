/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.c: selections of many images. Each device has two stacks: while the device works on one of them, the
 * pixels of the next image are on their way to the other.
 */
#include <stdatomic.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "pool/inside.h"
#include "stack/upload.h"

enum { STACKS = 2 };

/* A stack that a device keeps for images of one shape. */
typedef struct place_stack {
    tvlm_stack *stack;       /* NULL: there is none */
    tvlm_image shape;        /* the shape; its pixels are not read */
    int64_t selection;       /* the number of the call whose parameters the stack has */
    const struct task *sent; /* the task whose pixels are in it or on their way to it; NULL: none */
} place_stack;

typedef struct place_stacks {
    place_stack stacks[STACKS];
} place_stacks;

/* One call of tvlm_pool_select, and one of its images. */
typedef struct call {
    const struct tvlm_stack_params *stack;
    const struct tvlm_select_params *params;
    int64_t selection;
    bool all;                    /* the call goes on after an error */
    atomic_int_least32_t failed; /* without `all`: the first image that failed; INT32_MAX: none did */
} call;

typedef struct task {
    call *call;
    int32_t number;
    const tvlm_image *image;
    tvlm_selection *selection;
    tvlm_status status;
} task;

/* ---- Stacks ---- */

static void release_stack(place_stack *kept) {
    tvlm_stack_destroy(&kept->stack);
    *kept = (place_stack){0};
}

void tvlm_pool_release_stacks(pool_worker *worker) {
    place_stacks *const kept = worker->stacks;
    for (int i = 0; kept != NULL && i < STACKS; ++i) release_stack(&kept->stacks[i]);
    free(kept);
    worker->stacks = NULL;
}

static bool fits(const place_stack *kept, const task *t) {
    const tvlm_image *const a = &kept->shape, *const b = t->image;
    return kept->stack != NULL && kept->selection == t->call->selection && a->width == b->width &&
           a->height == b->height && a->channels == b->channels && a->type == b->type;
}

/* Returns the stack that has the task's pixels. If there is none, returns a stack without any task's pixels,
 * and if possible one of the task's shape. Such a stack always exists: of the tasks that were sent ahead,
 * only one has not run yet. */
static place_stack *find_stack(place_stacks *kept, const task *t) {
    place_stack *found = NULL;
    for (int i = 0; i < STACKS; ++i) {
        place_stack *const one = &kept->stacks[i];
        if (one->sent == t) return one;
        if (one->sent == NULL && (found == NULL || fits(one, t))) found = one;
    }
    return found;
}

static tvlm_status make_stack(tvlm_device *device, const task *t, place_stack *kept) {
    if (fits(kept, t)) return TVLM_OK;
    release_stack(kept);
    TVLM_TRY(tvlm_stack_create_of_size(device, t->image, t->call->stack, &kept->stack));
    kept->shape = *t->image;
    kept->selection = t->call->selection;
    return TVLM_OK;
}

static tvlm_status open_stacks(const tvlm_pool_place *place, place_stacks **kept) {
    if (*place->kept == NULL) *place->kept = tvlm_allocate(1, sizeof **kept);
    *kept = *place->kept;
    return *kept != NULL
               ? TVLM_OK
               : tvlm_fail(&place->device->log, TVLM_ERROR_MEMORY, "no memory for a device's stacks");
}

/* ---- What is called for an image ---- */

static bool is_skipped(const task *t) {
    return t->number > atomic_load(&t->call->failed);
}

static tvlm_status send_ahead(void *user, const tvlm_pool_place *place) {
    task *const t = user;
    place_stacks *kept;
    if (is_skipped(t)) return TVLM_OK;
    TVLM_TRY(open_stacks(place, &kept));
    place_stack *const one = find_stack(kept, t);
    TVLM_TRY(make_stack(place->device, t, one));
    TVLM_TRY(tvlm_stack_send_image(one->stack, 0, t->image));
    one->sent = t;
    return TVLM_OK;
}

static tvlm_status select_in(const tvlm_pool_place *place, place_stack *one, task *t) {
    TVLM_TRY(make_stack(place->device, t, one));
    TVLM_TRY(tvlm_stack_set_image(one->stack, 0, one->sent == t ? NULL : t->image));
    return tvlm_select(one->stack, NULL, t->call->params, &t->selection);
}

static bool is_memory(tvlm_status status) {
    return status == TVLM_ERROR_MEMORY || status == TVLM_ERROR_DEVICE_MEMORY;
}

/* Makes the selection of one image. If there is no memory for it beside the stacks that are kept, these
 * stacks are freed, and the selection is tried once more. */
static tvlm_status select_image(void *user, const tvlm_pool_place *place) {
    task *const t = user;
    place_stacks *kept;
    TVLM_TRY(open_stacks(place, &kept));
    place_stack *const one = find_stack(kept, t);
    tvlm_status status = is_skipped(t) ? TVLM_ERROR_CANCELLED : select_in(place, one, t);
    if (is_memory(status) && (kept->stacks[0].stack != NULL || kept->stacks[1].stack != NULL)) {
        for (int i = 0; i < STACKS; ++i) release_stack(&kept->stacks[i]);
        status = select_in(place, one, t);
    }
    one->sent = NULL;
    if (status != TVLM_OK) release_stack(one); /* the stack may have half an image, or one on its way */
    return status;
}

static void note_result(void *user, const tvlm_job_result *result) {
    task *const t = user;
    t->status = result->status;
}

/* Notes that an image failed, unless an earlier image failed already. */
static void note_failure(call *c, int32_t number) {
    int_least32_t first = atomic_load(&c->failed);
    while (number < first && !atomic_compare_exchange_weak(&c->failed, &first, number)) {
    }
}

static tvlm_status select_and_note(void *user, const tvlm_pool_place *place) {
    task *const t = user;
    const tvlm_status status = select_image(user, place);
    if (status != TVLM_OK && status != TVLM_ERROR_LOST && !t->call->all) note_failure(t->call, t->number);
    return status;
}

/* ---- All images ---- */

static tvlm_status check(const tvlm_pool *pool, const tvlm_image *images, int32_t count,
                         const struct tvlm_stack_params *stack, const struct tvlm_select_params *params,
                         tvlm_selection *const *selections) {
    const tvlm_log *log = pool->open.log;
    if (count < 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d images", (int)count);
    if (count == 0) return TVLM_OK;
    TVLM_NEED(log, images);
    TVLM_NEED(log, selections);
    TVLM_CHECK_RESERVED(log, tvlm_stack_params, stack);
    TVLM_CHECK_RESERVED(log, tvlm_select_params, params);
    return TVLM_OK;
}

static int64_t next_selection(tvlm_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    const int64_t number = ++pool->selections;
    pthread_mutex_unlock(&pool->mutex);
    return number;
}

static void submit_all(tvlm_pool *pool, task *tasks, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        const struct tvlm_job job = {
            .run = select_and_note, .ahead = send_ahead, .done = note_result, .user = &tasks[i]};
        const tvlm_status status = tvlm_pool_take(pool, "tvlm_pool_select", &job, true);
        for (; status != TVLM_OK && i < count; ++i) tasks[i].status = status;
    }
    tvlm_pool_wait(pool);
}

/* Hands out the selections. If one image failed, and the caller takes no statuses, it hands out none of
 * them. */
static tvlm_status hand_out(task *tasks, int32_t count, tvlm_selection **selections, tvlm_status *statuses) {
    tvlm_status first = TVLM_OK;
    for (int32_t i = 0; i < count; ++i)
        if (first == TVLM_OK) first = tasks[i].status;
    for (int32_t i = 0; i < count; ++i) {
        if (statuses == NULL && first != TVLM_OK) tvlm_selection_destroy(&tasks[i].selection);
        selections[i] = tasks[i].selection;
        if (statuses != NULL) statuses[i] = tasks[i].status;
    }
    return statuses == NULL ? first : TVLM_OK;
}

tvlm_status tvlm_pool_select(tvlm_pool *pool, const tvlm_image *images, int32_t count,
                             const struct tvlm_stack_params *stack, const struct tvlm_select_params *params,
                             tvlm_selection **selections, tvlm_status *statuses) {
    TVLM_NEED(NULL, pool);
    TVLM_TRY(tvlm_pool_check_outside(pool, __func__));
    TVLM_TRY(check(pool, images, count, stack, params, selections));
    call c = {.stack = stack, .params = params, .selection = next_selection(pool), .all = statuses != NULL};
    task *const tasks = tvlm_allocate((size_t)count, sizeof *tasks);
    if (tasks == NULL)
        return tvlm_fail(pool->open.log, TVLM_ERROR_MEMORY, "no memory for %d images", (int)count);
    atomic_init(&c.failed, INT32_MAX);
    for (int32_t i = 0; i < count; ++i) tasks[i] = (task){.call = &c, .number = i, .image = &images[i]};
    submit_all(pool, tasks, count);
    const tvlm_status status = hand_out(tasks, count, selections, statuses);
    free(tasks);
    return status;
}
