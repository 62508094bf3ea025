/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler.h: what the library takes of a compiler beyond C11. GCC, clang and clang-cl have it. What nobody
 * else asks for stands here alone (ci/check-msvc); what callers see of it is in texturevlm/status.h.
 */
#ifndef TVLM_PLATFORM_COMPILER_H
#define TVLM_PLATFORM_COMPILER_H

#include <limits.h> /* which C library this is (__GLIBC__) */

/* Before a variable: when its block is left, by whatever way, function(&variable) is called. */
#define TVLM_AT_END(function) __attribute__((cleanup(function)))

/* Before a static function: it stays a function of its own, which a profiler finds by its name. */
#define TVLM_APART __attribute__((noinline))

/*
 * Before a static function with loops over long rows: it is built twice, also for processors with AVX2, whose
 * vectors are twice as long, and the dynamic linker chooses. Both compute the same to the bit. It is built once
 * with other compilers and C libraries, and with sanitizers, whose own libraries are not ready that early.
 */
#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__ &&                     \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define TVLM_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define TVLM_WIDE
#endif

/* The type of an expression, or of a function, which is not evaluated. */
#define TVLM_TYPE_OF(expression) __typeof__(expression)

#endif
