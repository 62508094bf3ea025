/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c: launches cl/flow.cl: the planes first, and then on each level, coarse to fine, the patches, the
 * densification, and a kernel for each refinement.
 */
#include <stdio.h>

#include "core/flow.h"
#include "core/try.h"
#include "opencl/backend.h"

enum { LEVELS_MAX = 32, SYSTEM_PLANES = 6 };

typedef struct flow_job {
    opencl_device *device;
    const tvlm_flow_args *args;
    /* `flows` are the flow that is being made and the one before it. */
    cl_mem planes, patches, systems, flows[2];
    /* Width, height, row stride, and the index of texel (0, 0) in a plane. */
    cl_int4 levels[LEVELS_MAX];
    /* The floats of one image's planes, and of one direction's flow. */
    int32_t total;
    int32_t half;
    int32_t directions;
    /* Which of `flows` holds the backward flow. */
    int32_t back;
} flow_job;

static bool is_cpu(const opencl_device *device) {
    return device->tuning.run > 1;
}

static void place_levels(flow_job *job) {
    const tvlm_texture *source = job->args->from;
    int32_t offset = 0;
    for (int32_t n = job->args->finest; n <= job->args->coarsest; ++n) {
        const int32_t w = tvlm_level_side(source->width, n), h = tvlm_level_side(source->height, n);
        const int32_t stride = (w + 2 * TVLM_FLOW_PAD + 15) / 16 * 16;
        job->levels[n] = (cl_int4){{w, h, stride, offset + TVLM_FLOW_PAD * stride + TVLM_FLOW_PAD}};
        offset += stride * (h + 2 * TVLM_FLOW_PAD);
    }
    job->total = offset;
    job->half = 2 * job->levels[job->args->finest].s[0] * job->levels[job->args->finest].s[1];
}

/* The groups of flow_refine, and the floats of a group's tile with its border. */
typedef struct refine_plan {
    cl_int2 tile;
    size_t groups[2], bordered;
} refine_plan;

/* How many tiles of flow_refine a level has. Coarse levels are refined in both directions, and the levels behind
 * the one of the backward flow in one. */
static size_t tiles_of(const refine_plan *plan, int32_t directions) {
    return (size_t)directions * plan->groups[0] * plan->groups[1];
}

/* The tile with its border, four floats for each of its texels, must fit local memory. */
static refine_plan plan_refine(const opencl_device *device, cl_int4 level) {
    const bool large = is_cpu(device) && device->base.info.local_bytes >= 6 * LOCAL_BYTES_LEAST;
    const cl_int2 tile = large ? (cl_int2){{128, 32}} : (cl_int2){{32, 16}};
    const size_t border = 2 * (TVLM_FLOW_SWEEPS + 2);
    return (refine_plan){.tile = tile,
                         .groups = {(size_t)((level.s[0] + tile.s[0] - 1) / tile.s[0]),
                                    (size_t)((level.s[1] + tile.s[1] - 1) / tile.s[1])},
                         .bordered = ((size_t)tile.s[0] + border) * ((size_t)tile.s[1] + border)};
}

static cl_int2 patches_of(cl_int4 level) {
    return (cl_int2){{tvlm_flow_patches(level.s[0]), tvlm_flow_patches(level.s[1])}};
}

static tvlm_status reserve(flow_job *job) {
    const cl_int4 finest = job->levels[job->args->finest];
    const cl_int2 patches = patches_of(finest);
    const size_t real = sizeof(cl_float);
    const int32_t back = tvlm_flow_back_level(job->args);
    const refine_plan last = plan_refine(job->device, finest),
                      both = plan_refine(job->device, job->levels[back]);
    const size_t here = tiles_of(&last, back == job->args->finest ? 2 : 1), there = tiles_of(&both, 2);
    const size_t groups = here > there ? here : there;
    opencl_device *device = job->device;
    /* On CPUs, flow_densify reads whole groups of rows: up to two behind the border of the last level. */
    const size_t behind = 2 * (size_t)job->levels[job->args->coarsest].s[2] + 16;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, (2 * (size_t)job->total + behind) * real, &job->planes));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, 4 * (size_t)patches.s[0] * (size_t)patches.s[1] * real,
                                 &job->patches));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, 2 * (size_t)job->half * real, &job->flows[0]));
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_D, 2 * (size_t)job->half * real, &job->flows[1]));
    return tvlm_opencl_scratch(device, SCRATCH_E, groups * SYSTEM_PLANES * last.bordered * real,
                               &job->systems);
}

static tvlm_status begin(const flow_job *job, const char *name, opencl_call *call) {
    const bool cpu = is_cpu(job->device);
    char options[64];
    snprintf(options, sizeof options, "-DRUN=%d -DLANES=%d -DROWS=%d", cpu ? 16 : 1,
             cpu ? 1 : TVLM_FLOW_PATCH, cpu ? TVLM_FLOW_STRIDE : 1);
    return tvlm_opencl_call_begin(job->device, "flow.cl", name, job->args->from->format, options, call);
}

static void planes_and_level(const flow_job *job, opencl_call *call, int32_t level) {
    tvlm_opencl_call_memory(call, job->planes);
    tvlm_opencl_call_int(call, job->total);
    tvlm_opencl_call_bytes(call, sizeof job->levels[level], &job->levels[level]);
}

static tvlm_status planes(const flow_job *job) {
    const tvlm_flow_args *args = job->args;
    const cl_int2 images = {{args->from_image, args->to_image}}, levels = {{args->finest, args->coarsest}};
    const int32_t run = is_cpu(job->device) ? 16 : 1;
    opencl_call call;
    TVLM_TRY(begin(job, "flow_planes", &call));
    tvlm_opencl_call_input(&call, args->from);
    tvlm_opencl_call_input(&call, args->to);
    tvlm_opencl_call_bytes(&call, sizeof images, &images);
    tvlm_opencl_call_bytes(&call, sizeof levels, &levels);
    tvlm_opencl_call_int(&call, job->total);
    tvlm_opencl_call_memory(&call, job->planes);
    return tvlm_opencl_call_run_list(&call, (size_t)((job->total + run - 1) / run), 2);
}

/* Makes the patches of a level from the coarser level's flow, flows[from]. */
static tvlm_status find_patches(const flow_job *job, int32_t level, int from) {
    const bool coarsest = level == job->args->coarsest;
    const cl_int4 here = job->levels[level], above = job->levels[coarsest ? level : level + 1];
    const cl_int2 coarser = {{coarsest ? 0 : above.s[0], coarsest ? 0 : above.s[1]}};
    const cl_int2 counts = patches_of(here);
    const size_t lanes = is_cpu(job->device) ? 1 : TVLM_FLOW_PATCH, group[2] = {64, 1};
    const size_t size[2] = {(size_t)counts.s[0] * (size_t)counts.s[1] * lanes, (size_t)job->directions};
    opencl_call call;
    TVLM_TRY(begin(job, "flow_patches", &call));
    planes_and_level(job, &call, level);
    tvlm_opencl_call_memory(&call, job->flows[from]);
    tvlm_opencl_call_bytes(&call, sizeof coarser, &coarser);
    tvlm_opencl_call_int(&call, job->half);
    tvlm_opencl_call_bytes(&call, sizeof counts, &counts);
    tvlm_opencl_call_memory(&call, job->patches);
    return tvlm_opencl_call_run(&call, 2, size, group);
}

/* Makes the flow of a level, flows[to], from its patches. */
static tvlm_status densify(const flow_job *job, int32_t level, int to) {
    const cl_int4 here = job->levels[level];
    const cl_int2 counts = patches_of(here);
    const int32_t rows = is_cpu(job->device) ? TVLM_FLOW_STRIDE : 1;
    opencl_call call;
    TVLM_TRY(begin(job, "flow_densify", &call));
    planes_and_level(job, &call, level);
    tvlm_opencl_call_memory(&call, job->patches);
    tvlm_opencl_call_bytes(&call, sizeof counts, &counts);
    tvlm_opencl_call_int(&call, job->half);
    tvlm_opencl_call_memory(&call, job->flows[to]);
    return tvlm_opencl_call_run_pixels(&call, (here.s[0] + TVLM_FLOW_STRIDE - 1) / TVLM_FLOW_STRIDE,
                                       (here.s[1] + rows - 1) / rows, job->directions);
}

/* Makes flows[1 - from] of flows[from], or of the patches. */
static tvlm_status refine(const flow_job *job, int32_t level, int from, bool of_patches) {
    const cl_int2 counts = of_patches ? patches_of(job->levels[level]) : (cl_int2){{0, 0}};
    const opencl_tuning *tuning = &job->device->tuning;
    const refine_plan plan = plan_refine(job->device, job->levels[level]);
    const size_t group[3] = {(size_t)tuning->tile_group_width, (size_t)tuning->tile_group_height, 1};
    const size_t global[3] = {plan.groups[0] * group[0], plan.groups[1] * group[1], (size_t)job->directions};
    char options[128];
    opencl_call call;
    snprintf(options, sizeof options, "-DGROUP_W=%d -DGROUP_H=%d -DTILE_W=%d -DTILE_H=%d", (int)group[0],
             (int)group[1], (int)plan.tile.s[0], (int)plan.tile.s[1]);
    TVLM_TRY(tvlm_opencl_call_begin(job->device, "flow.cl", "flow_refine", TVLM_FORMAT_F32, options, &call));
    planes_and_level(job, &call, level);
    tvlm_opencl_call_memory(&call, job->patches);
    tvlm_opencl_call_bytes(&call, sizeof counts, &counts);
    tvlm_opencl_call_memory(&call, job->flows[from]);
    tvlm_opencl_call_int(&call, job->half);
    tvlm_opencl_call_memory(&call, job->systems);
    tvlm_opencl_call_memory(&call, job->flows[1 - from]);
    return tvlm_opencl_call_run(&call, 3, global, group);
}

static tvlm_status result(const flow_job *job, int forward) {
    const int32_t level = job->args->finest, back = tvlm_flow_back_level(job->args);
    const cl_int4 here = job->levels[level];
    const cl_int2 back_size = {{job->levels[back].s[0], job->levels[back].s[1]}};
    const cl_float2 scale = {{(float)job->args->from->width / (float)here.s[0],
                              (float)job->args->from->height / (float)here.s[1]}};
    tvlm_texture *const grid = job->args->grid;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin_tiles(job->device, NULL, "flow.cl", "flow_result",
                                          grid != NULL ? grid->format : TVLM_FORMAT_F32,
                                          grid != NULL ? "-DGRID=1" : "", &call));
    planes_and_level(job, &call, level);
    tvlm_opencl_call_memory(&call, job->flows[forward]);
    tvlm_opencl_call_memory(&call, job->flows[job->back]);
    tvlm_opencl_call_int(&call, job->half);
    tvlm_opencl_call_bytes(&call, sizeof back_size, &back_size);
    tvlm_opencl_call_bytes(&call, sizeof scale, &scale);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)job->args->out)->memory);
    if (grid != NULL) {
        tvlm_opencl_call_int(&call, job->args->grid_image);
        tvlm_opencl_call_float(&call, job->args->limit);
        tvlm_opencl_call_output(&call, grid);
    }
    return tvlm_opencl_call_run_tiles(&call, here.s[0], here.s[1], 1);
}

tvlm_status tvlm_opencl_flow(tvlm_device *base, const tvlm_flow_args *args) {
    OPENCL_TUNED(base, TVLM_TUNED_FLOW, (double)args->from->width * args->from->height);
    flow_job job = {.device = (opencl_device *)base, .args = args, .directions = 2};
    int now = 0;
    place_levels(&job);
    TVLM_TRY(reserve(&job));
    TVLM_TRY(planes(&job));
    for (int32_t level = args->coarsest; level >= args->finest; --level) {
        const int32_t refinements = tvlm_flow_refinements(args, level);
        /* On a GPU the first refinement takes the patches, and saves a launch. */
        const bool at_once = refinements > 0 && !is_cpu(job.device);
        TVLM_TRY(find_patches(&job, level, now));
        if (!at_once) {
            now = 1 - now;
            TVLM_TRY(densify(&job, level, now));
        }
        for (int32_t i = 0; i < refinements; ++i, now = 1 - now)
            TVLM_TRY(refine(&job, level, now, at_once && i == 0));
        if (level != tvlm_flow_back_level(args)) continue;
        job.back = now;
        /* From here on only the forward flow is made. The backward flow stays in its half of flows[back]. */
        job.directions = 1;
    }
    return result(&job, now);
}
