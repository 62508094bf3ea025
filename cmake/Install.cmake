# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, the libraries, the tool, a CMake package and pkg-config files. Nothing in them holds the
# prefix, so that the installed tree can be moved.
option(TVLM_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})
if(NOT TVLM_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

if(TARGET texturevlm_io)
  set_target_properties(texturevlm_io PROPERTIES EXPORT_NAME io INSTALL_RPATH ${tvlm_origin})
endif()
set_target_properties(texturevlm_io_static PROPERTIES EXPORT_NAME io_static)
install(TARGETS ${tvlm_libraries} EXPORT texturevlmTargets)
if(TARGET texturevlm_video)
  set_target_properties(texturevlm_video PROPERTIES EXPORT_NAME video)
  install(TARGETS texturevlm_video EXPORT texturevlmTargets)
endif()
if(TARGET tvlm)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  foreach(program tvlm tvlm-lab)
    if(TARGET ${program})
      set_target_properties(${program} PROPERTIES INSTALL_RPATH ${tvlm_origin}/${to_libraries})
      install(TARGETS ${program})
    endif()
  endforeach()
endif()
if(TARGET tvlm-manual)
  set(manual ${PROJECT_BINARY_DIR}/tools/manual)
  install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  foreach(program tvlm tvlm-lab)
    if(TARGET ${program})
      install(FILES ${manual}/${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
      install(FILES ${manual}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    endif()
  endforeach()
endif()
if(TARGET tvlm-bench) # beside the tool, which starts it
  install(TARGETS tvlm-bench)
endif()
if(TVLM_WITH_LAB AND NOT TVLM_VENDORED) # else what it needs is inside
  set(tvlm_lab_packages lapacke=lapacke)
  set(tvlm_lab_links "-llapacke ")
elseif(NOT TVLM_WITH_LAB)
  set(no_lab PATTERN lab EXCLUDE)
endif()
if(NOT TVLM_WITH_OPENCL)
  set(no_opencl PATTERN opencl.h EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/texturevlm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" ${no_lab} ${no_opencl})
# The documents that headers cite.
set(documents LICENSE doc/design.md doc/channels.md doc/drivers.md)
list(TRANSFORM documents PREPEND ${PROJECT_SOURCE_DIR}/)
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/texturevlm)
install(EXPORT texturevlmTargets NAMESPACE texturevlm:: DESTINATION ${package_dir})
list(JOIN tvlm_decoder_packages " " tvlm_decoder_packages_in_words)
list(JOIN tvlm_decoder_links " " tvlm_decoder_links_in_words)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/texturevlmConfig.cmake.in
  ${PROJECT_BINARY_DIR}/texturevlmConfig.cmake INSTALL_DESTINATION ${package_dir})
# While the version is 0.x, a new minor version may break the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/texturevlmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/texturevlmConfig.cmake ${PROJECT_BINARY_DIR}/texturevlmConfigVersion.cmake
  DESTINATION ${package_dir})

# One template, two files. Their *.private lines are what linking the static libraries needs; they are Libs, not
# Requires, so that who links the shared ones needs neither OpenCL's nor cJSON's development files.
function(tvlm_pkg_config name description requires libs_private)
  set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH to_prefix ${pc_dir} ${CMAKE_INSTALL_PREFIX})
  file(RELATIVE_PATH libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/texturevlm.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
if(NOT TVLM_VENDORED) # else they are inside
  set(tvlm_md_link "-lmd ")
  set(tvlm_cjson_link "-lcjson ")
endif()
tvlm_pkg_config(texturevlm "${PROJECT_DESCRIPTION}" "" "${tvlm_lab_links}${tvlm_md_link}-ldl -lm")
tvlm_pkg_config(texturevlm-io "Files for texturevlm: images, arrays, models" "texturevlm = ${PROJECT_VERSION}"
  "${tvlm_cjson_link}${tvlm_decoder_links_in_words} -lm")
if(TARGET texturevlm_video)
  tvlm_pkg_config(texturevlm-video "Videos for texturevlm, through FFmpeg's libraries" "" "")
endif()

# cmake --build FOLDER --target uninstall: removes what the last install wrote, by its list.
if(PROJECT_IS_TOP_LEVEL AND NOT TARGET uninstall)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/Uninstall.cmake VERBATIM COMMENT "Removing what was installed")
endif()
