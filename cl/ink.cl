/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.cl: the colours of an image's source in bytes, as they are seen at a quarter of its size.
 */
#include "texture.clh"

/* Writes TVLM_INK_BYTES bytes of each of grid.x x grid.y texels of the level, from byte `offset` on. Work-item (column,
 * row) makes one texel. */
kernel void ink(TEXTURE_IN(source), const int image, const int2 grid, const ulong offset,
                global uchar *restrict colours) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= grid.x || row >= grid.y) return;
    const int level = min(TVLM_INK_LEVEL, LEVEL_COUNT(source_size) - 1), slice = image * source_size.z;
    const int4 place = level_place_(TEXTURE(source), slice, level);
    const float4 texel = texel_inside_(TEXTURE(source), place, slice, level, column, row);
    const float4 colour = clamp((float4)(texel.xyz, 0.0f), 0.0f, 1.0f);
    vstore4(convert_uchar4(floor(colour * 255.0f + 0.5f)), 0,
            colours + offset + ((size_t)row * grid.x + column) * TVLM_INK_BYTES);
}
