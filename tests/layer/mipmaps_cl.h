/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mipmaps_cl.h: what mipmaps.c puts before each program: the built-in function of cl_khr_mipmap_image that the
 * kernels use, for its atlases. An image without levels is one whose last texel is not the mark. Weights have 8
 * fractional bits, as NVIDIA's have: a read at the centre of a texel is that texel, though 3.0f / 7 * 7 is not 3.
 */
#ifndef TVLM_TESTS_LAYER_MIPMAPS_CL_H
#define TVLM_TESTS_LAYER_MIPMAPS_CL_H

#define MIPMAPS_MARK                                                                                         \
    { -2047.0f, 1023.0f, -511.0f, 255.0f }

#define MIPMAPS_TEXT                                                                                                            \
    "constant sampler_t mipmaps_nearest =\n"                                                                                    \
    "    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"                                       \
    "inline float4 mipmaps_texel(read_only image2d_array_t image, int x, int y, int slice) {\n"                                 \
    "    return read_imagef(image, mipmaps_nearest, (int4)(x, y, slice, 0));\n"                                                 \
    "}\n"                                                                                                                       \
    "inline float4 mipmaps_level(read_only image2d_array_t image, int2 size, float2 at, int slice, int level) {\n"              \
    "    const int2 own = max(size >> level, 1);\n"                                                                             \
    "    const float2 texel = rint(256.0f * clamp(at * convert_float2(own) - 0.5f, 0.0f, convert_float2(own - 1))) / 256.0f;\n" \
    "    const int2 low = convert_int2(texel), high = min(low + 1, own - 1);\n"                                                 \
    "    const float2 between = texel - convert_float2(low);\n"                                                                 \
    "    int2 corner = (int2)(level > 0 ? size.x : 0, 0);\n"                                                                    \
    "    for (int n = 1; n < level; ++n) corner.y += max(size.y >> n, 1);\n"                                                    \
    "    const int x0 = corner.x + low.x, x1 = corner.x + high.x, y0 = corner.y + low.y,\n"                                     \
    "              y1 = corner.y + high.y;\n"                                                                                   \
    "    const float4 top = mipmaps_texel(image, x0, y0, slice) * (1.0f - between.x) +\n"                                       \
    "                       mipmaps_texel(image, x1, y0, slice) * between.x;\n"                                                 \
    "    const float4 bottom = mipmaps_texel(image, x0, y1, slice) * (1.0f - between.x) +\n"                                    \
    "                          mipmaps_texel(image, x1, y1, slice) * between.x;\n"                                              \
    "    return top * (1.0f - between.y) + bottom * between.y;\n"                                                               \
    "}\n"                                                                                                                       \
    "inline float4 __attribute__((overloadable))\n"                                                                             \
    "read_imagef(read_only image2d_array_t image, sampler_t sampler, float4 at, float lod) {\n"                                 \
    "    const int right = get_image_width(image) - 1, bottom = get_image_height(image) - 1;\n"                                 \
    "    const float4 mark = mipmaps_texel(image, right, bottom, 0);\n"                                                         \
    "    const bool has = all(mark == (float4)(-2047.0f, 1023.0f, -511.0f, 255.0f)) && right >= 4;\n"                           \
    "    int2 size = (int2)(right + 1, bottom + 1);\n"                                                                          \
    "    float last = 0.0f;\n"                                                                                                  \
    "    if (has) {\n"                                                                                                          \
    "        const float4 digits = mipmaps_texel(image, right - 2, bottom, 0);\n"                                               \
    "        size = (int2)((int)digits.x + 1024 * (int)digits.y, (int)digits.z + 1024 * (int)digits.w);\n"                      \
    "        last = mipmaps_texel(image, right - 1, bottom, 0).x - 1.0f;\n"                                                     \
    "    }\n"                                                                                                                   \
    "#ifdef FLAT\n"                                                                                                             \
    "    lod = 0.0f;\n"                                                                                                         \
    "#endif\n"                                                                                                                  \
    "    lod = rint(256.0f * clamp(lod, 0.0f, last)) / 256.0f;\n"                                                               \
    "    const int level = (int)lod;\n"                                                                                         \
    "    const float4 lower = mipmaps_level(image, size, at.xy, (int)(at.z + 0.5f), level);\n"                                  \
    "    if (lod == (float)level) return lower;\n"                                                                              \
    "    const float4 upper = mipmaps_level(image, size, at.xy, (int)(at.z + 0.5f), level + 1);\n"                              \
    "    return lower + (upper - lower) * (lod - (float)level);\n"                                                              \
    "}\n"                                                                                                                       \
    "#line 1\n"

#endif
