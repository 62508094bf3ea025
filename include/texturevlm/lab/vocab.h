/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/vocab.h: puts one number in place of an encoder's vector: the number of the nearest of n centres.
 *
 *     tvlm_vocab_assign(device, vocab, vectors, cells, ids, NULL); // once for each image
 *     tvlm_vocab_ask(vocab, question, 1, answers);                 // n products, for any number of images
 *     for (int32_t i = 0; i < cells; ++i) score[i] = answers[ids[i]];
 *
 * A vocabulary has n centres of D components. They are made by k-means from vectors that were scaled to length 1.
 * A cell keeps only the number of the centre that is nearest to its vector. This takes two bytes for up to 65536
 * centres. The distance of the vector from the centre is its *residual*.
 *
 * A question is answered only for the centres, and the answer for a cell is looked up by its number. A centre is
 * the mean of its vectors, so that its product with a question of length 1 is the mean of their cosines.
 *
 * This takes the least memory for a cell, and gives the fastest answer. It is also the least exact: all cells of
 * a centre get the same answer. A basis (features.h) takes 16 numbers for a cell, and keeps far more of the order of
 * the answers; bench/vocab.py has a table.
 *
 * In a stack, the numbers are the channel vocab_id, which is reduced by mode and sampled nearest, and the
 * residuals are the channel vocab_residual (tvlm_stack_assign).
 *
 * A vocabulary lives on the host, belongs to no device, and never changes: any number of threads may read it.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_VOCAB_H
#define TEXTUREVLM_LAB_VOCAB_H

#include "texturevlm/features.h"

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
    /* The dimension D, at most TVLM_BASIS_DIMENSION_MAX, and the number of centres, at most
     * TVLM_VOCAB_COUNT_MAX. */
    int32_t dimension, count;
    /* How many vectors it was made from; 0 means that this is unknown. */
    int64_t vectors;
    /* The mean of the squared residuals of the vectors that it was trained with, 0 .. 4. 0 also means that this is
     * unknown. */
    float error;
    /* [count * dimension], row-major: the centres. None is longer than 1, with a tolerance of 1e-3. */
    const float *centres;
    uint64_t reserved[4];
};
#define tvlm_vocab_params(...) TVLM_PARAMS(tvlm_vocab_params, __VA_ARGS__)

/* Creates a vocabulary from numbers, which are copied. Errors: ARGUMENT (sizes, a value that is not finite, a
 * centre that is longer than the mean of vectors of length 1 can be), MEMORY. */
TVLM_API tvlm_status tvlm_vocab_create(const struct tvlm_vocab_params *params, const tvlm_log *log,
                                       tvlm_vocab **vocab);
TVLM_API void tvlm_vocab_destroy(tvlm_vocab **vocab);

/* Tells what tvlm_vocab_create was given. The centres are valid while the vocabulary lives. */
TVLM_API tvlm_status tvlm_vocab_get_params(const tvlm_vocab *vocab, struct tvlm_vocab_params *params);

/*
 * Finds the nearest centre of each of `count` vectors [count * dimension], which need not have length 1. Waits.
 *   - ids[count] become the numbers of the centres, 0 .. n - 1. If several centres are equally near, the lowest
 *     number counts.
 *   - residuals[count] become the distances of the vectors, scaled to length 1, from these centres, 0 .. 2.
 *     `residuals` may be NULL.
 *
 * A vector without a length (below 1e-15) counts as 0, and goes to the shortest centre.
 *
 * Products are made on the device in floats. If these leave a doubt, the centres that may be the nearest are
 * compared in double on the host, so that the results are the same on every device. Errors: ARGUMENT (a vector
 * that is not finite: the log names its number, and nothing is written), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_vocab_assign(tvlm_device *device, const tvlm_vocab *vocab, const float *vectors,
                                       int64_t count, int32_t *ids, float *residuals);

/*
 * Answers `count` questions for each of the n centres. The questions are vectors [count * dimension] of any
 * length. answers[count * n] become the products of the questions, scaled to length 1, with the centres. `log`
 * may be NULL. Errors: ARGUMENT (a question that is not finite or has no length).
 */
TVLM_API tvlm_status tvlm_vocab_ask(const tvlm_vocab *vocab, const tvlm_log *log, const float *questions,
                                    int32_t count, float *answers);

/*
 * Assigns the features of image `index` to their nearest centres, and waits. The numbers of the centres become the
 * image's vocab_id, and the residuals its vocab_residual, on the grid of the features, as by tvlm_stack_set_grid.
 *
 * Errors: those of tvlm_vocab_assign; ARGUMENT also if
 *   - the image has no features, or features of another dimension than the vocabulary;
 *   - there are more than 2049 centres, and the stack's format is not f32 (half does not hold all of their
 *     numbers);
 *   - the numbers of another image of the stack have another size.
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
 * How it trains:
 *   - Of the vectors that are added, it keeps a fair sample (Vitter 1985, algorithm R), scaled to length 1.
 *   - It begins with centres that lie apart (k-means++; Arthur & Vassilvitskii 2007). They are found in a part of
 *     the sample, several at a time.
 *   - It goes through the sample in rounds, in random order and in batches. After each batch, the centres move to
 *     the means of the vectors that came to them (mini-batches; Sculley 2010). Vectors that came in earlier
 *     rounds count a tenth. With a sample no larger than a batch, this is nearly the algorithm of Lloyd.
 *   - A centre to which nothing came in a round begins again at the vector that is farthest from its centre.
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
    /* How many vectors are kept, and how many of them a batch has. Both are multiples of the number of centres; 0
     * means 64 and 16. The sample takes 4 bytes for each component: 192 MiB for 1024 centres and 768
     * components. */
    int32_t sample, batch;
    uint64_t reserved[4];
};
#define tvlm_vocab_trainer_params(...) TVLM_PARAMS(tvlm_vocab_trainer_params, __VA_ARGS__)

typedef struct tvlm_vocab_trainer tvlm_vocab_trainer;

/* Creates a trainer, which must be destroyed before its device. Errors: ARGUMENT (a number out of its range; a
 * sample or a batch above 65536), MEMORY. */
TVLM_API tvlm_status tvlm_vocab_trainer_create(tvlm_device *device,
                                               const struct tvlm_vocab_trainer_params *params,
                                               tvlm_vocab_trainer **trainer);
TVLM_API void tvlm_vocab_trainer_destroy(tvlm_vocab_trainer **trainer);

/* Adds `count` vectors [count * dimension]. Vectors without a length are passed over. Errors: ARGUMENT (a vector
 * that is not finite: the log names its number among all vectors that were added, and the trainer can then only
 * be destroyed), MEMORY. */
TVLM_API tvlm_status tvlm_vocab_trainer_add(tvlm_vocab_trainer *trainer, const float *vectors, int64_t count);

/*
 * Makes the vocabulary from the vectors that were added. If there are fewer different vectors than centres, some
 * centres are equal, and only the first of these gets vectors. Errors: ARGUMENT (fewer vectors with a length than
 * centres), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_vocab_trainer_finish(tvlm_vocab_trainer *trainer, tvlm_vocab **vocab);

#ifdef __cplusplus
}
#endif
#endif
