/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h: shows one bar on stderr, with the time that is left, for work that takes longer than a second. It is
 * shown only on a terminal.
 */
#ifndef TVLM_TOOLS_PROGRESS_H
#define TVLM_TOOLS_PROGRESS_H

#include <stdint.h>

/* Starts counting to `total` steps. */
void progress_start(const char *what, int64_t total);

/* Says that `done` steps are done, and draws the bar if it has changed. More than there were to be count as all. */
void progress_step(int64_t done);

/* Removes the bar from the line, if there is one. It is called before anything else is printed, and at the
 * end. */
void progress_clear(void);

/* From here on no bar is drawn. */
void progress_never(void);

#endif
