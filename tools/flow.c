/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm channels --flow: computes the optical flow from one image to another, with its confidence, and writes it as
 * .flo and as a picture.
 */
#include "channels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "shared.h"
#include "texturevlm/io.h"
#include "texturevlm/io_flow.h"
#include "tool.h"

static const option_spec specs[] = {
    {0, OPTION_FLAG, "flow", offsetof(flow_options, flow), NULL,
     "in place of the channels: the step from each pixel of the first image to that place in the second one; -o F.flo "
     "gets u, v of every pixel",
     NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "picture", offsetof(flow_options, picture), "P.png",
     "the flow in colours: hue is the direction, saturation the length", NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "confidence", offsetof(flow_options, confidence), "C.npy",
     "how sure it is, 0 .. 1: height x width, float32", NO_RANGE, NULL},
    {0, OPTION_FLAG, "full", offsetof(flow_options, full), NULL,
     "at full instead of half size: less error, four times the work", NO_RANGE, NULL},
};
const option_specs flow_specs = OPTION_SPECS("Optical flow", specs);

struct job {
    struct tool *tool;
    const flow_options *options;
    const tool_common *common;
    const char *output; /* the .flo, or NULL */
    char *const *paths;
    tvlm_image *images[2];
    int32_t width, height; /* of both images */
    size_t pixels;
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_flow *flow;
    tvlm_flow_info info;
    /* `grid` has u, v and confidence as the library gives them. The other two have a value for every pixel.
     * */
    float *grid, *vectors, *confidence;
};

/* ---- The colour wheel ---- */

/* It is the colour wheel of Baker et al., "A Database and Evaluation Methodology for Optical Flow" (2011). */

enum { WHEEL = 55 };

/* The wheel runs from red over yellow, green, cyan, blue and magenta back to red. The number of steps of each
 * run is the number of hues that can be told apart in it. */
static void make_wheel(float wheel[WHEEL][3]) {
    static const struct {
        /* Component `full` is 1. Component `moving` rises from 0 to 1. If `moving` is negative, component
         * ~moving falls from 1 to 0. */
        int length, full, moving;
    } runs[6] = {{15, 0, 1}, {6, 1, ~0}, {4, 1, 2}, {11, 2, ~1}, {13, 2, 0}, {6, 0, ~2}};
    int at = 0;
    for (int r = 0; r < 6; ++r)
        for (int i = 0; i < runs[r].length; ++i, ++at) {
            const float t = (float)i / (float)runs[r].length;
            memset(wheel[at], 0, sizeof wheel[at]);
            wheel[at][runs[r].full] = 1.0f;
            if (runs[r].moving >= 0)
                wheel[at][runs[r].moving] = t;
            else
                wheel[at][~runs[r].moving] = 1.0f - t;
        }
}

/* Writes the colour of u and v. They are relative to the length whose colour is fully saturated. */
static void wheel_colour(float wheel[WHEEL][3], float u, float v, uint8_t *rgb) {
    const float length = fminf(1.0f, sqrtf(u * u + v * v));
    const float turn = (atan2f(-v, -u) / 3.14159265f + 1.0f) / 2.0f * (float)(WHEEL - 1);
    const int first = (int)turn % WHEEL, second = (first + 1) % WHEEL;
    const float t = turn - floorf(turn);
    for (int c = 0; c < 3; ++c) {
        const float hue = wheel[first][c] + (wheel[second][c] - wheel[first][c]) * t;
        rgb[c] = (uint8_t)lrintf(255.0f * (1.0f - length * (1.0f - hue)));
    }
}

static float longest(const struct job *job) {
    float most = 0.0f;
    for (size_t i = 0; i < job->pixels; ++i)
        most = fmaxf(most, hypotf(job->vectors[2 * i], job->vectors[2 * i + 1]));
    return most;
}

/* Writes a picture of the flow. The longest vector gets a fully saturated colour, unless it is shorter than a hundredth
 * of a pixel; then all colours stay near white. */
static int write_picture(const struct job *job, const char *path) {
    const float scale = 1.0f / fmaxf(longest(job), 0.01f);
    float wheel[WHEEL][3];
    uint8_t *const picture = malloc(3 * job->pixels);
    if (picture == NULL) return tool_fail(job->tool, "no memory for the picture");
    make_wheel(wheel);
    for (size_t i = 0; i < job->pixels; ++i)
        wheel_colour(wheel, job->vectors[2 * i] * scale, job->vectors[2 * i + 1] * scale, picture + 3 * i);
    const int code =
        tool_status(job->tool, tvlm_png_write(path, job->width, job->height, 3, picture, &job->tool->log));
    free(picture);
    return code;
}

/* ---- From the grid to every pixel ---- */

static float between(const struct job *job, int component, float x, float y) {
    const tvlm_flow_info *const info = &job->info;
    x = fminf(fmaxf(x, 0.0f), (float)(info->width - 1));
    y = fminf(fmaxf(y, 0.0f), (float)(info->height - 1));
    const int32_t x0 = (int32_t)x, y0 = (int32_t)y, x1 = x0 + 1 < info->width ? x0 + 1 : x0,
                  y1 = y0 + 1 < info->height ? y0 + 1 : y0;
    const float ax = x - (float)x0, ay = y - (float)y0;
    const float *const top = job->grid + 3 * (size_t)y0 * (size_t)info->width + component,
                       *const bottom = job->grid + 3 * (size_t)y1 * (size_t)info->width + component;
    const float a = top[3 * x0] + (top[3 * x1] - top[3 * x0]) * ax;
    const float b = bottom[3 * x0] + (bottom[3 * x1] - bottom[3 * x0]) * ax;
    return a + (b - a) * ay;
}

/* Spreads the grid, which covers the image, to every pixel. Vectors are scaled, since a stack may be smaller
 * than the image that it holds. */
static int spread(struct job *job) {
    const int32_t width = job->width, height = job->height;
    const tvlm_flow_info *const info = &job->info;
    job->vectors = calloc(job->pixels, 2 * sizeof *job->vectors);
    job->confidence = calloc(job->pixels, sizeof *job->confidence);
    if (job->vectors == NULL || job->confidence == NULL)
        return tool_fail(job->tool, "no memory for the flow");
    const float across = (float)width / (float)info->image_width,
                down = (float)height / (float)info->image_height;
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x) {
            const size_t at = (size_t)y * (size_t)width + (size_t)x;
            const float gx = ((float)x + 0.5f) * (float)info->width / (float)width - 0.5f,
                        gy = ((float)y + 0.5f) * (float)info->height / (float)height - 0.5f;
            job->vectors[2 * at] = between(job, 0, gx, gy) * across;
            job->vectors[2 * at + 1] = between(job, 1, gx, gy) * down;
            job->confidence[at] = between(job, 2, gx, gy);
        }
    return TOOL_DONE;
}

/* ---- The run ---- */

static int load(struct job *job) {
    struct tool *const tool = job->tool;
    for (int i = 0; i < 2; ++i) {
        tool->subject = job->paths[i];
        const int code = tool_status(tool, tvlm_image_load(job->paths[i], &tool->log, &job->images[i]));
        tool->subject = NULL;
        if (code != TOOL_DONE) return code;
    }
    if (job->images[0]->width != job->images[1]->width || job->images[0]->height != job->images[1]->height)
        return tool_fail(tool, "%s has %d x %d pixels, %s %d x %d; they must have one size", job->paths[0],
                         job->images[0]->width, job->images[0]->height, job->paths[1], job->images[1]->width,
                         job->images[1]->height);
    job->width = job->images[0]->width;
    job->height = job->images[0]->height;
    job->pixels = (size_t)job->width * (size_t)job->height;
    return TOOL_DONE;
}

static int compute(struct job *job) {
    struct tool *const tool = job->tool;
    const struct tvlm_stack_params params = {
        .layout = "r", .images = 2, .format = (tvlm_format)job->common->format.value};
    const struct tvlm_flow_params flow = {.full = job->options->full > 0};
    TOOL_TRY(tool_open_device(tool, job->common, &job->device));
    TOOL_TRY(
        tool_status(tool, tvlm_stack_create_for_image(job->device, job->images[0], &params, &job->stack)));
    TOOL_TRY(tool_status(tool, tvlm_stack_set_image(job->stack, 1, job->images[1])));
    TOOL_TRY(tool_status(tool, tvlm_flow_compute(job->stack, 0, job->stack, 1, &flow, &job->flow)));
    TOOL_TRY(tool_status(tool, tvlm_flow_get_info(job->flow, &job->info)));
    const size_t count = 3 * (size_t)job->info.width * (size_t)job->info.height;
    job->grid = malloc(count * sizeof *job->grid);
    if (job->grid == NULL) return tool_fail(tool, "no memory for the flow");
    TOOL_TRY(tool_status(tool, tvlm_flow_read(job->flow, count, job->grid)));
    return spread(job);
}

static int write_files(const struct job *job) {
    const flow_options *const options = job->options;
    const int64_t shape[] = {job->height, job->width};
    struct tool *const tool = job->tool;
    int code = TOOL_DONE;
    if (job->output != NULL)
        code =
            tool_status(tool, tvlm_flo_write(job->output, job->width, job->height, job->vectors, &tool->log));
    if (code == TOOL_DONE && options->picture != NULL) code = write_picture(job, options->picture);
    if (code == TOOL_DONE && options->confidence != NULL)
        code = tool_status(tool, tvlm_npy_write(options->confidence, TVLM_ELEMENT_F32, 2, shape,
                                                job->confidence, &tool->log));
    return code;
}

static int print_summary(const struct job *job) {
    double length = 0.0, confidence = 0.0;
    size_t sure = 0;
    json_writer json = {0};
    for (size_t i = 0; i < job->pixels; ++i) {
        length += (double)hypotf(job->vectors[2 * i], job->vectors[2 * i + 1]);
        confidence += (double)job->confidence[i];
        sure += job->confidence[i] >= 0.5f;
    }
    json_open_object(&json, NULL, false);
    json_string(&json, "from", job->paths[0]);
    json_string(&json, "to", job->paths[1]);
    json_integer(&json, "width", job->width);
    json_integer(&json, "height", job->height);
    json_device(&json, job->device);
    json_integers(&json, "grid", 2, (const int64_t[]){job->info.width, job->info.height});
    json_double(&json, "length_mean", length / (double)job->pixels);
    json_float(&json, "length_max", longest(job));
    json_double(&json, "confidence_mean", confidence / (double)job->pixels);
    json_double(&json, "confident_share", (double)sure / (double)job->pixels);
    return tool_print_json(job->tool, &json);
}

static int check(struct tool *tool, const flow_options *options, bool wanted, int count) {
    if (count != 2) return tool_usage(tool, "--flow takes two images, not %d", count);
    if (!wanted && options->picture == NULL && options->confidence == NULL)
        return tool_usage(tool, "nothing to write: -o F.flo, --picture, --confidence or --json is missing");
    return TOOL_DONE;
}

int flow_run(struct tool *tool, const tool_common *common, const flow_options *options, const char *output,
             int count, char *const *paths) {
    struct job job = {.tool = tool, .options = options, .common = common, .output = output, .paths = paths};
    int code = check(tool, options, output != NULL || common->json > 0, count);
    if (code == TOOL_DONE) code = load(&job);
    if (code == TOOL_DONE) code = compute(&job);
    if (code == TOOL_DONE) code = write_files(&job);
    if (code == TOOL_DONE && common->json > 0) code = print_summary(&job);
    free(job.grid);
    free(job.vectors);
    free(job.confidence);
    tvlm_flow_destroy(&job.flow);
    tvlm_stack_destroy(&job.stack);
    tvlm_device_destroy(&job.device);
    tvlm_image_destroy(&job.images[0]);
    tvlm_image_destroy(&job.images[1]);
    return code;
}
