# SPDX-License-Identifier: Apache-2.0
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/emscripten.cmake: for WebAssembly in a browser, by the emcc that is found. There are the
# reference device and static libraries; no OpenCL, no tool, no threads.
find_program(tvlm_em_config em-config REQUIRED)
execute_process(COMMAND ${tvlm_em_config} EMSCRIPTEN_ROOT OUTPUT_VARIABLE EMSCRIPTEN_ROOT_PATH OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
include(${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake)
set(CMAKE_C_FLAGS_INIT "-msimd128") # which all browsers have had since 2023
set(TVLM_WITH_OPENCL OFF CACHE BOOL "")
set(TVLM_BUILD_TOOLS OFF CACHE BOOL "")
set(BUILD_SHARED_LIBS OFF CACHE BOOL "")
# Debian's emcc runs modules of Debian's Node.js, which another Node.js does not look for.
if(NOT DEFINED ENV{NODE_PATH} AND EXISTS /usr/share/nodejs)
  set(ENV{NODE_PATH} /usr/share/nodejs)
endif()
