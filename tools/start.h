/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h: commands that are programs of their own, and the names of all commands.
 */
#ifndef TVLM_TOOLS_START_H
#define TVLM_TOOLS_START_H

#include "tool.h"

/*
 * Becomes the program `name`, from the folder of the running program or from the PATH. argv[1..] are its
 * arguments, ended by NULL; argv[0] is replaced. Returns only on failure, with an error.
 */
int start_program(struct tool *tool, const char *name, char **argv);

/* Returns the name that --help, the pages for man and completion list in place i, and its summary: the commands, and
 * then the programs that can be started. NULL: there are no more. */
const char *start_listed(const tool_program *program, int i, const char **summary);

#endif
