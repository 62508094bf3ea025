/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_flo.c: optical flow (tvlm_flo_read).
 */
#include "fuzz.h"
#include "texturevlm/io_flow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tvlm_flo *flow = NULL;
    const tvlm_status status = tvlm_flo_read(fuzz_file(data, size), &fuzz_log, &flow);
    fuzz_check_status(status);
    fuzz_check((status == TVLM_OK) == (flow != NULL));
    if (flow != NULL)
        fuzz_touch(flow->vectors, 2 * (size_t)flow->width * (size_t)flow->height * sizeof *flow->vectors);
    tvlm_flo_destroy(&flow);
    return 0;
}
