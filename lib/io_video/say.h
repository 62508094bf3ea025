/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h: the log of texturevlm-video, which is not linked to the library that has tvlm_log_message.
 */
#ifndef TVLM_IO_VIDEO_SAY_H
#define TVLM_IO_VIDEO_SAY_H

#include "texturevlm/status.h"

/* Formats one line into the log, and returns `status`. */
tvlm_status video_say(const tvlm_log *log, tvlm_log_level level, tvlm_status status, const char *format, ...)
    TVLM_PRINTF(4, 5);
#define video_fail(log, status, ...) video_say((log), TVLM_LOG_ERROR, (status), __VA_ARGS__)
#define video_warn(log, ...)         (void)video_say((log), TVLM_LOG_WARNING, TVLM_OK, __VA_ARGS__)

/* Returns from the function where `call` fails. */
#define VIDEO_TRY(call)                                                                                      \
    do {                                                                                                     \
        const tvlm_status video_try_status = (call);                                                         \
        if (video_try_status != TVLM_OK) return video_try_status;                                            \
    } while (0)

/*
 * Fails with FFmpeg's words for `code`: "PATH: cannot be WHAT: words". The status is `status`, except that
 * having no memory and a full disk have their own.
 */
tvlm_status video_fail_code(const tvlm_log *log, tvlm_status status, const char *path, const char *what,
                            int code);

/* Silences FFmpeg, unless the application has chosen what it says. */
void video_quiet(void);

#endif
