/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void program_tell(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("tvlm-mtmd: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static int wrong(const char *option, const char *value, const char *wanted) {
    program_tell("%s %s: must be %s", option, value, wanted);
    return 2;
}

void program_help(void) {
    puts(
        "tvlm-mtmd -m MODEL --mmproj FILE [OPTION...]: asks a model in llama.cpp about images, with fewer image tokens.\n"
        "\n"
        "  -m, --model FILE        the language model (GGUF)\n"
        "  -mm, --mmproj FILE      its encoder of images (GGUF)\n"
        "  --image FILE            an image; may be given 16 times\n"
        "  -p, --prompt TEXT       the question; <__media__> in it is where an image stands, else they stand before it.\n"
        "                          Without a prompt, questions are read from stdin: /image FILE adds an image to the next\n"
        "                          one, /clear forgets all, /quit or /exit ends\n"
        "  -n, --predict N         the most tokens of an answer; -1, the default: until the model ends it\n"
        "  -ngl, --gpu-layers N    layers on the GPU; all, auto or -1, the default: all\n"
        "  -c, --ctx-size N        cells of the KV cache; 0, the default: as the model was trained\n"
        "  -b, --batch-size N      tokens of a batch; 2048\n"
        "  -t, --threads N         4\n"
        "  --temp, --temperature N 0, the default: the likeliest token\n"
        "  -s, --seed N            of a temperature above 0; 0. -1: another one each time\n"
        "  --chat-template NAME    one of llama.cpp's own, in place of the model's\n"
        "\n"
        "How many tokens each image may have is one of these:\n"
        "  --budget N              at most so many, with those around it\n"
        "  --share N               this share of all, above 0 and at most 1\n"
        "  --tolerance N           as few as lose at most this share, 0 to 1; 0.03, the default, keeps what can be read\n"
        "  --way WAY               auto (the default), smaller, pruned, pictures or cells. In place of pictures it is a\n"
        "                          smaller picture where that loses no more\n"
        "  --looks 2               the question decides: the model looks at a small picture, and then at what its attention\n"
        "                          rested on. It is for one image of a message, with --budget or --share\n"
        "  --report                says what each way would lose, and what each look shows\n"
        "  --overlay FILE          a PNG of what the model sees of the one image\n"
        "  --device NAME           where texturevlm works: part of the name of an OpenCL device, or `reference`");
}

static int integer_of(const char *option, const char *value, long low, long high, int *number) {
    char *end, wanted[80];
    errno = 0;
    const long read = strtol(value, &end, 10);
    snprintf(wanted, sizeof wanted, "a whole number of %ld to %ld", low, high);
    if (end == value || *end != '\0' || errno != 0 || read < low || read > high)
        return wrong(option, value, wanted);
    *number = (int)read;
    return 0;
}

static int number_of(const char *option, const char *value, float low, float high, float *number) {
    char *end, wanted[80];
    *number = strtof(value, &end);
    snprintf(wanted, sizeof wanted, "a number of %g to %g", (double)low, (double)high);
    return end == value || *end != '\0' || !(*number >= low && *number <= high) ? wrong(option, value, wanted)
                                                                                : 0;
}

/* Whether an option has one of at most `count` names; those behind NULL are none. */
static bool is_one_of(const char *option, const char *const *names, int count) {
    for (int i = 0; i < count && names[i] != NULL; ++i)
        if (strcmp(option, names[i]) == 0) return true;
    return false;
}

/* Reads an option of text. Returns -1 where it is none. */
static int read_text(const char *option, const char *value, program_options *o) {
    const struct {
        const char *names[2], **text;
    } texts[] = {{{"-m", "--model"}, &o->model},   {{"-mm", "--mmproj"}, &o->mmproj},
                 {{"-p", "--prompt"}, &o->prompt}, {{"--chat-template"}, &o->template},
                 {{"--overlay"}, &o->overlay},     {{"--device"}, &o->device}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        if (is_one_of(option, texts[i].names, 2)) {
            *texts[i].text = value;
            return 0;
        }
    if (strcmp(option, "--image") != 0) return -1;
    if (o->image_count == PROGRAM_IMAGES) return wrong(option, value, "one of at most 16 images");
    o->images[o->image_count++] = value;
    return 0;
}

/* Reads an option of a whole number. Returns -1 where it is none. */
static int read_integer(const char *option, const char *value, program_options *o) {
    const struct {
        const char *names[3];
        long low, high;
        int *number;
    } numbers[] = {{{"-n", "--predict", "--n-predict"}, -1, 1 << 20, &o->tokens},
                   {{"-ngl", "--gpu-layers", "--n-gpu-layers"}, -1, 10000, &o->layers},
                   {{"-c", "--ctx-size"}, 0, 1 << 24, &o->context},
                   {{"-b", "--batch-size"}, 1, 1 << 20, &o->batch},
                   {{"-t", "--threads"}, 1, 1024, &o->threads},
                   {{"-s", "--seed"}, -1, 2147483647, &o->seed},
                   {{"--looks"}, 1, 2, &o->looks},
                   {{"--budget"}, 1, 1 << 20, &o->spending.budget}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        if (!is_one_of(option, numbers[i].names, 3)) continue;
        if (numbers[i].number == &o->layers && (strcmp(value, "all") == 0 || strcmp(value, "auto") == 0))
            value = "-1";
        return integer_of(option, value, numbers[i].low, numbers[i].high, numbers[i].number);
    }
    return -1;
}

/* Reads any other option with a value. Returns -1 where it is none. */
static int read_number(const char *option, const char *value, program_options *o) {
    if (is_one_of(option, (const char *const[]){"--temp", "--temperature"}, 2))
        return number_of(option, value, 0.0f, 100.0f, &o->temperature);
    if (strcmp(option, "--share") == 0) return number_of(option, value, 1e-6f, 1.0f, &o->spending.share);
    if (strcmp(option, "--tolerance") == 0) {
        const int answer = number_of(option, value, 0.0f, 1.0f, &o->spending.tolerance);
        if (o->spending.tolerance == 0.0f) o->spending.tolerance = TVLM_EXPLICIT_ZERO;
        return answer;
    }
    if (strcmp(option, "--way") != 0) return -1;
    const int way = tvlm_mtmd_way_find(value);
    if (way < 0 || way > TVLM_MTMD_CELLS)
        return wrong(option, value, "auto, smaller, pruned, pictures or cells");
    o->spending.way = (tvlm_mtmd_way)way;
    return 0;
}

static int check(const program_options *o) {
    const char *lacking = o->model == NULL ? "-m MODEL" : o->mmproj == NULL ? "--mmproj FILE" : NULL;
    if (lacking != NULL) return program_fail("%s is missing; --help says more", lacking) + 1;
    if (o->overlay != NULL && (o->image_count != 1 || o->prompt == NULL))
        return program_fail("--overlay is for one --image and a --prompt") + 1;
    if (o->looks == 2 && o->spending.budget == 0 && o->spending.share == 0.0f)
        return program_fail("--looks 2 needs --budget or --share") + 1;
    if (o->looks == 2 && (o->image_count > 1 || o->spending.way != TVLM_MTMD_AUTO))
        return program_fail("--looks 2 is for one --image, without --way") + 1;
    return 0;
}

int program_read(int argc, char **argv, program_options *options) {
    *options = (program_options){.tokens = -1, .layers = -1, .batch = 2048, .threads = 4, .looks = 1};
    for (int i = 1; i < argc; ++i) {
        const char *option = argv[i];
        if (strcmp(option, "--report") == 0 || strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0) {
            *(option[2] == 'r' ? &options->report : &options->help) = true;
            continue;
        }
        const bool last = i + 1 == argc;
        const char *value = last ? "" : argv[++i];
        int answer = read_text(option, value, options);
        if (answer < 0) answer = read_integer(option, value, options);
        if (answer < 0) answer = read_number(option, value, options);
        if (answer < 0) return program_fail("there is no option %s; --help lists them", option) + 1;
        if (answer > 0) return answer;
        if (last) return program_fail("%s is without its value; --help says more", option) + 1;
    }
    return options->help ? 0 : check(options);
}
