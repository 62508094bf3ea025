/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h: what the launches of cluster.cl (SLIC), pieces.cl (one piece for each region) and regions.cl
 * (what follows from labels) share.
 */
#ifndef TVLM_OPENCL_CLUSTER_H
#define TVLM_OPENCL_CLUSTER_H

#include "core/cluster.h"
#include "opencl/backend.h"

#define CLUSTER_PASSES (TVLM_CLUSTER_COARSE_PASSES + TVLM_CLUSTER_FULL_PASSES)

typedef struct opencl_cluster {
    opencl_device *device;
    tvlm_format format;
    tvlm_cluster_plan plan;
    tvlm_region_layout layout;
    int32_t width, height, images;
    const tvlm_cluster_centre *centres; /* where the regions of image 0 begin; NULL: in their cells */
    cl_mem labels, regions;             /* the products */
    cl_mem colours;                     /* an image's level 0, then its level 1 where passes run on it */
    cl_mem first;                       /* a plane: SLIC's labels, then the gradients */
    cl_mem parents;                     /* a plane */
    cl_mem sizes;                       /* a plane */
    cl_mem work;                        /* small tables, zero at first */
    int32_t colour_words;               /* of an image */
    int32_t work_words; /* of an image; in it begin the sums of the passes, one after the other, and */
    int32_t largest, mains, dense, table;
} opencl_cluster;

/* slic_pass of slic.clh */
typedef struct opencl_slic_pass {
    cl_int4 size, cells, tables;
    cl_float2 cell, scale, scale_before;
    cl_float weight;
    cl_int last;
} opencl_slic_pass;

opencl_slic_pass opencl_cluster_pass(const opencl_cluster *cluster, int32_t pass);

/* How many regions there are before any is lost. */
static inline int32_t opencl_cluster_cells(const opencl_cluster *cluster) {
    return cluster->plan.columns * cluster->plan.rows;
}

static inline int32_t opencl_cluster_texels(const opencl_cluster *cluster) {
    return cluster->width * cluster->height;
}

/* A kernel of any of them, one work-item for so many of `count` things, y or z the image. */
tvlm_status opencl_cluster_begin(const opencl_cluster *cluster, const char *file, const char *name,
                                 opencl_call *call);
tvlm_status opencl_cluster_run_span(opencl_call *call, int32_t count, int32_t each, int32_t images);

/* The ids of the centres in place of the dense ones of image 0. */
tvlm_status opencl_cluster_take_ids(const opencl_cluster *cluster);

/* cluster->labels from cluster->first. */
tvlm_status opencl_pieces(const opencl_cluster *cluster);

/* The table and the texels from cluster->labels. */
tvlm_status opencl_regions(const opencl_cluster *cluster, const tvlm_texture *out);

#endif
