/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_helper.h: the OpenCL layer (layer/layer.h) in the test's own process.
 */
#ifndef TVLM_TESTS_LAYER_HELPER_H
#define TVLM_TESTS_LAYER_HELPER_H

#include <dlfcn.h>
#include <stdio.h>

#include "layer/control.h"
#include "support.h"

/* Has the loader take the layer in. NULL, after a line: it takes none, as Oclgrind's does not. Called before
 * any other function of OpenCL or of the library. */
static inline const layer_control *use_layer(void) {
    int32_t count;
    setenv("OPENCL_LAYERS", TVLM_LAYER, 1);
    (void)tvlm_device_list(0, NULL, &count);
    void *const library = dlopen(TVLM_LAYER, RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL) return dlsym(library, "tvlm_layer");
    printf("SKIPPED: the loader of OpenCL takes no layer\n");
    return NULL;
}

/* What went to the devices after `before`. */
static inline layer_commands commands_after(const layer_control *layer, layer_commands before) {
    const layer_commands now = layer->commands();
    return (layer_commands){.kernels = now.kernels - before.kernels,
                            .writes = now.writes - before.writes,
                            .reads = now.reads - before.reads,
                            .others = now.others - before.others,
                            .waits = now.waits - before.waits,
                            .stalls = now.stalls - before.stalls,
                            .memory = now.memory - before.memory,
                            .builds = now.builds - before.builds,
                            .written = now.written - before.written,
                            .read = now.read - before.read};
}

#endif
