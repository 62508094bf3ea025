/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h: what every function returns, and how the library talks.
 *
 *     tvlm_image *image = NULL;
 *     if (tvlm_image_load("photo.jpg", tvlm_log_stderr(), &image) != TVLM_OK) return 1; // stderr says why
 *
 * Every function that can fail returns a tvlm_status. The function that detects an error writes one line to
 * the log: which argument, which limit, which file. Functions further out only pass the status on. The
 * library itself never prints, aborts or exits. What all functions have in common is in texturevlm.h.
 */
#ifndef TEXTUREVLM_STATUS_H
#define TEXTUREVLM_STATUS_H

#include "params.h"

#if defined(_WIN32) || defined(TVLM_STATIC)
#define TVLM_API
#else
#define TVLM_API __attribute__((visibility("default")))
#endif

#if defined(__MINGW32__) && !defined(__clang__) /* where "printf" is Microsoft's old one */
#define TVLM_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first)))
#elif defined(__GNUC__)
#define TVLM_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define TVLM_PRINTF(format_index, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tvlm_status {
    TVLM_OK = 0,
    TVLM_ERROR_ARGUMENT,      /* an argument is NULL, or outside the range that its comment gives */
    TVLM_ERROR_MEMORY,        /* the host has no memory left */
    TVLM_ERROR_DEVICE_MEMORY, /* the device has no memory left, or the object exceeds its limits */
    TVLM_ERROR_NO_DEVICE,     /* there is no OpenCL platform or device, or none of that name */
    TVLM_ERROR_DEVICE,        /* an OpenCL call failed, or a kernel did not build */
    TVLM_ERROR_UNSUPPORTED,   /* it is known, but not possible on this device or in this version */
    TVLM_ERROR_IO,            /* a file cannot be opened, read or written */
    TVLM_ERROR_FORMAT,        /* a file's content is not what it should be */
    /* The device is gone (unplugged, reset, its driver crashed), and with it all that was made from it. Destroy
     * all of that, then the device, and open another one (device.h). */
    TVLM_ERROR_LOST,
    TVLM_ERROR_CANCELLED /* it was not done, because of tvlm_pool_cancel or of an error before it (pool.h) */
} tvlm_status;

/* Returns a short English phrase for `status`. It is never NULL, also for values outside the enum. The string is
 * static. */
TVLM_API const char *tvlm_status_string(tvlm_status status);

typedef enum tvlm_log_level {
    TVLM_LOG_ERROR = 0, /* the call fails because of this */
    TVLM_LOG_WARNING,   /* the call succeeds, but not exactly as asked (scaled down, replaced by 0) */
    TVLM_LOG_INFO, /* decisions worth knowing: the storage that was chosen, the programs that were built */
    TVLM_LOG_DEBUG
} tvlm_log_level;

/*
 * Where messages go. `write` gets one line without a newline or other control characters, on the thread that
 * called the library; the text is valid during the call only. A NULL `write`, or a NULL tvlm_log *, means
 * silence.
 */
typedef struct tvlm_log {
    void (*write)(void *user, tvlm_log_level level, const char *message);
    void *user; /* handed to `write` as it is */
} tvlm_log;

/*
 * A log that is ready to use: it writes errors and warnings to the standard error stream, a line each
 * ("texturevlm: error: ..."), and drops the rest. It is static and may be used by any number of threads.
 */
TVLM_API const tvlm_log *tvlm_log_stderr(void);

/*
 * Formats one line (cut at 1023 bytes) into `log`, which may be NULL. Control characters become blanks and
 * question marks, since names from files may have them.
 */
TVLM_API void tvlm_log_message(const tvlm_log *log, tvlm_log_level level, const char *format, ...)
    TVLM_PRINTF(3, 4);

/*
 * Logs a line as an error. The value of the macro is `status`, so that one can write
 * `return tvlm_fail(log, TVLM_ERROR_IO, "%s: ...", path);`. It is no function, so that compilers see that the
 * status is not TVLM_OK.
 */
#define tvlm_fail(log, status, ...) (tvlm_log_message((log), TVLM_LOG_ERROR, __VA_ARGS__), (status))

#ifdef __cplusplus
}
#endif
#endif
