/*
 * cluster.h: what the launches of cluster.cl (labels) and regions.cl (what follows from them) share.
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
    cl_mem labels, regions; /* the products */
    cl_mem colours;         /* an image's level 0, then its level 1 where passes run on it */
    cl_mem first;           /* a plane: SLIC's labels, then the gradients */
    cl_mem parents;         /* a plane */
    cl_mem sizes;           /* a plane */
    cl_mem work;            /* small tables, zero at first */
    int32_t colour_words;   /* of an image */
    int32_t work_words;     /* of an image; in it begin the sums of the passes, one after the other, and */
    int32_t largest, mains, dense, table;
} opencl_cluster;

/* A kernel of either file, one work-item for so many of `count` things, y or z the image. */
tvlm_status opencl_cluster_begin(const opencl_cluster *cluster, const char *file, const char *name,
                                 opencl_call *call);
tvlm_status opencl_cluster_run_span(opencl_call *call, int32_t count, int32_t each, int32_t images);

/* The table and the texels from cluster->labels. */
tvlm_status opencl_regions(const opencl_cluster *cluster, const tvlm_texture *out);

#endif
