/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.c: tvlm-scene OUT.png [WIDTH HEIGHT] draws the picture that ci/demo and the README use: a calm sky
 * above a meadow with a brick house, a car, a tree, a person, a ball and a sign with words. It is always the
 * same to the bit, and reads no file.
 *
 * Each sample is painted from back to front. Shapes are signed distances, negative inside, in a frame that is
 * one unit high and has x = 0 in its middle. Textures are hashed noise. On purpose the sky has little detail,
 * and the objects have much: the selection has to find this difference.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene_shapes.h"
#include "texturevlm/io.h"

#define SAMPLES 2 /* along each side of a pixel */
#define HORIZON 0.53f
#define PI      3.14159265f

/* The current sample of the canvas: its place, the width of a blurred edge, and the colour that has been
 * painted so far. */
typedef struct sample {
    point at;
    float edge;
    color c;
} sample;

static void cover(sample *s, color c, float amount) {
    s->c = blend(s->c, c, clamp01(amount));
}

/* Paints where the signed distance is negative, with an edge of about a pixel. */
static void paint(sample *s, color c, float distance) {
    cover(s, c, 0.5f - distance / s->edge);
}

/* ---- Letters, as strokes in a box 0.6 wide and 1 high ---- */

typedef struct stroke {
    char letter;
    bool arc;
    /* The line from (a, b) to (c, d), or the arc about (a, b) of radius c from angle d to angle e. */
    float a, b, c, d, e;
} stroke;

static const stroke strokes[] = {
    {'L', false, 0.0f, 0.0f, 0.0f, 1.0f, 0},      {'L', false, 0.0f, 1.0f, 0.54f, 1.0f, 0},
    {'O', false, 0.0f, 0.3f, 0.0f, 0.7f, 0},      {'O', false, 0.6f, 0.3f, 0.6f, 0.7f, 0},
    {'O', true, 0.3f, 0.3f, 0.3f, -180, 0},       {'O', true, 0.3f, 0.7f, 0.3f, 0, 180},
    {'K', false, 0.0f, 0.0f, 0.0f, 1.0f, 0},      {'K', false, 0.56f, 0.0f, 0.0f, 0.62f, 0},
    {'K', false, 0.2f, 0.4f, 0.6f, 1.0f, 0},      {'H', false, 0.0f, 0.0f, 0.0f, 1.0f, 0},
    {'H', false, 0.58f, 0.0f, 0.58f, 1.0f, 0},    {'H', false, 0.0f, 0.5f, 0.58f, 0.5f, 0},
    {'E', false, 0.0f, 0.0f, 0.0f, 1.0f, 0},      {'E', false, 0.0f, 0.0f, 0.52f, 0.0f, 0},
    {'E', false, 0.0f, 0.5f, 0.46f, 0.5f, 0},     {'E', false, 0.0f, 1.0f, 0.52f, 1.0f, 0},
    {'R', false, 0.0f, 0.0f, 0.0f, 1.0f, 0},      {'R', false, 0.0f, 0.0f, 0.3f, 0.0f, 0},
    {'R', false, 0.0f, 0.54f, 0.3f, 0.54f, 0},    {'R', true, 0.3f, 0.27f, 0.27f, -90, 90},
    {'R', false, 0.3f, 0.54f, 0.58f, 1.0f, 0},    {'M', false, 0.0f, 0.0f, 0.0f, 1.0f, 0},
    {'M', false, 0.0f, 0.0f, 0.32f, 0.6f, 0},     {'M', false, 0.64f, 0.0f, 0.32f, 0.6f, 0},
    {'M', false, 0.64f, 0.0f, 0.64f, 1.0f, 0},    {'2', true, 0.28f, 0.28f, 0.28f, -180, 37},
    {'2', false, 0.504f, 0.448f, 0.0f, 1.0f, 0},  {'2', false, 0.0f, 1.0f, 0.58f, 1.0f, 0},
    {'7', false, 0.0f, 0.0f, 0.58f, 0.0f, 0},     {'7', false, 0.58f, 0.0f, 0.2f, 1.0f, 0},
    {'3', true, 0.28f, 0.245f, 0.245f, -155, 90}, {'3', true, 0.28f, 0.735f, 0.265f, -90, 155},
};

static float letter_distance(point p, char letter) {
    float best = 9.0f;
    for (size_t i = 0; i < sizeof strokes / sizeof strokes[0]; ++i) {
        const stroke *const k = &strokes[i];
        if (k->letter != letter) continue;
        if (!k->arc) {
            best = fminf(best, segment(p, (point){k->a, k->b}, (point){k->c, k->d}));
            continue;
        }
        const float x = p.x - k->a, y = p.y - k->b, from = k->d * PI / 180.0f, to = k->e * PI / 180.0f;
        const float beyond = atan2f(y, x) - from;
        const float turn =
            beyond - 2.0f * PI * floorf(beyond / (2.0f * PI)); /* [0, 2 pi) from the arc's start */
        if (turn <= to - from) {
            best = fminf(best, fabsf(hypotf(x, y) - k->c));
        } else {
            best = fminf(best, hypotf(x - k->c * cosf(from), y - k->c * sinf(from)));
            best = fminf(best, hypotf(x - k->c * cosf(to), y - k->c * sinf(to)));
        }
    }
    return best;
}

/* Writes `text` with its upper left corner at (x, y). Letters are `height` high. The width of strokes is
 * `bold` times that height. */
static void write_text(sample *s, const char *text, float x, float y, float height, float bold, color ink) {
    for (; *text; ++text) {
        const point p = {(s->at.x - x) / height, (s->at.y - y) / height};
        if (*text != ' ' && near_box(p, -0.2f, -0.2f, 0.9f, 1.2f)) {
            paint(s, ink, (letter_distance(p, *text) - 0.5f * bold) * height);
        }
        x += height * (*text == ' ' ? 0.5f : 0.86f);
    }
}

/* ---- The parts of the scene, back to front ---- */

static void draw_sky(sample *s) {
    const float x = s->at.x, y = s->at.y, down = clamp01(y / HORIZON);
    if (y > HORIZON) return;
    const color zenith = {0.24f, 0.47f, 0.80f}, middle = {0.55f, 0.75f, 0.93f}, low = {0.95f, 0.91f, 0.83f};
    s->c = down < 0.6f ? blend(zenith, middle, down / 0.6f) : blend(middle, low, smooth(0.6f, 1.0f, down));
    const float glow = expf(-8.0f * ((x + 0.55f) * (x + 0.55f) + (y - 0.12f) * (y - 0.12f)));
    cover(s, (color){1.0f, 0.96f, 0.86f}, 0.45f * glow);
    const float cx = 1.9f * x + 0.9f * y, cy = 4.6f * y;
    const float cloud = fractal(cx + 3.2f, cy + 9.4f, 5, 11);
    const float lit = clamp01(0.5f + 4.0f * (cloud - fractal(cx + 3.12f, cy + 9.25f, 4, 11)));
    const color white = blend((color){0.80f, 0.84f, 0.90f}, (color){1.0f, 0.99f, 0.97f}, lit);
    cover(s, white, 0.92f * smooth(0.44f, 0.70f, cloud) * smooth(1.05f, 0.55f, down));
}

static void draw_hills(sample *s) {
    const float x = s->at.x, y = s->at.y;
    if (y < 0.3f || y > HORIZON + 0.03f) return;
    const float far = 0.475f - 0.16f * fractal(1.5f * x + 5.0f, 0.5f, 6, 31) + 0.03f * sinf(4.0f * x);
    const color rock = {0.56f, 0.66f, 0.78f};
    paint(s, blend(rock, (color){0.70f, 0.76f, 0.83f}, fractal(14.0f * x, 20.0f * y, 3, 32)), far - y);
    const float middle = 0.515f - 0.085f * fractal(2.6f * x + 1.7f, 1.5f, 5, 33);
    const float shade = fractal(26.0f * x, 50.0f * y, 3, 34);
    paint(s, blend((color){0.40f, 0.54f, 0.56f}, (color){0.50f, 0.62f, 0.58f}, shade), middle - y);
    const float wood =
        0.528f - 0.03f * fractal(3.0f * x + 8.0f, 2.5f, 3, 35) - 0.012f * noise(90.0f * x, 0.5f, 36);
    const float crown = fractal(110.0f * x, 120.0f * y, 2, 37);
    paint(s, blend((color){0.17f, 0.31f, 0.22f}, (color){0.34f, 0.47f, 0.27f}, crown), wood - y);
}

static void draw_meadow(sample *s) {
    const float x = s->at.x, y = s->at.y;
    if (y < HORIZON) return;
    const float depth = 0.1f / (y - HORIZON + 0.012f); /* 8 at the horizon, 0.2 at the bottom */
    const float gx = 9.0f * x * depth, gz = 9.0f * depth;
    const float patch = fractal(0.5f * gx, 0.5f * gz, 3, 41);
    color ground =
        blend((color){0.26f, 0.42f, 0.13f}, (color){0.58f, 0.60f, 0.24f}, smooth(0.25f, 0.8f, patch));
    /* Blades are noise that is much finer across the blades than along them. They lean with a slow wave, and
     * their contrast grows towards the front. */
    const float near = smooth(HORIZON, 1.0f, y);
    const float lean = 0.012f * sinf(9.0f * x + 20.0f * y);
    const float blades = 0.6f * noise((x + lean) * lerp(420, 190, near), y * lerp(160, 38, near), 42) +
                         0.4f * noise((x - lean) * lerp(700, 330, near), y * lerp(220, 60, near), 43);
    ground = scale(ground, lerp(0.92f, 0.55f, near) + lerp(0.16f, 0.9f, near) * blades);
    ground = blend(ground, (color){0.72f, 0.76f, 0.62f}, 0.55f * smooth(0.09f, 0.0f, y - HORIZON));
    s->c = ground;
    float id = 0.0f; /* flowers: a few of the points strewn over the ground */
    const float flower = cells(44.0f * x * (1.6f - near), 60.0f * y, 44, &id);
    if (id < 0.10f && y > 0.6f) {
        const color petals = id < 0.04f   ? (color){0.98f, 0.97f, 0.92f}
                             : id < 0.07f ? (color){0.97f, 0.82f, 0.20f}
                                          : (color){0.85f, 0.22f, 0.25f};
        cover(s, petals, smooth(0.26f, 0.14f, flower));
    }
}

static void draw_road(sample *s) {
    const float x = s->at.x, y = s->at.y - 0.012f * s->at.x;
    const float top = 0.700f, bottom = 0.785f;
    if (y < top - 0.02f || y > bottom + 0.03f) return;
    const float ragged = 0.006f * (noise(70.0f * x, 30.0f * y, 51) - 0.5f);
    const float d = fmaxf(top - y, y - bottom) + ragged;
    paint(s, (color){0.55f, 0.50f, 0.38f}, d - 0.010f); /* gravel */
    const float grain = 0.7f * noise(500.0f * x, 700.0f * y, 52) + 0.3f * fractal(7.0f * x, 40.0f * y, 3, 53);
    paint(s, scale((color){0.40f, 0.40f, 0.42f}, 0.78f + 0.4f * grain), d);
    const float dash = fabsf(fmodf(x + 10.0f, 0.14f) - 0.07f) - 0.042f;
    paint(s, (color){0.90f, 0.88f, 0.80f}, fmaxf(fabsf(y - 0.742f) - 0.0032f, dash));
}

/* Returns the colour of a brick wall. Each brick has a colour of its own, and there is mortar between bricks.
 * */
static color bricks(point p, float width, float height, uint32_t seed) {
    const float row = floorf(p.y / height), shift = ((int32_t)row & 1) ? 0.5f : 0.0f;
    const float column = floorf(p.x / width + shift);
    const float inx = (p.x / width + shift - column) * width, iny = p.y - row * height;
    const float gap = fminf(fminf(inx, width - inx), fminf(iny, height - iny));
    const float own = random_at((int32_t)column, (int32_t)row, seed);
    color brick = blend((color){0.52f, 0.22f, 0.15f}, (color){0.76f, 0.42f, 0.28f}, own);
    brick = scale(brick, 0.82f + 0.36f * noise(420.0f * p.x, 420.0f * p.y, seed + 1));
    return blend((color){0.74f, 0.69f, 0.62f}, brick, smooth(0.0006f, 0.0016f, gap));
}

static void draw_window(sample *s, float x0, float y0, float x1, float y1) {
    const point p = s->at;
    paint(s, (color){0.93f, 0.91f, 0.86f},
          box(p, x0 - 0.007f, y0 - 0.007f, x1 + 0.007f, y1 + 0.005f, 0.001f));
    const float across = (p.x - x0) / (x1 - x0), up = (y1 - p.y) / (y1 - y0);
    color glass =
        blend((color){0.16f, 0.22f, 0.30f}, (color){0.62f, 0.76f, 0.88f}, clamp01(0.2f + 0.8f * up));
    glass = blend(glass, (color){0.90f, 0.94f, 0.97f},
                  0.6f * smooth(0.10f, 0.0f, fabsf(across - 0.3f - 0.3f * up)));
    paint(s, glass, box(p, x0, y0, x1, y1, 0.0f));
    const float curtain = fminf(across, 1.0f - across) - 0.10f - 0.10f * up;
    if (curtain < 0.0f && near_box(p, x0, y0, x1, y1)) {
        cover(s, scale((color){0.88f, 0.80f, 0.70f}, 0.75f + 0.25f * sinf(900.0f * p.x)), 0.8f);
    }
    const float bars = fminf(fabsf(p.x - 0.5f * (x0 + x1)), fabsf(p.y - lerp(y0, y1, 0.42f)));
    paint(s, (color){0.95f, 0.93f, 0.88f}, fmaxf(bars - 0.0018f, box(p, x0, y0, x1, y1, 0.0f)));
    paint(s, (color){0.42f, 0.28f, 0.18f},
          box(p, x0 - 0.006f, y1 + 0.005f, x1 + 0.006f, y1 + 0.019f, 0.001f));
    float id = 0.0f;
    const float bloom = cells(150.0f * p.x, 150.0f * p.y, 61, &id);
    const color petals = id < 0.5f ? (color){0.90f, 0.25f, 0.35f} : (color){0.25f, 0.48f, 0.18f};
    const float row = box(p, x0 - 0.004f, y1 - 0.004f, x1 + 0.004f, y1 + 0.008f, 0.004f);
    paint(s, scale(petals, 1.1f - 0.5f * bloom), row + 0.004f * bloom);
}

static void draw_house(sample *s) {
    const point p = s->at;
    if (!near_box(p, -0.72f, 0.20f, -0.10f, 0.72f)) return;
    paint(s, scale(s->c, 0.55f),
          ellipse(p, -0.36f, 0.682f, 0.28f, 0.014f) + 0.004f); /* its shadow on the grass */
    if (p.y < 0.33f) {
        const point q = {p.x + 0.35f, p.y};
        paint(s, scale(bricks(q, 0.020f, 0.0095f, 71), 0.9f), box(p, -0.352f, 0.235f, -0.312f, 0.34f, 0.0f));
        paint(s, (color){0.50f, 0.46f, 0.43f}, box(p, -0.358f, 0.228f, -0.306f, 0.240f, 0.001f));
    }
    const float wall = box(p, -0.610f, 0.40f, -0.250f, 0.685f, 0.0f);
    const float light = 1.06f - 0.3f * smooth(-0.60f, -0.2f, p.x) - 0.45f * smooth(0.432f, 0.412f, p.y);
    paint(s, scale(bricks(p, 0.027f, 0.0118f, 72), light), wall);
    const float stone = noise(120.0f * p.x, 200.0f * p.y, 73);
    paint(s, scale((color){0.60f, 0.58f, 0.55f}, 0.8f + 0.3f * stone),
          box(p, -0.614f, 0.662f, -0.246f, 0.685f, 0.0f));
    static const point roof[] = {{-0.650f, 0.415f}, {-0.590f, 0.290f}, {-0.270f, 0.290f}, {-0.210f, 0.415f}};
    const float row = floorf(p.y / 0.0125f), tile = p.x / 0.0165f + 0.5f * (float)((int32_t)row & 1);
    const float round = tile - floorf(tile) - 0.5f, below = p.y / 0.0125f - row;
    color clay = blend((color){0.36f, 0.19f, 0.17f}, (color){0.60f, 0.34f, 0.26f},
                       random_at((int32_t)floorf(tile), (int32_t)row, 74));
    clay = scale(clay,
                 (0.65f + 0.5f * below) * (1.05f - 0.9f * round * round - 0.15f * smooth(-0.5f, -0.2f, p.x)));
    paint(s, clay, polygon(p, roof, 4));
    paint(s, (color){0.88f, 0.86f, 0.82f}, box(p, -0.652f, 0.413f, -0.208f, 0.421f, 0.001f)); /* gutter */
    paint(s, (color){0.34f, 0.20f, 0.18f}, box(p, -0.594f, 0.285f, -0.266f, 0.294f, 0.003f));
    draw_window(s, -0.578f, 0.475f, -0.515f, 0.575f);
    draw_window(s, -0.350f, 0.475f, -0.287f, 0.575f);
    paint(s, (color){0.93f, 0.91f, 0.86f}, box(p, -0.471f, 0.505f, -0.391f, 0.685f, 0.002f));
    const float panels = fminf(box(p, -0.454f, 0.530f, -0.408f, 0.585f, 0.003f),
                               box(p, -0.454f, 0.600f, -0.408f, 0.668f, 0.003f));
    const color door = {0.12f, 0.38f, 0.42f};
    paint(s, scale(door, 0.9f + 0.2f * noise(60.0f * p.x, 500.0f * p.x, 75)),
          box(p, -0.463f, 0.514f, -0.399f, 0.685f, 0.0f));
    paint(s, scale(door, 1.35f), panels);
    paint(s, scale(door, 0.75f), panels + 0.004f);
    paint(s, (color){0.92f, 0.78f, 0.35f}, circle(p, -0.405f, 0.594f, 0.0038f));
}

static void draw_tree(sample *s) {
    const point p = s->at;
    if (!near_box(p, -0.06f, 0.12f, 0.52f, 0.74f)) return;
    paint(s, scale(s->c, 0.50f),
          ellipse(p, 0.27f, 0.690f, 0.19f, 0.020f) + 0.008f * noise(60.0f * p.x, 90.0f * p.y, 81));
    static const point trunk[] = {{0.170f, 0.695f}, {0.190f, 0.660f}, {0.197f, 0.560f}, {0.150f, 0.420f},
                                  {0.172f, 0.420f}, {0.210f, 0.510f}, {0.236f, 0.420f}, {0.258f, 0.420f},
                                  {0.232f, 0.560f}, {0.238f, 0.660f}, {0.262f, 0.695f}};
    const float ridges =
        fractal(150.0f * p.x + 6.0f * noise(20.0f * p.x, 30.0f * p.y, 82), 22.0f * p.y, 3, 83);
    const float side = smooth(0.26f, 0.18f, p.x);
    paint(s, scale((color){0.42f, 0.31f, 0.22f}, (0.35f + 1.1f * ridges) * lerp(0.65f, 1.2f, side)),
          polygon(p, trunk, 11));
    static const float crown[][3] = {{0.20f, 0.46f, 0.075f}, {0.08f, 0.43f, 0.075f}, {0.32f, 0.44f, 0.080f},
                                     {0.40f, 0.37f, 0.060f}, {0.02f, 0.36f, 0.055f}, {0.12f, 0.32f, 0.085f},
                                     {0.30f, 0.33f, 0.090f}, {0.21f, 0.24f, 0.085f}, {0.13f, 0.24f, 0.055f},
                                     {0.29f, 0.24f, 0.060f}, {0.21f, 0.36f, 0.090f}};
    float id = 0.0f, small_id = 0.0f;
    const float leaf = cells(105.0f * p.x, 105.0f * p.y, 84, &id);
    const float small = cells(230.0f * p.x, 230.0f * p.y, 85, &small_id);
    const float fringe = 0.052f * fractal(24.0f * p.x, 24.0f * p.y, 3, 86) + 0.012f * leaf - 0.028f;
    for (size_t i = 0; i < sizeof crown / sizeof crown[0]; ++i) {
        const float x = (p.x - crown[i][0]) / crown[i][2], y = (p.y - crown[i][1]) / crown[i][2];
        const float d = (hypotf(x, y) - 1.0f) * crown[i][2] + fringe;
        const float whole =
            clamp01(0.55f - 1.1f * (p.x - 0.21f) - 1.5f * (p.y - 0.34f)); /* light on the crown as one ball */
        const float light =
            (0.45f * clamp01(0.52f - 0.30f * x - 0.42f * y) + 0.55f * whole) * (0.62f + 0.5f * id);
        color green = blend((color){0.07f, 0.19f, 0.06f}, (color){0.55f, 0.66f, 0.20f}, light);
        green = scale(green, (1.2f - 0.55f * leaf) * (0.85f + 0.3f * small_id) * (1.1f - 0.25f * small));
        paint(s, green, d);
    }
}

static void draw_wheel(sample *s, float x, float y) {
    const point p = s->at;
    const float away = hypotf(p.x - x, p.y - y), angle = atan2f(p.y - y, p.x - x);
    paint(s, scale((color){0.10f, 0.10f, 0.11f}, 1.0f + 0.5f * noise(30.0f * angle, 200.0f * away, 91)),
          away - 0.0285f);
    paint(s, (color){0.72f, 0.73f, 0.76f}, away - 0.0190f);
    const float spoke = cosf(5.0f * angle);
    paint(s, (color){0.20f, 0.20f, 0.22f}, fmaxf(fmaxf(away - 0.0165f, 0.006f - away), 0.004f * spoke));
    paint(s, (color){0.85f, 0.86f, 0.88f}, away - 0.0045f);
}

static void draw_car(sample *s) {
    const point p = s->at;
    if (!near_box(p, -0.40f, 0.58f, 0.04f, 0.80f)) return;
    paint(s, scale(s->c, 0.35f), ellipse(p, -0.165f, 0.764f, 0.20f, 0.012f) + 0.003f);
    static const point body[] = {{-0.348f, 0.748f}, {-0.352f, 0.706f}, {-0.342f, 0.684f}, {-0.318f, 0.672f},
                                 {-0.278f, 0.628f}, {-0.262f, 0.619f}, {-0.160f, 0.617f}, {-0.140f, 0.624f},
                                 {-0.086f, 0.670f}, {-0.010f, 0.684f}, {0.006f, 0.700f},  {0.010f, 0.735f},
                                 {0.002f, 0.748f}};
    const float shape = polygon(p, body, 13) - 0.004f;
    const float arches = fminf(circle(p, -0.272f, 0.742f, 0.0335f), circle(p, -0.062f, 0.742f, 0.0335f));
    color red = blend((color){0.86f, 0.13f, 0.10f}, (color){0.45f, 0.04f, 0.05f}, smooth(0.69f, 0.755f, p.y));
    const float shine =
        smooth(0.010f, 0.0f, fabsf(p.y - 0.684f - 0.03f * (p.x + 0.17f))); /* the sky along its flank */
    red = blend(red, (color){1.0f, 0.72f, 0.66f}, 0.55f * shine);
    red = blend(red, (color){1.0f, 0.60f, 0.52f}, 0.8f * smooth(0.630f, 0.616f, p.y));
    paint(s, (color){0.07f, 0.06f, 0.07f}, box(p, -0.33f, 0.70f, -0.01f, 0.757f, 0.01f));
    paint(s, red, fmaxf(shape, -arches));
    static const point rear[] = {
        {-0.305f, 0.672f}, {-0.270f, 0.634f}, {-0.258f, 0.629f}, {-0.214f, 0.628f}, {-0.214f, 0.672f}};
    static const point front[] = {
        {-0.204f, 0.672f}, {-0.204f, 0.628f}, {-0.164f, 0.628f}, {-0.146f, 0.634f}, {-0.104f, 0.672f}};
    const float glass = fminf(polygon(p, rear, 5), polygon(p, front, 5));
    color tint =
        blend((color){0.60f, 0.74f, 0.84f}, (color){0.13f, 0.17f, 0.22f}, smooth(0.628f, 0.672f, p.y));
    tint = blend(tint, (color){0.88f, 0.93f, 0.96f},
                 0.55f * smooth(0.014f, 0.009f, fabsf(p.x + 0.60f * p.y - 0.23f)));
    paint(s, (color){0.08f, 0.08f, 0.09f}, glass - 0.0025f);
    paint(s, tint, glass);
    const float seam = fminf(fabsf(p.x + 0.209f), fabsf(p.x + 0.098f + 0.15f * (p.y - 0.70f)));
    paint(s, (color){0.36f, 0.03f, 0.04f}, fmaxf(seam - 0.0010f, fabsf(p.y - 0.707f) - 0.032f));
    paint(s, (color){0.85f, 0.83f, 0.82f}, box(p, -0.196f, 0.690f, -0.178f, 0.6945f, 0.002f));
    paint(s, (color){1.0f, 0.95f, 0.75f}, ellipse(p, -0.002f, 0.703f, 0.010f, 0.007f));
    paint(s, (color){0.95f, 0.35f, 0.10f}, box(p, -0.354f, 0.694f, -0.344f, 0.712f, 0.003f));
    paint(s, (color){0.75f, 0.76f, 0.78f}, box(p, -0.020f, 0.735f, 0.014f, 0.744f, 0.003f));
    paint(s, (color){0.75f, 0.76f, 0.78f}, box(p, -0.358f, 0.735f, -0.318f, 0.744f, 0.003f));
    draw_wheel(s, -0.272f, 0.742f);
    draw_wheel(s, -0.062f, 0.742f);
}

static void draw_limb(sample *s, point a, point b, float radius, color c) {
    const float d = segment(s->at, a, b) - radius;
    const float weave = 0.85f + 0.25f * noise(380.0f * s->at.x, 380.0f * s->at.y, 95);
    paint(s, scale(c, weave * lerp(1.15f, 0.7f, clamp01((s->at.x - a.x) / radius * 0.5f + 0.5f))), d);
}

static void draw_person(sample *s) {
    const point place = s->at, p = {place.x + 0.075f, place.y};
    if (!near_box(p, 0.02f, 0.52f, 0.34f, 0.95f)) return;
    s->at = p;
    paint(s, scale(s->c, 0.5f), ellipse(p, 0.215f, 0.909f, 0.085f, 0.011f) + 0.003f);
    const color jeans = {0.20f, 0.27f, 0.42f}, boot = {0.25f, 0.16f, 0.11f}, skin = {0.86f, 0.64f, 0.51f};
    const color coat = {0.93f, 0.70f, 0.14f};
    draw_limb(s, (point){0.160f, 0.772f}, (point){0.153f, 0.892f}, 0.0155f, jeans);
    draw_limb(s, (point){0.185f, 0.772f}, (point){0.196f, 0.888f}, 0.0155f, jeans);
    paint(s, boot, box(p, 0.136f, 0.888f, 0.176f, 0.912f, 0.008f));
    paint(s, boot, box(p, 0.180f, 0.885f, 0.222f, 0.909f, 0.008f));
    draw_limb(s, (point){0.146f, 0.666f}, (point){0.130f, 0.762f}, 0.0125f, scale(coat, 0.85f));
    paint(s, skin, circle(p, 0.129f, 0.779f, 0.0100f));
    static const point jacket[] = {{0.147f, 0.652f}, {0.200f, 0.652f}, {0.208f, 0.690f},
                                   {0.212f, 0.790f}, {0.136f, 0.790f}, {0.140f, 0.690f}};
    const float fold = fractal(40.0f * p.x, 26.0f * p.y, 3, 96);
    paint(s, scale(coat, (0.72f + 0.5f * fold) * lerp(1.08f, 0.78f, clamp01((p.x - 0.14f) / 0.07f))),
          polygon(p, jacket, 6) - 0.004f);
    paint(s, (color){0.55f, 0.38f, 0.06f}, fmaxf(fabsf(p.x - 0.177f) - 0.0010f, fabsf(p.y - 0.72f) - 0.066f));
    for (int i = 0; i < 4; ++i)
        paint(s, (color){0.35f, 0.24f, 0.05f}, circle(p, 0.182f, 0.672f + 0.028f * (float)i, 0.0025f));
    draw_limb(s, (point){0.200f, 0.668f}, (point){0.248f, 0.625f}, 0.0120f, coat); /* pointing at the sign */
    draw_limb(s, (point){0.248f, 0.625f}, (point){0.268f, 0.598f}, 0.0105f, coat);
    paint(s, skin, circle(p, 0.273f, 0.590f, 0.0095f));
    paint(s, scale(skin, 0.85f), box(p, 0.166f, 0.630f, 0.184f, 0.656f, 0.005f));
    const float hair = 0.8f + 0.5f * noise(300.0f * p.x, 80.0f * p.y, 97);
    paint(s, scale((color){0.28f, 0.17f, 0.10f}, hair), ellipse(p, 0.172f, 0.608f, 0.027f, 0.031f));
    paint(s, skin, ellipse(p, 0.181f, 0.614f, 0.0195f, 0.0245f));
    paint(s, scale((color){0.70f, 0.16f, 0.18f}, 0.75f + 0.4f * fabsf(sinf(500.0f * p.x))),
          fmaxf(ellipse(p, 0.174f, 0.600f, 0.029f, 0.029f), p.y - 0.599f)); /* a knitted cap */
    paint(s, (color){0.90f, 0.86f, 0.80f}, circle(p, 0.172f, 0.570f, 0.0075f));
    paint(s, (color){0.15f, 0.10f, 0.08f},
          fminf(circle(p, 0.180f, 0.611f, 0.0022f), circle(p, 0.192f, 0.611f, 0.0022f)));
    paint(s, (color){0.62f, 0.28f, 0.25f},
          fmaxf(fabsf(p.y - 0.6265f) - 0.0012f, fabsf(p.x - 0.187f) - 0.006f));
    s->at = place;
}

static void draw_ball(sample *s) {
    const point p = s->at;
    const float x = -0.400f, y = 0.868f, radius = 0.062f;
    if (!near_box(p, -0.50f, 0.78f, -0.20f, 0.96f)) return;
    paint(s, scale(s->c, 0.42f), ellipse(p, -0.375f, 0.925f, 0.080f, 0.014f) + 0.004f);
    const float u = (p.x - x) / radius, v = (p.y - y) / radius, away = u * u + v * v;
    const float w = sqrtf(fmaxf(1.0f - away, 0.0f));
    const float ax = 0.85f * u + 0.45f * v - 0.28f * w; /* the sphere is turned, so that its pole shows */
    const float ay = -0.52f * u + 0.80f * v - 0.30f * w;
    const float az = 0.09f * u + 0.40f * v + 0.91f * w;
    const float around = atan2f(ax, az) / (2.0f * PI) + 0.5f;
    const int32_t stripe = (int32_t)floorf(8.0f * around);
    const color colors[4] = {
        {0.93f, 0.25f, 0.20f}, {0.97f, 0.95f, 0.90f}, {0.16f, 0.42f, 0.78f}, {0.98f, 0.80f, 0.16f}};
    color c = fabsf(ay) > 0.93f ? (color){0.97f, 0.95f, 0.90f} : colors[stripe & 3];
    const float light = clamp01(-0.50f * u - 0.62f * v + 0.60f * w);
    c = scale(c, 0.36f + 0.72f * light);
    c = blend(c, (color){1.0f, 1.0f, 1.0f}, 0.75f * smooth(0.965f, 1.0f, -0.36f * u - 0.48f * v + 0.80f * w));
    paint(s, c, (sqrtf(away) - 1.0f) * radius);
}

static void draw_sign(sample *s) {
    const point p = s->at;
    if (!near_box(p, 0.24f, 0.34f, 0.72f, 0.97f)) return;
    paint(s, scale(s->c, 0.5f), ellipse(p, 0.485f, 0.935f, 0.050f, 0.009f) + 0.003f);
    const color steel =
        blend((color){0.80f, 0.82f, 0.84f}, (color){0.36f, 0.38f, 0.41f}, smooth(0.452f, 0.468f, p.x));
    paint(s, steel, box(p, 0.450f, 0.37f, 0.470f, 0.938f, 0.003f));
    const color white = {0.97f, 0.97f, 0.95f}, blue = {0.07f, 0.27f, 0.56f};
    const float worn = 0.90f + 0.14f * fractal(12.0f * p.x, 12.0f * p.y, 4, 98);
    const float sheen = 1.0f + 0.18f * smooth(0.50f, 0.38f, p.y);
    const float panel = box(p, 0.292f, 0.385f, 0.628f, 0.565f, 0.016f);
    paint(s, (color){0.30f, 0.32f, 0.34f}, panel - 0.0035f);
    paint(s, scale(white, worn), panel);
    paint(s, scale(blue, worn * sheen), panel + 0.007f);
    const float letters = 0.053f;
    write_text(s, "LOOK", 0.373f, 0.409f, letters, 0.17f, white);
    write_text(s, "HERE", 0.375f, 0.489f, letters, 0.17f, white);
    const float lower = box(p, 0.352f, 0.585f, 0.568f, 0.650f, 0.010f);
    paint(s, (color){0.30f, 0.32f, 0.34f}, lower - 0.0030f);
    paint(s, scale((color){0.98f, 0.83f, 0.18f}, worn), lower);
    const color ink = {0.10f, 0.10f, 0.11f};
    write_text(s, "273", 0.374f, 0.600f, 0.034f, 0.17f, ink);
    const point tip = {0.548f, 0.617f};
    const float arrow =
        fminf(segment(p, (point){0.484f, 0.617f}, tip),
              fminf(segment(p, (point){0.530f, 0.603f}, tip), segment(p, (point){0.530f, 0.631f}, tip)));
    paint(s, ink, arrow - 0.0032f);
    for (int i = 0; i < 4; ++i) {
        const float x = i & 1 ? 0.616f : 0.304f, y = i & 2 ? 0.553f : 0.397f;
        paint(s, (color){0.62f, 0.64f, 0.66f}, circle(p, x, y, 0.0035f));
    }
}

/* Draws tall blades of grass in front of everything, each as a thin curved stroke. */
static void draw_front_grass(sample *s) {
    const point p = s->at;
    if (p.y < 0.88f) return;
    const float step = 0.007f;
    const int32_t column = (int32_t)floorf(p.x / step);
    for (int32_t i = column - 5; i <= column + 5; ++i) {
        const float height =
            0.03f + 0.075f * random_at(i, 0, 101) * (0.4f + 0.6f * noise(0.05f * (float)i, 0.5f, 105));
        const float up = (1.01f - p.y) / height;
        if (up < 0.0f || up > 1.0f) continue;
        const float bend = 0.05f * (random_at(i, 1, 102) - 0.5f) * up * up;
        const float middle = ((float)i + random_at(i, 2, 103)) * step + bend;
        const float shade = random_at(i, 3, 104);
        color green = blend((color){0.13f, 0.27f, 0.07f}, (color){0.50f, 0.62f, 0.20f}, shade);
        green = scale(green, 0.6f + 0.7f * up);
        paint(s, green, fabsf(p.x - middle) - 0.0030f * (1.0f - 0.9f * up));
    }
}

static color scene_at(float x, float y, float edge) {
    sample s = {.at = {x, y}, .edge = edge};
    draw_sky(&s);
    draw_hills(&s);
    draw_meadow(&s);
    draw_house(&s);
    draw_tree(&s);
    draw_road(&s);
    draw_car(&s);
    draw_ball(&s);
    draw_person(&s);
    draw_sign(&s);
    draw_front_grass(&s);
    const float vignette = 1.0f - 0.22f * smooth(0.45f, 1.0f, hypotf(x, y - 0.5f));
    return scale(s.c, vignette);
}

static uint8_t to_byte(float value) {
    return (uint8_t)(255.0f * clamp01(value) + 0.5f);
}

static void draw(int32_t width, int32_t height, uint8_t *pixels) {
    const float step = 1.0f / ((float)height * SAMPLES);
    for (int32_t j = 0; j < height; ++j) {
        for (int32_t i = 0; i < width; ++i) {
            color sum = {0.0f, 0.0f, 0.0f};
            for (int32_t k = 0; k < SAMPLES * SAMPLES; ++k) {
                const int32_t column = i * SAMPLES + k % SAMPLES, row = j * SAMPLES + k / SAMPLES;
                const float x = (float)column + 0.5f - 0.5f * (float)(width * SAMPLES);
                const float y = (float)row + 0.5f;
                const color c = scene_at(x * step, y * step, step);
                sum = (color){sum.r + c.r, sum.g + c.g, sum.b + c.b};
            }
            const color mean = scale(sum, 1.0f / (SAMPLES * SAMPLES));
            const float grain =
                0.008f * (random_at(i, j, 111) - 0.5f); /* the noise of a sensor: up to a step of 8 bits */
            uint8_t *const out = pixels + 3 * ((size_t)j * (size_t)width + (size_t)i);
            out[0] = to_byte(mean.r + grain);
            out[1] = to_byte(mean.g + grain);
            out[2] = to_byte(mean.b + grain);
        }
    }
}

/* ---- The program ---- */

static void say(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    if (level <= TVLM_LOG_WARNING) (void)fprintf(stderr, "tvlm-scene: %s\n", message);
}

static bool parse_side(const char *text, int32_t *side) {
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 1 || value > 16384) return false;
    *side = (int32_t)value;
    return true;
}

int main(int argc, char **argv) {
    int32_t width = 1024, height = 768;
    if ((argc != 2 && argc != 4) || argv[1][0] == '-' ||
        (argc == 4 && (!parse_side(argv[2], &width) || !parse_side(argv[3], &height)))) {
        (void)fputs("usage: tvlm-scene OUT.png [WIDTH HEIGHT]    sides from 1 to 16384\n", stderr);
        return 2;
    }
    uint8_t *const pixels = malloc((size_t)width * (size_t)height * 3);
    if (!pixels) {
        (void)fputs("tvlm-scene: out of memory\n", stderr);
        return 1;
    }
    draw(width, height, pixels);
    const tvlm_log log = {say, NULL};
    const tvlm_status status = tvlm_png_write(argv[1], width, height, 3, pixels, &log);
    free(pixels);
    return status == TVLM_OK ? 0 : 1;
}
