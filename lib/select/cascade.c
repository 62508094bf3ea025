/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cascade: regions first, then the cells that touch the best of them, then the top K. What a region has
 * to show for itself is read at one place, or was made once for the image (guide.c); vectors of the
 * features are read for the cells only. Everything is scored by the program of the grid's scores, on the
 * host: there are few.
 */
#include "select/cascade.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/cost.h"
#include "select/guide.h"
#include "select/own.h"
#include "select/pass.h"
#include "stack/frame.h"
#include "stack/query.h"
#include "texturevlm/regions.h"

#define KEEP_REGIONS 10
#define ENOUGH       8     /* this many cells for each position are enough, */
#define LARGE        16384 /* but on a grid of so many (2048 x 2048 pixels), where reading costs most, */
#define LARGE_ENOUGH 2     /* so many for each position and a 16th of the grid's */
#define SHARE        8     /* once there are enough, they stay below this part of the grid's */

/*
 * What the relevance of a region's vectors gains by their spread: where they differ, the best lies above
 * their mean. On `painted` 0.1 finds the most (bench/cascade.py; four groups of vectors a region: 0.97 of the
 * grid's choice, without it 0.94).
 */
#define SPREAD_GAIN 0.1f

/* Places that are scored together. */
typedef struct seen {
    int32_t count;
    float *parts; /* [TVLM_SCORE_PARTS][count] */
    /* [count]: what stands for query_similarity. NULL: the channel itself does. */
    float *relevance;
    /* [count]: how much more than its relevance the best in a place may have. NULL without `relevance`. */
    float *hope;
    float *scores; /* [count] */
} seen;

typedef struct range {
    float low, high;
} range;

typedef struct cascade {
    tvlm_stack *stack;
    const struct tvlm_select_params *params;
    const struct tvlm_query *query;
    const tvlm_candidates *grid;
    tvlm_score_program program;
    tvlm_sparse_query sparse;
    bool vectors; /* whether the score reads what `sparse` answers */
    const tvlm_guide *guide;
    int32_t k;
    seen regions, cells;
    /* [regions]: their numbers, the best first, and which of them were looked into. */
    int32_t *order;
    bool *taken;
    /* [candidates]: which of them lie in those regions; [cells.count]: their numbers, ascending. */
    bool *inside;
    int32_t *listed;
    size_t looked;        /* how many cells the regions that were gone through have */
    int32_t vector_count; /* how many vectors of the features were read */
    range ranges[TVLM_SCORE_PARTS];
    tvlm_select_stage stages[2];
} cascade;

static tvlm_status no_memory(const cascade *c) {
    return tvlm_fail(tvlm_stack_log(c->stack), TVLM_ERROR_MEMORY, "no memory for a cascade of %d cells",
                     (int)tvlm_candidate_count(c->grid));
}

static int32_t channel_places(const cascade *c) {
    return 4 * c->program.count;
}

static bool reads_query(const tvlm_score_program *program) {
    for (int32_t i = 0; i < 4 * program->count; ++i)
        if (program->channels[i] == TVLM_CHANNEL_QUERY_SIMILARITY) return true;
    return false;
}

/* ---- Parts ---- */

static tvlm_status make_seen(const cascade *c, seen *s, int32_t count) {
    s->count = count;
    s->parts = tvlm_allocate((size_t)count, TVLM_SCORE_PARTS * sizeof *s->parts);
    s->scores = tvlm_allocate((size_t)count, sizeof *s->scores);
    return s->parts != NULL && s->scores != NULL ? TVLM_OK : no_memory(c);
}

static void free_seen(seen *s) {
    free(s->parts);
    free(s->relevance);
    free(s->hope);
    free(s->scores);
}

static int32_t taps_of(const tvlm_score_program *program) {
    for (int32_t g = 0; g < program->count; ++g)
        if (program->groups[g].taps > 1) return TVLM_SCORE_TAPS;
    return 1;
}

/* Sums one group up as cl/score.cl does. A NaN stays one. */
static float group_sum(const tvlm_score_group *group, const float *values, int32_t taps, int32_t width) {
    float sum = 0.0f;
    for (int32_t tap = 0; tap < taps; ++tap) {
        const int32_t weights = taps == 1 || group->taps == 1 ? TVLM_SCORE_TAPS / 2 : tap;
        if (group->taps == 1 && taps > 1 && tap != TVLM_SCORE_TAPS / 2) continue;
        for (int32_t i = 0; i < 4; ++i) {
            const float term = group->weight[weights][i] * values[tap * width + i];
            sum += term > group->cap[i] ? group->cap[i] : term;
        }
    }
    return sum;
}

/* Adds values [count][taps][4 * groups] to the parts. */
static void sum_parts(const cascade *c, seen *s, int32_t taps, const float *values) {
    const int32_t width = channel_places(c);
    for (int32_t n = 0; n < s->count; ++n, values += taps * width)
        for (int32_t g = 0; g < c->program.count; ++g) {
            const tvlm_score_group *const group = &c->program.groups[g];
            s->parts[(size_t)group->part * (size_t)s->count + (size_t)n] +=
                group_sum(group, values + 4 * g, taps, width);
        }
}

/* Spreads the samples of the channels that were read to their places in the program; 0 stays elsewhere. */
static void spread_out(const cascade *c, const seen *s, int32_t taps, const int32_t *places, int32_t used,
                       const float *samples, float *values) {
    const int32_t width = channel_places(c);
    for (int32_t i = 0; i < s->count * taps; ++i) {
        for (int32_t u = 0; u < used; ++u) values[(size_t)i * (size_t)width + (size_t)places[u]] = *samples++;
        for (int32_t p = 0; s->relevance != NULL && p < width; ++p)
            if (c->program.channels[p] == TVLM_CHANNEL_QUERY_SIMILARITY)
                values[(size_t)i * (size_t)width + (size_t)p] = s->relevance[i / taps];
    }
}

/* Lists the channels that the device is asked for, and the place of each in the program. */
static int32_t wanted_channels(const cascade *c, const seen *s, int32_t *channels, int32_t *places) {
    int32_t used = 0;
    for (int32_t i = 0; i < channel_places(c); ++i) {
        const int32_t channel = c->program.channels[i];
        if (channel == TVLM_CHANNEL_NONE ||
            (s->relevance != NULL && channel == TVLM_CHANNEL_QUERY_SIMILARITY))
            continue;
        channels[used] = channel;
        places[used++] = i;
    }
    return used;
}

/* Computes the parts of places that are read at points [count * taps]. */
static tvlm_status score_places(const cascade *c, seen *s, int32_t taps, const tvlm_sample_point *points) {
    const size_t width = (size_t)channel_places(c), all = (size_t)s->count * (size_t)taps;
    int32_t *const lists = tvlm_allocate(width, 2 * sizeof *lists);
    float *const samples = tvlm_allocate(all, width * sizeof *samples);
    float *const values = tvlm_allocate(all, width * sizeof *values);
    tvlm_status status = lists != NULL && samples != NULL && values != NULL ? TVLM_OK : no_memory(c);
    if (status == TVLM_OK) {
        const int32_t used = wanted_channels(c, s, lists, lists + width);
        status = tvlm_stack_sample(c->stack, points, (int32_t)all, lists, used, samples);
        if (status == TVLM_OK) spread_out(c, s, taps, lists + width, used, samples, values);
        if (status == TVLM_OK) sum_parts(c, s, taps, values);
    }
    free(lists);
    free(samples);
    free(values);
    return status;
}

/* ---- Ranges and scores ---- */

static void reset_ranges(cascade *c) {
    for (int p = 0; p < TVLM_SCORE_PARTS; ++p) c->ranges[p] = (range){INFINITY, -INFINITY};
}

/* Widens the ranges by the places that are not `left_out`. NULL: none are. */
static void widen(cascade *c, const seen *s, const bool *left_out) {
    for (int p = 0; p < TVLM_SCORE_PARTS; ++p)
        for (int32_t n = 0; n < s->count; ++n) { /* fminf takes what is a number */
            const float value = s->parts[(size_t)p * (size_t)s->count + (size_t)n];
            if (left_out != NULL && left_out[n]) continue;
            c->ranges[p].low = fminf(c->ranges[p].low, value);
            c->ranges[p].high = fmaxf(c->ranges[p].high, value);
        }
}

static void combine(const cascade *c, seen *s) {
    const tvlm_score_combination *const how = &c->program.combination;
    for (int32_t n = 0; n < s->count; ++n) {
        float score = how->bias;
        for (int p = 0; p < TVLM_SCORE_PARTS; ++p) {
            float value = s->parts[(size_t)p * (size_t)s->count + (size_t)n];
            const float span = c->ranges[p].high - c->ranges[p].low;
            if (how->weight[p] == 0.0f) continue;
            if (how->normalise[p])
                value = span > TVLM_SCORE_FLOOR ? (value - c->ranges[p].low) / span : value - value;
            score += how->weight[p] * value;
        }
        s->scores[n] = score;
    }
}

/* Adds what a stream gives positions that stay (lib/video/stream_steady.c), as score.c does. */
static void add_bonus(cascade *c) {
    const float *const bonus = tvlm_stack_bonus(c->stack, c->params->score.index, c->grid);
    if (bonus == NULL) return;
    for (int32_t n = 0; n < c->cells.count; ++n) c->cells.scores[n] += bonus[c->listed[n]];
}

/* The best comes first, of equals the lower index, and what is no number last. */
static int compare_ranked(const void *a, const void *b) {
    const tvlm_ranked *const p = a, *const q = b;
    const bool p_nan = isnan(p->score), q_nan = isnan(q->score);
    if (p_nan != q_nan) return p_nan ? 1 : -1;
    if (!p_nan && p->score != q->score) return p->score > q->score ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* ---- Regions ---- */

static void place_taps(tvlm_sample_point centre, float step_x, float step_y, int32_t taps,
                       tvlm_sample_point *points) {
    for (int32_t tap = 0; tap < taps; ++tap) {
        points[tap] = centre;
        if (taps == 1) return;
        points[tap].x += (float)(tap % 3 - 1) * step_x;
        points[tap].y += (float)(tap / 3 - 1) * step_y;
    }
}

/* Compares the mean of a group of vectors with the query. Several cosines combine as the query says. */
static float relevance_of(const cascade *c, size_t group, float *of_query) {
    const size_t dimension = (size_t)c->guide->dimension;
    const float *const mean = c->guide->means + group * dimension;
    for (int32_t q = 0; q < c->sparse.count; ++q) {
        const float *const vector = c->sparse.vectors + (size_t)q * (size_t)c->sparse.stride;
        double sum = 0.0;
        for (size_t i = 0; i < dimension; ++i) sum += (double)mean[i] * (double)vector[i];
        of_query[q] = (float)fmin(fmax(sum, -1.0), 1.0);
    }
    return tvlm_sparse_query_combine(&c->sparse, of_query);
}

/* A region is as relevant as the best of its groups. */
static void relate_region(cascade *c, int32_t region, float *of_query) {
    float best = -INFINITY;
    for (int32_t n = 0; n < c->guide->groups[region]; ++n) {
        const size_t group = (size_t)region * TVLM_GUIDE_GROUPS + (size_t)n;
        const float relevance = relevance_of(c, group, of_query);
        const float hope = SPREAD_GAIN * c->guide->spreads[group];
        if (relevance + hope <= best) continue;
        best = relevance + hope;
        c->regions.relevance[region] = relevance;
        c->regions.hope[region] = hope;
    }
}

static tvlm_status relate_regions(cascade *c) {
    const size_t count = (size_t)c->regions.count;
    if (!c->vectors) return TVLM_OK;
    float *const of_query = tvlm_allocate((size_t)c->sparse.count, sizeof *of_query);
    c->regions.relevance = tvlm_allocate(count, sizeof *c->regions.relevance);
    c->regions.hope = tvlm_allocate(count, sizeof *c->regions.hope);
    const bool made = of_query != NULL && c->regions.relevance != NULL && c->regions.hope != NULL;
    for (int32_t r = 0; made && r < c->regions.count; ++r) relate_region(c, r, of_query);
    free(of_query);
    return made ? TVLM_OK : no_memory(c);
}

/* Scores of regions. Similarity has no cap, and is the centre's tap. The parts stay without hope: they are
 * ranges, too. */
static void combine_with_hope(cascade *c) {
    combine(c, &c->regions);
    for (int32_t i = 0; c->vectors && i < channel_places(c); ++i) {
        const tvlm_score_group *const group = &c->program.groups[i / 4];
        const float span = c->ranges[group->part].high - c->ranges[group->part].low;
        float weight = c->program.combination.weight[group->part] * group->weight[TVLM_SCORE_TAPS / 2][i % 4];
        if (c->program.channels[i] != TVLM_CHANNEL_QUERY_SIMILARITY) continue;
        if (c->program.combination.normalise[group->part])
            weight = span > TVLM_SCORE_FLOOR ? weight / span : 0.0f;
        for (int32_t r = 0; r < c->regions.count; ++r)
            c->regions.scores[r] += fabsf(weight) * c->regions.hope[r];
    }
}

/* Reads each region at its centroid, at the level whose texels are as large as it. */
static tvlm_status score_regions(cascade *c) {
    const int32_t taps = taps_of(&c->program);
    size_t bytes = 0;
    TVLM_TRY(make_seen(c, &c->regions, c->guide->regions));
    TVLM_TRY(relate_regions(c));
    tvlm_sample_point *const points = tvlm_allocate((size_t)c->regions.count * (size_t)taps, sizeof *points);
    if (points == NULL) return no_memory(c);
    for (int32_t r = 0; r < c->regions.count; ++r) {
        const tvlm_region *const region = &c->guide->table[r];
        const float side = sqrtf((float)region->pixels);
        const float level = fminf(log2f(side), (float)(tvlm_stack_levels(c->stack) - 1));
        place_taps((tvlm_sample_point){region->x, region->y, level, c->params->score.index}, side, side, taps,
                   points + (size_t)r * (size_t)taps);
    }
    const tvlm_status status = score_places(c, &c->regions, taps, points);
    for (int32_t r = 0; r < c->regions.count; ++r)
        bytes += tvlm_cost_of_candidate(c->stack, c->params->score.index, &c->program,
                                        points[(size_t)r * (size_t)taps].level);
    free(points);
    for (int32_t r = 0; c->vectors && r < c->regions.count; ++r)
        bytes += (size_t)c->guide->groups[r] * ((size_t)c->guide->dimension + 1) * sizeof(float);
    bytes += (size_t)c->regions.count * (offsetof(tvlm_region, reserved) + sizeof(float));
    c->stages[0] = (tvlm_select_stage){.name = "regions", .candidates = c->regions.count, .bytes = bytes};
    reset_ranges(c);
    widen(c, &c->regions, NULL);
    combine_with_hope(c);
    return status;
}

static tvlm_status rank_regions(cascade *c) {
    tvlm_ranked *const ranking = tvlm_allocate((size_t)c->regions.count, sizeof *ranking);
    c->order = tvlm_allocate((size_t)c->regions.count, sizeof *c->order);
    c->taken = tvlm_allocate((size_t)c->regions.count, sizeof *c->taken);
    c->inside = tvlm_allocate((size_t)tvlm_candidate_count(c->grid), sizeof *c->inside);
    const bool made = ranking != NULL && c->order != NULL && c->taken != NULL && c->inside != NULL;
    for (int32_t r = 0; made && r < c->regions.count; ++r)
        ranking[r] = (tvlm_ranked){r, c->regions.scores[r]};
    if (made) qsort(ranking, (size_t)c->regions.count, sizeof *ranking, compare_ranked);
    for (int32_t r = 0; made && r < c->regions.count; ++r) c->order[r] = ranking[r].index;
    free(ranking);
    return made ? TVLM_OK : no_memory(c);
}

/* ---- Which cells ---- */

static int32_t touched_count(const cascade *c, int32_t region) {
    return c->guide->begins[region + 1] - c->guide->begins[region];
}

/* Takes the cells of a region in; returns how many of them are new. */
static int32_t enter(cascade *c, int32_t region, float cull) {
    int32_t added = 0;
    for (int32_t i = c->guide->begins[region]; i < c->guide->begins[region + 1]; ++i) {
        const int32_t cell = c->guide->touched[i];
        if (c->inside[cell] || c->guide->distances[cell] >= cull) continue;
        c->inside[cell] = true;
        ++added;
    }
    c->looked += (size_t)touched_count(c, region);
    return added;
}

static int64_t enough_cells(int32_t all, int32_t k) {
    const int64_t many = (int64_t)ENOUGH * k, few = (int64_t)LARGE_ENOUGH * k;
    if (all < LARGE) return many;
    const int64_t least = few > all / 16 ? few : all / 16;
    return many < least ? many : least;
}

/* Takes regions, the best first; returns how many cells they hold. */
static int32_t take_regions(cascade *c, float cull) {
    const int32_t keep = c->params->keep_regions > 0 ? c->params->keep_regions : KEEP_REGIONS;
    const int32_t all = tvlm_candidate_count(c->grid);
    const int64_t enough = enough_cells(all, c->k);
    int32_t held = 0, taken = 0;
    memset(c->inside, 0, (size_t)all * sizeof *c->inside);
    memset(c->taken, 0, (size_t)c->regions.count * sizeof *c->taken);
    for (int32_t i = 0; i < c->regions.count && (taken < keep || held < enough); ++i) {
        const int32_t r = c->order[i];
        if (c->guide->nearest[r] >= cull) continue;
        if (held >= enough && held + touched_count(c, r) > all / SHARE) continue;
        held += enter(c, r, cull);
        c->taken[r] = true;
        ++taken;
    }
    c->stages[0].kept = taken;
    return held;
}

static tvlm_status list_cells(cascade *c) {
    const float cull = c->params->cull_distance > 0.0f ? c->params->cull_distance : 1.0f;
    int32_t held = take_regions(c, cull), n = 0;
    if (held < c->k) held = take_regions(c, INFINITY);
    TVLM_TRY(make_seen(c, &c->cells, held));
    c->listed = tvlm_allocate((size_t)held, sizeof *c->listed);
    if (c->listed == NULL) return no_memory(c);
    for (int32_t i = 0; i < tvlm_candidate_count(c->grid); ++i)
        if (c->inside[i]) c->listed[n++] = i;
    c->stages[0].bytes += c->looked * (sizeof(int32_t) + sizeof(float));
    return TVLM_OK;
}

/* ---- The question, where the cells are ---- */

/* Marks the vectors that a sample at x, a position on an axis of `side` of them, is made of: first and last.
 */
static void span(float at, float extent, int32_t side, float own, int32_t *first, int32_t *last) {
    *first = side - 1;
    *last = 0;
    for (int32_t level = (int32_t)floorf(own); level <= (int32_t)ceilf(own); ++level) {
        const int32_t count = tvlm_level_side(side, level);
        const double x = (double)at * count / (double)extent - 0.5, scale = (double)side / count;
        const double lower = fmin(fmax(floor(x), 0.0), count - 1.0);
        const double upper = fmin(fmax(x - floor(x) > 1e-6 ? floor(x) + 1.0 : floor(x), 0.0), count - 1.0);
        const int32_t begin = (int32_t)floor(lower * scale), end = (int32_t)ceil((upper + 1.0) * scale) - 1;
        if (begin < *first) *first = begin;
        if (end > *last) *last = end < side ? end : side - 1;
    }
}

static void mark_vectors(const cascade *c, const tvlm_sample_point *point, bool *marked) {
    const tvlm_texture *const texture = c->sparse.features.texture;
    const float bias = fmaxf(log2f(texture->extent_x / (float)texture->width),
                             log2f(texture->extent_y / (float)texture->height));
    const float top = (float)(tvlm_level_count(texture->width, texture->height) - 1);
    const float own = fminf(fmaxf(point->level - fmaxf(bias, 0.0f), 0.0f), top);
    int32_t left, right, above, below;
    span(point->x, texture->extent_x, texture->width, own, &left, &right);
    span(point->y, texture->extent_y, texture->height, own, &above, &below);
    for (int32_t y = above; y <= below; ++y)
        for (int32_t x = left; x <= right; ++x) marked[y * texture->width + x] = true;
}

/* Makes the similarities of what is marked the query_similarity; it is 0 elsewhere. */
static tvlm_status answer_cells(cascade *c, const bool *marked, int32_t *cells, float *similarities,
                                float *map) {
    const tvlm_texture *const texture = c->sparse.features.texture;
    c->vector_count = 0;
    for (int32_t i = 0; i < texture->width * texture->height; ++i)
        if (marked[i]) cells[c->vector_count++] = i;
    TVLM_TRY(tvlm_sparse_query_cells(c->stack, &c->sparse, cells, c->vector_count, similarities));
    for (int32_t i = 0; i < c->vector_count; ++i) map[cells[i]] = similarities[i];
    return tvlm_sparse_query_upload(c->stack, c->params->score.index, &c->sparse, map);
}

static tvlm_status ask_cells(cascade *c, const tvlm_sample_point *points, size_t count) {
    if (!c->vectors) return TVLM_OK;
    const tvlm_texture *const texture = c->sparse.features.texture;
    const size_t all = (size_t)texture->width * (size_t)texture->height;
    bool *const marked = tvlm_allocate(all, sizeof *marked);
    int32_t *const cells = tvlm_allocate(all, sizeof *cells);
    float *const similarities = tvlm_allocate(all, sizeof *similarities);
    float *const map = tvlm_allocate(all, sizeof *map);
    const bool made = marked != NULL && cells != NULL && similarities != NULL && map != NULL;
    for (size_t i = 0; made && i < count; ++i) mark_vectors(c, &points[i], marked);
    const tvlm_status status = made ? answer_cells(c, marked, cells, similarities, map) : no_memory(c);
    free(marked);
    free(cells);
    free(similarities);
    free(map);
    return status;
}

/* ---- Cells ---- */

static float middle(int32_t cell, float step, int32_t side) {
    return 0.5f * ((float)cell * step + fminf((float)(cell + 1) * step, (float)side));
}

static tvlm_status score_cells(cascade *c) {
    const int32_t taps = taps_of(&c->program), columns = c->grid->columns;
    const size_t count = (size_t)c->cells.count;
    tvlm_sample_point *const points = tvlm_allocate(count, (size_t)taps * sizeof *points);
    if (points == NULL) return no_memory(c);
    for (size_t n = 0; n < count; ++n) {
        const int32_t column = c->listed[n] % columns, row = c->listed[n] / columns;
        place_taps((tvlm_sample_point){middle(column, c->grid->step_x, tvlm_stack_width(c->stack)),
                                       middle(row, c->grid->step_y, tvlm_stack_height(c->stack)),
                                       c->grid->level, c->params->score.index},
                   c->grid->step_x, c->grid->step_y, taps, points + n * (size_t)taps);
    }
    tvlm_status status = ask_cells(c, points, count * (size_t)taps);
    if (status == TVLM_OK) status = score_places(c, &c->cells, taps, points);
    free(points);
    size_t bytes =
        count * tvlm_cost_of_candidate(c->stack, c->params->score.index, &c->program, c->grid->level);
    if (c->vectors)
        bytes += (size_t)c->vector_count * (size_t)c->sparse.count * tvlm_cost_of_vector(&c->sparse.features);
    c->stages[1] =
        (tvlm_select_stage){.name = "cells", .candidates = c->cells.count, .kept = c->k, .bytes = bytes};
    return status;
}

/* ---- What comes out ---- */

/* Finds the lowest of the cells' scores that are finite; 0 where none is. */
static float lowest_score(const cascade *c) {
    float lowest = INFINITY;
    for (int32_t n = 0; n < c->cells.count; ++n)
        if (isfinite(c->cells.scores[n])) lowest = fminf(lowest, c->cells.scores[n]);
    return isfinite(lowest) ? lowest : 0.0f;
}

/* Makes the scores of the cells those of the image. What was not looked at has the lowest of them. */
static tvlm_status keep_scores(const cascade *c, tvlm_buffer **buffer) {
    const tvlm_backend *const backend = tvlm_stack_device(c->stack)->backend;
    const int32_t index = c->params->score.index;
    const size_t count = (size_t)tvlm_candidate_count(c->grid);
    float *const scores = tvlm_allocate(count, sizeof *scores), lowest = lowest_score(c);
    if (scores == NULL) return no_memory(c);
    for (size_t i = 0; i < count; ++i) scores[i] = lowest;
    for (int32_t n = 0; n < c->cells.count; ++n) scores[c->listed[n]] = c->cells.scores[n];
    tvlm_status status = tvlm_stack_scores(c->stack, index, c->grid, buffer);
    if (status == TVLM_OK)
        status =
            backend->buffer_write(tvlm_stack_device(c->stack), *buffer, 0, count * sizeof *scores, scores);
    if (status == TVLM_OK) tvlm_stack_mark_scored(c->stack, index);
    if (status == TVLM_OK && c->params->score.keep_pass)
        status = tvlm_pass_keep(c->stack, index, c->grid, *buffer);
    free(scores);
    return status;
}

/* A map of similarities that was made elsewhere is a channel like any other. Vectors are first compared with
 * the means. */
static tvlm_status prepare(cascade *c) {
    const int32_t index = c->params->score.index;
    const bool vectors = c->query != NULL && tvlm_query_has_vectors(c->query);
    if (vectors) TVLM_TRY(tvlm_sparse_query_begin(c->stack, index, c->query, &c->sparse));
    c->vectors = vectors && reads_query(&c->program);
    TVLM_TRY(tvlm_query_upload(c->stack, index, vectors ? NULL : c->query));
    return tvlm_guide_of(c->stack, index, c->grid, c->vectors ? &c->sparse.features : NULL,
                         c->vectors && c->query->basis != NULL, &c->guide);
}

static tvlm_status rank_cells(const cascade *c, tvlm_cascade_result *result) {
    result->count = c->cells.count;
    result->ranking = tvlm_allocate((size_t)c->cells.count, sizeof *result->ranking);
    if (result->ranking == NULL) return no_memory(c);
    for (int32_t n = 0; n < c->cells.count; ++n)
        result->ranking[n] = (tvlm_ranked){c->listed[n], c->cells.scores[n]};
    qsort(result->ranking, (size_t)c->cells.count, sizeof *result->ranking, compare_ranked);
    return TVLM_OK;
}

/* ---- Scores that were handed in ---- */

/* A region is as good as the best of its cells. */
static tvlm_status take_own_regions(cascade *c, const float *own) {
    TVLM_TRY(make_seen(c, &c->regions, c->guide->regions));
    for (int32_t r = 0; r < c->regions.count; ++r) {
        float best = -INFINITY;
        for (int32_t i = c->guide->begins[r]; i < c->guide->begins[r + 1]; ++i)
            best = fmaxf(best, own[c->guide->touched[i]]);
        c->regions.scores[r] = best;
    }
    const size_t touched = (size_t)c->guide->begins[c->regions.count];
    c->stages[0] = (tvlm_select_stage){
        .name = "regions", .candidates = c->regions.count, .bytes = touched * sizeof *own};
    return TVLM_OK;
}

static tvlm_status run_own(cascade *c, const float *own, tvlm_cascade_result *result) {
    TVLM_TRY(tvlm_query_upload(c->stack, c->params->score.index, NULL));
    TVLM_TRY(tvlm_guide_of(c->stack, c->params->score.index, c->grid, NULL, false, &c->guide));
    TVLM_TRY(take_own_regions(c, own));
    TVLM_TRY(rank_regions(c));
    TVLM_TRY(list_cells(c));
    for (int32_t n = 0; n < c->cells.count; ++n) c->cells.scores[n] = own[c->listed[n]];
    c->stages[1] = (tvlm_select_stage){.name = "cells",
                                       .candidates = c->cells.count,
                                       .kept = c->k,
                                       .bytes = (size_t)c->cells.count * sizeof *own};
    add_bonus(c);
    TVLM_TRY(rank_cells(c, result));
    return keep_scores(c, &result->scores);
}

static tvlm_status run_with_own(cascade *c, tvlm_cascade_result *result) {
    const float *scores;
    float *owned;
    tvlm_status status = tvlm_own_read(c->stack, c->params->scores, c->grid, &scores, &owned);
    if (status == TVLM_OK) status = run_own(c, scores, result);
    free(owned);
    return status;
}

static tvlm_status run(cascade *c, tvlm_cascade_result *result) {
    if (c->params->scores != NULL) return run_with_own(c, result);
    TVLM_TRY(prepare(c));
    TVLM_TRY(score_regions(c));
    TVLM_TRY(rank_regions(c));
    TVLM_TRY(list_cells(c));
    TVLM_TRY(score_cells(c));
    reset_ranges(c);
    widen(c, &c->regions, c->taken); /* what was looked into speaks through its cells */
    widen(c, &c->cells, NULL);
    combine(c, &c->cells);
    for (int p = 0; p < TVLM_SCORE_PARTS; ++p) result->spans[p] = c->ranges[p].high - c->ranges[p].low;
    add_bonus(c);
    TVLM_TRY(rank_cells(c, result));
    return keep_scores(c, &result->scores);
}

tvlm_status tvlm_cascade_run(tvlm_stack *stack, const struct tvlm_query *query,
                             const struct tvlm_select_params *params, const tvlm_candidates *candidates,
                             int32_t k, tvlm_cascade_result *result) {
    cascade c = {.stack = stack, .params = params, .query = query, .grid = candidates, .k = k};
    tvlm_status status = tvlm_score_program_make(stack, query, &params->score, &c.program);
    if (status == TVLM_OK) status = run(&c, result);
    memcpy(result->stages, c.stages, sizeof c.stages);
    tvlm_score_program_free(&c.program);
    tvlm_sparse_query_end(&c.sparse);
    free_seen(&c.regions);
    free_seen(&c.cells);
    free(c.order);
    free(c.taken);
    free(c.inside);
    free(c.listed);
    return status;
}
