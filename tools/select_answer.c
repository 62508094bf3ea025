/* SPDX-License-Identifier: Apache-2.0 */
#include "select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "positions.h"
#include "select_budget.h"
#include "texturevlm/io.h"

/* ---- The names of files ---- */

int select_output_name(struct tool *tool, const char *pattern, const char *image, bool several, int32_t query,
                       char *path) {
    char stem[512] = "", number[16] = "";
    const char *const slash = strrchr(pattern, '/');
    const char *const dot = strrchr(slash != NULL ? slash + 1 : pattern, '.');
    const size_t base = dot != NULL ? (size_t)(dot - pattern) : strlen(pattern);
    int length;
    if ((several || query >= 0) && strcmp(pattern, FILES_STDOUT) == 0)
        return tool_usage(tool, "only one picture or array can go to stdout");
    if (several) tool_stem(image, stem, sizeof stem);
    if (query >= 0) snprintf(number, sizeof number, "-q%d", (int)query);
    length = snprintf(path, SELECT_PATH_SIZE, "%.*s%s%s%s%s", (int)base, pattern, several ? "-" : "", stem,
                      number, dot != NULL ? dot : "");
    return length < SELECT_PATH_SIZE ? TOOL_DONE : tool_fail(tool, "%.64s...: the path is too long", pattern);
}

/* ---- The image ---- */

/* The width of the image in its file. All answers are in pixels of the file, even if --max-side let the image
 * be decoded smaller. */
static int32_t image_width(const tvlm_image *image) {
    return image->of_width > 0 ? image->of_width : image->width;
}

static int32_t image_height(const tvlm_image *image) {
    return image->of_height > 0 ? image->of_height : image->height;
}

/* Whether pictures are made from the image's own pixels. */
static bool is_drawn(const select_options *options) {
    return options->overlay != NULL || options->heatmap != NULL || options->explain != NULL ||
           options->crops != NULL;
}

/* If an image was decoded smaller and will be drawn on, decodes it once more, in its own size. So the choice
 * of positions does not depend on what is drawn. The size is compared, since another picture may have come to
 * that path meanwhile, and the positions might lie outside it. */
static int read_whole(const select_run *run, select_job *job) {
    if (job->whole != NULL || job->image->of_width == 0 || !is_drawn(run->options)) return TOOL_DONE;
    const int code = tool_status(run->tool, tvlm_image_load(job->path, &run->tool->log, &job->whole));
    return code == TOOL_DONE ? select_same_size(run->tool, job->image, job->whole) : code;
}

static const tvlm_image *whole(const select_job *job) {
    return job->whole != NULL ? job->whole : job->image;
}

/* ---- Scores of the user's own ---- */

/* Reads the scores of a file for the candidates of `params`. The array is rows x columns, or has all scores
 * row after row, as --patch-scores writes them. The caller releases the scores, also after an error. */
static int own_scores_read(struct tool *tool, const char *path, const tvlm_stack *stack,
                           const struct tvlm_select_params *params, own_scores *own) {
    struct tvlm_score_params score = params->score;
    int32_t columns = 0, rows = 0;
    if (params->strategy == TVLM_STRATEGY_BUDGET) score.stride = params->patch; /* its tiles of level 0 */
    TOOL_TRY(tool_status(tool, tvlm_score_size(stack, &score, &columns, &rows)));
    TOOL_TRY(vectors_read(tool, "--scores", path, &own->file));
    const vector_file *const file = &own->file;
    const bool whole = file->count == rows && file->dimension == columns;
    const bool listed = file->count == 1 && (int64_t)file->dimension == (int64_t)columns * rows;
    own->scores = (struct tvlm_scores){.values = file->values, .columns = columns, .rows = rows};
    if (whole || listed) return TOOL_DONE;
    tool->subject = path; /* the error is about the file */
    return tool_fail(tool,
                     "--scores takes %d x %d numbers, a row for each row of cells; this array has %d x %d",
                     rows, columns, file->count, file->dimension);
}

/* ---- Choosing ---- */

/* Scales fixations, which are given in pixels of the image as it was handed in, to pixels of the working
 * image. */
static int scale_fixations(const select_run *run, const select_job *job, const tvlm_stack_info *stack,
                           option_points *fixations) {
    *fixations = run->options->parameters.points.count > 0 ? run->options->parameters.points : job->middles;
    for (int32_t i = 0; i < fixations->count; ++i) {
        float *const at = &fixations->values[2 * i];
        if (!(at[0] >= 0.0f && at[0] <= (float)image_width(job->image) && at[1] >= 0.0f &&
              at[1] <= (float)image_height(job->image)))
            return tool_fail(run->tool, "--fixation %g,%g lies outside its %dx%d pixels", (double)at[0],
                             (double)at[1], (int)image_width(job->image), (int)image_height(job->image));
        at[0] = fminf(at[0] * (float)stack->width / (float)image_width(job->image), (float)stack->width);
        at[1] = fminf(at[1] * (float)stack->height / (float)image_height(job->image), (float)stack->height);
    }
    return TOOL_DONE;
}

/* The parameters by which cells, or the texels of a level, are scored. */
static struct tvlm_score_params score_params_of(const select_run *run) {
    const weighing_options *const weighing = &run->options->weighing;
    struct tvlm_score_params score = run->params.score;
    score.dense = run->params.strategy == TVLM_STRATEGY_EXHAUSTIVE;
    score.weights = weighing->weights.given ? weighing->weights.values : NULL;
    score.scorer = run->folded != NULL ? run->folded : run->scorer;
    return score;
}

/* The side of a patch. */
static float patch_of(const select_run *run) {
    return run->params.patch != 0.0f ? run->params.patch : TVLM_PATCH_DEFAULT;
}

static int explain(select_run *run, select_job *job, const struct tvlm_select_params *params) {
    const explain_subject subject = {.path = job->path,
                                     .image = whole(job),
                                     .stack = job->stack,
                                     .query = job->query,
                                     .params = params,
                                     .selection = job->selection};
    return explain_make(run->tool, &subject, run->options->explain, &job->explained);
}

/* Notes the grid of a budget, which is that of its tiles, and how many positions the budget has chosen. */
static void note_budget(const select_run *run, select_job *job, const tvlm_selection_info *info,
                        const tvlm_stack_info *stack) {
    const float side = patch_of(run);
    job->k = job->count;
    job->grid.cell_width = side * (float)info->width / (float)stack->width;
    job->grid.cell_height = side * (float)info->height / (float)stack->height;
    (void)tvlm_selection_scores(job->selection, &job->grid.columns, &job->grid.rows);
    job->thumbnail_columns = info->thumbnail_columns;
    job->thumbnail_rows = info->thumbnail_rows;
    job->thumbnail_cells = info->thumbnail_cells;
}

/* Notes the grid of the candidates of any other strategy. */
static int note_candidates(const select_run *run, select_job *job, const tvlm_selection_info *info,
                           const tvlm_stack_info *stack) {
    const int32_t k = run->params.k;
    const struct tvlm_score_params cells = score_params_of(run);
    int32_t columns = 0, rows = 0;
    TOOL_TRY(tool_status(run->tool, tvlm_score_size(job->stack, &cells, &columns, &rows)));
    const int64_t candidates =
        run->params.strategy == TVLM_STRATEGY_FOVEATED ? job->count : (int64_t)columns * rows;
    job->k = k != 0 ? k : candidates < TVLM_K_DEFAULT ? (int32_t)candidates : TVLM_K_DEFAULT;
    const float stride = cells.stride != 0.0f ? cells.stride : TVLM_STRIDE_DEFAULT;
    const float across = cells.dense ? (float)stack->width / (float)columns : stride;
    const float down = cells.dense ? (float)stack->height / (float)rows : stride;
    job->grid = (struct tvlm_draw_params){.columns = columns,
                                          .rows = rows,
                                          .cell_width = across * (float)info->width / (float)stack->width,
                                          .cell_height = down * (float)info->height / (float)stack->height};
    return TOOL_DONE;
}

static struct tvlm_select_params params_of(const select_run *run, const select_job *job,
                                           const option_points *fixations) {
    const select_options *const options = run->options;
    struct tvlm_select_params params = run->params;
    params.score = score_params_of(run);
    params.foveated.fixations = fixations->count > 0 ? fixations->values : NULL;
    params.foveated.fixation_count = fixations->count;
    params.keep_scores = options->heatmap != NULL || options->patch_scores != NULL;
    params.scores = options->scores.count > 0 ? &job->scores.scores : NULL;
    return params;
}

static int find_positions(select_run *run, select_job *job) {
    const select_options *const options = run->options;
    tvlm_stack_info stack;
    tvlm_selection_info info;
    option_points fixations;
    int code = tool_status(run->tool, tvlm_stack_get_info(job->stack, &stack));
    if (code == TOOL_DONE) code = scale_fixations(run, job, &stack, &fixations);
    if (code != TOOL_DONE) return code;
    const struct tvlm_select_params params = params_of(run, job, &fixations);
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
    if (run->params.strategy != TVLM_STRATEGY_BUDGET) return note_candidates(run, job, &info, &stack);
    note_budget(run, job, &info, &stack);
    return TOOL_DONE;
}

/* ---- Drawing ---- */

/* Writes what an overlay shows, such as "photo: 64 of 1024 cells". */
static void overlay_title(const select_run *run, const select_job *job, char *title, size_t size) {
    char stem[128];
    tool_stem(job->path, stem, sizeof stem);
    const size_t length = (size_t)snprintf(title, size, "%s: ", stem);
    if (run->params.strategy == TVLM_STRATEGY_BUDGET)
        budget_title(job->thumbnail_columns, job->thumbnail_rows, job->thumbnail_cells, job->count,
                     title + length, size - length);
    else if (job->positions[0].column < 0) /* there are squares that are no cells of the grid */
        snprintf(title + length, size - length, "%d squares", (int)job->count);
    else
        snprintf(title + length, size - length, "%d of %d cells", (int)job->count,
                 (int)(job->grid.columns * job->grid.rows));
}

static int draw_overlay(const select_run *run, select_job *job) {
    struct tvlm_draw_params params = job->grid;
    tvlm_selection_info info;
    char title[256];
    overlay_title(run, job, title, sizeof title);
    params.title = title;
    (void)tvlm_selection_get_info(job->selection, &info);
    return tool_status(run->tool, tvlm_draw_selection(whole(job), &info, job->positions, job->count, &params,
                                                      &run->tool->log, &job->overlay));
}

static int draw_heatmap(const select_run *run, select_job *job) {
    struct tvlm_draw_params params = job->grid;
    char title[256], stem[128];
    tool_stem(job->path, stem, sizeof stem);
    snprintf(title, sizeof title, "%s: %s %d x %d cells", stem,
             run->params.strategy == TVLM_STRATEGY_BUDGET ? "what the thumbnail loses of" : "score of",
             job->grid.columns, job->grid.rows);
    params.title = title;
    const float *const scores = tvlm_selection_scores(job->selection, NULL, NULL);
    return tool_status(run->tool,
                       tvlm_draw_heatmap(whole(job), scores, &params, &run->tool->log, &job->heatmap));
}

/* ---- Writing ---- */

static void write_overview(json_writer *json, const tvlm_selection *selection) {
    tvlm_selection_info info;
    (void)tvlm_selection_get_info(selection, &info);
    if (info.overview_columns == 0) return;
    json_integers(json, "overview", 2, (const int64_t[]){info.overview_columns, info.overview_rows});
}

static void write_selection(select_run *run, const select_job *job) {
    json_writer *const json = &run->json;
    json_open_object(json, NULL, run->lines != NULL);
    json_image(json, job->path, image_width(job->image), image_height(job->image));
    if (run->questions.queries.path != NULL && run->options->questions.combine.value == QUESTION_EACH &&
        (run->several || run->questions.several))
        json_integer(json, "query", job->query_number);
    json_string(json, "layout", run->layout);
    json_string(json, "strategy", tvlm_strategy_name(run->params.strategy));
    json_string(json, "device", job->device);
    json_integer(json, "k", job->k);
    write_overview(json, job->selection);
    budget_write(json, job->selection);
    stages_write(json, job->selection);
    positions_write(json, job->positions, job->count, job->axes, false);
    json_close(json);
}

/* Writes a file of this image and query. It holds the picture or the array, or the explanation if both are
 * NULL. Writes nothing if `pattern` is NULL: its option was not given. */
static int write_output(select_run *run, const char *pattern, select_job *job, const tvlm_image *picture,
                        const select_array *array) {
    char path[SELECT_PATH_SIZE];
    const tvlm_log *const log = &run->tool->log;
    if (pattern == NULL) return TOOL_DONE;
    TOOL_TRY(select_output_name(run->tool, pattern, job->path, run->several,
                                run->questions.several ? job->query_number : -1, path));
    if (picture != NULL)
        return tool_status(run->tool,
                           tvlm_png_write(path, picture->width, picture->height, 3, picture->pixels, log));
    if (array != NULL)
        return tool_status(run->tool,
                           tvlm_npy_write(path, array->type, array->rank, array->shape, array->data, log));
    return explain_write(run->tool, path, &job->explained);
}

/* Writes the crops. With several queries there would be only those of the first one, so that is refused
 * before. */
static int write_crops(select_run *run, const select_job *job) {
    const select_options *const options = run->options;
    const float patch = patch_of(run);
    tvlm_stack_info working;
    if (options->crops == NULL) return TOOL_DONE;
    TOOL_TRY(tool_status(run->tool, tvlm_stack_get_info(job->stack, &working)));
    return budget_write_crops(run->tool, options->crops, job->path, whole(job), &working, job->selection,
                              job->cut_out.data, (int32_t)patch);
}

static int write_files(select_run *run, select_job *job) {
    const select_options *const options = run->options;
    TOOL_TRY(write_output(run, options->overlay, job, job->overlay, NULL));
    TOOL_TRY(write_output(run, options->heatmap, job, job->heatmap, NULL));
    TOOL_TRY(write_crops(run, job));
    TOOL_TRY(write_output(run, options->patches.output, job, NULL, &job->patches));
    TOOL_TRY(write_output(run, options->patch_scores, job, NULL, &job->patch_scores));
    return write_output(run, options->explain, job, NULL, NULL);
}

/* Extracts the patches of all positions, from which --crops makes pictures. */
static int make_crops(const select_run *run, select_job *job, int32_t side) {
    static const patch_plan plan = {.channels = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B},
                                    .count = 3,
                                    .deviation = {1.0f, 1.0f, 1.0f},
                                    .format = TVLM_FORMAT_F32};
    if (run->options->crops == NULL) return TOOL_DONE;
    return select_make_patches(run->tool, job->stack, job->positions, job->count, side, &plan, &job->cut_out);
}

static int make_arrays(select_run *run, select_job *job) {
    const select_options *const options = run->options;
    const float patch = patch_of(run);
    const int32_t side = options->patches.side.given ? options->patches.side.value : (int32_t)lroundf(patch);
    int code = TOOL_DONE;
    if (options->patches.output != NULL)
        code = select_make_patches(run->tool, job->stack, job->positions, job->count, side, &run->patches,
                                   &job->patches);
    if (code == TOOL_DONE) code = make_crops(run, job, (int32_t)lroundf(patch));
    if (code == TOOL_DONE && options->patch_scores != NULL)
        code = select_copy_scores(run->tool, job->selection, &job->patch_scores);
    if (code == TOOL_DONE && options->anisotropic)
        code = select_make_axes(run->tool, job->stack, job->selection, &job->axes);
    return code;
}

/* ---- select.h ---- */

int select_same_size(struct tool *tool, const tvlm_image *first, const tvlm_image *now) {
    const int32_t width = image_width(now), height = image_height(now);
    if (width == image_width(first) && height == image_height(first)) return TOOL_DONE;
    return tool_fail(tool, "has %d x %d pixels now, and had %d x %d when it was read first", (int)width,
                     (int)height, (int)image_width(first), (int)image_height(first));
}

bool select_keeps_pixels(const struct tool *tool, const select_options *options) {
    return is_drawn(options) || tool->files.read_once;
}

/* An image from a pipe or an archive cannot be decoded again, so it is decoded in full if it will be drawn
 * on. */
int32_t select_side(const struct tool *tool, const select_options *options, bool once) {
    if (is_drawn(options) && (once || tool->files.read_once)) return 0;
    return options->stacks.max_side.value;
}

int select_find_middles(const select_run *run, select_job *job) {
    truth_middles middles;
    const bool looks =
        run->params.strategy == TVLM_STRATEGY_FOVEATED && run->options->parameters.points.count == 0;
    if (run->handed.objects == NULL || !looks) return TOOL_DONE;
    const int code = truth_find_middles(run->tool, run->handed.objects, job->path, image_width(job->image),
                                        image_height(job->image), &middles);
    job->middles = middles.points;
    return code;
}

/* Finds the stack of the image, with its features. Stacks of the same image are told apart by the file of
 * their features, which does not change within a run. */
static int find_stack(select_run *run, select_job *job) {
    const option_list *const features = &run->options->questions.features;
    const char *const key = features->count > 0 ? features->values[job->number] : "";
    int code = stack_find(&run->stacks, job->path, job->image, run->layout, key, &job->used);
    job->stack = job->used.stack;
    if (code == TOOL_DONE && job->used.new)
        code = questions_set(run->tool, &run->questions, job->number, image_width(job->image), job->stack);
    if (code == TOOL_DONE && job->used.new)
        code = handed_set(run->tool, &run->handed, job->path, image_width(job->image),
                          image_height(job->image), false, job->stack);
    return code;
}

int select_prepare(select_run *run, select_job *job) {
    const select_options *const options = run->options;
    tvlm_device_info info;
    int code = find_stack(run, job);
    if (code == TOOL_DONE && options->basis.name != NULL) {
        code = basis_embed(run->tool, &options->basis, &run->questions.queries, &run->questions.mean,
                           job->stack, &run->basis);
        run->questions.basis = run->basis;
    }
    if (code == TOOL_DONE && run->codec != NULL) code = codec_check_image(run->tool, run->codec, job->stack);
    if (code == TOOL_DONE) code = tool_status(run->tool, tvlm_device_get_info(run->stacks.device, &info));
    if (code == TOOL_DONE) snprintf(job->device, sizeof job->device, "%s", info.name);
    return code;
}

int select_compute(select_run *run, select_job *job) {
    const select_options *const options = run->options;
    job->query = questions_query(&run->questions, job->query_number, &job->storage);
    int code = read_whole(run, job);
    if (code == TOOL_DONE) code = find_positions(run, job);
    if (code == TOOL_DONE && options->overlay != NULL) code = draw_overlay(run, job);
    if (code == TOOL_DONE && options->heatmap != NULL) code = draw_heatmap(run, job);
    return code == TOOL_DONE ? make_arrays(run, job) : code;
}

int select_write(select_run *run, select_job *job) {
    const char *const subject = run->tool->subject;
    job->written = true;
    write_selection(run, job);
    run->tool->subject = NULL; /* an error from here on is not about the image */
    const int code = write_files(run, job);
    run->tool->subject = subject;
    return code;
}

int select_answer(select_run *run, select_job *job) {
    const int code = select_compute(run, job);
    return code == TOOL_DONE ? select_write(run, job) : code;
}

void select_answer_release(select_job *job) {
    tvlm_image_destroy(&job->overlay);
    tvlm_image_destroy(&job->heatmap);
    select_array_release(&job->patches);
    select_array_release(&job->cut_out);
    select_array_release(&job->patch_scores);
    explained_release(&job->explained);
    vectors_release(&job->scores.file);
    free(job->axes);
    job->axes = NULL;
    tvlm_selection_destroy(&job->selection);
    tvlm_image_destroy(&job->whole);
}
