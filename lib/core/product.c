/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.c: makes room for what a family leaves behind besides its texture.
 */
#include "core/backend.h"

tvlm_status tvlm_product_reserve(tvlm_device *device, const tvlm_generate_args *args, tvlm_product which,
                                 size_t bytes) {
    tvlm_buffer **product = &args->products[which];
    if (*product != NULL && (*product)->bytes >= bytes) return TVLM_OK;
    device->backend->buffer_destroy(device, product);
    return device->backend->buffer_create(device, bytes, product);
}
