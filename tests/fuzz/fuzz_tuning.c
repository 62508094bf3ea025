/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_tuning.c: the file of what was tuned (opencl/tuning_file.c). The first byte says what the others are:
 *
 *   - 'f': the file, whatever that is.
 *   - 'g', 'l' and any other: the text of a file whose hash is right, for a GPU, for a device that ends long loops, and
 *     for a CPU.
 *
 * What is not used leaves the defaults and one warning. What is used has only settings that the device may have, and
 * written and read again it is the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "opencl/backend.h"

enum { FILE_MAX = 1 << 17 };

static char folder[] = "/tmp/tvlm-fuzz-XXXXXX";
static char path[4096], key[65];
static opencl_device device;
static int warnings;

static void count_warning(void *user, tvlm_log_level level, const char *message) {
    fuzz_log.write(user, level, message);
    if (level == TVLM_LOG_WARNING) ++warnings;
}

static void remove_folder(void) {
    unlink(path);
    rmdir(folder);
}

static void begin(char what) {
    if (device.tuning_dir == NULL) {
        fuzz_check(mkdtemp(folder) != NULL);
        device.tuning_dir = folder;
        device.base.log = (tvlm_log){count_warning, NULL};
        device.base.info.storage = TVLM_STORAGE_BUFFER;
        fuzz_check(tvlm_opencl_tuning_keep(&device.base, path, sizeof path) == TVLM_OK);
        snprintf(key, sizeof key, "%.64s", strrchr(path, '/') + 1);
        atexit(remove_folder);
    }
    device.base.info.type = what == 'g' ? TVLM_DEVICE_GPU : TVLM_DEVICE_CPU;
    device.short_loops = what == 'l';
    device.tuning = tvlm_opencl_tuning_default(what == 'g' || what == 'l');
    warnings = 0;
}

static void write_file(const uint8_t *bytes, size_t size) {
    unlink(path);
    FILE *const file = fopen(path, "wb");
    fuzz_check(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    fuzz_check(chmod(path, 0600) == 0);
}

/* Whether each setting is one of its choice. */
static void check_settings(void) {
    for (int32_t stage = 0; stage < TVLM_TUNED_COUNT; ++stage)
        for (int32_t size = 0; size < TVLM_TUNED_SIZES; ++size) {
            opencl_tuning rest = device.tuned->at[stage][size];
            opencl_tuned only = {.at = {{{0}}}};
            opencl_device other = device;
            only.at[stage][size] = device.tuning;
            other.tuned = &only;
            for (int32_t choice = 0; choice < tvlm_opencl_tuner.choices; ++choice) {
                const int32_t settings = tvlm_opencl_tuner.settings(&device.base, stage, choice);
                const int32_t used = tvlm_opencl_tuner.used(&device.base, stage, size, choice);
                if (settings == 0) continue;
                fuzz_check(used >= 0 && used < settings);
                fuzz_check(tvlm_opencl_tuner.use(&other.base, stage, size, choice, used) == TVLM_OK);
            }
            fuzz_check(memcmp(&rest, &only.at[stage][size], sizeof rest) == 0);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > FILE_MAX) return 0;
    begin((char)data[0]);
    if (data[0] == 'f')
        write_file(data + 1, size - 1);
    else
        tvlm_opencl_cache_write(folder, key, ".tuning", data + 1, size - 1);
    fuzz_check(tvlm_opencl_tuning_load(&device.base) == TVLM_OK);
    fuzz_check(warnings == (device.tuned == NULL && warnings == 1));
    if (device.tuned != NULL) {
        static char again[4096];
        const opencl_tuned before = *device.tuned;
        fuzz_check(warnings == 0);
        check_settings();
        fuzz_check(tvlm_opencl_tuning_keep(&device.base, again, sizeof again) == TVLM_OK);
        fuzz_check(strcmp(path, again) == 0 && tvlm_opencl_tuning_load(&device.base) == TVLM_OK);
        fuzz_check(device.tuned == NULL || memcmp(&before, device.tuned, sizeof before) == 0);
    }
    tvlm_opencl_tuner.defaults(&device.base);
    fuzz_check_status(TVLM_OK);
    return 0;
}
