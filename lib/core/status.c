/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c: the names of statuses, and lines to the log.
 */
#include "texturevlm/status.h"
#include "texturevlm/version.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/line.h"

const char *tvlm_status_string(tvlm_status status) {
    switch (status) {
    case TVLM_OK: return "ok";
    case TVLM_ERROR_ARGUMENT: return "argument out of range";
    case TVLM_ERROR_MEMORY: return "out of host memory";
    case TVLM_ERROR_DEVICE_MEMORY: return "out of device memory";
    case TVLM_ERROR_NO_DEVICE: return "no such device";
    case TVLM_ERROR_DEVICE: return "device error";
    case TVLM_ERROR_UNSUPPORTED: return "not supported";
    case TVLM_ERROR_IO: return "input/output error";
    case TVLM_ERROR_FORMAT: return "malformed data";
    case TVLM_ERROR_LOST: return "the device is lost";
    case TVLM_ERROR_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

void tvlm_log_message(const tvlm_log *log, tvlm_log_level level, const char *format, ...) {
    char line[1024];
    va_list arguments;
    if (log == NULL || log->write == NULL) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    tvlm_make_plain(line);
    log->write(log->user, level, line);
}

static void write_stderr(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    if (level <= TVLM_LOG_WARNING)
        fprintf(stderr, "texturevlm: %s: %s\n", level == TVLM_LOG_ERROR ? "error" : "warning", message);
}

const tvlm_log *tvlm_log_stderr(void) {
    static const tvlm_log log = {.write = write_stderr};
    return &log;
}

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

const char *tvlm_version(void) {
    return TEXT(TVLM_VERSION_MAJOR) "." TEXT(TVLM_VERSION_MINOR) "." TEXT(TVLM_VERSION_PATCH);
}
