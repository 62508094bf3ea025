/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c: the devices of a pool: which ones there are, which log they write to, and which device takes the
 * place of one that is lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attempt.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "pool/inside.h"

#define ALL "all"

/* ---- The log of a device ---- */

/* Writes a line of a device. An error belongs to the job that the device works on: the first line is kept,
 * and is reported with the job's result. */
static void write_line(void *user, tvlm_log_level level, const char *message) {
    pool_worker *const worker = user;
    pool_job *const job = worker->current;
    if (level != TVLM_LOG_ERROR)
        tvlm_log_message(worker->pool->open.log, level, "%s", message);
    else if (job != NULL && job->line[0] == '\0')
        snprintf(job->line, sizeof job->line, "%s", message);
}

static void take_device(pool_worker *worker, tvlm_device *device, bool opened_here) {
    worker->device = device;
    worker->opened_here = opened_here;
    worker->log = device->log;
    device->log = (tvlm_log){write_line, worker};
    worker->info.device = device->info;
    worker->info.lost = false;
}

/* ---- All devices ---- */

static tvlm_status open_or_warn(const tvlm_pool *pool, const tvlm_device_info *info, tvlm_device **device) {
    struct tvlm_device_params params = pool->open;
    tvlm_attempt kept;
    char name[16];
    tvlm_attempt_begin(&kept, pool->open.log);
    snprintf(name, sizeof name, "%d", (int)info->index);
    params.name = name;
    params.log = &kept.log;
    params.fallback = false;
    const tvlm_status status = tvlm_device_open(&params, device);
    if (status == TVLM_OK)
        (*device)->log = pool->open.log != NULL ? *pool->open.log : (tvlm_log){NULL, NULL};
    else
        tvlm_log_message(pool->open.log, TVLM_LOG_WARNING, "the pool goes without '%s': %s", info->name,
                         kept.error);
    return status;
}

/* Returns the type that the default device has: GPUs come before CPUs, and CPUs before others. */
static tvlm_device_type best_type(const tvlm_device_info *infos, int32_t count) {
    tvlm_device_type best = TVLM_DEVICE_OTHER;
    for (int32_t i = 0; i < count; ++i)
        if (infos[i].type < best) best = infos[i].type;
    return best;
}

/* Opens all devices of the best type. `infos` are `count` devices, without the reference. */
static tvlm_status open_listed(tvlm_pool *pool, const tvlm_device_info *infos, int32_t count) {
    const tvlm_device_type type = best_type(infos, count);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_device *device = NULL;
        if (infos[i].type != type || open_or_warn(pool, &infos[i], &device) != TVLM_OK) continue;
        take_device(&pool->workers[pool->worker_count++], device, true);
    }
    return TVLM_OK;
}

static tvlm_status reserve_workers(tvlm_pool *pool, int32_t count) {
    pool->workers = tvlm_allocate((size_t)count, sizeof *pool->workers);
    if (pool->workers == NULL)
        return tvlm_fail(pool->open.log, TVLM_ERROR_MEMORY, "no memory for a pool of %d devices", (int)count);
    for (int32_t i = 0; i < count; ++i) pool->workers[i] = (pool_worker){.pool = pool, .number = i};
    return TVLM_OK;
}

/* Opens the default device after none of the listed ones could be opened. That gives the reference, or the
 * error that says why there is no device. */
static tvlm_status open_default(tvlm_pool *pool) {
    struct tvlm_device_params params = pool->open;
    tvlm_device *device = NULL;
    params.name = "";
    TVLM_TRY(tvlm_device_open(&params, &device));
    take_device(&pool->workers[pool->worker_count++], device, true);
    return TVLM_OK;
}

static tvlm_status open_all(tvlm_pool *pool) {
    int32_t count = 0, capacity;
    TVLM_TRY(tvlm_device_list(0, NULL, &count));
    TVLM_TRY(reserve_workers(pool, count));
    capacity = count;
    tvlm_device_info *infos = tvlm_allocate((size_t)count, sizeof *infos);
    if (infos == NULL)
        return tvlm_fail(pool->open.log, TVLM_ERROR_MEMORY, "no memory for a list of %d devices", (int)count);
    tvlm_status status = tvlm_device_list(capacity, infos, &count);
    if (status == TVLM_OK) status = open_listed(pool, infos, (count < capacity ? count : capacity) - 1);
    free(infos);
    if (status == TVLM_OK && pool->worker_count == 0) status = open_default(pool);
    return status;
}

/* ---- Named devices ---- */

static int32_t count_names(const char *names) {
    int32_t count = 1;
    for (; *names != '\0'; ++names) count += *names == ',';
    return count;
}

static tvlm_status open_named(tvlm_pool *pool, const char *names) {
    struct tvlm_device_params params = pool->open;
    char name[256];
    TVLM_TRY(reserve_workers(pool, count_names(names)));
    params.name = name;
    for (const char *rest = names;; ++rest) {
        tvlm_device *device = NULL;
        const size_t length = strcspn(rest, ",");
        if (length == 0 || length >= sizeof name)
            return tvlm_fail(pool->open.log, TVLM_ERROR_ARGUMENT,
                             "the list of devices '%s' has a name of %zu bytes", names, length);
        snprintf(name, sizeof name, "%.*s", (int)length, rest);
        TVLM_TRY(tvlm_device_open(&params, &device));
        take_device(&pool->workers[pool->worker_count++], device, true);
        rest += length;
        if (*rest == '\0') return TVLM_OK;
    }
}

/* ---- pool/inside.h ---- */

static tvlm_status take_opened(tvlm_pool *pool) {
    const struct tvlm_pool_params *params = &pool->params;
    if (params->opened_count < 1)
        return tvlm_fail(pool->open.log, TVLM_ERROR_ARGUMENT, "a pool of %d devices",
                         (int)params->opened_count);
    for (int32_t i = 0; i < params->opened_count; ++i) TVLM_NEED(pool->open.log, params->opened[i]);
    TVLM_TRY(reserve_workers(pool, params->opened_count));
    for (int32_t i = 0; i < params->opened_count; ++i)
        take_device(&pool->workers[pool->worker_count++], params->opened[i], false);
    return TVLM_OK;
}

tvlm_status tvlm_pool_open(tvlm_pool *pool) {
    const char *names = pool->params.devices != NULL ? pool->params.devices : getenv("TVLM_DEVICE");
    if (pool->params.opened != NULL) return take_opened(pool);
    if (names == NULL || names[0] == '\0' || strcmp(names, ALL) == 0) return open_all(pool);
    return open_named(pool, names);
}

void tvlm_pool_close(pool_worker *worker) {
    tvlm_pool *const pool = worker->pool;
    if (worker->device == NULL) return;
    tvlm_pool_release_stacks(worker);
    if (worker->kept != NULL && pool->params.release != NULL)
        pool->params.release(pool->params.user, worker->kept);
    worker->kept = NULL;
    worker->device->log = worker->log;
    if (worker->opened_here) tvlm_device_destroy(&worker->device);
    worker->device = NULL;
}

tvlm_status tvlm_pool_replace(pool_worker *worker) {
    tvlm_pool *const pool = worker->pool;
    tvlm_device *device = NULL;
    TVLM_TRY(tvlm_device_open_another(worker->info.device.index, &pool->open, &device));
    pthread_mutex_lock(&pool->mutex);
    take_device(worker, device, true);
    pthread_mutex_unlock(&pool->mutex);
    return TVLM_OK;
}
