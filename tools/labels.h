/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h: a label map of a person's as a file: a picture or an array.
 */
#ifndef TVLM_TOOLS_LABELS_H
#define TVLM_TOOLS_LABELS_H

#include "tool.h"

typedef struct label_map {
    int32_t *ids; /* row-major; NULL: there is no map */
    int32_t columns, rows;
} label_map;

/*
 * Reads a .npy of integers, rows x columns, or a picture: gray as it is (16 bits too), colours as R + 256 G +
 * 65536 B, as COCO's panoptic maps are; alpha is not looked at. Errors are about tool->subject.
 */
int labels_read(struct tool *tool, const char *path, label_map *map);

void labels_release(label_map *map);

#endif
