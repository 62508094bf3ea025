/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h: a log for an attempt that may fail. Its error is kept and not passed on, because it does not
 * count as an error if something else works instead.
 */
#ifndef TVLM_CORE_ATTEMPT_H
#define TVLM_CORE_ATTEMPT_H

#include <stdio.h>

#include "texturevlm/status.h"

typedef struct tvlm_attempt {
    tvlm_log log;         /* what the attempt writes to; it must not outlive this struct */
    const tvlm_log *rest; /* gets all but errors */
    char error[1024];     /* the last error; "" if there was none */
} tvlm_attempt;

static inline void tvlm_attempt_keep_error(void *user, tvlm_log_level level, const char *message) {
    tvlm_attempt *const attempt = user;
    if (level == TVLM_LOG_ERROR)
        snprintf(attempt->error, sizeof attempt->error, "%s", message);
    else
        tvlm_log_message(attempt->rest, level, "%s", message);
}

/* Begins an attempt. `rest` may be NULL: then nothing but the error is kept. */
static inline void tvlm_attempt_begin(tvlm_attempt *attempt, const tvlm_log *rest) {
    attempt->log = (tvlm_log){tvlm_attempt_keep_error, attempt};
    attempt->rest = rest;
    attempt->error[0] = '\0';
}

#endif
