/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h: the options of many inputs: where their names come from, what is done about one that fails, and where the
 * lines go.
 *
 *   batch_names.h  one name after the other, from arguments, a list, folders and archives
 *   batch_queue.h  decodes ahead of who takes the images, in threads
 *   batch_lines.h  a line of JSON an image, into a file that a later run can go on with
 */
#ifndef TVLM_TOOLS_BATCH_H
#define TVLM_TOOLS_BATCH_H

#include "tool.h"

/* Where the names of the inputs come from; besides, there are the operands. */
typedef struct batch_sources {
    const char *list;
    int null, recursive;
} batch_sources;
extern const option_specs batch_source_specs;

/* The threads that decode. */
typedef struct batch_threads {
    option_integer jobs, memory;
} batch_threads;

/* What becomes of the answers. */
typedef struct batch_options {
    batch_sources sources;
    int jsonl, skip_errors;
    const char *resume;
    batch_threads threads;
} batch_options;
extern const option_specs batch_specs; /* all but `sources` and `threads` */
extern const option_specs batch_thread_specs;

/* Whether there is a line an image: --jsonl, which --resume implies. */
bool batch_has_lines(const batch_options *options);

/* Whether only reading tells how many inputs there are and what they are called. */
bool batch_is_open(const batch_sources *sources, int count, char *const *operands);

/* Refuses options that exclude or need each other. `output` is what -o names for the lines, or NULL. Without `files`,
 * one for each input, lines are all that can be told of inputs whose number is not known. */
int batch_check(struct tool *tool, const batch_options *options, const char *output, bool files, int count,
                char *const *operands);

/* How many threads decode: --jobs, or one for each core that the process may use. */
int batch_jobs(const batch_threads *threads);

/* How many bytes of memory they may take together: --memory, or 1 GiB. */
uint64_t batch_memory(const batch_threads *threads);

/* A command that went on after inputs had failed ends so: one line that counts them, and the exit code for it. */
int batch_partly(struct tool *tool, int64_t failed, int64_t all);

#endif
