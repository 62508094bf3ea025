/* SPDX-License-Identifier: Apache-2.0 */
#include "first.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/driver_cache.h"
#include "platform/file.h"
#include "platform/program.h"
#include "tool.h"

/* The reference has answered about a smaller image before a driver for the processor is ready to. */
#define PIXELS_SMALL ((int64_t)1 << 19)
/* Larger images than this gain more from several threads than the kernels' building costs. */
#define PIXELS_LARGE ((int64_t)4 << 20)

static bool is_set(const char *name) {
    const char *const value = getenv(name);
    return value != NULL && *value != '\0';
}

static int64_t pixels_of(const first_answer *first) {
    return (int64_t)first->image.width * first->image.height;
}

void first_is_about(struct tool *tool, const tvlm_image *image, int32_t positions) {
    tool->first.image = *image;
    tool->first.image.pixels = NULL;
    tool->first.positions = positions;
}

/* ---- Which device there is ---- */

/* Finds the device that the library opens by default. Returns whether that is a CPU. */
static bool find_cpu(tvlm_device_info *found) {
    int32_t count = 0;
    bool any = false;
    if (tvlm_device_list(0, NULL, &count) != TVLM_OK) return false;
    tvlm_device_info *const infos = calloc((size_t)count, sizeof *infos);
    if (infos == NULL || tvlm_device_list(count, infos, &count) != TVLM_OK) count = 0;
    for (int32_t i = 0; i < count; ++i) {
        if (infos[i].type == TVLM_DEVICE_GPU) {
            any = false;
            break;
        }
        if (infos[i].type == TVLM_DEVICE_CPU && !any) {
            *found = infos[i];
            any = true;
        }
    }
    free(infos);
    return any;
}

/* ---- The note ---- */

/* FNV-1a, 64 bits, over the text and its end. */
static uint64_t hash_text(uint64_t hash, const char *text) {
    do hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    while (*text++ != '\0');
    return hash;
}

static bool is_output(const option_spec *spec) {
    return option_is_file(spec) && !option_is_input(spec);
}

/* The value of an option, if it says which kernels are needed; or "". */
static const char *value_of(const option_spec *spec, const void *options) {
    const void *const value = (const char *)options + spec->offset;
    switch (spec->kind) {
    case OPTION_CHOICE: return spec->choices[((const option_choice *)value)->value];
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_INPUT: return *(const char *const *)value;
    default: return "";
    }
}

/* More positions than this are chosen by other kernels (`topk_chunk` of lib/opencl/tuning.h, and half of it). */
enum { POSITIONS_FEW = 1024 };

/* Writes what of the image and of the number of positions says which kernels are needed. */
static void describe_job(const struct tool *tool, char words[64]) {
    const first_answer *const first = &tool->first;
    snprintf(words, 64, "%d channels, %d, 2^%d, %s", (int)first->image.channels, (int)first->image.type,
             ilogb((double)pixels_of(first)), first->positions > POSITIONS_FEW ? "many" : "few");
}

/* Finds the folder of notes: the one in which PoCL keeps what it has compiled, so that a note does not outlive that; for other drivers
 * the tool's own. */
static bool find_folder(const tvlm_device_info *device, char folder[4000]) {
    char home[3072];
    if (!tvlm_cache_home(home, sizeof home)) return false;
    snprintf(folder, 4000, "%s/texturevlm", home);
    (void)tvlm_folder_make(home, true);
    (void)tvlm_folder_make(folder, true);
    if (!tvlm_path_writable(folder))
        return false; /* PoCL's folder is then one that is removed at the end (platform/driver_cache.h) */
    return strcmp(device->platform, "Portable Computing Language") != 0 ||
           (tvlm_driver_cache_folder(folder, 4000) && tvlm_path_writable(folder));
}

/* Writes the name of the note. */
static void name_note(struct tool *tool, const tvlm_device_info *device) {
    first_answer *const first = &tool->first;
    char folder[4000], job[64];
    const char *const words[] = {tvlm_version(),  device->platform, device->name, device->driver,
                                 device->version, tool->command,    job};
    uint64_t hash = 14695981039346656037u;
    first->note[0] = '\0';
    describe_job(tool, job);
    if (!find_folder(device, folder)) return;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) hash = hash_text(hash, words[i]);
    for (int i = 0; i < tool->table->count; ++i) {
        const option_spec *const spec = &tool->table->specs[i];
        if (is_output(spec) || tool->table->groups[i] == &tool_common_specs ||
            !option_given(spec, tool->options))
            continue;
        char label[64];
        option_label(tool->table, i, label, sizeof label);
        hash = hash_text(hash_text(hash, label), value_of(spec, tool->options));
    }
    snprintf(first->note, sizeof first->note, "%s/built-%016llx", folder, (unsigned long long)hash);
}

/* Whether it is left to the tool which device answers, and the reference may. */
static bool has_choice(struct tool *tool, const tool_common *common) {
    const int64_t pixels = pixels_of(&tool->first);
    return pixels > 0 && pixels <= PIXELS_LARGE && common->device == NULL && !is_set("TVLM_DEVICE") &&
           !is_set("TVLM_UNTUNED") && !common->storage.given && !common->format.given &&
           !tool->files.read_once && tool->files.stdin_taken == 0 &&
           tool_given(tool, "network codec patches") == NULL;
}

const char *first_device(struct tool *tool, const tool_common *common) {
    first_answer *const first = &tool->first;
    tvlm_device_info device;
    first->build = false;
    if (!has_choice(tool, common) || !find_cpu(&device)) return NULL;
    const bool small = pixels_of(first) <= PIXELS_SMALL;
    if (!small) {
        name_note(tool, &device);
        if (first->building || (first->note[0] != '\0' && tvlm_path_exists(first->note))) return NULL;
        first->build = first->note[0] != '\0';
    }
    tvlm_log_message(&tool->log, TVLM_LOG_INFO, "%s%s%s the reference answers%s",
                     small ? "before " : "the kernels of ", device.name,
                     small ? " is ready," : " are not built for this:",
                     first->build ? ", and they are built when it has" : "");
    return "reference";
}

/* ---- Building ---- */

static void name_lock(const first_answer *first, char path[sizeof first->note]) {
    snprintf(path, sizeof first->note, "%.4080s.building", first->note);
}

/* Opens the file that one program at a time holds. */
static bool take_lock(first_answer *first) {
    char path[sizeof first->note];
    name_lock(first, path);
    first->lock = tvlm_file_update(path, false);
    if (first->lock >= 0 && tvlm_file_lock(first->lock)) return true;
    if (first->lock >= 0) (void)tvlm_file_close(first->lock);
    return false;
}

int first_begin(struct tool *tool) {
    first_answer *const first = &tool->first;
    if (!first->building) return TOOL_DONE;
    if (first->note[0] == '\0') return tool_fail(tool, "nothing is built beside an answer of this kind");
    if (take_lock(first)) return TOOL_DONE;
    first->note[0] = '\0'; /* it is the other one's */
    return tool_fail(tool, "another program builds these kernels");
}

void first_forget_outputs(const option_table *table, void *options) {
    for (int i = 0; i < table->count; ++i)
        if (is_output(&table->specs[i])) *(const char **)((char *)options + table->specs[i].offset) = NULL;
}

/* Keeps the note if the kernels are built. Otherwise the next command tries again: the image may have been removed
 * meanwhile. */
static void keep_note(first_answer *first, bool keep) {
    char path[sizeof first->note];
    if (first->note[0] == '\0') return;
    name_lock(first, path);
    if (keep) (void)tvlm_path_rename(path, first->note);
    (void)tvlm_file_close(first->lock);
}

/* Starts this program again, with the same command line behind a word of its own, unless one runs already. */
static void start_builder(struct tool *tool) {
    static char word[] = "--build-kernels";
    char program[4096];
    int count = 0;
    if (!take_lock(&tool->first)) return;
    (void)tvlm_file_close(tool->first.lock); /* the other one takes it */
    while (tool->first.argv[count] != NULL) ++count;
    char **const argv = calloc((size_t)count + 2, sizeof *argv);
    if (argv == NULL || !tvlm_program_beside(tool->program->name, program, sizeof program)) {
        free(argv);
        return;
    }
    argv[0] = program;
    argv[1] = word;
    for (int i = 1; i < count; ++i) argv[i + 1] = tool->first.argv[i];
    (void)tvlm_program_start_apart(program, argv);
    free(argv);
}

void first_end(struct tool *tool, int code) {
    if (tool->first.building)
        keep_note(&tool->first, code == TOOL_DONE);
    else if (tool->first.build && code == TOOL_DONE)
        start_builder(tool);
}
