/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_names.h: gives one input after the other: first the operands, then the names of a list. An operand or
 * name may be a folder, which is walked, or an archive, whose members are given. Nothing is read before it is
 * asked for, so that memory does not grow with the number of inputs.
 */
#ifndef TVLM_TOOLS_BATCH_NAMES_H
#define TVLM_TOOLS_BATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "batch_lines.h"

/* One input. It owns what it points to. */
typedef struct batch_input {
    char *name;     /* its path, or ARCHIVE/MEMBER for a member; NULL: there was no memory */
    char *stem;     /* with `stems`: its name without folders and ending, made unique */
    int64_t number; /* how many inputs came before it, including those that were passed over */
    /* The archive, which stands at this member until the next input is asked for. NULL: the input is a file.
     * */
    struct batch_archive *archive;
    char error[512]; /* why it cannot be read; "": nothing is known against it */
    bool damaged; /* it is, or was to come from, an archive that ends here, because what follows is damaged */
} batch_input;
void batch_input_release(batch_input *input);

typedef struct batch_names batch_names;

struct batch_names_params {
    const batch_sources *sources;
    uint64_t memory; /* in bytes; a quarter of it is for unpacking archives */
    int count;
    char *const *operands; /* [count]; they must live as long as the names */
    bool stems;            /* inputs get names for files, which takes memory for each of them */
    batch_lines *lines;    /* an input that has a line there already is left out; NULL: there are none */
};

/* Whether a name is that of an archive, judged by its ending. */
bool batch_is_archive(const char *name);

/* Opens the list, if there is one. */
int batch_names_open(struct tool *tool, const struct batch_names_params *params, batch_names **names);

/* Gives the next input. Returns false if there are no more, or if batch_names_stop was called. Only one
 * thread at a time may call this. */
bool batch_names_next(batch_names *names, batch_input *input);

/* Wakes up a thread that waits for the list. Any thread may call this. */
void batch_names_stop(batch_names *names);

void batch_names_close(batch_names **names);

#endif
