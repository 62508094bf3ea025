/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h: the program that runs, and others.
 */
#ifndef TVLM_PLATFORM_PROGRAM_H
#define TVLM_PLATFORM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * To be called first in main. On Windows the arguments then are in UTF-8, what is printed is taken as UTF-8, and standard input and
 * output change no byte. Elsewhere that is so already.
 */
void tvlm_program_start(int *argc, char ***argv);

/* Writes the path of another program, whose name has no ending: in the folder of the program that runs. false: the system does not
 * tell the folder. */
bool tvlm_program_beside(const char *name, char *path, size_t size);

/* Finds a program, whose name has no ending, in the folders of $PATH, and writes its path. On Windows the current folder is none of
 * them. */
bool tvlm_program_find(const char *name, char *path, size_t size);

/* Whether a path is that of a program. */
bool tvlm_program_exists(const char *path);

/* Becomes the program of that path. argv[0] is its name, and NULL follows its last argument. On Windows, where that is not possible, it
 * is started, and this one ends as it ends. Returns only on failure; errno says why. */
void tvlm_program_become(const char *path, char **argv);

/*
 * Starts the program of that path, which goes on when this one has ended. argv[0] is its name, and NULL follows its last argument. It
 * has no terminal, nothing to read, and nowhere to print; on POSIX it lets others have the processor first. false: it did not start.
 */
bool tvlm_program_start_apart(const char *path, char **argv);

/*
 * Runs the program of that path, as tvlm_program_become does, waits for it, and writes how it ended (its exit status; -1: by a signal)
 * and the most memory that it held at a time, in bytes. On POSIX that is at least what this program holds. false: it did not start.
 */
bool tvlm_program_measure(const char *path, char **argv, int *code, size_t *peak);

/* How many threads can run at once; 1 where that is not known. */
int tvlm_processors(void);

#endif
