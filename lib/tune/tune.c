/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.c: tries the settings of each stage (core/tuner.h) on jobs of its own (jobs.h), and keeps those that
 * are faster.
 *
 * On a busy machine, times differ by more than settings do. So two settings are measured in turn, as pairs of
 * samples, and the ratios of the pairs are compared. A setting must be faster in eight of nine pairs, which
 * happens by chance once in fifty times. It must also be faster by 3 %. The settings that won are compared
 * with the defaults once more, by new pairs, since the best of many is also the luckiest.
 */
#include "texturevlm/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/times.h"
#include "core/try.h"
#include "core/tuner.h"
#include "tune/jobs.h"

#define PAIRS          9
#define WINS           8
#define GAIN           0.03
#define SAMPLE_SECONDS 0.002
#define RUNS_MAX       256
#define HOPELESS       1.15 /* a setting that is this much slower in the first pair is given up */

enum { CHOICES_MAX = 32, SETTINGS_MAX = 16 };

struct tvlm_tuning {
    tvlm_tuned_stage *stages;
    int32_t count, capacity;
    tvlm_tuning_info info;
};

typedef struct tuner_state {
    tvlm_device *device;
    const tvlm_tuner *tuner;
    const struct tvlm_tune_params *params;
    tvlm_tuning *found;
    double started, seconds;
    int32_t steps, done; /* the number of pairs of a stage and a size, and how many of them are done */
    tvlm_log log;        /* the device's own log, which is replaced so that jobs that fail log nothing */
    /* Settings that were much slower at one size, or were refused. They are not tried at the following
     * sizes. */
    bool hopeless[TVLM_TUNED_COUNT][CHOICES_MAX][SETTINGS_MAX];
} tuner_state;

static bool is_over(const tuner_state *t) {
    return t->found->info.cancelled || tvlm_now() - t->started >= t->seconds;
}

static void tell(tuner_state *t, const char *name) {
    if (t->params->progress == NULL) return;
    const double passed = (tvlm_now() - t->started) / t->seconds, share = (double)t->done / t->steps;
    const double larger = passed > share ? passed : share;
    if (!t->params->progress(t->params->user, (float)(larger < 1.0 ? larger : 1.0), name))
        t->found->info.cancelled = true;
}

/* ---- Measuring ---- */

/* One side of a comparison: a job as it is, or a job with one choice set. */
typedef struct contender {
    tune_job *job;
    int32_t size, choice, setting; /* choice -1: nothing is set */
} contender;

static tvlm_status sample(tuner_state *t, const contender *c, int32_t runs, double *seconds) {
    if (c->choice >= 0)
        TVLM_TRY(t->tuner->use(c->job->device, c->job->stage, c->size, c->choice, c->setting));
    const double start = tvlm_now();
    for (int32_t i = 0; i < runs; ++i) TVLM_TRY(tvlm_tune_job_run(c->job));
    TVLM_TRY(tvlm_device_finish(c->job->device));
    *seconds = (tvlm_now() - start) / runs;
    return TVLM_OK;
}

/* Chooses how many runs make a sample. The first run compiles kernels, so that the second one is measured. */
static tvlm_status choose_runs(tuner_state *t, const contender *c, int32_t *runs) {
    double seconds;
    TVLM_TRY(sample(t, c, 1, &seconds));
    TVLM_TRY(sample(t, c, 1, &seconds));
    *runs = seconds >= SAMPLE_SECONDS ? 1 : (int32_t)(SAMPLE_SECONDS / (seconds + 1e-9)) + 1;
    if (*runs > RUNS_MAX) *runs = RUNS_MAX;
    return TVLM_OK;
}

/* Finds whether `other` is faster than `best` by more than the noise. times[0] becomes the median time of
 * `best`, and times[1] that time multiplied by the median ratio. If `other` cannot win any more, measuring
 * ends early, and `times` are those of the last pair. */
static tvlm_status is_faster(tuner_state *t, const contender *best, const contender *other, bool *faster,
                             double times[2]) {
    double ratios[PAIRS], of_best[PAIRS];
    int32_t runs, losses = 0;
    *faster = false;
    TVLM_TRY(choose_runs(t, other, &runs));
    TVLM_TRY(choose_runs(t, best, &runs));
    for (int32_t i = 0; i < PAIRS; ++i) {
        TVLM_TRY(sample(t, best, runs, &of_best[i]));
        TVLM_TRY(sample(t, other, runs, &times[1]));
        ratios[i] = times[1] / of_best[i];
        times[0] = of_best[i];
        losses += ratios[i] >= 1.0;
        if (losses > PAIRS - WINS || (i == 0 && ratios[i] > HOPELESS)) return TVLM_OK;
    }
    const double ratio = tvlm_median(ratios, PAIRS);
    *faster = ratio <= 1.0 - GAIN;
    times[0] = tvlm_median(of_best, PAIRS);
    times[1] = ratio * times[0];
    return TVLM_OK;
}

/* Returns whether an error ends tuning, since it would come with every setting. After any other error, only
 * the setting is passed over: a driver may refuse it. */
static bool is_fatal(tvlm_status status) {
    return status == TVLM_ERROR_LOST || status == TVLM_ERROR_MEMORY;
}

/* ---- One stage at one size ---- */

static tvlm_tuned_stage *add_stage(tuner_state *t, const char *name, int32_t side) {
    tvlm_tuning *found = t->found;
    if (found->count == found->capacity) return NULL; /* not reached: there is room for all */
    tvlm_tuned_stage *stage = &found->stages[found->count++];
    *stage = (tvlm_tuned_stage){.side = side};
    snprintf(stage->name, sizeof stage->name, "%s", name);
    return stage;
}

/* Tries the settings of one choice, and sets *setting to the best of them. */
static tvlm_status try_choice(tuner_state *t, tune_job *job, int32_t size, int32_t choice, int32_t *setting) {
    const int32_t usual = *setting, count = t->tuner->settings(job->device, job->stage, choice);
    for (int32_t i = 0; i < count && !is_over(t); ++i) {
        const contender best = {job, size, choice, *setting}, other = {job, size, choice, i};
        bool faster = false;
        double times[2];
        bool *hopeless = &t->hopeless[job->stage][choice][i];
        if (i == usual || *hopeless) continue;
        const tvlm_status status = is_faster(t, &best, &other, &faster, times);
        if (is_fatal(status)) return status;
        *hopeless = status != TVLM_OK || times[1] > HOPELESS * times[0];
        if (status == TVLM_OK && faster) *setting = i;
        ++t->found->info.tried;
    }
    return t->tuner->use(job->device, job->stage, size, choice, *setting);
}

/* Sets all choices of a stage at once. */
static tvlm_status use_all(tuner_state *t, const tune_job *job, int32_t size, const int32_t *settings) {
    for (int32_t choice = 0; choice < t->tuner->choices; ++choice)
        if (settings[choice] >= 0)
            TVLM_TRY(t->tuner->use(job->device, job->stage, size, choice, settings[choice]));
    return TVLM_OK;
}

/* Does what is_faster does, but compares the settings of all choices of a stage at once. */
static tvlm_status confirm(tuner_state *t, tune_job *job, int32_t size, const int32_t *usual,
                           const int32_t *best, bool *faster, double times[2]) {
    const contender as_it_is = {job, size, -1, 0};
    double ratios[PAIRS], before[PAIRS], after;
    int32_t runs, wins = 0;
    TVLM_TRY(use_all(t, job, size, best));
    TVLM_TRY(choose_runs(t, &as_it_is, &runs));
    for (int32_t i = 0; i < PAIRS; ++i) {
        TVLM_TRY(use_all(t, job, size, usual));
        TVLM_TRY(sample(t, &as_it_is, runs, &before[i]));
        TVLM_TRY(use_all(t, job, size, best));
        TVLM_TRY(sample(t, &as_it_is, runs, &after));
        ratios[i] = after / before[i];
        wins += ratios[i] < 1.0;
    }
    const double ratio = tvlm_median(ratios, PAIRS);
    *faster = wins >= WINS && ratio <= 1.0 - GAIN;
    times[0] = tvlm_median(before, PAIRS);
    times[1] = ratio * times[0];
    return TVLM_OK;
}

static void describe(tuner_state *t, const tune_job *job, const int32_t *usual, const int32_t *best,
                     char *text, size_t size) {
    size_t length = 0;
    for (int32_t choice = 0; choice < t->tuner->choices; ++choice) {
        char words[TVLM_TUNED_TEXT];
        if (best[choice] == usual[choice]) continue;
        t->tuner->describe(job->device, choice, best[choice], words);
        if (length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "", words);
    }
}

/* What a search has found: the former settings, the best ones, and the times of both. */
typedef struct search {
    int32_t usual[CHOICES_MAX], best[CHOICES_MAX];
    bool faster;
    double times[2];
} search;

static tvlm_status find_best(tuner_state *t, tune_job *job, int32_t size, search *s) {
    bool changed = false;
    for (int32_t choice = 0; choice < t->tuner->choices; ++choice) {
        if (s->usual[choice] >= 0) TVLM_TRY(try_choice(t, job, size, choice, &s->best[choice]));
        changed = changed || s->best[choice] != s->usual[choice];
    }
    return changed ? confirm(t, job, size, s->usual, s->best, &s->faster, s->times) : TVLM_OK;
}

/* Measures how long the job takes as it is. */
static tvlm_status measure(tuner_state *t, tune_job *job, int32_t size, double times[2]) {
    const contender as_it_is = {job, size, -1, 0};
    int32_t runs;
    TVLM_TRY(choose_runs(t, &as_it_is, &runs));
    TVLM_TRY(sample(t, &as_it_is, runs, &times[0]));
    times[1] = times[0];
    return TVLM_OK;
}

static tvlm_status tune_job_settings(tuner_state *t, tune_job *job, int32_t size) {
    search s = {.faster = false};
    for (int32_t choice = 0; choice < t->tuner->choices; ++choice)
        s.best[choice] = s.usual[choice] = t->tuner->settings(job->device, job->stage, choice) > 0
                                               ? t->tuner->used(job->device, job->stage, size, choice)
                                               : -1;
    tvlm_status status = find_best(t, job, size, &s);
    if (status != TVLM_OK || !s.faster) {
        TVLM_TRY(use_all(t, job, size, s.usual));
        TVLM_TRY(status);
        TVLM_TRY(measure(t, job, size, s.times));
    }
    tvlm_tuned_stage *stage = add_stage(t, tvlm_tuned_name(job->stage), job->side);
    if (stage == NULL) return TVLM_OK;
    stage->before = s.times[0];
    stage->after = s.times[1];
    if (s.faster) describe(t, job, s.usual, s.best, stage->settings, sizeof stage->settings);
    return TVLM_OK;
}

/* Tunes a stage at one size. A job that the device cannot do, or has too little memory for, is passed
 * over. */
static tvlm_status tune_stage(tuner_state *t, tvlm_device *device, int32_t stage, int32_t size) {
    tune_job job = {0};
    const int32_t side = tvlm_tune_job_side(stage, size);
    if (side == 0) return TVLM_OK;
    tvlm_status status = tvlm_tune_job_prepare(device, stage, side, &job);
    if (status == TVLM_OK) status = tune_job_settings(t, &job, size);
    tvlm_tune_job_release(&job);
    return is_fatal(status) ? status : TVLM_OK;
}

static tvlm_status tune_all(tuner_state *t, tvlm_device *device) {
    static const int32_t order[TVLM_TUNED_SIZES] = {1, 0, 2}; /* the most common size comes first */
    for (int32_t s = 0; s < TVLM_TUNED_SIZES; ++s)
        for (int32_t i = 0; i < tvlm_tune_job_count(); ++i, ++t->done) {
            if (is_over(t)) return TVLM_OK;
            tell(t, tvlm_tuned_name(tvlm_tune_job_stage(i)));
            if (!is_over(t)) TVLM_TRY(tune_stage(t, device, tvlm_tune_job_stage(i), order[s]));
        }
    t->found->info.complete = !is_over(t);
    return TVLM_OK;
}

/* ---- Storage ---- */

/* Compares how long a selection of a new image takes on the device and on another one. */
static tvlm_status compare_devices(tuner_state *t, tvlm_device *other, bool *faster, double times[2]) {
    tune_job jobs[2] = {{0}, {0}};
    const contender mine = {&jobs[0], 1, -1, 0}, others = {&jobs[1], 1, -1, 0};
    const int32_t side = tvlm_tune_job_side(TVLM_TUNED_COUNT, 1);
    tvlm_status status = tvlm_tune_job_prepare(t->device, TVLM_TUNED_COUNT, side, &jobs[0]);
    if (status == TVLM_OK) status = tvlm_tune_job_prepare(other, TVLM_TUNED_COUNT, side, &jobs[1]);
    if (status == TVLM_OK) status = is_faster(t, &mine, &others, faster, times);
    tvlm_tune_job_release(&jobs[0]);
    tvlm_tune_job_release(&jobs[1]);
    return status;
}

/* Opens the device once more, with another storage. Returns NULL if that fails. */
static tvlm_device *open_in(const tuner_state *t, tvlm_storage storage) {
    const tvlm_device_info *info = &t->device->info;
    tvlm_device *other = NULL;
    char index[16];
    snprintf(index, sizeof index, "%d", (int)info->index);
    if (tvlm_device_open(tvlm_device_params(.name = index, .storage = storage,
                                            .cache_dir = t->tuner->folder(t->device), .untuned = true),
                         &other) != TVLM_OK)
        return NULL;
    return other;
}

/* Notes how long a selection takes with the device's own storage and with another one. Returns whether the
 * other storage is the fastest so far. */
static bool note_storage(tuner_state *t, tvlm_tuned_stage **stage, tvlm_storage storage, bool faster,
                         const double times[2]) {
    const bool first = *stage == NULL;
    if (first) *stage = add_stage(t, "storage", tvlm_tune_job_side(TVLM_TUNED_COUNT, 1));
    if (*stage == NULL) return false;
    if (first) (*stage)->before = (*stage)->after = times[0];
    if (!faster || times[1] >= (*stage)->after) return false;
    (*stage)->before = times[0];
    (*stage)->after = times[1];
    snprintf((*stage)->settings, sizeof(*stage)->settings, "%s", tvlm_storage_name(storage));
    return true;
}

/* Tries the other storages. If one is faster, sets *fastest to a device with that storage, which belongs to
 * the caller. */
static tvlm_status tune_storage(tuner_state *t, tvlm_device **fastest) {
    tvlm_tuned_stage *stage = NULL;
    for (int s = TVLM_STORAGE_IMAGE; s <= TVLM_STORAGE_BUFFER && !is_over(t); ++s) {
        const tvlm_storage storage = (tvlm_storage)s;
        double times[2];
        bool faster = false;
        if (storage == t->device->info.storage) continue;
        tell(t, "storage");
        tvlm_device *other = is_over(t) ? NULL : open_in(t, storage);
        if (other == NULL) continue;
        const tvlm_status status = compare_devices(t, other, &faster, times);
        ++t->found->info.tried;
        if (status == TVLM_OK && note_storage(t, &stage, storage, faster, times)) {
            tvlm_device_destroy(fastest);
            *fastest = other;
            continue;
        }
        tvlm_device_destroy(&other);
        if (is_fatal(status)) return status;
    }
    return TVLM_OK;
}

/* ---- device.h ---- */

static tvlm_status check(const tvlm_device *device, const struct tvlm_tune_params *params) {
    TVLM_CHECK_RESERVED(&device->log, tvlm_tune_params, params);
    if (params->seconds != 0.0f && !(params->seconds >= 0.1f && params->seconds <= 3600.0f))
        return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT, "tuning takes 0.1 to 3600 seconds, not %g",
                         (double)params->seconds);
    if (device->backend->tuner == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_UNSUPPORTED, "the %s device has nothing to tune",
                         device->backend->name);
    return TVLM_OK;
}

static void drop_line(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    (void)level;
    (void)message;
}

/* Writes what was found to a file. If that is not possible, the device still uses what was found. */
static void keep(tuner_state *t, tvlm_device *fastest) {
    char path[1024] = "";
    tvlm_device *device = fastest != NULL ? fastest : t->device;
    bool compared = false;
    for (int32_t i = 0; i < t->found->count; ++i)
        compared = compared || strcmp(t->found->stages[i].name, "storage") == 0;
    tvlm_status status = t->tuner->keep(device, path, sizeof path);
    if (status == TVLM_OK && compared) status = t->tuner->keep_storage(t->device, device->info.storage);
    if (status == TVLM_OK) snprintf(t->found->info.path, sizeof t->found->info.path, "%s", path);
    if (status != TVLM_OK || path[0] == '\0')
        tvlm_log_message(&t->log, TVLM_LOG_WARNING, "what was tuned is kept in no file: %s",
                         path[0] != '\0' ? "it cannot be written" : "there is no folder for it");
}

static tvlm_status tune(tuner_state *t) {
    tvlm_device *fastest = NULL;
    tvlm_status status = TVLM_OK;
    if (!t->params->keep_storage && t->device->info.index >= 0) status = tune_storage(t, &fastest);
    if (status == TVLM_OK) status = tune_all(t, fastest != NULL ? fastest : t->device);
    if (status == TVLM_OK && t->found->count == 0 && !is_over(t)) status = TVLM_ERROR_DEVICE;
    if (status == TVLM_OK && !t->found->info.cancelled) keep(t, fastest);
    tvlm_device_destroy(&fastest);
    return status;
}

tvlm_status tvlm_device_tune(tvlm_device *device, const struct tvlm_tune_params *params,
                             tvlm_tuning **tuning) {
    static const struct tvlm_tune_params defaults = {0};
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, tuning);
    *tuning = NULL;
    if (params == NULL) params = &defaults;
    TVLM_TRY(check(device, params));
    tuner_state t = {.device = device,
                     .tuner = device->backend->tuner,
                     .params = params,
                     .started = tvlm_now(),
                     .seconds =
                         params->seconds > 0.0f ? (double)params->seconds : (double)TVLM_TUNE_SECONDS_DEFAULT,
                     .steps = TVLM_TUNED_SIZES * tvlm_tune_job_count(),
                     .log = device->log};
    t.found = tvlm_allocate(1, sizeof *t.found);
    if (t.found != NULL) {
        t.found->capacity = t.steps + 1;
        t.found->stages = tvlm_allocate((size_t)t.found->capacity, sizeof *t.found->stages);
    }
    if (t.found == NULL || t.found->stages == NULL) {
        free(t.found);
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "out of memory for what is tuned");
    }
    t.tuner->defaults(device);
    device->log = (tvlm_log){drop_line, NULL};
    const tvlm_status status = tune(&t);
    device->log = t.log;
    t.found->info.seconds = tvlm_now() - t.started;
    if (status != TVLM_OK) {
        t.tuner->defaults(device);
        tvlm_tuning_destroy(&t.found);
        return tvlm_fail(&device->log, status, "tuning failed: %s", tvlm_status_string(status));
    }
    if (t.found->info.cancelled) {
        const tvlm_status loaded = t.tuner->load(device);
        if (loaded != TVLM_OK) {
            tvlm_tuning_destroy(&t.found);
            return loaded;
        }
    }
    *tuning = t.found;
    return TVLM_OK;
}

const tvlm_tuned_stage *tvlm_tuning_stages(const tvlm_tuning *tuning, int32_t *count) {
    if (count != NULL) *count = tuning != NULL ? tuning->count : 0;
    return tuning != NULL ? tuning->stages : NULL;
}

tvlm_status tvlm_tuning_get_info(const tvlm_tuning *tuning, tvlm_tuning_info *info) {
    TVLM_NEED(NULL, tuning);
    TVLM_NEED(NULL, info);
    *info = tuning->info;
    return TVLM_OK;
}

void tvlm_tuning_destroy(tvlm_tuning **tuning) {
    if (tuning == NULL || *tuning == NULL) return;
    free((*tuning)->stages);
    free(*tuning);
    *tuning = NULL;
}
