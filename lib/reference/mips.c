/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mips.c: the levels of a texture, each made from the level before by area: mean, max, min, mode, or the mean
 * of a level that was smoothed.
 */
#include "core/try.h"
#include "reference/reference.h"
#include "reference/texture.h"

/*
 * The texels of one axis that a texel of the next level covers, with weights proportional to the area. A side
 * of 2m+1 becomes m texels, each (2m+1)/m texels wide, so that texel i begins i/m into texel 2i.
 */
typedef struct cover {
    int32_t first, count;
    int32_t weight[3];
} cover;

static cover cover_of(int32_t side, int32_t i) {
    const int32_t m = side / 2;
    if (side == 1) return (cover){0, 1, {1, 0, 0}};
    if (side % 2 == 0) return (cover){2 * i, 2, {1, 1, 0}};
    return (cover){2 * i, 3, {m - i, m, i + 1}};
}

/* The texels under a texel of the next level, at most nine, and their areas. */
typedef struct area {
    int count;
    const float *texel[9];
    int64_t weight[9];
} area;

static area gather(const tvlm_texture *texture, int32_t level, int32_t slice, const cover *x,
                   const cover *y) {
    area covered;
    covered.count = 0;
    for (int32_t j = 0; j < y->count; ++j) {
        for (int32_t i = 0; i < x->count; ++i) {
            covered.texel[covered.count] =
                tvlm_reference_fetch(texture, level, slice, x->first + i, y->first + j);
            covered.weight[covered.count] = (int64_t)x->weight[i] * y->weight[j];
            ++covered.count;
        }
    }
    return covered;
}

/* What follows is of one component. */
static double mean(const area *covered, int component) {
    double sum = 0, total = 0;
    for (int i = 0; i < covered->count; ++i) {
        sum += (double)covered->weight[i] * (double)covered->texel[i][component];
        total += (double)covered->weight[i];
    }
    return sum / total;
}

/* The largest value for sign 1, the smallest for sign -1. */
static double extreme(const area *covered, int component, float sign) {
    float best = covered->texel[0][component];
    for (int i = 1; i < covered->count; ++i) {
        const float value = covered->texel[i][component];
        if (sign * value > sign * best) best = value;
    }
    return best;
}

/* The value with the largest area. Where several have the same area, it is the lowest of them. */
static double mode(const area *covered, int component) {
    float best = covered->texel[0][component];
    int64_t best_weight = 0;
    for (int i = 0; i < covered->count; ++i) {
        const float value = covered->texel[i][component];
        int64_t weight = 0;
        for (int j = 0; j < covered->count; ++j)
            if (covered->texel[j][component] == value) weight += covered->weight[j];
        if (weight < best_weight || (weight == best_weight && value >= best)) continue;
        best = value;
        best_weight = weight;
    }
    return best;
}

/* One component of a texel smoothed by (1 2 1) / 4 along both axes; the edges of the level repeat. */
static double smoothed(const tvlm_texture *texture, int32_t level, int32_t slice, int32_t x, int32_t y,
                       int component) {
    static const double weights[3] = {0.25, 0.5, 0.25};
    double sum = 0;
    for (int32_t j = 0; j < 3; ++j)
        for (int32_t i = 0; i < 3; ++i)
            sum += weights[i] * weights[j] *
                   (double)tvlm_reference_fetch(texture, level, slice, x + i - 1, y + j - 1)[component];
    return sum;
}

/* The mean over the area of texels that are smoothed. */
static double gaussian(const tvlm_texture *texture, int32_t level, int32_t slice, const cover *x,
                       const cover *y, int component) {
    double sum = 0, total = 0;
    for (int32_t j = 0; j < y->count; ++j)
        for (int32_t i = 0; i < x->count; ++i) {
            const double weight = (double)x->weight[i] * y->weight[j];
            sum += weight * smoothed(texture, level, slice, x->first + i, y->first + j, component);
            total += weight;
        }
    return sum / total;
}

static double reduce(const area *covered, int component, int rule) {
    switch (rule) {
    case TVLM_REDUCE_MAX: return extreme(covered, component, 1);
    case TVLM_REDUCE_MIN: return extreme(covered, component, -1);
    case TVLM_REDUCE_MODE: return mode(covered, component);
    default: return mean(covered, component);
    }
}

/* Makes a level of one slice from the values that the level before stored. */
static void make_level(tvlm_texture *texture, int32_t level, int32_t slice) {
    const int32_t from_width = tvlm_level_side(texture->width, level - 1);
    const int32_t from_height = tvlm_level_side(texture->height, level - 1);
    for (int32_t y = 0; y < tvlm_level_side(texture->height, level); ++y) {
        for (int32_t x = 0; x < tvlm_level_side(texture->width, level); ++x) {
            const cover across = cover_of(from_width, x), down = cover_of(from_height, y);
            const area covered = gather(texture, level - 1, slice, &across, &down);
            double value[4];
            for (int c = 0; c < 4; ++c)
                value[c] = texture->reduce[c] == TVLM_REDUCE_GAUSSIAN
                               ? gaussian(texture, level - 1, slice, &across, &down, c)
                               : reduce(&covered, c, texture->reduce[c]);
            tvlm_reference_store(texture, level, slice, x, y, value);
        }
    }
}

tvlm_status tvlm_reference_mips(tvlm_device *device, tvlm_texture *const *textures, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        for (int32_t image = 0; textures[i]->parts != NULL && image < textures[i]->images; ++image) {
            reference_texture alone = tvlm_reference_image(textures[i], image);
            TVLM_TRY(tvlm_reference_mips(device, &(tvlm_texture *){&alone.base}, 1));
        }
        if (textures[i]->parts != NULL) continue;
        for (int32_t level = 1; level < textures[i]->levels; ++level)
            for (int32_t slice = 0; slice < reference_slices(textures[i]); ++slice)
                make_level(textures[i], level, slice);
    }
    return TVLM_OK;
}
