/* SPDX-License-Identifier: Apache-2.0 */
#include "use.h"

int main(void) {
    return use(tvlm_device_params(.name = "reference"));
}
