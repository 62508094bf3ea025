/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.h: where the objects of a photo are, as people wrote it down: mask PNGs, COCO json (detection and
 * panoptic), YOLO txt.
 */
#ifndef TVLM_TOOLS_TRUTH_H
#define TVLM_TOOLS_TRUTH_H

#include "tool.h"

typedef struct truth_options {
    const char *masks, *coco, *panoptic, *yolo, *classes;
} truth_options;

/* Rows of an option table; `member` is a truth_options in `type`. */
#define TRUTH_OPTIONS(type, member)                                                                          \
    {0,        OPTION_TEXT,                                                                                  \
     "masks",  offsetof(type, member.masks),                                                                 \
     "FOLDER", "STEM.png or STEM_mask.png for each image: not black is object",                              \
     0,        0,                                                                                            \
     NULL},                                                                                                  \
        {0,           OPTION_TEXT,                                                                           \
         "coco",      offsetof(type, member.coco),                                                           \
         "FILE.json", "COCO detection (boxes, polygons, run lengths) or panoptic\n(with its PNGs)",          \
         0,           0,                                                                                     \
         NULL},                                                                                              \
        {0,          OPTION_TEXT,                                                                            \
         "panoptic", offsetof(type, member.panoptic),                                                        \
         "FOLDER",   "of those PNGs, STEM.png or STEM_panoptic.png (default: where\nthe json is)",           \
         0,          0,                                                                                      \
         NULL},                                                                                              \
        {0,                                                                                                  \
         OPTION_TEXT,                                                                                        \
         "yolo",                                                                                             \
         offsetof(type, member.yolo),                                                                        \
         "FOLDER",                                                                                           \
         "STEM.txt or STEM_yolo.txt for each image: class cx cy w h, or\nclass x1 y1 x2 y2 x3 y3 ...",       \
         0,                                                                                                  \
         0,                                                                                                  \
         NULL},                                                                                              \
    {                                                                                                        \
        0, OPTION_TEXT, "classes", offsetof(type, member.classes), "LIST",                                   \
            "names or numbers with commas between them: only these count\n(default: all; of panoptic maps "  \
            "all things)",                                                                                   \
            0, 0, NULL                                                                                       \
    }

enum { TRUTH_NOTHING = 0, TRUTH_OBJECT = 1, TRUTH_UNKNOWN = 2 };

typedef struct truth truth;

/* Checks that there is one source, and reads a json. */
int truth_open(struct tool *tool, const truth_options *options, truth **opened);

/* mask[height * width] of TRUTH_...; `image` is its path. */
int truth_mask(struct tool *tool, const truth *from, const char *image, int32_t width, int32_t height,
               uint8_t *mask);

void truth_close(truth **opened);

#endif
