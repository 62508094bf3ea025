/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c: the colours, the passes of SLIC, and in what order all that follows; cl/cluster.cl says how.
 */
#include "opencl/cluster.h"

static int32_t groups(int32_t count, int32_t each) {
    return (count + each - 1) / each;
}

/* ---- Calls ---- */

tvlm_status opencl_cluster_begin(const opencl_cluster *cluster, const char *file, const char *name,
                                 opencl_call *call) {
    return opencl_call_begin_tiles(cluster->device, NULL, file, name, cluster->format, call);
}

tvlm_status opencl_cluster_run_span(opencl_call *call, int32_t count, int32_t each, int32_t images) {
    const opencl_tuning *tuning = &call->device->tuning;
    const size_t size[2] = {(size_t)groups(count, each), (size_t)images};
    const size_t group[2] = {(size_t)tuning->tile_group_width * (size_t)tuning->tile_group_height, 1};
    return opencl_call_run(call, 2, size, group);
}

/* Pixels of a row of a work-item. */
static int32_t run(const opencl_cluster *cluster) {
    return cluster->device->tuning.tile_width / cluster->device->tuning.tile_group_width;
}

/* ---- Memory ---- */

static tvlm_status zero(opencl_cluster *cluster, cl_mem memory, size_t bytes) {
    const cl_int nothing = 0;
    const cl_int error = clEnqueueFillBuffer(cluster->device->queue, memory, &nothing, sizeof nothing, 0,
                                             bytes, 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK
                               : opencl_fail(&cluster->device->base.log, error, "clEnqueueFillBuffer");
}

static void lay_out(opencl_cluster *cluster, const tvlm_texture *source) {
    const int32_t cells = opencl_cluster_cells(cluster);
    cluster->colour_words = opencl_cluster_texels(cluster);
    if (cluster->plan.coarse > 0)
        cluster->colour_words += tvlm_level_side(source->width, 1) * tvlm_level_side(source->height, 1);
    cluster->largest =
        CLUSTER_PASSES * cells * TVLM_CLUSTER_SUMS + 1; /* cluster_rescue has the word before */
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
    TVLM_TRY(
        opencl_scratch(device, SCRATCH_A, (size_t)cluster->colour_words * images * word, &cluster->colours));
    TVLM_TRY(opencl_scratch(device, SCRATCH_B, plane, &cluster->first));
    TVLM_TRY(opencl_scratch(device, SCRATCH_C, plane, &cluster->parents));
    TVLM_TRY(opencl_scratch(device, SCRATCH_D, plane, &cluster->sizes));
    TVLM_TRY(opencl_scratch(device, SCRATCH_E, work, &cluster->work));
    TVLM_TRY(zero(cluster, cluster->work, work));
    return zero(cluster, cluster->regions, regions);
}

/* ---- 1, 2: SLIC ---- */

static tvlm_status colours(const opencl_cluster *cluster, const tvlm_texture *source, int32_t level) {
    const cl_int2 place = {{level > 0 ? opencl_cluster_texels(cluster) : 0, cluster->colour_words}};
    const int32_t width = tvlm_level_side(source->width, level),
                  height = tvlm_level_side(source->height, level);
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "cluster.cl", "cluster_lab", &call));
    opencl_call_input(&call, source);
    opencl_call_memory(&call, cluster->colours);
    opencl_call_bytes(&call, sizeof place, &place);
    opencl_call_int(&call, level);
    return opencl_call_run_pixels(&call, groups(width, run(cluster)), height, cluster->images);
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

/* Cells are cut into blocks of a tile's width; down, work-items take up to `rows` rows each, all about the
 * same. */
opencl_slic_pass opencl_cluster_pass(const opencl_cluster *cluster, int32_t pass) {
    const opencl_tuning *tuning = &cluster->device->tuning;
    const tvlm_cluster_plan *plan = &cluster->plan;
    const int32_t level = pass_level(cluster, pass), sums = opencl_cluster_cells(cluster) * TVLM_CLUSTER_SUMS;
    const int32_t width = tvlm_level_side(cluster->width, level),
                  height = tvlm_level_side(cluster->height, level);
    const int32_t cell_width = groups(width, plan->columns), cell_height = groups(height, plan->rows);
    const int32_t most = tuning->tile_group_height > 1 ? 4 : 64;
    const int32_t down = groups(cell_height, most * tuning->tile_group_height);
    const int32_t rows = groups(groups(cell_height, down), tuning->tile_group_height);
    const opencl_slic_pass made = {
        .size = {{width, height, level > 0 ? opencl_cluster_texels(cluster) : 0, cluster->colour_words}},
        .cells = {{plan->columns, plan->rows, groups(cell_width, tuning->tile_width), down}},
        /* Before the first pass there was none; the last one leaves no sums: theirs are zero. */
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
    const opencl_slic_pass made = opencl_cluster_pass(cluster, pass);
    const opencl_tuning *tuning = &cluster->device->tuning;
    const size_t group[3] = {(size_t)tuning->tile_group_width, (size_t)tuning->tile_group_height, 1};
    const size_t size[3] = {(size_t)(made.cells.s[0] * made.cells.s[2]) * group[0],
                            (size_t)(made.cells.s[1] * made.cells.s[3]) * group[1], (size_t)cluster->images};
    opencl_call call;
    TVLM_TRY(opencl_cluster_begin(cluster, "cluster.cl", "cluster_assign", &call));
    opencl_call_memory(&call, cluster->colours);
    opencl_call_memory(&call, cluster->work);
    opencl_call_memory(&call, cluster->first);
    opencl_call_bytes(&call, sizeof made, &made);
    return opencl_call_run(&call, 3, size, group);
}

/* As in cl/regions.clh: words of a region's sums. */
enum { SUM_COUNT = 0, SUM_X = 6, SUM_WORDS = 2 };

/* Centres handed in, as the sums that the first pass finds before it, and the ids in place of dense ones. */
static tvlm_status write_centres(const opencl_cluster *cluster, const tvlm_cluster_centre *centres) {
    const opencl_slic_pass first = opencl_cluster_pass(cluster, 0);
    const int32_t cells = opencl_cluster_cells(cluster);
    const size_t words = (size_t)cells * TVLM_CLUSTER_SUMS;
    cl_uint *table = tvlm_allocate(words, sizeof *table);
    if (table == NULL)
        return tvlm_fail(&cluster->device->base.log, TVLM_ERROR_MEMORY, "no memory for centres");
    for (int32_t i = 0; i < cells; ++i) {
        cl_uint *own = table + (size_t)i * TVLM_CLUSTER_SUMS;
        int64_t sums[5];
        if (!centres[i].known) continue;
        tvlm_cluster_centre_sums(&centres[i], first.scale_before.s[0], first.scale_before.s[1], sums);
        own[SUM_COUNT] = TVLM_CLUSTER_CENTRE_PIXELS;
        for (int k = 0; k < 5; ++k) own[SUM_X + SUM_WORDS * k] = (cl_uint)sums[k];
    }
    const tvlm_status status =
        opencl_write(cluster->device, cluster->work, (size_t)first.tables.s[1] * sizeof *table,
                     words * sizeof *table, table);
    free(table);
    return status;
}

tvlm_status opencl_cluster_take_ids(const opencl_cluster *cluster) {
    const int32_t cells = opencl_cluster_cells(cluster);
    cl_int *ids = tvlm_allocate((size_t)cells, sizeof *ids);
    if (ids == NULL) return tvlm_fail(&cluster->device->base.log, TVLM_ERROR_MEMORY, "no memory for ids");
    for (int32_t i = 0; i < cells; ++i) ids[i] = cluster->centres[i].id;
    const tvlm_status status =
        opencl_write(cluster->device, cluster->work, (size_t)cluster->dense * sizeof *ids,
                     (size_t)cells * sizeof *ids, ids);
    free(ids);
    TVLM_TRY(status);
    const cl_int error = clEnqueueFillBuffer(cluster->device->queue, cluster->regions, &cells, sizeof cells,
                                             0, sizeof cells, 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK : opencl_fail(&cluster->device->base.log, error, "ids of regions");
}

static tvlm_status slic(const opencl_cluster *cluster, const tvlm_texture *source) {
    if (cluster->plan.coarse > 0) TVLM_TRY(colours(cluster, source, 1));
    if (cluster->centres != NULL) TVLM_TRY(write_centres(cluster, cluster->centres));
    for (int32_t pass = 0; pass < CLUSTER_PASSES; ++pass) TVLM_TRY(assign(cluster, pass));
    return opencl_pieces(cluster);
}

/* ---- The family ---- */

/* The application's own labels, and how many they are, in place of what SLIC found. */
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
    return error == CL_SUCCESS ? TVLM_OK : opencl_fail(&cluster->device->base.log, error, "labels");
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
    TVLM_TRY(colours(&cluster, source, 0));
    if (!all_given(args, source->images)) TVLM_TRY(slic(&cluster, source));
    TVLM_TRY(take_given(&cluster, args));
    return opencl_regions(&cluster, args->out);
}
