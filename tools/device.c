/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c: opens the device of a command.
 */
#include "first.h"
#include "tool.h"

int tool_open_device(struct tool *tool, const tool_common *common, tvlm_device **device) {
    const char *const first = tool->replaced > 0 ? NULL : first_device(tool, common);
    const struct tvlm_device_params params = {.name = first != NULL ? first : common->device,
                                              .storage = (tvlm_storage)common->storage.value,
                                              .fallback = common->fallback > 0,
                                              .untuned = tool->untuned,
                                              .format = (tvlm_format)common->format.value,
                                              .keep_memory = true,
                                              .log = &tool->log};
    const char *const subject = tool->subject;
    TOOL_TRY(first_begin(tool));
    tool->subject = NULL; /* an error from here on is not about the file */
    const int code =
        tool_status(tool, tool->replaced > 0 ? tvlm_device_open_another(tool->lost, &params, device)
                                             : tvlm_device_open(&params, device));
    tool->subject = subject;
    if (code != TOOL_DONE) return code;
    tvlm_device_info info;
    (void)tvlm_device_get_info(*device, &info);
    tool->device = info.index;
    tvlm_log_message(&tool->log, TVLM_LOG_INFO, "%s: %s storage (%s)", info.name,
                     tvlm_storage_name(info.storage), info.storage_reason);
    return TOOL_DONE;
}
