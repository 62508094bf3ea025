/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* NOLINT: for fts, strcasecmp */
#include "batch_names.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch_archive.h"
#include "texturevlm/io.h"

/* ---- Lists ---- */

/* A file with a longer name in it is not a list of names. */
enum { NAME_MAX_BYTES = 65536 };

/* A file or a pipe with names, each of which is given as soon as it is there. A thread that waits for the next name
 * can be woken, so that the tool can end even while a program keeps it waiting for names. */
typedef struct batch_list {
    int file, wake[2]; /* the list; a pipe that becomes readable when the list is stopped */
    char end;
    bool ended;
    size_t first, last; /* the bytes that were read, but not given yet */
    char bytes[NAME_MAX_BYTES];
} batch_list;

static void batch_list_close(batch_list **list) {
    if (*list == NULL) return;
    const int files[] = {(*list)->file, (*list)->wake[0], (*list)->wake[1]};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i)
        if (files[i] >= 0) (void)close(files[i]);
    free(*list);
    *list = NULL;
}

/* Opens a list in which each name ends with the character `end`. Returns NULL if it cannot be opened; errno
 * says why. */
static batch_list *batch_list_open(const char *path, char end) {
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

/*
 * Gives a copy of the next name that is not empty. The caller frees it. Returns false if there is none.
 * `error` then says why the list could not be read to its end; it is "" if the list ended, or was stopped.
 */
static bool batch_list_next(batch_list *list, char **name, char *error, size_t error_size) {
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

/* Wakes up a thread that waits in batch_list_next, and lets no later call wait. Any thread may call this. */
static void batch_list_stop(batch_list *list) {
    if (list == NULL) return;
    const char byte = 0;
    ssize_t written;
    do written = write(list->wake[1], &byte, 1);
    while (written < 0 && errno == EINTR);
}

/* ---- Names ---- */

/* The endings of pictures that are looked for in folders and archives. Elsewhere the content decides, not the
 * name. */
static const char *const picture_ends[] = {".jpg", ".jpeg", ".jpe",  ".png",  ".bmp",  ".ppm", ".pgm",
                                           ".pnm", ".webp", ".avif", ".heic", ".heif", NULL};
static const char *const archive_ends[] = {".tar",    ".tar.gz",  ".tgz", ".tar.bz2",
                                           ".tar.xz", ".tar.zst", NULL};

struct batch_names {
    struct batch_names_params params;
    const tvlm_log *log;
    int64_t number;
    int operand;      /* the index of the next operand */
    batch_list *list; /* NULL: there is none */
    bool list_ended;
    FTS *folder;            /* the folder that is walked now, or NULL */
    char *folder_name;      /* the name of that folder as it was given */
    bool found;             /* whether anything was found in it */
    batch_archive *archive; /* the archive that is read now, or NULL; it may lie in the folder */
    char *archive_name;
    bool found_member; /* whether a picture was found in it */
    void *stems;       /* a tree of taken_stem */
};

static bool ends_with(const char *name, const char *const *ends) {
    const size_t length = strlen(name);
    for (; *ends != NULL; ++ends) {
        const size_t tail = strlen(*ends);
        if (length > tail && strcasecmp(name + length - tail, *ends) == 0) return true;
    }
    return false;
}

bool batch_is_archive(const char *name) {
    return ends_with(name, archive_ends);
}

void batch_input_release(batch_input *input) {
    free(input->name);
    free(input->stem);
    *input = (batch_input){0};
}

int batch_names_open(struct tool *tool, const struct batch_names_params *params, batch_names **names) {
    batch_names *const made = calloc(1, sizeof *made);
    const char *const list = params->sources->list;
    if (made == NULL) return tool_fail(tool, "no memory for names");
    made->params = *params;
    made->log = &tool->log;
    if (list != NULL) made->list = batch_list_open(list, params->sources->null > 0 ? '\0' : '\n');
    *names = made;
    if (list == NULL || made->list != NULL) return TOOL_DONE;
    const int cause = errno;
    batch_names_close(names);
    return tool_fail(tool, "cannot read %.512s: %s", list, strerror(cause));
}

/* ---- Names of files ---- */

/* A stem that is taken, and the number to try next for another input of that name. The number is kept since
 * thousands of folders may have the same names. */
typedef struct taken_stem {
    int64_t next;
    char text[];
} taken_stem;

static int compare(const void *first, const void *second) {
    return strcmp(((const taken_stem *)first)->text, ((const taken_stem *)second)->text);
}

/* Takes a stem, or finds that it is taken already; *new says which. Returns NULL if there is no memory. */
static taken_stem *take_stem(batch_names *names, const char *text, bool *new) {
    const size_t size = strlen(text) + 1;
    taken_stem *const own = calloc(1, sizeof *own + size);
    if (own == NULL) return NULL;
    own->next = 2;
    memcpy(own->text, text, size);
    taken_stem *const *const known = tsearch(own, &names->stems, compare);
    *new = known != NULL &&*known == own;
    if (!*new) free(own);
    return known != NULL ? *known : NULL;
}

/* Returns the stem of a name. For a second input with the same stem it appends -2, and so on. Returns NULL if
 * there is no memory. */
static char *make_stem(batch_names *names, const char *name) {
    enum { STEM_BYTES = 256 };
    char stem[STEM_BYTES], numbered[STEM_BYTES + 24];
    bool new = false;
    tool_stem(name, stem, sizeof stem);
    taken_stem *const first = take_stem(names, stem, &new), *found = first;
    while (found != NULL && !new) {
        snprintf(numbered, sizeof numbered, "%s-%lld", stem, (long long)first->next++);
        found = take_stem(names, numbered, &new);
    }
    return found != NULL ? strdup(found->text) : NULL;
}

/* ---- Handing out ---- */

/* Gives an input, and takes ownership of its name. Returns false if the input is passed over. */
static bool hand_out(batch_names *names, char *name, const char *error, batch_input *input) {
    const int64_t number = names->number++;
    char *const stem = name != NULL && names->params.stems ? make_stem(names, name) : NULL;
    const bool made = name != NULL && (stem != NULL || !names->params.stems);
    if (name != NULL && names->params.lines != NULL && batch_lines_passed(names->params.lines, name)) {
        free(name);
        free(stem);
        return false;
    }
    *input = (batch_input){.name = name, .stem = stem, .number = number};
    snprintf(input->error, sizeof input->error, "%s", made ? error : "no memory for a name");
    return true;
}

/* ---- Archives ---- */

/* Begins to read an archive, and takes ownership of its name. Returns false if it gave an input that says why
 * it could not. */
static bool open_archive(batch_names *names, char *name, batch_input *input) {
    char error[sizeof input->error];
    names->archive = batch_archive_open(name, names->params.memory / 4, error, sizeof error);
    if (names->archive == NULL) return !hand_out(names, name, error, input);
    names->archive_name = name;
    names->found_member = false;
    return true;
}

static void close_archive(batch_names *names) {
    batch_archive_close(&names->archive);
    free(names->archive_name);
    names->archive_name = NULL;
}

/* Returns the name ARCHIVE/MEMBER, or NULL if there is no memory. */
static char *name_member(const char *archive, const char *member) {
    const size_t size = strlen(archive) + strlen(member) + 2;
    char *const name = malloc(size);
    if (name != NULL) snprintf(name, size, "%s/%s", archive, member);
    return name;
}

static bool is_picture_member(const char *member) {
    const char *const slash = strrchr(member, '/');
    return (slash != NULL ? slash[1] : member[0]) != '.' && ends_with(member, picture_ends);
}

/* Closes the archive at its end. If there is an error to report about it, gives an input with that error;
 * otherwise returns false. */
static bool end_archive(batch_names *names, const char *error, batch_input *input) {
    char *const name = names->archive_name;
    const bool found = names->found_member, damaged = batch_archive_broken(names->archive);
    if (batch_archive_unmarked(names->archive))
        tvlm_log_message(
            names->log, TVLM_LOG_WARNING,
            "%.512s: ends without the blocks that mark an archive's end: if it was cut, members are missing",
            name);
    names->archive_name = NULL;
    close_archive(names);
    if (error[0] == '\0' && !found) error = "there is no picture in this archive";
    if (error[0] != '\0') {
        if (!hand_out(names, name, error, input)) return false;
        input->damaged = damaged;
        return true;
    }
    free(name);
    return false;
}

/* Gives the next picture of the archive. Returns false if there are no more. */
static bool next_of_archive(batch_names *names, batch_input *input) {
    char error[sizeof input->error];
    const char *member;
    while (batch_archive_next(names->archive, &member, error, sizeof error)) {
        while (strncmp(member, "./", 2) == 0) member += 2;
        if (!is_picture_member(member)) continue;
        names->found_member = true;
        if (!hand_out(names, name_member(names->archive_name, member), "", input)) {
            batch_archive_pass(names->archive); /* damage was reported when this member was first read */
            continue;
        }
        if (input->error[0] == '\0') input->archive = names->archive;
        return true;
    }
    return end_archive(names, error, input);
}

/* ---- Folders ---- */

static int by_name(const FTSENT **first, const FTSENT **second) {
    return strcmp((*first)->fts_name, (*second)->fts_name);
}

/* Begins to walk a folder, and takes ownership of its name. Returns false if it gave an input that says why
 * it could not. */
static bool open_folder(batch_names *names, char *name, batch_input *input) {
    char *paths[] = {name, NULL};
    names->folder = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    if (names->folder == NULL) return !hand_out(names, name, strerror(errno), input);
    names->folder_name = name;
    names->found = false;
    return true;
}

static void close_folder(batch_names *names) {
    if (names->folder != NULL) (void)fts_close(names->folder);
    names->folder = NULL;
    free(names->folder_name);
    names->folder_name = NULL;
}

static bool is_picture(const FTSENT *entry) {
    struct stat info;
    if (!ends_with(entry->fts_name, picture_ends) && !batch_is_archive(entry->fts_name)) return false;
    if (entry->fts_info == FTS_F) return true;
    return entry->fts_info == FTS_SL && stat(entry->fts_path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Gives the next picture of the folder, or at its end an input that says what was wrong. Returns false if
 * there is nothing more to give. */
static bool next_of_folder(batch_names *names, batch_input *input) {
    FTSENT *entry;
    while ((entry = fts_read(names->folder)) != NULL) {
        const bool hidden = entry->fts_level > 0 && entry->fts_name[0] == '.';
        const bool bad =
            entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS;
        if (hidden) (void)fts_set(names->folder, entry, FTS_SKIP);
        if (hidden || (!bad && !is_picture(entry))) continue;
        names->found = true;
        char *const path = strdup(entry->fts_path);
        if (path != NULL && !bad && batch_is_archive(path)) {
            if (!open_archive(names, path, input) || next_of_archive(names, input)) return true;
        } else if (hand_out(names, path, bad ? strerror(entry->fts_errno) : "", input)) {
            return true;
        }
    }
    const int cause = errno; /* fts_read sets it to 0 if there are no more entries */
    char *const name = names->folder_name;
    names->folder_name = NULL;
    close_folder(names);
    if (cause != 0) return hand_out(names, name, strerror(cause), input);
    if (!names->found) return hand_out(names, name, "there is no picture in this folder", input);
    free(name);
    return false;
}

/* ---- All of them ---- */

/* Finds the next operand or name of the list. The caller owns *name. Returns false if there are no more.
 * `error` says what is wrong with the name. */
static bool next_given(batch_names *names, char **name, char *error, size_t error_size) {
    error[0] = '\0';
    if (names->operand < names->params.count) {
        *name = strdup(names->params.operands[names->operand++]);
        return true;
    }
    if (names->list == NULL || names->list_ended) return false;
    if (batch_list_next(names->list, name, error, error_size)) return true;
    names->list_ended = true;
    if (error[0] == '\0') return false;
    *name = strdup(names->params.sources->list);
    return true;
}

/* Begins with a name: a folder, an archive, or a file, which is given at once. Takes ownership of the name.
 * Returns false if it gave an input. */
static bool begin(batch_names *names, char *name, const char *error, batch_input *input) {
    struct stat info;
    const bool there = name != NULL && error[0] == '\0' && stat(name, &info) == 0;
    if (there && S_ISDIR(info.st_mode) && names->params.sources->recursive > 0)
        return open_folder(names, name, input);
    if (there && S_ISDIR(info.st_mode)) error = "is a folder (--recursive walks it)";
    if (there && !S_ISDIR(info.st_mode) && batch_is_archive(name)) return open_archive(names, name, input);
    return !hand_out(names, name, error, input);
}

bool batch_names_next(batch_names *names, batch_input *input) {
    char *name, error[sizeof input->error];
    for (;;) {
        if (names->archive != NULL) {
            if (next_of_archive(names, input)) return true;
        } else if (names->folder != NULL) {
            if (next_of_folder(names, input)) return true;
        } else if (!next_given(names, &name, error, sizeof error)) {
            return false;
        } else if (!begin(names, name, error, input)) {
            return true;
        }
    }
}

void batch_names_stop(batch_names *names) {
    batch_list_stop(names->list);
}

void batch_names_close(batch_names **names) {
    if (*names == NULL) return;
    close_archive(*names);
    close_folder(*names);
    batch_list_close(&(*names)->list);
    while ((*names)->stems != NULL) {
        taken_stem *const stem = *(taken_stem **)(*names)->stems;
        (void)tdelete(stem, &(*names)->stems, compare);
        free(stem);
    }
    free(*names);
    *names = NULL;
}
