/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_list.h: names from a file or a pipe, each as soon as it is there. Who waits for the next one can be woken, so
 * that a program that keeps the tool waiting does not keep it from ending.
 */
#ifndef TVLM_TOOLS_BATCH_LIST_H
#define TVLM_TOOLS_BATCH_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct batch_list batch_list;

/* Opens a list whose names end with `end`. NULL where it cannot be opened: errno says why. */
batch_list *batch_list_open(const char *path, char end);

/*
 * Gives a copy of the next name that is not empty, which the caller frees. False: there is none. Then `error` says why
 * the list could not be read to its end; "": it ended, or was stopped.
 */
bool batch_list_next(batch_list *list, char **name, char *error, size_t error_size);

/* Wakes up who waits in batch_list_next, for good. Any thread may call it. */
void batch_list_stop(batch_list *list);

void batch_list_close(batch_list **list);

#endif
