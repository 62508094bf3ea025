/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/ending.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static pthread_t writer; /* the thread that writes files */
static volatile sig_atomic_t note_first, noted;
static void (*volatile remove_own)(void);
static void (*volatile remove_also)(void);

static void end_by(int number) {
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    if (remove_own != NULL) remove_own();
    if (remove_also != NULL) remove_also();
    (void)sigaction(number, &plain, NULL);
    (void)raise(number); /* the signal is delivered when the handler returns */
}

/* Handles a signal on the thread that writes files, so that no file is made meanwhile. On any other thread,
 * passes the signal to that thread. */
static void handle(int number) {
    const int error = errno;
    if (!pthread_equal(pthread_self(), writer))
        (void)pthread_kill(writer, number);
    else if (note_first && noted == 0)
        noted = number;
    else
        end_by(number);
    errno = error;
}

/* Blocks or unblocks one signal in this thread and in those that it starts. */
static void mask(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    (void)pthread_sigmask(how, &set, NULL);
}

/*
 * Ignores a signal. It is also blocked, because ignoring alone does not last: the compiler inside a driver
 * (LLVM) catches signals while it writes a file. A signal that comes in that time removes the file, and the
 * kernels do not build.
 */
static void ignore(int number) {
    const struct sigaction action = {.sa_handler = SIG_IGN};
    (void)sigaction(number, &action, NULL);
    mask(SIG_BLOCK, number);
}

/* Catches the signals that end the program. A signal that is ignored from the start stays ignored, as SIGHUP
 * does under nohup. With `always` only SIGHUP does. */
static void catch_ending(bool always) {
    struct sigaction action = {.sa_handler = handle}, before;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; ++i) {
        if (sigaction(ending[i], NULL, &before) != 0) continue;
        if (before.sa_handler == SIG_IGN && (!always || ending[i] == SIGHUP)) {
            ignore(ending[i]);
        } else {
            (void)sigaction(ending[i], &action, NULL);
            mask(SIG_UNBLOCK, ending[i]);
        }
    }
}

void tvlm_ending_start(void (*remove)(void)) {
    remove_own = remove;
    writer = pthread_self();
    catch_ending(false);
    ignore(SIGPIPE);
    ignore(SIGXFSZ);
}

void tvlm_ending_remove_also(void (*remove)(void)) {
    remove_also = remove;
}

void tvlm_ending_note_first(void) {
    noted = 0;
    note_first = 1;
    catch_ending(true);
}

int tvlm_ending_noted(void) {
    return noted;
}
