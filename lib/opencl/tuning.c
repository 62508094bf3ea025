/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuning.c: the table of what is tuned.
 */
#include "opencl/tuning.h"

opencl_tuning tvlm_opencl_tuning_default(bool gpu) {
#define OPENCL_DEFAULT(name, of_gpu, of_cpu) .name = gpu ? (of_gpu) : (of_cpu),
    return (opencl_tuning){OPENCL_TUNING(OPENCL_DEFAULT)};
#undef OPENCL_DEFAULT
}
