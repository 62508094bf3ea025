/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/colours.h"

#include <math.h>

#define DEGREE 6

/*
 * Polynomials of degree 6, which Matt Zucker fitted (CC0, https://www.shadertoy.com/view/WlfXRN) to the maps
 * of matplotlib (Smith & van der Walt 2015, CC0). They differ from the tables by at most 4/255 (viridis) and
 * 9/255 (inferno).
 */
static const float viridis[DEGREE + 1][3] = {
    {0.27772733f, 0.00540734f, 0.33409981f},   {0.10509304f, 1.40461353f, 1.38459016f},
    {-0.33086183f, 0.21484756f, 0.09509516f},  {-4.63423050f, -5.79910097f, -19.33244096f},
    {6.22826994f, 14.17993337f, 56.69055260f}, {4.77638500f, -13.74514538f, -65.35303263f},
    {-5.43545586f, 4.64585261f, 26.31243525f},
};
static const float inferno[DEGREE + 1][3] = {
    {0.00021894f, 0.00165100f, -0.01948090f},     {0.10651342f, 0.56395644f, 3.93271239f},
    {11.60249308f, -3.97285397f, -15.94239411f},  {-41.70399613f, 17.43639888f, 44.35414520f},
    {77.16293570f, -33.40235894f, -81.80730926f}, {-71.31942824f, 32.62606426f, 73.20951986f},
    {25.13112623f, -12.24266895f, -23.07032500f},
};

/* Every second entry of the table of Moreland, "Diverging Color Maps for Scientific Visualization" (2009). */
#define DIVERGING_STEPS 16
static const tvlm_colour diverging[DIVERGING_STEPS + 1] = {
    {59, 76, 192},   {77, 104, 215},  {98, 130, 234},  {119, 154, 247}, {141, 176, 254}, {163, 194, 255},
    {184, 208, 249}, {204, 217, 238}, {221, 221, 221}, {236, 211, 197}, {245, 196, 173}, {247, 177, 148},
    {244, 154, 123}, {236, 127, 99},  {222, 96, 77},   {203, 62, 56},   {180, 4, 38},
};

static float clamp(float value, float low, float high) {
    if (!(value > low)) return low; /* this is also the result for NaN */
    return value < high ? value : high;
}

static uint8_t to_byte(float value) {
    return (uint8_t)(clamp(value, 0.0f, 1.0f) * 255.0f + 0.5f);
}

static tvlm_colour polynomial(const float (*terms)[3], float t) {
    float sum[3] = {0};
    t = clamp(t, 0.0f, 1.0f);
    for (int i = DEGREE; i >= 0; --i) {
        for (int c = 0; c < 3; ++c) sum[c] = sum[c] * t + terms[i][c];
    }
    return (tvlm_colour){to_byte(sum[0]), to_byte(sum[1]), to_byte(sum[2])};
}

tvlm_colour tvlm_colours_gray(float t) {
    const uint8_t gray = to_byte(t);
    return (tvlm_colour){gray, gray, gray};
}

tvlm_colour tvlm_colours_viridis(float t) {
    return polynomial(viridis, t);
}
tvlm_colour tvlm_colours_inferno(float t) {
    return polynomial(inferno, t);
}

/* The darkest third of the map cannot be seen on a dark image, nor the lightest colours on a light one. */
#define RANK_LOW  0.35f
#define RANK_HIGH 0.92f

tvlm_colour tvlm_colours_rank(float t) {
    return tvlm_colours_inferno(RANK_LOW + (RANK_HIGH - RANK_LOW) * t);
}

static uint8_t mix_byte(uint8_t a, uint8_t b, float t) {
    return (uint8_t)((float)a + ((float)b - (float)a) * t + 0.5f);
}

tvlm_colour tvlm_colours_diverging(float t) {
    if (isnan(t)) t = 0.0f;
    const float at = (clamp(t, -1.0f, 1.0f) + 1.0f) * (0.5f * DIVERGING_STEPS);
    const int i = at < DIVERGING_STEPS - 1 ? (int)at : DIVERGING_STEPS - 1;
    const float part = at - (float)i;
    const tvlm_colour a = diverging[i], b = diverging[i + 1];
    return (tvlm_colour){mix_byte(a.r, b.r, part), mix_byte(a.g, b.g, part), mix_byte(a.b, b.b, part)};
}

tvlm_colour tvlm_colours_identifier(int32_t id) {
    /* Hues go around the circle in steps of the golden ratio. There are three brightnesses. */
    const float turn = (float)((uint32_t)id * 2654435769u) / 4294967296.0f;
    const float value = 0.95f - 0.18f * (float)((uint32_t)id % 3u);
    float parts[3];
    for (int c = 0; c < 3; ++c) {
        const float phase = fmodf(turn + (float)(3 - c) / 3.0f, 1.0f) * 6.0f;
        const float ramp = clamp(fabsf(phase - 3.0f) - 1.0f, 0.0f, 1.0f);
        parts[c] = value * (0.35f + 0.65f * ramp);
    }
    return (tvlm_colour){to_byte(parts[0]), to_byte(parts[1]), to_byte(parts[2])};
}
