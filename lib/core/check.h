/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h: the checks that public functions make of their arguments. Each refusal writes a line to the log.
 */
#ifndef TVLM_CORE_CHECK_H
#define TVLM_CORE_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "texturevlm/version.h"

/* Refuses a NULL pointer: "tvlm_select: selection is NULL". `log` may be NULL, since a handle that is missing
 * has no log either. */
#define TVLM_NEED(log, pointer)                                                                              \
    do {                                                                                                     \
        if ((pointer) == NULL)                                                                               \
            return tvlm_fail((log), TVLM_ERROR_ARGUMENT, "%s: %s is NULL", __func__, #pointer);              \
    } while (0)

static inline bool tvlm_is_zero(const void *words, size_t bytes) {
    const unsigned char *const byte = words;
    for (size_t i = 0; i < bytes; ++i)
        if (byte[i] != 0) return false;
    return true;
}

/* Returns what is wrong with a weight that was learned or read from a file, or NULL. Weights beyond 1e15 are
 * wrong because sums of their products with what they weigh may not be finite, and such a sum would count as
 * 0 without a word. */
static inline const char *tvlm_wrong_weight(float value) {
    if (!isfinite(value)) return "is not finite";
    return value > 1e15f || value < -1e15f ? "is beyond 1e15" : NULL;
}

/* Refuses weights of information, perspective and participation that are none. NULL stands for the defaults. */
static inline tvlm_status tvlm_check_weights(const tvlm_log *log, const float *weights) {
    for (int i = 0; weights != NULL && i < 3; ++i)
        if (!(weights[i] >= 0.0f && weights[i] <= 1e15f))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "weight %d is %g; weights are from 0 to 1e15", i,
                             (double)weights[i]);
    return TVLM_OK;
}

#define TVLM_RESERVED_REFUSAL                                                                                \
    "%s: its reserved words are not 0: it was not set to zero before it was filled, or the program was "     \
    "compiled for a newer version of this library than this one, %d.%d.%d"

static inline tvlm_status tvlm_check_reserved(const tvlm_log *log, const char *name, const void *words,
                                              size_t bytes) {
    if (tvlm_is_zero(words, bytes)) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, TVLM_RESERVED_REFUSAL, name, TVLM_VERSION_MAJOR,
                     TVLM_VERSION_MINOR, TVLM_VERSION_PATCH);
}

/* Refuses a struct whose reserved words are not all 0 (params.h). `pointer` may be NULL: the defaults. */
#define TVLM_CHECK_RESERVED(log, name, pointer)                                                              \
    do {                                                                                                     \
        const struct name *const checked = (pointer);                                                        \
        if (checked != NULL) {                                                                               \
            const tvlm_status known =                                                                        \
                tvlm_check_reserved((log), #name, checked->reserved, sizeof checked->reserved);              \
            if (known != TVLM_OK) return known;                                                              \
        }                                                                                                    \
    } while (0)

/* The value of a member whose 0 means the default, and whose TVLM_EXPLICIT_ZERO means 0; and back again. */
static inline float tvlm_or_default(float given, float otherwise) {
    return given == 0.0f ? otherwise : given == TVLM_EXPLICIT_ZERO ? 0.0f : given;
}
static inline float tvlm_as_given(float value) {
    return value == 0.0f ? TVLM_EXPLICIT_ZERO : value;
}

#endif
