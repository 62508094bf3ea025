/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.c: makes scoring programs as cl/score.cl reads them, and launches its kernels.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"

/* A layer as score.cl reads it: those channels of one layer of one texture that go to one part and are read
 * at one level. `level` is OF_CANDIDATES, or the bits of a float. */
#define OF_CANDIDATES (-1)
typedef struct layer_head {
    cl_int ref, part, taps; /* when it is sent, `taps` also says which components have a term */
    cl_int level;
} layer_head;
typedef struct layer_floats {
    cl_float cap[4], weight[TVLM_SCORE_TAPS][4];
} layer_floats;

/* A scoring program while it is made. `block` has room for the heads, the floats and `taken` of as many
 * layers as there could be. The bits of taken[n] say which components of layer n have a term. */
typedef struct program {
    char *block;
    layer_head *heads;
    layer_floats *floats;
    int32_t *taken;
    int32_t count;
} program;

/* What the launches of one question share. The floats begin at byte floats_at of `program`, behind all heads;
 * `turn` says which of the two ranges the question uses. */
typedef struct score_scratch {
    cl_mem parts, program, ranges;
    size_t floats_at;
    int32_t layers;
    int32_t turn;
} score_scratch;

/* The floats of a layer without terms: a component without a term adds min(INFINITY, 0 * value). */
static layer_floats no_terms(void) {
    layer_floats floats;
    memset(&floats, 0, sizeof floats);
    for (int c = 0; c < 4; ++c) floats.cap[c] = INFINITY;
    return floats;
}

/* Makes room for a layer. Layers are kept in the order of their textures, since the kernel visits textures in
 * turn. A new layer goes behind those of the same texture. */
static int32_t insert_layer(program *p, int32_t ref) {
    int32_t at = p->count++;
    for (; at > 0 && TVLM_REF_TEXTURE(p->heads[at - 1].ref) > TVLM_REF_TEXTURE(ref); --at) {
        p->heads[at] = p->heads[at - 1];
        p->floats[at] = p->floats[at - 1];
        p->taken[at] = p->taken[at - 1];
    }
    return at;
}

/* The level of a channel as the head of its layer has it. */
static cl_int level_of(const tvlm_score_group *group, int c) {
    const float level = group->level[c] + 0.0f; /* never -0: below 0 the bits mean OF_CANDIDATES */
    cl_int bits;
    memcpy(&bits, &level, sizeof bits);
    return group->has_level[c] ? bits : OF_CANDIDATES;
}

/* The layer that the term of a channel goes to: a layer of the same texture, part, taps and level in which
 * the channel's component is still free, or else a new one. */
static int32_t layer_for(program *p, int32_t ref, const tvlm_score_group *group, cl_int level) {
    const layer_head head = {ref - TVLM_REF_COMPONENT(ref), group->part, group->taps, level};
    for (int32_t n = 0; n < p->count; ++n)
        if (memcmp(&p->heads[n], &head, sizeof head) == 0 &&
            (p->taken[n] >> TVLM_REF_COMPONENT(ref) & 1) == 0)
            return n;
    const int32_t layer = insert_layer(p, head.ref);
    p->heads[layer] = head;
    p->floats[layer] = no_terms();
    p->taken[layer] = 0;
    return layer;
}

static void add_group(program *p, const tvlm_score_group *group) {
    for (int c = 0; c < 4; ++c) {
        if (group->refs[c] < 0) continue;
        const int32_t layer = layer_for(p, group->refs[c], group, level_of(group, c));
        const int component = TVLM_REF_COMPONENT(group->refs[c]);
        layer_floats *floats = &p->floats[layer];
        p->taken[layer] |= 1 << component;
        floats->cap[component] = group->cap[c];
        for (int tap = 0; tap < TVLM_SCORE_TAPS; ++tap)
            floats->weight[tap][component] = group->weight[tap][c];
    }
}

/* Brings a program to the device, unless the last question left the same one there. */
static tvlm_status write_program(opencl_device *device, const program *p, score_scratch *scratch) {
    const size_t heads = (size_t)p->count * sizeof *p->heads, floats = (size_t)p->count * sizeof *p->floats;
    for (int32_t n = 0; n < p->count; ++n) p->heads[n].taps |= p->taken[n] << 4;
    memmove(p->block + heads, p->floats, floats);
    scratch->floats_at = heads;
    scratch->layers = p->count;
    return tvlm_opencl_keep(device, SCRATCH_PROGRAM, &device->score.program, heads + floats, p->block,
                            &scratch->program);
}

static tvlm_status upload_program(opencl_device *device, const tvlm_score_group *groups, int32_t count,
                                  score_scratch *scratch) {
    program p = {0};
    p.block = tvlm_allocate((size_t)count, 4 * (sizeof *p.heads + sizeof *p.floats + sizeof *p.taken));
    if (p.block == NULL) return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for a scorer");
    p.heads = (layer_head *)(void *)p.block;
    p.floats = (layer_floats *)(void *)(p.heads + 4 * (size_t)count);
    p.taken = (int32_t *)(void *)(p.floats + 4 * (size_t)count);
    for (int32_t g = 0; g < count; ++g) add_group(&p, &groups[g]);
    const tvlm_status status = write_program(device, &p, scratch);
    free(p.block);
    return status;
}

static tvlm_status clear_ranges(opencl_device *device, int which, size_t count, cl_mem *ranges) {
    const cl_int2 empty = {{INT_MAX, INT_MIN}};
    const size_t bytes = count * sizeof empty;
    TVLM_TRY(tvlm_opencl_scratch(device, which, bytes, ranges));
    const cl_int error =
        clEnqueueFillBuffer(device->queue, *ranges, &empty, sizeof empty, 0, bytes, 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, "clEnqueueFillBuffer");
}

/* Gives ranges that are empty. As a rule this takes no launch, since score_combine or score_rank of the last
 * question has emptied them. */
static tvlm_status take_ranges(opencl_device *device, score_scratch *scratch) {
    opencl_score_state *state = &device->score;
    const size_t count = 2 * TVLM_SCORE_PARTS;
    if (!state->ranges_empty) TVLM_TRY(clear_ranges(device, SCRATCH_RANGES, count, &scratch->ranges));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_RANGES, count * sizeof(cl_int2), &scratch->ranges));
    scratch->turn = state->ranges;
    /* The other ranges will be empty once score_combine or score_rank has been enqueued. */
    state->ranges_empty = false;
    return TVLM_OK;
}

static tvlm_format format_of(const tvlm_bundle *bundle) {
    return bundle->count > 0 ? bundle->textures[0]->format : TVLM_FORMAT_F32;
}

/* The candidates that a work-item of score_parts has. */
static opencl_block block_of(const opencl_device *device, const tvlm_bundle *bundle) {
    return tvlm_opencl_block(device, bundle, format_of(bundle));
}

static tvlm_status begin(opencl_device *device, const tvlm_bundle *bundle, const char *name,
                         opencl_call *call) {
    const opencl_block block = block_of(device, bundle);
    char bundle_options[80], options[144];
    tvlm_opencl_bundle_options(device, bundle, block.columns, bundle_options);
    snprintf(options, sizeof options, "%s -DROWS=%d -DSCORE_GROUP=%d -DTOPK_GROUP=%d", bundle_options,
             (int)block.rows, (int)device->tuning.score_group, (int)device->tuning.topk_group);
    return tvlm_opencl_call_begin(device, "score.cl", name, format_of(bundle), options, call);
}

/* Which parts count, as bits. */
static int32_t used_parts(const tvlm_score_combination *combination) {
    int32_t used = 0;
    for (int p = 0; p < TVLM_SCORE_PARTS; ++p) used |= (combination->weight[p] != 0) << p;
    return used;
}

static tvlm_status parts(opencl_device *device, const tvlm_bundle *bundle, const tvlm_candidates *candidates,
                         int32_t used, const score_scratch *scratch) {
    const opencl_block block = block_of(device, bundle);
    const int32_t runs = (candidates->columns + block.columns - 1) / block.columns;
    const size_t items = (size_t)runs * (size_t)((candidates->rows + block.rows - 1) / block.rows),
                 group = (size_t)device->tuning.score_group;
    const cl_int2 size = {{candidates->columns, candidates->rows}};
    const cl_float2 step = {{candidates->step_x, candidates->step_y}};
    opencl_call call;
    TVLM_TRY(begin(device, bundle, "score_parts", &call));
    tvlm_opencl_call_bundle(&call, bundle);
    tvlm_opencl_call_memory(&call, scratch->program);
    tvlm_opencl_call_int(&call, (int32_t)(scratch->floats_at / sizeof(cl_float)));
    tvlm_opencl_call_int(&call, scratch->layers);
    tvlm_opencl_call_bytes(&call, sizeof size, &size);
    tvlm_opencl_call_bytes(&call, sizeof step, &step);
    tvlm_opencl_call_float(&call, candidates->level);
    tvlm_opencl_call_int(&call, candidates->image);
    tvlm_opencl_call_int(&call, runs);
    tvlm_opencl_call_int(&call, used);
    tvlm_opencl_call_memory(&call, scratch->parts);
    tvlm_opencl_call_memory(&call, scratch->ranges);
    tvlm_opencl_call_int(&call, scratch->turn);
    return tvlm_opencl_call_run(&call, 1, &items, &group);
}

/* What parts are combined with, and where the scores go. */
typedef struct combining {
    const tvlm_bundle *bundle; /* which kernels are compiled for */
    const tvlm_score_combination *combination;
    const score_scratch *scratch;
    cl_mem scores;
    int32_t count;
} combining;

/* Begins score_combine or score_rank with the arguments that they share. */
static tvlm_status begin_combining(opencl_device *device, const combining *c, const char *name,
                                   opencl_call *call) {
    const float *w = c->combination->weight;
    const bool *n = c->combination->normalise;
    const opencl_buffer *bonus = (const opencl_buffer *)c->combination->bonus;
    TVLM_TRY(begin(device, c->bundle, name, call));
    tvlm_opencl_call_memory(call, c->scratch->parts);
    tvlm_opencl_call_memory(call, c->scratch->ranges);
    tvlm_opencl_call_int(call, c->scratch->turn);
    tvlm_opencl_call_int(call, c->count);
    tvlm_opencl_call_float4(call, w[0], w[1], w[2], c->combination->bias);
    tvlm_opencl_call_int4(call, n[0], n[1], n[2], 0);
    /* Without a bonus something must stand in its place. It is not read. */
    tvlm_opencl_call_memory(call, bonus != NULL ? bonus->memory : c->scratch->parts);
    tvlm_opencl_call_int(call, bonus != NULL);
    tvlm_opencl_call_memory(call, c->scores);
    return TVLM_OK;
}

static tvlm_status combine(opencl_device *device, const combining *c) {
    const size_t each = device->tuning.run > 1 ? 256 : 1; /* as COMBINED of cl/score.cl */
    opencl_call call;
    TVLM_TRY(begin_combining(device, c, "score_combine", &call));
    return tvlm_opencl_call_run_list(&call, ((size_t)c->count + each - 1) / each, 1);
}

/* Combines and ranks in one launch, where the device ranks this many scores. *ranked says whether it did. */
static tvlm_status combine_and_rank(opencl_device *device, const combining *c, const tvlm_ranking *ranking,
                                    bool *ranked) {
    OPENCL_TUNED(&device->base, TVLM_TUNED_TOPK, (double)c->count * (double)TVLM_TUNED_CELL);
    const size_t group = (size_t)device->tuning.topk_group, size = (size_t)c->count * TOPK_RANK_LANES;
    opencl_call call;
    *ranked = c->count <= device->tuning.rank_below;
    if (!*ranked) return TVLM_OK;
    TVLM_TRY(begin_combining(device, c, "score_rank", &call));
    tvlm_opencl_call_int(&call, ranking->k);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)ranking->result)->memory);
    return tvlm_opencl_call_run(&call, 1, &size, &group);
}

/* Makes the parts of all scores, and combines them. *ranked says whether it has also ranked the scores. */
static tvlm_status make_scores(opencl_device *device, const tvlm_bundle *bundle,
                               const tvlm_score_group *groups, int32_t group_count,
                               const tvlm_candidates *candidates, const tvlm_ranking *ranking,
                               score_scratch *scratch, const combining *c, bool *ranked) {
    OPENCL_TUNED(&device->base, TVLM_TUNED_SCORE, (double)c->count * (double)TVLM_TUNED_CELL);
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, TVLM_SCORE_PARTS * (size_t)c->count * sizeof(cl_float),
                                 &scratch->parts));
    TVLM_TRY(upload_program(device, groups, group_count, scratch));
    TVLM_TRY(take_ranges(device, scratch));
    TVLM_TRY(parts(device, bundle, candidates, used_parts(c->combination), scratch));
    if (ranking != NULL) TVLM_TRY(combine_and_rank(device, c, ranking, ranked));
    if (!*ranked) TVLM_TRY(combine(device, c));
    device->score.ranges = 1 - scratch->turn;
    device->score.ranges_empty = true;
    return TVLM_OK;
}

tvlm_status tvlm_opencl_score(tvlm_device *base, const tvlm_bundle *bundle, const tvlm_score_group *groups,
                              int32_t group_count, const tvlm_score_combination *combination,
                              const tvlm_candidates *candidates, const tvlm_ranking *ranking,
                              tvlm_buffer *scores) {
    opencl_device *device = (opencl_device *)base;
    score_scratch scratch = {0};
    const combining c = {bundle, combination, &scratch, ((opencl_buffer *)scores)->memory,
                         candidates->columns * candidates->rows};
    bool ranked = false;
    TVLM_TRY(make_scores(device, bundle, groups, group_count, candidates, ranking, &scratch, &c, &ranked));
    if (ranking == NULL || ranked) return TVLM_OK;
    return tvlm_opencl_topk(base, scores, c.count, ranking->k, ranking->result);
}

tvlm_status tvlm_opencl_score_add(tvlm_device *base, tvlm_buffer *scores, tvlm_buffer *bonus, int32_t count) {
    opencl_call call;
    TVLM_TRY(
        tvlm_opencl_call_begin((opencl_device *)base, "score.cl", "score_add", TVLM_FORMAT_F32, "", &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)scores)->memory);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)bonus)->memory);
    tvlm_opencl_call_int(&call, count);
    return tvlm_opencl_call_run_list(&call, (size_t)count, 1);
}

/* As in cl/score.cl. */
#define PASS_SPAN 64

tvlm_status tvlm_opencl_keep_pass(tvlm_device *base, tvlm_buffer *scores, int32_t image, tvlm_texture *out) {
    opencl_device *device = (opencl_device *)base;
    const size_t count = (size_t)out->width * (size_t)out->height;
    cl_mem range;
    opencl_call call;
    TVLM_TRY(clear_ranges(device, SCRATCH_C, 1, &range));
    TVLM_TRY(tvlm_opencl_call_begin(device, "score.cl", "pass_range", out->format, "", &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)scores)->memory);
    tvlm_opencl_call_int(&call, (int32_t)count);
    tvlm_opencl_call_memory(&call, range);
    TVLM_TRY(tvlm_opencl_call_run_list(&call, (count + PASS_SPAN - 1) / PASS_SPAN, 1));
    TVLM_TRY(tvlm_opencl_call_begin(device, "score.cl", "pass_keep", out->format, "", &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)scores)->memory);
    tvlm_opencl_call_memory(&call, range);
    tvlm_opencl_call_int(&call, image);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, 1);
}
