/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula.h: the position channels, which are computed where they are read and have no texels.
 */
#ifndef TVLM_CORE_FORMULA_H
#define TVLM_CORE_FORMULA_H

#include "core/operands.h"

/* The value of the channel that a reference to TVLM_BUNDLE_FORMULA names, at a point in pixels. The point is
 * clamped to the image. */
double tvlm_formula_at(const tvlm_bundle *bundle, int32_t ref, double x, double y);

#endif
