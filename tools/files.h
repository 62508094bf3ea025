/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h: notes the files that a command reads and writes. Files are known by device and inode. So no output
 * takes the place of an input, or of another output, under whatever name. The tables say which options name
 * files (options.h), and tool_run notes these files. A command adds the names that it makes itself.
 */
#ifndef TVLM_TOOLS_FILES_H
#define TVLM_TOOLS_FILES_H

#include <stdbool.h>

#include "options.h"

struct tool;

typedef struct file_list {
    void *tree;      /* belongs to tsearch; NULL: empty */
    bool read_once;  /* an input is a pipe or a device, which cannot be read twice */
    int stdin_taken; /* how many inputs are stdin */
} file_list;

/* Notes all files that the options name, and the operands as inputs. */
int files_note(struct tool *tool, const option_table *table, const void *values, int count,
               char *const *operands);

/* Notes a file or folder that is read. One that does not exist is no error here: the function that reads it
 * reports that. */
int files_input(struct tool *tool, const char *path);

/*
 * Notes a file that will be written. Refuses a file that is an input or another output, and a file whose
 * folder is missing or may not be written to. `option` is the option that names the file, such as
 * "--overlay".
 */
int files_output(struct tool *tool, const char *option, const char *path);

/* How often the options and operands name the file at `path` as an input. It is 0 if that is not known, for
 * example for a pipe. */
int files_named(const struct tool *tool, const char *path);

void files_release(file_list *list);

#endif
