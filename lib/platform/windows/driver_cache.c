/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/driver_cache.h"

void tvlm_driver_cache_start(void) {}

void tvlm_driver_cache_end(void) {}

bool tvlm_driver_cache_folder(char *path, size_t size) {
    (void)path, (void)size;
    return false;
}
