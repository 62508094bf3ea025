/* SPDX-License-Identifier: Apache-2.0 */
#include "io/picture.h"

#include <stdlib.h>

#include "core/memory.h"

tvlm_status tvlm_io_picture_create(const tvlm_io_source *source, uint32_t width, uint32_t height,
                                   int channels, tvlm_pixel_type type, tvlm_io_picture *picture) {
    const size_t pixel = (size_t)channels * (type == TVLM_PIXEL_U16 ? 2 : 1);
    size_t bytes;
    if (width == 0 || height == 0)
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is damaged: it has no pixels", source->path);
    if (width > TVLM_IO_SIDE_MAX || height > TVLM_IO_SIDE_MAX || !tvlm_multiply(width, height, &bytes) ||
        !tvlm_multiply(bytes, pixel, &bytes) || bytes > TVLM_IO_PIXELS_MAX)
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED, "%s is too large: %lu x %lu pixels",
                         source->path, (unsigned long)width, (unsigned long)height);
    if (source->memory != 0 && bytes > source->memory)
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT,
                         "%s is damaged: it has more pixels than its header says", source->path);
    uint8_t *const pixels = malloc(bytes);
    if (pixels == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory for the pixels of %s", source->path);
    *picture = (tvlm_io_picture){.block = pixels,
                                 .pixels = pixels,
                                 .width = (int32_t)width,
                                 .height = (int32_t)height,
                                 .channels = channels,
                                 .type = type};
    return TVLM_OK;
}

void tvlm_io_picture_release(tvlm_io_picture *picture) {
    free(picture->block);
    *picture = (tvlm_io_picture){0};
}
