/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colour.h: CIE L*a*b* (D65) of encoded sRGB in double: IEC 61966-2-1 for the curve, CIE 15 for the space.
 * The functions are inline, so that both the reference and code that runs on the host alone can use them.
 * cl/colour.clh has the same in float.
 */
#ifndef TVLM_CORE_COLOUR_H
#define TVLM_CORE_COLOUR_H

#include <math.h>

#include "core/constants.h"

/* The linear value of an encoded component, both in [0, 1]. */
static inline double tvlm_linear(double encoded) {
    if (encoded <= (double)TVLM_SRGB_KNEE) return encoded / (double)TVLM_SRGB_SLOPE;
    return pow((encoded + (double)TVLM_SRGB_OFFSET) / (1.0 + (double)TVLM_SRGB_OFFSET),
               (double)TVLM_SRGB_GAMMA);
}

static inline double tvlm_lab_curve(double t) {
    return t > (double)TVLM_LAB_EPSILON ? cbrt(t) : (double)TVLM_LAB_SLOPE * t + (double)TVLM_LAB_OFFSET;
}

/* L* in [0, 100], a* and b* within about [-110, 110]. */
static inline void tvlm_lab(const float rgb[3], double lab[3]) {
    const double r = tvlm_linear((double)rgb[0]), g = tvlm_linear((double)rgb[1]),
                 b = tvlm_linear((double)rgb[2]);
    const double x =
        tvlm_lab_curve((double)TVLM_XYZ_XR * r + (double)TVLM_XYZ_XG * g + (double)TVLM_XYZ_XB * b);
    const double y =
        tvlm_lab_curve((double)TVLM_XYZ_YR * r + (double)TVLM_XYZ_YG * g + (double)TVLM_XYZ_YB * b);
    const double z =
        tvlm_lab_curve((double)TVLM_XYZ_ZR * r + (double)TVLM_XYZ_ZG * g + (double)TVLM_XYZ_ZB * b);
    lab[0] = 116.0 * y - 16.0;
    lab[1] = 500.0 * (x - y);
    lab[2] = 200.0 * (y - z);
}

#endif
