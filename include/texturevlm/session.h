/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: keeps stacks from question to question.
 *
 * Making a stack's channels takes time; a further question to it takes next to none. A session makes stacks
 * for images and keeps them, up to a number of bytes on the device. It finds a stack again by the content of
 * its image. If stacks take more bytes than that, the one that was asked for longest ago is destroyed first.
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
    /* How many bytes of device memory stacks may take; 0 means half of the device's memory. */
    size_t cache_bytes;
    uint64_t reserved[4];
};
#define tvlm_session_params(...) TVLM_PARAMS(tvlm_session_params, __VA_ARGS__)

/* Creates a session, which the caller destroys before the device. Errors: ARGUMENT, MEMORY. */
TVLM_API tvlm_status tvlm_session_create(tvlm_device *device, const struct tvlm_session_params *params,
                                         tvlm_session **session);

/* Destroys a session and all its stacks. */
TVLM_API void tvlm_session_destroy(tvlm_session **session);

/*
 * Gives the stack of an image. If the session has kept a stack of this image, it gives that one, with all that
 * was made for it and handed in, and *hit becomes true. Otherwise it makes a new stack, as
 * tvlm_stack_create_for_image does. `hit` may be NULL.
 *
 * A stack is found by the SHA-256 of
 *   - the pixels (without the gaps between rows), their size and type;
 *   - all of `params` (NULL means the defaults; `images` is 1);
 *   - `key`: any bytes. They tell apart stacks of one image that were given different things besides the image
 *     (features, labels). NULL means no bytes.
 *
 * The stack stays the session's: the caller does not destroy it, and does not replace its image. It is valid
 * until the next call of tvlm_session_stack or tvlm_session_trim. Stacks grow with what they are asked.
 * Therefore both functions count the bytes of all stacks anew, and destroy stacks, the least recently asked
 * for first, until the bound holds. tvlm_session_stack never destroys the stack that it returns.
 *
 * Before it makes a stack, it destroys others until there is memory for the new one (tvlm_stack_largest_size says how
 * much memory there is). If the device has no memory all the same, it destroys all others, and tries again.
 *
 * Errors: those of tvlm_stack_create_for_image; MEMORY. The session is then as it was, except for stacks that
 * were destroyed.
 */
TVLM_API tvlm_status tvlm_session_stack(tvlm_session *session, const tvlm_image *image,
                                        const struct tvlm_stack_params *params, const void *key,
                                        size_t key_bytes, tvlm_stack **stack, bool *hit);

/* Tells the session that no stack is in use any more. Stacks are destroyed until the bound holds, even the last
 * one if it is larger than that. */
TVLM_API void tvlm_session_trim(tvlm_session *session);

typedef struct tvlm_session_info {
    /* How many stacks were found, made, and destroyed to make room, since the session was created. */
    int64_t hits, misses, evictions;
    /* How many stacks are kept, and how many bytes of device memory they take. */
    int32_t stacks;
    size_t bytes;
    /* The bound on `bytes`. */
    size_t cache_bytes;
    uint64_t reserved[4];
} tvlm_session_info;
TVLM_API tvlm_status tvlm_session_get_info(const tvlm_session *session, tvlm_session_info *info);

#ifdef __cplusplus
}
#endif
#endif
