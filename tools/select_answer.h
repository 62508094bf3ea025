/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_answer.h: the options of `tvlm select`, and the answer to one question about one image: choosing
 * positions, drawing them, and writing the answer.
 */
#ifndef TVLM_TOOLS_SELECT_ANSWER_H
#define TVLM_TOOLS_SELECT_ANSWER_H

#include "bases.h"
#include "batch.h"
#include "batch_lines.h"
#include "handed.h"
#include "json.h"
#include "lab.h"
#include "questions.h"
#include "select_budget.h"
#include "select_patches.h"
#include "select_stack.h"
#include "shared.h"
#include "texturevlm/draw.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/footprint.h"
#include "tool.h"

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
