/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensors.h: the parts of `tvlm tensors`: what goes into an export (the pictures, which are image files or the frames of
 * a video, and the inputs that it takes beside these and features, handed.h), and what comes out of it.
 */
#ifndef TVLM_TOOLS_TENSORS_H
#define TVLM_TOOLS_TENSORS_H

#include "handed.h"
#include "json.h"
#include "shared.h"
#include "texturevlm/export.h"
#include "texturevlm/io.h"
#include "texturevlm/lab/network.h"
#include "tool.h"

/* ---- Pictures ---- */

/* How many frames Qwen-VL's own tools take of one video. All of them are in memory at once. */
#define EXPORT_FRAMES_MAX 768

typedef struct export_pictures {
    int count;
    tvlm_image *images;  /* [count] */
    tvlm_image **loaded; /* [count]: images of files, which must be destroyed; NULL for a video */
    bool of_video;       /* whether the images are copies of frames, whose pixels must be freed */
    int partly;          /* TOOL_PARTLY: the video is damaged behind these frames; else TOOL_DONE */
} export_pictures;

/* Loads files, which must all be images. `among_frames` says that they are frames of one video; the
 * error about a file that is no image then says so. */
int export_pictures_load(struct tool *tool, char *const *paths, int count, bool among_frames,
                         export_pictures *pictures);

/* Decodes those frames of the file, if it is a video. If it is not, *pictures stays empty. */
int export_pictures_decode(struct tool *tool, char *const *path, const sampling_options *sampling,
                           export_pictures *pictures);

void export_pictures_release(export_pictures *pictures);

/* ---- Inputs beside them ---- */

/* The table of the option for `clusters`. The other options have tables of their own. */
extern const option_specs export_clusters_specs;

/* The inputs that are handed in to the pictures of an export. The caller fills in the first members. */
typedef struct export_inputs {
    struct tool *tool;
    const handed_options *options;
    const tvlm_network *network; /* NULL: there is none */
    char *const *paths;
    const export_pictures *pictures;
    bool middle; /* the model sees the middle square of each image */
    handed read;
    bool failed; /* a file could not be handed in; the tool's error is about it */
} export_inputs;

/* Lets an export hand in the inputs to its pictures. `inputs` and `pictures` must live until the export's
 * last run. */
int export_inputs_set(export_inputs *inputs, const export_pictures *pictures, tvlm_export *export);

/* ---- Results (tensors_results.c) ---- */

#define EXPORT_TENSORS_MAX 12

typedef struct export_results {
    /* What the tensors are made of. The caller sets these members and keeps what they point to. */
    struct tool *tool;
    tvlm_export *export; /* the export, after its run */
    tvlm_export_model model;
    const export_pictures *pictures;
    char *const *paths; /* [pictures->count] */
    /* The tensors. export_results_read fills them in. */
    tvlm_tensor tensors[EXPORT_TENSORS_MAX];
    void *data[EXPORT_TENSORS_MAX];
    int32_t count;
} export_results;

/* Reads all tensors, or with `selected_only` all but the pixel values of every token. Returns TOOL_FAILED
 * also if a score is not a number. */
int export_results_read(export_results *results, bool selected_only);

/* Writes the tensors that were read. */
int export_results_write(const export_results *results, const char *path);

/* Prints a line for each picture: its sizes, and how many of its tokens were chosen. */
int export_results_text(const export_results *results);

/* Adds "images" and "tensors" to an object that is open. */
void export_results_json(const export_results *results, json_writer *json);

/* Releases the tensors. What they are made of still belongs to the caller. */
void export_results_release(export_results *results);

/* Whether a model takes crops of an image in place of patches. */
bool export_is_cut(tvlm_export_model model);

#endif
