/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm bench: measures every stage: its time, the bytes that it moves, and its share of the device's own copy
 * bandwidth.
 *
 * A sample is R runs of a stage, enqueued one after the other, and one wait for them, so that launches
 * overlap as they do in use. R is chosen so that a sample takes 5 ms or more.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_stages.h"
#include "bench_video.h"
#include "canvas.h"
#include "core/try.h"
#include "json.h"
#include "progress.h"
#include "texturevlm/io.h"
#include "tool.h"

typedef struct bench_options {
    tool_common common;
    const char *image, *stage;
    option_size size;
    option_integer repeat;
    int video;
    const char *frames_from;
} bench_options;

static const option_spec specs[] = {
    {0, OPTION_SIZE, "size", offsetof(bench_options, size), "WxH",
     "of the image (default: the image's own, or 1024x1024)", 1, 32767, NULL},
    {0, OPTION_INPUT, "image", offsetof(bench_options, image), "FILE", "instead of the pattern made here", 0,
     0, NULL},
    {0, OPTION_INTEGER, "repeat", offsetof(bench_options, repeat), "N", "samples of each stage (default: 20)",
     1, 100000, NULL},
    {0, OPTION_TEXT, "stage", offsetof(bench_options, stage), "TEXT,...",
     "only stages with one of these in their name, and the copy", 0, 0, NULL},
    {0, OPTION_FLAG, "video", offsetof(bench_options, video), NULL,
     "frames of a video instead, with and without delta updates", 0, 0, NULL},
    {0, OPTION_INPUT, "frames-from", offsetof(bench_options, frames_from), "DIR",
     "for --video: its pictures too, in the order of their names", 0, 0, NULL},
};

#define SIDE_DEFAULT   1024
#define REPEAT_DEFAULT 20
#define REPEAT_MIN     3
#define SAMPLE_SECONDS 0.005
#define STAGE_SECONDS  3.0 /* after so long no further samples are taken */
#define RUNS_MAX       2000

struct result {
    double median, minimum; /* seconds that a run takes */
    int32_t samples, runs;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tvlm_status time_runs(struct bench *bench, const bench_stage *stage, int32_t runs, double *seconds) {
    const double start = now();
    for (int32_t i = 0; i < runs; ++i) TVLM_TRY(stage->run(bench, stage->argument));
    TVLM_TRY(bench->device->backend->finish(bench->device));
    *seconds = now() - start;
    return TVLM_OK;
}

/* Doubles the runs until a sample is long enough. The first run, which may build kernels, does not count. */
static tvlm_status choose_runs(struct bench *bench, const bench_stage *stage, int32_t *runs) {
    double seconds;
    TVLM_TRY(time_runs(bench, stage, 1, &seconds));
    for (*runs = 1;; *runs *= 2) {
        TVLM_TRY(time_runs(bench, stage, *runs, &seconds));
        if (seconds >= SAMPLE_SECONDS || *runs > RUNS_MAX / 2) return TVLM_OK;
    }
}

static tvlm_status measure(struct bench *bench, const bench_stage *stage, int32_t repeat, double *times,
                           struct result *result) {
    const double start = now();
    TVLM_TRY(choose_runs(bench, stage, &result->runs));
    for (result->samples = 0; result->samples < repeat; ++result->samples) {
        double seconds;
        if (result->samples >= REPEAT_MIN && now() - start > STAGE_SECONDS) break;
        TVLM_TRY(time_runs(bench, stage, result->runs, &seconds));
        times[result->samples] = seconds / result->runs;
    }
    qsort(times, (size_t)result->samples, sizeof *times, compare_doubles);
    result->minimum = times[0];
    result->median = 0.5 * (times[(result->samples - 1) / 2] + times[result->samples / 2]);
    return TVLM_OK;
}

/* ---- The image ---- */

/* Draws stripes, blobs and noise, so that there are flats, edges and texture in about equal parts. */
static void draw_pattern(uint8_t *rgb, int32_t width, int32_t height) {
    uint32_t state = 1;
    for (int32_t y = 0; y < height; ++y) {
        for (int32_t x = 0; x < width; ++x) {
            const float u = (float)x / (float)width, v = (float)y / (float)height;
            const float wave = 0.5f + 0.25f * sinf(37.0f * u * v + 9.0f * v) + 0.25f * cosf(61.0f * u);
            const bool noisy = ((x >> 6) + (y >> 6)) % 3 == 0;
            for (int32_t c = 0; c < 3; ++c) {
                state = state * 1664525u + 1013904223u;
                const float noise = noisy ? (float)(state >> 24) / 255.0f - 0.5f : 0.0f;
                const float step = ((x >> 5) ^ (y >> 5) ^ c) % 5 == 0 ? 0.3f : 0.0f;
                const float value = fminf(fmaxf(0.7f * wave + step + 0.5f * noise, 0.0f), 1.0f);
                *rgb++ = (uint8_t)(255.0f * value + 0.5f);
            }
        }
    }
}

/* Makes the image that is measured: the file's or the pattern, at the size asked for. Pixels that are made
 * here belong to `canvas`. */
static int make_image(struct tool *tool, const bench_options *options, tvlm_image **loaded,
                      struct canvas *canvas, tvlm_image *image) {
    int32_t width = SIDE_DEFAULT, height = SIDE_DEFAULT;
    if (options->image != NULL) {
        const int code = tool_status(tool, tvlm_image_load(options->image, &tool->log, loaded));
        if (code != TOOL_DONE) return code;
        width = (*loaded)->width;
        height = (*loaded)->height;
    }
    if (options->size.given) {
        width = options->size.width;
        height = options->size.height;
    }
    if (*loaded != NULL && width == (*loaded)->width && height == (*loaded)->height) {
        *image = **loaded;
        return TOOL_DONE;
    }
    if (!canvas_create(width, height, (color){0, 0, 0}, canvas))
        return tool_fail(tool, "no memory for %d x %d", width, height);
    if (*loaded == NULL)
        draw_pattern(canvas->rgb, width, height);
    else if (!canvas_image(canvas, (rect){0, 0, width, height}, *loaded))
        return tool_fail(tool, "no memory for %d x %d", width, height);
    *image = (tvlm_image){
        .pixels = canvas->rgb, .width = width, .height = height, .channels = 3, .type = TVLM_PIXEL_U8};
    return TOOL_DONE;
}

/* ---- The report ---- */

static double gigabytes_per_second(const bench_stage *stage, const struct result *result) {
    return result->median > 0.0 ? stage->bytes / result->median * 1e-9 : 0.0;
}

static void print_row(const bench_stage *stage, const struct result *result, double copy) {
    const double rate = gigabytes_per_second(stage, result);
    printf("%-20s %10.4f %10.4f %10.3f %9.2f %7.1f %%\n", stage->name, 1e3 * result->median,
           1e3 * result->minimum, 1e-6 * stage->bytes, rate, copy > 0.0 ? 100.0 * rate / copy : 0.0);
    fflush(stdout);
}

static void write_row(json_writer *json, const bench_stage *stage, const struct result *result, double copy) {
    const double rate = gigabytes_per_second(stage, result);
    json_open_object(json, NULL, true);
    json_string(json, "name", stage->name);
    json_double(json, "median_ms", 1e3 * result->median);
    json_double(json, "minimum_ms", 1e3 * result->minimum);
    json_integer(json, "bytes", (int64_t)stage->bytes);
    json_double(json, "gb_per_s", rate);
    json_double(json, "share_of_copy", copy > 0.0 ? rate / copy : 0.0);
    json_integer(json, "samples", result->samples);
    json_integer(json, "runs", result->runs);
    json_close(json);
}

/* The device memory that full40 takes in half. */
typedef struct memory {
    size_t peak, textures; /* in bytes; 0: not measured */
} memory;

static void print_memory(const memory *taken) {
    const double mib = 1048576.0;
    printf("full40 in half: at most %.1f MiB of device memory: textures with their levels %.1f; "
           "labels and regions, scratch and the image as it was handed in %.1f\n",
           (double)taken->peak / mib, (double)taken->textures / mib,
           (double)(taken->peak - taken->textures) / mib);
}

static void begin_report(json_writer *json, const struct bench *bench, const memory *taken, bool as_json) {
    const tvlm_device_info *const info = &bench->device->info;
    const tvlm_stack *const stack = bench->stack;
    tvlm_stack_info stack_info = {0};
    (void)tvlm_stack_get_info(stack, &stack_info);
    if (!as_json) {
        if (taken->peak > 0) print_memory(taken);
        printf("%s, %s storage, %s, %d x %d, %d channels in %.1f MB of device memory\n", info->name,
               tvlm_storage_name(info->storage), tvlm_format_name(stack->format), stack->width, stack->height,
               bench->channel_count, 1e-6 * (double)stack_info.device_bytes);
        printf("%-20s %10s %10s %10s %9s %9s\n", "stage", "median ms", "min ms", "MB", "GB/s", "of copy");
        return;
    }
    json_open_object(json, NULL, false);
    json_string(json, "device", info->name);
    json_string(json, "driver", info->driver);
    json_string(json, "storage", tvlm_storage_name(info->storage));
    json_string(json, "format", tvlm_format_name(stack->format));
    json_integer(json, "width", stack->width);
    json_integer(json, "height", stack->height);
    json_integer(json, "channels", bench->channel_count);
    json_integer(json, "device_bytes", (int64_t)stack_info.device_bytes);
    if (taken->peak > 0) {
        json_integer(json, "full40_f16_peak_bytes", (int64_t)taken->peak);
        json_integer(json, "full40_f16_texture_bytes", (int64_t)taken->textures);
    }
    json_open_array(json, "stages", false);
}

static int end_report(struct tool *tool, json_writer *json) {
    json_close(json);
    json_close(json);
    return tool_print(tool, json_text_of(json));
}

/* Whether one of the words of a comma-separated list is part of the name. */
static bool named(const char *list, const char *name) {
    for (size_t length; *list != '\0'; list += length + (list[length] == ',')) {
        char word[40];
        length = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        if (length > 0 && length < sizeof word && strstr(name, word) != NULL) return true;
    }
    return false;
}

static int measure_all(struct tool *tool, const bench_options *options, const memory *taken,
                       struct bench *bench) {
    bench_stage stages[BENCH_STAGES_MAX];
    const int32_t count = bench_list(bench, stages);
    const int32_t repeat = options->repeat.given ? options->repeat.value : REPEAT_DEFAULT;
    const bool as_json = options->common.json > 0;
    double copy = 0.0; /* the copy bandwidth in GB/s, which the first stage measures */
    int code = TOOL_DONE;
    json_writer json = {0};
    double *const times = malloc((size_t)repeat * sizeof *times);
    if (times == NULL) return tool_fail(tool, "no memory");
    begin_report(&json, bench, taken, as_json);
    progress_start("stages", count);
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i) {
        struct result result = {0};
        if (i > 0 && options->stage != NULL && !named(options->stage, stages[i].name)) continue;
        code = tool_status(tool, measure(bench, &stages[i], repeat, times, &result));
        if (code != TOOL_DONE) break;
        if (i == 0) copy = gigabytes_per_second(&stages[i], &result);
        progress_clear();
        if (as_json)
            write_row(&json, &stages[i], &result, copy);
        else
            print_row(&stages[i], &result, copy);
        progress_step(i + 1);
    }
    progress_clear();
    if (code == TOOL_DONE && as_json) code = end_report(tool, &json);
    json_release(&json);
    free(times);
    return code;
}

static int run_bench_video(struct tool *tool, const bench_options *options) {
    const struct bench_video_options video = {
        .common = &options->common,
        .folder = options->frames_from,
        .width = options->size.given ? options->size.width : SIDE_DEFAULT,
        .height = options->size.given ? options->size.height : SIDE_DEFAULT,
        .repeat = options->repeat.given ? options->repeat.value : REPEAT_DEFAULT,
    };
    if (options->image != NULL || options->stage != NULL)
        return tool_usage(tool, "--image and --stage are not for --video");
    return bench_video(tool, &video);
}

static int run_bench(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const bench_options *const options = values;
    tvlm_image image, *loaded = NULL;
    tvlm_device *device = NULL;
    struct canvas canvas = {0};
    struct bench bench = {0};
    memory taken = {0};
    (void)operand_count;
    (void)operands;
    if (options->video > 0) return run_bench_video(tool, options);
    if (options->frames_from != NULL) return tool_usage(tool, "--frames-from is for --video");
    tool->printed = true; /* with --fallback too: the figures are of one device */
    int code = make_image(tool, options, &loaded, &canvas, &image);
    if (code == TOOL_DONE) code = tool_open_device(tool, &options->common, &device);
    if (code == TOOL_DONE && options->stage == NULL) /* before anything else takes memory */
        code = tool_status(tool, bench_memory(device, &image, &taken.peak, &taken.textures));
    if (code == TOOL_DONE)
        code = tool_status(tool, bench_prepare(device, &image, (tvlm_format)options->common.format, &bench));
    if (code == TOOL_DONE) code = measure_all(tool, options, &taken, &bench);
    bench_release(&bench);
    tvlm_device_destroy(&device);
    canvas_release(&canvas);
    tvlm_image_destroy(&loaded);
    return code;
}

static const option_specs own = OPTION_SPECS(specs);
static const option_group groups[] = {{&own, 0}, {0}};

const tool_command bench_command = {
    .name = "bench",
    .summary = "every stage: its time, its bytes, its share of the device's copy bandwidth",
    .operands = "",
    .details =
        "MB is what a stage must read and write at least, each texel once. 'upload' is from the host to the device. A\n"
        "family's levels are all but the first, made from it. 'select, uploaded' goes from pixels on the device to\n"
        "positions on the host by the best cells, with all families that it reads; in 'select, again' they are there\n"
        "already. 'budget' is the same by the strategy of that name, which reads the source alone.\n"
        "'patches' of 3 x 16 x 16 go from positions on the host to a buffer on the device.\n"
        "--video: a frame of temporal34 from pixels on the host to positions, where a rectangle of 1 %, 10 % and all of\n"
        "the tiles changes: full, all made again; delta, only what changed; carried, the same, with saliency and\n"
        "regions kept for a while; stream, push (with optical flow) and select; sent, the same, each frame sent ahead\n"
        "beside the work on the one before; flow, the optical flow alone, between frames that are there.\n"
        "Stages end with a wait; 'frame' has one at its end only. 'families': what the update left to make.\n"
        "Without --stage first the most device memory that full40 takes in half at this size, everything that is\n"
        "allocated for it counted: textures, labels and regions, scratch, pixels handed in.\n",
    .options = groups,
    .options_size = sizeof(bench_options),
    .run = run_bench,
};
