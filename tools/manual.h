/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.h: makes pages for man, and completion for bash and zsh, from the tables of options.
 */
#ifndef TVLM_TOOLS_MANUAL_H
#define TVLM_TOOLS_MANUAL_H

#include "tool.h"

/* Prints the options that name files, for tests. Each has a line "COMMAND KIND OPTION". A
 * setting is "--set NAME". */
int manual_files(struct tool *tool);

/*
 * Writes files into a folder: tvlm.1, the page of each command, and the completion files "tvlm" for bash and
 * "_tvlm" for zsh, for the program of that name.
 */
int manual_write(struct tool *tool, const char *folder);

/* Writes the page of a command: PROGRAM-COMMAND(1). */
int manual_write_page(struct tool *tool, const tool_command *command, const char *folder);

#endif
