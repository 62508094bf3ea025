/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_file.h: files that are read whole, and files that appear whole or not at all.
 */
#ifndef TVLM_IO_FILE_H
#define TVLM_IO_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "texturevlm/status.h"

/* Logs "ACTION PATH: the system's words for `code`" and returns TVLM_ERROR_IO. */
tvlm_status tvlm_io_system_error(const tvlm_log *log, const char *action, const char *path, int code);

/* Reads as tvlm_file_read does, but fails with TVLM_ERROR_UNSUPPORTED if the file has more than `limit`
 * bytes. */
tvlm_status tvlm_io_read(const char *path, size_t limit, const tvlm_log *log, uint8_t **bytes, size_t *size);

/*
 * A file that is being written. It is opened, and written to any number of times. Then it is committed, so
 * that the file appears, or aborted, so that it does not. Both release the handle and set it to NULL. A write
 * that failed is remembered, and commit returns TVLM_ERROR_IO then.
 */
typedef struct tvlm_io_output tvlm_io_output;
tvlm_status tvlm_io_output_open(const char *path, const tvlm_log *log, tvlm_io_output **output);
tvlm_status tvlm_io_output_write(tvlm_io_output *output, const void *bytes, size_t size);
tvlm_status tvlm_io_output_commit(tvlm_io_output **output);
void tvlm_io_output_abort(tvlm_io_output **output);

#endif
