/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_list.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

/* A file with a longer name in it is not a list of names. */
enum { NAME_MAX_BYTES = 65536 };

struct batch_list {
    int file, wake[2]; /* the list; a pipe that becomes readable when the list is stopped */
    char end;
    bool ended;
    size_t first, last; /* the bytes that were read, but not given yet */
    char bytes[NAME_MAX_BYTES];
};

batch_list *batch_list_open(const char *path, char end) {
    const bool standard = strcmp(path, FILES_STDIN) == 0; /* a socket cannot be opened by its name */
    batch_list *const list = calloc(1, sizeof *list);
    if (list == NULL) return NULL;
    *list = (batch_list){.file = -1, .wake = {-1, -1}, .end = end};
    list->file = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (list->file >= 0 && pipe(list->wake) == 0) return list;
    const int error = errno;
    batch_list *unfinished = list;
    batch_list_close(&unfinished);
    errno = error;
    return NULL;
}

/* Waits until there is something to read, or until the list is stopped; then it returns false. */
static bool wait_for_bytes(const batch_list *list) {
    struct pollfd files[] = {{.fd = list->file, .events = POLLIN}, {.fd = list->wake[0], .events = POLLIN}};
    while (poll(files, 2, -1) < 0)
        if (errno != EINTR) return true; /* the read that follows reports the error */
    return files[1].revents == 0;
}

/* Reads the bytes that are available, and appends them to those that are there already. */
static bool fill(batch_list *list, char *error, size_t error_size) {
    memmove(list->bytes, list->bytes + list->first, list->last - list->first);
    list->last -= list->first;
    list->first = 0;
    if (list->last == sizeof list->bytes) {
        snprintf(error, error_size, "a name of more than %d bytes: this is no list of names", NAME_MAX_BYTES);
        return false;
    }
    ssize_t count = -1;
    do {
        if (!wait_for_bytes(list)) return false;
        count = read(list->file, list->bytes + list->last, sizeof list->bytes - list->last);
    } while (count < 0 && errno == EINTR);
    if (count < 0) snprintf(error, error_size, "cannot be read: %s", strerror(errno));
    if (count > 0) list->last += (size_t)count;
    if (count == 0) list->ended = true;
    return count >= 0;
}

/* Takes the name that ends at `end`. It will not be given again. */
static bool take(batch_list *list, size_t end, char **name, char *error, size_t error_size) {
    const char *const begin = list->bytes + list->first;
    const size_t length = end - list->first;
    *name = NULL;
    if (memchr(begin, '\0', length) != NULL) {
        snprintf(error, error_size, "a name has a zero byte: names that end so need --null");
        return false;
    }
    *name = strndup(begin, length);
    list->first = end < list->last ? end + 1 : end;
    if (*name == NULL) snprintf(error, error_size, "no memory for a name");
    return *name != NULL;
}

bool batch_list_next(batch_list *list, char **name, char *error, size_t error_size) {
    size_t searched = list->first;
    error[0] = '\0';
    for (;;) {
        const char *const found = memchr(list->bytes + searched, list->end, list->last - searched);
        const size_t end = found != NULL ? (size_t)(found - list->bytes) : list->last;
        if (found != NULL && end == list->first) {
            searched = ++list->first; /* an empty name */
        } else if (found != NULL || (list->ended && list->first < list->last)) {
            return take(list, end, name, error, error_size);
        } else {
            const size_t held = list->last - list->first;
            if (list->ended || !fill(list, error, error_size)) return false;
            searched = held;
        }
    }
}

void batch_list_stop(batch_list *list) {
    if (list == NULL) return;
    const char byte = 0;
    ssize_t written;
    do written = write(list->wake[1], &byte, 1);
    while (written < 0 && errno == EINTR);
}

void batch_list_close(batch_list **list) {
    if (*list == NULL) return;
    const int files[] = {(*list)->file, (*list)->wake[0], (*list)->wake[1]};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i)
        if (files[i] >= 0) (void)close(files[i]);
    free(*list);
    *list = NULL;
}
