/* tvlm generate: all channels of an image, as an array and as a contact sheet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "json.h"
#include "progress.h"
#include "texturevlm/io.h"
#include "tool.h"

typedef struct generate_options {
    tool_common common;
    const char *output, *sheet, *layout, *channels;
    option_integer level, clusters;
    option_size size;
} generate_options;

#define SIDE_MAX 16777216.0

static const option_spec specs[] = {
    {'o', OPTION_TEXT, "output", offsetof(generate_options, output), "STACK.npy",
     "channels x height x width, float32, in the layout's order", 0, 0, NULL},
    {0, OPTION_TEXT, "sheet", offsetof(generate_options, sheet), "SHEET.png",
     "a contact sheet: a labelled tile for each channel", 0, 0, NULL},
    {0, OPTION_TEXT, "layout", offsetof(generate_options, layout), "NAME", "which channels (default: full40)",
     0, 0, NULL},
    {0, OPTION_TEXT, "channels", offsetof(generate_options, channels), "A,B,C", "a list of channels instead",
     0, 0, NULL},
    {0, OPTION_INTEGER, "level", offsetof(generate_options, level), "N",
     "mip level of the image: each halves the sides (default: 0)", 0, 31, NULL},
    {0, OPTION_INTEGER, "clusters", offsetof(generate_options, clusters), "N",
     "regions that cluster_id, boundary and so on are about (default: 50)", 1, TVLM_REGIONS_MAX, NULL},
    {0, OPTION_SIZE, "size", offsetof(generate_options, size), "WxH",
     "size of the result, sampled at --level or, without it, at the\nlevel that fits (default: the level's "
     "own size)",
     1, SIDE_MAX, NULL},
};

/* What a run works with. */
struct job {
    struct tool *tool;
    const generate_options *options;
    tvlm_image *image;
    tvlm_device *device;
    tvlm_stack *stack;
    const int32_t *channels;
    int32_t channel_count, width, height;
    tvlm_npy_writer *writer;
    draw_sheet sheet;
    float *planes; /* of one group */
};

#define GROUP_BYTES ((size_t)256 << 20) /* of the planes held at a time */
#define GROUP_STEP  4                   /* channels in a slice of a packed array */

static int find_size(struct job *job) {
    const generate_options *const options = job->options;
    tvlm_stack_info info;
    int code = tool_status(job->tool, tvlm_stack_get_info(job->stack, &info));
    if (code != TOOL_DONE) return code;
    if (options->level.value >= info.levels)
        return tool_fail(job->tool, "--level %d: %d x %d pixels have levels 0 .. %d", options->level.value,
                         info.width, info.height, info.levels - 1);
    if (options->size.given) {
        job->width = options->size.width;
        job->height = options->size.height;
        return TOOL_DONE;
    }
    if (options->layout != NULL && strcmp(options->layout, "patch13") == 0 && !options->level.given) {
        job->width = job->height = 32; /* CHANNELS.md: thumbnails */
        return TOOL_DONE;
    }
    return tool_status(job->tool,
                       tvlm_stack_level_size(job->stack, options->level.value, &job->width, &job->height));
}

static int open_outputs(struct job *job) {
    const int64_t shape[] = {job->channel_count, job->height, job->width};
    const generate_options *const options = job->options;
    char title[256], name[160];
    const char *const slash = strrchr(job->tool->subject, '/');
    snprintf(name, sizeof name, "%s", slash != NULL ? slash + 1 : job->tool->subject);
    snprintf(title, sizeof title, "%.120s  %d x %d  %.80s", name, job->width, job->height,
             options->channels != NULL ? ""
             : options->layout != NULL ? options->layout
                                       : TVLM_LAYOUT_DEFAULT);
    if (options->sheet != NULL &&
        !draw_sheet_start(job->channels, job->channel_count, job->width, job->height, title, &job->sheet))
        return tool_fail(job->tool, "a sheet of %d channels is too large", job->channel_count);
    if (options->output == NULL) return TOOL_DONE;
    return tool_status(job->tool, tvlm_npy_writer_open(options->output, TVLM_ELEMENT_F32, 3, shape,
                                                       &job->tool->log, &job->writer));
}

/* Channels [first, first + count): into the array and onto the sheet. */
static int write_group(struct job *job, int32_t first, int32_t count, size_t area) {
    tvlm_packed *packed = NULL;
    struct tvlm_pack_params params = {.channels = job->channels + first,
                                      .channel_count = count,
                                      .width = job->width,
                                      .height = job->height,
                                      .level = (float)job->options->level.value};
    int code = tool_status(job->tool, tvlm_stack_pack(job->stack, &params, &packed));
    if (code == TOOL_DONE)
        code = tool_status(job->tool, tvlm_packed_read(packed, 0, area * (size_t)count, job->planes));
    tvlm_packed_destroy(&packed);
    if (code == TOOL_DONE && job->writer != NULL)
        code = tool_status(job->tool, tvlm_npy_writer_append(job->writer, job->planes, area * (size_t)count));
    for (int32_t i = 0; code == TOOL_DONE && job->sheet.canvas.rgb != NULL && i < count; ++i) {
        const float *const plane = job->planes + (size_t)i * area;
        if (!draw_sheet_add(&job->sheet, job->channels[first + i], plane, job->width, job->height))
            code = tool_fail(job->tool, "no memory for the sheet");
    }
    return code;
}

/* In groups of channels, so that a large image does not need all its planes in memory. */
static int write_channels(struct job *job) {
    const size_t area = (size_t)job->width * (size_t)job->height;
    const size_t fit = GROUP_BYTES / sizeof(float) / area / GROUP_STEP * GROUP_STEP;
    const int32_t group = fit < GROUP_STEP                   ? GROUP_STEP
                          : fit < (size_t)job->channel_count ? (int32_t)fit
                                                             : job->channel_count;
    int code = TOOL_DONE;
    job->planes = area <= SIZE_MAX / sizeof(float) / (size_t)group
                      ? malloc(area * sizeof(float) * (size_t)group)
                      : NULL;
    if (job->planes == NULL)
        return tool_fail(job->tool, "no memory for planes of %d x %d", job->width, job->height);
    progress_start("channels", job->channel_count);
    for (int32_t first = 0; code == TOOL_DONE && first < job->channel_count; first += group) {
        const int32_t rest = job->channel_count - first;
        code = write_group(job, first, rest < group ? rest : group, area);
        progress_step(first + (rest < group ? rest : group));
    }
    progress_clear();
    return code;
}

static int close_outputs(struct job *job) {
    const char *const sheet = job->options->sheet;
    const struct canvas *const canvas = &job->sheet.canvas;
    int code = TOOL_DONE;
    job->tool->subject = NULL; /* what fails now is not about the image */
    if (sheet != NULL)
        code = tool_status(
            job->tool, tvlm_png_write(sheet, canvas->width, canvas->height, 3, canvas->rgb, &job->tool->log));
    if (code == TOOL_DONE && job->writer != NULL)
        code = tool_status(job->tool, tvlm_npy_writer_close(&job->writer));
    return code;
}

static int print_summary(struct job *job, const char *path) {
    const generate_options *const options = job->options;
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    json_open_object(&json, "image", true);
    json_string(&json, "path", path);
    json_integer(&json, "width", job->image->width);
    json_integer(&json, "height", job->image->height);
    json_close(&json);
    json_string(&json, "device", tvlm_device_get_info(job->device)->name);
    json_string(&json, "path", options->output);
    json_string(&json, "sheet", options->sheet);
    json_open_array(&json, "shape", true);
    json_integer(&json, NULL, job->channel_count);
    json_integer(&json, NULL, job->height);
    json_integer(&json, NULL, job->width);
    json_close(&json);
    json_open_array(&json, "channels", true);
    for (int32_t i = 0; i < job->channel_count; ++i) {
        tvlm_channel_info channel = {.name = ""};
        (void)tvlm_channel_get_info(job->channels[i], &channel); /* a channel of the stack is known */
        json_string(&json, NULL, channel.name);
    }
    json_close(&json);
    json_close(&json);
    const int code = tool_print(job->tool, json_text_of(&json));
    json_release(&json);
    return code;
}

static int generate(struct job *job, const char *path) {
    struct tool *const tool = job->tool;
    const generate_options *const options = job->options;
    const char *const layout = options->channels != NULL ? options->channels : options->layout;
    int32_t known = 0;
    int code = layout != NULL ? tool_status(tool, tvlm_layout_parse(layout, &tool->log, 0, NULL, &known))
                              : TOOL_DONE;
    if (code != TOOL_DONE) return code;
    tool->subject = path;
    if ((code = tool_status(tool, tvlm_image_load(path, &tool->log, &job->image))) != TOOL_DONE ||
        (code = tool_open_device(tool, &options->common, &job->device)) != TOOL_DONE)
        return code;
    code = tool_status(tool,
                       tvlm_stack_create_for_image(
                           job->device, job->image,
                           tvlm_stack_params(.layout = layout, .format = (tvlm_format)options->common.format,
                                             .clusters = options->clusters.given ? options->clusters.value : 0),
                           &job->stack));
    if (code != TOOL_DONE) return code;
    job->channels = tvlm_stack_channels(job->stack, &job->channel_count);
    if ((code = find_size(job)) != TOOL_DONE || (code = open_outputs(job)) != TOOL_DONE ||
        (code = write_channels(job)) != TOOL_DONE || (code = close_outputs(job)) != TOOL_DONE)
        return code;
    return options->common.json > 0 ? print_summary(job, path) : TOOL_DONE;
}

static int run_generate(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const generate_options *const options = values;
    const char *const path = operands[0];
    struct job job = {.tool = tool, .options = options};
    int code;
    (void)operand_count;
    if (options->output == NULL && options->sheet == NULL)
        return tool_usage(tool, "nothing to write: -o STACK.npy or --sheet SHEET.png is missing");
    if (options->layout != NULL && options->channels != NULL)
        return tool_usage(tool, "--layout and --channels exclude each other");
    if (tool_same_output(options->output, options->sheet))
        return tool_usage(tool, "-o and --sheet name the same file");
    if ((code = tool_check_output(tool, options->output)) != TOOL_DONE ||
        (code = tool_check_output(tool, options->sheet)) != TOOL_DONE ||
        (code = tool_check_distinct(tool, options->output, path)) != TOOL_DONE ||
        (code = tool_check_distinct(tool, options->sheet, path)) != TOOL_DONE)
        return code;
    code = generate(&job, path);
    progress_clear();
    tvlm_npy_writer_abort(&job.writer);
    canvas_release(&job.sheet.canvas);
    free(job.planes);
    tvlm_stack_destroy(&job.stack);
    tvlm_device_destroy(&job.device);
    tvlm_image_destroy(&job.image);
    return code;
}

const tool_command generate_command = {
    .name = "generate",
    .summary = "the channels of an image, as an array and as a picture",
    .operands = "IMAGE",
    .operand_min = 1,
    .operand_max = 1,
    .details = "At least one of -o and --sheet. Layouts: visual12 cluster15 embed31 temporal34 full40 mvp13 "
               "patch13\n"
               "scene18; patch13 is 32x32 unless --size or --level say otherwise. Channels that this version "
               "does not\n"
               "make, or that one image does not have, are 0 inside a layout and refused in --channels.\n"
               "IMAGE is JPEG, PNG, BMP, PPM or PGM.\n",
    .options = specs,
    .option_count = sizeof specs / sizeof *specs,
    .options_size = sizeof(generate_options),
    .run = run_generate,
};
