/* SPDX-License-Identifier: Apache-2.0 */
#include "io/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void with_path(void *user, tvlm_log_level level, const char *message) {
    const tvlm_io_named *const file = user;
    tvlm_log_message(file->log, level, "%s: %s", file->path, message);
}

tvlm_log tvlm_io_naming(const tvlm_io_named *file) {
    return (tvlm_log){with_path, (void *)(uintptr_t)file};
}

tvlm_status tvlm_io_check_number(const tvlm_io_named *file, const tvlm_safetensors *tensors, const char *key,
                                 int32_t expected) {
    const char *const text = tvlm_safetensors_metadata(tensors, key);
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%d", (int)expected);
    if (text == NULL || strcmp(text, wanted) == 0) return TVLM_OK;
    return tvlm_fail(file->log, TVLM_ERROR_FORMAT, "%s: its metadata say %s = %.32s, its tensor %s",
                     file->path, key, text, wanted);
}

tvlm_status tvlm_io_read_vectors(const tvlm_io_named *file, const tvlm_safetensors *tensors, int64_t *count) {
    const char *const text = tvlm_safetensors_metadata(tensors, "vectors");
    char *end = NULL;
    if (text == NULL) return TVLM_OK;
    errno = 0;
    *count = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && *count >= 0) return TVLM_OK;
    return tvlm_fail(file->log, TVLM_ERROR_FORMAT, "%s: '%.32s' is no number of vectors", file->path, text);
}
