/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/temporary.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "platform/signals.h"

/* How many files the table holds. More may be written at once, but those are left behind where the program is ended. */
#define TEMPORARIES     64
#define TEMPORARY_BYTES 4096
/* The name of a temporary file: the folder, the number of the process, and a number. What follows the folder is
 * shorter than NAME_ROOM. */
#define NAME_FORMAT "%.*s.tvlm-%ld-%zu.tmp"
#define NAME_ROOM   64
#define ATTEMPTS    1000

enum { FREE, TAKEN, NAMED };

static struct {
    atomic_int state;
    char name[TEMPORARY_BYTES];
} temporaries[TEMPORARIES];

static void keep(const char *name) {
    if (strlen(name) >= TEMPORARY_BYTES) return;
    for (int i = 0; i < TEMPORARIES; ++i) {
        int free_state = FREE;
        if (!atomic_compare_exchange_strong(&temporaries[i].state, &free_state, TAKEN)) continue;
        memcpy(temporaries[i].name, name, strlen(name) + 1);
        atomic_store(&temporaries[i].state, NAMED);
        return;
    }
}

/* No signal comes between the file and its name in the table. */
static int make_kept(const char *name) {
    tvlm_signals before;
    tvlm_signals_hold(&before);
    const int file = tvlm_file_make(name, false);
    if (file >= 0) keep(name);
    tvlm_signals_release(&before);
    return file;
}

int tvlm_temporary_make(const char *target, size_t first, char **name) {
    const size_t folder = tvlm_path_folder(target), room = folder + NAME_ROOM;
    char *const made = malloc(room);
    int file = -1;
    *name = NULL;
    if (made == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < ATTEMPTS && file < 0; ++i) {
        snprintf(made, room, NAME_FORMAT, (int)folder, target, tvlm_process_number(), first + i);
        file = make_kept(made);
        if (file < 0 && errno != EEXIST) break;
    }
    if (file >= 0) {
        *name = made;
        return file;
    }
    const int code = errno;
    free(made);
    errno = code;
    return -1;
}

void tvlm_temporary_forget(const char *name) {
    for (int i = 0; name != NULL && i < TEMPORARIES; ++i)
        if (atomic_load(&temporaries[i].state) == NAMED && strcmp(temporaries[i].name, name) == 0) {
            atomic_store(&temporaries[i].state, FREE);
            return;
        }
}

void tvlm_temporary_remove_all(void) {
    for (int i = 0; i < TEMPORARIES; ++i)
        if (atomic_load(&temporaries[i].state) == NAMED) (void)tvlm_path_remove(temporaries[i].name);
}
