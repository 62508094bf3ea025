/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spoil.c: a driver that errs without a word: what is read from buffers is wrong.
 */
#include "layer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const cl_icd_dispatch *next;
static bool spoils;

void layer_spoil(int wanted) {
    spoils = wanted != 0;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, void *host, cl_uint waits, const cl_event *list,
                                      cl_event *event) {
    const cl_int error = next->clEnqueueReadBuffer(queue, buffer, spoils ? CL_TRUE : blocking, offset, size,
                                                   host, waits, list, event);
    unsigned char *const bytes = host;
    for (size_t i = 0; spoils && error == CL_SUCCESS && i < size; ++i) bytes[i] ^= 0x55;
    return error;
}

void layer_wrap_spoil(const cl_icd_dispatch *below, cl_icd_dispatch *table) {
    const char *const wanted = getenv("TVLM_LAYER_SPOIL");
    next = below;
    spoils = wanted != NULL && strcmp(wanted, "1") == 0;
    table->clEnqueueReadBuffer = read_buffer;
}
