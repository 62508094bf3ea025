/*
 * How far a frame is from the last one, on small pictures of both.
 */
#include <math.h>

#include "core/memory.h"
#include "video/stream.h"

#define BINS 16
#define FLAT 1e-5 /* variance of luma: less is rounding */

static int32_t thumbnail_level(const tvlm_texture *source) {
    int32_t level = 0;
    while (tvlm_level_side(source->width, level) > STREAM_THUMBNAIL ||
           tvlm_level_side(source->height, level) > STREAM_THUMBNAIL)
        ++level;
    return level;
}

static size_t thumbnail_texels(const stream_camera *camera, int32_t *level) {
    const tvlm_texture *source = camera->stack->chunks[0].grids[TVLM_GRID_SOURCE];
    *level = thumbnail_level(source);
    return (size_t)tvlm_level_side(source->width, *level) * (size_t)tvlm_level_side(source->height, *level);
}

tvlm_status stream_look(stream_camera *camera) {
    tvlm_device *device = camera->stack->device;
    tvlm_texture *source = camera->stack->chunks[0].grids[TVLM_GRID_SOURCE];
    int32_t level;
    const size_t texels = thumbnail_texels(camera, &level);
    float *rgba = tvlm_allocate(texels, 4 * sizeof *rgba);
    if (rgba == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory to look for cuts");
    const tvlm_status status = device->backend->texture_read(device, source, level, 0, rgba);
    for (size_t i = 0; status == TVLM_OK && i < texels; ++i) camera->luma[0][i] = rgba[4 * i + 3];
    free(rgba);
    return status;
}

static int bin_of(float luma) {
    const int bin = (int)(luma * BINS);
    return bin < 0 ? 0 : bin < BINS ? bin : BINS - 1;
}

/* The correlation of the two pictures; 0 where one of them is flat. */
static double correlation(const float *a, const float *b, size_t texels) {
    double mean_a = 0.0, mean_b = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
    for (size_t i = 0; i < texels; ++i) {
        mean_a += (double)a[i] / (double)texels;
        mean_b += (double)b[i] / (double)texels;
    }
    for (size_t i = 0; i < texels; ++i) {
        const double x = (double)a[i] - mean_a, y = (double)b[i] - mean_b;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    const double flat = FLAT * (double)texels;
    return aa > flat && bb > flat ? ab / sqrt(aa * bb) : 0.0;
}

float stream_difference(const stream_camera *camera) {
    int32_t level, bins[BINS] = {0}, moved = 0;
    const size_t texels = thumbnail_texels(camera, &level);
    for (size_t i = 0; i < texels; ++i) {
        ++bins[bin_of(camera->luma[0][i])];
        --bins[bin_of(camera->luma[1][i])];
    }
    for (int i = 0; i < BINS; ++i) moved += bins[i] > 0 ? bins[i] : 0;
    const double apart = 1.0 - correlation(camera->luma[0], camera->luma[1], texels);
    return fminf((float)moved / (float)texels, (float)fmin(fmax(apart, 0.0), 1.0));
}
