/* SPDX-License-Identifier: Apache-2.0 */
#include "shared.h"

#include <float.h>

#include "parameters.h"

static const option_spec strategy[] = {
    {0, OPTION_WORD, "strategy", 0, "NAME",
     "budget (default of select), grid (default of video), foveated, quadtree, exhaustive or cascade; "
     "budget: a thumbnail of the whole image, and tiles where that loses most; grid (default with "
     "--overview): the best cells of a regular grid; foveated: K squares that cover the image, small near "
     "the fixations (K from 5 on, sides up to 20 : 1: at least 95 % of it, at most 25 % twice); quadtree: "
     "up to K squares that cover it, small where the score is; exhaustive: the best texels of one level; "
     "cascade: the best cells of the best regions, the only ones that are read",
     NO_RANGE, strategies},
};
const option_specs strategy_specs = OPTION_SPECS("What to choose", strategy);

static const option_spec weighing[] = {
    {0, OPTION_TRIPLE, "weights", offsetof(weighing_options, weights), "I,P,Q",
     "how much information, perspective and participation count; participation is what --query has; not for budget",
     0, FLT_MAX, NULL},
    {0, OPTION_INPUT, "scorer", offsetof(weighing_options, scorer), "FILE.safetensors",
     "weights of channels, or a network, that say what matters; they take the place of the three parts of "
     "the score",
     NO_RANGE, NULL},
};
const option_specs weighing_specs = OPTION_SPECS("Where to look", weighing);

static const option_spec rope[] = {
    {0, OPTION_TRIPLE, "rope", 0, "THETA,D,PATCH",
     "the base, the dimensions and the pixels of a patch of rope_x_cos_0 .., rope_x_sin_0 .., rope_y_cos_0 .. and "
     "rope_y_sin_0 .. (default: 10000,64,16)",
     1e-6, 1e9, NULL},
};
const option_specs rope_specs = OPTION_SPECS("The image", rope);

int rope_set(struct tool *tool, const option_triple *given, tvlm_stack *stack) {
    const int32_t dimension = (int32_t)given->values[1];
    if (!given->given) return TOOL_DONE;
    if ((float)dimension != given->values[1])
        return tool_fail(tool, "--rope: %g dimensions, which is no whole number", (double)given->values[1]);
    return tool_status(
        tool, tvlm_stack_set_rope(stack, tvlm_rope_params(.theta = given->values[0], .dimension = dimension,
                                                          .patch = given->values[2])));
}

static const option_spec sampling[] = {
    {0, OPTION_INTEGER, "every", offsetof(sampling_options, every), "N", "only every N-th frame (default: 1)",
     1, 1000000, NULL},
    {0, OPTION_NUMBER, "fps", offsetof(sampling_options, fps), "F",
     "in place of that, F frames for each second: those that are shown at these times", 0.001, 1000, NULL},
};
const option_specs sampling_specs = OPTION_SPECS("The video", sampling);

int sampling_set(struct tool *tool, const sampling_options *options, video_sampling *wanted) {
    if (options->every.given && options->fps.given)
        return tool_usage(tool, "--every and --fps exclude each other");
    wanted->every = options->every.value;
    wanted->fps = options->fps.given ? (double)options->fps.value : 0.0;
    return TOOL_DONE;
}
