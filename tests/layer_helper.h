/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_helper.h: the OpenCL layer (layer/layer.h) of the test's own process, for programs that ctest runs with
 * OPENCL_LAYERS (tvlm_layer_test in CMakeLists.txt).
 */
#ifndef TVLM_TESTS_LAYER_HELPER_H
#define TVLM_TESTS_LAYER_HELPER_H

#include <dlfcn.h>
#include <string.h>

#include "support.h"

typedef struct test_layer {
    long (*let_fail)(long n, int lose); /* tvlm_layer_fail */
    long (*failed)(void);               /* tvlm_layer_failed */
} test_layer;

static inline void find_in_layer(void *library, const char *name, void *function, size_t size) {
    void *const symbol = dlsym(library, name);
    if (symbol == NULL) fail_msg("the layer has no %s", name);
    memcpy(function, &symbol, size); /* ISO C has no cast to a function pointer */
}

/* False: the loader has not taken it, as Oclgrind does not. The first call of OpenCL must be over. */
static inline bool find_layer(test_layer *layer) {
    void *const library = dlopen(TVLM_LAYER, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) return false;
    find_in_layer(library, "tvlm_layer_fail", &layer->let_fail, sizeof layer->let_fail);
    find_in_layer(library, "tvlm_layer_failed", &layer->failed, sizeof layer->failed);
    return true;
}

#endif
