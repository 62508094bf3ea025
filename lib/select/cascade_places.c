/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascade_places.c: scores of single places, which are regions or cells. They are scored by the program that
 * scores the grid, but on the host, since they are few.
 */
#include <math.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/cascade_inside.h"

tvlm_status tvlm_cascade_no_memory(const tvlm_cascade *c) {
    return tvlm_fail(tvlm_stack_log(c->stack), TVLM_ERROR_MEMORY, "no memory for a cascade of %d cells",
                     (int)tvlm_candidate_count(c->grid));
}

/* ---- Parts ---- */

tvlm_status tvlm_cascade_places_make(const tvlm_cascade *c, tvlm_cascade_places *s, int32_t count) {
    s->count = count;
    s->parts = tvlm_allocate((size_t)count, TVLM_SCORE_PARTS * sizeof *s->parts);
    s->scores = tvlm_allocate((size_t)count, sizeof *s->scores);
    return s->parts != NULL && s->scores != NULL ? TVLM_OK : tvlm_cascade_no_memory(c);
}

void tvlm_cascade_places_free(tvlm_cascade_places *s) {
    free(s->parts);
    free(s->relevance);
    free(s->hope);
    free(s->scores);
}

int32_t tvlm_cascade_taps(const tvlm_score_program *program) {
    for (int32_t g = 0; g < program->count; ++g)
        if (program->groups[g].taps > 1) return TVLM_SCORE_TAPS;
    return 1;
}

/* Sums up one group as cl/score.cl does. A NaN stays a NaN. */
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
static void sum_parts(const tvlm_cascade *c, tvlm_cascade_places *s, int32_t taps, const float *values) {
    const int32_t width = tvlm_cascade_channel_places(c);
    for (int32_t n = 0; n < s->count; ++n, values += taps * width)
        for (int32_t g = 0; g < c->program.count; ++g) {
            const tvlm_score_group *const group = &c->program.groups[g];
            s->parts[(size_t)group->part * (size_t)s->count + (size_t)n] +=
                group_sum(group, values + 4 * g, taps, width);
        }
}

/* Copies the samples of the channels that were read to their places in the program. Other places stay 0. */
static void spread_out(const tvlm_cascade *c, const tvlm_cascade_places *s, int32_t taps,
                       const int32_t *places, int32_t used, const float *samples, float *values) {
    const int32_t width = tvlm_cascade_channel_places(c);
    for (int32_t i = 0; i < s->count * taps; ++i) {
        for (int32_t u = 0; u < used; ++u) values[(size_t)i * (size_t)width + (size_t)places[u]] = *samples++;
        for (int32_t p = 0; s->relevance != NULL && p < width; ++p)
            if (c->program.channels[p] == TVLM_CHANNEL_QUERY_SIMILARITY)
                values[(size_t)i * (size_t)width + (size_t)p] = s->relevance[i / taps];
    }
}

/* Lists the channels that the device is asked for, and the place of each in the program. */
static int32_t wanted_channels(const tvlm_cascade *c, const tvlm_cascade_places *s, int32_t *channels,
                               int32_t *places) {
    int32_t used = 0;
    for (int32_t i = 0; i < tvlm_cascade_channel_places(c); ++i) {
        const int32_t channel = c->program.channels[i];
        if (channel == TVLM_CHANNEL_NONE ||
            (s->relevance != NULL && channel == TVLM_CHANNEL_QUERY_SIMILARITY))
            continue;
        channels[used] = channel;
        places[used++] = i;
    }
    return used;
}

tvlm_status tvlm_cascade_places_score(const tvlm_cascade *c, tvlm_cascade_places *s, int32_t taps,
                                      const tvlm_sample_point *points) {
    const size_t width = (size_t)tvlm_cascade_channel_places(c), all = (size_t)s->count * (size_t)taps;
    int32_t *const lists = tvlm_allocate(width, 2 * sizeof *lists);
    float *const samples = tvlm_allocate(all, width * sizeof *samples);
    float *const values = tvlm_allocate(all, width * sizeof *values);
    tvlm_status status =
        lists != NULL && samples != NULL && values != NULL ? TVLM_OK : tvlm_cascade_no_memory(c);
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

void tvlm_cascade_place_taps(tvlm_sample_point centre, float step_x, float step_y, int32_t taps,
                             tvlm_sample_point *points) {
    for (int32_t tap = 0; tap < taps; ++tap) {
        points[tap] = centre;
        if (taps == 1) return;
        points[tap].x += (float)(tap % 3 - 1) * step_x;
        points[tap].y += (float)(tap / 3 - 1) * step_y;
    }
}

/* ---- Ranges and scores ---- */

void tvlm_cascade_ranges_reset(tvlm_cascade *c) {
    for (int p = 0; p < TVLM_SCORE_PARTS; ++p) c->ranges[p] = (tvlm_cascade_range){INFINITY, -INFINITY};
}

void tvlm_cascade_ranges_widen(tvlm_cascade *c, const tvlm_cascade_places *s, const bool *left_out) {
    for (int p = 0; p < TVLM_SCORE_PARTS; ++p)
        for (int32_t n = 0; n < s->count; ++n) { /* fminf and fmaxf pass over NaN */
            const float value = s->parts[(size_t)p * (size_t)s->count + (size_t)n];
            if (left_out != NULL && left_out[n]) continue;
            c->ranges[p].low = fminf(c->ranges[p].low, value);
            c->ranges[p].high = fmaxf(c->ranges[p].high, value);
        }
}

void tvlm_cascade_combine(const tvlm_cascade *c, tvlm_cascade_places *s) {
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
