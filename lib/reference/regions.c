/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c: the table of regions and their four channels, from labels (core/constants.h defines boundaries
 * at TVLM_BOUNDARY_*).
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "reference/cluster.h"

typedef struct region_sums {
    int64_t pixels, x, y, colour[3], gradient;
    int32_t left, top, right, bottom;
    float square;
} region_sums;

/* A direction of a gradient: the step to the next pixel, and how many such steps away colours are
 * compared. */
typedef struct direction {
    int32_t x, y, far;
} direction;

static const direction directions[4] = {{1, 0, TVLM_BOUNDARY_FAR},
                                        {1, 1, TVLM_BOUNDARY_DIAGONAL},
                                        {0, 1, TVLM_BOUNDARY_FAR},
                                        {-1, 1, TVLM_BOUNDARY_DIAGONAL}};

/* The data of one image that the functions share. `gradient` is the magnitude of the gradient at each pixel
 * in steps of 1 / TVLM_BOUNDARY_STEPS, and `towards` is its direction. */
typedef struct region_picture {
    const reference_colours *colours;
    const int32_t *labels;
    int32_t width, height, count;
    bool given;
    region_sums *sums;
    tvlm_region *regions;
    int32_t *gradient;
    uint8_t *towards;
} region_picture;

static size_t pixel(const region_picture *picture, int32_t x, int32_t y) {
    return (size_t)y * (size_t)picture->width + (size_t)x;
}

/* ---- The colour gradient ---- */

/* The binomial filter (1 2 1) x (1 2 1) of one component, divided by 4 and rounded down. A colour step
 * becomes 4. */
static int32_t smooth(const reference_colours *colours, int32_t x, int32_t y, int c) {
    static const int32_t binomial[3] = {1, 2, 1};
    int32_t sum = 0;
    for (int32_t j = -1; j <= 1; ++j)
        for (int32_t i = -1; i <= 1; ++i)
            sum += binomial[i + 1] * binomial[j + 1] * reference_colour(colours, x + i, y + j)[c];
    return sum >> 2;
}

/* Sobel's derivatives of the smoothed component: 8 times its slope. */
static void slopes(const reference_colours *colours, int32_t x, int32_t y, int c, int64_t *gx, int64_t *gy) {
    static const int32_t binomial[3] = {1, 2, 1};
    *gx = *gy = 0;
    for (int32_t i = -1; i <= 1; ++i) {
        *gx +=
            (int64_t)binomial[i + 1] * (smooth(colours, x + 1, y + i, c) - smooth(colours, x - 1, y + i, c));
        *gy +=
            (int64_t)binomial[i + 1] * (smooth(colours, x + i, y + 1, c) - smooth(colours, x + i, y - 1, c));
    }
}

/* Finds the gradient of a pixel from the structure tensor of the three components. Its magnitude is the root
 * of the tensor's trace. Its direction is the one of four that is nearest to the direction of the larger
 * eigenvalue. */
static void find_gradient(region_picture *picture, int32_t x, int32_t y) {
    int64_t xx = 0, xy = 0, yy = 0;
    for (int c = 0; c < 3; ++c) {
        int64_t gx, gy;
        slopes(picture->colours, x, y, c, &gx, &gy);
        xx += gx * gx;
        xy += gx * gy;
        yy += gy * gy;
    }
    const int64_t along = xx - yy, across = 2 * xy;
    const size_t at = pixel(picture, x, y);
    picture->gradient[at] = (int32_t)floor(sqrt((double)(xx + yy)));
    picture->towards[at] = along >= llabs(across) ? 0 : -along >= llabs(across) ? 2 : across > 0 ? 1 : 3;
}

/* ---- The table ---- */

static void add_pixel(region_picture *picture, int32_t x, int32_t y) {
    region_sums *sums = &picture->sums[picture->labels[pixel(picture, x, y)]];
    const int32_t *colour = reference_colour(picture->colours, x, y);
    if (sums->pixels++ == 0) sums->left = x, sums->right = x + 1, sums->top = y;
    if (x < sums->left) sums->left = x;
    if (x >= sums->right) sums->right = x + 1;
    sums->bottom = y + 1;
    sums->x += x;
    sums->y += y;
    for (int c = 0; c < 3; ++c) sums->colour[c] += colour[c];
    sums->gradient += picture->gradient[pixel(picture, x, y)];
}

static float mean_tint(int64_t sum, int64_t pixels, float zero, float steps) {
    return ((float)(sum * TVLM_CLUSTER_TINTS / pixels) * (1.0f / TVLM_CLUSTER_TINTS) - zero) * (1.0f / steps);
}

static float mean_place(int64_t sum, int64_t pixels) {
    return (float)(sum * TVLM_CLUSTER_PLACES / pixels) * (1.0f / TVLM_CLUSTER_PLACES) + 0.5f;
}

static void finish_region(const region_sums *sums, tvlm_region *region) {
    if (sums->pixels == 0) return;
    region->x = mean_place(sums->x, sums->pixels);
    region->y = mean_place(sums->y, sums->pixels);
    region->pixels = (int32_t)sums->pixels;
    region->l = mean_tint(sums->colour[0], sums->pixels, 0.0f, TVLM_LAB_STEPS);
    region->a = mean_tint(sums->colour[1], sums->pixels, TVLM_LAB_ZERO, TVLM_LAB_STEPS);
    region->b = mean_tint(sums->colour[2], sums->pixels, TVLM_LAB_ZERO, TVLM_LAB_STEPS);
    region->left = sums->left;
    region->top = sums->top;
    region->right = sums->right;
    region->bottom = sums->bottom;
    region->texture = mean_tint(sums->gradient, sums->pixels, 0.0f, TVLM_BOUNDARY_STEPS);
}

static float square_distance(const region_picture *picture, int32_t x, int32_t y) {
    const tvlm_region *region = &picture->regions[picture->labels[pixel(picture, x, y)]];
    const float across = ((float)x + 0.5f) - region->x, down = ((float)y + 0.5f) - region->y;
    return across * across + down * down;
}

/* Marks regions p and q as neighbours of each other. */
static void connect(const tvlm_region_layout *layout, uint32_t *neighbours, int32_t p, int32_t q) {
    if (p == q) return;
    neighbours[p * layout->row + q / 32] |= UINT32_C(1) << (q % 32);
    neighbours[q * layout->row + p / 32] |= UINT32_C(1) << (p % 32);
}

/* Makes the table. In it the radius of each region is still squared. */
static void make_table(region_picture *picture, const tvlm_region_layout *layout, uint32_t *neighbours) {
    for (int32_t y = 0; y < picture->height; ++y)
        for (int32_t x = 0; x < picture->width; ++x) {
            find_gradient(picture, x, y);
            add_pixel(picture, x, y);
        }
    for (int32_t i = 0; i < picture->count; ++i) finish_region(&picture->sums[i], &picture->regions[i]);
    for (int32_t y = 0; y < picture->height; ++y)
        for (int32_t x = 0; x < picture->width; ++x) {
            const int32_t label = picture->labels[pixel(picture, x, y)];
            tvlm_region *region = &picture->regions[label];
            region->radius = fmaxf(region->radius, square_distance(picture, x, y));
            if (x + 1 < picture->width)
                connect(layout, neighbours, label, picture->labels[pixel(picture, x + 1, y)]);
            if (y + 1 < picture->height)
                connect(layout, neighbours, label, picture->labels[pixel(picture, x, y + 1)]);
        }
}

/* ---- boundary ---- */

/* The sum of one component over nine pixels around a point, TVLM_BOUNDARY_TAP apart. */
static int32_t taps(const reference_colours *colours, int32_t x, int32_t y, int c) {
    int32_t sum = 0;
    for (int32_t j = -1; j <= 1; ++j)
        for (int32_t i = -1; i <= 1; ++i)
            sum += reference_colour(colours, x + i * TVLM_BOUNDARY_TAP, y + j * TVLM_BOUNDARY_TAP)[c];
    return sum;
}

static int32_t gradient_at(const region_picture *picture, int32_t x, int32_t y) {
    x = x < 0 ? 0 : x >= picture->width ? picture->width - 1 : x;
    y = y < 0 ? 0 : y >= picture->height ? picture->height - 1 : y;
    return picture->gradient[pixel(picture, x, y)];
}

/* Whether a pixel is on a ridge of the gradient and its two sides differ: (m / (TEXTURE + e))^2 c >
 * STRENGTH^2. The squares of both sides are compared. */
static bool areas_meet(const region_picture *picture, int32_t x, int32_t y) {
    const size_t at = pixel(picture, x, y);
    const direction *to = &directions[picture->towards[at]];
    const int32_t m = picture->gradient[at];
    if (m <= gradient_at(picture, x + to->x, y + to->y) || m < gradient_at(picture, x - to->x, y - to->y))
        return false;
    int32_t apart = 0;
    for (int c = 0; c < 3; ++c) {
        const int32_t d = taps(picture->colours, x + to->x * to->far, y + to->y * to->far, c) -
                          taps(picture->colours, x - to->x * to->far, y - to->y * to->far, c);
        apart += d * d;
    }
    const float steps = 9.0f * TVLM_LAB_STEPS, strength = TVLM_BOUNDARY_STRENGTH * TVLM_BOUNDARY_STRENGTH;
    const float slope = (float)m * (1.0f / TVLM_BOUNDARY_STEPS), slope2 = slope * slope;
    const float least = TVLM_BOUNDARY_TEXTURE + picture->regions[picture->labels[at]].texture,
                least2 = least * least;
    return slope2 * slope2 * ((float)apart * (1.0f / (steps * steps))) >
           strength * strength * (least2 * least2);
}

/* Whether the label to the right or below is another one. That is the boundary where labels were handed
 * in. */
static bool labels_meet(const region_picture *picture, int32_t x, int32_t y) {
    const int32_t label = picture->labels[pixel(picture, x, y)];
    return (x + 1 < picture->width && picture->labels[pixel(picture, x + 1, y)] != label) ||
           (y + 1 < picture->height && picture->labels[pixel(picture, x, y + 1)] != label);
}

/* ---- The texels ---- */

static void write_texels(const region_picture *picture, tvlm_texture *out, int32_t image) {
    const double area = (double)picture->width * picture->height;
    for (int32_t y = 0; y < picture->height; ++y)
        for (int32_t x = 0; x < picture->width; ++x) {
            const int32_t label = picture->labels[pixel(picture, x, y)];
            const tvlm_region *region = &picture->regions[label];
            const double radius = sqrt((double)region->radius),
                         from = sqrt((double)square_distance(picture, x, y));
            const double value[4] = {label, radius > 0 ? fmin(1, from / radius) : 0, region->pixels / area,
                                     picture->given ? labels_meet(picture, x, y) : areas_meet(picture, x, y)};
            tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, value);
        }
}

bool tvlm_reference_regions(const reference_colours *colours, const int32_t *labels, int32_t count,
                            bool given, const tvlm_region_layout *layout, uint32_t *block, tvlm_texture *out,
                            int32_t image) {
    const size_t texels = (size_t)colours->width * (size_t)colours->height;
    region_picture picture = {.colours = colours,
                              .labels = labels,
                              .width = colours->width,
                              .height = colours->height,
                              .count = count,
                              .given = given};
    picture.sums = tvlm_allocate((size_t)count, sizeof *picture.sums);
    picture.regions = tvlm_allocate((size_t)count, sizeof *picture.regions);
    picture.gradient = tvlm_allocate(texels, sizeof *picture.gradient);
    picture.towards = tvlm_allocate(texels, sizeof *picture.towards);
    const bool made = picture.sums != NULL && picture.regions != NULL && picture.gradient != NULL &&
                      picture.towards != NULL;
    if (made) {
        make_table(&picture, layout, block + layout->neighbours);
        block[0] = (uint32_t)count;
        block[1] = given;
        memcpy(block + TVLM_REGION_HEADER, picture.regions, (size_t)count * sizeof *picture.regions);
        write_texels(&picture, out, image);
    }
    free(picture.sums);
    free(picture.regions);
    free(picture.gradient);
    free(picture.towards);
    return made;
}
