/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoders.h: which libraries read pictures here, for --version and `tvlm devices`.
 */
#ifndef TVLM_TOOLS_DECODERS_H
#define TVLM_TOOLS_DECODERS_H

#include "json.h"

/* Prints the version, and a line of what reads pictures. Returns TOOL_DONE. */
int decoders_print_version(void);

/* Prints that line alone. */
void decoders_print(void);

/* Writes an object "decoders": the library of each format, null where none reads it. */
void decoders_write(json_writer *json);

#endif
