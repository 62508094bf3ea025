/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sizes.c: a chooser, and what libmtmd makes of images of any size. It is asked by empty bitmaps, of which it
 * counts the tokens and reads no pixels.
 */
#include <math.h>
#include <string.h>

#include <gguf.h>

#include "inside.h"

/* A size at which every model makes its largest picture, and the most tokens along a side that are looked
 * for. */
#define HUGE_SIDE  16384
#define TOKENS_MAX 4096
#define SIDE_MAX   64 /* of tvlm_predict, in pixels */

/* ---- Asking ---- */

/* The one picture among chunks of one bitmap; NULL: there are none or several. `around` becomes the number
 * of the other tokens. */
static const mtmd_image_tokens *only_picture(const mtmd_input_chunks *chunks, int32_t *around) {
    const mtmd_image_tokens *found = NULL;
    *around = 0;
    for (size_t i = 0; i < mtmd_input_chunks_size(chunks); ++i) {
        const mtmd_input_chunk *chunk = mtmd_input_chunks_get(chunks, i);
        const bool image = mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_IMAGE;
        if (image && found != NULL) return NULL;
        if (image)
            found = mtmd_input_chunk_get_tokens_image(chunk);
        else
            *around += (int32_t)mtmd_input_chunk_get_n_tokens(chunk);
    }
    return found;
}

/* By the position of its last token. */
void tvlm_mtmd_sides_of(const tvlm_mtmd *chooser, const mtmd_image_tokens *picture, int32_t *columns,
                        int32_t *rows) {
    const size_t count = mtmd_image_tokens_get_n_tokens(picture);
    *columns = (int32_t)count;
    *rows = 1;
    if (!chooser->info.mrope || count == 0) return;
    const struct mtmd_decoder_pos last = mtmd_image_tokens_get_decoder_pos(picture, 0, count - 1);
    *columns = (int32_t)last.x + 1;
    *rows = (int32_t)last.y + 1;
}

bool tvlm_mtmd_is_shown(const tvlm_mtmd *chooser, const mtmd_input_chunk *chunk,
                        const tvlm_mtmd_shown *shown) {
    const mtmd_image_tokens *const picture = mtmd_input_chunk_get_tokens_image(chunk);
    int32_t columns = 0, rows = 0;
    if (picture == NULL) return false;
    if (!chooser->info.mrope)
        return (size_t)shown->columns * (size_t)shown->rows == mtmd_image_tokens_get_n_tokens(picture);
    tvlm_mtmd_sides_of(chooser, picture, &columns, &rows);
    return columns == shown->columns && rows == shown->rows;
}

static tvlm_status ask(const tvlm_mtmd *chooser, int32_t width, int32_t height, int32_t *columns,
                       int32_t *rows, int32_t *around) {
    const char *marker = mtmd_get_marker(chooser->mtmd);
    const mtmd_input_text text = {marker, strlen(marker), false, true};
    mtmd_bitmap *bitmap = mtmd_bitmap_init((uint32_t)width, (uint32_t)height, NULL);
    mtmd_input_chunks *chunks = mtmd_input_chunks_init();
    tvlm_status status = TVLM_ERROR_MEMORY;
    if (bitmap != NULL && chunks != NULL) {
        const mtmd_bitmap *const bitmaps[] = {bitmap};
        const bool made = mtmd_tokenize(chooser->mtmd, chunks, &text, bitmaps, 1) == 0;
        const mtmd_image_tokens *picture = made ? only_picture(chunks, around) : NULL;
        status = picture != NULL ? TVLM_OK : TVLM_ERROR_UNSUPPORTED;
        if (picture != NULL) tvlm_mtmd_sides_of(chooser, picture, columns, rows);
        if (picture != NULL && (size_t)*columns * (size_t)*rows != mtmd_image_tokens_get_n_tokens(picture))
            status = TVLM_ERROR_UNSUPPORTED;
    }
    mtmd_bitmap_free(bitmap);
    mtmd_input_chunks_free(chunks);
    if (status == TVLM_ERROR_UNSUPPORTED)
        return tvlm_fail(
            &chooser->log, status,
            "the model makes no single picture with rows and columns of an image of %d x %d pixels; those that cut "
            "images into slices are not supported",
            width, height);
    if (status != TVLM_OK)
        return tvlm_fail(&chooser->log, status, "no memory to ask for the size of a picture");
    return TVLM_OK;
}

tvlm_status tvlm_mtmd_size(const tvlm_mtmd *chooser, int32_t width, int32_t height, int32_t *columns,
                           int32_t *rows) {
    int32_t around;
    return ask(chooser, width, height, columns, rows, &around);
}

/* ---- The side of a token ---- */

/* The narrowest square, in pixels, whose picture has at least so many columns. */
static tvlm_status narrowest(const tvlm_mtmd *chooser, int32_t columns, int32_t *side) {
    int32_t low = 1, high = HUGE_SIDE, wide, rows;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        TVLM_TRY(tvlm_mtmd_size(chooser, middle, middle, &wide, &rows));
        if (wide >= columns)
            high = middle;
        else
            low = middle + 1;
    }
    *side = low;
    return TVLM_OK;
}

/* The fewest tokens, in a row, of a picture that libmtmd takes as it is. */
static tvlm_status find_least(tvlm_mtmd *chooser) {
    const int32_t side = chooser->info.side;
    int32_t low = 1, high = TOKENS_MAX, columns, rows;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        TVLM_TRY(tvlm_mtmd_size(chooser, middle * side, side, &columns, &rows));
        if (columns == middle && rows == 1)
            high = middle;
        else
            low = middle + 1;
    }
    chooser->least = low;
    return TVLM_OK;
}

/* Between the least and the largest square the columns are the width over the side, rounded. So two steps
 * tell the side. */
static tvlm_status find_side(tvlm_mtmd *chooser) {
    int32_t few, many, rows, narrow, wide;
    TVLM_TRY(tvlm_mtmd_size(chooser, 1, 1, &few, &rows));
    TVLM_TRY(tvlm_mtmd_size(chooser, HUGE_SIDE, HUGE_SIDE, &many, &rows));
    if (many < few + 3)
        return tvlm_fail(&chooser->log, TVLM_ERROR_UNSUPPORTED,
                         "the model makes pictures of %d to %d columns only, which leaves nothing to choose",
                         few, many);
    TVLM_TRY(narrowest(chooser, few + 1, &narrow));
    TVLM_TRY(narrowest(chooser, many, &wide));
    const int32_t steps = many - few - 1, side = (wide - narrow) / steps;
    if ((wide - narrow) % steps != 0 || side < 4 || side > SIDE_MAX)
        return tvlm_fail(&chooser->log, TVLM_ERROR_UNSUPPORTED,
                         "the tokens of the model's pictures are no squares of 4 to %d pixels", SIDE_MAX);
    chooser->info.side = side;
    return find_least(chooser);
}

/* ---- Models of one size ---- */

/* The side of the square that a model of one size sees, in pixels, of the file of its encoder; 0: the file
 * does not say. */
static int32_t square_of(const struct gguf_context *file) {
    const int64_t key = gguf_find_key(file, "clip.vision.image_size");
    return key >= 0 && gguf_get_kv_type(file, key) == GGUF_TYPE_UINT32 ? (int32_t)gguf_get_val_u32(file, key)
                                                                       : 0;
}

static tvlm_status find_square(tvlm_mtmd *chooser, int32_t tokens, const char *mmproj) {
    const int32_t along = (int32_t)lrint(sqrt((double)tokens));
    if (mmproj == NULL)
        return tvlm_fail(&chooser->log, TVLM_ERROR_ARGUMENT,
                         "the model has pictures of one size: its mmproj file is needed");
    struct gguf_context *file = gguf_init_from_file(mmproj, (struct gguf_init_params){.no_alloc = true});
    if (file == NULL)
        return tvlm_fail(&chooser->log, TVLM_ERROR_IO, "%s: cannot be read as a GGUF file", mmproj);
    const int32_t pixels = square_of(file);
    gguf_free(file);
    if (along * along != tokens || pixels < along || pixels % along != 0 || pixels / along > SIDE_MAX ||
        pixels / along < 4)
        return tvlm_fail(
            &chooser->log, TVLM_ERROR_UNSUPPORTED,
            "%s: the %d tokens of a picture of %d pixels a side are no squares of 4 to %d pixels", mmproj,
            tokens, pixels, SIDE_MAX);
    chooser->info.side = pixels / along;
    chooser->info.columns = chooser->info.rows = along;
    chooser->least = tokens;
    return TVLM_OK;
}

/* ---- The chooser ---- */

static tvlm_status learn(tvlm_mtmd *chooser, const struct tvlm_mtmd_options *options) {
    int32_t columns, rows, other, other_rows;
    chooser->info.mrope = mtmd_decode_use_mrope(chooser->mtmd);
    chooser->info.non_causal = mtmd_decode_use_non_causal(chooser->mtmd, NULL);
    TVLM_TRY(ask(chooser, HUGE_SIDE, HUGE_SIDE, &columns, &rows, &chooser->info.around));
    TVLM_TRY(tvlm_mtmd_size(chooser, 1, 1, &other, &other_rows));
    if (columns == other && rows == other_rows && chooser->info.mrope)
        return tvlm_fail(
            &chooser->log, TVLM_ERROR_UNSUPPORTED,
            "the encoder does not fit the model, or is left one size: positions are in two dimensions, but all pictures have "
            "%d tokens",
            columns * rows);
    if (columns == other && rows == other_rows)
        return find_square(chooser, columns * rows, options != NULL ? options->mmproj : NULL);
    if (!chooser->info.mrope)
        return tvlm_fail(
            &chooser->log, TVLM_ERROR_UNSUPPORTED,
            "the model's pictures have sizes of their own but no positions in two dimensions: which token stands where is "
            "not known");
    return find_side(chooser);
}

tvlm_status tvlm_mtmd_create(tvlm_device *device, mtmd_context *mtmd, const struct tvlm_mtmd_options *options,
                             tvlm_mtmd **chooser) {
    const tvlm_log *log = options != NULL ? options->log : NULL;
    TVLM_NEED(log, device);
    TVLM_NEED(log, mtmd);
    TVLM_NEED(log, chooser);
    TVLM_CHECK_RESERVED(log, tvlm_mtmd_options, options);
    if (!mtmd_support_vision(mtmd))
        return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED, "the mmproj file has no encoder of images");
    tvlm_mtmd *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a chooser");
    made->device = device;
    made->mtmd = mtmd;
    if (log != NULL) made->log = *log;
    const tvlm_status status = learn(made, options);
    if (status != TVLM_OK) {
        tvlm_mtmd_destroy(&made);
        return status;
    }
    *chooser = made;
    return TVLM_OK;
}

void tvlm_mtmd_destroy(tvlm_mtmd **chooser) {
    if (chooser == NULL) return;
    free(*chooser);
    *chooser = NULL;
}

tvlm_status tvlm_mtmd_get_info(const tvlm_mtmd *chooser, struct tvlm_mtmd_info *info) {
    TVLM_NEED(NULL, chooser);
    TVLM_NEED(&chooser->log, info);
    *info = chooser->info;
    return TVLM_OK;
}

/* ---- Smaller sizes ---- */

/* The sides that smart_resize of Qwen-VL's processor gives an image, in tokens, where they are to be at
 * most so many. */
static tvlm_picture smart(int32_t side, double width, double height, int32_t tokens) {
    tvlm_picture size = {(int32_t)fmax(1.0, rint(width / side)), (int32_t)fmax(1.0, rint(height / side))};
    if ((int64_t)size.columns * size.rows > tokens) {
        const double by = side * sqrt(width * height / ((double)tokens * side * side));
        size.columns = (int32_t)fmax(1.0, floor(width / by));
        size.rows = (int32_t)fmax(1.0, floor(height / by));
    }
    return size;
}

tvlm_status tvlm_mtmd_size_within(const tvlm_mtmd *chooser, int32_t width, int32_t height, int32_t tokens,
                                  tvlm_picture *size) {
    const int32_t side = chooser->info.side;
    tvlm_picture found = smart(side, width, height, tokens);
    /* A long image may be one row of more tokens than there may be. */
    if (found.columns > tokens) found.columns = tokens;
    if (found.rows > tokens) found.rows = tokens;
    for (int tries = 0; tries < 4; ++tries) {
        int32_t columns, rows;
        TVLM_TRY(tvlm_mtmd_size(chooser, found.columns * side, found.rows * side, &columns, &rows));
        const bool same = columns == found.columns && rows == found.rows;
        found = (tvlm_picture){columns, rows};
        if (same) break;
    }
    *size = found;
    return TVLM_OK;
}
