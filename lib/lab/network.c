/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c: checks networks, copies them, and says what they read, make and take.
 */
#include "lab/network.h"

#include <math.h>
#include <sha2.h>
#include <string.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"

_Static_assert((int)TVLM_ACTIVATION_RELU == TVLM_NETWORK_RELU &&
                   (int)TVLM_ACTIVATION_SIGMOID == TVLM_NETWORK_SIGMOID,
               "kernels know the activations by number");
_Static_assert(TVLM_NETWORK_INPUTS_MAX == TVLM_LEARNED_INPUTS_MAX &&
                   TVLM_NETWORK_OUTPUTS_MAX == TVLM_LEARNED_MAX,
               "the core has room for all inputs and outputs");

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

tvlm_learned tvlm_network_describe(const tvlm_network *network) {
    tvlm_learned learned = {.inputs = network->inputs,
                            .input_count = network->input_count,
                            .outputs = network->outputs,
                            .output_count = network->output_count,
                            .level = network->level,
                            .span = 1};
    for (int32_t i = 0; i < network->layer_count; ++i) learned.span *= network->layers[i].stride;
    learned.bounded = network->layers[network->layer_count - 1].activation == TVLM_ACTIVATION_SIGMOID;
    return learned;
}

float tvlm_network_limit(tvlm_format format) {
    return format == TVLM_FORMAT_F32 ? TVLM_NETWORK_LIMIT : TVLM_NETWORK_LIMIT_HALF;
}

/* The most bytes that the results of two successive layers take together for one image, at value_bytes bytes
 * a value. */
static double between_layers(const tvlm_network *network, const tvlm_learned_size *size, double value_bytes) {
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

/* How many bytes the weights and biases take on a device, where outputs are in vectors of up to 16. */
static double weight_bytes(const tvlm_network *network) {
    double floats = 0.0;
    for (int32_t i = 0; i < network->layer_count; ++i) {
        const tvlm_network_layer *const layer = &network->layers[i];
        floats += ((layer->outputs + 15) / 16 * 16) * (layer->inputs * (layer->side * layer->side) + 1.0);
    }
    return floats * sizeof(float);
}

/* The reference works in doubles, one image after the other, and reads the weights where they are. */
double tvlm_network_work(const tvlm_network *network, const tvlm_learned_size *size, int32_t images,
                         bool reference) {
    if (reference) return between_layers(network, size, sizeof(double));
    return fmin(images * between_layers(network, size, sizeof(float)), TVLM_NETWORK_WORK) +
           weight_bytes(network);
}

static void add(SHA2_CTX *hash, const void *bytes, size_t count) {
    const uint64_t length = count;
    SHA256Update(hash, (const uint8_t *)&length, sizeof length);
    SHA256Update(hash, bytes, count);
}

void tvlm_network_digest(const tvlm_network *network, uint8_t digest[32]) {
    const int32_t numbers[4] = {network->level, network->input_count, network->output_count,
                                network->layer_count};
    SHA2_CTX hash;
    SHA256Init(&hash);
    add(&hash, numbers, sizeof numbers);
    add(&hash, network->inputs, (size_t)network->input_count * sizeof *network->inputs);
    for (int32_t i = 0; i < network->output_count; ++i)
        add(&hash, network->outputs[i], strlen(network->outputs[i]));
    for (int32_t i = 0; i < network->layer_count; ++i) {
        const tvlm_network_layer *const layer = &network->layers[i];
        const int32_t shape[6] = {
            layer->inputs,      layer->outputs, layer->side, layer->stride, (int32_t)layer->activation,
            layer->bias != NULL};
        add(&hash, shape, sizeof shape);
        add(&hash, layer->weights, tvlm_layer_weights(layer) * sizeof *layer->weights);
        if (layer->bias != NULL) add(&hash, layer->bias, (size_t)layer->outputs * sizeof *layer->bias);
    }
    SHA256Final(digest, &hash);
}
