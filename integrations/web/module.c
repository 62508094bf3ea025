/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c: what worker.js calls in the browser: pixels in, the tiles of a budget out. One picture at a time, on the reference device. The
 * picture's stack is made once, and each budget only selects again.
 *
 * Functions that can fail return false, and tvlm_web_error then says why in one line.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <texturevlm/texturevlm.h>

#define SIDE 16 /* of a patch in texels */

/* What worker.js reads, word by word. */
typedef struct tvlm_web_answer {
    const tvlm_position *positions;
    int32_t count;
    int32_t cells;            /* how many of the positions are cells of the thumbnail */
    int32_t columns, rows;    /* the thumbnail's grid; 0: there is none, and all tiles are level 0 */
    const uint8_t *thumbnail; /* its picture, RGBA, with the cells filled that show nothing; NULL: none */
    const uint8_t *tiles;     /* count - cells patches, RGBA each */
    float loss, loss_downsampled;
} tvlm_web_answer;
static_assert(sizeof(tvlm_position) == 48, "worker.js takes a position to be 12 words");
static_assert(sizeof(void *) != 4 || sizeof(tvlm_web_answer) == 36,
              "worker.js takes the answer to be 9 words");

static char error[256];
static tvlm_device *device;
static tvlm_image picture; /* its pixels are `room` */
static uint8_t *room, *thumbnail, *tiles;
static tvlm_stack *stack;
static tvlm_selection *selection;
static tvlm_web_answer answer;

static void keep_error(void *user, tvlm_log_level level, const char *message) {
    (void)user;
    if (level == TVLM_LOG_ERROR) snprintf(error, sizeof error, "%s", message);
}

static const tvlm_log keeper = {keep_error, NULL};

static bool fail(const char *message) {
    snprintf(error, sizeof error, "%s", message);
    return false;
}

/* Why the last function that failed did. */
const char *tvlm_web_error(void) {
    return error;
}

static void forget_answer(void) {
    tvlm_selection_destroy(&selection);
    free(thumbnail);
    free(tiles);
    thumbnail = tiles = NULL;
}

/* Forgets the picture before, and returns room for the RGBA of another one. NULL: there is none. */
uint8_t *tvlm_web_room(int32_t width, int32_t height) {
    forget_answer();
    tvlm_stack_destroy(&stack);
    free(room);
    room = NULL;
    if (width < 1 || height < 1) return fail("the picture has no pixels"), NULL;
    const uint64_t bytes = (uint64_t)width * (uint64_t)height * 4;
    if (bytes <= PTRDIFF_MAX) room = malloc((size_t)bytes);
    if (room == NULL) return fail("there is not enough memory for a picture of this size"), NULL;
    picture = (tvlm_image){.pixels = room, .width = width, .height = height, .channels = 4};
    return room;
}

/* Makes the stack of the picture that was written into the room. */
bool tvlm_web_look(void) {
    if (room == NULL) return fail("there is no picture");
    if (device == NULL &&
        tvlm_device_open(tvlm_device_params(.name = "reference", .log = &keeper), &device) != TVLM_OK)
        return false;
    return tvlm_stack_create_for_image(device, &picture, NULL, &stack) == TVLM_OK;
}

/* ---- What the model is given ---- */

/* Writes one texel of three planes as RGBA. */
static void put_texel(const float *planes, size_t plane, size_t from, uint8_t *to) {
    for (size_t c = 0; c < 3; ++c) {
        const float value = planes[c * plane + from];
        to[c] = (uint8_t)((value < 0 ? 0 : value > 1 ? 1 : value) * 255 + 0.5f);
    }
    to[3] = 255;
}

/* The thumbnail's picture as floats, with the cells at their places, and what shows nothing filled. */
static bool fill_thumbnail(const float *cells, float *out) {
    const size_t columns = (size_t)answer.columns, texels = SIDE * SIDE;
    tvlm_thumbnail_grid grid = {.columns = answer.columns, .rows = answer.rows, .side = SIDE};
    grid.empty = tvlm_selection_empty(selection, &grid.empty_count);
    int32_t empty = 0;
    for (size_t cell = 0; cell < columns * (size_t)answer.rows; ++cell) {
        const size_t column = cell % columns, row = cell / columns;
        if (empty < grid.empty_count && grid.empty[empty].column == (int32_t)column &&
            grid.empty[empty].row == (int32_t)row) {
            ++empty;
            continue;
        }
        for (size_t i = 0; i < texels; ++i) {
            const size_t at = (row * SIDE + i / SIDE) * columns * SIDE + column * SIDE + i % SIDE;
            for (size_t c = 0; c < 3; ++c) out[at * 3 + c] = cells[c * texels + i];
        }
        cells += 3 * texels;
    }
    return tvlm_thumbnail_fill(&grid, 3, out, &keeper) == TVLM_OK;
}

static bool make_thumbnail(const float *cells) {
    if (answer.columns == 0) return true;
    const size_t texels = (size_t)answer.columns * (size_t)answer.rows * SIDE * SIDE;
    float *const filled = calloc(texels, 3 * sizeof *filled);
    thumbnail = malloc(texels * 4);
    bool done = filled != NULL && thumbnail != NULL ? fill_thumbnail(cells, filled)
                                                    : fail("there is not enough memory");
    for (size_t i = 0; done && i < texels; ++i) put_texel(filled + 3 * i, 1, 0, thumbnail + 4 * i);
    free(filled);
    return done;
}

static bool make_tiles(const float *patches) {
    const size_t texels = SIDE * SIDE, count = (size_t)(answer.count - answer.cells);
    tiles = malloc(count * texels * 4 + 1);
    if (tiles == NULL) return fail("there is not enough memory");
    for (size_t tile = 0; tile < count; ++tile)
        for (size_t i = 0; i < texels; ++i)
            put_texel(patches + tile * 3 * texels, texels, i, tiles + (tile * texels + i) * 4);
    return true;
}

static bool make_pictures(void) {
    const struct tvlm_patches_params params = {.side = SIDE,
                                               .thumbnail_columns = answer.columns,
                                               .thumbnail_rows = answer.rows,
                                               .thumbnail_cells = answer.cells};
    size_t bytes = 0;
    if (tvlm_patches_size(&params, answer.count, &bytes) != TVLM_OK) return fail("there are too many tiles");
    float *const patches = malloc(bytes);
    if (patches == NULL) return fail("there is not enough memory");
    const bool made =
        tvlm_patches_extract(stack, answer.positions, answer.count, &params, bytes, patches) == TVLM_OK &&
        make_thumbnail(patches) && make_tiles(patches + (size_t)answer.cells * 3 * SIDE * SIDE);
    free(patches);
    return made;
}

/* Spends k patches on the picture. What it returns is valid until the next call of any function here. NULL: it failed. */
const tvlm_web_answer *tvlm_web_choose(int32_t k) {
    tvlm_selection_info info;
    forget_answer();
    if (stack == NULL) return fail("there is no picture"), NULL;
    if (tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_BUDGET, .k = k), &selection) !=
            TVLM_OK ||
        tvlm_selection_get_info(selection, &info) != TVLM_OK)
        return NULL;
    answer = (tvlm_web_answer){.cells = info.thumbnail_cells,
                               .columns = info.thumbnail_columns,
                               .rows = info.thumbnail_rows,
                               .loss = info.loss,
                               .loss_downsampled = info.loss_downsampled};
    answer.positions = tvlm_selection_positions(selection, &answer.count);
    if (!make_pictures()) return NULL;
    answer.thumbnail = thumbnail;
    answer.tiles = tiles;
    return &answer;
}
