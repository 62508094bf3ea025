/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/io_projection.h: projections (lab/projection.h) as files.
 *
 * A projection of C channels to N numbers is a .safetensors file with these tensors, whose elements are F32:
 *
 *   "weight"      [N, C]  as nn.Linear(C, N) has it
 *   "bias"        [N]     optional; 0 if it is missing
 *   "components"  [k, D]  optional: the basis in which features are embedded before embedding channels are read
 *   "mean"        [D]     optional: the mean of this basis, which is centred if the tensor is there
 *
 * and with these metadata:
 *
 *   "format"    "texturevlm.projection"
 *   "channels"  the names of the C channels, separated by commas
 *
 * Whatever else is in the file is ignored.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_IO_PROJECTION_H
#define TEXTUREVLM_LAB_IO_PROJECTION_H

#include "texturevlm/lab/projection.h"
#include "texturevlm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a projection, which the caller releases with tvlm_projection_destroy. It fails as io.h says.
 * TVLM_ERROR_FORMAT also means that the file is of another format, that a tensor is missing or of another type
 * or shape, that there are more or fewer names than columns of weights, or that tvlm_projection_create refuses
 * what the file holds. One line in the log names the file and what is wrong.
 */
TVLM_API tvlm_status tvlm_projection_load(const char *path, const tvlm_log *log,
                                          tvlm_projection **projection);

/* Writes a projection. It fails as io.h says. */
TVLM_API tvlm_status tvlm_projection_save(const char *path, const tvlm_projection *projection,
                                          const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
