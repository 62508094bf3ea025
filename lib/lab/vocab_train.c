/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocab_train.c: k-means of a sample of vectors, as lab/vocab.h says. The device computes only the products of
 * vectors with centres, and no decision depends on how it rounds them. All else is added up on the host in a
 * fixed order.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/random.h"
#include "core/try.h"
#include "lab/vocab.h"

enum {
    SAMPLE = TVLM_VOCAB_SAMPLE_DEFAULT,
    BATCH = 16,
    /* The first centres are chosen from BEGINNING vectors for each centre, and from at least BEGINNING_LEAST
     * vectors in all. */
    BEGINNING = 3,
    BEGINNING_LEAST = 4096,
    /* The most centres that are drawn at once. The distances from all of them are found in one pass over
     * memory. */
    AHEAD = 64,
    FACTOR_MAX = 65536,
    FIRST_ROOM = 4096
};

/* When a round begins, the weight of earlier vectors is multiplied by this. They count less because the
 * centres were elsewhere when they came. */
static const double kept_weight = 0.1;

struct tvlm_vocab_trainer {
    tvlm_device *device;
    struct tvlm_vocab_trainer_params params; /* with the defaults filled in */
    uint64_t random;
    int64_t added, seen; /* how many vectors were added, and how many of them are not zero vectors */
    int32_t limit, kept,
        room; /* vectors of the sample: the most, how many there are, and how many there is memory for */
    float *sample;
    float *unit; /* the vector that is being added, at length 1 */
};

/* ---- Creating a trainer ---- */

static int32_t or_default(int32_t given, int32_t otherwise) {
    return given == 0 ? otherwise : given;
}

static tvlm_status fill_in(const tvlm_log *log, const struct tvlm_vocab_trainer_params *params,
                           struct tvlm_vocab_trainer_params *out) {
    static const struct tvlm_vocab_trainer_params defaults;
    *out = params != NULL ? *params : defaults;
    out->count = or_default(out->count, TVLM_VOCAB_COUNT_DEFAULT);
    out->rounds = or_default(out->rounds, TVLM_VOCAB_ROUNDS_DEFAULT);
    out->sample = or_default(out->sample, SAMPLE);
    out->batch = or_default(out->batch, BATCH);
    if (out->dimension < 1 || out->dimension > TVLM_BASIS_DIMENSION_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "vectors of %d dimensions: not in 1 .. %d",
                         (int)out->dimension, TVLM_BASIS_DIMENSION_MAX);
    if (out->count < 1 || out->count > TVLM_VOCAB_COUNT_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a vocabulary of %d centres: not in 1 .. %d",
                         (int)out->count, TVLM_VOCAB_COUNT_MAX);
    if (out->rounds < 1 || out->rounds > TVLM_VOCAB_ROUNDS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d rounds: not in 1 .. %d", (int)out->rounds,
                         TVLM_VOCAB_ROUNDS_MAX);
    if (out->sample < 1 || out->sample > FACTOR_MAX || out->batch < 1 || out->batch > FACTOR_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a sample of %d vectors for each centre, and batches of %d: not in 1 .. %d",
                         (int)out->sample, (int)out->batch, FACTOR_MAX);
    return TVLM_OK;
}

tvlm_status tvlm_vocab_trainer_create(tvlm_device *device, const struct tvlm_vocab_trainer_params *params,
                                      tvlm_vocab_trainer **trainer) {
    struct tvlm_vocab_trainer_params filled;
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, trainer);
    TVLM_CHECK_RESERVED(&device->log, tvlm_vocab_trainer_params, params);
    TVLM_TRY(fill_in(&device->log, params, &filled));
    tvlm_vocab_trainer *const made = tvlm_allocate(1, sizeof *made);
    float *const unit = tvlm_allocate((size_t)filled.dimension, sizeof *unit);
    if (made == NULL || unit == NULL) {
        free(made);
        free(unit);
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a trainer");
    }
    const int64_t limit = (int64_t)filled.sample * filled.count;
    made->device = device;
    made->params = filled;
    made->unit = unit;
    made->random = filled.seed;
    made->limit = limit < INT32_MAX ? (int32_t)limit : INT32_MAX;
    *trainer = made;
    return TVLM_OK;
}

void tvlm_vocab_trainer_destroy(tvlm_vocab_trainer **trainer) {
    if (trainer == NULL || *trainer == NULL) return;
    free((*trainer)->sample);
    free((*trainer)->unit);
    free(*trainer);
    *trainer = NULL;
}

/* ---- The sample ---- */

static tvlm_status make_room(tvlm_vocab_trainer *t) {
    if (t->kept < t->room) return TVLM_OK;
    const int64_t wanted = t->room > 0 ? 2 * (int64_t)t->room : FIRST_ROOM;
    const int32_t room = wanted < t->limit ? (int32_t)wanted : t->limit;
    size_t row, bytes;
    float *grown = NULL;
    if (tvlm_multiply((size_t)t->params.dimension, sizeof *grown, &row) &&
        tvlm_multiply((size_t)room, row, &bytes))
        grown = realloc(t->sample, bytes);
    if (grown == NULL)
        return tvlm_fail(&t->device->log, TVLM_ERROR_MEMORY,
                         "no memory for a sample of %d vectors of %d dimensions", (int)room,
                         (int)t->params.dimension);
    t->sample = grown;
    t->room = room;
    return TVLM_OK;
}

/* Draws a whole number from 0 to `count` - 1. */
static int64_t random_below(uint64_t *random, int64_t count) {
    return (int64_t)(tvlm_random(random) % (uint64_t)count);
}

/* Decides whether the vector in `unit` gets into the sample. Each vector that was seen is in it with the same
 * probability. */
static tvlm_status keep(tvlm_vocab_trainer *t) {
    const size_t width = (size_t)t->params.dimension;
    int64_t place = t->kept;
    ++t->seen;
    if (t->kept < t->limit) {
        TVLM_TRY(make_room(t));
        ++t->kept;
    } else {
        place = random_below(&t->random, t->seen);
    }
    if (place < t->limit) memcpy(t->sample + (size_t)place * width, t->unit, width * sizeof *t->unit);
    return TVLM_OK;
}

tvlm_status tvlm_vocab_trainer_add(tvlm_vocab_trainer *trainer, const float *vectors, int64_t count) {
    TVLM_NEED(NULL, trainer);
    TVLM_ENTER(trainer->device);
    const tvlm_log *const log = &trainer->device->log;
    const int32_t dimension = trainer->params.dimension;
    if (count < 0 || (vectors == NULL && count > 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%lld vectors to add", (long long)count);
    for (int64_t i = 0; i < count; ++i, ++trainer->added) {
        const float *const vector = vectors + (size_t)i * (size_t)dimension;
        TVLM_TRY(tvlm_vocab_check_vector(log, vector, dimension, trainer->added));
        if (tvlm_vocab_unit(vector, dimension, trainer->unit)) TVLM_TRY(keep(trainer));
    }
    return TVLM_OK;
}

/* ---- Where the centres begin ---- */

/* What tvlm_vocab_trainer_finish works with. */
typedef struct training {
    const tvlm_vocab_trainer *t;
    uint64_t random;
    tvlm_matcher matcher;
    float *centres;  /* [count * dimension] */
    double *weights; /* [count]: the weight of the vectors that a centre is the mean of */
    double *sums;    /* [count * dimension]: the sums of a batch's vectors for each centre */
    int32_t *came;   /* [2 * count]: vectors that came to each centre, in the batch and in the round */
    int32_t *order;  /* [kept]: the numbers of the vectors, in the order in which they are used */
    float *squares;  /* [kept]: the squared distance of each vector from its centre, by number */
    int32_t *ids;    /* [rows of a block] */
    float *distances;
} training;

static const float *vector_of(const training *w, int32_t number) {
    return w->t->sample + (size_t)number * (size_t)w->t->params.dimension;
}

static float *centre_of(const training *w, int32_t number) {
    return w->centres + (size_t)number * (size_t)w->t->params.dimension;
}

/* Fills the first `count` places of the order with vectors that are drawn at random from all of them (Fisher
 * & Yates). */
static void shuffle(training *w, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        const int32_t other = i + (int32_t)random_below(&w->random, w->t->kept - i), moved = w->order[i];
        w->order[i] = w->order[other];
        w->order[other] = moved;
    }
}

/* Computes a scalar product in floats. It has eight sums, so that compilers can vectorise it although they
 * may not change the order of additions. */
static float quick_product(const float *a, const float *b, int32_t dimension) {
    float parts[8] = {0.0f};
    int32_t d = 0;
    for (; d + 8 <= dimension; d += 8)
        for (int32_t i = 0; i < 8; ++i) parts[i] += a[d + i] * b[d + i];
    for (int32_t i = 0; d + i < dimension; ++i) parts[i] += a[d + i] * b[d + i];
    return ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
}

/* Draws a place in the order. The probability of a place is proportional to its squared distance from the
 * centres that exist. If all distances are 0, since all vectors are alike, each place has the same
 * probability. The distance of the place that is drawn becomes 0. */
static int32_t draw(training *w, int32_t count) {
    double total = 0.0;
    int32_t place = -1;
    for (int32_t i = 0; i < count; ++i) total += (double)w->distances[i];
    if (!(total > 0.0)) return (int32_t)random_below(&w->random, count);
    double rest = tvlm_random_unit(&w->random) * total;
    for (int32_t i = 0; i < count && rest > 0.0; ++i) {
        if (!(w->distances[i] > 0.0f)) continue;
        rest -= (double)w->distances[i];
        place = i;
    }
    w->distances[place] = 0.0f;
    return place;
}

/* Makes centres from vectors of a part of the sample, by k-means++. Unlike in that method, several centres
 * are drawn before the distances are found anew. At the beginning few are drawn at once, since each new
 * centre changes the distances much. */
static void begin(training *w) {
    const int32_t count = w->t->params.count, dimension = w->t->params.dimension;
    const int64_t many = (int64_t)BEGINNING * count;
    const int64_t wanted = many > BEGINNING_LEAST ? many : BEGINNING_LEAST;
    const int32_t among = wanted < w->t->kept ? (int32_t)wanted : w->t->kept;
    const float nothing = 1e-6f; /* rounding may leave such a distance between two equal vectors */
    shuffle(w, among);
    for (int32_t i = 0; i < among; ++i) w->distances[i] = 4.0f;
    for (int32_t made = 0, more; made < count; made += more) {
        more = made / 8 < 1 ? 1 : made / 8 < AHEAD ? made / 8 : AHEAD;
        if (more > count - made) more = count - made;
        for (int32_t j = made; j < made + more; ++j)
            memcpy(centre_of(w, j), vector_of(w, w->order[draw(w, among)]),
                   (size_t)dimension * sizeof(float));
        for (int32_t i = 0; i < among; ++i)
            for (int32_t j = made; j < made + more && w->distances[i] > 0.0f; ++j) {
                const float square =
                    2.0f - 2.0f * quick_product(vector_of(w, w->order[i]), centre_of(w, j), dimension);
                if (square < w->distances[i]) w->distances[i] = square > nothing ? square : 0.0f;
            }
    }
}

/* ---- Rounds ---- */

/* Finds the nearest centre of each of `rows` vectors, from place `first` of the order on, and the square of
 * its distance. */
static tvlm_status match(training *w, int32_t first, int32_t rows) {
    const size_t width = (size_t)w->t->params.dimension;
    for (int32_t i = 0; i < rows; ++i)
        memcpy(w->matcher.block + (size_t)i * width, vector_of(w, w->order[first + i]),
               width * sizeof(float));
    TVLM_TRY(tvlm_matcher_match(&w->matcher, rows, w->ids, w->distances));
    for (int32_t i = 0; i < rows; ++i) w->squares[w->order[first + i]] = w->distances[i];
    return TVLM_OK;
}

/* Adds the vectors of a block to the sums of their centres. */
static void add_block(training *w, int32_t rows) {
    const int32_t dimension = w->t->params.dimension;
    for (int32_t i = 0; i < rows; ++i) {
        const float *const unit = w->matcher.block + (size_t)i * (size_t)dimension;
        double *const sum = w->sums + (size_t)w->ids[i] * (size_t)dimension;
        for (int32_t d = 0; d < dimension; ++d) sum[d] += (double)unit[d];
        ++w->came[w->ids[i]];
    }
}

/* Moves each centre to the weighted mean of its former place and of the vectors that came to it in a
 * batch. */
static void move(training *w) {
    const int32_t count = w->t->params.count, dimension = w->t->params.dimension;
    for (int32_t j = 0; j < count; ++j) {
        float *const centre = centre_of(w, j);
        const double *const sum = w->sums + (size_t)j * (size_t)dimension;
        const double before = w->weights[j], after = before + w->came[j];
        if (w->came[j] == 0) continue;
        for (int32_t d = 0; d < dimension; ++d)
            centre[d] = (float)(((double)centre[d] * before + sum[d]) / after);
        w->weights[j] = after;
        w->came[count + j] += w->came[j];
    }
}

static int32_t smaller(int32_t a, int64_t b) {
    return a < b ? a : (int32_t)b;
}

static tvlm_status run_batch(training *w, int32_t first, int32_t end) {
    const size_t count = (size_t)w->t->params.count, numbers = count * (size_t)w->t->params.dimension;
    memset(w->sums, 0, numbers * sizeof *w->sums);
    memset(w->came, 0, count * sizeof *w->came);
    TVLM_TRY(tvlm_matcher_set(&w->matcher, w->centres));
    for (int32_t rows; first < end; first += rows) {
        rows = smaller(w->matcher.rows, end - first);
        TVLM_TRY(match(w, first, rows));
        add_block(w, rows);
    }
    move(w);
    return TVLM_OK;
}

static tvlm_status run_round(training *w) {
    const int32_t count = w->t->params.count, kept = w->t->kept;
    const int64_t batch = (int64_t)w->t->params.batch * count;
    for (int32_t j = 0; j < count; ++j) {
        w->weights[j] *= kept_weight;
        w->came[count + j] = 0;
    }
    shuffle(w, kept);
    for (int32_t first = 0, vectors; first < kept; first += vectors) {
        vectors = smaller(kept - first, batch);
        TVLM_TRY(run_batch(w, first, first + vectors));
    }
    return TVLM_OK;
}

typedef struct distant {
    float square;
    int32_t number;
} distant;

static int farther_first(const void *a, const void *b) {
    const distant *const left = a, *const right = b;
    if (left->square != right->square) return left->square > right->square ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Moves each centre to which no vector came in a round to one of the vectors that are farthest from their own
 * centres. */
static tvlm_status revive(training *w) {
    const int32_t count = w->t->params.count, kept = w->t->kept;
    const int32_t *const came = w->came + count;
    int32_t dead = 0, taken = 0;
    for (int32_t j = 0; j < count; ++j) dead += came[j] == 0;
    if (dead == 0) return TVLM_OK;
    distant *const all = tvlm_allocate((size_t)kept, sizeof *all);
    if (all == NULL)
        return tvlm_fail(&w->t->device->log, TVLM_ERROR_MEMORY, "no memory to train a vocabulary");
    for (int32_t i = 0; i < kept; ++i) all[i] = (distant){w->squares[i], i};
    qsort(all, (size_t)kept, sizeof *all, farther_first);
    for (int32_t j = 0; j < count && taken < kept && all[taken].square > 0.0f; ++j) {
        if (came[j] > 0) continue;
        memcpy(centre_of(w, j), vector_of(w, all[taken++].number),
               (size_t)w->t->params.dimension * sizeof(float));
        w->weights[j] = 0.0;
    }
    free(all);
    return TVLM_OK;
}

/* ---- The vocabulary ---- */

static tvlm_status allocate(training *w) {
    const tvlm_vocab_trainer *const t = w->t;
    const size_t count = (size_t)t->params.count, kept = (size_t)t->kept;
    const size_t numbers = count * (size_t)t->params.dimension;
    TVLM_TRY(tvlm_matcher_open(t->device, t->params.dimension, t->params.count, &w->matcher));
    w->centres = tvlm_allocate(numbers, sizeof *w->centres);
    w->sums = tvlm_allocate(numbers, sizeof *w->sums);
    w->weights = tvlm_allocate(count, sizeof *w->weights);
    w->came = tvlm_allocate(2 * count, sizeof *w->came);
    w->order = tvlm_allocate(kept, sizeof *w->order);
    w->squares = tvlm_allocate(kept, sizeof *w->squares);
    w->ids = tvlm_allocate((size_t)w->matcher.rows, sizeof *w->ids);
    /* The distances of the vectors of a block, or of those among which the first centres are looked for. */
    w->distances = tvlm_allocate(kept + (size_t)w->matcher.rows, sizeof *w->distances);
    if (w->centres == NULL || w->sums == NULL || w->weights == NULL || w->came == NULL || w->order == NULL ||
        w->squares == NULL || w->ids == NULL || w->distances == NULL)
        return tvlm_fail(&t->device->log, TVLM_ERROR_MEMORY, "no memory to train %zu centres", count);
    for (int32_t i = 0; i < t->kept; ++i) w->order[i] = i;
    return TVLM_OK;
}

static void release(training *w) {
    tvlm_matcher_close(&w->matcher);
    free(w->centres);
    free(w->sums);
    free(w->weights);
    free(w->came);
    free(w->order);
    free(w->squares);
    free(w->ids);
    free(w->distances);
}

/* Computes the mean squared distance of the sample's vectors from their nearest centres, as these are now. */
static tvlm_status find_error(training *w, float *error) {
    const int32_t kept = w->t->kept;
    double sum = 0.0;
    TVLM_TRY(tvlm_matcher_set(&w->matcher, w->centres)); /* NOLINT: what w holds is freed by release() */
    for (int32_t first = 0, rows; first < kept; first += rows) {
        rows = smaller(w->matcher.rows, kept - first);
        TVLM_TRY(match(w, first, rows));
    }
    for (int32_t i = 0; i < kept; ++i) sum += (double)w->squares[i];
    *error = (float)(sum / kept);
    return TVLM_OK;
}

static tvlm_status train(training *w, tvlm_vocab **vocab) {
    const struct tvlm_vocab_trainer_params *const p = &w->t->params;
    struct tvlm_vocab_params made = {.dimension = p->dimension, .count = p->count, .vectors = w->t->seen};
    TVLM_TRY(allocate(w));
    begin(w);
    for (int32_t round = 0; round < p->rounds; ++round) {
        TVLM_TRY(run_round(w));
        if (round + 1 < p->rounds) TVLM_TRY(revive(w));
    }
    TVLM_TRY(find_error(w, &made.error));
    made.centres = w->centres;
    return tvlm_vocab_create(&made, &w->t->device->log, vocab);
}

tvlm_status tvlm_vocab_trainer_finish(tvlm_vocab_trainer *trainer, tvlm_vocab **vocab) {
    TVLM_NEED(NULL, trainer);
    TVLM_ENTER(trainer->device);
    const tvlm_log *const log = &trainer->device->log;
    TVLM_NEED(log, vocab);
    if (trainer->seen < trainer->params.count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%lld vectors with a length are too few for %d centres",
                         (long long)trainer->seen, (int)trainer->params.count);
    /* Drawing does not change the trainer's own random state, so that finishing once more gives the same
     * result. */
    training w = {.t = trainer, .random = trainer->random};
    const tvlm_status status = train(&w, vocab);
    release(&w);
    return status;
}
