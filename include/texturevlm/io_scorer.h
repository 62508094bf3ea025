/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_scorer.h: scorers (score.h) as files.
 *
 * A linear scorer of C channels and O outputs is a .safetensors file with these tensors. Their elements are F32:
 *
 *   "weights"        one of these shapes:
 *                    [C]              one output: a weight for each channel
 *                    [C, 3, 3]        one output: for each channel, weights of the 3 x 3 candidates around a place
 *                    [O, C, 1, 1]     O outputs: for each of them the same as [C]
 *                    [O, C, 3, 3]     O outputs: for each of them the same as [C, 3, 3]
 *   "bias"           [1]              of output 0; optional; 0 if it is missing
 *   "similarity"     [1]              of output 0; optional; 0 if it is missing
 *   "query_weights"  optional; there are none if it is missing; one of these shapes:
 *                    [D, C]           for the only output and for the candidate itself
 *                    [O, C, 1, 1, D]  for all outputs and taps of the weights, which have 1 x 1 taps
 *                    [O, C, 3, 3, D]  for all outputs and taps of the weights, which have 3 x 3 taps
 *   "levels"         [C]              optional; if it is missing, all channels are read at the candidates' level
 *
 * and with these metadata:
 *
 *   "format"    "texturevlm.scorer"
 *   "channels"  the names of the C channels, separated by commas
 *
 * Whatever else is in the file is ignored. A scorer that is a network is the file of that network (lab/io_network.h).
 */
#ifndef TEXTUREVLM_IO_SCORER_H
#define TEXTUREVLM_IO_SCORER_H

#include "score.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a scorer together with its arrays. The caller releases it with tvlm_scorer_destroy.
 *
 * It fails as io.h says. TVLM_ERROR_FORMAT also means that
 *
 *   - the file is of another format;
 *   - a tensor is missing, or of another type or shape;
 *   - there are more or fewer names than weights, or a name is unknown or stands twice;
 *   - a number is not finite or beyond 1e15;
 *   - the file is a network that tvlm_network_load refuses.
 *
 * One line in the log names the file and what is wrong.
 */
TVLM_API tvlm_status tvlm_scorer_load(const char *path, const tvlm_log *log, tvlm_scorer **scorer);

/*
 * Reads a scorer whose channels are named as `stack` names them. That includes the planes that only this
 * stack has, such as "motion@-2" of a stream that looks back (stream.h). The scorer is good for that stack,
 * and for others with the same planes.
 */
TVLM_API tvlm_status tvlm_scorer_load_for(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                                          tvlm_scorer **scorer);

/*
 * Releases what tvlm_scorer_load or tvlm_scorer_load_for made, and no other scorer, and sets *scorer to NULL.
 * NULL and a NULL *scorer are accepted.
 */
TVLM_API void tvlm_scorer_destroy(tvlm_scorer **scorer);

/* Writes a scorer. One that tvlm_scorer_load would refuse is TVLM_ERROR_ARGUMENT. */
TVLM_API tvlm_status tvlm_scorer_save(const char *path, const tvlm_scorer *scorer, const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
