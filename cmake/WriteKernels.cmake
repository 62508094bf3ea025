# SPDX-License-Identifier: Apache-2.0
# Writes the kernel files as C arrays of bytes: string literals would run into compilers' length limits. The name of a file is
# its path in FOLDER; files from elsewhere have their own names.
string(REPLACE "," ";" FILES "${FILES}")
set(table "")
set(arrays "")
set(index 0)
foreach(path ${FILES})
  file(RELATIVE_PATH name ${FOLDER} ${path})
  if(name MATCHES "^\\.\\./")
    get_filename_component(name ${path} NAME)
  endif()
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "static const unsigned char file_${index}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${name}\", (const char *)file_${index}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* SPDX-License-Identifier: Apache-2.0 */
#include \"opencl/kernels.h\"\n${arrays}
const tvlm_kernel_file tvlm_kernel_files[] = {\n${table}    {0, 0}};\n")
