/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exif.h: the one EXIF tag that decides which way a picture is up.
 */
#ifndef TVLM_IO_EXIF_H
#define TVLM_IO_EXIF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the orientation (1..8) in an EXIF block, which begins with its TIFF header ("II*" or "MM*"). It is
 * 1, upright, if there is no orientation or the block is damaged, because a bad tag is no reason not to show
 * a picture. `bytes` may be NULL if `size` is 0.
 */
int tvlm_io_exif_orientation(const uint8_t *bytes, size_t size);

#endif
