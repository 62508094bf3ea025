/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "texturevlm/io.h"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static pthread_t writer; /* the thread that writes files */
static volatile sig_atomic_t note_first, noted;
static void (*volatile remove_also)(void);

static void end_by(int number) {
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    tvlm_file_remove_temporaries();
    if (remove_also != NULL) remove_also();
    (void)sigaction(number, &plain, NULL);
    (void)raise(number); /* it comes when the handler returns */
}

/* It works on the thread that writes, so that no file is made meanwhile. */
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

/* What is ignored from the start, as SIGHUP is by nohup, stays ignored unless `always`. */
static void catch_ending(bool always) {
    struct sigaction action = {.sa_handler = handle}, before;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; ++i)
        if (sigaction(ending[i], NULL, &before) == 0 &&
            (before.sa_handler != SIG_IGN || (always && ending[i] != SIGHUP)))
            (void)sigaction(ending[i], &action, NULL);
}

void signals_start(void) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    writer = pthread_self();
    catch_ending(false);
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

void signals_remove_also(void (*remove)(void)) {
    remove_also = remove;
}

void signals_note_first(void) {
    noted = 0;
    note_first = 1;
    catch_ending(true);
}

int signals_noted(void) {
    return noted;
}
