# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL) # the main file and ExtraTests both may include it
# The target check-kernels: every kernel compiled offline for SPIR-V, Intel and AMD; no device needed. With
# TVLM_CHECK_KERNELS it is part of each build. ExtraTests.cmake runs the same as tests.
find_program(TVLM_BASH bash)
if(TVLM_BASH)
  set(all "")
  if(TVLM_CHECK_KERNELS)
    set(all ALL)
  endif()
  add_custom_target(check-kernels ${all} COMMAND ${TVLM_BASH} ${PROJECT_SOURCE_DIR}/ci/check-kernels
    VERBATIM USES_TERMINAL COMMENT "Compiling the kernels offline")
endif()
