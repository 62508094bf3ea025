/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h: writes JSON text. Numbers are the same in every locale. Floats have as many digits as are needed to
 * read the same float again. Text is valid UTF-8. If memory runs out, the writer remembers that, and
 * json_text_of tells it.
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
        bool flat; /* it and everything in it stand on one line */
        bool filled;
    } levels[JSON_DEPTH_MAX];
} json_writer;

/* A writer that is all zero has an empty text. `key` is NULL outside objects. */
void json_open_object(json_writer *json, const char *key, bool flat);
void json_open_array(json_writer *json, const char *key, bool flat);
void json_close(json_writer *json);
void json_string(json_writer *json, const char *key, const char *value); /* NULL: null */
void json_device(json_writer *json, const tvlm_device *device);          /* "device": its name */
void json_integer(json_writer *json, const char *key, int64_t value);
void json_float(json_writer *json, const char *key, float value);    /* null if it is not finite */
void json_double(json_writer *json, const char *key, double value);  /* six digits; null as above */
void json_seconds(json_writer *json, const char *key, double value); /* to a millisecond, up to 11 days */
void json_boolean(json_writer *json, const char *key, bool value);

/* An array of integers on one line; and "image": what a file is called, and its size. */
void json_integers(json_writer *json, const char *key, int count, const int64_t *values);
void json_image(json_writer *json, const char *path, int32_t width, int32_t height);

/* Returns the text with a newline at its end, or NULL if memory ran out. The text is valid until
 * json_release. */
const char *json_text_of(json_writer *json);
void json_release(json_writer *json);

/* Writes the shortest decimal text from which strtof reads `value` again. */
void json_format_float(float value, char *text, size_t size);

#endif
