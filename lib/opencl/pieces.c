/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.c: launches cl/pieces.cl, which makes each region that SLIC left one connected piece.
 */
#include "core/try.h"
#include "opencl/cluster_parts.h"

/* SPAN of cl/regions.clh: how many pixels a work-item goes over in kernels without tiles. */
static int32_t span(const opencl_cluster *cluster) {
    const opencl_tuning *tuning = &cluster->device->tuning;
    return tuning->tile_width * tuning->tile_height / (tuning->tile_group_width * tuning->tile_group_height);
}

static void pass_tables(opencl_call *call, const opencl_cluster *cluster) {
    tvlm_opencl_call_int4(call, cluster->work_words, cluster->largest, cluster->mains, cluster->dense);
}

static void pass_size(opencl_call *call, const opencl_cluster *cluster) {
    const cl_int2 size = {{cluster->width, cluster->height}};
    tvlm_opencl_call_bytes(call, sizeof size, &size);
}

/* Begins pieces_count or pieces_main. */
static tvlm_status begin_over_roots(const opencl_cluster *cluster, const char *name, opencl_call *call) {
    TVLM_TRY(opencl_cluster_begin(cluster, "pieces.cl", name, call));
    tvlm_opencl_call_memory(call, cluster->parents);
    tvlm_opencl_call_int(call, opencl_cluster_texels(cluster));
    tvlm_opencl_call_memory(call, cluster->first);
    tvlm_opencl_call_memory(call, cluster->sizes);
    tvlm_opencl_call_memory(call, cluster->work);
    pass_tables(call, cluster);
    return TVLM_OK;
}

static tvlm_status find_pieces(const opencl_cluster *cluster) {
    const opencl_tuning *tuning = &cluster->device->tuning;
    const int32_t edges = (cluster->width - 1) / tuning->tile_width * cluster->height +
                          (cluster->height - 1) / tuning->tile_height * cluster->width;
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "pieces.cl", "pieces_link", &call));
    tvlm_opencl_call_memory(&call, cluster->first);
    pass_size(&call, cluster);
    tvlm_opencl_call_memory(&call, cluster->parents);
    tvlm_opencl_call_memory(&call, cluster->sizes);
    TVLM_TRY(tvlm_opencl_call_run_tiles(&call, cluster->width, cluster->height, cluster->images));
    if (edges > 0) {
        TVLM_TRY(opencl_cluster_begin(cluster, "pieces.cl", "pieces_merge", &call));
        tvlm_opencl_call_memory(&call, cluster->first);
        pass_size(&call, cluster);
        tvlm_opencl_call_memory(&call, cluster->parents);
        TVLM_TRY(opencl_cluster_run_span(&call, edges, 1, cluster->images));
    }
    TVLM_TRY(begin_over_roots(cluster, "pieces_count", &call));
    return opencl_cluster_run_span(&call, opencl_cluster_texels(cluster), span(cluster), cluster->images);
}

static tvlm_status find_mains(const opencl_cluster *cluster) {
    opencl_call call;
    TVLM_TRY(begin_over_roots(cluster, "pieces_main", &call));
    tvlm_opencl_call_int(&call, opencl_cluster_cells(cluster));
    tvlm_opencl_call_memory(&call, cluster->regions);
    tvlm_opencl_call_int(&call, cluster->layout.words);
    return opencl_cluster_run_span(&call, opencl_cluster_texels(cluster), span(cluster), cluster->images);
}

/* Puts the ids of the centres in place of the new numbers of image 0. */
static tvlm_status take_ids(const opencl_cluster *cluster) {
    const int32_t cells = opencl_cluster_cells(cluster);
    cl_int *ids = tvlm_allocate((size_t)cells, sizeof *ids);
    if (ids == NULL) return tvlm_fail(&cluster->device->base.log, TVLM_ERROR_MEMORY, "no memory for ids");
    for (int32_t i = 0; i < cells; ++i) ids[i] = cluster->centres[i].id;
    const tvlm_status status =
        tvlm_opencl_write(cluster->device, cluster->work, (size_t)cluster->dense * sizeof *ids,
                          (size_t)cells * sizeof *ids, ids);
    free(ids);
    TVLM_TRY(status);
    const cl_int error = clEnqueueFillBuffer(cluster->device->queue, cluster->regions, &cells, sizeof cells,
                                             0, sizeof cells, 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&cluster->device->base, error, "ids of regions");
}

static tvlm_status offer(const opencl_cluster *cluster) {
    const opencl_slic_pass last = tvlm_opencl_slic_pass_of(cluster, CLUSTER_PASSES - 1);
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "pieces.cl", "pieces_offer", &call));
    tvlm_opencl_call_memory(&call, cluster->colours);
    tvlm_opencl_call_memory(&call, cluster->parents);
    tvlm_opencl_call_memory(&call, cluster->sizes);
    tvlm_opencl_call_memory(&call, cluster->first);
    tvlm_opencl_call_memory(&call, cluster->work);
    pass_tables(&call, cluster);
    tvlm_opencl_call_bytes(&call, sizeof last, &last);
    tvlm_opencl_call_memory(&call, cluster->labels);
    return opencl_cluster_run_span(&call, opencl_cluster_texels(cluster), span(cluster), cluster->images);
}

/* Runs pieces_settle, or pieces_roots before it. */
static tvlm_status settle(const opencl_cluster *cluster, const char *name) {
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "pieces.cl", name, &call));
    tvlm_opencl_call_memory(&call, cluster->parents);
    tvlm_opencl_call_memory(&call, cluster->sizes);
    tvlm_opencl_call_memory(&call, cluster->first);
    tvlm_opencl_call_memory(&call, cluster->work);
    pass_tables(&call, cluster);
    pass_size(&call, cluster);
    tvlm_opencl_call_memory(&call, cluster->labels);
    return opencl_cluster_run_span(&call, opencl_cluster_texels(cluster), span(cluster), cluster->images);
}

tvlm_status tvlm_opencl_pieces(const opencl_cluster *cluster) {
    TVLM_TRY(find_pieces(cluster));
    TVLM_TRY(find_mains(cluster));
    if (cluster->centres != NULL) TVLM_TRY(take_ids(cluster));
    TVLM_TRY(offer(cluster));
    if (span(cluster) > 1) TVLM_TRY(settle(cluster, "pieces_roots"));
    return settle(cluster, "pieces_settle");
}
