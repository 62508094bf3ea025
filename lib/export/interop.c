/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop.c: the public functions of texturevlm/opencl.h that concern exports. It is the only file of this
 * folder that includes an OpenCL header, and it does not call OpenCL: handles pass through the backend as
 * void *.
 */
#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "texturevlm/opencl.h"

#include "export/inside.h"

static tvlm_status hand_out(tvlm_device *device, tvlm_buffer *buffer, cl_mem *memory) {
    void *handle = NULL;
    if (memory == NULL) return TVLM_OK;
    *memory = NULL;
    if (buffer == NULL) return TVLM_OK;
    TVLM_TRY(device->backend->buffer_native(device, buffer, &handle));
    *memory = handle;
    return TVLM_OK;
}

tvlm_status tvlm_export_get_opencl(tvlm_export *export, int32_t picture, cl_mem *values, cl_mem *selected) {
    TVLM_NEED(NULL, export);
    TVLM_ENTER(export->device);
    if (picture < 0 || picture >= export->count)
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT,
                         "there is no picture %d; the last run had %d", (int)picture, (int)export->count);
    const export_picture *const found = export->listed[picture];
    TVLM_TRY(hand_out(export->device, found->values, values));
    return hand_out(export->device, found->info.selected > 0 ? found->selected : NULL, selected);
}

tvlm_status tvlm_export_read_opencl(tvlm_export *export, int32_t index, cl_mem data, size_t byte_offset) {
    TVLM_NEED(NULL, export);
    TVLM_ENTER(export->device);
    TVLM_NEED(&export->device->log, data);
    return tvlm_export_read_there(export, index, tvlm_memory(.memory = data, .byte_offset = byte_offset));
}
