/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pixels.c: sends pictures to the device as the bytes that Pillow makes of them, and resizes them.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "export/inside.h"

static const size_t component_bytes[] = {
    [TVLM_PIXEL_U8] = sizeof(uint8_t), [TVLM_PIXEL_U16] = sizeof(uint16_t), [TVLM_PIXEL_F32] = sizeof(float)};

/* Returns the byte that Pillow makes of a component. For a component of 16 bits that is the upper byte. But
 * 16-bit gray without alpha is Pillow's mode "I", which it converts to RGB by clipping. */
static uint8_t byte_of(const unsigned char *at, tvlm_pixel_type type, int32_t channels) {
    uint16_t u16;
    float f32;
    if (type == TVLM_PIXEL_U16) {
        memcpy(&u16, at, sizeof u16);
        if (channels > 1) return (uint8_t)(u16 >> 8);
        return (uint8_t)(u16 > 255 ? 255 : u16);
    }
    memcpy(&f32, at, sizeof f32);
    /* fmaxf turns NaN into 0. */
    return (uint8_t)(fminf(fmaxf(f32, 0.0f), 1.0f) * 255.0f + 0.5f);
}

static void row_to_bytes(const tvlm_image *image, const unsigned char *from, size_t row, uint8_t *to) {
    const size_t size = component_bytes[image->type];
    if (image->type == TVLM_PIXEL_U8) {
        memcpy(to, from, row);
        return;
    }
    for (size_t i = 0; i < row; ++i) to[i] = byte_of(from + i * size, image->type, image->channels);
}

/* Sends an image as bytes without gaps between the rows. An image that is in this form already is sent as it
 * is. */
static tvlm_status upload(tvlm_export *export, const tvlm_image *image, size_t row) {
    tvlm_device *device = export->device;
    const size_t given = row * component_bytes[image->type];
    const size_t stride = image->row_stride != 0 ? image->row_stride : given,
                 all = row * (size_t)image->height;
    TVLM_TRY(tvlm_export_reserve(device, all, &export->upload));
    if (image->type == TVLM_PIXEL_U8 && stride == row)
        return device->backend->buffer_write(device, export->upload, 0, all, image->pixels);
    uint8_t *bytes = tvlm_allocate(all, 1);
    if (bytes == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a picture's bytes");
    for (size_t y = 0; y < (size_t)image->height; ++y)
        row_to_bytes(image, (const unsigned char *)image->pixels + y * stride, row, bytes + y * row);
    const tvlm_status status = device->backend->buffer_write(device, export->upload, 0, all, bytes);
    free(bytes);
    return status;
}

tvlm_status tvlm_export_send(tvlm_export *export, const tvlm_image *image) {
    if (image->type == TVLM_PIXEL_U16 && image->channels == 1)
        tvlm_log_message(&export->device->log, TVLM_LOG_WARNING,
                         "16-bit gray: values above 255 become white, as in the model's own processor");
    return upload(export, image, (size_t)image->width * (size_t)image->channels);
}

tvlm_status tvlm_export_resize(tvlm_export *export, const tvlm_image *image, int32_t frame,
                               export_picture *picture) {
    const size_t row = (size_t)image->width * (size_t)image->channels;
    const tvlm_pixels layout = {image->width, image->height, image->channels, TVLM_PIXEL_U8, 0, row};
    const size_t frame_bytes = (size_t)picture->info.width * (size_t)picture->info.height * 3;
    TVLM_TRY(tvlm_export_plan(export, image->width, image->height, picture));
    return export->device->backend->resize(export->device, export->upload, &layout, export->table,
                                           &export->plan, picture->bytes, frame_bytes * (size_t)frame);
}
