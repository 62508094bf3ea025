/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_lines.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "platform/stdio.h"

/* A name as it stands in JSON, and how many lines of that name have no input yet. */
typedef struct known_name {
    int count;
    char quoted[];
} known_name;

struct batch_lines {
    const char *path; /* belongs to the caller; NULL: stdout */
    int file;         /* -1: stdout */
    bool named;       /* stdout was named as the output: what else is said goes to stderr */
    bool ordinary;    /* an ordinary file: bytes that were written can be cut off again */
    uint64_t length;  /* the length of all complete lines */
    void *names;      /* a tree of known_name */
    int64_t found, failed;
    char *device; /* of the first line that names one, with its quotes; NULL: none does, or any will do */
};

/* ---- Names ---- */

static int compare(const void *first, const void *second) {
    return strcmp(((const known_name *)first)->quoted, ((const known_name *)second)->quoted);
}

/* Returns NULL if there is no memory. */
static known_name *make_name(const char *quoted, size_t length) {
    known_name *const name = calloc(1, sizeof *name + length + 1);
    if (name != NULL) memcpy(name->quoted, quoted, length);
    return name;
}

/* Counts one more line of a name. */
static bool add_name(batch_lines *lines, const char *quoted, size_t length) {
    known_name *const name = make_name(quoted, length);
    known_name *const *const known = name != NULL ? tsearch(name, &lines->names, compare) : NULL;
    if (known == NULL || *known != name) free(name);
    if (known != NULL) ++(*known)->count;
    return known != NULL;
}

bool batch_lines_passed(batch_lines *lines, const char *name) {
    json_writer json = {0};
    if (lines->names == NULL) return false;
    json_string(&json, NULL, name);
    known_name *const asked = json.failed ? NULL : make_name(json.text, json.length);
    known_name *const *const known = asked != NULL ? tfind(asked, &lines->names, compare) : NULL;
    const bool passed = known != NULL && (*known)->count > 0;
    if (passed) --(*known)->count;
    free(asked);
    json_release(&json);
    return passed;
}

/* ---- What is there ---- */

/* How lines of this file begin: for one question, and for several. The name of the image follows. */
static const char *const begins[] = {"{\"image\": {\"path\": \"",
                                     "{\"selections\": [{\"image\": {\"path\": \""};
enum { BEGINS = sizeof begins / sizeof *begins };

/* The quote that ends a string of JSON, which begins with the quote at `quoted`; or the end of the text, where none does. */
static const char *end_of_string(const char *quoted) {
    const char *at = quoted + 1;
    for (; *at != '"' && *at != '\0'; ++at)
        if (*at == '\\' && at[1] != '\0') ++at;
    return at;
}

/* Finds the name in a line, with its quotes. Returns false if the line does not begin as such lines do. */
static bool find_name(const char *line, const char **quoted, size_t *length) {
    for (size_t i = 0; i < BEGINS; ++i) {
        const size_t begin = strlen(begins[i]);
        if (strncmp(line, begins[i], begin) != 0) continue;
        *quoted = line + begin - 1;
        const char *const at = end_of_string(*quoted);
        *length = (size_t)(at - *quoted) + 1;
        return *at == '"';
    }
    return false;
}

/* The name of the device in a line, with its quotes, or NULL. Within a string, quotes would be escaped. */
static const char *find_device(const char *line, size_t *length) {
    static const char key[] = "\"device\": \"";
    const char *const found = strstr(line, key);
    if (found == NULL) return NULL;
    const char *const quoted = found + strlen(key) - 1, *const at = end_of_string(quoted);
    *length = (size_t)(at - quoted) + (*at == '"');
    return quoted;
}

/* Whether bytes without a newline at their end may be the beginning of such a line. */
static bool is_rest(const char *bytes, size_t size) {
    for (size_t i = 0; i < BEGINS; ++i) {
        const size_t begin = strlen(begins[i]);
        if (memcmp(bytes, begins[i], size < begin ? size : begin) == 0) return true;
    }
    return false;
}

static int refuse_line(struct tool *tool, const batch_lines *lines, int64_t number) {
    return tool_fail(tool, "%.512s: line %lld is none of --jsonl", lines->path, (long long)number);
}

/* Notes a line that is complete. */
static int note_line(struct tool *tool, batch_lines *lines, const char *line) {
    const char *quoted;
    size_t length;
    ++lines->found;
    if (!find_name(line, &quoted, &length)) return refuse_line(tool, lines, lines->found);
    size_t named = 0;
    const char *const device = lines->device == NULL ? find_device(line, &named) : NULL;
    if (device != NULL && (lines->device = calloc(named + 1, 1)) != NULL)
        memcpy(lines->device, device, named);
    lines->failed += strncmp(quoted + length, "}, \"error\": ", strlen("}, \"error\": ")) == 0;
    return add_name(lines, quoted, length) ? TOOL_DONE : tool_fail(tool, "no memory for the names of images");
}

/* Reads all complete lines. A last line without a newline will be cut off; it must be the beginning of such a
 * line, too. */
static int read_lines(struct tool *tool, batch_lines *lines, FILE *file) {
    char *line = NULL;
    size_t size = 0;
    size_t count;
    int code = TOOL_DONE;
    while (code == TOOL_DONE && (count = tvlm_stdio_line(file, &line, &size)) > 0) {
        if (line[count - 1] != '\n') {
            if (!is_rest(line, count)) code = refuse_line(tool, lines, lines->found + 1);
            break;
        }
        code = note_line(tool, lines, line);
        lines->length += count;
    }
    if (code == TOOL_DONE && ferror(file))
        code = tool_fail(tool, "cannot read %.512s: %s", lines->path, strerror(errno));
    free(line);
    return code;
}

static int cut(struct tool *tool, const batch_lines *lines) {
    if (tvlm_file_cut(lines->file, lines->length)) return TOOL_DONE;
    return tool_fail(tool, "cannot write to %.512s: %s", lines->path, strerror(errno));
}

static int resume_lines(struct tool *tool, batch_lines *lines) {
    const int copy = tvlm_file_again(lines->file);
    FILE *const file = copy >= 0 ? tvlm_stdio_of(copy, "rb") : NULL;
    if (file == NULL) {
        if (copy >= 0) (void)tvlm_file_close(copy);
        return tool_fail(tool, "cannot read %.512s: %s", lines->path, strerror(errno));
    }
    const int code = read_lines(tool, lines, file);
    (void)fclose(file);
    return code == TOOL_DONE ? cut(tool, lines) : code;
}

/* The first bytes of a file that is there. Returns how many were read, or -1. */
static int64_t read_begin(const batch_lines *lines, char *bytes, size_t size) {
    const int old = tvlm_file_open(lines->path, true);
    if (old < 0) return -1;
    const int64_t count = tvlm_file_some(old, bytes, size);
    (void)tvlm_file_close(old);
    return count;
}

/* Refuses a file whose first bytes are not those of such lines: it may be an image of the batch, which a list or a
 * folder names only later. */
static int check_old(struct tool *tool, const batch_lines *lines, const char *bytes, int64_t count) {
    if (count < 0)
        return tool_fail(tool, "%.512s: is there, and cannot be read; it is not overwritten", lines->path);
    if (count == 0 || is_rest(bytes, (size_t)count)) return TOOL_DONE;
    return tool_fail(tool, "%.512s: is there, and its first line is none of --jsonl; it is not overwritten",
                     lines->path);
}

/* Opens the file. One that is not an ordinary file, such as a pipe, has nothing to cut off or to resume. */
static int open_file(struct tool *tool, batch_lines *lines, bool resume) {
    tvlm_file_facts facts;
    char bytes[64] = {0};
    lines->file = tvlm_file_update(lines->path, resume);
    if (lines->file < 0) return tool_fail(tool, "cannot write to %.512s: %s", lines->path, strerror(errno));
    lines->ordinary = tvlm_file_facts_of(lines->file, &facts) && facts.ordinary;
    if (!lines->ordinary && resume) return tool_fail(tool, "%.512s: is no file to resume", lines->path);
    if (!lines->ordinary) return TOOL_DONE;
    /* Before the lock, which on Windows keeps every other handle from reading. */
    const int64_t count = resume ? 0 : read_begin(lines, bytes, sizeof bytes);
    if (!tvlm_file_lock(lines->file))
        return tool_fail(tool, "%.512s: another process writes to it", lines->path);
    if (resume) return resume_lines(tool, lines);
    const int code = check_old(tool, lines, bytes, count);
    return code == TOOL_DONE ? cut(tool, lines) : code;
}

int batch_lines_open(struct tool *tool, const char *path, bool resume, batch_lines **lines) {
    batch_lines *made = calloc(1, sizeof *made);
    if (made == NULL) return tool_fail(tool, "no memory for lines");
    made->file = -1;
    const bool standard = path == NULL || strcmp(path, FILES_STDOUT) == 0;
    made->path = standard ? NULL : path;
    made->named = standard && path != NULL;
    const int code = standard ? TOOL_DONE : open_file(tool, made, resume);
    if (code != TOOL_DONE)
        batch_lines_close(&made);
    else if (!standard)
        tool->printed = true; /* so that the command is not run again from its start */
    *lines = made;
    return code;
}

int64_t batch_lines_found(const batch_lines *lines) {
    return lines->found;
}

int64_t batch_lines_failed(const batch_lines *lines) {
    return lines->failed;
}

/* ---- Writing ---- */

/* Writes a line. If there is no room for it, the part that was written is cut off again. */
static int write_to_file(struct tool *tool, batch_lines *lines, const char *text, size_t size) {
    if (!tvlm_file_put(lines->file, text, size)) {
        const int cause = errno;
        if (lines->ordinary && !tvlm_file_cut(lines->file, lines->length))
            tvlm_log_message(&tool->log, TVLM_LOG_WARNING, "%.512s: its last line is cut short", lines->path);
        return tool_fail(tool, "cannot write to %.512s: %s", lines->path, strerror(cause));
    }
    lines->length += size;
    return TOOL_DONE;
}

static int write_text(struct tool *tool, batch_lines *lines, const char *text) {
    const char *const subject = tool->subject;
    tool->subject = NULL; /* an error from here on is not about the image */
    int code = TOOL_FAILED;
    if (text == NULL)
        code = tool_fail(tool, "no memory for a line");
    else if (lines->file >= 0)
        code = write_to_file(tool, lines, text, strlen(text));
    else if ((code = lines->named ? tool_print_to_stdout(tool, text) : tool_print(tool, text)) == TOOL_DONE)
        code = tool_keep_files(tool); /* this flushes stdout */
    tool->subject = subject;
    return code;
}

/* Refuses a line of another device than those that were there when the file was resumed: devices differ in the last
 * digits, and nobody would know which line is whose. */
static int check_device(struct tool *tool, const batch_lines *lines, const char *text) {
    size_t length = 0;
    const char *const device = lines->device != NULL && text != NULL ? find_device(text, &length) : NULL;
    if (device == NULL || (strlen(lines->device) == length && memcmp(lines->device, device, length) == 0))
        return TOOL_DONE;
    tool->subject = NULL;
    return tool_fail(tool, "%.512s: its lines are of the device %.200s, not of %.*s: name it with --device",
                     lines->path, lines->device, (int)(length < 200 ? length : 200), device);
}

void batch_lines_any_device(batch_lines *lines) {
    free(lines->device);
    lines->device = NULL;
}

int batch_lines_write(struct tool *tool, batch_lines *lines, json_writer *json) {
    const char *const text = json_text_of(json);
    int code = check_device(tool, lines, text);
    if (code == TOOL_DONE) code = write_text(tool, lines, text);
    json->length = 0;
    return code;
}

int batch_lines_write_error(struct tool *tool, batch_lines *lines, const char *name, const char *error) {
    json_writer json = {0};
    json_open_object(&json, NULL, true);
    json_open_object(&json, "image", true);
    json_string(&json, "path", name);
    json_close(&json);
    json_string(&json, "error", error);
    json_close(&json);
    const int code = batch_lines_write(tool, lines, &json);
    json_release(&json);
    return code;
}

void batch_lines_close(batch_lines **lines) {
    if (*lines == NULL) return;
    while ((*lines)->names != NULL) {
        known_name *const name = *(known_name **)(*lines)->names;
        (void)tdelete(name, &(*lines)->names, compare);
        free(name);
    }
    if ((*lines)->file >= 0) (void)tvlm_file_close((*lines)->file);
    free((*lines)->device);
    free(*lines);
    *lines = NULL;
}
