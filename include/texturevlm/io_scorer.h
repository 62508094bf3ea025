/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_scorer.h: scorers (score.h) as files.
 *
 * A linear scorer of C channels and O outputs is a .safetensors file with these tensors, whose elements are F32:
 *
 *   "weights"        [C]           one weight for each channel, or
 *                    [C, 3, 3]     one for each of the 3x3 candidates around a place, or
 *                    [O, C, 3, 3]  these for each output; or [O, C, 1, 1]
 *   "bias"           [1]           of output 0; optional; 0 where it is missing
 *   "similarity"     [1]           of output 0; optional; 0 where it is missing
 *   "query_weights"  [D, C]        of one output and the candidate itself, or
 *                    [O, C, 3, 3, D], or [O, C, 1, 1, D]: of as many outputs and taps as the weights have; optional;
 *                    there are none where it is missing
 *   "levels"         [C]           optional; every channel is read at the candidates' level where it is missing
 *
 * and with these metadata:
 *
 *   "format"    "texturevlm.scorer"
 *   "channels"  the names of the C channels, separated by commas
 *
 * Whatever else is in the file is ignored. A scorer that is a network is the file of that network (io_network.h).
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
 * It fails as io.h says. TVLM_ERROR_FORMAT also means that the file is of another format, that a tensor is
 * missing or of another type or shape, that there are more or fewer names than weights, that a name is
 * unknown or stands twice, that a number is not finite or beyond 1e15, or what tvlm_network_load says of a network. One line in the
 * log names the file and what is wrong.
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
