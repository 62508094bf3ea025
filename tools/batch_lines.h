/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_lines.h: a line of JSON an image, the one output that is written in place. A line is whole or not there: what
 * a full disk or a kill left of one is cut off, by the run itself or by the one that resumes it.
 */
#ifndef TVLM_TOOLS_BATCH_LINES_H
#define TVLM_TOOLS_BATCH_LINES_H

#include "json.h"
#include "tool.h"

typedef struct batch_lines batch_lines;

/*
 * Opens `path`, which must live as long as the lines, or stdout where that is NULL. With `resume` what is there stays, but for a line that was cut short, and
 * the names of its images are read; without, the file is emptied. A file that another process writes so, and one that
 * holds something else than such lines, is refused and left as it is.
 */
int batch_lines_open(struct tool *tool, const char *path, bool resume, batch_lines **lines);

/* Whether a line of that name was there when the file was resumed. Each line stands for one input: of two of the same
 * name the second is left out only if there are two lines. */
bool batch_lines_passed(batch_lines *lines, const char *name);

/* How many lines there were, and how many of them are about an error. */
int64_t batch_lines_found(const batch_lines *lines);
int64_t batch_lines_failed(const batch_lines *lines);

/* Writes the text of a writer, which is one line, and empties it. */
int batch_lines_write(struct tool *tool, batch_lines *lines, json_writer *json);

/* Writes the line of an image that failed. */
int batch_lines_write_error(struct tool *tool, batch_lines *lines, const char *name, const char *error);

void batch_lines_close(batch_lines **lines);

#endif
