/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm devices: lists the devices of the machine, with the results of their self-tests and the storage that
 * would be used.
 */
#include <stdio.h>
#include <stdlib.h>

#include "decoders.h"
#include "json.h"
#include "progress.h"
#include "tool.h"

/* ---- --tune ---- */

typedef struct tune_options {
    int tune;
    option_number seconds;
} tune_options;

static const option_spec specs[] = {
    {0, OPTION_FLAG, "tune", offsetof(tune_options, tune), NULL,
     "finds the settings that are the fastest on this device, and keeps them", NO_RANGE, NULL},
    {0, OPTION_NUMBER, "seconds", offsetof(tune_options, seconds), "S",
     "how long settings are tried (default: 60)", 0.1, 3600, NULL},
};
static const option_specs tune_specs = OPTION_SPECS("Tuning", specs);

static bool show_progress(void *user, float share, const char *stage) {
    (void)user, (void)stage;
    progress_step((int64_t)(100.0f * share));
    return true;
}

static double gain_of(const tvlm_tuned_stage *stage) {
    return stage->after > 0.0 ? stage->before / stage->after : 1.0;
}

static void print_stages(const tvlm_device_info *device, const tvlm_tuned_stage *stages, int32_t count,
                         const tvlm_tuning_info *info) {
    int32_t gained = 0;
    printf("%s, %s storage\n", device->name, tvlm_storage_name(device->storage));
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_tuned_stage *const s = &stages[i];
        if (s->settings[0] == '\0') continue;
        if (gained++ == 0)
            printf("%-12s %6s %10s %10s %7s  %s\n", "stage", "side", "before ms", "after ms", "gain", "");
        printf("%-12s %6d %10.4f %10.4f %7.2f  %s\n", s->name, (int)s->side, 1e3 * s->before, 1e3 * s->after,
               gain_of(s), s->settings);
    }
    printf("%d of %d stages are faster by more than the noise; %d settings were tried in %.0f s%s\n",
           (int)gained, (int)count, (int)info->tried, info->seconds,
           info->complete ? "" : ", and time was up before all were");
    if (info->path[0] != '\0') printf("kept in %s\n", info->path);
}

static int print_tuning(struct tool *tool, const tvlm_device_info *device, const tvlm_tuned_stage *stages,
                        int32_t count, const tvlm_tuning_info *info) {
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    json_string(&json, "device", device->name);
    json_string(&json, "driver", device->driver);
    json_string(&json, "storage", tvlm_storage_name(device->storage));
    json_double(&json, "seconds", info->seconds);
    json_integer(&json, "tried", info->tried);
    json_boolean(&json, "complete", info->complete);
    json_string(&json, "path", info->path[0] != '\0' ? info->path : NULL);
    json_open_array(&json, "stages", false);
    for (int32_t i = 0; i < count; ++i) {
        json_open_object(&json, NULL, true);
        json_string(&json, "name", stages[i].name);
        json_integer(&json, "side", stages[i].side);
        json_double(&json, "before_ms", 1e3 * stages[i].before);
        json_double(&json, "after_ms", 1e3 * stages[i].after);
        json_double(&json, "gain", gain_of(&stages[i]));
        json_string(&json, "settings", stages[i].settings);
        json_close(&json);
    }
    json_close(&json);
    return tool_print_json(tool, &json);
}

static int report(struct tool *tool, const tool_common *common, tvlm_device *device,
                  const tvlm_tuning *tuning) {
    tvlm_device_info about;
    tvlm_tuning_info info;
    int32_t count = 0;
    const tvlm_tuned_stage *const stages = tvlm_tuning_stages(tuning, &count);
    TOOL_TRY(tool_status(tool, tvlm_device_get_info(device, &about)));
    TOOL_TRY(tool_status(tool, tvlm_tuning_get_info(tuning, &info)));
    if (common->json > 0) return print_tuning(tool, &about, stages, count, &info);
    print_stages(&about, stages, count, &info);
    return TOOL_DONE;
}

/* Tunes the device that the options name, and prints what was found. */
static int tune_run(struct tool *tool, const tool_common *common, const tune_options *options) {
    const struct tvlm_tune_params params = {.seconds =
                                                options->seconds.given ? (float)options->seconds.value : 0.0f,
                                            .keep_storage = common->storage.value != TVLM_STORAGE_AUTO,
                                            .progress = show_progress};
    tvlm_device *device = NULL;
    tvlm_tuning *tuning = NULL;
    tool->printed = true; /* so that --fallback does not begin anew: the settings are of one device */
    tool->untuned = true;
    int code = tool_open_device(tool, common, &device);
    if (code == TOOL_DONE) {
        progress_start("tuning", 100);
        code = tool_status(tool, tvlm_device_tune(device, &params, &tuning));
        progress_clear();
    }
    if (code == TOOL_DONE) code = report(tool, common, device, tuning);
    tvlm_tuning_destroy(&tuning);
    tvlm_device_destroy(&device);
    return code;
}

/* ---- The devices ---- */

typedef struct devices_options {
    tool_common common;
    tune_options tuning;
} devices_options;

static const option_group groups[] = {{&tune_specs, offsetof(devices_options, tuning)}, {0}};

/* A device of the machine, whether it could be opened or not. */
typedef struct found_device {
    tvlm_device_info info;
    bool opened;
    char error[1024]; /* why it could not be opened */
} found_device;

static const char *type_name(tvlm_device_type type) {
    switch (type) {
    case TVLM_DEVICE_GPU: return "gpu";
    case TVLM_DEVICE_CPU: return "cpu";
    case TVLM_DEVICE_OTHER: return "other";
    case TVLM_DEVICE_REFERENCE: return "reference";
    }
    return "unknown";
}

static void keep_first(void *user, tvlm_log_level level, const char *message) {
    found_device *const found = user;
    if (level == TVLM_LOG_ERROR && found->error[0] == '\0')
        snprintf(found->error, sizeof found->error, "%s", message);
}

static void open_one(const char *name, tvlm_storage storage, bool fallback, found_device *found) {
    const tvlm_log log = {keep_first, found};
    tvlm_device *device = NULL;
    const tvlm_status status =
        tvlm_device_open(tvlm_device_params(.name = name, .storage = storage, .test_all = true,
                                            .fallback = fallback, .log = &log),
                         &device);
    found->opened = status == TVLM_OK;
    if (found->opened)
        (void)tvlm_device_get_info(device, &found->info);
    else if (found->error[0] == '\0')
        snprintf(found->error, sizeof found->error, "%s", tvlm_status_string(status));
    tvlm_device_destroy(&device);
}

static double gibibytes(uint64_t bytes) {
    return (double)bytes / (1024.0 * 1024.0 * 1024.0);
}

static void print_self_tests(const tvlm_device_info *info) {
    int passed = 0;
    for (int32_t i = 0; i < info->self_test_count; ++i) passed += info->self_tests[i].passed;
    if (info->self_test_count == 0) {
        printf("   self-test  none needed\n");
        return;
    }
    printf("   self-test  %d of %d passed\n", passed, info->self_test_count);
    for (int32_t i = 0; i < info->self_test_count; ++i) {
        const tvlm_self_test *const test = &info->self_tests[i];
        printf("     %s  %-22s %s\n", test->passed ? "pass" : "FAIL", test->name, test->detail);
    }
}

static void print_device(const found_device *found) {
    const tvlm_device_info *const info = &found->info;
    printf("%d: %s (%s)\n", info->index, info->name, type_name(info->type));
    if (info->type != TVLM_DEVICE_REFERENCE) {
        printf("   platform   %s\n   driver     %s, %s\n", info->platform, info->driver, info->version);
        printf("   memory     %.1f GiB, one allocation up to %.1f GiB; local %.0f KiB; %d compute units\n",
               gibibytes(info->memory_bytes), gibibytes(info->allocation_max),
               (double)info->local_bytes / 1024.0, info->compute_units);
        if (info->images)
            printf("   images     up to %d x %d, %d slices; cl_khr_mipmap_image: %s\n", info->image_width_max,
                   info->image_height_max, info->image_slices_max, info->mipmap_extension ? "yes" : "no");
        else
            printf("   images     none that can be used\n");
    }
    if (!found->opened) {
        printf("   NOT USABLE %s\n", found->error);
        return;
    }
    printf("   storage    %s: %s\n", tvlm_storage_name(info->storage), info->storage_reason);
    print_self_tests(info);
}

static void write_device(json_writer *json, const found_device *found) {
    const tvlm_device_info *const info = &found->info;
    json_open_object(json, NULL, false);
    json_integer(json, "index", info->index);
    json_string(json, "name", info->name);
    json_string(json, "platform", info->platform);
    json_string(json, "driver", info->driver);
    json_string(json, "version", info->version);
    json_string(json, "type", type_name(info->type));
    json_boolean(json, "usable", found->opened);
    if (found->opened) {
        json_string(json, "storage", tvlm_storage_name(info->storage));
        json_string(json, "storage_reason", info->storage_reason);
    } else {
        json_string(json, "storage", NULL);
        json_string(json, "error", found->error);
    }
    json_integer(json, "memory_bytes", (int64_t)info->memory_bytes);
    json_integer(json, "allocation_max_bytes", (int64_t)info->allocation_max);
    json_integer(json, "local_bytes", (int64_t)info->local_bytes);
    json_integer(json, "compute_units", info->compute_units);
    json_boolean(json, "images", info->images);
    json_boolean(json, "mipmap_extension", info->mipmap_extension);
    json_integers(json, "image_limits", 3,
                  (const int64_t[]){info->image_width_max, info->image_height_max, info->image_slices_max});
    json_open_array(json, "self_tests", false);
    for (int32_t i = 0; i < info->self_test_count; ++i) {
        json_open_object(json, NULL, true);
        json_string(json, "name", info->self_tests[i].name);
        json_boolean(json, "passed", info->self_tests[i].passed);
        json_string(json, "detail", info->self_tests[i].detail);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static int print_json(struct tool *tool, const found_device *found, int32_t count) {
    json_writer json = {0};
    json_open_object(&json, NULL, false);
    json_open_array(&json, "devices", false);
    for (int32_t i = 0; i < count; ++i) write_device(&json, &found[i]);
    json_close(&json);
    decoders_write(&json);
    return tool_print_json(tool, &json);
}

/* Finds all devices of the machine. The caller frees *found. */
static int find_all(struct tool *tool, tvlm_storage storage, found_device **found, int32_t *count) {
    tvlm_device_info *infos = NULL;
    int32_t capacity = 0;
    int code = tool_status(tool, tvlm_device_list(0, NULL, &capacity));
    if (code != TOOL_DONE) return code;
    infos = calloc((size_t)capacity, sizeof *infos);
    *found = calloc((size_t)capacity, sizeof **found);
    if (infos == NULL || *found == NULL) {
        code = tool_fail(tool, "no memory");
        goto end;
    }
    code = tool_status(tool, tvlm_device_list(capacity, infos, count));
    if (code != TOOL_DONE) goto end;
    if (*count > capacity) *count = capacity;
    for (int32_t i = 0; i < *count; ++i) {
        char name[16];
        (*found)[i].info = infos[i];
        snprintf(name, sizeof name, "%d", infos[i].index);
        open_one(infos[i].type == TVLM_DEVICE_REFERENCE ? "reference" : name, storage, false, &(*found)[i]);
        (*found)[i].info.index = infos[i].index;
    }
end:
    free(infos);
    return code;
}

static int find_named(struct tool *tool, const tool_common *common, found_device **found, int32_t *count) {
    *found = calloc(1, sizeof **found);
    if (*found == NULL) return tool_fail(tool, "no memory");
    open_one(common->device, (tvlm_storage)common->storage.value, common->fallback > 0, *found);
    *count = 1;
    tvlm_device_info *const info = &(*found)->info;
    int32_t devices;
    if (info->type == TVLM_DEVICE_REFERENCE && tvlm_device_list(0, NULL, &devices) == TVLM_OK)
        info->index = devices - 1;
    return (*found)->opened ? TOOL_DONE : tool_fail(tool, "%s", (*found)->error);
}

/* Prints why there is no OpenCL device, and what to do about it. The library knows both. */
static void say_why_none(const struct tool *tool) {
    found_device none = {0};
    open_one("", TVLM_STORAGE_AUTO, false, &none);
    if (!none.opened)
        tvlm_log_message(&tool->log, TVLM_LOG_WARNING,
                         "%s (Debian: pocl-opencl-icd for any CPU, intel-opencl-icd, mesa-opencl-icd or "
                         "nvidia-opencl-icd for a GPU)",
                         none.error);
}

static int run_devices(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const devices_options *const options = values;
    const tool_common *const common = &options->common;
    found_device *found = NULL;
    int32_t count = 0;
    (void)operand_count;
    (void)operands;
    if (options->tuning.tune > 0) return tune_run(tool, common, &options->tuning);
    if (options->tuning.seconds.given) return tool_usage(tool, "--seconds is for --tune");
    int code = common->device != NULL ? find_named(tool, common, &found, &count)
                                      : find_all(tool, (tvlm_storage)common->storage.value, &found, &count);
    if (code == TOOL_DONE) {
        if (common->json > 0) {
            code = print_json(tool, found, count);
        } else {
            for (int32_t i = 0; i < count; ++i) print_device(&found[i]);
            decoders_print();
        }
        if (common->device == NULL && count == 1) say_why_none(tool);
    }
    free(found);
    return code;
}

const tool_command devices_command = {
    .name = "devices",
    .summary = "the devices, what their self-tests found, and which storage each would use; --tune",
    .operands = "",
    .details =
        "Opens every device and shows one that does not open with the reason; --device shows that one only. The last\n"
        "line says which libraries decode pictures.\n"
        "--tune tries sizes of work-groups, pixels for a work-item, levels for a launch, methods for the largest\n"
        "scores, and the storage, for each stage, at 512, 1024 and 2560 pixels, in about a minute. What is faster by\n"
        "more than the noise is kept in a file beside compiled programs, and used from then on by every command on the\n"
        "same device and driver; removing the file, or tuning again, takes it back. Results do not depend on it. With\n"
        "--storage no other storage is tried. Leave the machine to it meanwhile.\n",
    .options = groups,
    .options_size = sizeof(devices_options),
    .run = run_devices,
};
