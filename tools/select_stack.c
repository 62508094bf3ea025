/* SPDX-License-Identifier: Apache-2.0 */
#include "select.h"

#include <string.h>

#include "shared.h"

#define SIDE_MAX 16777216.0

/* An image with shorter sides than this is not the reason why memory is too small, so it is not tried in a
 * smaller size. */
#define SIDE_WORTHWHILE 128

static const option_spec specs[] = {
    {0, OPTION_SIZE, "size", offsetof(stack_options, size), "WxH|N",
     "the size at which every image is worked on (default: its own, or what fits the device)", 1, SIDE_MAX,
     NULL},
    {0, OPTION_INTEGER, "max-side", offsetof(stack_options, max_side), "PIXELS", MAX_SIDE_HELP, 1, SIDE_MAX,
     NULL},
};
const option_specs stack_specs = OPTION_SPECS("The image", specs);

static const option_spec makers[] = {
    {0, OPTION_INPUT, "network", offsetof(stack_options, network), "FILE.safetensors",
     "makes learned_0 and on, where a --scorer, an --emphasis or patch-channels read them", NO_RANGE, NULL},
    {0, OPTION_INPUT, "codec", offsetof(stack_options, codec), "C.safetensors",
     "the --scorer reads the codes of this codec in place of its channels (tvlm-lab compress)", NO_RANGE,
     NULL},
};
const option_specs stack_makers = OPTION_SPECS("Where to look", makers);

static const option_spec further[] = {
    {0, OPTION_NUMBER, "cache-bytes", offsetof(stack_options, cache_bytes), "BYTES",
     "of device memory for images that are named more than once (default: half of the device's)", 1, 1e18,
     NULL},
};
const option_specs stack_settings = OPTION_SETTINGS("Many images", further);

/* Opens the device, with the first image: a wrong path is then an error before a device is looked for. */
static int open_device(stack_source *source) {
    return source->device != NULL ? TOOL_DONE
                                  : tool_open_device(source->tool, source->common, &source->device);
}

static int open_session(stack_source *source) {
    const struct tvlm_session_params params = {.cache_bytes = (size_t)source->options->cache_bytes.value};
    if (source->session != NULL) return TOOL_DONE;
    return tool_status(source->tool, tvlm_session_create(source->device, &params, &source->session));
}

/* Takes the size of --size, or the largest size of that shape that the device can hold. */
static int take_size(const stack_source *source, struct tvlm_stack_params *params) {
    const option_size *const size = &source->options->size;
    int32_t width = size->width, height = size->height;
    const int code =
        tool_status(source->tool, tvlm_stack_largest_size(source->device, params, &width, &height));
    if (code == TOOL_DONE && (width != size->width || height != size->height))
        tvlm_log_message(&source->tool->log, TVLM_LOG_WARNING,
                         "--size %dx%d is more than this device can hold: %dx%d is the largest of its shape",
                         size->width, size->height, width, height);
    params->width = width;
    params->height = height;
    return code;
}

static int choose_size(const stack_source *source, const image_stack *found,
                       struct tvlm_stack_params *params) {
    params->width = found->width;
    params->height = found->height;
    if (found->width > 0) return TOOL_DONE;
    if (source->options->size.given) return take_size(source, params);
    params->max_side = source->options->max_side.value;
    return TOOL_DONE;
}

/* ---- Stacks that stay ---- */

/* How much of the device's memory may be taken by stacks that only wait for an image of their size. */
#define WAITING_BYTES ((size_t)256 << 20)

static void release_place(stack_place *place) {
    tvlm_stack_destroy(&place->stack);
    *place = (stack_place){0};
}

/* Releases all stacks that stay. Returns whether there were any. */
static bool release_places(stack_source *source) {
    bool any = false;
    for (int i = 0; i < STACK_PLACES; ++i) {
        any = any || source->places[i].stack != NULL;
        release_place(&source->places[i]);
    }
    return any;
}

static bool fits(const stack_place *place, const tvlm_image *image) {
    const tvlm_image *const shape = &place->shape;
    return place->stack != NULL && shape->width == image->width && shape->height == image->height &&
           shape->channels == image->channels && shape->type == image->type;
}

/* Finds the stack that has the image's pixels, or else a free stack of the image's size. NULL: there is
 * neither. */
static stack_place *find_place(stack_source *source, const tvlm_image *image) {
    stack_place *found = NULL;
    for (int i = 0; i < STACK_PLACES; ++i) {
        stack_place *const place = &source->places[i];
        if (place->stack != NULL && place->sent == image) return place;
        if (place->sent == NULL && fits(place, image)) found = place;
    }
    return found;
}

/* Makes room for a stack: a place and memory. There always is a place, since at most one image is on its way.
 * */
static stack_place *free_place(stack_source *source) {
    for (;;) {
        stack_place *empty = NULL, *oldest = NULL;
        size_t bytes = 0;
        for (int i = 0; i < STACK_PLACES; ++i) {
            stack_place *const place = &source->places[i];
            if (place->stack == NULL) empty = place;
            if (place->stack == NULL || place->sent != NULL) continue;
            bytes += tvlm_stack_bytes(place->stack);
            if (oldest == NULL || place->used < oldest->used) oldest = place;
        }
        if (oldest == NULL || (empty != NULL && bytes <= WAITING_BYTES)) return empty;
        release_place(oldest);
    }
}

static int make_place(stack_source *source, const tvlm_image *image, const struct tvlm_stack_params *params,
                      image_stack *found) {
    stack_place *const place = free_place(source);
    const int code =
        tool_status(source->tool, tvlm_stack_create_for_image(source->device, image, params, &place->stack));
    place->shape = *image;
    found->place = code == TOOL_DONE ? place : NULL;
    return code;
}

static int take_place(stack_source *source, const tvlm_image *image, const struct tvlm_stack_params *params,
                      image_stack *found) {
    stack_place *const place = find_place(source, image);
    int code;
    if (place == NULL) {
        code = make_place(source, image, params, found);
    } else {
        code = tool_status(source->tool,
                           tvlm_stack_set_image(place->stack, 0, place->sent == image ? NULL : image));
        found->place = place;
    }
    if (found->place == NULL) return code;
    found->place->sent = NULL;
    found->place->used = ++source->uses;
    found->stack = found->place->stack;
    return code;
}

tvlm_status stack_send(stack_source *source, const tvlm_image *image) {
    stack_place *const place = source->reuse ? find_place(source, image) : NULL;
    if (place == NULL || place->sent != NULL || tvlm_stack_bytes(place->stack) > WAITING_BYTES / 2)
        return TVLM_OK;
    const tvlm_status status = tvlm_stack_send_image(place->stack, 0, image);
    if (status == TVLM_OK) place->sent = image;
    return status;
}

/* ---- One image ---- */

int stack_find(stack_source *source, const char *path, const tvlm_image *image, const char *layout,
               const char *key, image_stack *found) {
    struct tvlm_stack_params params = {.layout = layout,
                                       .format = (tvlm_format)source->common->format.value,
                                       .clusters = source->clusters,
                                       .network = source->network};
    struct tool *const tool = source->tool;
    bool hit = false;
    const bool reuse = source->reuse && found->width == 0;
    found->kept = !source->reuse && files_named(tool, path) > 1;
    int code = open_device(source);
    if (code == TOOL_DONE) code = choose_size(source, found, &params);
    if (code == TOOL_DONE && found->kept) code = open_session(source);
    if (code == TOOL_DONE && reuse)
        code = take_place(source, image, &params, found);
    else if (code == TOOL_DONE)
        code = tool_status(
            tool, found->kept ? tvlm_session_stack(source->session, image, &params, key, strlen(key),
                                                   &found->stack, &hit)
                              : tvlm_stack_create_for_image(source->device, image, &params, &found->stack));
    found->new = !hit;
    return code == TOOL_DONE ? rope_set(tool, &source->options->rope, found->stack) : code;
}

void stack_done(stack_source *source, image_stack *used, bool failed) {
    if (used->place != NULL && failed) release_place(used->place);
    if (used->place == NULL && !used->kept) tvlm_stack_destroy(&used->stack);
    used->stack = NULL;
    used->place = NULL;
    tvlm_session_trim(source->session);
}

void stack_source_release(stack_source *source) {
    (void)release_places(source);
    tvlm_session_destroy(&source->session);
    if (!source->lent) tvlm_device_destroy(&source->device);
}

bool stack_try_smaller(stack_source *source, const char *path, const tvlm_image *image, image_stack *used) {
    tvlm_stack_info info = {.width = used->width > 0 ? used->width : image->width,
                            .height = used->height > 0 ? used->height : image->height};
    if (used->stack != NULL) (void)tvlm_stack_get_info(used->stack, &info);
    if (source->device == NULL || (info.width < SIDE_WORTHWHILE && info.height < SIDE_WORTHWHILE) ||
        !tool_lacked_memory(source->tool))
        return false;
    stack_done(source, used, true);
    const bool others = release_places(source);
    stack_source_release(source);
    if (others) return true; /* the other stacks had taken the memory */
    used->width = info.width > 1 ? info.width / 2 : 1;
    used->height = info.height > 1 ? info.height / 2 : 1;
    tvlm_log_message(&source->tool->log, TVLM_LOG_WARNING, "%s: no memory for %dx%d; worked on at %dx%d",
                     path, (int)info.width, (int)info.height, (int)used->width, (int)used->height);
    return true;
}

void stack_say_kept(const stack_source *source) {
    tvlm_session_info info;
    if (source->session == NULL || tvlm_session_get_info(source->session, &info) != TVLM_OK) return;
    tvlm_log_message(
        &source->tool->log, TVLM_LOG_INFO,
        "session: %lld hits, %lld misses, %lld evictions; %d stacks of %zu bytes kept, at most %zu",
        (long long)info.hits, (long long)info.misses, (long long)info.evictions, (int)info.stacks, info.bytes,
        info.cache_bytes);
}
