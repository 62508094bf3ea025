/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_safetensors.c: tensors, and what is kept in them: bases, codecs, networks, projections, scorers and vocabularies. What was read can be written, and
 * is then read as the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "texturevlm/io.h"
#include "texturevlm/io_basis.h"
#include "texturevlm/io_scorer.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/io_codec.h"
#include "texturevlm/lab/io_network.h"
#include "texturevlm/lab/io_projection.h"
#include "texturevlm/lab/io_vocab.h"
#include "texturevlm/lab/vocab.h"

static void check_same(const tvlm_safetensors *file, const tvlm_safetensors *again) {
    fuzz_check(file->tensor_count == again->tensor_count && file->metadata_count == again->metadata_count);
    for (int32_t i = 0; i < file->tensor_count; ++i) {
        const tvlm_tensor *const tensor = &file->tensors[i];
        const tvlm_tensor *const other = tvlm_safetensors_find(again, tensor->name);
        fuzz_check(other != NULL && other->type == tensor->type && other->rank == tensor->rank &&
                   other->size == tensor->size);
        fuzz_check(memcmp(other->shape, tensor->shape, sizeof tensor->shape) == 0);
        fuzz_check(tensor->size == 0 || memcmp(other->data, tensor->data, tensor->size) == 0);
        fuzz_check((uintptr_t)tensor->data % tvlm_element_size(tensor->type) == 0);
    }
    for (int32_t i = 0; i < file->metadata_count; ++i)
        fuzz_check(strcmp(tvlm_safetensors_metadata(again, file->metadata[i].key), file->metadata[i].value) ==
                   0);
}

static void write_and_read(const tvlm_safetensors *file) {
    static char path[64];
    tvlm_safetensors *again = NULL;
    if (path[0] == '\0') snprintf(path, sizeof path, "/tmp/tvlm-fuzz-%ld.safetensors", (long)getpid());
    fuzz_check_status(tvlm_safetensors_write(path, file->tensors, file->tensor_count, file->metadata,
                                             file->metadata_count, &fuzz_log));
    const tvlm_status status = tvlm_safetensors_read(path, &fuzz_log, &again);
    fuzz_check_status(status);
    fuzz_check(status == TVLM_OK);
    check_same(file, again);
    tvlm_safetensors_destroy(&again);
    unlink(path);
}

static void read_basis(const char *path) {
    struct tvlm_basis_params params = {0};
    tvlm_basis *basis = NULL;
    fuzz_check_status(tvlm_basis_load(path, &fuzz_log, &basis));
    if (basis != NULL) {
        tvlm_basis_get_params(basis, &params);
        fuzz_touch(params.components,
                   (size_t)params.k * (size_t)params.dimension * sizeof *params.components);
    }
    tvlm_basis_destroy(&basis);
}

static void read_codec(const char *path) {
    struct tvlm_codec_params params = {0};
    tvlm_codec *codec = NULL;
    fuzz_check_status(tvlm_codec_load(path, &fuzz_log, &codec));
    if (codec != NULL) {
        tvlm_codec_get_params(codec, &params);
        const size_t count = (size_t)params.k * (size_t)params.channel_count;
        fuzz_touch(params.encode, count * sizeof *params.encode);
        fuzz_touch(params.decode, count * sizeof *params.decode);
        fuzz_check(tvlm_network_check(tvlm_codec_network(codec), &fuzz_log) == TVLM_OK);
    }
    tvlm_codec_destroy(&codec);
}

static void read_scorer(const char *path) {
    tvlm_scorer *scorer = NULL;
    fuzz_check_status(tvlm_scorer_load(path, &fuzz_log, &scorer));
    if (scorer != NULL) {
        const size_t count = (size_t)scorer->channel_count;
        fuzz_touch(scorer->channels, count * sizeof *scorer->channels);
        fuzz_touch(scorer->weights, count * (size_t)scorer->taps * sizeof *scorer->weights);
        if (scorer->query_weights != NULL)
            fuzz_touch(scorer->query_weights,
                       count * (size_t)scorer->dimension * sizeof *scorer->query_weights);
    }
    tvlm_scorer_destroy(&scorer);
}

static void read_projection(const char *path) {
    struct tvlm_projection_params params;
    tvlm_projection *projection = NULL;
    fuzz_check_status(tvlm_projection_load(path, &fuzz_log, &projection));
    if (projection != NULL) {
        tvlm_projection_get_params(projection, &params);
        const size_t count = (size_t)params.channel_count, outputs = (size_t)params.outputs;
        fuzz_touch(params.channels, count * sizeof *params.channels);
        fuzz_touch(params.weights, count * outputs * sizeof *params.weights);
        fuzz_touch(params.bias, outputs * sizeof *params.bias);
    }
    tvlm_projection_destroy(&projection);
}

static void read_network(const char *path) {
    tvlm_network *network = NULL;
    fuzz_check_status(tvlm_network_load(path, &fuzz_log, &network));
    for (int32_t i = 0; network != NULL && i < network->layer_count; ++i) {
        const tvlm_network_layer *const layer = &network->layers[i];
        const size_t each = (size_t)layer->inputs * (size_t)(layer->side * layer->side);
        fuzz_touch(layer->weights, each * (size_t)layer->outputs * sizeof *layer->weights);
        if (layer->bias != NULL) fuzz_touch(layer->bias, (size_t)layer->outputs * sizeof *layer->bias);
    }
    for (int32_t i = 0; network != NULL && i < network->output_count; ++i)
        fuzz_touch(network->outputs[i], strlen(network->outputs[i]) + 1);
    tvlm_network_destroy(&network);
}

static void read_vocab(const char *path) {
    struct tvlm_vocab_params params = {0};
    tvlm_vocab *vocab = NULL;
    fuzz_check_status(tvlm_vocab_load(path, &fuzz_log, &vocab));
    if (vocab != NULL) {
        tvlm_vocab_get_params(vocab, &params);
        fuzz_touch(params.centres, (size_t)params.count * (size_t)params.dimension * sizeof *params.centres);
    }
    tvlm_vocab_destroy(&vocab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *const path = fuzz_file(data, size);
    tvlm_safetensors *file = NULL;
    const tvlm_status status = tvlm_safetensors_read(path, &fuzz_log, &file);
    fuzz_check_status(status);
    fuzz_check((status == TVLM_OK) == (file != NULL));
    if (file != NULL) {
        check_same(file, file);
        write_and_read(file);
        read_basis(path);
        read_codec(path);
        read_network(path);
        read_projection(path);
        read_scorer(path);
        read_vocab(path);
    }
    tvlm_safetensors_destroy(&file);
    return 0;
}
