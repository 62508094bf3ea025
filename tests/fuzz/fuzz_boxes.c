/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_boxes.c: where the objects of a photo are, as COCO json and as YOLO txt (tools/lab/uses/truth.c). The first
 * byte says which: 'c' or 'y', and the digits that follow are the size of the photo: "y048064" is 48 x 64.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "truth.h"

enum { HEAD = 7 };

static char folder[] = "/tmp/tvlm-fuzz-XXXXXX";
static char label[sizeof folder + 8];

static void remove_folder(void) {
    unlink(label);
    rmdir(folder);
}

/* The labels of the photo "a.png", in a folder of their own. */
static void write_label(const uint8_t *data, size_t size) {
    if (label[0] == '\0') {
        fuzz_check(mkdtemp(folder) != NULL);
        snprintf(label, sizeof label, "%s/a.txt", folder);
        atexit(remove_folder);
    }
    FILE *const file = fopen(label, "wb");
    fuzz_check(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static int number(const uint8_t *digits) {
    int value = 0;
    for (int i = 0; i < 3; ++i)
        value = 10 * value + (digits[i] >= '0' && digits[i] <= '9' ? digits[i] - '0' : 0);
    return value > 0 ? value : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const tool_program program = {.name = "fuzz"};
    static struct tool tool;
    truth_options options = {0};
    truth *opened = NULL;
    if (size < HEAD) return 0;
    const int width = number(data + 1), height = number(data + 4);
    uint8_t *const mask = malloc((size_t)width * (size_t)height);
    fuzz_check(mask != NULL);
    tool_start(&tool, &program);
    if (data[0] == 'c') options.coco = fuzz_file(data + HEAD, size - HEAD);
    if (data[0] != 'c') write_label(data + HEAD, size - HEAD);
    if (data[0] != 'c') options.yolo = folder;
    int code = truth_open(&tool, &options, &opened);
    if (code == TOOL_DONE) code = truth_mask(&tool, opened, "a.png", width, height, mask);
    fuzz_check((code != TOOL_DONE) == (tool.error[0] != '\0'));
    if (code == TOOL_DONE)
        for (int i = 0; i < width * height; ++i) fuzz_check(mask[i] <= TRUTH_UNKNOWN);
    truth_close(&opened);
    free(mask);
    return 0;
}
