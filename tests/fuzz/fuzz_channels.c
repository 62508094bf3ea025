/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_channels.c: lists of channel names as people type them (tvlm_layout_parse).
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "texturevlm/channels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int32_t channels[TVLM_LAYOUT_CHANNELS_MAX];
    int32_t count = -1, alone = -1;
    char *const text = malloc(size + 1);
    fuzz_check(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    const tvlm_status status = tvlm_layout_parse(text, &fuzz_log, TVLM_LAYOUT_CHANNELS_MAX, channels, &count);
    fuzz_check_status(status);
    const tvlm_status counted = tvlm_layout_parse(text, &fuzz_log, 0, NULL, &alone);
    fuzz_check_status(counted);
    fuzz_check(status == counted && count == alone);
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i) {
        tvlm_channel_info info;
        fuzz_check(tvlm_channel_get_info(channels[i], &info) == TVLM_OK);
        fuzz_check(tvlm_channel_find(info.name) == channels[i]);
    }
    free(text);
    return 0;
}
