/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_names.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "batch_archive.h"
#include "folder_walk.h"
#include "platform/file.h"
#include "platform/waiter.h"
#include "texturevlm/io.h"

/* ---- Lists ---- */

/* A file with a longer name in it is not a list of names. */
enum { NAME_MAX_BYTES = 65536 };

/* A file or a pipe with names, each of which is given as soon as it is there. A thread that waits for the next name
 * can be woken, so that the tool can end even while a program keeps it waiting for names. */
typedef struct batch_list {
    int file;
    tvlm_waiter *waiter;
    char end;
    bool ended;
    bool begun;
    size_t first, last; /* the bytes that were read, but not given yet */
    char bytes[NAME_MAX_BYTES];
} batch_list;

static void batch_list_close(batch_list **list) {
    if (*list == NULL) return;
    tvlm_waiter_close(&(*list)->waiter);
    if ((*list)->file >= 0) (void)tvlm_file_close((*list)->file);
    free(*list);
    *list = NULL;
}

/* Opens a list in which each name ends with the character `end`. Returns NULL if it cannot be opened; errno
 * says why. */
static batch_list *batch_list_open(const char *path, char end) {
    const bool standard = strcmp(path, FILES_STDIN) == 0; /* a socket cannot be opened by its name */
    batch_list *const list = calloc(1, sizeof *list);
    if (list == NULL) return NULL;
    list->end = end;
    list->file = standard ? tvlm_file_input() : tvlm_file_open(path, true);
    if (list->file >= 0 && (list->waiter = tvlm_waiter_open(list->file)) != NULL) return list;
    const int error = errno;
    batch_list *unfinished = list;
    batch_list_close(&unfinished);
    errno = error;
    return NULL;
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
    if (!tvlm_waiter_wait(list->waiter)) return false;
    const int64_t count =
        tvlm_file_some(list->file, list->bytes + list->last, sizeof list->bytes - list->last);
    if (count < 0) snprintf(error, error_size, "cannot be read: %s", strerror(errno));
    if (count > 0) list->last += (size_t)count;
    if (count == 0) list->ended = true;
    return count >= 0;
}

/* Editors of Windows mark UTF-8 by three bytes before the first name. */
static void skip_mark(batch_list *list) {
    static const char mark[] = "\xEF\xBB\xBF";
    const bool marked = list->last - list->first >= 3 && memcmp(list->bytes + list->first, mark, 3) == 0;
    if (!list->begun && marked) list->first += 3;
    list->begun = true;
}

/* The bytes of the name that ends at `end`, without what ends lines on Windows. */
static size_t length_until(const batch_list *list, size_t end) {
    const size_t length = end - list->first;
    const bool returned = list->end == '\n' && length > 0 && list->bytes[end - 1] == '\r';
    return returned ? length - 1 : length;
}

/* Takes the name that ends at `end`. It will not be given again. */
static bool take(batch_list *list, size_t end, char **name, char *error, size_t error_size) {
    const char *const begin = list->bytes + list->first;
    const size_t length = length_until(list, end);
    *name = NULL;
    if (memchr(begin, '\0', length) != NULL) {
        snprintf(error, error_size, "a name has a zero byte: names that end so need --null");
        return false;
    }
    *name = malloc(length + 1);
    if (*name != NULL) memcpy(*name, begin, length);
    if (*name != NULL) (*name)[length] = '\0';
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
        if (found != NULL || list->ended) skip_mark(list); /* the first name is there, and no part of it */
        if (found != NULL && length_until(list, end) == 0) {
            searched = list->first = end + 1; /* an empty name */
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
    if (list != NULL) tvlm_waiter_stop(list->waiter);
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
    folder_walk *folder;    /* the folder that is walked now, or NULL */
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
 * it could not. Where that was said before, by a run that is resumed, there is no archive then. */
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

/* Begins to walk a folder, and takes ownership of its name. Returns false if it gave an input that says why
 * it could not. */
static bool open_folder(batch_names *names, char *name, batch_input *input) {
    names->folder = folder_walk_open(name);
    if (names->folder == NULL) return !hand_out(names, name, "no memory for a folder", input);
    names->folder_name = name;
    names->found = false;
    return true;
}

static void close_folder(batch_names *names) {
    folder_walk_close(&names->folder);
    free(names->folder_name);
    names->folder_name = NULL;
}

/* Gives the next picture of the folder, or at its end an input that says what was wrong. Returns false if
 * there is nothing more to give. */
static bool next_of_folder(batch_names *names, batch_input *input) {
    char *path;
    int bad;
    while (folder_walk_next(names->folder, &path, &bad)) {
        const bool archive = path != NULL && bad == 0 && batch_is_archive(path);
        if (path != NULL && bad == 0 && !archive && !ends_with(path, picture_ends)) {
            free(path);
            continue;
        }
        names->found = true;
        if (archive) {
            if (!open_archive(names, path, input)) return true;
            if (names->archive != NULL && next_of_archive(names, input)) return true;
        } else if (hand_out(names, path, bad != 0 ? strerror(bad) : "", input)) {
            return true;
        }
    }
    char *const name = names->folder_name;
    names->folder_name = NULL;
    close_folder(names);
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
    tvlm_file_facts facts;
    const bool there = name != NULL && error[0] == '\0' && tvlm_path_facts(name, &facts);
    if (there && facts.folder && names->params.sources->recursive > 0) return open_folder(names, name, input);
    if (there && facts.folder) error = "is a folder (--recursive walks it)";
    if (there && !facts.folder && batch_is_archive(name)) return open_archive(names, name, input);
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
