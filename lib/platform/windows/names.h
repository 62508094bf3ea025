/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h: names of files as Windows takes them, in UTF-16, and its errors as C has them.
 */
#ifndef TVLM_PLATFORM_WINDOWS_NAMES_H
#define TVLM_PLATFORM_WINDOWS_NAMES_H

#include <wchar.h>

/*
 * Returns a name in UTF-16, in memory from malloc. Long ones are made whole and given the prefix with which Windows takes more
 * than 260 characters. NULL with errno:
 *
 *   - EILSEQ: it is not UTF-8;
 *   - ENOENT: it is empty;
 *   - EINVAL: Windows would take it for another name (file.h);
 *   - ENOMEM, ENAMETOOLONG.
 */
wchar_t *tvlm_windows_name(const char *path);

/* Returns a text in UTF-8, in memory from malloc. NULL with errno ENOMEM, or EILSEQ: it is not UTF-16. */
char *tvlm_windows_utf8(const wchar_t *text);

/* Sets errno to what GetLastError says. */
void tvlm_windows_set_errno(void);

#endif
