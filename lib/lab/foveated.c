/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions around fixations. First the parameters are checked, and e0 is raised if squares would be smaller
 * than a patch. Then an arrangement places the positions, and spreading moves them to where they stay.
 */
#include "lab/foveated.h"

#include <math.h>
#include <string.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "select/parameters.h"

#define FEWEST_PIXELS 1e-3 /* fixations that are nearer to each other count as one */
#define NARROW        3.0
#define BEGINNINGS    32
#define WORK          8192.0 /* positions * fixations * shape; up to this, all beginnings are tried */
#define RINGS_FEWEST  8      /* fewer positions make no rings */
#define TURN          0.83   /* radians: no two beginnings are alike, or a quarter turn apart */
#define GOOD          0.92   /* of the allowed fault; less than 1, as faults are counted at points only */

static tvlm_status add_fixation(const tvlm_log *log, tvlm_fovea *fovea, double x, double y) {
    if (!(x >= 0.0 && x <= fovea->width && y >= 0.0 && y <= fovea->height))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a fixation at %g,%g; the image has %gx%g pixels", x, y,
                         fovea->width, fovea->height);
    if (fovea->fixations > 0 && tvlm_fovea_eccentricity(fovea, x, y) < FEWEST_PIXELS) return TVLM_OK;
    fovea->x[fovea->fixations] = x;
    fovea->y[fovea->fixations++] = y;
    return TVLM_OK;
}

static tvlm_status check(const struct tvlm_foveated_params *params, const tvlm_log *log, tvlm_fovea *fovea) {
    if (!(fovea->width >= 1.0) || !(fovea->height >= 1.0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an image of %gx%g pixels", fovea->width, fovea->height);
    if (params->fixation_count < 0 || params->fixation_count > TVLM_FIXATIONS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d fixations; %d at most", (int)params->fixation_count,
                         TVLM_FIXATIONS_MAX);
    if (params->fixations == NULL && params->fixation_count != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d fixations, but no array of them",
                         (int)params->fixation_count);
    const bool given = params->fixations != NULL && params->fixation_count > 0;
    for (int32_t i = 0; given && i < params->fixation_count; ++i)
        TVLM_TRY(
            add_fixation(log, fovea, (double)params->fixations[2 * i], (double)params->fixations[2 * i + 1]));
    if (given) return TVLM_OK;
    return add_fixation(log, fovea, 0.5 * fovea->width, 0.5 * fovea->height);
}

/* Replaces a k of 0 by the default. */
static tvlm_status resolve_k(const tvlm_fovea *fovea, double patch, const tvlm_log *log, int32_t *k) {
    const double room = fmax(1.0, floor(fovea->width * fovea->height / (patch * patch)));
    if (*k > room)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "k is %d, but an image of %gx%g pixels has room for %.0f patches only", (int)*k,
                         fovea->width, fovea->height, room);
    if (*k == 0) *k = room < TVLM_K_DEFAULT ? (int32_t)room : TVLM_K_DEFAULT;
    return TVLM_OK;
}

enum { LATTICE = 20 };

/* Fills in the eccentricities at the points of a lattice. Means over the image are taken over these
 * points. */
static void fill_lattice(const tvlm_fovea *fovea, double lattice[LATTICE * LATTICE]) {
    for (int j = 0; j < LATTICE; ++j)
        for (int i = 0; i < LATTICE; ++i)
            lattice[j * LATTICE + i] = tvlm_fovea_eccentricity(fovea, (i + 0.5) / LATTICE * fovea->width,
                                                               (j + 0.5) / LATTICE * fovea->height);
}

/* Returns the side of a square at the fixation if k squares cover the image. This is
 * e0 sqrt(area / k * mean of 1 / (e + e0)^2). */
static double foveal_side(const tvlm_fovea *fovea, const double lattice[LATTICE * LATTICE], int32_t k) {
    double sum = 0.0;
    for (int i = 0; i < LATTICE * LATTICE; ++i) {
        const double e = lattice[i] + fovea->e0;
        sum += 1.0 / (e * e);
    }
    return fovea->e0 * sqrt(sum / (LATTICE * LATTICE) * fovea->width * fovea->height / k);
}

/* Raises e0 until the squares at the fixation are no smaller than a patch. This ends, since k patches fit
 * into the image, and squares become equal as e0 grows. */
static void raise_e0(tvlm_fovea *fovea, int32_t k, double patch) {
    const double most = 1e3 * hypot(fovea->width, fovea->height);
    double lattice[LATTICE * LATTICE];
    fill_lattice(fovea, lattice);
    while (fovea->e0 < most && foveal_side(fovea, lattice, k) < patch) fovea->e0 *= 1.1;
}

static bool spread_once(const tvlm_fovea *fovea, bool rings, int32_t k, tvlm_placed *placed) {
    double spacing;
    return (rings ? tvlm_fovea_log_polar : tvlm_fovea_sunflower)(fovea, k, placed, &spacing) &&
           tvlm_fovea_spread(fovea, spacing, k, placed);
}

/* Returns how many beginnings are tried. If each takes long these are few, so that no call takes seconds
 * without need. */
static int beginnings_of(const tvlm_fovea *fovea, int32_t k, bool narrow) {
    const double shape = fmax(fovea->width, fovea->height) / fmin(fovea->width, fovea->height);
    const double work = (double)k * fovea->fixations * (narrow ? shape : 1.0);
    return (int)fmin(fmax(BEGINNINGS * WORK / work, 1.0), BEGINNINGS);
}

/*
 * Squares may come to rest around a gap if they are few, in rings, or in a narrow image. Then the arrangement
 * is turned, all squares are placed anew, and the best result is kept. `placed` has room for 2 k. False: no
 * memory.
 */
static bool spread_well(tvlm_fovea *fovea, bool rings, int32_t k, tvlm_placed *placed) {
    const bool narrow = fmax(fovea->width, fovea->height) > NARROW * fmin(fovea->width, fovea->height);
    const int beginnings = beginnings_of(fovea, k, narrow);
    double least = INFINITY;
    if (k == 1) { /* it covers the image only from its middle */
        *placed = (tvlm_placed){0.5 * fovea->width, 0.5 * fovea->height, fmax(fovea->width, fovea->height)};
        return true;
    }
    for (int i = 0; i < beginnings; ++i) {
        tvlm_placed *const next = i == 0 ? placed : placed + k;
        fovea->turn = i * TURN;
        if (!spread_once(fovea, rings, k, next)) return false;
        if (k >= TVLM_FOVEA_FEW && !narrow && !rings) return true;
        const double fault = tvlm_fovea_fault(fovea, k, next);
        if (fault < least && i > 0) memcpy(placed, next, (size_t)k * sizeof *placed);
        least = fmin(least, fault);
        if (least < GOOD) return true;
    }
    return true;
}

static void write_positions(const tvlm_placed *placed, int32_t k, double patch, tvlm_position *positions) {
    for (int32_t i = 0; i < k; ++i) {
        const double size = fmax(placed[i].size, patch);
        positions[i] = (tvlm_position){.x = (float)placed[i].x,
                                       .y = (float)placed[i].y,
                                       .level = (float)log2(size / patch),
                                       .size = (float)size,
                                       .column = -1,
                                       .row = -1};
    }
}

tvlm_status tvlm_foveated_place(int32_t width, int32_t height, int32_t k, float patch,
                                const struct tvlm_foveated_params *params, const tvlm_log *log,
                                int32_t capacity, tvlm_position *positions, int32_t *count) {
    static const struct tvlm_foveated_params defaults = {0};
    static const tvlm_log silent = {0};
    tvlm_fovea fovea = {.width = width, .height = height};
    TVLM_NEED(log, positions);
    TVLM_NEED(log, count);
    TVLM_CHECK_RESERVED(log, tvlm_foveated_params, params);
    if (params == NULL) params = &defaults;
    if (log == NULL) log = &silent;
    TVLM_TRY(tvlm_parameters_check(log, tvlm_select_params(.k = k, .patch = patch, .foveated = *params),
                                   TVLM_STRATEGY_FOVEATED, false));
    TVLM_TRY(check(params, log, &fovea));
    if (patch == 0.0f) patch = TVLM_PATCH_DEFAULT;
    TVLM_TRY(resolve_k(&fovea, (double)patch, log, &k));
    if (capacity < k)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "room for %d positions; there are %d", (int)capacity,
                         (int)k);
    fovea.e0 = (params->e0 > 0.0f ? (double)params->e0 : (double)TVLM_E0_DEFAULT) * 0.5 *
               hypot(fovea.width, fovea.height);
    raise_e0(&fovea, k, (double)patch);
    tvlm_placed *placed = tvlm_allocate((size_t)k, 2 * sizeof *placed);
    const bool rings = params->arrangement == TVLM_ARRANGEMENT_LOG_POLAR && k >= RINGS_FEWEST;
    const bool made = placed != NULL && spread_well(&fovea, rings, k, placed);
    if (made) write_positions(placed, k, (double)patch, positions);
    free(placed);
    if (!made) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %d positions", (int)k);
    *count = k;
    return TVLM_OK;
}
