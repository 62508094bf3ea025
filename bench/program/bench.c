/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm bench: measures every stage: its time, the bytes that it moves, and its share of the bandwidth that
 * the device reaches in a copy.
 *
 * A sample consists of R runs of a stage, which are enqueued one after the other, and one wait for all of
 * them. So launches overlap as they do in use. R is chosen so that a sample takes 5 ms or more.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_events.h"
#include "bench_layouts.h"
#include "bench_peaks.h"
#include "bench_stages.h"
#include "bench_video.h"
#include "core/times.h"
#include "core/try.h"
#include "draw/canvas.h"
#include "json.h"
#include "platform/compiler.h"
#include "progress.h"
#include "texturevlm/io.h"
#include "tool.h"

typedef struct bench_options {
    tool_common common;
    const char *image, *stage;
    option_size size;
    option_integer repeat;
    int video, layouts, peaks;
    const char *frames_from;
} bench_options;

static const option_spec specs[] = {
    {0, OPTION_SIZE, "size", offsetof(bench_options, size), "WxH|N",
     "of the image (default: the image's own, or 1024x1024)", 1, 32767, NULL},
    {0, OPTION_INPUT, "image", offsetof(bench_options, image), "FILE", "instead of the pattern made here", 0,
     0, NULL},
    {0, OPTION_INTEGER, "repeat", offsetof(bench_options, repeat), "N", "samples of each stage (default: 20)",
     1, 100000, NULL},
    {0, OPTION_TEXT, "stage", offsetof(bench_options, stage), "TEXT,...",
     "only stages with one of these in their name, the copy and the launch", NO_RANGE, NULL},
    {0, OPTION_FLAG, "video", offsetof(bench_options, video), NULL,
     "frames of a video instead, with and without delta updates", NO_RANGE, NULL},
    {0, OPTION_FLAG, "layouts", offsetof(bench_options, layouts), NULL,
     "each layout instead: the time of an image, and its memory", NO_RANGE, NULL},
    {0, OPTION_FLAG, "peaks", offsetof(bench_options, peaks), NULL,
     "memory that `tvlm select` takes for pictures of three sizes (or --size), beside theirs", NO_RANGE,
     NULL},
    {0, OPTION_INPUT, "frames-from", offsetof(bench_options, frames_from), "DIR",
     "for --video: its pictures too, in the order of their names", NO_RANGE, NULL},
};

#define SIDE_DEFAULT   1024
#define REPEAT_DEFAULT 20
#define REPEAT_MIN     3
#define SAMPLE_SECONDS 0.005
#define STAGE_SECONDS  3.0 /* after this time no further samples are taken */
#define RUNS_MAX       2000

struct result {
    double median, minimum, ninth; /* seconds that a run takes; ninth: nine of ten samples take no longer */
    int32_t samples, runs;
    bench_commands commands; /* the commands of one run */
    bool counted;
};

/* The best speed of the device, as its first two stages measure it. */
struct roof {
    double copy;        /* bytes per second that a copy reads and writes */
    double launch;      /* the least time of a kernel that does nothing, in seconds */
    double cache_bytes; /* 0: not known */
};

/* bench/earlier.py counts the instructions from one call of it to the next. */
TVLM_APART static tvlm_status time_runs(struct bench *bench, const bench_stage *stage, int32_t runs,
                                        double *seconds) {
    const double start = tvlm_now();
    for (int32_t i = 0; i < runs; ++i) TVLM_TRY(stage->run(bench, stage->argument));
    TVLM_TRY(bench->device->backend->finish(bench->device));
    *seconds = tvlm_now() - start;
    return TVLM_OK;
}

/* Doubles the number of runs until a sample is long enough. The first run may build kernels, and does not
 * count. */
static tvlm_status choose_runs(struct bench *bench, const bench_stage *stage, int32_t *runs) {
    double seconds;
    TVLM_TRY(time_runs(bench, stage, 1, &seconds));
    for (*runs = 1;; *runs *= 2) {
        TVLM_TRY(time_runs(bench, stage, *runs, &seconds));
        if (seconds >= SAMPLE_SECONDS || *runs > RUNS_MAX / 2) return TVLM_OK;
    }
}

/* Runs the stage once more, on a queue that takes times. */
static tvlm_status count_commands(struct bench *bench, const bench_stage *stage, struct result *result) {
    result->counted = bench_events_begin(bench->device);
    if (!result->counted) return TVLM_OK;
    const tvlm_status status = stage->run(bench, stage->argument);
    bench_events_end(bench->device, &result->commands);
    return status;
}

static tvlm_status measure(struct bench *bench, const bench_stage *stage, int32_t repeat, double *times,
                           struct result *result) {
    const double start = tvlm_now();
    TVLM_TRY(choose_runs(bench, stage, &result->runs));
    for (result->samples = 0; result->samples < repeat; ++result->samples) {
        double seconds;
        if (result->samples >= REPEAT_MIN && tvlm_now() - start > STAGE_SECONDS) break;
        TVLM_TRY(time_runs(bench, stage, result->runs, &seconds));
        times[result->samples] = seconds / result->runs;
    }
    result->median = tvlm_median(times, result->samples);
    result->minimum = times[0];
    result->ninth = times[(int32_t)ceil(0.9 * result->samples) - 1];
    return count_commands(bench, stage, result);
}

/* ---- The image ---- */

/* Draws stripes, blobs and noise. So flat areas, edges and texture have about equal parts. */
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

/* Makes the image for the measurements: that of the file, or the pattern, at the size that was asked for.
 * Pixels that are made here belong to `canvas`. */
static int make_image(struct tool *tool, const bench_options *options, tvlm_image **loaded,
                      tvlm_canvas *canvas, tvlm_image *image) {
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
    if (!tvlm_canvas_create(width, height, (tvlm_colour){0, 0, 0}, canvas))
        return tool_fail(tool, "no memory for %d x %d", width, height);
    if (*loaded == NULL)
        draw_pattern(canvas->rgb, width, height);
    else if (!tvlm_canvas_image(canvas, (tvlm_rect){0, 0, width, height}, *loaded))
        return tool_fail(tool, "no memory for %d x %d", width, height);
    *image = (tvlm_image){
        .pixels = canvas->rgb, .width = width, .height = height, .channels = 3, .type = TVLM_PIXEL_U8};
    return TOOL_DONE;
}

/* ---- The report ---- */

static double gigabytes_per_second(const bench_stage *stage, const struct result *result) {
    return result->median > 0.0 ? stage->bytes / result->median * 1e-9 : 0.0;
}

/* The least time that a stage can take: its bytes at the speed of a copy, and a launch for each command. */
static double bound_of(const bench_stage *stage, const struct result *result, const struct roof *roof) {
    const double commands = result->commands.kernels + result->commands.transfers;
    return (roof->copy > 0.0 ? stage->bytes / roof->copy : 0.0) + commands * roof->launch;
}

static double share_of_copy(const bench_stage *stage, const struct result *result, const struct roof *roof) {
    return roof->copy > 0.0 ? 1e9 * gigabytes_per_second(stage, result) / roof->copy : 0.0;
}

/* Whether all bytes that a stage moves may still be in the cache from the run before. */
static bool fits_cache(const bench_stage *stage, const struct roof *roof) {
    return stage->bytes > 0.0 && stage->bytes <= roof->cache_bytes;
}

/* Prints a number, or a dash for one that the driver does not tell, or that the device does not have. */
static void print_or_dash(bool known, int width, int digits, double value) {
    if (known)
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

static void print_row(const bench_stage *stage, const struct result *result, const struct roof *roof) {
    const bench_commands *const c = &result->commands;
    const double bound = bound_of(stage, result, roof);
    printf("%-20s %10.4f %10.4f %10.4f", stage->name, 1e3 * result->median, 1e3 * result->minimum,
           1e3 * result->ninth);
    print_or_dash(c->seconds > 0.0, 10, 4, 1e3 * c->seconds);
    print_or_dash(result->counted, 8, 0, c->kernels + c->transfers);
    print_or_dash(result->counted, 5, 0, c->waits);
    printf(" %10.3f %9.2f %7.1f %%%c", 1e-6 * stage->bytes, gigabytes_per_second(stage, result),
           100.0 * share_of_copy(stage, result, roof), fits_cache(stage, roof) ? '*' : ' ');
    print_or_dash(bound > 0.0, 10, 4, 1e3 * bound);
    print_or_dash(bound > 0.0, 7, 1, bound > 0.0 ? result->median / bound : 0.0);
    putchar('\n');
    fflush(stdout);
}

static void write_row(json_writer *json, const bench_stage *stage, const struct result *result,
                      const struct roof *roof) {
    const bench_commands *const c = &result->commands;
    const double bound = bound_of(stage, result, roof);
    json_open_object(json, NULL, true);
    json_string(json, "name", stage->name);
    json_double(json, "median_ms", 1e3 * result->median);
    json_double(json, "minimum_ms", 1e3 * result->minimum);
    json_double(json, "p90_ms", 1e3 * result->ninth);
    if (c->seconds > 0.0) json_double(json, "event_ms", 1e3 * c->seconds);
    if (result->counted) {
        json_integer(json, "kernels", c->kernels);
        json_integer(json, "transfers", c->transfers);
        json_integer(json, "waits", c->waits);
    }
    json_integer(json, "bytes", (int64_t)stage->bytes);
    json_double(json, "gb_per_s", gigabytes_per_second(stage, result));
    json_double(json, "share_of_copy", share_of_copy(stage, result, roof));
    json_boolean(json, "fits_cache", fits_cache(stage, roof));
    if (bound > 0.0) {
        json_double(json, "bound_ms", 1e3 * bound);
        json_double(json, "over_bound", result->median / bound);
    }
    json_integer(json, "samples", result->samples);
    json_integer(json, "runs", result->runs);
    json_close(json);
}

/* The device memory that the layout full40 takes in half. */
typedef struct memory {
    size_t peak, textures; /* in bytes; 0: not measured */
} memory;

/* The first work of a process: the seconds for opening the device, for the first selection, and for the same
 * selection once more. */
typedef struct cold {
    double open, first, again;
} cold;

/* Makes a selection by the grid, from pixels on the host to positions on the host, with a stack of its own.
 * */
static tvlm_status select_once(tvlm_device *device, const tvlm_image *image, tvlm_format format,
                               double *seconds) {
    const double start = tvlm_now();
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    tvlm_status status =
        tvlm_stack_create_for_image(device, image, tvlm_stack_params(.format = format), &stack);
    if (status == TVLM_OK)
        status = tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID), &selection);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    *seconds = tvlm_now() - start;
    return status;
}

static tvlm_status measure_cold(tvlm_device *device, const tvlm_image *image, tvlm_format format, cold *c) {
    TVLM_TRY(select_once(device, image, format, &c->first));
    return select_once(device, image, format, &c->again);
}

static void print_memory(const memory *taken) {
    const double mib = 1048576.0;
    printf("full40 in half: at most %.1f MiB of device memory: textures with their levels %.1f; "
           "labels and regions, scratch and the image as it was handed in %.1f\n",
           (double)taken->peak / mib, (double)taken->textures / mib,
           (double)(taken->peak - taken->textures) / mib);
}

static void print_device(const struct bench *bench, const bench_clocks *clocks, const cold *c) {
    if (c->first > 0.0)
        printf("cold: opening the device %.1f ms, the first selection %.1f ms, the same again %.1f ms\n",
               1e3 * c->open, 1e3 * c->first, 1e3 * c->again);
    if (clocks->most > 0) printf("clock: at most %d MHz", (int)clocks->most);
    if (clocks->most > 0 && clocks->now > 0) printf(", now %d", (int)clocks->now);
    if (clocks->most > 0) putchar('\n');
    if (clocks->cache_bytes > 0.0)
        printf(
            "cache: %.1f MB; the copy moves %.1f MB. * moves less than the cache holds, and may be faster than "
            "memory: --size 4096 shows it\n",
            1e-6 * clocks->cache_bytes, 2e-6 * (double)bench->copy_from->bytes);
}

static void write_device(json_writer *json, const bench_clocks *clocks, const cold *c) {
    if (clocks->most > 0) json_integer(json, "clock_max_mhz", clocks->most);
    if (clocks->now > 0) json_integer(json, "clock_mhz", clocks->now);
    if (clocks->cache_bytes > 0.0) json_integer(json, "cache_bytes", (int64_t)clocks->cache_bytes);
    if (c->first <= 0.0) return;
    json_double(json, "cold_open_ms", 1e3 * c->open);
    json_double(json, "cold_select_ms", 1e3 * c->first);
    json_double(json, "warm_select_ms", 1e3 * c->again);
}

static void begin_report(json_writer *json, const struct bench *bench, const memory *taken, const cold *c,
                         bool as_json) {
    const bench_clocks clocks = bench_clocks_of(bench->device);
    const tvlm_device_info *const info = &bench->device->info;
    const tvlm_stack *const stack = bench->stack;
    tvlm_stack_info stack_info = {0};
    (void)tvlm_stack_get_info(stack, &stack_info);
    if (!as_json) {
        if (taken->peak > 0) print_memory(taken);
        print_device(bench, &clocks, c);
        printf("%s, %s storage, %s, %d x %d, %d channels in %.1f MB of device memory\n", info->name,
               tvlm_storage_name(info->storage), tvlm_format_name(stack->format), stack->width, stack->height,
               bench->channel_count, 1e-6 * (double)stack_info.device_bytes);
        printf("%-20s %10s %10s %10s %10s %8s %5s %10s %9s %10s %10s %7s\n", "stage", "median ms", "min ms",
               "p90 ms", "event ms", "commands", "waits", "MB", "GB/s", "of copy", "bound ms", "over");
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
    write_device(json, &clocks, c);
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

/* Whether so many letters of a word are part of the name. */
static bool has(const char *name, const char *word, size_t length) {
    for (; *name != '\0'; ++name)
        if (strncmp(name, word, length) == 0) return true;
    return false;
}

/* Whether one of the words of a comma-separated list is part of the name. */
static bool named(const char *list, const char *name) {
    for (size_t length; *list != '\0'; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        if (length > 0 && has(name, list, length)) return true;
    }
    return false;
}

/* Refuses a list of which a word is part of no stage's name: nothing would be measured for it. */
static int check_named(struct tool *tool, const char *list, const bench_stage *stages, int32_t count) {
    bool any = false;
    for (size_t length; *list != '\0'; list += length + (list[length] == ',')) {
        int32_t i = 0;
        length = strcspn(list, ",");
        if (length == 0) continue;
        while (i < count && !has(stages[i].name, list, length)) ++i;
        if (i == count)
            return tool_usage(tool, "--stage %.*s: no stage has that in its name", (int)length, list);
        any = true;
    }
    return any ? TOOL_DONE : tool_usage(tool, "--stage names no stage");
}

static int measure_all(struct tool *tool, const bench_options *options, const memory *taken, const cold *c,
                       struct bench *bench) {
    bench_stage stages[BENCH_STAGES_MAX];
    const int32_t count = bench_list(bench, stages);
    const int32_t repeat = options->repeat.given ? options->repeat.value : REPEAT_DEFAULT;
    const bool as_json = options->common.json > 0;
    struct roof roof = {.cache_bytes = bench_clocks_of(bench->device).cache_bytes};
    int code = options->stage != NULL ? check_named(tool, options->stage, stages, count) : TOOL_DONE;
    json_writer json = {0};
    if (code != TOOL_DONE) return code;
    double *const times = malloc((size_t)repeat * sizeof *times);
    if (times == NULL) return tool_fail(tool, "no memory");
    begin_report(&json, bench, taken, c, as_json);
    progress_start("stages", count);
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i) {
        struct result result = {0};
        if (i >= BENCH_ROOF && options->stage != NULL && !named(options->stage, stages[i].name)) continue;
        code = tool_status(tool, measure(bench, &stages[i], repeat, times, &result));
        if (code != TOOL_DONE) break;
        if (i == 0) roof.copy = 1e9 * gigabytes_per_second(&stages[i], &result);
        if (i == 1) roof.launch = result.minimum;
        progress_clear();
        if (as_json)
            write_row(&json, &stages[i], &result, &roof);
        else
            print_row(&stages[i], &result, &roof);
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

static int run_bench_peaks(struct tool *tool, const bench_options *options) {
    if (options->image != NULL || options->stage != NULL || options->repeat.given ||
        options->frames_from != NULL)
        return tool_usage(tool,
                          "--peaks takes --size, and none of --image, --stage, --repeat, --frames-from");
    return bench_peaks(tool, &options->common, options->size.given ? options->size.width : 0,
                       options->size.height);
}

static int run_bench(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const bench_options *const options = values;
    tvlm_image image, *loaded = NULL;
    tvlm_device *device = NULL;
    tvlm_canvas canvas = {0};
    struct bench bench = {0};
    memory taken = {0};
    cold c = {0};
    const tvlm_format format = (tvlm_format)options->common.format.value;
    (void)operand_count;
    (void)operands;
    if ((options->video > 0) + (options->layouts > 0) + (options->peaks > 0) > 1)
        return tool_usage(tool, "--video, --layouts and --peaks exclude each other");
    if (options->peaks > 0) return run_bench_peaks(tool, options);
    if (options->video > 0) return run_bench_video(tool, options);
    if (options->layouts > 0 && options->stage != NULL)
        return tool_usage(tool, "--stage is not for --layouts");
    if (options->frames_from != NULL) return tool_usage(tool, "--frames-from is for --video");
    tool->printed = true; /* so that --fallback does not begin anew: all figures are of one device */
    int code = make_image(tool, options, &loaded, &canvas, &image);
    if (code == TOOL_DONE && options->layouts > 0) {
        code = bench_layouts(tool, &options->common, &image,
                             options->repeat.given ? options->repeat.value : REPEAT_DEFAULT);
        tvlm_canvas_release(&canvas);
        tvlm_image_destroy(&loaded);
        return code;
    }
    const double start = tvlm_now();
    if (code == TOOL_DONE) code = tool_open_device(tool, &options->common, &device);
    c.open = tvlm_now() - start;
    if (code == TOOL_DONE && options->stage == NULL) /* before anything else is compiled or takes memory */
        code = tool_status(tool, measure_cold(device, &image, format, &c));
    if (code == TOOL_DONE && options->stage == NULL)
        code = tool_status(tool, bench_memory(device, &image, &taken.peak, &taken.textures));
    if (code == TOOL_DONE) code = tool_status(tool, bench_prepare(device, &image, format, &bench));
    if (code == TOOL_DONE) code = measure_all(tool, options, &taken, &c, &bench);
    bench_release(&bench);
    tvlm_device_destroy(&device);
    tvlm_canvas_release(&canvas);
    tvlm_image_destroy(&loaded);
    return code;
}

static const option_specs own = OPTION_SPECS("Options", specs);
static const option_group groups[] = {{&own, 0}, {0}};

const tool_command bench_command = {
    .name = "bench",
    .summary = "every stage: its time, its bytes, its share of the device's copy bandwidth",
    .operands = "",
    .details =
        "event: what the device's own clock says of its commands; commands: kernels, copies, fills, reads and writes of\n"
        "one run; waits: of the host. bound: the MB at the speed of 'copy' and a 'launch' for each command; over: how many\n"
        "times as long the stage takes. cold: the first selection of this process, with the caches of programs as they are.\n"
        "--layouts: from pixels on the host to all channels and levels, a device of its own for each layout; its first\n"
        "image compiles; peak is all device memory that it ever held.\n"
        "--peaks: pictures of 1024x1024, 4096x4096 and 10000x10000 pixels of bytes, each in a process of its own, in the\n"
        "formats u8, f16 and f32 or --format's. 'times': the most memory that the process held, less what it holds for a\n"
        "picture of 8x8, over the picture's own bytes, which are among it.\n"
        "MB is what a stage must read and write at least, each texel once. 'upload' is from the host to the device. A\n"
        "family's levels are all but the first, made from it. 'select, uploaded' goes from pixels on the device to\n"
        "positions on the host by the best cells, with all families that it reads; in 'select, again' they are there\n"
        "already, and the scores too. 'budget' is the same by the strategy of that name, which reads the source alone.\n"
        "'patches' of 3 x 16 x 16 go from positions on the host to a buffer on the device.\n"
        "--video: a frame of temporal34 from pixels on the host to positions, where a rectangle of 1 %, 10 % and all of\n"
        "the tiles changes: full, all made again; delta, only what changed; carried, the same, with saliency and\n"
        "regions kept for a while; stream, push (with optical flow) and select; sent, the same, each frame sent ahead\n"
        "beside the work on the one before; flow, the optical flow alone, between frames that are there.\n"
        "Stages end with a wait; 'frame' has one at its end only. 'families': what the update left to make. Times are\n"
        "medians, but of frames the mean and the largest stand there too: carried, where 10 % change, makes saliency and\n"
        "regions anew every tenth frame, which no median shows (--repeat 20, or another multiple of ten).\n"
        "Without --stage first the most device memory that full40 takes in half at this size, everything that is\n"
        "allocated for it counted: textures, labels and regions, scratch, pixels handed in.\n",
    .options = groups,
    .options_size = sizeof(bench_options),
    .run = run_bench,
};
