/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchify.cl: frames of RGB bytes -> rows of numbers in the order of a vision-language model's encoder.
 *
 * Row ((t * blocks_y + by) * blocks_x + bx) * MERGE^2 + my * MERGE + mx, column ((c * TEMPORAL + tt) * PATCH
 * + py) * PATCH + px holds the byte of frame t * TEMPORAL + tt, channel c, at ((by * MERGE + my) * PATCH +
 * py, (bx * MERGE + mx) * PATCH + px), as values[c * 256 + byte]: scaled and normalised on the host, so that
 * the numbers are the processor's own to the bit.
 */
#include "constants.h"

// check-kernels: -DWHOLE_LINES=1
#ifndef PATCH
#define PATCH    14
#define TEMPORAL 2
#define MERGE    2
#endif
/* 1: a work-item makes one channel of a row (CPUs). 0: one number (GPUs). */
#ifndef WHOLE_LINES
#define WHOLE_LINES 0
#endif

#define COLUMNS (3 * TEMPORAL * PATCH * PATCH)

/* Byte (0, 0), red, of a row's patch in frame 0 of its token; *frame is that frame. */
inline ulong patch_begin(int row, global const int *tokens, int listed, int4 size, int2 blocks, int *frame) {
    const int place = row / (MERGE * MERGE), inner = row % (MERGE * MERGE);
    const int token = listed ? tokens[place] : place;
    const int bx = token % blocks.x, by = token / blocks.x % blocks.y;
    const int x = (bx * MERGE + inner % MERGE) * PATCH, y = (by * MERGE + inner / MERGE) * PATCH;
    *frame = token / (blocks.x * blocks.y) * TEMPORAL;
    return ((ulong)y * size.x + x) * 3;
}

/* size: width, height, frames, rows */
kernel void patchify(global const uchar *restrict pixels, const int4 size, const int2 blocks,
                     global const float *restrict values, global const int *restrict tokens, const int listed,
                     global float *restrict result) {
    const int column = get_global_id(0), row = get_global_id(1);
    const ulong frame_bytes = (ulong)size.x * size.y * 3;
    int frame;
#if WHOLE_LINES
    const int channel = column;
    if (channel >= 3 || row >= size.w) return;
    const ulong begin = patch_begin(row, tokens, listed, size, blocks, &frame) + channel;
    global const float *value = values + channel * 256;
    global float *to = result + (ulong)row * COLUMNS + channel * (COLUMNS / 3);
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
    result[(ulong)row * COLUMNS + column] = values[channel * 256 + pixels[at]];
#endif
}
