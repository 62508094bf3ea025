/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h: writes to the log. texturevlm-video needs functions of its own for that, since it is not linked to
 * the library that has tvlm_log_message.
 */
#ifndef TVLM_IO_VIDEO_SAY_H
#define TVLM_IO_VIDEO_SAY_H

#include "texturevlm/status.h"

/* Formats one line into the log, and returns `status`. */
tvlm_status video_say(const tvlm_log *log, tvlm_log_level level, tvlm_status status, const char *format, ...)
    TVLM_PRINTF(4, 5);
#define video_fail(log, status, ...) video_say((log), TVLM_LOG_ERROR, (status), __VA_ARGS__)
#define video_warn(log, ...)         (void)video_say((log), TVLM_LOG_WARNING, TVLM_OK, __VA_ARGS__)

/* Returns from the function if `call` fails. */
#define VIDEO_TRY(call)                                                                                      \
    do {                                                                                                     \
        const tvlm_status video_try_status = (call);                                                         \
        if (video_try_status != TVLM_OK) return video_try_status;                                            \
    } while (0)

/*
 * Fails with FFmpeg's words for `code`: "PATH: cannot be WHAT: words". The status is `status`, except that
 * there is a status of its own for having no memory, and for a full disk.
 */
tvlm_status video_fail_code(const tvlm_log *log, tvlm_status status, const char *path, const char *what,
                            int code);

/* Silences FFmpeg's own log, unless the application has chosen a level for it. */
void video_quiet(void);

#endif
