/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_names.h: one input after the other: the operands, then those of a list, each of which may be a folder that is
 * walked or an archive whose members are handed out. Nothing is read before it is asked for, so that memory does not
 * grow with the number of inputs.
 */
#ifndef TVLM_TOOLS_BATCH_NAMES_H
#define TVLM_TOOLS_BATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"

/* One input. It owns what it points to. */
typedef struct batch_input {
    char *name;     /* its path; of a member of an archive ARCHIVE/MEMBER. NULL: there was no memory for it */
    char *stem;     /* with `stems`: its name without folders and end, as no other input has it */
    int64_t number; /* how many came before it, those that were passed over included */
    /* That stands at this member, until the next input is asked for. NULL: it is a file. */
    struct batch_archive *archive;
    char error[512]; /* why it cannot be read; "": nothing is known against it */
    bool damaged; /* it is, or was to come from, an archive that ends here, because what follows is damaged */
} batch_input;
void batch_input_release(batch_input *input);

typedef struct batch_names batch_names;

struct batch_names_params {
    const batch_sources *sources;
    uint64_t memory; /* of which a quarter is for unpacking archives */
    int count;
    char *const *operands; /* [count], which must live as long as the names */
    bool stems;            /* inputs get names for files, which takes memory for each of them */
    /* Whether an input is left out. It is called once for each, in order. NULL: none is. */
    bool (*passed)(void *user, const char *name);
    void *user;
};

/* Whether a name is one of an archive, by its end. */
bool batch_is_archive(const char *name);

/* Opens the list, if there is one. */
int batch_names_open(struct tool *tool, const struct batch_names_params *params, batch_names **names);

/* Gives the next input; false: there are no more, or batch_names_stop was called. One thread at a time. */
bool batch_names_next(batch_names *names, batch_input *input);

/* Wakes up who waits for the list. Any thread may call it. */
void batch_names_stop(batch_names *names);

void batch_names_close(batch_names **names);

#endif
