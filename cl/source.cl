/*
 * source.cl: the pixels that were handed in -> r, g, b, luma.
 *
 * Compiled for PIXEL_TYPE (TVLM_PIXELS_*) and PIXEL_CHANNELS (1 gray, 2 gray + alpha, 3 RGB, 4 RGBA). Values
 * stay encoded (sRGB); alpha is composited on white; floats are clamped, NaN becomes 0. One work-item a
 * pixel.
 */
#include "texture.clh"

#ifndef PIXEL_TYPE
#define PIXEL_TYPE     TVLM_PIXELS_U8
#define PIXEL_CHANNELS 3
#endif

#if PIXEL_TYPE == TVLM_PIXELS_U8
typedef uchar pixel_t;
#define UNIT(value) ((value) / 255.0f)
#elif PIXEL_TYPE == TVLM_PIXELS_U16
typedef ushort pixel_t;
#define UNIT(value) ((value) / 65535.0f)
#else
typedef float pixel_t;
#define UNIT(value) ((value) >= 0.0f ? min((value), 1.0f) : 0.0f) /* NaN compares false */
#endif

kernel void source(global const uchar *restrict pixels, const ulong offset, const ulong row_stride,
                   const int image, TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= result_size.x || y >= result_size.y) return;
    global const pixel_t *pixel =
        (global const pixel_t *)(pixels + offset + y * row_stride) + x * PIXEL_CHANNELS;
    float r = UNIT(pixel[0]);
#if PIXEL_CHANNELS >= 3
    float g = UNIT(pixel[1]), b = UNIT(pixel[2]);
#else
    float g = r, b = r;
#endif
#if PIXEL_CHANNELS == 2 || PIXEL_CHANNELS == 4
    const float alpha = UNIT(pixel[PIXEL_CHANNELS - 1]), white = 1.0f - alpha;
    r = r * alpha + white;
    g = g * alpha + white;
    b = b * alpha + white;
#endif
    const float luma = TVLM_LUMA_R * r + TVLM_LUMA_G * g + TVLM_LUMA_B * b;
    texel_store(result, x, y, image * result_size.z, (float4)(r, g, b, clamp(luma, 0.0f, 1.0f)));
}
