/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A region's vectors as a few means, each of a group of vectors that are alike. A single mean would hide a
 * bird in the sky. The first group begins with the mean of all vectors. Each further group begins with the
 * vector that is farthest from all means so far (Gonzalez 1985). Lloyd's iteration (1982) follows.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/guide.h"
#include "select/vectors.h"
#include "stack/stack.h"
#include "texturevlm/stack.h"

#define ITERATIONS 3

/* A region's vectors while they are divided into groups. */
typedef struct members {
    const float *vectors; /* of all cells, unit vectors */
    size_t dimension;
    const int32_t *cells; /* [count] */
    int32_t count;
    float *distance; /* [count] squared, from the nearest mean */
    int32_t *group;  /* [count] */
} members;

static const float *member(const members *m, int32_t i) {
    return m->vectors + (size_t)m->cells[i] * m->dimension;
}

static float squared_distance(const float *a, const float *b, size_t dimension) {
    float sum = 0.0f;
    for (size_t i = 0; i < dimension; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* Finds the means of the groups 0 .. groups - 1, and their spreads. A group without vectors keeps its
 * mean. */
static void find_means(const members *m, int32_t groups, float *means, float *spreads) {
    for (int32_t g = 0; g < groups; ++g) {
        float *const mean = means + (size_t)g * m->dimension;
        int32_t count = 0;
        for (int32_t i = 0; i < m->count; ++i) count += m->group[i] == g;
        if (count == 0) continue;
        memset(mean, 0, m->dimension * sizeof *mean);
        for (int32_t i = 0; i < m->count; ++i)
            for (size_t d = 0; m->group[i] == g && d < m->dimension; ++d) mean[d] += member(m, i)[d];
        for (size_t d = 0; d < m->dimension; ++d) mean[d] /= (float)count;
        spreads[g] = 0.0f;
        for (int32_t i = 0; i < m->count; ++i)
            if (m->group[i] == g) spreads[g] += squared_distance(member(m, i), mean, m->dimension);
        spreads[g] = sqrtf(spreads[g] / (float)count);
    }
}

/* Puts each vector into the group of the nearest mean. Where several are equally near, the first one
 * counts. */
static void assign(const members *m, int32_t groups, const float *means) {
    for (int32_t i = 0; i < m->count; ++i) {
        m->distance[i] = INFINITY;
        for (int32_t g = 0; g < groups; ++g) {
            const float distance =
                squared_distance(member(m, i), means + (size_t)g * m->dimension, m->dimension);
            if (distance >= m->distance[i]) continue;
            m->distance[i] = distance;
            m->group[i] = g;
        }
    }
}

/* The vector that is farthest from all means; -1 where all vectors are means. */
static int32_t farthest(const members *m) {
    int32_t found = -1;
    for (int32_t i = 0; i < m->count; ++i)
        if (m->distance[i] > 1e-6f && (found < 0 || m->distance[i] > m->distance[found])) found = i;
    return found;
}

/* Divides a region's vectors into groups. Returns how many there are. */
static int32_t divide(const members *m, float *means, float *spreads) {
    int32_t groups = 1;
    memset(m->group, 0, (size_t)m->count * sizeof *m->group);
    find_means(m, 1, means, spreads);
    assign(m, 1, means);
    for (; groups < TVLM_GUIDE_GROUPS; ++groups) {
        const int32_t next = farthest(m);
        if (next < 0) break;
        memcpy(means + (size_t)groups * m->dimension, member(m, next), m->dimension * sizeof *means);
        assign(m, groups + 1, means);
    }
    for (int i = 0; groups > 1 && i < ITERATIONS; ++i) {
        find_means(m, groups, means, spreads);
        assign(m, groups, means);
    }
    return groups;
}

/* Divides the vectors of each region. A region that no cell of the features lies in gets the vector of the
 * cell that holds its centroid. */
static void divide_all(tvlm_guide *guide, const tvlm_features *features, const int32_t *labels, members *m,
                       int32_t *cells) {
    const int32_t all = features->texture->width * features->texture->height;
    m->cells = cells;
    for (int32_t r = 0; r < guide->regions; ++r) {
        const size_t first = (size_t)r * TVLM_GUIDE_GROUPS;
        m->count = 0;
        for (int32_t i = 0; i < all; ++i)
            if (labels[i] == r) cells[m->count++] = i;
        if (m->count == 0)
            cells[m->count++] = tvlm_vectors_cell(features->texture, guide->table[r].x, guide->table[r].y);
        guide->groups[r] = divide(m, guide->means + first * m->dimension, guide->spreads + first);
    }
}

tvlm_status tvlm_guide_means(tvlm_stack *stack, const tvlm_features *features, const int32_t *labels,
                             tvlm_guide *guide) {
    const size_t cells = (size_t)features->texture->width * (size_t)features->texture->height;
    const size_t dimension = (size_t)features->dimension, regions = (size_t)guide->regions;
    float *const vectors = tvlm_allocate(cells, dimension * sizeof *vectors);
    float *const numbers = tvlm_allocate(cells, sizeof *numbers);
    int32_t *const lists = tvlm_allocate(cells, 2 * sizeof *lists);
    members m = {.vectors = vectors, .dimension = dimension, .distance = numbers, .group = lists};
    free(guide->groups);
    free(guide->means);
    free(guide->spreads);
    guide->groups = tvlm_allocate(regions, sizeof *guide->groups);
    guide->means = tvlm_allocate(regions, TVLM_GUIDE_GROUPS * dimension * sizeof *guide->means);
    guide->spreads = tvlm_allocate(regions, TVLM_GUIDE_GROUPS * sizeof *guide->spreads);
    const bool made = vectors != NULL && numbers != NULL && lists != NULL && guide->groups != NULL &&
                      guide->means != NULL && guide->spreads != NULL;
    tvlm_status status = made ? TVLM_OK
                              : tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY,
                                          "no memory for the means of %d regions", (int)guide->regions);
    if (status == TVLM_OK) status = tvlm_vectors_read(stack, features, vectors, numbers);
    if (status == TVLM_OK) divide_all(guide, features, labels, &m, lists + cells);
    guide->dimension = status == TVLM_OK ? features->dimension : 0;
    free(vectors);
    free(numbers);
    free(lists);
    return status;
}
