/* SPDX-License-Identifier: Apache-2.0 */
#include "handed.h"

#include "objects.h"

const char *handed_given(const handed_options *options) {
    const char *const file = inputs_given(&options->files);
    return file != NULL ? file : truth_given(&options->objects);
}

static int check(struct tool *tool, const handed_options *options, const handed_use *use, int count) {
    const char *const file = inputs_given(&options->files), *const objects = truth_given(&options->objects);
    const char *const regions = options->files.labels != NULL ? "--labels"
                                : options->clusters.given     ? "--clusters"
                                                              : NULL;
    if (count > 1 && file != NULL) return tool_usage(tool, "%s is of one image", file);
    if (options->clusters.given && options->files.labels != NULL)
        return tool_usage(tool, "--clusters and --labels exclude each other");
    if (objects != NULL && options->files.given[INPUT_SALIENCY] != NULL)
        return tool_usage(tool, "%s and --give saliency exclude each other", objects);
    int code = inputs_check(tool, &options->files, use->layout);
    if (code == TOOL_DONE && regions != NULL && !use->regions)
        code = inputs_check_read(tool, regions, TVLM_CHANNEL_CLUSTER_ID, use->layout);
    if (code == TOOL_DONE && objects != NULL && !use->points)
        code = inputs_check_read(tool, objects, TVLM_CHANNEL_SALIENCY, use->layout);
    return code;
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
