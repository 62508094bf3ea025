/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c: merges the encoder's tokens along the squares of a selection. It finds which tokens each position
 * stands for. It reads these tokens from the highest levels whose texels hold no other tokens, and averages
 * the texels.
 */
#include "texturevlm/lab/merge.h"

#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "select/selection.h"
#include "stack/features.h"
#include "stack/stack.h"

/* How many texels are read at once. */
enum { TEXELS = 1024 };

/* The tokens whose centres lie in a position's square: columns left .. right - 1, rows top .. bottom - 1. */
typedef struct square {
    int32_t left, top, right, bottom;
    double area;
    int32_t position;
} square;

/* A merge that is being computed. */
typedef struct merging {
    tvlm_stack *stack;
    const tvlm_selection *selection;
    struct tvlm_merge_params given;
    int32_t columns, rows, dimension;
    float extent_x, extent_y;
    int32_t levels;  /* the number of levels that can be read: their texels are means of whole tokens */
    float bias;      /* the level of the image at which the tokens stand */
    square *squares; /* [count] */
    int32_t *owners; /* [rows * columns]: each token's position, or -1; NULL: squares have all their tokens */
    int32_t *channels; /* [dimension] */
    double *sums;      /* [count * dimension] */
    /* The texels that are read next. For each: its place, its position, and how many tokens it stands for. */
    tvlm_sample_point points[TEXELS];
    int32_t positions[TEXELS], counts[TEXELS], texels;
    float *samples; /* [TEXELS * dimension] */
} merging;

/* ---- Squares ---- */

/* Squares of these strategies begin at multiples of their side, and may be clipped by the right and lower
 * border. */
static bool is_aligned(tvlm_strategy strategy) {
    return strategy != TVLM_STRATEGY_FOVEATED && strategy != TVLM_STRATEGY_EXHAUSTIVE;
}

/* Returns the first of the `side` tokens along a side whose centre is not before x. The unit of x is a token.
 * Differences by rounding alone do not count. */
static int32_t first_from(double x, int32_t side) {
    const double first = ceil(round(x * 4096.0) / 4096.0 - 0.5);
    return first < 0.0 ? 0 : first > side ? side : (int32_t)first;
}

static int32_t token_at(double x, int32_t side) {
    return x < 0.0 ? 0 : x >= side ? side - 1 : (int32_t)x;
}

/* Finds the tokens whose centres lie from `begin` to `end`, where the unit is a token. If there is none, it
 * takes the token in the middle. */
static void take_span(double begin, double end, int32_t side, int32_t *first, int32_t *last) {
    *first = first_from(begin, side);
    *last = first_from(end, side);
    if (*first >= *last) {
        *first = token_at(0.5 * (begin + end), side);
        *last = *first + 1;
    }
}

/* The rectangle that a position stands for, in pixels of the working image. */
typedef struct span {
    double left, top, right, bottom;
} span;

/* The rectangle of a cell in a grid of columns x rows over the image. */
static span span_of_cell(const merging *m, int32_t column, int32_t row, int32_t columns, int32_t rows) {
    const double width = (double)tvlm_stack_width(m->stack) / columns;
    const double height = (double)tvlm_stack_height(m->stack) / rows;
    return (span){column * width, row * height, (column + 1) * width, (row + 1) * height};
}

static span span_of(const merging *m, int32_t i) {
    const tvlm_selection_info *const info = &m->selection->info;
    const tvlm_position *const p = &m->selection->positions[i];
    const tvlm_scale scale = tvlm_scale_of(m->stack, m->given.index);
    if (i < info->overview_columns * info->overview_rows)
        return span_of_cell(m, i % info->overview_columns, i / info->overview_columns, info->overview_columns,
                            info->overview_rows);
    if (i < info->thumbnail_cells) /* empty cells have no position, so the middle says which cell it is */
        return span_of_cell(m, (int32_t)(p->x * (float)info->thumbnail_columns / (float)info->width),
                            (int32_t)(p->y * (float)info->thumbnail_rows / (float)info->height),
                            info->thumbnail_columns, info->thumbnail_rows);
    const double x = (double)p->x / scale.x, y = (double)p->y / scale.y, side = (double)p->size / scale.size;
    const bool aligned = is_aligned(info->strategy);
    const double left = aligned ? side * floor(x / side) : x - 0.5 * side;
    const double top = aligned ? side * floor(y / side) : y - 0.5 * side;
    return (span){left, top, left + side, top + side};
}

static void find_squares(merging *m) {
    for (int32_t i = 0; i < m->selection->count; ++i) {
        const span s = span_of(m, i);
        const double across = m->columns / (double)m->extent_x, down = m->rows / (double)m->extent_y;
        square *const q = &m->squares[i];
        *q = (square){.area = (s.right - s.left) * (s.bottom - s.top), .position = i};
        take_span(s.left * across, s.right * across, m->columns, &q->left, &q->right);
        take_span(s.top * down, s.bottom * down, m->rows, &q->top, &q->bottom);
    }
}

/* Puts larger squares first, and of equally large ones the later position. Areas that differ by rounding
 * alone count as equal. */
static int compare(const void *a, const void *b) {
    const square *const p = *(const square *const *)a, *const q = *(const square *const *)b;
    const double differ = p->area - q->area;
    if (fabs(differ) > 1e-6 * q->area) return differ > 0.0 ? -1 : 1;
    return p->position > q->position ? -1 : 1;
}

/* Gives each token to the smallest square that it lies in. */
static tvlm_status find_owners(merging *m) {
    const int32_t count = m->selection->count;
    const square **const order = tvlm_allocate((size_t)count, sizeof *order);
    if (order == NULL)
        return tvlm_fail(tvlm_stack_log(m->stack), TVLM_ERROR_MEMORY, "no memory for %d squares", (int)count);
    for (int32_t i = 0; i < count; ++i) order[i] = &m->squares[i];
    qsort(order, (size_t)count, sizeof *order, compare);
    for (int32_t i = 0; i < m->columns * m->rows; ++i) m->owners[i] = -1;
    for (int32_t i = 0; i < count; ++i)
        for (int32_t row = order[i]->top; row < order[i]->bottom; ++row)
            for (int32_t column = order[i]->left; column < order[i]->right; ++column)
                m->owners[row * m->columns + column] = order[i]->position;
    free(order);
    return TVLM_OK;
}

/* ---- Reading ---- */

/* Reads the texels that wait, and adds them to the sums. */
static tvlm_status flush(merging *m) {
    if (m->texels == 0) return TVLM_OK;
    TVLM_TRY(tvlm_stack_sample(m->stack, m->points, m->texels, m->channels, m->dimension, m->samples));
    for (int32_t n = 0; n < m->texels; ++n) {
        double *const sum = m->sums + (size_t)m->positions[n] * (size_t)m->dimension;
        const float *const sample = m->samples + (size_t)n * (size_t)m->dimension;
        for (int32_t i = 0; i < m->dimension; ++i) sum[i] += m->counts[n] * (double)sample[i];
    }
    m->texels = 0;
    return TVLM_OK;
}

/* Adds a texel of a level to a position. */
static tvlm_status take_texel(merging *m, int32_t position, int32_t level, int32_t column, int32_t row,
                              tvlm_merged_token *merged) {
    const int32_t side = 1 << level, count = side * side;
    if (m->texels == TEXELS) TVLM_TRY(flush(m));
    m->points[m->texels] =
        (tvlm_sample_point){.x = ((float)column + 0.5f) * (float)side * m->extent_x / (float)m->columns,
                            .y = ((float)row + 0.5f) * (float)side * m->extent_y / (float)m->rows,
                            .level = m->bias + (float)level,
                            .index = m->given.index};
    m->positions[m->texels] = position;
    m->counts[m->texels++] = count;
    merged->x += (float)count * ((float)(column * side) + 0.5f * (float)(side - 1));
    merged->y += (float)count * ((float)(row * side) + 0.5f * (float)(side - 1));
    merged->count += count;
    ++merged->texels;
    return TVLM_OK;
}

/* How many tokens of a texel a position stands for. */
static int32_t tokens_in(const merging *m, const square *q, int32_t level, int32_t column, int32_t row) {
    const int32_t x = column << level, y = row << level, side = 1 << level;
    int32_t count = 0;
    for (int32_t v = y > q->top ? y : q->top; v < y + side && v < q->bottom; ++v)
        for (int32_t u = x > q->left ? x : q->left; u < x + side && u < q->right; ++u)
            count += m->owners == NULL || m->owners[v * m->columns + u] == q->position;
    return count;
}

/* Takes a texel if the position stands for all its tokens. If it stands for some of them, looks at the four
 * texels of the level below. */
static tvlm_status descend(merging *m, const square *q, int32_t level, int32_t column, int32_t row,
                           tvlm_merged_token *merged) {
    const int32_t count = tokens_in(m, q, level, column, row);
    if (count == 0) return TVLM_OK;
    if (count == 1 << (2 * level)) return take_texel(m, q->position, level, column, row, merged);
    for (int32_t n = 0; n < 4; ++n)
        TVLM_TRY(descend(m, q, level - 1, 2 * column + n % 2, 2 * row + n / 2, merged));
    return TVLM_OK;
}

static tvlm_status merge_position(merging *m, const square *q, tvlm_merged_token *merged) {
    const int32_t top = m->levels - 1;
    *merged = (tvlm_merged_token){0};
    for (int32_t row = q->top >> top; row << top < q->bottom; ++row)
        for (int32_t column = q->left >> top; column << top < q->right; ++column)
            TVLM_TRY(descend(m, q, top, column, row, merged));
    if (merged->count == 0) {
        merged->x = 0.5f * (float)(q->left + q->right - 1);
        merged->y = 0.5f * (float)(q->top + q->bottom - 1);
    } else {
        merged->x /= (float)merged->count;
        merged->y /= (float)merged->count;
    }
    return TVLM_OK;
}

/* ---- A whole merge ---- */

static tvlm_status start(merging *m, const tvlm_features *features) {
    const tvlm_texture *const texture = features->texture;
    const size_t count = (size_t)m->selection->count;
    m->columns = texture->width;
    m->rows = texture->height;
    m->dimension = features->dimension;
    m->extent_x = texture->extent_x;
    m->extent_y = texture->extent_y;
    const float across = log2f(m->extent_x / (float)m->columns), down = log2f(m->extent_y / (float)m->rows);
    m->bias = fmaxf(0.0f, fmaxf(across, down));
    const float most = (float)(tvlm_stack_levels(m->stack) - 1) - m->bias;
    m->levels = 1;
    /* The stack may have levels that are not means of tokens. Then every token is read by itself. */
    const bool means = tvlm_stack_features_are_means(m->stack);
    while (means && m->columns % (1 << m->levels) == 0 && m->rows % (1 << m->levels) == 0 &&
           (float)m->levels <= most)
        ++m->levels;
    m->squares = tvlm_allocate(count, sizeof *m->squares);
    m->channels = tvlm_allocate((size_t)m->dimension, sizeof *m->channels);
    m->sums = tvlm_allocate(count, (size_t)m->dimension * sizeof *m->sums);
    m->samples = tvlm_allocate(TEXELS, (size_t)m->dimension * sizeof *m->samples);
    if (!m->given.whole) m->owners = tvlm_allocate((size_t)m->columns * (size_t)m->rows, sizeof *m->owners);
    if (m->squares == NULL || m->channels == NULL || m->sums == NULL || m->samples == NULL ||
        (!m->given.whole && m->owners == NULL))
        return tvlm_fail(tvlm_stack_log(m->stack), TVLM_ERROR_MEMORY, "no memory to merge %d x %d tokens",
                         (int)m->columns, (int)m->rows);
    for (int32_t i = 0; i < m->dimension; ++i) m->channels[i] = TVLM_CHANNEL_FEATURE_0 + i;
    return TVLM_OK;
}

static tvlm_status merge(merging *m, float *tokens, tvlm_merged_token *merged) {
    find_squares(m);
    if (m->owners != NULL) TVLM_TRY(find_owners(m));
    for (int32_t i = 0; i < m->selection->count; ++i) TVLM_TRY(merge_position(m, &m->squares[i], &merged[i]));
    TVLM_TRY(flush(m));
    for (int32_t i = 0; i < m->selection->count; ++i)
        for (int32_t c = 0; c < m->dimension; ++c, ++tokens) {
            const double sum = m->sums[(size_t)i * (size_t)m->dimension + (size_t)c];
            *tokens = merged[i].count > 0 ? (float)(sum / merged[i].count) : 0.0f;
        }
    return TVLM_OK;
}

static tvlm_status check(tvlm_stack *stack, const tvlm_selection *selection, int32_t index, size_t capacity,
                         tvlm_features *features) {
    const tvlm_log *const log = tvlm_stack_log(stack);
    TVLM_TRY(tvlm_stack_features(stack, index, features));
    const tvlm_original original = tvlm_stack_original(stack, index);
    if (selection->info.width != original.width || selection->info.height != original.height)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a selection of %d x %d pixels of an image of %d x %d",
                         (int)selection->info.width, (int)selection->info.height, (int)original.width,
                         (int)original.height);
    if (capacity / (size_t)features->dimension < (size_t)selection->count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "room for %zu numbers; there are %d x %d", capacity,
                         (int)selection->count, (int)features->dimension);
    return TVLM_OK;
}

tvlm_status tvlm_merge_tokens(tvlm_stack *stack, const tvlm_selection *selection,
                              const struct tvlm_merge_params *params, size_t capacity, float *tokens,
                              tvlm_merged_token *merged) {
    static const struct tvlm_merge_params defaults = {0};
    tvlm_features features;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    const tvlm_log *const log = tvlm_stack_log(stack);
    TVLM_NEED(log, selection);
    TVLM_NEED(log, tokens);
    TVLM_NEED(log, merged);
    TVLM_CHECK_RESERVED(log, tvlm_merge_params, params);
    if (params == NULL) params = &defaults;
    TVLM_TRY(check(stack, selection, params->index, capacity, &features));
    merging *const m = tvlm_allocate(1, sizeof *m);
    if (m == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to merge tokens");
    m->stack = stack;
    m->selection = selection;
    m->given = *params;
    tvlm_status status = start(m, &features);
    if (status == TVLM_OK) status = merge(m, tokens, merged);
    free(m->squares);
    free(m->owners);
    free(m->channels);
    free(m->sums);
    free(m->samples);
    free(m);
    return status;
}
