/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm fit: learns a scorer from photos in which somebody has marked objects, and says what it is worth.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "networks.h"
#include "progress.h"
#include "shared.h"
#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"
#include "tool.h"
#include "truth.h"

#define K_DEFAULT       64
#define HELD_OUT        0.2f
#define LARGEST_DEFAULT 0.5f

typedef struct fit_options {
    tool_common common;
    truth_options truth;
    const char *output, *channels, *layout, *network;
    int taps; /* a place in taps_choices */
    option_number stride, l2, held_out, largest;
    option_integer k, seed;
    int leave_one_out;
} fit_options;

static const char *const taps_choices[] = {"1", "3x3", NULL};

static const option_spec specs[] = {
    {'o', OPTION_OUTPUT, "output", offsetof(fit_options, output), "FILE.safetensors",
     "the scorer, for tvlm select --scorer", 0, 0, NULL},
    {0, OPTION_TEXT, "channels", offsetof(fit_options, channels), "LIST",
     "what it may read (default: " TVLM_FIT_CHANNELS ")", 0, 0, NULL},
    {0, OPTION_INPUT, "network", offsetof(fit_options, network), "FILE.safetensors",
     "makes learned_0 and on, which --channels names", 0, 0, NULL},
    {0, OPTION_TEXT, "layout", offsetof(fit_options, layout), "NAME",
     "all channels of a layout but identifiers instead", 0, 0, NULL},
    {0, OPTION_CHOICE, "taps", offsetof(fit_options, taps), "1|3x3",
     "a weight for each channel, or for each in each of the 3x3 cells around (default: 1)", 0, 0,
     taps_choices},
    {0, OPTION_NUMBER, "l2", offsetof(fit_options, l2), "L",
     "how strongly weights are kept small (default: 1)", 1e-9, 1e9, NULL},
    {0, OPTION_NUMBER, "held-out", offsetof(fit_options, held_out), "SHARE",
     "of the images: not learnt from, for the figures only (default: 0.2; 0: figures on the "
     "images learnt from)",
     0, 0.99, NULL},
    {0, OPTION_FLAG, "leave-one-out", offsetof(fit_options, leave_one_out), NULL,
     "figures of each image with what the others teach; the scorer that is written learns from all", 0, 0,
     NULL},
    {0, OPTION_INTEGER, "seed", offsetof(fit_options, seed), "N",
     "of the choice of held-out images (default: 0)", 0, INT32_MAX, NULL},
    {'k', OPTION_INTEGER, NULL, offsetof(fit_options, k), "K", "cells chosen for the figures (default: 64)",
     1, INT32_MAX, NULL},
    {0, OPTION_NUMBER, "largest", offsetof(fit_options, largest), "SHARE",
     "images with more object than this are learnt from, but there are no figures of them: any "
     "choice is right there (default: 0.5)",
     0, 1, NULL},
};

static const option_specs own = OPTION_SPECS(specs);
static const option_group groups[] = {
    {&own, 0},
    {&truth_specs, offsetof(fit_options, truth)},
    {&stride_specs, offsetof(fit_options, stride)},
    {0},
};

enum { RANDOM = 0, DEFAULT, FITTED, CHOICES };
static const char *const choice_names[CHOICES] = {"random", "default", "fitted"};

/* What a choice of cells is worth. */
typedef struct worth {
    double coverage; /* the share of the objects' area that lies in chosen cells */
    double iou;      /* intersection over union of chosen cells and objects, where the truth is known */
} worth;

/* What is kept of an image. */
struct photo {
    const char *path;
    int32_t columns, rows;
    int32_t *objects, *known; /* [rows * columns]: how many pixels of a cell are so */
    double object_pixels, known_pixels;
    worth worth[CHOICES];
    bool counts; /* whether it counts in the figures */
};

struct run {
    struct tool *tool;
    const fit_options *options;
    float stride;
    int32_t k;
    truth *truth;
    tvlm_device *device;
    tvlm_network *network; /* NULL: there is none */
    tvlm_fit *fit;
    int32_t *channels; /* those that the fit reads; NULL: the default ones */
    int32_t channel_count;
    char *layout; /* the names of the channels, as a layout for stacks */
    struct photo *photos;
    int32_t count;
    uint8_t *held_out;
    const tvlm_scorer *scorer; /* belongs to the fit */
};

/* ---- Channels ---- */

static int read_channels(struct run *run) {
    const fit_options *const options = run->options;
    const char *const text = options->layout != NULL ? options->layout : options->channels;
    int32_t count = 0, kept = 0;
    if (text == NULL) return TOOL_DONE;
    int code = tool_usage_status(run->tool, tvlm_layout_parse(text, &run->tool->log, 0, NULL, &count));
    if (code != TOOL_DONE) return code;
    run->channels = malloc((size_t)count * sizeof *run->channels);
    if (run->channels == NULL) return tool_fail(run->tool, "no memory");
    code = tool_status(run->tool, tvlm_layout_parse(text, &run->tool->log, count, run->channels, &count));
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i) {
        tvlm_channel_info info;
        code = tool_status(run->tool, tvlm_channel_get_info(run->channels[i], &info));
        if (options->layout == NULL || !info.identifier) run->channels[kept++] = run->channels[i];
    }
    run->channel_count = kept;
    return code;
}

static int name_channels(struct run *run) {
    int32_t count;
    const int32_t *const channels = tvlm_fit_channels(run->fit, &count);
    run->layout = calloc((size_t)count, TVLM_CHANNEL_NAME_SIZE + 1);
    if (run->layout == NULL) return tool_fail(run->tool, "no memory");
    for (int32_t i = 0; i < count; ++i) {
        tvlm_channel_info info;
        const int code = tool_status(run->tool, tvlm_channel_get_info(channels[i], &info));
        if (code != TOOL_DONE) return code;
        const size_t used = strlen(run->layout);
        snprintf(run->layout + used, (size_t)count * (TVLM_CHANNEL_NAME_SIZE + 1) - used, "%s%s",
                 i > 0 ? "," : "", info.name);
    }
    return TOOL_DONE;
}

static int create_fit(struct run *run) {
    const struct tvlm_fit_params params = {.channels = run->channels,
                                           .channel_count = run->channel_count,
                                           .taps = run->options->taps == 0 ? 1 : 9,
                                           .stride = run->stride};
    const int code = tool_status(run->tool, tvlm_fit_create(&params, &run->tool->log, &run->fit));
    return code == TOOL_DONE ? name_channels(run) : code;
}

/* ---- Truth ---- */

/* Returns the cell along a side in which the centre of a pixel of the original lies. The working image may be
 * smaller than the original. */
static int32_t cell_of(int32_t pixel, int32_t side, int32_t working, float stride, int32_t cells) {
    const double at = ((double)pixel + 0.5) * working / side / (double)stride;
    return at < cells - 1 ? (int32_t)at : cells - 1;
}

static int count_cells(struct run *run, const tvlm_image *image, const tvlm_stack_info *stack,
                       const uint8_t *mask, struct photo *photo) {
    const size_t cells = (size_t)photo->columns * (size_t)photo->rows;
    int32_t *const column = malloc((size_t)image->width * sizeof *column);
    photo->objects = calloc(cells, sizeof *photo->objects);
    photo->known = calloc(cells, sizeof *photo->known);
    if (column == NULL || photo->objects == NULL || photo->known == NULL) {
        free(column);
        return tool_fail(run->tool, "no memory for %zu cells", cells);
    }
    for (int32_t x = 0; x < image->width; ++x)
        column[x] = cell_of(x, image->width, stack->width, run->stride, photo->columns);
    for (int32_t y = 0; y < image->height; ++y) {
        const int32_t row = cell_of(y, image->height, stack->height, run->stride, photo->rows);
        for (int32_t x = 0; x < image->width; ++x) {
            const uint8_t value = mask[(size_t)y * (size_t)image->width + (size_t)x];
            const size_t cell = (size_t)row * (size_t)photo->columns + (size_t)column[x];
            photo->known[cell] += value != TRUTH_UNKNOWN;
            photo->objects[cell] += value == TRUTH_OBJECT;
        }
    }
    for (size_t i = 0; i < cells; ++i) {
        photo->object_pixels += photo->objects[i];
        photo->known_pixels += photo->known[i];
    }
    photo->counts = photo->object_pixels > 0.0 &&
                    photo->object_pixels <= (run->options->largest.given ? (double)run->options->largest.value
                                                                         : (double)LARGEST_DEFAULT) *
                                                (double)image->width * image->height;
    free(column);
    return TOOL_DONE;
}

static int add_to_fit(struct run *run, tvlm_stack *stack, const struct photo *photo) {
    const size_t cells = (size_t)photo->columns * (size_t)photo->rows;
    float *const share = malloc(cells * sizeof *share);
    if (share == NULL) return tool_fail(run->tool, "no memory for %zu cells", cells);
    for (size_t i = 0; i < cells; ++i)
        share[i] = photo->known[i] > 0 ? (float)photo->objects[i] / (float)photo->known[i] : NAN;
    const int code =
        tool_status(run->tool, tvlm_fit_add(run->fit, stack, 0, share, photo->columns, photo->rows));
    free(share);
    return code;
}

/* ---- Figures ---- */

static int32_t chosen_of(const struct run *run, const struct photo *photo) {
    const int64_t cells = (int64_t)photo->columns * photo->rows;
    return run->k < cells ? run->k : (int32_t)cells;
}

static worth worth_of(const struct photo *photo, double objects, double known) {
    return (worth){objects / photo->object_pixels, objects / (photo->object_pixels + known - objects)};
}

/* Returns what a random choice is worth: it has each pixel with a chance of k / cells. */
static worth worth_of_random(const struct run *run, const struct photo *photo) {
    const double chance = chosen_of(run, photo) / ((double)photo->columns * photo->rows);
    return worth_of(photo, chance * photo->object_pixels, chance * photo->known_pixels);
}

static int measure(struct run *run, tvlm_stack *stack, const tvlm_scorer *scorer, const struct photo *photo,
                   worth *result) {
    const struct tvlm_select_params params = {.k = chosen_of(run, photo),
                                              .strategy = TVLM_STRATEGY_GRID,
                                              .score = {.stride = run->stride, .scorer = scorer}};
    tvlm_selection *selection = NULL;
    double objects = 0.0, known = 0.0;
    int32_t count;
    const int code = tool_status(run->tool, tvlm_select(stack, NULL, &params, &selection));
    if (code != TOOL_DONE) return code;
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    for (int32_t i = 0; i < count; ++i) {
        const int32_t cell = positions[i].row * photo->columns + positions[i].column;
        objects += photo->objects[cell];
        known += photo->known[cell];
    }
    *result = worth_of(photo, objects, known);
    tvlm_selection_destroy(&selection);
    return TOOL_DONE;
}

/* ---- Images ---- */

static int open_stack(struct run *run, const char *path, tvlm_image **image, tvlm_stack **stack) {
    struct tool *const tool = run->tool;
    const struct tvlm_stack_params params = {
        .layout = run->layout, .format = (tvlm_format)run->options->common.format, .network = run->network};
    int code = tool_status(tool, tvlm_image_load(path, &tool->log, image));
    if (code == TOOL_DONE && run->device == NULL)
        code = tool_open_device(tool, &run->options->common, &run->device);
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_stack_create_for_image(run->device, *image, &params, stack));
    return code;
}

static int learn_image(struct run *run, const tvlm_image *image, tvlm_stack *stack, struct photo *photo) {
    const struct tvlm_score_params params = {.stride = run->stride};
    tvlm_stack_info info;
    int code = tool_status(run->tool, tvlm_stack_get_info(stack, &info));
    if (code == TOOL_DONE)
        code = tool_status(run->tool, tvlm_score_size(stack, &params, &photo->columns, &photo->rows));
    uint8_t *const mask = malloc((size_t)image->width * (size_t)image->height);
    if (mask == NULL) code = tool_fail(run->tool, "no memory for a mask");
    if (code == TOOL_DONE)
        code = truth_mask(run->tool, run->truth, photo->path, image->width, image->height, mask);
    if (code == TOOL_DONE) code = count_cells(run, image, &info, mask, photo);
    free(mask);
    if (code == TOOL_DONE) code = add_to_fit(run, stack, photo);
    if (code != TOOL_DONE || !photo->counts) return code;
    photo->worth[RANDOM] = worth_of_random(run, photo);
    return measure(run, stack, NULL, photo, &photo->worth[DEFAULT]);
}

/* Learns from an image, or measures the scorer on it. */
static int visit(struct run *run, int32_t i, bool learn) {
    struct photo *const photo = &run->photos[i];
    tvlm_image *image = NULL;
    tvlm_stack *stack = NULL;
    run->tool->subject = photo->path;
    int code = open_stack(run, photo->path, &image, &stack);
    if (code == TOOL_DONE)
        code = learn ? learn_image(run, image, stack, photo)
                     : measure(run, stack, run->scorer, photo, &photo->worth[FITTED]);
    tvlm_stack_destroy(&stack);
    tvlm_image_destroy(&image);
    if (code == TOOL_DONE) run->tool->subject = NULL;
    return code;
}

static int solve(struct run *run) {
    const struct tvlm_fit_solve_params params = {.l2 = run->options->l2.value, .held_out = run->held_out};
    return tool_status(run->tool, tvlm_fit_solve(run->fit, &params, &run->scorer));
}

/* Measures each image with the scorer that the others teach, then makes the scorer that all teach. */
static int leave_one_out(struct run *run) {
    int code = TOOL_DONE;
    for (int32_t i = 0; code == TOOL_DONE && i < run->count; ++i) {
        progress_step(run->count + i);
        if (!run->photos[i].counts) continue;
        memset(run->held_out, 0, (size_t)run->count);
        run->held_out[i] = 1;
        code = solve(run);
        if (code == TOOL_DONE) code = visit(run, i, false);
    }
    memset(run->held_out, 0, (size_t)run->count);
    return code == TOOL_DONE ? solve(run) : code;
}

static int hold_out(struct run *run) {
    const fit_options *const options = run->options;
    const float share = options->held_out.given ? options->held_out.value : HELD_OUT;
    const bool some = share > 0.0f && run->count > 1;
    int code = TOOL_DONE;
    if (some)
        code = tool_status(run->tool,
                           tvlm_fit_split(run->count, share, (uint64_t)options->seed.value, run->held_out));
    if (code == TOOL_DONE) code = solve(run);
    for (int32_t i = 0; code == TOOL_DONE && i < run->count; ++i) {
        progress_step(run->count + i);
        if (some && run->held_out[i] == 0) run->photos[i].counts = false;
        if (run->photos[i].counts) code = visit(run, i, false);
    }
    return code;
}

/* ---- What comes out ---- */

static int32_t counted(const struct run *run) {
    int32_t count = 0;
    for (int32_t i = 0; i < run->count; ++i) count += run->photos[i].counts;
    return count;
}

static worth mean_of(const struct run *run, int choice) {
    worth sum = {0.0, 0.0};
    const int32_t count = counted(run);
    for (int32_t i = 0; i < run->count; ++i) {
        if (!run->photos[i].counts) continue;
        sum.coverage += run->photos[i].worth[choice].coverage / count;
        sum.iou += run->photos[i].worth[choice].iou / count;
    }
    return sum;
}

static const char *figures_of(const struct run *run) {
    if (run->options->leave_one_out > 0) return "leave-one-out";
    for (int32_t i = 0; i < run->count; ++i)
        if (run->held_out[i] != 0) return "held-out";
    return "learnt";
}

static void print_worths(const char *name, const worth *worths) {
    printf("%-32.32s", name);
    for (int c = 0; c < CHOICES; ++c) printf("   %6.2f %% %6.3f", 100.0 * worths[c].coverage, worths[c].iou);
    printf("\n");
}

static void print_figures(const struct run *run) {
    worth mean[CHOICES];
    const int32_t count = counted(run);
    printf("%d images, %d in the figures (%s), %d cells of %g pixels of each\n\n", run->count, count,
           figures_of(run), run->k, (double)run->stride);
    printf("%-32s", "object area covered, IoU:");
    for (int c = 0; c < CHOICES; ++c) printf("   %15s", choice_names[c]);
    printf("\n");
    for (int32_t i = 0; i < run->count; ++i) {
        char stem[64];
        tool_stem(run->photos[i].path, stem, sizeof stem);
        if (run->photos[i].counts) print_worths(stem, run->photos[i].worth);
    }
    for (int c = 0; c < CHOICES; ++c) mean[c] = mean_of(run, c);
    print_worths("mean", mean);
    printf("\nfitted: %.2f times the coverage of a random choice, ",
           mean[FITTED].coverage / mean[RANDOM].coverage);
    if (mean[DEFAULT].coverage > 0.0)
        printf("%.2f times that of the default score\n", mean[FITTED].coverage / mean[DEFAULT].coverage);
    else
        printf("the default score covers nothing\n");
}

static void write_worths(json_writer *json, const char *key, const worth *worths) {
    if (key != NULL) json_open_object(json, key, false);
    for (int c = 0; c < CHOICES; ++c) {
        json_open_object(json, choice_names[c], true);
        json_double(json, "coverage", worths[c].coverage);
        json_double(json, "iou", worths[c].iou);
        json_close(json);
    }
    if (key != NULL) json_close(json);
}

static void write_scorer(const struct run *run, json_writer *json) {
    const tvlm_scorer *const scorer = run->scorer;
    json_open_object(json, "scorer", false);
    json_string(json, "channels", run->layout);
    json_integer(json, "taps", scorer->taps);
    json_float(json, "bias", scorer->bias);
    json_open_array(json, "weights", true);
    for (int32_t i = 0; i < scorer->channel_count * scorer->taps; ++i)
        json_float(json, NULL, scorer->weights[i]);
    json_close(json);
    json_close(json);
}

static int print_json(const struct run *run) {
    json_writer json = {0};
    worth mean[CHOICES];
    json_open_object(&json, NULL, false);
    json_integer(&json, "images", run->count);
    json_string(&json, "figures_of", figures_of(run));
    json_device(&json, run->device);
    json_integer(&json, "k", run->k);
    json_float(&json, "stride", run->stride);
    json_float(&json, "l2", run->options->l2.given ? run->options->l2.value : TVLM_FIT_L2);
    write_scorer(run, &json);
    json_open_array(&json, "figures", false);
    for (int32_t i = 0; i < run->count; ++i) {
        const struct photo *const photo = &run->photos[i];
        if (!photo->counts) continue;
        json_open_object(&json, NULL, false);
        json_string(&json, "path", photo->path);
        json_integer(&json, "cells", (int64_t)photo->columns * photo->rows);
        json_double(&json, "object", photo->object_pixels / photo->known_pixels);
        write_worths(&json, NULL, photo->worth);
        json_close(&json);
    }
    json_close(&json);
    for (int c = 0; c < CHOICES; ++c) mean[c] = mean_of(run, c);
    if (counted(run) > 0) write_worths(&json, "mean", mean);
    json_close(&json);
    const int code = tool_print(run->tool, json_text_of(&json));
    json_release(&json);
    return code;
}

static int report(struct run *run) {
    const char *const output = run->options->output;
    int code = TOOL_DONE;
    if (output != NULL) code = tool_status(run->tool, tvlm_scorer_save(output, run->scorer, &run->tool->log));
    if (code != TOOL_DONE) return code;
    if (run->options->common.json > 0) return print_json(run);
    if (counted(run) > 0)
        print_figures(run);
    else
        printf("%d images, none for figures (no object, or more than --largest)\n", run->count);
    return TOOL_DONE;
}

/* ---- The command ---- */

static int check_options(struct tool *tool, const fit_options *options, int count, char *const *paths) {
    if (options->channels != NULL && options->layout != NULL)
        return tool_usage(tool, "--channels and --layout exclude each other");
    if (options->layout != NULL && strchr(options->layout, ',') != NULL)
        return tool_usage(tool, "--layout takes one name; lists are for --channels");
    if (options->leave_one_out > 0 && options->held_out.given)
        return tool_usage(tool, "--leave-one-out and --held-out exclude each other");
    if (options->leave_one_out > 0 && count < 2)
        return tool_usage(tool, "--leave-one-out needs two images or more");
    return truth_files(tool, &options->truth, count, paths);
}

static int fit_all(struct run *run, char *const *paths) {
    int code = truth_open(run->tool, &run->options->truth, &run->truth);
    if (code == TOOL_DONE) code = read_channels(run);
    if (code == TOOL_DONE) code = create_fit(run);
    if (code == TOOL_DONE)
        code = network_read_for(run->tool, run->options->network, run->layout, &run->network);
    if (code != TOOL_DONE) return code;
    run->photos = calloc((size_t)run->count, sizeof *run->photos);
    run->held_out = calloc((size_t)run->count, 1);
    if (run->photos == NULL || run->held_out == NULL) return tool_fail(run->tool, "no memory");
    progress_start("images", 2 * run->count);
    for (int32_t i = 0; code == TOOL_DONE && i < run->count; ++i) {
        run->photos[i].path = paths[i];
        code = visit(run, i, true);
        progress_step(i + 1);
    }
    if (code == TOOL_DONE) code = run->options->leave_one_out > 0 ? leave_one_out(run) : hold_out(run);
    progress_clear();
    return code == TOOL_DONE ? report(run) : code;
}

static int run_fit(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const fit_options *const options = values;
    struct run run = {.tool = tool,
                      .options = options,
                      .stride = options->stride.given ? options->stride.value : TVLM_STRIDE_DEFAULT,
                      .k = options->k.given ? options->k.value : K_DEFAULT,
                      .count = operand_count};
    int code = check_options(tool, options, operand_count, operands);
    if (code == TOOL_DONE) code = fit_all(&run, operands);
    for (int32_t i = 0; run.photos != NULL && i < run.count; ++i) {
        free(run.photos[i].objects);
        free(run.photos[i].known);
    }
    free(run.photos);
    free(run.held_out);
    free(run.layout);
    free(run.channels);
    tvlm_fit_destroy(&run.fit);
    tvlm_network_destroy(&run.network);
    tvlm_device_destroy(&run.device);
    truth_close(&run.truth);
    return code;
}

const tool_command fit_command = {
    .name = "fit",
    .summary = "learns a scorer from images with boxes or masks, and says what it is worth",
    .operands = "IMAGE...",
    .operand_min = 1,
    .operand_max = INT32_MAX,
    .details =
        "IMAGE is JPEG, PNG, BMP, PPM or PGM; STEM is its name without folder and extension, and COCO files know it\n"
        "by that. Cells learn from the share of their pixels that is object; what a panoptic map does not label does\n"
        "not count. Printed are, for a random choice of K cells, the K best of the default score, and the K best of\n"
        "the scorer: the share of the objects' area that they cover, and their intersection over union with it.\n",
    .options = groups,
    .options_size = sizeof(fit_options),
    .run = run_fit,
};
