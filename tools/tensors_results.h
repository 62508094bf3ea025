/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensors_results.h: the results of `tvlm tensors`: reads the tensors of an export, writes them, and describes
 * them and their pictures.
 */
#ifndef TVLM_TOOLS_TENSORS_RESULTS_H
#define TVLM_TOOLS_TENSORS_RESULTS_H

#include "json.h"
#include "tensors_inputs.h"
#include "texturevlm/export.h"
#include "texturevlm/io.h"
#include "tool.h"

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
