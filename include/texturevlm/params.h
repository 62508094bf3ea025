/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h: how the library's structs are filled, and how they grow.
 *
 * Every function that has options takes a pointer to a struct of them. In this struct, zero always means the
 * default. A macro with the name of the struct makes one in place, in which only the members that differ from the
 * default are given:
 *
 *     tvlm_select(stack, NULL, tvlm_select_params(.k = 64, .patch = 14), &selection);
 *
 * In C the struct lives until the end of the block, in C++ until the end of the full expression (so a pointer
 * to it must not be kept). C++ wants the members in the order of their declaration. A variable does as well,
 * in either language: `struct tvlm_select_params params = {0};` in C, `tvlm_select_params params{};` in C++.
 *
 * A few numbers would be meaningful at 0, but there, too, 0 means the default. These members take TVLM_EXPLICIT_ZERO to
 * mean 0 itself, and their comments say so.
 *
 * *How structs grow.* A program that was compiled with an older header goes on working with a newer library
 * of the same soname, although structs get new members:
 * - Every struct that a caller fills, or gets by value, ends in `reserved` words, which are 0.
 * - A new member takes the place of the first of them, so that neither the struct's size nor the place of any
 *   older member changes. Its zero means what the library did before there was that member.
 * - The library refuses a struct whose reserved words are not 0, with ARGUMENT and a line that names the struct.
 *   Either the program was compiled with a newer header, and asks for what this library does not know. Or it did
 *   not set the struct to zero before it filled it.
 * - What the library fills in for the caller has its reserved words set to 0.
 *
 * The lab (lab/) promises nothing of this: its structs are those of the library's own version.
 *
 * A few small structs are complete and never grow: tvlm_log, tvlm_metadata, and those that describe places, which
 * are tvlm_sample_point, tvlm_volume_point, tvlm_footprint, tvlm_duplicate, tvlm_cell, tvlm_picture,
 * tvlm_thumbnail_grid, tvlm_clip_token and tvlm_video_region.
 * Structs that only the library makes, and hands out by a pointer (tvlm_safetensors, tvlm_flo, tvlm_parameter), may
 * grow at their end. Enumerations get new values at their end.
 */
#ifndef TEXTUREVLM_PARAMS_H
#define TEXTUREVLM_PARAMS_H

/* Keeps compilers from warning users of this header. What the macros expand to is standard in neither C++17
 * (designators) nor C11 (empty braces). g++ would also warn of the members that are left out on purpose. */
#if defined(__GNUC__)
#pragma GCC system_header
#endif

#include <stdint.h>

/* Stands for 0 in a member whose 0 means the default. */
#define TVLM_EXPLICIT_ZERO (-1.0f)
/* Its name in version 0.2, which goes with 0.4. */
#define TVLM_ZERO TVLM_EXPLICIT_ZERO

#ifdef __cplusplus
extern "C++" {
/* Returns the address of a temporary, since C++ has no compound literals. */
template <typename tvlm_params_type>
inline const tvlm_params_type *tvlm_params_address(const tvlm_params_type &params) {
    return &params;
}
}
#if defined(__GNUC__) /* which warns of designators otherwise */
#define TVLM_PARAMS(name, ...) (__extension__ tvlm_params_address<struct name>({__VA_ARGS__}))
#else
#define TVLM_PARAMS(name, ...) (tvlm_params_address<struct name>({__VA_ARGS__}))
#endif
#else
#define TVLM_PARAMS(name, ...) (&(struct name){__VA_ARGS__})
#endif

#endif
