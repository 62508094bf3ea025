#include "texturevlm/status.h"

#include <stdarg.h>
#include <stdio.h>

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
    }
    return "unknown status";
}

static void log_line(const tvlm_log *log, tvlm_log_level level, const char *format, va_list arguments) {
    char line[1024];
    if (log == NULL || log->write == NULL) return;
    vsnprintf(line, sizeof line, format, arguments);
    log->write(log->user, level, line);
}

void tvlm_log_message(const tvlm_log *log, tvlm_log_level level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(log, level, format, arguments);
    va_end(arguments);
}

tvlm_status tvlm_fail(const tvlm_log *log, tvlm_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_line(log, TVLM_LOG_ERROR, format, arguments);
    va_end(arguments);
    return status;
}
