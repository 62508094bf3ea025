/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_orient.c: turns pictures upright. In each of the eight EXIF orientations, the pixels of a row or a
 * column of the upright picture lie in equal steps in the stored one.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/picture.h"

/* How to walk through the stored picture to get the upright one. */
struct steps {
    const uint8_t *first;   /* where the upright picture's first pixel is stored */
    ptrdiff_t across, down; /* bytes to the next pixel of a row, and of a column */
    int32_t width, height;  /* the size of the upright picture */
};

/*
 * EXIF 2.32, 4.6.4, says where the first row and the first column of the stored picture are to be seen:
 *
 *   1  top, left      5  left, top
 *   2  top, right     6  right, top
 *   3  bottom, right  7  right, bottom
 *   4  bottom, left   8  left, bottom
 */
static struct steps find_steps(const tvlm_io_picture *picture, int orientation, ptrdiff_t pixel) {
    bool turned = orientation >= 5; /* the stored rows are columns of the upright picture */
    bool last_column = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool last_row = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    ptrdiff_t row = pixel * picture->width;
    ptrdiff_t along_row = last_column ? -pixel : pixel, along_column = last_row ? -row : row;
    struct steps steps = {.first = picture->pixels};
    if (last_column) steps.first += pixel * (picture->width - 1);
    if (last_row) steps.first += row * (picture->height - 1);
    steps.across = turned ? along_column : along_row;
    steps.down = turned ? along_row : along_column;
    steps.width = turned ? picture->height : picture->width;
    steps.height = turned ? picture->width : picture->height;
    return steps;
}

/*
 * Copies in squares, because one of the two pictures may be read or written across its rows. It is inlined
 * with a constant `pixel`, so that copying one pixel is an instruction or two.
 */
static inline void copy_squares(const struct steps *steps, uint8_t *out, size_t pixel) {
    enum { side = 32 };
    for (int32_t y0 = 0; y0 < steps->height; y0 += side)
        for (int32_t x0 = 0; x0 < steps->width; x0 += side)
            for (int32_t y = y0; y < steps->height && y < y0 + side; y++) {
                uint8_t *to = out + ((size_t)y * (size_t)steps->width + (size_t)x0) * pixel;
                for (int32_t x = x0; x < steps->width && x < x0 + side; x++, to += pixel)
                    memcpy(to, steps->first + x * steps->across + y * steps->down, pixel);
            }
}

static void copy_pixels(const struct steps *steps, uint8_t *out, size_t pixel) {
    switch (pixel) {
    case 1: copy_squares(steps, out, 1); break;
    case 2: copy_squares(steps, out, 2); break;
    case 3: copy_squares(steps, out, 3); break;
    case 4: copy_squares(steps, out, 4); break;
    case 6: copy_squares(steps, out, 6); break;
    default: copy_squares(steps, out, pixel); break;
    }
}

tvlm_status tvlm_io_orient(const tvlm_io_source *source, int orientation, tvlm_io_picture *picture) {
    size_t pixel = (size_t)picture->channels * (picture->type == TVLM_PIXEL_U16 ? 2 : 1);
    if (orientation <= 1 || orientation > 8) return TVLM_OK;
    if (source->memory != 0 &&
        (uint64_t)picture->width * (uint64_t)picture->height * pixel * 2 > source->memory)
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY,
                         "%s says behind its pixels how it lies, and memory is limited", source->path);
    uint8_t *upright = tvlm_allocate((size_t)picture->width * (size_t)picture->height, pixel);
    if (upright == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory to turn %s upright", source->path);
    struct steps steps = find_steps(picture, orientation, (ptrdiff_t)pixel);
    copy_pixels(&steps, upright, pixel);
    free(picture->block);
    picture->block = picture->pixels = upright;
    picture->width = steps.width;
    picture->height = steps.height;
    if (orientation >= 5) {
        const int32_t of_width = picture->of_width;
        picture->of_width = picture->of_height;
        picture->of_height = of_width;
    }
    return TVLM_OK;
}
