/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pca.h: measures how good a basis is, for `tvlm-lab pca validate`.
 */
#ifndef TVLM_TOOLS_PCA_H
#define TVLM_TOOLS_PCA_H

#include "questions.h"
#include "texturevlm/features.h"

/* How good the first k components of a basis are. All figures are in [0, 1]. NaN: not measured, since there
 * are no queries. */
typedef struct pca_figures {
    int32_t k;
    double variance;   /* the share of the variance that lies along the components */
    double error;      /* the mean length of the part of a vector that is lost, relative to the vector */
    double neighbours; /* the share of the ten vectors of the largest cosines that stay among the ten */
    double rank;       /* Spearman's correlation of the vectors' ranks by their cosines with a query */
    double top;        /* the share of the 64 vectors of the best ranks that stay among the 64 */
    double largest;    /* the share of the variance that lies along the first component, the largest one */
} pca_figures;

enum { PCA_TABLE_MAX = 5, PCA_NEIGHBOURS = 10, PCA_TOP = 64, PCA_PROBES = 1000, PCA_CANDIDATES = 4096 };

/* Measures the first figures[i].k components for each of `count` figures. `queries` may be empty. Returns
 * false if there is no memory. */
bool pca_measure(const tvlm_basis *basis, const vector_file *features, const vector_file *queries,
                 pca_figures *figures, int count);

/* Computes the share of the variance that the first 1 .. k components keep: curve[k]. Returns false if there
 * is no memory. */
bool pca_curve(const tvlm_basis *basis, const vector_file *features, double *curve);

enum { PCA_PLOT_WIDTH = 800, PCA_PLOT_HEIGHT = 500 };

/* Draws the curve: rgb[PCA_PLOT_HEIGHT][PCA_PLOT_WIDTH][3]. Returns false if there is no memory. */
bool pca_plot(const double *curve, int32_t k, const char *title, uint8_t *rgb);

#endif
