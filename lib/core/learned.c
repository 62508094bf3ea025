/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.c: the size and the names of what a network makes.
 */
#include "core/learned.h"

#include <string.h>

#include "core/backend.h"
#include "core/check.h"

tvlm_learned_size tvlm_learned_size_of(const tvlm_learned *learned, int32_t width, int32_t height,
                                       int32_t levels) {
    tvlm_learned_size size = {.level = learned->level < levels ? learned->level : levels - 1};
    size.input_width = tvlm_level_side(width, size.level);
    size.input_height = tvlm_level_side(height, size.level);
    size.width = (size.input_width - 1) / learned->span + 1;
    size.height = (size.input_height - 1) / learned->span + 1;
    size.extent_x = (float)((double)size.width * learned->span * width / size.input_width);
    size.extent_y = (float)((double)size.height * learned->span * height / size.input_height);
    return size;
}

int32_t tvlm_learned_find(const tvlm_learned *learned, const char *name, size_t length) {
    for (int32_t i = 0; i < learned->output_count; ++i)
        if (strlen(learned->outputs[i]) == length && memcmp(learned->outputs[i], name, length) == 0) return i;
    return -1;
}

tvlm_status tvlm_learned_check(const struct tvlm_network *network, const tvlm_log *log) {
    if (network == NULL) return TVLM_OK;
    if (tvlm_networks.check != NULL) return tvlm_networks.check(network, log);
    return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED,
                     "networks are of the lab, which this build leaves out (TVLM_WITH_LAB)");
}
