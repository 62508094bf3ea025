/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c: the channels of layouts, and lists of names that people typed.
 */
#include "texturevlm/channels.h"

#include <ctype.h>
#include <string.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/try.h"

/* A run of channel numbers. A run of 0 channels ends a list. */
typedef struct channel_run {
    int32_t first, count;
} channel_run;

typedef struct layout_row {
    const char *name;
    channel_run runs[12];
} layout_row;

#define PATCH13                                                                                              \
    {0, 3}, {TVLM_CHANNEL_Y, 1}, {TVLM_CHANNEL_X, 1}, {TVLM_CHANNEL_EDGE_X, 2}, {TVLM_CHANNEL_EDGES, 1},     \
        {TVLM_CHANNEL_SALIENCY_FINE, 3}, {                                                                   \
        TVLM_CHANNEL_RGB_VAR, 2                                                                              \
    }

static const layout_row layouts[] = {
    {"visual12", {{0, 12}}},
    {"cluster15", {{0, 15}}},
    {"embed31", {{0, 15}, {TVLM_CHANNEL_EMBEDDING_0, 16}}},
    {"temporal34", {{0, 34}}},
    {"full40", {{0, 40}}},
    {"mvp13",
     {{0, 3},
      {TVLM_CHANNEL_Y, 1},
      {TVLM_CHANNEL_X, 1},
      {TVLM_CHANNEL_ECCENTRICITY, 1},
      {TVLM_CHANNEL_EDGES, 2},
      {TVLM_CHANNEL_LAPLACIAN, 1},
      {TVLM_CHANNEL_LOW, 1},
      {TVLM_CHANNEL_MOTION, 1},
      {TVLM_CHANNEL_SALIENCY, 1},
      {TVLM_CHANNEL_DISTANCE, 1}}},
    {"patch13", {PATCH13}},
    {"scene18", {PATCH13, {TVLM_CHANNEL_DEPTH, 1}, {TVLM_CHANNEL_NORMAL_X, 3}, {TVLM_CHANNEL_OCCLUSION, 1}}},
};

#define LAYOUT_COUNT ((int32_t)(sizeof layouts / sizeof layouts[0]))

const char *tvlm_layout_name(int32_t i) {
    return i >= 0 && i < LAYOUT_COUNT ? layouts[i].name : NULL;
}

int32_t tvlm_layout_side(const char *layout) {
    return layout != NULL && (strcmp(layout, "patch13") == 0 || strcmp(layout, "scene18") == 0) ? 32 : 0;
}

/* ---- Names that are not the library's own ---- */

bool tvlm_name_is_allowed(const char *name) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.@";
    const size_t length = name != NULL ? strlen(name) : 0;
    return length > 0 && length < TVLM_CHANNEL_NAME_SIZE && strspn(name, allowed) == length;
}

bool tvlm_name_is_taken(const char *name) {
    for (int32_t i = 0; i < LAYOUT_COUNT; ++i)
        if (strcmp(name, layouts[i].name) == 0) return true;
    return tvlm_channel_find(name) != TVLM_CHANNEL_NONE;
}

/* ---- The nearest name ---- */

/* How many bytes of a typed name are compared and shown. No name of the library is as long. */
#define WORD_MAX 40

static size_t least(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Levenshtein's distance of two names. `a` has at most WORD_MAX bytes. */
static size_t edit_distance(const char *a, size_t a_length, const char *b) {
    size_t row[WORD_MAX + 1];
    for (size_t i = 0; i <= a_length; ++i) row[i] = i;
    for (size_t j = 0; b[j] != '\0'; ++j) {
        size_t diagonal = row[0];
        row[0] = j + 1;
        for (size_t i = 0; i < a_length; ++i) {
            const size_t substituted = diagonal + (a[i] != b[j] ? 1 : 0);
            diagonal = row[i + 1];
            row[i + 1] = least(substituted, row[i] + 1, diagonal + 1);
        }
    }
    return row[a_length];
}

/* Finds the channel whose name is nearest, the lowest number among equals, and its distance. */
static void nearest_channel(const char *word, size_t length, tvlm_channel_info *nearest, size_t *distance) {
    *distance = SIZE_MAX;
    for (int32_t channel = 0; channel < TVLM_CHANNEL_EMBEDDING_16 + TVLM_EMBEDDING_MAX - 16; ++channel) {
        tvlm_channel_info info;
        if (tvlm_channel_get_info(channel, &info) != TVLM_OK) continue;
        const size_t found = edit_distance(word, length, info.name);
        if (found >= *distance) continue;
        *distance = found;
        *nearest = info;
    }
}

/* Fails with the nearest name. A word that stands alone may have been meant as a layout. */
static tvlm_status fail_unknown(const char *word, size_t length, bool alone, const tvlm_log *log) {
    tvlm_channel_info channel;
    size_t distance;
    const char *kind = "channel", *name = channel.name;
    if (length > WORD_MAX) length = WORD_MAX;
    nearest_channel(word, length, &channel, &distance);
    for (int32_t i = 0; alone && i < LAYOUT_COUNT; ++i) {
        const size_t found = edit_distance(word, length, layouts[i].name);
        if (found >= distance) continue;
        distance = found;
        kind = "layout";
        name = layouts[i].name;
    }
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "unknown %s '%.*s'; did you mean '%s'?", kind, (int)length,
                     word, name);
}

/* ---- Parsing ---- */

/* Finds the channel of one name of a list, without the blanks around it. */
static tvlm_status parse_word(const char *word, size_t length, bool alone, const tvlm_log *log,
                              int32_t *channel) {
    char name[TVLM_CHANNEL_NAME_SIZE];
    tvlm_channel_info info;
    if (length == 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an empty name in the list of channels");
    *channel = TVLM_CHANNEL_NONE;
    if (length < sizeof name) {
        memcpy(name, word, length);
        name[length] = '\0';
        *channel = tvlm_channel_find(name);
    }
    if (*channel == TVLM_CHANNEL_NONE) return fail_unknown(word, length, alone, log);
    TVLM_TRY(tvlm_channel_get_info(*channel, &info));
    if (!info.available)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "channel '%s': this version does not make the family '%s'",
                         info.name, info.family);
    return TVLM_OK;
}

static bool blank(char c) {
    return isspace((unsigned char)c) != 0;
}

/* Parses a whole list. A first pass with capacity 0 finds every error before anything is written. */
static tvlm_status parse_list(const char *text, const tvlm_log *log, int32_t capacity, int32_t *channels,
                              int32_t *count) {
    const bool alone = strchr(text, ',') == NULL;
    int32_t found = 0;
    for (;;) {
        int32_t channel = TVLM_CHANNEL_NONE;
        const size_t span = strcspn(text, ",");
        const char *word = text;
        size_t length = span;
        while (length > 0 && blank(word[0])) ++word, --length;
        while (length > 0 && blank(word[length - 1])) --length;
        TVLM_TRY(parse_word(word, length, alone, log, &channel));
        if (found == TVLM_LAYOUT_CHANNELS_MAX)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "more than %d channels in one list",
                             TVLM_LAYOUT_CHANNELS_MAX);
        if (found < capacity) channels[found] = channel;
        ++found;
        if (text[span] == '\0') break;
        text += span + 1;
    }
    *count = found;
    return TVLM_OK;
}

static void expand(const layout_row *layout, int32_t capacity, int32_t *channels, int32_t *count) {
    int32_t found = 0;
    for (const channel_run *run = layout->runs; run->count > 0; ++run)
        for (int32_t i = 0; i < run->count; ++i, ++found)
            if (found < capacity) channels[found] = run->first + i;
    *count = found;
}

tvlm_status tvlm_layout_parse(const char *text, const tvlm_log *log, int32_t capacity, int32_t *channels,
                              int32_t *count) {
    TVLM_NEED(log, count);
    if (capacity > 0) TVLM_NEED(log, channels);
    if (capacity < 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "room for %d channels", (int)capacity);
    if (text == NULL || text[strspn(text, " \t\r\n")] == '\0')
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an empty layout");
    for (int32_t i = 0; i < LAYOUT_COUNT; ++i) {
        if (strcmp(text, layouts[i].name) != 0) continue;
        expand(&layouts[i], capacity, channels, count);
        return TVLM_OK;
    }
    TVLM_TRY(parse_list(text, log, 0, NULL, count));
    return parse_list(text, log, capacity, channels, count);
}
