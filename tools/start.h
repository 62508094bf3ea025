/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h: commands that are programs of their own.
 */
#ifndef TVLM_TOOLS_START_H
#define TVLM_TOOLS_START_H

#include "tool.h"

/*
 * Becomes the program `name`, from the folder of the running program or from the PATH. argv[1..] are its
 * arguments, ended by NULL; argv[0] is replaced. Returns only on failure, with an error.
 */
int start_program(struct tool *tool, const char *name, char **argv);

#endif
