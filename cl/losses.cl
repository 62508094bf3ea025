/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.cl: pictures of an image, and what each of them loses of every tile's luma (lib/core/budget.h).
 *
 * A picture is a level of the source, reduced to the picture's size and enlarged again by Lanczos' filter.
 * Its two losses of a tile are the squared error, and how much of the tile's detail cannot be read:
 *
 *     pixels * m / (m + SEEN) * (S((legible - c) / SOFT) - S((legible - 1) / SOFT)),  S(x) = 1 / (1 + e^-x)
 *
 * where m is the mean variance of the image over windows of 2 x 2 blocks of the tile, and c the correlation
 * of detail over them (correlate, below). lib/core/operations.h defines both losses, lib/core/constants.h the
 * constants.
 *
 *   1. losses_luma copies luma out of the source, level after level, so that everything else reads plain
 *      floats.
 *   2. losses_tiles finds what is known of each tile, whatever the picture.
 *   3. losses_filter reduces all pictures along columns, then along rows, and then enlarges them along rows.
 *      All three passes are one kernel, since each kernel takes a CPU a tenth of a second to compile.
 *   4. losses_compare enlarges all pictures along columns, a row of a tile at a time. It compares that with
 *      the image at once, so that nothing as large as the image is written.
 *
 * What lies between these steps is several times as large as the image. So the host may take them for one
 * strip of the image's rows after the other (lib/opencl/losses_strips.h). To all kernels but the first a strip
 * is an image of its own. Pictures say which of their rows it needs.
 *
 * A filter along one axis works on many lines at once, so the values of these lines at one place must lie
 * beside each other. Therefore the results between the passes lie column after column, except those that the
 * last kernel reads.
 *
 * The host compiles for SIDE, the side of a tile in pixels, and for RUN, how many values beside each other a
 * work-item makes: 32 on CPUs, in two vectors of 16, and 1 on GPUs. Long functions that only CPUs run are
 * APART (helper.clh).
 */
#include "texture.clh"

// check-kernels: -DSIDE=16 -DRUN=32
// check-kernels: -DSIDE=14 -DRUN=32
// check-kernels: -DSIDE=28 -DRUN=1
#ifndef SIDE
#define SIDE 16
#define RUN  1
#endif

#define ROW     14 /* of a picture: tvlm_budget_picture.row (lib/core/budget.h) */
#define COUNT   (TVLM_BUDGET_BLOCKS * TVLM_BUDGET_BLOCKS)
#define STARTS  (TVLM_BUDGET_BLOCKS - TVLM_BUDGET_WINDOW + 1)
#define EDGE(b) TVLM_BUDGET_EDGE(b, SIDE)

/* The first row of a level that a strip of the image needs, and where they end: the rows that lie where the strip lies, and
 * `margin` more on either side. The strip is (its first row, where it ends, margin, 0). */
HELPER int2 level_rows(int height, int level, int4 strip) {
    return (int2)(max((strip.x >> level) - strip.z, 0),
                  min(((strip.y - 1) >> level) + 1 + strip.z, level_side(height, level)));
}

/* Where a level of the copied luma begins. */
HELPER int luma_offset(int width, int height, int level, int4 strip) {
    int offset = 0;
    SHORT_LOOP
    for (int n = 0; n < level; ++n) {
        const int2 rows = level_rows(height, n, strip);
        offset += TVLM_BUDGET_LINE(level_side(width, n)) * (rows.y - rows.x);
    }
    return offset;
}

/* Copies luma of the first `levels` levels, to float `begin` and on. Work-item (n, y) copies RUN texels of a row;
 * y counts the rows of all levels. */
kernel void losses_luma(TEXTURE_IN(source), const int slice, const int levels, const int4 strip,
                        const ulong begin, global float *restrict all) {
    global float *luma = all + begin;
    const int x = get_global_id(0) * RUN;
    int y = get_global_id(1), level = 0, offset = 0;
    int2 rows = level_rows(source_size.y, 0, strip);
    SHORT_LOOP
    while (level < levels && y >= rows.y - rows.x) {
        offset += TVLM_BUDGET_LINE(level_side(source_size.x, level)) * (rows.y - rows.x);
        y -= rows.y - rows.x;
        rows = level_rows(source_size.y, ++level, strip);
    }
    if (level >= levels) return;
    const int4 place = level_place_(TEXTURE(source), slice, level);
    global float *to = luma + offset + y * TVLM_BUDGET_LINE(place.x);
    y += rows.x;
    int i = x;
#if RUN > 1
    for (; i + 16 <= min(x + RUN, place.x); i += 16)
        vstore16(texels_w_16_(TEXTURE(source), place, slice, level, i, y), 0, to + i);
#endif
    SHORT_LOOP
    for (; i < min(x + RUN, place.x); ++i)
        to[i] = texel_inside_(TEXTURE(source), place, slice, level, i, y).w;
}

/* ---- Pictures ---- */

/* The entry of the table for place o of an axis, whose offset and taps stand at `axis` of a picture. */
HELPER global const float *entry_of(global const float *table, global const int *axis, int o) {
    return table + axis[0] + o * (axis[1] + TVLM_BUDGET_HEAD);
}

/* A product and a sum, rounded once where that is no slower. */
#if defined(FP_FAST_FMAF) || defined(__FMA__)
#define ADDED(a, b, sum) fma(a, b, sum)
#else
#define ADDED(a, b, sum) ((sum) + (a) * (b))
#endif

/* The sum over the entry's places n of weight * from[(n - first) * stride]: the places before `first` are not in memory. */
INLINED float filter(global const float *entry, global const float *from, const int stride, const int first) {
    const int count = (int)entry[1];
    global const float *value = from + ((int)entry[0] - first) * stride;
    float sum = 0.0f;
    for (int n = 0; n < count; ++n, value += stride) sum = ADDED(entry[TVLM_BUDGET_HEAD + n], *value, sum);
    return sum;
}

/* One pass over a picture. A work-item makes RUN values of each of GROUP outputs. Lines have room for whole
 * vectors of 16. Numbers behind the last value or output have no meaning. */
typedef struct filtered {
    global const float *table, *from; /* the first value of the first line */
    global const int *axis;
    global float *to;
    int values, outputs, value, output; /* how many there are, and where the work-item begins */
    int first;                          /* the first place that `from` has */
} filtered;

/*
 * Where results are to lie along the other axis, a work-item makes GROUP outputs. It writes value i of all
 * these outputs together, for each i. Writing values one by one to places that lie far apart takes far
 * longer.
 */
#if RUN > 1
#define GROUP 16

/* How many weights Lanczos' filter has where a picture is enlarged. */
#define TAPS 6

/* The same sum as `filter`, for 16 values beside each other. */
INLINED float16 filter_16(global const float *entry, global const float *from, const int stride,
                          const int first) {
    const int count = (int)entry[1];
    global const float *line = from + ((int)entry[0] - first) * stride, *weight = entry + TVLM_BUDGET_HEAD;
    float16 sums = 0.0f, others = 0.0f;
    int n = 0;
    for (; n + TAPS <= count; n += TAPS, weight += TAPS, line += TAPS * stride) {
        sums = ADDED((float16)(weight[0]), vload16(0, line), sums);
        others = ADDED((float16)(weight[1]), vload16(0, line + stride), others);
        sums = ADDED((float16)(weight[2]), vload16(0, line + 2 * stride), sums);
        others = ADDED((float16)(weight[3]), vload16(0, line + 3 * stride), others);
        sums = ADDED((float16)(weight[4]), vload16(0, line + 4 * stride), sums);
        others = ADDED((float16)(weight[5]), vload16(0, line + 5 * stride), others);
    }
    for (; n < count; ++n, line += stride) sums = ADDED((float16)(*weight++), vload16(0, line), sums);
    return sums + others;
}

/* The same sums for RUN values beside each other, which share the weights. Values behind the end of a line
 * are not used. */
APART void filter_run(global const float *entry, global const float *from, const int stride, const int first,
                      float16 *left, float16 *right) {
    const int count = (int)entry[1];
    global const float *line = from + ((int)entry[0] - first) * stride;
    float16 a = 0.0f, b = 0.0f;
    for (int n = 0; n < count; ++n, line += stride) {
        const float16 weight = entry[TVLM_BUDGET_HEAD + n];
        a = ADDED(weight, vload16(0, line), a);
        b = ADDED(weight, vload16(1, line), b);
    }
    *left = a;
    *right = b;
}

/* Turns rows into columns, in four steps. In each step, a row of the first half and a row of the second half
 * become two rows, in which their components alternate. */
APART void transpose(float16 *v) {
    float16 t[16];
#define BETWEEN(from, to)                                                                                    \
    for (int i = 0; i < 8; ++i) {                                                                            \
        const float16 a = from[i], b = from[i + 8];                                                          \
        to[2 * i] = (float16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6,  \
                              b.s6, a.s7, b.s7);                                                             \
        to[2 * i + 1] = (float16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd,    \
                                  a.se, b.se, a.sf, b.sf);                                                   \
    }
    BETWEEN(v, t)
    BETWEEN(t, v)
    BETWEEN(v, t)
    BETWEEN(t, v)
#undef BETWEEN
}

/* Makes the work-item's values of its outputs. With `across`, a line of the result has one value of all
 * outputs: value i of output g goes to place g of line i. Otherwise it goes to place i of line g, clamped to
 * [0, 1]. */
INLINED void filter_lines(const filtered *f, const bool across) {
    const int last = f->outputs - 1, line = TVLM_BUDGET_LINE(f->values), over = TVLM_BUDGET_LINE(f->outputs);
    float16 v[RUN / 16][GROUP];
    for (int g = 0; g < GROUP; ++g)
        filter_run(entry_of(f->table, f->axis, min(f->output + g, last)), f->from + f->value, line, f->first,
                   &v[0][g], &v[1][g]);
    for (int piece = 0; piece < RUN / 16; ++piece) {
        const int value = f->value + piece * 16;
        const int left = min(across ? f->values - value : f->outputs - f->output, 16);
        global float *to = f->to + (across ? value * over + f->output : f->output * line + value);
        if (across) transpose(v[piece]);
        if (value >= f->values) break;
        for (int i = 0; i < left; ++i)
            vstore16(across ? v[piece][i] : clamp(v[piece][i], (float16)(0.0f), (float16)(1.0f)), 0,
                     to + i * (across ? over : line));
    }
}
#else
#define GROUP 1

INLINED void filter_lines(const filtered *f, const bool across) {
    const int line = TVLM_BUDGET_LINE(f->values), over = TVLM_BUDGET_LINE(f->outputs);
    const float value = filter(entry_of(f->table, f->axis, f->output), f->from + f->value, line, f->first);
    if (across)
        f->to[f->value * over + f->output] = value;
    else
        f->to[f->output * line + f->value] = clamp(value, 0.0f, 1.0f);
}
#endif

/*
 * One pass over all pictures: 0 reduces the columns of levels, 1 the rows of that, and 2 enlarges the rows of
 * pictures to the width of the image. Pass 1 keeps the direction of lines, and the other two exchange rows
 * and columns. Work-item (n, m) makes RUN values of GROUP outputs.
 */
kernel void losses_filter(global const int *restrict pictures, global const float *restrict table,
                          global const float *restrict from, const int width, const int height,
                          const int4 strip, const int pass, global float *restrict to) {
    global const int *picture = pictures + get_global_id(2) * TVLM_BUDGET_PICTURE;
    const int level = picture[TVLM_BUDGET_FROM], high = picture[TVLM_BUDGET_HEIGHT];
    filtered f = {table,
                  from + picture[pass == 1 ? TVLM_BUDGET_BETWEEN : TVLM_BUDGET_TEXELS],
                  picture + (pass == 1 ? TVLM_BUDGET_REDUCE_X : TVLM_BUDGET_ENLARGE_X),
                  to + picture[pass == 1 ? TVLM_BUDGET_TEXELS : TVLM_BUDGET_BETWEEN],
                  high,
                  pass == 1 ? picture[TVLM_BUDGET_WIDTH] : width,
                  (int)get_global_id(0) * RUN,
                  (int)get_global_id(1) * GROUP,
                  0};
    if (pass == 0) {
        f.from = from + luma_offset(width, height, level, strip);
        f.first = level_rows(height, level, strip).x;
        f.axis = picture + TVLM_BUDGET_REDUCE_Y;
        f.values = level_side(width, level);
        f.outputs = high;
    }
    if (f.value < f.values && f.output < f.outputs) filter_lines(&f, pass != 1);
}

/* ---- Losses ---- */

/*
 * What is known of a tile, whatever the picture. Each window of 2 x 2 blocks belongs to the block at which it
 * begins, one of COUNT blocks. The floats are, in this order:
 * - the mean of luma in each window, less the luma of the tile's first pixel;
 * - the variance of luma in each window;
 * - 1 over the number of each window's pixels in the image;
 * - the luma of the tile's first pixel, the mean of the variances, and how many windows there are.
 * The first three are 0 at blocks where there is no window.
 */
#define KNOWN       TVLM_BUDGET_KNOWN
#define OF_FIRST    (3 * COUNT)
#define OF_VARIANCE (3 * COUNT + 1)
#define OF_WINDOWS  (3 * COUNT + 2)

/* The part of count x count blocks that lies in the image: its first pixel, and where it ends. The first of
 * the blocks is block b of the tile that begins at x, y. */
HELPER int4 blocks_at(const int b, const int count, const int x, const int y, const int width,
                      const int height) {
    const int i = b % TVLM_BUDGET_BLOCKS, j = b / TVLM_BUDGET_BLOCKS;
    return min((int4)(x + EDGE(i), y + EDGE(j), x + EDGE(i + count), y + EDGE(j + count)),
               (int4)(width, height, width, height));
}

/* Replaces sums over blocks by what is known of windows. No sum is read after it was overwritten. */
HELPER void find_windows(global float *known, const int x, const int y, const int width, const int height) {
    float sum = 0.0f, windows = 0.0f;
    for (int b = 0; b < COUNT; ++b) {
        const int4 at = blocks_at(b, TVLM_BUDGET_WINDOW, x, y, width, height);
        const bool inside = b % TVLM_BUDGET_BLOCKS < STARTS && b / TVLM_BUDGET_BLOCKS < STARTS;
        const int pixels = inside ? max(at.z - at.x, 0) * max(at.w - at.y, 0) : 0;
        float mean = 0.0f, variance = 0.0f;
        if (pixels > 0) {
            global const float *of = known + b, *squares = of + COUNT;
            mean = (of[0] + of[1] + of[TVLM_BUDGET_BLOCKS] + of[TVLM_BUDGET_BLOCKS + 1]) / (float)pixels;
            variance =
                (squares[0] + squares[1] + squares[TVLM_BUDGET_BLOCKS] + squares[TVLM_BUDGET_BLOCKS + 1]) /
                    (float)pixels -
                mean * mean;
            variance = max(variance, 0.0f);
            windows += 1.0f;
        }
        known[b] = mean;
        known[COUNT + b] = variance;
        known[2 * COUNT + b] = pixels > 0 ? 1.0f / (float)pixels : 0.0f;
        sum += variance;
    }
    known[OF_VARIANCE] = sum / windows;
    known[OF_WINDOWS] = windows;
}

/* The image at a place of `luma`, and what is known of one of its tiles. */
HELPER global const float *image_at(global const float *luma, const int width, const int height,
                                    const int place) {
    return luma + (ulong)place * TVLM_BUDGET_LINE(width) * height;
}
HELPER ulong known_at(const int columns, const int rows, const int place, const int column, const int row) {
    return (ulong)((place * rows + row) * columns + column) * KNOWN;
}

/* A value of each block of a tile, row after row. */
typedef float16 blocks;

/* Sums over the pixels of each block. Let p be the image and q the picture, each less any number that is near to it there, for
 * the sake of precision. The sums are those of q, of q^2 and of p q. `error` is the squared error of all
 * pixels. */
typedef struct sums {
    blocks y, yy, xy;
    float error;
} sums;

/* What is compared: the image, and the picture, which is still to be enlarged along its columns by `table`
 * and `axis`. left, top, right and bottom are the part of the image that is compared, and `first` is the luma of the
 * tile's first pixel. */
typedef struct band {
    global const float *image, *picture, *table;
    global const int *axis;
    int line, left, top, right, bottom; /* `line`: how far apart rows lie */
    int row;                            /* the first row of the picture that is in memory */
    float first;
} band;

#if RUN > 1
/* How many vectors hold the columns of a tile. Columns beyond the tile are read, and not used. */
#define PIECES ((SIDE + 15) / 16)
#define ACROSS (PIECES * 16)

/* For each column of a tile, sums over the rows of each row of blocks, and the error of all rows. */
typedef struct column_sums {
    float y[TVLM_BUDGET_BLOCKS][ACROSS], yy[TVLM_BUDGET_BLOCKS][ACROSS], xy[TVLM_BUDGET_BLOCKS][ACROSS];
    float error[ACROSS];
} column_sums;

/* The rows of row j of blocks. */
HELPER int2 rows_of(const band *a, const int j) {
    return min((int2)(a->top + EDGE(j), a->top + EDGE(j + 1)), (int2)(a->bottom));
}

/* Nothing at places beyond the right end of what is compared. */
HELPER float16 inside(const band *a, const int piece, const float16 v) {
    const int16 lane = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return lane + piece * 16 < a->right - a->left ? v : 0.0f;
}

/* Enlarges the picture, and adds up its columns. `tile` becomes the picture: [row][ACROSS]. Returns its first pixel, which is
 * what the sums of q are less. */
APART float add_columns(const band *a, column_sums *s, float *tile) {
    float first = 0.0f;
    for (int piece = 0; piece < PIECES; ++piece) {
        float *to = tile + piece * 16;
        for (int j = 0; j < TVLM_BUDGET_BLOCKS; ++j) {
            const int2 rows = rows_of(a, j);
            float16 sum_y = 0.0f, sum_yy = 0.0f;
            for (int row = rows.x; row < rows.y; ++row, to += ACROSS) {
                const float16 enlarged = filter_16(entry_of(a->table, a->axis, row),
                                                   a->picture + a->left + piece * 16, a->line, a->row);
                const float16 value = clamp(enlarged, (float16)(0.0f), (float16)(1.0f));
                if (to == tile) first = value.s0;
                const float16 q = value - first;
                vstore16(value, 0, to);
                sum_y += q;
                sum_yy = ADDED(q, q, sum_yy);
            }
            vstore16(inside(a, piece, sum_y), piece, s->y[j]);
            vstore16(inside(a, piece, sum_yy), piece, s->yy[j]);
        }
    }
    return first;
}

/* Adds up the columns of an image beside those of the picture in `tile`, whose first pixel is `first`. */
APART void add_image(const band *a, const float *tile, const float first, column_sums *s) {
    for (int piece = 0; piece < PIECES; ++piece) {
        float16 sum_error = 0.0f;
        const float *from = tile + piece * 16;
        for (int j = 0; j < TVLM_BUDGET_BLOCKS; ++j) {
            const int2 rows = rows_of(a, j);
            float16 sum_xy = 0.0f;
            for (int row = rows.x; row < rows.y; ++row, from += ACROSS) {
                const float16 value = vload16(0, from);
                const float16 image = vload16(0, a->image + row * a->line + a->left + piece * 16);
                const float16 away = image - value;
                sum_error = ADDED(away, away, sum_error);
                sum_xy = ADDED(image - a->first, value - first, sum_xy);
            }
            vstore16(inside(a, piece, sum_xy), piece, s->xy[j]);
        }
        vstore16(inside(a, piece, sum_error), piece, s->error);
    }
}

/* Makes the sums of blocks from those of their columns: columns[row of blocks][column]. */
INLINED blocks add_up(float columns[TVLM_BUDGET_BLOCKS][ACROSS]) {
#if SIDE == 16
    const float16 a = vload16(0, columns[0]), b = vload16(0, columns[1]), c = vload16(0, columns[2]),
                  d = vload16(0, columns[3]);
    return (blocks)(a.s048c, b.s048c, c.s048c, d.s048c) + (blocks)(a.s159d, b.s159d, c.s159d, d.s159d) +
           (blocks)(a.s26ae, b.s26ae, c.s26ae, d.s26ae) + (blocks)(a.s37bf, b.s37bf, c.s37bf, d.s37bf);
#else
    float made[COUNT];
    for (int b = 0; b < COUNT; ++b) {
        const int i = b % TVLM_BUDGET_BLOCKS;
        float sum = 0.0f;
        for (int x = EDGE(i); x < EDGE(i + 1); ++x) sum += columns[b / TVLM_BUDGET_BLOCKS][x];
        made[b] = sum;
    }
    return vload16(0, made);
#endif
}

HELPER float add_error(const column_sums *s) {
    float sum = 0.0f;
    for (int i = 0; i < SIDE; ++i) sum += s->error[i];
    return sum;
}
#else
/* Adds up a tile block by block, since a GPU's work-items have few registers. */
HELPER void add_each_block(const band *a, sums *s) {
    float y[COUNT], yy[COUNT], xy[COUNT], error = 0.0f;
#pragma unroll /* else these arrays would be in memory, for want of an index that is known */
    for (int b = 0; b < COUNT; ++b) {
        const int4 at = blocks_at(b, 1, a->left, a->top, a->right, a->bottom);
        float4 sum = 0.0f;
        for (int row = at.y; row < at.w; ++row) {
            global const float *entry = entry_of(a->table, a->axis, row);
            for (int i = at.x; i < at.z; ++i) {
                const float value = clamp(filter(entry, a->picture + i, a->line, a->row), 0.0f, 1.0f);
                const float image = a->image[row * a->line + i];
                const float p = image - a->first, q = value - a->first, away = image - value;
                sum += (float4)(q, q * q, p * q, away * away);
            }
        }
        y[b] = sum.x;
        yy[b] = sum.y;
        xy[b] = sum.z;
        error += sum.w;
    }
    *s = (sums){vload16(0, y), vload16(0, yy), vload16(0, xy), error};
}
#endif

/* ---- Tiles ---- */

/* The part of an image that a tile is. */
HELPER band tile_of(global const float *image, const int width, const int height, const int column,
                    const int row) {
    const int left = column * SIDE, top = row * SIDE;
    return (band){image,
                  0,
                  0,
                  0,
                  TVLM_BUDGET_LINE(width),
                  left,
                  top,
                  min(left + SIDE, width),
                  min(top + SIDE, height),
                  0,
                  image[top * TVLM_BUDGET_LINE(width) + left]};
}

/* Adds up luma and its square in each block of a tile, less a->first. */
#if RUN > 1
APART void add_luma(const band *a, global float *known) {
    column_sums s;
    for (int piece = 0; piece < PIECES; ++piece)
        for (int j = 0; j < TVLM_BUDGET_BLOCKS; ++j) {
            const int2 rows = rows_of(a, j);
            float16 sum = 0.0f, squares = 0.0f;
            for (int row = rows.x; row < rows.y; ++row) {
                const float16 value = vload16(0, a->image + row * a->line + a->left + piece * 16) - a->first;
                sum += value;
                squares = ADDED(value, value, squares);
            }
            vstore16(inside(a, piece, sum), piece, s.y[j]);
            vstore16(inside(a, piece, squares), piece, s.yy[j]);
        }
    vstore16(add_up(s.y), 0, known);
    vstore16(add_up(s.yy), 1, known);
}
#else
HELPER void add_luma(const band *a, global float *known) {
    for (int b = 0; b < COUNT; ++b) {
        const int4 at = blocks_at(b, 1, a->left, a->top, a->right, a->bottom);
        float sum = 0.0f, squares = 0.0f;
        for (int y = at.y; y < at.w; ++y)
            for (int x = at.x; x < at.z; ++x) {
                const float value = a->image[y * a->line + x] - a->first;
                sum += value;
                squares += value * value;
            }
        known[b] = sum;
        known[COUNT + b] = squares;
    }
}
#endif

/* Finds what is known of each tile of the image at a place; the first image is at float `begin`. What is known of the tiles of all
 * places lies in `luma` from float `tiles` on. Work-item (column, row) makes one tile. */
kernel void losses_tiles(global float *luma, const ulong begin, const int width, const int height,
                         const int columns, const int rows, const ulong tiles, const int place) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= rows) return;
    const band a = tile_of(image_at(luma + begin, width, height, place), width, height, column, row);
    global float *known = luma + tiles + known_at(columns, rows, place, column, row);
    add_luma(&a, known);
    known[OF_FIRST] = a.first;
    find_windows(known, a.left, a.top, width, height);
}

/* Writes luma, moved, from float `to` of another memory on: what is at the middle of pixel (x, y) was at `across` . (x, y, 1) along
 * rows and at `down` . (x, y, 1) along columns. Work-item (n, y) makes RUN pixels of a row. */
kernel void losses_move(global const float *restrict luma, const int width, const int height, const int place,
                        const float4 across, const float4 down, const ulong to, global float *restrict all) {
    global const float *from = image_at(luma, width, height, place);
    const int y = get_global_id(1), line = TVLM_BUDGET_LINE(width);
    if (y >= height) return;
    global float *moved = all + to + y * line;
    SHORT_LOOP
    for (int x = get_global_id(0) * RUN; x < min((int)(get_global_id(0) + 1) * RUN, width); ++x) {
        const float2 middle = (float2)(x + 0.5f, y + 0.5f), most = (float2)(width - 1, height - 1);
        const float2 at = (float2)(across.x * middle.x + across.y * middle.y + across.z,
                                   down.x * middle.x + down.y * middle.y + down.z) -
                          0.5f;
        const float2 inside = clamp(at, (float2)(0.0f), most), low = floor(inside), part = inside - low;
        const int2 a = convert_int2(low), b = min(a + 1, convert_int2(most));
        const float upper = mix(from[a.y * line + a.x], from[a.y * line + b.x], part.x);
        const float lower = mix(from[b.y * line + a.x], from[b.y * line + b.x], part.x);
        moved[x] = mix(upper, lower, part.y);
    }
}

/* ---- Comparing ---- */

/* Sums over the window of 2 x 2 blocks that begins at each block. At blocks of the last row and column these
 * sums have no meaning. */
HELPER blocks window_sums(const blocks v) {
    return v + v.s123456789abcdef0 + v.s456789abcdef0123 + v.s56789abcdef01234;
}

/*
 * The terms, one for each window, of the first sum of the correlation of detail:
 *
 *     c = sum of (v + F) (k + F) / sqrt((v + F) (v' + F)) over sum of v + F,  F = TVLM_BUDGET_FLOOR
 *
 * Here v and v' are the variances of the image and of the picture over a window, and k is their covariance.
 * `variance` is v. x, y, yy and xy are means over the window's pixels: of the image, of the picture, of its
 * square, and of the product of both.
 */
HELPER blocks correlate(const blocks x, const blocks variance, const blocks y, const blocks yy,
                        const blocks xy) {
    const blocks of_picture = max(yy - y * y, (blocks)(0.0f)), covariance = xy - x * y;
    return (covariance + TVLM_BUDGET_FLOOR) *
           sqrt((variance + TVLM_BUDGET_FLOOR) / (of_picture + TVLM_BUDGET_FLOOR));
}

/* How much of a tile's detail cannot be read, for each of its pixels. `least` is the curve's value at a
 * correlation of 1. It is subtracted, so that nothing is lost there. */
HELPER float illegible(global const float *known, const sums *s, const float legible, const float least) {
    const blocks shares = vload16(2, known);
    const blocks found = correlate(vload16(0, known), vload16(1, known), window_sums(s->y) * shares,
                                   window_sums(s->yy) * shares, window_sums(s->xy) * shares);
    const blocks counted = shares > 0.0f ? found : 0.0f;
    const float8 eight = counted.lo + counted.hi;
    const float4 four = eight.lo + eight.hi;
    const float mean = known[OF_VARIANCE];
    const float correlation =
        (four.x + four.y + four.z + four.w) / (known[OF_WINDOWS] * (mean + TVLM_BUDGET_FLOOR));
    const float lost = 1.0f / (1.0f + exp((correlation - legible) / TVLM_BUDGET_SOFT)) - least;
    return max(lost, 0.0f) * mean / (mean + TVLM_BUDGET_SEEN);
}

/* Puts a picture of the plan beside the image. */
HELPER void place_picture(band *a, global const int *picture, global const float *table,
                          global const float *between) {
    a->picture = between + picture[TVLM_BUDGET_BETWEEN];
    a->table = table;
    a->axis = picture + TVLM_BUDGET_ENLARGE_Y;
    a->row = picture[ROW];
}

HELPER void write_losses(const band *a, global const float *known, const sums *s, const float legible,
                         const float least, global float *to) {
    to[0] = s->error;
    to[1] = (float)((a->right - a->left) * (a->bottom - a->top)) * illegible(known, s, legible, least);
}

/*
 * Compares all pictures with `images` images. The luma of image i is at place (place + i * step) % places, the first of which is at
 * float `begin`. Picture p of `count` loses two floats of each tile of image i, from float offset + (i * count + p) * one on.
 * - On CPUs a work-item is (column, p, row), so that a row of the images' tiles stays in the cache for all
 *   pictures, one after the other. It enlarges its part of the picture once, for all images.
 * - On GPUs it is (column, row, i * count + p), so that all work-items of a group have the same picture. Its
 *   data are then read once.
 */
kernel void losses_compare(global const int *restrict pictures, global const float *restrict table,
                           global const float *restrict luma, const ulong begin, const int width,
                           const int height, global const float *restrict between, const ulong tiles,
                           const int columns, const int rows, const int count, const int images,
                           const int place, const int step, const int places, const float legible,
                           const float least, const ulong one, const ulong offset,
                           global float *restrict losses) {
    sums s;
#if RUN > 1
    const int column = get_global_id(0), number = get_global_id(1), row = get_global_id(2);
    if (column >= columns || number >= count || row >= rows) return;
    global float *to = losses + offset + number * one + 2 * (row * columns + column);
    band a = tile_of(luma + begin, width, height, column, row);
    float tile[SIDE * ACROSS];
    column_sums of_columns;
    place_picture(&a, pictures + number * TVLM_BUDGET_PICTURE, table, between);
    const float first = add_columns(&a, &of_columns, tile);
    s.y = add_up(of_columns.y);
    s.yy = add_up(of_columns.yy);
    for (int i = 0; i < images; ++i, to += count * one) {
        const int at = (place + i * step) % places;
        global const float *known = luma + tiles + known_at(columns, rows, at, column, row);
        a.image = image_at(luma + begin, width, height, at);
        a.first = known[OF_FIRST];
        add_image(&a, tile, first, &of_columns);
        s.xy = add_up(of_columns.xy);
        s.error = add_error(&of_columns);
        write_losses(&a, known, &s, legible, least, to);
    }
#else
    const int column = get_global_id(0), row = get_global_id(1), number = get_global_id(2);
    if (column >= columns || row >= rows || number >= count * images) return;
    const int at = (place + number / count * step) % places;
    global const float *known = luma + tiles + known_at(columns, rows, at, column, row);
    band a = tile_of(image_at(luma + begin, width, height, at), width, height, column, row);
    place_picture(&a, pictures + number % count * TVLM_BUDGET_PICTURE, table, between);
    add_each_block(&a, &s);
    write_losses(&a, known, &s, legible, least,
                 losses + offset + number * one + 2 * (row * columns + column));
#endif
}
