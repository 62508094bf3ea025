# SPDX-License-Identifier: Apache-2.0
# Unity builds (-DCMAKE_UNITY_BUILD=ON). Files of texturevlm have functions, macros and types of their own, short names of which
# many files have the same: `begin`, `check`. Hence not any few files are compiled as one, as CMake does by itself, but groups of
# files that share no such name.

# tvlm_own_names(RESULT TEXT): what a file of this text defines for itself at its outermost level.
function(tvlm_own_names result text)
  string(REGEX REPLACE "[][;]" "\n" text "\n${text}") # which a list of CMake's cannot hold
  string(REGEX REPLACE "__attribute__\\(\\([^\n]*\\)\\) *" "" text "${text}")
  set(names "")
  # `static int name(`, `static const int name =`; and `} name =`, where a type is written out before it.
  string(REGEX MATCHALL "\nstatic [^={(\n]+" found "${text}")
  foreach(line ${found})
    string(REGEX REPLACE "^.*[^A-Za-z0-9_]([A-Za-z0-9_]+)[ ]*$" "\\1" name "${line}")
    list(APPEND names ${name})
  endforeach()
  string(REGEX MATCHALL "\n} *[A-Za-z_][A-Za-z0-9_]*" closed "${text}")
  string(REGEX MATCHALL "\n#define +[A-Za-z0-9_]+" macros "${text}")
  string(REGEX MATCHALL "\n(struct|union|enum) +[A-Za-z0-9_]+ *{" types "${text}")
  string(REGEX MATCHALL "\n(static const )?enum *[A-Za-z0-9_]* *{[^}]*}" members "${text}")
  string(REGEX MATCHALL "\ntypedef [^{\n]*" types_named "${text}")
  string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*" words "${closed} ${macros} ${types} ${members} ${types_named}")
  list(APPEND names ${words})
  list(REMOVE_DUPLICATES names)
  list(REMOVE_ITEM names define struct union enum typedef static const int unsigned size_t float double void char)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# tvlm_unity(TARGET): its files in groups, each file in the first one with none of its names. By itself stays a file that defines
# something for what it then includes.
function(tvlm_unity target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE file)
    if(NOT EXISTS ${file} OR NOT file MATCHES "\\.c$")
      continue()
    endif()
    file(READ ${file} text)
    if(text MATCHES "\n#define [^\n]*\n+#include")
      set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    tvlm_own_names(names "${text}")
    set(group 0)
    set(shared yes)
    while(shared)
      math(EXPR group "${group} + 1")
      set(both ${group_${group}} ${names})
      list(LENGTH both length)
      list(REMOVE_DUPLICATES both)
      list(LENGTH both distinct)
      string(COMPARE NOTEQUAL ${length} ${distinct} shared)
    endwhile()
    list(APPEND group_${group} ${names})
    set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${target}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
