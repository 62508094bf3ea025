/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ending.h: what a program does when it is to end.
 *
 * - SIGINT, SIGTERM and SIGHUP end it at once, by the signal. No temporary file is left.
 * - SIGPIPE and SIGXFSZ become errors of writing.
 * - On Windows, what Control-C, Control-Break and closing the console do stands for SIGINT and SIGTERM. Closing it, logging off and
 *   shutting down leave a program a few seconds for an orderly end.
 */
#ifndef TVLM_PLATFORM_ENDING_H
#define TVLM_PLATFORM_ENDING_H

/* To be called before anything else, on the thread that writes files. `remove` removes temporary files. A signal's handler calls
 * it. */
void tvlm_ending_start(void (*remove)(void));

/* Adds a function that removes the temporary files of one more library. A signal's handler calls it. */
void tvlm_ending_remove_also(void (*remove)(void));

/* From here on the first such signal is only noted, so that the program can end in an orderly way. The second one ends it
 * at once. */
void tvlm_ending_note_first(void);

/* The signal that was noted, or 0 if none was. */
int tvlm_ending_noted(void);

#endif
