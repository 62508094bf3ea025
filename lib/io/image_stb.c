/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_stb.c: decodes JPEG, PNG and BMP with stb_image.
 */
#include <stdlib.h>
#include <string.h>

#include "io/picture.h"
#include "io/stb_guard.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_MAX_DIMENSIONS        TVLM_IO_SIDE_MAX
#define STBI_MALLOC(size)          tvlm_io_guard_malloc(size)
#define STBI_REALLOC(memory, size) tvlm_io_guard_realloc(memory, size)
#define STBI_FREE(memory)          tvlm_io_guard_free(memory)
#define STBI_ASSERT(truth)         tvlm_io_guard_assert(truth)
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function" /* gcc reports it at the end of the file */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <stb_image.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

struct decoded {
    tvlm_io_guard guard;
    int width, height, channels;
    void *block, *pixels; /* NULL where it failed */
    bool escaped;         /* stb_image was left through the guard */
};

static void *call_stb(const tvlm_io_source *source, bool sixteen_bits, struct decoded *decoded) {
    int size = (int)source->size;
    int *width = &decoded->width, *height = &decoded->height, *channels = &decoded->channels;
    if (sixteen_bits) return stbi_load_16_from_memory(source->bytes, size, width, height, channels, 0);
    return stbi_load_from_memory(source->bytes, size, width, height, channels, 0);
}

static void decode(const tvlm_io_source *source, bool sixteen_bits, struct decoded *decoded) {
    tvlm_io_guard_begin(&decoded->guard);
    if (setjmp(decoded->guard.escape) == 0)
        decoded->pixels = call_stb(source, sixteen_bits, decoded);
    else
        decoded->escaped = true;
    decoded->block = tvlm_io_guard_end(&decoded->guard, decoded->pixels);
}

/* Returns stb_image's own words, where it has any. Its test for PNG leaves words behind that mean nothing. */
static const char *find_reason(const struct decoded *decoded) {
    const char *reason = decoded->escaped ? NULL : stbi_failure_reason();
    return reason != NULL && strcmp(reason, "bad png sig") != 0 ? reason : "its data are damaged";
}

static tvlm_status explain(const tvlm_io_source *source, const struct decoded *decoded) {
    const char *reason = find_reason(decoded);
    if (decoded->guard.out_of_memory || strcmp(reason, "outofmem") == 0)
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory for the pixels of %s", source->path);
    if (strcmp(reason, "too large") == 0)
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED, "%s has too many pixels", source->path);
    return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s cannot be decoded: %s", source->path, reason);
}

tvlm_status tvlm_io_decode_stb(const tvlm_io_source *source, bool sixteen_bits, tvlm_io_picture *picture) {
    struct decoded decoded = {.width = 0};
    decode(source, sixteen_bits, &decoded);
    if (decoded.pixels == NULL) return explain(source, &decoded);
    picture->block = decoded.block;
    picture->pixels = decoded.pixels;
    picture->width = decoded.width;
    picture->height = decoded.height;
    picture->channels = decoded.channels;
    picture->type = sixteen_bits ? TVLM_PIXEL_U16 : TVLM_PIXEL_U8;
    return TVLM_OK;
}
