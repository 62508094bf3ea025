/*
 * video/stream.h: the inside of a stream, for its own files: stream.c (frames), stream_cut.c,
 * stream_features.c, stream_regions.c, stream_steady.c and stream_volume.c.
 */
#ifndef TVLM_VIDEO_STREAM_H
#define TVLM_VIDEO_STREAM_H

#include "core/cluster.h"
#include "stack/stack.h"
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

typedef struct stream_camera {
    tvlm_stack *stack;
    tvlm_texture *before;   /* the last frame's source: it and the stack's own change places */
    int32_t tiles, changed; /* of the present frame: tvlm_stream_report */
    tvlm_flow *flow;
    int64_t frames;        /* pushed so far */
    int32_t since_key;     /* frames since the last keyframe */
    int32_t width, height; /* of all frames as handed in */
    tvlm_stream_report report;
    float luma[2][STREAM_THUMBNAIL * STREAM_THUMBNAIL]; /* of this frame, of the last one */
    stream_carried carried[STREAM_CARRIED];
    tvlm_cluster_centre *centres; /* [cells]; where regions begin */
    tvlm_region *regions;         /* [cells] of the last frame */
    int32_t region_count;
    float *former; /* x, y of the last selection, working pixels */
    int32_t former_count, former_capacity;
    float *bonus; /* of the candidates */
    size_t bonus_capacity;
    tvlm_packed *volume;    /* NULL: none */
    int32_t newest, filled; /* slots of it */
    bool stored;            /* the present frame is in it */
    tvlm_buffer *pixels;    /* sent ahead */
    tvlm_image sent;        /* no pixels: nothing was */
    bool sending;           /* it is on its way into `pixels` */
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

/* stream_cut.c: the thumbnail of the present source (which has all levels) into luma[0], and how far it is
 * from luma[1]. */
tvlm_status stream_look(stream_camera *camera);
float stream_difference(const stream_camera *camera);

/* stream_features.c: moves what is carried into the present frame, and fills in the report. */
tvlm_status stream_carry_features(tvlm_stream *stream, stream_camera *camera);
void stream_drop_features(stream_camera *camera);
void stream_free_features(stream_camera *camera);

/* stream_regions.c: the last frame's regions, before its pixels go; then where they begin in the present one.
 */
tvlm_status stream_keep_regions(stream_camera *camera);
tvlm_status stream_place_regions(const tvlm_stream *stream, stream_camera *camera);
void stream_drop_regions(stream_camera *camera);

/* stream_steady.c */
tvlm_status stream_keep_positions(stream_camera *camera);
tvlm_status stream_make_bonus(const tvlm_stream *stream, stream_camera *camera,
                              const struct tvlm_select_params *params);

/* stream_volume.c */
tvlm_status stream_volume_create(const tvlm_stream *stream, stream_camera *camera);
tvlm_status stream_volume_store(const tvlm_stream *stream, stream_camera *camera);
void stream_volume_begin(stream_camera *camera, bool forget);
tvlm_status stream_look_back(const tvlm_stream *stream, stream_camera *camera);

/* The flow at points (x, y in working pixels) of the present frame: u, v, confidence of each. Waits. */
tvlm_status stream_flow_at(stream_camera *camera, const float *points, int32_t count, float level,
                           float *flow);

static inline bool stream_has_flow(const stream_camera *camera) {
    return (camera->stack->originals[0].given & TVLM_GRID_BIT(TVLM_GRID_FLOW)) != 0;
}

#endif
