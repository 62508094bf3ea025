/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.c: scores candidates by a scoring program (tvlm_score_group in core/operands.h).
 */
#include <math.h>

#include "core/memory.h"
#include "reference/reference.h"
#include "reference/sample.h"
#include "reference/texture.h"

/* The middle of cell c along one axis. The last cell ends with the image. */
static double cell_centre(int32_t c, float step, float side) {
    const double begin = c * (double)step, end = fmin((c + 1) * (double)step, side);
    return (begin + end) / 2;
}

/* What one group adds at one tap. A NaN stays NaN; fmin would replace it by the cap. */
static double group_tap(const tvlm_bundle *bundle, const tvlm_score_group *group, int tap,
                        const reference_point *point) {
    double sum = 0;
    for (int c = 0; c < 4; ++c) {
        reference_point at = *point;
        if (group->has_level[c]) at.level = (double)group->level[c];
        const double value =
            (double)group->weight[tap][c] * tvlm_reference_sample_at(bundle, group->refs[c], &at);
        sum += value > (double)group->cap[c] ? (double)group->cap[c] : value;
    }
    return sum;
}

/* What one group adds at a candidate: at its centre, or at the 3x3 taps around it, row after row. */
static double group_sum(const tvlm_bundle *bundle, const tvlm_score_group *group,
                        const tvlm_candidates *candidates, const reference_point *centre) {
    if (group->taps == 1) return group_tap(bundle, group, TVLM_SCORE_TAPS / 2, centre);
    double sum = 0;
    for (int tap = 0; tap < TVLM_SCORE_TAPS; ++tap) {
        reference_point point = *centre;
        const int dx = tap % 3 - 1, dy = tap / 3 - 1;
        point.x += dx * (double)candidates->step_x;
        point.y += dy * (double)candidates->step_y;
        sum += group_tap(bundle, group, tap, &point);
    }
    return sum;
}

/* Makes one part of the score of every candidate, rounded to float. */
static void make_part(const tvlm_bundle *bundle, const tvlm_score_group *groups, int32_t group_count,
                      const tvlm_candidates *candidates, int part, float *values) {
    for (int32_t row = 0; row < candidates->rows; ++row) {
        for (int32_t column = 0; column < candidates->columns; ++column) {
            const reference_point centre = {cell_centre(column, candidates->step_x, bundle->width),
                                            cell_centre(row, candidates->step_y, bundle->height),
                                            candidates->level, candidates->image};
            double sum = 0;
            for (int32_t g = 0; g < group_count; ++g)
                if (groups[g].part == part) sum += group_sum(bundle, &groups[g], candidates, &centre);
            *values++ = (float)sum;
        }
    }
}

/* Brings values to [0, 1] by their minimum and maximum, or to 0 if all are equal. NaN takes no part and
 * stays. */
static void normalise(float *values, size_t count) {
    float least = INFINITY, most = -INFINITY; /* GCC 12 for arm64 fails to compile it with double */
    for (size_t i = 0; i < count; ++i) {
        least = fminf(least, values[i]);
        most = fmaxf(most, values[i]);
    }
    const double low = least, high = most;
    for (size_t i = 0; i < count; ++i) {
        if (isnan(values[i])) continue;
        values[i] = high - low > TVLM_SCORE_FLOOR ? (float)((values[i] - low) / (high - low)) : 0;
    }
}

tvlm_status tvlm_reference_score(tvlm_device *device, const tvlm_bundle *bundle,
                                 const tvlm_score_group *groups, int32_t group_count,
                                 const tvlm_score_combination *combination, const tvlm_candidates *candidates,
                                 const tvlm_ranking *ranking, tvlm_buffer *scores) {
    const float *bonus = combination->bonus != NULL ? reference_data(combination->bonus) : NULL;
    const size_t count = (size_t)candidates->columns * (size_t)candidates->rows;
    float *part = tvlm_allocate(count, sizeof *part), *out = reference_data(scores);
    double *sums = tvlm_allocate(count, sizeof *sums);
    const bool allocated = part != NULL && sums != NULL;
    for (size_t i = 0; allocated && i < count; ++i) sums[i] = combination->bias;
    for (int p = 0; allocated && p < TVLM_SCORE_PARTS; ++p) {
        if (combination->weight[p] == 0) continue;
        make_part(bundle, groups, group_count, candidates, p, part);
        if (combination->normalise[p]) normalise(part, count);
        for (size_t i = 0; i < count; ++i) sums[i] += (double)combination->weight[p] * (double)part[i];
    }
    for (size_t i = 0; allocated && i < count; ++i)
        out[i] = (float)sums[i] + (bonus != NULL ? bonus[i] : 0.0f);
    free(part);
    free(sums);
    if (!allocated)
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "reference: no memory for %zu scores", count);
    return ranking != NULL ? tvlm_reference_topk(device, scores, (int32_t)count, ranking->k, ranking->result)
                           : TVLM_OK;
}

tvlm_status tvlm_reference_keep_pass(tvlm_device *device, tvlm_buffer *scores, int32_t image,
                                     tvlm_texture *out) {
    const int32_t count = out->width * out->height;
    const float *values = reference_data(scores);
    double low = INFINITY, high = -INFINITY;
    (void)device;
    for (int32_t i = 0; i < count; ++i) {
        if (isnan(values[i])) continue;
        low = fmin(low, (double)values[i]);
        high = fmax(high, (double)values[i]);
    }
    const bool spans = high - low > (double)TVLM_SCORE_FLOOR;
    for (int32_t i = 0; i < count; ++i) {
        const double value = ((double)values[i] - low) / (high - low);
        const double texel[4] = {spans && !isnan(values[i]) ? value : 0.0, 0.0, 0.0, 0.0};
        tvlm_reference_store(out, 0, reference_slice(out, image, 0), i % out->width, i / out->width, texel);
    }
    return TVLM_OK;
}

tvlm_status tvlm_reference_score_add(tvlm_device *device, tvlm_buffer *scores, tvlm_buffer *bonus,
                                     int32_t count) {
    const float *more = reference_data(bonus);
    float *score = reference_data(scores);
    (void)device;
    for (int32_t i = 0; i < count; ++i) score[i] += more[i];
    return TVLM_OK;
}
