/* SPDX-License-Identifier: Apache-2.0 */
/*
 * projections.h: the projection of the option --projection FILE.
 */
#ifndef TVLM_TOOLS_PROJECTIONS_H
#define TVLM_TOOLS_PROJECTIONS_H

#include "texturevlm/lab/projection.h"
#include "tool.h"

/* Reads a projection. Refuses it if it needs features and there are none. */
int projection_read(struct tool *tool, const char *path, bool features, tvlm_projection **projection);

/* Adds to a layout the channels that a projection reads. */
int projection_layout(struct tool *tool, const char *path, const tvlm_projection *projection, char *layout,
                      size_t size);

/* Has an export make vectors by a projection. */
int projection_set(struct tool *tool, const tvlm_projection *projection, tvlm_export *export);

/* Releases what projection_read made, which may be NULL. */
void projection_release(tvlm_projection **projection);

#endif
