/* SPDX-License-Identifier: Apache-2.0 */
/* use.h: what both programs do, in the words that C and C++ share: a status, a device, its name. */
#include <stdio.h>
#include <string.h>

#include <texturevlm/io.h>
#include <texturevlm/texturevlm.h>

static int use(const struct tvlm_device_params *params) {
    tvlm_device *device = NULL;
    const tvlm_status status = tvlm_device_open(params, &device);
    tvlm_device_info info;
    const char *const name = tvlm_device_get_info(device, &info) == TVLM_OK ? info.name : "none";
    printf("%s: %s\n", name, tvlm_status_string(status));
    tvlm_device_destroy(&device);
    /* Only that it links and answers: a path that nobody can write, since its folder is none. */
    const unsigned char pixel[3] = {0, 0, 0};
    const tvlm_status write = tvlm_png_write("/dev/null/x.png", 1, 1, 3, pixel, NULL);
    return status == TVLM_OK && device == NULL && write != TVLM_OK && strlen(tvlm_status_string(write)) > 0
               ? 0
               : 1;
}
