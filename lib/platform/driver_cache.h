/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_cache.h: gives PoCL a folder for its compiled programs if the user's home cannot be that folder. On Windows, which has no PoCL of its own, nothing is done.
 */
#ifndef TVLM_PLATFORM_DRIVER_CACHE_H
#define TVLM_PLATFORM_DRIVER_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * To be called before the first call of OpenCL. PoCL has no device if it cannot write below the user's home.
 * If the home does not exist, PoCL would make it where it may. In both cases PoCL gets a temporary folder
 * ($POCL_CACHE_DIR), which tvlm_driver_cache_end removes; where none can be made, neither below $TMPDIR nor below /tmp, it gets a name that
 * cannot be made either, and has no device. However the program ends before that, another process, which is started
 * here, removes it. No other thread may run yet.
 */
void tvlm_driver_cache_start(void);

/* Writes the folder in which PoCL keeps what it has compiled. Returns false where there is none: below /tmp, or on Windows. */
bool tvlm_driver_cache_folder(char *path, size_t size);

/* To be called at the end, and before another program takes the place of this one. */
void tvlm_driver_cache_end(void);

#endif
