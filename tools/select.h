/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h: the parts of `tvlm select`: its stacks, the arrays that it writes, its options, and the answer to one
 * question about one image, which is choosing positions, drawing them, and writing the answer.
 */
#ifndef TVLM_TOOLS_SELECT_H
#define TVLM_TOOLS_SELECT_H

#include "bases.h"
#include "batch.h"
#include "batch_lines.h"
#include "handed.h"
#include "json.h"
#include "lab.h"
#include "questions.h"
#include "select_budget.h"
#include "shared.h"
#include "texturevlm/draw.h"
#include "texturevlm/io.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/network.h"
#include "tool.h"

/* ---- Stacks (select_stack.c) ---- */

/* Chooses the size at which an image is worked on, and keeps stacks. The stack of a file that the command line names more
 * than once is kept in a session. Any other stack is released with its image; in a batch it stays, for images of the same
 * size. If the device or the host has no memory for an image, the image is tried again at half its sides. */

typedef struct stack_options {
    option_size size;
    option_integer max_side;
    const char *network, *codec;
    option_number cache_bytes;
    option_triple rope;
} stack_options;
extern const option_specs stack_specs, stack_makers, stack_settings;

/* A stack that stays for images of its size. */
typedef struct stack_place {
    tvlm_stack *stack;      /* NULL: there is none */
    tvlm_image shape;       /* the size and type of its images; the pixels are not read */
    const tvlm_image *sent; /* the image whose pixels are in it or on their way; NULL: none */
    int64_t used;           /* when it was used last */
} stack_place;

/* How many stacks stay. Images come in at most three sizes at the same time. Each size has two stacks: one is
 * worked in while the other is filled. */
enum { STACK_PLACES = 6 };

/* What is the same for all images. */
typedef struct stack_source {
    struct tool *tool;
    const tool_common *common;
    const stack_options *options;
    int32_t clusters;            /* how many regions each image has; 0: the default */
    const tvlm_network *network; /* NULL: there is none */
    tvlm_device *device;         /* NULL before the first image */
    bool lent;                   /* the device belongs to a pool, which opens and closes it */
    tvlm_session *session;       /* NULL: nothing is kept yet */
    bool reuse; /* stacks stay for images of their size: nothing is handed in, and no session */
    stack_place places[STACK_PLACES];
    int64_t uses;
} stack_source;

/* The stack of one image. It is zero before its first use. */
typedef struct image_stack {
    tvlm_stack *stack;
    bool kept;             /* the stack belongs to the session */
    stack_place *place;    /* the place that has the stack; NULL: it has none */
    bool new;              /* nothing was handed in to the stack yet */
    int32_t width, height; /* the size in which the image is tried again; 0: it is not */
} image_stack;

/* Finds or makes the stack of an image. Opens the device first, if it is not open. `key` tells apart stacks
 * of the same image that are handed different inputs. */
int stack_find(stack_source *source, const char *path, const tvlm_image *image, const char *layout,
               const char *key, image_stack *found);

/* With `reuse`: sends ahead the pixels of an image for which stack_find will be called, if there is a stack
 * for them. The pixels must stay as they are until stack_find. An error here comes again in stack_find. */
tvlm_status stack_send(stack_source *source, const tvlm_image *image);

/* After an error: whether the image should be tried again by stack_find. If so, the error is forgotten.
 * - If other stacks were kept, these are released, and the image is tried again in the same size.
 * - Otherwise it is tried with a smaller stack, and a warning says so.
 * The device is closed, and stack_find opens it anew, since drivers do not always recover from such an error.
 * So nothing of the device is in use after this. */
bool stack_try_smaller(stack_source *source, const char *path, const tvlm_image *image, image_stack *used);

/* Says that the image is done. If it has failed, its stack is not kept. */
void stack_done(stack_source *source, image_stack *used, bool failed);

/* With -v: prints how often stacks were found again. */
void stack_say_kept(const stack_source *source);

void stack_source_release(stack_source *source);

/* ---- Arrays (select_patches.c) ---- */

/* The results beside the JSON: patches, the scores of all patches, and axes. All of them are computed before anything is
 * written. */

/* An array on its way to a file. */
typedef struct select_array {
    void *data; /* NULL: it was not asked for */
    tvlm_element type;
    int32_t rank;
    int64_t shape[4];
} select_array;
void select_array_release(select_array *array);

/* What --patches writes. */
typedef struct patch_options {
    const char *output, *channels, *mean, *deviation;
    option_integer side;
    option_choice norm, format, border;
} patch_options;

extern const option_specs patch_specs, patch_settings;

#define PATCH_CHANNELS_MAX 256

/* The options, read and checked. */
typedef struct patch_plan {
    int32_t channels[PATCH_CHANNELS_MAX], count;
    float mean[PATCH_CHANNELS_MAX], deviation[PATCH_CHANNELS_MAX];
    tvlm_format format;
    tvlm_border border;
} patch_plan;

/* Reads and checks the options. */
int patches_read(struct tool *tool, const patch_options *options, patch_plan *plan);

/* Adds to a layout, a list of names, the channels of patches that it lacks. */
int patches_layout(struct tool *tool, const patch_options *options, const patch_plan *plan, char *layout,
                   size_t size);

/* Cuts out the square of each position: [count][channels][side][side]. */
int select_make_patches(struct tool *tool, tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                        int32_t side, const patch_plan *plan, select_array *patches);

/* Copies the scores that a selection has kept, row after row. */
int select_copy_scores(struct tool *tool, const tvlm_selection *selection, select_array *scores);

/* Computes the ellipse of the structure tensor at each position. Its axes u and v are in pixels of the image
 * as it was handed in. The caller frees *axes. */
int select_make_axes(struct tool *tool, tvlm_stack *stack, const tvlm_selection *selection,
                     tvlm_footprint **axes);

/* ---- Options and answers (select_answer.c) ---- */

typedef struct select_options {
    tool_common common;
    const char *strategy; /* its name; NULL: none was given */
    parameter_options parameters;
    weighing_options weighing;
    const char *output, *overlay, *heatmap, *explain;
    stack_options stacks;
    patch_options patches;
    const char *patch_scores;
    option_list scores;
    int anisotropic;
    const char *crops;
    question_options questions;
    basis_options basis;
    handed_options given;
    batch_options batch;
} select_options;

/* ---- The names of files ---- */

enum { SELECT_PATH_SIZE = 4096 };

/* Makes the name of a file: path[SELECT_PATH_SIZE]. With several images "out.png" becomes "out-STEM.png", and
 * with several queries (query >= 0) it becomes "out-qN.png". */
int select_output_name(struct tool *tool, const char *pattern, const char *image, bool several, int32_t query,
                       char *path);

/* ---- A run and its images ---- */

#define SELECT_LAYOUT_SIZE 2048

typedef struct own_scores {
    vector_file file;
    struct tvlm_scores scores; /* points into the file */
} own_scores;

/* What is the same for all images. */
typedef struct select_run {
    struct tool *tool;
    const select_options *options;
    /* What the options say, without the scorer, points and what depends on an image. The strategy is never
     * TVLM_STRATEGY_DEFAULT. */
    struct tvlm_select_params params;
    tvlm_scorer *scorer;
    tvlm_scorer *folded; /* reads the codes of a codec in place of `scorer`; NULL: there is no codec */
    questions questions;
    patch_plan patches;
    tvlm_basis *basis;
    tvlm_network *network;
    tvlm_codec *codec;
    handed handed;
    stack_source stacks;
    char layout[SELECT_LAYOUT_SIZE]; /* the names of the channels that the score reads */
    bool several;                    /* whether there are several images */
    json_writer json;
    batch_lines *lines; /* NULL: all answers are written at the end */
} select_run;

/* One image, and the answer to one of the queries about it. */
typedef struct select_job {
    const char *path;
    int number; /* the index of the image among the operands */
    const tvlm_image *image;
    tvlm_image *whole; /* the image in its own size, if it is drawn on and `image` is smaller */
    image_stack used;
    tvlm_stack *stack;     /* the stack of `used` */
    option_points middles; /* the middles of objects that are looked at, in pixels of the image */
    char device[128];      /* the name of its device */
    int32_t query_number;  /* the members below are about this query */
    bool written;          /* its answer was written to the JSON */
    struct tvlm_query storage;
    const struct tvlm_query *query; /* NULL: nothing is asked */
    tvlm_selection *selection;
    const tvlm_position *positions;
    int32_t count, k;
    int32_t thumbnail_columns, thumbnail_rows, thumbnail_cells;
    struct tvlm_draw_params grid; /* what pictures are told of the candidates */
    tvlm_image *overlay, *heatmap;
    select_array patches, patch_scores, cut_out;
    own_scores scores;
    tvlm_footprint *axes;
    explained explained;
} select_job;

/* How long the sides of an image must be at least, by --max-side. 0: the image is needed in its own size.
 * `once` says that there may be inputs that cannot be read twice. */
int32_t select_side(const struct tool *tool, const select_options *options, bool once);
/* Whether the pixels of an image are needed once they are in a stack: to be drawn on, or since they cannot be read again where the
 * device is lost. */
bool select_keeps_pixels(const struct tool *tool, const select_options *options);
/* Refuses an image that was read again, if it has another size than the first time. */
int select_same_size(struct tool *tool, const tvlm_image *first, const tvlm_image *now);
/* Finds the middles of objects, at which the strategy foveated looks if no fixation is given. It needs no
 * device. */
int select_find_middles(const select_run *run, select_job *job);
/* Finds the stack of the image, and hands in its inputs. */
int select_prepare(select_run *run, select_job *job);
/* Answers the query job->query_number. All of the answer is computed before any of it is written. */
int select_answer(select_run *run, select_job *job);
/* The two halves of select_answer. The second needs no device, and writes job->device as the name of the
 * device. */
int select_compute(select_run *run, select_job *job);
int select_write(select_run *run, select_job *job);
/* Is due after each answer, also after an error. */
void select_answer_release(select_job *job);

/* ---- Many images (select_pool.c) ---- */

/* Whether --device, or else $TVLM_DEVICE, names more than one device: "all", or several names with commas
 * between them. */
bool select_pool_wanted(const tool_common *common);

/* Answers all questions about all images, and writes all outputs that are asked for. */
int select_pool_run(select_run *run, int count, char *const *paths);

#endif
