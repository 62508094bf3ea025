/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/environment.h"

#include <stddef.h>
#include <stdlib.h>

const char *tvlm_variable(const char *name) {
    const char *const value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}
