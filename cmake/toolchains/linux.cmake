# SPDX-License-Identifier: Apache-2.0
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/linux.cmake -DTVLM_PROCESSOR=NAME: for Linux on another processor, by Debian's cross compilers:
# aarch64, s390x (big-endian), riscv64 and others. What needs a run goes through qemu-user, which looks for libraries in the folder
# of the cross compiler's or, with -DTVLM_SYSTEM=FOLDER, there.
if(NOT TVLM_PROCESSOR)
  message(FATAL_ERROR "-DTVLM_PROCESSOR=NAME is missing, for example aarch64")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TVLM_PROCESSOR)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TVLM_PROCESSOR})
set(CMAKE_C_COMPILER ${TVLM_PROCESSOR}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${TVLM_PROCESSOR}-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH /usr/${TVLM_PROCESSOR}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(tvlm_qemu qemu-${TVLM_PROCESSOR})
if(tvlm_qemu)
  if(NOT TVLM_SYSTEM)
    set(TVLM_SYSTEM /usr/${TVLM_PROCESSOR}-linux-gnu)
  endif()
  set(CMAKE_CROSSCOMPILING_EMULATOR "${tvlm_qemu};-L;${TVLM_SYSTEM}")
endif()
