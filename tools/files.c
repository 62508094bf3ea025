/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "tool.h"

#define PATH_SIZE 4096
#define LINKS_MAX 40

typedef enum file_use { FILE_INPUT, FILE_OUTPUT } file_use;

/* A file that exists is known by its identity. One that does not exist is known by that of its folder, and by
 * its name. */
typedef struct known_file {
    tvlm_file_identity identity;
    file_use use;
    int named;       /* how often it was noted */
    char option[64]; /* the option that names an output */
    char name[];     /* its name in the folder; "": the file exists */
} known_file;

/* ---- Which file is it ---- */

/* Finds the path to which a symbolic link leads if there is no file at its end. */
static void follow_links(const char *path, char target[PATH_SIZE]) {
    char link[PATH_SIZE];
    snprintf(target, PATH_SIZE, "%s", path);
    for (int i = 0; i < LINKS_MAX; ++i) {
        if (!tvlm_path_link(target, link, sizeof link)) return;
        char *const slash = strrchr(target, '/');
        char *const rest = link[0] != '/' && slash != NULL ? slash + 1 : target;
        snprintf(rest, PATH_SIZE - (size_t)(rest - target), "%s", link);
    }
}

/* Takes a path apart. *folder is written to `room`. */
static void split(char *path, char room[PATH_SIZE], const char **name) {
    for (size_t length = strlen(path); length > 1 && tvlm_path_folder(path) == length;) path[--length] = '\0';
    const size_t folder = tvlm_path_folder(path);
    snprintf(room, PATH_SIZE, "%.*s", folder > 0 ? (int)folder : 1, folder > 0 ? path : ".");
    if (folder > 1 && strchr("/\\", room[folder - 1]) != NULL && room[folder - 2] != ':')
        room[folder - 1] = '\0';
    *name = path + folder;
}

/* Identifies a file. *facts is about the file, or about its folder if there is no file. *found tells whether
 * there is either. Returns NULL if there is no memory. */
static known_file *identify(const char *path, tvlm_file_facts *facts, bool *found) {
    char target[PATH_SIZE], folder[PATH_SIZE];
    const char *name = "";
    *found = tvlm_path_facts(path, facts);
    if (!*found) {
        follow_links(path, target);
        split(target, folder, &name);
        *found = tvlm_path_facts(folder, facts);
    }
    known_file *const file = calloc(1, sizeof *file + strlen(name) + 1);
    if (file == NULL) return NULL;
    if (*found) file->identity = facts->identity;
    memcpy(file->name, name, strlen(name));
    return file;
}

static int compare(const void *first, const void *second) {
    const known_file *const a = first, *const b = second;
    const tvlm_file_identity x = a->identity, y = b->identity;
    if (x.device != y.device) return x.device < y.device ? -1 : 1;
    if (x.file != y.file) return x.file < y.file ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Whether writing to a file would replace it. A device or a pipe would not be replaced. */
static bool can_be_lost(const known_file *file, const tvlm_file_facts *facts) {
    return file->name[0] != '\0' || facts->ordinary || facts->folder;
}

/* ---- Notes ---- */

static int complain(struct tool *tool, const known_file *known, const known_file *file, const char *path) {
    tool->subject = NULL;
    if (known->use != file->use) return tool_fail(tool, "%s: is the input; it is not overwritten", path);
    if (strcmp(known->option, file->option) == 0)
        return tool_usage(tool, "%s would be written for two images", path);
    return tool_usage(tool, "%s and %s name the same file", known->option, file->option);
}

/* Looks up a file among the noted ones. Refuses it if it is there, and if the noted one or this one is an
 * output. With `lasting` this file is noted, too. */
static int note(struct tool *tool, file_use use, const char *option, const char *path, bool lasting) {
    tvlm_file_facts facts;
    bool found;
    known_file *const file = identify(path, &facts, &found);
    if (file == NULL) return tool_fail(tool, "no memory for the names of files");
    if (use == FILE_INPUT && found && file->name[0] == '\0' && !facts.ordinary && !facts.folder)
        tool->files.read_once = true;
    if (!found || !can_be_lost(file, &facts)) {
        free(file);
        return TOOL_DONE;
    }
    file->use = use;
    snprintf(file->option, sizeof file->option, "%s", option);
    void *const known =
        lasting ? tsearch(file, &tool->files.tree, compare) : tfind(file, &tool->files.tree, compare);
    int code = TOOL_DONE;
    if (lasting && known == NULL) code = tool_fail(tool, "no memory for the names of files");
    known_file *const other = known != NULL ? *(known_file **)known : file;
    other->named += lasting;
    if (other != file && (use == FILE_OUTPUT || other->use == FILE_OUTPUT))
        code = complain(tool, other, file, path);
    if (known == NULL || other != file) free(file);
    return code;
}

int files_input(struct tool *tool, const char *path) {
    if (strcmp(path, FILES_STDIN) == 0 && tool->files.stdin_taken++ > 0)
        return tool_usage(tool, "only one input can come from stdin");
    return note(tool, FILE_INPUT, "", path, true);
}

int files_named(const struct tool *tool, const char *path) {
    tvlm_file_facts facts;
    bool found;
    known_file *const file = identify(path, &facts, &found);
    const void *const known = file != NULL && found ? tfind(file, &tool->files.tree, compare) : NULL;
    const int named = known != NULL ? (*(known_file *const *)known)->named : 0;
    free(file);
    return named;
}

/* Refuses a file that cannot be written: its folder is missing or may not be written to, or it is a folder
 * itself. */
static int check_writable(struct tool *tool, const char *path) {
    tvlm_file_facts facts;
    char copy[PATH_SIZE], folder[PATH_SIZE];
    const char *name;
    const size_t length = strlen(path);
    tool->subject = NULL;
    if (length >= sizeof copy) return tool_fail(tool, "%.64s...: the path is too long", path);
    const bool there = tvlm_path_facts(path, &facts);
    if (there && !facts.ordinary && !facts.folder) return TOOL_DONE;
    if (tvlm_path_folder(path) == length || (there && facts.folder))
        return tool_fail(tool, "%s: is a folder, not a file to write", path);
    memcpy(copy, path, length + 1);
    split(copy, folder, &name);
    if (!tvlm_path_facts(folder, &facts)) return tool_fail(tool, "%s: there is no folder %s", path, folder);
    if (!facts.folder) return tool_fail(tool, "%s: %s is not a folder", path, folder);
    if (!tvlm_path_writable(folder))
        return tool_fail(tool, "%s: the folder %s cannot be written to", path, folder);
    return TOOL_DONE;
}

/* Lets one output go to stdout. Nobody could tell two outputs apart there, even if stdout is a pipe. */
static int take_stdout(struct tool *tool) {
    if (tool->stdout_taken) return tool_usage(tool, "only one output can go to stdout");
    tool->stdout_taken = true;
    return TOOL_DONE;
}

int files_output(struct tool *tool, const char *option, const char *path) {
    /* What stdout leads to is open, whoever may write to the folder of its name. */
    int code = strcmp(path, FILES_STDOUT) == 0 ? take_stdout(tool) : check_writable(tool, path);
    return code == TOOL_DONE ? note(tool, FILE_OUTPUT, option, path, true) : code;
}

/* Refuses a pattern that is an input itself. The names that are made from a pattern are noted when they are
 * made. */
static int note_pattern(struct tool *tool, const char *option, const char *path) {
    tvlm_file_facts facts;
    if (tvlm_path_facts(path, &facts) && facts.folder) return TOOL_DONE;
    return note(tool, FILE_OUTPUT, option, path, false);
}

static bool is_word(const option_spec *spec, const char *text) {
    for (int i = 0; spec->choices != NULL && spec->choices[i] != NULL; ++i)
        if (strcmp(text, spec->choices[i]) == 0) return true;
    return false;
}

static int note_inputs(struct tool *tool, const option_spec *spec, const void *value) {
    const option_list *const list = value;
    const char *const *const given = value;
    int code = TOOL_DONE;
    if (spec->kind == OPTION_GIVE) {
        for (int i = 0; code == TOOL_DONE && spec->choices[i] != NULL; ++i)
            if (given[i] != NULL) code = files_input(tool, given[i]);
        return code;
    }
    if (spec->kind == OPTION_INPUT) {
        const char *const path = *(const char *const *)value;
        return path == NULL || is_word(spec, path) ? TOOL_DONE : files_input(tool, path);
    }
    for (int32_t i = 0; code == TOOL_DONE && i < list->count; ++i) code = files_input(tool, list->values[i]);
    return code;
}

static int note_output(struct tool *tool, const option_table *table, int i, const char *path) {
    const option_spec *const spec = &table->specs[i];
    char option[64];
    if (path == NULL) return TOOL_DONE;
    option_label(table, i, option, sizeof option);
    if (spec->kind == OPTION_PATTERN) return note_pattern(tool, option, path);
    if (spec->kind == OPTION_FOLDER) return note(tool, FILE_OUTPUT, option, path, true);
    return files_output(tool, option, path);
}

int files_note(struct tool *tool, const option_table *table, const void *values, int count,
               char *const *operands) {
    int code = TOOL_DONE;
    for (int i = 0; code == TOOL_DONE && i < count; ++i) code = files_input(tool, operands[i]);
    for (int pass = 0; pass < 2; ++pass) /* inputs come first, so that the error is about the output */
        for (int i = 0; code == TOOL_DONE && i < table->count; ++i) {
            const option_spec *const spec = &table->specs[i];
            const void *const value = (const char *)values + spec->offset;
            const bool input = option_is_input(spec);
            if (pass == 0 && input) code = note_inputs(tool, spec, value);
            if (pass == 1 && !input && option_is_file(spec))
                code = note_output(tool, table, i, *(const char *const *)value);
        }
    return code;
}

void files_release(file_list *list) {
    while (list->tree != NULL) {
        known_file *const file = *(known_file **)list->tree;
        (void)tdelete(file, &list->tree, compare);
        free(file);
    }
    list->read_once = false;
    list->stdin_taken = 0;
}
