/* SPDX-License-Identifier: Apache-2.0 */
#include "export_inputs.h"

#include "texturevlm/regions.h"

static const option_spec specs[] = {
    {0, OPTION_INTEGER, "clusters", offsetof(export_input_options, clusters), "N",
     "regions of each picture, for a scorer that reads channels about them (default: 50)", 1,
     TVLM_REGIONS_MAX, NULL},
};
const option_specs export_clusters_specs = OPTION_SPECS(specs);

static int check(const export_inputs *inputs, int count, const char *layout) {
    const export_input_options *const options = inputs->options;
    struct tool *const tool = inputs->tool;
    const char *const file = inputs_given(&options->files), *const objects = truth_given(&options->objects);
    const char *const regions = options->files.labels != NULL ? "--labels"
                                : options->clusters.given     ? "--clusters"
                                                              : NULL;
    if (count > 1 && file != NULL) return tool_usage(tool, "%s is of one image", file);
    if (options->clusters.given && options->files.labels != NULL)
        return tool_usage(tool, "--clusters and --labels exclude each other");
    if (objects != NULL && options->files.saliency_map != NULL)
        return tool_usage(tool, "%s and --saliency-map exclude each other", objects);
    int code = inputs_check(tool, &options->files, layout);
    if (code == TOOL_DONE && regions != NULL)
        code = inputs_check_read(tool, regions, TVLM_CHANNEL_CLUSTER_ID, layout);
    if (code == TOOL_DONE && objects != NULL)
        code = inputs_check_read(tool, objects, TVLM_CHANNEL_SALIENCY, layout);
    return code;
}

int export_inputs_read(export_inputs *inputs, int count, const char *layout) {
    const truth_options *const objects = &inputs->options->objects;
    struct tool *const tool = inputs->tool;
    int code = check(inputs, count, layout);
    if (code == TOOL_DONE) code = inputs_read(tool, &inputs->options->files, &inputs->files);
    if (code != TOOL_DONE || truth_given(objects) == NULL) return code;
    code = truth_files(tool, objects, count, inputs->paths);
    return code == TOOL_DONE ? truth_open(tool, objects, &inputs->objects) : code;
}

/* Is called by the export before it scores a picture. */
static tvlm_status hand_in(void *user, int32_t image, tvlm_stack *stack) {
    export_inputs *const inputs = user;
    struct tool *const tool = inputs->tool;
    const tvlm_image *const picture = &inputs->pictures->images[image];
    const char *const subject = tool->subject;
    tool->subject = inputs->paths[image];
    int code = inputs_set(tool, inputs->files, picture->width, stack);
    if (code == TOOL_DONE && inputs->objects != NULL)
        code = objects_set(tool, inputs->objects, inputs->paths[image], picture->width, picture->height,
                           inputs->middle, stack, 0);
    inputs->failed = code != TOOL_DONE;
    if (code == TOOL_DONE) {
        tool->subject = subject;
        return TVLM_OK;
    }
    return tool->status != TVLM_OK ? tool->status : TVLM_ERROR_ARGUMENT;
}

int export_inputs_set(export_inputs *inputs, const export_pictures *pictures, tvlm_export *export) {
    const export_input_options *const options = inputs->options;
    const char *const file = inputs_given(&options->files), *const objects = truth_given(&options->objects);
    const bool any = file != NULL || objects != NULL;
    if (any && pictures->of_video)
        return tool_usage(inputs->tool, "%s is for images; of a video hand in the frames as such",
                          file != NULL ? file : objects);
    inputs->pictures = pictures;
    return tool_status(
        inputs->tool,
        tvlm_export_set_inputs(export, &(struct tvlm_export_inputs){.set = any ? hand_in : NULL,
                                                                    .user = inputs,
                                                                    .clusters = options->clusters.value}));
}

void export_inputs_release(export_inputs *inputs) {
    inputs_release(&inputs->files);
    truth_close(&inputs->objects);
}
