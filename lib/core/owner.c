/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.c: which thread has a device. It costs one atomic exchange for each call of a public function.
 */
#include "core/owner.h"

#include <sched.h>

#include "core/backend.h"

/* Its address tells threads apart: all threads that live at the same time have different ones. */
static _Thread_local char this_thread;

static bool take(tvlm_device *device) {
    const void *nobody = NULL;
    if (atomic_load(&device->owner) == &this_thread || /* only this thread could have put its address there */
        atomic_compare_exchange_strong(&device->owner, &nobody, &this_thread)) {
        ++device->entries;
        return true;
    }
    return false;
}

static tvlm_status refuse(const tvlm_device *device, const char *function) {
    return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT,
                     "%s: another thread is using the device '%s' now; a device, and all that was made from "
                     "it, is for one thread at a time: open one device for each thread",
                     function, device->info.name);
}

tvlm_status tvlm_device_enter(tvlm_device *device, const char *function, tvlm_device **entered) {
    if (!take(device)) return refuse(device, function);
    *entered = device;
    return TVLM_OK;
}

void tvlm_device_enter_to_free(tvlm_device *device, const char *function, tvlm_device **entered) {
    if (!take(device)) {
        (void)refuse(device, function);
        while (!take(device)) sched_yield();
    }
    *entered = device;
}

void tvlm_device_leave(tvlm_device **entered) {
    tvlm_device *const device = *entered;
    if (device == NULL) return;
    if (device->entries == 1) device->backend->flush(device);
    if (--device->entries == 0) atomic_store(&device->owner, NULL);
}
