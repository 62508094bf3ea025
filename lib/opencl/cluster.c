/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c: the family of regions: its memory, and the order in which slic.c, pieces.c and regions.c do
 * their parts.
 */
#include "opencl/cluster_parts.h"

#include "core/try.h"

/* ---- Memory ---- */

static void lay_out(opencl_cluster *cluster, const tvlm_texture *source) {
    const int32_t cells = opencl_cluster_cells(cluster);
    cluster->colour_words = opencl_cluster_texels(cluster);
    if (cluster->plan.coarse > 0)
        cluster->colour_words += tvlm_level_side(source->width, 1) * tvlm_level_side(source->height, 1);
    /* The word before `largest` names a pixel whose region goes to the pixels that have none (pieces_settle
     * of pieces.cl). */
    cluster->largest = CLUSTER_PASSES * cells * TVLM_CLUSTER_SUMS + 1;
    cluster->mains = cluster->largest + cells;
    cluster->dense = cluster->mains + cells;
    cluster->table = cluster->dense + cells;
    cluster->work_words = cluster->table + cluster->layout.capacity * TVLM_CLUSTER_SUMS;
}

static tvlm_status take_memory(opencl_cluster *cluster, const tvlm_generate_args *args) {
    opencl_device *device = cluster->device;
    const size_t images = (size_t)cluster->images, word = sizeof(cl_int);
    const size_t plane = (size_t)opencl_cluster_texels(cluster) * images * word;
    const size_t regions = (size_t)cluster->layout.words * images * word;
    const size_t work = (size_t)cluster->work_words * images * word;
    TVLM_TRY(tvlm_product_reserve(&device->base, args, TVLM_PRODUCT_LABELS, plane));
    TVLM_TRY(tvlm_product_reserve(&device->base, args, TVLM_PRODUCT_REGIONS, regions));
    cluster->labels = ((opencl_buffer *)args->products[TVLM_PRODUCT_LABELS])->memory;
    cluster->regions = ((opencl_buffer *)args->products[TVLM_PRODUCT_REGIONS])->memory;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, (size_t)cluster->colour_words * images * word,
                                 &cluster->colours));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, plane, &cluster->first));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, plane, &cluster->parents));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_D, plane, &cluster->sizes));
    return tvlm_opencl_scratch(device, SCRATCH_E, work, &cluster->work);
}

/* ---- The family ---- */

/* Takes the application's own labels, and how many there are, in place of what SLIC found. */
static tvlm_status take_given(const opencl_cluster *cluster, const tvlm_generate_args *args) {
    const size_t plane = (size_t)opencl_cluster_texels(cluster) * sizeof(cl_int),
                 block = (size_t)cluster->layout.words * sizeof(cl_int);
    const cl_command_queue queue = cluster->device->queue;
    cl_int error = CL_SUCCESS;
    for (int32_t i = 0; args->label_counts != NULL && i < cluster->images && error == CL_SUCCESS; ++i) {
        const cl_int4 header = {{args->label_counts[i], 1, 0, 0}};
        if (header.s[0] == 0) continue;
        const cl_mem from = ((opencl_buffer *)args->products[TVLM_PRODUCT_LABELS_GIVEN])->memory;
        const size_t at = (size_t)i;
        error =
            clEnqueueCopyBuffer(queue, from, cluster->labels, at * plane, at * plane, plane, 0, NULL, NULL);
        if (error == CL_SUCCESS)
            error = clEnqueueFillBuffer(queue, cluster->regions, &header, sizeof header, at * block,
                                        sizeof header, 0, NULL, NULL);
    }
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&cluster->device->base, error, "labels");
}

static bool all_given(const tvlm_generate_args *args, int32_t images) {
    for (int32_t i = 0; i < images; ++i)
        if (args->label_counts == NULL || args->label_counts[i] == 0) return false;
    return true;
}

tvlm_status tvlm_opencl_cluster(tvlm_device *base, const tvlm_generate_args *args) {
    const tvlm_texture *source = args->grids[TVLM_GRID_SOURCE];
    opencl_cluster cluster = {
        .device = (opencl_device *)base,
        .format = source->format,
        .plan = tvlm_cluster_plan_for(source->width, source->height, source->levels, args->settings),
        .width = source->width,
        .height = source->height,
        .images = source->images,
        .centres = args->centres};
    cluster.layout = tvlm_region_layout_for(&cluster.plan, args->label_counts, source->images);
    lay_out(&cluster, source);
    TVLM_TRY(take_memory(&cluster, args));
    TVLM_TRY(tvlm_opencl_cluster_colours(&cluster, source));
    if (!all_given(args, source->images)) {
        TVLM_TRY(tvlm_opencl_slic(&cluster));
        TVLM_TRY(tvlm_opencl_pieces(&cluster));
    }
    TVLM_TRY(take_given(&cluster, args));
    return tvlm_opencl_regions(&cluster, args->out);
}
