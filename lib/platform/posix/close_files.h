/* SPDX-License-Identifier: Apache-2.0 */
/*
 * posix/close_files.h: for a process that was forked.
 */
#ifndef TVLM_PLATFORM_POSIX_CLOSE_FILES_H
#define TVLM_PLATFORM_POSIX_CLOSE_FILES_H

#include <unistd.h>

/* Closes the files from `first` up to 1023 but `kept`; -1: all. They are those that a program may have been left by whoever started it,
 * and that others may wait for. It does only what a signal's handler may do. */
static inline void tvlm_posix_close_files(int first, int kept) {
    for (int file = first; file < 1024; ++file)
        if (file != kept) (void)close(file);
}

#endif
