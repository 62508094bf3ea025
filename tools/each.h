/* SPDX-License-Identifier: Apache-2.0 */
/*
 * each.h: commands that make a file of each of many inputs (--each): images are decoded ahead, each gets a file in a
 * folder, named after it, and on request a line of JSON.
 */
#ifndef TVLM_TOOLS_EACH_H
#define TVLM_TOOLS_EACH_H

#include "batch.h"
#include "json.h"
#include "texturevlm/image.h"

typedef struct each_options {
    int each;
    batch_options batch;
} each_options;
extern const option_specs each_specs; /* for `each`; batch.h has the others */

/* One input. */
typedef struct each_image {
    char *name;
    int64_t number; /* its place among the inputs */
    const tvlm_image *image;
    const char *output; /* the file that is to be made */
    json_writer *json;  /* takes what its line says beside the image and the file; NULL: there is no line */
} each_image;

/* What a command does about them. */
typedef struct each_work {
    const char *end; /* of the names of files: ".npy" */
    /* Makes and writes one file. Where it fails, nothing of this image may be left in `user`. */
    int (*make)(void *user, const each_image *image);
    /* Lets go of the device, which is lost, and of all that was made from it. */
    void (*reset)(void *user);
    void *user;
} each_work;

/* Refuses options without which, or with which, the others mean nothing; `folder` is what -o names, or NULL. Without
 * --each all of them are refused. */
int each_check(struct tool *tool, const each_options *options, const char *folder, int count,
               char *const *operands);

int each_run(struct tool *tool, const each_options *options, const char *folder, int count,
             char *const *operands, const each_work *work);

#endif
