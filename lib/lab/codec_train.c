/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_train.c: trains codecs: finds the principal components of channels, each divided by its deviation.
 *
 * The means and covariances of the images are combined as those of parts of a set (Chan, Golub & LeVeque
 * 1983), in double. Let C be the covariance, and S the diagonal matrix of the channels' weights, each divided
 * by the channel's deviation. The rows V of a codec are orthonormal:
 *   1. the directions S^-1 w of the scorers that are kept;
 *   2. the eigenvectors of S C S with the largest eigenvalues, as far as they are orthogonal to these.
 * Then encode = V S, and decode = S^-1 V'.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "lab/basis.h"
#include "lab/codec.h"
#include "stack/stack.h"

enum { MANY = TVLM_CODEC_CHANNELS_MAX, TEXELS_MAX = 65536 };

/* If a channel's deviation is less than this share of its mean, the channel counts as constant: the rest is
 * rounding. */
#define DEVIATION 1e-7

struct tvlm_codec_trainer {
    tvlm_log said;
    const tvlm_log *log;
    int32_t n, k, level, images;
    int32_t channels[MANY];
    float weights[MANY];
    double mean[MANY], covariance[MANY * MANY];
    int32_t kept;    /* the number of directions of the scorers that are kept */
    double *weighed; /* [kept * n]: these directions, as the scorers' weights */
};

/* ---- Creating a trainer ---- */

static tvlm_status take_channels(tvlm_codec_trainer *t, const struct tvlm_codec_trainer_params *params) {
    if (params->channels == NULL && params->channel_count != 0)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "%d channels of a codec, but none given",
                         (int)params->channel_count);
    t->n = params->channel_count;
    if (params->channels == NULL)
        TVLM_TRY(tvlm_layout_parse(TVLM_CODEC_CHANNELS, t->log, MANY, t->channels, &t->n));
    t->k = params->k != 0 ? params->k : t->n < TVLM_CODEC_K_DEFAULT ? t->n : TVLM_CODEC_K_DEFAULT;
    t->level = params->level;
    TVLM_TRY(tvlm_codec_check_channels(t->log, params->channels != NULL ? params->channels : t->channels,
                                       t->n, t->k, t->level));
    if (params->channels != NULL) memcpy(t->channels, params->channels, (size_t)t->n * sizeof *t->channels);
    for (int32_t c = 0; c < t->n; ++c) {
        t->weights[c] = params->weights != NULL ? params->weights[c] : 1.0f;
        if (!(t->weights[c] > 0.0f) || !isfinite(t->weights[c]))
            return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT,
                             "weight %d of a codec's channels is %g; weights are above 0 and finite", (int)c,
                             (double)t->weights[c]);
    }
    return TVLM_OK;
}

/* Adds a direction for each tap of a scorer. */
static void add_directions(tvlm_codec_trainer *t, const tvlm_scorer *scorer) {
    const int32_t taps = tvlm_codec_taps(scorer);
    for (int32_t tap = 0; tap < taps; ++tap) {
        double *const row = t->weighed + (size_t)t->kept++ * (size_t)t->n;
        for (int32_t i = 0; i < scorer->channel_count; ++i)
            for (int32_t c = 0; c < t->n; ++c)
                if (t->channels[c] == scorer->channels[i])
                    row[c] += (double)scorer->weights[(size_t)i * (size_t)taps + (size_t)tap];
    }
}

static tvlm_status take_scorers(tvlm_codec_trainer *t, const struct tvlm_codec_trainer_params *params) {
    size_t rows = 0;
    if (params->scorer_count < 0 || (params->scorer_count > 0 && params->scorers == NULL))
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "%d scorers that a codec keeps, but none given",
                         (int)params->scorer_count);
    for (int32_t i = 0; i < params->scorer_count; ++i) {
        TVLM_TRY(tvlm_codec_check_scorer(t->log, t->channels, t->n, params->scorers[i]));
        rows += (size_t)tvlm_codec_taps(params->scorers[i]);
    }
    t->weighed = tvlm_allocate(rows, (size_t)t->n * sizeof *t->weighed);
    if (t->weighed == NULL)
        return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for %d scorers", (int)params->scorer_count);
    for (int32_t i = 0; i < params->scorer_count; ++i) add_directions(t, params->scorers[i]);
    return TVLM_OK;
}

tvlm_status tvlm_codec_trainer_create(const struct tvlm_codec_trainer_params *params, const tvlm_log *log,
                                      tvlm_codec_trainer **trainer) {
    static const struct tvlm_codec_trainer_params defaults = {0};
    TVLM_NEED(log, trainer);
    if (params == NULL) params = &defaults;
    TVLM_CHECK_RESERVED(log, tvlm_codec_trainer_params, params);
    tvlm_codec_trainer *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to train a codec");
    if (log != NULL) made->said = *log;
    made->log = &made->said;
    tvlm_status status = take_channels(made, params);
    if (status == TVLM_OK) status = take_scorers(made, params);
    if (status != TVLM_OK)
        tvlm_codec_trainer_destroy(&made);
    else
        *trainer = made;
    return status;
}

void tvlm_codec_trainer_destroy(tvlm_codec_trainer **trainer) {
    if (trainer == NULL || *trainer == NULL) return;
    free((*trainer)->weighed);
    free(*trainer);
    *trainer = NULL;
}

const int32_t *tvlm_codec_trainer_channels(const tvlm_codec_trainer *trainer, int32_t *count) {
    if (count != NULL) *count = trainer != NULL ? trainer->n : 0;
    return trainer != NULL ? trainer->channels : NULL;
}

/* ---- Images ---- */

/* Lists the middles of every `step`-th texel of a level, along both axes. Returns how many there are. */
static int32_t list_points(const tvlm_stack *stack, int32_t index, int32_t level, int32_t width,
                           int32_t height, int32_t step, tvlm_sample_point *points) {
    const float across = (float)tvlm_stack_width(stack) / (float)width,
                down = (float)tvlm_stack_height(stack) / (float)height;
    int32_t count = 0;
    for (int32_t y = step / 2; y < height; y += step)
        for (int32_t x = step / 2; x < width; x += step)
            points[count++] = (tvlm_sample_point){((float)x + 0.5f) * across, ((float)y + 0.5f) * down,
                                                  (float)level, index};
    return count;
}

/* Computes the mean of each channel, and the covariance of each pair of channels, over `count` vectors. */
static void measure(int32_t n, const float *values, int32_t count, double *mean, double *products) {
    for (int32_t i = 0; i < count; ++i)
        for (int32_t c = 0; c < n; ++c) mean[c] += (double)values[(size_t)i * (size_t)n + (size_t)c] / count;
    for (int32_t i = 0; i < count; ++i) {
        const float *const row = values + (size_t)i * (size_t)n;
        for (int32_t a = 0; a < n; ++a) {
            const double off = ((double)row[a] - mean[a]) / count;
            for (int32_t b = a; b < n; ++b) products[a * n + b] += off * ((double)row[b] - mean[b]);
        }
    }
}

/* Combines the mean and the covariance of one image with those of the images before it. Each image counts the
 * same. */
static void join(tvlm_codec_trainer *t, const double *mean, const double *covariance) {
    const int32_t n = t->n;
    const double share = 1.0 / ++t->images;
    double off[MANY];
    for (int32_t c = 0; c < n; ++c) off[c] = mean[c] - t->mean[c];
    for (int32_t a = 0; a < n; ++a)
        for (int32_t b = a; b < n; ++b) {
            double *const sum = &t->covariance[a * n + b];
            *sum += share * (covariance[a * n + b] - *sum + (1.0 - share) * off[a] * off[b]);
        }
    for (int32_t c = 0; c < n; ++c) t->mean[c] += share * off[c];
}

static tvlm_status add_values(tvlm_codec_trainer *t, const float *values, int32_t count) {
    double mean[MANY] = {0.0};
    double *const products = tvlm_allocate((size_t)t->n * (size_t)t->n, sizeof *products);
    tvlm_status status = TVLM_OK;
    if (products == NULL) return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory to train a codec");
    measure(t->n, values, count, mean, products);
    for (int32_t c = 0; status == TVLM_OK && c < t->n; ++c)
        if (!isfinite(mean[c]))
            status = tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "a value of channel %d is not finite",
                               (int)t->channels[c]);
    if (status == TVLM_OK) join(t, mean, products);
    free(products);
    return status;
}

tvlm_status tvlm_codec_trainer_add(tvlm_codec_trainer *trainer, tvlm_stack *stack, int32_t index) {
    int32_t width, height, step = 1;
    TVLM_NEED(NULL, trainer);
    TVLM_NEED(trainer->log, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_TRY(tvlm_codec_check_inputs(trainer->log, trainer->channels, trainer->n, stack, index));
    const int32_t last = tvlm_stack_levels(stack) - 1, level = trainer->level < last ? trainer->level : last;
    TVLM_TRY(tvlm_stack_level_size(stack, level, &width, &height));
    while ((int64_t)((width - 1) / step + 1) * ((height - 1) / step + 1) > TEXELS_MAX) ++step;
    const size_t most = (size_t)((width - 1) / step + 1) * (size_t)((height - 1) / step + 1);
    tvlm_sample_point *const points = tvlm_allocate(most, sizeof *points);
    float *const values = tvlm_allocate(most, (size_t)trainer->n * sizeof *values);
    tvlm_status status = TVLM_OK;
    if (points == NULL || values == NULL)
        status = tvlm_fail(trainer->log, TVLM_ERROR_MEMORY, "no memory for %zu texels", most);
    if (status == TVLM_OK) {
        const int32_t count = list_points(stack, index, level, width, height, step, points);
        status = tvlm_stack_sample(stack, points, count, trainer->channels, trainer->n, values);
        if (status == TVLM_OK) status = add_values(trainer, values, count);
    }
    free(points);
    free(values);
    return status;
}

/* ---- The codec ---- */

/* What the codec is computed from, in units of S (see above). */
typedef struct solution {
    int32_t n, k, kept;
    double scale[MANY];  /* S; 0 for a channel that is constant */
    double total;        /* the trace of S C S */
    double *matrix;      /* [n * n]: the upper triangle of S C S; behind it, room for another matrix */
    double *rows;        /* [(scorers' directions + k) * n]: V */
    double values[MANY]; /* the eigenvalues */
} solution;

static double along(const double *matrix, int32_t n, const double *row) {
    double sum = 0.0;
    for (int32_t a = 0; a < n; ++a)
        for (int32_t b = 0; b < n; ++b) sum += row[a] * row[b] * matrix[a < b ? a * n + b : b * n + a];
    return sum;
}

static void standardise(const tvlm_codec_trainer *t, solution *s) {
    const int32_t n = t->n;
    for (int32_t c = 0; c < n; ++c) {
        const double deviation = sqrt(fmax(0.0, t->covariance[c * n + c]));
        s->scale[c] = deviation > DEVIATION * fabs(t->mean[c]) ? (double)t->weights[c] / deviation : 0.0;
    }
    for (int32_t a = 0; a < n; ++a) {
        for (int32_t b = a; b < n; ++b)
            s->matrix[a * n + b] = s->scale[a] * t->covariance[a * n + b] * s->scale[b];
        s->total += s->matrix[a * n + a];
    }
}

/* Makes the directions of the scorers orthonormal, and puts them into the first rows. */
static tvlm_status keep_scorers(const tvlm_codec_trainer *t, solution *s) {
    const int32_t n = t->n;
    for (int32_t i = 0; i < t->kept; ++i)
        for (int32_t c = 0; c < n; ++c)
            s->rows[i * n + c] = s->scale[c] > 0.0 ? t->weighed[i * n + c] / s->scale[c] : 0.0;
    s->kept = tvlm_orthonormalise(s->rows, 0, t->kept, n, true);
    if (s->kept <= s->k) return TVLM_OK;
    return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "scorers of %d directions, which %d codes cannot keep",
                     (int)s->kept, (int)s->k);
}

/* Takes the kept rows out of the matrix: afterwards they are its eigenvectors with the least eigenvalues, so
 * that they are not found again. */
static void take_out(const solution *s, double *matrix) {
    const int32_t n = s->n;
    for (int32_t a = 0; a < n; ++a)
        for (int32_t b = 0; b < n; ++b) matrix[a * n + b] = s->matrix[a < b ? a * n + b : b * n + a];
    for (int32_t i = 0; i < s->kept; ++i) {
        const double *const q = s->rows + (size_t)i * (size_t)n;
        double product[MANY] = {0.0}, own = 0.0;
        for (int32_t a = 0; a < n; ++a)
            for (int32_t b = 0; b < n; ++b) product[a] += matrix[a * n + b] * q[b];
        for (int32_t a = 0; a < n; ++a) own += q[a] * product[a];
        for (int32_t a = 0; a < n; ++a)
            for (int32_t b = 0; b < n; ++b)
                matrix[a * n + b] +=
                    (own - 1.0 - s->total) * q[a] * q[b] - product[a] * q[b] - q[a] * product[b];
    }
}

static tvlm_status find_rows(const tvlm_codec_trainer *t, solution *s) {
    double *const matrix = s->matrix + (size_t)s->n * (size_t)s->n;
    TVLM_TRY(keep_scorers(t, s));
    take_out(s, matrix);
    if (s->kept < s->k)
        TVLM_TRY(tvlm_eigen(t->log, matrix, s->n, s->k - s->kept, s->values,
                            s->rows + (size_t)s->kept * (size_t)s->n));
    for (int32_t i = 0; i < s->k; ++i) tvlm_turn(s->rows + (size_t)i * (size_t)s->n, s->n);
    return TVLM_OK;
}

static tvlm_status make_codec(const tvlm_codec_trainer *t, const solution *s, tvlm_codec **codec) {
    const int32_t n = s->n, k = s->k;
    const size_t count = 2 * (size_t)k * (size_t)n + (size_t)n + (size_t)k;
    float *const numbers = tvlm_allocate(count, sizeof *numbers);
    if (numbers == NULL) return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for a codec");
    float *const decode = numbers + k * n, *const mean = decode + k * n, *const variance = mean + n;
    for (int32_t i = 0; i < k; ++i) {
        const double *const row = s->rows + (size_t)i * (size_t)n;
        for (int32_t c = 0; c < n; ++c) {
            numbers[i * n + c] = (float)(row[c] * s->scale[c]);
            decode[c * k + i] = s->scale[c] > 0.0 ? (float)(row[c] / s->scale[c]) : 0.0f;
        }
        /* Rounding may leave the range from 0 to 1. */
        variance[i] = (float)fmin(fmax(along(s->matrix, n, row) / s->total, 0.0), 1.0);
    }
    for (int32_t c = 0; c < n; ++c) mean[c] = (float)t->mean[c];
    const struct tvlm_codec_params params = {.channels = t->channels,
                                             .channel_count = n,
                                             .k = k,
                                             .level = t->level,
                                             .encode = numbers,
                                             .decode = decode,
                                             .mean = mean,
                                             .variance = variance};
    const tvlm_status status = tvlm_codec_create(&params, t->log, codec);
    free(numbers);
    return status;
}

tvlm_status tvlm_codec_trainer_finish(tvlm_codec_trainer *trainer, tvlm_codec **codec) {
    TVLM_NEED(NULL, trainer);
    const tvlm_codec_trainer *const t = trainer;
    TVLM_NEED(t->log, codec);
    if (t->images == 0) return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "no images to train a codec on");
    const size_t square = (size_t)t->n * (size_t)t->n;
    solution *const s = tvlm_allocate(1, sizeof *s);
    double *const room = tvlm_allocate(2 * square + (size_t)(t->kept + t->k) * (size_t)t->n, sizeof *room);
    tvlm_status status = TVLM_OK;
    if (s == NULL || room == NULL) {
        status = tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for a codec");
    } else {
        s->n = t->n;
        s->k = t->k;
        s->matrix = room;
        s->rows = room + 2 * square;
        standardise(t, s);
        if (!(s->total > 0.0))
            status =
                tvlm_fail(t->log, TVLM_ERROR_ARGUMENT,
                          "all channels of the codec are the same everywhere in %d images", (int)t->images);
        if (status == TVLM_OK) status = find_rows(t, s);
        if (status == TVLM_OK) status = make_codec(t, s, codec);
    }
    free(room);
    free(s);
    return status;
}
