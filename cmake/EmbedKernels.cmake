# SPDX-License-Identifier: Apache-2.0
# embed_kernels(VARIABLE FILE): a custom command that writes FILE, a C source with every file of cl/, and of cl/lab/ where
# the lab is built, as a string (tvlm_kernel_files), and the headers that C and kernels share; VARIABLE is set to FILE.
function(embed_kernels variable file)
  set(folder ${PROJECT_SOURCE_DIR}/cl)
  file(GLOB kernels CONFIGURE_DEPENDS ${folder}/*.cl ${folder}/*.clh)
  if(TVLM_WITH_LAB)
    file(GLOB of_lab CONFIGURE_DEPENDS ${folder}/lab/*.cl ${folder}/lab/*.clh)
    list(APPEND kernels ${of_lab})
  endif()
  list(APPEND kernels ${PROJECT_SOURCE_DIR}/lib/core/constants.h)
  string(REPLACE ";" "," joined "${kernels}")
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -DFILES=${joined} -DFOLDER=${folder} -DOUTPUT=${file}
      -P ${PROJECT_SOURCE_DIR}/cmake/WriteKernels.cmake
    DEPENDS ${kernels} ${PROJECT_SOURCE_DIR}/cmake/WriteKernels.cmake VERBATIM
    COMMENT "Embedding kernels")
  set(${variable} ${file} PARENT_SCOPE)
endfunction()
