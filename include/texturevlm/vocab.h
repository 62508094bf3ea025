/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocab.h: puts one number in place of an encoder's vector: which of n centres it is nearest to.
 *
 *     tvlm_vocab_assign(device, vocab, vectors, cells, ids, NULL); // once for each image
 *     tvlm_vocab_ask(vocab, question, 1, answers);                 // n products, for any number of images
 *     for (int32_t i = 0; i < cells; ++i) score[i] = answers[ids[i]];
 *
 * A vocabulary has n centres of D components, made by k-means of vectors that were brought to length 1. A cell's vector is
 * kept as the number of its nearest centre, two bytes up to 65536 of them, and what it differs from the centre by is
 * its residual. A question is answered for the centres alone; what it says of a cell is looked up. A centre is the mean of
 * its vectors, so that its product with a question of length 1 is the mean of their cosines.
 *
 * That is the least memory a cell can have and the fastest answer, and the least exact: all cells of a centre get
 * the same. A basis (basis.h) takes 16 numbers and keeps far more of the order; bench/vocab.py has a table.
 *
 * In a stack they are the channels vocab_id, which is reduced by mode and sampled nearest, and vocab_residual
 * (tvlm_stack_assign).
 *
 * A vocabulary lives on the host, belongs to no device, and never changes: any number of threads may read it.
 */
#ifndef TEXTUREVLM_VOCAB_H
#define TEXTUREVLM_VOCAB_H

#include "basis.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_VOCAB_COUNT_DEFAULT  1024
#define TVLM_VOCAB_COUNT_MAX      65536
#define TVLM_VOCAB_ROUNDS_DEFAULT 5
#define TVLM_VOCAB_ROUNDS_MAX     1000
#define TVLM_VOCAB_SAMPLE_DEFAULT 64

typedef struct tvlm_vocab tvlm_vocab;

/* What a vocabulary consists of. */
struct tvlm_vocab_params {
    /* D, at most TVLM_BASIS_DIMENSION_MAX, and how many centres there are, at most TVLM_VOCAB_COUNT_MAX. */
    int32_t dimension, count;
    /* How many vectors it was made from; 0 means that this is unknown. */
    int64_t vectors;
    /* The mean of the squared residuals of those that it was trained with, 0 .. 4; 0 also means that this is unknown. */
    float error;
    /* [count * dimension], row-major: the centres, none longer than 1 (and 1e-3). */
    const float *centres;
    uint64_t reserved[4];
};
#define tvlm_vocab_params(...) TVLM_PARAMS(tvlm_vocab_params, __VA_ARGS__)

/* Creates a vocabulary from numbers, which are copied. Errors: ARGUMENT (sizes, a value that is not finite, a centre that is
 * longer than vectors of length 1 can have), MEMORY. */
TVLM_API tvlm_status tvlm_vocab_create(const struct tvlm_vocab_params *params, const tvlm_log *log,
                                       tvlm_vocab **vocab);
TVLM_API void tvlm_vocab_destroy(tvlm_vocab **vocab);

/* Tells what tvlm_vocab_create was given. The centres are valid while the vocabulary lives. */
TVLM_API tvlm_status tvlm_vocab_get_params(const tvlm_vocab *vocab, struct tvlm_vocab_params *params);

/*
 * Finds the nearest centres of `count` vectors [count * dimension], which need not be of length 1: ids[count], each
 * 0 .. n - 1, the lowest where several are equally near; residuals[count], the distance of the vector, at length 1, from that
 * centre, 0 .. 2. `residuals` may be NULL. A vector without a length (below 1e-15) is 0, and goes to the shortest
 * centre.
 *
 * Products are made on the device in floats; where these leave a doubt, the centres that may be the nearest are compared in
 * double on the host, so that the results are the same on every device. Waits. Errors: ARGUMENT (a vector
 * that is not finite; the log names its number; nothing is written then), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_vocab_assign(tvlm_device *device, const tvlm_vocab *vocab, const float *vectors,
                                       int64_t count, int32_t *ids, float *residuals);

/*
 * Answers `count` questions, vectors [count * dimension] of any length, for each of the n centres:
 * answers[count * n] are the products of the questions, at length 1, with the centres. Errors: ARGUMENT (a question that is not finite or
 * has no length), which says so by `log`.
 */
TVLM_API tvlm_status tvlm_vocab_ask(const tvlm_vocab *vocab, const tvlm_log *log, const float *questions,
                                    int32_t count, float *answers);

/*
 * Makes the numbers of the nearest centres of the features of image `index` its vocab_id, and their residuals its
 * vocab_residual, as tvlm_stack_set_grid would, on the grid of the features. Waits. Errors: those of
 * tvlm_vocab_assign; ARGUMENT also for no features, another dimension than theirs, more than 2049 centres
 * in a stack whose format is not f32 (half does not hold all of their numbers), and another size than another
 * image's numbers.
 */
TVLM_API tvlm_status tvlm_stack_assign(tvlm_stack *stack, int32_t index, const tvlm_vocab *vocab);

/* ---- Training ---- */

/*
 * A trainer makes a vocabulary from any number of vectors, which are added a few at a time, once:
 *
 *     tvlm_vocab_trainer_create(device, tvlm_vocab_trainer_params(.dimension = 768), &trainer);
 *     for (each block of vectors) tvlm_vocab_trainer_add(trainer, vectors, count);
 *     tvlm_vocab_trainer_finish(trainer, &vocab);
 *
 * Of what is added it keeps a fair sample (Vitter 1985, algorithm R), at length 1. It begins with centres that lie apart
 * (k-means++; Arthur & Vassilvitskii 2007; of a part of the sample, several at a time), and goes through the sample in
 * rounds, in random order and in batches, after each of which the centres move to the means of what came to
 * them (mini-batches; Sculley 2010); what came in earlier rounds counts a tenth. With a sample no larger than a batch
 * that is nearly the algorithm of Lloyd. A centre that nothing came to in a round begins again at the vector
 * that is worst off.
 *
 * The same vectors in the same order with the same seed give the same centres, to the bit, on every device.
 */
struct tvlm_vocab_trainer_params {
    int32_t dimension;
    /* How many centres are wanted; 0 means 1024. */
    int32_t count;
    uint64_t seed;
    /* How often it goes through the sample; 0 means 5. */
    int32_t rounds;
    /* How many vectors are kept, and how many of them a batch has, both as multiples of the centres: 0 means 64 and 16. What is kept
     * takes 4 bytes a number: 192 MiB of 1024 centres and 768 components. */
    int32_t sample, batch;
    uint64_t reserved[4];
};
#define tvlm_vocab_trainer_params(...) TVLM_PARAMS(tvlm_vocab_trainer_params, __VA_ARGS__)

typedef struct tvlm_vocab_trainer tvlm_vocab_trainer;

/* Creates a trainer, which must be destroyed before its device. Errors: ARGUMENT (a number out of its range; a sample or a batch
 * above 65536), MEMORY. */
TVLM_API tvlm_status tvlm_vocab_trainer_create(tvlm_device *device,
                                               const struct tvlm_vocab_trainer_params *params,
                                               tvlm_vocab_trainer **trainer);
TVLM_API void tvlm_vocab_trainer_destroy(tvlm_vocab_trainer **trainer);

/* Adds `count` vectors [count * dimension]. Vectors without a length are passed over. Errors: ARGUMENT (a vector that is not finite;
 * the log names its number among all that were added, and the trainer can only be destroyed then), MEMORY. */
TVLM_API tvlm_status tvlm_vocab_trainer_add(tvlm_vocab_trainer *trainer, const float *vectors, int64_t count);

/*
 * Makes the vocabulary of what was added. Where fewer vectors differ than there are centres, some centres are alike, and
 * only the first of them gets vectors. Errors: ARGUMENT (fewer vectors with a length than centres), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_vocab_trainer_finish(tvlm_vocab_trainer *trainer, tvlm_vocab **vocab);

#ifdef __cplusplus
}
#endif
#endif
