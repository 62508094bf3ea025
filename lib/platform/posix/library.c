/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* First the names of Linux and the BSDs, with and without the files for compiling; then Apple's; then where Android's vendors have
 * theirs, which programs may load by their whole paths only. */
const char *const tvlm_library_opencl[] = {"libOpenCL.so.1",
                                           "libOpenCL.so",
                                           "/System/Library/Frameworks/OpenCL.framework/OpenCL",
                                           "/vendor/lib64/libOpenCL.so",
                                           "/system/vendor/lib64/libOpenCL.so",
                                           "/system/lib64/libOpenCL.so",
                                           "/vendor/lib/libOpenCL.so",
                                           "/system/vendor/lib/libOpenCL.so",
                                           "/system/lib/libOpenCL.so",
                                           NULL};
const char *const tvlm_library_clblast[] = {"libclblast.so.1", "libclblast.dylib", NULL};
const char *const tvlm_library_heif[] = {"libheif.so.1", "libheif.1.dylib", NULL};

void *tvlm_library_open(const char *name) {
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

void *tvlm_library_of_program(void) {
    return dlopen(NULL, RTLD_LAZY);
}

bool tvlm_library_find(void *library, const char *name, void *function) {
    void *const symbol = dlsym(library, name);
    /* ISO C has no cast from an object pointer to a function pointer. */
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

void tvlm_library_explain(char *text, size_t size) {
    const char *const why = dlerror();
    snprintf(text, size, "%s", why != NULL ? why : "the system does not say why");
}
