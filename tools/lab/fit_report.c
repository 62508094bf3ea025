/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_report.c: prints and writes the results of `tvlm-lab fit`.
 */
#include <stdio.h>

#include "fit.h"
#include "json.h"

static const char *const choice_names[CHOICES] = {"random", "default", "fixed", "fitted"};

/* Whether a choice of cells exists in this run. */
static bool is_there(const struct run *run, int choice) {
    return choice != FIXED || run->fixed != NULL;
}

static int32_t counted(const struct run *run) {
    int32_t count = 0;
    for (int32_t i = 0; i < run->count; ++i) count += run->photos[i].counts;
    return count;
}

static worth mean_of(const struct run *run, int choice) {
    worth sum = {0.0, 0.0};
    const int32_t count = counted(run);
    for (int32_t i = 0; i < run->count; ++i) {
        if (!run->photos[i].counts) continue;
        sum.coverage += run->photos[i].worth[choice].coverage / count;
        sum.iou += run->photos[i].worth[choice].iou / count;
    }
    return sum;
}

static const char *figures_of(const struct run *run) {
    if (run->options->leave_one_out > 0) return "leave-one-out";
    for (int32_t i = 0; i < run->groups; ++i)
        if (run->held_out[i] != 0) return "held-out";
    return "learnt";
}

static void print_worths(const struct run *run, const char *name, const worth *worths) {
    fprintf(tool_report(run->tool), "%-32.32s", name);
    for (int c = 0; c < CHOICES; ++c)
        if (is_there(run, c))
            fprintf(tool_report(run->tool), "   %6.2f %% %6.3f", 100.0 * worths[c].coverage, worths[c].iou);
    fprintf(tool_report(run->tool), "\n");
}

static void print_figures(const struct run *run) {
    worth mean[CHOICES];
    const int32_t count = counted(run);
    fprintf(tool_report(run->tool), "%d %s, %d in the figures (%s), %d cells of %g pixels of each\n\n",
            run->count, run->classes != NULL ? "questions" : "images", count, figures_of(run), run->k,
            (double)run->stride);
    fprintf(tool_report(run->tool), "%-32s", "object area covered, IoU:");
    for (int c = 0; c < CHOICES; ++c)
        if (is_there(run, c)) fprintf(tool_report(run->tool), "   %15s", choice_names[c]);
    fprintf(tool_report(run->tool), "\n");
    for (int32_t i = 0; i < run->count; ++i) {
        const struct photo *const photo = &run->photos[i];
        char stem[64], name[128];
        tool_stem(photo->path, stem, sizeof stem);
        snprintf(name, sizeof name, "%s%s%.32s", stem, run->classes != NULL ? ": " : "",
                 run->classes != NULL ? run->classes[photo->group] : "");
        if (photo->counts) print_worths(run, name, photo->worth);
    }
    for (int c = 0; c < CHOICES; ++c) mean[c] = mean_of(run, c);
    print_worths(run, "mean", mean);
    fprintf(tool_report(run->tool), "\nfitted: %.2f times the coverage of a random choice, ",
            mean[FITTED].coverage / mean[RANDOM].coverage);
    if (mean[DEFAULT].coverage > 0.0)
        fprintf(tool_report(run->tool), "%.2f times that of the default score\n",
                mean[FITTED].coverage / mean[DEFAULT].coverage);
    else
        fprintf(tool_report(run->tool), "the default score covers nothing\n");
    if (run->fixed != NULL && mean[FIXED].coverage > 0.0)
        fprintf(tool_report(run->tool), "%.2f times that of fixed weights\n",
                mean[FITTED].coverage / mean[FIXED].coverage);
}

static void write_worths(const struct run *run, json_writer *json, const char *key, const worth *worths) {
    if (key != NULL) json_open_object(json, key, false);
    for (int c = 0; c < CHOICES; ++c) {
        if (!is_there(run, c)) continue;
        json_open_object(json, choice_names[c], true);
        json_double(json, "coverage", worths[c].coverage);
        json_double(json, "iou", worths[c].iou);
        json_close(json);
    }
    if (key != NULL) json_close(json);
}

static void write_scorer(const struct run *run, json_writer *json) {
    const tvlm_scorer *const scorer = run->scorer;
    json_open_object(json, "scorer", false);
    json_string(json, "channels", run->layout);
    json_integer(json, "taps", run->options->taps.value == 0 ? 1 : 9);
    if (scorer->network != NULL) {
        json_integer(json, "hidden", scorer->network->layers[0].outputs);
    } else {
        json_float(json, "bias", scorer->bias);
        json_open_array(json, "weights", true);
        for (int32_t i = 0; i < scorer->channel_count * scorer->taps; ++i)
            json_float(json, NULL, scorer->weights[i]);
        json_close(json);
    }
    if (scorer->query_weights != NULL) json_integer(json, "dimension", scorer->dimension);
    json_close(json);
}

static float l2_of(const fit_options *options) {
    return options->l2.given                ? options->l2.value
           : options->hidden.given          ? TVLM_FIT_HIDDEN_L2
           : options->query_weights != NULL ? TVLM_FIT_QUERY_L2
                                            : TVLM_FIT_L2;
}

static int print_json(const struct run *run) {
    json_writer json = {0};
    worth mean[CHOICES];
    json_open_object(&json, NULL, false);
    json_integer(&json, run->classes != NULL ? "questions" : "images", run->count);
    json_string(&json, "figures_of", figures_of(run));
    json_device(&json, run->device);
    json_integer(&json, "k", run->k);
    json_float(&json, "stride", run->stride);
    json_float(&json, "l2", l2_of(run->options));
    write_scorer(run, &json);
    json_open_array(&json, "figures", false);
    for (int32_t i = 0; i < run->count; ++i) {
        const struct photo *const photo = &run->photos[i];
        if (!photo->counts) continue;
        json_open_object(&json, NULL, false);
        json_string(&json, "path", photo->path);
        if (run->classes != NULL) json_string(&json, "class", run->classes[photo->group]);
        json_integer(&json, "cells", (int64_t)photo->columns * photo->rows);
        json_double(&json, "object", photo->object_pixels / photo->known_pixels);
        write_worths(run, &json, NULL, photo->worth);
        json_close(&json);
    }
    json_close(&json);
    for (int c = 0; c < CHOICES; ++c) mean[c] = mean_of(run, c);
    if (counted(run) > 0) write_worths(run, &json, "mean", mean);
    return tool_print_json(run->tool, &json);
}

int fit_report(struct run *run) {
    const char *const output = run->options->output;
    int code = TOOL_DONE;
    if (output != NULL) code = tool_status(run->tool, tvlm_scorer_save(output, run->scorer, &run->tool->log));
    if (code != TOOL_DONE) return code;
    if (run->options->common.json > 0) return print_json(run);
    if (counted(run) > 0)
        print_figures(run);
    else
        fprintf(tool_report(run->tool), "%d images, none for figures (no object, or more than --largest)\n",
                run->count);
    return TOOL_DONE;
}
