/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-lab fit: learns a scorer from photos in which somebody has marked objects, and measures how good it is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "networks.h"
#include "progress.h"
#include "shared.h"
#include "texturevlm/io.h"

#define K_DEFAULT       64
#define HELD_OUT        0.2f
#define LARGEST_DEFAULT 0.5f

static const char *const taps_choices[] = {"1", "3x3", NULL};

static const option_spec specs[] = {
    {'o', OPTION_OUTPUT, "output", offsetof(fit_options, output), "FILE.safetensors",
     "the scorer, for tvlm select --scorer", NO_RANGE, NULL},
    {0, OPTION_TEXT, "channels", offsetof(fit_options, channels), "LIST",
     "what it may read (default: " TVLM_FIT_CHANNELS "; with --query-weights also query_similarity)",
     NO_RANGE, NULL},
    {0, OPTION_INPUT, "network", offsetof(fit_options, network), "FILE.safetensors",
     "makes learned_0 and on, which --channels names", NO_RANGE, NULL},
    {0, OPTION_TEXT, "layout", offsetof(fit_options, layout), "NAME",
     "all channels of a layout but identifiers instead", NO_RANGE, NULL},
    {0, OPTION_CHOICE, "taps", offsetof(fit_options, taps), "1|3x3",
     "a weight for each channel, or for each in each of the 3x3 cells around (default: 1)", NO_RANGE,
     taps_choices},
    {0, OPTION_INTEGER, "hidden", offsetof(fit_options, hidden), "N",
     "a network with a hidden layer of N values, of the same taps, instead of weights", 1,
     TVLM_FIT_HIDDEN_MAX, NULL},
    {0, OPTION_INPUT, "query-weights", offsetof(fit_options, query_weights), "Q.npy",
     "how a query gives the weights: Q has an encoder's vector for each of --classes, which are the questions to the "
     "images' --features",
     NO_RANGE, NULL},
    {0, OPTION_NUMBER, "l2", offsetof(fit_options, l2), "L",
     "how strongly weights are kept small (default: 1; with --hidden 0.01; with --query-weights 0.01)", 1e-9,
     1e9, NULL},
    {0, OPTION_NUMBER, "held-out", offsetof(fit_options, held_out), "SHARE",
     "of the images, or of the classes that are questions: not learnt from, for the figures only (default: "
     "0.2; 0: figures on those learnt from)",
     0, 0.99, NULL},
    {0, OPTION_FLAG, "leave-one-out", offsetof(fit_options, leave_one_out), NULL,
     "figures of each image, or class that is a question, with what the others teach; the scorer that is written "
     "learns from all",
     NO_RANGE, NULL},
    {0, OPTION_INTEGER, "seed", offsetof(fit_options, seed), "N",
     "of the choice of held-out images (default: 0)", 0, INT32_MAX, NULL},
    {'k', OPTION_INTEGER, NULL, offsetof(fit_options, k), "K", "cells chosen for the figures (default: 64)",
     1, INT32_MAX, NULL},
    {0, OPTION_NUMBER, "largest", offsetof(fit_options, largest), "SHARE",
     "images with more object than this are learnt from, but there are no figures of them: any "
     "choice is right there (default: 0.5)",
     0, 1, NULL},
};

static const option_spec stride_list[] = {
    {0, OPTION_NUMBER, "stride", offsetof(fit_options, stride), "PIXELS", "side of a cell (default: 16)", 1,
     65536, NULL},
};
static const option_specs own_stride_specs = OPTION_SPECS("What to choose", stride_list);

static const option_specs own = OPTION_SPECS("Options", specs);
static const option_group groups[] = {
    {&own, 0},
    {&truth_specs, offsetof(fit_options, truth)},
    {&truth_settings, offsetof(fit_options, truth)},
    {&own_stride_specs, 0},
    {&features_specs, offsetof(fit_options, questions)},
    {&feature_patch_specs, offsetof(fit_options, questions.patch)},
    {0},
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
    const fit_options *const options = run->options;
    struct tvlm_fit_params params = {.channels = run->channels,
                                     .channel_count = run->channel_count,
                                     .taps = options->taps.value == 0 ? 1 : 9,
                                     .stride = run->stride,
                                     .hidden = options->hidden.value,
                                     .query_weights = options->query_weights != NULL};
    int code = tool_status(run->tool, tvlm_fit_create(&params, &run->tool->log, &run->fit));
    if (code == TOOL_DONE) code = name_channels(run);
    if (code != TOOL_DONE || !params.query_weights) return code;
    params.channels = tvlm_fit_channels(run->fit, &params.channel_count);
    params.query_weights = false;
    return tool_status(run->tool, tvlm_fit_create(&params, &run->tool->log, &run->fixed));
}

/* ---- Questions ---- */

/* Reads the questions, and the names of the classes that they are about. */
static int read_questions(struct run *run) {
    struct tool *const tool = run->tool;
    const char *names = run->options->truth.classes;
    int32_t count = 1;
    if (run->options->query_weights == NULL) return TOOL_DONE;
    int code = vectors_read(tool, "--query-weights", run->options->query_weights, &run->vectors);
    if (code != TOOL_DONE) return code;
    if (run->options->leave_one_out > 0 && run->vectors.count < 2)
        return tool_usage(tool, "--leave-one-out needs two --classes or more");
    for (const char *at = names; *at != '\0'; ++at) count += *at == ',';
    if (count != run->vectors.count)
        return tool_fail(tool, "%s: %d vectors, for %d --classes", run->options->query_weights,
                         (int)run->vectors.count, (int)count);
    run->class_names = calloc(strlen(names) + 1, 1);
    run->classes = calloc((size_t)count, sizeof *run->classes);
    if (run->class_names == NULL || run->classes == NULL) return tool_fail(tool, "no memory");
    memcpy(run->class_names, names, strlen(names));
    char *name = run->class_names;
    for (int32_t i = 0; i < count; ++i) {
        run->classes[i] = name;
        name += strcspn(name, ",");
        *name++ = '\0';
    }
    return TOOL_DONE;
}

/* The question to a photo, or NULL if there is none. */
static const struct tvlm_query *question_of(const struct run *run, const struct photo *photo,
                                            struct tvlm_query *query) {
    if (run->classes == NULL) return NULL;
    *query = (struct tvlm_query){.vectors = run->vectors.values +
                                            (size_t)photo->group * (size_t)run->vectors.dimension,
                                 .dimension = run->vectors.dimension};
    return query;
}

/* ---- Truth ---- */

/* Returns the index along a side of the cell in which the centre of a pixel of the original image lies. The
 * working image may be smaller than the original. */
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

/* Adds a photo to the fit, or, with a question, to both fits. The second fit reads the channel that the
 * question of the first one has filled. */
static int teach(struct run *run, tvlm_stack *stack, const struct photo *photo, const float *share) {
    struct tvlm_query query;
    const int32_t columns = photo->columns, rows = photo->rows;
    if (question_of(run, photo, &query) == NULL)
        return tool_status(run->tool, tvlm_fit_add(run->fit, stack, 0, share, columns, rows));
    const int code =
        tool_status(run->tool, tvlm_fit_add_query(run->fit, stack, 0, &query, share, columns, rows));
    if (code != TOOL_DONE) return code;
    return tool_status(run->tool, tvlm_fit_add(run->fixed, stack, 0, share, columns, rows));
}

static int add_to_fit(struct run *run, tvlm_stack *stack, const struct photo *photo) {
    const size_t cells = (size_t)photo->columns * (size_t)photo->rows;
    float *const share = malloc(cells * sizeof *share);
    if (share == NULL) return tool_fail(run->tool, "no memory for %zu cells", cells);
    for (size_t i = 0; i < cells; ++i)
        share[i] = photo->known[i] > 0 ? (float)photo->objects[i] / (float)photo->known[i] : NAN;
    const int code = teach(run, stack, photo, share);
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

/* Returns how good a random choice is. It has each pixel with a probability of k / cells. */
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
    struct tvlm_query query;
    double objects = 0.0, known = 0.0;
    int32_t count;
    const int code =
        tool_status(run->tool, tvlm_select(stack, question_of(run, photo, &query), &params, &selection));
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

static int open_stack(struct run *run, const struct photo *photo, tvlm_image **image, tvlm_stack **stack) {
    struct tool *const tool = run->tool;
    const question_options *const asked = &run->options->questions;
    const struct tvlm_stack_params params = {.layout = run->layout,
                                             .format = (tvlm_format)run->options->common.format.value,
                                             .network = run->network};
    int code = tool_status(tool, tvlm_image_load(photo->path, &tool->log, image));
    if (code == TOOL_DONE && run->device == NULL)
        code = tool_open_device(tool, &run->options->common, &run->device);
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_stack_create_for_image(run->device, *image, &params, stack));
    if (code == TOOL_DONE && asked->features.count > 0)
        code = features_set(tool, asked->features.values[photo->image], asked->patch.value, (*image)->width,
                            run->classes != NULL ? &run->vectors : NULL, *stack, 0);
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
    if (run->classes != NULL) truth_only(run->truth, run->classes[photo->group]);
    if (code == TOOL_DONE)
        code = truth_mask(run->tool, run->truth, photo->path, image->width, image->height, mask);
    if (code == TOOL_DONE) code = count_cells(run, image, &info, mask, photo);
    free(mask);
    /* A question about a class that is not in the photo is left out. */
    photo->learnt = run->classes == NULL || photo->object_pixels > 0.0;
    if (code == TOOL_DONE && photo->learnt) code = add_to_fit(run, stack, photo);
    if (code != TOOL_DONE || !photo->counts) return code;
    photo->worth[RANDOM] = worth_of_random(run, photo);
    return measure(run, stack, NULL, photo, &photo->worth[DEFAULT]);
}

/* Measures the fitted scorers on a photo. */
static int measure_fitted(struct run *run, tvlm_stack *stack, struct photo *photo) {
    int code = measure(run, stack, run->scorer, photo, &photo->worth[FITTED]);
    if (code == TOOL_DONE && run->fixed != NULL)
        code = measure(run, stack, run->fixed_scorer, photo, &photo->worth[FIXED]);
    return code;
}

/* Learns from a photo, or measures the fitted scorers on it. */
static int visit(struct run *run, struct photo *photo, bool learn) {
    tvlm_image *image = NULL;
    tvlm_stack *stack = NULL;
    run->tool->subject = photo->path;
    int code = open_stack(run, photo, &image, &stack);
    if (code == TOOL_DONE)
        code = learn ? learn_image(run, image, stack, photo) : measure_fitted(run, stack, photo);
    tvlm_stack_destroy(&stack);
    tvlm_image_destroy(&image);
    if (code == TOOL_DONE) run->tool->subject = NULL;
    return code;
}

/* Learns from all photos, except those of groups that are held out. */
static int solve(struct run *run) {
    for (int32_t i = 0; i < run->count; ++i) run->held_photos[i] = run->held_out[run->photos[i].group];
    const struct tvlm_fit_solve_params params = {.l2 = run->options->l2.value, .held_out = run->held_photos};
    int code = tool_status(run->tool, tvlm_fit_solve(run->fit, &params, &run->scorer));
    if (code == TOOL_DONE && run->fixed != NULL)
        code = tool_status(run->tool, tvlm_fit_solve(run->fixed, &params, &run->fixed_scorer));
    return code;
}

/* Measures the photos of each group with a scorer that is learned from the other groups. Then learns the
 * final scorer from all photos. */
static int leave_one_out(struct run *run) {
    int code = TOOL_DONE;
    for (int32_t group = 0; code == TOOL_DONE && group < run->groups; ++group) {
        bool solved = false;
        memset(run->held_out, 0, (size_t)run->groups);
        run->held_out[group] = 1;
        for (int32_t i = 0; code == TOOL_DONE && i < run->count; ++i) {
            if (run->photos[i].group != group || !run->photos[i].counts) continue;
            if (!solved) code = solve(run);
            solved = true;
            if (code == TOOL_DONE) code = visit(run, &run->photos[i], false);
        }
        progress_step(run->visits + run->visits * group / run->groups);
    }
    memset(run->held_out, 0, (size_t)run->groups);
    return code == TOOL_DONE ? solve(run) : code;
}

static int hold_out(struct run *run) {
    const fit_options *const options = run->options;
    const float share = options->held_out.given ? options->held_out.value : HELD_OUT;
    const bool some = share > 0.0f && run->groups > 1;
    int code = TOOL_DONE;
    if (some)
        code = tool_status(run->tool,
                           tvlm_fit_split(run->groups, share, (uint64_t)options->seed.value, run->held_out));
    if (code == TOOL_DONE) code = solve(run);
    for (int32_t i = 0; code == TOOL_DONE && i < run->count; ++i) {
        struct photo *const photo = &run->photos[i];
        progress_step(run->visits + i);
        if (some && run->held_out[photo->group] == 0) photo->counts = false;
        if (photo->counts) code = visit(run, photo, false);
    }
    return code;
}

/* Learns from each photo, or, with questions, from each photo and each class in it. */
static int learn_all(struct run *run, char *const *paths) {
    const int32_t each = run->classes != NULL ? run->vectors.count : 1;
    int code = TOOL_DONE;
    for (int32_t i = 0; code == TOOL_DONE && i < run->visits; ++i) {
        struct photo *const photo = &run->photos[run->count];
        *photo = (struct photo){
            .path = paths[i / each], .image = i / each, .group = run->classes != NULL ? i % each : i};
        code = visit(run, photo, true);
        if (code == TOOL_DONE && photo->learnt) {
            ++run->count;
        } else {
            free(photo->objects);
            free(photo->known);
        }
        progress_step(i + 1);
    }
    if (code == TOOL_DONE && run->count == 0)
        code = tool_fail(run->tool, "there is none of the --classes in the images");
    return code;
}

/* ---- The command ---- */

static int check_options(struct tool *tool, const fit_options *options, int count, char *const *paths) {
    if (options->channels != NULL && options->layout != NULL)
        return tool_usage(tool, "--channels and --layout exclude each other");
    if (options->layout != NULL && strchr(options->layout, ',') != NULL)
        return tool_usage(tool, "--layout takes one name; lists are for --channels");
    if (options->leave_one_out > 0 && options->held_out.given)
        return tool_usage(tool, "--leave-one-out and --held-out exclude each other");
    if (options->leave_one_out > 0 && options->query_weights == NULL && count < 2)
        return tool_usage(tool, "--leave-one-out needs two images or more");
    if (options->hidden.given && options->query_weights != NULL)
        return tool_usage(tool, "--hidden and --query-weights exclude each other");
    if (options->query_weights != NULL && options->truth.classes == NULL)
        return tool_usage(tool, "--query-weights needs --classes: a vector is the question to each");
    if (options->query_weights != NULL && options->questions.features.count == 0)
        return tool_usage(tool, "--query-weights needs --features of the images");
    if (options->questions.patch.given && options->questions.features.count == 0)
        return tool_usage(tool, "--feature-patch goes with --features");
    if (options->questions.features.count > 0 && options->questions.features.count != count)
        return tool_usage(tool, "%d images, but --features was given %d times", count,
                          (int)options->questions.features.count);
    return truth_files(tool, &options->truth, count, paths);
}

static int fit_all(struct run *run, int32_t images, char *const *paths) {
    int code = truth_open(run->tool, &run->options->truth, &run->truth);
    if (code == TOOL_DONE) code = read_questions(run);
    if (code == TOOL_DONE) code = read_channels(run);
    if (code == TOOL_DONE) code = create_fit(run);
    if (code == TOOL_DONE)
        code = network_read_for(run->tool, run->options->network, run->layout, &run->network);
    if (code != TOOL_DONE) return code;
    run->groups = run->classes != NULL ? run->vectors.count : images;
    run->visits = run->classes != NULL ? images * run->vectors.count : images;
    run->photos = calloc((size_t)run->visits, sizeof *run->photos);
    run->held_photos = calloc((size_t)run->visits, 1);
    run->held_out = calloc((size_t)run->groups, 1);
    if (run->photos == NULL || run->held_out == NULL || run->held_photos == NULL)
        return tool_fail(run->tool, "no memory");
    progress_start("images", 2 * run->visits);
    code = learn_all(run, paths);
    if (code == TOOL_DONE) code = run->options->leave_one_out > 0 ? leave_one_out(run) : hold_out(run);
    progress_clear();
    return code == TOOL_DONE ? fit_report(run) : code;
}

static void release(struct run *run) {
    for (int32_t i = 0; i < run->count; ++i) {
        free(run->photos[i].objects);
        free(run->photos[i].known);
    }
    free(run->photos);
    free(run->held_out);
    free(run->held_photos);
    free(run->layout);
    free(run->channels);
    free(run->classes);
    free(run->class_names);
    vectors_release(&run->vectors);
    tvlm_fit_destroy(&run->fit);
    tvlm_fit_destroy(&run->fixed);
    tvlm_network_destroy(&run->network);
    tvlm_device_destroy(&run->device);
    truth_close(&run->truth);
}

static int run_fit(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const fit_options *const options = values;
    struct run run = {.tool = tool,
                      .options = options,
                      .stride = options->stride.given ? options->stride.value : TVLM_STRIDE_DEFAULT,
                      .k = options->k.given ? options->k.value : K_DEFAULT};
    int code = check_options(tool, options, operand_count, operands);
    if (code == TOOL_DONE) code = fit_all(&run, operand_count, operands);
    release(&run);
    return code;
}

const tool_command fit_command = {
    .name = "fit",
    .summary = "learns a scorer from images with boxes or masks, and says what it is worth",
    .operands = "IMAGE...",
    .operand_min = 1,
    .operand_max = INT32_MAX,
    .details =
        "IMAGE is " READ_PICTURES ";\n"
        "STEM is its name without folder and extension, and COCO files know it by that. Cells learn from the share of their pixels that is object; what a panoptic map does not label does\n"
        "not count. Printed are, for a random choice of K cells, the K best of the default score, and the K best of\n"
        "the scorer: the share of the objects' area that they cover, and their intersection over union with it.\n"
        "With --query-weights each of the --classes in an image is a question, whose answer is the objects of that class;\n"
        "held out are classes; and \"fixed\" is the scorer of the same channels whose weights no query changes.\n",
    .options = groups,
    .options_size = sizeof(fit_options),
    .run = run_fit,
};
