/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/memory.h"

/* How long an impatient caller waits. In nearly all cases it is woken before. */
enum { PATIENCE_NS = 2000000 };

/* Image n is decoded in slot n % count, and waits there to be taken. */
typedef struct slot {
    bool ready;
    batch_image image;
} slot;

struct batch_queue {
    batch_names *names;
    batch_load load;
    int count; /* the number of slots, and of threads that were asked for */
    int started;
    pthread_t *threads;
    pthread_mutex_t mutex; /* protects all members below */
    pthread_cond_t changed;
    slot *slots;
    int64_t first, next; /* the numbers of the image to take next, and of the next name */
    bool reading;        /* a thread is asking for a name */
    bool ended, stopped, woken;
};

/* ---- In a thread that decodes ---- */

/* Waits until there is a free slot, and until no other thread is asking for a name. Takes the slot and the
 * right to ask. Returns NULL if there is nothing more to do. The mutex is held. */
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
        const int64_t number = queue->next;
        pthread_mutex_unlock(&queue->mutex);
        const bool more = batch_names_next(queue->names, &own->image.input);
        const bool member = more && own->image.input.archive != NULL;
        if (member) batch_load_read(&queue->load, number, &own->image);
        pthread_mutex_lock(&queue->mutex);
        queue->reading = false;
        queue->ended = !more;
        queue->next += more;
        pthread_cond_broadcast(&queue->changed);
        if (!more) break;
        pthread_mutex_unlock(&queue->mutex);
        if (!member) batch_load_read(&queue->load, number, &own->image);
        batch_load_decode(&queue->load, &own->image);
        pthread_mutex_lock(&queue->mutex);
        own->ready = true;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

/* ---- In the tool's thread ---- */

int batch_queue_open(struct tool *tool, const struct batch_names_params *params, const batch_threads *threads,
                     int32_t max_side, batch_queue **queue) {
    const int jobs = batch_jobs(threads);
    batch_names *names = NULL;
    TOOL_TRY(batch_names_open(tool, params, &names));
    batch_queue *made = calloc(1, sizeof *made);
    batch_room *const room = batch_room_open(params->memory);
    if (made == NULL || room == NULL) {
        free(made);
        free(room);
        batch_names_close(&names);
        return tool_fail(tool, "no memory for a queue of images");
    }
    tvlm_memory_return(); /* no limit of this tool counts what was freed */
    made->names = names;
    made->load = (batch_load){room, &tool->log, max_side};
    made->count = jobs;
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
    if (made->started > 0) return TOOL_DONE; /* fewer threads do the same work */
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
    batch_room_stop(q->load.room);
    for (int i = 0; i < q->started; ++i) (void)pthread_join(q->threads[i], NULL);
    for (int i = 0; q->slots != NULL && i < q->count; ++i) batch_image_release(&q->slots[i].image);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->mutex);
    free(q->slots);
    free(q->threads);
    batch_room_close(&q->load.room);
    batch_names_close(&q->names);
    free(q);
    *queue = NULL;
}
