# SPDX-License-Identifier: Apache-2.0
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
tvlm_script_test(registers_refused ${PROJECT_SOURCE_DIR}/tests/check_registers.sh)
tvlm_script_test(headers ${PROJECT_SOURCE_DIR}/tests/install/headers.sh)
tvlm_script_test(format ${PROJECT_SOURCE_DIR}/ci/format --check)
add_test(NAME citations COMMAND ${PROJECT_SOURCE_DIR}/ci/check-citations)
set_tests_properties(citations PROPERTIES LABELS static)
tvlm_script_test(citations_refused ${PROJECT_SOURCE_DIR}/tests/check_citations.sh)
add_test(NAME includes COMMAND ${PROJECT_SOURCE_DIR}/ci/check-includes)
set_tests_properties(includes PROPERTIES LABELS static)
tvlm_script_test(includes_refused ${PROJECT_SOURCE_DIR}/tests/check_includes.sh)
tvlm_script_test(spdx ${PROJECT_SOURCE_DIR}/ci/check-spdx)
if(NOT TVLM_SANITIZE) # the sanitizers' runtime adds symbols of its own
  set(libraries $<TARGET_FILE:texturevlm> $<TARGET_FILE:texturevlm_io> $<TARGET_FILE:texturevlm_static>
      $<TARGET_FILE:texturevlm_io_static>)
  if(TARGET texturevlm_video)
    list(APPEND libraries $<TARGET_FILE:texturevlm_video>)
  endif()
  tvlm_script_test(symbols ${PROJECT_SOURCE_DIR}/ci/check-symbols ${libraries})
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT TVLM_SANITIZE) # a sanitized library only links into sanitized programs
  tvlm_script_test(install ${PROJECT_SOURCE_DIR}/tests/install/run.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(install PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
endif()

# The results against OpenCV, SciPy, PyTorch and NumPy. Debian's own python3: that is the one apt gives these packages.
find_program(TVLM_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(TVLM_PYTHON AND TARGET tvlm AND NOT TVLM_SANITIZE) # an uninstrumented Python cannot load a sanitized library
  function(tvlm_python_test name script)
    add_test(NAME ${name} COMMAND ${TVLM_PYTHON} ${PROJECT_SOURCE_DIR}/tests/python/${script}.py ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS python SKIP_RETURN_CODE 77 TIMEOUT 1200)
  endfunction()
  foreach(check filters mips sampling topk decoding distance export)
    tvlm_python_test(python_${check} check_${check} $<TARGET_FILE:tvlm> $<TARGET_FILE:texturevlm>)
  endforeach()
  tvlm_python_test(python_channels check_channels $<TARGET_FILE:texturevlm>)
  tvlm_python_test(python_similarity check_similarity $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_learned check_learned $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_attend check_attend $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_flow check_flow $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_pca check_pca $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_features check_features $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_pruned check_pruned $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_patches check_patches $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_crops check_crops $<TARGET_FILE:tvlm>)
  tvlm_python_test(python_photos check_photos $<TARGET_FILE:tvlm> --photos 3)
  tvlm_python_test(python_all_photos check_photos $<TARGET_FILE:tvlm>)
  # PyTorch's side of ci/gpu: its jobs make what the tool makes.
  add_test(NAME python_gpu COMMAND ${TVLM_PYTHON} ${PROJECT_SOURCE_DIR}/bench/gpu.py --check $<TARGET_FILE:tvlm>)
  set_tests_properties(python_gpu PROPERTIES LABELS python SKIP_RETURN_CODE 77 TIMEOUT 600)
  set_tests_properties(python_all_photos PROPERTIES LABELS "python;slow" TIMEOUT 3600)
endif()
