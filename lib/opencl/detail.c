#include "opencl/backend.h"

tvlm_status tvlm_opencl_laplacian(tvlm_device *base, const tvlm_generate_args *args) {
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    opencl_call call;
    TVLM_TRY(opencl_call_begin_tiles((opencl_device *)base, "detail.cl", "laplacian", out->format, &call));
    opencl_call_input(&call, grids[TVLM_GRID_SOURCE]);
    opencl_call_output(&call, out);
    return opencl_call_run_tiles(&call, out->width, out->height, out->images);
}

tvlm_status tvlm_opencl_entropy(tvlm_device *base, const tvlm_generate_args *args) {
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    enum { CELL = TVLM_ENTROPY_CELL, CELLS = 4 }; /* as in detail.cl */
    const size_t size[3] = {(size_t)CELL * (size_t)out->width, (size_t)CELLS * (size_t)out->height, (size_t)out->images};
    /* A group is CELL lanes x CELLS cells beside each other: x counts groups of CELLS cells. */
    const size_t group[3] = {CELL, CELLS, 1};
    const size_t groups[3] = {(size[0] / CELL + CELLS - 1) / CELLS * CELL, size[1], size[2]};
    opencl_call call;
    TVLM_TRY(opencl_call_begin((opencl_device *)base, "detail.cl", "entropy", out->format, "", &call));
    opencl_call_input(&call, grids[TVLM_GRID_SOURCE]);
    opencl_call_output(&call, out);
    return opencl_call_run(&call, 3, groups, group);
}
