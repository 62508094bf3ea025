/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/file.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include "platform/environment.h"
#include "platform/windows/names.h"

/* FILE_INFO_BY_HANDLE_CLASS's FileRenameInfoEx and its flags, which not all headers have. */
#define RENAME_INFO_EX         22
#define RENAME_REPLACE         0x1
#define RENAME_POSIX_SEMANTICS 0x2

/* The C library's functions read and write at most INT_MAX bytes in one call. */
#define PIECE ((size_t)1 << 30)

/* The name of standard input on other systems, which the tool has for it on every one. */
#define INPUT "/dev/stdin"

/* What others may do with a file while it is open here: everything, as on other systems. */
#define SHARED (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

static DWORD attributes_of(const char *path) {
    wchar_t *const name = tvlm_windows_name(path);
    if (name == NULL) return INVALID_FILE_ATTRIBUTES;
    const DWORD attributes = GetFileAttributesW(name);
    if (attributes == INVALID_FILE_ATTRIBUTES) tvlm_windows_set_errno();
    free(name);
    return attributes;
}

static bool take_facts(HANDLE handle, tvlm_file_facts *facts) {
    BY_HANDLE_FILE_INFORMATION found;
    *facts = (tvlm_file_facts){.own = true};
    if (GetFileType(handle) != FILE_TYPE_DISK) return true;
    if (!GetFileInformationByHandle(handle, &found)) {
        if (GetLastError() == ERROR_INVALID_HANDLE)
            return true; /* as wine says of what was redirected: it is read to its end */
        tvlm_windows_set_errno();
        return false;
    }
    facts->folder = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    facts->ordinary = !facts->folder;
    if (facts->ordinary) facts->size = (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow;
    facts->identity = (tvlm_file_identity){found.dwVolumeSerialNumber,
                                           (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow};
    return true;
}

/* Opens a file or a folder as CreateFile does. INVALID_HANDLE_VALUE: errno says why. */
static HANDLE open_name(const char *path, DWORD access, DWORD disposition, DWORD flags) {
    wchar_t *const name = tvlm_windows_name(path);
    if (name == NULL) return INVALID_HANDLE_VALUE;
    const HANDLE handle = CreateFileW(name, access, SHARED, NULL, disposition, flags, NULL);
    if (handle == INVALID_HANDLE_VALUE) tvlm_windows_set_errno();
    free(name);
    return handle;
}

bool tvlm_path_facts(const char *path, tvlm_file_facts *facts) {
    if (strcmp(path, INPUT) == 0) return take_facts((HANDLE)_get_osfhandle(_fileno(stdin)), facts);
    const HANDLE handle = open_name(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE) return false;
    const bool found = take_facts(handle, facts);
    CloseHandle(handle);
    return found;
}

bool tvlm_path_exists(const char *path) {
    return attributes_of(path) != INVALID_FILE_ATTRIBUTES;
}

/* Of a folder Windows tells only when a file is made in it. */
bool tvlm_path_writable(const char *path) {
    const DWORD attributes = attributes_of(path);
    if (attributes == INVALID_FILE_ATTRIBUTES) return false;
    if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 || (attributes & FILE_ATTRIBUTE_READONLY) == 0)
        return true;
    errno = EACCES;
    return false;
}

bool tvlm_path_is_link(const char *path) {
    const DWORD attributes = attributes_of(path);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

/* What a link says, other than where it leads, is asked for of links that lead to nothing. Windows opens none of these. */
bool tvlm_path_link(const char *path, char *text, size_t size) {
    (void)path;
    (void)text;
    (void)size;
    return false;
}

char *tvlm_path_target(const char *path) {
    if (!tvlm_path_is_link(path)) {
        char *const copy = strdup(path);
        if (copy == NULL) errno = ENOMEM;
        return copy;
    }
    const HANDLE handle = open_name(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE) return NULL;
    const DWORD room = GetFinalPathNameByHandleW(handle, NULL, 0, FILE_NAME_NORMALIZED);
    wchar_t *const name = malloc(((size_t)room + 1) * sizeof *name);
    char *target = NULL;
    if (name == NULL)
        errno = ENOMEM;
    else if (GetFinalPathNameByHandleW(handle, name, room, FILE_NAME_NORMALIZED) == 0)
        tvlm_windows_set_errno();
    else
        target = tvlm_windows_utf8(name);
    free(name);
    CloseHandle(handle);
    return target;
}

/* A colon separates only the drive: elsewhere it makes a name that is refused. */
size_t tvlm_path_folder(const char *path) {
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] != '/' && path[length - 1] != '\\' &&
           !(length == 2 && path[1] == ':'))
        --length;
    return length;
}

bool tvlm_path_whole(const char *path) {
    const bool drive = path[0] != '\0' && path[1] == ':' && (path[2] == '/' || path[2] == '\\');
    return drive || (path[0] == '\\' && path[1] == '\\');
}

bool tvlm_path_remove(const char *path) {
    wchar_t *const name = tvlm_windows_name(path);
    if (name == NULL) return false;
    const bool removed = DeleteFileW(name);
    if (!removed) tvlm_windows_set_errno();
    free(name);
    return removed;
}

/* As POSIX has it: whoever has the old file open goes on reading that. File systems other than NTFS cannot, nor could Windows before
 * version 10. */
static bool rename_over_open(const wchar_t *old, const wchar_t *new) {
    const DWORD room = GetFullPathNameW(new, 0, NULL, NULL);
    const size_t size = offsetof(FILE_RENAME_INFO, FileName) + ((size_t)room + 1) * sizeof(wchar_t);
    FILE_RENAME_INFO *const info = calloc(1, size);
    if (info == NULL) return false;
    const DWORD flags = RENAME_REPLACE | RENAME_POSIX_SEMANTICS;
    memcpy(info, &flags, sizeof flags); /* in older headers the member has another name */
    info->FileNameLength = GetFullPathNameW(new, room, info->FileName, NULL) * (DWORD)sizeof(wchar_t);
    const HANDLE handle =
        CreateFileW(old, DELETE, SHARED, NULL, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    bool renamed = false;
    if (handle != INVALID_HANDLE_VALUE) {
        renamed =
            SetFileInformationByHandle(handle, (FILE_INFO_BY_HANDLE_CLASS)RENAME_INFO_EX, info, (DWORD)size);
        CloseHandle(handle);
    }
    free(info);
    return renamed;
}

bool tvlm_path_rename(const char *from, const char *to) {
    wchar_t *const old = tvlm_windows_name(from), *const new = tvlm_windows_name(to);
    bool renamed = old != NULL && new != NULL;
    if (renamed && !rename_over_open(old, new)) {
        renamed = MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
        if (!renamed) tvlm_windows_set_errno();
    }
    free(old);
    free(new);
    return renamed;
}

/* Who may look into it is what Windows has decided for the folder above. */
bool tvlm_folder_make(const char *path, bool alone) {
    (void)alone;
    wchar_t *const name = tvlm_windows_name(path);
    if (name == NULL) return false;
    const bool made = CreateDirectoryW(name, NULL);
    if (!made) tvlm_windows_set_errno();
    free(name);
    return made;
}

static int number_of(HANDLE handle, int flags) {
    if (handle == INVALID_HANDLE_VALUE) return -1;
    const int file = _open_osfhandle((intptr_t)handle, flags | _O_BINARY | _O_NOINHERIT);
    if (file < 0) CloseHandle(handle);
    return file;
}

int tvlm_file_open(const char *path, bool wait) {
    (void)wait; /* pipes with a name are another thing here */
    if (strcmp(path, INPUT) == 0) return tvlm_file_input();
    /* As a folder it can be opened, so that the caller can say that it is one. */
    return number_of(open_name(path, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS), _O_RDONLY);
}

int tvlm_file_empty(const char *path) {
    const DWORD disposition = _stricmp(path, "NUL") == 0 ? OPEN_EXISTING : CREATE_ALWAYS;
    return number_of(open_name(path, GENERIC_WRITE, disposition, FILE_ATTRIBUTE_NORMAL), _O_WRONLY);
}

int tvlm_file_update(const char *path, bool read) {
    const DWORD access = read ? GENERIC_READ | GENERIC_WRITE : GENERIC_WRITE;
    const DWORD disposition = _stricmp(path, "NUL") == 0 ? OPEN_EXISTING : OPEN_ALWAYS;
    return number_of(open_name(path, access, disposition, FILE_ATTRIBUTE_NORMAL), read ? _O_RDWR : _O_WRONLY);
}

int tvlm_file_make(const char *path, bool alone) {
    (void)alone; /* decided by the folder */
    return number_of(open_name(path, GENERIC_WRITE, CREATE_NEW, FILE_ATTRIBUTE_NORMAL), _O_WRONLY);
}

/* The names of other systems, so that what is written for these works here. */
int tvlm_file_standard(const char *path) {
    errno = 0;
    const bool error = strcmp(path, "/dev/stderr") == 0;
    if (!error && strcmp(path, "/dev/stdout") != 0) return -1;
    return tvlm_file_again(_fileno(error ? stderr : stdout));
}

int tvlm_file_input(void) {
    return tvlm_file_again(_fileno(stdin));
}

int tvlm_file_again(int file) {
    const int again = _dup(file);
    if (again >= 0) (void)_setmode(again, _O_BINARY);
    return again;
}

bool tvlm_file_facts_of(int file, tvlm_file_facts *facts) {
    return take_facts((HANDLE)_get_osfhandle(file), facts);
}

void tvlm_file_permit(int file, const tvlm_file_facts *other) {
    (void)file;
    (void)other;
}

int64_t tvlm_file_some(int file, void *bytes, size_t size) {
    tvlm_file_facts facts;
    const int64_t count = _read(file, bytes, (unsigned)(size < PIECE ? size : PIECE));
    if (count < 0 && errno == EINVAL && tvlm_file_facts_of(file, &facts))
        errno = facts.folder ? EISDIR : EINVAL;
    return count;
}

int64_t tvlm_file_put_some(int file, const void *bytes, size_t size) {
    return _write(file, bytes, (unsigned)(size < PIECE ? size : PIECE));
}

bool tvlm_file_seek(int file, uint64_t offset) {
    return _lseeki64(file, (int64_t)offset, SEEK_SET) >= 0;
}

bool tvlm_file_cut(int file, uint64_t length) {
    return _chsize_s(file, (int64_t)length) == 0 && tvlm_file_seek(file, length);
}

/* A byte that no file has is locked: locked bytes could not be read by others. */
bool tvlm_file_lock(int file) {
    OVERLAPPED place = {.Offset = 0xfffffffe, .OffsetHigh = 0x7fffffff};
    const HANDLE handle = (HANDLE)_get_osfhandle(file);
    return LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) ||
           GetLastError() != ERROR_LOCK_VIOLATION;
}

bool tvlm_file_close(int file) {
    return _close(file) == 0;
}

void tvlm_system_words(int code, char *text, size_t size) {
    if (strerror_s(text, size, code) != 0) snprintf(text, size, "error %d", code);
}

bool tvlm_cache_home(char *path, size_t size) {
    const char *home = tvlm_variable("XDG_CACHE_HOME");
    if (home == NULL || !tvlm_path_whole(home)) home = tvlm_variable("LOCALAPPDATA");
    if (home == NULL) return false;
    const int length = snprintf(path, size, "%s", home);
    if (length <= 0 || (size_t)length >= size) return false;
    for (char *at = path; *at != '\0'; ++at)
        if (*at == '\\') *at = '/';
    return true;
}

long tvlm_process_number(void) {
    return (long)GetCurrentProcessId();
}
