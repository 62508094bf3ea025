/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h: how every command handles signals.
 *
 * - SIGINT, SIGTERM and SIGHUP end the program at once, by the signal. No temporary file is left.
 * - SIGPIPE and SIGXFSZ become errors of writing, which are reported, and the command ends with 1.
 */
#ifndef TVLM_TOOLS_SIGNALS_H
#define TVLM_TOOLS_SIGNALS_H

/* To be called before anything else, on the thread that writes files. */
void signals_start(void);

/* Adds a function that removes the temporary files of one more library. A signal handler calls it. */
void signals_remove_also(void (*remove)(void));

/*
 * From here on the first SIGINT, SIGTERM or SIGHUP is only noted, so that the command can end in an orderly
 * way. The second one ends the program at once.
 */
void signals_note_first(void);

/* The signal that was noted, or 0 if none was. */
int signals_noted(void);

#endif
