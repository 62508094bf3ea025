/*
 * The question: a grid of similarities, as large as whoever asks has it.
 */
#include <math.h>

#include "core/memory.h"
#include "select/select.h"

static tvlm_status check_query(const tvlm_log *log, const struct tvlm_query *query) {
    if (query->similarity == NULL) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query without similarities");
    if (query->columns < 1 || query->rows < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a query of %dx%d cells", (int)query->columns,
                         (int)query->rows);
    const size_t count = (size_t)query->columns * (size_t)query->rows;
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(query->similarity[i]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the query's similarity %zu is not finite", i);
    return TVLM_OK;
}

/* One slice; `similarity` NULL: zeros. `rgba` has room for it. */
static tvlm_status write_slice(tvlm_stack *stack, tvlm_texture *texture, int32_t slice,
                               const float *similarity, float *rgba) {
    const size_t count = (size_t)texture->width * (size_t)texture->height;
    for (size_t i = 0; i < count; ++i) {
        const float value = similarity != NULL ? fminf(fmaxf(similarity[i], -1.0f), 1.0f) : 0.0f;
        rgba[4 * i] = value;
        rgba[4 * i + 1] = rgba[4 * i + 2] = rgba[4 * i + 3] = 0.0f;
    }
    return stack->device->backend->texture_write(stack->device, texture, slice, rgba);
}

/* A texture of the query's size: the last one's where that fits. *fresh: it is new, and holds nothing yet. */
static tvlm_status fit_texture(tvlm_stack *stack, tvlm_chunk *chunk, int32_t index,
                               const struct tvlm_query *query, tvlm_texture **texture, bool *fresh) {
    tvlm_texture **held = &chunk->grids[TVLM_GRID_QUERY];
    if (*held != NULL && ((*held)->width != query->columns || (*held)->height != query->rows))
        stack->device->backend->texture_destroy(stack->device, held);
    stack->query_columns = query->columns;
    stack->query_rows = query->rows;
    stack->query_image = index; /* the shape is that of a query from here on */
    *fresh = *held == NULL;
    const tvlm_status status = tvlm_stack_grid_texture(stack, chunk, TVLM_GRID_QUERY, texture);
    stack->query_image = -1; /* until it is complete */
    return status;
}

/* All images of a fresh texture; of a reused one the image asked about now and the one asked about before. */
static tvlm_status write_images(tvlm_stack *stack, const tvlm_chunk *chunk, tvlm_texture *texture,
                                int32_t index, const float *similarity, bool fresh) {
    float *rgba = tvlm_allocate((size_t)texture->width * (size_t)texture->height, 4 * sizeof *rgba);
    if (rgba == NULL) return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for a query");
    tvlm_status status = TVLM_OK;
    for (int32_t i = 0; status == TVLM_OK && i < chunk->images; ++i) {
        const bool asked = chunk->first + i == index;
        const bool stale = chunk->query_written == chunk->first + i;
        if (asked || fresh || stale) status = write_slice(stack, texture, i, asked ? similarity : NULL, rgba);
    }
    free(rgba);
    return status;
}

tvlm_status tvlm_query_upload(tvlm_stack *stack, int32_t index, const struct tvlm_query *query) {
    tvlm_chunk *chunk = tvlm_stack_chunk(stack, index);
    tvlm_texture *texture;
    bool fresh;
    if (query != NULL) TVLM_TRY(check_query(&stack->device->log, query));
    tvlm_stack_drop_query(stack);
    if (query == NULL) return TVLM_OK;
    TVLM_TRY(fit_texture(stack, chunk, index, query, &texture, &fresh));
    const tvlm_status status = write_images(stack, chunk, texture, index, query->similarity, fresh);
    if (status != TVLM_OK) {
        /* Some slices may hold the old query and some the new: nothing of it can be kept. */
        stack->device->backend->texture_destroy(stack->device, &chunk->grids[TVLM_GRID_QUERY]);
        return status;
    }
    chunk->query_written = index;
    if (texture->levels > 1) TVLM_TRY(stack->device->backend->mips(stack->device, texture));
    chunk->valid |= TVLM_GRID_BIT(TVLM_GRID_QUERY);
    stack->query_image = index;
    return TVLM_OK;
}
