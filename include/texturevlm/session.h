/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: stacks that are kept from question to question.
 *
 * A stack costs what its families cost; a further question to it costs next to nothing. A session makes
 * stacks for images and keeps them, found again by what the image holds, up to a number of bytes on the
 * device; beyond it the one that was asked for longest ago goes first.
 *
 *     tvlm_session_stack(session, &photo, &params, NULL, 0, &stack, &hit);
 *     tvlm_select(stack, query, NULL, &selection);
 *     tvlm_session_trim(session);
 */
#ifndef TEXTUREVLM_SESSION_H
#define TEXTUREVLM_SESSION_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_session tvlm_session;

struct tvlm_session_params {
    size_t cache_bytes; /* of device memory that stacks may take; 0: half of the device's memory */
    uint64_t reserved[4];
};
#define tvlm_session_params(...) TVLM_PARAMS(tvlm_session_params, __VA_ARGS__)

/* The session is the caller's, and does not outlive the device. Errors: MEMORY. */
TVLM_API tvlm_status tvlm_session_create(tvlm_device *device, const struct tvlm_session_params *params,
                                         tvlm_session **session);

/* And all its stacks. */
TVLM_API void tvlm_session_destroy(tvlm_session **session);

/*
 * The stack of an image: the one that is kept (*hit true), with all that was made and handed in; else a new
 * one, as tvlm_stack_create_for_image makes it. Which stack is decided by SHA-256 of the pixels (not of the
 * gaps between rows), their size and type, all of `params` (NULL: the defaults; `images` is 1), and `key`:
 * any bytes that tell stacks apart in what else they were given (features, labels; NULL: nothing). `hit` may
 * be NULL.
 *
 * The stack stays the session's: it is not destroyed, and its image is not replaced. It is valid until the
 * next call of tvlm_session_stack or tvlm_session_trim. Stacks grow with what they are asked, so both count
 * all of them anew and let stacks go, the least recently asked for first, until the bound holds;
 * tvlm_session_stack never the one it returns. Errors: as tvlm_stack_create_for_image (a device out of memory
 * is asked again without all other stacks), MEMORY; the session is as it was then, but for stacks that were
 * let go.
 */
TVLM_API tvlm_status tvlm_session_stack(tvlm_session *session, const tvlm_image *image,
                                        const struct tvlm_stack_params *params, const void *key,
                                        size_t key_bytes, tvlm_stack **stack, bool *hit);

/* Nobody uses a stack any more: lets stacks go until the bound holds, the last one too if it is larger. */
TVLM_API void tvlm_session_trim(tvlm_session *session);

typedef struct tvlm_session_info {
    int64_t hits, misses, evictions; /* since it was created */
    int32_t stacks;                  /* kept now */
    size_t bytes;                    /* of device memory that these take now */
    size_t cache_bytes;              /* the bound */
    uint64_t reserved[4];
} tvlm_session_info;
TVLM_API tvlm_status tvlm_session_get_info(const tvlm_session *session, tvlm_session_info *info);

#ifdef __cplusplus
}
#endif
#endif
