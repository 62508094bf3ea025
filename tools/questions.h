/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.h: what is asked of an image as files: the encoder's features, and the vectors of queries.
 */
#ifndef TVLM_TOOLS_QUESTIONS_H
#define TVLM_TOOLS_QUESTIONS_H

#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"
#include "tool.h"

/* Vectors of one dimension, as floats. */
typedef struct vector_file {
    const char *path; /* NULL: none were read */
    int32_t count, dimension;
    float *values; /* [count * dimension] */
} vector_file;

/* D or N x D numbers, float32 or float16, none of them NaN or infinite. */
int vectors_read(struct tool *tool, const char *option, const char *path, vector_file *file);
/* The same from an array of any number of dimensions, the last one D: h x w x D features are h * w vectors.
 */
int features_read(struct tool *tool, const char *path, vector_file *file);
void vectors_release(vector_file *file);

/* As features_read, a block after the other: files may be larger than memory. */
typedef struct vector_reader {
    const char *path;
    int32_t dimension;
    int64_t count, done; /* vectors of the file, and how many of them were read */
    struct vector_pieces *pieces;
} vector_reader;
int vectors_open(struct tool *tool, const char *path, vector_reader *reader);
/* *values[count * dimension] is the next block, the reader's own; count 0 after the last. */
int vectors_next(struct tool *tool, vector_reader *reader, const float **values, int64_t *count);
void vectors_close(vector_reader *reader);

/*
 * Reads the features of a file, h x w x D, over all of an image. Destroy *array in any case; vectors as
 * below.
 */
int features_open(struct tool *tool, const char *path, const vector_file *vectors, tvlm_npy **array,
                  struct tvlm_grid_input *input);

/*
 * Hands the features of a file, h x w x D, to image `index` of a stack whose image was `width` pixels wide.
 * patch: pixels of that image that a cell covers; 0: the grid covers all of it. vectors (may be NULL): those
 * that will be compared with them, and so have their dimension.
 */
int features_set(struct tool *tool, const char *path, float patch, int32_t width, const vector_file *vectors,
                 tvlm_stack *stack, int32_t index);

/* The same for whatever takes features; `stack` is the one that they end in. */
typedef tvlm_status features_setter(void *target, const struct tvlm_grid_input *input);
int features_set_by(struct tool *tool, const char *path, float patch, int32_t width,
                    const vector_file *vectors, tvlm_stack *stack, features_setter *set, void *target);

/* ---- What `tvlm select` asks ---- */

typedef enum question_combine { QUESTION_EACH = 0, QUESTION_MAX, QUESTION_MEAN } question_combine;

typedef struct question_options {
    option_list features;
    option_number patch;
    const char *query, *mean;
    int combine; /* question_combine */
} question_options;

/* Tables of the options: each member has one of its own, since not every command has them all. */
extern const option_specs features_specs;      /* .features */
extern const option_specs feature_patch_specs; /* an option_number, which may lie elsewhere */
extern const option_specs query_specs;         /* .query and .mean */
extern const option_specs combine_specs;       /* .combine */

typedef struct questions {
    const question_options *options;
    vector_file queries, mean;
    int32_t count; /* selections of each image: 1 where there is no query or they are combined */
    bool several;  /* more than one, each with its number */
    const struct tvlm_basis *basis; /* answers come from an embedding in it; NULL: from the features */
} questions;

/* Checks the options for `images` images and reads the queries. */
int questions_read(struct tool *tool, const question_options *options, int images, questions *questions);
void questions_release(questions *questions);

/* Refuses an output that is one of the files. NULL is fine. */
int questions_check_output(struct tool *tool, const question_options *options, const char *output);

/* --scorer FILE; refused where it weighs features, or an embedding, and no --features are there. */
int questions_scorer(struct tool *tool, const question_options *options, const char *path,
                     tvlm_scorer **scorer);

/* Hands the features of the image-th image to a stack. */
int questions_set(struct tool *tool, const questions *questions, int image, int32_t width, tvlm_stack *stack);

/* The query of selection `number`; NULL where nothing is asked. */
const struct tvlm_query *questions_query(const questions *questions, int32_t number,
                                         struct tvlm_query *query);

#endif
