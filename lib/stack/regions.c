/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c: lets the application read the regions that the family CLUSTER makes, and takes labels of the
 * application's own in their place.
 */
#include "texturevlm/stack.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/cluster.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/regions.h"

_Static_assert(sizeof(tvlm_region) == TVLM_REGION_WORDS * sizeof(int32_t), "the kernels write tvlm_region");
_Static_assert(TVLM_REGIONS_MAX == TVLM_CLUSTER_MAX, "one limit");

/* ---- Reading ---- */

/* Where one image's table is, and how many regions it has. */
typedef struct region_table {
    tvlm_buffer *buffer;
    tvlm_region_layout layout;
    size_t offset; /* in bytes */
    int32_t count;
} region_table;

tvlm_cluster_plan tvlm_stack_cluster_plan(const tvlm_stack *stack) {
    return tvlm_cluster_plan_for(stack->width, stack->height, stack->levels, &stack->settings);
}

bool tvlm_stack_has_labels(const tvlm_stack *stack, int32_t index) {
    const tvlm_chunk *chunk = &stack->chunks[index / stack->chunk_images];
    return chunk->label_counts != NULL && chunk->label_counts[index - chunk->first] > 0;
}

void tvlm_stack_set_centres(tvlm_stack *stack, const tvlm_region_centre *centres) {
    stack->centres = centres;
}

/* Returns where the table of image `index` is. Its content counts only if it is up to date. */
static region_table place_table(const tvlm_stack *stack, int32_t index) {
    const tvlm_chunk *chunk = &stack->chunks[index / stack->chunk_images];
    const tvlm_cluster_plan plan = tvlm_stack_cluster_plan(stack);
    const tvlm_region_layout layout = tvlm_region_layout_for(&plan, chunk->label_counts, chunk->images);
    return (region_table){.buffer = chunk->products[TVLM_PRODUCT_REGIONS],
                          .layout = layout,
                          .offset = (size_t)(index - chunk->first) * (size_t)layout.words * sizeof(int32_t)};
}

bool tvlm_stack_region_table(const tvlm_stack *stack, int32_t index, tvlm_buffer **buffer, size_t *offset) {
    const tvlm_chunk *chunk = &stack->chunks[index / stack->chunk_images];
    if ((chunk->valid & TVLM_GRID_BIT(TVLM_GRID_CLUSTER)) == 0) return false;
    const region_table table = place_table(stack, index);
    *buffer = table.buffer;
    *offset = table.offset;
    return true;
}

/* Finds the table of image `index`, and makes it if need be. Waits for the device. */
static tvlm_status find_table(tvlm_stack *stack, int32_t index, region_table *found) {
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_make(stack, index, TVLM_GRID_BIT(TVLM_GRID_CLUSTER)));
    *found = place_table(stack, index);
    return stack->device->backend->buffer_read(stack->device, found->buffer, found->offset,
                                               sizeof found->count, &found->count);
}

/* Reads words [first, first + count) of a table. */
static tvlm_status read_words(tvlm_stack *stack, const region_table *from, size_t first, size_t count,
                              void *words) {
    return stack->device->backend->buffer_read(
        stack->device, from->buffer, from->offset + first * sizeof(int32_t), count * sizeof(int32_t), words);
}

tvlm_status tvlm_stack_regions(tvlm_stack *stack, int32_t index, int32_t capacity, tvlm_region *regions,
                               int32_t *count) {
    region_table table;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, count);
    if (capacity > 0) TVLM_NEED(&stack->device->log, regions);
    TVLM_TRY(find_table(stack, index, &table));
    *count = table.count;
    if (regions == NULL) return TVLM_OK;
    if (capacity < table.count)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "room for %d regions; image %d has %d",
                         (int)capacity, (int)index, (int)table.count);
    TVLM_TRY(read_words(stack, &table, TVLM_REGION_HEADER, (size_t)table.count * TVLM_REGION_WORDS, regions));
    for (int32_t i = 0; i < table.count; ++i) regions[i].radius = sqrtf(regions[i].radius);
    return TVLM_OK;
}

tvlm_status tvlm_stack_region_neighbours(tvlm_stack *stack, int32_t index, int32_t region, int32_t capacity,
                                         int32_t *neighbours, int32_t *count) {
    uint32_t row[TVLM_CLUSTER_MAX / 32];
    region_table table;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, count);
    if (capacity > 0) TVLM_NEED(&stack->device->log, neighbours);
    TVLM_TRY(find_table(stack, index, &table));
    if (region < 0 || region >= table.count)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "region %d of an image of %d", (int)region,
                         (int)table.count);
    const size_t words = (size_t)table.layout.row;
    TVLM_TRY(read_words(stack, &table, (size_t)table.layout.neighbours + (size_t)region * words, words, row));
    *count = 0;
    for (int32_t i = 0; i < table.count; ++i) {
        if ((row[i / 32] >> (i % 32) & 1u) == 0) continue;
        if (*count < capacity) neighbours[*count] = i;
        ++*count;
    }
    if (neighbours == NULL || *count <= capacity) return TVLM_OK;
    return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "room for %d neighbours; region %d has %d",
                     (int)capacity, (int)region, (int)*count);
}

tvlm_status tvlm_stack_labels(tvlm_stack *stack, int32_t index, size_t capacity, int32_t *labels) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_NEED(&stack->device->log, labels);
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    const size_t texels = (size_t)stack->width * (size_t)stack->height, bytes = texels * sizeof *labels;
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    if (capacity < texels)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "room for %zu labels; %dx%d pixels have %zu", capacity, (int)stack->width,
                         (int)stack->height, texels);
    TVLM_TRY(tvlm_stack_ensure(stack, chunk, TVLM_GRID_BIT(TVLM_GRID_CLUSTER)));
    return stack->device->backend->buffer_read(stack->device, chunk->products[TVLM_PRODUCT_LABELS],
                                               (size_t)(index - chunk->first) * bytes, bytes, labels);
}

/* ---- Labels handed in ---- */

/* The distinct ids seen so far, in a table with open addressing that is never more than a quarter full. */
typedef struct id_set {
    int32_t count;
    int32_t ids[TVLM_CLUSTER_MAX];       /* as they came; ascending after sort_ids */
    int32_t slots[4 * TVLM_CLUSTER_MAX]; /* 1 + the id's place in ids; 0: free */
} id_set;

/* Returns the slot of an id or, if it has none, the free slot where it would go. */
static int32_t *slot_of(id_set *set, int32_t id) {
    const uint32_t mask = 4 * TVLM_CLUSTER_MAX - 1;
    uint32_t at = ((uint32_t)id * UINT32_C(2654435761)) >> 16;
    for (;; ++at) {
        int32_t *slot = &set->slots[at & mask];
        if (*slot == 0 || set->ids[*slot - 1] == id) return slot;
    }
}

static bool add_id(id_set *set, int32_t id) {
    int32_t *slot = slot_of(set, id);
    if (*slot != 0) return true;
    if (set->count == TVLM_CLUSTER_MAX) return false;
    set->ids[set->count++] = id;
    *slot = set->count;
    return true;
}

static int ascending(const void *p, const void *q) {
    const int32_t a = *(const int32_t *)p, b = *(const int32_t *)q;
    return (a > b) - (a < b);
}

/* Sorts the ids. From then on, slots hold 1 + the place among the ascending ids. */
static void sort_ids(id_set *set) {
    qsort(set->ids, (size_t)set->count, sizeof set->ids[0], ascending);
    memset(set->slots, 0, sizeof set->slots);
    for (int32_t i = 0; i < set->count; ++i) *slot_of(set, set->ids[i]) = i + 1;
}

/* Resamples labels to the nearest one: each pixel takes the label under its centre. */
static void resample(const tvlm_stack *stack, const int32_t *labels, int32_t columns, int32_t rows,
                     size_t stride, int32_t *dense) {
    for (int64_t y = 0; y < stack->height; ++y) {
        const int32_t *row = labels + (size_t)((2 * y + 1) * rows / (2 * stack->height)) * stride;
        for (int64_t x = 0; x < stack->width; ++x) *dense++ = row[(2 * x + 1) * columns / (2 * stack->width)];
    }
}

/* Adds a row of labels. Returns false when there are more distinct ids than there can be regions. */
static bool add_row(id_set *set, const int32_t *labels, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if ((i == 0 || labels[i] != labels[i - 1]) && !add_id(set, labels[i])) return false;
    return true;
}

/* Returns whether a map has few enough ids. Ids that resampling would skip count, too, so that whether a map
 * is refused does not depend on the size of the image. */
static bool few_enough(id_set *set, const int32_t *labels, int32_t columns, int32_t rows, size_t stride) {
    for (size_t y = 0; y < (size_t)rows; ++y)
        if (!add_row(set, labels + y * stride, (size_t)columns)) return false;
    return true;
}

/* Replaces the ids by 0 .. set->count - 1, in ascending order. There must be few enough of them. */
static void make_dense(int32_t *labels, size_t texels, id_set *set) {
    memset(set, 0, sizeof *set);
    (void)add_row(set, labels, texels);
    sort_ids(set);
    for (size_t i = 0; i < texels; ++i) labels[i] = *slot_of(set, labels[i]) - 1;
}

static tvlm_status check_labels(const tvlm_stack *stack, int32_t columns, int32_t rows, size_t stride) {
    size_t all;
    if (columns < 1 || rows < 1)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "labels of %dx%d", (int)columns,
                         (int)rows);
    if (stride < (size_t)columns)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "a row stride of %zu labels; a row has %d",
                         stride, (int)columns);
    if (!tvlm_multiply(stride, (size_t)rows, &all) || !tvlm_multiply(all, sizeof(int32_t), &all))
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "%d rows of %zu labels are larger than memory", (int)rows, stride);
    return TVLM_OK;
}

/* Allocates memory for the labels of all images of a chunk. */
static tvlm_status prepare(tvlm_stack *stack, tvlm_chunk *chunk, size_t plane) {
    tvlm_buffer **const labels = &chunk->products[TVLM_PRODUCT_LABELS_GIVEN];
    if (*labels == NULL)
        TVLM_TRY(stack->device->backend->buffer_create(stack->device, (size_t)chunk->images * plane, labels));
    if (chunk->label_counts == NULL)
        chunk->label_counts = tvlm_allocate((size_t)chunk->images, sizeof *chunk->label_counts);
    if (chunk->label_counts == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for labels");
    return TVLM_OK;
}

static tvlm_status write_labels(tvlm_stack *stack, int32_t index, const int32_t *dense, int32_t count) {
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    const int32_t image = index - chunk->first;
    const size_t plane = (size_t)stack->width * (size_t)stack->height * sizeof *dense;
    TVLM_TRY(prepare(stack, chunk, plane));
    chunk->label_counts[image] = 0; /* a write that fails leaves none */
    tvlm_stack_outdate(stack, chunk, TVLM_GRID_BIT(TVLM_GRID_CLUSTER));
    TVLM_TRY(stack->device->backend->buffer_write(stack->device, chunk->products[TVLM_PRODUCT_LABELS_GIVEN],
                                                  (size_t)image * plane, plane, dense));
    chunk->label_counts[image] = count;
    return TVLM_OK;
}

static tvlm_status drop_labels(tvlm_stack *stack, int32_t index) {
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    if (!tvlm_stack_has_labels(stack, index)) return TVLM_OK;
    chunk->label_counts[index - chunk->first] = 0;
    tvlm_stack_outdate(stack, chunk, TVLM_GRID_BIT(TVLM_GRID_CLUSTER));
    return TVLM_OK;
}

/* Makes dense labels of the stack's pixels from a map. */
static tvlm_status take_labels(const tvlm_stack *stack, const int32_t *labels, int32_t columns, int32_t rows,
                               size_t stride, id_set *set, int32_t *dense) {
    if (!few_enough(set, labels, columns, rows, stride))
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "more than %d distinct labels",
                         TVLM_CLUSTER_MAX);
    resample(stack, labels, columns, rows, stride, dense);
    make_dense(dense, (size_t)stack->width * (size_t)stack->height, set);
    return TVLM_OK;
}

tvlm_status tvlm_stack_set_labels(tvlm_stack *stack, int32_t index, const int32_t *labels, int32_t columns,
                                  int32_t rows, size_t row_stride) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    if (labels == NULL) return drop_labels(stack, index);
    const size_t stride = row_stride > 0 ? row_stride : (size_t)(columns > 0 ? columns : 0);
    TVLM_TRY(check_labels(stack, columns, rows, stride));
    int32_t *dense = tvlm_allocate((size_t)stack->width * (size_t)stack->height, sizeof *dense);
    id_set *set = tvlm_allocate(1, sizeof *set);
    tvlm_status status = TVLM_OK;
    if (dense == NULL || set == NULL)
        status = tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for labels");
    else
        status = take_labels(stack, labels, columns, rows, stride, set, dense);
    if (status == TVLM_OK) status = write_labels(stack, index, dense, set->count);
    free(dense);
    free(set);
    return status;
}
