/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.c: a network: each layer is the sum in the definition of nn.Conv2d, and then its activation.
 */
#include <math.h>

#include "core/memory.h"
#include "core/try.h"
#include "lab/network.h"
#include "lab/operations.h"
#include "reference/reference.h"
#include "reference/texture.h"

/* What lies between two layers: values[(c * height + y) * width + x]. */
typedef struct maps {
    int32_t width, height, channels;
    double *values;
} maps;

static size_t place_of(const maps *m, int32_t c, int32_t y, int32_t x) {
    return ((size_t)c * (size_t)m->height + (size_t)y) * (size_t)m->width + (size_t)x;
}

static tvlm_status allocate(const tvlm_device *device, maps *m) {
    m->values = tvlm_allocate((size_t)m->channels * (size_t)m->height, (size_t)m->width * sizeof *m->values);
    if (m->values != NULL) return TVLM_OK;
    return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a network's layers of %dx%d",
                     (int)m->width, (int)m->height);
}

/* One output of a layer at (x, y), before its activation. Beyond the border the inputs are 0. */
static double convolve(const tvlm_network_layer *layer, const maps *in, int32_t output, int32_t y,
                       int32_t x) {
    const int32_t side = layer->side, border = side / 2;
    double sum = layer->bias != NULL ? (double)layer->bias[output] : 0.0;
    for (int32_t c = 0; c < layer->inputs; ++c)
        for (int32_t v = 0; v < side; ++v)
            for (int32_t u = 0; u < side; ++u) {
                const int32_t row = y * layer->stride + v - border, column = x * layer->stride + u - border;
                if (row < 0 || row >= in->height || column < 0 || column >= in->width) continue;
                const size_t weight =
                    (((size_t)output * (size_t)layer->inputs + (size_t)c) * (size_t)side + (size_t)v) *
                        (size_t)side +
                    (size_t)u;
                sum += (double)layer->weights[weight] * in->values[place_of(in, c, row, column)];
            }
    return sum;
}

static double activate(tvlm_activation activation, double value) {
    return activation == TVLM_ACTIVATION_RELU      ? fmax(value, 0.0)
           : activation == TVLM_ACTIVATION_SIGMOID ? 1.0 / (1.0 + exp(-value))
                                                   : value;
}

/* Replaces what the layer reads by what it makes. */
static tvlm_status run_layer(const tvlm_device *device, const tvlm_network_layer *layer, maps *between) {
    maps out = {tvlm_layer_side(layer, between->width), tvlm_layer_side(layer, between->height),
                layer->outputs, NULL};
    TVLM_TRY(allocate(device, &out));
    for (int32_t c = 0; c < out.channels; ++c)
        for (int32_t y = 0; y < out.height; ++y)
            for (int32_t x = 0; x < out.width; ++x)
                out.values[place_of(&out, c, y, x)] =
                    activate(layer->activation, convolve(layer, between, c, y, x));
    free(between->values);
    *between = out;
    return TVLM_OK;
}

static void load(const tvlm_texture *inputs, int32_t image, maps *in) {
    for (int32_t c = 0; c < in->channels; ++c)
        for (int32_t y = 0; y < in->height; ++y)
            for (int32_t x = 0; x < in->width; ++x)
                in->values[place_of(in, c, y, x)] = (double)tvlm_reference_fetch(
                    inputs, 0, reference_slice(inputs, image, c / 4), x, y)[c % 4];
}

static void store(const maps *between, int32_t image, tvlm_texture *out) {
    const double limit = (double)tvlm_network_limit(out->format);
    for (int32_t layer = 0; layer < out->layers; ++layer)
        for (int32_t y = 0; y < out->height; ++y)
            for (int32_t x = 0; x < out->width; ++x) {
                double value[4] = {0.0, 0.0, 0.0, 0.0};
                for (int32_t c = 0; c < 4 && 4 * layer + c < between->channels; ++c)
                    value[c] =
                        fmin(fmax(between->values[place_of(between, 4 * layer + c, y, x)], -limit), limit);
                tvlm_reference_store(out, 0, reference_slice(out, image, layer), x, y, value);
            }
}

/* Makes *between the outputs of the network for one image. The caller frees its values, also after an
 * error. */
static tvlm_status run(const tvlm_device *device, const tvlm_network *network, const tvlm_texture *inputs,
                       int32_t image, maps *between) {
    *between = (maps){inputs->width, inputs->height, network->input_count, NULL};
    TVLM_TRY(allocate(device, between));
    load(inputs, image, between);
    for (int32_t i = 0; i < network->layer_count; ++i)
        TVLM_TRY(run_layer(device, &network->layers[i], between));
    return TVLM_OK;
}

tvlm_status tvlm_reference_learned(tvlm_device *device, const tvlm_generate_args *args) {
    tvlm_status status = TVLM_OK;
    if (args->out->parts != NULL) return tvlm_reference_each(device, args, tvlm_reference_learned);
    for (int32_t image = 0; status == TVLM_OK && image < args->out->images; ++image) {
        maps made;
        status = run(device, args->network, args->inputs, image, &made);
        if (status == TVLM_OK) store(&made, image, args->out);
        free(made.values);
    }
    return status;
}

tvlm_status tvlm_reference_network(tvlm_device *device, const tvlm_network *network,
                                   const tvlm_texture *inputs, tvlm_buffer *planes) {
    float *const out = reference_data(planes);
    maps made;
    const tvlm_status status = run(device, network, inputs, 0, &made);
    const size_t count =
        status == TVLM_OK ? (size_t)made.channels * (size_t)made.height * (size_t)made.width : 0;
    for (size_t i = 0; i < count; ++i) out[i] = (float)made.values[i];
    free(made.values);
    return status;
}
