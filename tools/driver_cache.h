/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_cache.h: a place for what PoCL compiles, where the user's home is none.
 */
#ifndef TVLM_TOOLS_DRIVER_CACHE_H
#define TVLM_TOOLS_DRIVER_CACHE_H

/*
 * Before the first call of OpenCL: PoCL has no device where it cannot write below the user's home, and makes a home that is
 * not there if it may. In both cases it gets a temporary folder ($POCL_CACHE_DIR), which driver_cache_end removes.
 */
void driver_cache_start(void);

void driver_cache_end(void);

#endif
