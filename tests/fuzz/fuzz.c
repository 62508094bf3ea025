/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* NOLINT: for memfd_create */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int fuzz_errors;
static char last_error[256];

_Noreturn void fuzz_fail(const char *words, const char *file, int line) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, words);
    abort();
}

const char *fuzz_file(const uint8_t *data, size_t size) {
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        fuzz_check(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    fuzz_check(ftruncate(fd, 0) == 0);
    for (size_t written = 0; written < size;) {
        const ssize_t now = pwrite(fd, data + written, size - written, (off_t)written);
        fuzz_check(now > 0);
        written += (size_t)now;
    }
    return path;
}

static void check_message(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    fuzz_check(message[0] != '\0');
    for (const char *c = message; *c != '\0'; ++c) fuzz_check((unsigned char)*c >= ' ' && *c != 127);
    if (level != TVLM_LOG_ERROR) return;
    ++fuzz_errors;
    snprintf(last_error, sizeof last_error, "%s", message);
}

const tvlm_log fuzz_log = {check_message, NULL};

void fuzz_check_status(tvlm_status status) {
    if (fuzz_errors != (status != TVLM_OK))
        fprintf(stderr, "%s, with %d lines of error; the last one ever: '%s'\n", tvlm_status_string(status),
                fuzz_errors, last_error);
    fuzz_check(fuzz_errors == (status != TVLM_OK));
    fuzz_errors = 0;
}

void fuzz_touch(const void *bytes, size_t size) {
    static volatile uint8_t sum;
    uint8_t all = 0;
    for (size_t i = 0; i < size; ++i) all = (uint8_t)(all + ((const uint8_t *)bytes)[i]);
    sum = all;
    (void)sum;
}
