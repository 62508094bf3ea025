/* SPDX-License-Identifier: Apache-2.0 */
#include "io/names.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

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

tvlm_status tvlm_io_join_names(const char *path, const tvlm_log *log, const int32_t *channels, int32_t count,
                               char **names) {
    char *const joined = tvlm_allocate((size_t)count, TVLM_CHANNEL_NAME_SIZE);
    size_t length = 0;
    *names = NULL;
    if (joined == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "%s: no memory for the channels' names", path);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_channel_info channel;
        if (tvlm_channel_get_info(channels[i], &channel) != TVLM_OK) {
            free(joined);
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: there is no channel %d", path, (int)channels[i]);
        }
        const size_t size = strlen(channel.name);
        if (i > 0) joined[length++] = ',';
        memcpy(joined + length, channel.name, size);
        length += size;
    }
    joined[length] = '\0';
    *names = joined;
    return TVLM_OK;
}

tvlm_status tvlm_io_read_level(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                               int32_t most, int32_t *level) {
    const char *const text = tvlm_safetensors_metadata(file, "level");
    char *end = NULL;
    *level = 0;
    if (text == NULL) return TVLM_OK;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 0 || value > most)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: its metadata say level = %.32s; 0 to %d are possible",
                         path, text, (int)most);
    *level = (int32_t)value;
    return TVLM_OK;
}
