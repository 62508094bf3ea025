/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_stack.h: the stacks of `tvlm select`: chooses the size at which an image is worked on, and keeps
 * stacks.
 *
 * The stack of a file that the command line names more than once is kept in a session. Any other stack is
 * released with its image; in a batch it stays, for images of the same size. If the device or the host has no
 * memory for an image, the image is tried again at half its sides.
 */
#ifndef TVLM_TOOLS_SELECT_STACK_H
#define TVLM_TOOLS_SELECT_STACK_H

#include "texturevlm/lab/network.h"
#include "tool.h"

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

#endif
