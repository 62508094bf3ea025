/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_heif_libheif.c: decodes HEIF and AVIF with libheif.
 *
 * libheif is loaded when the first such picture comes, and stays loaded. With its codecs it is twenty times
 * the size of all other decoders, and most programs never read such a picture.
 *
 * libheif turns and crops pictures as the file's properties say. What their EXIF data say about turning does
 * not count (ISO/IEC 23008-12, A.2.2).
 */
#include <string.h>

#include <libheif/heif.h>

#include "io/decoders.h"
#include "platform/compiler.h"
#include "platform/library.h"

/* The most pixels of a picture. A few bytes can stand for a picture of any size, so that memory needs a
 * limit. */
#define PIXELS_MAX ((uint64_t)1 << 28)

/* The functions of libheif that are used; each name is without its "heif_". */
#define FUNCTIONS(X)                                                                                         \
    X(context_alloc)                                                                                         \
    X(context_free)                                                                                          \
    X(context_read_from_memory_without_copy)                                                                 \
    X(context_get_primary_image_handle)                                                                      \
    X(image_handle_get_width)                                                                                \
    X(image_handle_get_height)                                                                               \
    X(image_handle_has_alpha_channel)                                                                        \
    X(image_handle_is_premultiplied_alpha)                                                                   \
    X(image_handle_get_luma_bits_per_pixel)                                                                  \
    X(image_handle_release)                                                                                  \
    X(decoding_options_alloc)                                                                                \
    X(decoding_options_free)                                                                                 \
    X(decode_image)                                                                                          \
    X(image_get_width)                                                                                       \
    X(image_get_height)                                                                                      \
    X(image_get_bits_per_pixel_range)                                                                        \
    X(image_get_plane_readonly)                                                                              \
    X(image_release)

#define MEMBER(name) TVLM_TYPE_OF(heif_##name) * name;
struct heif {
    FUNCTIONS(MEMBER)
};
#undef MEMBER

/* Everything about one picture. */
struct job {
    const tvlm_io_source *source;
    struct heif heif;
    struct heif_context *context;
    struct heif_image_handle *handle;
    struct heif_decoding_options *options;
    struct heif_image *image;
    bool alpha, deep; /* deep: its samples have more than 8 bits */
};

/* Loads the library. Any thread may do this at any time: the system loads a library once, and counts how
 * often it was opened. */
static tvlm_status load(struct job *job) {
    const char *const path = job->source->path, *const usual = tvlm_library_heif[0];
    void *library = NULL;
    for (const char *const *name = tvlm_library_heif; library == NULL && *name != NULL; ++name)
        library = tvlm_library_open(*name);
    if (library == NULL)
        return tvlm_fail(job->source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is HEIF or AVIF, which needs %s: it cannot be loaded", path, usual);
#define FIND(name)                                                                                           \
    if (!tvlm_library_find(library, "heif_" #name, &job->heif.name))                                         \
        return tvlm_fail(job->source->log, TVLM_ERROR_UNSUPPORTED,                                           \
                         "%s is HEIF or AVIF: this %s has no heif_" #name, path, usual);
    FUNCTIONS(FIND)
#undef FIND
    return TVLM_OK;
}

static tvlm_status explain(const struct job *job, struct heif_error error) {
    const tvlm_log *const log = job->source->log;
    const char *const path = job->source->path, *const message = error.message != NULL ? error.message : "";
    if (error.code == heif_error_Ok) return TVLM_OK;
    if (error.code == heif_error_Memory_allocation_error &&
        error.subcode != heif_suberror_Security_limit_exceeded)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for the pixels of %s", path);
    if (error.code == heif_error_Unsupported_feature || error.code == heif_error_Unsupported_filetype)
        return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED,
                         "%s is HEIF or AVIF of a kind that is not supported: %s", path, message);
    if (error.subcode == heif_suberror_End_of_data)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s is a truncated HEIF or AVIF: it ends after %zu bytes",
                         path, job->source->size);
    return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s is a damaged HEIF or AVIF: %s", path, message);
}

/* Opens the file's primary picture: the first one of a sequence, and the main one of several. */
static tvlm_status open_picture(struct job *job) {
    const tvlm_io_source *const source = job->source;
    const struct heif *const heif = &job->heif;
    job->context = heif->context_alloc();
    if (job->context == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory to decode %s", source->path);
    tvlm_status status = explain(
        job, heif->context_read_from_memory_without_copy(job->context, source->bytes, source->size, NULL));
    if (status == TVLM_OK)
        status = explain(job, heif->context_get_primary_image_handle(job->context, &job->handle));
    if (status != TVLM_OK) return status;
    const int width = heif->image_handle_get_width(job->handle),
              height = heif->image_handle_get_height(job->handle);
    if (width > 0 && height > 0 && (uint64_t)width * (uint64_t)height > PIXELS_MAX)
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED, "%s is too large: %d x %d pixels", source->path,
                         width, height);
    job->alpha = heif->image_handle_has_alpha_channel(job->handle) != 0;
    job->deep = heif->image_handle_get_luma_bits_per_pixel(job->handle) > 8;
    if (job->alpha && heif->image_handle_is_premultiplied_alpha(job->handle))
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is HEIF or AVIF of a kind that is not supported: its colours are multiplied by "
                         "their alpha",
                         source->path);
    return TVLM_OK;
}

static enum heif_chroma chroma_of(const struct job *job) {
    const uint16_t one = 1;
    const bool little = *(const uint8_t *)&one == 1;
    if (!job->deep) return job->alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    if (little) return job->alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE;
    return job->alpha ? heif_chroma_interleaved_RRGGBBAA_BE : heif_chroma_interleaved_RRGGBB_BE;
}

/* Decodes the picture. It asks for strict decoding, so that damaged data give an error, and not a picture
 * that is partly made up. */
static tvlm_status decode(struct job *job) {
    job->options = job->heif.decoding_options_alloc();
    if (job->options == NULL)
        return tvlm_fail(job->source->log, TVLM_ERROR_MEMORY, "no memory to decode %s", job->source->path);
    if (job->options->version >= 3) job->options->strict_decoding = 1;
    return explain(job, job->heif.decode_image(job->handle, &job->image, heif_colorspace_RGB, chroma_of(job),
                                               job->options));
}

/* Scales samples of `bits` bits to the full range of 16 bits. */
static void widen(uint16_t *samples, size_t count, int bits) {
    const uint32_t most = (1u << bits) - 1;
    for (size_t i = 0; i < count; i++) {
        const uint32_t sample = samples[i] < most ? samples[i] : most;
        samples[i] = (uint16_t)((sample * UINT16_MAX + most / 2) / most);
    }
}

static tvlm_status copy(const struct job *job, tvlm_io_picture *picture) {
    const struct heif *const heif = &job->heif;
    const int width = heif->image_get_width(job->image, heif_channel_interleaved),
              height = heif->image_get_height(job->image, heif_channel_interleaved),
              bits = heif->image_get_bits_per_pixel_range(job->image, heif_channel_interleaved);
    int stride = 0;
    const uint8_t *const from = heif->image_get_plane_readonly(job->image, heif_channel_interleaved, &stride);
    if (from == NULL || width < 1 || height < 1 || bits < 8 || bits > 16 || (bits > 8) != job->deep)
        return tvlm_fail(job->source->log, TVLM_ERROR_FORMAT,
                         "%s is a damaged HEIF or AVIF: its pixels are not as it says", job->source->path);
    const tvlm_status status =
        tvlm_io_picture_create(job->source, (uint32_t)width, (uint32_t)height, job->alpha ? 4 : 3,
                               job->deep ? TVLM_PIXEL_U16 : TVLM_PIXEL_U8, picture);
    if (status != TVLM_OK) return status;
    const size_t samples = (size_t)picture->channels * (size_t)width, row = samples * (job->deep ? 2 : 1);
    for (int y = 0; y < height; y++)
        memcpy(picture->pixels + row * (size_t)y, from + (ptrdiff_t)stride * y, row);
    if (job->deep && bits < 16) widen((uint16_t *)(void *)picture->pixels, samples * (size_t)height, bits);
    return TVLM_OK;
}

static void release(struct job *job) {
    if (job->image != NULL) job->heif.image_release(job->image);
    if (job->options != NULL) job->heif.decoding_options_free(job->options);
    if (job->handle != NULL) job->heif.image_handle_release(job->handle);
    if (job->context != NULL) job->heif.context_free(job->context);
}

tvlm_status tvlm_io_decode_heif_libheif(const tvlm_io_source *source, const tvlm_io_findings *findings,
                                        tvlm_io_picture *picture) {
    struct job job = {.source = source};
    (void)findings;
    tvlm_status status = load(&job);
    if (status == TVLM_OK) status = open_picture(&job);
    if (status == TVLM_OK) status = decode(&job);
    if (status == TVLM_OK) status = copy(&job, picture);
    release(&job);
    return status;
}

/* Measures a picture. The boxes that say its size may be anywhere in the file, so that nothing is known if
 * `part` is set. The memory that codecs take is not known beforehand. It is estimated from what is in memory
 * at most: the planes of the coded picture twice, the picture as colours, and the turned picture. Together
 * they take less than the bytes for each pixel that stand below. */
void tvlm_io_measure_heif_libheif(const tvlm_io_source *source, tvlm_io_extent *extent) {
    enum { bytes_of_8_bits = 16, bytes_of_more = 32 };
    tvlm_io_source silent = *source;
    struct job job = {.source = &silent};
    silent.log = NULL;
    if (source->part) return;
    if (load(&job) == TVLM_OK && open_picture(&job) == TVLM_OK) {
        extent->width = (uint32_t)job.heif.image_handle_get_width(job.handle);
        extent->height = (uint32_t)job.heif.image_handle_get_height(job.handle);
        extent->memory = tvlm_io_extent_bytes(extent, job.deep ? bytes_of_more : bytes_of_8_bits);
    }
    release(&job);
}
