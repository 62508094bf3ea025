/* SPDX-License-Identifier: Apache-2.0 */
#include "io_video/say.h"

#include <errno.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/line.h"

tvlm_status video_say(const tvlm_log *log, tvlm_log_level level, tvlm_status status, const char *format,
                      ...) {
    char line[1024];
    va_list arguments;
    if (log == NULL || log->write == NULL) return status;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    tvlm_make_plain(line);
    log->write(log->user, level, line);
    return status;
}

tvlm_status video_fail_code(const tvlm_log *log, tvlm_status status, const char *path, const char *what,
                            int code) {
    char words[AV_ERROR_MAX_STRING_SIZE] = "unknown";
    av_strerror(code, words, sizeof words);
    if (code == AVERROR(ENOMEM)) return video_fail(log, TVLM_ERROR_MEMORY, "%s: no memory", path);
    if (code == AVERROR(ENOSPC) || code == AVERROR(EIO)) status = TVLM_ERROR_IO;
    return video_fail(log, status, "%s: cannot be %s: %s", path, what, words);
}

void video_quiet(void) {
    if (av_log_get_level() == AV_LOG_INFO) av_log_set_level(AV_LOG_QUIET);
}
