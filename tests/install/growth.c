/* SPDX-License-Identifier: Apache-2.0 */
/* growth.c: a program that run.sh compiles with headers of another age than the library's. It prints the size
 * of the struct that grew, which is always the same. */
#include <stdio.h>
#include <texturevlm/texturevlm.h>

int main(void) {
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    struct tvlm_stack_params params = {.layout = "r,g,b", .width = 32, .height = 16, .clusters = 7};
    tvlm_stack_info info;
#ifdef NEWEST
    params.newest = NEWEST;
#endif
    const int failed = tvlm_device_open(tvlm_device_params(.name = "reference", .log = tvlm_log_stderr()),
                                        &device) != TVLM_OK ||
                       tvlm_stack_create(device, &params, &stack) != TVLM_OK ||
                       tvlm_stack_get_info(stack, &info) != TVLM_OK || info.width != 32 || info.height != 16;
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    if (!failed) printf("%zu\n", sizeof params);
    return failed;
}
