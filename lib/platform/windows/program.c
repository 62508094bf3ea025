/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/program.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define PSAPI_VERSION 2 /* it is in kernel32 */
#include <psapi.h>
#include <shellapi.h>

#include "platform/environment.h"
#include "platform/file.h"
#include "platform/windows/names.h"

/* The arguments in UTF-8 are never released: they live as long as the program. */
void tvlm_program_start(int *argc, char ***argv) {
    int count = 0;
    wchar_t **const wide = CommandLineToArgvW(GetCommandLineW(), &count);
    char **const utf8 = wide != NULL ? calloc((size_t)count + 1, sizeof *utf8) : NULL;
    bool good = utf8 != NULL;
    for (int i = 0; good && i < count; ++i) good = (utf8[i] = tvlm_windows_utf8(wide[i])) != NULL;
    if (good) {
        *argc = count;
        *argv = utf8;
    }
    LocalFree(wide);
    (void)_setmode(_fileno(stdin), _O_BINARY);
    (void)_setmode(_fileno(stdout), _O_BINARY);
    (void)_setmode(_fileno(stderr), _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
}

bool tvlm_program_beside(const char *name, char *path, size_t size) {
    wchar_t wide[32768];
    const DWORD length = GetModuleFileNameW(NULL, wide, sizeof wide / sizeof *wide);
    char *const own = length > 0 ? tvlm_windows_utf8(wide) : NULL;
    if (own == NULL) return false;
    const int needed = snprintf(path, size, "%.*s%s.exe", (int)tvlm_path_folder(own), own, name);
    free(own);
    return needed > 0 && (size_t)needed < size;
}

/* SearchPath would look into the current folder, too. So would a folder of %PATH% that is not whole. */
bool tvlm_program_find(const char *name, char *path, size_t size) {
    const char *folders = tvlm_variable("PATH");
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ";");
        const int needed = snprintf(path, size, "%.*s/%s.exe", (int)length, folders, name);
        if (needed > 0 && (size_t)needed < size && tvlm_path_whole(path) && tvlm_program_exists(path))
            return true;
        folders += length + (folders[length] == ';');
    }
    return false;
}

bool tvlm_program_exists(const char *path) {
    tvlm_file_facts facts;
    return tvlm_path_facts(path, &facts) && facts.ordinary;
}

/* An argument as a program's start takes it apart again: in quotes, with a backslash before each quote, and twice those that stand
 * before one (Parsing C command-line arguments, Microsoft's documentation). NULL: no memory. */
static wchar_t *quoted(const char *text) {
    char *const copy = malloc(2 * strlen(text) + 3);
    size_t size = 0, slashes = 0;
    if (copy == NULL) return NULL;
    copy[size++] = '"';
    for (; *text != '\0'; ++text) {
        if (*text == '"')
            for (++slashes; slashes > 0; --slashes) copy[size++] = '\\';
        slashes = *text == '\\' ? slashes + 1 : 0;
        copy[size++] = *text;
    }
    for (; slashes > 0; --slashes) copy[size++] = '\\';
    copy[size++] = '"';
    copy[size] = '\0';
    const int length = MultiByteToWideChar(CP_UTF8, 0, copy, -1, NULL, 0);
    wchar_t *const wide = malloc((size_t)length * sizeof *wide);
    if (wide != NULL) (void)MultiByteToWideChar(CP_UTF8, 0, copy, -1, wide, length);
    free(copy);
    return wide;
}

/* Starts a program in one of the C library's ways. Returns what that returns, or -1 with the reason in errno. */
static intptr_t start(int way, const char *path, char **argv) {
    size_t count = 0;
    intptr_t code = -1;
    while (argv[count] != NULL) ++count;
    wchar_t *const program = tvlm_windows_name(path);
    wchar_t **const wide = calloc(count + 1, sizeof *wide);
    bool good = program != NULL && wide != NULL;
    for (size_t i = 0; good && i < count; ++i) good = (wide[i] = quoted(argv[i])) != NULL;
    if (good) {
        fflush(NULL);
        code = _wspawnv(way, program, (const wchar_t *const *)wide);
    } else {
        errno = ENOMEM;
    }
    const int why = errno;
    for (size_t i = 0; wide != NULL && i < count; ++i) free(wide[i]);
    free(wide);
    free(program);
    errno = why;
    return code;
}

void tvlm_program_become(const char *path, char **argv) {
    const intptr_t code = start(_P_WAIT, path, argv);
    if (code != -1) _exit((int)code);
}

bool tvlm_program_start_apart(const char *path, char **argv) {
    return start(_P_DETACH, path, argv) != -1;
}

bool tvlm_program_measure(const char *path, char **argv, int *code, size_t *peak) {
    const intptr_t child = start(_P_NOWAIT, path, argv);
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    DWORD ended = 0;
    if (child == -1) return false;
    const HANDLE process = (HANDLE)child;
    const bool known = WaitForSingleObject(process, INFINITE) == WAIT_OBJECT_0 &&
                       GetExitCodeProcess(process, &ended) &&
                       GetProcessMemoryInfo(process, &counters, sizeof counters);
    CloseHandle(process);
    *code = (int)ended;
    *peak = counters.PeakWorkingSetSize;
    return known;
}

int tvlm_processors(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors < 1 ? 1 : (int)info.dwNumberOfProcessors;
}
