/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.c: turns channels into references, and collects the textures that a reader of several families gets.
 */
#include "stack/bundle.h"

#include "stack/grids.h"
#include "stack/inside.h"

/* Returns the number of a texture in the bundle. A texture that is not in the bundle yet is added. -1 means
 * that there is no room for it. */
static int32_t add_texture(const tvlm_stack *stack, tvlm_bundle *bundle, tvlm_texture *texture) {
    for (int32_t i = 0; i < bundle->count; ++i)
        if (bundle->textures[i] == texture) return i;
    if (bundle->count == stack->bundle_max) return -1;
    bundle->textures[bundle->count] = texture;
    return bundle->count++;
}

tvlm_bundle tvlm_stack_bundle_view(const tvlm_stack *stack) {
    return (tvlm_bundle){.width = (float)stack->width,
                         .height = (float)stack->height,
                         .fixation_x = stack->fixation_x,
                         .fixation_y = stack->fixation_y,
                         .farthest = stack->farthest,
                         .rope = stack->rope};
}

tvlm_bundle tvlm_stack_image_view(const tvlm_stack *stack, int32_t index) {
    tvlm_bundle view = tvlm_stack_bundle_view(stack);
    if (stack->views == NULL) return view;
    const tvlm_view *const own = &stack->views[index];
    view.width = own->width;
    view.height = own->height;
    view.fixation_x = own->fixation_x;
    view.fixation_y = own->fixation_y;
    view.farthest = own->farthest;
    return view;
}

int32_t tvlm_stack_bundle_limit(const tvlm_stack *stack) {
    return stack->bundle_max;
}

void tvlm_stack_bundle(const tvlm_stack *stack, int32_t index, const int32_t *channels, int32_t count,
                       tvlm_bundle *bundle, int32_t *refs, int32_t *taken) {
    const tvlm_chunk *chunk = &stack->chunks[index / stack->chunk_images];
    int32_t i = 0;
    *bundle = tvlm_stack_bundle_view(stack);
    if (stack->views != NULL) {
        bundle->views = stack->views + chunk->first;
        bundle->view_count = chunk->images;
    }
    for (; i < count; ++i) {
        const tvlm_channel_place place = tvlm_stack_place(stack, channels[i]);
        refs[i] = TVLM_REF_ZERO;
        if (place.grid == TVLM_GRID_FORMULA) {
            refs[i] = TVLM_REF(TVLM_BUNDLE_FORMULA, place.layer, place.component);
        } else if (place.grid < TVLM_GRID_COUNT && (chunk->valid & TVLM_GRID_BIT(place.grid)) != 0) {
            const int32_t texture = add_texture(stack, bundle, chunk->grids[place.grid]);
            if (texture < 0) break;
            refs[i] = TVLM_REF(texture, place.layer, place.component);
            if (!tvlm_grid_is_unit(place.grid)) continue;
            refs[i] += TVLM_REF_UNIT(bundle->textures[texture]->layers);
            bundle->unit = true;
        }
    }
    *taken = i;
}
