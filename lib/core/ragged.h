/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ragged.h: ragged textures (struct tvlm_texture), image by image. Each image has the shape that it would
 * have alone. In plain memory images lie one behind the other, and each has all its levels as an image that
 * is alone has them.
 *
 * This is not of the lab: stacks of images of several sizes (tvlm_stack_params.sizes) are of the core, and share
 * the registry, the textures and the levels with all other stacks.
 */
#ifndef TVLM_CORE_RAGGED_H
#define TVLM_CORE_RAGGED_H

#include "core/operands.h"

/* The shape of one image of a ragged texture as if it were alone. */
tvlm_texture tvlm_texture_image(const tvlm_texture *texture, int32_t image);

/* Finds how many texels the images before `image` have in all layers and levels. With `image` = images, that
 * is how many texels there are in all. Returns false where the number does not fit a size_t. */
bool tvlm_texture_before(const tvlm_texture *texture, int32_t image, size_t *texels);

#endif
