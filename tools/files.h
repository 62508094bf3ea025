/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h: the files that a command reads and writes. They are known here by device and inode, so that no
 * output takes the place of an input, or of another output, whatever it is called. The tables say which
 * options name files (options.h), and tool_run notes those; a command adds the names that it makes itself.
 */
#ifndef TVLM_TOOLS_FILES_H
#define TVLM_TOOLS_FILES_H

#include <stdbool.h>

#include "options.h"

struct tool;

typedef struct file_list {
    void *tree;     /* belongs to tsearch; NULL: empty */
    bool read_once; /* an input is a pipe or a device: what was read of it does not come again */
} file_list;

/* Notes all files that the options name, and the operands, which are inputs. */
int files_note(struct tool *tool, const option_table *table, const void *values, int count,
               char *const *operands);

/* Notes a file, or folder, that is read. What does not exist is for its reader to complain of. */
int files_input(struct tool *tool, const char *path);

/*
 * Notes a file that will be written. Refuses one that is an input or another output, and one whose folder is
 * missing or may not be written to. `option` is what names the file, such as "--overlay".
 */
int files_output(struct tool *tool, const char *option, const char *path);

/* How often the options and operands name the file at a path, as an input; 0 where that is not known, as of a
 * pipe. */
int files_named(const struct tool *tool, const char *path);

void files_release(file_list *list);

#endif
