/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.h: the stage after the mask, for tests with masks that no picture makes.
 */
#ifndef TVLM_REFERENCE_DISTANCE_H
#define TVLM_REFERENCE_DISTANCE_H

#include "core/backend.h"

/* mask[height * width] of one image; `columns` is room for a row. */
void reference_distance_of_mask(const bool *mask, int32_t *columns, int32_t image, tvlm_texture *out);

#endif
