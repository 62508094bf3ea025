/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: a target without libFuzzer: tries each file, and each file in each folder, that the command line
 * names. At least one must be there.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

static int tried;

static void try_file(const char *path) {
    FILE *const file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        perror(path);
        exit(1);
    }
    const size_t size = (size_t)info.st_size;
    uint8_t *const bytes = malloc(size > 0 ? size : 1); /* of this size, so that reading beyond is found */
    fuzz_check(bytes != NULL && fread(bytes, 1, size, file) == size);
    fclose(file);
    (void)LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    ++tried;
}

static void try_folder(const char *path, DIR *folder) {
    char name[4096];
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        fuzz_check(snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < (int)sizeof name);
        try_file(name);
    }
}

int main(int count, char **paths) {
    for (int i = 1; i < count; ++i) {
        DIR *const folder = opendir(paths[i]);
        if (folder != NULL)
            try_folder(paths[i], folder);
        else
            try_file(paths[i]);
        if (folder != NULL) closedir(folder);
    }
    printf("%d inputs\n", tried);
    return tried > 0 ? 0 : 1;
}
