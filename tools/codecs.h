/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codecs.h: the codec of the option --codec FILE, and the scorer that reads its codes.
 */
#ifndef TVLM_TOOLS_CODECS_H
#define TVLM_TOOLS_CODECS_H

#include "texturevlm/io_codec.h"
#include "tool.h"

/* Returns the names of channels with commas between them. The caller frees the text by free(). NULL: there is
 * no memory. */
char *codec_names(const int32_t *channels, int32_t count);

/* Reads a codec, and folds it into a scorer. `first` is the channel of the first code, as in tvlm_codec_fold;
 * the other codes follow it. */
int codec_read_folded(struct tool *tool, const char *path, const tvlm_scorer *scorer, int32_t first,
                      tvlm_codec **codec, tvlm_scorer **folded);

/* Adds to a layout the channels that the codes are made from. */
int codec_layout(struct tool *tool, const char *path, const tvlm_codec *codec, char *layout, size_t size);

#endif
