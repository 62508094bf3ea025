/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_helper.h: logs that count what is said, by its importance.
 */
#ifndef TVLM_TESTS_LOG_HELPER_H
#define TVLM_TESTS_LOG_HELPER_H

#include <stdio.h>

#include "support.h"

typedef struct lines {
    int errors, warnings;
    char last[1024]; /* the last error or warning */
    char told[1024]; /* the last line of information */
} lines;

/* For a tvlm_log whose user is a `lines`. */
static inline void count_line(void *user, tvlm_log_level level, const char *message) {
    lines *l = user;
    if (level == TVLM_LOG_ERROR) ++l->errors;
    if (level == TVLM_LOG_WARNING) ++l->warnings;
    if (level <= TVLM_LOG_WARNING) snprintf(l->last, sizeof l->last, "%s", message);
    if (level == TVLM_LOG_INFO) snprintf(l->told, sizeof l->told, "%s", message);
}

/* One of these for a whole test program. */
static lines said;
static const tvlm_log noting = {count_line, &said};

static inline void nothing_said(void) {
    said = (lines){0};
}

#endif
