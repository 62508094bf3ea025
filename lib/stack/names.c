/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c: the names of channels as a stack knows them: those of the library, and those of its own planes.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "stack/inside.h"

tvlm_status tvlm_stack_get_channel_info(const tvlm_stack *stack, int32_t channel, tvlm_channel_info *info) {
    TVLM_NEED(NULL, stack);
    TVLM_NEED(&stack->device->log, info);
    if (channel < TVLM_CHANNEL_USER_0) return tvlm_channel_get_info(channel, info);
    const int32_t plane = channel - TVLM_CHANNEL_USER_0;
    if (plane >= stack->user_count)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "there is no channel %d", (int)channel);
    const tvlm_user_plane *user = &stack->users[plane];
    memset(info, 0, sizeof *info);
    memcpy(info->name, user->name, sizeof info->name);
    info->family = "user";
    info->channel = channel;
    info->low = user->low;
    info->high = user->high;
    info->identifier = user->reduce == TVLM_REDUCE_MODE;
    info->available = true;
    return TVLM_OK;
}

static int32_t find_user(const tvlm_stack *stack, const char *name, size_t length) {
    for (int32_t i = 0; i < stack->user_count; ++i)
        if (strlen(stack->users[i].name) == length && memcmp(stack->users[i].name, name, length) == 0)
            return TVLM_CHANNEL_USER_0 + i;
    return TVLM_CHANNEL_NONE;
}

int32_t tvlm_stack_channel_find(const tvlm_stack *stack, const char *name) {
    if (stack == NULL || name == NULL) return TVLM_CHANNEL_NONE;
    const int32_t user = find_user(stack, name, strlen(name));
    return user != TVLM_CHANNEL_NONE ? user : tvlm_channel_find(name);
}

/*
 * Finds the planes that a list names: planes[n] is that of its n-th word, or NONE. In `text` each plane's
 * name becomes "r", so that the library can parse the list with all its checks. Returns the number of words.
 */
static int32_t take_planes(const tvlm_stack *stack, char *text, int32_t *planes) {
    const char *from = text;
    char *to = text;
    int32_t word = 0;
    for (;; ++word) {
        const size_t span = strcspn(from, ",");
        size_t first = 0, last = span;
        while (first < last && isspace((unsigned char)from[first])) ++first;
        while (last > first && isspace((unsigned char)from[last - 1])) --last;
        planes[word] = find_user(stack, from + first, last - first);
        const bool end = from[span] == '\0';
        if (planes[word] != TVLM_CHANNEL_NONE) {
            *to++ = 'r';
        } else {
            memmove(to, from, span);
            to += span;
        }
        from += span + 1;
        *to++ = end ? '\0' : ',';
        if (end) return word + 1;
    }
}

tvlm_status tvlm_stack_parse(const tvlm_stack *stack, const char *text, int32_t capacity, int32_t *channels,
                             int32_t *count) {
    TVLM_NEED(NULL, stack);
    TVLM_NEED(&stack->device->log, count);
    if (capacity > 0) TVLM_NEED(&stack->device->log, channels);
    if (capacity < 0)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "room for %d channels", (int)capacity);
    const tvlm_log *log = &stack->device->log;
    if (text == NULL) return tvlm_layout_parse(text, log, capacity, channels, count);
    size_t words = 1;
    for (const char *c = text; *c != '\0'; ++c) words += *c == ',';
    char *copy = tvlm_allocate(strlen(text) + 1, 1);
    int32_t *planes = tvlm_allocate(words, sizeof *planes);
    tvlm_status status;
    if (copy == NULL || planes == NULL) {
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a list of channels");
    } else {
        memcpy(copy, text, strlen(text) + 1);
        const int32_t found = take_planes(stack, copy, planes);
        status = tvlm_layout_parse(copy, log, capacity, channels, count);
        for (int32_t i = 0; status == TVLM_OK && i < found && i < capacity; ++i)
            if (planes[i] != TVLM_CHANNEL_NONE) channels[i] = planes[i];
    }
    free(copy);
    free(planes);
    return status;
}
