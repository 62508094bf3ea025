/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-lab pca: bases for embeddings. It trains a basis from files of features, prints what a basis is, and
 * measures it.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "pca.h"
#include "progress.h"
#include "texturevlm/io.h"
#include "texturevlm/io_basis.h"
#include "texturevlm/lab/trainer.h"
#include "tool.h"

typedef struct pca_options {
    tool_common common;
    option_integer k;
    int centred;
    option_choice method;
    const char *output, *queries, *plot;
    option_number variance, error, neighbours, rank, top, largest;
} pca_options;

static const char *const methods[] = {"auto", "covariance", "range-finder", NULL};

#define THRESHOLD(name, member, help)                                                                        \
    { 0, OPTION_NUMBER, name, offsetof(pca_options, member), "X", help, 0, 1, NULL }

static const option_spec specs[] = {
    {'k', OPTION_INTEGER, NULL, offsetof(pca_options, k), "K", "train: components (default: 16)", 1,
     TVLM_BASIS_DIMENSION_MAX, NULL},
    {'o', OPTION_OUTPUT, "output", offsetof(pca_options, output), "BASIS.safetensors", "train: the basis", 0,
     0, NULL},
    {0, OPTION_FLAG, "centred", offsetof(pca_options, centred), NULL,
     "train: take the mean off first, as scikit-learn's PCA", NO_RANGE, NULL},
    {0, OPTION_CHOICE, "method", offsetof(pca_options, method), "NAME",
     "train: covariance (exact), range-finder (randomized; files are read three times) or auto: "
     "covariance up to 1536 dimensions",
     NO_RANGE, methods},
    {0, OPTION_INPUT, "queries", offsetof(pca_options, queries), "Q.npy",
     "validate: D or N x D, for the figures of relevance", NO_RANGE, NULL},
    {0, OPTION_OUTPUT, "plot", offsetof(pca_options, plot), "FILE.png",
     "validate: variance kept by 1 .. k components", NO_RANGE, NULL},
    THRESHOLD("min-variance", variance, "validate: of the variance kept (default: 0.8)"),
    THRESHOLD("max-error", error, "validate: of the length of what is lost, over a vector's (default: 0.4)"),
    THRESHOLD("min-neighbours", neighbours, "validate: of the ten nearest that stay (default: 0.5)"),
    THRESHOLD("min-rank", rank, "validate: of the rank correlation of relevance (default: 0.9)"),
    THRESHOLD("min-top", top, "validate: of the 64 most relevant that stay (default: 0.7)"),
    THRESHOLD("max-largest", largest, "validate: of the largest component's share (default: 0.95)"),
};

/* ---- train ---- */

static tvlm_status add(void *trainer, const float *values, int64_t count) {
    return tvlm_trainer_add(trainer, values, count);
}

static int add_all(struct tool *tool, int count, char *const *paths, int32_t dimension,
                   tvlm_trainer *trainer) {
    const int32_t passes = tvlm_trainer_passes(trainer);
    int code = TOOL_DONE;
    progress_start("files", (int64_t)passes * count);
    for (int32_t pass = 0; code == TOOL_DONE && pass < passes; ++pass) {
        if (pass > 0) code = tool_status(tool, tvlm_trainer_next_pass(trainer));
        for (int i = 0; code == TOOL_DONE && i < count; ++i) {
            code = vectors_add(tool, paths[i], dimension, add, trainer);
            progress_step((int64_t)pass * count + i + 1);
        }
    }
    progress_clear();
    return code;
}

static void write_about(json_writer *json, const struct tvlm_basis_params *about) {
    json_integer(json, "dimension", about->dimension);
    json_integer(json, "k", about->k);
    json_boolean(json, "centred", about->centred);
    json_integer(json, "vectors", about->vectors);
    json_string(json, "method", about->method);
    json_open_array(json, "explained_variance_ratio", true);
    for (int32_t i = 0; i < about->k; ++i) json_float(json, NULL, about->variance[i]);
    json_close(json);
}

static int print_about(struct tool *tool, const pca_options *options, const char *path,
                       const tvlm_basis *basis) {
    struct tvlm_basis_params about;
    json_writer json = {0};
    double sum = 0.0;
    int code = TOOL_DONE;
    (void)tvlm_basis_get_params(basis, &about);
    if (options->common.json > 0) {
        json_open_object(&json, NULL, false);
        json_string(&json, "path", path);
        write_about(&json, &about);
        json_close(&json);
        code = tool_print(tool, json_text_of(&json));
        json_release(&json);
        return code;
    }
    for (int32_t i = 0; i < about.k; ++i) sum += (double)about.variance[i];
    FILE *const out = tool_report(tool);
    fprintf(out, "%s: %d components of %d dimensions, %s, from %lld vectors (%s)\n", path, (int)about.k,
            (int)about.dimension, about.centred ? "centred" : "not centred", (long long)about.vectors,
            about.method);
    fprintf(out, "%s kept: %.1f %%, the largest component %.1f %%\n", about.centred ? "variance" : "squares",
            100.0 * sum, 100.0 * (double)about.variance[0]);
    return code;
}

static int train(struct tool *tool, const pca_options *options, int count, char *const *paths) {
    struct tvlm_trainer_params params = {.k = options->k.value,
                                         .centred = options->centred > 0,
                                         .method = (tvlm_basis_method)options->method.value};
    tvlm_device *device = NULL;
    tvlm_trainer *trainer = NULL;
    tvlm_basis *basis = NULL;
    int code = vectors_dimension(tool, paths[0], &params.dimension);
    if (code == TOOL_DONE) code = tool_open_device(tool, &options->common, &device);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_trainer_create(device, &params, &trainer));
    if (code == TOOL_DONE) code = add_all(tool, count, paths, params.dimension, trainer);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_trainer_finish(trainer, &basis));
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_basis_save(options->output, basis, &tool->log));
    if (code == TOOL_DONE) code = print_about(tool, options, options->output, basis);
    tvlm_basis_destroy(&basis);
    tvlm_trainer_destroy(&trainer);
    tvlm_device_destroy(&device);
    return code;
}

static int info(struct tool *tool, const pca_options *options, int count, char *const *paths) {
    tvlm_basis *basis = NULL;
    (void)count;
    int code = tool_status(tool, tvlm_basis_load(paths[0], &tool->log, &basis));
    if (code == TOOL_DONE) code = print_about(tool, options, paths[0], basis);
    tvlm_basis_destroy(&basis);
    return code;
}

/* ---- validate ---- */

typedef struct check {
    const char *name;
    double value, threshold;
    bool most; /* whether the threshold is an upper limit, and not a lower one */
} check;

enum { CHECKS = 6 };

static double threshold(option_number given, double otherwise) {
    return given.given ? (double)given.value : otherwise;
}

static void make_checks(const pca_options *options, const pca_figures *f, check checks[CHECKS]) {
    const check all[CHECKS] = {
        {"variance kept", f->variance, threshold(options->variance, 0.8), false},
        {"reconstruction error", f->error, threshold(options->error, 0.4), true},
        {"ten nearest that stay", f->neighbours, threshold(options->neighbours, 0.5), false},
        {"rank correlation of relevance", f->rank, threshold(options->rank, 0.9), false},
        {"64 most relevant that stay", f->top, threshold(options->top, 0.7), false},
        {"largest component's share", f->largest, threshold(options->largest, 0.95), true},
    };
    memcpy(checks, all, sizeof all);
}

static bool measured(const check *c) {
    return !isnan(c->value);
}

static bool passes(const check *c) {
    return !measured(c) || (c->most ? c->value <= c->threshold : c->value >= c->threshold);
}

typedef struct report {
    const char *path, *features_path;
    struct tvlm_basis_params about;
    check checks[CHECKS];
    pca_figures figures[PCA_TABLE_MAX];
    int tables;
    int32_t vectors;
    int failed;
} report;

static void print_report(const report *r) {
    printf("%s on %d vectors of %s\n\n", r->path, (int)r->vectors, r->features_path);
    for (int i = 0; i < CHECKS; ++i) {
        const check *c = &r->checks[i];
        if (measured(c))
            printf("  %-4s  %-30s %6.3f  (%s %.3g)\n", passes(c) ? "pass" : "FAIL", c->name, c->value,
                   c->most ? "at most" : "at least", c->threshold);
        else
            printf("  -     %-30s needs --queries\n", c->name);
    }
    printf("\n     k  variance   error  nearest    rank  top 64\n");
    for (int i = 0; i < r->tables; ++i) {
        const pca_figures *f = &r->figures[i];
        printf("  %4d  %8.3f  %6.3f  %7.3f", (int)f->k, f->variance, f->error, f->neighbours);
        if (isnan(f->rank))
            printf("       -       -\n");
        else
            printf("  %6.3f  %6.3f\n", f->rank, f->top);
    }
}

static int print_json(struct tool *tool, const report *r) {
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    json_string(&json, "path", r->path);
    json_string(&json, "features", r->features_path);
    json_boolean(&json, "passed", r->failed == 0);
    write_about(&json, &r->about);
    json_open_array(&json, "checks", false);
    for (int i = 0; i < CHECKS; ++i) {
        json_open_object(&json, NULL, true);
        json_string(&json, "name", r->checks[i].name);
        json_double(&json, "value", r->checks[i].value);
        json_double(&json, r->checks[i].most ? "most" : "least", r->checks[i].threshold);
        if (measured(&r->checks[i])) json_boolean(&json, "passed", passes(&r->checks[i]));
        json_close(&json);
    }
    json_close(&json);
    json_open_array(&json, "table", false);
    for (int i = 0; i < r->tables; ++i) {
        json_open_object(&json, NULL, true);
        json_integer(&json, "k", r->figures[i].k);
        json_double(&json, "variance", r->figures[i].variance);
        json_double(&json, "error", r->figures[i].error);
        json_double(&json, "neighbours", r->figures[i].neighbours);
        json_double(&json, "rank", r->figures[i].rank);
        json_double(&json, "top", r->figures[i].top);
        json_close(&json);
    }
    json_close(&json);
    return tool_print_json(tool, &json);
}

static int plot(struct tool *tool, const pca_options *options, const tvlm_basis *basis,
                const vector_file *features, int32_t k) {
    double *curve = malloc((size_t)k * sizeof *curve);
    uint8_t *const rgb = malloc(3 * (size_t)PCA_PLOT_WIDTH * PCA_PLOT_HEIGHT);
    char title[128], stem[64];
    tool_stem(features->path, stem, sizeof stem);
    snprintf(title, sizeof title, "variance of %s kept by components", stem);
    int code = TOOL_DONE;
    if (curve == NULL || rgb == NULL || !pca_curve(basis, features, curve) || !pca_plot(curve, k, title, rgb))
        code = tool_fail(tool, "no memory for the plot");
    if (code == TOOL_DONE)
        code = tool_status(
            tool, tvlm_png_write(options->plot, PCA_PLOT_WIDTH, PCA_PLOT_HEIGHT, 3, rgb, &tool->log));
    free(rgb);
    free(curve);
    return code;
}

static int check_dimensions(struct tool *tool, const report *r, const vector_file *file) {
    if (file->path == NULL || file->dimension == r->about.dimension) return TOOL_DONE;
    tool->subject = file->path;
    return tool_fail(tool, "vectors of %d dimensions; the basis has %d", (int)file->dimension,
                     (int)r->about.dimension);
}

static bool is_zero(const float *values, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (values[i] != 0.0f) return false;
    return true;
}

/* Refuses features that are all 0, and queries that are all 0. Nothing can be measured with them. */
static int check_not_zero(struct tool *tool, const vector_file *features, const vector_file *queries) {
    const size_t dimension = (size_t)features->dimension;
    if (is_zero(features->values, (size_t)features->count * dimension)) {
        tool->subject = features->path;
        return tool_fail(tool, "%d vectors, all of them 0", (int)features->count);
    }
    for (int32_t q = 0; q < queries->count; ++q)
        if (is_zero(queries->values + (size_t)q * dimension, dimension)) {
            tool->subject = queries->path;
            return tool_fail(tool, "query %d is a zero vector", (int)q);
        }
    return TOOL_DONE;
}

static void choose_tables(report *r) {
    static const int32_t sizes[] = {8, 16, 32, 64};
    bool own = false;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        if (sizes[i] > r->about.k) break;
        r->figures[r->tables++].k = sizes[i];
        own = sizes[i] == r->about.k;
    }
    if (!own) r->figures[r->tables++].k = r->about.k;
}

static int judge(struct tool *tool, const pca_options *options, report *r) {
    make_checks(options, &r->figures[r->tables - 1], r->checks);
    for (int i = 0; i < CHECKS; ++i) r->failed += !passes(&r->checks[i]);
    int code = TOOL_DONE;
    if (options->common.json > 0)
        code = print_json(tool, r);
    else
        print_report(r);
    tool->subject = NULL;
    return code == TOOL_DONE && r->failed > 0
               ? tool_fail(tool, "%s: fails %d of its thresholds", r->path, r->failed)
               : code;
}

static int validate(struct tool *tool, const pca_options *options, int count, char *const *paths) {
    report r = {.path = paths[0], .features_path = paths[1]};
    tvlm_basis *basis = NULL;
    vector_file features = {0}, queries = {0};
    (void)count;
    int code = tool_status(tool, tvlm_basis_load(paths[0], &tool->log, &basis));
    if (code == TOOL_DONE) code = features_read(tool, paths[1], &features);
    if (code == TOOL_DONE && options->queries != NULL)
        code = vectors_read(tool, "--queries", options->queries, &queries);
    if (code == TOOL_DONE) {
        (void)tvlm_basis_get_params(basis, &r.about);
        r.vectors = features.count;
        choose_tables(&r);
        code = check_dimensions(tool, &r, &features);
    }
    if (code == TOOL_DONE) code = check_dimensions(tool, &r, &queries);
    if (code == TOOL_DONE) code = check_not_zero(tool, &features, &queries);
    if (code == TOOL_DONE && !pca_measure(basis, &features, &queries, r.figures, r.tables))
        code = tool_fail(tool, "no memory for %d vectors", (int)features.count);
    if (code == TOOL_DONE && options->plot != NULL) code = plot(tool, options, basis, &features, r.about.k);
    if (code == TOOL_DONE) code = tool_keep_files(tool); /* also for a basis that fails the checks */
    if (code == TOOL_DONE) code = judge(tool, options, &r);
    vectors_release(&features);
    vectors_release(&queries);
    tvlm_basis_destroy(&basis);
    return code;
}

/* ---- The command ---- */

static int check_usage(struct tool *tool, const pca_options *options, bool trains, bool validates) {
    const bool threshold_given = options->variance.given || options->error.given ||
                                 options->neighbours.given || options->rank.given || options->top.given ||
                                 options->largest.given;
    if (trains && options->output == NULL)
        return tool_usage(tool, "nothing to write: -o BASIS.safetensors is missing");
    if (!trains &&
        (options->output != NULL || options->k.given || options->centred > 0 || options->method.given))
        return tool_usage(tool, "-o, -k, --centred and --method are of train");
    if (!validates && (options->queries != NULL || options->plot != NULL || threshold_given))
        return tool_usage(tool, "--queries, --plot and thresholds are of validate");
    if (options->queries == NULL && (options->rank.given || options->top.given))
        return tool_usage(tool, "--min-rank and --min-top need --queries");
    return TOOL_DONE;
}

static int run_pca(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const pca_options *const options = values;
    static const struct {
        const char *name, *operands;
        int least, most;
        int (*run)(struct tool *tool, const pca_options *options, int count, char *const *paths);
    } actions[] = {{"train", "FEATURES.npy...", 1, INT_MAX, train},
                   {"validate", "BASIS.safetensors FEATURES.npy", 2, 2, validate},
                   {"info", "BASIS.safetensors", 1, 1, info}};
    const int count = operand_count - 1;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; ++i) {
        if (strcmp(operands[0], actions[i].name) != 0) continue;
        const int code = check_usage(tool, options, actions[i].run == train, actions[i].run == validate);
        if (code != TOOL_DONE) return code;
        if (count < actions[i].least || count > actions[i].most)
            return tool_usage(tool, "%s takes %s", actions[i].name, actions[i].operands);
        return actions[i].run(tool, options, count, operands + 1);
    }
    return tool_usage(tool, "'%s' is none of train, validate, info", operands[0]);
}

static const option_specs own = OPTION_SPECS("Options", specs);
static const option_group groups[] = {{&own, 0}, {0}};

const tool_command pca_command = {
    .name = "pca",
    .summary = "bases for embeddings: train, validate, info",
    .operands = "train FEATURES.npy... | validate BASIS FEATURES.npy | info BASIS",
    .operand_words = 1,
    .operand_min = 1,
    .operand_max = INT_MAX,
    .details =
        "FEATURES.npy holds vectors, float32 or float16: ... x D. train reads files in pieces:\n"
        "they may be larger than memory. Without --centred the basis is that of the squares, not of the\n"
        "variance: for ranking by a cosine it is the better one.\n"
        "\n"
        "A basis is a .safetensors file: components [k, D], orthonormal rows; mean [D]; explained_variance_ratio\n"
        "[k]; the metadata format = texturevlm.basis and centred = true or false. From scikit-learn:\n"
        "  safetensors.numpy.save_file({\"mean\": pca.mean_,\n"
        "      \"components\": pca.components_,\n"
        "      \"explained_variance_ratio\": pca.explained_variance_ratio_},\n"
        "      \"basis.safetensors\",\n"
        "      metadata={\"format\": \"texturevlm.basis\", \"centred\": \"true\"})\n"
        "\n"
        "validate says what is true of the basis on these vectors, and ends with 1 when a threshold fails. Nearest\n"
        "are by cosine, of 1000 vectors among up to 4096; relevance is to each of the queries, over all vectors.\n",
    .options = groups,
    .options_size = sizeof(pca_options),
    .run = run_pca,
};
