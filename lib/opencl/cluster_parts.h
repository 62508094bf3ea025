/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_parts.h: what the files that make regions share. cluster.c calls three others: slic.c (cluster.cl:
 * labels), pieces.c (pieces.cl: one piece for each region) and regions.c (regions.cl: what follows from
 * labels). None of these calls another one, except that pieces.c asks slic.c what its last pass was.
 */
#ifndef TVLM_OPENCL_CLUSTER_PARTS_H
#define TVLM_OPENCL_CLUSTER_PARTS_H

#include "core/cluster.h"
#include "opencl/backend.h"

#define CLUSTER_PASSES (TVLM_CLUSTER_COARSE_PASSES + TVLM_CLUSTER_FULL_PASSES)

typedef struct opencl_cluster {
    opencl_device *device;
    tvlm_format format;
    tvlm_cluster_plan plan;
    tvlm_region_layout layout;
    int32_t width, height, images;
    /* Where the regions of image 0 begin; NULL: in the middles of their cells. */
    const tvlm_region_centre *centres;
    /* The products: a label for each pixel, and the tables of regions. */
    cl_mem labels, regions;
    /* The colours of each image: its level 0, then its level 1 where passes run on that. */
    cl_mem colours;
    /* Ints for each pixel: SLIC's labels, and later the gradients. */
    cl_mem first;
    /* Ints for each pixel: the union-find of pieces.cl. */
    cl_mem parents;
    cl_mem sizes;
    /* Small tables of each image, which begin as 0. */
    cl_mem work;
    /* The words of an image in `colours` and in `work`. */
    int32_t colour_words;
    int32_t work_words;
    /*
     * Where tables begin in an image's words of `work`. The sums of the passes come first. Then come, for
     * each label, its largest piece, its main piece and its new number (pieces.cl). The sums of the regions
     * come last (regions.cl).
     */
    int32_t largest, mains, dense, table;
} opencl_cluster;

/* slic_pass of cl/slic.clh, which must have the same layout. */
typedef struct opencl_slic_pass {
    cl_int4 size, cells, tables;
    cl_float2 cell, scale, scale_before;
    cl_float weight;
    cl_int last;
} opencl_slic_pass;

/* How many regions there are before any is lost. */
static inline int32_t opencl_cluster_cells(const opencl_cluster *cluster) {
    return cluster->plan.columns * cluster->plan.rows;
}

static inline int32_t opencl_cluster_texels(const opencl_cluster *cluster) {
    return cluster->width * cluster->height;
}

static inline int32_t opencl_cluster_groups(int32_t count, int32_t each) {
    return (count + each - 1) / each;
}

/* How many pixels of a row a work-item makes. */
static inline int32_t opencl_cluster_run(const opencl_cluster *cluster) {
    return cluster->device->tuning.tile_width / cluster->device->tuning.tile_group_width;
}

/* Begins a call of a kernel of any of the three files. */
static inline tvlm_status opencl_cluster_begin(const opencl_cluster *cluster, const char *file,
                                               const char *name, opencl_call *call) {
    return tvlm_opencl_call_begin_tiles(cluster->device, NULL, file, name, cluster->format, "", call);
}

/* Runs a work-item for every `each` of `count` things; y is the image. */
static inline tvlm_status opencl_cluster_run_span(opencl_call *call, int32_t count, int32_t each,
                                                  int32_t images) {
    const opencl_tuning *tuning = &call->device->tuning;
    const size_t size[2] = {(size_t)opencl_cluster_groups(count, each), (size_t)images};
    const size_t group[2] = {(size_t)tuning->tile_group_width * (size_t)tuning->tile_group_height, 1};
    return tvlm_opencl_call_run(call, 2, size, group);
}

/* slic.c: makes cluster->colours from the source, and clears the tables; makes cluster->first by SLIC; and
 * gives the arguments of a pass. */
tvlm_status tvlm_opencl_cluster_colours(const opencl_cluster *cluster, const tvlm_texture *source);
tvlm_status tvlm_opencl_slic(const opencl_cluster *cluster);
opencl_slic_pass tvlm_opencl_slic_pass_of(const opencl_cluster *cluster, int32_t pass);

/* pieces.c: makes cluster->labels from cluster->first. */
tvlm_status tvlm_opencl_pieces(const opencl_cluster *cluster);

/* regions.c: makes the table and the channels from cluster->labels. */
tvlm_status tvlm_opencl_regions(const opencl_cluster *cluster, const tvlm_texture *out);

#endif
