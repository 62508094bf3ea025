/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h: what the targets share.
 *
 * A target is a file fuzz_NAME.c with LLVMFuzzerTestOneInput, which gives the bytes to a reader of ours. It
 * fails by a crash, by what a sanitizer finds, by taking too long, and by fuzz_check. Linked to libFuzzer it
 * looks for such bytes; linked to main.c it tries those in corpus/NAME, as a test.
 */
#ifndef TVLM_FUZZ_H
#define TVLM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "texturevlm/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the path of a file that holds these bytes, until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* Goes on where `truth` holds, and ends the program with a line where it does not. */
#define fuzz_check(truth) ((truth) ? (void)0 : fuzz_fail(#truth, __FILE__, __LINE__))
_Noreturn void fuzz_fail(const char *words, const char *file, int line);

/* A log that counts its errors in fuzz_errors and checks that each is one plain line. */
extern const tvlm_log fuzz_log;
extern int fuzz_errors;

/*
 * Checks what every reader promises: an error has one line in fuzz_log, and success has none. Sets the count
 * back.
 */
void fuzz_check_status(tvlm_status status);

/* Reads all of the bytes, so that a sanitizer sees where they are not there. */
void fuzz_touch(const void *bytes, size_t size);

#endif
