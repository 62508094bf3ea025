/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_archive.c: the members of a tar, which may be compressed (tools/batch_archive.c, tools/unpack.c).
 */
#include <stdlib.h>
#include <string.h>

#include "batch_archive.h"
#include "fuzz.h"

enum { MEMBERS = 64, PIECE = 1 << 16, MEMORY = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char bytes[PIECE];
    char error[256] = "";
    const char *name = NULL;
    batch_archive *archive = batch_archive_open(fuzz_file(data, size), MEMORY, error, sizeof error);
    fuzz_check((archive == NULL) == (error[0] != '\0'));
    if (archive == NULL) return 0;
    int members = 0;
    while (members < MEMBERS && batch_archive_next(archive, &name, error, sizeof error)) {
        const int64_t whole = batch_archive_size(archive);
        const size_t part = whole < 0 ? 0 : whole < PIECE ? (size_t)whole : PIECE;
        fuzz_check(error[0] == '\0');
        fuzz_touch(name, strlen(name));
        if (members % 3 == 2)
            batch_archive_pass(archive);
        else if (batch_archive_read(archive, bytes, part, error, sizeof error))
            fuzz_touch(bytes, part);
        else
            fuzz_check(error[0] != '\0');
        ++members;
    }
    if (members > 0 && members < MEMBERS && error[0] != '\0') fuzz_check(batch_archive_broken(archive));
    batch_archive_close(&archive);
    fuzz_check(archive == NULL);
    return 0;
}
