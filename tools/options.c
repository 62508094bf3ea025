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
    *table = (option_table){.specs = calloc((size_t)count + 1, sizeof *table->specs),
                            .groups = calloc((size_t)count + 1, sizeof *table->groups)};
    if (table->specs == NULL || table->groups == NULL) return false;
    for (const option_group *group = groups; group->table != NULL; ++group)
        for (int i = 0; i < group->table->count; ++i) {
            option_spec *const spec = &table->specs[table->count];
            *spec = group->table->specs[i];
            spec->offset += group->offset;
            table->groups[table->count++] = group->table;
        }
    return true;
}

void free_option_table(option_table *table) {
    free(table->specs);
    free(table->groups);
    *table = (option_table){0};
}

bool option_is_input(const option_spec *spec) {
    return spec->kind == OPTION_INPUT || spec->kind == OPTION_INPUTS || spec->kind == OPTION_GIVE;
}

bool option_is_file(const option_spec *spec) {
    return spec->kind >= OPTION_INPUT && spec->kind <= OPTION_FOLDER;
}

void option_label(const option_table *table, int i, char *label, size_t size) {
    const option_spec *const spec = &table->specs[i];
    if (spec->name != NULL)
        snprintf(label, size, "--%s%s", table->groups[i]->settings ? "set " : "", spec->name);
    else
        snprintf(label, size, "-%c", spec->letter);
}

bool option_given(const option_spec *spec, const void *values) {
    const void *const value = (const char *)values + spec->offset;
    const char *const *const files = value;
    switch (spec->kind) {
    case OPTION_FLAG: return *(const int *)value != 0;
    case OPTION_CHOICE: return ((const option_choice *)value)->given;
    case OPTION_INTEGER: return ((const option_integer *)value)->given;
    case OPTION_NUMBER: return ((const option_number *)value)->given;
    case OPTION_TRIPLE: return ((const option_triple *)value)->given;
    case OPTION_SIZE: return ((const option_size *)value)->given;
    case OPTION_POINTS: return ((const option_points *)value)->count > 0;
    case OPTION_LIST:
    case OPTION_INPUTS: return ((const option_list *)value)->count > 0;
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_INPUT:
    case OPTION_OUTPUT:
    case OPTION_PATTERN:
    case OPTION_FOLDER: return files[0] != NULL;
    case OPTION_GIVE: break;
    case OPTION_SET: return false; /* it has no value of its own; each setting has one */
    }
    for (int i = 0; spec->choices[i] != NULL; ++i)
        if (files[i] != NULL) return true;
    return false;
}

bool options_integer(const char *text, int64_t *value) {
    const char *const digits = text + (*text == '-' || *text == '+');
    const size_t count = strspn(digits, "0123456789");
    if (count == 0 || digits[count] != '\0') return false;
    errno = 0;
    /* Its end is not asked for: where there are too many digits, zig's musl has another one than theirs. */
    const long long parsed = strtoll(text, NULL, 10);
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

/* Options of version 0.2 that handed in a channel. --give does that now. */
static const struct {
    const char *old, *channel;
} moved[] = {
    {"attention", "attention"}, {"attention-prev", "attention_prev"}, {"gaze", "gaze"},
    {"depth", "depth"},         {"embedding", "embedding"},           {"saliency-map", "saliency"},
    {"text-mask", "text"},
};

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

static bool find_choice(const option_spec *spec, const char *text, int *out, struct complaint *complaint) {
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

static bool set_choice(const option_spec *spec, const char *text, option_choice *out,
                       struct complaint *complaint) {
    out->given = find_choice(spec, text, &out->value, complaint);
    return out->given;
}

static bool set_word(const option_spec *spec, const char *text, const char **out,
                     struct complaint *complaint) {
    int place = 0;
    if (!find_choice(spec, text, &place, complaint)) return false;
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

/* Reads "CHOICE=FILE". */
static bool set_given(const option_spec *spec, const char *text, const char **out,
                      struct complaint *complaint) {
    char name[64];
    int place = 0;
    const char *const equals = strchr(text, '=');
    if (equals == NULL || (size_t)(equals - text) >= sizeof name)
        return complain(complaint, "'%s' is not %s", text, spec->argument);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (!find_choice(spec, name, &place, complaint)) return false;
    if (equals[1] == '\0') return complain(complaint, "the file of %s is missing", name);
    if (out[place] != NULL) return complain(complaint, "%s is given twice", name);
    out[place] = strcmp(equals + 1, "-") == 0 ? FILES_STDIN : equals + 1;
    return true;
}

/* Gives spec i its value. */
static bool set_value(const option_table *table, int i, const char *text, void *values,
                      struct complaint *complaint) {
    const option_spec *const spec = &table->specs[i];
    void *const value = (char *)values + spec->offset;
    option_label(table, i, complaint->label, sizeof complaint->label);
    if (option_is_file(spec) && spec->kind != OPTION_GIVE && strcmp(text, "-") == 0)
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
    case OPTION_GIVE: return set_given(spec, text, value, complaint);
    case OPTION_SET: break; /* set_setting reads its text */
    }
    return false;
}

/* Finds the setting of that name, or the option of that name if `settings` is false. -1: there is none. */
static int find(const option_table *table, const char *name, size_t length, bool settings) {
    for (int i = 0; i < table->count; ++i) {
        const char *const known = table->specs[i].name;
        if (table->groups[i]->settings == settings && known != NULL && strlen(known) == length &&
            strncmp(known, name, length) == 0)
            return i;
    }
    return -1;
}

/* Reads "NAME=VALUE", or the "NAME" of a flag, and gives the setting its value. */
static bool set_setting(const option_table *table, const char *text, void *values,
                        struct complaint *complaint) {
    const size_t length = strcspn(text, "=");
    const bool valued = text[length] == '=';
    const int i = find(table, text, length, true);
    snprintf(complaint->label, sizeof complaint->label, "--set");
    const int shown = (int)(length < 64 ? length : 64);
    if (i < 0 && find(table, text, length, false) >= 0)
        return complain(complaint, "%.*s is no setting, but an option: --%.*s", shown, text, shown, text);
    if (i < 0) return complain(complaint, "there is no setting '%.*s'", shown, text);
    if (!valued && table->specs[i].kind != OPTION_FLAG)
        return complain(complaint, "%s takes a value: %s=%s", table->specs[i].name, table->specs[i].name,
                        table->specs[i].argument);
    if (valued && table->specs[i].kind == OPTION_FLAG)
        return complain(complaint, "%s takes no value", table->specs[i].name);
    return set_value(table, i, valued ? text + length + 1 : "", values, complaint);
}

/* The arguments of getopt_long, made from the table and of the table's length. */
typedef struct getopt_input {
    char *letters;
    struct option *longs;
} getopt_input;

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
        if (table->groups[i]->settings) continue;
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

/* Returns the number of the spec that getopt found, or -1. */
static int number_of(const option_table *table, int found) {
    if (found >= LONG_BASE) return found - LONG_BASE;
    for (int i = 0; i < table->count; ++i) {
        if (table->specs[i].letter == found) return i;
    }
    return -1;
}

/* Returns the name of old option number i of the command. NULL: the command has no such old option. Numbers
 * below table->count stand for settings, which were options once. The numbers from there on stand for the
 * entries of `moved`, and count only if the command's --give has their channel. */
static const char *old_name(const option_table *table, int i) {
    if (i < table->count) return table->groups[i]->settings ? table->specs[i].name : NULL;
    const int give = find(table, "give", 4, false);
    for (const char *const *known = give >= 0 ? table->specs[give].choices : NULL;
         known != NULL && *known != NULL; ++known)
        if (strcmp(*known, moved[i - table->count].channel) == 0) return moved[i - table->count].old;
    return NULL;
}

/* Returns the number of the old option whose name is this word, or of the only one whose name begins with it.
 * -1: there is none, or there are several that begin with it. */
static int find_old(const option_table *table, const char *word, size_t length) {
    int found = -1, count = 0;
    for (int i = 0; i < table->count + (int)(sizeof moved / sizeof *moved); ++i) {
        const char *const old = old_name(table, i);
        if (old == NULL || strncmp(old, word, length) != 0) continue;
        if (old[length] == '\0') return i;
        found = i;
        ++count;
    }
    return count == 1 ? found : -1;
}

/* If a long option is unknown because it has become another one, says which. */
static bool complain_moved(const option_table *table, const char *word, struct complaint *complaint) {
    const size_t length = strcspn(word, "=");
    const int old = strncmp(word, "--", 2) == 0 ? find_old(table, word + 2, length - 2) : -1;
    if (old < 0) return false;
    snprintf(complaint->label, sizeof complaint->label, "%.*s", (int)(length < 48 ? length : 48), word);
    if (old >= table->count) {
        complain(complaint, "write --give %s=FILE", moved[old - table->count].channel);
        return true;
    }
    const option_spec *const spec = &table->specs[old];
    complain(complaint, "write --set %s%s%s", spec->name, spec->argument != NULL ? "=" : "",
             spec->argument != NULL ? spec->argument : "");
    return true;
}

/* If a long option is the beginning of several, says which. */
static bool complain_short(const option_table *table, const char *word, struct complaint *complaint) {
    char several[256] = "";
    int count = 0;
    const size_t length = strcspn(word, "=");
    for (int i = 0; strncmp(word, "--", 2) == 0 && i < table->count; ++i) {
        const option_spec *const spec = &table->specs[i];
        if (table->groups[i]->settings || spec->name == NULL) continue;
        if (strncmp(spec->name, word + 2, length - 2) != 0) continue;
        const size_t used = strlen(several);
        snprintf(several + used, sizeof several - used, "%s--%s", count++ > 0 ? " or " : "", spec->name);
    }
    if (count < 2) return false;
    snprintf(complaint->label, sizeof complaint->label, "%.*s", (int)(length < 48 ? length : 48), word);
    complain(complaint, "may be %s", several);
    return true;
}

/* Says what is wrong if getopt returned '?': an unknown option, or an argument for an option that takes none.
 * */
static void complain_unknown(const option_table *table, char *const *argv, struct complaint *complaint) {
    const int i = optopt != 0 ? number_of(table, optopt) : -1;
    if (i >= 0) {
        option_label(table, i, complaint->label, sizeof complaint->label);
        complain(complaint, "takes no argument");
    } else if (optopt != 0) {
        snprintf(complaint->text, complaint->size, "unknown option '-%c'", isprint(optopt) ? optopt : '?');
    } else if (!complain_short(table, argv[optind - 1], complaint) &&
               !complain_moved(table, argv[optind - 1], complaint)) {
        snprintf(complaint->text, complaint->size, "unknown option '%s'", argv[optind - 1]);
    }
}

static bool parse(const option_table *table, const getopt_input *input, int argc, char **argv, void *values,
                  struct complaint complaint) {
    int found;
    opterr = 0;
    while ((found = getopt_long(argc, argv, input->letters, input->longs, NULL)) != -1) {
        if (found == '?') {
            complain_unknown(table, argv, &complaint);
            return false;
        }
        const int i = number_of(table, found == ':' ? optopt : found);
        if (i < 0) return complain(&complaint, "unknown option"); /* not reached: getopt knows no others */
        if (found == ':') {
            option_label(table, i, complaint.label, sizeof complaint.label);
            const char *const argument =
                table->specs[i].argument; /* some systems say so of one too many, too */
            return argument != NULL ? complain(&complaint, "%s is missing", argument)
                                    : complain(&complaint, "takes no argument");
        }
        if (table->specs[i].kind == OPTION_SET ? !set_setting(table, optarg, values, &complaint)
                                               : !set_value(table, i, optarg, values, &complaint))
            return false;
    }
    return true;
}

bool options_parse(const option_table *table, int argc, char **argv, void *values, int *first, char *error,
                   size_t error_size) {
    getopt_input input = {0};
    struct complaint complaint = {.text = error, .size = error_size, .label = "the options"};
    const bool done = make_getopt_input(table, &input) ? parse(table, &input, argc, argv, values, complaint)
                                                       : complain(&complaint, "no memory");
    free(input.letters);
    free(input.longs);
    *first = optind;
    return done;
}

/* Prints `length` characters of text in lines that begin at HELP_COLUMN, broken between words. The first line has
 * come to that column already. */
static void print_wrapped(const char *text, size_t length, FILE *file) {
    for (;;) {
        size_t line = length;
        if (line > HELP_WIDTH) {
            for (line = HELP_WIDTH; line > 0 && text[line] != ' ';) --line;
            if (line == 0) line = strcspn(text, " ");
            if (line > length) line = length;
        }
        fprintf(file, "%.*s\n", (int)line, text);
        if (line == length) return;
        text += line + 1;
        length -= line + 1;
        fprintf(file, "%*s", HELP_COLUMN, "");
    }
}

/* Prints an option. The help up to its first semicolon is the short one. */
static void print_option(const option_table *table, int i, bool brief, FILE *file) {
    const option_spec *const spec = &table->specs[i];
    const bool setting = table->groups[i]->settings;
    char left[96], letter[8] = "    ";
    if (spec->letter != 0)
        snprintf(letter, sizeof letter, "-%c%s", spec->letter, spec->name != NULL ? ", " : "");
    snprintf(left, sizeof left, "  %s%s%s%s%s", letter,
             spec->name == NULL ? ""
             : setting          ? "--set "
                                : "--",
             spec->name != NULL ? spec->name : "",
             spec->argument == NULL ? ""
             : setting              ? "="
                                    : " ",
             spec->argument != NULL ? spec->argument : "");
    fprintf(file, "%-*s", HELP_COLUMN, left);
    if (strlen(left) >= HELP_COLUMN) fprintf(file, "\n%*s", HELP_COLUMN, "");
    const size_t length = brief ? strcspn(spec->help, ";") : strlen(spec->help);
    print_wrapped(spec->help, length, file);
}

bool options_heads(const option_table *table, int i) {
    for (int before = 0; before < i; ++before)
        if (strcmp(table->groups[before]->heading, table->groups[i]->heading) == 0) return false;
    return true;
}

int options_below(const option_table *table, const char *heading, int from) {
    for (int i = from; i < table->count; ++i)
        if (strcmp(table->groups[i]->heading, heading) == 0) return i;
    return -1;
}

void options_help(const option_table *table, FILE *file) {
    for (int head = 0; head < table->count; ++head) {
        const char *const heading = table->groups[head]->heading;
        if (!options_heads(table, head)) continue;
        fprintf(file, "%s%s\n", head > 0 ? "\n" : "", heading);
        for (int i = head; i >= 0; i = options_below(table, heading, i + 1))
            print_option(table, i, false, file);
    }
}

/* Returns the option or setting of a name, of `length` characters, or -1. */
static int named(const option_table *table, const char *name, size_t length) {
    for (int i = 0; length == 1 && i < table->count; ++i)
        if (table->specs[i].letter == *name) return i;
    const int option = find(table, name, length, false);
    return option >= 0 ? option : find(table, name, length, true);
}

const char *options_help_brief(const option_table *table, const option_brief *brief, FILE *file) {
    for (const option_brief *part = brief; part->heading != NULL; ++part) {
        fprintf(file, "%s%s\n", part > brief ? "\n" : "", part->heading);
        for (const char *name = part->names; *name != '\0';) {
            const size_t length = strcspn(name, " ");
            const int i = named(table, name, length);
            if (i < 0) return name;
            print_option(table, i, true, file);
            name += length + (name[length] == ' ');
        }
    }
    return NULL;
}

int options_first_given(const option_table *table, const void *values, const char *names) {
    for (; *names != '\0'; names += strspn(names, " ")) {
        const size_t length = strcspn(names, " ");
        const int i = named(table, names, length);
        if (i >= 0 && option_given(&table->specs[i], values)) return i;
        names += length;
    }
    return -1;
}

int options_brief_count(const option_brief *brief) {
    int count = 0;
    for (; brief->heading != NULL; ++brief)
        for (const char *name = brief->names; *name != '\0'; name += strspn(name, " ")) {
            name += strcspn(name, " ");
            ++count;
        }
    return count;
}
