/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporary.h: temporary files that are not left behind when the program is killed.
 *
 * Their names are kept in a table that a signal handler can read. Each library that includes this header has
 * a table of its own, so that only one of its files may include it.
 */
#ifndef TVLM_CORE_TEMPORARY_H
#define TVLM_CORE_TEMPORARY_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How many files the table holds. More may be written at once, but those are left behind where the program is
 * killed. */
#define TEMPORARIES     64
#define TEMPORARY_BYTES 4096

enum { TEMPORARY_FREE, TEMPORARY_TAKEN, TEMPORARY_NAMED };

static struct {
    atomic_int state;
    char name[TEMPORARY_BYTES];
} temporaries[TEMPORARIES];

static void temporary_keep(const char *name) {
    if (strlen(name) >= TEMPORARY_BYTES) return;
    for (int i = 0; i < TEMPORARIES; ++i) {
        int free_state = TEMPORARY_FREE;
        if (!atomic_compare_exchange_strong(&temporaries[i].state, &free_state, TEMPORARY_TAKEN)) continue;
        memcpy(temporaries[i].name, name, strlen(name) + 1);
        atomic_store(&temporaries[i].state, TEMPORARY_NAMED);
        return;
    }
}

/* Creates a file that does not exist yet, to be written. Returns -1, and errno, where that fails. */
static int temporary_create(const char *name) {
    sigset_t all, before;
    sigfillset(&all);
    /* No signal comes between the file and its name in the table. */
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) temporary_keep(name);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fd;
}

/* To be called once the file is renamed or removed. */
static void temporary_forget(const char *name) {
    for (int i = 0; i < TEMPORARIES; ++i)
        if (atomic_load(&temporaries[i].state) == TEMPORARY_NAMED && strcmp(temporaries[i].name, name) == 0) {
            atomic_store(&temporaries[i].state, TEMPORARY_FREE);
            return;
        }
}

/* Removes all of them. A signal's handler may call it. */
static void temporary_remove_all(void) {
    for (int i = 0; i < TEMPORARIES; ++i)
        if (atomic_load(&temporaries[i].state) == TEMPORARY_NAMED) (void)unlink(temporaries[i].name);
}

#endif
