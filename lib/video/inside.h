/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video/inside.h: what a stream consists of, for its own files: stream.c (frames), interop.c, stream_cut.c,
 * stream_features.c, stream_gather.c, stream_regions.c, stream_send.c, stream_steady.c and stream_volume.c.
 */
#ifndef TVLM_VIDEO_INSIDE_H
#define TVLM_VIDEO_INSIDE_H

#include "core/cluster.h"
#include "stack/delta.h"
#include "stack/grids.h"
#include "stack/planes.h"
#include "texturevlm/stream.h"

/* The level at which the flow is read that moves positions, which is the one at which it is estimated. */
#define STREAM_POSITIONS_LEVEL 1.0f

/* The longer side of a thumbnail has at most so many texels. */
#define STREAM_THUMBNAIL 64

/* A grid of vectors that moves along with the picture: the features or the embedding. */
typedef struct stream_carried {
    /* Textures like the stack's own: one that vectors are moved into, and one that new vectors come in. */
    tvlm_texture *spare, *fresh;
    /* The texture that vectors are moved from, once they were moved; before that it is the stack's own. */
    tvlm_texture *origin;
    bool moved;
    /* Which cells of the origin have a vector, and the way of each cell back to it, now and next
     * (tvlm_warp). */
    tvlm_buffer *known;
    tvlm_buffer *path[2];
    tvlm_buffer *weights;
    /* path[0], on the host. */
    float *host;
    int32_t columns, rows, layers;
    /* The stack has such a grid. */
    bool there;
} stream_carried;

/* What is read back of a frame at once. Numbers say at which float of the buffer something begins. */
typedef struct stream_gather {
    /* On the device. It begins with the thumbnail's texels, luma being the first of four floats. */
    tvlm_buffer *buffer;
    /* What was read of it. */
    float *host;
    /* How many floats both have room for. */
    size_t capacity;
    /* Where the thumbnail ends, and where all ends. */
    size_t look_end, end;
    /* The table of regions with its header, and x, y of where the regions moved. */
    size_t regions, regions_moved;
    /* x, y of the positions, and of where they moved. */
    size_t positions, positions_moved;
    size_t path[TVLM_STREAMED_COUNT];
} stream_gather;

typedef struct stream_camera {
    tvlm_stack *stack;
    /* The last frame's source, which changes places with the stack's own. */
    tvlm_texture *before;
    /* Tiles of the present frame, as in tvlm_stream_report. */
    int32_t tiles, changed;
    tvlm_flow *flow;
    /* How many frames were pushed, and how many since the last keyframe. */
    int64_t frames;
    int32_t since_key;
    /* The size of all frames as they are handed in; 0: any. */
    int32_t width, height;
    tvlm_stream_report report;
    /* The thumbnails of this frame and of the last one. */
    float luma[2][STREAM_THUMBNAIL * STREAM_THUMBNAIL];
    stream_gather gather;
    /* The points at which the thumbnail is sampled. */
    tvlm_buffer *texels;
    stream_carried carried[TVLM_STREAMED_COUNT];
    /* Where regions begin, by cell; the regions of the last frame; and how many may be on their way to the
     * host. */
    tvlm_cluster_centre *centres;
    tvlm_region *regions;
    int32_t region_count;
    int32_t gathered;
    /* x, y of the last selection's positions, in working pixels: where they are in the present frame. */
    float *former;
    int32_t former_count, former_capacity;
    /* The bonus of each candidate. */
    float *bonus;
    size_t bonus_capacity;
    /* The volume (NULL: none), the slot of its newest frame, how many slots are filled, and whether the
     * present frame is in it. */
    tvlm_packed *volume;
    int32_t newest, filled;
    bool stored;
    /* The plan of the next frame. */
    tvlm_delta_plan plan;
    /* The frame that was sent ahead; it has no size if none was. Its plan may be outdated. Without pixels it is
     * in `taken`. */
    tvlm_image sent;
    /* A frame that was on the device when it was sent ahead, as pixels of the stack's size. */
    tvlm_buffer *taken;
    tvlm_pixels taken_pixels;
    /* What the plan uploads, and whether that is on its way. */
    tvlm_buffer *pixels;
    bool sending;
} stream_camera;

/* A frame as it is pushed: an image, planes on the device, or neither, which means what was sent ahead. */
typedef struct stream_frame {
    const tvlm_image *image;
    const tvlm_planes *planes;
} stream_frame;

/* Of the pointers in `params` only the scorer is read after the stream is created. The members after `params`
 * have the defaults filled in. */
struct tvlm_stream {
    tvlm_device *device;
    struct tvlm_stream_params params;
    float cut, confidence, blend, needs_all, steadiness, longest;
    /* The largest number of regions. */
    int32_t cells;
    int32_t volume_level, volume_count;
    int32_t *volume_channels;
    int32_t camera_count;
    stream_camera *cameras;
};

/*
 * stream_gather.c. First, room is made for what the next frame will say; then others enqueue what fills it;
 * then its first floats are read at once; and then others take what they want from the host's copy.
 */
tvlm_status tvlm_stream_gather_begin(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_gather_read(stream_camera *camera, size_t floats);
void tvlm_stream_gather_release(stream_camera *camera);
/* Follows points from one place of the gathered buffer to another, along the stack's flow, whose levels are
 * all made. how->from, how->to and how->flow are filled in here. */
tvlm_status tvlm_stream_follow(stream_camera *camera, const tvlm_follow *how);

/* stream_cut.c: enqueues the thumbnail of the present source, whose levels are all made; takes it into
 * luma[0]; and says how different it is from luma[1]. */
size_t tvlm_stream_thumbnail_texels(const stream_camera *camera);
tvlm_status tvlm_stream_look(stream_camera *camera);
void tvlm_stream_take_look(stream_camera *camera);
float tvlm_stream_difference(const stream_camera *camera);

/* stream_features.c: moves what is carried into the present frame, and fills in the report. */
tvlm_status tvlm_stream_carry_features(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_take_features(const tvlm_stream *stream, stream_camera *camera);
/* The same as tvlm_stream_set_features. If `buffer` is not NULL, the data are in it from byte `offset` on. */
tvlm_status tvlm_stream_put_features(tvlm_stream *stream, int32_t index, int32_t channel,
                                     const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset,
                                     const uint8_t *mask);
size_t tvlm_stream_path_floats(const stream_camera *camera, int which);
void tvlm_stream_drop_features(stream_camera *camera);
void tvlm_stream_free_features(stream_camera *camera);

/* stream_regions.c: keeps the last frame's regions before its pixels go, moves them along the flow, and
 * decides where regions begin in the present frame. */
tvlm_status tvlm_stream_keep_regions(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_follow_regions(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_place_regions(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_drop_regions(stream_camera *camera);

/* stream_send.c: checks a frame that is pushed or sent: its camera, its size, and all of an image. */
tvlm_status tvlm_stream_check_frame(const tvlm_stream *stream, int32_t index, const stream_frame *frame);

/* Whether the camera's next frame is a keyframe in any case. */
bool tvlm_stream_is_due(const tvlm_stream *stream, const stream_camera *camera);

/*
 * Makes the plan for the frame that is pushed (camera->plan). If *buffer is not NULL then, the pixels of that
 * plan are in it already.
 */
tvlm_status tvlm_stream_plan(const tvlm_stream *stream, stream_camera *camera, const stream_frame *frame,
                             bool keyframe, tvlm_buffer **buffer);
/* Does what tvlm_stream_send does with a frame that is on the device: it is converted to camera->taken. */
tvlm_status tvlm_stream_take(tvlm_stream *stream, int32_t index, const tvlm_planes *planes);
void tvlm_stream_drop_sent(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_release_sent(const tvlm_stream *stream, stream_camera *camera);

/* stream.c: what tvlm_stream_push does once it has the device. */
tvlm_status tvlm_stream_push_frame(tvlm_stream *stream, int32_t index, const stream_frame *frame,
                                   const struct tvlm_push_params *params, tvlm_stream_report *report);

/* stream_steady.c: keeps the last selection's positions, brings them to the gathered buffer, moves them along the
 * flow, and makes the bonus from them. */
tvlm_status tvlm_stream_keep_positions(stream_camera *camera);
tvlm_status tvlm_stream_gather_positions(stream_camera *camera);
tvlm_status tvlm_stream_follow_positions(stream_camera *camera);
void tvlm_stream_take_positions(stream_camera *camera);
tvlm_status tvlm_stream_make_bonus(const tvlm_stream *stream, stream_camera *camera,
                                   const struct tvlm_select_params *params);

/* stream_volume.c: makes the volume, stores the present frame in it if it is not there yet, begins the next
 * frame, and sets the planes of earlier frames. */
tvlm_status tvlm_stream_volume_create(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_volume_store(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_volume_begin(stream_camera *camera, bool forget);
tvlm_status tvlm_stream_look_back(const tvlm_stream *stream, stream_camera *camera);

static inline bool stream_has_flow(const stream_camera *camera) {
    return tvlm_stack_has_grid(camera->stack, 0, TVLM_GRID_FLOW);
}

#endif
