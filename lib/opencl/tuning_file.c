/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuning_file.c: the files of what was tuned. One file has a first line, and then a line for each choice of a
 * stage at a size that is not the default: "saliency 1 run 8". A second file has the storage: "storage
 * buffer". How files are written, and which of them are used at all, is cache.c's concern.
 */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"
#include "texturevlm/version.h"

#define FIRST_LINE  "texturevlm tuning 2"
#define SUFFIX      ".tuning"
#define TEXT_MAX    ((size_t)64 << 10)
#define STORAGE_KEY "storage"

enum { WORDS_MAX = 3 + OPENCL_CHOICE_VALUES };

/* Makes the key of what was tuned in a storage; with STORAGE_KEY, that of the storage itself. */
static void make_key(const opencl_device *device, const char *what, char key[65]) {
    char library[64];
    snprintf(library, sizeof library, FIRST_LINE " of %s", tvlm_version());
    (void)tvlm_opencl_cache_key(device, library, what, key);
}

static tvlm_status read_text(const opencl_device *device, const char *what, char path[4096], char **text) {
    char key[65];
    unsigned char *bytes = NULL;
    size_t size = 0;
    make_key(device, what, key);
    if (!tvlm_opencl_cache_path(device->tuning_dir, key, SUFFIX, path, 4096)) return TVLM_ERROR_IO;
    TVLM_TRY(tvlm_opencl_cache_read(device->tuning_dir, key, SUFFIX, &bytes, &size));
    *text = size <= TEXT_MAX ? tvlm_allocate(size + 1, 1) : NULL;
    if (*text != NULL) memcpy(*text, bytes, size);
    free(bytes);
    if (*text == NULL) return size <= TEXT_MAX ? TVLM_ERROR_MEMORY : TVLM_ERROR_FORMAT;
    if (strlen(*text) == size) return TVLM_OK;
    free(*text);
    *text = NULL;
    return TVLM_ERROR_FORMAT;
}

static void warn(const opencl_device *device, const char *path, const char *why) {
    tvlm_log_message(&device->base.log, TVLM_LOG_WARNING,
                     "%s is not used: %s (`tvlm devices --tune` makes it anew)", path, why);
}

static const char *const broken = "it is damaged, of another device, or open to others";

/* ---- Reading ---- */

/* Cuts a line into words. Returns how many there are, or 0 where there are more than WORDS_MAX. */
static int32_t split(char *line, const char *words[WORDS_MAX]) {
    int32_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (count == WORDS_MAX) return 0;
        words[count++] = word;
    }
    return count;
}

static bool is_number(const char *word, int32_t value) {
    char text[16];
    snprintf(text, sizeof text, "%d", (int)value);
    return strcmp(word, text) == 0;
}

static int32_t stage_named(const char *name) {
    for (int32_t stage = 0; stage < TVLM_TUNED_COUNT; ++stage)
        if (tvlm_tuned_name(stage) != NULL && strcmp(tvlm_tuned_name(stage), name) == 0) return stage;
    return -1;
}

static int32_t choice_named(const char *name) {
    for (int32_t choice = 0; choice < tvlm_opencl_tuner.choices; ++choice)
        if (strcmp(tvlm_opencl_choice_name(choice), name) == 0) return choice;
    return -1;
}

static int32_t size_named(const char *word) {
    for (int32_t size = 0; size < TVLM_TUNED_SIZES; ++size)
        if (is_number(word, size)) return size;
    return -1;
}

/* The setting of a choice that has these values, among those that the device may have; -1: none has. */
static int32_t setting_with(const opencl_device *device, int32_t stage, int32_t choice,
                            const char *const *words, int32_t count) {
    const int32_t settings = tvlm_opencl_tuner.settings(&device->base, stage, choice);
    for (int32_t i = 0; i < settings; ++i) {
        int32_t values[OPENCL_CHOICE_VALUES];
        bool same = tvlm_opencl_choice_values(&device->base, choice, i, values) == count;
        for (int32_t v = 0; same && v < count; ++v) same = is_number(words[v], values[v]);
        if (same) return i;
    }
    return -1;
}

/* Uses what a line says. Fails with FORMAT where that is nothing that the device may have. */
static tvlm_status use_line(opencl_device *device, char *line) {
    const char *words[WORDS_MAX];
    const int32_t count = split(line, words);
    if (count < 4) return TVLM_ERROR_FORMAT;
    const int32_t stage = stage_named(words[0]), size = size_named(words[1]), choice = choice_named(words[2]);
    if (stage < 0 || size < 0 || choice < 0) return TVLM_ERROR_FORMAT;
    const int32_t setting = setting_with(device, stage, choice, words + 3, count - 3);
    if (setting < 0) return TVLM_ERROR_FORMAT;
    return tvlm_opencl_tuner.use(&device->base, stage, size, choice, setting);
}

static tvlm_status use_text(opencl_device *device, char *text) {
    char *rest = NULL, *line = strtok_r(text, "\n", &rest);
    if (line == NULL || strcmp(line, FIRST_LINE) != 0) return TVLM_ERROR_FORMAT;
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) TVLM_TRY(use_line(device, line));
    return TVLM_OK;
}

tvlm_status tvlm_opencl_tuning_load(tvlm_device *base) {
    opencl_device *device = (opencl_device *)base;
    char path[4096], *text = NULL;
    tvlm_opencl_tuner.defaults(base);
    tvlm_status status = read_text(device, tvlm_storage_name(base->info.storage), path, &text);
    if (status == TVLM_ERROR_IO) return TVLM_OK;
    if (status == TVLM_ERROR_MEMORY) return tvlm_fail(&base->log, status, "out of memory for what was tuned");
    if (status == TVLM_OK) {
        status = use_text(device, text);
        free(text);
        if (status == TVLM_ERROR_FORMAT) warn(device, path, "it says what this version does not have");
    } else {
        warn(device, path, broken);
    }
    if (status != TVLM_OK) tvlm_opencl_tuner.defaults(base);
    if (status == TVLM_OK) tvlm_log_message(&base->log, TVLM_LOG_INFO, "tuned by %s", path);
    return status == TVLM_ERROR_MEMORY ? status : TVLM_OK;
}

tvlm_storage tvlm_opencl_tuning_storage(const tvlm_device *base) {
    const opencl_device *device = (const opencl_device *)base;
    char path[4096], *text = NULL, line[32];
    const tvlm_status status = read_text(device, STORAGE_KEY, path, &text);
    if (status == TVLM_ERROR_IO) return TVLM_STORAGE_AUTO;
    tvlm_storage found = TVLM_STORAGE_AUTO;
    for (int s = TVLM_STORAGE_IMAGE; status == TVLM_OK && s <= TVLM_STORAGE_MIPMAPPED; ++s) {
        snprintf(line, sizeof line, "storage %s\n", tvlm_storage_name((tvlm_storage)s));
        if (strcmp(text, line) == 0) found = (tvlm_storage)s;
    }
    if (status == TVLM_OK) free(text);
    if (found == TVLM_STORAGE_AUTO && status != TVLM_ERROR_MEMORY) warn(device, path, broken);
    return found;
}

/* ---- Writing ---- */

static void add_lines(const opencl_device *device, int32_t stage, int32_t size, char *text, size_t *length) {
    const tvlm_device *base = &device->base;
    for (int32_t choice = 0; choice < tvlm_opencl_tuner.choices; ++choice) {
        if (tvlm_opencl_tuner.settings(base, stage, choice) == 0) continue;
        char words[TVLM_TUNED_TEXT];
        const int32_t used = tvlm_opencl_tuner.used(base, stage, size, choice);
        if (used == tvlm_opencl_choice_default(base, choice)) continue;
        tvlm_opencl_tuner.describe(base, choice, used, words);
        *length += (size_t)snprintf(text + *length, TEXT_MAX - *length, "%s %d %s\n", tvlm_tuned_name(stage),
                                    (int)size, words);
    }
}

/* Writes a file, and then checks that it is there. */
static tvlm_status write_text(const opencl_device *device, const char *what, const char *text,
                              char path[4096]) {
    char key[65], *written = NULL;
    make_key(device, what, key);
    if (!tvlm_opencl_cache_path(device->tuning_dir, key, SUFFIX, path, 4096)) {
        path[0] = '\0';
        return TVLM_OK;
    }
    tvlm_opencl_cache_write(device->tuning_dir, key, SUFFIX, (const unsigned char *)text, strlen(text));
    const bool same = read_text(device, what, path, &written) == TVLM_OK && strcmp(written, text) == 0;
    free(written);
    return same ? TVLM_OK : tvlm_fail(&device->base.log, TVLM_ERROR_IO, "%s cannot be written", path);
}

tvlm_status tvlm_opencl_tuning_keep(tvlm_device *base, char *path, size_t size) {
    opencl_device *device = (opencl_device *)base;
    char name[4096];
    char *text = tvlm_allocate(TEXT_MAX, 1);
    if (text == NULL) return tvlm_fail(&base->log, TVLM_ERROR_MEMORY, "out of memory for what was tuned");
    size_t length = (size_t)snprintf(text, TEXT_MAX, "%s\n", FIRST_LINE);
    for (int32_t stage = 0; stage < TVLM_TUNED_COUNT; ++stage)
        for (int32_t at = 0; tvlm_tuned_name(stage) != NULL && at < TVLM_TUNED_SIZES; ++at)
            add_lines(device, stage, at, text, &length);
    const tvlm_status status = write_text(device, tvlm_storage_name(base->info.storage), text, name);
    free(text);
    snprintf(path, size, "%s", name);
    return status;
}

tvlm_status tvlm_opencl_tuning_keep_storage(tvlm_device *base, tvlm_storage storage) {
    char path[4096], text[32];
    snprintf(text, sizeof text, "storage %s\n", tvlm_storage_name(storage));
    return write_text((const opencl_device *)base, STORAGE_KEY, text, path);
}
