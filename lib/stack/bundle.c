/*
 * Channels to references: the textures that a reader of several families gets.
 */
#include "stack/stack.h"

#include <string.h>

/* The texture's number in the bundle, added when it is new; -1 when there is no room for it. */
static int32_t add_texture(const tvlm_stack *stack, tvlm_bundle *bundle, tvlm_texture *texture) {
    for (int32_t i = 0; i < bundle->count; ++i)
        if (bundle->textures[i] == texture) return i;
    if (bundle->count == stack->bundle_max) return -1;
    bundle->textures[bundle->count] = texture;
    return bundle->count++;
}

void tvlm_stack_bundle(const tvlm_stack *stack, const tvlm_chunk *chunk, const int32_t *channels,
                       int32_t count, tvlm_bundle *bundle, int32_t *refs, int32_t *taken) {
    int32_t i = 0;
    memset(bundle, 0, sizeof *bundle);
    bundle->width = (float)stack->width;
    bundle->height = (float)stack->height;
    bundle->fixation_x = stack->fixation_x;
    bundle->fixation_y = stack->fixation_y;
    bundle->farthest = stack->farthest;
    for (; i < count; ++i) {
        const tvlm_channel_place place = tvlm_channel_get_place(channels[i]);
        refs[i] = TVLM_REF_ZERO;
        if (place.grid == TVLM_GRID_FORMULA) {
            refs[i] = TVLM_REF(TVLM_BUNDLE_FORMULA, 0, place.component);
        } else if (place.grid < TVLM_GRID_COUNT && (chunk->valid >> place.grid & 1u) != 0) {
            const int32_t texture = add_texture(stack, bundle, chunk->grids[place.grid]);
            if (texture < 0) break;
            refs[i] = TVLM_REF(texture, place.layer, place.component);
        }
    }
    *taken = i;
}
