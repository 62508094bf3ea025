/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm select: finds the positions that matter. It writes them as JSON, draws them on the photo, and draws a
 * heat map.
 */
#include <stdio.h>
#include <string.h>

#include "first.h"
#include "lab.h"
#include "networks.h"
#include "parameters.h"
#include "progress.h"
#include "select.h"
#include "select_layout.h"
#include "shared.h"
#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"

static const option_spec outputs_list[] = {
    {'o', OPTION_OUTPUT, "output", offsetof(select_options, output), "FILE", "the JSON (default: to stdout)",
     NO_RANGE, NULL},
    {0, OPTION_PATTERN, "overlay", offsetof(select_options, overlay), "FILE.png",
     "the photo with what was chosen; cells are coloured by rank, tiles by level", NO_RANGE, NULL},
    {0, OPTION_PATTERN, "heatmap", offsetof(select_options, heatmap), "FILE.png",
     "the score of every cell, in colour over the photo; for budget what the thumbnail loses", NO_RANGE,
     NULL},
    {0, OPTION_FOLDER, "crops", offsetof(select_options, crops), "DIR",
     "the small picture and the tiles as PNGs, into a folder that is there; with a JSON of their places; "
     "for budget",
     NO_RANGE, NULL},
    {0, OPTION_PATTERN, "patch-scores", offsetof(select_options, patch_scores), "FILE.npy",
     "the score of every cell (--stride; for budget --patch, and what the thumbnail loses of it), row after "
     "row as an encoder numbers its patches: float32 [cells]",
     NO_RANGE, NULL},
    {0, OPTION_PATTERN, "explain", offsetof(select_options, explain), "FILE",
     "FILE.json: for each position the value, the weight and the share in the score of each channel, or "
     "what a tile's square loses before and after; FILE.png: the channel that counts "
     "most at each, or a tile's level, in colour",
     NO_RANGE, NULL},
};
static const option_specs own_outputs_specs = OPTION_SPECS("What comes out", outputs_list);

static const option_spec sights_list[] = {
    {0, OPTION_INPUTS, "scores", offsetof(select_options, scores), "FILE.npy",
     "scores of your own, given once for each image; rows x columns of the candidates, or as "
     "--patch-scores writes them; for budget they say what matters",
     NO_RANGE, NULL},
};
static const option_specs own_sights_specs = OPTION_SPECS("Where to look", sights_list);

static const option_spec regions_list[] = {
    {0, OPTION_INTEGER, "clusters", offsetof(select_options, given.clusters), "N",
     "regions of the image, for cascade and for channels that are about them (default: 50)", 1,
     TVLM_REGIONS_MAX, NULL},
};
static const option_specs own_regions_specs = OPTION_SPECS("What is known of the image", regions_list);

static const option_spec output_settings_list[] = {
    {0, OPTION_FLAG, "anisotropic", offsetof(select_options, anisotropic), NULL,
     "\"axes\" of each position: two diameters of an ellipse of its size, long where the image "
     "changes little",
     NO_RANGE, NULL},
};
static const option_specs output_settings = OPTION_SETTINGS("What comes out", output_settings_list);

static const option_group groups[] = {
    {&strategy_specs, offsetof(select_options, strategy)},
    {&parameter_specs, offsetof(select_options, parameters)},
    {&parameter_settings, offsetof(select_options, parameters)},
    {&own_sights_specs, 0},
    {&parameter_points, offsetof(select_options, parameters)},
    {&weighing_specs, offsetof(select_options, weighing)},
    {&stack_makers, offsetof(select_options, stacks)},
    {&features_specs, offsetof(select_options, questions)},
    {&query_specs, offsetof(select_options, questions)},
    {&combine_specs, offsetof(select_options, questions)},
    {&feature_patch_specs, offsetof(select_options, questions.patch)},
    {&basis_specs, offsetof(select_options, basis)},
    {&query_settings, offsetof(select_options, questions)},
    {&words_settings, offsetof(select_options, questions)},
    {&input_specs, offsetof(select_options, given.files)},
    {&own_regions_specs, 0},
    {&truth_specs, offsetof(select_options, given.objects)},
    {&truth_settings, offsetof(select_options, given.objects)},
    {&own_outputs_specs, 0},
    {&patch_specs, offsetof(select_options, patches)},
    {&patch_settings, offsetof(select_options, patches)},
    {&output_settings, 0},
    {&stack_specs, offsetof(select_options, stacks)},
    {&rope_specs, offsetof(select_options, stacks.rope)},
    {&batch_specs, offsetof(select_options, batch)},
    {&stack_settings, offsetof(select_options, stacks)},
    {0},
};

/* ---- Outputs ---- */

/* Notes all files that will be written, before anything is computed. */
static int note_outputs(select_run *run, int count, char *const *images) {
    const select_options *const options = run->options;
    const struct {
        const char *option, *pattern; /* NULL: no such file is written */
    } outputs[] = {{"--overlay", options->overlay},
                   {"--heatmap", options->heatmap},
                   {"--patches", options->patches.output},
                   {"--patch-scores", options->patch_scores},
                   {"--explain", options->explain}};
    char path[SELECT_PATH_SIZE];
    int code = TOOL_DONE;
    for (size_t p = 0; p < sizeof outputs / sizeof *outputs; ++p)
        for (int i = 0; outputs[p].pattern != NULL && code == TOOL_DONE && i < count; ++i)
            for (int32_t q = 0; code == TOOL_DONE && q < run->questions.count; ++q) {
                code = select_output_name(run->tool, outputs[p].pattern, images[i], count > 1,
                                          run->questions.several ? q : -1, path);
                if (code == TOOL_DONE) code = files_output(run->tool, outputs[p].option, path);
            }
    for (int i = 0; code == TOOL_DONE && options->crops != NULL && i < count; ++i)
        code = budget_note_crops(run->tool, options->crops, images[i]);
    return code;
}

/* ---- One image ---- */

/* An image that is read anew where its pixels were freed. `shape` is the image without pixels. */
typedef struct read_image {
    tvlm_image *image, shape;
} read_image;

/* Reads the image, unless it is there. */
static int read_pixels(select_run *run, select_job *job, read_image *read) {
    const struct tvlm_image_load_params params = {.max_side = select_side(run->tool, run->options, false),
                                                  .log = &run->tool->log,
                                                  .memory = batch_memory(&run->options->batch.threads)};
    if (read->image != NULL) return TOOL_DONE;
    const bool first = job->image == NULL;
    int code = tool_status(run->tool, tvlm_image_load_for(job->path, &params, &read->image));
    if (code == TOOL_DONE && !first) code = select_same_size(run->tool, job->image, read->image);
    if (code == TOOL_DONE) job->image = read->image;
    return code;
}

/* Frees the pixels, which are in a stack, where nothing more is to be done with them: a tenth to a half of all memory. */
static void free_pixels(select_run *run, select_job *job, read_image *read) {
    if (select_keeps_pixels(run->tool, run->options)) return;
    read->shape = *read->image;
    read->shape.pixels = NULL;
    job->image = &read->shape;
    tvlm_image_destroy(&read->image);
}

/* Answers the questions that are not answered yet. */
static int answer_all(select_run *run, select_job *job, read_image *read) {
    struct tool *const tool = run->tool;
    int code = read_pixels(run, job, read);
    if (code == TOOL_DONE) code = select_prepare(run, job);
    if (code == TOOL_DONE) free_pixels(run, job, read);
    for (; code == TOOL_DONE && job->query_number < run->questions.count; ++job->query_number) {
        code = select_answer(run, job);
        if (code == TOOL_DONE && (run->several || run->questions.several)) code = tool_keep_files(tool);
        select_answer_release(job);
        if (code != TOOL_DONE) break;
        job->written = false;
    }
    return code;
}

/* If the device is lost, goes on with another one. Questions to the image that were answered already stay
 * answered. */
static bool go_on(select_run *run, select_job *job, int code) {
    if (!tool_goes_on(run->tool, code)) return false;
    stack_done(&run->stacks, &job->used, true);
    stack_source_release(&run->stacks);
    return true;
}

static bool try_smaller(select_run *run, select_job *job) {
    return stack_try_smaller(&run->stacks, job->path, job->image, &job->used);
}

static int select_path(select_run *run, const char *path, int number) {
    select_job job = {.path = path, .number = number};
    read_image read = {.image = NULL};
    run->tool->subject = path;
    int code = read_pixels(run, &job, &read);
    if (code == TOOL_DONE && !run->several && !batch_has_lines(&run->options->batch))
        first_is_about(run->tool, read.image, run->params.k);
    if (code == TOOL_DONE) code = select_find_middles(run, &job);
    if (code == TOOL_DONE) {
        do code = answer_all(run, &job, &read);
        while (code != TOOL_DONE && !job.written && (go_on(run, &job, code) || try_smaller(run, &job)));
    }
    stack_done(&run->stacks, &job.used, code != TOOL_DONE);
    tvlm_image_destroy(&read.image);
    run->tool->subject = NULL;
    return code;
}

static int write_json(select_run *run) {
    const char *const text = json_text_of(&run->json), *const output = run->options->output;
    if (text == NULL || output == NULL) return tool_print(run->tool, text);
    return tool_status(run->tool, tvlm_file_write(output, text, strlen(text), &run->tool->log));
}

static int one_by_one(select_run *run, int count, char *const *paths) {
    int code = TOOL_DONE;
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        code = select_path(run, paths[i], i);
        progress_step(i + 1);
    }
    return code;
}

/* Answers with a line for each image, so that nothing is left to write at the end. */
static int select_lines(select_run *run, int count, char *const *paths) {
    const batch_options *const batch = &run->options->batch;
    const bool resume = batch->resume != NULL;
    const char *const path = resume ? batch->resume : run->options->output;
    int code = batch_lines_open(run->tool, path, resume, &run->lines);
    if (code == TOOL_DONE) code = select_pool_run(run, count, paths);
    batch_lines_close(&run->lines);
    return code;
}

static int select_all(select_run *run, int count, char *const *paths) {
    if (batch_has_lines(&run->options->batch)) return select_lines(run, count, paths);
    const bool list = run->several || run->questions.several;
    int code = TOOL_DONE;
    if (list) {
        json_open_object(&run->json, NULL, false);
        json_open_array(&run->json, "selections", false);
    }
    progress_start("images", count);
    code = select_pool_wanted(&run->options->common) ? select_pool_run(run, count, paths)
                                                     : one_by_one(run, count, paths);
    progress_clear();
    if (list) {
        json_close(&run->json);
        json_close(&run->json);
    }
    return code == TOOL_DONE ? write_json(run) : code;
}

/* ---- What is asked ---- */

/* The strategy that the options name; otherwise the budget, or the grid if an overview is asked for. */
static tvlm_strategy strategy_of(const select_options *options) {
    if (options->strategy != NULL) return (tvlm_strategy)tvlm_strategy_find(options->strategy);
    return parameter_given(&options->parameters, "overview") ? TVLM_STRATEGY_GRID : TVLM_STRATEGY_BUDGET;
}

/* Refuses options for choosing the best cells together with --set cover, whose squares cover the image. */
static int check_cover(struct tool *tool, const struct tvlm_select_params *params) {
    const char *const wrong = !params->cascade.cover             ? NULL
                              : params->best.overview > 0.0f     ? "--overview"
                              : params->best.min_distance > 0.0f ? "--set min-distance"
                              : params->best.diversity > 0.0f    ? "--diversity"
                                                                 : NULL;
    if (wrong == NULL) return TOOL_DONE;
    return tool_usage(tool, "%s is not for --set cover, whose squares cover the image", wrong);
}

/* Refuses options that the strategy does not read. */
static int check_strategy(struct tool *tool, const select_run *run) {
    const select_options *const options = run->options;
    const strategy_option given[] = {
        {"--weights", "weights", options->weighing.weights.given},
        {"--crops", "share", options->crops != NULL},
    };
    const tvlm_strategy strategy = run->params.strategy;
    const bool asked = options->strategy != NULL || parameter_given(&options->parameters, "overview");
    TOOL_TRY(check_cover(tool, &run->params));
    TOOL_TRY(parameters_check(tool, strategy, asked, &options->parameters));
    return strategies_check(tool, strategy, asked, given, sizeof given / sizeof *given);
}

/* Refuses options that would have no effect beside the user's own scores. */
static int check_scores(struct tool *tool, const select_options *options, int images) {
    const char *const other = tool_given(tool, "query features weights scorer explain");
    if (options->scores.count == 0) return TOOL_DONE;
    if (other != NULL) return tool_usage(tool, "--scores and %s exclude each other", other);
    if (options->scores.count == images) return TOOL_DONE;
    return tool_usage(tool, "--scores is given for %d of %d images", (int)options->scores.count, images);
}

static int check_questions(struct tool *tool, const select_options *options) {
    const bool features = options->questions.features.count > 0, query = options->questions.query != NULL;
    if (features && !query && options->weighing.scorer == NULL)
        return tool_usage(tool, "--features needs --query, or a --scorer that reads them");
    const int code = basis_check(tool, &options->basis, features, query, "--query");
    if (code == TOOL_DONE && options->basis.components.given && options->basis.name == NULL)
        return tool_usage(tool, "--components needs --basis");
    return code;
}

/* Finds an option that hands in something for each image, and so needs the number or the names of the images.
 * */
static const char *find_named(struct tool *tool, const select_options *options) {
    const char *const named =
        tool_given(tool, "overlay heatmap explain patches patch-scores crops scores features");
    return named != NULL ? named : inputs_given(&options->given.files);
}

static int check_batch(struct tool *tool, const select_options *options, int count, char *const *operands) {
    const batch_options *const batch = &options->batch;
    if (count == 0 && batch->sources.list == NULL) return tool_usage(tool, "IMAGE... is missing");
    const int code = batch_check(tool, batch, options->output, false, count, operands);
    if (code != TOOL_DONE || !batch_is_open(&batch->sources, count, operands)) return code;
    const char *const named = find_named(tool, options);
    return named == NULL ? TOOL_DONE : tool_usage(tool, "%s needs each image as an argument", named);
}

static int check(struct tool *tool, const select_run *run, int images) {
    const select_options *const options = run->options;
    if (options->weighing.weights.given && options->weighing.scorer != NULL)
        return tool_usage(tool, "--weights and --scorer exclude each other");
    if (options->stacks.codec != NULL && options->weighing.scorer == NULL)
        return tool_usage(tool, "--codec needs a --scorer, which reads its codes");
    if (options->stacks.codec != NULL && options->stacks.network != NULL)
        return tool_usage(tool, "--codec and --network exclude each other: an image has one of them");
    int code = TOOL_DONE;
    if (options->stacks.codec != NULL) code = lab_check(tool, "--codec");
    if (code == TOOL_DONE && options->anisotropic) code = lab_check(tool, "--set anisotropic");
    if (code == TOOL_DONE && options->stacks.size.given && options->stacks.max_side.given)
        code = tool_usage(tool, "--size and --max-side exclude each other");
    if (code == TOOL_DONE) code = check_strategy(tool, run);
    if (code == TOOL_DONE) code = check_scores(tool, options, images);
    return code == TOOL_DONE ? check_questions(tool, options) : code;
}

/* ---- All of it ---- */

/* Loads the scorer, and the codec whose codes it is to read. Writes the names of the channels that are read.
 * */
static int read_scorer(select_run *run) {
    const char *const path = run->options->weighing.scorer, *const codec = run->options->stacks.codec;
    TOOL_TRY(questions_scorer(run->tool, &run->options->questions,
                              run->options->given.files.given[INPUT_EMBEDDING] != NULL, path, &run->scorer));
    if (codec != NULL)
        TOOL_TRY(codec_read_folded(run->tool, codec, run->scorer, 0, &run->codec, &run->folded));
    TOOL_TRY(scorer_layout(run->tool, path, run->folded != NULL ? run->folded : run->scorer, run->layout,
                           sizeof run->layout));
    if (codec != NULL) TOOL_TRY(codec_layout(run->tool, codec, run->codec, run->layout, sizeof run->layout));
    return TOOL_DONE;
}

/* Finds what makes the channels from learned_0 on: a codec or a network. */
static int read_network(select_run *run) {
    const stack_options *const options = &run->options->stacks;
    if (run->codec != NULL) {
        run->stacks.network = codec_network(run->codec);
        return network_check_layout(run->tool, options->codec, run->stacks.network, run->layout);
    }
    const int code = network_read_for(run->tool, options->network, run->layout, &run->network);
    run->stacks.network = run->network;
    return code;
}

/* Writes the names of the channels that are read. */
static int find_layout(select_run *run) {
    const select_options *const options = run->options;
    const bool asked = options->questions.query != NULL;
    int code = TOOL_DONE;
    if (options->weighing.scorer != NULL) {
        code = read_scorer(run);
    } else if (options->scores.count > 0) {
        snprintf(run->layout, sizeof run->layout, "r,g,b"); /* any channels will do: none is read */
    } else if (run->params.strategy == TVLM_STRATEGY_BUDGET) {
        code = emphasis_layout(run->tool, &run->params.budget, asked, run->layout, sizeof run->layout);
    } else {
        parts_layout(&options->weighing.weights, asked, run->layout, sizeof run->layout);
    }
    if (code != TOOL_DONE) return code;
    if (options->questions.words != NULL) {
        code =
            inputs_check_read(run->tool, "--set words", TVLM_CHANNEL_WORD_0, run->layout, INPUTS_OF_SELECT);
        if (code != TOOL_DONE) return code;
    }
    return patches_layout(run->tool, &options->patches, &run->patches, run->layout, sizeof run->layout);
}

/* Reads the inputs that are handed in. Only the cascade reads regions by itself, and only foveated looks at
 * objects. */
static int read_handed(select_run *run, int count, char *const *paths) {
    const select_options *const options = run->options;
    const handed_use use = {
        .layout = run->layout,
        .regions = run->params.strategy == TVLM_STRATEGY_CASCADE,
        .points = run->params.strategy == TVLM_STRATEGY_FOVEATED && options->parameters.points.count == 0,
    };
    return handed_read(run->tool, &options->given, &use, count, paths, &run->handed);
}

/* Reads the files that the options name, and notes all files. */
static int prepare(select_run *run, int count, char *const *paths) {
    const select_options *const options = run->options;
    struct tool *const tool = run->tool;
    TOOL_TRY(budget_check(tool, &options->parameters, "-k", &run->params.budget));
    TOOL_TRY(patches_read(tool, &options->patches, &run->patches));
    TOOL_TRY(questions_read(tool, &options->questions, count, &run->questions));
    if (options->crops != NULL && run->questions.several) return tool_usage(tool, "--crops takes one query");
    TOOL_TRY(note_outputs(run, count, paths));
    TOOL_TRY(explain_check(tool, options->explain));
    TOOL_TRY(find_layout(run));
    TOOL_TRY(read_network(run));
    return read_handed(run, count, paths);
}

/* Whether a stack can take one image after the other. It can if each image gets a line, and if only pixels
 * are handed in. */
static bool may_reuse(const select_options *options) {
    return batch_has_lines(&options->batch) && options->questions.features.count == 0 &&
           handed_given(&options->given) == NULL;
}

static int run_select(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const select_options *const options = values;
    select_run run = {.tool = tool,
                      .options = options,
                      .params = {.strategy = strategy_of(options)},
                      .stacks = {.tool = tool,
                                 .common = &options->common,
                                 .options = &options->stacks,
                                 .clusters = options->given.clusters.value,
                                 .reuse = may_reuse(options)},
                      .several = operand_count > 1 ||
                                 batch_is_open(&options->batch.sources, operand_count, operands)};
    parameters_set(&options->parameters, &run.params);
    int code = check_batch(tool, options, operand_count, operands);
    if (code == TOOL_DONE) code = check(tool, &run, operand_count);
    if (code == TOOL_DONE) code = prepare(&run, operand_count, operands);
    if (code == TOOL_DONE) code = select_all(&run, operand_count, operands);
    if (code == TOOL_DONE) stack_say_kept(&run.stacks);
    json_release(&run.json);
    stack_source_release(&run.stacks);
    codec_release(&run.codec, &run.folded);
    tvlm_scorer_destroy(&run.scorer);
    tvlm_basis_destroy(&run.basis);
    network_release(&run.network);
    questions_release(&run.questions);
    handed_release(&run.handed);
    return code;
}

static const char *const examples[] = {
    "select photo.jpg -k 273 --overlay look.png",
    "select --recursive photos --jsonl -o answers.jsonl --skip-errors",
    NULL,
};

static const option_brief brief[] = {
    {"What to choose", "k share tolerance strategy patch overview"},
    {"Where to look", "emphasis scorer scores fixation"},
    {"What is asked", "features query"},
    {"What is known of the image", "give"},
    {"What comes out", "output overlay heatmap crops patches"},
    {"Many images", "max-side jsonl skip-errors resume recursive"},
    {"Device and messages", "device fallback verbose quiet help"},
    {NULL, NULL},
};

const tool_command select_command = {
    .name = "select",
    .examples = examples,
    .brief = brief,
    .summary = "the positions of an image that matter, best first, as JSON",
    .operands = "IMAGE...",
    .operand_max = INT32_MAX, /* at least one, unless there is a list */
    .details =
        "IMAGE is " READ_PICTURES ".\n"
        "x, y and size are in its pixels after its EXIF rotation, with centres\n"
        "at +0.5. One image gives one object, several give {\"selections\": [...]}; when one of them fails, no JSON is\n"
        "written. With several images each picture's name gets the image's: --overlay out.png writes out-photo.png\n"
        "for photo.jpg. --stride, --patch and min-distance are in pixels of the working image: the image itself, unless\n"
        "--size or --max-side say otherwise, or it is larger than the device, or its memory, can hold; a warning says so.\n"
        "With --max-side libjpeg-turbo decodes a JPEG at a half, a quarter or an eighth of its size where no side is too\n"
        "short then; positions stay in the file's pixels, and a few of them may differ from those of the whole picture.\n"
        "A file that is named twice, with the same features, is worked on once, while it fits into cache-bytes; -v says\n"
        "how often.\n"
        "With --device all, or several names with commas between, images go to whichever of those devices is free; the\n"
        "answers and their order are those of one device, and what a device that is lost leaves is done by the others.\n"
        "Without a GPU, and if no device is named, the reference answers about a single image that is small, or while the\n"
        "kernels for a larger one are not built.\n"
        "With --jsonl there is a line an image, {\"image\": ...}, or with several queries {\"selections\": [...]}, and for an\n"
        "image that failed {\"image\": {\"path\": ...}, \"error\": ...}; where the list comes through a pipe each name is answered\n"
        "before the next one is there. Of a .tar, or .tar.gz and so on, the pictures are taken, but no links to them. --resume knows images by their names, and cuts a line off that has no end.\n"
        "The strategy budget spends K patches of an encoder: a thumbnail of the whole image, \"thumbnail\": [columns,\n"
        "rows], whose cells come first, but those that are \"empty\": [[column, row], ...], and tiles of it in detail, by\n"
        "gain: of level 0, 1 and 2, of level 1.585, the image at a third of its size, or nine in a square, of level 0.415,\n"
        "three quarters of its size. The other strategies choose by scores.\n"
        "--scores takes the place of the score: the strategy chooses by your numbers, the larger the better.\n"
        "With --features and --query the score has its third part, the cosine of the features with the query, and to\n"
        "budget that is what matters; a query of N vectors gives N selections, {\"selections\": [...]}, each with its \"query\", and pictures out-q0.png, ...\n"
        "A scorer file holds the tensors weights ([channels], [channels,3,3] or [outputs,channels,3,3], of which output 0\n"
        "is the score), bias and similarity (one number each, optional), query_weights ([dimension,channels], or\n"
        "[outputs,channels,3,3,dimension], optional: times the query's vector they are added to the weights), levels\n"
        "([channels], optional: of the image, at which each is read, -1: the cells'), and in its metadata\n"
        "format = texturevlm.scorer and channels = edges,entropy,...; or it is the file of a network (tvlm channels\n"
        "--network), whose first output is the score.\n",
    .options = groups,
    .options_size = sizeof(select_options),
    .run = run_select,
};
