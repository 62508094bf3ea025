/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video/inside.h: the inside of a stream, for its own files: stream.c (frames), interop.c, stream_cut.c,
 * stream_features.c, stream_gather.c, stream_regions.c, stream_send.c, stream_steady.c and stream_volume.c.
 */
#ifndef TVLM_VIDEO_INSIDE_H
#define TVLM_VIDEO_INSIDE_H

#include "core/cluster.h"
#include "stack/delta.h"
#include "stack/grids.h"
#include "texturevlm/stream.h"

#define STREAM_THUMBNAIL 64 /* texels, of the longer side at most */

/* A grid of vectors that goes along: the features or the embedding. */
typedef struct stream_carried {
    tvlm_texture *spare, *fresh; /* as the stack's own; what is moved into, and what new ones come in */
    tvlm_texture *origin;        /* what all is moved from, */
    bool moved;                  /* if anything was; otherwise that is the stack's own */
    tvlm_buffer *known;          /* of the origin's cells, and */
    tvlm_buffer *path[2];        /* the way back to it, now and next: tvlm_warp */
    tvlm_buffer *weights;
    float *host; /* path[0], on the host */
    int32_t columns, rows, layers;
    bool there; /* the stack has such a grid */
} stream_carried;

enum { STREAM_FEATURES = 0, STREAM_EMBEDDING, STREAM_CARRIED };

/* What is read back of a frame in one go: numbers are of floats, where each begins. */
typedef struct stream_gather {
    tvlm_buffer *buffer; /* on the device; first the thumbnail's texels, luma in the first of four floats */
    float *host;         /* what was read of it */
    size_t capacity;     /* floats of either */
    size_t look_end, end;
    size_t regions, regions_moved;     /* the table with its header; x, y of each */
    size_t positions, positions_moved; /* x, y of each */
    size_t path[STREAM_CARRIED];
} stream_gather;

typedef struct stream_camera {
    tvlm_stack *stack;
    tvlm_texture *before;   /* the last frame's source: it and the stack's own change places */
    int32_t tiles, changed; /* of the present frame: tvlm_stream_report */
    tvlm_flow *flow;
    int64_t frames;        /* pushed so far */
    int32_t since_key;     /* frames since the last keyframe */
    int32_t width, height; /* of all frames as handed in; 0: any */
    tvlm_stream_report report;
    float luma[2][STREAM_THUMBNAIL * STREAM_THUMBNAIL]; /* of this frame, of the last one */
    stream_gather gather;
    tvlm_buffer *texels; /* points: the thumbnail's */
    stream_carried carried[STREAM_CARRIED];
    tvlm_cluster_centre *centres; /* [cells]; where regions begin */
    tvlm_region *regions;         /* [cells] of the last frame */
    int32_t region_count;
    int32_t gathered; /* regions on their way to the host, at most */
    float *former;    /* x, y of the last selection, working pixels: where they are in the present frame */
    int32_t former_count, former_capacity;
    float *bonus; /* of the candidates */
    size_t bonus_capacity;
    tvlm_packed *volume;    /* NULL: none */
    int32_t newest, filled; /* slots of it */
    bool stored;            /* the present frame is in it */
    tvlm_delta_plan plan;   /* of the next frame */
    tvlm_image sent;        /* ahead; no pixels: none was. Its plan may have gone */
    tvlm_buffer *pixels;    /* what the plan uploads, */
    bool sending;           /* and that is on its way */
} stream_camera;

struct tvlm_stream {
    tvlm_device *device;
    struct tvlm_stream_params params; /* its pointers are not looked at, but for scorer; these are: */
    float cut, confidence, blend, needs_all, steadiness, decay, longest;
    int32_t cells; /* regions at most */
    int32_t volume_level, volume_count;
    int32_t *volume_channels;
    int32_t camera_count;
    stream_camera *cameras;
};

/*
 * stream_gather.c. Room for what the frame that comes will say, then everything that enqueues it, then one
 * read of the first floats, then everything that takes it from the host's copy.
 */
tvlm_status tvlm_stream_gather_begin(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_gather_read(stream_camera *camera, size_t floats);
void tvlm_stream_gather_release(stream_camera *camera);
/* From and to places in the gathered buffer (how->from, to and flow are filled in), along the stack's flow,
 * which has all levels. */
tvlm_status tvlm_stream_follow(stream_camera *camera, const tvlm_follow *how);

/* stream_cut.c: the thumbnail of the present source (which has all levels); into luma[0]; and how far it is
 * from luma[1]. */
size_t tvlm_stream_thumbnail_texels(const stream_camera *camera);
tvlm_status tvlm_stream_look(stream_camera *camera);
void tvlm_stream_take_look(stream_camera *camera);
float tvlm_stream_difference(const stream_camera *camera);

/* stream_features.c: moves what is carried into the present frame; and fills in the report. */
tvlm_status tvlm_stream_carry_features(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_take_features(const tvlm_stream *stream, stream_camera *camera);
/* Of tvlm_stream_set_features: the data are in `buffer` from `offset` on where that is not NULL. */
tvlm_status tvlm_stream_put_features(tvlm_stream *stream, int32_t index, int32_t channel,
                                     const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset,
                                     const uint8_t *mask);
size_t tvlm_stream_path_floats(const stream_camera *camera, int which);
void tvlm_stream_drop_features(stream_camera *camera);
void tvlm_stream_free_features(stream_camera *camera);

/* stream_regions.c: the last frame's regions, before its pixels go; along the flow; then where they begin in
 * the present one. */
tvlm_status tvlm_stream_keep_regions(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_follow_regions(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_place_regions(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_drop_regions(stream_camera *camera);

/* stream_send.c */
tvlm_status tvlm_stream_check_frame(const tvlm_stream *stream, int32_t index, const tvlm_image *image);

/* Whether the camera's next frame is a keyframe in any case. */
bool tvlm_stream_is_due(const tvlm_stream *stream, const stream_camera *camera);

/*
 * The plan for the frame that is pushed (camera->plan), `image` NULL: the one that was sent. What was sent
 * with it is in *buffer, if that is not NULL.
 */
tvlm_status tvlm_stream_plan(const tvlm_stream *stream, stream_camera *camera, const tvlm_image *image,
                             bool keyframe, tvlm_buffer **buffer);
void tvlm_stream_drop_sent(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_release_sent(const tvlm_stream *stream, stream_camera *camera);

/* stream_steady.c */
tvlm_status tvlm_stream_keep_positions(stream_camera *camera);
tvlm_status tvlm_stream_follow_positions(stream_camera *camera);
void tvlm_stream_take_positions(stream_camera *camera);
tvlm_status tvlm_stream_make_bonus(const tvlm_stream *stream, stream_camera *camera,
                                   const struct tvlm_select_params *params);

/* stream_volume.c */
tvlm_status tvlm_stream_volume_create(const tvlm_stream *stream, stream_camera *camera);
tvlm_status tvlm_stream_volume_store(const tvlm_stream *stream, stream_camera *camera);
void tvlm_stream_volume_begin(stream_camera *camera, bool forget);
tvlm_status tvlm_stream_look_back(const tvlm_stream *stream, stream_camera *camera);

static inline bool stream_has_flow(const stream_camera *camera) {
    return tvlm_stack_has_grid(camera->stack, 0, TVLM_GRID_FLOW);
}

#endif
