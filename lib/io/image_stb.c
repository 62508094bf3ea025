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
    void *block, *pixels; /* NULL if decoding failed */
    bool escaped;         /* stb_image was left through the guard */
    bool ran_out;         /* a JPEG's data ended before its pixels did */
};

/* ---- JPEG ---- */

/*
 * If data are missing, stb_image takes zeros for them and reports nothing. This is how they are noticed.
 * stb_image reads at most four bytes ahead of what it needs. So it gets a copy of the file with four more
 * bytes at the end of the last scan. If it has met the marker behind these bytes, it has used some of them
 * for pixels. The filler bytes have many one bits. These make long codes, so that the bytes are used up soon.
 * The filler is not FF, which would begin a marker.
 */
enum { filler = 4, filler_byte = 0xFE };

/* Returns a copy of the file with the filler, or NULL. free() releases it. */
static uint8_t *fill_last_scan(const tvlm_io_source *source, size_t scan_end) {
    uint8_t *const bytes = malloc(source->size + filler);
    if (bytes == NULL) return NULL;
    memcpy(bytes, source->bytes, scan_end);
    memset(bytes + scan_end, filler_byte, filler);
    memcpy(bytes + scan_end + filler, source->bytes + scan_end, source->size - scan_end);
    return bytes;
}

/*
 * Returns whether the last scan had too few data for its pixels, or too few restart markers.
 */
static bool ran_out(const stbi__jpeg *jpeg, size_t restarts) {
    const int first = jpeg->order[0];
    const size_t blocks = jpeg->scan_n == 1 ? (size_t)((jpeg->img_comp[first].x + 7) / 8) *
                                                  (size_t)((jpeg->img_comp[first].y + 7) / 8)
                                            : (size_t)jpeg->img_mcu_x * (size_t)jpeg->img_mcu_y;
    if (jpeg->nomore) return true;
    return jpeg->restart_interval > 0 && restarts < (blocks - 1) / (size_t)jpeg->restart_interval;
}

/* Does what stbi_load_from_memory does with a JPEG, but looks at the decoder afterwards. */
static void *load_jpeg(const uint8_t *bytes, size_t size, size_t restarts, struct decoded *decoded) {
    stbi__context context;
    stbi__start_mem(&context, bytes, (int)size);
    stbi__jpeg *const jpeg = stbi__malloc(sizeof *jpeg);
    jpeg->s = &context;
    stbi__setup_jpeg(jpeg);
    void *const pixels = load_jpeg_image(jpeg, &decoded->width, &decoded->height, &decoded->channels, 0);
    decoded->ran_out = pixels != NULL && ran_out(jpeg, restarts);
    return pixels; /* the guard releases the decoder */
}

/* ---- All formats ---- */

static void *call_stb(const tvlm_io_source *source, const tvlm_io_findings *findings,
                      struct decoded *decoded) {
    int size = (int)source->size;
    int *width = &decoded->width, *height = &decoded->height, *channels = &decoded->channels;
    if (findings->scan_end > 0) return load_jpeg(source->bytes, source->size, findings->restarts, decoded);
    if (findings->sixteen_bits)
        return stbi_load_16_from_memory(source->bytes, size, width, height, channels, 0);
    return stbi_load_from_memory(source->bytes, size, width, height, channels, 0);
}

static void decode(const tvlm_io_source *source, const tvlm_io_findings *findings, struct decoded *decoded) {
    tvlm_io_guard_begin(&decoded->guard, findings->largest > 0 ? findings->largest : SIZE_MAX);
    if (setjmp(decoded->guard.escape) == 0)
        decoded->pixels = call_stb(source, findings, decoded);
    else
        decoded->escaped = true;
    decoded->block = tvlm_io_guard_end(&decoded->guard, decoded->pixels);
}

/* Returns stb_image's own words for the failure, if it has any. "bad png sig" means nothing: its test for PNG
 * leaves these words behind. */
static const char *find_reason(const struct decoded *decoded) {
    const char *reason = decoded->escaped ? NULL : stbi_failure_reason();
    return reason != NULL && strcmp(reason, "bad png sig") != 0 ? reason : "its data are damaged";
}

static tvlm_status explain(const tvlm_io_source *source, const struct decoded *decoded) {
    const char *reason = find_reason(decoded);
    if (decoded->guard.out_of_memory || strcmp(reason, "outofmem") == 0)
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory for the pixels of %s", source->path);
    if (decoded->guard.too_large)
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is damaged: it has more data than pixels",
                         source->path);
    if (strcmp(reason, "too large") == 0)
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED, "%s has too many pixels", source->path);
    return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s cannot be decoded: %s", source->path, reason);
}

tvlm_status tvlm_io_decode_stb(const tvlm_io_source *source, const tvlm_io_findings *findings,
                               tvlm_io_picture *picture) {
    struct decoded decoded = {.width = 0};
    tvlm_io_source filled = *source;
    uint8_t *copy = NULL;
    if (findings->scan_end > 0) {
        copy = fill_last_scan(source, findings->scan_end);
        if (copy == NULL)
            return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory to decode %s", source->path);
        filled.bytes = copy;
        filled.size += filler;
    }
    decode(&filled, findings, &decoded);
    free(copy);
    if (decoded.pixels == NULL) return explain(source, &decoded);
    if (decoded.ran_out) {
        free(decoded.block);
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT,
                         "%s is a truncated JPEG: its data end before its pixels", source->path);
    }
    picture->block = decoded.block;
    picture->pixels = decoded.pixels;
    picture->width = decoded.width;
    picture->height = decoded.height;
    picture->channels = decoded.channels;
    picture->type = findings->sixteen_bits ? TVLM_PIXEL_U16 : TVLM_PIXEL_U8;
    return TVLM_OK;
}
