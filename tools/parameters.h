/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.h: the options that set parameters of tvlm_select. They are made of the library's own table
 * (texturevlm/select.h): the name, the range, the help and the check of which strategy reads it. And --strategy.
 */
#ifndef TVLM_TOOLS_PARAMETERS_H
#define TVLM_TOOLS_PARAMETERS_H

#include "texturevlm/select.h"
#include "tool.h"

/* ---- Strategies ---- */

/* The choices of --strategy, ended by NULL: the strategies of the library, under the library's names. parameters_name
 * fills them in, before options are parsed. */
#define STRATEGIES_MAX 15
extern const char *strategies[STRATEGIES_MAX + 1];

/* An option that not every strategy reads. */
typedef struct strategy_option {
    const char *name;      /* the option as it is typed */
    const char *parameter; /* the name of the parameter that it sets, or that it goes with */
    bool given;
} strategy_option;

/* Refuses the first of `count` options that is given although the strategy does not read it. `asked` says
 * whether the strategy was asked for; otherwise it is the default. */
int strategies_check(struct tool *tool, tvlm_strategy strategy, bool asked, const strategy_option *options,
                     int count);

/* ---- Parameters ---- */

enum { PARAMETERS_MAX = 32 };

/* The value of an option, in the form in which options are parsed. */
typedef union parameter_value {
    option_number number;
    option_integer integer;
    option_choice choice;
    int flag;
    const char *text;
} parameter_value;

typedef struct parameter_options {
    parameter_value values[PARAMETERS_MAX]; /* by the number of the parameter */
    option_points points;                   /* of the only parameter that is points */
} parameter_options;

/* The tables of options, whose values are parameter_options: of `tvlm select`, which has all of them, of `video` and of
 * `tensors`. parameters_name fills them in, before options are parsed. */
extern option_specs parameter_specs, parameter_settings, parameter_points;
extern option_specs video_parameter_specs, video_parameter_settings;
extern option_specs tensors_parameter_specs;
void parameters_name(void);

/* Whether the option of that parameter was given, and its text, if it is one that the tool reads itself: the emphasis,
 * which may name a channel. */
bool parameter_given(const parameter_options *options, const char *name);
const char *parameter_text(const parameter_options *options, const char *name);

/* The options without that parameter, which must be a number, as if it were not given. */
parameter_options parameters_without(const parameter_options *options, const char *name);

/* Writes the parameters that were given, but no points, which are in pixels of an image, and no text. */
void parameters_set(const parameter_options *options, struct tvlm_select_params *params);

/* Refuses an option that the strategy does not read, as strategies_check does. A number of 0 asks for nothing. */
int parameters_check(struct tool *tool, tvlm_strategy strategy, bool asked, const parameter_options *options);

#endif
