/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "texturevlm/status.h"

#define LONG_BASE   256 /* getopt's value of an option without a letter: this + its index in the table */
#define HELP_COLUMN 26
#define HELP_WIDTH  64 /* the width of the text from that column on */

bool make_option_table(const option_group *groups, option_table *table) {
    int count = 0;
    for (const option_group *group = groups; group->table != NULL; ++group) count += group->table->count;
    *table = (option_table){.specs = calloc((size_t)count + 1, sizeof *table->specs)};
    if (table->specs == NULL) return false;
    for (const option_group *group = groups; group->table != NULL; ++group)
        for (int i = 0; i < group->table->count; ++i) {
            option_spec *const spec = &table->specs[table->count++];
            *spec = group->table->specs[i];
            spec->offset += group->offset;
        }
    return true;
}

void free_option_table(option_table *table) {
    free(table->specs);
    *table = (option_table){0};
}

bool option_is_input(const option_spec *spec) {
    return spec->kind == OPTION_INPUT || spec->kind == OPTION_INPUTS;
}

bool option_is_file(const option_spec *spec) {
    return spec->kind >= OPTION_INPUT && spec->kind <= OPTION_FOLDER;
}

void option_label(const option_spec *spec, char *label, size_t size) {
    if (spec->name != NULL)
        snprintf(label, size, "--%s", spec->name);
    else
        snprintf(label, size, "-%c", spec->letter);
}

bool options_integer(const char *text, int64_t *value) {
    char *end;
    const char *digits = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*digits)) return false;
    errno = 0;
    const long long parsed = strtoll(text, &end, 10);
    if (*end != '\0') return false;
    if (errno == ERANGE) {
        *value = *text == '-' ? INT64_MIN : INT64_MAX;
        return true;
    }
    *value = parsed;
    return true;
}

bool options_number(const char *text, double *value) {
    char *end;
    if (*text == '\0' || isspace((unsigned char)*text) || strpbrk(text, "xX") != NULL) return false;
    *value = strtod(text, &end);
    return *end == '\0';
}

/* An error about the argument of an option. */
struct complaint {
    char *text;
    size_t size;
    char label[64];
};

static bool complain(struct complaint *complaint, const char *format, ...) TVLM_PRINTF(2, 3);
static bool complain(struct complaint *complaint, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(complaint->text, complaint->size, "%s: %s", complaint->label, what);
    return false;
}

static bool out_of_range(struct complaint *complaint, const char *text, const option_spec *spec) {
    return complain(complaint, "%s is not in %.10g .. %.10g", text, spec->low, spec->high);
}

static bool set_integer(const option_spec *spec, const char *text, option_integer *out,
                        struct complaint *complaint) {
    int64_t value;
    if (!options_integer(text, &value)) return complain(complaint, "'%s' is not a whole number", text);
    if ((double)value < spec->low || (double)value > spec->high) return out_of_range(complaint, text, spec);
    *out = (option_integer){true, (int32_t)value};
    return true;
}

static bool set_number(const option_spec *spec, const char *text, option_number *out,
                       struct complaint *complaint) {
    double value;
    for (int i = 0; spec->choices != NULL && spec->choices[i] != NULL; ++i)
        if (strcmp(spec->choices[i], text) == 0) {
            *out = (option_number){true, 0.0f, i + 1};
            return true;
        }
    if (!options_number(text, &value)) return complain(complaint, "'%s' is not a number", text);
    if (!(value >= spec->low && value <= spec->high)) return out_of_range(complaint, text, spec);
    *out = (option_number){true, (float)value, 0};
    return true;
}

static bool set_triple(const option_spec *spec, const char *text, option_triple *out,
                       struct complaint *complaint) {
    const char *rest = text;
    for (int i = 0; i < 3; ++i) {
        char part[64];
        double value;
        const size_t length = strcspn(rest, ",");
        if ((rest[length] == ',') != (i < 2))
            return complain(complaint, "'%s' is not three numbers with commas between them", text);
        snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part), rest);
        if (length >= sizeof part || !options_number(part, &value))
            return complain(complaint, "'%.*s' is not a number", (int)length, rest);
        if (!(value >= spec->low && value <= spec->high)) return out_of_range(complaint, part, spec);
        out->values[i] = (float)value;
        rest += length + 1;
    }
    out->given = true;
    return true;
}

static bool set_points(const char *text, option_points *out, struct complaint *complaint) {
    char part[64];
    double x, y;
    const size_t length = strcspn(text, ",");
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part), text);
    if (text[length] != ',' || length >= sizeof part || !options_number(part, &x) ||
        !options_number(text + length + 1, &y))
        return complain(complaint, "'%s' is not a point such as 320,240", text);
    if (out->count == OPTION_POINTS_MAX) return complain(complaint, "more than %d points", OPTION_POINTS_MAX);
    out->values[2 * out->count] = (float)x;
    out->values[2 * out->count++ + 1] = (float)y;
    return true;
}

static bool set_choice(const option_spec *spec, const char *text, int *out, struct complaint *complaint) {
    char all[256] = "";
    for (int i = 0; spec->choices[i] != NULL; ++i) {
        if (strcmp(text, spec->choices[i]) == 0) {
            *out = i;
            return true;
        }
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", spec->choices[i]);
    }
    return complain(complaint, "'%s' is none of %s", text, all);
}

static bool set_word(const option_spec *spec, const char *text, const char **out,
                     struct complaint *complaint) {
    int place = 0;
    if (!set_choice(spec, text, &place, complaint)) return false;
    *out = spec->choices[place];
    return true;
}

/* Reads a size: "640x480", or one number for a square. */
static bool set_size(const option_spec *spec, const char *text, option_size *out,
                     struct complaint *complaint) {
    char part[32];
    int64_t sides[2];
    const size_t length = strcspn(text, "xX");
    const char *const rest = text[length] != '\0' ? text + length + 1 : text;
    if (length >= sizeof part) return complain(complaint, "'%s' is not a size such as 640x480 or 512", text);
    memcpy(part, text, length);
    part[length] = '\0';
    if (!options_integer(part, &sides[0]) || !options_integer(rest, &sides[1]))
        return complain(complaint, "'%s' is not a size such as 640x480 or 512", text);
    for (int i = 0; i < 2; ++i) {
        if ((double)sides[i] < spec->low || (double)sides[i] > spec->high)
            return complain(complaint, "a side of %s is not in %.10g .. %.10g", text, spec->low, spec->high);
    }
    *out = (option_size){true, (int32_t)sides[0], (int32_t)sides[1]};
    return true;
}

static bool add_text(const char *text, option_list *out, struct complaint *complaint) {
    if (*text == '\0') return complain(complaint, "is empty");
    if (out->count == OPTION_LIST_MAX) return complain(complaint, "more than %d times", OPTION_LIST_MAX);
    out->values[out->count++] = text;
    return true;
}

static bool set_value(const option_spec *spec, const char *text, void *values, struct complaint *complaint) {
    void *const value = (char *)values + spec->offset;
    option_label(spec, complaint->label, sizeof complaint->label);
    if (option_is_file(spec) && strcmp(text, "-") == 0)
        text = option_is_input(spec) ? FILES_STDIN : FILES_STDOUT;
    switch (spec->kind) {
    case OPTION_FLAG: ++*(int *)value; return true;
    case OPTION_TEXT:
    case OPTION_INPUT:
    case OPTION_OUTPUT:
    case OPTION_PATTERN:
    case OPTION_FOLDER:
        if (*text == '\0') return complain(complaint, "is empty");
        *(const char **)value = text;
        return true;
    case OPTION_INPUTS:
    case OPTION_LIST: return add_text(text, value, complaint);
    case OPTION_INTEGER: return set_integer(spec, text, value, complaint);
    case OPTION_NUMBER: return set_number(spec, text, value, complaint);
    case OPTION_TRIPLE: return set_triple(spec, text, value, complaint);
    case OPTION_POINTS: return set_points(text, value, complaint);
    case OPTION_CHOICE: return set_choice(spec, text, value, complaint);
    case OPTION_WORD: return set_word(spec, text, value, complaint);
    case OPTION_SIZE: return set_size(spec, text, value, complaint);
    }
    return false;
}

/* The arguments of getopt_long, made from the table and of the table's length. */
typedef struct getopt_input {
    char *letters;
    struct option *longs;
} getopt_input;

static void free_getopt_input(getopt_input *input) {
    free(input->letters);
    free(input->longs);
}

static bool make_getopt_input(const option_table *table, getopt_input *input) {
    const size_t specs = (size_t)table->count;
    int long_count = 0;
    input->letters = calloc(2 + 2 * specs, 1);
    input->longs = calloc(specs + 1, sizeof *input->longs);
    if (input->letters == NULL || input->longs == NULL) return false;
    char *letter = input->letters;
    *letter++ = ':'; /* makes getopt tell a missing argument from an unknown option */
    for (int i = 0; i < table->count; ++i) {
        const option_spec *const spec = &table->specs[i];
        const bool argument = spec->kind != OPTION_FLAG;
        if (spec->letter != 0) {
            *letter++ = spec->letter;
            if (argument) *letter++ = ':';
        }
        if (spec->name != NULL)
            input->longs[long_count++] =
                (struct option){.name = spec->name,
                                .has_arg = argument ? required_argument : no_argument,
                                .val = LONG_BASE + i};
    }
    return true;
}

static const option_spec *spec_of(const option_table *table, int found) {
    if (found >= LONG_BASE) return &table->specs[found - LONG_BASE];
    for (int i = 0; i < table->count; ++i) {
        if (table->specs[i].letter == found) return &table->specs[i];
    }
    return NULL;
}

/* Says what is wrong if getopt returned '?': an unknown option, or an argument for an option that takes none.
 * */
static void complain_unknown(const option_table *table, char *const *argv, char *error, size_t error_size) {
    const option_spec *const spec = optopt != 0 ? spec_of(table, optopt) : NULL;
    char label[64];
    if (spec != NULL) {
        option_label(spec, label, sizeof label);
        snprintf(error, error_size, "%s: takes no argument", label);
    } else if (optopt != 0) {
        snprintf(error, error_size, "unknown option '-%c'", optopt);
    } else {
        snprintf(error, error_size, "unknown option '%s'", argv[optind - 1]);
    }
}

static bool parse(const option_table *table, const getopt_input *input, int argc, char **argv, void *values,
                  struct complaint complaint) {
    int found;
    opterr = 0;
    while ((found = getopt_long(argc, argv, input->letters, input->longs, NULL)) != -1) {
        if (found == '?') {
            complain_unknown(table, argv, complaint.text, complaint.size);
            return false;
        }
        const option_spec *const spec = spec_of(table, found == ':' ? optopt : found);
        if (spec == NULL)
            return complain(&complaint, "unknown option"); /* not reached: getopt knows no others */
        if (found == ':') {
            option_label(spec, complaint.label, sizeof complaint.label);
            return complain(&complaint, "%s is missing", spec->argument);
        }
        if (!set_value(spec, optarg, values, &complaint)) return false;
    }
    return true;
}

bool options_parse(const option_table *table, int argc, char **argv, void *values, int *first, char *error,
                   size_t error_size) {
    getopt_input input = {0};
    struct complaint complaint = {.text = error, .size = error_size, .label = "the options"};
    const bool done = make_getopt_input(table, &input) ? parse(table, &input, argc, argv, values, complaint)
                                                       : complain(&complaint, "no memory");
    free_getopt_input(&input);
    *first = optind;
    return done;
}

/* Returns the length of a line that begins at `text`. The line ends after the last word that fits, or at the
 * end of the text. */
static size_t line_length(const char *text) {
    const size_t all = strlen(text);
    if (all <= HELP_WIDTH) return all;
    size_t length = HELP_WIDTH;
    while (length > 0 && text[length] != ' ') --length;
    return length > 0 ? length : strcspn(text, " ");
}

/* Prints text in lines that begin at HELP_COLUMN. The first line has come to that column already. */
static void print_wrapped(const char *text, FILE *file) {
    for (;;) {
        const size_t length = line_length(text);
        fprintf(file, "%.*s\n", (int)length, text);
        text += length;
        if (*text == '\0') return;
        text += 1;
        fprintf(file, "%*s", HELP_COLUMN, "");
    }
}

void options_help(const option_table *table, FILE *file) {
    for (int i = 0; i < table->count; ++i) {
        const option_spec *const spec = &table->specs[i];
        char left[96], letter[8] = "    ";
        if (spec->letter != 0)
            snprintf(letter, sizeof letter, "-%c%s", spec->letter, spec->name != NULL ? ", " : "");
        snprintf(left, sizeof left, "  %s%s%s%s%s", letter, spec->name != NULL ? "--" : "",
                 spec->name != NULL ? spec->name : "", spec->argument != NULL ? " " : "",
                 spec->argument != NULL ? spec->argument : "");
        fprintf(file, "%-*s", HELP_COLUMN, left);
        if (strlen(left) >= HELP_COLUMN) fprintf(file, "\n%*s", HELP_COLUMN, "");
        print_wrapped(spec->help, file);
    }
}
