/* SPDX-License-Identifier: Apache-2.0 */
#include "io/names.h"

#include <string.h>

int32_t tvlm_io_count_names(const char *names) {
    int32_t count = 1;
    for (; *names != '\0'; ++names) count += *names == ',';
    return count;
}

tvlm_status tvlm_io_read_names(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                               const char *names, int32_t *channels) {
    for (int32_t i = 0;; ++i) {
        char name[TVLM_CHANNEL_NAME_SIZE] = "";
        const size_t length = strcspn(names, ",");
        if (length < sizeof name) memcpy(name, names, length);
        channels[i] = stack != NULL ? tvlm_stack_channel_find(stack, name) : tvlm_channel_find(name);
        if (channels[i] == TVLM_CHANNEL_NONE)
            return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: there is no channel '%.*s'", path,
                             (int)(length < 64 ? length : 64), names);
        for (int32_t j = 0; j < i; ++j) {
            if (channels[j] == channels[i])
                return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: the channel '%s' stands twice", path, name);
        }
        if (names[length] == '\0') return TVLM_OK;
        names += length + 1;
    }
}
