/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/io_network.h: networks (lab/network.h) as files.
 *
 * A network is a .safetensors file. Its tensors are F32, and have the names that PyTorch gives the parameters of
 * an nn.Sequential:
 *
 *   "0.weight"  [outputs, inputs, side, side]
 *   "0.bias"    [outputs]; optional; 0 if it is missing
 *   ...
 *
 * and with these metadata:
 *
 *   "format"   "texturevlm.network"
 *   "inputs"   the names of the channels that it reads, separated by commas: "r,g,b"
 *   "outputs"  the names of the channels that it makes, separated by commas
 *   "level"    the level at which the inputs are read; optional; "0" if it is missing
 *   "layers"   a JSON list, such as
 *              [{"type": "conv", "name": "0", "stride": 1, "padding": 1}, {"type": "relu"},
 *               {"type": "conv", "name": "2"}, {"type": "sigmoid"}]
 *
 * In the list of layers, "name" is what stands before ".weight" in the names of the tensors. A "stride" that is
 * missing is 1 and a "padding" that is missing is 0, as in nn.Conv2d. The padding must be 1 for kernels of 3 x 3,
 * and 0 for those of 1 x 1. Each "relu" and "sigmoid" follows a "conv". The objects hold nothing else.
 *
 * Whatever else is in the file is ignored.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_IO_NETWORK_H
#define TEXTUREVLM_LAB_IO_NETWORK_H

#include "texturevlm/lab/network.h"
#include "texturevlm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a network together with its arrays. The caller releases it with tvlm_network_destroy.
 *
 * It fails as io.h says. TVLM_ERROR_FORMAT also means that the file is of another format, that its layers are
 * not as above, that a tensor is missing or of another type or shape, that an input is unknown, or that
 * tvlm_network_check refuses the network. One line in the log names the file and what is wrong.
 */
TVLM_API tvlm_status tvlm_network_load(const char *path, const tvlm_log *log, tvlm_network **network);

/* Writes a network. Its tensors have the names "0.weight", "2.weight" and so on, which they would have in an
 * nn.Sequential. A network that tvlm_network_check refuses is TVLM_ERROR_ARGUMENT. The file appears whole or not
 * at all. */
TVLM_API tvlm_status tvlm_network_save(const char *path, const tvlm_network *network, const tvlm_log *log);

/* Releases what tvlm_network_load made, and no other network, and sets *network to NULL. NULL and a NULL
 * *network are fine. */
TVLM_API void tvlm_network_destroy(tvlm_network **network);

#ifdef __cplusplus
}
#endif
#endif
