/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export/inside.h: what the files of this folder share. The public header is texturevlm/export.h.
 */
#ifndef TVLM_EXPORT_INSIDE_H
#define TVLM_EXPORT_INSIDE_H

#include "core/backend.h"
#include "texturevlm/export.h"

/* The most pixels that a side may have, and the most that tvlm_export_processor.crops may be. */
enum { EXPORT_SIDE_MAX = 16384, EXPORT_CROPS_MAX = 64 };

/* What a model's processor makes of an image: a picture of the image's shape, one square, or crops of one
 * size. */
typedef enum export_family { EXPORT_BLOCKS, EXPORT_SQUARE, EXPORT_CROPS } export_family;
static inline export_family tvlm_export_family(const tvlm_export_processor *p) {
    return p->side == 0 ? EXPORT_BLOCKS : p->crops > 0 ? EXPORT_CROPS : EXPORT_SQUARE;
}

/* Where a processed picture lies in the resized image, in pixels of the resized image. Pixels beyond that
 * image are black, or repeat its border. */
typedef struct export_place {
    int64_t width, height; /* the size of the resized image */
    int64_t left, top;     /* may be below 0 */
    bool black;
} export_place;

/* Which version of its image a picture is. There is always a full picture. A thumbnail is made by the
 * strategy budget, as an overview, or beside crops. The others are made only by the strategy budget. */
typedef enum export_role {
    EXPORT_FULL,
    EXPORT_THUMBNAIL,
    EXPORT_THREE_QUARTERS,
    EXPORT_HALF,
    EXPORT_THIRD,
    EXPORT_QUARTER,
    EXPORT_ROLES
} export_role;

/* A picture of a run, or the run's video. Its buffers are kept from run to run, and grow when they must. */
typedef struct export_picture {
    /* info.tokens is 0 if there is no such picture. */
    tvlm_export_picture info;
    export_place place;
    /* The number of images that are its frames, and the index of the first one among the images that were
     * handed in. */
    int32_t frames, first_image;
    /* The size of its first image. */
    int32_t image_width, image_height;
    /* Only in the full picture. `all` is the number of tokens by which a budget is shared among images; a
     * thumbnail beside crops is one of them. `granted` is how many tokens of its image may be selected. */
    int32_t all, granted;
    /* The processed pixels: [frames][height][width][3]. */
    tvlm_buffer *bytes;
    /* The tensors pixel_values and selected_pixel_values. */
    tvlm_buffer *values;
    tvlm_buffer *selected;
    /* The score of each token. */
    float *scores;
    /* The tokens that were selected, in ascending order, counted from 0 in this picture. */
    int32_t *chosen;
    /* The vectors that the projection makes of the selected tokens. */
    float *vectors;
} export_picture;

struct tvlm_export {
    tvlm_device *device;
    tvlm_export_model model;
    tvlm_export_processor processor;
    /* A token is `merge` x `merge` patches, and a patch has `patch` x `patch` pixels. In an export of crops,
     * each crop counts as a token of one patch. */
    int32_t patch, merge;
    /* Either the grid or the budget. */
    tvlm_strategy strategy;
    /* How many tokens may be selected. In an export of crops: how many crops may be selected, and how many
     * tokens the model has for each crop. */
    int32_t budget, crop_tokens;
    /*
     * The parameters with which the strategy budget calls tvlm_select. The number and the side of the tokens
     * are not in it, and are filled in for each image. It holds:
     * - a share or a tolerance, if one is asked for in place of a number of tokens; the grid reads a share, too;
     * - what matters in the image: the emphasis with its channel, and the scorer.
     */
    struct tvlm_select_params spending;
    /* With the strategy grid: the share of an image's tokens that a thumbnail of the whole image takes; 0:
     * there is no thumbnail. */
    float overview;
    bool all, video;
    /* The version of Pillow whose resize is computed: params.pillow. */
    int32_t pillow;
    tvlm_format format;
    bool weighted;
    float weights[3];
    const tvlm_scorer *scorer;
    /* The projection (texturevlm/lab/projection.h), which makes vectors of so many numbers; NULL: there is none. */
    const struct tvlm_projection *projection;
    int32_t vector_size;
    /* A stack of the last picture's size. If the application hands in channels, each picture gets a new
     * stack. */
    tvlm_stack *stack;
    struct tvlm_export_inputs inputs;
    /* The plan of a resize and its table, and what they were made for: the size of the image, and the
     * place. */
    int32_t source_width, source_height;
    export_place place;
    tvlm_resize plan;
    tvlm_buffer *upload, *table, *lookup, *tokens;
    /* Room for `capacity` pictures. First come the full pictures, one for each of the run's `images` images,
     * and then as many for each further role. */
    export_picture *pictures;
    int32_t images, capacity;
    /* The pictures of the last run in the order of the tensors, and their number. */
    export_picture **listed;
    int32_t count;
    /* The index of the image that is worked on; -1: none, or all of them. */
    int32_t current;
};

/* Makes sure that *buffer has at least `bytes` bytes. If it has to grow, its content is lost. */
static inline tvlm_status tvlm_export_reserve(tvlm_device *device, size_t bytes, tvlm_buffer **buffer) {
    if (*buffer != NULL && (*buffer)->bytes >= bytes) return TVLM_OK;
    if (*buffer != NULL) device->backend->buffer_destroy(device, buffer);
    return device->backend->buffer_create(device, bytes, buffer);
}

/* Returns whether an image may become pictures of several roles. To the model, each of them is a picture. */
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

/* models.c: finds the size of an image's full picture, its place, and how many patches and tokens it has.
 * `frames` is at least 1. */
tvlm_status tvlm_export_measure(const tvlm_export *export, const tvlm_image *image, int32_t frames,
                                export_picture *picture);

/* plan.c: makes the weights with which an image of that size is resized to a picture. They go to export->plan
 * and export->table. */
tvlm_status tvlm_export_plan(tvlm_export *export, int32_t width, int32_t height,
                             const export_picture *picture);
/*
 * Returns the weights of one axis on which `source` pixels are resized to `whole`. They are those of places
 * first .. first + size - 1: [size][taps + TVLM_RESIZE_HEAD] ints, which the caller frees. A place outside of
 * 0 .. whole - 1 has no weights if `black` is set, and otherwise the weights of the nearest place within.
 * NULL means that there is no memory.
 */
int32_t *tvlm_resize_weights(int32_t source, int64_t whole, int64_t first, int32_t size, bool black,
                             int32_t *taps);

/* pixels.c: the first function sends an image to the device as bytes. The second resizes the image that was
 * sent into frame `frame` of a picture, which must have room for it. */
tvlm_status tvlm_export_send(tvlm_export *export, const tvlm_image *image);
tvlm_status tvlm_export_resize(tvlm_export *export, const tvlm_image *image, int32_t frame,
                               export_picture *picture);

/* choose.c: scores the tokens of a picture, shares the budget among all images, and chooses the tokens of a
 * picture. */
tvlm_status tvlm_export_score(tvlm_export *export, const struct tvlm_grid_input *features,
                              const struct tvlm_query *queries, export_picture *picture);
tvlm_status tvlm_export_share(tvlm_export *export);
tvlm_status tvlm_export_choose(tvlm_export *export, export_picture *picture);

/* choose.c: puts a frame of a picture on the stack, with the encoder's vectors of it. NULL means that there
 * are no vectors. */
tvlm_status tvlm_export_look(tvlm_export *export, const struct tvlm_grid_input *features,
                             const export_picture *picture, int32_t frame);
/* Returns the question about a frame, or NULL if nothing is asked. */
const struct tvlm_query *tvlm_export_question(const struct tvlm_query *queries, int32_t frame);
/* Makes room for info.selected chosen tokens, and for the scores of all tokens, which become 0. */
tvlm_status tvlm_export_room(const tvlm_export *export, export_picture *picture);
/* Sorts the chosen tokens in ascending order. */
void tvlm_export_sort(export_picture *picture);

/* budget.c: makes the pictures of an image by the strategy `budget`. The image's full picture must have been
 * processed. */
tvlm_status tvlm_export_spend(tvlm_export *export, const tvlm_image *image,
                              const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                              export_picture *full);

/*
 * budget.c:
 * - tvlm_export_thumbnail describes the thumbnail of an image, with columns x rows tokens, which are all
 *   selected.
 * - tvlm_export_make makes a picture of the image that was sent last, once its tokens are chosen. The full
 *   picture is not resized here: that has been done before.
 */
export_picture *tvlm_export_thumbnail(const tvlm_export *export, const export_picture *full, int32_t columns,
                                      int32_t rows);
tvlm_status tvlm_export_make(tvlm_export *export, const tvlm_image *image, export_role role,
                             export_picture *picture);

/* overview.c: makes the two pictures of an image with an overview. The image's full picture must have been
 * processed. */
tvlm_status tvlm_export_oversee(tvlm_export *export, const tvlm_image *image,
                                const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                                export_picture *full);

/*
 * crops.c:
 * - tvlm_export_cut finds the crops of an image, and the image's place on them.
 * - tvlm_export_has_thumbnail returns whether there is a thumbnail beside the crops.
 * - tvlm_export_crop makes the thumbnail, and selects the crops in which the thumbnail loses most. The full
 *   picture must have been processed.
 */
tvlm_status tvlm_export_cut(const tvlm_export *export, const tvlm_image *image, export_picture *picture);
bool tvlm_export_has_thumbnail(const tvlm_export *export, const export_picture *full);
tvlm_status tvlm_export_crop(tvlm_export *export, const tvlm_image *image,
                             const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                             export_picture *full);

/* Makes the vectors of an image's chosen tokens, by the projection of the export. The function is in the lab,
 * and lib/parts says where. It is NULL in a build without the lab, where no export has a projection. */
typedef tvlm_status tvlm_export_project_function(tvlm_export *export, export_picture *full);
extern tvlm_export_project_function *const tvlm_export_projector;

/* tensors.c: does what tvlm_export_read does, but into the device's memory. A tensor that is on the device is
 * copied there; any other is sent. */
tvlm_status tvlm_export_read_there(tvlm_export *export, int32_t index, const struct tvlm_memory *memory);

/* patches.c: enqueues the work that makes pixel_values, and selected_pixel_values for the chosen tokens. */
tvlm_status tvlm_export_patches(tvlm_export *export, export_picture *picture);

#endif
