/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/project.h: what an export asks of the lab.
 */
#ifndef TVLM_LAB_PROJECT_H
#define TVLM_LAB_PROJECT_H

#include "export/inside.h"

tvlm_export_project_function tvlm_export_project;

#endif
