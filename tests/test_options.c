/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_options.c: the tool's options: how they are parsed, what is said of wrong ones, and their help.
 * tools/options.c is compiled into this program.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../tools/options.h"
#include "support.h"

static void numbers_are_strict(void **state) {
    static const char *const no_integers[] = {"", " 1", "1 ", "1.0", "0x10", "-", "+", "1e3", "abc", "--1"};
    static const char *const no_numbers[] = {"", " 1", "1 ", "1,5", "0x10", "-", "abc", "1.0f"};
    int64_t integer;
    double number;
    (void)state;
    for (size_t i = 0; i < sizeof no_integers / sizeof *no_integers; ++i)
        assert_false(options_integer(no_integers[i], &integer));
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; ++i)
        assert_false(options_number(no_numbers[i], &number));
    assert_true(options_integer("-12", &integer) && integer == -12);
    assert_true(options_integer("99999999999999999999", &integer) && integer == INT64_MAX);
    assert_true(options_number("-1.5e2", &number) && number == -150.0);
    assert_true(options_number("nan", &number) && isnan(number));
}

/* Two groups of options: the second one's struct lies somewhere in the command's. */
typedef struct sample_shape {
    option_triple triple;
    option_size size;
} sample_shape;

typedef struct sample_options {
    int flag, rare;
    option_choice choice;
    const char *given[2];
    option_integer depth;
    const char *text;
    option_integer integer;
    option_number number;
    sample_shape shape;
} sample_options;

static const char *const sample_choices[] = {"red", "green", NULL};
static const char *const sample_words[] = {"none", "auto", NULL};
static const option_spec sample_specs[] = {
    {'f', OPTION_FLAG, "flag", offsetof(sample_options, flag), NULL, "a flag", 0, 0, NULL},
    {0, OPTION_CHOICE, "choice", offsetof(sample_options, choice), "C", "one of two", 0, 0, sample_choices},
    {'t', OPTION_TEXT, "text", offsetof(sample_options, text), "T", "a text", 0, 0, NULL},
    {'i', OPTION_INTEGER, NULL, offsetof(sample_options, integer), "N", "a number", -5, 5, NULL},
    {0, OPTION_NUMBER, "number", offsetof(sample_options, number), "X", "any number", 0, 1, sample_words},
};
static const option_spec shape_specs[] = {
    {0, OPTION_TRIPLE, "triple", offsetof(sample_shape, triple), "A,B,C", "three", -5, 5, NULL},
    {0, OPTION_SIZE, "size", offsetof(sample_shape, size), "WxH", "a size", 1, 100, NULL},
};
static const char *const sample_channels[] = {"depth", "gaze", NULL};
static const option_spec given_specs[] = {
    {0, OPTION_SET, "set", 0, "NAME=VALUE", "a setting", 0, 0, NULL},
    {0, OPTION_GIVE, "give", offsetof(sample_options, given), "CHANNEL=FILE", "a channel", 0, 0,
     sample_channels},
};
static const option_spec rare_specs[] = {
    {0, OPTION_INTEGER, "deep", offsetof(sample_options, depth), "N", "a depth", 0, 9, NULL},
    {0, OPTION_FLAG, "rare", offsetof(sample_options, rare), NULL, "rarely", 0, 0, NULL},
};
static const option_specs samples = OPTION_SPECS("Samples", sample_specs),
                          shapes = OPTION_SPECS("Shapes", shape_specs),
                          gifts = OPTION_SPECS("Gifts", given_specs),
                          rarities = OPTION_SETTINGS("Samples", rare_specs);
static const option_group sample_groups[] = {
    {&samples, 0}, {&shapes, offsetof(sample_options, shape)}, {&gifts, 0}, {&rarities, 0}, {0}};

/* Parses a command line of up to 15 words; *first is where the operands are. */
static bool parse_words(const char *const *words, sample_options *options, int *first, char *error,
                        size_t size) {
    static char storage[16][32];
    char *arguments[17] = {storage[0]};
    int count = 1;
    for (; words[count - 1] != NULL; ++count) {
        snprintf(storage[count], sizeof storage[count], "%s", words[count - 1]);
        arguments[count] = storage[count];
    }
    optind = 0; /* glibc: begin anew */
    *options = (sample_options){0};
    option_table table;
    assert_true(make_option_table(sample_groups, &table));
    const bool parsed = options_parse(&table, count, arguments, options, first, error, size);
    free_option_table(&table);
    return parsed;
}

/* Tables have no longest length. */
static void the_last_option_of_many_is_taken(void **state) {
    enum { MANY = 150 };
    static char names[MANY][8];
    static option_spec many[MANY];
    static const option_specs *groups[MANY];
    const option_table table = {many, groups, MANY};
    char *words[] = {(char[]){"x"}, (char[]){"--last149"}, (char[]){"-i"}, (char[]){"5"}, NULL}, error[200];
    sample_options options = {0};
    int first;
    (void)state;
    for (int i = 0; i < MANY; ++i) {
        snprintf(names[i], sizeof names[i], "o%d", i);
        groups[i] = &samples;
        many[i] = (option_spec){0, OPTION_TEXT, names[i], offsetof(sample_options, text), "T", "a text",
                                0, 0,           NULL};
    }
    many[MANY - 2] = sample_specs[3];
    many[MANY - 1] =
        (option_spec){0, OPTION_FLAG, "last149", offsetof(sample_options, flag), NULL, "", 0, 0, NULL};
    optind = 0;
    if (!options_parse(&table, 4, words, &options, &first, error, sizeof error)) fail_msg("%s", error);
    assert_true(options.flag == 1 && options.integer.value == 5 && first == 4);
}

static void options_come_from_the_table(void **state) {
    static const char *const words[] = {"a.png",    "-f",       "--flag", "--choice", "green",
                                        "-t=x",     "-i",       "-5",     "b.png",    "--number=0.25",
                                        "--triple", "1,0.5,-2", "--size", "7x100",    NULL};
    sample_options options;
    char error[200];
    int first;
    (void)state;
    assert_true(parse_words(words, &options, &first, error, sizeof error));
    assert_int_equal(first, 13); /* two operands, moved to the end */
    assert_int_equal(options.flag, 2);
    assert_true(options.choice.given && options.choice.value == 1);
    assert_string_equal(options.text, "=x");
    assert_true(options.integer.given && options.integer.value == -5);
    assert_true(options.number.given && options.number.value == 0.25f && options.number.word == 0);
    assert_true(options.shape.triple.given && options.shape.triple.values[1] == 0.5f &&
                options.shape.triple.values[2] == -2.0f);
    assert_true(options.shape.size.given && options.shape.size.width == 7 &&
                options.shape.size.height == 100);
}

/* A number may be a word, too. */
static void a_word_in_place_of_a_number(void **state) {
    static const char *const words[] = {"tool", "--number", "auto", NULL};
    sample_options options = {0};
    char error[160];
    int first;
    (void)state;
    assert_true(parse_words(words, &options, &first, error, sizeof error));
    assert_true(options.number.given && options.number.value == 0.0f && options.number.word == 2);
}

static void settings_and_channels_have_names(void **state) {
    static const char *const words[] = {"--set",        "deep=7",         "--set=rare", "--give",
                                        "gaze=a=b.npy", "--give=depth=-", NULL};
    static const char *const twice[] = {"--give", "gaze=a", "--give", "gaze=b", NULL};
    sample_options options;
    char error[200];
    int first;
    (void)state;
    if (!parse_words(words, &options, &first, error, sizeof error)) fail_msg("%s", error);
    assert_true(options.depth.given && options.depth.value == 7 && options.rare == 1);
    assert_string_equal(options.given[0], FILES_STDIN);
    assert_string_equal(options.given[1], "a=b.npy");
    assert_false(parse_words(twice, &options, &first, error, sizeof error));
    assert_string_equal(error, "--give: gaze is given twice");
}

/* Every kind of option knows whether it was given; a setting does, too. */
static void what_was_given_is_known(void **state) {
    static const char *const words[] = {"-f", "--choice",     "green",    "-t=x",  "-i",
                                        "0",  "--number=0",   "--triple", "0,0,0", "--size",
                                        "7",  "--set=deep=0", "--set",    "rare",  NULL};
    sample_options nothing = {0}, options;
    char error[200];
    int first, given = 0;
    option_table table;
    (void)state;
    if (!parse_words(words, &options, &first, error, sizeof error)) fail_msg("%s", error);
    options.given[1] = "a";
    assert_true(make_option_table(sample_groups, &table));
    for (int i = 0; i < table.count; ++i) {
        assert_false(option_given(&table.specs[i], &nothing));
        given += option_given(&table.specs[i], &options);
    }
    assert_int_equal(given, table.count - 1); /* all but --set itself, which has no value */
    free_option_table(&table);
}

/* Also where its value is what stands there without it. */
static void the_first_choice_is_given_too(void **state) {
    static const char *const words[] = {"--choice", "red", NULL};
    sample_options options;
    char error[200];
    int first;
    (void)state;
    assert_true(parse_words(words, &options, &first, error, sizeof error));
    assert_true(options.choice.value == 0 && option_given(&sample_specs[1], &options));
}

static void one_number_is_a_square(void **state) {
    static const char *const words[] = {"--size", "7", NULL};
    sample_options options;
    char error[200];
    int first;
    (void)state;
    assert_true(parse_words(words, &options, &first, error, sizeof error));
    assert_true(options.shape.size.given && options.shape.size.width == 7 && options.shape.size.height == 7);
}

static void wrong_options_are_told(void **state) {
    static const char *const cases[][3] = {
        {"--nothing", NULL, "unknown option '--nothing'"},
        {"-q", NULL, "unknown option '-q'"},
        {"--flag=3", NULL, "--flag: takes no argument"},
        {"--choice", NULL, "--choice: C is missing"},
        {"-i", NULL, "-i: N is missing"},
        {"-i", "6", "-i: 6 is not in -5 .. 5"},
        {"-i", "x", "-i: 'x' is not a whole number"},
        {"--number", "2", "--number: 2 is not in 0 .. 1"},
        {"--number", "inf", "--number: inf is not in 0 .. 1"},
        {"--choice", "blue", "--choice: 'blue' is none of red, green"},
        {"--text", "", "--text: is empty"},
        {"--triple", "1,2", "--triple: '1,2' is not three numbers with commas between them"},
        {"--triple", "1,nan,2", "--triple: nan is not in -5 .. 5"},
        {"--triple", "1,2,6", "--triple: 6 is not in -5 .. 5"},
        {"--triple", "1,,2", "--triple: '' is not a number"},
        {"--size", "x7", "--size: 'x7' is not a size such as 640x480 or 512"},
        {"--size", "7x", "--size: '7x' is not a size such as 640x480 or 512"},
        {"--size", "seven", "--size: 'seven' is not a size such as 640x480 or 512"},
        {"--size", "7x7x7", "--size: '7x7x7' is not a size such as 640x480 or 512"},
        {"--size", "101", "--size: a side of 101 is not in 1 .. 100"},
        {"--size", "0x7", "--size: a side of 0x7 is not in 1 .. 100"},
        {"--set", "flag", "--set: flag is no setting, but an option: --flag"},
        {"--set", "flags", "--set: there is no setting 'flags'"},
        {"--t=3", NULL, "--t: may be --text or --triple"},
        {"--set", "=3", "--set: there is no setting ''"},
        {"--set", "deep", "--set: deep takes a value: deep=N"},
        {"--set", "deep=10", "--set deep: 10 is not in 0 .. 9"},
        {"--set", "rare=1", "--set: rare takes no value"},
        {"--deep=3", NULL, "--deep: write --set deep=N"},
        {"--rare", NULL, "--rare: write --set rare"},
        {"--give", "depth", "--give: 'depth' is not CHANNEL=FILE"},
        {"--give", "sound=f", "--give: 'sound' is none of depth, gaze"},
        {"--give", "depth=", "--give: the file of depth is missing"},
        {"--depth", NULL, "--depth: write --give depth=FILE"},
        {"--ga=f", NULL, "--ga: write --give gaze=FILE"},
        {"--dee", NULL, "--dee: write --set deep=N"},
        {"--de", NULL, "unknown option '--de'"},                     /* both */
        {"--saliency-map", NULL, "unknown option '--saliency-map'"}, /* no channel of this --give */
    };
    sample_options options;
    char error[200];
    int first;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *const words[] = {cases[i][0], cases[i][1], NULL};
        assert_false(parse_words(words, &options, &first, error, sizeof error));
        assert_string_equal(error, cases[i][2]);
    }
}

/* ---- Every kind, at its limits ---- */

typedef struct limit_options {
    option_points points;
    option_list list, inputs;
    option_triple triple;
    option_size size;
    const char *word, *input, *output, *pattern, *folder, *given[2];
} limit_options;

static const option_spec limit_specs[] = {
    {'p', OPTION_POINTS, "points", offsetof(limit_options, points), "X,Y", "points", NO_RANGE, NULL},
    {'l', OPTION_LIST, "list", offsetof(limit_options, list), "T", "texts", NO_RANGE, NULL},
    {0, OPTION_INPUTS, "inputs", offsetof(limit_options, inputs), "FILE", "files", NO_RANGE, NULL},
    {0, OPTION_TRIPLE, "triple", offsetof(limit_options, triple), "A,B,C", "three", -5, 5, NULL},
    {0, OPTION_SIZE, "size", offsetof(limit_options, size), "WxH", "a size", 2, 100, NULL},
    {0, OPTION_WORD, "word", offsetof(limit_options, word), "W", "a word", NO_RANGE, sample_choices},
    {0, OPTION_INPUT, "input", offsetof(limit_options, input), "FILE", "a file", NO_RANGE, NULL},
    {'o', OPTION_OUTPUT, "output", offsetof(limit_options, output), "FILE", "a file", NO_RANGE, NULL},
    {0, OPTION_PATTERN, "pattern", offsetof(limit_options, pattern), "FILE", "files", NO_RANGE, NULL},
    {0, OPTION_FOLDER, "folder", offsetof(limit_options, folder), "DIR", "files", NO_RANGE, NULL},
    {0, OPTION_SET, "set", 0, "NAME=VALUE", "a setting", NO_RANGE, NULL},
    {0, OPTION_GIVE, "give", offsetof(limit_options, given), "CHANNEL=FILE", "a channel", NO_RANGE,
     sample_channels},
};
static const option_specs limits = OPTION_SPECS("Limits", limit_specs);
static const option_group limit_groups[] = {{&limits, 0}, {&rarities, 0}, {0}};
static limit_options limited;
static char limit_error[400];

/* Parses one option and its value, so many times. */
static bool parse_limit(const char *option, const char *value, int times) {
    static char words[2][200], *arguments[2 * 5000 + 2];
    option_table table;
    int first;
    assert_true(times <= 5000);
    snprintf(words[0], sizeof words[0], "%s", option);
    snprintf(words[1], sizeof words[1], "%s", value);
    for (int i = 1; i <= 2 * times; ++i) arguments[i] = words[(i + 1) % 2];
    arguments[0] = words[0];
    arguments[2 * times + 1] = NULL;
    optind = 0;
    limited = (limit_options){.points.count = 0};
    limit_error[0] = '\0';
    assert_true(make_option_table(limit_groups, &table));
    const bool parsed =
        options_parse(&table, 2 * times + 1, arguments, &limited, &first, limit_error, sizeof limit_error);
    free_option_table(&table);
    return parsed;
}

/* A number of so many digits. */
static const char *digits(int count, int value) {
    static char text[3][100];
    static int next;
    char *const made = text[next = (next + 1) % 3];
    snprintf(made, 100, "%0*d", count, value);
    return made;
}

static void check_limit(const char *option, const char *value, int times, const char *error) {
    const bool parsed = parse_limit(option, value, times);
    if (parsed != (error == NULL)) fail_msg("%s %s: %s", option, value, limit_error);
    if (error != NULL) assert_string_equal(limit_error, error);
}

static void values_have_a_longest_length(void **state) {
    char text[200], wanted[300], name[100] = {0};
    (void)state;
    for (int part = 0; part < 3; ++part)
        for (int length = 63; length <= 64; ++length) {
            const char *const number = digits(length, 4);
            snprintf(text, sizeof text, "%s,%s,%s", part == 0 ? number : "1", part == 1 ? number : "2",
                     part == 2 ? number : "3");
            snprintf(wanted, sizeof wanted, "--triple: '%s' is not a number", number);
            check_limit("--triple", text, 1, length == 63 ? NULL : wanted);
            assert_true(limited.triple.given == (length == 63));
            if (length == 63) assert_true(limited.triple.values[part] == 4.0f);
        }
    for (int length = 63; length <= 64; ++length) {
        snprintf(text, sizeof text, "%s,7", digits(length, 4));
        snprintf(wanted, sizeof wanted, "--points: '%s' is not a point such as 320,240", text);
        check_limit("-p", text, 1, length == 63 ? NULL : wanted);
    }
    for (int length = 31; length <= 32; ++length) {
        snprintf(text, sizeof text, "%sX7", digits(length, 4));
        snprintf(wanted, sizeof wanted, "--size: '%s' is not a size such as 640x480 or 512", text);
        check_limit("--size", text, 1, length == 31 ? NULL : wanted);
        if (length == 31)
            assert_true(limited.size.given && limited.size.width == 4 && limited.size.height == 7);
    }
    for (int length = 63; length <= 64; ++length) {
        memset(name, 'g', (size_t)length);
        snprintf(text, sizeof text, "%s=f", name);
        snprintf(wanted, sizeof wanted,
                 length == 63 ? "--give: '%s' is none of depth, gaze" : "--give: '%s=f' is not CHANNEL=FILE",
                 name);
        check_limit("--give", text, 1, wanted);
        snprintf(wanted, sizeof wanted, "--set: there is no setting '%s'", name);
        check_limit("--set", text, 1, wanted);
    }
    snprintf(text, sizeof text, "%s5=f", name);
    check_limit("--set", text, 1, wanted); /* more letters are not shown */
}

static void values_have_a_range(void **state) {
    (void)state;
    check_limit("--size", "2x100", 1, NULL);
    check_limit("--size", "100x2", 1, NULL);
    check_limit("--size", "1x9", 1, "--size: a side of 1x9 is not in 2 .. 100");
    check_limit("--size", "9x101", 1, "--size: a side of 9x101 is not in 2 .. 100");
    check_limit("--triple", "-5,5,-5", 1, NULL);
    check_limit("--triple", "-5,5,-5.1", 1, "--triple: -5.1 is not in -5 .. 5");
    check_limit("--triple", "1,2,3,4", 1,
                "--triple: '1,2,3,4' is not three numbers with commas between them");
    check_limit("--word", "green", 1, NULL);
    assert_string_equal(limited.word, "green");
    check_limit("--word", "gree", 1, "--word: 'gree' is none of red, green");
    check_limit("--set", "deep=9", 1, NULL);
    check_limit("--set", "deep=-1", 1, "--set deep: -1 is not in 0 .. 9");
    for (int i = 0; i < 3; ++i) {
        static const char *const wrong[] = {"1", "1,x", "x,1"};
        char wanted[100];
        snprintf(wanted, sizeof wanted, "--points: '%s' is not a point such as 320,240", wrong[i]);
        check_limit("--points", wrong[i], 1, wanted);
    }
}

static void what_is_repeated_has_an_end(void **state) {
    (void)state;
    check_limit("-p", "3,-4.5", OPTION_POINTS_MAX, NULL);
    assert_int_equal(limited.points.count, OPTION_POINTS_MAX);
    for (int i = 0; i < OPTION_POINTS_MAX; ++i)
        assert_true(limited.points.values[2 * i] == 3.0f && limited.points.values[2 * i + 1] == -4.5f);
    check_limit("-p", "3,4", OPTION_POINTS_MAX + 1, "--points: more than 64 points");
    check_limit("-l", "t", OPTION_LIST_MAX, NULL);
    assert_int_equal(limited.list.count, OPTION_LIST_MAX);
    assert_string_equal(limited.list.values[OPTION_LIST_MAX - 1], "t");
    check_limit("-l", "t", OPTION_LIST_MAX + 1, "--list: more than 4096 times");
    check_limit("--list", "", 1, "--list: is empty");
}

/* "-" is stdin for what is read, stdout for what is written, and itself in a list of texts. */
static void a_dash_is_a_stream(void **state) {
    (void)state;
    check_limit("--input", "-", 1, NULL);
    assert_string_equal(limited.input, FILES_STDIN);
    check_limit("--inputs", "-", 1, NULL);
    assert_string_equal(limited.inputs.values[0], FILES_STDIN);
    check_limit("-o", "-", 1, NULL);
    assert_string_equal(limited.output, FILES_STDOUT);
    check_limit("--pattern", "-", 1, NULL);
    assert_string_equal(limited.pattern, FILES_STDOUT);
    check_limit("--folder", "-", 1, NULL);
    assert_string_equal(limited.folder, FILES_STDOUT);
    check_limit("--list", "-", 1, NULL);
    assert_string_equal(limited.list.values[0], "-");
    check_limit("--input", "--", 1, NULL);
    assert_string_equal(limited.input, "--");
}

static void kinds_and_labels_are_known(void **state) {
    static const char *const words[] = {"--set=deep=3", "-i", "2", "--size=9", NULL};
    static const char *const wanted[] = {"--points", "--list",  "--inputs",   "--triple",  "--size",
                                         "--word",   "--input", "--output",   "--pattern", "--folder",
                                         "--set",    "--give",  "--set deep", "--set rare"};
    sample_options options;
    option_table table;
    char label[64], error[200];
    int first;
    (void)state;
    assert_true(make_option_table(limit_groups, &table));
    assert_int_equal(table.count, 14);
    for (int i = 0; i < table.count; ++i) {
        const option_kind kind = table.specs[i].kind;
        option_label(&table, i, label, sizeof label);
        assert_string_equal(label, wanted[i]);
        assert_int_equal(option_is_input(&table.specs[i]),
                         kind == OPTION_INPUT || kind == OPTION_INPUTS || kind == OPTION_GIVE);
        assert_int_equal(option_is_file(&table.specs[i]), (i == 2 || (i >= 6 && i <= 9) || i == 11));
    }
    free_option_table(&table);
    assert_true(parse_words(words, &options, &first, error, sizeof error));
    assert_true(make_option_table(sample_groups, &table));
    static const struct {
        const char *names, *first;
    } asked[] = {{"flag deep size", "--set deep"},
                 {"size deep", "--size"},
                 {"  flag   i ", "-i"},
                 {"flag nothing text", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; ++i) {
        const int found = options_first_given(&table, &options, asked[i].names);
        if (found >= 0) option_label(&table, found, label, sizeof label);
        assert_int_equal(found >= 0, asked[i].first != NULL);
        if (found >= 0) assert_string_equal(label, asked[i].first);
    }
    free_option_table(&table);
}

static void integers_reach_their_ends(void **state) {
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {{"+5", 5},
                {"9223372036854775807", INT64_MAX},
                {"9223372036854775808", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"-9223372036854775809", INT64_MIN},
                {"+99999999999999999999", INT64_MAX},
                {"-0", 0},
                {"007", 7}};
    int64_t value;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_true(options_integer(rows[i].text, &value));
        assert_true(value == rows[i].value);
    }
}

/* What options_help prints, in a text. */
static void print_help(const option_specs *specs, char *text, size_t size) {
    const option_group groups[] = {{specs, 0}, {0}};
    option_table table;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(make_option_table(groups, &table));
    options_help(&table, file);
    free_option_table(&table);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void help_breaks_its_lines(void **state) {
    static const option_spec list[] = {
        {'o', OPTION_TEXT, "output", 0, "FILE",
         "123456789 123456789 123456789 123456789 123456789 123456789 1234 next word", 0, 0, NULL},
        {0, OPTION_FLAG, "a-name-that-is-too-long", 0, NULL, "short", 0, 0, NULL},
        {0, OPTION_FLAG, "x", 0, NULL,
         "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg h", 0, 0, NULL},
    };
    const option_specs specs = OPTION_SPECS("Three", list);
    char text[2000];
    (void)state;
    print_help(&specs, text, sizeof text);
    assert_string_equal(
        text,
        "Three\n"
        "  -o, --output FILE       123456789 123456789 123456789 123456789 123456789 123456789 1234\n"
        "                          next word\n"
        "      --a-name-that-is-too-long\n"
        "                          short\n"
        "      --x                 aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg\n"
        "                          h\n");
}

/* Settings stand below the heading of their table, beside its options; a brief shows what it names. */
static void help_has_headings(void **state) {
    static const option_brief brief[] = {{"First", "give f"}, {"Then", "deep"}, {NULL, NULL}},
                              wrong[] = {{"First", "f nonsense size"}, {NULL, NULL}};
    char text[4000];
    option_table table;
    FILE *const file = tmpfile();
    (void)state;
    assert_non_null(file);
    assert_true(make_option_table(sample_groups, &table));
    options_help(&table, file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    const char *const deep = strstr(text, "\n      --set deep=N        a depth\n");
    assert_non_null(deep);
    assert_true(strncmp(text, "Samples\n", 8) == 0 && strstr(deep, "\n\nShapes\n") != NULL);
    assert_null(strstr(deep, "Samples"));
    rewind(file);
    assert_null(options_help_brief(&table, brief, file));
    const long end = ftell(file);
    rewind(file);
    text[fread(text, 1, (size_t)end, file)] = '\0';
    assert_string_equal(text,
                        "First\n      --give CHANNEL=FILE a channel\n"
                        "  -f, --flag              a flag\n\nThen\n      --set deep=N        a depth\n");
    assert_int_equal(options_brief_count(brief), 3);
    assert_string_equal(options_help_brief(&table, wrong, file), "nonsense size");
    free_option_table(&table);
    fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_strict),
        cmocka_unit_test(options_come_from_the_table),
        cmocka_unit_test(the_last_option_of_many_is_taken),
        cmocka_unit_test(a_word_in_place_of_a_number),
        cmocka_unit_test(the_first_choice_is_given_too),
        cmocka_unit_test(one_number_is_a_square),
        cmocka_unit_test(settings_and_channels_have_names),
        cmocka_unit_test(what_was_given_is_known),
        cmocka_unit_test(wrong_options_are_told),
        cmocka_unit_test(values_have_a_longest_length),
        cmocka_unit_test(values_have_a_range),
        cmocka_unit_test(what_is_repeated_has_an_end),
        cmocka_unit_test(a_dash_is_a_stream),
        cmocka_unit_test(kinds_and_labels_are_known),
        cmocka_unit_test(integers_reach_their_ends),
        cmocka_unit_test(help_breaks_its_lines),
        cmocka_unit_test(help_has_headings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
