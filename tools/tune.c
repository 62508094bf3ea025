/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm devices --tune: finds the settings that are the fastest on a device, and keeps them (texturevlm/device.h).
 */
#include "tune.h"

#include <stdio.h>

#include "json.h"
#include "progress.h"
#include "signals.h"
#include "tool.h"

static const option_spec specs[] = {
    {0, OPTION_FLAG, "tune", offsetof(tune_options, tune), NULL,
     "finds the settings that are the fastest on this device, and keeps them", 0, 0, NULL},
    {0, OPTION_NUMBER, "seconds", offsetof(tune_options, seconds), "S",
     "how long settings are tried (default: 60)", 0.1, 3600, NULL},
};
const option_specs tune_specs = OPTION_SPECS("Tuning", specs);

/* ---- Progress ---- */

static bool show(void *user, float share, const char *stage) {
    (void)user;
    (void)stage;
    progress_step((int64_t)(100.0f * share));
    return true;
}

/* ---- The report ---- */

static double gain_of(const tvlm_tuned_stage *stage) {
    return stage->after > 0.0 ? stage->before / stage->after : 1.0;
}

static void print_report(const tvlm_device_info *device, const tvlm_tuned_stage *stages, int32_t count,
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

static int print_json(struct tool *tool, const tvlm_device_info *device, const tvlm_tuned_stage *stages,
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
    json_close(&json);
    const int code = tool_print(tool, json_text_of(&json));
    json_release(&json);
    return code;
}

static int report(struct tool *tool, const tool_common *common, tvlm_device *device,
                  const tvlm_tuning *tuning) {
    tvlm_device_info about;
    tvlm_tuning_info info;
    int32_t count = 0;
    const tvlm_tuned_stage *const stages = tvlm_tuning_stages(tuning, &count);
    int code = tool_status(tool, tvlm_device_get_info(device, &about));
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_tuning_get_info(tuning, &info));
    if (code != TOOL_DONE) return code;
    if (common->json > 0) return print_json(tool, &about, stages, count, &info);
    print_report(&about, stages, count, &info);
    return TOOL_DONE;
}

int tune_run(struct tool *tool, const tool_common *common, const tune_options *options) {
    const struct tvlm_tune_params params = {.seconds =
                                                options->seconds.given ? (float)options->seconds.value : 0.0f,
                                            .keep_storage = common->storage.value != TVLM_STORAGE_AUTO,
                                            .progress = show};
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
