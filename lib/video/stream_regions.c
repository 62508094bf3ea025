/*
 * Regions that keep their ids: SLIC begins at the last frame's centroids, moved along the flow, and each
 * region is what became of the one that began there.
 *
 * SLIC looks for the centres of a pixel among those of its cell and of the eight around it, so that each
 * centre belongs to a cell. Where regions moved, they are dealt out to cells anew, the nearest first; one
 * that finds no free cell around it, or leaves the image, is given up, and a cell without one begins in its
 * middle with an id that is free.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "texturevlm/regions.h"
#include "video/stream.h"

/* A region that may go to a cell. */
typedef struct offer {
    int32_t region, cell;
    float apart;
} offer;

tvlm_status stream_keep_regions(stream_camera *camera) {
    tvlm_stack *stack = camera->stack;
    const tvlm_chunk *chunk = &stack->chunks[0];
    int32_t count = 0;
    const bool given = chunk->label_counts != NULL && chunk->label_counts[0] > 0;
    if (given) stream_drop_regions(camera);
    if (given || (chunk->valid & TVLM_GRID_BIT(TVLM_GRID_CLUSTER)) == 0) return TVLM_OK;
    TVLM_TRY(tvlm_stack_regions(stack, 0, 0, NULL, &count));
    TVLM_TRY(tvlm_stack_regions(stack, 0, count, camera->regions, &count));
    camera->region_count = count;
    return TVLM_OK;
}

void stream_drop_regions(stream_camera *camera) {
    camera->region_count = 0;
    camera->stack->centres = NULL;
}

/* Where each region is now: p with p + flow(p) = where it was; two steps towards it. */
static tvlm_status move_regions(const tvlm_stream *stream, stream_camera *camera) {
    const int32_t count = camera->region_count;
    const float level =
        0.5f * log2f((float)camera->stack->width * (float)camera->stack->height / (float)stream->cells);
    float *points = tvlm_allocate((size_t)count, 5 * sizeof *points), *flow;
    tvlm_status status = TVLM_OK;
    if (points == NULL)
        return tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for %d regions", (int)count);
    flow = points + 2 * count;
    for (int32_t i = 0; i < count; ++i) {
        points[2 * i] = camera->regions[i].x;
        points[2 * i + 1] = camera->regions[i].y;
    }
    for (int step = 0; status == TVLM_OK && step < 2; ++step) {
        status = stream_flow_at(camera, points, count, fmaxf(0.0f, level - 2.0f), flow);
        for (int32_t i = 0; status == TVLM_OK && i < count; ++i) {
            if (!(flow[3 * i + 2] >= stream->confidence)) continue;
            points[2 * i] = camera->regions[i].x - flow[3 * i];
            points[2 * i + 1] = camera->regions[i].y - flow[3 * i + 1];
        }
    }
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i) {
        camera->regions[i].x = points[2 * i];
        camera->regions[i].y = points[2 * i + 1];
    }
    free(points);
    return status;
}

static int by_distance(const void *p, const void *q) {
    const offer *a = p, *b = q;
    if (a->apart != b->apart) return a->apart < b->apart ? -1 : 1;
    if (a->region != b->region) return a->region < b->region ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

/* The cells around a region that is in the image. */
static int32_t add_offers(const stream_camera *camera, const tvlm_cluster_plan *plan, int32_t region,
                          offer *offers) {
    const tvlm_region *own = &camera->regions[region];
    const float width = (float)camera->stack->width, height = (float)camera->stack->height;
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

/* Ids of cells without a region: the lowest that are free. */
static void name_others(tvlm_cluster_centre *centres, int32_t cells, bool *used) {
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
        tvlm_cluster_centre *centre = &camera->centres[offers[i].cell];
        if (centre->known || placed[offers[i].region]) continue;
        placed[offers[i].region] = true;
        *centre = (tvlm_cluster_centre){offers[i].region, true,      region->x, region->y,
                                        region->l,        region->a, region->b};
    }
    name_others(camera->centres, cells, placed);
}

tvlm_status stream_place_regions(const tvlm_stream *stream, stream_camera *camera) {
    tvlm_stack *stack = camera->stack;
    const tvlm_cluster_plan plan =
        tvlm_cluster_plan_for(stack->width, stack->height, stack->levels, &stack->settings);
    int32_t count = 0;
    if (camera->region_count == 0 || camera->region_count > stream->cells) return TVLM_OK;
    if (stream_has_flow(camera)) TVLM_TRY(move_regions(stream, camera));
    offer *offers = tvlm_allocate((size_t)camera->region_count, 9 * sizeof *offers);
    bool *placed = tvlm_allocate((size_t)stream->cells, sizeof *placed);
    if (offers != NULL && placed != NULL) {
        for (int32_t i = 0; i < camera->region_count; ++i)
            count += add_offers(camera, &plan, i, offers + count);
        qsort(offers, (size_t)count, sizeof *offers, by_distance);
        deal_out(camera, offers, count, stream->cells, placed);
        stack->centres = camera->centres;
    }
    const bool made = offers != NULL && placed != NULL;
    free(offers);
    free(placed);
    return made ? TVLM_OK : tvlm_fail(&stream->device->log, TVLM_ERROR_MEMORY, "no memory for regions");
}
