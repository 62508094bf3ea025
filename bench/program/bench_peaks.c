/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_peaks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "platform/file.h"
#include "platform/program.h"
#include "platform/temporary.h"
#include "progress.h"

enum { PATH_SIZE = 4096, CHANNELS = 3, TINY = 8 };

typedef struct picture {
    int32_t width, height;
} picture;

static const picture usual[] = {{1024, 1024}, {4096, 4096}, {10000, 10000}};
enum { USUAL = sizeof usual / sizeof *usual };

static double bytes_of(picture p) {
    return (double)CHANNELS * p.width * p.height;
}

/* ---- Pictures ---- */

/* A row of a picture: values that differ from place to place, as the strategy has nothing to do on blank paper. */
static void fill_row(unsigned char *row, int32_t width, int32_t y) {
    for (int32_t i = 0; i < CHANNELS * width; ++i) row[i] = (unsigned char)((i * 7919 >> 5) + (y * 31 >> 3));
}

/* Writes a picture as PPM, row by row, so that this process holds little: what it holds counts as held by those that it starts. */
static bool write_rows(int file, picture p) {
    char head[64];
    const size_t row_bytes = (size_t)CHANNELS * (size_t)p.width;
    unsigned char *const row = malloc(row_bytes);
    const int length = snprintf(head, sizeof head, "P6\n%d %d\n255\n", (int)p.width, (int)p.height);
    bool good = row != NULL && tvlm_file_put(file, head, (size_t)length);
    for (int32_t y = 0; good && y < p.height; ++y) {
        fill_row(row, p.width, y);
        good = tvlm_file_put(file, row, row_bytes);
    }
    free(row);
    return good;
}

/* Makes a file with a picture, in the folder in which the program runs. */
static int make_picture(struct tool *tool, picture p, char **name) {
    const int file = tvlm_temporary_make("peaks.ppm", 0, name);
    bool good = file >= 0 && write_rows(file, p);
    int code = errno;
    char why[256];
    if (file >= 0 && !tvlm_file_close(file)) {
        if (good) code = errno;
        good = false;
    }
    if (good) return TOOL_DONE;
    tvlm_system_words(code, why, sizeof why);
    return tool_fail(tool, "a picture of %dx%d pixels cannot be written here: %s", (int)p.width,
                     (int)p.height, why);
}

static void remove_picture(char *name) {
    if (name == NULL) return;
    (void)tvlm_path_remove(name);
    tvlm_temporary_forget(name);
    free(name);
}

/* ---- One process ---- */

/* Runs a program twice, and writes the smaller of both peaks: the first run may build kernels, which takes far more memory than any
 * picture. `path` becomes that of tvlm. */
static bool run_twice(char path[PATH_SIZE], char **argv, int *ended, size_t *peak) {
    size_t first = 0;
    if (!tvlm_program_beside("tvlm", path, PATH_SIZE) || !tvlm_program_measure(path, argv, ended, &first))
        return false;
    if (*ended != 0) return true;
    if (!tvlm_program_measure(path, argv, ended, peak)) return false;
    if (first < *peak) *peak = first;
    return true;
}

/* Runs `tvlm select` on a picture. */
static int measure(struct tool *tool, const tool_common *common, const char *format, picture p,
                   size_t *peak) {
    static char select[] = "select", quiet[] = "-q", of_output[] = "-o", of_format[] = "--format",
                of_device[] = "--device";
    char path[PATH_SIZE], output[] = "/dev/null", word[16], *name = NULL;
    char *const device = common->device != NULL ? (char *)(uintptr_t)common->device : NULL;
    int ended = 0, code = make_picture(tool, p, &name);
    snprintf(word, sizeof word, "%s", format);
    char *argv[] = {
        path,   select, name, quiet, of_output, output, of_format, word, device != NULL ? of_device : NULL,
        device, NULL};
    if (code == TOOL_DONE && !run_twice(path, argv, &ended, peak))
        code = tool_fail(tool, "tvlm, which lies beside this program, did not start");
    if (code == TOOL_DONE && ended != 0)
        code = tool_fail(tool, "tvlm select ended with %d on a picture of %dx%d pixels", ended, (int)p.width,
                         (int)p.height);
    remove_picture(name);
    return code;
}

/* ---- The table ---- */

static void print_row(const char *format, picture p, double bytes) {
    char size[32];
    snprintf(size, sizeof size, "%dx%d", (int)p.width, (int)p.height);
    printf("%-6s %12s %12.1f %12.1f %8.1f\n", format, size, bytes_of(p) / 1e6, bytes / 1e6,
           bytes / bytes_of(p));
    fflush(stdout);
}

static void write_row(json_writer *json, const char *format, picture p, double bytes) {
    json_open_object(json, NULL, true);
    json_string(json, "format", format);
    json_integer(json, "width", p.width);
    json_integer(json, "height", p.height);
    json_integer(json, "pixel_bytes", (int64_t)bytes_of(p));
    json_integer(json, "peak_bytes", (int64_t)bytes);
    json_double(json, "times", bytes / bytes_of(p));
    json_close(json);
}

/* The rows of a format. `json` is NULL where they are printed. */
static int measure_format(struct tool *tool, const tool_common *common, const char *format,
                          const picture *pictures, int count, json_writer *json) {
    size_t idle = 0, peak = 0;
    int code = measure(tool, common, format, (picture){TINY, TINY}, &idle);
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        code = measure(tool, common, format, pictures[i], &peak);
        if (code != TOOL_DONE) break;
        const double bytes = peak > idle ? (double)(peak - idle) : 0.0;
        progress_clear();
        if (json != NULL)
            write_row(json, format, pictures[i], bytes);
        else
            print_row(format, pictures[i], bytes);
    }
    return code;
}

int bench_peaks(struct tool *tool, const tool_common *common, int32_t width, int32_t height) {
    static const tvlm_format formats[] = {TVLM_FORMAT_U8, TVLM_FORMAT_F16, TVLM_FORMAT_F32};
    enum { FORMATS = sizeof formats / sizeof *formats };
    const picture asked = {width, height};
    const bool as_json = common->json > 0;
    const tvlm_format only = (tvlm_format)common->format.value;
    json_writer json = {0};
    int code = TOOL_DONE;
    if (as_json) {
        json_open_object(&json, NULL, false);
        json_string(&json, "device", common->device != NULL ? common->device : "default");
        json_open_array(&json, "peaks", false);
    } else {
        printf("%-6s %12s %12s %12s %8s\n", "format", "", "pixels MB", "peak MB", "times");
    }
    progress_start("formats", FORMATS);
    for (int i = 0; code == TOOL_DONE && i < FORMATS; ++i) {
        if (only != TVLM_FORMAT_AUTO && only != formats[i]) continue;
        code = measure_format(tool, common, tvlm_format_name(formats[i]), width > 0 ? &asked : usual,
                              width > 0 ? 1 : USUAL, as_json ? &json : NULL);
        progress_step(i + 1);
    }
    progress_clear();
    if (code == TOOL_DONE && as_json) {
        json_close(&json);
        json_close(&json);
        code = tool_print(tool, json_text_of(&json));
    }
    json_release(&json);
    return code;
}
