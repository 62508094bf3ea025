/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scorer with a hidden layer: z = b + v . max(0, W x + a), of standardised values x.
 *
 * It begins as the linear scorer, which takes two hidden values: max(0, u) - max(0, -u) = u. The other hidden
 * values begin at random, with v = 0. The descent may end where little is learnt. So it begins several times,
 * with other random values but with the a and v that the descent before found, and the best result is taken.
 * From v = 0 each time, it comes no further (four seeds: to .3465 and .3465, .3524 and .3525, .3265 and .3272,
 * .3497 and .3510).
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/try.h"
#include "lab/descend.h"
#include "lab/fit.h"

#define STEPS_MAX  400
#define BEGINNINGS 3

/* Where the weights of a solution lie: W as [width][hidden], so that sums over hidden values run side by
 * side. */
typedef struct net {
    const tvlm_lesson *lesson;
    size_t width, hidden, size;
    size_t a, v, b;      /* where these begin; W begins at 0 */
    double *x, *u, *d_u; /* [width]; [hidden] before the max, and the slopes there */
} net;

static void forward(const net *n, const double *at, const float *values, double *z) {
    const tvlm_lesson *const lesson = n->lesson;
    const size_t hidden = n->hidden;
    memcpy(n->u, at + n->a, hidden * sizeof *n->u);
    for (size_t i = 0; i < n->width; ++i) {
        const double x = n->x[i] = ((double)values[i] - lesson->mean[i]) * lesson->scale[i];
        for (size_t h = 0; h < hidden; ++h) n->u[h] += x * at[i * hidden + h];
    }
    *z = at[n->b];
    for (size_t h = 0; h < hidden; ++h) *z += at[n->v + h] * fmax(n->u[h], 0.0);
}

/* Adds a cell's part to the gradient. */
static void backward(const net *n, const double *at, double slope, double *gradient) {
    const size_t hidden = n->hidden;
    gradient[n->b] += slope;
    for (size_t h = 0; h < hidden; ++h) {
        n->d_u[h] = n->u[h] > 0.0 ? slope * at[n->v + h] : 0.0;
        gradient[n->v + h] += slope * fmax(n->u[h], 0.0);
        gradient[n->a + h] += n->d_u[h];
    }
    for (size_t i = 0; i < n->width; ++i)
        for (size_t h = 0; h < hidden; ++h) gradient[i * hidden + h] += n->x[i] * n->d_u[h];
}

/* Begins the gradient with that of the penalty, which is on W and v. Returns the penalty. */
static double begin_gradient(const net *n, const double *at, double *gradient) {
    double sum = 0.0;
    for (size_t i = 0; i < n->size; ++i) {
        const bool weight = i < n->a || (i >= n->v && i < n->b);
        gradient[i] = weight ? n->lesson->l2 * at[i] : 0.0;
        sum += weight ? 0.5 * n->lesson->l2 * at[i] * at[i] : 0.0;
    }
    return sum;
}

static double slope_of(void *user, const double *at, double *gradient) {
    const net *const n = user;
    const tvlm_fit_image *image;
    double sum = begin_gradient(n, at, gradient);
    for (int32_t number = -1; (image = tvlm_lesson_next(n->lesson, &number)) != NULL;) {
        const double weight = 1.0 / image->cells / n->lesson->images;
        for (int32_t i = 0; i < image->cells; ++i) {
            double z, slope;
            forward(n, at, image->values + (size_t)i * n->width, &z);
            sum += weight * tvlm_cross_entropy(z, (double)image->share[i], &slope);
            backward(n, at, weight * slope, gradient);
        }
    }
    return sum;
}

/* If the vector of the linear solution's weights is shorter than this, it says nothing, and hidden values
 * made from it would learn nothing. */
#define LINEAR_LEAST 1e-3

/* Sets where the descent begins. `linear` is the linear solution. */
static void begin(const net *n, const double *linear, uint64_t random, double *at) {
    double length = 0.0;
    const double reach = sqrt(6.0 / (double)n->width); /* He et al. 2015, of standardised values */
    for (size_t i = 0; i < n->width * n->hidden; ++i) at[i] = reach * (2.0 * tvlm_random_unit(&random) - 1.0);
    for (size_t i = 0; i < n->width; ++i) length += linear[i] * linear[i];
    const double root = sqrt(sqrt(length));
    const bool is_linear = root > sqrt(LINEAR_LEAST);
    at[n->b] = is_linear ? 0.0 : linear[n->width];
    for (size_t h = 0; is_linear && h < 2 && h < n->hidden; ++h) {
        const double sign = h == 0 ? 1.0 : -1.0;
        for (size_t i = 0; i < n->width; ++i) at[i * n->hidden + h] = sign * linear[i] / root;
        at[n->a + h] = sign * linear[n->width] / root;
        at[n->v + h] = sign * root;
    }
}

/* Brings the solution to the channels' own units and to the order of a network, and makes it the fit's. */
static void fold_back(const net *n, const double *at, tvlm_fit *fit) {
    static const char *const name = "score";
    const tvlm_lesson *const lesson = n->lesson;
    const size_t channels = (size_t)fit->channel_count, taps = (size_t)fit->taps;
    float *const first = fit->weights, *const a = first + n->width * n->hidden, *const v = a + n->hidden;
    for (size_t h = 0; h < n->hidden; ++h) {
        double bias = at[n->a + h];
        for (size_t i = 0; i < n->width; ++i) {
            const double weight = at[i * n->hidden + h] * lesson->scale[i];
            first[(h * channels + i % channels) * taps + i / channels] = (float)weight;
            bias -= weight * lesson->mean[i];
        }
        a[h] = (float)bias;
        v[h] = (float)at[n->v + h];
    }
    v[n->hidden] = (float)at[n->b];
    fit->layers[0] = (tvlm_network_layer){.inputs = fit->channel_count,
                                          .outputs = fit->hidden,
                                          .side = fit->taps == 9 ? 3 : 1,
                                          .stride = 1,
                                          .activation = TVLM_ACTIVATION_RELU,
                                          .weights = first,
                                          .bias = a};
    fit->layers[1] = (tvlm_network_layer){
        .inputs = fit->hidden, .outputs = 1, .side = 1, .stride = 1, .weights = v, .bias = v + n->hidden};
    fit->network = (tvlm_network){.inputs = fit->channels,
                                  .input_count = fit->channel_count,
                                  .outputs = &name,
                                  .output_count = 1,
                                  .layers = fit->layers,
                                  .layer_count = 2};
    fit->scorer = (tvlm_scorer){.network = &fit->network};
}

static tvlm_status solve(net *n, tvlm_fit *fit, double *linear, double *at, double *best) {
    double least = INFINITY, value;
    TVLM_TRY(tvlm_solve_linear(n->lesson, linear));
    for (uint64_t i = 0; i < BEGINNINGS; ++i) {
        begin(n, linear, 1 + i, at);
        TVLM_TRY(tvlm_descend(fit->log, slope_of, n, (int32_t)n->size, STEPS_MAX, at, &value));
        if (value < least) memcpy(best, at, n->size * sizeof *best);
        least = fmin(least, value);
    }
    fold_back(n, best, fit);
    return TVLM_OK;
}

tvlm_status tvlm_solve_hidden(const tvlm_lesson *lesson, tvlm_fit *fit) {
    net n = {.lesson = lesson, .width = (size_t)lesson->width, .hidden = (size_t)fit->hidden};
    n.a = n.width * n.hidden;
    n.v = n.a + n.hidden;
    n.b = n.v + n.hidden;
    n.size = n.b + 1;
    double *const all = tvlm_allocate(2 * n.size + 2 * n.width + 1 + 2 * n.hidden, sizeof *all);
    if (all == NULL)
        return tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory to solve for %zu weights", n.size);
    double *const at = all, *const best = at + n.size, *const linear = best + n.size;
    n.x = linear + n.width + 1;
    n.u = n.x + n.width;
    n.d_u = n.u + n.hidden;
    const tvlm_status status = solve(&n, fit, linear, at, best);
    free(all);
    return status;
}
