/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c: the names of channels as a stack knows them: those of the library, those of the outputs of the
 * stack's network, and those of the application's own planes.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/learned.h"
#include "core/memory.h"
#include "core/try.h"
#include "stack/inside.h"
#include "stack/network.h"

/* What defines the names that are not the library's. */
typedef struct own_names {
    const tvlm_user_plane *users;
    int32_t user_count;
    const tvlm_learned *learned;
} own_names;

static own_names names_of(const tvlm_stack *stack) {
    return (own_names){stack->users, stack->user_count, &stack->learned};
}

/* Describes one of the network's outputs as a channel. */
static void describe_output(const tvlm_learned *learned, int32_t output, tvlm_channel_info *info) {
    snprintf(info->name, sizeof info->name, "%s", learned->outputs[output]);
    if (learned->bounded) info->low = 0.0f, info->high = 1.0f;
}

tvlm_status tvlm_stack_get_channel_info(const tvlm_stack *stack, int32_t channel, tvlm_channel_info *info) {
    TVLM_NEED(NULL, stack);
    TVLM_NEED(&stack->device->log, info);
    TVLM_TRY(tvlm_stack_check_channel(stack, channel));
    if (channel < TVLM_CHANNEL_USER_0) {
        TVLM_TRY(tvlm_channel_get_info(channel, info));
        const int32_t output = channel - TVLM_CHANNEL_LEARNED_0;
        if (output >= 0 && output < stack->learned.output_count)
            describe_output(&stack->learned, output, info);
        return TVLM_OK;
    }
    const tvlm_user_plane *user = &stack->users[channel - TVLM_CHANNEL_USER_0];
    memset(info, 0, sizeof *info);
    memcpy(info->name, user->name, sizeof info->name);
    info->family = "user";
    info->channel = channel;
    info->low = user->low;
    info->high = user->high;
    info->identifier = user->reduce == TVLM_REDUCE_MODE;
    info->available = info->handed_in = true;
    return TVLM_OK;
}

static int32_t find_own(const own_names *own, const char *name, size_t length) {
    for (int32_t i = 0; i < own->user_count; ++i)
        if (strlen(own->users[i].name) == length && memcmp(own->users[i].name, name, length) == 0)
            return TVLM_CHANNEL_USER_0 + i;
    const int32_t output = tvlm_learned_find(own->learned, name, length);
    return output >= 0 ? TVLM_CHANNEL_LEARNED_0 + output : TVLM_CHANNEL_NONE;
}

int32_t tvlm_stack_channel_find(const tvlm_stack *stack, const char *name) {
    if (stack == NULL || name == NULL) return TVLM_CHANNEL_NONE;
    const own_names own = names_of(stack);
    const int32_t found = find_own(&own, name, strlen(name));
    return found != TVLM_CHANNEL_NONE ? found : tvlm_channel_find(name);
}

/*
 * Finds the channels in a list of names that are not the library's. found[n] is the channel of word n, or
 * NONE if that name is the library's or unknown. In `text` each name that is found becomes "r", so that the
 * library's parser can check the rest of the list. Returns the number of words.
 */
static int32_t take_own(const own_names *own, char *text, int32_t *found) {
    const char *from = text;
    char *to = text;
    int32_t word = 0;
    for (;; ++word) {
        const size_t span = strcspn(from, ",");
        size_t first = 0, last = span;
        while (first < last && isspace((unsigned char)from[first])) ++first;
        while (last > first && isspace((unsigned char)from[last - 1])) --last;
        found[word] = find_own(own, from + first, last - first);
        const bool end = from[span] == '\0';
        if (found[word] != TVLM_CHANNEL_NONE) {
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

static tvlm_status parse(const own_names *own, const char *text, const tvlm_log *log, int32_t capacity,
                         int32_t *channels, int32_t *count) {
    if (text == NULL) return tvlm_layout_parse(text, log, capacity, channels, count);
    size_t words = 1;
    for (const char *c = text; *c != '\0'; ++c) words += *c == ',';
    char *copy = tvlm_allocate(strlen(text) + 1, 1);
    int32_t *found = tvlm_allocate(words, sizeof *found);
    tvlm_status status;
    if (copy == NULL || found == NULL) {
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a list of channels");
    } else {
        memcpy(copy, text, strlen(text) + 1);
        const int32_t all = take_own(own, copy, found);
        status = tvlm_layout_parse(copy, log, capacity, channels, count);
        for (int32_t i = 0; status == TVLM_OK && i < all && i < capacity; ++i)
            if (found[i] != TVLM_CHANNEL_NONE) channels[i] = found[i];
    }
    free(copy);
    free(found);
    return status;
}

tvlm_status tvlm_learned_parse(const tvlm_learned *learned, const char *text, const tvlm_log *log,
                               int32_t capacity, int32_t *channels, int32_t *count) {
    const own_names own = {.learned = learned};
    return parse(&own, text, log, capacity, channels, count);
}

tvlm_status tvlm_stack_parse(const tvlm_stack *stack, const char *text, int32_t capacity, int32_t *channels,
                             int32_t *count) {
    TVLM_NEED(NULL, stack);
    TVLM_NEED(&stack->device->log, count);
    if (capacity > 0) TVLM_NEED(&stack->device->log, channels);
    if (capacity < 0)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "room for %d channels", (int)capacity);
    const own_names own = names_of(stack);
    return parse(&own, text, &stack->device->log, capacity, channels, count);
}
