/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h: what `tvlm-lab fit` learns from, and what it finds.
 */
#ifndef TVLM_TOOLS_FIT_H
#define TVLM_TOOLS_FIT_H

#include "questions.h"
#include "shared.h"
#include "texturevlm/io_scorer.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/io_network.h"
#include "tool.h"
#include "truth.h"

typedef struct fit_options {
    tool_common common;
    truth_options truth;
    question_options questions;
    const char *output, *channels, *layout, *network, *query_weights;
    option_choice taps; /* an index in taps_choices */
    option_number stride, l2, held_out, largest;
    option_integer k, seed, hidden;
    int leave_one_out;
} fit_options;

/* The choices of cells that are compared. FIXED exists only if there are questions. */
enum { RANDOM = 0, DEFAULT, FIXED, FITTED, CHOICES };

/* How good a choice of cells is. */
typedef struct worth {
    double coverage; /* the share of the objects' area that lies in chosen cells */
    double iou;      /* intersection over union of chosen cells and objects, where the truth is known */
} worth;

/* What is kept about an image, or about a question to an image. */
struct photo {
    const char *path;
    int32_t image,
        group; /* its number; what is held out together: the image, or the class that is asked for */
    int32_t columns, rows;
    int32_t *objects, *known; /* [rows * columns]: how many pixels of a cell are so */
    double object_pixels, known_pixels;
    worth worth[CHOICES];
    bool learnt; /* whether it was learnt from */
    bool counts; /* whether it counts in the figures */
};

struct run {
    struct tool *tool;
    const fit_options *options;
    float stride;
    int32_t k;
    truth *truth;
    tvlm_device *device;
    tvlm_network *network; /* NULL: there is none */
    tvlm_fit *fit, *fixed; /* `fixed` is the fit of the choice FIXED, or NULL */
    int32_t *channels;     /* the channels that the fit reads; NULL: the default ones */
    int32_t channel_count;
    char *layout; /* the names of the channels, as a layout for stacks */
    struct photo *photos;
    int32_t count, visits; /* how many photos there are, and how many there can be */
    int32_t groups;
    uint8_t *held_out, *held_photos;          /* [groups] and [count] */
    const tvlm_scorer *scorer, *fixed_scorer; /* they belong to the fits */
    vector_file vectors;                      /* the questions */
    const char **classes;                     /* [vectors.count]: the class of each; NULL: there are none */
    char *class_names;                        /* the memory of these names */
};

/* Writes the scorer and prints the figures. */
int fit_report(struct run *run);

#endif
