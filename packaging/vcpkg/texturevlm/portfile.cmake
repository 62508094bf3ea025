# SPDX-License-Identifier: Apache-2.0
# A port for vcpkg, of the checkout or the unpacked release that it lies in: vcpkg install texturevlm --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES tools TVLM_BUILD_TOOLS)

# The smallest library, the same wherever it is built: pictures by stb_image, no lab, no videos.
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${features} "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
  -DTVLM_BUILD_TESTS=OFF -DTVLM_BUILD_BENCH=OFF -DTVLM_WITH_LAB=OFF -DTVLM_JPEG=OFF -DTVLM_PNG=OFF -DTVLM_WEBP=OFF -DTVLM_HEIF=OFF
  -DTVLM_FFMPEG=OFF -DTVLM_ARCHIVE=OFF -DTVLM_GSTREAMER=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/texturevlm)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES tvlm AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
