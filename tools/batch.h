/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h: the options of commands with many inputs. They say where the names of the inputs come from, what
 * is done about an input that fails, and where the lines of output go.
 *
 *   batch_names.h  gives one name after the other, from arguments, a list, folders and archives
 *   batch_queue.h  decodes images in threads, ahead of the thread that takes them
 *   batch_lines.h  writes a line of JSON for each image into a file, which a later run can continue
 */
#ifndef TVLM_TOOLS_BATCH_H
#define TVLM_TOOLS_BATCH_H

#include "tool.h"

/* Where the names of the inputs come from, besides the operands. */
typedef struct batch_sources {
    const char *list;
    int null, recursive;
} batch_sources;

/* The threads that decode. */
typedef struct batch_threads {
    option_integer jobs, memory;
} batch_threads;

/* What is done with the answers. */
typedef struct batch_options {
    batch_sources sources;
    int jsonl, skip_errors;
    const char *resume;
    batch_threads threads;
} batch_options;
extern const option_specs batch_specs;

/* Whether a line is written for each image. --jsonl asks for it, and --resume implies it. */
bool batch_has_lines(const batch_options *options);

/* Whether the number and the names of the inputs are known only after all have been read. */
bool batch_is_open(const batch_sources *sources, int count, char *const *operands);

/* Refuses options that exclude each other, or that lack another one. `output` is the file that -o names for
 * the lines, or NULL. `files` says that the command makes a file for each input. If it does not, inputs whose
 * number is not known can be answered only by lines. */
int batch_check(struct tool *tool, const batch_options *options, const char *output, bool files, int count,
                char *const *operands);

/* How many threads decode: --jobs, or one for each core that the process may use. */
int batch_jobs(const batch_threads *threads);

/* How many bytes of memory these threads may take together: --memory, or 1 GiB. */
uint64_t batch_memory(const batch_threads *threads);

/* Ends a command that went on after some inputs had failed: writes one line that counts them, and returns the
 * exit code for that. */
int batch_partly(struct tool *tool, int64_t failed, int64_t all);

#endif
