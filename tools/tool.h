/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool.h: what the commands of tvlm share: how they end, what they say, what they check, the device.
 *
 * A command ends with 0, or with 1 and exactly one line on stderr, or with 2 and one line for wrong usage.
 * The library's errors come through `log`: the first line is kept, whatever follows from it is not printed.
 */
#ifndef TVLM_TOOLS_TOOL_H
#define TVLM_TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "texturevlm/texturevlm.h"

enum { TOOL_DONE = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

struct tool {
    tvlm_log log; /* for the library: to this tool */
    int verbose;
    const char *command; /* NULL before it is known */
    const char
        *subject;       /* the file that is worked on: errors begin with it unless they name it; NULL: none */
    char error[1600];   /* the first error; "" none */
    char warning[1100]; /* the last one printed, not to repeat it for each image */
};

/* One command: what drives parsing, --help and the checks. */
typedef struct tool_command {
    const char *name, *summary;
    const char *operands; /* "IMAGE..."; "" none */
    int operand_min, operand_max;
    const char *details;         /* printed below the options by --help */
    const option_group *options; /* its own and those that it shares, but for the common ones; NULL: none */
    size_t options_size;         /* of the struct that they fill; it begins with tool_common */
    int (*run)(struct tool *tool, const void *options, int operand_count, char *const *operands);
} tool_command;

extern const tool_command devices_command, generate_command, select_command, flow_command, video_command,
    fit_command, export_command, pca_command;
extern const tool_command bench_command; /* of tvlm-bench */

/* The options of every command. */
typedef struct tool_common {
    const char *device;
    int storage, format; /* tvlm_storage, tvlm_format */
    int json, verbose, help;
} tool_common;

extern const option_specs tool_common_specs;

void tool_start(struct tool *tool);

/* Parses the options by the command's table, checks the operands, and runs the command, or prints its --help. */
int tool_run(struct tool *tool, const tool_command *command, int argc, char **argv);

/* Prints the help of a command. */
int tool_help(struct tool *tool, const tool_command *command);

/* Keeps the line as the error, if it is the first. Returns TOOL_FAILED. */
int tool_fail(struct tool *tool, const char *format, ...) TVLM_PRINTF(2, 3);

/* The same for wrong usage. Returns TOOL_USAGE. */
int tool_usage(struct tool *tool, const char *format, ...) TVLM_PRINTF(2, 3);

/* TOOL_DONE or TOOL_FAILED; the library has logged why. */
int tool_status(struct tool *tool, tvlm_status status);

/* Prints a result to stdout; NULL is one that there was no memory for. */
int tool_print(struct tool *tool, const char *text);

/* Flushes stdout, prints the error if there is one, and returns the exit code. */
int tool_end(struct tool *tool, int code);

/* Opens the device that the options name. */
int tool_open_device(struct tool *tool, const tool_common *common, tvlm_device **device);

/*
 * Refuses, before any work, an output that cannot be written: its folder is missing or may not be written to,
 * or it is a folder itself. NULL is fine.
 */
int tool_check_output(struct tool *tool, const char *path);

/* Refuses an output that is the same file, or folder, as an input. NULL is fine, for either. */
int tool_check_distinct(struct tool *tool, const char *output, const char *input);

/* Two outputs that would replace each other: the same name, unless it is a device or a pipe. NULL is fine. */
bool tool_same_output(const char *a, const char *b);

/* "a/b/photo.final.jpg" -> "photo.final", cut to `size`. */
void tool_stem(const char *path, char *stem, size_t size);

#endif
