/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-lab vocab: vocabularies. It trains a vocabulary from files of features, applies it to other files, and
 * asks it.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "progress.h"
#include "questions.h"
#include "texturevlm/io.h"
#include "texturevlm/lab/io_vocab.h"
#include "texturevlm/lab/vocab.h"
#include "tool.h"

typedef struct vocab_options {
    tool_common common;
    option_integer count, rounds, sample, seed;
    const char *output, *residuals, *query;
} vocab_options;

static const option_spec specs[] = {
    {'n', OPTION_INTEGER, NULL, offsetof(vocab_options, count), "N", "train: centres (default: 1024)", 1,
     TVLM_VOCAB_COUNT_MAX, NULL},
    {'o', OPTION_OUTPUT, "output", offsetof(vocab_options, output), "FILE",
     "train: the vocabulary, .safetensors; apply: the numbers of the nearest centres, h x w, .npy, uint16; score: "
     "h x w for a query of D, N x h x w of N x D, .npy, float32",
     NO_RANGE, NULL},
    {0, OPTION_INTEGER, "rounds", offsetof(vocab_options, rounds), "N",
     "train: how often it goes through what it keeps of the vectors (default: 5)", 1, TVLM_VOCAB_ROUNDS_MAX,
     NULL},
    {0, OPTION_INTEGER, "sample", offsetof(vocab_options, sample), "N",
     "train: how many vectors it keeps for each centre, a fair sample (default: 64)", 1, 65536, NULL},
    {0, OPTION_INTEGER, "seed", offsetof(vocab_options, seed), "N",
     "train: another number gives other centres (default: 0)", 0, INT_MAX, NULL},
    {0, OPTION_OUTPUT, "residuals", offsetof(vocab_options, residuals), "R.npy",
     "apply: how far each vector, at length 1, is from its centre, h x w, float32", NO_RANGE, NULL},
    {0, OPTION_INPUT, "query", offsetof(vocab_options, query), "Q.npy",
     "score: what is asked, as the encoder's vector: D, or N x D for N queries", NO_RANGE, NULL},
};

static int refuse_dimension(struct tool *tool, const char *path, int32_t dimension, int32_t expected) {
    tool->subject = path;
    return tool_fail(tool, "vectors of %d dimensions; the vocabulary has %d", (int)dimension, (int)expected);
}

/* ---- train and info ---- */

static tvlm_status add(void *trainer, const float *values, int64_t count) {
    return tvlm_vocab_trainer_add(trainer, values, count);
}

static int add_all(struct tool *tool, int count, char *const *paths, int32_t dimension,
                   tvlm_vocab_trainer *trainer) {
    int code = TOOL_DONE;
    progress_start("files", count);
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        code = vectors_add(tool, paths[i], dimension, add, trainer);
        progress_step(i + 1);
    }
    progress_clear();
    return code;
}

static int print_about(struct tool *tool, const vocab_options *options, const char *path,
                       const tvlm_vocab *vocab) {
    struct tvlm_vocab_params about;
    json_writer json = {0};
    (void)tvlm_vocab_get_params(vocab, &about);
    if (options->common.json <= 0) {
        fprintf(tool_report(tool), "%s: %d centres of %d dimensions, from %lld vectors, residual %.3f\n",
                path, (int)about.count, (int)about.dimension, (long long)about.vectors,
                sqrt((double)about.error));
        return TOOL_DONE;
    }
    json_open_object(&json, NULL, false);
    json_string(&json, "path", path);
    json_integer(&json, "dimension", about.dimension);
    json_integer(&json, "count", about.count);
    json_integer(&json, "vectors", about.vectors);
    json_float(&json, "error", about.error);
    return tool_print_json(tool, &json);
}

static int train(struct tool *tool, const vocab_options *options, int count, char *const *paths) {
    struct tvlm_vocab_trainer_params params = {.count = options->count.value,
                                               .seed = (uint64_t)options->seed.value,
                                               .rounds = options->rounds.value,
                                               .sample = options->sample.value};
    tvlm_device *device = NULL;
    tvlm_vocab_trainer *trainer = NULL;
    tvlm_vocab *vocab = NULL;
    int code = vectors_dimension(tool, paths[0], &params.dimension);
    if (code == TOOL_DONE) code = tool_open_device(tool, &options->common, &device);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_vocab_trainer_create(device, &params, &trainer));
    if (code == TOOL_DONE) code = add_all(tool, count, paths, params.dimension, trainer);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_vocab_trainer_finish(trainer, &vocab));
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_vocab_save(options->output, vocab, &tool->log));
    if (code == TOOL_DONE) code = print_about(tool, options, options->output, vocab);
    tvlm_vocab_destroy(&vocab);
    tvlm_vocab_trainer_destroy(&trainer);
    tvlm_device_destroy(&device);
    return code;
}

static int info(struct tool *tool, const vocab_options *options, int count, char *const *paths) {
    tvlm_vocab *vocab = NULL;
    (void)count;
    int code = tool_status(tool, tvlm_vocab_load(paths[0], &tool->log, &vocab));
    if (code == TOOL_DONE) code = print_about(tool, options, paths[0], vocab);
    tvlm_vocab_destroy(&vocab);
    return code;
}

/* ---- apply ---- */

typedef struct application {
    struct tool *tool;
    const vocab_options *options;
    const char *path;
    struct tvlm_vocab_params about;
    vector_file features;
    int32_t *ids;
    uint16_t *written;
    float *residuals;
} application;

/* Reads the features, and makes room for the results. */
static int read_features(application *a) {
    struct tool *const tool = a->tool;
    vector_file file = {0};
    int code = features_read(tool, a->path, &file);
    if (code == TOOL_DONE && file.dimension != a->about.dimension)
        code = refuse_dimension(tool, a->path, file.dimension, a->about.dimension);
    a->features = file;
    if (code != TOOL_DONE) return code;
    const size_t cells = (size_t)file.count;
    a->ids = malloc(cells * sizeof *a->ids);
    a->written = malloc(cells * sizeof *a->written);
    a->residuals = malloc(cells * sizeof *a->residuals);
    return a->ids != NULL && a->written != NULL && a->residuals != NULL
               ? TOOL_DONE
               : tool_fail(tool, "no memory for %zu cells", cells);
}

static int write_cells(application *a) {
    struct tool *const tool = a->tool;
    for (int32_t i = 0; i < a->features.count; ++i) a->written[i] = (uint16_t)a->ids[i];
    int code = tool_status(tool, tvlm_npy_write(a->options->output, TVLM_ELEMENT_U16, a->features.rank - 1,
                                                a->features.shape, a->written, &tool->log));
    if (code == TOOL_DONE && a->options->residuals != NULL)
        code = tool_status(tool, tvlm_npy_write(a->options->residuals, TVLM_ELEMENT_F32, a->features.rank - 1,
                                                a->features.shape, a->residuals, &tool->log));
    return code;
}

static int print_cells(const application *a) {
    const char *const path = a->options->output;
    double squares = 0.0;
    json_writer json = {0};
    uint8_t *const there = calloc((size_t)a->about.count, 1);
    int32_t used = 0;
    if (there == NULL) return tool_fail(a->tool, "no memory for %d centres", (int)a->about.count);
    for (int32_t i = 0; i < a->features.count; ++i) {
        squares += (double)a->residuals[i] * (double)a->residuals[i];
        used += there[a->ids[i]] == 0;
        there[a->ids[i]] = 1;
    }
    free(there);
    const double residual = sqrt(squares / (double)a->features.count);
    if (a->options->common.json <= 0) {
        fprintf(tool_report(a->tool), "%s: %d cells, %d of %d centres, residual %.3f\n", path,
                (int)a->features.count, (int)used, (int)a->about.count, residual);
        return TOOL_DONE;
    }
    json_open_object(&json, NULL, false);
    json_string(&json, "path", path);
    json_integer(&json, "cells", a->features.count);
    json_integer(&json, "centres", used);
    json_double(&json, "residual", residual);
    return tool_print_json(a->tool, &json);
}

static int apply(struct tool *tool, const vocab_options *options, int count, char *const *paths) {
    application a = {.tool = tool, .options = options, .path = paths[1]};
    tvlm_vocab *vocab = NULL;
    tvlm_device *device = NULL;
    (void)count;
    int code = tool_status(tool, tvlm_vocab_load(paths[0], &tool->log, &vocab));
    if (code == TOOL_DONE) {
        (void)tvlm_vocab_get_params(vocab, &a.about);
        code = read_features(&a);
    }
    if (code == TOOL_DONE) code = tool_open_device(tool, &options->common, &device);
    if (code == TOOL_DONE)
        code = tool_status(
            tool, tvlm_vocab_assign(device, vocab, a.features.values, a.features.count, a.ids, a.residuals));
    if (code == TOOL_DONE) code = write_cells(&a);
    if (code == TOOL_DONE) code = print_cells(&a);
    tvlm_device_destroy(&device);
    tvlm_vocab_destroy(&vocab);
    vectors_release(&a.features);
    free(a.ids);
    free(a.written);
    free(a.residuals);
    return code;
}

/* ---- score ---- */

/* Refuses an array that `apply` cannot have written with this vocabulary. */
static int check_ids(struct tool *tool, const tvlm_npy *ids, int32_t count) {
    const uint16_t *const id = ids->data;
    if (ids->type != TVLM_ELEMENT_U16)
        return tool_fail(tool, "numbers of centres are uint16; this is %s", tvlm_element_name(ids->type));
    if (ids->size == 0 || ids->rank >= TVLM_MAX_RANK)
        return tool_fail(tool, "no grid of cells: an array of %d dimensions, %zu bytes", (int)ids->rank,
                         ids->size);
    for (size_t i = 0; i < ids->size / sizeof *id; ++i)
        if (id[i] >= count)
            return tool_fail(tool, "cell %zu has centre %d; the vocabulary has %d", i, (int)id[i],
                             (int)count);
    return TOOL_DONE;
}

/* Looks up the answer to each question for each cell, and writes these answers. */
static int look_up(struct tool *tool, const char *output, const tvlm_npy *ids, const float *answers,
                   const vector_file *query, int32_t centres) {
    const uint16_t *const id = ids->data;
    const size_t cells = ids->size / sizeof *id;
    const int32_t asked = query->count, several = query->rank > 1;
    int64_t shape[TVLM_MAX_RANK] = {asked};
    float *const scores = calloc(cells, (size_t)asked * sizeof *scores); /* calloc checks the product */
    if (scores == NULL) return tool_fail(tool, "no memory for %zu cells", cells);
    for (size_t q = 0; q < (size_t)asked; ++q)
        for (size_t i = 0; i < cells; ++i) scores[q * cells + i] = answers[q * (size_t)centres + id[i]];
    memcpy(shape + several, ids->shape, (size_t)ids->rank * sizeof *shape);
    const int code = tool_status(
        tool, tvlm_npy_write(output, TVLM_ELEMENT_F32, ids->rank + several, shape, scores, &tool->log));
    free(scores);
    return code;
}

static int score(struct tool *tool, const vocab_options *options, int count, char *const *paths) {
    struct tvlm_vocab_params about = {0};
    tvlm_vocab *vocab = NULL;
    vector_file query = {0};
    tvlm_npy *ids = NULL;
    float *answers = NULL;
    (void)count;
    int code = tool_status(tool, tvlm_vocab_load(paths[0], &tool->log, &vocab));
    if (code == TOOL_DONE) (void)tvlm_vocab_get_params(vocab, &about);
    if (code == TOOL_DONE) code = vectors_read(tool, "--query", options->query, &query);
    if (code == TOOL_DONE && query.dimension != about.dimension)
        code = refuse_dimension(tool, options->query, query.dimension, about.dimension);
    if (code == TOOL_DONE) {
        answers = malloc((size_t)query.count * (size_t)about.count * sizeof *answers);
        if (answers == NULL) code = tool_fail(tool, "no memory for %d questions", (int)query.count);
    }
    if (code == TOOL_DONE) {
        tool->subject = options->query;
        code = tool_status(tool, tvlm_vocab_ask(vocab, &tool->log, query.values, query.count, answers));
    }
    if (code == TOOL_DONE) {
        tool->subject = paths[1];
        code = tool_status(tool, tvlm_npy_read(paths[1], &tool->log, &ids));
    }
    if (code == TOOL_DONE) code = check_ids(tool, ids, about.count);
    if (code == TOOL_DONE) {
        tool->subject = NULL;
        code = look_up(tool, options->output, ids, answers, &query, about.count);
    }
    tvlm_npy_destroy(&ids);
    free(answers);
    vectors_release(&query);
    tvlm_vocab_destroy(&vocab);
    return code;
}

/* ---- The command ---- */

typedef struct action {
    const char *name, *operands, *output;
    int least, most;
    int (*run)(struct tool *tool, const vocab_options *options, int count, char *const *paths);
} action;

static int check_usage(struct tool *tool, const vocab_options *options, const action *a) {
    if (a->output != NULL && options->output == NULL)
        return tool_usage(tool, "nothing to write: -o %s is missing", a->output);
    if (a->output == NULL && options->output != NULL)
        return tool_usage(tool, "%s writes nothing: -o is of train, apply and score", a->name);
    if (a->run != train &&
        (options->count.given || options->rounds.given || options->sample.given || options->seed.given))
        return tool_usage(tool, "-n, --rounds, --sample and --seed are of train");
    if (a->run != apply && options->residuals != NULL) return tool_usage(tool, "--residuals is of apply");
    if (a->run != score && options->query != NULL) return tool_usage(tool, "--query is of score");
    if (a->run == score && options->query == NULL)
        return tool_usage(tool, "nothing is asked: --query Q.npy is missing");
    return TOOL_DONE;
}

static int run_vocab(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const vocab_options *const options = values;
    static const action actions[] = {{"train", "FEATURES.npy...", "V.safetensors", 1, INT_MAX, train},
                                     {"apply", "V.safetensors FEATURES.npy", "IDS.npy", 2, 2, apply},
                                     {"score", "V.safetensors IDS.npy", "SCORES.npy", 2, 2, score},
                                     {"info", "V.safetensors", NULL, 1, 1, info}};
    const int count = operand_count - 1;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; ++i) {
        if (strcmp(operands[0], actions[i].name) != 0) continue;
        const int code = check_usage(tool, options, &actions[i]);
        if (code != TOOL_DONE) return code;
        if (count < actions[i].least || count > actions[i].most)
            return tool_usage(tool, "%s takes %s", actions[i].name, actions[i].operands);
        return actions[i].run(tool, options, count, operands + 1);
    }
    return tool_usage(tool, "'%s' is none of train, apply, score, info", operands[0]);
}

static const option_specs own = OPTION_SPECS("Options", specs);
static const option_group groups[] = {{&own, 0}, {0}};

const tool_command vocab_command = {
    .name = "vocab",
    .summary = "k-means centres of features: train, apply, score, info",
    .operands = "train FEATURES.npy... | apply V FEATURES.npy | score V IDS.npy | info V",
    .operand_words = 1,
    .operand_min = 1,
    .operand_max = INT_MAX,
    .details =
        "FEATURES.npy holds vectors, float32 or float16: ... x D. train reads files in pieces: they may be larger than\n"
        "memory, of which a fair sample is kept. The same files, order and seed give the same centres on every device.\n"
        "\n"
        "  tvlm-lab vocab train features/*.npy -n 1024 -o vocab.safetensors\n"
        "  # two bytes a cell\n"
        "  tvlm-lab vocab apply vocab.safetensors features/a.npy -o a.npy\n"
        "  # without the features\n"
        "  tvlm-lab vocab score vocab.safetensors a.npy --query Q.npy -o s.npy\n"
        "\n"
        "A score is the product of the query, at length 1, with the centre of the cell: the mean of the cosines of what the\n"
        "centre was made of. All cells of a centre have the same; a basis (tvlm-lab pca) takes more and keeps more of the order.\n"
        "\n"
        "A vocabulary is a .safetensors file: centres [n, D], means of vectors of length 1; the metadata format =\n"
        "texturevlm.vocab. From scikit-learn:\n"
        "  safetensors.numpy.save_file({\"centres\": kmeans.cluster_centers_},\n"
        "      \"vocab.safetensors\", metadata={\"format\": \"texturevlm.vocab\"})\n",
    .options = groups,
    .options_size = sizeof(vocab_options),
    .run = run_vocab,
};
