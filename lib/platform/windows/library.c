/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

const char *const tvlm_library_opencl[] = {"OpenCL.dll", NULL};
const char *const tvlm_library_clblast[] = {"clblast.dll", "libclblast.dll", NULL};
const char *const tvlm_library_heif[] = {"heif.dll", "libheif.dll", "libheif-1.dll", NULL};

/* The most characters that a path has with the prefix for long ones. */
enum { PATH_MOST = 32768 };

void *tvlm_library_open(const char *name) {
    const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, NULL, 0);
    if (length <= 0 || length > PATH_MOST) return NULL;
    wchar_t *const wide = malloc((size_t)length * sizeof *wide);
    if (wide == NULL) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    (void)MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, length);
    void *const library = LoadLibraryW(wide);
    const DWORD error = GetLastError();
    free(wide);
    SetLastError(error);
    return library;
}

void *tvlm_library_of_program(void) {
    return GetModuleHandleW(NULL);
}

bool tvlm_library_find(void *library, const char *name, void *function) {
    const FARPROC symbol = GetProcAddress(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

void tvlm_library_explain(char *text, size_t size) {
    snprintf(text, size, "Windows says error %lu", (unsigned long)GetLastError());
}
