/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/vocab.h: what training a vocabulary and using one have in common: vectors of length 1, and the
 * nearest centre of each.
 */
#ifndef TVLM_LAB_VOCAB_H
#define TVLM_LAB_VOCAB_H

#include "core/backend.h"
#include "texturevlm/lab/vocab.h"

/* Refuses a vector that is not finite. In the log, `number` is the vector's number. */
tvlm_status tvlm_vocab_check_vector(const tvlm_log *log, const float *vector, int32_t dimension,
                                    int64_t number);

/* Scales a vector to length 1. If its length is next to 0, all of `out` is 0, and it returns false. */
bool tvlm_vocab_unit(const float *vector, int32_t dimension, float *out);

/* Returns the scalar product of two vectors. It is added up in the same order on every machine. */
double tvlm_vocab_product(const float *a, const float *b, int32_t dimension);

/*
 * Finds nearest centres, for one block of vectors after the other.
 *
 * Of all centres c, |u - c|^2 is least where u * c - |c|^2 / 2 is largest. The device computes the products
 * of a block with all centres in floats. Whatever the order in which it adds, its error is less than D 2^-24
 * |u| |c| (Higham 2002, section 3.1). All centres that may be the nearest within this error are compared in
 * double on the host, so that the answer is the same on every device.
 */
typedef struct tvlm_matcher {
    tvlm_device *device;
    int32_t dimension, count;
    int32_t rows; /* the most vectors of a block */
    float margin; /* the most that the errors of two products may add up to */
    const float *centres;
    double *halves; /* [count]: |c|^2 / 2 */
    float *block;   /* [rows * dimension]: the caller writes the block here */
    float *products;
    tvlm_buffer *device_block, *device_centres, *device_products;
} tvlm_matcher;

/* tvlm_matcher_close must be called afterwards, also after an error. */
tvlm_status tvlm_matcher_open(tvlm_device *device, int32_t dimension, int32_t count, tvlm_matcher *matcher);
void tvlm_matcher_close(tvlm_matcher *matcher);

/* Sends the centres [count * dimension]. None may be longer than 1 by more than rounding. They are not
 * copied, and must stay as they are. */
tvlm_status tvlm_matcher_set(tvlm_matcher *matcher, const float *centres);

/* Finds the nearest centre of each of the first `rows` vectors of the block, and the square of its distance.
 * The vectors must have length 1 or 0. */
tvlm_status tvlm_matcher_match(tvlm_matcher *matcher, int32_t rows, int32_t *ids, float *squares);

#endif
