/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.cl: the least and the largest colour in each block of an image's source, as it is seen at a quarter of its size.
 */
#include "texture.clh"

/* The texels of a level, `side` of them over `size` pixels, that the pixels from `begin` to `end` touch: the first, and
 * the one after the last. */
HELPER int2 ink_texels(int size, int side, int begin, int end) {
    return (int2)((int)((long)begin * side / size), (int)(((long)end * side + size - 1) / size));
}

/* Writes TVLM_INK_BYTES bytes of each of grid.x x grid.y blocks, from byte `offset` on. Work-item (column, row) makes
 * one block. */
kernel void ink(TEXTURE_IN(source), const int image, const int2 grid, const ulong offset,
                global uchar *restrict blocks) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= grid.x || row >= grid.y) return;
    const int level = min(TVLM_INK_LEVEL, LEVEL_COUNT(source_size) - 1), slice = image * source_size.z;
    const int4 place = level_place_(TEXTURE(source), slice, level);
    const int left = column * TVLM_INK_BLOCK, top = row * TVLM_INK_BLOCK;
    const int2 across = ink_texels(source_size.x, place.x, left, min(left + TVLM_INK_BLOCK, source_size.x));
    const int2 down = ink_texels(source_size.y, place.y, top, min(top + TVLM_INK_BLOCK, source_size.y));
    float4 least = 1.0f, largest = 0.0f;
    for (int y = down.x; y < down.y; ++y)
        for (int x = across.x; x < across.y; ++x) {
            const float4 texel = texel_inside_(TEXTURE(source), place, slice, level, x, y);
            least = min(least, texel);
            largest = max(largest, texel);
        }
    const float8 range = clamp((float8)(least.xyz, 0.0f, largest.xyz, 0.0f), 0.0f, 1.0f);
    vstore8(convert_uchar8(floor(range * 255.0f + 0.5f)), 0,
            blocks + offset + ((size_t)row * grid.x + column) * TVLM_INK_BYTES);
}
