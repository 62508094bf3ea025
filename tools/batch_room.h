/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_room.h: the memory that all threads that decode share (--memory): what they have read, what they decode, and what waits
 * to be taken.
 *
 * Images get room in their order, each in its turn, in which it may take more than once. So those before it lack nothing
 * any more and will be done and released, and who waits for room gets it.
 */
#ifndef TVLM_TOOLS_BATCH_ROOM_H
#define TVLM_TOOLS_BATCH_ROOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct batch_room batch_room;

/* NULL: there is no memory for it. */
batch_room *batch_room_open(uint64_t limit);

uint64_t batch_room_limit(const batch_room *room);

/* Waits for the turn of image `number`, counted from 0. */
void batch_room_turn(batch_room *room, int64_t number);

/* Waits until there is room for `bytes` more and adds them to *held. False: with them *held would be more than the limit, or
 * batch_room_stop was called. */
bool batch_room_take(batch_room *room, uint64_t *held, uint64_t bytes);

/* Sets what is held for the archive that is read, whose unpacking takes memory besides; 0: there is none. False as above. */
bool batch_room_unpack(batch_room *room, uint64_t bytes);

/* Ends the turn. */
void batch_room_pass(batch_room *room);

/* Gives back all of *held but `rest`. Any thread at any time. */
void batch_room_give(batch_room *room, uint64_t *held, uint64_t rest);

/* Nobody waits any more. */
void batch_room_stop(batch_room *room);

void batch_room_close(batch_room **room);

#endif
