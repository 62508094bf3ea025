/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.h: what is made of the tables of options beside --help: pages for man, and completion for bash and zsh.
 */
#ifndef TVLM_TOOLS_MANUAL_H
#define TVLM_TOOLS_MANUAL_H

#include "tool.h"

/* Prints the options that name files, a line each: "COMMAND KIND OPTION", for tests. */
int manual_files(struct tool *tool, const tool_command *const *commands);

/* Prints the page of a command for man, tvlm-NAME(1). */
int manual_page(struct tool *tool, const tool_command *command, FILE *file);

/*
 * Writes tvlm.1, the page of each command, and the completion files "tvlm" for bash and "_tvlm" for zsh into a folder. The
 * list ends with NULL.
 */
int manual_write(struct tool *tool, const tool_command *const *commands, const char *folder);

/* Writes the page of one command that is a program of its own. */
int manual_write_page(struct tool *tool, const tool_command *command, const char *folder);

#endif
