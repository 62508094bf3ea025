/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ragged.c: families of images of different sizes. Each image is made as if it were alone, which is the
 * definition.
 */
#include "core/try.h"
#include "reference/reference.h"
#include "reference/texture.h"

tvlm_status tvlm_reference_each(tvlm_device *device, const tvlm_generate_args *args,
                                tvlm_generate_operation *make) {
    for (int32_t i = 0; i < args->out->images; ++i) {
        reference_texture sources[TVLM_GRID_COUNT], out = tvlm_reference_image(args->out, i), beside, inputs;
        tvlm_texture *grids[TVLM_GRID_COUNT] = {0};
        tvlm_generate_args one = *args;
        for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
            if (args->grids[grid] == NULL || args->grids[grid]->parts == NULL) continue;
            sources[grid] = tvlm_reference_image(args->grids[grid], i);
            grids[grid] = &sources[grid].base;
        }
        if (args->beside != NULL) beside = tvlm_reference_image(args->beside, i);
        one.grids = grids;
        one.out = &out.base;
        if (args->inputs != NULL) inputs = tvlm_reference_image(args->inputs, i);
        one.inputs = args->inputs != NULL ? &inputs.base : NULL;
        one.beside = args->beside != NULL ? &beside.base : NULL;
        TVLM_TRY(make(device, &one));
    }
    return TVLM_OK;
}
