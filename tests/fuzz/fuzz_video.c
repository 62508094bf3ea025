/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_video.c: videos (tvlm_video_reader_open), the first frames of each. The containers and decoders are
 * FFmpeg's, which is fuzzed for itself; what is looked for here is what we make of its answers.
 */
#include "fuzz.h"
#include "texturevlm/io_video.h"

enum { FRAMES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tvlm_video_reader *reader = NULL;
    tvlm_video_frame frame = {.end = false};
    tvlm_video_info info;
    const tvlm_status status = tvlm_video_reader_open(
        fuzz_file(data, size), tvlm_video_reader_params(.threads = 1, .log = &fuzz_log), &reader);
    fuzz_check_status(status);
    fuzz_check((status == TVLM_OK) == (reader != NULL));
    if (reader == NULL) return 0;
    tvlm_video_reader_get_info(reader, &info);
    fuzz_check(info.width >= 0 && info.height >= 0 && info.codec != NULL);
    for (int i = 0; i < FRAMES && !frame.end; ++i) {
        const tvlm_status next = tvlm_video_reader_next(reader, &frame);
        fuzz_check_status(next);
        if (next != TVLM_OK) break;
        if (!frame.end)
            fuzz_touch(frame.image.pixels, 3 * (size_t)frame.image.width * (size_t)frame.image.height);
    }
    tvlm_video_reader_destroy(&reader);
    return 0;
}
