/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h: files. This is the header of a second library, texturevlm-io; the first one does without it.
 *
 * It reads pictures (JPEG, PNG, BMP, PPM, PGM, and more where their libraries are), arrays (.npy) and named tensors (.safetensors), and it writes
 * PNG, .npy and .safetensors:
 *
 *     tvlm_image *image = NULL;
 *     if (tvlm_image_load("photo.jpg", &log, &image) == TVLM_OK) {
 *         ...
 *         tvlm_image_destroy(&image);
 *     }
 *
 * Reading never trusts a file: whatever it holds, the answer is a result or an error, and an error comes with
 * one line in the log that names the file and what is wrong with it. Unless its comment says otherwise, a
 * function fails with
 *
 *   TVLM_ERROR_ARGUMENT     where an argument is NULL or outside the range that is given here,
 *   TVLM_ERROR_IO           where the file cannot be opened, read or written (missing, a full disk),
 *   TVLM_ERROR_FORMAT       where the file is not what it should be, or is truncated,
 *   TVLM_ERROR_UNSUPPORTED  where the file is well formed, but of a kind that is not read here,
 *   TVLM_ERROR_MEMORY       where there is no memory for it.
 *
 * Writing is atomic: a file appears complete or not at all, and what had its name before stays until then.
 * The file is written under another name (.tvlm-PID-N.tmp) in the same folder and renamed at the end. What is
 * no ordinary file (/dev/stdout, a FIFO) is written directly. Where the path is a symbolic link, the file
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
 * file is no error: *size is 0 then, and *bytes is not NULL. What is no ordinary file (a pipe) is read to its
 * end, but never more than 1 GiB of it.
 */
TVLM_API tvlm_status tvlm_file_read(const char *path, const tvlm_log *log, void **bytes, size_t *size);

/* Writes `size` bytes as the whole content of `path`. `bytes` may be NULL where `size` is 0. */
TVLM_API tvlm_status tvlm_file_write(const char *path, const void *bytes, size_t size, const tvlm_log *log);

/*
 * Files that appear together or not at all. From tvlm_files_begin on, what a thread writes with the functions of this header
 * keeps its temporary name when it is complete. tvlm_files_commit gives all of them their own names; tvlm_files_abort removes
 * them. Either ends it. What is written directly, such as /dev/stdout or a FIFO, takes no part. It is for a few files:
 * of more than 64, tvlm_file_remove_temporaries leaves some behind.
 *
 * A commit in which a name cannot be given returns TVLM_ERROR_IO; those that come after it are removed. TVLM_OK where
 * nothing was begun.
 */
TVLM_API void tvlm_files_begin(void);
TVLM_API tvlm_status tvlm_files_commit(const tvlm_log *log);
TVLM_API void tvlm_files_abort(void);

/*
 * Removes the temporary files of everything that is being written (up to 64 files), for a program that ends before they are
 * complete: it may be called from a signal's handler. What is written on nevertheless fails with TVLM_ERROR_IO in the end.
 */
TVLM_API void tvlm_file_remove_temporaries(void);

/* ---- Pictures ---- */

/*
 * Decodes a picture into a new image without gaps between its rows. The caller owns *image and releases it
 * with tvlm_image_destroy.
 *
 * JPEG, PNG, BMP, PPM and PGM are read, and WebP, HEIF and AVIF where the library was built with what decodes
 * them (tvlm_image_decoder_list). They are told apart by their content and not by their name. Not supported are
 * 12-bit, arithmetic-coded and lossless JPEG, run-length-coded BMP, PBM, and every other format.
 *
 * - Pixels are TVLM_PIXEL_U8 where the file has 8 bits or fewer, and TVLM_PIXEL_U16 where it has more (PNG,
 *   PPM, PGM, HEIF, AVIF). The samples of PPM, PGM, HEIF and AVIF are scaled to the full range.
 * - Channels stay as they are in the file: 1 gray, 2 gray + alpha, 3 RGB, 4 RGBA; nothing is composited. A
 *   palette becomes 3 or 4 channels. A CMYK JPEG becomes 3; so does what is gray in WebP, HEIF and AVIF.
 * - Of an animation it is the first frame, of several pictures in a HEIF the main one.
 * - Colour profiles are not applied: values are taken as if they were sRGB.
 * - The EXIF orientation of JPEG, PNG and WebP is applied, and what HEIF and AVIF say of it, so that rows and
 *   columns, width and height are as a viewer shows them.
 * - The pixels of JPEG and WebP are those of libjpeg-turbo's and libwebp's defaults, which Pillow and OpenCV
 *   have too; those of a JPEG that stb_image decodes differ by a step or two.
 *
 * A truncated file is an error, also where an end marker was put behind what is left of a JPEG. So is one
 * that is larger than the limits, which are
 *
 * - 2^24 pixels a side (JPEG: 65500, WebP: 16384) and 2^31 - 1 bytes of pixels, as they come out,
 * - for PNG, 2^30 samples (pixels times channels; a palette counts as 4); of more compressed data than its size
 *   in pixels needs, libpng inflates no more than the pixels, and for stb_image they are an error,
 * - for HEIF and AVIF, 2^28 pixels,
 * - for JPEG, 100 scans (encoders make about ten); of several scans, as of progressive ones, 2^25 blocks of 8 x 8
 *   samples in all components, also where it is made smaller: their coefficients take 4 GiB.
 */
TVLM_API tvlm_status tvlm_image_load(const char *path, const tvlm_log *log, tvlm_image **image);

/* How a picture is read. All zero: as tvlm_image_load does, and silently. */
struct tvlm_image_load_params {
    /*
     * Not 0: no more than this many pixels of the longer side will be used. The picture may then be made
     * smaller while it is decoded, in its shape, but its longer side no shorter than this: what libjpeg-turbo
     * decodes at a half, a quarter or an eighth of the size costs a fraction of the time and memory. The
     * image's of_width and of_height are the file's size then, turned as the image is, so that positions stay
     * in the file's pixels. The pixels are means over squares of the file's, and not those that another way to
     * shrink it makes. They are the same each time, and on each machine with the same library.
     */
    int32_t max_side;
    const tvlm_log *log; /* NULL: silence */

    /*
     * Not 0: no more than so many bytes are taken at a time: for the file's content, for the pixels, and for what the
     * decoder keeps besides (tvlm_image_measure). A picture that would take more is TVLM_ERROR_MEMORY, before its pixels
     * have memory. Several threads share a limit by measuring first: each waits until its picture has room.
     */
    uint64_t memory;
    uint64_t reserved[3];
};
#define tvlm_image_load_params(...) TVLM_PARAMS(tvlm_image_load_params, __VA_ARGS__)

/* As tvlm_image_load. `params` NULL: all zero. A negative max_side is TVLM_ERROR_ARGUMENT. */
TVLM_API tvlm_status tvlm_image_load_for(const char *path, const struct tvlm_image_load_params *params,
                                         tvlm_image **image);

/*
 * As tvlm_image_load_for, of a file's content that is in memory already; `name` is what lines in the log call it. The limit
 * `memory` does not count these bytes, which stay the caller's and are not used behind the call.
 */
TVLM_API tvlm_status tvlm_image_load_bytes(const void *bytes, size_t size, const char *name,
                                           const struct tvlm_image_load_params *params, tvlm_image **image);

/* What a picture's first bytes say of it. */
typedef struct tvlm_image_info {
    int32_t width, height; /* as it is stored, before it is made smaller or upright */

    /*
     * The most bytes of memory that decoding it takes at a time beside those of its file: the pixels that come out, and what
     * the decoder keeps meanwhile. A bound, not a measurement: what HEIF's and AVIF's codecs take is estimated.
     */
    uint64_t memory;
    const char *format; /* such as "JPEG"; in static storage */
    uint64_t reserved[4];
} tvlm_image_info;

/*
 * Looks at a picture without decoding it. `bytes` are the first `size` of its file, or with `whole` all of them; 64 KiB are
 * enough for most files of JPEG, PNG, BMP, PPM, PGM and WebP. HEIF and AVIF need all. Where they do not tell, only `format` is
 * set in *info, and the rest is 0: hand in more of them, or, where these are all, load it, and a line says what is wrong.
 * `params` as for loading it.
 *
 * TVLM_ERROR_FORMAT and TVLM_ERROR_UNSUPPORTED, as from loading, where it is no picture, or of a kind that is not read.
 */
TVLM_API tvlm_status tvlm_image_measure(const void *bytes, size_t size, bool whole, const char *name,
                                        const struct tvlm_image_load_params *params, tvlm_image_info *info);

/* A format of pictures, and what reads it. The strings are static. */
typedef struct tvlm_image_decoder {
    const char *format; /* such as "JPEG" */
    const char
        *library; /* with its version, such as "libjpeg-turbo 2.1.5"; NULL: this build does not read it */
    uint64_t reserved[4];
} tvlm_image_decoder;

/*
 * What reads pictures here, which the build chose: fills up to `capacity` entries and sets *count to how many
 * there are. `decoders` may be NULL when capacity is 0.
 */
TVLM_API tvlm_status tvlm_image_decoder_list(int32_t capacity, tvlm_image_decoder *decoders, int32_t *count);

/*
 * Releases what tvlm_image_load, tvlm_image_load_for or tvlm_image_load_bytes made, and no other image, and sets *image to NULL. NULL and a NULL *image are
 * accepted.
 */
TVLM_API void tvlm_image_destroy(tvlm_image **image);

/*
 * Writes an 8-bit PNG.
 *
 * `pixels` are `height` rows of width * channels bytes, without gaps, the first row on top. `channels` is 1
 * (gray), 2 (gray + alpha), 3 (RGB) or 4 (RGBA). width * channels is 2^24 at most, and all rows together,
 * with one byte more for each, have 900 million bytes at most; beyond that it is TVLM_ERROR_ARGUMENT.
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
 * Opens a file and fills *array with what it holds; `data` is NULL in it. What tvlm_npy_read refuses is
 * refused here too, and so is what is no ordinary file. *log is copied, so that only its `user` must live as
 * long as the reader.
 */
TVLM_API tvlm_status tvlm_npy_reader_open(const char *path, const tvlm_log *log, tvlm_npy *array,
                                          tvlm_npy_reader **reader);

/*
 * Reads the next `count` elements, in row-major order. Where fewer are left it is TVLM_ERROR_ARGUMENT, and
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

/* Writes an array piece by piece: open, append until the shape is filled,
 * finish, destroy. */
typedef struct tvlm_npy_writer tvlm_npy_writer;

/*
 * Begins an array. The arguments are those of tvlm_npy_write. *log is copied, so that only its `user` must
 * live as long as the writer.
 */
TVLM_API tvlm_status tvlm_npy_writer_open(const char *path, tvlm_element type, int32_t rank,
                                          const int64_t *shape, const tvlm_log *log,
                                          tvlm_npy_writer **writer);

/*
 * Writes the next `count` elements. Where they are more than the shape has left it is TVLM_ERROR_ARGUMENT,
 * and nothing is written. After any other failure the writer can only be destroyed.
 */
TVLM_API tvlm_status tvlm_npy_writer_append(tvlm_npy_writer *writer, const void *data, size_t count);

/*
 * Makes the file appear. Where elements are missing it is TVLM_ERROR_ARGUMENT, and more may be appended;
 * where an append has failed it is TVLM_ERROR_IO, and no file appears. What remains to be done is
 * tvlm_npy_writer_destroy, whatever this returns.
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
 * As the format's own library does, it insists that the tensors fill the data exactly, without gap or
 * overlap, that each has the bytes that its shape says, and that the header is UTF-8 and has 100 MB at most.
 * The format allows no key twice; a file that has one is refused.
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
 * The data begin at a multiple of 8 bytes. The format forbids gaps, so tensors of wider elements are stored
 * first: each is aligned then.
 */
TVLM_API tvlm_status tvlm_safetensors_write(const char *path, const tvlm_tensor *tensors, int32_t count,
                                            const tvlm_metadata *metadata, int32_t metadata_count,
                                            const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
