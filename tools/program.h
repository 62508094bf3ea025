/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h: a program of several commands: tvlm, and tvlm-lab.
 */
#ifndef TVLM_TOOLS_PROGRAM_H
#define TVLM_TOOLS_PROGRAM_H

#include "tool.h"

/* What main does: finds the command, parses its options by its table, and runs it. Returns the exit code. */
int program_main(const tool_program *program, int argc, char **argv);

#endif
