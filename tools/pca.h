/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pca.h: how good a basis is: what `tvlm pca validate` measures.
 */
#ifndef TVLM_TOOLS_PCA_H
#define TVLM_TOOLS_PCA_H

#include "canvas.h"
#include "questions.h"
#include "texturevlm/basis.h"

/* All in [0, 1]; NaN: not measured (no queries). */
typedef struct pca_figures {
    int32_t k;
    double variance;   /* share of the squares (of what is left of the mean) along the first k */
    double error;      /* mean over vectors of the length of what is lost, over the vector's own */
    double neighbours; /* of the ten vectors of the largest cosine, how many stay among the ten */
    double
        rank; /* of the vectors, by their cosines with a query: Spearman's correlation with the exact ranks */
    double top;     /* of the 64 first ones, how many stay among the 64 */
    double largest; /* share of the largest component in `variance`'s terms */
} pca_figures;

enum { PCA_TABLE_MAX = 5, PCA_NEIGHBOURS = 10, PCA_TOP = 64, PCA_PROBES = 1000, PCA_CANDIDATES = 4096 };

/* Measures the first figures[i].k components, for each of `count`. queries may be empty. False: no memory. */
bool pca_measure(const tvlm_basis *basis, const vector_file *features, const vector_file *queries,
                 pca_figures *figures, int count);

/* What is kept of the variance by the first 1 .. k components: curve[k]. */
bool pca_curve(const tvlm_basis *basis, const vector_file *features, double *curve);

/* The curve as a picture. False: no memory. */
bool pca_plot(const double *curve, int32_t k, const char *title, struct canvas *canvas);

#endif
