# SPDX-License-Identifier: Apache-2.0
# What the lab calls of LAPACK, from the copy that ci/vendor fetched: PkgConfig::lapacke has the headers, and the objects of
# tvlm_vendored_lapacke and tvlm_lapack_object go into the library. TVLM_FORTRAN, gfortran if nothing is said, compiles what is Fortran into one object, with which no
# library of Fortran has to come along (fortran.c). 170 KB stand for the 14 MB of liblapacke, liblapack, libblas and libgfortran.
if(CMAKE_CROSSCOMPILING)
  find_program(TVLM_FORTRAN NAMES none DOC "The Fortran compiler for the lab, of the system that is compiled for")
else()
  find_program(TVLM_FORTRAN NAMES gfortran DOC "The Fortran compiler for the lab")
endif()
if(NOT TVLM_FORTRAN)
  message(FATAL_ERROR "TVLM_WITH_LAB=ON with copies needs a Fortran compiler for the same system: -DTVLM_FORTRAN=PROGRAM")
endif()
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/lapack.txt tvlm_lapack_files REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/lapack.txt)
set(tvlm_lapack_c ${tvlm_lapack_files})
list(FILTER tvlm_lapack_c INCLUDE REGEX "\\.c$")
list(TRANSFORM tvlm_lapack_c PREPEND lapack/)
set(tvlm_lapack_fortran ${tvlm_lapack_files})
list(FILTER tvlm_lapack_fortran INCLUDE REGEX "\\.[fF](90)?$")
list(TRANSFORM tvlm_lapack_fortran PREPEND ${tvlm_vendored}/lapack/)

# A header under the name that LAPACK's own build gives it.
configure_file(${tvlm_vendored}/lapack/LAPACKE/include/lapacke_mangling_with_flags.h.in
  ${CMAKE_CURRENT_BINARY_DIR}/vendored_lapack/lapacke_mangling.h COPYONLY)
tvlm_vendored(lapacke lapack/LAPACKE/include)
target_include_directories(PkgConfig::lapacke SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/vendored_lapack)
if(NOT TARGET tvlm_vendored_lapacke)
  set(tvlm_lapack_folder ${CMAKE_CURRENT_BINARY_DIR}/vendored_lapack)
  file(MAKE_DIRECTORY ${tvlm_lapack_folder}) # where modules are written
  set(tvlm_lapack_object ${tvlm_lapack_folder}/lapack${CMAKE_C_OUTPUT_EXTENSION})
  set(tvlm_pic -fPIC)
  if(WIN32)
    set(tvlm_pic "")
  endif()
  add_custom_command(OUTPUT ${tvlm_lapack_object}
    COMMAND ${TVLM_FORTRAN} -O2 ${tvlm_pic} -w -nostdlib -r -o ${tvlm_lapack_object} ${tvlm_lapack_fortran}
    DEPENDS ${tvlm_lapack_fortran} WORKING_DIRECTORY ${tvlm_lapack_folder} COMMENT "Compiling what the lab takes of LAPACK" VERBATIM)
  tvlm_vendored(lapacke lapack/LAPACKE/include ${tvlm_lapack_c})
  target_include_directories(tvlm_vendored_lapacke PRIVATE ${tvlm_lapack_folder})
  target_sources(tvlm_vendored_lapacke PRIVATE ${CMAKE_CURRENT_LIST_DIR}/fortran.c)
  add_custom_target(tvlm_vendored_lapack DEPENDS ${tvlm_lapack_object})
endif()
set(tvlm_lapacke_objects tvlm_vendored_lapacke)
