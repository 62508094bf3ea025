/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/windows/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* From this many characters on a name is given the prefix. Windows takes 259, and of a folder 12 fewer. */
#define LONG_NAME 240

/* The parts of a name are separated by either of them; a drive is followed by a colon. */
static bool is_separator(char letter) {
    return letter == '/' || letter == '\\';
}

static bool is_called(const char *part, size_t length, const char *name) {
    return strlen(name) == length && _strnicmp(part, name, length) == 0;
}

/* Whether a part of a name begins with `port`, and a digit is all that follows. Windows takes the superscripts of 1 to 3 for digits. */
static bool is_port(const char *part, size_t length, const char *port) {
    if (length < 4 || _strnicmp(part, port, 3) != 0) return false;
    if (length == 4) return part[3] >= '0' && part[3] <= '9';
    return length == 5 && part[3] == '\xc2' && (part[4] == '\xb9' || part[4] == '\xb2' || part[4] == '\xb3');
}

/* Whether a part of a name, less what follows its first dot, is that of a device (Naming Files, Paths, and Namespaces, Win32's
 * documentation). */
static bool is_device(const char *part, size_t length) {
    static const char *const devices[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"};
    const char *const dot = memchr(part, '.', length);
    if (dot != NULL) length = (size_t)(dot - part);
    while (length > 0 && part[length - 1] == ' ') --length;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; ++i)
        if (is_called(part, length, devices[i])) return true;
    return is_port(part, length, "COM") || is_port(part, length, "LPT");
}

/* Whether Windows would take a part of a name for another one. What follows a colon would be a stream of the file. */
static bool is_mistaken(const char *part, size_t length) {
    if (length == 0 || is_called(part, length, ".") || is_called(part, length, "..")) return false;
    return part[length - 1] == '.' || part[length - 1] == ' ' || memchr(part, ':', length) != NULL ||
           is_device(part, length);
}

/* Returns what follows the drive of a name, if it has one, which may stand behind the prefix of long names. */
static const char *behind_drive(const char *path) {
    const bool prefixed =
        is_separator(path[0]) && is_separator(path[1]) && path[2] == '?' && is_separator(path[3]);
    const char *const drive = prefixed ? path + 4 : path;
    return drive[0] != '\0' && drive[1] == ':' ? drive + 2 : path;
}

static bool has_mistaken_part(const char *path) {
    if (_stricmp(path, "NUL") == 0) return false; /* the device that takes everything */
    for (const char *part = behind_drive(path); *part != '\0';) {
        size_t length = 0;
        while (part[length] != '\0' && !is_separator(part[length])) ++length;
        if (is_mistaken(part, length)) return true;
        part += length;
        while (is_separator(*part)) ++part;
    }
    return false;
}

static wchar_t *wide_of(const char *text) {
    const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    if (length <= 0) {
        errno = EILSEQ;
        return NULL;
    }
    wchar_t *const wide = malloc((size_t)length * sizeof *wide);
    if (wide == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    (void)MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, length);
    return wide;
}

/* Returns the name from the root on, with the prefix, and releases the short one. */
static wchar_t *lengthen(wchar_t *name) {
    static const wchar_t prefix[] = L"\\\\?\\", share[] = L"\\\\?\\UNC\\";
    const DWORD room = GetFullPathNameW(name, 0, NULL, NULL);
    wchar_t *const whole = malloc(((size_t)room + 16) * sizeof *whole);
    if (room == 0 || whole == NULL) {
        errno = whole == NULL ? ENOMEM : ENAMETOOLONG;
        free(whole);
        free(name);
        return NULL;
    }
    wchar_t *const text = whole + 8; /* room for the longer prefix */
    const DWORD length = GetFullPathNameW(name, room, text, NULL);
    const bool prefixed = wcsncmp(text, prefix, 4) == 0, shared = !prefixed && wcsncmp(text, L"\\\\", 2) == 0;
    free(name);
    if (prefixed) {
        memmove(whole, text, ((size_t)length + 1) * sizeof *whole);
    } else if (shared) {
        memmove(whole + 8, text + 2, ((size_t)length - 1) * sizeof *whole);
        memcpy(whole, share, 8 * sizeof *whole);
    } else {
        memmove(whole + 4, text, ((size_t)length + 1) * sizeof *whole);
        memcpy(whole, prefix, 4 * sizeof *whole);
    }
    return whole;
}

wchar_t *tvlm_windows_name(const char *path) {
    if (path[0] == '\0' || has_mistaken_part(path)) {
        errno = path[0] == '\0' ? ENOENT : EINVAL;
        return NULL;
    }
    wchar_t *const name = wide_of(path);
    if (name == NULL) return NULL;
    const DWORD length = GetFullPathNameW(name, 0, NULL, NULL);
    return length < LONG_NAME ? name : lengthen(name);
}

char *tvlm_windows_utf8(const wchar_t *text) {
    const int size = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text, -1, NULL, 0, NULL, NULL);
    char *const utf8 = size > 0 ? malloc((size_t)size) : NULL;
    if (utf8 == NULL) {
        errno = size > 0 ? ENOMEM : EILSEQ;
        return NULL;
    }
    (void)WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, size, NULL, NULL);
    return utf8;
}

void tvlm_windows_set_errno(void) {
    static const struct {
        DWORD error;
        int code;
    } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
                 {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_INVALID_NAME, ENOENT},
                 {ERROR_BAD_NETPATH, ENOENT},
                 {ERROR_BAD_NET_NAME, ENOENT},
                 {ERROR_INVALID_DRIVE, ENOENT},
                 {ERROR_ACCESS_DENIED, EACCES},
                 {ERROR_SHARING_VIOLATION, EACCES},
                 {ERROR_LOCK_VIOLATION, EACCES},
                 {ERROR_WRITE_PROTECT, EROFS},
                 {ERROR_FILE_EXISTS, EEXIST},
                 {ERROR_ALREADY_EXISTS, EEXIST},
                 {ERROR_DISK_FULL, ENOSPC},
                 {ERROR_HANDLE_DISK_FULL, ENOSPC},
                 {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                 {ERROR_OUTOFMEMORY, ENOMEM},
                 {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
                 {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
                 {ERROR_NOT_SAME_DEVICE, EXDEV},
                 {ERROR_DIRECTORY, ENOTDIR},
                 {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
                 {ERROR_BROKEN_PIPE, EPIPE},
                 {ERROR_NO_DATA, EPIPE}};
    const DWORD error = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (known[i].error == error) errno = known[i].code;
}
