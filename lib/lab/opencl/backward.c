/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backward.c: launches cl/lab/backward.cl. The host has the points. It lists what each point gives to which
 * texels, sorted by texel. So the device adds in the same order every time.
 *
 * Fixed-point sums by atomics would need no sorting. But nothing is known beforehand about the range of
 * gradients, and without 64-bit atomics a 64-bit sum takes two atomics for each number. A point has at most
 * eight texels, which are few to sort.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "lab/operations.h"
#include "opencl/backend.h"

/* The least entries of a segment. A texel with n entries has at most about sqrt(n) segments of sqrt(n)
 * entries. */
enum { SEGMENT = 64 };

/* What a point gives to a texel: cl/lab/backward.cl's int2. */
typedef struct entry {
    int32_t point;
    float weight;
} entry;

/* The entries, sorted by texel and then by point. `begins` says where each segment begins. `first` has the
 * first segment of each texel of levels 0 to `top`. Both have one more number, for the end. */
typedef struct list {
    int32_t top, texels, segments, entry_count;
    entry *entries;
    int32_t *begins, *first;
} list;

static void list_free(list *l) {
    free(l->entries);
    free(l->begins);
    free(l->first);
}

/* How many texels lie before a level. */
static int32_t texels_before(const tvlm_texture *texture, int32_t level) {
    return (int32_t)tvlm_opencl_level_offset(texture, level);
}

/* ---- The taps of a point ---- */

typedef struct taps {
    int32_t count, texel[8], highest;
    float weight[8];
} taps;

/* Finds the texel before a position along a side. *fraction is how far the position is on the way to the next
 * texel. */
static int32_t along(double position, int32_t side, double extent, double *fraction) {
    const double at = fmin(fmax(position * side / extent - 0.5, 0.0), side - 1.0);
    const int32_t first = (int32_t)at;
    *fraction = at - first;
    return first;
}

static void add_level(const tvlm_texture *texture, const tvlm_point *point, int32_t level, double share,
                      taps *t) {
    const int32_t width = tvlm_level_side(texture->width, level),
                  height = tvlm_level_side(texture->height, level);
    double u, v;
    const int32_t x = along((double)point->x, width, (double)texture->extent_x, &u);
    const int32_t y = along((double)point->y, height, (double)texture->extent_y, &v);
    for (int corner = 0; corner < 4; ++corner) {
        const int right = corner % 2, below = corner / 2;
        const double weight = share * (right ? u : 1.0 - u) * (below ? v : 1.0 - v);
        if (weight == 0.0) continue; /* the texel may not exist */
        t->texel[t->count] = texels_before(texture, level) + (y + below) * width + x + right;
        t->weight[t->count++] = (float)weight;
        t->highest = level;
    }
}

static taps taps_of(const tvlm_texture *texture, const tvlm_point *point) {
    const double bias = fmax(0.0, fmax(log2((double)texture->extent_x / texture->width),
                                       log2((double)texture->extent_y / texture->height)));
    const double own = fmin(fmax((double)point->level - bias, 0.0), texture->levels - 1.0);
    const int32_t lower = (int32_t)own;
    taps t = {.count = 0};
    add_level(texture, point, lower, 1.0 - (own - lower), &t);
    if (own > lower) add_level(texture, point, lower + 1, own - lower, &t);
    return t;
}

/* ---- The list ---- */

/* Counts the entries of each texel, in first[texel + 1]. */
static int32_t count_entries(const tvlm_backward *b, list *l) {
    int32_t longest = 0;
    for (int32_t i = 0; i < b->count; ++i) {
        const taps t = taps_of(b->texture, &b->points[i]);
        for (int32_t n = 0; n < t.count; ++n) {
            int32_t *const count = &l->first[t.texel[n] + 1];
            ++*count;
            ++l->entry_count;
            if (*count > longest) longest = *count;
        }
        if (t.highest > l->top) l->top = t.highest;
    }
    return longest;
}

/* Puts each entry among those of its texel. This moves first[texel] on to where the entries of the next texel
 * begin. */
static void place_entries(const tvlm_backward *b, list *l) {
    for (int32_t i = 0; i < b->count; ++i) {
        const taps t = taps_of(b->texture, &b->points[i]);
        for (int32_t n = 0; n < t.count; ++n) l->entries[l->first[t.texel[n]]++] = (entry){i, t.weight[n]};
    }
}

/* Cuts the entries of each texel into segments. Before, `first` says where each texel's entries end;
 * afterwards, it has the number of each texel's first segment. */
static void cut(list *l, int32_t length) {
    int32_t at = 0;
    l->segments = 0;
    for (int32_t texel = 0; texel < l->texels; ++texel) {
        const int32_t end = l->first[texel];
        l->first[texel] = l->segments;
        for (; at < end; at = at + length < end ? at + length : end) l->begins[l->segments++] = at;
    }
    l->first[l->texels] = l->segments;
    l->begins[l->segments] = at;
}

static tvlm_status list_make(tvlm_device *device, const tvlm_backward *b, list *l) {
    const size_t all = (size_t)texels_before(b->texture, b->texture->levels);
    *l = (list){.first = tvlm_allocate(all + 1, sizeof *l->first)};
    if (l->first != NULL) {
        const int32_t longest = count_entries(b, l);
        const int32_t root = (int32_t)ceil(sqrt((double)longest));
        l->texels = texels_before(b->texture, l->top + 1);
        for (int32_t texel = 0; texel < l->texels; ++texel) l->first[texel + 1] += l->first[texel];
        l->entries = tvlm_allocate((size_t)l->entry_count, sizeof *l->entries);
        l->begins = tvlm_allocate((size_t)l->entry_count + 1, sizeof *l->begins);
        if (l->entries != NULL && l->begins != NULL) {
            place_entries(b, l);
            cut(l, root > SEGMENT ? root : SEGMENT);
            return TVLM_OK;
        }
    }
    return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory to sort %d points", (int)b->count);
}

/* ---- Texels ---- */

/* The list on the device, the sums of its segments, and the gradients of levels 1 and up. */
typedef struct memories {
    cl_mem entries, begins, first, parts, levels;
} memories;

static tvlm_status send(opencl_device *device, int which, size_t bytes, const void *host, cl_mem *memory) {
    TVLM_TRY(tvlm_opencl_scratch(device, which, bytes, memory));
    return tvlm_opencl_write(device, *memory, 0, bytes, host);
}

static tvlm_status send_list(opencl_device *device, const tvlm_backward *b, const list *l, memories *m) {
    const size_t vector = (size_t)b->layers * sizeof(cl_float4);
    const size_t coarse = (size_t)(l->texels - b->texture->width * b->texture->height) * vector;
    TVLM_TRY(send(device, SCRATCH_A, (size_t)l->entry_count * sizeof *l->entries, l->entries, &m->entries));
    TVLM_TRY(send(device, SCRATCH_B, ((size_t)l->segments + 1) * sizeof *l->begins, l->begins, &m->begins));
    TVLM_TRY(send(device, SCRATCH_C, ((size_t)l->texels + 1) * sizeof *l->first, l->first, &m->first));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_D, (size_t)l->segments * vector, &m->parts));
    return tvlm_opencl_scratch(device, SCRATCH_E, coarse > 0 ? coarse : vector, &m->levels);
}

static tvlm_status add_parts(opencl_device *device, const tvlm_backward *b, const list *l,
                             const memories *m) {
    opencl_call call;
    TVLM_TRY(
        tvlm_opencl_call_begin(device, "lab/backward.cl", "backward_parts", b->texture->format, "", &call));
    tvlm_opencl_call_memory(&call, m->entries);
    tvlm_opencl_call_memory(&call, m->begins);
    tvlm_opencl_call_int(&call, l->segments);
    tvlm_opencl_call_int(&call, b->layers);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)b->gradients)->memory);
    tvlm_opencl_call_memory(&call, m->parts);
    return tvlm_opencl_call_run_list(&call, (size_t)l->segments * (size_t)b->layers, 1);
}

/* Returns where the vectors of a level begin among the vectors of levels 1 and up. */
static uint64_t vectors_before(const tvlm_backward *b, int32_t level) {
    return (uint64_t)(texels_before(b->texture, level) - texels_before(b->texture, 1)) * (uint64_t)b->layers;
}

static tvlm_status make_level(opencl_device *device, const tvlm_backward *b, const list *l, const memories *m,
                              int32_t level) {
    const tvlm_texture *const t = b->texture;
    const cl_int2 size = {{tvlm_level_side(t->width, level), tvlm_level_side(t->height, level)}};
    cl_int2 next = {{0, 0}};
    opencl_call call;
    if (level < l->top)
        next = (cl_int2){{tvlm_level_side(t->width, level + 1), tvlm_level_side(t->height, level + 1)}};
    TVLM_TRY(tvlm_opencl_call_begin(device, "lab/backward.cl", "backward_level", t->format, "", &call));
    tvlm_opencl_call_memory(&call, m->first);
    tvlm_opencl_call_int(&call, texels_before(t, level));
    tvlm_opencl_call_memory(&call, m->parts);
    tvlm_opencl_call_bytes(&call, sizeof size, &size);
    tvlm_opencl_call_bytes(&call, sizeof next, &next);
    tvlm_opencl_call_int(&call, b->layers);
    tvlm_opencl_call_memory(&call, m->levels);
    tvlm_opencl_call_ulong(&call, vectors_before(b, level + 1));
    tvlm_opencl_call_memory(&call, level > 0 ? m->levels : ((opencl_buffer *)b->texels)->memory);
    tvlm_opencl_call_ulong(&call, level > 0 ? vectors_before(b, level) : 0);
    return tvlm_opencl_call_run_list(&call, (size_t)size.s[0] * (size_t)size.s[1] * (size_t)b->layers, 1);
}

static tvlm_status make_texels(opencl_device *device, const tvlm_backward *b, const list *l) {
    memories m;
    TVLM_TRY(send_list(device, b, l, &m));
    TVLM_TRY(add_parts(device, b, l, &m));
    for (int32_t level = l->top; level >= 0; --level) TVLM_TRY(make_level(device, b, l, &m, level));
    return TVLM_OK;
}

/* ---- Points ---- */

static tvlm_status make_steps(opencl_device *device, const tvlm_backward *b) {
    cl_mem points;
    opencl_call call;
    TVLM_TRY(send(device, SCRATCH_A, (size_t)b->count * sizeof *b->points, b->points, &points));
    TVLM_TRY(
        tvlm_opencl_call_begin(device, "lab/backward.cl", "backward_steps", b->texture->format, "", &call));
    tvlm_opencl_call_input(&call, b->texture);
    tvlm_opencl_call_int(&call, b->first_layer);
    tvlm_opencl_call_int(&call, b->layers);
    tvlm_opencl_call_memory(&call, points);
    tvlm_opencl_call_int(&call, b->count);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)b->gradients)->memory);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)b->steps)->memory);
    return tvlm_opencl_call_run_list(&call, (size_t)b->count, 1);
}

tvlm_status tvlm_opencl_sample_backward(tvlm_device *base, const tvlm_backward *b) {
    opencl_device *const device = (opencl_device *)base;
    tvlm_status status = TVLM_OK;
    if (b->texels != NULL) {
        list l;
        status = list_make(base, b, &l);
        if (status == TVLM_OK) status = make_texels(device, b, &l);
        list_free(&l);
    }
    return status == TVLM_OK && b->steps != NULL ? make_steps(device, b) : status;
}
