/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack.h"

#ifdef TVLM_WITH_ARCHIVE
#include <bzlib.h>
#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "platform/file.h"

enum { PIECE = 1 << 16, MAGIC_MAX = 6 };

/* The result of one step of a format's library. */
typedef enum step { STEP_MORE, STEP_END, STEP_FAILED } step;

/* A format. Its data are one or several streams, one after the other. */
typedef struct format {
    const char *name, *magic;
    bool (*open)(unpack *stream, uint64_t memory); /* called at the beginning of each stream */
    step (*step)(unpack *stream);                  /* from the rest of `in` to the rest of `out` */
    uint64_t (*memory)(const unpack *stream);      /* how many bytes it takes now; NULL: `takes` */
    void (*close)(unpack *stream);
    uint64_t takes;
} format;

struct unpack {
    int file;
    const format *format; /* NULL: it is not compressed */
    bool opened;          /* the format's library was opened */
    bool whole;           /* no stream has begun that still has to end */
    bool ended;           /* the end of the file was reached */
    bool failed;
    bool ignored; /* bytes that are no stream followed the last stream */
    uint64_t memory;
    int64_t size; /* the size of an ordinary file; -1: another kind of file */
    uint8_t *in, *out;
    size_t in_at, in_size, out_size;
    int64_t count, zeros;
    union {
        z_stream gzip;
        bz_stream bzip2;
        lzma_stream xz;
        ZSTD_DStream *zstd;
    } with;
    char error[200];
};

static step fail(unpack *stream, const char *why) {
    if (stream->error[0] == '\0') snprintf(stream->error, sizeof stream->error, "%s", why);
    stream->failed = true;
    return STEP_FAILED;
}

static step fail_memory(unpack *stream) {
    char why[120];
    snprintf(why, sizeof why, "takes more than %llu bytes of memory to unpack, a quarter of --memory",
             (unsigned long long)stream->memory);
    return fail(stream, why);
}

/* ---- The formats ---- */

static bool open_gzip(unpack *stream, uint64_t memory) {
    enum { gzip_alone = 16 };
    (void)memory;
    stream->with.gzip = (z_stream){0};
    return inflateInit2(&stream->with.gzip, gzip_alone + MAX_WBITS) == Z_OK;
}

static step step_gzip(unpack *stream) {
    z_stream *const z = &stream->with.gzip;
    z->next_in = stream->in + stream->in_at;
    z->avail_in = (uInt)(stream->in_size - stream->in_at);
    z->next_out = stream->out + stream->out_size;
    z->avail_out = (uInt)(PIECE - stream->out_size);
    const int code = inflate(z, Z_NO_FLUSH);
    stream->in_at = stream->in_size - z->avail_in;
    stream->out_size = PIECE - z->avail_out;
    if (code == Z_STREAM_END) return STEP_END;
    if (code == Z_OK || code == Z_BUF_ERROR) return STEP_MORE;
    return fail(stream, z->msg != NULL ? z->msg : "its data cannot be unpacked");
}

static void close_gzip(unpack *stream) {
    (void)inflateEnd(&stream->with.gzip);
}

static bool open_bzip2(unpack *stream, uint64_t memory) {
    (void)memory;
    stream->with.bzip2 = (bz_stream){0};
    return BZ2_bzDecompressInit(&stream->with.bzip2, 0, 0) == BZ_OK;
}

static step step_bzip2(unpack *stream) {
    bz_stream *const b = &stream->with.bzip2;
    b->next_in = (char *)stream->in + stream->in_at;
    b->avail_in = (unsigned)(stream->in_size - stream->in_at);
    b->next_out = (char *)stream->out + stream->out_size;
    b->avail_out = (unsigned)(PIECE - stream->out_size);
    const int code = BZ2_bzDecompress(b);
    stream->in_at = stream->in_size - b->avail_in;
    stream->out_size = PIECE - b->avail_out;
    if (code == BZ_STREAM_END) return STEP_END;
    return code == BZ_OK ? STEP_MORE
                         : fail(stream, "its data cannot be unpacked, or their checksum is wrong");
}

static void close_bzip2(unpack *stream) {
    (void)BZ2_bzDecompressEnd(&stream->with.bzip2);
}

static bool open_xz(unpack *stream, uint64_t memory) {
    stream->with.xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&stream->with.xz, memory, LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK;
}

static step step_xz(unpack *stream) {
    lzma_stream *const x = &stream->with.xz;
    x->next_in = stream->in + stream->in_at;
    x->avail_in = stream->in_size - stream->in_at;
    x->next_out = stream->out + stream->out_size;
    x->avail_out = PIECE - stream->out_size;
    const lzma_ret code = lzma_code(x, LZMA_RUN);
    stream->in_at = stream->in_size - x->avail_in;
    stream->out_size = PIECE - x->avail_out;
    switch (code) {
    case LZMA_STREAM_END: return STEP_END;
    case LZMA_OK:
    case LZMA_BUF_ERROR:
    case LZMA_UNSUPPORTED_CHECK: return STEP_MORE; /* unchecked data are read, too, as by xz */
    case LZMA_MEMLIMIT_ERROR: return fail_memory(stream);
    case LZMA_MEM_ERROR: return fail(stream, "no memory to unpack it");
    case LZMA_OPTIONS_ERROR: return fail(stream, "it is compressed in a way that liblzma does not know");
    default: return fail(stream, "its data cannot be unpacked, or their checksum is wrong");
    }
}

static void close_xz(unpack *stream) {
    lzma_end(&stream->with.xz);
}

/* Opens zstd with the largest window, a power of two, that leaves room for the rest of its memory. */
static bool open_zstd(unpack *stream, uint64_t memory) {
    int window = 10;
    while (window < 30 && (uint64_t)1 << (window + 1) <= memory / 2) ++window;
    stream->with.zstd = ZSTD_createDStream();
    return stream->with.zstd != NULL &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(stream->with.zstd, ZSTD_d_windowLogMax, window));
}

static step step_zstd(unpack *stream) {
    ZSTD_inBuffer in = {stream->in, stream->in_size, stream->in_at};
    ZSTD_outBuffer out = {stream->out, PIECE, stream->out_size};
    const size_t code = ZSTD_decompressStream(stream->with.zstd, &out, &in);
    stream->in_at = in.pos;
    stream->out_size = out.pos;
    if (code == 0) return STEP_END;
    if (!ZSTD_isError(code)) return STEP_MORE;
    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) return fail_memory(stream);
    return fail(stream, ZSTD_getErrorName(code));
}

static void close_zstd(unpack *stream) {
    (void)ZSTD_freeDStream(stream->with.zstd);
}

static uint64_t memory_xz(const unpack *stream) {
    return lzma_memusage(&stream->with.xz);
}

static uint64_t memory_zstd(const unpack *stream) {
    return ZSTD_sizeof_DStream(stream->with.zstd);
}

static const format formats[] = {
    {"gzip", "\x1f\x8b", open_gzip, step_gzip, NULL, close_gzip, 1 << 16},
    {"bzip2", "BZh", open_bzip2, step_bzip2, NULL, close_bzip2, 1 << 22},
    {"xz",
     "\xfd"
     "7zXZ",
     open_xz, step_xz, memory_xz, close_xz, 0},
    {"zstd", "\x28\xb5\x2f\xfd", open_zstd, step_zstd, memory_zstd, close_zstd, 0},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* ---- The file ---- */

/* Fills `in`, after the bytes that are left in it, as far as the file goes. */
static bool fill(unpack *stream, size_t wanted) {
    const size_t left = stream->in_size - stream->in_at;
    if (stream->in_at > 0) memmove(stream->in, stream->in + stream->in_at, left);
    stream->in_at = 0;
    stream->in_size = left;
    while (!stream->ended && stream->in_size < wanted) {
        const int64_t count =
            tvlm_file_some(stream->file, stream->in + stream->in_size, PIECE - stream->in_size);
        if (count < 0) (void)fail(stream, strerror(errno));
        if (count < 0) return false;
        stream->ended = count == 0;
        stream->in_size += (size_t)count;
    }
    return true;
}

/* Whether the next bytes begin as data of this format do. */
static bool begins(unpack *stream, const format *as) {
    const size_t length = strlen(as->magic);
    if (stream->in_size - stream->in_at < MAGIC_MAX && !fill(stream, MAGIC_MAX)) return false;
    return stream->in_size - stream->in_at >= length &&
           memcmp(stream->in + stream->in_at, as->magic, length) == 0;
}

static bool open_format(unpack *stream) {
    if (stream->opened) stream->format->close(stream);
    stream->opened = stream->format->open(stream, stream->memory);
    stream->whole = false;
    if (!stream->opened) stream->format->close(stream);
    if (!stream->opened) (void)fail(stream, "no memory to unpack it");
    return stream->opened;
}

unpack *unpack_open(const char *path, uint64_t memory, char *error, size_t error_size) {
    unpack *made = calloc(1, sizeof *made);
    tvlm_file_facts facts;
    if (made != NULL) *made = (unpack){.file = -1, .whole = true, .memory = memory, .size = -1};
    if (made != NULL) made->in = malloc(PIECE);
    if (made != NULL) made->out = malloc(PIECE);
    if (made == NULL || made->in == NULL || made->out == NULL) {
        unpack_close(&made);
        snprintf(error, error_size, "no memory for an archive");
        return NULL;
    }
    made->file = tvlm_file_open(path, true);
    if (made->file >= 0 && tvlm_file_facts_of(made->file, &facts) && facts.ordinary)
        made->size = (int64_t)facts.size;
    bool good = made->file >= 0 || fail(made, strerror(errno)) != STEP_FAILED;
    for (size_t i = 0; good && i < FORMATS && made->format == NULL; ++i)
        if (begins(made, &formats[i])) made->format = &formats[i];
    good = good && !made->failed && (made->format == NULL || open_format(made));
    if (good) return made;
    snprintf(error, error_size, "%s", made->error);
    unpack_close(&made);
    return NULL;
}

void unpack_close(unpack **stream) {
    if (*stream == NULL) return;
    if ((*stream)->opened) (*stream)->format->close(*stream);
    if ((*stream)->file >= 0) (void)tvlm_file_close((*stream)->file);
    free((*stream)->in);
    free((*stream)->out);
    free(*stream);
    *stream = NULL;
}

/* ---- Reading ---- */

/* Goes on after the end of a stream. After that end, and any zeros, another stream may begin. If anything
 * else follows, it is not a part of the data, and is ignored. The formats' own programs do the same. */
static bool go_on(unpack *stream) {
    stream->whole = true;
    while (stream->in_at < stream->in_size || (fill(stream, 1) && !stream->ended)) {
        if (stream->in[stream->in_at] != 0) break;
        ++stream->in_at;
    }
    if (!begins(stream, stream->format)) {
        stream->ignored = stream->in_at < stream->in_size;
        stream->in_at = stream->in_size;
        stream->ended = true;
        return !stream->failed;
    }
    return open_format(stream);
}

/* Unpacks until there are some bytes, or until no more will come. */
static void unpack_some(unpack *stream) {
    stream->out_size = 0;
    while (!stream->failed && stream->out_size == 0) {
        if (stream->in_at == stream->in_size && !fill(stream, 1)) return;
        const bool more = stream->in_at < stream->in_size;
        if (!more && stream->whole) return;
        const size_t before = stream->in_at;
        const step now = stream->format->step(stream);
        if (now == STEP_END && !go_on(stream)) return;
        if (now == STEP_MORE && stream->out_size == 0 && stream->ended && stream->in_at == before &&
            stream->in_at == stream->in_size) {
            char why[64];
            snprintf(why, sizeof why, "it is cut off: its %s data have no end", stream->format->name);
            (void)fail(stream, why);
        }
    }
}

static void count_zeros(unpack *stream, const uint8_t *bytes, size_t size) {
    size_t zeros = 0;
    while (zeros < size && bytes[size - 1 - zeros] == 0) ++zeros;
    stream->zeros = (int64_t)zeros + (zeros == size ? stream->zeros : 0);
    stream->count += (int64_t)size;
}

int64_t unpack_read(unpack *stream, const void **bytes) {
    size_t size;
    if (stream->format == NULL) {
        if (stream->in_at == stream->in_size && !stream->failed) (void)fill(stream, 1);
        *bytes = stream->in + stream->in_at;
        size = stream->in_size - stream->in_at;
        stream->in_at = stream->in_size;
    } else {
        unpack_some(stream);
        *bytes = stream->out;
        size = stream->out_size;
    }
    if (size == 0) return stream->failed ? -1 : 0;
    count_zeros(stream, *bytes, size);
    return (int64_t)size;
}

const char *unpack_error(const unpack *stream) {
    return stream->error;
}

int64_t unpack_skip(unpack *stream, int64_t count) {
    if (stream->format != NULL || stream->size < 0 || stream->in_at < stream->in_size) return 0;
    const int64_t left = stream->size - stream->count, skipped = count < left ? count : left;
    if (skipped <= 0 || !tvlm_file_seek(stream->file, (uint64_t)(stream->count + skipped))) return 0;
    stream->count += skipped;
    stream->zeros = 0;
    return skipped;
}

uint64_t unpack_memory(const unpack *stream) {
    if (!stream->opened) return 0;
    return stream->format->memory != NULL ? stream->format->memory(stream) : stream->format->takes;
}

int64_t unpack_count(const unpack *stream) {
    return stream->count;
}

int64_t unpack_zeros(const unpack *stream) {
    return stream->zeros;
}

const char *unpack_ignored(const unpack *stream) {
    return stream->ignored ? stream->format->name : NULL;
}
#endif
