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

/* How long a program has that ends in an orderly way: of the 5 seconds after which Windows ends it when the console is closed. */
#define ORDERLY_MILLISECONDS 4000

static bool may_be_survived(DWORD event) {
    return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
}

/* Windows calls this in a thread of its own. false: Windows ends the program. So it does in any case when the console is closed, the
 * user logs off or the system shuts down, as soon as this returns: the wait ends with the program. */
static BOOL WINAPI handle(DWORD event) {
    const int number = event == CTRL_C_EVENT ? SIGINT : SIGTERM;
    int none = 0;
    if (note_first && atomic_compare_exchange_strong(&noted, &none, number)) {
        if (may_be_survived(event)) return TRUE;
        Sleep(ORDERLY_MILLISECONDS);
    }
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
