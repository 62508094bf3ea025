/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h: shared libraries that are loaded while the program runs. They stay loaded. Any thread may call these functions at any
 * time.
 */
#ifndef TVLM_PLATFORM_LIBRARY_H
#define TVLM_PLATFORM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Loads a library by its name, as the system finds it, or by its path, in UTF-8. On Windows a name is not looked for in the current
 * folder, nor in those of %PATH%. NULL: it cannot be loaded. */
void *tvlm_library_open(const char *name);

/* The program itself, with the libraries that it is linked to. NULL: they cannot be asked. */
void *tvlm_library_of_program(void);

/* Writes a function of a library, a pointer, to *function. Where the library has none of that name, it is NULL, and false is
 * returned. */
bool tvlm_library_find(void *library, const char *name, void *function);

/* Says in one line why tvlm_library_open or tvlm_library_find failed last in this thread. */
void tvlm_library_explain(char *text, size_t size);

/* Under which names systems have these libraries, ended by NULL. */
extern const char *const tvlm_library_opencl[];
extern const char *const tvlm_library_clblast[];
extern const char *const tvlm_library_heif[];

#endif
