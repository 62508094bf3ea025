/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/waiter.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

#include "platform/windows/names.h"

/* Pipes have nothing that can be waited for: they are asked this often. */
#define ASK_MILLISECONDS 10

struct tvlm_waiter {
    HANDLE file, stopped;
};

tvlm_waiter *tvlm_waiter_open(int file) {
    tvlm_waiter *const waiter = malloc(sizeof *waiter);
    if (waiter == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    waiter->file = (HANDLE)_get_osfhandle(file);
    waiter->stopped = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (waiter->stopped != NULL) return waiter;
    tvlm_windows_set_errno();
    free(waiter);
    return NULL;
}

/* What is no pipe and no console never lets a reader wait. */
static bool is_ready(const tvlm_waiter *waiter) {
    DWORD bytes = 0, mode;
    if (GetFileType(waiter->file) == FILE_TYPE_PIPE)
        return !PeekNamedPipe(waiter->file, NULL, 0, NULL, &bytes, NULL) || bytes > 0;
    return !GetConsoleMode(waiter->file, &mode) || WaitForSingleObject(waiter->file, 0) == WAIT_OBJECT_0;
}

bool tvlm_waiter_wait(const tvlm_waiter *waiter) {
    DWORD wait = 0;
    while (WaitForSingleObject(waiter->stopped, wait) != WAIT_OBJECT_0) {
        if (is_ready(waiter)) return true;
        wait = ASK_MILLISECONDS;
    }
    return false;
}

void tvlm_waiter_stop(const tvlm_waiter *waiter) {
    SetEvent(waiter->stopped);
}

void tvlm_waiter_close(tvlm_waiter **waiter) {
    if (*waiter == NULL) return;
    CloseHandle((*waiter)->stopped);
    free(*waiter);
    *waiter = NULL;
}
