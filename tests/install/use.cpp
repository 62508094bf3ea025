/* SPDX-License-Identifier: Apache-2.0 */
#include "use.h"

int main() {
    tvlm_device_params params{};
    params.name = "reference";
    return use(&params);
}
