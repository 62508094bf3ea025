/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h: what a person has as files beside an image, for `tvlm generate`: grids as .npy, masks and maps as
 * pictures.
 */
#ifndef TVLM_TOOLS_INPUTS_H
#define TVLM_TOOLS_INPUTS_H

#include "bases.h"
#include "questions.h"
#include "tool.h"

typedef struct input_options {
    const char *attention, *attention_prev, *gaze, *depth, *embedding, *saliency_map, *text_mask, *labels;
    const char *features, *words;
    option_number patch; /* of the features */
    basis_options basis; /* of the embedding, where features are handed in and no embedding */
} input_options;

/* The options, for a table of `type` whose member `member` is an input_options. */
#define INPUT_SPECS(type, member)                                                                            \
    {0,           OPTION_TEXT,                                                                               \
     "attention", offsetof(type, member.attention),                                                          \
     "F.npy",     "attention over the image: rows x columns, float32 or float16",                            \
     0,           0,                                                                                         \
     NULL},                                                                                                  \
        {0,                                                                                                  \
         OPTION_TEXT,                                                                                        \
         "attention-prev",                                                                                   \
         offsetof(type, member.attention_prev),                                                              \
         "F.npy",                                                                                            \
         "that of the previous layer or step",                                                               \
         0,                                                                                                  \
         0,                                                                                                  \
         NULL},                                                                                              \
        {0, OPTION_TEXT, "gaze", offsetof(type, member.gaze), "F.npy", "where eyes were: rows x columns",    \
         0, 0,           NULL},                                                                              \
        {0,       OPTION_TEXT,                                                                               \
         "depth", offsetof(type, member.depth),                                                              \
         "F.npy", "rows x columns; normals and occlusion follow from it",                                    \
         0,       0,                                                                                         \
         NULL},                                                                                              \
        {0,           OPTION_TEXT,                                                                           \
         "embedding", offsetof(type, member.embedding),                                                      \
         "F.npy",     "rows x columns x C, C up to 64: embedding_0 ..",                                      \
         0,           0,                                                                                     \
         NULL},                                                                                              \
        {0,                                                                                                  \
         OPTION_TEXT,                                                                                        \
         "saliency-map",                                                                                     \
         offsetof(type, member.saliency_map),                                                                \
         "FILE",                                                                                             \
         "a picture or .npy in place of saliency",                                                           \
         0,                                                                                                  \
         0,                                                                                                  \
         NULL},                                                                                              \
        {0,           OPTION_TEXT,                                                                           \
         "text-mask", offsetof(type, member.text_mask),                                                      \
         "FILE",      "a picture or .npy in place of text",                                                  \
         0,           0,                                                                                     \
         NULL},                                                                                              \
        {0,          OPTION_TEXT,                                                                            \
         "features", offsetof(type, member.features),                                                        \
         "F.npy",    "the encoder's vectors, h x w x D: feature_0 ..",                                       \
         0,          0,                                                                                      \
         NULL},                                                                                              \
        FEATURE_PATCH_SPEC(type, member.patch, "image"),                                                     \
        {0,       OPTION_TEXT,                                                                               \
         "words", offsetof(type, member.words),                                                              \
         "Q.npy", "up to 64 vectors, N x D: word_0 .., the features'\nsimilarity to each",                   \
         0,       0,                                                                                         \
         NULL},                                                                                              \
        BASIS_SPECS(type, member.basis, " (default: image)"), {                                              \
        0, OPTION_TEXT, "labels", offsetof(type, member.labels), "FILE",                                     \
            "regions in place of --clusters: a picture (gray, or ids as R + 256 G +\n65536 B) or a .npy of " \
            "integers, up to 2048 different ones",                                                           \
            0, 0, NULL                                                                                       \
    }

/* The files, read and checked. */
typedef struct input_files input_files;

/* Refuses an output that is one of the files. NULL is fine. */
int inputs_check_output(struct tool *tool, const input_options *options, const char *output);

/* An option that was given, NULL where there is none. */
const char *inputs_given(const input_options *options);

/* By content, not by name. What cannot be opened is for the readers to say. */
bool inputs_is_array(const char *path);

/* Reads what the options name; *files is NULL where they name nothing. */
int inputs_read(struct tool *tool, const input_options *options, input_files **files);

/* Hands them to image 0, which was `width` pixels wide in its file. */
int inputs_set(struct tool *tool, input_files *files, int32_t width, tvlm_stack *stack);

void inputs_release(input_files **files);

#endif
