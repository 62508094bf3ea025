/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm select: the positions that matter, as JSON, drawn on the photo, and as a heat map.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bases.h"
#include "draw.h"
#include "json.h"
#include "positions.h"
#include "progress.h"
#include "questions.h"
#include "select_budget.h"
#include "select_explain.h"
#include "select_layout.h"
#include "select_outputs.h"
#include "select_patches.h"
#include "select_scores.h"
#include "select_stack.h"
#include "shared.h"
#include "strategies.h"
#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"
#include "tool.h"

typedef struct select_options {
    tool_common common;
    placing_options placing;
    weighing_options weighing;
    option_number stride;
    const char *output, *overlay, *heatmap, *explain;
    option_points fixations;
    option_number e0;
    int arrangement; /* tvlm_arrangement */
    option_integer level, keep_regions;
    option_number cull_distance, diversity;
    stack_options stacks;
    patch_options patches;
    const char *patch_scores;
    int cover;
    option_list scores;
    int anisotropic;
    budget_options budget;
    question_options questions;
    basis_options basis;
} select_options;

static const char *const arrangements[] = {"sunflower", "log-polar", NULL};

static const option_spec specs[] = {
    {'o', OPTION_OUTPUT, "output", offsetof(select_options, output), "FILE", "the JSON (default: to stdout)",
     0, 0, NULL},
    {0, OPTION_PATTERN, "overlay", offsetof(select_options, overlay), "FILE.png",
     "the photo with the chosen cells, coloured by rank", 0, 0, NULL},
    {0, OPTION_PATTERN, "heatmap", offsetof(select_options, heatmap), "FILE.png",
     "the score of every cell, in colour over the photo", 0, 0, NULL},
    {0, OPTION_PATTERN, "explain", offsetof(select_options, explain), "FILE",
     "FILE.json: for each position the value, the weight and the share in the score of each channel; "
     "FILE.png: the channel that counts most at each, in colour",
     0, 0, NULL},
    {0, OPTION_POINTS, "fixation", offsetof(select_options, fixations), "X,Y",
     "for foveated: where to look, in the image's pixels; may be given several times (default: "
     "where the score has its peak)",
     0, 0, NULL},
    {0, OPTION_NUMBER, "e0", offsetof(select_options, e0), "E0",
     "for foveated: squares grow as e + E0 with the distance e from the fixation, in half "
     "diagonals (default: 0.2)",
     1e-3, 1e3, NULL},
    {0, OPTION_CHOICE, "arrangement", offsetof(select_options, arrangement), "NAME",
     "for foveated: sunflower (default) or log-polar", 0, 0, arrangements},
    {0, OPTION_INTEGER, "level", offsetof(select_options, level), "N",
     "for exhaustive: the level whose texels are chosen from (default: 0, every pixel)", 0, 31, NULL},
    {0, OPTION_INTEGER, "keep-regions", offsetof(select_options, keep_regions), "N",
     "for cascade: the regions that are looked into, at least (default: 10; more where they hold "
     "fewer than 8 K cells)",
     1, 65536, NULL},
    {0, OPTION_NUMBER, "cull-distance", offsetof(select_options, cull_distance), "D",
     "for cascade: regions and cells at least that far from every edge are left out (default: 1; "
     "above 1: none are)",
     1e-6, 1e6, NULL},
    {0, OPTION_NUMBER, "diversity", offsetof(select_options, diversity), "D",
     "for grid, exhaustive and cascade: 0 to 1; each position's score counts less D times its largest likeness "
     "to those before it, by the features, else by colour (default: 0)",
     0, 1, NULL},
    {0, OPTION_FLAG, "cover", offsetof(select_options, cover), NULL,
     "for cascade: squares that cover the image, as the quadtree's, small only in those regions", 0, 0, NULL},
    {0, OPTION_PATTERN, "patch-scores", offsetof(select_options, patch_scores), "FILE.npy",
     "the score of every cell of the grid (--stride), row after row as an encoder numbers its "
     "patches: float32 [cells]",
     0, 0, NULL},
    {0, OPTION_INPUTS, "scores", offsetof(select_options, scores), "FILE.npy",
     "scores of your own to choose by: rows x columns of the candidates, or as --patch-scores writes "
     "them; given once for each image",
     0, 0, NULL},
    {0, OPTION_FLAG, "anisotropic", offsetof(select_options, anisotropic), NULL,
     "\"axes\" of each position: two diameters of an ellipse of its size, long where the image "
     "changes little",
     0, 0, NULL},
};

static const option_specs own = OPTION_SPECS(specs);
static const option_group groups[] = {
    {&placing_specs, offsetof(select_options, placing)},
    {&own, 0},
    {&stack_specs, offsetof(select_options, stacks)},
    {&budget_specs, offsetof(select_options, budget)},
    {&stride_specs, offsetof(select_options, stride)},
    {&weighing_specs, offsetof(select_options, weighing)},
    {&features_specs, offsetof(select_options, questions)},
    {&feature_patch_specs, offsetof(select_options, questions.patch)},
    {&query_specs, offsetof(select_options, questions)},
    {&combine_specs, offsetof(select_options, questions)},
    {&basis_specs, offsetof(select_options, basis)},
    {&patch_specs, offsetof(select_options, patches)},
    {0},
};

#define LAYOUT_SIZE 2048

/* What is the same for all images. */
struct run {
    struct tool *tool;
    const select_options *options;
    tvlm_scorer *scorer;
    questions questions;
    patch_plan patches;
    tvlm_basis *basis;
    stack_source stacks;
    char layout[LAYOUT_SIZE]; /* the names of the channels that the score reads */
    bool several;             /* whether there are several images */
    budget_emphasis emphasis;
    json_writer json;
};

/* ---- Outputs ---- */

static int note_outputs(struct run *run, int count, char *const *images) {
    const select_options *const options = run->options;
    const select_outputs outputs = {
        .patterns = {{"--overlay", options->overlay},
                     {"--heatmap", options->heatmap},
                     {"--patches", options->patches.output},
                     {"--patch-scores", options->patch_scores},
                     {"--explain", options->explain}},
        .query_count = run->questions.count,
        .several_queries = run->questions.several,
    };
    return select_outputs_note(run->tool, &outputs, count, images);
}

/* ---- One image ---- */

struct job {
    const char *path;
    int number; /* the place of the image among the operands */
    tvlm_image *image;
    image_stack used;
    tvlm_stack *stack;    /* that of `used` */
    int32_t query_number; /* what follows is of this query */
    bool written;         /* its answer stands in the JSON */
    struct tvlm_query storage;
    const struct tvlm_query *query; /* NULL: nothing is asked */
    tvlm_selection *selection;
    const tvlm_position *positions;
    int32_t count, k;
    int32_t thumbnail_columns, thumbnail_rows;
    draw_grid grid;
    struct canvas overlay, heatmap;
    select_array patches, patch_scores;
    own_scores scores;
    tvlm_footprint *axes;
    explained explained;
};

/* Fixations are given in pixels of the image as it was handed in. */
static int scale_fixations(const struct run *run, const struct job *job, const tvlm_stack_info *stack,
                           option_points *fixations) {
    *fixations = run->options->fixations;
    for (int32_t i = 0; i < fixations->count; ++i) {
        float *const at = &fixations->values[2 * i];
        if (!(at[0] >= 0.0f && at[0] <= (float)job->image->width && at[1] >= 0.0f &&
              at[1] <= (float)job->image->height))
            return tool_fail(run->tool, "--fixation %g,%g lies outside its %dx%d pixels", (double)at[0],
                             (double)at[1], (int)job->image->width, (int)job->image->height);
        at[0] = fminf(at[0] * (float)stack->width / (float)job->image->width, (float)stack->width);
        at[1] = fminf(at[1] * (float)stack->height / (float)job->image->height, (float)stack->height);
    }
    return TOOL_DONE;
}

/* How cells are scored, or the texels of a level. */
static struct tvlm_score_params score_params_of(const struct run *run) {
    const select_options *const options = run->options;
    return (struct tvlm_score_params){
        .stride = options->stride.value,
        .dense = strategies_at(options->placing.strategy) == TVLM_STRATEGY_EXHAUSTIVE,
        .level = options->level.value,
        .weights = options->weighing.weights.given ? options->weighing.weights.values : NULL,
        .scorer = run->scorer,
    };
}

static int explain(struct run *run, struct job *job, const struct tvlm_select_params *params) {
    const explain_subject subject = {.path = job->path,
                                     .image = job->image,
                                     .stack = job->stack,
                                     .query = job->query,
                                     .params = params,
                                     .selection = job->selection};
    return explain_make(run->tool, &subject, run->options->explain, &job->explained);
}

/* A budget's grid is that of its tiles, and it says itself how many positions that makes. */
static int note_budget(struct job *job, const tvlm_selection_info *info, const tvlm_stack_info *stack,
                       float patch) {
    const float side = patch > 0.0f ? patch : TVLM_PATCH_DEFAULT;
    job->k = job->count;
    job->grid.step_x = side * (float)info->width / (float)stack->width;
    job->grid.step_y = side * (float)info->height / (float)stack->height;
    (void)tvlm_selection_scores(job->selection, &job->grid.columns, &job->grid.rows);
    job->thumbnail_columns = info->thumbnail_columns;
    job->thumbnail_rows = info->thumbnail_rows;
    return TOOL_DONE;
}

static int find_positions(struct run *run, struct job *job) {
    const select_options *const options = run->options;
    tvlm_stack_info stack;
    option_points fixations;
    int code = tool_status(run->tool, tvlm_stack_get_info(job->stack, &stack));
    if (code == TOOL_DONE) code = scale_fixations(run, job, &stack, &fixations);
    if (code != TOOL_DONE) return code;
    struct tvlm_select_params params = {
        .k = options->placing.k.value,
        .strategy = strategies_at(options->placing.strategy),
        .score = score_params_of(run),
        .patch = options->placing.patch.value,
        .min_distance = options->placing.min_distance.value,
        .fixations = fixations.count > 0 ? fixations.values : NULL,
        .fixation_count = fixations.count,
        .e0 = options->e0.value,
        .arrangement = (tvlm_arrangement)options->arrangement,
        .keep_regions = options->keep_regions.value,
        .cull_distance = options->cull_distance.value,
        .cover = options->cover > 0,
        .diversity = (double)options->diversity.value,
        .overview = options->placing.overview.value,
        .keep_scores = options->heatmap != NULL || options->patch_scores != NULL,
        .scores = options->scores.count > 0 ? &job->scores.scores : NULL,
    };
    budget_params(&options->budget, &run->emphasis, &params);
    tvlm_selection_info info;
    if (options->scores.count > 0)
        code = own_scores_read(run->tool, options->scores.values[job->number], job->stack, &params,
                               &job->scores);
    if (code != TOOL_DONE) return code;
    code = tool_status(run->tool, tvlm_select(job->stack, job->query, &params, &job->selection));
    if (code == TOOL_DONE && options->explain != NULL) code = explain(run, job, &params);
    if (code != TOOL_DONE) return code;
    job->positions = tvlm_selection_positions(job->selection, &job->count);
    code = positions_check(run->tool, job->positions, job->count);
    if (code != TOOL_DONE) return code;
    (void)tvlm_selection_get_info(job->selection, &info);
    if (info.strategy == TVLM_STRATEGY_BUDGET) return note_budget(job, &info, &stack, params.patch);
    const struct tvlm_score_params cells = score_params_of(run);
    code = tool_status(run->tool, tvlm_score_size(job->stack, &cells, &info.columns, &info.rows));
    if (code != TOOL_DONE) return code;
    const int64_t candidates =
        info.strategy == TVLM_STRATEGY_FOVEATED ? job->count : (int64_t)info.columns * info.rows;
    job->k = options->placing.k.given      ? options->placing.k.value
             : candidates < TVLM_K_DEFAULT ? (int32_t)candidates
                                           : TVLM_K_DEFAULT;
    const float stride = options->stride.given ? options->stride.value : TVLM_STRIDE_DEFAULT;
    const float across = cells.dense ? (float)stack.width / (float)info.columns : stride;
    const float down = cells.dense ? (float)stack.height / (float)info.rows : stride;
    job->grid = (draw_grid){info.columns, info.rows, across * (float)info.width / (float)stack.width,
                            down * (float)info.height / (float)stack.height};
    return TOOL_DONE;
}

static int draw_overlay_of(struct run *run, struct job *job) {
    char title[256], stem[128];
    tool_stem(job->path, stem, sizeof stem);
    snprintf(title, sizeof title, "%s: %d of %d cells", stem, job->count, job->grid.columns * job->grid.rows);
    const bool squares = job->positions[0].column < 0; /* not only cells of the grid */
    const bool tree = strategies_at(run->options->placing.strategy) != TVLM_STRATEGY_FOVEATED;
    if (strategies_at(run->options->placing.strategy) == TVLM_STRATEGY_BUDGET) {
        const int32_t cells = job->thumbnail_columns * job->thumbnail_rows;
        snprintf(title, sizeof title, "%s: %d x %d thumbnail, %d tiles", stem, job->thumbnail_columns,
                 job->thumbnail_rows, job->count - cells);
        if (draw_budget(job->image, job->thumbnail_columns, job->thumbnail_rows, job->positions + cells,
                        job->count - cells, title, &job->overlay))
            return TOOL_DONE;
        return tool_fail(run->tool, "no memory for the overlay");
    }
    if (squares) snprintf(title, sizeof title, "%s: %d squares", stem, job->count);
    if (squares ? draw_squares(job->image, job->positions, job->count, tree, title, &job->overlay)
                : draw_overlay(job->image, &job->grid, job->positions, job->count, title, &job->overlay))
        return TOOL_DONE;
    return tool_fail(run->tool, "no memory for the overlay");
}

static int draw_heatmap_of(struct run *run, struct job *job) {
    char title[256], stem[128];
    tool_stem(job->path, stem, sizeof stem);
    snprintf(title, sizeof title, "%s: score of %d x %d cells", stem, job->grid.columns, job->grid.rows);
    const float *const scores = tvlm_selection_scores(job->selection, NULL, NULL);
    if (draw_heatmap(job->image, &job->grid, scores, title, &job->heatmap)) return TOOL_DONE;
    return tool_fail(run->tool, "no memory for the heat map");
}

static void write_overview(json_writer *json, const tvlm_selection *selection) {
    tvlm_selection_info info;
    (void)tvlm_selection_get_info(selection, &info);
    if (info.overview_columns == 0) return;
    json_open_array(json, "overview", true);
    json_integer(json, NULL, info.overview_columns);
    json_integer(json, NULL, info.overview_rows);
    json_close(json);
}

static void write_selection(struct run *run, const struct job *job) {
    json_writer *const json = &run->json;
    json_open_object(json, NULL, false);
    json_open_object(json, "image", true);
    json_string(json, "path", job->path);
    json_integer(json, "width", job->image->width);
    json_integer(json, "height", job->image->height);
    json_close(json);
    if (run->questions.queries.path != NULL && run->options->questions.combine == QUESTION_EACH &&
        (run->several || run->questions.several))
        json_integer(json, "query", job->query_number);
    json_string(json, "layout", run->layout);
    json_string(json, "strategy", tvlm_strategy_name(strategies_at(run->options->placing.strategy)));
    json_device(json, run->stacks.device);
    json_integer(json, "k", job->k);
    write_overview(json, job->selection);
    budget_write(json, job->selection);
    stages_write(json, job->selection);
    positions_write(json, job->positions, job->count, job->axes, false);
    json_close(json);
}

/* The name of an output of this image and query. */
static int name_output(const struct run *run, const char *pattern, const struct job *job,
                       char path[SELECT_PATH_SIZE]) {
    return select_output_name(run->tool, pattern, job->path, run->several,
                              run->questions.several ? job->query_number : -1, path);
}

static int write_picture(struct run *run, const char *pattern, const struct job *job,
                         const struct canvas *canvas) {
    char path[SELECT_PATH_SIZE];
    const char *const subject = run->tool->subject;
    if (pattern == NULL) return TOOL_DONE;
    run->tool->subject = NULL; /* what fails now is not about the image */
    int code = name_output(run, pattern, job, path);
    if (code == TOOL_DONE)
        code = tool_status(
            run->tool, tvlm_png_write(path, canvas->width, canvas->height, 3, canvas->rgb, &run->tool->log));
    run->tool->subject = subject;
    return code;
}

/* With several queries only the first one's crops would be there: that is refused before. */
static int write_crops(struct run *run, const struct job *job) {
    const select_options *const options = run->options;
    const float patch = options->placing.patch.given ? options->placing.patch.value : TVLM_PATCH_DEFAULT;
    const char *const subject = run->tool->subject;
    if (options->budget.crops == NULL) return TOOL_DONE;
    run->tool->subject = NULL; /* what fails now is not about the image */
    const int code = budget_write_crops(run->tool, options->budget.crops, job->path, job->image,
                                        job->selection, (int32_t)patch);
    run->tool->subject = subject;
    return code;
}

static int write_array(struct run *run, const char *pattern, const struct job *job,
                       const select_array *array) {
    char path[SELECT_PATH_SIZE];
    const char *const subject = run->tool->subject;
    if (pattern == NULL) return TOOL_DONE;
    run->tool->subject = NULL; /* what fails now is not about the image */
    int code = name_output(run, pattern, job, path);
    if (code == TOOL_DONE)
        code = tool_status(run->tool, tvlm_npy_write(path, array->type, array->rank, array->shape,
                                                     array->data, &run->tool->log));
    run->tool->subject = subject;
    return code;
}

static int write_explained(struct run *run, const char *pattern, struct job *job) {
    char path[SELECT_PATH_SIZE];
    const char *const subject = run->tool->subject;
    if (pattern == NULL) return TOOL_DONE;
    run->tool->subject = NULL; /* what fails now is not about the image */
    int code = name_output(run, pattern, job, path);
    if (code == TOOL_DONE) code = explain_write(run->tool, path, &job->explained);
    run->tool->subject = subject;
    return code;
}

static int make_arrays(struct run *run, struct job *job) {
    const select_options *const options = run->options;
    const float patch = options->placing.patch.given ? options->placing.patch.value : TVLM_PATCH_DEFAULT;
    const int32_t side = options->patches.side.given ? options->patches.side.value : (int32_t)lroundf(patch);
    int code = TOOL_DONE;
    if (options->patches.output != NULL)
        code = select_make_patches(run->tool, job->stack, job->positions, job->count, side, &run->patches,
                                   &job->patches);
    if (code == TOOL_DONE && options->patch_scores != NULL)
        code = select_copy_scores(run->tool, job->selection, &job->patch_scores);
    if (code == TOOL_DONE && options->anisotropic)
        code = select_make_axes(run->tool, job->stack, job->selection, &job->axes);
    return code;
}

/* Everything of a selection is computed before anything of it is written. */
static int answer(struct run *run, struct job *job) {
    const select_options *const options = run->options;
    job->query = questions_query(&run->questions, job->query_number, &job->storage);
    int code = find_positions(run, job);
    if (code == TOOL_DONE && options->overlay != NULL) code = draw_overlay_of(run, job);
    if (code == TOOL_DONE && options->heatmap != NULL) code = draw_heatmap_of(run, job);
    if (code == TOOL_DONE) code = make_arrays(run, job);
    if (code != TOOL_DONE) return code;
    job->written = true;
    write_selection(run, job);
    code = write_picture(run, options->overlay, job, &job->overlay);
    if (code == TOOL_DONE) code = write_picture(run, options->heatmap, job, &job->heatmap);
    if (code == TOOL_DONE) code = write_crops(run, job);
    if (code == TOOL_DONE) code = write_array(run, options->patches.output, job, &job->patches);
    if (code == TOOL_DONE) code = write_array(run, options->patch_scores, job, &job->patch_scores);
    if (code == TOOL_DONE) code = write_explained(run, options->explain, job);
    return code;
}

static void release_answer(struct job *job) {
    canvas_release(&job->overlay);
    canvas_release(&job->heatmap);
    select_array_release(&job->patches);
    select_array_release(&job->patch_scores);
    explained_release(&job->explained);
    own_scores_release(&job->scores);
    free(job->axes);
    job->axes = NULL;
    tvlm_selection_destroy(&job->selection);
}

/* Finds the image's stack with its features. Stacks are told apart by the file that those came from, which
 * does not change within a run. */
static int find_stack(struct run *run, struct job *job) {
    const option_list *const features = &run->options->questions.features;
    const char *const key = features->count > 0 ? features->values[job->number] : "";
    int code = stack_find(&run->stacks, job->path, job->image, run->layout, key, &job->used);
    job->stack = job->used.stack;
    if (code == TOOL_DONE && job->used.new)
        code = questions_set(run->tool, &run->questions, job->number, job->image->width, job->stack);
    return code;
}

/* Answers the questions that are not answered yet. */
static int answer_all(struct run *run, struct job *job) {
    const select_options *const options = run->options;
    struct tool *const tool = run->tool;
    int code = find_stack(run, job);
    if (code == TOOL_DONE && options->basis.name != NULL) {
        code = basis_embed(tool, &options->basis, &run->questions.queries, &run->questions.mean, job->stack,
                           &run->basis);
        run->questions.basis = run->basis;
    }
    for (; code == TOOL_DONE && job->query_number < run->questions.count; ++job->query_number) {
        code = answer(run, job);
        if (code == TOOL_DONE && (run->several || run->questions.several)) code = tool_keep_files(tool);
        release_answer(job);
        if (code != TOOL_DONE) break;
        job->written = false;
    }
    return code;
}

/* Where the device is lost, another one goes on. What was answered of the image stays. */
static bool go_on(struct run *run, struct job *job, int code) {
    if (!tool_goes_on(run->tool, code)) return false;
    stack_done(&run->stacks, &job->used);
    stack_source_release(&run->stacks);
    return true;
}

static bool try_smaller(struct run *run, struct job *job) {
    return stack_try_smaller(&run->stacks, job->path, job->image, &job->used);
}

static int select_path(struct run *run, const char *path, int number) {
    struct job job = {.path = path, .number = number};
    run->tool->subject = path;
    int code = tool_status(run->tool, tvlm_image_load(path, &run->tool->log, &job.image));
    if (code == TOOL_DONE) {
        do code = answer_all(run, &job);
        while (code != TOOL_DONE && !job.written && (go_on(run, &job, code) || try_smaller(run, &job)));
    }
    stack_done(&run->stacks, &job.used);
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
    const bool list = run->several || run->questions.several;
    int code = TOOL_DONE;
    if (list) {
        json_open_object(&run->json, NULL, false);
        json_open_array(&run->json, "selections", false);
    }
    progress_start("images", count);
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        code = select_path(run, paths[i], i);
        progress_step(i + 1);
    }
    progress_clear();
    if (list) {
        json_close(&run->json);
        json_close(&run->json);
    }
    return code == TOOL_DONE ? write_json(run) : code;
}

/* Refuses options that the strategy does not read. */
static int check_strategy(struct tool *tool, const select_options *options) {
    const strategy_option given[] = {
        {"fixation", "fixations", options->fixations.count > 0},
        {"e0", "e0", options->e0.given},
        {"arrangement", "arrangement", options->arrangement != 0},
        {"level", "level", options->level.given},
        {"stride", "stride", options->stride.given},
        {"keep-regions", "keep_regions", options->keep_regions.given},
        {"cull-distance", "cull_distance", options->cull_distance.given},
        {"cover", "cover", options->cover > 0},
        {"overview", "overview", options->placing.overview.value > 0.0f},
        {"min-distance", "min_distance", options->placing.min_distance.value > 0.0f},
        {"diversity", "diversity", options->diversity.value > 0.0f},
        {"weights", "weights", options->weighing.weights.given},
        {"share", "share", options->budget.share.given},
        {"tolerance", "tolerance", options->budget.tolerance.given},
        {"emphasis", "emphasis", options->budget.emphasis != NULL},
        {"preset", "preset", options->budget.preset != 0},
        {"crops", "share", options->budget.crops != NULL},
    };
    if (options->cover > 0 && options->placing.overview.value > 0.0f)
        return tool_usage(tool, "--overview is not for --cover, whose squares cover the image");
    if (options->cover > 0 && options->placing.min_distance.value > 0.0f)
        return tool_usage(tool, "--min-distance is not for --cover, whose squares cover the image");
    if (options->cover > 0 && options->diversity.value > 0.0f)
        return tool_usage(tool, "--diversity is not for --cover, whose squares cover the image");
    return strategies_check(tool, strategies_at(options->placing.strategy), given,
                            sizeof given / sizeof *given);
}

/* The channel that is emphasised: nothing else is read. */
static int budget_layout(struct tool *tool, struct run *run) {
    const int32_t named = run->emphasis.channel;
    tvlm_channel_info channel;
    const int code =
        tool_status(tool, tvlm_channel_get_info(named != 0 ? named : TVLM_CHANNEL_SALIENCY, &channel));
    if (code == TOOL_DONE)
        snprintf(run->layout, sizeof run->layout, "%s",
                 named == 0 && run->options->questions.query != NULL ? "query_similarity" : channel.name);
    return code;
}

/* Refuses what scores of one's own would leave without effect. */
static int check_scores(struct tool *tool, const select_options *options, int images) {
    const struct {
        const char *name;
        bool given;
    } others[] = {
        {"query", options->questions.query != NULL},  {"features", options->questions.features.count > 0},
        {"weights", options->weighing.weights.given}, {"scorer", options->weighing.scorer != NULL},
        {"explain", options->explain != NULL},
    };
    if (options->scores.count == 0) return TOOL_DONE;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        if (others[i].given) return tool_usage(tool, "--scores and --%s exclude each other", others[i].name);
    if (options->scores.count == images) return TOOL_DONE;
    return tool_usage(tool, "--scores is given for %d of %d images", (int)options->scores.count, images);
}

static int run_select(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const select_options *const options = values;
    struct run run = {.tool = tool,
                      .options = options,
                      .stacks = {.tool = tool, .common = &options->common, .options = &options->stacks},
                      .several = operand_count > 1};
    int code;
    if (options->weighing.weights.given && options->weighing.scorer != NULL)
        return tool_usage(tool, "--weights and --scorer exclude each other");
    if ((code = stack_options_check(tool, &options->stacks)) != TOOL_DONE) return code;
    if ((code = check_strategy(tool, options)) != TOOL_DONE) return code;
    if ((code = check_scores(tool, options, operand_count)) != TOOL_DONE) return code;
    if ((code = budget_check(tool, &options->budget, options->placing.k.given, &run.emphasis)) != TOOL_DONE)
        return code;
    if ((code = patches_read(tool, &options->patches, &run.patches)) != TOOL_DONE) return code;
    if (options->questions.features.count > 0 && options->questions.query == NULL &&
        options->weighing.scorer == NULL)
        return tool_usage(tool, "--features needs --query, or a --scorer that reads them");
    if ((code = basis_check(tool, &options->basis, options->questions.features.count > 0,
                            options->questions.query != NULL, "--query")) != TOOL_DONE)
        return code;
    if (options->basis.components.given && options->basis.name == NULL)
        return tool_usage(tool, "--components needs --basis");
    if ((code = questions_read(tool, &options->questions, operand_count, &run.questions)) != TOOL_DONE ||
        (code = note_outputs(&run, operand_count, operands)) != TOOL_DONE ||
        (code = explain_check(tool, options->explain)) != TOOL_DONE) {
        questions_release(&run.questions);
        return code;
    }
    if (options->weighing.scorer != NULL) {
        code = questions_scorer(tool, &options->questions, options->weighing.scorer, &run.scorer);
        if (code == TOOL_DONE)
            code = scorer_layout(tool, options->weighing.scorer, run.scorer, run.layout, sizeof run.layout);
    } else if (options->scores.count > 0) {
        snprintf(run.layout, sizeof run.layout, "r,g,b"); /* nothing is computed from it */
    } else {
        parts_layout(&options->weighing.weights, options->questions.query != NULL, run.layout,
                     sizeof run.layout);
    }
    if (code == TOOL_DONE && strategies_at(options->placing.strategy) == TVLM_STRATEGY_BUDGET) {
        if (options->weighing.scorer == NULL) code = budget_layout(tool, &run);
        if (code == TOOL_DONE && tool->verbose) budget_say_presets(tool);
        if (code == TOOL_DONE && options->budget.crops != NULL && run.questions.several)
            code = tool_usage(tool, "--crops takes one query");
    }
    if (code == TOOL_DONE)
        code = patches_layout(tool, &options->patches, &run.patches, run.layout, sizeof run.layout);
    if (code == TOOL_DONE) code = select_all(&run, operand_count, operands);
    if (code == TOOL_DONE) stack_say_kept(&run.stacks);
    json_release(&run.json);
    stack_source_release(&run.stacks);
    tvlm_scorer_destroy(&run.scorer);
    tvlm_basis_destroy(&run.basis);
    questions_release(&run.questions);
    return code;
}

const tool_command select_command = {
    .name = "select",
    .summary = "the positions of an image that matter, best first, as JSON",
    .operands = "IMAGE...",
    .operand_min = 1,
    .operand_max = INT32_MAX,
    .details =
        "IMAGE is JPEG, PNG, BMP, PPM or PGM. x, y and size are in its pixels after its EXIF rotation, with centres\n"
        "at +0.5. One image gives one object, several give {\"selections\": [...]}; when one of them fails, no JSON is\n"
        "written. With several images each picture's name gets the image's: --overlay out.png writes out-photo.png\n"
        "for photo.jpg. --stride, --patch and --min-distance are in pixels of the working image: the image itself, unless\n"
        "--size or --max-side say otherwise, or it is larger than the device, or its memory, can hold; a warning says so.\n"
        "A file that is named twice, with the same features, is worked on once, while it fits into --cache-bytes; -v says\n"
        "how often.\n"
        "--scores takes the place of the score: the strategy chooses by your numbers, the larger the better.\n"
        "With --features and --query the score has its third part, the cosine of the features with the query; a query\n"
        "of N vectors gives N selections, {\"selections\": [...]}, each with its \"query\", and pictures out-q0.png, ...\n"
        "A scorer file holds the tensors weights ([channels] or [channels,3,3]), bias and similarity (one number\n"
        "each, optional), query_weights ([dimension,channels], optional: times the query's vector they are added to the\n"
        "weights), and in its metadata format = texturevlm.scorer and channels = edges,entropy,...\n",
    .options = groups,
    .options_size = sizeof(select_options),
    .run = run_select,
};
