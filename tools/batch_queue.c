/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* NOLINT: for memfd_create */
#include "batch_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "texturevlm/io.h"

/* How long an impatient one waits, who is woken in nearly all cases. */
enum { PATIENCE_NS = 2000000 };

/* Image n is decoded in, and waits in, slot n % count. */
typedef struct slot {
    bool ready;
    batch_image image;
} slot;

struct batch_queue {
    batch_names *names;
    const tvlm_log *log;
    int32_t max_side;
    int count; /* of slots and of threads that were asked for */
    int started;
    pthread_t *threads;
    pthread_mutex_t mutex; /* holds for all that follows */
    pthread_cond_t changed;
    slot *slots;
    int64_t first, next; /* the image that is taken next; the number of the next name */
    bool reading;        /* a thread asks for a name */
    bool ended, stopped, woken;
};

void batch_image_release(batch_image *image) {
    batch_input_release(&image->input);
    tvlm_image_destroy(&image->image);
}

/* ---- In a thread that decodes ---- */

typedef struct image_log {
    batch_image *image;
    const tvlm_log *log;
    const char *path; /* what is decoded; lines have the input's name in its place */
} image_log;

/* Copies a line, with the name of the input for the path under which it was read. */
static void copy_line(const image_log *own, const char *message, char *line, size_t size) {
    const char *const found = strstr(message, own->path);
    if (found == NULL)
        snprintf(line, size, "%s", message);
    else
        snprintf(line, size, "%.*s%s%s", (int)(found - message), message, own->image->input.name,
                 found + strlen(own->path));
}

static void write_line(void *user, tvlm_log_level level, const char *message) {
    const image_log *const own = user;
    char line[sizeof own->image->error];
    copy_line(own, message, line, sizeof line);
    if (level != TVLM_LOG_ERROR)
        tvlm_log_message(own->log, level, "%s", line);
    else if (own->image->error[0] == '\0')
        snprintf(own->image->error, sizeof own->image->error, "%s", line);
}

static tvlm_status load(const batch_queue *queue, const char *path, batch_image *one) {
    image_log own = {.image = one, .log = queue->log, .path = path};
    const tvlm_log log = {write_line, &own};
    return tvlm_image_load_for(path, tvlm_image_load_params(.max_side = queue->max_side, .log = &log),
                               &one->image);
}

static bool write_all(int file, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        const ssize_t count = write(file, (const char *)bytes + done, size - done);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) done += (size_t)count;
    }
    return true;
}

/* Pictures are read from files: the content of a member of an archive becomes one that has no name and lies in memory. */
static tvlm_status load_member(const batch_queue *queue, batch_image *one) {
    char path[64];
    const int file = memfd_create("member", MFD_CLOEXEC);
    const bool written = file >= 0 && write_all(file, one->input.bytes, one->input.size);
    tvlm_status status = TVLM_ERROR_MEMORY;
    free(one->input.bytes);
    one->input.bytes = NULL;
    if (written) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        status = load(queue, path, one);
    } else {
        snprintf(one->error, sizeof one->error, "no memory for %zu bytes", one->input.size);
    }
    if (file >= 0) (void)close(file);
    return status;
}

static void decode(const batch_queue *queue, batch_image *one) {
    if (one->input.error[0] != '\0') {
        snprintf(one->error, sizeof one->error, "%s", one->input.error);
        one->status = TVLM_ERROR_IO;
        return;
    }
    one->status = one->input.bytes != NULL ? load_member(queue, one) : load(queue, one->input.name, one);
}

/* Waits until there is a free slot and nobody asks for a name, and takes both. NULL: there is nothing more to do. The
 * mutex is held. */
static slot *begin(batch_queue *queue) {
    while (!queue->ended && !queue->stopped && (queue->reading || queue->next - queue->first == queue->count))
        pthread_cond_wait(&queue->changed, &queue->mutex);
    if (queue->ended || queue->stopped) return NULL;
    queue->reading = true;
    return &queue->slots[queue->next % queue->count];
}

static void *work(void *argument) {
    batch_queue *const queue = argument;
    slot *own;
    pthread_mutex_lock(&queue->mutex);
    while ((own = begin(queue)) != NULL) {
        pthread_mutex_unlock(&queue->mutex);
        const bool more = batch_names_next(queue->names, &own->image.input);
        pthread_mutex_lock(&queue->mutex);
        queue->reading = false;
        queue->ended = !more;
        queue->next += more;
        pthread_cond_broadcast(&queue->changed);
        if (!more) break;
        pthread_mutex_unlock(&queue->mutex);
        decode(queue, &own->image);
        pthread_mutex_lock(&queue->mutex);
        own->ready = true;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

/* ---- In the tool's thread ---- */

int batch_queue_open(struct tool *tool, batch_names *names, int jobs, int32_t max_side, batch_queue **queue) {
    batch_queue *made = calloc(1, sizeof *made);
    if (made == NULL) return tool_fail(tool, "no memory for a queue of images");
    made->names = names;
    made->log = &tool->log;
    made->count = jobs;
    made->max_side = max_side;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    made->slots = calloc((size_t)jobs, sizeof *made->slots);
    made->threads = calloc((size_t)jobs, sizeof *made->threads);
    int error = made->slots != NULL && made->threads != NULL ? 0 : ENOMEM;
    while (error == 0 && made->started < jobs) {
        error = pthread_create(&made->threads[made->started], NULL, work, made);
        if (error == 0) ++made->started;
    }
    *queue = made;
    if (made->started > 0) return TOOL_DONE; /* fewer do the same */
    batch_queue_close(queue);
    return tool_fail(tool, "no thread to decode images: %s", strerror(error));
}

/* Waits for something to change, and says whether it did. The mutex is held. */
static bool wait_for_change(batch_queue *queue, bool impatient) {
    struct timespec end;
    if (!impatient) return pthread_cond_wait(&queue->changed, &queue->mutex) == 0;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += PATIENCE_NS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return pthread_cond_timedwait(&queue->changed, &queue->mutex, &end) == 0;
}

batch_turn batch_queue_take(batch_queue *queue, bool impatient, batch_image *image) {
    batch_turn turn = BATCH_NOTHING;
    pthread_mutex_lock(&queue->mutex);
    for (;;) {
        slot *const own = &queue->slots[queue->first % queue->count];
        if (queue->first < queue->next && own->ready) {
            *image = own->image;
            *own = (slot){0};
            ++queue->first;
            pthread_cond_broadcast(&queue->changed);
            turn = BATCH_IMAGE;
            break;
        }
        if (queue->ended && queue->first == queue->next) {
            turn = BATCH_END;
            break;
        }
        if (impatient && queue->woken) break;
        if (!wait_for_change(queue, impatient)) break;
    }
    queue->woken = false;
    pthread_mutex_unlock(&queue->mutex);
    return turn;
}

void batch_queue_wake(batch_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->woken = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

void batch_queue_close(batch_queue **queue) {
    if (*queue == NULL) return;
    batch_queue *const q = *queue;
    pthread_mutex_lock(&q->mutex);
    q->stopped = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
    batch_names_stop(q->names);
    for (int i = 0; i < q->started; ++i) (void)pthread_join(q->threads[i], NULL);
    for (int i = 0; q->slots != NULL && i < q->count; ++i) batch_image_release(&q->slots[i].image);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->mutex);
    free(q->slots);
    free(q->threads);
    free(q);
    *queue = NULL;
}
