/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codecs.h: the codec of --codec FILE, and the scorer that reads its codes.
 */
#ifndef TVLM_TOOLS_CODECS_H
#define TVLM_TOOLS_CODECS_H

#include "texturevlm/io_codec.h"
#include "tool.h"

/* Returns the names of channels with commas between them, for free(). NULL: there is no memory. */
char *codec_names(const int32_t *channels, int32_t count);

/* Reads a codec, and folds it into a scorer, with codes that are channel `first` and those behind it, as tvlm_codec_fold
 * takes it. */
int codec_read_folded(struct tool *tool, const char *path, const tvlm_scorer *scorer, int32_t first,
                      tvlm_codec **codec, tvlm_scorer **folded);

/* Adds to a layout what the codes are made from. */
int codec_layout(struct tool *tool, const char *path, const tvlm_codec *codec, char *layout, size_t size);

#endif
