/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_regions.c: where a model looks, as regions of interest for encoders of videos.
 */
#include <math.h>
#include <stdlib.h>

#include "texturevlm/io.h"
#include "video_clip.h"

/* How much better what is looked at becomes than the rest, as a share of the quantiser's range. */
#define QUALITY 0.2f

static int32_t within(float at, int32_t most) {
    const float whole = roundf(at);
    return whole < 0.0f ? 0 : whole > (float)most ? most : (int32_t)whole;
}

/* The square of a token that is `across` patches wide. What is seen at half of its size needs half as much, and less than that
 * nothing. */
static tvlm_video_region region_of(const tvlm_clip_token *token, float across, int32_t width,
                                   int32_t height) {
    const float quality = across < 1.5f ? QUALITY : across < 2.5f ? 0.5f * QUALITY : 0.0f;
    return (tvlm_video_region){within(token->x - 0.5f * token->width, width),
                               within(token->y - 0.5f * token->height, height),
                               within(token->x + 0.5f * token->width, width),
                               within(token->y + 0.5f * token->height, height), quality};
}

/* Whether the region goes on to the right of another one. */
static bool goes_on(const tvlm_video_region *a, const tvlm_video_region *b) {
    return a->top == b->top && a->bottom == b->bottom && a->right == b->left && a->quality == b->quality;
}

int video_regions_find(video_regions *regions, const tvlm_clip_token *tokens, int32_t count, float patch,
                       int32_t width, int32_t height) {
    if (regions->capacity < count) {
        tvlm_video_region *const all = realloc(regions->all, (size_t)count * sizeof *all);
        if (all == NULL) return tool_fail(regions->tool, "no memory for %d regions", (int)count);
        regions->all = all;
        regions->capacity = count;
    }
    regions->count = 0;
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_video_region region = region_of(&tokens[i], tokens[i].width / patch, width, height);
        if (tokens[i].columns > 0 || region.quality == 0.0f || region.left >= region.right ||
            region.top >= region.bottom)
            continue;
        tvlm_video_region *const last = regions->count > 0 ? &regions->all[regions->count - 1] : NULL;
        if (last != NULL && goes_on(last, &region))
            last->right = region.right;
        else
            regions->all[regions->count++] = region;
    }
    return TOOL_DONE;
}

static void write_region(json_writer *json, const tvlm_video_region *region) {
    json_open_object(json, NULL, true);
    json_integer(json, "left", region->left);
    json_integer(json, "top", region->top);
    json_integer(json, "right", region->right);
    json_integer(json, "bottom", region->bottom);
    json_float(json, "qoffset", -region->quality);
    json_close(json);
}

int video_regions_add(video_regions *regions, int64_t number, double time) {
    json_writer *const json = &regions->lines;
    if (regions->path == NULL) return TOOL_DONE;
    json_open_object(json, NULL, true);
    json_integer(json, "frame", number);
    json_seconds(json, "time", time);
    json_open_array(json, "regions", true);
    for (int32_t i = 0; i < regions->count; ++i) write_region(json, &regions->all[i]);
    json_close(json);
    json_close(json);
    return json_text_of(json) != NULL ? TOOL_DONE : tool_fail(regions->tool, "%s: no memory", regions->path);
}

int video_regions_write(const video_regions *regions) {
    if (regions->path == NULL) return TOOL_DONE;
    return tool_status(regions->tool, tvlm_file_write(regions->path, regions->lines.text,
                                                      regions->lines.length, &regions->tool->log));
}

void video_regions_release(video_regions *regions) {
    json_release(&regions->lines);
    free(regions->all);
}
