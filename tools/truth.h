/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.h: reads where the objects of a photo are, from annotations: mask PNGs, COCO json (detection and
 * panoptic), or YOLO txt. lab/uses/truth.c reads them. The options that name them are in handed.c, which refuses them
 * in a build without the lab.
 */
#ifndef TVLM_TOOLS_TRUTH_H
#define TVLM_TOOLS_TRUTH_H

#include "tool.h"

typedef struct truth_options {
    const char *masks, *coco, *panoptic, *yolo, *classes;
} truth_options;

/* The options that name the annotations. */
extern const option_specs truth_specs, truth_settings;

enum { TRUTH_NOTHING = 0, TRUTH_OBJECT = 1, TRUTH_UNKNOWN = 2 };

typedef struct truth truth;

/* Returns the name of an option that was given, or NULL if none was. */
const char *truth_given(const truth_options *options);

/* Notes the files that belong to the images, so that no output takes their place. */
int truth_files(struct tool *tool, const truth_options *options, int count, char *const *images);

/* Checks that there is exactly one source, and reads a json. */
int truth_open(struct tool *tool, const truth_options *options, truth **opened);

/* From now on only these classes count. The list has the form of --classes, and belongs to the caller. */
void truth_only(truth *from, const char *classes);

/* Fills in mask[height * width] with TRUTH_... values. `image` is the path of the photo. */
int truth_mask(struct tool *tool, const truth *from, const char *image, int32_t width, int32_t height,
               uint8_t *mask);

/* The middles of the boxes around objects, in pixels of the photo. If there are more objects than there is
 * room for, they are those of the largest boxes. A mask PNG is one object. */
typedef struct truth_middles {
    option_points points;
    double areas[OPTION_POINTS_MAX]; /* the areas of the boxes */
} truth_middles;

int truth_find_middles(struct tool *tool, const truth *from, const char *image, int32_t width, int32_t height,
                       truth_middles *middles);

void truth_close(truth **opened);

#endif
