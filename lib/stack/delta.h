/*
 * stack/delta.h: what a stack keeps for the frame after (texturevlm/delta.h): the frame itself, on the host,
 * and what its tiles are.
 */
#ifndef TVLM_STACK_DELTA_H
#define TVLM_STACK_DELTA_H

#include "stack/stack.h"
#include "texturevlm/delta.h"

/* A frame in the stack's size, in host memory. */
typedef struct tvlm_delta_frame {
    unsigned char *pixels; /* rows without gaps: what the source was made of */
    size_t bytes;          /* allocated */
    int32_t channels;
    tvlm_pixel_type type;
    bool valid;        /* the source is made of it */
    float share[2];    /* of the image that changed since saliency and clusters were made, */
    int32_t frames[2]; /* and in how many frames */
} tvlm_delta_frame;

typedef struct tvlm_delta {
    tvlm_delta_frame *frames; /* [images] */
    uint8_t *changed;         /* of the tiles */
    size_t changed_count;
    unsigned char *upload; /* tiles on their way */
    size_t upload_bytes;
} tvlm_delta;

/* Pixels of the stack's size, on the host. */
typedef struct tvlm_delta_pixels {
    const unsigned char *pixels;
    size_t row, row_stride, pixel_bytes; /* a row's bytes; from one to the next; of a pixel */
    int32_t width, height, channels;
    tvlm_pixel_type type;
} tvlm_delta_pixels;

/* The kept frame has another format, or there is none. */
bool tvlm_delta_fits(const tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels);

/* Which tiles differ: into tiles->changed, and *count of them. */
void tvlm_delta_compare(const tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels, float threshold,
                        const tvlm_tiles *tiles, uint8_t *changed, int32_t *count);

/* All pixels into the kept frame. MEMORY; then none is kept. */
tvlm_status tvlm_delta_keep(const tvlm_log *log, tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels);

/* Changed tiles into the kept frame, and, side x side pixels each, one after the other to `upload`. */
void tvlm_delta_take(tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels, const tvlm_tiles *tiles,
                     unsigned char *upload);

#endif
