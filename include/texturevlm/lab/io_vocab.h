/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/io_vocab.h: vocabularies (lab/vocab.h) as files.
 *
 * A vocabulary is a .safetensors file with these tensors, whose elements are F32 (F64 is read too):
 *
 *   "centres"  [n, D]  the centres, none longer than 1
 *   "error"    [1]     optional: the mean of the squared residuals of the vectors that it was trained with
 *
 * and with these metadata:
 *
 *   "format"   "texturevlm.vocab"
 *   "vectors"  optional: the number of vectors that it was made from
 *   "D", "n"   optional: the sizes again; reading only compares them with the tensor
 *
 * Centres that scikit-learn's KMeans or FAISS found for vectors of length 1 are saved with
 *
 *     safetensors.numpy.save_file({"centres": kmeans.cluster_centers_}, "vocab.safetensors",
 *         metadata={"format": "texturevlm.vocab"})
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_IO_VOCAB_H
#define TEXTUREVLM_LAB_IO_VOCAB_H

#include "texturevlm/lab/vocab.h"
#include "texturevlm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a vocabulary, which the caller releases with tvlm_vocab_destroy.
 *
 * It fails as io.h says. TVLM_ERROR_FORMAT also means that the file is of another format, that "centres" is
 * missing or of another type or shape, that the metadata contradict its shape, or that tvlm_vocab_create refuses
 * what the file holds. One line in the log names the file and what is wrong.
 */
TVLM_API tvlm_status tvlm_vocab_load(const char *path, const tvlm_log *log, tvlm_vocab **vocab);

/* Writes a vocabulary. It fails as io.h says. */
TVLM_API tvlm_status tvlm_vocab_save(const char *path, const tvlm_vocab *vocab, const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
