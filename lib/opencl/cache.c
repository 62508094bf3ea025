/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c: compiled programs on disk.
 *
 *   - The name of a file is the SHA-256 of everything that its content depends on.
 *   - A file is written under a temporary name and then renamed, so that a reader never sees half of one.
 *   - Its content carries its own hash, so that a damaged file is not used.
 *
 * Whatever goes wrong here, the program is built from source, and nothing is logged.
 */
#include <errno.h>
#include <pthread.h>
#include <sha2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opencl/backend.h"

/* Change this when the meaning of the files changes. */
#define CACHE_VERSION "texturevlm 1"
#define DIGEST_BYTES  SHA256_DIGEST_LENGTH

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

static bool cache_path(const opencl_device *device, const char *key, const char *suffix, char *path,
                       size_t size) {
    if (device->cache_dir == NULL) return false;
    const int length = snprintf(path, size, "%s/%s%s", device->cache_dir, key, suffix);
    return length > 0 && (size_t)length < size;
}

static void digest_of(const unsigned char *bytes, size_t size, uint8_t digest[DIGEST_BYTES]) {
    SHA2_CTX hash;
    SHA256Init(&hash);
    SHA256Update(&hash, bytes, size);
    SHA256Final(digest, &hash);
}

tvlm_status tvlm_opencl_cache_load(const opencl_device *device, const char *key, unsigned char **binary,
                                   size_t *size) {
    char path[4096];
    struct stat about;
    uint8_t stored[DIGEST_BYTES], digest[DIGEST_BYTES];
    if (!cache_path(device, key, ".bin", path, sizeof path)) return TVLM_ERROR_IO;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return TVLM_ERROR_IO;
    unsigned char *bytes = NULL;
    bool good = fstat(fileno(stream), &about) == 0 && about.st_size > DIGEST_BYTES;
    if (good) {
        *size = (size_t)about.st_size - DIGEST_BYTES;
        bytes = tvlm_allocate(*size, 1);
        good = bytes != NULL && fread(stored, 1, DIGEST_BYTES, stream) == DIGEST_BYTES &&
               fread(bytes, 1, *size, stream) == *size;
    }
    fclose(stream);
    if (good) {
        digest_of(bytes, *size, digest);
        good = memcmp(stored, digest, DIGEST_BYTES) == 0;
    }
    if (!good) {
        free(bytes);
        return TVLM_ERROR_FORMAT;
    }
    *binary = bytes;
    return TVLM_OK;
}

/* Makes a folder and those above it, as mkdir -p does. Errors show when the file is opened. */
static void make_folders(char *path) {
    for (char *at = path + 1; *at != '\0'; ++at)
        if (*at == '/') {
            *at = '\0';
            mkdir(path, 0777);
            *at = '/';
        }
    mkdir(path, 0777);
}

static void write_file(const char *path, const char *temporary, const uint8_t digest[DIGEST_BYTES],
                       const unsigned char *binary, size_t size) {
    FILE *stream = fopen(temporary, "wb");
    if (stream == NULL) return;
    bool good =
        fwrite(digest, 1, DIGEST_BYTES, stream) == DIGEST_BYTES && fwrite(binary, 1, size, stream) == size;
    good = fclose(stream) == 0 && good;
    if (!good || rename(temporary, path) != 0) unlink(temporary);
}

void tvlm_opencl_cache_store(const opencl_device *device, const char *key, const unsigned char *binary,
                             size_t size) {
    char path[4096], temporary[4096], suffix[32];
    uint8_t digest[DIGEST_BYTES];
    snprintf(suffix, sizeof suffix, ".%ld.tmp", (long)getpid());
    if (!cache_path(device, key, ".bin", path, sizeof path) ||
        !cache_path(device, key, suffix, temporary, sizeof temporary))
        return;
    make_folders(device->cache_dir);
    digest_of(binary, size, digest);
    /* A program that is interrupted meanwhile ends a moment later, and leaves no temporary file. */
    sigset_t all, before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    write_file(path, temporary, digest, binary, size);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
