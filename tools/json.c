/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(json_writer *json, const char *bytes, size_t count) {
    if (json->failed) return;
    if (json->length + count + 1 > json->capacity) {
        const size_t capacity = 2 * json->capacity + count + 256;
        char *const text = realloc(json->text, capacity);
        if (text == NULL) {
            json->failed = true;
            return;
        }
        json->text = text;
        json->capacity = capacity;
    }
    memcpy(json->text + json->length, bytes, count);
    json->length += count;
    json->text[json->length] = '\0';
}

static void put_text(json_writer *json, const char *text) {
    put(json, text, strlen(text));
}

/* Returns how many bytes the UTF-8 sequence at `text` has, or 0 if there is no valid sequence. */
static size_t utf8_length(const unsigned char *text) {
    const size_t length = text[0] < 0x80   ? 1
                          : text[0] < 0xc2 ? 0
                          : text[0] < 0xe0 ? 2
                          : text[0] < 0xf0 ? 3
                                           : 4;
    if (text[0] > 0xf4) return 0;
    for (size_t i = 1; i < length; ++i) {
        if ((text[i] & 0xc0) != 0x80) return 0;
    }
    if ((text[0] == 0xe0 && text[1] < 0xa0) ||
        (text[0] == 0xed && text[1] > 0x9f) || /* refuses overlong forms and surrogates */
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

static void put_quoted(json_writer *json, const char *text) {
    put_text(json, "\"");
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        const size_t length = utf8_length(at);
        if (length == 0) {
            put_text(json, "\xef\xbf\xbd"); /* U+FFFD takes the place of a byte that is not UTF-8 */
            ++at;
            continue;
        }
        if (*at == '"' || *at == '\\') put_text(json, "\\");
        if (*at < 0x20) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*at);
            put_text(json, escape);
        } else {
            put(json, (const char *)at, length);
        }
        at += length;
    }
    put_text(json, "\"");
}

static void put_line_break(json_writer *json) {
    put_text(json, "\n");
    for (int i = 0; i < json->depth; ++i) put_text(json, "  ");
}

/* Writes everything that stands before a value: the comma, the line break and the key. */
static void begin_value(json_writer *json, const char *key) {
    if (json->depth > 0) {
        const int level = json->depth - 1;
        if (json->levels[level].filled) put_text(json, json->levels[level].flat ? ", " : ",");
        if (!json->levels[level].flat) put_line_break(json);
        json->levels[level].filled = true;
    }
    if (key == NULL) return;
    put_quoted(json, key);
    put_text(json, ": ");
}

static void open_level(json_writer *json, const char *key, bool flat, const char *open, char close) {
    begin_value(json, key);
    put_text(json, open);
    if (json->depth == JSON_DEPTH_MAX) {
        json->failed = true;
        return;
    }
    const bool inside_flat = json->depth > 0 && json->levels[json->depth - 1].flat;
    json->levels[json->depth].close = close;
    json->levels[json->depth].flat = flat || inside_flat;
    json->levels[json->depth].filled = false;
    ++json->depth;
}

void json_open_object(json_writer *json, const char *key, bool flat) {
    open_level(json, key, flat, "{", '}');
}
void json_open_array(json_writer *json, const char *key, bool flat) {
    open_level(json, key, flat, "[", ']');
}

void json_close(json_writer *json) {
    if (json->depth == 0) return;
    --json->depth;
    if (json->levels[json->depth].filled && !json->levels[json->depth].flat) put_line_break(json);
    put(json, &json->levels[json->depth].close, 1);
}

void json_string(json_writer *json, const char *key, const char *value) {
    begin_value(json, key);
    if (value != NULL)
        put_quoted(json, value);
    else
        put_text(json, "null");
}

void json_device(json_writer *json, const tvlm_device *device) {
    tvlm_device_info info;
    if (tvlm_device_get_info(device, &info) == TVLM_OK) json_string(json, "device", info.name);
}

void json_integer(json_writer *json, const char *key, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    begin_value(json, key);
    put_text(json, text);
}

/* Replaces the decimal sign of the locale, which printf writes, by a point. JSON allows only the point. */
static void make_point(char *text) {
    for (; *text != '\0'; ++text) {
        if (*text == ',') *text = '.';
    }
}

void json_format_float(float value, char *text, size_t size) {
    for (int digits = 6; digits <= 9; ++digits) {
        snprintf(text, size, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break; /* nine digits are always enough */
    }
    make_point(text);
}

void json_float(json_writer *json, const char *key, float value) {
    char text[32] = "null";
    if (isfinite(value)) json_format_float(value, text, sizeof text);
    begin_value(json, key);
    put_text(json, text);
}

void json_double(json_writer *json, const char *key, double value) {
    char text[32] = "null";
    if (isfinite(value)) snprintf(text, sizeof text, "%.6g", value);
    make_point(text);
    begin_value(json, key);
    put_text(json, text);
}

void json_seconds(json_writer *json, const char *key, double value) {
    char text[32] = "null";
    if (isfinite(value)) snprintf(text, sizeof text, fabs(value) < 1000.0 ? "%.6g" : "%.9g", value);
    make_point(text);
    begin_value(json, key);
    put_text(json, text);
}

void json_boolean(json_writer *json, const char *key, bool value) {
    begin_value(json, key);
    put_text(json, value ? "true" : "false");
}

void json_integers(json_writer *json, const char *key, int count, const int64_t *values) {
    json_open_array(json, key, true);
    for (int i = 0; i < count; ++i) json_integer(json, NULL, values[i]);
    json_close(json);
}

void json_image(json_writer *json, const char *path, int32_t width, int32_t height) {
    json_open_object(json, "image", true);
    json_string(json, "path", path);
    json_integer(json, "width", width);
    json_integer(json, "height", height);
    json_close(json);
}

const char *json_text_of(json_writer *json) {
    put_text(json, "\n");
    return json->failed ? NULL : json->text;
}

void json_release(json_writer *json) {
    free(json->text);
    *json = (json_writer){0};
}
