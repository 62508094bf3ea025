/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_basis.h: bases (features.h) as files.
 *
 * A basis is a .safetensors file with these tensors, whose elements are F32 (F64 is read too):
 *
 *   "components"                [k, D]  the rows of the basis, which are orthonormal
 *   "mean"                      [D]     within -1e15 .. 1e15; optional if the basis is not centred
 *   "explained_variance_ratio"  [k]     optional; 0 to 1, with a tolerance of 1e-3 for rounding
 *
 * and with these metadata:
 *
 *   "format"    "texturevlm.basis"
 *   "centred"   optional: "true" or "false"; where it is missing, a mean that is not 0 means "true"
 *   "vectors"   optional: the number of vectors that the basis was computed from
 *   "method"    optional: a word that says how it was computed
 *   "D", "k"    optional: the sizes again; reading only compares them with the tensors
 *
 * scikit-learn's PCA is saved with
 *
 *     safetensors.numpy.save_file({"mean": pca.mean_, "components": pca.components_,
 *         "explained_variance_ratio": pca.explained_variance_ratio_}, "basis.safetensors",
 *         metadata={"format": "texturevlm.basis", "centred": "true"})
 */
#ifndef TEXTUREVLM_IO_BASIS_H
#define TEXTUREVLM_IO_BASIS_H

#include "features.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a basis, which the caller releases with tvlm_basis_destroy.
 *
 * It fails as io.h says. TVLM_ERROR_FORMAT also means that the file is of another format, that a tensor is
 * missing or of another type or shape, that the metadata contradict the tensors, or that tvlm_basis_create
 * refuses what the file holds. One line in the log names the file and what is wrong.
 */
TVLM_API tvlm_status tvlm_basis_load(const char *path, const tvlm_log *log, tvlm_basis **basis);

/* Writes a basis. It fails as io.h says. */
TVLM_API tvlm_status tvlm_basis_save(const char *path, const tvlm_basis *basis, const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
