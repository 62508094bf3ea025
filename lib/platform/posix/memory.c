/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c: what limits the memory of this process. Linux tells it in files (proc(5), cgroups(7)). A file that
 * is not there limits nothing.
 */
#include "platform/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __APPLE__
#include <sys/sysctl.h>
#include <sys/types.h>
#endif

#define NO_LIMIT UINT64_MAX

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t less(uint64_t limit, uint64_t used) {
    return limit == NO_LIMIT ? NO_LIMIT : limit > used ? limit - used : 0;
}

/* Finds the number that a text begins with. *end becomes what follows it, or the text itself where there is
 * no number. */
static uint64_t number_at(char *text, uint64_t otherwise, char **end) {
    char *const digits = text + strspn(text, " \t");
    *end = text;
    if (*digits < '0' || *digits > '9') return otherwise; /* strtoull takes a sign, too */
    errno = 0;
    const unsigned long long number = strtoull(digits, end, 10);
    return errno == 0 ? number : otherwise;
}

/* Finds the number behind a word at the beginning of a line. With the word "" it is the number that the first
 * line begins with. */
static uint64_t number_in(const char *path, const char *word, uint64_t otherwise) {
    char line[256], *end;
    uint64_t number = otherwise;
    const size_t length = strlen(word);
    FILE *const file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, word, length) != 0) continue;
        number = number_at(line + length, otherwise, &end); /* "max" is no number */
        break;
    }
    if (file != NULL) fclose(file);
    return number;
}

/* What the process has: all its address space, and the part of it that is private and can be written. */
static void sizes(uint64_t *all, uint64_t *data) {
    const long page = sysconf(_SC_PAGESIZE);
    FILE *const file = fopen("/proc/self/statm", "r");
    char line[256] = "", *at = line;
    uint64_t fields[6] = {0};
    if (file != NULL && fgets(line, sizeof line, file) == NULL) line[0] = '\0';
    for (int i = 0; i < 6; ++i) fields[i] = number_at(at, 0, &at);
    if (file != NULL) fclose(file);
    *all = fields[0] * (uint64_t)(page > 0 ? page : 0);
    *data = fields[5] * (uint64_t)(page > 0 ? page : 0);
}

static uint64_t limit_of(int resource) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return NO_LIMIT;
    return (uint64_t)limit.rlim_cur;
}

/* How much memory a control group leaves. The contents of files that it keeps do not count as used, since it
 * gives them up when it must. */
static uint64_t group_room(const char *folder, const char *limit, const char *usage, const char *files) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, limit);
    const uint64_t most = number_in(path, "", NO_LIMIT);
    snprintf(path, sizeof path, "%s/%s", folder, usage);
    const uint64_t used = number_in(path, "", 0);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    const uint64_t kept = number_in(path, files, 0);
    return less(most, used > kept ? used - kept : 0);
}

/* The least that a control group leaves, and the groups that it is in. `name` is the group's path below
 * `root`. It is shortened from its end, group by group. Inside a container only the root may be there. */
static uint64_t groups_room(const char *root, char *name, const char *limit, const char *usage,
                            const char *files) {
    char folder[2048];
    uint64_t room = NO_LIMIT;
    for (;;) {
        const int length = snprintf(folder, sizeof folder, "%s%s", root, name);
        if (length > 0 && (size_t)length < sizeof folder)
            room = least(room, group_room(folder, limit, usage, files));
        char *const slash = strrchr(name, '/');
        if (slash == NULL) return room;
        *slash = '\0';
    }
}

/* Whether a list of controllers that commas separate has "memory". */
static bool controls_memory(const char *list) {
    static const char word[] = "memory";
    const size_t length = sizeof word - 1;
    for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && strncmp(list, word, length) == 0) return true;
    return false;
}

/* The room of the group that a line "NUMBER:CONTROLLERS:PATH" names. In version 2 the list of controllers is
 * empty. */
static uint64_t line_room(char *line, const char *root) {
    char folder[1024];
    line[strcspn(line, "\n")] = '\0';
    char *const controllers = strchr(line, ':');
    char *const path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) return NO_LIMIT;
    *path = '\0';
    if (controllers[1] == '\0')
        return groups_room(root, path + 1, "memory.max", "memory.current", "inactive_file ");
    if (!controls_memory(controllers + 1)) return NO_LIMIT;
    snprintf(folder, sizeof folder, "%s/memory", root);
    return groups_room(folder, path + 1, "memory.limit_in_bytes", "memory.usage_in_bytes",
                       "total_inactive_file ");
}

uint64_t tvlm_groups_room(const char *list, const char *root) {
    char line[8192]; /* paths have at most 4096 bytes */
    uint64_t room = NO_LIMIT;
    FILE *const file = fopen(list, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) room = least(room, line_room(line, root));
    if (file != NULL) fclose(file);
    return room;
}

void tvlm_memory_return(void) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 16 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 32 << 20);
#endif
}

uint64_t tvlm_host_memory(void) {
#ifdef __APPLE__
    uint64_t bytes = 0;
    size_t size = sizeof bytes;
    if (sysctlbyname("hw.memsize", &bytes, &size, NULL, 0) == 0 && bytes > 0) return bytes;
#endif
#ifdef _SC_PHYS_PAGES
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) return (uint64_t)pages * (uint64_t)page;
#endif
    return PTRDIFF_MAX;
}

uint64_t tvlm_host_room(void) {
    uint64_t all, data;
    sizes(&all, &data);
    const uint64_t kibibytes = number_in("/proc/meminfo", "MemAvailable:", NO_LIMIT);
    const uint64_t free_bytes = kibibytes < NO_LIMIT / 1024 ? kibibytes * 1024 : NO_LIMIT;
    const uint64_t limits = least(less(limit_of(RLIMIT_AS), all), less(limit_of(RLIMIT_DATA), data));
    return least(least(free_bytes, limits), tvlm_groups_room("/proc/self/cgroup", "/sys/fs/cgroup"));
}
