/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "platform/stdio.h"
#include "texturevlm/io.h"

/* ---- Label maps ---- */

typedef struct label_map {
    int32_t *ids; /* [rows * columns]; NULL: there is no map */
    int32_t columns, rows;
} label_map;

static int reserve(struct tool *tool, int32_t columns, int32_t rows, label_map *map) {
    const size_t count = (size_t)columns * (size_t)rows;
    map->ids = count <= SIZE_MAX / sizeof *map->ids ? malloc(count * sizeof *map->ids) : NULL;
    if (map->ids == NULL) return tool_fail(tool, "no memory for %d x %d labels", (int)columns, (int)rows);
    map->columns = columns;
    map->rows = rows;
    return TOOL_DONE;
}

/* Reads element `at`. Returns false if it does not fit an id. */
static bool integer_at(const tvlm_npy *array, size_t at, int32_t *id) {
    int64_t value = 0;
    switch (array->type) {
    case TVLM_ELEMENT_BOOL:
    case TVLM_ELEMENT_U8: value = ((const uint8_t *)array->data)[at]; break;
    case TVLM_ELEMENT_I8: value = ((const int8_t *)array->data)[at]; break;
    case TVLM_ELEMENT_U16: value = ((const uint16_t *)array->data)[at]; break;
    case TVLM_ELEMENT_I16: value = ((const int16_t *)array->data)[at]; break;
    case TVLM_ELEMENT_U32: value = ((const uint32_t *)array->data)[at]; break;
    case TVLM_ELEMENT_I32: value = ((const int32_t *)array->data)[at]; break;
    case TVLM_ELEMENT_I64: value = ((const int64_t *)array->data)[at]; break;
    case TVLM_ELEMENT_U64: {
        const uint64_t wide = ((const uint64_t *)array->data)[at];
        value = wide <= INT32_MAX ? (int64_t)wide : INT64_MAX;
        break;
    }
    default: return false;
    }
    *id = (int32_t)value;
    return value >= INT32_MIN && value <= INT32_MAX;
}

static int check_labels(struct tool *tool, const tvlm_npy *array) {
    if (array->rank != 2)
        return tool_fail(tool, "--labels takes rows x columns, an array of 2 dimensions; this one has %d",
                         (int)array->rank);
    if (array->type < TVLM_ELEMENT_U8)
        return tool_fail(tool, "--labels takes integers; this is %s", tvlm_element_name(array->type));
    for (int i = 0; i < 2; ++i)
        if (array->shape[i] < 1 || array->shape[i] > INT32_MAX)
            return tool_fail(tool, "--labels: a side of %lld", (long long)array->shape[i]);
    return TOOL_DONE;
}

static int take_labels(struct tool *tool, const tvlm_npy *array, label_map *map) {
    int code = check_labels(tool, array);
    if (code == TOOL_DONE) code = reserve(tool, (int32_t)array->shape[1], (int32_t)array->shape[0], map);
    for (size_t i = 0; code == TOOL_DONE && i < (size_t)map->columns * (size_t)map->rows; ++i)
        if (!integer_at(array, i, &map->ids[i]))
            code = tool_fail(tool, "--labels: the label in row %zu, column %zu does not fit in 32 bits",
                             i / (size_t)map->columns, i % (size_t)map->columns);
    return code;
}

static int32_t pixel_id(const tvlm_image *image, size_t pixel) {
    const size_t at = pixel * (size_t)image->channels;
    if (image->type == TVLM_PIXEL_U16) return ((const uint16_t *)image->pixels)[at];
    const uint8_t *const bytes = (const uint8_t *)image->pixels + at;
    return image->channels < 3 ? bytes[0] : bytes[0] | bytes[1] << 8 | bytes[2] << 16;
}

static int take_picture(struct tool *tool, const tvlm_image *image, label_map *map) {
    if (image->type == TVLM_PIXEL_U16 && image->channels >= 3)
        return tool_fail(tool, "--labels takes gray of 8 or 16 bits or colours of 8; these have 16");
    const int code = reserve(tool, image->width, image->height, map);
    const size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; code == TOOL_DONE && i < count; ++i) map->ids[i] = pixel_id(image, i);
    return code;
}

/*
 * Reads an .npy file of integers, rows x columns, or a picture. Gray values, also those of 16 bits, are the
 * ids. Colours are ids as in COCO's panoptic maps: R + 256 G + 65536 B. Alpha is ignored. Errors are about
 * tool->subject.
 */
static int labels_read(struct tool *tool, const char *path, label_map *map) {
    tvlm_npy *array = NULL;
    tvlm_image *image = NULL;
    int code;
    *map = (label_map){0};
    if (inputs_is_array(path)) {
        code = tool_status(tool, tvlm_npy_read(path, &tool->log, &array));
        if (code == TOOL_DONE) code = take_labels(tool, array, map);
    } else {
        code = tool_status(tool, tvlm_image_load(path, &tool->log, &image));
        if (code == TOOL_DONE) code = take_picture(tool, image, map);
    }
    tvlm_npy_destroy(&array);
    tvlm_image_destroy(&image);
    return code;
}

static void labels_release(label_map *map) {
    free(map->ids);
    *map = (label_map){0};
}

/* ---- Options ---- */

/* The channels that --give hands in, in the order of `rows`. */
static const char *const given_channels[] = {"attention", "attention_prev", "gaze", "depth",
                                             "embedding", "saliency",       "text", NULL};

static const option_spec specs[] = {
    {0, OPTION_GIVE, "give", offsetof(input_options, given), "CHANNEL=FILE",
     "attention, attention_prev, gaze, depth, embedding, saliency or text from a file; as often as there "
     "are channels: attention, attention_prev (of the layer or step before), gaze (where eyes were) and "
     "depth are a .npy of rows x columns, float32 or float16; embedding is a .npy of rows x columns x C, C "
     "up to 64; saliency and text are a picture or a .npy",
     NO_RANGE, given_channels},
    {0, OPTION_INPUT, "labels", offsetof(input_options, labels), "FILE",
     "regions in place of --clusters: a picture (gray, or ids as R + 256 G + 65536 B) or a .npy "
     "of integers, up to 2048 different ones",
     NO_RANGE, NULL},
};
const option_specs input_specs = OPTION_SPECS("What is known of the image", specs);

static const option_spec vector_list[] = {
    {0, OPTION_INPUT, "features", offsetof(input_options, features), "F.npy",
     "the encoder's vectors, h x w x D: feature_0 ..", NO_RANGE, NULL},
    {0, OPTION_INPUT, "words", offsetof(input_options, words), "Q.npy",
     "up to 64 vectors, N x D: word_0 .., the features' similarity to each", NO_RANGE, NULL},
};
const option_specs input_vector_specs = OPTION_SPECS("What is asked", vector_list);

/* What --give hands in: its name in messages, the channel, and the form of its file. */
typedef struct input_row {
    const char *name;
    int32_t channel;
    int rank;
    bool picture; /* whether the file may be a picture, or an array of bool */
} input_row;

static const input_row rows[INPUT_GIVEN] = {
    {"--give attention", TVLM_CHANNEL_ATTENTION, 2, false},
    {"--give attention_prev", TVLM_CHANNEL_ATTENTION_PREV, 2, false},
    {"--give gaze", TVLM_CHANNEL_GAZE, 2, false},
    {"--give depth", TVLM_CHANNEL_DEPTH, 2, false},
    [INPUT_EMBEDDING] = {"--give embedding", TVLM_CHANNEL_EMBEDDING_0, 3, false},
    [INPUT_SALIENCY] = {"--give saliency", TVLM_CHANNEL_SALIENCY, 2, true},
    {"--give text", TVLM_CHANNEL_TEXT, 2, true},
};

#define ROW_COUNT ((size_t)INPUT_GIVEN)

struct input_files {
    const input_options *options;
    struct {
        tvlm_npy *array;
        float *values; /* the values as floats, if the file is not an array of floats */
        struct tvlm_grid_input grid;
    } file[ROW_COUNT];
    label_map labels;
    vector_file words;
    tvlm_basis *basis; /* the basis of the last image */
};

static const char *path_of(const input_options *options, size_t row) {
    return options->given[row];
}

const char *inputs_given(const input_options *options) {
    for (size_t i = 0; i < ROW_COUNT; ++i)
        if (path_of(options, i) != NULL) return rows[i].name;
    return options->labels != NULL     ? "--labels"
           : options->features != NULL ? "--features"
           : options->words != NULL    ? "--words"
           : options->patch.given      ? "--feature-patch"
                                       : NULL;
}

/* ---- Whether they are read ---- */

/* Whether a channel comes from the input for channel `handed_in`: directly, or because both are of one
 * family. For example, normals come from depth, all words from one file, and an embedding also from features. */
static bool follows(int32_t channel, int32_t handed_in) {
    tvlm_channel_info a, b;
    if (channel == handed_in) return true;
    if (handed_in != TVLM_CHANNEL_DEPTH && handed_in != TVLM_CHANNEL_EMBEDDING_0 &&
        handed_in != TVLM_CHANNEL_CLUSTER_ID && handed_in != TVLM_CHANNEL_WORD_0 &&
        handed_in != TVLM_CHANNEL_FEATURE_0)
        return false;
    if (handed_in == TVLM_CHANNEL_FEATURE_0 && follows(channel, TVLM_CHANNEL_EMBEDDING_0)) return true;
    return tvlm_channel_get_info(channel, &a) == TVLM_OK && tvlm_channel_get_info(handed_in, &b) == TVLM_OK &&
           strcmp(a.family, b.family) == 0;
}

int inputs_check_read(struct tool *tool, const char *option, int32_t channel, const char *layout,
                      const char *reader) {
    int32_t channels[TVLM_LAYOUT_CHANNELS_MAX], count = 0;
    tvlm_channel_info info;
    int code =
        tool_status(tool, tvlm_layout_parse(layout, &tool->log, TVLM_LAYOUT_CHANNELS_MAX, channels, &count));
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i)
        if (follows(channels[i], channel)) return TOOL_DONE;
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_channel_get_info(channel, &info));
    if (code != TOOL_DONE) return code;
    return tool_usage(tool, "%s has no effect: nothing reads %s; %s", option, info.name, reader);
}

int inputs_check(struct tool *tool, const input_options *options, const char *layout, const char *reader) {
    int code = TOOL_DONE;
    for (size_t i = 0; code == TOOL_DONE && i < ROW_COUNT; ++i)
        if (path_of(options, i) != NULL)
            code = inputs_check_read(tool, rows[i].name, rows[i].channel, layout, reader);
    return code;
}

/* ---- Arrays ---- */

static int check_array(struct tool *tool, const input_row *row, const tvlm_npy *array) {
    if (array->rank != row->rank)
        return tool_fail(tool, "%s takes %s, an array of %d dimensions; this one has %d", row->name,
                         row->rank == 3 ? "rows x columns x C" : "rows x columns", row->rank,
                         (int)array->rank);
    if (array->type != TVLM_ELEMENT_F32 && array->type != TVLM_ELEMENT_F16 &&
        !(row->picture && array->type == TVLM_ELEMENT_BOOL))
        return tool_fail(tool, "%s takes float32 or float16%s; this is %s", row->name,
                         row->picture ? " or bool" : "", tvlm_element_name(array->type));
    for (int i = 0; i < array->rank; ++i)
        if (array->shape[i] < 1 || array->shape[i] > INT32_MAX)
            return tool_fail(tool, "%s: a side of %lld", row->name, (long long)array->shape[i]);
    return TOOL_DONE;
}

/* Converts bytes to floats. The value `most` becomes 1. */
static float *scaled(const unsigned char *bytes, size_t count, float most) {
    float *const values = count <= SIZE_MAX / sizeof *values ? malloc(count * sizeof *values) : NULL;
    for (size_t i = 0; values != NULL && i < count; ++i) values[i] = (float)bytes[i] / most;
    return values;
}

static int read_array(struct tool *tool, const input_row *row, const char *path, input_files *files) {
    const size_t at = (size_t)(row - rows);
    struct tvlm_grid_input *const grid = &files->file[at].grid;
    tvlm_npy **const array = &files->file[at].array;
    int code = tool_status(tool, tvlm_npy_read(path, &tool->log, array));
    if (code != TOOL_DONE || (code = check_array(tool, row, *array)) != TOOL_DONE) return code;
    grid->rows = (int32_t)(*array)->shape[0];
    grid->columns = (int32_t)(*array)->shape[1];
    grid->channels = row->rank == 3 ? (int32_t)(*array)->shape[2] : 1;
    grid->type = (*array)->type == TVLM_ELEMENT_F16 ? TVLM_VALUE_F16 : TVLM_VALUE_F32;
    grid->data = (*array)->data;
    if ((*array)->type != TVLM_ELEMENT_BOOL) return TOOL_DONE;
    grid->data = files->file[at].values = scaled((*array)->data, (*array)->size, 1.0f);
    return grid->data != NULL ? TOOL_DONE : tool_fail(tool, "no memory for a mask");
}

/* ---- Pictures ---- */

/* Returns the gray of a pixel as 0 .. 1. For a coloured pixel it is the luma, by the library's weights.
 * Transparency is ignored. */
static float gray_at(const tvlm_image *image, size_t pixel) {
    static const float weights[] = {0.299f, 0.587f, 0.114f};
    const size_t channels = (size_t)image->channels, colours = channels >= 3 ? 3 : 1;
    float sum = 0.0f;
    for (size_t c = 0; c < colours; ++c) {
        const size_t at = pixel * channels + c;
        const float value = image->type == TVLM_PIXEL_U16
                                ? (float)((const uint16_t *)image->pixels)[at] / 65535.0f
                                : (float)((const uint8_t *)image->pixels)[at] / 255.0f;
        sum += colours == 3 ? weights[c] * value : value;
    }
    return sum;
}

static int read_picture(struct tool *tool, const input_row *row, const char *path, input_files *files) {
    const size_t at = (size_t)(row - rows);
    struct tvlm_grid_input *const grid = &files->file[at].grid;
    tvlm_image *image = NULL;
    TOOL_TRY(tool_status(tool, tvlm_image_load(path, &tool->log, &image)));
    const size_t count = (size_t)image->width * (size_t)image->height;
    float *const values = malloc(count * sizeof *values);
    for (size_t i = 0; values != NULL && i < count; ++i) values[i] = gray_at(image, i);
    *grid = (struct tvlm_grid_input){.data = values, .columns = image->width, .rows = image->height};
    files->file[at].values = values;
    tvlm_image_destroy(&image);
    return values != NULL ? TOOL_DONE : tool_fail(tool, "no memory for a mask");
}

bool inputs_is_array(const char *path) {
    tvlm_file_facts facts;
    char magic[6] = "";
    if (!tvlm_path_facts(path, &facts) || !facts.ordinary) return false;
    FILE *const file = tvlm_stdio_open(path, "rb");
    if (file == NULL) return false;
    const size_t read = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return read == sizeof magic && memcmp(magic, "\x93NUMPY", sizeof magic) == 0;
}

/* ---- All of them ---- */

int inputs_read(struct tool *tool, const input_options *options, input_files **files) {
    const char *const subject = tool->subject;
    int code = TOOL_DONE;
    *files = NULL;
    if (inputs_given(options) == NULL) return TOOL_DONE;
    input_files *const made = calloc(1, sizeof *made);
    if (made == NULL) return tool_fail(tool, "no memory");
    made->options = options;
    for (size_t i = 0; code == TOOL_DONE && i < ROW_COUNT; ++i) {
        const char *const path = path_of(options, i);
        if (path == NULL) continue;
        tool->subject = path;
        code = rows[i].picture && !inputs_is_array(path) ? read_picture(tool, &rows[i], path, made)
                                                         : read_array(tool, &rows[i], path, made);
    }
    if (code == TOOL_DONE && options->labels != NULL) {
        tool->subject = options->labels;
        code = labels_read(tool, options->labels, &made->labels);
    }
    if (code == TOOL_DONE && options->words != NULL)
        code = vectors_read(tool, "--words", options->words, &made->words);
    *files = made;
    return tool_back_to(tool, subject, code);
}

static int set_words(struct tool *tool, const vector_file *words, tvlm_stack *stack) {
    tool->subject = words->path;
    return tool_status(tool, tvlm_stack_set_words(stack, 0, words->values, words->count, words->dimension));
}

static bool has_embedding(const tvlm_stack *stack) {
    int32_t count = 0;
    const int32_t *channels = tvlm_stack_channels(stack, &count);
    for (int32_t i = 0; i < count; ++i)
        if ((channels[i] >= TVLM_CHANNEL_EMBEDDING_0 && channels[i] < TVLM_CHANNEL_EMBEDDING_0 + 16) ||
            (channels[i] >= TVLM_CHANNEL_EMBEDDING_16 && channels[i] < TVLM_CHANNEL_EMBEDDING_16 + 48))
            return true;
    return false;
}

int inputs_set(struct tool *tool, input_files *files, int32_t width, tvlm_stack *stack) {
    const char *const subject = tool->subject;
    int code = TOOL_DONE;
    for (size_t i = 0; files != NULL && code == TOOL_DONE && i < ROW_COUNT; ++i) {
        if (files->file[i].grid.data == NULL) continue;
        tool->subject = path_of(files->options, i);
        code = tool_status(tool, tvlm_stack_set_grid(stack, 0, rows[i].channel, &files->file[i].grid));
    }
    if (code == TOOL_DONE && files != NULL && files->labels.ids != NULL) {
        tool->subject = files->options->labels;
        code = tool_status(tool, tvlm_stack_set_labels(stack, 0, files->labels.ids, files->labels.columns,
                                                       files->labels.rows, 0));
    }
    if (code == TOOL_DONE && files != NULL && files->options->features != NULL)
        code = features_set(tool, files->options->features, files->options->patch.value, width, &files->words,
                            stack, 0);
    if (code == TOOL_DONE && files != NULL && files->options->features != NULL &&
        files->options->given[INPUT_EMBEDDING] == NULL && has_embedding(stack))
        code = basis_embed(tool, &files->options->basis, &files->words, NULL, stack, &files->basis);
    if (code == TOOL_DONE && files != NULL && files->words.path != NULL)
        code = set_words(tool, &files->words, stack);
    return tool_back_to(tool, subject, code);
}

void inputs_release(input_files **files) {
    if (*files == NULL) return;
    for (size_t i = 0; i < ROW_COUNT; ++i) {
        tvlm_npy_destroy(&(*files)->file[i].array);
        free((*files)->file[i].values);
    }
    labels_release(&(*files)->labels);
    vectors_release(&(*files)->words);
    tvlm_basis_destroy(&(*files)->basis);
    free(*files);
    *files = NULL;
}
