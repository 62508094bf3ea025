/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h: files and folders. Their names are in UTF-8 on every system, and may be longer than the 260 characters that
 * Windows once had. On Windows a name is refused that would silently mean something else: one of a device (COM1), with
 * or without an ending, one that ends in a dot or a space, and one with a colon behind that of the drive, which would be a stream of
 * another file. NUL alone is the device that takes everything.
 *
 * An open file is a number, as C libraries of all systems have it. What fails leaves the reason in errno, for
 * tvlm_system_words. Any thread may call these functions at any time.
 */
#ifndef TVLM_PLATFORM_FILE_H
#define TVLM_PLATFORM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tells one file from all others, whatever its names are. */
typedef struct tvlm_file_identity {
    uint64_t device, file;
} tvlm_file_identity;

typedef struct tvlm_file_facts {
    bool ordinary, folder; /* neither: a device, a pipe or a socket */
    bool own; /* It belongs to the user, and nobody else may write to it. Windows is not asked: true. */
    unsigned permissions;        /* for tvlm_file_permit */
    uint64_t size;               /* in bytes, of an ordinary file */
    tvlm_file_identity identity; /* on Windows of files and folders alone */
} tvlm_file_facts;

/* Finds out what a name leads to, through symbolic links. false with ENOENT: to nothing. */
bool tvlm_path_facts(const char *path, tvlm_file_facts *facts);

/* Whether there is something of that name, a link that leads to nothing included. */
bool tvlm_path_exists(const char *path);

/* Whether this process may write to an existing file, or make files in an existing folder. */
bool tvlm_path_writable(const char *path);

bool tvlm_path_is_link(const char *path);

/* Writes what a symbolic link says, which may be from its own folder on, and lead to nothing. false: it is none, or too long. */
bool tvlm_path_link(const char *path, char *text, size_t size);

/* Returns the file to which a symbolic link leads, in memory from malloc, or a copy of the name if it is none. NULL with
 * ENOENT: the link leads to nothing. */
char *tvlm_path_target(const char *path);

/* Returns how much of a name is the folder, with the separator at its end: 0 where there is none. */
size_t tvlm_path_folder(const char *path);

/* Whether a name says from the root where the file is. */
bool tvlm_path_whole(const char *path);

/* Removes a file. On POSIX, a signal's handler may call it. */
bool tvlm_path_remove(const char *path);

/* Gives a file another name in the same folder, in one step: whoever opens that name has the old file or the new one. */
bool tvlm_path_rename(const char *from, const char *to);

/* Makes a folder. `alone`: nobody but the user may look into it. */
bool tvlm_folder_make(const char *path, bool alone);

/* These open a file and return its number, or -1. Programs that this one starts do not have it. */

/* To be read. `wait`: if it is a pipe, until somebody has opened it to write. */
int tvlm_file_open(const char *path, bool wait);
/* To be written, and emptied. It is made where it is missing. */
int tvlm_file_empty(const char *path);
/* To be written from its beginning, and with `read` to be read, with what is in it. It is made where it is missing. */
int tvlm_file_update(const char *path, bool read);
/* To be written. EEXIST: there is one. `alone`: nobody but the user may read or write it. */
int tvlm_file_make(const char *path, bool alone);
/* Standard output or standard error once more, if the name is theirs: /dev/stdout, /dev/stderr. -1 with errno 0: it is not. */
int tvlm_file_standard(const char *path);

/* Standard input once more. */
int tvlm_file_input(void);
/* The same file once more, with the same place. */
int tvlm_file_again(int file);

bool tvlm_file_facts_of(int file, tvlm_file_facts *facts);

/* Gives a new file the permissions of another one. File systems without permissions do nothing, and that is no error. */
void tvlm_file_permit(int file, const tvlm_file_facts *other);

/* Reads until there are `size` bytes, or the file ends. Returns their number, or -1. */
int64_t tvlm_file_get(int file, void *bytes, size_t size);

/* Reads what is there, up to `size` bytes, and waits only for the first. Returns their number, 0 at the end, or -1. */
int64_t tvlm_file_some(int file, void *bytes, size_t size);

bool tvlm_file_put(int file, const void *bytes, size_t size);

/* For file.c: writes some of the bytes, and returns how many, or -1. */
int64_t tvlm_file_put_some(int file, const void *bytes, size_t size);

/* Sets the place at which the next byte is read. */
bool tvlm_file_seek(int file, uint64_t offset);

/* Makes a file that is long end after `length` bytes, where the next byte is then written. */
bool tvlm_file_cut(int file, uint64_t length);

/* Lets other processes know that this one writes to the file, as long as it is open. false: another one does. Where a file system
 * has no such locks, it is true. */
bool tvlm_file_lock(int file);

/* Some file systems report a full disk only here. The number is free again in any case. */
bool tvlm_file_close(int file);

/* Writes the system's words for a value of errno. */
void tvlm_system_words(int code, char *text, size_t size);

/* Writes the folder in which this user's programs keep what they can make again, such as /home/me/.cache. false: there is none, or
 * its name is longer than `size` bytes. There is none where the home does not exist (/nonexistent of Debian's system users): root
 * could make that folder, and must not. */
bool tvlm_cache_home(char *path, size_t size);

/* The number of this process. */
long tvlm_process_number(void);

#endif
