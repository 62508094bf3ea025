/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/environment.h"

#include <stdlib.h>
#include <windows.h>

#include "platform/windows/names.h"

/* The name's letters are ASCII. */
#define NAME_MOST 64

static void widen(const char *name, wchar_t wide[NAME_MOST]) {
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < NAME_MOST; ++i) wide[i] = (wchar_t)name[i];
    wide[i] = L'\0';
}

const char *tvlm_variable(const char *name) {
    static _Thread_local char *kept; /* what the thread asked for last */
    wchar_t wide[NAME_MOST];
    free(kept);
    kept = NULL;
    widen(name, wide);
    const DWORD room = GetEnvironmentVariableW(wide, NULL, 0);
    wchar_t *const value = room > 0 ? malloc(room * sizeof *value) : NULL;
    if (value == NULL) return NULL;
    const DWORD length = GetEnvironmentVariableW(wide, value, room);
    if (length > 0 && length < room) kept = tvlm_windows_utf8(value);
    free(value);
    return kept;
}
