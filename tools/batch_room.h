/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_room.h: the memory that all decoding threads share (--memory). It is for bytes that were read, images
 * that are being decoded, and images that wait to be taken.
 *
 * Images get room in their order. Each has a turn, in which it may take room several times. So all images
 * before the present one have all the room that they need. They will be finished and released, and a thread
 * that waits for room will get it.
 */
#ifndef TVLM_TOOLS_BATCH_ROOM_H
#define TVLM_TOOLS_BATCH_ROOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct batch_room batch_room;

/* Opens a room of `limit` bytes. Returns NULL if there is no memory for the object. */
batch_room *batch_room_open(uint64_t limit);

uint64_t batch_room_limit(const batch_room *room);

/* Waits for the turn of image `number`, counted from 0. */
void batch_room_turn(batch_room *room, int64_t number);

/* Waits until there is room for `bytes` more, and adds them to *held. Returns false if *held would then be
 * more than the limit, or if batch_room_stop was called. */
bool batch_room_take(batch_room *room, uint64_t *held, uint64_t bytes);

/* Sets how many bytes are held for unpacking the archive that is being read; 0 if there is none. Returns
 * false as batch_room_take does. */
bool batch_room_unpack(batch_room *room, uint64_t bytes);

/* Ends the turn. */
void batch_room_pass(batch_room *room);

/* Gives back all of *held but `rest` bytes. Any thread may call this at any time. */
void batch_room_give(batch_room *room, uint64_t *held, uint64_t rest);

/* Ends all waiting, now and later. */
void batch_room_stop(batch_room *room);

void batch_room_close(batch_room **room);

#endif
