#include <stdio.h>

#include "opencl/backend.h"

tvlm_status opencl_source_convert(tvlm_device *base, tvlm_buffer *pixels, const tvlm_pixels *layout,
                                  int32_t image, tvlm_texture *out) {
    const int type = layout->type == TVLM_PIXEL_U8    ? TVLM_PIXELS_U8
                     : layout->type == TVLM_PIXEL_U16 ? TVLM_PIXELS_U16
                                                      : TVLM_PIXELS_F32;
    char options[64];
    opencl_call call;
    snprintf(options, sizeof options, "-DPIXEL_TYPE=%d -DPIXEL_CHANNELS=%d", type, (int)layout->channels);
    TVLM_TRY(opencl_call_begin((opencl_device *)base, "source.cl", "source", out->format, options, &call));
    opencl_call_memory(&call, ((opencl_buffer *)pixels)->memory);
    opencl_call_ulong(&call, layout->offset);
    opencl_call_ulong(&call, layout->row_stride);
    opencl_call_int(&call, image);
    opencl_call_output(&call, out);
    return opencl_call_run_pixels(&call, out->width, out->height, 1);
}
