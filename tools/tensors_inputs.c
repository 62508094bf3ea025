/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors_inputs.h"

#include "texturevlm/stack.h"

static const option_spec specs[] = {
    {0, OPTION_INTEGER, "clusters", offsetof(handed_options, clusters), "N",
     "regions of each picture, for a scorer that reads channels about them (default: 50)", 1,
     TVLM_REGIONS_MAX, NULL},
};
const option_specs export_clusters_specs = OPTION_SPECS("What is known of the image", specs);

int export_inputs_read(export_inputs *inputs, int count, const char *layout) {
    const handed_use use = {.layout = layout};
    return handed_read(inputs->tool, inputs->options, &use, count, inputs->paths, &inputs->read);
}

/* The export calls this before it scores a picture. */
static tvlm_status hand_in(void *user, int32_t image, tvlm_stack *stack) {
    export_inputs *const inputs = user;
    struct tool *const tool = inputs->tool;
    const tvlm_image *const picture = &inputs->pictures->images[image];
    const char *const subject = tool->subject;
    tool->subject = inputs->paths[image];
    const int code = handed_set(tool, &inputs->read, inputs->paths[image], picture->width, picture->height,
                                inputs->middle, stack);
    inputs->failed = code != TOOL_DONE;
    if (code == TOOL_DONE) {
        tool->subject = subject;
        return TVLM_OK;
    }
    return tool->status != TVLM_OK ? tool->status : TVLM_ERROR_ARGUMENT;
}

int export_inputs_set(export_inputs *inputs, const export_pictures *pictures, tvlm_export *export) {
    const char *const given = handed_given(inputs->options);
    if (given != NULL && pictures->of_video)
        return tool_usage(inputs->tool, "%s is for images; of a video hand in the frames as such", given);
    inputs->pictures = pictures;
    return tool_status(inputs->tool,
                       tvlm_export_set_inputs(
                           export, &(struct tvlm_export_inputs){.set = given != NULL ? hand_in : NULL,
                                                                .user = inputs,
                                                                .clusters = inputs->options->clusters.value,
                                                                .network = inputs->network}));
}

void export_inputs_release(export_inputs *inputs) {
    handed_release(&inputs->read);
}
