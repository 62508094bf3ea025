/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm-lab compress: codecs, which put few codes in place of many channels. It trains a codec on photos, applies
 * it to a photo, and folds it into scorers.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "lab.h"
#include "progress.h"
#include "questions.h"
#include "texturevlm/io.h"
#include "texturevlm/io_scorer.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/io_codec.h"
#include "tool.h"

typedef struct compress_options {
    tool_common common;
    const char *output, *codec, *channels, *weigh;
    option_integer k, level;
    option_list scorers;
    question_options questions; /* only the features, and the pixels that a cell of them covers */
} compress_options;

static const option_spec specs[] = {
    {'o', OPTION_OUTPUT, "output", offsetof(compress_options, output), "FILE",
     "train: the codec (.safetensors); apply: the codes, rows x columns x K, float32 (.npy); fold: the scorer "
     "(.safetensors)",
     NO_RANGE, NULL},
    {0, OPTION_INPUT, "codec", offsetof(compress_options, codec), "C.safetensors", "apply, fold: the codec",
     NO_RANGE, NULL},
    {'k', OPTION_INTEGER, NULL, offsetof(compress_options, k), "K", "train: codes (default: 8)", 1,
     TVLM_CODEC_K_MAX, NULL},
    {0, OPTION_TEXT, "channels", offsetof(compress_options, channels), "LIST",
     "train: what is compressed (default: those of a photo alone whose levels are means)", NO_RANGE, NULL},
    {0, OPTION_INTEGER, "level", offsetof(compress_options, level), "N",
     "train: the level of the image at which channels are read, and whose size codes have (default: 0)", 0,
     TVLM_NETWORK_LEVEL_MAX, NULL},
    {0, OPTION_TEXT, "weigh", offsetof(compress_options, weigh), "NAME:W,...",
     "train: how much what is lost of a family or a channel counts, in its deviations (default: 1 each)", 0,
     0, NULL},
    {0, OPTION_INPUTS, "scorer", offsetof(compress_options, scorers), "S.safetensors",
     "train: a scorer whose scores the codes keep exactly; may be given several times", NO_RANGE, NULL},
};

static const option_specs own = OPTION_SPECS("Options", specs);
static const option_group groups[] = {
    {&own, 0},
    {&features_specs, offsetof(compress_options, questions)},
    {&feature_patch_specs, offsetof(compress_options, questions.patch)},
    {0},
};

/* ---- Images ---- */

/* Opens an image as a stack, with its features. */
static int open_stack(struct tool *tool, const compress_options *options, const char *path, int number,
                      const struct tvlm_stack_params *params, tvlm_device **device, tvlm_stack **stack) {
    const question_options *const given = &options->questions;
    tvlm_image *image = NULL;
    tool->subject = path;
    int code = tool_status(tool, tvlm_image_load(path, &tool->log, &image));
    if (code == TOOL_DONE && *device == NULL) code = tool_open_device(tool, &options->common, device);
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_stack_create_for_image(*device, image, params, stack));
    if (code == TOOL_DONE && given->features.count > 0)
        code = features_set(tool, given->features.values[number], given->patch.value, image->width, NULL,
                            *stack, 0);
    tvlm_image_destroy(&image);
    return code;
}

static int check_features(struct tool *tool, const compress_options *options, int images) {
    const question_options *const given = &options->questions;
    if (given->features.count == 0 && given->patch.given)
        return tool_usage(tool, "--feature-patch needs --features");
    if (given->features.count == 0 || given->features.count == images) return TOOL_DONE;
    return tool_usage(tool, "--features is given for %d of %d images", (int)given->features.count, images);
}

/* ---- train ---- */

/* The parameters with which a codec is trained. */
typedef struct training {
    struct tvlm_codec_trainer_params params;
    int32_t channels[TVLM_CODEC_CHANNELS_MAX];
    float weights[TVLM_CODEC_CHANNELS_MAX];
    tvlm_scorer **scorers; /* [params.scorer_count] */
    char *layout;
} training;

static int read_channels(struct tool *tool, const compress_options *options, training *t) {
    const char *const text = options->channels != NULL ? options->channels : TVLM_CODEC_CHANNELS;
    int32_t count = 0;
    const int code = tool_usage_status(
        tool, tvlm_layout_parse(text, &tool->log, TVLM_CODEC_CHANNELS_MAX, t->channels, &count));
    if (code != TOOL_DONE) return code;
    if (count > TVLM_CODEC_CHANNELS_MAX)
        return tool_usage(tool, "--channels: %d of them; at most %d are possible", (int)count,
                          TVLM_CODEC_CHANNELS_MAX);
    t->params.channels = t->channels;
    t->params.channel_count = count;
    t->layout = codec_names(t->channels, count);
    return t->layout != NULL ? TOOL_DONE : tool_fail(tool, "no memory");
}

/* Sets the weight of all channels with that name, or of that family. Returns how many these are. */
static int32_t weigh(training *t, const char *name, float weight) {
    int32_t found = 0;
    for (int32_t c = 0; c < t->params.channel_count; ++c) {
        tvlm_channel_info info;
        if (tvlm_channel_get_info(t->channels[c], &info) != TVLM_OK ||
            (strcmp(info.name, name) != 0 && strcmp(info.family, name) != 0))
            continue;
        t->weights[c] = weight;
        ++found;
    }
    return found;
}

static int read_weights(struct tool *tool, const compress_options *options, training *t) {
    const char *rest = options->weigh;
    for (int32_t c = 0; c < t->params.channel_count; ++c) t->weights[c] = 1.0f;
    t->params.weights = t->weights;
    while (rest != NULL && *rest != '\0') {
        char item[128];
        double value;
        const size_t length = strcspn(rest, ",");
        snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item), rest);
        char *const colon = strchr(item, ':');
        if (colon != NULL) *colon = '\0';
        if (colon == NULL || !options_number(colon + 1, &value) || !(value > 0.0 && value <= 1e6))
            return tool_usage(tool, "--weigh: '%.*s' is not NAME:W, with a W above 0", (int)length, rest);
        if (weigh(t, item, (float)value) == 0)
            return tool_usage(tool, "--weigh: '%s' is none of the codec's channels or families", item);
        rest += length + (rest[length] == ',');
    }
    return TOOL_DONE;
}

static int read_scorers(struct tool *tool, const compress_options *options, training *t) {
    int code = TOOL_DONE;
    t->scorers = calloc((size_t)options->scorers.count + 1, sizeof *t->scorers);
    if (t->scorers == NULL) return tool_fail(tool, "no memory");
    for (int32_t i = 0; code == TOOL_DONE && i < options->scorers.count; ++i) {
        code = tool_status(tool, tvlm_scorer_load(options->scorers.values[i], &tool->log, &t->scorers[i]));
        if (code == TOOL_DONE) ++t->params.scorer_count;
    }
    t->params.scorers = (const tvlm_scorer *const *)t->scorers;
    return code;
}

static int read_training(struct tool *tool, const compress_options *options, training *t) {
    t->params.k = options->k.value;
    t->params.level = options->level.value;
    int code = read_channels(tool, options, t);
    if (code == TOOL_DONE) code = read_weights(tool, options, t);
    return code == TOOL_DONE ? read_scorers(tool, options, t) : code;
}

static void release_training(training *t) {
    for (int32_t i = 0; i < t->params.scorer_count; ++i) tvlm_scorer_destroy(&t->scorers[i]);
    free(t->scorers);
    free(t->layout);
}

static void write_about(json_writer *json, const struct tvlm_codec_params *about) {
    char *const names = codec_names(about->channels, about->channel_count);
    json_integer(json, "k", about->k);
    json_integer(json, "level", about->level);
    json_string(json, "channels", names);
    json_open_array(json, "explained_variance_ratio", true);
    for (int32_t i = 0; i < about->k; ++i) json_float(json, NULL, about->variance[i]);
    json_close(json);
    free(names);
}

static int print_about(struct tool *tool, const compress_options *options, const tvlm_codec *codec,
                       int images) {
    struct tvlm_codec_params about;
    json_writer json = {0};
    double kept = 0.0;
    (void)tvlm_codec_get_params(codec, &about);
    if (options->common.json > 0) {
        json_open_object(&json, NULL, false);
        json_string(&json, "path", options->output);
        json_integer(&json, "images", images);
        write_about(&json, &about);
        json_close(&json);
        const int code = tool_print(tool, json_text_of(&json));
        json_release(&json);
        return code;
    }
    for (int32_t i = 0; i < about.k; ++i) kept += (double)about.variance[i];
    FILE *const out = tool_report(tool);
    fprintf(out, "%s: %d channels as %d codes at level %d, from %d images\n", options->output,
            (int)about.channel_count, (int)about.k, (int)about.level, images);
    fprintf(out, "variance kept: %.1f %% (each channel counts %s)\n", 100.0 * kept,
            options->weigh != NULL ? "as --weigh says" : "the same");
    return TOOL_DONE;
}

static int add_image(struct tool *tool, const compress_options *options, const char *path, int number,
                     const training *t, tvlm_codec_trainer *trainer, tvlm_device **device) {
    const struct tvlm_stack_params params = {.layout = t->layout,
                                             .format = (tvlm_format)options->common.format.value};
    tvlm_stack *stack = NULL;
    int code = open_stack(tool, options, path, number, &params, device, &stack);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_codec_trainer_add(trainer, stack, 0));
    tvlm_stack_destroy(&stack);
    if (code == TOOL_DONE) tool->subject = NULL;
    return code;
}

static int train(struct tool *tool, const compress_options *options, int count, char *const *paths) {
    training t = {.layout = NULL};
    tvlm_codec_trainer *trainer = NULL;
    tvlm_codec *codec = NULL;
    tvlm_device *device = NULL;
    int code = check_features(tool, options, count);
    if (code == TOOL_DONE) code = read_training(tool, options, &t);
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_codec_trainer_create(&t.params, &tool->log, &trainer));
    progress_start("images", count);
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        code = add_image(tool, options, paths[i], i, &t, trainer, &device);
        progress_step(i + 1);
    }
    progress_clear();
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_codec_trainer_finish(trainer, &codec));
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_codec_save(options->output, codec, &tool->log));
    if (code == TOOL_DONE) code = print_about(tool, options, codec, count);
    tvlm_codec_destroy(&codec);
    tvlm_codec_trainer_destroy(&trainer);
    tvlm_device_destroy(&device);
    release_training(&t);
    return code;
}

/* ---- apply ---- */

enum { POINTS = 16384 }; /* how many places are sampled at once */

/* How much of a channel is lost. */
typedef struct loss {
    double squares, low, high;
} loss;

typedef struct application {
    struct tool *tool;
    const compress_options *options;
    struct tvlm_codec_params about;
    tvlm_codec *codec;
    tvlm_device *device;
    tvlm_stack *stack;
    tvlm_npy_writer *writer;
    int32_t width, height; /* the size of the grid of codes */
    loss losses[TVLM_CODEC_CHANNELS_MAX];
    tvlm_sample_point *points; /* [POINTS] */
    float *codes, *values, *decoded;
} application;

static int allocate(application *a) {
    const size_t k = (size_t)a->about.k, n = (size_t)a->about.channel_count;
    a->points = malloc(POINTS * sizeof *a->points);
    a->codes = malloc(POINTS * k * sizeof *a->codes);
    a->values = malloc(POINTS * n * sizeof *a->values);
    a->decoded = malloc(POINTS * n * sizeof *a->decoded);
    for (size_t c = 0; c < n; ++c) a->losses[c] = (loss){0.0, INFINITY, -INFINITY};
    if (a->points != NULL && a->codes != NULL && a->values != NULL && a->decoded != NULL) return TOOL_DONE;
    return tool_fail(a->tool, "no memory for %d values", POINTS * (int)(k + 2 * n));
}

static void note_losses(application *a, int32_t count) {
    const int32_t n = a->about.channel_count;
    tvlm_codec_decode(a->codec, a->codes, count, a->decoded);
    for (int32_t i = 0; i < count * n; ++i) {
        loss *const l = &a->losses[i % n];
        const double value = (double)a->values[i], off = (double)a->decoded[i] - value;
        l->squares += off * off;
        l->low = fmin(l->low, value);
        l->high = fmax(l->high, value);
    }
}

/* Writes the codes of texels [first, first + count) of the grid, row after row. */
static int apply_part(application *a, int64_t first, int32_t count, float level) {
    tvlm_stack_info info;
    int32_t outputs[TVLM_CODEC_K_MAX];
    (void)tvlm_stack_get_info(a->stack, &info);
    const float across = (float)info.width / (float)a->width, down = (float)info.height / (float)a->height;
    for (int32_t i = 0; i < count; ++i)
        a->points[i] = (tvlm_sample_point){((float)((first + i) % a->width) + 0.5f) * across,
                                           ((float)((first + i) / a->width) + 0.5f) * down, level, 0};
    for (int32_t i = 0; i < a->about.k; ++i) outputs[i] = TVLM_CHANNEL_LEARNED_0 + i;
    int code =
        tool_status(a->tool, tvlm_stack_sample(a->stack, a->points, count, outputs, a->about.k, a->codes));
    if (code == TOOL_DONE)
        code = tool_status(a->tool, tvlm_stack_sample(a->stack, a->points, count, a->about.channels,
                                                      a->about.channel_count, a->values));
    if (code == TOOL_DONE) note_losses(a, count);
    if (code == TOOL_DONE)
        code = tool_status(a->tool,
                           tvlm_npy_writer_append(a->writer, a->codes, (size_t)count * (size_t)a->about.k));
    return code;
}

static int apply_all(application *a) {
    const int64_t all = (int64_t)a->width * a->height;
    tvlm_stack_info info;
    int code = tool_status(a->tool, tvlm_stack_get_info(a->stack, &info));
    const int32_t level = a->about.level < info.levels ? a->about.level : info.levels - 1;
    progress_start("texels", all);
    for (int64_t first = 0; code == TOOL_DONE && first < all; first += POINTS) {
        code = apply_part(a, first, (int32_t)(all - first < POINTS ? all - first : POINTS), (float)level);
        progress_step(first);
    }
    progress_clear();
    return code;
}

/* The peak signal-to-noise ratio in decibels. The peak is the range of the channel, or, if it has none, its
 * range in this image. NaN: nothing is lost. */
static double psnr_of(const application *a, int32_t c) {
    const double mean = a->losses[c].squares / ((double)a->width * a->height);
    tvlm_channel_info info;
    (void)tvlm_channel_get_info(a->about.channels[c], &info);
    const double range =
        isfinite(info.low) ? (double)info.high - (double)info.low : a->losses[c].high - a->losses[c].low;
    return mean > 0.0 && range > 0.0 ? 10.0 * log10(range * range / mean) : NAN;
}

static const char *name_of(const application *a, int32_t c, tvlm_channel_info *info) {
    (void)tvlm_channel_get_info(a->about.channels[c], info);
    return info->name;
}

static int print_json(application *a) {
    json_writer json = {0};
    tvlm_channel_info info;
    json_open_object(&json, NULL, false);
    json_string(&json, "path", a->options->output);
    json_string(&json, "codec", a->options->codec);
    json_device(&json, a->device);
    json_integers(&json, "shape", 3, (const int64_t[]){a->height, a->width, a->about.k});
    json_open_array(&json, "channels", false);
    for (int32_t c = 0; c < a->about.channel_count; ++c) {
        json_open_object(&json, NULL, true);
        json_string(&json, "name", name_of(a, c, &info));
        json_double(&json, "psnr", psnr_of(a, c));
        json_close(&json);
    }
    json_close(&json);
    return tool_print_json(a->tool, &json);
}

static int print_losses(application *a) {
    FILE *const out = tool_report(a->tool);
    tvlm_channel_info info;
    if (a->options->common.json > 0) return print_json(a);
    fprintf(out, "%s: %d x %d x %d, %d %% of what the %d channels take at that size\n\n", a->options->output,
            (int)a->height, (int)a->width, (int)a->about.k,
            (int)lround(100.0 * a->about.k / a->about.channel_count), (int)a->about.channel_count);
    for (int32_t c = 0; c < a->about.channel_count; ++c) {
        const double psnr = psnr_of(a, c);
        if (isnan(psnr))
            fprintf(out, "  %-24s   exact\n", name_of(a, c, &info));
        else
            fprintf(out, "  %-24s %7.1f dB\n", name_of(a, c, &info), psnr);
    }
    return TOOL_DONE;
}

static int begin(application *a, const char *path) {
    struct tool *const tool = a->tool;
    char *const layout = codec_names(a->about.channels, a->about.channel_count);
    const struct tvlm_stack_params params = {.layout = layout,
                                             .format = (tvlm_format)a->options->common.format.value,
                                             .network = tvlm_codec_network(a->codec)};
    int code = layout != NULL ? TOOL_DONE : tool_fail(tool, "no memory");
    if (code == TOOL_DONE) code = open_stack(tool, a->options, path, 0, &params, &a->device, &a->stack);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_codec_check_image(a->codec, a->stack, 0));
    if (code == TOOL_DONE)
        code = tool_status(
            tool, tvlm_stack_channel_size(a->stack, TVLM_CHANNEL_LEARNED_0, 0, &a->width, &a->height));
    const int64_t shape[] = {a->height, a->width, a->about.k};
    if (code == TOOL_DONE)
        code = tool_status(tool, tvlm_npy_writer_open(a->options->output, TVLM_ELEMENT_F32, 3, shape,
                                                      &tool->log, &a->writer));
    free(layout);
    return code == TOOL_DONE ? allocate(a) : code;
}

static int apply(struct tool *tool, const compress_options *options, int count, char *const *paths) {
    application a = {.tool = tool, .options = options};
    int code = check_features(tool, options, count);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_codec_load(options->codec, &tool->log, &a.codec));
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_codec_get_params(a.codec, &a.about));
    if (code == TOOL_DONE) code = begin(&a, paths[0]);
    if (code == TOOL_DONE) code = apply_all(&a);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_npy_writer_finish(a.writer));
    if (code == TOOL_DONE) code = print_losses(&a);
    tvlm_npy_writer_destroy(&a.writer);
    tvlm_stack_destroy(&a.stack);
    tvlm_codec_destroy(&a.codec);
    tvlm_device_destroy(&a.device);
    free(a.points);
    free(a.codes);
    free(a.values);
    free(a.decoded);
    if (code == TOOL_DONE) tool->subject = NULL;
    return code;
}

/* ---- fold ---- */

static int fold(struct tool *tool, const compress_options *options, int count, char *const *paths) {
    tvlm_codec *codec = NULL;
    tvlm_scorer *scorer = NULL, *folded = NULL;
    (void)count;
    int code = tool_status(tool, tvlm_scorer_load(paths[0], &tool->log, &scorer));
    if (code == TOOL_DONE)
        code = codec_read_folded(tool, options->codec, scorer, TVLM_CHANNEL_FEATURE_0, &codec, &folded);
    if (code == TOOL_DONE) code = tool_status(tool, tvlm_scorer_save(options->output, folded, &tool->log));
    tvlm_codec_free_scorer(&folded);
    tvlm_scorer_destroy(&scorer);
    tvlm_codec_destroy(&codec);
    return code;
}

/* ---- The command ---- */

static int check_usage(struct tool *tool, const compress_options *options, bool trains, bool folds) {
    if (options->output == NULL) return tool_usage(tool, "nothing to write: -o FILE is missing");
    if (trains && options->codec != NULL) return tool_usage(tool, "--codec is of apply and fold");
    if (!trains && options->codec == NULL) return tool_usage(tool, "--codec C.safetensors is missing");
    if (!trains && (options->k.given || options->level.given || options->channels != NULL ||
                    options->weigh != NULL || options->scorers.count > 0))
        return tool_usage(tool, "-k, --level, --channels, --weigh and --scorer are of train");
    if (folds && (options->questions.features.count > 0 || options->questions.patch.given))
        return tool_usage(tool, "--features and --feature-patch are of train and apply");
    return TOOL_DONE;
}

static int run_compress(struct tool *tool, const void *values, int operand_count, char *const *operands) {
    const compress_options *const options = values;
    static const struct {
        const char *name, *operands;
        int most;
        int (*run)(struct tool *tool, const compress_options *options, int count, char *const *paths);
    } actions[] = {{"train", "PHOTO...", INT_MAX, train},
                   {"apply", "one IMAGE", 1, apply},
                   {"fold", "one SCORER.safetensors", 1, fold}};
    const int count = operand_count - 1;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; ++i) {
        if (strcmp(operands[0], actions[i].name) != 0) continue;
        const int code = check_usage(tool, options, actions[i].run == train, actions[i].run == fold);
        if (code != TOOL_DONE) return code;
        if (count < 1 || count > actions[i].most)
            return tool_usage(tool, "%s takes %s", actions[i].name, actions[i].operands);
        return actions[i].run(tool, options, count, operands + 1);
    }
    return tool_usage(tool, "'%s' is none of train, apply, fold", operands[0]);
}

const tool_command compress_command = {
    .name = "compress",
    .summary = "few codes in place of many channels: train, apply, fold",
    .operands = "train PHOTO... | apply IMAGE | fold SCORER",
    .operand_words = 1,
    .operand_min = 1,
    .operand_max = INT_MAX,
    .details =
        "train finds the codec: the principal components of the channels over all photos, each of which counts the\n"
        "same, and each channel over its deviation. tvlm select --codec C.safetensors then reads the codes in place\n"
        "of the channels that a --scorer weighs.\n"
        "\n"
        "apply writes the codes of an image, which --features of select takes, and prints what is lost of each\n"
        "channel: its peak signal-to-noise ratio, of the channel's range. fold writes the scorer that reads them:\n"
        "  tvlm-lab compress apply photo.jpg --codec C.safetensors -o F.npy\n"
        "  tvlm-lab compress fold S.safetensors --codec C.safetensors \\\n"
        "      -o S8.safetensors\n"
        "  tvlm select photo.jpg --features F.npy --scorer S8.safetensors\n"
        "\n"
        "A codec is a .safetensors file: encode [k, n], decode [n, k], mean [n]; the metadata format =\n"
        "texturevlm.codec, channels = r,g,b,... and level.\n",
    .options = groups,
    .options_size = sizeof(compress_options),
    .run = run_compress,
};
