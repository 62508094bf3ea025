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

/* The level at which the flow is read to move positions. It is the level at which the flow is estimated. */
#define STREAM_POSITIONS_LEVEL 1.0f

/* The most texels that the longer side of a thumbnail has. */
#define STREAM_THUMBNAIL 64

/* A grid of vectors that moves along with the picture: the features or the embedding. */
typedef struct stream_carried {
    /* Textures like the stack's own. Vectors are moved into `spare`, and new vectors come in `fresh`. */
    tvlm_texture *spare, *fresh;
    /* The texture that vectors are moved from. As long as `moved` is not set, that is the stack's own
     * texture. */
    tvlm_texture *origin;
    bool moved;
    /* Which cells of the origin have a vector, and each cell's path back to the origin: path[0] is that of
     * the present frame, and path[1] receives that of the next one (tvlm_warp). */
    tvlm_buffer *known;
    tvlm_buffer *path[2];
    tvlm_buffer *weights;
    /* A copy of path[0] on the host. */
    float *host;
    int32_t columns, rows, layers;
    /* The stack has such a grid. */
    bool there;
} stream_carried;

/* What the host wants to know of a frame, which is read back at once. Members of type size_t, except
 * `capacity`, are places in the buffer, counted in floats. */
typedef struct stream_gather {
    /* The buffer on the device. It begins with the thumbnail's texels of four floats. The first is
     * luma. */
    tvlm_buffer *buffer;
    /* The host's copy of the buffer. */
    float *host;
    /* How many floats the buffer and its copy have room for. */
    size_t capacity;
    /* Where the thumbnail ends, and where the last part ends. */
    size_t look_end, end;
    /* Where the table of regions begins, with its header, and where the places (x, y) begin that they moved
     * to. */
    size_t regions, regions_moved;
    /* Where the positions (x, y) begin, and where the places (x, y) begin that they moved to. */
    size_t positions, positions_moved;
    /* Where the path of each carried grid begins. */
    size_t path[TVLM_STREAMED_COUNT];
} stream_gather;

typedef struct stream_camera {
    tvlm_stack *stack;
    /* The last frame's source. It takes turns with the stack's own source. */
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
    /* `centres` says where the region of each cell begins. `regions` are those of the last frame. `gathered`
     * is how many regions the gathered buffer has at most. */
    tvlm_region_centre *centres;
    tvlm_region *regions;
    int32_t region_count;
    int32_t gathered;
    /* Where the last selection's positions are in the present frame: x, y in pixels of the working image. */
    float *former;
    int32_t former_count, former_capacity;
    /* The bonus of each candidate. */
    float *bonus;
    size_t bonus_capacity;
    /* The volume (NULL: there is none), the slot of its newest frame, and how many slots are filled. Also
     * whether the present frame is in the volume already. */
    tvlm_packed *volume;
    int32_t newest, filled;
    bool stored;
    /* The plan of the next frame. */
    tvlm_delta_plan plan;
    /* The frame that was sent ahead. Its size is 0 if none was sent. If it has no pixels, it is the frame in
     * `taken`. The plan that was made for it may be outdated. */
    tvlm_image sent;
    /* A frame that was on the device when it was sent ahead, as pixels of the stack's size. */
    tvlm_buffer *taken;
    tvlm_pixels taken_pixels;
    /* The buffer for what the plan uploads, and whether that is on its way. */
    tvlm_buffer *pixels;
    bool sending;
} stream_camera;

/* A frame as it is pushed: an image, planes on the device, or neither. Neither means the frame that was sent
 * ahead. */
typedef struct stream_frame {
    const tvlm_image *image;
    const tvlm_planes *planes;
} stream_frame;

/* After the stream is created, the only pointer in `params` that is still read is the scorer. The members
 * after `params` have the defaults filled in. */
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
 * stream_gather.c: gathers what the host wants to know of a frame, in four steps.
 *   1. tvlm_stream_gather_begin makes room for all parts.
 *   2. Other files enqueue the work that fills the parts.
 *   3. tvlm_stream_gather_read reads the first `floats` floats in one go.
 *   4. Other files take their parts from the host's copy.
 */
tvlm_status tvlm_stream_gather_begin(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_gather_read(stream_camera *camera, size_t floats);
void tvlm_stream_gather_release(stream_camera *camera);
/* Moves points of the gathered buffer along the stack's flow, and writes where they come to at another place
 * of the buffer. All levels of the flow must be made. how->from, how->to and how->flow are filled in here. */
tvlm_status tvlm_stream_follow(stream_camera *camera, const tvlm_follow *how);

/*
 * stream_cut.c:
 * - tvlm_stream_look enqueues the thumbnail of the present source, all of whose levels must be made;
 * - tvlm_stream_take_look takes the thumbnail that was read back into luma[0];
 * - tvlm_stream_difference returns how different luma[0] is from luma[1].
 */
size_t tvlm_stream_thumbnail_texels(const stream_camera *camera);
tvlm_status tvlm_stream_look(stream_camera *camera);
void tvlm_stream_take_look(stream_camera *camera);
float tvlm_stream_difference(const stream_camera *camera);

/* stream_features.c: moves the carried vectors into the present frame, and fills in the report. */
tvlm_status tvlm_stream_carry_features(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_take_features(const tvlm_stream *stream, stream_camera *camera);
/* The same as tvlm_stream_set_features. If `buffer` is not NULL, the data are in it from byte `offset` on. */
tvlm_status tvlm_stream_put_features(tvlm_stream *stream, int32_t index, int32_t channel,
                                     const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset,
                                     const uint8_t *mask);
size_t tvlm_stream_path_floats(const stream_camera *camera, int which);
void tvlm_stream_drop_features(stream_camera *camera);
void tvlm_stream_free_features(stream_camera *camera);

/* stream_regions.c: keeps the last frame's regions before its pixels are replaced, moves them along the flow,
 * and decides where regions begin in the present frame. */
tvlm_status tvlm_stream_carry_regions(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_follow_regions(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_place_regions(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_drop_regions(stream_camera *camera);

/* stream_send.c: checks a frame that is pushed or sent. It checks the camera and the size and, if the frame
 * is an image, everything that can be wrong with that. */
tvlm_status tvlm_stream_check_frame(const tvlm_stream *stream, int32_t index, const stream_frame *frame);

/* Returns whether the camera's next frame is a keyframe whatever it contains. */
bool tvlm_stream_is_due(const tvlm_stream *stream, const stream_camera *camera);

/*
 * Makes the plan for the frame that is pushed (camera->plan). If it sets *buffer to a buffer, the plan's
 * pixels are in that buffer already.
 */
tvlm_status tvlm_stream_plan(const tvlm_stream *stream, stream_camera *camera, const stream_frame *frame,
                             bool keyframe, tvlm_buffer **buffer);
/* Does what tvlm_stream_send does, for a frame that is on the device. The frame is converted to
 * camera->taken. */
tvlm_status tvlm_stream_take(tvlm_stream *stream, int32_t index, const tvlm_planes *planes);
void tvlm_stream_drop_sent(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_release_sent(const tvlm_stream *stream, stream_camera *camera);

/* stream.c: does what tvlm_stream_push does, once the caller has entered the device. */
tvlm_status tvlm_stream_push_frame(tvlm_stream *stream, int32_t index, const stream_frame *frame,
                                   const struct tvlm_push_params *params, tvlm_stream_report *report);

/* stream_steady.c: keeps the last selection's positions, copies them into the gathered buffer, moves them
 * along the flow, and makes the bonus from them. */
tvlm_status tvlm_stream_keep_positions(stream_camera *camera);
tvlm_status tvlm_stream_gather_positions(stream_camera *camera);
tvlm_status tvlm_stream_follow_positions(stream_camera *camera);
void tvlm_stream_take_positions(stream_camera *camera);
tvlm_status tvlm_stream_make_bonus(const tvlm_stream *stream, stream_camera *camera,
                                   const struct tvlm_select_params *params);

/* stream_volume.c: creates the volume, stores the present frame in it if it is not there yet, begins the next
 * frame, and sets the planes of earlier frames. */
tvlm_status tvlm_stream_volume_create(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_volume_store(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_volume_begin(stream_camera *camera, bool forget);
tvlm_status tvlm_stream_look_back(const tvlm_stream *stream, stream_camera *camera);

static inline bool stream_has_flow(const stream_camera *camera) {
    return tvlm_stack_has_grid(camera->stack, 0, TVLM_GRID_FLOW);
}

#endif
