/* SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"

#include <stdio.h>

#include "texturevlm/io.h"
#include "tool.h"

#define DECODERS_MAX 16

/* Fills in the list, and returns its length. */
static int32_t list(tvlm_image_decoder decoders[DECODERS_MAX]) {
    int32_t count = 0;
    if (tvlm_image_decoder_list(DECODERS_MAX, decoders, &count) != TVLM_OK) return 0;
    return count < DECODERS_MAX ? count : DECODERS_MAX;
}

void decoders_print(void) {
    tvlm_image_decoder decoders[DECODERS_MAX];
    const int32_t count = list(decoders);
    const char *before = "pictures: ";
    for (int32_t i = 0; i < count; ++i, before = ", ")
        if (decoders[i].library != NULL)
            printf("%s%s by %s", before, decoders[i].format, decoders[i].library);
        else
            printf("%sno %s", before, decoders[i].format);
    printf("\n");
}

/* What this build has, and what is left out of it. */
static void print_parts(void) {
#ifdef TVLM_WITH_ARCHIVE
    printf("archives: tar, plain and by gzip, bzip2, xz and zstd\n");
#else
    printf("archives: none\n");
#endif
#ifdef TVLM_VIDEO_LIBRARY
    printf("videos: by FFmpeg's libraries, in texturevlm-video\n");
#else
    printf("videos: none, but frames as pictures\n");
#endif
#ifdef TVLM_WITH_OPENCL
    printf("OpenCL: loaded when a device is opened\n");
#else
    printf("OpenCL: none, but the reference device\n");
#endif
#ifdef TVLM_WITH_LAB
    printf("lab: yes\n");
#else
    printf("lab: no\n");
#endif
}

int decoders_print_version(const char *program) {
    printf("%s %s\n", program, tvlm_version());
    decoders_print();
    print_parts();
    return TOOL_DONE;
}

void decoders_write(json_writer *json) {
    tvlm_image_decoder decoders[DECODERS_MAX];
    const int32_t count = list(decoders);
    json_open_object(json, "decoders", false);
    for (int32_t i = 0; i < count; ++i) json_string(json, decoders[i].format, decoders[i].library);
    json_close(json);
}
