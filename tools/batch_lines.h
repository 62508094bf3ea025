/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_lines.h: writes a line of JSON for each image. It is the only output that is written in place.
 *
 * A line is complete or not there. If a full disk or a kill leaves a part of a line, that part is cut off, by
 * the run itself or by the run that resumes it.
 */
#ifndef TVLM_TOOLS_BATCH_LINES_H
#define TVLM_TOOLS_BATCH_LINES_H

#include "json.h"
#include "tool.h"

typedef struct batch_lines batch_lines;

/*
 * Opens `path`, or stdout if it is NULL. The string must live as long as the lines.
 *
 * With `resume` the lines that are there stay, except a line that was cut short, and the names of their
 * images are read. Without it the file is emptied. A file is refused and left as it is if another process is
 * writing lines to it, or if it holds anything else than such lines.
 */
int batch_lines_open(struct tool *tool, const char *path, bool resume, batch_lines **lines);

/* Whether a line of that name was there when the file was resumed. Each line stands for one input: if two
 * inputs have the same name, the second one is left out only if there are two lines. */
bool batch_lines_passed(batch_lines *lines, const char *name);

/* How many lines there were when the file was resumed, and how many of them are about an error. */
int64_t batch_lines_found(const batch_lines *lines);
int64_t batch_lines_failed(const batch_lines *lines);

/* Writes the text of a writer, which must be one line, and empties the writer. A line of another device than those that
 * were there when the file was resumed is refused. */
int batch_lines_write(struct tool *tool, batch_lines *lines, json_writer *json);

/* Lets lines be of any device: several are at work. */
void batch_lines_any_device(batch_lines *lines);

/* Writes the line of an image that failed. */
int batch_lines_write_error(struct tool *tool, batch_lines *lines, const char *name, const char *error);

void batch_lines_close(batch_lines **lines);

#endif
