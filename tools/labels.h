/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h: reads label maps from files, which are pictures or arrays.
 */
#ifndef TVLM_TOOLS_LABELS_H
#define TVLM_TOOLS_LABELS_H

#include "tool.h"

typedef struct label_map {
    int32_t *ids; /* [rows * columns]; NULL: there is no map */
    int32_t columns, rows;
} label_map;

/*
 * Reads an .npy file of integers, rows x columns, or a picture. Gray values, also those of 16 bits, are the
 * ids. Colours are ids as in COCO's panoptic maps: R + 256 G + 65536 B. Alpha is ignored. Errors are about
 * tool->subject.
 */
int labels_read(struct tool *tool, const char *path, label_map *map);

void labels_release(label_map *map);

#endif
