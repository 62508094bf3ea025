/* SPDX-License-Identifier: Apache-2.0 */
/*
 * each.h: for commands that make a file of each of many inputs (--each). Images are decoded ahead. Each image
 * gets a file in a folder, which is named after the image, and on request a line of JSON.
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
extern const option_specs each_specs; /* the option for `each`; batch.h has the others */

/* One input. */
typedef struct each_image {
    char *name;
    int64_t number; /* its index among the inputs */
    const tvlm_image *image;
    const char *output; /* the file that is to be made */
    json_writer *json;  /* takes what its line says beside the image and the file; NULL: there is no line */
} each_image;

/* What a command does with each input. */
typedef struct each_work {
    const char *end; /* the ending of the names of files, such as ".npy" */
    /* Makes and writes one file. If it fails, nothing of this image may be left in `user`. */
    int (*make)(void *user, const each_image *image);
    /* Releases the device, which is lost, and all that was made from it. */
    void (*reset)(void *user);
    void *user;
} each_work;

/* Refuses combinations of options in which one of them would mean nothing. `folder` is the folder that -o
 * names, or NULL. Without --each all of these options are refused. */
int each_check(struct tool *tool, const each_options *options, const char *folder, int count,
               char *const *operands);

int each_run(struct tool *tool, const each_options *options, const char *folder, int count,
             char *const *operands, const each_work *work);

#endif
