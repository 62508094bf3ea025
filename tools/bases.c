/* SPDX-License-Identifier: Apache-2.0 */
#include "bases.h"

#include <stdlib.h>
#include <string.h>

#include "lab.h"
#include "texturevlm/io_basis.h"
#include "texturevlm/lab/trainer.h"

static const char *const made[] = {"image", "query", NULL};

static const option_spec specs[] = {
    {0, OPTION_INPUT, "basis", offsetof(basis_options, name), "BASIS",
     "image, query, or a file of `tvlm-lab pca train`; image: the embedding in a basis of the image's own "
     "features; query: of the queries first, then of the image. tvlm select answers from it (default: from "
     "the features, exactly), tvlm channels shows it (default: image)",
     NO_RANGE, made},
    {0, OPTION_INTEGER, "components", offsetof(basis_options, components), "N",
     "of the basis image or query (default: 16)", 1, TVLM_EMBEDDING_MAX, NULL},
};
const option_specs basis_specs = OPTION_SPECS("What is asked", specs);

static bool is(const basis_options *options, const char *name) {
    return options->name != NULL && strcmp(options->name, name) == 0;
}

static bool is_file(const basis_options *options) {
    return options->name != NULL && !is(options, "image") && !is(options, "query");
}

int basis_check(struct tool *tool, const basis_options *options, bool features, bool queries,
                const char *query_option) {
    if (options->name == NULL && !options->components.given) return TOOL_DONE;
    if (!features)
        return tool_usage(tool, "%s needs --features", options->name != NULL ? "--basis" : "--components");
    if (!is_file(options)) {
        const int code = lab_check(tool, "--basis of an image or a query");
        if (code != TOOL_DONE) return code;
    }
    if (is(options, "query") && !queries) return tool_usage(tool, "--basis query needs %s", query_option);
    if (is_file(options) && options->components.given)
        return tool_usage(tool, "--components is of --basis image and query, not of a file");
    return TOOL_DONE;
}

/* Returns the queries less their mean. The caller frees the array. NULL: there is no memory. */
static float *centred(const vector_file *queries, const vector_file *mean) {
    const size_t dimension = (size_t)queries->dimension, count = (size_t)queries->count * dimension;
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; values != NULL && i < count; ++i)
        values[i] =
            queries->values[i] - (mean != NULL && mean->path != NULL ? mean->values[i % dimension] : 0.0f);
    return values;
}

static int make(struct tool *tool, const basis_options *options, const vector_file *queries,
                const vector_file *mean, tvlm_stack *stack, tvlm_basis **basis) {
    struct tvlm_image_basis_params params = {.k = options->components.value};
    float *values = NULL;
    tvlm_basis_destroy(basis);
    if (is(options, "query")) {
        values = centred(queries, mean);
        if (values == NULL) return tool_fail(tool, "no memory for queries");
        params.queries = values;
        params.query_count = queries->count;
        params.query_dimension = queries->dimension;
    }
    const int code = lab_basis_of_image(tool, stack, &params, basis);
    free(values);
    return code;
}

int basis_embed(struct tool *tool, const basis_options *options, const vector_file *queries,
                const vector_file *mean, tvlm_stack *stack, tvlm_basis **basis) {
    const char *const subject = tool->subject;
    int code = TOOL_DONE;
    if (!is_file(options)) {
        code = make(tool, options, queries, mean, stack, basis);
    } else {
        tool->subject = options->name;
        if (*basis == NULL) code = tool_status(tool, tvlm_basis_load(options->name, &tool->log, basis));
    }
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_stack_embed(stack, 0, *basis));
    return tool_back_to(tool, subject, code);
}
