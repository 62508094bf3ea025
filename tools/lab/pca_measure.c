/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pca.h"
#include "texturevlm/draw.h"

/* ---- Vectors in full and compressed ---- */

typedef struct measure {
    struct tvlm_basis_params basis;
    const float *vectors;
    int32_t count, dimension;
    float *coordinates; /* [count * basis.k] */
    double *squares;    /* [count]: the squared length of each vector less the mean */
    double *lengths;    /* [count]: the length of each vector */
} measure;

static bool prepare(const tvlm_basis *basis, const vector_file *features, measure *m) {
    *m = (measure){.vectors = features->values, .count = features->count, .dimension = features->dimension};
    (void)tvlm_basis_get_params(basis, &m->basis);
    m->coordinates = malloc((size_t)m->count * (size_t)m->basis.k * sizeof *m->coordinates);
    m->squares = malloc((size_t)m->count * sizeof *m->squares);
    m->lengths = malloc((size_t)m->count * sizeof *m->lengths);
    if (m->coordinates == NULL || m->squares == NULL || m->lengths == NULL) return false;
    tvlm_basis_project(basis, m->vectors, m->count, m->coordinates);
    for (int32_t n = 0; n < m->count; ++n) {
        const float *v = m->vectors + (size_t)n * (size_t)m->dimension;
        double squares = 0.0, all = 0.0;
        for (int32_t d = 0; d < m->dimension; ++d) {
            const double rest = (double)v[d] - (double)m->basis.mean[d];
            squares += rest * rest;
            all += (double)v[d] * (double)v[d];
        }
        m->squares[n] = squares;
        m->lengths[n] = sqrt(all);
    }
    return true;
}

static void release(measure *m) {
    free(m->coordinates);
    free(m->squares);
    free(m->lengths);
}

static const float *coordinates_of(const measure *m, int32_t n) {
    return m->coordinates + (size_t)n * (size_t)m->basis.k;
}

static double product(const float *a, const float *b, int32_t n) {
    float sums[8] = {0}; /* several sums, so that compilers can make vector code */
    int32_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
    double sum = 0.0;
    for (; i < n; ++i) sum += (double)a[i] * (double)b[i];
    for (int j = 0; j < 8; ++j) sum += (double)sums[j];
    return sum;
}

/* ---- Variance and error ---- */

bool pca_curve(const tvlm_basis *basis, const vector_file *features, double *curve) {
    measure m;
    double total = 0.0;
    const bool good = prepare(basis, features, &m);
    memset(curve, 0, (size_t)m.basis.k * sizeof *curve);
    for (int32_t n = 0; good && n < m.count; ++n) {
        const float *c = coordinates_of(&m, n);
        for (int32_t i = 0; i < m.basis.k; ++i) curve[i] += (double)c[i] * (double)c[i];
        total += m.squares[n];
    }
    for (int32_t i = 0; i < m.basis.k; ++i)
        curve[i] = (i > 0 ? curve[i - 1] : 0.0) + (total > 0.0 ? curve[i] / total : 0.0);
    release(&m);
    return good;
}

static void measure_loss(const measure *m, pca_figures *f) {
    double kept = 0.0, total = 0.0, first = 0.0, error = 0.0;
    for (int32_t n = 0; n < m->count; ++n) {
        const float *c = coordinates_of(m, n);
        const double along = product(c, c, f->k), lost = fmax(0.0, m->squares[n] - along);
        kept += along;
        total += m->squares[n];
        first += (double)c[0] * (double)c[0];
        if (m->lengths[n] > 0.0) error += sqrt(lost) / m->lengths[n];
    }
    f->variance = total > 0.0 ? kept / total : 0.0;
    f->largest = total > 0.0 ? first / total : 0.0;
    f->error = error / (double)m->count;
}

/* ---- Neighbours ---- */

typedef struct entry {
    double value;
    int32_t index;
} entry;

static int larger_first(const void *left, const void *right) {
    const entry *a = left, *b = right;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Finds the `most` largest of `count` values, in order and without value number `skip`. Returns how many it
 * found. It is made for a small `most`. */
static int32_t best(const double *values, int32_t count, int32_t skip, int32_t most, entry *out) {
    int32_t held = 0;
    for (int32_t i = 0; i < count; ++i) {
        const entry now = {values[i], i};
        if (i == skip || (held == most && larger_first(&now, &out[most - 1]) > 0)) continue;
        int32_t at = held < most ? held++ : most - 1;
        for (; at > 0 && larger_first(&now, &out[at - 1]) < 0; --at) out[at] = out[at - 1];
        out[at] = now;
    }
    return held;
}

static int32_t in_common(const entry *a, const entry *b, int32_t count) {
    int32_t common = 0;
    for (int32_t i = 0; i < count; ++i)
        for (int32_t j = 0; j < count; ++j) common += a[i].index == b[j].index;
    return common;
}

static double over(double value, double length) {
    return length > 0.0 ? value / length : 0.0;
}

/* Returns the i-th of `most` numbers that are evenly spread over `count`. */
static int32_t spread(int32_t i, int32_t most, int32_t count) {
    return count <= most ? i : (int32_t)((int64_t)i * count / most);
}

/* Compares two kinds of neighbours: those by the cosines of the vectors, and those by the cosines of the
 * vectors' coordinates, which an embedding holds. */
static bool measure_neighbours(const measure *m, pca_figures *figures, int tables) {
    const int32_t probes = m->count < PCA_PROBES ? m->count : PCA_PROBES;
    const int32_t candidates = m->count < PCA_CANDIDATES ? m->count : PCA_CANDIDATES;
    const int32_t wanted = candidates - 1 < PCA_NEIGHBOURS ? candidates - 1 : PCA_NEIGHBOURS;
    double *values = malloc((size_t)candidates * sizeof *values);
    entry full[PCA_NEIGHBOURS], compressed[PCA_NEIGHBOURS];
    for (int t = 0; t < tables; ++t) figures[t].neighbours = wanted > 0 ? 0.0 : 1.0;
    for (int32_t p = 0; values != NULL && wanted > 0 && p < probes; ++p) {
        const int32_t place = spread(p, probes, candidates), probe = spread(place, candidates, m->count);
        const float *v = m->vectors + (size_t)probe * (size_t)m->dimension, *c = coordinates_of(m, probe);
        for (int32_t i = 0; i < candidates; ++i) {
            const int32_t n = spread(i, candidates, m->count);
            values[i] =
                over(product(v, m->vectors + (size_t)n * (size_t)m->dimension, m->dimension), m->lengths[n]);
        }
        best(values, candidates, place, wanted, full);
        for (int t = 0; t < tables; ++t) {
            for (int32_t i = 0; i < candidates; ++i) {
                const float *other = coordinates_of(m, spread(i, candidates, m->count));
                values[i] = over(product(c, other, figures[t].k), sqrt(product(other, other, figures[t].k)));
            }
            best(values, candidates, place, wanted, compressed);
            figures[t].neighbours += (double)in_common(full, compressed, wanted) / wanted / probes;
        }
    }
    free(values);
    return values != NULL;
}

/* ---- Relevance ---- */

/* Ranks values, the largest first. Equal values share the mean of their ranks. */
static void ranks(entry *entries, int32_t count, double *out) {
    qsort(entries, (size_t)count, sizeof *entries, larger_first);
    for (int32_t i = 0, j; i < count; i = j) {
        for (j = i; j < count && !(entries[j].value < entries[i].value); ++j) continue;
        for (int32_t n = i; n < j; ++n) out[entries[n].index] = 0.5 * (double)(i + j - 1);
    }
}

static double correlation(const double *a, const double *b, int32_t count) {
    const double mean = 0.5 * (double)(count - 1);
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (int32_t i = 0; i < count; ++i) {
        ab += (a[i] - mean) * (b[i] - mean);
        aa += (a[i] - mean) * (a[i] - mean);
        bb += (b[i] - mean) * (b[i] - mean);
    }
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : aa == bb ? 1.0 : 0.0;
}

typedef struct ranking {
    entry *exact, *close;
    double *exact_ranks, *close_ranks;
} ranking;

static bool ask(const measure *m, const float *query, ranking *r, pca_figures *figures, int tables,
                int32_t queries) {
    const int32_t top = m->count < PCA_TOP ? m->count : PCA_TOP, k = m->basis.k;
    float *along = malloc((size_t)k * sizeof *along);
    if (along == NULL) return false;
    for (int32_t i = 0; i < k; ++i)
        along[i] =
            (float)product(m->basis.components + (size_t)i * (size_t)m->dimension, query, m->dimension);
    for (int32_t n = 0; n < m->count; ++n)
        r->exact[n] = (entry){
            over(product(query, m->vectors + (size_t)n * (size_t)m->dimension, m->dimension), m->lengths[n]),
            n};
    ranks(r->exact, m->count, r->exact_ranks);
    for (int t = 0; t < tables; ++t) {
        for (int32_t n = 0; n < m->count; ++n)
            r->close[n] =
                (entry){over(product(along, coordinates_of(m, n), figures[t].k), sqrt(m->squares[n])), n};
        ranks(r->close, m->count, r->close_ranks);
        figures[t].rank += correlation(r->exact_ranks, r->close_ranks, m->count) / queries;
        figures[t].top += (double)in_common(r->exact, r->close, top) / top / queries;
    }
    free(along);
    return true;
}

static bool measure_relevance(const measure *m, const vector_file *queries, pca_figures *figures,
                              int tables) {
    const size_t count = (size_t)m->count;
    ranking r = {malloc(count * sizeof *r.exact), malloc(count * sizeof *r.close),
                 malloc(count * sizeof(double)), malloc(count * sizeof(double))};
    bool good = r.exact != NULL && r.close != NULL && r.exact_ranks != NULL && r.close_ranks != NULL;
    for (int t = 0; t < tables; ++t) figures[t].rank = figures[t].top = queries->path != NULL ? 0.0 : NAN;
    for (int32_t q = 0; good && q < queries->count; ++q)
        good =
            ask(m, queries->values + (size_t)q * (size_t)m->dimension, &r, figures, tables, queries->count);
    free(r.exact);
    free(r.close);
    free(r.exact_ranks);
    free(r.close_ranks);
    return good;
}

bool pca_measure(const tvlm_basis *basis, const vector_file *features, const vector_file *queries,
                 pca_figures *figures, int count) {
    measure m;
    bool good = prepare(basis, features, &m);
    for (int i = 0; good && i < count; ++i) measure_loss(&m, &figures[i]);
    good = good && measure_neighbours(&m, figures, count) && measure_relevance(&m, queries, figures, count);
    release(&m);
    return good;
}

/* ---- The plot ---- */

/* The pixels x0 <= x < x1, y0 <= y < y1. */
typedef struct plot_rect {
    int32_t x0, y0, x1, y1;
} plot_rect;

/* The colours and the place of the plot. */
static const uint8_t plot_ink[3] = {30, 30, 30}, plot_paper[3] = {255, 255, 255},
                     plot_pale[3] = {215, 215, 215}, plot_bar[3] = {68, 114, 196};
static const plot_rect plot_area = {70, 50, 770, 450};

static void plot_fill(uint8_t *rgb, plot_rect area, const uint8_t colour[3]) {
    for (int32_t y = area.y0; y < area.y1; ++y)
        for (int32_t x = area.x0; x < area.x1; ++x) memcpy(rgb + 3 * (y * PCA_PLOT_WIDTH + x), colour, 3);
}

static void plot_frame(uint8_t *rgb, plot_rect area, const uint8_t colour[3]) {
    plot_fill(rgb, (plot_rect){area.x0, area.y0, area.x1, area.y0 + 1}, colour);
    plot_fill(rgb, (plot_rect){area.x0, area.y1 - 1, area.x1, area.y1}, colour);
    plot_fill(rgb, (plot_rect){area.x0, area.y0, area.x0 + 1, area.y1}, colour);
    plot_fill(rgb, (plot_rect){area.x1 - 1, area.y0, area.x1, area.y1}, colour);
}

static int32_t text_width(const char *text) {
    int32_t width = 0;
    (void)tvlm_draw_text(text, NULL, NULL, 0, 0, NULL, &width);
    return width;
}

static bool plot_text(uint8_t *rgb, int32_t x, int32_t y, int32_t scale, const char *text) {
    const struct tvlm_draw_text_params params = {
        .x = x, .y = y, .scale = scale, .red = plot_ink[0], .green = plot_ink[1], .blue = plot_ink[2]};
    return tvlm_draw_text(text, &params, NULL, PCA_PLOT_WIDTH, PCA_PLOT_HEIGHT, rgb, NULL) == TVLM_OK;
}

static int32_t bar_left(int32_t i, int32_t k) {
    return plot_area.x0 + (int32_t)((int64_t)(plot_area.x1 - plot_area.x0) * i / k);
}

static int32_t bar_top(double kept) {
    return plot_area.y1 - (int32_t)lround((plot_area.y1 - plot_area.y0) * fmin(1.0, kept));
}

/* Writes the number of bar i below it, and its value above it. The value must stay inside the frame, since
 * the line of the frame would turn an 8 into a 3. It must also lie above all bars over which it reaches; bars
 * grow to the right. */
static bool label_bar(const double *curve, int32_t i, int32_t k, uint8_t *rgb) {
    const int32_t middle = (bar_left(i, k) + bar_left(i + 1, k)) / 2, across = plot_area.x1 - plot_area.x0;
    char text[64];
    snprintf(text, sizeof text, "%d", (int)i + 1);
    if (!plot_text(rgb, middle - text_width(text) / 2, plot_area.y1 + 8, 1, text)) return false;
    snprintf(text, sizeof text, "%.1f", 100.0 * curve[i]);
    const int32_t width = text_width(text);
    int32_t x = middle - width / 2;
    if (x > plot_area.x1 - 3 - width) x = plot_area.x1 - 3 - width;
    if (x < plot_area.x0 + 3) x = plot_area.x0 + 3;
    const int32_t last = (int32_t)((int64_t)(x + width - plot_area.x0) * k / across);
    return plot_text(rgb, x, bar_top(curve[last < k ? last : k - 1]) - 12, 1, text);
}

bool pca_plot(const double *curve, int32_t k, const char *title, uint8_t *rgb) {
    const plot_rect area = plot_area;
    char text[64];
    plot_fill(rgb, (plot_rect){0, 0, PCA_PLOT_WIDTH, PCA_PLOT_HEIGHT}, plot_paper);
    bool drawn = plot_text(rgb, area.x0, 14, 2, title);
    for (int i = 0; i <= 10; i += 2) {
        const int32_t y = area.y1 - (area.y1 - area.y0) * i / 10;
        plot_fill(rgb, (plot_rect){area.x0, y, area.x1, y + 1}, plot_pale);
        snprintf(text, sizeof text, "%d %%", 10 * i);
        drawn = drawn && plot_text(rgb, area.x0 - 8 - text_width(text), y - 4, 1, text);
    }
    for (int32_t i = 0; i < k; ++i) {
        const int32_t x0 = bar_left(i, k), x1 = bar_left(i + 1, k);
        plot_fill(rgb, (plot_rect){x0, bar_top(curve[i]), x1 - (x1 - x0 > 3), area.y1}, plot_bar);
    }
    drawn = drawn && label_bar(curve, 0, k, rgb);
    if (k > 2) drawn = drawn && label_bar(curve, k / 2, k, rgb);
    if (k > 1) drawn = drawn && label_bar(curve, k - 1, k, rgb);
    plot_frame(rgb, area, plot_ink);
    return drawn && plot_text(rgb, (area.x0 + area.x1) / 2 - 40, area.y1 + 26, 1, "components");
}
