/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planes.cl: makes RGB floats from a frame in the form in which cameras and other interfaces deliver it. The
 * result has the size that is wanted. It is resized by area where a side shrinks, and bilinearly where it
 * grows. A work-item makes one pixel of it.
 *
 * The host compiles for
 *   - IMAGES: the planes are images, read as they are, without a filter; otherwise they are buffers;
 *   - NV12: luma in the first plane, pairs (Cb, Cr) of 2 x 2 pixels in the second; otherwise the first plane
 *     has pixels, and the second is not looked at;
 *   - RESAMPLE: the result has another size than the frame;
 *   - PIXEL_TYPE and PIXEL_CHANNELS: pixels.clh. For images only the number of channels counts.
 */
// check-kernels: -DIMAGES=0 -DNV12=0 -DRESAMPLE=1
// check-kernels: -DIMAGES=0 -DNV12=1 -DRESAMPLE=0
// check-kernels: -DIMAGES=1 -DNV12=0 -DRESAMPLE=0 -DPIXEL_TYPE=2 -DPIXEL_CHANNELS=4
// check-kernels: -DIMAGES=1 -DNV12=1 -DRESAMPLE=1
// gpu: -DIMAGES=0 -DNV12=0 -DRESAMPLE=1
// gpu: -DIMAGES=1 -DNV12=1 -DRESAMPLE=1
#include "pixels.clh"

#if IMAGES
#define PLANE(name) read_only image2d_t name
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#else
#define PLANE(name) global const uchar *name
#endif

/* Both planes. For buffers there are also the byte at which each begins, and how many bytes apart its rows
 * are. Each of red, green and blue is its vector's dot product with (luma, Cb, Cr, 1). */
#define FRAME_IN                                                                                             \
    PLANE(first), const ulong offset, const ulong stride, PLANE(chroma), const ulong chroma_offset,          \
        const ulong chroma_stride, const float4 red, const float4 green, const float4 blue
#define FRAME first, offset, stride, chroma, chroma_offset, chroma_stride, red, green, blue

/* The colour of pixel (x, y) of the frame. */
HELPER float3 colour_at(FRAME_IN, const int x, const int y) {
#if NV12
#if IMAGES
    const float luma = read_imagef(first, nearest, (int2)(x, y)).x;
    const float2 pair = read_imagef(chroma, nearest, (int2)(x / 2, y / 2)).xy;
#else
    const float luma = first[offset + y * stride + x] / 255.0f;
    global const uchar *at = chroma + chroma_offset + y / 2 * chroma_stride + x / 2 * 2;
    const float2 pair = (float2)(at[0] / 255.0f, at[1] / 255.0f);
#endif
    const float4 known = (float4)(luma, pair, 1.0f);
    return clamp((float3)(dot(red, known), dot(green, known), dot(blue, known)), 0.0f, 1.0f);
#elif IMAGES
    const float4 read = read_imagef(first, nearest, (int2)(x, y));
#if PIXEL_CHANNELS == 1
    const float3 colour = (float3)CLAMPED(read.x);
#else
    const float3 colour = (float3)(CLAMPED(read.x), CLAMPED(read.y), CLAMPED(read.z));
#endif
#if PIXEL_CHANNELS == 4
    const float alpha = CLAMPED(read.w);
    return colour * alpha + (1.0f - alpha);
#else
    return colour;
#endif
#else
    return rgb_of((global const pixel_t *)(first + offset + y * stride) + x * PIXEL_CHANNELS);
#endif
}

#if RESAMPLE
/*
 * Where place i of the result lies along an axis that grows from `from` to `to` places, in units of
 * 1 / (2 * to) source places from the middle of the first one. Whole numbers keep it exact.
 */
HELPER long place_of(long i, long from, long to) {
    return clamp((2 * i + 1) * from - to, 0L, (from - 1) * 2 * to);
}

/* The first and the last source place that place i is made of. */
HELPER int2 span_of(long i, long from, long to) {
    if (from >= to) return (int2)(i * from / to, ((i + 1) * from - 1) / to);
    const int first = place_of(i, from, to) / (2 * to);
    return (int2)(first, min(first + 1, (int)from - 1));
}

/* How much of place i comes from source place s. Where the axis shrinks it is the part of place i that s
 * covers. Where it grows it is 1 less the distance of i and s. */
HELPER float share_of(long i, long s, long from, long to) {
    if (from >= to) return (float)(min((s + 1) * to, (i + 1) * from) - max(s * to, i * from)) / (float)from;
    return 1.0f - fabs((float)(place_of(i, from, to) - s * 2 * to)) / (float)(2 * to);
}
#endif

/* Work-item (x, y) makes pixel (x, y) of a result of size.zw pixels from a frame of size.xy. */
kernel void planes(FRAME_IN, const int4 size, global float *restrict result) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= size.z || y >= size.w) return;
#if RESAMPLE
    const int2 columns = span_of(x, size.x, size.z), rows = span_of(y, size.y, size.w);
    float3 colour = 0.0f;
    for (int t = rows.x; t <= rows.y; ++t) {
        float3 row = 0.0f;
        for (int s = columns.x; s <= columns.y; ++s)
            row += share_of(x, s, size.x, size.z) * colour_at(FRAME, s, t);
        colour += share_of(y, t, size.y, size.w) * row;
    }
#else
    const float3 colour = colour_at(FRAME, x, y);
#endif
    global float *pixel = result + ((ulong)y * size.z + x) * 3;
    pixel[0] = colour.x;
    pixel[1] = colour.y;
    pixel[2] = colour.z;
}
