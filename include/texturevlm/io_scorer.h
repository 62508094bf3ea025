/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_scorer.h: linear scorers (score.h) as files.
 *
 * A .safetensors file with
 *   the tensor "weights", F32: [C], a weight for each channel, or [C, 3, 3], one for each of the 3x3
 * candidates around, the tensors "bias" and "similarity", F32 [1]: optional, 0 when missing, the tensor
 * "query_weights", F32 [D, C]: optional, none when missing, the metadata
 * "format" = "texturevlm.scorer" and "channels" = C channel names separated by commas. Anything else in it is
 * ignored.
 */
#ifndef TEXTUREVLM_IO_SCORER_H
#define TEXTUREVLM_IO_SCORER_H

#include "score.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a scorer, its arrays with it; the caller releases it with tvlm_scorer_destroy. Errors, besides those
 * of io.h: FORMAT (another format, a tensor missing or of another type or shape, as many names as weights are
 * not there, a name that is unknown or stands twice, a number that is not finite), ARGUMENT from a channel
 * that this version does not make. One line in the log names the file and what is wrong.
 */
TVLM_API tvlm_status tvlm_scorer_load(const char *path, const tvlm_log *log, tvlm_scorer **scorer);

/*
 * The same with names as a stack has them, its own planes among them: "motion@-2", say, of a stream that
 * looks back (stream.h). The scorer is for that stack only, or for one with the same planes.
 */
TVLM_API tvlm_status tvlm_scorer_load_for(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                                          tvlm_scorer **scorer);

/* Releases what tvlm_scorer_load made (and no other scorer) and nulls it; NULL and a NULL *scorer are
 * accepted. */
TVLM_API void tvlm_scorer_destroy(tvlm_scorer **scorer);

/* Writes a scorer. ARGUMENT for one that tvlm_scorer_load would refuse. */
TVLM_API tvlm_status tvlm_scorer_save(const char *path, const tvlm_scorer *scorer, const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
