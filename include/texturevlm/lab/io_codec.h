/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/io_codec.h: codecs (lab/codec.h) as files.
 *
 * A codec of n channels and k codes is a .safetensors file with these tensors, whose elements are F32 (F64 is read
 * too):
 *
 *   "encode"                    [k, n]  within -1e15 .. 1e15
 *   "decode"                    [n, k]  within -1e15 .. 1e15
 *   "mean"                      [n]     within -1e15 .. 1e15; optional; 0 if it is missing
 *   "explained_variance_ratio"  [k]     optional; 0 to 1, with a tolerance of 1e-3 for rounding
 *
 * and with these metadata:
 *
 *   "format"    "texturevlm.codec"
 *   "channels"  the names of the n channels, separated by commas
 *   "level"     the level at which these channels are read; optional; "0" if it is missing
 *
 * Whatever else is in the file is ignored.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_IO_CODEC_H
#define TEXTUREVLM_LAB_IO_CODEC_H

#include "texturevlm/lab/codec.h"
#include "texturevlm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a codec, which the caller releases with tvlm_codec_destroy.
 *
 * It fails as io.h says. TVLM_ERROR_FORMAT also means that the file is of another format, that a tensor is
 * missing or of another type or shape, that a channel is unknown, or that tvlm_codec_create refuses what the file
 * holds. One line in the log names the file and what is wrong.
 */
TVLM_API tvlm_status tvlm_codec_load(const char *path, const tvlm_log *log, tvlm_codec **codec);

/* Writes a codec. It fails as io.h says. */
TVLM_API tvlm_status tvlm_codec_save(const char *path, const tvlm_codec *codec, const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
