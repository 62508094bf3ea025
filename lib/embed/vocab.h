/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed/vocab.h: what training and using a vocabulary share: vectors of length 1, and the nearest centre of each.
 */
#ifndef TVLM_EMBED_VOCAB_H
#define TVLM_EMBED_VOCAB_H

#include "core/backend.h"
#include "texturevlm/vocab.h"

/* Refuses a vector that is not finite: `number` is what the log calls it. */
tvlm_status tvlm_vocab_check_vector(const tvlm_log *log, const float *vector, int32_t dimension,
                                    int64_t number);

/* Brings a vector to length 1. Returns false where it has no length, and all of `out` is 0. */
bool tvlm_vocab_unit(const float *vector, int32_t dimension, float *out);

/* The product of two vectors, added up in the same order on every machine. */
double tvlm_vocab_product(const float *a, const float *b, int32_t dimension);

/*
 * Finds nearest centres, a block of vectors after the other.
 *
 * |u - c|^2 is least where u * c - |c|^2 / 2 is largest. The device makes the products of a block with all centres in
 * floats; whatever order it adds in, they are less than D 2^-24 |u| |c| off (Higham 2002, section 3.1). All
 * centres that may be the nearest within that are compared in double, so that no device answers otherwise than another.
 */
typedef struct tvlm_matcher {
    tvlm_device *device;
    int32_t dimension, count;
    int32_t rows; /* of a block, at most */
    float margin; /* what two products may be wrong by together */
    const float *centres;
    double *halves; /* [count]: |c|^2 / 2 */
    float *block;   /* [rows * dimension]: where the caller puts a block */
    float *products;
    tvlm_buffer *device_block, *device_centres, *device_products;
} tvlm_matcher;

/* On failure, too, tvlm_matcher_close is to follow. */
tvlm_status tvlm_matcher_open(tvlm_device *device, int32_t dimension, int32_t count, tvlm_matcher *matcher);
void tvlm_matcher_close(tvlm_matcher *matcher);

/* Sends the centres [count * dimension], none longer than 1 by more than rounding, which must stay as they are. */
tvlm_status tvlm_matcher_set(tvlm_matcher *matcher, const float *centres);

/* Finds the nearest centres of the first `rows` vectors of the block, which have length 1 or 0, and the squares of the
 * distances. */
tvlm_status tvlm_matcher_match(tvlm_matcher *matcher, int32_t rows, int32_t *ids, float *squares);

#endif
