/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

const char *const tvlm_library_opencl[] = {"OpenCL.dll", NULL};
const char *const tvlm_library_clblast[] = {"clblast.dll", "libclblast.dll", NULL};
const char *const tvlm_library_heif[] = {"heif.dll", "libheif.dll", "libheif-1.dll", NULL};

/* The most characters that a path has with the prefix for long ones. */
enum { PATH_MOST = 32768 };

/* LoadLibrary's own search goes through the current folder, where a library may lie that came with a photo. Here a name alone is
 * looked for beside the program, in Windows' folder and in those that the program has added, and what a library at a path needs also
 * beside it. A path must be whole for that. */
static HMODULE load(const wchar_t *name) {
    wchar_t whole[PATH_MOST];
    if (wcspbrk(name, L"/\\:") == NULL) return LoadLibraryExW(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    const DWORD length = GetFullPathNameW(name, PATH_MOST, whole, NULL);
    if (length >= PATH_MOST) SetLastError(ERROR_FILENAME_EXCED_RANGE);
    if (length == 0 || length >= PATH_MOST) return NULL;
    return LoadLibraryExW(whole, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

void *tvlm_library_open(const char *name) {
    const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, NULL, 0);
    if (length <= 0 || length > PATH_MOST) return NULL;
    wchar_t *const wide = malloc((size_t)length * sizeof *wide);
    if (wide == NULL) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    (void)MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, length);
    void *const library = load(wide);
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
