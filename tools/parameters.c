/* SPDX-License-Identifier: Apache-2.0 */
#include "parameters.h"

#include <stdio.h>
#include <string.h>

#include "lab.h"
#include "texturevlm/select.h"

/* ---- Strategies ---- */

const char *strategies[STRATEGIES_MAX + 1];

static void name_strategies(void) {
    for (int i = 0; i < STRATEGIES_MAX; ++i) {
        const char *const name = tvlm_strategy_name((tvlm_strategy)(TVLM_STRATEGY_GRID + i));
        if (tvlm_strategy_find(name) < 0) break;
        strategies[i] = name;
    }
}

/* The strategies that read a parameter of the library's table. */
static uint32_t readers_of(const char *name) {
    const tvlm_parameter *p;
    for (int32_t i = 0; (p = tvlm_parameter_at(i)) != NULL; ++i)
        if (strcmp(p->name, name) == 0) return p->strategies;
    return 0;
}

/* Whether `strategies_of` has every strategy. Its bit 1 << TVLM_STRATEGY_GRID stands for the grid, and so
 * on. */
static bool strategies_all(uint32_t strategies_of) {
    for (int i = 0; strategies[i] != NULL; ++i)
        if ((strategies_of >> tvlm_strategy_find(strategies[i]) & 1u) == 0) return false;
    return true;
}

/* Writes the names of strategies into an empty text. `last` stands before the last name, and `comma` before
 * each name between the first and the last. */
static void strategies_list(uint32_t strategies_of, const char *comma, const char *last, char *text,
                            size_t size) {
    for (int i = 0; strategies[i] != NULL; ++i) {
        const int number = tvlm_strategy_find(strategies[i]);
        const size_t used = strlen(text);
        if ((strategies_of >> number & 1u) == 0) continue;
        snprintf(text + used, size - used, "%s%s",
                 used == 0                     ? ""
                 : strategies_of >> number > 1 ? comma
                                               : last,
                 strategies[i]);
    }
}

/* Refuses an option if the strategy is not among its `readers`, which has a bit 1 << strategy for each.
 * `option` is the option as it is typed. `asked` says whether the strategy was asked for; otherwise it is the
 * default. */
static int strategies_read(struct tool *tool, tvlm_strategy strategy, bool asked, const char *option,
                           uint32_t readers) {
    char names[256] = "";
    if ((readers >> strategy & 1u) != 0) return TOOL_DONE;
    strategies_list(readers, " or ", " or ", names, sizeof names);
    return tool_usage(tool, "%s is for --strategy %s, not for %s%s", option, names,
                      tvlm_strategy_name(strategy), asked ? "" : ", which is the default");
}

int strategies_check(struct tool *tool, tvlm_strategy strategy, bool asked, const strategy_option *options,
                     int count) {
    int code = strategy == TVLM_STRATEGY_FOVEATED ? lab_check(tool, "--strategy foveated") : TOOL_DONE;
    for (int i = 0; code == TOOL_DONE && i < count; ++i)
        if (options[i].given)
            code = strategies_read(tool, strategy, asked, options[i].name, readers_of(options[i].parameter));
    return code;
}

/* A number that is above 0 is at least this. */
#define LEAST_ABOVE 1e-9

option_specs parameter_specs, parameter_settings, parameter_points;
option_specs video_parameter_specs, video_parameter_settings;
option_specs tensors_parameter_specs;

/* The specs of all parameters by number, and the texts to which the specs point. A parameter without an
 * option has a spec of zeros. */
static option_spec all[PARAMETERS_MAX];
static char names[PARAMETERS_MAX][32], arguments[PARAMETERS_MAX][32], helps[PARAMETERS_MAX][768];

/* ---- Specs ---- */

static const tvlm_parameter *at(int32_t i) {
    return i < PARAMETERS_MAX ? tvlm_parameter_at(i) : NULL;
}

/* Whether the tool reads the option's text itself. It does so if a channel may stand behind the number. */
static bool is_text(int32_t i) {
    const tvlm_parameter *const next = at(i + 1);
    return at(i)->type == TVLM_PARAMETER_NUMBER && next != NULL && next->type == TVLM_PARAMETER_CHANNEL;
}

static option_kind kind_of(int32_t i) {
    switch (at(i)->type) {
    case TVLM_PARAMETER_INTEGER: return OPTION_INTEGER;
    case TVLM_PARAMETER_FLAG: return OPTION_FLAG;
    case TVLM_PARAMETER_CHOICE: return OPTION_CHOICE;
    case TVLM_PARAMETER_POINTS: return OPTION_POINTS;
    case TVLM_PARAMETER_NUMBER:
    case TVLM_PARAMETER_CHANNEL:
    case TVLM_PARAMETER_OBJECT: break;
    }
    return is_text(i) ? OPTION_TEXT : OPTION_NUMBER;
}

/* Writes the name of an option: the parameter's name, with - in place of _. Points are given one at a time,
 * so the s at the end of their name is left out. */
static void name_option(const tvlm_parameter *p, char *name, size_t size) {
    snprintf(name, size, "%s", p->name);
    for (char *c = name; *c != '\0'; ++c)
        if (*c == '_') *c = '-';
    if (p->type == TVLM_PARAMETER_POINTS) name[strlen(name) - 1] = '\0';
}

/* Writes the help: which strategies read the parameter, what it does, and its default. */
static void write_help(const tvlm_parameter *p, char *help, size_t size) {
    char readers[128] = "";
    const bool some = !strategies_all(p->strategies);
    if (some) strategies_list(p->strategies, ", ", " and ", readers, sizeof readers);
    snprintf(help, size, "%s%s%s%s%s%s%s", some ? "for " : "", readers, some ? ": " : "", p->help,
             p->usual != NULL ? " (default: " : "", p->usual != NULL ? p->usual : "",
             p->usual != NULL ? ")" : "");
}

static void make_spec(int32_t i) {
    const tvlm_parameter *const p = at(i);
    const bool points = p->type == TVLM_PARAMETER_POINTS, letter = p->name[1] == '\0';
    if (p->symbol == NULL && !p->rare) return;
    name_option(p, names[i], sizeof names[i]);
    write_help(p, helps[i], sizeof helps[i]);
    snprintf(arguments[i], sizeof arguments[i], "%s%s", p->symbol != NULL ? p->symbol : "",
             is_text(i) ? "[:CHANNEL]" : "");
    all[i] = (option_spec){.letter = letter ? p->name[0] : '\0',
                           .kind = kind_of(i),
                           .name = letter ? NULL : names[i],
                           .offset = points ? offsetof(parameter_options, points)
                                            : offsetof(parameter_options, values) +
                                                  (size_t)i * sizeof(parameter_value),
                           .argument = p->symbol != NULL ? arguments[i] : NULL,
                           .help = helps[i],
                           .low = p->above ? LEAST_ABOVE : p->low,
                           .high = p->high,
                           .choices = p->words};
}

/* ---- Tables ---- */

static bool has_spec(int32_t i) {
    return all[i].help != NULL;
}

/* Whether a name is in a list of names with blanks between them. */
static bool is_among(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (; *list != '\0'; list += strcspn(list, " "), list += *list == ' ')
        if (strncmp(list, name, length) == 0 && (list[length] == ' ' || list[length] == '\0')) return true;
    return false;
}

typedef enum parameter_part { PART_OPTIONS, PART_SETTINGS, PART_POINTS } parameter_part;

static parameter_part part_of(int32_t i) {
    const tvlm_parameter *const p = at(i);
    return p->type == TVLM_PARAMETER_POINTS ? PART_POINTS : p->rare ? PART_SETTINGS : PART_OPTIONS;
}

/* Fills a table with the specs of one part: of the parameters in `list`, or of all if that is NULL. */
static void fill(option_specs *table, option_spec *room, const char *list, parameter_part part) {
    int count = 0;
    for (int32_t i = 0; at(i) != NULL; ++i)
        if (has_spec(i) && part_of(i) == part && (list == NULL || is_among(list, at(i)->name)))
            room[count++] = all[i];
    *table = (option_specs){.specs = room,
                            .count = count,
                            .heading = part == PART_POINTS ? "Where to look" : "What to choose",
                            .settings = part == PART_SETTINGS};
}

void parameters_name(void) {
    static const char video[] = "k overview patch share tolerance emphasis stride min_distance";
    static const char tensors[] = "share tolerance emphasis";
    static option_spec room[6][PARAMETERS_MAX];
    name_strategies();
    for (int32_t i = 0; at(i) != NULL; ++i) make_spec(i);
    fill(&parameter_specs, room[0], NULL, PART_OPTIONS);
    fill(&parameter_settings, room[1], NULL, PART_SETTINGS);
    fill(&parameter_points, room[2], NULL, PART_POINTS);
    fill(&video_parameter_specs, room[3], video, PART_OPTIONS);
    fill(&video_parameter_settings, room[4], video, PART_SETTINGS);
    fill(&tensors_parameter_specs, room[5], tensors, PART_OPTIONS);
}

/* ---- Values ---- */

static bool is_given(const parameter_options *options, int32_t i) {
    return has_spec(i) && option_given(&all[i], options);
}

/* The number of the parameter of that name, which must exist. */
static int32_t number_of(const char *name) {
    int32_t i = 0;
    while (strcmp(at(i)->name, name) != 0) ++i;
    return i;
}

bool parameter_given(const parameter_options *options, const char *name) {
    return is_given(options, number_of(name));
}

const char *parameter_text(const parameter_options *options, const char *name) {
    return options->values[number_of(name)].text;
}

parameter_options parameters_without(const parameter_options *options, const char *name) {
    parameter_options others = *options;
    others.values[number_of(name)].number = (option_number){0};
    return others;
}

static float number_given(const tvlm_parameter *p, const option_number *given) {
    if (given->word != 0) return p->word;
    return given->value == 0.0f && p->zero ? TVLM_EXPLICIT_ZERO : given->value;
}

static void set(const tvlm_parameter *p, const parameter_value *given, void *place) {
    switch (p->type) {
    case TVLM_PARAMETER_NUMBER: *(float *)place = number_given(p, &given->number); return;
    case TVLM_PARAMETER_INTEGER: *(int32_t *)place = given->integer.value; return;
    case TVLM_PARAMETER_FLAG: *(bool *)place = given->flag != 0; return;
    case TVLM_PARAMETER_CHOICE: memcpy(place, &given->choice.value, p->size); return;
    case TVLM_PARAMETER_POINTS:
    case TVLM_PARAMETER_CHANNEL:
    case TVLM_PARAMETER_OBJECT: return;
    }
}

void parameters_set(const parameter_options *options, struct tvlm_select_params *params) {
    for (int32_t i = 0; at(i) != NULL; ++i) {
        const tvlm_parameter *const p = at(i);
        if (is_given(options, i) && !is_text(i)) set(p, &options->values[i], (char *)params + p->offset);
    }
}

/* Whether an option is given, and is not a number of 0, which asks for nothing. */
static bool asks(const parameter_options *options, int32_t i) {
    const tvlm_parameter *const p = at(i);
    if (!is_given(options, i)) return false;
    return all[i].kind != OPTION_NUMBER || number_given(p, &options->values[i].number) != 0.0f;
}

int parameters_check(struct tool *tool, tvlm_strategy strategy, bool asked,
                     const parameter_options *options) {
    int code = strategies_check(tool, strategy, asked, NULL, 0);
    for (int32_t i = 0; code == TOOL_DONE && at(i) != NULL; ++i) {
        const tvlm_parameter *const p = at(i);
        char label[48];
        if (!asks(options, i)) continue;
        snprintf(label, sizeof label, "%s%.40s",
                 all[i].name == NULL ? "-"
                 : p->rare           ? "--set "
                                     : "--",
                 names[i]);
        code = strategies_read(tool, strategy, asked, label, p->strategies);
    }
    return code;
}
