/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl/operations.h: what this backend does, for the table by which the library calls it. It names nothing of
 * OpenCL, so that the table can stand elsewhere (lib/parts).
 */
#ifndef TVLM_OPENCL_OPERATIONS_H
#define TVLM_OPENCL_OPERATIONS_H

#include "core/backend.h"
#include "opencl/tuning.h"

extern const tvlm_backend tvlm_opencl_backend;

/* Every operation (core/operations.h) has a function here. Every family has two: tvlm_opencl_NAME makes it,
 * and tvlm_opencl_make_NAME does so with what was tuned for it (operations.c). Each family or stage has a
 * file of its own. */
#define OPENCL_OPERATION(name, ...)     tvlm_##name##_operation tvlm_opencl_##name;
#define OPENCL_GENERATOR(ID, name, ...) tvlm_generate_operation tvlm_opencl_##name, tvlm_opencl_make_##name;
TVLM_OPERATIONS(OPENCL_OPERATION)
TVLM_CORE_GRIDS(OPENCL_GENERATOR)
#undef OPENCL_OPERATION
#undef OPENCL_GENERATOR

/* The entries of the table. */
#define OPENCL_ENTRY(operation, ...)   .operation = tvlm_opencl_##operation,
#define OPENCL_FAMILY(ID, family, ...) .generate[TVLM_GRID_##ID] = tvlm_opencl_make_##family,
#define OPENCL_ENTRIES                                                                                       \
    TVLM_OPERATIONS(OPENCL_ENTRY)                                                                            \
    TVLM_CORE_GRIDS(OPENCL_FAMILY).name = "opencl", .tuner = &tvlm_opencl_tuner

#endif
