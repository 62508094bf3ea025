/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_text.c: makes one text of a kernel file and the files that it includes. A #line stands where a file
 * begins or goes on, so that a build log points at the real file. Include guards keep the content of each
 * file from being compiled twice.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"
#include "opencl/kernels.h"
#include "platform/stdio.h"

#define INCLUDE_DEPTH_MAX 8

typedef struct text_builder {
    const opencl_device *device;
    char *text;
    size_t length, capacity;
} text_builder;

static tvlm_status append(text_builder *builder, const char *text, size_t length) {
    if (builder->length + length + 1 > builder->capacity) {
        const size_t capacity = 2 * (builder->length + length + 1);
        char *grown = realloc(builder->text, capacity);
        if (grown == NULL)
            return tvlm_fail(&builder->device->base.log, TVLM_ERROR_MEMORY,
                             "out of memory for a kernel's text");
        builder->text = grown;
        builder->capacity = capacity;
    }
    memcpy(builder->text + builder->length, text, length);
    builder->length += length;
    builder->text[builder->length] = '\0';
    return TVLM_OK;
}

/* Reads a whole stream. Returns NULL when it cannot be read or there is no memory. */
static char *read_all(FILE *stream) {
    size_t used = 0, capacity = 1 << 14;
    char *text = malloc(capacity);
    while (text != NULL) {
        used += fread(text + used, 1, capacity - used - 1, stream);
        if (used < capacity - 1) break;
        char *grown = realloc(text, capacity *= 2);
        if (grown == NULL) free(text);
        text = grown;
    }
    if (text == NULL) return NULL;
    text[used] = '\0';
    if (ferror(stream)) {
        free(text);
        return NULL;
    }
    return text;
}

/* The text of a kernel file that is embedded in the library; NULL: there is none of that name. */
static const char *embedded_text(const char *name) {
    for (const tvlm_kernel_file *file = tvlm_kernel_files; file->name != NULL; ++file)
        if (strcmp(file->name, name) == 0) return file->text;
    return NULL;
}

/*
 * The text of a file: from the device's folder of kernels, if it has one, else the embedded one. The folder
 * need not hold constants.h, which lies among the C files. *owned is what the caller frees, or NULL.
 */
static tvlm_status file_text(const opencl_device *device, const char *name, const char **text, char **owned) {
    *owned = NULL;
    *text = embedded_text(name);
    if (device->kernel_dir != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", device->kernel_dir, name);
        FILE *stream = tvlm_stdio_open(path, "rb");
        if (stream == NULL && !(errno == ENOENT && *text != NULL && strcmp(name, "constants.h") == 0))
            return tvlm_fail(&device->base.log, TVLM_ERROR_IO, "kernel folder: cannot open %s: %s", path,
                             strerror(errno));
        if (stream != NULL) {
            *owned = read_all(stream);
            fclose(stream);
            if (*owned == NULL)
                return tvlm_fail(&device->base.log, TVLM_ERROR_IO, "kernel folder: cannot read %s", path);
            *text = *owned;
        }
    }
    if (*text == NULL)
        return tvlm_fail(&device->base.log, TVLM_ERROR_DEVICE, "there is no kernel file '%s'", name);
    return TVLM_OK;
}

static tvlm_status append_file(text_builder *builder, const char *name, int depth);

/* Appends the file that a line names, which begins with #include. */
static tvlm_status append_include(text_builder *builder, const char *line, const char *from, int number,
                                  int depth) {
    char name[64], back[128];
    if (sscanf(line, "#include \"%63[^\"]\"", name) != 1)
        return tvlm_fail(&builder->device->base.log, TVLM_ERROR_DEVICE, "%s:%d: an #include without \"name\"",
                         from, number);
    TVLM_TRY(append_file(builder, name, depth + 1));
    const int length = snprintf(back, sizeof back, "#line %d \"cl/%s\"\n", number + 1, from);
    return append(builder, back, (size_t)length);
}

static tvlm_status append_lines(text_builder *builder, const char *text, const char *name, int depth) {
    int number = 1;
    for (const char *line = text; *line != '\0'; ++number) {
        const char *end = strchr(line, '\n');
        const size_t length = end != NULL ? (size_t)(end - line) + 1 : strlen(line);
        if (strncmp(line, "#include", 8) == 0)
            TVLM_TRY(append_include(builder, line, name, number, depth));
        else
            TVLM_TRY(append(builder, line, length));
        line += length;
    }
    return append(builder, "\n", 1);
}

static tvlm_status append_file(text_builder *builder, const char *name, int depth) {
    const char *text;
    char *owned, line[128];
    if (depth > INCLUDE_DEPTH_MAX)
        return tvlm_fail(&builder->device->base.log, TVLM_ERROR_DEVICE, "kernel files include each other: %s",
                         name);
    TVLM_TRY(file_text(builder->device, name, &text, &owned));
    const int length = snprintf(line, sizeof line, "#line 1 \"cl/%s\"\n", name);
    tvlm_status status = append(builder, line, (size_t)length);
    if (status == TVLM_OK) status = append_lines(builder, text, name, depth);
    free(owned);
    return status;
}

void tvlm_opencl_kernel_place(const char *text, long line, char *place, size_t size) {
    char file[64] = "";
    long number = 1;
    for (; line > 1 && *text != '\0'; --line) {
        static const char begin[] = "#line ";
        char *name = NULL;
        if (strncmp(text, begin, sizeof begin - 1) == 0) {
            number = strtol(text + sizeof begin - 1, &name, 10);
            (void)sscanf(name, " \"%63[^\"]\"", file);
        } else {
            ++number;
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    snprintf(place, size, "%s:%ld", file, number);
}

tvlm_status tvlm_opencl_kernel_source(const opencl_device *device, const char *file, char **text) {
    text_builder builder = {device, NULL, 0, 0};
    const tvlm_status status = append_file(&builder, file, 0);
    if (status != TVLM_OK) {
        free(builder.text);
        return status;
    }
    *text = builder.text;
    return TVLM_OK;
}
