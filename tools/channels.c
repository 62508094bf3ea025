/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm channels: makes all channels of images, as an array, and for a single image also as a contact sheet; or
 * the flow between two images.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels.h"
#include "each.h"
#include "files.h"
#include "inputs.h"
#include "json.h"
#include "networks.h"
#include "progress.h"
#include "shared.h"
#include "texturevlm/draw.h"
#include "texturevlm/io.h"
#include "tool.h"

typedef struct generate_options {
    tool_common common;
    const char *output, *sheet, *layout, *channels, *network;
    option_integer level, clusters, max_side;
    option_size size;
    option_triple rope;
    option_choice reduce;
    int ragged;
    input_options inputs;
    each_options each;
    flow_options flow;
} generate_options;

#define SIDE_MAX 16777216.0

enum { GAUSSIAN = 1 }; /* its index among the choices of --reduce */

static const char *const reductions[] = {"mean", "gaussian", NULL};

static const option_spec outputs_list[] = {
    {'o', OPTION_PATTERN, "output", offsetof(generate_options, output), "STACK.npy|DIR",
     "channels x height x width, float32, in the layout's order; of several images: images x "
     "channels x height x width; with --each and --ragged a folder that is there, in which each image gets a file",
     NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "sheet", offsetof(generate_options, sheet), "SHEET.png",
     "a contact sheet: a labelled panel for each channel", NO_RANGE, NULL},
    {0, OPTION_TEXT, "layout", offsetof(generate_options, layout), "NAME", "which channels (default: full40)",
     NO_RANGE, NULL},
    {0, OPTION_TEXT, "channels", offsetof(generate_options, channels), "A,B,C", "a list of channels instead",
     NO_RANGE, NULL},
    {0, OPTION_INTEGER, "level", offsetof(generate_options, level), "N",
     "mip level of the image: each halves the sides (default: 0)", 0, 31, NULL},
    {0, OPTION_SIZE, "size", offsetof(generate_options, size), "WxH|N",
     "size of the result, sampled at --level or, without it, at the level that fits (default: the "
     "level's own size); of patch13 and scene18 also the size at which they are made (default: "
     "32x32)",
     1, SIDE_MAX, NULL},
};
static const option_specs own_outputs_specs = OPTION_SPECS("What comes out", outputs_list);

static const option_spec images_list[] = {
    {0, OPTION_INTEGER, "max-side", offsetof(generate_options, max_side), "PIXELS", MAX_SIDE_HELP, 1,
     SIDE_MAX, NULL},
    {0, OPTION_CHOICE, "reduce", offsetof(generate_options, reduce), "NAME",
     "how the levels of channels are made whose levels are means: mean (default), or gaussian, which aliases less",
     NO_RANGE, reductions},
    {0, OPTION_INTEGER, "clusters", offsetof(generate_options, clusters), "N",
     "regions that cluster_id, boundary and so on are about (default: 50)", 1, TVLM_REGIONS_MAX, NULL},
    {0, OPTION_INPUT, "network", offsetof(generate_options, network), "FILE.safetensors",
     "makes the outputs of a network, which --channels names (default: all of them)", NO_RANGE, NULL},
};
static const option_specs own_images_specs = OPTION_SPECS("The image", images_list);

static const option_spec together_list[] = {
    {0, OPTION_FLAG, "ragged", offsetof(generate_options, ragged), NULL,
     "makes images of different sizes in one batch, each at its own size, to the bit as if it were alone: NAME.npy for "
     "NAME.jpg (default of --layout: what such a batch can have)",
     NO_RANGE, NULL},
};
static const option_specs own_together_specs = OPTION_SPECS("Many images", together_list);

static const option_group groups[] = {
    {&own_outputs_specs, 0},
    {&own_images_specs, 0},
    {&rope_specs, offsetof(generate_options, rope)},
    {&input_specs, offsetof(generate_options, inputs)},
    {&input_vector_specs, offsetof(generate_options, inputs)},
    {&feature_patch_specs, offsetof(generate_options, inputs.patch)},
    {&basis_specs, offsetof(generate_options, inputs.basis)},
    {&flow_specs, offsetof(generate_options, flow)},
    {&own_together_specs, 0},
    {&each_specs, offsetof(generate_options, each)},
    {&batch_specs, offsetof(generate_options, each.batch)},
    {0},
};

/* What a run works with. */
struct job {
    struct tool *tool;
    const generate_options *options;
    const char *layout; /* NULL: the default */
    const char *output; /* the array, or NULL */
    char *const *paths;
    int32_t path_count;
    const tvlm_image *image;
    tvlm_image shape;                  /* with --each: the size of the images that the stack is for */
    int32_t image_width, image_height; /* the size of the first image in its file */
    input_files *inputs;
    tvlm_device *device;
    tvlm_network *network; /* NULL: there is none */
    tvlm_stack *stack;
    const int32_t *channels;
    int32_t channel_count, width, height;
    tvlm_npy_writer *writer;
    tvlm_image *sheet;
    float *planes; /* the planes of one group of channels; NULL: no array is written */
};

#define GROUP_BYTES ((size_t)256 << 20) /* the most bytes of planes in memory at a time */
#define GROUP_STEP  4                   /* how many channels a slice of a packed array has */

int channels_check_level(struct tool *tool, int32_t level, const int32_t size[2], int32_t levels) {
    if (level < levels) return TOOL_DONE;
    return tool_fail(tool, "--level %d: %d x %d pixels have levels 0 .. %d", (int)level, (int)size[0],
                     (int)size[1], (int)levels - 1);
}

static int find_size(struct job *job) {
    const generate_options *const options = job->options;
    tvlm_stack_info info;
    TOOL_TRY(tool_status(job->tool, tvlm_stack_get_info(job->stack, &info)));
    TOOL_TRY(channels_check_level(job->tool, options->level.value, (int32_t[]){info.width, info.height},
                                  info.levels));
    if (options->size.given) {
        job->width = options->size.width;
        job->height = options->size.height;
        return TOOL_DONE;
    }
    return tool_status(job->tool,
                       tvlm_stack_level_size(job->stack, options->level.value, &job->width, &job->height));
}

/* Draws the channels of the only image. */
static int draw_sheet(struct job *job) {
    const generate_options *const options = job->options;
    const char *const slash = strrchr(job->tool->subject, '/');
    char title[256], name[160];
    snprintf(name, sizeof name, "%s", slash != NULL ? slash + 1 : job->tool->subject);
    snprintf(title, sizeof title, "%.120s  %d x %d  %.80s", name, job->width, job->height,
             options->channels != NULL  ? ""
             : options->layout != NULL  ? options->layout
             : options->network != NULL ? options->network
                                        : TVLM_LAYOUT_DEFAULT);
    const struct tvlm_draw_channels_params params = {
        .width = job->width, .height = job->height, .level = options->level.value, .title = title};
    return tool_status(job->tool, tvlm_draw_channels(job->stack, &params, &job->tool->log, &job->sheet));
}

static int open_outputs(struct job *job) {
    const int64_t shape[] = {job->path_count, job->channel_count, job->height, job->width};
    const int first = job->path_count > 1 ? 0 : 1; /* a single image adds no dimension to the array */
    if (job->output == NULL) return TOOL_DONE;
    return tool_status(job->tool, tvlm_npy_writer_open(job->output, TVLM_ELEMENT_F32, 4 - first,
                                                       shape + first, &job->tool->log, &job->writer));
}

/* Writes channels [first, first + count) into the array. */
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
    if (code == TOOL_DONE)
        code = tool_status(job->tool, tvlm_npy_writer_append(job->writer, job->planes, area * (size_t)count));
    return code;
}

/* How many channels are made together. There are groups, so that not all planes of a large image are in
 * memory at the same time. */
static int32_t group_size(const struct job *job) {
    const size_t area = (size_t)job->width * (size_t)job->height;
    const size_t fit = GROUP_BYTES / sizeof(float) / area / GROUP_STEP * GROUP_STEP;
    return fit < GROUP_STEP                   ? GROUP_STEP
           : fit < (size_t)job->channel_count ? (int32_t)fit
                                              : job->channel_count;
}

static int make_planes(struct job *job) {
    if (job->output == NULL) return TOOL_DONE;
    const size_t area = (size_t)job->width * (size_t)job->height, group = (size_t)group_size(job);
    job->planes = area <= SIZE_MAX / sizeof(float) / group ? malloc(area * sizeof(float) * group) : NULL;
    if (job->planes != NULL) return TOOL_DONE;
    return tool_fail(job->tool, "no memory for planes of %d x %d", job->width, job->height);
}

/* Writes all channels of the stack's image, which is image number `index` of the run. */
static int write_channels(struct job *job, int32_t index) {
    const int32_t group = group_size(job);
    int code = job->options->sheet != NULL ? draw_sheet(job) : TOOL_DONE;
    if (job->output == NULL) return code;
    for (int32_t first = 0; code == TOOL_DONE && first < job->channel_count; first += group) {
        const int32_t rest = job->channel_count - first, count = rest < group ? rest : group;
        code = write_group(job, first, count, (size_t)job->width * (size_t)job->height);
        progress_step(index * job->channel_count + first + count);
    }
    return code;
}

static int close_outputs(struct job *job) {
    const tvlm_image *const sheet = job->sheet;
    int code = TOOL_DONE;
    job->tool->subject = NULL; /* an error from here on is not about the image */
    if (sheet != NULL)
        code = tool_status(job->tool, tvlm_png_write(job->options->sheet, sheet->width, sheet->height, 3,
                                                     sheet->pixels, &job->tool->log));
    if (code == TOOL_DONE && job->writer != NULL)
        code = tool_status(job->tool, tvlm_npy_writer_finish(job->writer));
    return code;
}

static void print_images(json_writer *json, const struct job *job) {
    if (job->path_count == 1) {
        json_image(json, job->paths[0], job->image_width, job->image_height);
        return;
    }
    json_open_array(json, "images", false);
    for (int32_t i = 0; i < job->path_count; ++i) json_string(json, NULL, job->paths[i]);
    json_close(json);
}

static void print_array(json_writer *json, const struct job *job) {
    const int64_t shape[] = {job->path_count, job->channel_count, job->height, job->width};
    const int first = job->path_count > 1 ? 0 : 1;
    json_integers(json, "shape", 4 - first, shape + first);
    json_open_array(json, "channels", true);
    for (int32_t i = 0; i < job->channel_count; ++i) {
        tvlm_channel_info channel = {.name = ""};
        (void)tvlm_stack_get_channel_info(job->stack, job->channels[i], &channel); /* the stack has it */
        json_string(json, NULL, channel.name);
    }
    json_close(json);
}

static int print_summary(struct job *job) {
    const generate_options *const options = job->options;
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    print_images(&json, job);
    json_device(&json, job->device);
    json_string(&json, "path", options->output);
    json_string(&json, "sheet", options->sheet);
    print_array(&json, job);
    return tool_print_json(job->tool, &json);
}

/* Chooses the size of the stack: the image's size, or the largest of its shape that the device has memory
 * for. Besides the stack, packed channels need memory. They take less than a second image would, so the size
 * is one at which two images fit. */
static int choose_size(struct job *job, struct tvlm_stack_params *params) {
    const int32_t longer = job->image->width > job->image->height ? job->image->width : job->image->height;
    struct tvlm_stack_params two = *params;
    int32_t width = job->image->width, height = job->image->height;
    two.images = 2;
    const int code = tool_status(job->tool, tvlm_stack_largest_size(job->device, &two, &width, &height));
    const int32_t asked = params->max_side > 0 && params->max_side < longer ? params->max_side : longer;
    if (code == TOOL_DONE && width < asked && height < asked)
        tvlm_log_message(&job->tool->log, TVLM_LOG_WARNING,
                         "scaled down from %dx%d to %dx%d, which this device can hold with the channels on "
                         "their way out",
                         (int)job->image->width, (int)job->image->height, (int)width, (int)height);
    params->width = width;
    params->height = height;
    return code;
}

/* Creates a stack for a single image, in the size of the first image. Layouts of thumbnails are made at the
 * size of the result. */
static int create_stack(struct job *job) {
    const generate_options *const options = job->options;
    const char *const layout = job->layout;
    struct tvlm_stack_params params = {.layout = layout,
                                       .format = (tvlm_format)options->common.format.value,
                                       .clusters = options->clusters.given ? options->clusters.value : 0,
                                       .max_side = options->max_side.value,
                                       .network = job->network};
    if (tvlm_layout_side(layout) > 0 && options->size.given) {
        params.width = options->size.width;
        params.height = options->size.height;
    } else if (tvlm_layout_side(layout) == 0) {
        const int code = choose_size(job, &params);
        if (code != TOOL_DONE) return code;
    }
    return tool_status(job->tool, tvlm_stack_create_for_image(job->device, job->image, &params, &job->stack));
}

/* Tells the stack what the options say about the way in which channels are made. */
static int prepare_stack(struct tool *tool, const void *values, tvlm_stack *stack) {
    const generate_options *const options = values;
    int code = TOOL_DONE;
    if (options->reduce.value == GAUSSIAN)
        code = tool_status(tool, tvlm_stack_set_reduce(stack, TVLM_GAUSSIAN));
    return code == TOOL_DONE ? rope_set(tool, &options->rope, stack) : code;
}

static int open_stack(struct job *job) {
    TOOL_TRY(create_stack(job));
    job->channels = tvlm_stack_channels(job->stack, &job->channel_count);
    return prepare_stack(job->tool, job->options, job->stack);
}

/* Begins with the first image, which decides all sizes. It opens the outputs, so that an error in them shows
 * at once. */
static int begin(struct job *job) {
    struct tool *const tool = job->tool;
    int code;
    job->image_width = job->image->width;
    job->image_height = job->image->height;
    if ((code = tool_open_device(tool, &job->options->common, &job->device)) != TOOL_DONE ||
        (code = open_stack(job)) != TOOL_DONE ||
        (code = inputs_set(tool, job->inputs, job->image_width, job->stack)) != TOOL_DONE ||
        (code = find_size(job)) != TOOL_DONE || (code = open_outputs(job)) != TOOL_DONE ||
        (code = make_planes(job)) != TOOL_DONE)
        return code;
    progress_start("channels", (int64_t)job->path_count * job->channel_count);
    return TOOL_DONE;
}

/* Refuses what is handed in for channels that the layout does not have. A network's inputs are known only
 * when its file has been read, so with one nothing is refused. */
static int check_read(struct tool *tool, const generate_options *options, const char *layout) {
    const input_options *const inputs = &options->inputs;
    const char *const regions = tool_given(tool, "labels clusters");
    const char *const features = inputs->words != NULL      ? "--words"
                                 : inputs->features != NULL ? "--features"
                                                            : NULL;
    const int32_t made = inputs->words != NULL ? TVLM_CHANNEL_WORD_0 : TVLM_CHANNEL_FEATURE_0;
    if (options->network != NULL) return TOOL_DONE;
    if (layout == NULL) layout = TVLM_LAYOUT_DEFAULT;
    TOOL_TRY(inputs_check(tool, inputs, layout, INPUTS_OF_LAYOUT));
    if (regions != NULL)
        TOOL_TRY(inputs_check_read(tool, regions, TVLM_CHANNEL_CLUSTER_ID, layout, INPUTS_OF_LAYOUT));
    return features != NULL ? inputs_check_read(tool, features, made, layout, INPUTS_OF_LAYOUT) : TOOL_DONE;
}

/* Reads the files that the options name. `outputs` has room for the names of a network's outputs, which may
 * be the layout. */
static int read_options(struct job *job, char outputs[NETWORK_NAMES]) {
    struct tool *const tool = job->tool;
    const generate_options *const options = job->options;
    const char *layout = options->channels != NULL ? options->channels : options->layout;
    int32_t known = 0;
    /* The names of a network's outputs are known only to the stack, so a layout with a network is checked
     * later. */
    int code = layout != NULL && options->network == NULL
                   ? tool_usage_status(tool, tvlm_layout_parse(layout, &tool->log, 0, NULL, &known))
                   : TOOL_DONE;
    if (code == TOOL_DONE) code = check_read(tool, options, layout);
    if (code == TOOL_DONE) code = network_read(tool, options->network, &job->network, outputs);
    job->layout = layout == NULL && job->network != NULL ? outputs : layout;
    return code == TOOL_DONE ? inputs_read(tool, &options->inputs, &job->inputs) : code;
}

/* Images go through one stack, one after the other. A batch would give the same result, but would hold all
 * images in memory. */
static int generate(struct job *job) {
    struct tool *const tool = job->tool;
    const generate_options *const options = job->options;
    int code = TOOL_DONE;
    for (int32_t i = 0; code == TOOL_DONE && i < job->path_count; ++i) {
        tvlm_image *image = NULL;
        tool->subject = job->paths[i];
        code = tool_status(tool, tvlm_image_load(job->paths[i], &tool->log, &image));
        job->image = image;
        if (code == TOOL_DONE)
            code = i == 0 ? begin(job) : tool_status(tool, tvlm_stack_set_image(job->stack, 0, image));
        if (code == TOOL_DONE) code = write_channels(job, i);
        tvlm_image_destroy(&image);
    }
    progress_clear();
    if (code == TOOL_DONE) code = close_outputs(job);
    return code == TOOL_DONE && options->common.json > 0 ? print_summary(job) : code;
}

/* ---- A file of each image ---- */

static void release_stack(struct job *job) {
    tvlm_npy_writer_destroy(&job->writer);
    free(job->planes);
    job->planes = NULL;
    tvlm_stack_destroy(&job->stack);
}

static void lose_device(void *user) {
    struct job *const job = user;
    release_stack(job);
    tvlm_device_destroy(&job->device);
}

/* Puts the image into the stack. If its size differs from that of the stack's images, makes a new stack. */
static int put_image(struct job *job) {
    const tvlm_image *const image = job->image, *const shape = &job->shape;
    int code = TOOL_DONE;
    if (job->stack != NULL && shape->width == image->width && shape->height == image->height)
        return tool_status(job->tool, tvlm_stack_set_image(job->stack, 0, image));
    release_stack(job);
    job->shape = *image;
    if (job->device == NULL) code = tool_open_device(job->tool, &job->options->common, &job->device);
    if (code == TOOL_DONE) code = open_stack(job);
    if (code == TOOL_DONE) code = find_size(job);
    return code == TOOL_DONE ? make_planes(job) : code;
}

static int generate_each(void *user, const each_image *image) {
    struct job *const job = user;
    job->image = image->image;
    job->output = image->output;
    int code = put_image(job);
    if (code == TOOL_DONE) code = open_outputs(job);
    if (code == TOOL_DONE) code = write_channels(job, 0);
    if (code == TOOL_DONE) code = close_outputs(job);
    tvlm_npy_writer_destroy(&job->writer);
    if (code != TOOL_DONE) release_stack(job);
    if (code != TOOL_DONE || image->json == NULL) return code;
    json_device(image->json, job->device);
    print_array(image->json, job);
    return TOOL_DONE;
}

static int run_each(struct job *job, int count, char *const *operands) {
    const generate_options *const options = job->options;
    const each_work work = {.end = ".npy", .make = generate_each, .reset = lose_device, .user = job};
    job->path_count = 1;
    return each_run(job->tool, &options->each, options->output, count, operands, &work);
}

/* Refuses options that are for a single image. */
static int check_each(struct tool *tool, const generate_options *options) {
    const char *const own = tool_given(tool, "ragged sheet json");
    const char *const other = own != NULL ? own : inputs_given(&options->inputs);
    return other != NULL ? tool_usage(tool, "%s is not for --each", other) : TOOL_DONE;
}

/* Refuses options that are not for images of different sizes. */
static int check_ragged(struct tool *tool, const generate_options *options) {
    const char *const own = tool_given(tool, "sheet size max-side clusters");
    const char *const other = own != NULL ? own : inputs_given(&options->inputs);
    return other != NULL ? tool_usage(tool, "%s is not for --ragged", other) : TOOL_DONE;
}

static int check_usage(struct tool *tool, const generate_options *options, int path_count) {
    if (options->output == NULL && options->ragged > 0) return tool_usage(tool, "--ragged needs -o DIR");
    if (options->output == NULL && options->sheet == NULL)
        return tool_usage(tool, "nothing to write: -o STACK.npy or --sheet SHEET.png is missing");
    if (options->layout != NULL && options->channels != NULL)
        return tool_usage(tool, "--layout and --channels exclude each other");
    if (options->max_side.given && options->layout != NULL && tvlm_layout_side(options->layout) > 0)
        return tool_usage(tool, "--max-side is not for --layout %s, which --size is for", options->layout);
    if (options->clusters.given && options->inputs.labels != NULL)
        return tool_usage(tool, "--clusters and --labels exclude each other");
    if (options->inputs.features == NULL && (options->inputs.words != NULL || options->inputs.patch.given))
        return tool_usage(tool, "%s needs --features",
                          options->inputs.words != NULL ? "--words" : "--feature-patch");
    if (options->inputs.basis.name != NULL && options->inputs.given[INPUT_EMBEDDING] != NULL)
        return tool_usage(tool, "--basis and --give embedding exclude each other");
    TOOL_TRY(basis_check(tool, &options->inputs.basis, options->inputs.features != NULL,
                         options->inputs.words != NULL, "--words"));
    if (options->each.each > 0) return check_each(tool, options);
    if (options->ragged > 0) return check_ragged(tool, options);
    if (path_count > 1 && options->sheet != NULL) return tool_usage(tool, "--sheet is of one image");
    if (path_count > 1 && inputs_given(&options->inputs) != NULL)
        return tool_usage(tool, "%s is of one image", inputs_given(&options->inputs));
    return TOOL_DONE;
}

static int run_ragged(const struct job *job, int count, char *const *paths) {
    const generate_options *const options = job->options;
    const ragged_options ragged = {.common = &options->common,
                                   .folder = options->output,
                                   .layout = job->layout,
                                   .network = job->network,
                                   .level = options->level.value,
                                   .prepare = prepare_stack,
                                   .values = options};
    return generate_ragged(job->tool, &ragged, count, paths);
}

/* Whether an option is read with --flow: those for the flow, the device and the output. */
static bool is_of_flow(const option_table *table, int i) {
    const option_spec *const spec = &table->specs[i];
    return table->groups[i] == &flow_specs || table->groups[i] == &tool_common_specs || spec->letter == 'o';
}

/* Refuses options of the channels with --flow, and options of the flow without. */
static int check_flow(struct tool *tool, const generate_options *options) {
    const bool flow = options->flow.flow > 0;
    for (int i = 0; i < tool->table->count; ++i) {
        char label[64];
        if (!option_given(&tool->table->specs[i], options)) continue;
        option_label(tool->table, i, label, sizeof label);
        if (flow && !is_of_flow(tool->table, i)) return tool_usage(tool, "%s is not for --flow", label);
        if (!flow && tool->table->groups[i] == &flow_specs)
            return tool_usage(tool, "%s is for --flow", label);
    }
    return TOOL_DONE;
}

static int run_flow(struct tool *tool, const generate_options *options, int count, char *const *paths) {
    TOOL_TRY(options->output != NULL ? files_output(tool, "--output", options->output) : TOOL_DONE);
    return flow_run(tool, &options->common, &options->flow, options->output, count, paths);
}

static int run_generate(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const generate_options *const options = values;
    const int checked = check_flow(tool, options);
    if (checked != TOOL_DONE) return checked;
    if (options->flow.flow > 0) return run_flow(tool, options, operand_count, operands);
    const bool each = options->each.each > 0, folder = each || options->ragged > 0;
    char outputs[NETWORK_NAMES];
    struct job job = {.tool = tool,
                      .options = options,
                      .output = options->output,
                      .paths = operands,
                      .path_count = operand_count};
    int code =
        !folder && options->output != NULL ? files_output(tool, "--output", options->output) : TOOL_DONE;
    if (code == TOOL_DONE) code = each_check(tool, &options->each, options->output, operand_count, operands);
    if (code == TOOL_DONE) code = check_usage(tool, options, operand_count);
    if (code != TOOL_DONE) return code;
    code = read_options(&job, outputs);
    if (code == TOOL_DONE)
        code = each                  ? run_each(&job, operand_count, operands)
               : options->ragged > 0 ? run_ragged(&job, operand_count, operands)
                                     : generate(&job);
    progress_clear();
    tvlm_npy_writer_destroy(&job.writer);
    tvlm_image_destroy(&job.sheet);
    inputs_release(&job.inputs);
    free(job.planes);
    tvlm_stack_destroy(&job.stack);
    network_release(&job.network);
    tvlm_device_destroy(&job.device);
    return code;
}

static const char *const examples[] = {
    "channels photo.jpg -o stack.npy --sheet channels.png",
    "channels --flow now.png before.png -o flow.flo --picture flow.png",
    NULL,
};

static const option_brief brief[] = {
    {"What comes out", "output sheet layout channels level size"},
    {"The image", "max-side clusters"},
    {"What is asked", "features basis"},
    {"What is known of the image", "give labels"},
    {"Optical flow", "flow picture confidence full"},
    {"Many images", "ragged each jsonl skip-errors resume list recursive"},
    {"Device and messages", "device fallback json verbose quiet help"},
    {NULL, NULL},
};

const tool_command channels_command = {
    .name = "channels",
    .summary = "the channels of images, as an array and as a picture; the optical flow of two",
    .examples = examples,
    .brief = brief,
    .operands = "IMAGE...",
    .operand_max = INT_MAX, /* at least one, unless there is a list */
    .details =
        "At least one of -o and --sheet. With --each every image gets a file of its own size, and with --jsonl a line. Layouts: visual12 cluster15 embed31 temporal34 full40 mvp13 patch13\n"
        "scene18; the last two are made at 32x32 unless --size says otherwise. Several images are brought to the\n"
        "size of the first one, or to that of the layout. Channels that this version does not make are 0 inside\n"
        "a layout and refused in --channels; what no option hands in is 0; a sheet names both below its panels.\n"
        "IMAGE is " READ_PICTURES ".\n"
        "--flow: for what a stack moves along with a video, the first image is the present frame and the second the\n"
        "previous one. Both are of one size.\n",
    .options = groups,
    .options_size = sizeof(generate_options),
    .run = run_generate,
};
