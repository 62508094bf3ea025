/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameter.h: a list of the parameters of tvlm_select, for programs that offer them to their users.
 *
 * The library checks parameters by this list. The tool makes its options and their help of it, and the Python package
 * its keywords and their types. doc/parameters.md shows it. This prints the parameters of the strategy budget:
 *
 *     const tvlm_parameter *p;
 *     for (int32_t i = 0; (p = tvlm_parameter_at(i)) != NULL; ++i)
 *         if (p->strategies >> TVLM_STRATEGY_BUDGET & 1) printf("%s: %s\n", p->name, p->help);
 */
#ifndef TEXTUREVLM_PARAMETER_H
#define TEXTUREVLM_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>

#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type of a parameter: what lies at its offset in tvlm_select_params. */
typedef enum tvlm_parameter_type {
    TVLM_PARAMETER_NUMBER,  /* a float */
    TVLM_PARAMETER_INTEGER, /* an int32_t */
    TVLM_PARAMETER_FLAG,    /* a bool */
    TVLM_PARAMETER_CHOICE,  /* an enumeration, whose values from 0 on have the names in `words` */
    TVLM_PARAMETER_CHANNEL, /* an int32_t: the number of a channel */
    TVLM_PARAMETER_POINTS, /* a const float *, x and y of each point, and behind it their number, an int32_t */
    TVLM_PARAMETER_OBJECT  /* a pointer to what select.h or score.h describes */
} tvlm_parameter_type;

/* What is known of a parameter. All texts are in static storage. */
typedef struct tvlm_parameter {
    /* The name of the member of tvlm_select_params, or of a struct in it. */
    const char *name;
    tvlm_parameter_type type;
    /* The strategies that read it: the bit 1 << TVLM_STRATEGY_BUDGET for the budget, and so on. */
    uint32_t strategies;
    /* Where it lies in tvlm_select_params, and how many bytes it has. */
    size_t offset, size;
    /* The values of a number or an integer, from `low` to `high`. If `above` is set, `low` itself is none. For a
     * choice, low is 0. All three are 0 for other types. */
    double low, high;
    bool above;
    /* If set, TVLM_ZERO stands for 0, since 0 is the default. */
    bool zero;
    /* If set, few programs need it. The tool has no option of its own for it (`--set NAME=VALUE`). */
    bool rare;
    /* Words that stand for values, ended by NULL: of a choice its names, of a number a word for `word`. NULL if there
     * are none. */
    const char *const *words;
    float word;
    /* The default, the unit and what the value is called in the help, such as "PIXELS". NULL where there is none. */
    const char *usual, *unit, *symbol;
    /* What it does, in a line. What follows a semicolon is for those who want to know more. */
    const char *help;
} tvlm_parameter;

/* Returns a parameter by its number, which is 0 or more, or NULL where there is none. */
TVLM_API const tvlm_parameter *tvlm_parameter_at(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
