/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c: checks networks, copies them, and knows the size of what they make.
 */
#include "core/network.h"

#include <math.h>
#include <string.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"

_Static_assert((int)TVLM_ACTIVATION_RELU == TVLM_NETWORK_RELU &&
                   (int)TVLM_ACTIVATION_SIGMOID == TVLM_NETWORK_SIGMOID,
               "kernels know the activations by number");

/* ---- Checks ---- */

static tvlm_status check_inputs(const tvlm_network *network, const tvlm_log *log) {
    if (network->input_count < 1 || network->input_count > TVLM_NETWORK_INPUTS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a network of %d inputs; 1 to %d are possible",
                         (int)network->input_count, TVLM_NETWORK_INPUTS_MAX);
    TVLM_NEED(log, network->inputs);
    for (int32_t i = 0; i < network->input_count; ++i) {
        tvlm_channel_info info;
        if (tvlm_channel_get_info(network->inputs[i], &info) != TVLM_OK)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "input %d of the network: there is no channel %d",
                             (int)i, (int)network->inputs[i]);
        for (int32_t j = 0; j < i; ++j)
            if (network->inputs[i] == network->inputs[j])
                return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "inputs of the network: '%s' stands twice",
                                 info.name);
    }
    return TVLM_OK;
}

static tvlm_status check_outputs(const tvlm_network *network, const tvlm_log *log) {
    if (network->output_count < 1 || network->output_count > TVLM_NETWORK_OUTPUTS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a network of %d outputs; 1 to %d are possible",
                         (int)network->output_count, TVLM_NETWORK_OUTPUTS_MAX);
    TVLM_NEED(log, network->outputs);
    for (int32_t i = 0; i < network->output_count; ++i) {
        const char *const name = network->outputs[i];
        if (!tvlm_name_is_allowed(name))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                             "'%.40s' is no name of an output: letters, digits, '_', '-', '.', '@', up to %d",
                             name != NULL ? name : "", TVLM_CHANNEL_NAME_SIZE - 1);
        if (tvlm_name_is_taken(name))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "output '%s' has a name that is the library's own",
                             name);
        for (int32_t j = 0; j < i; ++j)
            if (strcmp(name, network->outputs[j]) == 0)
                return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "two outputs of the network are named '%s'", name);
    }
    return TVLM_OK;
}

static tvlm_status check_weights(const tvlm_log *log, int32_t layer, const char *what, const float *values,
                                 size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (tvlm_wrong_weight(values[i]) != NULL)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "layer %d of the network: number %zu of its %s %s",
                             (int)layer, i, what, tvlm_wrong_weight(values[i]));
    return TVLM_OK;
}

/* `before`: how many channels the layer can read. */
static tvlm_status check_layer(const tvlm_network_layer *layer, int32_t number, int32_t before,
                               const tvlm_log *log) {
    TVLM_CHECK_RESERVED(log, tvlm_network_layer, layer);
    if (layer->side != 1 && layer->side != 3)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "layer %d of the network: a kernel of %dx%d; 1x1 and 3x3 are known", (int)number,
                         (int)layer->side, (int)layer->side);
    if (layer->stride != 1 && layer->stride != 2)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "layer %d of the network: a stride of %d; 1 and 2 are known", (int)number,
                         (int)layer->stride);
    if ((int)layer->activation < TVLM_ACTIVATION_NONE || layer->activation > TVLM_ACTIVATION_SIGMOID)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "layer %d of the network: there is no activation %d",
                         (int)number, (int)layer->activation);
    if (layer->outputs < 1 || layer->outputs > TVLM_NETWORK_HIDDEN_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "layer %d of the network makes %d channels; 1 to %d are possible", (int)number,
                         (int)layer->outputs, TVLM_NETWORK_HIDDEN_MAX);
    if (layer->inputs != before)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "layer %d of the network reads %d channels, but there are %d", (int)number,
                         (int)layer->inputs, (int)before);
    TVLM_NEED(log, layer->weights);
    TVLM_TRY(check_weights(log, number, "weights", layer->weights, tvlm_layer_weights(layer)));
    return layer->bias == NULL ? TVLM_OK
                               : check_weights(log, number, "bias", layer->bias, (size_t)layer->outputs);
}

tvlm_status tvlm_network_check(const tvlm_network *network, const tvlm_log *log) {
    TVLM_NEED(log, network);
    TVLM_CHECK_RESERVED(log, tvlm_network, network);
    TVLM_TRY(check_inputs(network, log));
    TVLM_TRY(check_outputs(network, log));
    if (network->level < 0 || network->level > TVLM_NETWORK_LEVEL_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a network at level %d; 0 to %d are possible",
                         (int)network->level, TVLM_NETWORK_LEVEL_MAX);
    if (network->layer_count < 1 || network->layer_count > TVLM_NETWORK_LAYERS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a network of %d convolutions; 1 to %d are possible",
                         (int)network->layer_count, TVLM_NETWORK_LAYERS_MAX);
    TVLM_NEED(log, network->layers);
    int32_t channels = network->input_count;
    for (int32_t i = 0; i < network->layer_count; ++i) {
        TVLM_TRY(check_layer(&network->layers[i], i, channels, log));
        channels = network->layers[i].outputs;
    }
    if (channels != network->output_count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the last layer of the network makes %d channels, but %d are named", (int)channels,
                         (int)network->output_count);
    return TVLM_OK;
}

/* ---- Copies ---- */

/* The bytes of all floats, names and numbers that a network points to. */
static size_t content_bytes(const tvlm_network *network) {
    size_t floats = 0, letters = 0;
    for (int32_t i = 0; i < network->layer_count; ++i)
        floats += tvlm_layer_weights(&network->layers[i]) + (size_t)network->layers[i].outputs;
    for (int32_t i = 0; i < network->output_count; ++i) letters += strlen(network->outputs[i]) + 1;
    return (size_t)network->layer_count * sizeof *network->layers +
           (size_t)network->output_count * sizeof *network->outputs + floats * sizeof(float) +
           (size_t)network->input_count * sizeof *network->inputs + letters;
}

/* Copies `bytes` to *to, moves that on, and returns where they are. */
static void *append(char **to, const void *from, size_t bytes) {
    void *const at = *to;
    memcpy(at, from, bytes);
    *to += bytes;
    return at;
}

tvlm_network *tvlm_network_copy(const tvlm_network *network) {
    tvlm_network *const copy = tvlm_allocate(1, sizeof *copy + content_bytes(network));
    if (copy == NULL) return NULL;
    /* What needs the widest alignment stands first. */
    char *to = (char *)(copy + 1);
    *copy = *network;
    tvlm_network_layer *const layers =
        append(&to, network->layers, (size_t)network->layer_count * sizeof *layers);
    const char **const outputs =
        append(&to, network->outputs, (size_t)network->output_count * sizeof *outputs);
    for (int32_t i = 0; i < network->layer_count; ++i) {
        const tvlm_network_layer *const from = &network->layers[i];
        layers[i].weights = append(&to, from->weights, tvlm_layer_weights(from) * sizeof(float));
        if (from->bias != NULL)
            layers[i].bias = append(&to, from->bias, (size_t)from->outputs * sizeof(float));
    }
    copy->inputs = append(&to, network->inputs, (size_t)network->input_count * sizeof *network->inputs);
    for (int32_t i = 0; i < network->output_count; ++i)
        outputs[i] = append(&to, network->outputs[i], strlen(network->outputs[i]) + 1);
    copy->layers = layers;
    copy->outputs = outputs;
    return copy;
}

/* ---- What is asked of a network ---- */

tvlm_network_size tvlm_network_size_of(const tvlm_network *network, int32_t width, int32_t height,
                                       int32_t levels) {
    tvlm_network_size size = {.level = network->level < levels ? network->level : levels - 1};
    int32_t span = 1;
    size.width = size.input_width = tvlm_level_side(width, size.level);
    size.height = size.input_height = tvlm_level_side(height, size.level);
    for (int32_t i = 0; i < network->layer_count; ++i) {
        size.width = tvlm_layer_side(&network->layers[i], size.width);
        size.height = tvlm_layer_side(&network->layers[i], size.height);
        span *= network->layers[i].stride;
    }
    size.extent_x = (float)((double)size.width * span * width / size.input_width);
    size.extent_y = (float)((double)size.height * span * height / size.input_height);
    return size;
}

int32_t tvlm_network_find(const tvlm_network *network, const char *name, size_t length) {
    for (int32_t i = 0; i < network->output_count; ++i)
        if (strlen(network->outputs[i]) == length && memcmp(network->outputs[i], name, length) == 0) return i;
    return -1;
}

float tvlm_network_limit(tvlm_format format) {
    return format == TVLM_FORMAT_F32 ? TVLM_NETWORK_LIMIT : TVLM_NETWORK_LIMIT_HALF;
}

double tvlm_network_work(const tvlm_network *network, const tvlm_network_size *size, double value_bytes) {
    double width = size->input_width, height = size->input_height, most = 0.0;
    double before = width * height * network->input_count;
    for (int32_t i = 0; i < network->layer_count; ++i) {
        const tvlm_network_layer *const layer = &network->layers[i];
        width = tvlm_layer_side(layer, (int32_t)width);
        height = tvlm_layer_side(layer, (int32_t)height);
        /* Outputs are in whole vectors of up to 16. */
        const double made = width * height * ((layer->outputs + 15) / 16 * 16);
        most = fmax(most, before + made);
        before = made;
    }
    return most * value_bytes;
}

double tvlm_network_weights(const tvlm_network *network) {
    double floats = 0.0;
    for (int32_t i = 0; i < network->layer_count; ++i) {
        const tvlm_network_layer *const layer = &network->layers[i];
        floats += ((layer->outputs + 15) / 16 * 16) * (layer->inputs * (layer->side * layer->side) + 1.0);
    }
    return floats * sizeof(float);
}

bool tvlm_network_is_bounded(const tvlm_network *network) {
    return network->layers[network->layer_count - 1].activation == TVLM_ACTIVATION_SIGMOID;
}
