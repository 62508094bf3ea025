/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_layouts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_events.h"
#include "core/times.h"
#include "core/try.h"
#include "json.h"
#include "progress.h"

#define LAYOUTS_MAX 32

/* The cost of a layout. */
typedef struct cost {
    int32_t channels, width, height;
    size_t textures, peak;       /* bytes: the textures with their levels; the most held at a time */
    double first, median, ninth; /* seconds: the first image; the median and p90 of the others */
    bench_commands commands;     /* the commands of one image */
    bool counted;
} cost;

/* Takes in a new image: from pixels on the host to all channels with their levels. */
static tvlm_status make(tvlm_device *device, tvlm_stack *stack, const tvlm_image *image, double *seconds) {
    const double start = tvlm_now();
    TVLM_TRY(tvlm_stack_set_image(stack, 0, image));
    TVLM_TRY(tvlm_stack_make_all(stack));
    TVLM_TRY(tvlm_device_finish(device));
    *seconds = tvlm_now() - start;
    return TVLM_OK;
}

static tvlm_status measure(tvlm_device *device, tvlm_stack *stack, const tvlm_image *image, int32_t repeat,
                           double *times, cost *c) {
    double unused;
    tvlm_stack_info info;
    TVLM_TRY(make(device, stack, image, &c->first));
    for (int32_t i = 0; i < repeat; ++i) TVLM_TRY(make(device, stack, image, &times[i]));
    c->peak = device->held_most;
    c->median = tvlm_median(times, repeat);
    c->ninth = times[(int32_t)ceil(0.9 * repeat) - 1];
    c->counted = bench_events_begin(device);
    const tvlm_status status = make(device, stack, image, &unused);
    if (c->counted) bench_events_end(device, &c->commands);
    TVLM_TRY(status);
    TVLM_TRY(tvlm_stack_get_info(stack, &info));
    c->textures = info.device_bytes;
    c->width = info.width;
    c->height = info.height;
    (void)tvlm_stack_channels(stack, &c->channels);
    return TVLM_OK;
}

/* Measures a layout. It opens a device of its own, from which nothing else has taken memory. */
static int measure_layout(struct tool *tool, const tool_common *common, const char *layout,
                          const tvlm_image *image, int32_t repeat, double *times, cost *c) {
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    const struct tvlm_stack_params params = {.layout = layout, .format = (tvlm_format)common->format.value};
    int code = tool_open_device(tool, common, &device);
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_stack_create_for_image(device, image, &params, &stack));
    if (code == TOOL_DONE) code = tool_status(tool, measure(device, stack, image, repeat, times, c));
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    return code;
}

static void print_cost(const char *layout, const cost *c) {
    const double mib = 1048576.0;
    char size[32];
    snprintf(size, sizeof size, "%dx%d", (int)c->width, (int)c->height);
    printf("%-12s %8d %11s %10.2f %10.2f %10.2f %8d %6d %12.1f %10.1f\n", layout, (int)c->channels, size,
           1e3 * c->median, 1e3 * c->ninth, 1e3 * c->first,
           (int)(c->commands.kernels + c->commands.transfers), (int)c->commands.waits,
           (double)c->textures / mib, (double)c->peak / mib);
    fflush(stdout);
}

static void write_cost(json_writer *json, const char *layout, const cost *c) {
    json_open_object(json, NULL, true);
    json_string(json, "layout", layout);
    json_integer(json, "channels", c->channels);
    json_integer(json, "width", c->width);
    json_integer(json, "height", c->height);
    json_double(json, "median_ms", 1e3 * c->median);
    json_double(json, "p90_ms", 1e3 * c->ninth);
    json_double(json, "first_ms", 1e3 * c->first);
    if (c->counted) {
        json_integer(json, "kernels", c->commands.kernels);
        json_integer(json, "transfers", c->commands.transfers);
        json_integer(json, "waits", c->commands.waits);
    }
    json_integer(json, "texture_bytes", (int64_t)c->textures);
    json_integer(json, "peak_bytes", (int64_t)c->peak);
    json_close(json);
}

int bench_layouts(struct tool *tool, const tool_common *common, const tvlm_image *image, int32_t repeat) {
    const bool as_json = common->json > 0;
    json_writer json = {0};
    int code = TOOL_DONE;
    double *const times = malloc((size_t)repeat * sizeof *times);
    if (times == NULL) return tool_fail(tool, "no memory");
    if (as_json) {
        json_open_object(&json, NULL, false);
        json_open_array(&json, "layouts", false);
    } else {
        printf("%-12s %8s %11s %10s %10s %10s %8s %6s %12s %10s\n", "layout", "channels", "", "median ms",
               "p90 ms", "first ms", "commands", "waits", "textures MiB", "peak MiB");
    }
    progress_start("layouts", LAYOUTS_MAX);
    for (int32_t i = 0; code == TOOL_DONE && tvlm_layout_name(i) != NULL; ++i) {
        cost c = {0};
        code = measure_layout(tool, common, tvlm_layout_name(i), image, repeat, times, &c);
        progress_clear();
        if (code != TOOL_DONE) break;
        if (as_json)
            write_cost(&json, tvlm_layout_name(i), &c);
        else
            print_cost(tvlm_layout_name(i), &c);
        progress_step(i + 1);
    }
    progress_clear();
    if (code == TOOL_DONE && as_json) {
        json_close(&json);
        json_close(&json);
        code = tool_print(tool, json_text_of(&json));
    }
    json_release(&json);
    free(times);
    return code;
}
