/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h: which version of the library this is.
 *
 * Versions follow Semantic Versioning (semver.org). While the first number is 0, the second one counts the
 * releases that may break programs, and is part of the shared libraries' soname (libtexturevlm.so.0.3); the
 * third one counts releases that do not.
 */
#ifndef TEXTUREVLM_VERSION_H
#define TEXTUREVLM_VERSION_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. The build reads its version from here. */
#define TVLM_VERSION_MAJOR 0
#define TVLM_VERSION_MINOR 3
#define TVLM_VERSION_PATCH 0

/* Returns the version of the library that the program runs with, such as "0.3.0". Static storage. */
TVLM_API const char *tvlm_version(void);

#ifdef __cplusplus
}
#endif
#endif
