/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_send.c: frames of which only what changed goes to the device, pushed at once or sent ahead: the
 * same, bit for bit, as frames that are taken whole; how many bytes go; whatever comes between a frame that
 * is sent and its push; and several cameras. test_stream_failure.c has what a failure leaves.
 */
#include "core/try.h"
#include "stream_helper.h"

enum { TILE = 32, TILES = (WIDTH / TILE) * (HEIGHT / TILE) };

/* ---- A backend that counts, and fails when told to ---- */

static struct {
    const tvlm_backend *real;
    size_t bytes; /* sent ahead since it was set to 0 */
    bool fail_send, fail_arrive, fail_source;
} hook;

/* Whether to fail now: once. */
static bool fails(bool *told) {
    const bool now = *told;
    *told = false;
    return now;
}

static tvlm_status hooked_send(tvlm_device *device, tvlm_buffer *buffer, size_t bytes, const void *host) {
    if (fails(&hook.fail_send)) return tvlm_fail(&device->log, TVLM_ERROR_DEVICE, "nothing can be sent");
    hook.bytes += bytes;
    return hook.real->buffer_send(device, buffer, bytes, host);
}

static tvlm_status hooked_arrive(tvlm_device *device, tvlm_buffer *buffer) {
    TVLM_TRY(hook.real->buffer_arrive(device, buffer));
    if (fails(&hook.fail_arrive)) return tvlm_fail(&device->log, TVLM_ERROR_DEVICE, "nothing arrived");
    return TVLM_OK;
}

static tvlm_status hooked_source(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                 int32_t image, tvlm_texture *out) {
    if (fails(&hook.fail_source)) return tvlm_fail(&device->log, TVLM_ERROR_DEVICE, "no source");
    return hook.real->source(device, pixels, layout, image, out);
}

/* Fails when some of it was done. */
static tvlm_status hooked_source_tiles(tvlm_device *device, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                       bool packed, const tvlm_tiles *tiles, tvlm_texture *out) {
    TVLM_TRY(hook.real->source_tiles(device, pixels, layout, packed, tiles, out));
    if (fails(&hook.fail_source)) return tvlm_fail(&device->log, TVLM_ERROR_DEVICE, "no source");
    return TVLM_OK;
}

static void hook_in(tvlm_device *device) {
    static tvlm_backend hooked;
    hook.real = device->backend;
    hook.bytes = 0;
    hooked = *device->backend;
    hooked.buffer_send = hooked_send;
    hooked.buffer_arrive = hooked_arrive;
    hooked.source = hooked_source;
    hooked.source_tiles = hooked_source_tiles;
    device->backend = &hooked;
}

static void hook_out(tvlm_device *device) {
    device->backend = hook.real;
}

/* ---- Two streams compared ---- */

/* One of each grid that follows from the source. */
static const char layout[] = "r,g,b,edges,high,low,motion,saliency,laplacian,entropy,edge_x,rgb_var,distance,"
                             "text,prev_relevance,flow_u,fixation,cluster_id";
static const char cheap[] = "r,edges,motion,distance";

static void compare_plane(const char *what, tvlm_stack *got, tvlm_stack *expected, const char *name,
                          int32_t level) {
    const int32_t channel = tvlm_channel_find(name);
    size_t count, others;
    float *a = read_level(got, 0, channel, level, &count),
          *b = read_level(expected, 0, channel, level, &others);
    assert_int_equal(count, others);
    for (size_t i = 0; i < count; ++i)
        if (!(a[i] == b[i]))
            fail_msg("%s: %s, level %d, texel %zu: %.9g, not %.9g", what, name, (int)level, i, (double)a[i],
                     (double)b[i]);
    free(a);
    free(b);
}

/* All channels of a list, at full size and above. */
static void compare_planes(const char *what, tvlm_stream *got, tvlm_stream *expected, const char *names) {
    char list[sizeof layout], *rest = list;
    assert_true(strlen(names) < sizeof list);
    strcpy(list, names);
    for (char *name; (name = strtok_r(rest, ",", &rest)) != NULL;)
        for (int32_t level = 0; level <= 2; level += 2)
            compare_plane(what, tvlm_stream_stack(got, 0), tvlm_stream_stack(expected, 0), name, level);
}

static void compare_reports(const char *what, const tvlm_stream_report *a, const tvlm_stream_report *b) {
    if (a->frame != b->frame || a->keyframe != b->keyframe || a->cut != b->cut || a->flow != b->flow ||
        a->tiles != b->tiles || a->changed != b->changed || a->difference != b->difference)
        fail_msg(
            "%s: frame %d, keyframe %d, cut %d, %d of %d tiles, difference %g; not %d, %d, %d, %d of %d, %g",
            what, (int)a->frame, a->keyframe, a->cut, (int)a->changed, (int)a->tiles, (double)a->difference,
            (int)b->frame, b->keyframe, b->cut, (int)b->changed, (int)b->tiles, (double)b->difference);
}

static void compare_selected(tvlm_stream *got, int32_t camera, tvlm_stream *expected) {
    tvlm_selection *a = NULL, *b = NULL;
    assert_int_equal(tvlm_stream_select(got, camera, NULL, tvlm_select_params(.k = 20), &a), TVLM_OK);
    assert_int_equal(tvlm_stream_select(expected, 0, NULL, tvlm_select_params(.k = 20), &b), TVLM_OK);
    same_positions(a, b);
    tvlm_selection_destroy(&a);
    tvlm_selection_destroy(&b);
}

/* ---- In parts ---- */

/* One tile of many changes: the same selections and channels as of frames that are taken whole. */
static void check_delta(tvlm_device *device, tvlm_format format) {
    tvlm_stream *parts = open_stream(device, tvlm_stream_params(.format = format, .update = {.tile = TILE})),
                *whole = open_stream(device, tvlm_stream_params(.format = format, .whole = true));
    uint8_t *here = world(13), pixels[WIDTH * HEIGHT * 3];
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    look(here, 0, 0, pixels);
    for (int32_t frame = 0; frame < 4; ++frame) {
        tvlm_stream_report report;
        for (int y = 64; frame != 2 && y < 90; ++y)
            memset(pixels + (y * WIDTH + 33 + frame) * 3, 40 * frame, 60);
        assert_int_equal(tvlm_stream_push(parts, 0, &image, NULL, &report), TVLM_OK);
        assert_int_equal(tvlm_stream_push(whole, 0, &image, NULL, NULL), TVLM_OK);
        assert_int_equal(report.tiles, frame == 0 ? 0 : TILES);
        assert_int_equal(report.changed, frame == 0 || frame == 2 ? 0 : 1);
        compare_planes("in parts", parts, whole, "edges,motion,flow_u,prev_relevance,fixation");
        /* In a frame in which nothing changes regions stay, where those of the whole one go on settling. */
        if (frame < 2) compare_planes("in parts", parts, whole, "cluster_id");
        compare_selected(parts, 0, whole);
    }
    free(here);
    tvlm_stream_destroy(&parts);
    tvlm_stream_destroy(&whole);
}

/* ---- Frames ---- */

typedef struct film {
    int32_t width, height, channels;
    size_t gap; /* bytes between rows */
} film;

static size_t row_of(const film *f) {
    return (size_t)f->width * (size_t)f->channels + f->gap;
}

static tvlm_image image_of(const film *f, const uint8_t *pixels) {
    return (tvlm_image){.pixels = pixels,
                        .width = f->width,
                        .height = f->height,
                        .channels = f->channels,
                        .type = TVLM_PIXEL_U8,
                        .row_stride = row_of(f)};
}

static uint8_t *first_of(const film *f, uint64_t seed) {
    uint8_t *pixels = calloc((size_t)f->height, row_of(f)),
            *random = test_random_pixels(&seed, f->width, f->height, f->channels);
    assert_non_null(pixels);
    const size_t row = (size_t)f->width * (size_t)f->channels;
    for (size_t y = 0; y < (size_t)f->height; ++y) memcpy(pixels + y * row_of(f), random + y * row, row);
    free(random);
    return pixels;
}

/* A block of noise, cut off where the frame ends; alpha too. */
static void put_block(const film *f, uint8_t *pixels, int32_t x, int32_t y, int32_t side, uint64_t *random) {
    for (int32_t j = y; j < y + side && j < f->height; ++j)
        for (int32_t i = x; i < x + side && i < f->width; ++i)
            for (int32_t c = 0; c < f->channels; ++c)
                pixels[(size_t)j * row_of(f) + (size_t)(i * f->channels + c)] = (uint8_t)test_random(random);
}

/* ---- A film, pushed and sent ahead ---- */

typedef enum event { OBJECT, STILL, CUT, NOISE, ASKED } event;

static void next_frame(const film *f, event what, int frame, uint8_t *pixels, uint64_t *random) {
    switch (what) {
    case OBJECT: put_block(f, pixels, 36 + frame, 68, 12, random); break; /* stays in one tile */
    case NOISE: put_block(f, pixels, 0, 0, f->width + f->height, random); break;
    case CUT: memset(pixels, 255, (size_t)f->height * row_of(f)); break;
    default: break;
    }
}

/* What was to be sent of it, and what the report says of it. */
static void check_bytes(const film *f, const struct tvlm_stream_params *params, event what,
                        const tvlm_stream_report *report) {
    const bool fits = f->width == WIDTH && f->height == HEIGHT;
    const size_t pixel = fits ? (size_t)f->channels : 3 * sizeof(float); /* resampled */
    const bool parts = !params->whole && what != CUT && what != NOISE && !report->keyframe;
    assert_int_equal(report->tiles, parts ? TILES : 0);
    if (!parts) {
        assert_int_equal(report->changed, 0);
        assert_int_equal(hook.bytes, WIDTH * HEIGHT * pixel);
    } else {
        if (fits) assert_int_equal(report->changed, what == OBJECT);
        assert_true((report->changed > 0) == (what == OBJECT) && report->changed < TILES / 2);
        assert_int_equal(hook.bytes, (size_t)report->changed * TILE * TILE * pixel);
    }
}

static void show_film(tvlm_device *device, const film *f, const struct tvlm_stream_params *params) {
    static const event script[] = {OBJECT, OBJECT, OBJECT, STILL,  OBJECT, CUT,    OBJECT, OBJECT,
                                   NOISE,  OBJECT, STILL,  OBJECT, OBJECT, OBJECT, ASKED,  OBJECT};
    tvlm_stream *ahead = open_stream(device, params), *direct = open_stream(device, params);
    uint8_t *pixels = first_of(f, 31), *copy = first_of(f, 31);
    const tvlm_image sent = image_of(f, pixels), pushed = image_of(f, copy);
    uint64_t random = 32;
    for (int frame = 0; frame < (int)(sizeof script / sizeof script[0]); ++frame) {
        const event what = script[frame];
        tvlm_stream_report a, b;
        char when[32];
        snprintf(when, sizeof when, "frame %d", frame);
        next_frame(f, what, frame, pixels, &random);
        memcpy(copy, pixels, (size_t)f->height * row_of(f));
        hook.bytes = 0;
        assert_int_equal(tvlm_stream_send(ahead, 0, &sent), TVLM_OK);
        if (frame > 0) compare_selected(ahead, 0, direct); /* of the last frame, the next one on its way */
        assert_int_equal(tvlm_stream_push(ahead, 0, NULL, tvlm_push_params(.keyframe = what == ASKED), &a),
                         TVLM_OK);
        assert_int_equal(
            tvlm_stream_push(direct, 0, &pushed, tvlm_push_params(.keyframe = what == ASKED), &b), TVLM_OK);
        assert_true(what != CUT || a.cut);
        compare_reports(when, &a, &b);
        if (what != ASKED)
            check_bytes(f, params, what, &a); /* what was asked for too late was sent in parts */
        compare_planes(when, ahead, direct, layout);
        compare_selected(ahead, 0, direct);
    }
    free(pixels);
    free(copy);
    tvlm_stream_destroy(&ahead);
    tvlm_stream_destroy(&direct);
}

static void check_film(tvlm_device *device, tvlm_format format) {
    struct tvlm_stream_params params = {
        .layout = layout, .format = format, .clusters = 12, .keyframe_interval = 4, .update = {.tile = TILE}};
    hook_in(device);
    show_film(device, &(film){WIDTH, HEIGHT, 3, 0}, &params);
    params.update.threshold = 2.0f / 255.0f;
    params.update.saliency_share = params.update.cluster_share = 0.3f;
    show_film(device, &(film){WIDTH, HEIGHT, 4, 12}, &params);
    params.update = (struct tvlm_update_params){.tile = TILE};
    show_film(device, &(film){250, 170, 3, 5}, &params);
    params.whole = true;
    show_film(device, &(film){WIDTH, HEIGHT, 1, 0}, &params);
    hook_out(device);
}

/* ---- What comes between ---- */

/* Two streams that are to be the same, and a frame that waits. */
typedef struct pair {
    tvlm_stream *ahead, *direct;
    film shape;
    uint8_t *now, *waiting;
    uint64_t random;
    bool waits;
} pair;

static pair open_pair(tvlm_device *device, tvlm_format format, uint64_t seed) {
    const struct tvlm_stream_params params = {
        .layout = cheap, .format = format, .keyframe_interval = 9, .no_flow = true, .update = {.tile = TILE}};
    const film shape = {WIDTH, HEIGHT, 3, 0};
    return (pair){open_stream(device, &params),
                  open_stream(device, &params),
                  shape,
                  first_of(&shape, seed),
                  first_of(&shape, seed),
                  seed,
                  false};
}

static void close_pair(pair *p) {
    tvlm_stream_destroy(&p->ahead);
    tvlm_stream_destroy(&p->direct);
    free(p->now);
    free(p->waiting);
}

/* Something changes; rarely all of it. */
static void change(pair *p) {
    const int32_t side = test_random(&p->random) % 10 == 0 ? WIDTH : 30;
    put_block(&p->shape, p->now, side == WIDTH ? 0 : (int32_t)(test_random(&p->random) % (WIDTH - 30)),
              side == WIDTH ? 0 : (int32_t)(test_random(&p->random) % (HEIGHT - 30)), side, &p->random);
}

/* Red is what the last frame has: nothing is left of a plan that was dropped. */
static void check_red(const char *what, tvlm_stream *stream, const film *f, const uint8_t *pixels) {
    size_t count;
    float *red = read_level(tvlm_stream_stack(stream, 0), 0, TVLM_CHANNEL_R, 0, &count);
    assert_int_equal(count, (size_t)f->width * (size_t)f->height);
    for (size_t i = 0; i < count; ++i) {
        const float expected = (float)pixels[i * (size_t)f->channels] / 255.0f;
        if (!(fabsf(red[i] - expected) < 5e-4f)) /* of what half keeps */
            fail_msg("%s: red is %g at %zu, not %g", what, (double)red[i], i, (double)expected);
    }
    free(red);
}

static tvlm_status send_now(pair *p) {
    const tvlm_image image = image_of(&p->shape, p->waiting);
    memcpy(p->waiting, p->now, (size_t)HEIGHT * row_of(&p->shape));
    const tvlm_status status = tvlm_stream_send(p->ahead, 0, &image);
    p->waits = status == TVLM_OK;
    return status;
}

/* The frame that waits, or the present one, into both. */
static tvlm_stream_report push_both(const char *what, pair *p, bool waiting, bool keyframe) {
    const tvlm_image image = image_of(&p->shape, waiting ? p->waiting : p->now);
    const struct tvlm_push_params params = {.keyframe = keyframe};
    tvlm_stream_report a, b;
    if (tvlm_stream_push(p->ahead, 0, waiting ? NULL : &image, &params, &a) != TVLM_OK)
        fail_msg("%s: %s", what, test_last_log());
    assert_int_equal(tvlm_stream_push(p->direct, 0, &image, &params, &b), TVLM_OK);
    p->waits = false; /* another frame drops it */
    compare_reports(what, &a, &b);
    compare_planes(what, p->ahead, p->direct, cheap);
    check_red(what, p->ahead, &p->shape, image.pixels);
    return a;
}

static void check_between(tvlm_device *device, tvlm_format format) {
    pair p = open_pair(device, format, 41);
    (void)push_both("first", &p, false, false);
    put_block(&p.shape, p.now, 0, 0, 10, &p.random);
    assert_int_equal(send_now(&p), TVLM_OK);
    put_block(&p.shape, p.now, 100, 100, 10, &p.random);
    assert_int_equal(send_now(&p), TVLM_OK);
    assert_int_equal(push_both("the second of two that were sent", &p, true, false).changed, 2);

    /* Another frame instead of it. */
    assert_int_equal(send_now(&p), TVLM_OK);
    put_block(&p.shape, p.now, 50, 50, 10, &p.random);
    assert_int_equal(push_both("another one", &p, false, false).changed, 1);
    refused(tvlm_stream_push(p.ahead, 0, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "none was sent");
    assert_int_equal(send_now(&p), TVLM_OK);
    assert_int_equal(push_both("after another one", &p, true, false).changed, 0);

    /* As many changes of the kept frame as before, but another one: what was planned is not taken for right.
     */
    tvlm_stack *stacks[2] = {tvlm_stream_stack(p.ahead, 0), tvlm_stream_stack(p.direct, 0)};
    assert_int_equal(send_now(&p), TVLM_OK);
    const tvlm_image image = image_of(&p.shape, p.now);
    for (int i = 0; i < 2; ++i) assert_int_equal(tvlm_stack_set_image(stacks[i], 0, &image), TVLM_OK);
    assert_int_equal(push_both("set another way", &p, true, false).tiles, 0);

    /* Other channels: whole. */
    const film gray = {WIDTH, HEIGHT, 1, 0};
    p.shape = gray;
    assert_int_equal(send_now(&p), TVLM_OK);
    assert_int_equal(push_both("gray", &p, true, false).tiles, 0);
    assert_int_equal(send_now(&p), TVLM_OK);
    assert_int_equal(push_both("gray again", &p, true, false).tiles, TILES);
    assert_int_equal(send_now(&p), TVLM_OK); /* on its way when all ends */
    close_pair(&p);
}

/* What is refused leaves the frame that waits; what fails is as if it was not sent. */
static void check_failures(tvlm_device *device, tvlm_format format) {
    pair p = open_pair(device, format, 42);
    const tvlm_image other = u8_image(p.now, WIDTH, HEIGHT - 1, 3);
    const struct tvlm_push_params nowhere = {.fixations = (float[]){1, NAN}, .fixation_count = 1};
    hook_in(device);
    (void)push_both("first", &p, false, false);
    put_block(&p.shape, p.now, 0, 0, 10, &p.random);
    assert_int_equal(send_now(&p), TVLM_OK);
    refused(tvlm_stream_send(p.ahead, 0, &other), TVLM_ERROR_ARGUMENT, "192x127");
    refused(tvlm_stream_push(p.ahead, 0, NULL, &nowhere, NULL), TVLM_ERROR_ARGUMENT, "fixation 0");
    assert_int_equal(push_both("after refusals", &p, true, false).changed, 1);

    put_block(&p.shape, p.now, 0, 0, 10, &p.random);
    hook.fail_send = true;
    refused(send_now(&p), TVLM_ERROR_DEVICE, "nothing can be sent");
    refused(tvlm_stream_push(p.ahead, 0, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "none was sent");
    assert_int_equal(push_both("what could not be sent", &p, false, false).changed, 1);
    assert_int_equal(send_now(&p), TVLM_OK);
    assert_int_equal(push_both("the same again", &p, true, false).changed, 0);

    put_block(&p.shape, p.now, 0, 0, 10, &p.random);
    assert_int_equal(send_now(&p), TVLM_OK);
    hook.fail_arrive = true;
    refused(tvlm_stream_push(p.ahead, 0, NULL, NULL, NULL), TVLM_ERROR_DEVICE, "nothing arrived");
    refused(tvlm_stream_push(p.ahead, 0, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "none was sent");
    tvlm_stream_report report;
    assert_int_equal(send_now(&p), TVLM_OK);
    assert_int_equal(tvlm_stream_push(p.ahead, 0, NULL, NULL, &report), TVLM_OK);
    assert_true(report.frame == 0 && report.keyframe);
    check_red("a first frame again", p.ahead, &p.shape, p.waiting);
    tvlm_stream *bad = NULL;
    refused(tvlm_stream_create(device, 64, 64, tvlm_stream_params(.update = {.tile = 40}), &bad),
            TVLM_ERROR_ARGUMENT, "tiles of 40");
    close_pair(&p);
    hook_out(device);
}

/* A push that fails, of both; then both begin anew. */
static void fail_both(pair *p) {
    const tvlm_image image = image_of(&p->shape, p->waiting);
    const bool waits = p->waits;
    if (!waits) memcpy(p->waiting, p->now, (size_t)HEIGHT * row_of(&p->shape));
    for (int i = 0; i < 2; ++i) {
        hook.fail_source = true;
        const tvlm_status status =
            tvlm_stream_push(i == 0 ? p->ahead : p->direct, 0, i == 0 && waits ? NULL : &image, NULL, NULL);
        /* Where nothing changes there is no source to be made. */
        assert_int_equal(status, fails(&hook.fail_source) ? TVLM_OK : TVLM_ERROR_DEVICE);
    }
    p->waits = false;
}

/* Anything in any order. */
static void check_any_order(tvlm_device *device, tvlm_format format) {
    pair p = open_pair(device, format, 43);
    const int steps = test_small() || test_quick() ? 20 : 80;
    hook_in(device);
    for (int step = 0; step < steps; ++step) {
        char name[32];
        const uint64_t what = test_random(&p.random) % 16;
        snprintf(name, sizeof name, "step %d", step);
        if (what < 6) {
            if (what > 0) change(&p);
            assert_int_equal(send_now(&p), TVLM_OK);
        } else if (what < 12) {
            if (p.waits) (void)push_both(name, &p, true, what == 11);
        } else if (what < 14) {
            change(&p);
            (void)push_both(name, &p, false, false);
        } else if (what == 14) {
            change(&p);
            hook.fail_send = true;
            assert_int_equal(send_now(&p), TVLM_ERROR_DEVICE);
        } else {
            fail_both(&p);
        }
    }
    close_pair(&p);
    hook_out(device);
}

/* ---- Several cameras ---- */

/* Two cameras in one stream, each as in a stream of its own; the one's frames are sent ahead. */
static void check_cameras(tvlm_device *device, tvlm_format format) {
    const struct tvlm_stream_params two = {.format = format, .cameras = 2}, alone = {.format = format};
    tvlm_stream *both = open_stream(device, &two),
                *single[2] = {open_stream(device, &alone), open_stream(device, &alone)};
    uint8_t *worlds[2] = {world(11), world(12)}, next[WIDTH * HEIGHT * 3], pixels[WIDTH * HEIGHT * 3];
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3), ahead = u8_image(next, WIDTH, HEIGHT, 3);
    look(worlds[0], 0, 0, next);
    assert_int_equal(tvlm_stream_send(both, 0, &ahead), TVLM_OK);
    for (int32_t frame = 0; frame < 3; ++frame) {
        for (int32_t camera = 0; camera < 2; ++camera) {
            tvlm_stream_report one, other;
            look(worlds[camera], 4 * frame, 2 * frame * camera, pixels);
            assert_int_equal(tvlm_stream_push(both, camera, camera == 0 ? NULL : &image, NULL, &one),
                             TVLM_OK);
            if (camera == 0) {
                look(worlds[0], 4 * (frame + 1), 0, next);
                assert_int_equal(tvlm_stream_send(both, 0, &ahead), TVLM_OK);
            }
            assert_int_equal(tvlm_stream_push(single[camera], 0, &image, NULL, &other), TVLM_OK);
            assert_true(one.difference == other.difference && one.flow == other.flow);
            compare_selected(both, camera, single[camera]);
        }
    }
    for (int i = 0; i < 2; ++i) {
        tvlm_stream_destroy(&single[i]);
        free(worlds[i]);
    }
    tvlm_stream_destroy(&both); /* with a frame on its way */
}

DEVICE_CHECKS_MAIN(check_delta, check_film, check_between, check_failures, check_any_order, check_cameras)
