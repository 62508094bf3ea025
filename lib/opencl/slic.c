/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slic.c: launches cl/cluster.cl: the colours, and the passes of SLIC.
 */
#include "core/try.h"
#include "opencl/cluster_parts.h"

tvlm_status tvlm_opencl_cluster_colours(const opencl_cluster *cluster, const tvlm_texture *source) {
    const int32_t levels = cluster->plan.coarse > 0 ? 2 : 1;
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "cluster.cl", "cluster_lab", &call));
    tvlm_opencl_call_input(&call, source);
    tvlm_opencl_call_memory(&call, cluster->colours);
    tvlm_opencl_call_memory(&call, cluster->work);
    tvlm_opencl_call_memory(&call, cluster->regions);
    tvlm_opencl_call_int4(&call, cluster->colour_words, cluster->work_words, cluster->layout.words, 0);
    tvlm_opencl_call_int(&call, cluster->images);
    return tvlm_opencl_call_run_pixels(&call,
                                       opencl_cluster_groups(source->width, opencl_cluster_run(cluster)),
                                       source->height, levels * cluster->images);
}

static float scale_of(int32_t side, int32_t level_side) {
    return (float)((double)side / (double)level_side);
}

static int32_t pass_level(const opencl_cluster *cluster, int32_t pass) {
    return pass < TVLM_CLUSTER_COARSE_PASSES ? cluster->plan.coarse : 0;
}

static cl_float2 pass_scale(const opencl_cluster *cluster, int32_t pass) {
    const int32_t level = pass_level(cluster, pass);
    const cl_float2 scale = {{scale_of(cluster->width, tvlm_level_side(cluster->width, level)),
                              scale_of(cluster->height, tvlm_level_side(cluster->height, level))}};
    return scale;
}

/*
 * Makes the arguments of a pass. A cell is cut into blocks, one for each work-group. Across, blocks are as
 * wide as a tile. Down, there are as few blocks as possible such that each work-item makes at most `most`
 * rows, and all blocks have about equally many rows.
 */
opencl_slic_pass tvlm_opencl_slic_pass_of(const opencl_cluster *cluster, int32_t pass) {
    const opencl_tuning *tuning = &cluster->device->tuning;
    const tvlm_cluster_plan *plan = &cluster->plan;
    const int32_t level = pass_level(cluster, pass), sums = opencl_cluster_cells(cluster) * TVLM_CLUSTER_SUMS;
    const int32_t width = tvlm_level_side(cluster->width, level),
                  height = tvlm_level_side(cluster->height, level);
    const int32_t cell_width = opencl_cluster_groups(width, plan->columns),
                  cell_height = opencl_cluster_groups(height, plan->rows);
    const int32_t most = tuning->tile_group_height > 1 ? 4 : 64;
    const int32_t down = opencl_cluster_groups(cell_height, most * tuning->tile_group_height);
    const int32_t rows =
        opencl_cluster_groups(opencl_cluster_groups(cell_height, down), tuning->tile_group_height);
    const opencl_slic_pass made = {
        .size = {{width, height, level > 0 ? opencl_cluster_texels(cluster) : 0, cluster->colour_words}},
        .cells = {{plan->columns, plan->rows, opencl_cluster_groups(cell_width, tuning->tile_width), down}},
        /* The first pass has no pass before it. It reads its centres where the sums of the last pass would
         * lie. The last pass leaves no sums, so these are 0, or the sums of centres that were handed in. */
        .tables = {{cluster->work_words, (pass > 0 ? pass - 1 : CLUSTER_PASSES - 1) * sums, pass * sums,
                    rows}},
        .cell = {{scale_of(cluster->width, plan->columns), scale_of(cluster->height, plan->rows)}},
        .scale = pass_scale(cluster, pass),
        .scale_before = pass_scale(cluster, pass > 0 ? pass - 1 : 0),
        .weight = plan->weight,
        .last = pass == CLUSTER_PASSES - 1};
    return made;
}

static tvlm_status assign(const opencl_cluster *cluster, int32_t pass) {
    const opencl_slic_pass made = tvlm_opencl_slic_pass_of(cluster, pass);
    const opencl_tuning *tuning = &cluster->device->tuning;
    const size_t group[3] = {(size_t)tuning->tile_group_width, (size_t)tuning->tile_group_height, 1};
    const size_t size[3] = {(size_t)(made.cells.s[0] * made.cells.s[2]) * group[0],
                            (size_t)(made.cells.s[1] * made.cells.s[3]) * group[1], (size_t)cluster->images};
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "cluster.cl", "cluster_assign", &call));
    tvlm_opencl_call_memory(&call, cluster->colours);
    tvlm_opencl_call_memory(&call, cluster->work);
    tvlm_opencl_call_memory(&call, cluster->first);
    tvlm_opencl_call_bytes(&call, sizeof made, &made);
    return tvlm_opencl_call_run(&call, 3, size, group);
}

/* As in cl/regions.clh: words of a region's sums. */
enum { SUM_COUNT = 0, SUM_X = 6, SUM_WORDS = 2 };

/* Writes centres that were handed in as the sums that the first pass finds. */
static tvlm_status write_centres(const opencl_cluster *cluster, const tvlm_region_centre *centres) {
    const opencl_slic_pass first = tvlm_opencl_slic_pass_of(cluster, 0);
    const int32_t cells = opencl_cluster_cells(cluster);
    const size_t words = (size_t)cells * TVLM_CLUSTER_SUMS;
    cl_uint *table = tvlm_allocate(words, sizeof *table);
    if (table == NULL)
        return tvlm_fail(&cluster->device->base.log, TVLM_ERROR_MEMORY, "no memory for centres");
    for (int32_t i = 0; i < cells; ++i) {
        cl_uint *own = table + (size_t)i * TVLM_CLUSTER_SUMS;
        int64_t sums[5];
        if (!centres[i].known) continue;
        tvlm_region_centre_sums(&centres[i], first.scale_before.s[0], first.scale_before.s[1], sums);
        own[SUM_COUNT] = TVLM_REGION_CENTRE_PIXELS;
        for (int k = 0; k < 5; ++k) own[SUM_X + SUM_WORDS * k] = (cl_uint)sums[k];
    }
    const tvlm_status status =
        tvlm_opencl_write(cluster->device, cluster->work, (size_t)first.tables.s[1] * sizeof *table,
                          words * sizeof *table, table);
    free(table);
    return status;
}

tvlm_status tvlm_opencl_slic(const opencl_cluster *cluster) {
    if (cluster->centres != NULL) TVLM_TRY(write_centres(cluster, cluster->centres));
    for (int32_t pass = 0; pass < CLUSTER_PASSES; ++pass) TVLM_TRY(assign(cluster, pass));
    return TVLM_OK;
}
