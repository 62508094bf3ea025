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
#include <fcntl.h>
#include <pthread.h>
#include <sha2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opencl/backend.h"

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

static bool is_trusted(const struct stat *about) {
    return S_ISREG(about->st_mode) && about->st_uid == geteuid() &&
           (about->st_mode & (S_IWGRP | S_IWOTH)) == 0 && about->st_size > DIGEST_BYTES &&
           (uint64_t)about->st_size <= DIGEST_BYTES + PROGRAM_MAX;
}

/* Opens a file if is_trusted allows it, and does not wait for whoever may be at the other end of a pipe.
 * Otherwise returns NULL. */
static FILE *open_trusted(const char *path, size_t *size) {
    struct stat about;
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return NULL;
    FILE *stream = fstat(file, &about) == 0 && is_trusted(&about) ? fdopen(file, "rb") : NULL;
    if (stream == NULL)
        close(file);
    else
        *size = (size_t)about.st_size;
    return stream;
}

tvlm_status tvlm_opencl_cache_read(const char *folder, const char *key, const char *suffix,
                                   unsigned char **binary, size_t *size) {
    char path[4096];
    size_t file_size = 0;
    uint8_t stored[DIGEST_BYTES], digest[DIGEST_BYTES];
    struct stat about;
    if (!tvlm_opencl_cache_path(folder, key, suffix, path, sizeof path)) return TVLM_ERROR_IO;
    FILE *stream = open_trusted(path, &file_size);
    if (stream == NULL) return lstat(path, &about) == 0 ? TVLM_ERROR_FORMAT : TVLM_ERROR_IO;
    *size = file_size - DIGEST_BYTES;
    unsigned char *bytes = tvlm_allocate(*size, 1);
    if (bytes == NULL) {
        fclose(stream);
        return TVLM_ERROR_MEMORY;
    }
    bool good =
        fread(stored, 1, DIGEST_BYTES, stream) == DIGEST_BYTES && fread(bytes, 1, *size, stream) == *size;
    fclose(stream);
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
            mkdir(path, 0700);
            *at = '/';
        }
    mkdir(path, 0700);
}

/* Writes to a new file that nobody else may read or write. Its name is `temporary` with the XXXXXX replaced,
 * since another thread may be writing the same program. */
static void write_file(const char *path, char *temporary, const uint8_t digest[DIGEST_BYTES],
                       const unsigned char *binary, size_t size) {
    const int file = mkstemp(temporary);
    if (file < 0) return;
    FILE *stream = fdopen(file, "wb");
    if (stream == NULL) close(file);
    bool good = stream != NULL && fwrite(digest, 1, DIGEST_BYTES, stream) == DIGEST_BYTES &&
                fwrite(binary, 1, size, stream) == size;
    if (stream != NULL) good = fclose(stream) == 0 && good;
    if (!good || rename(temporary, path) != 0) unlink(temporary);
}

void tvlm_opencl_cache_write(const char *folder, const char *key, const char *suffix,
                             const unsigned char *binary, size_t size) {
    char path[4096], temporary[4096], made[4096];
    uint8_t digest[DIGEST_BYTES];
    if (size > PROGRAM_MAX || !tvlm_opencl_cache_path(folder, key, suffix, path, sizeof path) ||
        !tvlm_opencl_cache_path(folder, key, ".XXXXXX", temporary, sizeof temporary))
        return;
    snprintf(made, sizeof made, "%s", folder);
    make_folders(made);
    digest_of(key, binary, size, digest);
    /* A program that is interrupted meanwhile ends a moment later, and leaves no temporary file. */
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    write_file(path, temporary, digest, binary, size);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void tvlm_opencl_cache_store(const opencl_device *device, const char *key, const unsigned char *binary,
                             size_t size) {
    tvlm_opencl_cache_write(device->cache_dir, key, ".bin", binary, size);
}
