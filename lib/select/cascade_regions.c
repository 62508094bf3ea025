/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascade_regions.c: the best regions, and the cells that touch them. The channels that score a region are
 * read at one place. Its vectors were reduced to means once for the image (guide.c).
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/cascade_inside.h"
#include "select/cost.h"
#include "texturevlm/stack.h"

/*
 * At least KEEP_REGIONS regions are looked into, unless the parameters say otherwise. How many cells are
 * enough:
 * - ENOUGH cells for each position are enough.
 * - On a grid of LARGE cells or more (2048 x 2048 pixels), where reading costs most, fewer may be enough:
 *   LARGE_ENOUGH cells for each position, or a 16th of the grid's cells if that is more.
 * - Once there are enough, a further region is looked into only if the cells then stay within 1 / SHARE of
 *   the grid's.
 */
#define KEEP_REGIONS 10
#define ENOUGH       8
#define LARGE        16384
#define LARGE_ENOUGH 2
#define SHARE        8

/*
 * Where vectors differ, the best one is more relevant than their mean. So the hope of a group of vectors is
 * this share of its spread. On `painted` 0.1 finds the most (bench/cascade.py): with four groups of vectors
 * for each region, 0.97 of the grid's choice. Without this gain it finds 0.94.
 */
#define SPREAD_GAIN 0.1f

/* ---- Regions ---- */

/* Compares the mean of a group of vectors with the query. Several cosines combine as the query says. */
static float relevance_of(const tvlm_cascade *c, size_t group, float *of_query) {
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
static void relate_region(tvlm_cascade *c, int32_t region, float *of_query) {
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

static tvlm_status relate_regions(tvlm_cascade *c) {
    const size_t count = (size_t)c->regions.count;
    if (!c->vectors) return TVLM_OK;
    float *const of_query = tvlm_allocate((size_t)c->sparse.count, sizeof *of_query);
    c->regions.relevance = tvlm_allocate(count, sizeof *c->regions.relevance);
    c->regions.hope = tvlm_allocate(count, sizeof *c->regions.hope);
    const bool made = of_query != NULL && c->regions.relevance != NULL && c->regions.hope != NULL;
    for (int32_t r = 0; made && r < c->regions.count; ++r) relate_region(c, r, of_query);
    free(of_query);
    return made ? TVLM_OK : tvlm_cascade_no_memory(c);
}

/* Makes the scores of regions, with their hope. The hope is added to the scores and not to the parts, since
 * the ranges are those of the parts, and must not include hope. The weight is simple to find: similarity has
 * no cap, and is read at the centre's tap alone. */
static void combine_with_hope(tvlm_cascade *c) {
    tvlm_cascade_combine(c, &c->regions);
    for (int32_t i = 0; c->vectors && i < tvlm_cascade_channel_places(c); ++i) {
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

/* Reads each region at its centroid, at the level whose texels are as large as the region. */
tvlm_status tvlm_cascade_score_regions(tvlm_cascade *c) {
    const int32_t taps = tvlm_cascade_taps(&c->program);
    size_t bytes = 0;
    TVLM_TRY(tvlm_cascade_places_make(c, &c->regions, c->guide->regions));
    TVLM_TRY(relate_regions(c));
    tvlm_sample_point *const points = tvlm_allocate((size_t)c->regions.count * (size_t)taps, sizeof *points);
    if (points == NULL) return tvlm_cascade_no_memory(c);
    for (int32_t r = 0; r < c->regions.count; ++r) {
        const tvlm_region *const region = &c->guide->table[r];
        const float side = sqrtf((float)region->pixels);
        const float level = fminf(log2f(side), (float)(tvlm_stack_levels(c->stack) - 1));
        tvlm_cascade_place_taps((tvlm_sample_point){region->x, region->y, level, c->params->score.index},
                                side, side, taps, points + (size_t)r * (size_t)taps);
    }
    const tvlm_status status = tvlm_cascade_places_score(c, &c->regions, taps, points);
    for (int32_t r = 0; r < c->regions.count; ++r)
        bytes += tvlm_cost_of_candidate(c->stack, c->params->score.index, &c->program,
                                        points[(size_t)r * (size_t)taps].level);
    free(points);
    for (int32_t r = 0; c->vectors && r < c->regions.count; ++r)
        bytes += (size_t)c->guide->groups[r] * ((size_t)c->guide->dimension + 1) * sizeof(float);
    bytes += (size_t)c->regions.count * (offsetof(tvlm_region, reserved) + sizeof(float));
    c->stages[0] = (tvlm_select_stage){.name = "regions", .candidates = c->regions.count, .bytes = bytes};
    tvlm_cascade_ranges_reset(c);
    tvlm_cascade_ranges_widen(c, &c->regions, NULL);
    combine_with_hope(c);
    return status;
}

tvlm_status tvlm_cascade_rank_regions(tvlm_cascade *c) {
    tvlm_ranked *const ranking = tvlm_allocate((size_t)c->regions.count, sizeof *ranking);
    c->order = tvlm_allocate((size_t)c->regions.count, sizeof *c->order);
    c->taken = tvlm_allocate((size_t)c->regions.count, sizeof *c->taken);
    c->inside = tvlm_allocate((size_t)tvlm_candidate_count(c->grid), sizeof *c->inside);
    const bool made = ranking != NULL && c->order != NULL && c->taken != NULL && c->inside != NULL;
    for (int32_t r = 0; made && r < c->regions.count; ++r)
        ranking[r] = (tvlm_ranked){r, c->regions.scores[r]};
    if (made) qsort(ranking, (size_t)c->regions.count, sizeof *ranking, tvlm_ranked_compare);
    for (int32_t r = 0; made && r < c->regions.count; ++r) c->order[r] = ranking[r].index;
    free(ranking);
    return made ? TVLM_OK : tvlm_cascade_no_memory(c);
}

/* ---- Which cells ---- */

static int32_t touched_count(const tvlm_cascade *c, int32_t region) {
    return c->guide->begins[region + 1] - c->guide->begins[region];
}

/* Marks the cells of a region as inside. Returns how many of them were not marked before. */
static int32_t enter(tvlm_cascade *c, int32_t region, float cull) {
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
static int32_t take_regions(tvlm_cascade *c, float cull) {
    const int32_t keep = c->params->cascade.keep_regions > 0 ? c->params->cascade.keep_regions : KEEP_REGIONS;
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

tvlm_status tvlm_cascade_list_cells(tvlm_cascade *c) {
    const float cull = c->params->cascade.cull_distance > 0.0f ? c->params->cascade.cull_distance : 1.0f;
    int32_t held = take_regions(c, cull), n = 0;
    if (held < c->k) held = take_regions(c, INFINITY);
    TVLM_TRY(tvlm_cascade_places_make(c, &c->cells, held));
    c->listed = tvlm_allocate((size_t)held, sizeof *c->listed);
    if (c->listed == NULL) return tvlm_cascade_no_memory(c);
    for (int32_t i = 0; i < tvlm_candidate_count(c->grid); ++i)
        if (c->inside[i]) c->listed[n++] = i;
    c->stages[0].bytes += c->looked * (sizeof(int32_t) + sizeof(float));
    return TVLM_OK;
}
