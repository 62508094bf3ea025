/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codecs.h: the codec of the option --codec FILE, and the scorer that reads its codes.
 */
#ifndef TVLM_TOOLS_CODECS_H
#define TVLM_TOOLS_CODECS_H

#include "texturevlm/lab/codec.h"
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

/* Refuses an image that the codec cannot compress. */
int codec_check_image(struct tool *tool, const tvlm_codec *codec, tvlm_stack *stack);

/* Returns the network that makes the codes. It belongs to the codec. */
const tvlm_network *codec_network(const tvlm_codec *codec);

/* Releases what codec_read_folded made. Both may be NULL. */
void codec_release(tvlm_codec **codec, tvlm_scorer **folded);

#endif
