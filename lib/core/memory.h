/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: products of sizes that cannot overflow silently, and zeroed allocations of such sizes.
 */
#ifndef TVLM_CORE_MEMORY_H
#define TVLM_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* *product = a * b. Returns false when it does not fit. */
static inline bool tvlm_multiply(size_t a, size_t b, size_t *product) {
    if (b != 0 && a > SIZE_MAX / b) return false;
    *product = a * b;
    return true;
}

/* Allocates count * size bytes (at least one), set to zero, for free(). Returns NULL on overflow or when
 * there is no memory. */
static inline void *tvlm_allocate(size_t count, size_t size) {
    size_t bytes;
    if (!tvlm_multiply(count, size, &bytes)) return NULL;
    return calloc(bytes > 0 ? bytes : 1, 1);
}

#endif
