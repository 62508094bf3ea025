/* SPDX-License-Identifier: Apache-2.0 */
/*
 * camera.c: how the whole frame moves from one slot to the next: an affine map, found on luma.
 *
 * The map is improved from coarse to fine by Gauss-Newton steps (Lucas & Kanade 1981). It begins with the shift of whole pixels
 * that fits best at a coarse size, since steps find only what is near. The steepest pixel of each block counts
 * alone, and counts the less, the worse it fits, since what moves by itself is not the camera (the weights of Geman &
 * McClure). All of it runs on the host, so that every device is told the same map.
 */
#include <math.h>

#include "clip/camera.h"
#include "core/memory.h"

/* The longest side of the finest size, and the shortest side of the coarsest one; how many numbers a map has; how many steps are
 * taken at each size. */
enum { SIDE_MOST = 1024, SIDE_LEAST = 12, NUMBERS = 6, STEPS = 15 };

/* A shift is looked for where the frame is at least so wide, by about so many points. */
enum { SEARCHED_WIDTH = 128, SEARCHED_POINTS = 500 };

/* Luma that is off by this much counts half. Less than LEAST_SPREAD is never taken for how well pixels fit. A block whose
 * steepest pixel has a smaller slope has nothing to go by. */
#define SPREAD       (8.0 / 255.0)
#define LEAST_SPREAD (2.0 / 255.0)
#define FLAT         (3.0 / 255.0)
/* A map is taken if what does not fit falls below this part, and if a corner moves by STILL pixels or more. */
#define BETTER 0.7
#define STILL  0.05
/* How near, in pixels, a map is to a shift of whole pixels that is taken for it. */
#define SNAPPED 0.1
/* How far a shift is looked for, as a part of the frame's sides. How much a frame may turn or grow. */
#define SEARCHED 0.34
#define TURNED   0.3

/* ---- Maps ---- */

const clip_map tvlm_clip_still = {{1.0, 0.0, 0.0, 0.0, 1.0, 0.0}};

clip_map tvlm_clip_map_then(const clip_map *first, const clip_map *then) {
    const double *const a = first->at, *const b = then->at;
    return (clip_map){{b[0] * a[0] + b[1] * a[3], b[0] * a[1] + b[1] * a[4], b[0] * a[2] + b[1] * a[5] + b[2],
                       b[3] * a[0] + b[4] * a[3], b[3] * a[1] + b[4] * a[4],
                       b[3] * a[2] + b[4] * a[5] + b[5]}};
}

clip_map tvlm_clip_map_part(const clip_map *map, double part) {
    clip_map made = tvlm_clip_still;
    for (int i = 0; i < NUMBERS; ++i) made.at[i] += part * (map->at[i] - made.at[i]);
    return made;
}

bool tvlm_clip_map_still(const clip_map *map) {
    for (int i = 0; i < NUMBERS; ++i)
        if (map->at[i] != tvlm_clip_still.at[i]) return false;
    return true;
}

/* The same map for pixels that are `across` x `down` times as small. */
clip_map tvlm_clip_map_scaled(const clip_map *map, double across, double down) {
    const double *const a = map->at;
    return (clip_map){{a[0], a[1] * across / down, a[2] * across, a[3] * down / across, a[4], a[5] * down}};
}

/* ---- Views ---- */

static double value_of(const void *pixel, tvlm_pixel_type type, int channel) {
    if (type == TVLM_PIXEL_U8) return ((const uint8_t *)pixel)[channel] / 255.0;
    if (type == TVLM_PIXEL_U16) return ((const uint16_t *)pixel)[channel] / 65535.0;
    const float value = ((const float *)pixel)[channel];
    return value >= 0.0f ? fmin((double)value, 1.0) : 0.0;
}

/* The luma of a pixel on white, as cl/source.cl makes it. */
static double luma_of(const tvlm_image *image, const void *pixel) {
    const bool grey = image->channels < 3;
    const double first = value_of(pixel, image->type, 0);
    double luma = first;
    if (!grey)
        luma =
            0.299 * first + 0.587 * value_of(pixel, image->type, 1) + 0.114 * value_of(pixel, image->type, 2);
    if (image->channels % 2 == 1) return luma;
    const double alpha = value_of(pixel, image->type, image->channels - 1);
    return luma * alpha + 1.0 - alpha;
}

static size_t pixel_bytes(const tvlm_image *image) {
    const size_t each = image->type == TVLM_PIXEL_U8 ? 1 : image->type == TVLM_PIXEL_U16 ? 2 : 4;
    return each * (size_t)image->channels;
}

static bool make_plane(clip_plane *plane, int32_t width, int32_t height) {
    plane->width = width;
    plane->height = height;
    plane->luma = tvlm_allocate((size_t)width * (size_t)height, sizeof *plane->luma);
    return plane->luma != NULL;
}

/* Averages blocks of `scale` x `scale` pixels. What is left over at the right and below does not count. */
static void reduce_image(const tvlm_image *image, int32_t scale, const clip_plane *to) {
    const size_t bytes = pixel_bytes(image);
    const size_t stride = image->row_stride > 0 ? image->row_stride : bytes * (size_t)image->width;
    for (int32_t y = 0; y < to->height; ++y)
        for (int32_t x = 0; x < to->width; ++x) {
            double sum = 0.0;
            for (int32_t i = 0; i < scale * scale; ++i) {
                const int32_t row = y * scale + i / scale, column = x * scale + i % scale;
                sum += luma_of(image,
                               (const char *)image->pixels + (size_t)row * stride + (size_t)column * bytes);
            }
            to->luma[y * to->width + x] = (float)(sum / (scale * scale));
        }
}

static void halve(const clip_plane *from, const clip_plane *to) {
    for (int32_t y = 0; y < to->height; ++y)
        for (int32_t x = 0; x < to->width; ++x) {
            const float *const a = from->luma + (size_t)(2 * y) * (size_t)from->width + 2 * x;
            to->luma[y * to->width + x] = 0.25f * (a[0] + a[1] + a[from->width] + a[from->width + 1]);
        }
}

bool tvlm_clip_view_make(const tvlm_image *image, clip_view *view) {
    const int32_t longer = image->width > image->height ? image->width : image->height;
    const int32_t scale = (longer + SIDE_MOST - 1) / SIDE_MOST;
    int32_t width = image->width / scale, height = image->height / scale;
    *view = (clip_view){.scale = scale};
    if (width < 1 || height < 1) return true; /* no size: nothing is found in it */
    if (!make_plane(&view->sizes[view->count++], width, height)) return false;
    reduce_image(image, scale, &view->sizes[0]);
    while (view->count < CLIP_VIEW_SIZES && width / 2 >= SIDE_LEAST && height / 2 >= SIDE_LEAST) {
        width /= 2;
        height /= 2;
        if (!make_plane(&view->sizes[view->count++], width, height)) return false;
        halve(&view->sizes[view->count - 2], &view->sizes[view->count - 1]);
    }
    return true;
}

void tvlm_clip_view_free(clip_view *view) {
    for (int32_t i = 0; i < CLIP_VIEW_SIZES; ++i) free(view->sizes[i].luma);
    *view = (clip_view){0};
}

/* ---- What a map is judged by ---- */

/* A steep pixel of the later view. */
typedef struct point {
    double x, y; /* its middle */
    double luma;
} point;

typedef struct points {
    point *all;
    int32_t count;
} points;

static double slope_at(const clip_plane *plane, int32_t x, int32_t y) {
    const float *const at = plane->luma + (size_t)y * (size_t)plane->width + x;
    return fabs((double)(at[1] - at[-1])) + fabs((double)(at[plane->width] - at[-plane->width]));
}

/* Adds the steepest pixel of a block, if it is not flat. Pixels at the border are left out. */
static void add_steepest(const clip_plane *plane, int32_t left, int32_t top, int32_t side, points *found) {
    double most = FLAT;
    point best = {0};
    for (int32_t y = top; y < top + side && y < plane->height - 1; ++y)
        for (int32_t x = left; x < left + side && x < plane->width - 1; ++x) {
            const double slope = slope_at(plane, x, y);
            if (slope <= most) continue;
            most = slope;
            best = (point){x + 0.5, y + 0.5, (double)plane->luma[y * plane->width + x]};
        }
    if (most > FLAT) found->all[found->count++] = best;
}

/* Finds some thousands of points, fewer in small views. false: no memory. */
static bool find_points(const clip_plane *plane, points *found) {
    const int32_t pixels = plane->width * plane->height, side = pixels > 40000 ? 8 : pixels > 5000 ? 4 : 2;
    const size_t blocks = (size_t)(plane->width / side + 1) * (size_t)(plane->height / side + 1);
    *found = (points){tvlm_allocate(blocks, sizeof *found->all), 0};
    if (found->all == NULL) return false;
    for (int32_t y = 1; y < plane->height - 1; y += side)
        for (int32_t x = 1; x < plane->width - 1; x += side) add_steepest(plane, x, y, side, found);
    return true;
}

/* Luma between pixels. The place must lie inside. */
static double between(const clip_plane *plane, double x, double y) {
    const double left = fmin(fmax(x - 0.5, 0.0), plane->width - 1.0);
    const double top = fmin(fmax(y - 0.5, 0.0), plane->height - 1.0);
    const int32_t x0 = (int32_t)left, y0 = (int32_t)top;
    const int32_t x1 = x0 + 1 < plane->width ? x0 + 1 : x0, y1 = y0 + 1 < plane->height ? y0 + 1 : y0;
    const float *const upper = plane->luma + (size_t)y0 * (size_t)plane->width;
    const float *const lower = plane->luma + (size_t)y1 * (size_t)plane->width;
    const double dx = left - x0, dy = top - y0;
    const double above = (double)upper[x0] + dx * ((double)upper[x1] - (double)upper[x0]);
    const double below = (double)lower[x0] + dx * ((double)lower[x1] - (double)lower[x0]);
    return above + dy * (below - above);
}

/* How far what is seen at a point is from what the earlier view has there by the map. false: that lies outside. */
static bool misfit(const clip_plane *before, const clip_map *map, const point *p, double *x, double *y,
                   double *off) {
    tvlm_clip_map_apply(map, p->x, p->y, x, y);
    if (!(*x >= 0.0 && *x <= before->width && *y >= 0.0 && *y <= before->height)) return false;
    *off = between(before, *x, *y) - p->luma;
    return true;
}

/* What does not fit, 0 to 1 of a point. What has come from outside does not fit at all. */
static double cost_of(const clip_plane *before, const points *found, const clip_map *map) {
    double sum = 0.0, x, y, off;
    for (int32_t i = 0; i < found->count; ++i)
        sum += misfit(before, map, &found->all[i], &x, &y, &off) ? off * off / (off * off + SPREAD * SPREAD)
                                                                 : 1.0;
    return sum;
}

/* ---- Steps ---- */

/* Normal equations, whose upper half is filled in. */
typedef struct equations {
    double left[NUMBERS][NUMBERS], right[NUMBERS];
    int32_t points;
} equations;

/* Half of the points fit better than this. */
static double spread_of(const clip_plane *before, const points *found, const clip_map *map) {
    enum { BINS = 256 };
    int32_t bins[BINS] = {0}, inside = 0, below = 0, bin = 0;
    double x, y, off;
    for (int32_t i = 0; i < found->count; ++i)
        if (misfit(before, map, &found->all[i], &x, &y, &off)) {
            const int32_t at = (int32_t)(fabs(off) * (double)BINS);
            ++bins[at < BINS ? at : BINS - 1];
            ++inside;
        }
    while (bin < BINS && 2 * below < inside) below += bins[bin++];
    return fmax((double)bin / (double)BINS, LEAST_SPREAD);
}

/* Adds a point. `u` and `v` are its place from the middle, in halves of the longer side, so that all six numbers have one size. */
static void add_point(equations *e, const clip_plane *before, double x, double y, double u, double v,
                      double off, double spread) {
    const double dx = 0.5 * (between(before, x + 1.0, y) - between(before, x - 1.0, y));
    const double dy = 0.5 * (between(before, x, y + 1.0) - between(before, x, y - 1.0));
    const double slopes[NUMBERS] = {dx, dx * u, dx * v, dy, dy * u, dy * v};
    const double share = spread * spread / (spread * spread + off * off), weight = share * share;
    for (int i = 0; i < NUMBERS; ++i) {
        for (int k = i; k < NUMBERS; ++k) e->left[i][k] += weight * slopes[i] * slopes[k];
        e->right[i] -= weight * slopes[i] * off;
    }
    ++e->points;
}

/* Solves the equations by Cholesky's method, in place. false: they say too little. */
static bool solve(equations *e) {
    double trace = 0.0;
    for (int i = 0; i < NUMBERS; ++i) trace += e->left[i][i];
    for (int i = 0; i < NUMBERS; ++i) e->left[i][i] += 1e-5 * trace;
    for (int i = 0; i < NUMBERS; ++i) {
        if (!(e->left[i][i] > 1e-12)) return false;
        const double root = sqrt(e->left[i][i]);
        for (int k = i; k < NUMBERS; ++k) e->left[i][k] /= root;
        e->right[i] /= root;
        for (int j = i + 1; j < NUMBERS; ++j) {
            for (int k = j; k < NUMBERS; ++k) e->left[j][k] -= e->left[i][j] * e->left[i][k];
            e->right[j] -= e->left[i][j] * e->right[i];
        }
    }
    for (int i = NUMBERS - 1; i >= 0; --i) {
        for (int k = i + 1; k < NUMBERS; ++k) e->right[i] -= e->left[i][k] * e->right[k];
        e->right[i] /= e->left[i][i];
    }
    return true;
}

/* Improves a map by one step, and says by how many pixels a corner moves; -1: no step is left. */
static double step(const clip_plane *before, const points *found, clip_map *map) {
    const double middle_x = 0.5 * before->width, middle_y = 0.5 * before->height;
    const double half = fmax(middle_x, middle_y), spread = spread_of(before, found, map);
    equations e = {.points = 0};
    for (int32_t i = 0; i < found->count; ++i) {
        const point *const p = &found->all[i];
        double x, y, off;
        if (misfit(before, map, p, &x, &y, &off))
            add_point(&e, before, x, y, (p->x - middle_x) / half, (p->y - middle_y) / half, off, spread);
    }
    if (e.points < 2 * NUMBERS || 3 * e.points < found->count || !solve(&e)) return -1.0;
    const double *const by = e.right;
    map->at[0] += by[1] / half;
    map->at[1] += by[2] / half;
    map->at[2] += by[0] - (by[1] * middle_x + by[2] * middle_y) / half;
    map->at[3] += by[4] / half;
    map->at[4] += by[5] / half;
    map->at[5] += by[3] - (by[4] * middle_x + by[5] * middle_y) / half;
    return fmax(fabs(by[0]) + fabs(by[1]) + fabs(by[2]), fabs(by[3]) + fabs(by[4]) + fabs(by[5]));
}

/* Moves a map by at most a pixel along each side, to where it fits best. Steps alone miss thin strokes. */
static clip_map nudge(const clip_plane *before, const points *found, const clip_map *map) {
    clip_map best = *map;
    double least = cost_of(before, found, map);
    for (int i = 0; i < 9; ++i) {
        clip_map moved = *map;
        moved.at[2] += i % 3 - 1;
        moved.at[5] += i / 3 - 1;
        const double cost = cost_of(before, found, &moved);
        if (!(cost < least)) continue;
        least = cost;
        best = moved;
    }
    return best;
}

/* Improves a map at one size, unless that makes it worse. */
static void refine(const clip_plane *before, const points *found, clip_map *map) {
    *map = nudge(before, found, map);
    clip_map better = *map;
    for (int i = 0; i < STEPS; ++i) {
        const double moved = step(before, found, &better);
        if (moved < 0.01) break;
    }
    if (cost_of(before, found, &better) < cost_of(before, found, map)) *map = better;
}

/* What does not fit by a shift of whole pixels, of at most SEARCHED_POINTS points. */
static double cost_of_shift(const clip_plane *before, const points *found, int32_t across, int32_t down) {
    const int32_t every = found->count / SEARCHED_POINTS + 1;
    double sum = 0.0;
    for (int32_t i = 0; i < found->count; i += every) {
        const point *const p = &found->all[i];
        const int32_t x = (int32_t)p->x + across, y = (int32_t)p->y + down;
        const bool inside = x >= 0 && x < before->width && y >= 0 && y < before->height;
        const double off = inside ? (double)before->luma[y * before->width + x] - p->luma : 1e3;
        sum += off * off / (off * off + SPREAD * SPREAD);
    }
    return sum;
}

/* The shift of whole pixels that fits best. */
static clip_map search(const clip_plane *before, const points *found) {
    const int32_t across = (int32_t)(SEARCHED * before->width), down = (int32_t)(SEARCHED * before->height);
    clip_map best = tvlm_clip_still;
    double least = cost_of_shift(before, found, 0, 0);
    for (int32_t y = -down; y <= down; ++y)
        for (int32_t x = -across; x <= across; ++x) {
            const double cost = cost_of_shift(before, found, x, y);
            if (!(cost < least)) continue;
            least = cost;
            best = (clip_map){{1.0, 0.0, x, 0.0, 1.0, y}};
        }
    return best;
}

/* ---- The motion ---- */

/* The longest way, along a side, between where two maps put a corner. */
static double furthest(const clip_plane *plane, const clip_map *a, const clip_map *b) {
    double most = 0.0, ax, ay, bx, by;
    for (int i = 0; i < 4; ++i) {
        const double x = i % 2 == 0 ? 0.0 : plane->width, y = i < 2 ? 0.0 : plane->height;
        tvlm_clip_map_apply(a, x, y, &ax, &ay);
        tvlm_clip_map_apply(b, x, y, &bx, &by);
        most = fmax(most, fmax(fabs(ax - bx), fabs(ay - by)));
    }
    return most;
}

/* Whether a map is one that a camera makes between two slots. */
static bool is_plausible(const clip_plane *plane, const clip_map *map) {
    const double *const a = map->at;
    return fabs(a[0] - 1.0) < TURNED && fabs(a[1]) < TURNED && fabs(a[3]) < TURNED &&
           fabs(a[4] - 1.0) < TURNED && furthest(plane, map, &tvlm_clip_still) >= STILL;
}

/* Goes from size `first` to size `last`, which is finer or the same. The points are those of each size. */
static void refine_down(const clip_view *before, const points *found, int32_t first, int32_t last,
                        clip_map *map) {
    for (int32_t i = first; i >= last; --i) {
        if (i < first) *map = tvlm_clip_map_scaled(map, 2.0, 2.0);
        refine(&before->sizes[i], &found[i], map);
    }
}

/* The map of the finest size. */
static clip_map find(const clip_view *before, const points *found) {
    int32_t middle = 0;
    while (middle + 1 < before->count && before->sizes[middle + 1].width >= SEARCHED_WIDTH) ++middle;
    const clip_plane *const searched = &before->sizes[middle];
    clip_map map = tvlm_clip_still, shift = search(searched, &found[middle]);
    refine_down(before, found, before->count - 1, middle, &map);
    refine(searched, &found[middle], &shift);
    if (cost_of(searched, &found[middle], &shift) < cost_of(searched, &found[middle], &map)) map = shift;
    if (middle == 0) return map;
    map = tvlm_clip_map_scaled(&map, 2.0, 2.0);
    refine_down(before, found, middle - 1, 0, &map);
    return map;
}

/* Takes a shift of whole pixels in place of a map that is nearly one, since that keeps strokes sharp. */
static clip_map snapped(const clip_plane *plane, const clip_map *map) {
    const clip_map whole = {{1.0, 0.0, floor(map->at[2] + 0.5), 0.0, 1.0, floor(map->at[5] + 0.5)}};
    return furthest(plane, map, &whole) < SNAPPED ? whole : *map;
}

bool tvlm_clip_view_motion(const clip_view *before, const clip_view *now, clip_map *map) {
    points found[CLIP_VIEW_SIZES] = {{0}};
    bool made = true;
    *map = tvlm_clip_still;
    if (now->count == 0 || before->count != now->count) return true;
    for (int32_t i = 0; made && i < now->count; ++i) made = find_points(&now->sizes[i], &found[i]);
    if (made) {
        const clip_plane *const finest = &before->sizes[0];
        const clip_map rough = find(before, found), best = snapped(finest, &rough);
        if (is_plausible(finest, &best) &&
            cost_of(finest, &found[0], &best) < BETTER * cost_of(finest, &found[0], &tvlm_clip_still))
            *map = tvlm_clip_map_scaled(&best, now->scale, now->scale);
    }
    for (int32_t i = 0; i < now->count; ++i) free(found[i].all);
    return made;
}
