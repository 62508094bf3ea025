/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.cl: kernels with known answers, for what drivers were found to get wrong: writing, fetching and
 * sampling texels, rounding to half, running loops, and rounding products. lib/opencl/self_test.c runs them and
 * knows the answers.
 *
 * One program has them for all kinds of textures that are tested together, since each program costs a device a
 * build: buffers of float and of half, and with SELF_TEST_IMAGES images, whose format kernels do not see. The
 * mipmapped storage needs another language, and therefore a program of its own.
 */
// check-kernels: -DSELF_TEST_IMAGES=0
// check-kernels: -DSELF_TEST_IMAGES=1

/* The slices of the pattern, and the points between texels. */
#define SELF_TEST_SLICES 8
#define SELF_TEST_POINTS 64

#if TVLM_STORAGE == 2
#define KIND      mipmapped
#define STORED_AS 2
#define HALVES    0
#include "self_test.clh"

/* Writes out[i] = the sample at points[i] = (x, y, slice, level), x and y in pixels of the image. */
kernel void self_test_sample(TEXTURE_IN(source), global const float4 *restrict points,
                             global float4 *restrict out) {
    const int i = get_global_id(0);
    out[i] = texel_sample(source, points[i].x, points[i].y, (int)points[i].z, points[i].w);
}
#else
#define KIND      buffer_f32
#define STORED_AS 1
#define HALVES    0
#include "self_test.clh"
#undef KIND
#undef HALVES
#define KIND   buffer_f16
#define HALVES 1
#include "self_test.clh"
#if SELF_TEST_IMAGES
#undef KIND
#undef STORED_AS
#undef HALVES
#define KIND      image
#define STORED_AS 0
#define HALVES    0
#include "self_test.clh"
#endif
#endif
