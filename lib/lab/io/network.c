/* SPDX-License-Identifier: Apache-2.0 */
#include "texturevlm/lab/io_network.h"

#include <cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "io/named.h"
#include "io/names.h"
#include "texturevlm/io.h"

#define FORMAT_NAME "texturevlm.network"

/* A network that was read. Its weights are those of the file, which is kept. */
typedef struct network_file {
    tvlm_network view; /* first, so that a pointer to it is also one to the whole struct */
    tvlm_safetensors *file;
    cJSON *list; /* the list of the layers */
    char *names; /* the names of the outputs, with zeros between them */
    int32_t inputs[TVLM_NETWORK_INPUTS_MAX];
    const char *outputs[TVLM_NETWORK_OUTPUTS_MAX];
    tvlm_network_layer layers[TVLM_NETWORK_LAYERS_MAX];
} network_file;

/* ---- Metadata ---- */

static tvlm_status read_text(const tvlm_io_named *from, const network_file *made, const char *key,
                             const char **text) {
    *text = tvlm_safetensors_metadata(made->file, key);
    if (*text != NULL) return TVLM_OK;
    return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: its metadata lacks '%s'", from->path, key);
}

static tvlm_status read_inputs(const tvlm_io_named *from, network_file *made) {
    const char *names;
    TVLM_TRY(read_text(from, made, "inputs", &names));
    made->view.inputs = made->inputs;
    made->view.input_count = tvlm_io_count_names(names);
    if (made->view.input_count > TVLM_NETWORK_INPUTS_MAX)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: a network of %d inputs; 1 to %d are possible",
                         from->path, (int)made->view.input_count, TVLM_NETWORK_INPUTS_MAX);
    return tvlm_io_read_names(from->path, NULL, from->log, names, made->inputs);
}

static tvlm_status read_outputs(const tvlm_io_named *from, network_file *made) {
    const char *names;
    TVLM_TRY(read_text(from, made, "outputs", &names));
    const int32_t count = tvlm_io_count_names(names);
    if (count > TVLM_NETWORK_OUTPUTS_MAX)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: a network of %d outputs; 1 to %d are possible",
                         from->path, (int)count, TVLM_NETWORK_OUTPUTS_MAX);
    made->view.outputs = made->outputs;
    made->view.output_count = count;
    made->names = tvlm_allocate(strlen(names) + 1, 1);
    if (made->names == NULL)
        return tvlm_fail(from->log, TVLM_ERROR_MEMORY, "%s: no memory for its names", from->path);
    memcpy(made->names, names, strlen(names) + 1);
    char *name = made->names;
    for (int32_t i = 0; i < count; ++i) {
        made->outputs[i] = name;
        name += strcspn(name, ",");
        *name++ = '\0';
    }
    return TVLM_OK;
}

/* ---- Layers ---- */

static tvlm_status bad_item(const tvlm_io_named *from, int32_t number, const char *what) {
    return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: item %d of its layers %s", from->path, (int)number,
                     what);
}

/* Refuses members that are not known here, such as "dilation": if they were ignored, the network would be
 * another one. */
static tvlm_status check_members(const tvlm_io_named *from, const cJSON *item, int32_t number, bool conv) {
    static const char *const known[] = {"type", "name", "stride", "padding"};
    const cJSON *member;
    cJSON_ArrayForEach(member, item) {
        bool found = false;
        for (int i = 0; i < (conv ? 4 : 1); ++i) found = found || strcmp(member->string, known[i]) == 0;
        if (found) continue;
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT,
                         "%s: item %d of its layers has the unknown member '%.40s'", from->path, (int)number,
                         member->string);
    }
    return TVLM_OK;
}

/* Returns a whole number of an item, or `otherwise` if the item has no member of that name. It is -1 if the
 * member is not a whole number from 0 to 10^6. */
static int32_t read_number(const cJSON *item, const char *name, int32_t otherwise) {
    const cJSON *const number = cJSON_GetObjectItemCaseSensitive(item, name);
    if (number == NULL) return otherwise;
    if (!cJSON_IsNumber(number) || !(number->valuedouble >= 0.0 && number->valuedouble <= 1e6)) return -1;
    const int32_t value = (int32_t)number->valuedouble;
    return (double)value == number->valuedouble ? value : -1;
}

/* Finds a tensor of floats by the name of its layer and its own name. *tensor is NULL if there is none. */
static tvlm_status find_tensor(const tvlm_io_named *from, const network_file *made, const char *layer,
                               const char *own, const tvlm_tensor **tensor) {
    char name[256];
    snprintf(name, sizeof name, "%.200s.%s", layer, own);
    *tensor = tvlm_safetensors_find(made->file, name);
    if (*tensor == NULL || (*tensor)->type == TVLM_ELEMENT_F32) return TVLM_OK;
    return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: '%s' is %s, not float32", from->path, name,
                     tvlm_element_name((*tensor)->type));
}

/* Fills in the arrays of a layer, and the numbers that follow from their shapes. */
static tvlm_status read_tensors(const tvlm_io_named *from, const network_file *made, const char *name,
                                tvlm_network_layer *layer) {
    const tvlm_tensor *weight, *bias;
    TVLM_TRY(find_tensor(from, made, name, "weight", &weight));
    TVLM_TRY(find_tensor(from, made, name, "bias", &bias));
    if (weight == NULL)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: there is no tensor '%.200s.weight'", from->path,
                         name);
    const int64_t *const shape = weight->shape;
    if (weight->rank != 4 || shape[0] > TVLM_NETWORK_HIDDEN_MAX || shape[1] > TVLM_NETWORK_HIDDEN_MAX ||
        shape[2] != shape[3] || (shape[2] != 1 && shape[2] != 3))
        return tvlm_fail(
            from->log, TVLM_ERROR_FORMAT,
            "%s: '%.200s.weight' is not of shape [outputs, inputs, 1, 1] or [.., .., 3, 3], with at most "
            "%d channels",
            from->path, name, TVLM_NETWORK_HIDDEN_MAX);
    if (bias != NULL && (bias->rank != 1 || bias->shape[0] != shape[0]))
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT,
                         "%s: '%.200s.bias' is not one number for each of %d outputs", from->path, name,
                         (int)shape[0]);
    layer->outputs = (int32_t)shape[0];
    layer->inputs = (int32_t)shape[1];
    layer->side = (int32_t)shape[2];
    layer->weights = weight->data;
    layer->bias = bias != NULL ? bias->data : NULL;
    return TVLM_OK;
}

static tvlm_status read_convolution(const tvlm_io_named *from, network_file *made, const cJSON *item,
                                    int32_t number) {
    const cJSON *const name = cJSON_GetObjectItemCaseSensitive(item, "name");
    if (!cJSON_IsString(name)) return bad_item(from, number, "is a convolution without a name");
    if (made->view.layer_count == TVLM_NETWORK_LAYERS_MAX)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: it has more than %d convolutions", from->path,
                         TVLM_NETWORK_LAYERS_MAX);
    tvlm_network_layer *const layer = &made->layers[made->view.layer_count++];
    TVLM_TRY(read_tensors(from, made, name->valuestring, layer));
    layer->stride = read_number(item, "stride", 1);
    if (layer->stride != 1 && layer->stride != 2)
        return bad_item(from, number, "has a stride that is neither 1 nor 2");
    if (read_number(item, "padding", 0) != layer->side / 2)
        return bad_item(from, number,
                        layer->side == 3 ? "has a kernel of 3x3, and a padding that is not 1"
                                         : "has a kernel of 1x1, and a padding that is not 0");
    return TVLM_OK;
}

static tvlm_status read_activation(const tvlm_io_named *from, network_file *made, tvlm_activation activation,
                                   int32_t number, bool follows) {
    if (!follows) return bad_item(from, number, "is an activation that does not follow a convolution");
    made->layers[made->view.layer_count - 1].activation = activation;
    return TVLM_OK;
}

/* Reads one item of the list. *follows says whether the item before it was a convolution, and then whether
 * this one is. */
static tvlm_status read_layer(const tvlm_io_named *from, network_file *made, const cJSON *item,
                              int32_t number, bool *follows) {
    const cJSON *const type = cJSON_GetObjectItemCaseSensitive(item, "type");
    if (!cJSON_IsString(type)) return bad_item(from, number, "is no object with a type");
    const bool conv = strcmp(type->valuestring, "conv") == 0, relu = strcmp(type->valuestring, "relu") == 0,
               sigmoid = strcmp(type->valuestring, "sigmoid") == 0;
    if (!conv && !relu && !sigmoid)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT,
                         "%s: item %d of its layers is a '%.40s'; conv, relu and sigmoid are known",
                         from->path, (int)number, type->valuestring);
    TVLM_TRY(check_members(from, item, number, conv));
    const bool follows_conv = *follows;
    *follows = conv;
    if (conv) return read_convolution(from, made, item, number);
    return read_activation(from, made, relu ? TVLM_ACTIVATION_RELU : TVLM_ACTIVATION_SIGMOID, number,
                           follows_conv);
}

static tvlm_status read_layers(const tvlm_io_named *from, network_file *made) {
    const char *text;
    const cJSON *item;
    int32_t number = 0;
    bool follows = false;
    TVLM_TRY(read_text(from, made, "layers", &text));
    made->list = cJSON_Parse(text);
    if (!cJSON_IsArray(made->list))
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: its 'layers' are not a list of JSON", from->path);
    made->view.layers = made->layers;
    cJSON_ArrayForEach(item, made->list) TVLM_TRY(read_layer(from, made, item, number++, &follows));
    return TVLM_OK;
}

/* ---- The handle ---- */

static tvlm_status parse(const tvlm_io_named *from, network_file *made) {
    const tvlm_log log = tvlm_io_naming(from);
    const char *const format = tvlm_safetensors_metadata(made->file, "format");
    if (format == NULL || strcmp(format, FORMAT_NAME) != 0)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT,
                         "%s: is not a network (its metadata lacks format = %s)", from->path, FORMAT_NAME);
    TVLM_TRY(read_inputs(from, made));
    TVLM_TRY(read_outputs(from, made));
    TVLM_TRY(
        tvlm_io_read_level(from->path, from->log, made->file, TVLM_NETWORK_LEVEL_MAX, &made->view.level));
    TVLM_TRY(read_layers(from, made));
    const tvlm_status status = tvlm_network_check(&made->view, &log);
    return status == TVLM_ERROR_ARGUMENT ? TVLM_ERROR_FORMAT : status;
}

tvlm_status tvlm_network_load(const char *path, const tvlm_log *log, tvlm_network **network) {
    const tvlm_io_named from = {path, log};
    if (path == NULL || network == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_network_load: path or network is NULL");
    network_file *const made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "%s: no memory for a network", path);
    tvlm_network *view = &made->view;
    tvlm_status status = tvlm_safetensors_read(path, log, &made->file);
    if (status == TVLM_OK) status = parse(&from, made);
    cJSON_Delete(made->list);
    made->list = NULL;
    if (status == TVLM_OK)
        *network = view;
    else
        tvlm_network_destroy(&view);
    return status;
}

void tvlm_network_destroy(tvlm_network **network) {
    if (network == NULL || *network == NULL) return;
    network_file *const made = (network_file *)(void *)*network;
    tvlm_safetensors_destroy(&made->file);
    free(made->names);
    free(made);
    *network = NULL;
}

/* ---- Writing ---- */

/* A network that is being written to a file. */
typedef struct writing {
    const tvlm_network *network;
    tvlm_tensor tensors[2 * TVLM_NETWORK_LAYERS_MAX];
    int32_t count;
    char names[2 * TVLM_NETWORK_LAYERS_MAX][24]; /* the names of the tensors */
    char *inputs;
    char outputs[TVLM_NETWORK_OUTPUTS_MAX * TVLM_CHANNEL_NAME_SIZE];
    char level[16];
    char layers[TVLM_NETWORK_LAYERS_MAX * 96];
} writing;

static void add_tensor(writing *w, int32_t item, const char *own, int32_t rank,
                       const tvlm_network_layer *layer, const float *data) {
    char *const name = w->names[w->count];
    snprintf(name, sizeof w->names[0], "%d.%s", (int)item, own);
    w->tensors[w->count++] = (tvlm_tensor){.name = name,
                                           .type = TVLM_ELEMENT_F32,
                                           .rank = rank,
                                           .shape = {layer->outputs, layer->inputs, layer->side, layer->side},
                                           .data = data};
}

static void add_layers(writing *w) {
    static const char *const activations[] = {"", ", {\"type\": \"relu\"}", ", {\"type\": \"sigmoid\"}"};
    size_t length = 0;
    for (int32_t i = 0, item = 0; i < w->network->layer_count; ++i) {
        const tvlm_network_layer *const layer = &w->network->layers[i];
        add_tensor(w, item, "weight", 4, layer, layer->weights);
        if (layer->bias != NULL) add_tensor(w, item, "bias", 1, layer, layer->bias);
        length += (size_t)snprintf(
            w->layers + length, sizeof w->layers - length,
            "%s{\"type\": \"conv\", \"name\": \"%d\", \"stride\": %d, \"padding\": %d}%s", i > 0 ? ", " : "[",
            (int)item, (int)layer->stride, (int)(layer->side / 2), activations[layer->activation]);
        item += layer->activation == TVLM_ACTIVATION_NONE ? 1 : 2;
    }
    snprintf(w->layers + length, sizeof w->layers - length, "]");
}

static void join_outputs(writing *w) {
    size_t length = 0;
    for (int32_t i = 0; i < w->network->output_count; ++i)
        length += (size_t)snprintf(w->outputs + length, sizeof w->outputs - length, "%s%s", i > 0 ? "," : "",
                                   w->network->outputs[i]);
}

static tvlm_status write_network(const tvlm_io_named *to, writing *w) {
    const tvlm_network *const network = w->network;
    TVLM_TRY(tvlm_io_join_names(to->path, to->log, network->inputs, network->input_count, &w->inputs));
    join_outputs(w);
    add_layers(w);
    snprintf(w->level, sizeof w->level, "%d", (int)network->level);
    const tvlm_metadata metadata[] = {{"format", FORMAT_NAME},
                                      {"inputs", w->inputs},
                                      {"outputs", w->outputs},
                                      {"level", w->level},
                                      {"layers", w->layers}};
    return tvlm_safetensors_write(to->path, w->tensors, w->count, metadata, 5, to->log);
}

tvlm_status tvlm_network_save(const char *path, const tvlm_network *network, const tvlm_log *log) {
    const tvlm_io_named to = {path, log};
    const tvlm_log named = tvlm_io_naming(&to);
    if (path == NULL || network == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_network_save: path or network is NULL");
    TVLM_TRY(tvlm_network_check(network, &named));
    writing *const w = tvlm_allocate(1, sizeof *w);
    if (w == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "%s: no memory to write a network", path);
    w->network = network;
    const tvlm_status status = write_network(&to, w);
    free(w->inputs);
    free(w);
    return status;
}
