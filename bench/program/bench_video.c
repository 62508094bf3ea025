/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm bench --video: measures how long a frame takes, stage by stage and as a whole. The frames are
 * generated ones, of which 1 %, 10 % or all changes, and real ones. They are measured with delta updates,
 * without them, through a stream, and for their flow alone.
 */
#include "bench_video.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "core/times.h"
#include "core/try.h"
#include "json.h"
#include "platform/folder.h"
#include "progress.h"
#include "texturevlm/io.h"
#include "texturevlm/stack.h"
#include "texturevlm/stream.h"

#define TILE       TVLM_TILE_DEFAULT
#define LAYOUT     "temporal34"
#define MADE       6 /* how many frames are generated; they are shown again and again */
#define FRAMES_MAX 40
#define WARM       2 /* how many frames do not count: they build kernels and take memory */

/*
 * How frames are taken in:
 *   FULL      as a whole
 *   DELTA     by the tiles that changed
 *   CARRIED   as DELTA; saliency and regions are kept until as much as the whole image has changed since
 *   STREAM    through a stream
 *   SENT      through a stream; the next frame is sent while the present one is worked on
 *   FLOW      no frame is taken in; the flow between two frames is measured
 */
enum { FULL, DELTA, CARRIED, STREAM, SENT, FLOW, MODES };

struct scene {
    char name[64];
    tvlm_image images[FRAMES_MAX];
    uint8_t *pixels[FRAMES_MAX];    /* the pixels of images that are generated here */
    tvlm_image *loaded[FRAMES_MAX]; /* the images that were read from files */
    int32_t count;
};

/* Times in seconds, medians over the frames but for two. Below 0: there is no such time. Where something is
 * carried over, most frames take little, and the few that make it anew show in the mean and the largest only. */
struct times {
    double update, families, select, frame;
    double mean, largest; /* of 'frame' */
    double changed;       /* the share of tiles that changed: the mean over the frames that were compared */
};

static const struct times no_times = {-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0};

/* ---- Scenes ---- */

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed) {
    uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca6bu ^ seed * 0xc2b2ae35u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    return h ^ h >> 13;
}

/* Fills a tile with blocks of 16 pixels in flat colours. Every third block has noise in it; `seed` decides
 * which ones. */
static void fill_tile(const tvlm_image *image, uint8_t *rgb, int32_t left, int32_t top, uint32_t seed) {
    for (int32_t y = top; y < top + TILE && y < image->height; ++y) {
        for (int32_t x = left; x < left + TILE && x < image->width; ++x) {
            const uint32_t block = hash((uint32_t)x >> 4, (uint32_t)y >> 4, seed);
            const uint32_t noise = block % 3 == 0 ? hash((uint32_t)x, (uint32_t)y, seed) : 0;
            for (int c = 0; c < 3; ++c)
                rgb[3 * ((size_t)y * (size_t)image->width + (size_t)x) + (size_t)c] =
                    (uint8_t)((block >> (8 * c) & 127) + (noise >> (8 * c) & 127));
        }
    }
}

/* Makes frames of a still picture in which only one rectangle of tiles changes from frame to frame. */
static int make_scene(struct tool *tool, int32_t width, int32_t height, double share, struct scene *scene) {
    const int32_t columns = (width + TILE - 1) / TILE, rows = (height + TILE - 1) / TILE;
    const int32_t wanted = (int32_t)(share * columns * rows + 0.5), changing = wanted > 0 ? wanted : 1;
    int32_t across = 1;
    while (across * across < changing && across < columns) ++across;
    while (across < columns && (changing + across - 1) / across > rows) ++across;
    snprintf(scene->name, sizeof scene->name, "%dx%d, %g %%", (int)width, (int)height, 100.0 * share);
    for (; scene->count < MADE; ++scene->count) {
        const int32_t n = scene->count;
        scene->pixels[n] = malloc(3 * (size_t)width * (size_t)height);
        if (scene->pixels[n] == NULL) return tool_fail(tool, "no memory for frames");
        scene->images[n] = (tvlm_image){.pixels = scene->pixels[n],
                                        .width = width,
                                        .height = height,
                                        .channels = 3,
                                        .type = TVLM_PIXEL_U8};
        for (int32_t i = 0; i < columns * rows; ++i) {
            const int32_t x = i % columns, y = i / columns;
            const bool changes = x < across && y * across + x < changing;
            fill_tile(&scene->images[n], scene->pixels[n], x * TILE, y * TILE, changes ? (uint32_t)n + 1 : 0);
        }
    }
    return TOOL_DONE;
}

static bool is_frame(const char *name) {
    const char *const dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".jpg") == 0 || strcmp(dot, ".png") == 0 || strcmp(dot, ".ppm") == 0);
}

static int read_scene(struct tool *tool, const char *folder, struct scene *scene) {
    char **names = NULL;
    size_t count = 0;
    int code = TOOL_DONE;
    (void)tvlm_folder_list(folder, &names, &count); /* a folder that cannot be read has no frames */
    snprintf(scene->name, sizeof scene->name, "%.40s", folder);
    for (size_t i = 0; i < count && code == TOOL_DONE && scene->count < FRAMES_MAX; ++i) {
        char path[4096];
        const int32_t n = scene->count;
        if (!is_frame(names[i])) continue;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        code = tool_status(tool, tvlm_image_load(path, &tool->log, &scene->loaded[n]));
        if (code != TOOL_DONE) break;
        scene->images[n] = *scene->loaded[n];
        ++scene->count;
        if (scene->images[n].width != scene->images[0].width ||
            scene->images[n].height != scene->images[0].height)
            code = tool_fail(tool, "%s: has another size than the frames before it", path);
    }
    tvlm_folder_release(names, count);
    if (code == TOOL_DONE && scene->count <= WARM)
        code =
            tool_fail(tool, "%s: there are fewer than %d frames (.jpg, .png, .ppm) in it", folder, WARM + 1);
    return code;
}

static void release_scene(struct scene *scene) {
    for (int32_t i = 0; i < FRAMES_MAX; ++i) {
        free(scene->pixels[i]);
        tvlm_image_destroy(&scene->loaded[i]);
    }
}

/* ---- A frame ---- */

static tvlm_status finish(tvlm_device *device) {
    return device->backend->finish(device);
}

/* Takes a frame into a stack. With `waits` it waits after each stage, and writes the times of the stages to
 * stages[3]. */
static tvlm_status frame_of_stack(tvlm_stack *stack, tvlm_device *device, const tvlm_image *image, int mode,
                                  bool waits, double stages[3], tvlm_delta_report *report) {
    tvlm_selection *selection = NULL;
    const float share = mode == CARRIED ? 1.0f : 0.0f;
    double start = tvlm_now();
    TVLM_TRY(tvlm_stack_advance(stack, 0, NULL));
    TVLM_TRY(tvlm_stack_update_image(
        stack, 0, image,
        tvlm_update_params(.full = mode == FULL, .saliency_share = share, .cluster_share = share), report));
    if (waits) TVLM_TRY(finish(device));
    stages[0] = tvlm_now() - start;
    start = tvlm_now();
    TVLM_TRY(tvlm_stack_make_all(stack));
    if (waits) TVLM_TRY(finish(device));
    stages[1] = tvlm_now() - start;
    start = tvlm_now();
    const tvlm_status status =
        tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID), &selection);
    tvlm_selection_destroy(&selection);
    TVLM_TRY(status);
    TVLM_TRY(finish(device));
    stages[2] = tvlm_now() - start;
    return TVLM_OK;
}

/* Adds up the shares of tiles that changed. */
struct shares {
    double sum;
    int32_t count;
};

static void add_share(struct shares *shares, int32_t changed, int32_t tiles) {
    if (tiles == 0) return;
    shares->sum += (double)changed / tiles;
    ++shares->count;
}

static double mean_share(const struct shares *shares) {
    return shares->count > 0 ? shares->sum / shares->count : -1.0;
}

static void set_frame(struct times *times, double *frames, int32_t count) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; ++i) sum += frames[i];
    times->frame = tvlm_median(frames, count); /* which puts them in order */
    times->mean = sum / count;
    times->largest = frames[count - 1];
}

/* Measures some frames stage by stage, and then others with a single wait at the end of each. */
static tvlm_status measure_stack(tvlm_device *device, const struct scene *scene, tvlm_format format, int mode,
                                 int32_t repeat, double *values, struct times *times) {
    tvlm_stack *stack = NULL;
    tvlm_delta_report report = {0};
    struct shares shares = {0};
    double stages[3], *const frames = values + 3 * repeat;
    const struct tvlm_stack_params params = {.layout = LAYOUT,
                                             .width = scene->images[0].width,
                                             .height = scene->images[0].height,
                                             .format = format};
    tvlm_status status = tvlm_stack_create(device, &params, &stack);
    if (status == TVLM_OK) status = tvlm_stack_set_image(stack, 0, &scene->images[0]);
    for (int32_t i = 0; status == TVLM_OK && i < 2 * (WARM + repeat); ++i) {
        const int32_t n = i % (WARM + repeat) - WARM; /* a frame below 0 does not count */
        const bool waits = i < WARM + repeat;
        const double start = tvlm_now();
        status = frame_of_stack(stack, device, &scene->images[(i + 1) % scene->count], mode, waits, stages,
                                &report);
        if (n < 0) continue;
        if (!waits) frames[n] = tvlm_now() - start;
        for (int s = 0; waits && s < 3; ++s) values[s * repeat + n] = stages[s];
        if (waits && mode != FULL) add_share(&shares, report.changed, report.tiles);
    }
    if (status == TVLM_OK) {
        times->update = tvlm_median(values, repeat);
        times->families = tvlm_median(values + repeat, repeat);
        times->select = tvlm_median(values + 2 * repeat, repeat);
        times->changed = mean_share(&shares);
        set_frame(times, frames, repeat);
    }
    tvlm_stack_destroy(&stack);
    return status;
}

/* Takes a frame into a stream. stages[0] is the time of the push, with the flow, and stages[1] that of the
 * selection. If `next` is NULL, `image` is pushed. Otherwise `image` was sent before, and `next` is sent. */
static tvlm_status frame_of_stream(tvlm_stream *stream, tvlm_device *device, const tvlm_image *image,
                                   const tvlm_image *next, bool waits, double stages[2],
                                   tvlm_stream_report *report) {
    tvlm_selection *selection = NULL;
    double start = tvlm_now();
    TVLM_TRY(tvlm_stream_push(stream, 0, next != NULL ? NULL : image, NULL, report));
    if (next != NULL) TVLM_TRY(tvlm_stream_send(stream, 0, next));
    if (waits) TVLM_TRY(finish(device));
    stages[0] = tvlm_now() - start;
    start = tvlm_now();
    const tvlm_status status = tvlm_stream_select(stream, 0, NULL, NULL, &selection);
    tvlm_selection_destroy(&selection);
    TVLM_TRY(status);
    if (next == NULL) TVLM_TRY(finish(device)); /* a frame that was sent need not have arrived yet */
    stages[1] = tvlm_now() - start;
    return TVLM_OK;
}

/* Measures frames as measure_stack does. If frames are sent, their stages overlap, and so have no times of
 * their own. */
static tvlm_status measure_stream(tvlm_device *device, const struct scene *scene, tvlm_format format,
                                  bool sent, int32_t repeat, double *values, struct times *times) {
    tvlm_stream *stream = NULL;
    tvlm_stream_report report = {0};
    struct shares shares = {0};
    const struct tvlm_stream_params params = {.format = format};
    double stages[2], *const frames = values + 2 * repeat;
    tvlm_status status =
        tvlm_stream_create(device, scene->images[0].width, scene->images[0].height, &params, &stream);
    if (status == TVLM_OK && sent) status = tvlm_stream_send(stream, 0, &scene->images[0]);
    for (int32_t i = sent ? WARM + repeat : 0; status == TVLM_OK && i < 2 * (WARM + repeat); ++i) {
        const int32_t n = i % (WARM + repeat) - WARM, at = sent ? i - WARM - repeat : i;
        const bool waits = i < WARM + repeat;
        const tvlm_image *const next = sent ? &scene->images[(at + 1) % scene->count] : NULL;
        const double start = tvlm_now();
        status =
            frame_of_stream(stream, device, &scene->images[at % scene->count], next, waits, stages, &report);
        if (n < 0) continue;
        if (!waits) frames[n] = tvlm_now() - start;
        for (int s = 0; waits && s < 2; ++s) values[s * repeat + n] = stages[s];
        if (!waits) add_share(&shares, report.changed, report.tiles);
    }
    if (status == TVLM_OK) {
        set_frame(times, frames, repeat);
        times->changed = mean_share(&shares);
        if (!sent) times->update = tvlm_median(values, repeat);
        if (!sent) times->select = tvlm_median(values + repeat, repeat);
    }
    tvlm_stream_destroy(&stream);
    return status;
}

/* Measures the flow from a frame to the frame before. Both are on the device, and their levels are made. */
static tvlm_status measure_flow(tvlm_device *device, const struct scene *scene, tvlm_format format,
                                int32_t repeat, double *values, struct times *times) {
    tvlm_stack *stack = NULL;
    tvlm_flow *flow = NULL;
    const struct tvlm_stack_params params = {.layout = "r",
                                             .width = scene->images[0].width,
                                             .height = scene->images[0].height,
                                             .images = 2,
                                             .format = format};
    tvlm_status status = tvlm_stack_create(device, &params, &stack);
    for (int32_t i = 0; status == TVLM_OK && i < WARM + repeat; ++i) {
        for (int32_t k = 0; status == TVLM_OK && k < 2; ++k) /* image 0 is the later frame */
            status = tvlm_stack_set_image(stack, k, &scene->images[(i + 1 - k) % scene->count]);
        if (status == TVLM_OK) status = tvlm_stack_make_all(stack);
        if (status == TVLM_OK) status = finish(device);
        const double start = tvlm_now();
        if (status == TVLM_OK) status = tvlm_flow_compute(stack, 0, stack, 1, NULL, &flow);
        if (status == TVLM_OK) status = finish(device);
        if (i >= WARM) values[i - WARM] = tvlm_now() - start;
    }
    if (status == TVLM_OK) set_frame(times, values, repeat);
    tvlm_flow_destroy(&flow);
    tvlm_stack_destroy(&stack);
    return status;
}

/* ---- The report ---- */

static const char *const modes[] = {"full", "delta", "carried", "stream", "sent", "flow"};

static void print_milliseconds(double seconds) {
    if (seconds >= 0.0)
        printf(" %10.3f", 1e3 * seconds);
    else
        printf(" %10s", "");
}

static void write_milliseconds(json_writer *json, const char *key, double seconds) {
    if (seconds >= 0.0) json_double(json, key, 1e3 * seconds);
}

static void print_times(const struct scene *scene, int mode, const struct times *t) {
    printf("%-24s %-7s", scene->name, modes[mode]);
    if (t->changed >= 0.0)
        printf(" %6.1f %%", 100.0 * t->changed);
    else
        printf(" %8s", "");
    print_milliseconds(t->update);
    print_milliseconds(t->families);
    print_milliseconds(t->select);
    print_milliseconds(t->frame);
    print_milliseconds(t->mean);
    print_milliseconds(t->largest);
    printf("\n");
    fflush(stdout);
}

static void write_times(json_writer *json, const struct scene *scene, int mode, const struct times *t) {
    json_open_object(json, NULL, true);
    json_string(json, "scene", scene->name);
    json_string(json, "mode", modes[mode]);
    if (t->changed >= 0.0) json_double(json, "changed", t->changed);
    write_milliseconds(json, mode == STREAM ? "push_ms" : "update_ms", t->update);
    write_milliseconds(json, "families_ms", t->families);
    write_milliseconds(json, "select_ms", t->select);
    write_milliseconds(json, "frame_ms", t->frame);
    write_milliseconds(json, "frame_mean_ms", t->mean);
    write_milliseconds(json, "frame_largest_ms", t->largest);
    json_close(json);
}

static tvlm_status measure_mode(tvlm_device *device, const struct scene *scene, tvlm_format format, int mode,
                                int32_t repeat, double *values, struct times *times) {
    *times = no_times;
    if (mode == FLOW) return measure_flow(device, scene, format, repeat, values, times);
    if (mode == STREAM || mode == SENT)
        return measure_stream(device, scene, format, mode == SENT, repeat, values, times);
    return measure_stack(device, scene, format, mode, repeat, values, times);
}

static int measure_scene(struct tool *tool, const struct bench_video_options *options, tvlm_device *device,
                         const struct scene *scene, json_writer *json, struct times times[MODES]) {
    const int32_t repeat = options->repeat;
    const tvlm_format format = (tvlm_format)options->common->format.value;
    double *const values = malloc(4 * (size_t)repeat * sizeof *values);
    int code = TOOL_DONE;
    if (values == NULL) return tool_fail(tool, "no memory");
    for (int mode = 0; code == TOOL_DONE && mode < MODES; ++mode) {
        code = tool_status(tool, measure_mode(device, scene, format, mode, repeat, values, &times[mode]));
        progress_clear();
        if (code != TOOL_DONE) break;
        if (options->common->json > 0)
            write_times(json, scene, mode, &times[mode]);
        else
            print_times(scene, mode, &times[mode]);
    }
    free(values);
    return code;
}

/* How many times as fast a frame is of which 10 % changed. Where something is carried over, the frames that
 * make it anew count as well: so it is the mean of all. */
static double speedup(const struct times times[MODES], int mode) {
    return mode == CARRIED ? times[FULL].mean / times[mode].mean : times[FULL].frame / times[mode].frame;
}

int bench_video(struct tool *tool, const struct bench_video_options *options) {
    static const double shares[] = {0.01, 0.1, 1.0};
    const bool as_json = options->common->json > 0;
    const int32_t made = (int32_t)(sizeof shares / sizeof *shares), count = made + (options->folder != NULL);
    struct times times[sizeof shares / sizeof *shares + 1][MODES] = {{{0}}};
    tvlm_device *device = NULL;
    json_writer json = {0};
    int code = tool_open_device(tool, options->common, &device);
    if (code != TOOL_DONE) return code;
    if (as_json) {
        json_open_object(&json, NULL, false);
        json_string(&json, "device", device->info.name);
        json_string(&json, "layout", LAYOUT);
        json_open_array(&json, "rows", false);
    } else {
        printf("%s, %s; %s, %d positions; ms, medians of %d frames\n", device->info.name,
               tvlm_storage_name(device->info.storage), LAYOUT, TVLM_K_DEFAULT, (int)options->repeat);
        printf("%-24s %-7s %8s %10s %10s %10s %10s %10s %10s\n", "scene", "", "changed", "update", "families",
               "select", "frame", "its mean", "largest");
    }
    progress_start("scenes", count);
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i) {
        struct scene *const scene = calloc(1, sizeof *scene);
        if (scene == NULL) {
            code = tool_fail(tool, "no memory");
            break;
        }
        code = i < made ? make_scene(tool, options->width, options->height, shares[i], scene)
                        : read_scene(tool, options->folder, scene);
        if (code == TOOL_DONE) code = measure_scene(tool, options, device, scene, &json, times[i]);
        release_scene(scene);
        free(scene);
        progress_step(i + 1);
    }
    progress_clear();
    if (code == TOOL_DONE && as_json) json_close(&json);
    for (int mode = DELTA; code == TOOL_DONE && mode <= CARRIED; ++mode) {
        const double ratio = speedup(times[1], mode);
        if (as_json)
            json_double(&json, mode == DELTA ? "speedup_10_percent" : "speedup_10_percent_carried", ratio);
        else
            printf("10 %% change, %s: %.2f times as fast as full, by the %s\n", modes[mode], ratio,
                   mode == CARRIED ? "mean" : "median");
    }
    if (code == TOOL_DONE && as_json) {
        json_close(&json);
        code = tool_print(tool, json_text_of(&json));
    }
    json_release(&json);
    tvlm_device_destroy(&device);
    return code;
}
