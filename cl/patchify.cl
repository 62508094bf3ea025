/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchify.cl: makes rows of numbers from frames of RGB bytes, in the order in which the encoder of a
 * vision-language model takes them (Qwen2-VL and its successors).
 *
 * A token is MERGE x MERGE patches of PATCH x PATCH pixels in TEMPORAL frames. A row of the result is one
 * patch of a token, in all its frames and colours:
 *
 *     row     ((t * blocks_y + by) * blocks_x + bx) * MERGE^2 + my * MERGE + mx
 *     column  ((c * TEMPORAL + tt) * PATCH + py) * PATCH + px
 *     holds   values[c * 256 + byte], byte being colour c of frame t * TEMPORAL + tt at
 *             y = (by * MERGE + my) * PATCH + py, x = (bx * MERGE + mx) * PATCH + px
 *
 * The host scales and normalises the 256 values of each colour in advance, so that the numbers are those of
 * the model's own processor to the bit. The last frame repeats where a token has more frames than are left.
 */
#include "constants.h"
#include "helper.clh"

// check-kernels: -DWHOLE_LINES=1
#ifndef PATCH
#define PATCH    14
#define TEMPORAL 2
#define MERGE    2
#endif
/* With 1 a work-item makes all numbers of one colour of a row (CPUs), with 0 it makes one number (GPUs). */
#ifndef WHOLE_LINES
#define WHOLE_LINES 0
#endif

#define COLUMNS (3 * TEMPORAL * PATCH * PATCH)

/* Where in a frame the first byte of a row's patch lies. *frame becomes the first frame of its token.
 * `blocks` is how many tokens lie beside and below each other. The first rows are those of the listed
 * tokens. */
HELPER ulong patch_begin(int row, global const int *tokens, int listed, int4 size, int2 blocks, int *frame) {
    const int place = row / (MERGE * MERGE), inner = row % (MERGE * MERGE);
    const int token = place < listed ? tokens[place] : place - listed;
    const int bx = token % blocks.x, by = token / blocks.x % blocks.y;
    const int x = (bx * MERGE + inner % MERGE) * PATCH, y = (by * MERGE + inner / MERGE) * PATCH;
    *frame = token / (blocks.x * blocks.y) * TEMPORAL;
    return ((ulong)y * size.x + x) * 3;
}

/*
 * size = (width, height, frames, rows of both results). `chosen` gets the rows of the `listed` tokens that
 * `tokens` names, in that order, and `result` those of the first tokens. Work-item (column or colour, row)
 * makes a number or a line. In its row number, the rows of `chosen` come before those of `result`.
 */
kernel void patchify(global const uchar *restrict pixels, const int4 size, const int2 blocks,
                     global const float *restrict values, global const int *restrict tokens, const int listed,
                     global float *chosen, global float *result) {
    const int column = get_global_id(0), row = get_global_id(1);
    const ulong frame_bytes = (ulong)size.x * size.y * 3;
    const int first = listed * MERGE * MERGE;
    global float *const line =
        row < first ? chosen + (ulong)row * COLUMNS : result + (ulong)(row - first) * COLUMNS;
    int frame;
#if WHOLE_LINES
    const int channel = column;
    if (channel >= 3 || row >= size.w) return;
    const ulong begin = patch_begin(row, tokens, listed, size, blocks, &frame) + channel;
    global const float *value = values + channel * 256;
    global float *restrict to = line + channel * (COLUMNS / 3);
    for (int tt = 0; tt < TEMPORAL; ++tt)
        for (int py = 0; py < PATCH; ++py) {
            global const uchar *from =
                pixels + min(frame + tt, size.z - 1) * frame_bytes + begin + (ulong)py * size.x * 3;
            for (int px = 0; px < PATCH; ++px) to[(tt * PATCH + py) * PATCH + px] = value[from[3 * px]];
        }
#else
    if (column >= COLUMNS || row >= size.w) return;
    const ulong begin = patch_begin(row, tokens, listed, size, blocks, &frame);
    const int px = column % PATCH, py = column / PATCH % PATCH;
    const int tt = column / (PATCH * PATCH) % TEMPORAL, channel = column / (PATCH * PATCH * TEMPORAL);
    const ulong at =
        min(frame + tt, size.z - 1) * frame_bytes + begin + ((ulong)py * size.x + px) * 3 + channel;
    line[column] = values[channel * 256 + pixels[at]];
#endif
}
