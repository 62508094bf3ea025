/* SPDX-License-Identifier: Apache-2.0 */
#include "questions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "select_layout.h"
#include "texturevlm/io.h"

/* ---- Options ---- */

static const option_spec features_list[] = {
    {0, OPTION_INPUTS, "features", offsetof(question_options, features), "F.npy",
     "the encoder's vectors of the image, h x w x D; float32 or float16, of the image as it is handed to "
     "the encoder; of several images once for each, in their order",
     NO_RANGE, NULL},
};
const option_specs features_specs = OPTION_SPECS("What is asked", features_list);

static const option_spec feature_patch_list[] = {
    {0, OPTION_NUMBER, "feature-patch", 0, "PIXELS",
     "of the image that a cell of the features covers (default: the grid covers the whole image)", 0.001,
     65536, NULL},
};
const option_specs feature_patch_specs = OPTION_SPECS("What is asked", feature_patch_list);

static const option_spec query_list[] = {
    {0, OPTION_INPUT, "query", offsetof(question_options, query), "Q.npy",
     "what is asked, as the encoder's vector: D, or N x D for N queries", NO_RANGE, NULL},
};
const option_specs query_specs = OPTION_SPECS("What is asked", query_list);

static const option_spec query_settings_list[] = {
    {0, OPTION_INPUT, "query-mean", offsetof(question_options, mean), "M.npy",
     "D: taken off every query first, the mean of many texts' vectors, say", NO_RANGE, NULL},
};
const option_specs query_settings = OPTION_SETTINGS("What is asked", query_settings_list);

static const char *const combinations[] = {"each", "max", "mean", NULL};
static const option_spec combine_list[] = {
    {0, OPTION_CHOICE, "combine", offsetof(question_options, combine), "HOW",
     "max or mean: one selection of all queries, by the largest or the mean of their similarities "
     "(default: each has its own)",
     NO_RANGE, combinations},
};
const option_specs combine_specs = OPTION_SPECS("What is asked", combine_list);

static const option_spec words_list[] = {
    {0, OPTION_INPUT, "words", offsetof(question_options, words), "Q.npy",
     "up to 64 vectors, N x D, for a scorer of word_0 .., the features' similarity to each", NO_RANGE, NULL},
};
const option_specs words_settings = OPTION_SETTINGS("What is asked", words_list);

/* ---- Arrays ---- */

static int check_array(struct tool *tool, const char *option, const tvlm_npy *array) {
    if (array->type != TVLM_ELEMENT_F32 && array->type != TVLM_ELEMENT_F16)
        return tool_fail(tool, "%s takes float32 or float16; this is %s", option,
                         tvlm_element_name(array->type));
    for (int32_t i = 0; i < array->rank; ++i)
        if (array->shape[i] < 1 || array->shape[i] > INT32_MAX)
            return tool_fail(tool, "%s: a side of %lld", option, (long long)array->shape[i]);
    return TOOL_DONE;
}

static float half_to_float(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float magnitude = exponent == 31  ? fraction != 0 ? NAN : INFINITY
                            : exponent == 0 ? ldexpf((float)fraction, -24)
                                            : ldexpf((float)(fraction | 1024), exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/* Converts `count` values to floats. Refuses values that are not finite. `before` says how many values of the
 * file come before these. */
static int convert(struct tool *tool, const char *option, tvlm_element type, const void *data, size_t count,
                   size_t before, float *values) {
    for (size_t i = 0; i < count; ++i) {
        values[i] =
            type == TVLM_ELEMENT_F16 ? half_to_float(((const uint16_t *)data)[i]) : ((const float *)data)[i];
        if (!isfinite(values[i])) return tool_fail(tool, "%s: value %zu is not finite", option, before + i);
    }
    return TOOL_DONE;
}

static int take_values(struct tool *tool, const char *option, const tvlm_npy *array, vector_file *file) {
    const size_t count = array->size / tvlm_element_size(array->type);
    file->values = calloc(count, sizeof *file->values);
    if (file->values == NULL) return tool_fail(tool, "no memory for vectors");
    return convert(tool, option, array->type, array->data, count, 0, file->values);
}

static int read_vectors(struct tool *tool, const char *option, const char *path, int rank_max,
                        vector_file *file) {
    const char *const subject = tool->subject;
    tvlm_npy *array = NULL;
    tool->subject = path;
    int code = tool_status(tool, tvlm_npy_read(path, &tool->log, &array));
    if (code == TOOL_DONE && (array->rank < 1 || array->rank > rank_max))
        code = tool_fail(tool, "%s takes D or N x D numbers; this array has %d dimensions", option,
                         (int)array->rank);
    if (code == TOOL_DONE) code = check_array(tool, option, array);
    if (code == TOOL_DONE) {
        file->path = path;
        file->dimension = (int32_t)array->shape[array->rank - 1];
        file->rank = array->rank;
        memcpy(file->shape, array->shape, sizeof file->shape);
        const size_t count = array->size / tvlm_element_size(array->type) / (size_t)file->dimension;
        if (count > INT32_MAX) code = tool_fail(tool, "%s: more than 2^31 - 1 vectors", option);
        file->count = (int32_t)count;
    }
    if (code == TOOL_DONE) code = take_values(tool, option, array, file);
    tvlm_npy_destroy(&array);
    return tool_back_to(tool, subject, code);
}

int vectors_read(struct tool *tool, const char *option, const char *path, vector_file *file) {
    return read_vectors(tool, option, path, 2, file);
}

int features_read(struct tool *tool, const char *path, vector_file *file) {
    return read_vectors(tool, "features", path, TVLM_MAX_RANK, file);
}

void vectors_release(vector_file *file) {
    free(file->values);
    *file = (vector_file){0};
}

/* ---- Vectors, block by block ---- */

#define BLOCK_VALUES ((size_t)1 << 20)

/* Reads the same files as features_read, but block by block. */
typedef struct vector_reader {
    const char *path;
    int32_t dimension;
    int64_t count, done, most; /* the vectors of the file; those that were read; the most in a block */
    tvlm_npy_reader *reader;
    tvlm_npy array;
    void *data;
    float *values;
} vector_reader;

static int open_vectors(struct tool *tool, const char *path, vector_reader *r) {
    const char *const subject = tool->subject;
    *r = (vector_reader){.path = path};
    tool->subject = path;
    TOOL_TRY(tool_status(tool, tvlm_npy_reader_open(path, &tool->log, &r->array, &r->reader)));
    if (r->array.rank < 1) return tool_fail(tool, "features takes N x D numbers; this is a single one");
    TOOL_TRY(check_array(tool, "features", &r->array));
    const size_t element = tvlm_element_size(r->array.type);
    const size_t dimension = (size_t)r->array.shape[r->array.rank - 1];
    r->dimension = (int32_t)dimension;
    r->count = (int64_t)(r->array.size / element / dimension);
    r->most = dimension < BLOCK_VALUES ? (int64_t)(BLOCK_VALUES / dimension) : 1;
    r->data = malloc((size_t)r->most * dimension * element);
    r->values = malloc((size_t)r->most * dimension * sizeof *r->values);
    if (r->data == NULL || r->values == NULL) return tool_fail(tool, "no memory for vectors");
    return tool_back_to(tool, subject, TOOL_DONE);
}

/* Reads the next block: *values[*count * dimension]. The values belong to the reader. *count is 0 after the
 * last block. */
static int next_vectors(struct tool *tool, vector_reader *r, const float **values, int64_t *count) {
    const char *const subject = tool->subject;
    const size_t dimension = (size_t)r->dimension, before = (size_t)r->done * dimension;
    *values = r->values;
    *count = r->count - r->done < r->most ? r->count - r->done : r->most;
    const size_t numbers = (size_t)*count * dimension;
    tool->subject = r->path;
    int code = tool_status(tool, tvlm_npy_reader_read(r->reader, r->data, numbers));
    if (code == TOOL_DONE)
        code = convert(tool, "features", r->array.type, r->data, numbers, before, r->values);
    r->done += *count;
    return tool_back_to(tool, subject, code);
}

static void close_vectors(vector_reader *r) {
    tvlm_npy_reader_destroy(&r->reader);
    free(r->data);
    free(r->values);
    *r = (vector_reader){0};
}

int vectors_dimension(struct tool *tool, const char *path, int32_t *dimension) {
    vector_reader file;
    const int code = open_vectors(tool, path, &file);
    *dimension = file.dimension;
    close_vectors(&file);
    return code;
}

int vectors_add(struct tool *tool, const char *path, int32_t dimension, vectors_adder *add, void *target) {
    vector_reader file;
    const float *values;
    int64_t count = 1;
    int code = open_vectors(tool, path, &file);
    tool->subject = path;
    if (code == TOOL_DONE && file.dimension != dimension)
        code = tool_fail(tool, "vectors of %d dimensions; those of the first file have %d",
                         (int)file.dimension, (int)dimension);
    while (code == TOOL_DONE && count > 0) {
        code = next_vectors(tool, &file, &values, &count);
        if (code == TOOL_DONE) code = tool_status(tool, add(target, values, count));
    }
    close_vectors(&file);
    if (code == TOOL_DONE) tool->subject = NULL;
    return code;
}

/* ---- Features ---- */

/* Whether all vectors are 0. A single vector of 0 is allowed, and similar to nothing; if all are 0, something
 * went wrong. */
static bool is_zero(const tvlm_npy *array) {
    const uint8_t *const bytes = array->data;
    for (size_t i = 0; i < array->size; ++i)
        if (bytes[i] != 0) return false;
    return true;
}

static int read_grid(struct tool *tool, const char *path, const vector_file *vectors, tvlm_npy **array,
                     struct tvlm_grid_input *input) {
    int code = tool_status(tool, tvlm_npy_read(path, &tool->log, array));
    if (code != TOOL_DONE) return code;
    const tvlm_npy *const a = *array;
    if (a->rank != 3)
        return tool_fail(tool, "vectors of cells are h x w x D, an array of 3 dimensions; this one has %d",
                         (int)a->rank);
    if ((code = check_array(tool, "--features", a)) != TOOL_DONE) return code;
    if (vectors != NULL && vectors->path != NULL && vectors->dimension != a->shape[2])
        return tool_fail(tool, "vectors of %lld dimensions; those of %s have %d", (long long)a->shape[2],
                         vectors->path, (int)vectors->dimension);
    if (is_zero(a)) return tool_fail(tool, "all features are 0");
    *input = (struct tvlm_grid_input){
        .data = a->data,
        .columns = (int32_t)a->shape[1],
        .rows = (int32_t)a->shape[0],
        .channels = (int32_t)a->shape[2],
        .type = a->type == TVLM_ELEMENT_F16 ? TVLM_VALUE_F16 : TVLM_VALUE_F32,
    };
    return TOOL_DONE;
}

int features_open(struct tool *tool, const char *path, const vector_file *vectors, tvlm_npy **array,
                  struct tvlm_grid_input *input) {
    const char *const subject = tool->subject;
    tool->subject = path;
    const int code = read_grid(tool, path, vectors, array, input);
    return tool_back_to(tool, subject, code);
}

int features_set_by(struct tool *tool, const char *path, float patch, int32_t width,
                    const vector_file *vectors, tvlm_stack *stack, features_setter *set, void *target) {
    const char *const subject = tool->subject;
    tvlm_npy *array = NULL;
    tvlm_stack_info info;
    struct tvlm_grid_input input;
    int code = features_open(tool, path, vectors, &array, &input);
    tool->subject = path;
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_stack_get_info(stack, &info));
    if (code == TOOL_DONE) input.cell = patch * (float)info.width / (float)width; /* of the working image */
    if (code == TOOL_DONE) code = tool_status(tool, set(target, &input));
    tvlm_npy_destroy(&array);
    return tool_back_to(tool, subject, code);
}

struct stack_image {
    tvlm_stack *stack;
    int32_t index;
};

static tvlm_status set_in_stack(void *target, const struct tvlm_grid_input *input) {
    const struct stack_image *const to = target;
    return tvlm_stack_set_grid(to->stack, to->index, TVLM_CHANNEL_FEATURE_0, input);
}

int features_set(struct tool *tool, const char *path, float patch, int32_t width, const vector_file *vectors,
                 tvlm_stack *stack, int32_t index) {
    struct stack_image to = {stack, index};
    return features_set_by(tool, path, patch, width, vectors, stack, set_in_stack, &to);
}

/* ---- Questions ---- */

static int check_usage(struct tool *tool, const question_options *options, int images) {
    if (options->features.count == 0) {
        if (options->query != NULL) return tool_usage(tool, "--query needs --features");
        if (options->words != NULL) return tool_usage(tool, "--set words needs --features");
        if (options->patch.given) return tool_usage(tool, "--feature-patch needs --features");
    } else if (options->features.count != images) {
        return tool_usage(tool, "--features is given for %d of %d images", (int)options->features.count,
                          images);
    }
    if (options->query == NULL && options->mean != NULL)
        return tool_usage(tool, "--set query-mean needs --query");
    if (options->query == NULL && options->combine.given) return tool_usage(tool, "--combine needs --query");
    return TOOL_DONE;
}

/* Refuses queries that have the length 0 after the mean is subtracted, before anything is computed. */
static int check_directions(struct tool *tool, const questions *q) {
    for (int32_t n = 0; n < q->queries.count; ++n) {
        double sum = 0.0;
        for (int32_t i = 0; i < q->queries.dimension; ++i) {
            const float value = q->queries.values[(size_t)n * (size_t)q->queries.dimension + (size_t)i];
            const double rest = (double)(q->mean.path != NULL ? value - q->mean.values[i] : value);
            sum += rest * rest;
        }
        tool->subject = q->queries.path;
        if (sum < 1e-30)
            return tool_fail(tool, "query %d is a zero vector%s", (int)n,
                             q->mean.path != NULL ? ", less the mean" : "");
        tool->subject = NULL;
    }
    return TOOL_DONE;
}

static int read_mean(struct tool *tool, questions *q) {
    if (q->options->mean == NULL) return TOOL_DONE;
    TOOL_TRY(vectors_read(tool, "--set query-mean", q->options->mean, &q->mean));
    tool->subject = q->mean.path;
    if (q->mean.count != 1) return tool_fail(tool, "%d vectors; the mean is one", (int)q->mean.count);
    if (q->mean.dimension != q->queries.dimension)
        return tool_fail(tool, "%d dimensions; the vectors of %s have %d", (int)q->mean.dimension,
                         q->queries.path, (int)q->queries.dimension);
    tool->subject = NULL;
    return TOOL_DONE;
}

int questions_read(struct tool *tool, const question_options *options, int images, questions *q) {
    *q = (questions){.options = options, .count = 1};
    int code = check_usage(tool, options, images);
    if (code == TOOL_DONE && options->words != NULL)
        code = vectors_read(tool, "--set words", options->words, &q->words);
    if (code != TOOL_DONE || options->query == NULL) return code;
    if ((code = vectors_read(tool, "--query", options->query, &q->queries)) != TOOL_DONE ||
        (code = read_mean(tool, q)) != TOOL_DONE || (code = check_directions(tool, q)) != TOOL_DONE)
        return code;
    if (options->combine.value == QUESTION_EACH) q->count = q->queries.count;
    q->several = q->count > 1;
    return TOOL_DONE;
}

void questions_release(questions *q) {
    vectors_release(&q->queries);
    vectors_release(&q->mean);
    vectors_release(&q->words);
}

int questions_set(struct tool *tool, const questions *q, int image, int32_t width, tvlm_stack *stack) {
    const question_options *const options = q->options;
    if (options->features.count == 0) return TOOL_DONE;
    const int code = features_set(tool, options->features.values[image], options->patch.value, width,
                                  q->queries.path != NULL ? &q->queries : &q->words, stack, 0);
    if (code != TOOL_DONE || q->words.path == NULL) return code;
    return tool_status(tool,
                       tvlm_stack_set_words(stack, 0, q->words.values, q->words.count, q->words.dimension));
}

static int check_weighed(struct tool *tool, const question_options *options, bool embedded, const char *path,
                         const tvlm_channel_info *info) {
    const bool features = strcmp(info->family, "features") == 0,
               embedding = strcmp(info->family, "embedding") == 0;
    if (info->channel == TVLM_CHANNEL_PREVIOUS_PASS)
        return tool_usage(tool, "%s weighs previous_pass, the scores of a pass before: this is the only one",
                          path);
    if ((features || (embedding && !embedded)) && options->features.count == 0)
        return tool_usage(tool, "%s weighs %s: hand in %s", path, info->name,
                          embedding ? "--give embedding=FILE or --features" : "--features");
    return TOOL_DONE;
}

int questions_scorer(struct tool *tool, const question_options *options, bool embedded, const char *path,
                     tvlm_scorer **scorer) {
    int code = tool_status(tool, tvlm_scorer_load(path, &tool->log, scorer));
    for (int32_t c = 0; code == TOOL_DONE && c < scorer_channels(*scorer); ++c) {
        tvlm_channel_info info;
        if (tvlm_channel_get_info(scorer_channel(*scorer, c), &info) == TVLM_OK && scorer_weighs(*scorer, c))
            code = check_weighed(tool, options, embedded, path, &info);
    }
    return code;
}

const struct tvlm_query *questions_query(const questions *q, int32_t number, struct tvlm_query *query) {
    const bool each = q->options->combine.value == QUESTION_EACH;
    if (q->queries.path == NULL) return NULL;
    *query = (struct tvlm_query){
        .vectors = q->queries.values + (each ? (size_t)number * (size_t)q->queries.dimension : 0),
        .count = each ? 1 : q->queries.count,
        .dimension = q->queries.dimension,
        .combine = q->options->combine.value == QUESTION_MEAN ? TVLM_COMBINE_MEAN : TVLM_COMBINE_MAX,
        .mean = q->mean.path != NULL ? q->mean.values : NULL,
        .basis = q->basis,
    };
    return query;
}
