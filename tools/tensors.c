/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm tensors: makes the tensors that the encoder of a vision-language model takes, in full and for the
 * chosen tokens.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "each.h"
#include "json.h"
#include "lab.h"
#include "networks.h"
#include "questions.h"
#include "select_budget.h"
#include "select_layout.h"
#include "shared.h"
#include "tensors.h"
#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"
#include "tool.h"

#define PIXELS_MAX  (1 << 30)
#define LAYOUT_SIZE 2048

typedef struct export_options {
    tool_common common;
    const char *model, *output, *projection, *network;
    weighing_options weighing;
    option_integer budget, min_pixels, max_pixels, size, patch;
    sampling_options sampling;
    parameter_options parameters;
    option_integer pillow;
    option_number overview;
    int all, video, selected_only;
    option_choice strategy; /* an index in ways[] */
    question_options asked; /* asked.combine is an index in combinations[] */
    handed_options given;
    each_options each;
} export_options;

static const char *const combinations[] = {"max", "mean", NULL};
static const char *const ways[] = {"auto", "grid", "budget", NULL};
static const tvlm_strategy ways_meant[] = {TVLM_STRATEGY_DEFAULT, TVLM_STRATEGY_GRID, TVLM_STRATEGY_BUDGET};

static const option_spec outputs_list[] = {
    {0, OPTION_TEXT, "for", offsetof(export_options, model), "MODEL",
     "qwen3-vl, qwen2.5-vl, qwen2-vl, llava, siglip, clip, llava-onevision or internvl", NO_RANGE, NULL},
    {'o', OPTION_PATTERN, "output", offsetof(export_options, output), "FILE.safetensors|DIR",
     "the tensors; with --each a folder, in which each image gets a file", NO_RANGE, NULL},
    {0, OPTION_FLAG, "selected-only", offsetof(export_options, selected_only), NULL,
     "leave out pixel_values of all tokens, 200 MB of a large photo", NO_RANGE, NULL},
    {0, OPTION_FLAG, "video", offsetof(export_options, video), NULL,
     "Qwen-VL: the images are frames of one video, two a token; or one file is a video", NO_RANGE, NULL},
    {0, OPTION_INPUT, "projection", offsetof(export_options, projection), "FILE",
     "adds visual_tokens: what a projection (texturevlm/lab/io_projection.h) makes of each chosen token's channels; one with a "
     "basis needs --features",
     NO_RANGE, NULL},
};
static const option_specs own_outputs_specs = OPTION_SPECS("What comes out", outputs_list);

static const option_spec placing_list[] = {
    {0, OPTION_INTEGER, "budget", offsetof(export_options, budget), "N",
     "tokens selected at most, over all images (default: a quarter of each image's)", 1, INT32_MAX, NULL},
    {0, OPTION_FLAG, "all", offsetof(export_options, all), NULL, "select every token", NO_RANGE, NULL},
    {0, OPTION_CHOICE, "strategy", offsetof(export_options, strategy), "HOW",
     "grid, budget or auto (default); grid: the best tokens; budget, of Qwen-VL, llava-onevision and "
     "internvl: a small picture of the whole, and what that loses most of; auto: budget for the last two, "
     "else grid",
     NO_RANGE, ways},
    {0, OPTION_NUMBER, "overview", offsetof(export_options, overview), "SHARE",
     "for grid, Qwen-VL: that share of the tokens, 0 to 1, is a small picture of the whole, which comes first; the "
     "rest are the best (default: 0)",
     0, 1, NULL},
};
static const option_specs own_placing_specs = OPTION_SPECS("What to choose", placing_list);

static const option_spec asking_list[] = {
    {0, OPTION_CHOICE, "combine", offsetof(export_options, asked.combine), "HOW",
     "of N queries: max (default) or mean of their similarities", NO_RANGE, combinations},
};
static const option_specs own_asking_specs = OPTION_SPECS("What is asked", asking_list);

static const option_spec processor_list[] = {
    {0, OPTION_INTEGER, "min-pixels", offsetof(export_options, min_pixels), "N",
     "the least pixels of the resized image, Qwen-VL (default: 65536 for qwen3-vl, else 3136); of "
     "qwen3-vl's videos of all frames together (4096), else of each",
     1, PIXELS_MAX, NULL},
    {0, OPTION_INTEGER, "max-pixels", offsetof(export_options, max_pixels), "N",
     "the most pixels of the resized image, Qwen-VL (default: 16777216 for qwen3-vl, else 12845056); of "
     "qwen3-vl's videos 25165824",
     1, PIXELS_MAX, NULL},
    {0, OPTION_INTEGER, "size", offsetof(export_options, size), "PIXELS",
     "side of the processed image, llava (default: 336), siglip and clip (224); of a crop, llava-onevision "
     "(384) and internvl (448)",
     1, 16384, NULL},
    {0, OPTION_INTEGER, "patch", offsetof(export_options, patch), "PIXELS",
     "side of a patch, siglip (default: 16), the others but Qwen-VL (14)", 1, 16384, NULL},
    {0, OPTION_INTEGER, "pillow", offsetof(export_options, pillow), "VERSION",
     "resize as that version of Pillow does: from 13 on in another order (default: 12)", 1, 99, NULL},
};
static const option_specs own_processor_specs = OPTION_SPECS("The image", processor_list);

static const option_group groups[] = {
    {&own_outputs_specs, 0},
    {&own_placing_specs, 0},
    {&tensors_parameter_specs, offsetof(export_options, parameters)},
    {&weighing_specs, offsetof(export_options, weighing)},
    {&network_specs, offsetof(export_options, network)},
    {&features_specs, offsetof(export_options, asked)},
    {&query_specs, offsetof(export_options, asked)},
    {&own_asking_specs, 0},
    {&feature_patch_specs, offsetof(export_options, asked.patch)},
    {&query_settings, offsetof(export_options, asked)},
    {&input_specs, offsetof(export_options, given.files)},
    {&export_clusters_specs, offsetof(export_options, given)},
    {&truth_specs, offsetof(export_options, given.objects)},
    {&truth_settings, offsetof(export_options, given.objects)},
    {&own_processor_specs, 0},
    {&sampling_specs, offsetof(export_options, sampling)},
    {&each_specs, offsetof(export_options, each)},
    {&batch_specs, offsetof(export_options, each.batch)},
    {0},
};

struct job {
    struct tool *tool;
    const export_options *options;
    int model; /* a tvlm_export_model */
    int count; /* how many files there are */
    char *const *paths;
    const char *const *feature_paths; /* the files of the features, if there are any */
    const char *output;
    export_pictures pictures;
    tvlm_scorer *scorer;
    tvlm_projection *projection;
    tvlm_network *network;
    struct tvlm_select_params spending; /* only those of the budget are used */
    question_options asked;
    questions questions;
    export_inputs inputs;
    tvlm_npy **arrays; /* the files that `features` point into */
    struct tvlm_grid_input *features;
    struct tvlm_query *queries;
    tvlm_device *device;
    tvlm_export *export;
    export_results results;
};

/* ---- Before any work ---- */

static int find_model(struct tool *tool, const char *name, int *model) {
    char known[256] = "";
    *model = tvlm_export_model_find(name);
    if (*model >= 0) return TOOL_DONE;
    for (int i = 0; i < TVLM_EXPORT_MODELS; ++i) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                 tvlm_export_model_name((tvlm_export_model)i));
    }
    if (name == NULL) return tool_usage(tool, "--for is missing: one of %s", known);
    return tool_usage(tool, "--for %.64s: there is no such model; there are %s", name, known);
}

/* Whether the options mean the strategy budget where they name none, as the library has it: a share does of pictures
 * of Qwen-VL alone. */
static bool says_budget(const struct job *job) {
    const parameter_options *const parameters = &job->options->parameters;
    tvlm_export_processor processor;
    const bool several = job->options->video == 0 &&
                         tvlm_export_processor_get((tvlm_export_model)job->model, &processor) == TVLM_OK &&
                         processor.side == 0;
    return (several && parameter_given(parameters, "share")) || parameter_given(parameters, "tolerance") ||
           parameter_given(parameters, "emphasis");
}

/* The strategy that the options name, or else the one that goes with them and the model. */
static tvlm_strategy strategy_of(const struct job *job) {
    const export_options *const options = job->options;
    const tvlm_strategy named = ways_meant[options->strategy.value];
    if (named != TVLM_STRATEGY_DEFAULT) return named;
    const bool budget =
        export_is_cut((tvlm_export_model)job->model) || (options->all == 0 && says_budget(job));
    return budget ? TVLM_STRATEGY_BUDGET : TVLM_STRATEGY_GRID;
}

/* Checks the options of the strategy budget, and reads the emphasis. */
static int check_spending(struct job *job) {
    const export_options *const options = job->options;
    const tvlm_strategy strategy = strategy_of(job);
    const parameter_options others = parameters_without(&options->parameters, "share");
    const int code = parameters_check(job->tool, strategy, options->strategy.value != 0,
                                      strategy == TVLM_STRATEGY_GRID ? &others : &options->parameters);
    return code == TOOL_DONE
               ? budget_check(job->tool, &options->parameters, "--budget", &job->spending.budget)
               : code;
}

static int check(struct job *job) {
    const export_options *const options = job->options;
    struct tool *const tool = job->tool;
    TOOL_TRY(find_model(tool, options->model, &job->model));
    if (job->output == NULL) return tool_usage(tool, "-o FILE.safetensors is missing");
    if (options->all > 0 && (options->budget.given || job->spending.budget.share != 0.0f ||
                             job->spending.budget.tolerance != 0.0f))
        return tool_usage(tool, "--all and --%s exclude each other",
                          options->budget.given                ? "budget"
                          : job->spending.budget.share != 0.0f ? "share"
                                                               : "tolerance");
    if (options->weighing.weights.given && options->weighing.scorer != NULL)
        return tool_usage(tool, "--weights and --scorer exclude each other");
    if (options->min_pixels.given && options->max_pixels.given &&
        options->min_pixels.value > options->max_pixels.value)
        return tool_usage(tool, "from %d to %d pixels is no range", options->min_pixels.value,
                          options->max_pixels.value);
    return check_spending(job);
}

/* Reads the question. There can be only one, since an export has only one choice of tokens. */
static int read_questions(struct job *job) {
    const question_options *const given = &job->options->asked;
    job->asked = *given;
    job->asked.combine.value = given->combine.value == 1 ? QUESTION_MEAN : QUESTION_MAX;
    if (given->features.count > 0 && given->query == NULL && job->options->weighing.scorer == NULL &&
        job->options->projection == NULL)
        return tool_usage(job->tool,
                          "--features needs --query, or a --scorer or --projection that reads them");
    return questions_read(job->tool, &job->asked, job->count, &job->questions);
}

/* Finds the channels that the choice of tokens and the projection read, and reads the inputs that are handed
 * in for them. Inputs that nothing reads are refused. */
static int read_inputs(struct job *job) {
    const export_options *const options = job->options;
    const bool asked = options->asked.query != NULL;
    char layout[LAYOUT_SIZE];
    int code = TOOL_DONE;
    if (job->scorer != NULL)
        code = scorer_layout(job->tool, options->weighing.scorer, job->scorer, layout, sizeof layout);
    else if (strategy_of(job) == TVLM_STRATEGY_BUDGET)
        code = emphasis_layout(job->tool, &job->spending.budget, asked, layout, sizeof layout);
    else
        parts_layout(&options->weighing.weights, asked, layout, sizeof layout);
    if (code == TOOL_DONE && job->projection != NULL)
        code = projection_layout(job->tool, options->projection, job->projection, layout, sizeof layout);
    if (code == TOOL_DONE) code = network_read_for(job->tool, options->network, layout, &job->network);
    if (code != TOOL_DONE) return code;
    tvlm_export_processor processor = {0};
    (void)tvlm_export_processor_get((tvlm_export_model)job->model, &processor); /* the model is known */
    job->inputs = (export_inputs){.tool = job->tool,
                                  .options = &options->given,
                                  .network = job->network,
                                  .paths = job->paths,
                                  .middle = processor.centre};
    const handed_use use = {.layout = layout};
    return handed_read(job->tool, &options->given, &use, job->count, job->paths, &job->inputs.read);
}

/* Reads the projection, if there is one. */
static int read_projection(struct job *job) {
    const char *const path = job->options->projection;
    return path == NULL ? TOOL_DONE
                        : projection_read(job->tool, path, job->asked.features.count > 0, &job->projection);
}

/* ---- Work ---- */

static int load(struct job *job) {
    const export_options *const options = job->options;
    int code = TOOL_DONE;
    if (options->video > 0 && job->count == 1)
        code = export_pictures_decode(job->tool, job->paths, &options->sampling, &job->pictures);
    if (code != TOOL_DONE) return code;
    if (job->pictures.of_video && job->asked.features.count > 0)
        return tool_usage(job->tool, "--features is for images; of a video hand in the frames as such");
    if (job->pictures.of_video) return TOOL_DONE;
    if (options->sampling.every.given || options->sampling.fps.given)
        return tool_usage(job->tool, "--%s is for --video and a video file",
                          options->sampling.every.given ? "every" : "fps");
    return export_pictures_load(job->tool, job->paths, job->count, options->video > 0, &job->pictures);
}

static int load_features(struct job *job) {
    const size_t count = (size_t)job->count;
    int code = TOOL_DONE;
    if (job->asked.features.count == 0) return TOOL_DONE;
    job->arrays = calloc(count, sizeof *job->arrays);
    job->features = calloc(count, sizeof *job->features);
    job->queries = calloc(count, sizeof *job->queries);
    if (job->arrays == NULL || job->features == NULL || job->queries == NULL)
        return tool_fail(job->tool, "no memory");
    for (int i = 0; code == TOOL_DONE && i < job->count; ++i) {
        code = features_open(job->tool, job->feature_paths[i], &job->questions.queries, &job->arrays[i],
                             &job->features[i]);
        job->features[i].cell = job->asked.patch.value;
        (void)questions_query(&job->questions, 0, &job->queries[i]); /* all zero if nothing is asked */
    }
    return code;
}

/* Adds to an error about one of several files which file it is. */
static void name_image(struct job *job) {
    struct tool *const tool = job->tool;
    const int32_t failed = tvlm_export_failed_image(job->export);
    char line[sizeof tool->error];
    if (failed < 0 || job->pictures.of_video || strstr(tool->error, job->paths[failed]) != NULL) return;
    snprintf(line, sizeof line, "%.512s: %.1000s", job->paths[failed], tool->error);
    memcpy(tool->error, line, sizeof line);
}

static struct tvlm_export_params params_of(const struct job *job) {
    const export_options *const options = job->options;
    return (struct tvlm_export_params){
        .model = (tvlm_export_model)job->model,
        .min_pixels = options->min_pixels.value,
        .max_pixels = options->max_pixels.value,
        .side = options->size.value,
        .patch = options->patch.value,
        .budget = options->budget.value,
        .all = options->all > 0,
        .strategy = ways_meant[options->strategy.value],
        .spending = job->spending.budget,
        .video = options->video > 0,
        .pillow = options->pillow.value,
        .format = (tvlm_format)options->common.format.value,
        .score = {.weights = options->weighing.weights.given ? options->weighing.weights.values : NULL,
                  .scorer = job->scorer}};
}

/* Opens the device, and prepares everything that is the same for all runs. */
static int open_export(struct job *job) {
    const struct tvlm_export_params params = params_of(job);
    const char *const subject = job->tool->subject;
    if (job->export != NULL) return TOOL_DONE;
    job->tool->subject = NULL; /* an error from here on is about the options */
    int code = tool_open_device(job->tool, &job->options->common, &job->device);
    if (code == TOOL_DONE)
        code = tool_usage_status(job->tool, tvlm_export_create(job->device, &params, &job->export));
    if (code == TOOL_DONE)
        code =
            tool_usage_status(job->tool, tvlm_export_set_overview(job->export, job->options->overview.value));
    if (code == TOOL_DONE && job->projection != NULL)
        code = projection_set(job->tool, job->projection, job->export);
    if (code == TOOL_DONE) code = export_inputs_set(&job->inputs, &job->pictures, job->export);
    job->tool->subject = subject;
    return code;
}

static int process(struct job *job) {
    int code = open_export(job);
    if (code == TOOL_DONE)
        code = tool_status(job->tool, tvlm_export_run(job->export, job->pictures.images, job->pictures.count,
                                                      job->features, job->queries));
    if (code != TOOL_DONE && job->inputs.failed) return TOOL_FAILED; /* the error names a file already */
    if (code != TOOL_DONE) name_image(job);
    return code;
}

/* Reads the tensors of the export, and writes them. */
static int write_tensors(struct job *job) {
    job->results.tool = job->tool;
    job->results.export = job->export;
    job->results.model = (tvlm_export_model)job->model;
    job->results.pictures = &job->pictures;
    job->results.paths = job->paths;
    const int code = export_results_read(&job->results, job->options->selected_only > 0);
    job->tool->subject = NULL;
    return code == TOOL_DONE ? export_results_write(&job->results, job->output) : code;
}

static int print_json(struct job *job) {
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    json_string(&json, "model", tvlm_export_model_name((tvlm_export_model)job->model));
    json_string(&json, "output", job->output);
    json_device(&json, job->device);
    export_results_json(&job->results, &json);
    return tool_print_json(job->tool, &json);
}

static void release_features(struct job *job) {
    for (int i = 0; job->arrays != NULL && i < job->count; ++i) tvlm_npy_destroy(&job->arrays[i]);
    free(job->arrays);
    free(job->features);
    free(job->queries);
    job->arrays = NULL;
    job->features = NULL;
    job->queries = NULL;
}

static void release(struct job *job) {
    export_results_release(&job->results);
    release_features(job);
    questions_release(&job->questions);
    handed_release(&job->inputs.read);
    export_pictures_release(&job->pictures);
    tvlm_export_destroy(&job->export);
    tvlm_device_destroy(&job->device);
    tvlm_scorer_destroy(&job->scorer);
    projection_release(&job->projection);
    network_release(&job->network);
}

/* ---- All images together ---- */

static int export_all(struct job *job) {
    job->feature_paths = job->asked.features.values;
    TOOL_TRY(load(job));
    TOOL_TRY(load_features(job));
    TOOL_TRY(process(job));
    TOOL_TRY(write_tensors(job));
    TOOL_TRY(job->options->common.json > 0 ? print_json(job) : export_results_text(&job->results));
    TOOL_TRY(tool_keep_files(job->tool));
    return job->pictures.partly;
}

/* ---- A file of each image ---- */

static void lose_device(void *user) {
    struct job *const job = user;
    tvlm_export_destroy(&job->export);
    tvlm_device_destroy(&job->device);
}

static int export_each(void *user, const each_image *image) {
    struct job *const job = user;
    tvlm_image picture = *image->image;
    char *const path = image->name;
    job->count = 1;
    job->paths = job->inputs.paths = &path;
    job->feature_paths = job->asked.features.values + (job->asked.features.count > 0 ? image->number : 0);
    job->output = image->output;
    job->pictures = (export_pictures){.count = 1, .images = &picture};
    int code = load_features(job);
    if (code == TOOL_DONE) code = process(job);
    if (code == TOOL_DONE) code = write_tensors(job);
    if (code == TOOL_DONE && image->json != NULL) {
        json_string(image->json, "model", tvlm_export_model_name((tvlm_export_model)job->model));
        json_device(image->json, job->device);
        export_results_json(&job->results, image->json);
    } else if (code == TOOL_DONE) {
        code = export_results_text(&job->results);
    }
    release_features(job);
    export_results_release(&job->results);
    job->pictures = (export_pictures){0};
    return code;
}

static int run_each(struct job *job, int count, char *const *operands) {
    const export_options *const options = job->options;
    const each_work work = {.end = ".safetensors", .make = export_each, .reset = lose_device, .user = job};
    return each_run(job->tool, &options->each, options->output, count, operands, &work);
}

/* Refuses options that are not about a single image, or that depend on the number of images. */
static int check_each(struct tool *tool, const export_options *options, int count, char *const *operands) {
    const each_options *const each = &options->each;
    if (each->each == 0 && options->output != NULL) {
        const int code = files_output(tool, "--output", options->output);
        if (code != TOOL_DONE) return code;
    }
    const int code = each_check(tool, each, options->output, count, operands);
    if (code != TOOL_DONE || each->each == 0) return code;
    if (options->common.json > 0) return tool_usage(tool, "--json is not for --each, --jsonl is");
    const sampling_options *const sampling = &options->sampling;
    if (options->video > 0 || sampling->every.given || sampling->fps.given)
        return tool_usage(tool, "--%s is not for --each",
                          options->video > 0      ? "video"
                          : sampling->every.given ? "every"
                                                  : "fps");
    if (inputs_given(&options->given.files) != NULL)
        return tool_usage(tool, "%s is of one image", inputs_given(&options->given.files));
    if (options->asked.features.count > 0 && batch_is_open(&each->batch.sources, count, operands))
        return tool_usage(tool, "--features needs each image as an argument");
    return TOOL_DONE;
}

static int run_export(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const export_options *const options = values;
    struct job job = {.tool = tool,
                      .options = options,
                      .count = operand_count,
                      .paths = operands,
                      .output = options->output};
    parameters_set(&options->parameters, &job.spending);
    int code = check_each(tool, options, operand_count, operands);
    if (code == TOOL_DONE) code = read_questions(&job);
    if (code == TOOL_DONE) code = check(&job);
    if (code == TOOL_DONE && options->weighing.scorer != NULL)
        code = questions_scorer(tool, &job.asked, options->given.files.given[INPUT_EMBEDDING] != NULL,
                                options->weighing.scorer, &job.scorer);
    if (code == TOOL_DONE) code = read_projection(&job);
    if (code == TOOL_DONE) code = read_inputs(&job);
    if (code == TOOL_DONE)
        code = options->each.each > 0 ? run_each(&job, operand_count, operands) : export_all(&job);
    release(&job);
    return code;
}

static const char *const examples[] = {
    "tensors photo.jpg --for qwen2-vl --budget 64 -o photo.safetensors",
    "tensors photos/*.jpg --for siglip --each -o folder",
    NULL,
};

static const option_brief brief[] = {
    {"What comes out", "for output selected-only video"},
    {"What to choose", "budget share tolerance all strategy overview"},
    {"Where to look", "emphasis scorer"},
    {"What is asked", "features query combine"},
    {"What is known of the image", "give"},
    {"The image", "min-pixels max-pixels size patch"},
    {"Many images", "each jsonl skip-errors resume list recursive"},
    {"Device and messages", "device fallback json verbose quiet help"},
    {NULL, NULL},
};

const tool_command tensors_command = {
    .name = "tensors",
    .examples = examples,
    .brief = brief,
    .summary = "tensors that a vision-language model takes as they are, in full and of the chosen tokens",
    .operands = "IMAGE...",
    .operand_max = INT32_MAX, /* at least one, unless there is a list */
    .details =
        "The file holds what the model's own processor makes (Hugging Face transformers, on Pillow): pixel_values and,\n"
        "for Qwen-VL, image_grid_thw (with --video pixel_values_videos and video_grid_thw). And the chosen tokens, in\n"
        "rising order: selected_indices, their rows of pixel_values (selected_pixel_values), selected_positions (t, h, w\n"
        "in the grid of tokens, for M-RoPE), selected_images, selected_scores; and the scores of all tokens.\n"
        "With --projection also visual_tokens: vectors that a linear map makes of their channels.\n"
        "With --strategy budget an image of Qwen-VL becomes pictures of their own: a thumbnail with all its tokens but\n"
        "those of empty cells, the full picture with some, and, where they pay, the image at three quarters, at half, at\n"
        "a third and at a quarter of that size with some.\n"
        "picture_source says which image each is of, picture_scale its sides (h, w) beside the full picture's.\n"
        "Of llava-onevision and internvl the processor's crops are chosen, by what the thumbnail loses of each, and the\n"
        "thumbnail always; numbers and rows are then of crops, whose grids are crop_grids. A crop counts as its tokens\n"
        "in the budget (729; 256). The budget is never exceeded. --share and --tolerance take its place: of each image's\n"
        "tokens, or crops; of crops a tolerance leaves out those that lose least in the thumbnail.\n"
        "A token is a block of 2x2 patches in Qwen-VL, one patch in the others; several images follow each other. A\n"
        "budget is shared among them in proportion to their tokens, at least one each, and never exceeded.\n"
        "With --each every image is exported alone, into a file of its own, with a budget of its own.\n"
        "--every and --fps are for --video with a video file, of which at most 768 frames are taken.\n"
        "The EXIF rotation is applied; alpha is dropped, as the processor drops it. JPEGs may differ by a step here and\n"
        "there, since decoders do. With --features and --query the score has its third part, as in tvlm select; the\n"
        "features' grid covers the picture as it is processed (of llava and clip: the middle). A scorer file is that of tvlm select.\n",
    .options = groups,
    .options_size = sizeof(export_options),
    .run = run_export,
};
