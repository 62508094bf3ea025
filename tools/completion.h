/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h: makes the files by which shells complete a line that begins with the program's name, from the tables of
 * options.
 */
#ifndef TVLM_TOOLS_COMPLETION_H
#define TVLM_TOOLS_COMPLETION_H

#include "tool.h"

int completion_bash(struct tool *tool, FILE *file);
int completion_zsh(struct tool *tool, FILE *file);

#endif
