/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_measure.c: what each picture loses of each tile, times what the tile matters.
 */
#include <stdlib.h>
#include <string.h>

#include "core/constants.h"
#include "core/memory.h"
#include "core/try.h"
#include "select/budget.h"
#include "select/thumbnail.h"

tvlm_status tvlm_budget_no_memory(const tvlm_budget *budget) {
    return tvlm_fail(tvlm_stack_log(budget->task->stack), TVLM_ERROR_MEMORY,
                     "no memory for a budget over %d tiles", (int)budget->tiles);
}

static int32_t picture_count(const tvlm_budget *budget) {
    return TVLM_BUDGET_FIRST + budget->grid_count;
}

static tvlm_budget_size size_of(const tvlm_budget *budget, int32_t picture) {
    const int32_t width = budget->source->width, height = budget->source->height;
    if (picture == TVLM_BUDGET_LEAST) return (tvlm_budget_size){budget->patch, budget->patch, 0.0};
    if (picture == TVLM_BUDGET_THREE_QUARTERS) return tvlm_fraction_size(TVLM_THREE_QUARTERS, width, height);
    if (picture == TVLM_BUDGET_A_THIRD) return tvlm_fraction_size(TVLM_THIRD, width, height);
    /* Where the source lacks the level, a picture of the level's size takes its place. */
    if (picture < TVLM_BUDGET_LEAST) {
        const int32_t level = picture - TVLM_BUDGET_ONE + 1;
        return (tvlm_budget_size){tvlm_level_side(width, level), tvlm_level_side(height, level), 0.0};
    }
    const tvlm_budget_grid *const grid = &budget->grids[picture - TVLM_BUDGET_FIRST];
    const int32_t wide = grid->columns * budget->patch, high = grid->rows * budget->patch;
    return (tvlm_budget_size){wide < width ? wide : width, high < height ? high : height, 0.0};
}

/* Lists the sizes of all pictures, each size once. `measured` becomes the number of each picture's size in
 * that list. */
static void list_sizes(tvlm_budget *budget, tvlm_budget_size sizes[TVLM_BUDGET_PICTURES]) {
    budget->measured_count = 0;
    for (int32_t i = 0; i < picture_count(budget); ++i) {
        const tvlm_budget_size size = size_of(budget, i);
        int32_t at = 0;
        while (at < budget->measured_count &&
               (sizes[at].width != size.width || sizes[at].height != size.height ||
                sizes[at].texel != size.texel))
            ++at;
        sizes[at] = size;
        budget->measured[i] = at;
        if (at == budget->measured_count) ++budget->measured_count;
    }
}

/* ---- What the next choice finds ---- */

/* The most memory of weights that a stack keeps for its next choice, in bytes. An image of 4096 x 4096 pixels
 * takes 3 MiB, and one of 4096 x 3072, whose axes differ, 5 MiB. */
#define KEPT ((size_t)16 << 20)

/* What a stack keeps of the first plan of a choice, since a next choice begins with the same pictures: the weights, and
 * what has been written to the device (TVLM_SCRATCH_WEIGHTS and _PICTURES), which need not be written again. */
typedef struct kept_plan {
    tvlm_budget_weights *weights;
    size_t sent, room; /* how many of the weights the device has, and how many it has memory for */
    tvlm_budget_picture pictures[TVLM_BUDGET_PICTURES]; /* the device has these */
    int32_t count;
} kept_plan;

static void release_kept(void *data) {
    kept_plan *const kept = data;
    tvlm_budget_weights_free(kept->weights);
    free(kept);
}

/* Lets the stack keep the weights of a plan, in place of those that it kept, of which the device may have some. */
static void keep_weights(tvlm_slot *slot, tvlm_budget_plan *plan) {
    if (plan->table_floats * sizeof *plan->table > KEPT) return;
    kept_plan *const kept = slot->data != NULL ? slot->data : tvlm_allocate(1, sizeof *kept);
    if (kept == NULL) return;
    *slot = (tvlm_slot){kept, release_kept};
    tvlm_budget_weights_free(kept->weights);
    kept->weights = plan->weights;
    kept->sent = 0;
    plan->weights = NULL;
}

/* Writes to the device what it lacks of a plan whose weights are kept. */
static tvlm_status send(tvlm_stack *stack, kept_plan *kept, tvlm_budget_plan *plan) {
    tvlm_device *const device = tvlm_stack_device(stack);
    const size_t floats = plan->table_floats, bytes = (size_t)plan->count * sizeof *plan->pictures;
    if (floats > kept->room) {
        kept->room = kept->sent > 0 ? floats + floats / 2 : floats; /* it has grown, and may do so again */
        kept->sent = 0;
    }
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_WEIGHTS, kept->room * sizeof(float), &plan->sent_table));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_PICTURES, sizeof kept->pictures, &plan->sent_pictures));
    if (floats > kept->sent)
        TVLM_TRY(device->backend->buffer_write(device, plan->sent_table, kept->sent * sizeof(float),
                                               (floats - kept->sent) * sizeof(float),
                                               plan->table + kept->sent));
    kept->sent = floats;
    if (plan->count == kept->count && memcmp(plan->pictures, kept->pictures, bytes) == 0) return TVLM_OK;
    kept->count = 0;
    TVLM_TRY(device->backend->buffer_write(device, plan->sent_pictures, 0, bytes, plan->pictures));
    memcpy(kept->pictures, plan->pictures, bytes);
    kept->count = plan->count;
    return TVLM_OK;
}

/* Makes the first plan of a choice, and writes it to the device if its weights are kept. */
static tvlm_status begin_plan(const tvlm_budget *budget, int32_t image, const tvlm_budget_size *sizes,
                              tvlm_budget_plan *plan) {
    tvlm_slot *const slot = tvlm_stack_common_slot(budget->task->stack);
    const kept_plan *const kept = slot->data;
    tvlm_budget_weights *const weights = kept != NULL ? kept->weights : NULL;
    if (weights == NULL || !tvlm_budget_plan_go_on(budget->source, image, budget->patch, sizes,
                                                   budget->measured_count, weights, plan)) {
        if (!tvlm_budget_plan_make(budget->source, image, budget->patch, sizes, budget->measured_count,
                                   weights, plan))
            return tvlm_budget_no_memory(budget);
        keep_weights(slot, plan);
    }
    return plan->weights == NULL ? send(budget->task->stack, slot->data, plan) : TVLM_OK;
}

/* Makes the plan of those pictures that the plans before it have left, from number `done` on. */
static tvlm_status next_plan(const tvlm_budget *budget, int32_t image, const tvlm_budget_size *sizes,
                             int32_t done, tvlm_budget_plan *plan) {
    if (done == 0) return begin_plan(budget, image, sizes, plan);
    const kept_plan *const kept = tvlm_stack_common_slot(budget->task->stack)->data;
    return tvlm_budget_plan_make(budget->source, image, budget->patch, sizes + done,
                                 budget->measured_count - done, kept != NULL ? kept->weights : NULL, plan)
               ? TVLM_OK
               : tvlm_budget_no_memory(budget);
}

/* Enqueues the measuring of all losses, in as many plans as are needed. */
static tvlm_status enqueue(const tvlm_budget *budget, const tvlm_budget_size *sizes, tvlm_buffer *losses) {
    tvlm_stack *const stack = budget->task->stack;
    tvlm_device *const device = tvlm_stack_device(stack);
    const int32_t image = tvlm_stack_image_number(stack, budget->task->params.score.index);
    /* The device begins with what is enqueued already, while the host works out the weights of the plan. */
    device->backend->flush(device);
    for (int32_t done = 0; done < budget->measured_count;) {
        tvlm_budget_plan plan = {0};
        tvlm_status status = next_plan(budget, image, sizes, done, &plan);
        if (status == TVLM_OK)
            status = device->backend->losses(device, budget->source, &plan, losses,
                                             2 * (size_t)done * (size_t)budget->tiles);
        done += plan.count;
        tvlm_budget_plan_free(&plan);
        TVLM_TRY(status);
    }
    return TVLM_OK;
}

/* ---- Losses ---- */

/* Reads all losses and, where some tiles matter more than others, the scores behind them. */
static tvlm_status read_values(tvlm_budget *budget) {
    const tvlm_task *const task = budget->task;
    tvlm_device *const device = tvlm_stack_device(task->stack);
    tvlm_budget_size sizes[TVLM_BUDGET_PICTURES];
    list_sizes(budget, sizes);
    const size_t tiles = (size_t)budget->tiles, losses = 2 * tiles * (size_t)budget->measured_count;
    const bool emphasised = budget->emphasis > 0.0;
    tvlm_buffer *values, *scores;
    budget->values = tvlm_allocate(losses + tiles, sizeof *budget->values);
    if (budget->values == NULL) return tvlm_budget_no_memory(budget);
    TVLM_TRY(
        tvlm_stack_scratch(task->stack, TVLM_SCRATCH_RANKING, (losses + tiles) * sizeof(float), &values));
    TVLM_TRY(enqueue(budget, sizes, values));
    if (!emphasised) TVLM_TRY(tvlm_budget_look(task));
    if (emphasised) {
        TVLM_TRY(tvlm_budget_score(task, &scores));
        TVLM_TRY(device->backend->buffer_copy(device, scores, 0, values, losses * sizeof(float),
                                              tiles * sizeof(float)));
    }
    return device->backend->buffer_read(device, values, 0,
                                        (losses + (emphasised ? tiles : 0)) * sizeof(float), budget->values);
}

/*
 * Rounds a loss before it is compared. Losses differ by some 1e-6 from device to device. That must not decide
 * between tiles that are alike. So a loss keeps 12 significant bits, and a loss of less than NOTHING for each
 * pixel becomes 0.
 */
#define NOTHING 1e-6f
enum { BITS_DROPPED = 12 };

static float rounded(float loss, float pixels) {
    union {
        float value;
        uint32_t bits;
    } u = {.value = loss};
    if (!(loss > NOTHING * pixels)) return 0.0f;
    u.bits = (u.bits + (1u << (BITS_DROPPED - 1))) >> BITS_DROPPED << BITS_DROPPED;
    return u.value;
}

/* How much the loss of a tile counts: 1 + emphasis * m. */
static double count_of(const tvlm_budget *budget, int32_t tile, double emphasis) {
    return emphasis > 0.0 ? 1.0 + emphasis * (double)tvlm_budget_matters(budget)[tile] : 1.0;
}

/* Puts one picture's losses into the places of the tree, each times how much its tile counts. */
static void place(const tvlm_budget *budget, int32_t picture, double emphasis, tvlm_budget_loss *loss) {
    const float *const values = tvlm_budget_values(budget, picture);
    const float pixels = (float)(budget->patch * budget->patch);
    loss->sums[TVLM_BUDGET_ERROR] = loss->sums[TVLM_BUDGET_DETAIL] = 0.0;
    for (int32_t i = 0; i < budget->tree.places; ++i) {
        const int32_t tile = budget->tree.tile_of[i];
        const double weight = tile >= 0 ? count_of(budget, tile, emphasis) : 1.0;
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) {
            const float lost = tile >= 0 ? rounded(values[2 * (size_t)tile + (size_t)p], pixels) : 0.0f;
            loss->parts[p][i] = (float)(weight * (double)lost);
            loss->sums[p] += (double)loss->parts[p][i];
        }
    }
}

/* Whether the square around a place, with `tiles` tiles of level 0 along each side, lies wholly in the
 * image. */
static bool is_whole(const tvlm_budget *budget, int32_t place, int32_t tiles) {
    const int32_t tile = budget->tree.tile_of[place];
    if (tile < 0) return false;
    const int32_t column = tile % budget->tree.columns / tiles, row = tile / budget->tree.columns / tiles;
    return (column + 1) * tiles * budget->patch <= budget->source->width &&
           (row + 1) * tiles * budget->patch <= budget->source->height;
}

/* Sets the losses in squares that lie partly beyond the image to TVLM_BUDGET_NEVER, since such a square can
 * be neither a nine nor a third. */
static void leave_out_broken(const tvlm_budget *budget, int32_t tiles, tvlm_budget_loss *loss) {
    for (int32_t i = 0; i < budget->tree.places; ++i)
        if (!is_whole(budget, i, tiles))
            for (int p = 0; p < TVLM_BUDGET_PARTS; ++p) loss->parts[p][i] = TVLM_BUDGET_NEVER;
}

/* Fills in how much each tile counts in `reading`. */
static void count_tiles(const tvlm_budget *budget, double emphasis) {
    for (int32_t i = 0; i < budget->tiles && budget->reading.counts != NULL; ++i)
        budget->reading.counts[i] = (float)count_of(budget, i, emphasis);
}

void tvlm_budget_place(tvlm_budget *budget, double emphasis) {
    count_tiles(budget, emphasis);
    for (int32_t i = 0; i < picture_count(budget); ++i) place(budget, i, emphasis, &budget->losses[i]);
    leave_out_broken(budget, 4, &budget->losses[TVLM_BUDGET_THREE_QUARTERS]);
    leave_out_broken(budget, 3, &budget->losses[TVLM_BUDGET_A_THIRD]);
}

/* The share of its squared error that filling blank cells may add to a thumbnail. To thumbnails that get all
 * patches it may add hardly anything, since downsampling, which all answers are compared with, is one of
 * them. */
#define FILLED       0.1
#define FILLED_ALONE 0.002

/* Lets thumbnails keep all their cells where filling the blank ones would be seen. */
static void fill_in(tvlm_budget *budget) {
    for (int32_t i = 0; i < budget->grid_count; ++i) {
        const double share = i < budget->alone ? FILLED_ALONE : FILLED;
        if (budget->filled[i] <= share * budget->losses[TVLM_BUDGET_FIRST + i].sums[TVLM_BUDGET_ERROR])
            continue;
        budget->cells[i] = tvlm_budget_patches(&budget->grids[i]);
        budget->filled[i] = 0.0;
    }
}

tvlm_status tvlm_budget_measure(tvlm_budget *budget) {
    const size_t places = (size_t)budget->tree.places;
    const int32_t count = picture_count(budget);
    budget->memory = tvlm_allocate(TVLM_BUDGET_PARTS * places * (size_t)count, sizeof *budget->memory);
    if (budget->memory == NULL) return tvlm_budget_no_memory(budget);
    TVLM_TRY(read_values(budget));
    if (budget->emphasis > 0.0)
        tvlm_budget_importance(budget->task, tvlm_budget_matters(budget), budget->tiles);
    for (int32_t i = 0; i < count; ++i)
        for (int p = 0; p < TVLM_BUDGET_PARTS; ++p)
            budget->losses[i].parts[p] =
                budget->memory + ((size_t)i * TVLM_BUDGET_PARTS + (size_t)p) * places;
    TVLM_TRY(tvlm_budget_prepare_reading(budget));
    tvlm_budget_place(budget, budget->emphasis);
    fill_in(budget);
    return TVLM_OK;
}
