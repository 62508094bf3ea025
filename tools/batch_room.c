/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_room.h"

#include <pthread.h>
#include <stdlib.h>

struct batch_room {
    uint64_t limit;
    pthread_mutex_t mutex; /* protects all members below */
    pthread_cond_t changed;
    uint64_t used, unpacking; /* `unpacking` is a part of `used` */
    int64_t turn;
    bool stopped;
};

batch_room *batch_room_open(uint64_t limit) {
    batch_room *const room = calloc(1, sizeof *room);
    if (room == NULL) return NULL;
    room->limit = limit;
    pthread_mutex_init(&room->mutex, NULL);
    pthread_cond_init(&room->changed, NULL);
    return room;
}

uint64_t batch_room_limit(const batch_room *room) {
    return room->limit;
}

void batch_room_turn(batch_room *room, int64_t number) {
    pthread_mutex_lock(&room->mutex);
    while (room->turn != number && !room->stopped) pthread_cond_wait(&room->changed, &room->mutex);
    pthread_mutex_unlock(&room->mutex);
}

/* Waits for room, and takes it. `mine` is what the caller's image and the archive hold. None of that will be
 * given back while the caller waits, so a request that does not fit beside it fails. */
static bool take(batch_room *room, uint64_t mine, uint64_t bytes) {
    if (mine > room->limit || bytes > room->limit - mine) return false;
    while (!room->stopped && room->used > room->limit - bytes)
        pthread_cond_wait(&room->changed, &room->mutex);
    if (room->stopped) return false;
    room->used += bytes;
    return true;
}

bool batch_room_take(batch_room *room, uint64_t *held, uint64_t bytes) {
    pthread_mutex_lock(&room->mutex);
    const bool taken = take(room, *held + room->unpacking, bytes);
    if (taken) *held += bytes;
    pthread_mutex_unlock(&room->mutex);
    return taken;
}

bool batch_room_unpack(batch_room *room, uint64_t bytes) {
    pthread_mutex_lock(&room->mutex);
    bool taken = true;
    if (bytes > room->unpacking)
        taken = take(room, room->unpacking, bytes - room->unpacking);
    else
        room->used -= room->unpacking - bytes;
    if (taken) room->unpacking = bytes;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
    return taken;
}

void batch_room_pass(batch_room *room) {
    pthread_mutex_lock(&room->mutex);
    ++room->turn;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

void batch_room_give(batch_room *room, uint64_t *held, uint64_t rest) {
    pthread_mutex_lock(&room->mutex);
    if (*held > rest) room->used -= *held - rest;
    if (*held > rest) *held = rest;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

void batch_room_stop(batch_room *room) {
    pthread_mutex_lock(&room->mutex);
    room->stopped = true;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->mutex);
}

void batch_room_close(batch_room **room) {
    if (*room == NULL) return;
    pthread_cond_destroy(&(*room)->changed);
    pthread_mutex_destroy(&(*room)->mutex);
    free(*room);
    *room = NULL;
}
