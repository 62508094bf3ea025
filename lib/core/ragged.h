/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ragged.h: ragged textures (struct tvlm_texture), image by image. Each image has the shape that it would have alone. Where
 * texels lie in plain memory, images lie one behind the other, each with all its levels as one alone has them.
 */
#ifndef TVLM_CORE_RAGGED_H
#define TVLM_CORE_RAGGED_H

#include "core/operands.h"

/* The shape of one image of a ragged texture as if it were alone. */
tvlm_texture tvlm_texture_image(const tvlm_texture *texture, int32_t image);

/* How many texels the images before this one have in all layers and levels; of image `images`, how many there are. False
 * where the number is larger than a size_t. */
bool tvlm_texture_before(const tvlm_texture *texture, int32_t image, size_t *texels);

#endif
