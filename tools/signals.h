/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h: what happens on SIGINT, SIGTERM and SIGHUP, on SIGPIPE and on SIGXFSZ, in every command.
 *
 * The first three end the program at once, by the signal, and no temporary file is left. The last two are errors of
 * writing, which are told and end with 1.
 */
#ifndef TVLM_TOOLS_SIGNALS_H
#define TVLM_TOOLS_SIGNALS_H

/* To be called first, on the thread that writes files. */
void signals_start(void);

/* `remove` removes the temporary files of one more library. A handler calls it. */
void signals_remove_also(void (*remove)(void));

/*
 * From here on the first SIGINT, SIGTERM or SIGHUP is only noted, so that the command can end in order. The second one
 * ends the program at once.
 */
void signals_note_first(void);

/* The signal that was noted; 0 where none was. */
int signals_noted(void);

#endif
