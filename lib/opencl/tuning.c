/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuning.c: what may be tuned: which members of the table belong together, which values they may have, and
 * which stages read them. A setting that is not listed here is never used, whatever a file says;
 * tests/test_tune.c runs each.
 */
#include "opencl/tuning.h"

#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"

opencl_tuning tvlm_opencl_tuning_default(bool gpu) {
#define OPENCL_OF_GPU(name, of_gpu, of_cpu) .name = (of_gpu),
#define OPENCL_OF_CPU(name, of_gpu, of_cpu) .name = (of_cpu),
    static const opencl_tuning defaults_of_gpu = {OPENCL_TUNING(OPENCL_OF_GPU)},
                               defaults_of_cpu = {OPENCL_TUNING(OPENCL_OF_CPU)};
    return gpu ? defaults_of_gpu : defaults_of_cpu;
#undef OPENCL_OF_GPU
#undef OPENCL_OF_CPU
}

/* ---- Choices ---- */

enum {
    GROUP,
    TILE,
    LIST,
    RUN,
    SCORED,
    SORTED,
    RANKED,
    SELECTED,
    SPAN,
    LEVELS,
    CELLS,
    COSINES,
    PRODUCTS,
    SCAN,
    CHOICES
};

enum { SETTINGS_MAX = 9 };

/*
 * A choice and its settings. The first setting is a GPU's default. The first `gpu` settings are for GPUs
 * alone. The first `brief` settings have work-items that do little each, which any driver runs. Those behind
 * them have long loops, which some drivers end early.
 */
typedef struct choice {
    const char *name;
    int32_t members[OPENCL_CHOICE_VALUES]; /* the members' places in opencl_tuning, from 1 on; 0: no member */
    int32_t count, brief, gpu;
    int32_t settings[SETTINGS_MAX][OPENCL_CHOICE_VALUES];
} choice;

#define AT(member) (int32_t)(1 + offsetof(opencl_tuning, member) / sizeof(int32_t))

static const choice choices[CHOICES] = {
    [GROUP] = {"group",
               {AT(group_width), AT(group_height)},
               7,
               7,
               3,
               {{16, 16}, {32, 8}, {8, 8}, {32, 4}, {64, 4}, {64, 1}, {256, 1}}},
    [TILE] = {"tile",
              {AT(tile_group_width), AT(tile_group_height), AT(tile_width), AT(tile_height)},
              8,
              4,
              4,
              {{16, 16, 16, 16},
               {32, 8, 32, 8},
               {16, 8, 16, 8},
               {16, 16, 32, 16},
               {1, 1, 64, 16},
               {1, 1, 128, 8},
               {1, 1, 32, 32},
               {1, 1, 256, 4}}},
    [LIST] = {"list", {AT(linear_group)}, 4, 4, 0, {{64}, {32}, {128}, {256}}},
    [RUN] = {"run", {AT(run)}, 6, 3, 2, {{1}, {2}, {4}, {8}, {16}, {32}}},
    [SCORED] = {"scored", {AT(score_group)}, 6, 6, 2, {{64}, {128}, {256}, {32}, {16}, {4}}},
    [SORTED] = {"sorted",
                {AT(topk_group), AT(topk_chunk)},
                4,
                4,
                0,
                {{256, 2048}, {128, 1024}, {256, 1024}, {128, 2048}}},
    [RANKED] = {"ranked", {AT(rank_below)}, 4, 4, 0, {{8192}, {0}, {2048}, {16384}}},
    [SELECTED] = {"selected", {AT(select_from)}, 4, 4, 0, {{32768}, {8192}, {131072}, {1 << 20}}},
    [SPAN] = {"span",
              {AT(select_group), AT(select_span)},
              7,
              4,
              4,
              {{256, 8192}, {256, 4096}, {128, 8192}, {256, 32768}, {1, 65536}, {1, 16384}, {1, 262144}}},
    [LEVELS] = {"levels",
                {AT(mips_run), AT(tiled_mips), AT(tail_lanes)},
                6,
                3,
                3,
                {{1, 1, 1024}, {1, 1, 256}, {1, 0, 256}, {16, 0, 256}, {64, 0, 256}, {1024, 0, 256}}},
    [CELLS] = {"cells",
               {AT(cell_lanes), AT(cells)},
               7,
               4,
               4,
               {{16, 4}, {16, 2}, {16, 8}, {8, 8}, {1, 1}, {1, 2}, {1, 4}}},
    [COSINES] = {"cosines",
                 {AT(cosine_width), AT(cosine_height), AT(cosine_lanes)},
                 7,
                 4,
                 4,
                 {{8, 4, 8}, {8, 8, 4}, {16, 4, 4}, {8, 2, 16}, {64, 4, 1}, {32, 4, 1}, {128, 2, 1}}},
    [PRODUCTS] = {"products", {AT(gemm_run)}, 5, 3, 1, {{0}, {4}, {8}, {16}, {32}}},
    [SCAN] = {"scan", {AT(scan_rows)}, 2, 1, 0, {{0}, {1}}},
};

#define BIT(choice) (1u << (choice))
static const uint32_t choices_of[TVLM_TUNED_COUNT] = {
    [TVLM_GRID_VISUAL] = BIT(TILE),
    [TVLM_GRID_SALIENCY] = BIT(GROUP) | BIT(RUN) | BIT(LIST),
    [TVLM_GRID_LAPLACIAN] = BIT(TILE),
    [TVLM_GRID_ENTROPY] = BIT(CELLS),
    [TVLM_GRID_GRADIENT] = BIT(TILE),
    [TVLM_GRID_DISTANCE] = BIT(SCAN) | BIT(RUN) | BIT(GROUP),
    [TVLM_GRID_CLUSTER] = BIT(TILE) | BIT(GROUP),
    [TVLM_GRID_MOTION] = BIT(RUN) | BIT(GROUP),
    [TVLM_GRID_TEMPORAL] = BIT(GROUP),
    [TVLM_GRID_OCCLUSION] = BIT(RUN) | BIT(GROUP),
    [TVLM_GRID_NORMAL] = BIT(RUN) | BIT(GROUP),
    [TVLM_GRID_TEXT] = BIT(RUN) | BIT(GROUP),
    [TVLM_GRID_SHARPNESS] = BIT(CELLS),
    [TVLM_TUNED_SOURCE] = BIT(GROUP),
    [TVLM_TUNED_LEVELS] = BIT(LEVELS) | BIT(GROUP),
    [TVLM_TUNED_PACK] = BIT(RUN) | BIT(GROUP),
    [TVLM_TUNED_SCORE] = BIT(RUN) | BIT(SCORED),
    [TVLM_TUNED_TOPK] = BIT(RANKED) | BIT(SELECTED) | BIT(SPAN) | BIT(SORTED),
    [TVLM_TUNED_PATCHES] = BIT(RUN) | BIT(GROUP),
    [TVLM_TUNED_FEATURES] = BIT(COSINES),
    [TVLM_TUNED_PRODUCTS] = BIT(PRODUCTS),
    [TVLM_TUNED_LOSSES] = BIT(SCAN) | BIT(GROUP),
    [TVLM_TUNED_FLOW] = BIT(TILE) | BIT(GROUP), /* no RUN: with another run sums are added in another order */
    [TVLM_TUNED_EXPORT] = BIT(SCAN) | BIT(GROUP),
};

const char *tvlm_opencl_choice_name(int32_t number) {
    return choices[number].name;
}

/* The value that a tuning has for member `m` of a choice. */
static int32_t *member(opencl_tuning *tuning, const choice *c, int32_t m) {
    return (int32_t *)tuning + c->members[m] - 1;
}

static int32_t members_of(const choice *c) {
    int32_t count = 0;
    while (count < OPENCL_CHOICE_VALUES && c->members[count] != 0) ++count;
    return count;
}

/* ---- The stages of a device ---- */

static bool is_gpu(const opencl_device *device) {
    return device->base.info.type == TVLM_DEVICE_GPU || device->short_loops;
}

/* The first setting that a device may have, and the first one behind those that it may have. */
static int32_t first_of(const opencl_device *device, const choice *c) {
    return is_gpu(device) ? 0 : c->gpu;
}

static int32_t end_of(const opencl_device *device, const choice *c) {
    return device->short_loops ? c->brief : c->count;
}

static int32_t settings(const tvlm_device *base, int32_t stage, int32_t number) {
    const opencl_device *device = (const opencl_device *)base;
    const choice *c = &choices[number];
    if ((choices_of[stage] & BIT(number)) == 0) return 0;
    return end_of(device, c) - first_of(device, c);
}

int32_t tvlm_opencl_choice_values(const tvlm_device *device, int32_t number, int32_t setting,
                                  int32_t values[OPENCL_CHOICE_VALUES]) {
    const choice *c = &choices[number];
    const int32_t first = first_of((const opencl_device *)device, c);
    memcpy(values, c->settings[first + setting], sizeof c->settings[first + setting]);
    return members_of(c);
}

/* Returns the number of the setting that a tuning has. It returns 0 if the tuning has none of the settings;
 * every default has one. */
static int32_t setting_in(const opencl_device *device, opencl_tuning tuning, const choice *c) {
    for (int32_t i = first_of(device, c); i < end_of(device, c); ++i) {
        bool same = true;
        for (int32_t m = 0; m < members_of(c); ++m)
            same = same && *member(&tuning, c, m) == c->settings[i][m];
        if (same) return i - first_of(device, c);
    }
    return 0;
}

int32_t tvlm_opencl_choice_default(const tvlm_device *base, int32_t number) {
    const opencl_device *device = (const opencl_device *)base;
    return setting_in(device, tvlm_opencl_tuning_default(is_gpu(device)), &choices[number]);
}

static int32_t used(const tvlm_device *base, int32_t stage, int32_t size, int32_t number) {
    const opencl_device *device = (const opencl_device *)base;
    return setting_in(device, device->tuned != NULL ? device->tuned->at[stage][size] : device->tuning,
                      &choices[number]);
}

/* Gives each stage at each size a tuning of its own, which begins as the device's tuning. */
static tvlm_status make_tuned(opencl_device *device) {
    if (device->tuned != NULL) return TVLM_OK;
    device->tuned = tvlm_allocate(1, sizeof *device->tuned);
    if (device->tuned == NULL)
        return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "out of memory for what is tuned");
    for (int32_t stage = 0; stage < TVLM_TUNED_COUNT; ++stage)
        for (int32_t size = 0; size < TVLM_TUNED_SIZES; ++size)
            device->tuned->at[stage][size] = device->tuning;
    return TVLM_OK;
}

static tvlm_status use(tvlm_device *base, int32_t stage, int32_t size, int32_t number, int32_t setting) {
    opencl_device *device = (opencl_device *)base;
    const choice *c = &choices[number];
    TVLM_TRY(make_tuned(device));
    for (int32_t m = 0; m < members_of(c); ++m)
        *member(&device->tuned->at[stage][size], c, m) = c->settings[first_of(device, c) + setting][m];
    return TVLM_OK;
}

static void describe(const tvlm_device *base, int32_t number, int32_t setting, char text[TVLM_TUNED_TEXT]) {
    const choice *c = &choices[number];
    const int32_t *values = c->settings[first_of((const opencl_device *)base, c) + setting];
    int length = snprintf(text, TVLM_TUNED_TEXT, "%s", c->name);
    for (int32_t m = 0; m < members_of(c); ++m)
        length += snprintf(text + length, (size_t)(TVLM_TUNED_TEXT - length), " %d", (int)values[m]);
}

static const char *folder(const tvlm_device *base) {
    const opencl_device *device = (const opencl_device *)base;
    return device->tuning_dir == NULL ? "" : device->cache_dir;
}

static void defaults(tvlm_device *base) {
    opencl_device *device = (opencl_device *)base;
    free(device->tuned);
    device->tuned = NULL;
}

const tvlm_tuner tvlm_opencl_tuner = {.choices = CHOICES,
                                      .settings = settings,
                                      .used = used,
                                      .use = use,
                                      .describe = describe,
                                      .folder = folder,
                                      .defaults = defaults,
                                      .load = tvlm_opencl_tuning_load,
                                      .keep = tvlm_opencl_tuning_keep,
                                      .keep_storage = tvlm_opencl_tuning_keep_storage};

/* ---- While a stage runs ---- */

void tvlm_opencl_tuned_begin(tvlm_device *base, int32_t stage, double pixels, opencl_tuned_scope *scope) {
    opencl_device *device = (opencl_device *)base;
    scope->device = device->tuned != NULL ? base : NULL;
    if (device->tuned == NULL) return;
    scope->before = device->tuning;
    device->tuning = device->tuned->at[stage][tvlm_tuned_size(pixels)];
}

void tvlm_opencl_tuned_end(opencl_tuned_scope *scope) {
    if (scope->device != NULL) ((opencl_device *)scope->device)->tuning = scope->before;
}
