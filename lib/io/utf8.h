/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h: is a text UTF-8?
 */
#ifndef TVLM_IO_UTF8_H
#define TVLM_IO_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether all of a text is UTF-8 (RFC 3629), without overlong forms, surrogates, and characters above
 * U+10FFFF.
 */
bool tvlm_io_is_utf8(const void *text, size_t size);

#endif
