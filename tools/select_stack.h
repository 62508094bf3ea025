/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_stack.h: the stacks of `tvlm select`: at which size an image is worked on, and which stacks are kept.
 *
 * The stack of a file that the command line names more than once is kept in a session; any other's goes with
 * its image, or, of a batch, stays for images of the same size. Where the device or the host has no memory for an image it is tried again at half its sides.
 */
#ifndef TVLM_TOOLS_SELECT_STACK_H
#define TVLM_TOOLS_SELECT_STACK_H

#include "tool.h"

typedef struct stack_options {
    option_size size;
    option_integer max_side;
    const char *network, *codec;
    option_number cache_bytes;
    option_triple rope;
} stack_options;
extern const option_specs stack_specs;

/* Wrong usage where the options exclude each other. */
int stack_options_check(struct tool *tool, const stack_options *options);

/* A stack that stays for images of its size. */
typedef struct stack_place {
    tvlm_stack *stack;      /* NULL: there is none */
    tvlm_image shape;       /* of its images; the pixels are not looked at */
    const tvlm_image *sent; /* whose pixels are in it, or on their way; NULL: nobody's */
    int64_t used;           /* when it was used last */
} stack_place;

/* Sizes that images come in at the same time: each in two stacks, one that is worked in and one that is filled. */
enum { STACK_PLACES = 6 };

/* What is the same for all images. */
typedef struct stack_source {
    struct tool *tool;
    const tool_common *common;
    const stack_options *options;
    int32_t clusters;            /* regions of each image; 0: the default */
    const tvlm_network *network; /* NULL: there is none */
    tvlm_device *device;         /* NULL before the first image */
    bool lent;                   /* the device is a pool's, which opens and closes it */
    tvlm_session *session;       /* NULL: nothing is kept yet */
    bool reuse; /* stacks stay for images of their size: nothing is handed in, and no session */
    stack_place places[STACK_PLACES];
    int64_t uses;
} stack_source;

/* The stack of one image. It is zero before its first use. */
typedef struct image_stack {
    tvlm_stack *stack;
    bool kept;             /* it is the session's */
    stack_place *place;    /* it is this one's; NULL: it is not */
    bool new;              /* nothing was handed in to it yet */
    int32_t width, height; /* the size at which it is tried again; 0: there was no need */
} image_stack;

/* Finds or makes the stack of an image, and opens the device first, if it is not. `key` tells apart what is
 * handed in to stacks of the same image. */
int stack_find(stack_source *source, const char *path, const tvlm_image *image, const char *layout,
               const char *key, image_stack *found);

/* With `reuse`: sends the pixels of an image ahead that stack_find will ask for, if there is a stack for them. They must
 * stay as they are until stack_find. What fails here fails there again. */
tvlm_status stack_send(stack_source *source, const tvlm_image *image);

/* After an error: whether it is worth a try with a smaller stack, which stack_find makes next. It says so, and
 * forgets the error. Nothing of the device is in use any more: it is opened anew, since drivers do not always
 * recover from such an error. */
bool stack_try_smaller(stack_source *source, const char *path, const tvlm_image *image, image_stack *used);

/* Says that the image is done. After an error its stack does not stay. */
void stack_done(stack_source *source, image_stack *used, bool failed);

/* With -v: how often stacks were found again. */
void stack_say_kept(const stack_source *source);

void stack_source_release(stack_source *source);

#endif
