/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler.h: what the library takes of a compiler beyond C11. GCC, clang and clang-cl have it. What nobody
 * else asks for stands here alone (ci/check-msvc); what callers see of it is in texturevlm/status.h.
 */
#ifndef TVLM_PLATFORM_COMPILER_H
#define TVLM_PLATFORM_COMPILER_H

/* Before a variable: when its block is left, by whatever way, function(&variable) is called. */
#define TVLM_AT_END(function) __attribute__((cleanup(function)))

/* Before a static function: it stays a function of its own, which a profiler finds by its name. */
#define TVLM_APART __attribute__((noinline))

/* The type of an expression, or of a function, which is not evaluated. */
#define TVLM_TYPE_OF(expression) __typeof__(expression)

#endif
