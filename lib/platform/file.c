/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/file.h"

#include <errno.h>

int64_t tvlm_file_get(int file, void *bytes, size_t size) {
    size_t got = 0;
    while (got < size) {
        const int64_t now = tvlm_file_some(file, (char *)bytes + got, size - got);
        if (now < 0) return -1;
        if (now == 0) break;
        got += (size_t)now;
    }
    return (int64_t)got;
}

bool tvlm_file_put(int file, const void *bytes, size_t size) {
    const char *next = bytes;
    while (size > 0) {
        const int64_t written = tvlm_file_put_some(file, next, size);
        if (written == 0) errno = ENOSPC;
        if (written <= 0) return false;
        next += written;
        size -= (size_t)written;
    }
    return true;
}
