# SPDX-License-Identifier: Apache-2.0
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/zig.cmake -DTVLM_ZIG=PROGRAM -DTVLM_TARGET=TARGET: with the C compiler in PyPI's package
# ziglang, which brings the headers and libraries of all its targets: x86_64-linux-musl, aarch64-macos, x86_64-macos and others.
if(NOT TVLM_ZIG OR NOT TVLM_TARGET)
  message(FATAL_ERROR "-DTVLM_ZIG=PROGRAM and -DTVLM_TARGET=TARGET are needed")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TVLM_ZIG TVLM_TARGET)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${TVLM_TARGET})
set(CMAKE_SYSTEM_NAME Linux)
if(TVLM_TARGET MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_OSX_SYSROOT "") # zig has its own
endif()
# Programs of one name for what zig has as commands.
set(tvlm_tools ${CMAKE_BINARY_DIR}/zig)
foreach(tool cc c++ ar ranlib)
  if(NOT EXISTS ${tvlm_tools}/${tool})
    set(target "")
    if(tool MATCHES "^c")
      set(target "-target ${TVLM_TARGET} ")
    endif()
    file(WRITE ${tvlm_tools}/${tool} "#!/bin/sh\nexec ${TVLM_ZIG} ${tool} ${target}\"$@\"\n")
    file(CHMOD ${tvlm_tools}/${tool} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
endforeach()
set(CMAKE_C_COMPILER ${tvlm_tools}/cc)
set(CMAKE_CXX_COMPILER ${tvlm_tools}/c++)
set(CMAKE_AR ${tvlm_tools}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${tvlm_tools}/ranlib CACHE FILEPATH "")
# What is installed here is for another system.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/none)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
