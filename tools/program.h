/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h: a program of several commands: tvlm, and tvlm-lab.
 */
#ifndef TVLM_TOOLS_PROGRAM_H
#define TVLM_TOOLS_PROGRAM_H

#include "tool.h"

/* What main does: finds the command, parses its options by its table, and runs it. Returns the exit code. */
int program_main(const tool_program *program, int argc, char **argv);

/* Returns the name that --help, the pages for man and completion list in place i, and its summary: the commands, and
 * then the programs that can be started. NULL: there are no more. */
const char *program_listed(const tool_program *program, int i, const char **summary);

#endif
