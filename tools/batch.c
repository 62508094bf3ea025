/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* NOLINT: for _SC_NPROCESSORS_ONLN */
#include "batch.h"

#include <string.h>

#include "batch_names.h"
#include "platform/program.h"

enum { MEMORY_DEFAULT = 1024, MEMORY_MAX = 1 << 24 };

static const option_spec specs[] = {
    {0, OPTION_FLAG, "jsonl", offsetof(batch_options, jsonl), NULL,
     "a line of JSON for each image, as soon as it is known; in the order of the images, to stdout, or for "
     "select into -o's file, which is written in place; what was done stays, whatever follows",
     NO_RANGE, NULL},
    {0, OPTION_FLAG, "skip-errors", offsetof(batch_options, skip_errors), NULL,
     "an image that fails gets a line with its error, and the others go on; for --jsonl and --resume; exit "
     "3 at the end",
     NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "resume", offsetof(batch_options, resume), "FILE",
     "lines into FILE, going on with those of a run that was cut short; in place of --jsonl; the same "
     "images are given again; those with a line there, be it an error, are left out",
     NO_RANGE, NULL},
    {0, OPTION_INPUT, "list", offsetof(batch_options, sources.list), "FILE",
     "the names of further images, one a line, after those that are arguments; of - each is answered as it comes",
     NO_RANGE, NULL},
    {0, OPTION_FLAG, "null", offsetof(batch_options, sources.null), NULL,
     "a zero byte, and not a line's end, stands behind each name of --list (find -print0)", NO_RANGE, NULL},
    {0, OPTION_FLAG, "recursive", offsetof(batch_options, sources.recursive), NULL,
     "walks folders and archives (.tar); sorted by name, pictures by their names' ends; neither what "
     "begins with a dot nor links to folders",
     NO_RANGE, NULL},
    {0, OPTION_INTEGER, "jobs", offsetof(batch_options, threads.jobs), "N",
     "threads that decode ahead of the device, each with one image in memory (default: the cores)", 1, 1024,
     NULL},
    {0, OPTION_INTEGER, "memory", offsetof(batch_options, threads.memory), "MIB",
     "how much memory all of them may take together, for what they read, unpack and decode and for pixels that wait for the "
     "device: a thread waits until there is room, and an image that alone takes more is an error (default: 1024)",
     1, MEMORY_MAX, NULL},
};
const option_specs batch_specs = OPTION_SPECS("Many images", specs);

bool batch_has_lines(const batch_options *options) {
    return options->jsonl > 0 || options->resume != NULL;
}

bool batch_is_open(const batch_sources *given, int count, char *const *operands) {
    if (given->list != NULL || given->recursive > 0) return true;
    for (int i = 0; i < count; ++i)
        if (batch_is_archive(operands[i])) return true;
    return false;
}

int batch_check(struct tool *tool, const batch_options *options, const char *output, bool files, int count,
                char *const *operands) {
    const bool lines = batch_has_lines(options);
    if (options->sources.null > 0 && options->sources.list == NULL)
        return tool_usage(tool, "--null is for --list");
    if (options->resume != NULL && output != NULL)
        return tool_usage(tool, "--resume and --output exclude each other");
    if (options->resume != NULL && strcmp(options->resume, FILES_STDOUT) == 0)
        return tool_usage(tool, "--resume is for a file, not for stdout");
    if (!lines && options->skip_errors > 0) return tool_usage(tool, "--skip-errors needs --jsonl");
    if (!lines && !files && options->threads.jobs.given) return tool_usage(tool, "--jobs needs --jsonl");
    if (!lines && !files && batch_is_open(&options->sources, count, operands))
        return tool_usage(tool, "%s needs --jsonl",
                          options->sources.list != NULL    ? "--list"
                          : options->sources.recursive > 0 ? "--recursive"
                                                           : "an archive");
    return TOOL_DONE;
}

int batch_jobs(const batch_threads *given_threads) {
    const option_integer *const given = &given_threads->jobs;
    const int cores = tvlm_processors();
    if (given->given) return given->value;
    return cores > 1024 ? 1024 : cores;
}

uint64_t batch_memory(const batch_threads *given) {
    const int32_t mib = given->memory.given ? given->memory.value : MEMORY_DEFAULT;
    return (uint64_t)mib << 20;
}

int batch_partly(struct tool *tool, int64_t failed, int64_t all) {
    if (failed == 0) return TOOL_DONE;
    tool->subject = NULL;
    (void)tool_fail(tool, "%lld of %lld images failed", (long long)failed, (long long)all);
    return TOOL_PARTLY;
}
