/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks as files: what a file says is what is loaded, and what is no network is refused with a line that says why.
 */
#include <math.h>

#include "io_helper.h"
#include "network_helper.h"
#include "texturevlm/io_scorer.h"
#include "texturevlm/lab/io_network.h"

static float values[4 * 3 * 9 + 8];

/* A file of one's own making: at most five tensors, and the metadata (NULL: not there). */
typedef struct file {
    tvlm_tensor tensors[5];
    int32_t count;
    const char *format, *inputs, *outputs, *level, *layers;
} file;

static tvlm_tensor weight(const char *name, int64_t outputs, int64_t inputs, int64_t side) {
    return (tvlm_tensor){.name = name,
                         .type = TVLM_ELEMENT_F32,
                         .rank = 4,
                         .shape = {outputs, inputs, side, side},
                         .data = values};
}

static tvlm_tensor bias(const char *name, int64_t outputs) {
    return (tvlm_tensor){
        .name = name, .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {outputs}, .data = values + 1};
}

static file good(void) {
    return (file){.tensors = {weight("0.weight", 4, 3, 3), bias("0.bias", 4), weight("2.weight", 2, 4, 1)},
                  .count = 3,
                  .format = "texturevlm.network",
                  .inputs = "r,edges,saliency",
                  .outputs = "thing,stuff",
                  .level = "2",
                  .layers =
                      "[{\"type\":\"conv\",\"name\":\"0\",\"stride\":2,\"padding\":1},{\"type\":\"relu\"},"
                      "{\"type\":\"conv\",\"name\":\"2\"},{\"type\":\"sigmoid\"}]"};
}

static tvlm_status load(const file *made, tvlm_network **network) {
    const tvlm_metadata all[] = {{"format", made->format},
                                 {"inputs", made->inputs},
                                 {"outputs", made->outputs},
                                 {"level", made->level},
                                 {"layers", made->layers}};
    tvlm_metadata metadata[5];
    int32_t count = 0;
    for (int i = 0; i < 5; ++i)
        if (all[i].value != NULL) metadata[count++] = all[i];
    io_expect(tvlm_safetensors_write(io_path("n.safetensors"), made->tensors, made->count, metadata, count,
                                     &io_log),
              TVLM_OK, NULL);
    return tvlm_network_load(io_path("n.safetensors"), &io_log, network);
}

static void refuse(const file *made, const char *words) {
    tvlm_network *network = NULL;
    const tvlm_status status = load(made, &network);
    assert_non_null(strstr(io_logged, "n.safetensors"));
    io_expect(status, TVLM_ERROR_FORMAT, words);
    assert_null(network);
}

static void loads(void **state) {
    file made = good();
    tvlm_network *network = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) values[i] = (float)i;
    io_expect(load(&made, &network), TVLM_OK, NULL);
    assert_true(network->level == 2 && network->input_count == 3 && network->output_count == 2);
    assert_true(network->inputs[0] == 0 && network->inputs[1] == TVLM_CHANNEL_EDGES &&
                network->inputs[2] == TVLM_CHANNEL_SALIENCY);
    assert_string_equal(network->outputs[0], "thing");
    assert_string_equal(network->outputs[1], "stuff");
    assert_int_equal(network->layer_count, 2);
    const tvlm_network_layer *const layers = network->layers;
    assert_true(layers[0].inputs == 3 && layers[0].outputs == 4 && layers[0].side == 3 &&
                layers[0].stride == 2 && layers[0].activation == TVLM_ACTIVATION_RELU);
    assert_true(layers[1].inputs == 4 && layers[1].outputs == 2 && layers[1].side == 1 &&
                layers[1].stride == 1 && layers[1].activation == TVLM_ACTIVATION_SIGMOID);
    assert_memory_equal(layers[0].weights, values, 4 * 3 * 9 * sizeof *values);
    assert_memory_equal(layers[0].bias, values + 1, 4 * sizeof *values);
    assert_null(layers[1].bias);
    tvlm_network_destroy(&network);
    assert_null(network);
    tvlm_network_destroy(&network);
    tvlm_network_destroy(NULL);
    /* What is optional. */
    made.level = NULL;
    made.layers = "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1},{\"type\":\"conv\",\"name\":\"2\"}]";
    io_expect(load(&made, &network), TVLM_OK, NULL);
    assert_true(network->level == 0 && network->layers[0].activation == TVLM_ACTIVATION_NONE);
    tvlm_network_destroy(&network);
}

static void refuses_other_metadata(void **state) {
    file made = good();
    (void)state;
#define WITH(MEMBER, VALUE, WORDS)                                                                           \
    do {                                                                                                     \
        made = good();                                                                                       \
        made.MEMBER = VALUE;                                                                                 \
        refuse(&made, WORDS);                                                                                \
    } while (0)
    WITH(format, NULL, "is not a network (its metadata lacks format = texturevlm.network)");
    WITH(format, "texturevlm.scorer", "is not a network");
    WITH(inputs, NULL, "its metadata lacks 'inputs'");
    WITH(inputs, "r,edges,blue", "there is no channel 'blue'");
    WITH(inputs, "r,g,r", "the channel 'r' stands twice");
    WITH(inputs, "r,g", "reads 3 channels, but there are 2");
    WITH(
        inputs,
        "r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,"
        "r,r,r,r,r,r,r,r,r,r",
        "a network of 65 inputs");
    WITH(outputs, NULL, "its metadata lacks 'outputs'");
    WITH(outputs, "thing,thing", "two outputs of the network are named 'thing'");
    WITH(outputs, "thing,edges", "'edges' has a name that is the library's own");
    WITH(outputs, "thing,", "'' is no name of an output");
    WITH(outputs, "thing", "makes 2 channels, but 1 are named");
    WITH(outputs, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,A,B,C,D,E,F,G",
         "a network of 33 outputs");
    WITH(level, "16", "level = 16");
    WITH(level, "-1", "level = -1");
    WITH(level, "1.5", "level = 1.5");
    WITH(level, "", "level = ");
    WITH(layers, NULL, "its metadata lacks 'layers'");
}

static void refuses_other_layers(void **state) {
    file made;
    (void)state;
    WITH(layers, "", "its 'layers' are not a list");
    WITH(layers, "[{\"type\":", "its 'layers' are not a list");
    WITH(layers, "{\"type\":\"conv\"}", "its 'layers' are not a list");
    WITH(layers, "[]", "a network of 0 convolutions");
    WITH(layers, "[3]", "item 0 of its layers is no object with a type");
    WITH(layers, "[{\"type\":7}]", "item 0 of its layers is no object with a type");
    WITH(layers, "[{\"type\":\"batchnorm\"}]",
         "item 0 of its layers is a 'batchnorm'; conv, relu and sigmoid are known");
    WITH(layers, "[{\"type\":\"relu\"}]",
         "item 0 of its layers is an activation that does not follow a convolution");
    WITH(layers,
         "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1},{\"type\":\"relu\"},{\"type\":\"sigmoid\"}]",
         "item 2 of its layers is an activation that does not follow");
    WITH(layers, "[{\"type\":\"conv\"}]", "item 0 of its layers is a convolution without a name");
    WITH(layers, "[{\"type\":\"conv\",\"name\":\"9\"}]", "there is no tensor '9.weight'");
    WITH(layers, "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1,\"dilation\":2}]",
         "the unknown member 'dilation'");
    WITH(layers, "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1},{\"type\":\"relu\",\"name\":\"1\"}]",
         "item 1 of its layers has the unknown member 'name'");
    WITH(layers, "[{\"type\":\"conv\",\"name\":\"0\"}]", "a kernel of 3x3, and a padding that is not 1");
    WITH(layers, "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1.5}]", "a padding that is not 1");
    WITH(layers, "[{\"type\":\"conv\",\"name\":\"2\",\"padding\":1}]",
         "a kernel of 1x1, and a padding that is not 0");
    WITH(layers, "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1,\"stride\":3}]",
         "a stride that is neither 1 nor 2");
    WITH(layers, "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1,\"stride\":\"2\"}]",
         "a stride that is neither");
    WITH(
        layers,
        "[{\"type\":\"conv\",\"name\":\"0\",\"padding\":1},{\"type\":\"conv\",\"name\":\"0\",\"padding\":1}]",
        "layer 1 of the network reads 3 channels, but there are 4");
    WITH(
        layers,
        "[{\"type\":\"conv\",\"name\":\"2\"},{\"type\":\"conv\",\"name\":\"2\"},{\"type\":\"conv\",\"name\":\"2\"},"
        "{\"type\":\"conv\",\"name\":\"2\"},{\"type\":\"conv\",\"name\":\"2\"},{\"type\":\"conv\",\"name\":\"2\"},"
        "{\"type\":\"conv\",\"name\":\"2\"},{\"type\":\"conv\",\"name\":\"2\"},{\"type\":\"conv\",\"name\":\"2\"}]",
        "it has more than 8 convolutions");
}

static void refuses_other_tensors(void **state) {
    static float wrong[4 * 3 * 9];
    file made = good();
    (void)state;
    made.tensors[0].type = TVLM_ELEMENT_I32;
    refuse(&made, "'0.weight' is int32, not float32");
    made = good();
    made.tensors[0].rank = 3;
    refuse(&made, "'0.weight' is not of shape [outputs, inputs, 1, 1]");
    made = good();
    made.tensors[0].shape[3] = 1;
    refuse(&made, "'0.weight' is not of shape");
    made = good();
    made.tensors[2].shape[2] = made.tensors[2].shape[3] = 2;
    refuse(&made, "'2.weight' is not of shape");
    made = good();
    made.tensors[1].shape[0] = 3;
    refuse(&made, "'0.bias' is not one number for each of 4 outputs");
    made = good();
    made.tensors[0].shape[0] = 0;
    made.tensors[1].shape[0] = 0;
    refuse(&made, "layer 0 of the network makes 0 channels");
    made = good();
    wrong[5] = NAN;
    made.tensors[0].data = wrong;
    refuse(&made, "layer 0 of the network: number 5 of its weights is not finite");
    wrong[5] = 0.0f;
    wrong[3] = INFINITY;
    made = good();
    made.tensors[1].data = wrong;
    refuse(&made, "layer 0 of the network: number 3 of its bias is not finite");
    wrong[3] = -1.01e15f;
    refuse(&made, "layer 0 of the network: number 3 of its bias is beyond 1e15");
}

static void refuses_other_files(void **state) {
    tvlm_network *network = NULL;
    (void)state;
    io_expect(tvlm_network_load(io_path("none.safetensors"), &io_log, &network), TVLM_ERROR_IO,
              "none.safetensors");
    io_expect(tvlm_network_load(io_put("c.safetensors", "text", 4), &io_log, &network), TVLM_ERROR_FORMAT,
              "c.safetensors");
    io_expect(tvlm_network_load(NULL, &io_log, &network), TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_network_load("x", &io_log, NULL), TVLM_ERROR_ARGUMENT, "NULL");
    assert_null(network);
}

static void loads_what_was_saved(void **state) {
    const test_layer layers[] = {{5, 3, 2, TVLM_ACTIVATION_RELU},
                                 {4, 1, 1, TVLM_ACTIVATION_NONE},
                                 {3, 3, 1, TVLM_ACTIVATION_SIGMOID},
                                 {0}};
    uint64_t random = 3;
    test_network made;
    tvlm_network *loaded = NULL;
    (void)state;
    test_network_make(&made, 6, layers, false, &random);
    made.layers[1].bias = made.values[0];
    made.network.level = 3;
    io_expect(tvlm_network_save(io_path("saved.safetensors"), &made.network, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_network_load(io_path("saved.safetensors"), &io_log, &loaded), TVLM_OK, NULL);
    assert_int_equal(loaded->input_count, 6);
    assert_memory_equal(loaded->inputs, made.inputs, 6 * sizeof *made.inputs);
    assert_int_equal(loaded->output_count, 3);
    assert_string_equal(loaded->outputs[2], "net2");
    assert_int_equal(loaded->level, 3);
    assert_int_equal(loaded->layer_count, 3);
    for (int i = 0; i < 3; ++i) {
        const tvlm_network_layer *const got = &loaded->layers[i], *const layer = &made.layers[i];
        assert_true(got->inputs == layer->inputs && got->outputs == layer->outputs &&
                    got->side == layer->side);
        assert_true(got->stride == layer->stride && got->activation == layer->activation);
        assert_true((got->bias == NULL) == (layer->bias == NULL));
        assert_memory_equal(got->weights, layer->weights,
                            (size_t)(layer->inputs * layer->outputs * layer->side * layer->side) *
                                sizeof *got->weights);
    }
    assert_memory_equal(loaded->layers[1].bias, made.layers[1].bias, 4 * sizeof(float));
    tvlm_network_destroy(&loaded);
    made.values[0][2] = NAN;
    io_expect(tvlm_network_save(io_path("nan.safetensors"), &made.network, &io_log), TVLM_ERROR_ARGUMENT,
              "nan.safetensors: layer 0 of the network: number 2 of its weights is not finite");
    io_expect(tvlm_network_save(NULL, &made.network, &io_log), TVLM_ERROR_ARGUMENT, "NULL");
    assert_int_equal(io_files(false), 1);
    test_network_release(&made);
}

/* ---- Scorers that are networks ---- */

static void loads_scorers(void **state) {
    const test_layer layers[] = {{4, 3, 1, TVLM_ACTIVATION_RELU}, {2, 1, 1, TVLM_ACTIVATION_NONE}, {0}};
    uint64_t random = 5;
    test_network made;
    tvlm_scorer *loaded = NULL;
    (void)state;
    test_network_make(&made, 3, layers, true, &random);
    const tvlm_scorer saved = {.network = &made.network};
    io_expect(tvlm_scorer_save(io_path("n.safetensors"), &saved, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_scorer_load(io_path("n.safetensors"), &io_log, &loaded), TVLM_OK, NULL);
    assert_non_null(loaded->network);
    assert_true(loaded->channel_count == 0 && loaded->weights == NULL);
    assert_int_equal(loaded->network->layer_count, 2);
    assert_memory_equal(loaded->network->layers[1].weights, made.layers[1].weights, 8 * sizeof(float));
    tvlm_scorer_destroy(&loaded);
    assert_null(loaded);
    made.values[1][0] = NAN;
    io_expect(tvlm_scorer_save(io_path("bad.safetensors"), &saved, &io_log), TVLM_ERROR_ARGUMENT,
              "layer 1 of the network: number 0 of its weights is not finite");
    assert_int_equal(io_files(false), 1);
    test_network_release(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {io_test(loads_what_was_saved),   io_test(loads),
                                       io_test(refuses_other_metadata), io_test(refuses_other_layers),
                                       io_test(refuses_other_tensors),  io_test(refuses_other_files),
                                       io_test(loads_scorers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
