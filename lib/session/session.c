/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c: keeps stacks, and finds them by the content of their images. When memory is needed, the stacks
 * that have not been used for the longest time are destroyed first.
 */
#include "texturevlm/session.h"

#include <stdbool.h>
#include <string.h>

#include <sha2.h>

#include "core/attempt.h"
#include "core/check.h"
#include "core/learned.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/limits.h"
#include "stack/upload.h"

/* uthash allocates its table when the first entry comes, and when the table grows. If that fails, only the
 * new entry is lost. */
#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(lost) ((lost)->refused = true)
#define uthash_malloc(size)       tvlm_allocate(1, size)
#include <uthash.h>

#define DIGEST_BYTES SHA256_DIGEST_LENGTH

/* A stack that is kept. `used` is the time on the session's clock when it was last asked for. `refused` is
 * set if the table has no memory for the entry. */
typedef struct entry {
    uint8_t digest[DIGEST_BYTES];
    tvlm_stack *stack;
    uint64_t used;
    bool refused;
    UT_hash_handle hh;
} entry;

/* `info` has the counts. The numbers of stacks and bytes in it are filled in only when they are asked for. */
struct tvlm_session {
    tvlm_device *device;
    entry *entries;
    uint64_t clock;
    tvlm_session_info info;
};

/* ---- Which stack ---- */

/* Hashes the length of a part, and the part itself, so that two different lists of parts never give the same
 * bytes. */
static void add(SHA2_CTX *hash, const void *bytes, size_t size) {
    const uint64_t length = size;
    SHA256Update(hash, (const uint8_t *)&length, sizeof length);
    SHA256Update(hash, bytes, size);
}

static void add_pixels(SHA2_CTX *hash, const tvlm_image *image, size_t row) {
    const int32_t shape[6] = {image->width,         image->height,   image->channels,
                              (int32_t)image->type, image->of_width, image->of_height};
    const size_t stride = image->row_stride > 0 ? image->row_stride : row;
    add(hash, shape, sizeof shape);
    for (int32_t y = 0; y < image->height; ++y)
        SHA256Update(hash, (const uint8_t *)image->pixels + (size_t)y * stride, row);
}

static void add_params(SHA2_CTX *hash, const struct tvlm_stack_params *params) {
    const char *const layout = params->layout != NULL ? params->layout : TVLM_LAYOUT_DEFAULT;
    const int32_t numbers[6] = {params->width,           params->height,   params->images,
                                (int32_t)params->format, params->clusters, params->max_side};
    const float reals[3] = {params->compactness, params->fixation != NULL ? params->fixation[0] : 0.0f,
                            params->fixation != NULL ? params->fixation[1] : 0.0f};
    const uint8_t fixed = params->fixation != NULL;
    add(hash, layout, strlen(layout));
    add(hash, numbers, sizeof numbers);
    add(hash, &params->memory_max, sizeof params->memory_max);
    add(hash, reals, sizeof reals);
    add(hash, &fixed, 1);
    if (params->network == NULL) return;
    uint8_t network[32];
    tvlm_networks.digest(params->network, network);
    add(hash, network, sizeof network);
}

static tvlm_status digest_of(const tvlm_session *s, const tvlm_image *image,
                             const struct tvlm_stack_params *params, const void *key, size_t key_bytes,
                             uint8_t digest[DIGEST_BYTES]) {
    SHA2_CTX hash;
    size_t row;
    TVLM_TRY(tvlm_stack_check_image(&s->device->log, image, &row));
    if (key_bytes > 0) TVLM_NEED(&s->device->log, key);
    SHA256Init(&hash);
    add_pixels(&hash, image, row);
    add_params(&hash, params);
    add(&hash, key != NULL ? key : "", key_bytes);
    SHA256Final(digest, &hash);
    return TVLM_OK;
}

/* ---- Destroying stacks ---- */

static size_t held_bytes(const tvlm_session *s) {
    size_t bytes = 0;
    for (const entry *e = s->entries; e != NULL; e = e->hh.next) bytes += tvlm_stack_bytes(e->stack);
    return bytes;
}

/* Destroys a stack. Drivers keep memory that enqueued work still reads. So this waits for the work first, and
 * the memory that counts as free afterwards is free. */
static void let_go(tvlm_session *s, entry *e) {
    (void)s->device->backend->finish(s->device);
    HASH_DEL(s->entries, e); /* NOLINT(clang-analyzer-*): the analyser does not follow uthash */
    tvlm_stack_destroy(&e->stack);
    free(e);
}

/* Returns the stack that has not been asked for for the longest time, other than `spared`, or NULL if there
 * is none. */
static entry *oldest(const tvlm_session *s, const entry *spared) {
    entry *found = NULL;
    for (entry *e = s->entries; e != NULL; e = e->hh.next) /* NOLINT(clang-analyzer-*): as above */
        if (e != spared && (found == NULL || e->used < found->used)) found = e;
    return found;
}

/* Destroys stacks, other than `spared`, until all take at most `bytes` bytes. */
static void shrink(tvlm_session *s, size_t bytes, const entry *spared) {
    while (held_bytes(s) > bytes) {
        entry *const e = oldest(s, spared);
        if (e == NULL) return;
        let_go(s, e);
        ++s->info.evictions;
    }
}

/* ---- Creating a stack ---- */

/* Destroys stacks until there is memory for one more. This cannot wait until an allocation fails: drivers
 * take memory late, and some systems end a process that takes too much. *hopeless: no stack that is destroyed
 * makes room for this one, so that all stay. */
static tvlm_status make_room(tvlm_session *s, const tvlm_image *image, const struct tvlm_stack_params *params,
                             bool *hopeless) {
    struct tvlm_stack_params sized = *params;
    uint64_t needed;
    if (s->entries == NULL) return TVLM_OK;
    if (sized.width == 0 && sized.height == 0 && tvlm_layout_side(sized.layout) == 0) {
        sized.width = image->width;
        sized.height = image->height;
        TVLM_TRY(tvlm_stack_largest_size(s->device, params, &sized.width, &sized.height));
    }
    TVLM_TRY(tvlm_stack_need(s->device, &sized, &needed));
    const tvlm_format format = tvlm_stack_format(s->device, sized.format);
    *hopeless = !tvlm_stack_size_fits(s->device, sized.width, sized.height, format) ||
                (sized.memory_max > 0 && needed > sized.memory_max) ||
                (double)needed > tvlm_stack_memory(s->device);
    if (*hopeless) return TVLM_OK;
    const double left = tvlm_stack_memory(s->device) - (double)needed;
    if (left < (double)SIZE_MAX) shrink(s, left > 0.0 ? (size_t)left : 0, NULL);
    return TVLM_OK;
}

static tvlm_status make_stack(tvlm_session *s, const tvlm_image *image,
                              const struct tvlm_stack_params *params, tvlm_stack **stack) {
    tvlm_device *const device = s->device;
    const tvlm_log log = device->log;
    tvlm_attempt first;
    bool hopeless = false;
    TVLM_TRY(make_room(s, image, params, &hopeless));
    if (s->entries == NULL || hopeless) return tvlm_stack_create_for_image(device, image, params, stack);
    tvlm_attempt_begin(&first, &log);
    device->log = first.log; /* a failure is no error if a second try, without other stacks, succeeds */
    const tvlm_status status = tvlm_stack_create_for_image(device, image, params, stack);
    device->log = log;
    if (status == TVLM_OK) return status;
    if (status != TVLM_ERROR_DEVICE_MEMORY) return tvlm_fail(&log, status, "%s", first.error);
    shrink(s, 0, NULL);
    return tvlm_stack_create_for_image(s->device, image, params, stack);
}

static tvlm_status insert(tvlm_session *s, const uint8_t digest[DIGEST_BYTES], tvlm_stack *stack,
                          entry **made) {
    entry *const e = tvlm_allocate(1, sizeof *e);
    if (e != NULL) {
        memcpy(e->digest, digest, DIGEST_BYTES);
        e->stack = stack;
        HASH_ADD(hh, s->entries, digest, DIGEST_BYTES, e);
    }
    if (e == NULL || e->refused) {
        free(e);
        return tvlm_fail(&s->device->log, TVLM_ERROR_MEMORY, "no memory to keep a stack");
    }
    *made = e;
    return TVLM_OK;
}

static tvlm_status miss(tvlm_session *s, const uint8_t digest[DIGEST_BYTES], const tvlm_image *image,
                        const struct tvlm_stack_params *params, entry **made) {
    tvlm_stack *stack = NULL;
    TVLM_TRY(make_stack(s, image, params, &stack));
    const tvlm_status status = insert(s, digest, stack, made);
    if (status != TVLM_OK)
        tvlm_stack_destroy(&stack);
    else
        ++s->info.misses;
    return status;
}

/* ---- session.h ---- */

tvlm_status tvlm_session_create(tvlm_device *device, const struct tvlm_session_params *params,
                                tvlm_session **session) {
    TVLM_NEED(NULL, device);
    TVLM_NEED(&device->log, session);
    TVLM_CHECK_RESERVED(&device->log, tvlm_session_params, params);
    const uint64_t half = device->info.memory_bytes / 2;
    tvlm_session *const made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a session");
    made->device = device;
    made->info.cache_bytes = params != NULL && params->cache_bytes > 0 ? params->cache_bytes
                             : half > 0 && half < SIZE_MAX             ? (size_t)half
                                                                       : SIZE_MAX;
    *session = made;
    return TVLM_OK;
}

void tvlm_session_destroy(tvlm_session **session) {
    if (session == NULL || *session == NULL) return;
    TVLM_ENTER_TO_FREE((*session)->device);
    while ((*session)->entries != NULL) let_go(*session, (*session)->entries);
    free(*session);
    *session = NULL;
}

tvlm_status tvlm_session_stack(tvlm_session *session, const tvlm_image *image,
                               const struct tvlm_stack_params *params, const void *key, size_t key_bytes,
                               tvlm_stack **stack, bool *hit) {
    static const struct tvlm_stack_params none = {0};
    uint8_t digest[DIGEST_BYTES];
    entry *found = NULL;
    TVLM_NEED(NULL, session);
    TVLM_ENTER(session->device);
    TVLM_NEED(&session->device->log, image);
    TVLM_NEED(&session->device->log, stack);
    TVLM_CHECK_RESERVED(&session->device->log, tvlm_stack_params, params);
    if (params == NULL) params = &none;
    TVLM_TRY(tvlm_learned_check(params->network, &session->device->log));
    TVLM_TRY(digest_of(session, image, params, key, key_bytes, digest));
    HASH_FIND(hh, session->entries, digest, DIGEST_BYTES, found);
    const bool known = found != NULL;
    if (!known) TVLM_TRY(miss(session, digest, image, params, &found));
    if (known) ++session->info.hits;
    found->used = ++session->clock;
    shrink(session, session->info.cache_bytes, found);
    *stack = found->stack;
    if (hit != NULL) *hit = known;
    return TVLM_OK;
}

void tvlm_session_trim(tvlm_session *session) {
    if (session == NULL) return;
    TVLM_ENTER_TO_FREE(session->device);
    shrink(session, session->info.cache_bytes, NULL);
}

tvlm_status tvlm_session_get_info(const tvlm_session *session, tvlm_session_info *info) {
    TVLM_NEED(NULL, session);
    TVLM_ENTER(session->device);
    TVLM_NEED(&session->device->log, info);
    *info = session->info;
    info->stacks = (int32_t)HASH_COUNT(session->entries);
    info->bytes = held_bytes(session);
    return TVLM_OK;
}
