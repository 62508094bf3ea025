/* SPDX-License-Identifier: Apache-2.0 */
/* Where the source and the build lie: the only file that is compiled for that folder alone (ci/compiler-cache). */
#include "support.h"

const char test_source_dir[] = TVLM_SOURCE_DIR, test_binary_dir[] = TVLM_BINARY_DIR;
