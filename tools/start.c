/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the folder of the running program, with a slash at its end. It is "" if the system does not tell it.
 * */
static void own_folder(char *folder, size_t size) {
    const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *const slash = strrchr(folder, '/');
    if (slash != NULL) slash[1] = '\0';
}

/* Whether start_program finds a program. */
static bool is_there(const char *name) {
    char folder[4096], path[4096 + 64];
    own_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s%s", folder, name);
    bool there = folder[0] != '\0' && access(path, X_OK) == 0;
    const char *folders = getenv("PATH");
    while (!there && folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s/%s", length < sizeof folder ? (int)length : 0, folders, name);
        there = access(path, X_OK) == 0;
        folders += length + (folders[length] == ':');
    }
    return there;
}

const char *start_listed(const tool_program *program, int i, const char **summary) {
    for (const tool_command *const *command = program->commands; *command != NULL; ++command)
        if (i-- == 0) {
            *summary = (*command)->summary;
            return (*command)->name;
        }
    for (const tool_elsewhere *other = program->elsewhere; other->name != NULL; ++other)
        if (other->summary != NULL && is_there(other->program) && i-- == 0) {
            *summary = other->summary;
            return other->name;
        }
    return NULL;
}

int start_program(struct tool *tool, const char *name, char **argv) {
    char folder[4096], path[4096 + 64];
    own_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s%s", folder, name);
    argv[0] = path;
    if (folder[0] != '\0') (void)execv(path, argv);
    if (folder[0] == '\0' || errno == ENOENT) (void)execvp(name, argv);
    if (errno == ENOENT)
        return tool_fail(tool, "%s is not installed: it is neither beside tvlm nor on the PATH", name);
    return tool_fail(tool, "%s cannot be started: %s", name, strerror(errno));
}
