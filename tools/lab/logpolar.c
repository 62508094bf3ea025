/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-lab logpolar: samples an image in rings and sectors around a fixation. It writes the samples as an array
 * and as a picture, and the image that can be made from them again.
 */
#include "texturevlm/lab/logpolar.h"
#include "shared.h"

#include <math.h>
#include <stdlib.h>

#include "json.h"
#include "texturevlm/io.h"
#include "tool.h"

#define COLOURS 3

typedef struct logpolar_options {
    tool_common common;
    const char *output, *picture, *inverse;
    option_points fixations;
    option_number inner, outer;
    option_integer rings, sectors;
    int plain;
} logpolar_options;

static const option_spec specs[] = {
    {'o', OPTION_OUTPUT, "output", offsetof(logpolar_options, output), "FILE.npy",
     "sectors x rings x 3: r, g, b from 0 to 1, float32", NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "picture", offsetof(logpolar_options, picture), "FILE.png",
     "the same as a picture: a row for each sector, a column for each ring", NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "inverse", offsetof(logpolar_options, inverse), "FILE.png",
     "an image of the size of IMAGE, made of the samples: what is left of it", NO_RANGE, NULL},
    {0, OPTION_POINTS, "fixation", offsetof(logpolar_options, fixations), "X,Y",
     "the middle of the rings, in the image's pixels (default: the middle of the image)", NO_RANGE, NULL},
    {0, OPTION_NUMBER, "inner", offsetof(logpolar_options, inner), "R",
     "the steps between rings grow as r + R with their radius r, in pixels (default: 1)", 1e-3, 1e6, NULL},
    {0, OPTION_NUMBER, "outer", offsetof(logpolar_options, outer), "R",
     "the radius behind the last ring, and --inner (default: to reach the farthest corner)", 1e-3, 1e6, NULL},
    {0, OPTION_INTEGER, "rings", offsetof(logpolar_options, rings), "N", "how many rings (default: 128)", 1,
     16384, NULL},
    {0, OPTION_INTEGER, "sectors", offsetof(logpolar_options, sectors), "N",
     "how many sectors (default: as many as make samples about as long as they are wide)", 3, 16384, NULL},
    {0, OPTION_FLAG, "plain", offsetof(logpolar_options, plain), NULL,
     "each sample is a single point, and not the average of what it stands for", NO_RANGE, NULL},
};

struct job {
    struct tool *tool;
    const logpolar_options *options;
    const char *path;
    tvlm_image *image;
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_stack_info size; /* the size of the working image */
    tvlm_logpolar_info info;
    float *samples;
};

/* ---- Work ---- */

static int open_stack(struct job *job) {
    struct tool *const tool = job->tool;
    const struct tvlm_stack_params params = {.layout = "r,g,b",
                                             .format = (tvlm_format)job->options->common.format.value};
    tool->subject = job->path;
    int code = tool_status(tool, tvlm_image_load(job->path, &tool->log, &job->image));
    if (code == TOOL_DONE) code = tool_open_device(tool, &job->options->common, &job->device);
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_stack_create_for_image(job->device, job->image, &params, &job->stack));
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_stack_get_info(job->stack, &job->size));
    return code;
}

/* Samples the image. The options are in pixels of the image; the working image may be smaller. */
static int sample(struct job *job) {
    const logpolar_options *const options = job->options;
    struct tool *const tool = job->tool;
    const float across = (float)job->size.width / (float)job->image->width,
                down = (float)job->size.height / (float)job->image->height;
    const float fixation[] = {options->fixations.values[0] * across, options->fixations.values[1] * down};
    const struct tvlm_logpolar_params params = {.fixation = options->fixations.count > 0 ? fixation : NULL,
                                                .inner = options->inner.value * across,
                                                .outer = options->outer.value * across,
                                                .rings = options->rings.value,
                                                .sectors = options->sectors.value,
                                                .plain = options->plain > 0};
    const char *const subject = tool->subject;
    tool->subject = NULL; /* an error from here on is about the options */
    int code = tool_usage_status(tool, tvlm_logpolar_get_info(job->stack, &params, &job->info));
    if (code != TOOL_DONE) return code;
    tool->subject = subject;
    const size_t count = (size_t)job->info.rings * (size_t)job->info.sectors * COLOURS;
    job->samples = malloc(count * sizeof *job->samples);
    if (job->samples == NULL) return tool_fail(tool, "no memory for %zu samples", count / COLOURS);
    return tool_status(tool, tvlm_logpolar(job->stack, &params, count, job->samples));
}

/* ---- Files ---- */

static int write_picture(struct job *job, const char *path, int32_t width, int32_t height,
                         const float *values) {
    const size_t count = (size_t)width * (size_t)height * COLOURS;
    uint8_t *const bytes = malloc(count);
    if (bytes == NULL) return tool_fail(job->tool, "no memory for a picture");
    for (size_t i = 0; i < count; ++i)
        bytes[i] = (uint8_t)lrintf(255.0f * fminf(fmaxf(values[i], 0.0f), 1.0f));
    const int code =
        tool_status(job->tool, tvlm_png_write(path, width, height, COLOURS, bytes, &job->tool->log));
    free(bytes);
    return code;
}

static int write_inverse(struct job *job, const char *path) {
    const int32_t width = job->image->width, height = job->image->height;
    float *const values = malloc((size_t)width * (size_t)height * COLOURS * sizeof *values);
    if (values == NULL) return tool_fail(job->tool, "no memory for an image of %dx%d", width, height);
    int code = tool_status(job->tool, tvlm_logpolar_back(&job->info, job->samples, job->size.width,
                                                         job->size.height, width, height, values));
    if (code == TOOL_DONE) code = write_picture(job, path, width, height, values);
    free(values);
    return code;
}

static int write_files(struct job *job) {
    const logpolar_options *const options = job->options;
    const int64_t shape[] = {job->info.sectors, job->info.rings, COLOURS};
    int code = TOOL_DONE;
    job->tool->subject = NULL; /* an error from here on is not about the image */
    if (options->output != NULL)
        code = tool_status(job->tool, tvlm_npy_write(options->output, TVLM_ELEMENT_F32, 3, shape,
                                                     job->samples, &job->tool->log));
    if (code == TOOL_DONE && options->picture != NULL)
        code = write_picture(job, options->picture, job->info.rings, job->info.sectors, job->samples);
    if (code == TOOL_DONE && options->inverse != NULL) code = write_inverse(job, options->inverse);
    return code;
}

static int print_summary(const struct job *job) {
    const float across = (float)job->image->width / (float)job->size.width,
                down = (float)job->image->height / (float)job->size.height;
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    json_string(&json, "path", job->path);
    json_device(&json, job->device);
    json_open_array(&json, "fixation", true);
    json_float(&json, NULL, job->info.x * across);
    json_float(&json, NULL, job->info.y * down);
    json_close(&json);
    json_float(&json, "inner", job->info.inner * across);
    json_float(&json, "outer", job->info.outer * across);
    json_integer(&json, "rings", job->info.rings);
    json_integer(&json, "sectors", job->info.sectors);
    return tool_print_json(job->tool, &json);
}

static int check(struct tool *tool, const logpolar_options *options) {
    if (options->output == NULL && options->picture == NULL && options->inverse == NULL)
        return tool_usage(tool, "nothing to write: -o FILE.npy, --picture or --inverse is missing");
    if (options->fixations.count > 1) return tool_usage(tool, "--fixation is given more than once");
    return TOOL_DONE;
}

static int run_logpolar(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    struct job job = {.tool = tool, .options = values, .path = operands[0]};
    int code = check(tool, job.options);
    (void)operand_count;
    if (code == TOOL_DONE) code = open_stack(&job);
    if (code == TOOL_DONE) code = sample(&job);
    if (code == TOOL_DONE) code = write_files(&job);
    if (code == TOOL_DONE && job.options->common.json > 0) code = print_summary(&job);
    free(job.samples);
    tvlm_stack_destroy(&job.stack);
    tvlm_device_destroy(&job.device);
    tvlm_image_destroy(&job.image);
    return code;
}

static const option_specs own = OPTION_SPECS("Options", specs);
static const option_group groups[] = {{&own, 0}, {0}};

const tool_command logpolar_command = {
    .name = "logpolar",
    .summary = "an image as an eye sees it: rings around a fixation, coarser the farther they are",
    .operands = "IMAGE",
    .operand_min = 1,
    .operand_max = 1,
    .details =
        "Ring i has the radius inner * ((outer / inner)^(i / rings) - 1), sector j the angle 2 pi j / sectors from the\n"
        "x axis down. A sample is the average of what lies between it and its neighbours. Beyond the image its edge\n"
        "goes on. IMAGE is\n" READ_PICTURES ".\n",
    .options = groups,
    .options_size = sizeof(logpolar_options),
    .run = run_logpolar,
};
