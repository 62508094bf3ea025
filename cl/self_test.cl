/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.cl: kernels with known answers. They test what drivers were found to get wrong: writing, fetching
 * and sampling texels, rounding to half, running loops, and rounding products. lib/opencl/self_test.c runs
 * them and knows the answers.
 *
 * Each program and each kernel costs a device a build. So one program has the kernels for all storages that
 * are tested together, and one kernel asks about textures of two formats, a and b:
 *
 *   - Buffers are of floats and of halves.
 *   - There are images with SELF_TEST_IMAGES. Kernels do not see their format: a and b are floats and halves,
 *     or both kinds of bytes. The pattern is scaled so that it is a whole number of bytes.
 *   - The mipmapped storage needs another language, and therefore a program of its own.
 */
// check-kernels: -DSELF_TEST_IMAGES=0
// check-kernels: -DSELF_TEST_IMAGES=1
// gpu: -DSELF_TEST_IMAGES=1
// gpu: -DSELF_TEST_IMAGES=0 -DTVLM_STORAGE=2

/* The slices of the pattern, and the points between texels. */
#define SELF_TEST_SLICES 8
#define SELF_TEST_POINTS 64

#include "helper.clh"

/*
 * Answers the question about numbers. The last work-item asks it, in one of the storages. The first two
 * numbers of the answer are the two halves of a number of a linear congruential generator, after `turns`
 * turns of a loop. The third is product_sum.x * product_sum.y + product_sum.z. The host picks the arguments,
 * so that no compiler shortens the loop.
 */
HELPER float4 number_answer(int turns, float4 product_sum) {
#pragma OPENCL FP_CONTRACT OFF
    uint number = 1;
    for (int turn = 0; turn < turns; ++turn) number = number * 1664525u + 1013904223u;
    return (float4)(number >> 16, number & 0xffff, product_sum.x * product_sum.y + product_sum.z, 0.0f);
}

#if TVLM_STORAGE == 2
#define KIND      mipmapped
#define STORED_AS 2
#define HALVES    0
#include "self_test.clh"

kernel void self_test_write_mipmapped(TEXTURE_OUT(a), TEXTURE_OUT(b), const float8 between,
                                      const float4 scales) {
    pattern_write_mipmapped(OUTPUT(a), between, scales.x);
    pattern_write_mipmapped(OUTPUT(b), between, scales.y);
}

/* Writes the answers about a and then those about b, from answer `first` on. */
kernel void self_test_read_mipmapped(TEXTURE_IN(a), TEXTURE_IN(b), global float4 *restrict all_answers,
                                     const int first) {
    const int i = get_global_id(0), count = get_global_size(0);
    global float4 *const answers = all_answers + first;
    answers[i] = answer_mipmapped(TEXTURE(a));
    answers[count + i] = answer_mipmapped(TEXTURE(b));
}

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

/* The textures begin at these texels of their memory, which holds the answers, too. */
#define BUFFERS_AT(places)                                                                                   \
    f32_base += (places).x;                                                                                  \
    f16_base += 4 * (places).y;

kernel void self_test_write_buffer(BUFFER_OUT(float4, f32), BUFFER_OUT(half, f16), const float8 between,
                                   const int2 places) {
    BUFFERS_AT(places)
    pattern_write_buffer_f32(OUTPUT(f32), between, 1.0f);
    pattern_write_buffer_f16(OUTPUT(f16), between, 1.0f);
}

/* Writes the answers about the floats and then those about the halves, from answer `first` on. The last
 * answer about the floats is the one about numbers. */
kernel void self_test_read_buffer(BUFFER_IN(float4, f32), BUFFER_IN(half, f16),
                                  global float4 *restrict all_answers, const int first, const int2 places,
                                  const int turns, const float4 product_sum) {
    const int i = get_global_id(0), count = get_global_size(0);
    global float4 *const answers = all_answers + first;
    BUFFERS_AT(places)
    answers[i] = i == count - 1 ? number_answer(turns, product_sum) : answer_buffer_f32(TEXTURE(f32));
    answers[count + i] = answer_buffer_f16(TEXTURE(f16));
}

#if SELF_TEST_IMAGES
#undef KIND
#undef STORED_AS
#undef HALVES
#define KIND      image
#define STORED_AS 0
#define HALVES    0
#include "self_test.clh"

/* The pattern of images of one component. It is linear in x and y, and a different whole number in each
 * texel, which is exact in half. Images of bytes hold it as that number of steps of a byte. */
HELPER float scalar_pattern(float x, float y, int slice) {
    return x + 5.0f * y + 15.0f * slice;
}

/* Counts the wrong reads of an image of one component, which holds the pattern divided by `whole`. Weights of
 * 8 fractional bits are off by at most 1/256 of a step of 5. A texel of bytes need not come back to the bit,
 * since drivers may divide. */
HELPER int scalar_wrong(TEXTURE_IN(scalar), float whole) {
    const int row = scalar_size.x, slice = row * scalar_size.y;
    const float off = whole == 1.0f ? 0.0f : 0.001f;
    int wrong = 0;
    for (int n = 0; n < slice * SELF_TEST_SLICES; ++n) {
        const int x = n % row, y = n / row % scalar_size.y, z = n / slice;
        const float between = texel_bilinear(scalar, x + 0.75f, y + 0.75f, z, 0).x * whole;
        const float at_x = min(x + 0.25f, row - 1.0f), at_y = min(y + 0.25f, scalar_size.y - 1.0f);
        wrong += !(fabs(texel_scalar(scalar, x, y, z, 0) * whole - scalar_pattern(x, y, z)) <= off);
        wrong += !(fabs(between - scalar_pattern(at_x, at_y, z)) <= 6.0f / 250.0f);
    }
    return wrong;
}

/* Images of one component are tested with those of four. They hold their pattern divided by scales.z and by
 * scales.w. */
kernel void self_test_write_image(TEXTURE_OUT(a), TEXTURE_OUT(b), const float8 between, const float4 scales,
                                  TEXTURE_OUT(scalar_a), TEXTURE_OUT(scalar_b)) {
    const int x = get_global_id(0), y = get_global_id(1), slice = get_global_id(2);
    const float scalar = scalar_pattern(x, y, slice);
    pattern_write_image(OUTPUT(a), between, scales.x);
    pattern_write_image(OUTPUT(b), between, scales.y);
    texel_store_scalar(scalar_a, x, y, slice, scalar / scales.z);
    texel_store_scalar(scalar_b, x, y, slice, scalar / scales.w);
}

/* Writes the answers about a and then those about b, from answer `first` on. The last answer about each says
 * how many reads of its image of one component are wrong. */
kernel void self_test_read_image(TEXTURE_IN(a), TEXTURE_IN(b), global float4 *restrict all_answers,
                                 const int first, const float4 scales, TEXTURE_IN(scalar_a),
                                 TEXTURE_IN(scalar_b)) {
    const int i = get_global_id(0), count = get_global_size(0);
    global float4 *const answers = all_answers + first;
    float4 of_a = answer_image(TEXTURE(a)), of_b = answer_image(TEXTURE(b));
    if (i == count - 1) {
        of_a.w = scalar_wrong(TEXTURE(scalar_a), scales.z);
        of_b.w = scalar_wrong(TEXTURE(scalar_b), scales.w);
    }
    answers[i] = of_a;
    answers[count + i] = of_b;
}
#endif
#endif
