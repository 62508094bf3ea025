/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h: variables of the environment.
 */
#ifndef TVLM_PLATFORM_ENVIRONMENT_H
#define TVLM_PLATFORM_ENVIRONMENT_H

/* A variable whose value may be a name of files, in UTF-8 as these are (file.h): on Windows getenv has it in the system's code page,
 * which lacks most letters. NULL: it is not set, or it is empty. Valid until this thread asks for another one. */
const char *tvlm_variable(const char *name);

#endif
