/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h: the kernel files that are built into the library (generated from cl/ by
 * cmake/WriteKernels.cmake).
 */
#ifndef TVLM_OPENCL_KERNELS_H
#define TVLM_OPENCL_KERNELS_H

/* A kernel file, by its name without a folder ("visual.cl"). */
typedef struct tvlm_kernel_file {
    const char *name;
    const char *text;
} tvlm_kernel_file;

/* The array ends with a NULL name. */
extern const tvlm_kernel_file tvlm_kernel_files[];

#endif
