/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export/inside.h: what the files of this folder share. The public header is texturevlm/export.h.
 */
#ifndef TVLM_EXPORT_INSIDE_H
#define TVLM_EXPORT_INSIDE_H

#include "core/backend.h"
#include "texturevlm/export.h"

/* The most that a side may be, and crops along one. */
enum { EXPORT_SIDE_MAX = 16384, EXPORT_CROPS_MAX = 64 };

/* What processors make of an image: a picture of its own shape, one square, or crops of one size. */
typedef enum export_family { EXPORT_BLOCKS, EXPORT_SQUARE, EXPORT_CROPS } export_family;
static inline export_family tvlm_export_family(const tvlm_export_processor *p) {
    return p->side == 0 ? EXPORT_BLOCKS : p->crops > 0 ? EXPORT_CROPS : EXPORT_SQUARE;
}

/* Where a processed picture lies in the resized image, in pixels of that. What lies beyond that image is
 * black, or repeats its border. */
typedef struct export_place {
    int64_t width, height; /* of the resized image */
    int64_t left, top;     /* may be below 0 */
    bool black;
} export_place;

/* What a picture is to its image. All but the first are there where a budget chose them. */
typedef enum export_role {
    EXPORT_FULL,
    EXPORT_THUMBNAIL,
    EXPORT_THREE_QUARTERS,
    EXPORT_HALF,
    EXPORT_THIRD,
    EXPORT_QUARTER,
    EXPORT_ROLES
} export_role;

/* A picture of a run, or its video. Buffers are kept from run to run, and grow. */
typedef struct export_picture {
    /* info.tokens is 0 where the picture is not there. */
    tvlm_export_picture info;
    export_place place;
    /* How many of the images that were handed in are its frames, and the first of them. */
    int32_t frames, first_image;
    /* The size of the first of them. */
    int32_t image_width, image_height;
    /* Of the full picture: how many tokens all pictures of its image have that a budget is shared by, and how
     * many of them may be selected. */
    int32_t all, granted;
    /* The processed pixels: [frames][height][width][3]. */
    tvlm_buffer *bytes;
    /* The tensors pixel_values and selected_pixel_values. */
    tvlm_buffer *values;
    tvlm_buffer *selected;
    /* The score of each token. */
    float *scores;
    /* The tokens that were selected, rising, counted from 0 in this picture. */
    int32_t *chosen;
    /* What the projection makes of these. */
    float *vectors;
} export_picture;

struct tvlm_export {
    tvlm_device *device;
    tvlm_export_model model;
    tvlm_export_processor processor;
    /* A token is `merge` x `merge` patches of so many pixels; of crops it is a crop. */
    int32_t patch, merge;
    /* The grid or the budget. */
    tvlm_strategy strategy;
    /* How many tokens may be selected; of crops, how many crops, each of which has so many tokens. */
    int32_t budget, crop_tokens;
    /* What the strategy budget is told beside the number and the side of tokens: a share or a tolerance in place of
     * that number, and what matters. */
    struct tvlm_select_params spending;
    /* The share of an image's tokens that show all of it, of the grid; 0: none. */
    float overview;
    bool all, video;
    /* The version of Pillow whose resize is done. */
    int32_t pillow;
    tvlm_format format;
    bool weighted;
    float weights[3];
    const tvlm_scorer *scorer;
    const tvlm_projection *projection; /* NULL: there is none */
    /* A stack of the last processed size; one of its own for each picture, where the application hands in its
     * channels. */
    tvlm_stack *stack;
    struct tvlm_export_inputs inputs;
    /* The plan and its table, and what they were made for: the size of images, and the place. */
    int32_t source_width, source_height;
    export_place place;
    tvlm_resize plan;
    tvlm_buffer *upload, *table, *lookup, *tokens;
    /* Room for `capacity` pictures: first the full ones, one for each of the run's `images`, then as many for
     * each further role. */
    export_picture *pictures;
    int32_t images, capacity;
    /* The pictures of the last run in the order of the tensors, and how many they are. */
    export_picture **listed;
    int32_t count;
    /* The image that is worked on; -1: none, or all of them. */
    int32_t current;
};

/* Makes sure that *buffer has at least `bytes`. Its content is lost when it grows. */
static inline tvlm_status tvlm_export_reserve(tvlm_device *device, size_t bytes, tvlm_buffer **buffer) {
    if (*buffer != NULL && (*buffer)->bytes >= bytes) return TVLM_OK;
    if (*buffer != NULL) device->backend->buffer_destroy(device, buffer);
    return device->backend->buffer_create(device, bytes, buffer);
}

/* Whether an image becomes pictures of several roles, each a picture to the model. */
static inline bool tvlm_export_has_roles(const tvlm_export *export) {
    return export->strategy == TVLM_STRATEGY_BUDGET || export->overview > 0.0f;
}

/* Returns the picture of that role of an image. */
static inline export_picture *tvlm_export_at(const tvlm_export *export, int32_t image, export_role role) {
    return &export->pictures[(int32_t)role * export->images + image];
}

/* Returns how many tokens all pictures of the last run have. */
static inline int64_t tvlm_export_tokens(const tvlm_export *export) {
    const tvlm_export_picture *last = &export->listed[export->count - 1]->info;
    return (int64_t)last->first_token + last->tokens;
}

/* models.c: finds the size of the full picture of an image, its place and its patches. `frames` is at least
 * 1. */
tvlm_status tvlm_export_measure(const tvlm_export *export, const tvlm_image *image, int32_t frames,
                                export_picture *picture);

/* plan.c: makes the weights that resize an image of that size to a picture, in export->plan and ->table. */
tvlm_status tvlm_export_plan(tvlm_export *export, int32_t width, int32_t height,
                             const export_picture *picture);
/* The weights of one axis, from `source` pixels to places first .. first + size - 1 of `whole`: [size][taps +
 * TVLM_RESIZE_HEAD] ints, which the caller frees. Places beyond `whole` have none (`black`), or those of the
 * nearest place in it. NULL: there is no memory. */
int32_t *tvlm_resize_weights(int32_t source, int64_t whole, int64_t first, int32_t size, bool black,
                             int32_t *taps);

/* pixels.c: sends an image to the device as bytes; and resizes what was sent into frame `frame` of a
 * picture, which has the room. */
tvlm_status tvlm_export_send(tvlm_export *export, const tvlm_image *image);
tvlm_status tvlm_export_resize(tvlm_export *export, const tvlm_image *image, int32_t frame,
                               export_picture *picture);

/* choose.c: scores the tokens of a picture, shares the budget among all images, and chooses the tokens of a
 * picture. */
tvlm_status tvlm_export_score(tvlm_export *export, const struct tvlm_grid_input *features,
                              const struct tvlm_query *queries, export_picture *picture);
tvlm_status tvlm_export_share(tvlm_export *export);
tvlm_status tvlm_export_choose(tvlm_export *export, export_picture *picture);

/* choose.c: puts a picture on the stack, and the encoder's vectors of it (NULL: it has none). */
tvlm_status tvlm_export_look(tvlm_export *export, const struct tvlm_grid_input *features,
                             const export_picture *picture, int32_t frame);
/* The question of a frame; NULL: nothing is asked. */
const struct tvlm_query *tvlm_export_question(const struct tvlm_query *queries, int32_t frame);
/* Makes room for `selected` chosen tokens, and for the scores of all, which become 0. */
tvlm_status tvlm_export_room(const tvlm_export *export, export_picture *picture);
/* Brings the chosen tokens into their order. */
void tvlm_export_sort(export_picture *picture);

/* budget.c: makes the pictures of an image, whose full picture is processed, by the strategy `budget`. */
tvlm_status tvlm_export_spend(tvlm_export *export, const tvlm_image *image,
                              const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                              export_picture *full);

/* budget.c: describes the thumbnail of an image, columns x rows tokens, which are all selected; and makes a picture
 * of the image that was sent last, whose tokens were chosen. The full one has been resized. */
export_picture *tvlm_export_thumbnail(const tvlm_export *export, const export_picture *full, int32_t columns,
                                      int32_t rows);
tvlm_status tvlm_export_make(tvlm_export *export, const tvlm_image *image, export_role role,
                             export_picture *picture);

/* overview.c: makes the two pictures of an image with an overview, whose full picture is processed. */
tvlm_status tvlm_export_oversee(tvlm_export *export, const tvlm_image *image,
                                const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                                export_picture *full);

/* crops.c: finds the crops of an image, and its place on them; whether there is a thumbnail beside them; and
 * makes both, whose full picture is processed, with the crops that lose most in the thumbnail. */
tvlm_status tvlm_export_cut(const tvlm_export *export, const tvlm_image *image, export_picture *picture);
bool tvlm_export_has_thumbnail(const tvlm_export *export, const export_picture *full);
tvlm_status tvlm_export_crop(tvlm_export *export, const tvlm_image *image,
                             const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                             export_picture *full);

/* project.c: makes the vectors of the chosen tokens of an image; and how many numbers a vector has. */
tvlm_status tvlm_export_project(tvlm_export *export, export_picture *full);
int64_t tvlm_export_projected(const tvlm_export *export);

/* tensors.c: tvlm_export_read into memory of the device, by a copy there where the tensor is there. */
tvlm_status tvlm_export_read_there(tvlm_export *export, int32_t index, const struct tvlm_memory *memory);

/* patches.c: enqueues what makes pixel_values, and those of the chosen tokens. */
tvlm_status tvlm_export_patches(tvlm_export *export, export_picture *picture);

#endif
