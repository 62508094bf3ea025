/* tvlm select: the positions that matter, as JSON, drawn on the photo, and as a heat map. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "json.h"
#include "progress.h"
#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"
#include "tool.h"

typedef struct select_options {
    tool_common common;
    option_integer k;
    const char *output, *overlay, *heatmap, *scorer;
    int strategy; /* tvlm_strategy */
    option_number stride, patch, min_distance;
    option_triple weights;
} select_options;

static const char *const strategies[] = {"grid", NULL};

static const option_spec specs[] = {
    {'k', OPTION_INTEGER, NULL, offsetof(select_options, k), "K",
     "how many positions (default: 273, or as many as there are)", INT32_MIN, INT32_MAX, NULL},
    {'o', OPTION_TEXT, "output", offsetof(select_options, output), "FILE", "the JSON (default: to stdout)", 0,
     0, NULL},
    {0, OPTION_TEXT, "overlay", offsetof(select_options, overlay), "FILE.png",
     "the photo with the chosen cells, coloured by rank", 0, 0, NULL},
    {0, OPTION_TEXT, "heatmap", offsetof(select_options, heatmap), "FILE.png",
     "the score of every cell, in colour over the photo", 0, 0, NULL},
    {0, OPTION_CHOICE, "strategy", offsetof(select_options, strategy), "NAME",
     "grid (default): the best cells of a regular grid", 0, 0, strategies},
    {0, OPTION_NUMBER, "stride", offsetof(select_options, stride), "PIXELS", "side of a cell (default: 16)",
     1, 65536, NULL},
    {0, OPTION_NUMBER, "patch", offsetof(select_options, patch), "PIXELS",
     "side of the encoder's patch; the level of a position is\nlog2(stride / patch), at least 0 (default: "
     "16)",
     1, 65536, NULL},
    {0, OPTION_NUMBER, "min-distance", offsetof(select_options, min_distance), "PIXELS",
     "between positions, greedy by rank; there may be fewer\nthan K then (default: 0)", 0, 1e9, NULL},
    {0, OPTION_TRIPLE, "weights", offsetof(select_options, weights), "I,P,Q",
     "of information, perspective and participation; the last one\nis not used: there is no query yet", 0, 0,
     NULL},
    {0, OPTION_TEXT, "scorer", offsetof(select_options, scorer), "FILE.safetensors",
     "a weight for each channel instead of the three parts", 0, 0, NULL},
};

#define PATH_SIZE   4096
#define LAYOUT_SIZE 2048

/* What is the same for all images. */
struct run {
    struct tool *tool;
    const select_options *options;
    tvlm_scorer *scorer;
    tvlm_device *device;
    char layout[LAYOUT_SIZE]; /* the names of the channels that the score reads */
    bool several;
    json_writer json;
};

/* ---- Names of outputs ---- */

/* With several images "out.png" becomes "out-STEM.png". */
static int output_name(struct tool *tool, const char *pattern, const char *image, bool several, char *path) {
    char stem[512];
    const char *const slash = strrchr(pattern, '/');
    const char *const dot = strrchr(slash != NULL ? slash + 1 : pattern, '.');
    const size_t base = dot != NULL ? (size_t)(dot - pattern) : strlen(pattern);
    int length;
    tool_stem(image, stem, sizeof stem);
    if (several)
        length = snprintf(path, PATH_SIZE, "%.*s-%s%s", (int)base, pattern, stem, dot != NULL ? dot : "");
    else
        length = snprintf(path, PATH_SIZE, "%s", pattern);
    return length < PATH_SIZE ? TOOL_DONE : tool_fail(tool, "%.64s...: the path is too long", pattern);
}

static int check_picture(struct tool *tool, const char *pattern, int count, char *const *images) {
    char path[PATH_SIZE], a[512], b[512];
    int code = TOOL_DONE;
    if (pattern == NULL) return code;
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        if ((code = output_name(tool, pattern, images[i], count > 1, path)) != TOOL_DONE ||
            (code = tool_check_output(tool, path)) != TOOL_DONE)
            break;
        for (int j = 0; code == TOOL_DONE && j < count; ++j)
            code = tool_check_distinct(tool, path, images[j]);
        tool_stem(images[i], a, sizeof a);
        for (int j = 0; code == TOOL_DONE && j < i; ++j) {
            tool_stem(images[j], b, sizeof b);
            if (strcmp(a, b) == 0) code = tool_usage(tool, "%s would be written for two images", path);
        }
    }
    return code;
}

static int check_outputs(struct tool *tool, const select_options *options, int count, char *const *images) {
    int code = TOOL_DONE;
    if (tool_same_output(options->overlay, options->heatmap) ||
        tool_same_output(options->output, options->overlay) ||
        tool_same_output(options->output, options->heatmap))
        return tool_usage(tool, "two outputs name the same file");
    if ((code = tool_check_output(tool, options->output)) != TOOL_DONE ||
        (code = check_picture(tool, options->overlay, count, images)) != TOOL_DONE ||
        (code = check_picture(tool, options->heatmap, count, images)) != TOOL_DONE)
        return code;
    for (int i = 0; code == TOOL_DONE && i < count; ++i)
        code = tool_check_distinct(tool, options->output, images[i]);
    return code;
}

/* ---- What the score reads ---- */

static bool is_read(const tvlm_scorer *scorer, int32_t i) {
    for (int32_t tap = 0; tap < scorer->taps; ++tap) {
        if (scorer->weights[i * scorer->taps + tap] != 0.0f) return true;
    }
    return false;
}

/* The channels of weight other than 0; all of them when there is none, since a stack has at least one. */
static int scorer_layout(struct run *run) {
    const tvlm_scorer *const scorer = run->scorer;
    int32_t used = 0;
    size_t length = 0;
    for (int32_t i = 0; i < scorer->channel_count; ++i) used += is_read(scorer, i);
    for (int32_t i = 0; i < scorer->channel_count; ++i) {
        tvlm_channel_info channel;
        if (used > 0 && !is_read(scorer, i)) continue;
        const int code = tool_status(run->tool, tvlm_channel_get_info(scorer->channels[i], &channel));
        if (code != TOOL_DONE) return code;
        if (length + strlen(channel.name) + 2 > sizeof run->layout)
            return tool_fail(run->tool, "%s: reads too many channels", run->options->scorer);
        length += (size_t)snprintf(run->layout + length, sizeof run->layout - length, "%s%s",
                                   length > 0 ? "," : "", channel.name);
    }
    return TOOL_DONE;
}

/* CHANNELS.md, "Scores": a part of weight 0 is not looked at. */
static void parts_layout(struct run *run) {
    const option_triple *const weights = &run->options->weights;
    const bool information = !weights->given || weights->values[0] != 0.0f;
    const bool perspective = !weights->given || weights->values[1] != 0.0f;
    snprintf(run->layout, sizeof run->layout, "%s",
             information == perspective ? "edges,saliency,eccentricity,entropy"
             : information              ? "edges,entropy"
                                        : "saliency,eccentricity");
}

/* ---- One image ---- */

struct job {
    const char *path;
    tvlm_image *image;
    tvlm_stack *stack;
    tvlm_selection *selection;
    const tvlm_position *positions;
    int32_t count, k;
    draw_grid grid;
    float *scores;
    struct canvas overlay, heatmap;
};

static int find_positions(struct run *run, struct job *job) {
    const select_options *const options = run->options;
    struct tvlm_select_params params = {
        .k = options->k.value,
        .strategy = (tvlm_strategy)options->strategy,
        .stride = options->stride.value,
        .patch = options->patch.value,
        .min_distance = options->min_distance.value,
        .weights = options->weights.given ? options->weights.values : NULL,
        .scorer = run->scorer,
    };
    tvlm_selection_info info;
    tvlm_stack_info stack;
    int code = tool_status(run->tool, tvlm_select(job->stack, NULL, &params, &job->selection));
    if (code == TOOL_DONE) code = tool_status(run->tool, tvlm_stack_get_info(job->stack, &stack));
    if (code != TOOL_DONE) return code;
    job->positions = tvlm_selection_positions(job->selection, &job->count);
    tvlm_selection_get_info(job->selection, &info);
    const int64_t candidates = (int64_t)info.columns * info.rows;
    job->k = options->k.given              ? options->k.value
             : candidates < TVLM_K_DEFAULT ? (int32_t)candidates
                                           : TVLM_K_DEFAULT;
    const float stride = options->stride.given ? options->stride.value : TVLM_STRIDE_DEFAULT;
    job->grid = (draw_grid){info.columns, info.rows, stride * (float)info.width / (float)stack.width,
                            stride * (float)info.height / (float)stack.height};
    return TOOL_DONE;
}

static int draw_overlay_of(struct run *run, struct job *job) {
    char title[256], stem[128];
    tool_stem(job->path, stem, sizeof stem);
    snprintf(title, sizeof title, "%s: %d of %d cells", stem, job->count, job->grid.columns * job->grid.rows);
    if (draw_overlay(job->image, &job->grid, job->positions, job->count, title, &job->overlay))
        return TOOL_DONE;
    return tool_fail(run->tool, "no memory for the overlay");
}

static int draw_heatmap_of(struct run *run, struct job *job) {
    const select_options *const options = run->options;
    const struct tvlm_score_params params = {.stride = options->stride.value,
                                             .weights =
                                                 options->weights.given ? options->weights.values : NULL,
                                             .scorer = run->scorer};
    const size_t cells = (size_t)job->grid.columns * (size_t)job->grid.rows;
    char title[256], stem[128];
    job->scores = malloc(cells * sizeof *job->scores);
    if (job->scores == NULL) return tool_fail(run->tool, "no memory for the scores");
    const int code = tool_status(run->tool, tvlm_score(job->stack, NULL, &params, cells, job->scores));
    if (code != TOOL_DONE) return code;
    tool_stem(job->path, stem, sizeof stem);
    snprintf(title, sizeof title, "%s: score of %d x %d cells", stem, job->grid.columns, job->grid.rows);
    if (draw_heatmap(job->image, &job->grid, job->scores, title, &job->heatmap)) return TOOL_DONE;
    return tool_fail(run->tool, "no memory for the heat map");
}

static void write_selection(struct run *run, const struct job *job) {
    json_writer *const json = &run->json;
    json_open_object(json, NULL, false);
    json_open_object(json, "image", true);
    json_string(json, "path", job->path);
    json_integer(json, "width", job->image->width);
    json_integer(json, "height", job->image->height);
    json_close(json);
    json_string(json, "layout", run->layout);
    json_string(json, "strategy", tvlm_strategy_name((tvlm_strategy)run->options->strategy));
    json_string(json, "device", tvlm_device_get_info(run->device)->name);
    json_integer(json, "k", job->k);
    json_open_array(json, "positions", false);
    for (int32_t i = 0; i < job->count; ++i) {
        const tvlm_position *const position = &job->positions[i];
        json_open_object(json, NULL, true);
        json_float(json, "x", position->x);
        json_float(json, "y", position->y);
        json_float(json, "level", position->level);
        json_float(json, "score", position->score);
        json_float(json, "size", position->size);
        json_open_array(json, "cell", true);
        json_integer(json, NULL, position->column);
        json_integer(json, NULL, position->row);
        json_close(json);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static int write_picture(struct run *run, const char *pattern, const char *image,
                         const struct canvas *canvas) {
    char path[PATH_SIZE];
    const char *const subject = run->tool->subject;
    if (pattern == NULL) return TOOL_DONE;
    run->tool->subject = NULL; /* what fails now is not about the image */
    int code = output_name(run->tool, pattern, image, run->several, path);
    if (code == TOOL_DONE)
        code = tool_status(
            run->tool, tvlm_png_write(path, canvas->width, canvas->height, 3, canvas->rgb, &run->tool->log));
    run->tool->subject = subject;
    return code;
}

/* Everything is computed before anything is written. */
static int select_one(struct run *run, struct job *job) {
    const select_options *const options = run->options;
    struct tool *const tool = run->tool;
    const struct tvlm_stack_params params = {.layout = run->layout,
                                             .format = (tvlm_format)options->common.format};
    int code = tool_status(tool, tvlm_image_load(job->path, &tool->log, &job->image));
    if (code == TOOL_DONE && run->device == NULL)
        code = tool_open_device(tool, &options->common, &run->device);
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_stack_create_for_image(run->device, job->image, &params, &job->stack));
    if (code == TOOL_DONE) code = find_positions(run, job);
    if (code == TOOL_DONE && options->overlay != NULL) code = draw_overlay_of(run, job);
    if (code == TOOL_DONE && options->heatmap != NULL) code = draw_heatmap_of(run, job);
    if (code != TOOL_DONE) return code;
    write_selection(run, job);
    code = write_picture(run, options->overlay, job->path, &job->overlay);
    if (code == TOOL_DONE) code = write_picture(run, options->heatmap, job->path, &job->heatmap);
    return code;
}

static int select_path(struct run *run, const char *path) {
    struct job job = {.path = path};
    run->tool->subject = path;
    const int code = select_one(run, &job);
    canvas_release(&job.overlay);
    canvas_release(&job.heatmap);
    free(job.scores);
    tvlm_selection_destroy(&job.selection);
    tvlm_stack_destroy(&job.stack);
    tvlm_image_destroy(&job.image);
    run->tool->subject = NULL;
    return code;
}

static int write_json(struct run *run) {
    const char *const text = json_text_of(&run->json), *const output = run->options->output;
    if (text == NULL || output == NULL) return tool_print(run->tool, text);
    return tool_status(run->tool, tvlm_file_write(output, text, strlen(text), &run->tool->log));
}

static int select_all(struct run *run, int count, char *const *paths) {
    int code = TOOL_DONE;
    if (run->several) {
        json_open_object(&run->json, NULL, false);
        json_open_array(&run->json, "selections", false);
    }
    progress_start("images", count);
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        code = select_path(run, paths[i]);
        progress_step(i + 1);
    }
    progress_clear();
    if (run->several) {
        json_close(&run->json);
        json_close(&run->json);
    }
    return code == TOOL_DONE ? write_json(run) : code;
}

static int run_select(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const select_options *const options = values;
    struct run run = {.tool = tool, .options = options, .several = operand_count > 1};
    int code;
    if (options->weights.given && options->scorer != NULL)
        return tool_usage(tool, "--weights and --scorer exclude each other");
    if ((code = check_outputs(tool, options, operand_count, operands)) != TOOL_DONE) return code;
    if (options->k.given && options->k.value < 1)
        return tool_fail(tool, "-k %d: at least one position must be asked for", options->k.value);
    if (options->scorer != NULL) {
        code = tool_status(tool, tvlm_scorer_load(options->scorer, &tool->log, &run.scorer));
        if (code == TOOL_DONE) code = scorer_layout(&run);
    } else {
        parts_layout(&run);
    }
    if (code == TOOL_DONE) code = select_all(&run, operand_count, operands);
    json_release(&run.json);
    tvlm_device_destroy(&run.device);
    tvlm_scorer_destroy(&run.scorer);
    return code;
}

const tool_command select_command = {
    .name = "select",
    .summary = "the positions of an image that matter, best first, as JSON",
    .operands = "IMAGE...",
    .operand_min = 1,
    .operand_max = INT32_MAX,
    .details =
        "IMAGE is JPEG, PNG, BMP, PPM or PGM. x, y and size are in its pixels after its EXIF rotation, with "
        "centres\n"
        "at +0.5. One image gives one object, several give {\"selections\": [...]}; when one of them fails, "
        "no JSON is\n"
        "written. With several images each picture's name gets the image's: --overlay out.png writes "
        "out-photo.png\n"
        "for photo.jpg. --stride and --min-distance are in pixels of the working image: the image itself, "
        "unless it\n"
        "is larger than the device can hold.\n"
        "A scorer file holds the tensors weights ([channels] or [channels,3,3]), bias and similarity (one "
        "number\n"
        "each, optional), and in its metadata format = texturevlm.scorer and channels = edges,entropy,...\n",
    .options = specs,
    .option_count = sizeof specs / sizeof *specs,
    .options_size = sizeof(select_options),
    .run = run_select,
};
