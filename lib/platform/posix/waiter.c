/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/waiter.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

struct tvlm_waiter {
    int file, wake[2]; /* a pipe that becomes readable when it is stopped */
};

tvlm_waiter *tvlm_waiter_open(int file) {
    tvlm_waiter *const waiter = malloc(sizeof *waiter);
    if (waiter == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    waiter->file = file;
    if (pipe(waiter->wake) == 0) return waiter;
    const int code = errno;
    free(waiter);
    errno = code;
    return NULL;
}

bool tvlm_waiter_wait(const tvlm_waiter *waiter) {
    struct pollfd files[] = {{.fd = waiter->file, .events = POLLIN},
                             {.fd = waiter->wake[0], .events = POLLIN}};
    while (poll(files, 2, -1) < 0)
        if (errno != EINTR) return true; /* the read that follows reports the error */
    return files[1].revents == 0;
}

void tvlm_waiter_stop(const tvlm_waiter *waiter) {
    const char byte = 0;
    ssize_t written;
    do written = write(waiter->wake[1], &byte, 1);
    while (written < 0 && errno == EINTR);
}

void tvlm_waiter_close(tvlm_waiter **waiter) {
    if (*waiter == NULL) return;
    (void)close((*waiter)->wake[0]);
    (void)close((*waiter)->wake[1]);
    free(*waiter);
    *waiter = NULL;
}
