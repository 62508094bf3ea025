/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c: compiled programs on disk, and what was tuned (tuning_file.c).
 *
 *   - The name of a file is the SHA-256 of everything that its content depends on.
 *   - A file is written under a temporary name and then renamed, so that a reader never sees half of one.
 *   - It begins with a hash of its name and its content, so that a damaged file is not used, nor one that was
 *     given another name.
 *   - Only regular files are read that belong to the user, that nobody else may write, and that are not
 *     larger than any program. A pipe would never end, and a sparse file would fill the memory.
 *
 * This does not protect from people who can write as the user, since they need no cache to do harm. Whatever
 * goes wrong here, the program is built from source, and nothing is logged.
 */
#include <sha2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"
#include "platform/file.h"
#include "platform/signals.h"

/* Change this when the meaning of the files changes. */
#define CACHE_VERSION "texturevlm 2"
#define DIGEST_BYTES  SHA256_DIGEST_LENGTH
#define PROGRAM_MAX   ((size_t)64 << 20)

static void hash_text(SHA2_CTX *hash, const char *text) {
    /* The terminator is hashed too, so that two texts never run into each other. */
    SHA256Update(hash, (const uint8_t *)text, strlen(text) + 1);
}

tvlm_status tvlm_opencl_cache_key(const opencl_device *device, const char *source, const char *options,
                                  char key[65]) {
    const tvlm_device_info *info = &device->base.info;
    uint8_t digest[DIGEST_BYTES];
    SHA2_CTX hash;
    SHA256Init(&hash);
    hash_text(&hash, CACHE_VERSION);
    hash_text(&hash, info->platform);
    hash_text(&hash, info->name);
    hash_text(&hash, info->driver);
    hash_text(&hash, info->version);
    hash_text(&hash, options);
    hash_text(&hash, source);
    SHA256Final(digest, &hash);
    for (int i = 0; i < DIGEST_BYTES; ++i) snprintf(key + 2 * i, 3, "%02x", digest[i]);
    return TVLM_OK;
}

bool tvlm_opencl_cache_path(const char *folder, const char *key, const char *suffix, char *path,
                            size_t size) {
    if (folder == NULL) return false;
    const int length = snprintf(path, size, "%s/%s%s", folder, key, suffix);
    return length > 0 && (size_t)length < size;
}

static void digest_of(const char *key, const unsigned char *bytes, size_t size,
                      uint8_t digest[DIGEST_BYTES]) {
    SHA2_CTX hash;
    SHA256Init(&hash);
    hash_text(&hash, key);
    SHA256Update(&hash, bytes, size);
    SHA256Final(digest, &hash);
}

static bool is_trusted(const tvlm_file_facts *facts) {
    return facts->ordinary && facts->own && facts->size > DIGEST_BYTES &&
           facts->size <= DIGEST_BYTES + PROGRAM_MAX;
}

/* Opens a file if is_trusted allows it, and does not wait for whoever may be at the other end of a pipe.
 * Otherwise returns -1. */
static int open_trusted(const char *path, size_t *size) {
    tvlm_file_facts facts;
    const int file = tvlm_file_open(path, false);
    if (file < 0) return -1;
    if (!tvlm_file_facts_of(file, &facts) || !is_trusted(&facts)) {
        (void)tvlm_file_close(file);
        return -1;
    }
    *size = (size_t)facts.size;
    return file;
}

static bool get_all(int file, void *bytes, size_t size) {
    return tvlm_file_get(file, bytes, size) == (int64_t)size;
}

tvlm_status tvlm_opencl_cache_read(const char *folder, const char *key, const char *suffix,
                                   unsigned char **binary, size_t *size) {
    char path[4096];
    size_t file_size = 0;
    uint8_t stored[DIGEST_BYTES], digest[DIGEST_BYTES];
    if (!tvlm_opencl_cache_path(folder, key, suffix, path, sizeof path)) return TVLM_ERROR_IO;
    const int file = open_trusted(path, &file_size);
    if (file < 0) return tvlm_path_exists(path) ? TVLM_ERROR_FORMAT : TVLM_ERROR_IO;
    *size = file_size - DIGEST_BYTES;
    unsigned char *bytes = tvlm_allocate(*size, 1);
    if (bytes == NULL) {
        (void)tvlm_file_close(file);
        return TVLM_ERROR_MEMORY;
    }
    bool good = get_all(file, stored, DIGEST_BYTES) && get_all(file, bytes, *size);
    (void)tvlm_file_close(file);
    if (good) {
        digest_of(key, bytes, *size, digest);
        good = memcmp(stored, digest, DIGEST_BYTES) == 0;
    }
    if (!good) {
        free(bytes);
        return TVLM_ERROR_FORMAT;
    }
    *binary = bytes;
    return TVLM_OK;
}

tvlm_status tvlm_opencl_cache_load(const opencl_device *device, const char *key, unsigned char **binary,
                                   size_t *size) {
    if (device->cache_distrusted) return TVLM_ERROR_IO;
    return tvlm_opencl_cache_read(device->cache_dir, key, ".bin", binary, size);
}

/* Makes a folder and those above it, as mkdir -p does. Errors show when the file is opened. */
static void make_folders(char *path) {
    for (char *at = path + 1; *at != '\0'; ++at)
        if (*at == '/') {
            *at = '\0';
            (void)tvlm_folder_make(path, true);
            *at = '/';
        }
    (void)tvlm_folder_make(path, true);
}

/* Writes to a new file that nobody else may read or write. */
static void write_file(const char *path, const char *temporary, const uint8_t digest[DIGEST_BYTES],
                       const unsigned char *binary, size_t size) {
    const int file = tvlm_file_make(temporary, true);
    if (file < 0) return;
    bool good = tvlm_file_put(file, digest, DIGEST_BYTES) && tvlm_file_put(file, binary, size);
    good = tvlm_file_close(file) && good;
    if (!good || !tvlm_path_rename(temporary, path)) (void)tvlm_path_remove(temporary);
}

void tvlm_opencl_cache_write(const char *folder, const char *key, const char *suffix,
                             const unsigned char *binary, size_t size) {
    /* Another thread or process may be writing the same program. */
    static atomic_uint written;
    char path[4096], temporary[4096], made[4096], unique[64];
    uint8_t digest[DIGEST_BYTES];
    snprintf(unique, sizeof unique, ".%ld-%u", tvlm_process_number(), atomic_fetch_add(&written, 1));
    if (size > PROGRAM_MAX || !tvlm_opencl_cache_path(folder, key, suffix, path, sizeof path) ||
        !tvlm_opencl_cache_path(folder, key, unique, temporary, sizeof temporary))
        return;
    snprintf(made, sizeof made, "%s", folder);
    make_folders(made);
    digest_of(key, binary, size, digest);
    /* A program that is interrupted meanwhile ends a moment later, and leaves no temporary file. */
    tvlm_signals before;
    tvlm_signals_hold(&before);
    write_file(path, temporary, digest, binary, size);
    tvlm_signals_release(&before);
}

void tvlm_opencl_cache_store(const opencl_device *device, const char *key, const unsigned char *binary,
                             size_t size) {
    tvlm_opencl_cache_write(device->cache_dir, key, ".bin", binary, size);
}
