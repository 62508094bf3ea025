/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.h: the files of a question to an image: the encoder's features, and the vectors of queries.
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
    int32_t rank; /* the rank of the array; `shape` has its sides, the last being the dimension */
    int64_t shape[TVLM_MAX_RANK];
    float *values; /* [count * dimension] */
} vector_file;

/* Reads an array of D or N x D numbers, float32 or float16. A number that is NaN or infinite is refused. */
int vectors_read(struct tool *tool, const char *option, const char *path, vector_file *file);
/* Reads an array of any number of dimensions. The last one is D: features h x w x D are h * w vectors. */
int features_read(struct tool *tool, const char *path, vector_file *file);
void vectors_release(vector_file *file);

/* Tells the dimension of the vectors of a file. */
int vectors_dimension(struct tool *tool, const char *path, int32_t *dimension);

/* Hands all vectors of a file to `add`, one block after the other, so that a file may be larger than memory.
 * The file is one that features_read reads. Its vectors must have `dimension` components, as many as those of
 * the first file. */
typedef tvlm_status vectors_adder(void *target, const float *values, int64_t count);
int vectors_add(struct tool *tool, const char *path, int32_t dimension, vectors_adder *add, void *target);

/*
 * Reads the features of a file, h x w x D, which cover all of an image. `input` points into *array, which the
 * caller destroys in any case. `vectors`, which may be NULL, will be compared with the features, and must
 * have their dimension.
 */
int features_open(struct tool *tool, const char *path, const vector_file *vectors, tvlm_npy **array,
                  struct tvlm_grid_input *input);

/*
 * Hands in the features of a file, h x w x D, to image `index` of a stack. `patch` says how many pixels of
 * the original image a cell covers; that image was `width` pixels wide. 0: the grid covers all of the image.
 * `vectors` are as in features_open.
 */
int features_set(struct tool *tool, const char *path, float patch, int32_t width, const vector_file *vectors,
                 tvlm_stack *stack, int32_t index);

/* Does the same with any object that takes features through `set`. `stack` is the stack that gets them in the
 * end. */
typedef tvlm_status features_setter(void *target, const struct tvlm_grid_input *input);
int features_set_by(struct tool *tool, const char *path, float patch, int32_t width,
                    const vector_file *vectors, tvlm_stack *stack, features_setter *set, void *target);

/* ---- What `tvlm select` asks ---- */

typedef enum question_combine { QUESTION_EACH = 0, QUESTION_MAX, QUESTION_MEAN } question_combine;

typedef struct question_options {
    option_list features;
    option_number patch;
    const char *query, *mean, *words;
    option_choice combine; /* a question_combine */
} question_options;

/* Tables of the options. There are several, since not every command has all options. */
extern const option_specs features_specs;      /* for `features` */
extern const option_specs feature_patch_specs; /* for `patch`, or an option_number elsewhere */
extern const option_specs query_specs;         /* for `query` */
extern const option_specs combine_specs;       /* for `combine` */
extern const option_specs query_settings;      /* for `mean` */
extern const option_specs words_settings;      /* for `words` */

typedef struct questions {
    const question_options *options;
    vector_file queries, mean, words;
    /* How many selections are made of each image. It is 1 if there is no query, or if the queries are
     * combined. */
    int32_t count;
    /* Whether there are several selections of an image, so that each has a number. */
    bool several;
    /* The basis of the embedding that answers the queries. NULL: the features answer them. */
    const struct tvlm_basis *basis;
} questions;

/* Checks the options for `images` images and reads the queries. */
int questions_read(struct tool *tool, const question_options *options, int images, questions *questions);
void questions_release(questions *questions);

/* Loads the scorer of the option --scorer FILE, which is for stills. Two kinds of scorers are refused:
 * - a scorer that weighs features or an embedding, if there are no --features; `embedded` says that
 *   --give hands in an embedding;
 * - a scorer that weighs the scores of an earlier pass, since the tool makes only one pass. */
int questions_scorer(struct tool *tool, const question_options *options, bool embedded, const char *path,
                     tvlm_scorer **scorer);

/* Hands in to a stack the features of image number `image`, and the words. */
int questions_set(struct tool *tool, const questions *questions, int image, int32_t width, tvlm_stack *stack);

/* Fills in the query of selection `number`, and returns it. Returns NULL if nothing is asked. */
const struct tvlm_query *questions_query(const questions *questions, int32_t number,
                                         struct tvlm_query *query);

#endif
