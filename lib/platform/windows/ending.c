/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/ending.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <windows.h>

static atomic_int noted;
static atomic_bool note_first;
static void (*volatile remove_own)(void);
static void (*volatile remove_also)(void);

/* Windows calls this in a thread of its own. false: Windows ends the program. */
static BOOL WINAPI handle(DWORD event) {
    const int number = event == CTRL_C_EVENT ? SIGINT : SIGTERM;
    int none = 0;
    if (note_first && atomic_compare_exchange_strong(&noted, &none, number)) return TRUE;
    if (remove_own != NULL) remove_own();
    if (remove_also != NULL) remove_also();
    return FALSE;
}

void tvlm_ending_start(void (*remove)(void)) {
    remove_own = remove;
    SetConsoleCtrlHandler(handle, TRUE);
}

void tvlm_ending_remove_also(void (*remove)(void)) {
    remove_also = remove;
}

void tvlm_ending_note_first(void) {
    noted = 0;
    note_first = true;
}

int tvlm_ending_noted(void) {
    return noted;
}
