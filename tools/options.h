/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h: options that a table describes. The parser (getopt_long), the checks and --help all use this
 * table.
 */
#ifndef TVLM_TOOLS_OPTIONS_H
#define TVLM_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The files that "-" stands for. */
#define FILES_STDIN  "/dev/stdin"
#define FILES_STDOUT "/dev/stdout"

/* The kinds of options, each with the type of its value. */
typedef enum option_kind {
    OPTION_FLAG,    /* int: how often it was given */
    OPTION_TEXT,    /* const char *: NULL if it was not given */
    OPTION_INTEGER, /* option_integer: a whole number */
    OPTION_NUMBER,  /* option_number: a finite number, or one of the words in `choices`, if there are any */
    OPTION_TRIPLE,  /* option_triple: three finite numbers with commas between them */
    OPTION_POINTS,  /* option_points: "X,Y", as often as it is given */
    OPTION_CHOICE,  /* option_choice: one of `choices` */
    OPTION_WORD,    /* const char *: one of `choices`, NULL if it was not given */
    OPTION_LIST,    /* option_list: a text each time it is given */
    OPTION_SIZE,    /* option_size: "640x480", or "512" for a square; each side in the range */
    OPTION_SET,     /* nothing of its own: "NAME=VALUE" gives the setting NAME of the table its value */
    /* Names of files. All have the type const char *, except INPUTS and GIVE. "-" is stdin or stdout. */
    OPTION_INPUT,   /* a file or folder that is read, or one of the words in `choices` */
    OPTION_INPUTS,  /* option_list: a file that is read each time it is given */
    OPTION_GIVE,    /* const char *[choices]: "CHOICE=FILE" sets that of a choice; each at most once */
    OPTION_OUTPUT,  /* a file that is written */
    OPTION_PATTERN, /* a file that is written, or what the names of several are made from */
    OPTION_FOLDER   /* a folder into which files are written */
} option_kind;

typedef struct option_integer {
    bool given;
    int32_t value;
} option_integer;

typedef struct option_number {
    bool given;
    float value;
    int word; /* the index in `choices` of the given word, from 1 on; 0: a number was given */
} option_number;

typedef struct option_triple {
    bool given;
    float values[3];
} option_triple;

typedef struct option_choice {
    bool given;
    int value; /* the index in `choices`; of what was not given 0 */
} option_choice;

#define OPTION_POINTS_MAX 64
typedef struct option_points {
    int32_t count;
    float values[2 * OPTION_POINTS_MAX];
} option_points;

typedef struct option_size {
    bool given;
    int32_t width, height;
} option_size;

#define OPTION_LIST_MAX 4096

typedef struct option_list {
    int32_t count;
    const char *values[OPTION_LIST_MAX];
} option_list;

typedef struct option_spec {
    char letter; /* 0: it has none */
    option_kind kind;
    const char *name;     /* the long name without dashes; NULL: it has a letter only */
    size_t offset;        /* the offset of its value in the command's options */
    const char *argument; /* what --help calls its argument; NULL for flags */
    const char *help;     /* running text; a short --help shows it up to its first semicolon */
    double low, high;     /* the range of INTEGER, NUMBER, TRIPLE and SIZE */
    const char *const
        *choices; /* those of CHOICE, WORD and GIVE, and the words of INPUT and NUMBER, ending with NULL */
} option_spec;

#define NO_RANGE 0, 0 /* of an option that takes no number: its `low` and `high`, which nobody reads */

/*
 * A table of specs. All their offsets are in the same struct. They are shown below the heading.
 *
 * Settings are what few people need. They have no option of their own: "--set name=12" gives the setting
 * its value, and "--set name" is a flag. Any command that has settings has --set.
 */
typedef struct option_specs {
    const option_spec *specs;
    int count;
    const char *heading;
    bool settings;
} option_specs;

#define OPTION_SPECS(heading, array)                                                                         \
    { array, sizeof(array) / sizeof *(array), heading, false }
#define OPTION_SETTINGS(heading, array)                                                                      \
    { array, sizeof(array) / sizeof *(array), heading, true }

/* A part of a short --help: a heading, and the names of options with blanks between, "k" for -k. A list of
 * them ends with {NULL, NULL}. */
typedef struct option_brief {
    const char *heading, *names;
} option_brief;

/* Options that a command takes from a table. Their struct lies at `offset` in the struct of the command. */
typedef struct option_group {
    const option_specs *table; /* NULL ends a list of groups */
    size_t offset;
} option_group;

/* Whether the value of an option names a file or folder; and whether it names one that is read. */
bool option_is_file(const option_spec *spec);
bool option_is_input(const option_spec *spec);

/* All options of a command in one table, made of its groups. The heading and the kind of specs[i] are those of
 * its table, groups[i]. */
typedef struct option_table {
    option_spec *specs;
    const option_specs **groups;
    int count;
} option_table;

/* Writes option i as it is typed: "--stride", "-k" or "--set name". */
void option_label(const option_table *table, int i, char *label, size_t size);

/* Whether an option was given, judged by its value. A flag of 0 is not. */
bool option_given(const option_spec *spec, const void *values);

/* Makes one table of groups. Returns false if there is no memory. free_option_table is due in any case. */
bool make_option_table(const option_group *groups, option_table *table);
void free_option_table(option_table *table);

/*
 * Parses argv[1..] into `values`, and moves the operands to the end of argv. *first becomes the index of the
 * first operand. On wrong usage it writes into `error` what is wrong, and returns false.
 */
bool options_parse(const option_table *table, int argc, char **argv, void *values, int *first, char *error,
                   size_t error_size);

/* Prints one or more lines for each option, below the headings. */
void options_help(const option_table *table, FILE *file);

/* Prints those options that `brief` names. Returns the first name that is no option, or NULL. */
const char *options_help_brief(const option_table *table, const option_brief *brief, FILE *file);

/* Returns the first option or setting given of those that `names` has, with blanks between; or -1. */
int options_first_given(const option_table *table, const void *values, const char *names);

/* How many options a brief names. */
int options_brief_count(const option_brief *brief);

/* Returns the next option from `from` on that is shown below the heading, or -1. For going through all options in the
 * order in which they are shown. */
int options_below(const option_table *table, const char *heading, int from);

/* Whether group i is the first one with its heading. */
bool options_heads(const option_table *table, int i);

/* Parse a whole number, and any number (nan and inf included). All of `text` must be the number, without
 * blanks, and not hexadecimal. They return false if it is anything else. */
bool options_integer(const char *text, int64_t *value);
bool options_number(const char *text, double *value);

#endif
