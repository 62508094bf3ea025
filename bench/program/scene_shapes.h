/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene_shapes.h: the means by which scene.c draws: colours, hashed noise, and signed distances of shapes. A
 * distance is negative inside a shape.
 */
#ifndef TVLM_TOOLS_SCENE_SHAPES_H
#define TVLM_TOOLS_SCENE_SHAPES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct point {
    float x, y;
} point;

typedef struct color {
    float r, g, b;
} color;

/* ---- Small maths ---- */

static inline float clamp01(float x) {
    return fminf(fmaxf(x, 0.0f), 1.0f);
}

static inline float smooth(float from, float to, float x) {
    const float t = clamp01((x - from) / (to - from));
    return t * t * (3.0f - 2.0f * t);
}

static inline float lerp(float a, float b, float t) {
    return a + (b - a) * t;
}

static inline color blend(color a, color b, float t) {
    return (color){lerp(a.r, b.r, t), lerp(a.g, b.g, t), lerp(a.b, b.b, t)};
}

static inline color scale(color c, float k) {
    return (color){c.r * k, c.g * k, c.b * k};
}

/* ---- Noise ---- */

static inline uint32_t hash(int32_t x, int32_t y, uint32_t seed) {
    uint32_t h = (uint32_t)x * 0x9E3779B1u ^ (uint32_t)y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h = (h ^ (h >> 12)) * 0x297A2D39u;
    return h ^ (h >> 15);
}

/* Returns the random number of a place, in [0, 1). */
static inline float random_at(int32_t x, int32_t y, uint32_t seed) {
    return (float)(hash(x, y, seed) >> 8) / 16777216.0f;
}

/* Returns value noise in [0, 1] with features of size 1. */
static inline float noise(float x, float y, uint32_t seed) {
    const float fx = floorf(x), fy = floorf(y);
    const int32_t ix = (int32_t)fx, iy = (int32_t)fy;
    const float tx = smooth(0.0f, 1.0f, x - fx), ty = smooth(0.0f, 1.0f, y - fy);
    const float top = lerp(random_at(ix, iy, seed), random_at(ix + 1, iy, seed), tx);
    const float bottom = lerp(random_at(ix, iy + 1, seed), random_at(ix + 1, iy + 1, seed), tx);
    return lerp(top, bottom, ty);
}

/* Returns the sum of several octaves of noise(), in [0, 1]. It is 0.5 on average. */
static inline float fractal(float x, float y, int octaves, uint32_t seed) {
    float sum = 0.0f, weight = 0.5f, total = 0.0f;
    for (int i = 0; i < octaves; ++i) {
        sum += weight * noise(x, y, seed + (uint32_t)i);
        total += weight;
        weight *= 0.5f;
        const float turned = 1.6f * x + 1.2f * y; /* each octave is turned and doubled: no grid shows */
        y = 1.6f * y - 1.2f * x;
        x = turned;
    }
    return sum / total;
}

/* Returns the distance to the nearest of points that are strewn at random, one in each unit cell. *id is the
 * random number of that point. */
static inline float cells(float x, float y, uint32_t seed, float *id) {
    const int32_t ix = (int32_t)floorf(x), iy = (int32_t)floorf(y);
    float best = 9.0f;
    for (int32_t j = iy - 1; j <= iy + 1; ++j) {
        for (int32_t i = ix - 1; i <= ix + 1; ++i) {
            const float dx = (float)i + random_at(i, j, seed) - x,
                        dy = (float)j + random_at(i, j, seed + 1) - y;
            const float d = dx * dx + dy * dy;
            if (d < best) {
                best = d;
                *id = random_at(i, j, seed + 2);
            }
        }
    }
    return sqrtf(best);
}

/* ---- Shapes: signed distances ---- */

static inline float circle(point p, float x, float y, float radius) {
    return hypotf(p.x - x, p.y - y) - radius;
}

/* The distance is right only near the edge, but `paint` needs no more than that. */
static inline float ellipse(point p, float x, float y, float rx, float ry) {
    return (hypotf((p.x - x) / rx, (p.y - y) / ry) - 1.0f) * fminf(rx, ry);
}

/* A box with corners at (x0, y0) and (x1, y1), rounded by `round`. */
static inline float box(point p, float x0, float y0, float x1, float y1, float round) {
    const float dx = fabsf(p.x - 0.5f * (x0 + x1)) - 0.5f * (x1 - x0) + round;
    const float dy = fabsf(p.y - 0.5f * (y0 + y1)) - 0.5f * (y1 - y0) + round;
    return hypotf(fmaxf(dx, 0.0f), fmaxf(dy, 0.0f)) + fminf(fmaxf(dx, dy), 0.0f) - round;
}

/* The distance from the middle of a line from a to b. The caller subtracts the thickness of the line. */
static inline float segment(point p, point a, point b) {
    const float dx = b.x - a.x, dy = b.y - a.y;
    const float t = clamp01(((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy + 1e-12f));
    return hypotf(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

static inline float polygon(point p, const point *corners, int count) {
    float best = 9.0f;
    bool inside = false;
    for (int i = 0, j = count - 1; i < count; j = i++) {
        const point a = corners[i], b = corners[j];
        best = fminf(best, segment(p, a, b));
        if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x)
            inside = !inside;
    }
    return inside ? -best : best;
}

static inline bool near_box(point p, float x0, float y0, float x1, float y1) {
    return p.x > x0 && p.x < x1 && p.y > y0 && p.y < y1;
}

#endif
