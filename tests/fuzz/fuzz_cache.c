/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_cache.c: compiled programs in a folder (opencl/cache.c). The first byte says how the others become the
 * file of a program:
 *
 *   - 'f': they are the file, whatever that is: only one whose hash is right is taken, as it stands.
 *   - any other: they are a program, which is stored, and comes back as the same. Then the file is damaged
 *     where the second and third byte say, and is not taken again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "opencl/backend.h"

enum { DIGEST = 32, FILE_MAX = 1 << 17 };

static const char key[65] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
static const char other_key[65] = "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
static char folder[] = "/tmp/tvlm-fuzz-XXXXXX";
static char path[sizeof folder + 80], other_path[sizeof folder + 80];
static opencl_device device;

static void remove_folder(void) {
    unlink(path);
    unlink(other_path);
    rmdir(folder);
}

static void begin(void) {
    if (device.cache_dir != NULL) return;
    fuzz_check(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/%s.bin", folder, key);
    snprintf(other_path, sizeof other_path, "%s/%s.bin", folder, other_key);
    device.cache_dir = folder;
    atexit(remove_folder);
}

static void write_program(const char *name, const uint8_t *bytes, size_t size) {
    unlink(name);
    FILE *const file = fopen(name, "wb");
    fuzz_check(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    fuzz_check(chmod(name, 0600) == 0);
}

static size_t read_program(uint8_t *bytes) {
    FILE *const file = fopen(path, "rb");
    fuzz_check(file != NULL);
    const size_t size = fread(bytes, 1, FILE_MAX, file);
    fuzz_check(fclose(file) == 0);
    return size;
}

/* Whether the cache takes the file under this key. Then it gives what stands behind the hash. */
static bool is_taken(const char *under, const uint8_t *file, size_t size) {
    unsigned char *program = NULL;
    size_t program_size = 0;
    if (tvlm_opencl_cache_load(&device, under, &program, &program_size) != TVLM_OK) {
        fuzz_check(program == NULL);
        return false;
    }
    fuzz_check(program_size + DIGEST == size && memcmp(program, file + DIGEST, program_size) == 0);
    free(program);
    return true;
}

/* Any file: where it is taken, storing what it gave makes the same file. */
static void try_file(const uint8_t *data, size_t size) {
    static uint8_t again[FILE_MAX];
    write_program(path, data, size);
    if (!is_taken(key, data, size)) return;
    tvlm_opencl_cache_store(&device, key, data + DIGEST, size - DIGEST);
    fuzz_check(read_program(again) == size && memcmp(again, data, size) == 0);
}

/* A program: stored, taken; then with one byte changed, cut off, and under another name: not taken. */
static void try_program(const uint8_t *data, size_t size) {
    static uint8_t file[FILE_MAX];
    const size_t place = size > 1 ? data[0] + 256u * data[1] : 0;
    unlink(path);
    tvlm_opencl_cache_store(&device, key, data, size);
    const size_t written = read_program(file);
    fuzz_check(written == size + DIGEST && is_taken(key, file, written));
    write_program(other_path, file, written);
    fuzz_check(!is_taken(other_key, file, written));
    write_program(path, file, place % written);
    fuzz_check(!is_taken(key, file, place % written));
    file[place % written] ^= (uint8_t)(1u << place % 8);
    write_program(path, file, written);
    fuzz_check(!is_taken(key, file, written));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > FILE_MAX - DIGEST) return 0;
    begin();
    if (data[0] == 'f')
        try_file(data + 1, size - 1);
    else
        try_program(data + 1, size - 1);
    return 0;
}
