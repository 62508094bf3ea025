/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c: how much of the device's memory a stack takes, and the largest size for which there is enough.
 * Bytes are doubles here: they are estimates, and a double does not overflow even for sides of 2^31.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/learned.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/texel.h"
#include "core/try.h"
#include "platform/memory.h"
#include "stack/bytes.h"
#include "stack/limits.h"
#include "stack/network.h"
#include "stack/ragged.h"

/* The share of the memory that stacks may take. A driver, its compiler and the host need some memory, too. */
#define SHARE 0.875

/* The reference's working memory as a multiple of a device's: it works in doubles, and keeps all its
 * steps. */
#define REFERENCE_WORK 3.0

/* The part of a family's working memory, in bytes, that does not grow with the image: sums of groups, lists,
 * and the rounding up of levels' sides. */
#define WORK_FIXED 4096.0

/* The levels of grids of up to this size are made for several grids at once. */
#define SMALL_TEXELS (128.0 * 128.0)

/* The bytes of a pixel of a resampled image: r, g and b as floats. */
#define RESAMPLED_BYTES 12.0

/* ---- How much there is ---- */

/* Whether the device's memory is the host's. */
static bool shares_memory(const tvlm_device *device) {
    return device->info.type == TVLM_DEVICE_CPU || device->info.type == TVLM_DEVICE_REFERENCE;
}

/* Memory that the device holds already counts as free, so that the size of a stack does not depend on which
 * stacks were created before it. */
double tvlm_stack_memory(const tvlm_device *device) {
    const uint64_t told = device->info.memory_bytes;
    double memory = told > 0 ? (double)told : INFINITY;
    if (shares_memory(device)) memory = fmin(memory, (double)tvlm_host_room() + (double)device->held);
    return SHARE * memory;
}

/* ---- How much is needed ---- */

/* Turns the sides of an image into those of a grid. They become 0 if they are not known before the grid is
 * handed in. */
static void sides_of(const tvlm_grid_info *info, int32_t *width, int32_t *height) {
    switch (info->size) {
    case TVLM_SIZE_IMAGE: return;
    case TVLM_SIZE_HALF: *width = tvlm_level_side(*width, 1), *height = tvlm_level_side(*height, 1); return;
    case TVLM_SIZE_QUARTER:
        *width = tvlm_level_side(*width, 2), *height = tvlm_level_side(*height, 2);
        return;
    case TVLM_SIZE_CELLS:
        *width = (*width - 1) / TVLM_CELL + 1, *height = (*height - 1) / TVLM_CELL + 1;
        return;
    default: *width = *height = 0; return;
    }
}

static tvlm_format format_of(const tvlm_stack_demand *demand, tvlm_range range) {
    return tvlm_texture_format(&(tvlm_texture){.format = demand->format, .range = range});
}

/* Returns the bytes of a texel of four components. The reference keeps floats, whose values it rounds as the
 * format says. */
static double texel_bytes(const tvlm_stack_demand *demand, tvlm_range range) {
    if (demand->device->info.type == TVLM_DEVICE_REFERENCE) return 16.0;
    return 4.0 * (double)tvlm_component_bytes(format_of(demand, range));
}

/* Returns how much of a texel of four components the texels of a grid take: a quarter if they are stored as
 * one component. */
static double components_share(const tvlm_stack_demand *demand, const tvlm_grid_info *info,
                               tvlm_range range) {
    const bool scalar = tvlm_grid_is_scalar(demand->device, info);
    return scalar && demand->device->stores_scalar[format_of(demand, range)] ? 0.25 : 1.0;
}

/* Returns the texels of one layer of a grid with its levels. Where textures are images, the levels from 1 on
 * are in a second array, which is larger than its content: the levels from 2 on stand in a column there. */
static double texels_of(const tvlm_stack_demand *demand, int32_t width, int32_t height) {
    const int32_t levels = tvlm_level_count(width, height);
    double texels = 0.0;
    if (demand->device->info.storage == TVLM_STORAGE_IMAGE && levels > 1) {
        const double across = (double)tvlm_level_side(width, 1) + (double)tvlm_level_side(width, 2);
        return (double)width * height + across * ((double)tvlm_level_side(height, 1) + levels);
    }
    for (int32_t level = 0; level < levels; ++level)
        texels += (double)tvlm_level_side(width, level) * (double)tvlm_level_side(height, level);
    return texels;
}

/* Returns the bytes of all textures and of the working memory that making them takes, for all images. */
static double textures_bytes(const tvlm_stack_demand *demand, int32_t width, int32_t height) {
    const bool reference = demand->device->info.type == TVLM_DEVICE_REFERENCE;
    const double pixels = (double)width * (double)height;
    double bytes = 0.0, work = 0.0, levels = 0.0, small = 0.0;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        if ((demand->grids & TVLM_GRID_BIT(grid)) == 0) continue;
        const tvlm_grid_info *const info = tvlm_grid_get_info((tvlm_grid)grid);
        int32_t columns = width, rows = height;
        sides_of(info, &columns, &rows);
        if (columns == 0) continue;
        const tvlm_range range = tvlm_learned_range(&demand->learned, (tvlm_grid)grid);
        const double share = components_share(demand, info, range),
                     layers = texel_bytes(demand, range) * info->layers;
        bytes += texels_of(demand, columns, rows) * layers * share;
        work += pixels * (double)info->work * (reference ? REFERENCE_WORK : 1.0) + WORK_FIXED;
        /* Where textures are images, the levels of all grids are made in one scratch buffer. Large grids are
         * done one at a time, so that the largest one counts; small grids are done several at once, so that
         * their sum counts (lib/opencl/mips.c). */
        levels = fmax(levels, (double)columns * (double)rows * layers / 2.0);
        small += fmin((double)columns * (double)rows, SMALL_TEXELS) * layers / 2.0;
    }
    if (demand->device->info.storage != TVLM_STORAGE_BUFFER) bytes += levels + small;
    return demand->images * (bytes + work);
}

/* Returns the bytes of the network's inputs, of its outputs with their levels, and of what running it takes,
 * for all images. */
static double network_bytes(const tvlm_stack_demand *demand, int32_t width, int32_t height) {
    const tvlm_learned *const learned = &demand->learned;
    if (demand->network == NULL || (demand->grids & TVLM_GRID_BIT(TVLM_GRID_LEARNED)) == 0) return 0.0;
    const tvlm_learned_size size =
        tvlm_learned_size_of(learned, width, height, tvlm_level_count(width, height));
    /* The inputs are packed from their grids into a texture that has no range. */
    const double inputs = (double)size.input_width * size.input_height * ((learned->input_count + 3) / 4) *
                          texel_bytes(demand, TVLM_RANGE_ANY);
    const double outputs = texels_of(demand, size.width, size.height) * ((learned->output_count + 3) / 4) *
                           texel_bytes(demand, tvlm_learned_range(learned, TVLM_GRID_LEARNED));
    const bool reference = demand->device->info.type == TVLM_DEVICE_REFERENCE;
    const double work = tvlm_networks.work(demand->network, &size, demand->images, reference);
    return demand->images * (inputs + outputs) + work + WORK_FIXED;
}

double tvlm_stack_bytes_of(const tvlm_stack_demand *demand, int32_t width, int32_t height) {
    const double pixels = (double)width * (double)height,
                 textures = textures_bytes(demand, width, height) + network_bytes(demand, width, height);
    if (demand->pixel_bytes > 0 && width == demand->width && height == demand->height)
        return textures + pixels * demand->pixel_bytes;
    const double resampled = pixels * RESAMPLED_BYTES, all = textures + resampled;
    if (!shares_memory(demand->device)) return all;
    /* Here the device's memory is the host's. While the resampled pixels are copied to the device, they exist
     * twice; the only texture at that time is the source. */
    return fmax(all,
                texels_of(demand, width, height) * texel_bytes(demand, TVLM_RANGE_UNIT) + 2.0 * resampled);
}

/* ---- The largest size ---- */

/* Returns what `side` becomes when the longer side of an image shrinks from `full` to `length`. */
static int32_t shrunk(int32_t side, int32_t full, int32_t length) {
    const int64_t rounded = ((int64_t)side * length + full / 2) / full;
    return rounded > 1 ? (int32_t)rounded : 1;
}

typedef bool fits_function(const tvlm_stack_demand *demand, int32_t width, int32_t height);

static bool side_fits(const tvlm_stack_demand *demand, int32_t width, int32_t height) {
    return demand->max_side == 0 || (width <= demand->max_side && height <= demand->max_side);
}

static bool image_fits(const tvlm_stack_demand *demand, int32_t width, int32_t height) {
    return tvlm_stack_size_fits(demand->device, width, height, demand->format);
}

static bool memory_fits(const tvlm_stack_demand *demand, int32_t width, int32_t height) {
    return tvlm_stack_bytes_of(demand, width, height) <= demand->memory;
}

/* Finds the largest size that fits by bisecting the length of the longer side. 1 x 1 counts as fitting.
 * Returns whether the size became smaller. */
static bool shrink(const tvlm_stack_demand *demand, fits_function *fits, int32_t *width, int32_t *height) {
    const int32_t w = *width, h = *height, full = w > h ? w : h;
    int32_t most = 1, beyond = full;
    if (fits(demand, w, h)) return false;
    while (beyond - most > 1) {
        const int32_t middle = most + (beyond - most) / 2;
        if (fits(demand, shrunk(w, full, middle), shrunk(h, full, middle)))
            most = middle;
        else
            beyond = middle;
    }
    *width = shrunk(w, full, most);
    *height = shrunk(h, full, most);
    return true;
}

tvlm_stack_bound tvlm_stack_largest(const tvlm_stack_demand *demand, int32_t *width, int32_t *height) {
    static fits_function *const bounds[] = {NULL, side_fits, image_fits, memory_fits};
    const int32_t w = *width, h = *height;
    int bound = TVLM_BOUND_NONE;
    for (int i = TVLM_BOUND_SIDE; i <= TVLM_BOUND_MEMORY; ++i) {
        int32_t smaller_w = w, smaller_h = h; /* from the image's own sides, so that its shape is kept */
        if (!shrink(demand, bounds[i], &smaller_w, &smaller_h)) continue;
        if (smaller_w > *width || smaller_h > *height || (smaller_w == *width && smaller_h == *height))
            continue;
        *width = smaller_w;
        *height = smaller_h;
        bound = i;
    }
    return (tvlm_stack_bound)bound;
}

/* ---- What parameters demand ---- */

static tvlm_status find_grids(const tvlm_log *log, const char *layout, const tvlm_learned *network,
                              tvlm_grid_mask *grids) {
    int32_t count = 0;
    TVLM_TRY(tvlm_learned_parse(network, layout, log, 0, NULL, &count));
    int32_t *const channels = tvlm_allocate((size_t)count, sizeof *channels);
    if (channels == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a list of channels");
    const tvlm_status status = tvlm_learned_parse(network, layout, log, count, channels, &count);
    *grids = TVLM_GRID_BIT(TVLM_GRID_SOURCE);
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i) {
        const tvlm_grid grid = tvlm_channel_get_place(channels[i]).grid;
        if (grid < TVLM_GRID_COUNT) *grids |= TVLM_GRID_BIT(grid);
    }
    const bool learned = (*grids & TVLM_GRID_BIT(TVLM_GRID_LEARNED)) != 0;
    for (int32_t i = 0; learned && i < network->input_count; ++i) {
        const tvlm_grid grid = tvlm_channel_get_place(network->inputs[i]).grid;
        if (grid < TVLM_GRID_COUNT) *grids |= TVLM_GRID_BIT(grid);
    }
    *grids = tvlm_grids_with_needs(*grids);
    free(channels);
    return status;
}

tvlm_status tvlm_stack_demand_of(tvlm_device *device, const struct tvlm_stack_params *params,
                                 tvlm_stack_demand *demand) {
    const tvlm_log *const log = &device->log;
    const uint64_t most = params->memory_max;
    TVLM_TRY(tvlm_stack_check_options(log, params));
    *demand = (tvlm_stack_demand){.device = device,
                                  .format = tvlm_stack_format(device, params->format),
                                  .images = params->images > 0 ? params->images : 1,
                                  .max_side = params->max_side,
                                  .memory = most > 0 ? (double)most : tvlm_stack_memory(device)};
    demand->network = params->network;
    if (demand->format == TVLM_FORMAT_U8) TVLM_TRY(device->backend->ask_bytes(device));
    TVLM_TRY(tvlm_learned_check(demand->network, log));
    if (demand->network != NULL) demand->learned = tvlm_networks.describe(demand->network);
    return find_grids(log, params->layout != NULL ? params->layout : TVLM_LAYOUT_DEFAULT, &demand->learned,
                      &demand->grids);
}

static tvlm_status demand_of_any(tvlm_device *device, const struct tvlm_stack_params *params,
                                 tvlm_stack_demand *demand) {
    static const struct tvlm_stack_params none = {0};
    TVLM_CHECK_RESERVED(&device->log, tvlm_stack_params, params);
    return tvlm_stack_demand_of(device, params != NULL ? params : &none, demand);
}

static tvlm_status check_sides(const tvlm_log *log, int32_t width, int32_t height) {
    if (width >= 1 && height >= 1) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a stack of %dx%d pixels", (int)width, (int)height);
}

/* ---- texturevlm/stack.h ---- */

tvlm_status tvlm_stack_need(tvlm_device *device, const struct tvlm_stack_params *params, uint64_t *bytes) {
    tvlm_stack_demand demand;
    struct tvlm_stack_params largest;
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, bytes);
    if (params != NULL && params->sizes != NULL) {
        largest = *params;
        TVLM_TRY(tvlm_stack_check_sizes(device, &largest));
        params = &largest;
    }
    TVLM_TRY(demand_of_any(device, params, &demand));
    int32_t width = params != NULL ? params->width : 0, height = params != NULL ? params->height : 0;
    if (width == 0 && height == 0) width = height = tvlm_layout_side(params != NULL ? params->layout : NULL);
    TVLM_TRY(check_sides(&device->log, width, height));
    const double needed = ceil(tvlm_stack_bytes_of(&demand, width, height));
    *bytes = needed < 0x1p63 ? (uint64_t)needed : UINT64_MAX;
    return TVLM_OK;
}

tvlm_status tvlm_stack_largest_size(tvlm_device *device, const struct tvlm_stack_params *params,
                                    int32_t *width, int32_t *height) {
    tvlm_stack_demand demand;
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, width);
    TVLM_NEED(&device->log, height);
    TVLM_TRY(check_sides(&device->log, *width, *height));
    TVLM_TRY(demand_of_any(device, params, &demand));
    (void)tvlm_stack_largest(&demand, width, height);
    return TVLM_OK;
}
