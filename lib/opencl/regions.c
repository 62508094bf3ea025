/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c: launches cl/regions.cl: the table of regions and their channels, from labels.
 */
#include "core/try.h"
#include "opencl/cluster_parts.h"

#define DOWN 16 /* as in regions.cl */

/* Runs work-items that each go over RUN pixels of a row. */
static tvlm_status run_rows(opencl_call *call, const opencl_cluster *cluster) {
    return tvlm_opencl_call_run_pixels(call,
                                       opencl_cluster_groups(cluster->width, opencl_cluster_run(cluster)),
                                       cluster->height, cluster->images);
}

static void pass_plane(opencl_call *call, const opencl_cluster *cluster) {
    tvlm_opencl_call_int4(call, cluster->width, cluster->height, 0, cluster->colour_words);
}

static void pass_layout(opencl_call *call, const opencl_cluster *cluster) {
    tvlm_opencl_call_int4(call, cluster->layout.words, cluster->layout.neighbours, cluster->layout.row, 0);
}

static void pass_pair(opencl_call *call, int32_t x, int32_t y) {
    const cl_int2 pair = {{x, y}};
    tvlm_opencl_call_bytes(call, sizeof pair, &pair);
}

static tvlm_status gradient(const opencl_cluster *cluster) {
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "regions.cl", "regions_gradient", &call));
    tvlm_opencl_call_memory(&call, cluster->colours);
    pass_plane(&call, cluster);
    tvlm_opencl_call_memory(&call, cluster->first);
    return tvlm_opencl_call_run_tiles(&call, cluster->width, cluster->height, cluster->images);
}

static tvlm_status table(const opencl_cluster *cluster) {
    const opencl_tuning *tuning = &cluster->device->tuning;
    const size_t group[3] = {(size_t)tuning->tile_group_width, (size_t)tuning->tile_group_height, 1};
    const size_t size[3] = {(size_t)opencl_cluster_groups(cluster->width, opencl_cluster_run(cluster)),
                            (size_t)opencl_cluster_groups(cluster->height, DOWN), (size_t)cluster->images};
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "regions.cl", "regions_sum", &call));
    tvlm_opencl_call_memory(&call, cluster->colours);
    tvlm_opencl_call_memory(&call, cluster->first);
    tvlm_opencl_call_memory(&call, cluster->labels);
    pass_plane(&call, cluster);
    tvlm_opencl_call_memory(&call, cluster->work);
    pass_pair(&call, cluster->work_words, cluster->table);
    tvlm_opencl_call_int(&call, cluster->largest - 1);
    TVLM_TRY(tvlm_opencl_call_run(&call, 3, size, group));
    TVLM_TRY(opencl_cluster_begin(cluster, "regions.cl", "regions_table", &call));
    tvlm_opencl_call_memory(&call, cluster->work);
    pass_pair(&call, cluster->work_words, cluster->table);
    pass_pair(&call, cluster->width, cluster->height);
    tvlm_opencl_call_int(&call, cluster->layout.capacity);
    tvlm_opencl_call_memory(&call, cluster->regions);
    pass_layout(&call, cluster);
    return opencl_cluster_run_span(&call, cluster->layout.capacity, 1, cluster->images);
}

tvlm_status tvlm_opencl_regions(const opencl_cluster *cluster, const tvlm_texture *out) {
    opencl_call call;
    TVLM_TRY(gradient(cluster));
    TVLM_TRY(table(cluster));
    TVLM_TRY(opencl_cluster_begin(cluster, "regions.cl", "regions_reach", &call));
    tvlm_opencl_call_memory(&call, cluster->labels);
    pass_pair(&call, cluster->width, cluster->height);
    tvlm_opencl_call_memory(&call, cluster->regions);
    pass_layout(&call, cluster);
    TVLM_TRY(run_rows(&call, cluster));
    TVLM_TRY(opencl_cluster_begin(cluster, "regions.cl", "regions_store", &call));
    tvlm_opencl_call_memory(&call, cluster->colours);
    tvlm_opencl_call_memory(&call, cluster->first);
    tvlm_opencl_call_memory(&call, cluster->labels);
    pass_plane(&call, cluster);
    tvlm_opencl_call_memory(&call, cluster->regions);
    pass_layout(&call, cluster);
    tvlm_opencl_call_output(&call, out);
    return run_rows(&call, cluster);
}
