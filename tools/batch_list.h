/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_list.h: reads names from a file or a pipe, each as soon as it is there. A thread that waits for the
 * next name can be woken, so that the tool can end even while a program keeps it waiting for names.
 */
#ifndef TVLM_TOOLS_BATCH_LIST_H
#define TVLM_TOOLS_BATCH_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct batch_list batch_list;

/* Opens a list in which each name ends with the character `end`. Returns NULL if it cannot be opened; errno
 * says why. */
batch_list *batch_list_open(const char *path, char end);

/*
 * Gives a copy of the next name that is not empty. The caller frees it. Returns false if there is none.
 * `error` then says why the list could not be read to its end; it is "" if the list ended, or was stopped.
 */
bool batch_list_next(batch_list *list, char **name, char *error, size_t error_size);

/* Wakes up a thread that waits in batch_list_next, and lets no later call wait. Any thread may call this. */
void batch_list_stop(batch_list *list);

void batch_list_close(batch_list **list);

#endif
