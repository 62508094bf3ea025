/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c: the pictures that the strategy `budget` makes of an image. Each patch of the strategy is a token
 * here. The thumbnail is a picture of its own. The tiles of each scale are tokens of one more picture:
 *
 *   tiles of level 0           the full picture
 *   tiles of nines             the image at three quarters of the full picture's size
 *   tiles of level 1           the image at half of it
 *   tiles at a third           the image at a third of it
 *   tiles of level 2           the image at a quarter of it
 */
#include "core/try.h"
#include "export/inside.h"

static int32_t side_of(const tvlm_export *export) {
    return export->patch * export->merge;
}

/* A picture whose tokens are tiles of one scale. Its size is texels / pixels times that of the full
 * picture. */
typedef struct scaled {
    export_role role;
    int32_t texels, pixels;
} scaled;

/* Returns the picture in which a tile of that level is a token. */
static const scaled *scaled_of(float level) {
    static const scaled pictures[] = {{EXPORT_FULL, 1, 1},
                                      {EXPORT_THREE_QUARTERS, 3, 4},
                                      {EXPORT_HALF, 1, 2},
                                      {EXPORT_THIRD, 1, 3},
                                      {EXPORT_QUARTER, 1, 4}};
    /* A tile of a nine has level 0.415, and a tile at a third has level 1.585. */
    return &pictures[level < 0.25f ? 0 : level < 0.75f ? 1 : level < 1.3f ? 2 : level < 1.75f ? 3 : 4];
}

/* Returns how many tokens a row of a picture has. */
static int32_t columns_of(const tvlm_export *export, const export_picture *picture) {
    return picture->info.grid_w / export->merge;
}

/* Describes a picture of columns x rows tokens, into which the image is resized at `place`. */
static void describe(const tvlm_export *export, const export_picture *full, int32_t columns, int32_t rows,
                     const export_place *place, export_picture *picture) {
    const int32_t side = side_of(export);
    picture->frames = 1;
    picture->first_image = full->first_image;
    picture->place = *place;
    picture->info = (tvlm_export_picture){.width = columns * side,
                                          .height = rows * side,
                                          .grid_t = 1,
                                          .grid_h = rows * export->merge,
                                          .grid_w = columns * export->merge,
                                          .tokens = columns * rows,
                                          .source = full->info.source,
                                          .scale_h = (float)place->height / (float)full->info.height,
                                          .scale_w = (float)place->width / (float)full->info.width};
}

export_picture *tvlm_export_thumbnail(const tvlm_export *export, const export_picture *full, int32_t columns,
                                      int32_t rows) {
    const int32_t side = side_of(export);
    const export_place place = {.width = (int64_t)columns * side, .height = (int64_t)rows * side};
    export_picture *const picture = tvlm_export_at(export, full->info.source, EXPORT_THUMBNAIL);
    describe(export, full, columns, rows, &place, picture);
    picture->info.selected = columns * rows;
    return picture;
}

/* The first function returns how many texels a side of the full picture becomes. They are rounded to the
 * nearest number, which only a third needs. The second returns how many tokens these texels take. The image
 * may fill the last token only in part. */
static int32_t texels_of(const scaled *s, int32_t side) {
    return (int32_t)(((int64_t)side * s->texels + s->pixels / 2) / s->pixels);
}
static int32_t tokens_of(const tvlm_export *export, const scaled *s, int32_t side) {
    return (texels_of(s, side) + side_of(export) - 1) / side_of(export);
}

/* If the image ends within the last tokens of a row or column, the rest of these tokens repeats its
 * border. */
static void describe_scaled(const tvlm_export *export, const export_picture *full, const scaled *s) {
    const export_place place = {.width = texels_of(s, full->info.width),
                                .height = texels_of(s, full->info.height)};
    describe(export, full, tokens_of(export, s, full->info.width), tokens_of(export, s, full->info.height),
             &place, tvlm_export_at(export, full->info.source, s->role));
}

/* Describes the pictures that a selection asks for, and counts their tokens. */
static void describe_all(const tvlm_export *export, const tvlm_selection *selection,
                         const export_picture *full) {
    tvlm_selection_info info;
    int32_t count;
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    (void)tvlm_selection_get_info(selection, &info); /* cannot fail: both are there */
    if (info.thumbnail_cells > 0)
        tvlm_export_thumbnail(export, full, info.thumbnail_columns, info.thumbnail_rows)->info.selected =
            info.thumbnail_cells;
    for (int32_t i = info.thumbnail_cells; i < count; ++i) {
        const scaled *const s = scaled_of(positions[i].level);
        export_picture *const picture = tvlm_export_at(export, full->info.source, s->role);
        if (picture->info.tokens == 0) describe_scaled(export, full, s);
        ++picture->info.selected;
    }
}

/* Chooses the tokens that belong to the selection's positions. */
static void choose(const tvlm_export *export, const tvlm_selection *selection, const export_picture *full) {
    int32_t count, next[EXPORT_ROLES] = {0};
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    const int32_t cells = tvlm_export_at(export, full->info.source, EXPORT_THUMBNAIL)->info.selected;
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_position *const p = &positions[i];
        const scaled *const s = scaled_of(p->level);
        const export_role role = i < cells ? EXPORT_THUMBNAIL : s->role;
        export_picture *const picture = tvlm_export_at(export, full->info.source, role);
        const float side = (float)(side_of(export) * s->pixels) / (float)s->texels;
        const float across = i < cells ? p->size : side, down = i < cells ? p->height : side;
        const int32_t token = (int32_t)(p->y / down) * columns_of(export, picture) + (int32_t)(p->x / across);
        picture->chosen[next[role]++] = token;
        picture->scores[token] = positions[i].score;
    }
}

tvlm_status tvlm_export_make(tvlm_export *export, const tvlm_image *image, export_role role,
                             export_picture *picture) {
    const size_t pixels = (size_t)picture->info.width * (size_t)picture->info.height;
    tvlm_export_sort(picture);
    if (role != EXPORT_FULL) {
        TVLM_TRY(tvlm_export_reserve(export->device, pixels * 3, &picture->bytes));
        TVLM_TRY(tvlm_export_resize(export, image, 0, picture));
    }
    return tvlm_export_patches(export, picture);
}

static tvlm_status make_all(tvlm_export *export, const tvlm_image *image, const tvlm_selection *selection,
                            export_picture *full) {
    full->info.selected = 0;
    describe_all(export, selection, full);
    for (int role = 0; role < EXPORT_ROLES; ++role) {
        export_picture *const picture = tvlm_export_at(export, full->info.source, (export_role)role);
        if (picture->info.tokens > 0) TVLM_TRY(tvlm_export_room(export, picture));
    }
    choose(export, selection, full);
    for (int role = 0; role < EXPORT_ROLES; ++role) {
        export_picture *const picture = tvlm_export_at(export, full->info.source, (export_role)role);
        if (picture->info.tokens > 0) TVLM_TRY(tvlm_export_make(export, image, (export_role)role, picture));
    }
    return TVLM_OK;
}

tvlm_status tvlm_export_spend(tvlm_export *export, const tvlm_image *image,
                              const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                              export_picture *full) {
    struct tvlm_select_params params = export->spending;
    tvlm_selection *selection = NULL;
    params.patch = (float)side_of(export);
    if (params.budget.share == 0.0f && params.budget.tolerance == 0.0f) params.k = full->granted;
    TVLM_TRY(tvlm_export_look(export, features, full, 0));
    TVLM_TRY(tvlm_select(export->stack, tvlm_export_question(queries, 0), &params, &selection));
    const tvlm_status status = make_all(export, image, selection, full);
    tvlm_selection_destroy(&selection);
    return status;
}
