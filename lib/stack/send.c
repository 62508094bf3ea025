/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c: sends the next image to the device through a queue of its own, and puts it into the stack once it
 * is wanted. An image that is sent and never wanted leaves no trace.
 */
#include <stdlib.h>

#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/inside.h"
#include "stack/send.h"

/* Waits until nothing is on its way any more, and then frees the host's copy of the rows. */
static tvlm_status settle(tvlm_stack *stack) {
    tvlm_sent *const sent = &stack->sent;
    const tvlm_status status =
        sent->there ? stack->device->backend->buffer_arrive(stack->device, sent->buffer) : TVLM_OK;
    sent->there = false;
    free(sent->rows.copy);
    sent->rows.copy = NULL;
    return status;
}

/* Makes sure that the buffer has at least that many bytes, and that no enqueued work reads it. */
static tvlm_status reserve(tvlm_stack *stack, size_t bytes) {
    const tvlm_backend *backend = stack->device->backend;
    tvlm_sent *const sent = &stack->sent;
    if (sent->buffer != NULL && sent->buffer->bytes < bytes) {
        backend->buffer_destroy(stack->device, &sent->buffer);
        sent->read = false;
    }
    if (sent->buffer == NULL) return backend->buffer_create(stack->device, bytes, &sent->buffer);
    if (sent->read) TVLM_TRY(backend->finish(stack->device));
    sent->read = false;
    return TVLM_OK;
}

static tvlm_status send_rows(tvlm_stack *stack) {
    const tvlm_rows *const rows = &stack->sent.rows;
    TVLM_TRY(reserve(stack, rows->bytes));
    return stack->device->backend->buffer_send(stack->device, stack->sent.buffer, rows->bytes, rows->rows);
}

tvlm_status tvlm_stack_send_image(tvlm_stack *stack, int32_t index, const tvlm_image *image) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    tvlm_sent *const sent = &stack->sent;
    (void)settle(stack); /* an error does not matter: nobody wants the former image any more */
    TVLM_TRY(tvlm_stack_image_rows(stack, index, image, &sent->rows));
    const tvlm_status status = send_rows(stack);
    if (status != TVLM_OK) {
        free(sent->rows.copy);
        sent->rows.copy = NULL;
        return status;
    }
    sent->there = true;
    sent->index = index;
    sent->image = *image;
    return TVLM_OK;
}

tvlm_status tvlm_stack_take_sent(tvlm_stack *stack, int32_t index) {
    tvlm_sent *const sent = &stack->sent;
    if (!sent->there || sent->index != index)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "no pixels, and none were sent for image %d", (int)index);
    TVLM_TRY(settle(stack));
    sent->read = true;
    TVLM_TRY(tvlm_stack_source_from_buffer(stack, index, sent->buffer, &sent->rows.pixels));
    tvlm_stack_note_original(stack, index, &sent->image);
    return TVLM_OK;
}

void tvlm_stack_release_sent(tvlm_stack *stack) {
    (void)settle(stack);
    stack->device->backend->buffer_destroy(stack->device, &stack->sent.buffer);
}
