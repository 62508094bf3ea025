/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.h: what is made of the tables of options beside --help.
 */
#ifndef TVLM_TOOLS_MANUAL_H
#define TVLM_TOOLS_MANUAL_H

#include "tool.h"

/* The options that name files, for tests: a line each, "COMMAND KIND OPTION", KIND being as in option_kind. */
int manual_files(struct tool *tool, const tool_command *const *commands);

#endif
