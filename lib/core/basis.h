/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/basis.h: a basis as an object on the host (texturevlm/basis.h). lib/embed makes bases; questions that
 * have one (stack/query.c) read it.
 */
#ifndef TVLM_CORE_BASIS_H
#define TVLM_CORE_BASIS_H

#include "core/backend.h"
#include "texturevlm/basis.h"

/* The pointers of `params` are into `numbers`, which holds the mean, the components and the variance. */
struct tvlm_basis {
    struct tvlm_basis_params params;
    char method[48];
    float numbers[];
};

#endif
