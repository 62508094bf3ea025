/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.c: what pictures of an image would lose, whole or without some of their tokens.
 *
 * Losses are known for tiles, which are squares of `patch` x `patch` pixels of the image. The tokens of a
 * picture lie across these tiles. So the loss of a tile is shared out by area among the tokens over it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "export/repeated.h"
#include "select/budget.h"
#include "stack/stack.h"
#include "texturevlm/export.h"

enum { SIDE_MOST = 4096 };
_Static_assert(TVLM_PICTURES_MAX == TVLM_BUDGET_GRIDS_MAX, "each picture is a thumbnail of a budget");

/* What a token shows that others need not show, beside TVLM_REPEATS_LEFT and TVLM_REPEATS_ABOVE. */
enum { BLANK = 4 };

/* A token, and its gain: how much less is lost with the token than without it. What is lost without a token
 * that repeats another is counted there, and the gain of a blank token is 0. Both are `spare`. */
typedef struct ranked {
    float gain;
    int32_t token;
    bool spare;
} ranked;

typedef struct predicted {
    int32_t columns, rows, tokens;
    ranked *ranking; /* [tokens] those of the largest gain first, spare ones last */
    uint8_t *like;   /* [tokens] BLANK, or what the token repeats */
} predicted;

struct tvlm_prediction {
    tvlm_log log;
    tvlm_budget *budget;
    int32_t width, height; /* of the image that losses were measured on, in pixels */
    int32_t count;
    int32_t overview; /* the picture that is seen where a token is not shown; -1: the one of a single patch */
    predicted pictures[TVLM_PICTURES_MAX];
    uint8_t *shown; /* [the most tokens of a picture] how each is shown, as a tvlm_token_shown */
    float *hidden;  /* [tiles] the share of each tile that lies under tokens that are not shown */
};

/* ---- Tokens over tiles ---- */

/* A tile along one side of the image, from pixel `from` to `to`. `first` and `last` are the tokens over it,
 * and `token` is the size of a token in pixels. */
typedef struct along {
    int32_t first, last;
    double from, to, token;
} along;

static along along_of(int32_t tile, int32_t patch, int32_t pixels, int32_t tokens) {
    along a = {.from = (double)tile * patch, .token = (double)pixels / tokens};
    a.to = fmin(a.from + patch, pixels);
    a.first = (int32_t)fmin(a.from / a.token, tokens - 1);
    a.last = (int32_t)fmin(a.to / a.token, tokens - 1);
    return a;
}

/* The share of the tile that lies under a token. */
static double share_of(const along *a, int32_t token) {
    const double from = fmax(a->from, token * a->token), to = fmin(a->to, (token + 1) * a->token);
    return fmax(to - from, 0.0) / (a->to - a->from);
}

/* Is called for each tile and each token over it. `share` is the share of the tile that lies under the
 * token. */
typedef void share_function(void *user, int32_t tile, int32_t token, double share);

static void share_out(const tvlm_prediction *p, const predicted *picture, share_function *give, void *user) {
    const int32_t columns = p->budget->tree.columns, patch = p->budget->patch;
    for (int32_t tile = 0; tile < p->budget->tiles; ++tile) {
        const along x = along_of(tile % columns, patch, p->width, picture->columns);
        const along y = along_of(tile / columns, patch, p->height, picture->rows);
        for (int32_t row = y.first; row <= y.last; ++row)
            for (int32_t column = x.first; column <= x.last; ++column)
                give(user, tile, row * picture->columns + column, share_of(&x, column) * share_of(&y, row));
    }
}

/* ---- The ranking of tokens ---- */

/* What tiles lose where a token is not shown. */
static const tvlm_budget_loss *beneath(const tvlm_prediction *p) {
    return &p->budget->losses[p->overview < 0 ? TVLM_BUDGET_LEAST : TVLM_BUDGET_FIRST + p->overview];
}

/* What tiles lose with a picture (`with`), and with what is seen in its place (`without`). The weights are
 * those of the thumbnail of one patch in any case: they say what a loss is a share of. */
typedef struct gaining {
    const tvlm_budget *budget;
    const tvlm_budget_loss *with, *without;
    double weights[TVLM_BUDGET_PARTS];
    ranked *ranking; /* still in the order of tokens, while gains are added up */
} gaining;

static void add_gain(void *user, int32_t tile, int32_t token, double share) {
    const gaining *const g = user;
    const int32_t place = g->budget->tree.place_of[tile];
    double gain = 0.0;
    for (int p = 0; p < TVLM_BUDGET_PARTS; ++p)
        gain += g->weights[p] * ((double)g->without->parts[p][place] - (double)g->with->parts[p][place]);
    g->ranking[token].gain += (float)(share * gain);
}

static int compare(const void *a, const void *b) {
    const ranked *const p = a, *const q = b;
    if (p->spare != q->spare) return p->spare ? 1 : -1;
    if (p->gain != q->gain) return p->gain > q->gain ? -1 : 1;
    return (p->token > q->token) - (p->token < q->token);
}

/* Marks blank tokens. A picture with more tokens than pixels along a side has no blank tokens. False: no
 * memory. */
static bool mark_blank(const tvlm_prediction *p, predicted *picture) {
    const bool coarse = picture->columns <= p->width && picture->rows <= p->height;
    if (coarse &&
        tvlm_budget_blank(&p->budget->ink, picture->columns, picture->rows, picture->like, NULL) < 0)
        return false;
    for (int32_t i = 0; i < picture->tokens; ++i) picture->like[i] = coarse && picture->like[i] ? BLANK : 0;
    return true;
}

/*
 * A token that looks blank may hold faint text, of which much is lost where it is not shown. So it is not blank
 *   - if it gains more than FAINT times what an inked token gains on average;
 *   - if all such tokens together gain more than FAINT_ALL of what all tokens do: then none is.
 * Of paper with noise (sigma 3) a token gains .04 of an inked one, and all tokens .036 of all. Text of 16 levels on
 * white gains .17 and more, and .78.
 */
#define FAINT     0.1
#define FAINT_ALL 0.1

static void keep_faint(predicted *picture) {
    double inked = 0.0, blank = 0.0;
    int32_t count = 0;
    for (int32_t i = 0; i < picture->tokens; ++i) {
        *(picture->like[i] == BLANK ? &blank : &inked) += (double)picture->ranking[i].gain;
        count += picture->like[i] != BLANK;
    }
    const bool none = blank > FAINT_ALL * (blank + inked);
    const double most = count > 0 ? FAINT * inked / count : 0.0;
    for (int32_t i = 0; i < picture->tokens; ++i)
        if (picture->like[i] == BLANK && (none || (double)picture->ranking[i].gain > most))
            picture->like[i] = 0;
}

/* Whether there is a token there, and it is blank. */
static bool is_blank(const predicted *picture, int32_t column, int32_t row) {
    return column < picture->columns && row < picture->rows &&
           picture->like[row * picture->columns + column] == BLANK;
}

/*
 * Adds what tokens that are not blank repeat.
 *   - A blank one is shown by all that is around it, and is not repeated: where it is filled from a token, that
 *     one must be shown.
 *   - The last one before a blank one repeats none. A line of which that were left out, too, would seem to go
 *     on, or to end anywhere: neither it nor the blank one is shown.
 * False: no memory.
 */
static bool add_repeated(const tvlm_repeated *repeated, predicted *picture) {
    const int32_t columns = picture->columns;
    uint8_t *const repeats = tvlm_allocate((size_t)picture->tokens, 1), *const like = picture->like;
    if (repeats == NULL) return false;
    tvlm_repeated_find(repeated, columns, picture->rows, repeats);
    for (int32_t i = 0; i < picture->tokens; ++i) {
        const int32_t column = i % columns, row = i / columns;
        if (like[i] == BLANK) continue;
        if ((repeats[i] & TVLM_REPEATS_LEFT) && like[i - 1] != BLANK && !is_blank(picture, column + 1, row))
            like[i] |= TVLM_REPEATS_LEFT;
        if ((repeats[i] & TVLM_REPEATS_ABOVE) && like[i - columns] != BLANK &&
            !is_blank(picture, column, row + 1))
            like[i] |= TVLM_REPEATS_ABOVE;
    }
    free(repeats);
    return true;
}

/* Moves the gain of each token that repeats another to the first of those that show the same. They still
 * stand in the order of tokens. */
static void gather_gains(predicted *picture) {
    for (int32_t i = picture->tokens - 1; i >= 0; --i) {
        ranked *const token = &picture->ranking[i];
        const uint8_t like = picture->like[i];
        token->spare = like != 0;
        if (like & TVLM_REPEATS_LEFT)
            picture->ranking[i - 1].gain += token->gain;
        else if (like & TVLM_REPEATS_ABOVE)
            picture->ranking[i - picture->columns].gain += token->gain;
        if (token->spare) token->gain = 0.0f;
    }
}

/* Says in the ranking of a picture, in the order of tokens, what each token gains by itself. */
static void measure_gains(const tvlm_prediction *p, int32_t index) {
    const predicted *const picture = &p->pictures[index];
    const tvlm_budget *const budget = p->budget;
    gaining g = {.budget = budget,
                 .with = &budget->losses[TVLM_BUDGET_FIRST + index],
                 .without = beneath(p),
                 .ranking = picture->ranking};
    for (int32_t i = 0; i < picture->tokens; ++i) picture->ranking[i] = (ranked){.token = i};
    tvlm_budget_weigh_parts(budget->losses[TVLM_BUDGET_LEAST].sums, TVLM_BUDGET_COUNTS, g.weights);
    share_out(p, picture, add_gain, &g);
}

/* Sorts the tokens of a picture by what they gain, with those that repeat them. */
static void sort_tokens(predicted *picture) {
    gather_gains(picture);
    qsort(picture->ranking, (size_t)picture->tokens, sizeof *picture->ranking, compare);
}

/* Ranks the tokens of a picture. False: no memory. */
static bool rank(tvlm_prediction *p, int32_t index, const tvlm_repeated *repeated) {
    predicted *const picture = &p->pictures[index];
    picture->ranking = tvlm_allocate((size_t)picture->tokens, sizeof *picture->ranking);
    picture->like = tvlm_allocate((size_t)picture->tokens, sizeof *picture->like);
    if (picture->ranking == NULL || picture->like == NULL || !mark_blank(p, picture)) return false;
    measure_gains(p, index);
    keep_faint(picture);
    if (!add_repeated(repeated, picture)) return false;
    sort_tokens(picture);
    return true;
}

/* ---- Beginning and end ---- */

static tvlm_status check(const tvlm_log *log, const tvlm_picture *pictures, int32_t count) {
    if (count < 1 || count > TVLM_PICTURES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d pictures; it must be 1 to %d", (int)count,
                         TVLM_PICTURES_MAX);
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_picture *const p = &pictures[i];
        if (p->columns < 1 || p->columns > SIDE_MOST || p->rows < 1 || p->rows > SIDE_MOST)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "picture %d is %d x %d tokens; each must be 1 to %d",
                             (int)i, (int)p->columns, (int)p->rows, SIDE_MOST);
    }
    return TVLM_OK;
}

static tvlm_status no_memory(const tvlm_log *log) {
    return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a prediction");
}

/* Compares the pixels of the image with each other. */
static tvlm_status compare_pixels(const tvlm_prediction *p, tvlm_repeated *repeated) {
    float *rgba = NULL;
    tvlm_status status = tvlm_budget_pixels(p->budget, &rgba);
    if (status == TVLM_OK && !tvlm_repeated_make(rgba, p->width, p->height, repeated))
        status = no_memory(&p->log);
    free(rgba);
    return status;
}

/* Measures the pictures. The losses stay valid when the stack is destroyed: afterwards p->budget has no
 * pointer to the stack. */
static tvlm_status measure(const tvlm_task *task, const tvlm_picture *pictures, tvlm_prediction *p,
                           tvlm_repeated *repeated) {
    tvlm_budget_grid grids[TVLM_PICTURES_MAX];
    for (int32_t i = 0; i < p->count; ++i)
        grids[i] = (tvlm_budget_grid){pictures[i].columns, pictures[i].rows};
    TVLM_TRY(tvlm_budget_open(task, grids, p->count, &p->budget));
    p->width = p->budget->source->width;
    p->height = p->budget->source->height;
    TVLM_TRY(compare_pixels(p, repeated));
    p->budget->source = NULL;
    p->budget->task = NULL;
    return TVLM_OK;
}

static tvlm_status measure_and_rank(const tvlm_task *task, const tvlm_picture *pictures, tvlm_prediction *p,
                                    tvlm_repeated *repeated) {
    TVLM_TRY(measure(task, pictures, p, repeated));
    for (int32_t i = 0; i < p->count; ++i)
        if (!rank(p, i, repeated)) return no_memory(&p->log);
    return TVLM_OK;
}

static tvlm_status make(const tvlm_task *task, const tvlm_picture *pictures, tvlm_prediction *p) {
    int32_t most = 1;
    tvlm_repeated repeated = {0};
    for (int32_t i = 0; i < p->count; ++i) {
        const int32_t columns = pictures[i].columns, rows = pictures[i].rows;
        p->pictures[i] = (predicted){.columns = columns, .rows = rows, .tokens = columns * rows};
        if (columns * rows > most) most = columns * rows;
    }
    const tvlm_status status = measure_and_rank(task, pictures, p, &repeated);
    tvlm_repeated_free(&repeated);
    TVLM_TRY(status);
    p->shown = tvlm_allocate((size_t)most, sizeof *p->shown);
    p->hidden = tvlm_allocate((size_t)p->budget->tiles, sizeof *p->hidden);
    return p->shown != NULL && p->hidden != NULL ? TVLM_OK : no_memory(&p->log);
}

tvlm_status tvlm_predict(tvlm_stack *stack, const struct tvlm_query *query,
                         const struct tvlm_select_params *params, const tvlm_picture *pictures, int32_t count,
                         tvlm_prediction **prediction) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    const tvlm_log *const log = tvlm_stack_log(stack);
    tvlm_task task = {.stack = stack, .query = query};
    TVLM_NEED(log, pictures);
    TVLM_NEED(log, prediction);
    if (params != NULL) task.params = *params;
    if (task.params.strategy == TVLM_STRATEGY_DEFAULT) task.params.strategy = TVLM_STRATEGY_BUDGET;
    TVLM_TRY(tvlm_select_check(log, query, &task.params));
    TVLM_TRY(tvlm_stack_check_index(stack, task.params.score.index));
    if (task.params.strategy != TVLM_STRATEGY_BUDGET)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a prediction is of the strategy budget");
    if (task.params.patch == 0.0f) task.params.patch = TVLM_PATCH_DEFAULT;
    TVLM_TRY(check(log, pictures, count));
    tvlm_prediction *p = tvlm_allocate(1, sizeof *p);
    if (p == NULL) return no_memory(log);
    p->log = *log;
    p->count = count;
    p->overview = -1;
    const tvlm_status status = make(&task, pictures, p);
    if (status == TVLM_OK)
        *prediction = p;
    else
        tvlm_prediction_destroy(&p);
    return status;
}

void tvlm_prediction_destroy(tvlm_prediction **prediction) {
    tvlm_prediction *const p = prediction != NULL ? *prediction : NULL;
    if (p == NULL) return;
    for (int32_t i = 0; i < p->count; ++i) {
        free(p->pictures[i].ranking);
        free(p->pictures[i].like);
    }
    tvlm_budget_close(&p->budget);
    free(p->shown);
    free(p->hidden);
    free(p);
    *prediction = NULL;
}

/* ---- Losses ---- */

/* A loss below this is what rounding leaves of sums, and counts as none. */
#define NOTHING 1e-6

typedef struct hiding {
    const uint8_t *shown;
    float *hidden;
} hiding;

static void hide(void *user, int32_t tile, int32_t token, double share) {
    const hiding *const h = user;
    if (h->shown[token] == TVLM_TOKEN_LOST) h->hidden[tile] += (float)share;
}

/* What a picture loses if its tokens are shown as p->shown says. */
static double lost(tvlm_prediction *p, int32_t index) {
    const tvlm_budget *const budget = p->budget;
    const tvlm_budget_loss *const with = &budget->losses[TVLM_BUDGET_FIRST + index];
    const tvlm_budget_loss *const without = beneath(p);
    hiding h = {p->shown, p->hidden};
    double parts[TVLM_BUDGET_PARTS] = {0.0};
    memset(p->hidden, 0, (size_t)budget->tiles * sizeof *p->hidden);
    share_out(p, &p->pictures[index], hide, &h);
    for (int32_t tile = 0; tile < budget->tiles; ++tile) {
        const int32_t place = budget->tree.place_of[tile];
        const double all = (double)without->parts[TVLM_BUDGET_ERROR][place],
                     own = (double)with->parts[TVLM_BUDGET_ERROR][place];
        p->hidden[tile] = fminf(p->hidden[tile], 1.0f);
        parts[TVLM_BUDGET_ERROR] += own + (double)p->hidden[tile] * (all - own);
    }
    parts[TVLM_BUDGET_DETAIL] = tvlm_budget_unread_in_parts(budget, index, p->overview, p->hidden);
    const double loss = tvlm_budget_share_lost(budget, parts);
    return loss < NOTHING ? 0.0 : loss;
}

/* Whether a token stands for those that repeat it. */
static bool stands(uint8_t shown) {
    return shown != TVLM_TOKEN_LOST && shown != TVLM_TOKEN_BLANK;
}

/* Says in p->shown how tokens are shown, where those that are kept are marked in it, the others 0. */
static void show_others(tvlm_prediction *p, const predicted *picture) {
    uint8_t *const shown = p->shown;
    for (int32_t i = 0; i < picture->tokens; ++i) {
        const uint8_t like = picture->like[i];
        if (shown[i] != TVLM_TOKEN_LOST) continue;
        if (like == BLANK)
            shown[i] = TVLM_TOKEN_BLANK;
        else if ((like & TVLM_REPEATS_LEFT) && stands(shown[i - 1]))
            shown[i] = TVLM_TOKEN_LEFT;
        else if ((like & TVLM_REPEATS_ABOVE) && stands(shown[i - picture->columns]))
            shown[i] = TVLM_TOKEN_ABOVE;
    }
}

/* The first n tokens of the ranking are kept. */
static void show_first(tvlm_prediction *p, const predicted *picture, int32_t n) {
    for (int32_t i = 0; i < picture->tokens; ++i)
        p->shown[picture->ranking[i].token] = i < n ? TVLM_TOKEN_KEPT : TVLM_TOKEN_LOST;
    show_others(p, picture);
}

/* Those tokens are kept; NULL: all are. */
static void show_kept(tvlm_prediction *p, const predicted *picture, const uint8_t *kept) {
    for (int32_t i = 0; i < picture->tokens; ++i)
        p->shown[i] = kept == NULL || kept[i] != 0 ? TVLM_TOKEN_KEPT : TVLM_TOKEN_LOST;
    show_others(p, picture);
}

static tvlm_status check_index(const tvlm_prediction *p, int32_t index) {
    if (index >= 0 && index < p->count) return TVLM_OK;
    return tvlm_fail(&p->log, TVLM_ERROR_ARGUMENT, "picture %d of a prediction of %d", (int)index,
                     (int)p->count);
}

tvlm_status tvlm_prediction_set_overview(tvlm_prediction *prediction, int32_t index) {
    TVLM_NEED(NULL, prediction);
    if (index != -1) TVLM_TRY(check_index(prediction, index));
    if (index == prediction->overview) return TVLM_OK;
    prediction->overview = index;
    for (int32_t i = 0; i < prediction->count; ++i) {
        measure_gains(prediction, i);
        sort_tokens(&prediction->pictures[i]);
    }
    return TVLM_OK;
}

tvlm_status tvlm_prediction_loss(tvlm_prediction *prediction, int32_t index, const uint8_t *kept,
                                 float *loss) {
    TVLM_NEED(NULL, prediction);
    TVLM_NEED(&prediction->log, loss);
    TVLM_TRY(check_index(prediction, index));
    show_kept(prediction, &prediction->pictures[index], kept);
    *loss = (float)lost(prediction, index);
    return TVLM_OK;
}

tvlm_status tvlm_prediction_shown(tvlm_prediction *prediction, int32_t index, const uint8_t *kept,
                                  uint8_t *shown) {
    TVLM_NEED(NULL, prediction);
    TVLM_NEED(&prediction->log, shown);
    TVLM_TRY(check_index(prediction, index));
    const predicted *const picture = &prediction->pictures[index];
    show_kept(prediction, picture, kept);
    memcpy(shown, prediction->shown, (size_t)picture->tokens);
    return TVLM_OK;
}

tvlm_status tvlm_prediction_keep(tvlm_prediction *prediction, int32_t index, int32_t n, uint8_t *kept,
                                 float *loss) {
    TVLM_NEED(NULL, prediction);
    TVLM_TRY(check_index(prediction, index));
    const predicted *const picture = &prediction->pictures[index];
    if (n < 0 || n > picture->tokens)
        return tvlm_fail(&prediction->log, TVLM_ERROR_ARGUMENT, "%d of %d tokens of picture %d", (int)n,
                         (int)picture->tokens, (int)index);
    for (int32_t i = 0; kept != NULL && i < picture->tokens; ++i) kept[picture->ranking[i].token] = i < n;
    if (loss == NULL) return TVLM_OK;
    show_first(prediction, picture, n);
    *loss = (float)lost(prediction, index);
    return TVLM_OK;
}

tvlm_status tvlm_prediction_least(tvlm_prediction *prediction, int32_t index, float tolerance, int32_t *n) {
    TVLM_NEED(NULL, prediction);
    TVLM_NEED(&prediction->log, n);
    TVLM_TRY(check_index(prediction, index));
    if (!(tolerance >= 0.0f && tolerance <= 1.0f))
        return tvlm_fail(&prediction->log, TVLM_ERROR_ARGUMENT, "a tolerance of %g; it must be 0 to 1",
                         (double)tolerance);
    const predicted *const picture = &prediction->pictures[index];
    int32_t low = 0, high = picture->tokens;
    show_first(prediction, picture, high);
    if ((float)lost(prediction, index) > tolerance) {
        *n = -1;
        return TVLM_OK;
    }
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        show_first(prediction, picture, middle);
        if ((float)lost(prediction, index) <= tolerance)
            high = middle;
        else
            low = middle + 1;
    }
    *n = low;
    return TVLM_OK;
}
