/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of parameters. A parameter is described here and in the comment of its member, and nowhere else: the
 * checks, the tool's options, the types in Python and doc/parameters.md are made of this table.
 */
#include "select/parameters.h"

#include <stdio.h>
#include <string.h>

#include "core/backend.h"
#include "core/try.h"

/* ---- The table ---- */

#define GRID       (1u << TVLM_STRATEGY_GRID)
#define FOVEATED   (1u << TVLM_STRATEGY_FOVEATED)
#define QUADTREE   (1u << TVLM_STRATEGY_QUADTREE)
#define EXHAUSTIVE (1u << TVLM_STRATEGY_EXHAUSTIVE)
#define CASCADE    (1u << TVLM_STRATEGY_CASCADE)
#define BUDGET     (1u << TVLM_STRATEGY_BUDGET)
#define BEST       (GRID | EXHAUSTIVE | CASCADE)
#define CELLS      (GRID | FOVEATED | QUADTREE | CASCADE)
#define SCORED     (CELLS | EXHAUSTIVE)
#define ALL        (SCORED | BUDGET)

/* The name, the type and the place of a member: of tvlm_select_params itself, or of a struct in it. */
#define AT(member, kind)                                                                                     \
    .name = #member, .type = TVLM_PARAMETER_##kind, .offset = offsetof(struct tvlm_select_params, member),   \
    .size = sizeof(((struct tvlm_select_params *)NULL)->member)
#define IN(part, member, kind)                                                                               \
    .name = #member, .type = TVLM_PARAMETER_##kind,                                                          \
    .offset = offsetof(struct tvlm_select_params, part.member),                                              \
    .size = sizeof(((struct tvlm_select_params *)NULL)->part.member)

static const char *const arrangements[] = {"sunflower", "log-polar", NULL};
static const char *const tolerances[] = {"auto", NULL};

/* A parameter, and the line that refuses a value outside its range, with # in the place of the value. NULL:
 * the parameter has no range, or score.c refuses the value, since its range depends on the image. */
static const struct {
    tvlm_parameter told;
    const char *refusal;
} table[] = {
    {{AT(k, INTEGER), .strategies = ALL, .low = 1, .high = INT32_MAX, .symbol = "K",
      .usual = "273, or as many as there are", .help = "how many positions"},
     "k is #; it is at least 1"},
    {{IN(best, overview, NUMBER), .strategies = BEST, .low = 0, .high = 1, .symbol = "SHARE",
      .usual = "0; 0.25 is a good one", .unit = "of k",
      .help =
          "that share of k, 0 to 1, shows the whole image coarsely and comes first; the rest are the best, as "
          "before"},
     "an overview of #; it is a share of k, from 0 to 1"},
    {{AT(patch, NUMBER), .strategies = ALL, .low = 1, .high = 65536, .symbol = "PIXELS", .usual = "16",
      .unit = "pixels",
      .help =
          "side of the encoder's patch; for budget a whole number from 4 to 64; of the other strategies the level "
          "of a position is log2(stride / patch), at least 0"},
     "a patch of # pixels"},
    {{IN(budget, share, NUMBER), .strategies = BUDGET, .low = 0, .above = true, .high = 1, .symbol = "S",
      .unit = "of all patches",
      .help = "in place of a number, that share of all patches, above 0 and at most 1"},
     "a share of #; it is above 0 and at most 1"},
    {{IN(budget, tolerance, NUMBER), .strategies = BUDGET, .low = 0, .high = 1, .zero = true, .symbol = "T",
      .words = tolerances, .word = TVLM_TOLERANCE_READABLE, .unit = "of the loss of one patch",
      .help =
          "in place of a number, about as few patches as lose at most that share of what a thumbnail of one patch "
          "loses, or auto: as few as keep readable what can be read; 0: nothing is lost, only equal tiles are left "
          "out"},
     "a tolerance of #; it is a share of the loss, from 0 to 1"},
    {{IN(budget, emphasis, NUMBER), .strategies = BUDGET, .low = 0, .high = 1e15, .zero = true, .symbol = "L",
      .usual = "0; with a query 300, with a scorer or scores 32",
      .help =
          "how much more the loss counts where a channel, the query or the scorer say; losses count 1 + L m times, "
          "m being the channel, or what the query or the scorer say; only as much of it counts as leaves the "
          "whole image in view"},
     "an emphasis of #; it is from 0 to 1e15"},
    {{IN(budget, emphasis_channel, CHANNEL), .strategies = BUDGET, .usual = "saliency",
      .help = "the channel that says how much a tile matters"},
     NULL},
    {{IN(score, stride, NUMBER), .strategies = CELLS, .low = 1, .high = 65536, .symbol = "PIXELS",
      .usual = "16", .unit = "pixels", .help = "side of a cell"},
     NULL},
    {{IN(best, diversity, NUMBER), .strategies = BEST, .low = 0, .high = 1, .symbol = "D", .usual = "0",
      .help =
          "0 to 1; each position's score counts less D times its largest likeness to those before it, by the "
          "features, else by colour"},
     "a diversity of #; it is 0 to 1"},
    {{IN(score, level, INTEGER), .strategies = EXHAUSTIVE, .low = 0, .high = 31, .symbol = "N",
      .usual = "0, every pixel", .help = "the level whose texels are chosen from"},
     NULL},
    {{IN(foveated, e0, NUMBER), .strategies = FOVEATED, .low = 1e-3, .high = 1e3, .symbol = "E0",
      .usual = "0.2", .unit = "half diagonals",
      .help = "squares grow as e + E0 with the distance e from the fixation, in half diagonals"},
     "e0 is #; it is 0.001 to 1000"},
    {{IN(foveated, fixations, POINTS), .strategies = FOVEATED, .symbol = "X,Y",
      .usual = "where the score has its peak", .unit = "pixels",
      .help = "where to look, in the image's pixels; there may be several"},
     NULL},
    {{IN(best, min_distance, NUMBER), .strategies = BEST, .low = 0, .high = 1e9, .rare = true,
      .symbol = "PIXELS", .usual = "0", .unit = "pixels",
      .help = "the least distance between positions, greedy by rank; there may be fewer than k then"},
     "a minimum distance of # pixels"},
    {{IN(foveated, arrangement, CHOICE), .strategies = FOVEATED, .low = 0, .high = TVLM_ARRANGEMENT_LOG_POLAR,
      .rare = true, .words = arrangements, .usual = "sunflower", .symbol = "NAME",
      .help = "how the squares are arranged at the start: sunflower or log-polar"},
     "there is no arrangement #"},
    {{IN(cascade, keep_regions, INTEGER), .strategies = CASCADE, .low = 1, .high = 65536, .rare = true,
      .symbol = "N", .usual = "10; more where they hold fewer than 8 k cells", .unit = "regions",
      .help = "the regions that are looked into, at least"},
     "# regions to keep; they are 1 to 65536"},
    {{IN(cascade, cull_distance, NUMBER), .strategies = CASCADE, .low = 1e-6, .high = 1e6, .rare = true,
      .symbol = "D", .usual = "1; above 1: none are", .unit = "eighths of the longer side",
      .help = "regions and cells at least that far from every edge are left out"},
     "a distance of # from edges"},
    {{IN(cascade, cover, FLAG), .strategies = CASCADE, .rare = true,
      .help = "squares that cover the image, as the quadtree's, small only in those regions"},
     NULL},
    {{IN(score, dense, FLAG), .strategies = EXHAUSTIVE,
      .help = "the candidates are the texels of the level, as they always are for exhaustive"},
     NULL},
    {{IN(score, weights, OBJECT), .strategies = SCORED, .unit = "3 numbers",
      .usual = "0.3, 0.7 and 0; with a query 0.1, 0.1 and 0.8",
      .help = "the weights of information, perspective and participation in the score"},
     NULL},
    {{IN(score, scorer, OBJECT), .strategies = ALL,
      .help =
          "weights of channels, or a network, that say what matters; they take the place of the three parts of the "
          "score"},
     NULL},
    {{AT(scores, OBJECT), .strategies = ALL,
      .help = "scores of your own, one for each candidate; for budget they say what matters"},
     NULL},
    {{IN(score, keep_pass, FLAG), .strategies = SCORED,
      .help = "keep the scores as the channel previous_pass, for a scorer of the next pass"},
     NULL},
    {{AT(keep_scores, FLAG), .strategies = ALL,
      .help = "keep the scores of all candidates with the selection"},
     NULL},
};
enum { PARAMETERS = sizeof table / sizeof *table };

/* The number of points follows their pointer. */
_Static_assert(offsetof(struct tvlm_foveated_params, fixation_count) ==
                   offsetof(struct tvlm_foveated_params, fixations) + sizeof(const float *),
               "the number of fixations is not where tvlm_parameter says");

const tvlm_parameter *tvlm_parameter_at(int32_t index) {
    return index >= 0 && index < PARAMETERS ? &table[index].told : NULL;
}

/* ---- Checks ---- */

static double integer_at(const char *place) {
    int32_t value;
    memcpy(&value, place, sizeof value);
    return value;
}

static double number_at(const char *place) {
    float value;
    memcpy(&value, place, sizeof value);
    return (double)value;
}

static bool pointer_at(const char *place) {
    const void *value;
    memcpy(&value, place, sizeof value);
    return value != NULL;
}

/* The value of a parameter. For points it is their number, and for an object whether there is one. 0 means
 * that the parameter is not given. */
static double value_of(const tvlm_parameter *p, const struct tvlm_select_params *params) {
    const char *const place = (const char *)params + p->offset;
    switch (p->type) {
    case TVLM_PARAMETER_NUMBER: return number_at(place);
    case TVLM_PARAMETER_FLAG: return *(const bool *)place;
    case TVLM_PARAMETER_POINTS: return integer_at(place + p->size);
    case TVLM_PARAMETER_OBJECT: return pointer_at(place);
    case TVLM_PARAMETER_INTEGER:
    case TVLM_PARAMETER_CHOICE:
    case TVLM_PARAMETER_CHANNEL: break;
    }
    return integer_at(place);
}

/* Where the value is a float, the end of its range is rounded to a float before the two are compared. */
static double end_of(const tvlm_parameter *p, double end) {
    return p->type == TVLM_PARAMETER_NUMBER ? (double)(float)end : end;
}

static bool in_range(const tvlm_parameter *p, double value) {
    const double low = end_of(p, p->low);
    if (value == 0.0 || (p->zero && value == (double)TVLM_EXPLICIT_ZERO)) return true;
    return value >= low && value <= end_of(p, p->high) && !(p->above && value == low);
}

static tvlm_status refuse_value(const tvlm_log *log, bool number, const char *refusal, double value) {
    const size_t before = strcspn(refusal, "#");
    char text[32];
    snprintf(text, sizeof text, number ? "%g" : "%.0f", value);
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%.*s%s%s", (int)before, refusal, text, refusal + before + 1);
}

static tvlm_status check_ranges(const tvlm_log *log, const struct tvlm_select_params *params) {
    for (int i = 0; i < PARAMETERS; ++i) {
        const double value = value_of(&table[i].told, params);
        if (table[i].refusal != NULL && !in_range(&table[i].told, value))
            return refuse_value(log, table[i].told.type == TVLM_PARAMETER_NUMBER, table[i].refusal, value);
    }
    return TVLM_OK;
}

/* Writes the names of strategies, such as "grid, exhaustive and cascade". */
static void name_strategies(uint32_t strategies, char *text, size_t size) {
    for (int i = 0; strategies >> i != 0; ++i) {
        if ((strategies >> i & 1u) == 0) continue;
        const uint32_t left = strategies >> (i + 1);
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", tvlm_strategy_name((tvlm_strategy)i),
                 left == 0                  ? ""
                 : (left & (left - 1)) == 0 ? " and "
                                            : ", ");
    }
}

static tvlm_status refuse_unread(const tvlm_log *log, const struct tvlm_select_params *params,
                                 tvlm_strategy strategy, bool unasked) {
    for (int i = 0; i < PARAMETERS; ++i) {
        const tvlm_parameter *const p = &table[i].told;
        char readers[256] = "";
        if ((p->strategies >> strategy & 1u) != 0 || value_of(p, params) == 0.0) continue;
        name_strategies(p->strategies, readers, sizeof readers);
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the parameter %s is for the strategy %s, not for %s%s",
                         p->name, readers, tvlm_strategy_name(strategy),
                         unasked ? ", which is the default" : "");
    }
    return TVLM_OK;
}

tvlm_status tvlm_parameters_check(const tvlm_log *log, const struct tvlm_select_params *params,
                                  tvlm_strategy strategy, bool unasked) {
    TVLM_TRY(check_ranges(log, params));
    return refuse_unread(log, params, strategy, unasked);
}
