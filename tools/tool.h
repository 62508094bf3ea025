/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool.h: what the commands of tvlm share: how they end, what they say and check, and how they open a device.
 *
 * A command ends with 0, or with 1 and exactly one line on stderr, or with 2 and one line for wrong usage, or with 3 and
 * one line where it went on after some of many inputs had failed, or where an archive or a clip is damaged behind what was
 * answered of it.
 * The library's errors come through `log`: the first line is kept, whatever follows from it is not printed.
 */
#ifndef TVLM_TOOLS_TOOL_H
#define TVLM_TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "files.h"
#include "options.h"
#include "texturevlm/texturevlm.h"

enum { TOOL_DONE = 0, TOOL_FAILED = 1, TOOL_USAGE = 2, TOOL_PARTLY = 3 };

struct tool {
    tvlm_log log; /* what the library logs to: it ends in this tool */
    int verbose;
    bool quiet;          /* no warnings and no progress */
    bool fallback;       /* work goes on with another device where one is lost */
    bool untuned;        /* devices are opened as if nothing had been tuned */
    int32_t device;      /* the index of the device that was opened last (tvlm_device_info) */
    int32_t lost;        /* and of the one that was lost last */
    int32_t replaced;    /* how many devices were lost so far, and replaced */
    const char *command; /* the command's name; NULL before it is known */
    file_list files;     /* all files that it reads and writes */
    bool stdout_taken;   /* an output goes to stdout, so what the command has to say goes to stderr */
    bool printed;        /* a result is on stdout, or files were kept */
    /* The file that is worked on, or NULL. Errors begin with it, unless they name it. */
    const char *subject;
    char error[1600];   /* the first error; "": there was none */
    tvlm_status status; /* the library's, of the first error; TVLM_OK where that was not the library's */
    char warning[1100]; /* the warning that was printed last, so that it is not repeated for each image */
};

/* A command's table, which drives parsing, --help and the checks. */
typedef struct tool_command {
    const char *name, *summary;
    const char *operands; /* what --help calls the operands, such as "IMAGE..."; "": it takes none */
    int operand_words;    /* so many operands are words; those behind them are files that are read */
    int operand_min, operand_max;
    const char *details;         /* what --help prints below the options */
    const option_group *options; /* all but the common ones; NULL: it has no others */
    size_t options_size;         /* the size of the struct that they fill, which begins with tool_common */
    int (*run)(struct tool *tool, const void *options, int operand_count, char *const *operands);
} tool_command;

extern const tool_command devices_command, generate_command, select_command, flow_command, video_command,
    fit_command, export_command, pca_command, vocab_command, compress_command, logpolar_command,
    attend_command, tune_command;
extern const tool_command bench_command; /* the only one of tvlm-bench */

/* The options of every command. */
typedef struct tool_common {
    const char *device;
    int storage, format; /* a tvlm_storage and a tvlm_format */
    int fallback, json, verbose, quiet, help, version;
} tool_common;

extern const option_specs tool_common_specs;

void tool_start(struct tool *tool);

/* Parses the options by the command's table, checks the operands, and runs the command, or prints its --help.
 */
int tool_run(struct tool *tool, const tool_command *command, int argc, char **argv);

/* Prints the help of a command. */
int tool_help(struct tool *tool, const tool_command *command);

/* Makes one table of all options of a command, the common ones last, for parser and help. False where there
 * is no memory. */
bool tool_table(const tool_command *command, option_table *table);

/* Keeps the line as the error, if it is the first. Returns TOOL_FAILED. */
int tool_fail(struct tool *tool, const char *format, ...) TVLM_PRINTF(2, 3);

/* Does the same for wrong usage. Returns TOOL_USAGE. */
int tool_usage(struct tool *tool, const char *format, ...) TVLM_PRINTF(2, 3);

/* Returns TOOL_DONE or TOOL_FAILED. Where the library did not log why, the status is the error. */
int tool_status(struct tool *tool, tvlm_status status);

/* Forgets the error where the library had too little memory, on the device or on the host, so that a command
 * may try with less. False where the error is another one. */
bool tool_lacked_memory(struct tool *tool);

/* The same of arguments that are of the command line alone: TOOL_USAGE where they are refused. */
int tool_usage_status(struct tool *tool, tvlm_status status);

/* What has been written so far stays, whatever follows. Else files stay only where the command ends well. */
int tool_keep_files(struct tool *tool);

/* Prints a result to stdout. NULL stands for one that there was no memory for, and fails. */
int tool_print(struct tool *tool, const char *text);

/* Flushes stdout, prints the error if there is one, and returns the exit code. */
int tool_end(struct tool *tool, int code);

/* Opens the device that the options name; after tool_goes_on, another one. */
int tool_open_device(struct tool *tool, const tool_common *common, tvlm_device **device);

/*
 * Whether work goes on after an error: --fallback was given, and the error was that the device is lost. Then
 * the error is forgotten, and the caller, who has freed what was made from the device, opens another one and
 * does again what is lost. Without that call a command is run again from its start, if it has printed and kept
 * nothing yet and its inputs can be read twice.
 */
bool tool_goes_on(struct tool *tool, int code);

/* Returns where a command prints what it has to say: stdout, or stderr where an output goes to stdout. */
FILE *tool_report(const struct tool *tool);

/* Copies the stem of a path, cut to `size`: that of "a/b/photo.final.jpg" is "photo.final". */
void tool_stem(const char *path, char *stem, size_t size);

#endif
