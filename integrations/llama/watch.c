/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: where a model looks. llama.cpp keeps no attention, but it lets a callback see the nodes of its
 * graph. A watch keeps the keys of one layer for all tokens of a prompt, and the query of the last one. Their
 * softmax is the attention of that layer (Vaswani et al. 2017, equation 1), whether or not the context uses
 * flash attention, and wherever the KV cache has put the tokens.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ggml-backend.h>
#include <ggml.h>

#include "inside.h"

/* What a watch keeps of a kind of node: for each token `heads` rows of `width` numbers. */
typedef struct rows {
    float *data;
    size_t room; /* in numbers */
    int64_t width, heads, tokens;
} rows;

struct tvlm_mtmd_watch {
    tvlm_log log;
    char query_name[32], key_name[32];
    rows queries, keys;
    bool watching, no_memory, unknown;
};

/* ---- Seeing nodes ---- */

/* The rows that a node has: of a query, of a key, or NULL. The name stands for the node before rotary
 * positions are put in, too. */
static rows *rows_of(tvlm_mtmd_watch *watch, const struct ggml_tensor *node) {
    if (!watch->watching || node->op != GGML_OP_ROPE) return NULL;
    if (strcmp(ggml_get_name(node), watch->query_name) == 0) return &watch->queries;
    return strcmp(ggml_get_name(node), watch->key_name) == 0 ? &watch->keys : NULL;
}

/* Makes room for `count` numbers behind `used` of them. */
static bool make_room(rows *r, size_t used, size_t count) {
    if (used + count <= r->room) return true;
    const size_t room = 2 * (used + count);
    float *const more = realloc(r->data, room * sizeof *more);
    if (more == NULL) return false;
    r->data = more;
    r->room = room;
    return true;
}

/* Keeps a node: keys behind those of earlier batches, queries in the place of them. */
static void keep(tvlm_mtmd_watch *watch, struct ggml_tensor *node, rows *r) {
    const bool begins = r->tokens == 0;
    if (node->type != GGML_TYPE_F32 || !ggml_is_contiguous(node) || node->ne[3] != 1 ||
        (!begins && (node->ne[0] != r->width || node->ne[1] != r->heads))) {
        watch->unknown = true;
        return;
    }
    r->width = node->ne[0];
    r->heads = node->ne[1];
    if (r == &watch->queries) r->tokens = 0;
    const size_t count = (size_t)ggml_nelements(node), used = (size_t)(r->width * r->heads * r->tokens);
    if (!make_room(r, used, count)) {
        watch->no_memory = true;
        return;
    }
    ggml_backend_tensor_get(node, r->data + used, 0, count * sizeof *r->data);
    r->tokens += node->ne[2];
}

/* llama.cpp asks which nodes are wanted, and hands them out when they are computed. */
static bool see(struct ggml_tensor *node, bool ask, void *user) {
    tvlm_mtmd_watch *const watch = user;
    rows *const r = rows_of(watch, node);
    if (ask) return r != NULL;
    if (r != NULL) keep(watch, node, r);
    return true;
}

/* ---- Attention ---- */

void tvlm_mtmd_watch_begin(tvlm_mtmd_watch *watch, int32_t layer) {
    snprintf(watch->query_name, sizeof watch->query_name, "Qcur-%d", (int)layer);
    snprintf(watch->key_name, sizeof watch->key_name, "Kcur-%d", (int)layer);
    watch->queries.tokens = watch->keys.tokens = 0;
    watch->no_memory = watch->unknown = false;
    watch->watching = true;
}

void tvlm_mtmd_watch_end(tvlm_mtmd_watch *watch) {
    watch->watching = false;
}

/* Writes the attention of one head to all tokens. */
static void attend(const tvlm_mtmd_watch *watch, int64_t head, float *weights) {
    const rows *const q = &watch->queries, *const k = &watch->keys;
    const float *const query = q->data + ((q->tokens - 1) * q->heads + head) * q->width;
    const int64_t key_head = head / (q->heads / k->heads); /* several heads share the keys of one */
    const float scale = 1.0f / sqrtf((float)q->width);
    float most = -INFINITY, sum = 0.0f;
    for (int64_t token = 0; token < k->tokens; ++token) {
        const float *const key = k->data + (token * k->heads + key_head) * k->width;
        float product = 0.0f;
        for (int64_t i = 0; i < q->width; ++i) product += query[i] * key[i];
        weights[token] = product * scale;
        most = fmaxf(most, weights[token]);
    }
    for (int64_t token = 0; token < k->tokens; ++token) {
        weights[token] = expf(weights[token] - most);
        sum += weights[token];
    }
    for (int64_t token = 0; token < k->tokens; ++token) weights[token] /= sum;
}

tvlm_status tvlm_mtmd_watch_attention(const tvlm_mtmd_watch *watch, int32_t tokens, int32_t first,
                                      int32_t count, float *attention) {
    const rows *const q = &watch->queries, *const k = &watch->keys;
    if (watch->no_memory) return tvlm_fail(&watch->log, TVLM_ERROR_MEMORY, "no memory for a first look");
    if (watch->unknown || q->tokens < 1 || k->tokens != tokens || q->width != k->width || k->heads < 1 ||
        q->heads % k->heads != 0)
        return tvlm_fail(
            &watch->log, TVLM_ERROR_UNSUPPORTED,
            "two looks need a context that was made with the watch, and a model whose graph has %s and %s",
            watch->query_name, watch->key_name);
    float *const weights = tvlm_allocate((size_t)tokens, sizeof *weights);
    if (weights == NULL) return tvlm_fail(&watch->log, TVLM_ERROR_MEMORY, "no memory for a first look");
    memset(attention, 0, (size_t)count * sizeof *attention);
    for (int64_t head = 0; head < q->heads; ++head) {
        attend(watch, head, weights);
        for (int32_t i = 0; i < count; ++i) attention[i] += weights[first + i] / (float)q->heads;
    }
    free(weights);
    return TVLM_OK;
}

/* ---- mtmd.h ---- */

tvlm_status tvlm_mtmd_watch_create(const tvlm_log *log, struct llama_context_params *params,
                                   tvlm_mtmd_watch **watch) {
    TVLM_NEED(log, params);
    TVLM_NEED(log, watch);
    if (params->cb_eval != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the context's parameters have a cb_eval already, which a watch needs for itself");
    tvlm_mtmd_watch *const made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a watch");
    if (log != NULL) made->log = *log;
    params->cb_eval = see;
    params->cb_eval_user_data = made;
    *watch = made;
    return TVLM_OK;
}

void tvlm_mtmd_watch_destroy(tvlm_mtmd_watch **watch) {
    if (watch == NULL || *watch == NULL) return;
    free((*watch)->queries.data);
    free((*watch)->keys.data);
    free(*watch);
    *watch = NULL;
}
