# SPDX-License-Identifier: Apache-2.0
# Which libraries decode pictures: for each format an option, AUTO (its library where it is installed), ON (it must be) or
# OFF. What has none is left to stb_image, or not read (lib/io/decoders.h). Sets
#   tvlm_decoder_packages     NAME=MODULE, of pkg-config: PkgConfig::NAME is what the file library is linked to
#   tvlm_decoder_links        the same as the linker's -lNAME, for pkg-config files
#   tvlm_decoder_definitions  TVLM_WITH_NAME for each, its version
#   tvlm_decoder_includes     their folders of headers
#   tvlm_decoders_left_out    a regular expression of the sources that are not compiled
set(tvlm_decoder_packages "")
set(tvlm_decoder_links "")
set(tvlm_decoder_definitions "")
set(tvlm_decoder_includes "")
set(tvlm_decoders_left_out "/none")

# tvlm_decoder(FORMAT NAME MODULE...): image_*_NAME.c decodes FORMAT with these packages. tvlm_loaded_decoder: and loads them
# when it meets such a picture, so that nothing is linked to them.
macro(tvlm_decoder)
  tvlm_any_decoder(ON ${ARGN})
endmacro()
macro(tvlm_loaded_decoder)
  tvlm_any_decoder(OFF ${ARGN})
endmacro()

macro(tvlm_any_decoder linked format name)
  set(TVLM_${format} AUTO CACHE STRING "Decode ${format} by ${name}: AUTO where it is installed, ON, or OFF")
  set_property(CACHE TVLM_${format} PROPERTY STRINGS AUTO ON OFF)
  set(tvlm_required "")
  if(TVLM_${format} AND NOT TVLM_${format} STREQUAL "AUTO")
    set(tvlm_required REQUIRED)
  endif()
  set(tvlm_found ON)
  if(NOT TVLM_${format} AND NOT TVLM_${format} STREQUAL "AUTO")
    set(tvlm_found OFF)
  endif()
  foreach(module ${ARGN})
    if(tvlm_found)
      string(MAKE_C_IDENTIFIER ${module} tvlm_target)
      pkg_check_modules(${tvlm_target} ${tvlm_required} QUIET IMPORTED_TARGET ${module})
      if(NOT ${tvlm_target}_FOUND)
        set(tvlm_found OFF)
      endif()
    endif()
  endforeach()
  if(tvlm_found)
    foreach(module ${ARGN})
      string(MAKE_C_IDENTIFIER ${module} tvlm_target)
      list(APPEND tvlm_decoder_includes ${${tvlm_target}_INCLUDE_DIRS})
      if(${linked})
        list(APPEND tvlm_decoder_packages ${tvlm_target}=${module})
        foreach(library ${${tvlm_target}_LIBRARIES})
          list(APPEND tvlm_decoder_links -l${library})
        endforeach()
      endif()
    endforeach()
    string(TOUPPER ${name} tvlm_name)
    string(MAKE_C_IDENTIFIER ${ARGV3} tvlm_target)
    list(APPEND tvlm_decoder_definitions TVLM_WITH_${tvlm_name}="${${tvlm_target}_VERSION}")
  else()
    string(APPEND tvlm_decoders_left_out "|/image_[a-z]+_${name}\\.c$")
    message(STATUS "${format} is not decoded by ${name} (TVLM_${format}=${TVLM_${format}})")
  endif()
endmacro()

tvlm_decoder(JPEG libjpeg libjpeg)
tvlm_decoder(PNG libpng libpng)
tvlm_decoder(WEBP libwebp libwebp libwebpdemux)
tvlm_loaded_decoder(HEIF libheif libheif)
