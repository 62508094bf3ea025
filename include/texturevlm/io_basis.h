/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_basis.h: bases (basis.h) as files.
 *
 * A .safetensors file with
 *   the tensors "components", F32 [k, D], orthonormal rows; "mean", F32 [D], optional where the basis is not
 * centred; "explained_variance_ratio", F32 [k], optional, the metadata "format" = "texturevlm.basis" and,
 * optional, "centred" = "true" or "false" (missing: true where there is a mean that is not 0), "vectors" =
 * their number, "method" = a word; "D" and "k" are written, and read only to be compared. F64 tensors are
 * read too. From scikit-learn:
 *
 *   safetensors.numpy.save_file({"mean": pca.mean_, "components": pca.components_,
 *       "explained_variance_ratio": pca.explained_variance_ratio_}, "basis.safetensors",
 *       metadata={"format": "texturevlm.basis", "centred": "true"})
 */
#ifndef TEXTUREVLM_IO_BASIS_H
#define TEXTUREVLM_IO_BASIS_H

#include "basis.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a basis; the caller releases it with tvlm_basis_destroy. Errors, besides those of io.h and of
 * tvlm_basis_create: FORMAT (another format, a tensor missing or of another type or shape, metadata that say
 * something else than the tensors). One line in the log names the file and what is wrong.
 */
TVLM_API tvlm_status tvlm_basis_load(const char *path, const tvlm_log *log, tvlm_basis **basis);

/* Writes a basis. */
TVLM_API tvlm_status tvlm_basis_save(const char *path, const tvlm_basis *basis, const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
