/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

#include <errno.h>
#include <stdio.h>
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
