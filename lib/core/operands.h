/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.h: what the operations of a backend work on: its device, its memory, and the arguments of those
 * operations that take more than a few.
 */
#ifndef TVLM_CORE_OPERANDS_H
#define TVLM_CORE_OPERANDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/constants.h"
#include "core/flow.h"
#include "core/input.h"
#include "core/registry.h"
#include "core/resize.h"
#include "core/tiles.h"
#include "texturevlm/device.h"
#include "texturevlm/image.h"

typedef struct tvlm_backend tvlm_backend;
typedef struct tvlm_tuner tvlm_tuner; /* tuner.h */
struct tvlm_network;                  /* learned.h */

/* Each backend's device begins with this. tiles_made is the last serial of a tvlm_tiles. `held` is how many
 * bytes of device memory the backend has, and held_most the most that it ever had. */
struct tvlm_device {
    const tvlm_backend *backend;
    tvlm_log log;
    tvlm_device_info info;
    uint64_t tiles_made;
    size_t held, held_most;
    /* For each format (TVLM_FORMAT_*), whether the texels of scalar textures have one component. */
    bool stores_scalar[TVLM_FORMAT_S8 + 1];
    /* Whether textures may be of bytes (TVLM_FORMAT_U8). For bytes, this and stores_scalar are known only
     * once the operation ask_bytes was called. */
    bool stores_bytes;
    /* The thread that is in a public function now (owner.h), or NULL; and how many public functions it has
     * entered. */
    _Atomic(const void *) owner;
    int entries;
};

/* A backend counts the memory that it takes from the device and gives back. */
static inline void tvlm_device_takes(tvlm_device *device, size_t bytes) {
    device->held += bytes;
    if (device->held > device->held_most) device->held_most = device->held;
}
static inline void tvlm_device_gives(tvlm_device *device, size_t bytes) {
    device->held -= bytes;
}

/* Memory of the device; each backend's own buffer begins with this. */
typedef struct tvlm_buffer {
    size_t bytes;
} tvlm_buffer;

/* The size of level 0 of one image of a ragged texture, and the pixels that it covers. */
typedef struct tvlm_texture_part {
    int32_t width, height;
    float extent_x, extent_y;
} tvlm_texture_part;

/*
 * An array of RGBA textures with levels. Each backend's own texture begins with this.
 *
 * A texture with `parts` is *ragged*: its images have sizes of their own. Then the sizes, levels and extents
 * below are the largest that any image has. Each image has the levels that it would have alone, and is
 * clamped at its own border at each of them. tvlm_texture_image and tvlm_texture_before say where its texels
 * lie.
 */
typedef struct tvlm_texture {
    /* The size of level 0 of the grid, in texels. */
    int32_t width, height;
    /* Slice image * layers + layer is one layer of one image. */
    int32_t layers, images;
    /* How many levels there are: 1, or all of them down to 1 x 1. */
    int32_t levels;
    /* The format of the stack: F16, F32 or U8. One kernel can read all textures of one format. In a stack of
     * U8 `range` says which textures are bytes; in other stacks it is ANY. */
    tvlm_format format;
    tvlm_range range;
    /* How many pixels of level 0 of the image the grid covers. At level n of the grid, whose width is W_n,
     * position x lies at texel coordinate x * W_n / extent_x. */
    float extent_x, extent_y;
    /* How each component of a level is made from the level before: TVLM_REDUCE_*. */
    uint8_t reduce[4];
    /* Whether only component 0 is kept, of a single layer. The other components are dropped, and are 0 where
     * they are read. Where the device has such texels (stores_scalar), the texture takes a quarter of the
     * memory. */
    bool scalar;
    /* The device memory that all levels take; texture_create sets it. */
    size_t bytes;
    /* [images] in a ragged texture, else NULL. A texture that was created has a copy of its own. */
    const tvlm_texture_part *parts;
} tvlm_texture;

/* What stands in place of five members of struct tvlm_bundle for one image of a ragged bundle. It has the
 * layout of two float4. */
typedef struct tvlm_view {
    float width, height, fixation_x, fixation_y;
    float farthest, unused[3];
} tvlm_view;

/* The parameters of the channels rope_x_cos_0 and so on: those of struct tvlm_rope_params, with defaults
 * filled in. */
typedef struct tvlm_rope {
    float theta;
    int32_t dimension;
    float patch;
} tvlm_rope;

/*
 * Several textures that one kernel reads (a *bundle*), and what the position formula needs. All textures hold
 * the same images. TVLM_REF (constants.h) names a channel of the bundle.
 */
typedef struct tvlm_bundle {
    /* How many textures there are, at most TVLM_BUNDLE_MAX. Places that are not used are NULL. */
    int32_t count;
    tvlm_texture *textures[TVLM_BUNDLE_MAX];
    /* Whether some references have TVLM_REF_LAYERS. */
    bool unit;
    /* In pixels: the size of the image, the fixation, and its distance from the farthest corner (> 0). */
    float width, height;
    float fixation_x, fixation_y;
    float farthest;
    tvlm_rope rope;
    /* [view_count]: where the textures are ragged, the five numbers above for each image; else NULL. */
    const tvlm_view *views;
    int32_t view_count;
} tvlm_bundle;

/* A point to sample. It has the layout of a float4. */
typedef struct tvlm_point {
    float x, y, level, image;
} tvlm_point;

/* A patch to cut out: its centre, the distance between its texels in pixels, and its number among the patches
 * of the result. It has the layout of two float4. */
typedef struct tvlm_patch_place {
    tvlm_point at;
    float step_x, step_y;
    int32_t number;
    float unused;
} tvlm_patch_place;

/*
 * What is cut out of the patches: `channels` channels of side x side texels. A value is stored as (value -
 * mean) / deviation, rounded to `format` (never AUTO). The three arrays have 4 * count4 elements, count4
 * being channels / 4, rounded up. With `reflect`, positions beyond the image are mirrored; otherwise the edge
 * repeats.
 */
typedef struct tvlm_patch_plan {
    int32_t side, channels, count4;
    const int32_t *refs;
    const float *mean, *deviation;
    bool reflect;
    tvlm_format format;
} tvlm_patch_plan;

/*
 * The candidates for a selection: cells of the image. Cell (column, row) is [column step_x, (column + 1)
 * step_x) across, in pixels, and likewise down, clipped to the image. The candidate is the cell's centre.
 * Channels are read at `level` of the image, in image `image` of the bundle.
 */
typedef struct tvlm_candidates {
    int32_t columns, rows;
    float step_x, step_y;
    float level;
    int32_t image;
} tvlm_candidates;

/*
 * How a ranking of candidates becomes positions. They go to `out`, from byte out_offset on, in the layout of
 * a tvlm_position (texturevlm/select.h). Their centres, in pixels of the working image, go to
 * looked[count][2], floats.
 */
typedef struct tvlm_placing {
    tvlm_candidates candidates;
    int32_t width, height; /* of the working image */
    /* How many pixels of the image that was handed in one pixel of the working image spans. */
    float scale_x, scale_y;
    float level, size; /* of all positions */
    tvlm_buffer *out, *looked;
    size_t out_offset;
} tvlm_placing;

/* Positions as tvlm_placing leaves them, from byte `offset` of a buffer on, and the patches that are cut out
 * there: their side in texels, the image of the bundle, and the highest level that is read. scale_x and
 * scale_y are as in tvlm_placing; scale_size is the scale of a position's size. */
typedef struct tvlm_position_list {
    tvlm_buffer *positions;
    size_t offset;
    int32_t count, side, image;
    float scale_x, scale_y, scale_size;
    float highest_level;
} tvlm_position_list;

/*
 * A step of a scoring program, which adds up to four channels to one part (0 .. TVLM_SCORE_PARTS - 1):
 *
 *     part += sum over channels c and taps of min(cap[c], weight[tap][c] * value(c, tap))
 *
 * There are 1 or 9 taps; with 1 tap only weight[4], the centre, counts. A cap of INFINITY is no cap. Channels
 * are read at the level of the candidates unless they have a level of their own.
 */
typedef struct tvlm_score_group {
    int32_t refs[4];
    int32_t part;
    int32_t taps;
    float cap[4];
    float weight[TVLM_SCORE_TAPS][4];
    /* Which channels are read at a level of their own, and that level: a level of the image, 0 or more. */
    bool has_level[4];
    float level[4];
} tvlm_score_group;

/*
 * How parts become a score: bias + sum over p of weight[p] * part p. With normalise[p], the part is first
 * scaled so that its range over the candidates becomes [0, 1], or 0 where all are equal. A part of weight 0
 * is not looked at. Then bonus[candidate], a float, is added, unless `bonus` is NULL.
 */
typedef struct tvlm_score_combination {
    float bias;
    float weight[TVLM_SCORE_PARTS];
    bool normalise[TVLM_SCORE_PARTS];
    tvlm_buffer *bonus;
} tvlm_score_combination;

/* The k best scores, as pairs (index, bits of the score) in `result`. They are sorted: best first, the lower
 * index first where scores are equal, NaN last. */
typedef struct tvlm_ranking {
    int32_t k;
    tvlm_buffer *result;
} tvlm_ranking;

/* Pixels in a device buffer, as tvlm_image has them. offset and row_stride are in bytes. */
typedef struct tvlm_pixels {
    int32_t width, height, channels;
    tvlm_pixel_type type;
    size_t offset, row_stride;
} tvlm_pixels;

/*
 * Memory that pixels are read from: a buffer or an image. The members after `image` describe an image (half
 * counts as F32); for a buffer they are 0. Only the operation `planes` takes an image as memory.
 */
typedef struct tvlm_plane {
    tvlm_buffer *memory;
    bool image;
    int32_t width, height, channels;
    tvlm_pixel_type type;
} tvlm_plane;

/*
 * A frame in the form in which cameras and other interfaces deliver it: pixels in one plane, or NV12. The
 * first plane of NV12 is the luma, and the second one has a pair (Cb, Cr) for each 2 x 2 pixels. The planes
 * are both buffers, which may be the same one, or both images.
 */
typedef struct tvlm_planes {
    tvlm_plane first, chroma;
    /* What lies in the first plane. Where planes are images only the size counts. For NV12 the type and the
     * channels do not count. */
    tvlm_pixels pixels;
    bool nv12;
    /* In bytes: where the pairs of NV12 begin in a buffer, and how far one row of pairs is from the next. */
    size_t chroma_offset, chroma_stride;
    /* For NV12: red, green and blue are each the dot product of a row with (luma, Cb, Cr, 1), where bytes
     * count as 0 to 1. */
    float rgb[3][4];
} tvlm_planes;

/*
 * What a generator leaves behind for others beside its texture. Each product is a plain buffer of a chunk. It
 * is made or grown by tvlm_product_reserve, and valid as long as the grid that made it.
 */
typedef enum tvlm_product {
    TVLM_PRODUCT_LABELS = 0,   /* CLUSTER: the region of each pixel, int32, image after image */
    TVLM_PRODUCT_REGIONS,      /* CLUSTER: the region tables: core/cluster.h */
    TVLM_PRODUCT_LABELS_GIVEN, /* handed in for CLUSTER: dense labels as in LABELS */
    /* What stays because of tvlm_generate_args.keep, in each backend's own layout. */
    TVLM_PRODUCT_DISTANCE_MASK,
    TVLM_PRODUCT_DISTANCE_COLUMNS,
    TVLM_PRODUCT_TEXT_STROKES,
    TVLM_PRODUCT_TEXT_MARKS,
    TVLM_PRODUCT_TEXT_GROWN,
    TVLM_PRODUCT_COUNT
} tvlm_product;

/* How families are made: the stack's parameters, defaults filled in. */
typedef struct tvlm_family_settings {
    int32_t regions;   /* how many are asked for, at most */
    float compactness; /* of SLIC */
} tvlm_family_settings;

/* How the state of one image is brought into the present frame. */
typedef struct tvlm_carry {
    bool flow;        /* along grids[TVLM_GRID_FLOW]; otherwise the state stays where it is */
    float confidence; /* the least confidence that counts; where there is less, the state is cleared */
} tvlm_carry;

/* A pinhole camera, in pixels of the working image. */
typedef struct tvlm_camera {
    float fx, fy, cx, cy;
} tvlm_camera;

/* Where a region begins, in place of the middle of its cell: core/cluster.h. */
typedef struct tvlm_region_centre {
    /* The id that its region gets. The cells of an image have the ids 0 .. cells - 1, each of them once. */
    int32_t id;
    bool known;    /* otherwise it begins in the middle of its cell */
    float x, y;    /* pixels */
    float l, a, b; /* CIE L*a*b* */
} tvlm_region_centre;

typedef struct tvlm_generate_args {
    /* The grids that this one needs. They have all their levels; with level_0 (registry.h) they may have only
     * level 0. */
    tvlm_texture *const *grids;
    tvlm_texture *out;
    /* The texture of the grid that is made beside this one (registry.h). NULL: it is not wanted. */
    tvlm_texture *beside;
    const tvlm_family_settings *settings;
    tvlm_buffer **products; /* [TVLM_PRODUCT_COUNT], NULL where there is none yet */
    /* [out->images]: how many regions the image's map in LABELS_GIVEN has; 0: the image has no map. NULL: no
     * image has one. */
    const int32_t *label_counts;
    /* [TVLM_PREVIOUS_COUNT]. Where no frame was kept, it or its entry is NULL, and what is made of it is 0
     * everywhere. */
    tvlm_texture *const *previous;
    const tvlm_carry *carry;    /* [out->images]; not looked at without `previous` */
    const tvlm_camera *cameras; /* [out->images], for grids that are made from depth */
    /* LEARNED: the network, and what it is run on: level 0 of `inputs`, with input i in component i % 4 of
     * layer i / 4. */
    const struct tvlm_network *network;
    const tvlm_texture *inputs;
    /* CLUSTER: [cells of the plan]: where the regions of image 0 begin, and which ids they get. NULL: they
     * begin in the middles of their cells, and their ids are dense. */
    const tvlm_region_centre *centres;
    /* NULL: all is made. Otherwise `out` holds what was made of the last frame with `keep`, and only what
     * these tiles touch need be made. Whatever else is made comes out as it was. */
    const tvlm_tiles *tiles;
    /* What lies between the stages stays in products, for a later call with tiles. */
    bool keep;
} tvlm_generate_args;

/*
 * What becomes of a frame when the next one comes. It is kept in one image's slices of two textures:
 *   - `luma`, which is TVLM_PREVIOUS_LUMA, gets the luma of the source;
 *   - `state`, which is TVLM_PREVIOUS_STATE, gets all else.
 * Either may be NULL. Then what it is made of may be NULL, too.
 */
typedef struct tvlm_remember_args {
    tvlm_texture *luma, *state;
    int32_t image;              /* of the chunk */
    const tvlm_texture *source; /* of the chunk, levels 0 and 1 */
    /* The relevance: a texture of one image, with all levels. If it is NULL, `scores` has a float for each
     * cell of the state. If both are NULL, relevance is 0 everywhere. */
    const tvlm_texture *relevance;
    tvlm_buffer *scores;
    /* The saliency: of the chunk, with all levels, in this component of its first layer. */
    const tvlm_texture *saliency;
    int32_t component;
    /* The chunk's grid of this frame, level 0 alone. NULL: there was no fixation yet. */
    const tvlm_texture *temporal;
    /* The positions that were looked at: x, y in pixels of the working image, `count` of them, from float
     * positions_at on. */
    tvlm_buffer *positions;
    size_t positions_at;
    int32_t count;
    float decay, sigma; /* of the fixation; sigma in pixels */
} tvlm_remember_args;

/*
 * c = alpha * op(a) * op(b) + beta * c, in floats, row-major. op(a) is m x k, op(b) is k x n, and c is m x n.
 * op is the transpose where that is asked for; then a is stored as k x m, and b as n x k. Offsets and the
 * strides from row to row (lda, ldb, ldc) are in floats. With beta == 0 what was in c does not matter. c
 * overlaps neither a nor b. m, n, k >= 1.
 */
typedef struct tvlm_gemm {
    int32_t m, n, k;
    bool transpose_a, transpose_b;
    tvlm_buffer *a, *b, *c;
    size_t a_offset, b_offset, c_offset;
    int32_t lda, ldb, ldc;
    float alpha, beta;
} tvlm_gemm;

/* The encoder's vectors of one image, at level 0 of a texture, and the inverse lengths that bring them to
 * length 1. */
typedef struct tvlm_features {
    const tvlm_texture *texture;
    int32_t image;        /* of the texture */
    tvlm_buffer *inverse; /* floats, width * height of them for each image: 1 / length, 0 of a zero vector */
    int32_t dimension;    /* of a vector: 4 * layers or up to 3 less; components behind it are 0 */
    int32_t index;        /* of the batch */
} tvlm_features;

/* Vectors that are brought to length 1: `count` of them, each of `dimension` floats, from byte `offset` of
 * `vectors` on. `mean` (dimension floats; NULL: nothing) is subtracted first. The results go to out[count *
 * stride], each with zeros behind it. */
typedef struct tvlm_units {
    tvlm_buffer *vectors, *mean, *out;
    size_t offset;
    int32_t count, dimension, stride;
} tvlm_units;

/*
 * Brings vectors of an earlier frame into the next one. Textures have one image, level 0 alone, and one size.
 * Where each cell came from is kept as a path. A path is composed with each flow, so that vectors are
 * filtered once and not with every frame. It is four floats a cell: x and y in pixels, 1 where it is known
 * (else 0), unused.
 */
typedef struct tvlm_warp {
    const tvlm_texture *from;  /* the vectors of the earlier frame; 0 in cells where `known` is 0 */
    const tvlm_texture *flow;  /* backward: u, v, confidence, all levels; NULL: nothing moves */
    float width, height;       /* of the image */
    float confidence, longest; /* the least confidence that counts, and the longest way, in pixels */
    tvlm_buffer *known;        /* a float for each cell of `from`: 1 where it has a vector, else 0 */
    /* `path` leads from the last frame to the earlier one. `next` becomes the path from this frame to the
     * earlier one. */
    tvlm_buffer *path, *next;
} tvlm_warp;

/*
 * Finds points of the last frame in the present one. A point that was at q is now at the p with p + flow(p) =
 * q. p begins at q, and each step brings it closer to the solution. Points are x, y in pixels. A point that is
 * not finite is left as it is.
 */
typedef struct tvlm_follow {
    const tvlm_texture *flow; /* backward: u, v, confidence of one image, all levels */
    float level;              /* of the image, at which it is read */
    float confidence;         /* the least that counts: less moves nothing; -INFINITY: everything counts */
    int32_t steps;
    tvlm_buffer *from, *to;        /* may be the same, where no point is written over another */
    size_t from_offset, to_offset; /* of the first point in `from` and in `to`, in floats, below 2^31 */
    int32_t from_stride, count;    /* floats from one point to the next in `from`; in `to` they are 2 apart */
} tvlm_follow;

#endif
