/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/random.h: numbers that look random and are the same everywhere, by SplitMix64 (Steele, Lea & Flood
 * 2014).
 */
#ifndef TVLM_CORE_RANDOM_H
#define TVLM_CORE_RANDOM_H

#include <stdint.h>

/* Returns any 64-bit number and moves *state on. *state may begin as anything. */
static inline uint64_t tvlm_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number in (0, 1). */
static inline double tvlm_random_unit(uint64_t *state) {
    return ((double)(tvlm_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

#endif
