/* SPDX-License-Identifier: Apache-2.0 */
#include "core/formula.h"

#include <math.h>

/* x, y, eccentricity and 0. */
static double place(const tvlm_bundle *bundle, int component, double x, double y) {
    const double distance = hypot(x - (double)bundle->fixation_x, y - (double)bundle->fixation_y);
    switch (component) {
    case 0: return x / (double)bundle->width;
    case 1: return y / (double)bundle->height;
    case 2: return fmin(1, distance / (double)bundle->farthest);
    default: return 0;
    }
}

/* Cosine and sine of x, then of y, of rotary positions of frequency k. */
static double rope(const tvlm_rope *rope, int32_t k, int component, double x, double y) {
    const double frequency = pow((double)rope->theta, -2.0 * k / rope->dimension);
    const double angle = (component < 2 ? x : y) / (double)rope->patch * frequency;
    return 0.5 + 0.5 * (component % 2 == 0 ? cos(angle) : sin(angle));
}

double tvlm_formula_at(const tvlm_bundle *bundle, int32_t ref, double x, double y) {
    const int32_t layer = TVLM_REF_LAYER(ref);
    const int component = TVLM_REF_COMPONENT(ref);
    x = fmin(fmax(x, 0), (double)bundle->width);
    y = fmin(fmax(y, 0), (double)bundle->height);
    if (layer < TVLM_FORMULA_ROPE) return place(bundle, component, x, y);
    return rope(&bundle->rope, layer - TVLM_FORMULA_ROPE, component, x, y);
}
