/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch_archive.h"
#include "platform/file.h"
#include "texturevlm/io.h"

/* How many bytes are read to learn about a picture. Most headers are shorter. */
enum { HEAD_BYTES = 1 << 16 };

/* A file or member with more bytes than this is not a picture. */
#define BYTES_MAX ((uint64_t)INT32_MAX - 64)

void batch_image_release(batch_image *image) {
    batch_input_release(&image->input);
    tvlm_image_destroy(&image->image);
    free(image->bytes);
    image->bytes = NULL;
    if (image->room != NULL) batch_room_give(image->room, &image->held, 0);
}

/* ---- Lines ---- */

typedef struct image_log {
    batch_image *image;
    const tvlm_log *log;
} image_log;

static void write_line(void *user, tvlm_log_level level, const char *message) {
    const image_log *const own = user;
    if (level != TVLM_LOG_ERROR)
        tvlm_log_message(own->log, level, "%s", message);
    else if (own->image->error[0] == '\0')
        snprintf(own->image->error, sizeof own->image->error, "%s", message);
}

/* Notes an error. Only the first one is kept. */
static bool fail(batch_image *one, tvlm_status status, const char *line) {
    if (one->status == TVLM_OK) one->status = status;
    if (one->error[0] == '\0') snprintf(one->error, sizeof one->error, "%s", line);
    return false;
}

static bool fail_system(batch_image *one, const char *action) {
    char line[sizeof one->error];
    const int cause = errno;
    snprintf(line, sizeof line, "%s %.800s: %s", action, one->input.name, strerror(cause));
    return fail(one, TVLM_ERROR_IO, line);
}

static bool fail_room(const batch_load *load, batch_image *one, uint64_t bytes) {
    char line[sizeof one->error];
    snprintf(line, sizeof line,
             "takes %.1f MiB of memory to read and decode, and --memory allows %.1f MiB for all",
             (double)bytes / (1 << 20), (double)batch_room_limit(load->room) / (1 << 20));
    return fail(one, TVLM_ERROR_MEMORY, line);
}

/* ---- Reading ---- */

/* The source that an image is read from. */
typedef struct source {
    batch_archive *archive; /* the archive, which stands at the member; NULL: it is a file */
    int file;
    int64_t size; /* -1: it is not known before the end */
} source;

static bool open_source(batch_image *one, source *from) {
    tvlm_file_facts facts;
    *from = (source){one->input.archive, -1, -1};
    if (from->archive != NULL) {
        from->size = batch_archive_size(from->archive);
        return true;
    }
    from->file = tvlm_file_open(one->input.name, true);
    if (from->file < 0) return fail_system(one, "cannot open");
    if (tvlm_file_facts_of(from->file, &facts) && facts.ordinary) from->size = (int64_t)facts.size;
    return true;
}

/* Reads `wanted` bytes and appends them to those that are there. It reads fewer if the file ends. */
static bool read_more(batch_image *one, const source *from, size_t wanted) {
    char *const at = (char *)one->bytes + one->size;
    if (from->archive != NULL) {
        char error[sizeof one->input.error];
        if (!batch_archive_read(from->archive, at, wanted, error, sizeof error)) {
            one->input.damaged = batch_archive_broken(from->archive);
            return fail(one, TVLM_ERROR_IO, error);
        }
        one->size += wanted;
        return true;
    }
    const int64_t count = tvlm_file_get(from->file, at, wanted);
    if (count < 0) return fail_system(one, "cannot read");
    one->size += (size_t)count;
    return true;
}

static bool resize(batch_image *one, size_t size) {
    void *const larger = realloc(one->bytes, size);
    if (larger == NULL) return fail(one, TVLM_ERROR_MEMORY, "no memory to read it");
    one->bytes = larger;
    return true;
}

/* Finds the size of the image, and the memory that it will take, from the bytes that were read. */
static bool measure(const batch_load *load, batch_image *one, bool whole, tvlm_image_info *info) {
    image_log own = {one, load->log};
    const tvlm_log log = {write_line, &own};
    *info = (tvlm_image_info){0};
    const tvlm_status status =
        tvlm_image_measure(one->bytes, one->size, whole, one->input.name,
                           tvlm_image_load_params(.max_side = load->max_side, .log = &log), info);
    return status == TVLM_OK || fail(one, status, "");
}

static bool take(const batch_load *load, batch_image *one, uint64_t bytes) {
    return batch_room_take(load->room, &one->held, bytes) || fail_room(load, one, one->held + bytes);
}

/* Reads all of a source whose length is not known. Each piece is as long as all pieces before it together. */
static bool read_stream(const batch_load *load, batch_image *one, const source *from) {
    for (;;) {
        const size_t before = one->size;
        if (before > BYTES_MAX / 2)
            return fail(one, TVLM_ERROR_UNSUPPORTED, "has too many bytes for a picture");
        if (!take(load, one, before) || !resize(one, 2 * before) || !read_more(one, from, before))
            return false;
        if (one->size < 2 * before) return true;
    }
}

/* Reads the rest of the source. Room for it was taken before. */
static bool read_rest(batch_image *one, const source *from) {
    const size_t size = (size_t)from->size, head = one->size;
    return size <= head || (resize(one, size) && read_more(one, from, size - head));
}

/* In the image's turn: finds room for the file and its pixels. Reads the file already here if that cannot
 * wait until after the turn; *read says whether it did. */
static bool find_room(const batch_load *load, batch_image *one, const source *from, bool *read) {
    tvlm_image_info info;
    const bool sized = from->size >= 0;
    const uint64_t size = sized ? (uint64_t)from->size : one->size;
    const uint64_t unpacking = from->archive != NULL ? batch_archive_memory(from->archive) : 0;
    bool whole = sized ? one->size >= size : one->size < HEAD_BYTES;
    *read = from->archive != NULL;
    if (!batch_room_unpack(load->room, unpacking)) return fail_room(load, one, unpacking + size);
    if (!measure(load, one, whole, &info)) return false;
    if (sized && info.memory > 0)
        return take(load, one, size + info.memory) && (from->archive == NULL || read_rest(one, from));
    *read = true;
    if (!take(load, one, size)) return false;
    if (!(sized ? read_rest(one, from) : whole || read_stream(load, one, from))) return false;
    return measure(load, one, true, &info) && take(load, one, info.memory);
}

static bool read_head(batch_image *one, const source *from) {
    const size_t size = from->size >= 0 && from->size < HEAD_BYTES ? (size_t)from->size : HEAD_BYTES;
    if (from->size > (int64_t)BYTES_MAX)
        return fail(one, TVLM_ERROR_UNSUPPORTED, "has too many bytes for a picture");
    return resize(one, size + 1) && read_more(one, from, size);
}

void batch_load_read(const batch_load *load, int64_t number, batch_image *one) {
    source from = {NULL, -1, -1};
    bool read = false, good = one->input.error[0] == '\0' || fail(one, TVLM_ERROR_IO, one->input.error);
    one->room = load->room;
    good = good && open_source(one, &from) && read_head(one, &from);
    batch_room_turn(load->room, number);
    good = good && find_room(load, one, &from, &read);
    batch_room_pass(load->room);
    if (good && !read) (void)read_rest(one, &from);
    if (from.file >= 0) (void)tvlm_file_close(from.file);
    one->input.archive = NULL; /* the archive goes on to the next member */
}

/* ---- Decoding ---- */

static uint64_t pixel_bytes(const tvlm_image *image) {
    const uint64_t value = image->type == TVLM_PIXEL_U16 ? 2 : 1;
    return (uint64_t)image->width * (uint64_t)image->height * (uint64_t)image->channels * value;
}

void batch_load_decode(const batch_load *load, batch_image *one) {
    image_log own = {one, load->log};
    const tvlm_log log = {write_line, &own};
    if (one->status == TVLM_OK) {
        const uint64_t memory = one->held > one->size ? one->held - one->size : 1;
        one->status = tvlm_image_load_bytes(
            one->bytes, one->size, one->input.name,
            tvlm_image_load_params(.max_side = load->max_side, .log = &log, .memory = memory), &one->image);
    }
    free(one->bytes);
    one->bytes = NULL;
    batch_room_give(load->room, &one->held, one->image != NULL ? pixel_bytes(one->image) : 0);
}
