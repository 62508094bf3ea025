# SPDX-License-Identifier: Apache-2.0
# Removes every file that MANIFEST, the list that the last install wrote, names. Folders stay: others may use them.
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "uninstall: there is no ${MANIFEST}: nothing was installed from here")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file IN LISTS files)
  if(EXISTS "$ENV{DESTDIR}${file}" OR IS_SYMLINK "$ENV{DESTDIR}${file}")
    file(REMOVE "$ENV{DESTDIR}${file}")
    message(STATUS "Removed $ENV{DESTDIR}${file}")
  endif()
endforeach()
