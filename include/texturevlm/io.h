/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h: files. This is the header of a second library, texturevlm-io; the first one does without it.
 *
 * It reads pictures (JPEG, PNG, BMP, PPM, PGM, and others if the build has their libraries), arrays (.npy) and
 * named tensors (.safetensors). It writes PNG, .npy and .safetensors:
 *
 *     tvlm_image *image = NULL;
 *     if (tvlm_image_load("photo.jpg", &log, &image) == TVLM_OK) {
 *         ...
 *         tvlm_image_destroy(&image);
 *     }
 *
 * Reading never trusts a file: whatever it holds, the answer is a result or an error. An error comes with one line
 * in the log, which names the file and what is wrong with it. Unless its comment says otherwise, a function fails
 * with
 *
 *   TVLM_ERROR_ARGUMENT     where an argument is NULL or outside the range that is given here,
 *   TVLM_ERROR_IO           where the file cannot be opened, read or written (missing, a full disk),
 *   TVLM_ERROR_FORMAT       where the file is not what it should be, or is truncated,
 *   TVLM_ERROR_UNSUPPORTED  where the file is well formed, but of a kind that is not read here,
 *   TVLM_ERROR_MEMORY       where there is no memory for it.
 *
 * Writing is atomic: a file appears complete or not at all, and an older file of that name stays until then.
 * The file is written under another name (.tvlm-PID-N.tmp) in the same folder and renamed at the end. What is
 * not an ordinary file (/dev/stdout, a FIFO) is written directly. Where the path is a symbolic link, the file
 * that it leads to is replaced, and not the link.
 *
 * All functions are safe on any thread; one handle belongs to one thread at a time. `log` may be NULL.
 */
#ifndef TEXTUREVLM_IO_H
#define TEXTUREVLM_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Whole files ---- */

/*
 * Reads all of `path` into new memory, which the caller releases with free().
 *
 * A zero byte follows the content and is not counted in *size, so that text may be used as a string. An empty
 * file is no error: *size is 0 then, and *bytes is not NULL. What is not an ordinary file (a pipe) is read to
 * its end, but never more than 1 GiB of it.
 */
TVLM_API tvlm_status tvlm_file_read(const char *path, const tvlm_log *log, void **bytes, size_t *size);

/* Writes `size` bytes as the whole content of `path`. `bytes` may be NULL where `size` is 0. */
TVLM_API tvlm_status tvlm_file_write(const char *path, const void *bytes, size_t size, const tvlm_log *log);

/*
 * Makes several files appear together or not at all. They are those that one thread writes, with the functions
 * of this header, between tvlm_files_begin and one of the two functions that end it. A complete file keeps its
 * temporary name until then.
 *
 *   - tvlm_files_commit gives each file its own name, in the order in which they were completed. If a file cannot
 *     get its name, this file and those after it are removed, and the result is TVLM_ERROR_IO. If nothing was
 *     begun, the result is TVLM_OK.
 *   - tvlm_files_abort removes all the files.
 *
 * What is written directly, such as /dev/stdout or a FIFO, takes no part in this. It is meant for a few files:
 * if there are more than 64, tvlm_file_remove_temporaries leaves some behind.
 */
TVLM_API void tvlm_files_begin(void);
TVLM_API tvlm_status tvlm_files_commit(const tvlm_log *log);
TVLM_API void tvlm_files_abort(void);

/*
 * Removes the temporary files of everything that is being written (up to 64 files). It is for a program that
 * ends before they are complete, and may be called from a signal handler. If the program goes on writing one of
 * these files all the same, that fails with TVLM_ERROR_IO in the end.
 */
TVLM_API void tvlm_file_remove_temporaries(void);

/* ---- Pictures ---- */

/*
 * Decodes a picture into a new image without gaps between its rows. The caller owns *image and releases it
 * with tvlm_image_destroy.
 *
 * JPEG, PNG, BMP, PPM and PGM are read. WebP, HEIF and AVIF are read if the library was built with a decoder for
 * them (tvlm_image_decoder_list). Formats are told apart by the content of the file and not by its name. Not
 * supported are 12-bit, arithmetic-coded and lossless JPEG, run-length-coded BMP, PBM, and every other format.
 *
 * - Pixels are TVLM_PIXEL_U8 where the file has 8 bits or fewer, and TVLM_PIXEL_U16 where it has more (PNG,
 *   PPM, PGM, HEIF, AVIF). The samples of PPM, PGM, HEIF and AVIF are scaled to the full range.
 * - Channels stay as they are in the file: 1 gray, 2 gray + alpha, 3 RGB, 4 RGBA; nothing is composited. A
 *   palette becomes 3 or 4 channels. A CMYK JPEG gets 3 channels, and so does a gray WebP, HEIF or AVIF.
 * - Of an animation the first frame is read, and of a HEIF with several pictures the main one.
 * - HEIF and AVIF are decoded by libheif. Its version 1.15 may crash on files that were made to that end. Where
 *   files come from strangers, install a newer one, or build with TVLM_HEIF=OFF.
 * - Colour profiles are not applied: values are taken as if they were sRGB.
 * - The EXIF orientation of JPEG, PNG and WebP is applied, and so is the orientation that HEIF and AVIF files
 *   give. So rows and columns, width and height are as a viewer shows them.
 * - JPEG and WebP give the pixels that libjpeg-turbo and libwebp make with their defaults, as in Pillow and
 *   OpenCV. If stb_image decodes a JPEG, the pixels differ from these by a step or two.
 *
 * A truncated file is an error, also if an end marker was put behind what is left of a JPEG. A file beyond these
 * limits is an error, too:
 *
 * - 2^24 pixels a side (JPEG: 65500, WebP: 16384) and 2^31 - 1 bytes of decoded pixels;
 * - for PNG, 2^30 samples (pixels times channels; a palette counts as 4 channels). A PNG may hold more compressed
 *   data than its size in pixels needs: libpng inflates only the pixels, and stb_image fails;
 * - for HEIF and AVIF, 2^28 pixels;
 * - for JPEG, 100 scans (encoders make about ten). A JPEG with several scans, such as a progressive one, may have
 *   at most 2^25 blocks of 8 x 8 samples in all its components, whose coefficients take 4 GiB. This also holds
 *   for a JPEG that is made smaller while it is decoded.
 */
TVLM_API tvlm_status tvlm_image_load(const char *path, const tvlm_log *log, tvlm_image **image);

/* How a picture is read. All zero: as tvlm_image_load does, and silently. */
struct tvlm_image_load_params {
    /*
     * How many pixels of the longer side the caller will use at most; 0: all of them. If it is set, the picture
     * may be made smaller while it is decoded. It keeps its shape, and its longer side is not shorter than this.
     * With libjpeg-turbo, decoding at a half, a quarter or an eighth of the size takes a fraction of the time
     * and memory.
     *
     * A picture that was made smaller has the file's size in of_width and of_height, turned as the image is, so
     * that positions stay in the file's pixels. Its pixels are means over squares of the file's pixels, which
     * are not what other ways of shrinking give. They are the same each time, and on each machine with the same
     * library.
     */
    int32_t max_side;
    const tvlm_log *log; /* NULL: silence */

    /*
     * The most bytes that loading may take at a time: for the file's content, for the pixels, and for what the
     * decoder keeps besides (tvlm_image_measure). 0: no limit. A picture that would take more fails with
     * TVLM_ERROR_MEMORY, before memory for its pixels is taken. Threads that share a limit measure their
     * pictures first, and each of them waits until there is room for its picture.
     */
    uint64_t memory;
    uint64_t reserved[3];
};
#define tvlm_image_load_params(...) TVLM_PARAMS(tvlm_image_load_params, __VA_ARGS__)

/* As tvlm_image_load, with parameters. `params` NULL means all zero. A negative max_side is
 * TVLM_ERROR_ARGUMENT. */
TVLM_API tvlm_status tvlm_image_load_for(const char *path, const struct tvlm_image_load_params *params,
                                         tvlm_image **image);

/*
 * As tvlm_image_load_for, but takes the content of a file that is in memory already. `name` is what lines in the
 * log call it. The bytes stay the caller's, are not used after the call, and do not count towards the limit
 * `memory`.
 */
TVLM_API tvlm_status tvlm_image_load_bytes(const void *bytes, size_t size, const char *name,
                                           const struct tvlm_image_load_params *params, tvlm_image **image);

/* What a picture's first bytes say of it. */
typedef struct tvlm_image_info {
    int32_t width, height; /* as it is stored, before it is made smaller or upright */

    /*
     * The most bytes of memory that decoding the picture takes at a time: for the decoded pixels, and for what
     * the decoder keeps meanwhile. The bytes of the file are not counted. This is a bound and not a measurement:
     * what the codecs of HEIF and AVIF take is estimated.
     */
    uint64_t memory;
    const char *format; /* such as "JPEG"; in static storage */
    uint64_t reserved[4];
} tvlm_image_info;

/*
 * Looks at a picture without decoding it. `bytes` are the first `size` bytes of its file; `whole` says that they
 * are all of it. For most files of JPEG, PNG, BMP, PPM, PGM and WebP, 64 KiB are enough. HEIF and AVIF need the
 * whole file. So do JPEG and PNG where stb_image decodes them: its memory depends on the size of the file, and
 * `memory` is 0 until the bytes are whole. `params` are those with which the picture will be loaded.
 *
 * If the bytes do not tell the size, the call succeeds with only `format` set in *info, and the rest 0. The
 * caller then hands in more bytes. If these were all, loading the picture writes a line that says what is wrong.
 *
 * Errors: TVLM_ERROR_FORMAT if this is no picture, and TVLM_ERROR_UNSUPPORTED if it is of a kind that is not
 * read, both as from loading.
 */
TVLM_API tvlm_status tvlm_image_measure(const void *bytes, size_t size, bool whole, const char *name,
                                        const struct tvlm_image_load_params *params, tvlm_image_info *info);

/* A format of pictures, and the library that reads it. The strings are static. */
typedef struct tvlm_image_decoder {
    /* Such as "JPEG". */
    const char *format;
    /* The library and its version, such as "libjpeg-turbo 2.1.5"; NULL if this build does not read the
     * format. */
    const char *library;
    uint64_t reserved[4];
} tvlm_image_decoder;

/*
 * Lists the formats of pictures, with the libraries that read them in this build. Fills up to `capacity` entries
 * and sets *count to how many there are. `decoders` may be NULL when capacity is 0.
 */
TVLM_API tvlm_status tvlm_image_decoder_list(int32_t capacity, tvlm_image_decoder *decoders, int32_t *count);

/*
 * Releases what tvlm_image_load, tvlm_image_load_for, tvlm_image_load_bytes or a function of draw.h made, and no
 * other image, and sets *image to NULL. NULL and a NULL *image are accepted.
 */
TVLM_API void tvlm_image_destroy(tvlm_image **image);

/*
 * Writes an 8-bit PNG.
 *
 * `pixels` are `height` rows of width * channels bytes, without gaps, the first row on top. `channels` is 1
 * (gray), 2 (gray + alpha), 3 (RGB) or 4 (RGBA). width * channels is at most 2^24, and
 * height * (width * channels + 1) at most 900 million; what is larger is TVLM_ERROR_ARGUMENT.
 */
TVLM_API tvlm_status tvlm_png_write(const char *path, int32_t width, int32_t height, int32_t channels,
                                    const uint8_t *pixels, const tvlm_log *log);

/* ---- Elements of arrays and tensors ---- */

typedef enum tvlm_element {
    TVLM_ELEMENT_F32 = 0,
    TVLM_ELEMENT_F16,  /* an IEEE half, as the bits of a uint16_t */
    TVLM_ELEMENT_BF16, /* the upper half of a float, as the bits of a uint16_t; only .safetensors has it */
    TVLM_ELEMENT_F64,
    TVLM_ELEMENT_U8,
    TVLM_ELEMENT_I8,
    TVLM_ELEMENT_U16,
    TVLM_ELEMENT_I16,
    TVLM_ELEMENT_U32,
    TVLM_ELEMENT_I32,
    TVLM_ELEMENT_U64,
    TVLM_ELEMENT_I64,
    TVLM_ELEMENT_BOOL /* one byte that is 0 or 1 */
} tvlm_element;

/* Returns the bytes of one element; 0 for values outside the enum. */
TVLM_API size_t tvlm_element_size(tvlm_element type);

/*
 * Returns the name of a type: "float32", "bfloat16", "bool" and so on. It is never NULL, and "unknown" for
 * values outside the enum. The string is in static storage.
 */
TVLM_API const char *tvlm_element_name(tvlm_element type);

/* An array or a tensor has at most so many dimensions. */
#define TVLM_MAX_RANK 8

/* ---- .npy: one array (NumPy format 1.0 to 3.0) ---- */

/* An array in row-major order. */
typedef struct tvlm_npy {
    tvlm_element type;
    int32_t rank;                 /* 0..TVLM_MAX_RANK; 0 is a single element */
    int64_t shape[TVLM_MAX_RANK]; /* each is >= 0; those beyond the rank are 1 */

    /* As many elements as the product of the shape, aligned for their type. The caller may change them. */
    void *data;
    size_t size; /* bytes of `data` */
    uint64_t reserved[4];
} tvlm_npy;

/*
 * Reads an array. The caller owns *array and releases it with tvlm_npy_destroy.
 *
 * Each of these is refused with a line of its own: column-major (Fortran) order, big-endian or structured
 * elements, complex numbers, strings, more than TVLM_MAX_RANK dimensions, and fewer or more bytes than the
 * shape needs.
 */
TVLM_API tvlm_status tvlm_npy_read(const char *path, const tvlm_log *log, tvlm_npy **array);

/* Releases what tvlm_npy_read made and sets *array to NULL. NULL and a NULL *array are accepted. */
TVLM_API void tvlm_npy_destroy(tvlm_npy **array);

/* Reads an array piece by piece, so that its file may be larger than memory. */
typedef struct tvlm_npy_reader tvlm_npy_reader;

/*
 * Opens a file and fills *array with the type and the shape of its content; array->data is NULL. What
 * tvlm_npy_read refuses is refused here too, and so is what is not an ordinary file. *log is copied, so that
 * only its `user` must live as long as the reader.
 */
TVLM_API tvlm_status tvlm_npy_reader_open(const char *path, const tvlm_log *log, tvlm_npy *array,
                                          tvlm_npy_reader **reader);

/*
 * Reads the next `count` elements, in row-major order. If fewer are left, the result is TVLM_ERROR_ARGUMENT, and
 * nothing is read. After any other failure the reader can only be destroyed.
 */
TVLM_API tvlm_status tvlm_npy_reader_read(tvlm_npy_reader *reader, void *data, size_t count);

/* Releases a reader, wherever it stands, and sets *reader to NULL. NULL and a NULL *reader are accepted. */
TVLM_API void tvlm_npy_reader_destroy(tvlm_npy_reader **reader);

/*
 * Writes an array. `rank` is 0..TVLM_MAX_RANK, each shape[i] is >= 0, and `data` is in row-major order; it
 * may be NULL where the shape holds no element. TVLM_ELEMENT_BF16 is TVLM_ERROR_UNSUPPORTED, because NumPy
 * has no such type.
 */
TVLM_API tvlm_status tvlm_npy_write(const char *path, tvlm_element type, int32_t rank, const int64_t *shape,
                                    const void *data, const tvlm_log *log);

/* Writes an array piece by piece: open, append until the shape is filled, finish, destroy. */
typedef struct tvlm_npy_writer tvlm_npy_writer;

/*
 * Begins an array. The arguments are those of tvlm_npy_write. *log is copied, so that only its `user` must
 * live as long as the writer.
 */
TVLM_API tvlm_status tvlm_npy_writer_open(const char *path, tvlm_element type, int32_t rank,
                                          const int64_t *shape, const tvlm_log *log,
                                          tvlm_npy_writer **writer);

/*
 * Writes the next `count` elements. If they are more than the shape has left, the result is TVLM_ERROR_ARGUMENT,
 * and nothing is written. After any other failure the writer can only be destroyed.
 */
TVLM_API tvlm_status tvlm_npy_writer_append(tvlm_npy_writer *writer, const void *data, size_t count);

/*
 * Makes the file appear. If elements are missing, the result is TVLM_ERROR_ARGUMENT, and more may be appended.
 * If an append has failed, the result is TVLM_ERROR_IO, and no file appears. Whatever this returns, the writer
 * must still be destroyed by tvlm_npy_writer_destroy.
 */
TVLM_API tvlm_status tvlm_npy_writer_finish(tvlm_npy_writer *writer);

/*
 * Releases a writer and sets *writer to NULL. One that was not finished leaves no file. NULL and a NULL
 * *writer are accepted.
 */
TVLM_API void tvlm_npy_writer_destroy(tvlm_npy_writer **writer);

/* ---- .safetensors: named tensors and a few strings ---- */

/* One tensor, in row-major order. All strings of a file are UTF-8. */
typedef struct tvlm_tensor {
    const char *name;
    tvlm_element type;
    int32_t rank;                 /* 0..TVLM_MAX_RANK; 0 is a single element */
    int64_t shape[TVLM_MAX_RANK]; /* each is >= 0; in a tensor that was read, those beyond the rank are 1 */

    /* The elements. In a tensor that was read they are aligned for their type. */
    const void *data;

    /* Bytes of `data`. Reading fills it in; writing ignores it, because the shape tells it. */
    size_t size;
    uint64_t reserved[4];
} tvlm_tensor;

typedef struct tvlm_metadata {
    const char *key, *value;
} tvlm_metadata;

typedef struct tvlm_safetensors {
    const tvlm_tensor *tensors; /* in the order of their data in the file; their names are distinct */
    int32_t tensor_count;
    const tvlm_metadata *metadata;
    int32_t metadata_count;
} tvlm_safetensors;

/*
 * Reads all tensors. The caller owns *file, with everything in it, and releases it with
 * tvlm_safetensors_destroy.
 *
 * As the format's own library does, it insists on three things. The tensors fill the data exactly, without gap or
 * overlap. Each has the bytes that its shape says. The header is UTF-8 and has 100 MB at most. The format allows
 * no key twice; a file that has one is refused.
 */
TVLM_API tvlm_status tvlm_safetensors_read(const char *path, const tvlm_log *log, tvlm_safetensors **file);

/* Releases what tvlm_safetensors_read made and sets *file to NULL. NULL and a NULL *file are accepted. */
TVLM_API void tvlm_safetensors_destroy(tvlm_safetensors **file);

/* Returns the tensor of that name, which `file` owns, or NULL where there is none. */
TVLM_API const tvlm_tensor *tvlm_safetensors_find(const tvlm_safetensors *file, const char *name);

/* Returns the value of that key of the metadata, which `file` owns, or NULL where there is none. */
TVLM_API const char *tvlm_safetensors_metadata(const tvlm_safetensors *file, const char *key);

/*
 * Writes `count` tensors and `metadata_count` pairs of metadata. Either number may be 0, and its pointer NULL
 * then. All strings must be UTF-8. The names of the tensors must be distinct, and so must the keys; no tensor
 * is called "__metadata__".
 *
 * The data begin at a multiple of 8 bytes. The format forbids gaps between tensors, so those with wider elements
 * are stored first. That way each tensor is aligned.
 */
TVLM_API tvlm_status tvlm_safetensors_write(const char *path, const tvlm_tensor *tensors, int32_t count,
                                            const tvlm_metadata *metadata, int32_t metadata_count,
                                            const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
