/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.cl: the colours of an image at a quarter of its size, which is level TVLM_INK_LEVEL of its source, in
 * bytes. A further byte says how much finer detail each texel hides (the operation `ink` of
 * lib/core/operations.h). Blank cells of a thumbnail are found by these bytes (lib/select/budget_blank.h). A
 * work-item makes one texel.
 */
#include "texture.clh"

/* The texels of a level beneath texel i of the next level, along one side: the first, and the one after the
 * last. The side has `from` texels in the level, and `to` in the next one. */
HELPER int2 texels_under(const int i, const int from, const int to) {
    return (int2)((int)((long)i * from / to), (int)(((long)(i + 1) * from + to - 1) / to));
}

/* Writes TVLM_INK_BYTES bytes of each of grid.x x grid.y texels of the level, from byte `offset` on: r, g, b,
 * and the largest range of r, g or b among the texels beneath it of the level before. If there is no level
 * before, the last byte is 0. Work-item (column, row) makes one texel. */
kernel void ink(TEXTURE_IN(source), const int image, const int2 grid, const ulong offset,
                global uchar *restrict colours) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= grid.x || row >= grid.y) return;
    const int level = min(TVLM_INK_LEVEL, LEVEL_COUNT(source_size) - 1), slice = image * source_size.z;
    const int4 place = level_place_(TEXTURE(source), slice, level);
    const float4 texel = texel_inside_(TEXTURE(source), place, slice, level, column, row);
    float4 least = 1.0f, largest = 0.0f;
    if (level > 0) {
        const int4 finer = level_place_(TEXTURE(source), slice, level - 1);
        const int2 across = texels_under(column, finer.x, place.x),
                   down = texels_under(row, finer.y, place.y);
        for (int y = down.x; y < down.y; ++y)
            for (int x = across.x; x < across.y; ++x) {
                const float4 under =
                    clamp(texel_inside_(TEXTURE(source), finer, slice, level - 1, x, y), 0.0f, 1.0f);
                least = min(least, under);
                largest = max(largest, under);
            }
    }
    const float4 range = max(largest - least, 0.0f);
    const float4 colour = (float4)(clamp(texel.xyz, 0.0f, 1.0f), max(max(range.x, range.y), range.z));
    vstore4(convert_uchar4(floor(colour * 255.0f + 0.5f)), 0,
            colours + offset + ((size_t)row * grid.x + column) * TVLM_INK_BYTES);
}
