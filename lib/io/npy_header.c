/* SPDX-License-Identifier: Apache-2.0 */
#include "io/npy_header.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "io/element.h"

struct parser {
    const char *at, *end;
    tvlm_npy *array;
    tvlm_io_npy_problem *problem;
    bool has_type, has_order, has_shape;
};

static void skip_blanks(struct parser *parser) {
    while (parser->at < parser->end &&
           (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n' || *parser->at == '\r'))
        parser->at++;
}

static bool accept(struct parser *parser, char wanted) {
    skip_blanks(parser);
    if (parser->at == parser->end || *parser->at != wanted) return false;
    parser->at++;
    return true;
}

static bool accept_word(struct parser *parser, const char *word) {
    size_t length = strlen(word);
    skip_blanks(parser);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0) return false;
    parser->at += length;
    return true;
}

/* Reads a quoted string of printable characters without escapes. With the zero at its end it must fit into
 * `room`. */
static bool accept_string(struct parser *parser, char *text, size_t room) {
    size_t length = 0;
    char quote = '\'';
    if (!accept(parser, quote)) {
        quote = '"';
        if (!accept(parser, quote)) return false;
    }
    for (; parser->at < parser->end && *parser->at != quote; parser->at++) {
        if (length + 1 >= room || *parser->at == '\\' || *parser->at < ' ' || *parser->at > '~') return false;
        text[length++] = *parser->at;
    }
    if (parser->at == parser->end) return false;
    parser->at++;
    text[length] = 0;
    return true;
}

/* Reads a number >= 0. An L may follow, which Python 2 wrote. */
static bool accept_number(struct parser *parser, int64_t *number) {
    int64_t value = 0;
    skip_blanks(parser);
    const char *first = parser->at;
    for (; parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9'; parser->at++) {
        int digit = *parser->at - '0';
        if (value > (INT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    if (parser->at == first) return false;
    accept(parser, 'L');
    *number = value;
    return true;
}

static const char *unsupported(struct parser *parser, const char *what) {
    parser->problem->status = TVLM_ERROR_UNSUPPORTED;
    return what;
}

static const char *read_type(struct parser *parser) {
    char name[32];
    skip_blanks(parser);
    if (parser->at < parser->end && *parser->at == '[')
        return unsupported(parser, "its elements are records, which are not supported");
    if (!accept_string(parser, name, sizeof name)) return "its element type is not a string";
    if (name[0] == '>') return unsupported(parser, "its elements are big-endian, which is not supported");
    if ((name[0] == '<' || name[0] == '|' || name[0] == '=') &&
        tvlm_io_from_npy_name(name + 1, &parser->array->type))
        return NULL;
    snprintf(parser->problem->words, sizeof parser->problem->words, "elements of type '%s' are not supported",
             name);
    return unsupported(parser, parser->problem->words);
}

static const char *read_order(struct parser *parser) {
    if (accept_word(parser, "False")) return NULL;
    if (!accept_word(parser, "True")) return "its fortran_order is neither True nor False";
    return unsupported(parser, "it is in column-major (Fortran) order, which is not supported; save "
                               "numpy.ascontiguousarray(it)");
}

/* Reads a tuple: (), (3,), (3, 4) or (3, 4,). */
static const char *read_shape(struct parser *parser) {
    tvlm_npy *array = parser->array;
    if (!accept(parser, '(')) return "its shape is not a tuple";
    array->rank = 0;
    while (!accept(parser, ')')) {
        int64_t side;
        if (!accept_number(parser, &side)) return "its shape holds what is not a number >= 0";
        if (array->rank == TVLM_MAX_RANK) return unsupported(parser, "it has more than 8 dimensions");
        array->shape[array->rank++] = side;
        if (accept(parser, ',')) continue;
        if (!accept(parser, ')')) return "its shape does not end";
        return array->rank > 1 ? NULL : "its shape is not a tuple";
    }
    return NULL;
}

/* Reads one entry. Each of the three keys may come once, and no other key may come. */
static const char *read_entry(struct parser *parser) {
    char key[32];
    if (!accept_string(parser, key, sizeof key)) return "a key of its header is not a string";
    bool *seen = strcmp(key, "descr") == 0           ? &parser->has_type
                 : strcmp(key, "fortran_order") == 0 ? &parser->has_order
                 : strcmp(key, "shape") == 0         ? &parser->has_shape
                                                     : NULL;
    if (seen == NULL) return "its header has an unknown key";
    if (*seen) return "its header has a key twice";
    *seen = true;
    if (!accept(parser, ':')) return "its header lacks a colon";
    if (seen == &parser->has_type) return read_type(parser);
    return seen == &parser->has_order ? read_order(parser) : read_shape(parser);
}

const char *tvlm_io_npy_parse(const char *text, size_t size, tvlm_npy *array, tvlm_io_npy_problem *problem) {
    struct parser parser = {.at = text, .end = text + size, .array = array, .problem = problem};
    problem->status = TVLM_ERROR_FORMAT;
    for (int i = 0; i < TVLM_MAX_RANK; i++) array->shape[i] = 1;
    if (!accept(&parser, '{')) return "its header is not a dictionary";
    while (!accept(&parser, '}')) {
        const char *wrong = read_entry(&parser);
        if (wrong != NULL) return wrong;
        if (accept(&parser, ',')) continue;
        if (!accept(&parser, '}')) return "its header does not end";
        break;
    }
    skip_blanks(&parser);
    if (parser.at != parser.end) return "its header goes on after its end";
    if (!parser.has_type || !parser.has_order || !parser.has_shape)
        return "its header lacks one of descr, fortran_order and shape";
    return NULL;
}

size_t tvlm_io_npy_format(tvlm_element type, int32_t rank, const int64_t *shape,
                          char header[TVLM_IO_NPY_HEADER_ROOM]) {
    static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0}; /* 1, 0 means version 1.0 */
    char *text = header + TVLM_IO_NPY_PRELUDE;
    size_t room = TVLM_IO_NPY_HEADER_ROOM - TVLM_IO_NPY_PRELUDE, used;
    used = (size_t)snprintf(text, room, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                            tvlm_element_size(type) == 1 ? '|' : '<', tvlm_io_npy_name(type));
    for (int32_t i = 0; i < rank; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);
    used += (size_t)snprintf(text + used, room - used, "%s), }", rank == 1 ? "," : "");
    size_t total = (TVLM_IO_NPY_PRELUDE + used + 1 + 63) / 64 * 64, length = total - TVLM_IO_NPY_PRELUDE;
    memset(text + used, ' ', length - used);
    text[length - 1] = '\n';
    memcpy(header, magic, sizeof magic);
    header[8] = (char)(length & 255);
    header[9] = (char)(length >> 8);
    return total;
}
