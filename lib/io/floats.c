/* SPDX-License-Identifier: Apache-2.0 */
#include "io/floats.h"

#include <stdbool.h>

#include "core/memory.h"

tvlm_status tvlm_io_read_floats(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                                const char *name, int64_t rows, int64_t columns, const char *like,
                                float **out) {
    const tvlm_tensor *tensor = tvlm_safetensors_find(file, name);
    *out = NULL;
    if (tensor == NULL) return TVLM_OK;
    const bool shaped = rows > 0
                            ? tensor->rank == 2 && tensor->shape[0] == rows && tensor->shape[1] == columns
                            : tensor->rank == 1 && tensor->shape[0] == columns;
    if (!shaped)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: '%s' has not the shape that '%s' asks for", path, name,
                         like);
    if (tensor->type != TVLM_ELEMENT_F32 && tensor->type != TVLM_ELEMENT_F64)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: '%s' is %s, not float32", path, name,
                         tvlm_element_name(tensor->type));
    const size_t count = tensor->size / tvlm_element_size(tensor->type);
    float *values = tvlm_allocate(count, sizeof *values);
    if (values == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "%s: no memory for '%s'", path, name);
    for (size_t i = 0; i < count; ++i)
        values[i] = tensor->type == TVLM_ELEMENT_F32 ? ((const float *)tensor->data)[i]
                                                     : (float)((const double *)tensor->data)[i];
    *out = values;
    return TVLM_OK;
}
