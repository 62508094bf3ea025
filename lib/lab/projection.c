/* SPDX-License-Identifier: Apache-2.0 */
/*
 * projection.c: linear maps from channels to vectors: what they consist of, and their use.
 */
#include "texturevlm/lab/projection.h"

#include <math.h>
#include <string.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/stack.h"

/* The pointers in `params` point into the members that follow. The projection owns its basis. */
struct tvlm_projection {
    struct tvlm_projection_params params;
    tvlm_basis *basis;
    int32_t channels[];
};

/* ---- Creating a projection ---- */

/* Returns the index of the component of the embedding that a channel is, or -1 if it is none. */
static int32_t embedded(int32_t channel) {
    const int32_t low = channel - TVLM_CHANNEL_EMBEDDING_0, high = channel - TVLM_CHANNEL_EMBEDDING_16;
    if (low >= 0 && low < 16) return low;
    return high >= 0 && high < TVLM_EMBEDDING_MAX - 16 ? 16 + high : -1;
}

static tvlm_status check_channels(const struct tvlm_projection_params *p, const tvlm_log *log) {
    struct tvlm_basis_params basis = {.k = TVLM_EMBEDDING_MAX};
    tvlm_channel_info info;
    if (p->basis != NULL) (void)tvlm_basis_get_params(p->basis, &basis);
    if (basis.k > TVLM_EMBEDDING_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the basis of a projection has %d components; at most %d are possible", (int)basis.k,
                         TVLM_EMBEDDING_MAX);
    for (int32_t i = 0; i < p->channel_count; ++i) {
        if (tvlm_channel_get_info(p->channels[i], &info) != TVLM_OK)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no channel %d", (int)p->channels[i]);
        if (embedded(p->channels[i]) >= basis.k)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                             "a projection reads %s, and its basis has %d components", info.name,
                             (int)basis.k);
        for (int32_t other = 0; other < i; ++other)
            if (p->channels[other] == p->channels[i])
                return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s stands twice in a projection", info.name);
    }
    return TVLM_OK;
}

static tvlm_status check(const struct tvlm_projection_params *p, const tvlm_log *log) {
    if (p->channel_count < 1 || p->channel_count > TVLM_PROJECTION_INPUTS_MAX || p->outputs < 1 ||
        p->outputs > TVLM_PROJECTION_OUTPUTS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a projection of %d channels to %d numbers",
                         (int)p->channel_count, (int)p->outputs);
    TVLM_NEED(log, p->channels);
    TVLM_NEED(log, p->weights);
    TVLM_TRY(check_channels(p, log));
    const size_t count = (size_t)p->outputs * (size_t)p->channel_count;
    for (size_t i = 0; i < count; ++i)
        if (tvlm_wrong_weight(p->weights[i]) != NULL)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "weight %zu of a projection %s", i,
                             tvlm_wrong_weight(p->weights[i]));
    for (int32_t i = 0; p->bias != NULL && i < p->outputs; ++i)
        if (tvlm_wrong_weight(p->bias[i]) != NULL)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "bias %d of a projection %s", (int)i,
                             tvlm_wrong_weight(p->bias[i]));
    return TVLM_OK;
}

static tvlm_status copy_basis(const tvlm_basis *from, const tvlm_log *log, tvlm_basis **to) {
    struct tvlm_basis_params params;
    if (from == NULL) return TVLM_OK;
    TVLM_TRY(tvlm_basis_get_params(from, &params));
    return tvlm_basis_create(&params, log, to);
}

tvlm_status tvlm_projection_create(const struct tvlm_projection_params *params, const tvlm_log *log,
                                   tvlm_projection **projection) {
    TVLM_NEED(log, params);
    TVLM_NEED(log, projection);
    TVLM_CHECK_RESERVED(log, tvlm_projection_params, params);
    TVLM_TRY(check(params, log));
    const size_t channels = (size_t)params->channel_count, outputs = (size_t)params->outputs;
    tvlm_projection *made = tvlm_allocate(1, sizeof *made + channels * sizeof *made->channels +
                                                 outputs * (channels + 1) * sizeof(float));
    if (made == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a projection of %zu channels to %zu numbers",
                         channels, outputs);
    float *const weights = (float *)(made->channels + channels), *const bias = weights + outputs * channels;
    memcpy(made->channels, params->channels, channels * sizeof *made->channels);
    memcpy(weights, params->weights, outputs * channels * sizeof *weights);
    if (params->bias != NULL) memcpy(bias, params->bias, outputs * sizeof *bias);
    const tvlm_status status = copy_basis(params->basis, log, &made->basis);
    if (status != TVLM_OK) {
        free(made);
        return status;
    }
    made->params = *params;
    made->params.channels = made->channels;
    made->params.weights = weights;
    made->params.bias = bias;
    made->params.basis = made->basis;
    *projection = made;
    return TVLM_OK;
}

void tvlm_projection_destroy(tvlm_projection **projection) {
    if (projection == NULL || *projection == NULL) return;
    tvlm_basis_destroy(&(*projection)->basis);
    free(*projection);
    *projection = NULL;
}

tvlm_status tvlm_projection_get_params(const tvlm_projection *projection,
                                       struct tvlm_projection_params *params) {
    TVLM_NEED(NULL, projection);
    TVLM_NEED(NULL, params);
    *params = projection->params;
    return TVLM_OK;
}

/* ---- Using a projection ---- */

/* Refuses an image that has no input for one of the channels: its vectors would be made from zeros. */
static tvlm_status check_inputs(const tvlm_projection *p, const tvlm_stack *stack, int32_t index) {
    tvlm_channel_info lacking;
    TVLM_TRY(tvlm_stack_find_lacking(stack, index, p->params.channels, p->params.channel_count, &lacking));
    if (lacking.channel == TVLM_CHANNEL_NONE) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                     "the projection reads %s, for which image %d has no input", lacking.name, (int)index);
}

/* Embeds the features of an image if there is a basis, and checks that the image has an input for each
 * channel. */
static tvlm_status prepare_image(const tvlm_projection *p, tvlm_stack *stack, int32_t index) {
    if (p->basis != NULL) TVLM_TRY(tvlm_stack_embed(stack, index, p->basis));
    return check_inputs(p, stack, index);
}

/* Prepares each image that has a point, once. */
static tvlm_status prepare(const tvlm_projection *p, tvlm_stack *stack, const tvlm_sample_point *points,
                           int32_t count) {
    tvlm_stack_info info;
    TVLM_TRY(tvlm_stack_get_info(stack, &info));
    bool *const prepared = tvlm_allocate((size_t)info.images, sizeof *prepared);
    if (prepared == NULL)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for %d images",
                         (int)info.images);
    tvlm_status status = TVLM_OK;
    for (int32_t i = 0; i < count && status == TVLM_OK; ++i) {
        if (prepared[points[i].index]) continue;
        prepared[points[i].index] = true;
        status = prepare_image(p, stack, points[i].index);
    }
    free(prepared);
    return status;
}

/* Computes out = values * weights' + bias. The device computes the product. */
static tvlm_status multiply(const tvlm_projection *p, tvlm_stack *stack, const float *values, int32_t count,
                            float *out) {
    const int32_t channels = p->params.channel_count, outputs = p->params.outputs;
    const size_t rows = (size_t)count, in = rows * (size_t)channels * sizeof(float),
                 weights = (size_t)outputs * (size_t)channels * sizeof(float),
                 made = rows * (size_t)outputs * sizeof(float);
    tvlm_device *const device = tvlm_stack_device(stack);
    tvlm_gemm product = {.m = count,
                         .n = outputs,
                         .k = channels,
                         .transpose_b = true,
                         .lda = channels,
                         .ldb = channels,
                         .ldc = outputs,
                         .alpha = 1.0f};
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_POINTS, in, &product.a));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_QUERIES, weights, &product.b));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_SAMPLES, made, &product.c));
    TVLM_TRY(device->backend->buffer_write(device, product.a, 0, in, values));
    TVLM_TRY(device->backend->buffer_write(device, product.b, 0, weights, p->params.weights));
    TVLM_TRY(device->backend->gemm(device, &product));
    TVLM_TRY(device->backend->buffer_read(device, product.c, 0, made, out));
    for (size_t i = 0; i < rows * (size_t)outputs; ++i) out[i] += p->params.bias[i % (size_t)outputs];
    return TVLM_OK;
}

tvlm_status tvlm_projection_apply(const tvlm_projection *projection, tvlm_stack *stack,
                                  const tvlm_sample_point *points, int32_t count, size_t capacity,
                                  float *out) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    const tvlm_log *const log = tvlm_stack_log(stack);
    TVLM_NEED(log, projection);
    if (count < 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d points", (int)count);
    if (count == 0) return TVLM_OK;
    TVLM_NEED(log, points);
    TVLM_NEED(log, out);
    const struct tvlm_projection_params *const p = &projection->params;
    if (capacity / (size_t)p->outputs < (size_t)count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "room for %zu numbers; there are %d x %d", capacity,
                         (int)count, (int)p->outputs);
    for (int32_t i = 0; i < count; ++i) TVLM_TRY(tvlm_stack_check_index(stack, points[i].index));
    TVLM_TRY(prepare(projection, stack, points, count));
    float *const values = tvlm_allocate((size_t)count, (size_t)p->channel_count * sizeof *values);
    if (values == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %d points", (int)count);
    tvlm_status status = tvlm_stack_sample(stack, points, count, p->channels, p->channel_count, values);
    if (status == TVLM_OK) status = multiply(projection, stack, values, count, out);
    free(values);
    return status;
}
