/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_regions.c: lets regions keep their ids from frame to frame. SLIC begins at the last frame's
 * centroids, moved along the flow, and the region that it finds from there keeps the id.
 *
 * SLIC looks for a pixel's centre among the centres of its cell and of the eight cells around it. So each
 * centre must belong to a cell. After the regions moved, they are dealt out to the cells anew, the nearest
 * pair first. A region that finds no free cell around it, or that leaves the image, is given up. A cell that
 * gets no region begins one in its middle, with an id that is free.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "stack/delta.h"
#include "stack/regions.h"
#include "stack/stack.h"
#include "video/inside.h"

/* A region that may go to a cell, and the squared distance of the two, measured in cells. */
typedef struct offer {
    int32_t region, cell;
    float apart;
} offer;

/* If the table is on the device, the host does not know how many regions there are. All entries of the table
 * are moved then; those beyond the last region are never read. */
tvlm_status tvlm_stream_carry_regions(const tvlm_stream *stream, stream_camera *camera) {
    tvlm_stack *stack = camera->stack;
    const tvlm_backend *backend = tvlm_stack_device(stack)->backend;
    const size_t word = sizeof(int32_t), to = camera->gather.regions * word;
    const int32_t header[TVLM_REGION_HEADER] = {camera->region_count};
    tvlm_buffer *table;
    size_t at;
    camera->gathered = 0;
    if (tvlm_stack_has_labels(stack, 0)) {
        tvlm_stream_drop_regions(camera);
        return TVLM_OK;
    }
    /* A table that was carried over belongs to an earlier frame. It is not used, since the host knows where
     * its regions have moved since. */
    if (tvlm_stack_region_table(stack, 0, &table, &at) &&
        !tvlm_delta_is_carried(stack, 0, TVLM_GRID_CLUSTER)) {
        camera->gathered = stream->cells;
        return backend->buffer_copy(tvlm_stack_device(stack), table, at, camera->gather.buffer, to,
                                    (TVLM_REGION_HEADER + TVLM_REGION_WORDS * (size_t)stream->cells) * word);
    }
    if (camera->region_count == 0) return TVLM_OK;
    camera->gathered = camera->region_count;
    TVLM_TRY(
        backend->buffer_write(tvlm_stack_device(stack), camera->gather.buffer, to, sizeof header, header));
    return backend->buffer_write(tvlm_stack_device(stack), camera->gather.buffer, to + sizeof header,
                                 (size_t)camera->region_count * sizeof *camera->regions, camera->regions);
}

void tvlm_stream_drop_regions(stream_camera *camera) {
    camera->region_count = 0;
    tvlm_stack_set_centres(camera->stack, NULL);
}

/* The number of iterations that find the place to which a region moved. */
#define STEPS 2

tvlm_status tvlm_stream_follow_regions(const tvlm_stream *stream, stream_camera *camera) {
    const stream_gather *gather = &camera->gather;
    const float level = 0.5f * log2f((float)tvlm_stack_width(camera->stack) *
                                     (float)tvlm_stack_height(camera->stack) / (float)stream->cells);
    return tvlm_stream_follow(camera, &(tvlm_follow){.level = fmaxf(0.0f, level - 2.0f),
                                                     .confidence = stream->confidence,
                                                     .steps = STEPS,
                                                     .from_offset = gather->regions + TVLM_REGION_HEADER,
                                                     .from_stride = TVLM_REGION_WORDS,
                                                     .to_offset = gather->regions_moved,
                                                     .count = camera->gathered});
}

/* Takes the regions from what was gathered, at the places that the flow moved them to. */
static void take_regions(const tvlm_stream *stream, stream_camera *camera) {
    const float *table = camera->gather.host + camera->gather.regions,
                *moved = camera->gather.host + camera->gather.regions_moved;
    int32_t count;
    memcpy(&count, table, sizeof count);
    camera->region_count = count > 0 && count <= stream->cells ? count : 0;
    memcpy(camera->regions, table + TVLM_REGION_HEADER,
           (size_t)camera->region_count * sizeof *camera->regions);
    for (int32_t i = 0; stream_has_flow(camera) && i < camera->region_count; ++i) {
        camera->regions[i].x = moved[2 * i];
        camera->regions[i].y = moved[2 * i + 1];
    }
}

static int by_distance(const void *p, const void *q) {
    const offer *a = p, *b = q;
    if (a->apart != b->apart) return a->apart < b->apart ? -1 : 1;
    if (a->region != b->region) return a->region < b->region ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

/* Adds an offer for the cell that a region is in and for each cell around it, if the region is in the image.
 * Returns the number of offers. */
static int32_t add_offers(const stream_camera *camera, const tvlm_cluster_plan *plan, int32_t region,
                          offer *offers) {
    const tvlm_region *own = &camera->regions[region];
    const float width = (float)tvlm_stack_width(camera->stack),
                height = (float)tvlm_stack_height(camera->stack);
    const float across = width / (float)plan->columns, down = height / (float)plan->rows;
    int32_t count = 0;
    if (own->pixels == 0 || !(own->x >= 0.0f && own->x < width && own->y >= 0.0f && own->y < height))
        return 0;
    const int32_t column = (int32_t)(own->x / across), row = (int32_t)(own->y / down);
    for (int32_t r = row - 1; r <= row + 1; ++r)
        for (int32_t c = column - 1; c <= column + 1; ++c) {
            if (r < 0 || c < 0 || r >= plan->rows || c >= plan->columns) continue;
            const float dx = (own->x / across - 0.5f) - (float)c, dy = (own->y / down - 0.5f) - (float)r;
            offers[count++] = (offer){region, r * plan->columns + c, dx * dx + dy * dy};
        }
    return count;
}

/* Gives cells without a region the lowest ids that are free. */
static void name_others(tvlm_region_centre *centres, int32_t cells, bool *used) {
    int32_t next = 0;
    for (int32_t i = 0; i < cells; ++i) used[i] = false;
    for (int32_t i = 0; i < cells; ++i)
        if (centres[i].known) used[centres[i].id] = true;
    for (int32_t i = 0; i < cells; ++i) {
        if (centres[i].known) continue;
        while (used[next]) ++next;
        centres[i].id = next++;
    }
}

static void deal_out(stream_camera *camera, const offer *offers, int32_t count, int32_t cells, bool *placed) {
    memset(camera->centres, 0, (size_t)cells * sizeof *camera->centres);
    for (int32_t i = 0; i < cells; ++i) placed[i] = false;
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_region *region = &camera->regions[offers[i].region];
        tvlm_region_centre *centre = &camera->centres[offers[i].cell];
        if (centre->known || placed[offers[i].region]) continue;
        placed[offers[i].region] = true;
        *centre = (tvlm_region_centre){offers[i].region, true,      region->x, region->y,
                                       region->l,        region->a, region->b};
    }
    name_others(camera->centres, cells, placed);
}

tvlm_status tvlm_stream_place_regions(const tvlm_stream *stream, stream_camera *camera) {
    tvlm_stack *stack = camera->stack;
    const tvlm_cluster_plan plan = tvlm_stack_cluster_plan(stack);
    int32_t count = 0;
    if (camera->gathered > 0) take_regions(stream, camera);
    if (camera->region_count == 0) return TVLM_OK;
    offer *offers = tvlm_allocate((size_t)camera->region_count, 9 * sizeof *offers);
    bool *placed = tvlm_allocate((size_t)stream->cells, sizeof *placed);
    if (offers != NULL && placed != NULL) {
        for (int32_t i = 0; i < camera->region_count; ++i)
            count += add_offers(camera, &plan, i, offers + count);
        qsort(offers, (size_t)count, sizeof *offers, by_distance);
        deal_out(camera, offers, count, stream->cells, placed);
        tvlm_stack_set_centres(stack, camera->centres);
    }
    const bool made = offers != NULL && placed != NULL;
    free(offers);
    free(placed);
    return made ? TVLM_OK : tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for regions");
}
