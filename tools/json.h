/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h: writes JSON text: numbers the same in every locale, floats with as many digits as they need to come
 * back the same, text as valid UTF-8. Memory that runs out is remembered and told by json_text_of.
 */
#ifndef TVLM_TOOLS_JSON_H
#define TVLM_TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "texturevlm/device.h"

#define JSON_DEPTH_MAX 16

typedef struct json_writer {
    char *text;
    size_t length, capacity;
    bool failed;
    int depth;
    struct {
        char close;
        bool flat; /* on one line, with everything in it */
        bool filled;
    } levels[JSON_DEPTH_MAX];
} json_writer;

/* All zero is an empty text. `key` is NULL outside objects. */
void json_open_object(json_writer *json, const char *key, bool flat);
void json_open_array(json_writer *json, const char *key, bool flat);
void json_close(json_writer *json);
void json_string(json_writer *json, const char *key, const char *value); /* NULL: null */
void json_device(json_writer *json, const tvlm_device *device);          /* "device": its name */
void json_integer(json_writer *json, const char *key, int64_t value);
void json_float(json_writer *json, const char *key, float value);   /* not finite: null */
void json_double(json_writer *json, const char *key, double value); /* the same, six digits */
void json_boolean(json_writer *json, const char *key, bool value);

/* The text with a newline at its end; NULL when memory ran out. Valid until json_release. */
const char *json_text_of(json_writer *json);
void json_release(json_writer *json);

/* Shortest decimal text that strtof reads as `value` again. */
void json_format_float(float value, char *text, size_t size);

#endif
