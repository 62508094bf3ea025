/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h: reads integers as files hold them, at any alignment. In files read by "le" functions the low byte
 * comes first, and in those read by "be" functions the high byte.
 */
#ifndef TVLM_IO_BYTES_H
#define TVLM_IO_BYTES_H

#include <stdint.h>

static inline uint32_t tvlm_io_le16(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

static inline uint32_t tvlm_io_be16(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 8 | (uint32_t)bytes[1];
}

static inline uint32_t tvlm_io_le32(const uint8_t *bytes) {
    return tvlm_io_le16(bytes) | tvlm_io_le16(bytes + 2) << 16;
}

static inline uint32_t tvlm_io_be32(const uint8_t *bytes) {
    return tvlm_io_be16(bytes) << 16 | tvlm_io_be16(bytes + 2);
}

#endif
