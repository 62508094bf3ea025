# Tests that are not of one function: the kernels for other makers' devices, the public headers, the installed
# package, the format. Label "static": they need no device, so the matrix of devices runs them once.
include(CheckKernels)
find_program(TVLM_BASH bash)
if(NOT TVLM_BASH)
  message(STATUS "No bash: kernels, headers, package and format are not tested")
  return()
endif()

function(tvlm_script_test name)
  add_test(NAME ${name} COMMAND ${TVLM_BASH} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS static SKIP_RETURN_CODE 77)
endfunction()

foreach(compiler spirv intel amd)
  tvlm_script_test(kernels_${compiler} ${PROJECT_SOURCE_DIR}/ci/check-kernels --only ${compiler})
  set_tests_properties(kernels_${compiler} PROPERTIES PROCESSORS 2) # it starts one compiler for each core itself
endforeach()
tvlm_script_test(headers ${PROJECT_SOURCE_DIR}/tests/install/headers.sh)
tvlm_script_test(format ${PROJECT_SOURCE_DIR}/ci/format --check)
if(PROJECT_IS_TOP_LEVEL AND NOT TVLM_SANITIZE) # a sanitized library only links into sanitized programs
  tvlm_script_test(install ${PROJECT_SOURCE_DIR}/tests/install/run.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(install PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
endif()
