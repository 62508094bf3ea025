/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool.h: what all commands of tvlm and tvlm-lab share: how they end, what they print and check, and how they open a
 * device.
 *
 * A command ends with one of these exit codes:
 * - 0: all is done.
 * - 1: it failed. There is exactly one line on stderr.
 * - 2: wrong usage. There is one line on stderr.
 * - 3: it went on after some of many inputs had failed, or an archive or a clip is damaged after the part
 *   that was answered. There is one line on stderr.
 *
 * Errors of the library come through `log`. The first line is kept; lines that follow from it are not
 * printed.
 */
#ifndef TVLM_TOOLS_TOOL_H
#define TVLM_TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "files.h"
#include "json.h"
#include "options.h"
#include "texturevlm/texturevlm.h"

enum { TOOL_DONE = 0, TOOL_FAILED = 1, TOOL_USAGE = 2, TOOL_PARTLY = 3 };

/* Returns the code of the call where that is not TOOL_DONE. It is for functions that have nothing to release by then. */
#define TOOL_TRY(call)                                                                                       \
    do {                                                                                                     \
        const int tool_try_code = (call);                                                                    \
        if (tool_try_code != TOOL_DONE) return tool_try_code;                                                \
    } while (0)

/* What is known of the only image that a command is asked about (first.h). */
typedef struct first_answer {
    char **argv; /* the command line, ended by NULL */
    /* The only image that is asked about, without its pixels, and how many positions (0: as many as are usual). A width of 0: there are
     * several images, or it is not known. */
    tvlm_image image;
    int32_t positions;
    bool building;   /* this is the program that builds kernels */
    bool build;      /* the kernels are not built, and a program will build them */
    int lock;        /* the open file that says that this program builds them */
    char note[4096]; /* the file that says that they are built; "": there can be none */
} first_answer;

struct tool {
    tvlm_log log; /* the log of the library, whose lines come to this tool */
    int verbose;
    bool quiet;       /* no warnings and no progress */
    bool fallback;    /* if a device is lost, work goes on with another one */
    bool untuned;     /* devices are opened as if nothing had been tuned */
    int32_t device;   /* the index of the device that was opened last (tvlm_device_info) */
    int32_t lost;     /* the index of the device that was lost last */
    int32_t replaced; /* how many devices were lost so far, and replaced */
    const struct tool_program *program;
    const char *command;       /* the command's name; NULL before it is known */
    const option_table *table; /* the options of the command, and their values, while it runs */
    const void *options;
    first_answer first;
    char given[64];    /* what tool_given returns */
    file_list files;   /* all files that it reads and writes */
    bool stdout_taken; /* an output goes to stdout, so the command's reports go to stderr */
    bool printed;      /* a result was printed to stdout, or files were kept */
    /* The file that is worked on, or NULL. Errors begin with its name, unless they name it anyway. */
    const char *subject;
    char error[1600];   /* the first error; "": there was none */
    tvlm_status status; /* the status of the first error; TVLM_OK if it is not the library's */
    char warning[1100]; /* the warning that was printed last, so that it is not repeated for each image */
};

/* The table of a command. Parsing, --help and the checks all use it. */
typedef struct tool_command {
    const char *name, *summary;
    const char *const
        *examples; /* what --help shows first, behind the program's name, ended by NULL; NULL: none */
    const option_brief *brief; /* what --help shows, if it does not show everything */
    const char *operands;      /* what --help calls the operands, such as "IMAGE..."; "": it takes none */
    int operand_words;         /* how many operands are words; the others are files that are read */
    int operand_min, operand_max;
    const char *details;         /* what --help prints below the options */
    const option_group *options; /* all but the common ones; NULL: it has no others */
    size_t options_size;         /* the size of the struct that they fill, which begins with tool_common */
    int (*run)(struct tool *tool, const void *options, int operand_count, char *const *operands);
} tool_command;

extern const tool_command select_command, tensors_command, video_command, channels_command, devices_command;
extern const tool_command fit_command, pca_command, vocab_command, compress_command, logpolar_command,
    attend_command;                      /* those of tvlm-lab */
extern const tool_command bench_command; /* the only command of tvlm-bench */

/* What is called like a command, but is a program of its own, or has another name now. */
typedef struct tool_elsewhere {
    const char *name;
    const char *program;  /* NULL: this one */
    const char *words[3]; /* what the name stands for, ended by NULL */
    const char *summary;  /* shown among the commands; NULL: an old name, which one line on stderr tells */
} tool_elsewhere;

typedef struct tool_program {
    const char *name, *summary;
    const tool_command *const *commands; /* ended by NULL */
    const tool_elsewhere *elsewhere;     /* ended by a name that is NULL */
} tool_program;

/* The options that every command has. */
typedef struct tool_common {
    const char *device;
    option_choice storage, format; /* a tvlm_storage and a tvlm_format */
    int fallback, json, verbose, quiet, help, version;
} tool_common;

extern const option_specs tool_common_specs;

/* `program` lives as long as the tool. */
void tool_start(struct tool *tool, const tool_program *program);

/* Parses the options by the command's table, checks the operands, and runs the command or prints its --help.
 * */
int tool_run(struct tool *tool, const tool_command *command, int argc, char **argv);

/* Prints the help of a command, with `all` every option. */
int tool_help(struct tool *tool, const tool_command *command, bool all);

/* Makes one table of all options of a command, for the parser and --help. The common options come last.
 * Returns false if there is no memory. */
bool tool_table(const tool_command *command, option_table *table);

/* Returns the first option given of those that `names` has, with blanks between, as it is typed; or NULL. It is for refusals,
 * and valid until the next call. */
const char *tool_given(struct tool *tool, const char *names);

/* Keeps the line as the error, if it is the first. Returns TOOL_FAILED. */
int tool_fail(struct tool *tool, const char *format, ...) TVLM_PRINTF(2, 3);

/* Returns the code. If it is TOOL_DONE, the file that is worked on is again `subject`; after an error it stays the one that
 * the error is about. */
int tool_back_to(struct tool *tool, const char *subject, int code);

/* Does the same for wrong usage, and returns TOOL_USAGE. */
int tool_usage(struct tool *tool, const char *format, ...) TVLM_PRINTF(2, 3);

/* Returns TOOL_DONE or TOOL_FAILED for a status of the library. If the library logged no reason, the status
 * itself becomes the error. */
int tool_status(struct tool *tool, tvlm_status status);

/* If the error is that the library had too little memory, on the device or on the host, forgets it, so that
 * the command can try with less. Returns false for any other error. */
bool tool_lacked_memory(struct tool *tool);

/* Returns true if a signal that ends the program was noted and the code is TOOL_DONE or an error of the device, which it then
 * forgets: a compiler inside a driver (LLVM) removes the file that it writes at such a signal, and kernels do not build. A
 * device that is being opened then fails its self-test. */
bool tool_was_interrupted(struct tool *tool, int code);

/* Does the same as tool_status for arguments that come from the command line alone: returns TOOL_USAGE if
 * they are refused. */
int tool_usage_status(struct tool *tool, tvlm_status status);

/* Keeps all files that were written so far, whatever follows. Without this, files stay only if the command
 * succeeds. */
int tool_keep_files(struct tool *tool);

/* Prints a result to stdout. NULL means that there was no memory for the result, and is an error. */
int tool_print(struct tool *tool, const char *text);

/* The same where stdout was named as the file of an output ("-o -"), so that all else goes to stderr. */
int tool_print_to_stdout(struct tool *tool, const char *text);

/* Closes the object that the writer is in, prints it as a result, and releases the writer. */
int tool_print_json(struct tool *tool, json_writer *json);

/* Flushes stdout, prints the error if there is one, and returns the exit code. */
int tool_end(struct tool *tool, int code);

/* Opens the device that the options name, or after tool_goes_on another one. */
int tool_open_device(struct tool *tool, const tool_common *common, tvlm_device **device);

/*
 * Whether work goes on after an error: --fallback was given, and the error is that the device is lost. If so,
 * the error is forgotten. The caller must have freed all that was made from the device. It opens another
 * device, and does again what is lost.
 *
 * A command that does not call this is run again from its start, if it has not printed or kept anything yet,
 * and if its inputs can be read twice.
 */
bool tool_goes_on(struct tool *tool, int code);

/* Returns the stream for a command's reports: stdout, or stderr if an output goes to stdout. */
FILE *tool_report(const struct tool *tool);

/* Copies the stem of a path, cut to `size`. The stem of "a/b/photo.final.jpg" is "photo.final". */
void tool_stem(const char *path, char *stem, size_t size);

#endif
