/* SPDX-License-Identifier: Apache-2.0 */
/*
 * png_write.c: writes PNG with stb_image_write. The PNG is made in memory first, so that the file is either
 * whole or not there.
 */
#include <stdlib.h>
#include <string.h>

#include "io/io_file.h"
#include "io/stb_guard.h"
#include "texturevlm/io.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_MALLOC(size)          tvlm_io_guard_malloc(size)
#define STBIW_REALLOC(memory, size) tvlm_io_guard_realloc(memory, size)
#define STBIW_FREE(memory)          tvlm_io_guard_free(memory)
#define STBIW_ASSERT(truth)         tvlm_io_guard_assert(truth)
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function" /* gcc reports it at the end of the file */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/*
 * The most bytes of a row, and of an image. stb_image_write counts with int. For each byte of a row it adds
 * up to 128 to a sum, and it doubles the room for the compressed data.
 */
#define ROW_MAX   (1 << 24)
#define IMAGE_MAX 900000000

struct encoded {
    tvlm_io_guard guard;
    int size;
    void *block, *bytes;
};

static void encode(int width, int height, int channels, const uint8_t *pixels, struct encoded *encoded) {
    tvlm_io_guard_begin(&encoded->guard, SIZE_MAX);
    if (setjmp(encoded->guard.escape) == 0)
        encoded->bytes = stbi_write_png_to_mem(pixels, 0, width, height, channels, &encoded->size);
    else
        encoded->bytes = NULL;
    encoded->block = tvlm_io_guard_end(&encoded->guard, encoded->bytes);
}

static tvlm_status check(const char *path, int32_t width, int32_t height, int32_t channels,
                         const uint8_t *pixels, const tvlm_log *log) {
    if (path == NULL || pixels == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_png_write: path or pixels is NULL");
    if (channels < 1 || channels > 4)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: %d channels are not in 1..4", path, (int)channels);
    if (width < 1 || height < 1 || width > ROW_MAX / channels ||
        (int64_t)height * ((int64_t)width * channels + 1) > IMAGE_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: %d x %d pixels are out of range for a PNG", path,
                         (int)width, (int)height);
    return TVLM_OK;
}

tvlm_status tvlm_png_write(const char *path, int32_t width, int32_t height, int32_t channels,
                           const uint8_t *pixels, const tvlm_log *log) {
    struct encoded encoded = {.size = 0};
    tvlm_status status = check(path, width, height, channels, pixels, log);
    if (status != TVLM_OK) return status;
    encode(width, height, channels, pixels, &encoded);
    if (encoded.bytes == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to compress %s", path);
    status = tvlm_file_write(path, encoded.bytes, (size_t)encoded.size, log);
    free(encoded.block);
    return status;
}
