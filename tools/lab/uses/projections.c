/* SPDX-License-Identifier: Apache-2.0 */
#include "lab.h"

#include "select_layout.h"
#include "texturevlm/lab/io_projection.h"

int projection_read(struct tool *tool, const char *path, bool features, tvlm_projection **projection) {
    struct tvlm_projection_params params;
    const char *const subject = tool->subject;
    tool->subject = path;
    const int code = tool_status(tool, tvlm_projection_load(path, &tool->log, projection));
    if (code != TOOL_DONE) return code;
    tool->subject = subject;
    (void)tvlm_projection_get_params(*projection, &params);
    if (params.basis != NULL && !features)
        return tool_usage(tool, "--projection %.400s reads an embedding, which needs --features", path);
    return TOOL_DONE;
}

int projection_layout(struct tool *tool, const char *path, const tvlm_projection *projection, char *layout,
                      size_t size) {
    struct tvlm_projection_params params;
    (void)tvlm_projection_get_params(projection, &params); /* it cannot fail: the projection is there */
    return layout_add(tool, path, params.channels, params.channel_count, layout, size);
}

int projection_set(struct tool *tool, const tvlm_projection *projection, tvlm_export *export) {
    return tool_usage_status(tool, tvlm_export_set_projection(export, projection));
}

void projection_release(tvlm_projection **projection) {
    if (*projection != NULL) tvlm_projection_destroy(projection);
}
