/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoders.h: tells which libraries read pictures in this build, for --version and `tvlm devices`.
 */
#ifndef TVLM_TOOLS_DECODERS_H
#define TVLM_TOOLS_DECODERS_H

#include "json.h"

/* Prints the version, and a line about the libraries that read pictures. Returns TOOL_DONE. */
int decoders_print_version(const char *program);

/* Prints that line alone. */
void decoders_print(void);

/* Writes an object "decoders" with the library of each format, or null for a format that no library reads. */
void decoders_write(json_writer *json);

#endif
