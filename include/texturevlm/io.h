/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h: files. The header of the second library, texturevlm-io, which the first one does not need.
 *
 * Pictures in (JPEG, PNG, BMP, PPM, PGM) and out (PNG), arrays as .npy, tensors as .safetensors.
 *
 * Reading never trusts a file: whatever it holds, the answer is a result or an error, with one line in the
 * log that names the file and what is wrong. Unless said otherwise a function fails with TVLM_ERROR_ARGUMENT
 * a NULL or a value outside the range given here, TVLM_ERROR_IO           the file cannot be opened, read or
 * written (missing, a directory, disk full), TVLM_ERROR_FORMAT       it is not what it should be, or
 * truncated, TVLM_ERROR_UNSUPPORTED  it is well formed, but of a kind that is not read here,
 *   TVLM_ERROR_MEMORY       no memory for it.
 *
 * Writing is atomic: a file of that name appears complete or not at all, and what was there before stays
 * until then. It is written under another name (.tvlm-PID-N.tmp) in the same folder and renamed. What is not
 * an ordinary file (/dev/stdout, a FIFO) is written directly. The target of a symbolic link is replaced, not
 * the link.
 *
 * Functions are safe on any thread; one handle belongs to one thread at a time. `log` may be NULL.
 */
#ifndef TEXTUREVLM_IO_H
#define TEXTUREVLM_IO_H

#include <stddef.h>
#include <stdint.h>

#include "image.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Whole files ---- */

/*
 * Reads all of `path` into new memory; the caller releases it with free(). A zero byte follows the content
 * and is not counted in *size, so text may be used as a string. An empty file is no error: *size is 0, *bytes
 * is not NULL. What is not an ordinary file (a pipe) is read to its end, 1 GiB at most.
 */
TVLM_API tvlm_status tvlm_file_read(const char *path, const tvlm_log *log, void **bytes, size_t *size);

/* Writes `size` bytes as the whole of `path`. `bytes` may be NULL when size is 0. */
TVLM_API tvlm_status tvlm_file_write(const char *path, const void *bytes, size_t size, const tvlm_log *log);

/* ---- Pictures ---- */

/*
 * Decodes JPEG, PNG, BMP, PPM or PGM, told apart by content and not by name, into a new image without row
 * gaps.
 *
 * 8 bits and fewer become TVLM_PIXEL_U8, 16 bits (PNG, PPM, PGM) TVLM_PIXEL_U16. Channels stay as in the
 * file: 1 gray, 2 gray + alpha, 3 RGB, 4 RGBA, nothing composited; palettes become 3 or 4, CMYK JPEG becomes
 * 3 (without its colour profile), PPM and PGM samples are scaled to the full range. The EXIF orientation of
 * JPEG and PNG is applied: rows and columns, width and height are as a viewer shows them.
 *
 * A truncated file is an error. Limits: 2^24 pixels a side, and 2^31 - 1 bytes of pixels. Not supported:
 * 12-bit, arithmetic-coded and lossless JPEG, run-length-coded BMP, PBM, and every other format.
 *
 * The caller owns *image and releases it with tvlm_image_destroy.
 */
TVLM_API tvlm_status tvlm_image_load(const char *path, const tvlm_log *log, tvlm_image **image);

/* Releases what tvlm_image_load made (and no other image) and nulls it; NULL and a NULL *image are accepted.
 */
TVLM_API void tvlm_image_destroy(tvlm_image **image);

/*
 * Writes an 8-bit PNG. pixels: height rows of width * channels bytes without gaps, the first row on top.
 * channels: 1 gray, 2 gray + alpha, 3 RGB, 4 RGBA. Limits: width * channels <= 2^24, and 900 million bytes in
 * all (TVLM_ERROR_ARGUMENT beyond).
 */
TVLM_API tvlm_status tvlm_png_write(const char *path, int32_t width, int32_t height, int32_t channels,
                                    const uint8_t *pixels, const tvlm_log *log);

/* ---- Elements of arrays and tensors ---- */

typedef enum tvlm_element {
    TVLM_ELEMENT_F32 = 0,
    TVLM_ELEMENT_F16,  /* IEEE half, as uint16_t bits */
    TVLM_ELEMENT_BF16, /* the upper half of a float, as uint16_t bits; .safetensors only */
    TVLM_ELEMENT_F64,
    TVLM_ELEMENT_U8,
    TVLM_ELEMENT_I8,
    TVLM_ELEMENT_U16,
    TVLM_ELEMENT_I16,
    TVLM_ELEMENT_U32,
    TVLM_ELEMENT_I32,
    TVLM_ELEMENT_U64,
    TVLM_ELEMENT_I64,
    TVLM_ELEMENT_BOOL /* one byte, 0 or 1 */
} tvlm_element;

/* Bytes of one element; 0 for values outside the enum. */
TVLM_API size_t tvlm_element_size(tvlm_element type);

/* "float32", "bfloat16", "bool", ...; never NULL, "unknown" for values outside the enum. Static storage. */
TVLM_API const char *tvlm_element_name(tvlm_element type);

#define TVLM_MAX_RANK 8 /* dimensions that an array or a tensor may have */

/* ---- .npy: one array (NumPy format 1.0 to 3.0) ---- */

/* An array in row-major order. data: product(shape) elements, aligned for their type; changing them is
 * allowed. */
typedef struct tvlm_npy {
    tvlm_element type;
    int32_t rank;                 /* 0..TVLM_MAX_RANK; 0 is a single element */
    int64_t shape[TVLM_MAX_RANK]; /* each >= 0; 1 beyond the rank */
    void *data;
    size_t size; /* bytes of data */
} tvlm_npy;

/*
 * Reads an array. Refused, each with its own line: column-major (Fortran) order, big-endian or structured
 * elements, complex numbers, strings, more than TVLM_MAX_RANK dimensions, fewer or more bytes than the shape
 * needs. The caller owns *array and releases it with tvlm_npy_destroy.
 */
TVLM_API tvlm_status tvlm_npy_read(const char *path, const tvlm_log *log, tvlm_npy **array);

/* Releases what tvlm_npy_read made and nulls it; NULL and a NULL *array are accepted. */
TVLM_API void tvlm_npy_destroy(tvlm_npy **array);

/*
 * The same in pieces, of a file that may be larger than memory. open: *array says what the file holds, its
 * `data` is NULL; refused is what tvlm_npy_read refuses, and what is no ordinary file. *log is copied, so
 * only its `user` must live as long as the reader. read: the next `count` elements, row-major; ARGUMENT when
 * they are more than are left, and nothing is read then; after any other failure the reader is good for close
 * only. close: releases and nulls *reader, wherever it stands; NULL and a NULL *reader are accepted.
 */
typedef struct tvlm_npy_reader tvlm_npy_reader;
TVLM_API tvlm_status tvlm_npy_reader_open(const char *path, const tvlm_log *log, tvlm_npy *array,
                                          tvlm_npy_reader **reader);
TVLM_API tvlm_status tvlm_npy_reader_read(tvlm_npy_reader *reader, void *data, size_t count);
TVLM_API void tvlm_npy_reader_close(tvlm_npy_reader **reader);

/*
 * Writes an array: rank 0..TVLM_MAX_RANK, each shape[i] >= 0, `data` in row-major order (NULL where the shape
 * holds no element). TVLM_ELEMENT_BF16 is TVLM_ERROR_UNSUPPORTED: NumPy has no such type.
 */
TVLM_API tvlm_status tvlm_npy_write(const char *path, tvlm_element type, int32_t rank, const int64_t *shape,
                                    const void *data, const tvlm_log *log);

/*
 * The same for data that comes in pieces. open; append until the shape is filled; close. *log is copied, so
 * only its `user` must live as long as the writer. append: the next `count` elements; TVLM_ERROR_ARGUMENT
 * when they are more than the shape has left, and nothing is written then. After any other failure the writer
 * is good for close and abort only. close:  makes the file appear; releases and nulls *writer in any case.
 * TVLM_ERROR_ARGUMENT, and no file, when elements are missing; TVLM_ERROR_IO, and no file, when an append has
 * failed. abort:  releases and nulls *writer and leaves no file; NULL and a NULL *writer are accepted.
 */
typedef struct tvlm_npy_writer tvlm_npy_writer;
TVLM_API tvlm_status tvlm_npy_writer_open(const char *path, tvlm_element type, int32_t rank,
                                          const int64_t *shape, const tvlm_log *log,
                                          tvlm_npy_writer **writer);
TVLM_API tvlm_status tvlm_npy_writer_append(tvlm_npy_writer *writer, const void *data, size_t count);
TVLM_API tvlm_status tvlm_npy_writer_close(tvlm_npy_writer **writer);
TVLM_API void tvlm_npy_writer_abort(tvlm_npy_writer **writer);

/* ---- .safetensors: named tensors and a few strings ---- */

/* One tensor, in row-major order; read, `data` is aligned for its type. Strings are UTF-8. */
typedef struct tvlm_tensor {
    const char *name;
    tvlm_element type;
    int32_t rank;                 /* 0..TVLM_MAX_RANK; 0 is a single element */
    int64_t shape[TVLM_MAX_RANK]; /* each >= 0; read: 1 beyond the rank */
    const void *data;
    size_t size; /* bytes of data; read: filled in; write: ignored, the shape says it */
} tvlm_tensor;

typedef struct tvlm_metadata {
    const char *key, *value;
} tvlm_metadata;

typedef struct tvlm_safetensors {
    const tvlm_tensor *tensors; /* in the order of their data in the file; names are distinct */
    int32_t tensor_count;
    const tvlm_metadata *metadata;
    int32_t metadata_count;
} tvlm_safetensors;

/*
 * Reads all tensors. As the format's own library does, it insists that the tensors fill the data exactly,
 * without gap or overlap, that each has the bytes its shape says, and that the header has 100 MB at most. The
 * caller owns *file, with everything in it, and releases it with tvlm_safetensors_destroy.
 */
TVLM_API tvlm_status tvlm_safetensors_read(const char *path, const tvlm_log *log, tvlm_safetensors **file);

/* Releases what tvlm_safetensors_read made and nulls it; NULL and a NULL *file are accepted. */
TVLM_API void tvlm_safetensors_destroy(tvlm_safetensors **file);

/* The tensor of that name, owned by `file`; NULL where there is none. */
TVLM_API const tvlm_tensor *tvlm_safetensors_find(const tvlm_safetensors *file, const char *name);

/* The value of that key, owned by `file`; NULL where there is none. */
TVLM_API const char *tvlm_safetensors_metadata(const tvlm_safetensors *file, const char *key);

/*
 * Writes `count` tensors and `metadata_count` pairs (either may be 0, its pointer NULL then). Names and keys
 * must be distinct and not "__metadata__". Data begin at a multiple of 8 bytes; wider elements are stored
 * first, so that each tensor is aligned without gaps, which the format forbids.
 */
TVLM_API tvlm_status tvlm_safetensors_write(const char *path, const tvlm_tensor *tensors, int32_t count,
                                            const tvlm_metadata *metadata, int32_t metadata_count,
                                            const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
