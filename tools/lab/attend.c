/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-lab attend: computes the attention of queries over grids of vectors in files. It writes the result; where
 * the attention went, as an array and as a picture; and how much was read.
 */
#include "texturevlm/lab/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "questions.h"
#include "texturevlm/draw.h"
#include "texturevlm/io.h"
#include "tool.h"

/* About how long the longer side of a picture is, in pixels. */
#define PICTURE 1024

typedef struct attend_options {
    tool_common common;
    const char *queries, *values, *output, *map, *picture;
    option_integer level, heads;
    option_number fine, scale, mix;
    int steps;
} attend_options;

static const option_spec specs[] = {
    {0, OPTION_INPUT, "queries", offsetof(attend_options, queries), "Q.npy",
     "the queries: D or N x D numbers, float32 or float16", NO_RANGE, NULL},
    {0, OPTION_INPUT, "values", offsetof(attend_options, values), "V.npy",
     "the values: rows x columns x any (default: the keys)", NO_RANGE, NULL},
    {'o', OPTION_OUTPUT, "output", offsetof(attend_options, output), "FILE.npy",
     "what comes out: N x the values' dimension, float32", NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "map", offsetof(attend_options, map), "FILE.npy",
     "how much of the attention goes to each cell, from 0 to 1, the most: rows x columns, as --give attention= takes it",
     NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "picture", offsetof(attend_options, picture), "FILE.png", "the same as a picture", 0,
     0, NULL},
    {0, OPTION_INTEGER, "level", offsetof(attend_options, level), "N",
     "the coarse level: a cell of it stands for about 4^N of KEYS (default: 0, all is exact)", 0, 16, NULL},
    {0, OPTION_NUMBER, "fine", offsetof(attend_options, fine), "SHARE",
     "the share of the coarse cells, the best, that is read in detail (default: 0.2)", 1e-6, 1, NULL},
    {0, OPTION_FLAG, "steps", offsetof(attend_options, steps), NULL,
     "detail comes level by level, each time for the best share of what is left", NO_RANGE, NULL},
    {0, OPTION_NUMBER, "mix", offsetof(attend_options, mix), "M",
     "M times what all coarse cells give, and 1 - M times what the fine ones give, to compare with", 1e-6,
     0.999999, NULL},
    {0, OPTION_INTEGER, "heads", offsetof(attend_options, heads), "N",
     "how many parts of the vectors attend for themselves (default: 1)", 1, 256, NULL},
    {0, OPTION_NUMBER, "scale", offsetof(attend_options, scale), "S",
     "what products of queries and keys are multiplied by (default: 1 / the root of a head's dimension)",
     1e-6, 1e6, NULL},
};

struct job {
    struct tool *tool;
    const attend_options *options;
    const char *path; /* the file of the keys */
    vector_file queries;
    tvlm_device *device;
    tvlm_stack *keys, *values;
    int32_t columns, rows, dimension; /* the size of the grids, and the dimension of the values */
    tvlm_attend_info info;
    float *out, *map;
};

/* ---- Work ---- */

/* Makes a stack of the size of a grid, which holds only that grid. `vectors` are as in features_open. */
static int open_grid(struct job *job, const char *path, const vector_file *vectors, tvlm_stack **stack,
                     int32_t *columns, int32_t *rows, int32_t *dimension) {
    struct tool *const tool = job->tool;
    struct tvlm_grid_input input;
    tvlm_npy *array = NULL;
    tool->subject = path;
    int code = features_open(tool, path, vectors, &array, &input);
    const struct tvlm_stack_params params = {.layout = "x",
                                             .width = code == TOOL_DONE ? input.columns : 0,
                                             .height = code == TOOL_DONE ? input.rows : 0,
                                             .format = (tvlm_format)job->options->common.format.value};
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_stack_create(job->device, &params, stack));
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_stack_set_grid(*stack, 0, TVLM_CHANNEL_FEATURE_0, &input));
    tvlm_npy_destroy(&array);
    if (code != TOOL_DONE) return code;
    *columns = input.columns;
    *rows = input.rows;
    *dimension = input.channels;
    tool->subject = NULL;
    return TOOL_DONE;
}

/* Opens everything, and makes room for the result. */
static int prepare(struct job *job) {
    const attend_options *const options = job->options;
    struct tool *const tool = job->tool;
    int code = vectors_read(tool, "--queries", options->queries, &job->queries);
    if (code == TOOL_DONE) code = tool_open_device(tool, &options->common, &job->device);
    if (code == TOOL_DONE)
        code =
            open_grid(job, job->path, &job->queries, &job->keys, &job->columns, &job->rows, &job->dimension);
    int32_t columns = job->columns, rows = job->rows;
    if (code == TOOL_DONE && options->values != NULL)
        code = open_grid(job, options->values, NULL, &job->values, &columns, &rows, &job->dimension);
    if (code != TOOL_DONE) return code;
    const size_t count = (size_t)job->queries.count * (size_t)job->dimension;
    const size_t cells = (size_t)job->columns * (size_t)job->rows;
    job->out = malloc(count * sizeof *job->out);
    job->map = malloc(cells * sizeof *job->map);
    if (job->out == NULL || job->map == NULL)
        return tool_fail(tool, "no memory for %zu numbers", count + cells);
    return TOOL_DONE;
}

/* Attends. An argument that is refused here is wrong usage: an option, or files that do not fit each other.
 * */
static int attend(struct job *job) {
    const attend_options *const options = job->options;
    const struct tvlm_attend_params params = {.queries = job->queries.values,
                                              .count = job->queries.count,
                                              .dimension = job->queries.dimension,
                                              .heads = options->heads.value,
                                              .level = options->level.value,
                                              .fine = options->fine.value,
                                              .steps = options->steps > 0,
                                              .mix = options->mix.value,
                                              .scale = options->scale.value};
    return tool_status(job->tool, tvlm_attend(job->keys, job->values, &params,
                                              (size_t)job->queries.count * (size_t)job->dimension, job->out,
                                              job->map, &job->info));
}

/* Scales the map so that its largest value is 1. */
static void scale_map(const struct job *job) {
    float most = 0.0f;
    for (int32_t i = 0; i < job->columns * job->rows; ++i) most = fmaxf(most, job->map[i]);
    for (int32_t i = 0; i < job->columns * job->rows; ++i) job->map[i] /= most;
}

/* ---- Files ---- */

/* Writes squares of `side` pixels in the colours of their cells. */
static int write_squares(const struct job *job, const uint8_t *colours, int32_t side) {
    const size_t wide = (size_t)job->columns * (size_t)side, high = (size_t)job->rows * (size_t)side;
    uint8_t *const rgb = malloc(3 * wide * high);
    if (rgb == NULL)
        return tool_fail(job->tool, "no memory for a picture of %d x %d cells", job->columns, job->rows);
    for (size_t y = 0; y < high; ++y)
        for (size_t x = 0; x < wide; ++x) {
            const size_t cell = y / (size_t)side * (size_t)job->columns + x / (size_t)side;
            memcpy(rgb + 3 * (y * wide + x), colours + 3 * cell, 3);
        }
    const int code = tool_status(job->tool, tvlm_png_write(job->options->picture, (int32_t)wide,
                                                           (int32_t)high, 3, rgb, &job->tool->log));
    free(rgb);
    return code;
}

static int write_picture(const struct job *job) {
    const int32_t longer = job->columns > job->rows ? job->columns : job->rows;
    const int32_t side = longer < PICTURE ? PICTURE / longer : 1;
    const size_t cells = (size_t)job->columns * (size_t)job->rows;
    uint8_t *const colours = malloc(3 * cells);
    if (colours == NULL)
        return tool_fail(job->tool, "no memory for a picture of %d x %d cells", job->columns, job->rows);
    int code = tool_status(
        job->tool, tvlm_draw_colours(TVLM_COLOURS_INFERNO, job->map, cells, &job->tool->log, colours));
    if (code == TOOL_DONE) code = write_squares(job, colours, side);
    free(colours);
    return code;
}

static int write_files(const struct job *job) {
    const attend_options *const options = job->options;
    const int64_t out[] = {job->queries.count, job->dimension}, map[] = {job->rows, job->columns};
    int code = TOOL_DONE;
    if (options->output != NULL)
        code = tool_status(
            job->tool, tvlm_npy_write(options->output, TVLM_ELEMENT_F32, 2, out, job->out, &job->tool->log));
    if (code == TOOL_DONE && options->map != NULL)
        code = tool_status(job->tool,
                           tvlm_npy_write(options->map, TVLM_ELEMENT_F32, 2, map, job->map, &job->tool->log));
    if (code == TOOL_DONE && options->picture != NULL) code = write_picture(job);
    return code;
}

static int print_summary(const struct job *job) {
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    json_string(&json, "path", job->path);
    json_device(&json, job->device);
    json_integer(&json, "columns", job->info.columns);
    json_integer(&json, "rows", job->info.rows);
    json_integer(&json, "queries", job->queries.count);
    json_integer(&json, "dimension", job->info.dimension);
    json_integer(&json, "heads", job->info.heads);
    json_double(&json, "keys_read", job->info.keys);
    json_double(&json, "values_read", job->info.values);
    json_double(&json, "bytes", job->info.bytes);
    return tool_print_json(job->tool, &json);
}

static int check(struct tool *tool, const attend_options *options) {
    if (options->queries == NULL) return tool_usage(tool, "--queries is missing");
    if (options->output == NULL && options->map == NULL && options->picture == NULL &&
        options->common.json == 0)
        return tool_usage(tool, "nothing to write: -o FILE.npy, --map, --picture or --json is missing");
    if (options->level.value == 0 && (options->fine.given || options->steps > 0 || options->mix.given))
        return tool_usage(tool, "%s needs --level",
                          options->fine.given  ? "--fine"
                          : options->mix.given ? "--mix"
                                               : "--steps");
    if (options->mix.given && options->steps > 0)
        return tool_usage(tool, "--mix and --steps exclude each other");
    if (options->common.format.value == TVLM_FORMAT_U8)
        return tool_usage(tool, "--format u8 holds no vectors");
    return TOOL_DONE;
}

static int run_attend(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    struct job job = {.tool = tool, .options = values, .path = operands[0]};
    int code = check(tool, job.options);
    (void)operand_count;
    if (code == TOOL_DONE) code = prepare(&job);
    if (code == TOOL_DONE) code = attend(&job);
    if (code == TOOL_DONE) scale_map(&job);
    if (code == TOOL_DONE) code = write_files(&job);
    if (code == TOOL_DONE && job.options->common.json > 0) code = print_summary(&job);
    free(job.out);
    free(job.map);
    tvlm_stack_destroy(&job.values);
    tvlm_stack_destroy(&job.keys);
    tvlm_device_destroy(&job.device);
    vectors_release(&job.queries);
    return code;
}

static const option_specs own = OPTION_SPECS("Options", specs);
static const option_group groups[] = {{&own, 0}, {0}};

const tool_command attend_command = {
    .name = "attend",
    .summary = "attention of queries over a grid of vectors, coarsely first and in detail where it counts",
    .operands = "KEYS.npy",
    .operand_min = 1,
    .operand_max = 1,
    .details =
        "KEYS are rows x columns x D numbers, float32 or float16, such as an encoder's vectors of patches. Each query\n"
        "compares itself with the means of KEYS at --level; the best --fine share of these is replaced by the keys that\n"
        "they stand for; over what is left there is one softmax. Where neighbours are alike, little is lost.\n"
        "--json tells the share of the bytes that were read of those that exact attention reads.\n",
    .options = groups,
    .options_size = sizeof(attend_options),
    .run = run_attend,
};
