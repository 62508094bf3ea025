/* SPDX-License-Identifier: Apache-2.0 */
#include "handed.h"

#include <stdlib.h>

#include "lab.h"

/* ---- Options that name annotations ---- */

static const option_spec specs[] = {
    {0, OPTION_INPUT, "masks", offsetof(truth_options, masks), "FOLDER",
     "STEM.png or STEM_mask.png for each image: not black is object", NO_RANGE, NULL},
    {0, OPTION_INPUT, "coco", offsetof(truth_options, coco), "FILE.json",
     "COCO detection (boxes, polygons, run lengths) or panoptic (with its PNGs)", NO_RANGE, NULL},
    {0, OPTION_INPUT, "yolo", offsetof(truth_options, yolo), "FOLDER",
     "STEM.txt or STEM_yolo.txt for each image: class cx cy w h, or class x1 y1 x2 y2 x3 y3 ...", NO_RANGE,
     NULL},
    {0, OPTION_TEXT, "classes", offsetof(truth_options, classes), "LIST",
     "names or numbers with commas between them: only these count (default: all; of panoptic maps "
     "all things)",
     NO_RANGE, NULL},
};
const option_specs truth_specs = OPTION_SPECS("What is known of the image", specs);

static const option_spec further[] = {
    {0, OPTION_INPUT, "panoptic", offsetof(truth_options, panoptic), "FOLDER",
     "of those PNGs, STEM.png or STEM_panoptic.png (default: where the json is)", NO_RANGE, NULL},
};
const option_specs truth_settings = OPTION_SETTINGS("What is known of the image", further);

const char *truth_given(const truth_options *options) {
    return options->masks != NULL      ? "--masks"
           : options->coco != NULL     ? "--coco"
           : options->yolo != NULL     ? "--yolo"
           : options->panoptic != NULL ? "--set panoptic"
           : options->classes != NULL  ? "--classes"
                                       : NULL;
}

/* ---- Objects as saliency ---- */

/* The part of a mask that the stack shows. A mask has the objects that a detector or a person found
 * (truth.h). It becomes a map in place of saliency. */
typedef struct part {
    int32_t left, top, width, height;
} part;

static int set_mask(struct tool *tool, const uint8_t *mask, int32_t row, const part *of, tvlm_stack *stack,
                    int32_t index) {
    const size_t width = (size_t)of->width, height = (size_t)of->height;
    float *const values = malloc(width * height * sizeof *values);
    if (values == NULL) return tool_fail(tool, "no memory for a mask");
    for (size_t y = 0; y < height; ++y) {
        const uint8_t *const from = mask + ((size_t)of->top + y) * (size_t)row + (size_t)of->left;
        for (size_t x = 0; x < width; ++x) values[y * width + x] = from[x] == TRUTH_OBJECT ? 1.0f : 0.0f;
    }
    const struct tvlm_grid_input input = {.data = values, .columns = of->width, .rows = of->height};
    const int code = tool_status(tool, tvlm_stack_set_grid(stack, index, TVLM_CHANNEL_SALIENCY, &input));
    free(values);
    return code;
}

/* Hands in the objects of the photo `image` to image `index` of a stack: saliency is 1 in the objects and 0
 * elsewhere. The photo has width x height pixels in its file. `middle` says that the stack holds the middle
 * square of the photo. */
static int objects_set(struct tool *tool, const truth *objects, const char *image, int32_t width,
                       int32_t height, bool middle, tvlm_stack *stack, int32_t index) {
    const int32_t side = width < height ? width : height;
    const part all = {0, 0, width, height}, square = {(width - side) / 2, (height - side) / 2, side, side};
    uint8_t *const mask = malloc((size_t)width * (size_t)height);
    if (mask == NULL) return tool_fail(tool, "no memory for a mask");
    int code = truth_mask(tool, objects, image, width, height, mask);
    if (code == TOOL_DONE) code = set_mask(tool, mask, width, middle ? &square : &all, stack, index);
    free(mask);
    return code;
}

/* ---- handed.h ---- */

const char *handed_given(const handed_options *options) {
    const char *const file = inputs_given(&options->files);
    return file != NULL ? file : truth_given(&options->objects);
}

static int check(struct tool *tool, const handed_options *options, const handed_use *use, int count) {
    const char *const file = inputs_given(&options->files), *const objects = truth_given(&options->objects);
    const char *const regions = tool_given(tool, "labels clusters");
    if (objects != NULL) TOOL_TRY(lab_check(tool, objects));
    if (count > 1 && file != NULL) return tool_usage(tool, "%s is of one image", file);
    if (options->clusters.given && options->files.labels != NULL)
        return tool_usage(tool, "--clusters and --labels exclude each other");
    if (objects != NULL && options->files.given[INPUT_SALIENCY] != NULL)
        return tool_usage(tool, "%s and --give saliency exclude each other", objects);
    TOOL_TRY(inputs_check(tool, &options->files, use->layout, INPUTS_OF_SELECT));
    if (regions != NULL && !use->regions)
        TOOL_TRY(inputs_check_read(tool, regions, TVLM_CHANNEL_CLUSTER_ID, use->layout, INPUTS_OF_SELECT));
    if (objects != NULL && !use->points)
        TOOL_TRY(inputs_check_read(tool, objects, TVLM_CHANNEL_SALIENCY, use->layout, INPUTS_OF_SELECT));
    return TOOL_DONE;
}

int handed_read(struct tool *tool, const handed_options *options, const handed_use *use, int count,
                char *const *paths, handed *read) {
    int code = check(tool, options, use, count);
    if (code == TOOL_DONE) code = inputs_read(tool, &options->files, &read->files);
    if (code != TOOL_DONE || truth_given(&options->objects) == NULL) return code;
    code = truth_files(tool, &options->objects, count, paths);
    return code == TOOL_DONE ? truth_open(tool, &options->objects, &read->objects) : code;
}

int handed_set(struct tool *tool, const handed *read, const char *path, int32_t width, int32_t height,
               bool middle, tvlm_stack *stack) {
    const int code = inputs_set(tool, read->files, width, stack);
    if (code != TOOL_DONE || read->objects == NULL) return code;
    return objects_set(tool, read->objects, path, width, height, middle, stack, 0);
}

void handed_release(handed *read) {
    inputs_release(&read->files);
    truth_close(&read->objects);
}
