/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c: reads and writes .flo files.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bytes.h"
#include "io/io_file.h"
#include "texturevlm/io_flow.h"

#define HEADER   12
#define SIDE_MAX 99999 /* the limit of Middlebury's own reader */

static tvlm_status unusable(const tvlm_log *log, const char *path, const char *what) {
    return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s is not a usable .flo file: %s", path, what);
}

static void store32(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes[i] = (uint8_t)(value >> 8 * i);
}

static tvlm_status parse(const uint8_t *bytes, size_t size, const char *path, const tvlm_log *log,
                         tvlm_flo *flow) {
    if (size < 4 || memcmp(bytes, "PIEH", 4) != 0)
        return unusable(log, path, "it does not begin with PIEH (202021.25)");
    if (size < HEADER) return unusable(log, path, "it ends within its header");
    const uint32_t w = tvlm_io_le32(bytes + 4), h = tvlm_io_le32(bytes + 8);
    if (w < 1 || h < 1 || w > SIDE_MAX || h > SIDE_MAX)
        return unusable(log, path, "its sides are not in 1 .. 99999");
    const uint64_t needed = (uint64_t)w * h * 8;
    if (size - HEADER != needed)
        return tvlm_fail(log, TVLM_ERROR_FORMAT,
                         "%s is not a usable .flo file: it has %zu bytes of data where its size needs %llu",
                         path, size - HEADER, (unsigned long long)needed);
    flow->width = (int32_t)w;
    flow->height = (int32_t)h;
    flow->vectors = tvlm_allocate((size_t)needed / 4, sizeof *flow->vectors);
    if (flow->vectors == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to read %s", path);
    for (size_t i = 0; i < (size_t)needed / 4; ++i) {
        const uint32_t bits = tvlm_io_le32(bytes + HEADER + 4 * i);
        memcpy(&flow->vectors[i], &bits, sizeof bits);
    }
    return TVLM_OK;
}

tvlm_status tvlm_flo_read(const char *path, const tvlm_log *log, tvlm_flo **flow) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (path == NULL || flow == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_flo_read: path or flow is NULL");
    tvlm_flo *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to read %s", path);
    tvlm_status status = tvlm_io_read(path, SIZE_MAX - 2, log, &bytes, &size);
    if (status == TVLM_OK) status = parse(bytes, size, path, log, made);
    free(bytes);
    if (status == TVLM_OK)
        *flow = made;
    else
        tvlm_flo_destroy(&made);
    return status;
}

void tvlm_flo_destroy(tvlm_flo **flow) {
    if (flow == NULL || *flow == NULL) return;
    free((*flow)->vectors);
    free(*flow);
    *flow = NULL;
}

tvlm_status tvlm_flo_write(const char *path, int32_t width, int32_t height, const float *vectors,
                           const tvlm_log *log) {
    uint8_t bytes[4096];
    tvlm_io_output *output = NULL;
    if (path == NULL || vectors == NULL || width < 1 || height < 1 || width > SIDE_MAX || height > SIDE_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_flo_write: no path, no vectors, or %dx%d of them",
                         (int)width, (int)height);
    const size_t count = 2 * (size_t)width * (size_t)height;
    tvlm_status status = tvlm_io_output_open(path, log, &output);
    if (status != TVLM_OK) return status;
    memcpy(bytes, "PIEH", 4);
    store32(bytes + 4, (uint32_t)width);
    store32(bytes + 8, (uint32_t)height);
    status = tvlm_io_output_write(output, bytes, HEADER);
    for (size_t i = 0; status == TVLM_OK && i < count;) {
        size_t used = 0;
        for (; used < sizeof bytes && i < count; used += 4, ++i) {
            uint32_t bits;
            memcpy(&bits, &vectors[i], sizeof bits);
            store32(bytes + used, bits);
        }
        status = tvlm_io_output_write(output, bytes, used);
    }
    if (status == TVLM_OK) return tvlm_io_output_commit(&output);
    tvlm_io_output_abort(&output);
    return status;
}
