/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of strategies: their names, and which parameters each reads beside those that all do.
 */
#include "select/strategy.h"

#include <stdio.h>
#include <string.h>

#include "core/backend.h"

/* The parameters that not all strategies read: the bit of each, its name, and when it is given. */
#define PARAMETERS(X)                                                                                        \
    X(STRIDE, "stride", p->score.stride != 0.0f)                                                             \
    X(LEVEL, "level", p->score.level != 0)                                                                   \
    X(DENSE, "dense", p->score.dense)                                                                        \
    X(MIN_DISTANCE, "min_distance", p->min_distance != 0.0f)                                                 \
    X(OVERVIEW, "overview", p->overview != 0.0f)                                                             \
    X(FIXATIONS, "fixations", p->fixation_count != 0)                                                        \
    X(E0, "e0", p->e0 != 0.0f)                                                                               \
    X(ARRANGEMENT, "arrangement", p->arrangement != TVLM_ARRANGEMENT_SUNFLOWER)                              \
    X(KEEP_REGIONS, "keep_regions", p->keep_regions != 0)                                                    \
    X(CULL_DISTANCE, "cull_distance", p->cull_distance != 0.0f)                                              \
    X(COVER, "cover", p->cover)                                                                              \
    X(DIVERSITY, "diversity", p->diversity != 0.0)                                                           \
    X(WEIGHTS, "weights", p->score.weights != NULL)                                                          \
    X(KEEP_PASS, "keep_pass", p->score.keep_pass)                                                            \
    X(SHARE, "share", p->share != 0.0f)                                                                      \
    X(TOLERANCE, "tolerance", p->tolerance != 0.0f)                                                          \
    X(EMPHASIS, "emphasis", p->emphasis != 0.0f)                                                             \
    X(EMPHASIS_CHANNEL, "emphasis_channel", p->emphasis_channel != 0)

#define PLACE(id, name, given) PLACE_##id,
#define BIT(id, name, given)   id = 1u << PLACE_##id,
#define NAME(id, name, given)  name,
#define GIVEN(id, name, given) | ((given) ? id : 0u)
enum { PARAMETERS(PLACE) PARAMETER_COUNT };
enum { PARAMETERS(BIT) };
static const char *const parameter_names[] = {PARAMETERS(NAME)};

/* The parameters that all strategies read that choose by scores. */
#define SCORED (WEIGHTS | KEEP_PASS)

static unsigned given_of(const struct tvlm_select_params *p) {
    return 0u PARAMETERS(GIVEN);
}

typedef struct strategy {
    const char *name;
    unsigned reads; /* of the parameters above */
} strategy;

static const strategy strategies[TVLM_STRATEGY_COUNT] = {
    [TVLM_STRATEGY_GRID] = {"grid", SCORED | STRIDE | MIN_DISTANCE | OVERVIEW | DIVERSITY},
    [TVLM_STRATEGY_FOVEATED] = {"foveated", SCORED | STRIDE | FIXATIONS | E0 | ARRANGEMENT},
    [TVLM_STRATEGY_QUADTREE] = {"quadtree", SCORED | STRIDE},
    [TVLM_STRATEGY_EXHAUSTIVE] = {"exhaustive", SCORED | LEVEL | DENSE | MIN_DISTANCE | OVERVIEW | DIVERSITY},
    [TVLM_STRATEGY_CASCADE] = {"cascade", SCORED | STRIDE | MIN_DISTANCE | OVERVIEW | KEEP_REGIONS |
                                              CULL_DISTANCE | COVER | DIVERSITY},
    [TVLM_STRATEGY_BUDGET] = {"budget", SHARE | TOLERANCE | EMPHASIS | EMPHASIS_CHANNEL},
};

/* The default, without and with an overview. */
#define USUAL         TVLM_STRATEGY_BUDGET
#define WITH_OVERVIEW TVLM_STRATEGY_GRID

tvlm_strategy tvlm_strategy_meant(const struct tvlm_select_params *params) {
    if (params->strategy != TVLM_STRATEGY_DEFAULT) return params->strategy;
    return params->overview != 0.0f ? WITH_OVERVIEW : USUAL;
}

/* Returns the strategy of that number, or NULL if there is none. */
static const strategy *find(tvlm_strategy number) {
    const int known = number == TVLM_STRATEGY_DEFAULT ? (int)USUAL : (int)number;
    return known > TVLM_STRATEGY_DEFAULT && known < TVLM_STRATEGY_COUNT ? &strategies[known] : NULL;
}

/* ---- Checks ---- */

/* Writes the names of the strategies that read a parameter, such as "grid, exhaustive and cascade". */
static void name_readers(unsigned parameter, char *text, size_t size) {
    int left = 0;
    size_t used = 0;
    for (int i = TVLM_STRATEGY_GRID; i < TVLM_STRATEGY_COUNT; ++i)
        left += (strategies[i].reads & parameter) != 0;
    for (int i = TVLM_STRATEGY_GRID; i < TVLM_STRATEGY_COUNT && used < size; ++i) {
        if ((strategies[i].reads & parameter) == 0) continue;
        --left;
        used += (size_t)snprintf(text + used, size - used, "%s%s", strategies[i].name,
                                 left > 1    ? ", "
                                 : left == 1 ? " and "
                                             : "");
    }
}

static tvlm_status refuse_ignored(const tvlm_log *log, const strategy *s, bool unasked, unsigned ignored) {
    char readers[256] = "";
    int first = 0;
    while ((ignored >> first & 1u) == 0) ++first;
    name_readers(1u << first, readers, sizeof readers);
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the parameter %s is for the strategy %s, not for %s%s",
                     parameter_names[first], readers, s->name, unasked ? ", which is the default" : "");
}

tvlm_status tvlm_strategy_check(const tvlm_log *log, const struct tvlm_select_params *params) {
    const tvlm_strategy meant = tvlm_strategy_meant(params);
    const strategy *const s = find(meant);
    if (s == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no strategy %d", (int)params->strategy);
    const unsigned ignored = given_of(params) & ~s->reads;
    const bool unasked = params->strategy == TVLM_STRATEGY_DEFAULT && params->overview == 0.0f;
    if (ignored != 0) return refuse_ignored(log, s, unasked, ignored);
    if (tvlm_choosers[meant].choose == NULL)
        return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED,
                         "the strategy %s is of the lab, which this build leaves out (TVLM_WITH_LAB)",
                         s->name);
    return tvlm_choosers[meant].check != NULL ? tvlm_choosers[meant].check(log, params) : TVLM_OK;
}

tvlm_status tvlm_strategy_run(const tvlm_task *task, tvlm_selection *selection) {
    return tvlm_choosers[task->params.strategy].choose(task, selection);
}

/* ---- texturevlm/select.h ---- */

const char *tvlm_strategy_name(tvlm_strategy number) {
    const strategy *const s = find(number);
    return s != NULL ? s->name : "unknown";
}

int tvlm_strategy_find(const char *name) {
    for (int i = TVLM_STRATEGY_GRID; name != NULL && i < TVLM_STRATEGY_COUNT; ++i)
        if (strcmp(name, strategies[i].name) == 0) return i;
    return -1;
}

bool tvlm_strategy_reads(tvlm_strategy number, const char *parameter) {
    const strategy *const s = find(number);
    const unsigned also = number == TVLM_STRATEGY_DEFAULT ? OVERVIEW : 0u;
    for (int i = 0; s != NULL && parameter != NULL && i < PARAMETER_COUNT; ++i)
        if (strcmp(parameter, parameter_names[i]) == 0) return ((s->reads | also) >> i & 1u) != 0;
    return s != NULL;
}
