/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.cl: copies one component of a texture into a texture of its own.
 */
#include "texture.clh"

/* Copies level 0 of one slice, to the bit, into component 0 of the result, which has the same size. The other
 * components become 0. Work-item (x, y) copies one texel. */
kernel void pick(TEXTURE_IN(from), const int slice, const int component, TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= result_size.x || y >= result_size.y) return;
    const float4 texel = texel_fetch(from, x, y, slice, 0);
    const float value = component == 0   ? texel.x
                        : component == 1 ? texel.y
                        : component == 2 ? texel.z
                                         : texel.w;
    texel_store(result, x, y, 0, (float4)(value, 0.0f, 0.0f, 0.0f));
}
