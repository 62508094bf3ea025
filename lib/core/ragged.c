/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ragged.h"

#include "core/backend.h"
#include "core/memory.h"

tvlm_texture tvlm_texture_image(const tvlm_texture *texture, int32_t image) {
    const tvlm_texture_part *const part = &texture->parts[image];
    tvlm_texture alone = *texture;
    alone.width = part->width;
    alone.height = part->height;
    alone.extent_x = part->extent_x;
    alone.extent_y = part->extent_y;
    alone.levels = texture->levels > 1 ? tvlm_level_count(part->width, part->height) : 1;
    alone.images = 1;
    alone.bytes = 0;
    alone.parts = NULL;
    return alone;
}

bool tvlm_texture_before(const tvlm_texture *texture, int32_t image, size_t *texels) {
    *texels = 0;
    for (int32_t i = 0; i < image; ++i) {
        const tvlm_texture alone = tvlm_texture_image(texture, i);
        for (int32_t level = 0; level < alone.levels; ++level) {
            size_t count;
            if (!tvlm_multiply((size_t)tvlm_level_side(alone.width, level),
                               (size_t)tvlm_level_side(alone.height, level), &count) ||
                !tvlm_multiply(count, (size_t)alone.layers, &count) || count > SIZE_MAX - *texels)
                return false;
            *texels += count;
        }
    }
    return true;
}
