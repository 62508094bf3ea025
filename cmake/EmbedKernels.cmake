# SPDX-License-Identifier: Apache-2.0
# embed_kernels(VARIABLE FILE): a custom command that writes FILE, a C source with every cl/*.cl and cl/*.clh as a
# string (tvlm_kernel_files), and the headers that C and kernels share; VARIABLE is set to FILE.
function(embed_kernels variable file)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cl/*.cl ${PROJECT_SOURCE_DIR}/cl/*.clh)
  list(APPEND kernels ${PROJECT_SOURCE_DIR}/lib/core/constants.h)
  string(REPLACE ";" "," joined "${kernels}")
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -DFILES=${joined} -DOUTPUT=${file} -P ${PROJECT_SOURCE_DIR}/cmake/WriteKernels.cmake
    DEPENDS ${kernels} ${PROJECT_SOURCE_DIR}/cmake/WriteKernels.cmake VERBATIM
    COMMENT "Embedding kernels")
  set(${variable} ${file} PARENT_SCOPE)
endfunction()
